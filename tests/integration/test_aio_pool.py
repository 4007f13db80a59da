"""AsyncPool: lending connections to tasks, and its state after 500 tasks with cancellations and time limits."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest
from tests.fault_proxy import eventually
from tests.internals import runner_of, session_of, stream_of

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server
from informix_arrow.wire.errors import QueryCanceled, QueryTimeout

from .aio_support import SOAK, open_files, run, until

ONE = "SELECT 1 AS v FROM systables WHERE tabid = 1"
ROWS = 2000


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    with ifx.connect(server.url("stores_demo")) as conn:
        for name in ("aio_pool_rows", "aio_pool_notes"):
            conn.execute(f"DROP TABLE IF EXISTS {name}")
        conn.execute("CREATE TABLE aio_pool_rows (id INT NOT NULL, text VARCHAR(40), sentinel INT)")
        rows = [(n, f"text {n}") for n in range(ROWS)]
        conn.cursor().executemany("INSERT INTO aio_pool_rows VALUES (?, ?, 12345)", rows)
        conn.execute("CREATE TABLE aio_pool_notes (a INT)")
    return server.url("stores_demo")


def test_connections_are_lent_again_and_warmed_up_by_async_with(url: str) -> None:
    async def main() -> None:
        async with aio.AsyncPool(url, min_size=2, max_size=3) as pool:
            assert (pool.statistics.opened, pool.statistics.idle) == (2, 2)
            async with pool.connection() as first:
                assert (await first.read_arrow(ONE)).num_rows == 1
            async with pool.connection() as second:
                assert session_of(second) is session_of(first)
            s = pool.statistics
            assert (s.size, s.idle, s.in_use, s.served, s.opened) == (2, 2, 0, 2, 2)
            assert repr(pool) == "<informix_arrow.aio.AsyncPool 0 of 3 in use, 2 idle>"
        assert pool.statistics.size == 0
        with pytest.raises(ifx.InterfaceError, match="The pool is closed"):
            await pool.acquire()
        lazy = aio.AsyncPool(url, min_size=2)
        assert lazy.statistics.opened == 0
        assert (await lazy).statistics.opened == 2
        await lazy.close()

    run(main)


def test_tasks_are_served_first_come_first_served_and_time_out(url: str) -> None:
    async def main() -> None:
        async with aio.AsyncPool(url, max_size=1) as pool:
            held = await pool.acquire()
            order: list[int] = []

            async def work(number: int) -> None:
                async with pool.connection():
                    order.append(number)

            tasks = []
            for number in range(6):
                tasks.append(asyncio.ensure_future(work(number)))
                await until(lambda number=number: pool.statistics.waiting == number + 1)  # type: ignore[misc]
            tasks[2].cancel()
            with pytest.raises(ifx.OperationalError, match=r"within 0.05 seconds. All 1 are in use"):
                await pool.acquire(timeout=0.05)
            assert pool.statistics.timeouts == 1
            await pool.release(held)
            await asyncio.gather(*tasks, return_exceptions=True)
            assert order == [0, 1, 3, 4, 5]
            assert (pool.statistics.opened, pool.statistics.waiting, pool.statistics.idle) == (1, 0, 1)

    run(main)


def test_a_member_comes_back_clean_and_results_of_its_former_holder_end_with_an_error(url: str) -> None:
    async def main() -> None:
        async with aio.AsyncPool(url, max_size=1, fetch_buffer_size=4096) as pool:
            conn = await pool.acquire()
            conn.autocommit = True
            await conn.set_isolation("dirty")
            await conn.set_lock_wait(7)
            conn.row_factory = "dict"
            batches = (await conn.query("SELECT * FROM aio_pool_rows", batch_rows=10)).batches()
            await anext(batches)
            await pool.release(conn)
            with pytest.raises(ifx.InterfaceError, match="returned to its pool"):
                await anext(batches)
            again = await pool.acquire()
            assert session_of(again) is session_of(conn)
            assert (again.autocommit, again.isolation, again.lock_wait) == (False, None, None)
            assert again.row_factory == "tuple"
            assert session_of(again).cursors == set()
            await again.transaction().__aenter__()  # never exited
            await again.execute("INSERT INTO aio_pool_notes VALUES (2)")
            await pool.release(again)
            with pytest.raises(ifx.InterfaceError, match="already returned"):
                await pool.release(again)
            async with pool.connection() as third:
                assert session_of(third) is session_of(conn)
                assert not third.in_transaction
                assert (await third.read_arrow("SELECT a FROM aio_pool_notes")).num_rows == 0

    run(main)


def test_what_was_given_back_is_refused_while_another_one_uses_it(url: str) -> None:
    async def main() -> None:
        async with aio.AsyncPool(url, max_size=1) as pool:
            async with pool.connection() as old:
                cursor = await old.execute("SELECT tabid FROM systables ORDER BY tabid")
                await cursor.fetchone()
                result = await old.query(ONE)
                waiting = None
                async with runner_of(old).lock:  # as if a statement of another task were running
                    waiting = asyncio.ensure_future(old.ping())
                    await asyncio.sleep(0)
            async with pool.connection() as new:
                assert session_of(new) is session_of(old)
                await asyncio.wait([waiting])
                assert (old.closed, old.in_transaction) == (True, False)
                async with runner_of(new).lock:  # calls of the old holder must not wait for it
                    for use in (
                        cursor.fetchall,
                        lambda: old.read_arrow(ONE),
                        lambda: cursor.execute(ONE),
                        lambda: old.execute(ONE, timeout=30),
                        result.read_all,
                        old.commit,
                        old.rollback,
                        old.ping,
                        old.tables,
                    ):
                        with pytest.raises(ifx.InterfaceError, match="returned to its pool"):
                            await use()
                    await result.close()
                    await cursor.close()
                    old.cancel()
                    await old.close()
                assert (await new.read_arrow(ONE)).num_rows == 1

    run(main)


def test_a_block_commits_or_rolls_back(url: str) -> None:
    async def main() -> None:
        async with aio.AsyncPool(url, max_size=1) as pool:

            async def note(number: int, error: type[BaseException] | None) -> None:
                async with pool.connection() as conn:
                    await conn.execute("INSERT INTO aio_pool_notes VALUES (?)", (number,))
                    if error is not None:
                        raise error

            await note(1, None)
            with pytest.raises(ZeroDivisionError):
                await note(2, ZeroDivisionError)
            with pytest.raises(asyncio.CancelledError):
                await note(3, asyncio.CancelledError)
            async with pool.connection() as conn:
                assert (await conn.read_arrow("SELECT a FROM aio_pool_notes"))["a"].to_pylist() == [1]
                await conn.execute("DELETE FROM aio_pool_notes")

    run(main)


def test_hooks_may_be_plain_or_coroutine_functions_and_their_errors_cost_the_connection(url: str) -> None:
    seen: list[str] = []

    async def configure(conn: aio.AsyncConnection) -> None:
        await conn.execute("CREATE TEMP TABLE mine (a INT)")
        seen.append("configured")

    def reset(conn: aio.AsyncConnection) -> None:
        seen.append("reset")
        if len(seen) > 2:
            raise ZeroDivisionError

    async def main() -> None:
        async with aio.AsyncPool(url, max_size=1, configure=configure, reset=reset) as pool:
            async with pool.connection() as conn:
                assert (await conn.read_arrow("SELECT a FROM mine")).num_rows == 0
            assert pool.statistics.idle == 1
            with pytest.raises(ZeroDivisionError):
                async with pool.connection():
                    pass
            assert (pool.statistics.size, pool.statistics.broken) == (0, 1)
            assert conn.closed

        def failing(conn: aio.AsyncConnection) -> None:
            raise ZeroDivisionError

        refusing = aio.AsyncPool(url, min_size=2, configure=failing)
        with pytest.raises(ZeroDivisionError):
            await refusing
        assert refusing.statistics.size == 0

    run(main)
    assert seen == ["configured", "reset", "reset"]


def test_lost_old_and_idle_members_are_replaced(url: str) -> None:
    async def main() -> None:
        async with aio.AsyncPool(url, max_size=1, check_after=0) as pool:
            async with pool.connection() as first:
                pass
            wire = stream_of(first)
            assert wire is not None
            wire.abort()  # as if the network had failed unnoticed
            async with pool.connection() as second:
                assert session_of(second) is not session_of(first)
                assert (await second.read_arrow(ONE)).num_rows == 1
            assert (pool.statistics.broken, pool.statistics.size) == (1, 1)
        async with aio.AsyncPool(url, max_age=0.0) as pool:
            await pool.release(await pool.acquire())
            assert (pool.statistics.retired, pool.statistics.idle) == (1, 0)
        async with aio.AsyncPool(url, min_size=1, max_size=3, max_idle=0.0) as pool:
            for each in [await pool.acquire(), await pool.acquire(), await pool.acquire()]:
                await pool.release(each)
            await pool.release(await pool.acquire())
            assert pool.statistics.retired == 2  # down to min_size

    run(main)


def test_a_connection_that_cannot_be_opened_frees_its_place_for_the_next(url: str) -> None:
    async def main() -> None:
        pool = aio.AsyncPool(url, max_size=1, password="wrong")
        for found in await asyncio.gather(*[pool.acquire() for _ in range(5)], return_exceptions=True):
            assert isinstance(found, ifx.OperationalError)
            assert "-951" in str(found)
        assert pool.statistics.size == 0

    run(main)


def test_closing_sends_away_who_waits_and_waits_for_what_is_lent(url: str) -> None:
    async def main() -> None:
        pool = aio.AsyncPool(url, max_size=1)
        held = await pool.acquire()
        waiting = asyncio.ensure_future(pool.acquire())
        await until(lambda: pool.statistics.waiting == 1)
        closing = asyncio.ensure_future(pool.close(timeout=60))
        with pytest.raises(ifx.InterfaceError, match="The pool is closed"):
            await waiting
        assert not closing.done()
        assert (await held.read_arrow(ONE)).num_rows == 1
        await pool.release(held)
        await closing
        assert held.closed
        assert pool.statistics.size == 0

    run(main)


# ---- soak ---------------------------------------------------------------------------------------------------------


async def own_number(conn: aio.AsyncConnection, rng: random.Random) -> None:
    number = rng.randrange(1 << 30)
    sql = "SELECT ?::INT AS v, 12345 AS sentinel FROM systables WHERE tabid = 1"
    assert (await conn.read_arrow(sql, (number,))).to_pylist() == [{"v": number, "sentinel": 12345}]


async def pattern(conn: aio.AsyncConnection, rng: random.Random) -> None:
    start = rng.randrange(ROWS)
    sql = "SELECT id, text, sentinel FROM aio_pool_rows WHERE id >= ? ORDER BY id"
    async with conn.query(sql, (start,), batch_rows=rng.choice((100, 700))) as result:
        async for batch in result.batches():
            ids = batch["id"].to_pylist()
            assert ids == list(range(start, start + len(ids)))
            assert batch["text"].to_pylist() == [f"text {n}" for n in ids]
            assert set(batch["sentinel"].to_pylist()) == {12345}
            start += len(ids)
            if rng.random() < 0.05:
                return
    assert start == ROWS


async def rows(conn: aio.AsyncConnection, rng: random.Random) -> None:
    first = rng.randrange(ROWS - 5)
    cur = conn.cursor()
    await cur.execute("SELECT id FROM aio_pool_rows WHERE id BETWEEN ? AND ? ORDER BY id", (first, first + 4))
    assert [row async for row in cur] == [(first + n,) for n in range(5)]


async def write(conn: aio.AsyncConnection, rng: random.Random) -> None:
    count = rng.randrange(1, 40)
    await conn.execute("CREATE TEMP TABLE aio_soak (a INT)")
    await conn.cursor().executemany("INSERT INTO aio_soak VALUES (?)", [(n,) for n in range(count)])
    found = await conn.read_arrow("SELECT a FROM aio_soak ORDER BY a")
    assert found["a"].to_pylist() == list(range(count))
    await conn.rollback()


async def long_statement(conn: aio.AsyncConnection, rng: random.Random) -> None:
    # One condition on all three, otherwise DuckDB finds a join that takes less time than the limit.
    sql = (
        "SELECT COUNT(*) AS n FROM aio_pool_rows a, aio_pool_rows b, aio_pool_rows c "
        "WHERE MOD(a.id * b.id + c.id, 7) = 3"
    )
    with pytest.raises(QueryTimeout):
        await conn.read_arrow(sql, timeout=rng.uniform(0.001, 0.02))


WORK: list[Callable[..., object]] = (
    [own_number] * 20 + [pattern] * 8 + [rows] * 6 + [write] * 2 + [long_statement]
)


@pytest.mark.soak
def test_500_tasks_with_random_cancellations_get_their_own_answers_and_the_pool_serves_on(
    server_process: str,
) -> None:
    with ifx.connect(server_process) as conn:
        conn.execute("CREATE TABLE aio_pool_rows (id INT NOT NULL, text VARCHAR(40), sentinel INT)")
        data = [(n, f"text {n}") for n in range(ROWS)]
        conn.cursor().executemany("INSERT INTO aio_pool_rows VALUES (?, ?, 12345)", data)
    counts = {"answered": 0, "cancelled": 0, "late": 0, "interrupted": 0}

    async def main() -> None:
        loop = asyncio.get_running_loop()
        pool = await aio.AsyncPool(
            server_process, min_size=8, max_size=8, timeout=None, check_after=1.0, fetch_buffer_size=8192
        )
        ends = loop.time() + SOAK
        rng = random.Random(5)
        current: dict[int, asyncio.Task[None]] = {}  # by the worker

        async def once(seed: int) -> None:
            own = random.Random(seed)
            async with pool.connection() as conn:
                assert not conn.in_transaction
                await own.choice(WORK)(conn, own)  # type: ignore[misc]

        async def worker(number: int) -> None:
            own = random.Random(number)
            while loop.time() < ends:
                task = asyncio.ensure_future(once(own.randrange(1 << 30)))
                current[number] = task
                try:
                    if own.random() < 0.2:
                        await asyncio.wait_for(task, own.uniform(0.001, 1.0))
                    else:
                        await task
                    counts["answered"] += 1
                except asyncio.CancelledError:
                    counts["cancelled"] += 1
                except asyncio.TimeoutError:
                    counts["late"] += 1
                except QueryCanceled:
                    counts["interrupted"] += 1

        async def chaos() -> None:
            while loop.time() < ends:
                await asyncio.sleep(rng.uniform(0, 0.02))
                chosen = [task for task in current.values() if not task.done()]
                running = [task for task in chosen if rng.random() < 0.02]
                for task in running:
                    task.cancel()
                lent = list(pool._core._lent.values())
                if lent and rng.random() < 0.2:
                    rng.choice(lent).connection.cancel()
            for task in current.values():
                task.cancel()

        await asyncio.gather(chaos(), *[worker(number) for number in range(500)])
        s = pool.statistics
        assert (s.waiting, s.in_use) == (0, 0)
        assert s.size <= 8
        # Afterwards all connections can be acquired and used.
        lent = [await pool.acquire(timeout=60) for _ in range(8)]
        for conn in lent:
            await own_number(conn, rng)
            assert session_of(conn).cursors == set()
        for conn in lent:
            await pool.release(conn)
        assert pool.statistics.idle == 8
        await pool.close()

    before = open_files()
    run(main, debug=False)
    eventually(lambda: open_files() <= before, "files are closed")  # fewer, if an earlier session has ended
    print(counts)  # shown by pytest -s
    assert all(counts.values())
