"""Text with bytes that are invalid in the code set: replaced (FLAG_REPLACE) or returned unchanged (FLAG_RAW)."""

from __future__ import annotations

import itertools
import struct

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stress import examples
from tests.unit.native.decoder_support import (
    INTEGER,
    SENTINEL,
    SENTINEL_BYTES,
    decode,
    decode_one,
    refuses,
    stream,
)

from informix_arrow.wire.errors import DataError
from informix_arrow.wire.plan_ops import FLAG_LARGE, FLAG_RAW, FLAG_REPLACE, FLAG_TRIM, Kind, PlanOp

# One byte of each class in UTF-8: the limits of continuation bytes and of leading bytes.
BYTES = [
    0x41,
    0x7F,
    0x80,
    0x8F,
    0x90,
    0x9F,
    0xA0,
    0xBF,
    0xC1,
    0xC2,
    0xDF,
    0xE0,
    0xE1,
    0xED,
    0xEF,
    0xF0,
    0xF3,
    0xF4,
]
BYTES += [0xF5, 0xFF]


def lvarchar(raw: bytes) -> bytes:
    return b"\x00" + struct.pack(">I", len(raw)) + raw


def op_of(kind: Kind, flags: int, width: int = 255) -> PlanOp:
    return PlanOp(kind, width, 0, flags)


def codepage(encoding: str) -> bytes:
    table = bytearray()
    for byte in range(256):
        text = bytes([byte]).decode(encoding, "ignore").encode("utf-8")
        table += bytes([len(text)]) + text.ljust(3, b"\x00")
    return bytes(table)


# ---- replaced


def test_replaced_utf8_is_what_python_makes_of_every_four_bytes() -> None:
    raw = [bytes(four) for four in itertools.product(BYTES, repeat=4)]
    column = decode_one(op_of(Kind.LVARCHAR, FLAG_REPLACE), list(map(lvarchar, raw)))
    assert column.to_pylist() == [four.decode("utf-8", "replace") for four in raw]


@given(st.lists(st.sampled_from(BYTES) | st.integers(0, 255), max_size=80).map(bytes))
@settings(max_examples=examples(100))
def test_replaced_utf8_is_what_python_makes_of_any_bytes(raw: bytes) -> None:
    column = decode_one(op_of(Kind.LVARCHAR, FLAG_REPLACE), [lvarchar(raw), lvarchar(b""), lvarchar(raw)])
    expected = raw.decode("utf-8", "replace")
    assert column.to_pylist() == [expected, "", expected]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "iso8859-7", "cp037"])
def test_bytes_that_a_code_page_leaves_undefined_are_replaced_one_by_one(encoding: str) -> None:
    page = codepage(encoding)
    raw = [bytes([byte]) * n for byte in range(256) for n in (1, 2, 33) if (byte, n) != (0, 1)]
    column = decode_one(op_of(Kind.LVARCHAR, FLAG_REPLACE), list(map(lvarchar, raw)), codepage=page)
    assert column.to_pylist() == [each.decode(encoding, "replace") for each in raw]


@pytest.mark.parametrize("page", [None, codepage("ascii")], ids=["utf-8", "ascii"])
@pytest.mark.parametrize("flags", [FLAG_REPLACE, FLAG_REPLACE | FLAG_LARGE])
def test_a_column_of_faults_grows_to_three_times_its_bytes(page: bytes | None, flags: int) -> None:
    lengths = [0, 1, 15, 16, 17, 31, 32, 33, 100, 255, 3000, 70_000] * 3
    op = op_of(Kind.LVARCHAR, flags)
    column = decode_one(op, [lvarchar(b"\xff" * n) for n in lengths], codepage=page)
    assert column.type == (pa.large_utf8() if flags & FLAG_LARGE else pa.utf8())
    assert column.to_pylist() == ["\ufffd" * n for n in lengths]


def test_batches_of_replaced_text_end_before_their_offsets_overflow() -> None:
    """The size of a batch is estimated with the replacements (tests/fuzz/fuzz_core.c tests the limit itself)."""
    op = op_of(Kind.VARCHAR, FLAG_REPLACE)
    rows = [b"\x64" + b"\xff" * 100 + SENTINEL_BYTES] * 300
    batches = decode([op, INTEGER], [stream(rows)], batch_bytes=30_000)
    assert len(batches) == 4
    assert pa.Table.from_batches(batches).column(0).to_pylist() == ["\ufffd" * 100] * 300


@pytest.mark.parametrize("width", [1, 5, 31, 32, 33, 40])
def test_a_char_loses_its_blanks_before_its_faults_are_replaced(width: int) -> None:
    raw = [
        b"\xff".ljust(width),
        b" " * width,
        b"\xe2\x82"[:width].ljust(width),
        b"a" * width,
        b"\x00" + b"\xff" * (width - 1),
    ]
    trimmed = decode_one(op_of(Kind.CHAR, FLAG_REPLACE | FLAG_TRIM, width), raw)
    assert trimmed.to_pylist() == ["\ufffd", "", "\ufffd", "a" * width, None]
    kept = decode_one(op_of(Kind.CHAR, FLAG_REPLACE, width), raw)
    assert kept.to_pylist()[:4] == [value.decode("utf-8", "replace") for value in raw[:4]]


def test_well_formed_text_is_not_touched_by_replacing() -> None:
    texts = ["", "plain", "wörter und €", "日本" * 20, "🦜" * 9, "\ufffd", "x" * 33]
    raw = [lvarchar(text.encode()) for text in texts]
    assert decode_one(op_of(Kind.LVARCHAR, FLAG_REPLACE), raw).to_pylist() == texts
    assert decode_one(op_of(Kind.LVARCHAR, 0), raw).to_pylist() == texts


def test_a_fault_of_one_column_does_not_loosen_the_next() -> None:
    """The flag applies to its column only."""
    ops = [op_of(Kind.VARCHAR, FLAG_REPLACE), op_of(Kind.VARCHAR, 0), INTEGER]
    (batch,) = decode(ops, [stream([b"\x01\xff" + b"\x01a" + SENTINEL_BYTES])])
    assert batch.to_pylist() == [{"c0": "\ufffd", "c1": "a", "c2": SENTINEL}]
    with pytest.raises(DataError, match="Column 'c1', row 0, offset 2 in the tuple: Byte 0 of the text"):
        decode(ops, [stream([b"\x01\xff" + b"\x01\xff" + SENTINEL_BYTES])])


# ---- raw

JUNK = [
    b"",
    b"a",
    b"\xff",
    b"\x00\x00",
    bytes(range(256))[1:200],
    b"\xff" * 31,
    b"\xfe" * 32,
    b"\xfd" * 33,
    b" \x80 ",
]


@pytest.mark.parametrize(
    "page", [None, codepage("cp1252"), codepage("cp037")], ids=["utf-8", "cp1252", "ebcdic"]
)
@pytest.mark.parametrize("flags", [FLAG_RAW, FLAG_RAW | FLAG_LARGE, FLAG_RAW | FLAG_REPLACE])
def test_raw_text_is_the_bytes_of_the_wire_whatever_the_code_set(page: bytes | None, flags: int) -> None:
    expected_type = pa.large_binary() if flags & FLAG_LARGE else pa.binary()
    long = [bytes([7, 255]) * 40_000]
    for kind, values, raw in (
        (Kind.VARCHAR, JUNK, [bytes([len(value)]) + value for value in JUNK]),
        (Kind.LVARCHAR, JUNK + long, [lvarchar(value) for value in JUNK + long]),
    ):
        column = decode_one(op_of(kind, flags), raw, codepage=page)
        assert column.type == expected_type
        assert column.to_pylist() == values


def test_raw_char_is_null_and_trimmed_by_the_same_rules_as_text() -> None:
    raw = [b"\xff\xfe  ", b"    ", b"\x00abc", b" \x00\xa0 "]
    trimmed = decode_one(op_of(Kind.CHAR, FLAG_RAW | FLAG_TRIM, 4), raw)
    assert trimmed.to_pylist() == [b"\xff\xfe", b"", None, b" \x00\xa0"]
    assert decode_one(op_of(Kind.CHAR, FLAG_RAW, 4), raw).to_pylist() == [raw[0], raw[1], None, raw[3]]


def test_raw_varchar_and_lvarchar_keep_their_nulls() -> None:
    assert decode_one(op_of(Kind.VARCHAR, FLAG_RAW), [b"\x01\x00", b"\x00", b"\x01\xff"]).to_pylist() == [
        None,
        b"",
        b"\xff",
    ]
    null = b"\x01\x00\x00\x00\x02\xff\xff"
    assert decode_one(op_of(Kind.LVARCHAR, FLAG_RAW), [null, lvarchar(b"\xff")]).to_pylist() == [
        None,
        b"\xff",
    ]


def test_raw_text_that_is_too_long_for_its_tuple_is_refused_like_text() -> None:
    op = op_of(Kind.LVARCHAR, FLAG_RAW)
    with pytest.raises(
        Exception, match="Column 'c0', row 0, offset 0 in the tuple: The value takes 14 bytes"
    ):
        decode([op], [stream([b"\x00\x00\x00\x00\x09\xff\xff"])])


def test_without_flags_the_same_bytes_are_a_data_error() -> None:
    refuses(
        op_of(Kind.LVARCHAR, 0), lvarchar(b"ab\xff"), DataError, r"Byte 2 of the text \(ff\) is not UTF-8"
    )
