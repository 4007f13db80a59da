"""A query that was run before, run once more: what :mod:`.run` does about it in the usual case, in one piece.

Most statements of most programs are small queries that were prepared before and whose answer comes in one piece. All
that is decided about such a query is the same each time, so it is not decided again, and no generator is made for each
of its steps. :func:`is_plain` says when that holds; from the first thing on that is not as usual, the long way goes on
where this one stands.

Where somebody wants Python rows and C makes all of their values, the whole answer becomes :class:`Few` in one call: no
server cursor, and no batch unless one is asked for.
"""

from __future__ import annotations

from typing import Any

from .._decode import OTHER
from ..shaping.rows import Decoded
from ..wire import messages as m
from ..wire.assignment import Inexact
from ..wire.describe import Column, Plan
from .cancel import wanted
from .fetch import (
    LOCKLESS,
    ReadOptions,
    ServerCursor,
    decode,
    done_size,
    more_likely,
    pass_end,
    request,
    tell_all_here,
    turn,
)
from .lob_parameters import Parameters
from .observed import tell_rows
from .opening import check_opened
from .read_scope import ReadScope
from .session import Session
from .shape import Shape
from .statement_cache import Opening, Prepared
from .steps import Ask, Exchange
from .stream import encoded_for, group, require_silence
from .turns import DISCARD, queue

_EOT = b"\x00\x0c"
_SMALL = 4096  # bytes of an answer behind which nothing is expected to come
_FEW_ROWS = _SMALL // 8  # that have room in it, with their headers
_BATCH_BYTES = 1 << 30  # more than they take as Arrow
_FEW_COLUMNS = 64  # of a query whose decoder is kept: what that reserves grows with them


class Few(Decoded):
    """All rows of a small result, which the server has closed already.

    Parameters
    ----------
    sql, shape
        The query, and what its rows look like.
    made
        The rows.
    reply
        The answer that they came in.
    """

    __slots__ = ("_reply", "shape", "sql")

    lazy = False

    def __init__(self, sql: str, shape: Shape, made: list[tuple[Any, ...]], reply: bytes) -> None:
        self.sql, self.shape, self.made, self._reply = sql, shape, made, reply
        self.num_rows, self._schema = len(made), shape.plan.schema
        self._capsules = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names and Informix types of the columns, as the server described them."""
        return self.shape.columns

    @property
    def plan(self) -> Plan:
        """What was compiled from the columns."""
        return self.shape.plan

    def _made_capsules(self) -> tuple[Any, Any]:
        decoder = self.shape.decoder(_FEW_ROWS, _BATCH_BYTES)
        decoder.feed(self._reply, 0, len(self._reply))
        return self.shape.c_schema, decoder.take()

    def close(self, _: Session) -> Exchange[None]:
        """Nothing is open."""
        yield from ()


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
        and settings.isolation_now in LOCKLESS
        and settings.isolation_now == settings.isolation  # no open result has changed how the session reads
        and settings.lock_mode_now == settings.lock_mode
        and (not owed or (len(owed) == 1 and owed[0] is DISCARD))
        and not wanted(session)
    )


def run_again(
    session: Session,
    sql: str,
    prepared: Prepared,
    options: ReadOptions,
    bound: Parameters,
    few: bool = False,
) -> Exchange[ServerCursor | Few]:
    """Open the cursor of a query that :func:`is_plain`. Errors as :func:`.run.run`. With ``few``, its rows where they
    are few and here, if need be.
    """
    opening, buffer, owed = prepared.opening, session.buffer, session.owed
    assert opening is not None
    binding = encoded_for(session, m.Bind(bound.values)) if bound.values else b""
    data = b"".join((session.outbox, opening.before, binding, opening.after))
    session.outbox.clear()
    count = yield Ask(data, buffer.room(), session.patience)
    at, buffer.end = buffer.start, buffer.end + count
    if owed and buffer.end - at > 1 and buffer.data.startswith(_EOT, at):
        at = buffer.start = at + 2
        owed.clear()
    here = buffer.end - at
    if few and here and here <= _SMALL and not owed:
        found = _few(session, sql, opening)
        if found is not None:
            _closed(session, prepared)
            tell_rows(session, found.num_rows)  # nobody has to ask for them any more
            return found
    session.statements.take(prepared.text)  # from here on it is in use
    return (yield from _opened(session, sql, prepared, opening, options, here))


def _few(session: Session, sql: str, opening: Opening) -> Few | None:
    """The rows of an answer that has come as a whole, and is nothing else."""
    shape, buffer = opening.shape, session.buffer
    c_schema = shape.c_schema
    if c_schema is None or len(shape.columns) > _FEW_COLUMNS:
        return None
    decoder, opening.decoder = opening.decoder, None
    if decoder is None:
        decoder = shape.decoder(_FEW_ROWS, _BATCH_BYTES)
    found = decoder.reply(c_schema, buffer.data, buffer.start, buffer.end, done_size(session))
    if found is None:
        return None
    opening.decoder = decoder
    made, reply, buffer.start = found
    require_silence(session)
    return Few(sql, shape, made, reply)


def _opened(
    session: Session, sql: str, prepared: Prepared, opening: Opening, options: ReadOptions, here: int
) -> Exchange[ServerCursor]:
    """The cursor whose first bytes, ``here``, have come."""
    owed = session.owed
    decoder = opening.shape.decoder(options.batch_rows, options.batch_bytes)
    cursor = ServerCursor(
        prepared.statement_id, sql, opening.shape, opening.fetch_bytes, decoder, read=options
    )
    cursor.prepared, cursor.scope = prepared, ReadScope()
    session.cursors.add(cursor)
    try:
        owed.append(cursor)
        cursor.in_flight = 1
        if owed[0] is cursor and here:
            if here > _SMALL:
                if more_likely(session):
                    yield from request(session, cursor)
            elif decode(session, cursor, decoder) == OTHER and pass_end(session):
                cursor.answered = cursor.last = cursor.ended = cursor.released = True
                cursor.in_flight = cursor.reply_rows = cursor.reply_bytes = 0
                owed.popleft()
                session.cursors.discard(cursor)
                _closed(session, prepared)
                for number in session.statements.put_back(prepared, logged=session.logged):
                    queue(session, group(session, (m.Id(number), m.Release())))
                tell_all_here(session, cursor)
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
    tell_all_here(session, cursor)
    return cursor


def _closed(session: Session, prepared: Prepared) -> None:
    """The answer has come as a whole: what closes the cursor leaves in front of what is sent next."""
    session.outbox += prepared.closing
    session.owed.append(DISCARD)
