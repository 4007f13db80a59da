"""How long random work goes on: a moment in ``make test``, INFORMIX_ARROW_SOAK_SECONDS a test in ``make soak``.

`make soak` also runs the tests that draw their values with many more examples: soak/test_repeated_runs.py sets
INFORMIX_ARROW_EXAMPLES. `make test-fast` sets it to less than 1."""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Iterator

import pytest

#: Of each test that is marked ``soak``; 0 outside of ``make soak``.
SECONDS = float(os.environ.get("INFORMIX_ARROW_SOAK_SECONDS") or 0)

#: Where random work begins, the same each time, as in CI: what only chance finds is found by `make soak`, not by who
#: has changed something else. None: another place each time.
SEED = int(os.environ["INFORMIX_ARROW_SEED"]) if os.environ.get("INFORMIX_ARROW_SEED") else None

#: A soak that has time: CI's has a few seconds for each test, and repeats nothing that `make test` has just run.
LONG = SECONDS >= 60

#: Marks of a test that `make test` has a smaller form of.
LONG_SOAK_ONLY = (
    pytest.mark.soak,
    pytest.mark.skipif(not LONG, reason="`make test` has a smaller form of it; this one is for a long soak"),
)

#: How many times as many examples are drawn as in ``make test``.
MORE_EXAMPLES = float(os.environ.get("INFORMIX_ARROW_EXAMPLES") or (10 if LONG else 1))


def examples(usual: int) -> int:
    """How many examples are drawn: ``usual`` in ``make test``, ten times as many in a long ``make soak``, a part in
    ``make test-fast``."""
    return max(1, round(usual * MORE_EXAMPLES))


def seconds(usual: float) -> float:
    """For how long a test goes on: ``usual`` seconds in ``make test``."""
    return SECONDS or usual


def rounds(usual: int) -> Iterator[int]:
    """Numbers of rounds from 0 on: ``usual`` of them in ``make test``, at least one of them and for as long as the time
    lasts in ``make soak``."""
    if not SECONDS:
        yield from range(usual)
        return
    ends = time.monotonic() + SECONDS
    for number in itertools.count():
        yield number
        if time.monotonic() >= ends:
            return


def any_seed(salt: int = 0) -> int:
    """A seed that nobody has seen before; the same each time where SEED is set. Print it, or say it in the error."""
    return random.SystemRandom().randrange(1 << 32) if SEED is None else SEED + salt


def seeds(*usual: int) -> Iterator[int]:
    """Seeds of random work: the usual ones, which are all in ``make test``, then new ones in ``make soak``.
    Each is printed: pytest shows the last one when the test fails."""
    for number in rounds(len(usual)):
        seed = usual[number] if number < len(usual) else any_seed(number)
        print(f"seed {seed}")
        yield seed
