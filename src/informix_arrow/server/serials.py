"""Counters of SERIAL columns: shared by all sessions, never rolled back (gaps stay), as on a real server."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .catalog import ColumnInfo, TableInfo, first_row, quote

if TYPE_CHECKING:
    from .session_state import SessionState


class Serials:
    """Next values by table and column; a counter begins behind the largest value that the table holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[tuple[str, int, str], int] = {}

    def assign(
        self, session: SessionState, info: TableInfo, column: ColumnInfo, given: Sequence[int | None]
    ) -> list[int | None]:
        """Values of one serial column for the given ones: NULL and 0 take the next, others are kept and
        counted."""
        key = (info.database, info.tabid, column.name)
        if key not in self._next:
            row = first_row(session.con, f"SELECT max({quote(column.name)}) FROM {info.duck}")
            top = row[0] if row and row[0] is not None else 0
            with self._lock:
                self._next.setdefault(key, max(column.serial_start, int(top) + 1))
        with self._lock:
            following = self._next[key]
            if not any(given):
                self._next[key] = following + len(given)
                return list(range(following, following + len(given)))
            found: list[int | None] = []
            for value in given:
                if not value:
                    value = following
                found.append(value)
                following = max(following, value + 1)
            self._next[key] = following
            return found

    def forget(self, database: str) -> None:
        """A database was dropped."""
        with self._lock:
            for key in [k for k in self._next if k[0] == database]:
                del self._next[key]
