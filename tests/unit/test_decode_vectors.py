"""Every known column encoding decodes to the stated value (TYPES, and tests/vectors/types.json)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from informix_arrow.wire.types import ColumnType, PlanOp, TypeCode, TypeOptions, plan_op

from .decoding import decode_one

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "types.json").read_text(encoding="utf-8"))

# Types that no codec handles yet; plan_op refuses them by name.
NOT_YET = {TypeCode.INTERVAL, TypeCode.BYTE, TypeCode.TEXT, 19, 20, 21, 22}
SUPPORTED = [
    v for v in VECTORS if v["type"] not in NOT_YET and v.get("extended_name") not in ("blob", "clob")
]


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
    """A value in the vectors' own notation."""
    value = column[0].as_py()
    if pa.types.is_timestamp(column.type):
        return str(column.cast(pa.string())[0].as_py())
    if pa.types.is_date(column.type):
        return str(value)
    return str(column.cast(pa.string())[0].as_py()) if pa.types.is_time(column.type) else str(value)


def same(column: pa.Array, op: PlanOp, expected: object) -> bool:
    value = column[0].as_py()
    if isinstance(value, Decimal):
        return value == Decimal(str(expected))
    if isinstance(value, float) and isinstance(expected, str):
        return value == float(expected)
    if pa.types.is_temporal(column.type):
        # Arrow's text has all the digits of its unit, the vector those of the qualifier; seconds may be missing.
        got, wanted = as_text(column), str(expected)
        if "." in got:
            got = got.rstrip("0").rstrip(".")
        if "." in wanted:
            wanted = wanted.rstrip("0").rstrip(".")
        if got.startswith(wanted):
            return got.removeprefix(wanted).strip(":0") == ""
        return False
    return bool(value == expected)


def test_the_vectors_hold_every_type_of_the_plan() -> None:
    """Without this a renamed key would quietly empty the test below."""
    assert len(SUPPORTED) > 200
    assert {v["type"] for v in SUPPORTED} == {
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        10,
        13,
        15,
        16,
        17,
        18,
        40,
        41,
        52,
        53,
    }


@pytest.mark.parametrize("vector", SUPPORTED, ids=vector_id)
def test_a_known_encoding_decodes_to_its_value_and_shifts_nothing_behind_it(vector: dict[str, Any]) -> None:
    op = plan_op(column_type(vector))
    column = decode_one(op, [bytes.fromhex(vector["tuple_hex"])])
    assert column.null_count == int(vector["null"])
    if not vector["null"]:
        assert same(column, op, vector["value"]), (column, vector)


@pytest.mark.parametrize(
    "vector", [v for v in SUPPORTED if v["type"] in (TypeCode.DECIMAL, TypeCode.MONEY)], ids=vector_id
)
def test_a_known_decimal_decodes_as_float64_and_as_text_too(vector: dict[str, Any]) -> None:
    ct = column_type(vector)
    raw = bytes.fromhex(vector["tuple_hex"])
    as_float = decode_one(plan_op(ct, TypeOptions(decimals="float64")), [raw])
    assert as_float.to_pylist() == [None if vector["null"] else float(vector["value"])]
    if ct.scale is None:
        text = decode_one(plan_op(ct, TypeOptions(floating_decimals="string")), [raw])
        assert text.to_pylist() == [vector["value"]]


# What IBM's JDBC driver reads from these bytes (JDBC section 7), where the vectors above are silent.
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
