"""Scroll cursors of asyncio connections."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest
from tests.internals import session_of

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.operations.scroll import MAX_ROWS_AHEAD
from informix_arrow.server import Server

from .aio_support import CancelAt, run

ROWS = MAX_ROWS_AHEAD + 60
EXPECTED = [(n, None if n % 11 == 3 else "é" * (n % 5), 12345) for n in range(ROWS)]
QUERY = "SELECT id, name, tail FROM aio_scroll ORDER BY id"


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    with ifx.connect(server.url("stores_demo")) as conn:
        conn.execute("DROP TABLE IF EXISTS aio_scroll")
        conn.execute("CREATE TABLE aio_scroll (id INT, name VARCHAR(10), tail INT)")
        conn.cursor().executemany("INSERT INTO aio_scroll VALUES (?, ?, ?)", EXPECTED)
    return server.url("stores_demo")


def test_rows_can_be_had_in_any_order(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn, conn.cursor(scrollable=True) as cur:
            assert isinstance(cur, aio.AsyncScrollCursor)
            with pytest.raises(ifx.ProgrammingError, match="nothing to fetch"):
                await cur.fetch_first()
            assert cur.rownumber is None
            await cur.execute(QUERY)
            assert await cur.fetch_last() == EXPECTED[-1]
            assert await cur.fetch_prior() == EXPECTED[-2]
            assert await cur.fetch_first() == EXPECTED[0]
            assert await cur.fetch_absolute(100) == EXPECTED[100]
            assert await cur.fetch_absolute(-3) == EXPECTED[-3]
            assert await cur.fetch_relative(-7) == EXPECTED[-10]
            assert await cur.fetch_absolute(ROWS) is None
            assert cur.rownumber == ROWS
            await cur.scroll(50, "absolute")
            assert await cur.fetchone() == EXPECTED[50]
            assert await cur.fetchmany(3) == EXPECTED[51:54]
            with pytest.raises(IndexError):
                await cur.scroll(ROWS)
            assert cur.rownumber == 54
            assert [row async for row in cur] == EXPECTED[54:]
            await cur.scroll(0, "first")
            assert await cur.fetchall() == EXPECTED
            await cur.scroll(ROWS - 5, "absolute")
            table = await cur.fetch_arrow_table()
            assert [tuple(row.values()) for row in table.to_pylist()] == EXPECTED[-5:]

    run(main)


def test_parameters_may_have_names_and_rows_other_forms(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn:
            for scrollable in (False, True):
                async with conn.cursor(scrollable=scrollable, row_factory="dict") as cur:
                    await cur.execute("SELECT id, tail FROM aio_scroll WHERE id = :number", {"number": 7})
                    assert await cur.fetchall() == [{"id": 7, "tail": 12345}]
            cur = conn.cursor()
            await cur.execute("CREATE TEMP TABLE aio_named (a INT, b INT)")
            await cur.executemany(
                "INSERT INTO aio_named VALUES (:a, :b)", [{"b": 2, "a": 1}, {"a": 3, "b": 4}]
            )
            await cur.execute("SELECT a, b FROM aio_named ORDER BY a")
            assert await cur.fetchall() == [(1, 2), (3, 4)]
            await conn.rollback()

    run(main)


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Disable the garbage collector, so that only reference counting frees objects."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_a_cancelled_fetch_moves_nothing_and_a_dropped_cursor_is_closed(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn:
            at = cancelled = 0
            while True:
                cur = conn.cursor(scrollable=True)
                await cur.execute(QUERY)
                assert await cur.fetchmany(5) == EXPECTED[:5]
                at += 1
                fetching = CancelAt(cur.fetchall(), at)
                try:
                    assert await fetching == EXPECTED[5:]
                    break
                except asyncio.CancelledError:
                    cancelled += 1
                    task = asyncio.current_task()
                    assert task is not None
                    if hasattr(task, "uncancel"):
                        task.uncancel()
                assert cur.rownumber == 5
                assert await cur.fetchone() == EXPECTED[5]
                del cur
            assert cancelled >= 1
            await cur.close()
            await conn.ping()
            assert not session_of(conn).cursors

    run(main)
