"""CREATE, DROP and RENAME INDEX."""

from __future__ import annotations

from dataclasses import replace

from ....wire.quoting import double_quoted
from ...catalog.catalog import IndexInfo, duck_database, duplicate_key_query, first_row
from ...errors import ISAM_DUPLICATE, SqlError, not_supported
from ...parse.ddl_nodes import CreateIndex, DropObject, RenameObject
from ...types.nested_types import is_simple_large
from .ddl_context import DdlContext
from .duck_tables import index_name, make_index, rebuild

_NO_ROUTINE = -674


def create(context: DdlContext, statement: CreateIndex) -> int:
    """CREATE INDEX: -316 if the name is taken, -371 for a repeated key."""
    info = context.require_user_table(statement.table)
    if context.tables.index_owner(statement.name) is not None:
        if statement.if_not_exists:
            return 0
        raise SqlError(-316, 0, 0, statement.name)
    for column, _ in statement.key_columns:
        if is_simple_large(info.require_column(column).type):
            raise SqlError(-610, 0, 0, column)
    for function in statement.functions:
        _check_function(context, function, unique=statement.unique)
    if len(dict(statement.key_columns)) < len(statement.key_columns):
        raise SqlError(-542)
    index = IndexInfo(statement.name, statement.unique, tuple(statement.key_columns))
    if statement.disabled:
        disabled = replace(info.disabled, indexes=(*info.disabled.indexes, index))
        context.replace_table(info, replace(info, disabled=disabled))
        return 0
    # only a unique index affects statements; the others are only in the catalogue
    new = replace(info, indexes=(*info.indexes, index))
    if not index.unique:
        context.replace_table(info, new)
        return 0
    repeated = duplicate_key_query(info, [column for column, _ in index.key_columns])
    if first_row(context.transaction.con, repeated):  # DuckDB does not check rows of the same transaction
        raise SqlError(-371, ISAM_DUPLICATE, 0, statement.name)
    # DuckDB creates no index on a table with uncommitted changes, so the table is rebuilt
    if context.transaction.active:
        rebuild(context, info, new, [double_quoted(column.name) for column in info.columns])
    else:
        make_index(context, info, index)
        context.replace_table(info, new)
    return 0


def _check_function(context: DdlContext, name: str, *, unique: bool) -> None:
    """Check the routine of a functional index, which is kept and listed but not used. Raises -674 for an unknown
    routine."""
    routines = context.routines.find_routines(name, None, specific=False)
    if not routines:
        raise SqlError(_NO_ROUTINE, 0, 0, name)
    if unique:
        raise not_supported(
            f"a unique index of the function {name}; a unique index of columns is there instead"
        )


def drop(context: DdlContext, statement: DropObject) -> int:
    """DROP INDEX: -319 if there is none of that name."""
    info = context.tables.index_owner(statement.name)
    if info is None:
        if statement.if_exists:
            return 0
        raise SqlError(-319, 0, 0, statement.name)
    if statement.name in info.disabled.names:
        kept = tuple(i for i in info.disabled.indexes if i.name != statement.name)
        context.replace_table(info, replace(info, disabled=replace(info.disabled, indexes=kept)))
        return 0
    index = next(i for i in info.indexes if i.name == statement.name)
    if index.unique:
        schema = "temp.main" if info.temporary else f"{duck_database(info.database)}.main"
        context.transaction.recorder.execute(f"DROP INDEX {schema}.{index_name(info, index.name)}")
    context.replace_table(info, replace(info, indexes=tuple(i for i in info.indexes if i is not index)))
    return 0


def rename(context: DdlContext, statement: RenameObject) -> int:
    """RENAME INDEX: -319 if there is none of that name, -316 if the new name is taken."""
    info = context.tables.index_owner(statement.name)
    if info is None:
        raise SqlError(-319, 0, 0, statement.name)
    if context.tables.index_owner(statement.new) is not None:
        raise SqlError(-316, 0, 0, statement.new)
    old = next((i for i in info.indexes if i.name == statement.name), None)
    if old is None:
        raise not_supported("RENAME INDEX of the index of a constraint")
    new_index = replace(old, name=statement.new)
    if old.unique:
        schema, _, _ = info.duck_name.rpartition(".")
        context.transaction.recorder.execute(f"DROP INDEX {schema}.{index_name(info, old.name)}")
        make_index(context, info, new_index)
    context.replace_table(
        info, replace(info, indexes=tuple(new_index if i is old else i for i in info.indexes))
    )
    return 0
