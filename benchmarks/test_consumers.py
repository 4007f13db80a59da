"""Polars and pandas through their own functions for databases, beside our own calls that do the same work.

Reading has to take 1.3 times as long as `read_arrow` at most, writing 1.5 times as long as `write_arrow`: measured in
turns with them, and said at the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import polars as pl
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx

from .measuring import measure
from .tables import SEED, seed_table

ROWS = 100_000
INTO = "bench_consumers"
READ_LIMIT, WRITE_LIMIT = 1.3, 1.5


@pytest.mark.parametrize("who", ["read_arrow", "pl.read_database", "pd.read_sql"])
def test_reading(
    benchmark: BenchmarkFixture, conn: ifx.Connection, seeded: Callable[[int], str], who: str
) -> None:
    assert type(conn).__module__ == "adbc_driver_informix.dbapi"  # else rows would be measured
    sql = f"SELECT k, name, n, x, d FROM {seeded(ROWS)}"
    ways: dict[str, Callable[[], int]] = {
        "read_arrow": lambda: conn.read_arrow(sql).num_rows,
        "pl.read_database": lambda: pl.read_database(sql, conn).height,
        "pd.read_sql": lambda: len(pd.read_sql(sql, conn, dtype_backend="pyarrow")),
    }
    beside = None if who == "read_arrow" else ("read_arrow", ways["read_arrow"])
    found = measure(benchmark, "frames: read 100,000 rows", who, ways[who], rows=ROWS, beside=beside)
    assert found == ROWS
    assert beside is None or benchmark.extra_info["times"] < READ_LIMIT


@pytest.mark.parametrize("who", ["write_arrow", "write_database", "to_sql"])
def test_writing(benchmark: BenchmarkFixture, conn: ifx.Connection, who: str) -> None:
    data = seed_table(ROWS)
    polars, pandas = pl.DataFrame(data), data.to_pandas(types_mapper=pd.ArrowDtype)
    ways: dict[str, Callable[[], object]] = {
        "write_arrow": lambda: conn.write_arrow(INTO, data),
        "write_database": lambda: polars.write_database(INTO, conn, if_table_exists="append"),
        "to_sql": lambda: pandas.to_sql(INTO, conn, index=False, if_exists="append"),
    }

    def emptied(way: Callable[[], object]) -> Callable[[], object]:
        def work() -> object:
            conn.execute(f"TRUNCATE TABLE {INTO}")
            return way()

        return work

    beside = None if who == "write_arrow" else ("write_arrow", emptied(ways["write_arrow"]))

    conn.execute(f"CREATE TABLE {INTO} ({SEED})")
    try:
        work = emptied(ways[who])
        measure(benchmark, "frames: load 100,000 rows", who, work, rows=ROWS, beside=beside)
        (stored,) = conn.read_arrow(f"SELECT COUNT(*) c, SUM(k + n) s FROM {INTO}").to_pylist()
    finally:
        conn.execute(f"DROP TABLE {INTO}")
    assert (stored["c"], stored["s"]) == (ROWS, 0)
    assert beside is None or benchmark.extra_info["times"] < WRITE_LIMIT
