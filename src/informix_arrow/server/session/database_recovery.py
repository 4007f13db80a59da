"""Databases that DuckDB has given up come back: a checkpoint could not be written, as the disk was full.

DuckDB lets nobody near such a database until it is detached and attached again, and that waits for every transaction in
it. So whoever is about to work finds out that one was given up, waits for a moment until nobody else is at work, ends
what other sessions have open there, and attaches it again; transactions are put together again from their journals.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

import duckdb

from ..catalog.databases import Databases

log = logging.getLogger("informix_arrow.server")

_WAIT_SECONDS = 1.0
"""Seconds to wait for others to end what they are at; then the statement fails, and the next one tries again."""


class DatabaseUser(Protocol):
    """A session, as one that may hold a database."""

    def detach(self) -> None:
        """End what it has open in DuckDB, while it is at nothing. It begins its transaction again by itself."""


class DatabaseRecovery:
    """Knows who is at work. Thread-safe.

    `with revival:` surrounds whatever a session does in DuckDB: nothing is attached anew meanwhile. Before it that is
    tried, where it is needed. It is entered for each statement of each session, so it keeps nothing of its own.

    Parameters
    ----------
    databases
        All of the engine.
    holders
        Its sessions.
    """

    def __init__(self, databases: Databases, holders: Callable[[], Iterable[DatabaseUser]]) -> None:
        self._databases = databases
        self._sessions = holders
        self._lock = (
            threading.Lock()
        )  # of what follows; taken without the condition's detour, for each statement
        self._changed = threading.Condition(self._lock)
        self._active_count = 0
        self._waiter_count = 0  # who wait until nobody is at work

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inside `with revival:`, while the session waits for others and does nothing in DuckDB."""
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
        """With nobody at work, who cannot begin either: the lock is held."""
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
                log.error("the database %s does not come back yet: %s", name, str(problem).partition("\n")[0])
            else:
                log.warning("the database %s is back, which could not be written before", name)
