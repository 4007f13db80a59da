"""INTERVAL values: years and months, texts, and conversions to Python's types (TYPES section 7)."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test

from informix_arrow.wire.datetimes import IntervalValue, pack_interval, unpack_interval
from informix_arrow.wire.errors import DataError
from informix_arrow.wire.intervals import (
    YearMonthInterval,
    interval_of,
    parse_interval,
    to_month_day_nano,
    to_timedelta,
)
from informix_arrow.wire.qualifiers import Qualifier

FIELDS = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "FRACTION"]


def every_qualifier() -> list[Qualifier]:
    """Return all qualifiers of INTERVALs, each with every leading precision."""
    found = []
    for i, start in enumerate(FIELDS):
        ends = FIELDS[i:2] if i < 2 else [*FIELDS[i:6], *(f"FRACTION({n})" for n in range(1, 6))]
        for end in ends:
            for digits in range(1, 10) if start != "FRACTION" else [0]:
                leading = f"({digits})" if digits else ""
                found.append(Qualifier.parse(f"{start}{leading} TO {end}", interval=True))
    return found


QUALIFIERS = every_qualifier()


def test_every_qualifier_of_an_interval_is_there() -> None:
    assert len(QUALIFIERS) == (2 + 1) * 9 + (9 + 8 + 7 + 6) * 9 + 5
    assert all(qualifier.is_interval for qualifier in QUALIFIERS)


@parametrize_in_one_test("qualifier", QUALIFIERS, ids=lambda q: q.interval_sql)
def test_smallest_largest_and_zero_of_every_qualifier_survive_bytes_text_and_python(
    qualifier: Qualifier,
) -> None:
    names = qualifier.field_names
    tops = {"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}
    largest = [tops.get(name, 10**qualifier.fraction_digits - 1) for name in names]
    if names[0] != "FRACTION":
        largest[0] = 10**qualifier.leading - 1
    smallest = [0] * (len(names) - 1) + [1]
    for fields in (largest, smallest, [0] * len(names)):
        for negative in (False, True) if any(fields) else (False,):
            value = IntervalValue(qualifier, negative, tuple(fields))
            for normalise in (True, False):
                data = pack_interval(value, normalise=normalise)
                assert len(data) == qualifier.width
                assert unpack_interval(data, qualifier) == value
            assert parse_interval(value.text, qualifier) == value
            assert interval_of(to_month_day_nano(value) if _fits(value) else value, qualifier) == value
            if value.microseconds is not None and abs(value.microseconds) < 2**63:
                assert interval_of(to_timedelta(value), qualifier) == value


def _fits(value: IntervalValue) -> bool:
    return value.months is None or abs(value.months) < 2**31


@pytest.mark.parametrize(
    ("text", "total", "years", "months", "shown"),
    [
        ("5-03", 63, 5, 3, "5-03"),
        ("-5-03", -63, -5, -3, "-5-03"),
        ("0-00", 0, 0, 0, "0-00"),
        ("-0-11", -11, 0, -11, "-0-11"),
        ("  12-1 ", 145, 12, 1, "12-01"),
        ("999999999-11", 11_999_999_999, 999_999_999, 11, "999999999-11"),
    ],
)
def test_years_and_months_from_text(text: str, total: int, years: int, months: int, shown: str) -> None:
    value = YearMonthInterval(text)
    assert value == YearMonthInterval(total)
    assert (value.total_months, value.years, value.months, str(value)) == (total, years, months, shown)
    assert repr(value) == f"YearMonthInterval('{shown}')"
    assert value.years * 12 + value.months == total


def test_years_and_months_are_frozen_ordered_and_hashable() -> None:
    values = [YearMonthInterval(months) for months in (5, -1, 0)]
    assert [value.total_months for value in sorted(values)] == [-1, 0, 5]
    assert len({YearMonthInterval(12), YearMonthInterval("1-00")}) == 1
    with pytest.raises(AttributeError):
        values[0].total_months = 7  # type: ignore[misc]


@pytest.mark.parametrize("text", ["", "5", "5-12", "5-", "-", "5 03", "1000000000-00", "5-003", "a-b"])
def test_what_is_no_interval_of_years_and_months_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        YearMonthInterval(text)


@pytest.mark.parametrize("value", [1.5, None, True, dt.timedelta(1)])
def test_other_types_are_no_months(value: object) -> None:
    with pytest.raises(TypeError, match="int or a text"):
        YearMonthInterval(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sql", "text", "fields"),
    [
        ("DAY(3) TO FRACTION(5)", "-3 03:27:01.12345", (3, 3, 27, 1, 12345)),
        ("DAY(3) TO FRACTION(5)", "  -  3   03:27:01.1 ", (3, 3, 27, 1, 10000)),
        ("DAY(3) TO FRACTION(5)", "+3 3:7:1", (3, 3, 7, 1, 0)),
        ("FRACTION TO FRACTION(3)", "-.5", (500,)),
        ("SECOND(2) TO FRACTION(1)", "1.5", (1, 5)),
        ("HOUR(4) TO SECOND", "1234:05:06", (1234, 5, 6)),
        ("MONTH(3) TO MONTH", "-120", (120,)),
    ],
)
def test_literals_are_read_with_blanks_and_short_fractions(
    sql: str, text: str, fields: tuple[int, ...]
) -> None:
    qualifier = Qualifier.parse(sql, interval=True)
    assert parse_interval(text, qualifier) == IntervalValue(qualifier, "-" in text, fields)


def test_a_negative_zero_is_zero() -> None:
    qualifier = Qualifier.parse("DAY TO SECOND", interval=True)
    assert not parse_interval("-0 00:00:00", qualifier).negative
    assert not interval_of(dt.timedelta(0), qualifier).negative


@pytest.mark.parametrize(
    ("sql", "value", "message"),
    [
        ("DAY TO SECOND", "1 24:00:00", "HOUR is 24, but must be at most 23"),
        ("DAY TO SECOND", "1 00:00:00.5", "is not an INTERVAL"),
        ("DAY(2) TO SECOND", dt.timedelta(100), "DAY is 100, but must be at most 99"),
        ("HOUR(2) TO MINUTE", dt.timedelta(hours=100), "HOUR is 100, but must be at most 99"),
        (
            "DAY TO SECOND",
            dt.timedelta(microseconds=500_000),
            "more precision than INTERVAL DAY(2) TO SECOND",
        ),
        ("DAY TO FRACTION(5)", dt.timedelta(microseconds=1), "more precision than"),
        ("DAY TO FRACTION(5)", pa.MonthDayNano([0, 0, 1]), "more precision than"),
        ("FRACTION TO FRACTION(3)", dt.timedelta(seconds=1), "FRACTION is 1000, but must be at most 999"),
        ("DAY TO SECOND", pa.MonthDayNano([1, 0, 0]), "A value of type MonthDayNano cannot be stored"),
        ("DAY TO SECOND", YearMonthInterval(1), "A value of type YearMonthInterval cannot be stored"),
        ("DAY TO SECOND", 5, "A value of type int cannot be stored"),
        ("YEAR TO MONTH", dt.timedelta(1), "A value of type timedelta cannot be stored"),
        ("YEAR TO MONTH", pa.MonthDayNano([0, 1, 0]), "A value of type MonthDayNano cannot be stored"),
        ("YEAR TO MONTH", pa.MonthDayNano([1, 1, 0]), "months and days"),
        ("YEAR TO MONTH", True, "A value of type bool cannot be stored"),
        ("YEAR(4) TO MONTH", 120_000, "YEAR is 10000, but must be at most 9999"),
        ("YEAR TO YEAR", 13, "not whole years"),
        ("MONTH(2) TO MONTH", 100, "MONTH is 100, but must be at most 99"),
    ],
)
def test_what_its_qualifier_cannot_hold_is_refused_by_name(sql: str, value: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        interval_of(value, Qualifier.parse(sql, interval=True))
    assert message in str(caught.value)
