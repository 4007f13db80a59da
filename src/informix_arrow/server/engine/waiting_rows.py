"""Rows as Python values that wait to be looked at, one after the other: those of a FOREACH, which may be millions."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

from .spill_file import Place, SpillFile
from .spool import MEMORY

_ROWS = 1024
"""Rows in a piece. The first piece stays as it is: most loops have no more."""

Row = tuple[Any, ...]


class WaitingRows:
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
        self._first = fetch(_ROWS)
        self._others: list[bytes | Place] = []
        held = 0
        try:
            while len(self._first) == _ROWS and (rows := fetch(_ROWS)):
                piece = pickle.dumps(rows, pickle.HIGHEST_PROTOCOL)
                if held + len(piece) <= MEMORY:
                    held += len(piece)
                    self._others.append(piece)
                else:
                    self._others.append(self._file.write(piece))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> WaitingRows:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Row]:
        rows, self._first = self._first, []
        yield from rows
        self._others.reverse()
        while self._others:
            piece = self._others.pop()
            rows = pickle.loads(self._file.read(piece) if isinstance(piece, Place) else piece)
            yield from rows
        self._file.close()

    def close(self) -> None:
        """Forget those that were not taken."""
        self._first, self._others = [], []
        self._file.close()
