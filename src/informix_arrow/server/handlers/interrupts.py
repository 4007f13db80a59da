"""Stopping a running statement (SQLI section 2, JDBC section 10): from the thread that heard the client ask for it to
the session's."""

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
    """Whether the session's engine is at work, and whether it has been asked to stop.

    `with interrupts:` surrounds one call of the engine. It raises SqlError -213 in place of whatever that raises when
    it was asked to stop.

    `request` and `repeat` come from another thread; everything else is the session's thread. A request that
    finds the engine at work stops it; one that comes while messages wait to be served stops the first
    statement of them; `forget` drops one that found nothing to stop.

    Attributes
    ----------
    requests
        Requests so far.
    """

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._lock = threading.Lock()
        self._is_running = False
        self.requests = 0
        self._handled_requests = 0  # requests that have had their effect, or have none to have

    def request(self) -> bool:
        """Stop the statement that runs, or else the next. True: `repeat` it until that says False."""
        with self._lock:
            self.requests += 1
        return self.repeat()

    def repeat(self) -> bool:
        """Say it again to an engine that is still at work: DuckDB forgets an interrupt that comes before its
        query has begun."""
        with self._lock:
            if not self._is_running or self.requests == self._handled_requests:
                return False
            self._interrupt()
            return True

    def check(self) -> None:
        """SqlError -213 when the running statement has been asked to stop; for work that the engine does not
        see."""
        if self.requests != self._handled_requests:
            raise SqlError(INTERRUPTED, ISAM_INTERRUPTED)

    def forget(self, requests: int) -> None:
        """There was nothing to stop when the number of requests was `requests`."""
        with self._lock:
            self._handled_requests = max(self._handled_requests, requests)

    @contextmanager
    def preparing_commit(self) -> Iterator[None]:
        """Around a call of the engine that makes ready for what is not stopped, such as a COMMIT: a request that comes
        now shortens it, and stops nothing. One that came before is for the next statement."""
        with self._lock:
            before, settled = self.requests, self._handled_requests
            self._handled_requests, self._is_running = before, True  # one that came before is not urged
        try:
            yield
        finally:
            with self._lock:
                self._is_running = False
                self._handled_requests = settled if self.requests == before else self.requests

    def __enter__(self) -> None:
        with self._lock:
            asked = self.requests != self._handled_requests
            self._handled_requests = self.requests
            self._is_running = not asked
        if asked:
            raise SqlError(INTERRUPTED, ISAM_INTERRUPTED)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, at: TracebackType | None
    ) -> None:
        with self._lock:
            asked = self.requests != self._handled_requests
            self._is_running = False
            self._handled_requests = self.requests
        if not asked or not isinstance(problem, Exception):
            return
        # a statement that talks to its client (SQ_FILE) may have lost it
        if not isinstance(problem, (ClientDisconnected, ProtocolError)):
            raise SqlError(INTERRUPTED, ISAM_INTERRUPTED) from problem
