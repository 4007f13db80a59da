"""Loading rows of INT, VARCHAR(64), INT, FLOAT, DATE, side by side in one run against one embedded server.

`write_arrow` by insert cursor and by pipeline, our executemany, informix-driver's, JDBC's addBatch with and without
IFX_USEPUT; the floor is the same PUT bytes into a socket that discards them. The server's work is part of every figure
but the floor's. What an autocommit costs per row, commits on the way, upsert and refused rows stand beside.
"""

from __future__ import annotations

import datetime as dt
import socket
import threading
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx
from informix_arrow._encode import Encoder
from informix_arrow.operations import executemany
from informix_arrow.wire.plan_ops import plan_op
from informix_arrow.wire.types import ColumnType

from .conftest import Address
from .measuring import measure
from .peers import jdbc
from .tables import SEED, seed_rows, seed_table

ROWS = 100_000
INTO = "bench_load"
SQL = f"INSERT INTO {INTO} VALUES (?, ?, ?, ?, ?)"
TYPES = [
    ColumnType.integer(),
    ColumnType.varchar(64),
    ColumnType.integer(),
    ColumnType.float_(),
    ColumnType.date(),
]


@pytest.fixture(scope="module")
def data() -> pa.Table:
    return seed_table(ROWS)


@pytest.fixture(scope="module")
def rows() -> list[tuple[object, ...]]:
    return seed_rows(ROWS)


@pytest.fixture(scope="module")
def put_groups(data: pa.Table) -> list[bytes]:
    """The load's SQ_PUT messages, in groups of about 1 MiB."""
    return encoded(data)


def encoded(data: pa.Table) -> list[bytes]:
    encoder = Encoder([plan_op(ct).as_tuple() for ct in TYPES], data.schema.names)
    encoder.load(*data.combine_chunks().to_batches()[0].__arrow_c_array__())
    groups = []
    while encoder.remaining:
        groups.append(encoder.encode(1 << 20, 1)[0])
    return groups


@pytest.fixture
def target(conn: ifx.Connection) -> Iterator[Callable[[int], None]]:
    """A fresh table; called at the end with the rows that one round puts there, it checks that all came."""
    conn.execute(f"CREATE TABLE {INTO} ({SEED})")

    def check(rows: int) -> None:
        found = conn.read_arrow(f"SELECT COUNT(*)::INT c, MIN(k) low, MAX(k) high FROM {INTO}").to_pylist()[0]
        assert found["c"] >= rows
        assert found["c"] % rows == 0
        assert (found["low"], found["high"]) == (0, rows - 1)

    yield check
    conn.execute(f"DROP TABLE {INTO}")


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_write_arrow(
    benchmark: BenchmarkFixture,
    conn: ifx.Connection,
    target: Callable[[int], None],
    data: pa.Table,
    method: Any,
) -> None:
    work = lambda: conn.write_arrow(INTO, data, method=method)  # noqa: E731
    measure(benchmark, "load 100,000 rows", f"write_arrow, {method}", work, rows=ROWS)
    target(ROWS)


def load_by_cursor(connection: Any, values: list[tuple[object, ...]]) -> Callable[[], object]:
    cursor = connection.cursor()

    def load() -> None:
        cursor.executemany(SQL, values)
        connection.commit()

    return load


@pytest.mark.parametrize("count", [100, 1_000, 10_000, ROWS])
@pytest.mark.parametrize("who", ["executemany", "informix-driver", "IfxPy"])
def test_executemany(
    benchmark: BenchmarkFixture,
    address: Address,
    target: Callable[[int], None],
    rows: list[tuple[object, ...]],
    who: str,
    count: int,
) -> None:
    opener = {"executemany": address.ours, "IfxPy": address.ifxpy}.get(who, address.informix_driver)
    connection: Any = opener()
    try:
        measure(benchmark, f"load {count:,} rows", who, load_by_cursor(connection, rows[:count]), rows=count)
    finally:
        connection.close()
    target(count)


def test_executemany_of_five_types(benchmark: BenchmarkFixture, address: Address) -> None:
    """INT, VARCHAR, DECIMAL, DATE and FLOAT, checked against their columns: `client_cpu_ns_per_row` is the figure."""
    count, day = 50_000, dt.date(2024, 1, 1)
    values = [
        (i, f"name {i}", Decimal(i) / 100, day + dt.timedelta(days=i % 999), i * 1.5) for i in range(count)
    ]
    with address.ours() as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TEMP TABLE five (a INT, b VARCHAR(40), c DECIMAL(12,2), d DATE, e FLOAT)")
        connection.commit()

        def load() -> None:
            cursor.executemany("INSERT INTO five VALUES (?, ?, ?, ?, ?)", values)
            connection.rollback()

        measure(benchmark, "load 50,000 rows of five types", "executemany", load, rows=count)


def _nothing_known(*_: object) -> Iterator[None]:
    """Replace the check of parameters, as if their types were unknown."""
    return None
    yield


def test_check_of_parameters(
    benchmark: BenchmarkFixture,
    monkeypatch: pytest.MonkeyPatch,
    address: Address,
    target: Callable[[int], None],
    rows: list[tuple[object, ...]],
) -> None:
    """Parameters held against their columns cost at most a tenth of `executemany`: CPU time, the least of rounds that
    take turns, as what else the machine does changes by the minute."""
    count, known = 20_000, executemany.parameter_check
    least = {True: float("inf"), False: float("inf")}
    with address.ours() as connection:
        cursor = connection.cursor()

        def load(checked: bool) -> None:
            monkeypatch.setattr(executemany, "parameter_check", known if checked else _nothing_known)
            began = time.process_time()
            cursor.executemany(SQL, rows[:count])
            least[checked] = min(least[checked], time.process_time() - began)
            connection.rollback()

        for round_ in range(20):
            load(round_ % 2 == 0)
            load(round_ % 2 == 1)
        cost = least[True] / least[False] - 1
        who = "executemany, its parameters checked"
        measure(benchmark, "load 20,000 rows", who, lambda: load(True), rows=count, check_costs=cost)
        cursor.executemany(SQL, rows[:count])
        connection.commit()
    target(count)
    assert cost <= 0.10


@pytest.mark.parametrize("who", ["executemany", "informix-driver", "write_arrow"])
def test_autocommit(
    benchmark: BenchmarkFixture,
    address: Address,
    conn: ifx.Connection,
    target: Callable[[int], None],
    rows: list[tuple[object, ...]],
    data: pa.Table,
    who: str,
) -> None:
    """Each row a transaction of its own; `write_arrow` makes one of all, whatever autocommit says."""
    count, subject = 1_000, "load 1,000 rows with autocommit"
    if who == "write_arrow":
        part = data.slice(0, count)
        measure(benchmark, subject, who, lambda: conn.write_arrow(INTO, part), rows=count)
    else:
        options = {"autocommit": True}
        connection: Any = (
            address.ours(**options) if who == "executemany" else address.informix_driver(**options)
        )
        try:
            cursor = connection.cursor()
            measure(benchmark, subject, who, lambda: cursor.executemany(SQL, rows[:count]), rows=count)
        finally:
            connection.close()
    target(count)


@pytest.mark.parametrize("who", ["execute", "informix-driver", "JDBC"])
def test_one_by_one(
    benchmark: BenchmarkFixture,
    request: pytest.FixtureRequest,
    address: Address,
    target: Callable[[int], None],
    rows: list[tuple[object, ...]],
    who: str,
) -> None:
    """200 INSERTs, a call and a round trip each, one transaction."""
    count, subject = 200, "insert 200 rows one by one"
    if who == "JDBC":
        peer = request.getfixturevalue("jdbc_peer")
        measure(benchmark, subject, who, lambda: peer.ask(f"each {count} {SQL}"), rows=count)
    else:
        connection: Any = address.ours() if who == "execute" else address.informix_driver()
        try:
            cursor = connection.cursor()

            def load() -> None:
                for row in rows[:count]:
                    cursor.execute(SQL, row)
                connection.commit()

            measure(benchmark, subject, who, load, rows=count)
        finally:
            connection.close()
    target(count)


@pytest.mark.parametrize("use_put", [0, 1], ids=["default", "IFX_USEPUT"])
def test_jdbc_batch(
    benchmark: BenchmarkFixture,
    address: Address,
    target: Callable[[int], None],
    java: tuple[str, str],
    use_put: int,
) -> None:
    peer = jdbc.JdbcPeer(*java, jdbc.url(address.host, address.port, IFX_USEPUT=use_put))
    try:
        for _ in range(3):  # the JVM's compiler
            peer.ask(f"batch {ROWS} 5000 {SQL}")
        who = "JDBC addBatch, IFX_USEPUT" if use_put else "JDBC addBatch"
        measure(benchmark, "load 100,000 rows", who, lambda: peer.ask(f"batch {ROWS} 5000 {SQL}"), rows=ROWS)
    finally:
        peer.close()
    target(ROWS)


def test_floor(benchmark: BenchmarkFixture, put_groups: list[bytes]) -> None:
    """The PUT groups, encoded beforehand, through loopback to a thread that throws them away."""
    listener = socket.create_server(("127.0.0.1", 0))

    def discard() -> None:
        sink, _ = listener.accept()
        with sink:
            hole = bytearray(1 << 20)
            while sink.recv_into(hole):
                pass

    thread = threading.Thread(target=discard, daemon=True)
    thread.start()
    with socket.create_connection(listener.getsockname()) as link:

        def load() -> None:
            for group in put_groups:
                link.sendall(group)

        measure(benchmark, "load 100,000 rows", "floor: the bytes discarded", load, rows=ROWS)
    thread.join()
    listener.close()


def test_encoding_alone(benchmark: BenchmarkFixture, data: pa.Table) -> None:
    measure(benchmark, "load 100,000 rows", "our encoding alone", lambda: encoded(data), rows=ROWS)


@pytest.mark.parametrize("every", [None, 1_000, 10_000])
def test_commit_every(
    benchmark: BenchmarkFixture,
    conn: ifx.Connection,
    target: Callable[[int], None],
    data: pa.Table,
    every: int | None,
) -> None:
    who = "one transaction" if every is None else f"commit_every={every:,}"
    work = lambda: conn.write_arrow(INTO, data, commit_every=every)  # noqa: E731
    measure(benchmark, "write_arrow by transaction size", who, work, rows=ROWS)
    target(ROWS)


@pytest.mark.parametrize("refused", [0, 1])
def test_refused_rows(
    benchmark: BenchmarkFixture, conn: ifx.Connection, data: pa.Table, refused: int
) -> None:
    """`on_error="collect"` with none or 1% of 20,000 rows refused by a CHECK constraint."""
    name, count = f"bench_refused_{refused}", 20_000
    conn.execute(f"CREATE TABLE {name} ({SEED}, CHECK (x >= 0))")
    part = data.slice(0, count)
    if refused:
        bad = pc.equal(pc.bit_wise_and(part["k"], 127), 0)  # 1 of 128
        part = part.set_column(3, "x", pc.if_else(bad, pa.scalar(-1.0), part["x"]))
    try:
        report: Any = measure(
            benchmark,
            "write_arrow 20,000 rows, collecting",
            "1% refused" if refused else "none refused",
            lambda: conn.write_arrow(name, part, on_error="collect"),
            rows=count,
        )
    finally:
        conn.execute(f"DROP TABLE {name}")
    assert report.rejected.num_rows == (157 if refused else 0)


def round_trips(connection: ifx.Connection, work: Callable[[], object]) -> int:
    """How often the connection waits for the server in ``work``."""
    seen: list[ifx.observing.Operation] = []
    connection.add_observer(seen.append)
    try:
        work()
    finally:
        connection.remove_observer(seen.append)
    return sum(each.round_trips for each in seen)


def dirty(data: pa.Table) -> pa.Table:
    """One row in fifty spoilt, in turn: a key that is there already, a text too long, a number that a CHECK refuses,
    one that is missing, a date that is none. Dates are text."""
    keys, names, numbers = (data[name].to_pylist() for name in ("k", "name", "n"))
    days = ["2026-01-01"] * len(keys)
    for turn, at in enumerate(range(25, len(keys), 50)):
        match turn % 5:
            case 0:
                keys[at] = keys[at - 1]
            case 1:
                names[at] = "x" * 65
            case 2:
                numbers[at] = 1
            case 3:
                numbers[at] = None
            case 4:
                days[at] = "no date"
    numbers32 = pa.array(numbers, pa.int32())
    return pa.table(
        {"k": pa.array(keys, pa.int32()), "name": names, "n": numbers32, "x": data["x"], "d": days}
    )


def test_dirty_load(benchmark: BenchmarkFixture, conn: ifx.Connection, data: pa.Table) -> None:
    """100,000 rows of which 2% are refused, for five reasons, beside as many of which none is: `times_a_clean_one`."""
    spoilt, refused = dirty(data), ROWS // 50
    clean = data.set_column(4, "d", pa.array(["2026-01-01"] * ROWS))
    conn.execute(
        "CREATE TABLE bench_dirty (k INT PRIMARY KEY, name VARCHAR(64), n INT NOT NULL CHECK (n <= 0), x FLOAT, d DATE)"
    )

    def load(rows: pa.Table) -> ifx.WriteReport:
        conn.execute("DELETE FROM bench_dirty")
        return conn.write_arrow("bench_dirty", rows, on_error="collect")

    try:
        took = []
        for _ in range(3):
            began = time.perf_counter()
            assert load(clean).rows == ROWS
            took.append(time.perf_counter() - began)
        trips = round_trips(conn, lambda: load(spoilt))
        report = measure(
            benchmark,
            "a dirty load",
            "2% refused",
            lambda: load(spoilt),
            rows=ROWS,
            rounds=1,
            round_trips=trips,
        )
        assert report.rejected.num_rows == refused
        benchmark.extra_info["times_a_clean_one"] = (
            benchmark.extra_info["ns_per_row"] * ROWS / 1e9 / min(took)
        )
    finally:
        conn.execute("DROP TABLE bench_dirty")


def test_small_batch(benchmark: BenchmarkFixture, conn: ifx.Connection, data: pa.Table) -> None:
    """Ten rows into a table that was loaded before: `round_trips` is what a slow link makes of it."""
    conn.execute(f"CREATE TEMP TABLE bench_small ({SEED})")
    part = data.slice(0, 10)
    work = lambda: conn.write_arrow("bench_small", part)  # noqa: E731
    work()
    trips = round_trips(conn, work)
    measure(benchmark, "load 10 rows", "write_arrow", work, rows=10, round_trips=trips)
    conn.execute("DROP TABLE bench_small")


def test_upsert(benchmark: BenchmarkFixture, conn: ifx.Connection, data: pa.Table) -> None:
    """10,000 rows, of which half are there."""
    name, count = "bench_upsert", 10_000
    conn.execute(f"CREATE TABLE {name} (k INT PRIMARY KEY, name VARCHAR(64), n INT, x FLOAT, d DATE)")
    try:
        conn.write_arrow(name, data.slice(0, count // 2))
        part = data.slice(0, count)
        work = lambda: conn.write_arrow(name, part, mode="upsert", key="k")  # noqa: E731
        measure(benchmark, "write_arrow 10,000 rows, upsert", "upsert", work, rows=count)
        assert conn.read_arrow(f"SELECT COUNT(*)::INT c FROM {name}").to_pylist() == [{"c": count}]
    finally:
        conn.execute(f"DROP TABLE {name}")
