"""Transactions: when BEGIN is due, and how they end (SQLI section 12)."""

from __future__ import annotations

from ..wire import messages as m
from ..wire.describe import StatementType
from .session import Session, Transaction, ask, error_of
from .steps import Exchange

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


def begin_if_needed(session: Session, statement_type: int) -> Exchange[None]:
    """Open a transaction before the first statement that needs one.

    Only with autocommit off, in a database that is logged and not ANSI: an unlogged one has no transactions,
    an ANSI one opens them by itself.
    """
    wanted = session.logged and not session.ansi and not session.autocommit
    if not wanted or session.transaction is Transaction.OPEN or statement_type in _OUTSIDE:
        return
    reply = yield from ask(session, (m.Begin(),))
    if reply.error is not None and reply.error.sqlcode in UNLOGGED:
        session.logged = False
        return
    if reply.error is not None and reply.error.sqlcode != ALREADY_OPEN:
        raise error_of(reply.error)
    session.transaction = Transaction.OPEN


def track(session: Session, statement_type: int) -> Exchange[None]:
    """Keep the state right after a statement without rows; commit where autocommit asks for that."""
    if statement_type == StatementType.BEGIN_WORK:
        session.transaction = Transaction.OPEN
    elif statement_type == StatementType.COMMIT_WORK:
        session.transaction = Transaction.NONE
    elif statement_type == StatementType.ROLLBACK_WORK:
        # Perhaps only back to a savepoint: the next commit or BEGIN is sent and may be told that it was
        # needless.
        session.transaction = Transaction.UNKNOWN
    elif session.ansi:
        session.transaction = Transaction.OPEN
        if session.autocommit:
            yield from finish(session, m.Commit())


def finish(session: Session, message: m.Commit | m.Rollback) -> Exchange[None]:
    """Commit or roll back; nothing is sent when no transaction can be open.

    The server closes all open cursors with it: results not read to their end fail when they are read on.
    """
    if session.transaction is Transaction.NONE:
        return
    reply = yield from ask(session, (message,))
    if reply.error is not None and reply.error.sqlcode not in (NOT_OPEN, *UNLOGGED):
        raise error_of(reply.error)
    session.transaction = Transaction.NONE


def commit(session: Session) -> Exchange[None]:
    """Make the work of the open transaction permanent."""
    return finish(session, m.Commit())


def rollback(session: Session) -> Exchange[None]:
    """Undo the work of the open transaction."""
    return finish(session, m.Rollback())
