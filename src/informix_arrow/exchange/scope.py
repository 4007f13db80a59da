"""What a load does to transactions: one of its own, a savepoint in the user's, or none where there are none
(SQLI section 12, JDBC section 9)."""

from __future__ import annotations

from enum import Enum

from ..wire import messages as m
from ..wire.errors import Error, OperationalError, ProgrammingError
from .session import Session, Transaction
from .steps import Exchange
from .stream import error_of
from .transaction import NOT_OPEN, UNLOGGED, ask_commit, begin, begun, commit_now
from .turns import Answer, ahead, ask, settle

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
        self._marked = True  # for the user's: whether the savepoint is set
        self.ended = False  # the server had ended the transaction by itself when it was to be undone
        self.in_doubt = False  # a COMMIT was sent whose answer has not come
        self._answer: Answer | None = None  # to what begins it, as long as nobody has looked

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
        _refuse_commits(commit_every)
        reply = yield from ask(session, (m.SetSavepoint(SAVEPOINT),))
        if reply.error is not None and reply.error.sqlcode == NOT_OPEN and (yield from begin(session)):
            return cls(session, ScopeKind.OWN)  # nothing was open after all
        reply.check()
        return cls(session, ScopeKind.SAVEPOINT)

    @classmethod
    def enter_ahead(cls, session: Session, commit_every: int | None) -> Scope:
        """As :meth:`enter`, where the database is known to be logged and whether a transaction is open: what begins
        the scope leaves in front of the first rows, and :meth:`arrive` tells what became of it.
        """
        if session.transaction is not Transaction.OPEN:
            scope = cls(session, ScopeKind.OWN)
            scope._answer = ahead(session, (m.Begin(),))
            return scope
        _refuse_commits(commit_every)
        scope = cls(session, ScopeKind.SAVEPOINT)
        scope._answer = ahead(session, (m.SetSavepoint(SAVEPOINT),))
        return scope

    def arrive(self) -> Exchange[None]:
        """Take in what the server says of a scope that was entered ahead; nothing to do otherwise.

        Raises the server's error. Against all that was known, a transaction may have been open already, which is the
        user's then, or the database be unlogged: rows that were sent are in the one or in the other.
        """
        if self._answer is None:
            return
        session = self._session
        yield from settle(session)
        error, self._answer = self._answer.error, None
        if self.kind is ScopeKind.SAVEPOINT:
            if error is not None:
                self._marked = False
                raise error_of(error)
        elif not begun(session, error):
            self.kind = ScopeKind.SAVEPOINT if session.logged else ScopeKind.NONE
            self._marked = False

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
        yield from self.arrive()
        if self.kind is ScopeKind.OWN:
            if self._begun:
                yield from self.commit()
        elif self.kind is ScopeKind.SAVEPOINT and self._marked:
            reply = yield from ask(self._session, (m.ReleaseSavepoint(SAVEPOINT),))
            reply.check()

    def undo(self) -> Exchange[bool]:
        """The load failed: back to where it began, or to its last commit. False when the server refused that,
        and, for a savepoint, the transaction holds what the load did.

        True with :attr:`ended` set means that there was no transaction any more: its work is undone, but rows that
        the server took after its end are in the table.
        """
        yield from self._arrive_anyhow()
        if self.kind is ScopeKind.OWN:
            if self._session.transaction is Transaction.NONE:
                return True
            reply = yield from ask(self._session, (m.Rollback(),))
            if reply.error is not None and reply.error.sqlcode not in (NOT_OPEN, *UNLOGGED):
                return False
            self.ended = reply.error is not None
            self._session.transaction = Transaction.NONE
        elif self.kind is ScopeKind.SAVEPOINT:
            if not self._marked:
                return False
            reply = yield from ask(self._session, (m.RollbackToSavepoint(SAVEPOINT),))
            if reply.error is not None:
                return False
            yield from ask(self._session, (m.ReleaseSavepoint(SAVEPOINT),))
        return True

    def _arrive_anyhow(self) -> Exchange[None]:
        """:meth:`arrive`, when the load has failed already: nobody asks for another error."""
        try:
            yield from self.arrive()
        except Error as error:
            if not self._session.usable_after(error):
                raise


def _refuse_commits(commit_every: int | None) -> None:
    if commit_every is not None:
        raise ProgrammingError(
            "commit_every would commit the transaction that is open: commit or roll it back first, or load "
            "without commit_every, as a part of it"
        )
