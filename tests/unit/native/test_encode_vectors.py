"""The C encoder writes the documented bytes of every known column encoding (tests/vectors/types.json), in a tuple and
as a parameter."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.native.encoder_support import bound, payload

from informix_arrow.wire.plan_ops import Kind, PlanOp, TypeOptions, arrow_type_of_op, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType, TypeCode

VECTORS = json.loads(
    (Path(__file__).parent.parent.parent / "vectors" / "types.json").read_text(encoding="utf-8")
)

# All bytes must match. The vectors show CHAR values without trailing blanks, which the encoder adds. Their DATETIMEs,
# DECIMALs and INTERVALs are normalised, like those that the encoder writes.


def column_type(vector: dict[str, Any]) -> ColumnType:
    return ColumnType(
        vector["type"],
        vector["encoded_length"],
        extended_id=vector.get("extended_id", 0),
        extended_name=vector.get("extended_name", ""),
    )


def interval_parts(text: str, qualifier: Qualifier) -> tuple[int, int, int]:
    """Return months, whole seconds and nanoseconds of an interval literal, all with its sign."""
    sign, body = (-1, text[1:]) if text.startswith("-") else (1, text)
    whole, _, fraction = body.partition(".")
    numbers = [int(n) for n in re.split(r"[- :]", whole) if n]
    names = [name for name in qualifier.field_names if name != "FRACTION"]
    parts = dict(zip(names, numbers, strict=True))
    months = parts.get("YEAR", 0) * 12 + parts.get("MONTH", 0)
    seconds = (parts.get("DAY", 0) * 24 + parts.get("HOUR", 0)) * 60 + parts.get("MINUTE", 0)
    seconds = seconds * 60 + parts.get("SECOND", 0)
    return sign * months, sign * seconds, sign * int((fraction or "0").ljust(9, "0"))


def interval(op: PlanOp, text: str) -> pa.Array:
    """Return an array of the op's own Arrow type, or of month_day_nano if that is too small."""
    months, seconds, nanos = interval_parts(text, Qualifier.from_encoded(op.arg))
    if op.kind == Kind.INTERVAL_MONTHS:
        return pa.array([months], pa.int32() if abs(months) < 2**31 else pa.int64())
    if op.kind == Kind.INTERVAL_DURATION:
        micros = seconds * 1_000_000 + nanos // 1000
        if abs(micros) < 2**63:
            return pa.array([micros], pa.int64()).cast(pa.duration("us"))
    sign = -1 if seconds < 0 or nanos < 0 else 1
    days, rest = divmod(abs(seconds), 86400)
    nano = pa.MonthDayNano([months, sign * days, sign * (rest * 10**9 + abs(nanos))])
    return pa.array([nano], pa.month_day_nano_interval())


def arrow_value(op: PlanOp, value: object) -> pa.Array:
    kind = arrow_type_of_op(op)
    if value is None:
        return pa.nulls(1, kind)
    if isinstance(value, dict):  # a locator, or the descriptor of a large object
        if "locator_hex" in value:
            return pa.array([str(value["locator_hex"]).encode()], kind)
        return pa.array([bytes(16) + int(value["size"]).to_bytes(4, "big") + bytes(36)], kind)
    if isinstance(value, str) and op.kind in (
        Kind.INTERVAL_MONTHS,
        Kind.INTERVAL_DURATION,
        Kind.INTERVAL_MDN,
    ):
        return interval(op, value)
    if isinstance(value, str) and pa.types.is_time(kind):  # Arrow has no cast from text to time
        whole, _, fraction = value.partition(".")
        micros = int(fraction.ljust(6, "0"))
        return pa.array([dt.time.fromisoformat(whole).replace(microsecond=micros)], kind)
    if isinstance(value, str) and not pa.types.is_string(kind):
        return pa.array([value]).cast(kind)
    return pa.array([value], kind)


def options_of(vector: dict[str, Any]) -> dict[str, TypeOptions]:
    """Return all options with which the column can be read. Each yields the same value as another Arrow type."""
    options = {"default": TypeOptions()}
    value = vector["value"]
    if vector["type"] in (TypeCode.DECIMAL, TypeCode.MONEY):
        options["string"] = TypeOptions(floating_decimals="string")
        if len(str(value).replace(".", "").strip("-0")) <= 15:
            options["float64"] = TypeOptions(decimals="float64")
        if value is None or float(value) == 0 or 1e-6 <= abs(float(value)) <= 1e30:
            options["decimal128"] = TypeOptions(floating_decimals=pa.decimal128(38, 6))
        if value is None or abs(float(value)) < 2**63:
            options["int64"] = TypeOptions(integer_aggregates=True)
    if vector["type"] == TypeCode.INTERVAL:
        months = interval_parts(str(value or "0"), column_type(vector).qualifier)[0] if value else 0
        if abs(months) < 2**31:
            options["month_day_nano"] = TypeOptions(intervals="month_day_nano")
    return options


def cases() -> list[Any]:
    found = []
    for number, vector in enumerate(VECTORS):
        seen = set()
        for name, option in options_of(vector).items():
            op = plan_op(column_type(vector), option)
            if op in seen:
                continue
            seen.add(op)
            value = str(vector["value"])[:12]
            found.append(pytest.param(op, vector, id=f"{number}-{vector['name']}-{name}-{value}"))
    return found


CASES = cases()


def test_every_vector_is_a_case() -> None:
    assert {id(case.values[1]) for case in CASES} == {id(vector) for vector in VECTORS}


@parametrize_in_one_test(("op", "vector"), CASES)
def test_a_known_value_has_the_known_bytes(op: PlanOp, vector: dict[str, Any]) -> None:
    value = vector["value"]
    column = arrow_value(op, value)
    if op.kind == Kind.OPAQUE and isinstance(value, dict):  # a locator is transferred as hexadecimal text
        assert vector["tuple_hex"] == "0000000090" + str(value["locator_hex"]).encode().hex()
    assert payload(op, column).hex() == vector["tuple_hex"]


@parametrize_in_one_test(
    ("op", "vector"),
    [case for case in CASES if case.values[1]["bind_hex"] and case.values[0].kind != Kind.LOB],
)
def test_a_known_value_has_the_known_bytes_as_a_parameter(op: PlanOp, vector: dict[str, Any]) -> None:
    """The precision word of a floating-point DECIMAL that is read as decimal128 is guessed from its width."""
    got = bound(op, arrow_value(op, vector["value"])).hex()
    wanted = vector["bind_hex"]
    if op.kind == Kind.DECIMAL128 and op.arg >> 8 == 38:
        assert got[:8] + got[12:] == wanted[:8] + wanted[12:]
    else:
        assert got == wanted


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["type"] in (11, 12)], ids=lambda v: v["name"])
def test_a_large_object_is_bound_as_its_content(vector: dict[str, Any]) -> None:
    """SQLI section 14: the descriptor has only the size, and the content follows all parameters."""
    op = plan_op(column_type(vector))
    op = PlanOp(op.kind, op.width, vector["type"], op.flags)
    if vector["value"] is None:
        assert bound(op, pa.nulls(1, pa.binary())).hex() == vector["bind_hex"]
        return
    content = b"0123456789abc"[: vector["value"]["size"]]
    chunks = f"00290001{'0027'}{len(content):04x}{content.hex()}00{'0027'}0000"
    assert bound(op, pa.array([content], pa.binary())).hex() == vector["bind_hex"] + chunks


@parametrize_in_one_test("vector", VECTORS, ids=lambda v: v["name"])
def test_arrows_null_type_is_null_for_every_type(vector: dict[str, Any]) -> None:
    """The expected bytes are from a vector of the same width if there is one."""
    nulls = [v for v in VECTORS if v["null"] and v["type"] == vector["type"]]
    op = plan_op(column_type(vector))
    got = payload(op, pa.nulls(1))
    for known in nulls:
        if known["encoded_length"] == vector["encoded_length"]:
            assert got.hex() == known["tuple_hex"]
    assert got == payload(op, arrow_value(op, None))
    assert bound(op, pa.nulls(1)).hex() == "0000ffff0000"


def test_a_boolean_is_one_or_zero_where_the_client_asked_for_the_binary_form() -> None:
    """JDBC section 5, SQ_RETTYPE 45: 1 is true, anything else, also 't', false. A parameter remains a text."""
    op = plan_op(ColumnType.boolean(), bool_binary=True)
    assert payload(op, pa.array([True])).hex() == "000000000101"
    assert payload(op, pa.array([False])).hex() == "000000000100"
    assert payload(op, pa.array([None], pa.bool_())).hex() == "0100000000"
    assert bound(op, pa.array([True])).hex() == "00000000000000017400"
