"""Opening a database and learning what it is: logged, ANSI, and its code set."""

from __future__ import annotations

from ..wire import messages as m
from ..wire.capabilities import codec_of_locale
from ..wire.errors import Error, NotSupportedError
from ..wire.values import decode_tuple
from .session import Session, Transaction, ask
from .statement import prepare, release_after, release_statement
from .steps import Exchange

# Bits of the warnings in the DONE that answers SQ_DBOPEN (JDBC section 3).
LOGGED, ANSI = 0x01, 0x02

# The row that every database keeps about the code set of its character data; the blank belongs to the name.
_LOCALE_QUERY = "SELECT FIRST 1 site FROM informix.systables WHERE tabname = ' GL_CTYPE'"


def open_database(session: Session, name: str) -> Exchange[None]:
    """Make ``name`` the session's database. Raises the server's error (-329: no such database, -387: not
    allowed).
    """
    reply = yield from ask(session, (m.DbOpen(name, 0),))
    reply.check()
    session.database = name
    adopt(session, reply.done.warnings if reply.done else LOGGED)


def adopt(session: Session, warnings: int) -> None:
    """Take over what the server says about a database that it has just opened."""
    session.ansi = bool(warnings & ANSI)
    session.logged = session.ansi or bool(warnings & LOGGED)
    session.transaction = Transaction.NONE
    session.routines.clear()  # handles are the database's


def database_locale(session: Session) -> Exchange[str]:
    """The open database's locale, such as ``en_US.819``; "" when the database does not say."""
    try:
        rows = yield from plain_rows(session, _LOCALE_QUERY)
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


def plain_rows(session: Session, sql: str) -> Exchange[list[tuple[object, ...]]]:
    """All rows of a small query through the plain decoder, one fetch."""
    describe = yield from prepare(session, sql, 0)
    statement = m.Id(describe.statement_id)
    try:
        messages = (
            statement,
            m.CursorName(session.next_cursor_name()),
            m.Open(),
            statement,
            m.Fetch(max(4096, describe.tuple_size)),
        )
        reply = yield from ask(session, messages)
        reply.check(sql)
    except Error as error:
        yield from release_after(session, describe.statement_id, error)
        raise
    yield from release_statement(session, describe.statement_id)
    return [decode_tuple(row, describe.columns, session.framing.encoding) for row in reply.tuples]
