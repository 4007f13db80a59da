"""Columns decoded as bytes: descriptors of BYTE and TEXT, locators and opaque types; and decimals as int64."""

from __future__ import annotations

import random
import struct
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import parametrize_in_one_test
from tests.unit.native.decoder_support import (
    INTEGER,
    SENTINEL_BYTES,
    decode,
    decode_one,
    new_decoder,
    pack_decimal,
    refuses,
    stream,
)

from informix_arrow.wire.errors import DataError, ProtocolError
from informix_arrow.wire.plan_ops import FLAG_LARGE, Kind, PlanOp, TypeOptions, plan_op
from informix_arrow.wire.types import ColumnType

# ---- BYTE and TEXT


def descriptor(width: int, seed: int, null: bool) -> bytes:
    """Return random bytes, of which only one bit of byte 39 has a meaning here (TYPES section 12)."""
    data = bytearray(random.Random(seed).randbytes(width))
    data[39] = data[39] & 0xFE | null
    return bytes(data)


@pytest.mark.parametrize("width", [40, 56, 68])
def test_descriptors_come_whole_and_null_is_one_bit_of_them(width: int) -> None:
    op = PlanOp(Kind.LOB, width, 0, 0)
    raw = [descriptor(width, seed, null=seed % 3 == 0) for seed in range(200)]
    column = decode_one(op, raw)
    assert column.type == pa.binary(width)
    assert column.to_pylist() == [None if seed % 3 == 0 else raw[seed] for seed in range(200)]


@pytest.mark.parametrize("code", [11, 12])
def test_the_plan_of_byte_and_text_takes_whole_descriptors(code: int) -> None:
    assert plan_op(ColumnType(code, 56)) == PlanOp(Kind.LOB, 56, 0, 0)


def test_the_bytes_under_a_null_descriptor_are_zero() -> None:
    column = decode_one(PlanOp(Kind.LOB, 56, 0, 0), [descriptor(56, 1, False), b"\xff" * 56])
    values = column.buffers()[1]
    assert values is not None
    assert values.to_pybytes()[56:112] == bytes(56)


def test_a_descriptor_cut_short_names_its_column() -> None:
    with pytest.raises(ProtocolError, match="Column 'c1', row 0, offset 4 in the tuple: The value takes 56"):
        decode([INTEGER, PlanOp(Kind.LOB, 56, 0, 0)], [stream([SENTINEL_BYTES + bytes(55)])])


@pytest.mark.parametrize("width", [-1, 0, 39, 32768, 2**31 - 1])
def test_a_descriptor_without_room_for_its_flag_is_no_op(width: int) -> None:
    with pytest.raises(ValueError, match=r"the width of a descriptor must be 40\.\.32767"):
        new_decoder([PlanOp(Kind.LOB, width, 0, 0)])


# ---- locators and opaque types


def envelope(data: bytes, indicator: int = 0) -> bytes:
    return bytes([indicator]) + struct.pack(">I", len(data)) + data


@pytest.mark.parametrize("flags", [0, FLAG_LARGE])
@pytest.mark.parametrize("page", [None, bytes(1024)], ids=["utf-8", "no-byte-defined"])
def test_opaque_values_are_their_bytes_in_any_code_set(flags: int, page: bytes | None) -> None:
    values = [b"", b"\x00", b"\xff" * 72, bytes(range(256)), b"30" * 72, b"\x80" * 33, b"x" * 100_000]
    op = PlanOp(Kind.OPAQUE, 72, 0, flags)
    raw = [envelope(value) for value in values]
    column = decode_one(op, [*raw, envelope(b"", 1), envelope(b"\xff\xff", 1), *raw], codepage=page)
    assert column.type == (pa.large_binary() if flags else pa.binary())
    assert column.to_pylist() == [*values, None, None, *values]


def test_an_opaque_value_longer_than_its_tuple_names_its_column() -> None:
    op = PlanOp(Kind.OPAQUE, 72, 0, 0)
    for length in (b"\x00\x00\x00\x08", b"\xff\xff\xff\xff"):
        with pytest.raises(ProtocolError, match="Column 'c1', row 0, offset 4 in the tuple: The value takes"):
            decode(
                [INTEGER, op, INTEGER], [stream([SENTINEL_BYTES + b"\x00" + length + b"abcd" + b"\x00" * 3])]
            )


# ---- DECIMAL as int64

AGGREGATES = TypeOptions(integer_aggregates=True)


@given(st.integers(1, 32), st.data())
def test_a_decimal_without_fraction_is_an_int64_or_refused_never_changed(
    precision: int, data: st.DataObject
) -> None:
    op = plan_op(ColumnType.decimal(precision, 0), AGGREGATES)
    assert op.kind == Kind.DECIMAL_INT64
    digits = data.draw(st.integers(1, precision))
    value = data.draw(st.integers(-(10**digits) + 1, 10**digits - 1))
    raw = pack_decimal(Decimal(value), op.width)
    if -(2**63) <= value < 2**63:
        column = decode_one(op, [raw, bytes(op.width), raw])
        assert column.type == pa.int64()
        assert column.to_pylist() == [value, None, value]
    else:
        refuses(op, raw, DataError, "does not fit in int64")


def test_the_borders_of_int64_are_exact() -> None:
    op = plan_op(ColumnType.decimal(32, 0), AGGREGATES)
    inside = [2**63 - 1, -(2**63), 10**18, -(10**16), 10**16 - 1, 10**14, 99, 100, -1, 0]
    raw = [pack_decimal(Decimal(value), op.width) for value in inside]
    assert decode_one(op, raw).to_pylist() == inside
    for value in (2**63, -(2**63) - 1, 10**19, 10**32 - 1, -(10**32) + 1):
        refuses(
            op, pack_decimal(Decimal(value), op.width), DataError, "Use integer_aggregates=False to read it"
        )


@pytest.mark.parametrize("text", ["0.1", "-1.5", "123456789012345.5", "-0.00000001"])
@pytest.mark.parametrize("width", [9, 10, 17, 18])
def test_digits_behind_the_point_are_refused_by_int64(text: str, width: int) -> None:
    """The column's description excludes them, so a server that sends them is not trusted."""
    op = PlanOp(Kind.DECIMAL_INT64, width, 0, 0)
    if len(text) < 17 or width > 9:
        refuses(
            op, pack_decimal(Decimal(text), width), DataError, "decimal places, which do not fit in int64"
        )


@pytest.mark.parametrize("width", [2, 9, 10, 17, 18])
def test_a_digit_above_99_is_a_protocol_error_in_an_int64_too(width: int) -> None:
    for at in range(1, width):
        raw = bytearray([0xC1] + [1] * (width - 1))
        raw[at] = 100
        refuses(PlanOp(Kind.DECIMAL_INT64, width, 0, 0), bytes(raw), ProtocolError, "greater than 99")


# ---- DECIMAL in every place of its bytes


@pytest.mark.slow
@parametrize_in_one_test("width", range(2, 19))
@parametrize_in_one_test("scale", [0, 1, 2, 3, 5, 16, 31])
def test_every_exponent_at_every_width_and_scale_is_exact_or_refused(width: int, scale: int) -> None:
    """The fast path through one word and the general path must agree on the places of digits: one digit pair at each
    place, all pairs, the last pair alone, both signs. Exact values are decoded as one column, which saves most of the
    time."""
    op = PlanOp(Kind.DECIMAL128, width, 38 << 8 | scale, 0)
    pairs = width - 1
    exact: list[tuple[bytes, Decimal]] = []
    for exponent in range(-20, 21):
        for digits in (
            [7] + [0] * (pairs - 1),
            [0] * (pairs - 1) + [70],
            [10] * pairs,
            list(range(11, 11 + pairs)),
        ):
            number = int("".join(f"{d:02d}" for d in digits))
            places = 2 * (exponent - pairs) + scale  # the power of ten to multiply the number by
            is_whole = places >= 0 or number % 10**-places == 0
            is_exact = is_whole and (number * 10**places if places >= 0 else number // 10**-places) < 10**38
            for negative in (False, True):
                value = Decimal((int(negative), tuple(map(int, str(number))), 2 * (exponent - pairs)))
                raw = raw_decimal(digits, exponent, negative)
                if is_exact:
                    exact.append((raw, value))
                else:
                    refuses(op, raw, DataError, "digits|decimal places")
    for got, (raw, value) in zip(decode_one(op, [raw for raw, _ in exact]).to_pylist(), exact, strict=True):
        assert (got, got.as_tuple().exponent) == (value, -scale), raw


def raw_decimal(digits: list[int], exponent: int, negative: bool) -> bytes:
    """Return the pairs unchanged, with leading zeros; complemented if negative."""
    first = 0xC0 + exponent
    if not negative:
        return bytes([first, *digits])
    last = max(i for i, digit in enumerate(digits) if digit)
    kept = [99 - d for d in digits[:last]] + [100 - digits[last]] + [0] * (len(digits) - last - 1)
    return bytes([first ^ 0xFF, *kept])
