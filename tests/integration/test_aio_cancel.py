"""A fixed series of operations, cancelled at each of its awaits in turn: the connection is then usable or closed."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pyarrow as pa
import pytest
from tests.fault_proxy import eventually
from tests.internals import session_of
from tests.stress import SECONDS

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.aio.connection import open_connection
from informix_arrow.dsn import resolve
from informix_arrow.server import Server

from .aio_support import CancelAt, open_files, run

ROWS = 200
#: Cancel at every second or third await only: each run repeats everything up to it. A soak cancels at every await.
STEP, STEP_OF_POOL = (1, 1) if SECONDS else (3, 3)
DATA = pa.table({"a": pa.array(range(1000, 1600), pa.int32()), "b": ["x" * (n % 40) for n in range(600)]})
BYTES = pa.table({"a": pa.array([1], pa.int32()), "b": [b"y" * 70_000]})


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    with ifx.connect(server.url("stores_demo")) as conn:
        for name in ("rows", "pairs", "load", "bytes"):
            conn.execute(f"DROP TABLE IF EXISTS aio_cancel_{name}")
        conn.execute("CREATE TABLE aio_cancel_rows (id INT, text VARCHAR(250), sentinel INT)")
        rows = [(n, chr(97 + n % 26) * 200) for n in range(ROWS)]
        conn.cursor().executemany("INSERT INTO aio_cancel_rows VALUES (?, ?, 12345)", rows)
        conn.execute("CREATE TABLE aio_cancel_pairs (who INT, half INT)")
        conn.execute("CREATE TABLE aio_cancel_load (a INT, b VARCHAR(40))")
        conn.execute("CREATE TABLE aio_cancel_bytes (a INT, b BYTE)")
        conn.execute("INSERT INTO aio_cancel_bytes VALUES (1, ?)", (b"y" * 70_000,))
    return server.url("stores_demo")


async def read(conn: aio.AsyncConnection) -> None:
    """Read two results alternately, with fetches ahead, and execute a statement in between."""
    sql = "SELECT * FROM aio_cancel_rows ORDER BY id"
    async with conn.query(sql, batch_rows=60) as one, conn.query(sql, batch_rows=90) as two:
        other = two.batches()
        found: list[int] = []
        async for batch in one.batches():
            found += batch["id"].to_pylist()
            assert set(batch["sentinel"].to_pylist()) == {12345}
            await anext(other, None)
        assert found == list(range(ROWS))


async def transact(conn: aio.AsyncConnection) -> None:
    """Insert two rows in a transaction. Both must be there, or none."""
    async with conn.transaction():
        await conn.execute("INSERT INTO aio_cancel_pairs VALUES (1, 1)")
        async with conn.transaction():
            await conn.execute("INSERT INTO aio_cancel_pairs VALUES (1, 2)")


async def load(conn: aio.AsyncConnection) -> None:
    """Load from an asynchronous source, all or nothing."""

    async def arriving() -> AsyncIterator[pa.RecordBatch]:
        for batch in DATA.to_batches(max_chunksize=150):
            await asyncio.sleep(0)
            yield batch

    await conn.write_arrow("aio_cancel_load", arriving(), group_bytes=2000)


async def many(conn: aio.AsyncConnection) -> None:
    """Insert rows with executemany, roll back, and read rows with a cursor."""
    cur = conn.cursor()
    await cur.executemany("INSERT INTO aio_cancel_load VALUES (?, ?)", [(n, "many") for n in range(500)])
    await conn.rollback()
    await cur.execute("SELECT id FROM aio_cancel_rows ORDER BY id")
    assert [row async for row in cur] == [(n,) for n in range(ROWS)]
    await cur.close()


async def objects(conn: aio.AsyncConnection) -> None:
    """Read a large object, which needs a second request."""
    found = await conn.read_arrow("SELECT a, b FROM aio_cancel_bytes")
    assert found["b"].to_pylist() == [b"y" * 70_000]


DIALOGUES: list[Callable[[aio.AsyncConnection], Coroutine[Any, Any, None]]] = [
    read,
    transact,
    load,
    many,
    objects,
]


async def check(conn: aio.AsyncConnection, number: int) -> None:
    """Check that replies match their requests, and that nothing is half done."""
    sql = "SELECT id, sentinel FROM aio_cancel_rows WHERE id = ?"
    assert (await conn.read_arrow(sql, (number % ROWS,))).to_pylist() == [
        {"id": number % ROWS, "sentinel": 12345}
    ]
    await conn.rollback()
    halves = (await conn.read_arrow("SELECT half FROM aio_cancel_pairs ORDER BY half"))["half"].to_pylist()
    loaded = (await conn.read_arrow("SELECT a FROM aio_cancel_load ORDER BY a"))["a"].to_pylist()
    assert halves in ([], [1, 2])
    assert loaded in ([], DATA["a"].to_pylist())
    await conn.execute("DELETE FROM aio_cancel_pairs")
    await conn.execute("DELETE FROM aio_cancel_load")
    await conn.commit()


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda each: each.__name__)
def test_a_connection_is_usable_or_closed_wherever_its_task_was_cancelled(
    url: str, dialogue: Callable[[aio.AsyncConnection], Coroutine[Any, Any, None]]
) -> None:
    async def main() -> tuple[int, int]:
        cancelled = closed = 0
        conn = await aio.connect(url, fetch_buffer_size=4096)
        for place in itertools.count(1, STEP):
            at = CancelAt(dialogue(conn), place)
            try:
                await at
            except asyncio.CancelledError:
                task = asyncio.current_task()
                assert task is not None
                uncancel = getattr(task, "uncancel", None)  # Python 3.11
                if uncancel is not None:
                    uncancel()
            else:
                if at.suspensions < place:
                    break
                # the cancellation came after everything was done
            cancelled += 1
            if conn.closed:
                closed += 1
                conn = await aio.connect(url, fetch_buffer_size=4096)
            await check(conn, cancelled)
            assert cancelled < 2000
        assert not session_of(conn).cursors
        await conn.close()
        return cancelled, closed

    cancelled, closed = run(main)
    assert cancelled >= 2  # the operations have awaits
    assert closed == 0  # the server always replies here, so every connection stays usable


@pytest.mark.parametrize("dialogue", [read, transact, load], ids=lambda each: each.__name__)
def test_a_pool_recovers_wherever_the_task_of_a_member_was_cancelled(
    url: str, dialogue: Callable[[aio.AsyncConnection], Coroutine[Any, Any, None]]
) -> None:
    """Every await from the login of a connection to its return is cancelled once."""

    async def main() -> None:
        pool = aio.AsyncPool(url, max_size=1, max_age=0.0, timeout=60, fetch_buffer_size=4096)

        async def borrow() -> None:
            async with pool.connection() as conn:
                await dialogue(conn)

        cancelled = 0
        for place in itertools.count(1, STEP_OF_POOL):
            at = CancelAt(borrow(), place)
            try:
                await at
            except asyncio.CancelledError:
                task = asyncio.current_task()
                assert task is not None
                uncancel = getattr(task, "uncancel", None)
                if uncancel is not None:
                    uncancel()
            else:
                if at.suspensions < place:
                    break
            cancelled += 1
            assert pool.statistics.size == 0  # all are too old to be kept
            async with pool.connection() as conn:
                await check(conn, cancelled)
            assert cancelled < 2000
        await pool.close()
        assert cancelled >= 5

    before = open_files()
    run(main)
    eventually(lambda: open_files() <= before, "the sessions of the server close their ends, too")


@pytest.mark.parametrize("how", ["cancelled", "too slow"])
def test_a_connect_that_is_given_up_leaves_no_task(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: the task that opens the TCP connection ended one turn of the loop after the cancelled connect."""

    async def work() -> set[asyncio.Task[Any]]:
        loop, begun = asyncio.get_running_loop(), asyncio.Event()

        async def slow(*given: object, **more: object) -> None:
            begun.set()
            try:
                await asyncio.sleep(1000)
            finally:
                await asyncio.sleep(0)  # as with TLS and several addresses

        monkeypatch.setattr(loop, "create_connection", slow)
        before = asyncio.all_tasks()
        timeout = 0.01 if how == "too slow" else 1000
        connecting = asyncio.ensure_future(
            open_connection(resolve("informix://u:p@127.0.0.1:1/d?server=s", connect_timeout=timeout))
        )
        await begun.wait()
        if how == "cancelled":
            connecting.cancel()
        with pytest.raises(asyncio.CancelledError if how == "cancelled" else ifx.OperationalError):
            await connecting
        return asyncio.all_tasks() - before

    assert run(work) == set()
