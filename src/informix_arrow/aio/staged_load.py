"""Staged loads: several connections, processes or machines load one part each, and one transaction copies all parts.

A coordinator calls :func:`begin`. Each part is loaded into a staging table of its own by :func:`load`. Then the
coordinator calls :func:`commit_and_clean_up`, which is the only moment at which the target table changes. If it passes
an id, the id is recorded in the table ``informix_arrow_writes``. A load with the same id is committed only once,
however often it is retried after an unknown outcome.

Connections are in autocommit mode.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from ..core.connection_protocol import AsyncConnectionProtocol
from ..ingest.batch_sources import SharedBatchSource
from ..ingest.merge import key_columns, merge, reject_duplicate_keys
from ..ingest.report import WriteReport, add_text
from ..ingest.target_table import bare_name, check_table, describe_table, map_columns, quote
from ..wire.describe import Column
from ..wire.errors import Error, InterfaceError, InternalError, NotSupportedError
from ..wire.types import ColumnType, TypeCode
from .cursor import AsyncCursor
from .transactions import AsyncTransactionBlock

if TYPE_CHECKING:
    from ..rows.parameters import Values

WRITES = "informix_arrow_writes"
PREFIX = "ifx_stage_"
# A load is abandoned if no part begins or ends for this many seconds, and its tables are not in use.
STALE_SECONDS = 24 * 3600.0
_LONG = 3600.0  # seconds after which a part records the time of its end in the table's name
_EXISTS, _NO_TABLE = -310, -206
_NOT_NULL = " NOT NULL"
_SERIALS = {TypeCode.SERIAL: "INTEGER", TypeCode.SERIAL8: "INT8", TypeCode.BIGSERIAL: "BIGINT"}


class AsyncStagingConnection(AsyncConnectionProtocol, Protocol):
    """The parts of a connection that staged loads need."""

    @property
    def logged(self) -> bool: ...

    @property
    def database(self) -> str: ...

    async def execute(
        self, operation: str, parameters: Values | None = None, *, timeout: float | None = None
    ) -> AsyncCursor[Any]: ...

    def transaction(self) -> AsyncTransactionBlock[Any]: ...


@dataclass(frozen=True, slots=True)
class StagedPart:
    """A part that was loaded into a staging table and is not committed yet.

    It has the name of that table, the columns that the part has, and the report of its load. For an upsert it also has
    the key columns, and the column with the numbers of the rows in the data.
    """

    name: str
    columns: tuple[str, ...]
    report: WriteReport
    key: tuple[str, ...] = ()
    number: str = ""

    @property
    def load(self) -> str:
        """The name of the load that the part belongs to."""
        return _load_name(self.name)

    @property
    def rows(self) -> int:
        """Number of rows in the part."""
        return self.report.rows


async def begin(connection: AsyncStagingConnection, table: str, *, recorded: bool = True) -> str:
    """Check the target table, drop staging tables of abandoned loads, and return the name of a new load.

    ``recorded``: an id will be passed to :func:`commit_and_clean_up`. Raises ``NotSupportedError`` in a database
    without a log, and ``ProgrammingError`` for a table that does not exist.
    """
    if not connection.logged:
        raise NotSupportedError(
            f"{connection.database} is a database without logging, where a load cannot be all or nothing."
        )
    await _columns(connection, check_table(table))
    if recorded and not await _table_exists(connection, WRITES):
        try:
            await connection.execute(
                f"CREATE TABLE {WRITES} (id VARCHAR(200) PRIMARY KEY, made DATETIME YEAR TO SECOND)"
            )
        except Error as error:
            if error.sqlcode != _EXISTS:  # another session created it first
                raise
    await sweep(connection)
    return uuid.uuid4().hex[:12]


async def load(
    connection: AsyncStagingConnection,
    table: str,
    load: str,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    *,
    columns: Any = None,
    upsert_key: Sequence[str] = (),
    number: str = "",
    **options: Any,
) -> StagedPart:
    """Load rows into a new staging table, whose columns have the types of the target's columns.

    ``columns`` and ``options`` are those of ``write_arrow``. The columns of ``upsert_key`` accept no NULL. ``number``
    is a column of the batches that the target does not have. :func:`upsert` requires both. If the load fails, the
    staging table is dropped. Raises ``NotSupportedError`` for columns of types that no other table can be created with.
    """
    target_fields = pa.schema([field for field in schema if field.name != number], schema.metadata)
    pairs = map_columns(target_fields, await _columns(connection, table), columns, table)
    names = {source: column.name for source, column in pairs}
    types = {column.name: _staging_type(column) for _, column in pairs}
    keys = tuple(key_columns(upsert_key, pairs))
    for key in keys:
        types[key] = f"{types[key].removesuffix(_NOT_NULL)}{_NOT_NULL}"
    part_columns = tuple(names.values())
    if number:
        names[number], types[number] = number, "BIGINT"
    start, name = time.time(), _name(load)
    first_name = name
    data = (
        batches
        if isinstance(batches, SharedBatchSource)
        else pa.RecordBatchReader.from_batches(schema, batches)
    )
    try:
        # Created before it is filled, and locked while it is filled, so that sweep() sees that it is in use.
        await connection.write_arrow(name, schema.empty_table(), mode="create", columns=names, types=types)
        async with connection.transaction():
            await connection.execute(f"LOCK TABLE {name} IN EXCLUSIVE MODE")
            report = await connection.write_arrow(name, data, columns=names, **options)
            if time.time() - start > _LONG:
                # From here on the table is not locked. Its name says since when, for sweep().
                first_name, name = name, _name(load)
                await connection.execute(f"RENAME TABLE {first_name} TO {name}")
    except BaseException:
        if not connection.closed:
            await _drop(connection, {first_name, name})
        raise
    return StagedPart(name, part_columns, replace(report, transaction="own"), keys, number)


async def commit_and_clean_up(
    connection: AsyncStagingConnection,
    table: str,
    staged: Sequence[StagedPart],
    id: str | None,
    *,
    by: str | None = None,
    overwrite: bool = False,
    timeout: float | None = None,
) -> bool:
    """Commit all parts to the table, as :func:`commit` does, and drop the staging tables.

    A staging table that cannot be dropped is swept later. After an error nothing was committed, and the staging tables
    stay until they are committed, dropped or swept.
    """
    committed = await commit(connection, table, staged, id, by=by, overwrite=overwrite, timeout=timeout)
    with suppress(Error):
        await _drop(connection, [part.name for part in staged])
    return committed


async def commit(
    connection: AsyncStagingConnection,
    table: str,
    staged: Sequence[StagedPart],
    id: str | None,
    *,
    by: str | None = None,
    overwrite: bool = False,
    timeout: float | None = None,
) -> bool:
    """Copy all parts into the table in one transaction. With ``overwrite`` they replace its rows.

    Returns True if they were copied, and False if a load with this id was committed before; then nothing is done.
    Without an id nothing is recorded. ``by`` is recorded together with the id, once for all loads of one caller. If a
    load with this id was committed before, but none by this ``by``, ``InterfaceError`` is raised, because these may be
    other rows. ``timeout``: seconds for all statements together. By default the connection's ``call_timeout`` applies
    to each.
    """
    if any(key is not None and len(key.encode()) > 200 for key in (id, by)):
        raise InterfaceError("The id of a load, with the suffix that is added, can have at most 200 bytes.")
    delimident = connection._parameters.delimident
    remaining = _remaining_time(timeout)
    async with connection.transaction():
        before = id is not None and await _is_committed(connection, id)
        known = by is not None and await _is_committed(connection, by)
        if before and by is not None and not known:
            raise InterfaceError(
                f"A load with the id {id!r} was recorded before, but none by {by!r}. It may have had other "
                f"rows, so nothing was done. Load the rows under another id, or record {by!r} in {WRITES} "
                "if they are the same."
            )
        if not before:
            for key in (id, None if known else by):
                if key is not None:
                    # The id is a primary key: of two concurrent commits the second one waits or fails.
                    await connection.execute(
                        f"INSERT INTO {WRITES} VALUES (?, CURRENT YEAR TO SECOND)", (key,)
                    )
            if overwrite:
                await connection.execute(f"DELETE FROM {table}", timeout=remaining())
            for part in staged:
                names = ", ".join(quote(name, delimident) for name in part.columns)
                sql = f"INSERT INTO {table} ({names}) SELECT {names} FROM {part.name}"
                try:
                    copied = (await connection.execute(sql, timeout=remaining())).rowcount
                except Error as error:
                    if error.sqlcode == _NO_TABLE and not await _table_exists(connection, part.name):
                        add_text(
                            error,
                            f"The staging table {part.name} is gone. Another load drops staging tables that were not "
                            "used for a day. Nothing was written. Load the data again.",
                        )
                    raise
                if copied != part.rows:
                    raise InternalError(
                        f"{part.rows:,} rows were loaded into {part.name}, but {copied:,} of them are "
                        "there. Nothing was written."
                    )
    return not before


async def upsert(
    connection: AsyncStagingConnection,
    table: str,
    staged: Sequence[StagedPart],
    *,
    timeout: float | None = None,
) -> tuple[int, int]:
    """Merge all parts into the table with one MERGE, in one transaction. Return the affected rows, and how many of them
    existed.

    Raises ``IntegrityError`` for the first row of the data whose key appeared before. Nothing is merged then.
    """
    delimident = connection._parameters.delimident
    remaining = _remaining_time(timeout)
    all_columns = await _columns(connection, table)
    columns = [next(c for c in all_columns if c.name == name) for name in staged[0].columns]
    names = [quote(column.name, delimident) for column in columns]
    keys = [quote(name, delimident) for name in staged[0].key]
    number = staged[0].number
    parts = [part for part in staged if part.rows] or staged[:1]

    def source(chosen: Sequence[str]) -> str:
        """Return all parts as a source for FROM."""
        if len(parts) == 1:
            return parts[0].name
        listed = ", ".join(chosen)
        return f"({' UNION ALL '.join(f'SELECT {listed} FROM {part.name}' for part in parts)})"

    session, rows = connection._session, sum(part.rows for part in parts)
    async with connection.transaction():
        await connection._run(
            reject_duplicate_keys(session, source([*keys, number]), keys, number), remaining()
        )
        touched = await connection._run(
            merge(session, table, all_columns, source(names), columns, names, keys, rows), remaining()
        )
    return touched


async def drop(connection: AsyncStagingConnection, load: str) -> None:
    """Drop all staging tables of a load that will not be committed."""
    await _drop(connection, [name for name in await _stages(connection) if _load_name(name) == load])


async def sweep(connection: AsyncStagingConnection, older: float = STALE_SECONDS) -> list[str]:
    """Drop the staging tables of this user's abandoned loads, and return their names.

    A load counts as abandoned if none of its parts has begun or ended in the last ``older`` seconds. The end of a part
    is recorded only if the part took more than an hour. The tables of a load are dropped together, and only if none of
    them is in use.
    """
    now = time.time()
    loads: dict[str, list[str]] = {}
    for name in await _stages(connection):
        loads.setdefault(_load_name(name), []).append(name)
    dropped: list[str] = []
    for names in loads.values():
        if now - max(map(_begin_time, names)) <= older:
            continue
        try:
            async with connection.transaction():
                await _drop(connection, names)
        except Error as error:
            if not connection._session.usable_after(error):
                raise
        else:
            dropped += names
    return dropped


async def _stages(connection: AsyncStagingConnection) -> list[str]:
    sql = "SELECT tabname FROM informix.systables WHERE tabname LIKE ? AND owner = USER"
    async with await connection.execute(sql, (f"{PREFIX}%",)) as cursor:
        names = [str(row[0]).rstrip() for row in await cursor.fetchall()]
    return [name for name in names if _begin_time(name) < float("inf")]


def _remaining_time(timeout: float | None) -> Callable[[], float | None]:
    """Return a function that returns the seconds left from now on; None without a limit."""
    deadline = None if timeout is None else time.monotonic() + timeout
    return lambda: None if deadline is None else max(deadline - time.monotonic(), 0.001)


def _name(load: str) -> str:
    """Return a name for a staging table, with the current time as its beginning."""
    return f"{PREFIX}{int(time.time()):08x}_{load}_{uuid.uuid4().hex[:8]}"


def _load_name(name: str) -> str:
    return name.split("_")[-2]


def _begin_time(name: str) -> float:
    """Return when a staging table was begun, or infinity if the name only looks like one."""
    parts = name.rstrip().removeprefix(PREFIX).split("_")
    try:
        return float(int(parts[0], 16)) if [len(part) for part in parts] == [8, 12, 8] else float("inf")
    except ValueError:
        return float("inf")


def _staging_type(column: Column) -> str:
    """Return the type of a staging column: the target's type, or an integer for SERIAL columns."""
    if column.type.code in _SERIALS:
        return _SERIALS[TypeCode(column.type.code)]
    text = column.type.sql
    try:
        ColumnType.parse_sql(text)
    except ValueError:
        raise NotSupportedError(
            f"No staging table can be created, because column {column.name!r} is a {text}.",
            column=column.name,
        ) from None
    return f"{text}{_NOT_NULL}" if column.type.not_null else text


async def _drop(connection: AsyncStagingConnection, names: Iterable[str]) -> None:
    for name in names:
        await connection.execute(f"DROP TABLE IF EXISTS {name}")


async def _is_committed(connection: AsyncStagingConnection, id: str) -> bool:
    async with await connection.execute(f"SELECT COUNT(*) FROM {WRITES} WHERE id = ?", (id,)) as cursor:
        row = await cursor.fetchone()
    return bool(row and row[0])


async def _table_exists(connection: AsyncStagingConnection, table: str) -> bool:
    sql = "SELECT COUNT(*) FROM informix.systables WHERE tabname = ?"
    async with await connection.execute(sql, (bare_name(table),)) as cursor:
        row = await cursor.fetchone()
    return bool(row and row[0])


async def _columns(connection: AsyncStagingConnection, table: str) -> Sequence[Column]:
    return await connection._run(describe_table(connection._session, table))
