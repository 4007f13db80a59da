"""Open a database and learn its properties: logged, ANSI, and its code set."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..wire import messages as m
from ..wire.capabilities import Framing, codec_of_locale
from ..wire.errors import Error, InterfaceError, NotSupportedError, ProtocolError
from ..wire.messages import Message
from ..wire.primitives import NeedMoreData, encode_strictly
from ..wire.values import decode_tuple
from .cancel import raise_if_cancelled
from .io_steps import Exchange
from .message_stream import encode_group
from .request_reply import (
    Reply,
    Sender,
    consume_buffered_replies,
    pipeline,
    read_reply,
    request,
    send_pipeline,
)
from .session import Session, TransactionStatus

# Bits of the warnings in the DONE that answers SQ_DBOPEN (JDBC section 3).
LOGGED, ANSI = 0x01, 0x02
OTHER_LOCALE = 0x40  # the login's DB_LOCALE is not the database's (SQLI section 5.3)

# The row of each database that holds the code set of its character data. The name begins with a blank.
_LOCALE_QUERY = "SELECT FIRST 1 site FROM informix.systables WHERE tabname = ' GL_CTYPE'"


def open_database(
    session: Session,
    name: str,
    *,
    before: Sequence[bytes] = (),
    known: str = "",
    send: Sender = send_pipeline,
) -> Exchange[str]:
    """Open ``name`` as the session's database and return its locale, as :func:`database_locale` does.

    ``before`` are encoded groups to send first, whose replies do not matter. ``known`` is the DB_LOCALE that
    the login named: then the locale is queried only if the server warns that the database has another.
    Everything is sent together, by ``send``. That includes the PREPARE of the locale query, which fails
    harmlessly if no database is open.

    Raises the server's error (-329: no such database, -387: not allowed).
    """
    locale_query = [] if known else [encode_group(session, _prepare(_LOCALE_QUERY))]
    groups = [*before, _encode_open_group(session, name), *locale_query]
    received = yield from send(session, groups)
    warnings = _parse_open_reply(received, len(groups), session.framing)
    if warnings is not None:
        consume_buffered_replies(session, len(groups))
    else:
        replies = []
        for _ in groups:
            replies.append((yield from read_reply(session)))
        opened = replies[len(before)]
        opened.check()
        warnings = opened.done.warnings if opened.done else LOGGED
    session.database = name
    apply_database_warnings(session, warnings)
    if locale_query:
        return (yield from _read_locale(session, _fetch_rows(session, _LOCALE_QUERY, replies[-1])))
    if warnings & OTHER_LOCALE:
        return (yield from database_locale(session))
    return known


def _encode_open_group(session: Session, name: str) -> bytes:
    """Encode the group that opens a database. Raises as :func:`.message_stream.encode_group`."""
    try:
        return _encode_open_group_cached(name, session.framing)
    except ValueError as error:
        raise InterfaceError(f"This cannot be sent: {error}") from error


@lru_cache(maxsize=16)
def _encode_open_group_cached(name: str, framing: Framing) -> bytes:
    """Encode the group; cached, because most logins of a process open the same database."""
    return m.DbOpen(name, 0).encode(framing) + m.EndOfTurn().encode(framing)


@lru_cache(maxsize=16)
def _parse_open_reply(replies: bytes, groups: int, framing: Framing) -> int | None:
    """Return the warnings in the replies to ``groups`` groups, of which the last opens a database.

    Returns None unless the replies are complete and only report success. Cached, because servers reply the same
    each time.
    """
    try:
        *before, done, end = m.parse_group(replies, framing, client=False)
    except (NeedMoreData, Error, ValueError):  # ValueError: too short
        return None
    if before != [m.EndOfTurn()] * (groups - 1) or not isinstance(done, m.Done) or end != m.EndOfTurn():
        return None
    return done.warnings


def apply_database_warnings(session: Session, warnings: int) -> None:
    """Apply the server's warnings about a database that was just opened to the session."""
    session.ansi = bool(warnings & ANSI)
    session.logged = session.ansi or bool(warnings & LOGGED)
    session.transaction = TransactionStatus.NONE
    session.statements.clear()  # the server has freed them with the other database
    session.routines.clear()  # handles belong to a database


def database_locale(session: Session) -> Exchange[str]:
    """Return the locale of the open database, such as ``en_US.819``; "" if the database does not report it."""
    return _read_locale(session, query_rows(session, _LOCALE_QUERY))


def _read_locale(session: Session, asking: Exchange[list[tuple[object, ...]]]) -> Exchange[str]:
    try:
        rows = yield from asking
    except Error as error:
        if not session.usable_after(error):
            raise
        return ""
    return str(rows[0][0]).strip() if rows and rows[0][0] is not None else ""


def codec_for(locale: str) -> str:
    """Return the Python codec of a database's locale. Raises ``NotSupportedError`` for an unknown code set."""
    try:
        return codec_of_locale(locale)
    except ValueError as error:
        raise NotSupportedError(
            f"The text of the database cannot be read ({str(error).removesuffix('.')}). Name its code set with "
            "encoding=..."
        ) from None


def query_rows(session: Session, sql: str) -> Exchange[list[tuple[object, ...]]]:
    """Return all rows of a small query, read by the plain decoder in one fetch."""
    encode_strictly(sql, session.framing.encoding, "the statement")
    yield from raise_if_cancelled(session)
    reply = yield from request(session, _prepare(sql))
    return (yield from _fetch_rows(session, sql, reply))


def _prepare(sql: str) -> Sequence[Message]:
    return (m.Prepare(0, sql), m.NDescribe(), m.WantDone())


def _fetch_rows(session: Session, sql: str, prepared: Reply) -> Exchange[list[tuple[object, ...]]]:
    """Return the rows of a query whose PREPARE was answered. Fetches and releases in one request."""
    prepared.check(sql)
    describe = prepared.describe
    if describe is None:
        raise ProtocolError("The server's answer to a PREPARE holds no DESCRIBE.")
    statement = m.Id(describe.statement_id)
    fetch = m.Fetch(max(4096, describe.tuple_size))
    groups: list[Sequence[Message]] = [
        (statement, m.CursorName(session.next_cursor_name()), m.Open(), statement, fetch),
        (statement, m.Release()),
    ]
    if session.ansi and session.transaction is TransactionStatus.NONE:
        groups.append((m.Commit(),))  # the query opens a transaction that the user did not begin
    reply = (yield from pipeline(session, groups))[0]
    reply.check(sql)
    return [decode_tuple(row, describe.columns, session.framing.encoding) for row in reply.tuples]
