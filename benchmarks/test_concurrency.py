"""Several at once: threads through a pool, tasks through an async pool, and one read cut into two.

The embedded server is one process and the machine may have few cores: what does not scale here is as often the server
as the client. `decode` is the client alone: threads that decode ready bytes, which needs no server.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx
from informix_arrow import aio

from .conftest import Address
from .dialogue import Dialogue, Replay, record
from .measuring import measure
from .test_codec import decode, tuples

QUERIES = 64
PARTS = 200_000


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Run ``work(number)`` in so many threads; errors are raised here."""
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("threads", [1, 2, 4, 8])
def test_threads_through_a_pool(
    benchmark: BenchmarkFixture, address: Address, seeded: Callable[[int], str], threads: int
) -> None:
    """64 reads of 1,000 rows; `fairness` is the fewest reads of a thread over the most, when they take what comes."""
    sql = f"SELECT k, name, n, x, d FROM {seeded(1_000)}"
    done = [0] * threads
    with ifx.Pool(**address.arguments, autocommit=True, min_size=threads, max_size=threads) as pool:

        def round_() -> None:
            left = iter(range(QUERIES))
            lock = threading.Lock()

            def work(number: int) -> None:
                while True:
                    with lock:
                        if next(left, None) is None:
                            return
                    with pool.connection() as connection:
                        assert connection.read_arrow(sql).num_rows == 1_000
                    done[number] += 1

            in_threads(threads, work)

        measure(
            benchmark, "64 reads of 1,000 rows", f"{threads} threads", round_, rows=QUERIES, workers=threads
        )
    benchmark.extra_info["fairness"] = min(done) / max(done)


@pytest.mark.parametrize("tasks", [1, 2, 4, 8])
def test_tasks_through_an_async_pool(
    benchmark: BenchmarkFixture, address: Address, seeded: Callable[[int], str], tasks: int
) -> None:
    """As above; the pool stands before the first round, as that of the threads does."""
    sql = f"SELECT k, name, n, x, d FROM {seeded(1_000)}"
    done = [0] * tasks

    async def opened() -> aio.AsyncPool:
        return await aio.AsyncPool(**address.arguments, autocommit=True, min_size=tasks, max_size=tasks)

    async def round_(pool: aio.AsyncPool) -> None:
        left = iter(range(QUERIES))

        async def work(number: int) -> None:
            while next(left, None) is not None:
                async with pool.connection() as connection:
                    table = await connection.read_arrow(sql)
                    assert table.num_rows == 1_000
                done[number] += 1

        await asyncio.gather(*(work(number) for number in range(tasks)))

    loop = asyncio.new_event_loop()
    try:
        pool = loop.run_until_complete(opened())
        subject = "64 reads of 1,000 rows, asyncio"
        work = lambda: loop.run_until_complete(round_(pool))  # noqa: E731
        measure(benchmark, subject, f"{tasks} tasks", work, rows=QUERIES, workers=tasks)
        loop.run_until_complete(pool.close())
    finally:
        loop.close()
    benchmark.extra_info["fairness"] = min(done) / max(done)


@pytest.fixture(scope="module")
def part(address: Address, seeded: Callable[[int], str]) -> Dialogue:
    """A session that reads 200,000 rows."""
    sql = f"SELECT k, name, n, x, d FROM {seeded(PARTS)}"
    return record((address.host, address.port), lambda host, port: read(Address(host, port), sql))


def read(address: Address, sql: str) -> int:
    with address.ours(autocommit=True) as connection:
        return int(connection.read_arrow(sql).num_rows)


@pytest.mark.parametrize("partitions", [1, 2])
def test_partitions_of_a_recorded_dialogue(
    benchmark: BenchmarkFixture, seeded: Callable[[int], str], part: Dialogue, partitions: int
) -> None:
    """The same two parts, one after the other or at once; two processes send them."""
    sql = f"SELECT k, name, n, x, d FROM {seeded(PARTS)}"
    with Replay(part) as one, Replay(part) as other:
        replays = [one, other]

        def work() -> None:
            if partitions == 1:
                for replay in replays:
                    assert read(Address(*replay.address), sql) == PARTS
            else:
                in_threads(2, lambda number: read(Address(*replays[number].address), sql))

        who = "one after the other" if partitions == 1 else "two threads"
        measure(
            benchmark, "two recorded reads of 200,000 rows", who, work, rows=2 * PARTS, workers=partitions
        )


@pytest.mark.parametrize("threads", [1, 2])
def test_decoding_in_threads(benchmark: BenchmarkFixture, threads: int) -> None:
    """Two million-row replies decoded by one thread, or by two: the GIL is not held."""
    wire = tuples(PARTS * 5)

    def one(_: int) -> Any:
        return decode(wire, lambda decoder: decoder.take())

    def work() -> None:
        if threads == 1:
            one(0)
            one(1)
        else:
            in_threads(2, one)

    measure(benchmark, "two replies decoded", f"{threads} threads", work, rows=10 * PARTS, workers=threads)
