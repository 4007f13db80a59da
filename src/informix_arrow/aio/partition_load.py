"""Parallel loads: one load over several connections, all or nothing, or each connection with its own commits."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from ..core.async_flag import ASYNC
from ..core.chunk_queue import AsyncChunkReader, Chunk, ChunkQueue, Rechunker, rows_per_chunk
from ..core.signals import AsyncSignal
from ..core.worker_group import POLL_SECONDS, WorkStopped, prefix_error
from ..dsn import Parameters
from ..ingest.arguments import WriteKeywords, open_write, plan_write
from ..ingest.batch_sources import (
    ArrivingBatches,
    AsyncBatchSource,
    BatchSource,
    SourceInterrupted,
    ThreadedBatchSource,
)
from ..ingest.progress import Bar, ProgressCallback
from ..ingest.report import WriteReport, add_text
from ..ingest.write import WriteRequest
from ..operations.cursor_session_state import lock_wait_of
from ..wire.errors import (
    CommitUnknown,
    Error,
    InterfaceError,
    InternalError,
    NotSupportedError,
    ProgrammingError,
    QueryCanceled,
    QueryTimeout,
)
from . import staged_load
from .staged_load import AsyncStagingConnection

LOCK_WAIT_SECONDS = 60  # how long loaders wait for each other's locks if the connection has no lock_wait


class AsyncLoadConnection(AsyncStagingConnection, Protocol):
    """The parts of a connection that are needed to load a share of the data."""

    @property
    def in_transaction(self) -> bool: ...

    def cancel(self) -> None: ...

    async def close(self) -> None: ...


AsyncOpenLoader: TypeAlias = Callable[[Parameters], Awaitable[AsyncLoadConnection]]


async def load_parts(
    open: AsyncOpenLoader,
    connection: AsyncLoadConnection,
    settings: Parameters,
    table: str,
    data: Any,
    *,
    connections: int,
    timeout: float | None,
    began: float,
    options: WriteKeywords,
    on_start: Callable[[AsyncParallelLoad], object] = lambda load: None,
) -> WriteReport:
    """Load ``data`` over several connections, which ``open`` opens with the settings of ``connection``.

    ``timeout`` counts from ``began``, by time.monotonic(). ``on_start`` is called with the load before it begins.
    """
    session = connection._session
    delimident = connection._parameters.delimident
    request, source, progress = plan_write(table, data, delimident, {**options}, session.inexact)
    _check(connection, request)
    wait = lock_wait_of(session)
    settings = replace(settings, autocommit=True, lock_wait=LOCK_WAIT_SECONDS if wait is None else wait)
    load = AsyncParallelLoad(open, settings, request, source, connections, timeout, began, options, progress)
    on_start(load)
    try:
        return await load.run()
    finally:
        if isinstance(progress, Bar):
            progress.finish(*load.progress_totals, load.seconds)


def _check(connection: AsyncLoadConnection, request: WriteRequest) -> None:
    """Raise for a load that several connections cannot do, before anything is sent."""
    if request.mode not in ("append", "truncate", "upsert"):
        raise InterfaceError(
            "connections= works with mode='append', 'truncate' and 'upsert', not with "
            f"mode={request.mode!r}. Create the table first, for example with write_arrow() and no rows of "
            "this schema."
        )
    if request.collect and request.commit_every is None:
        raise InterfaceError(
            "on_error='collect' with connections= does not work with mode='upsert', where a single MERGE "
            "writes all rows."
            if request.mode == "upsert"
            else "on_error='collect' with connections= needs commit_every=. Without it all rows are written "
            "together, and a constraint refuses all of them."
        )
    if request.commit_every is None and not connection.logged:
        raise NotSupportedError(
            f"{connection.database} is a database without logging, where several connections cannot load "
            "all or nothing. Use commit_every=, or load with one connection."
        )
    if connection.in_transaction:
        raise ProgrammingError(
            "A transaction is open, and other connections cannot take part in it. Commit or roll it back "
            "first, or load with one connection."
        )


class AsyncParallelLoad:
    """One load whose data is distributed to several connections.

    The calling thread or task reads the data and hands out chunks. Each loader has a connection, in a thread or task of
    its own. A further connection, the coordinator, begins the load and commits it.
    """

    def __init__(
        self,
        open: AsyncOpenLoader,
        settings: Parameters,
        request: WriteRequest,
        source: BatchSource,
        connections: int,
        timeout: float | None,
        began: float,
        options: WriteKeywords,
        progress: ProgressCallback | None,
    ) -> None:
        self._open, self._settings = open, settings
        self._request, self._source = request, source
        self._count = connections
        self._progress = progress
        self._start_time = began
        self._deadline = None if timeout is None else self._start_time + timeout
        self._timeout = timeout
        self._options = _loader_options(options)
        self._direct = request.commit_every is not None
        self._is_upsert = request.mode == "upsert"
        self._number = _free_name(source.schema) if self._is_upsert else ""
        self._queue = ChunkQueue(connections)
        self._active: set[AsyncLoadConnection] = set()
        self._progress_by_loader = [(0, 0)] * connections  # rows and bytes
        # Of each loader that failed: the rows that stay in the table, and the number of its commits.
        self._rows_and_commits = [(0, 0)] * connections
        self._reports: list[WriteReport] = []
        self._staged: list[staged_load.StagedPart] = []
        self._load = ""
        self._rows = 0  # rows of the data
        self._touched: tuple[int, int] | None = None  # by an upsert: rows, and how many of them existed
        if ASYNC:
            self._tasks: set[asyncio.Task[None]] = set()

    @property
    def progress_totals(self) -> tuple[int, int]:
        """Rows and bytes loaded so far."""
        rows, sizes = zip(*self._progress_by_loader, strict=True)
        return sum(rows), sum(sizes)

    @property
    def seconds(self) -> float:
        """Seconds since the load began."""
        return time.monotonic() - self._start_time

    def cancel(self) -> None:
        """Cancel the load. The call that runs it raises ``QueryCanceled``."""
        group = self._queue.worker_group
        group.canceled = group.stopped = True
        if ASYNC:
            group.stop()
        self._interrupt()

    async def run(self) -> WriteReport:
        """Run the load, and close the connections."""
        coordinator = await self._open(self._settings)
        try:
            self._active.add(coordinator)
            return await self._run(coordinator)
        finally:
            self._active.discard(coordinator)
            with suppress(Error):
                await coordinator.close()

    # ---- the load ------------------------------------------------------------------------------------------

    async def _run(self, coordinator: AsyncLoadConnection) -> WriteReport:
        table, overwrite = self._request.table, self._request.mode == "truncate"
        if not self._direct:
            self._load = await staged_load.begin(coordinator, table, recorded=False)
        elif overwrite:
            await coordinator.execute(f"TRUNCATE TABLE {table}", timeout=self._remaining_time())
        try:
            self._spawn()
            await self._distribute()
            await self._wait_for_loaders()
        except BaseException as error:
            await self._end()
            if self._direct:
                self._describe_committed(error)
            else:
                await self._discard_staged(coordinator, error)
            raise
        if not self._direct:
            await self._commit_staged(coordinator, overwrite)
        return self._report()

    async def _distribute(self) -> None:
        """Hand out the data, in the caller's own thread or task, as the loaders have room for it."""
        batches = self._source.batches
        rechunker = Rechunker(rows_per_chunk(self._source.total, self._count))
        while True:
            if ASYNC:
                if isinstance(batches, AsyncBatchSource) and batches.is_starved:
                    await self._arrived(batches)
                try:
                    batch = next(batches, None)
                except SourceInterrupted as interruption:
                    raise asyncio.CancelledError from interruption
            else:
                if isinstance(batches, ThreadedBatchSource) and batches.is_starved:
                    while not batches.wait_for_batches(POLL_SECONDS):
                        self._raise_failure()
                batch = next(batches, None)
            self._raise_failure()
            if batch is None:
                if isinstance(batches, ArrivingBatches) and batches.is_starved:
                    continue
                break
            for chunk in rechunker.add(batch):
                await self._offer(chunk)
        for chunk in rechunker.flush():
            await self._offer(chunk)
        self._rows = rechunker.rows
        self._queue.end()

    async def _offer(self, chunk: Chunk) -> None:
        try:
            while not self._queue.offer(chunk, signal := AsyncSignal()):
                await self._wait(signal)
        except WorkStopped:
            self._raise_failure()

    async def _wait_for_loaders(self) -> None:
        """Wait until all loaders have loaded their chunks."""
        group = self._queue.worker_group
        while group.has_active_workers(signal := AsyncSignal()) or group.connecting:
            await self._wait(signal)
        self._raise_failure()
        loaded = sum(report.rows + report.rejected.num_rows for report in self._reports)
        if loaded != self._rows:
            raise InternalError(
                f"{self._rows:,} rows were to be loaded, but {loaded:,} were. Check the table."
            )
        if self._progress is not None:
            self._progress(*self.progress_totals, self.seconds)

    async def _wait(self, signal: AsyncSignal) -> None:
        """Wait for a change. Report progress, and raise if the load has failed or was cancelled."""
        seconds = self._remaining_time()
        await signal.wait(POLL_SECONDS if seconds is None else min(POLL_SECONDS, seconds))
        self._raise_failure()
        if self._progress is not None:
            self._progress(*self.progress_totals, self.seconds)

    def _raise_failure(self) -> None:
        """Raise if the load failed, was cancelled, or has run out of time."""
        group = self._queue.worker_group
        if group.failure is not None:
            raise group.failure
        if group.canceled:
            raise QueryCanceled("The load was cancelled.")
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise QueryTimeout(f"The load took longer than {self._timeout:g} s (timeout).")

    def _remaining_time(self) -> float | None:
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 0.001)

    if ASYNC:

        async def _arrived(self, batches: AsyncBatchSource) -> None:
            """Wait for the user's data in the caller's own task, until the load ends."""
            task, group = asyncio.current_task(), self._queue.worker_group
            assert task is not None
            canceller = _DataWaitCanceller(task, self._queue)
            seconds = self._remaining_time()
            loop = asyncio.get_running_loop()
            timer = None if seconds is None else loop.call_later(seconds, canceller.cancel_wait)
            with group.lock:
                canceller.set()
            try:
                await batches.wait_for_batches()
            finally:
                canceller.finished = True
                if timer is not None:
                    timer.cancel()
            if canceller.cancelled:
                uncancel = getattr(task, "uncancel", None)  # Python 3.11
                if uncancel is not None and uncancel():  # the task was also cancelled from elsewhere
                    raise asyncio.CancelledError
                self._raise_failure()

    async def _commit_staged(self, coordinator: AsyncLoadConnection, overwrite: bool) -> None:
        """Copy the staged rows to the table. From here on a cancellation cancels the statement."""
        table = self._request.table
        try:
            self._raise_failure()
            if self._is_upsert:
                self._touched = await staged_load.upsert(
                    coordinator, table, self._staged, timeout=self._remaining_time()
                )
            else:
                await staged_load.commit(
                    coordinator,
                    table,
                    self._staged,
                    None,
                    overwrite=overwrite,
                    timeout=self._remaining_time(),
                )
        except BaseException as error:
            if isinstance(error, CommitUnknown):
                raise
            if isinstance(error, Error) and error.sqlcode is not None and not self._is_upsert:
                add_text(
                    error,
                    "All rows were refused together, and the server names none of them. A load with one connection "
                    "names the row.",
                )
            await self._discard_staged(coordinator, error)
            raise
        with suppress(Error):  # a later load sweeps what is left
            await staged_load.drop(coordinator, self._load)

    async def _discard_staged(self, coordinator: AsyncLoadConnection, error: BaseException) -> None:
        """Drop the staging tables after an error, and add to its text what is left."""
        if self._load and not coordinator.closed:
            try:
                await staged_load.drop(coordinator, self._load)
            except Error as another:
                add_text(error, f"Its staging tables could not be dropped: {another}")
        add_text(error, f"Nothing of this load is in the table {self._request.table}.")

    def _describe_committed(self, error: BaseException) -> None:
        finished = [(report.rows, report.commits) for report in self._reports]
        counts = [(0, 0), *self._rows_and_commits, *finished]
        rows, commits = (sum(column) for column in zip(*counts, strict=True))
        emptied = " It was emptied before." if self._request.mode == "truncate" else ""
        add_text(
            error,
            f"{rows:,} rows of this load are in the table {self._request.table}, in {commits:,} commits of "
            f"{self._count} connections. They are not the first rows of the data.{emptied}",
        )

    def _report(self) -> WriteReport:
        reports = self._reports
        largest = max(reports, key=lambda report: report.rows + report.rejected.num_rows)
        rejected = pa.concat_tables([report.rejected for report in reports])
        serials = [report.serial for report in reports if report.serial is not None]
        rows, updated = self._touched or (sum(report.rows for report in reports), 0)
        return replace(
            largest,
            table=self._request.table,
            mode=self._request.mode,
            rows=rows,
            updated=updated,
            rejected=rejected.sort_by("row") if rejected.num_rows else rejected,
            batches=sum(report.batches for report in reports),
            seconds=self.seconds,
            bytes=sum(report.bytes for report in reports),
            commits=sum(report.commits for report in reports) if self._direct else 1,
            created=False,
            serial=max(serials, default=None),
            connections=len(reports),
        )

    # ---- each connection -----------------------------------------------------------------------------------

    def _spawn(self) -> None:
        for number in range(self._count):
            if ASYNC:
                self._tasks.add(asyncio.create_task(self._run_loader(number)))
            else:
                try:
                    threading.Thread(target=self._run_loader, args=(number,), daemon=True).start()
                except BaseException:  # Ctrl-C, or there are too many threads
                    self._queue.worker_group.drop_unstarted()
                    raise

    async def _run_loader(self, number: int) -> None:
        """Run one loader: connect once there is a chunk for it, load, and close the connection."""
        group, connection = self._queue.worker_group, None
        if not group.worker_started():
            return
        reader = AsyncChunkReader(self._queue, self._source.schema, self._number)
        try:
            # The first loader always connects, so that a load without rows also runs.
            if await reader.wait_for_chunk() or (number == 0 and not self._queue.any_offered):
                connection = await self._connect()
                self._active.add(connection)
                if not group.stopped:  # from here on _interrupt() reaches it
                    await self._load_share(connection, number, reader)
        except WorkStopped:
            pass
        except BaseException as error:  # noqa: BLE001 - the caller raises it
            if ASYNC and isinstance(error, SourceInterrupted):
                group.fail(asyncio.CancelledError())
            else:
                group.fail(prefix_error(error, f"connection {number + 1} of {self._count}"))
                self._interrupt()
        finally:
            if connection is not None:
                self._active.discard(connection)
                with suppress(Error):
                    await connection.close()
            group.worker_exited()

    async def _load_share(
        self, connection: AsyncLoadConnection, number: int, reader: AsyncChunkReader
    ) -> None:
        def record_progress(rows: int, size: int, seconds: float) -> None:
            self._progress_by_loader[number] = rows, size

        options: WriteKeywords = {**self._options, "progress": record_progress}
        table, timeout = self._request.table, self._remaining_time()
        if not self._direct:
            staged = await staged_load.load(
                connection,
                table,
                self._load,
                reader.schema,
                reader,
                upsert_key=self._request.key,
                number=self._number,
                timeout=timeout,
                **options,
            )
            self._staged.append(staged)
            self._reports.append(staged.report)
            return
        delimident = self._settings.delimident
        with open_write(connection._session, table, reader, delimident, options) as load:
            try:
                self._reports.append(await connection._run(load.run(), timeout))
            except BaseException:
                outcome = load.outcome
                self._rows_and_commits[number] = (
                    (outcome.committed, outcome.commits) if connection.logged else (outcome.rows, 0)
                )
                raise

    async def _connect(self) -> AsyncLoadConnection:
        group, connection = self._queue.worker_group, None
        group.change_connecting(1)
        try:
            connection = await self._open(self._settings)
            return connection
        finally:
            try:
                group.change_connecting(-1)
            except WorkStopped:
                if connection is not None:
                    with suppress(Error):
                        await connection.close()
                raise

    def _interrupt(self) -> None:
        for connection in tuple(self._active):
            connection.cancel()

    async def _end(self) -> None:
        """Stop the loaders that still work, and wait until they have ended."""
        group = self._queue.worker_group
        group.stop()
        if ASYNC:
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
        else:
            while group.has_active_workers(signal := AsyncSignal()):
                self._interrupt()  # again: the first interrupt may have come between two requests
                signal.wait(POLL_SECONDS)


if ASYNC:

    class _DataWaitCanceller:
        """Cancels a task's wait for data when the load ends."""

        def __init__(self, task: asyncio.Task[Any], queue: ChunkQueue) -> None:
            self._task, self._queue = task, queue
            self.cancelled = self.finished = False

        def set(self) -> None:
            """React to a change of the load. Called with the lock of the worker group held."""
            if self._queue.worker_group.stopped:
                self.cancel_wait()
            elif not self.finished:
                self._queue.worker_group.notify_on_change(self)

        def cancel_wait(self) -> None:
            """Cancel the wait, once."""
            if not (self.cancelled or self.finished):
                self.cancelled = True
                self._task.cancel()


def _loader_options(options: WriteKeywords) -> WriteKeywords:
    """Return the options for one loader."""
    loader_options: WriteKeywords = {**options}
    loader_options.pop("mode", None)
    loader_options.pop("key", None)
    loader_options.pop("progress", None)
    return loader_options


def _free_name(schema: pa.Schema) -> str:
    """Return a name for the column of row numbers that the data does not have."""
    name = "ifx_row_number"
    while any(column.lower() == name for column in schema.names):
        name += "_"
    return name
