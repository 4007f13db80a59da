"""MERGE: one statement of DuckDB's, and an INSERT behind it where that cannot make the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ..catalog import TableInfo, quote
from ..errors import SqlError, no_column, not_supported
from .assignments import pairs
from .context import Scope
from .lob_functions import READERS
from .plans import ROUTINE_CALL, InsertPlan, ModifyPlan

if TYPE_CHECKING:
    from .planner import Planner


def merge(planner: Planner, tree: exp.Merge) -> ModifyPlan:
    info = planner.target(tree.this)
    alias = tree.this.alias or tree.this.name
    scope = planner.scope(info, alias)
    if any(isinstance(n, exp.Anonymous) and n.name.lower() in READERS for n in tree.walk()):
        raise not_supported("filetoblob and filetoclob in MERGE")
    source_sql = planner.queries.source(tree.args["using"], scope)
    on = planner.queries.expressions.condition(tree.args["on"], scope)
    source_scope = Scope(scope.sources[1:])
    head = f"MERGE INTO {info.duck} AS {quote(alias)} USING {source_sql} ON {on}"
    sql, then_insert = "", None
    for when in tree.args["whens"].expressions:
        matched, then = bool(when.args.get("matched")), when.args["then"]
        condition = when.args.get("condition")
        if isinstance(then, exp.Insert) and _numbers_itself(then, info):
            then_insert = _rows(planner, tree, then, condition)
            continue
        extra = ""
        if condition is not None:
            extra = f" AND {planner.queries.expressions.condition(condition, scope)}"
        sql += f" WHEN {'MATCHED' if matched else 'NOT MATCHED'}{extra} THEN "
        if isinstance(then, exp.Update):
            sets = []
            for left, right in pairs(then.expressions):
                column = info.column(left.name)
                if column is None:
                    raise no_column(left.name)
                sets.append(f"{quote(column.name)} = {planner.assigned(right, scope, column.type)}")
            sql += f"UPDATE SET {', '.join(sets)}"
        elif isinstance(then, exp.Insert):
            sql += _insert(planner, then, info, source_scope)
        else:
            sql += "DELETE"
    if ROUTINE_CALL in head + sql:
        raise not_supported("user routines in MERGE")
    plan = planner.modify(f"{head}{sql}" if sql else "", info, ())
    plan.then_insert = then_insert
    if sql:
        plan.source = f"SELECT * FROM {source_sql}"
        rows = f"_ifx_rows AS {quote(source_scope.sources[0].alias)}"
        plan.over = f"MERGE INTO {info.duck} AS {quote(alias)} USING {rows} ON {on}{sql}"
    return plan


def _numbers_itself(then: exp.Insert, info: TableInfo) -> bool:
    """Whether rows inserted by a MERGE take values that DuckDB's MERGE cannot make: serials and defaults."""
    named = then.this.expressions if then.this is not None else []
    names = [n.name for n in named] or [c.name for c in info.columns]
    return any(c.is_serial or (c.default and c.name not in names) for c in info.columns)


def _rows(
    planner: Planner, tree: exp.Merge, then: exp.Insert, condition: exp.Expression | None
) -> InsertPlan:
    """The insert of a MERGE as INSERT ... SELECT of the source's rows without a match, to be run behind the
    rest: so that must not change which rows match."""
    on = tree.args["on"]
    matched = {column.name for column in on.find_all(exp.Column)}
    for when in tree.args["whens"].expressions:
        other = when.args["then"]
        changes = isinstance(other, exp.Update) and any(
            left.name in matched for left, _ in pairs(other.expressions)
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
        exp.Schema(this=table, expressions=[n.copy() for n in then.this.expressions]) if then.this else table
    )
    return planner.insert(exp.Insert(this=into, expression=rows))


def _insert(planner: Planner, then: exp.Insert, info: TableInfo, scope: Scope) -> str:
    named = then.this.expressions if then.this is not None else []
    names = [n.name for n in named] or [c.name for c in info.columns]
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
        values.append(planner.assigned(item, scope, column.type))
    return f"INSERT ({', '.join(map(quote, names))}) VALUES ({', '.join(values)})"
