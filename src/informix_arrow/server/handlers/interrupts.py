"""Interrupts of a running statement (SQLI section 2, JDBC section 10), from the listener's thread to the session's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from ...wire.errors import ProtocolError
from ..errors import ISAM_INTERRUPTED, SqlError
from .client_stream import ClientDisconnected

INTERRUPTED = -213


class StatementInterrupts:
    """The state of a session's engine: whether it is running, and whether it must stop.

    `with interrupts:` surrounds one call of the engine. If an interrupt was requested, it raises SqlError -213 instead
    of the call's exception.

    `request` and `repeat` are called from another thread, everything else from the session's thread. A request during a
    call of the engine stops it. A request while messages wait to be served stops the first statement of them. `forget`
    drops a request that found nothing to stop.

    Attributes
    ----------
    requests
        Number of requests so far.
    """

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._lock = threading.Lock()
        self._is_running = False
        self.requests = 0
        self._handled_requests = 0  # requests that have taken effect, or have nothing to stop

    def request(self) -> bool:
        """Stop the running statement, or else the next one.

        If it returns True, call `repeat` until that returns False.
        """
        with self._lock:
            self.requests += 1
        return self.repeat()

    def repeat(self) -> bool:
        """Repeat the request to an engine that still runs: DuckDB discards an interrupt before its query has begun."""
        with self._lock:
            if not self._is_running or self.requests == self._handled_requests:
                return False
            self._interrupt()
            return True

    def check(self) -> None:
        """Raise SqlError -213 if the running statement must stop. For work outside the engine."""
        if self.requests != self._handled_requests:
            raise SqlError(INTERRUPTED, ISAM_INTERRUPTED)

    def forget(self, requests: int) -> None:
        """Drop the request if there was nothing to stop when the number of requests was `requests`."""
        with self._lock:
            self._handled_requests = max(self._handled_requests, requests)

    @contextmanager
    def preparing_commit(self) -> Iterator[None]:
        """Surround a call of the engine that prepares an uninterruptible one, such as a COMMIT.

        A request during the call shortens it and stops nothing. An earlier request is for the next statement.
        """
        with self._lock:
            before, settled = self.requests, self._handled_requests
            self._handled_requests, self._is_running = before, True  # an earlier request is not repeated
        try:
            yield
        finally:
            with self._lock:
                self._is_running = False
                self._handled_requests = settled if self.requests == before else self.requests

    def __enter__(self) -> None:
        with self._lock:
            is_requested = self.requests != self._handled_requests
            self._handled_requests = self.requests
            self._is_running = not is_requested
        if is_requested:
            raise SqlError(INTERRUPTED, ISAM_INTERRUPTED)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, at: TracebackType | None
    ) -> None:
        with self._lock:
            is_requested = self.requests != self._handled_requests
            self._is_running = False
            self._handled_requests = self.requests
        if not is_requested or not isinstance(problem, Exception):
            return
        # a statement that exchanges messages with its client (SQ_FILE) may have lost it
        if not isinstance(problem, (ClientDisconnected, ProtocolError)):
            raise SqlError(INTERRUPTED, ISAM_INTERRUPTED) from problem
