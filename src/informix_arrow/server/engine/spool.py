"""Record batches that wait: in memory while they are few, then in a temporary file."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa

from ..errors import ISAM_NO_SPACE, SqlError

MEMORY = 8 << 20
"""Bytes of batches that stay in memory; those beyond go to the file."""

_CANNOT_WRITE = -271


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the file a batch is."""

    offset: int
    size: int


class Spool:
    """Batches of one schema in their order. They can be read by their number as often as is wanted, or taken from the
    front, once.

    Attributes
    ----------
    rows
        How many the batches had that were put in.

    The file is in `directory`, which is made when it is not there; None is the machine's for temporary files. It has no
    name, and is gone when it is closed or the process ends, whatever ends it.
    """

    def __init__(self, memory: int = MEMORY, directory: str | None = None) -> None:
        self._memory = memory
        self._directory = directory
        self._batches: list[pa.RecordBatch | _Place | None] = []  # None: was taken
        self._taken = 0
        self._held = 0  # bytes in memory
        self._file: IO[bytes] | None = None
        self._end = 0
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
            self._batches.append(self._written(batch))
        except OSError as problem:
            self._keep(batch)
            raise SqlError(
                _CANNOT_WRITE, ISAM_NO_SPACE, 0, "", f"rows of an open cursor cannot be put aside: {problem}"
            ) from problem

    def _keep(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._held += batch.nbytes

    def _written(self, batch: pa.RecordBatch) -> _Place:
        if self._file is None:
            if self._directory is not None:
                os.makedirs(self._directory, exist_ok=True)
            self._file = tempfile.TemporaryFile(buffering=0, dir=self._directory)  # noqa: SIM115 - closed by `close`
        data = memoryview(batch.serialize())
        place, done = _Place(self._end, len(data)), 0
        while done < len(data):
            done += os.pwrite(self._file.fileno(), data[done:], place.offset + done)
        self._end += len(data)
        return place

    def read(self, number: int) -> pa.RecordBatch:
        """The batch of a number from 0 that was not taken."""
        found = self._batches[number]
        assert found is not None
        if not isinstance(found, _Place):
            return found
        assert self._file is not None
        pieces, offset, left = [], found.offset, found.size
        while left:
            pieces.append(os.pread(self._file.fileno(), left, offset))
            if not pieces[-1]:
                raise SqlError(-410, detail="the temporary file with rows of an open cursor is too short")
            offset, left = offset + len(pieces[-1]), left - len(pieces[-1])
        return pa.ipc.read_record_batch(pa.py_buffer(b"".join(pieces)), self._schema)

    def take(self) -> pa.RecordBatch | None:
        """The next batch, which is not kept any more; None when all were taken."""
        if self._taken == len(self._batches):
            return None
        batch = self.read(self._taken)
        if not isinstance(self._batches[self._taken], _Place):
            self._held -= batch.nbytes
        self._batches[self._taken] = None
        self._taken += 1
        if self._taken == len(self._batches):
            self.close()
        return batch

    def close(self) -> None:
        """Forget all batches."""
        self._batches.clear()
        self._taken = self._held = self._end = 0
        if self._file is not None:
            self._file.close()
            self._file = None
