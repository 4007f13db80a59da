"""Rows of Python objects in Arrow's formats: a single row is converted by other code, with the same result."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from informix_arrow.server.types.result_cast import result_type
from informix_arrow.server.types.row_values import RowConverter
from informix_arrow.wire.describe import Column
from informix_arrow.wire.types import ColumnType

VALUES: dict[str, tuple[ColumnType, tuple[object, ...]]] = {
    "integer": (ColumnType.integer(), (1, -(2**31) + 1, None)),
    "bigint": (ColumnType.bigint(), (2**63 - 1, None, 0)),
    "text": (ColumnType.lvarchar(300), ("a", "", "\u00e4\U0001f600 ", None)),
    "decimal": (ColumnType.decimal(16, 2), (Decimal("12345678901234.56"), Decimal("-0.10"), None)),
    "float": (ColumnType.float_(), (1.5, float("-inf"), None)),
    "date": (ColumnType.date(), (dt.date(1, 1, 1), dt.date(9999, 12, 31), None)),
    "boolean": (ColumnType.boolean(), (True, False, None)),
}
CASES = [(kind, value) for kind, (_, values) in VALUES.items() for value in values]


@pytest.mark.parametrize("names", [("x", "y", "tail"), ("x", "x", "tail")])
def test_one_row_is_what_it_is_among_others(names: tuple[str, ...]) -> None:
    for kind, value in CASES:
        t = VALUES[kind][0]
        columns = [Column(name, c) for name, c in zip(names, (t, t, ColumnType.integer()), strict=True)]
        objects = RowConverter.for_columns(columns, (False,) * 3)
        assert objects is not None
        one = objects.to_batch([(value, None, 77)], "utf-8")
        two = objects.to_batch([(value, None, 77), (value, value, 78)], "utf-8")
        assert one is not None
        assert two is not None
        one.validate(full=True)
        assert one.schema == two.schema == pa.schema([(c.name, result_type(c.type)) for c in columns])
        assert one.equals(two.slice(0, 1))
        assert one.column(2).to_pylist() == [77]
        assert one.column(0).to_pylist() == [value]


@pytest.mark.parametrize(
    ("kind", "value"),
    [("integer", "1"), ("integer", 2**31), ("text", 5), ("text", "x" * 301), ("date", dt.datetime(2020, 1, 1)),
     ("decimal", 1.5), ("decimal", Decimal("0.123")), ("boolean", 1), ("float", 1)],
)  # fmt: skip
def test_a_value_that_is_not_plainly_of_its_type_is_left_to_others(kind: str, value: object) -> None:
    objects = RowConverter.for_columns(
        [Column("x", VALUES[kind][0]), Column("tail", ColumnType.integer())], (False, False)
    )
    assert objects is not None
    for rows in ([(value, 77)], [(value, 77), (None, 78)]):
        assert objects.to_batch(rows, "utf-8") is None


def test_no_row_has_its_columns() -> None:
    objects = RowConverter.for_columns(
        [Column("x", ColumnType.integer()), Column("tail", ColumnType.integer())], (False, False)
    )
    assert objects is not None
    none = objects.to_batch([], "utf-8")
    assert none is not None
    assert (none.num_rows, none.schema.names) == (0, ["x", "tail"])
