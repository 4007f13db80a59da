"""The position of a FOREACH loop, for UPDATE and DELETE WHERE CURRENT OF its cursor."""

from __future__ import annotations

from dataclasses import dataclass

from ..catalog.catalog import TableInfo
from ..session.locks import RowKey


@dataclass(eq=False)
class LoopCursor:
    """A cursor FOR UPDATE, in the form that statements with WHERE CURRENT OF require (update_cursor.PositionedCursor).

    `current` is the identity of the current row, None after it was deleted.
    """

    info: TableInfo
    current: RowKey | None = None
