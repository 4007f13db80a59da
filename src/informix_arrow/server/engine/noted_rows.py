"""Row images of a statement that has not succeeded yet: they wait in memory or, when they are many, in a file."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..changes.images import LoggedTable
from .spill_file import Place, SpillFile
from .spool import MEMORY

Images = Sequence[tuple[int, bytes]]
"""Kinds and bodies."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Changes of rows: kinds and bodies; none for a TRUNCATE."""

    table: LoggedTable
    images: Images


@dataclass(frozen=True, slots=True)
class Undone:
    """What was noted from a place on has been undone."""

    mark: int


@dataclass(frozen=True, slots=True)
class _Piece:
    table: LoggedTable
    images: Images | Place
    size: int  # bytes in memory


class NotedRows:
    """What a statement changes, in its order. Nobody but this process writes the file, so that it is pickled.

    Parameters
    ----------
    directory
        For the file; None for where the machine has temporary files.
    memory
        Bytes of images that stay in memory; the pieces beyond them go to the file.
    """

    def __init__(self, directory: str | None, memory: int = MEMORY) -> None:
        self._memory = memory
        self._file = SpillFile(directory, "changes of a statement")
        self._noted: list[_Piece | Undone] = []
        self._held = 0

    def __len__(self) -> int:
        return len(self._noted)

    def add(self, table: LoggedTable, images: Images) -> None:
        """A piece of changed rows, or a TRUNCATE. SqlError -271 when there is no room for it."""
        size = sum(len(body) for _, body in images)
        if self._held + size > self._memory:
            place = self._file.write(pickle.dumps(images, pickle.HIGHEST_PROTOCOL))
            self._noted.append(_Piece(table, place, 0))
            return
        self._held += size
        self._noted.append(_Piece(table, images, size))

    def undone(self, mark: int) -> None:
        """What was noted from a mark on was undone."""
        self._noted.append(Undone(mark))

    def cut(self, mark: int = 0) -> None:
        """Forget what was noted from a mark on."""
        for one in self._noted[mark:]:
            self._held -= one.size if isinstance(one, _Piece) else 0
        del self._noted[mark:]
        if not self._noted:
            self._file.close()

    def take(self) -> Iterator[Rows | Undone]:
        """All of it, once; it is forgotten then."""
        try:
            for one in self._noted:
                if isinstance(one, Undone):
                    yield one
                elif isinstance(one.images, Place):
                    yield Rows(one.table, pickle.loads(self._file.read(one.images)))
                else:
                    yield Rows(one.table, one.images)
        finally:
            self.cut()
