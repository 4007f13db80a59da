"""Small temporary tables and rows of theirs that DuckDB is told of together, before anything else is asked of it.

Programs make a temporary table, fill it by one INSERT after the other, ask for its rows and drop it: each of these
statements costs DuckDB more than all of them together cost us. Nobody but the session sees such a table, and a row that
cannot be refused is in it as soon as whatever looks at the table finds it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

MOST_ROWS = 32
"""Rows that wait together."""

MOST_TABLES = 32
"""Tables that are made late together."""

Row = Sequence[object]


@dataclass(slots=True)
class _Late:
    """What DuckDB does not know of a table: `create` makes it ("" where it is there), `insert` inserts one row by
    bound values and ends with their places."""

    create: str
    insert: str = ""
    rows: list[Row] = field(default_factory=list)


class LateTables:
    """What waits for DuckDB, by the names that it has or will have there. Used by one thread at a time."""

    def __init__(self) -> None:
        self._late: dict[str, _Late] = {}
        self._rows = 0

    def __bool__(self) -> bool:
        return bool(self._late)

    @property
    def takes_table(self) -> bool:
        """Whether one more table may wait."""
        return len(self._late) < MOST_TABLES

    @property
    def takes_row(self) -> bool:
        """Whether one more row may wait."""
        return self._rows < MOST_ROWS

    def create(self, table: str, sql: str) -> None:
        """A table without rows."""
        self._late[table] = _Late(sql)

    def add(self, table: str, sql: str, row: Row) -> None:
        """One more row; `sql` inserts one by bound values and ends with their places."""
        late = self._late.get(table)
        if late is None:
            late = self._late[table] = _Late("")
        late.insert = sql
        late.rows.append(row)
        self._rows += 1

    def rows(self, table: str) -> Sequence[Row] | None:
        """All rows of a table that DuckDB does not know, in their order; None for one that it knows."""
        late = self._late.get(table)
        return late.rows if late is not None and late.create else None

    def drop(self, table: str) -> bool:
        """Forget a table that DuckDB does not know, and its rows; False for one that it knows."""
        if self.rows(table) is None:
            return False
        self._rows -= len(self._late.pop(table).rows)
        return True

    def statement(self) -> tuple[str, list[object]]:
        """What is to be run next, and its values. `done` has to be said of it before there is another."""
        late = next(iter(self._late.values()))
        if late.create:
            return late.create, []
        places = ", ".join("?" * len(late.rows[0]))
        return late.insert + f", ({places})" * (len(late.rows) - 1), [v for row in late.rows for v in row]

    def done(self) -> None:
        """The statement was run."""
        table, late = next(iter(self._late.items()))
        late_rows = late.rows
        if late.create:
            late.create = ""
        else:
            late.rows = late_rows = []
            self._rows = sum(len(other.rows) for other in self._late.values())
        if not late_rows:
            del self._late[table]

    def clear(self) -> None:
        """Nothing waits."""
        self._late.clear()
        self._rows = 0
