"""Decoder.reply() decodes a complete reply in one call, and nothing but a complete reply."""

from __future__ import annotations

import pytest

from informix_arrow._decode import Decoder
from informix_arrow.operations.result_description import ResultDescription
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.describe import Column, compile_plan
from informix_arrow.wire.plan_ops import TypeOptions
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

COLUMNS = (
    Column("small", ColumnType.integer()),
    Column("name", ColumnType.varchar(20)),
    Column("sentinel", ColumnType.integer()),
)
SHAPE = ResultDescription(COLUMNS, compile_plan(COLUMNS, TypeOptions()), TypeOptions(), "utf-8")
ROWS = [(1, "a", 12345), (None, None, 12345), (-3, "wörter", 12345)]
FRAMING = Framing(encoding="utf-8")
END = m.EndOfTurn()
DONE = 16


def encoded(*messages: m.Message, framing: Framing = FRAMING) -> bytes:
    return b"".join(message.encode(framing) for message in messages)


TUPLES = [m.Tuple(0, encode_tuple(row, COLUMNS, "utf-8")) for row in ROWS]
REPLY = encoded(*TUPLES, m.Done(rows=3), m.Cost(), END)


def decoder() -> Decoder:
    return SHAPE.decoder(512, 1 << 20)


def reply(data: bytes, start: int = 0, end: int | None = None, done: int = DONE) -> object:
    return decoder().reply(SHAPE.c_schema, data, start, len(data) if end is None else end, done)


@pytest.mark.parametrize("cost", [[m.Cost()], []])
def test_rows_bytes_and_place_of_a_reply(cost: list[m.Message]) -> None:
    data = encoded(*TUPLES, m.Done(rows=3), *cost, END)
    assert reply(data) == (ROWS, data, len(data))
    assert reply(b"before" + data + b"behind", 6) == (ROWS, data, 6 + len(data))


def test_a_reply_without_rows() -> None:
    data = encoded(m.Done(), END)
    assert reply(data) == ([], data, len(data))


def test_a_done_of_another_size() -> None:
    framing = Framing(encoding="utf-8", long_rowid=True)
    data = encoded(*TUPLES, m.Done(rows=3), END, framing=framing)
    assert reply(data, done=24) == (ROWS, data, len(data))
    assert reply(data) is None


def test_a_decoder_serves_one_reply_after_the_other() -> None:
    kept = decoder()
    for _ in range(3):
        assert kept.reply(SHAPE.c_schema, REPLY, 0, len(REPLY), DONE) == (ROWS, REPLY, len(REPLY))
    assert (kept.rows, kept.total_rows) == (0, 9)


def test_what_has_not_come_to_its_end_is_no_reply() -> None:
    for end in range(len(REPLY)):
        assert reply(REPLY, end=end) is None
        assert reply(REPLY[:end]) is None


@pytest.mark.parametrize(
    "behind",
    [
        [END],
        [m.Cost(), m.Done(), END],
        [m.Done(), m.Done(), END],
        [m.Done(), m.Cost(), m.Cost(), END],
        [m.Done(), m.XactStat(1, 0, 0), END],
        [m.Err(-271, -107, 0, "t"), END],
        [m.Close(), END],
        [m.Exit()],
    ],
    ids=lambda messages: " ".join(type(message).__name__ for message in messages),
)
def test_anything_else_is_no_reply(behind: list[m.Message]) -> None:
    assert reply(encoded(*TUPLES, *behind)) is None


def test_a_value_that_cannot_be_read_is_left_to_the_reader_of_single_rows() -> None:
    spoilt = m.Tuple(0, b"\0\0\0\1" + b"\xff" + b"n1")  # a name longer than its tuple
    assert reply(encoded(TUPLES[0], spoilt, m.Done(rows=2), END)) is None


def test_rows_that_fill_a_batch_are_no_small_reply() -> None:
    assert SHAPE.decoder(3, 1 << 20).reply(SHAPE.c_schema, REPLY, 0, len(REPLY), DONE) is None
    assert SHAPE.decoder(4, 1 << 20).reply(SHAPE.c_schema, REPLY, 0, len(REPLY), DONE) is not None


def test_a_decoder_in_the_middle_of_a_batch_has_no_reply() -> None:
    begun = decoder()
    begun.feed(REPLY, 0, len(encoded(TUPLES[0])))
    assert begun.reply(SHAPE.c_schema, REPLY, 0, len(REPLY), DONE) is None
    assert begun.rows == 1


@pytest.mark.parametrize("done", [-(2**63), -1, 0, 1, 15, 17, 2**62, 2**63 - 1])
def test_a_done_of_any_size_is_looked_for_within_the_bytes(done: int) -> None:
    assert reply(REPLY, done=done) is None


def test_wrong_arguments_are_refused() -> None:
    whole = ResultDescription(COLUMNS[:1], compile_plan(COLUMNS[:1], TypeOptions()), TypeOptions(), "utf-8")
    with pytest.raises(ValueError, match="schema"):
        decoder().reply(whole.c_schema, REPLY, 0, len(REPLY), DONE)
    with pytest.raises(ValueError, match="PyCapsule"):
        decoder().reply(object(), REPLY, 0, len(REPLY), DONE)
    with pytest.raises(ValueError, match="are outside the"):
        decoder().reply(SHAPE.c_schema, REPLY, 0, len(REPLY) + 1, DONE)
    with pytest.raises(ValueError, match="int"):
        decoder().reply(SHAPE.c_schema, REPLY, 0, len(REPLY), 2**64)
    with pytest.raises(TypeError, match="5 arguments"):
        decoder().reply(SHAPE.c_schema, REPLY, 0, len(REPLY))  # type: ignore[call-arg]
