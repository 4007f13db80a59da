"""What several readers of one result's parts share: who reads which part, what waits to be handed out, how it ended.

As with a pool, every method is an instant: nothing waits and nothing is sent here, and threads and tasks are served
alike. Whoever has to wait leaves a signal, which any change gives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from ..wire.errors import InterfaceError
from .worker_group import SignalProtocol, WorkerGroup

MAX_CONNECTIONS = 8  # by default
DEFAULT_BUDGET = 256 << 20
MIN_CONNECTION_BYTES = 1 << 20  # of the budget, for each connection
_MIN_FETCH_BYTES = 32 << 10
_MIN_BATCH_BYTES = 64 << 10


class NumberedPart(Protocol):
    """A part, as far as it matters here."""

    @property
    def number(self) -> int: ...


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """How a memory budget is divided."""

    connections: int
    batch_bytes: int
    fetch_bytes: int
    queue_bytes: int  # for batches that wait to be handed out

    @classmethod
    def divide(cls, budget: object, connections: int, batch_bytes: int, fetch_bytes: int) -> MemoryBudget:
        """``InterfaceError`` for a budget that is too small.

        A connection has a batch that it builds or wants to hand out, and two replies that it has asked for. Batches are
        at most a quarter of its share: what the allocator keeps of freed ones, in each thread, and what a growing one
        leaves behind counts as well.
        """
        least = connections * MIN_CONNECTION_BYTES
        if not isinstance(budget, int) or isinstance(budget, bool) or budget < least:
            raise InterfaceError(
                f"memory_budget must be at least {least} bytes for {connections} connections "
                f"({MIN_CONNECTION_BYTES} for each), got {budget!r}"
            )
        share = budget // (2 * connections)
        fetch = max(min(fetch_bytes, share // 4), _MIN_FETCH_BYTES)
        batch = max(min(batch_bytes, share // 4), _MIN_BATCH_BYTES)
        return cls(connections, batch, fetch, budget - connections * (batch + 2 * fetch))


class OrderedMergeQueue:
    """The books of one parallel read.

    Parameters
    ----------
    parts
        What is to be read, in order.
    readers
        How many read.
    room
        Bytes of batches that may wait to be handed out; one batch always may.
    ordered
        Whether batches are handed out in the order of the parts, else as they come.
    """

    def __init__(self, parts: Sequence[NumberedPart], readers: int, room: int, *, ordered: bool) -> None:
        self.worker_group = crew = WorkerGroup(readers)
        self._lock = crew.lock
        self._unclaimed = deque(range(len(parts)))
        self._unread = set(range(len(parts)))  # to their ends
        self._queues: list[deque[pa.RecordBatch]] = [deque() for _ in (parts if ordered else (None,))]
        self._ordered = ordered
        self._head = 0  # the queue that is handed out
        self._max_bytes = room
        self._bytes = 0
        self._active_readers = readers  # have not said that they are leaving
        self._cleanup_claimed = False

    def claim(self) -> int | None:
        """The number of a part for a reader; None when there is none left."""
        with self._lock:
            self.worker_group.check()
            return self._unclaimed.popleft() if self._unclaimed else None

    def put(self, part: int, batch: pa.RecordBatch, signal: SignalProtocol) -> bool:
        """Take a batch of a part. False when there is no room: the signal tells when to try again."""
        with self._lock:
            self.worker_group.check()
            at = part if self._ordered else 0
            first = at == self._head and not self._queues[at]  # what is waited for has room in any case
            size = batch.nbytes
            if not first and self._bytes + size > self._max_bytes:
                self.worker_group.notify_on_change(signal)
                return False
            self._queues[at].append(batch)
            self._bytes += size
            self.worker_group.notify_all()
            return True

    def next_batch(self, signal: SignalProtocol) -> pa.RecordBatch | None:
        """The next batch; None when there is none now: then either all is :attr:`is_finished`, or the signal tells when."""
        with self._lock:
            while not self._queues[self._head]:
                if self._ordered and self._head + 1 < len(self._queues) and self._head not in self._unread:
                    self._head += 1
                    self.worker_group.notify_all()
                else:
                    self.worker_group.notify_on_change(signal)
                    return None
            batch = self._queues[self._head].popleft()
            self._bytes -= batch.nbytes
            self.worker_group.notify_all()
            return batch

    @property
    def is_finished(self) -> bool:
        """Whether all rows were handed out, or no more are coming."""
        with self._lock:
            return self.worker_group.stopped or not (self._unread or any(self._queues))

    @property
    def all_read(self) -> bool:
        """Whether every part was read to its end."""
        with self._lock:
            return not self._unread

    def mark_read(self, part: int) -> None:
        """A part was read to its end."""
        with self._lock:
            self._unread.discard(part)
            self.worker_group.notify_all()

    def stop(self) -> None:
        """Nobody wants more rows."""
        self.worker_group.stop()
        with self._lock:
            for queue in self._queues:
                queue.clear()

    def reader_exiting(self) -> bool:
        """A reader has nothing more to read. True once, for the last one that read anything: it may have something to
        put away before it is gone."""
        with self._lock:
            self._active_readers -= 1
            last = self._active_readers <= self.worker_group.connecting and (
                self.worker_group.stopped or not self._unread
            )
            first, self._cleanup_claimed = not self._cleanup_claimed, self._cleanup_claimed or last
            return last and first
