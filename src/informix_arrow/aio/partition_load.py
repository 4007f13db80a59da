"""One load by several connections: all or nothing through staging tables, or each with commits of its own."""

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
from ..ingest.batch_sources import AsyncBatchSource, BatchSource, SourceInterrupted
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

LOCK_WAIT_SECONDS = (
    60  # seconds that loaders wait for each other's locks, unless the connection says otherwise
)


class AsyncLoadConnection(AsyncStagingConnection, Protocol):
    """A connection, as far as it is needed to load a share."""

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
    options: WriteKeywords,
    known: Callable[[AsyncParallelLoad], object] = lambda loaders: None,
) -> WriteReport:
    """Load ``data`` by ``connections`` connections like this one, which ``open`` makes; ``known`` is told who loads
    before they begin.
    """
    session = connection._session
    delimident = connection._parameters.delimident
    request, source, progress = plan_write(table, data, delimident, {**options}, session.inexact)
    _check(connection, request)
    wait = lock_wait_of(session)
    settings = replace(settings, autocommit=True, lock_wait=LOCK_WAIT_SECONDS if wait is None else wait)
    loaders = AsyncParallelLoad(open, settings, request, source, connections, timeout, options, progress)
    known(loaders)
    try:
        return await loaders.run()
    finally:
        if isinstance(progress, Bar):
            progress.finish(*loaders.progress_totals, loaders.seconds)


def _check(connection: AsyncLoadConnection, request: WriteRequest) -> None:
    """Refuse what several connections cannot do, before anything is sent."""
    if request.mode not in ("append", "truncate", "upsert"):
        raise InterfaceError(
            f"connections= goes with mode='append', 'truncate' and 'upsert', not with mode={request.mode!r}: make the "
            "table first (write_arrow() with no rows of this schema does)"
        )
    if request.collect and request.commit_every is None:
        raise InterfaceError(
            "on_error='collect' with connections= does not go with mode='upsert': all rows are taken by one MERGE"
            if request.mode == "upsert"
            else "on_error='collect' with connections= needs commit_every=: without it all rows are taken together, "
            "and a constraint refuses all of them"
        )
    if request.commit_every is None and not connection.logged:
        raise NotSupportedError(
            f"{connection.database} is a database without logging, where several connections cannot load all or "
            "nothing: say commit_every=, or load by one connection"
        )
    if connection.in_transaction:
        raise ProgrammingError(
            "a transaction is open, and other connections cannot load as a part of it: commit or roll it back first, "
            "or load by one connection"
        )


class AsyncParallelLoad:
    """Several connections that load the shares of one load."""

    def __init__(
        self,
        open: AsyncOpenLoader,
        settings: Parameters,
        request: WriteRequest,
        source: BatchSource,
        connections: int,
        timeout: float | None,
        options: WriteKeywords,
        progress: ProgressCallback | None,
    ) -> None:
        self._open, self._settings = open, settings
        self._request, self._source = request, source
        self._count = connections
        self._progress = progress
        self._began = time.monotonic()
        self._ends = None if timeout is None else self._began + timeout
        self._timeout = timeout
        self._options = _loader_options(options)
        self._direct = request.commit_every is not None
        self._upserts = request.mode == "upsert"
        self._number = _free_name(source.schema) if self._upserts else ""
        self._queue = ChunkQueue(connections)
        self._working: set[AsyncLoadConnection] = set()
        self._progress_by_loader = [(0, 0)] * connections  # rows and bytes of each
        self._standing = [
            (0, 0)
        ] * connections  # of each that failed: rows that stay, and by how many commits
        self._reports: list[WriteReport] = []
        self._staged: list[staged_load.StagedPart] = []
        self._load = ""
        self._rows = 0  # of the data
        self._touched: tuple[int, int] | None = None  # by an upsert: rows, and those that were there
        if ASYNC:
            self._tasks: set[asyncio.Task[None]] = set()

    @property
    def progress_totals(self) -> tuple[int, int]:
        """Rows and bytes so far."""
        return sum(rows for rows, _ in self._progress_by_loader), sum(
            size for _, size in self._progress_by_loader
        )

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def cancel(self) -> None:
        """End all; whoever loads gets ``QueryCanceled``."""
        crew = self._queue.worker_group
        crew.canceled = crew.stopped = True
        if ASYNC:
            crew.stop()
        self._interrupt()

    async def run(self) -> WriteReport:
        """Do it all, and put away what it took."""
        keeper = await self._open(self._settings)  # who begins and takes
        try:
            self._working.add(keeper)
            return await self._run(keeper)
        finally:
            self._working.discard(keeper)
            with suppress(Error):
                await keeper.close()

    # ---- the load ------------------------------------------------------------------------------------------

    async def _run(self, keeper: AsyncLoadConnection) -> WriteReport:
        table, overwrite = self._request.table, self._request.mode == "truncate"
        if not self._direct:
            self._load = await staged_load.begin(keeper, table, recorded=False)
        elif overwrite:
            await keeper.execute(f"TRUNCATE TABLE {table}", timeout=self._remaining_time())
        try:
            self._spawn()
            await self._distribute()
            await self._wait_for_loaders()
        except BaseException as error:
            await self._end()
            if self._direct:
                self._describe_committed(error)
            else:
                await self._discard_staged(keeper, error)
            raise
        if not self._direct:
            await self._commit_staged(keeper, overwrite)
        return self._report()

    async def _distribute(self) -> None:
        """Hand the data out, in the caller's own thread or task, as there is room for it."""
        batches = self._source.batches
        sorter = Rechunker(rows_per_chunk(self._source.total, self._count))
        while True:
            if ASYNC:
                if isinstance(batches, AsyncBatchSource) and batches.is_starved:
                    await self._arrived(batches)
                try:
                    batch = next(batches, None)
                except SourceInterrupted as interruption:
                    raise asyncio.CancelledError from interruption
            else:
                batch = next(batches, None)
            if batch is None:
                if ASYNC and isinstance(batches, AsyncBatchSource) and batches.is_starved:
                    continue
                break
            for deal in sorter.add(batch):
                await self._offer(deal)
        for deal in sorter.flush():
            await self._offer(deal)
        self._rows = sorter.rows
        self._queue.end()

    async def _offer(self, deal: Chunk) -> None:
        try:
            while not self._queue.offer(deal, signal := AsyncSignal()):
                await self._wait(signal)
        except WorkStopped:
            self._raise_failure()

    async def _wait_for_loaders(self) -> None:
        """Wait until all have loaded what they got."""
        crew = self._queue.worker_group
        while crew.has_active_workers(signal := AsyncSignal()) or crew.connecting:
            await self._wait(signal)
        self._raise_failure()
        loaded = sum(report.rows + report.rejected.num_rows for report in self._reports)
        if loaded != self._rows:
            raise InternalError(
                f"{self._rows:,} rows were to be loaded, and {loaded:,} were: the load cannot be vouched for"
            )
        if self._progress is not None:
            self._progress(*self.progress_totals, self.seconds)

    async def _wait(self, signal: AsyncSignal) -> None:
        """Wait for a change; tell of progress, and raise what has become of the load."""
        left = self._remaining_time()
        await signal.wait(POLL_SECONDS if left is None else min(POLL_SECONDS, left))
        self._raise_failure()
        if self._progress is not None:
            self._progress(*self.progress_totals, self.seconds)

    def _raise_failure(self) -> None:
        """Raise why the load is over before its end."""
        crew = self._queue.worker_group
        if crew.failure is not None:
            raise crew.failure
        if crew.canceled:
            raise QueryCanceled("the load was cancelled")
        if self._ends is not None and time.monotonic() >= self._ends:
            raise QueryTimeout(f"the load took longer than {self._timeout:g} s (timeout)")

    def _remaining_time(self) -> float | None:
        return None if self._ends is None else max(self._ends - time.monotonic(), 0.001)

    if ASYNC:

        async def _arrived(self, batches: AsyncBatchSource) -> None:
            """Wait for the user's data in the caller's own task, unless the load is over before."""
            task, crew = asyncio.current_task(), self._queue.worker_group
            assert task is not None
            wakes = _DataWaitCanceller(task, self._queue)
            left = self._remaining_time()
            timer = None if left is None else asyncio.get_running_loop().call_later(left, wakes.cancel_wait)
            with crew.lock:
                wakes.set()
            try:
                await batches.wait_for_batches()
            finally:
                wakes.finished = True
                if timer is not None:
                    timer.cancel()
            if wakes.cancelled:
                uncancel = getattr(task, "uncancel", None)  # Python 3.11
                if uncancel is not None and uncancel():  # somebody else has cancelled the task as well
                    raise asyncio.CancelledError
                self._raise_failure()

    async def _commit_staged(self, keeper: AsyncLoadConnection, overwrite: bool) -> None:
        """Take what is staged. From here on a cancellation is the statement's."""
        table = self._request.table
        try:
            self._raise_failure()
            if self._upserts:
                self._touched = await staged_load.upsert(
                    keeper, table, self._staged, timeout=self._remaining_time()
                )
            else:
                await staged_load.commit(
                    keeper, table, self._staged, None, overwrite=overwrite, timeout=self._remaining_time()
                )
        except BaseException as error:
            if isinstance(error, CommitUnknown):
                raise
            if isinstance(error, Error) and error.sqlcode is not None and not self._upserts:
                add_text(
                    error,
                    "All rows were refused together, and the server names none of them; a load by one connection "
                    "does.",
                )
            await self._discard_staged(keeper, error)
            raise
        with suppress(Error):  # what stays is swept one day
            await staged_load.drop(keeper, self._load)

    async def _discard_staged(self, keeper: AsyncLoadConnection, error: BaseException) -> None:
        """Put away what was staged, and say what is left."""
        if self._load and not keeper.closed:
            try:
                await staged_load.drop(keeper, self._load)
            except Error as another:
                add_text(error, f"Its staging tables could not be dropped: {another}")
        add_text(error, f"Nothing of this load is in the table {self._request.table}.")

    def _describe_committed(self, error: BaseException) -> None:
        done = [(report.rows, report.commits) for report in self._reports]
        rows, commits = (sum(each) for each in zip((0, 0), *self._standing, *done, strict=True))
        emptied = " It was emptied before." if self._request.mode == "truncate" else ""
        add_text(
            error,
            f"Of the whole load {rows:,} rows, by {commits:,} commits of {self._count} connections, are in the table "
            f"{self._request.table}; they are not the first ones of the data.{emptied}",
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
                except BaseException:  # there are too many already
                    for _ in range(number, self._count):
                        self._queue.worker_group.worker_exited()
                    raise

    async def _run_loader(self, number: int) -> None:
        """What one loader does: connect when there is something for it, load, and leave."""
        crew, connection = self._queue.worker_group, None
        hand = AsyncChunkReader(self._queue, self._source.schema, self._number)
        try:
            # The first one connects in any case: no rows at all are loaded, too.
            if await hand.wait_for_chunk() or (number == 0 and not self._queue.any_offered):
                connection = await self._connect()
                self._working.add(connection)
                if not crew.stopped:  # from here on it would be interrupted
                    await self._load_share(connection, number, hand)
        except WorkStopped:
            pass
        except BaseException as error:  # noqa: BLE001 - whoever called raises it
            if ASYNC and isinstance(error, SourceInterrupted):
                crew.fail(asyncio.CancelledError())
            else:
                crew.fail(prefix_error(error, f"connection {number + 1} of {self._count}"))
                self._interrupt()
        finally:
            if connection is not None:
                self._working.discard(connection)
                with suppress(Error):
                    await connection.close()
            crew.worker_exited()

    async def _load_share(self, connection: AsyncLoadConnection, number: int, hand: AsyncChunkReader) -> None:
        def record_progress(rows: int, size: int, seconds: float) -> None:
            self._progress_by_loader[number] = rows, size

        options: WriteKeywords = {**self._options, "progress": record_progress}
        table, left = self._request.table, self._remaining_time()
        if not self._direct:
            staged = await staged_load.load(
                connection,
                table,
                self._load,
                hand.schema,
                hand,
                upsert_key=self._request.key,
                number=self._number,
                timeout=left,
                **options,
            )
            self._staged.append(staged)
            self._reports.append(staged.report)
            return
        delimident = self._settings.delimident
        with open_write(connection._session, table, hand, delimident, options) as load:
            try:
                self._reports.append(await connection._run(load.run(), left))
            except BaseException:
                done = load.outcome
                stays = (done.committed, done.commits) if connection.logged else (done.rows, 0)
                self._standing[number] = stays
                raise

    async def _connect(self) -> AsyncLoadConnection:
        crew, connection = self._queue.worker_group, None
        crew.change_connecting(1)
        try:
            connection = await self._open(self._settings)
            return connection
        finally:
            try:
                crew.change_connecting(-1)
            except WorkStopped:
                if connection is not None:
                    with suppress(Error):
                        await connection.close()
                raise

    def _interrupt(self) -> None:
        for connection in tuple(self._working):
            connection.cancel()

    async def _end(self) -> None:
        """Stop whoever is still at work, and wait for that."""
        crew = self._queue.worker_group
        crew.stop()
        if ASYNC:
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
        else:
            while crew.has_active_workers(signal := AsyncSignal()):
                self._interrupt()  # again: it may have come between two requests
                signal.wait(POLL_SECONDS)


if ASYNC:

    class _DataWaitCanceller:
        """Ends a task's wait for data when the load is over."""

        def __init__(self, task: asyncio.Task[Any], dealing: ChunkQueue) -> None:
            self._task, self._queue = task, dealing
            self.cancelled = self.finished = False

        def set(self) -> None:
            """Something has changed; under the crew's lock."""
            if self._queue.worker_group.stopped:
                self.cancel_wait()
            elif not self.finished:
                self._queue.worker_group.notify_on_change(self)

        def cancel_wait(self) -> None:
            """The wait is over."""
            if not (self.cancelled or self.finished):
                self.cancelled = True
                self._task.cancel()


def _loader_options(options: WriteKeywords) -> WriteKeywords:
    """The options of one loader."""
    own: WriteKeywords = {**options}
    own.pop("mode", None)
    own.pop("key", None)
    own.pop("progress", None)
    return own


def _free_name(schema: pa.Schema) -> str:
    """A name for the rows' numbers that no column of the data has."""
    name = "ifx_row_number"
    while any(each.lower() == name for each in schema.names):
        name += "_"
    return name
