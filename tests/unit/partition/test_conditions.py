"""SQL conditions that divide rows: from the catalogue's fragments, and from values between two partitions."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from informix_arrow import InterfaceError
from informix_arrow.partition.conditions import Fragment, fragments, ranges, remainders
from informix_arrow.partition.keys import PartitionKey
from informix_arrow.partition.planner import partition_request
from informix_arrow.wire.types import ColumnType


def of_strategy(strategy: str, *texts: tuple[int, str]) -> list[Fragment]:
    return [Fragment(position, strategy, text, 10 * (position + 1)) for position, text in texts]


def texts(found: list[Fragment], parts: int | None = None) -> list[str]:
    return [each.sql for each in fragments(found, parts)]


def test_a_list_or_interval_says_of_its_values_what_is_said_of_the_key() -> None:
    listed = of_strategy("L", (-3, " region "), (0, "VALUES IN ('east', 'VAL')"), (1, "VALUES IS NULL"))
    assert texts(listed) == [
        "((region) IN ('east', 'VAL')) AND CASE WHEN ((region) IN ('east', 'VAL')) THEN 0 "
        "WHEN ((region) IS NULL) THEN 1 ELSE 2 END = 0",
        "((region) IS NULL) AND CASE WHEN ((region) IN ('east', 'VAL')) THEN 0 "
        "WHEN ((region) IS NULL) THEN 1 ELSE 2 END = 1",
        "CASE WHEN ((region) IN ('east', 'VAL')) THEN 0 WHEN ((region) IS NULL) THEN 1 ELSE 2 END = 2",
    ]
    interval = of_strategy("N", (-3, "day"), (-2, "INTERVAL(1) MONTH TO MONTH"), (0, "VALUES < 100"))
    assert texts(interval)[0].startswith("((day) < 100) AND CASE WHEN ((day) < 100) THEN 0 ELSE 1 END")


def test_a_word_of_an_expression_is_left_alone() -> None:
    assert "(kind = 'VALUES')" in texts(of_strategy("E", (0, "kind = 'VALUES'"), (1, "remainder")))[0]


@pytest.mark.parametrize(
    "found",
    [
        [],
        of_strategy("R", (0, ""), (1, "")),
        of_strategy("L", (0, "VALUES IN (1)")),  # without the key column
        of_strategy("E", (0, "a < 1"), (1, "")),
        of_strategy("E", (0, "remainder")),
    ],
)
def test_fragments_that_say_nothing_of_their_rows_make_no_parts(found: list[Fragment]) -> None:
    assert fragments(found, None) == []


def test_neighbouring_fragments_share_a_part_and_their_rows_are_summed() -> None:
    found = of_strategy("E", (0, "a < 1"), (1, "a < 2"), (2, "a < 3"), (3, "remainder"))
    made = fragments(found, 2)
    assert [each.rows for each in made] == [10 + 20, 30 + 40]
    assert made[0].sql.startswith("((a < 1) OR (a < 2)) AND CASE ")
    assert made[0].sql.endswith(" END IN (0, 1)")
    assert made[1].sql.endswith(" ELSE 3 END IN (2, 3)")


def test_conditions_of_nothing_to_divide_are_none() -> None:
    assert [each.sql for each in ranges("k", [])] == [""]
    assert [each.sql for each in remainders("k", 1)] == [""]


@pytest.mark.parametrize(
    ("declared", "low", "high", "expected"),
    [
        ("INTEGER", -(2**31) + 1, 2**31 - 1, ["-1073741824", "0", "1073741824"]),
        ("BIGINT", -(2**63) + 1, 2**63 - 1, ["-4611686018427387904", "0", "4611686018427387904"]),
        ("SMALLINT", 5, 6, ["6"]),
        ("DECIMAL(32,2)", Decimal("-" + "9" * 30 + ".99"), Decimal("9" * 30 + ".99"), None),
        ("DECIMAL(5,2)", Decimal("0.00"), Decimal("0.03"), ["0.01", "0.02", "0.03"]),
        ("DATE", dt.date(1, 1, 1), dt.date(1, 1, 4), ["MDY(1, 2, 1)", "MDY(1, 3, 1)", "MDY(1, 4, 1)"]),
        (
            "DATETIME YEAR TO DAY",
            dt.date(2024, 2, 28),
            dt.date(2024, 3, 1),
            ["DATETIME (2024-02-29) YEAR TO DAY", "DATETIME (2024-03-01) YEAR TO DAY"],
        ),
        (
            "DATETIME YEAR TO FRACTION(5)",
            dt.datetime(9999, 12, 31, 23, 59, 59, 999900),
            dt.datetime(9999, 12, 31, 23, 59, 59, 999990),
            [
                "DATETIME (9999-12-31 23:59:59.99992) YEAR TO FRACTION(5)",
                "DATETIME (9999-12-31 23:59:59.99994) YEAR TO FRACTION(5)",
                "DATETIME (9999-12-31 23:59:59.99996) YEAR TO FRACTION(5)",
            ],
        ),
        (
            "DATETIME HOUR TO MINUTE",
            dt.time(0, 0),
            dt.time(0, 2),
            ["DATETIME (00:01) HOUR TO MINUTE"],
        ),
    ],
)
def test_strides_are_written_as_values_of_the_column(
    declared: str, low: Any, high: Any, expected: list[str] | None
) -> None:
    found = [cut.sql for cut in PartitionKey("k", ColumnType.parse_sql(declared)).strides(low, high, 4)]
    if expected is None:  # more digits than in Python's decimal context
        assert found == ["-500000000000000000000000000000.00", "0.00", "500000000000000000000000000000.00"]
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("declared", "good", "value"),
    [
        ("INTEGER", " -7 ", -7),
        ("INTEGER", 7.0, 7),
        ("DECIMAL(8,2)", "7.25", Decimal("7.25")),
        ("DATE", "2026-01-31", dt.date(2026, 1, 31)),
        ("DATE", dt.datetime(2026, 1, 31), dt.date(2026, 1, 31)),
        ("DATETIME YEAR TO SECOND", "2026-01-31 10:00:00", dt.datetime(2026, 1, 31, 10)),
        ("DATETIME YEAR TO SECOND", dt.date(2026, 1, 31), dt.datetime(2026, 1, 31)),
        ("DATETIME HOUR TO SECOND", "10:00:01", dt.time(10, 0, 1)),
    ],
)
def test_bounds_may_be_texts(declared: str, good: object, value: object) -> None:
    assert PartitionKey("k", ColumnType.parse_sql(declared)).parse(good) == value


@pytest.mark.parametrize(
    ("declared", "bad"),
    [
        ("INTEGER", "seven"),
        ("INTEGER", 7.5),
        ("INTEGER", True),
        ("INTEGER", None),
        ("INTEGER", float("inf")),
        ("DECIMAL(8,2)", "NaN"),
        ("DATE", "31.01.2026"),
        ("DATE", dt.datetime(2026, 1, 31, 1)),
        ("DATETIME YEAR TO SECOND", dt.datetime(2026, 1, 31, tzinfo=dt.timezone.utc)),
        ("DATETIME HOUR TO SECOND", 5),
        ("VARCHAR(20)", "a"),
    ],
)
def test_a_bound_that_is_no_value_of_the_column_is_refused(declared: str, bad: object) -> None:
    with pytest.raises(InterfaceError, match=r"partition_range: .* for the column k"):
        PartitionKey("k", ColumnType.parse_sql(declared)).parse(bad)


@pytest.mark.parametrize(
    "declared",
    [
        "FLOAT",
        "DECIMAL(16)",
        "BYTE",
        "BOOLEAN",
        "DATETIME MONTH TO DAY",
        "DATETIME YEAR TO MONTH",
        "INTERVAL DAY TO DAY",
    ],
)
def test_a_column_that_cannot_be_divided_says_so(declared: str) -> None:
    with pytest.raises(InterfaceError, match=r"The column k is .*, which cannot be divided"):
        PartitionKey("k", ColumnType.parse_sql(declared))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("t", (), {"by": "hash"}), "by must be one of"),
        (("t", (), {"partition_num": 0}), "partition_num must be"),
        (("t", (), {"partition_num": True}), "partition_num must be"),
        (("t", (), {"partition_on": ""}), "partition_on must be"),
        (("t", (), {"by": "rowid", "partition_on": "a"}), "does not divide by a column"),
        (("t", (), {"partition_range": (1, 2)}), "partition_range needs partition_on"),
        (("t", (), {"partition_range": "12", "partition_on": "a"}), "a lowest and a highest"),
        (("SELECT a FROM t", (), {"by": "rowid"}), "this is a query"),
        (("", (), {}), "neither a table name nor a query"),
        (("t", (1,), {}), "A table takes no parameters"),
        (("DELETE FROM t", (), {}), "neither a table name nor a query"),
        (("SELECT a FROM t; DELETE FROM t", (), {}), "Several statements"),
        (("SELECT FIRST 5 a FROM t", (), {}), "can return other rows each time"),
        (("SELECT a FROM t LIMIT 5", (), {}), "can return other rows each time"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_sent(arguments: Any, match: str) -> None:
    text, values, options = arguments
    with pytest.raises(InterfaceError, match=match):
        partition_request(text, values, **options)


def test_a_column_may_be_called_first() -> None:
    assert partition_request("SELECT first, a FROM t;").text == "(SELECT first, a FROM t\n) AS ifx_part"
