"""INTERVAL of every qualifier is encoded like by the Python reference, exactly, or refused by row and column."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import parametrize_in_one_test
from tests.stress import examples
from tests.unit.native.encoder_support import bound, loaded, payload

from informix_arrow.wire.datetimes import IntervalValue, pack_interval, unpack_interval
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError
from informix_arrow.wire.plan_ops import Kind, PlanOp, TypeOptions, plan_op
from informix_arrow.wire.qualifiers import Qualifier
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import decode_tuple

FIELDS = ["DAY", "HOUR", "MINUTE", "SECOND", *(f"FRACTION({n})" for n in range(1, 6))]
MDN = pa.month_day_nano_interval()
UNITS = {"DAY": 86400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}
NANOS = TypeOptions(intervals="month_day_nano")


def interval(text: str) -> Qualifier:
    return Qualifier.parse(text, interval=True)


MONTH_QUALIFIERS = [
    interval(f"{start}({leading}) TO {end}")
    for start, end in [("YEAR", "YEAR"), ("YEAR", "MONTH"), ("MONTH", "MONTH")]
    for leading in range(1, 10)
]
DAY_QUALIFIERS = [
    interval(f"{FIELDS[start]}({leading}) TO {end}")
    for start in range(4)
    for end in FIELDS[start:]
    for leading in range(1, 10)
] + [interval(f"FRACTION TO FRACTION({n})") for n in range(1, 6)]


def op_of(qualifier: Qualifier, options: TypeOptions | None = None) -> PlanOp:
    return plan_op(ColumnType(14, qualifier.encoded), options or TypeOptions())


def refused(op: PlanOp, column: pa.Array) -> str:
    with pytest.raises(DataError) as info:
        payload(op, column)
    assert (info.value.row, info.value.column) == (0, "c")
    return str(info.value)


def moment(months: int, days: int, nanos: int) -> pa.Array:
    return pa.array([pa.MonthDayNano([months, days, nanos])], MDN)


def largest(qualifier: Qualifier) -> tuple[int, int]:
    """Return seconds and nanoseconds of the largest value of the day class."""
    names = [name for name in qualifier.field_names if name != "FRACTION"]
    fraction = 10**9 - 10 ** (9 - qualifier.fraction_digits) if qualifier.fraction_digits else 0
    if not names:
        return 0, fraction
    unit, last = UNITS[names[0]], UNITS[names[-1]]
    return (10**qualifier.leading - 1) * unit + unit - last, fraction


def fields_of(qualifier: Qualifier, seconds: int, nanos: int) -> tuple[int, ...]:
    """Return the fields as the reference computes them: by division, from the first field to the last."""
    fields = []
    for name in qualifier.field_names:
        if name == "FRACTION":
            fields.append(nanos // 10 ** (9 - qualifier.fraction_digits))
        else:
            amount, seconds = divmod(seconds, UNITS[name])
            fields.append(amount)
    return tuple(fields)


def durations(seconds: int, nanos: int) -> list[pa.Array]:
    """Return the same duration in every Arrow type that holds it exactly."""
    total = seconds * 10**9 + (nanos if seconds >= 0 else -nanos)
    found = []
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1)):
        if total % size == 0 and abs(total // size) < 2**63:
            found.append(pa.array([total // size], pa.int64()).cast(pa.duration(unit)))
    days, rest = divmod(abs(total), 86400 * 10**9)
    sign = -1 if total < 0 else 1
    if days < 2**31:
        found.append(moment(0, sign * days, sign * rest))
    return found


@parametrize_in_one_test("qualifier", DAY_QUALIFIERS, ids=lambda q: q.interval_sql)
def test_the_largest_the_smallest_and_zero_fit_every_qualifier_of_days(qualifier: Qualifier) -> None:
    op = op_of(qualifier)
    seconds, nanos = largest(qualifier)
    last_unit = 10 ** (9 - qualifier.fraction_digits) if qualifier.fraction_digits else None
    smallest = (0, last_unit) if last_unit else (UNITS[qualifier.field_names[-1]], 0)
    for value in ((seconds, nanos), smallest, (0, 0)):
        for negative in (False, True):
            wanted = pack_interval(
                IntervalValue(qualifier, negative and any(value), fields_of(qualifier, *value))
            )
            assert len(wanted) == qualifier.width
            signed = (-value[0], value[1]) if negative else value
            if negative and value[0] == 0:  # zero seconds have no sign
                signed = (0, -value[1])
            arrays = durations(*signed)
            assert arrays, value
            for array in arrays:
                assert payload(op, array) == wanted, array.type


@parametrize_in_one_test("qualifier", DAY_QUALIFIERS, ids=lambda q: q.interval_sql)
def test_one_more_than_the_largest_and_parts_below_the_last_field_are_refused(qualifier: Qualifier) -> None:
    op = op_of(qualifier)
    seconds, _ = largest(qualifier)
    step = 10 ** (9 - qualifier.fraction_digits) if qualifier.fraction_digits else 0
    too_large = (seconds + UNITS[qualifier.field_names[-1]], 0) if not step else (seconds + 1, 0)
    for array in durations(*too_large):
        assert f"more digits than INTERVAL {qualifier.interval_sql} can store" in refused(op, array)
    for sign in (1, -1):
        for array in durations(sign, 0) if qualifier.end < 10 else [moment(0, 0, sign * (step // 10 or 1))]:
            assert f"more precision than INTERVAL {qualifier.interval_sql} can store" in refused(op, array)


@parametrize_in_one_test("qualifier", MONTH_QUALIFIERS, ids=lambda q: q.interval_sql)
def test_months_fit_every_qualifier_of_years_and_months(qualifier: Qualifier) -> None:
    op = op_of(qualifier)
    years = 10**qualifier.leading - 1
    whole_years = qualifier.end == 0
    largest_value = years if qualifier.start == 2 else years * 12 + (0 if whole_years else 11)
    step = 12 if whole_years else 1
    for months in (largest_value, -largest_value, 0, step, -step):
        amount = abs(months)
        fields = (amount,) if qualifier.start == 2 else (amount // 12, amount % 12)[: 1 if whole_years else 2]
        wanted = pack_interval(IntervalValue(qualifier, months < 0, fields))
        types = [pa.int64()] + [pa.int32(), MDN] * (amount < 2**31) + [pa.int8()] * (amount < 128)
        types += [pa.uint64()] * (months >= 0)
        for kind in types:
            array = moment(months, 0, 0) if kind == MDN else pa.array([months], kind)
            assert payload(op, array) == wanted, kind
    text = f"more digits than INTERVAL {qualifier.interval_sql} can store"
    for months in (
        largest_value + step,
        -largest_value - step,
        2**63 - 4 if not whole_years else 12 * 10**17,
    ):
        assert text in refused(op, pa.array([months], pa.int64()))
    if whole_years:
        assert "more precision than" in refused(op, pa.array([13], pa.int32()))
        assert "more precision than" in refused(op, pa.array([-1], pa.int32()))


def test_the_other_class_is_refused_and_named() -> None:
    years, days = interval("YEAR(4) TO MONTH"), interval("DAY(3) TO SECOND")
    for options in (TypeOptions(), NANOS):
        for value in ((0, 1, 0), (1, 1, 0), (1, 0, 1), (0, 0, -1)):
            text = refused(op_of(years, options), moment(*value))
            assert text.endswith(
                "has days or nanoseconds, but INTERVAL YEAR(4) TO MONTH stores only years and months."
            )
        text = refused(op_of(days, options), moment(1, 5, 0))
        assert text.endswith("has months, but INTERVAL DAY(3) TO SECOND stores only days and times.")


def test_days_and_nanoseconds_of_different_signs_add_up() -> None:
    """A day of an INTERVAL is always 24 hours: 1 day less 1 hour is 23 hours."""
    op = op_of(interval("DAY(3) TO FRACTION(5)"))
    hour = 3600 * 10**9
    assert payload(op, moment(0, 1, -hour)) == payload(op, moment(0, 0, 23 * hour))
    assert payload(op, moment(0, -1, hour)) == payload(op, moment(0, 0, -23 * hour))
    assert payload(op, moment(0, -1, 24 * hour)).hex() == "800000000000000000"
    assert payload(op, moment(0, 1, -24 * hour + 10_000)) == payload(op, moment(0, 0, 10_000))
    assert payload(op, moment(0, 0, 50 * hour)) == payload(op, moment(0, 2, 2 * hour))


def test_the_ends_of_the_arrow_types_are_taken_or_refused_without_overflow() -> None:
    widest = op_of(interval("DAY(9) TO FRACTION(5)"))
    for unit in ("s", "ms"):
        for ticks in (2**63 - 1, -(2**63)):
            text = refused(widest, pa.array([ticks], pa.int64()).cast(pa.duration(unit)))
            assert "more digits" in text
    for unit in ("us", "ns"):
        for ticks in (2**63 - 1, -(2**63)):
            text = refused(widest, pa.array([ticks], pa.int64()).cast(pa.duration(unit)))
            assert "more precision than" in text
    for days in (2**31 - 1, -(2**31)):
        for nanos in (922337203685477 * 10_000, -922337203685477 * 10_000, 0):
            assert "more digits" in refused(widest, moment(0, days, nanos))
        assert "more precision than" in refused(widest, moment(0, days, -(2**63)))
    months = op_of(interval("MONTH(9) TO MONTH"))
    for value in (2**31 - 1, -(2**31)):
        assert "more digits" in refused(months, moment(value, 0, 0))
        assert "more digits" in refused(months, pa.array([value], pa.int32()))


@pytest.mark.parametrize("kind", [Kind.INTERVAL_MONTHS, Kind.INTERVAL_DURATION, Kind.INTERVAL_MDN])
def test_null_is_zeros_in_a_tuple(kind: Kind) -> None:
    text = "YEAR(4) TO MONTH" if kind == Kind.INTERVAL_MONTHS else "DAY(3) TO FRACTION(3)"
    op = op_of(interval(text), NANOS if kind == Kind.INTERVAL_MDN else None)
    assert op.kind == kind
    for arrow in (MDN, pa.null()):
        assert payload(op, pa.nulls(1, arrow)) == bytes(op.width)
        assert bound(op, pa.nulls(1, arrow)).hex() == "0000ffff0000"


@pytest.mark.parametrize(
    ("text", "arrow"),
    [
        ("YEAR TO MONTH", pa.duration("s")),
        ("YEAR TO MONTH", pa.float64()),
        ("YEAR TO MONTH", pa.utf8()),
        ("DAY TO SECOND", pa.int64()),
        ("DAY TO SECOND", pa.time64("us")),
        ("DAY TO SECOND", pa.timestamp("us")),
    ],
)
def test_an_arrow_type_that_is_no_interval_of_the_class_is_refused(text: str, arrow: pa.DataType) -> None:
    qualifier = interval(text)
    batch = pa.record_batch([pa.nulls(2, arrow)], ["c"])
    for options in (TypeOptions(), NANOS):
        with pytest.raises(
            ValueError, match=r"cannot be stored in INTERVAL .* month_day_nano_interval. Cast it first."
        ):
            loaded(batch, [op_of(qualifier, options)])


@st.composite
def spans(draw: st.DrawFn) -> tuple[Qualifier, int, int, bool]:
    qualifier = draw(st.sampled_from(DAY_QUALIFIERS))
    seconds, nanos = largest(qualifier)
    names = [name for name in qualifier.field_names if name != "FRACTION"]
    unit = UNITS[names[-1]] if names else 1
    step = 10 ** (9 - qualifier.fraction_digits) if qualifier.fraction_digits else 1
    amount = draw(st.integers(0, seconds // unit)) * unit
    return qualifier, amount, draw(st.integers(0, nanos // step)) * step, draw(st.booleans())


@settings(max_examples=examples(60), deadline=None)
@given(spans())
def test_spans_read_back_equal_in_tuples_and_parameters(case: tuple[Qualifier, int, int, bool]) -> None:
    qualifier, seconds, nanos, negative = case
    total = (seconds * 10**9 + nanos) * (-1 if negative else 1)
    days, rest = divmod(abs(total), 86400 * 10**9)
    array = moment(0, -days if negative else days, -rest if negative else rest)
    op = op_of(qualifier, NANOS)
    data = payload(op, array)
    value = unpack_interval(data, qualifier)
    assert value is not None
    assert value == IntervalValue(qualifier, total < 0, fields_of(qualifier, seconds, nanos))
    column = Column("c", ColumnType(14, qualifier.encoded))
    decoded: Any = decode_tuple(data, [column], "utf-8", NANOS)[0]
    assert decoded == array.to_pylist()[0]
    record = bound(op, array)
    head = b"\0\x0e\0\0" + qualifier.encoded.to_bytes(2, "big") + len(data).to_bytes(2, "big")
    assert record == head + data + b"\0" * (len(data) % 2)
    if abs(total) < 2**62:
        span = pa.array([dt.timedelta(microseconds=total // 1000)], pa.duration("us"))
        assert payload(op_of(qualifier), span) == data
