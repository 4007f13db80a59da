"""Messages for transactions: SQ_BEGIN, SQ_CMMTWORK, SQ_RBWORK, savepoints, and XACTSTAT, which reports their state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...wire import messages as m
from ..errors import SqlError
from ..session.engine_session import EngineSession
from .database import DatabaseHandler
from .interrupts import StatementInterrupts
from .replies import ReplyWriter
from .statement_executor import StatementExecutor
from .statements import StatementHandles

_TRANSACTION_BEGAN, _TRANSACTION_ENDED = m.XactStat(2, 1, 0), m.XactStat(2, 0, 1)
"""A transaction began, a transaction ended. Other clients skip six bytes. libsqli, which is used on 14.10, takes the
first short for a length: only with 2 does it skip as many.
"""


@dataclass(eq=False, repr=False)
class TransactionHandler:
    """Begins and ends transactions. At the end of one, cursors without HOLD are closed (SQLI section 12)."""

    _engine_session: EngineSession
    _executor: StatementExecutor
    _replies: ReplyWriter
    _interrupts: StatementInterrupts
    _statements: StatementHandles
    _database_handler: DatabaseHandler

    def begin(self, _: m.Begin) -> None:
        if self._engine_session.in_transaction:
            raise SqlError(-535)
        if self._engine_session.database is not None and not self._database_handler.logged:
            raise SqlError(-201)  # as SQL text it is -256 (SERVER-BEHAVIOUR section 1)
        self._executor.begin()
        self._replies.send_message(_TRANSACTION_BEGAN)

    def commit(self, _: m.Commit) -> None:
        self._finish(self._executor.commit)

    def rollback(self, _: m.Rollback) -> None:
        self._finish(self._executor.rollback)

    def _finish(self, action: Callable[[], None]) -> None:
        before = self._engine_session.in_transaction
        if not before and not self._database_handler.logged:
            raise SqlError(-255)
        if before:
            self._buffer_open_rows(ending=True)
        try:
            action()
        finally:
            self.close_cursors(before)
        self._replies.send_message(m.Done(0, 0, 0, 0))
        if before and self._database_handler.logged:
            self._replies.send_message(_TRANSACTION_ENDED)

    def _buffer_open_rows(self, *, ending: bool) -> None:
        """Buffer open rows before a transaction ends.

        This may take long and can be interrupted, the end itself cannot.
        """
        with self._interrupts.preparing_commit():
            self._engine_session.transaction.buffer_open_rows(ending=ending)

    def set_savepoint(self, message: m.SetSavepoint) -> None:
        self._engine_session.transaction.savepoint(message.name, message.unique)

    def release_savepoint(self, message: m.ReleaseSavepoint) -> None:
        self._engine_session.transaction.release_savepoint(message.name)

    def rollback_to_savepoint(self, message: m.RollbackToSavepoint) -> None:
        self._buffer_open_rows(ending=False)
        self._engine_session.transaction.rollback_to_savepoint(message.name)

    # ---- for other messages ----------------------------------------------------------------------------------

    def state_messages(self, before: bool, changes_data: bool) -> tuple[m.XactStat, ...]:
        """Return the XACTSTAT messages after an execution; `before` says whether a transaction was open before it."""
        after = self._engine_session.in_transaction
        if after != before:
            return (_TRANSACTION_BEGAN if after else _TRANSACTION_ENDED,)
        autocommitted = changes_data and not after and self._database_handler.logged
        return (_TRANSACTION_ENDED,) if autocommitted else ()

    def report_change(self, before: bool) -> None:
        """Report a transaction that a routine has begun or ended."""
        after = self._engine_session.in_transaction
        if before == after:
            return
        if self._database_handler.logged:
            self._replies.send_message(_TRANSACTION_BEGAN if after else _TRANSACTION_ENDED)
        self.close_cursors(before)

    def close_cursors(self, before: bool) -> None:
        """Close the cursors that the end of a transaction closes; `before` says whether one was open."""
        if before and not self._engine_session.in_transaction:
            self._statements.close_cursors(held=False)
