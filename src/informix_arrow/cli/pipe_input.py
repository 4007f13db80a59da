"""Pipes as input: Ctrl-C and a time limit end the wait for their data."""

from __future__ import annotations

import contextlib
import io
import math
import os
import select
import stat
import time
from collections.abc import Iterator
from typing import IO, Any

from ..wire.errors import QueryTimeout

_WAKE_SECONDS = 0.2  # a longer wait is repeated, so that signals are handled and the limit is checked


class ReadLimit:
    """How long a load may wait for its input: as long as the call that sends the rows may take."""

    def __init__(self) -> None:
        self._seconds: float | None = None
        self._ends = math.inf

    @contextlib.contextmanager
    def applied(self, seconds: float | None) -> Iterator[None]:
        """Limit the waits within the block to ``seconds`` from now on; None = no limit."""
        self._seconds = seconds
        self._ends = math.inf if seconds is None else time.monotonic() + seconds
        try:
            yield
        finally:
            self._ends = math.inf

    def remaining(self) -> float:
        """Return the seconds left. Raises ``QueryTimeout`` if there are none."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise QueryTimeout(f"The input gave no more data within {self._seconds:g} s (call_timeout).")
        return left


def waiting_input(file: IO[bytes], limit: ReadLimit | None = None, *, closes: bool = True) -> IO[bytes]:
    """Return a reader of ``file`` whose waits can be ended, if it is a pipe, a socket or a terminal; else ``file``.

    The reader closes ``file`` if ``closes``. Windows cannot wait for pipes; there ``file`` is returned.
    """
    try:
        descriptor = file.fileno()
        mode = os.fstat(descriptor).st_mode
    except (OSError, ValueError):  # no file of the operating system
        return file
    if os.name == "nt" or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)):
        return file
    return io.BufferedReader(_PipeInput(file if closes else None, descriptor, limit or ReadLimit()))


class _PipeInput(io.RawIOBase):
    """The bytes of a pipe.

    A plain buffered reader collects bytes in C until its buffer is full. While a slow writer keeps a pipe from being
    empty, no signal is handled there.
    """

    def __init__(self, file: IO[bytes] | None, descriptor: int, limit: ReadLimit) -> None:
        self._file, self._descriptor, self._limit = file, descriptor, limit

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def readinto(self, into: Any) -> int:
        waiting = True
        while waiting:
            seconds = min(self._limit.remaining(), _WAKE_SECONDS)
            waiting = not select.select([self._descriptor], [], [], seconds)[0]
        return os.readv(self._descriptor, [into])

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()
