"""CREATE, DROP, RENAME and TRUNCATE TABLE, RENAME COLUMN, DROP VIEW, and the table of SELECT ... INTO TEMP."""

from __future__ import annotations

from dataclasses import replace

from ....wire.quoting import double_quoted
from ...catalog import privileges
from ...catalog.catalog import first_row, forget_table
from ...errors import SqlError, no_table
from ...parse.ddl_nodes import ColumnDef, CreateTable, DropObject, RenameObject, TruncateTable
from ...plan.plans import ROUTINE_CALL, SelectPlan
from ...plan.sequences import without_nextval
from ...types.result_types import not_null, without_serial
from . import duck_tables, triggers, views
from .ddl_context import DdlContext
from .dependents import dependent_views, drop_dependents, rename_column, rename_table, rewritable_views
from .descriptions import check_with_column, describe
from .dropped_objects import drop_objects
from .duck_tables import rebuild
from .object_modes import reject_disabled


def create(context: DdlContext, statement: CreateTable) -> int:
    """CREATE TABLE: -310 if the name is taken, -958 for a temporary table if it is taken by another temporary one."""
    name = statement.name
    if context.tables.is_name_taken(name):
        if statement.if_not_exists:
            return 0
        raise name_taken(context, name, statement.temporary)
    if statement.query:
        return create_from_query(context, name, statement.query, statement.temporary, statement.owner)
    tabid = context.new_tabid()
    info = describe(
        context, name, tabid, statement.columns, statement.constraints, statement.temporary, statement.storage
    )
    duck_tables.create(context, info)
    context.register_table(info, statement.owner)
    return 0


def name_taken(context: DdlContext, name: str, temporary: bool) -> SqlError:
    """Return -958 if a temporary table's name is taken by another one of the session, else -310."""
    return SqlError(-958 if temporary and name in context.schema.temp_tables else -310, 0, 0, name)


def create_from_query(context: DdlContext, name: str, query: str, temporary: bool, owner: str) -> int:
    """CREATE TABLE ... AS SELECT."""
    plan = context.planner.plan(query)
    if not isinstance(plan, SelectPlan):
        raise SqlError(-201, 0, 1)
    values = context.bind(plan.needs, ())
    context.isolation.before_query(plan, values)
    return create_from_select(context, name, plan, temporary, values, owner)


def create_from_select(
    context: DdlContext,
    name: str,
    plan: SelectPlan,
    temporary: bool,
    values: dict[str, object],
    owner: str = "",
) -> int:
    """SELECT ... INTO TEMP: create a table with the result's columns and insert its rows."""
    if context.tables.is_name_taken(name):
        raise name_taken(context, name, temporary)
    columns: list[ColumnDef] = []
    for column in plan.columns:
        if column.name.startswith("("):
            raise SqlError(-249, 0, 0, column.name)
        t = without_serial(column.type)
        columns.append(ColumnDef(column.name, not_null(t) if column.type.not_null else t))
    info = describe(context, name, context.new_tabid(), columns, [], temporary)
    duck_tables.create(context, info)
    context.register_table(info, owner)
    routines, transaction = context.routines.in_sql, context.transaction
    with routines.result_scope():
        if ROUTINE_CALL in plan.sql:
            known = without_nextval(plan.sql)  # the numbers are drawn by the INSERT
            routines.run_with_results(
                known, lambda: transaction.con.execute(known, values or None).fetchall()
            )
        text = routines.bind_results(f"INSERT INTO {info.duck_name} {plan.sql}")
        inserted = first_row(transaction.recorder, text, values or None)
    if transaction.must_preserve_work:
        transaction.recorder.record_with_rows(
            f"FROM {info.duck_name}", f"INSERT INTO {info.duck_name} FROM _ifx_rows"
        )
    return int(inserted[0]) if inserted else 0


def drop(context: DdlContext, statement: DropObject) -> int:
    """DROP TABLE and DROP VIEW, with the views that read it and the synonyms for it (CASCADE is the default).

    With RESTRICT, raise -886 if a view reads it or another table refers to it.
    """
    info = context.find_here(statement.name)
    kind = "T" if statement.kind == "TABLE" else "V"
    if info is None or (info.kind != kind and info.kind != "S"):
        if statement.if_exists:
            return 0
        raise no_table(statement.name) if kind == "T" else SqlError(-394, 0, 0, statement.name)
    if info.kind == "S":
        raise SqlError(-313, 0, 0, statement.name)
    if statement.restrict:
        depending = [view.name for view in dependent_views(context, info)]
        depending += [child for child in info.children if child != info.name]
        if depending:
            raise SqlError(-886, 0, 0, statement.name, f"These objects depend on it: {', '.join(depending)}.")
    if kind == "T":
        drop_objects(
            info,
            context.transaction.recorder,
            list(context.schema.temp_tables.values()),
            context.other_temp_tables(info.database),
            context.tables.find,
        )
        # Their foreign keys are dropped with it.
        for child in context.foreign_key_enforcer.children_without_keys(info):
            context.replace_table(child, child)
    has_dependents = drop_dependents(context, info)
    context.transaction.recorder.execute(f"DROP {'VIEW' if kind == 'V' else 'TABLE'} {info.duck_name}")
    if info.temporary:
        context.schema.temp_tables.pop(info.name, None)
        context.schema.mark_changed(temporary=True)
    else:
        forget_table(context.transaction.recorder, info)
        triggers.forget_table(context.transaction.recorder, info)
        privileges.forget_table(context.transaction.recorder, info.database, info.tabid)
        if has_dependents:
            context.schema.mark_changed()
        else:
            context.mark_table_changed(info)
    return 0


def truncate(context: DdlContext, statement: TruncateTable) -> int:
    """TRUNCATE TABLE: -692 if a row of another table refers to one of these."""
    info = context.require_user_table(statement.name)
    context.transaction.recorder.execute(f"DELETE FROM {info.duck_name}")
    context.transaction.change_logger.log_truncated(info)
    context.foreign_key_enforcer.require_no_orphans(info)
    return 0


def rename(context: DdlContext, statement: RenameObject) -> int:
    """RENAME TABLE and RENAME COLUMN: -19816 for a table whose rows are logged in full."""
    view = context.find_here(statement.name) if statement.kind == "TABLE" else None
    if view is not None and view.name != statement.name:
        raise no_table(statement.name)  # a synonym
    if view is not None and view.kind == "V":
        return views.rename(context, view, statement.new)
    info = context.require_alterable_table(statement.name)
    reject_disabled(info, f"RENAME {statement.kind}")
    expressions = [double_quoted(c.name) for c in info.columns]
    read_by = rewritable_views(context, info)
    if statement.kind == "TABLE":
        if context.tables.is_name_taken(statement.new):
            raise SqlError(-310, 0, 0, statement.new)
        children = context.foreign_key_enforcer.renamed_children(info, statement.new, {})
        own = tuple(
            replace(f, parent=statement.new) if f.parent == info.name else f for f in info.foreign_keys
        )
        rebuild(context, info, replace(info, name=statement.new, foreign_keys=own), expressions)
        for child in children:
            context.replace_table(child, child)
        rename_table(context, info, statement.new, read_by)
        return 0
    info.require_column(statement.column)
    if info.column(statement.new) is not None:
        raise SqlError(-328, 0, 0, statement.new)

    def renamed(name: str) -> str:
        return statement.new if name == statement.column else name

    new = replace(
        info,
        columns=tuple(replace(c, name=renamed(c.name)) for c in info.columns),
        unique_constraints=tuple(
            replace(u, columns=tuple(map(renamed, u.columns))) for u in info.unique_constraints
        ),
        indexes=tuple(
            replace(i, key_columns=tuple((renamed(c), d) for c, d in i.key_columns)) for i in info.indexes
        ),
        foreign_keys=tuple(replace(f, columns=tuple(map(renamed, f.columns))) for f in info.foreign_keys),
        checks=tuple(check_with_column(context, c, statement.column, statement.new) for c in info.checks),
    )
    privileges.rename_column(
        context.transaction.recorder, info.database, info.tabid, statement.column, statement.new
    )
    triggers.rename_column(context.transaction.recorder, info, statement.column, statement.new)
    children = context.foreign_key_enforcer.renamed_children(
        info, info.name, {statement.column: statement.new}
    )
    own = tuple(
        replace(f, parent_columns=tuple(map(renamed, f.parent_columns))) if f.parent == info.name else f
        for f in new.foreign_keys
    )
    rebuild(context, info, replace(new, foreign_keys=own), expressions)
    for child in children:
        context.replace_table(child, child)
    rename_column(context, info, statement.column, statement.new, read_by)
    return 0
