"""A group of workers with a connection each: how many still run, whether they are to stop, and why.

As in a pool, methods return at once: they neither wait nor send, and serve threads and tasks alike. A caller
that has to wait leaves a signal, which is set by any change.
"""

from __future__ import annotations

import threading
from typing import Protocol

from ..wire.errors import Error

#: Seconds after which a waiting caller checks on its own: finalizers and signal handlers may not lock, so they set
#: no signal.
POLL_SECONDS = 0.2


class WorkStopped(Exception):
    """Raised in a worker whose work is no longer wanted."""


class SignalProtocol(Protocol):
    """A signal that wakes a waiting caller."""

    def set(self) -> None: ...


class WorkerGroup:
    """The workers, one for each connection. :attr:`lock` also protects the state of what they work on."""

    def __init__(self, workers: int) -> None:
        self.lock = threading.Lock()
        self.workers = workers  # still running, or not begun yet
        self._unstarted = workers
        self.connecting = 0  # of these, now connecting
        self.failure: BaseException | None = None
        self.stopped = False  # set without the lock by finalizers and signal handlers
        self.canceled = False
        self._signals: list[SignalProtocol] = []

    def fail(self, error: BaseException) -> None:
        """Record the failure of a worker. The first error is kept, and the others are to stop."""
        with self.lock:
            if not self.stopped and self.failure is None:
                self.failure = error
            self.stopped = True
            self.notify_all()

    def stop(self) -> None:
        """Tell all workers to stop."""
        with self.lock:
            self.stopped = True
            self.notify_all()

    def has_active_workers(self, signal: SignalProtocol | None = None) -> bool:
        """Return whether a worker whose end is worth waiting for still runs; the signal is set when there are
        fewer.

        Workers that are connecting do not count: they will find out on their own.
        """
        with self.lock:
            if self.workers <= self.connecting:
                return False
            if signal is not None:
                self.notify_on_change(signal)
            return True

    def change_connecting(self, change: int) -> None:
        """Record that a worker begins (1) or ends (-1) to connect. Raises :class:`WorkStopped` if it is to stop."""
        with self.lock:
            self.connecting += change
            self.notify_all()
            if change < 0:
                self.check()

    def worker_started(self) -> bool:
        """Record that a worker begins. If this returns False, the worker must do nothing: it is not counted."""
        with self.lock:
            if not self._unstarted:
                return False
            self._unstarted -= 1
            return True

    def drop_unstarted(self) -> None:
        """Count only the workers that have begun. A worker that begins later does nothing.

        For a caller that was interrupted while it started threads: it cannot know whether the last one runs.
        """
        with self.lock:
            self.workers -= self._unstarted
            self._unstarted = 0
            self.notify_all()

    def worker_exited(self) -> None:
        """Record that a worker has ended."""
        with self.lock:
            self.workers -= 1
            self.notify_all()

    # ---- under the lock ------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise :class:`WorkStopped` if the work is no longer wanted."""
        if self.stopped:
            raise WorkStopped

    def notify_on_change(self, signal: SignalProtocol) -> None:
        """Set this signal at the next change."""
        self._signals.append(signal)

    def notify_all(self) -> None:
        """Wake all waiting callers."""
        signals, self._signals = self._signals, []
        for signal in signals:
            signal.set()


def prefix_error(error: BaseException, name: str) -> BaseException:
    """Return the error with the name of the part that it is about in its message."""
    if isinstance(error, Error) and error.args:
        error.args = (f"{name[:1].upper()}{name[1:]}: {error.args[0]}", *error.args[1:])
    return error
