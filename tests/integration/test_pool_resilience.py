"""Pools, blocking and asynchronous, whose idle connections were lost, closed or left without a reply."""

from __future__ import annotations

import asyncio
import gc
import math
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fault_proxy import Fault, FaultProxy, eventually
from tests.internals import runner_of, session_of

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.core import pool_core
from informix_arrow.pool import Pool
from informix_arrow.server import Server

from .aio_support import run

ONE = "SELECT 12345 n FROM systables WHERE tabid = 1"


@pytest.fixture
def proxy(server: Server) -> Iterator[FaultProxy]:
    with FaultProxy(server.address) as proxy:
        yield proxy


@pytest.fixture
def through(server: Server, proxy: FaultProxy) -> dict[str, Any]:
    return {"url": server.url("stores_demo"), "host": proxy.host, "port": proxy.port}


def answer(conn: ifx.Connection) -> list[int]:
    return list(conn.read_arrow(ONE)["n"].to_pylist())


def test_a_member_that_the_server_left_while_it_was_idle_is_replaced_without_a_check(
    proxy: FaultProxy, through: dict[str, Any]
) -> None:
    """The server was restarted. The next caller must get a working connection, however recently the last one was
    used."""
    with Pool(**through, max_size=2) as pool:
        old = [pool.acquire(), pool.acquire()]
        for conn in old:
            pool.release(conn)
        proxy.cut_all()
        eventually(lambda: all(runner_of(conn).has_unsolicited_data for conn in old), "the cut is seen")
        for _ in range(3):
            with pool.connection() as conn:
                assert conn not in old
                assert answer(conn) == [12345]
        lent = [pool.acquire(), pool.acquire()]
        assert not set(lent) & set(old)
        for conn in lent:
            assert answer(conn) == [12345]
            pool.release(conn)
        assert (pool.statistics.broken, pool.statistics.size) == (2, 2)


def test_so_it_is_with_tasks(proxy: FaultProxy, through: dict[str, Any]) -> None:
    async def main() -> None:
        async with aio.AsyncPool(**through, max_size=1) as pool:
            async with pool.connection() as old:
                pass
            proxy.cut_all()
            eventually(
                lambda: runner_of(old).has_unsolicited_data, "the cut is seen"
            )  # the event loop has not run yet
            async with pool.connection() as conn:
                assert session_of(conn) is not session_of(old)
                assert (await conn.read_arrow(ONE))["n"].to_pylist() == [12345]
            assert (pool.statistics.broken, pool.statistics.size) == (1, 1)

    run(main)


def test_a_fresh_member_costs_no_round_trip(through: dict[str, Any], proxy: FaultProxy) -> None:
    """The client sends nothing when a connection is lent, or when an unused one is returned.

    The bytes of the client are counted between two replies: by then the proxy has forwarded everything sent before.
    """
    sent: list[int] = []
    with Pool(**through) as pool:
        for lendings in (0, 0, 10):  # the first time the query is prepared
            with pool.connection() as conn:
                assert answer(conn) == [12345]
                before = proxy.links[-1].passed["client"]
            for _ in range(lendings):
                with pool.connection() as again:
                    assert session_of(again) is session_of(conn)
            with pool.connection() as again:
                assert answer(again) == [12345]
                sent.append(proxy.links[-1].passed["client"] - before)
    assert proxy.connections == 1
    assert 0 < sent[1] == sent[2]


def test_closing_what_was_given_back_does_no_harm_to_the_next_holder(server: Server) -> None:
    with Pool(server.url("stores_demo"), max_size=1, check_after=None) as pool:
        with pool.connection() as first:
            pass
        first.close()  # by the caller that returned it
        with pool.connection() as second:
            first.close()
            assert session_of(second) is session_of(first)
            assert answer(second) == [12345]

    async def main() -> None:
        async with aio.AsyncPool(server.url("stores_demo"), max_size=1, check_after=None) as pool:
            async with pool.connection() as first:
                pass
            await first.close()
            async with pool.connection() as second:
                await first.close()
                assert session_of(second) is session_of(first)
                assert (await second.read_arrow(ONE))["n"].to_pylist() == [12345]

    run(main)


def test_a_member_whose_peer_is_gone_without_a_word_is_given_up_soon(
    through: dict[str, Any], proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A half-open connection. Without its own limit the check would wait for TCP's timeout."""
    monkeypatch.setattr("informix_arrow.pool.CHECK_AFTER_SECONDS", 0.05)
    monkeypatch.setattr("informix_arrow.aio.pool.CHECK_AFTER_SECONDS", 0.05)
    assert math.isfinite(pool_core.CHECK_AFTER_SECONDS)
    with FaultProxy(proxy.target) as silent:
        silent.fault = Fault("client", 1 << 40, "hang")
        pool = Pool(**{**through, "port": silent.port}, check_after=0)
        with pool.connection() as first:
            assert answer(first) == [12345]
        silent.links[0].hangs = True
        silent.fault = None
        with pool.connection() as second:
            assert session_of(second) is not session_of(first)
            assert answer(second) == [12345]
        assert first.closed
        pool.close()


def test_whoever_waits_for_a_login_that_hangs_waits_no_longer_than_for_a_member(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        keywords: dict[str, Any] = {
            "url": server.url("stores_demo"),
            "port": silent.getsockname()[1],
            "connect_timeout": 600,
            "max_size": 1,
        }
        with Pool(**keywords) as pool, pytest.raises(ifx.OperationalError, match="login"):
            pool.acquire(timeout=0.05)
        assert pool.statistics.size == 0

        async def main() -> None:
            async with aio.AsyncPool(**keywords) as pool:
                with pytest.raises(ifx.OperationalError, match="login"):
                    await pool.acquire(timeout=0.05)
                assert pool.statistics.size == 0

        run(main)


def test_whoever_gets_a_dead_member_keeps_the_place_in_the_line(
    through: dict[str, Any], proxy: FaultProxy
) -> None:
    with Pool(**through, max_size=1) as pool:
        with pool.connection() as dead:
            pass
        proxy.cut_all()
        eventually(lambda: runner_of(dead).has_unsolicited_data, "the cut is seen")
        order: list[str] = []
        asked, go_on = threading.Event(), threading.Event()
        opened = pool._open_member

        def slowly(*args: Any) -> Any:
            asked.set()
            assert go_on.wait(60)
            return opened(*args)

        pool._open_member = slowly  # type: ignore[method-assign]

        def work(name: str) -> None:
            with pool.connection():
                order.append(name)

        threads = [threading.Thread(target=work, args=("first",))]
        threads[0].start()
        assert asked.wait(60)
        threads.append(threading.Thread(target=work, args=("second",)))
        threads[1].start()
        eventually(lambda: pool.statistics.waiting == 1, "the second one waits")
        go_on.set()
        for thread in threads:
            thread.join(60)
        assert order == ["first", "second"]
        assert pool.statistics.opened == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [("min_size", "1"), ("max_size", 1.5), ("max_size", True), ("reset", 5), ("configure", "x")],
)
def test_sizes_and_hooks_that_make_no_sense_are_refused(name: str, value: Any) -> None:
    for make in (Pool, aio.AsyncPool):
        with pytest.raises(ifx.InterfaceError, match=f"^{name} must be a "):
            make("informix://h/d", **{name: value})


@pytest.mark.parametrize("name", ["timeout", "max_idle", "max_age", "check_after"])
@pytest.mark.parametrize("value", [-1, math.nan, "5", True])
def test_times_that_make_no_sense_are_refused(name: str, value: Any) -> None:
    for make in (Pool, aio.AsyncPool):
        with pytest.raises(ifx.InterfaceError, match=name):
            make("informix://h/d", **{name: value})


@pytest.mark.parametrize("value", [-1, math.nan, "5"])
def test_a_caller_may_not_wait_for_what_is_no_time(server: Server, value: Any) -> None:
    with Pool(server.url("stores_demo")) as pool, pytest.raises(ifx.InterfaceError, match="timeout"):
        pool.acquire(timeout=value)
    assert pool.statistics.size == 0


@pytest.mark.parametrize("value", [1e12, math.inf, None])
def test_a_caller_may_wait_for_ever(server: Server, value: Any) -> None:
    with Pool(server.url("stores_demo"), max_size=1, timeout=value) as pool:
        held = pool.acquire()
        found: list[ifx.Connection] = []
        waiting = threading.Thread(target=lambda: found.append(pool.acquire()))
        waiting.start()
        eventually(lambda: pool.statistics.waiting == 1, "it waits")
        pool.release(held)
        waiting.join(60)
        [again] = found
        assert session_of(again) is session_of(held)
        pool.release(again)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # asyncio warns of sockets left to it
def test_a_pool_serves_one_event_loop_after_the_other(server: Server) -> None:
    """Connections of a closed loop are replaced."""
    use_a_pool_in_three_loops(server)
    gc.collect()  # collect here, where the warnings are expected


def use_a_pool_in_three_loops(server: Server) -> None:
    pool = aio.AsyncPool(server.url("stores_demo"), max_size=1)
    seen = []

    async def use() -> None:
        async with pool.connection() as conn:
            assert (await conn.read_arrow(ONE))["n"].to_pylist() == [12345]
            seen.append(conn)

    for _ in range(3):
        asyncio.run(use())
    assert len({id(conn) for conn in seen}) == 3
    assert pool.statistics.size == 1
    asyncio.run(pool.close())
    assert pool.statistics.size == 0
