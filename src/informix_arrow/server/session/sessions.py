"""Which sessions an engine has, as far as one must know of another."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ..catalog.catalog import TableInfo
from .locks import HeldLock, LockMode

_TYPES = {
    LockMode.INTENT_SHARE: "IS",
    LockMode.INTENT_EXCLUSIVE: "IX",
    LockMode.SHARE: "S",
    LockMode.UPDATE: "U",
    LockMode.EXCLUSIVE: "X",
}
"""What syslocks calls them."""


class RegisteredSession(Protocol):
    """What is known of a session beside itself. All of it may be read from any thread."""

    @property
    def session_id(self) -> int: ...
    @property
    def user(self) -> str: ...
    @property
    def lock_owner(self) -> object:
        """As who it holds locks."""

    @property
    def started_at(self) -> float:
        """When it began, in seconds since 1970."""

    @property
    def database(self) -> str | None:
        """The database that it has open."""

    @property
    def in_transaction(self) -> bool: ...
    @property
    def temp_tables(self) -> Mapping[str, TableInfo]: ...
    def detach(self) -> None: ...
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
        """Those that have a database open."""
        return [session for session in self.all() if session.database == database]

    def temp_tables(self, database: str, beside: int) -> list[TableInfo]:
        """Temporary tables that sessions have while they use a database, but the one of the number `beside`."""
        return [
            info
            for session in self.using_database(database)
            if session.session_id != beside
            for info in list(session.temp_tables.values())
        ]

    def has_open_transaction(self, database: str, beside: int) -> bool:
        """Whether a session that uses a database has a transaction open, but the one of the number `beside`."""
        return any(s.in_transaction for s in self.using_database(database) if s.session_id != beside)

    def session_rows(self) -> list[dict[str, Any]]:
        """The rows of sysmaster's syssessions. Called from within DuckDB: no lock is taken."""
        return [
            {
                "sid": session.session_id,
                "username": session.user,
                "pid": 0,
                "hostname": "localhost",
                "connected": int(session.started_at),
                "feprogram": "",
            }
            for session in list(self._sessions)
        ]

    def lock_rows(self, held: Iterable[HeldLock]) -> list[dict[str, Any]]:
        """The rows of sysmaster's syslocks, for the locks that are held."""
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
