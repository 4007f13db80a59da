"""A stream of batches, cut at rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa


class BatchSlicer:
    """Batches, to be taken by so many rows at a time."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._next: pa.RecordBatch | None = None

    def has_rows(self) -> bool:
        """Whether there are any rows left."""
        while self._next is None or not self._next.num_rows:
            self._next = next(self._batches, None)
            if self._next is None:
                return False
        return True

    def slice_rows(self, rows: int | None) -> Iterator[pa.RecordBatch]:
        """The next rows, so many or all."""
        left = sys.maxsize if rows is None else rows
        while left and self.has_rows():
            assert self._next is not None
            piece, self._next = self._next.slice(0, left), self._next.slice(left)
            left -= piece.num_rows
            yield piece
