"""How costs grow: with rows and with columns, fitted as cost = a * n ** exponent.

An exponent of 1 is linear. One clearly above 1 for growing n means that something is done again and again.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx

from .tables import SEED, seed_table, wide

ROUNDS = 7


def fit(points: dict[int, float]) -> float:
    """The exponent: least squares through the logarithms of sizes and seconds."""
    x = [math.log(size) for size in points]
    y = [math.log(seconds) for seconds in points.values()]
    return statistics.linear_regression(x, y).slope


def medians(works: dict[int, Callable[[], object]]) -> dict[int, float]:
    """The median seconds of each work; all sizes in turns, so that a busy moment of the machine hits all of them."""
    samples: dict[int, list[float]] = {size: [] for size in works}
    for round_ in range(ROUNDS + 1):
        for size, work in works.items():
            began = time.perf_counter()
            work()
            if round_:
                samples[size].append(time.perf_counter() - began)
    return {size: statistics.median(found) for size, found in samples.items()}


def report(
    benchmark: BenchmarkFixture, what: str, works: dict[int, Callable[[], object]], growing: str
) -> None:
    points = medians(works)
    benchmark.group = "scaling"
    benchmark.pedantic(works[max(works)], rounds=10)
    sizes = sorted(points)
    last = math.log(points[sizes[-1]] / points[sizes[-2]]) / math.log(sizes[-1] / sizes[-2])
    benchmark.extra_info.update(
        subject=f"scaling with {growing}",
        who=what,
        exponent=fit(points),
        exponent_of_the_last_step=last,
        points={str(size): seconds for size, seconds in points.items()},
    )


def test_reading_by_rows(
    benchmark: BenchmarkFixture, conn: ifx.Connection, seeded: Callable[[int], str]
) -> None:
    works: dict[int, Callable[[], object]] = {}
    for rows in (10_000, 100_000, 1_000_000):
        sql = f"SELECT k, name, n, x, d FROM {seeded(rows)}"
        works[rows] = lambda sql=sql: conn.read_arrow(sql)
    report(benchmark, "read_arrow", works, "rows")


def test_loading_by_rows(benchmark: BenchmarkFixture, conn: ifx.Connection) -> None:
    conn.execute(f"CREATE TABLE bench_scaling ({SEED})")
    works: dict[int, Callable[[], object]] = {}
    for rows in (10_000, 100_000, 400_000):
        data = seed_table(rows)
        works[rows] = lambda data=data: conn.write_arrow("bench_scaling", data, mode="truncate")
    try:
        report(benchmark, "write_arrow", works, "rows")
    finally:
        conn.execute("DROP TABLE bench_scaling")


@pytest.mark.parametrize("rows", [5_000])
def test_reading_by_columns(benchmark: BenchmarkFixture, conn: ifx.Connection, rows: int) -> None:
    works: dict[int, Callable[[], object]] = {}
    for columns in (10, 40, 160):
        name = f"bench_scaling_{columns}"
        declared, data = wide(columns, rows)
        conn.execute(f"CREATE TABLE {name} ({declared})")
        conn.write_arrow(name, data)
        works[columns] = lambda name=name: conn.read_arrow(f"SELECT * FROM {name}")
    report(benchmark, "read_arrow", works, "columns")
