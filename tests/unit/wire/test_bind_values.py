"""Parameters of SQ_BIND: JDBC's forms, our forms, and their values on the server (JDBC section 6)."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.wire.vectors import column_type, load

from informix_arrow.wire.bind_values import bind_value, blob_descriptor, bound_to_python
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.datetimes import DatetimeValue, IntervalValue, parse_datetime, unpack_datetime
from informix_arrow.wire.errors import DataError, NotSupportedError, ProgrammingError, ProtocolError
from informix_arrow.wire.intervals import YearMonthInterval, parse_interval
from informix_arrow.wire.messages import NULL_VALUE, Bind, BoundValue
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType

MODERN = Framing()
JDBC = load("jdbc_binds.json")
WORKED = [v for v in load("types.json") if v["bind_hex"]]


def parse_one(hexes: str) -> BoundValue:
    """Parse one parameter. Another one after it detects a wrong length."""
    reader = Reader(b"\0\2" + bytes.fromhex(hexes) + bytes.fromhex("000200000a005ea51de5"))
    bind = Bind.parse(reader, MODERN)
    assert reader.remaining == 0
    assert bound_to_python(bind.values[1], "utf-8") == 0x5EA51DE5
    return bind.values[0]


def as_text(value: object) -> object:
    if isinstance(value, (DatetimeValue, IntervalValue)):
        return value.text
    return format(value, "f") if isinstance(value, Decimal) else value


@parametrize_in_one_test("entry", JDBC, ids=lambda e: f"{e['case']} {e['described']}")
def test_every_parameter_of_jdbc_is_read_and_written_byte_for_byte(entry: dict[str, Any]) -> None:
    value = parse_one(entry["param_hex"])
    assert Bind((value,)).encode(MODERN)[4:].hex() == entry["param_hex"]


# The value passed to the setter, by case of the capture and described type. The other cases are in the test below.
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


@parametrize_in_one_test(("case", "expected"), EXPECTED.items(), ids=str)
def test_a_parameter_of_jdbc_is_what_was_given_to_its_setter(case: tuple[str, str], expected: object) -> None:
    entries = [e for e in JDBC if (e["case"], e["described"]) == case]
    assert entries
    if case == ("setInt 1", "char") or case == ("setInt 1", "varchar"):
        entries = [e for e in entries if "15.0.0.1.1" in e["jdbc"]]  # 4.50 sends the INT
    for entry in entries:
        assert as_text(bound_to_python(parse_one(entry["param_hex"]), "utf-8")) == as_text(expected)


@parametrize_in_one_test("entry", JDBC, ids=lambda e: f"{e['case']} {e['described']}")
def test_no_parameter_of_jdbc_is_misunderstood(entry: dict[str, Any]) -> None:
    """Every form has a value. For BYTE and TEXT the content replaces the descriptor."""
    encoding = "utf-8" if "unicode" in entry["case"] else "latin-1"
    bound = parse_one(entry["param_hex"])
    if bound.data is not None and entry["described"] in ("byte", "text"):
        assert bound.type == {"byte": 11, "text": 12}[entry["described"]]
        assert len(bound.data) == 56
        assert bound_to_python(bound._replace(data=b"content"), encoding) == b"content"
        return
    if bound.data is not None and entry["described"] == "udtvar":
        assert bound_to_python(bound, encoding) == (b"\1\2\xff" if entry["case"] == "setBytes 3" else b"")
        return
    value = bound_to_python(bound, encoding)
    if "NULL" in entry["case"] or "null" in entry["case"]:
        assert value is None
    if entry["case"] == "setString unicode" and value is not None:
        assert value == "héllo € 日本"


@parametrize_in_one_test("vector", WORKED, ids=lambda v: f"{v['name']} {v['value']}"[:60])
def test_the_worked_parameters_give_their_values(vector: dict[str, Any]) -> None:
    bound = parse_one(vector["bind_hex"])
    value = bound_to_python(bound, "utf-8")
    stated = vector["value"]
    if vector["type"] in (11, 12) and stated is not None:
        assert bound.data == blob_descriptor(stated["size"])
        assert bound.type == vector["type"]
        return
    if vector["name"] == "BOOLEAN" and stated is not None:
        stated = "t" if stated else "f"  # bound as CHAR, which the server converts
    if isinstance(value, dt.date):
        value = str(value)
    if isinstance(value, Decimal):
        assert value == Decimal(stated)
    else:
        assert as_text(value) == stated


def python_value(vector: dict[str, Any]) -> object:
    """Return the object that a user would pass for a vector's value."""
    stated, ct = vector["value"], column_type(vector)
    if stated is None or isinstance(stated, (bool, int, float)):
        return stated
    if ct.precision is not None:
        return Decimal(stated)
    if ct.code == 7:
        return dt.date.fromisoformat(stated)
    if ct.code == 10:
        return DatetimeValue(ct.qualifier, parse_datetime(stated, ct.qualifier)).natural()  # type: ignore[arg-type]
    if ct.code == 14:
        return parse_interval(stated, ct.qualifier)  # type: ignore[arg-type]
    return b"x" * stated["size"] if isinstance(stated, dict) else stated


@parametrize_in_one_test("vector", WORKED, ids=lambda v: f"{v['name']} {v['value']}"[:60])
def test_the_value_of_a_worked_parameter_goes_out_as_the_same_value(vector: dict[str, Any]) -> None:
    """The form may differ (INT for SMALLINT, CHAR for a DATETIME without a Python type), but the server reads the same
    value."""
    given, ct = python_value(vector), column_type(vector)
    bound = bind_value(given, "utf-8", ct)
    worked = parse_one(vector["bind_hex"])
    assert parse_one(Bind((bound,)).encode(MODERN)[4:].hex()) == bound
    if vector["type"] in (11, 12):
        assert bound == worked or given is None
        return
    ours, theirs = bound_to_python(bound, "utf-8"), bound_to_python(worked, "utf-8")
    if isinstance(ours, DatetimeValue) and isinstance(theirs, DatetimeValue):
        ours, theirs = ours.natural(), theirs.natural()
    if isinstance(theirs, DatetimeValue) and isinstance(given, dt.date):
        theirs = theirs.natural()
    assert as_text(ours) == as_text(theirs)
    if type(given) in (int, float, Decimal, str, bool) and ct.code in (2, 3, 5, 13, 52):
        assert bound.type == worked.type or isinstance(given, int)


@parametrize_in_one_test(
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
        (dt.timedelta(days=3, microseconds=500_000), "000e0000144f000cc80000000003000000320000"),
        (dt.timedelta(0), "000e0000144f000c800000000000000000000000"),
        (-dt.timedelta(microseconds=10), "000e0000144f000c37636363636363636363635a"),
        (dt.timedelta.max - dt.timedelta(microseconds=9), "000e0000144f000cc80963636363173b3b63635a"),
        (YearMonthInterval("5-03"), "000e00000b020007ca000000000503 00".replace(" ", "")),
        (YearMonthInterval(-1), "000e00000b0200073563636363636300".replace(" ", "")),
    ],
    ids=str,
)  # fmt: skip
def test_python_values_go_out_in_the_proven_forms(value: object, hexes: str) -> None:
    bound = bind_value(value, "utf-8")
    assert Bind((bound,)).encode(MODERN)[4:].hex() == hexes
    back = bound_to_python(parse_one(hexes), "utf-8")
    if isinstance(back, DatetimeValue):
        back = back.natural()
    if isinstance(back, IntervalValue):
        months = back.months
        back = dt.timedelta(0, 0, back.microseconds or 0) if months is None else YearMonthInterval(months)
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
        pytest.param(object(), ProgrammingError, id="object"),
        ([1], DataError),
        ({1}, DataError),
        ((1, 2), DataError),
        ({"a": 1}, DataError),
        (dt.timedelta(microseconds=1), DataError),  # a sixth digit is refused, never cut
        (pd.Timedelta(10_001, "ns"), DataError),
        (pa.MonthDayNano([1, 1, 0]), DataError),  # an INTERVAL has months or days
        (pa.MonthDayNano([0, 0, 1]), DataError),
        (YearMonthInterval(12 * 10**9), DataError),
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
        (BoundValue(41, b"\0\0\0\1x", extended_name="blob"), ProtocolError),
        (BoundValue(41, b"\0\0\0\x90" + b"zz" * 72, extended_name="blob"), ProtocolError),
        (BoundValue(40, b"\0\0\0\2x", extended_name="myudt"), ProtocolError),
        (BoundValue(23, b"\0\0\0\1x", extended_name="x"), NotSupportedError),
        (BoundValue(14, b"\0\2\x80\0", 0x0804), DataError),  # YEAR TO DAY mixes the classes
        (BoundValue(14, b"\0\3\xc4\1\x18", 0x0446), DataError),  # 24 hours
        (BoundValue(14, b"\0\2\x80\0", 0xFFFF), DataError),
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
    """numpy's item() of a datetime64[ns] is a plain int."""
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


def without_unit(make: Callable[[Any], object], value: object) -> object:
    """Return a duration or moment of numpy without a unit. numpy 2.5 warns when one is created, not when it is
    bound."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return make(value)


@pytest.mark.parametrize(
    "value", [pd.NaT, without_unit(np.datetime64, "NaT"), np.datetime64("NaT", "ns"), pa.scalar(None)]
)
def test_moments_that_are_missing_are_null(value: object) -> None:
    assert bind_value(value, "utf-8") is NULL_VALUE


@pytest.mark.parametrize(
    "value",
    [
        np.timedelta64(5, "ns"),
        np.timedelta64(10**12, "D"),
        without_unit(np.timedelta64, 5),
        np.timedelta64(1, "ps"),
    ],
)
def test_a_timedelta_of_numpy_that_no_interval_holds_is_refused(value: object) -> None:
    with pytest.raises(DataError):
        bind_value(value, "utf-8")


def test_a_numpy_moment_far_outside_is_refused_where_a_conversion_would_wrap() -> None:
    for seconds in (10**13, 2**62, -(2**62), 18446744073709552 + 1_700_000_000):
        with pytest.raises(DataError, match="years 1 to 9999"):
            bind_value(np.datetime64(seconds, "s"), "utf-8")


@pytest.mark.parametrize("value", [np.array([5]), np.array([1, 2]), pd.Series([5])], ids=["1", "2", "Series"])
def test_an_array_is_no_scalar_however_short(value: object) -> None:
    with pytest.raises(ProgrammingError, match="cannot be sent"):
        bind_value(value, "utf-8")


def test_a_sixth_fraction_digit_of_a_bind_is_cut_but_of_a_tuple_refused() -> None:
    """informix-driver sends six digits as FRACTION(5). A column of a tuple can hold only five."""
    data = bytes.fromhex("c7141a081f0c1e0f636363")
    bound = bound_to_python(BoundValue(10, b"\0\x0b" + data, 0x130F), "utf-8")
    assert isinstance(bound, DatetimeValue)
    assert bound.text == "2026-08-31 12:30:15.99999"
    with pytest.raises(DataError, match="digits after the last field"):
        unpack_datetime(data, Qualifier.from_encoded(0x130F))


# ---- large objects, intervals, collections
# ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"", b"a", bytearray(b"ab"), memoryview(b"abc"), memoryview(bytes(8)).cast("I")]
)
def test_bytes_go_out_as_a_descriptor_of_their_size(content: bytes | bytearray | memoryview) -> None:
    size = len(bytes(content))
    for target, code in (
        (None, 11),
        (ColumnType.byte(), 11),
        (ColumnType.text(), 12),
        (ColumnType.varchar(9), 11),
    ):
        bound = bind_value(content, "utf-8", target)
        assert bound == BoundValue(code, blob_descriptor(size))
    assert blob_descriptor(size) == bytes(16) + size.to_bytes(4, "big") + bytes(36)


def test_a_descriptor_of_more_than_its_field_holds_is_refused() -> None:
    assert blob_descriptor(2**31 - 1)[16:20] == b"\x7f\xff\xff\xff"
    for size in (2**31, -1):
        with pytest.raises(DataError, match="2147483647"):
            blob_descriptor(size)


def test_bytes_for_an_opaque_type_go_out_whole_as_jdbc_sends_them() -> None:
    entry = next(e for e in JDBC if (e["case"], e["described"]) == ("setBytes 3", "udtvar"))
    target = ColumnType(40, 2048, 0, 2050, "informix", "myudt")
    assert bind_value(b"\1\2\xff", "utf-8", target) == parse_one(entry["param_hex"])
    for ct in (ColumnType.lvarchar(9), ColumnType.boolean(), ColumnType.parse_sql("JSON")):
        with pytest.raises(DataError, match="Decode it to a str"):
            bind_value(b"x", "utf-8", ct)


@pytest.mark.parametrize("code", [40, 41, 44])
@pytest.mark.parametrize("name", ["blob", "clob", "CLOB"])
def test_a_locator_is_72_bytes_in_either_form(code: int, name: str) -> None:
    locator = bytes(range(100, 172))
    for form in (locator, locator.hex().encode(), locator.hex().upper().encode()):
        bound = BoundValue(code, len(form).to_bytes(4, "big") + form, owner="informix", extended_name=name)
        assert bound_to_python(bound, "utf-8") == locator


def test_json_is_text_and_other_opaque_types_are_bytes() -> None:
    data = b"\0\0\0\3\xc3\xa9!"
    assert bound_to_python(BoundValue(40, data, extended_name="json"), "utf-8") == "é!"
    assert bound_to_python(BoundValue(40, data, extended_name="bson"), "utf-8") == b"\xc3\xa9!"
    assert bound_to_python(BoundValue(44, data, extended_name="ifx_lo_stat"), "utf-8") == b"\xc3\xa9!"


@pytest.mark.parametrize(
    ("value", "target", "text"),
    [
        (pa.MonthDayNano([63, 0, 0]), None, "5-03"),
        (pa.MonthDayNano([0, -1, -1_500_000_000]), None, "-1 00:00:01.50000"),
        (pa.MonthDayNano([0, 1, -1_000_000_000]), None, "0 23:59:59.00000"),
        (pa.MonthDayNano([0, 0, 0]), None, "0 00:00:00.00000"),
        (pa.MonthDayNano([0, 0, 0]), ColumnType.interval("YEAR TO MONTH"), "0-00"),
        (pa.scalar(pa.MonthDayNano([1, 0, 0])), None, "0-01"),
        (pa.scalar(dt.timedelta(hours=-1), pa.duration("us")), None, "-0 01:00:00.00000"),
        (pa.scalar(3_600_000_000_000, pa.duration("ns")), None, "0 01:00:00.00000"),
        (63, ColumnType.interval("MONTH(3) TO MONTH"), "5-03"),
        (-63, ColumnType.interval("YEAR TO MONTH"), "-5-03"),
        (np.int32(63), ColumnType.interval("YEAR TO MONTH"), "5-03"),
        (np.timedelta64(63, "M"), None, "5-03"),
        (np.timedelta64(-2, "Y"), None, "-2-00"),
        (np.timedelta64(90, "m"), None, "0 01:30:00.00000"),
        (np.timedelta64(-10_000, "ns"), None, "-0 00:00:00.00001"),
        (np.timedelta64(200_000, "D"), None, "200000 00:00:00.00000"),
        (pd.Timedelta("1 days 00:00:00.5"), None, "1 00:00:00.50000"),
        (IntervalValue(Qualifier.parse("HOUR(3) TO MINUTE", True), True, (100, 5)), None, "-100:05"),
        ("5-03", ColumnType.interval("YEAR TO MONTH"), "5-03"),  # as text, which the server converts
    ],
    ids=str,
)  # fmt: skip
def test_spans_of_time_go_out_as_intervals_of_their_class(
    value: object, target: ColumnType | None, text: str
) -> None:
    assert as_text(bound_to_python(bind_value(value, "utf-8", target), "utf-8")) == text


@pytest.mark.parametrize("value", [5, True])
def test_an_int_is_no_interval_of_days(value: int) -> None:
    if value is not True:
        with pytest.raises(DataError, match=r"INTERVAL DAY\(2\) TO SECOND. Pass a datetime.timedelta"):
            bind_value(value, "utf-8", ColumnType.interval("DAY TO SECOND"))
    assert bind_value(value, "utf-8", ColumnType.bigint()).type in (1, 2)


def test_missing_spans_are_null() -> None:
    generic = without_unit(np.timedelta64, "NaT")
    for value in (generic, np.timedelta64("NaT", "ns"), pa.scalar(None, pa.duration("us"))):
        assert bind_value(value, "utf-8") is NULL_VALUE


def test_collections_are_sent_as_literals_when_the_target_declares_their_elements() -> None:
    def sent(value: object, sql: str) -> object:
        return bound_to_python(bind_value(value, "utf-8", ColumnType.parse_sql(sql)), "utf-8")

    assert sent([1, 2], "LIST(INTEGER NOT NULL)") == "LIST{1,2}"
    assert sent({"it's"}, "SET(VARCHAR(9) NOT NULL)") == "SET{'it''s'}"
    assert sent(frozenset(), "MULTISET(DATE NOT NULL)") == "MULTISET{}"
    assert sent({"b": None, "a": "x"}, "ROW(a CHAR(1), b INTEGER)") == "ROW('x',NULL)"
    assert sent(("x", 1), "ROW(a CHAR(1), b INTEGER)") == "ROW('x',1)"
    assert sent("SET{1}", "SET(INTEGER NOT NULL)") == "SET{1}"


@pytest.mark.parametrize(
    "target", [None, ColumnType(19, 0), ColumnType.named_row("person_t"), ColumnType.integer()], ids=str
)
def test_a_collection_without_a_known_target_says_what_to_do(target: ColumnType | None) -> None:
    with pytest.raises(DataError, match="pass an SQL literal as a str"):
        bind_value([1], "utf-8", target)


def test_a_long_literal_goes_out_as_lvarchar() -> None:
    target = ColumnType.parse_sql("LIST(LVARCHAR(30000) NOT NULL)")
    bound = bind_value(["x" * 30_000, "y" * 30_000], "utf-8", target)
    assert bound.type == 43
    assert bound_to_python(bound, "utf-8") == f"LIST{{'{'x' * 30_000}','{'y' * 30_000}'}}"


def test_a_member_is_measured_in_the_connections_code_set() -> None:
    target = ColumnType.parse_sql("SET(CHAR(3) NOT NULL)")
    assert bind_value(["éé"], "latin-1", target).data == b"\0\x09SET{'\xe9\xe9'}"
    with pytest.raises(DataError, match="text of 4 bytes is too long for CHAR"):
        bind_value(["éé"], "utf-8", target)
    with pytest.raises(DataError, match=r"U\+20AC"):
        bind_value(["€"], "latin-1", target)
