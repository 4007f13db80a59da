"""Where a FOREACH loop stands, for UPDATE and DELETE WHERE CURRENT OF its cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ..catalog import TableInfo
from ..locks import Key

if TYPE_CHECKING:
    from ..engine_session import EngineSession
    from ..positioned import UpdateRows


class LoopPosition:
    """What a cursor FOR UPDATE is to the statements that name it (positioned.UpdateRows).

    Attributes
    ----------
    info
        The table that the rows are of.
    current
        What identifies the current row; None after it was deleted.
    """

    def __init__(self, session: EngineSession, cursor: str, info: TableInfo) -> None:
        self.info = info
        self.current: Key | None = None
        session.cursors[cursor] = cast("UpdateRows", self)

    def at(self, key: Sequence[object]) -> None:
        self.current = tuple(key)
