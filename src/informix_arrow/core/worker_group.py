"""Several connections at work on one thing: who is still there, whether they are to stop, and why.

As with a pool, every method is an instant: nothing waits and nothing is sent here, and threads and tasks are served
alike. Whoever has to wait leaves a signal, which any change gives.
"""

from __future__ import annotations

import threading
from typing import Protocol

from ..wire.errors import Error

#: Seconds after which who waits looks for himself: a finalizer and a signal handler may take no lock to give a signal.
POLL_SECONDS = 0.2


class WorkStopped(Exception):
    """To one of the crew: nobody wants its work any more."""


class SignalProtocol(Protocol):
    """What wakes somebody."""

    def set(self) -> None: ...


class WorkerGroup:
    """The workers, one with each connection. Under :attr:`lock` the books of what they work on are kept, too."""

    def __init__(self, workers: int) -> None:
        self.lock = threading.Lock()
        self.workers = workers  # still there
        self.connecting = 0  # of these
        self.failure: BaseException | None = None
        self.stopped = False  # set without the lock by finalizers and signal handlers
        self.canceled = False
        self._signals: list[SignalProtocol] = []

    def fail(self, error: BaseException) -> None:
        """One has failed; the first one's error counts, and the others are to stop."""
        with self.lock:
            if not self.stopped and self.failure is None:
                self.failure = error
            self.stopped = True
            self.notify_all()

    def stop(self) -> None:
        """All are to stop."""
        with self.lock:
            self.stopped = True
            self.notify_all()

    def has_active_workers(self, signal: SignalProtocol | None = None) -> bool:
        """Whether somebody is still at work whose end is worth waiting for; the signal tells when there are fewer.

        Those that connect are not: they will find out by themselves.
        """
        with self.lock:
            if self.workers <= self.connecting:
                return False
            if signal is not None:
                self.notify_on_change(signal)
            return True

    def change_connecting(self, change: int) -> None:
        """One begins (1) or ends (-1) to connect. Raises :class:`WorkStopped` when it is not wanted any more."""
        with self.lock:
            self.connecting += change
            self.notify_all()
            if change < 0:
                self.check()

    def worker_exited(self) -> None:
        """One is through: nothing of it is left."""
        with self.lock:
            self.workers -= 1
            self.notify_all()

    # ---- under the lock ------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise :class:`WorkStopped` when nobody wants the work any more."""
        if self.stopped:
            raise WorkStopped

    def notify_on_change(self, signal: SignalProtocol) -> None:
        """The next change is to give this signal."""
        self._signals.append(signal)

    def notify_all(self) -> None:
        """Wake whoever waits."""
        signals, self._signals = self._signals, []
        for signal in signals:
            signal.set()


def prefix_error(error: BaseException, name: str) -> BaseException:
    """The error, whose text says which part it is about."""
    if isinstance(error, Error) and error.args:
        error.args = (f"{name}: {error.args[0]}", *error.args[1:])
    return error
