"""Partitioned reads: the parts of a table or query, read over several connections at the same time."""

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
    """The parts of a connection that are needed to read partitions."""

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
    """Divide a table or a query into parts that can be read independently, on any connection::

        for part in await plan_partitions(conn, "orders", "order_num", 8):
            await read_somewhere(part.sql, part.parameters)

    Together the parts contain each row exactly once, even if its key is NULL. Which concurrent changes a part contains
    depends on when its session reads it, and on the isolation of that session.

    Parameters
    ----------
    conn
        An open connection.
    table_or_query
        ``table``, ``owner.table``, ``database:owner.table``, or a SELECT. The SELECT must return the same rows each
        time, and its columns must have names.
    partition_on
        The column to divide by, which may also be a column of the query. None (default): chosen by ``by``.
    partition_num
        Number of parts, 1 to 10,000. There may be fewer. None (default): 4, and one for each fragment with
        ``by="fragment"``.
    partition_range
        Lowest and highest value of ``partition_on``. They may be given as text. They only determine how wide the parts
        are. The first and the last part have no outer bound, so no row is left out. None (default): the driver queries
        them.
    by
        ``"fragment"``: by the expressions of a fragmented table (expression, list, interval).
        ``"range"``: ranges of integers, SERIAL, DATE, DATETIME, and of DECIMAL and MONEY with a scale. The strides are
        equal, or run between quantiles if a sample of the table shows that equal strides would be uneven. Text is
        always divided at quantiles, in the server's collation.
        ``"rowid"``: ranges of pages, for tables that are not fragmented.
        ``"mod"``: by the remainder of a division, for integers. The server reads everything for each part.
        ``"auto"`` (default): ``range`` with ``partition_on``, else the first of these that is possible: fragments with
        expressions, a single-column key of numbers or dates, rowids, one part. :attr:`Partition.reason` says why.
    parameters
        Values for the placeholders of a query.
    timeout
        Seconds for the whole call. None (default): the connection's ``call_timeout``.

    Returns
    -------
    list of Partition
        At least one.

    Raises
    ------
    InterfaceError
        An argument is wrong: a column that does not exist or cannot be divided, bounds that are not values of the
        column, or a ``by`` that is not possible for the table.
    NotSupportedError
        ``by="fragment"`` for a table whose fragments cannot be addressed, such as round robin.
    ProgrammingError
        The server refused the table or the query.
    """
    conn._require_open()
    request = partition_request(
        table_or_query,
        parameters,
        partition_on=partition_on,
        partition_num=partition_num,
        partition_range=partition_range,
        by=by,
    )
    return await conn._run(plan(conn._session, request, conn._parameters.delimident), timeout)


class AsyncPartitionedResult:
    """The rows of a table or query, read over several connections, streamed. Made by :func:`partition_read`.

    Use ``async for batch in result.batches()``, or ``await result.read_all()``. It can be read once, like
    :class:`AsyncResult`. If a task is cancelled while it reads, all parts are cancelled on the server, and the result
    cannot be read further.
    """

    if not ASYNC:
        """The rows of a table or query, read over several connections, streamed. Made by
        :func:`~informix_arrow.partition_read`.

        It can be read once, like a :class:`Result`: pass it to any consumer of an Arrow stream, or use :meth:`batches`
        or :meth:`read_all`. Threads read parts ahead, up to the memory budget, even if no batch is taken. :meth:`close`
        it, or use ``with``. Until then the connections stay open.
        """

    def __init__(self, readers: AsyncPartitionReaders, schema: pa.Schema) -> None:
        self._readers = readers
        self._schema = schema
        self._claimed = False

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema. It is known at once and the same for every batch of every part."""
        return self._schema

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """The parts that are read."""
        return self._readers.partitions

    @property
    def connections(self) -> int:
        """Number of connections that read."""
        return self._readers.memory_budget.connections

    def batches(self) -> AsyncIterator[pa.RecordBatch]:
        """Iterate over the record batches with ``async for``, in the order of their arrival or in the order of the
        parts.

        Raises
        ------
        InterfaceError
            The result was already read or closed. Raised at once, not at the first step.
        Error
            The first error of any part. Its text names the part. All other parts are then cancelled on the server, and
            every further step raises ``InterfaceError``.
        QueryCanceled
            After :meth:`cancel`.
        """
        if self._claimed:
            raise InterfaceError(
                "The result was already read or closed. Its rows are not kept. Run the query again."
            )
        self._claimed = True
        return _Batches(self)

    async def read_all(self) -> pa.Table:
        """Read all rows into one table. Errors are those of :meth:`batches`."""
        if ASYNC:
            batches = [batch async for batch in self.batches()]
        else:
            batches = list(self.batches())
        return pa.Table.from_batches(batches, self._schema)

    def cancel(self) -> None:
        """Cancel the statements of all parts. The reading call raises ``QueryCanceled``. Does not wait.

        May be called from any thread and from signal handlers.

        In asyncio, call it only in the thread of the event loop.
        """
        self._readers.cancel()

    async def close(self) -> None:
        """Cancel what is still being read, and close the connections. Closing twice is safe."""
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
            readers.merge_queue.worker_group.stopped = (
                True  # without the lock, which a finalizer must not take
            )
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        state = "read" if self._claimed else "unread"
        count = len(self._readers.partitions)
        of = f"{count} parts by {self.connections} connections"
        return f"<informix_arrow.aio.AsyncPartitionedResult of {of}, {state}>"


class _Batches:
    """Iterates over the batches of a partitioned result."""

    def __init__(self, result: AsyncPartitionedResult) -> None:
        self._result = result
        self._failed: BaseException | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> pa.RecordBatch:
        readers = self._result._readers
        queue = readers.merge_queue
        if self._failed is not None:
            raise InterfaceError(
                "Reading this result failed before, and rows were lost. Run the query again."
            ) from self._failed
        try:
            while True:
                signal = AsyncSignal()
                batch = None if queue.worker_group.stopped else queue.next_batch(signal)
                if batch is not None:
                    return batch
                if queue.is_finished:
                    break
                await signal.wait(POLL_SECONDS)
            complete = queue.all_read and not queue.worker_group.stopped
            await readers.end()
            if queue.worker_group.failure is not None:
                raise queue.worker_group.failure
            if queue.worker_group.canceled:
                raise _canceled_error()
            if not complete:
                raise InterfaceError("The result was closed while it was being read.")
        except BaseException as error:
            self._failed = error
            await readers.end()
            raise
        raise StopAsyncIteration


class AsyncPartitionReaders:
    """Several connections that read the parts of one partitioned result.

    The threads or tasks hold this object and not the result, so that the result can be dropped while they run.
    """

    def __init__(
        self,
        parts: Sequence[Partition],
        open: AsyncOpen,
        settings: Parameters,
        budget: MemoryBudget,
        *,
        ordered: bool,
        timeout: float | None,
        options: ReadKeywords,
        lock_holder: AsyncReadConnection | None = None,
    ) -> None:
        self.partitions = tuple(parts)
        self.memory_budget = budget
        self.merge_queue = OrderedMergeQueue(
            self.partitions, budget.connections, budget.queue_bytes, ordered=ordered
        )
        self.ended = False  # end() was called: no reader runs any more
        self._open = open
        self._settings = settings
        self._timeout = timeout
        self._options = options
        self._lock_holder = lock_holder  # holds the lock while parts are read
        self._reading: set[AsyncReadConnection] = set()
        self._schema: pa.Schema | None = None
        if ASYNC:
            self._tasks: set[asyncio.Task[None]] = set()
        else:
            self._threads: list[threading.Thread] = []

    async def start(self, connection: AsyncReadConnection | None) -> pa.Schema:
        """Open the first part, start all readers, and return the schema of the first part, which all parts must have.

        The first part is read on ``connection`` if there is one. The other readers connect and read in the background.
        """
        connection = connection or await self._open(self._settings)
        try:
            self._reading.add(connection)  # from here on cancel() reaches it
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
        try:
            self._spawn(connection, first, result)
            for _ in range(1, self.memory_budget.connections):
                self._spawn(None, None, None)
        except BaseException:  # Ctrl-C, or there are too many threads
            self.merge_queue.worker_group.drop_unstarted()
            await self.end()
            if connection in self._reading:  # its reader did not begin
                await _close_quietly(connection)
            raise
        return result.schema

    def cancel(self) -> None:
        """Cancel all parts. The reading call raises ``QueryCanceled``."""
        group = self.merge_queue.worker_group
        group.canceled = group.stopped = True
        self._interrupt()

    async def end(self) -> None:
        """Stop the readers that still work, and wait until they have ended."""
        self.ended = True
        if ASYNC:
            if not self.merge_queue.all_read:
                self.merge_queue.stop()
                for task in self._tasks:
                    task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
        else:
            complete = self.merge_queue.all_read
            if not complete:
                self.merge_queue.stop()
            while self.merge_queue.worker_group.has_active_workers(signal := AsyncSignal()):
                if not complete:
                    self._interrupt()  # again: the first interrupt may have come between two requests
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
        """Run one reader: read one part after the other until none is left."""
        queue = self.merge_queue
        if not queue.worker_group.worker_started():
            return
        try:
            if connection is None:
                connection = await self._connect()
            self._reading.add(connection)
            part = queue.claim() if part is None else part
            while part is not None:
                result = result or await self._open_part(connection, part)
                async with result:
                    async for batch in result.batches():
                        while not queue.put(part, batch, signal := AsyncSignal()):
                            await signal.wait(POLL_SECONDS)
                            if queue.worker_group.stopped:
                                raise WorkStopped
                        del batch
                queue.mark_read(part)
                part, result = queue.claim(), None
        except WorkStopped:
            pass
        except BaseException as error:  # noqa: BLE001 - the reading call raises it
            queue.worker_group.fail(
                prefix_error(error, self.partitions[part].name if part is not None else "another connection")
            )
            self._interrupt()
        finally:
            if connection is not None:
                self._reading.discard(connection)
                await _close_quietly(connection)
            if queue.reader_exiting() and self._lock_holder is not None:
                await _close_quietly(self._lock_holder)
            queue.worker_group.worker_exited()

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
                "Its columns differ from those of the first part. The table was changed during the read."
            )
        return result


async def read_parts(
    open: AsyncOpen,
    settings: Parameters,
    request: PartitionRequest,
    *,
    planner: AsyncReadConnection | None = None,
    connections: int | None = None,
    ordered: bool = False,
    memory_budget: int = DEFAULT_BUDGET,
    consistency: Consistency = "none",
    timeout: float | None = None,
    options: ReadKeywords,
    on_start: Callable[[AsyncPartitionReaders], object] = lambda readers: None,
) -> AsyncPartitionedResult:
    """Plan the parts and start to read them.

    ``open`` opens connections. The plan is made on ``planner``, or else on a connection opened for it. ``on_start`` is
    called with the readers before they begin.
    """
    if consistency not in CONSISTENCIES:
        raise InterfaceError(
            f"consistency must be one of {', '.join(map(repr, CONSISTENCIES))}, got {consistency!r}."
        )
    if connections is not None and (not isinstance(connections, int) or connections < 1):
        raise InterfaceError(f"connections must be a whole number of at least 1, got {connections!r}.")
    if consistency == "lock" and request.table is None:
        raise InterfaceError("consistency='lock' locks a table, but this is a query. Name the table instead.")
    if consistency == "last committed":
        if options.get("isolation") not in (None, "last committed"):
            raise InterfaceError("consistency='last committed' sets the isolation. Leave isolation out.")
        options = {**options, "isolation": "last committed"}
    lock_holder: AsyncReadConnection | None = None
    new_planner: AsyncReadConnection | None = None
    try:
        if consistency == "lock":
            lock_holder = await open(settings)
            lock_holder.autocommit = False
            await lock_holder.execute(f"LOCK TABLE {request.text} IN SHARE MODE")
        if planner is None:
            planner = new_planner = lock_holder or await open(settings)
        parts = await planner._run(plan(planner._session, request, settings.delimident), timeout)
        count = min(len(parts), connections or MAX_CONNECTIONS)
        budget = MemoryBudget.divide(
            memory_budget, count, options.get("batch_bytes", 16 << 20), settings.fetch_buffer_size
        )
        readers = AsyncPartitionReaders(
            parts,
            open,
            replace(settings, fetch_buffer_size=budget.fetch_bytes),
            budget,
            ordered=ordered,
            timeout=timeout,
            options={**options, "batch_bytes": budget.batch_bytes},
            lock_holder=lock_holder,
        )
        on_start(readers)
        first, new_planner = (None if new_planner is lock_holder else new_planner), None
        return AsyncPartitionedResult(readers, await readers.start(first))
    except BaseException:
        for connection in {new_planner, lock_holder} - {None}:
            assert connection is not None
            await _close_quietly(connection)
        raise


def inherited_read_options(connection: AsyncConnectionProtocol, options: ReadKeywords) -> ReadKeywords:
    """Return options for reads that see what this connection sees, except its own uncommitted changes."""
    session = connection._session
    isolation, lock_wait = isolation_of(session), lock_wait_of(session)
    inherited: ReadKeywords = {}
    if isolation is not None:
        inherited["isolation"] = isolation
    if lock_wait is not None:
        inherited["lock_wait"] = lock_wait
    return {**inherited, **options}


def _canceled_error() -> QueryCanceled:
    return QueryCanceled("The parallel read was cancelled.")


async def _close_quietly(connection: AsyncReadConnection) -> None:
    """Close a connection that is no longer needed, whatever the server replies."""
    with suppress(Error):
        await connection.close()
