"""Running a statement, whatever it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..wire import messages as m
from ..wire.describe import StatementType
from ..wire.errors import Error, NotSupportedError, ProgrammingError
from .client_files import refuse_unregistered
from .database import adopt, codec_for, database_locale
from .fetch import ReadOptions, ServerCursor, make_cursor, open_cursor
from .lob_parameters import (
    Parameters,
    Targets,
    ask_targets,
    bind_in_exchange,
    bind_row,
    describes_special,
    is_special,
    may_be_content,
    needs_targets,
)
from .object_execute import execute_once
from .session import Reply, Session, Transaction, ask
from .statement import Outcome, outcome_of, prepare, release_after, release_statement
from .steps import Exchange
from .transaction import begin_if_needed, track

# "A blob data type must be supplied within this context" and "No cast from ... to ...".
_WANTS_CONTENT = (-617, -9634)

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
    exchange begins, if they need not know what they are for: bytes, file objects, lists and dicts are bound
    when the server has told that. Whether there are rows is told by the server's describe, never by the text;
    with ``need_rows`` a statement without is refused unexecuted.
    """
    refuse_unregistered(sql, session.files)
    bound = None if needs_targets(values) else bind_row(session, values, (None,) * len(values))
    return _run(session, sql, parameters, values, bound, options, need_rows)


def _run(
    session: Session,
    sql: str,
    parameters: int,
    values: Sequence[object],
    bound: Parameters | None,
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
        targets: Targets = (None,) * len(values)
        if bound is None or (values and describes_special(describe)):
            targets = yield from ask_targets(session, statement_id, len(values))
            bound = bind_in_exchange(session, values, targets)
        if cursor is not None and bound.files:
            raise NotSupportedError(
                "BLOB and CLOB values cannot be parameters of a statement that returns rows", statement=sql
            )
        yield from begin_if_needed(session, kind)
        if cursor is None:
            try:
                reply = yield from _execute(session, sql, statement_id, targets, bound)
            except Error as error:
                again = yield from _with_targets(session, statement_id, values, targets, error)
                if again is None:
                    raise
                reply = yield from _execute(session, sql, statement_id, *again)
    except Exception as error:
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


def _with_targets(
    session: Session, statement_id: int, values: Sequence[object], targets: Targets, error: Error
) -> Exchange[tuple[Targets, Parameters] | None]:
    """The values bound anew when the server refused a str because its target is a TEXT or CLOB; else None.

    Nothing tells that beforehand: the description of an UPDATE shows no columns, and asking for every UPDATE with
    a str would double its round trips.
    """
    refused = error.sqlcode in _WANTS_CONTENT and session.usable_after(error)
    if not refused or any(target is not None for target in targets) or not may_be_content(values):
        return None
    targets = yield from ask_targets(session, statement_id, len(values))
    if not any(is_special(target) for target in targets):
        return None
    return targets, bind_in_exchange(session, values, targets)


def _execute(
    session: Session, sql: str, statement_id: int, targets: Targets, bound: Parameters
) -> Exchange[Reply]:
    if bound.sources or bound.files:
        return (yield from execute_once(session, sql, statement_id, targets, bound))
    binding = [m.Bind(bound.values)] if bound.values else []
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
