"""Slice a stream of batches at row numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa


class BatchSlicer:
    """A stream of batches from which a number of rows can be taken at a time."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._next: pa.RecordBatch | None = None

    def has_rows(self) -> bool:
        """Return whether there are any rows left."""
        while self._next is None or not self._next.num_rows:
            self._next = next(self._batches, None)
            if self._next is None:
                return False
        return True

    def slice_rows(self, rows: int | None) -> Iterator[pa.RecordBatch]:
        """Yield the next rows, up to a number, or all for None."""
        remaining = sys.maxsize if rows is None else rows
        while remaining and self.has_rows():
            assert self._next is not None
            piece, self._next = self._next.slice(0, remaining), self._next.slice(remaining)
            remaining -= piece.num_rows
            yield piece
