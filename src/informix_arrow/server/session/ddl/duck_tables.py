"""Tables, views and indexes in DuckDB. A table that it cannot change in place is rebuilt."""

from __future__ import annotations

from dataclasses import replace

from ....wire.quoting import double_quoted
from ...catalog.catalog import IndexInfo, TableInfo, UniqueConstraint, key_part
from ...types.result_types import storage_type
from .ddl_context import DdlContext

_NEVER_READ = "error('IFX-768')"


def create(context: DdlContext, info: TableInfo) -> None:
    """Create a new table with all constraints and indexes that forbid duplicates."""
    context.transaction.recorder.execute(create_sql(info, info.duck_name))
    _make_indexes(context, info)


def create_sql(info: TableInfo, target: str) -> str:
    """Return DuckDB's CREATE TABLE with checks and keys, except keys that have an index of their own."""
    parts = [
        f"{double_quoted(c.name)} {storage_type(c.type)}{' NOT NULL' if c.type.not_null else ''}"
        for c in info.columns
    ]
    for unique in info.unique_constraints:
        if _has_own_index(info, unique):
            continue
        word = "PRIMARY KEY" if unique.kind == "P" else "UNIQUE"
        parts.append(f"{word} ({', '.join(double_quoted(c) for c in unique.columns)})")
    parts += [f"CHECK ({check.duck_sql})" for check in info.checks]
    return f"CREATE {'TEMP ' if info.temporary else ''}TABLE {target} ({', '.join(parts)})"


def index_name(info: TableInfo, name: str) -> str:
    return double_quoted(f"{info.tabid}_{name}")


def _has_own_index(info: TableInfo, unique: UniqueConstraint) -> bool:
    """Return whether a constraint is an index of expressions in DuckDB, which ignores trailing blanks of texts."""
    return not info.blank_padded.isdisjoint(unique.columns)


def _own_indexes(info: TableInfo) -> dict[str, tuple[str, ...]]:
    """Return the columns of all separate unique indexes of a table, by their names."""
    indexes = {index_name(info, i.name): tuple(c for c, _ in i.key_columns) for i in info.indexes if i.unique}
    # Dropped columns keep their places until the table is rebuilt.
    for number, unique in enumerate(info.unique_constraints):
        if _has_own_index(info, unique):
            indexes[double_quoted(f"key_{info.tabid}_{number}")] = unique.columns
    return indexes


def _make_indexes(context: DdlContext, info: TableInfo) -> None:
    for name, columns in _own_indexes(info).items():
        parts = ", ".join(key_part(info, column) for column in columns)
        context.transaction.recorder.execute(f"CREATE UNIQUE INDEX {name} ON {info.duck_name} ({parts})")


def make_index(context: DdlContext, info: TableInfo, index: IndexInfo) -> None:
    """Create the index of CREATE UNIQUE INDEX."""
    columns = ", ".join(key_part(info, c) for c, _ in index.key_columns)
    name = index_name(info, index.name)
    context.transaction.recorder.execute(f"CREATE UNIQUE INDEX {name} ON {info.duck_name} ({columns})")


def rebuild(context: DdlContext, old: TableInfo, new: TableInfo, expressions: list[str]) -> None:
    """Rebuild the table with another shape and copy its rows."""
    schema, _, _ = old.duck_name.rpartition(".")
    temporary = f"{schema}.{double_quoted(f'_new_{old.tabid}')}"
    writer = context.transaction.recorder
    for name in _own_indexes(old):
        writer.execute(f"DROP INDEX {schema}.{name}")
    writer.execute(create_sql(new, temporary))
    writer.execute(f"INSERT INTO {temporary} SELECT {', '.join(expressions)} FROM {old.duck_name}")
    writer.execute(f"DROP TABLE {old.duck_name}")
    writer.execute(f"ALTER TABLE {temporary} RENAME TO {double_quoted(new.name)}")
    new = replace(new, duck_name=f"{schema}.{double_quoted(new.name)}")
    _make_indexes(context, new)
    context.replace_table(old, new)


def create_duck_view(context: DdlContext, info: TableInfo, sql: str) -> None:
    """Create DuckDB's view. That of an expanded view is never read, only its name counts."""
    if info.is_expanded:
        sql = f"SELECT {', '.join(f'{_NEVER_READ} AS c{i}' for i in range(len(info.columns)))}"
    columns = ", ".join(double_quoted(column.name) for column in info.columns)
    context.transaction.recorder.execute(f"CREATE VIEW {info.duck_name} ({columns}) AS {sql}")
