"""A whole SELECT over loopback: our Arrow read, our PEP 249 cursor and informix-driver, side by side in one run.

The embedded server is the other end for all of them, in a process of its own; what it costs is part of every figure.
Rows per second are in `extra_info`; compare the drivers with each other, not with other machines.
"""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx

ROWS = 100_000
QUERY = "SELECT k, name, n, x, d FROM bench_read"


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    """Host and port of an embedded server that holds `bench_read` in stores_demo."""
    command = [sys.executable, "-m", "informix_arrow.cli", "serve", "--port", "0"]
    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": "in4mix"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        ready = re.fullmatch(r"listening on (\S+):(\d+)\n", process.stdout.readline())
        assert ready is not None
        host, port = ready[1], int(ready[2])
        with ifx.connect(url(host, port)) as conn:
            cursor = conn.cursor()
            cursor.execute("CREATE TABLE bench_read (k INT, name VARCHAR(64), n INT, x FLOAT, d DATE)")
            day = datetime.date(2026, 1, 1)
            rows = [(i, f"customer number {i}", -i, i / 8, day) for i in range(ROWS)]
            cursor.executemany("INSERT INTO bench_read VALUES (?, ?, ?, ?, ?)", rows)
            conn.commit()
        yield host, port
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def url(host: str, port: int) -> str:
    return f"informix://informix:in4mix@{host}:{port}/stores_demo?server=informix"


def report(benchmark: BenchmarkFixture) -> None:
    median = benchmark.stats.stats.median
    benchmark.extra_info["rows_per_second"] = round(ROWS / median)


def test_read_arrow(benchmark: BenchmarkFixture, address: tuple[str, int]) -> None:
    with ifx.connect(url(*address)) as conn:
        table = benchmark.pedantic(conn.read_arrow, (QUERY,), rounds=10, warmup_rounds=1)
    assert table.num_rows == ROWS
    report(benchmark)


def test_cursor_fetchall(benchmark: BenchmarkFixture, address: tuple[str, int]) -> None:
    with ifx.connect(url(*address)) as conn:
        cursor = conn.cursor()
        rows = benchmark.pedantic(lambda: cursor.execute(QUERY).fetchall(), rounds=10, warmup_rounds=1)
    assert len(rows) == ROWS
    report(benchmark)


def test_informix_driver_fetchall(benchmark: BenchmarkFixture, address: tuple[str, int]) -> None:
    informix_db = pytest.importorskip("informix_db")
    host, port = address
    conn = informix_db.connect(
        host=host,
        port=port,
        user="informix",
        password="in4mix",
        database="stores_demo",
        server="informix",
        autocommit=True,
        client_locale="en_US.utf8",
    )
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
