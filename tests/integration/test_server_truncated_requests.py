"""Clients that disconnect at any byte: the server frees all their resources, and other clients are not affected."""

from __future__ import annotations

import os
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.stress import LONG_SOAK_ONLY

from informix_arrow.server import Server
from informix_arrow.wire import messages as m

from .raw import EOT, TIMEOUT, RawClient, connect_request
from .test_server_login import eventually, everything_until_closed

if TYPE_CHECKING:
    from tests.tls_certificates import Certificates

_RESET = struct.pack("ii", 1, 0)


class Recorded(RawClient):
    """A client that records what it has sent."""

    sent: bytes = connect_request().encode()

    def send(self, *messages: m.Message) -> None:
        self.sent += b"".join(message.encode(self.framing) for message in messages)
        super().send(*messages)


def session_bytes() -> bytes:
    """Return the bytes that a client sends in a session with a little of everything."""
    with Server() as server:
        client = Recorded(server, "stores_demo")
        client.command("create temp table cut_away (a int, b varchar(20), c text)")
        client.must(m.Begin())
        insert = client.prepare("insert into cut_away (a, b) values (?, ?)", 2).statement_id
        client.must(m.Id(insert), client.bind(1, "eins"), m.Execute(), client.bind(2, None), m.Execute())
        client.must(m.Id(insert), m.Release())
        client.must(m.Commit())
        query = client.prepare("select a, b from cut_away").statement_id
        client.open_cursor(query)
        client.fetch(query)
        client.must(m.Id(query), m.Close())
        client.must(m.Id(query), m.Release())
        client.send(m.Rollback(), EOT, m.Exit())
        client.socket.close()
        return client.sent


@pytest.fixture(scope="module")
def recorded() -> bytes:
    return session_bytes()


@pytest.fixture
def plain() -> Iterator[Server]:
    with Server() as server:
        yield server


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def leave(sock: socket.socket, how: int) -> None:
    """Close the connection: orderly, after a wait for the server; at once, with unread data; or by a reset."""
    if how == 0:
        sock.shutdown(socket.SHUT_WR)
        everything_until_closed(sock)
    elif how == 1:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    sock.close()


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=LONG_SOAK_ONLY)])
def test_a_session_may_be_cut_at_every_byte(plain: Server, recorded: bytes, every: int) -> None:
    """`make test` takes every fifth byte and the last ones, a soak every byte. The ways to disconnect alternate."""
    assert eventually(lambda: plain.sessions == 0)
    files, threads = open_files(), threading.active_count()
    for size in sorted({*range(0, len(recorded), every), *range(len(recorded) - 9, len(recorded) + 1)}):
        sock = socket.create_connection(plain.address, TIMEOUT)
        sock.sendall(recorded[:size])
        leave(sock, size % 3)
    assert eventually(lambda: plain.sessions == 0)
    assert eventually(lambda: (open_files(), threading.active_count()) == (files, threads))
    with RawClient(plain, "stores_demo") as client:
        assert client.number("select count(*)::int from systables where tabid = 1") == 1


def test_a_tls_session_may_be_cut_at_any_byte_of_its_ciphertext(
    certificates: Certificates, recorded: bytes
) -> None:
    trusting = ssl.create_default_context(cafile=certificates.ca)
    with Server(tls_cert=certificates.server, tls_key=certificates.server_key) as server:
        files, threads = open_files(), threading.active_count()
        for number in range(60):
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            engine = trusting.wrap_bio(incoming, outgoing, server_hostname="localhost")
            sock = socket.create_connection(server.address, TIMEOUT)
            left = number * 43  # bytes until the client disconnects: during the handshake, or after it
            try:
                while left:
                    try:
                        engine.do_handshake()
                        engine.write(recorded)
                        left = min(left, outgoing.pending)
                    except ssl.SSLWantReadError:
                        pass
                    said = outgoing.read(left)
                    left -= len(said)
                    sock.sendall(said)
                    if left:
                        incoming.write(sock.recv(65536))
            except OSError:
                pass
            leave(sock, number % 3)
        assert eventually(lambda: server.sessions == 0)
        assert eventually(lambda: (open_files(), threading.active_count()) == (files, threads))
        with RawClient(server, "stores_demo", tls=trusting) as client:
            assert client.number("select count(*)::int from systables where tabid = 1") == 1
