"""The registry of an engine's sessions, and the attributes of a session that others may read."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, Protocol

from ..catalog.catalog import TableInfo
from .environment import SessionEnvironment
from .locks import HeldLock, LockMode
from .schema_version import SessionSchema

_TYPES = {
    LockMode.INTENT_SHARE: "IS",
    LockMode.INTENT_EXCLUSIVE: "IX",
    LockMode.SHARE: "S",
    LockMode.UPDATE: "U",
    LockMode.EXCLUSIVE: "X",
}
"""Names of the lock types in syslocks."""


class RegisteredSession(Protocol):
    """The attributes of a session that others may read, from any thread."""

    environment: SessionEnvironment
    schema: SessionSchema

    @property
    def session_id(self) -> int: ...
    @property
    def lock_owner(self) -> object:
        """The owner of its locks."""

    @property
    def started_at(self) -> float:
        """Time at which it began, in seconds since 1970."""

    @property
    def database(self) -> str | None:
        """Name of its open database."""

    @property
    def in_transaction(self) -> bool: ...
    def detach(self) -> None:
        """End what it has open in DuckDB, while it is idle. It restarts its transaction by itself."""

    def close(self) -> None: ...


class SessionRegistry:
    """The sessions that have not been closed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: set[RegisteredSession] = set()

    def add(self, session: RegisteredSession) -> None:
        with self._lock:
            self._sessions.add(session)

    def discard(self, session: RegisteredSession) -> None:
        with self._lock:
            self._sessions.discard(session)

    def all(self) -> list[RegisteredSession]:
        with self._lock:
            return list(self._sessions)

    def using_database(self, database: str) -> list[RegisteredSession]:
        """Return the sessions that have a database open."""
        return [session for session in self.all() if session.database == database]

    def temp_tables(self, database: str, except_session: int) -> list[TableInfo]:
        """Return the temporary tables of the sessions that use a database, except the session `except_session`."""
        return [
            info
            for session in self.using_database(database)
            if session.session_id != except_session
            for info in list(session.schema.temp_tables.values())
        ]

    def has_open_transaction(self, database: str, except_session: int) -> bool:
        """Return whether a session that uses a database has a transaction open.

        The session with the number `except_session` is ignored.
        """
        return any(s.in_transaction for s in self.using_database(database) if s.session_id != except_session)

    def session_rows(self) -> list[dict[str, Any]]:
        """Return the rows of syssessions in sysmaster. Called from within DuckDB, so it takes no lock."""
        return [
            {
                "sid": session.session_id,
                "username": session.environment.user,
                "pid": 0,
                "hostname": "localhost",
                "connected": int(session.started_at),
                "feprogram": "",
            }
            for session in list(self._sessions)
        ]

    def lock_rows(self, held: Iterable[HeldLock]) -> list[dict[str, Any]]:
        """Return the rows of syslocks in sysmaster for the held locks."""
        numbers = {session.lock_owner: session.session_id for session in list(self._sessions)}
        return [
            {
                "dbsname": lock.table[0],
                "tabname": lock.table[1],
                "rowidlk": None if lock.is_row_lock else 0,
                "type": _TYPES[lock.mode],
                "owner": numbers.get(lock.owner),
                "waiter": None if lock.waiter is None else numbers.get(lock.waiter),
            }
            for lock in held
        ]
