"""CREATE, DROP, RENAME and TRUNCATE TABLE, RENAME COLUMN, DROP VIEW, and the table of SELECT ... INTO TEMP."""

from __future__ import annotations

from dataclasses import replace

from ...errors import SqlError, no_column, no_table
from ...grammar.ddl_nodes import ColumnDef, CreateTable, Drop, Rename, Truncate
from ...planning.plans import ROUTINE_CALL, SelectPlan
from ...planning.sequences import without_numbers
from ...schema import privileges
from ...schema.catalog import first_row, forget_table
from ...types.names import quote
from ...types.result_types import not_null, plain
from . import duck_tables, triggers
from .dependents import dependent_views, drop_dependents, readers, rename_column, rename_table
from .descriptions import check_with_column, describe
from .dropped_objects import drop_objects
from .duck_tables import rebuild
from .workbench import Workbench


def create(bench: Workbench, statement: CreateTable) -> int:
    """CREATE TABLE: -310 when the name is taken, -958 by a temporary table for another one."""
    name = statement.name
    if bench.tables.taken(name):
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
    bench.register(info, statement.owner)
    return 0


def name_taken(bench: Workbench, name: str, temporary: bool) -> SqlError:
    """-958 for a temporary table beside another one of the session, else -310."""
    return SqlError(-958 if temporary and name in bench.schema.temp_tables else -310, 0, 0, name)


def create_from_query(bench: Workbench, name: str, query: str, temporary: bool, owner: str) -> int:
    """CREATE TABLE ... AS SELECT."""
    plan = bench.planner.plan(query)
    if not isinstance(plan, SelectPlan):
        raise SqlError(-201, 0, 1)
    bench.isolation.before_query(plan, {})
    return create_from_select(bench, name, plan, temporary, {}, owner)


def create_from_select(
    bench: Workbench, name: str, plan: SelectPlan, temporary: bool, values: dict[str, object], owner: str = ""
) -> int:
    """SELECT ... INTO TEMP: a table of the result's columns, and its rows."""
    if bench.tables.taken(name):
        raise name_taken(bench, name, temporary)
    columns: list[ColumnDef] = []
    for column in plan.columns:
        if column.name.startswith("("):
            raise SqlError(-249, 0, 0, column.name)
        t = plain(column.type)
        columns.append(ColumnDef(column.name, not_null(t) if column.type.not_null else t))
    info = describe(bench, name, bench.new_tabid(), columns, [], temporary)
    duck_tables.create(bench, info)
    bench.register(info, owner)
    answers, transaction = bench.routines, bench.transaction
    with answers.remembering():
        if ROUTINE_CALL in plan.sql:
            known = without_numbers(plan.sql)  # the INSERT draws them
            answers.settled(known, lambda: transaction.con.execute(known, values or None).fetchall())
        text = answers.answered(f"INSERT INTO {info.duck} {plan.sql}")
        done = first_row(transaction.writer, text, values or None)
    if transaction.careful:
        transaction.writer.freeze(f"FROM {info.duck}", f"INSERT INTO {info.duck} FROM _ifx_rows")
    return int(done[0]) if done else 0


def drop(bench: Workbench, statement: Drop) -> int:
    """DROP TABLE and DROP VIEW, with the views that read it and the synonyms for it (CASCADE is the default). With
    RESTRICT -886 where a view reads it, or another table refers to it."""
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
            bench.transaction.writer,
            list(bench.schema.temp_tables.values()),
            bench.others(info.database),
            bench.tables.find,
        )
        for child in bench.references.without_keys(info):  # their foreign keys go with it
            bench.replace_description(child, child)
    drop_dependents(bench, info)
    bench.transaction.writer.execute(f"DROP {'VIEW' if wanted == 'V' else 'TABLE'} {info.duck}")
    if info.temporary:
        bench.schema.temp_tables.pop(info.name, None)
    else:
        forget_table(bench.transaction.writer, info)
        triggers.forget_table(bench.transaction.writer, info)
        privileges.forget_table(bench.transaction.writer, info.database, info.tabid)
    bench.schema.change(temporary=info.temporary)
    return 0


def truncate(bench: Workbench, statement: Truncate) -> int:
    """TRUNCATE TABLE: -692 when a row of another table needs one of these."""
    info = bench.user_table(statement.name)
    bench.transaction.writer.execute(f"DELETE FROM {info.duck}")
    bench.transaction.changes.truncated(info)
    bench.references.require_unused(info)
    return 0


def rename(bench: Workbench, statement: Rename) -> int:
    """RENAME TABLE and RENAME COLUMN: -19816 for a table whose rows are logged in full."""
    info = bench.alterable(statement.name)
    expressions = [quote(c.name) for c in info.columns]
    read_by = readers(bench, info)
    if statement.kind == "TABLE":
        if bench.tables.taken(statement.new):
            raise SqlError(-310, 0, 0, statement.new)
        children = bench.references.rename(info, statement.new, {})
        own = tuple(replace(f, parent=statement.new) if f.parent == info.name else f for f in info.foreigns)
        rebuild(bench, info, replace(info, name=statement.new, foreigns=own), expressions)
        for child in children:
            bench.replace_description(child, child)
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
        uniques=tuple(replace(u, columns=tuple(map(renamed, u.columns))) for u in info.uniques),
        indexes=tuple(replace(i, parts=tuple((renamed(c), d) for c, d in i.parts)) for i in info.indexes),
        foreigns=tuple(replace(f, columns=tuple(map(renamed, f.columns))) for f in info.foreigns),
        checks=tuple(check_with_column(bench, c, statement.column, statement.new) for c in info.checks),
    )
    privileges.rename_column(
        bench.transaction.writer, info.database, info.tabid, statement.column, statement.new
    )
    triggers.rename_column(bench.transaction.writer, info, statement.column, statement.new)
    children = bench.references.rename(info, info.name, {statement.column: statement.new})
    own = tuple(
        replace(f, parent_columns=tuple(map(renamed, f.parent_columns))) if f.parent == info.name else f
        for f in new.foreigns
    )
    rebuild(bench, info, replace(new, foreigns=own), expressions)
    for child in children:
        bench.replace_description(child, child)
    rename_column(bench, info, statement.column, statement.new, read_by)
    return 0
