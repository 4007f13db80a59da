"""Where a FOREACH loop stands, for UPDATE and DELETE WHERE CURRENT OF its cursor."""

from __future__ import annotations

from collections.abc import Sequence

from ..catalog.catalog import TableInfo
from ..session.locks import RowKey


class LoopCursor:
    """What a cursor FOR UPDATE is to the statements that name it (positioned.Positioned).

    Attributes
    ----------
    info
        The table that the rows are of.
    current
        What identifies the current row; None after it was deleted.
    """

    def __init__(self, info: TableInfo) -> None:
        self.info = info
        self.current: RowKey | None = None

    def move_to(self, key: Sequence[object]) -> None:
        """The loop has come to a row."""
        self.current = tuple(key)
