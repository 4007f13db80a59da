"""CREATE, DROP, RENAME and TRUNCATE TABLE, RENAME COLUMN, DROP VIEW, and the table of SELECT ... INTO TEMP."""

from __future__ import annotations

from dataclasses import replace

from ...catalog import privileges
from ...catalog.catalog import first_row, forget_table
from ...errors import SqlError, no_column, no_table
from ...parse.ddl_nodes import ColumnDef, CreateTable, DropObject, RenameObject, TruncateTable
from ...plan.plans import ROUTINE_CALL, SelectPlan
from ...plan.sequences import without_nextval
from ...types.quoting import quote_identifier
from ...types.result_types import not_null, without_serial
from . import duck_tables, triggers
from .ddl_context import DdlContext
from .dependents import dependent_views, drop_dependents, rename_column, rename_table, rewritable_views
from .descriptions import check_with_column, describe
from .dropped_objects import drop_objects
from .duck_tables import rebuild


def create(bench: DdlContext, statement: CreateTable) -> int:
    """CREATE TABLE: -310 if the name is taken, -958 for a temporary table if it is taken by another temporary one."""
    name = statement.name
    if bench.tables.is_name_taken(name):
        if statement.if_not_exists:
            return 0
        raise name_taken(bench, name, statement.temporary)
    if statement.query:
        return create_from_query(bench, name, statement.query, statement.temporary, statement.owner)
    tabid = bench.new_tabid()
    info = describe(
        bench, name, tabid, statement.columns, statement.constraints, statement.temporary, statement.storage
    )
    duck_tables.create(bench, info)
    bench.register_table(info, statement.owner)
    return 0


def name_taken(bench: DdlContext, name: str, temporary: bool) -> SqlError:
    """Return -958 if a temporary table's name is taken by another one of the session, else -310."""
    return SqlError(-958 if temporary and name in bench.schema.temp_tables else -310, 0, 0, name)


def create_from_query(bench: DdlContext, name: str, query: str, temporary: bool, owner: str) -> int:
    """CREATE TABLE ... AS SELECT."""
    plan = bench.planner.plan(query)
    if not isinstance(plan, SelectPlan):
        raise SqlError(-201, 0, 1)
    bench.isolation.before_query(plan, {})
    return create_from_select(bench, name, plan, temporary, {}, owner)


def create_from_select(
    bench: DdlContext,
    name: str,
    plan: SelectPlan,
    temporary: bool,
    values: dict[str, object],
    owner: str = "",
) -> int:
    """SELECT ... INTO TEMP: create a table with the result's columns and insert its rows."""
    if bench.tables.is_name_taken(name):
        raise name_taken(bench, name, temporary)
    columns: list[ColumnDef] = []
    for column in plan.columns:
        if column.name.startswith("("):
            raise SqlError(-249, 0, 0, column.name)
        t = without_serial(column.type)
        columns.append(ColumnDef(column.name, not_null(t) if column.type.not_null else t))
    info = describe(bench, name, bench.new_tabid(), columns, [], temporary)
    duck_tables.create(bench, info)
    bench.register_table(info, owner)
    answers, transaction = bench.routines, bench.transaction
    with answers.result_scope():
        if ROUTINE_CALL in plan.sql:
            known = without_nextval(plan.sql)  # the numbers are drawn by the INSERT
            answers.run_with_results(known, lambda: transaction.con.execute(known, values or None).fetchall())
        text = answers.bind_results(f"INSERT INTO {info.duck_name} {plan.sql}")
        done = first_row(transaction.recorder, text, values or None)
    if transaction.must_preserve_work:
        transaction.recorder.record_with_rows(
            f"FROM {info.duck_name}", f"INSERT INTO {info.duck_name} FROM _ifx_rows"
        )
    return int(done[0]) if done else 0


def drop(bench: DdlContext, statement: DropObject) -> int:
    """DROP TABLE and DROP VIEW, with the views that read it and the synonyms for it (CASCADE is the default).

    With RESTRICT, raise -886 if a view reads it or another table refers to it.
    """
    info = bench.tables.find(None, statement.name)
    wanted = "T" if statement.kind == "TABLE" else "V"
    if info is None or (info.kind != wanted and info.kind != "S"):
        if statement.if_exists:
            return 0
        raise no_table(statement.name) if wanted == "T" else SqlError(-394, 0, 0, statement.name)
    if info.kind == "S":
        raise SqlError(-313, 0, 0, statement.name)
    if statement.restrict:
        depending = [view.name for view in dependent_views(bench, info)]
        depending += [child for child in info.children if child != info.name]
        if depending:
            raise SqlError(-886, 0, 0, statement.name, f"what depends on it: {', '.join(depending)}")
    if wanted == "T":
        drop_objects(
            info,
            bench.transaction.recorder,
            list(bench.schema.temp_tables.values()),
            bench.other_temp_tables(info.database),
            bench.tables.find,
        )
        for child in bench.foreign_key_enforcer.children_without_keys(info):  # their foreign keys are dropped with it
            bench.replace_table(child, child)
    drop_dependents(bench, info)
    bench.transaction.recorder.execute(f"DROP {'VIEW' if wanted == 'V' else 'TABLE'} {info.duck_name}")
    if info.temporary:
        bench.schema.temp_tables.pop(info.name, None)
    else:
        forget_table(bench.transaction.recorder, info)
        triggers.forget_table(bench.transaction.recorder, info)
        privileges.forget_table(bench.transaction.recorder, info.database, info.tabid)
    bench.schema.mark_changed(temporary=info.temporary)
    return 0


def truncate(bench: DdlContext, statement: TruncateTable) -> int:
    """TRUNCATE TABLE: -692 if a row of another table refers to one of these."""
    info = bench.require_user_table(statement.name)
    bench.transaction.recorder.execute(f"DELETE FROM {info.duck_name}")
    bench.transaction.change_logger.log_truncated(info)
    bench.foreign_key_enforcer.require_no_orphans(info)
    return 0


def rename(bench: DdlContext, statement: RenameObject) -> int:
    """RENAME TABLE and RENAME COLUMN: -19816 for a table whose rows are logged in full."""
    info = bench.require_alterable_table(statement.name)
    expressions = [quote_identifier(c.name) for c in info.columns]
    read_by = rewritable_views(bench, info)
    if statement.kind == "TABLE":
        if bench.tables.is_name_taken(statement.new):
            raise SqlError(-310, 0, 0, statement.new)
        children = bench.foreign_key_enforcer.renamed_children(info, statement.new, {})
        own = tuple(
            replace(f, parent=statement.new) if f.parent == info.name else f for f in info.foreign_keys
        )
        rebuild(bench, info, replace(info, name=statement.new, foreign_keys=own), expressions)
        for child in children:
            bench.replace_table(child, child)
        rename_table(bench, info, statement.new, read_by)
        return 0
    if info.column(statement.column) is None:
        raise no_column(statement.column)
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
        checks=tuple(check_with_column(bench, c, statement.column, statement.new) for c in info.checks),
    )
    privileges.rename_column(
        bench.transaction.recorder, info.database, info.tabid, statement.column, statement.new
    )
    triggers.rename_column(bench.transaction.recorder, info, statement.column, statement.new)
    children = bench.foreign_key_enforcer.renamed_children(info, info.name, {statement.column: statement.new})
    own = tuple(
        replace(f, parent_columns=tuple(map(renamed, f.parent_columns))) if f.parent == info.name else f
        for f in new.foreign_keys
    )
    rebuild(bench, info, replace(new, foreign_keys=own), expressions)
    for child in children:
        bench.replace_table(child, child)
    rename_column(bench, info, statement.column, statement.new, read_by)
    return 0
