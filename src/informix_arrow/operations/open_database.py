"""Opening a database and learning what it is: logged, ANSI, and its code set."""

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

# The row that every database keeps about the code set of its character data; the blank belongs to the name.
_LOCALE_QUERY = "SELECT FIRST 1 site FROM informix.systables WHERE tabname = ' GL_CTYPE'"


def open_database(
    session: Session,
    name: str,
    *,
    before: Sequence[bytes] = (),
    known: str = "",
    send: Sender = send_pipeline,
) -> Exchange[str]:
    """Make ``name`` the session's database, behind the encoded groups ``before``, whose answers do not matter, and
    return what :func:`database_locale` does. Raises the server's error (-329: no such database, -387: not allowed).

    ``known`` is the DB_LOCALE that the login named: then the database is asked only if the server warns that it has
    another. All in one flight, by ``send``. The question for the locale is prepared in it, too: in no database that
    fails, and does no harm.
    """
    asking = [] if known else [encode_group(session, _prepare(_LOCALE_QUERY))]
    groups = [*before, _encode_open_group(session, name), *asking]
    answer = yield from send(session, groups)
    warnings = _parse_open_reply(answer, len(groups), session.framing)
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
    if asking:
        return (yield from _read_locale(session, _fetch_rows(session, _LOCALE_QUERY, replies[-1])))
    if warnings & OTHER_LOCALE:
        return (yield from database_locale(session))
    return known


def _encode_open_group(session: Session, name: str) -> bytes:
    """The group that opens a database. Raises as :func:`.stream.encode_group`."""
    try:
        return _encode_open_group_cached(name, session.framing)
    except ValueError as error:
        raise InterfaceError(f"this cannot be sent: {error}") from error


@lru_cache(maxsize=16)
def _encode_open_group_cached(name: str, framing: Framing) -> bytes:
    """The same in most logins of a process."""
    return m.DbOpen(name, 0).encode(framing) + m.EndOfTurn().encode(framing)


@lru_cache(maxsize=16)
def _parse_open_reply(answer: bytes, groups: int, framing: Framing) -> int | None:
    """The warnings in the answer to so many groups, of which the last one opens a database; None unless it is whole and
    says nothing but that it is open. Servers say the same each time."""
    try:
        *before, done, end = m.parse_group(answer, framing, client=False)
    except (NeedMoreData, Error, ValueError):  # the last: it is too short
        return None
    if before != [m.EndOfTurn()] * (groups - 1) or not isinstance(done, m.Done) or end != m.EndOfTurn():
        return None
    return done.warnings


def apply_database_warnings(session: Session, warnings: int) -> None:
    """Take over what the server says about a database that it has just opened."""
    session.ansi = bool(warnings & ANSI)
    session.logged = session.ansi or bool(warnings & LOGGED)
    session.transaction = TransactionStatus.NONE
    session.statements.clear()  # the server has forgotten them with the other database
    session.routines.clear()  # handles are the database's


def database_locale(session: Session) -> Exchange[str]:
    """The open database's locale, such as ``en_US.819``; "" when the database does not say."""
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
    """The Python codec of a database's locale. Raises ``NotSupportedError`` for a code set that we do not
    know.
    """
    try:
        return codec_of_locale(locale)
    except ValueError as error:
        raise NotSupportedError(
            f"the database's text cannot be read: {error}; encoding=... overrules it"
        ) from None


def query_rows(session: Session, sql: str) -> Exchange[list[tuple[object, ...]]]:
    """All rows of a small query through the plain decoder, one fetch."""
    encode_strictly(sql, session.framing.encoding, "the statement")
    yield from raise_if_cancelled(session)
    reply = yield from request(session, _prepare(sql))
    return (yield from _fetch_rows(session, sql, reply))


def _prepare(sql: str) -> Sequence[Message]:
    return (m.Prepare(0, sql), m.NDescribe(), m.WantDone())


def _fetch_rows(session: Session, sql: str, prepared: Reply) -> Exchange[list[tuple[object, ...]]]:
    """The rows of a query from the answer to its PREPARE on: fetched and tidied up behind in one flight."""
    prepared.check(sql)
    describe = prepared.describe
    if describe is None:
        raise ProtocolError("the server's answer to a PREPARE holds no DESCRIBE")
    statement = m.Id(describe.statement_id)
    fetch = m.Fetch(max(4096, describe.tuple_size))
    groups: list[Sequence[Message]] = [
        (statement, m.CursorName(session.next_cursor_name()), m.Open(), statement, fetch),
        (statement, m.Release()),
    ]
    if session.ansi and session.transaction is TransactionStatus.NONE:
        groups.append((m.Commit(),))  # the query opens one, which is nobody's
    reply = (yield from pipeline(session, groups))[0]
    reply.check(sql)
    return [decode_tuple(row, describe.columns, session.framing.encoding) for row in reply.tuples]
