"""A session's prepared statements, by the short id that every message about them carries (SQLI section
7.0)."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..wire.describe import Column
from ..wire.messages import BoundValue
from ..wire.types import TypeCode
from .bulk import InsertCursor, RowReader
from .cursors import ScrollCursor, SelectCursor, UpdateCursor
from .engine_types import Prepared
from .errors import SqlError

MAX_STATEMENTS = 32768
"""Ids are shorts; below zero they would be another's."""


_CLIENT_FILES = re.compile(r"\b(?:filetoblob|filetoclob|lotofile)\b", re.IGNORECASE)


@dataclass(slots=True)
class Statement:
    """One prepared statement and what the client has said about its next opening.

    `bound` is the last SQ_BIND, kept until the OPEN or EXECUTE that uses it. `wanted` are the type
    codes that SQ_RETTYPE asked for, by column; it is said once per statement and holds for every later
    opening. `awaited` are the positions of bound BYTE and TEXT values whose contents have not come yet.
    `keys` are the columns of generated keys that were asked for. `alone` is true where executions cannot be taken
    together: running it may ask the client for files (SQ_FILE), or tells keys. `reader` takes its rows in
    bulk, None when they cannot be; that was found out for the code set `reader_for`.
    """

    id: int
    prepared: Prepared
    bound: tuple[BoundValue, ...] | None = None
    cursor: SelectCursor | UpdateCursor | ScrollCursor | InsertCursor | None = None
    cursor_name: str = ""
    hold: bool = False
    scroll: bool = False
    autofree: bool = False
    wanted: dict[int, int] = field(default_factory=dict)
    awaited: tuple[int, ...] = ()
    keys: tuple[Column, ...] = ()
    alone: bool = field(init=False)
    reader: RowReader | None = None
    reader_for: str = ""

    def __post_init__(self) -> None:
        self.alone = _CLIENT_FILES.search(self.prepared.sql) is not None


_DESCRIBED = frozenset({int(TypeCode.BYTE), int(TypeCode.TEXT)})


def descriptors(values: Iterable[BoundValue]) -> tuple[int, ...]:
    """Positions of the bound values that are descriptors of BYTE or TEXT, not NULL: SQ_BBIND has to bring
    their contents (SQLI section 14)."""
    return tuple(
        position
        for position, value in enumerate(values)
        if value.data is not None and value.type & 0xFF in _DESCRIBED
    )


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
