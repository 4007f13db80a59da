"""Running a statement, whatever it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..wire import messages as m
from ..wire.describe import StatementType
from ..wire.errors import Error, ProgrammingError
from ..wire.values import bind_value
from .database import adopt, codec_for, database_locale
from .fetch import ReadOptions, ServerCursor, make_cursor, open_cursor
from .session import Reply, Session, Transaction, ask
from .statement import Outcome, outcome_of, prepare, release_after, release_statement
from .steps import Exchange
from .transaction import begin_if_needed, track

# The name in a statement of which the server has said that it is one of these two.
_DATABASE = re.compile(r"\bDATABASE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"']?([^\s;\"']+)", re.IGNORECASE)


def run(
    session: Session,
    sql: str,
    parameters: int,
    values: Sequence[object],
    options: ReadOptions,
    *,
    need_rows: bool = False,
) -> Exchange[Outcome | ServerCursor]:
    """Run any statement: a cursor whose first rows are on their way, or what the statement did.

    ``parameters`` counts the ``?`` of ``sql``. Values are bound, and refused, at the call, before the
    exchange begins. Whether there are rows is told by the server's describe, never by the text; with
    ``need_rows`` a statement without is refused unexecuted.
    """
    bound = tuple([bind_value(value, session.framing.encoding) for value in values])
    return _run(session, sql, parameters, bound, options, need_rows)


def _run(
    session: Session,
    sql: str,
    parameters: int,
    bound: tuple[m.BoundValue, ...],
    options: ReadOptions,
    need_rows: bool,
) -> Exchange[Outcome | ServerCursor]:
    describe = yield from prepare(session, sql, parameters)
    statement_id, kind = describe.statement_id, describe.statement_type
    cursor: ServerCursor | None = None
    try:
        if describe.has_rows:
            cursor = make_cursor(session, statement_id, sql, describe.columns, options)
        elif need_rows:
            raise ProgrammingError(
                "the statement returns no rows and was not executed: use execute()", statement=sql
            )
        yield from begin_if_needed(session, kind)
        if cursor is None:
            reply = yield from _execute(session, sql, statement_id, bound)
    except Error as error:
        yield from release_after(session, statement_id, error)
        raise
    if cursor is not None:
        yield from open_cursor(session, cursor, bound)  # releases by itself
        if session.ansi:
            session.transaction = Transaction.OPEN
        return cursor
    yield from release_statement(session, statement_id)
    yield from track(session, kind)
    if kind in (StatementType.DATABASE, StatementType.CREATE_DATABASE):
        yield from _changed_database(session, sql, reply)
    elif kind == StatementType.CLOSE_DATABASE:
        session.database = session.locale = ""
    return outcome_of(reply, kind)


def _execute(
    session: Session, sql: str, statement_id: int, bound: tuple[m.BoundValue, ...]
) -> Exchange[Reply]:
    binding = [m.Bind(bound)] if bound else []
    reply = yield from ask(session, [m.Id(statement_id), *binding, m.Execute()])
    reply.check(sql)
    return reply


def _changed_database(session: Session, sql: str, reply: Reply) -> Exchange[None]:
    """A DATABASE or CREATE DATABASE statement put another database under the session: learn what it is."""
    named = _DATABASE.search(sql)
    session.database = named[1] if named else ""
    if reply.done is not None and reply.done.warnings:
        adopt(session, reply.done.warnings)
    else:
        session.logged, session.ansi = True, False  # the first BEGIN will tell
    locale = yield from database_locale(session)
    if locale:
        session.locale = locale
        session.framing = session.framing.with_encoding(codec_for(locale))
