"""Idle prepared statements, kept so that executing them again needs neither PREPARE nor describe.

The cache holds only statements that are not in use. A statement that is taken out belongs to the caller until
it is put back, so a text whose cursor is still open is prepared a second time. Data only: ids to be released
are returned to the operation, which sends the RELEASE.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from .._decode import Decoder
from ..wire.assignment import Inexact
from ..wire.describe import Column, StatementType
from ..wire.errors import Error
from ..wire.messages import Describe
from ..wire.plan_ops import TypeOptions
from ..wire.types import ColumnType
from .placeholder_targets import Check
from .result_description import ResultDescription

MAX_TEXT_LENGTH = 1 << 16  # characters: a longer text contains its data and is not repeated
_MAX_DESCRIPTIONS = 4  # of one statement, one for each set of type options

_MODIFYING = (
    StatementType.INSERT,
    StatementType.UPDATE,
    StatementType.DELETE,
    StatementType.UPDATE_ALL,
    StatementType.DELETE_ALL,
)

#: Statements that leave the meaning of others unchanged. All others (DDL, GRANT, SET ...) empty the cache.
_NON_INVALIDATING = frozenset(
    {
        *_MODIFYING,
        StatementType.SELECT,
        StatementType.UPDATE_CURRENT,
        StatementType.DELETE_CURRENT,
        StatementType.LOCK_TABLE,
        StatementType.UNLOCK_TABLE,
        StatementType.BEGIN_WORK,
        StatementType.COMMIT_WORK,
        StatementType.ROLLBACK_WORK,
        StatementType.SAVEPOINT,
        StatementType.SET_LOCK_MODE,
        StatementType.SET_ISOLATION,
        # Changes made by a procedure are reported as -710 when a statement is used again.
        StatementType.EXECUTE_PROCEDURE,
    }
)

#: SQLCODEs that report an outdated prepared statement: a table was changed (-710), the statement or its cursor is
#: gone (-258, -267, -285, -410), its slot was reused (-208). SERVER-BEHAVIOUR section 1.
STALE = frozenset({-208, -258, -267, -285, -410, -710})


@dataclass(slots=True, eq=False)
class OpenRequestTemplate:
    """The request that opens a query's cursor and fetches its first rows, encoded except for the values."""

    options: object  # ReadOptions: how its rows are read
    shape: ResultDescription  # of the rows
    fetch_bytes: int  # of one fetch
    before: bytes  # sent before SQ_BIND
    after: bytes  # sent after it
    reusable: bool  # True if an execution needs nothing else (:mod:`.reexecute`)
    decoder: Decoder | None = None  # for replies that arrive in one piece; reused by the next execution


@dataclass(slots=True, eq=False)
class PreparedStatement:
    """A statement prepared on the server, with what the client has learnt about it."""

    text: str  # as sent to the server
    describe: Describe
    generation: int = 0  # of the cache when it was prepared
    reused: bool = False  # it was executed before
    row_seconds: float | None = None  # time of the server for a row of executemany, once measured
    targets: tuple[ColumnType | None, ...] | None = None  # types of its parameters, once requested
    #: The checks of its values before they are sent, one for each way to lose digits.
    checks: dict[Inexact, Check] = field(default_factory=dict)
    #: The error of a value that such a check rejected. The check is as old as the description, so the error may be
    #: outdated.
    rejection: Error | None = None
    #: The descriptions of its rows, by how they are read.
    descriptions: dict[tuple[TypeOptions, str], ResultDescription] = field(default_factory=dict)
    #: True if its cursor may hold locks after its last row; None = not known yet.
    may_hold_locks: bool | None = None
    #: The last request that opened its cursor.
    template: OpenRequestTemplate | None = None
    #: The request that closes that cursor.
    close_request: bytes = b""
    #: How the last load by this statement inserted its rows: "put" or "pipeline"; "" = none yet.
    load_method: str = ""

    @property
    def statement_id(self) -> int:
        """Its id on the server."""
        return self.describe.statement_id

    def store_description(self, shape: ResultDescription) -> None:
        """Keep the description of its rows for the next execution."""
        if len(self.descriptions) >= _MAX_DESCRIPTIONS:
            self.descriptions.clear()
        self.descriptions[shape.types, shape.encoding] = shape


class StatementCache:
    """The idle prepared statements of one session, at most ``size``; the least recently used is evicted first.

    ``tables`` holds the columns of loaded tables by the name that the user wrote, also at most ``size``. An
    entry means that the last load into the table succeeded and that nothing since may have begun a transaction
    without the client's knowledge or changed the table in this session. So the next load queries neither.
    Changes by other sessions show when its INSERT is used again.
    """

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self.tables: OrderedDict[str, tuple[Column, ...]] = OrderedDict()
        self.generation = 0
        self.schema_changed = False  # an open transaction has changed the schema
        self._idle: OrderedDict[str, PreparedStatement] = OrderedDict()

    def __len__(self) -> int:
        return len(self._idle)

    def find(self, text: str) -> PreparedStatement | None:
        """Return the statement of this text, or None, and mark it as used last. It stays in the cache."""
        prepared = self._idle.get(text)
        if prepared is not None:
            self._idle.move_to_end(text)
        return prepared

    def pop(self, text: str) -> PreparedStatement | None:
        """Remove and return the statement of this text, or None."""
        return self._idle.pop(text, None)

    def put(self, prepared: PreparedStatement, *, logged: bool) -> list[int]:
        """Keep a statement whose execution succeeded. Returns the ids to be released, perhaps its own.

        In a database without a log, a statement that failed halfway cannot be undone. Only queries may be
        retried there, so only they are kept.
        """
        kind = prepared.describe.statement_type
        retryable = kind == StatementType.SELECT or (logged and kind in _MODIFYING)
        fits = self.size > 0 and len(prepared.text) <= MAX_TEXT_LENGTH
        if not retryable or not fits or prepared.generation != self.generation:
            return [prepared.statement_id]
        prepared.reused = True
        out = [self._idle.pop(prepared.text, None)]
        self._idle[prepared.text] = prepared
        if len(self._idle) > self.size:
            out.append(self._idle.popitem(last=False)[1])
        return [old.statement_id for old in out if old is not None]

    def clear(self) -> list[int]:
        """Remove all, and do not keep statements now in use when they come back. Returns the ids to be released."""
        self.generation += 1
        self.schema_changed = False
        if not (self.tables or self._idle):
            return []
        self.tables.clear()
        ids = [prepared.statement_id for prepared in self._idle.values()]
        self._idle.clear()
        return ids

    def store_table(self, name: str, columns: tuple[Column, ...]) -> None:
        """Keep the columns of a loaded table."""
        self.tables.pop(name, None)
        if self.size > 0:
            self.tables[name] = columns
            if len(self.tables) > self.size:
                self.tables.popitem(last=False)

    def invalidate_after(self, kind: int, *, several: bool = False) -> list[int]:
        """Invalidate entries after a statement of type ``kind``, or ``several``. Returns the ids to release."""
        if kind in _NON_INVALIDATING:
            if several or kind == StatementType.EXECUTE_PROCEDURE:
                self.tables.clear()
            return []
        ids = self.clear()
        self.schema_changed = True
        return ids
