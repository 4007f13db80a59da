"""A session as an owner of locks that waits for the locks of others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection

from ..errors import ISAM_INTERRUPTED, SqlError
from .locks import LockRequest, Locks, TableKey

_INTERRUPTED = -213


class Interruption:
    """Interrupts the running statement of a session.

    It is created before the session, which registers the functions that end its waits.

    Attributes
    ----------
    requested
        Set while the running statement is to end.
    """

    def __init__(self) -> None:
        self.requested = threading.Event()
        self._wake: tuple[Callable[[], None], ...] = ()

    def set_wake_functions(self, *wake: Callable[[], None]) -> None:
        """Set the functions that are called at each request: they end the session's waits."""
        self._wake = wake

    def request(self) -> None:
        """Make the running statement fail with -213. May be called from any thread."""
        self.requested.set()
        for wake in self._wake:
            wake()


class LockOwner:
    """The owner of a session's locks.

    Attributes
    ----------
    locks
        The locks of all sessions.
    lock_timeout
        SET LOCK MODE: seconds to wait for a lock, 0 not at all, below 0 without limit.
    interrupted
        Set while the running statement is to end.
    client_disconnected
        Set when the client is gone, which ends all waits.
    held_tables
        Tables locked by LOCK TABLE in a database without transactions: until UNLOCK TABLE.
    """

    def __init__(self, locks: Locks, interrupted: threading.Event) -> None:
        self.locks = locks
        self.interrupted = interrupted
        self.client_disconnected = threading.Event()
        self.lock_timeout = 0.0
        self.held_tables: set[TableKey] = set()

    def request(self, sqlcode: int) -> LockRequest:
        """Return a lock request with the current lock mode; `sqlcode` is the error if the lock is refused."""
        return LockRequest(self, self.lock_timeout, self._must_end, sqlcode)

    def _must_end(self) -> bool:
        return self.interrupted.is_set() or self.client_disconnected.is_set()

    def check_interrupt(self) -> None:
        """Raise SqlError -213 if the running statement is to end."""
        if self.interrupted.is_set():
            raise SqlError(_INTERRUPTED, ISAM_INTERRUPTED)

    def release(self, *, committed: bool, keep: Collection[TableKey] = ()) -> None:
        """Release all locks except those on the tables in `keep`."""
        self.locks.release(self, committed=committed, keep=keep)
