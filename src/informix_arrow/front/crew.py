"""Several connections at work on one thing: who is still there, whether they are to stop, and why.

As with a pool, every method is an instant: nothing waits and nothing is sent here, and threads and tasks are served
alike. Whoever has to wait leaves a signal, which any change gives.
"""

from __future__ import annotations

import threading
from typing import Protocol

from ..wire.errors import Error

#: Seconds after which who waits looks for himself: a finalizer and a signal handler may take no lock to give a signal.
LOOK = 0.2


class Stopped(Exception):
    """To one of the crew: nobody wants its work any more."""


class AnySignal(Protocol):
    """What wakes somebody."""

    def set(self) -> None: ...


class Crew:
    """The workers, one with each connection. Under :attr:`lock` the books of what they work on are kept, too."""

    def __init__(self, workers: int) -> None:
        self.lock = threading.Lock()
        self.workers = workers  # still there
        self.connecting = 0  # of these
        self.failure: BaseException | None = None
        self.stopped = False  # set without the lock by finalizers and signal handlers
        self.canceled = False
        self._signals: list[AnySignal] = []

    def fail(self, error: BaseException) -> None:
        """One has failed; the first one's error counts, and the others are to stop."""
        with self.lock:
            if not self.stopped and self.failure is None:
                self.failure = error
            self.stopped = True
            self.changed()

    def stop(self) -> None:
        """All are to stop."""
        with self.lock:
            self.stopped = True
            self.changed()

    def left(self, signal: AnySignal | None = None) -> bool:
        """Whether somebody is still at work whose end is worth waiting for; the signal tells when there are fewer.

        Those that connect are not: they will find out by themselves.
        """
        with self.lock:
            if self.workers <= self.connecting:
                return False
            if signal is not None:
                self.wakes(signal)
            return True

    def connects(self, change: int) -> None:
        """One begins (1) or ends (-1) to connect. Raises :class:`Stopped` when it is not wanted any more."""
        with self.lock:
            self.connecting += change
            self.changed()
            if change < 0:
                self.check()

    def leave(self) -> None:
        """One is through: nothing of it is left."""
        with self.lock:
            self.workers -= 1
            self.changed()

    # ---- under the lock ------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise :class:`Stopped` when nobody wants the work any more."""
        if self.stopped:
            raise Stopped

    def wakes(self, signal: AnySignal) -> None:
        """The next change is to give this signal."""
        self._signals.append(signal)

    def changed(self) -> None:
        """Wake whoever waits."""
        signals, self._signals = self._signals, []
        for signal in signals:
            signal.set()


def named(error: BaseException, name: str) -> BaseException:
    """The error, whose text says which part it is about."""
    if isinstance(error, Error) and error.args:
        error.args = (f"{name}: {error.args[0]}", *error.args[1:])
    return error
