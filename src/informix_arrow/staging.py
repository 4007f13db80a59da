"""Loads in parts that other processes or machines make: a staging table for each, one transaction that takes them all.

Whoever begins calls :func:`begin`, each part :func:`load`, and whoever began :func:`take`, which is the only moment at
which the target changes. It records the load's id in the table ``informix_arrow_writes``: the same id is not taken
twice, however often somebody who does not know whether it was tries again.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .bulk.target import bare_name, check_table, quote
from .connection import Connection
from .wire.column_types import TypeCode
from .wire.errors import (
    Error,
    InterfaceError,
    InternalError,
    NotSupportedError,
    ProgrammingError,
)

WRITES = "informix_arrow_writes"
PREFIX = "ifx_stage_"
OLD = 24 * 3600.0  # seconds after which a staging table that is still there is nobody's
_EXISTS = -310
_SERIALS = {TypeCode.SERIAL: "INTEGER", TypeCode.SERIAL8: "INT8", TypeCode.BIGSERIAL: "BIGINT"}


@dataclass(frozen=True, slots=True)
class Staged:
    """A part that waits: its table, how many rows are in it, and the columns that they have."""

    name: str
    rows: int
    columns: tuple[str, ...]


def begin(connection: Connection, table: str) -> str:
    """Check the target, and remove what loads that died have left; the name of a new load.

    ``NotSupportedError`` in a database without a log, ``ProgrammingError`` for a table that is not there.
    """
    if not connection.logged:
        raise NotSupportedError(
            f"{connection.database} is a database without logging, where nothing can be taken as a whole or not at all"
        )
    _columns(connection, check_table(table))
    if not _there(connection, WRITES):
        try:
            connection.execute(
                f"CREATE TABLE {WRITES} (id VARCHAR(200) PRIMARY KEY, made DATETIME YEAR TO SECOND)"
            )
        except Error as error:
            if error.sqlcode != _EXISTS:  # somebody else was first
                raise
    sweep(connection)
    return uuid.uuid4().hex[:12]


def load(
    connection: Connection,
    table: str,
    load: str,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    **options: Any,
) -> Staged:
    """Bring rows into a staging table of their own, whose columns have the types of the target's.

    Columns go by name. ``options`` are those of ``write_arrow``. When it fails, the staging table is gone.
    """
    target = {column.name.lower(): column for column in _columns(connection, table)}
    unknown = [name for name in schema.names if name.lower() not in target]
    if unknown:
        there = ", ".join(column.name for column in target.values())
        raise ProgrammingError(f"{table} has no column {', '.join(unknown)}; there are {there}")
    columns = [target[name.lower()] for name in schema.names]
    names = [column.name for column in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ProgrammingError(f"two columns of the data are called {twice}")
    types = {
        column.name: _SERIALS.get(TypeCode(column.type.code), column.type.sql)
        if column.type.code in _SERIALS
        else column.type.sql
        for column in columns
    }
    renamed = pa.schema([(name, field.type) for name, field in zip(names, schema, strict=True)])

    def plain() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=renamed)

    name = f"{PREFIX}{int(time.time()):08x}_{load}_{uuid.uuid4().hex[:8]}"
    reader = pa.RecordBatchReader.from_batches(renamed, plain())
    try:
        report = connection.write_arrow(name, reader, mode="create", types=types, **options)
    except BaseException:
        if not connection.closed:
            _drop(connection, [name])
        raise
    return Staged(name, report.rows, tuple(names))


def take(
    connection: Connection, table: str, staged: Sequence[Staged], id: str, *, overwrite: bool = False
) -> bool:
    """Take all parts into the table, in one transaction; in place of its rows with ``overwrite``.

    True when they were taken; False when a load of this id was taken before, and nothing is done. Either way the
    staging tables are dropped. After an error none was taken, and they wait to be taken, dropped or swept.
    """
    if len(id.encode()) > 200:
        raise InterfaceError("the id of a load has 200 bytes at most")
    delimident = connection._parameters.delimident
    with connection.transaction():
        with connection.execute(f"SELECT COUNT(*) FROM {WRITES} WHERE id = ?", (id,)) as found:
            (before,) = found.fetchone() or (0,)
        if not before:
            # A key: of two who do this at once, the other one fails or waits.
            connection.execute(f"INSERT INTO {WRITES} VALUES (?, CURRENT YEAR TO SECOND)", (id,))
            if overwrite:
                connection.execute(f"DELETE FROM {table}")
            for part in staged:
                names = ", ".join(quote(name, delimident) for name in part.columns)
                sql = f"INSERT INTO {table} ({names}) SELECT {names} FROM {part.name}"
                taken = connection.execute(sql).rowcount
                if taken != part.rows:
                    raise InternalError(
                        f"{part.rows:,} rows were loaded into {part.name}, and {taken:,} of them are there: nothing "
                        "was taken"
                    )
    _drop(connection, [part.name for part in staged])
    return not before


def drop(connection: Connection, load: str) -> None:
    """Drop all staging tables of a load that is not to be taken."""
    _drop(connection, [name for name in _stages(connection) if name.split("_")[-2] == load])


def sweep(connection: Connection, older: float = OLD) -> list[str]:
    """Drop staging tables of this user's that were begun or more seconds ago; their names."""
    now = time.time()
    old = [name for name in _stages(connection) if now - _begun(name) > older]
    _drop(connection, old)
    return old


def _stages(connection: Connection) -> list[str]:
    sql = "SELECT tabname FROM systables WHERE tabname LIKE ? AND owner = USER"
    with connection.execute(sql, (f"{PREFIX}%",)) as found:
        return [str(row[0]).rstrip() for row in found.fetchall() if _begun(str(row[0])) < float("inf")]


def _begun(name: str) -> float:
    """When a staging table was begun; never, for what only looks like one."""
    parts = name.rstrip().removeprefix(PREFIX).split("_")
    try:
        return float(int(parts[0], 16)) if [len(part) for part in parts] == [8, 12, 8] else float("inf")
    except ValueError:
        return float("inf")


def _drop(connection: Connection, names: Sequence[str]) -> None:
    for name in names:
        connection.execute(f"DROP TABLE IF EXISTS {name}")


def _there(connection: Connection, table: str) -> bool:
    with connection.execute("SELECT COUNT(*) FROM systables WHERE tabname = ?", (bare_name(table),)) as found:
        row = found.fetchone()
    return bool(row and row[0])


def _columns(connection: Connection, table: str) -> Sequence[Any]:
    with connection.query(f"SELECT * FROM {table} WHERE 1 = 0") as result:
        return result.columns
