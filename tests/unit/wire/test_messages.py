"""Messages in both directions: known-good bytes, round trips, splits, and capability bits that change the framing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.wire.vectors import load

from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError, ProtocolError
from informix_arrow.wire.messages import Describe, InputDescribe, KeysDescribe
from informix_arrow.wire.primitives import NeedMoreData, Reader
from informix_arrow.wire.types import ColumnType

MODERN = Framing()
LONG_ROWS = replace(MODERN, large_tuple=True, long_rowid=True)  # bits 69 and 70: version 15 only
OLD = Framing(four_byte_offset=False, bigint=False, savepoints=False, no_64k_limit=False, large_fetch=False)
FRAMINGS = {"modern": MODERN, "long rows": LONG_ROWS, "old": OLD}

VECTORS = [e for e in load("messages.json") if e["dir"] in "CS" and not e["name"].startswith("CON")]
JDBC = [e for e in load("jdbc_messages.json") if e["dir"] == "C" and e["hex"][4:8] != "013c"]

COLUMNS = (
    Column("id", ColumnType.serial(not_null=True)),
    Column("name", ColumnType.varchar(20)),
    Column("flag", ColumnType.boolean()),
    Column("note", ColumnType.lvarchar(500)),
    Column("name", ColumnType.decimal(8, 2)),
)
BOUND = (
    m.BoundValue(2, b"\0\0\0\7", 0x0A00),
    m.NULL_VALUE,
    m.BoundValue(0, b"\0\3bob"),
    m.BoundValue(45, b"\0\0\0\1\1", 1, owner="informix", extended_name="boolean"),
    m.BoundValue(11, bytes(56), 0x38),
    m.BoundValue(7, b"\0\0\0\1"),
    m.BoundValue(16, None, 0, -1),
)

CLIENT_MESSAGES: list[m.Message] = [
    m.Ack(),
    m.AutoFree(),
    m.Begin(),
    m.Bind(BOUND[:4] + BOUND[5:]),
    m.Bind(()),
    m.BlobBind(1),
    m.BlobChunk(b"abc"),
    m.BlobChunk(b""),
    m.Close(),
    m.Command("set isolation to dirty read"),
    m.Commit(),
    m.CursorName("_ifxc0000000000001"),
    m.DbClose(),
    m.DbList(),
    m.DbOpen("stores_demo"),
    m.EndOfTurn(),
    m.Execute(),
    m.ExecuteRoutine("stores", 101, 2),
    m.Exit(),
    m.Fetch(4096),
    m.FileWritten(12345),
    m.GeneratedKeys(),
    m.GeneratedKeys(3, ("id", "other")),
    m.GetRoutine("function informix.ifx_lo_close(integer)"),
    m.GetRoutine("odd", 100),
    m.GetRoutine("even", -1),
    m.Hold(),
    m.Id(7),
    m.Info((("DBTEMP", "/tmp"), ("SUBQCACHESZ", "10"))),
    m.Info((), ((3, b"odd"),)),
    m.InputDescribeRequest(),
    m.LoData.read(3, 100_000),
    m.LoData.read(3, 5, offset=-(2**40)),
    m.LoData(1, 3, 5, 1000, 0, m.Whence.END),
    m.LoData.write(3, bytes(range(256)) * 250 + b"odd"),
    m.LoData.write(3, b""),
    m.LoData(2, 3, 7, 3, data=b"pieces!"),
    m.NDescribe(),
    m.Open(),
    m.Prepare(2, "INSERT INTO t VALUES (?, ?)"),
    m.Protocols(bytes(9)),
    m.Put(b"row"),
    m.Put(b"odd", (b"row", b"two")),
    m.Put(b"even", (b"rows",)),
    m.Release(),
    m.ReleaseSavepoint("sp"),
    m.Response("s3cret"),
    m.RetType(1, (ColumnType.varchar(20), ColumnType.from_word(45, 1, 0, "informix", "boolean"))),
    m.Rollback(),
    m.RollbackToSavepoint("sp1"),
    m.RoutineQuestion("odd", 77),
    m.RoutineQuestion("even", 77),
    m.Scroll(),
    m.ScrollFetch(m.ScrollFetch.ABSOLUTE, 12),
    m.SetSavepoint("sp1", unique=True),
    m.Version(),
    m.WantDone(),
    m.WantParameters(),
]
SERVER_MESSAGES: list[m.Message] = [
    m.Accept(),
    m.BlobChunk(b"abcd"),
    m.Challenge(1, "Password: "),
    m.Close(),
    m.Cost(2, 1),
    m.DbNames(("sysmaster", "stores")),
    Describe.of_columns(2, 1, COLUMNS),
    Describe.of_columns(14, 0, ()),
    m.Done(5, 1000, 257, 42),
    m.EndOfTurn(),
    m.Err(-206, -111, 18, "nosuch"),
    m.Err(-368, 0),
    m.Exit(),
    m.FileRequest(m.FileOp.OPEN, "/tmp/odd", 2, 0x42, 7),
    m.FileRequest(m.FileOp.CLOSE),
    m.FileRequest(m.FileOp.READ, buffer_size=1024, amount=-1),
    m.FileRequest(m.FileOp.WRITE),
    m.FileWrite(b"odd"),
    m.FileWrite(b""),
    InputDescribe((ColumnType.integer(), ColumnType.boolean())),
    m.InsertDone(-(2**40)),
    KeysDescribe.of_columns(6, 3, COLUMNS),
    m.KeysTuple(0, b"odd"),
    m.LoDataReply.of_data(0, bytes(range(256)) * 250 + b"odd"),
    m.LoDataReply(1, 0, status=-9810),
    m.LoDataReply(0, -1, status=5),
    m.LoDataReply(2, 64003),
    m.Protocols(bytes(9)),
    m.RoutineHandle("stores", 101),
    m.RoutineParameters((), ()),
    m.RoutineParameters((2, 15), (m.RoutineParameter(2, False), m.RoutineParameter(5, True))),
    m.RoutineResult(
        (
            m.BoundValue(2, b"\0\0\0\3"),
            m.BoundValue(44, b"\0\0\0\5blob!", owner="informix", extended_name="blob"),
            m.BoundValue(2 | 0x0800, b"\0\0\0\4", owner="informix", extended_name="years"),
            m.BoundValue(44, None, 0, -1, "informix", "clob"),
            m.NULL_VALUE,
            m.BoundValue(0, b"\0\3abc"),
        )
    ),
    m.RoutineResult(()),
    m.Tuple(0, b"\0\0\0\1\3ann"),
    m.TupleId(3),
    m.XactStat(1, 1, 0),
]


def name_of(value: object) -> str:
    return type(value).__name__


def parse_one(data: bytes, framing: Framing, client: bool) -> m.Message:
    reader = Reader(data)
    parse = m.parse_client_message if client else m.parse_server_message
    message = parse(reader, framing)
    assert reader.remaining == 0
    return message


@pytest.mark.parametrize("entry", VECTORS, ids=lambda e: str(e["name"]))
def test_the_worked_examples_are_read_and_written_byte_for_byte(entry: dict[str, str]) -> None:
    data = bytes.fromhex(entry["hex"])
    messages = m.parse_group(data, MODERN, client=entry["dir"] == "C")
    assert b"".join(message.encode(MODERN) for message in messages) == data


@parametrize_in_one_test("entry", JDBC, ids=lambda e: str(e["case"]))
def test_all_that_jdbc_sent_is_read_and_written_byte_for_byte(entry: dict[str, str]) -> None:
    """Each entry is one flush of the client, with its groups."""
    data = bytes.fromhex(entry["hex"])
    messages = m.parse_group(data, MODERN, client=True)
    assert isinstance(messages[-1], (m.EndOfTurn, m.Exit))
    assert b"".join(message.encode(MODERN) for message in messages) == data


@parametrize_in_one_test("framing", FRAMINGS.values(), ids=FRAMINGS.keys())
@parametrize_in_one_test("message", CLIENT_MESSAGES, ids=name_of)
def test_a_client_message_survives_the_round_trip(message: m.Message, framing: Framing) -> None:
    assert parse_one(message.encode(framing), framing, client=True) == message


@parametrize_in_one_test("framing", FRAMINGS.values(), ids=FRAMINGS.keys())
@parametrize_in_one_test("message", SERVER_MESSAGES, ids=name_of)
def test_a_server_message_survives_the_round_trip(message: m.Message, framing: Framing) -> None:
    assert parse_one(message.encode(framing), framing, client=False) == message


def missing(parse: Callable[[], object]) -> int:
    """Return the number of bytes that NeedMoreData asks for. `pytest.raises` would take most of the time in a loop over
    every byte."""
    try:
        parse()
    except NeedMoreData as more:
        return more.missing
    pytest.fail("nothing was missing")


@parametrize_in_one_test("framing", FRAMINGS.values(), ids=FRAMINGS.keys())
@parametrize_in_one_test(
    ("message", "client"),
    [(message, True) for message in CLIENT_MESSAGES] + [(message, False) for message in SERVER_MESSAGES],
    ids=lambda value: name_of(value) if isinstance(value, m.Message) else str(value),
)
def test_a_message_cut_anywhere_asks_for_more_data(
    message: m.Message, client: bool, framing: Framing
) -> None:
    """TCP may stop after any byte. The result must be NeedMoreData, and no byte may be lost. Of the 64 KB in the middle
    of a large object's message every 997th byte is tested."""
    whole = message.encode(framing)
    parse = m.parse_client_message if client else m.parse_server_message
    cuts = range(len(whole))
    for cut in sorted({*cuts[:400], *cuts[400:-400:997], *cuts[-400:]}):
        assert 1 <= missing(lambda: parse(Reader(whole + b"tail", 0, cut), framing)) <= len(whole) - cut  # noqa: B023
    reader = Reader(whole + b"tail")
    assert parse(reader, framing) == message
    assert reader.remaining == 4


@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS.keys())
def test_descriptors_of_byte_and_text_have_the_size_that_bit_70_says(framing: Framing) -> None:
    fetch = m.FetchBlob(bytes(framing.descriptor_size))
    assert parse_one(fetch.encode(framing), framing, client=True) == fetch
    bind = m.Bind((m.BoundValue(11, bytes(framing.descriptor_size), 0x38), *BOUND[:1]))
    assert parse_one(bind.encode(framing), framing, client=True) == bind
    with pytest.raises(ValueError, match="descriptor"):
        m.FetchBlob(b"short").encode(framing)


def test_every_message_class_is_in_the_round_trips() -> None:
    """If this fails: add the new message to CLIENT_MESSAGES or SERVER_MESSAGES, or test it by name."""
    classes = {
        cls for cls in vars(m).values()
        if isinstance(cls, type) and issubclass(cls, m.Message) and hasattr(cls, "TAG")
    }  # fmt: skip
    tested = {type(message) for message in CLIENT_MESSAGES + SERVER_MESSAGES}
    tested |= {m.FetchBlob, m.FileTotal, m.FileRead}  # size by framing; tag 106 twice: test_wire_lob_messages
    assert classes == tested


def test_two_messages_of_one_side_cannot_have_the_same_tag() -> None:
    with pytest.raises(TypeError, match=r"^Id and .*Other have the same tag 4\.$"):

        class Other(m.Message, tag=m.Id.TAG, sent_by="client"):
            """A message of another class."""


def test_a_field_without_a_codec_is_refused_when_the_class_is_made() -> None:
    with pytest.raises(TypeError, match=r"Unknown.number has no codec"):

        class Unknown(m.Message):
            """A message with a field without a layout."""

            number: int


@pytest.mark.parametrize(
    ("message", "modern", "old"),
    [
        (m.Command("ab"), "0001 0000 00000002 6162", "0001 0000 0002 6162"),
        (m.Prepare(1, "a"), "0002 0001 00000001 6100", "0002 0001 0001 6100"),
        (m.Fetch(4096), "0009 00001000 0000", "0009 1000 0000"),
        (m.Rollback(), "0014 0000", "0014"),
        (m.Err(-201, 0, 9), "000d ff37 0000 00000009 0000", "000d ff37 0000 0009 0000"),
        (m.Tuple(0, b"a"), "000e 0000 00000001 6100", "000e 0000 0001 6100"),
        (m.InsertDone(1, 0), "005e 0001 00000001 00000000 0000000000000000", "005e 0001 00000001 00000000"),
        (m.ScrollFetch(6, 1), "0017 0006 00000001 00001000", "0017 0006 00000001 00001000"),
    ],
    ids=lambda value: name_of(value) if isinstance(value, m.Message) else "",
)
def test_a_bit_that_is_not_in_force_makes_the_field_a_short(
    message: m.Message, modern: str, old: str
) -> None:
    assert message.encode(MODERN).hex() == modern.replace(" ", "")
    assert message.encode(OLD).hex() == old.replace(" ", "")


def test_bits_69_and_70_make_tuple_size_and_row_numbers_long() -> None:
    assert (
        m.Done(0, 1, 2, 3).encode(LONG_ROWS).hex()
        == "000f0000" + "0" * 15 + "1" + "0" * 15 + "2" + "00000003"
    )
    wide = Describe(2, 0, 0, 100_000, ())
    assert parse_one(wide.encode(LONG_ROWS), LONG_ROWS, client=False) == wide
    assert len(wide.encode(LONG_ROWS)) == len(wide.encode(MODERN)) + 2


def test_a_tuple_size_that_its_short_cannot_hold_saturates() -> None:
    parsed = parse_one(Describe(2, 0, 0, 100_000, ()).encode(MODERN), MODERN, client=False)
    assert isinstance(parsed, Describe)
    assert parsed.tuple_size == 32767


def test_without_usver_a_field_has_only_name_place_type_and_length() -> None:
    framing = replace(OLD, usver=False)
    describe = Describe.of_columns(2, 1, COLUMNS[:2])
    data = describe.encode(framing)
    assert data.hex(" ", 2).replace(" ", "") == (
        "0008 0002 0001 00000000 0019 0002 0008 0000 00000000 0106 0004"
        "0003 00000004 000d 0014 6964006e616d6500"
    ).replace(" ", "")
    assert parse_one(data, framing, client=False) == describe


def test_the_worked_description_is_what_of_columns_makes() -> None:
    reply = next(e for e in VECTORS if e["name"] == "SELECT prepare reply")
    describe = Describe.of_columns(
        2, 1, (Column("id", ColumnType.integer(not_null=True)), Column("name", ColumnType.varchar(20)))
    )
    assert bytes.fromhex(reply["hex"]).startswith(describe.encode(MODERN))
    assert describe.has_rows


def test_an_insert_describes_columns_but_gives_no_rows() -> None:
    assert not Describe.of_columns(6, 0, COLUMNS).has_rows
    assert Describe.of_columns(56, 0, COLUMNS).has_rows
    assert not Describe.of_columns(56, 0, ()).has_rows


def test_an_unknown_tag_is_named_and_ends_the_conversation() -> None:
    with pytest.raises(ProtocolError, match=r"SQ_FPROUTINE \(103\) at offset 2"):
        m.parse_client_message(Reader(b"\0\0\0\x67", 2), MODERN)
    with pytest.raises(ProtocolError, match=r"SQ_FILE_READ \(106\)"):  # two layouts: parse_file_answer
        m.parse_client_message(Reader(b"\0\x6a\0\0\0\0"), MODERN)
    with pytest.raises(ProtocolError, match="message 999"):
        m.parse_server_message(Reader(b"\x03\xe7"), MODERN)
    with pytest.raises(ProtocolError, match=r"SQ_PREPARE \(2\)"):
        m.parse_server_message(Reader(b"\0\2"), MODERN)


@parametrize_in_one_test(
    ("hexes", "client"),
    [
        ("0002 0000 ffffffff", True),  # SQL text
        ("0003 8000", True),  # cursor name
        ("0005 ffff", True),  # parameter count
        ("0005 0001 002b 0000 0000 0000 0000 ffffffff", True),  # LVARCHAR length
        ("0005 0001 0009 0000 0000", True),  # a type without a known layout
        ("0011 ffffffff 0001", True),  # PUT
        ("0051 0003 ffff", True),  # INFO block
        ("0051 0006 0008 0004 0004 ffff", True),  # a name in an INFO block
        ("0051 0006 0008 0004 0004 0001 6100 ffff", True),  # a value in an INFO block
        ("0051 0006 0008 0004 0004" + 3 * ("0001 6100 7ffe" + "20" * 0x7FFE), True),  # endless values
        ("0064 0001 ffff", True),  # RET_TYPE
        ("0061 0003 0001 00000000 7d00", True),  # SQ_LODATA of an unknown operation
        ("0061 0002 0001 ffffffff 7d00", True),  # a negative number of bytes to write
        ("0061 0002 0001 00000002 7d00 0000", True),  # an empty piece would repeat for ever
        ("0061 0002 0001 00000001 7d00 0002 6162", True),  # more than announced
        ("0086 0009", True),  # generated keys of an unknown mode
        ("000e 0000 ffffffff", False),  # tuple
        ("0008 0002 0000 00000000 0000 ffff 00000000", False),  # field count
        ("007d ffff 0000", False),  # input parameters
        ("0061 0003 00000001", False),
        ("0061 0000 00000001 0002 6162", False),
        ("0062 0004", False),  # SQ_FILE of an unknown operation
        ("0067 ffff", False),
        ("0067 0001 0009 0000 0000", False),  # a type without a known layout
        ("000d 0000", False),  # error code 0
        ("000d fc57", False),  # -937
    ],
)
def test_what_can_never_become_right_is_a_protocol_error(hexes: str, client: bool) -> None:
    parse = m.parse_client_message if client else m.parse_server_message
    with pytest.raises(ProtocolError):
        parse(Reader(bytes.fromhex(hexes)), MODERN)


@pytest.mark.parametrize(
    "length",
    [
        0x26,  # JDBC counts up to the empty name,
        0x28,  # libsqli also the end of the blocks
        0x24,
        0,
        0x7FFF,
        0xFFFF,
    ],
)
def test_an_environment_goes_to_its_empty_name_whatever_its_length_says(length: int) -> None:
    pairs = bytes.fromhex(
        "000c 0004 0006 444254454d50 0004 2f746d70 000c 535542514341434845 20535a 0002 3130 0000"
    )
    data = bytes.fromhex("0051 0006") + length.to_bytes(2, "big") + pairs + bytes.fromhex("0000 000c")
    reader = Reader(data)
    info = m.parse_client_message(reader, MODERN)
    assert info == m.Info((("DBTEMP", "/tmp"), ("SUBQCACHE SZ", "10")))
    assert m.parse_client_message(reader, MODERN) == m.EndOfTurn()
    for size in range(2, len(data) - 2):
        with pytest.raises(NeedMoreData):
            m.parse_client_message(Reader(data[:size]), MODERN)


def test_a_name_offset_outside_the_string_table_is_a_protocol_error() -> None:
    data = bytearray(Describe.of_columns(2, 1, COLUMNS[:1]).encode(MODERN))
    data[18:22] = b"\0\0\0\x63"
    with pytest.raises(ProtocolError, match="name offset 99"):
        m.parse_server_message(Reader(data), MODERN)


def test_text_travels_in_the_connections_code_set() -> None:
    utf8 = MODERN.with_encoding("utf-8")
    assert m.CursorName("é").encode(MODERN).hex() == "00030001e900"
    assert m.CursorName("é").encode(utf8).hex() == "00030002c3a9"
    with pytest.raises(DataError, match="U\\+20AC"):
        m.Prepare(0, "select '€'").encode(MODERN)


def test_a_pam_answer_is_never_shown() -> None:
    assert "s3cret" not in repr(m.Response("s3cret"))


def test_messages_are_immutable() -> None:
    with pytest.raises(AttributeError):
        m.Fetch(1).size = 2  # type: ignore[misc]


def test_the_second_short_of_an_input_description_is_zero() -> None:
    """If it had another value, JDBC 15.0.0.1.1 would wait for bytes that never arrive (CORRECTIONS 4)."""
    encoded = InputDescribe((ColumnType.integer(), ColumnType.varchar(20))).encode(MODERN)
    assert encoded[:6].hex() == "007d00020000"


def test_the_input_description_of_a_statement_without_parameters_ends_with_its_count() -> None:
    """JDBC 15.0.0.1.1 reads no second short there, and would take one for the next message."""
    assert InputDescribe(()).encode(MODERN).hex() == "007d0000"
    reader = Reader(bytes.fromhex("0000000c"))
    assert InputDescribe.parse(reader, MODERN) == InputDescribe(())
    assert reader.pos == 2


def test_the_rows_of_one_put_have_one_length_and_each_its_own_pad() -> None:
    """JDBC sends such rows if all columns have a fixed width: here three rows of CHAR(3)."""
    message = m.Put(b"abc", (b"def", b"ghi"))
    wire = bytes.fromhex("0011 00000003 0003 61626300 64656600 67686900")
    assert message.encode(MODERN) == wire
    assert m.parse_group(wire, MODERN, client=True) == [message]
    with pytest.raises(ValueError, match="different lengths"):
        m.Put(b"abc", (b"de",)).encode(MODERN)
    for count in ("0000", "ffff"):
        with pytest.raises(ProtocolError, match="count"):
            m.parse_group(bytes.fromhex(f"0011 00000003 {count} 61626300"), MODERN, client=True)
