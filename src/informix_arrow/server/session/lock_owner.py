"""A session as one that holds locks and waits for those of others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection

from ..errors import ISAM_INTERRUPTED, SqlError
from .locks import LockRequest, Locks, TableKey

_INTERRUPTED = -213


class Interruption:
    """Stops the running statement of a session. It is made before the session, which says what it has to wake.

    Attributes
    ----------
    requested
        Set while the running statement is to end.
    """

    def __init__(self) -> None:
        self.requested = threading.Event()
        self._wake: tuple[Callable[[], None], ...] = ()

    def wakes(self, *wake: Callable[[], None]) -> None:
        """Have these called at each request from now on: they end what the session waits for."""
        self._wake = wake

    def request(self) -> None:
        """Make the running statement fail with -213; from any thread."""
        self.requested.set()
        for wake in self._wake:
            wake()


class LockOwner:
    """Who holds a session's locks.

    Attributes
    ----------
    locks
        Those of all sessions.
    wait
        SET LOCK MODE: seconds to wait for a lock, 0 not at all, below 0 for ever.
    interrupted
        Set while the running statement is to end.
    left
        Set when the client has gone: nobody is there for whom to wait.
    kept
        Tables locked by LOCK TABLE in a database without transactions: until UNLOCK TABLE.
    """

    def __init__(self, locks: Locks, interrupted: threading.Event) -> None:
        self.locks = locks
        self.interrupted = interrupted
        self.client_disconnected = threading.Event()
        self.lock_timeout = 0.0
        self.held_tables: set[TableKey] = set()

    def request(self, sqlcode: int) -> LockRequest:
        """How a lock is asked for now; `sqlcode` when it is not got."""
        return LockRequest(self, self.lock_timeout, self._must_end, sqlcode)

    def _must_end(self) -> bool:
        return self.interrupted.is_set() or self.client_disconnected.is_set()

    def check_interrupt(self) -> None:
        """SqlError -213 when the running statement is to end."""
        if self.interrupted.is_set():
            raise SqlError(_INTERRUPTED, ISAM_INTERRUPTED)

    def release(self, *, committed: bool, keep: Collection[TableKey] = ()) -> None:
        """Give all locks back but those on the tables in `keep`."""
        self.locks.release(self, committed=committed, keep=keep)
