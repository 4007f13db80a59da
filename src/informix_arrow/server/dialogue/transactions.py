"""Transactions by message: SQ_BEGIN, SQ_CMMTWORK, SQ_RBWORK, savepoints; and what is told of them, XACTSTAT."""

from __future__ import annotations

from collections.abc import Callable

from ...wire import messages as m
from ..engine.session import EngineSession
from ..errors import SqlError
from .current_database import CurrentDatabase
from .interrupts import Interrupts
from .replies import Replies
from .runner import Runner
from .statements import Statements

_BEGAN, _ENDED = m.XactStat(1, 1, 0), m.XactStat(1, 0, 1)
"""A transaction began, a transaction ended (SERVER-BEHAVIOUR section 8)."""


class Transactions:
    """Begins and ends transactions; at the end of one, cursors without HOLD are closed (SQLI section 12)."""

    def __init__(
        self,
        engine: EngineSession,
        runner: Runner,
        replies: Replies,
        interrupts: Interrupts,
        statements: Statements,
        database: CurrentDatabase,
    ) -> None:
        self._engine = engine
        self._runner = runner
        self._replies = replies
        self._interrupts = interrupts
        self._statements = statements
        self._database = database

    def begin(self, _: m.Begin) -> None:
        if self._engine.in_transaction:
            raise SqlError(-535)
        if self._engine.database is not None and not self._database.logged:
            raise SqlError(-201)  # as SQL text it is -256 (SERVER-BEHAVIOUR section 1)
        self._runner.begin()
        self._replies.reply(_BEGAN)

    def commit(self, _: m.Commit) -> None:
        self._finish(self._runner.commit)

    def rollback(self, _: m.Rollback) -> None:
        self._finish(self._runner.rollback)

    def _finish(self, action: Callable[[], None]) -> None:
        before = self._engine.in_transaction
        if not before and not self._database.logged:
            raise SqlError(-255)
        if before:
            self._settle(ending=True)
        try:
            action()
        finally:
            self.close_cursors(before)
        self._replies.reply(m.Done(0, 0, 0, 0))
        if before and self._database.logged:
            self._replies.reply(_ENDED)

    def _settle(self, *, ending: bool) -> None:
        """What may take long before a transaction ends can be interrupted, its end cannot."""
        with self._interrupts.settling():
            self._engine.settle(ending=ending)

    def set_savepoint(self, message: m.SetSavepoint) -> None:
        self._engine.savepoint(message.name, message.unique)

    def release_savepoint(self, message: m.ReleaseSavepoint) -> None:
        self._engine.release_savepoint(message.name)

    def rollback_to_savepoint(self, message: m.RollbackToSavepoint) -> None:
        self._settle(ending=False)
        self._engine.rollback_to_savepoint(message.name)

    # ---- of other messages -----------------------------------------------------------------------------------

    def state_after(self, before: bool, changes_data: bool) -> tuple[m.XactStat, ...]:
        """What is told behind an execution; `before` says whether a transaction was open before it."""
        after = self._engine.in_transaction
        if after != before:
            return (_BEGAN if after else _ENDED,)
        autocommitted = changes_data and not after and self._database.logged
        return (_ENDED,) if autocommitted else ()

    def note(self, before: bool) -> None:
        """Tell of a transaction that a routine has begun or ended."""
        after = self._engine.in_transaction
        if before == after:
            return
        if self._database.logged:
            self._replies.reply(_BEGAN if after else _ENDED)
        self.close_cursors(before)

    def close_cursors(self, before: bool) -> None:
        """Close what a transaction that has ended leaves open; `before` says whether one was open."""
        if before and not self._engine.in_transaction:
            self._statements.close_cursors(held=False)
