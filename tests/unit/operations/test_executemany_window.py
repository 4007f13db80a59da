"""The window of ``executemany``: rows in flight are limited by time, whatever the distance to the server."""

from __future__ import annotations

import pytest
from tests.unit.operations.scripted_peer import new_session

from informix_arrow.operations.adaptive_window import IN_FLIGHT_SECONDS, AdaptiveWindow


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def simulated(
    each: float, distance: float, *, chunks: int = 12, first: int = 1, most: int = 4096
) -> list[int]:
    """Return the sizes of the chunks sent to a server that takes ``each`` seconds for a row, at ``distance``
    seconds."""
    clock = Clock()
    pace = AdaptiveWindow(new_session(clock=clock, round_trip=distance), first, most)
    sizes, free, waiting = [], 0.0, []
    for _ in range(chunks):
        rows = pace.rows
        sizes.append(rows)
        pace.record_sent(rows)
        free = max(free, clock.now + distance / 2) + rows * each
        waiting.append(free + distance / 2)
        while len(waiting) > (1 if pace.is_calibrated else 0):
            clock.now = max(clock.now, waiting.pop(0))
            pace.record_answered()
    return sizes


@pytest.mark.parametrize("distance", [0.0, 0.0002, 0.03, 0.2])
@pytest.mark.parametrize("each", [0.0, 1e-6, 1e-4, 0.004, 0.054, 3.0])
def test_what_is_on_its_way_takes_the_server_no_longer_than_it_may(each: float, distance: float) -> None:
    sizes = simulated(each, distance)
    assert sizes[0] == 1
    for rows in sizes:
        assert rows == 1 or 2 * rows * each <= IN_FLIGHT_SECONDS * 1.01


def test_a_fast_server_gets_full_chunks_however_far_away_it_is() -> None:
    for distance in (0.0, 0.2):
        assert simulated(2e-6, distance, first=64)[-1] == 4096


def test_a_server_that_becomes_slow_is_believed_at_once() -> None:
    clock = Clock()
    pace = AdaptiveWindow(new_session(clock=clock, round_trip=0.0), 64, 4096)
    for each in (1e-6, 1e-6, 0.01):
        rows = pace.rows
        pace.record_sent(rows)
        clock.now += rows * each
        pace.record_answered()
    assert pace.rows == int(IN_FLIGHT_SECONDS / 2 / 0.01)


def test_what_an_earlier_call_has_learnt_is_where_the_next_one_begins() -> None:
    assert AdaptiveWindow(new_session(), 1, 4096, 0.005).rows == 5
    assert AdaptiveWindow(new_session(), 1, 4096, 3.0).rows == 1
    assert AdaptiveWindow(new_session(), 1, 512, 1e-7).rows == 256  # the size of rows is unknown yet
