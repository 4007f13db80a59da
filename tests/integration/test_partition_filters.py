"""Translation of an engine's filters to SQL conditions: a condition is true for every row that the engine wants."""

from __future__ import annotations

import datetime as dt
import itertools
import operator
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

import informix_arrow as ifx
from informix_arrow.partition import filters
from informix_arrow.partition.conditions import Condition
from informix_arrow.partition.partition import Partition
from informix_arrow.server import Server
from informix_arrow.wire.types import ColumnType

_numbers = itertools.count(1)
COLUMNS = {
    "i": "INTEGER", "s": "SMALLINT", "b": "BIGINT", "e": "INT8", "n": "DECIMAL(12,2)", "m": "MONEY(10,2)",
    "c": "CHAR(5)", "v": "VARCHAR(20)", "nv": "NVARCHAR(20)", "lv": "LVARCHAR(300)", "d": "DATE",
    "ts": "DATETIME YEAR TO SECOND", "tf": "DATETIME YEAR TO FRACTION(5)", "td": "DATETIME YEAR TO MINUTE",
    "o": "BOOLEAN", "f": "FLOAT", "de": "DECIMAL(8)", "hm": "DATETIME HOUR TO MINUTE",
}  # fmt: skip
T = dt.datetime
ROWS: list[dict[str, Any]] = [
    {
        "i": 7, "s": -7, "b": 2**40, "e": -5, "n": Decimal("1.50"), "m": Decimal("3.10"), "c": "ab", "v": "ab ",
        "nv": "éa", "lv": "", "d": dt.date(2026, 1, 31), "ts": T(2026, 1, 31, 12, 34, 56),
        "tf": T(2026, 1, 31, 12, 34, 56, 123450), "td": T(2026, 1, 31, 12, 34), "o": True, "f": 1.5,
        "de": Decimal("0.1"), "hm": dt.time(12, 34),
    },
    {},
    {
        "i": -2147483647, "s": 0, "b": -(2**63) + 1, "e": 2**62, "n": Decimal("-0.01"), "m": Decimal("0"), "c": "",
        "v": "a%b\nc", "nv": "A", "lv": "ab" * 100, "d": dt.date(1, 1, 1), "ts": T(1900, 1, 1),
        "tf": T(9999, 12, 31, 23, 59, 59, 999990), "td": T(1, 1, 1), "o": False, "f": -0.0, "de": Decimal("1e9"),
        "hm": dt.time(0, 0),
    },
    {"v": "ab\nc", "c": "ab cd", "nv": "é", "lv": "ab", "i": 8, "n": Decimal("1.51"), "tf": T(2026, 1, 31, 12, 34, 56)},
]  # fmt: skip
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@pytest.fixture(scope="module")
def conn(server: Server) -> Iterator[ifx.Connection]:
    name = f"filters_{next(_numbers)}"
    server.create_database(name)
    with ifx.connect(server.url(name), autocommit=True) as connection:
        declared = ", ".join(f"{column} {kind}" for column, kind in COLUMNS.items())
        connection.execute(f"CREATE TABLE t (k INT, {declared}, after INT)")
        for number, row in enumerate(ROWS):
            names = ["k", *row, "after"]
            marks = ", ".join("?" * len(names))
            values = (number, *row.values(), 7)
            connection.execute(f"INSERT INTO t ({', '.join(names)}) VALUES ({marks})", values)
        yield connection
    server.drop_database(name)


@pytest.fixture(scope="module")
def types(conn: ifx.Connection) -> dict[str, ColumnType]:
    with conn.query("SELECT * FROM t") as result:
        return filters.by_name(result.columns)


@pytest.fixture(scope="module")
def stored(conn: ifx.Connection) -> list[dict[str, Any]]:
    return conn.read_arrow("SELECT * FROM t ORDER BY k").to_pylist()


def found(conn: ifx.Connection, *conditions: Condition) -> set[int]:
    part = filters.with_conditions(
        Partition(0, "SELECT k, after FROM t WHERE k >= ?", (0,), "k >= ?"), conditions
    )
    rows = conn.read_arrow(part.sql, part.parameters).to_pylist()
    assert all(row["after"] == 7 for row in rows)
    return {row["k"] for row in rows}


def test_rows_that_an_engine_wants_are_never_kept_back(
    conn: ifx.Connection, types: dict[str, ColumnType], stored: list[dict[str, Any]]
) -> None:
    said = 0
    for column in COLUMNS:
        values = {row[column] for row in stored} - {None} | {row.get(column) for row in ROWS} - {None}
        conditions: list[tuple[Condition | None, Callable[[Any], bool]]] = []
        for value in values:
            for name, compare in OPERATORS.items():
                wanted = lambda x, c=compare, v=value: c(x, v)  # noqa: E731
                conditions.append((filters.comparison(types[column], column, name, value), wanted))
            conditions.append(
                (filters.in_list(types[column], column, [None, value]), lambda x, v=value: x == v)
            )
            if isinstance(value, str):
                for length in (1, 2, 3):
                    start = value[:length]
                    wanted = lambda x, s=start: x.startswith(s)  # noqa: E731
                    conditions.append((filters.starts_with(types[column], column, start), wanted))
        exact = column not in ("c", "v", "nv", "lv")
        for condition, meant in conditions:
            if condition is not None:
                said += 1
                expected = {row["k"] for row in stored if row[column] is not None and meant(row[column])}
                got = found(conn, condition)
                assert expected <= got, (column, condition)
                assert got == expected or not exact, (column, condition)
                assert got <= {row["k"] for row in stored if row[column] is not None}
        for wanted_null in (True, False):
            condition = filters.is_null_condition(types[column], column, wanted=wanted_null)
            assert condition is not None
            expected = {row["k"] for row in stored if (row[column] is None) == wanted_null}
            assert found(conn, condition) == expected
    assert said > 120
    both = [filters.comparison(types["i"], "i", ">", 0), filters.starts_with(types["c"], "c", "ab")]
    assert found(conn, *[each for each in both if each]) == {0, 3}
    assert found(conn) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("i", 2**31), ("i", -(2**31)), ("i", True), ("i", "7"), ("i", 7.0), ("s", 2**15), ("b", -(2**63)),
        ("n", Decimal("1.505")), ("n", Decimal("1e10")), ("n", Decimal("NaN")), ("n", 1.5), ("de", Decimal("0.1")),
        ("f", 1.5), ("f", float("nan")), ("v", ""), ("v", "a\0"), ("v", "a\ufffd"), ("v", "x" * 8001), ("v", 7),
        ("d", dt.datetime(2026, 1, 31)), ("ts", dt.datetime(2026, 1, 31, 12, 34, 56, 10)), ("o", 1),
        ("tf", dt.datetime(2026, 1, 31, 12, 34, 56, 123456)), ("td", dt.datetime(2026, 1, 31, 12, 34, 1)),
        ("ts", dt.datetime(2026, 1, 31, tzinfo=dt.timezone.utc)), ("hm", dt.time(12, 34)),
        ("hm", dt.datetime(2026, 1, 31, 12, 34)), ("ts", dt.date(2026, 1, 31)),
    ],
)  # fmt: skip
def test_what_the_column_cannot_hold_exactly_is_not_said(
    types: dict[str, ColumnType], column: str, value: object
) -> None:
    for name in OPERATORS:
        assert filters.comparison(types[column], column, name, value) is None
    assert filters.in_list(types[column], column, [value]) is None


def test_what_has_another_order_or_wildcards_is_not_said(types: dict[str, ColumnType]) -> None:
    assert filters.comparison(types["v"], "v", "<", "a") is None
    assert filters.comparison(types["o"], "o", ">", True) is None
    assert filters.comparison(types["i"], "i", "<>", 1) is None
    for start in ("a%", "a_", "a\\", ""):
        assert filters.starts_with(types["v"], "v", start) is None
    assert filters.starts_with(types["i"], "i", "7") is None
    assert filters.in_list(types["i"], "i", [None]) is None
    assert filters.in_list(types["i"], "i", list(range(filters.MOST_VALUES + 1))) is None


def test_types_with_other_nulls_or_two_columns_of_a_name_are_left_alone(conn: ifx.Connection) -> None:
    conn.execute("CREATE TABLE u (te TEXT, li LIST(INTEGER NOT NULL), after INT)")
    with conn.query("SELECT te, li, after, after AS twice, te AS twice FROM u") as result:
        types = filters.by_name(result.columns)
    assert list(types) == ["te", "li", "after"]
    assert filters.is_null_condition(types["te"], "te", wanted=True) is None
    assert filters.is_null_condition(types["li"], "li", wanted=False) is None
    assert filters.comparison(types["te"], "te", "=", "a") is None
