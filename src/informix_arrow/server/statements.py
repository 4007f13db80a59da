"""A session's prepared statements, by the short id that every message about them carries (SQLI section
7.0)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from ..wire.messages import BoundValue
from .cursors import InsertCursor, ScrollCursor, SelectCursor
from .engine import Prepared
from .errors import SqlError

MAX_STATEMENTS = 32768
"""Ids are shorts; below zero they would be another's."""


@dataclass(slots=True)
class Statement:
    """One prepared statement and what the client has said about its next opening.

    `bound` is the last SQ_BIND, kept until the OPEN or EXECUTE that uses it. `binary_booleans` are the result
    columns that SQ_RETTYPE asked for as type 45; it is said once per statement and holds for every later
    opening.
    """

    id: int
    prepared: Prepared
    bound: tuple[BoundValue, ...] | None = None
    cursor: SelectCursor | ScrollCursor | InsertCursor | None = None
    cursor_name: str = ""
    hold: bool = False
    scroll: bool = False
    autofree: bool = False
    binary_booleans: frozenset[int] = frozenset()


class Statements:
    """Statements of one session. The lowest free id is given first, from 0: informix-driver always says 0."""

    def __init__(self) -> None:
        self._statements: dict[int, Statement] = {}
        self._freed: list[int] = []

    def __iter__(self) -> Iterator[Statement]:
        return iter(list(self._statements.values()))

    def add(self, prepared: Prepared) -> Statement:
        """Give `prepared` an id. -208 when the session has 32768 statements."""
        number = heapq.heappop(self._freed) if self._freed else len(self._statements)
        if number >= MAX_STATEMENTS:
            raise SqlError(-208)
        statement = Statement(number, prepared)
        self._statements[number] = statement
        return statement

    def get(self, number: int) -> Statement | None:
        """The statement with this id, None when there is none."""
        return self._statements.get(number)

    def remove(self, statement: Statement) -> None:
        """Forget the statement with its cursor; its id is free again."""
        if self._statements.get(statement.id) is statement:
            del self._statements[statement.id]
            heapq.heappush(self._freed, statement.id)
