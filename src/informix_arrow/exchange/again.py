"""A query that was run before, run once more: what :mod:`.run` does about it in the usual case, in one piece.

Most statements of most programs are small queries that were prepared before and whose answer comes in one piece. All
that is decided about such a query is the same each time, so it is not decided again, and no generator is made for each
of its steps. :func:`is_plain` says when that holds; from the first thing on that is not as usual, the long way goes on
where this one stands.
"""

from __future__ import annotations

from .._decode import OTHER
from ..wire import messages as m
from ..wire.assignment import Inexact
from .cancel import wanted
from .fetch import LOCKLESS, ReadOptions, ServerCursor, decode, more_likely, pass_end, request, turn
from .lob_parameters import Parameters
from .opening import check_opened
from .read_scope import ReadScope, as_set
from .session import Session
from .statement_cache import Prepared
from .steps import Exchange, Receive, Send
from .stream import encoded_for, group
from .turns import DISCARD, queue

_EOT = b"\x00\x0c"
_SMALL = 4096  # bytes of an answer behind which nothing is expected to come


def is_plain(
    session: Session, prepared: Prepared, options: ReadOptions, bound: Parameters, inexact: Inexact
) -> bool:
    """Whether the query can be opened, read and closed as the last time, by the same bytes but for its values, and
    nothing else has to be done before or behind it.
    """
    opening, settings, owed = prepared.opening, session.settings, session.owed
    return (
        opening is not None
        and opening.options is options
        and opening.usual
        and bool(prepared.closing)  # so it was kept, and holds no locks
        and not (bound.sources or bound.files or session.ansi)
        and (not bound.values or (inexact == "error" and prepared.targets is None))
        and as_set(settings)
        and settings.isolation_now in LOCKLESS
        and (not owed or (len(owed) == 1 and owed[0] is DISCARD))
        and not wanted(session)
    )


def run_again(
    session: Session, sql: str, prepared: Prepared, options: ReadOptions, bound: Parameters
) -> Exchange[ServerCursor]:
    """Open the cursor of a query that :func:`is_plain`. Errors as :func:`.run.run`."""
    opening, buffer, owed = prepared.opening, session.buffer, session.owed
    assert opening is not None
    decoder = opening.shape.decoder(options.batch_rows, options.batch_bytes)
    cursor = ServerCursor(
        prepared.statement_id, sql, opening.shape, opening.fetch_bytes, decoder, read=options
    )
    cursor.prepared, cursor.scope = prepared, ReadScope()
    session.cursors.add(cursor)
    try:
        binding = encoded_for(session, m.Bind(bound.values)) if bound.values else b""
        data = b"".join((session.outbox, opening.before, binding, opening.after))
        session.outbox.clear()
        owed.append(cursor)
        cursor.in_flight = 1
        yield Send(data)
        if buffer.start == buffer.end:
            with buffer.room() as room:
                buffer.end += yield Receive(room, session.patience)
            at = buffer.start
            if owed[0] is DISCARD and buffer.end - at > 1 and buffer.data.startswith(_EOT, at):
                buffer.start += 2
                owed.popleft()
            if owed[0] is cursor:
                if buffer.end - at > _SMALL:
                    if more_likely(session):
                        yield from request(session, cursor)
                elif decode(session, cursor, decoder) == OTHER and pass_end(session):
                    _read(session, cursor, prepared)
                    return cursor
        while owed[0] is not cursor:
            yield from owed[0].take_in(session)
        while not cursor.answered:
            yield from turn(session, cursor, ahead=True)
        yield from check_opened(session, cursor)
    except Exception as error:
        if session.usable_after(error):
            yield from cursor.close(session)  # once: it may have closed itself
        raise
    return cursor


def _read(session: Session, cursor: ServerCursor, prepared: Prepared) -> None:
    """The answer has come as a whole: what follows from that."""
    cursor.answered = cursor.last = cursor.ended = cursor.released = True
    cursor.in_flight = cursor.reply_rows = cursor.reply_bytes = 0
    session.owed.popleft()
    session.cursors.discard(cursor)
    ids = session.statements.put_back(prepared, logged=session.logged)
    queue(session, prepared.closing)
    for number in ids:
        queue(session, group(session, (m.Id(number), m.Release())))
