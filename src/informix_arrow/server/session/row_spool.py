"""Buffered rows as Python values that are read one after the other: those of a FOREACH, which may be millions."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

from .spill_file import SpillFile, SpillRange
from .spool import MEMORY

_CHUNK_ROWS = 1024
"""Rows in a chunk. The first chunk stays as it is: most loops have no more."""

Row = tuple[Any, ...]


class RowSpool:
    """All rows of `fetch`, read in chunks. They can be iterated once.

    From the second chunk on they are pickled: 8 MiB in memory, the others in a temporary file. Only this process writes
    it.

    Parameters
    ----------
    fetch
        Returns at most the given number of next rows; none at the end.
    directory
        Directory of the file; None for the machine's temporary directory.
    """

    def __init__(self, fetch: Callable[[int], list[Row]], directory: str | None = None) -> None:
        self._file = SpillFile(directory)
        self._first_chunk = fetch(_CHUNK_ROWS)
        self._remaining_chunks: list[bytes | SpillRange] = []
        size = 0
        try:
            while len(self._first_chunk) == _CHUNK_ROWS and (rows := fetch(_CHUNK_ROWS)):
                chunk = pickle.dumps(rows, pickle.HIGHEST_PROTOCOL)
                if size + len(chunk) <= MEMORY:
                    size += len(chunk)
                    self._remaining_chunks.append(chunk)
                else:
                    self._remaining_chunks.append(self._file.write(chunk))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> RowSpool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Row]:
        rows, self._first_chunk = self._first_chunk, []
        yield from rows
        self._remaining_chunks.reverse()
        while self._remaining_chunks:
            chunk = self._remaining_chunks.pop()
            rows = pickle.loads(self._file.read(chunk) if isinstance(chunk, SpillRange) else chunk)
            yield from rows
        self._file.close()

    def close(self) -> None:
        """Discard the remaining rows."""
        self._first_chunk, self._remaining_chunks = [], []
        self._file.close()
