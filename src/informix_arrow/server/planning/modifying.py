"""Plans of UPDATE and DELETE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlglot import exp

from ...wire.describe import Column
from ..errors import SqlError, no_column, not_supported
from ..grammar.dialect_nodes import CurrentOf
from ..schema.catalog import TableInfo
from ..schema.trigger_tables import TriggerInfo
from ..types.names import quote, text
from .assignments import pairs
from .keyed import single, touched, values_made, wanted_key
from .plans import ROUTINE_CALL, WARN_CUT, ModifyPlan
from .scope import Scope, offset_of
from .translation import Translation

_WHOLE_NUMBER = re.compile(r"(?<== )CAST\((\$p\d+) AS (?:SMALLINT|INTEGER|BIGINT)\)\Z")
"""A parameter as the new value of a column of whole numbers. It is bound as a number that the column can hold, and
DuckDB takes a tenth of such an UPDATE to see that the cast changes nothing."""


def update(work: Translation, tree: exp.Update) -> ModifyPlan:
    """The plan of an UPDATE."""
    info = work.changed(tree, tree.this)
    alias = tree.this.alias or tree.this.name
    scope = work.scope(info, alias)
    sets: list[str] = []
    made: list[str] = []
    columns: list[Column] = []
    _name_all(tree, info)
    for left, right in pairs(tree.expressions):
        column = info.column(left.name)
        if column is None:
            raise no_column(left.name, offset_of(left))
        if column.is_serial and info.kind == "T":
            raise SqlError(-232, 0, 0, column.name)
        made.append(work.assigned(right, scope, column))
        sets.append(f"{quote(column.name)} = {made[-1]}")
        columns.append(Column(column.name, column.type))
    work.require(info, "u", [column.name for column in columns])
    if info.kind == "V":
        return _of_view(work, tree, info, alias, scope, columns, made)
    cuts = work.cut_columns()
    where = single(info, alias) if cursor(tree) else work.where(tree, scope)
    if work.checks:
        where = _where_in_view(work, tree, info, alias, where)
    sql = f"UPDATE {info.duck} AS {quote(alias)} SET {', '.join(sets)}"
    if not work.ctx.files:
        plan = _by_row(tree, modify(work, sql + where, info, tuple(columns)), alias, sql, where)
        changed = {column.name for column in columns}
        keys = [key for key in info.keys if not changed.isdisjoint(key.columns)]
        foreign = [f for f in info.foreigns if not changed.isdisjoint(f.columns)]
        plan.looks, plan.rekeys = bool(foreign) or _looks(tree), bool(keys)
        if plan.looks or plan.rekeys:
            kept = {name for f in foreign for name in f.columns} | {
                name for key in keys for name in key.columns
            }
            plan.made = values_made(info, alias, made, sorted(kept - changed))
        plan.rows = rows_seen(info, alias, made, info.fired_by("U", changed))
        if ROUTINE_CALL in plan.sql:
            plan.probe = f"SELECT {', '.join(made)} FROM {info.duck} AS {quote(alias)}{where}"
        if cuts:
            joined = f"{where} AND " if where else " WHERE "
            plan.cut = f"SELECT {cuts} FROM {info.duck} AS {quote(alias)}{joined}{cuts} IS NOT NULL LIMIT 1"
        if not (work.view or plan.looks or plan.rekeys or plan.probe or plan.cut or plan.cursor):
            plan.by_key = _key_alone(tree, info, alias)
        if plan.by_key:
            plain = [_WHOLE_NUMBER.sub(r"\1", each) for each in sets]
            plan.sql = f"UPDATE {info.duck} AS {quote(alias)} SET {', '.join(plain)}{where}"
        return plan
    if any(trigger.each_row for trigger in info.fired_by("U", [column.name for column in columns])):
        raise not_supported("filetoblob and filetoclob in an UPDATE that fires triggers FOR EACH ROW")
    if cursor(tree) or ROUTINE_CALL in sql + where:
        raise not_supported("filetoblob and filetoclob with WHERE CURRENT OF or with user routines")
    each = f"SELECT {quote(alias)}.rowid FROM {info.duck} AS {quote(alias)}{where}"
    sql += f" WHERE {quote(alias)}.rowid = CAST({work.ctx.value('row')} AS BIGINT)"
    plan = modify(work, sql, info, tuple(columns))
    plan.each = each
    return plan


def _name_all(tree: exp.Update, info: TableInfo) -> None:
    """`SET * = (1, 2)` names the columns."""
    for node in tree.expressions:
        if isinstance(node, exp.EQ) and isinstance(node.this, exp.Star):
            names = [exp.column(exp.to_identifier(column.name, quoted=True)) for column in info.columns]
            node.set("this", exp.Tuple(expressions=names))


def _where_in_view(work: Translation, tree: exp.Update, info: TableInfo, alias: str, where: str) -> str:
    """The WHERE of an UPDATE that fails with -385 at a row that would leave the view."""
    assigned = {left.name: right for left, right in pairs(tree.expressions)}
    stays = " AND ".join(work.in_view(info, assigned, alias))
    wanted = where.removeprefix(" WHERE ") or "TRUE"
    leaves = f"error({text(f'IFX-385 of informix.{work.view}')})"
    return f" WHERE CASE WHEN ({wanted}) IS NOT TRUE THEN FALSE WHEN {stays} THEN TRUE ELSE {leaves} END"


def delete(work: Translation, tree: exp.Delete) -> ModifyPlan:
    """The plan of a DELETE."""
    info = work.changed(tree, tree.this)
    work.require(info, "d")
    alias = tree.this.alias or tree.this.name
    scope = work.scope(info, alias)
    if info.kind == "V":
        return _of_view(work, tree, info, alias, scope, [], [])
    where = single(info, alias) if cursor(tree) else work.where(tree, scope)
    head = f"DELETE FROM {info.duck} AS {quote(alias)}"
    plan = _by_row(tree, modify(work, head + where, info, ()), alias, head, where)
    plan.looks = _looks(tree)
    plan.rows = rows_seen(info, alias, [], info.fired_by("D"))
    if ROUTINE_CALL in where:
        plan.probe = f"SELECT count(*) FROM {info.duck} AS {quote(alias)}{where}"
    if not (work.view or plan.looks or plan.probe or plan.cursor or info.children):
        plan.by_key = _key_alone(tree, info, alias)
    return plan


def _key_alone(tree: exp.Expression, info: TableInfo, alias: str) -> tuple[str | int, ...]:
    """`ModifyPlan.by_key` of a statement that does nothing to other rows."""
    return wanted_key(tree, info, alias) if info.plain else ()


def _of_view(
    work: Translation,
    tree: exp.Expression,
    info: TableInfo,
    alias: str,
    scope: Scope,
    columns: Sequence[Column],
    made: Sequence[str],
) -> ModifyPlan:
    """The plan of an UPDATE or DELETE whose rows go to INSTEAD OF triggers."""
    if cursor(tree) or work.ctx.files:
        raise not_supported("WHERE CURRENT OF, filetoblob and filetoclob with INSTEAD OF triggers")
    where = work.where(tree, scope)
    items = [f"{value} AS m{i}" for i, value in enumerate(made)]
    items += [f"{quote(alias)}.{quote(c.name)} AS {quote(f'_{c.name}')}" for c in info.columns]
    plan = modify(work, "", info, tuple(columns))
    plan.rows = f"SELECT {', '.join(items)} FROM {info.duck} AS {quote(alias)}{where}"
    return plan


def rows_seen(info: TableInfo, alias: str, made: list[str], fired: Iterable[TriggerInfo]) -> str:
    """`ModifyPlan.rows`, "" where the rows are not logged, and no trigger that is fired has actions FOR EACH ROW;
    without a WHERE."""
    if not info.full_rows and not any(trigger.each_row for trigger in fired):
        return ""
    return values_made(info, alias, made, [column.name for column in info.columns])


def modify(work: Translation, sql: str, info: TableInfo, columns: tuple[Column, ...]) -> ModifyPlan:
    """The plan of a text that changes rows, with what its translation needs."""
    plan = ModifyPlan(sql, info, work.ctx.needs(), columns, WARN_CUT if work.ctx.literal_cut else 0)
    plan.cuts = tuple(work.cuts)
    plan.read = tuple(work.ctx.tables.values())
    plan.tables = (info, *(table for table in plan.read if table.duck != info.duck))
    return plan


def _by_row(tree: exp.Expression, plan: ModifyPlan, alias: str, head: str, where: str) -> ModifyPlan:
    """The plan of an UPDATE or DELETE that locks its rows one by one."""
    plan.alias, plan.head, plan.whole, plan.cursor = alias, head, False, cursor(tree)
    if not plan.cursor:
        plan.touched = touched(plan.info, alias, where)
    return plan


def cursor(tree: exp.Expression) -> str:
    """The cursor of WHERE CURRENT OF, "" when there is none."""
    where = tree.args.get("where")
    return where.this.this.name if where is not None and isinstance(where.this, CurrentOf) else ""


def _looks(tree: exp.Expression) -> bool:
    """Whether an UPDATE or DELETE reads more than the rows that it changes."""
    return tree.find(exp.Select) is not None
