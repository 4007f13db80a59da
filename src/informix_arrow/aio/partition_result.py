"""Tables and queries in parts, read by several connections at the same time."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import pyarrow as pa

from ..core.async_flag import ASYNC
from ..core.awaitable_context import AwaitableContext
from ..core.connection_protocol import AsyncConnectionProtocol
from ..core.ordered_merge import DEFAULT_BUDGET, MAX_CONNECTIONS, MemoryBudget, OrderedMergeQueue
from ..core.read_options import ReadKeywords
from ..core.signals import AsyncSignal
from ..core.worker_group import POLL_SECONDS, WorkStopped, prefix_error
from ..dsn import Parameters
from ..operations.cursor_session_state import isolation_of, lock_wait_of
from ..partition.partition import Partition
from ..partition.planner import By, PartitionRequest, partition_request, plan
from ..rows.parameters import Values
from ..wire.errors import Error, InterfaceError, OperationalError, QueryCanceled
from .result import AsyncResult

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

Consistency: TypeAlias = Literal["none", "last committed", "lock"]
CONSISTENCIES = ("none", "last committed", "lock")


class AsyncReadConnection(AsyncConnectionProtocol, Protocol):
    """A connection, as far as it is needed to read parts."""

    autocommit: bool

    def query(
        self,
        sql: str,
        parameters: Values = (),
        *,
        timeout: float | None = None,
        **options: Unpack[ReadKeywords],
    ) -> AwaitableContext[AsyncResult]: ...

    async def execute(self, operation: str) -> object: ...

    async def commit(self) -> None: ...

    def cancel(self) -> None: ...

    async def close(self) -> None: ...


AsyncOpen: TypeAlias = Callable[[Parameters], Awaitable[AsyncReadConnection]]


async def plan_partitions(
    conn: AsyncConnectionProtocol,
    table_or_query: str,
    partition_on: str | None = None,
    partition_num: int | None = None,
    partition_range: tuple[Any, Any] | None = None,
    by: By = "auto",
    *,
    parameters: Values = (),
    timeout: float | None = None,
) -> list[Partition]:
    """Divide a table or a query into parts that can be read by themselves, on any connection::

        for part in await plan_partitions(conn, "orders", "order_num", 8):
            await read_somewhere(part.sql, part.parameters)

    The parts together hold each row exactly once, whatever its key is, NULL among them. What is read when, and whether
    rows that others change meanwhile are seen, is up to the sessions that read.

    Parameters
    ----------
    conn
        An open connection.
    table_or_query
        ``table``, ``owner.table``, ``database:owner.table``, or a SELECT that gives the same rows each time, whose
        columns have names.
    partition_on
        The column to divide by; in its own words a query's column too. None (default): chosen by ``by``.
    partition_num
        How many parts, 1 to 10,000; there may be fewer. None (default): 4, and for fragments one for each.
    partition_range
        Lowest and highest value of ``partition_on``, also as text. It sets equal strides only: the outer parts are
        open, no row is left out. None (default): asked of the server.
    by
        ``"fragment"``: by the expressions of a fragmented table (expression, list, interval).
        ``"range"``: ranges of integers, SERIAL, DATE, DATETIME, DECIMAL and MONEY with a scale, in equal strides, or,
        where a sample of the table shows that these would be uneven, between its quantiles; of texts always between
        quantiles, in the server's collation.
        ``"rowid"``: ranges of pages, for tables that are not fragmented.
        ``"mod"``: by the remainder of a division, for whole numbers; the server reads everything for each part.
        ``"auto"`` (default): ``range`` with ``partition_on``, else the first of these that there is: fragments with
        expressions, a single-column key of numbers or dates, rowids, one part. :attr:`Partition.reason` says why.
    parameters
        Values for the placeholders of a query.
    timeout
        Seconds for the whole; None (default): the connection's ``call_timeout``.

    Returns
    -------
    list of Partition
        At least one.

    Raises
    ------
    InterfaceError
        A wrong argument: a column that is not there or cannot be divided, bounds that are none of its values, a way
        that the table has not.
    NotSupportedError
        ``by="fragment"`` for a table whose fragments cannot be addressed, such as those by round robin.
    ProgrammingError
        The server refused the table or the query.
    """
    conn._require_open()
    asked = partition_request(
        table_or_query,
        parameters,
        partition_on=partition_on,
        partition_num=partition_num,
        partition_range=partition_range,
        by=by,
    )
    return await conn._run(plan(conn._session, asked, conn._parameters.delimident), timeout)


class AsyncPartitionedResult:
    """The rows of a table or query that several connections read, streamed, to be read once. Made by
    :func:`partition_read`.

    ``async for batch in result.batches()``, or ``await result.read_all()``. It is used like an :class:`AsyncResult`.
    When a task is cancelled while it reads, all parts are ended on the server, and the result is over.
    """

    if not ASYNC:
        """The rows of a table or query that several connections read, streamed, to be read once. Made by
        :func:`~informix_arrow.partition_read`.

        It is used like a :class:`Result`: hand it to whatever takes an Arrow stream, or use :meth:`batches` or
        :meth:`read_all`. Parts are read ahead, in threads, as far as the memory budget goes, whether or not anybody
        takes their batches. :meth:`close` it, or use ``with``: until then the connections stay open.
        """

    def __init__(self, readers: AsyncPartitionReaders, schema: pa.Schema) -> None:
        self._readers = readers
        self._schema = schema
        self._claimed = False

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema: known at once, the same for every batch of every part."""
        return self._schema

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """What is read."""
        return self._readers.partitions

    @property
    def connections(self) -> int:
        """How many connections read."""
        return self._readers.memory_budget.connections

    def batches(self) -> AsyncIterator[pa.RecordBatch]:
        """Iterate over the record batches, by ``async for``: as they come, or in the order of the parts.

        Raises
        ------
        InterfaceError
            The result was read or closed before; at once, not at the first step.
        Error
            The first error of any part, whose text names the part. All others are ended on the server then, and every
            further step is an ``InterfaceError``.
        QueryCanceled
            After :meth:`cancel`.
        """
        if self._claimed:
            raise InterfaceError("the result was read or closed already: its rows are streamed and gone")
        self._claimed = True
        return _Batches(self)

    async def read_all(self) -> pa.Table:
        """Read all rows into one table. Errors as :meth:`batches`."""
        if ASYNC:
            batches = [batch async for batch in self.batches()]
        else:
            batches = list(self.batches())
        return pa.Table.from_batches(batches, self._schema)

    def cancel(self) -> None:
        """End the statements of all parts; whoever reads gets ``QueryCanceled``. Does not wait.

        In asyncio from within the event loop, else from any thread, signal handlers included.
        """
        self._readers.cancel()

    async def close(self) -> None:
        """End what is still read, and close the connections. May be called again."""
        self._claimed = True
        await self._readers.end()

    if not ASYNC:

        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            """Export the rows as an Arrow C stream; an error while reading reaches the consumer as text."""
            reader = pa.RecordBatchReader.from_batches(self._schema, self.batches())
            return reader.__arrow_c_stream__(requested_schema)

        def __arrow_c_schema__(self) -> Any:
            """Export the schema; the rows stay untouched."""
            return self._schema.__arrow_c_schema__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        readers: AsyncPartitionReaders | None = getattr(self, "_readers", None)
        if readers is not None and not readers.ended:
            readers.merge_queue.worker_group.stopped = True  # the readers see it: no lock may be taken here
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        state = "read" if self._claimed else "unread"
        count = len(self._readers.partitions)
        of = f"{count} parts by {self.connections} connections"
        return f"<informix_arrow.aio.AsyncPartitionedResult of {of}, {state}>"


class _Batches:
    """Hands out the batches."""

    def __init__(self, result: AsyncPartitionedResult) -> None:
        self._result = result
        self._failed: BaseException | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> pa.RecordBatch:
        readers = self._result._readers
        core = readers.merge_queue
        if self._failed is not None:
            raise InterfaceError(
                "reading this result failed before: rows were lost; read it again"
            ) from self._failed
        try:
            while True:
                signal = AsyncSignal()
                batch = None if core.worker_group.stopped else core.next_batch(signal)
                if batch is not None:
                    return batch
                if core.is_finished:
                    break
                await signal.wait(POLL_SECONDS)
            whole = core.all_read and not core.worker_group.stopped
            await readers.end()
            if core.worker_group.failure is not None:
                raise core.worker_group.failure
            if core.worker_group.canceled:
                raise _canceled_error()
            if not whole:
                raise InterfaceError("the result was closed while it was being read")
        except BaseException as error:
            self._failed = error
            await readers.end()
            raise
        raise StopAsyncIteration


class AsyncPartitionReaders:
    """Several connections that read parts: what their threads or tasks hold, so that the result can be dropped."""

    def __init__(
        self,
        parts: Sequence[Partition],
        open: AsyncOpen,
        settings: Parameters,
        shares: MemoryBudget,
        *,
        ordered: bool,
        timeout: float | None,
        options: ReadKeywords,
        keeper: AsyncReadConnection | None = None,
    ) -> None:
        self.partitions = tuple(parts)
        self.memory_budget = shares
        self.merge_queue = OrderedMergeQueue(
            self.partitions, shares.connections, shares.queue_bytes, ordered=ordered
        )
        self.ended = False  # somebody has seen to it that nobody reads any more
        self._open = open
        self._settings = settings
        self._timeout = timeout
        self._options = options
        self._keeper = keeper  # holds a lock for as long as parts are read
        self._reading: set[AsyncReadConnection] = set()
        self._schema: pa.Schema | None = None
        if ASYNC:
            self._tasks: set[asyncio.Task[None]] = set()
        else:
            self._threads: list[threading.Thread] = []

    async def start(self, connection: AsyncReadConnection | None) -> pa.Schema:
        """Begin with the first part here and now, on a connection that is there already or a new one: its schema is
        that of all. The others connect and read in the background.
        """
        connection = connection or await self._open(self._settings)
        try:
            self._reading.add(connection)  # from here on it can be cancelled
            first = self.merge_queue.claim()
            assert first is not None
            try:
                result = await self._open_part(connection, first)
            except Error as error:
                prefix_error(error, self.partitions[first].name)
                raise
        except BaseException as error:
            self.merge_queue.stop()
            await _close_quietly(connection)
            if isinstance(error, WorkStopped):
                raise _canceled_error() from None
            raise
        self._schema = result.schema
        self._spawn(connection, first, result)
        for _ in range(1, self.memory_budget.connections):
            self._spawn(None, None, None)
        return result.schema

    def cancel(self) -> None:
        """End all, and say so to whoever reads."""
        crew = self.merge_queue.worker_group
        crew.canceled = crew.stopped = True
        self._interrupt()

    async def end(self) -> None:
        """Stop whoever is still at work, and wait for that."""
        self.ended = True
        if ASYNC:
            if not self.merge_queue.all_read:
                self.merge_queue.stop()
                for task in self._tasks:
                    task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
        else:
            whole = self.merge_queue.all_read
            if not whole:
                self.merge_queue.stop()
            while self.merge_queue.worker_group.has_active_workers(signal := AsyncSignal()):
                if not whole:
                    self._interrupt()  # again: it may have come between two requests
                signal.wait(POLL_SECONDS)

    def _interrupt(self) -> None:
        for connection in tuple(self._reading):
            connection.cancel()

    def _spawn(
        self, connection: AsyncReadConnection | None, part: int | None, result: AsyncResult | None
    ) -> None:
        if ASYNC:
            task = asyncio.create_task(self._read(connection, part, result))
            self._tasks.add(task)
        else:
            thread = threading.Thread(target=self._read, args=(connection, part, result), daemon=True)
            self._threads.append(thread)
            thread.start()

    async def _read(
        self, connection: AsyncReadConnection | None, part: int | None, result: AsyncResult | None
    ) -> None:
        """What one reader does: a part after the other, until there is none left."""
        core = self.merge_queue
        try:
            if connection is None:
                connection = await self._connect()
            self._reading.add(connection)
            part = core.claim() if part is None else part
            while part is not None:
                result = result or await self._open_part(connection, part)
                async with result:
                    async for batch in result.batches():
                        while not core.put(part, batch, signal := AsyncSignal()):
                            await signal.wait(POLL_SECONDS)
                            if core.worker_group.stopped:
                                raise WorkStopped
                        del batch
                core.mark_read(part)
                part, result = core.claim(), None
        except WorkStopped:
            pass
        except BaseException as error:  # noqa: BLE001 - whoever reads the result raises it
            core.worker_group.fail(
                prefix_error(error, self.partitions[part].name if part is not None else "another connection")
            )
            self._interrupt()
        finally:
            if connection is not None:
                self._reading.discard(connection)
                await _close_quietly(connection)
            if core.reader_exiting() and self._keeper is not None:
                await _close_quietly(self._keeper)
            core.worker_group.worker_exited()

    async def _connect(self) -> AsyncReadConnection:
        self.merge_queue.worker_group.change_connecting(1)
        connection = None
        try:
            connection = await self._open(self._settings)
            return connection
        finally:
            try:
                self.merge_queue.worker_group.change_connecting(-1)
            except WorkStopped:
                if connection is not None:
                    await _close_quietly(connection)
                raise

    async def _open_part(self, connection: AsyncReadConnection, number: int) -> AsyncResult:
        part = self.partitions[number]
        result = await connection.query(part.sql, part.parameters, timeout=self._timeout, **self._options)
        if self.merge_queue.worker_group.stopped:
            await result.close()
            raise WorkStopped
        if self._schema is not None and result.schema != self._schema:
            await result.close()
            raise OperationalError(
                "its columns are others than those of the first part: the table was changed"
            )
        return result


async def read_parts(
    open: AsyncOpen,
    settings: Parameters,
    asked: PartitionRequest,
    *,
    planner: AsyncReadConnection | None = None,
    connections: int | None = None,
    ordered: bool = False,
    memory_budget: int = DEFAULT_BUDGET,
    consistency: Consistency = "none",
    timeout: float | None = None,
    options: ReadKeywords,
    known: Callable[[AsyncPartitionReaders], object] = lambda readers: None,
) -> AsyncPartitionedResult:
    """Plan on ``planner``, or on a connection made for it, and begin to read.

    ``open`` makes connections; ``known`` is told who reads before they begin.
    """
    if consistency not in CONSISTENCIES:
        raise InterfaceError(
            f"consistency must be one of {', '.join(map(repr, CONSISTENCIES))}, got {consistency!r}"
        )
    if connections is not None and (not isinstance(connections, int) or connections < 1):
        raise InterfaceError(f"connections must be a whole number of at least 1, got {connections!r}")
    if consistency == "lock" and asked.table is None:
        raise InterfaceError("consistency='lock' locks a table, and this is a query: name the table")
    if consistency == "last committed":
        if options.get("isolation") not in (None, "last committed"):
            raise InterfaceError("consistency='last committed' is an isolation: leave isolation out")
        options = {**options, "isolation": "last committed"}
    keeper: AsyncReadConnection | None = None
    new_planner: AsyncReadConnection | None = None
    try:
        if consistency == "lock":
            keeper = await open(settings)
            keeper.autocommit = False
            await keeper.execute(f"LOCK TABLE {asked.text} IN SHARE MODE")
        if planner is None:
            planner = new_planner = keeper or await open(settings)
        parts = await planner._run(plan(planner._session, asked, settings.delimident), timeout)
        count = min(len(parts), connections or MAX_CONNECTIONS)
        shares = MemoryBudget.divide(
            memory_budget, count, options.get("batch_bytes", 16 << 20), settings.fetch_buffer_size
        )
        readers = AsyncPartitionReaders(
            parts,
            open,
            replace(settings, fetch_buffer_size=shares.fetch_bytes),
            shares,
            ordered=ordered,
            timeout=timeout,
            options={**options, "batch_bytes": shares.batch_bytes},
            keeper=keeper,
        )
        known(readers)
        first, new_planner = (None if new_planner is keeper else new_planner), None
        return AsyncPartitionedResult(readers, await readers.start(first))
    except BaseException:
        for connection in {new_planner, keeper} - {None}:
            assert connection is not None
            await _close_quietly(connection)
        raise


def inherited_read_options(connection: AsyncConnectionProtocol, options: ReadKeywords) -> ReadKeywords:
    """Options of reads that see what this connection would see, but for its own uncommitted work."""
    session = connection._session
    isolation, lock_wait = isolation_of(session), lock_wait_of(session)
    own: ReadKeywords = {}
    if isolation is not None:
        own["isolation"] = isolation
    if lock_wait is not None:
        own["lock_wait"] = lock_wait
    return {**own, **options}


def _canceled_error() -> QueryCanceled:
    return QueryCanceled("the parallel read was cancelled")


async def _close_quietly(connection: AsyncReadConnection) -> None:
    """Close a connection that has done its work; it is gone, whatever the server says to that."""
    with suppress(Error):
        await connection.close()
