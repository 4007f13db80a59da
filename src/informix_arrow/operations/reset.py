"""Bringing a session back to how it was when it was opened, for whoever gets it next."""

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
    """What a session was like when it had been opened and set up."""

    database: str
    autocommit: bool
    isolation: str
    lock_mode: str

    @classmethod
    def capture(cls, session: Session) -> InitialState:
        settings = session.settings
        return cls(session.database, session.autocommit, settings.isolation, settings.lock_mode)


def reset(session: Session, ground: InitialState) -> Exchange[None]:
    """Roll back, close every open result and cursor, and set autocommit, isolation and lock mode as they were. Nothing
    is sent when there is nothing to do.

    Results that somebody still holds end with an error, not as if their rows were used up. What the server keeps
    for the session beside these stays: temporary tables, other SET statements, another database.
    """
    report(session, "reset")
    why = InterfaceError("the connection was given back to its pool before this result was read")
    yield from close_cursors(session, why)
    session.blocks.clear()
    yield from clear_orphans(session)
    yield from rollback(session)
    session.autocommit = ground.autocommit
    yield from restore_settings(session, ground.isolation, ground.lock_mode)
    # The next user may be long in coming, and an open cursor keeps its tables in use.
    yield from flush(session)
