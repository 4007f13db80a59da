"""Recovery of databases that DuckDB invalidated because a checkpoint could not be written, for example on a full disk.

DuckDB refuses all access to such a database until it is detached and attached again, which needs the end of every
transaction in it. The next statement that finds an invalidated database waits for a moment until no other statement
runs, ends what other sessions have open there, and attaches it again. Transactions are restored from their journals.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import duckdb

from ..catalog.databases import Databases
from .sessions import RegisteredSession

log = logging.getLogger("informix_arrow.server")

_WAIT_SECONDS = 1.0
"""Seconds to wait for running statements; after that the statement fails, and the next one tries again."""


class DatabaseRecovery:
    """Count of the sessions that are running a statement. Thread-safe.

    `with recovery:` surrounds everything that a session does in DuckDB: no database is attached again meanwhile.
    Entering it attaches invalidated databases again first. It is entered for each statement of each session, so it
    allocates no object.

    Parameters
    ----------
    databases
        All databases of the engine.
    holders
        Returns its sessions.
    """

    def __init__(self, databases: Databases, holders: Callable[[], Iterable[RegisteredSession]]) -> None:
        self._databases = databases
        self._sessions = holders
        # Of the fields below; used directly, which is faster than through the condition.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._active_count = 0
        self._waiter_count = 0  # sessions that wait until no statement runs

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave `with recovery:` for the time of a wait for others, in which the session does nothing in DuckDB."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def __enter__(self) -> None:
        with self._lock:
            if self._databases.invalidated:
                self._reattach()
            self._active_count += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._active_count -= 1
            if self._waiter_count and not self._active_count:
                self._changed.notify_all()

    def _reattach(self) -> None:
        """Attach invalidated databases again. The lock is held, so no statement runs or can start."""
        self._waiter_count += 1
        try:
            self._changed.wait_for(
                lambda: not (self._active_count and self._databases.invalidated), _WAIT_SECONDS
            )
        finally:
            self._waiter_count -= 1
        if self._active_count or not self._databases.invalidated:
            return
        for holder in self._sessions():
            holder.detach()
        for name in sorted(self._databases.invalidated):
            try:
                self._databases.reattach(name)
            except duckdb.Error as problem:
                log.error("The database %s still cannot be used: %s", name, str(problem).partition("\n")[0])
            else:
                log.warning("The database %s is available again, after it could not be written.", name)
