"""Large objects, files of the client and the fast path: JDBC's captures, and replies whose meaning depends on the
request (SQLI sections 14 to 16, JDBC section 11)."""

from __future__ import annotations

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.wire.vectors import load

from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.errors import ProtocolError
from informix_arrow.wire.primitives import NeedMoreData, Reader

MODERN = Framing()
JDBC = load("jdbc_lobs.json")
LOCATOR = bytes(range(72))
SENTINEL = m.Cost(0x5EA5, 0x1DE5)


@parametrize_in_one_test("entry", JDBC, ids=lambda e: f"{e['dir']} {e['case']}")
def test_what_jdbc_exchanged_about_large_objects_is_read_and_written_byte_for_byte(
    entry: dict[str, str],
) -> None:
    data = bytes.fromhex(entry["hex"])
    messages = m.parse_group(data, MODERN, client=entry["dir"] == "C")
    assert isinstance(messages[-1], (m.EndOfTurn, m.Exit))
    assert b"".join(message.encode(MODERN) for message in messages) == data


def captured(start: str, direction: str) -> list[list[m.Message]]:
    return [
        m.parse_group(bytes.fromhex(e["hex"]), MODERN, client=direction == "C")
        for e in JDBC
        if e["hex"].startswith(start) and e["dir"] == direction
    ]


def test_jdbc_opens_a_locator_as_type_44_and_names_the_database_only_once() -> None:
    calls = [group for group in captured("0066", "C") if group[0].handle == 101]  # type: ignore[attr-defined]
    assert [group[0] for group in calls if group[0].database] == [m.ExecuteRoutine("stores", 101, 2)] * 2  # type: ignore[attr-defined]
    assert any(group[0] == m.ExecuteRoutine("", 101, 2) for group in calls)
    for group in calls:
        bind = group[1]
        assert isinstance(bind, m.Bind)
        assert bind.values[0] == m.BoundValue(44, b"\0\0\0\x48" + LOCATOR, extended_name="blob")
        assert bind.values[1].type == 2


def test_the_signatures_of_jdbc_are_read() -> None:
    signatures = {group[0].signature for group in captured("0065", "C")}  # type: ignore[attr-defined]
    assert signatures == {
        "function informix.ifx_lo_open(blob ,integer)",
        "function informix.ifx_lo_stat(int, ifx_lo_stat)",
        "function informix.ifx_lo_close(integer)",
        "function informix.ifx_lo_col_sbinfo(lvarchar,ifx_lo_spec)",
        "function informix.ifx_lo_create( ifx_lo_spec,integer,blob)",
    }


def test_routine_results_give_their_values() -> None:
    results = [group[0] for group in captured("0067", "S")]
    assert m.RoutineResult((m.BoundValue(2, b"\0\0\0\3"),)) in results
    created = m.RoutineResult(
        (
            m.BoundValue(2, b"\0\0\0\4"),
            m.BoundValue(44, b"\0\0\0\x48" + LOCATOR, owner="informix", extended_name="blob"),
        )
    )
    assert created in results


def test_what_jdbc_sent_to_call_a_routine_with_out_parameters_is_read_and_written_byte_for_byte() -> None:
    name = "000b73746f7265735f64656d6f00"
    for sent, messages in (
        (f"008301{name}0000004d", [m.RoutineQuestion("stores_demo", 77)]),
        ("0065010000000b73746f7265735f64656d6f000000004d0001", [m.GetRoutine("stores_demo", 77)]),
        (
            f"0066{name}0000000500020001"
            + "000500020002 00000a0000000005 0002ffff0000"
            + f"00680001{'00' * 12}01",
            [
                m.ExecuteRoutine("stores_demo", 5, 2, 1),
                m.Bind((m.BoundValue(2, b"\0\0\0\5", 0x0A00), m.BoundValue(2, None, 0, -1))),
                m.WantParameters(),
            ],
        ),
    ):
        data = bytes.fromhex(sent)
        assert m.parse_group(data, MODERN, client=True) == messages
        assert b"".join(message.encode(MODERN) for message in messages) == data


@pytest.mark.parametrize(
    ("hexes", "client"),
    [
        ("0083 00 0001 61 00 00000001", True),
        (f"0068 0001 {'00' * 12} 02", True),
        (f"0068 0002 {'00' * 12} 01", True),
        (f"0068 0001 {'00' * 30} 01 0000 0000 0000", False),
        (f"0068 0001 {'00' * 31} ffff 0000 0000", False),
        (f"0068 0001 {'00' * 31} 0001 0002 {'00' * 12} 01 0000 0000", False),
        (f"0068 0001 {'00' * 31} 0000 ffff 0000", False),
        (f"0068 0001 {'00' * 31} 0000 0000 0001", False),
    ],
)
def test_other_layouts_of_what_only_jdbc_has_shown_are_refused(hexes: str, client: bool) -> None:
    with pytest.raises(ProtocolError):
        m.parse_group(bytes.fromhex(hexes), MODERN, client=client)


def test_a_get_routine_has_its_lone_zero_byte_and_pads_by_the_length_of_its_text() -> None:
    odd = m.GetRoutine("function informix.ifx_lo_close(integer)")
    assert odd.encode(MODERN).hex() == "006500" + "00000027" + odd.signature.encode().hex() + "00" + "0000"
    even = m.GetRoutine("function informix.ifx_lo_close(integer )")
    assert even.encode(MODERN).hex() == "006500" + "00000028" + even.signature.encode().hex() + "0000"


@pytest.mark.parametrize("size", [0, 1, 2, 1023, 1024, 1025, 65537])
@pytest.mark.parametrize("piece", [1, 1000, 1024])
def test_the_answer_to_a_file_read_comes_in_pieces_and_back_whole(size: int, piece: int) -> None:
    data = bytes(i * 7 & 0xFF for i in range(size if piece > 1 else min(size, 1025)))
    encoded = m.FileAnswer(m.FileOp.READ, data).encode(MODERN, piece)
    assert encoded.startswith(b"\0\x6a" + len(data).to_bytes(4, "big"))
    reader = Reader(encoded + SENTINEL.encode(MODERN))
    assert m.parse_file_answer(m.FileOp.READ, reader, MODERN) == m.FileAnswer(m.FileOp.READ, data)
    assert m.parse_server_message(reader, MODERN) == SENTINEL


@pytest.mark.parametrize(
    ("answer", "hexes"),
    [
        (m.FileAnswer(m.FileOp.OPEN), "000c"),
        (m.FileAnswer(m.FileOp.CLOSE), "000c"),
        (m.FileAnswer(m.FileOp.WRITE, written=70_000), "006b 00011170 000c"),
        (m.FileAnswer(m.FileOp.READ), "006a 00000000 000c"),
        (m.FileAnswer(m.FileOp.READ, b"abc"), "006a 00000003 006a 0003 61626300 000c"),
    ],
    ids=repr,
)
def test_file_answers_have_the_documented_bytes(answer: m.FileAnswer, hexes: str) -> None:
    data = bytes.fromhex(hexes)
    assert answer.encode(MODERN) == data
    assert m.parse_file_answer(answer.op, Reader(data), MODERN) == answer
    for cut in range(len(data)):
        with pytest.raises(NeedMoreData):
            m.parse_file_answer(answer.op, Reader(data, 0, cut), MODERN)


@pytest.mark.parametrize(
    ("op", "hexes"),
    [
        (m.FileOp.OPEN, "000d ffff"),
        (m.FileOp.READ, "006b 00000003 000c"),
        (m.FileOp.READ, "006a 00000001 006a 0000"),  # an empty piece would repeat for ever
        (m.FileOp.READ, "006a 00000001 006a 0002 6162 000c"),  # more than announced
        (m.FileOp.READ, "006a 00000003 000c 0000 0000"),  # less than announced
        (m.FileOp.WRITE, "006a 00000003 000c"),
        (m.FileOp.WRITE, "006b 00000003 000d"),
    ],
)
def test_a_file_answer_that_does_not_fit_its_request_is_a_protocol_error(op: m.FileOp, hexes: str) -> None:
    with pytest.raises(ProtocolError):
        m.parse_file_answer(op, Reader(bytes.fromhex(hexes)), MODERN)


def test_a_file_answer_can_be_read_piece_by_piece() -> None:
    reader = Reader(m.FileAnswer(m.FileOp.READ, b"abcde").encode(MODERN, piece=2))
    left = m.parse_as(m.FileTotal, reader, MODERN).total
    pieces = []
    while left:
        pieces.append(m.parse_as(m.FileRead, reader, MODERN).data)
        left -= len(pieces[-1])
    assert m.parse_as(m.EndOfTurn, reader, MODERN) == m.EndOfTurn()
    assert (pieces, reader.remaining) == ([b"ab", b"cd", b"e"], 0)


def test_an_unexpected_message_is_named_with_its_place() -> None:
    with pytest.raises(
        ProtocolError, match=r"SQ_FILE_READ \(106\) was expected at offset 2, but SQ_ERR \(13\)"
    ):
        m.parse_as(m.FileTotal, Reader(b"\0\0\0\x0d", 2), MODERN)


@pytest.mark.parametrize(
    ("message", "hexes"),
    [
        (m.LoData.read(3, 4096), "0061 0000 0003 00001000 7d00"),
        (m.LoData.read(3, 4096, 70_000), "0061 0001 0003 00001000 7d00 0001 00011170 00000000 0000"),
        (m.LoData.write(3, b"abc"), "0061 0002 0003 00000003 7d00 0003 61626300"),
        (m.LoDataReply.of_data(0, b"abc"), "0061 0000 00000003 0003 61626300"),
        (m.LoDataReply.of_data(0, b""), "0061 0000 00000000 0000"),
        (m.LoDataReply(2, 3), "0061 0002 00000003"),
        (m.FileRequest(0, "f", 1, 2, 3), "0062 0000 0001 6600 00000001 00000002 00000003"),
        (m.FileRequest(2, buffer_size=1024, amount=-1), "0062 0002 0400 ffffffff"),
        (m.FileWrite(b"a"), "006b 0001 6100"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_layouts_are_those_of_the_protocol_notes(message: m.Message, hexes: str) -> None:
    assert message.encode(MODERN).hex() == hexes.replace(" ", "")


@pytest.mark.parametrize(
    "message",
    [
        m.LoData(3, 1, 0),
        m.LoData(2, 1, 5, data=b"abc"),
        m.LoData(2, 1, 3, 0, data=b"abc"),
        m.LoData(1, 1, 3, offset=2**63),
        m.LoDataReply(3, 1),
        m.LoDataReply(0, 4, b"abc"),
        m.FileRequest(4),
    ],
    ids=repr,
)
def test_a_message_that_nobody_could_read_is_not_written(message: m.Message) -> None:
    with pytest.raises(ValueError, match=r"."):
        message.encode(MODERN)


def test_the_content_of_byte_and_text_ends_with_an_empty_piece() -> None:
    assert captured("0027", "S") == [[m.BlobChunk(b"ABCDE"), m.BlobChunk(b""), m.EndOfTurn()]]
