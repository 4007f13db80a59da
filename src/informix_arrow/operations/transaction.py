"""Transactions: when to send BEGIN, how they end, and the effect of the user's own SQL (SQLI section 12).

There are three kinds of databases. *Unlogged*: every statement is final, there is nothing to begin or end.
*Logged*: a statement outside BEGIN and COMMIT is final; with autocommit off we send BEGIN before the first
statement that needs it, and queries do not. *ANSI*: the first statement opens a transaction, queries too, so
with autocommit we commit after each statement, and after the last open result (:mod:`.cursor_session_state`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..wire import messages as m
from ..wire.describe import StatementType
from ..wire.errors import CommitUnknown, OperationalError, ProgrammingError, ProtocolError
from ..wire.messages import Message
from ..wire.sql_text import holds_several, words_and_strings
from .instrument import report
from .io_steps import ConnectionLost, Exchange
from .message_stream import server_error
from .prepare import release_all
from .request_reply import Reply, request
from .session import Session, TransactionStatus

# SQLCODEs of SQ_BEGIN, SQ_CMMTWORK and SQ_RBWORK that report the state and are not failures.
UNLOGGED = (-201, -256)
ALREADY_OPEN = -535
NOT_OPEN = -255

# Statements that open no transaction: they read, set up the session, or control transactions themselves.
_OUTSIDE = frozenset(
    {
        StatementType.SELECT,
        StatementType.DATABASE,
        StatementType.CREATE_DATABASE,
        StatementType.DROP_DATABASE,
        StatementType.CLOSE_DATABASE,
        StatementType.BEGIN_WORK,
        StatementType.COMMIT_WORK,
        StatementType.ROLLBACK_WORK,
        StatementType.SET_LOCK_MODE,
        StatementType.SET_ISOLATION,
        StatementType.SET_LOG,
        StatementType.SET_EXPLAIN,
    }
)

# Statements that would end the transaction of a block without its knowledge.
_ENDING = frozenset(
    {
        StatementType.BEGIN_WORK,
        StatementType.COMMIT_WORK,
        StatementType.ROLLBACK_WORK,
        StatementType.DATABASE,
        StatementType.CREATE_DATABASE,
        StatementType.CLOSE_DATABASE,
    }
)


def is_for_update(kind: int, text: str) -> bool:
    """Return whether a statement is a SELECT ... FOR UPDATE, whose rows are locked for a transaction.

    The describe does not show that: it says SELECT for both (SERVER-BEHAVIOUR section 3). So the text is
    searched, with the lexer that knows comments and strings. Waiting for the server's -398 or -255 instead
    would cost a round trip, and not every server refuses.
    """
    if kind != StatementType.SELECT or "update" not in text.lower():
        return False
    words = [word.upper() for word in words_and_strings(text)]
    return any(pair == ("FOR", "UPDATE") for pair in itertools.pairwise(words))


def is_savepoint_rollback(kind: int, text: str) -> bool:
    """Return whether a ROLLBACK goes to a savepoint, after which the transaction is still open.

    It has the type of any other ROLLBACK (SERVER-BEHAVIOUR section 3).
    """
    return kind == StatementType.ROLLBACK_WORK and "SAVEPOINT" in map(str.upper, words_and_strings(text))


def begin_if_needed(session: Session, kind: int, text: str = "") -> Exchange[None]:
    """Make sure that a statement of type ``kind`` runs in the right transaction.

    Raises ``ProgrammingError`` for SQL that would end the transaction of an open block, before it is executed.
    """
    if session.blocks and kind in _ENDING and not is_savepoint_rollback(kind, text):
        raise ProgrammingError(
            "This statement would end the transaction of the open transaction() block, so it was not "
            "executed. Leave the block, or raise Rollback.",
            statement=text or None,
        )
    if session.ansi:
        if session.transaction is TransactionStatus.IMPLICIT_READ and kind != StatementType.SELECT:
            # It is read-only, and the next statement is to be committed by itself. Open results stay open: they
            # are WITH HOLD.
            yield from commit_now(session)
        return
    managed = session.logged and (not session.autocommit or bool(session.blocks))
    if not managed or session.transaction is TransactionStatus.OPEN:
        return
    if kind not in _OUTSIDE or is_for_update(kind, text):
        yield from begin(session)


def begin(session: Session) -> Exchange[bool]:
    """Begin a transaction. Returns False if one is open or the database has none; the session then records
    which.

    An ANSI database begins by itself. BEGIN is unnecessary there, or gives -535, and is sent anyway for servers
    that rely on it (SQLI section 12).
    """
    reply = yield from request(session, (m.Begin(),))
    return check_begin_reply(session, reply.error)


def begin_without_autocommit(session: Session) -> Exchange[None]:
    """Begin the transaction that a load with autocommit off is to be a part of. Without one, a load commits itself.

    Does nothing if a transaction is open, with autocommit, and in an unlogged database.
    """
    if session.logged and not session.autocommit and session.transaction is not TransactionStatus.OPEN:
        yield from begin(session)


def check_begin_reply(session: Session, error: m.Err | None) -> bool:
    """Return what :func:`begin` returns for a BEGIN with the reply ``error``, None = success."""
    if error is not None and not (session.ansi and error.sqlcode == ALREADY_OPEN):
        if error.sqlcode in UNLOGGED:
            session.logged = False
            session.transaction = TransactionStatus.NONE
        elif error.sqlcode == ALREADY_OPEN:
            session.transaction = TransactionStatus.OPEN
        else:
            raise server_error(error)
        return False
    session.transaction = TransactionStatus.OPEN
    return True


def track_statement(session: Session, kind: int, text: str = "") -> Exchange[None]:
    """Update the session's state after a statement without rows, and commit if autocommit requires that."""
    if kind == StatementType.BEGIN_WORK:
        session.transaction = TransactionStatus.OPEN
    elif kind == StatementType.COMMIT_WORK:
        yield from _after_end(session, undone=False)
    elif kind == StatementType.ROLLBACK_WORK:
        if is_savepoint_rollback(kind, text):
            yield from after_undo(session)
        else:
            yield from _after_end(session, undone=True)
    elif session.ansi:
        if not session.autocommit:
            session.transaction = TransactionStatus.OPEN
        elif session.transaction is not TransactionStatus.OPEN and kind not in _OUTSIDE:
            yield from commit_now(session)
    else:
        after_procedure(session, kind)
    if (
        not session.ansi
        and (kind in _ENDING or session.transaction is TransactionStatus.OPEN)
        and holds_several(text)
    ):
        session.transaction = (
            TransactionStatus.UNKNOWN
        )  # the type was that of one of them: the next BEGIN reports the state
    yield from release_all(session, session.statements.invalidate_after(kind, several=";" in text))


def after_procedure(session: Session, kind: int) -> None:
    """Note that a procedure may have ended its caller's transaction; the next BEGIN reports that by -535."""
    if kind == StatementType.EXECUTE_PROCEDURE:
        session.statements.tables.clear()
    if (
        kind == StatementType.EXECUTE_PROCEDURE
        and session.transaction is TransactionStatus.OPEN
        and not session.ansi
    ):
        session.transaction = TransactionStatus.UNKNOWN


def after_failure(session: Session) -> Exchange[None]:
    """Handle the failure of a statement in an ANSI database, where it may leave a transaction open.

    That holds what was done before the failure: the earlier rows of an executemany(), the first half of a
    procedure. With autocommit it must not stay open. Without autocommit commit() and rollback() must know of
    it.
    """
    if not session.ansi or session.transaction is not TransactionStatus.NONE:
        return
    if session.autocommit:
        yield from request_commit(session)  # -255: none was open
    else:
        session.transaction = TransactionStatus.OPEN


def finish(session: Session, message: m.Commit | m.Rollback) -> Exchange[None]:
    """Commit or roll back. Sends nothing if the user cannot have an open transaction.

    The server then closes open cursors, except those WITH HOLD: results not read to their end fail when they
    are read on. Raises ``ProgrammingError`` inside a ``transaction()`` block.
    """
    report(session, "commit" if isinstance(message, m.Commit) else "rollback")
    if session.blocks:
        what = "commit()" if isinstance(message, m.Commit) else "rollback()"
        raise ProgrammingError(
            f"{what} cannot be used inside a transaction() block, which commits at its end. Raise Rollback to undo "
            "its work."
        )
    if session.transaction in (TransactionStatus.NONE, TransactionStatus.IMPLICIT_READ):
        return
    yield from end(session, message)


def end(session: Session, message: m.Commit | m.Rollback) -> Exchange[None]:
    """Send COMMIT or ROLLBACK. It is no failure if no transaction was open, unless its work was to be
    committed.

    Raises ``OperationalError`` if a transaction that this session began is gone: the server has ended it, as it
    does with one that fills the log, and its work must not be taken for permanent.
    """
    begun = session.transaction is TransactionStatus.OPEN and not session.ansi
    committing = isinstance(message, m.Commit)
    reply = yield from (request_commit(session) if committing else request(session, (message,)))
    if reply.error is not None and reply.error.sqlcode not in (NOT_OPEN, *UNLOGGED):
        raise server_error(reply.error)
    yield from _after_end(session, undone=isinstance(message, m.Rollback) or reply.error is not None)
    if begun and reply.error is not None and isinstance(message, m.Commit):
        raise OperationalError(
            "Nothing was committed. The server had ended the transaction before, and rolled it back "
            f"(SQLCODE {reply.error.sqlcode}).",
            sqlcode=reply.error.sqlcode,
        )


def request_commit(session: Session, messages: Sequence[Message] = (m.Commit(),)) -> Exchange[Reply]:
    """Send a COMMIT and read its reply, as :func:`.request_reply.request`.

    Raises ``CommitUnknown`` if the connection is lost after sending.
    """
    before = session.outstanding_requests
    try:
        return (yield from request(session, messages))
    except (ConnectionLost, ProtocolError) as error:
        if session.outstanding_requests == before:  # it was lost before: the server rolls back
            raise
        raise CommitUnknown(
            f"The answer to COMMIT was lost ({str(error).removesuffix('.')}). The transaction may or may not be "
            "committed. Check before you repeat it."
        ) from error


def commit_now(session: Session) -> Exchange[None]:
    """Send the COMMIT of autocommit in an ANSI database."""
    return end(session, m.Commit())


def commit(session: Session) -> Exchange[None]:
    """Make the work of the open transaction permanent."""
    return finish(session, m.Commit())


def rollback(session: Session) -> Exchange[None]:
    """Undo the work of the open transaction."""
    return finish(session, m.Rollback())


def after_undo(session: Session) -> Exchange[None]:
    """Update the session after work was undone. If that changed tables, prepared statements are outdated."""
    if session.statements.schema_changed:
        yield from release_all(session, session.statements.clear())
        session.statements.schema_changed = True  # changes made before the savepoint may still be undone


def _after_end(session: Session, *, undone: bool) -> Exchange[None]:
    session.transaction = TransactionStatus.NONE
    for cursor in session.cursors:
        cursor.transaction_ended()
    changed, session.statements.schema_changed = session.statements.schema_changed, False
    if undone and changed:
        yield from release_all(session, session.statements.clear())
