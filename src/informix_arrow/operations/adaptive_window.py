"""How much of an ``executemany`` may be on its way: some 50 ms of the server's work, learnt from its replies.

Whatever was sent is executed, unless the connection is closed: an interrupt ends one row, not those behind it. So what
is on its way is bounded in time, and with it how late a call that is to end does end. A server that is far away is no
slow one: what a round trip takes is no work.
"""

from __future__ import annotations

import math
from collections import deque

from .session import Session

IN_FLIGHT_SECONDS = 0.05  # seconds of work that may be on its way, in two chunks
_GROWTH = 8  # a chunk has at most so many times the rows of the one before
_MAX_FIRST_ROWS = 256  # rows of the first chunk: nobody knows yet how large they are


class AdaptiveWindow:
    """Rows of the next chunk, of which there are at most ``most``; ``first`` when nothing is known yet.

    ``each`` is what a row takes as an earlier call has learnt it, seconds; None = nobody knows.
    """

    def __init__(self, session: Session, first: int, most: int, each: float | None = None) -> None:
        self._session, self._max_rows = session, most
        self._in_flight: deque[tuple[float, int]] = deque()  # when chunks were sent, and their rows
        self._idle_since = -math.inf  # when all that was sent before had been answered
        self.seconds_per_row = each
        self.rows = min(_MAX_FIRST_ROWS, most, first if each is None else _rows_for(each))

    @property
    def is_calibrated(self) -> bool:
        """Whether a chunk was answered, so that another may be sent ahead of its reply."""
        return self.seconds_per_row is not None

    def record_sent(self, rows: int) -> None:
        """A chunk is about to leave."""
        self._in_flight.append((self._session.clock(), rows))

    def record_answered(self, rows: int | None = None) -> None:
        """All replies to the oldest chunk were read; ``rows`` is how many there were when that was not known yet."""
        sent, said = self._in_flight.popleft()
        rows = rows or said
        now = self._session.clock()
        distance = self._session.round_trip if math.isfinite(self._session.round_trip) else 0.0
        worked = max(0.0, now - max(sent + distance, self._idle_since)) / rows
        self._idle_since = now
        # Slower at once, faster by and by.
        self.seconds_per_row = (
            worked
            if self.seconds_per_row is None or worked > self.seconds_per_row
            else (worked + self.seconds_per_row) / 2
        )
        self.rows = min(_rows_for(self.seconds_per_row), _GROWTH * max(rows, self.rows), self._max_rows)


def _rows_for(each: float) -> int:
    """Rows of half of what may be on its way."""
    return max(1, int(IN_FLIGHT_SECONDS / 2 / max(each, 1e-9)))
