"""Every known column encoding comes out of the C encoder byte for byte (tests/vectors/types.json)."""

from __future__ import annotations

import json
from datetime import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from informix_arrow.wire.errors import NotSupportedError
from informix_arrow.wire.types import ColumnType, PlanOp, TypeCode, TypeOptions, arrow_type_of_op, plan_op

from .encoding import payload

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "types.json").read_text(encoding="utf-8"))

# Types that no codec handles yet; plan_op refuses them by name. Everything else has to match, without
# exceptions: the vectors show CHAR values with trailing blanks removed, and the encoder puts the blanks back;
# their DATETIMEs and DECIMALs are in the normalised form, which is the one the encoder writes.
NOT_YET = {TypeCode.INTERVAL, TypeCode.BYTE, TypeCode.TEXT, 19, 20, 21, 22}


def column_type(vector: dict[str, Any]) -> ColumnType:
    return ColumnType(
        vector["type"],
        vector["encoded_length"],
        extended_id=vector.get("extended_id", 0),
        extended_name=vector.get("extended_name", ""),
    )


def supported(vector: dict[str, Any]) -> bool:
    return vector["type"] not in NOT_YET and vector.get("extended_name") not in ("blob", "clob")


def arrow_value(op: PlanOp, value: object) -> pa.Array:
    kind = arrow_type_of_op(op)
    if value is None:
        return pa.nulls(1, kind)
    if isinstance(value, str) and pa.types.is_time(kind):  # Arrow has no cast from text to time
        whole, _, fraction = value.partition(".")
        micros = int(fraction.ljust(6, "0"))
        return pa.array([time.fromisoformat(whole).replace(microsecond=micros)], kind)
    if isinstance(value, str) and not pa.types.is_string(kind):
        return pa.array([value]).cast(kind)
    return pa.array([value], kind)


def cases() -> list[Any]:
    found = []
    for number, vector in enumerate(VECTORS):
        if not supported(vector):
            continue
        options = {"default": TypeOptions()}
        if vector["type"] in (TypeCode.DECIMAL, TypeCode.MONEY):
            options["string"] = TypeOptions(floating_decimals="string")
            significant = str(vector["value"]).replace(".", "").strip("-0")
            if len(significant) <= 15:
                options["float64"] = TypeOptions(decimals="float64")
            options["decimal128"] = TypeOptions(floating_decimals=pa.decimal128(38, 6))
        seen = set()
        for name, option in options.items():
            op = plan_op(column_type(vector), option)
            if op in seen or (name == "decimal128" and abs(float(vector["value"] or 0)) > 1e30):
                continue
            if name == "decimal128" and vector["value"] and 0 < abs(float(vector["value"])) < 1e-6:
                continue
            seen.add(op)
            value = str(vector["value"])[:12]
            found.append(pytest.param(op, vector, id=f"{number}-{vector['name']}-{name}-{value}"))
    return found


@pytest.mark.parametrize(("op", "vector"), cases())
def test_a_known_value_has_the_known_bytes(op: PlanOp, vector: dict[str, Any]) -> None:
    assert payload(op, arrow_value(op, vector["value"])).hex() == vector["tuple_hex"]


@pytest.mark.parametrize("vector", [v for v in VECTORS if supported(v)], ids=lambda v: v["name"])
def test_arrows_null_type_is_null_for_every_type(vector: dict[str, Any]) -> None:
    """The NULL of each type, taken from a vector of the same width where there is one."""
    nulls = [v for v in VECTORS if v["null"] and v["type"] == vector["type"]]
    op = plan_op(column_type(vector))
    got = payload(op, pa.nulls(1))
    for known in nulls:
        if known["encoded_length"] == vector["encoded_length"]:
            assert got.hex() == known["tuple_hex"]
    assert got == payload(op, arrow_value(op, None))


@pytest.mark.parametrize("vector", [v for v in VECTORS if not supported(v)], ids=lambda v: v["name"])
def test_a_type_without_a_codec_is_refused_by_name(vector: dict[str, Any]) -> None:
    with pytest.raises(NotSupportedError, match="column 'c'"):
        plan_op(column_type(vector), column="c")


def test_a_boolean_is_one_or_zero_where_the_client_asked_for_the_binary_form() -> None:
    """JDBC section 5, SQ_RETTYPE 45: 1 is true, anything else, also 't', false."""
    op = plan_op(ColumnType.boolean(), bool_binary=True)
    assert payload(op, pa.array([True])).hex() == "000000000101"
    assert payload(op, pa.array([False])).hex() == "000000000100"
    assert payload(op, pa.array([None], pa.bool_())).hex() == "0100000000"
