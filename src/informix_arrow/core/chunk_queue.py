"""Distribute the rows of one load to several loaders: a bounded queue of chunks with known row numbers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..ingest.batch_sources import MIN_READY_ROWS, SharedBatchSource, SourceInterrupted
from ..ingest.row_feed import CHUNK_ROWS
from .signals import AsyncSignal, Signal
from .worker_group import POLL_SECONDS, SignalProtocol, WorkerGroup, WorkStopped

_CHUNKS_PER_LOADER = 4  # chunks for each loader, if the data is small


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive batches of the data, from row ``first_row`` on."""

    first_row: int
    batches: tuple[pa.RecordBatch, ...]


class ChunkQueue:
    """The shared state of one load by several loaders.

    The producer offers chunks. As many as there are loaders may wait, and each loader takes the next one after
    it has sent its last.
    """

    def __init__(self, loaders: int) -> None:
        self.worker_group = WorkerGroup(loaders)
        self.ended = False  # nothing more is offered
        self.any_offered = False  # something was offered
        self._lock = self.worker_group.lock
        self._max_waiting = loaders
        self._waiting: deque[Chunk] = deque()

    def offer(self, chunk: Chunk, signal: SignalProtocol) -> bool:
        """Offer a chunk to the loaders.

        Returns False if too many wait: the signal is set when it is worth trying again.
        """
        with self._lock:
            self.worker_group.check()
            if len(self._waiting) >= self._max_waiting:
                self.worker_group.notify_on_change(signal)
                return False
            self._waiting.append(chunk)
            self.any_offered = True
            self.worker_group.notify_all()
            return True

    def end(self) -> None:
        """Mark the end of the data."""
        with self._lock:
            self.ended = True
            self.worker_group.notify_all()

    def next_chunk(self, signal: SignalProtocol | None = None) -> Chunk | None:
        """Return the next chunk, or None if there is none now.

        After None, either the queue :attr:`is_finished`, or the signal is set when it is worth trying again.
        """
        with self._lock:
            self.worker_group.check()
            if self._waiting:
                self.worker_group.notify_all()
                return self._waiting.popleft()
            if signal is not None and not self.ended:
                self.worker_group.notify_on_change(signal)
            return None

    @property
    def is_finished(self) -> bool:
        """Return whether no more chunks will come."""
        with self._lock:
            return self.worker_group.stopped or (self.ended and not self._waiting)


def rows_per_chunk(rows: int | None, loaders: int) -> int:
    """Return the rows of a chunk for ``rows`` rows in total, None if unknown."""
    if rows is None:
        return CHUNK_ROWS
    return min(CHUNK_ROWS, max(MIN_READY_ROWS, -(-rows // (_CHUNKS_PER_LOADER * loaders))))


class Rechunker:
    """Builds chunks from batches: splits large ones, combines small ones, and counts the rows."""

    def __init__(self, most: int) -> None:
        self._max_rows = most
        self._min_rows = min(MIN_READY_ROWS, most)
        self._first_row = 0
        self._pending: list[pa.RecordBatch] = []
        self._rows = 0  # of the pending batches

    @property
    def rows(self) -> int:
        """The number of rows so far."""
        return self._first_row + self._rows

    def add(self, batch: pa.RecordBatch) -> Iterator[Chunk]:
        """Add a batch. Yields the chunks that are complete."""
        for start in range(0, batch.num_rows, self._max_rows):
            piece = batch.slice(start, self._max_rows)
            self._pending.append(piece)
            self._rows += piece.num_rows
            if self._rows >= self._min_rows:
                yield from self.flush()

    def flush(self) -> Iterator[Chunk]:
        """Yield the remaining rows as a chunk, if there are any."""
        if self._pending:
            first, self._first_row = self._first_row, self._first_row + self._rows
            batches, self._pending, self._rows = tuple(self._pending), [], 0
            yield Chunk(first, batches)


class _ChunkReaderBase(SharedBatchSource):
    """The batches of one loader's chunks; ``number`` is the name of a column of row numbers to add, if any."""

    def __init__(self, queue: ChunkQueue, schema: pa.Schema, number: str = "") -> None:
        self.schema = schema.append(pa.field(number, pa.int64(), nullable=False)) if number else schema
        self._number = number
        self._queue = queue
        self._batches: deque[pa.RecordBatch] = deque()
        self._next_row = 0  # number of the next batch's first row

    def fetch_chunk(self, signal: SignalProtocol | None = None) -> bool:
        """Return whether a batch is available, with a new chunk if one waits.

        If not, the signal is set when it is worth trying again. Raises :class:`WorkStopped`.
        """
        if self._batches:
            return True
        chunk = self._queue.next_chunk(signal)
        if chunk is None:
            return False
        self._next_row = chunk.first_row
        self._batches.extend(chunk.batches)
        return True

    def _next_batch(self) -> pa.RecordBatch:
        batch = self._batches.popleft()
        self.first_row, self._next_row = self._next_row, self._next_row + batch.num_rows
        if not self._number:
            return batch
        numbers = pa.array(np.arange(self.first_row, self._next_row))
        return pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=self.schema)


class ChunkReader(_ChunkReaderBase):
    """The batches of a loader thread: iterating waits for a chunk."""

    is_starved = False

    def wait_for_chunk(self) -> bool:
        """Wait for the first chunk. Returns False if there is none for this loader."""
        while not self.fetch_chunk(signal := Signal()):
            if self._queue.is_finished:
                self._queue.worker_group.check()
                return False
            signal.wait(POLL_SECONDS)
        return True

    def __next__(self) -> pa.RecordBatch:
        if not self.wait_for_chunk():
            raise StopIteration
        return self._next_batch()


class AsyncChunkReader(_ChunkReaderBase):
    """The batches of a loader task."""

    def __init__(self, queue: ChunkQueue, schema: pa.Schema, number: str = "") -> None:
        super().__init__(queue, schema, number)
        self._failure: Exception | None = None

    @property
    def is_starved(self) -> bool:  # type: ignore[override]
        """Return whether no batch is available and more may come."""
        return self._failure is None and not self._batches and not self._queue.is_finished

    async def wait_for_chunk(self) -> bool:
        """Wait for the first chunk. Returns False if there is none for this loader."""
        while not self.fetch_chunk(signal := AsyncSignal()):
            if self._queue.is_finished:
                self._queue.worker_group.check()
                return False
            await signal.wait(POLL_SECONDS)
        return True

    async def wait_for_batches(self) -> None:
        """Wait for a chunk, or the end."""
        try:
            await self.wait_for_chunk()
        except asyncio.CancelledError as error:
            self._failure = SourceInterrupted()
            self._failure.__cause__ = error
        except WorkStopped as error:
            self._failure = error

    def __next__(self) -> pa.RecordBatch:
        if self._failure is not None:
            raise self._failure
        if not self.fetch_chunk():
            raise StopIteration
        return self._next_batch()
