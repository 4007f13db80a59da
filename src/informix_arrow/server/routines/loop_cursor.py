"""The position of a FOREACH loop, for UPDATE and DELETE WHERE CURRENT OF its cursor."""

from __future__ import annotations

from collections.abc import Sequence

from ..catalog.catalog import TableInfo
from ..session.locks import RowKey


class LoopCursor:
    """A cursor FOR UPDATE, in the form that statements with WHERE CURRENT OF require (update_cursor.PositionedCursor).

    Attributes
    ----------
    info
        The table of the rows.
    current
        The identity of the current row, None after it was deleted.
    """

    def __init__(self, info: TableInfo) -> None:
        self.info = info
        self.current: RowKey | None = None

    def move_to(self, key: Sequence[object]) -> None:
        """Set the current row."""
        self.current = tuple(key)
