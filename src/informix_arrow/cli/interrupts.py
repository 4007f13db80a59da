"""Ctrl-C and SIGTERM, which end a command in the same way, and blocks that they must not interrupt.

Such a block contains a COMMIT and the record of what was committed.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any


class Terminated(KeyboardInterrupt):
    """SIGTERM was received. It ends a command like Ctrl-C."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Raise :class:`Terminated` on SIGTERM within the block, unless the signal is handled elsewhere or ignored."""
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
    """A block in which Ctrl-C and SIGTERM are delayed to its end, from a call of ``wait`` on::

        with Interrupts() as interrupts:
            with connection.transaction():
                ...  # Ctrl-C rolls back
                interrupts.wait()
            done += 1  # whatever was committed is counted

    It does nothing in threads other than the main one, which get no signals.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._came: type[KeyboardInterrupt] | None = None

    def wait(self) -> None:
        """Delay signals from here on."""
        if not self._before and _gets_signals():
            for number in (signal.SIGINT, signal.SIGTERM):
                before = signal.getsignal(number)
                if before not in (
                    signal.SIG_IGN,
                    signal.SIG_DFL,
                ):  # handlers that raise nothing are left alone
                    self._before[number] = before
                    signal.signal(number, self._record)

    def _record(self, number: int, frame: FrameType | None) -> None:
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
