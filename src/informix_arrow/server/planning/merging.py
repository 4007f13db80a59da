"""MERGE: an UPDATE or DELETE of the rows that match, and an INSERT of those that do not."""

from __future__ import annotations

from sqlglot import exp

from ...wire.describe import Column
from ..errors import SqlError, no_column, not_supported
from ..schema.catalog import TableInfo
from ..types.names import quote
from ..types.result_types import is_character
from .assignments import pairs
from .inserting import LONG_TEXT, NAMED_TWICE
from .keyed import touched, values_made
from .modifying import modify, rows_seen
from .nodes.client_files import READERS
from .plans import ROUTINE_CALL, InsertPlan, ModifyPlan, SelectPlan
from .scope import Scope
from .translation import Translation


def merge(work: Translation, tree: exp.Merge) -> ModifyPlan:
    """The plan of a MERGE. Its rows are looked for once, with their new values, and then written by their identities:
    its rows and keys are locked, not its table, and a replay does not look again."""
    info = work.target(tree.this)
    alias = tree.this.alias or tree.this.name
    scope = work.scope(info, alias)
    if any(isinstance(n, exp.Anonymous) and n.name.lower() in READERS for n in tree.walk()):
        raise not_supported("filetoblob and filetoclob in MERGE")
    source = work.queries.source(tree.args["using"], scope)
    on = work.queries.expressions.condition(tree.args["on"], scope)
    source_scope = Scope(scope.sources[1:])
    change: exp.Expression | None = None
    rows: SelectPlan | None = None
    inserted: tuple[str, ...] = ()
    joined, made, sets = "", [], list[Column]()
    for when in tree.args["whens"].expressions:
        then = when.args["then"]
        if rows is not None if isinstance(then, exp.Insert) else change is not None:
            raise SqlError(-201, 0, 1)  # each at most once
        if isinstance(then, exp.Insert):
            work.require(info, "i")
            there = f"SELECT 1 FROM {info.duck} AS {quote(alias)} WHERE {on}"
            inserted, rows = _rows(work, then, info, source_scope, f"{source} WHERE NOT EXISTS ({there})")
            continue
        change, joined = then, f" JOIN {source} ON {on}"
        if isinstance(then, exp.Update):
            for left, right in pairs(then.expressions):
                column = info.column(left.name)
                if column is None:
                    raise no_column(left.name)
                if column.is_serial:
                    raise SqlError(-232, 0, 0, column.name)
                made.append(work.assigned(right, scope, column))
                sets.append(Column(column.name, column.type))
            work.require(info, "u", [column.name for column in sets])
        else:
            work.require(info, "d")
    plan = modify(work, "", info, tuple(sets))
    plan.merges, plan.whole, plan.alias = True, False, alias
    if change is not None:
        _change(work, plan, joined, made)
    if rows is not None:
        rows.needs = plan.needs
        plan.then_insert = InsertPlan(info, inserted, None, rows, plan.needs)
    if ROUTINE_CALL in plan.touched + plan.made + (rows.sql if rows is not None else ""):
        raise not_supported("user routines in MERGE")
    return plan


def _change(work: Translation, plan: ModifyPlan, joined: str, made: list[str]) -> None:
    """What a MERGE does to rows that match, which `joined` finds: an UPDATE when it has new values, else a DELETE."""
    info, alias = plan.info, plan.alias
    plan.touched = touched(info, alias, joined)
    plan.looks = True
    if not made:
        plan.head = f"DELETE FROM {info.duck} AS {quote(alias)}"
        seen = rows_seen(info, alias, [], info.fired_by("D"))
        plan.rows = seen + joined if seen else ""
        return
    changed = {column.name for column in plan.columns}
    seen = rows_seen(info, alias, made, info.fired_by("U", changed))
    plan.rows = seen + joined if seen else ""
    keys = [key for key in info.keys if not changed.isdisjoint(key.columns)]
    foreign = [f for f in info.foreigns if not changed.isdisjoint(f.columns)]
    kept = {name for f in foreign for name in f.columns} | {name for key in keys for name in key.columns}
    plan.rekeys = bool(keys)
    plan.made = values_made(info, alias, made, sorted(kept - changed)) + joined
    cuts = work.cut_columns()
    if cuts:
        plan.cut = (
            f"SELECT {cuts} FROM {info.duck} AS {quote(alias)}{joined} WHERE {cuts} IS NOT NULL LIMIT 1"
        )


def _rows(
    work: Translation, then: exp.Insert, info: TableInfo, scope: Scope, source: str
) -> tuple[tuple[str, ...], SelectPlan]:
    """The columns that a MERGE inserts, and the query for their values in storage form."""
    named = then.this.expressions if then.this is not None else []
    names = [n.name for n in named] or [c.name for c in info.columns]
    items = then.expression.expressions if then.expression is not None else []
    if len(items) == 1 and isinstance(items[0], exp.Tuple):
        items = items[0].expressions
    if len(items) != len(names):
        raise SqlError(-236)
    columns: list[Column] = []
    values: list[str] = []
    for name, item in zip(names, items, strict=True):
        column = info.column(name)
        if column is None:
            raise no_column(name)
        if any(column.name == other.name for other in columns):
            raise SqlError(NAMED_TWICE, 0, 0, name)
        with work.noting_cuts(column):
            ex = work.queries.expressions.expr(item, scope)
            text = ex.type is not None and is_character(ex.type) and is_character(column.type)
            wanted = LONG_TEXT if text else column.type  # it is cut, and told about, where the rows go in
            values.append(f"{work.queries.expressions.values.assign(ex, wanted)} AS c{len(values)}")
        columns.append(Column(column.name, wanted))
    sql = f"SELECT {', '.join(values)} FROM {source}"
    stored = tuple(column.type is not LONG_TEXT for column in columns)
    plan = SelectPlan(sql, tuple(columns), work.ctx.needs(), packed=stored)
    return tuple(names), plan
