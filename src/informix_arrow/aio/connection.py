"""AsyncConnection: one session with a database server, for asyncio, and the function that makes one."""

from __future__ import annotations

import asyncio
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
from ..ingest.batch_sources import AsyncBatchSource, SourceInterrupted
from ..ingest.report import WriteReport
from ..operations.cursor_session_state import isolation_of, lock_wait_of, set_read_settings
from ..operations.fast_path import fast_path_call
from ..operations.io_steps import Exchange
from ..operations.ping import ping
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

    Tasks of one event loop may share it: exchanges with the server run one after the other, in the order in which they
    were asked for, so statements of several tasks interleave, and open results can be read in turns. They share one
    transaction. For statements that run side by side there is :class:`AsyncPool`.

    A task may be cancelled at any ``await`` here. The server is asked to stop, what it still sends is read on
    (5 seconds at most), and then ``CancelledError`` is raised; the connection is usable as before, or closed.
    Everything else is as with :class:`informix_arrow.Connection`: transactions, errors, types.

    ``async with`` commits when the block ends well, rolls back when it raises, and closes.

    Attributes
    ----------
    row_factory
        What the rows of new cursors are made into, ``"tuple"`` by default; see :attr:`AsyncCursor.row_factory`.
    """

    if not ASYNC:
        """One session with a database server. Made by :func:`~informix_arrow.connect`.

        Threads may share it: a lock is held around each exchange with the server, so statements of several
        threads run one after the other, and open results can be read from different threads. They share one
        transaction.

        Transactions: with ``autocommit`` off (the default), the first statement that is not a query opens one in
        a logged database, the first of any kind in an ANSI database, and :meth:`commit` or :meth:`rollback` ends
        it. With ``autocommit`` on, and in unlogged databases, every statement is final. :meth:`transaction` gives
        blocks that can be nested. BEGIN, COMMIT and ROLLBACK WORK typed as SQL are kept track of.

        As a context manager a connection commits when the block ends well, rolls back when it raises, and closes.

        After an error a connection is either usable as before or closed, nothing in between. It closes when the
        network fails, when the server breaks the protocol, when ``read_timeout`` is over, and when an interrupt
        (:meth:`cancel`, ``timeout=``, Ctrl-C) is not answered within 5 seconds: the answer that was on its way would be
        taken for the next one's. The server rolls back then.

        Attributes
        ----------
        row_factory
            What the rows of new cursors are made into, ``"tuple"`` by default; see :attr:`Cursor.row_factory`.
        """

    _runner: AsyncSessionRunner
    _parallel_jobs: (
        weakref.WeakSet[AsyncPartitionReaders | AsyncParallelLoad] | tuple[()]
    ) = ()  # who works by others of its kind

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

        ``await conn.read_arrow("SELECT * FROM orders WHERE day >= ?", (date(2026, 1, 1),))``. Parameters, options
        and errors are those of :meth:`query`, which streams instead.

        With ``partition_on`` or ``partition_num`` the query, or the table of which ``sql`` is the name, is divided by
        ``plan_partitions`` and read by as many connections of their own, 8 at most, opened as this one was. They do not
        see what this one has not committed, nor its TEMP tables, and each sees what is committed when it reads. The
        rows come part by part. :func:`~informix_arrow.partition_read` can do more, and streams.
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
        asked = partition_request(sql, parameters, partition_on=partition_on, partition_num=partition_num)
        result = await read_parts(
            open_base_connection,
            self._reconnect_parameters(),
            asked,
            planner=self,
            ordered=True,
            timeout=timeout,
            options=inherited_read_options(self, options),
            known=self._track_parallel,
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
        isolation: str | None = None,
        lock_wait: int | None = None,
    ) -> AwaitableContext[AsyncResult]:
        """Run a query and stream its rows as Arrow record batches::

            async with conn.query("SELECT * FROM orders WHERE day >= ?", (day,)) as result:
                async for batch in result.batches():
                    ...

        In asyncio also ``result = await conn.query(...)``; wrong arguments are refused at once, before the ``await``.

        Parameters
        ----------
        sql
            One statement that returns rows, with ``?`` for each parameter, or ``:1``, ``:2`` ..., or ``:name``.
        parameters
            One value for each placeholder, a mapping for ``:name``: what :meth:`AsyncCursor.execute` takes, BLOB and
            CLOB contents excepted.
        timeout
            Seconds that running the query, and then the reading of each batch, may take: ``QueryTimeout`` when they
            are over, and the connection stays usable. None (default): the connection's ``call_timeout``.
        batch_bytes
            Target size of one batch, bytes of Arrow buffers, at least 4096 (default 16 MiB). The last batch
            is smaller; a single row larger than this makes a batch of one row. The contents of large objects
            count by themselves: a batch ends where they reach this size, too.
        batch_rows
            Most rows of one batch, at least 1 (default 1,048,576).
        decimals
            DECIMAL(p,s) and MONEY as exact ``"decimal128"`` (default) or as ``"float64"``.
        floating_decimals
            DECIMAL(p) without a scale as ``"float64"`` (default), ``"string"``, or a ``pa.decimal128(p, s)``:
            then exact, or a ``DataError``.
        char_padding
            ``"strip"`` (default) removes the trailing blanks of CHAR and NCHAR, ``"keep"`` keeps them.
        strings
            Text as ``"utf8"`` (default), ``"large"`` (64-bit offsets), ``"view"`` (string views) or
            ``"dictionary"`` (int32 indices, each batch with a dictionary of its own).
        intervals
            ``"native"`` (default): INTERVAL YEAR TO MONTH as int32 months, DAY TO FRACTION as duration[us]
            (beyond 106,751,991 days a ``DataError``); ``"month_day_nano"``: both as Arrow's interval type.
        lobs
            ``"inline"`` (default): TEXT and CLOB as large_utf8, BYTE and BLOB as large_binary, with their
            contents, which are asked for in a second step; ``"skip"`` leaves these columns out of the result.
        nested
            ``"arrow"`` (default): SET, MULTISET and LIST as list, ROW as struct, where the description tells
            the element types; ``"text"``: always as Informix's literal, ``SET{1,2}``. The parsing is Python
            per value.
        encoding_errors
            For a byte that is no text of the database's code set: ``"strict"`` (a ``DataError`` naming row and
            column), ``"replace"`` (U+FFFD in its place), or ``"binary"``: all text columns arrive as bytes,
            unchecked. By default what the connection was opened with, which is ``"strict"`` by default.
        integer_aggregates
            True: DECIMAL without fraction digits, as which Informix gives COUNT(*) and the SUM of integers,
            as int64; beyond its range a ``DataError``. False by default: decimal128.
        isolation, lock_wait
            For this result alone, as :func:`connect` takes them; set back when it ends, is closed or dropped. Two
            results that are read in turns share one session: the one opened last decides for both.

        Returns
        -------
        AsyncResult
            Single use, its schema known at once, also for zero rows.

        Raises
        ------
        ProgrammingError
            The number of parameters is wrong, or the statement returns no rows (it is not executed then), or
            the server refused it; ``sqlcode``, ``isamcode``, ``offset`` and ``near`` are set in the last
            case.
        DataError
            A parameter, or a character of ``sql``, does not exist in the database's code set or does not fit.
        NotSupportedError
            A column has a type that cannot be read; the text names both.
        InterfaceError
            An argument is wrong, or the connection is closed.
        OperationalError
            The server failed or was lost; the text says whether the connection is closed now.

        Notes
        -----
        Types: the mapping table in the documentation. Source: SQLI section 7.
        """
        self._require_open()
        exchange = start_query(
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
            isolation=isolation,
            lock_wait=lock_wait,
        )

        if ASYNC:

            async def open() -> AsyncResult:
                return AsyncResult(self, await self._run(exchange, timeout), timeout)

            return AwaitableContext(open)
        else:
            return AsyncResult(self, self._run(exchange, timeout), timeout)

    async def write_arrow(
        self, table: str, data: Any, *, timeout: float | None = None, **options: Unpack[WriteKeywords]
    ) -> WriteReport:
        """Load Arrow data into a table, by the fastest way that the server has.

        ``await conn.write_arrow("orders", frame)``. Everything about modes, types, transactions and errors is in the
        documentation, "Writing".

        Parameters
        ----------
        table
            ``table``, ``owner.table`` or ``database:owner.table``.
        data
            Anything with ``__arrow_c_stream__`` or ``__arrow_c_array__`` (Polars, pandas, DuckDB, pyarrow), or an
            iterable of record batches. Streamed: memory holds one batch of it and one window.

            In asyncio it is read between awaits while the event loop stands still: memory is at once there, a slow
            iterator is not. An async iterable of record batches is awaited, such as ``result.batches()`` of another
            connection, or an :class:`AsyncResult` itself.

        timeout
            Seconds for the whole load; it is undone when they are over, up to its last commit, and ``QueryTimeout``
            raised. None (default): the connection's ``call_timeout``. So it is when the call is cancelled.
        mode
            ``"append"`` (default); ``"create"``, ``"replace"``, ``"create_append"`` make the table;
            ``"truncate"`` empties it first; ``"upsert"`` updates the rows whose ``key`` is there.
        columns
            None (default): by name. A sequence: the table's columns for those of the data, in order. A mapping:
            from names of the data to names of the table.
        on_error
            ``"abort"`` (default) raises at the first refused row; ``"collect"`` loads the others and returns the
            refused ones in ``report.rejected``.
        commit_every
            None (default): one transaction, all or nothing; inside a transaction that is open already, a part of
            it. A number: commit after so many rows.
        method
            ``"auto"`` (default), ``"put"`` (insert cursor) or ``"pipeline"`` (an execution per row, sent ahead).
        key
            Columns that identify a row, for ``mode="upsert"``.
        primary_key, serial, types, temporary
            For modes that make the table: its key, its self-numbering column, declared types by column name
            (``{"name": "VARCHAR(40)"}``), and whether it is a TEMP table.
        cascade
            True: ``mode="replace"`` may drop a table that foreign keys of other tables refer to, and these with it.
        inexact
            What becomes of digits that a column has no room for: ``"error"`` (default, unless the connection says
            otherwise), ``"round"`` (halves away from zero), ``"truncate"`` (toward zero).
        time_zone
            Convert timestamps that have a zone into the local time of this one, such as ``"Europe/Berlin"``; None
            (default) refuses them.
        connections
            How many connections load, 1 by default: more are opened as this one was, for ``mode`` ``"append"``,
            ``"truncate"`` and ``"upsert"``, outside of transactions. By default all or nothing: each loads a staging
            table, and one transaction takes all of them. With ``commit_every`` each commits so many rows of its own,
            straight into the table. Rows come into the table in any order; ``row`` in errors and rejects is that of
            the data.
        progress
            ``True`` draws a bar on stderr; a function is called with rows, bytes and seconds.
        group_bytes, window_bytes, window_rows, piece_rows
            Bytes of one PUT group (1 MiB), bytes and rows sent ahead of their replies in the pipeline (512 KiB,
            4096), rows converted at a time (65,536). There should be no need to change them.

        Returns
        -------
        WriteReport
            ``rows``, ``rejected``, ``batches``, ``seconds``, ``bytes``, ``method``, ``commits``, ``transaction`` ...

        Raises
        ------
        InterfaceError
            A wrong argument, or data that is no Arrow data; nothing was sent.
        ProgrammingError
            Columns that the table lacks, types that do not fit, a statement that the server refused.
        DataError, IntegrityError
            A row was refused: ``row`` (0-based), ``column``, ``sqlcode`` and ``isamcode`` are set, and the text
            names the row's key.
        OperationalError
            Locks, space, a long transaction, or the connection was lost. The text says what is in the table.
        """
        self._require_open()
        connections = options.pop("connections", 1)
        if not isinstance(connections, int) or isinstance(connections, bool) or connections < 1:
            raise InterfaceError(f"connections must be a whole number of at least 1, got {connections!r}")
        if isinstance(data, AsyncResult) and data._connection is self:
            raise InterfaceError(
                "a result cannot be written through the connection that reads it: read it first (read_all()), or "
                "use another connection"
            )
        if ASYNC:
            if isinstance(data, AsyncResult | AsyncPartitionedResult):
                data = await AsyncBatchSource.open(data.batches(), data.schema)
            elif hasattr(data, "__aiter__"):
                data = await AsyncBatchSource.open(data)
        if connections > 1:
            return await load_parts(
                open_base_connection,
                self,
                self._reconnect_parameters(),
                table,
                data,
                connections=connections,
                timeout=self._runner.call_timeout(timeout),
                options=options,
                known=self._track_parallel,
            )
        with open_write(self._session, table, data, self._parameters.delimident, options) as load:
            if ASYNC:
                try:
                    return await self._run(load.run(), timeout)
                except SourceInterrupted as interruption:
                    raise asyncio.CancelledError from interruption
            else:
                return self._run(load.run(), timeout)

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
        """A new PEP 249 cursor on this connection. Any number may be open at a time.

        Parameters
        ----------
        name
            What ``WHERE CURRENT OF`` calls the cursor's current row. Rows are fetched one by one then.
        scrollable
            True: a :class:`AsyncScrollCursor`, whose rows can be had in any order.
        withhold
            True: its results outlive COMMIT and ROLLBACK.
        row_factory
            ``"tuple"``, ``"namedtuple"``, ``"dict"`` or a function; the connection's by default.
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

    async def fast_path_call(self, signature: str, *arguments: object, timeout: float | None = None) -> Any:
        """Call a routine of the server without SQL; what it returns: None, a value, or a tuple of several.

        ``await conn.fast_path_call("function informix.ifx_lo_close(integer)", descriptor)``. The routine is looked up
        once; a call costs one round trip.

        Parameters
        ----------
        signature
            ``function owner.name(type, ...)`` as the server knows the routine; ``function`` may be left out.
        arguments
            A value for each type, of just that type: nothing is converted. bytes for opaque types, BLOB and CLOB
            locators (72 bytes) among them.

        Raises
        ------
        InterfaceError, ProgrammingError
            This is no signature, or it has another number of types; nothing was sent.
        DataError
            An argument is none of its type; nothing was sent.
        Error
            The server's: -674 when it knows no such routine.
        """
        self._require_open()
        return await self._run(fast_path_call(self._session, signature, arguments), timeout)

    def transaction(
        self, savepoint_name: str | None = None, *, force_rollback: bool = False
    ) -> AsyncTransactionBlock[Self]:
        """A block whose statements are in effect together, or not at all::

            async with conn.transaction():
                await conn.execute("INSERT INTO orders ...")
                async with conn.transaction():            # a savepoint
                    await conn.execute("INSERT INTO items ...")

        In asyncio a cancellation undoes it, too. Statements of other tasks on this connection are part of it: give each
        task a connection of an :class:`AsyncPool`.

        The outermost block is a transaction, with autocommit too: committed when it is left well, rolled back when an
        exception leaves it. A block inside another one, or inside a transaction that is open already, is a savepoint:
        an exception undoes the work since then, and only what surrounds it can commit. Exceptions pass on, except
        :class:`Rollback`, which undoes a block and ends there. :meth:`commit`, :meth:`rollback` and their SQL are
        refused inside.

        Parameters
        ----------
        savepoint_name
            The savepoint's name, when the block is one; made up by default.
        force_rollback
            True: undo the work in any case, for tests.

        Raises
        ------
        NotSupportedError
            The database has no log (when the block is entered).
        """
        return AsyncTransactionBlock(self, savepoint_name, force_rollback)

    async def commit(self) -> None:
        """Make the work of the open transaction permanent; does nothing when none is open.

        Results that were not read to their end are closed by the server.
        """
        await self._run(commit(self._session))

    async def rollback(self) -> None:
        """Undo the work of the open transaction; does nothing when none is open. Closes results as
        :meth:`commit`.
        """
        await self._run(rollback(self._session))

    async def ping(self) -> None:
        """Ask the server for a sign of life, in one round trip that touches nothing.

        Raises ``OperationalError`` when the connection is lost; it is closed then.
        """
        await self._run(ping(self._session))

    def cancel(self) -> None:
        """End the statement that runs now for another task, which gets ``QueryCanceled``; the connection stays usable.

        Nothing happens when none runs. Does not wait.
        """
        if not ASYNC:
            """End the statement that runs now in another thread, by the interrupt that the server knows.

            The call that waits raises ``QueryCanceled`` and the connection stays usable; a call that ended before the
            interrupt came returns as if nothing had been. Without a running statement nothing happens. From any thread,
            signal handlers included.
            """
        self._runner.interrupt()
        for several in tuple(self._parallel_jobs):
            several.cancel()

    async def close(self) -> None:
        """End the session; an open transaction is rolled back. Waits for what runs. May be called again."""
        if not ASYNC:
            """End the session; an open transaction is rolled back. May be called again; other use is an error
            then.
            """
        if ASYNC:
            try:
                await self._runner.close()
            except InterfaceError:  # it is another event loop's
                raise
            except BaseException:
                self._runner.abandon()
                raise
        else:
            self._runner.close()

    @property
    def autocommit(self) -> bool:
        """Whether every statement is final. May be set while no transaction is open (``ProgrammingError`` else).

        In asyncio, not while a statement runs.
        """
        return self._session.autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        if ASYNC:
            self._require_open()
            if self._runner.lock.locked():
                raise InterfaceError("a statement of another task runs: set autocommit before or after it")
            self._session.autocommit = self._check_autocommit(value)
        else:
            with self._runner.lock:
                self._require_open()
                self._session.autocommit = self._check_autocommit(value)

    @property
    def isolation(self) -> str | None:
        """How reads see the work of others: ``"dirty"``, ``"committed"``, ``"last committed"``, ``"cursor stability"``
        or ``"repeatable"``; None when nobody has set it: committed read in a logged database, dirty read in an unlogged
        one, repeatable read in an ANSI one. May be set at any time, and for one result by ``query(isolation=...)``.

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
        """Seconds that a statement waits for another session's lock; 0 = it fails at once, -1 = for ever; None when
        nobody has set it: it fails at once. May be set at any time, and for one result by ``query(lock_wait=...)``.

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
        """Let the statements of a block read and write "files" of this side that are no files::

            with conn.client_files({"in": b"...", "out": (made := {})}):
                await conn.execute("INSERT INTO t VALUES (1, filetoblob('in', 'client'))")
                await conn.read_arrow("SELECT lotofile(b, 'out', 'client') FROM t")

        Only for SQL that calls FILETOBLOB, FILETOCLOB or LOTOFILE itself: bytes and file objects as
        parameters, and reading the column, do the same with less. The server gets what is registered here and
        nothing else; no path of this computer is ever opened.

        In asyncio this is a plain ``with``, and file objects are used while the event loop stands still.

        Parameters
        ----------
        files
            By the name that the SQL uses: bytes or a readable file object to be read; a dict or an object
            with ``write()`` to be written. The server adds a suffix to the names of files that it makes: a
            dict gets each file as bytes under its full name, an object takes one file. Read the result within
            the block.

        Raises
        ------
        InterfaceError
            A value is none of these, or a name is in use.
        OperationalError
            From a statement in the block: the server asked for another name, or an object failed.
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
        """The same connection as another object, for its next holder: this one is refused from now on, and with it its
        cursors and results."""
        other = object.__new__(type(self))
        link = await self._runner.transfer_ownership()
        other.__dict__.update(self.__dict__)
        other._runner = link
        other.__dict__.pop("_parallel", None)
        return other

    def _track_parallel(self, several: AsyncPartitionReaders | AsyncParallelLoad) -> None:
        """Let :meth:`cancel` reach them."""
        # In one step, for threads that begin such work at the same time; few connections ever have any.
        self.__dict__.setdefault("_parallel", weakref.WeakSet()).add(several)

    async def _run(self, exchange: Exchange[T], timeout: float | None = None) -> T:
        return await self._runner.run(exchange, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            # After an error closing is enough: the server rolls back, and nothing can hide the error.
            if error is None and not self.closed:
                await self.commit()
        finally:
            await self.close()

    def __del__(self) -> None:
        # Nothing is sent here: a finalizer may run in the middle of anything. The server rolls back by itself.
        link: AsyncSessionRunner | None = getattr(self, "_runner", None)
        if link is not None and not link.closed:
            text = f"unclosed {self!r}"
            link.abandon()
            warnings.warn(text, ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        p, state = self._parameters, "closed" if self.closed else "open"
        return f"<informix_arrow.aio.AsyncConnection {p.user}@{p.host}:{p.port}/{self._session.database} {state}>"


async def open_connection(
    parameters: Parameters, kind: type[AsyncConnection] | None = None
) -> AsyncConnection:
    """Log in. What is made is of ``kind``; without one an :class:`AsyncConnection`, or the subclass of it that an
    integration wants.
    """
    link = await AsyncSessionRunner.open(parameters)
    return (kind or connection_class(AsyncConnection))(parameters, link)


async def open_base_connection(parameters: Parameters) -> AsyncConnection:
    """Log in, for work behind the scenes: what is made is of no integration's class."""
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

    In asyncio, ``conn = await connect(...)``, or ``async with connect(...) as conn``; wrong arguments are refused at
    once, before the ``await``. A host's name is resolved by the event loop, which asks the operating system in a
    thread of its default executor; nothing else uses threads, and an IP address needs none.

    ``connect("informix://user:pw@host:9088/stores?server=ol_informix")``, or the same as keywords, as a JDBC URL, as an
    ODBC string, or ``connect("stores@ol_informix")`` through a sqlhosts file. A keyword overrules the string, the
    string the environment, the environment the sqlhosts file, and that the default.

    Parameters
    ----------
    url
        ``informix://[user[:password]@]host[:port][/database][?key=value&...]``; the keys are the keywords
        below, and ``env.NAME`` for a session variable. Special characters are percent-encoded, IPv6 hosts in
        square brackets. For the other forms see the documentation, "Connecting".
    host, port
        Where the server listens; port 9088 by default.
    user, password
        Sent in plain text over the network unless TLS is used.
    database
        Opened at once; may be left out.
    server
        The server's DBSERVERNAME or an alias; ``INFORMIXSERVER`` by default. Without a host, the entry or the group
        of this name in the sqlhosts file tells where it is.
    sqlhosts
        Path of that file; ``INFORMIXSQLHOSTS``, else ``INFORMIXDIR/etc/sqlhosts`` by default.
    autocommit
        False by default.
    connect_timeout
        Seconds until the TCP connection stands, its TLS handshake included, and then again until the login is
        answered; 15 by default.
    read_timeout
        Seconds of silence borne while an answer is awaited; no limit by default. The connection closes when
        it is over.
    login_timeout
        Seconds for everything until the connection can be used, all members of a group tried; 30 by default. What
        ``pam`` takes to answer does not count.
    call_timeout
        Seconds that each call may take which talks to the server, where it has no ``timeout`` of its own; no limit by
        default. When they are over the statement is ended on the server, and ``QueryTimeout`` raised.
    keepalive
        TCP keepalive: True (default) as the system has it, False, or seconds of silence before the first probe.
    tls
        True speaks TLS, as ``informixs://`` does; so do a sqlhosts entry with ``onsocssl`` and any of the following.
    tls_ca
        PEM or PKCS#12 file (``tls_ca_password``) with the CA of the server's certificate, or with that itself; the
        system's CAs by default.
    tls_cert, tls_key, tls_pkcs12
        A certificate of the client: PEM files (``tls_key_password``), or one of PKCS#12 (``tls_pkcs12_password``).
    tls_context
        An ``ssl.SSLContext`` instead of all these.
    tls_verify, tls_hostname
        False does not ask who is at the other end. The name that the certificate must have, ``host`` by default.
    pam
        Called with the questions of a server that asks some at login, ``pam(prompt, echo)``; returns the answer.
    fetch_buffer_size
        Bytes of rows asked for in one fetch, 4096 to 2147483647; ``FET_BUF_SIZE`` or 1 MiB by default. A
        server without large fetch buffers gets 32767.
    max_reply_bytes
        What one reply of the server may take here, beyond batches and the contents of large objects: 1 MiB to 1 GiB,
        256 MiB by default. A server that sends more is out of step or means harm: ``OperationalError``, and the
        connection is closed.
    client_locale, db_locale
        ``CLIENT_LOCALE`` (default ``en_US.utf8``) and ``DB_LOCALE`` of the login. Text always arrives as
        UTF-8 here: the database is asked for its code set, and when that differs from the login's, the login is
        repeated. A ``db_locale`` is believed, as by IBM's JDBC driver, unless the server warns that the database
        has another: it saves the question and the second login.
    isolation
        ``"dirty"``, ``"committed"``, ``"last committed"``, ``"cursor stability"`` or ``"repeatable"``; the server's
        default by default.
    lock_wait
        Seconds to wait for a lock; 0 fails at once, -1 waits for ever; the server's default (not to wait) by default.
    statement_cache_size
        Prepared statements that are kept for their next execution, 64 by default; 0 keeps none.
    lob_window_bytes
        Bytes of BYTE, TEXT, BLOB and CLOB contents that are asked for, or sent, ahead of their answers, 4 MiB by
        default; to 256 MiB. 0: each step of each object waits for its answer.
    encoding
        Python codec of text on the wire, overruling what the database says about its code set: for data that
        was stored under a wrong label.
    encoding_errors
        What happens to a byte that is no text of the code set, in results: ``"strict"`` (default),
        ``"replace"`` or ``"binary"``; see :meth:`AsyncConnection.query`, which can say otherwise for one read.
    inexact
        What becomes of digits that a column has no room for, in values that are stored: ``"error"`` (default),
        ``"round"`` (halves away from zero) or ``"truncate"`` (toward zero). Calls that send values can say otherwise.
    log_parameters
        True: observers, logs and a trace see values, those of parameters and literals in statements, and a trace those
        of rows; False by default.
    trace
        Path of a file to which the dialogue with the server is added, message by message, without passwords and, unless
        ``log_parameters``, without values; ``python -m informix_arrow.trace FILE`` prints it. None by default.
    application
        Name shown by the server's monitoring, ``informix-arrow`` by default.
    env
        Session variables for the login, such as ``{"PDQPRIORITY": "50"}``.

    Raises
    ------
    InterfaceError
        An argument is unknown (with a suggestion), malformed or missing.
    OperationalError
        The server cannot be reached, or refuses user, password, server or database name.
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
