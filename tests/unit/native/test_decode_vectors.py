"""Every known column encoding decodes to the documented value (TYPES, and tests/vectors/types.json)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.native.decoder_support import decode_one, refuses

from informix_arrow.wire.errors import DataError
from informix_arrow.wire.intervals import parse_interval, to_month_day_nano, to_months, to_timedelta
from informix_arrow.wire.plan_ops import TypeOptions, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType, TypeCode

VECTORS = json.loads(
    (Path(__file__).parent.parent.parent / "vectors" / "types.json").read_text(encoding="utf-8")
)


def column_type(vector: dict[str, Any]) -> ColumnType:
    return ColumnType(
        vector["type"],
        vector["encoded_length"],
        extended_id=vector.get("extended_id", 0),
        extended_name=vector.get("extended_name", ""),
    )


def vector_id(vector: dict[str, Any]) -> str:
    return f"{vector['name']}-{vector['tuple_hex'][:24]}"


def as_text(column: pa.Array) -> str:
    """Return a value in the notation of the vectors."""
    value = column[0].as_py()
    if pa.types.is_timestamp(column.type):
        return str(column.cast(pa.string())[0].as_py())
    if pa.types.is_date(column.type):
        return str(value)
    return str(column.cast(pa.string())[0].as_py()) if pa.types.is_time(column.type) else str(value)


def same(column: pa.Array, vector: dict[str, Any]) -> bool:
    value, expected = column[0].as_py(), vector["value"]
    raw = bytes.fromhex(vector["tuple_hex"])
    if vector["type"] == TypeCode.INTERVAL:
        qualifier = Qualifier.from_encoded(vector["encoded_length"])
        wanted = parse_interval(expected, qualifier)
        return bool(value == (to_months(wanted) if qualifier.is_year_month else to_timedelta(wanted)))
    if vector["type"] in (
        TypeCode.BYTE,
        TypeCode.TEXT,
    ):  # the whole descriptor, with its size at 16 (TYPES section 12)
        return bool(value == raw and int.from_bytes(value[16:20], "big") == expected["size"])
    if vector.get("extended_name") in (
        "blob",
        "clob",
    ):  # the locator in hexadecimal digits (TYPES section 13)
        return bool(bytes.fromhex(value.decode()).hex() == expected["locator_hex"])
    if isinstance(value, Decimal):
        return value == Decimal(str(expected))
    if isinstance(value, float) and isinstance(expected, str):
        return value == float(expected)
    if pa.types.is_temporal(column.type):
        # Arrow's text has all digits of its unit, the vector those of the qualifier. Seconds may be missing.
        got, text = as_text(column), str(expected)
        if "." in got:
            got = got.rstrip("0").rstrip(".")
        if "." in text:
            text = text.rstrip("0").rstrip(".")
        if got.startswith(text):
            return got.removeprefix(text).strip(":0") == ""
        return False
    return bool(value == expected)


def test_the_vectors_hold_every_type_of_the_plan() -> None:
    """Otherwise a renamed key would leave the test below without cases."""
    assert len(VECTORS) >= 279
    plain = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 40, 41, 52, 53}
    assert {v["type"] for v in VECTORS} == plain
    assert {v.get("extended_name") for v in VECTORS if v["type"] == 41} == {"boolean", "blob", "clob"}


@parametrize_in_one_test("vector", VECTORS, ids=vector_id)
def test_a_known_encoding_decodes_to_its_value_and_shifts_nothing_behind_it(vector: dict[str, Any]) -> None:
    raw = bytes.fromhex(vector["tuple_hex"])
    op = plan_op(column_type(vector))
    if vector["type"] == TypeCode.INTERVAL and str(vector["value"]).lstrip("-").startswith("999999999 "):
        refuses(op, raw, DataError, 'Use intervals="month_day_nano"')  # outside the range of duration[us]
        return
    column = decode_one(op, [raw])
    assert column.null_count == int(vector["null"])
    if not vector["null"]:
        assert same(column, vector), (column, vector)


@parametrize_in_one_test("vector", [v for v in VECTORS if v["type"] == TypeCode.INTERVAL], ids=vector_id)
def test_a_known_interval_decodes_as_month_day_nano_too(vector: dict[str, Any]) -> None:
    """The cases include the interval of 999,999,999 days, which duration[us] cannot hold."""
    op = plan_op(column_type(vector), TypeOptions(intervals="month_day_nano"))
    (value,) = decode_one(op, [bytes.fromhex(vector["tuple_hex"])]).to_pylist()
    if vector["null"]:
        assert value is None
    else:
        qualifier = Qualifier.from_encoded(vector["encoded_length"])
        assert value == to_month_day_nano(parse_interval(vector["value"], qualifier))


@parametrize_in_one_test(
    "vector", [v for v in VECTORS if v["type"] in (TypeCode.DECIMAL, TypeCode.MONEY)], ids=vector_id
)
def test_a_known_decimal_decodes_as_float64_and_as_text_too(vector: dict[str, Any]) -> None:
    ct = column_type(vector)
    raw = bytes.fromhex(vector["tuple_hex"])
    as_float = decode_one(plan_op(ct, TypeOptions(decimals="float64")), [raw])
    assert as_float.to_pylist() == [None if vector["null"] else float(vector["value"])]
    if ct.scale is None:
        text = decode_one(plan_op(ct, TypeOptions(floating_decimals="string")), [raw])
        assert text.to_pylist() == [vector["value"]]


# Values that IBM's JDBC driver reads from these bytes (JDBC section 7), where the vectors above have none.
JDBC_READS: list[tuple[ColumnType, str, object]] = [
    (ColumnType(0, 5), "6100626364", "a\0bcd"),
    (ColumnType(0, 5), "0000000000", None),
    (ColumnType(0, 300), "71" * 300, "q" * 300),
    (ColumnType(13, 20), "0120", " "),
    (ColumnType(13, 255), "ff" + "78" * 255, "x" * 255),
    (ColumnType(17, 10), "00000000000100000000", None),
    (ColumnType(3, 8), "7ff0000000000000", float("inf")),
    (ColumnType(4, 4), "f149f2ca", -1.0000000150474662e30),
    (
        ColumnType(5, 0x2010),
        "3757412b150957412b57412b150957412c",
        Decimal("-1234567890123456.1234567890123456"),
    ),
    (ColumnType(5, 0x505), "3f00000a", Decimal("-0.99999")),
    (ColumnType(5, 0x1002), "380000000000000001", Decimal("-99999999999999.99")),
    (ColumnType(40, 500, extended_id=1, extended_name="lvarchar"), "ff00000000", ""),
    (ColumnType(40, 500, extended_id=1, extended_name="lvarchar"), "000000000100", "\0"),
    (ColumnType(41, 1, extended_id=5, extended_name="boolean"), "000000000101", True),
    (ColumnType(41, 1, extended_id=5, extended_name="boolean"), "000000000100", False),
    (ColumnType(10, 0x66A), "c3000005", "00:00:05"),
    (ColumnType(10, 0x66A), "c1050000", "00:00:05"),
    (ColumnType(10, 0x66A), "c3000000", "00:00:00"),
    (ColumnType(10, 0x66A), "80000000", "00:00:00"),
]


@pytest.mark.parametrize(
    ("ct", "raw", "expected"), JDBC_READS, ids=[f"{c.sql}-{r[:24]}" for c, r, _ in JDBC_READS]
)
def test_bytes_that_the_jdbc_driver_reads_are_read_alike(ct: ColumnType, raw: str, expected: object) -> None:
    value = decode_one(plan_op(ct), [bytes.fromhex(raw)])[0].as_py()
    assert (str(value) if ct.code == TypeCode.DATETIME else value) == expected
