"""End a running call: the urgent byte, its effects, and how the next call is protected from it.

The byte asks the server to end the running statement with SQ_ERR -213 (SQLI section 2). It is outside the
stream of messages, so nothing shows whether it arrived in time: a late byte hits the next statement, or
nothing. Therefore:

- A call for which the byte was sent runs on, so that its reply is read and the session stays in step.
- An operation that is to end begins nothing new (:func:`raise_if_cancelled`).
- A harmless statement is executed before anything else (:func:`absorb_late_interrupt`). This is done even if a
  -213 has shown that the byte had an effect, which may have been on a request sent ahead of the one it met. Once
  its reply arrives, the server has read past the byte, and a second one can be sent. A TCP stack that holds an
  unread urgent byte when the next arrives leaves the first in the stream, as if it were data.
"""

from __future__ import annotations

from typing import TypeVar

from ..wire import messages as m
from ..wire.errors import INTERRUPTED, CommitUnknown, Error, QueryCanceled, QueryTimeout
from .io_steps import Call, CancelReason, Exchange
from .request_reply import clear_orphans, request
from .session import Orphan, Session, TransactionStatus

T = TypeVar("T")

_NOOP_QUERY = "SELECT tabid FROM informix.systables WHERE tabid = 1"


def interruptible(session: Session, call: Call, exchange: Exchange[T]) -> Exchange[T]:
    """Run ``exchange`` as the call ``call``, after the cleanup that earlier calls have left."""
    last, session.call = session.call, call
    late = last is not None and last.interrupt_sent
    if late or session.orphans or call.cancel_reason is not None:
        return _run_after_cleanup(session, call, exchange, late)
    return exchange


def _run_after_cleanup(session: Session, call: Call, exchange: Exchange[T], late: bool) -> Exchange[T]:
    if late:
        call.interrupt_sent = True  # no second byte right after the first
        # First of all: a server may have to store all rows of a result that is still open during another
        # statement.
        yield from clear_orphans(session)
        yield from absorb_late_interrupt(session)
        call.interrupt_sent = False
    if call.cancel_reason is not None:
        yield from raise_if_cancelled(session)
    if session.orphans:
        yield from clear_orphans(session)
    return (yield from exchange)


def absorb_late_interrupt(session: Session) -> Exchange[None]:
    """Execute a statement that a late interrupt may hit, in place of one that matters."""
    if not session.database:
        yield from request(session, (m.DbList(),))
    else:
        reply = yield from request(session, (m.Prepare(0, _NOOP_QUERY), m.NDescribe(), m.WantDone()))
        if reply.describe is not None:
            statement = m.Id(reply.describe.statement_id)
            name = m.CursorName(session.next_cursor_name())
            yield from request(session, (statement, name, m.Open(), statement, m.Fetch(4096)))
            yield from request(session, (statement, m.Close()))
            yield from request(session, (statement, m.Release()))
            if session.ansi and session.transaction is TransactionStatus.NONE:  # the read has begun one
                yield from request(session, (m.Commit(),))


def cancel_requested(session: Session) -> bool:
    """Return whether the running call is to end and has not raised that yet.

    Operations ask this between two requests, and between two items of the user's data: the transport checks the
    time limit only while it waits for the network.
    """
    call = session.call
    if call is None or call.acknowledged or call.interrupted:
        return False
    if call.timeout is not None:
        call.check_timeout(session.clock())
    return call.cancel_reason is not None


def raise_if_cancelled(session: Session) -> Exchange[None]:
    """Raise ``QueryCanceled`` if the running call is to end. Called wherever an operation begins something new.

    The operation may have no reply of its own outstanding. Raised once, so that cleanup after the error may use
    the connection. A late interrupt is absorbed before.
    """
    if not cancel_requested(session):
        return
    call = session.call
    assert call is not None
    call.acknowledged = True
    if call.interrupt_sent:
        yield from absorb_late_interrupt(session)
        call.interrupted = True
    raise canceled_error()


def canceled_error() -> QueryCanceled:
    """Return the error of a call that was ended before its next statement began."""
    return QueryCanceled(
        "The call was canceled between two requests to the server. No statement was interrupted.",
        sqlcode=INTERRUPTED,
    )


def record_interrupt(call: Call, error: BaseException) -> None:
    """Record how the operation of the call failed."""
    if isinstance(error, Error) and error.sqlcode == INTERRUPTED:
        call.interrupted = True


def translate_error(call: Call, error: BaseException) -> BaseException:
    """Return the error that the caller gets for ``error``, which ended the operation of ``call``."""
    if call.pending_exception is not None:
        return call.pop_pending_exception()
    if isinstance(error, CommitUnknown):
        return error  # it matters more than the reason why the wait ended
    if not isinstance(error, Error) or not (call.grace_expired or isinstance(error, QueryCanceled)):
        return error
    if call.cancel_reason is CancelReason.TIMEOUT:
        better: Error = QueryTimeout(f"The call took longer than {call.timeout:g} s (timeout): {error}")
    elif call.grace_expired:
        better = QueryCanceled(str(error))
    else:
        return error
    better.__dict__.update(error.__dict__)
    if better.sqlcode is None:
        better.sqlcode = INTERRUPTED
    return better


def connection_lost_message(error: BaseException) -> str:
    """Return the message for later uses of a connection that was lost by ``error``."""
    return f"The connection was lost: {str(error).partition(chr(10))[0] or type(error).__name__}"


def discard_result(session: Session, result: object) -> None:
    """Release later what ``result`` holds on the server: its call was interrupted, so the caller does not get it."""
    if isinstance(result, Orphan):
        session.orphans.append(result)
