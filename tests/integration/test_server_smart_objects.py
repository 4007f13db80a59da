"""BLOB and CLOB: the fast path's routines, SQ_LODATA, and both forms of locators."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import pytest

from informix_arrow.server import Server
from informix_arrow.server.net.socket_stream import SEND_BACKLOG, Stream
from informix_arrow.wire import messages as m
from informix_arrow.wire.messages import BoundValue
from informix_arrow.wire.types import ColumnType

from .raw import RawClient, one

READ, READ_WRITE = 4, 8
OPEN = {kind: f"function informix.ifx_lo_open({kind} ,integer)" for kind in ("blob", "clob")}
CREATE = {kind: f"function informix.ifx_lo_create( ifx_lo_spec,integer,{kind})" for kind in ("blob", "clob")}
CLOSE = "function informix.ifx_lo_close(integer)"
STAT = "function informix.ifx_lo_stat(int, ifx_lo_stat)"
SEEK = "function informix.ifx_lo_seek(integer,int8,integer,int8)"
RELEASE = "function informix.ifx_lo_release(blob)"
TRUNCATE = "function informix.ifx_lo_truncate(integer,int8)"
SBINFO = "function informix.ifx_lo_col_sbinfo(lvarchar,ifx_lo_spec)"
SPECIFICATION = bytes.fromhex("dadafeed").ljust(596, b"\1")


def content(size: int) -> bytes:
    return bytes((k * 7 + k // 251) & 0xFF for k in range(size))


def integer(value: int) -> BoundValue:
    return BoundValue(2, value.to_bytes(4, "big", signed=True), 0x0A00)


def int8(value: int) -> BoundValue:
    sign = -1 if value < 0 else 1
    return BoundValue(17, struct.pack(">hII", sign, abs(value) & 0xFFFF_FFFF, abs(value) >> 32), 0x1300)


def opaque(name: str, data: bytes) -> BoundValue:
    return BoundValue(44, len(data).to_bytes(4, "big") + data, extended_name=name)


def handle_of(client: RawClient, signature: str) -> int:
    return one(client.must(m.GetRoutine(signature)), m.RoutineHandle).handle


def call_messages(client: RawClient, signature: str, arguments: Sequence[BoundValue]) -> list[m.Message]:
    handle = handle_of(client, signature)
    return [m.ExecuteRoutine("stores_demo", handle, len(arguments)), m.Bind(tuple(arguments))]


def call(client: RawClient, signature: str, *arguments: BoundValue) -> tuple[BoundValue, ...]:
    return one(client.must(*call_messages(client, signature, arguments)), m.RoutineResult).values


def number(values: tuple[BoundValue, ...]) -> int:
    (value,) = values
    assert value.data is not None
    assert value.type == 2
    return int.from_bytes(value.data, "big", signed=True)


def create(client: RawClient, kind: str = "blob", mode: int = READ_WRITE) -> tuple[bytes, int]:
    """Create an object and return its locator and open descriptor."""
    locator, descriptor = call(
        client, CREATE[kind], opaque("ifx_lo_spec", SPECIFICATION), integer(mode), opaque(kind, bytes(72))
    )
    assert (locator.type, locator.owner, locator.extended_name) == (44, "informix", kind)
    assert locator.data is not None
    assert locator.data[:4] == (72).to_bytes(4, "big")
    return locator.data[4:], number((descriptor,))


def open_object(client: RawClient, locator: bytes, kind: str = "blob", mode: int = READ) -> int:
    return number(call(client, OPEN[kind], opaque(kind, locator), integer(mode)))


def lo_data(client: RawClient, message: m.LoData) -> m.LoDataReply:
    return one(client.must(message), m.LoDataReply)


def stored(client: RawClient, data: bytes, kind: str = "blob") -> bytes:
    """Create an object with this content, close it, and return its locator."""
    locator, descriptor = create(client, kind)
    for at in range(0, len(data), 32000):
        piece = data[at : at + 32000]
        assert lo_data(client, m.LoData.write(descriptor, piece)).size == len(piece)
    assert number(call(client, CLOSE, integer(descriptor))) == 0
    return locator


@pytest.fixture
def client(server: Server) -> Iterator[RawClient]:
    with RawClient(server, "stores_demo") as client:
        yield client


@pytest.mark.parametrize("kind", ["blob", "clob"])
@pytest.mark.parametrize("size", [0, 1, 31999, 32000, 32001, 100_001])
def test_an_object_that_was_created_and_written_is_read_back(client: RawClient, kind: str, size: int) -> None:
    data = content(size)
    descriptor = open_object(client, stored(client, data, kind), kind)
    stat, status = call(client, STAT, integer(descriptor), opaque("ifx_lo_stat", bytes(644)))
    assert number((status,)) == 0
    assert stat.data is not None
    assert len(stat.data) == 4 + 644
    assert struct.unpack_from(">IIh", stat.data, 4 + 4) == (size, 0, 1)
    found = b""
    while True:
        reply = lo_data(client, m.LoData.read(descriptor, 32000))
        assert reply.size == len(reply.data)
        if not reply.data:
            break
        found += reply.data
    assert found == data
    call(client, CLOSE, integer(descriptor))


def test_a_locator_is_72_raw_bytes_where_they_were_asked_for_and_hexadecimal_elsewhere(
    client: RawClient,
) -> None:
    client.command("CREATE TEMP TABLE t_locators (id INT, b BLOB, tail INT)")
    statement = client.prepare("INSERT INTO t_locators VALUES (?, ?, ?)", 3).statement_id
    locators = [stored(client, content(size)) for size in (3, 0, 70_000)]
    for key, locator in enumerate([*locators, None]):
        value = BoundValue(44, None, 0, -1) if locator is None else opaque("blob", locator)
        client.must(m.Id(statement), m.Bind((integer(key), value, integer(-key))), m.Execute())
    query = client.prepare("SELECT id, b, tail FROM t_locators ORDER BY id").statement_id
    client.open_cursor(query)
    payloads, _ = client.fetch(query)
    for key, (payload, locator) in enumerate(zip(payloads, [*locators, None], strict=True)):
        envelope = b"\1\0\0\0\0" if locator is None else b"\0\0\0\0\x90" + locator.hex().encode()
        assert payload == key.to_bytes(4, "big") + envelope + (-key).to_bytes(4, "big", signed=True)
    wanted = (
        ColumnType(2, 4),
        ColumnType(44, 72, owner="informix", extended_name="blob"),
        ColumnType(2, 4),
    )
    client.open_cursor(query)
    reply = client.must(m.Id(query), m.RetType(m.RetType.FETCH, wanted), m.Fetch(4096))
    rows = [message.payload for message in reply if isinstance(message, m.Tuple)]
    for key, (payload, locator) in enumerate(zip(rows, [*locators, None], strict=True)):
        envelope = b"\1\0\0\0\0" if locator is None else b"\0\0\0\0\x48" + locator
        assert payload == key.to_bytes(4, "big") + envelope + (-key).to_bytes(4, "big", signed=True)
    descriptor = open_object(client, locators[2])
    assert lo_data(client, m.LoData.read(descriptor, 1 << 20)).data == content(70_000)


def test_descriptors_begin_at_1_and_a_closed_one_is_given_again(client: RawClient) -> None:
    locator = stored(client, b"abc")
    first, second = (open_object(client, locator) for _ in range(2))
    assert (first, second) == (1, 2)
    call(client, CLOSE, integer(first))
    assert client.error(m.LoData.read(first, 10)) == -9810
    assert [open_object(client, locator) for _ in range(2)] == [1, 3]


def test_an_object_created_as_a_blob_may_be_put_into_a_clob_column(client: RawClient) -> None:
    """JDBC does so for every CLOB."""
    client.command("CREATE TEMP TABLE t_as_clob (id INT, c CLOB, tail INT)")
    statement = client.prepare("INSERT INTO t_as_clob VALUES (?, ?, ?)", 3).statement_id
    locator = stored(client, "texté".encode(), "blob")
    client.must(m.Id(statement), m.Bind((integer(1), opaque("clob", locator), integer(7))), m.Execute())
    (row,) = client.select("SELECT c, tail FROM t_as_clob")
    assert row == b"\0\0\0\0\x90" + locator.hex().encode() + b"\0\0\0\7"
    descriptor = open_object(client, locator, "clob")
    assert lo_data(client, m.LoData.read(descriptor, 99)).data == "texté".encode()


def test_reading_may_begin_anywhere(client: RawClient) -> None:
    data = content(5000)
    descriptor = open_object(client, stored(client, data))

    def read(offset: int, whence: int, count: int) -> bytes:
        message = m.LoData(1, descriptor, count, offset=offset, whence=whence)
        return lo_data(client, message).data

    assert read(1000, m.Whence.SET, 10) == data[1000:1010]
    assert read(5, m.Whence.CURRENT, 10) == data[1015:1025]
    assert read(-25, m.Whence.CURRENT, 10) == data[1000:1010]
    assert read(-3, m.Whence.END, 100) == data[-3:]
    assert read(0, m.Whence.END, 100) == b""
    assert read(9000, m.Whence.SET, 100) == b""
    assert lo_data(client, m.LoData.read(descriptor, 1)).data == b""
    for offset, whence in ((-1, 0), (-5001, 2), (1 << 50, 0), (0, 3), (0, -1)):
        message = m.LoData(1, descriptor, 1, offset=offset, whence=whence)
        assert client.error(message) == -9810
    assert read(0, m.Whence.SET, 5) == data[:5]


def test_answers_come_in_the_pieces_that_were_asked_for(client: RawClient) -> None:
    data = content(5001)
    descriptor = open_object(client, stored(client, data))
    for piece in (1, 7, 1000, 32000, 32767):
        message = m.LoData(1, descriptor, 5001, piece, 0, 0)
        client.send(message, m.EndOfTurn())
        expected = struct.pack(">hhi", 97, 1, 5001)
        step = min(piece, 32000)
        for at in range(0, 5001, step):
            part = data[at : at + step]
            expected += len(part).to_bytes(2, "big") + part + b"\0" * (len(part) & 1)
        assert client.exactly(len(expected) + 2) == expected + b"\0\x0c"
    for piece in (0, -1):
        assert client.error(m.LoData(0, descriptor, 1, piece)) == -9810
    assert client.error(m.LoData(0, descriptor, -1)) == -9810


def test_writing_goes_on_where_it_ended_and_anywhere_else(client: RawClient) -> None:
    locator, descriptor = create(client)
    for piece in (b"abc", b"", b"defgh"):
        assert lo_data(client, m.LoData.write(descriptor, piece)).size == len(piece)
    position, status = call(client, SEEK, integer(descriptor), int8(2), integer(0), int8(0))
    assert number((status,)) == 0
    assert position == int8(2)._replace(precision=0)
    lo_data(client, m.LoData.write(descriptor, b"XY"))
    call(client, SEEK, integer(descriptor), int8(2), integer(2), int8(0))
    lo_data(client, m.LoData.write(descriptor, b"Z"))
    assert lo_data(client, m.LoData.read(descriptor, 99, 0)).data == b"abXYefgh\0\0Z"
    assert number(call(client, TRUNCATE, integer(descriptor), int8(3))) == 0
    assert lo_data(client, m.LoData.read(descriptor, 99, 0)).data == b"abX"
    appending = open_object(client, locator, mode=1)
    lo_data(client, m.LoData.write(appending, b"!"))
    assert lo_data(client, m.LoData.read(descriptor, 99, 0)).data == b"abX!"


def test_what_an_object_is_not_open_for_is_refused(client: RawClient) -> None:
    locator = stored(client, b"abc")
    reading, writing = open_object(client, locator, mode=READ), open_object(client, locator, mode=2)
    jdbc = open_object(client, locator, mode=0x800)
    for descriptor in (reading, jdbc):
        assert client.error(m.LoData.write(descriptor, b"x")) == -9810
        assert client.error(*call_messages(client, TRUNCATE, [integer(descriptor), int8(0)])) == -9810
        assert lo_data(client, m.LoData.read(descriptor, 9)).data == b"abc"
    assert client.error(m.LoData.read(writing, 9)) == -9810


def test_descriptors_and_locators_that_are_none_are_refused_and_the_wire_stays_in_step(
    client: RawClient, server: Server
) -> None:
    locator = stored(client, b"abc")
    descriptor = open_object(client, locator)
    call(client, CLOSE, integer(descriptor))
    for wrong in (descriptor, -1, 32767, -32768):
        assert client.error(*call_messages(client, CLOSE, [integer(wrong)])) == -9810
        assert client.error(m.LoData.read(wrong, 10)) == -9810
        assert client.error(m.LoData(1, wrong, 10)) == -9810
        assert client.error(m.LoData.write(wrong, b"some bytes")) == -9810
    for forged in (bytes(72), locator[:-1], b"", b"\xff" * 72, locator.hex().encode()[:-2]):
        arguments = [opaque("blob", forged), integer(READ)]
        assert client.error(*call_messages(client, OPEN["blob"], arguments)) == -9810
    mine = open_object(client, locator)
    with RawClient(server, "stores_demo") as other:
        assert other.error(m.LoData.read(mine, 10)) == -9810
    assert lo_data(client, m.LoData.read(mine, 10)).data == b"abc"


def test_a_signature_is_known_in_any_spelling_and_an_unknown_routine_is_refused(client: RawClient) -> None:
    reply = one(client.must(m.GetRoutine(CLOSE)), m.RoutineHandle)
    assert reply.database == "stores_demo"
    for spelling in (
        "FUNCTION informix.ifx_lo_close( INTEGER )",
        "function ifx_lo_close(int)",
        " function  informix . ifx_lo_close ( integer ) ",
    ):
        assert handle_of(client, spelling) == reply.handle
    for unknown in (
        "function informix.ifx_lo_nothing(integer)",
        "function informix.ifx_lo_close(lvarchar)",
        "function informix.ifx_lo_close",
        "odd",
        "",
        "é" * 100,
    ):
        assert client.error(m.GetRoutine(unknown)) == -674
    assert client.error(m.ExecuteRoutine("", 5, 1), m.Bind((integer(1),))) == -674
    assert client.error(m.ExecuteRoutine("", -1, 0), m.Bind(())) == -674


def test_arguments_that_do_not_fit_a_routine_are_refused(client: RawClient) -> None:
    handle = handle_of(client, CLOSE)
    null = BoundValue(2, None, 0, -1)
    for count, arguments in (
        (1, ()),
        (2, (integer(1),)),
        (2, (integer(1), integer(1))),
        (1, (null,)),
        (1, (BoundValue(0, b"\0\x011"),)),
    ):
        assert client.error(m.ExecuteRoutine("", handle, count), m.Bind(arguments)) == -664
    locator = stored(client, b"abc")
    assert client.error(*call_messages(client, OPEN["blob"], [integer(1), integer(4)])) == -664
    assert client.error(*call_messages(client, OPEN["blob"], [opaque("blob", locator), null])) == -664
    assert client.ask(m.ExecuteRoutine("", handle, 1)) == []  # the arguments are missing: nothing is executed
    assert client.error(m.Bind((integer(1),))) == -258  # arguments without a routine


def test_the_column_that_objects_are_created_for_must_exist(client: RawClient) -> None:
    client.command("CREATE TABLE t_sbinfo (id INT, b BLOB, tail INT)")
    specification = opaque("ifx_lo_spec", SPECIFICATION)

    def column(name: bytes) -> BoundValue:
        return BoundValue(43, len(name).to_bytes(4, "big") + name, extended_name="lvarchar")

    found, status = call(client, SBINFO, column(b"t_sbinfo.b"), specification)
    assert number((status,)) == 0
    assert found.data is not None
    assert found.data[4:] == SPECIFICATION
    assert client.error(*call_messages(client, SBINFO, [column(b"t_sbinfo.x"), specification])) == -217
    assert client.error(*call_messages(client, SBINFO, [column(b"no_table.b"), specification])) == -206
    client.command("DROP TABLE t_sbinfo")


def test_an_object_goes_with_the_transaction_that_made_it(client: RawClient) -> None:
    client.must(m.Begin())
    locator = stored(client, b"never")
    descriptor = open_object(client, locator)
    client.must(m.Rollback())
    assert client.error(m.LoData.read(descriptor, 10)) == -9810
    assert client.error(*call_messages(client, OPEN["blob"], [opaque("blob", locator), integer(4)])) == -9810


def test_a_long_read_is_sent_as_the_client_takes_it(
    client: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    peak = 0
    queue = Stream.queue

    def watched(self: Stream, data: bytes | bytearray) -> None:
        nonlocal peak
        queue(self, data)
        peak = max(peak, len(self._outbox))

    data = content(1 << 20) * 5
    descriptor = open_object(client, stored(client, data))
    monkeypatch.setattr(Stream, "queue", watched)
    for _ in range(3):
        client.send(m.LoData.read(descriptor, 1 << 30, 0), m.EndOfTurn())
    for group in client.receive_groups(3):
        assert one(group, m.LoDataReply).data == data
    assert 0 < peak < 2 * SEND_BACKLOG


def test_a_descriptor_given_by_sql_is_one_as_any_other(client: RawClient) -> None:
    client.command("CREATE TEMP TABLE t_lo_sql (id INT, b BLOB, tail INT)")
    statement = client.prepare("INSERT INTO t_lo_sql VALUES (?, ?, ?)", 3).statement_id
    value = opaque("blob", stored(client, b"by sql"))
    client.must(m.Id(statement), m.Bind((integer(1), value, integer(7))), m.Execute())
    (row,) = client.select("SELECT ifx_lo_open(b, 4), tail FROM t_lo_sql")
    descriptor, tail = struct.unpack(">ii", row)
    assert tail == 7
    assert lo_data(client, m.LoData.read(descriptor, 100)).data == b"by sql"
    call(client, CLOSE, integer(descriptor))


def test_an_object_may_be_released_and_one_that_is_not_there_may_not(client: RawClient) -> None:
    locator = stored(client, content(1000))
    assert number(call(client, RELEASE, opaque("blob", locator))) == 0
    assert open_object(client, locator) >= 0
    assert client.error(*call_messages(client, RELEASE, [opaque("blob", bytes(72))])) == -9810
