"""A whole SELECT over loopback: our Arrow read, our PEP 249 cursor and informix-driver, side by side in one run.

The embedded server is the other end for all of them; what it costs is part of every figure. Rows per second are in
`extra_info`; compare the drivers with each other, not with other machines.
"""

from __future__ import annotations

import datetime

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from .conftest import Address

ROWS = 100_000
QUERY = "SELECT k, name, n, x, d FROM bench_read"


@pytest.fixture(scope="module")
def filled(address: Address) -> Address:
    """The server with `bench_read` in stores_demo."""
    with address.ours() as conn:
        cursor = conn.cursor()
        cursor.execute("CREATE TABLE bench_read (k INT, name VARCHAR(64), n INT, x FLOAT, d DATE)")
        day = datetime.date(2026, 1, 1)
        rows = [(i, f"customer number {i}", -i, i / 8, day) for i in range(ROWS)]
        cursor.executemany("INSERT INTO bench_read VALUES (?, ?, ?, ?, ?)", rows)
    return address


def report(benchmark: BenchmarkFixture) -> None:
    benchmark.extra_info["rows_per_second"] = round(ROWS / benchmark.stats.stats.median)


def test_read_arrow(benchmark: BenchmarkFixture, filled: Address) -> None:
    with filled.ours() as conn:
        table = benchmark.pedantic(conn.read_arrow, (QUERY,), rounds=10, warmup_rounds=1)
    assert table.num_rows == ROWS
    report(benchmark)


def test_read_by_our_cursor(benchmark: BenchmarkFixture, filled: Address) -> None:
    with filled.ours() as conn:
        cursor = conn.cursor()
        rows = benchmark.pedantic(lambda: cursor.execute(QUERY).fetchall(), rounds=10, warmup_rounds=1)
    assert len(rows) == ROWS
    report(benchmark)


def test_read_by_informix_driver(benchmark: BenchmarkFixture, filled: Address) -> None:
    conn = filled.informix_driver()
    try:
        cursor = conn.cursor()

        def read() -> list[tuple[object, ...]]:
            cursor.execute(QUERY)
            rows: list[tuple[object, ...]] = cursor.fetchall()
            return rows

        rows = benchmark.pedantic(read, rounds=10, warmup_rounds=1)
    finally:
        conn.close()
    assert len(rows) == ROWS
    report(benchmark)
