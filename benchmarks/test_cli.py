"""The command line beside what it is made of: unload beside read_arrow and pyarrow's writer, load beside write_arrow.

Commands run in this process by main(argv), so that no interpreter start is measured. Memory of a query of many rows
is that of a process of its own: the whole resident set, Python and Arrow included.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx
from informix_arrow.cli import main

from .conftest import Address
from .measuring import measure
from .tables import SEED, seed_table

ROWS = 1_000_000
_NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def _login(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "INFORMIX_ARROW_URL", f"informix://informix@{address.host}:{address.port}/stores_demo?server=informix"
    )
    monkeypatch.setenv("INFORMIX_ARROW_PASSWORD", "in4mix")


@pytest.mark.parametrize("who", ["unload", "read_arrow and pyarrow"])
def test_unload_of_a_million_rows_to_parquet(
    benchmark: BenchmarkFixture,
    conn: ifx.Connection,
    seeded: Callable[[int], str],
    tmp_path: Path,
    who: str,
) -> None:
    table = seeded(ROWS)

    def unload() -> None:
        assert main(["unload", table, "-o", str(tmp_path / f"{next(_NUMBERS)}.parquet")]) == 0

    def by_hand() -> None:
        pq.write_table(conn.read_arrow(f"SELECT * FROM {table}"), tmp_path / f"{next(_NUMBERS)}.parquet")

    measure(
        benchmark,
        "unload of 1,000,000 rows to Parquet",
        who,
        unload if who == "unload" else by_hand,
        rows=ROWS,
    )


@pytest.mark.parametrize("who", ["load", "write_arrow"])
def test_load_of_a_million_rows_from_parquet(
    benchmark: BenchmarkFixture, conn: ifx.Connection, tmp_path: Path, who: str
) -> None:
    data = seed_table(ROWS)
    path = tmp_path / "x.parquet"
    pq.write_table(data, path)
    conn.execute("DROP TABLE IF EXISTS bench_cli")
    conn.execute(f"CREATE TABLE bench_cli ({SEED})")

    def load() -> None:
        assert main(["load", "bench_cli", str(path), "--mode", "truncate"]) == 0

    def by_hand() -> None:
        conn.write_arrow("bench_cli", pq.read_table(path), mode="truncate")

    measure(
        benchmark, "load of 1,000,000 rows from Parquet", who, load if who == "load" else by_hand, rows=ROWS
    )


@pytest.mark.skipif(
    "INFORMIX_ARROW_BENCH_LARGE" not in os.environ, reason="takes a minute and gigabytes on the server"
)
def test_memory_of_a_query_of_ten_million_rows(
    benchmark: BenchmarkFixture, seeded: Callable[[int], str], tmp_path: Path
) -> None:
    table = seeded(10_000_000)
    program = (
        "import re, sys; from informix_arrow.cli import main; code = main(sys.argv[1:]); "
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) * 1024 / 1e6); sys.exit(code)"
    )

    def query() -> float:
        path = tmp_path / f"{next(_NUMBERS)}.parquet"
        words = ["query", f"SELECT * FROM {table}", "-o", str(path)]
        done = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
        )
        path.unlink()
        return float(done.stdout)

    benchmark.group = "memory"
    peak = benchmark.pedantic(query, rounds=2)
    benchmark.extra_info.update(
        subject="memory of a query of 10,000,000 rows into Parquet", who="query", peak_mb=peak
    )
    assert peak < 150
