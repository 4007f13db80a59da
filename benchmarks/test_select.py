"""Reading: our Arrow read, our cursor, informix-driver and IBM's JDBC driver, side by side against one embedded server;
and our read of a recorded dialogue beside the plain draining of the same bytes.

The embedded server's work is part of every live figure, the same for all. 10,000,000 rows only with
INFORMIX_ARROW_BENCH_LARGE=1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx

from .conftest import Address
from .dialogue import Dialogue, Replay, drain, record
from .measuring import measure
from .peers.jdbc import JdbcPeer
from .tables import mixture, wide

COLUMNS = "k, name, n, x, d"
LARGE = [10_000_000] if os.environ.get("INFORMIX_ARROW_BENCH_LARGE") else []
SIZES = [1, 10, 1_000, 10_000, 100_000, 1_000_000, *LARGE]
PYTHON_ROWS = 100_000  # beyond that, Python rows take long and say nothing new
SHAPES = 20_000  # rows of wide tables and mixtures

Seeded = Callable[[int], str]


def rows_of(cursor: Any, sql: str) -> int:
    cursor.execute(sql)
    return len(cursor.fetchall())


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("who", ["read_arrow", "cursor", "informix-driver", "JDBC", "IfxPy"])
def test_rows(
    benchmark: BenchmarkFixture,
    request: pytest.FixtureRequest,
    address: Address,
    conn: ifx.Connection,
    seeded: Seeded,
    who: str,
    rows: int,
) -> None:
    if who in ("cursor", "informix-driver", "IfxPy") and rows > PYTHON_ROWS:
        pytest.skip("Python rows are measured up to 100,000")
    if who == "JDBC" and rows in LARGE:
        pytest.skip("takes JDBC minutes and says nothing new")
    sql = f"SELECT {COLUMNS} FROM {seeded(rows)}"
    work: Callable[[], object]
    if who == "read_arrow":
        work = lambda: conn.read_arrow(sql).num_rows  # noqa: E731
    elif who == "cursor":
        cursor = conn.cursor()
        work = lambda: rows_of(cursor, sql)  # noqa: E731
    elif who == "informix-driver":
        theirs = request.getfixturevalue("driver").cursor()
        work = lambda: rows_of(theirs, sql)  # noqa: E731
    elif who == "IfxPy":
        ibm = address.ifxpy().cursor()
        work = lambda: rows_of(ibm, sql)  # noqa: E731
    else:
        peer: JdbcPeer = request.getfixturevalue("jdbc_peer")
        for _ in range(3 if rows > 10_000 else 20):  # the JVM's compiler
            peer.ask(f"read {sql}")
        work = lambda: int(peer.ask(f"read {sql}"))  # noqa: E731
    assert measure(benchmark, f"read {rows:,} rows", who, work, rows=rows, size=rows) == rows


@pytest.mark.parametrize("columns", [5, 20, 50, 100])
@pytest.mark.parametrize("who", ["read_arrow", "informix-driver", "JDBC"])
def test_columns(
    benchmark: BenchmarkFixture, request: pytest.FixtureRequest, conn: ifx.Connection, who: str, columns: int
) -> None:
    name = f"bench_wide_{columns}"
    if not conn.read_arrow("SELECT tabid FROM systables WHERE tabname = ?", (name,)).num_rows:
        declared, data = wide(columns, SHAPES)
        conn.execute(f"CREATE TABLE {name} ({declared})")
        conn.write_arrow(name, data)
    read_shape(benchmark, request, conn, who, f"read {columns} columns", name, columns=columns)


@pytest.mark.parametrize("kind", ["every type", "short text", "long text", "mostly NULL"])
@pytest.mark.parametrize("who", ["read_arrow", "informix-driver", "JDBC"])
def test_kinds(
    benchmark: BenchmarkFixture, request: pytest.FixtureRequest, conn: ifx.Connection, who: str, kind: str
) -> None:
    name = f"bench_{kind.replace(' ', '_').lower()}"
    if not conn.read_arrow("SELECT tabid FROM systables WHERE tabname = ?", (name,)).num_rows:
        declared, data = mixture(kind, SHAPES)
        conn.execute(f"CREATE TABLE {name} ({declared})")
        conn.write_arrow(name, data)
    read_shape(benchmark, request, conn, who, f"read {kind}", name)


def read_shape(
    benchmark: BenchmarkFixture,
    request: pytest.FixtureRequest,
    conn: ifx.Connection,
    who: str,
    subject: str,
    table: str,
    **facts: object,
) -> None:
    """SHAPES rows of a table, by one of three."""
    sql = f"SELECT * FROM {table}"
    if who == "read_arrow":
        found = measure(benchmark, subject, who, lambda: conn.read_arrow(sql).num_rows, rows=SHAPES, **facts)
    elif who == "informix-driver":
        cursor = request.getfixturevalue("driver").cursor()
        found = measure(benchmark, subject, who, lambda: rows_of(cursor, sql), rows=SHAPES, **facts)
    else:
        peer: JdbcPeer = request.getfixturevalue("jdbc_peer")
        for _ in range(5):
            peer.ask(f"read {sql}")
        found = measure(benchmark, subject, who, lambda: int(peer.ask(f"read {sql}")), rows=SHAPES, **facts)
    assert found == SHAPES


@pytest.mark.parametrize("size", [4096, 32767, 262144, 1 << 20, 4 << 20])
def test_fetch_buffer(benchmark: BenchmarkFixture, address: Address, seeded: Seeded, size: int) -> None:
    sql = f"SELECT {COLUMNS} FROM {seeded(100_000)}"
    with address.ours(fetch_buffer_size=size) as conn:
        found = measure(
            benchmark,
            "read 100,000 rows by the size of the fetch buffer",
            f"{size >> 10} KiB",
            lambda: conn.read_arrow(sql).num_rows,
            rows=100_000,
            fetch_buffer=size,
        )
    assert found == 100_000


@pytest.mark.parametrize("into", ["Arrow", "Python rows", "Polars", "pandas", "DuckDB"])
def test_into(benchmark: BenchmarkFixture, conn: ifx.Connection, seeded: Seeded, into: str) -> None:
    sql = f"SELECT {COLUMNS} FROM {seeded(100_000)}"

    def work() -> int:
        if into == "Arrow":
            return int(conn.read_arrow(sql).num_rows)
        if into == "Python rows":
            return rows_of(conn.cursor(), sql)
        if into == "Polars":
            polars = pytest.importorskip("polars")
            return int(polars.DataFrame(conn.query(sql)).height)
        if into == "pandas":
            pytest.importorskip("pandas")
            return len(conn.read_arrow(sql).to_pandas())
        duckdb = pytest.importorskip("duckdb")
        result = conn.query(sql)
        return int(duckdb.from_arrow(result).aggregate("count(*), sum(x)").fetchall()[0][0])

    assert measure(benchmark, "read 100,000 rows into", into, work, rows=100_000) == 100_000


@pytest.mark.parametrize("who", ["read_arrow", "informix-driver"])
def test_large_objects(
    benchmark: BenchmarkFixture, request: pytest.FixtureRequest, conn: ifx.Connection, who: str
) -> None:
    name, rows = "bench_text", 500
    if not conn.read_arrow("SELECT tabid FROM systables WHERE tabname = ?", (name,)).num_rows:
        conn.execute(f"CREATE TABLE {name} (k INT, t TEXT IN blobspace1)")
        cursor = conn.cursor()
        cursor.executemany(f"INSERT INTO {name} VALUES (?, ?)", [(i, b"text " * 1000) for i in range(rows)])
    sql = f"SELECT k, t FROM {name}"
    if who == "read_arrow":
        work: Callable[[], int] = lambda: int(conn.read_arrow(sql).num_rows)  # noqa: E731
    else:
        theirs = request.getfixturevalue("driver").cursor()
        work = lambda: rows_of(theirs, sql)  # noqa: E731
    assert measure(benchmark, "read 500 TEXTs of 5,000 bytes", who, work, rows=rows) == rows


@pytest.fixture(scope="module")
def recorded(address: Address, seeded: Seeded) -> Dialogue:
    """A whole session that reads 1,000,000 rows."""
    sql = f"SELECT {COLUMNS} FROM {seeded(1_000_000)}"
    return record((address.host, address.port), lambda host, port: read_session((host, port), sql))


@pytest.fixture(scope="module")
def replay(recorded: Dialogue) -> Iterator[Replay]:
    with Replay(recorded) as running:
        yield running


def read_session(address: tuple[str, int], sql: str) -> int:
    """Connect, read, leave."""
    with Address(*address).ours(autocommit=True) as conn:
        return int(conn.read_arrow(sql).num_rows)


@pytest.mark.parametrize("who", ["read_arrow", "floor: the bytes drained"])
def test_recorded(
    benchmark: BenchmarkFixture, recorded: Dialogue, replay: Replay, seeded: Seeded, who: str
) -> None:
    """No server's work in these two: the same bytes, from a process that only sends."""
    sql = f"SELECT {COLUMNS} FROM {seeded(1_000_000)}"
    facts = {"mb": recorded.reply_bytes / 1e6}
    if who == "read_arrow":
        work = lambda: read_session(replay.address, sql)  # noqa: E731
        expected = 1_000_000
    else:
        work = lambda: drain(recorded, replay.address)  # noqa: E731
        expected = recorded.reply_bytes
    found = measure(
        benchmark, "read 1,000,000 rows of a recorded dialogue", who, work, rows=1_000_000, rounds=20, **facts
    )
    assert found == expected
