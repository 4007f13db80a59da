"""What a load does to transactions: one of its own, a savepoint in the user's, or none where there are none
(SQLI section 12, JDBC section 9)."""

from __future__ import annotations

from enum import Enum

from ..wire import messages as m
from ..wire.errors import Error, OperationalError, ProgrammingError
from .io_steps import Exchange
from .message_stream import server_error
from .request_reply import DeferredReply, drain_pending_replies, request, send_deferred
from .session import Session, TransactionStatus
from .transaction import NOT_OPEN, UNLOGGED, begin, check_begin_reply, commit_now, request_commit

SAVEPOINT = "ifx_write_arrow"


class LoadTransactionKind(Enum):
    """In what a load runs."""

    OWN_TRANSACTION = "own"  # a transaction that the load begins and ends
    SAVEPOINT = "savepoint"  # the user's open transaction, behind a savepoint; ended by the user
    NONE = "none"  # an unlogged database: every row is final at once


class LoadTransaction:
    """The transaction around one load. Made by :meth:`begin`; ended by :meth:`complete` or :meth:`rollback`."""

    def __init__(self, session: Session, kind: LoadTransactionKind) -> None:
        self._session = session
        self.kind = kind
        self.commits = 0
        self._transaction_open = True  # for a transaction of the load's own: whether one is open
        self._savepoint_set = True  # for the user's: whether the savepoint is set
        self.ended_by_server = (
            False  # the server had ended the transaction by itself when it was to be undone
        )
        self.in_doubt = False  # a COMMIT was sent whose answer has not come
        self._deferred_reply: DeferredReply | None = None  # to what begins it, as long as nobody has looked

    @classmethod
    def begin(cls, session: Session, commit_every: int | None) -> Exchange[LoadTransaction]:
        """Begin. ``ProgrammingError`` when ``commit_every`` would commit the user's own open transaction."""
        if session.transaction is TransactionStatus.IMPLICIT_READ:
            yield from commit_now(session)  # it is read only; open results outlive that
        begins = session.logged and session.transaction is not TransactionStatus.OPEN
        if begins and (yield from begin(session)):
            return cls(session, LoadTransactionKind.OWN_TRANSACTION)
        if not session.logged:
            return cls(session, LoadTransactionKind.NONE)
        _refuse_commit_every(commit_every)
        reply = yield from request(session, (m.SetSavepoint(SAVEPOINT),))
        if reply.error is not None and reply.error.sqlcode == NOT_OPEN and (yield from begin(session)):
            return cls(session, LoadTransactionKind.OWN_TRANSACTION)  # nothing was open after all
        reply.check()
        return cls(session, LoadTransactionKind.SAVEPOINT)

    @classmethod
    def begin_deferred(cls, session: Session, commit_every: int | None) -> LoadTransaction:
        """As :meth:`begin`, where the database is known to be logged and whether a transaction is open: what begins
        the scope leaves in front of the first rows, and :meth:`read_deferred_reply` tells what became of it.
        """
        if session.transaction is not TransactionStatus.OPEN:
            scope = cls(session, LoadTransactionKind.OWN_TRANSACTION)
            scope._deferred_reply = send_deferred(session, (m.Begin(),))
            return scope
        _refuse_commit_every(commit_every)
        scope = cls(session, LoadTransactionKind.SAVEPOINT)
        scope._deferred_reply = send_deferred(session, (m.SetSavepoint(SAVEPOINT),))
        return scope

    def read_deferred_reply(self) -> Exchange[None]:
        """Take in what the server says of a scope that was entered ahead; nothing to do otherwise.

        Raises the server's error. Against all that was known, a transaction may have been open already, which is the
        user's then, or the database be unlogged: rows that were sent are in the one or in the other.
        """
        if self._deferred_reply is None:
            return
        session = self._session
        yield from drain_pending_replies(session)
        error, self._deferred_reply = self._deferred_reply.error, None
        if self.kind is LoadTransactionKind.SAVEPOINT:
            if error is not None:
                self._savepoint_set = False
                raise server_error(error)
        elif not check_begin_reply(session, error):
            self.kind = LoadTransactionKind.SAVEPOINT if session.logged else LoadTransactionKind.NONE
            self._savepoint_set = False

    @property
    def can_undo(self) -> bool:
        """Whether a failure leaves no trace."""
        return self.kind is not LoadTransactionKind.NONE

    def commit(self) -> Exchange[None]:
        """Commit what was loaded so far, in a transaction of the load's own."""
        self.in_doubt = True
        reply = yield from request_commit(self._session)
        self.in_doubt = False
        reply.check()
        self._session.transaction = TransactionStatus.NONE
        self._transaction_open = False
        self.commits += 1

    def begin_next(self) -> Exchange[None]:
        """Begin the next transaction of the load's own, after a commit; nothing to do when one is open.

        ``OperationalError`` when the server does not begin it: rows sent now would be in nobody's transaction.
        """
        if self.kind is not LoadTransactionKind.OWN_TRANSACTION or self._transaction_open:
            return
        if not (yield from begin(self._session)):
            raise OperationalError("the server did not begin the next transaction of the load")
        self._transaction_open = True

    def complete(self) -> Exchange[None]:
        """The load went well."""
        yield from self.read_deferred_reply()
        if self.kind is LoadTransactionKind.OWN_TRANSACTION:
            if self._transaction_open:
                yield from self.commit()
        elif self.kind is LoadTransactionKind.SAVEPOINT and self._savepoint_set:
            reply = yield from request(self._session, (m.ReleaseSavepoint(SAVEPOINT),))
            reply.check()

    def rollback(self) -> Exchange[bool]:
        """The load failed: back to where it began, or to its last commit. False when the server refused that,
        and, for a savepoint, the transaction holds what the load did.

        True with :attr:`ended_by_server` set means that there was no transaction any more: its work is undone, but rows that
        the server took after its end are in the table.
        """
        yield from self._drain_deferred_reply()
        if self.kind is LoadTransactionKind.OWN_TRANSACTION:
            if self._session.transaction is TransactionStatus.NONE:
                return True
            reply = yield from request(self._session, (m.Rollback(),))
            if reply.error is not None and reply.error.sqlcode not in (NOT_OPEN, *UNLOGGED):
                return False
            self.ended_by_server = reply.error is not None
            self._session.transaction = TransactionStatus.NONE
        elif self.kind is LoadTransactionKind.SAVEPOINT:
            if not self._savepoint_set:
                return False
            reply = yield from request(self._session, (m.RollbackToSavepoint(SAVEPOINT),))
            if reply.error is not None:
                return False
            yield from request(self._session, (m.ReleaseSavepoint(SAVEPOINT),))
        return True

    def _drain_deferred_reply(self) -> Exchange[None]:
        """:meth:`read_deferred_reply`, when the load has failed already: nobody asks for another error."""
        try:
            yield from self.read_deferred_reply()
        except Error as error:
            if not self._session.usable_after(error):
                raise


def _refuse_commit_every(commit_every: int | None) -> None:
    if commit_every is not None:
        raise ProgrammingError(
            "commit_every would commit the transaction that is open: commit or roll it back first, or load "
            "without commit_every, as a part of it"
        )
