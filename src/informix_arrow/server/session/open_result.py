"""The rows of a query that DuckDB still runs: it makes them while they are taken.

DuckDB's connection does nothing else while such a result is open. Who needs it for another statement has the rest of
the rows set aside first (`buffer_rest`): they are the rows of the query's own snapshot, whatever happens after.
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
"""Seconds that an interrupt of the statement that waits for the connection spares a query that makes no row."""

_ERROR_CLASSES: tuple[tuple[str, type[duckdb.Error]], ...] = (
    ("Conversion Error", duckdb.ConversionException),
    ("Out of Memory Error", duckdb.OutOfMemoryException),
)
"""Errors reach a reader of Arrow as text; those whose class `from_duckdb` looks at."""


def duckdb_error(problem: Exception) -> duckdb.Error:
    """What DuckDB complained about, from what a reader of its rows has raised."""
    if isinstance(problem, duckdb.Error):
        return problem
    if isinstance(problem, MemoryError):  # Arrow's
        return duckdb.OutOfMemoryException(str(problem))
    text = str(problem)
    return next((cls for start, cls in _ERROR_CLASSES if text.startswith(start)), duckdb.Error)(text)


class OpenResult:
    """The rows of one query, in record batches. Used by one thread, `interrupt` excepted.

    Parameters
    ----------
    reader
        DuckDB's, open on the session's connection.
    mend
        Puts the transaction together again that DuckDB aborts when the query fails.
    freed
        Called once, when the connection is free again: all rows are read, or nobody wants them.
    directory
        Where rows are put aside that are too many for memory; None for where the machine has temporary files.

    Attributes
    ----------
    held
        Whether the end of a transaction leaves the rows as they are; else they end with it.
    """

    def __init__(
        self,
        reader: pa.RecordBatchReader,
        mend: Callable[[duckdb.Error], object],
        freed: Callable[[], None],
        directory: str | None = None,
    ) -> None:
        self.with_hold = True
        self._reader: pa.RecordBatchReader | None = reader
        self._schema = reader.schema
        self._on_failure = mend
        self._on_freed = freed
        self._spool = BatchSpool(directory=directory)
        self._failure: SqlError | None = None
        self._lock = threading.Lock()
        self._uninterruptible_until: float | None = 0.0  # None: nothing is spared, the rows are being fetched
        self._is_reading = False

    def read(self) -> pa.RecordBatch | None:
        """The next rows, None behind the last. SqlError where the query has failed, now and ever after."""
        kept = self._spool.pop()
        if kept is not None:
            return kept
        self._uninterruptible_until = None
        batch = self._read_batch()
        if self._failure is not None:
            raise self._failure
        return batch

    def read_if_small(self) -> pa.Table | None:
        """All rows, where they are one batch at most. None for more: the first are read ahead then."""
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
        """Read all the rest, for later, so that the connection is free. SqlError when that cannot be: -213 as soon as
        `stop` says so, -271 where there is no room. Nothing is lost by that, and the connection is still taken.

        What is wrong with a row is said when the row is fetched.
        """
        while self._reader is not None:
            if stop():
                raise SqlError(-213, ISAM_INTERRUPTED)
            self._uninterruptible_until = time.monotonic() + _INTERRUPT_GRACE_SECONDS
            batch = self._read_batch()
            if batch is not None:
                self._spool.append(batch)

    def _read_batch(self) -> pa.RecordBatch | None:
        """What the query makes next; None at its end, and when it fails. SqlError when the transaction is lost by
        that."""
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
        """Stop the query if it is at work for its reader. From another thread."""
        with self._lock:
            spared = self._uninterruptible_until
            if self._is_reading and (spared is None or time.monotonic() > spared):
                con.interrupt()

    def fail_rest(self, problem: SqlError) -> None:
        """What was not read yet cannot be read: the next who reads beyond what was set aside is told. Not while the
        query is at work."""
        if self._reader is not None:
            self._failure = problem
            self._close_reader()

    def close(self) -> None:
        """Nobody wants the rest. From another thread while the query is at work: it goes on, to be ended by its own."""
        with self._lock:
            if self._is_reading:
                return
        self._close_reader()
        self._spool.close()

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            try:
                # Not left to the collector: DuckDB waits for its threads, which may need what Python holds then.
                reader.close()
            finally:
                self._on_freed()

    def __del__(self) -> None:
        self.close()
