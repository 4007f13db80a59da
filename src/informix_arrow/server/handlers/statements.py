"""A session's prepared statements, by the short id that every message about them contains (SQLI section 7.0)."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...wire.describe import Column
from ...wire.messages import BoundValue, Id
from ...wire.types import TypeCode
from ..errors import SqlError
from ..session.prepared_plan import PreparedPlan
from .bulk import BulkRowReader, InsertCursor
from .cursors import ScrollCursor, SelectCursor, TupleEncoder, UpdateCursor
from .descriptions import DescriptionCache, StatementDescription

MAX_STATEMENTS = 32768
"""Largest number of statements: ids are shorts."""

_COMMAND_ID = -1

_CLIENT_FILES = re.compile(r"\b(?:filetoblob|filetoclob|lotofile)\b", re.IGNORECASE)


@dataclass(slots=True)
class StatementHandle:
    """One prepared statement and the settings for its next opening.

    `bound_values` is the last SQ_BIND, kept until the OPEN or EXECUTE that uses it. `result_type_codes` are the type
    codes that SQ_RETTYPE asked for, by column; they are sent once per statement and apply to every later opening.
    `missing_contents` are the positions of bound BYTE and TEXT values whose contents have not arrived yet.
    `generated_key_columns` are the requested columns of generated keys.

    `executes_singly` is true if executions cannot be batched: running it may request files of the client (SQ_FILE), or
    returns keys. `bulk_reader` decodes its rows in bulk, None if they cannot be; it was created for the code set
    `bulk_reader_encoding`. `encoder` is that of the last cursor, for the next one. `description` takes it over when the
    statement is released.
    """

    id: int
    prepared: PreparedPlan
    bound_values: tuple[BoundValue, ...] | None = None
    cursor: SelectCursor | UpdateCursor | ScrollCursor | InsertCursor | None = None
    cursor_name: str = ""
    with_hold: bool = False
    scrollable: bool = False
    autofree: bool = False
    result_type_codes: dict[int, int] = field(default_factory=dict)
    missing_contents: tuple[int, ...] = ()
    generated_key_columns: tuple[Column, ...] = ()
    encoder: TupleEncoder | None = None
    description: StatementDescription | None = None
    executes_singly: bool = field(init=False)
    bulk_reader: BulkRowReader | None = None
    bulk_reader_encoding: str = ""

    def __post_init__(self) -> None:
        self.executes_singly = _CLIENT_FILES.search(self.prepared.sql) is not None

    def close_cursor(self) -> None:
        """Close the cursor, if there is one, and discard its remaining rows.

        The current row of a cursor FOR UPDATE stays locked.
        """
        cursor, self.cursor = self.cursor, None
        if isinstance(cursor, SelectCursor):
            self.encoder = cursor.spare_encoder()
        if isinstance(cursor, (SelectCursor, ScrollCursor)):
            cursor.close()

    def take_bound_values(self) -> tuple[BoundValue, ...] | None:
        """Remove and return the values of the last SQ_BIND, for one execution.

        Raises -605 if contents of BYTE or TEXT values are missing: their descriptors are not values.
        """
        bound, missing = self.bound_values, self.missing_contents
        self.bound_values, self.missing_contents = None, ()
        if missing:
            raise SqlError(-605, detail=f"The contents of {len(missing)} BYTE or TEXT values are missing.")
        return bound


_DESCRIPTOR_TYPES = frozenset({int(TypeCode.BYTE), int(TypeCode.TEXT)})


def descriptor_positions(values: Iterable[BoundValue]) -> tuple[int, ...]:
    """Return the positions of the bound values that are descriptors of BYTE or TEXT and not NULL.

    SQ_BBIND has to transfer their contents (SQLI section 14).
    """
    positions: tuple[int, ...] = ()
    for position, value in enumerate(values):
        if value.type & 0xFF in _DESCRIPTOR_TYPES and value.data is not None:
            positions += (position,)
    return positions


class StatementHandles:
    """Statements of one session. The lowest free id is assigned first, from 0: informix-driver always uses 0.

    Attributes
    ----------
    current
        The statement that messages refer to: named by the last SQ_ID, or just prepared.
    descriptions
        Shared by statements with the same columns.
    """

    def __init__(self) -> None:
        self.current: StatementHandle | None = None
        self.descriptions = DescriptionCache()
        self._statements: dict[int, StatementHandle] = {}
        self._free_ids: list[int] = []

    def __iter__(self) -> Iterator[StatementHandle]:
        return iter(list(self._statements.values()))

    def add(self, prepared: PreparedPlan, described: StatementDescription) -> StatementHandle:
        """Assign an id to `prepared`. -208 if the session has 32768 statements."""
        number = heapq.heappop(self._free_ids) if self._free_ids else len(self._statements)
        if number >= MAX_STATEMENTS:
            raise SqlError(-208)
        statement = StatementHandle(number, prepared, encoder=described.take_encoder(), description=described)
        self._statements[number] = statement
        return statement

    def get(self, number: int) -> StatementHandle | None:
        """Return the statement with this id, None if there is none."""
        return self._statements.get(number)

    def choose(self, message: Id) -> None:
        """SQ_ID: make a statement the current one."""
        self.current = self._statements.get(message.statement_id)

    def require_current(self, missing: int = -258) -> StatementHandle:
        """Return the current statement; SqlError `missing` if there is none."""
        if self.current is None:
            raise SqlError(missing)
        return self.current

    def set_command(self, prepared: PreparedPlan) -> None:
        """Make a statement without an id the current one. It exists only as long as it is that."""
        self.current = StatementHandle(_COMMAND_ID, prepared)

    def close_cursors(self, *, held: bool = True) -> None:
        """Close the cursors of all statements; those WITH HOLD stay open unless `held`."""
        for statement in self._statements.values():
            if held or not statement.with_hold:
                statement.close_cursor()

    def remove(self, statement: StatementHandle) -> None:
        """Remove the statement with its cursor; its id is free again. Does nothing for one without an id."""
        statement.close_cursor()
        if self._statements.get(statement.id) is statement:
            del self._statements[statement.id]
            statement.cursor = None  # releases the result now, even if the statement is still referenced
            if statement.description is not None and statement.encoder is not None:
                statement.description.keep_encoder(statement.encoder)
            heapq.heappush(self._free_ids, statement.id)

    def clear(self) -> None:
        """Remove all statements with their cursors and results."""
        for statement in self._statements.values():
            statement.cursor = statement.bulk_reader = None
        self._statements.clear()
        self.descriptions.clear()
        self.current = None
