"""Values at the limits of their types: the encoded bytes, refused values, and the texts of the errors."""

from __future__ import annotations

import math
import pickle
import struct
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import parametrize_in_one_test
from tests.stress import examples
from tests.unit.native.encoder_support import codepage_of, payload

from informix_arrow._encode import Encoder
from informix_arrow.wire.decimals import pack_decimal
from informix_arrow.wire.describe import Column
from informix_arrow.wire.encode_fault import EncodeStatus
from informix_arrow.wire.errors import DataError
from informix_arrow.wire.plan_ops import Kind, PlanOp, TypeOptions, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

FLOAT_DECIMALS = TypeOptions(decimals="float64")
TEXT_DECIMALS = TypeOptions(floating_decimals="string")


def refused(op: PlanOp, column: pa.Array, codepage: bytes | None = None) -> str:
    with pytest.raises(DataError) as info:
        payload(op, column, codepage)
    assert (info.value.row, info.value.column) == (0, "c")
    assert str(info.value).startswith("Column 'c', row 0: ")
    return str(info.value)


def datetime_op(start: str, end: str) -> PlanOp:
    return plan_op(ColumnType(10, Qualifier.datetime(start, end).encoded))


@pytest.mark.parametrize(
    ("ct", "arrow", "lowest"),
    [
        (ColumnType.smallint(), pa.int16(), -(2**15)),
        (ColumnType.integer(), pa.int32(), -(2**31)),
        (ColumnType.serial(), pa.int32(), -(2**31)),
        (ColumnType.bigint(), pa.int64(), -(2**63)),
        (ColumnType.int8(), pa.int64(), -(2**63)),
    ],
)
def test_the_lowest_integer_is_refused_because_it_would_read_as_null(
    ct: ColumnType, arrow: pa.DataType, lowest: int
) -> None:
    assert f"{lowest} cannot be stored" in refused(plan_op(ct), pa.array([lowest], arrow))
    assert payload(plan_op(ct), pa.array([lowest + 1], arrow))
    assert payload(plan_op(ct), pa.array([-1 - lowest], arrow))


@pytest.mark.parametrize(
    ("ct", "column", "status", "subject"),
    [
        (ColumnType.smallint(), pa.array([-(2**15)], pa.int32()), EncodeStatus.NULL_INT16, ""),
        (ColumnType.integer(), pa.array([-(2**31)], pa.int64()), EncodeStatus.NULL_INT32, ""),
        (ColumnType.int8(), pa.array([-(2**63)], pa.int64()), EncodeStatus.NULL_INT64, ""),
        (ColumnType.smallint(), pa.array([2**15], pa.int32()), EncodeStatus.RANGE, ""),
        (ColumnType.decimal(5, 2), pa.array([Decimal("1.005")]), EncodeStatus.SCALE, "The number"),
        (ColumnType.decimal(5, 2), pa.array([Decimal("1000.5")]), EncodeStatus.PRECISION, "The number"),
        (ColumnType.char(3), pa.array(["éé"]), EncodeStatus.TOO_LONG, ""),
        (ColumnType.date(), pa.array([2932897], pa.date32()), EncodeStatus.DATE_RANGE, "The date"),
    ],
)
def test_an_error_has_its_status_and_a_text_that_can_begin_with_the_value(
    ct: ColumnType, column: pa.Array, status: EncodeStatus, subject: str
) -> None:
    with pytest.raises(DataError) as info:
        payload(plan_op(ct), column)
    fault = info.value.fault
    assert fault is not None
    assert (fault.status, fault.subject) == (status, subject)
    assert str(info.value) == f"Column 'c', row 0: {f'{subject} {fault.predicate}'.strip()}"
    assert fault.describe("7 x").startswith("7 x ") == bool(subject)
    assert fault.describe("7 x").endswith(" The value is 7 x.") == (status == EncodeStatus.TOO_LONG)
    again = pickle.loads(pickle.dumps(info.value))  # like between processes of a parallel load
    assert (again.fault, again.row, again.column, str(again)) == (fault, 0, "c", str(info.value))


def test_the_nan_that_is_nulls_pattern_is_sent_as_the_quiet_nan() -> None:
    ones = pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer(b"\xff" * 8)])
    assert payload(plan_op(ColumnType.float_()), ones).hex() == "7ff8000000000000"
    ones = pa.Array.from_buffers(pa.float32(), 1, [None, pa.py_buffer(b"\xff" * 4)])
    assert payload(plan_op(ColumnType.smallfloat()), ones).hex() == "7fc00000"


def test_other_nans_and_infinities_keep_their_bytes() -> None:
    other = pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer(bytes.fromhex("010000000000f4ff"))])
    assert payload(plan_op(ColumnType.float_()), other).hex() == "fff4000000000001"
    assert payload(plan_op(ColumnType.float_()), pa.array([-math.inf])).hex() == "fff0000000000000"


@pytest.mark.parametrize("day", [-719162, 2932896])
def test_dates_reach_from_year_1_to_year_9999(day: int) -> None:
    op = plan_op(ColumnType.date())
    assert payload(op, pa.array([day], pa.int32()).cast(pa.date32())) == struct.pack(">i", day + 25568)
    beyond = pa.array([day + (1 if day > 0 else -1)], pa.int32()).cast(pa.date32())
    assert "0001-01-01 to 9999-12-31" in refused(op, beyond)
    assert "0001-01-01 to 9999-12-31" in refused(datetime_op("YEAR", "DAY"), beyond)


# ---- text --------------------------------------------------------------------------------------------------


def test_char_is_padded_and_never_cut() -> None:
    op = plan_op(ColumnType.char(4))
    assert payload(op, pa.array(["ab"])) == b"ab  "
    assert payload(op, pa.array([""])) == b"    "
    assert payload(op, pa.array(["abcd"])) == b"abcd"
    assert "text of 5 bytes is too long for CHAR(4)" in refused(op, pa.array(["abc  "]))
    assert "text of 6 bytes is too long for CHAR(4)" in refused(op, pa.array(["日本"]))


@pytest.mark.parametrize("width", [1, 15, 16, 17, 255, 256, 257, 272, 1000, 32767])
def test_char_of_any_width_is_padded_exactly(width: int) -> None:
    op = plan_op(ColumnType.char(width))
    for text in ("", "x", "y" * (width // 2), "z" * width):
        assert payload(op, pa.array([text])) == text.encode().ljust(width)
    assert payload(op, pa.array([None], pa.utf8())) == b"\0" + b" " * (width - 1)


def test_a_text_that_would_read_as_null_is_refused() -> None:
    assert "starts with a NUL byte" in refused(plan_op(ColumnType.char(4)), pa.array(["\0ab"]))
    assert "of one NUL byte" in refused(plan_op(ColumnType.varchar(4)), pa.array(["\0"]))
    assert payload(plan_op(ColumnType.varchar(4)), pa.array(["\0a"])) == b"\x02\0a"
    assert payload(plan_op(ColumnType.lvarchar(4)), pa.array(["\0"])) == b"\0\0\0\0\x01\0"
    assert payload(plan_op(ColumnType.char(4)), pa.array(["a\0"])) == b"a\0  "


@pytest.mark.parametrize("large", [pa.utf8(), pa.large_utf8()])
def test_empty_text_and_null_stay_apart(large: pa.DataType) -> None:
    for ct, empty, null in [
        (ColumnType.char(2), b"  ", b"\0 "),
        (ColumnType.varchar(2), b"\0", b"\1\0"),
        (ColumnType.lvarchar(2), b"\0\0\0\0\0", b"\1\0\0\0\0"),
    ]:
        assert payload(plan_op(ct), pa.array([""], large)) == empty
        assert payload(plan_op(ct), pa.array([None], large)) == null


@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 31, 32, 33, 254, 255])
def test_varchar_counts_its_bytes(length: int) -> None:
    op = plan_op(ColumnType.varchar(255))
    assert payload(op, pa.array(["v" * length])) == bytes([length]) + b"v" * length
    if length:
        short = plan_op(ColumnType.varchar(length))
        assert f"too long for VARCHAR({length})" in refused(short, pa.array(["v" * (length + 1)]))


def test_lvarchar_is_bounded_by_its_maximum() -> None:
    op = plan_op(ColumnType.lvarchar(300))
    assert payload(op, pa.array(["w" * 300])) == struct.pack(">bi", 0, 300) + b"w" * 300
    assert "text of 301 bytes is too long for LVARCHAR(300)" in refused(op, pa.array(["w" * 301]))


LATIN1 = codepage_of("latin-1")


def test_text_goes_out_in_the_code_page() -> None:
    text = "naïve – €"
    assert payload(plan_op(ColumnType.varchar(20)), pa.array([text]), codepage_of("cp1252")) == (
        b"\x09" + text.encode("cp1252")
    )
    long = "ascii only, then ÿ and again ascii " * 9
    expected = long.encode("latin-1")
    got = payload(plan_op(ColumnType.lvarchar(400)), pa.array([long]), LATIN1)
    assert got == struct.pack(">bi", 0, len(expected)) + expected
    assert payload(plan_op(ColumnType.varchar(3)), pa.array(["a\0é"]), LATIN1) == b"\x03a\0\xe9"


def test_the_width_counts_bytes_of_the_code_page_and_not_of_utf8() -> None:
    four = b"\xe9" * 4
    assert payload(plan_op(ColumnType.char(4)), pa.array(["éééé"]), LATIN1) == four
    assert "text of 5 bytes" in refused(plan_op(ColumnType.char(4)), pa.array(["ééééé"]), LATIN1)
    assert payload(plan_op(ColumnType.varchar(4)), pa.array(["éééé"]), LATIN1) == b"\x04" + four
    assert payload(plan_op(ColumnType.lvarchar(4)), pa.array(["éééé"]), LATIN1) == b"\0\0\0\0\x04" + four
    assert "text of 9 bytes" in refused(plan_op(ColumnType.lvarchar(4)), pa.array(["é" * 9]), LATIN1)
    assert "text of 20 bytes" in refused(plan_op(ColumnType.varchar(4)), pa.array(["v" * 20]), LATIN1)


@pytest.mark.parametrize(("text", "name"), [("日", "U+65E5"), ("ab€", "U+20AC"), ("text 🙂", "U+1F642")])
def test_a_character_outside_the_code_page_is_named(text: str, name: str) -> None:
    for ct in (ColumnType.char(40), ColumnType.varchar(40), ColumnType.lvarchar(40)):
        assert refused(plan_op(ct), pa.array([text]), LATIN1).endswith(
            f"The character {name} does not exist in the database's code set."
        )


@pytest.mark.parametrize(
    "raw", ["ff", "c3", "c328", "e28228", "eda080", "f4908080", "c080", "e08080", "f0808080", "80"]
)
def test_broken_utf8_is_refused_before_it_is_recoded(raw: str) -> None:
    column = pa.array([bytes.fromhex(raw)], pa.binary()).view(pa.utf8())
    assert "not valid UTF-8" in refused(plan_op(ColumnType.varchar(40)), column, LATIN1)


# ---- decimals ----------------------------------------------------------------------------------------------


def test_a_decimal128_beyond_the_columns_precision_is_refused() -> None:
    op = plan_op(ColumnType.decimal(5, 2))
    wide = pa.decimal128(38, 2)
    assert payload(op, pa.array([Decimal("999.99")], wide)).hex() == "c2096363"
    for value in ("1000.00", "-1000.00", "9" * 36 + ".99"):
        assert "more digits than DECIMAL(5,2)" in refused(op, pa.array([Decimal(value)], wide))


def test_a_floating_decimal_read_as_decimal128_is_checked_by_its_width() -> None:
    op = plan_op(ColumnType.decimal(4), TypeOptions(floating_decimals=pa.decimal128(38, 10)))
    arrow = pa.decimal128(38, 10)
    assert payload(op, pa.array([Decimal("1234")], arrow)).hex() == "c20c2200"
    assert payload(op, pa.array([Decimal("-0.0001")], arrow)).hex() == "40630000"
    assert "more digits" in refused(op, pa.array([Decimal("1234.56789")], arrow))


@pytest.mark.parametrize("scale", [0, 1, 18, 19, 37, 38])
def test_the_widest_decimal128_is_encoded_without_overflow(scale: int) -> None:
    op = PlanOp(Kind.DECIMAL128, 18, 38 << 8 | scale, 0)
    arrow = pa.decimal128(38, scale)
    value = Decimal((0, (7, *(0,) * 37), -scale))
    assert payload(op, pa.array([value], arrow))
    assert "more digits" in refused(op, pa.array([Decimal((0, (9,) * 38, -scale))], arrow))


@pytest.mark.parametrize(
    ("value", "hex_"),
    [
        (0.0, "80000000000000000000"),
        (-0.0, "80000000000000000000"),
        (0.1, "c00a0000000000000000"),
        (-1.5, "3e623200000000000000"),
        (1e15, "c80a0000000000000000"),
        (1e100, "f3010000000000000000"),
        (9.99e125, "ff635a00000000000000"),
        (1e-130, "80010000000000000000"),
        (123456789.25, "c501172d435919000000"),
        (0.30000000000000004, "c01e0000000000000000"),  # 17 digits, rounded to the 16 of the column
        (1e23, "cc0a0000000000000000"),
    ],
)
def test_a_double_goes_into_a_decimal_by_its_shortest_digits(value: float, hex_: str) -> None:
    assert payload(plan_op(ColumnType.decimal(16)), pa.array([value])).hex() == hex_


@pytest.mark.parametrize(
    ("value", "hex_"),
    [
        (2.68, "c102440000"),
        (-0.01, "3f63000000"),
        (0.1, "c00a000000"),
        (0.07, "c007000000"),
        (1e-2, "c001000000"),
        (100.0, "c201000000"),
        (-0.0, "8000000000"),
        (999999.99, "c363636363"),
        (-999999.99, "3c00000001"),
    ],
)
def test_a_double_fits_a_fixed_scale_when_its_shortest_text_does(value: float, hex_: str) -> None:
    """The binary value of a double need not fit: 0.07 is 0.070000000000000006661..."""
    for op in (plan_op(ColumnType.decimal(8, 2), FLOAT_DECIMALS), plan_op(ColumnType.decimal(8, 2))):
        assert payload(op, pa.array([value])).hex() == hex_


@pytest.mark.parametrize("value", [2.675, -0.005, 0.001, 0.1 + 0.2, 999999.995, 1e-300, 5e-324])
def test_a_double_is_never_rounded_to_a_fixed_scale(value: float) -> None:
    for op in (plan_op(ColumnType.decimal(8, 2), FLOAT_DECIMALS), plan_op(ColumnType.decimal(8, 2))):
        text = refused(op, pa.array([value]))
        assert text.endswith(
            "more decimal places than DECIMAL(8,2) can store. Round it first, or use inexact='round' or "
            "inexact='truncate'."
        )


def test_a_double_with_too_many_digits_before_the_point_is_refused() -> None:
    op = plan_op(ColumnType.decimal(8, 2))
    for value in (1e6, -1e6, 1e15, 1e300):
        assert "more digits than DECIMAL(8,2)" in refused(op, pa.array([value]))


@pytest.mark.parametrize(
    ("value", "precision", "hex_"),
    [
        (99.6, 2, "c20100"),
        (0.15, 1, "c00a"),  # the double lies below 0.15: only its shortest text is half-way
        (0.25, 1, "c014"),  # the double is exactly half-way: rounded to the even digit
        (0.35, 1, "c01e"),  # below half-way
        (2.5, 1, "c102"),
        (3.5, 1, "c104"),
        (-123456.0, 3, "3c5746"),
    ],
)
def test_a_double_in_a_floating_decimal_is_the_nearest_of_its_digits(
    value: float, precision: int, hex_: str
) -> None:
    got = payload(plan_op(ColumnType.decimal(precision)), pa.array([value])).hex()
    assert got == hex_.ljust(len(got), "0")


def significant(number: Decimal) -> int:
    """Return the number of digits without zeros at either end."""
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))


def before_sentinel(ct: ColumnType, value: object) -> bytes:
    """Return the Python reference's bytes of one value, taken from a tuple with an INTEGER after it."""
    columns = [Column("c", ct), Column("after", ColumnType.integer())]
    return encode_tuple([value, 7], columns, "utf-8")[:-4]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.one_of(
        st.floats(-1e120, 1e120),
        st.integers(-(10**17), 10**17).map(lambda n: n / 1000),
        st.integers(-(2**60), 2**60).map(float),
        st.integers(-4000, 4000).map(lambda n: n * 0.125),
    ).filter(lambda v: v == 0 or abs(v) >= 1e-100),
    st.integers(1, 32),
)
def test_a_float_becomes_what_pythons_repr_and_rounding_make_of_it(value: float, precision: int) -> None:
    floating, fixed = ColumnType.decimal(precision), ColumnType.decimal(precision, precision // 2)
    column, shortest = pa.array([value]), Decimal(repr(value))
    nearest = shortest if significant(shortest) <= precision else Decimal(f"{value:.{precision - 1}e}")
    expected = pack_decimal(nearest, plan_op(floating).width)
    assert payload(plan_op(floating), column) == expected
    assert before_sentinel(floating, value) == expected

    places = -shortest.normalize(Context(prec=40)).as_tuple().exponent
    whole = len(str(int(abs(shortest))).lstrip("0"))
    if value == 0 or (places <= precision // 2 and whole <= precision - precision // 2):
        expected = pack_decimal(shortest, plan_op(fixed).width)
        assert payload(plan_op(fixed), column) == expected
        assert before_sentinel(fixed, value) == expected
    else:
        refused(plan_op(fixed), column)
        with pytest.raises(DataError):
            before_sentinel(fixed, value)


@settings(max_examples=examples(50), deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(1, 32))
def test_a_float32_goes_by_its_own_shortest_digits(value: float, precision: int) -> None:
    """numpy prints a float32 with the digits that distinguish it from its neighbours: 0.1, not 0.10000000149011612."""
    shortest = Decimal(np.format_float_scientific(np.float32(value), unique=True, trim="-"))
    op = plan_op(ColumnType.decimal(precision))
    number = shortest if significant(shortest) <= precision else Decimal(f"{value:.{precision - 1}e}")
    assert payload(op, pa.array([value], pa.float32())) == pack_decimal(number, op.width)


def test_a_float32_of_a_tenth_fits_two_places() -> None:
    op = plan_op(ColumnType.decimal(8, 2))
    assert payload(op, pa.array([0.1], pa.float32())).hex() == "c00a000000"
    assert "more decimal places" in refused(op, pa.array([0.125], pa.float32()))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_have_no_decimal_form(value: float) -> None:
    assert "NaN and infinity" in refused(plan_op(ColumnType.decimal(16)), pa.array([value]))


@pytest.mark.parametrize("value", [1e126, -1e300, 9.9e-131, 5e-324])
def test_a_double_outside_the_range_of_decimals_is_refused(value: float) -> None:
    assert "1E-130 to 9.99E125" in refused(plan_op(ColumnType.decimal(16)), pa.array([value]))


def test_the_shortest_digits_are_those_of_python() -> None:
    """repr() is the reference, and the text column stores its digits. Powers of two are the hard case, as their
    neighbours are at different distances."""
    op = plan_op(ColumnType.decimal(17), TypeOptions(floating_decimals="float64"))
    text = plan_op(ColumnType.decimal(17), TEXT_DECIMALS)
    values = [math.ldexp(m, e) for e in range(-425, 415) for m in (1.0, -1.1, 4 / 3)]
    batch = pa.record_batch([pa.array(values), pa.array([repr(v) for v in values])], ["f", "t"])
    encoder = Encoder([op.as_tuple(), text.as_tuple()], ["f", "t"])
    encoder.load(*batch.__arrow_c_array__())
    for value in values:
        message, _ = encoder.encode(0)
        assert message[8 : 8 + op.width].hex() == message[8 + op.width : 8 + 2 * op.width].hex(), value


@pytest.mark.parametrize(
    ("text", "hex_"),
    [
        ("0", "8000000000"),
        ("-0.000", "8000000000"),
        ("+12.5", "c10c320000"),
        ("12.50000000000000000000000000000000000000000000000000", "c10c320000"),
        ("00000000000000000000000000000000000000000000000000012", "c10c000000"),
        (".5", "c032000000"),
        ("5.", "c105000000"),
        ("1e3", "c20a000000"),
        ("1.5E-2", "c001320000"),
        ("-1E+125", "005a000000"),
        ("1e-130", "8001000000"),
        ("0e999999999999", "8000000000"),
        ("1234567", "c401172d43"),
        ("1.234567", "c101172d43"),
    ],
)
def test_decimal_text_is_read_exactly(text: str, hex_: str) -> None:
    op = plan_op(ColumnType.decimal(7), TEXT_DECIMALS)
    assert payload(op, pa.array([text])).hex() == hex_


@pytest.mark.parametrize(
    "text", ["", "-", ".", "abc", "1 ", " 1", "1,5", "--1", "1.2.3", "1e", "1e+", "0x1", "NaN", "1\0"]
)
def test_text_that_is_no_number_is_refused(text: str) -> None:
    assert "not a decimal number" in refused(plan_op(ColumnType.decimal(8), TEXT_DECIMALS), pa.array([text]))


def test_decimal_text_is_never_rounded() -> None:
    op = plan_op(ColumnType.decimal(4), TEXT_DECIMALS)
    assert "more digits than DECIMAL(4)" in refused(op, pa.array(["1.2345"]))
    assert "more digits than DECIMAL(4)" in refused(op, pa.array(["1" * 60]))
    assert "1E-130 to 9.99E125" in refused(op, pa.array(["1e126"]))
    assert "1E-130 to 9.99E125" in refused(op, pa.array(["1e-131"]))
    assert "1E-130 to 9.99E125" in refused(op, pa.array(["1e99999999999999999999"]))
    fixed = PlanOp(Kind.DECIMAL_STRING, 5, 8 << 8 | 2, 0)
    assert payload(fixed, pa.array(["-1234.56"])).hex() == "3d57412c00"
    assert "more decimal places than DECIMAL(8,2)" in refused(fixed, pa.array(["1.234"]))
    assert "more digits than DECIMAL(8,2)" in refused(fixed, pa.array(["1234567"]))


# ---- DATETIME ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_timestamp_of_any_unit_is_taken_when_it_is_exact(unit: str) -> None:
    column = pa.array([1_756_643_415], pa.timestamp("s")).cast(pa.timestamp(unit))  # 2025-08-31 12:30:15
    assert payload(datetime_op("YEAR", "SECOND"), column).hex() == "c71419081f0c1e0f"
    assert payload(datetime_op("YEAR", "FRACTION(5)"), column).hex() == "c71419081f0c1e0f000000"


@pytest.mark.parametrize(
    ("end", "exact", "finer"),
    [
        ("HOUR", 3600_000_000, 60_000_000),
        ("MINUTE", 60_000_000, 1_000_000),
        ("SECOND", 1_000_000, 1),
        ("FRACTION(1)", 100_000, 10_000),
        ("FRACTION(3)", 1000, 100),
        ("FRACTION(5)", 10, 1),
    ],
)
def test_a_timestamp_finer_than_the_qualifier_is_refused(end: str, exact: int, finer: int) -> None:
    op = datetime_op("YEAR", end)
    for sign in (1, -1):
        assert payload(op, pa.array([sign * exact], pa.timestamp("us")))
        too_fine = pa.array([sign * finer], pa.timestamp("us"))
        assert f"more precision than DATETIME YEAR TO {end} can store" in refused(op, too_fine)


def test_timestamps_before_1970_count_backwards() -> None:
    op = datetime_op("YEAR", "FRACTION(3)")
    last_of_1969 = "c713450c1f173b3b635a"  # 1969-12-31 23:59:59.999
    assert payload(op, pa.array([-1], pa.timestamp("ms"))).hex() == last_of_1969
    assert payload(op, pa.array([-62135596800000], pa.timestamp("ms"))).hex() == "c6010101000000000000"
    assert payload(op, pa.array([253402300799999], pa.timestamp("ms"))).hex() == "c763630c1f173b3b635a"
    for beyond in (-62135596800001, 253402300800000, -(2**63), 2**63 - 1):
        assert "0001-01-01 to 9999-12-31" in refused(op, pa.array([beyond], pa.timestamp("ms")))


def test_times_reach_to_the_last_tick_of_the_day() -> None:
    seconds, micros = datetime_op("HOUR", "SECOND"), datetime_op("HOUR", "FRACTION(5)")
    assert payload(seconds, pa.array([86399], pa.time32("s"))).hex() == "c3173b3b"
    assert payload(seconds, pa.array([86399_000_000], pa.time64("us"))).hex() == "c3173b3b"
    assert payload(micros, pa.array([86399_999_990], pa.time64("us"))).hex() == "c3173b3b63635a"
    assert payload(micros, pa.array([1], pa.time32("ms"))).hex() == "bf0a0000000000"
    assert "00:00:00 to 23:59:59" in refused(seconds, pa.array([86400], pa.int32()).view(pa.time32("s")))
    assert "00:00:00 to 23:59:59" in refused(seconds, pa.array([-1], pa.int32()).view(pa.time32("s")))
    assert "more precision than" in refused(micros, pa.array([1], pa.time64("us")))
    assert "more precision than" in refused(datetime_op("HOUR", "MINUTE"), pa.array([61], pa.time32("s")))


@pytest.mark.parametrize(
    ("start", "end", "good", "bad"),
    [
        ("YEAR", "YEAR", "0001", ["0000", "1", "20260", "2026-", " 2026"]),
        ("YEAR", "MONTH", "2026-12", ["2026-13", "2026-00", "2026/12", "2026-1", "2026-12-01", "2026"]),
        ("MONTH", "DAY", "02-29", ["02-30", "04-31", "00-10", "2-29", "02-29 "]),
        ("MONTH", "SECOND", "01-02 03:04:05", ["01-02T03:04:05", "01-02 24:04:05", "01-02 03:60:05"]),
        ("DAY", "HOUR", "31 23", ["32 00", "00 01", "31-23"]),
        ("HOUR", "HOUR", "00", ["24", "0", "-1"]),
        ("MINUTE", "SECOND", "59:59", ["59:60", "60:00", "59.59"]),
        ("SECOND", "FRACTION(2)", "07.25", ["07.2", "07.255", "07", "07,25", "61.00"]),
        ("FRACTION", "FRACTION(3)", ".123", ["123", "0.123", ".12", ".1234", ".12a"]),
    ],
)
def test_datetime_text_is_the_literal_of_its_qualifier_and_nothing_else(
    start: str, end: str, good: str, bad: list[str]
) -> None:
    op = datetime_op(start, end)
    assert payload(op, pa.array([good]))
    for text in [*bad, ""]:
        assert f"not a literal of DATETIME {start} TO {end}" in refused(op, pa.array([text]))


def test_every_qualifier_has_one_width_for_every_value() -> None:
    """NULL, zero and the text of the largest value, for all qualifiers."""
    names = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"]
    ends = [*names, *(f"FRACTION({n})" for n in range(1, 6))]
    fullest = {"YEAR": "9999", "MONTH": "-12", "DAY": "-31", "HOUR": " 23", "MINUTE": ":59", "SECOND": ":59"}
    checked = 0
    for first, start in enumerate([*names, "FRACTION"]):
        for end in ends[max(first, 0) :]:
            qualifier = Qualifier.datetime(start, end)
            op = PlanOp(Kind.DATETIME_TEXT, qualifier.width, qualifier.encoded, 0)
            text = "".join(fullest[n] for n in names[first : ends.index(end) + 1])
            fraction = "." + "9" * qualifier.fraction_digits
            text = text.lstrip("-: ") + (fraction if len(fraction) > 1 else "")
            got = payload(op, pa.array([text]))
            assert len(got) == qualifier.width, (start, end)
            assert got[0] == 0xC0 + qualifier.full_exponent
            assert payload(op, pa.array([None], pa.utf8())) == bytes(qualifier.width)
            checked += 1
    assert checked == 21 + 35


OPS: list[tuple[tuple[Any, ...], str]] = [
    ((0, 4, 0, 0), "unknown kind"),
    ((26, 4, 0, 0), "unknown kind"),
    ((-1, 4, 0, 0), "unknown kind"),
    ((20, 5, 0x0602, 0), "width is not that of the INTERVAL"),
    ((20, 2, 0, 0), "not an INTERVAL qualifier"),
    ((20, 5, 0x084A, 0), "months need a qualifier of YEAR and MONTH"),
    ((21, 4, 0x0602, 0), "a duration needs a qualifier of DAY"),
    ((22, 6, 0x084A, 0), "width is not that of the INTERVAL"),
    ((22, 5, 0x0804, 0), "not an INTERVAL qualifier"),
    ((22, 5, 0x144A, 0), "not an INTERVAL qualifier"),
    ((22, 3, 0x02CD, 0), "not an INTERVAL qualifier"),
    ((23, 39, 0, 0), "descriptor of 40..1024 bytes"),
    ((23, 56, 13, 0), "need 11, 12 or 0"),
    ((24, -1, 0, 0), "maximum that is not negative"),
    ((25, 5, 8 << 8 | 2, 0), "DECIMAL of scale 0"),
    ((25, 10, 16 << 8 | 255, 0), "DECIMAL of scale 0"),
    ((9, 0, 0, 0), "CHAR needs a width"),
    ((9, 32768, 0, 0), "CHAR needs a width"),
    ((10, 256, 0, 0), "VARCHAR needs a maximum"),
    ((11, -1, 0, 0), "LVARCHAR needs a maximum"),
    ((12, 5, 39 << 8, 0), "precision 1..38"),
    ((12, 5, 5 << 8 | 255, 0), "scale 0..precision"),
    ((12, 19, 5 << 8, 0), "width of 2..18"),
    ((13, 5, 33 << 8, 0), "precision 1..32"),
    ((14, 6, 8 << 8 | 2, 0), "width is not that"),
    ((15, 4, 0x066A, 0), "starts with YEAR"),
    ((16, 9, 0x0E0A, 0), "width is not that"),
    ((17, 8, 0x0E0A, 0), "starts with HOUR"),
    ((19, 4, 0x0B0A, 0), "not a DATETIME qualifier"),
    ((19, 4, 0x02AC, 0), "not a DATETIME qualifier"),
]


@parametrize_in_one_test(("op", "why"), OPS)
def test_an_impossible_op_is_refused_when_the_encoder_is_made(op: tuple[Any, ...], why: str) -> None:
    with pytest.raises(ValueError, match=f"Column 'odd': .*{why}"):
        Encoder([op], ["odd"])
