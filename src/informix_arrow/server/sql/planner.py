"""From SQL text to a plan: parse with the dialect, resolve, translate, describe."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from ...wire.describe import Column, StatementType
from ...wire.types import ColumnType
from ..catalog import ColumnInfo, TableInfo, quote
from ..dialect import InformixExact, InformixExactDelimited
from ..engine_types import WARN_CUT
from ..errors import SqlError, no_column, not_supported, syntax_error
from . import sequences
from .assignments import assign, constant, pairs
from .context import Context, Ex, Scope, Source, offset_of, table_outputs
from .dialect_nodes import CurrentOf
from .keyed import keyed, touched, values_made
from .keyed import single as keyed_single
from .lob_functions import outside
from .merging import merge
from .nested_sql import Constructor, literal_text
from .nested_types import is_nested, is_simple_large
from .plans import ROUTINE_CALL, InsertPlan, ModifyPlan, Needs, SelectPlan
from .queries import QueryTranslator, finish_types
from .result_types import character, from_duck, has_own_storage, is_character
from .variables import Variable
from .views import through, with_checks

_LONG_TEXT = ColumnType.lvarchar(32739)
Describe = Callable[[str, Needs], list[str]]


def parse(sql: str, delimident: bool = False) -> exp.Expression:
    """One query or data change as a tree; every `?` gets its number. -201 with the offset, -555 for
    several."""
    dialect = InformixExactDelimited if delimident else InformixExact
    try:
        trees = [t for t in sqlglot.parse(sql, dialect=dialect) if t is not None]
    except ParseError as e:
        raise syntax_error(_position(sql, e), str(e)) from None
    except TokenError as e:
        raise SqlError(-202, 0, 1, "", str(e)) from None
    except RecursionError:
        raise SqlError(-208, 0, 0, "", "the statement is nested too deeply") from None
    if len(trees) != 1:
        raise SqlError(-555 if trees else -201, 0, 0 if trees else 1)
    tree = trees[0]
    while isinstance(tree, exp.Subquery) and tree.is_wrapper:
        tree = tree.this
    if not isinstance(tree, (exp.Query, exp.Insert, exp.Update, exp.Delete, exp.Merge)):
        raise syntax_error(1)
    places = []
    for node in tree.walk():
        if isinstance(node, exp.Identifier):
            if not node.args.get("quoted"):
                node.set("this", node.name.lower())  # from here on names are what the catalogue has
        elif isinstance(node, exp.Placeholder):
            places.append(node)
    places.sort(key=lambda p: int(p.meta.get("start", 0)))
    for number, place in enumerate(places):
        place.meta["index"] = number
    return tree


def _position(sql: str, error: ParseError) -> int:
    """1-based character of a parse error."""
    if not error.errors:
        return 1
    first = error.errors[0]
    line, col = int(first.get("line") or 1), int(first.get("col") or 1)
    highlight = str(first.get("highlight") or "")
    before = sum(len(text) + 1 for text in sql.split("\n")[: line - 1])
    return max(1, before + col - max(len(highlight), 1) + 1)


class Planner:
    """Plans one statement."""

    _rows_go_out = True  # of a query: to the client, not into a table

    def __init__(self, ctx: Context, describe: Describe) -> None:
        self.ctx = ctx
        self.describe = describe
        self.queries = QueryTranslator(ctx)
        self._view = ""  # through which rows are changed, and its conditions WITH CHECK OPTION
        self._checks: list[exp.Expression] = []

    def plan(self, tree: exp.Expression) -> tuple[int, SelectPlan | InsertPlan | ModifyPlan]:
        """Statement type and plan."""
        count = sum(1 for _ in tree.find_all(exp.Placeholder))
        self.ctx.params = [None] * count
        tree = self._through_views(tree)
        sequences.note(self.ctx, tree)
        if isinstance(tree, exp.Insert):
            return StatementType.INSERT, self.insert(tree)
        if isinstance(tree, exp.Update):
            kind = StatementType.UPDATE if tree.args.get("where") else StatementType.UPDATE_ALL
            return StatementType.UPDATE_CURRENT if _cursor(tree) else kind, self._update(tree)
        if isinstance(tree, exp.Delete):
            kind = StatementType.DELETE if tree.args.get("where") else StatementType.DELETE_ALL
            return StatementType.DELETE_CURRENT if _cursor(tree) else kind, self._delete(tree)
        if isinstance(tree, exp.Merge):
            return StatementType.UPDATE, merge(self, tree)
        select = self.select(tree)
        return (StatementType.SELECT_INTO_TEMP if select.into else StatementType.SELECT), select

    def _through_views(self, tree: exp.Expression) -> exp.Expression:
        """A change of a view as one of its table."""
        if not isinstance(tree, (exp.Insert, exp.Update, exp.Delete)) or self.ctx.view_target is None:
            return tree
        node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        if not isinstance(node, exp.Table):
            return tree
        info = self.queries.table(node, node.catalog or None, node.name)
        if info.kind != "V":
            return tree
        self._view = info.name
        tree, self._checks = through(tree, info, self.ctx.view_target)
        return tree

    def _in_view(self, info: TableInfo, assigned: dict[str, exp.Expression]) -> list[str]:
        """What rows must be to stay in the view through which they are changed, from their columns as they are and
        those that are assigned."""
        conditions = []
        for check in self._checks:
            changed = check.transform(
                lambda node: (
                    exp.Paren(this=assigned[node.name].copy())
                    if isinstance(node, exp.Column) and node.name in assigned
                    else node
                )
            )
            scope = self.scope(info, info.name)
            conditions.append(self.queries.expressions.condition(changed, scope))
        return conditions

    def _needs(self) -> Needs:
        ctx = self.ctx
        used = {i for i in range(len(ctx.params)) if i in ctx.seen}
        params = [t if t is not None else character(255) for t in ctx.params]
        return Needs(list(params), used, set(ctx.assigned), set(ctx.uses), set(ctx.packed), tuple(ctx.files))

    # ---- SELECT -----------------------------------------------------------------------------
    def select(self, tree: exp.Expression) -> SelectPlan:
        into = self._into(tree)
        sql, outputs = self.queries.query(tree, top=True)
        needs = self._needs()
        names = self.describe(sql, needs)
        types = finish_types(outputs, names)
        columns = tuple(Column(o.name, t) for o, t in zip(outputs, types, strict=True))
        if self.ctx.files:
            raise not_supported("filetoblob and filetoclob in a query")
        calls = tuple(o.call for o in outputs)
        shown = "" if into else self._shown(sql, types)
        for call in calls:
            if call and (into or not self._rows_go_out):
                raise outside(call)
        plan = SelectPlan(sql, columns, needs, into, tuple(o.packed for o in outputs), shown, calls)
        plan.tables = tuple(self.ctx.tables.values())
        if len(plan.tables) == 1:
            plan.keyed = keyed(tree, sql, outputs, plan.tables[0])
            plan.filtered = bool(tree.args.get("where"))
        plan.for_update = any(lock.args.get("update") for lock in tree.args.get("locks") or ())
        if plan.for_update and (not plan.keyed or any(calls)):
            raise not_supported("FOR UPDATE of rows that are not rows of one table")
        return plan

    def _shown(self, sql: str, types: Sequence[ColumnType]) -> str:
        """The query with collections and ROWs as their literal text; empty when there are none."""
        if not any(is_nested(t) for t in types):
            return ""
        items = [
            f"{literal_text(self.queries.expressions, f'c{i}', t) if is_nested(t) else f'c{i}'} AS c{i}"
            for i, t in enumerate(types)
        ]
        return f"SELECT {', '.join(items)} FROM ({sql})"

    @staticmethod
    def _into(tree: exp.Expression) -> tuple[str, bool] | None:
        node = tree
        while isinstance(node, exp.SetOperation):
            if node.args.get("into") is not None:
                break
            node = node.expression
        into = node.args.get("into")
        if into is None:
            return None
        return into.this.name, bool(into.args.get("temporary"))

    # ---- INSERT -----------------------------------------------------------------------------
    def target(self, node: exp.Expression, *, view_ok: bool = False) -> TableInfo:
        if not isinstance(node, exp.Table):
            raise SqlError(-201, 0, 1)
        info = self.queries.table(node, node.catalog or None, node.name)
        if info.kind != "T" and not view_ok:
            raise not_supported(f"changing rows of the view {info.name}", -274 if info.kind == "S" else -201)
        return info

    def insert(self, tree: exp.Insert) -> InsertPlan:
        node = tree.this
        names: list[exp.Expression] = []
        if isinstance(node, exp.Schema):
            names = node.expressions
            node = node.this
        info = self.target(node)
        if self._checks:
            alias = quote(info.name) + "."
            info = with_checks(info, self._view, [c.replace(alias, "") for c in self._in_view(info, {})])
        targets = []
        for name in names or [exp.to_identifier(c.name) for c in info.columns]:
            column = info.column(name.name)
            if column is None:
                raise no_column(name.name, offset_of(name))
            targets.append(column)
        source = tree.expression
        if isinstance(source, exp.Values):
            if len(source.expressions) != 1:
                raise SqlError(-201, 0, 1)
            row = source.expressions[0]
            items = row.expressions if isinstance(row, exp.Tuple) else [row]
            if len(items) != len(targets):
                raise SqlError(-236)
            values: list[tuple[str, object]] = []
            for item, column in zip(items, targets, strict=True):
                bare = item.this if isinstance(item, exp.Paren) else item
                if isinstance(bare, exp.Placeholder) and not isinstance(bare, Variable):
                    number = int(bare.meta["index"])
                    self.ctx.params[number] = column.type
                    self.ctx.assigned.add(number)
                    values.append(("param", number))
                    continue
                found = constant(item)
                if found is not None:
                    if found[0] is not None and is_simple_large(column.type):
                        raise SqlError(-617)  # these take parameters, columns and NULL
                    values.append(("const", found[0]))
                    continue
                values.append(self._insert_value(item, column))
            return InsertPlan(info, tuple(c.name for c in targets), tuple(values), None, self._needs())
        if not isinstance(source, (exp.Query, exp.Subquery)):
            raise SqlError(-201, 0, 1)
        self._rows_go_out = False
        select = self.select(source)
        if len(select.columns) != len(targets):
            raise SqlError(-236)
        select = self._as_targets(select, targets)
        return InsertPlan(info, tuple(c.name for c in targets), None, select, select.needs)

    def _insert_value(self, item: exp.Expression, column: ColumnInfo) -> tuple[str, object]:
        """An expression in VALUES; types that DuckDB has not got are brought to the column's storage here."""
        translator = self.queries.expressions
        ex = self.ctx.hint(translator.expr(item, Scope()), column.type)
        if ex.value is not None and not isinstance(ex.value, Constructor):
            return "const", ex.value
        if has_own_storage(column.type):
            return "stored", assign(translator, ex, column.type)
        if ex.type is not None and has_own_storage(ex.type):
            ex = translator.cast(ex, column.type)
        if ex.packed:
            return "expr", f"_ifx_plain({ex.sql})"
        return "expr", ex.sql

    def _as_targets(self, select: SelectPlan, targets: Sequence[ColumnInfo]) -> SelectPlan:
        """The query of INSERT ... SELECT with the columns that have a storage of their own converted by it."""
        items, columns = [], []
        for number, (column, packed, target) in enumerate(
            zip(select.columns, select.packed, targets, strict=True)
        ):
            sql, t = f"c{number}", column.type
            same = (t.code, t.encoded_length, t.extended_name) == (
                target.type.code, target.type.encoded_length, target.type.extended_name
            )  # fmt: skip
            if not same and (has_own_storage(t) or has_own_storage(target.type)):
                source = Ex(sql, t, packed=packed, source=t)
                # texts are cut, and told about, where the rows go in
                wanted = _LONG_TEXT if is_character(target.type) else target.type
                sql, column = assign(self.queries.expressions, source, wanted), Column(column.name, wanted)
            items.append(f"{sql} AS c{number}")
            columns.append(column)
        if columns == list(select.columns):
            return select
        sql = f"SELECT {', '.join(items)} FROM ({select.sql})"
        keys = tuple(
            was and old is new for was, old, new in zip(select.packed, select.columns, columns, strict=True)
        )
        return SelectPlan(sql, tuple(columns), select.needs, select.into, keys)

    # ---- UPDATE, DELETE ---------------------------------------------------------------------
    def scope(self, info: TableInfo, alias: str) -> Scope:
        return Scope([Source(alias or info.name, table_outputs(info), info)])

    def _where(self, tree: exp.Expression, scope: Scope) -> str:
        where = tree.args.get("where")
        if where is None:
            return ""
        return " WHERE " + self.queries.expressions.condition(where.this, scope)

    def _update(self, tree: exp.Update) -> ModifyPlan:
        info = self.target(tree.this)
        alias = tree.this.alias or tree.this.name
        if tree.args.get("from_") or tree.args.get("from"):
            raise not_supported("UPDATE ... FROM")
        scope = self.scope(info, alias)
        sets: list[str] = []
        made: list[str] = []
        columns: list[Column] = []
        for left, right in pairs(tree.expressions):
            column = info.column(left.name)
            if column is None:
                raise no_column(left.name, offset_of(left))
            if column.is_serial:
                raise SqlError(-232, 0, 0, column.name)
            made.append(self.assigned(right, scope, column.type))
            sets.append(f"{quote(column.name)} = {made[-1]}")
            columns.append(Column(column.name, column.type))
        cuts = list(self.ctx.cuts)
        where = keyed_single(info, alias) if _cursor(tree) else self._where(tree, scope)
        if self._checks:
            where = self._where_in_view(tree, info, alias, where)
        sql = f"UPDATE {info.duck} AS {quote(alias)} SET {', '.join(sets)}"
        if not self.ctx.files:
            plan = self._rows(tree, self.modify(sql + where, info, tuple(columns)), alias, sql, where)
            keys = {name for key in info.keys for name in key.columns}
            plan.whole = any(column.name in keys for column in columns)
            changed = {column.name for column in columns}
            foreign = [f for f in info.foreigns if not changed.isdisjoint(f.columns)]
            plan.looks = bool(foreign) or _looks(tree)
            if plan.looks:
                kept = sorted({name for f in foreign for name in f.columns} - changed)
                plan.made = values_made(info, alias, made, kept)
            if ROUTINE_CALL in plan.sql:
                plan.probe = f"SELECT {', '.join(made)} FROM {info.duck} AS {quote(alias)}{where}"
            if cuts:
                joined = f"{where} AND " if where else " WHERE "
                plan.cut = f"SELECT 1 FROM {info.duck} AS {quote(alias)}{joined}({' OR '.join(cuts)}) LIMIT 1"
            return plan
        if _cursor(tree) or ROUTINE_CALL in sql + where:
            raise not_supported("filetoblob and filetoclob with WHERE CURRENT OF or with user routines")
        each = f"SELECT {quote(alias)}.rowid FROM {info.duck} AS {quote(alias)}{where}"
        sql += f" WHERE {quote(alias)}.rowid = CAST({self.ctx.value('row')} AS BIGINT)"
        plan = self.modify(sql, info, tuple(columns))
        plan.each = each
        return plan

    def _where_in_view(self, tree: exp.Update, info: TableInfo, alias: str, where: str) -> str:
        """The WHERE of an UPDATE that fails with -385 at a row that would leave the view."""
        assigned = {left.name: right for left, right in pairs(tree.expressions)}
        stays = " AND ".join(
            c.replace(f"{quote(info.name)}.", f"{quote(alias)}.") for c in self._in_view(info, assigned)
        )
        wanted = where.removeprefix(" WHERE ") or "TRUE"
        return f" WHERE CASE WHEN ({wanted}) IS NOT TRUE THEN FALSE WHEN {stays} THEN TRUE ELSE error('IFX-385') END"

    def assigned(self, node: exp.Expression, scope: Scope, t: ColumnType) -> str:
        ex: Ex = self.queries.expressions.expr(node, scope)
        return assign(self.queries.expressions, ex, t)

    def modify(self, sql: str, info: TableInfo, columns: tuple[Column, ...]) -> ModifyPlan:
        plan = ModifyPlan(sql, info, self._needs(), columns, WARN_CUT if self.ctx.literal_cut else 0)
        plan.tables = tuple(self.ctx.tables.values())
        return plan

    @staticmethod
    def _rows(tree: exp.Expression, plan: ModifyPlan, alias: str, head: str, where: str) -> ModifyPlan:
        """The plan of an UPDATE or DELETE that locks its rows one by one."""
        plan.alias, plan.head, plan.whole, plan.cursor = alias, head, False, _cursor(tree)
        if not plan.cursor:
            plan.touched = touched(plan.info, alias, where)
        return plan

    def _delete(self, tree: exp.Delete) -> ModifyPlan:
        info = self.target(tree.this)
        alias = tree.this.alias or tree.this.name
        scope = self.scope(info, alias)
        where = keyed_single(info, alias) if _cursor(tree) else self._where(tree, scope)
        head = f"DELETE FROM {info.duck} AS {quote(alias)}"
        plan = self._rows(tree, self.modify(head + where, info, ()), alias, head, where)
        plan.looks = _looks(tree)
        if ROUTINE_CALL in where:
            plan.probe = f"SELECT count(*) FROM {info.duck} AS {quote(alias)}{where}"
        return plan


def _cursor(tree: exp.Expression) -> str:
    """The cursor of WHERE CURRENT OF, "" when there is none."""
    where = tree.args.get("where")
    return where.this.this.name if where is not None and isinstance(where.this, CurrentOf) else ""


def _looks(tree: exp.Expression) -> bool:
    """Whether an UPDATE or DELETE reads more than the rows that it changes."""
    return tree.find(exp.Select) is not None


__all__ = ["Planner", "from_duck", "parse"]
