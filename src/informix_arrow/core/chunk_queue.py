"""How the rows of one load are dealt to several loaders: few wait, each goes to one, and its number stays known."""

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

_CHUNKS_PER_LOADER = 4  # pieces for each loader, where the data is small enough to be divided so


@dataclass(frozen=True, slots=True)
class Chunk:
    """Batches that stand one behind the other in the data, from row ``first`` on."""

    first_row: int
    batches: tuple[pa.RecordBatch, ...]


class ChunkQueue:
    """The books of one load by several loaders.

    Whoever has the data offers deals, as many as there are loaders may wait, and each loader takes the next one when it
    has sent what it had.
    """

    def __init__(self, loaders: int) -> None:
        self.worker_group = WorkerGroup(loaders)
        self.ended = False  # nothing more is offered
        self.any_offered = False  # anything was
        self._lock = self.worker_group.lock
        self._max_waiting = loaders
        self._waiting: deque[Chunk] = deque()

    def offer(self, deal: Chunk, signal: SignalProtocol) -> bool:
        """Give a deal to whoever takes it. False when too many wait: the signal tells when to try again."""
        with self._lock:
            self.worker_group.check()
            if len(self._waiting) >= self._max_waiting:
                self.worker_group.notify_on_change(signal)
                return False
            self._waiting.append(deal)
            self.any_offered = True
            self.worker_group.notify_all()
            return True

    def end(self) -> None:
        """All was offered."""
        with self._lock:
            self.ended = True
            self.worker_group.notify_all()

    def next_chunk(self, signal: SignalProtocol | None = None) -> Chunk | None:
        """The next deal; None when there is none now: then either all is :attr:`is_finished`, or the signal tells when."""
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
        """Whether nothing more is to be had."""
        with self._lock:
            return self.worker_group.stopped or (self.ended and not self._waiting)


def rows_per_chunk(rows: int | None, loaders: int) -> int:
    """Rows of a deal, of data with so many rows in all; None when nobody knows."""
    if rows is None:
        return CHUNK_ROWS
    return min(CHUNK_ROWS, max(MIN_READY_ROWS, -(-rows // (_CHUNKS_PER_LOADER * loaders))))


class Rechunker:
    """Makes deals of batches: large ones are cut, small ones go together, and the rows are counted."""

    def __init__(self, most: int) -> None:
        self._max_rows = most
        self._min_rows = min(MIN_READY_ROWS, most)
        self._first_row = 0
        self._pending: list[pa.RecordBatch] = []
        self._rows = 0  # of these

    @property
    def rows(self) -> int:
        """How many there were so far."""
        return self._first_row + self._rows

    def add(self, batch: pa.RecordBatch) -> Iterator[Chunk]:
        """Take a batch; the deals that are ready now."""
        for start in range(0, batch.num_rows, self._max_rows):
            piece = batch.slice(start, self._max_rows)
            self._pending.append(piece)
            self._rows += piece.num_rows
            if self._rows >= self._min_rows:
                yield from self.flush()

    def flush(self) -> Iterator[Chunk]:
        """What is left as a deal of its own, if anything is."""
        if self._pending:
            first, self._first_row = self._first_row, self._first_row + self._rows
            held, self._pending, self._rows = tuple(self._pending), [], 0
            yield Chunk(first, held)


class _ChunkReaderBase(SharedBatchSource):
    """The deals of one loader, batch by batch; with the rows' numbers in the data as a column, if it has a name."""

    def __init__(self, dealing: ChunkQueue, schema: pa.Schema, number: str = "") -> None:
        self.schema = schema.append(pa.field(number, pa.int64(), nullable=False)) if number else schema
        self._number = number
        self._queue = dealing
        self._batches: deque[pa.RecordBatch] = deque()
        self._next_row = 0  # number of the next batch's first row

    def fetch_chunk(self, signal: SignalProtocol | None = None) -> bool:
        """Whether there is something in the hand, with a new deal if one waits; else the signal tells when to try
        again. Raises :class:`WorkStopped`."""
        if self._batches:
            return True
        deal = self._queue.next_chunk(signal)
        if deal is None:
            return False
        self._next_row = deal.first_row
        self._batches.extend(deal.batches)
        return True

    def _next_batch(self) -> pa.RecordBatch:
        batch = self._batches.popleft()
        self.first_row, self._next_row = self._next_row, self._next_row + batch.num_rows
        if not self._number:
            return batch
        numbers = pa.array(np.arange(self.first_row, self._next_row))
        return pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=self.schema)


class ChunkReader(_ChunkReaderBase):
    """For a thread: iterating waits."""

    is_starved = False

    def wait_for_chunk(self) -> bool:
        """Wait for the first deal; False when there is none for this loader."""
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
    """For a task."""

    def __init__(self, dealing: ChunkQueue, schema: pa.Schema, number: str = "") -> None:
        super().__init__(dealing, schema, number)
        self._failure: Exception | None = None

    @property
    def is_starved(self) -> bool:  # type: ignore[override]
        """Whether nothing is here and something may still come."""
        return self._failure is None and not self._batches and not self._queue.is_finished

    async def wait_for_chunk(self) -> bool:
        """Wait for the first deal; False when there is none for this loader."""
        while not self.fetch_chunk(signal := AsyncSignal()):
            if self._queue.is_finished:
                self._queue.worker_group.check()
                return False
            await signal.wait(POLL_SECONDS)
        return True

    async def wait_for_batches(self) -> None:
        """Wait for a deal, or the end."""
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
