"""Buffered record batches: a few in memory, further ones in a temporary file."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ..errors import SqlError
from .spill_file import SpillFile, SpillRange

MEMORY = 8 << 20
"""Bytes of batches that stay in memory; further ones go to the file."""


class BatchSpool:
    """Batches of one schema in their order. They can be read repeatedly by number, or removed from the front once.

    Attributes
    ----------
    rows
        Number of rows in all batches that were appended.

    The file is in `directory` (spill_file.py).
    """

    def __init__(self, memory: int = MEMORY, directory: str | None = None) -> None:
        self._memory = memory
        self._file = SpillFile(directory)
        self._batches: list[pa.RecordBatch | SpillRange | None] = []  # None: removed
        self._next_index = 0
        self._bytes_in_memory = 0
        self._schema: Any = None
        self.rows = 0

    def __len__(self) -> int:
        return len(self._batches)

    def append(self, batch: pa.RecordBatch, *, soon: bool = False) -> None:
        """Append a batch, in any case in memory if it is needed `soon`.

        Raises SqlError -271 if the file cannot be written. The batch is then kept in memory.
        """
        self._schema = batch.schema
        self.rows += batch.num_rows
        if soon or self._bytes_in_memory + batch.nbytes <= self._memory:
            self._append_in_memory(batch)
            return
        try:
            self._batches.append(self._file.write(batch.serialize()))
        except SqlError:
            self._append_in_memory(batch)
            raise

    def _append_in_memory(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._bytes_in_memory += batch.nbytes

    def read(self, number: int) -> pa.RecordBatch:
        """Return the batch with a number, counted from 0, which must not have been removed."""
        batch = self._batches[number]
        assert batch is not None
        if not isinstance(batch, SpillRange):
            return batch
        return pa.ipc.read_record_batch(pa.py_buffer(self._file.read(batch)), self._schema)

    def pop(self) -> pa.RecordBatch | None:
        """Remove and return the next batch; None if there is none."""
        if self._next_index == len(self._batches):
            return None
        batch = self.read(self._next_index)
        if not isinstance(self._batches[self._next_index], SpillRange):
            self._bytes_in_memory -= batch.nbytes
        self._batches[self._next_index] = None
        self._next_index += 1
        if self._next_index == len(self._batches):
            self.close()
        return batch

    @property
    def has_next(self) -> bool:
        """True if there is a batch to `pop`."""
        return self._next_index < len(self._batches)

    def pop_table(self, size: int, rows: int) -> pa.Table:
        """Remove the next batches, at least one, and return them as one table.

        It has at most `size` bytes or `rows` rows, plus one batch.
        """
        batches: list[pa.RecordBatch] = []
        while size > 0 and rows > 0 and (batch := self.pop()) is not None:
            batches.append(batch)
            size, rows = size - batch.nbytes, rows - batch.num_rows
        return pa.Table.from_batches(batches)

    def close(self) -> None:
        """Discard all batches."""
        self._batches.clear()
        self._next_index = self._bytes_in_memory = 0
        self._file.close()
