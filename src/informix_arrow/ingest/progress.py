"""Progress of a load: the callback's type and a progress bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO, TypeAlias

#: Called with the rows that the server has confirmed, the bytes of rows sent, and the seconds since the call.
ProgressCallback: TypeAlias = Callable[[int, int, float], object]
_WIDTH = 30
_EVERY = 0.1  # minimum seconds between two updates


class Bar:
    """A progress bar on one line of the terminal, updated at most ten times a second.

    ``total`` is the expected number of rows. If it is None, only the count is shown.
    """

    def __init__(self, total: int | None, stream: TextIO | None = None) -> None:
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._drawn = 0.0
        self._length = 0

    def __call__(self, rows: int, size: int, seconds: float) -> None:
        """Update the line, unless it was updated just before."""
        now = time.monotonic()
        if now - self._drawn >= _EVERY:
            self._drawn = now
            self._draw(self._text(rows, size, seconds))

    def finish(self, rows: int, size: int, seconds: float) -> None:
        """Draw the final state and end the line."""
        self._draw(self._text(rows, size, seconds))
        self._stream.write("\n")
        self._stream.flush()

    def _text(self, rows: int, size: int, seconds: float) -> str:
        speed = f"{rows / seconds:,.0f} rows/s, {size / seconds / 1e6:,.1f} MB/s" if seconds > 0 else ""
        if not self._total:
            return f"{rows:,} rows  {speed}"
        done = min(rows / self._total, 1.0)
        bar = ("#" * round(done * _WIDTH)).ljust(_WIDTH, ".")
        return f"[{bar}] {done:4.0%}  {rows:,} of {self._total:,} rows  {speed}"

    def _draw(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._length))
        self._stream.flush()
        self._length = len(text)
