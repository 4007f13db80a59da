"""Change data capture: read the committed changes of tables from the server's log."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

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
from ..wire.quoting import quote_if_needed
from .connection import AsyncConnection, open_base_connection

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")

DATABASE = "syscdcv1"
MOST_RECORDS = 100  # in one read: every server tested accepts this (CDC section 1)
READ_BYTES = 256 << 10  # in one read

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
_CLOSE_TIMEOUT = 5.0  # seconds that closing may take beyond the timeout
_LOGGING_RETRY_SECONDS = 15.0  # how long switching full row logging off is retried


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
    """Follow the committed changes of tables, transaction by transaction, in commit order::

        async with capture("informix://u:p@db1:9088/stores?server=ol_x", ["orders", "items"], start=token) as changes:
            async for transaction in changes:
                for change in transaction.batches:
                    ...                              # change.table, change.data: a pyarrow.RecordBatch
                save(changes.token)                  # where to continue: no change is lost or delivered twice

    In asyncio also ``changes = await capture(...)``. Wrong arguments raise at once, before the ``await``.

    Changes are read from the server's log through its Change Data Capture interface. The server's administrator must
    have created the database ``syscdcv1``. The user must be ``informix``, or a user who may connect to that database.

    Parameters
    ----------
    connection
        A URL, in any form that ``connect`` takes, a mapping of its keywords, or an open connection. An open connection
        is not used itself: more are opened with its settings.
    tables
        Names in the form ``table``, ``owner.table`` or ``database:owner.table``, or a mapping from these to the columns
        to capture (None: all). All databases must have the same code set. Columns of BYTE, TEXT, BLOB, CLOB,
        collection, ROW and opaque types are not in the log. Leave them out.
    columns
        For some of the tables, the columns to capture: a mapping by table.
    start
        The ``token`` of an earlier capture of the same tables: continue after the transaction that the token belongs
        to. None (default): begin now. Transactions that are open then are left out, with a warning.
    timeout
        Seconds, 1 to 3600, that the server waits for changes in one read. Ctrl-C, cancellation and closing may have to
        wait that long.
    idle
        Seconds without a change after which the iteration ends. 0: as soon as the server reports that there is nothing
        more. None (default): it never ends.
    max_records
        Maximum records that the server returns in one read, 1 to 100.
    transaction_bytes
        Bytes that open transactions may take in memory together. Beyond that the largest ones are moved to temporary
        files. 256 MiB by default.
    on_truncate
        How TRUNCATE is handled. ``"deliver"`` (default) returns a change whose ``_op`` is ``truncate``. ``"ignore"``
        leaves it out. ``"error"`` raises ``OperationalError``.
    set_full_row_logging
        True (default): switch on full row logging for the tables, which a capture needs. It stays on when the capture
        is closed, so that nothing is lost until the next one. :func:`capture_off` switches it off, which ALTER TABLE
        requires.
    watchdog
        Seconds that the reader may stay at one position while the log grows. After that time the end of the log is
        looked up, and after the same time again an ``OperationalError`` is raised. None: no limit. 60 by default.
    batch_rows, batch_bytes
        Maximum rows and target bytes of one batch. A longer run of changes of one table is divided.
    decimals, floating_decimals, char_padding, intervals, encoding_errors
        As for :meth:`AsyncConnection.query`.

    Returns
    -------
    AsyncChanges
        Can be iterated over once.

    Raises
    ------
    InterfaceError
        An argument is wrong. Nothing was sent.
    ProgrammingError, NotSupportedError
        A table or column does not exist, a name refers to a view, the database has no log, or a type cannot be
        captured. ``sqlcode`` is Informix's number. Nothing was started.
    OperationalError
        There is no ``syscdcv1``, the user may not use it, or the position is no longer in the log (-83713). Or an open
        transaction has changed a table, so that the server cannot switch its logging (-289).
    """
    settings = _settings(connection)
    requests = requested_tables(tables, columns, settings.database)
    token = None if start is None else Token.parse(start)
    for name, value, low, high in (
        ("timeout", timeout, 1, 3600),
        ("max_records", max_records, 1, MOST_RECORDS),
        ("transaction_bytes", transaction_bytes, 1, 1 << 62),
        ("batch_rows", batch_rows, 1, 1 << 31),
        ("batch_bytes", batch_bytes, 1, 1 << 30),
    ):
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise InterfaceError(f"{name} must be a whole number {low}..{high}, got {value!r}.")
    for name, seconds in (("idle", idle), ("watchdog", watchdog)):
        if seconds is not None and (isinstance(seconds, bool) or not seconds >= 0):
            raise InterfaceError(
                f"{name} must be a number of seconds of at least 0, or None, got {seconds!r}."
            )
    if on_truncate not in ON_TRUNCATE:
        raise InterfaceError(
            f"on_truncate must be one of {', '.join(map(repr, ON_TRUNCATE))}, got {on_truncate!r}."
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
        capture_tables, session = await _find_tables(settings, requests)
        conn = await _open_capture_connection(session, timeout)
        try:
            return await _start(conn, capture_tables)
        except BaseException:
            conn._runner.abandon()
            raise

    async def _start(conn: AsyncConnection, tables: Sequence[CaptureTable]) -> AsyncChanges:
        server = str(
            (await _row(conn, "SELECT DBSERVERNAME FROM informix.systables WHERE tabid = 1", ()))[0]
        ).strip()
        number = await _call_routine_checked(conn, _OPEN, (server, 0, timeout, max_records, 1, 1))
        captured = []
        for label, table in enumerate(tables, 1):
            if set_full_row_logging:
                await _call_routine_checked(conn, _LOGGING, (table.full_name, 1), table.request.name)
            names = [column.name for column in table.columns]
            arguments = (number, 0, table.full_name, ",".join(map(quote_if_needed, names)), label)
            await _call_routine_checked(conn, _START, arguments, table.request.name)
            captured.append(CapturedTable(table.request.name, label, names, table.full_name))
        position = 0 if token is None else token.restart
        log_end = None if token is not None else await _log_end(conn)
        await _call_routine_checked(conn, _ACTIVATE, (number, position), lsn_text(position))
        start_lsn = None if token is not None else await _read_start_lsn(conn, number, log_end)
        assembler = Assembler(
            captured,
            options,
            conn.encoding,
            token,
            start_lsn,
            transaction_bytes,
            on_truncate,
            Sizes(batch_rows, min(batch_bytes, max(transaction_bytes, 1 << 16))),
        )
        schemas = {table.request.name: expected_schema(table.columns, options) for table in tables}
        reads = CaptureReader(number, READ_BYTES, max_records, assembler.write)
        return AsyncChanges(conn, number, assembler, reads, schemas, idle, watchdog, timeout + _CLOSE_TIMEOUT)

    if ASYNC:
        return AwaitableContext(open)
    else:
        return open()


async def capture_off(connection: str | Mapping[str, Any] | AsyncConnection, tables: Sequence[str]) -> None:
    """Switch off the full row logging of tables, which a capture has switched on. ALTER TABLE requires this.

    Changes made from then on cannot be captured later. Parameters and errors are those of :func:`capture`. Raises
    ``OperationalError`` while a capture of a table is running, or a transaction that has changed the table is open.
    """
    settings = _settings(connection)
    requests = requested_tables(tables, None, settings.database)
    capture_tables, session = await _find_tables(settings, requests, columns=False)
    async with await _open_capture_connection(session, 0) as conn:
        for table in capture_tables:
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
    """The committed changes of tables, as they arrive. Made by :func:`capture`.

    Use ``async for transaction in changes``, or :meth:`batches` for several transactions at a time. One task at a time
    may read. If a task is cancelled while it waits for changes, nothing is lost: the next read returns them.
    """

    if not ASYNC:
        """The committed changes of tables, as they arrive. Made by :func:`~informix_arrow.capture`.

        Use ``for transaction in changes``, or :meth:`batches` for several transactions at a time. One thread at a time
        may read. Ctrl-C during a wait for changes loses nothing: the next read returns them.
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
        close_timeout: float,
    ) -> None:
        self._connection = connection
        self._number = number
        self._assembler = assembler
        self._reads = reads
        self._schemas = schemas
        self._idle = idle
        self._watchdog = watchdog
        self._close_timeout = close_timeout  # seconds that closing may take
        self._token = None if assembler.token is None else str(assembler.token)
        self._failure: BaseException | None = None
        self._closed = False
        self._last = time.monotonic()  # when the last transaction arrived, or reading began
        # Reads sent before the current iteration began: if one of them returns nothing, that does not count as idle.
        self._stale_requests = 0
        self._records_at_last_read = 0  # the number of records when the last read ended
        self._watchdog_position: tuple[int, float] | None = None  # where the reader is, and since when
        self._log_end = 0  # where the log ended at the last lookup; 0 = not looked up

    @property
    def token(self) -> str | None:
        """The position after the last transaction returned: a short text for ``capture(start=...)``.

        It also advances while no changes arrive. At first it is the position where the capture began. If the server
        does not report that position, it is None until the first transaction or the first read without changes.
        """
        return self._token

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables, named as in the call of ``capture()``."""
        return tuple(self._schemas)

    def full_name(self, table: str) -> str:
        """Return ``database:owner.table`` of a captured table. Raises ``InterfaceError`` if it is not captured."""
        for one in self._assembler.tables:
            if one.name == table:
                return one.full_name
        raise InterfaceError(f"{table!r} is not captured: {', '.join(self._schemas)} are")

    @property
    def missed(self) -> int:
        """Number of transactions that were left out because they began before the capture."""
        return self._assembler.missed

    @property
    def closed(self) -> bool:
        """True if the capture is closed."""
        return self._closed

    def schema(self, table: str) -> pa.Schema:
        """Return the schema of a table's batches. Raises ``InterfaceError`` if the table is not captured.

        It is known at once and changes only when the server describes the table again.
        """
        if table not in self._schemas:
            raise InterfaceError(
                f"{table!r} is not captured. The captured tables are {', '.join(self._schemas)}."
            )
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
            A batch ends with the transaction that brings it to this number of changes.
        max_seconds
            A batch also ends this many seconds after its first transaction arrived, plus the time of one read
            (``timeout``). 0: as soon as no further transaction is available at once. None: only ``max_rows`` counts.
        """
        return _GroupIterator(self, max_rows, max_seconds, merge_transactions)

    def groups(
        self, *, max_rows: int = 100_000, max_seconds: float | None = 1.0
    ) -> AsyncIterator[Sequence[Transaction]]:
        """Iterate over tuples of several transactions. The arguments are those of :meth:`batches`."""
        return _GroupIterator(self, max_rows, max_seconds, tuple)

    async def as_tables(self) -> dict[str, pa.Table]:
        """Read until the server has no more changes. Return all changes of each table as one table, by name."""
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
        """Return what :meth:`as_tables` returns for the only table of this capture. Raises ``InterfaceError`` if
        several are captured."""
        if len(self._schemas) > 1:
            raise InterfaceError(
                f"This capture has {len(self._schemas)} tables. as_tables() returns a stream for each."
            )
        (table,) = (await self.as_tables()).values()
        return table

    def _as_table(self, name: str, batches: list[pa.RecordBatch]) -> pa.Table:
        schema = self.schema(name)
        if any(batch.schema != schema for batch in batches):
            raise OperationalError(
                f"The columns of {name} were changed in the meantime. Iterate over the changes themselves."
            )
        return pa.Table.from_batches(batches, schema)

    async def close(self) -> None:
        """End the capture. Full row logging stays on. Closing twice is safe."""
        if self._closed:
            return
        self._closed = True
        self._assembler.close()
        conn = self._connection
        if conn.closed:
            return
        try:
            with suppress(Error):
                await _call_routine(conn, _CLOSE, (self._number,), timeout=self._close_timeout)
        finally:
            if self._reads.in_flight:  # a normal close would wait for their replies
                conn._runner.abandon()
            with suppress(Error):
                await conn.close()

    async def _next(self, idle: float | None, until: float | None = None) -> Transaction | None:
        """Return the next transaction, or None after ``idle`` seconds without changes or past the time ``until``."""
        if self._failure is not None:
            raise InterfaceError(
                f"This capture failed before ({_first_line(self._failure)}). Continue with a new one: "
                "start=changes.token."
            ) from self._failure
        if self._closed:
            raise InterfaceError("The capture is closed.")
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
            raise  # the cancel came between two reads: nothing is lost
        except Error as error:
            await self._fail(error)
            raise

    def _begin_reading(self) -> None:
        """Start the idle time anew: time without changes before this read does not count."""
        self._last = time.monotonic()
        self._stale_requests = self._reads.requests_sent

    async def _fail(self, error: Error) -> None:
        """Close after an error: later changes must not be returned as if none were missing before them."""
        self._failure = error
        await self.close()

    async def _watch(self) -> None:
        """Raise if the reader stays at one position while the log grows (CDC section 6)."""
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
                f"The server's log reader stays at {lsn_text(at)}, although the log has reached "
                f"{lsn_text(self._log_end)} (watchdog={self._watchdog:g}). Continue with a new capture: "
                "start=changes.token."
            )
        end = await _log_end(self._connection)
        if end is None:
            self._watchdog = None  # the server does not report where the log ends
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


class _GroupIterator(Generic[T]):
    """Iterates over several transactions at a time: :meth:`AsyncChanges.batches` and :meth:`AsyncChanges.groups`."""

    def __init__(
        self,
        changes: AsyncChanges,
        max_rows: int,
        max_seconds: float | None,
        make: Callable[[list[Transaction]], T],
    ) -> None:
        if not isinstance(max_rows, int) or max_rows < 1:
            raise InterfaceError(f"max_rows must be a whole number of at least 1, got {max_rows!r}.")
        if max_seconds is not None and not max_seconds >= 0:
            raise InterfaceError(
                f"max_seconds must be a number of seconds of at least 0, or None, got {max_seconds!r}."
            )
        self._changes, self._max_rows, self._max_seconds = changes, max_rows, max_seconds
        self._make = make
        self._pending: list[Transaction] = []
        self._since = time.monotonic()

    def __aiter__(self) -> Self:
        self._changes._begin_reading()
        return self

    async def __anext__(self) -> T:
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
        transactions, self._pending = self._pending, []
        return self._make(transactions)


def _settings(connection: str | Mapping[str, Any] | AsyncConnection) -> Parameters:
    """Return the parameters for the connections of a capture."""
    if isinstance(connection, AsyncConnection):
        connection._require_open()
        settings = connection._reconnect_parameters()
    elif isinstance(connection, Mapping):
        settings = resolve(None, **connection)
    elif isinstance(connection, str):
        settings = resolve(connection)
    else:
        raise InterfaceError(
            f"capture() takes a URL, a mapping of keywords or a connection, got {type(connection).__name__}."
        )
    return replace(settings, autocommit=True)


async def _find_tables(
    settings: Parameters, requests: Sequence[RequestedTable], *, columns: bool = True
) -> tuple[list[CaptureTable], Parameters]:
    """Look the tables up in their databases. Return them and the parameters to connect to ``syscdcv1``."""
    tables: dict[str, CaptureTable] = {}
    database_by_locale: dict[tuple[str, str], str] = {}  # by locale and codec
    for database in dict.fromkeys(one.database for one in requests):
        async with await open_base_connection(replace(settings, database=database)) as conn:
            for one in requests:
                if one.database == database:
                    tables[one.name] = await conn._run(find_table(conn._session, one, check_columns=columns))
            database_by_locale.setdefault((conn.locale, conn.encoding), database)
    if len(database_by_locale) > 1:
        listed = ", ".join(f"{database} ({locale})" for (locale, _), database in database_by_locale.items())
        raise NotSupportedError(
            f"The databases have different locales. One capture supports one locale: {listed}."
        )
    ((locale, encoding),) = database_by_locale
    session = replace(
        settings,
        database=DATABASE,
        db_locale=locale,
        client_locale=locale or settings.client_locale,
        encoding=encoding,
        call_timeout=None,
    )
    return [tables[one.name] for one in requests], session


async def _log_end(conn: AsyncConnection) -> int | None:
    """Return the end of the log, to a page of 4 KiB, or None if the server does not report it."""
    try:
        log, used = await _row(conn, _LOG_END, ())
        return int(log) << 32 | int(used) << 12
    except (Error, ValueError, TypeError):
        if conn.closed:
            raise
        return None


async def _read_start_lsn(conn: AsyncConnection, number: int, before: int | None) -> int | None:
    """Return where a capture session that was just activated begins to read, or None if the server does not report it.

    The meaning of the column is not documented (CDC section 8). A position counts only if it lies between the end of
    the log before the activation and the end of the log after it.
    """
    if before is None:
        return None
    try:
        position = (await _row(conn, _POSITION_QUERY, (number,)))[0]
    except Error:
        if conn.closed:
            raise
        return None
    after = await _log_end(conn)
    if after is None or not isinstance(position, int) or position < before:
        return None
    following = ((after >> 32) + 1) << 32  # the start of the next log file
    return position if position <= after + 0x1FFF or position == following else None


async def _open_capture_connection(settings: Parameters, timeout: int) -> AsyncConnection:
    """Connect to ``syscdcv1``. Waiting as long as the server's own timeout is not a read timeout here."""
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
        f"This user may not capture changes (SQLCODE {error.sqlcode}). Use the user informix, or one with "
        f"DBA privilege on {DATABASE}.",
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
        raise ProtocolError(f"The server did not answer {sql}.")
    return tuple(row)


async def _call_routine(
    conn: AsyncConnection, sql: str, arguments: tuple[object, ...], timeout: float | None = None
) -> int:
    """Call a routine of ``syscdcv1`` and return its number, which is an error below 0."""
    try:
        value = (await _row(conn, sql, arguments, timeout))[0]
    except Error as error:
        if error.sqlcode in _NO_RIGHT:
            raise _no_right(error) from error
        raise
    if not isinstance(value, int):
        raise ProtocolError(f"The server's answer to {sql} is {value!r}, not a number.")
    return value


async def _call_routine_checked(
    conn: AsyncConnection, sql: str, arguments: tuple[object, ...], about: str = ""
) -> int:
    """Call a routine of ``syscdcv1`` and raise its errors."""
    answer = await _call_routine(conn, sql, arguments)
    if answer < 0:
        raise _error(answer, about)
    return answer


def _error(code: int, about: str = "") -> Error:
    if code == _LOCKED:
        return OperationalError(
            f"The full row logging of {about} cannot be switched. A transaction that has changed the table "
            "is still open, and would be logged incompletely. End it, or wait longer (lock_wait).",
            sqlcode=code,
        )
    return database_error(code, near=about)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0].removesuffix(".") or type(error).__name__
