"""The window of one result: how many fetches may be on their way at a time.

With one fetch on its way, each reply costs a round trip, however fast the network is. The first window comes
from the first reply: how long it took from its first bytes to its end tells how many such replies arrive in a
round trip. From then on the window grows as long as that pays. It is measured in rounds: a round ends when
everything that was on its way at its beginning was answered. If it brought clearly more per second than the
best round before, the next one has a larger window, else the window goes back to the size of the best round and
stays there for a while. A round that took hardly longer than a round trip was limited by its window alone, and
the next window is many times larger.

The window is bounded in bytes (``fetch_window_bytes``), and in time: it never holds more than a few seconds
bring at the rate of the last round. So it stays small where the server, the network or the caller is slow, and
what is on its way when the caller stops reading is received soon.
"""

from __future__ import annotations

import math

from .session import Session

#: Maximum number of fetches on their way. Their requests fit in a socket buffer, so that sending one never
#: waits for a server that reads nothing while it sends.
MAX_FETCHES = 1024

_GROWTH = 2  # of the window, to find out whether a larger one brings more
_JUMP = 32  # of the replies per round trip, if nothing but the window was the limit
_FIRST_TRIPS = 2  # round trips that the replies to the first window may take, by the first reply's rate
_IMPROVEMENT = 1.25  # a round that brings this many times more per second was worth its window
_ROUNDS_BETWEEN_PROBES = 16
_MOST_SECONDS = 4.0  # of replies on their way, by the rate of the last round
_SHORT_PAUSE = 0.001  # seconds between two batches that do not matter


class FetchWindow:
    """Decides how many fetches are sent ahead. Exists from the end of the first reply that is not the last.

    Parameters
    ----------
    session
        For its clock and its round trip.
    limit
        Maximum number of fetches on their way besides the one whose reply is being read.
    requested_at
        When the first fetch was sent, by the session's clock; None = unknown.
    arriving_since
        When the first bytes of the first reply arrived, by the session's clock; None = all came in one piece.

    Attributes
    ----------
    ahead
        Number of fetches that may be on their way besides the one whose reply is being read.
    """

    __slots__ = (
        "_began",
        "_best",
        "_best_ahead",
        "_fixed_rounds",
        "_left",
        "_limit",
        "_paused_at",
        "_replies",
        "_session",
        "_trip",
        "_void",
        "ahead",
    )

    def __init__(
        self, session: Session, limit: int, requested_at: float | None, arriving_since: float | None
    ) -> None:
        self._session = session
        self._limit = min(limit, MAX_FETCHES)
        self._best = 0.0  # replies per second of the best round
        self._best_ahead = 1  # the window of that round
        self._fixed_rounds = 0  # rounds until the next probe
        self._replies = self._left = 0  # of the round, and how many of them are still missing
        self._void = False  # the round tells nothing about the network
        self._began = self._paused_at = session.clock()
        self._trip = session.round_trip if math.isfinite(session.round_trip) else 0.0
        arriving = self._began if arriving_since is None else arriving_since
        if requested_at is not None:  # what the session has measured may hold work of the server's
            self._trip = min(self._trip, arriving - requested_at)
        seconds = max(self._began - arriving, _SHORT_PAUSE)
        self.ahead = max(1, min(int(_FIRST_TRIPS * self._trip / seconds), _JUMP, self._limit))

    def missing(self, in_flight: int, *, reading: bool) -> int:
        """Return how many fetches to send now, when ``in_flight`` are on their way.

        ``reading`` says that one of these is being answered. Of a large window a quarter is sent at once.
        """
        missing = self.ahead + reading - in_flight
        return missing if missing > self.ahead // 4 else 0

    def pause(self) -> None:
        """Note that rows are handed to the caller."""
        self._paused_at = self._session.clock()

    def resume(self, in_flight: int) -> None:
        """Note that the caller wants more rows, with ``in_flight`` fetches on their way.

        Replies that have arrived while the caller was busy say nothing about the network.
        """
        if self._session.clock() - self._paused_at > max(self._trip / 8, _SHORT_PAUSE):
            self._replies = self._left = in_flight
            self._void = True

    def record_reply(self) -> None:
        """Record the end of a reply that was not the last. Sets the next window at the end of a round."""
        if not self._left:
            return
        self._left -= 1
        if self._left or self._limit <= 1:
            return
        if not self._void:
            self._adapt(max(self._session.clock() - self._began, 1e-6))
        self._void = False

    def begin_round(self, in_flight: int) -> None:
        """Begin a round with the fetches that are on their way, unless one is going on."""
        if not self._left:
            self._replies = self._left = in_flight
            self._began = self._session.clock()

    def _adapt(self, seconds: float) -> None:
        """Set the window after a round that took ``seconds``."""
        rate, trip = self._replies / seconds, self._trip
        only_window = seconds <= 2 * trip
        larger = max(_GROWTH * self.ahead, math.ceil(_JUMP * rate * trip) if only_window else 0)
        if self._fixed_rounds > 1:
            self._fixed_rounds -= 1
        elif self._fixed_rounds or rate >= _IMPROVEMENT * self._best:
            self._best, self._best_ahead, self._fixed_rounds = rate, self.ahead, 0
            self.ahead = larger
        else:
            self.ahead, self._fixed_rounds = self._best_ahead, _ROUNDS_BETWEEN_PROBES
        self.ahead = max(1, min(self.ahead, self._limit, int(rate * _MOST_SECONDS)))
