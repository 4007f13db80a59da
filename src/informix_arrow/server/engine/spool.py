"""Record batches that wait: in memory while they are few, then in a temporary file."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ..errors import SqlError
from .spill_file import Place, SpillFile

MEMORY = 8 << 20
"""Bytes of batches that stay in memory; those beyond go to the file."""


class Spool:
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
        self._batches: list[pa.RecordBatch | Place | None] = []  # None: was taken
        self._taken = 0
        self._held = 0  # bytes in memory
        self._schema: Any = None
        self.rows = 0

    def __len__(self) -> int:
        return len(self._batches)

    def append(self, batch: pa.RecordBatch, *, soon: bool = False) -> None:
        """Keep one more, in any case in memory where it is wanted `soon`. SqlError -271 when the file cannot be
        written: the batch is kept nevertheless, in memory."""
        self._schema = batch.schema
        self.rows += batch.num_rows
        if soon or self._held + batch.nbytes <= self._memory:
            self._keep(batch)
            return
        try:
            self._batches.append(self._file.write(batch.serialize()))
        except SqlError:
            self._keep(batch)
            raise

    def _keep(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._held += batch.nbytes

    def read(self, number: int) -> pa.RecordBatch:
        """The batch of a number from 0 that was not taken."""
        found = self._batches[number]
        assert found is not None
        if not isinstance(found, Place):
            return found
        return pa.ipc.read_record_batch(pa.py_buffer(self._file.read(found)), self._schema)

    def take(self) -> pa.RecordBatch | None:
        """The next batch, which is not kept any more; None when all were taken."""
        if self._taken == len(self._batches):
            return None
        batch = self.read(self._taken)
        if not isinstance(self._batches[self._taken], Place):
            self._held -= batch.nbytes
        self._batches[self._taken] = None
        self._taken += 1
        if self._taken == len(self._batches):
            self.close()
        return batch

    @property
    def left(self) -> bool:
        """Whether there is something to `take`."""
        return self._taken < len(self._batches)

    def take_table(self, size: int, rows: int) -> pa.Table:
        """The next batches as one table: of so many bytes or rows, and a batch more at most. There must be one."""
        batches: list[pa.RecordBatch] = []
        while size > 0 and rows > 0 and (batch := self.take()) is not None:
            batches.append(batch)
            size, rows = size - batch.nbytes, rows - batch.num_rows
        return pa.Table.from_batches(batches)

    def close(self) -> None:
        """Forget all batches."""
        self._batches.clear()
        self._taken = self._held = 0
        self._file.close()
