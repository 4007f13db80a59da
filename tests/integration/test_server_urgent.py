"""The urgent byte on its way from the kernel to the session: whoever reads, it is not thrown away."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator

import pytest

from informix_arrow.server.stream import Stream


class Ends:
    """A served socket whose watcher is asleep: only the session's own thread looks."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.client = socket.create_connection(listening.getsockname())
            self.served, _ = listening.accept()
        self.taken: list[tuple[bytes, bool]] = []
        self.stream = Stream(self.served, self.take)

    def take(self) -> None:
        self.taken.append((self.served.recv(1, socket.MSG_OOB), self.stream.idle))

    def urgent(self) -> None:
        self.client.send(b"B", socket.MSG_OOB)
        poll = select.poll()
        poll.register(self.served, select.POLLPRI)
        assert poll.poll(10_000)


@pytest.fixture
def ends() -> Iterator[Ends]:
    ends = Ends()
    yield ends
    ends.client.close()
    ends.served.close()


def test_a_read_that_comes_upon_an_urgent_byte_takes_it(ends: Ends) -> None:
    ends.urgent()
    assert ends.stream.receive_now() is None
    assert ends.taken == [(b"B", False)]
    assert ends.stream.receive_now() is None
    assert len(ends.taken) == 1


def test_an_urgent_byte_between_bytes(ends: Ends) -> None:
    ends.client.send(b"before")
    ends.urgent()
    ends.client.send(b"after")
    assert ends.stream.receive_now()
    while ends.stream.inbox != b"beforeafter":
        assert ends.stream.receive()
    assert ends.taken == [(b"B", False)]


def test_an_urgent_byte_ahead_of_bytes(ends: Ends) -> None:
    ends.urgent()
    ends.client.send(b"after")
    assert ends.stream.receive()
    assert ends.stream.inbox == b"after"
    assert [byte for byte, _ in ends.taken] == [b"B"]


def test_whoever_waits_with_nothing_to_do_is_idle_when_it_comes(ends: Ends) -> None:
    ends.urgent()
    ends.client.shutdown(socket.SHUT_WR)
    assert ends.stream.receive() is False
    assert ends.taken == [(b"B", True)]


def test_whoever_waits_in_a_statement_is_not_idle(ends: Ends) -> None:
    ends.urgent()
    ends.client.shutdown(socket.SHUT_WR)
    ends.stream.asking = True
    assert ends.stream.receive() is False
    assert ends.taken == [(b"B", False)]
