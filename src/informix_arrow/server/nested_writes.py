"""Statements inside a statement that writes: a routine's, each of which may fail or begin again on its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import duckdb

from . import journal
from .catalog import TableInfo
from .errors import SqlError
from .transactions import Stale, Transactions

T = TypeVar("T")

_PATIENCE = 20
"""Times that a statement is tried again when other sessions keep committing before it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a statement inside `write` began."""

    writes: int
    ended_inside: int
    temp_tables: dict[str, TableInfo]


class NestedWrites(Transactions):
    """What routines need of a session's transaction, inside `write`."""

    ended_inside = 0
    """Transactions that ended inside a statement so far: such a statement cannot be begun again as a whole."""

    _depth = 0  # of `nested`

    @property
    def careful(self) -> bool:
        """See Transactions; a routine's earlier statements are such work."""
        return self.in_transaction or self._depth > 0

    def nested(self, body: Callable[[], T]) -> T:
        """Run one statement of a routine: when it fails nothing of it stays, and what the routine did before does.

        It is run again where another session has committed after the snapshot that it was to see.
        """
        assert self._writing
        self._depth += 1
        try:
            return self._nested(body)
        finally:
            self._depth -= 1

    def _nested(self, body: Callable[[], T]) -> T:
        mark = Mark(len(self.writer.log), self.ended_inside, dict(self.temp_tables))
        for attempt in range(_PATIENCE):
            try:
                return body()
            except Stale:
                if self.interrupted.is_set():
                    raise SqlError(-213, -157) from None
                if attempt + 1 == _PATIENCE:
                    raise SqlError(-244, -107, 0, "", "other sessions keep changing its tables") from None
                self._rewind(mark)
            except SqlError as problem:
                if self._touched(mark, problem):
                    self._rewind(mark)
                raise
        raise AssertionError("unreachable")

    def _writes_before(self, mark: Mark) -> int:
        """How many writes came before a mark: none when a transaction has ended since."""
        return mark.writes if mark.ended_inside == self.ended_inside else 0

    def _touched(self, mark: Mark, problem: SqlError) -> bool:
        return len(self.writer.log) > self._writes_before(mark) or isinstance(problem.__cause__, duckdb.Error)

    def _rewind(self, mark: Mark) -> None:
        """Back to a mark, on a fresh snapshot: a new DuckDB transaction with everything before it."""
        kept = self.writer.log[: self._writes_before(mark)]
        self._duck_rollback()
        self._duck_begin()
        with self.undisturbed():
            self._journal.replay(self.con)
            for write in kept:
                journal.run(self.con, write)
        self.writer.log = kept
        if self.temp_tables != mark.temp_tables:
            self.temp_tables = dict(mark.temp_tables)
        self._forget_tables()

    def control(self, verb: str) -> None:
        """BEGIN, COMMIT or ROLLBACK WORK inside a routine: what it did before is no longer a part of its statement."""
        if verb == "begin" and not self.in_transaction:
            self._end_statement()
        elif verb == "commit" and self.in_transaction:
            self._journal.writes += self.writer.log
            self.writer.log = []
        elif verb == "rollback" and self.in_transaction:
            self.writer.log = []
        try:
            {"begin": self.begin, "commit": self.commit, "rollback": self.rollback}[verb]()
            self.ended_inside += 1
            self.writer.log = []
        finally:
            if not self._open:
                self._duck_begin()

    def _end_statement(self) -> None:
        """Commit what a routine has done so far outside a transaction."""
        if self._open:
            self._open = False
            with self.undisturbed():
                self.con.execute("COMMIT")
        self.writer.log = []
        self._publish()
        self.engine.locks.release(self, committed=True)
