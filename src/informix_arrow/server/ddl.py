"""CREATE, DROP, ALTER, RENAME and TRUNCATE, run inside the session's transaction.

Every change is made twice: to the DuckDB object, and to its description in the hidden schema. Changes that
DuckDB cannot make in place are made by building the table anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from . import references
from .catalog import (
    Check,
    ColumnInfo,
    Foreign,
    Index,
    TableInfo,
    Unique,
    attached,
    first_row,
    forget_table,
    quote,
    repeated_key,
    replace_table,
    store_table,
)
from .conversions import arrow_storage
from .errors import ISAM_DUPLICATE, SqlError, no_column, no_table, not_supported
from .lob_calls import drop_objects
from .sql.context import Scope, Source, table_outputs
from .sql.ddl_nodes import (
    AlterTable,
    ColumnDef,
    ConstraintDef,
    CreateIndex,
    CreateSynonym,
    CreateTable,
    CreateType,
    CreateView,
    Drop,
    DropType,
    Rename,
    Sequence,
    Storage,
    Truncate,
)
from .sql.nested_types import is_nested, is_simple_large, lob_kind
from .sql.plans import ROUTINE_CALL, SelectPlan
from .sql.result_types import not_null, plain, storage_type

if TYPE_CHECKING:
    from .session_state import SessionState

DdlStatement = (
    CreateTable
    | Drop
    | CreateIndex
    | CreateView
    | CreateSynonym
    | Sequence
    | AlterTable
    | Rename
    | Truncate
    | CreateType
    | DropType
)


def run(session: SessionState, statement: DdlStatement) -> int:
    """Run one DDL statement inside an open DuckDB transaction; rows affected."""
    from . import ddl_alter, ddl_objects  # they use the helpers of this module

    if isinstance(statement, CreateTable):
        return _create_table(session, statement)
    if isinstance(statement, CreateType):
        return session.types.create(statement)
    if isinstance(statement, DropType):
        return session.types.drop(statement)
    if isinstance(statement, CreateView):
        return ddl_objects.create_view(session, statement)
    if isinstance(statement, CreateSynonym):
        return ddl_objects.create_synonym(session, statement)
    if isinstance(statement, Sequence):
        return ddl_objects.sequence(session, statement)
    if isinstance(statement, CreateIndex):
        return _create_index(session, statement)
    if isinstance(statement, Drop):
        if statement.kind in ("SYNONYM", "SEQUENCE"):
            return ddl_objects.drop(session, statement)
        return _drop(session, statement)
    if isinstance(statement, AlterTable):
        return ddl_alter.alter(session, statement)
    if isinstance(statement, Rename):
        return ddl_alter.rename(session, statement)
    return _truncate(session, statement)


def names_of(session: SessionState, statement: DdlStatement) -> list[str]:
    """The tables and views that a statement makes, changes or takes away, whether they exist or not; not those that
    only this session knows."""
    if isinstance(statement, CreateTable) and statement.temporary:
        return []
    if isinstance(statement, (CreateTable, CreateView, CreateSynonym, Sequence, AlterTable, Truncate)):
        return [statement.name]
    if isinstance(statement, CreateIndex):
        return [statement.table]
    if isinstance(statement, Rename):
        if statement.kind == "INDEX":
            owner = session.index_owner(statement.name)
            return [owner.name] if owner is not None else []
        return [statement.name] if statement.kind == "COLUMN" else [statement.name, statement.new]
    if isinstance(statement, Drop):
        if statement.kind != "INDEX":
            return [statement.name]
        owner = session.index_owner(statement.name)
        return [owner.name] if owner is not None else []
    return []


# ---- descriptions ------------------------------------------------------------------------------
def column_info(definition: ColumnDef, session: SessionState) -> ColumnInfo:
    t = session.types.resolve(definition.type)
    arrow_storage(t)  # -9628 for a type that cannot be stored
    column = ColumnInfo(definition.name, t, definition.default, definition.serial_start)
    only_null = is_simple_large(t) or lob_kind(t) or is_nested(t)
    if definition.default is not None and definition.default[0] != "N" and only_null:
        raise SqlError(-591, 0, 0, definition.name, "the only default of such a column is NULL")
    if definition.default is not None and definition.default[0] == "L":
        session.converter(column.type).one(definition.default[1])
    return column


def describe(
    session: SessionState,
    name: str,
    tabid: int,
    columns: list[ColumnDef],
    constraints: list[ConstraintDef],
    temporary: bool,
    storage: Storage | None = None,
) -> TableInfo:
    """The description of a new table, with names for its constraints."""
    infos: list[ColumnInfo] = []
    for definition in columns:
        if any(c.name == definition.name for c in infos):
            raise SqlError(-328, 0, 0, definition.name)
        infos.append(column_info(definition, session))
    database = session.require_database()
    duck = f"temp.main.{quote(name)}" if temporary else f"{attached(database)}.main.{quote(name)}"
    info = TableInfo(name, tabid, "T", tuple(infos), database, duck, temporary=temporary)
    if storage is not None:
        info = replace(info, storage=storage)
    for constraint in constraints:
        info = add_constraint(session, info, constraint)
    return info


def add_constraint(session: SessionState, info: TableInfo, made: ConstraintDef) -> TableInfo:
    """The same description with one constraint more."""
    for column in made.columns:
        if info.column(column) is None:
            raise no_column(column)
    number = len(info.uniques) + len(info.checks) + len(info.foreigns) + 1
    letter = {"P": "u", "U": "u", "C": "c", "R": "r"}[made.kind]
    name = made.name or f"{letter}{info.tabid}_{number}"
    if made.kind in "PU":
        if made.kind == "P":
            if any(u.kind == "P" for u in info.uniques):
                raise SqlError(-704, 0, 0, info.name)
            columns = tuple(
                replace(c, type=not_null(c.type)) if c.name in made.columns else c for c in info.columns
            )
            info = replace(info, columns=columns)
        return replace(info, uniques=(*info.uniques, Unique(name, made.kind, tuple(made.columns))))
    if made.kind == "C":
        return replace(
            info,
            checks=(*info.checks, Check(name, _condition(session, info, made.condition), made.condition)),
        )
    if info.temporary:
        raise not_supported("foreign keys of temporary tables")
    parent = info if made.parent == info.name else session.find_table(None, made.parent)
    if parent is None:
        raise no_table(made.parent)
    columns_there = tuple(made.parent_columns)
    if not columns_there:
        primary = [u for u in parent.uniques if u.kind == "P"]
        if not primary:
            raise SqlError(-297, 0, 0, made.parent)
        columns_there = primary[0].columns
    if not any(set(u.columns) == set(columns_there) for u in parent.uniques):
        raise SqlError(-297, 0, 0, made.parent)
    if len(columns_there) != len(made.columns):
        raise SqlError(-297, 0, 0, made.parent)
    foreign = Foreign(name, tuple(made.columns), parent.name, columns_there, made.cascade)
    return replace(info, foreigns=(*info.foreigns, foreign))


def _condition(session: SessionState, info: TableInfo, condition: str) -> str:
    """A CHECK condition as DuckDB SQL over bare column names."""
    tree = session.parse(f"SELECT 1 FROM {info.name} WHERE {condition}")
    where = tree.args["where"].this
    translator = session.translator(0)
    scope = Scope([Source(info.name, table_outputs(info), info)])
    sql = translator.expressions.condition(where, scope)
    if translator.ctx.uses:
        raise not_supported("CURRENT and TODAY in CHECK")
    return sql.replace(f"{quote(info.name)}.", "")


# ---- CREATE TABLE --------------------------------------------------------------------------------
def create_sql(info: TableInfo, target: str) -> str:
    """CREATE TABLE for DuckDB, with its keys and checks."""
    parts = [
        f"{quote(c.name)} {storage_type(c.type)}{' NOT NULL' if c.type.not_null else ''}"
        for c in info.columns
    ]
    for unique in info.uniques:
        word = "PRIMARY KEY" if unique.kind == "P" else "UNIQUE"
        parts.append(f"{word} ({', '.join(quote(c) for c in unique.columns)})")
    parts += [f"CHECK ({check.duck})" for check in info.checks]
    return f"CREATE {'TEMP ' if info.temporary else ''}TABLE {target} ({', '.join(parts)})"


def _create_table(session: SessionState, statement: CreateTable) -> int:
    name = statement.name
    if session.find_table(None, name) is not None:
        if statement.if_not_exists:
            return 0
        raise SqlError(-310, 0, 0, name)
    if statement.query:
        return create_from_query(session, name, statement.query, statement.temporary)
    tabid = session.new_tabid()
    info = describe(
        session, name, tabid, statement.columns, statement.constraints, statement.temporary, statement.storage
    )
    session.writer.execute(create_sql(info, info.duck))
    register(session, info)
    return 0


def register(session: SessionState, info: TableInfo) -> None:
    """Remember a new table: temporary ones in the session, others in the hidden schema."""
    if info.temporary:
        session.temp_tables[info.name] = info
    else:
        store_table(session.writer, info, session.user)
    session.schema_changed()


def create_from_query(session: SessionState, name: str, query: str, temporary: bool) -> int:
    """CREATE TABLE ... AS SELECT."""
    plan = session.plan(query, 0)
    if not isinstance(plan, SelectPlan):
        raise SqlError(-201, 0, 1)
    return create_from_select(session, name, plan, temporary, {})


def create_from_select(
    session: SessionState, name: str, plan: SelectPlan, temporary: bool, values: dict[str, object]
) -> int:
    """SELECT ... INTO TEMP: a table of the result's columns, and its rows."""
    if session.find_table(None, name) is not None:
        raise SqlError(-310, 0, 0, name)
    columns: list[ColumnDef] = []
    for column in plan.columns:
        if column.name.startswith("("):
            raise SqlError(-249, 0, 0, column.name)
        t = plain(column.type)
        columns.append(ColumnDef(column.name, not_null(t) if column.type.not_null else t))
    info = describe(session, name, session.new_tabid(), columns, [], temporary)
    session.writer.execute(create_sql(info, info.duck))
    register(session, info)
    calls = session.routines.calls
    with calls.remembering():
        if ROUTINE_CALL in plan.sql:
            calls.settled(plan.sql, lambda: session.con.execute(plan.sql, values or None).fetchall())
        done = first_row(
            session.writer, calls.answered(f"INSERT INTO {info.duck} {plan.sql}"), values or None
        )
    if session.careful:
        session.writer.freeze(f"FROM {info.duck}", f"INSERT INTO {info.duck} FROM _ifx_rows")
    return int(done[0]) if done else 0


# ---- indexes -----------------------------------------------------------------------------------
def index_name(info: TableInfo, name: str) -> str:
    return quote(f"{info.tabid}_{name}")


def make_index(session: SessionState, info: TableInfo, index: Index) -> None:
    columns = ", ".join(quote(c) for c, _ in index.parts)
    unique = "UNIQUE " if index.unique else ""
    session.writer.execute(f"CREATE {unique}INDEX {index_name(info, index.name)} ON {info.duck} ({columns})")


def _create_index(session: SessionState, statement: CreateIndex) -> int:
    info = user_table(session, statement.table)
    if session.index_owner(statement.name) is not None:
        if statement.if_not_exists:
            return 0
        raise SqlError(-316, 0, 0, statement.name)
    for column, _ in statement.parts:
        if info.column(column) is None:
            raise no_column(column)
    index = Index(statement.name, statement.unique, tuple(statement.parts))
    # only a unique index changes what statements do; the others are kept for the catalogue
    new = replace(info, indexes=(*info.indexes, index))
    if not index.unique:
        replace_description(session, info, new)
        return 0
    repeated = repeated_key(info, [column for column, _ in index.parts])
    if first_row(session.con, repeated):  # DuckDB does not look at rows of the same transaction
        raise SqlError(-371, ISAM_DUPLICATE, 0, statement.name)
    if (
        session.in_transaction
    ):  # DuckDB makes no index on a table with uncommitted changes: on a new one, then
        from .ddl_alter import rebuild

        rebuild(session, info, new, [quote(column.name) for column in info.columns])
    else:
        make_index(session, info, index)
        replace_description(session, info, new)
    return 0


def replace_description(session: SessionState, old: TableInfo, new: TableInfo) -> None:
    if new.temporary:
        session.temp_tables.pop(old.name, None)
        session.temp_tables[new.name] = new
    else:
        forget_table(session.writer, old)
        replace_table(session.writer, new)
    session.schema_changed()


def user_table(session: SessionState, name: str) -> TableInfo:
    info = session.find_table(None, name)
    if info is None:
        raise no_table(name)
    if info.kind != "T":
        raise SqlError(-313, 0, 0, name)
    return info


# ---- DROP --------------------------------------------------------------------------------------
def _drop(session: SessionState, statement: Drop) -> int:
    if statement.kind == "INDEX":
        info = session.index_owner(statement.name)
        if info is None:
            if statement.if_exists:
                return 0
            raise SqlError(-319, 0, 0, statement.name)
        index = next(i for i in info.indexes if i.name == statement.name)
        if index.unique:
            place = "temp.main" if info.temporary else f"{attached(info.database)}.main"
            session.writer.execute(f"DROP INDEX {place}.{index_name(info, index.name)}")
        replace_description(
            session, info, replace(info, indexes=tuple(i for i in info.indexes if i is not index))
        )
        return 0
    info = session.find_table(None, statement.name)
    wanted = "T" if statement.kind == "TABLE" else "V"
    if info is None or (info.kind != wanted and info.kind != "S"):
        if statement.if_exists:
            return 0
        raise no_table(statement.name) if wanted == "T" else SqlError(-394, 0, 0, statement.name)
    if info.kind == "S":
        raise SqlError(-313, 0, 0, statement.name)
    if wanted == "T":
        drop_objects(session, info)
        for child in references.without_keys(session, info):  # their foreign keys go with it
            replace_description(session, child, child)
    session.writer.execute(f"DROP {'VIEW' if wanted == 'V' else 'TABLE'} {info.duck}")
    if info.temporary:
        session.temp_tables.pop(info.name, None)
    else:
        forget_table(session.writer, info)
    session.schema_changed()
    return 0


def _truncate(session: SessionState, statement: Truncate) -> int:
    info = user_table(session, statement.name)
    session.writer.execute(f"DELETE FROM {info.duck}")
    references.require_unused(session, info)
    return 0
