"""Decoding blocks of rows gives the same results as decoding row by row."""

from __future__ import annotations

import datetime as dt
import random
import struct
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cases import parametrize_in_one_test
from tests.stress import examples
from tests.unit.native.decoder_support import (
    END_OF_TURN,
    INTEGER,
    new_decoder,
    put_message,
    taken,
    tuple_message,
)
from tests.unit.native.test_decode_reference import (
    INTERVAL_UNITS,
    OPTIONS,
    equal,
    moment_text,
    raw_types,
    results,
)

from informix_arrow._decode import FULL
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError, ProtocolError
from informix_arrow.wire.plan_ops import PlanOp, TypeOptions, plan_op
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import decode_tuple, encode_tuple

#: The result of some bytes: the batches, the last status, the position, and the error.
Outcome = tuple[list[pa.RecordBatch], int, int, str]


def outcome(
    blocks: bool,
    ops: Sequence[PlanOp],
    data: bytes,
    *,
    shift: int = 0,
    cut: int = 0,
    batch_rows: int = 1 << 20,
    batch_bytes: int = 1 << 30,
    framing: int = 0,
    codepage: bytes | None = None,
) -> Outcome:
    """Decode `data`, which is `shift` bytes off an aligned address and arrives in two pieces, split at `cut`."""
    decoder = new_decoder(
        ops,
        batch_rows=batch_rows,
        batch_bytes=batch_bytes,
        framing=framing,
        codepage=codepage,
        blocks=blocks,
    )
    place = bytearray(shift) + data
    batches: list[pa.RecordBatch] = []
    position, status, failure = shift, -1, ""
    try:
        for end in (shift + cut, len(place)):
            position, status = decoder.feed(place, position, end)
            while status == FULL:
                batches.append(taken(decoder, ops))
                position, status = decoder.feed(place, position, end)
    except (DataError, ProtocolError) as error:
        failure = f"{type(error).__name__} {error.row} {error.column} {error}"
    batches.append(taken(decoder, ops))
    return batches, status, position - shift, failure


def assert_same(found: Outcome, wanted: Outcome) -> None:
    assert found[1:] == wanted[1:]
    assert [batch.num_rows for batch in found[0]] == [batch.num_rows for batch in wanted[0]]
    for ours, theirs in zip(found[0], wanted[0], strict=True):
        for a, b in zip(ours.columns, theirs.columns, strict=True):
            assert a.null_count == b.null_count
            for one, other in zip(
                a.buffers(), b.buffers(), strict=True
            ):  # byte by byte, as a NaN equals nothing
                assert (one and one.to_pybytes()) == (other and other.to_pybytes())


def messages(payloads: Sequence[bytes], framing: int = 0) -> bytes:
    return b"".join(map(put_message if framing else tuple_message, payloads)) + END_OF_TURN


def drawn(ct: ColumnType, rng: random.Random) -> bytes:
    """Return bytes that are plausible, and often valid, for the type."""
    op = plan_op(ct)
    null = encode_tuple([None], [Column("c", ct)], "utf-8")
    if rng.random() < 0.2:
        return null
    if op.kind == 8:
        return b"\0" + struct.pack(">i", 1) + rng.choice([b"t", b"f", b"\1", b"\0"])
    if op.kind in {10, 11, 24}:
        text = bytes(rng.choice(b"abc xyz") for _ in range(rng.choice([0, 1, 2, 7, 31, 32, 33, 70])))
        return bytes([len(text)]) + text if op.kind == 10 else b"\0" + struct.pack(">i", len(text)) + text
    if op.kind == 9:
        return bytes(rng.choice(b"ab ") for _ in range(op.width))
    if op.kind == 4:
        return rng.choice([b"\0\1", b"\xff\xff"]) + rng.randbytes(4) + b"\x7f" + rng.randbytes(3)
    if op.kind == 7:
        return struct.pack(">i", rng.randrange(-693594, 2958465))
    value: object = None
    if op.kind in {12, 13, 14, 25}:
        precision, scale = ct.encoded_length >> 8, ct.encoded_length & 255
        number = rng.randrange(-(10**precision) + 1, 10**precision) // 10 ** rng.randrange(precision)
        value = Decimal(number).scaleb(-(rng.randrange(3) if scale == 255 else scale))
    elif 15 <= op.kind <= 19:
        start, end = ct.encoded_length >> 4 & 15, ct.encoded_length & 15
        moment = dt.datetime(1, 1, 1) + dt.timedelta(
            seconds=rng.randrange(315_000_000_000), microseconds=rng.randrange(10**6)
        )
        moment = moment.replace(day=28, year=2024) if start else moment
        value = moment_text(moment, start, end)
    elif 20 <= op.kind <= 22:
        start, end = ct.encoded_length >> 4 & 15, ct.encoded_length & 15
        unit, most = INTERVAL_UNITS[start][0], 10 ** ((ct.encoded_length >> 8) - end + start)
        count = rng.randrange(-min(most, 10**8) + 1, min(most, 10**8))
        value = count * unit if end <= 2 else count * dt.timedelta(seconds=unit)
    else:
        return rng.randbytes(op.width)
    return encode_tuple([value], [Column("c", ct)], "utf-8")


@pytest.mark.slow
@parametrize_in_one_test("ct", raw_types(), ids=lambda ct: ct.sql)
def test_a_column_of_any_type_between_two_others_is_the_same_by_blocks(ct: ColumnType) -> None:
    """If this fails: a column loop of decode_block.h or decode_fixed.h differs from the case of its kind
    in the row loop (decode_core.h). Tails of all lengths, on each boundary."""
    rng = random.Random(ct.sql)
    columns = [Column("c0", ColumnType.integer()), Column("c1", ct), Column("c2", ColumnType.integer())]
    ops = [INTEGER, plan_op(ct), INTEGER]
    payloads = [
        struct.pack(">i", rng.choice([-(2**31), rng.randrange(-(2**31), 2**31)]))
        + drawn(ct, rng)
        + struct.pack(">i", row)
        for row in range(135)
    ]
    for rows in (8, 13, 63, 64, 135):
        data = messages(payloads[:rows])
        wanted = outcome(False, ops, data)
        assert wanted[3] == ""
        cut = len(data) // 3
        wanted_cut = outcome(False, ops, data, cut=cut)
        assert_same(outcome(True, ops, data, shift=rows % 16), wanted)
        assert_same(outcome(True, ops, data, cut=cut, shift=1), wanted_cut)
    (batch,) = wanted[0]  # a batch of all rows
    for got, payload in zip(batch.to_pylist(), payloads, strict=True):
        reference = decode_tuple(payload, columns, "utf-8")
        assert all(equal(o, t) for o, t in zip(got.values(), reference, strict=True))


@given(
    results(),
    st.sampled_from(OPTIONS),
    st.integers(0, 260),
    st.integers(0, 15),
    st.integers(0, 10_000),
    st.sampled_from([0, 1]),
    st.sampled_from([1, 7, 8, 64, 100, 1 << 20]),
    st.sampled_from([1, 700, 5000, 20_000, 1 << 30]),
)
@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.slow
def test_any_result_is_the_same_by_blocks_and_by_rows(
    result: tuple[list[Column], list[tuple[object, ...]]],
    options: TypeOptions,
    rows: int,
    shift: int,
    cut: int,
    framing: int,
    batch_rows: int,
    batch_bytes: int,
) -> None:
    columns, values = result
    payloads = [encode_tuple(row, columns, "utf-8") for row in values]
    payloads = [payloads[(row * 7 + row // 5) % len(payloads)] for row in range(rows)] if payloads else []
    ops = [plan_op(column.type, options) for column in columns]
    data = messages(payloads, framing)
    cut %= len(data)
    limits = {"cut": cut, "batch_rows": batch_rows, "batch_bytes": batch_bytes, "framing": framing}
    wanted = outcome(False, ops, data, **limits)
    assert_same(outcome(True, ops, data, shift=shift, **limits), wanted)


@given(results(), st.integers(10, 150), st.lists(st.tuples(st.integers(0), st.integers(1, 255)), max_size=3))
@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.slow
def test_what_is_wrong_with_a_row_is_said_the_same_by_blocks(
    result: tuple[list[Column], list[tuple[object, ...]]], rows: int, damage: list[tuple[int, int]]
) -> None:
    """Error, row, column, text, and the complete rows before it are the same."""
    columns, values = result
    payloads = [encode_tuple(row, columns, "utf-8") for row in values]
    ops = [plan_op(column.type) for column in columns]
    data = bytearray(messages([payloads[row % len(payloads)] for row in range(rows)] if payloads else []))
    for at, flip in damage:
        data[at % len(data)] ^= flip
    wanted = outcome(False, ops, bytes(data))
    assert_same(outcome(True, ops, bytes(data)), wanted)


def test_texts_of_a_code_page_are_the_same_by_blocks() -> None:
    """One code set whose lower half is ASCII, and one in which it is not (a is A)."""
    page = bytearray()
    for byte in range(256):
        utf8 = bytes([byte]).decode("latin-1").encode()
        page += bytes([len(utf8)]) + utf8.ljust(3, b"\0")
    swapped = bytearray(page)
    swapped[4 * ord("a") + 1] = ord("A")
    ops = [plan_op(ColumnType.varchar(40)), INTEGER, plan_op(ColumnType.char(7))]
    payloads = [bytes([row % 18]) + b"a\xe4z" * 6 + b"ab"[: row % 3] for row in range(100)]
    payloads = [
        p[: 1 + p[0]] + struct.pack(">i", row) + b"\xfca    x"[: 7 - row % 2].ljust(7)
        for row, p in enumerate(payloads)
    ]
    for codepage in (bytes(page), bytes(swapped)):
        data = messages(payloads)
        wanted = outcome(False, ops, data, codepage=codepage)
        assert wanted[3] == ""
        assert_same(outcome(True, ops, data, codepage=codepage), wanted)


@pytest.mark.parametrize("odd", [0, 1, 8, 15, 31, 32, 33, 62, 63, 64])
def test_short_texts_end_where_the_first_that_is_none_stands(odd: int) -> None:
    """If this fails: `ia_decode_short_varchars` accepts a row that it must leave, or the loop continues in the wrong
    row. One row of each kind, at each place of a block: NULL, not ASCII in its first or last byte, longer than 32
    bytes, a byte after the text that is not ASCII, and a length beyond the tuple."""
    ops = [plan_op(ColumnType.varchar(40)), plan_op(ColumnType.varchar(40)), INTEGER]
    texts = {
        "NULL": b"\1\0",
        "empty": b"\0",
        "umlaut first": b"\x09\xc3\xa4bcdefgh",
        "umlaut last": b"\x20" + b"x" * 30 + b"\xc3\xa4",
        "33": b"\x21" + b"y" * 33,
        "40 and an umlaut": b"\x28" + b"z" * 38 + b"\xc3\xa4",
        "no UTF-8": b"\x03ab\xe4",
        "too long": b"\x28abc",
    }
    plain = bytes([odd % 33]) + bytes(range(64, 64 + odd % 33))
    for name, text in texts.items():
        # After the second text an INTEGER with bytes that are not ASCII.
        payloads = [
            (text if row == odd else plain) + (plain if row % 3 else b"\1\0") + struct.pack(">i", -row - 1)
            for row in range(70)
        ]
        data = messages(payloads)
        wanted = outcome(False, ops, data)
        assert (wanted[3] == "") == (name not in {"no UTF-8", "too long"})
        assert_same(outcome(True, ops, data, shift=odd % 16), wanted)
        assert_same(outcome(True, ops, data, batch_rows=9), outcome(False, ops, data, batch_rows=9))


@pytest.mark.parametrize("odd", [0, 1, 2, 3, 7, 8, 9, 10, 62, 63, 64])
def test_an_int8_of_each_sort_is_the_same_at_each_place_of_a_block(odd: int) -> None:
    """If this fails: blocks accept an invalid sign or magnitude. Blocks of all remainders by four. An INTEGER follows
    the column."""
    ops = [plan_op(ColumnType.int8()), INTEGER]

    def wire(sign: int, magnitude: int) -> bytes:
        return struct.pack(">HII", sign, magnitude & 0xFFFFFFFF, magnitude >> 32)

    sorts = {
        "NULL": wire(0, 0),
        "NULL with a magnitude": wire(0, 2**64 - 1),
        "the least": wire(0xFFFF, 2**63),
        "the greatest": wire(1, 2**63 - 1),
        "nothing": wire(1, 0),
        "minus nothing": wire(0xFFFF, 0),
        "too great": wire(1, 2**63),
        "too small": wire(0xFFFF, 2**63 + 1),
        "a sign of 2": wire(2, 1),
        "a sign of fffe": wire(0xFFFE, 1),
        "a sign of ff": wire(0xFF, 1),
        "a sign of 0100": wire(0x100, 1),
    }
    for name, value in sorts.items():
        payloads = [
            (value if row == odd else wire(1 if row % 3 else 0xFFFF, row << 30 | row))
            + struct.pack(">i", ~row)
            for row in range(75)
        ]
        data = messages(payloads)
        for batch_rows in (1 << 20, 9, 10, 11):
            wanted = outcome(False, ops, data, batch_rows=batch_rows)
            assert (wanted[3] == "") == (not name.startswith(("too", "a sign")))
            assert_same(outcome(True, ops, data, shift=odd % 16, batch_rows=batch_rows), wanted)


#: Rows whose values are all NULL: the first and the last of vectors, of words and of blocks.
EDGES = frozenset({0, 1, 3, 4, 7, 8, 15, 16, 31, 32, 62, 63, 64, 65, 71, 72, 95, 96, 126, 127})
FIXED = [
    ColumnType.smallint(), ColumnType.integer(), ColumnType.bigint(), ColumnType.int8(), ColumnType.float_(),
    ColumnType.smallfloat(), ColumnType.date(), ColumnType.decimal(16, 2), ColumnType.decimal(32, 5),
    ColumnType.datetime("YEAR TO SECOND"), ColumnType.char(3),
]  # fmt: skip


@pytest.mark.parametrize("variable", [False, True])
def test_tails_of_every_length_up_to_two_blocks_are_the_same(variable: bool) -> None:
    """Columns of each width come after a text or at the beginning, with NULLs at every edge."""
    rng = random.Random(variable)
    types = [*FIXED, *([ColumnType.varchar(40), *FIXED, ColumnType.lvarchar(90), *FIXED] * variable)]
    nulls = encode_tuple([None] * len(types), [Column("c", ct) for ct in types], "utf-8")
    ops = [plan_op(ct) for ct in types]
    payloads = [nulls if row in EDGES else b"".join(drawn(ct, rng) for ct in types) for row in range(129)]
    for rows in range(130):
        data = messages(payloads[:rows])
        wanted = outcome(False, ops, data)
        assert (wanted[3], [batch.num_rows for batch in wanted[0]]) == ("", [rows])
        assert_same(outcome(True, ops, data, shift=rows % 16), wanted)
