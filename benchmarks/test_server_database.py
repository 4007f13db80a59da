"""What a database of the embedded server costs a test that wants one of its own: made and dropped."""

from __future__ import annotations

import itertools

from pytest_benchmark.fixture import BenchmarkFixture

from informix_arrow.server import Server


def test_create_and_drop_a_database(benchmark: BenchmarkFixture) -> None:
    """The goal is 15 ms; what CREATE DATABASE writes is the same for all databases, and is written as a whole."""
    numbers = itertools.count()
    with Server() as server:

        def make_and_drop() -> None:
            name = f"fresh_{next(numbers)}"
            server.create_database(name)
            server.drop_database(name)

        benchmark.pedantic(make_and_drop, rounds=60, warmup_rounds=5)
