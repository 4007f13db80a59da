"""Arrow tables of a journal: a few in memory, further ones in a temporary file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .spill_file import SpillFile, SpillRange

MEMORY = 32 << 20
"""Bytes of tables that stay in memory; further ones go to the file."""

_SPILL_BATCH_BYTES = 1 << 20
"""Bytes that are written to the file at a time, approximately."""


@dataclass(frozen=True, slots=True)
class SpilledTable:
    """A table in the file."""

    file_ranges: tuple[SpillRange, ...]
    schema: pa.Schema
    num_rows: int


class TableSpill:
    """A store of tables. Tables that are no longer needed use space until `clear`.

    The file is in `directory` (spill_file.py).
    """

    def __init__(self, directory: str | None, memory: int = MEMORY) -> None:
        self._memory = memory
        self._file = SpillFile(directory, "rows of an open transaction")
        self._bytes_in_memory = 0

    def store(self, table: pa.Table) -> pa.Table | SpilledTable:
        """Store a table and return the handle for `load`. Raises SqlError -271 if there is no room."""
        if self._bytes_in_memory + table.nbytes <= self._memory:
            self._bytes_in_memory += table.nbytes
            return table
        rows = max(1, table.num_rows * _SPILL_BATCH_BYTES // table.nbytes)
        ranges = [self._file.write(batch.serialize()) for batch in table.to_batches(max_chunksize=rows)]
        return SpilledTable(tuple(ranges), table.schema, table.num_rows)

    def load(self, stored: Any) -> pa.Table:
        """Return a stored table."""
        if isinstance(stored, SpilledTable):
            pieces = (pa.py_buffer(self._file.read(file_range)) for file_range in stored.file_ranges)
            batches = [pa.ipc.read_record_batch(piece, stored.schema) for piece in pieces]
            return pa.Table.from_batches(batches, stored.schema)
        return stored

    def clear(self) -> None:
        """Discard all tables."""
        self._bytes_in_memory = 0
        self._file.close()
