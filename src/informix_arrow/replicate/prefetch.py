"""Read rows in one thread and write them in another: one encodes while the other waits for the server or decodes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import TypeVar

import pyarrow as pa

T = TypeVar("T")

MAX_WAITING_BYTES = 32 << 20  # bytes of batches that may wait


class SourceFailed(Exception):
    """Raised in the writer when no more rows will arrive because reading them failed."""


class PrefetchBuffer:
    """A bounded buffer of batches that were read, for the thread that writes them."""

    def __init__(self, room: int = MAX_WAITING_BYTES) -> None:
        self._change = threading.Condition()
        self._waiting: deque[pa.RecordBatch] = deque()
        self._bytes = 0
        self._max_bytes = room
        self._finished = False
        self._abandoned = False
        self._consumer_stopped = False

    @property
    def empty(self) -> bool:
        """True if the consumer would have to wait for the next batch."""
        return not self._waiting and not self._finished

    def put(self, batch: pa.RecordBatch) -> bool:
        """Add a batch once there is room. Return False if the consumer has stopped."""
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
        """End the stream."""
        with self._change:
            self._finished = True
            self._abandoned = abandoned
            self._change.notify_all()

    def stop_consuming(self) -> None:
        """Note that the consumer has stopped."""
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
    threads: Executor,
    cancel: Callable[[], object],
    room: int = MAX_WAITING_BYTES,
) -> T:
    """Run ``work`` on the batches in one of ``threads`` while they are read in this one, and return its result.

    The first error of either side ends both. ``cancel`` ends the wait for the next batch: it is called after an error
    of ``work``, from its thread.
    """
    ahead = PrefetchBuffer(room)

    def run() -> T:
        try:
            return work(ahead)
        except SourceFailed:
            raise
        except BaseException:
            ahead.stop_consuming()
            cancel()
            raise
        finally:
            ahead.stop_consuming()

    result = threads.submit(run)
    complete = False
    try:
        complete = all(map(ahead.put, batches))
    except BaseException as error:
        ahead.finish(abandoned=True)
        failed = result.exception()
        if failed is None or isinstance(failed, SourceFailed):
            raise
        raise failed from error  # reading was ended because writing had failed
    ahead.finish(abandoned=not complete)
    return result.result()
