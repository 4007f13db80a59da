"""The asyncio transport over real sockets, and AsyncLink: the same guarantees as the blocking ones."""

from __future__ import annotations

import asyncio
import os
import random
import select
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from tests.fault_proxy import eventually, open_files

from informix_arrow.core.session_runner import AsyncSessionRunner
from informix_arrow.dsn import resolve
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.fetch import ReadOptions, ServerCursor, next_batch
from informix_arrow.operations.io_steps import (
    Call,
    CancelReason,
    Connect,
    ConnectionLost,
    Exchange,
    Receive,
    Send,
)
from informix_arrow.server import Server
from informix_arrow.transport import limits
from informix_arrow.transport.aio import AsyncTransport
from informix_arrow.transport.tls import TlsSettings
from informix_arrow.wire.errors import InterfaceError, OperationalError, QueryCanceled, QueryTimeout

if TYPE_CHECKING:
    from tests.tls_certificates import Certificates

T = TypeVar("T")
ENDLESS = (
    "SELECT COUNT(*) n FROM systables a, systables b, systables c, systables d, systables e, systables f, "
    "systables g, systables h WHERE a.tabid * b.tabid * c.tabid - d.tabid * e.tabid * f.tabid * g.tabid - h.tabid = 17"
)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def transport(read_timeout: float | None = 30.0, **keywords: Any) -> AsyncTransport:
    return AsyncTransport(connect_timeout=30.0, read_timeout=read_timeout, **keywords)


def at(listener: socket.socket) -> Connect:
    host, port = listener.getsockname()
    return Connect(host, port)


def in_thread(action: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=action)
    thread.start()
    return thread


def test_silence_beyond_the_read_timeout_is_a_lost_connection(listener: socket.socket) -> None:
    def wait() -> Exchange[None]:
        yield at(listener)
        yield Receive(memoryview(bytearray(10)))

    async def main() -> None:
        link = transport(0.02)
        with pytest.raises(ConnectionLost, match=r"0\.02 s \(read_timeout\)"):
            await link.run(wait())
        link.close()

    asyncio.run(main())


def test_nobody_listening_is_reported_with_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    def knock() -> Exchange[None]:
        yield Connect("127.0.0.1", port)

    with pytest.raises(ConnectionLost, match=rf"Cannot connect to 127\.0\.0\.1:{port}"):
        asyncio.run(transport().run(knock()))


def test_the_end_of_the_peers_stream_is_no_bytes(listener: socket.socket) -> None:
    def talk() -> Exchange[tuple[int, int]]:
        yield at(listener)
        peer, _ = listener.accept()
        peer.sendall(b"abc")
        peer.close()
        into = memoryview(bytearray(10))
        first = yield Receive(into)
        return first, (yield Receive(into))

    async def main() -> tuple[int, int]:
        link = transport()
        try:
            return await link.run(talk())
        finally:
            link.close()

    assert asyncio.run(main()) == (3, 0)


@pytest.mark.parametrize("secure", [False, True])
def test_replies_are_taken_in_while_much_is_sent(
    listener: socket.socket, certificates: Certificates, secure: bool
) -> None:
    """The server stops reading until its replies are read, so a plain send would wait for ever."""
    request, reply = os.urandom(1 << 20) * 8, os.urandom(1 << 20) * 8
    seen = bytearray()

    def serve() -> None:
        peer, _ = listener.accept()
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificates.server, certificates.server_key)
            peer = context.wrap_socket(peer, server_side=True)
        with peer:
            peer.sendall(reply)
            while len(seen) < len(request):
                seen.extend(peer.recv(1 << 20))
            peer.sendall(b"!")

    def talk() -> Exchange[bytes]:
        into = bytearray(len(reply) + 1)
        host, port = listener.getsockname()
        yield Connect(host, port, secure)
        count = yield Send(request, memoryview(into))
        while count < len(into):
            count += yield Receive(memoryview(into)[count:])
        return bytes(into)

    async def main() -> bytes:
        link = transport(tls=TlsSettings(ca=str(certificates.ca)))
        try:
            return await link.run(talk())
        finally:
            link.close()

    server = in_thread(serve)
    assert asyncio.run(main()) == reply + b"!"
    server.join(60)
    assert bytes(seen) == request


def stopped(listener: socket.socket, answer: bytes) -> Exchange[int]:
    """Wait for a reply that arrives after the urgent byte was sent."""
    yield at(listener)
    peer, _ = listener.accept()
    asked = threading.Event()

    def serve() -> None:
        with peer:
            poll = select.poll()
            poll.register(peer, select.POLLPRI)
            if poll.poll(30_000) and peer.recv(1, socket.MSG_OOB) == b"B":
                asked.set()
                peer.sendall(answer)

    server = in_thread(serve)
    try:
        return (yield Receive(memoryview(bytearray(10))))
    finally:
        server.join(60)
        assert asked.is_set()


@pytest.mark.parametrize("reason", list(CancelReason))
def test_an_interrupted_call_is_driven_on_until_the_answer_has_come(
    listener: socket.socket, reason: CancelReason
) -> None:
    async def main() -> Call:
        link = transport(None)
        call = Call(0.02 if reason is CancelReason.TIMEOUT else None, started_at=time.monotonic())
        running = asyncio.ensure_future(link.run(stopped(listener, b"abc"), call))
        while link._wire is None or link._wire._waiter is None:
            await asyncio.sleep(0)
        if reason is CancelReason.CANCEL:
            link.interrupt()
        elif reason is CancelReason.BREAK:
            running.cancel()
        assert await running == 3
        link.close()
        return call

    call = asyncio.run(main())
    assert (call.cancel_reason, call.interrupt_sent) == (reason, True)
    assert isinstance(call.pending_exception, asyncio.CancelledError) == (reason is CancelReason.BREAK)


def test_a_server_that_does_not_react_is_left_after_the_grace(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "GRACE", 0.02)

    def talk() -> Exchange[None]:
        yield at(listener)
        yield Receive(memoryview(bytearray(10)))

    async def main() -> None:
        link, call = transport(None), Call(0.01, started_at=time.monotonic())
        with pytest.raises(ConnectionLost, match="did not react"):
            await link.run(talk(), call)
        assert call.grace_expired
        link.close()

    asyncio.run(main())


def test_a_cancelled_login_closes_the_socket(listener: socket.socket) -> None:
    host, port = listener.getsockname()

    async def main() -> None:
        opening = asyncio.ensure_future(
            AsyncSessionRunner.open(resolve(f"informix://u:p@{host}:{port}/d?server=s"))
        )
        peer, _ = await asyncio.get_running_loop().run_in_executor(None, listener.accept)
        assert await asyncio.get_running_loop().run_in_executor(None, peer.recv, 1)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        with peer:
            peer.settimeout(30)
            while await asyncio.get_running_loop().run_in_executor(None, peer.recv, 4096):
                pass

    asyncio.run(main())


# ---- AsyncLink ---------------------------------------------------------------------------------------------------


def with_link(server: Server, action: Callable[[AsyncSessionRunner], Awaitable[T]], **keywords: Any) -> T:
    async def main() -> T:
        link = await AsyncSessionRunner.open(resolve(server.url("stores_demo"), **keywords))
        try:
            return await action(link)
        finally:
            await link.close()

    return asyncio.run(main())


async def query(link: AsyncSessionRunner, sql: str, *values: object, timeout: float | None = None) -> int:
    """Return the number of rows in the first batch."""
    cursor = await link.run(
        execute_statement(link.session, sql, values, ReadOptions(), need_rows=True),
        timeout=timeout,
    )
    assert isinstance(cursor, ServerCursor)
    await link.run(next_batch(link.session, cursor))
    await link.run(cursor.close(link.session))
    return cursor.statement_id


def test_a_cancelled_task_leaves_a_link_that_can_be_used(server: Server) -> None:
    async def action(link: AsyncSessionRunner) -> None:
        for _ in range(3):
            running = asyncio.ensure_future(query(link, ENDLESS))
            await asyncio.sleep(0.01)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert not link.closed
            await query(link, "SELECT tabid FROM systables WHERE tabid = ?", 1)

    with_link(server, action)


def test_time_limits_and_interrupts_end_the_statement(server: Server) -> None:
    async def action(link: AsyncSessionRunner) -> None:
        with pytest.raises(QueryTimeout):
            await query(link, ENDLESS, timeout=0.05)
        running = asyncio.ensure_future(query(link, ENDLESS))
        await asyncio.sleep(0.05)
        waiting = asyncio.ensure_future(query(link, ENDLESS, timeout=0.01))
        with pytest.raises(QueryTimeout, match="in use by another call"):
            await waiting
        link.interrupt()
        with pytest.raises(QueryCanceled):
            await running
        link.interrupt()
        await query(link, "SELECT tabid FROM systables WHERE tabid = 1")

    with_link(server, action)
    with pytest.raises(QueryTimeout):
        with_link(server, lambda link: query(link, ENDLESS), call_timeout=0.05)


def test_cancellations_at_any_moment_do_no_harm(server: Server) -> None:
    rng = random.Random(3)

    async def action(link: AsyncSessionRunner) -> int:
        ended = 0
        for number in range(200):
            task = asyncio.ensure_future(
                query(link, f"SELECT {number} n FROM systables WHERE tabid < {number}")
            )
            for _ in range(rng.randrange(40)):
                await asyncio.sleep(0)
            task.cancel()
            try:
                await task
                ended += 1
            except asyncio.CancelledError:
                pass
            assert not link.closed
        await query(link, "SELECT tabid FROM systables WHERE tabid = 1")
        return ended

    assert with_link(server, action) < 200


def test_a_task_that_waits_for_its_turn_may_be_cancelled(server: Server) -> None:
    async def action(link: AsyncSessionRunner) -> None:
        for timeout in (None, 30.0):
            first = asyncio.ensure_future(query(link, ENDLESS))
            await asyncio.sleep(0.01)
            second = asyncio.ensure_future(
                query(link, "SELECT tabid FROM systables WHERE tabid = 1", timeout=timeout)
            )
            await asyncio.sleep(0)
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
        await query(link, "SELECT tabid FROM systables WHERE tabid = 1")

    with_link(server, action)


def test_a_closed_link_says_so(server: Server) -> None:
    async def action(link: AsyncSessionRunner) -> None:
        await link.close()
        await link.close()
        with pytest.raises(InterfaceError, match="closed"):
            await query(link, "SELECT 1 n FROM systables")

    with_link(server, action)


def test_a_lost_link_says_why(server: Server) -> None:
    async def action(link: AsyncSessionRunner) -> None:
        link.transport._wire.abort()  # type: ignore[union-attr]
        with pytest.raises(OperationalError):
            await query(link, "SELECT 1 n FROM systables")
        with pytest.raises(OperationalError, match="connection was lost"):
            await query(link, "SELECT 1 n FROM systables")

    with_link(server, action)


def test_an_exchange_cannot_run_another_one(server: Server) -> None:
    async def action(link: AsyncSessionRunner) -> None:
        link._runner = asyncio.current_task()
        with pytest.raises(InterfaceError, match="in the middle of a statement"):
            await query(link, "SELECT 1 n FROM systables")
        link._runner = None

    with_link(server, action)


def test_tls_with_an_interrupt_beside_it(certificates: Certificates) -> None:
    async def action(link: AsyncSessionRunner) -> None:
        with pytest.raises(QueryTimeout):
            await query(link, ENDLESS, timeout=0.05)
        await query(link, "SELECT tabid FROM systables WHERE tabid = 1")

    with Server(tls_cert=certificates.server, tls_key=certificates.server_key) as server:
        with_link(server, action, tls_ca=certificates.ca)
        with pytest.raises(OperationalError, match="not trusted"):
            with_link(server, action, tls_ca=certificates.other_ca)
        with pytest.raises(OperationalError, match=r"TLS.*informixs://"):
            with_link(server, action, tls=False)


def test_a_tls_client_at_a_plain_port_says_what_to_do(server: Server) -> None:
    async def action(link: AsyncSessionRunner) -> None:
        raise AssertionError("it must not log in")

    with pytest.raises(OperationalError, match="does not seem to speak TLS"):
        with_link(server, action, tls=True)


def test_closing_leaves_nothing_open(server: Server) -> None:
    async def action(link: AsyncSessionRunner) -> None:
        await query(link, "SELECT tabid FROM systables WHERE tabid = 1")

    with_link(server, action)
    before = open_files()
    for _ in range(10):
        with_link(server, action)
    eventually(lambda: open_files() <= before, "the sockets are closed at both ends")
