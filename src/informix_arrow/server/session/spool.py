"""Record batches that wait: in memory while they are few, then in a temporary file."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ..errors import SqlError
from .spill_file import SpillFile, SpillRange

MEMORY = 8 << 20
"""Bytes of batches that stay in memory; those beyond go to the file."""


class BatchSpool:
    """Batches of one schema in their order. They can be read by their number as often as is wanted, or taken from the
    front, once.

    Attributes
    ----------
    rows
        How many the batches had that were put in.

    The file is in `directory` (spill_file.py).
    """

    def __init__(self, memory: int = MEMORY, directory: str | None = None) -> None:
        self._memory = memory
        self._file = SpillFile(directory)
        self._batches: list[pa.RecordBatch | SpillRange | None] = []  # None: was taken
        self._next_index = 0
        self._bytes_in_memory = 0  # bytes in memory
        self._schema: Any = None
        self.rows = 0

    def __len__(self) -> int:
        return len(self._batches)

    def append(self, batch: pa.RecordBatch, *, soon: bool = False) -> None:
        """Keep one more, in any case in memory where it is wanted `soon`. SqlError -271 when the file cannot be
        written: the batch is kept nevertheless, in memory."""
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
        """The batch of a number from 0 that was not taken."""
        found = self._batches[number]
        assert found is not None
        if not isinstance(found, SpillRange):
            return found
        return pa.ipc.read_record_batch(pa.py_buffer(self._file.read(found)), self._schema)

    def pop(self) -> pa.RecordBatch | None:
        """The next batch, which is not kept any more; None when all were taken."""
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
        """Whether there is something to `pop`."""
        return self._next_index < len(self._batches)

    def pop_table(self, size: int, rows: int) -> pa.Table:
        """The next batches as one table: of so many bytes or rows, and a batch more at most. There must be one."""
        batches: list[pa.RecordBatch] = []
        while size > 0 and rows > 0 and (batch := self.pop()) is not None:
            batches.append(batch)
            size, rows = size - batch.nbytes, rows - batch.num_rows
        return pa.Table.from_batches(batches)

    def close(self) -> None:
        """Forget all batches."""
        self._batches.clear()
        self._next_index = self._bytes_in_memory = 0
        self._file.close()
