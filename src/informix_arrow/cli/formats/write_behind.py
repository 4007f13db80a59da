"""Writing behind the reader: while a batch is packed and written, the next one is on its way from the server."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from . import BatchWriter


class _BackgroundWriter:
    """Hands batches to a thread, at most one ahead of what it writes."""

    def __init__(self, writer: BatchWriter) -> None:
        self._writer = writer
        self._waiting: queue.Queue[pa.RecordBatch | None] = queue.Queue(1)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="informix-arrow writer", daemon=True)
        self._thread.start()

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch, later; an error of one before it is raised here."""
        self._raise()
        self._waiting.put(batch)

    def close(self) -> None:
        """Wait until all is written; the writer itself stays open."""
        self.stop()
        self._raise()

    def stop(self) -> None:
        """Wait for the thread."""
        self._waiting.put(None)
        self._thread.join()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        while (batch := self._waiting.get()) is not None:
            if self._failure is None:  # else what comes is thrown away, so that nobody waits for room
                try:
                    self._writer.write(batch)
                except BaseException as error:  # noqa: BLE001 - raised by write() or close()
                    self._failure = error


@contextmanager
def write_behind(writer: BatchWriter) -> Iterator[BatchWriter]:
    """The same writer, at work in a thread of its own; all is written when the block has ended well."""
    made = _BackgroundWriter(writer)
    try:
        yield made
    except BaseException:
        made.stop()
        raise
    made.close()
