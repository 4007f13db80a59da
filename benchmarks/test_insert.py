"""Parametrised INSERTs in one transaction: our `executemany` and informix-driver's, side by side in one run.

The embedded server does most of the work in both figures. The bulk path is another subject.
"""

from __future__ import annotations

import datetime
from typing import Any

from pytest_benchmark.fixture import BenchmarkFixture

from .conftest import Address

ROWS = 20_000
DAY = datetime.date(2026, 1, 1)
VALUES = [(i, f"customer number {i}", -i, i / 8, DAY) for i in range(ROWS)]


def load(benchmark: BenchmarkFixture, conn: Any) -> None:
    try:
        cursor = conn.cursor()
        cursor.execute("CREATE TEMP TABLE bench_insert (k INT, name VARCHAR(64), n INT, x FLOAT, d DATE)")

        def insert() -> None:
            cursor.executemany("INSERT INTO bench_insert VALUES (?, ?, ?, ?, ?)", VALUES)
            conn.commit()

        benchmark.pedantic(insert, rounds=10, warmup_rounds=1)
        cursor.execute("SELECT COUNT(*) FROM bench_insert")
        assert cursor.fetchone() == (11 * ROWS,)
    finally:
        conn.close()
    benchmark.extra_info["rows_per_second"] = round(ROWS / benchmark.stats.stats.median)


def test_insert_by_our_executemany(benchmark: BenchmarkFixture, address: Address) -> None:
    load(benchmark, address.ours())


def test_insert_by_informix_driver(benchmark: BenchmarkFixture, address: Address) -> None:
    load(benchmark, address.informix_driver())
