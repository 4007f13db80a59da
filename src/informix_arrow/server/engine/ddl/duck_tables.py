"""Tables and indexes as DuckDB has them. What it cannot change in place is built anew."""

from __future__ import annotations

from dataclasses import replace

from ...schema.catalog import Index, TableInfo
from ...types.names import quote
from ...types.result_types import storage_type
from .workbench import Workbench


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


def index_name(info: TableInfo, name: str) -> str:
    return quote(f"{info.tabid}_{name}")


def make_index(bench: Workbench, info: TableInfo, index: Index) -> None:
    columns = ", ".join(quote(c) for c, _ in index.parts)
    unique = "UNIQUE " if index.unique else ""
    bench.transaction.writer.execute(
        f"CREATE {unique}INDEX {index_name(info, index.name)} ON {info.duck} ({columns})"
    )


def rebuild(bench: Workbench, old: TableInfo, new: TableInfo, expressions: list[str]) -> None:
    """Make the table anew with another shape and copy its rows."""
    place, _, _ = old.duck.rpartition(".")
    passing = f"{place}.{quote(f'_new_{old.tabid}')}"
    writer = bench.transaction.writer
    for index in old.indexes:
        if index.unique:
            writer.execute(f"DROP INDEX {place}.{index_name(old, index.name)}")
    writer.execute(create_sql(new, passing))
    writer.execute(f"INSERT INTO {passing} SELECT {', '.join(expressions)} FROM {old.duck}")
    writer.execute(f"DROP TABLE {old.duck}")
    writer.execute(f"ALTER TABLE {passing} RENAME TO {quote(new.name)}")
    new = replace(new, duck=f"{place}.{quote(new.name)}")
    for index in new.indexes:
        if index.unique:
            make_index(bench, new, index)
    bench.replace_description(old, new)
