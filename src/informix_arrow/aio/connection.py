"""AsyncConnection, one session with a database server, for asyncio, and ``connect``, which opens one."""

from __future__ import annotations

import asyncio
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import pyarrow as pa

from ..core.async_flag import ASYNC
from ..core.awaitable_context import AwaitableContext
from ..core.connection_classes import connection_class
from ..core.read_options import ReadKeywords, start_query
from ..core.session_runner import AsyncSessionRunner
from ..dsn import Parameters, resolve
from ..dsn.keywords import FurtherKeywords
from ..dsn.parameters import CHECKS, check_value
from ..ingest.arguments import WriteKeywords, open_write
from ..ingest.batch_sources import (
    AsyncBatchSource,
    SourceInterrupted,
    ThreadedBatchSource,
    is_streamed,
    open_source,
    yielding_batches,
)
from ..ingest.report import WriteReport
from ..operations.cursor_session_state import isolation_of, lock_wait_of, set_read_settings
from ..operations.fast_path import fast_path_call
from ..operations.io_steps import Exchange
from ..operations.ping import ping
from ..operations.prepare import prepare_ahead
from ..operations.transaction import commit, rollback
from ..partition.planner import partition_request
from ..rows.parameters import Values
from ..rows.python_rows import RowFactory
from ..wire.assignment import Inexact
from ..wire.errors import InterfaceError
from .cursor import AsyncCursor
from .metadata import AsyncMetadata
from .partition_load import AsyncParallelLoad, load_parts
from .partition_result import (
    AsyncPartitionedResult,
    AsyncPartitionReaders,
    inherited_read_options,
    read_parts,
)
from .result import AsyncResult
from .scroll_cursor import AsyncScrollCursor
from .transactions import AsyncTransactionBlock

if TYPE_CHECKING:
    from os import PathLike
    from ssl import SSLContext

    from typing_extensions import Self, Unpack

T = TypeVar("T")


class AsyncConnection(AsyncMetadata):
    """One session with a database server, for asyncio. Made by :func:`connect`.

    Tasks of one event loop may share it. Operations run one after the other, first come, first served. So statements of
    several tasks interleave, and open results can be read alternately. All tasks share one transaction. To run
    statements side by side use :class:`AsyncPool`.

    A task may be cancelled at any ``await`` here. The driver then asks the server to stop and reads what it still
    sends, for at most 5 seconds, before ``CancelledError`` is raised. Afterwards the connection is usable as before, or
    closed. Everything else is as with :class:`informix_arrow.Connection`: transactions, errors, types.

    ``async with`` commits when the block ends normally, rolls back when it raises, and closes.

    Attributes
    ----------
    row_factory
        The form of the rows of new cursors, ``"tuple"`` by default; see :attr:`AsyncCursor.row_factory`.
    """

    if not ASYNC:
        """One session with a database server. Made by :func:`~informix_arrow.connect`.

        Threads may share it. A lock is held during each operation, so statements of several threads run one after the
        other, and open results can be read from different threads. All threads share one transaction.

        Transactions: with ``autocommit`` off (the default), the first statement that is not a query opens a transaction
        in a logged database, and the first statement of any kind in an ANSI database. :meth:`commit` or
        :meth:`rollback` ends it. With ``autocommit`` on, and in unlogged databases, every statement is final.
        :meth:`transaction` returns blocks that can be nested. The driver also tracks BEGIN, COMMIT and ROLLBACK WORK
        that you send as SQL.

        As a context manager a connection commits when the block ends normally, rolls back when it raises, and closes.

        After an error a connection is either usable as before or closed. It closes when the network fails, when the
        server violates the protocol, when ``read_timeout`` expires, and when the server does not react within 5 seconds
        to an interrupt (:meth:`cancel`, ``timeout=``, Ctrl-C). In the last case the pending reply would otherwise be
        taken for the reply to the next request. The server rolls back when a connection closes.

        Attributes
        ----------
        row_factory
            The form of the rows of new cursors, ``"tuple"`` by default; see :attr:`Cursor.row_factory`.
        """

    _runner: AsyncSessionRunner
    # Parallel reads and loads that were started from this connection.
    _parallel_jobs: weakref.WeakSet[AsyncPartitionReaders | AsyncParallelLoad] | tuple[()] = ()

    async def read_arrow(
        self,
        sql: str,
        parameters: Values = (),
        *,
        timeout: float | None = None,
        partition_on: str | None = None,
        partition_num: int | None = None,
        **options: Unpack[ReadKeywords],
    ) -> pa.Table:
        """Run a query and read all its rows into one table.

        ``await conn.read_arrow("SELECT * FROM orders WHERE day >= ?", (date(2026, 1, 1),))``. Parameters, options and
        errors are those of :meth:`query`, which streams instead.

        With ``partition_on`` or ``partition_num`` the query is divided by ``plan_partitions`` and read over several
        connections, one for each part, 8 at most. ``sql`` may also be the name of a table then. The connections are
        opened with the settings of this one. They do not see its uncommitted changes or its TEMP tables, and each sees
        what is committed at the time it reads. The rows are returned part by part.
        :func:`~informix_arrow.partition_read` has more options, and streams.
        """
        if partition_on is not None or partition_num is not None:
            return await self._read_in_parts(sql, parameters, timeout, partition_on, partition_num, options)
        async with self.query(sql, parameters, timeout=timeout, **options) as result:
            return await result.read_all()

    async def _read_in_parts(
        self,
        sql: str,
        parameters: Values,
        timeout: float | None,
        partition_on: str | None,
        partition_num: int | None,
        options: ReadKeywords,
    ) -> pa.Table:
        self._require_open()
        request = partition_request(sql, parameters, partition_on=partition_on, partition_num=partition_num)
        result = await read_parts(
            open_base_connection,
            self._reconnect_parameters(),
            request,
            planner=self,
            ordered=True,
            timeout=timeout,
            options=inherited_read_options(self, options),
            on_start=self._track_parallel,
        )
        async with result:
            return await result.read_all()

    def query(
        self,
        sql: str,
        parameters: Values = (),
        *,
        timeout: float | None = None,
        batch_bytes: int = 16 << 20,
        batch_rows: int = 1 << 20,
        decimals: Literal["decimal128", "float64"] = "decimal128",
        floating_decimals: Literal["float64", "string"] | pa.Decimal128Type = "float64",
        char_padding: Literal["strip", "keep"] = "strip",
        strings: Literal["utf8", "large", "view", "dictionary"] = "utf8",
        intervals: Literal["native", "month_day_nano"] = "native",
        lobs: Literal["inline", "skip"] = "inline",
        nested: Literal["arrow", "text"] = "arrow",
        encoding_errors: Literal["strict", "replace", "binary"] | None = None,
        integer_aggregates: bool = False,
        json: Literal["text", "arrow"] = "text",
        bson: Literal["binary", "json"] = "binary",
        isolation: str | None = None,
        lock_wait: int | None = None,
    ) -> AwaitableContext[AsyncResult]:
        """Run a query and stream its rows as Arrow record batches::

            async with conn.query("SELECT * FROM orders WHERE day >= ?", (day,)) as result:
                async for batch in result.batches():
                    ...

        In asyncio also ``result = await conn.query(...)``. Wrong arguments raise at once, before the ``await``.

        Parameters
        ----------
        sql
            One statement that returns rows. Placeholders are ``?``, or ``:1``, ``:2`` ..., or ``:name``.
        parameters
            One value for each placeholder, or a mapping for ``:name``. Takes the values of :meth:`AsyncCursor.execute`,
            except the contents of BLOB and CLOB.
        timeout
            Seconds that running the query may take, and then reading each batch. After that ``QueryTimeout`` is raised,
            and the connection stays usable. None (default): the connection's ``call_timeout``.
        batch_bytes
            Target size of one batch in bytes of Arrow buffers, at least 4096 (default 16 MiB). The last batch is
            smaller. A single row larger than this makes a batch of one row. The contents of large objects are counted
            separately: a batch also ends where they reach this size.
        batch_rows
            Maximum rows of one batch, at least 1 (default 1,048,576).
        decimals
            DECIMAL(p,s) and MONEY as exact ``"decimal128"`` (default) or as ``"float64"``.
        floating_decimals
            DECIMAL(p) without a scale as ``"float64"`` (default), ``"string"``, or a ``pa.decimal128(p, s)``. With the
            last one a value that does not fit exactly raises ``DataError``.
        char_padding
            ``"strip"`` (default) removes the trailing blanks of CHAR and NCHAR, ``"keep"`` keeps them.
        strings
            Text as ``"utf8"`` (default), ``"large"`` (64-bit offsets), ``"view"`` (string views) or ``"dictionary"``
            (int32 indices, each batch with its own dictionary).
        intervals
            ``"native"`` (default): INTERVAL YEAR TO MONTH as int32 months, DAY TO FRACTION as duration[us] (beyond
            106,751,991 days a ``DataError``). ``"month_day_nano"``: both as Arrow's interval type.
        lobs
            ``"inline"`` (default): TEXT and CLOB as large_utf8, BYTE and BLOB as large_binary, with their contents,
            which are fetched in a second step. ``"skip"``: the result does not contain these columns.
        nested
            ``"arrow"`` (default): SET, MULTISET and LIST as list, ROW as struct, if the server describes the element
            types. ``"text"``: always as Informix's literal, ``SET{1,2}``. These values are parsed in Python, one by
            one.
        encoding_errors
            For a byte that is not text in the database's code set: ``"strict"`` (a ``DataError`` with row and column),
            ``"replace"`` (U+FFFD in its place), or ``"binary"`` (all text columns as unchecked bytes). The default is
            the setting of the connection, which is ``"strict"`` by default.
        integer_aggregates
            True: DECIMAL without fraction digits as int64. This is the type that Informix gives COUNT(*) and the SUM of
            integers. A value beyond int64 raises ``DataError``. False (default): decimal128.
        json
            JSON columns as ``"text"`` (default), of the type that ``strings`` says, or as ``"arrow"``: the extension
            type ``pyarrow.json_()``.
        bson
            BSON columns as ``"binary"`` (default), the bytes of the documents, or as ``"json"``: relaxed Extended JSON,
            of the type that ``json`` says. These values are converted in Python, one by one.
        isolation, lock_wait
            For this result only, as in :func:`connect`. The previous setting is restored when the result ends, is
            closed or dropped. Two results that are read alternately share one session: the one opened last decides for
            both.

        Returns
        -------
        AsyncResult
            Single use. Its schema is known at once, also for zero rows.

        Raises
        ------
        ProgrammingError
            The number of parameters is wrong, the statement returns no rows (then it is not executed), or the server
            refused it. In the last case ``sqlcode``, ``isamcode``, ``offset`` and ``near`` are set.
        DataError
            A parameter, or a character of ``sql``, does not exist in the database's code set or does not fit.
        NotSupportedError
            A column has a type that cannot be read. The text names both.
        InterfaceError
            An argument is wrong, or the connection is closed.
        OperationalError
            The server failed or the connection was lost. The text says whether the connection is now closed.

        Notes
        -----
        Types: the mapping table in the documentation. Source: SQLI section 7.
        """
        self._require_open()
        operation = start_query(
            self._session,
            self._parameters,
            sql,
            parameters,
            batch_bytes=batch_bytes,
            batch_rows=batch_rows,
            decimals=decimals,
            floating_decimals=floating_decimals,
            char_padding=char_padding,
            strings=strings,
            intervals=intervals,
            lobs=lobs,
            nested=nested,
            encoding_errors=encoding_errors,
            integer_aggregates=integer_aggregates,
            json=json,
            bson=bson,
            isolation=isolation,
            lock_wait=lock_wait,
        )

        if ASYNC:

            async def open() -> AsyncResult:
                return AsyncResult(self, await self._run(operation, timeout), timeout)

            return AwaitableContext(open)
        else:
            return AsyncResult(self, self._run(operation, timeout), timeout)

    async def write_arrow(
        self, table: str, data: Any, *, timeout: float | None = None, **options: Unpack[WriteKeywords]
    ) -> WriteReport:
        """Load Arrow data into a table, with the fastest method that the server supports.

        ``await conn.write_arrow("orders", frame)``. Modes, types, transactions and errors are described in the
        documentation, "Writing".

        Parameters
        ----------
        table
            ``table``, ``owner.table`` or ``database:owner.table``.
        data
            Any object with ``__arrow_c_stream__`` or ``__arrow_c_array__`` (Polars, pandas, DuckDB, pyarrow), or an
            iterable of record batches. The data is streamed: memory holds one batch and one window.

            In asyncio a plain iterator blocks the event loop while it makes a batch. Other tasks run between two
            batches. An async iterable of record batches is awaited. Examples are ``result.batches()`` of another
            connection, or the :class:`AsyncResult` itself.

        timeout
            Seconds for the whole load, the time that the data takes included. After that the load is undone up to its
            last commit, and ``QueryTimeout`` is raised. A cancelled call is undone in the same way. None (default): the
            connection's ``call_timeout``. See the documentation, "Time limits and slow data".
        mode
            ``"append"`` (default). ``"create"``, ``"replace"`` and ``"create_append"`` create the table. ``"truncate"``
            empties it first. ``"upsert"`` updates the rows whose ``key`` exists.
        columns
            None (default): by name. A sequence: names in the table, in the order of the data's columns. A mapping: from
            names in the data to names in the table.
        on_error
            ``"abort"`` (default) raises at the first refused row. ``"collect"`` loads the other rows and returns the
            refused ones in ``report.rejected``.
        commit_every
            None (default): one transaction, all or nothing. If a transaction is open, the load is a part of it. A
            number: commit after this many rows.
        method
            ``"auto"`` (default), ``"put"`` (insert cursor) or ``"pipeline"`` (one execution for each row, sent ahead).
        key
            Columns that identify a row, for ``mode="upsert"``.
        primary_key, serial, types, temporary
            For modes that create the table: its key, its SERIAL column, declared types by column name (``{"name":
            "VARCHAR(40)"}``), and whether it is a TEMP table.
        cascade
            True: ``mode="replace"`` may drop a table that foreign keys of other tables refer to, together with these
            keys.
        inexact
            How to handle digits that do not fit a column: ``"error"``, ``"round"`` (halves away from zero) or
            ``"truncate"`` (toward zero). The default is the setting of the connection, which is ``"error"`` by default.
        time_zone
            Convert timestamps with a time zone to local time in this zone, such as ``"Europe/Berlin"``. None (default)
            refuses them.
        connections
            Number of connections that load, 1 by default. The others are opened with the settings of this one. Requires
            ``mode`` ``"append"``, ``"truncate"`` or ``"upsert"``, and no open transaction. By default the load is all
            or nothing: each connection loads a staging table, and one transaction copies all of them. With
            ``commit_every`` each connection writes directly to the table and commits after this many of its own rows.
            Rows arrive in the table in any order. ``row`` in errors and rejects is the row of the data.
        progress
            ``True`` draws a bar on stderr. A function is called with rows, bytes and seconds.
        group_bytes, window_bytes, window_rows, piece_rows
            Bytes of one PUT group (1 MiB), bytes and rows sent ahead of their replies in the pipeline (512 KiB, 4096),
            rows converted at a time (65,536). You should not need to change them.

        Returns
        -------
        WriteReport
            ``rows``, ``rejected``, ``batches``, ``seconds``, ``bytes``, ``method``, ``commits``, ``transaction`` ...

        Raises
        ------
        InterfaceError
            An argument is wrong, or the data is not Arrow data. Nothing was sent.
        ProgrammingError
            The table does not have a column, types do not fit, or the server refused a statement.
        DataError, IntegrityError
            A row was refused. ``row`` (0-based), ``column``, ``sqlcode`` and ``isamcode`` are set, and the text names
            the row's key.
        OperationalError
            Locks, space, a long transaction, or a lost connection. The text says what is in the table.
        """
        self._require_open()
        connections = options.pop("connections", 1)
        if not isinstance(connections, int) or isinstance(connections, bool) or connections < 1:
            raise InterfaceError(f"connections must be a whole number of at least 1, got {connections!r}.")
        if isinstance(data, AsyncResult) and data._connection is self:
            raise InterfaceError(
                "A result cannot be written through the connection that reads it. Read it first "
                "(read_all()), or use another connection."
            )
        began = time.monotonic()
        limit = self._runner.call_timeout(timeout)
        if ASYNC:
            if isinstance(data, AsyncResult | AsyncPartitionedResult):
                data = await AsyncBatchSource.open(data.batches(), data.schema)
            elif hasattr(data, "__aiter__"):
                data = await AsyncBatchSource.open(data, timeout=limit)
            elif is_streamed(data):
                source = open_source(data)
                data = await AsyncBatchSource.open(yielding_batches(source.batches), source.schema)
            return await self._write(table, data, connections, limit, began, options)
        else:
            if timeout is None or not is_streamed(data):
                return self._write(table, data, connections, limit, began, options)
            with closing(ThreadedBatchSource.open(data, timeout)) as source:
                self._runner.source_thread = source.thread.ident
                try:
                    return self._write(table, source, connections, limit, began, options)
                finally:
                    self._runner.source_thread = None

    async def _write(
        self,
        table: str,
        data: Any,
        connections: int,
        limit: float | None,
        began: float,
        options: WriteKeywords,
    ) -> WriteReport:
        """Load the data. Raises ``QueryTimeout`` if that takes longer than ``limit`` seconds from ``began`` on."""
        if connections > 1:
            return await load_parts(
                open_base_connection,
                self,
                self._reconnect_parameters(),
                table,
                data,
                connections=connections,
                timeout=limit,
                began=began,
                options=options,
                on_start=self._track_parallel,
            )
        with open_write(self._session, table, data, self._parameters.delimident, options) as load:
            if ASYNC:
                try:
                    return await self._runner.run(load.run(), timeout=limit, began=began)
                except SourceInterrupted as interruption:
                    raise asyncio.CancelledError from interruption
            else:
                return self._runner.run(load.run(), timeout=limit, began=began)

    @overload
    def cursor(
        self,
        name: str = "",
        *,
        scrollable: Literal[False] = False,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> AsyncCursor[Self]: ...

    @overload
    def cursor(
        self,
        name: str = "",
        *,
        scrollable: Literal[True],
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> AsyncScrollCursor[Self]: ...

    @overload
    def cursor(
        self,
        name: str = "",
        *,
        scrollable: bool = False,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> AsyncCursor[Self]: ...

    def cursor(
        self,
        name: str = "",
        *,
        scrollable: bool = False,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> AsyncCursor[Self]:
        """Return a new PEP 249 cursor on this connection. Any number may be open at a time.

        Parameters
        ----------
        name
            The name of the cursor for ``WHERE CURRENT OF``. Rows are then fetched one by one.
        scrollable
            True: an :class:`AsyncScrollCursor`, which returns rows in any order.
        withhold
            True: its results stay open after COMMIT and ROLLBACK.
        row_factory
            ``"tuple"``, ``"namedtuple"``, ``"dict"`` or a function. The default is the connection's.
        """
        if self._runner._closed:
            self._require_open()
        if scrollable:
            return AsyncScrollCursor(self, name, withhold=withhold, row_factory=row_factory)
        return AsyncCursor(self, name, withhold=withhold, row_factory=row_factory)

    async def execute(
        self,
        operation: str,
        parameters: Values | None = None,
        *,
        inexact: Inexact | None = None,
        timeout: float | None = None,
    ) -> AsyncCursor[Self]:
        """Run one statement in a new cursor and return it: ``await conn.execute("DROP TABLE t")``."""
        return await self.cursor().execute(operation, parameters, inexact=inexact, timeout=timeout)

    async def prepare(self, statements: Iterable[str]) -> None:
        """Prepare statements ahead, in one round trip. Their first execution then saves the round trip for PREPARE.

        The statement cache keeps them, at most ``statement_cache_size``. If the server refuses a statement, its
        execution raises the error.
        """
        await self._run(prepare_ahead(self._session, list(statements)))

    async def fast_path_call(self, signature: str, *arguments: object, timeout: float | None = None) -> Any:
        """Call a routine of the server without SQL. Return None, a value, or a tuple of several values.

        ``await conn.fast_path_call("function informix.ifx_lo_close(integer)", descriptor)``. The routine is looked up
        once. After that a call costs one round trip.

        Parameters
        ----------
        signature
            ``function owner.name(type, ...)`` as the server knows the routine. ``function`` may be omitted.
        arguments
            One value of exactly the right type for each parameter: nothing is converted. Opaque types, including BLOB
            and CLOB locators (72 bytes), are passed as bytes.

        Raises
        ------
        InterfaceError, ProgrammingError
            The signature is malformed, or the number of its types differs from the number of arguments. Nothing was
            sent.
        DataError
            An argument does not have the type in the signature. Nothing was sent.
        Error
            The server reported an error, -674 if it has no such routine.
        """
        self._require_open()
        return await self._run(fast_path_call(self._session, signature, arguments), timeout)

    def transaction(
        self, savepoint_name: str | None = None, *, force_rollback: bool = False
    ) -> AsyncTransactionBlock[Self]:
        """Return a block whose statements take effect together or not at all::

            async with conn.transaction():
                await conn.execute("INSERT INTO orders ...")
                async with conn.transaction():            # a savepoint
                    await conn.execute("INSERT INTO items ...")

        In asyncio a cancellation also undoes the block. Statements of other tasks on this connection become part of it:
        give each task its own connection from an :class:`AsyncPool`.

        The outermost block is a transaction, also with autocommit. It is committed when the block ends normally, and
        rolled back when an exception leaves the block. A block inside another one, or inside an open transaction, is a
        savepoint: an exception undoes the work since then, and only the enclosing transaction can commit. Exceptions
        are passed on, except :class:`Rollback`, which undoes a block and ends there. :meth:`commit`, :meth:`rollback`
        and the equivalent SQL are refused inside a block.

        Parameters
        ----------
        savepoint_name
            The savepoint's name, if the block is a savepoint. Generated by default.
        force_rollback
            True: undo the work in any case, for tests.

        Raises
        ------
        NotSupportedError
            The database has no log. Raised when the block is entered.
        """
        return AsyncTransactionBlock(self, savepoint_name, force_rollback)

    async def commit(self) -> None:
        """Commit the open transaction. Does nothing if none is open.

        The server closes results that were not read to the end.
        """
        await self._run(commit(self._session))

    async def rollback(self) -> None:
        """Roll back the open transaction. Does nothing if none is open.

        The server closes results as in :meth:`commit`.
        """
        await self._run(rollback(self._session))

    async def ping(self) -> None:
        """Check that the server replies, in one round trip without side effects.

        Raises ``OperationalError`` if the connection is lost. The connection is then closed.
        """
        await self._run(ping(self._session))

    def cancel(self) -> None:
        """Cancel the statement that currently runs for another task. Does not wait.

        That task gets ``QueryCanceled``, and the connection stays usable. Without a running statement nothing happens.
        """
        if not ASYNC:
            """Cancel the statement that currently runs in another thread, by an interrupt sent to the server.

            The waiting call raises ``QueryCanceled``, and the connection stays usable. A call that ends before the
            interrupt arrives returns normally. Without a running statement nothing happens. May be called from any
            thread, also from signal handlers.
            """
        self._runner.interrupt()
        for job in tuple(self._parallel_jobs):
            job.cancel()

    async def close(self) -> None:
        """End the session and roll back an open transaction. Waits for a running operation. Closing twice is safe."""
        if not ASYNC:
            """End the session and roll back an open transaction. Closing twice is safe. Any other use is an error."""
        if ASYNC:
            try:
                await self._runner.close()
            except InterfaceError:  # the connection belongs to another event loop
                raise
            except BaseException:
                self._runner.abandon()
                raise
        else:
            self._runner.close()

    @property
    def autocommit(self) -> bool:
        """True if every statement is final. Setting it while a transaction is open raises ``ProgrammingError``.

        In asyncio, not while a statement runs.
        """
        return self._session.autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        if ASYNC:
            self._require_open()
            if self._runner.lock.locked():
                raise InterfaceError(
                    "A statement of another task is running. Set autocommit before or after it."
                )
            self._session.autocommit = self._check_autocommit(value)
        else:
            with self._runner.lock:
                self._require_open()
                self._session.autocommit = self._check_autocommit(value)

    @property
    def isolation(self) -> str | None:
        """The isolation level of reads: ``"dirty"``, ``"committed"``, ``"last committed"``, ``"cursor stability"`` or
        ``"repeatable"``.

        None if it was not set. The server's default is committed read in a logged database, dirty read in an unlogged
        one, and repeatable read in an ANSI one. May be set at any time, and for one result by ``query(isolation=...)``.

        In asyncio it is set by :meth:`set_isolation`.
        """
        return isolation_of(self._session)

    if ASYNC:

        async def set_isolation(self, value: str) -> None:
            """Set :attr:`isolation`."""
            await self._run(
                set_read_settings(self._session, isolation=CHECKS["isolation"]("isolation", value))
            )
    else:

        @isolation.setter
        def isolation(self, value: str) -> None:
            self._run(set_read_settings(self._session, isolation=CHECKS["isolation"]("isolation", value)))

    @property
    def lock_wait(self) -> int | None:
        """Seconds that a statement waits for another session's lock. 0 = it fails at once, -1 = no limit.

        None if it was not set. Statements then fail at once, which is the server's default. May be set at any time, and
        for one result by ``query(lock_wait=...)``.

        In asyncio it is set by :meth:`set_lock_wait`.
        """
        return lock_wait_of(self._session)

    if ASYNC:

        async def set_lock_wait(self, value: int) -> None:
            """Set :attr:`lock_wait`."""
            await self._run(set_read_settings(self._session, lock_wait=check_value("lock_wait", value)))
    else:

        @lock_wait.setter
        def lock_wait(self, value: int) -> None:
            self._run(set_read_settings(self._session, lock_wait=check_value("lock_wait", value)))

    @contextmanager
    def client_files(self, files: Mapping[str, object]) -> Iterator[None]:
        """Let the statements of a block read and write client files that exist only in memory::

            with conn.client_files({"in": b"...", "out": (written := {})}):
                await conn.execute("INSERT INTO t VALUES (1, filetoblob('in', 'client'))")
                await conn.read_arrow("SELECT lotofile(b, 'out', 'client') FROM t")

        Use this only for SQL that calls FILETOBLOB, FILETOCLOB or LOTOFILE. Otherwise pass bytes or file objects as
        parameters, and read the column. The server gets only what is registered here. No path on this computer is ever
        opened.

        In asyncio this is a plain ``with``, and the use of file objects blocks the event loop.

        Parameters
        ----------
        files
            By the name that the SQL uses: bytes or a readable file object to read from, or a dict or an object with
            ``write()`` to write to. The server adds a suffix to the names of files that it creates. A dict receives
            each file as bytes under its full name. An object with ``write()`` receives one file. Read the result within
            the block.

        Raises
        ------
        InterfaceError
            A value of ``files`` has another type, or a name is already registered.
        OperationalError
            A statement in the block failed: the server requested a name that is not registered, or a file object raised
            an exception.
        """
        if ASYNC:
            self._require_open()
            self._session.files.register(files, self._session.framing.encoding)
        else:
            with self._runner.lock:
                self._require_open()
                self._session.files.register(files, self._session.framing.encoding)
        try:
            yield
        finally:
            if ASYNC:
                self._session.files.forget(list(files))
            else:
                with self._runner.lock:
                    self._session.files.forget(list(files))

    async def _transfer_ownership(self) -> Self:
        """Return the same session as a new connection object, for its next user.

        From now on this object, its cursors and its results raise ``InterfaceError``.
        """
        other = object.__new__(type(self))
        runner = await self._runner.transfer_ownership()
        other.__dict__.update(self.__dict__)
        other._runner = runner
        other.__dict__.pop("_parallel_jobs", None)
        return other

    def _track_parallel(self, job: AsyncPartitionReaders | AsyncParallelLoad) -> None:
        """Register a parallel read or load, so that :meth:`cancel` reaches it."""
        # In one step, as threads may start jobs at the same time; most connections never have any.
        self.__dict__.setdefault("_parallel_jobs", weakref.WeakSet()).add(job)

    async def _run(self, operation: Exchange[T], timeout: float | None = None) -> T:
        return await self._runner.run(operation, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            # After an error closing is enough: the server rolls back, and no second error hides the first.
            if error is None and not self.closed:
                await self.commit()
        finally:
            await self.close()

    def __del__(self) -> None:
        # A finalizer may run at any point, so nothing is sent here. The server rolls back by itself.
        runner: AsyncSessionRunner | None = getattr(self, "_runner", None)
        if runner is not None and not runner.closed:
            text = f"unclosed {self!r}"
            runner.abandon()
            warnings.warn(text, ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        p, state = self._parameters, "closed" if self.closed else "open"
        return f"<informix_arrow.aio.AsyncConnection {p.user}@{p.host}:{p.port}/{self._session.database} {state}>"


async def open_connection(
    parameters: Parameters, kind: type[AsyncConnection] | None = None
) -> AsyncConnection:
    """Log in and return a connection of class ``kind``.

    Without ``kind`` it is an :class:`AsyncConnection`, or the subclass that an integration has registered.
    """
    runner = await AsyncSessionRunner.open(parameters)
    return (kind or connection_class(AsyncConnection))(parameters, runner)


async def open_base_connection(parameters: Parameters) -> AsyncConnection:
    """Log in for internal use: return an :class:`AsyncConnection`, never a subclass of an integration."""
    return await open_connection(parameters, AsyncConnection)


def connect(
    url: str | None = None,
    *,
    host: str | None = None,
    port: int | str | None = None,
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
    server: str | None = None,
    autocommit: bool | None = None,
    connect_timeout: float | None = None,
    read_timeout: float | None = None,
    login_timeout: float | None = None,
    call_timeout: float | None = None,
    keepalive: bool | float | None = None,
    tls: bool | None = None,
    tls_ca: str | PathLike[str] | None = None,
    tls_cert: str | PathLike[str] | None = None,
    tls_key: str | PathLike[str] | None = None,
    tls_pkcs12: str | PathLike[str] | None = None,
    tls_context: SSLContext | None = None,
    tls_verify: bool | None = None,
    tls_hostname: str | None = None,
    pam: Callable[[str, bool], str] | None = None,
    fetch_buffer_size: int | None = None,
    max_reply_bytes: int | None = None,
    client_locale: str | None = None,
    db_locale: str | None = None,
    sqlhosts: str | None = None,
    isolation: str | None = None,
    lock_wait: int | None = None,
    statement_cache_size: int | None = None,
    fetch_window_bytes: int | None = None,
    lob_window_bytes: int | None = None,
    encoding: str | None = None,
    encoding_errors: Literal["strict", "replace", "binary"] | None = None,
    inexact: Inexact | None = None,
    log_parameters: bool | None = None,
    trace: str | PathLike[str] | None = None,
    application: str | None = None,
    env: Mapping[str, str] | None = None,
    **further: Unpack[FurtherKeywords],
) -> AwaitableContext[AsyncConnection]:
    """Open a connection.

    In asyncio, ``conn = await connect(...)``, or ``async with connect(...) as conn``. Wrong arguments raise at once,
    before the ``await``. The event loop resolves host names in a thread of its default executor. Nothing else uses
    threads, and an IP address needs none.

    ``connect("informix://user:pw@host:9088/stores?server=ol_informix")``, or the same as keywords, as a JDBC URL, as an
    ODBC string, or ``connect("stores@ol_informix")`` with a sqlhosts file. Settings are taken in this order: keywords,
    the connection string, environment variables, the sqlhosts file, defaults.

    Parameters
    ----------
    url
        ``informix://[user[:password]@]host[:port][/database][?key=value&...]``. The keys are the keywords below, and
        ``env.NAME`` for a session variable. Special characters are percent-encoded, IPv6 hosts are in square brackets.
        For the other forms see the documentation, "Connecting".
    host, port
        Address of the server. The default port is 9088.
    user, password
        Sent in plain text over the network unless TLS is used.
    database
        Opened at once. May be omitted.
    server
        The server's DBSERVERNAME or an alias; ``INFORMIXSERVER`` by default. Without a host, the address is taken from
        the entry or the group of this name in the sqlhosts file.
    sqlhosts
        Path of that file. The default is ``INFORMIXSQLHOSTS``, else ``INFORMIXDIR/etc/sqlhosts``.
    autocommit
        False by default.
    connect_timeout
        Seconds until the TCP connection is open, including its TLS handshake, and then again until the server replies
        to the login; 15 by default.
    read_timeout
        Maximum seconds without data while waiting for a reply; no limit by default. The connection closes when it
        expires.
    login_timeout
        Seconds until the connection is usable, with all members of a group tried; 30 by default. The time that ``pam``
        takes is not counted.
    call_timeout
        Seconds that each call to the server may take, if the call has no ``timeout`` of its own; no limit by default.
        After that the statement is cancelled on the server, and ``QueryTimeout`` is raised.
    keepalive
        TCP keepalive: True (default) with the settings of the system, False, or seconds without data before the first
        probe.
    tls
        True uses TLS, like ``informixs://``. A sqlhosts entry with ``onsocssl`` and each of the following keywords
        imply it.
    tls_ca
        PEM or PKCS#12 file (``tls_ca_password``) with the CA of the server's certificate, or with the certificate
        itself. The default is the system's CAs.
    tls_cert, tls_key, tls_pkcs12
        A client certificate: PEM files (``tls_key_password``), or a PKCS#12 file (``tls_pkcs12_password``).
    tls_context
        An ``ssl.SSLContext`` instead of all these.
    tls_verify, tls_hostname
        ``tls_verify=False`` disables verification of the server's certificate. ``tls_hostname`` is the name that the
        certificate must have, ``host`` by default.
    pam
        Called with each challenge that the server sends at login, ``pam(prompt, echo)``. Returns the response.
    fetch_buffer_size
        Bytes of rows requested in one fetch, 4096 to 2147483647; ``FET_BUF_SIZE`` or 1 MiB by default. For a server
        without large fetch buffers 32767 is used.
    max_reply_bytes
        Maximum memory for one reply of the server, not counting batches and the contents of large objects: 1 MiB to 1
        GiB, 256 MiB by default. If the server sends more, ``OperationalError`` is raised and the connection is
        closed.
    client_locale, db_locale
        ``CLIENT_LOCALE`` (default ``en_US.utf8``) and ``DB_LOCALE`` of the login. Text always arrives as UTF-8 here:
        the driver asks the database for its code set, and logs in again if that differs from the code set of the login.
        A ``db_locale`` is trusted, as by IBM's JDBC driver, unless the server warns that the database has a different
        one. This saves the query and the second login.
    isolation
        ``"dirty"``, ``"committed"``, ``"last committed"``, ``"cursor stability"`` or ``"repeatable"``. By default the
        server's default.
    lock_wait
        Seconds to wait for a lock. 0 fails at once, -1 waits without limit. By default the server's default, which is
        not to wait.
    statement_cache_size
        Prepared statements that are kept for their next execution, 64 by default. 0 keeps none.
    fetch_window_bytes
        Maximum bytes of rows that are requested ahead while a result is read, 64 MiB by default, at most 1 GiB. The
        longer a round trip takes, the more fetches are sent ahead. 0: a fetch is sent only after the reply to the
        previous one has arrived.
    lob_window_bytes
        Bytes of BYTE, TEXT, BLOB and CLOB contents that are requested, or sent, ahead of their replies; 4 MiB by
        default, at most 256 MiB. 0: each step of each object waits for its reply.
    encoding
        Python codec of text on the wire. It overrides the code set that the database reports, for data that was stored
        under the wrong code set.
    encoding_errors
        How to handle a byte in a result that is not text in the code set: ``"strict"`` (default), ``"replace"`` or
        ``"binary"``. See :meth:`AsyncConnection.query`, which can override it for one read.
    inexact
        How to handle digits of stored values that do not fit a column: ``"error"`` (default), ``"round"`` (halves away
        from zero) or ``"truncate"`` (toward zero). Calls that send values can override it.
    log_parameters
        True: observers, logs and traces contain the values of parameters and of literals in statements, and traces
        contain the values of rows. False by default.
    trace
        Path of a file to which the messages exchanged with the server are appended, without passwords and, unless
        ``log_parameters``, without values. ``python -m informix_arrow.trace FILE`` prints it. None by default.
    application
        Name shown by the server's monitoring, ``informix-arrow`` by default.
    env
        Session variables for the login, such as ``{"PDQPRIORITY": "50"}``.

    Raises
    ------
    InterfaceError
        An argument is unknown (with a suggestion), malformed or missing.
    OperationalError
        The server cannot be reached, or refuses the user, password, server or database name.
    NotSupportedError
        The form of the URL, the server's protocol or the database's code set is not supported.
    """
    parameters = resolve(
        url,
        host=host,
        port=port,
        user=user,
        password=password,
        database=database,
        server=server,
        autocommit=autocommit,
        connect_timeout=connect_timeout,
        read_timeout=read_timeout,
        login_timeout=login_timeout,
        call_timeout=call_timeout,
        keepalive=keepalive,
        tls=tls,
        tls_ca=tls_ca,
        tls_cert=tls_cert,
        tls_key=tls_key,
        tls_pkcs12=tls_pkcs12,
        tls_context=tls_context,
        tls_verify=tls_verify,
        tls_hostname=tls_hostname,
        pam=pam,
        fetch_buffer_size=fetch_buffer_size,
        max_reply_bytes=max_reply_bytes,
        client_locale=client_locale,
        db_locale=db_locale,
        sqlhosts=sqlhosts,
        isolation=isolation,
        lock_wait=lock_wait,
        statement_cache_size=statement_cache_size,
        fetch_window_bytes=fetch_window_bytes,
        lob_window_bytes=lob_window_bytes,
        encoding=encoding,
        encoding_errors=encoding_errors,
        inexact=inexact,
        log_parameters=log_parameters,
        trace=trace,
        application=application,
        env=env,
        **further,
    )
    if ASYNC:
        return AwaitableContext(lambda: open_connection(parameters))
    else:
        return open_connection(parameters)
