"""Ending a running call: the urgent byte, what follows from it, and the next call that it must not hit.

The byte asks the server to end what it does with SQ_ERR -213 (SQLI section 2). It is outside the stream of messages,
so nothing tells whether it came in time: a byte that is late hits the next statement, or nothing. Hence

- a call for which the byte was sent is driven on, so that its answer is read and the conversation stays in step;
- an exchange that is to end begins nothing new (:func:`raise_if_cancelled`);
- a harmless statement is run before anything else is (:func:`absorb_late_interrupt`), even where a -213 has shown that the byte had an
  effect: it may have had that on a request that was on its way ahead of the one it met. As its answer comes, the
  server has read past the byte: a second one can then be sent. A TCP stack that holds an unread urgent byte when the
  next arrives leaves the first in the stream, as if it were data.
"""

from __future__ import annotations

from typing import TypeVar

from ..wire import messages as m
from ..wire.errors import INTERRUPTED, CommitUnknown, Error, QueryCanceled, QueryTimeout
from .io_steps import Call, CancelReason, Exchange
from .request_reply import clear_orphans, request
from .session import Orphan, Session, TransactionStatus

T = TypeVar("T")

_NOOP_QUERY = "SELECT tabid FROM systables WHERE tabid = 1"


def interruptible(session: Session, call: Call, exchange: Exchange[T]) -> Exchange[T]:
    """``exchange`` as the call ``call``, after what earlier calls have left to be done."""
    last, session.call = session.call, call
    late = last is not None and last.interrupt_sent
    if late or session.orphans or call.cancel_reason is not None:
        return _run_after_cleanup(session, call, exchange, late)
    return exchange


def _run_after_cleanup(session: Session, call: Call, exchange: Exchange[T], late: bool) -> Exchange[T]:
    if late:
        call.interrupt_sent = True  # no second byte on top of the first
        # Before another statement: a server may have to put by all rows of a result that is still open then.
        yield from clear_orphans(session)
        yield from absorb_late_interrupt(session)
        call.interrupt_sent = False
    if call.cancel_reason is not None:
        yield from raise_if_cancelled(session)
    if session.orphans:
        yield from clear_orphans(session)
    return (yield from exchange)


def absorb_late_interrupt(session: Session) -> Exchange[None]:
    """Run a statement that a late interrupt may hit, in place of one that matters."""
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
            if session.ansi and session.transaction is TransactionStatus.NONE:  # reading has begun one
                yield from request(session, (m.Commit(),))


def cancel_requested(session: Session) -> bool:
    """Whether the running call is to end, and was not told yet."""
    call = session.call
    return (
        call is not None and call.cancel_reason is not None and not call.acknowledged and not call.interrupted
    )


def raise_if_cancelled(session: Session) -> Exchange[None]:
    """Raise ``QueryCanceled`` when the running call is to end; for the places where an exchange begins something new.

    No reply of the exchange's own may be outstanding. Raised once, so that what tidies up behind the error may use
    the wire; a late interrupt is absorbed before.
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
    """The error of a call that was ended before its next statement began."""
    return QueryCanceled(
        "the call was canceled between two requests to the server; no statement was ended in the middle",
        sqlcode=INTERRUPTED,
    )


def record_interrupt(call: Call, error: BaseException) -> None:
    """Take notice of how the call's exchange failed."""
    if isinstance(error, Error) and error.sqlcode == INTERRUPTED:
        call.interrupted = True


def translate_error(call: Call, error: BaseException) -> BaseException:
    """What the caller gets for ``error``, which left the exchange of ``call``: itself, or what it stands for."""
    if call.pending_exception is not None:
        return call.pop_pending_exception()
    if isinstance(error, CommitUnknown):
        return error  # whatever ended the wait: this is what has to be known
    if not isinstance(error, Error) or not (call.grace_expired or isinstance(error, QueryCanceled)):
        return error
    if call.cancel_reason is CancelReason.TIMEOUT:
        better: Error = QueryTimeout(f"the call took longer than {call.timeout:g} s (timeout): {error}")
    elif call.grace_expired:
        better = QueryCanceled(str(error))
    else:
        return error
    better.__dict__.update(error.__dict__)
    if better.sqlcode is None:
        better.sqlcode = INTERRUPTED
    return better


def connection_lost_message(error: BaseException) -> str:
    """What a connection that ``error`` has cost says when it is used again."""
    return f"the connection was lost: {str(error).partition(chr(10))[0] or type(error).__name__}"


def discard_result(session: Session, result: object) -> None:
    """Nobody will get ``result``, because the call was broken off: release what it holds on the server, later."""
    if isinstance(result, Orphan):
        session.orphans.append(result)
