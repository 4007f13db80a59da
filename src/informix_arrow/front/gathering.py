"""What several readers of one result's parts share: who reads which part, what waits to be handed out, how it ended.

As with a pool, every method is an instant: nothing waits and nothing is sent here, and threads and tasks are served
alike. Whoever has to wait leaves a signal, which any change gives.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from ..wire.errors import Error, InterfaceError

MOST_CONNECTIONS = 8  # by default
DEFAULT_BUDGET = 256 << 20
LEAST_SHARE = 1 << 20  # of the budget, for each connection
_LEAST_FETCH = 32 << 10
_LEAST_BATCH = 64 << 10

#: Seconds after which who waits looks for himself: a finalizer and a signal handler may take no lock to give a signal.
LOOK = 0.2


class Stopped(Exception):
    """To a reader: nobody wants the rows any more."""


class AnySignal(Protocol):
    """What wakes somebody."""

    def set(self) -> None: ...


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

        A connection has a batch that it builds or wants to hand out, and two replies that it has asked for.
        """
        least = connections * LEAST_SHARE
        if not isinstance(budget, int) or isinstance(budget, bool) or budget < least:
            raise InterfaceError(
                f"memory_budget must be at least {least} bytes for {connections} connections "
                f"({LEAST_SHARE} for each), got {budget!r}"
            )
        share = budget // (2 * connections)
        fetch = max(min(fetch_bytes, share // 4), _LEAST_FETCH)
        batch = max(min(batch_bytes, share - 2 * fetch), _LEAST_BATCH)
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
        self._lock = threading.Lock()
        self._unclaimed = deque(range(len(parts)))
        self._unread = set(range(len(parts)))  # to their ends
        self._queues: list[deque[pa.RecordBatch]] = [deque() for _ in (parts if ordered else (None,))]
        self._ordered = ordered
        self._head = 0  # the queue that is handed out
        self._room = room
        self._bytes = 0
        self._signals: list[AnySignal] = []
        self._reading = readers  # have not said that they are leaving
        self._put_away = False
        self.readers = readers  # still at work
        self.connecting = 0  # of these
        self.failure: BaseException | None = None
        self.stopped = False  # set without the lock by finalizers and signal handlers
        self.canceled = False

    def claim(self) -> int | None:
        """The number of a part for a reader; None when there is none left."""
        with self._lock:
            self._check()
            return self._unclaimed.popleft() if self._unclaimed else None

    def put(self, part: int, batch: pa.RecordBatch, signal: AnySignal) -> bool:
        """Take a batch of a part. False when there is no room: the signal tells when to try again."""
        with self._lock:
            self._check()
            at = part if self._ordered else 0
            first = at == self._head and not self._queues[at]  # what is waited for has room in any case
            size = batch.nbytes
            if not first and self._bytes + size > self._room:
                self._signals.append(signal)
                return False
            self._queues[at].append(batch)
            self._bytes += size
            self._give()
            return True

    def take(self, signal: AnySignal) -> pa.RecordBatch | None:
        """The next batch; None when there is none now: then either all is :attr:`over`, or the signal tells when."""
        with self._lock:
            while not self._queues[self._head]:
                if self._ordered and self._head + 1 < len(self._queues) and self._head not in self._unread:
                    self._head += 1
                    self._give()
                else:
                    self._signals.append(signal)
                    return None
            batch = self._queues[self._head].popleft()
            self._bytes -= batch.nbytes
            self._give()
            return batch

    @property
    def over(self) -> bool:
        """Whether all rows were handed out, or no more are coming."""
        with self._lock:
            return self.stopped or not (self._unread or any(self._queues))

    @property
    def all_read(self) -> bool:
        """Whether every part was read to its end."""
        with self._lock:
            return not self._unread

    def done(self, part: int) -> None:
        """A part was read to its end."""
        with self._lock:
            self._unread.discard(part)
            self._give()

    def fail(self, error: BaseException) -> None:
        """A reader has failed; the first one's error counts."""
        with self._lock:
            if not self.stopped and self.failure is None:
                self.failure = error
            self.stopped = True
            self._give()

    def stop(self) -> None:
        """Nobody wants more rows."""
        with self._lock:
            self.stopped = True
            for queue in self._queues:
                queue.clear()
            self._give()

    def left(self, signal: AnySignal | None = None) -> bool:
        """Whether readers are still at work whose end is worth waiting for; the signal tells when there are fewer.

        Those that connect are not: they will find out by themselves.
        """
        with self._lock:
            if self.readers <= self.connecting:
                return False
            if signal is not None:
                self._signals.append(signal)
            return True

    def connects(self, change: int) -> None:
        """A reader begins (1) or ends (-1) to connect. Raises :class:`Stopped` when it is not wanted any more."""
        with self._lock:
            self.connecting += change
            self._give()
            if change < 0:
                self._check()

    def leaving(self) -> bool:
        """A reader has nothing more to read. True once, for the last one that read anything: it may have something to
        put away before it is gone."""
        with self._lock:
            self._reading -= 1
            last = self._reading <= self.connecting and (self.stopped or not self._unread)
            first, self._put_away = not self._put_away, self._put_away or last
            return last and first

    def leave(self) -> None:
        """A reader is through: nothing of it is left."""
        with self._lock:
            self.readers -= 1
            self._give()

    def _check(self) -> None:
        if self.stopped:
            raise Stopped

    def _give(self) -> None:
        signals, self._signals = self._signals, []
        for signal in signals:
            signal.set()


def named(error: BaseException, name: str) -> BaseException:
    """The error, whose text says which part it is about."""
    if isinstance(error, Error) and error.args:
        error.args = (f"{name}: {error.args[0]}", *error.args[1:])
    return error
