"""The transaction of a load: its own, a savepoint in the user's, or none in a database without transactions
(SQLI section 12, JDBC section 9).
"""

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
    """The kind of transaction in which a load runs."""

    OWN_TRANSACTION = "own"  # a transaction that the load begins and ends
    SAVEPOINT = "savepoint"  # a savepoint in the user's open transaction, which the user ends
    NONE = "none"  # an unlogged database: every row is final at once


class LoadTransaction:
    """The transaction around one load. Created by :meth:`begin`, ended by :meth:`complete` or :meth:`rollback`."""

    def __init__(self, session: Session, kind: LoadTransactionKind) -> None:
        self._session = session
        self.kind = kind
        self.commits = 0
        self._transaction_open = True  # for OWN_TRANSACTION: True if one is open
        self._savepoint_set = True  # for SAVEPOINT: True if the savepoint is set
        self.ended_by_server = False  # the server had already ended the transaction when it was to be undone
        self.in_doubt = False  # a COMMIT was sent whose reply has not arrived
        self._deferred_reply: DeferredReply | None = None  # to BEGIN or SAVEPOINT, until it is read

    @classmethod
    def begin(cls, session: Session, commit_every: int | None) -> Exchange[LoadTransaction]:
        """Begin. Raises ``ProgrammingError`` if ``commit_every`` would commit the user's own open transaction."""
        if session.transaction is TransactionStatus.IMPLICIT_READ:
            yield from commit_now(session)  # it is read-only; open results stay open
        begins = session.logged and session.transaction is not TransactionStatus.OPEN
        if begins and (yield from begin(session)):
            return cls(session, LoadTransactionKind.OWN_TRANSACTION)
        if not session.logged:
            return cls(session, LoadTransactionKind.NONE)
        _refuse_commit_every(commit_every)
        reply = yield from request(session, (m.SetSavepoint(SAVEPOINT),))
        if reply.error is not None and reply.error.sqlcode == NOT_OPEN and (yield from begin(session)):
            return cls(session, LoadTransactionKind.OWN_TRANSACTION)  # no transaction was open after all
        reply.check()
        return cls(session, LoadTransactionKind.SAVEPOINT)

    @classmethod
    def begin_deferred(cls, session: Session, commit_every: int | None) -> LoadTransaction:
        """Begin as :meth:`begin` does, without waiting for the reply.

        The session must know that the database is logged and whether a transaction is open. BEGIN or SAVEPOINT
        is sent in front of the first rows, and :meth:`read_deferred_reply` reads its reply.
        """
        if session.transaction is not TransactionStatus.OPEN:
            transaction = cls(session, LoadTransactionKind.OWN_TRANSACTION)
            transaction._deferred_reply = send_deferred(session, (m.Begin(),))
            return transaction
        _refuse_commit_every(commit_every)
        transaction = cls(session, LoadTransactionKind.SAVEPOINT)
        transaction._deferred_reply = send_deferred(session, (m.SetSavepoint(SAVEPOINT),))
        return transaction

    def read_deferred_reply(self) -> Exchange[None]:
        """Read the reply to :meth:`begin_deferred`, if it was not read yet. Raises the server's error.

        Contrary to what the session knew, a transaction may already have been open, which then is the user's,
        or the database may have no log. Rows sent meanwhile are then in that transaction, or final.
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
        """Return whether a failed load can be undone."""
        return self.kind is not LoadTransactionKind.NONE

    def commit(self) -> Exchange[None]:
        """Commit the rows loaded so far, in the load's own transaction."""
        self.in_doubt = True
        reply = yield from request_commit(self._session)
        self.in_doubt = False
        reply.check()
        self._session.transaction = TransactionStatus.NONE
        self._transaction_open = False
        self.commits += 1

    def begin_next(self) -> Exchange[None]:
        """Begin the next transaction of the load after a commit. Does nothing if one is open.

        Raises ``OperationalError`` if the server does not begin it: rows sent now would not belong to any
        transaction.
        """
        if self.kind is not LoadTransactionKind.OWN_TRANSACTION or self._transaction_open:
            return
        if not (yield from begin(self._session)):
            raise OperationalError("The server did not begin the next transaction of the load.")
        self._transaction_open = True

    def complete(self) -> Exchange[None]:
        """Complete a successful load: commit its transaction or release its savepoint."""
        yield from self.read_deferred_reply()
        if self.kind is LoadTransactionKind.OWN_TRANSACTION:
            if self._transaction_open:
                yield from self.commit()
        elif self.kind is LoadTransactionKind.SAVEPOINT and self._savepoint_set:
            reply = yield from request(self._session, (m.ReleaseSavepoint(SAVEPOINT),))
            reply.check()

    def rollback(self) -> Exchange[bool]:
        """Undo a failed load, back to its beginning or to its last commit.

        Returns False if the server refused that; with a savepoint, the transaction then still contains the
        load's rows. True with :attr:`ended_by_server` set means that the transaction had already ended: its
        work is undone, but rows that the server received after its end are in the table.
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
        """Read the deferred reply of a load that has already failed, and ignore its error."""
        try:
            yield from self.read_deferred_reply()
        except Error as error:
            if not self._session.usable_after(error):
                raise


def _refuse_commit_every(commit_every: int | None) -> None:
    if commit_every is not None:
        raise ProgrammingError(
            "commit_every would commit the open transaction. Commit or roll it back first, or load without "
            "commit_every, as a part of it."
        )
