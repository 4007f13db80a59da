"""Ctrl-C and SIGTERM: both end a command in the same way; and where neither must come in between: a COMMIT, and the
note of what it has made permanent."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any


class Terminated(KeyboardInterrupt):
    """SIGTERM came: whatever ends orderly at Ctrl-C does so now."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """A block that SIGTERM ends by :class:`Terminated`, unless somebody takes it in another way, or ignores it."""
    if not _gets_signals() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is _terminate:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Interrupts:
    """A block from some point of which on Ctrl-C and SIGTERM have to wait for its end::

        with Interrupts() as interrupts:
            with connection.transaction():
                ...  # Ctrl-C undoes it
                interrupts.wait()
            done += 1  # whatever was committed is counted

    In other threads than the main one, which get no signals, it does nothing.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._came: type[KeyboardInterrupt] | None = None

    def wait(self) -> None:
        """Let them wait from here on."""
        if not self._before and _gets_signals():
            for number in (signal.SIGINT, signal.SIGTERM):
                before = signal.getsignal(number)
                if before not in (signal.SIG_IGN, signal.SIG_DFL):  # that which raises nothing is left alone
                    self._before[number] = before
                    signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = Terminated if number == signal.SIGTERM else KeyboardInterrupt

    def __enter__(self) -> Interrupts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._before:
            number, before = self._before.popitem()
            signal.signal(number, signal.SIG_DFL if before is None else before)
        if self._came is not None and error is None:
            raise self._came


def _gets_signals() -> bool:
    return threading.current_thread() is threading.main_thread()
