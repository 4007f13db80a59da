"""How long random tests run: a few rounds in ``make test``, INFORMIX_ARROW_SOAK_SECONDS each in ``make soak``.

`make soak` also runs the tests that draw their values with many more examples: soak/test_repeated_runs.py sets
INFORMIX_ARROW_EXAMPLES. `make test-fast` sets it to less than 1."""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Iterator

import pytest

#: Seconds that each test marked ``soak`` runs; 0 outside of ``make soak``.
SECONDS = float(os.environ.get("INFORMIX_ARROW_SOAK_SECONDS") or 0)

#: The seed of random tests. CI sets it, so that a change does not fail for an error that only chance finds; `make soak`
#: looks for those. None: a new seed each time.
SEED = int(os.environ["INFORMIX_ARROW_SEED"]) if os.environ.get("INFORMIX_ARROW_SEED") else None

#: Whether this is a long soak. CI's short one skips what repeats a test of `make test` in a larger form.
LONG = SECONDS >= 60

#: Marks of a test that runs in a long soak only, because `make test` has a smaller form of it.
LONG_SOAK_ONLY = (
    pytest.mark.soak,
    pytest.mark.skipif(not LONG, reason="`make test` has a smaller form of it; this one is for a long soak"),
)

#: Factor of the number of Hypothesis examples, 1 in ``make test``.
MORE_EXAMPLES = float(os.environ.get("INFORMIX_ARROW_EXAMPLES") or (10 if LONG else 1))


def examples(usual: int) -> int:
    """Return how many examples Hypothesis draws: ``usual`` in ``make test``, ten times as many in a long ``make soak``,
    fewer in ``make test-fast``."""
    return max(1, round(usual * MORE_EXAMPLES))


def seconds(usual: float) -> float:
    """Return for how many seconds a test runs: ``usual`` in ``make test``, as long as asked for in ``make soak``."""
    return SECONDS or usual


def rounds(usual: int) -> Iterator[int]:
    """Yield the numbers of rounds from 0: ``usual`` of them in ``make test``, as many as the time allows, but at least
    one, in ``make soak``."""
    if not SECONDS:
        yield from range(usual)
        return
    ends = time.monotonic() + SECONDS
    for number in itertools.count():
        yield number
        if time.monotonic() >= ends:
            return


def any_seed(salt: int = 0) -> int:
    """Return a new random seed, or a fixed one if SEED is set. Print it or put it in the error message."""
    return random.SystemRandom().randrange(1 << 32) if SEED is None else SEED + salt


def seeds(*usual: int) -> Iterator[int]:
    """Yield the seeds of a random test: the usual ones, then new ones in ``make soak``.

    Each is printed, so that pytest shows the last one when the test fails."""
    for number in rounds(len(usual)):
        seed = usual[number] if number < len(usual) else any_seed(number)
        print(f"seed {seed}")
        yield seed
