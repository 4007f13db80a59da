"""A temporary file for data that does not fit into memory."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import IO

from ..errors import ISAM_NO_SPACE, SqlError

_CANNOT_WRITE = -271


@dataclass(frozen=True, slots=True)
class SpillRange:
    """Position of a piece in the file."""

    offset: int
    size: int


class SpillFile:
    """A file of byte pieces, each of which can be read repeatedly.

    The file is created with the first piece, in `directory`, which is created if it is missing; None is the machine's
    temporary directory. It has no name and disappears when it is closed or when the process ends for any reason. `what`
    names its contents in errors.
    """

    def __init__(self, directory: str | None, what: str = "rows of a query") -> None:
        self._directory = directory
        self._description = what
        self._file: IO[bytes] | None = None
        self._end = 0

    @property
    def is_open(self) -> bool:
        """True if the file was created."""
        return self._file is not None

    def write(self, piece: bytes | memoryview) -> SpillRange:
        """Append a piece. Raises SqlError -271 if there is no room."""
        try:
            return self._write(memoryview(piece))
        except OSError as problem:
            raise SqlError(
                _CANNOT_WRITE,
                ISAM_NO_SPACE,
                detail=f"{self._description} cannot be written to a temporary file: {problem}",
            ) from problem

    def _write(self, data: memoryview) -> SpillRange:
        if self._file is None:
            if self._directory is not None:
                os.makedirs(self._directory, exist_ok=True)
            self._file = tempfile.TemporaryFile(buffering=0, dir=self._directory)  # noqa: SIM115 - closed by `close`
        place, written = SpillRange(self._end, len(data)), 0
        while written < len(data):
            written += os.pwrite(self._file.fileno(), data[written:], place.offset + written)
        self._end += len(data)
        return place

    def read(self, place: SpillRange) -> bytes:
        """Read a piece."""
        assert self._file is not None
        pieces, offset, remaining = [], place.offset, place.size
        while remaining:
            pieces.append(os.pread(self._file.fileno(), remaining, offset))
            if not pieces[-1]:
                raise SqlError(-410, detail=f"The temporary file with {self._description} is too short.")
            offset, remaining = offset + len(pieces[-1]), remaining - len(pieces[-1])
        return b"".join(pieces)

    def close(self) -> None:
        """Discard the file."""
        self._end = 0
        if self._file is not None:
            self._file.close()
            self._file = None
