"""The blocking transport over real sockets: time limits, lost peers, sending while replies pile up."""

from __future__ import annotations

import socket
import threading
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
