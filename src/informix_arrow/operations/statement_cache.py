"""Prepared statements that wait to be executed again, so that this costs neither PREPARE nor describe.

Only statements that nobody uses are in here: whoever takes one out has it alone until it is put back, so a text
whose cursor is still open is prepared a second time. Data only: what has to be released is returned to the
exchange, which sends it.
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

MAX_TEXT_LENGTH = 1 << 16  # characters: a longer text holds its data in itself and does not come again
_MAX_DESCRIPTIONS = 4  # of one statement, one for each set of type options

_MODIFYING = (
    StatementType.INSERT,
    StatementType.UPDATE,
    StatementType.DELETE,
    StatementType.UPDATE_ALL,
    StatementType.DELETE_ALL,
)

#: Statements after which every other one means what it meant before. All others (DDL, GRANT, SET ...) empty the cache.
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
        # What a procedure changes is told by -710 when a statement is used again.
        StatementType.EXECUTE_PROCEDURE,
    }
)

#: SQLCODEs by which a server says that a prepared statement is no longer what it was: a table was changed (-710),
#: the statement or its cursor is gone (-258, -267, -285, -410), its slot was reused (-208). SERVER-BEHAVIOUR section 1.
STALE = frozenset({-208, -258, -267, -285, -410, -710})


@dataclass(slots=True, eq=False)
class OpenRequestTemplate:
    """The request that opens a query's cursor and fetches its first rows, encoded but for the values."""

    options: object  # ReadOptions: how its rows are read
    shape: ResultDescription  # of the rows
    fetch_bytes: int  # of one fetch
    before: bytes  # what is sent before SQ_BIND
    after: bytes  # what is sent after it
    reusable: bool  # whether sending it is all that an execution takes (:mod:`.reexecute`)
    decoder: Decoder | None = None  # for replies that arrive in one piece, from one execution to the next


@dataclass(slots=True, eq=False)
class PreparedStatement:
    """A statement that the server knows, and what was found out about it."""

    text: str  # as the server got it
    describe: Describe
    generation: int = 0  # of the cache when it was prepared
    reused: bool = False  # it was executed before
    row_seconds: float | None = None  # what a row of executemany takes the server, once that was learnt
    targets: tuple[ColumnType | None, ...] | None = None  # types of its parameters, once asked for
    #: What its values are held against before they are sent, by what may be lost.
    checks: dict[Inexact, Check] = field(default_factory=dict)
    #: The refusal of a value by that check: the server was not asked, and the check is as old as the description.
    rejection: Error | None = None
    #: What its rows look like, by how they are read.
    descriptions: dict[tuple[TypeOptions, str], ResultDescription] = field(default_factory=dict)
    #: Whether its cursor may hold locks when its rows are used up; None = not known yet.
    may_hold_locks: bool | None = None
    #: How its cursor was opened the last time.
    template: OpenRequestTemplate | None = None
    #: What closes that cursor.
    close_request: bytes = b""
    #: How rows of a load went in by it the last time: "put" or "pipeline"; "" when none did.
    load_method: str = ""

    @property
    def statement_id(self) -> int:
        """Its id on the server."""
        return self.describe.statement_id

    def store_description(self, shape: ResultDescription) -> None:
        """Keep what was found out about its rows for the next execution."""
        if len(self.descriptions) >= _MAX_DESCRIPTIONS:
            self.descriptions.clear()
        self.descriptions[shape.types, shape.encoding] = shape


class StatementCache:
    """The idle prepared statements of one session, ``size`` of them at most; the least recently used goes first.

    ``tables`` are the columns of tables that were loaded, by their names as the user wrote them, as many at most.
    While one is there the last load into it went well and nothing has come since that may have begun a transaction
    without the client's knowledge, or changed the table in this session: so the next load asks for neither
    beforehand. What other sessions have done shows when its INSERT is used again.
    """

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self.tables: OrderedDict[str, tuple[Column, ...]] = OrderedDict()
        self.generation = 0
        self.schema_changed = False  # a transaction is open that changed what statements mean
        self._idle: OrderedDict[str, PreparedStatement] = OrderedDict()

    def __len__(self) -> int:
        return len(self._idle)

    def find(self, text: str) -> PreparedStatement | None:
        """The statement of this text, if it is there, as the one used last. It stays."""
        prepared = self._idle.get(text)
        if prepared is not None:
            self._idle.move_to_end(text)
        return prepared

    def pop(self, text: str) -> PreparedStatement | None:
        """Take out the statement of this text, if it is there."""
        return self._idle.pop(text, None)

    def put(self, prepared: PreparedStatement, *, logged: bool) -> list[int]:
        """Keep a statement that has done its work well. Returned are the ids to be released: perhaps its own.

        Without a log, a statement that failed half way stays done by half: only queries may be tried again there,
        so only they are kept.
        """
        kind = prepared.describe.statement_type
        wanted = kind == StatementType.SELECT or (logged and kind in _MODIFYING)
        fits = self.size > 0 and len(prepared.text) <= MAX_TEXT_LENGTH
        if not wanted or not fits or prepared.generation != self.generation:
            return [prepared.statement_id]
        prepared.reused = True
        out = [self._idle.pop(prepared.text, None)]
        self._idle[prepared.text] = prepared
        if len(self._idle) > self.size:
            out.append(self._idle.popitem(last=False)[1])
        return [old.statement_id for old in out if old is not None]

    def clear(self) -> list[int]:
        """Forget all; those in use are not kept when they come back. Returned are the ids to be released."""
        self.generation += 1
        self.schema_changed = False
        if not (self.tables or self._idle):
            return []
        self.tables.clear()
        ids = [prepared.statement_id for prepared in self._idle.values()]
        self._idle.clear()
        return ids

    def store_table(self, name: str, columns: tuple[Column, ...]) -> None:
        """Keep what a table that was loaded looks like."""
        self.tables.pop(name, None)
        if self.size > 0:
            self.tables[name] = columns
            if len(self.tables) > self.size:
                self.tables.popitem(last=False)

    def invalidate_after(self, kind: int, *, several: bool = False) -> list[int]:
        """A statement of type ``kind`` was executed, or ``several`` in one text; the ids to be released."""
        if kind in _NON_INVALIDATING:
            if several or kind == StatementType.EXECUTE_PROCEDURE:
                self.tables.clear()
            return []
        ids = self.clear()
        self.schema_changed = True
        return ids
