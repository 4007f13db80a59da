"""Restore a session to its state after login, for the next user of its connection."""

from __future__ import annotations

from dataclasses import dataclass

from ..wire.errors import InterfaceError
from .cursor_session_state import restore_settings
from .instrument import report
from .io_steps import Exchange
from .request_reply import clear_orphans, close_cursors, flush
from .session import Session
from .transaction import rollback


@dataclass(frozen=True, slots=True)
class InitialState:
    """The state of a session after it was opened and set up."""

    database: str
    autocommit: bool
    isolation: str
    lock_mode: str

    @classmethod
    def capture(cls, session: Session) -> InitialState:
        settings = session.settings
        return cls(session.database, session.autocommit, settings.isolation, settings.lock_mode)


def reset(session: Session, initial: InitialState) -> Exchange[None]:
    """Roll back, close every open result and cursor, and restore autocommit, isolation and lock mode.

    Sends nothing if there is nothing to do. Results that are still in use end with an error, not as if their
    rows were used up. Other state of the session on the server stays: temporary tables, other SET statements,
    another database.
    """
    report(session, "reset")
    why = InterfaceError("The connection was returned to its pool before this result was read.")
    yield from close_cursors(session, why)
    session.blocks.clear()
    yield from clear_orphans(session)
    yield from rollback(session)
    session.autocommit = initial.autocommit
    yield from restore_settings(session, initial.isolation, initial.lock_mode)
    # The connection may stay idle for long, and an open cursor keeps its tables in use.
    yield from flush(session)
