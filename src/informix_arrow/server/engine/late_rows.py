"""Rows of temporary tables that DuckDB is told of together, before anything else is asked of it.

Programs fill a temporary table by one INSERT after the other, and ask it then: each of these statements costs DuckDB
more than all of them at once. Nobody but the session sees such a table, and a row that cannot be refused is in it as
soon as whatever looks at the table finds it there.
"""

from __future__ import annotations

from collections.abc import Sequence

MOST_ROWS = 32
"""Rows that wait together."""


class LateRows:
    """Rows that wait, all of one INSERT; in their order. Used by one thread at a time."""

    def __init__(self) -> None:
        self._sql = ""
        self._rows: list[Sequence[object]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def takes(self, sql: str) -> bool:
        """Whether a row of this INSERT may wait with those that do."""
        return not self._rows or (sql == self._sql and len(self._rows) < MOST_ROWS)

    def add(self, sql: str, row: Sequence[object]) -> None:
        """One more row; `sql` inserts one by bound values and ends with their places."""
        self._sql = sql
        self._rows.append(row)

    def statement(self) -> tuple[str, list[object]]:
        """What inserts all of them, and its values."""
        places = ", ".join("?" * len(self._rows[0]))
        return self._sql + f", ({places})" * (len(self._rows) - 1), [v for row in self._rows for v in row]

    def clear(self) -> None:
        """They are written."""
        self._rows = []
