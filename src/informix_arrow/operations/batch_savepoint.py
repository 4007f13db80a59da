"""Undo an ``executemany`` call that ends early, and say in its error what is in effect.

In a transaction a savepoint is set before the first row: a call that is canceled or times out is undone to its
beginning. With autocommit every row is final once its reply has arrived, and the error says which rows are.
"""

from __future__ import annotations

from ..wire import messages as m
from ..wire.errors import INTERRUPTED, Error
from .batch_replies import ManyOutcome
from .cancel import absorb_late_interrupt
from .io_steps import ConnectionLost, Exchange
from .message_stream import encode_group
from .request_reply import DeferredReply, queue, request, send_deferred
from .session import Session, TransactionStatus
from .transaction import NOT_OPEN

CALL_SAVEPOINT, CHUNK_SAVEPOINT = "ifx_executemany", "ifx_executemany_chunk"


class BatchSavepoint:
    """The savepoints of one call. Created after the call's transaction has begun, if it runs in one."""

    def __init__(self, session: Session) -> None:
        self._session = session
        #: An ANSI database begins the transaction with the first row: all of it belongs to this call.
        self._owns_transaction = (
            session.ansi and not session.autocommit and session.transaction is TransactionStatus.NONE
        )
        self._use_savepoint = not self._owns_transaction and session.transaction is TransactionStatus.OPEN
        self._savepoint_reply: DeferredReply | None = None  # to the savepoint before the first row
        self._chunk_reply: DeferredReply | None = None  # to the one before the last chunk

    @property
    def in_transaction(self) -> bool:
        """Return whether a savepoint may be set."""
        return self._use_savepoint

    @property
    def can_undo(self) -> bool:
        """Return whether the call can be undone to its beginning."""
        return self._owns_transaction or _is_set(self._savepoint_reply)

    def begin(self) -> None:
        """Queue the savepoint in front of the first row."""
        if self._use_savepoint:
            self._savepoint_reply = send_deferred(self._session, (m.SetSavepoint(CALL_SAVEPOINT),))

    def begin_chunk(self) -> None:
        """Queue another savepoint in front of the next rows, for :meth:`undo_chunk`."""
        self._chunk_reply = send_deferred(self._session, (m.SetSavepoint(CHUNK_SAVEPOINT),))

    def undo_chunk(self) -> Exchange[bool]:
        """Undo the last chunk. Returns False if that is impossible."""
        if not _is_set(self._chunk_reply):
            return False
        reply = yield from request(self._session, (m.RollbackToSavepoint(CHUNK_SAVEPOINT),))
        return reply.error is None

    def release(self) -> None:
        """Release the savepoints after the call, with the next request."""
        session = self._session
        if _is_set(self._savepoint_reply) and session.transaction is not TransactionStatus.NONE:
            queue(session, encode_group(session, (m.ReleaseSavepoint(CALL_SAVEPOINT),)))

    def handle_failure(self, outcome: ManyOutcome, error: BaseException) -> Exchange[None]:
        """Undo the call if ``error`` interrupted it, and add to the error which rows are in effect."""
        session = self._session
        if not session.usable_after(error):
            if isinstance(error, ConnectionLost):
                _append_to_message(error, self._connection_lost_message(outcome))
            return
        call = session.call
        if not isinstance(error, Error):
            self.release()
            return
        outcome.annotate(error)
        if error.sqlcode != INTERRUPTED:
            self.release()
            return
        in_effect = outcome.in_effect()
        error.row = None  # not caused by the current row
        if call is not None and call.interrupt_sent:
            yield from absorb_late_interrupt(session)  # the urgent byte must not hit the next statement
        if not self.can_undo:
            _append_to_message(error, in_effect)
        elif (yield from self._undo()):
            error.rows = 0
            _append_to_message(error, "The call was rolled back. None of its rows is in effect.")
        else:
            _append_to_message(
                error, "The server did not undo the call. Roll the transaction back before you continue."
            )

    def _undo(self) -> Exchange[bool]:
        session = self._session
        if self._owns_transaction:
            reply = yield from request(session, (m.Rollback(),))
            session.transaction = TransactionStatus.NONE
            return reply.error is None or reply.error.sqlcode == NOT_OPEN
        reply = yield from request(session, (m.RollbackToSavepoint(CALL_SAVEPOINT),))
        if reply.error is None:
            self.release()
        return reply.error is None

    def _connection_lost_message(self, outcome: ManyOutcome) -> str:
        if self._owns_transaction or self._use_savepoint:
            return "The rows were part of a transaction, which the server rolls back."
        unknown = self._session.outstanding_requests
        answered = (
            f"The server had answered {outcome.executed:,} rows ({len(outcome.errors):,} of them refused)"
        )
        return f"{answered}. Up to {unknown:,} more were sent and may be in effect. Check before you repeat."


def _is_set(savepoint: DeferredReply | None) -> bool:
    """Return whether a savepoint was sent and, as far as is known, set."""
    return savepoint is not None and savepoint.error is None


def _append_to_message(error: Error, text: str) -> None:
    error.args = (f"{error.args[0] if error.args else ''}\n{text}".lstrip("\n"), *error.args[1:])
