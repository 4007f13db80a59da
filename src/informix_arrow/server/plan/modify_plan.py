"""Plans of UPDATE and DELETE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypedDict

from sqlglot import exp

from ...wire.describe import Column
from ...wire.quoting import double_quoted
from ..catalog.catalog import TableInfo
from ..catalog.trigger_tables import TriggerInfo
from ..errors import SqlError, not_supported
from ..parse.dialect_nodes import CurrentOf
from ..types.quoting import quote_string
from .assignments import single_assignments
from .plans import (
    ROUTINE_CALL,
    WARN_CUT,
    BindRequirements,
    CursorModify,
    KeyedModify,
    ModifyPlan,
    RowwiseModify,
    SetModify,
    TruncationCause,
    ViewModify,
)
from .row_identity import bound_key_condition, matching_keys_query, new_values_query, primary_key_values
from .scope import Scope, source_offset
from .translation import StatementTranslator

_WHOLE_NUMBER = re.compile(r"(?<== )CAST\((\$p\d+) AS (?:SMALLINT|INTEGER|BIGINT)\)\Z")
"""Matches a parameter as the new value of an integer column. It is bound as a number that the column can hold. The cast
is redundant, and DuckDB spends a tenth of such an UPDATE on it."""


def update(work: StatementTranslator, tree: exp.Update) -> ModifyPlan:
    """Return the plan of an UPDATE."""
    info = work.changed_table(tree, tree.this)
    alias = tree.this.alias or tree.this.name
    scope = work.scope(info, alias)
    columns, values = _assignments(work, tree, info, scope)
    work.require_privilege(info, "u", [column.name for column in columns])
    if info.kind == "V":
        return _view_modify(work, tree, info, alias, scope, columns, values)
    where = bound_key_condition(info, alias) if cursor(tree) else work.where(tree, scope)
    if work.view_checks:
        where = _where_in_view(work, tree, info, alias, where)
    if work.ctx.files:
        return _rowwise_update(work, tree, info, alias, columns, values, where)
    return _update_of_rows(work, tree, info, alias, columns, values, where)


def _assignments(
    work: StatementTranslator, tree: exp.Update, info: TableInfo, scope: Scope
) -> tuple[tuple[Column, ...], list[str]]:
    """Return the columns that an UPDATE sets, and their new values as DuckDB SQL."""
    _name_all(tree, info)
    columns: list[Column] = []
    values: list[str] = []
    for left, right in single_assignments(tree.expressions):
        column = info.require_column(left.name, source_offset(left))
        if column.is_serial and info.kind == "T":
            raise SqlError(-232, 0, 0, column.name)
        values.append(work.assigned_value(right, scope, column))
        columns.append(Column(column.name, column.type))
    return tuple(columns), values


def _name_all(tree: exp.Update, info: TableInfo) -> None:
    """Replace the star of `SET * = (1, 2)` by the column names."""
    for node in tree.expressions:
        if isinstance(node, exp.EQ) and isinstance(node.this, exp.Star):
            names = [exp.column(exp.to_identifier(column.name, quoted=True)) for column in info.columns]
            node.set("this", exp.Tuple(expressions=names))


def _set_clause(info: TableInfo, alias: str, sets: Iterable[str]) -> str:
    """Return the SQL of an UPDATE before its WHERE."""
    return f"UPDATE {info.duck_name} AS {double_quoted(alias)} SET {', '.join(sets)}"


def _update_of_rows(
    work: StatementTranslator,
    tree: exp.Update,
    info: TableInfo,
    alias: str,
    columns: tuple[Column, ...],
    values: Sequence[str],
    where: str,
) -> CursorModify | SetModify:
    """Return the plan of an UPDATE of a table's rows."""
    sets = [f"{double_quoted(column.name)} = {value}" for column, value in zip(columns, values, strict=True)]
    head = _set_clause(info, alias, sets)
    changed = {column.name for column in columns}
    changes_keys = any(not changed.isdisjoint(key.columns) for key in info.keys)
    reads_others = any(not changed.isdisjoint(f.columns) for f in info.foreign_keys) or _has_subquery(tree)
    image = row_image(info, alias, values, info.fired_by("U", changed))
    query = image
    if not image and (changes_keys or reads_others):
        query = new_values(info, alias, values, changed)
    probe = ""
    if ROUTINE_CALL in head + where:
        probe = f"SELECT {', '.join(values)} FROM {info.duck_name} AS {double_quoted(alias)}{where}"
    fields: RowsFields = {
        **shared_fields(work, info, columns),
        "alias": alias,
        "head": head,
        "values_query": query,
        "changes_keys": changes_keys,
        "cut_query": first_cut(work, info, alias, f"{where} AND" if where else " WHERE"),
    }
    reads_rows = reads_others or bool(image)
    plan = _modify_rows(work, tree, fields, where, probe, reads_rows=reads_rows, others_changed=False)
    if isinstance(plan, KeyedModify):
        short = _set_clause(info, alias, [_WHOLE_NUMBER.sub(r"\1", assignment) for assignment in sets])
        return replace(plan, sql=short + where)
    return plan


def _modify_rows(
    work: StatementTranslator,
    tree: exp.Expression,
    fields: RowsFields,
    where: str,
    probe: str,
    *,
    reads_rows: bool,
    others_changed: bool,
) -> CursorModify | SetModify:
    """Return the plan of an UPDATE or DELETE of a table's rows.

    `reads_rows` has the meaning of `SetModify.reads_rows`. `others_changed` is true if rows of other tables may change
    too.
    """
    info, alias = fields["info"], fields["alias"]
    sql = fields["head"] + where
    if cursor(tree):
        return CursorModify(**fields, cursor=cursor(tree), sql=sql, probe=probe)
    row_ids = matching_keys_query(info, alias, where)
    more = (
        work.changed_view
        or reads_rows
        or others_changed
        or probe
        or fields["changes_keys"]
        or fields["cut_query"]
    )
    key = primary_key_values(tree, info, alias) if info.has_simple_updates and not more else ()
    if key:
        return KeyedModify(**fields, sql=sql, row_ids=row_ids, key=key)
    # few keys of a temporary table are changed at once, and an error identifies the key
    own_keys = fields["changes_keys"] and info.temporary
    return SetModify(**fields, sql=sql, row_ids=row_ids, probe=probe, reads_rows=reads_rows or own_keys)


def _rowwise_update(
    work: StatementTranslator,
    tree: exp.Update,
    info: TableInfo,
    alias: str,
    columns: tuple[Column, ...],
    values: Sequence[str],
    where: str,
) -> RowwiseModify:
    """Return the plan of an UPDATE that creates large objects from files of the client."""
    head = _set_clause(
        info,
        alias,
        [f"{double_quoted(c.name)} = {value}" for c, value in zip(columns, values, strict=True)],
    )
    if any(trigger.each_row for trigger in info.fired_by("U", [column.name for column in columns])):
        raise not_supported("filetoblob and filetoclob in an UPDATE that fires triggers FOR EACH ROW")
    if cursor(tree) or ROUTINE_CALL in head + where:
        raise not_supported("filetoblob and filetoclob with WHERE CURRENT OF or with user routines")
    rowid = f"{double_quoted(alias)}.rowid"
    sql = f"{head} WHERE {rowid} = CAST({work.ctx.session_value('row')} AS BIGINT)"
    row_ids = f"SELECT {rowid} FROM {info.duck_name} AS {double_quoted(alias)}{where}"
    return RowwiseModify(**shared_fields(work, info, columns), row_ids=row_ids, sql=sql)


def _where_in_view(
    work: StatementTranslator, tree: exp.Update, info: TableInfo, alias: str, where: str
) -> str:
    """Return the WHERE of an UPDATE that raises -385 at a row that would leave the view."""
    assigned = {left.name: right for left, right in single_assignments(tree.expressions)}
    stays = " AND ".join(work.view_check_conditions(info, assigned, alias))
    matches = where.removeprefix(" WHERE ") or "TRUE"
    leaves = f"error({quote_string(f'IFX-385 of informix.{work.changed_view}')})"
    return f" WHERE CASE WHEN ({matches}) IS NOT TRUE THEN FALSE WHEN {stays} THEN TRUE ELSE {leaves} END"


def delete(work: StatementTranslator, tree: exp.Delete) -> ModifyPlan:
    """Return the plan of a DELETE."""
    info = work.changed_table(tree, tree.this)
    work.require_privilege(info, "d")
    alias = tree.this.alias or tree.this.name
    scope = work.scope(info, alias)
    if info.kind == "V":
        return _view_modify(work, tree, info, alias, scope, (), ())
    where = bound_key_condition(info, alias) if cursor(tree) else work.where(tree, scope)
    image = row_image(info, alias, (), info.fired_by("D"))
    probe = (
        f"SELECT count(*) FROM {info.duck_name} AS {double_quoted(alias)}{where}"
        if ROUTINE_CALL in where
        else ""
    )
    fields: RowsFields = {
        **shared_fields(work, info, ()),
        "alias": alias,
        "head": f"DELETE FROM {info.duck_name} AS {double_quoted(alias)}",
        "values_query": image,
        "changes_keys": False,
        "cut_query": "",
    }
    reads_rows = bool(image) or _has_subquery(tree)
    return _modify_rows(
        work, tree, fields, where, probe, reads_rows=reads_rows, others_changed=bool(info.children)
    )


def _view_modify(
    work: StatementTranslator,
    tree: exp.Expression,
    info: TableInfo,
    alias: str,
    scope: Scope,
    columns: tuple[Column, ...],
    values: Sequence[str],
) -> ViewModify:
    """Return the plan of an UPDATE or DELETE of a view with INSTEAD OF triggers."""
    if cursor(tree) or work.ctx.files:
        raise not_supported("WHERE CURRENT OF, filetoblob and filetoclob with INSTEAD OF triggers")
    where = work.where(tree, scope)
    items = [f"{value} AS m{i}" for i, value in enumerate(values)]
    items += [
        f"{double_quoted(alias)}.{double_quoted(c.name)} AS {double_quoted(f'_{c.name}')}"
        for c in info.columns
    ]
    query = f"SELECT {', '.join(items)} FROM {work.queries.table_source(info, alias)}{where}"
    return ViewModify(**shared_fields(work, info, columns), rows_query=query)


def row_image(info: TableInfo, alias: str, values: Sequence[str], fired: Iterable[TriggerInfo]) -> str:
    """Return the query of the new values and all columns of rows, without a WHERE.

    It is "" if the rows are not logged and no fired trigger has FOR EACH ROW actions.
    """
    if not info.is_fully_logged and not any(trigger.each_row for trigger in fired):
        return ""
    return new_values_query(info, alias, values, [column.name for column in info.columns])


def new_values(info: TableInfo, alias: str, values: Sequence[str], changed: set[str]) -> str:
    """Return the query of the new values of the changed columns, and of the other columns of the keys and foreign keys
    that they belong to, without a WHERE."""
    parts = [unique.columns for unique in info.keys] + [foreign.columns for foreign in info.foreign_keys]
    key_columns = {name for names in parts if not changed.isdisjoint(names) for name in names}
    return new_values_query(info, alias, values, sorted(key_columns - changed))


def first_cut(work: StatementTranslator, info: TableInfo, alias: str, rows: str) -> str:
    """Return the query of the first column whose text will be truncated, "" if there is none.

    `rows` selects the rows: the text after FROM, up to the WHERE or AND before the next condition.
    """
    cuts = work.truncated_column_sql()
    if not cuts:
        return ""
    return f"SELECT {cuts} FROM {info.duck_name} AS {double_quoted(alias)}{rows} {cuts} IS NOT NULL LIMIT 1"


class SharedFields(TypedDict):
    """The fields that all plans of changes share, as keyword arguments."""

    info: TableInfo
    needs: BindRequirements
    columns: tuple[Column, ...]
    warnings: int
    cuts: tuple[TruncationCause, ...]
    tables: tuple[TableInfo, ...]
    read: tuple[TableInfo, ...]


class RowsFields(SharedFields):
    """The fields of `RowsModify`."""

    alias: str
    head: str
    values_query: str
    changes_keys: bool
    cut_query: str


def shared_fields(work: StatementTranslator, info: TableInfo, columns: tuple[Column, ...]) -> SharedFields:
    """Return the shared fields from the results of a complete translation."""
    read = tuple(work.ctx.tables.values())
    return SharedFields(
        info=info,
        needs=work.ctx.bind_requirements(),
        columns=columns,
        warnings=WARN_CUT if work.ctx.literal_truncated else 0,
        cuts=tuple(work.truncation_causes),
        tables=(info, *(table for table in read if table.duck_name != info.duck_name)),
        read=read,
    )


def cursor(tree: exp.Expression) -> str:
    """Return the cursor of WHERE CURRENT OF, "" if there is none."""
    where = tree.args.get("where")
    return where.this.this.name if where is not None and isinstance(where.this, CurrentOf) else ""


def _has_subquery(tree: exp.Expression) -> bool:
    """Return whether an UPDATE or DELETE reads more than the rows that it changes."""
    return tree.find(exp.Select) is not None
