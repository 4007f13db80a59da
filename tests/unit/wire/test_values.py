"""The Python reference codec of tuples (TYPES, JDBC section 7)."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.wire.vectors import column_type, load

from informix_arrow.wire.datetimes import (
    DatetimeValue,
    datetime_fields,
    pack_interval,
    unpack_datetime,
    unpack_interval,
)
from informix_arrow.wire.decimals import pack_decimal, unpack_decimal
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError, ProtocolError
from informix_arrow.wire.plan_ops import DEFAULT_OPTIONS, TypeOptions, arrow_type
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import decode_tuple, encode_tuple

SENTINEL = Column("sentinel", ColumnType.integer())
SENTINEL_VALUE = 0x5EA51DE5
SENTINEL_BYTES = SENTINEL_VALUE.to_bytes(4, "big")
KEEP = TypeOptions(char_padding="keep", floating_decimals="string")
MDN = TypeOptions(intervals="month_day_nano", floating_decimals="string")


def decode_one(
    ct: ColumnType, data: bytes, options: TypeOptions = DEFAULT_OPTIONS, encoding: str = "utf-8"
) -> Any:
    value, sentinel = decode_tuple(data + SENTINEL_BYTES, [Column("c", ct), SENTINEL], encoding, options)
    assert sentinel == SENTINEL_VALUE
    return value


def encode_one(
    ct: ColumnType,
    value: object,
    encoding: str = "utf-8",
    bool_binary: bool = False,
    options: TypeOptions = DEFAULT_OPTIONS,
) -> bytes:
    columns = [Column("c", ct), SENTINEL]
    data = encode_tuple((value, SENTINEL_VALUE), columns, encoding, options, bool_binary=bool_binary)
    assert data.endswith(SENTINEL_BYTES)
    return data[:-4]


def literal(value: object, ct: ColumnType) -> object:
    """Return a decoded value in the notation of the vectors."""
    qualifier = ct.qualifier
    if ct.code == 14 and qualifier is not None and value is not None:
        return unpack_interval(encode_one(ct, value), qualifier).text  # type: ignore[union-attr]
    if qualifier is not None and value is not None:
        return unpack_datetime(encode_one(ct, value), qualifier).text  # type: ignore[union-attr]
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes) and (ct.is_blob or ct.is_clob):
        return {"locator_hex": bytes.fromhex(value.decode()).hex()}
    if isinstance(value, bytes):
        return {"size": int.from_bytes(value[16:20], "big")}
    return str(value) if isinstance(value, dt.date) else value


VECTORS = load("types.json")
# JDBC's value of a vector where it differs from the documented one (entry "jdbc" of the vectors, by its note). In each
# case the framing agrees and only JDBC's presentation differs, so the documented value is expected.
JDBC_DISAGREES = {
    "en_US.8859-1": "the capture's session was latin-1; the same bytes are utf-8 here",
    "epoch second 0": "JDBC prints raw bytes for 1970-01-01 00:00:00.000",
    "calendar default": "JDBC fills a missing year with 1700 and distorts day 31",
    "trailing zeros": "JDBC drops trailing zeros of a fraction",
    "text form": "t/f and hexadecimal locators are the forms without SQ_RETTYPE; JDBC always asks for others",
    "at offsets 8 and 12": "JDBC takes a length from the positions in a descriptor; these are a server's own",
    "see 275": "the same, of a TEXT",
}


def vector_id(vector: dict[str, Any]) -> str:
    return f"{vector['name']} {vector['value']}"[:60]


@parametrize_in_one_test("vector", VECTORS, ids=vector_id)
def test_a_known_encoding_decodes_to_its_value_and_back(vector: dict[str, Any]) -> None:
    ct, data = column_type(vector), bytes.fromhex(vector["tuple_hex"])
    value = decode_one(ct, data, MDN)
    stated = vector["value"]
    if ct.scale is not None and stated is not None:
        assert value == Decimal(stated)
        assert value.as_tuple().exponent == -ct.scale
    else:
        assert literal(value, ct) == stated
    assert encode_one(ct, value) == data


def test_where_jdbc_disagrees_with_a_vector_the_reason_is_known() -> None:
    for vector in VECTORS:
        jdbc = vector.get("jdbc") or {"agrees": True}
        assert jdbc.get("aligned", True), vector
        if not jdbc["agrees"]:
            assert any(reason in jdbc["note"] for reason in JDBC_DISAGREES), vector


def test_the_vectors_are_all_there() -> None:
    assert len(VECTORS) == 279
    assert {v["type"] for v in VECTORS} == {*range(23), 40, 41, 52, 53} - {9}


@parametrize_in_one_test("vector", [v for v in VECTORS if v["type"] == 14], ids=vector_id)
def test_a_known_interval_is_the_native_value_of_its_class(vector: dict[str, Any]) -> None:
    ct, data = column_type(vector), bytes.fromhex(vector["tuple_hex"])
    interval = unpack_interval(data, Qualifier.from_encoded(vector["encoded_length"]))
    if interval is not None and abs(interval.microseconds or 0) >= 2**63:
        with pytest.raises(DataError, match=r'does not fit in duration\[us\].*intervals="month_day_nano"'):
            decode_one(ct, data)
        return
    value = decode_one(ct, data)
    if interval is None:
        assert value is None
    elif interval.months is not None:
        assert value == interval.months
    else:
        assert value == dt.timedelta(microseconds=interval.microseconds or 0)
    assert encode_one(ct, value) == data


@parametrize_in_one_test("vector", [v for v in VECTORS if v["type"] == 14], ids=vector_id)
def test_interval_bytes_give_their_literal_and_back(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["tuple_hex"])
    value = unpack_interval(data, Qualifier.from_encoded(vector["encoded_length"]))
    assert (None if value is None else value.text) == vector["value"]
    if value is not None:
        assert pack_interval(value) == data


JDBC_TUPLES = load("jdbc_tuples.json")
# Forms that no server sends: JDBC reads some value from them, our decoder refuses them.
JDBC_MISREADS = {"INTERVAL DAY(3) TO DAY 123 (c6)"}  # the exponent is above the full one
# Labels of vectors that JDBC reads differently.
JDBC_ODD = {
    "LVARCHAR(500) type43 NULL one nul char": "\0",  # JDBC drops a lone NUL character
    "LVARCHAR via UDTVAR 40 ext=1 NULL one nul char": "\0",
    "BOOLEAN type41 env t": True,  # JDBC reads only 1 as true
    "BOOLEAN type41 env T": True,
    "BOOLEAN type45 env t": True,
    "INTERVAL SECOND(2) TO FRACTION(3) 5.123": "5.123",  # JDBC pads to the field's width
    "DATETIME MONTH TO DAY": "02-29",  # JDBC fills the year with 1700, where 02-29 is 03-01
    "DATETIME MONTH TO SECOND": "02-29 13:14:15",
}


@parametrize_in_one_test("vector", JDBC_TUPLES, ids=lambda v: str(v["label"]))
def test_what_jdbc_decoded_is_decoded_alike(vector: dict[str, Any]) -> None:
    ct = column_type(vector)
    if vector["label"] in JDBC_MISREADS:
        with pytest.raises(ProtocolError):
            decode_one(ct, bytes.fromhex(vector["tuple_hex"]), KEEP, "latin-1")
        return
    value = decode_one(ct, bytes.fromhex(vector["tuple_hex"]), KEEP, "latin-1")
    if vector["label"] in JDBC_ODD:
        assert (value if isinstance(value, (bool, str)) else literal(value, ct)) == JDBC_ODD[vector["label"]]
    elif vector["wasNull"]:
        assert value is None
    elif isinstance(value, bool):
        assert vector["getString"] == ("t" if value else "f")
    elif isinstance(value, float):
        expected = float(vector["getString"].replace("Infinity", "inf"))
        assert value == pytest.approx(expected, rel=1e-7, nan_ok=True)
    elif ct.precision is not None:
        assert Decimal(str(value)) == Decimal(vector["getString"])
    else:
        assert str(literal(value, ct)) == vector["getString"]


@parametrize_in_one_test("vector", VECTORS, ids=vector_id)
def test_every_tuple_is_consumed_to_its_last_byte(vector: dict[str, Any]) -> None:
    """If this fails: a decoder must consume exactly the bytes of its value. A byte too many or too few shifts every
    later column. The check at the tuple's end found such bugs in other drivers (TYPES section 1)."""
    columns = [Column("c", column_type(vector)), SENTINEL]
    data = bytes.fromhex(vector["tuple_hex"]) + SENTINEL_BYTES
    with pytest.raises(ProtocolError, match="A tuple has 1 bytes after its last column"):
        decode_tuple(data + b"\0", columns, "utf-8", MDN)
    for cut in range(len(data)):
        with pytest.raises(ProtocolError):
            decode_tuple(data[:cut], columns, "utf-8", MDN)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("INTEGER", -7),
        ("INT8", -(2**40)),
        ("FLOAT", 0.1),
        ("SMALLFLOAT", 1.5),
        ("DATE", dt.date(2024, 2, 29)),
        ("BOOLEAN", True),
        ("CHAR(5)", "ab"),
        ("VARCHAR(20)", "a b "),
        ("LVARCHAR(20)", ""),
        ("DECIMAL(8,2)", Decimal("-1.50")),
        ("DECIMAL(16)", 123456.789),
        ("DATETIME YEAR TO DAY", dt.date(1, 1, 1)),
        ("DATETIME YEAR TO FRACTION(3)", dt.datetime(2026, 8, 31, 12, 30, 15, 123000)),
        ("DATETIME HOUR TO MINUTE", dt.time(0, 30)),
        ("DATETIME HOUR TO FRACTION(5)", dt.time(0, 0, 0, 10)),
        ("DATETIME MONTH TO DAY", "02-29"),
    ],
)
def test_a_value_is_what_pyarrow_gives_for_its_arrow_type(sql: str, value: object) -> None:
    ct = ColumnType.parse_sql(sql)
    decoded = decode_one(ct, encode_one(ct, value))
    through_arrow = pa.array([decoded], arrow_type(ct)).to_pylist()[0]
    assert decoded == through_arrow == value
    assert type(decoded) is type(through_arrow)


@pytest.mark.parametrize(("full", "normalised"), [("c3000005", "c1050000"), ("c3000000", "80000000")])
def test_a_datetime_is_shifted_by_its_exponent(full: str, normalised: str) -> None:
    ct = ColumnType.datetime("HOUR TO SECOND")
    assert decode_one(ct, bytes.fromhex(full)) == decode_one(ct, bytes.fromhex(normalised))
    assert encode_one(ct, decode_one(ct, bytes.fromhex(full))).hex() == normalised


@pytest.mark.parametrize(
    ("sql", "hexes", "text"),
    [
        ("DECIMAL(32)", "005a" + "00" * 16, "-1E+125"),
        ("DECIMAL(32)", "0001" + "00" * 16, "-9.9E+125"),
        ("DECIMAL(32)", "00000a" + "00" * 15, "-9.99E+125"),
        ("DECIMAL(32)", "00" * 17 + "01", "-9.999999999999999999999999999999999E+125"),
        ("DECIMAL(4)", "00000001", "-9.99999E+125"),
    ],
)
def test_null_of_a_decimal_is_zero_bytes_only(sql: str, hexes: str, text: str) -> None:
    """JDBC looks at the first two bytes and takes the last three of these for NULL. These bytes are numbers."""
    ct = ColumnType.parse_sql(sql)
    assert decode_one(ct, bytes(len(hexes) // 2)) is None
    value = decode_one(ct, bytes.fromhex(hexes), MDN)
    assert Decimal(value) == Decimal(text)
    assert decode_one(ct, bytes.fromhex(hexes)) == float(text)
    if len(Decimal(text).as_tuple().digits) <= (ct.precision or 0):
        assert encode_one(ct, Decimal(text)).hex() == hexes


def test_zero_with_any_exponent_is_zero() -> None:
    """informix-driver binds zero as c100 (TYPES section 15)."""
    assert unpack_decimal(b"\xc1\0") == 0
    assert decode_one(ColumnType.decimal(5, 2), b"\xc1\0\0\0") == Decimal("0.00")


@pytest.mark.parametrize(
    ("sql", "hexes"),
    [
        ("SMALLINT", "8000"), ("INTEGER", "80000000"), ("BIGINT", "8000000000000000"),
        ("INT8", "0000 00000001 00000000"), ("FLOAT", "ffffffffffffffff"), ("SMALLFLOAT", "ffffffff"),
        ("DATE", "80000000"), ("CHAR(3)", "002020"), ("CHAR(3)", "000000"), ("VARCHAR(3)", "0100"),
        ("LVARCHAR(3)", "0100000000"), ("BOOLEAN", "0100000000"), ("DECIMAL(5,2)", "00000000"),
        ("DATETIME YEAR TO DAY", "0000000000"),
    ],
)  # fmt: skip
def test_null_has_its_pattern_in_every_type(sql: str, hexes: str) -> None:
    ct = ColumnType.parse_sql(sql)
    assert decode_one(ct, bytes.fromhex(hexes)) is None
    assert decode_one(ct, encode_one(ct, None)) is None


def test_other_nans_than_null_are_values() -> None:
    value = decode_one(ColumnType.float_(), bytes.fromhex("7ff8000000000000"))
    assert math.isnan(value)
    assert encode_one(ColumnType.float_(), float("nan")) != b"\xff" * 8


def test_the_indicator_of_an_envelope_is_null_only_for_one() -> None:
    assert decode_one(ColumnType.lvarchar(9), bytes.fromhex("ff00000000")) == ""
    assert decode_one(ColumnType.lvarchar(9), bytes.fromhex("010000000161")) is None


@pytest.mark.parametrize("content", ["74", "54", "01"])
def test_true_has_three_forms(content: str) -> None:
    assert decode_one(ColumnType.boolean(), bytes.fromhex("0000000001" + content)) is True


def test_a_boolean_is_written_as_text_or_as_asked_in_binary() -> None:
    assert encode_one(ColumnType.boolean(), True).hex() == "000000000174"
    assert encode_one(ColumnType.boolean(), True, bool_binary=True).hex() == "000000000101"
    assert encode_one(ColumnType.boolean(), False, bool_binary=True).hex() == "000000000100"


def test_char_padding_is_stripped_or_kept() -> None:
    data = b"  ab  "
    assert decode_one(ColumnType.char(6), data) == "  ab"
    assert decode_one(ColumnType.char(6), data, TypeOptions(char_padding="keep")) == "  ab  "
    assert decode_one(ColumnType.char(6), b" " * 6) == ""


@pytest.mark.parametrize(
    ("sql", "hexes"),
    [
        ("INT8", "0002 00000001 00000000"),  # sign word
        ("BOOLEAN", "0000000001 78"),
        ("BOOLEAN", "0000000002 7474"),
        ("BOOLEAN", "0000000000"),
        ("LVARCHAR(9)", "00ffffffff"),
        ("DECIMAL(5,2)", "c1640000"),  # digit 100
        ("DATETIME YEAR TO DAY", "c8141a0101"),  # exponent above the full one
        ("DATETIME YEAR TO DAY", "38506249 62"),  # negative
    ],
)
def test_bytes_that_no_value_has_are_a_protocol_error_naming_the_column(sql: str, hexes: str) -> None:
    with pytest.raises(ProtocolError, match="Column 'c', offset 0") as caught:
        decode_one(ColumnType.parse_sql(sql), bytes.fromhex(hexes))
    assert caught.value.column == "c"


@pytest.mark.parametrize(
    ("sql", "hexes"),
    [
        ("INT8", "0001 00000000 80000000"),
        ("DATE", "7fffffff"),
        ("VARCHAR(9)", "01ff"),  # not utf-8
        ("DECIMAL(5,2)", "c0010101"),  # six digits after the point
        ("DECIMAL(4,2)", "c2010101"),  # five digits
        ("DATETIME YEAR TO DAY", "c7141a0d01"),  # month 13
        ("DATETIME YEAR TO DAY", "c7141a021e"),  # 30 February
        ("DATETIME HOUR TO SECOND", "c3180000"),
        ("DATETIME YEAR TO FRACTION(1)", "c7141a081f0c1e0f0b"),  # digit beyond FRACTION(1)
        ("DATETIME YEAR TO MONTH", "c5010000"),  # year 0
    ],
)
def test_a_value_outside_its_type_is_a_data_error_naming_the_column(sql: str, hexes: str) -> None:
    with pytest.raises(DataError, match="Column 'c', offset 0") as caught:
        decode_one(ColumnType.parse_sql(sql), bytes.fromhex(hexes))
    assert caught.value.column == "c"


@parametrize_in_one_test(
    ("sql", "value"),
    [
        ("SMALLINT", -32768), ("INTEGER", 2**31), ("BIGINT", -(2**63)), ("INT8", 2**63),
        ("SMALLFLOAT", 1e300), ("INTEGER", "1"), ("BOOLEAN", 1), ("DATE", dt.datetime(2024, 1, 1)),
        ("CHAR(3)", "abcd"), ("CHAR(3)", "\0a"), ("VARCHAR(3)", "é日"), ("VARCHAR(3)", "\0"),
        ("LVARCHAR(3)", "abcd"), ("DECIMAL(5,2)", Decimal("0.001")), ("DECIMAL(5,2)", 1000),
        ("DECIMAL(5)", 123456), ("DECIMAL(5)", Decimal("NaN")), ("DECIMAL(5)", "abc"),
        ("DECIMAL(32)", Decimal("1E+126")), ("DECIMAL(32)", Decimal("1E-131")), ("DECIMAL(5,2)", 0.125),
        ("DATETIME YEAR TO DAY", dt.time(1)), ("DATETIME YEAR TO SECOND", "2024-13-01 00:00:00"),
        ("DATETIME YEAR TO SECOND", "yesterday"),
        ("DATETIME YEAR TO SECOND", dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)),
    ],
)  # fmt: skip
def test_a_value_that_its_column_cannot_hold_is_refused(sql: str, value: object) -> None:
    with pytest.raises(DataError, match="Column 'c'"):
        encode_one(ColumnType.parse_sql(sql), value)


def test_text_is_checked_against_the_code_set() -> None:
    assert encode_one(ColumnType.varchar(9), "é", "latin-1") == b"\1\xe9"
    with pytest.raises(DataError, match="latin-1"):
        encode_one(ColumnType.varchar(9), "€", "latin-1")


def test_a_float_in_a_floating_column_is_rounded_to_the_columns_digits() -> None:
    assert decode_one(ColumnType.decimal(5), encode_one(ColumnType.decimal(5), 1 / 3)) == 0.33333
    assert decode_one(ColumnType.decimal(16), encode_one(ColumnType.decimal(16), 0.1)) == 0.1


@pytest.mark.parametrize(
    "text", ["0", "1", "-1", "100", "0.1", "-0.001", "12345678901234567890.123456789012", "1E-130"]
)
def test_decimals_pack_to_as_few_digits_as_needed_and_back(text: str) -> None:
    data = pack_decimal(Decimal(text))
    assert unpack_decimal(data) == Decimal(text)
    assert len(data) == 2 or data[-1] != 0


def test_decimals_are_exact_beyond_the_decimal_context() -> None:
    value = Decimal("12345678901234567890123456789012")
    decoded = decode_one(ColumnType.decimal(32, 0), encode_one(ColumnType.decimal(32, 0), value))
    assert decoded == value
    assert str(decoded) == "12345678901234567890123456789012"


def test_a_datetime_value_converts_to_what_its_qualifier_holds() -> None:
    second = DatetimeValue(Qualifier.datetime("YEAR", "SECOND"), (2024, 2, 29, 13, 14, 15))
    assert second.to_datetime() == second.natural() == dt.datetime(2024, 2, 29, 13, 14, 15)
    assert (second.to_date(), second.to_time()) == (dt.date(2024, 2, 29), dt.time(13, 14, 15))
    assert second.text == str(second) == "2024-02-29 13:14:15"
    fraction = DatetimeValue(Qualifier.datetime("HOUR", "FRACTION(3)"), (1, 2, 3, 4))
    assert fraction.natural() == dt.time(1, 2, 3, 4000)
    with pytest.raises(DataError, match="no year"):
        fraction.to_date()
    month = DatetimeValue(Qualifier.datetime("YEAR", "MONTH"), (2024, 2))
    assert (month.natural(), month.to_date()) == ("2024-02", dt.date(2024, 2, 1))
    with pytest.raises(DataError, match="no hour"):
        month.to_time()


@pytest.mark.parametrize(
    ("qualifier", "value"),
    [
        ("YEAR TO FRACTION(3)", dt.datetime(2024, 1, 1, 0, 0, 0, 999_999)),
        ("YEAR TO SECOND", dt.datetime(2024, 1, 1, 0, 0, 0, 1)),
        ("YEAR TO MINUTE", dt.datetime(2024, 1, 1, 0, 0, 1)),
        ("YEAR TO DAY", dt.datetime(2024, 1, 1, 1)),
        ("HOUR TO FRACTION(5)", dt.time(1, 2, 3, 123_456)),
        ("HOUR TO MINUTE", DatetimeValue(Qualifier.datetime("HOUR", "SECOND"), (1, 2, 3))),
    ],
)
def test_parts_finer_than_the_qualifier_are_refused_never_cut(qualifier: str, value: object) -> None:
    with pytest.raises(DataError, match=f"more precision than DATETIME {re.escape(qualifier)}"):
        datetime_fields(value, Qualifier.parse(qualifier))
    with pytest.raises(DataError, match="more precision"):
        encode_one(ColumnType.datetime(qualifier), value)


@pytest.mark.parametrize(
    ("sql", "value", "stored"),
    [
        ("DECIMAL(8,2)", 0.1, "0.10"),
        ("DECIMAL(8,2)", -1234.5, "-1234.50"),
        ("DECIMAL(32,0)", 1e22, "10000000000000000000000"),
        ("DECIMAL(16)", 0.1, "0.1"),
        ("DECIMAL(16)", 1e23, "1E+23"),
        ("DECIMAL(3)", 2.675, "2.67"),  # the double is 2.67499..
        ("DECIMAL(2)", 0.125, "0.12"),  # exactly half-way: rounded to the even digit
        ("DECIMAL(2)", 99.6, "1E+2"),
        ("DECIMAL(32)", 1 / 3, "0.3333333333333333"),
    ],
)
def test_a_float_is_stored_exactly_or_in_the_floating_columns_digits(
    sql: str, value: float, stored: str
) -> None:
    ct = ColumnType.parse_sql(sql)
    assert unpack_decimal(encode_one(ct, value)) == Decimal(stored)


@pytest.mark.parametrize("value", [2.675, -0.005, 1e6, math.nan, math.inf])
def test_a_float_that_does_not_fit_a_fixed_scale_is_refused(value: float) -> None:
    with pytest.raises(DataError, match=r"Round it or cast it first|cannot be stored in DECIMAL\(8,2\)"):
        encode_one(ColumnType.decimal(8, 2), value)


# ---- options
# -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sql", ["CHAR(6)", "VARCHAR(9)", "LVARCHAR(9)", "JSON"])
def test_bytes_that_are_no_text_are_an_error_replaced_or_handed_over(sql: str) -> None:
    ct = ColumnType.parse_sql(sql)
    raw = b"a\xe9\xff" if sql == "CHAR(6)" else b"a\xe9 "
    data = encode_one(ct, raw, options=TypeOptions(encoding_errors="binary"))
    with pytest.raises(DataError, match="not valid utf-8 at byte 1"):
        decode_one(ct, data)
    replaced = decode_one(ct, data, TypeOptions(encoding_errors="replace"))
    assert replaced == raw.decode("utf-8", "replace")
    assert decode_one(ct, data, TypeOptions(encoding_errors="binary")) == raw
    assert decode_one(ct, data, TypeOptions(encoding_errors="binary"), "latin-1") == raw
    with pytest.raises(DataError, match="A value of type bytes cannot be stored in"):
        encode_one(ct, raw)


def test_trailing_blanks_of_a_char_go_in_binary_too() -> None:
    binary = TypeOptions(encoding_errors="binary")
    kept = TypeOptions(encoding_errors="binary", char_padding="keep")
    assert decode_one(ColumnType.char(4), b"\xff   ", binary) == b"\xff"
    assert decode_one(ColumnType.char(4), b"\xff   ", kept) == b"\xff   "
    assert decode_one(ColumnType.char(4), b"\0   ", binary) is None


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("DECIMAL(15,0)", 12345), ("DECIMAL(32,0)", 2**63 - 1), ("DECIMAL(32,0)", -(2**63)),
        ("DECIMAL(19,0)", 0), ("DECIMAL(5,0)", -99999), ("DECIMAL(5,0)", None),
    ],
)  # fmt: skip
def test_a_decimal_without_places_is_an_int64_on_demand(sql: str, value: int | None) -> None:
    ct = ColumnType.parse_sql(sql)
    options = TypeOptions(integer_aggregates=True)
    assert arrow_type(ct, options) == pa.int64()
    assert decode_one(ct, encode_one(ct, value), options) == value
    assert type(decode_one(ct, encode_one(ct, value), options)) is type(value)


def test_an_integer_aggregate_that_int64_cannot_hold_is_an_error() -> None:
    ct, options = ColumnType.decimal(32, 0), TypeOptions(integer_aggregates=True)
    for number in (2**63, -(2**63) - 1, 10**31):
        with pytest.raises(DataError, match="int64"):
            decode_one(ct, encode_one(ct, number), options)
    with pytest.raises(DataError, match="int64"):
        decode_one(ct, pack_decimal(Decimal("1.5"), 17), options)


def test_an_interval_is_a_month_day_nano_on_demand() -> None:
    options = TypeOptions(intervals="month_day_nano")
    months = ColumnType.interval("YEAR(4) TO MONTH")
    assert decode_one(months, encode_one(months, -18), options) == pa.MonthDayNano([-18, 0, 0])
    days = ColumnType.interval("DAY(9) TO FRACTION(5)")
    longest = bytes.fromhex("375a000000004c282800000a")  # -999999999 23:59:59.99999
    value = decode_one(days, longest, options)
    assert value == pa.MonthDayNano([0, -999_999_999, -86_399_999_990_000])
    assert pa.array([value], arrow_type(days, options)).to_pylist() == [value]
    assert encode_one(days, value) == longest
    hours = ColumnType.interval("HOUR(9) TO HOUR")
    assert decode_one(hours, encode_one(hours, dt.timedelta(hours=49)), options) == pa.MonthDayNano(
        [0, 2, 3_600_000_000_000]
    )


def test_more_months_than_int32_holds_are_an_error() -> None:
    ct = ColumnType.interval("YEAR(9) TO MONTH")
    data = encode_one(ct, "999999999-11")
    for options in (DEFAULT_OPTIONS, TypeOptions(intervals="month_day_nano")):
        with pytest.raises(DataError, match="int32"):
            decode_one(ct, data, options)
    assert decode_one(ct, encode_one(ct, "178956970-07")) == 2**31 - 1


@pytest.mark.parametrize(
    ("sql", "hexes"),
    [
        ("INTERVAL DAY(2) TO SECOND", "c401180000"),  # 24 hours
        ("INTERVAL DAY(2) TO SECOND", "c401003c00"),  # 60 minutes
        ("INTERVAL YEAR(4) TO MONTH", "c6010c00"),  # 12 months
    ],
)
def test_a_field_of_an_interval_that_is_out_of_range_is_an_error(sql: str, hexes: str) -> None:
    with pytest.raises(DataError, match="but must be at most"):
        decode_one(ColumnType.parse_sql(sql), bytes.fromhex(hexes))


def test_descriptors_and_locators_go_through_as_they_are() -> None:
    descriptor = bytes(range(39)) + b"\2" + bytes(range(16))
    assert decode_one(ColumnType.byte(), descriptor) == descriptor
    assert encode_one(ColumnType.text(), descriptor) == descriptor
    assert encode_one(ColumnType.text(), None) == bytes(39) + b"\1" + bytes(16)
    for locator in (bytes(range(72)), bytes(range(72)).hex().encode()):
        data = encode_one(ColumnType.blob(), locator)
        assert data == b"\0" + len(locator).to_bytes(4, "big") + locator
        assert decode_one(ColumnType.clob(), data) == locator


@pytest.mark.parametrize(
    ("ct", "value"),
    [
        (ColumnType.byte(), b"content"),
        (ColumnType.byte(), bytes(39) + b"\1" + bytes(16)),
        (ColumnType.byte(), "text"),
        (ColumnType.blob(), bytes(145)),
        (ColumnType.blob(), "text"),
    ],
)
def test_a_large_object_is_no_content_in_a_tuple(ct: ColumnType, value: object) -> None:
    with pytest.raises(DataError, match="Column 'c'"):
        encode_one(ct, value)
