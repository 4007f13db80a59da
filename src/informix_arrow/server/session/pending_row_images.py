"""Row images of a statement that has not succeeded yet: in memory or, if they are many, in a file."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..cdc_log.row_images import LoggedTable
from .spill_file import SpillFile, SpillRange
from .spool import MEMORY

RowImages = Sequence[tuple[int, bytes]]
"""Kinds and bodies of records."""


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Changes of rows: kinds and bodies; none for a TRUNCATE."""

    table: LoggedTable
    row_images: RowImages


@dataclass(frozen=True, slots=True)
class UndoRecord:
    """The changes from `mark` on were undone."""

    mark: int


@dataclass(frozen=True, slots=True)
class _SpilledRows:
    table: LoggedTable
    images: RowImages | SpillRange
    size: int  # bytes in memory


class PendingRowImages:
    """The changes of a statement, in their order.

    The file is pickled, as only this process writes it.

    Parameters
    ----------
    directory
        Directory of the file; None for the machine's temporary directory.
    memory
        Bytes of images that stay in memory; further ones go to the file.
    """

    def __init__(self, directory: str | None, memory: int = MEMORY) -> None:
        self._memory = memory
        self._file = SpillFile(directory, "changes of a statement")
        self._entries: list[_SpilledRows | UndoRecord] = []
        self._bytes_in_memory = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, table: LoggedTable, images: RowImages) -> None:
        """Add changed rows, or a TRUNCATE. Raises SqlError -271 if there is no room."""
        size = sum(len(body) for _, body in images)
        if self._bytes_in_memory + size > self._memory:
            place = self._file.write(pickle.dumps(images, pickle.HIGHEST_PROTOCOL))
            self._entries.append(_SpilledRows(table, place, 0))
            return
        self._bytes_in_memory += size
        self._entries.append(_SpilledRows(table, images, size))

    def add_undo(self, mark: int) -> None:
        """Record that the changes from a mark on were undone."""
        self._entries.append(UndoRecord(mark))

    def truncate(self, mark: int = 0) -> None:
        """Remove the changes from a mark on."""
        for entry in self._entries[mark:]:
            self._bytes_in_memory -= entry.size if isinstance(entry, _SpilledRows) else 0
        del self._entries[mark:]
        if not self._entries:
            self._file.close()

    def drain(self) -> Iterator[ChangedRows | UndoRecord]:
        """Return all changes once and remove them."""
        try:
            for entry in self._entries:
                if isinstance(entry, UndoRecord):
                    yield entry
                elif isinstance(entry.images, SpillRange):
                    yield ChangedRows(entry.table, pickle.loads(self._file.read(entry.images)))
                else:
                    yield ChangedRows(entry.table, entry.images)
        finally:
            self.truncate()
