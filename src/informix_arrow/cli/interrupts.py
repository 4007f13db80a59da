"""Ctrl-C where it must not come in between: a COMMIT, and the note of what it has made permanent."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """A block from some point of which on Ctrl-C has to wait for its end::

        with Interrupts() as interrupts:
            with connection.transaction():
                ...  # Ctrl-C undoes it
                interrupts.wait()
            done += 1  # whatever was committed is counted

    In other threads than the main one, which get no signals, it does nothing.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._waiting = False
        self._came = False

    def wait(self) -> None:
        """Let Ctrl-C wait from here on."""
        if not self._waiting and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
            self._waiting = True

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True

    def __enter__(self) -> Interrupts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._waiting:
            return
        self._waiting = False
        signal.signal(signal.SIGINT, signal.SIG_DFL if self._before is None else self._before)
        if self._came and error is None:
            raise KeyboardInterrupt
