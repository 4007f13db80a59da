"""One load by several connections: what the two ways cost beside one connection, against the same embedded server.

On one machine the server is the limit, and it takes one load with all its CPUs: the figures say what staging and
commits of each cost there, not what a real server gains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx

from .measuring import measure
from .tables import SEED, seed_table

ROWS = 1_000_000
WAYS: dict[str, dict[str, Any]] = {
    "one connection": {},
    "two connections, all or nothing": {"connections": 2},
    "two connections, commits of each": {"connections": 2, "commit_every": 100_000},
    "one connection with commits": {"commit_every": 100_000},
}


@pytest.fixture(scope="module")
def data() -> pa.Table:
    return seed_table(ROWS)


@pytest.fixture
def target(conn: ifx.Connection) -> Iterator[Callable[[], None]]:
    conn.execute(f"CREATE TABLE parallel_load ({SEED})")

    def check() -> None:
        found = conn.read_arrow("SELECT COUNT(*)::INT c, MIN(k) low, MAX(k) high FROM parallel_load")
        assert found.to_pylist() == [{"c": ROWS, "low": 0, "high": ROWS - 1}]

    yield check
    conn.execute("DROP TABLE parallel_load")


@pytest.mark.parametrize("way", WAYS)
def test_a_load_by_several_connections(
    benchmark: BenchmarkFixture,
    conn: ifx.Connection,
    data: pa.Table,
    target: Callable[[], None],
    way: str,
) -> None:
    def work() -> None:
        conn.write_arrow("parallel_load", data, mode="truncate", **WAYS[way])

    measure(benchmark, "a load of 1,000,000 rows", way, work, rows=ROWS)
    target()
