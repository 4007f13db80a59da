"""Conversion of date, time and interval parameters to fields, storage units and texts."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...wire.datetimes import DatetimeValue, IntervalValue
from ...wire.qualifiers import Qualifier
from ..errors import SqlError
from . import intervals

DAY = Qualifier.parse("YEAR TO DAY")
FRACTION5 = Qualifier.parse("YEAR TO FRACTION(5)")


def modulo(array: Any, unit: int) -> Any:
    """Return array mod unit, never negative: times before 1970 are rounded down, too."""
    rest = pc.subtract(array, pc.multiply(pc.divide(array, unit), unit))  # integer division truncates
    return pc.if_else(pc.less(rest, 0), pc.add(rest, unit), rest)


_ANY_MONTHS = Qualifier.parse("YEAR(9) TO MONTH", interval=True)
_ANY_SPAN = Qualifier.parse("DAY(9) TO FRACTION(5)", interval=True)


def interval_units(value: object) -> tuple[int, Qualifier]:
    """Return an interval parameter in storage units, and its qualifier. Raises -1260 for anything else."""
    if isinstance(value, IntervalValue):
        return intervals.units_of(value), value.qualifier
    if isinstance(value, pa.MonthDayNano):
        months, days, nanos = value
        if months and (days or nanos):
            raise SqlError(intervals.INCOMPATIBLE)
        if months:
            return months, _ANY_MONTHS
        return days * intervals.DAY + (nanos // 10_000 if nanos >= 0 else -(-nanos // 10_000)), _ANY_SPAN
    if isinstance(value, dt.timedelta):
        micros = value // dt.timedelta(microseconds=1)
        return (micros // 10 if micros >= 0 else -(-micros // 10)), _ANY_SPAN
    raise SqlError(-1260)


def datetime_value_fields(value: DatetimeValue) -> dict[str, int]:
    fields = {
        name: part
        for name, part in zip(value.qualifier.field_names, value.fields, strict=True)
        if name != "FRACTION"
    }
    fields["MICRO"] = value.microsecond
    return fields


def date_text(value: dt.date, dbdate: str = "") -> str:
    """Format a DATE in the order of DBDATE, MDY4/ if it is not set."""
    order = (dbdate or "MDY4/").upper()
    last = order[-1]
    separator = last if last in "/-." else ("" if last == "0" else "/")
    year = f"{value.year % 100:02d}" if "2" in order else f"{value.year:04d}"
    pieces = {"M": f"{value.month:02d}", "D": f"{value.day:02d}", "Y": year}
    return separator.join(pieces[c] for c in order if c in pieces)
