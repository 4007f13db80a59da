"""Lengths and counts from a client that the server ignores, because the bytes themselves show where they end."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import pytest

from informix_arrow.server import Server
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.login import ConnectReply

from .raw import EOT, TIMEOUT, RawClient, connect_request


def integer(value: int) -> m.BoundValue:
    return m.BoundValue(2, struct.pack(">i", value))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.mark.parametrize("length", [0, 0x24, 0x26, 0x28, 0x7FFF, 0xFFFF])
def test_the_length_of_the_environment_is_not_used(server: Server, length: int) -> None:
    info = bytes.fromhex(
        f"0051 0006 {length:04x} 000c 0004 0006 444254454d50 0004 2f746d70"
        "000b 535542515543484553495a 00 0002 3130 0000 0000 000c"
    )
    with RawClient(server) as client:
        client.socket.sendall(info)
        assert client.receive_group() == []
        client.open_database("sysmaster")
        assert client.number("select 7 from systables where tabid = 1") == 7


@pytest.mark.parametrize("stated", [0, 1, 2, 3, 0x7FFF, -1])
def test_the_stated_number_of_parameters_is_not_used(server: Server, stated: int) -> None:
    with RawClient(server, "sysmaster") as client:
        client.command("create temp table stated (a int, b int)")
        insert = client.prepare("insert into stated values (?, ?)", stated).statement_id
        client.must(m.Id(insert), m.Bind((integer(1), integer(stated))), m.Execute())
        assert client.number("select b from stated where a = 1") == stated


@pytest.mark.parametrize("size", [0, 1, -1, -(1 << 31), (1 << 31) - 1])
def test_a_fetch_of_any_size_gives_at_least_a_row(server: Server, size: int) -> None:
    with RawClient(server, "sysmaster") as client:
        query = client.prepare("select tabid, 5 from systables where tabid = 1").statement_id
        client.open_cursor(query)
        rows = [each.payload for each in client.ask(m.Id(query), m.Fetch(size)) if isinstance(each, m.Tuple)]
        assert rows == [struct.pack(">ii", 1, 5)]


@pytest.mark.parametrize("size", [8, 9, 12])
def test_capabilities_may_be_longer_than_what_is_known_of_them(server: Server, size: int) -> None:
    with RawClient(server, negotiate=False) as client:
        mask = b"\xff" * size
        client.send(m.Protocols(mask), EOT)
        (answer,) = client.receive_group()
        assert isinstance(answer, m.Protocols)
        client.framing = Framing.negotiate(mask, answer.mask)
        client.open_database("sysmaster")
        assert client.number("select 7 from systables where tabid = 1") == 7


@pytest.mark.parametrize("stated", [0, 10, 0x7FFF, -1])
def test_the_length_of_the_last_block_of_a_login_is_not_used(server: Server, stated: int) -> None:
    login = connect_request().encode()
    at = login.rindex(b"\0\x74")  # SQ_ASCMISC: its length, eight bytes, the application's name
    assert login[at + 2 : at + 4] == struct.pack(">h", 11)
    sent = login[: at + 2] + struct.pack(">h", stated) + login[at + 4 :] + b"more"
    with socket.create_connection(server.address, TIMEOUT) as sock:
        sock.sendall(struct.pack(">H", len(sent)) + sent[2:])
        assert ConnectReply.parse(sock.recv(4096)).kind == "accept"
