"""What the embedded server adds to DuckDB in small things: its CPU for one row, and the time to the first row of many.

Side by side: each execution through the server is followed by one of the same text on a DuckDB of the benchmark's own,
so both find the machine in the same state. The server's CPU is that of its process, all threads; DuckDB's that of the
benchmark's process while DuckDB works. Figures are the medians of rounds, in milliseconds an execution.

    python -m pytest benchmarks/test_server_small.py -s --benchmark-only
"""

from __future__ import annotations

import itertools
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import duckdb
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx

from .conftest import Address

ROWS = 1000
EXECUTIONS, ROUNDS = 100, 30
SIDE = 3163
"""Of a square of 10,000,000 rows."""

Parameters = Callable[[int], tuple[object, ...]]
_fresh = itertools.count(ROWS)
STATEMENTS: dict[str, tuple[str, Parameters]] = {
    "SELECT by key": ("SELECT id, name, n FROM small WHERE id = ?", lambda i: (i % ROWS,)),
    "INSERT": ("INSERT INTO small VALUES (?, ?, ?)", lambda i: (next(_fresh), "abc", i)),
    "UPDATE by key": ("UPDATE small SET n = ? WHERE id = ?", lambda i: (i, i % ROWS)),
    "DELETE by key": ("DELETE FROM small WHERE id = ?", lambda i: (-i - 1,)),
}


class Served:
    """A server of its own, and its clock."""

    def __init__(self, process: subprocess.Popen[str], address: Address) -> None:
        self.address = address
        self._clock = (~process.pid << 3) | 2  # as clock_getcpuclockid(3) makes it

    def cpu(self) -> float:
        """Seconds of CPU that the server has used."""
        return time.clock_gettime(self._clock)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    if not sys.platform.startswith("linux"):
        pytest.skip("another process's CPU clock is Linux's")
    command = [sys.executable, "-m", "informix_arrow.cli", "serve", "--port", "0"]
    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": "in4mix"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            ready = re.fullmatch(r"listening on (\S+):(\d+)\n", process.stdout.readline())
            assert ready is not None
            yield Served(process, Address(ready[1], int(ready[2])))
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[ifx.Connection]:
    with served.address.ours(autocommit=True) as connection:
        connection.execute("CREATE TABLE small (id INTEGER PRIMARY KEY, name VARCHAR(20), n INTEGER)")
        connection.cursor().executemany("INSERT INTO small VALUES (?, ?, ?)", _seed())
        yield connection


@pytest.fixture(scope="module")
def alone() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE small (id INTEGER PRIMARY KEY, name VARCHAR, n INTEGER)")
        connection.executemany("INSERT INTO small VALUES (?, ?, ?)", _seed())
        yield connection


def _seed() -> list[tuple[object, ...]]:
    return [(i, f"row {i}", i) for i in range(ROWS)]


@pytest.mark.parametrize("what", STATEMENTS)
def test_small_statement(
    benchmark: BenchmarkFixture,
    served: Served,
    client: ifx.Connection,
    alone: duckdb.DuckDBPyConnection,
    what: str,
) -> None:
    """The goal is 0.25 ms of CPU above DuckDB alone."""
    sql, parameters = STATEMENTS[what]
    cursor = client.cursor()
    figures: list[tuple[float, float]] = []

    def one_round() -> None:
        server = duck = 0.0
        for i in range(EXECUTIONS):
            values = parameters(i)
            began = served.cpu()
            cursor.execute(sql, values)
            if cursor.description:
                cursor.fetchall()
            server += served.cpu() - began
            began = time.process_time()
            alone.execute(sql, values).fetchall()
            duck += time.process_time() - began
        figures.append((server / EXECUTIONS * 1e3, duck / EXECUTIONS * 1e3))

    benchmark.group = "CPU of one small statement"
    benchmark.pedantic(one_round, rounds=ROUNDS, warmup_rounds=1)
    ours, theirs = (statistics.median(side) for side in zip(*figures[1:], strict=True))
    above = statistics.median(server - duck for server, duck in figures[1:])
    benchmark.extra_info.update(server_ms=ours, duckdb_ms=theirs, above_ms=above)
    print(f"\n{what}: server {ours:.3f} ms, DuckDB alone {theirs:.3f} ms, above it {above:+.3f} ms")


def test_first_row_of_ten_million(benchmark: BenchmarkFixture, served: Served) -> None:
    """From the execution of a prepared query until its first row is there. The goal is 50 ms."""
    with served.address.ours(autocommit=True) as connection:
        connection.execute("CREATE TEMP TABLE digits (d INTEGER)")
        connection.cursor().executemany("INSERT INTO digits VALUES (?)", [(i,) for i in range(SIDE)])
        sql = "SELECT a.d a, b.d b, 'some text' t FROM digits a, digits b"

        cursors = [connection.cursor()]

        def again() -> None:
            cursors.pop().close()  # what was sent ahead is read by that
            cursors.append(connection.cursor())

        def first() -> None:
            cursors[0].execute(sql)
            assert cursors[0].fetchone() is not None

        benchmark.group = "first row of 10,000,000"
        benchmark.pedantic(first, setup=again, rounds=20)
        again()
