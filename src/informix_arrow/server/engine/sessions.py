"""Which sessions an engine has, as far as one must know of another."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ..schema.catalog import TableInfo
from .locks import Held, Mode

_TYPES = {Mode.REFER: "IS", Mode.WRITE: "IX", Mode.SHARE: "S", Mode.UPDATE: "U", Mode.EXCLUSIVE: "X"}
"""What syslocks calls them."""


class KnownSession(Protocol):
    """What is known of a session beside itself. All of it may be read from any thread."""

    @property
    def session_id(self) -> int: ...
    @property
    def user(self) -> str: ...
    @property
    def owner(self) -> object:
        """As who it holds locks."""

    @property
    def since(self) -> float:
        """When it began, in seconds since 1970."""

    @property
    def database(self) -> str | None:
        """The database that it has open."""

    @property
    def in_transaction(self) -> bool: ...
    @property
    def temp_tables(self) -> Mapping[str, TableInfo]: ...
    def let_go(self) -> None: ...
    def close(self) -> None: ...


class Sessions:
    """The sessions that have not been closed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: set[KnownSession] = set()

    def add(self, session: KnownSession) -> None:
        with self._lock:
            self._known.add(session)

    def discard(self, session: KnownSession) -> None:
        with self._lock:
            self._known.discard(session)

    def all(self) -> list[KnownSession]:
        with self._lock:
            return list(self._known)

    def using(self, database: str) -> list[KnownSession]:
        """Those that have a database open."""
        return [session for session in self.all() if session.database == database]

    def temp_tables(self, database: str, beside: int) -> list[TableInfo]:
        """Temporary tables that sessions have while they use a database, but the one of the number `beside`."""
        return [
            info
            for session in self.using(database)
            if session.session_id != beside
            for info in list(session.temp_tables.values())
        ]

    def busy(self, database: str, beside: int) -> bool:
        """Whether a session that uses a database has a transaction open, but the one of the number `beside`."""
        return any(s.in_transaction for s in self.using(database) if s.session_id != beside)

    def rows(self) -> list[dict[str, Any]]:
        """The rows of sysmaster's syssessions. Called from within DuckDB: no lock is taken."""
        return [
            {
                "sid": session.session_id,
                "username": session.user,
                "pid": 0,
                "hostname": "localhost",
                "connected": int(session.since),
                "feprogram": "",
            }
            for session in list(self._known)
        ]

    def lock_rows(self, held: Iterable[Held]) -> list[dict[str, Any]]:
        """The rows of sysmaster's syslocks, for the locks that are held."""
        numbers = {session.owner: session.session_id for session in list(self._known)}
        return [
            {
                "dbsname": lock.table[0],
                "tabname": lock.table[1],
                "rowidlk": None if lock.of_row else 0,
                "type": _TYPES[lock.mode],
                "owner": numbers.get(lock.owner),
                "waiter": None if lock.waiter is None else numbers.get(lock.waiter),
            }
            for lock in held
        ]
