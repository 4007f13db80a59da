"""From SQL text to a plan: parse with the dialect, resolve, translate, describe."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from ...wire.describe import Column, StatementType
from ...wire.types import ColumnType
from ..catalog import ColumnInfo, TableInfo, quote
from ..dialect import Informix, InformixDelimited
from ..engine_types import WARN_CUT
from ..errors import SqlError, no_column, not_supported, syntax_error
from .assignments import assign, constant
from .context import Context, Ex, Scope, Source, offset_of, table_outputs
from .dialect_nodes import CurrentOf
from .lob_functions import READERS, outside
from .nested_sql import Constructor, literal_text
from .nested_types import is_nested, is_simple_large
from .plans import InsertPlan, ModifyPlan, Needs, SelectPlan
from .queries import QueryTranslator, finish_types
from .result_types import character, from_duck, has_own_storage, is_character

_LONG_TEXT = ColumnType.lvarchar(32739)
Describe = Callable[[str, Needs], list[str]]


def parse(sql: str, delimident: bool = False) -> exp.Expression:
    """One query or data change as a tree; every `?` gets its number. -201 with the offset, -555 for
    several."""
    dialect = InformixDelimited if delimident else Informix
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
    places = list(tree.find_all(exp.Placeholder))
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

    def plan(self, tree: exp.Expression) -> tuple[int, SelectPlan | InsertPlan | ModifyPlan]:
        """Statement type and plan."""
        count = sum(1 for _ in tree.find_all(exp.Placeholder))
        self.ctx.params = [None] * count
        if isinstance(tree, exp.Insert):
            return StatementType.INSERT, self._insert(tree)
        if isinstance(tree, exp.Update):
            kind = StatementType.UPDATE if tree.args.get("where") else StatementType.UPDATE_ALL
            return kind, self._update(tree)
        if isinstance(tree, exp.Delete):
            kind = StatementType.DELETE if tree.args.get("where") else StatementType.DELETE_ALL
            return kind, self._delete(tree)
        if isinstance(tree, exp.Merge):
            return StatementType.UPDATE, self._merge(tree)
        select = self.select(tree)
        return (StatementType.SELECT_INTO_TEMP if select.into else StatementType.SELECT), select

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
        return SelectPlan(sql, columns, needs, into, tuple(o.packed for o in outputs), shown, calls)

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
        return into.this.name.lower(), bool(into.args.get("temporary"))

    # ---- INSERT -----------------------------------------------------------------------------
    def _target(self, node: exp.Expression, *, view_ok: bool = False) -> TableInfo:
        if not isinstance(node, exp.Table):
            raise SqlError(-201, 0, 1)
        info = self.queries.table(node, node.catalog.lower() or None, node.name.lower())
        if info.kind != "T" and not view_ok:
            raise not_supported(f"changing rows of the view {info.name}", -274 if info.kind == "S" else -201)
        return info

    def _insert(self, tree: exp.Insert) -> InsertPlan:
        node = tree.this
        names: list[exp.Expression] = []
        if isinstance(node, exp.Schema):
            names = node.expressions
            node = node.this
        info = self._target(node)
        targets = []
        for name in names or [exp.to_identifier(c.name) for c in info.columns]:
            column = info.column(name.name.lower())
            if column is None:
                raise no_column(name.name.lower(), offset_of(name))
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
                if isinstance(bare, exp.Placeholder):
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
    def _scope(self, info: TableInfo, alias: str) -> Scope:
        return Scope([Source(alias or info.name, table_outputs(info), info)])

    def _where(self, tree: exp.Expression, scope: Scope) -> str:
        where = tree.args.get("where")
        if where is None:
            return ""
        if isinstance(where.this, CurrentOf):
            raise not_supported("WHERE CURRENT OF", -554)
        return " WHERE " + self.queries.expressions.condition(where.this, scope)

    def _update(self, tree: exp.Update) -> ModifyPlan:
        info = self._target(tree.this)
        alias = tree.this.alias.lower() or info.name
        if tree.args.get("from_") or tree.args.get("from"):
            raise not_supported("UPDATE ... FROM")
        scope = self._scope(info, alias)
        sets: list[str] = []
        columns: list[Column] = []
        for left, right in _pairs(tree.expressions):
            column = info.column(left.name.lower())
            if column is None:
                raise no_column(left.name.lower(), offset_of(left))
            if column.is_serial:
                raise SqlError(-232, 0, 0, column.name)
            sets.append(f"{quote(column.name)} = {self._assigned(right, scope, column.type)}")
            columns.append(Column(column.name, column.type))
        cuts = list(self.ctx.cuts)
        where = self._where(tree, scope)
        sql = f"UPDATE {info.duck} AS {quote(alias)} SET {', '.join(sets)}"
        if not self.ctx.files:
            plan = self._modify(sql + where, info, tuple(columns))
            if cuts:
                joined = f"{where} AND " if where else " WHERE "
                plan.cut = f"SELECT 1 FROM {info.duck} AS {quote(alias)}{joined}({' OR '.join(cuts)}) LIMIT 1"
            return plan
        each = f"SELECT {quote(alias)}.rowid FROM {info.duck} AS {quote(alias)}{where}"
        sql += f" WHERE {quote(alias)}.rowid = CAST({self.ctx.value('row')} AS BIGINT)"
        plan = self._modify(sql, info, tuple(columns))
        plan.each = each
        return plan

    def _assigned(self, node: exp.Expression, scope: Scope, t: ColumnType) -> str:
        ex: Ex = self.queries.expressions.expr(node, scope)
        return assign(self.queries.expressions, ex, t)

    def _modify(self, sql: str, info: TableInfo, columns: tuple[Column, ...]) -> ModifyPlan:
        return ModifyPlan(sql, info, self._needs(), columns, WARN_CUT if self.ctx.literal_cut else 0)

    def _delete(self, tree: exp.Delete) -> ModifyPlan:
        info = self._target(tree.this)
        alias = tree.this.alias.lower() or info.name
        scope = self._scope(info, alias)
        where = self._where(tree, scope)
        return self._modify(f"DELETE FROM {info.duck} AS {quote(alias)}{where}", info, ())

    # ---- MERGE ------------------------------------------------------------------------------
    def _merge(self, tree: exp.Merge) -> ModifyPlan:
        info = self._target(tree.this)
        alias = tree.this.alias.lower() or info.name
        scope = self._scope(info, alias)
        if any(isinstance(n, exp.Anonymous) and n.name.lower() in READERS for n in tree.walk()):
            raise not_supported("filetoblob and filetoclob in MERGE")
        source_sql = self.queries._table(tree.args["using"], scope)
        on = self.queries.expressions.condition(tree.args["on"], scope)
        source_scope = Scope(scope.sources[1:])
        head = f"MERGE INTO {info.duck} AS {quote(alias)} USING {source_sql} ON {on}"
        sql, then_insert = "", None
        for when in tree.args["whens"].expressions:
            matched, then = bool(when.args.get("matched")), when.args["then"]
            condition = when.args.get("condition")
            if isinstance(then, exp.Insert) and self._numbers_itself(then, info):
                then_insert = self._merge_rows(tree, then, condition)
                continue
            extra = ""
            if condition is not None:
                extra = f" AND {self.queries.expressions.condition(condition, scope)}"
            sql += f" WHEN {'MATCHED' if matched else 'NOT MATCHED'}{extra} THEN "
            if isinstance(then, exp.Update):
                sets = []
                for left, right in _pairs(then.expressions):
                    column = info.column(left.name.lower())
                    if column is None:
                        raise no_column(left.name.lower())
                    sets.append(f"{quote(column.name)} = {self._assigned(right, scope, column.type)}")
                sql += f"UPDATE SET {', '.join(sets)}"
            elif isinstance(then, exp.Insert):
                sql += self._merge_insert(then, info, source_scope)
            else:
                sql += "DELETE"
        plan = self._modify(f"{head}{sql}" if sql else "", info, ())
        plan.then_insert = then_insert
        return plan

    def _numbers_itself(self, then: exp.Insert, info: TableInfo) -> bool:
        """Whether rows inserted by a MERGE take values that DuckDB's MERGE cannot make: serials and defaults."""
        named = then.this.expressions if then.this is not None else []
        names = [n.name.lower() for n in named] or [c.name for c in info.columns]
        return any(c.is_serial or (c.default and c.name not in names) for c in info.columns)

    def _merge_rows(self, tree: exp.Merge, then: exp.Insert, condition: exp.Expression | None) -> InsertPlan:
        """The insert of a MERGE as INSERT ... SELECT of the source's rows without a match, to be run behind the
        rest: so that must not change which rows match."""
        on = tree.args["on"]
        matched = {column.name.lower() for column in on.find_all(exp.Column)}
        for when in tree.args["whens"].expressions:
            other = when.args["then"]
            changes = isinstance(other, exp.Update) and any(
                left.name.lower() in matched for left, _ in _pairs(other.expressions)
            )
            if changes or (other is not then and not isinstance(other, exp.Update)):
                raise not_supported(
                    "MERGE into a table with SERIAL or omitted DEFAULT columns that deletes rows, changes columns of "
                    "its ON or inserts twice"
                )
        items = then.expression.expressions if then.expression is not None else []
        if len(items) == 1 and isinstance(items[0], exp.Tuple):
            items = items[0].expressions
        there = exp.select("1").from_(tree.this.copy()).where(on.copy())
        rows = exp.select(*(item.copy() for item in items)).from_(tree.args["using"].copy())
        rows = rows.where(exp.Not(this=exp.Exists(this=there)))
        if condition is not None:
            rows = rows.where(condition.copy())
        table = exp.to_table(tree.this.name) if not tree.this.args.get("db") else tree.this.copy()
        table.set("alias", None)
        into = (
            exp.Schema(this=table, expressions=[n.copy() for n in then.this.expressions])
            if then.this
            else table
        )
        return self._insert(exp.Insert(this=into, expression=rows))

    def _merge_insert(self, then: exp.Insert, info: TableInfo, scope: Scope) -> str:
        named = then.this.expressions if then.this is not None else []
        names = [n.name.lower() for n in named] or [c.name for c in info.columns]
        items = then.expression.expressions if then.expression is not None else []
        if len(items) == 1 and isinstance(items[0], exp.Tuple):
            items = items[0].expressions
        if len(items) != len(names):
            raise SqlError(-236)
        values = []
        for name, item in zip(names, items, strict=True):
            column = info.column(name)
            if column is None:
                raise no_column(name)
            values.append(self._assigned(item, scope, column.type))
        return f"INSERT ({', '.join(map(quote, names))}) VALUES ({', '.join(values)})"


def _pairs(expressions: Sequence[exp.Expression]) -> list[tuple[exp.Expression, exp.Expression]]:
    """`a = 1`, and `(a, b) = (1, 2)`, as single assignments."""
    found = []
    for node in expressions:
        if not isinstance(node, exp.EQ):
            raise SqlError(-201, 0, 1)
        left, right = node.this, node.expression
        if isinstance(left, (exp.Tuple, exp.Paren)):
            lefts = left.expressions if isinstance(left, exp.Tuple) else [left.this]
            rights = right.expressions if isinstance(right, exp.Tuple) else [right]
            if len(lefts) != len(rights):
                raise SqlError(-236)
            found += list(zip(lefts, rights, strict=True))
        else:
            found.append((left, right))
    return found


__all__ = ["Planner", "from_duck", "parse"]
