"""The plain reference codec of tuples (TYPES, JDBC section 7)."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from informix_arrow.wire.datetimes import pack_interval, unpack_interval
from informix_arrow.wire.decimals import pack_decimal, unpack_decimal
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError, NotSupportedError, ProtocolError
from informix_arrow.wire.types import DEFAULT_OPTIONS, ColumnType, Qualifier, TypeOptions, arrow_type
from informix_arrow.wire.values import (
    DatetimeValue,
    decode_tuple,
    encode_tuple,
    pack_datetime,
    unpack_datetime,
)

from .wire_vectors import column_type, load

SENTINEL = Column("sentinel", ColumnType.integer())
SENTINEL_VALUE = 0x5EA51DE5
SENTINEL_BYTES = SENTINEL_VALUE.to_bytes(4, "big")
REFUSED_TYPES = {11, 12, 14, 19, 20, 21, 22}
KEEP = TypeOptions(char_padding="keep", floating_decimals="string")


def decode_one(
    ct: ColumnType, data: bytes, options: TypeOptions = DEFAULT_OPTIONS, encoding: str = "utf-8"
) -> Any:
    value, sentinel = decode_tuple(data + SENTINEL_BYTES, [Column("c", ct), SENTINEL], encoding, options)
    assert sentinel == SENTINEL_VALUE
    return value


def encode_one(ct: ColumnType, value: object, encoding: str = "utf-8", bool_binary: bool = False) -> bytes:
    columns = [Column("c", ct), SENTINEL]
    data = encode_tuple((value, SENTINEL_VALUE), columns, encoding, bool_binary=bool_binary)
    assert data.endswith(SENTINEL_BYTES)
    return data[:-4]


def literal(value: object, ct: ColumnType) -> object:
    """A decoded value in the notation of the vectors."""
    qualifier = ct.qualifier
    if qualifier is not None and value is not None:
        return unpack_datetime(encode_one(ct, value), qualifier).text  # type: ignore[union-attr]
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value) if isinstance(value, dt.date) else value


def is_supported(vector: dict[str, Any]) -> bool:
    return vector["type"] not in REFUSED_TYPES and column_type(vector).extended_name not in ("blob", "clob")


VECTORS = load("types.json")
SUPPORTED = [v for v in VECTORS if is_supported(v)]
# What JDBC makes of a vector where that is not the stated value (entry "jdbc" of the vectors, by its note).
# In each case the framing agrees and the difference is in JDBC's presentation, so the stated value stands.
JDBC_DISAGREES = {
    "en_US.8859-1": "the capture's session was latin-1; the same bytes are utf-8 here",
    "epoch second 0": "JDBC prints raw bytes for 1970-01-01 00:00:00.000",
    "calendar default": "JDBC fills a missing year with 1700 and distorts day 31",
    "trailing zeros": "JDBC drops trailing zeros of a fraction",
    "text form": "t/f is the form without SQ_RETTYPE; JDBC always asks for 1/0 and reads all else as false",
}


def vector_id(vector: dict[str, Any]) -> str:
    return f"{vector['name']} {vector['value']}"[:60]


@pytest.mark.parametrize("vector", SUPPORTED, ids=vector_id)
def test_a_known_encoding_decodes_to_its_value_and_back(vector: dict[str, Any]) -> None:
    ct, data = column_type(vector), bytes.fromhex(vector["tuple_hex"])
    value = decode_one(ct, data, TypeOptions(floating_decimals="string"))
    stated = vector["value"]
    if ct.scale is not None and stated is not None:
        assert value == Decimal(stated)
        assert value.as_tuple().exponent == -ct.scale
    else:
        assert literal(value, ct) == stated
    assert encode_one(ct, value) == data


def test_where_jdbc_disagrees_with_a_vector_the_reason_is_known() -> None:
    for vector in SUPPORTED:
        jdbc = vector.get("jdbc", {"agrees": True})
        assert jdbc.get("aligned", True), vector
        if not jdbc["agrees"]:
            assert any(reason in jdbc["note"] for reason in JDBC_DISAGREES), vector


@pytest.mark.parametrize("vector", [v for v in VECTORS if not is_supported(v)], ids=vector_id)
def test_a_known_encoding_of_an_unsupported_type_is_refused_by_name(vector: dict[str, Any]) -> None:
    with pytest.raises(NotSupportedError, match="column 'c'"):
        decode_one(column_type(vector), bytes.fromhex(vector["tuple_hex"]))


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["type"] == 14], ids=vector_id)
def test_interval_bytes_give_their_literal_and_back(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["tuple_hex"])
    value = unpack_interval(data, Qualifier.from_encoded(vector["encoded_length"]))
    assert (None if value is None else value.text) == vector["value"]
    if value is not None:
        assert pack_interval(value) == data


JDBC_TUPLES = [v for v in load("jdbc_tuples.json") if v["type"] & 0xFF not in (14, 19)]
# Labels under which JDBC reads something else than we do.
JDBC_ODD = {
    "LVARCHAR(500) type43 NULL one nul char": "\0",  # JDBC drops a lone NUL character
    "LVARCHAR via UDTVAR 40 ext=1 NULL one nul char": "\0",
    "BOOLEAN type41 env t": True,  # JDBC reads only 1 as true
    "BOOLEAN type41 env T": True,
    "BOOLEAN type45 env t": True,
    "DATETIME MONTH TO DAY": "02-29",  # JDBC fills the year with 1700, where 02-29 is 03-01
    "DATETIME MONTH TO SECOND": "02-29 13:14:15",
}


@pytest.mark.parametrize("vector", JDBC_TUPLES, ids=lambda v: str(v["label"]))
def test_what_jdbc_decoded_is_decoded_alike(vector: dict[str, Any]) -> None:
    ct = column_type(vector)
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


@pytest.mark.parametrize("vector", SUPPORTED, ids=vector_id)
def test_every_tuple_is_consumed_to_its_last_byte(vector: dict[str, Any]) -> None:
    """Restore: a decoder takes exactly the bytes of its value. A byte too many or too few anywhere in a tuple
    means that every later column is shifted; the check at the tuple's end found such bugs in other drivers
    (TYPES section 1)."""
    columns = [Column("c", column_type(vector)), SENTINEL]
    data = bytes.fromhex(vector["tuple_hex"]) + SENTINEL_BYTES
    with pytest.raises(ProtocolError, match="1 bytes left over"):
        decode_tuple(data + b"\0", columns, "utf-8")
    for cut in range(len(data)):
        with pytest.raises(ProtocolError):
            decode_tuple(data[:cut], columns, "utf-8")


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


def test_null_of_a_decimal_needs_two_zero_bytes() -> None:
    ct = ColumnType.decimal(32)
    assert decode_one(ct, b"\0\x5a" + bytes(16)) == -1e125
    assert decode_one(ct, bytes(18)) is None


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
    with pytest.raises(ProtocolError, match="column 'c', offset 0") as caught:
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
    with pytest.raises(DataError, match="column 'c', offset 0") as caught:
        decode_one(ColumnType.parse_sql(sql), bytes.fromhex(hexes))
    assert caught.value.column == "c"


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SMALLINT", -32768), ("INTEGER", 2**31), ("BIGINT", -(2**63)), ("INT8", 2**63),
        ("SMALLFLOAT", 1e300), ("INTEGER", "1"), ("BOOLEAN", 1), ("DATE", dt.datetime(2024, 1, 1)),
        ("CHAR(3)", "abcd"), ("CHAR(3)", "\0a"), ("VARCHAR(3)", "é日"), ("VARCHAR(3)", "\0"),
        ("LVARCHAR(3)", "abcd"), ("DECIMAL(5,2)", Decimal("0.001")), ("DECIMAL(5,2)", 1000),
        ("DECIMAL(5)", 123456), ("DECIMAL(5)", Decimal("NaN")), ("DECIMAL(5)", "abc"),
        ("DECIMAL(32)", Decimal("1E+126")), ("DECIMAL(32)", Decimal("-9.95E+125")),
        ("DATETIME YEAR TO DAY", dt.time(1)), ("DATETIME YEAR TO SECOND", "2024-13-01 00:00:00"),
        ("DATETIME YEAR TO SECOND", "yesterday"),
        ("DATETIME YEAR TO SECOND", dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)),
    ],
)  # fmt: skip
def test_a_value_that_its_column_cannot_hold_is_refused(sql: str, value: object) -> None:
    with pytest.raises(DataError, match="column 'c'"):
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


def test_a_finer_fraction_than_the_qualifier_is_cut() -> None:
    qualifier = Qualifier.datetime("YEAR", "FRACTION(3)")
    value = unpack_datetime(pack_datetime(dt.datetime(2024, 1, 1, 0, 0, 0, 999_999), qualifier), qualifier)
    assert value is not None
    assert value.text == "2024-01-01 00:00:00.999"
