"""Time limits and cancel() end a call that waits for its own data: batches or rows that are slow, or never arrive."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.integration.aio_support import run

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server

LIMIT = 0.3
LATEST = 5.0  # seconds, certainly longer than the limit; the data takes several times as long
PAUSE = 0.02
MANY = 1000  # items: 20 s of them


class Counted:
    """A slow source of data that counts how much of it was read."""

    def __init__(self, make: Callable[[int], Any], pause: float = PAUSE) -> None:
        self.make, self.pause = make, pause
        self.pulled = 0

    def __iter__(self) -> Iterator[Any]:
        for number in range(MANY):
            time.sleep(self.pause)
            self.pulled += 1
            yield self.make(number)


def batch(number: int, rows: int = 1) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "k": pa.array([number] * rows, pa.int32()),
            "after": pa.array(["é" * (number % 4)] * rows, pa.utf8()),
        }
    )


def empty_batch(number: int) -> pa.RecordBatch:
    return batch(number, rows=0)


@pytest.fixture(scope="module")
def url(server: Server) -> Iterator[str]:
    """URL of a database with a table that has one row at the start of each test."""
    url = server.url("stores_demo")
    with ifx.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS source_limits")
        connection.execute("CREATE TABLE source_limits (k INT, after VARCHAR(20))")
        yield url
        connection.execute("DROP TABLE source_limits")


@pytest.fixture
def conn(url: str) -> Iterator[ifx.Connection]:
    with ifx.connect(url, autocommit=True, lock_wait=30) as connection:
        connection.execute("DELETE FROM source_limits")
        connection.execute("INSERT INTO source_limits VALUES (-1, 'there before')")
        yield connection


def keys(conn: ifx.Connection) -> list[int]:
    return conn.read_arrow("SELECT k FROM source_limits ORDER BY k")["k"].to_pylist()


OPTIONS: dict[str, dict[str, Any]] = {
    "put": {},
    "pipeline": {"method": "pipeline"},
    "commit_every": {"commit_every": 10},
    "collect": {"on_error": "collect"},
    "upsert": {"mode": "upsert", "key": ["k"]},
    "two connections": {"connections": 2},
    "two connections with commits": {"connections": 2, "commit_every": 10},
}


@pytest.mark.parametrize(
    ("how", "limited"),
    [*((how, "timeout") for how in OPTIONS), ("put", "call_timeout"), ("two connections", "call_timeout")],
)
def test_a_load_of_slow_data_ends_at_its_limit_and_undoes_what_was_not_committed(
    server: Server, conn: ifx.Connection, how: str, limited: str
) -> None:
    data = Counted(batch)
    of_connection, of_call = (LIMIT, {}) if limited == "call_timeout" else (None, {"timeout": LIMIT})
    with ifx.connect(server.url("stores_demo"), autocommit=True, call_timeout=of_connection) as loader:
        began = time.monotonic()
        with pytest.raises(ifx.QueryTimeout, match=rf"longer than {LIMIT:g} s"):
            loader.write_arrow("source_limits", data, **of_call, **OPTIONS[how])
        assert time.monotonic() - began < LATEST
        assert data.pulled < MANY
        loaded = keys(loader)  # the connection is usable
    assert loaded[0] == -1
    if "commit_every" not in OPTIONS[how]:
        assert loaded == [-1]
    assert keys(conn) == loaded


@pytest.mark.parametrize("make", [batch, empty_batch])
def test_cancel_ends_a_load_between_two_batches(
    conn: ifx.Connection, make: Callable[[int], pa.RecordBatch]
) -> None:
    data = Counted(make)
    threading.Timer(LIMIT, conn.cancel).start()
    began = time.monotonic()
    with pytest.raises(ifx.QueryCanceled) as caught:
        conn.write_arrow("source_limits", data)
    assert not isinstance(caught.value, ifx.QueryTimeout)
    assert time.monotonic() - began < LATEST
    assert keys(conn) == [-1]


def test_a_cancelled_load_leaves_an_open_transaction_as_it_was(conn: ifx.Connection) -> None:
    with conn.transaction():
        conn.execute("INSERT INTO source_limits VALUES (7, 'mine')")
        with pytest.raises(ifx.QueryTimeout):
            conn.write_arrow("source_limits", Counted(batch), timeout=LIMIT)
        assert keys(conn) == [-1, 7]
    assert keys(conn) == [-1, 7]


@pytest.mark.parametrize("before", [0, 1, 3])
@pytest.mark.parametrize("connections", [1, 2])
def test_timeout_ends_the_wait_for_a_batch_that_does_not_come(
    conn: ifx.Connection, before: int, connections: int
) -> None:
    released = threading.Event()

    def data() -> Iterator[pa.RecordBatch]:
        for number in range(before):
            yield batch(number)
        released.wait(60)
        yield batch(99)

    began = time.monotonic()
    try:
        with pytest.raises(ifx.QueryTimeout, match=rf"longer than {LIMIT:g} s"):
            conn.write_arrow("source_limits", data(), timeout=LIMIT, connections=connections)
        assert time.monotonic() - began < LATEST
        assert keys(conn) == [-1]
    finally:
        released.set()


def test_cancel_ends_the_wait_for_a_batch_if_the_call_has_a_timeout(conn: ifx.Connection) -> None:
    released = threading.Event()

    def data() -> Iterator[pa.RecordBatch]:
        yield batch(0)
        threading.Timer(LIMIT, conn.cancel).start()
        released.wait(60)
        yield batch(1)

    began = time.monotonic()
    try:
        with pytest.raises(ifx.QueryCanceled):
            conn.write_arrow("source_limits", data(), timeout=60)
        assert time.monotonic() - began < LATEST
        assert keys(conn) == [-1]
    finally:
        released.set()


@pytest.mark.parametrize("form", ["batches", "reader", "stream"])
def test_a_load_with_a_timeout_writes_every_row_of_its_data(conn: ifx.Connection, form: str) -> None:
    """The data is then read in another thread: in the caller's context, and its errors are raised unchanged."""
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="elsewhere")
    name.set("here")

    def data() -> Iterator[pa.RecordBatch]:
        assert name.get() == "here"
        for number in range(60):
            yield batch(number, rows=number * 10)

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.RecordBatchReader.from_batches(batch(0).schema, data()).__arrow_c_stream__()

    source: Any = data()
    if form != "batches":
        source = pa.RecordBatchReader.from_batches(batch(0).schema, data()) if form == "reader" else Stream()
    report = conn.write_arrow("source_limits", source, timeout=100)
    assert report.rows == sum(number * 10 for number in range(60))
    assert keys(conn) == [-1, *(number for number in range(60) for _ in range(number * 10))]


def test_an_error_of_the_data_is_raised_as_it_is_with_a_timeout(conn: ifx.Connection) -> None:
    def data() -> Iterator[pa.RecordBatch]:
        yield batch(0)
        raise RuntimeError("the file is damaged")

    with pytest.raises(RuntimeError, match="damaged"):
        conn.write_arrow("source_limits", data(), timeout=100)
    with pytest.raises(ifx.InterfaceError, match="no record batch"):
        conn.write_arrow("source_limits", iter(()), timeout=100)
    assert keys(conn) == [-1]


def test_data_that_uses_the_connection_of_the_load_is_refused_and_does_not_wait_for_it(
    conn: ifx.Connection,
) -> None:
    def data() -> Iterator[pa.RecordBatch]:
        yield batch(0)
        conn.execute("SELECT 1 FROM systables WHERE tabid = 1")
        yield batch(1)

    began = time.monotonic()
    with pytest.raises(ifx.InterfaceError, match="in the middle of a statement"):
        conn.write_arrow("source_limits", data(), timeout=60)
    assert time.monotonic() - began < 30
    assert keys(conn) == [-1]


# ---- executemany ---------------------------------------------------------------------------------------------

INSERT = "INSERT INTO source_limits VALUES (?, ?)"


@pytest.mark.parametrize("cancelled", [False, True])
@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("sql", [INSERT, "UPDATE source_limits SET k = ?, after = ? WHERE k = 12345"])
def test_executemany_of_slow_rows_ends_at_its_limit(
    conn: ifx.Connection, sql: str, in_transaction: bool, cancelled: bool
) -> None:
    rows = Counted(lambda number: (number, "x" * (number % 20)))
    conn.autocommit = not in_transaction
    if cancelled:
        threading.Timer(LIMIT, conn.cancel).start()
    cursor = conn.cursor()
    began = time.monotonic()
    expected = ifx.QueryCanceled if cancelled else ifx.QueryTimeout
    with pytest.raises(expected) as caught:
        cursor.executemany(sql, iter(rows), timeout=None if cancelled else LIMIT)
    assert time.monotonic() - began < LATEST
    assert rows.pulled < MANY
    if in_transaction:
        assert caught.value.rows == 0
        assert keys(conn) == [-1]
        conn.rollback()
        conn.autocommit = True
    elif sql is INSERT:
        assert isinstance(caught.value.rows, int)  # the first rows are in effect
        assert keys(conn) == [-1, *range(caught.value.rows)]


def test_executemany_of_a_statement_with_contents_ends_at_its_limit(conn: ifx.Connection) -> None:
    conn.execute("DROP TABLE IF EXISTS source_limits_clob")
    conn.execute("CREATE TABLE source_limits_clob (k INT, c CLOB)")
    rows = Counted(lambda number: (number, "é" * number))
    began = time.monotonic()
    with pytest.raises(ifx.QueryTimeout):
        conn.cursor().executemany("INSERT INTO source_limits_clob VALUES (?, ?)", iter(rows), timeout=LIMIT)
    assert time.monotonic() - began < LATEST
    conn.execute("DROP TABLE source_limits_clob")


# ---- asyncio -------------------------------------------------------------------------------------------------


async def slow_batches(pause: float = PAUSE) -> AsyncIterator[pa.RecordBatch]:
    for number in range(MANY):
        await asyncio.sleep(pause)
        yield batch(number)


AIO_DATA: dict[str, Callable[[], Any]] = {
    "async": slow_batches,
    "plain": lambda: iter(Counted(batch)),
    "never": lambda: slow_batches(60),
}


@pytest.mark.parametrize("connections", [1, 2])
@pytest.mark.parametrize("data", AIO_DATA)
def test_an_asyncio_load_of_slow_data_ends_at_its_limit(
    server: Server, conn: ifx.Connection, data: str, connections: int
) -> None:
    async def main() -> None:
        async with await aio.connect(server.url("stores_demo"), autocommit=True) as other:
            began = time.monotonic()
            with pytest.raises(ifx.QueryTimeout):
                await other.write_arrow(
                    "source_limits", AIO_DATA[data](), timeout=LIMIT, connections=connections
                )
            assert time.monotonic() - began < LATEST
            assert not other.closed
            assert await other.ping() is None

    run(main)
    assert keys(conn) == [-1]


@pytest.mark.parametrize("data", ["async", "plain"])
def test_a_task_that_loads_slow_data_can_be_cancelled_and_others_run_meanwhile(
    server: Server, conn: ifx.Connection, data: str
) -> None:
    async def main() -> None:
        async with await aio.connect(server.url("stores_demo"), autocommit=True) as other:
            loading = asyncio.create_task(other.write_arrow("source_limits", AIO_DATA[data]()))
            began = time.monotonic()
            await asyncio.sleep(LIMIT)
            assert time.monotonic() - began < LATEST
            loading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await loading
            assert time.monotonic() - began < LATEST
            assert not other.closed

    run(main)
    assert keys(conn) == [-1]


def test_an_asyncio_load_of_a_plain_iterator_writes_every_row(server: Server, conn: ifx.Connection) -> None:
    async def main() -> None:
        async with await aio.connect(server.url("stores_demo"), autocommit=True) as other:
            report = await other.write_arrow("source_limits", (batch(n, rows=n) for n in range(200)))
            assert report.rows == sum(range(200))

    run(main)
    assert keys(conn) == [-1, *(number for number in range(200) for _ in range(number))]
