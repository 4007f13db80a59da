"""Helpers for targets of copies: create one, put other data into it, and read it with the target's own library.

INFORMIX_ARROW_COPY_TARGETS names additional targets whose packages are installed (tests/ecosystem).
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from tests import postgres

import informix_arrow as ifx
from informix_arrow.server import Server

KINDS = ["folder", "duckdb", "informix", *os.environ.get("INFORMIX_ARROW_COPY_TARGETS", "").split()]


@contextmanager
def made(kind: str, place: Path, server: Server, name: str, locale: str = "en_US.utf8") -> Iterator[str]:
    """Create an empty target and yield its URL or path. ``locale`` is that of an Informix database."""
    if kind == "informix":
        server.create_database(name, locale=locale)
        try:
            yield server.url(name)
        finally:
            server.drop_database(name)
    elif kind == "postgresql":
        with postgres_cursor(f'CREATE DATABASE "{name}"'):
            pass
        try:
            yield _cluster().replace("/postgres?", f"/{name}?")
        finally:
            with postgres_cursor(f'DROP DATABASE "{name}" WITH (FORCE)'):
                pass
    else:
        yield {
            "folder": f"{place}/lake/",
            "duckdb": f"{place}/shop.duckdb",
            "delta": f"delta:{place}/lake",
            "iceberg": f"iceberg:{place}/lake/",
        }[kind]


def kind_of(target: str) -> str:
    """Return the kind of a target."""
    if target.startswith(("delta:", "iceberg:")):
        return target.partition(":")[0]
    if target.endswith("/"):
        return "folder"
    return "duckdb" if target.endswith(".duckdb") else target.partition(":")[0]


def held(target: str, table: str) -> pa.Table:
    """Return the rows of a table in the target, read without this package where possible."""
    kind = kind_of(target)
    if kind == "folder":
        return pa.concat_tables(
            [pq.read_table(path) for path in sorted(Path(target, table).glob("*.parquet"))],
            promote_options="default",
        )
    if kind == "duckdb":
        with duckdb.connect(target) as file:
            return file.sql(f'SELECT * FROM "{table}"').to_arrow_table()
    if kind == "informix":
        with ifx.connect(target) as connection:
            connection.lock_wait = 60  # a killed copy may still hold locks
            return connection.read_arrow(f"SELECT * FROM {table}", floating_decimals="string")
    if kind == "delta":
        return delta_table(target, table).to_pyarrow_table()
    if kind == "iceberg":
        return _iceberg(target).load_table(("informix", table)).scan().to_arrow()
    with postgres_cursor(f'SELECT * FROM "{table}"', target) as cursor:
        return _numbers(cursor.fetch_arrow_table())


def theirs(target: str) -> Any:
    """Create other data where a copy of ``orders`` would go. Return a function that says whether it is still there."""
    kind = kind_of(target)
    if kind == "folder":
        path = Path(target, "orders", "theirs.parquet")
        path.parent.mkdir(parents=True)
        path.write_bytes(b"precious")
        return lambda: path.read_bytes() == b"precious"
    if kind == "duckdb":
        with duckdb.connect(target) as file:
            file.execute("CREATE TABLE ORDERS AS SELECT 5 AS precious")
    elif kind == "informix":
        with ifx.connect(target, autocommit=True) as connection:
            connection.execute("CREATE TABLE orders (precious INTEGER)")
            connection.execute("INSERT INTO orders VALUES (5)")
    elif kind == "delta":
        import deltalake

        deltalake.write_deltalake(target.partition(":")[2] + "/orders", pa.table({"precious": [5]}))
    elif kind == "iceberg":
        catalogue = _iceberg(target)
        catalogue.create_namespace("informix")
        table = pa.table({"precious": [5]})
        catalogue.create_table(("informix", "orders"), table.schema).append(table)
    else:
        with postgres_cursor("CREATE TABLE orders AS SELECT 5 AS precious", target):
            pass
    return lambda: held(target, "orders").to_pylist() == [{"precious": 5}]


def delta_table(target: str, table: str) -> Any:
    """Return the table as the package deltalake opens it."""
    from deltalake import DeltaTable

    return DeltaTable(f"{target.partition(':')[2]}/{table}")


def _iceberg(target: str) -> Any:
    from pyiceberg.catalog import load_catalog

    folder = Path(target.partition(":")[2])
    folder.mkdir(parents=True, exist_ok=True)
    return load_catalog(
        "default", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=folder.as_uri()
    )


@cache
def _cluster() -> str:
    """Return the URL of a PostgreSQL server that runs until this process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="copies_"))
    return stack.enter_context(postgres.running(Path(folder), tcp=False))


@contextmanager
def postgres_cursor(sql: str, url: str | None = None) -> Iterator[Any]:
    """Yield a cursor of PostgreSQL's ADBC driver after it has executed ``sql``."""
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(url or _cluster(), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        yield cursor


def _numbers(table: pa.Table) -> pa.Table:
    """Convert NUMERIC columns, which the driver returns as text, to decimals."""
    for place, field in enumerate(table.schema):
        if isinstance(field.type, pa.BaseExtensionType):
            values = [None if text is None else Decimal(text) for text in table[place].to_pylist()]
            try:
                column = pa.array(values, pa.decimal128(38, 10))
            except pa.ArrowInvalid:  # a NUMERIC without a declared scale may not fit decimal128(38, 10)
                column = table[place].combine_chunks().storage
            table = table.set_column(place, field.name, column)
    return table
