"""Fetch windows over a link with a delay of 20 ms: every way of reading, and every way of stopping."""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from benchmarks.link import SlowLink
from tests.fault_proxy import Fault, FaultProxy

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.observing import Operation, add_observer, remove_observer
from informix_arrow.server import Server
from informix_arrow.wire import messages as m

from .aio_support import run
from .raw import EOT, RawClient

ROWS = 12_000
FETCH = 4096  # bytes: about 160 replies
TRIP = 0.02
TABLE = "distance_rows"
ALL = f"SELECT k, name, note, day, sentinel FROM {TABLE} ORDER BY k"

LONG = f"SELECT a.k, b.name, a.sentinel FROM {TABLE} a, {TABLE} b WHERE b.k < 150"  # 1,800,000 rows


def name_of(k: int) -> str | None:
    """Return texts that are empty, NULL, of odd and even lengths, with letters of one and two bytes."""
    return None if k % 11 == 0 else "é" * (k % 3) + "x" * (k % 17)


@pytest.fixture(scope="module")
def data(server: Server) -> pa.Table:
    numbers = range(ROWS)
    table = pa.table(
        {
            "k": pa.array(numbers, pa.int32()),
            "name": [name_of(k) for k in numbers],
            "note": [None if k % 2 else f"note {k}" for k in numbers],
            "day": [None if k % 7 == 0 else dt.date(1999, 12, 31) + dt.timedelta(k % 900) for k in numbers],
            "sentinel": pa.array([12345] * ROWS, pa.int32()),
        }
    )
    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        conn.execute(f"DROP TABLE IF EXISTS {TABLE}")
        conn.execute(
            f"CREATE TABLE {TABLE} (k INT PRIMARY KEY, name VARCHAR(40), note CHAR(12), day DATE, sentinel INT)"
        )
        conn.write_arrow(TABLE, table)
        return conn.read_arrow(ALL)


@pytest.fixture
def link(server: Server, data: pa.Table) -> Iterator[SlowLink]:
    with SlowLink(server.address, TRIP) as slow:
        yield slow


def through(link: SlowLink, server: Server) -> str:
    host, port = server.address
    return server.url("stores_demo").replace(f"{host}:{port}", f"127.0.0.1:{link.address[1]}")


@pytest.fixture
def url(link: SlowLink, server: Server) -> str:
    return through(link, server)


def connect(url: str, **options: Any) -> ifx.Connection:
    return ifx.connect(url, autocommit=True, **{"fetch_buffer_size": FETCH, **options})


def answers(conn: ifx.Connection) -> bool:
    return bool(conn.read_arrow("SELECT 7 n FROM systables WHERE tabid = 1")["n"].to_pylist() == [7])


def by_cursor(conn: ifx.Connection) -> list[Any]:
    with conn.cursor() as cursor:
        cursor.execute(ALL)
        return [*cursor.fetchmany(10), cursor.fetchone(), *cursor.fetchall()]


READS: dict[str, Callable[[ifx.Connection], Any]] = {
    "read_arrow": lambda conn: conn.read_arrow(ALL).to_pylist(),
    "query": lambda conn: [
        row for batch in conn.query(ALL, batch_rows=777).batches() for row in batch.to_pylist()
    ],
    "cursor": lambda conn: [
        dict(zip(("k", "name", "note", "day", "sentinel"), row, strict=True)) for row in by_cursor(conn)
    ],
    "partitions": lambda conn: (
        conn.read_arrow(TABLE, partition_on="k", partition_num=2)
        .select(["k", "name", "note", "day", "sentinel"])
        .sort_by("k")
        .to_pylist()
    ),
}


@pytest.mark.parametrize("way", READS)
@pytest.mark.parametrize("window", [0, 3 * FETCH, 64 << 20])
def test_each_way_of_reading_gets_every_row_once(
    link: SlowLink, url: str, data: pa.Table, way: str, window: int
) -> None:
    if window == 0 and way != "query":
        pytest.skip("a round trip for each of 160 replies: once is enough")
    with connect(url, fetch_window_bytes=window) as conn:
        before = link.round_trips
        assert READS[way](conn) == data.to_pylist()
        trips = link.round_trips - before
        assert (trips > 100) if window == 0 else (trips < (100 if window < 10 * FETCH else 80))
        assert answers(conn)


def test_aio_gets_every_row_once(link: SlowLink, url: str, data: pa.Table) -> None:
    async def main() -> None:
        async with aio.connect(url, autocommit=True, fetch_buffer_size=FETCH) as conn:
            before = link.round_trips
            assert (await conn.read_arrow(ALL)).equals(data)
            assert link.round_trips - before < 80
            async with conn.query(ALL, batch_rows=500) as result:
                first = [await anext(result.batches())]
            assert first[0].num_rows == 500
            assert (await conn.read_arrow(ALL)).equals(data)

    run(main)


def test_two_results_in_turns_and_statements_between_them(url: str, data: pa.Table) -> None:
    with connect(url) as conn:
        one, two = conn.query(ALL, batch_rows=1600), conn.query(ALL, batch_rows=1600)
        pairs = []
        for pair in zip(one.batches(), two.batches(), strict=True):
            assert answers(conn)
            pairs.append(pair)
        for side in zip(*pairs, strict=True):
            assert pa.Table.from_batches(side).equals(data)


@pytest.mark.parametrize("batches", range(0, 61, 3))
def test_a_result_that_is_left_anywhere_leaves_the_connection_usable(
    url: str, data: pa.Table, batches: int
) -> None:
    with connect(url) as conn:
        with conn.query(ALL, batch_rows=200) as result:
            taken = list(itertools.islice(result.batches(), batches))
        assert sum(batch.num_rows for batch in taken) == min(ROWS, 200 * len(taken))
        assert answers(conn)
        assert conn.read_arrow(f"SELECT COUNT(*) n FROM {TABLE}")["n"].to_pylist() == [ROWS]


def test_a_connection_is_closed_while_rows_are_on_their_way(url: str, data: pa.Table) -> None:
    conn = connect(url)
    batches = conn.query(ALL, batch_rows=5000).batches()
    next(batches)
    conn.close()
    with pytest.raises(ifx.InterfaceError, match="closed"):
        next(batches)


@pytest.mark.parametrize("after", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_a_read_that_is_cancelled_anywhere_ends_and_the_connection_is_usable(
    url: str, data: pa.Table, after: float
) -> None:
    """The test cancels until the read ends: a cancel while the query is opened may have nothing to interrupt."""
    with connect(url) as conn:
        ended = threading.Event()

        def cancel() -> None:
            wait = TRIP * 2 + after
            while not ended.wait(wait):
                conn.cancel()
                wait = 0.5

        canceller = threading.Thread(target=cancel)
        canceller.start()
        try:
            with pytest.raises(ifx.OperationalError) as caught:
                conn.read_arrow(LONG)
        finally:
            ended.set()
            canceller.join()
        assert type(caught.value).__name__ == "QueryCanceled"
        assert answers(conn)
        assert conn.read_arrow(ALL).equals(data)


def test_a_time_limit_ends_a_read_and_the_connection_is_usable(url: str, data: pa.Table) -> None:
    with connect(url) as conn:
        with pytest.raises(ifx.OperationalError) as caught:
            conn.read_arrow(LONG, timeout=0.3)
        assert type(caught.value).__name__ == "QueryTimeout"
        assert answers(conn)
        assert conn.read_arrow(ALL).equals(data)


def test_a_cancelled_task_leaves_the_connection_usable(url: str, data: pa.Table) -> None:
    async def main() -> None:
        async with aio.connect(url, autocommit=True, fetch_buffer_size=FETCH) as conn:
            for after in (0.05, 0.15, 0.3):
                task = asyncio.create_task(conn.read_arrow(LONG))
                await asyncio.sleep(after)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert (await conn.read_arrow(ALL)).equals(data)

    run(main)


@pytest.mark.parametrize("action", ["cut", "reset"])
@pytest.mark.parametrize("after", [5_000, 20_000, 100_000, 200_000, 400_000])
def test_a_link_that_breaks_is_an_error_and_a_closed_connection(
    server: Server, link: SlowLink, data: pa.Table, after: int, action: Any
) -> None:
    with FaultProxy(link.address) as proxy:
        proxy.fault = Fault("server", after, action)
        conn = connect(server.url("stores_demo"), host=proxy.host, port=proxy.port)
        with pytest.raises(ifx.OperationalError):
            conn.read_arrow(ALL)
        assert conn.closed


def test_an_error_in_the_middle_comes_behind_the_rows_before_it(url: str, data: pa.Table) -> None:
    """The error is raised once, however many fetches were sent. Names with letters of two bytes are not ASCII."""
    sql = f"SELECT k, name FROM {TABLE} WHERE MOD(k, 3) = 0 OR k > 10000 ORDER BY k"
    with connect(url, encoding="ascii") as conn:
        batches = conn.query(sql, batch_rows=100).batches()
        rows: list[int] = []
        with pytest.raises(ifx.DataError) as caught:
            rows.extend(k for batch in batches for k in batch["k"].to_pylist())
        assert caught.value.column == "name"
        assert rows == list(range(0, 10000, 3))
        assert answers(conn)


SMALL = [
    "SELECT 1 n FROM systables WHERE tabid = 1",
    f"SELECT k, name FROM {TABLE} WHERE k < 1",
    f"SELECT k, name FROM {TABLE} WHERE k < 100",
    f"SELECT k, name FROM {TABLE} WHERE k < 0",
]


@pytest.mark.parametrize("sql", SMALL)
def test_small_results_cost_what_they_cost_without_a_window(link: SlowLink, url: str, sql: str) -> None:
    """Round trips and bytes in both directions equal those without a window, for the first and for later executions."""
    costs = []
    for window in (1, 64 << 20):
        seen: list[tuple[int, int, int]] = []

        def note(operation: Operation, seen: list[tuple[int, int, int]] = seen) -> None:
            seen.append((operation.round_trips, operation.bytes_sent, operation.bytes_received))

        with connect(url, fetch_window_bytes=window, fetch_buffer_size=1 << 20) as conn:
            add_observer(note)
            try:
                before = link.round_trips
                for _ in range(3):
                    conn.read_arrow(sql)
                    conn.execute(sql).fetchall()
                costs.append((link.round_trips - before, seen))
            finally:
                remove_observer(note)
    assert costs[0] == costs[1]


# ---- the embedded server ----------------------------------------------------------------------------------------


def fetches(client: RawClient, statement: int, count: int) -> bytes:
    group = b"".join(message.encode(client.framing) for message in (m.Id(statement), m.Fetch(FETCH), EOT))
    return group * count


def opened(client: RawClient, sql: str) -> int:
    statement = client.prepare(sql).statement_id
    client.ask(m.Id(statement), m.CursorName("_ifxc0000000000001"), m.Open())
    return statement


def tuples(group: list[m.Message]) -> list[int]:
    return [int.from_bytes(each.payload[:4], "big") for each in group if isinstance(each, m.Tuple)]


def test_the_server_answers_fetches_ahead_in_order_and_behind_the_end(server: Server, data: pa.Table) -> None:
    """This also holds if the client sends all of them before it reads anything."""
    count = 5000
    with RawClient(server, "stores_demo") as client:
        statement = opened(client, ALL)
        client.socket.sendall(fetches(client, statement, count))
        groups = client.receive_groups(count)
        assert [k for group in groups for k in tuples(group)] == list(range(ROWS))
        ends = [
            number for number, group in enumerate(groups) if any(isinstance(each, m.Done) for each in group)
        ]
        assert ends == list(range(ends[0], count))
        assert not any(tuples(group) for group in groups[ends[0] + 1 :])
        assert client.number("SELECT 7 FROM systables WHERE tabid = 1") == 7


def test_the_server_answers_each_fetch_of_a_closed_cursor_by_an_error(server: Server, data: pa.Table) -> None:
    with RawClient(server, "stores_demo") as client:
        statement = opened(client, ALL)
        close = b"".join(message.encode(client.framing) for message in (m.Id(statement), m.Close(), EOT))
        client.socket.sendall(fetches(client, statement, 3) + close + fetches(client, statement, 2))
        groups = client.receive_groups(6)
        assert all(tuples(group) for group in groups[:3])
        assert groups[3] == []
        assert [each.sqlcode for group in groups[4:] for each in group if isinstance(each, m.Err)] == [
            -259
        ] * 2


def test_the_server_repeats_the_error_that_has_ended_a_result(server: Server, data: pa.Table) -> None:
    """Otherwise later rows would be taken for the rest of the result."""
    sql = f"SELECT k, 1 / (k - 8000) x FROM {TABLE}"
    with RawClient(server, "stores_demo") as client:
        statement = client.prepare(sql).statement_id
        name = m.CursorName("_ifxc0000000000002")
        opening = b"".join(
            message.encode(client.framing) for message in (m.Id(statement), name, m.Open(), EOT)
        )
        client.socket.sendall(opening + fetches(client, statement, 300))
        groups = client.receive_groups(301)
        failed = [any(isinstance(each, m.Err) for each in group) for group in groups]
        first = failed.index(True)
        assert all(failed[first:])
        assert not any(tuples(group) for group in groups[first + 1 :])
