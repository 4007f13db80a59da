"""The adaptive window of ``executemany``: about 50 ms of the server's work may be in flight, measured from its
replies.

Rows that were sent are executed, unless the connection is closed: an interrupt ends one row, not those after
it. So the time that rows in flight take is bounded, and with it the delay until a call ends. A distant server
is not a slow one: the round trip does not count as work.
"""

from __future__ import annotations

import math
from collections import deque

from .session import Session

IN_FLIGHT_SECONDS = 0.05  # seconds of work that may be in flight, in two chunks
_GROWTH = 8  # a chunk has at most this many times the rows of the one before
_MAX_FIRST_ROWS = 256  # rows of the first chunk, when their size is not known yet


class AdaptiveWindow:
    """The number of rows of the next chunk: at most ``most``, and ``first`` if nothing is known yet.

    ``each`` is the time per row, in seconds, that an earlier call has measured; None = unknown.
    """

    def __init__(self, session: Session, first: int, most: int, each: float | None = None) -> None:
        self._session, self._max_rows = session, most
        self._in_flight: deque[tuple[float, int]] = deque()  # when chunks were sent, and their rows
        self._idle_since = -math.inf  # when everything sent before had been answered
        self.seconds_per_row = each
        self.rows = min(_MAX_FIRST_ROWS, most, first if each is None else _rows_for(each))

    @property
    def is_calibrated(self) -> bool:
        """Return whether a chunk was answered, so that another may be sent ahead of its reply."""
        return self.seconds_per_row is not None

    def record_sent(self, rows: int) -> None:
        """Record that a chunk is about to be sent."""
        self._in_flight.append((self._session.clock(), rows))

    def record_answered(self, rows: int | None = None) -> None:
        """Record that all replies to the oldest chunk were read. ``rows`` is its size if not known when sent."""
        sent, sent_rows = self._in_flight.popleft()
        rows = rows or sent_rows
        now = self._session.clock()
        distance = self._session.round_trip if math.isfinite(self._session.round_trip) else 0.0
        worked = max(0.0, now - max(sent + distance, self._idle_since)) / rows
        self._idle_since = now
        # Slow down at once, speed up gradually.
        self.seconds_per_row = (
            worked
            if self.seconds_per_row is None or worked > self.seconds_per_row
            else (worked + self.seconds_per_row) / 2
        )
        self.rows = min(_rows_for(self.seconds_per_row), _GROWTH * max(rows, self.rows), self._max_rows)


def _rows_for(each: float) -> int:
    """Return the number of rows that take half of the allowed time."""
    return max(1, int(IN_FLIGHT_SECONDS / 2 / max(each, 1e-9)))
