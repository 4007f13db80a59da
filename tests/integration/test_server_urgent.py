"""The urgent byte on its way from the kernel to the session: whichever thread reads, it is not lost."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator

import pytest

from informix_arrow.server import Server
from informix_arrow.server.net.socket_stream import Stream
from informix_arrow.wire import messages as m

from .raw import RawClient, one


class Ends:
    """A served socket without a running watcher: only the session's own thread reads."""

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
    assert ends.stream.try_receive() is None
    assert ends.taken == [(b"B", False)]
    assert ends.stream.try_receive() is None
    assert len(ends.taken) == 1


def test_an_urgent_byte_between_bytes(ends: Ends) -> None:
    ends.client.send(b"before")
    ends.urgent()
    ends.client.send(b"after")
    assert ends.stream.try_receive()
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
    ends.stream.awaiting_client = True
    assert ends.stream.receive() is False
    assert ends.taken == [(b"B", False)]


def test_interrupts_in_a_row_never_damage_the_stream(server: Server) -> None:
    """TCP marks only the last of them as urgent."""
    with RawClient(server, "sysmaster") as client:
        for _ in range(50):
            for _ in range(3):
                client.send(m.Version(), m.EndOfTurn())
                for _ in range(3):
                    client.socket.send(b"B", socket.MSG_OOB)
            assert client.receive_groups(3) == [[]] * 3


@pytest.mark.parametrize("stray", [b"B", b"BBBBB"])
def test_an_interrupt_that_comes_as_data_between_messages_is_passed_over(
    server: Server, stray: bytes
) -> None:
    with RawClient(server, "sysmaster") as client:
        version = m.Version().encode(client.framing)
        end = m.EndOfTurn().encode(client.framing)
        client.socket.sendall(stray + version + stray + end + stray)
        assert client.receive_group() == []
        client.socket.sendall(stray + version + stray)
        client.socket.sendall(end)
        assert client.receive_group() == []


def test_an_interrupt_that_comes_as_data_among_rows_is_passed_over(server: Server) -> None:
    with RawClient(server, "sysmaster") as client:
        client.command("create temp table stray_rows (a int)")
        insert = client.prepare("insert into stray_rows values (?)", 1).statement_id
        group = [m.Id(insert), client.bind(66), m.Execute(), m.EndOfTurn()]
        row = b"".join(message.encode(client.framing) for message in group)
        client.socket.sendall((row * 100 + b"BB") * 3)
        for reply in client.receive_groups(300):
            assert one(reply, m.Done).rows == 1
        assert client.number("select count(*)::int from stray_rows") == 300


def test_an_interrupt_within_a_message_that_comes_as_data_is_still_an_error(server: Server) -> None:
    with RawClient(server, "sysmaster") as client:
        client.socket.sendall(b"\0B")
        with pytest.raises(ConnectionError):
            client.receive()


def test_what_is_held_is_seen_when_enough_has_come(ends: Ends) -> None:
    ends.client.sendall(b"ab")
    assert ends.stream.receive()
    ends.stream.pos = 1
    ends.stream.require_bytes(5)
    for piece in (b"cd", b"efgh"):
        assert not ends.stream.ready
        assert ends.stream.inbox[ends.stream.pos :] == b"b"
        ends.client.sendall(piece)
        while ends.stream.unread < {b"cd": 3, b"efgh": 7}[piece]:
            assert ends.stream.receive()
    assert ends.stream.ready
    assert (ends.stream.inbox, ends.stream.pos) == (b"bcdefgh", 0)
    ends.client.sendall(b"i")
    assert ends.stream.receive()
    assert ends.stream.inbox == b"bcdefghi"


def test_nothing_behind_an_urgent_byte_is_read_before_it_is_heeded(ends: Ends) -> None:
    heeded, taken = threading.Event(), threading.Event()

    def watch() -> None:
        with ends.stream.urgent_lock:
            ends.served.recv(1, socket.MSG_OOB)
            taken.set()
            heeded.wait(0.2)  # a slow watcher
            order.append("heeded")

    order: list[str] = []
    ends.urgent()
    ends.client.send(b"after")
    watcher = threading.Thread(target=watch)
    watcher.start()
    assert taken.wait(30)
    assert ends.stream.receive()
    order.append("read")
    watcher.join()
    assert order == ["heeded", "read"]
