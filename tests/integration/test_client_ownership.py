"""Connections used where they must not be: in a forked child, in another event loop, while a thread holds the lock."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.internals import runner_of, session_of

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server
from informix_arrow.wire.errors import QueryCanceled, QueryTimeout

from .aio_support import run

ONE = "SELECT 12345 n FROM systables WHERE tabid = 1"
LONG = 60.0  # seconds; no test should wait this long


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    with ifx.connect(url) as conn:
        conn.execute("DROP TABLE IF EXISTS ownership")
        conn.execute("CREATE TABLE ownership (id INT, sentinel INT)")
    return url


@pytest.fixture
def conn(url: str) -> Iterator[ifx.Connection]:
    with ifx.connect(url) as conn:
        conn.execute("DELETE FROM ownership")
        conn.commit()
        yield conn


def count(conn: ifx.Connection) -> int:
    return int(conn.read_arrow("SELECT COUNT(*) n FROM ownership")["n"][0].as_py())


def in_a_child(action: Any) -> str:
    """Return the error that ``action`` raised in a forked child process as text; "" for none."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        said = "?"
        try:
            action()
            said = ""
        except BaseException as error:  # noqa: BLE001 - told to the parent
            said = f"{type(error).__name__}: {error}"
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_cannot_speak_in_its_parents_conversation(conn: ifx.Connection) -> None:
    conn.execute("INSERT INTO ownership VALUES (1, 12345)")
    result = conn.query(ONE)
    assert "OperationalError: The connection was lost: It belongs to the process" in in_a_child(
        lambda: conn.read_arrow(ONE)
    )
    assert "forked" in in_a_child(result.read_all)
    assert in_a_child(conn.close) == ""  # the child does not log out, as the session is the parent's
    assert in_a_child(gc.collect) == ""
    with runner_of(conn).lock:  # a lock that no thread of the child will ever release
        assert "forked" in in_a_child(lambda: threading.Thread(target=conn.commit).run())
    assert result.read_all()["n"].to_pylist() == [12345]
    assert conn.in_transaction
    assert count(conn) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_pool_opens_connections_of_its_own_in_a_forked_child(url: str) -> None:
    with ifx.Pool(url, min_size=2, max_size=2) as pool:
        idle = [member.connection for member in pool._core._idle]

        def use() -> None:
            with pool.connection() as one, pool.connection() as two:
                assert not {one, two} & set(idle)
                assert one.read_arrow(ONE).num_rows == two.read_arrow(ONE).num_rows == 1
            pool.close()

        assert in_a_child(use) == ""
        with pool.connection() as one, pool.connection() as two:
            assert {one, two} == set(idle)
            assert one.read_arrow(ONE).num_rows == two.read_arrow(ONE).num_rows == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_leaves_the_event_loop_of_its_parent_alone(url: str) -> None:
    async def main() -> None:
        async with aio.connect(url) as conn:
            assert in_a_child(runner_of(conn).abandon) == ""
            assert in_a_child(gc.collect) == ""
            assert (await conn.read_arrow(ONE, timeout=LONG))["n"].to_pylist() == [12345]

    run(main)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # asyncio warns of sockets left to it
def test_a_connection_of_another_event_loop_is_refused_instead_of_waited_for(url: str) -> None:
    async def open() -> aio.AsyncConnection:
        return await aio.connect(url)

    async def use(conn: aio.AsyncConnection) -> None:
        with pytest.raises(ifx.InterfaceError, match="another event loop"):
            await conn.read_arrow(ONE, timeout=LONG)

    conn = asyncio.run(open())
    asyncio.run(use(conn))
    assert not conn.closed
    asyncio.run(conn.close())  # its own loop is closed
    assert conn.closed

    async def both() -> None:
        async with aio.connect(url) as living:
            with pytest.raises(ifx.InterfaceError, match="another event loop"):
                await asyncio.get_running_loop().run_in_executor(None, lambda: asyncio.run(living.close()))
            assert (await living.read_arrow(ONE))["n"].to_pylist() == [12345]

    asyncio.run(both())
    del conn
    gc.collect()  # collect here, where the warnings are expected


@pytest.mark.parametrize("timeout", [0, -1, -0.5, math.nan, "soon", True])
def test_what_is_no_time_limit_is_refused_and_nothing_is_sent(
    conn: ifx.Connection, url: str, timeout: Any
) -> None:
    for call in (
        lambda: conn.read_arrow(ONE, timeout=timeout),
        lambda: conn.cursor().execute("DELETE FROM ownership", timeout=timeout),
        lambda: conn.write_arrow("ownership", pa.table({"id": [1], "sentinel": [12345]}), timeout=timeout),
    ):
        with pytest.raises(ifx.InterfaceError, match="timeout must be a positive number"):
            call()
    assert not conn.in_transaction

    async def main() -> None:
        async with aio.connect(url) as other:
            with pytest.raises(ifx.InterfaceError, match="timeout must be a positive number"):
                await other.read_arrow(ONE, timeout=timeout)

    run(main, debug=False)


@pytest.mark.parametrize("timeout", [1e12, math.inf])
def test_a_huge_time_limit_is_none(conn: ifx.Connection, url: str, timeout: float) -> None:
    assert conn.read_arrow(ONE, timeout=timeout)["n"].to_pylist() == [12345]

    async def main() -> None:
        async with aio.connect(url) as other:
            assert (await other.read_arrow(ONE, timeout=timeout))["n"].to_pylist() == [12345]

    run(main, debug=False)


class Holder:
    """Another thread that holds the connection's lock."""

    def __init__(self, conn: ifx.Connection) -> None:
        self.has, self.leave = threading.Event(), threading.Event()
        self.lock = runner_of(conn).lock
        self.thread = threading.Thread(target=self.hold)

    def hold(self) -> None:
        with self.lock:
            self.has.set()
            assert self.leave.wait(LONG)

    def __enter__(self) -> None:
        self.thread.start()
        assert self.has.wait(LONG)

    def __exit__(self, *ignored: object) -> None:
        self.leave.set()
        self.thread.join(LONG)


def test_a_block_whose_end_never_began_is_undone_before_what_comes_next(url: str) -> None:
    """The block's commit timed out while it waited for the connection. Its changes must not be part of the next
    commit."""
    with ifx.connect(url) as conn:
        conn.execute("DELETE FROM ownership")
        conn.commit()
        block = conn.transaction()
        block.__enter__()
        conn.execute("INSERT INTO ownership VALUES (1, 12345)")
        runner_of(conn)._call_timeout = 0.05
        with Holder(conn), pytest.raises(QueryTimeout, match="in use by another call"):
            block.__exit__(None, None, None)
        runner_of(conn)._call_timeout = None
        conn.execute("INSERT INTO ownership VALUES (2, 12345)")
        conn.commit()
        assert conn.read_arrow("SELECT id FROM ownership")["id"].to_pylist() == [2]


def test_what_could_not_be_closed_in_time_is_closed_before_what_comes_next(url: str) -> None:
    with ifx.connect(url, fetch_buffer_size=4096) as conn:
        result = conn.query("SELECT a.tabid, b.tabid other FROM systables a, systables b")
        cursor = conn.cursor(scrollable=True)
        cursor.execute("SELECT tabid FROM systables")
        runner_of(conn)._call_timeout = 0.05
        with Holder(conn):
            for close in (result.close, cursor.close):
                with pytest.raises(QueryTimeout):
                    close()
        runner_of(conn)._call_timeout = None
        assert len(session_of(conn).cursors) == 2
        assert conn.read_arrow(ONE)["n"].to_pylist() == [12345]
        assert not session_of(conn).cursors


@pytest.mark.parametrize("method", ["put", "pipeline"])
@pytest.mark.parametrize("how", ["timeout", "cancel", "both"])
def test_a_load_whose_data_does_not_come_can_be_ended(url: str, how: str, method: Any) -> None:
    """The server has nothing to interrupt then, so the wait for the data is interrupted."""
    batch = pa.record_batch(
        {"id": pa.array([1] * 5000, pa.int32()), "sentinel": pa.array([12345] * 5000, pa.int32())}
    )

    async def main() -> None:
        async with aio.connect(url) as conn:
            await conn.execute("DELETE FROM ownership")
            await conn.commit()
            waiting, ended = asyncio.Event(), []

            async def data() -> AsyncIterator[pa.RecordBatch]:
                yield batch
                yield batch
                try:
                    waiting.set()
                    await asyncio.Event().wait()  # waits for ever
                finally:
                    ended.append(True)

            limit = 0.05 if how == "timeout" else None
            task = asyncio.ensure_future(conn.write_arrow("ownership", data(), method=method, timeout=limit))
            begun = asyncio.ensure_future(waiting.wait())
            # On a slow machine the time limit expires before the data waits.
            await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
            begun.cancel()
            if how != "timeout":
                conn.cancel()
            if how == "both":
                task.cancel()
            expected = {"timeout": QueryTimeout, "cancel": QueryCanceled, "both": asyncio.CancelledError}[how]
            with pytest.raises(expected) as caught:
                await task
            if how == "timeout":
                assert "0.05 s" in str(caught.value)
            assert ended == [True] * waiting.is_set()
            assert not conn.closed
            assert (await conn.read_arrow("SELECT COUNT(*) n FROM ownership"))["n"].to_pylist() == [0]

    run(main)
