"""Clients that use large objects to exhaust the server's memory or disk, or to delay other clients."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Iterator

import pyarrow as pa
import pytest

from informix_arrow.server import Server
from informix_arrow.server.handlers import large_objects
from informix_arrow.server.handlers.lob_columns import to_hexadecimal
from informix_arrow.wire import messages as m

from .raw import EOT, RawClient, one
from .test_server_login import eventually
from .test_server_smart_objects import READ_WRITE, SEEK, TRUNCATE, call, create, int8, integer, open_object

TERABYTE = 1 << 40


@pytest.fixture
def client(server: Server) -> Iterator[RawClient]:
    with RawClient(server, "stores_demo") as client:
        yield client


def read(client: RawClient, descriptor: int, count: int, offset: int) -> bytes:
    return one(client.must(m.LoData.read(descriptor, count, offset)), m.LoDataReply).data


def test_a_byte_behind_three_terabytes_of_nothing_is_written_at_once(client: RawClient) -> None:
    _, descriptor = create(client)
    client.must(m.LoData.write(descriptor, b"head"))
    call(client, SEEK, integer(descriptor), int8(3 * TERABYTE), integer(0), int8(0))
    client.must(m.LoData.write(descriptor, b"tail"))
    assert read(client, descriptor, 10, 0) == b"head" + bytes(6)
    assert read(client, descriptor, 10, TERABYTE) == bytes(10)
    assert read(client, descriptor, 100, 3 * TERABYTE - 3) == bytes(3) + b"tail"
    assert read(client, descriptor, 100, 3 * TERABYTE + 4) == b""


def test_a_hole_is_filled_cut_and_read_like_any_other_bytes(client: RawClient) -> None:
    """A bytearray receives the same operations and is compared with the object."""
    locator, descriptor = create(client)
    model = bytearray()
    for offset, data in (
        (5000, b"first"),
        (100, b"a" * 50),
        (4999, b"over"),
        (0, b"h"),
        (9000, b"end"),
        (5003, b""),
    ):
        call(client, SEEK, integer(descriptor), int8(offset), integer(0), int8(0))
        client.must(m.LoData.write(descriptor, data))
        if data:
            model.extend(bytes(max(0, offset + len(data) - len(model))))
            model[offset : offset + len(data)] = data
        assert read(client, descriptor, 100_000, 0) == bytes(model)
    for size in (8000, 120, 20_000, 3, 0, 7):
        call(client, TRUNCATE, integer(descriptor), int8(size))
        del model[size:]
        model.extend(bytes(size - len(model)))
        again = open_object(client, locator)
        assert read(client, again, 100_000, 0) == bytes(model)
        assert read(client, again, 50, 90) == bytes(model[90:140])


@pytest.mark.parametrize("offset", [-1, (1 << 42) + 1, 2**62])
def test_positions_out_of_all_bounds_are_refused(client: RawClient, offset: int) -> None:
    _, descriptor = create(client)
    assert client.error(m.LoData(1, descriptor, 10, 100, offset, 0)) == -9810
    client.must(m.LoData.write(descriptor, b"still here"))
    assert read(client, descriptor, 100, 0) == b"still here"


@pytest.mark.parametrize(
    "message",
    [
        m.LoData(0, 1, -1),
        m.LoData(0, 1, 10, 0),
        m.LoData(0, 1, 10, -5),
        m.LoData(0, 0, 10),
        m.LoData(0, -1, 10),
        m.LoData(0, 32767, 10),
        m.LoData(1, 1, 10, 100, 0, 9),
    ],
    ids=repr,
)
def test_absurd_reads_are_refused_and_the_session_goes_on(client: RawClient, message: m.LoData) -> None:
    _, descriptor = create(client)
    assert descriptor == 1
    client.must(m.LoData.write(descriptor, b"abc"))
    assert client.error(message) == -9810
    assert read(client, descriptor, 2**31 - 1, 0) == b"abc"


@pytest.mark.parametrize("count", [-1, 2**31 - 1])
def test_a_write_that_lies_about_its_size_harms_its_own_session_only(server: Server, count: int) -> None:
    before = server.sessions
    with RawClient(server, "stores_demo") as client, RawClient(server, "stores_demo") as other:
        _, descriptor = create(client)
        client.socket.sendall(struct.pack(">hhhih", 97, 2, descriptor, count, 32000) + b"\0\4abcd\0\0")
        with pytest.raises(ConnectionError):
            client.receive_group()
        assert other.number("SELECT COUNT(*)::INT FROM systables WHERE tabid = 1") == 1
    assert eventually(lambda: server.sessions <= before)  # an earlier test's session may be ending


def bound_byte(size: int) -> m.Bind:
    descriptor = bytearray(56)
    descriptor[16:20] = size.to_bytes(4, "big", signed=True)
    return m.Bind((m.BoundValue(11, bytes(descriptor)),))


def test_an_endless_content_of_tiny_pieces_takes_no_more_room_than_it_has_bytes(client: RawClient) -> None:
    """Regression: stored as a list of its pieces, each byte took thirty bytes of memory."""
    client.command("CREATE TEMP TABLE t_tiny (y BYTE)")
    insert = client.prepare("INSERT INTO t_tiny VALUES (?)", 1).statement_id
    client.socket.settimeout(600)  # tracing makes all of it slow
    pieces, size = 60_000, 3
    client.must(m.Id(insert), bound_byte(1), m.BlobBind(1), m.BlobChunk(b"x"), m.BlobChunk(b""), m.Execute())
    block = m.BlobChunk(b"xyz").encode(client.framing) * 10_000
    tracemalloc.start()
    try:
        client.send(m.Id(insert), bound_byte(pieces * size), m.BlobBind(1))
        for _ in range(pieces // 10_000):
            client.socket.sendall(block)
        client.must(m.BlobChunk(b""), m.Execute())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 7 << 20  # 5 MB without a content


def test_values_bound_to_many_statements_that_never_run_are_bounded_together(
    client: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_objects, "MAX_CONTENT", 1 << 20)
    client.command("CREATE TEMP TABLE t_bound (y BYTE, x LVARCHAR(32000), tail INT)")
    for form in ("content", "text"):
        statements, taken = [], 0
        for _ in range(8):
            if form == "content":
                insert = client.prepare("INSERT INTO t_bound VALUES (?, NULL, 7)", 1).statement_id
                pieces = [m.BlobChunk(b"x" * 30_000)] * 10
                messages = [m.Id(insert), bound_byte(300_000), m.BlobBind(1), *pieces, m.BlobChunk(b"")]
            else:
                insert = client.prepare("INSERT INTO t_bound (x, tail) VALUES (?, 7)", 1).statement_id
                messages = [m.Id(insert), client.bind("x" * 300_000)]
            statements.append(insert)
            refused = [message for message in client.ask(*messages) if isinstance(message, m.Err)]
            assert [error.sqlcode for error in refused] == [-605] * len(refused)
            taken += not refused
        assert taken == 3
        for insert in statements:
            client.ask(m.Id(insert), m.Release())
    insert = client.prepare("INSERT INTO t_bound VALUES (?, NULL, 7)", 1).statement_id
    pieces = [m.BlobChunk(b"x" * 30_000)] * 10
    client.must(m.Id(insert), bound_byte(300_000), m.BlobBind(1), *pieces, m.BlobChunk(b""), m.Execute())
    assert client.number("SELECT tail FROM t_bound") == 7


def test_a_session_that_waits_for_its_clients_file_keeps_nobody_waiting(server: Server) -> None:
    with RawClient(server, "stores_demo") as keeper:
        keeper.command("CREATE TABLE t_waiting (id INT, b BLOB, tail INT)")
        before = server.sessions
        with RawClient(server, "stores_demo") as client:
            insert = "INSERT INTO t_waiting VALUES (2, filetoblob('/in', 'client'), 2)"
            client.send(m.Command(insert), m.NDescribe(), m.Execute(), m.Release(), EOT)
            assert isinstance(client.receive(), m.FileRequest)
            client.receive_group()
            client.send(EOT)
            assert isinstance(client.receive(), m.FileRequest)  # to read the file
            client.receive_group()
            client.send(m.FileTotal(2**31 - 1))
            for _ in range(100):  # and its reply never ends
                client.send(m.FileRead(b"x" * 32000))
            keeper.command("INSERT INTO t_waiting VALUES (3, NULL, 3)")
            assert keeper.number("SELECT COUNT(*)::INT FROM t_waiting") == 1
            keeper.command("CREATE TABLE t_waiting_too (id INT)")
        assert eventually(lambda: server.sessions <= before)  # an earlier test's session may be ending
        keeper.command("DROP TABLE t_waiting_too")
        keeper.command("DROP TABLE t_waiting")


def test_requests_sent_ahead_of_a_files_answer_are_bounded(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request is two bytes on the wire, and an object in memory."""
    from informix_arrow.server.handlers import client_files

    assert client_files._MAX_AHEAD <= 64 << 20
    monkeypatch.setattr(client_files, "_MAX_AHEAD", 1 << 20)  # the real limit would take too long to reach
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_ahead (id INT, b BLOB)")
        insert = "INSERT INTO t_ahead VALUES (2, filetoblob('/in', 'client'))"
        client.send(m.Command(insert), m.NDescribe(), m.Execute(), m.Release(), EOT)
        assert isinstance(client.receive(), m.FileRequest)
        client.receive_group()
        most = client_files._MAX_AHEAD // client_files._MIN_MESSAGE_COST + 2
        client.socket.settimeout(120)

        def send_ahead() -> None:
            client.socket.sendall(m.Execute().encode(client.framing) * most)
            client.receive_group()

        with pytest.raises(ConnectionError):
            send_ahead()


def test_hexadecimal_locators_of_a_slice_keep_their_nulls() -> None:
    values = pa.array([None, b"ab", None, b"cd", b"ef"], pa.binary())
    assert to_hexadecimal(values.slice(3)).to_pylist() == [b"6364", b"6566"]
    assert to_hexadecimal(values.slice(1, 3)).to_pylist() == [b"6162", None, b"6364"]
    found = to_hexadecimal(values.slice(3))
    assert found.is_valid().to_pylist() == [True, True]
    found.validate(full=True)


def test_an_object_written_in_parts_keeps_every_byte_of_its_neighbours(client: RawClient) -> None:
    locators = [create(client, mode=READ_WRITE) for _ in range(3)]
    for step in range(4):
        for place, (_, descriptor) in enumerate(locators):
            client.must(m.LoData.write(descriptor, bytes([place, step]) * 33))
    for place, (locator, _) in enumerate(locators):
        again = open_object(client, locator)
        assert read(client, again, 10_000, 0) == b"".join(bytes([place, step]) * 33 for step in range(4))
