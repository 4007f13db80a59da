"""The C decoder compared with the Python reference (wire/values.py): random schemas, values and raw bytes."""

from __future__ import annotations

import datetime as dt
import math
import struct
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stress import examples
from tests.unit.native.decoder_support import END_OF_TURN, decode, new_decoder, stream, taken, tuple_message

from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError, Error, ProtocolError
from informix_arrow.wire.plan_ops import Kind, PlanOp, TypeOptions, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.value_decoders import DECODERS
from informix_arrow.wire.values import decode_tuple, encode_tuple

OPTIONS = [
    TypeOptions(),
    TypeOptions(decimals="float64", char_padding="keep"),
    TypeOptions(floating_decimals="string", strings="large"),
    TypeOptions(intervals="month_day_nano", encoding_errors="replace", integer_aggregates=True),
    TypeOptions(encoding_errors="binary"),
]

QUALIFIERS = [
    (start, end)
    for start in (0, 2, 4, 6, 8, 10, 12)
    for end in (0, 2, 4, 6, 8, 10, 11, 12, 13, 14, 15)
    if end >= start or (start, end) == (12, 11)
]


INTERVALS = [
    Qualifier(start, end, leading + end - start)
    for start, ends in (
        (0, (0, 2)),
        (2, (2,)),
        (4, (4, 6, 10, 15)),
        (6, (8, 11)),
        (8, (10, 13)),
        (10, (10, 14)),
    )
    for end in ends
    for leading in (1, 2, 3, 6, 9)
]
# Seconds or months of one unit of the first field, and the maximum number of units in Arrow and timedelta.
INTERVAL_UNITS = {
    0: (12, 10**8),
    2: (1, 10**9),
    4: (86400, 10**8),
    6: (3600, 10**9),
    8: (60, 10**9),
    10: (1, 10**9),
}


def datetime_type(start: int, end: int) -> ColumnType:
    return ColumnType(10, ((4 if start == 0 else 2) + end - start) << 8 | start << 4 | end)


# No trailing blank and no NUL: CHAR would drop the blank, and either may be the encoding of NULL.
TEXT = st.text(st.characters(exclude_characters="\0 ", exclude_categories=["Cs"]), max_size=40)


def text_up_to(size: int) -> st.SearchStrategy[str]:
    return TEXT.map(lambda text: text.encode()[:size].decode(errors="ignore"))


def moment_text(moment: dt.datetime, start: int, end: int) -> str:
    """Return the literal of a DATETIME."""
    parts = [f"{moment.year:04d}", f"-{moment.month:02d}", f"-{moment.day:02d}"]
    parts += [f" {moment.hour:02d}", f":{moment.minute:02d}", f":{moment.second:02d}"]
    text = "".join(parts[start // 2 : min(end, 10) // 2 + 1])
    if end > 10:
        text += "." + f"{moment.microsecond:06d}"[: end - 10]
    return text if start in (0, 12) else text[1:]


@st.composite
def typed_values(draw: st.DrawFn) -> tuple[ColumnType, st.SearchStrategy[object]]:
    """Draw a column type and values that it can store."""
    choice = draw(st.integers(0, 16))
    if choice == 0:
        return ColumnType.smallint(), st.integers(-(2**15) + 1, 2**15 - 1)
    if choice == 1:
        return ColumnType.integer(), st.integers(-(2**31) + 1, 2**31 - 1)
    if choice == 2:
        return draw(st.sampled_from([ColumnType.bigint(), ColumnType.int8()])), st.integers(
            -(2**63) + 1, 2**63 - 1
        )
    if choice == 3:
        return ColumnType.float_(), st.floats(allow_nan=False)
    if choice == 4:
        return ColumnType.smallfloat(), st.floats(width=32, allow_nan=False)
    if choice == 5:
        return ColumnType.date(), st.dates()
    if choice == 6:
        return ColumnType.boolean(), st.booleans()
    if choice == 7:
        n = draw(st.integers(1, 60))
        return ColumnType.char(n), text_up_to(n)
    if choice == 8:
        return ColumnType.varchar(200), text_up_to(200)
    if choice == 9:
        return ColumnType.lvarchar(500), TEXT.map(lambda text: text * 3)
    if choice == 10:
        start, end = draw(st.sampled_from(QUALIFIERS))
        moments = st.datetimes().map(lambda m: moment_text(m.replace(year=2024) if start else m, start, end))
        return datetime_type(start, end), moments
    precision = draw(st.integers(1, 32))
    scale = draw(st.integers(0, precision))
    unscaled = st.integers(-(10**precision) + 1, 10**precision - 1)
    numbers = unscaled.map(lambda n: Decimal((int(n < 0), tuple(map(int, str(abs(n)))), -scale)))
    if choice == 11:
        return ColumnType.decimal(precision, scale), numbers
    if choice == 12:
        qualifier = draw(st.sampled_from(INTERVALS))
        most = min(10**qualifier.leading, INTERVAL_UNITS[qualifier.start][1])
        steps = st.integers(-most + 1, most - 1)
        if qualifier.is_year_month:
            return ColumnType(14, qualifier.encoded), steps.map(
                lambda n: n * INTERVAL_UNITS[qualifier.start][0]
            )
        unit = dt.timedelta(seconds=INTERVAL_UNITS[qualifier.start][0])
        return ColumnType(14, qualifier.encoded), steps.map(lambda n: n * unit)
    if choice == 13:
        return draw(st.sampled_from([ColumnType(11, 56), ColumnType(12, 56)])), st.binary(
            min_size=56, max_size=56
        ).map(lambda data: data[:39] + bytes([data[39] & 0xFE]) + data[40:])
    if choice == 14:
        return ColumnType(41, 72, extended_id=10, extended_name="blob"), st.binary(max_size=80)
    if choice == 15:
        return ColumnType.decimal(18, 0), st.integers(-(10**18) + 1, 10**18 - 1).map(Decimal)
    return ColumnType.decimal(32), st.integers(-(10**31), 10**31).map(
        lambda n: Decimal(n).scaleb(-7).normalize()
    )


@st.composite
def results(draw: st.DrawFn) -> tuple[list[Column], list[tuple[object, ...]]]:
    types = draw(st.lists(typed_values(), min_size=1, max_size=8))
    columns = [Column(f"c{i}", ct) for i, (ct, _) in enumerate(types)]
    row = st.tuples(*(st.none() | values for _, values in types))
    return columns, draw(st.lists(row, max_size=8))


def equal(ours: object, theirs: object) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return struct.pack("d", ours) == struct.pack("d", theirs) or (math.isnan(ours) and math.isnan(theirs))
    return type(ours) is type(theirs) and ours == theirs and str(ours) == str(theirs)


@given(results(), st.sampled_from(OPTIONS), st.integers(0, 10_000))
@settings(max_examples=examples(40), deadline=None)
def test_any_result_decodes_as_the_reference_says_in_any_split(
    result: tuple[list[Column], list[tuple[object, ...]]], options: TypeOptions, cut: int
) -> None:
    columns, rows = result
    payloads = [encode_tuple(row, columns, "utf-8") for row in rows]
    ops = [plan_op(column.type, options) for column in columns]
    reply = stream(payloads)
    cut %= len(reply)
    (batch,) = decode(ops, [reply[:cut], reply[cut:]])
    assert batch.num_rows == len(rows)
    for got, payload in zip(batch.to_pylist(), payloads, strict=True):
        wanted = decode_tuple(payload, columns, "utf-8", options)
        assert all(equal(o, t) for o, t in zip(got.values(), wanted, strict=True)), (got, wanted)


def raw_types() -> list[ColumnType]:
    plain = [
        ColumnType.smallint(),
        ColumnType.integer(),
        ColumnType.bigint(),
        ColumnType.int8(),
        ColumnType.float_(),
    ]
    plain += [
        ColumnType.smallfloat(),
        ColumnType.boolean(),
        ColumnType.char(9),
        ColumnType.varchar(),
        ColumnType.lvarchar(),
    ]
    decimals = [
        ColumnType.decimal(p, s)
        for p, s in ((1, 1), (5, 0), (8, 2), (9, 3), (16, 2), (18, 1), (32, 5), (32, 32))
    ]
    return (
        plain
        + decimals
        + [ColumnType.decimal(4), ColumnType.decimal(32)]
        + [datetime_type(*q) for q in QUALIFIERS]
        + [ColumnType(14, q.encoded) for q in INTERVALS]
        + [ColumnType(11, 56), ColumnType(12, 56), ColumnType(41, 72, extended_id=10, extended_name="blob")]
        + [ColumnType(19, 0)]
    )


def outcome(op: PlanOp, columns: list[Column], payload: bytes, options: TypeOptions) -> tuple[object, object]:
    """Return the results of the C decoder and of the reference for one tuple: a value, or the class of the error."""
    wanted: object
    try:
        wanted = decode_tuple(payload, columns, "utf-8", options)[0]
    except Error as error:
        wanted = type(error)
    decoder = new_decoder([op])
    try:
        decoder.feed(tuple_message(payload), 0, len(tuple_message(payload)))
    except Error as error:
        return type(error), wanted
    return taken(decoder, [op]).column(0)[0].as_py(), wanted


@given(st.sampled_from(raw_types()), st.sampled_from(OPTIONS), st.data())
@settings(max_examples=examples(100), deadline=None)
def test_any_bytes_at_all_decode_or_fail_as_the_reference_says(
    ct: ColumnType, options: TypeOptions, data: st.DataObject
) -> None:
    """Mostly base-100 digits, so that packed values are often valid; any length, so that tuples are often too short."""
    op = plan_op(ct, options)
    bytes_ = st.sampled_from(
        [0, 0, 1, 2, 9, 10, 12, 23, 31, 50, 59, 90, 98, 99, 100, 0x20, 0x41, 0x74, 0x80, 0xC3, 0xFF]
    )
    first = st.sampled_from(
        [0, 1, 0x3D, 0x3E, 0x3F, 0x40, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xC3, 0xC7, 0xC8, 0xFF]
    )
    size = data.draw(st.just(min(op.width, 80)) | st.integers(0, 12))
    rest = data.draw(st.lists(bytes_, min_size=max(size - 1, 0), max_size=max(size - 1, 0)))
    payload = bytes([data.draw(first), *rest])[:size]
    ours, theirs = outcome(op, [Column("c0", ct)], payload, options)
    if ct.code == 10 and payload[:1] < b"\x80" and {ours, theirs} == {ProtocolError, DataError}:
        return  # a negative DATETIME with more than one fault: either may be reported
    assert equal(ours, theirs) or ours is theirs, payload.hex()


#: Bytes of a DATETIME: the limits of all fields and their neighbours, the highest bits, and invalid base-100 digits.
ODD_BYTES = [
    0,
    1,
    2,
    9,
    10,
    12,
    13,
    15,
    16,
    17,
    23,
    24,
    28,
    29,
    30,
    31,
    32,
    59,
    60,
    90,
    99,
    100,
    127,
    128,
    141,
    199,
    255,
]


@pytest.mark.parametrize(("start", "end"), [q for q in QUALIFIERS if q[0] in (0, 6)])
def test_any_byte_of_a_moment_may_be_odd(start: int, end: int) -> None:
    """If this fails: ia_whole_moment (decode_datetime.h) accepts an invalid value, or decodes a wrong one. Columns
    follow, as it does not handle values at the end of the received data, which the other tests use."""
    ct = datetime_type(start, end)
    op, behind = plan_op(ct), [ColumnType.integer()] * 5
    columns = [Column(f"c{number}", column) for number, column in enumerate([ct, *behind])]
    ops = [plan_op(column.type) for column in columns]
    tail = bytes.fromhex("ffffffff" * 5)
    whole = dt.datetime(2024, 2, 29, 23, 59, 59, 999990), dt.datetime(1900, 3, 1, 10, 0, 0, 123450)
    for value in whole:
        good = encode_tuple([moment_text(value, start, end)], columns[:1], "utf-8")
        assert len(good) == op.width
        for at in range(len(good)):
            for byte in {*ODD_BYTES, good[at], (good[at] + 1) % 256, 0xC3, 0xC7, 0xC8, 0x38}:
                payload = good[:at] + bytes([byte]) + good[at + 1 :] + tail
                wanted: object
                found: object
                try:
                    wanted = decode_tuple(payload, columns, "utf-8")[0]
                except Error as error:
                    wanted = type(error)
                decoder = new_decoder(ops)
                message = tuple_message(payload)
                try:
                    decoder.feed(message, 0, len(message))
                    found = taken(decoder, ops).column(0)[0].as_py()
                except Error as error:
                    found = type(error)
                if payload[0] < 0x80 and {found, wanted} == {ProtocolError, DataError}:
                    continue
                assert equal(found, wanted) or found is wanted, payload.hex()


# ---- assumptions of the fast path


def test_every_kind_of_the_plan_has_a_reference_decoder() -> None:
    """If this fails: a kind was added to kinds.def without a decoder in wire/values.py. Add it there first; the tests
    above depend on the reference."""
    assert set(DECODERS) == set(Kind)


@pytest.mark.parametrize(
    "ct",
    [
        ColumnType.smallint(),
        ColumnType.integer(),
        ColumnType.serial(),
        ColumnType.bigint(),
        ColumnType.bigserial(),
        ColumnType.int8(),
        ColumnType.serial8(),
        ColumnType.smallfloat(),
        ColumnType.float_(),
        ColumnType.date(),
    ],
    ids=lambda ct: ct.sql,
)
def test_fixed_width_kinds_need_no_qualifier_and_no_flags(ct: ColumnType) -> None:
    """If this fails: a fixed-width kind got an argument or flags in its op. The row loop ignores them, because a check
    would cost time for every value. Give such a column its own kind instead."""
    op = plan_op(ct)
    assert (op.arg, op.flags) == (0, 0)
    assert op.width in (2, 4, 8, 10)


def test_not_null_and_other_flag_bits_do_not_change_the_plan() -> None:
    """If this fails: flag bits of the type word reach the plan, and a flagged type code could be taken for another
    type. ColumnType has to split the word (SQLI section 8)."""
    for plain in raw_types():
        word = plain.code | 0x0100
        flagged = ColumnType(
            plain.code, plain.encoded_length, 0x0100, plain.extended_id, "", plain.extended_name
        )
        assert plan_op(flagged) == plan_op(plain)
        assert word & 0xFF == flagged.code


def test_every_row_is_consumed_to_its_last_byte() -> None:
    """If this fails: the decoder accepts tuples with unread bytes, so a wrong width shifts values instead of raising an
    error. Restore the check after the last column in ia_decode()."""
    for ct in raw_types():
        op = plan_op(ct)
        values = encode_tuple([None], [Column("c", ct)], "utf-8")
        assert decode([op], [tuple_message(values) + END_OF_TURN])[0].num_rows == 1
        with pytest.raises(ProtocolError, match="1 bytes are left"):
            decode([op], [tuple_message(values + b"\0") + END_OF_TURN])
