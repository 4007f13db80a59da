"""Single values: every class of DECIMAL, DATETIME fields, text in every code set, envelopes, ranges."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import parametrize_in_one_test
from tests.unit.native.decoder_support import decode_one, pack_decimal, refuses

from informix_arrow.wire.errors import DataError, ProtocolError
from informix_arrow.wire.plan_ops import Kind, PlanOp, TypeOptions, plan_op
from informix_arrow.wire.types import ColumnType


def decimal_width(precision: int, scale: int) -> int:
    return (precision + (scale & 1) + 3) // 2


# ---- DECIMAL


@st.composite
def fitting_decimals(draw: st.DrawFn) -> tuple[int, int, Decimal]:
    """Draw a precision, a scale and a value within them, of all signs and sizes."""
    precision = draw(st.integers(1, 32))
    scale = draw(st.integers(0, precision))
    digits = draw(st.integers(0, precision))
    unscaled = draw(st.integers(-(10**digits) + 1, 10**digits - 1))
    return precision, scale, Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))


@given(fitting_decimals())
def test_every_decimal_that_fits_comes_out_exactly(case: tuple[int, int, Decimal]) -> None:
    precision, scale, value = case
    width = decimal_width(precision, scale)
    column = decode_one(
        PlanOp(Kind.DECIMAL128, width, precision << 8 | scale, 0), [pack_decimal(value, width)]
    )
    assert column.type == pa.decimal128(precision, scale)
    got = column[0].as_py()
    assert got == value
    assert got.as_tuple().exponent == -scale


@parametrize_in_one_test("precision", range(1, 33))
def test_the_largest_and_smallest_values_of_every_precision_and_scale(precision: int) -> None:
    for scale in range(precision + 1):
        width = decimal_width(precision, scale)
        largest = Decimal((0, (9,) * precision, -scale))
        smallest = Decimal((0, (1,), -scale))
        # Unary minus would round to the 28 digits of the context.
        values = [largest, largest.copy_negate(), smallest, smallest.copy_negate(), Decimal(0)]
        op = PlanOp(Kind.DECIMAL128, width, precision << 8 | scale, 0)
        column = decode_one(op, [*(pack_decimal(v, width) for v in values), bytes(width)])
        assert column.to_pylist() == [*values, None]


@given(st.integers(-(10**32) + 1, 10**32 - 1), st.integers(-30, 60))
def test_a_decimal_of_any_size_fits_or_is_refused_never_changed(unscaled: int, exponent: int) -> None:
    """The Arrow type is another than the column's default (floating_decimals=decimal128(20, 5))."""
    value = Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -exponent))
    raw = pack_decimal(value, 18)
    op = PlanOp(Kind.DECIMAL128, 18, 20 << 8 | 5, 0)
    scaled = Fraction(unscaled) * Fraction(10) ** (5 - exponent)
    if scaled.denominator != 1 or abs(scaled) >= 10**20:
        refuses(op, raw, DataError, "decimal128")
    else:
        assert decode_one(op, [raw])[0].as_py() == value


def test_digits_beyond_the_arrow_scale_are_a_data_error() -> None:
    op = PlanOp(Kind.DECIMAL128, 10, 10 << 8 | 2, 0)
    refuses(
        op,
        pack_decimal(Decimal("1.234"), 10),
        DataError,
        r"more than 2 decimal places and does not fit in decimal128\(10, 2\)",
    )
    refuses(op, pack_decimal(Decimal("-0.00001"), 10), DataError, "more than 2 decimal places")
    odd = PlanOp(Kind.DECIMAL128, 10, 10 << 8 | 1, 0)
    refuses(odd, pack_decimal(Decimal("1.25"), 10), DataError, "more than 1 decimal places")
    assert decode_one(odd, [pack_decimal(Decimal("1.2"), 10)]).to_pylist() == [Decimal("1.2")]


def test_more_digits_than_the_arrow_precision_are_a_data_error() -> None:
    op = PlanOp(Kind.DECIMAL128, 10, 5 << 8 | 2, 0)
    for text in ("1000", "-1000.00", "1E+100", "-9E+120"):
        refuses(op, pack_decimal(Decimal(text), 10), DataError, r"too many digits for decimal128\(5, 2\)")
    assert decode_one(op, [pack_decimal(Decimal("-999.99"), 10)]).to_pylist() == [Decimal("-999.99")]


@parametrize_in_one_test("kind", [Kind.DECIMAL128, Kind.DECIMAL_FLOAT64, Kind.DECIMAL_STRING])
@parametrize_in_one_test("width", [2, 5, 9, 10, 18])
@parametrize_in_one_test("sign", [0xC1, 0x3E])
def test_a_base_100_digit_above_99_is_a_protocol_error(kind: Kind, width: int, sign: int) -> None:
    op = PlanOp(kind, width, 32 << 8 | 10 if kind == Kind.DECIMAL128 else 0x20FF, 0)
    for at in range(1, width):
        for bad in (100, 127, 128, 255):
            raw = bytearray([sign] + [1] * (width - 1))
            raw[at] = bad
            refuses(op, bytes(raw), ProtocolError, "greater than 99")


def test_zero_is_accepted_in_every_spelling() -> None:
    op = PlanOp(Kind.DECIMAL128, 5, 8 << 8 | 2, 0)
    zeros = ["8000000000", "c100000000", "c000000000", "3e00000000", "ff00000000"]
    assert decode_one(op, [bytes.fromhex(z) for z in zeros]).to_pylist() == [Decimal(0)] * 5


def test_null_is_zero_bytes_only_because_legal_numbers_begin_with_one_or_two() -> None:
    """TYPES section 5. JDBC looks at two bytes and takes the third of these for NULL."""
    op = plan_op(ColumnType(5, 0x20FF), TypeOptions(floating_decimals="string"))
    raw = [pack_decimal(Decimal("-1E125"), 18), bytes(18)]
    raw += [bytes.fromhex("00000a").ljust(18, b"\0"), bytes(17) + b"\x01"]
    expected = ["-1" + "0" * 125, None, "-999" + "0" * 123, "-" + "9" * 34 + "0" * 92]
    assert decode_one(op, raw).to_pylist() == expected
    wide = PlanOp(Kind.DECIMAL128, 2, 38 << 8, 0)
    assert decode_one(wide, [b"\x00\x00", b"\xc1\x05"]).to_pylist() == [None, Decimal(5)]


@given(st.integers(-(10**32) + 1, 10**32 - 1), st.integers(-94, 128))
def test_a_decimal_becomes_the_nearest_double(unscaled: int, exponent: int) -> None:
    value = Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -exponent))
    if value and not -129 <= value.adjusted() <= 124:
        return
    op = PlanOp(Kind.DECIMAL_FLOAT64, 18, 0x20FF, 0)
    assert decode_one(op, [pack_decimal(value, 18)])[0].as_py() == float(value)


@given(st.integers(-(10**32) + 1, 10**32 - 1), st.integers(-94, 128))
def test_a_decimal_becomes_plain_text_without_an_exponent(unscaled: int, exponent: int) -> None:
    value = Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -exponent))
    if value and not -129 <= value.adjusted() <= 124:
        return
    op = PlanOp(Kind.DECIMAL_STRING, 18, 0x20FF, 0)
    expected = f"{value:f}"
    if "." in expected:
        expected = expected.rstrip("0").rstrip(".")
    assert decode_one(op, [pack_decimal(value, 18)])[0].as_py() == ("0" if value == 0 else expected)


def test_decimal_text_has_a_canonical_form() -> None:
    op = PlanOp(Kind.DECIMAL_STRING, 18, 0x20FF, 0)
    texts = ["1.5", "-0.000001", "100", "0", "12", "0.1", "-12345678901234567890123456789.012"]
    texts += ["1" + "0" * 125, "-0." + "0" * 129 + "1"]
    assert decode_one(op, [pack_decimal(Decimal(t), 18) for t in texts]).to_pylist() == texts


# ---- integers, floats, dates


def test_int8_is_sign_and_magnitude_with_the_low_word_first() -> None:
    op = PlanOp(Kind.INT8, 10, 0, 0)
    for value in (0, 1, -1, 2**32 - 1, 2**32, 2**63 - 1, -(2**63) + 1):
        sign = b"\xff\xff" if value < 0 else b"\x00\x01"
        raw = sign + struct.pack(">II", abs(value) & 0xFFFFFFFF, abs(value) >> 32)
        assert decode_one(op, [raw]).to_pylist() == [value]
    refuses(op, b"\x00\x02" + bytes(8), ProtocolError, "sign word 0002")
    refuses(op, b"\x00\x01\x00\x00\x00\x00\x80\x00\x00\x00", DataError, "64 bits")
    refuses(op, b"\xff\xff\x00\x00\x00\x01\x80\x00\x00\x00", DataError, "64 bits")
    assert decode_one(op, [b"\xff\xff\x00\x00\x00\x00\x80\x00\x00\x00"]).to_pylist() == [-(2**63)]


def test_a_nan_that_is_not_all_ones_is_a_value() -> None:
    """Only ff..ff is NULL (JDBC section 7)."""
    column = decode_one(
        PlanOp(Kind.FLOAT64, 8, 0, 0), [b"\x7f\xf8" + bytes(6), b"\xff" * 7 + b"\xfe", b"\xff" * 8]
    )
    assert column.is_valid().to_pylist() == [True, True, False]
    column = decode_one(
        PlanOp(Kind.FLOAT32, 4, 0, 0), [b"\x7f\xc0\x00\x00", b"\xff\xff\xff\xfe", b"\xff" * 4]
    )
    assert column.is_valid().to_pylist() == [True, True, False]


def test_dates_count_from_the_last_day_of_1899() -> None:
    op = PlanOp(Kind.DATE, 4, 0, 0)
    raw = [struct.pack(">i", (d - dt.date(1899, 12, 31)).days) for d in (dt.date.min, dt.date.max)]
    assert decode_one(op, raw).to_pylist() == [dt.date.min, dt.date.max]
    assert decode_one(op, [b"\x80\x00\x00\x00"]).null_count == 1
    for outside in (-693594 - 1, 2958464 + 1, -(2**31) + 1, 2**31 - 1):
        refuses(op, struct.pack(">i", outside), DataError, "outside the years 1 to 9999")


# ---- BOOLEAN


def test_a_boolean_is_true_or_false_in_text_and_in_binary_form() -> None:
    values = [b"\x00\x00\x00\x00\x01" + v for v in (b"t", b"T", b"\x01", b"f", b"F", b"\x00")]
    column = decode_one(
        PlanOp(Kind.BOOL, 6, 0, 0), [*values, b"\x01\x00\x00\x00\x00", b"\xff" + values[0][1:]]
    )
    assert column.to_pylist() == [True, True, True, False, False, False, None, True]


@pytest.mark.parametrize("value", [b"x", b"\x02", b"1", b"\xff", b"", b"tt"])
def test_any_other_boolean_is_a_protocol_error(value: bytes) -> None:
    raw = b"\x00" + struct.pack(">I", len(value)) + value
    refuses(PlanOp(Kind.BOOL, 6, 0, 0), raw, ProtocolError, "A BOOLEAN")


def test_a_null_envelope_may_carry_bytes_that_are_skipped() -> None:
    """Only the indicator decides. The length is present and says how many bytes to skip."""
    raw = [b"\x01\x00\x00\x00\x03abc", b"\x01\x00\x00\x00\x00"]
    assert decode_one(PlanOp(Kind.BOOL, 6, 0, 0), raw).to_pylist() == [None, None]
    assert decode_one(PlanOp(Kind.LVARCHAR, 9, 0, 0), raw).to_pylist() == [None, None]


# ---- text

TEXTS = [
    "",
    "a",
    "é",
    "日本語",
    "\U0001f600",
    "\ud7ff\ue000",
    "\x7f\x80",
    "\u07ff\u0800",
    "\uffff\U00010000\U0010ffff",
]
TEXTS += [c * n for c in ("x", "ß", "€", "🦜") for n in (3, 5, 15, 16, 17, 31, 32, 33, 50)]
BROKEN = [
    b"\x80",
    b"\xc0\x80",
    b"\xc1\xbf",
    b"\xe0\x9f\xbf",
    b"\xed\xa0\x80",
    b"\xf0\x8f\xbf\xbf",
    b"\xf4\x90\x80\x80",
]
BROKEN += [
    b"\xf5\x80\x80\x80",
    b"\xff",
    b"\xc3",
    b"\xe2\x82",
    b"\xf0\x9f\x98",
    b"\xc3\x28",
    b"\xe2\x28\xa1",
    b"\xf0\x9f\x28\x80",
]


def lvarchar(raw: bytes) -> bytes:
    return b"\x00" + struct.pack(">I", len(raw)) + raw


def test_utf8_comes_through_unchanged() -> None:
    raw = [lvarchar(t.encode("utf-8")) for t in TEXTS]
    assert decode_one(PlanOp(Kind.LVARCHAR, 255, 0, 0), raw).to_pylist() == TEXTS


@parametrize_in_one_test("broken", BROKEN, ids=bytes.hex)
@parametrize_in_one_test("lead", [0, 1, 7, 8, 15, 16, 17, 40])
def test_malformed_utf8_is_a_data_error_that_says_where(broken: bytes, lead: int) -> None:
    for tail in (b"", b"tail that is ascii again"):
        raw = b"a" * lead + broken + tail
        with pytest.raises(UnicodeDecodeError) as theirs:  # Python's position of the invalid bytes
            raw.decode()
        match = rf"Byte {theirs.value.start} of the text \({broken[0]:02x}\) is not UTF-8"
        refuses(PlanOp(Kind.LVARCHAR, 255, 0, 0), lvarchar(raw), DataError, match)


@pytest.mark.parametrize("cut", [b"\xc3", b"\xe2", b"\xe2\x82", b"\xf0\x9f\x98"], ids=bytes.hex)
def test_a_character_cut_off_by_the_end_of_the_text_is_refused_at_every_length(cut: bytes) -> None:
    """Text is checked in blocks of 32 bytes: a character at the end of a block must continue in the next one, or the
    text ends."""
    op = PlanOp(Kind.LVARCHAR, 255, 0, 0)
    for lead in range(100):
        refuses(op, lvarchar(b"a" * lead + cut), DataError, f"Byte {lead} of the text")
        refuses(op, lvarchar(("ü" * lead).encode() + cut), DataError, f"Byte {2 * lead} of the text")
        texts = ["a" * lead + char + end for char in "é€日\U0001f600" for end in ("", "z", "é")]
        assert decode_one(op, [lvarchar(text.encode()) for text in texts]).to_pylist() == texts


@given(st.binary(max_size=80))
def test_bytes_are_text_exactly_when_python_reads_them_as_utf8(raw: bytes) -> None:
    op = PlanOp(Kind.LVARCHAR, 255, 0, 0)
    try:
        expected = raw.decode("utf-8")
    except UnicodeDecodeError:
        refuses(op, lvarchar(raw), DataError, "not UTF-8")
    else:
        assert decode_one(op, [lvarchar(raw)]).to_pylist() == [expected]


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 33, 100])
def test_char_loses_trailing_blanks_only_and_only_on_request(width: int) -> None:
    texts = [" " * i + "x" * (n - i) for n in range(width + 1) for i in range(min(n, 3))] + [""]
    raw = [t.encode().ljust(width) for t in texts]
    assert decode_one(PlanOp(Kind.CHAR, width, 0, 1), raw).to_pylist() == [t.rstrip(" ") for t in texts]
    assert decode_one(PlanOp(Kind.CHAR, width, 0, 0), raw).to_pylist() == [t.ljust(width) for t in texts]


def test_char_null_and_empty_and_varchar_null_and_empty_are_four_things() -> None:
    char = decode_one(PlanOp(Kind.CHAR, 4, 0, 1), [b"\x00   ", b"    ", b"\x00\x00\x00\x00", b" \x00  "])
    assert char.to_pylist() == [None, "", None, " \x00"]
    varchar = decode_one(PlanOp(Kind.VARCHAR, 4, 0, 0), [b"\x01\x00", b"\x00", b"\x02\x00\x00", b"\x01 "])
    assert varchar.to_pylist() == [None, "", "\x00\x00", " "]


def codepage(encoding: str) -> bytes:
    table = bytearray()
    for byte in range(256):
        try:
            text = bytes([byte]).decode(encoding).encode("utf-8")
        except UnicodeDecodeError:
            text = b""
        table += bytes([len(text)]) + text.ljust(3, b"\x00")
    return bytes(table)


@pytest.mark.parametrize(
    "encoding", ["latin-1", "iso8859-15", "cp1250", "cp1252", "cp437", "koi8-r", "cp037"]
)
def test_every_byte_of_a_code_page_is_transcoded_or_refused(encoding: str) -> None:
    """cp037 is EBCDIC, for which the ASCII fast path must not be used."""
    op = PlanOp(Kind.VARCHAR, 255, 0, 0)
    page = codepage(encoding)
    for byte in range(1, 256):
        raw = bytes([byte])
        try:
            expected = raw.decode(encoding)
        except UnicodeDecodeError:
            with pytest.raises(DataError, match=rf"Byte 20 of the text \({byte:02x}\) is not defined"):
                decode_one(op, [b"\x1e" + b"A" * 20 + raw + b"A" * 9], codepage=page)
        else:
            column = decode_one(op, [b"\x01" + raw, b"\xff" + raw * 255], codepage=page)
            assert column.to_pylist() == [expected, expected * 255]


def test_a_code_page_column_grows_to_three_bytes_a_character() -> None:
    op = PlanOp(Kind.CHAR, 100, 0, 1)
    raw = [b"\x80" * 100] * 200 + [b"plain".ljust(100)]
    column = decode_one(op, raw, codepage=codepage("cp1252"))
    assert column.to_pylist() == ["€" * 100] * 200 + ["plain"]


# ---- DATETIME


def qualifier(start: int, end: int) -> PlanOp:
    digits = (4 if start == 0 else 2) + end - start
    return plan_op(ColumnType(10, digits << 8 | start << 4 | end))


def packed(op: PlanOp, pairs: list[int], drop: bool) -> bytes:
    """Encode `pairs`, all digits of the qualifier. With `drop`, leading zero pairs are left out (TYPES section 6)."""
    start = op.arg >> 4 & 15
    exponent = 0 if start == 12 else (10 - start) // 2 + 1 + (start == 0)
    kept = list(pairs)
    if drop:
        if not any(kept):
            return b"\x80" + bytes(op.width - 1)
        while kept[0] == 0:
            kept.pop(0)
            exponent -= 1
    return bytes([0xC0 + exponent, *kept]).ljust(op.width, b"\x00")


@given(st.datetimes(), st.sampled_from([6, 8, 10, 11, 12, 13, 14, 15]), st.booleans())
def test_any_timestamp_of_any_qualifier_decodes(value: dt.datetime, end: int, drop: bool) -> None:
    op = qualifier(0, end)
    fields = [value.year // 100, value.year % 100, value.month, value.day, value.hour]
    minute, second = (value.minute if end >= 8 else 0), (value.second if end >= 10 else 0)
    digits = max(end - 10, 0)
    micros = value.microsecond // 10 ** (6 - digits) * 10 ** (6 - digits)
    if end >= 8:
        fields.append(minute)
    if end >= 10:
        fields.append(second)
    fields += [micros // 10000, micros // 100 % 100, micros % 100][: (digits + 1) // 2]
    column = decode_one(op, [packed(op, fields, drop)])
    assert column.type.unit == ("s" if digits == 0 else "ms" if digits <= 3 else "us")
    assert column[0].as_py() == value.replace(minute=minute, second=second, microsecond=micros)


@given(st.dates(), st.booleans())
def test_any_day_decodes(value: dt.date, drop: bool) -> None:
    op = qualifier(0, 4)
    raw = packed(op, [value.year // 100, value.year % 100, value.month, value.day], drop)
    assert decode_one(op, [raw]).to_pylist() == [value]


@given(st.times(), st.sampled_from([8, 10, 11, 12, 13, 14, 15]), st.booleans())
def test_any_time_of_day_decodes(value: dt.time, end: int, drop: bool) -> None:
    op = qualifier(6, end)
    digits = max(end - 10, 0)
    micros = value.microsecond // 10 ** (6 - digits) * 10 ** (6 - digits)
    second = value.second if end >= 10 else 0
    fields = [value.hour, value.minute, *([second] if end >= 10 else [])]
    fields += [micros // 10000, micros // 100 % 100, micros % 100][: (digits + 1) // 2]
    assert decode_one(op, [packed(op, fields, drop)])[0].as_py() == value.replace(
        second=second, microsecond=micros
    )


FIELDS = [("year", 0), ("month", 2), ("day", 4), ("hour", 6), ("minute", 8), ("second", 10)]


@pytest.mark.parametrize(
    ("start", "end", "pairs", "complaint"),
    [
        (0, 10, [0, 0, 1, 1, 0, 0, 0], "year is 0, but must be 1 to 9999"),
        (0, 10, [20, 26, 0, 1, 0, 0, 0], "month is 0, but must be 1 to 12"),
        (0, 10, [20, 26, 13, 1, 0, 0, 0], "month is 13, but must be 1 to 12"),
        (0, 10, [20, 26, 1, 0, 0, 0, 0], "day is 0, but must be 1 to 31"),
        (0, 10, [20, 26, 4, 31, 0, 0, 0], "day is 31, but must be 1 to 30"),
        (0, 10, [20, 26, 2, 29, 0, 0, 0], "day is 29, but must be 1 to 28"),
        (0, 10, [19, 0, 2, 29, 0, 0, 0], "day is 29, but must be 1 to 28"),
        (0, 10, [20, 24, 2, 30, 0, 0, 0], "day is 30, but must be 1 to 29"),
        (0, 10, [20, 26, 1, 1, 24, 0, 0], "hour is 24, but must be 0 to 23"),
        (0, 10, [20, 26, 1, 1, 0, 60, 0], "minute is 60, but must be 0 to 59"),
        (0, 10, [20, 26, 1, 1, 0, 0, 60], "second is 60, but must be 0 to 59"),
        (6, 10, [24, 0, 0], "hour is 24"),
        (2, 4, [2, 30], "day is 30, but must be 1 to 29"),
        (4, 4, [32], "day is 32, but must be 1 to 31"),
        (0, 13, [20, 26, 1, 1, 0, 0, 0, 12, 34], r"more digits than FRACTION\(3\)"),
        (12, 11, [55], r"more digits than FRACTION\(1\)"),
    ],
)
def test_a_field_outside_its_range_is_a_data_error_naming_it(
    start: int, end: int, pairs: list[int], complaint: str
) -> None:
    op = qualifier(start, end)
    refuses(op, packed(op, pairs, False), DataError, complaint)


def test_datetimes_that_are_packed_wrongly_are_refused() -> None:
    op = qualifier(0, 10)
    refuses(op, bytes.fromhex("c8001407060c0c0c"), ProtocolError, "exponent 8 is greater than 7")
    refuses(op, bytes.fromhex("3814070101010101"), ProtocolError, "negative")
    refuses(op, bytes.fromhex("c714640101010101"), ProtocolError, "greater than 99")
    refuses(op, bytes.fromhex("c601010101010101"), DataError, "after the last field of the qualifier")


def test_a_day_without_its_month_or_year_may_be_any_that_exists() -> None:
    assert decode_one(qualifier(2, 4), [packed(qualifier(2, 4), [2, 29], False)]).to_pylist() == ["02-29"]
    assert decode_one(qualifier(4, 4), [packed(qualifier(4, 4), [31], False)]).to_pylist() == ["31"]


@parametrize_in_one_test("start", [0, 2, 4, 6, 8, 10, 12])
@parametrize_in_one_test("end", [0, 2, 4, 6, 8, 10, 11, 12, 13, 14, 15])
@parametrize_in_one_test("drop", [False, True])
def test_the_literal_form_of_every_qualifier(start: int, end: int, drop: bool) -> None:
    if end < start and not (start == 12 and end == 11):
        return
    digits = (4 if start == 0 else 2) + end - start
    pairs: list[int] = []
    text = ""
    values = {0: 2026, 2: 3, 4: 7, 6: 0, 8: 9, 10: 0}
    before = {2: "-", 4: "-", 6: " ", 8: ":", 10: ":"}
    for field in range(start, min(end, 10) + 1, 2):
        text += before[field] if field != start else ""
        text += f"{values[field]:04d}" if field == 0 else f"{values[field]:02d}"
        pairs += [20, 26] if field == 0 else [values[field]]
    if end > 10:
        fraction = "01230"[: end - 10]
        text += "." + fraction
        pairs += [int(fraction.ljust(6, "0")[i : i + 2]) for i in range(0, (end - 10), 2)]
    op = PlanOp(Kind.DATETIME_TEXT, 1 + len(pairs), digits << 8 | start << 4 | end, 0)
    assert decode_one(op, [packed(op, pairs, drop), bytes(op.width)]).to_pylist() == [text, None]
