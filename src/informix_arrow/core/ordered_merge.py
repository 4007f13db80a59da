"""Merge the parts of one result that several readers read: unclaimed parts, waiting batches, and the end.

As in a pool, methods return at once: they neither wait nor send, and serve threads and tasks alike. A caller
that has to wait leaves a signal, which is set by any change.
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
    """A numbered part of the result."""

    @property
    def number(self) -> int: ...


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """The division of a memory budget."""

    connections: int
    batch_bytes: int
    fetch_bytes: int
    queue_bytes: int  # for batches that wait to be returned

    @classmethod
    def divide(cls, budget: object, connections: int, batch_bytes: int, fetch_bytes: int) -> MemoryBudget:
        """Divide a budget. Raises ``InterfaceError`` if it is too small.

        A connection has a batch that it builds or wants to return, and two replies that it has requested.
        Batches are at most a quarter of its share, because memory that the allocator keeps of freed ones in
        each thread, and leaves behind when one grows, counts as well.
        """
        least = connections * MIN_CONNECTION_BYTES
        if not isinstance(budget, int) or isinstance(budget, bool) or budget < least:
            raise InterfaceError(
                f"memory_budget must be at least {least} bytes for {connections} connections "
                f"({MIN_CONNECTION_BYTES} for each), got {budget!r}."
            )
        share = budget // (2 * connections)
        fetch = max(min(fetch_bytes, share // 4), _MIN_FETCH_BYTES)
        batch = max(min(batch_bytes, share // 4), _MIN_BATCH_BYTES)
        return cls(connections, batch, fetch, budget - connections * (batch + 2 * fetch))


class OrderedMergeQueue:
    """The shared state of one parallel read.

    Parameters
    ----------
    parts
        The parts to read, in order.
    readers
        The number of readers.
    room
        Bytes of batches that may wait to be returned; one batch always may.
    ordered
        True if batches are returned in the order of the parts, else as they arrive.
    """

    def __init__(self, parts: Sequence[NumberedPart], readers: int, room: int, *, ordered: bool) -> None:
        self.worker_group = worker_group = WorkerGroup(readers)
        self._lock = worker_group.lock
        self._unclaimed = deque(range(len(parts)))
        self._unread = set(range(len(parts)))  # parts not read to their ends
        self._queues: list[deque[pa.RecordBatch]] = [deque() for _ in (parts if ordered else (None,))]
        self._ordered = ordered
        self._head = 0  # the queue to return batches from
        self._max_bytes = room
        self._bytes = 0
        self._active_readers = readers  # those that have not called reader_exiting()
        self._cleanup_claimed = False

    def claim(self) -> int | None:
        """Return the number of a part for a reader; None if there are none left."""
        with self._lock:
            self.worker_group.check()
            return self._unclaimed.popleft() if self._unclaimed else None

    def put(self, part: int, batch: pa.RecordBatch, signal: SignalProtocol) -> bool:
        """Add a batch of a part. Returns False if there is no room: the signal is set when it is worth trying again."""
        with self._lock:
            self.worker_group.check()
            at = part if self._ordered else 0
            first = at == self._head and not self._queues[at]  # the batch to be returned next always has room
            size = batch.nbytes
            if not first and self._bytes + size > self._max_bytes:
                self.worker_group.notify_on_change(signal)
                return False
            self._queues[at].append(batch)
            self._bytes += size
            self.worker_group.notify_all()
            return True

    def next_batch(self, signal: SignalProtocol) -> pa.RecordBatch | None:
        """Return the next batch, or None if there is none now.

        After None, either the queue :attr:`is_finished`, or the signal is set when it is worth trying again.
        """
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
        """Return whether all rows were returned, or no more will come."""
        with self._lock:
            return self.worker_group.stopped or not (self._unread or any(self._queues))

    @property
    def all_read(self) -> bool:
        """Return whether every part was read to its end."""
        with self._lock:
            return not self._unread

    def mark_read(self, part: int) -> None:
        """Record that a part was read to its end."""
        with self._lock:
            self._unread.discard(part)
            self.worker_group.notify_all()

    def stop(self) -> None:
        """Stop the readers and drop all batches."""
        self.worker_group.stop()
        with self._lock:
            for queue in self._queues:
                queue.clear()

    def reader_exiting(self) -> bool:
        """Record that a reader has nothing more to read.

        Returns True once, for the last one that read anything, which may have to clean up before it ends.
        """
        with self._lock:
            self._active_readers -= 1
            last = self._active_readers <= self.worker_group.connecting and (
                self.worker_group.stopped or not self._unread
            )
            first, self._cleanup_claimed = not self._cleanup_claimed, self._cleanup_claimed or last
            return last and first
