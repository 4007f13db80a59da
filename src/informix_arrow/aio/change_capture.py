"""capture: the committed changes of tables, out of the server's log, as they are made."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from ..cdc.assembler import ON_TRUNCATE, Assembler, CapturedTable, OnTruncate, Transaction
from ..cdc.captured_tables import CaptureTable, RequestedTable, Tables, find_table, requested_tables
from ..cdc.change_batch import ChangeBatch, merge_transactions
from ..cdc.requests import CaptureReader, read_changes
from ..cdc.table_batches import Sizes, expected_schema
from ..cdc.token import Token, lsn_text
from ..core.async_flag import ASYNC
from ..core.awaitable_context import AwaitableContext
from ..dsn import Parameters, resolve
from ..wire.changes import written_name
from ..wire.errors import (
    Error,
    InterfaceError,
    NotSupportedError,
    OperationalError,
    ProtocolError,
    QueryCanceled,
    Warning,
    database_error,
)
from ..wire.plan_ops import TypeOptions
from .connection import AsyncConnection, open_base_connection

if TYPE_CHECKING:
    from typing_extensions import Self

DATABASE = "syscdcv1"
MOST_RECORDS = 100  # of one read: what every server that was seen takes (CDC section 1)
READ_BYTES = 256 << 10  # of one read

_NO_DATABASE = (-329, -349)
_NO_RIGHT = (-387, -388, -389, -674)
_NO_CAPTURE, _LOG_POSITION_GONE, _BUSY_LOGGING, _LOCKED = -83701, -83713, -19816, -289
_OPEN = "EXECUTE FUNCTION informix.cdc_opensess(?, ?, ?, ?, ?, ?)"
_LOGGING = "EXECUTE FUNCTION informix.cdc_set_fullrowlogging(?, ?)"
_START = "EXECUTE FUNCTION informix.cdc_startcapture(?, ?, ?, ?, ?)"
_ACTIVATE = "EXECUTE FUNCTION informix.cdc_activatesess(?, ?)"
_CLOSE = "EXECUTE FUNCTION informix.cdc_closesess(?)"
_POSITION_QUERY = "SELECT seqnum FROM syscdcsess WHERE sessid = ?"
_LOG_END = "SELECT uniqid, used FROM sysmaster:informix.syslogs WHERE is_current = 1"
_CLOSE_TIMEOUT = 5.0  # seconds beyond the timeout that closing may take
_LOGGING_RETRY_SECONDS = 15.0  # seconds for which switching full row logging off is tried again


def capture(
    connection: str | Mapping[str, Any] | AsyncConnection,
    tables: Tables,
    *,
    columns: Mapping[str, Sequence[str]] | None = None,
    start: str | None = None,
    timeout: int = 2,
    idle: float | None = None,
    max_records: int = 64,
    transaction_bytes: int = 256 << 20,
    on_truncate: OnTruncate = "deliver",
    set_full_row_logging: bool = True,
    watchdog: float | None = 60.0,
    batch_rows: int = 1 << 20,
    batch_bytes: int = 16 << 20,
    decimals: Literal["decimal128", "float64"] = "decimal128",
    floating_decimals: Literal["float64", "string"] | pa.Decimal128Type = "float64",
    char_padding: Literal["strip", "keep"] = "strip",
    intervals: Literal["native", "month_day_nano"] = "native",
    encoding_errors: Literal["strict", "replace", "binary"] = "strict",
) -> AwaitableContext[AsyncChanges]:
    """Follow the committed changes of tables, transaction by transaction, in the order of their commits::

        async with capture("informix://u:p@db1:9088/stores?server=ol_x", ["orders", "items"], start=token) as changes:
            async for transaction in changes:
                for change in transaction.batches:
                    ...                              # change.table, change.data: a pyarrow.RecordBatch
                save(changes.token)                  # where to go on: nothing is lost, and nothing comes twice

    In asyncio also ``changes = await capture(...)``; wrong arguments are refused at once, before the ``await``.

    Changes come out of the server's log by its Change Data Capture interface, for which its administrator has set up
    the database ``syscdcv1``; the user must be ``informix``, or one who may connect to it.

    Parameters
    ----------
    connection
        A URL, in any form that ``connect`` takes, a mapping of its keywords, or an open connection, beside which
        others like it are opened.
    tables
        Names, ``table``, ``owner.table`` or ``database:owner.table``, or a mapping from those to the columns that are
        wanted (None: all). Their databases must have one code set. Columns of BYTE, TEXT, BLOB, CLOB, collections, ROW
        and opaque types are not in the log and must be left out.
    columns
        The columns of some of the tables, by table.
    start
        The ``token`` of an earlier capture of the same tables: go on behind the transaction after which it was taken.
        None (default): begin now. Transactions that are open then are left out, with a warning.
    timeout
        Seconds, 1 to 3600, that the server waits for changes in one read. Ctrl-C, cancellation and closing may have to
        wait so long.
    idle
        Seconds without a change after which the iteration ends; 0: as soon as the server says that there is nothing
        more. None (default): it never ends.
    max_records
        Records that the server gives in one read, 1 to 100.
    transaction_bytes
        Bytes that transactions which are not over may take in memory together; the largest go to temporary files
        beyond it. 256 MiB by default.
    on_truncate
        What becomes of a TRUNCATE: ``"deliver"`` (default) a change whose ``_op`` is ``truncate``, ``"ignore"``, or
        ``"error"``.
    set_full_row_logging
        True (default): switch the full row logging of the tables on, which a capture needs. It stays on when the
        capture is closed, so that nothing is lost until the next; :func:`capture_off` switches it off, as ALTER TABLE
        needs it.
    watchdog
        Seconds that the reader may stand at one place while the log grows, before and after the log's end was looked
        up; then an ``OperationalError``. None: for ever. 60 by default.
    batch_rows, batch_bytes
        Where a run of changes of one table is divided.
    decimals, floating_decimals, char_padding, intervals, encoding_errors
        As for :meth:`AsyncConnection.query`.

    Returns
    -------
    AsyncChanges
        To be iterated over once.

    Raises
    ------
    InterfaceError
        A wrong argument; nothing was asked of a server.
    ProgrammingError, NotSupportedError
        A table or column that is not there, a view, a database without a log, a type that is not captured, with
        Informix's number; nothing was started.
    OperationalError
        No ``syscdcv1``, no right to it, a position that is no longer in the log (-83713), or a table in which a
        transaction that is not over has changed rows, so that the server does not switch its logging (-289).
    """
    settings = _settings(connection)
    wanted = requested_tables(tables, columns, settings.database)
    token = None if start is None else Token.parse(start)
    for name, value, low, high in (
        ("timeout", timeout, 1, 3600),
        ("max_records", max_records, 1, MOST_RECORDS),
        ("transaction_bytes", transaction_bytes, 1, 1 << 62),
        ("batch_rows", batch_rows, 1, 1 << 31),
        ("batch_bytes", batch_bytes, 1, 1 << 30),
    ):
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise InterfaceError(f"{name} must be a whole number {low}..{high}, got {value!r}")
    for name, seconds in (("idle", idle), ("watchdog", watchdog)):
        if seconds is not None and (isinstance(seconds, bool) or not seconds >= 0):
            raise InterfaceError(f"{name} must be a number of seconds from 0, or None, got {seconds!r}")
    if on_truncate not in ON_TRUNCATE:
        raise InterfaceError(
            f"on_truncate must be one of {', '.join(map(repr, ON_TRUNCATE))}, got {on_truncate!r}"
        )
    try:
        options = TypeOptions(
            decimals=decimals,
            floating_decimals=floating_decimals,
            char_padding=char_padding,
            intervals=intervals,
            encoding_errors=encoding_errors,
        )
    except ValueError as error:
        raise InterfaceError(str(error)) from None

    async def open() -> AsyncChanges:
        found, session = await _find_tables(settings, wanted)
        conn = await _open_capture_connection(session, timeout)
        try:
            return await _started(conn, found)
        except BaseException:
            conn._runner.abandon()
            raise

    async def _started(conn: AsyncConnection, found: Sequence[CaptureTable]) -> AsyncChanges:
        server = str((await _row(conn, "SELECT DBSERVERNAME FROM systables WHERE tabid = 1", ()))[0]).strip()
        number = await _call_routine_checked(conn, _OPEN, (server, 0, timeout, max_records, 1, 1))
        captured = []
        for label, table in enumerate(found, 1):
            if set_full_row_logging:
                await _call_routine_checked(conn, _LOGGING, (table.full_name, 1), table.request.name)
            names = [column.name for column in table.columns]
            arguments = (number, 0, table.full_name, ",".join(map(written_name, names)), label)
            await _call_routine_checked(conn, _START, arguments, table.request.name)
            captured.append(CapturedTable(table.request.name, label, names))
        position = 0 if token is None else token.restart
        log_end = None if token is not None else await _log_end(conn)
        await _call_routine_checked(conn, _ACTIVATE, (number, position), lsn_text(position))
        begun = None if token is not None else await _read_start_lsn(conn, number, log_end)
        assembler = Assembler(
            captured,
            options,
            conn.encoding,
            token,
            begun,
            transaction_bytes,
            on_truncate,
            Sizes(batch_rows, min(batch_bytes, max(transaction_bytes, 1 << 16))),
        )
        schemas = {table.request.name: expected_schema(table.columns, options) for table in found}
        reads = CaptureReader(number, READ_BYTES, max_records, assembler.write)
        return AsyncChanges(conn, number, assembler, reads, schemas, idle, watchdog, timeout + _CLOSE_TIMEOUT)

    if ASYNC:
        return AwaitableContext(open)
    else:
        return open()


async def capture_off(connection: str | Mapping[str, Any] | AsyncConnection, tables: Sequence[str]) -> None:
    """Switch the full row logging of tables off, which a capture has switched on: ALTER TABLE needs that.

    Changes that are made from then on cannot be captured afterwards. Parameters and errors are those of
    :func:`capture`; ``OperationalError`` as long as a capture of a table is running, or a transaction that has changed
    it.
    """
    settings = _settings(connection)
    wanted = requested_tables(tables, None, settings.database)
    found, session = await _find_tables(settings, wanted, columns=False)
    async with await _open_capture_connection(session, 0) as conn:
        for table in found:
            until = time.monotonic() + _LOGGING_RETRY_SECONDS
            while True:
                answer = await _call_routine(conn, _LOGGING, (table.full_name, 0))
                if answer >= 0:
                    break
                if answer != _BUSY_LOGGING or time.monotonic() > until:
                    raise _error(answer, table.request.name)
                if ASYNC:
                    await asyncio.sleep(1)
                else:
                    time.sleep(1)


class AsyncChanges:
    """The committed changes of tables, as they come. Made by :func:`capture`.

    ``async for transaction in changes``, or :meth:`batches` for several transactions at a time. One task at a time may
    read. A task that is cancelled while it waits for changes loses nothing: whoever reads on gets them.
    """

    if not ASYNC:
        """The committed changes of tables, as they come. Made by :func:`~informix_arrow.capture`.

        ``for transaction in changes``, or :meth:`batches` for several transactions at a time. One thread at a time may
        read. Ctrl-C while it waits for changes loses nothing: whoever reads on gets them.
        """

    def __init__(
        self,
        connection: AsyncConnection,
        number: int,
        assembler: Assembler,
        reads: CaptureReader,
        schemas: Mapping[str, pa.Schema],
        idle: float | None,
        watchdog: float | None,
        goodbye: float,
    ) -> None:
        self._connection = connection
        self._number = number
        self._assembler = assembler
        self._reads = reads
        self._schemas = schemas
        self._idle = idle
        self._watchdog = watchdog
        self._goodbye = goodbye  # seconds that closing may take
        self._token = None if assembler.token is None else str(assembler.token)
        self._failure: BaseException | None = None
        self._closed = False
        self._last = time.monotonic()  # when something came
        self._stale_requests = (
            0  # reads that were sent before somebody began to read: quiet that they tell of is over
        )
        self._records_at_last_read = 0  # records when the last read ended
        self._watchdog_position: tuple[int, float] | None = None  # where the reader stands, and since when
        self._log_end = 0  # where the log ended when that was looked up

    @property
    def token(self) -> str | None:
        """Where to go on behind the last transaction that was handed out: a short text for ``capture(start=...)``. It
        moves on in quiet times, too. At first it is where the capture began; None where the server does not say so, up
        to the first quiet moment or transaction.
        """
        return self._token

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables as they were asked for."""
        return tuple(self._schemas)

    @property
    def missed(self) -> int:
        """Transactions that were left out because they had begun before the capture did."""
        return self._assembler.missed

    @property
    def closed(self) -> bool:
        """Whether nothing more can be read."""
        return self._closed

    def schema(self, table: str) -> pa.Schema:
        """The schema of a table's batches. ``InterfaceError`` when it is not captured.

        It is known at once and changes only when the server describes the table anew.
        """
        if table not in self._schemas:
            raise InterfaceError(f"{table!r} is not captured: {', '.join(self._schemas)} are")
        return self._assembler.schema(table) or self._schemas[table]

    def batches(
        self, *, max_rows: int = 100_000, max_seconds: float | None = 1.0
    ) -> AsyncIterator[ChangeBatch]:
        """Iterate over several transactions at a time::

            async for batch in changes.batches(max_rows=50_000, max_seconds=5):
                for change in batch.batches: ...
                save(batch.token)

        Parameters
        ----------
        max_rows
            A batch is over with the transaction that brings it to so many changes.
        max_seconds
            It is over so many seconds after its first transaction came, too, but for what one read may take
            (``timeout``); 0: as soon as there is nothing more to be had at once; None: only ``max_rows`` counts.
        """
        if not isinstance(max_rows, int) or max_rows < 1:
            raise InterfaceError(f"max_rows must be a whole number of at least 1, got {max_rows!r}")
        if max_seconds is not None and not max_seconds >= 0:
            raise InterfaceError(f"max_seconds must be a number from 0, or None, got {max_seconds!r}")
        return _MergingIterator(self, max_rows, max_seconds)

    async def as_tables(self) -> dict[str, pa.Table]:
        """Read until the server has nothing more, and give all changes of each table as one table, by name."""
        batches_by_table: dict[str, list[pa.RecordBatch]] = {name: [] for name in self._schemas}
        self._begin_reading()
        while True:
            transaction = await self._next(0)
            if transaction is None:
                break
            for change in transaction.batches:
                batches_by_table[change.table].append(change.data)
        return {name: self._as_table(name, batches) for name, batches in batches_by_table.items()}

    async def as_table(self) -> pa.Table:
        """The same for a capture of one table. ``InterfaceError`` when there are several: :meth:`as_tables`."""
        if len(self._schemas) > 1:
            raise InterfaceError(f"{len(self._schemas)} tables are captured: as_tables() gives one for each")
        (table,) = (await self.as_tables()).values()
        return table

    def _as_table(self, name: str, batches: list[pa.RecordBatch]) -> pa.Table:
        schema = self.schema(name)
        if any(batch.schema != schema for batch in batches):
            raise OperationalError(
                f"the columns of {name} were changed meanwhile: read its changes as they come"
            )
        return pa.Table.from_batches(batches, schema)

    async def close(self) -> None:
        """End the capture; full row logging stays on. May be called again."""
        if self._closed:
            return
        self._closed = True
        self._assembler.close()
        conn = self._connection
        if conn.closed:
            return
        try:
            with suppress(Error):
                await _call_routine(conn, _CLOSE, (self._number,), timeout=self._goodbye)
        finally:
            if self._reads.in_flight:  # they would have to be waited for
                conn._runner.abandon()
            with suppress(Error):
                await conn.close()

    async def _next(self, idle: float | None, until: float | None = None) -> Transaction | None:
        """The next transaction; None when nothing has come for ``idle`` seconds, and after the moment ``until``."""
        if self._failure is not None:
            raise InterfaceError(
                f"this capture failed before ({_first_line(self._failure)}): go on with a new one, start=changes.token"
            ) from self._failure
        if self._closed:
            raise InterfaceError("the capture is closed")
        assembler = self._assembler
        try:
            while True:
                transaction = assembler.next()
                for text in assembler.warnings():
                    warnings.warn(text, Warning, stacklevel=3)
                if transaction is not None:
                    self._token, self._last = transaction.token, time.monotonic()
                    return transaction
                self._token = None if assembler.token is None else str(assembler.token)
                now = time.monotonic()
                if until is not None and now >= until:
                    return None
                if assembler.idle and self._reads.replies_read > self._stale_requests:
                    if idle is not None and now - self._last >= idle:
                        return None
                    await self._watch()
                self._reads.adapt_depth(assembler.records_read - self._records_at_last_read)
                self._records_at_last_read = assembler.records_read
                await self._connection._run(read_changes(self._connection._session, self._reads))
        except QueryCanceled:
            raise  # between two reads: nothing is lost
        except Error as error:
            await self._fail(error)
            raise

    def _begin_reading(self) -> None:
        """Somebody begins to read: what was quiet before does not count."""
        self._last = time.monotonic()
        self._stale_requests = self._reads.requests_sent

    async def _fail(self, error: Error) -> None:
        """Nothing can be read behind this: what is missing must not pass for what never was."""
        self._failure = error
        await self.close()

    async def _watch(self) -> None:
        """Notice a reader that stands at one place while the log grows (CDC section 6)."""
        at, now = self._assembler.quiet_at, time.monotonic()
        if self._watchdog is None or at is None:
            return
        if self._watchdog_position is None or self._watchdog_position[0] != at:
            self._watchdog_position, self._log_end = (at, now), 0
            return
        if now - self._watchdog_position[1] < self._watchdog:
            return
        if self._log_end:
            raise OperationalError(
                f"the server's log reader stands at {lsn_text(at)}, though the log went on to "
                f"{lsn_text(self._log_end)} (watchdog={self._watchdog:g}): go on with a new capture, "
                "start=changes.token"
            )
        end = await _log_end(self._connection)
        if end is None:
            self._watchdog = None  # nobody says where the log ends
            return
        self._watchdog_position = (at, now)
        self._log_end = end if end > (at | 0xFFF) + 1 else 0  # the page being written may not be read yet

    def __aiter__(self) -> AsyncIterator[Transaction]:
        self._begin_reading()
        return self

    async def __anext__(self) -> Transaction:
        transaction = await self._next(self._idle)
        if transaction is None:
            raise StopAsyncIteration
        return transaction

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self._closed = True
            if not self._connection.closed:
                self._connection._runner.abandon()
                warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"at {self._token}"
        return f"<informix_arrow.aio.AsyncChanges of {', '.join(self._schemas)}, {state}>"


class _MergingIterator:
    """Iterates over batches of transactions."""

    def __init__(self, changes: AsyncChanges, max_rows: int, max_seconds: float | None) -> None:
        self._changes, self._max_rows, self._max_seconds = changes, max_rows, max_seconds
        self._pending: list[Transaction] = []
        self._since = time.monotonic()

    def __aiter__(self) -> Self:
        self._changes._begin_reading()
        return self

    async def __anext__(self) -> ChangeBatch:
        changes, rows = self._changes, sum(one.rows for one in self._pending)
        while rows < self._max_rows:
            until = None
            if self._pending and self._max_seconds is not None:
                until = self._since + self._max_seconds
            transaction = await changes._next(changes._idle, until)
            if transaction is None:
                break
            if not self._pending:
                self._since = time.monotonic()
            self._pending.append(transaction)
            rows += transaction.rows
        if not self._pending:
            raise StopAsyncIteration
        held, self._pending = self._pending, []
        return merge_transactions(held)


def _settings(connection: str | Mapping[str, Any] | AsyncConnection) -> Parameters:
    """With what to open the connections of a capture."""
    if isinstance(connection, AsyncConnection):
        connection._require_open()
        settings = connection._reconnect_parameters()
    elif isinstance(connection, Mapping):
        settings = resolve(None, **connection)
    elif isinstance(connection, str):
        settings = resolve(connection)
    else:
        raise InterfaceError(
            f"capture() takes a URL, a mapping of keywords or a connection, got {type(connection).__name__}"
        )
    return replace(settings, autocommit=True)


async def _find_tables(
    settings: Parameters, wanted: Sequence[RequestedTable], *, columns: bool = True
) -> tuple[list[CaptureTable], Parameters]:
    """The tables as their databases know them, and with what to connect to ``syscdcv1``."""
    tables: dict[str, CaptureTable] = {}
    texts: dict[tuple[str, str], str] = {}  # databases by locale and codec
    for database in dict.fromkeys(one.database for one in wanted):
        async with await open_base_connection(replace(settings, database=database)) as conn:
            for one in wanted:
                if one.database == database:
                    tables[one.name] = await conn._run(find_table(conn._session, one, check_columns=columns))
            texts.setdefault((conn.locale, conn.encoding), database)
    if len(texts) > 1:
        told = ", ".join(f"{database} ({locale})" for (locale, _), database in texts.items())
        raise NotSupportedError(f"the databases have several locales, and one capture has one: {told}")
    ((locale, encoding),) = texts
    session = replace(
        settings,
        database=DATABASE,
        db_locale=locale,
        client_locale=locale or settings.client_locale,
        encoding=encoding,
        call_timeout=None,
    )
    return [tables[one.name] for one in wanted], session


async def _log_end(conn: AsyncConnection) -> int | None:
    """Where the log ends, to a page of 4 KiB; None where the server does not say so."""
    try:
        log, used = await _row(conn, _LOG_END, ())
        return int(log) << 32 | int(used) << 12
    except (Error, ValueError, TypeError):
        if conn.closed:
            raise
        return None


async def _read_start_lsn(conn: AsyncConnection, number: int, before: int | None) -> int | None:
    """Where a capture session that has just been activated begins to read; None where the server does not say so.

    What the column means is not documented (CDC section 8): only a place between the ends that the log had before the
    session was activated and has afterwards is believed.
    """
    if before is None:
        return None
    try:
        place = (await _row(conn, _POSITION_QUERY, (number,)))[0]
    except Error:
        if conn.closed:
            raise
        return None
    after = await _log_end(conn)
    if after is None or not isinstance(place, int) or place < before:
        return None
    following = ((after >> 32) + 1) << 32  # the log that comes next
    return place if place <= after + 0x1FFF or place == following else None


async def _open_capture_connection(settings: Parameters, timeout: int) -> AsyncConnection:
    """A connection to ``syscdcv1``, on which silence of the server's own timeout is no failure."""
    if settings.read_timeout is not None:
        settings = replace(settings, read_timeout=max(settings.read_timeout, timeout + 10.0))
    try:
        return await open_base_connection(settings)
    except Error as error:
        if error.sqlcode in _NO_DATABASE:
            raise _error(_NO_CAPTURE) from error
        if error.sqlcode in _NO_RIGHT:
            raise _no_right(error) from error
        raise


def _no_right(error: Error) -> OperationalError:
    return OperationalError(
        f"this user may not capture changes (SQLCODE {error.sqlcode}): the user informix may, or one who may connect "
        f"to {DATABASE} as DBA",
        sqlcode=error.sqlcode,
        isamcode=error.isamcode,
    )


async def _row(
    conn: AsyncConnection, sql: str, arguments: tuple[object, ...], timeout: float | None = None
) -> tuple[Any, ...]:
    cursor = await conn.execute(sql, arguments, timeout=timeout)
    try:
        row = await cursor.fetchone()
    finally:
        await cursor.close()
    if row is None:
        raise ProtocolError(f"the server has no answer to {sql}")
    return tuple(row)


async def _call_routine(
    conn: AsyncConnection, sql: str, arguments: tuple[object, ...], timeout: float | None = None
) -> int:
    """What a routine of ``syscdcv1`` says; below 0 it is an error."""
    try:
        value = (await _row(conn, sql, arguments, timeout))[0]
    except Error as error:
        if error.sqlcode in _NO_RIGHT:
            raise _no_right(error) from error
        raise
    if not isinstance(value, int):
        raise ProtocolError(f"the server's answer to {sql} is {value!r}, no number")
    return value


async def _call_routine_checked(
    conn: AsyncConnection, sql: str, arguments: tuple[object, ...], about: str = ""
) -> int:
    """The same, with its errors raised."""
    answer = await _call_routine(conn, sql, arguments)
    if answer < 0:
        raise _error(answer, about)
    return answer


def _error(code: int, about: str = "") -> Error:
    if code == _LOCKED:
        return OperationalError(
            f"the full row logging of {about} cannot be switched: a transaction that has changed the table is not over "
            "and would be logged by half; end it, or wait longer (lock_wait)",
            sqlcode=code,
        )
    return database_error(code, near=about)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
