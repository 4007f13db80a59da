"""Write in the background: a batch is compressed and written while the next one is received."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from . import BatchWriter


class _BackgroundWriter:
    """A writer that passes batches to a thread, at most one ahead of what it writes."""

    def __init__(self, writer: BatchWriter) -> None:
        self._writer = writer
        self._waiting: queue.Queue[pa.RecordBatch | None] = queue.Queue(1)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="informix-arrow writer", daemon=True)
        self._thread.start()

    def write(self, batch: pa.RecordBatch) -> None:
        """Queue a batch. Raises the error of an earlier one."""
        self._raise()
        self._waiting.put(batch)

    def close(self) -> None:
        """Wait until all batches are written. The writer itself stays open."""
        self.stop()
        self._raise()

    def stop(self) -> None:
        """Wait for the thread to end."""
        self._waiting.put(None)
        self._thread.join()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        while (batch := self._waiting.get()) is not None:
            if self._failure is None:  # after an error batches are dropped, so that write() does not block
                try:
                    self._writer.write(batch)
                except BaseException as error:  # noqa: BLE001 - raised by write() or close()
                    self._failure = error


@contextmanager
def write_behind(writer: BatchWriter) -> Iterator[BatchWriter]:
    """Provide the writer in a background thread. All is written if the block ends without an error."""
    background = _BackgroundWriter(writer)
    try:
        yield background
    except BaseException:
        background.stop()
        raise
    background.close()
