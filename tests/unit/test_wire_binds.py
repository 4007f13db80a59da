"""Parameters of SQ_BIND: what JDBC sends, what we send, what a server makes of them (JDBC section 6)."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.datetimes import DatetimeValue, IntervalValue, unpack_datetime
from informix_arrow.wire.errors import DataError, NotSupportedError, ProgrammingError, ProtocolError
from informix_arrow.wire.messages import NULL_VALUE, Bind, BoundValue
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.types import ColumnType, Qualifier
from informix_arrow.wire.values import bind_value, bound_to_python

from .wire_vectors import load

MODERN = Framing()
JDBC = load("jdbc_binds.json")
WORKED = [v for v in load("types.json") if v["bind_hex"] and v["type"] not in (11, 12)]


def parse_one(hexes: str) -> BoundValue:
    """One parameter, with another one behind it that must come out unshifted."""
    reader = Reader(b"\0\2" + bytes.fromhex(hexes) + bytes.fromhex("000200000a005ea51de5"))
    bind = Bind.parse(reader, MODERN)
    assert reader.left == 0
    assert bound_to_python(bind.values[1], "utf-8") == 0x5EA51DE5
    return bind.values[0]


def as_text(value: object) -> object:
    if isinstance(value, (DatetimeValue, IntervalValue)):
        return value.text
    return format(value, "f") if isinstance(value, Decimal) else value


@pytest.mark.parametrize("entry", JDBC, ids=lambda e: f"{e['case']} {e['described']}")
def test_every_parameter_of_jdbc_is_read_and_written_byte_for_byte(entry: dict[str, Any]) -> None:
    value = parse_one(entry["param_hex"])
    assert Bind((value,)).encode(MODERN)[4:].hex() == entry["param_hex"]


# What the setter was given, by case of the capture and described type; the rest of the cases is in the test
# below.
EXPECTED: dict[tuple[str, str], object] = {
    ("setInt 7", "int"): 7,
    ("setInt MIN", "int"): None,  # the pattern 80000000 is NULL (TYPES section 3)
    ("setShort 5", "smallint"): 5,
    ("setShort MIN", "smallint"): None,
    ("setLong -5000000000", "bigint"): -5_000_000_000,
    ("setLong -5000000000", "int8"): -5_000_000_000,
    ("setLong 9223372036854775807", "int8"): 2**63 - 1,
    ("setLong -9223372036854775808", "int8"): -(2**63),
    ("setLong 9223372036854775807", "decimal"): Decimal("9223372036854775807"),
    ("setInt 1", "serial"): 1,
    ("setInt 1", "char"): "1",
    ("setInt 1", "varchar"): "1",
    ("setFloat 1.5", "smallfloat"): 1.5,
    ("setDouble -1e300", "float"): -1e300,
    ("setDouble Inf", "float"): math.inf,
    ("setBigDecimal 0", "decimal32_16"): Decimal(0),
    ("setBigDecimal -123.456", "decimal32_16"): Decimal("-123.456"),
    ("setBigDecimal 1E+60", "decimal32_16"): Decimal("1E+60"),
    ("setBigDecimal 1.5", "money"): Decimal("1.5"),
    ("setString ''", "char"): "",
    ("setString 'tail  '", "varchar"): "tail  ",
    ("setString ''", "lvarchar"): "",
    ("setString 'ab'", "lvarchar"): "ab",
    ("setString 'ab'", "char"): "ab",
    ("setDate 0001-01-01", "date"): dt.date(1, 1, 1),
    ("setDate 1899-12-31", "date"): dt.date(1899, 12, 31),
    ("setDate 2024-02-29", "datetime_ys"): "2024-02-29 00:00:00",
    ("setTimestamp 2024-02-29 13:14:15.123456", "datetime_ys"): "2024-02-29 13:14:15.00000",
    ("setTimestamp 2024-02-29 13:14:15.123456", "datetime_f5"): "2024-02-29 13:14:15.12345",
    ("setTimestamp 2024-02-29 13:14:15.123456", "datetime_f3"): "2024-02-29 13:14:15.12300",
    ("setTime 13:14:15", "datetime_hs"): "13:14:15",
    ("setBoolean true", "boolean"): True,
    ("setBoolean false", "boolean"): False,
    ("setBoolean true", "smallint"): 1,
    ("setBoolean true", "char"): "true",
    ("setNull NULL", "lvarchar"): None,
    ("setNull NULL", "boolean"): None,
    ("setNull NULL", "blob"): None,
    ("setNull type 93", "varchar"): None,
    ("IntervalYM 5-07", "interval_ym"): "5-07",
    ("IntervalYM -5-07", "interval_ym"): "-5-07",
    ("IntervalDF 3 04:05:06.7", "interval_df"): "3 04:05:06.70000",
    ("IntervalDF -3 04:05:06", "interval_ds"): "-3 04:05:06.00000",
    ("setObject LocalDate", "date"): dt.date(2024, 2, 29),
}


@pytest.mark.parametrize(("case", "expected"), EXPECTED.items(), ids=str)
def test_a_parameter_of_jdbc_is_what_was_given_to_its_setter(case: tuple[str, str], expected: object) -> None:
    entries = [e for e in JDBC if (e["case"], e["described"]) == case]
    assert entries
    if case == ("setInt 1", "char") or case == ("setInt 1", "varchar"):
        entries = [e for e in entries if "15.0.0.1.1" in e["jdbc"]]  # 4.50 sends the INT
    for entry in entries:
        assert as_text(bound_to_python(parse_one(entry["param_hex"]), "utf-8")) == as_text(expected)


@pytest.mark.parametrize("entry", JDBC, ids=lambda e: f"{e['case']} {e['described']}")
def test_no_parameter_of_jdbc_is_misunderstood(entry: dict[str, Any]) -> None:
    """Every form gives a value, or is refused by the name of its type (BYTE, TEXT, opaque types)."""
    encoding = "utf-8" if "unicode" in entry["case"] else "latin-1"
    bound = parse_one(entry["param_hex"])
    if bound.data is not None and entry["described"] in ("byte", "text", "udtvar"):
        with pytest.raises(NotSupportedError, match=r"BYTE|TEXT|myudt"):
            bound_to_python(bound, encoding)
        return
    value = bound_to_python(bound, encoding)
    if "NULL" in entry["case"] or "null" in entry["case"]:
        assert value is None
    if entry["case"] == "setString unicode" and value is not None:
        assert value == "héllo € 日本"


@pytest.mark.parametrize("vector", WORKED, ids=lambda v: f"{v['name']} {v['value']}"[:60])
def test_the_worked_parameters_give_their_values(vector: dict[str, Any]) -> None:
    value = bound_to_python(parse_one(vector["bind_hex"]), "utf-8")
    stated = vector["value"]
    if vector["name"] == "BOOLEAN" and stated is not None:
        stated = "t" if stated else "f"  # bound as CHAR; the server converts
    if isinstance(value, dt.date):
        value = str(value)
    if isinstance(value, Decimal):
        assert value == Decimal(stated)
    else:
        assert as_text(value) == stated


@pytest.mark.parametrize(
    ("value", "hexes"),
    [
        (None, "0000ffff0000"),
        (7, "000200000a0000000007"),
        (-(2**31), "003400001300ffffffff80000000"),
        (2**31, "0034000013000000000080000000"),
        (2**63, "000500001300000bca091621480344364d3a0800"),
        (1.5, "0003000000003ff8000000000000"),
        (math.nan, "0003000000007ff8000000000000"),
        (True, "00000000000000017400"),
        (False, "00000000000000016600"),
        ("bob", "0000000000000003626f6200"),
        ("", "0000000000000000"),
        (Decimal("-123.45"), "00050000050200043d624c37"),
        (Decimal(0), "00050000010000028000"),
        (dt.date(2024, 2, 29), "0007000000000000b126"),
        (dt.datetime(2024, 2, 29, 13, 14, 15), "000a00000e0a0008c71418021d0d0e0f"),
        (dt.datetime(2024, 2, 29, 13, 14, 15, 123450), "000a0000130f000bc71418021d0d0e0f0c223200"),
        (dt.datetime(99, 1, 1), "000a00000e0a0008c700630101000000"),
        (dt.time(13, 14, 15), "000a0000066a0004c30d0e0f"),
        (dt.time(0, 0), "000a0000066a000480000000"),
        (dt.time(0, 0, 0, 10), "000a00000b6f0007c30000000000 0a00".replace(" ", "")),
    ],
    ids=str,
)  # fmt: skip
def test_python_values_go_out_in_the_proven_forms(value: object, hexes: str) -> None:
    bound = bind_value(value, "utf-8")
    assert Bind((bound,)).encode(MODERN)[4:].hex() == hexes
    back = bound_to_python(parse_one(hexes), "utf-8")
    if isinstance(back, DatetimeValue):
        back = back.natural()
    if isinstance(value, bool):
        value = "t" if value else "f"
    assert back == value or (isinstance(back, float) and math.isnan(back))


def test_text_above_32767_bytes_goes_out_as_lvarchar() -> None:
    assert bind_value("x" * 32767, "latin-1").type == 0
    long = bind_value("é" * 20000, "utf-8")
    assert (long.type, long.data and long.data[:4]) == (43, (40000).to_bytes(4, "big"))
    assert bound_to_python(long, "utf-8") == "é" * 20000
    encoded = Bind((long,)).encode(MODERN)
    assert Bind.parse(Reader(encoded, 2), MODERN).values == (long,)


def test_a_bool_for_a_number_goes_out_as_a_number() -> None:
    bound = bind_value(True, "latin-1", ColumnType.smallint())
    assert bound_to_python(bound, "latin-1") == 1
    assert bind_value(True, "latin-1", ColumnType.boolean()) == bind_value(True, "latin-1")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int16(5), 5),
        (np.float32(1.5), 1.5),
        (np.bool_(True), "t"),
        (np.str_("a"), "a"),
        (pa.scalar(5), 5),
        (pa.scalar(Decimal("1.5")), Decimal("1.5")),
        (pa.scalar(None), None),
    ],
    ids=repr,
)
def test_numpy_and_pyarrow_scalars_are_unwrapped(value: object, plain: object) -> None:
    assert bound_to_python(bind_value(value, "latin-1"), "latin-1") == plain


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"bytes", NotSupportedError),
        (dt.timedelta(1), NotSupportedError),
        (object(), ProgrammingError),
        ([1], ProgrammingError),
        ("€", DataError),
        (Decimal("NaN"), DataError),
        (Decimal("1." + "1" * 32), DataError),
        (10**40 + 1, DataError),
        (dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc), DataError),
        (dt.time(1, tzinfo=dt.timezone.utc), DataError),
        (dt.time(1, 2, 3, 123456), DataError),  # a sixth digit is refused, never cut
        (dt.datetime(2024, 2, 29, 13, 14, 15, 1), DataError),
    ],
    ids=repr,
)
def test_what_cannot_be_sent_is_refused(value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        bind_value(value, "latin-1")


@pytest.mark.parametrize(
    ("bound", "error"),
    [
        (BoundValue(0, b"\0\5ab"), ProtocolError),
        (BoundValue(43, b"\0\0\0\5ab"), ProtocolError),
        (BoundValue(5, b"\0\2\xc1\x64"), ProtocolError),
        (BoundValue(45, b"\0\0\0\1x", extended_name="boolean"), ProtocolError),
        (BoundValue(0, b"\0\1\xff"), DataError),
        (BoundValue(7, b"\x7f\xff\xff\xff"), DataError),
        (BoundValue(10, b"\0\2\x80\0", 0xFFFF), DataError),
        (BoundValue(10, b"\0\5\xc7\x14\x1a\x0d\1", 0x0804), DataError),
        (BoundValue(41, b"\0\0\0\1x", extended_name="blob"), NotSupportedError),
        (BoundValue(12, bytes(56)), NotSupportedError),
    ],
    ids=repr,
)
def test_a_parameter_that_is_no_value_is_refused(bound: BoundValue, error: type[Exception]) -> None:
    with pytest.raises(error):
        bound_to_python(bound, "utf-8")


def test_null_of_any_type_is_none() -> None:
    assert bound_to_python(NULL_VALUE, "latin-1") is None
    assert bound_to_python(BoundValue(2, None, 0, -2), "latin-1") is None


def test_more_parameters_than_the_count_holds_are_refused() -> None:
    with pytest.raises(ValueError, match="32767"):
        Bind((NULL_VALUE,) * 32768).encode(MODERN)


@pytest.mark.parametrize(
    "value",
    [
        np.datetime64("2026-01-02T03:04:05", "ns"),
        pd.Timestamp("2026-01-02 03:04:05"),
        pa.scalar(dt.datetime(2026, 1, 2, 3, 4, 5), pa.timestamp("ns")),
    ],
    ids=repr,
)
def test_a_moment_in_nanoseconds_is_a_datetime_and_no_number(value: object) -> None:
    """numpy's item() of a datetime64[ns] is a bare int."""
    assert bind_value(value, "utf-8") == bind_value(dt.datetime(2026, 1, 2, 3, 4, 5), "utf-8")


@pytest.mark.parametrize(
    "value",
    [
        np.datetime64("2026-01-02T03:04:05.000000001", "ns"),
        np.datetime64("10000-01-01", "s"),
        pd.Timestamp("2026-01-02 03:04:05.000000001"),
        pa.scalar(1, pa.timestamp("ns")),
        pa.scalar(1, pa.time64("ns")),
    ],
    ids=repr,
)
def test_nanoseconds_and_years_beyond_python_are_refused_not_cut(value: object) -> None:
    with pytest.raises(DataError):
        bind_value(value, "utf-8")


@pytest.mark.parametrize("value", [pd.NaT, np.datetime64("NaT"), np.datetime64("NaT", "ns"), pa.scalar(None)])
def test_moments_that_are_missing_are_null(value: object) -> None:
    assert bind_value(value, "utf-8") is NULL_VALUE


def test_a_timedelta_of_numpy_in_nanoseconds_is_refused_as_any_other() -> None:
    with pytest.raises(NotSupportedError, match="timedelta"):
        bind_value(np.timedelta64(5, "ns"), "utf-8")


@pytest.mark.parametrize("value", [np.array([5]), np.array([1, 2]), pd.Series([5])], ids=["1", "2", "Series"])
def test_an_array_is_no_scalar_however_short(value: object) -> None:
    with pytest.raises(ProgrammingError, match="cannot be sent"):
        bind_value(value, "utf-8")


def test_a_sixth_fraction_digit_of_a_bind_is_cut_but_of_a_tuple_refused() -> None:
    """informix-driver sends six digits as FRACTION(5); a column of a tuple can hold only five."""
    data = bytes.fromhex("c7141a081f0c1e0f636363")
    bound = bound_to_python(BoundValue(10, b"\0\x0b" + data, 0x130F), "utf-8")
    assert isinstance(bound, DatetimeValue)
    assert bound.text == "2026-08-31 12:30:15.99999"
    with pytest.raises(DataError, match="digits beyond"):
        unpack_datetime(data, Qualifier.from_encoded(0x130F))
