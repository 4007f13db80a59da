"""Transactions: when BEGIN is due, how they end, and what SQL of the user does to them (SQLI section 12).

Three kinds of databases. *Unlogged*: every statement is final, there is nothing to begin or end. *Logged*: a
statement outside BEGIN and COMMIT is final by itself; with autocommit off we send BEGIN before the first statement that
needs it, and queries need none. *ANSI*: the first statement opens a transaction, queries too, so with autocommit we
commit after each statement, and when the last open result is done (:mod:`.read_scope`).
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

# SQLCODEs of SQ_BEGIN, SQ_CMMTWORK and SQ_RBWORK that tell about the state and are no failure.
UNLOGGED = (-201, -256)
ALREADY_OPEN = -535
NOT_OPEN = -255

# Statements that open no transaction: they read, set up the session, or steer transactions themselves.
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

# Statements that would end the transaction of a block behind its back.
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
    """Whether a statement is a SELECT ... FOR UPDATE, whose rows are locked for a transaction.

    The describe does not tell: it says SELECT for both (SERVER-BEHAVIOUR section 3). So its words are looked at, with
    the lexer that knows comments and strings. Waiting for the server's -398 or -255 instead would cost a round
    trip, and not every server refuses.
    """
    if kind != StatementType.SELECT or "update" not in text.lower():
        return False
    words = [word.upper() for word in words_and_strings(text)]
    return any(pair == ("FOR", "UPDATE") for pair in itertools.pairwise(words))


def is_savepoint_rollback(kind: int, text: str) -> bool:
    """Whether a ROLLBACK goes to a savepoint, after which the transaction is open as before. It has the type of
    the other ROLLBACK (SERVER-BEHAVIOUR section 3)."""
    return kind == StatementType.ROLLBACK_WORK and "SAVEPOINT" in map(str.upper, words_and_strings(text))


def begin_if_needed(session: Session, kind: int, text: str = "") -> Exchange[None]:
    """Make sure that the statement of type ``kind`` runs in the transaction that it should.

    Raises ``ProgrammingError`` for SQL that would end the transaction of an open block, before it is executed.
    """
    if session.blocks and kind in _ENDING and not is_savepoint_rollback(kind, text):
        raise ProgrammingError(
            "this statement would end the transaction of the open transaction() block, and was not executed: leave the "
            "block, or raise Rollback",
            statement=text or None,
        )
    if session.ansi:
        if session.transaction is TransactionStatus.IMPLICIT_READ and kind != StatementType.SELECT:
            # It is read only, and what follows is to be committed by itself. Open results outlive that: WITH HOLD.
            yield from commit_now(session)
        return
    managed = session.logged and (not session.autocommit or bool(session.blocks))
    if not managed or session.transaction is TransactionStatus.OPEN:
        return
    if kind not in _OUTSIDE or is_for_update(kind, text):
        yield from begin(session)


def begin(session: Session) -> Exchange[bool]:
    """Begin a transaction; False when there is one already, or none in this database: the session then says
    which.

    An ANSI database begins by itself; BEGIN is a needless word there, or -535, and is sent all the same, for
    those that go by it (SQLI section 12).
    """
    reply = yield from request(session, (m.Begin(),))
    return check_begin_reply(session, reply.error)


def check_begin_reply(session: Session, error: m.Err | None) -> bool:
    """What :func:`begin` returns when BEGIN was answered by ``error``, or without one."""
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
    """Keep the state right after a statement without rows; commit where autocommit asks for that."""
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
        )  # the type was that of one of them: the next BEGIN tells
    yield from release_all(session, session.statements.invalidate_after(kind, several=";" in text))


def after_procedure(session: Session, kind: int) -> None:
    """A procedure may have ended the transaction that it was called in; the next BEGIN tells, by -535."""
    if kind == StatementType.EXECUTE_PROCEDURE:
        session.statements.tables.clear()
    if (
        kind == StatementType.EXECUTE_PROCEDURE
        and session.transaction is TransactionStatus.OPEN
        and not session.ansi
    ):
        session.transaction = TransactionStatus.UNKNOWN


def after_failure(session: Session) -> Exchange[None]:
    """A statement failed; in an ANSI database it may have left a transaction open all the same, with what it did
    before it failed: the earlier rows of an executemany(), the first half of a procedure. Autocommit must not leave it
    open, and without autocommit commit() and rollback() must know of it."""
    if not session.ansi or session.transaction is not TransactionStatus.NONE:
        return
    if session.autocommit:
        yield from request_commit(session)  # -255: nothing was open
    else:
        session.transaction = TransactionStatus.OPEN


def finish(session: Session, message: m.Commit | m.Rollback) -> Exchange[None]:
    """Commit or roll back; nothing is sent when no transaction of the user's can be open.

    The server closes open cursors with it, those WITH HOLD excepted: results not read to their end fail when they are
    read on. ``ProgrammingError`` inside a ``transaction()`` block.
    """
    report(session, "commit" if isinstance(message, m.Commit) else "rollback")
    if session.blocks:
        what = "commit()" if isinstance(message, m.Commit) else "rollback()"
        raise ProgrammingError(
            f"{what} inside a transaction() block: the block does that when it is left; raise Rollback to undo it"
        )
    if session.transaction in (TransactionStatus.NONE, TransactionStatus.IMPLICIT_READ):
        return
    yield from end(session, message)


def end(session: Session, message: m.Commit | m.Rollback) -> Exchange[None]:
    """Send COMMIT or ROLLBACK; that none was open is no failure, unless work was to be committed in it.

    ``OperationalError`` when a transaction that this session has begun is gone: the server has ended it, as it does
    with one that fills the log, and nobody shall take its work for permanent.
    """
    begun = session.transaction is TransactionStatus.OPEN and not session.ansi
    committing = isinstance(message, m.Commit)
    reply = yield from (request_commit(session) if committing else request(session, (message,)))
    if reply.error is not None and reply.error.sqlcode not in (NOT_OPEN, *UNLOGGED):
        raise server_error(reply.error)
    yield from _after_end(session, undone=isinstance(message, m.Rollback) or reply.error is not None)
    if begun and reply.error is not None and isinstance(message, m.Commit):
        raise OperationalError(
            "nothing was committed: the server had ended the transaction before, and undone its work "
            f"(SQLCODE {reply.error.sqlcode})",
            sqlcode=reply.error.sqlcode,
        )


def request_commit(session: Session, messages: Sequence[Message] = (m.Commit(),)) -> Exchange[Reply]:
    """Send a COMMIT and read its answer, as :func:`.turns.request`. ``CommitUnknown`` when the connection is lost then."""
    before = session.outstanding_requests
    try:
        return (yield from request(session, messages))
    except (ConnectionLost, ProtocolError) as error:
        if session.outstanding_requests == before:  # it was lost before: the server rolls back
            raise
        raise CommitUnknown(
            "the answer to COMMIT was lost: the transaction may or may not be in effect; look before you repeat it "
            f"({error})"
        ) from error


def commit_now(session: Session) -> Exchange[None]:
    """The COMMIT of autocommit in an ANSI database."""
    return end(session, m.Commit())


def commit(session: Session) -> Exchange[None]:
    """Make the work of the open transaction permanent."""
    return finish(session, m.Commit())


def rollback(session: Session) -> Exchange[None]:
    """Undo the work of the open transaction."""
    return finish(session, m.Rollback())


def after_undo(session: Session) -> Exchange[None]:
    """Work was undone: if tables were changed in it, prepared statements mean something else again."""
    if session.statements.schema_changed:
        yield from release_all(session, session.statements.clear())
        session.statements.schema_changed = True  # what was changed before the savepoint may still be undone


def _after_end(session: Session, *, undone: bool) -> Exchange[None]:
    session.transaction = TransactionStatus.NONE
    for cursor in session.cursors:
        cursor.transaction_ended()
    changed, session.statements.schema_changed = session.statements.schema_changed, False
    if undone and changed:
        yield from release_all(session, session.statements.clear())
