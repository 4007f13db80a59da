"""What a load does to transactions: one of its own, a savepoint in the user's, or none where there are none
(SQLI section 12, JDBC section 9)."""

from __future__ import annotations

from enum import Enum

from ..wire import messages as m
from ..wire.errors import OperationalError, ProgrammingError
from .session import Session, Transaction
from .steps import Exchange
from .transaction import NOT_OPEN, UNLOGGED, ask_commit, begin, commit_now
from .turns import ask

SAVEPOINT = "ifx_write_arrow"


class ScopeKind(Enum):
    """In what a load runs."""

    OWN = "own"  # a transaction that the load begins and ends
    SAVEPOINT = "savepoint"  # the user's open transaction, behind a savepoint; ended by the user
    NONE = "none"  # an unlogged database: every row is final at once


class Scope:
    """The transaction around one load. Made by :meth:`enter`; ended by :meth:`keep` or :meth:`undo`."""

    def __init__(self, session: Session, kind: ScopeKind) -> None:
        self._session = session
        self.kind = kind
        self.commits = 0
        self._begun = True  # for a transaction of the load's own: whether one is open
        self.ended = False  # the server had ended the transaction by itself when it was to be undone
        self.in_doubt = False  # a COMMIT was sent whose answer has not come

    @classmethod
    def enter(cls, session: Session, commit_every: int | None) -> Exchange[Scope]:
        """Begin. ``ProgrammingError`` when ``commit_every`` would commit the user's own open transaction."""
        if session.transaction is Transaction.READING:
            yield from commit_now(session)  # it is read only; open results outlive that
        begins = session.logged and session.transaction is not Transaction.OPEN
        if begins and (yield from begin(session)):
            return cls(session, ScopeKind.OWN)
        if not session.logged:
            return cls(session, ScopeKind.NONE)
        if commit_every is not None:
            raise ProgrammingError(
                "commit_every would commit the transaction that is open: commit or roll it back first, or load "
                "without commit_every, as a part of it"
            )
        reply = yield from ask(session, (m.SetSavepoint(SAVEPOINT),))
        if reply.error is not None and reply.error.sqlcode == NOT_OPEN and (yield from begin(session)):
            return cls(session, ScopeKind.OWN)  # nothing was open after all
        reply.check()
        return cls(session, ScopeKind.SAVEPOINT)

    @property
    def can_undo(self) -> bool:
        """Whether a failure leaves no trace."""
        return self.kind is not ScopeKind.NONE

    def commit(self) -> Exchange[None]:
        """Commit what was loaded so far, in a transaction of the load's own."""
        self.in_doubt = True
        reply = yield from ask_commit(self._session)
        self.in_doubt = False
        reply.check()
        self._session.transaction = Transaction.NONE
        self._begun = False
        self.commits += 1

    def resume(self) -> Exchange[None]:
        """Begin the next transaction of the load's own, after a commit; nothing to do when one is open.

        ``OperationalError`` when the server does not begin it: rows sent now would be in nobody's transaction.
        """
        if self.kind is not ScopeKind.OWN or self._begun:
            return
        if not (yield from begin(self._session)):
            raise OperationalError("the server did not begin the next transaction of the load")
        self._begun = True

    def keep(self) -> Exchange[None]:
        """The load went well."""
        if self.kind is ScopeKind.OWN:
            if self._begun:
                yield from self.commit()
        elif self.kind is ScopeKind.SAVEPOINT:
            reply = yield from ask(self._session, (m.ReleaseSavepoint(SAVEPOINT),))
            reply.check()

    def undo(self) -> Exchange[bool]:
        """The load failed: back to where it began, or to its last commit. False when the server refused that,
        and, for a savepoint, the transaction holds what the load did.

        True with :attr:`ended` set means that there was no transaction any more: its work is undone, but rows that
        the server took after its end are in the table.
        """
        if self.kind is ScopeKind.OWN:
            if self._session.transaction is Transaction.NONE:
                return True
            reply = yield from ask(self._session, (m.Rollback(),))
            if reply.error is not None and reply.error.sqlcode not in (NOT_OPEN, *UNLOGGED):
                return False
            self.ended = reply.error is not None
            self._session.transaction = Transaction.NONE
        elif self.kind is ScopeKind.SAVEPOINT:
            reply = yield from ask(self._session, (m.RollbackToSavepoint(SAVEPOINT),))
            if reply.error is not None:
                return False
            yield from ask(self._session, (m.ReleaseSavepoint(SAVEPOINT),))
        return True
