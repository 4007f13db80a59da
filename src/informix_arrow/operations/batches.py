"""The rows of one result as final record batches, each read by one operation.

Decoded batches are completed here (:mod:`informix_arrow.rows.postprocess`): large objects are read, text is
decoded, lists and structs are parsed. The blocking and the asyncio result are thin wrappers of one
:class:`Batches`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import pyarrow as pa

from ..rows.postprocess import Content
from ..rows.python_rows import DecodedRows
from ..wire.describe import Column
from ..wire.errors import DataError, Error, InterfaceError
from .fetch import DecodedBatch, ServerCursor, next_batch
from .instrument import report, report_rows
from .io_steps import Exchange
from .session import Session

B = TypeVar("B")


class Batches:
    """The batches of one server cursor, to be read once, in order."""

    def __init__(self, cursor: ServerCursor) -> None:
        self.cursor = cursor
        self.claimed = False  # they have a reader, or may never have one
        self.closed = False
        self._postprocessor = cursor.shape.postprocessor
        self._row = 0  # number of the next row to be returned
        self._decoded: pa.RecordBatch | None = None  # a batch whose large objects are being read
        self._offset = 0  # its rows already returned
        self._error: Error | None = None  # of the next row
        self._failure: BaseException | None = None  # why reading ended early
        self._ended = False
        self._floating = set(
            cursor.shape.floating_columns
        )  # columns that may have lost digits and were not reported yet
        self._decoder = cursor.decoder if self._floating else None

    def inexact_warnings(self) -> list[str]:
        """Return one warning for each floating DECIMAL column whose decoded rows lost digits, each only once."""
        if self._decoder is None or not self._floating:
            return []
        warnings = []
        for index, count, row in self._decoder.inexact():
            if index in self._floating:
                self._floating.remove(index)
                column = self.cursor.columns[index]
                total = self._decoder.total_rows
                warnings.append(
                    f"Column {column.name!r}, a {column.type.sql}, was read as float64, which lost digits in "
                    f"{count:,} of the first {total:,} rows, first in row {row}. floating_decimals='string' or a "
                    "pyarrow.decimal128(p, s) reads them exactly."
                )
        return warnings

    @property
    def schema(self) -> pa.Schema:
        """The schema of every batch."""
        return self.cursor.shape.plan.schema

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns' names and Informix types, as the server described them, without those left out."""
        cursor = self.cursor
        return tuple([cursor.columns[index] for index in cursor.plan.column_indexes])

    def claim(self) -> None:
        """Claim the batches for one reader. Raises ``InterfaceError`` if they were claimed or closed before."""
        if self.closed:
            raise InterfaceError("The result is closed.")
        if self.claimed:
            raise InterfaceError(
                "The result was already read. Its rows are not kept. Run the query again, or keep the "
                "table of read_all()."
            )
        self.claimed = True

    @property
    def is_exhausted(self) -> bool:
        """Return whether all rows were returned and no error is left to be raised."""
        cursor = self.cursor
        return (
            cursor.ended
            and cursor.released
            and not (
                cursor.ready_batches
                or cursor.objects
                or cursor.error
                or self._error
                or self._failure
                or self.closed
            )
            and (cursor.decoder is None or not cursor.decoder.rows)
        )

    def next(self, session: Session) -> Exchange[pa.RecordBatch | None]:
        """Return the next batch; None at the end of the rows.

        If a row cannot be read, the rows before it come first, and the error is raised by the next call. The
        cursor is closed then. A caller that runs this operation and does not get its result must call
        :meth:`fail`: rows are then missing, and later calls are refused.
        """
        return self._read_next(session, self._next)

    def next_decoded(self, session: Session) -> Exchange[pa.RecordBatch | DecodedRows | None]:
        """Return the next rows for a caller that makes Python rows: as the decoder returns them, if C can
        convert them.

        That avoids pyarrow, whose allocator takes 2 MiB for the few bytes of a schema.
        """
        return self._read_next(
            session, self._next if self.cursor.shape.c_schema is None else self._next_unconverted
        )

    def _read_next(
        self, session: Session, make: Callable[[Session], Exchange[B | None]]
    ) -> Exchange[B | None]:
        """Return the next rows, built by ``make``; None at their end."""
        if self.closed:
            raise InterfaceError("The result was closed while it was being read.")
        if self._failure is not None:
            raise InterfaceError(
                f"Reading this result failed before ({_first_line(self._failure)}), and rows were lost. Run "
                "the query again."
            ) from self._failure
        if self._ended:
            return None
        report(session, "fetch", self.cursor.sql)
        try:
            return (yield from make(session))
        except Error as error:
            if not self.cursor.lazy and session.usable_after(error):
                yield from self.cursor.close(session)
            raise

    def _fetch_batch(self, session: Session) -> Exchange[DecodedBatch | None]:
        """Return the next batch as the decoder returns it; None at the end of the rows."""
        decoded = yield from next_batch(session, self.cursor)
        if decoded is None:
            self._ended = True
        else:
            report_rows(session, decoded[1])
        return decoded

    def _next_unconverted(self, session: Session) -> Exchange[DecodedRows | None]:
        decoded = yield from self._fetch_batch(session)
        return None if decoded is None else DecodedRows(self.schema, self.cursor.shape.c_schema, *decoded)

    def _next(self, session: Session) -> Exchange[pa.RecordBatch | None]:
        if self._error is not None:
            raise self._error
        if self._decoded is not None:
            return (yield from self._with_objects(session, self._decoded))
        decoded = yield from self._fetch_batch(session)
        if decoded is None:
            return None
        finisher = self._postprocessor
        if finisher.is_identity:
            self._row += decoded[1]
            return pa.RecordBatch._import_from_c_capsule(finisher.schema.__arrow_c_schema__(), decoded[0])
        batch = pa.RecordBatch._import_from_c_capsule(
            finisher.decoded_schema.__arrow_c_schema__(), decoded[0]
        )
        if self.cursor.objects is not None:
            self._offset = 0
            return (yield from self._with_objects(session, batch))
        return self._finish_batch(session, batch, {})

    def fail(self, error: BaseException) -> None:
        """Record that the reader did not get the result of :meth:`next`, so that rows are missing."""
        self._failure = self._failure or error

    def close(self, session: Session) -> Exchange[None]:
        """Drop the remaining rows and release the statement."""
        return self.cursor.close(session)

    def abandon(self, session: Session) -> None:
        """Leave the cursor to the connection, which releases it before its next operation.

        For finalizers, which run at any moment and in any thread: nothing is sent here and no lock is taken.
        """
        if not self.cursor.released:
            session.orphans.append(self.cursor)

    def _with_objects(self, session: Session, batch: pa.RecordBatch) -> Exchange[pa.RecordBatch]:
        """Read the large objects of a decoded batch: as many rows as fit into a batch of their own."""
        objects = self.cursor.objects
        assert objects is not None
        self._decoded = batch
        filled = yield from objects.read(session, batch, self._offset, self._row - self._offset)
        if not filled.rows:
            assert filled.error is not None
            raise filled.error
        piece = batch.slice(self._offset, filled.rows)
        self._offset += filled.rows
        if self._offset >= batch.num_rows:
            self._decoded = None
        self._error = filled.error
        return self._finish_batch(session, piece, filled.contents)

    def _finish_batch(
        self, session: Session, batch: pa.RecordBatch, contents: Mapping[int, Content]
    ) -> pa.RecordBatch:
        """Make the final batch. It ends before the first row with a value that is not valid text."""
        first = self._row
        try:
            while True:
                try:
                    done = self._postprocessor.process(batch, first, contents)
                    break
                except DataError as error:
                    error.statement = self.cursor.sql
                    self._error = error
                    batch = batch.slice(0, (error.row or first) - first)
                    if not batch.num_rows:
                        raise
        except BaseException as error:  # no request is in flight
            session.caller_error = error
            raise
        self._row += done.num_rows
        return done


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0].removesuffix(".") or type(error).__name__
