"""The decoder reads the same tuples from SQ_PUT of an insert cursor (SQLI section 11) as from SQ_TUPLE."""

from __future__ import annotations

import struct

import pytest
from tests.unit.native.decoder_support import (
    INTEGER,
    MAX_TUPLE,
    SENTINEL,
    SENTINEL_BYTES,
    decode,
    new_decoder,
    put_message,
    stream,
    taken,
    tuple_message,
)

from informix_arrow._decode import FULL, NEED_MORE, OTHER, Decoder
from informix_arrow.wire.errors import DataError, ProtocolError
from informix_arrow.wire.plan_ops import Kind, PlanOp

VARCHAR = PlanOp(Kind.VARCHAR, 64, 0, 0)
OPS = [VARCHAR, INTEGER]
CLOSE = b"\x00\x0a"


def row(text: str) -> bytes:
    return bytes([len(text.encode())]) + text.encode() + SENTINEL_BYTES


TEXTS = ["", "a", "ab", "wörter", "x" * 40, "y" * 41]


def test_puts_become_the_batch_that_the_same_tuples_of_a_result_become() -> None:
    (expected,) = decode(OPS, [stream(map(row, TEXTS))])
    data = b"".join(put_message(row(text)) for text in TEXTS) + CLOSE
    decoder = new_decoder(OPS, framing=1)
    assert decoder.feed(data, 0, len(data)) == (len(data) - 2, OTHER)
    batch = taken(decoder, OPS)
    assert batch.equals(expected)
    assert batch.column(1).to_pylist() == [SENTINEL] * len(TEXTS)


def test_puts_cut_anywhere_give_the_same_batch() -> None:
    data = b"".join(put_message(row(text)) for text in TEXTS)
    for cut in range(len(data) + 1):
        decoder = new_decoder(OPS, framing=1)
        position, status = decoder.feed(data, 0, cut)
        assert (position <= cut, status) == (True, NEED_MORE)
        assert decoder.feed(data, position, len(data)) == (len(data), NEED_MORE)
        assert taken(decoder, OPS).column(0).to_pylist() == TEXTS


def test_a_full_batch_of_puts_goes_on_with_the_next_one() -> None:
    data = b"".join(put_message(row(text)) for text in TEXTS)
    decoder = new_decoder(OPS, framing=1, batch_rows=4)
    position, status = decoder.feed(data, 0, len(data))
    assert status == FULL
    assert taken(decoder, OPS).column(0).to_pylist() == TEXTS[:4]
    assert decoder.feed(data, position, len(data)) == (len(data), NEED_MORE)
    assert taken(decoder, OPS).column(0).to_pylist() == TEXTS[4:]


@pytest.mark.parametrize("framing", [0, 1])
def test_the_messages_of_the_other_framing_are_other_messages(framing: int) -> None:
    foreign = tuple_message(row("a")) if framing else put_message(row("a"))
    for end in (2, 7, 8, len(foreign)):
        assert new_decoder(OPS, framing=framing).feed(foreign, 0, end) == (0, OTHER)


@pytest.mark.parametrize("tuples", [0, 2, -1, 256])
def test_a_put_of_any_number_of_tuples_but_one_is_a_protocol_error(tuples: int) -> None:
    data = put_message(row("good")) + put_message(row("a"), tuples)
    decoder = new_decoder(OPS, framing=1)
    with pytest.raises(ProtocolError, match=f"Row 1: The SQ_PUT has {tuples & 0xFFFF} tuples"):
        decoder.feed(data, 0, len(data))
    assert taken(decoder, OPS).column(0).to_pylist() == ["good"]


@pytest.mark.parametrize("size", [MAX_TUPLE + 1, 2**31 - 1, -1, -(2**31)])
def test_a_put_of_an_impossible_size_is_refused_before_it_arrives(size: int) -> None:
    with pytest.raises(ProtocolError, match=r"Row 0: The tuple has -?\d+ bytes"):
        new_decoder(OPS, framing=1).feed(struct.pack(">hih", 17, size, 1), 0, 8)


def test_errors_in_a_put_name_row_column_and_offset() -> None:
    data = put_message(row("good")) + put_message(b"\x03b\xffd" + SENTINEL_BYTES)
    with pytest.raises(
        DataError, match=r"Column 'c0', row 1, offset 0 in the tuple: Byte 1 of the text \(ff\)"
    ):
        new_decoder(OPS, framing=1).feed(data, 0, len(data))
    short = put_message(b"\x05abc" + SENTINEL_BYTES)
    with pytest.raises(ProtocolError, match="Column 'c1', row 0, offset 6 in the tuple: The value takes 4"):
        new_decoder(OPS, framing=1).feed(short, 0, len(short))
    long = put_message(row("a") + b"\x00")
    with pytest.raises(ProtocolError, match="Row 0, offset 6 in the tuple: 1 bytes are left"):
        new_decoder(OPS, framing=1).feed(long, 0, len(long))


@pytest.mark.parametrize("framing", [-1, 2, 17])
def test_a_framing_that_does_not_exist_is_refused(framing: int) -> None:
    with pytest.raises(ValueError, match="framing must be 0"):
        Decoder([INTEGER.as_tuple()], ["a"], batch_rows=1, batch_bytes=1, max_tuple=1, framing=framing)
