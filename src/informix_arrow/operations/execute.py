"""Execute any statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ..rows.parameters import ParameterizedStatement, parse
from ..wire import messages as m
from ..wire.assignment import Inexact, round_to_finest
from ..wire.describe import StatementType
from ..wire.errors import Error, InterfaceError, NoResultError, NotSupportedError
from ..wire.sql_text import database_name
from .cancel import raise_if_cancelled
from .client_files import may_request_files, refuse_unregistered
from .cursor_session_state import apply_overrides, reapply_settings, track_set_statement
from .fetch import ReadOptions, ServerCursor, report_if_complete
from .instrument import report, report_rows
from .io_steps import Exchange
from .lob_parameters import (
    NO_PARAMETERS,
    BoundParameters,
    Targets,
    ask_targets,
    bind_in_exchange,
    bind_row,
    has_complex_columns,
    is_complex_target,
    may_be_content,
    needs_targets,
)
from .object_execute import execute_once
from .open_cursor import make_cursor, open_cursor
from .open_database import apply_database_warnings, codec_for, database_locale
from .parameter_checks import parameter_check
from .prepare import Outcome, acquire, outcome_of, release_after, release_all, return_statement
from .reexecute import SmallResult, can_reexecute, reexecute
from .request_reply import Reply, close_cursors, request
from .session import Session
from .statement_cache import STALE, PreparedStatement
from .transaction import (
    after_failure,
    after_procedure,
    begin_if_needed,
    is_for_update,
    request_commit,
    track_statement,
)

# "A blob data type must be supplied within this context" and "No cast from ... to ...".
_WANTS_CONTENT = (-617, -9634)

_CHANGES_DATABASE = (StatementType.DATABASE, StatementType.CREATE_DATABASE, StatementType.CLOSE_DATABASE)


def execute_statement(
    session: Session,
    sql: str,
    values: Sequence[object],
    options: ReadOptions,
    *,
    need_rows: bool = False,
    inexact: Inexact | None = None,
) -> Exchange[Outcome | ServerCursor]:
    """Run a statement, given as text, by :func:`run_statement`."""
    exchange = run_statement(session, parse(sql), values, options, need_rows=need_rows, inexact=inexact)
    return cast("Exchange[Outcome | ServerCursor]", exchange)


def run_statement(
    session: Session,
    statement: ParameterizedStatement,
    values: Sequence[object],
    options: ReadOptions,
    *,
    need_rows: bool = False,
    as_rows: bool = False,
    inexact: Inexact | None = None,
) -> Exchange[Outcome | ServerCursor | SmallResult]:
    """Run any statement. Returns a cursor whose first rows are on their way, or the outcome of the statement.

    ``values`` are those for the placeholders that the server sees (:meth:`.ParameterizedStatement.values`).
    Most are bound, and refused, at the call, before the operation begins. Bytes, file objects, lists and dicts
    are bound once the server has reported their targets' types.

    The server's describe decides whether there are rows, never the text. With ``need_rows`` a statement without
    rows is refused unexecuted. With ``as_rows`` a small result may be returned as Python rows.

    Values that are assigned to a column or argument are checked against its type before they are sent.
    ``inexact`` says what happens to digits that the type cannot hold (None: the session's setting).
    """
    chosen = session.inexact if inexact is None else inexact
    bound: BoundParameters | None = NO_PARAMETERS
    if values:
        targets: Targets = (None,) * len(values)
        bound = None if needs_targets(values) else bind_row(session, _loosened(values, chosen), targets)
    return _run(session, statement, values, bound, options, need_rows, as_rows, chosen)


def _loosened(values: Sequence[object], inexact: Inexact) -> Sequence[object]:
    """Round values to digits that some type can hold, if digits may be lost."""
    return values if inexact == "error" else [round_to_finest(value, inexact) for value in values]


def _run(
    session: Session,
    statement: ParameterizedStatement,
    values: Sequence[object],
    bound: BoundParameters | None,
    options: ReadOptions,
    need_rows: bool,
    as_rows: bool,
    inexact: Inexact,
) -> Exchange[Outcome | ServerCursor | SmallResult]:
    text, count = statement.text, len(values)
    exchange: Exchange[Outcome | ServerCursor | SmallResult]
    report(session, "execute", statement.sql, values)
    try:
        # Contents are consumed by an attempt, so statements with contents skip prepared statements that may be
        # outdated.
        idle = None if bound is None else session.statements.find(text)
        if idle is not None and bound is not None and can_reexecute(session, idle, options, bound, inexact):
            prepared = idle
            exchange = reexecute(session, statement.sql, prepared, options, bound, as_rows)
        else:
            refuse_unregistered(statement.sql, session.client_files)
            prepared = yield from acquire(session, text, count, anew=bound is None)
            exchange = _execute_prepared(
                session, statement, prepared, values, bound, options, need_rows, inexact
            )
        try:
            return (yield from exchange)
        except Error as error:
            old = error.sqlcode in STALE or error is prepared.rejection
            if not (prepared.reused and old and session.usable_after(error)):
                raise
        # Nothing was executed, because the prepared statement was outdated.
        prepared = yield from acquire(session, text, count, anew=True)
        return (
            yield from _execute_prepared(
                session, statement, prepared, values, bound, options, need_rows, inexact
            )
        )
    except Error as error:
        statement.explain(error)
        raise


def _execute_prepared(
    session: Session,
    statement: ParameterizedStatement,
    prepared: PreparedStatement,
    values: Sequence[object],
    bound: BoundParameters | None,
    options: ReadOptions,
    need_rows: bool,
    inexact: Inexact,
) -> Exchange[Outcome | ServerCursor]:
    """Execute or open a statement. It is then returned to the cache or released, or its cursor does that later."""
    describe, sql = prepared.describe, statement.text
    statement_id, kind = prepared.statement_id, describe.statement_type
    cursor: ServerCursor | None = None
    try:
        if describe.has_rows:
            cursor = _cursor_for(session, statement, prepared, options)
        elif need_rows:
            raise NoResultError(
                "The statement returns no rows and was not executed. Use execute().", statement=statement.sql
            )
        targets: Targets = (None,) * len(values)
        unchecked = values
        values = yield from _checked(session, prepared, values, inexact)
        if values is not unchecked and bound is not None:
            bound = bind_row(session, values, targets)
        known = prepared.targets or ()
        if bound is None or (
            values
            and ((cursor is None and has_complex_columns(describe)) or any(map(is_complex_target, known)))
        ):
            targets = yield from _targets(session, prepared, len(values))
            bound = bind_in_exchange(session, values, targets)
        if cursor is not None and bound.files:
            raise NotSupportedError(
                "BLOB and CLOB values cannot be parameters of a statement that returns rows.",
                statement=statement.sql,
            )
        yield from begin_if_needed(session, kind, sql)
        if cursor is not None:
            cursor.session_state = yield from apply_overrides(session, options, kind, sql)
            if cursor.session_state.with_hold:
                cursor.read_options = replace(cursor.read_options, with_hold=True)
        else:
            yield from _before(session, kind)
            yield from raise_if_cancelled(session)
            try:
                reply = yield from _execute(session, sql, kind, statement_id, targets, bound)
            except Error as error:
                rebound = yield from _with_targets(session, prepared, values, error)
                if rebound is None:
                    raise
                reply = yield from _execute(session, sql, kind, statement_id, *rebound)
    except Exception as error:
        yield from release_after(session, statement_id, error)
        if session.usable_after(error):
            yield from after_failure(session)
        raise
    if cursor is not None:
        yield from open_cursor(session, cursor, bound)
        after_procedure(session, kind)
        report_if_complete(session, cursor)
        return cursor
    yield from return_statement(session, prepared)
    yield from track_statement(session, kind, sql)
    if kind in (StatementType.DATABASE, StatementType.CREATE_DATABASE):
        yield from _changed_database(session, sql, reply)
        yield from reapply_settings(session)
    elif kind == StatementType.CLOSE_DATABASE:
        _no_database(session)
    elif kind in (StatementType.SET_ISOLATION, StatementType.SET_LOCK_MODE):
        track_set_statement(session, kind, sql)
    outcome = outcome_of(reply, kind)
    report_rows(session, max(outcome.rows, 0))
    return outcome


def _checked(
    session: Session, prepared: PreparedStatement, values: Sequence[object], inexact: Inexact
) -> Exchange[Sequence[object]]:
    """Return the values to be sent: the same sequence if nothing changes."""
    if not values:
        return values
    check = yield from parameter_check(session, prepared, len(values), values, inexact)
    if check is None:
        return _loosened(values, inexact)
    try:
        checked = check.row(values)
    except Error as error:
        prepared.rejection = error
        raise
    return _loosened(checked, inexact)


def _cursor_for(
    session: Session, statement: ParameterizedStatement, prepared: PreparedStatement, options: ReadOptions
) -> ServerCursor:
    describe = prepared.describe
    shape = prepared.descriptions.get((options.types, session.framing.encoding))
    cursor = make_cursor(session, describe.statement_id, statement.sql, describe.columns, options, shape)
    if shape is None:
        prepared.store_description(cursor.shape)
    if prepared.may_hold_locks is None:
        kind = describe.statement_type
        prepared.may_hold_locks = kind != StatementType.SELECT or is_for_update(kind, statement.text)
    cursor.prepared = prepared
    for_update = describe.statement_type == StatementType.SELECT and prepared.may_hold_locks
    cursor.one_ahead = bool(for_update or cursor.keeps_cursor_open or may_request_files(statement.sql))
    return cursor


def _targets(session: Session, prepared: PreparedStatement, count: int) -> Exchange[Targets]:
    """Return the types of a statement's parameters, requested once."""
    if prepared.targets is None:
        prepared.targets = yield from ask_targets(session, prepared.statement_id, count)
    return prepared.targets


def _before(session: Session, kind: int) -> Exchange[None]:
    """Prepare for a change of the database.

    Another database frees all statements of this one, and their ids. They must not be used or released
    afterwards, when the same numbers mean other statements.
    """
    if kind in _CHANGES_DATABASE:
        yield from close_cursors(
            session, InterfaceError("The database was changed before this result was read.")
        )
        yield from release_all(session, session.statements.clear())


def _with_targets(
    session: Session, prepared: PreparedStatement, values: Sequence[object], error: Error
) -> Exchange[tuple[Targets, BoundParameters] | None]:
    """Bind the values again if the server refused a str because its target is a TEXT or CLOB; else return None.

    This cannot be known beforehand: the description of an UPDATE shows no columns, and requesting the types for
    every UPDATE with a str would double its round trips.
    """
    refused = error.sqlcode in _WANTS_CONTENT and session.usable_after(error)
    if not refused or prepared.targets is not None or not may_be_content(values):
        return None
    targets = yield from _targets(session, prepared, len(values))
    if not any(is_complex_target(target) for target in targets):
        return None
    return targets, bind_in_exchange(session, values, targets)


def _execute(
    session: Session, sql: str, kind: int, statement_id: int, targets: Targets, bound: BoundParameters
) -> Exchange[Reply]:
    if bound.sources or bound.files:
        return (yield from execute_once(session, sql, statement_id, targets, bound))
    binding = [m.Bind(bound.values)] if bound.values else []
    messages = [m.Id(statement_id), *binding, m.Execute()]
    commits = kind == StatementType.COMMIT_WORK
    reply = yield from (request_commit(session, messages) if commits else request(session, messages))
    reply.check(sql)
    return reply


def _changed_database(session: Session, sql: str, reply: Reply) -> Exchange[None]:
    """Learn the properties of the database that a DATABASE or CREATE DATABASE statement has opened."""
    session.database = database_name(sql)
    if reply.done is not None and reply.done.warnings:
        apply_database_warnings(session, reply.done.warnings)
    else:
        session.logged, session.ansi = True, False  # the first BEGIN will report it
    session.locale = yield from database_locale(session)
    if not session.locale or session.has_encoding_override:
        return
    try:
        encoding = codec_for(session.locale)
    except NotSupportedError:
        yield from request(session, (m.DbClose(),))  # its text would be decoded as that of the last database
        _no_database(session)
        raise
    session.framing = session.framing.with_encoding(encoding)


def _no_database(session: Session) -> None:
    session.database = session.locale = ""
    apply_database_warnings(session, 0)
