"""The rows of a query that DuckDB still runs: they are produced while they are read.

DuckDB's connection can do nothing else while such a result is open. Before another statement uses the connection, the
remaining rows are buffered (`buffer_rest`). They are the rows of the query's own snapshot, whatever happens later.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import duckdb
import pyarrow as pa

from ..errors import ISAM_INTERRUPTED, SqlError, from_duckdb
from .spool import BatchSpool

_INTERRUPT_GRACE_SECONDS = 2.0
"""Seconds for which a query that produces no row survives an interrupt of the statement that waits for the connection.
"""

_ERROR_CLASSES: tuple[tuple[str, type[duckdb.Error]], ...] = (
    ("Conversion Error", duckdb.ConversionException),
    ("Out of Memory Error", duckdb.OutOfMemoryException),
)
"""Arrow readers report DuckDB's errors as text. These are the prefixes of the classes that `from_duckdb` handles."""


def duckdb_error(problem: Exception) -> duckdb.Error:
    """Return DuckDB's error for an exception that a reader of its rows has raised."""
    if isinstance(problem, duckdb.Error):
        return problem
    if isinstance(problem, MemoryError):  # raised by Arrow
        return duckdb.OutOfMemoryException(str(problem))
    text = str(problem)
    return next((cls for start, cls in _ERROR_CLASSES if text.startswith(start)), duckdb.Error)(text)


class OpenResult:
    """The rows of one query, in record batches. Used by one thread, except `interrupt`.

    Parameters
    ----------
    reader
        DuckDB's reader, open on the session's connection.
    recover
        Recovers the transaction, which DuckDB aborts when the query fails.
    on_freed
        Called once when the connection is free again: all rows are read, or the result is closed.
    directory
        Directory for buffered rows that are too many for memory; None for the machine's temporary directory.

    Attributes
    ----------
    with_hold
        True if the rows survive the end of the transaction.
    """

    def __init__(
        self,
        reader: pa.RecordBatchReader,
        recover: Callable[[duckdb.Error], object],
        on_freed: Callable[[], None],
        directory: str | None = None,
    ) -> None:
        self.with_hold = True
        self._reader: pa.RecordBatchReader | None = reader
        self._schema = reader.schema
        self._on_failure = recover
        self._on_freed = on_freed
        self._spool = BatchSpool(directory=directory)
        self._failure: SqlError | None = None
        self._lock = threading.Lock()
        # end of the grace period; None while rows are being fetched, which may be interrupted at any time
        self._uninterruptible_until: float | None = 0.0
        self._is_reading = False

    def read(self) -> pa.RecordBatch | None:
        """Return the next batch, None after the last one.

        Raises SqlError if the query has failed, also on every later call.
        """
        buffered = self._spool.pop()
        if buffered is not None:
            return buffered
        self._uninterruptible_until = None
        batch = self._read_batch()
        if self._failure is not None:
            raise self._failure
        return batch

    def read_if_small(self) -> pa.Table | None:
        """Return all rows if they fit into one batch. Returns None for more; the first batches are then buffered."""
        schema = self._schema
        self._uninterruptible_until = None
        first = self._read_batch()
        if self._failure is not None:
            raise self._failure
        second = self._read_batch() if first is not None else None
        if self._reader is None and self._failure is None and second is None:
            return pa.Table.from_batches([] if first is None else [first], schema)
        for batch in (first, second):
            if batch is not None:
                self._spool.append(batch, soon=True)
        return None

    def buffer_rest(self, stop: Callable[[], bool]) -> None:
        """Read and buffer all remaining rows, so that the connection is free.

        Raises SqlError -213 as soon as `stop` returns True and -271 if there is no room. No row is lost then, but the
        connection is still in use. An error of a row is raised when the row is fetched.
        """
        while self._reader is not None:
            if stop():
                raise SqlError(-213, ISAM_INTERRUPTED)
            self._uninterruptible_until = time.monotonic() + _INTERRUPT_GRACE_SECONDS
            batch = self._read_batch()
            if batch is not None:
                self._spool.append(batch)

    def _read_batch(self) -> pa.RecordBatch | None:
        """Return the next batch of the query; None at its end and when it fails.

        Raises SqlError if the failure has lost the transaction.
        """
        reader = self._reader
        if reader is None:
            return None
        with self._lock:
            self._is_reading = True
        try:
            return reader.read_next_batch()
        except StopIteration:
            self._close_reader()
        except (OSError, MemoryError, pa.ArrowException, duckdb.Error) as e:
            self._close_reader()
            error = duckdb_error(e)
            self._failure = from_duckdb(error)
            self._on_failure(error)
        finally:
            with self._lock:
                self._is_reading = False
        return None

    def interrupt(self, con: duckdb.DuckDBPyConnection) -> None:
        """Interrupt the query if it is producing rows for its reader. Called from another thread."""
        with self._lock:
            spared = self._uninterruptible_until
            if self._is_reading and (spared is None or time.monotonic() > spared):
                con.interrupt()

    def fail_rest(self, problem: SqlError) -> None:
        """Fail all later reads beyond the buffered rows with `problem`.

        Must not be called while the query is running.
        """
        if self._reader is not None:
            self._failure = problem
            self._close_reader()

    def close(self) -> None:
        """Discard the remaining rows.

        Called from another thread while the query runs, it lets the query's thread end it.
        """
        with self._lock:
            if self._is_reading:
                return
        self._close_reader()
        self._spool.close()

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            try:
                # Not left to the garbage collector: DuckDB waits for its threads, which may need the GIL at that point.
                reader.close()
            finally:
                self._on_freed()

    def __del__(self) -> None:
        self.close()
