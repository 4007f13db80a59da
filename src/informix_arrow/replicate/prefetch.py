"""Rows are read in one thread and written in another: while one waits for the server, or decodes, the other encodes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TypeVar

import pyarrow as pa

T = TypeVar("T")

MAX_WAITING_BYTES = 32 << 20  # bytes of batches that may wait


class SourceFailed(Exception):
    """What a writer meets when there will be no more rows, since reading them has failed."""


class PrefetchBuffer:
    """The batches that were read, for the thread that writes them."""

    def __init__(self, room: int = MAX_WAITING_BYTES) -> None:
        self._change = threading.Condition()
        self._waiting: deque[pa.RecordBatch] = deque()
        self._bytes = 0
        self._max_bytes = room
        self._finished = False
        self._abandoned = False
        self._consumer_stopped = False  # nobody takes them any more

    @property
    def empty(self) -> bool:
        """Whether whoever takes the next one has to wait for it."""
        return not self._waiting and not self._finished

    def put(self, batch: pa.RecordBatch) -> bool:
        """Hand on a batch, once there is room; False when nobody takes it."""
        with self._change:
            while (
                self._waiting and self._bytes + batch.nbytes > self._max_bytes and not self._consumer_stopped
            ):
                self._change.wait()
            self._waiting.append(batch)
            self._bytes += batch.nbytes
            self._change.notify_all()
            return not self._consumer_stopped

    def finish(self, *, abandoned: bool = False) -> None:
        """There are no more."""
        with self._change:
            self._finished = True
            self._abandoned = abandoned
            self._change.notify_all()

    def stop_consuming(self) -> None:
        """Nobody takes any more."""
        with self._change:
            self._consumer_stopped = True
            self._change.notify_all()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        with self._change:
            while not self._waiting and not self._finished:
                self._change.wait()
            if self._abandoned:
                raise SourceFailed
            if not self._waiting:
                raise StopIteration
            batch = self._waiting.popleft()
            self._bytes -= batch.nbytes
            self._change.notify_all()
            return batch


def process_in_thread(
    batches: Iterator[pa.RecordBatch],
    work: Callable[[PrefetchBuffer], T],
    room: int = MAX_WAITING_BYTES,
    threads: Executor | None = None,
) -> T:
    """What ``work`` makes of the batches, in a thread of its own, while they are read in this one.

    The thread is one of ``threads``, if they are given. The first error of either ends both.
    """
    if threads is None:
        with ThreadPoolExecutor(1, "copy-writer") as own:
            return process_in_thread(batches, work, room, own)
    ahead = PrefetchBuffer(room)

    def run() -> T:
        try:
            return work(ahead)
        finally:
            ahead.stop_consuming()

    made = threads.submit(run)
    whole = False
    try:
        whole = all(map(ahead.put, batches))
    finally:
        ahead.finish(abandoned=not whole)
        failed = made.exception()
    if failed is not None:
        raise failed
    return made.result()
