"""Malicious servers: no reply takes more memory than ``max_reply_bytes``, and refused replies raise errors of this
package."""

from __future__ import annotations

import datetime
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.operations.scripted_peer import FRAMING, Peer, new_session

from informix_arrow.dsn import resolve
from informix_arrow.operations import client_files
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.fetch import ReadOptions
from informix_arrow.operations.io_steps import Exchange, Receive, Send, split_send_receive
from informix_arrow.operations.object_sources import OpenFile
from informix_arrow.operations.object_streams import read_blob_reply
from informix_arrow.operations.prepare import prepare
from informix_arrow.operations.receive_buffer import ReceiveBuffer
from informix_arrow.operations.request_reply import request
from informix_arrow.operations.result_description import ResultDescription
from informix_arrow.operations.session import Session
from informix_arrow.wire import messages as m
from informix_arrow.wire.bind_values import bind_value
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.describe import Column, StatementType, compile_plan
from informix_arrow.wire.errors import Error, InterfaceError, NotSupportedError, ProtocolError
from informix_arrow.wire.messages import Describe, InputDescribe
from informix_arrow.wire.plan_ops import TypeOptions
from informix_arrow.wire.primitives import Reader, Writer
from informix_arrow.wire.type_codes import FLAG_DISTINCT, FLAG_DISTINCT_BOOLEAN, FLAG_NOT_NULL
from informix_arrow.wire.types import ColumnType, TypeCode

pytestmark = pytest.mark.slow

MOST = 1 << 20


def hostile(**state: object) -> Session:
    session = new_session(**state)
    session.buffer.max_bytes = MOST
    return session


def flood(exchange: Exchange[Any], pieces: Iterator[bytes], most: int = 20_000) -> None:
    """Pass the next of ``pieces`` to the exchange whenever it waits for a reply."""
    exchange = split_send_receive(exchange)
    step = next(exchange)
    waiting = b""
    for _ in range(most):
        if isinstance(step, Send):
            step = exchange.send(0)
            continue
        assert isinstance(step, Receive)
        waiting = waiting or next(pieces)
        count = min(len(waiting), len(step.into))
        step.into[:count] = waiting[:count]
        waiting = waiting[count:]
        step = exchange.send(count)
    raise AssertionError("it would have gone on for ever")


def endless(message: m.Message | Describe, times: int = 500) -> Iterator[bytes]:
    data = message.encode(FRAMING) * times
    while True:
        yield data


@pytest.mark.parametrize(
    "message",
    [
        m.Tuple(0, b""),
        m.Tuple(0, b"x" * 1000),
        m.TupleId(1),
        m.DbNames(("a", "b")),
        m.Accept(),
        m.BlobChunk(b"z" * 1024),
    ],
    ids=lambda message: f"{type(message).__name__} {len(message.encode(FRAMING))}",
)
def test_an_endless_answer_to_a_prepare_is_refused(message: m.Message) -> None:
    session = hostile()
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError, match="max_reply_bytes"):
            flood(prepare(session, "select 1", 0), endless(message))
        assert tracemalloc.get_traced_memory()[1] < 8 * MOST
    finally:
        tracemalloc.stop()


def test_an_endless_list_of_databases_is_refused() -> None:
    def names() -> Iterator[bytes]:
        yield Writer().short(m.DbNames.TAG).getvalue()
        while True:
            yield Writer().pstr(b"name").getvalue() * 20_000

    session = hostile()
    session.buffer.max_bytes = 1 << 30
    with pytest.raises(ProtocolError, match="databases"):
        flood(request(session, (m.DbList(),)), names())


def test_a_message_that_announces_more_than_is_borne_is_refused_before_it_comes() -> None:
    head = Writer().short(m.Tuple.TAG).short(0).int(MOST).getvalue()
    framing = Framing(encoding="latin-1", large_fetch=True)
    session = hostile(framing=framing)
    with pytest.raises(ProtocolError, match=r"1,048,576 bytes \(max_reply_bytes\)"):
        flood(prepare(session, "select 1", 0), iter([head]))
    assert len(session.buffer.data) < MOST


def described(count: int, names: bytes, offset: int = 0) -> bytes:
    """Return a DESCRIBE whose columns all have their names at one place of a string table."""
    plain = Describe.of_columns(StatementType.SELECT, 0, [Column("n", ColumnType.integer())] * count)
    data = plain.encode(FRAMING)
    size = 2 * count
    table = len(data) - size - size % 2
    assert data[table : table + 4] == b"n\0n\0"[: min(4, size)]
    head = bytearray(data[:table])
    at = 2 + 2 + 2 + 4 + (4 if FRAMING.large_tuple else 2) + 2
    width = 4 if FRAMING.four_byte_offset else 2
    head[at : at + width] = len(names).to_bytes(width, "big")
    field = (len(head) - at - width) // count
    for number in range(count):
        place = at + width + number * field
        head[place : place + width] = offset.to_bytes(width, "big")
    return bytes(head) + names + b"\0" * (len(names) % 2)


def test_columns_of_one_name_may_share_it() -> None:
    reader = Reader(described(3, b"same\0"))
    reader.short()
    assert [column.name for column in Describe.parse(reader, FRAMING).columns] == ["same"] * 3


def test_names_that_overlap_do_not_become_gigabytes() -> None:
    reader = Reader(described(2000, b"x" * 32_000))
    reader.short()
    with pytest.raises(ProtocolError, match="overlap"):
        Describe.parse(reader, FRAMING)


def test_a_string_table_that_no_columns_could_fill_is_refused_unread() -> None:
    w = Writer().short(StatementType.SELECT).short(0).int(0).short(4).short(1)
    framing = Framing(encoding="latin-1", four_byte_offset=True)
    w.int(1 << 30)
    with pytest.raises(ProtocolError, match="string table of 1073741824 bytes is too long for 1 columns"):
        Describe.parse(Reader(w.getvalue()), framing)


def test_the_room_for_the_first_rows_of_very_many_columns_is_no_gigabytes() -> None:
    columns = tuple(Column(f"c{n}", ColumnType(TypeCode.BYTE.value, 56)) for n in range(32_767))
    options = TypeOptions()
    shape = ResultDescription(columns, compile_plan(columns, options), options, "latin-1")
    decoder = shape.decoder(4096, 16 << 20)
    row = m.Tuple(0, bytes(56) * len(columns)).encode(Framing(large_fetch=True))
    before = resident()
    decoder.feed(row, 0, len(row))
    assert resident() - before < 400 << 20


def resident() -> int:
    """Return the size of the address space in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * 4096


def test_rows_of_gigabytes_are_refused_by_an_error_of_ours() -> None:
    columns = tuple(Column(f"c{n}", ColumnType(TypeCode.CHAR.value, 2**31 - 1)) for n in range(3))
    peer = Peer([[Describe(StatementType.SELECT, 0, 0, 4096, columns), m.Done(), m.Cost()]])
    with pytest.raises(Error) as caught:
        peer.run(execute_statement(new_session(), "select", (), ReadOptions()))
    assert isinstance(caught.value, NotSupportedError | ProtocolError)


IMPOSSIBLE = (
    ColumnType(TypeCode.INTERVAL.value, 0x0414),  # begins with a field that does not exist
    ColumnType(TypeCode.DATETIME.value, 0x0E04, FLAG_NOT_NULL),  # YEAR TO DAY of 14 digits
    ColumnType(TypeCode.DATETIME.value, 0),
    ColumnType(TypeCode.INTERVAL.value, 0xFFFF, FLAG_DISTINCT | FLAG_DISTINCT_BOOLEAN),
    ColumnType(TypeCode.DECIMAL.value, 0x00FF),  # without digits
)


@pytest.mark.parametrize(
    "target", IMPOSSIBLE, ids=lambda target: f"{target.word:x} {target.encoded_length:x}"
)
@pytest.mark.parametrize("sql", ["insert into t values (?, ?)", "update t set a = ?, b = ?"])
def test_an_impossible_type_of_a_parameter_is_an_error_that_ends_the_connection(
    sql: str, target: ColumnType
) -> None:
    """The type is in the INSERT's own description, or in the server's description of an UPDATE's parameters."""

    def answers(group: list[m.Message]) -> list[m.Message]:
        if isinstance(group[-1], m.InputDescribeRequest):
            return [InputDescribe((target, ColumnType.integer()))]
        if sql.startswith("update"):
            return [Describe.of_columns(StatementType.UPDATE, 0, ()), m.Done()]
        columns = (Column("a", target), Column("b", ColumnType.integer()))
        return [Describe(StatementType.INSERT, 0, 0, 40, columns), m.InsertDone(), m.Done()]

    for value in ("12 03", datetime.timedelta(days=3), datetime.datetime(2024, 2, 29, 1, 2), "é"):
        session = hostile(framing=Framing(encoding="latin-1", describe_input=True))
        with pytest.raises(ProtocolError, match=r"[Pp]arameter") as caught:
            Peer(answers).run(execute_statement(session, sql, (value, 77), ReadOptions()))
        assert not session.usable_after(caught.value)


@pytest.mark.parametrize("value", [5, pa.MonthDayNano((0, 1, 0))])
def test_an_interval_is_not_bound_for_an_impossible_one(value: object) -> None:
    with pytest.raises(ProtocolError, match="start code 1 and the end code 4"):
        bind_value(value, "latin-1", IMPOSSIBLE[0])


def test_type_names_that_are_no_text_do_not_reach_arrow_as_surrogates() -> None:
    utf8 = Framing(encoding="utf-8", usver=True)
    column = Column("c", ColumnType(TypeCode.UDTVAR.value, 0, 0, 2000, "owner", "tpe"))
    data = Describe.of_columns(StatementType.SELECT, 0, [column]).encode(utf8).replace(b"tpe", b"t\xffe")
    reader = Reader(data)
    reader.short()
    found = Describe.parse(reader, utf8).columns
    found[0].type.sql.encode("utf-8")
    found[0].type.extended_name.encode("utf-8")


def test_the_setting_is_a_parameter() -> None:
    assert resolve("informix://h/d", {}).max_reply_bytes == 256 << 20
    assert resolve("informix://h/d?max_reply_bytes=2097152", {}).max_reply_bytes == 2 << 20
    with pytest.raises(InterfaceError, match="max_reply_bytes"):
        resolve("informix://h/d", {}, max_reply_bytes=0)
    assert ReceiveBuffer(0, 5 << 20).max_bytes == 5 << 20


@pytest.mark.parametrize("exact", [False, True])
def test_a_large_object_without_an_end_is_refused(exact: bool) -> None:
    """The server has announced 2000 bytes."""
    session = hostile()
    content = bytearray()
    session.outstanding_requests = 1
    exchange = read_blob_reply(session, content.extend, 2000, exact=exact)
    with pytest.raises(ProtocolError, match="max_reply_bytes"):
        flood(exchange, endless(m.BlobChunk(b"z" * 1023)))
    assert len(content) < 2 * MOST


def test_a_client_file_in_memory_without_an_end_is_refused() -> None:
    session = hostile()
    files: dict[str, bytes] = {}
    session.files.opened = OpenFile("a", sink=files)
    with pytest.raises(ProtocolError, match="max_reply_bytes"):
        flood(
            client_files.handle_file_request(session, m.FileRequest(m.FileOp.WRITE)),
            endless(m.FileWrite(b"z" * 1023)),
        )
    assert not files
