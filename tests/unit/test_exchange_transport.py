"""The blocking transport over real sockets: time limits, lost peers, sending while replies pile up."""

from __future__ import annotations

import errno
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from informix_arrow.exchange.steps import Connect, ConnectionLost, Exchange, Receive, Send
from informix_arrow.transport.blocking import BlockingTransport


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def transport(read_timeout: float | None = 10.0) -> BlockingTransport:
    return BlockingTransport(connect_timeout=10.0, read_timeout=read_timeout)


def at(listener: socket.socket) -> Connect:
    host, port = listener.getsockname()
    return Connect(host, port)


def test_silence_beyond_the_read_timeout_is_a_lost_connection(listener: socket.socket) -> None:
    def wait() -> Exchange[None]:
        yield at(listener)
        yield Receive(memoryview(bytearray(10)))

    link = transport(0.02)
    with pytest.raises(ConnectionLost, match=r"0\.02 s"):
        link.run(wait())
    link.close()


def test_an_exchange_may_be_less_patient_than_the_user(listener: socket.socket) -> None:
    def wait() -> Exchange[str]:
        yield at(listener)
        try:
            yield Receive(memoryview(bytearray(10)), patience=0.02)
        except ConnectionLost:
            return "gone on"
        return "answered"

    link = transport(None)
    assert link.run(wait()) == "gone on"
    link.close()


def test_nobody_listening_is_told_with_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    def knock() -> Exchange[None]:
        yield Connect("127.0.0.1", port)

    with pytest.raises(ConnectionLost, match=rf"cannot connect to 127\.0\.0\.1:{port}"):
        transport().run(knock())


def test_a_closed_transport_says_so() -> None:
    def speak() -> Exchange[None]:
        yield Send(b"x")

    with pytest.raises(ConnectionLost, match="closed"):
        transport().run(speak())


def test_connecting_again_closes_the_first_connection(listener: socket.socket) -> None:
    def twice() -> Exchange[None]:
        yield at(listener)
        yield at(listener)

    link = transport()
    link.run(twice())
    first, _ = listener.accept()
    with first:
        first.settimeout(10)
        assert first.recv(1) == b""
    link.close()


def test_replies_are_taken_in_while_much_is_sent(listener: socket.socket) -> None:
    """The server stops reading until its replies are read: a plain send would wait for ever."""
    request, reply = b"q" * (16 << 20), b"r" * (8 << 20)

    def serve() -> None:
        peer, _ = listener.accept()
        with peer:
            peer.sendall(reply)
            left = len(request)
            while left:
                left -= len(peer.recv(1 << 20))
            peer.sendall(b"!")

    def talk() -> Exchange[bytes]:
        into = bytearray(len(reply) + 1)
        yield at(listener)
        count = yield Send(request, memoryview(into))
        while count < len(into):
            count += yield Receive(memoryview(into)[count:])
        return bytes(into)

    server = threading.Thread(target=serve)
    server.start()
    link = transport()
    assert link.run(talk()) == reply + b"!"
    link.close()
    server.join(10)
    assert not server.is_alive()


def test_a_peer_that_hangs_up_during_a_send_is_told(listener: socket.socket) -> None:
    def talk() -> Exchange[None]:
        yield at(listener)
        peer, _ = listener.accept()
        peer.close()
        yield Send(b"q" * (64 << 20), memoryview(bytearray(100)))

    link = transport()
    with pytest.raises(ConnectionLost):
        link.run(talk())
    link.close()


def test_a_wait_without_limit_begins_anew_after_each_wake_up() -> None:
    answers = iter([TimeoutError(), TimeoutError(), 3])

    def receive() -> int:
        answer = next(answers)
        if isinstance(answer, TimeoutError):
            raise answer
        return answer

    assert transport(None)._patiently(receive) == 3


def test_a_peer_given_up_by_the_system_is_a_lost_connection(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ETIMEDOUT is a TimeoutError too, but no matter of our patience."""

    class GivenUp:
        def settimeout(self, seconds: float) -> None: ...

        def recv_into(self, into: memoryview) -> int:
            raise TimeoutError(errno.ETIMEDOUT, "Connection timed out")

    def wait() -> Exchange[None]:
        yield Receive(memoryview(bytearray(10)))

    link = transport(None)
    monkeypatch.setattr(link, "_socket", GivenUp())
    with pytest.raises(ConnectionLost, match="Connection timed out"):
        link.run(wait())


def test_an_attempt_given_up_by_the_system_is_told_with_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: object) -> socket.socket:
        raise TimeoutError(errno.ETIMEDOUT, "Connection timed out")

    def knock() -> Exchange[None]:
        yield Connect("db.example", 9088)

    monkeypatch.setattr(socket, "create_connection", give_up)
    with pytest.raises(ConnectionLost, match=r"cannot connect to db\.example:9088: Connection timed out"):
        BlockingTransport(connect_timeout=None, read_timeout=None).run(knock())


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_a_wait_although_system_calls_are_restarted(listener: socket.socket) -> None:
    """Polars and others set up handlers with SA_RESTART: a recv() without a time limit would go on for ever."""
    done = threading.Event()

    def serve() -> None:
        peer, _ = listener.accept()
        with peer:
            peer.recv(1)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            done.wait(10)

    def wait() -> Exchange[None]:
        yield at(listener)
        yield Send(b"x")
        yield Receive(memoryview(bytearray(10)))

    peer = threading.Thread(target=serve)
    link = transport(None)
    signal.siginterrupt(signal.SIGINT, False)
    try:
        peer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            link.run(wait())
        assert time.monotonic() - began < 5
    finally:
        signal.siginterrupt(signal.SIGINT, True)
        done.set()
        peer.join(10)
        link.close()
