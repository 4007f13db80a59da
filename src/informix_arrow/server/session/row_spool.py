"""Rows as Python values that wait to be looked at, one after the other: those of a FOREACH, which may be millions."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

from .spill_file import SpillFile, SpillRange
from .spool import MEMORY

_CHUNK_ROWS = 1024
"""Rows in a piece. The first piece stays as it is: most loops have no more."""

Row = tuple[Any, ...]


class RowSpool:
    """All rows that `fetch` gives, in pieces of at most as many as it is asked for; they are taken once.

    Pieces are bytes from the second on, 8 MiB of them in memory and the others in a temporary file. Nobody but this
    process has written them, so that they are pickled.

    Parameters
    ----------
    fetch
        The next so many rows; none at the end.
    directory
        For the file; None for where the machine has temporary files.
    """

    def __init__(self, fetch: Callable[[int], list[Row]], directory: str | None = None) -> None:
        self._file = SpillFile(directory)
        self._first_chunk = fetch(_CHUNK_ROWS)
        self._remaining_chunks: list[bytes | SpillRange] = []
        held = 0
        try:
            while len(self._first_chunk) == _CHUNK_ROWS and (rows := fetch(_CHUNK_ROWS)):
                piece = pickle.dumps(rows, pickle.HIGHEST_PROTOCOL)
                if held + len(piece) <= MEMORY:
                    held += len(piece)
                    self._remaining_chunks.append(piece)
                else:
                    self._remaining_chunks.append(self._file.write(piece))
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
            piece = self._remaining_chunks.pop()
            rows = pickle.loads(self._file.read(piece) if isinstance(piece, SpillRange) else piece)
            yield from rows
        self._file.close()

    def close(self) -> None:
        """Forget those that were not taken."""
        self._first_chunk, self._remaining_chunks = [], []
        self._file.close()
