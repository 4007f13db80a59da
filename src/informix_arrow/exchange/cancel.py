"""Ending a running call: the urgent byte, what follows from it, and the next call that it must not hit.

The byte asks the server to end what it does with SQ_ERR -213 (SQLI section 2). It is outside the stream of messages,
so nothing tells whether it came in time: a byte that is late hits the next statement, or nothing. Hence

- a call for which the byte was sent is driven on, so that its answer is read and the conversation stays in step;
- an exchange that is to end begins nothing new (:func:`heed`);
- a harmless statement is run before anything else is (:func:`absorb`), even where a -213 has shown that the byte had an
  effect: it may have had that on a request that was on its way ahead of the one it met. As its answer comes, the
  server has read past the byte: a second one can then be sent. A TCP stack that holds an unread urgent byte when the
  next arrives leaves the first in the stream, as if it were data.
"""

from __future__ import annotations

from typing import TypeVar

from ..wire import messages as m
from ..wire.errors import INTERRUPTED, CommitUnknown, Error, QueryCanceled, QueryTimeout
from .session import Orphan, Session, Transaction
from .steps import Call, Exchange, Reason
from .turns import ask, clear_orphans

T = TypeVar("T")

_HARMLESS = "SELECT tabid FROM systables WHERE tabid = 1"


def interruptible(session: Session, call: Call, exchange: Exchange[T]) -> Exchange[T]:
    """``exchange`` as the call ``call``, after what earlier calls have left to be done."""
    last, session.call = session.call, call
    late = last is not None and last.sent
    if late or session.orphans or call.wanted is not None:
        return _tidied(session, call, exchange, late)
    return exchange


def _tidied(session: Session, call: Call, exchange: Exchange[T], late: bool) -> Exchange[T]:
    if late:
        call.sent = True  # no second byte on top of the first
        # Before another statement: a server may have to put by all rows of a result that is still open then.
        yield from clear_orphans(session)
        yield from absorb(session)
        call.sent = False
    if call.wanted is not None:
        yield from heed(session)
    if session.orphans:
        yield from clear_orphans(session)
    return (yield from exchange)


def absorb(session: Session) -> Exchange[None]:
    """Run a statement that a late interrupt may hit, in place of one that matters."""
    if not session.database:
        yield from ask(session, (m.DbList(),))
    else:
        reply = yield from ask(session, (m.Prepare(0, _HARMLESS), m.NDescribe(), m.WantDone()))
        if reply.describe is not None:
            statement = m.Id(reply.describe.statement_id)
            name = m.CursorName(session.next_cursor_name())
            yield from ask(session, (statement, name, m.Open(), statement, m.Fetch(4096)))
            yield from ask(session, (statement, m.Close()))
            yield from ask(session, (statement, m.Release()))
            if session.ansi and session.transaction is Transaction.NONE:  # reading has begun one
                yield from ask(session, (m.Commit(),))


def wanted(session: Session) -> bool:
    """Whether the running call is to end, and was not told yet."""
    call = session.call
    return call is not None and call.wanted is not None and not call.heeded and not call.hit


def heed(session: Session) -> Exchange[None]:
    """Raise ``QueryCanceled`` when the running call is to end; for the places where an exchange begins something new.

    No reply of the exchange's own may be outstanding. Raised once, so that what tidies up behind the error may use
    the wire; a late interrupt is absorbed before.
    """
    if not wanted(session):
        return
    call = session.call
    assert call is not None
    call.heeded = True
    if call.sent:
        yield from absorb(session)
        call.hit = True
    raise canceled()


def canceled() -> QueryCanceled:
    """The error of a call that was ended before its next statement began."""
    return QueryCanceled(
        "the call was canceled between two requests to the server; no statement was ended in the middle",
        sqlcode=INTERRUPTED,
    )


def note(call: Call, error: BaseException) -> None:
    """Take notice of how the call's exchange failed."""
    if isinstance(error, Error) and error.sqlcode == INTERRUPTED:
        call.hit = True


def verdict(call: Call, error: BaseException) -> BaseException:
    """What the caller gets for ``error``, which left the exchange of ``call``: itself, or what it stands for."""
    if call.broken is not None:
        return call.take_broken()
    if isinstance(error, CommitUnknown):
        return error  # whatever ended the wait: this is what has to be known
    if not isinstance(error, Error) or not (call.unanswered or isinstance(error, QueryCanceled)):
        return error
    if call.wanted is Reason.TIMEOUT:
        better: Error = QueryTimeout(f"the call took longer than {call.timeout:g} s (timeout): {error}")
    elif call.unanswered:
        better = QueryCanceled(str(error))
    else:
        return error
    better.__dict__.update(error.__dict__)
    if better.sqlcode is None:
        better.sqlcode = INTERRUPTED
    return better


def why_lost(error: BaseException) -> str:
    """What a connection that ``error`` has cost says when it is used again."""
    return f"the connection was lost: {str(error).partition(chr(10))[0] or type(error).__name__}"


def drop(session: Session, result: object) -> None:
    """Nobody will get ``result``, because the call was broken off: release what it holds on the server, later."""
    if isinstance(result, Orphan):
        session.orphans.append(result)
