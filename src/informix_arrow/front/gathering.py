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
from .crew import AnySignal, Crew

MOST_CONNECTIONS = 8  # by default
DEFAULT_BUDGET = 256 << 20
LEAST_SHARE = 1 << 20  # of the budget, for each connection
_LEAST_FETCH = 32 << 10
_LEAST_BATCH = 64 << 10


class Numbered(Protocol):
    """A part, as far as it matters here."""

    @property
    def number(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Shares:
    """How a memory budget is divided."""

    connections: int
    batch_bytes: int
    fetch_bytes: int
    room: int  # for batches that wait to be handed out

    @classmethod
    def of(cls, budget: object, connections: int, batch_bytes: int, fetch_bytes: int) -> Shares:
        """``InterfaceError`` for a budget that is too small.

        A connection has a batch that it builds or wants to hand out, and two replies that it has asked for. Batches are
        at most a quarter of its share: what the allocator keeps of freed ones, in each thread, and what a growing one
        leaves behind counts as well.
        """
        least = connections * LEAST_SHARE
        if not isinstance(budget, int) or isinstance(budget, bool) or budget < least:
            raise InterfaceError(
                f"memory_budget must be at least {least} bytes for {connections} connections "
                f"({LEAST_SHARE} for each), got {budget!r}"
            )
        share = budget // (2 * connections)
        fetch = max(min(fetch_bytes, share // 4), _LEAST_FETCH)
        batch = max(min(batch_bytes, share // 4), _LEAST_BATCH)
        return cls(connections, batch, fetch, budget - connections * (batch + 2 * fetch))


class Gathering:
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

    def __init__(self, parts: Sequence[Numbered], readers: int, room: int, *, ordered: bool) -> None:
        self.crew = crew = Crew(readers)
        self._lock = crew.lock
        self._unclaimed = deque(range(len(parts)))
        self._unread = set(range(len(parts)))  # to their ends
        self._queues: list[deque[pa.RecordBatch]] = [deque() for _ in (parts if ordered else (None,))]
        self._ordered = ordered
        self._head = 0  # the queue that is handed out
        self._room = room
        self._bytes = 0
        self._reading = readers  # have not said that they are leaving
        self._put_away = False

    def claim(self) -> int | None:
        """The number of a part for a reader; None when there is none left."""
        with self._lock:
            self.crew.check()
            return self._unclaimed.popleft() if self._unclaimed else None

    def put(self, part: int, batch: pa.RecordBatch, signal: AnySignal) -> bool:
        """Take a batch of a part. False when there is no room: the signal tells when to try again."""
        with self._lock:
            self.crew.check()
            at = part if self._ordered else 0
            first = at == self._head and not self._queues[at]  # what is waited for has room in any case
            size = batch.nbytes
            if not first and self._bytes + size > self._room:
                self.crew.wakes(signal)
                return False
            self._queues[at].append(batch)
            self._bytes += size
            self.crew.changed()
            return True

    def take(self, signal: AnySignal) -> pa.RecordBatch | None:
        """The next batch; None when there is none now: then either all is :attr:`over`, or the signal tells when."""
        with self._lock:
            while not self._queues[self._head]:
                if self._ordered and self._head + 1 < len(self._queues) and self._head not in self._unread:
                    self._head += 1
                    self.crew.changed()
                else:
                    self.crew.wakes(signal)
                    return None
            batch = self._queues[self._head].popleft()
            self._bytes -= batch.nbytes
            self.crew.changed()
            return batch

    @property
    def over(self) -> bool:
        """Whether all rows were handed out, or no more are coming."""
        with self._lock:
            return self.crew.stopped or not (self._unread or any(self._queues))

    @property
    def all_read(self) -> bool:
        """Whether every part was read to its end."""
        with self._lock:
            return not self._unread

    def done(self, part: int) -> None:
        """A part was read to its end."""
        with self._lock:
            self._unread.discard(part)
            self.crew.changed()

    def stop(self) -> None:
        """Nobody wants more rows."""
        self.crew.stop()
        with self._lock:
            for queue in self._queues:
                queue.clear()

    def leaving(self) -> bool:
        """A reader has nothing more to read. True once, for the last one that read anything: it may have something to
        put away before it is gone."""
        with self._lock:
            self._reading -= 1
            last = self._reading <= self.crew.connecting and (self.crew.stopped or not self._unread)
            first, self._put_away = not self._put_away, self._put_away or last
            return last and first
