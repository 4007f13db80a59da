"""Messages of a few Python rows, encoded without Arrow: the same bytes as by Arrow and C, or left to them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import pytest

from informix_arrow.server.handlers.cursors import SelectCursor, TupleEncoder
from informix_arrow.server.session.prepared_plan import PythonRowsResult, SingleBatchResult
from informix_arrow.server.types.row_values import RowConverter
from informix_arrow.wire.describe import Column
from informix_arrow.wire.types import ColumnType, TypeCode

TYPES: dict[str, tuple[ColumnType, tuple[object, ...]]] = {
    "smallint": (ColumnType.smallint(), (0, 32767, -32767, None)),
    "integer": (ColumnType.integer(), (1, -(2**31) + 1, 2**31 - 1, None)),
    "bigint": (ColumnType.bigint(), (2**63 - 1, -(2**63) + 1, None)),
    "float": (ColumnType.float_(), (1.5, -0.0, 5e-324, float("-inf"), None)),
    "date": (ColumnType.date(), (dt.date(1, 1, 1), dt.date(1899, 12, 30), dt.date(9999, 12, 31), None)),
    "boolean": (ColumnType.boolean(), (True, False, None)),
    "char": (ColumnType.char(7), ("", "a", "  a\u00e4 ", "1234567", None)),
    "nchar": (ColumnType.nchar(3), ("\u00e4b", None)),
    "varchar": (ColumnType.varchar(5), ("", "a ", "\u00e4\u00f6", "12345", None)),
    "longest varchar": (ColumnType.varchar(255), ("x" * 255, "odd")),
    "lvarchar": (ColumnType.lvarchar(300), ("", "a", "\u00e4" * 150, None)),
}
ROWS = [(name, value) for name, (_, values) in TYPES.items() for value in values]
TAIL = Column("tail", ColumnType.integer())


def columns_of(name: str) -> list[Column]:
    return [Column("x", TYPES[name][0]), TAIL]


def objects_of(columns: Sequence[Column]) -> RowConverter:
    objects = RowConverter.for_columns(columns, (False,) * len(columns))
    assert objects is not None
    return objects


def by_arrow(
    columns: Sequence[Column], rows: list[tuple[object, ...]], encoding: str, wanted: dict[int, int]
) -> bytes:
    batch = objects_of(columns).to_batch(rows, encoding)
    assert batch is not None
    return bytes(SelectCursor(SingleBatchResult(columns, batch)).fetch(1 << 20, encoding, wanted))


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252"])
@pytest.mark.parametrize("name", TYPES)
def test_the_messages_are_those_that_arrow_would_give(name: str, encoding: str) -> None:
    columns = columns_of(name)
    rows: list[tuple[object, ...]] = [(value, 77) for value in TYPES[name][1]]
    for wanted in ({}, {0: int(TypeCode.BOOL)}):
        assert objects_of(columns).is_converted(rows, encoding)
        messages = TupleEncoder(columns, encoding, wanted).encode_values(rows)
        assert messages is not None
        assert b"".join(messages) == by_arrow(columns, rows, encoding, wanted)


@pytest.mark.parametrize(
    ("name", "value"),
    [("smallint", -32768), ("integer", -(2**31)), ("bigint", -(2**63)), ("varchar", "\u20ac"), ("char", "\0"),
     ("varchar", "\0"), ("lvarchar", "a\0b"), ("float", float("nan"))],
)  # fmt: skip
def test_what_is_to_be_looked_at_is_left_to_arrow(name: str, value: object) -> None:
    encoder = TupleEncoder(columns_of(name), "latin-1", {})
    assert encoder.encode_values([(None, 77), (value, 77)]) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("smallint", 32768), ("integer", 2**31), ("integer", -(2**31) - 1), ("bigint", 2**63), ("integer", True),
     ("varchar", "123456"), ("char", "12345678"), ("date", dt.datetime(2020, 1, 1)), ("float", 1)],
)  # fmt: skip
def test_a_value_that_arrow_would_not_take_is_not_plain(name: str, value: object) -> None:
    objects = objects_of(columns_of(name))
    assert not objects.is_converted([(None, 77), (value, 77)], "utf-8")
    assert objects.to_batch([(None, 77), (value, 77)], "utf-8") is None


def test_many_rows_and_other_types_are_for_arrow() -> None:
    assert not objects_of(columns_of("integer")).is_converted([(1, 77)] * 100, "utf-8")
    assert not objects_of([Column("x", ColumnType.decimal(5, 2)), TAIL]).is_converted([(None, 77)], "utf-8")


@pytest.mark.parametrize("budget", [1, 20, 45, 60, 1 << 20])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_fetch_stays_within_its_budget(budget: int, count: int) -> None:
    columns = columns_of("integer")
    rows = [(k, -k) for k in range(count)]
    objects = objects_of(columns)
    batch = objects.to_batch(rows, "utf-8")
    assert batch is not None
    plain = SelectCursor(PythonRowsResult(columns, rows, objects, "utf-8"))
    arrow = SelectCursor(SingleBatchResult(columns, batch))
    while True:
        assert plain.fetch(budget, "utf-8", {}) == arrow.fetch(budget, "utf-8", {})
        assert plain.rows == arrow.rows
        if arrow.exhausted:
            break
    assert plain.exhausted
    assert plain.rows == count


def test_those_who_want_arrow_have_the_rows_as_arrow() -> None:
    columns = columns_of("varchar")
    rows = [("a", 1), (None, 2)]
    result = PythonRowsResult(columns, rows, objects_of(columns), "utf-8")
    (batch,) = result.batches()
    assert (result.rows, batch.to_pylist()) == (2, [{"x": "a", "tail": 1}, {"x": None, "tail": 2}])


def test_a_character_that_the_code_set_lacks_is_refused_as_by_arrow() -> None:
    columns = columns_of("varchar")
    cursor = SelectCursor(PythonRowsResult(columns, [("\u20ac", 1)], objects_of(columns), "utf-8"))
    assert cursor.fetch(1 << 20, "latin-1", {}) == b""
    assert cursor.failure is not None
    assert cursor.failure.sqlcode == -23103
