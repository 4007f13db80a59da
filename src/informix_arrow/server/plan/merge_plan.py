"""Plans of MERGE: an UPDATE or DELETE of the rows that match, and an INSERT of those that do not."""

from __future__ import annotations

from sqlglot import exp

from ...wire.describe import Column
from ...wire.quoting import double_quoted
from ..catalog.catalog import TableInfo
from ..errors import SqlError, not_supported
from ..types.result_types import is_character
from .assignments import single_assignments
from .insert_plan import LONG_TEXT, NAMED_TWICE
from .modify_plan import SharedFields, first_cut, new_values, row_image, shared_fields
from .nodes.client_files import LOADERS
from .plans import ROUTINE_CALL, InsertPlan, MergeChange, MergePlan, SelectPlan
from .row_identity import matching_keys_query
from .scope import Scope
from .translation import StatementTranslator


def merge(work: StatementTranslator, tree: exp.Merge) -> MergePlan:
    """Return the plan of a MERGE.

    The rows are found once, with their new values, and then written by their identities. So rows and keys are locked
    instead of the table, and a replay does not search again.
    """
    info = work.target_table(tree.this)
    alias = tree.this.alias or tree.this.name
    scope = work.scope(info, alias)
    if any(isinstance(n, exp.Anonymous) and n.name.lower() in LOADERS for n in tree.walk()):
        raise not_supported("filetoblob and filetoclob in MERGE")
    source = work.queries.translate_source(tree.args["using"], scope)
    on = work.queries.expressions.condition(tree.args["on"], scope)
    source_scope = Scope(scope.sources[1:])
    matched: tuple[tuple[Column, ...], list[str]] | None = None
    inserted: tuple[tuple[str, ...], SelectPlan] | None = None
    for when in tree.args["whens"].expressions:
        then = when.args["then"]
        if (inserted if isinstance(then, exp.Insert) else matched) is not None:
            raise SqlError(-201, 0, 1)  # each clause at most once
        if isinstance(then, exp.Insert):
            work.require_privilege(info, "i")
            match = f"SELECT 1 FROM {info.duck_name} AS {double_quoted(alias)} WHERE {on}"
            inserted = _rows(work, then, info, source_scope, f"{source} WHERE NOT EXISTS ({match})")
        else:
            matched = _matched(work, then, info, scope)
    common = shared_fields(work, info, ())
    change = insert = None
    calls = ""
    if matched is not None:
        change = _change(work, common, alias, *matched, f" JOIN {source} ON {on}")
        calls = change.row_ids + change.values_query
    if inserted is not None:
        targets, rows = inserted
        rows.needs = common["needs"]
        insert = InsertPlan(info, targets, None, rows, rows.needs)
        calls += rows.sql
    if ROUTINE_CALL in calls:
        raise not_supported("user routines in MERGE")
    return MergePlan(**common, change=change, insert=insert)


def _matched(
    work: StatementTranslator, then: exp.Expression, info: TableInfo, scope: Scope
) -> tuple[tuple[Column, ...], list[str]]:
    """Return the columns that WHEN MATCHED sets, and their new values. Both are empty for a DELETE."""
    columns: list[Column] = []
    values: list[str] = []
    if not isinstance(then, exp.Update):
        work.require_privilege(info, "d")
        return (), values
    for left, right in single_assignments(then.expressions):
        column = info.require_column(left.name)
        if column.is_serial:
            raise SqlError(-232, 0, 0, column.name)
        values.append(work.assigned_value(right, scope, column))
        columns.append(Column(column.name, column.type))
    work.require_privilege(info, "u", [column.name for column in columns])
    return tuple(columns), values


def _change(
    work: StatementTranslator,
    common: SharedFields,
    alias: str,
    columns: tuple[Column, ...],
    values: list[str],
    joined: str,
) -> MergeChange:
    """Return the change of the matching rows, which `joined` finds: an UPDATE if there are new values, else a
    DELETE."""
    info = common["info"]
    fields: SharedFields = {**common, "columns": columns}
    row_ids = matching_keys_query(info, alias, joined)
    if not values:
        image = row_image(info, alias, (), info.fired_by("D"))
        return MergeChange(
            **fields,
            alias=alias,
            head=f"DELETE FROM {info.duck_name} AS {double_quoted(alias)}",
            values_query=image + joined if image else "",
            row_ids=row_ids,
        )
    changed = {column.name for column in columns}
    query = row_image(info, alias, values, info.fired_by("U", changed))
    return MergeChange(
        **fields,
        alias=alias,
        head="",  # its rows are always read first
        values_query=(query or new_values(info, alias, values, changed)) + joined,
        changes_keys=any(not changed.isdisjoint(key.columns) for key in info.keys),
        cut_query=first_cut(work, info, alias, f"{joined} WHERE"),
        row_ids=row_ids,
    )


def _rows(
    work: StatementTranslator, then: exp.Insert, info: TableInfo, scope: Scope, source: str
) -> tuple[tuple[str, ...], SelectPlan]:
    """Return the columns that a MERGE inserts, and the query of their values in storage form."""
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
        column = info.require_column(name)
        if any(column.name == other.name for other in columns):
            raise SqlError(NAMED_TWICE, 0, 0, name)
        with work.collecting_truncations(column):
            ex = work.queries.expressions.expr(item, scope)
            text = ex.type is not None and is_character(ex.type) and is_character(column.type)
            # a text is truncated, with a warning, when the row is stored
            target_type = LONG_TEXT if text else column.type
            values.append(f"{work.queries.expressions.values.assign(ex, target_type)} AS c{len(values)}")
        columns.append(Column(column.name, target_type))
    sql = f"SELECT {', '.join(values)} FROM {source}"
    stored = tuple(column.type is not LONG_TEXT for column in columns)
    plan = SelectPlan(sql, tuple(columns), work.ctx.bind_requirements(), packed_decimals=stored)
    return tuple(names), plan
