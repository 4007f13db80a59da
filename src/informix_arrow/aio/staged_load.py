"""Loads in parts that other connections, processes or machines make: a staging table for each, one transaction that
takes them all.

Whoever begins calls :func:`begin`, each part :func:`load`, and whoever began :func:`commit_and_clean_up`, which is the only moment at
which the target changes. With an id it is recorded in the table ``informix_arrow_writes``: the same id is not taken
twice, however often somebody who does not know whether it was tries again.

Connections are in autocommit.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
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
STALE_SECONDS = (
    24 * 3600.0
)  # seconds without a part that begins or ends, and nobody at its tables: then a load is nobody's
_LONG = 3600.0  # seconds after which a part that ends says so
_EXISTS, _NO_TABLE = -310, -206
_NOT_NULL = " NOT NULL"
_SERIALS = {TypeCode.SERIAL: "INTEGER", TypeCode.SERIAL8: "INT8", TypeCode.BIGSERIAL: "BIGINT"}


class AsyncStagingConnection(AsyncConnectionProtocol, Protocol):
    """A connection, as far as it is needed here."""

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
    """A part that waits: its table, the columns that its rows have, and what its load told; for an upsert those of the
    key, and the column with the rows' numbers in the data."""

    name: str
    columns: tuple[str, ...]
    report: WriteReport
    key: tuple[str, ...] = ()
    number: str = ""

    @property
    def load(self) -> str:
        """The load that it is a part of."""
        return _load_name(self.name)

    @property
    def rows(self) -> int:
        """How many are in it."""
        return self.report.rows


async def begin(connection: AsyncStagingConnection, table: str, *, recorded: bool = True) -> str:
    """Check the target, and remove what loads that died have left; the name of a new load.

    ``recorded``: :func:`commit_and_clean_up` will be given an id. ``NotSupportedError`` in a database without a log,
    ``ProgrammingError`` for a table that is not there.
    """
    if not connection.logged:
        raise NotSupportedError(
            f"{connection.database} is a database without logging, where nothing can be taken as a whole or not at all"
        )
    await _columns(connection, check_table(table))
    if recorded and not await _table_exists(connection, WRITES):
        try:
            await connection.execute(
                f"CREATE TABLE {WRITES} (id VARCHAR(200) PRIMARY KEY, made DATETIME YEAR TO SECOND)"
            )
        except Error as error:
            if error.sqlcode != _EXISTS:  # somebody else was first
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
    """Bring rows into a staging table of their own, whose columns have the types of the target's.

    ``columns`` and ``options`` are those of ``write_arrow``. The columns of ``upsert_key`` take no NULL.
    ``number`` is a column of the batches that the target does not have: :func:`upsert` wants both. When it fails, the
    staging table is gone. ``NotSupportedError`` for columns of types that no other table can be made with.
    """
    own = pa.schema([each for each in schema if each.name != number], schema.metadata)
    pairs = map_columns(own, await _columns(connection, table), columns, table)
    names = {source: column.name for source, column in pairs}
    types = {column.name: _staging_type(column) for _, column in pairs}
    keys = tuple(key_columns(upsert_key, pairs))
    for each in keys:
        types[each] = f"{types[each].removesuffix(_NOT_NULL)}{_NOT_NULL}"
    kept = tuple(names.values())
    if number:
        names[number], types[number] = number, "BIGINT"
    begun, name = time.time(), _name(load)
    began = name
    data = (
        batches
        if isinstance(batches, SharedBatchSource)
        else pa.RecordBatchReader.from_batches(schema, batches)
    )
    try:
        # Made before it is filled, and locked while it is: whoever sweeps sees that it is used.
        await connection.write_arrow(name, schema.empty_table(), mode="create", columns=names, types=types)
        async with connection.transaction():
            await connection.execute(f"LOCK TABLE {name} IN EXCLUSIVE MODE")
            report = await connection.write_arrow(name, data, columns=names, **options)
            if time.time() - begun > _LONG:
                # From here on nobody holds it. Its name tells whoever sweeps when that began.
                began, name = name, _name(load)
                await connection.execute(f"RENAME TABLE {began} TO {name}")
    except BaseException:
        if not connection.closed:
            await _drop(connection, {began, name})
        raise
    return StagedPart(name, kept, replace(report, transaction="own"), keys, number)


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
    """Take all parts into the table, as :func:`commit` does, and drop the staging tables; one that cannot be dropped
    waits to be swept. After an error nothing was taken, and they wait to be taken, dropped or swept.
    """
    taken = await commit(connection, table, staged, id, by=by, overwrite=overwrite, timeout=timeout)
    with suppress(Error):
        await _drop(connection, [part.name for part in staged])
    return taken


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
    """Take all parts into the table, in one transaction; in place of its rows with ``overwrite``.

    True when they were taken; False when a load of this id was taken before, and nothing is done. Without an id nothing
    is recorded. ``by`` is recorded with it, once for all loads that somebody takes: where a load of this id was taken
    before and none by this one, ``InterfaceError``, for these may be other rows. ``timeout``: seconds for the
    statements together; for each of them the connection's ``call_timeout`` by default.
    """
    if any(each is not None and len(each.encode()) > 200 for each in (id, by)):
        raise InterfaceError("the id of a load has 200 bytes at most, with what is added to it")
    delimident = connection._parameters.delimident
    ends = None if timeout is None else time.monotonic() + timeout

    def left() -> float | None:
        return None if ends is None else max(ends - time.monotonic(), 0.001)

    async with connection.transaction():
        before = id is not None and await _is_committed(connection, id)
        known = by is not None and await _is_committed(connection, by)
        if before and by is not None and not known:
            raise InterfaceError(
                f"a load of the id {id!r} was taken before, and none by {by!r}: these may be other rows, and nothing "
                f"was done. Load them under another id, or record {by!r} in {WRITES} if they are the same"
            )
        if not before:
            for each in (id, None if known else by):
                if each is not None:
                    # A key: of two who do this at once, the other one fails or waits.
                    await connection.execute(
                        f"INSERT INTO {WRITES} VALUES (?, CURRENT YEAR TO SECOND)", (each,)
                    )
            if overwrite:
                await connection.execute(f"DELETE FROM {table}", timeout=left())
            for part in staged:
                names = ", ".join(quote(name, delimident) for name in part.columns)
                sql = f"INSERT INTO {table} ({names}) SELECT {names} FROM {part.name}"
                try:
                    taken = (await connection.execute(sql, timeout=left())).rowcount
                except Error as error:
                    if error.sqlcode == _NO_TABLE and not await _table_exists(connection, part.name):
                        add_text(
                            error,
                            f"{part.name}, where a part was staged, is gone. Another load sweeps what was not used, "
                            "while no part began or ended, for a day. Nothing was taken: load it again.",
                        )
                    raise
                if taken != part.rows:
                    raise InternalError(
                        f"{part.rows:,} rows were loaded into {part.name}, and {taken:,} of them are there: nothing "
                        "was taken"
                    )
    return not before


async def upsert(
    connection: AsyncStagingConnection,
    table: str,
    staged: Sequence[StagedPart],
    *,
    timeout: float | None = None,
) -> tuple[int, int]:
    """Bring all parts into the table by one MERGE, in one transaction; the rows that it touched, and how many of them
    were there.

    ``IntegrityError`` for the first row of the data whose key came before: nothing is taken then.
    """
    delimident = connection._parameters.delimident
    ends = None if timeout is None else time.monotonic() + timeout

    def left() -> float | None:
        return None if ends is None else max(ends - time.monotonic(), 0.001)

    there = await _columns(connection, table)
    wanted = staged[0].columns
    columns = [next(each for each in there if each.name == name) for name in wanted]
    names = [quote(name, delimident) for name in wanted]
    keys = [quote(name, delimident) for name in staged[0].key]
    number = staged[0].number
    parts = [part for part in staged if part.rows] or staged[:1]

    def source(chosen: Sequence[str]) -> str:
        """All parts, as it is written behind FROM."""
        if len(parts) == 1:
            return parts[0].name
        listed = ", ".join(chosen)
        return f"({' UNION ALL '.join(f'SELECT {listed} FROM {part.name}' for part in parts)})"

    session, rows = connection._session, sum(part.rows for part in parts)
    async with connection.transaction():
        await connection._run(reject_duplicate_keys(session, source([*keys, number]), keys, number), left())
        touched = await connection._run(
            merge(session, table, there, source(names), columns, names, keys, rows), left()
        )
    return touched


async def drop(connection: AsyncStagingConnection, load: str) -> None:
    """Drop all staging tables of a load that is not to be taken."""
    await _drop(connection, [name for name in await _stages(connection) if _load_name(name) == load])


async def sweep(connection: AsyncStagingConnection, older: float = STALE_SECONDS) -> list[str]:
    """Drop the staging tables of this user's loads of which no part has begun or ended for ``older`` or more seconds (a
    part that ends within an hour counts by its beginning); their names.

    A load is swept as a whole or not at all: while somebody uses one of its tables, those that are loaded wait for it,
    however long that takes.
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
    sql = "SELECT tabname FROM systables WHERE tabname LIKE ? AND owner = USER"
    async with await connection.execute(sql, (f"{PREFIX}%",)) as found:
        names = [str(row[0]).rstrip() for row in await found.fetchall()]
    return [name for name in names if _begin_time(name) < float("inf")]


def _name(load: str) -> str:
    """Of a staging table that is begun now, or that is as if it were."""
    return f"{PREFIX}{int(time.time()):08x}_{load}_{uuid.uuid4().hex[:8]}"


def _load_name(name: str) -> str:
    return name.split("_")[-2]


def _begin_time(name: str) -> float:
    """When a staging table was begun; never, for what only looks like one."""
    parts = name.rstrip().removeprefix(PREFIX).split("_")
    try:
        return float(int(parts[0], 16)) if [len(part) for part in parts] == [8, 12, 8] else float("inf")
    except ValueError:
        return float("inf")


def _staging_type(column: Column) -> str:
    """The type of a staging column: the target's own, but for numbers that the target makes."""
    if column.type.code in _SERIALS:
        return _SERIALS[TypeCode(column.type.code)]
    text = column.type.sql
    try:
        ColumnType.parse_sql(text)
    except ValueError:
        raise NotSupportedError(
            f"column {column.name!r} is a {text}, of which no staging table can be made", column=column.name
        ) from None
    return f"{text}{_NOT_NULL}" if column.type.not_null else text


async def _drop(connection: AsyncStagingConnection, names: Iterable[str]) -> None:
    for name in names:
        await connection.execute(f"DROP TABLE IF EXISTS {name}")


async def _is_committed(connection: AsyncStagingConnection, id: str) -> bool:
    async with await connection.execute(f"SELECT COUNT(*) FROM {WRITES} WHERE id = ?", (id,)) as found:
        row = await found.fetchone()
    return bool(row and row[0])


async def _table_exists(connection: AsyncStagingConnection, table: str) -> bool:
    sql = "SELECT COUNT(*) FROM systables WHERE tabname = ?"
    async with await connection.execute(sql, (bare_name(table),)) as found:
        row = await found.fetchone()
    return bool(row and row[0])


async def _columns(connection: AsyncStagingConnection, table: str) -> Sequence[Column]:
    return await connection._run(describe_table(connection._session, table))
