"""Conversions between INTERVAL values, Python objects and texts (TYPES section 7).

Intervals of years and months are one class, those of days to fractions the other, and they never mix. Python has
``timedelta`` for the second. For the first there is :class:`YearMonthInterval`, and plain ints of months if the
column's type is known.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from .datetimes import IntervalValue
from .errors import DataError, unfit_value
from .qualifiers import FRACTION_START, Field, Qualifier

_DAY_NANOS = 86_400_000_000_000
_UNITS = {"DAY": 86_400_000_000, "HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}  # us
_LIMITS = {"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}  # maximum of a field that is not the first
_MICROSECONDS = 1 << 63
_INT32 = 1 << 31

YEAR9_TO_MONTH = Qualifier.parse("YEAR(9) TO MONTH", interval=True)
"""The widest qualifier of the first class: parameters go out in it."""
DAY9_TO_FRACTION5 = Qualifier.parse("DAY(9) TO FRACTION(5)", interval=True)
"""The widest qualifier of the second class: parameters go out in it."""


@dataclass(frozen=True, order=True, init=False, slots=True)
class YearMonthInterval:
    """A number of years and months, as a parameter for INTERVAL YEAR TO MONTH.

    Parameters
    ----------
    months
        Signed months in all (``63`` is five years and three months), or Informix's text ``"5-03"``, ``"-5-03"``.

    Raises
    ------
    DataError
        The text is invalid.
    TypeError
        The argument is neither an int nor a str.
    """

    total_months: int

    def __init__(self, months: int | str) -> None:
        if isinstance(months, str):
            total = parse_interval(months, YEAR9_TO_MONTH).months
        elif isinstance(months, int) and not isinstance(months, bool):
            total = int(months)
        else:
            raise TypeError(f"months must be an int or a text such as '5-03', not {type(months).__name__}.")
        object.__setattr__(self, "total_months", total)

    @property
    def years(self) -> int:
        """Whole years, with the interval's sign."""
        years = abs(self.total_months) // 12
        return -years if self.total_months < 0 else years

    @property
    def months(self) -> int:
        """Months beyond the whole years, with the interval's sign."""
        months = abs(self.total_months) % 12
        return -months if self.total_months < 0 else months

    def __str__(self) -> str:
        sign = "-" if self.total_months < 0 else ""
        return f"{sign}{abs(self.years)}-{abs(self.months):02d}"

    def __repr__(self) -> str:
        return f"YearMonthInterval('{self}')"


@lru_cache(maxsize=512)
def _literal(qualifier: Qualifier) -> re.Pattern[str]:
    pattern = r"([-+])?\s*"
    for index, name in enumerate(qualifier.field_names):
        if name == "FRACTION":
            optional = "" if index == 0 else "?"
            pattern += rf"(?:\.(\d{{1,{qualifier.fraction_digits}}})){optional}"
        else:
            separator = (
                {"MONTH": "-", "HOUR": r"\s+", "MINUTE": ":", "SECOND": ":"}.get(name, "") if index else ""
            )
            digits = qualifier.leading if index == 0 else 2
            zeros = "" if index else "0*"
            pattern += rf"{separator}{zeros}(\d{{1,{digits}}})"
    return re.compile(pattern)


def parse_interval(text: str, qualifier: Qualifier) -> IntervalValue:
    """Parse Informix's literal: ``5-03``, ``-3 04:05:06.7``. The fraction may be shorter than the qualifier's.

    Raises ``DataError`` for text that does not fit.
    """
    match = _literal(qualifier).fullmatch(text.strip())
    if match is None:
        raise unfit_value(text, f"is not an INTERVAL {qualifier.interval_sql}.")
    sign, *values = match.groups()
    if qualifier.has_seconds_fraction:
        values[-1] = (values[-1] or "").ljust(qualifier.fraction_digits, "0")
    fields = check_interval([int(value) for value in values], qualifier)
    return IntervalValue(qualifier, sign == "-" and any(fields), fields)


def check_interval(fields: list[int] | tuple[int, ...], qualifier: Qualifier) -> tuple[int, ...]:
    """Return the fields if each is in its range. Raises ``DataError`` for the first that is not.

    The first field may have as many digits as declared. The others must be below the value that carries over.
    """
    if fields[0] >= 10**qualifier.leading:
        raise DataError(
            f"INTERVAL {qualifier.interval_sql}: {qualifier.field_names[0]} is {fields[0]}, "
            f"which has more than {qualifier.leading} digits."
        )
    for name, value in list(zip(qualifier.field_names, fields, strict=True))[1:]:
        if value > _LIMITS.get(name, value):
            raise DataError(
                f"INTERVAL {qualifier.interval_sql}: {name} is {value}, but must be at most {_LIMITS[name]}."
            )
    return tuple(fields)


def interval_of(value: object, qualifier: Qualifier) -> IntervalValue:
    """Convert a Python object to an INTERVAL with this qualifier, exactly.

    Years and months take int months, YearMonthInterval and ``pa.MonthDayNano`` with months only. Days to fractions
    take timedelta and ``pa.MonthDayNano`` without months. Both take IntervalValue of the same class and literal
    text.

    Raises ``DataError`` for another type, for parts finer than the last field and for more digits than the first
    has.
    """
    if isinstance(value, str):
        return parse_interval(value, qualifier)
    if qualifier.is_year_month:
        return _of_months(_months(value, qualifier), qualifier)
    return _of_nanoseconds(_nanoseconds(value, qualifier), qualifier)


def month_day_nano(months: int, days: int, nanoseconds: int) -> Any:
    """Return a ``pa.MonthDayNano``."""
    return pa.MonthDayNano([months, days, nanoseconds])


def to_months(value: IntervalValue) -> int:
    """Return the months in all as an int32. Raises ``DataError`` if they are out of its range."""
    months = value.months
    assert months is not None
    if not -_INT32 <= months < _INT32:
        raise DataError(
            f"INTERVAL {value.qualifier.interval_sql} {value.text} has more months than fit in int32."
        )
    return months


def to_timedelta(value: IntervalValue) -> dt.timedelta:
    """Return a timedelta in the range of duration[us], up to 106,751,991 days. Raises ``DataError`` beyond."""
    microseconds = value.microseconds
    assert microseconds is not None
    if not -_MICROSECONDS <= microseconds < _MICROSECONDS:
        raise DataError(
            f"INTERVAL {value.qualifier.interval_sql} {value.text} does not fit in duration[us]. "
            'Read it with intervals="month_day_nano".'
        )
    return dt.timedelta(microseconds=microseconds)


def to_month_day_nano(value: IntervalValue) -> Any:
    """Return a ``pa.MonthDayNano`` with months only, or with days and nanoseconds of less than a day of the same
    sign."""
    if value.qualifier.is_year_month:
        return month_day_nano(to_months(value), 0, 0)
    microseconds = value.microseconds
    assert microseconds is not None
    days, rest = divmod(abs(microseconds), 86_400_000_000)
    sign = -1 if microseconds < 0 else 1
    return month_day_nano(0, sign * days, sign * rest * 1000)


def is_month_day_nano(value: object) -> bool:
    """Return whether a value is a ``pa.MonthDayNano``."""
    return isinstance(value, pa.MonthDayNano)


def split_month_day_nano(value: Any) -> tuple[int, int]:
    """Return the months, and the nanoseconds including days. Raises ``DataError`` if both are set."""
    months, nanoseconds = int(value.months), int(value.days) * _DAY_NANOS + int(value.nanoseconds)
    if months and nanoseconds:
        raise DataError(f"{value} has both months and days, but an INTERVAL stores only one of them.")
    return months, nanoseconds


def _conversion_error(value: object, qualifier: Qualifier) -> DataError:
    return DataError(
        f"A value of type {type(value).__name__} cannot be stored in INTERVAL {qualifier.interval_sql}."
    )


def _months(value: object, qualifier: Qualifier) -> int:
    if isinstance(value, YearMonthInterval):
        return value.total_months
    if isinstance(value, IntervalValue) and value.months is not None:
        return value.months
    if is_month_day_nano(value):
        months, nanoseconds = split_month_day_nano(value)
        if not nanoseconds:
            return months
    elif isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    raise _conversion_error(value, qualifier)


def _nanoseconds(value: object, qualifier: Qualifier) -> int:
    if isinstance(value, dt.timedelta):
        return microseconds_of(value) * 1000
    if isinstance(value, IntervalValue) and value.microseconds is not None:
        return value.microseconds * 1000
    if is_month_day_nano(value):
        months, nanoseconds = split_month_day_nano(value)
        if not months:
            return nanoseconds
    raise _conversion_error(value, qualifier)


def microseconds_of(value: dt.timedelta) -> int:
    """Return a timedelta in microseconds, exactly. Raises ``DataError`` for nanoseconds of a pandas Timedelta."""
    if getattr(value, "nanoseconds", 0):
        raise DataError(
            f"{value} has nanoseconds, but INTERVAL stores five digits of a second. Round it first, or use "
            "inexact='round' or inexact='truncate'."
        )
    return (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds


def _of_months(total: int, qualifier: Qualifier) -> IntervalValue:
    amount = abs(total)
    if qualifier.start == Field.MONTH:
        fields: tuple[int, ...] = (amount,)
    elif qualifier.end == Field.MONTH:
        fields = divmod(amount, 12)
    elif amount % 12:
        raise DataError(
            f"{total} months are not whole years, but INTERVAL {qualifier.interval_sql} stores only years."
        )
    else:
        fields = (amount // 12,)
    return _checked_interval(total < 0, fields, qualifier)


def _of_nanoseconds(total: int, qualifier: Qualifier) -> IntervalValue:
    rest = abs(total)
    fields: list[int] = []
    for name in qualifier.field_names:
        unit = _UNITS[name] * 1000 if name in _UNITS else 10 ** (9 - qualifier.fraction_digits)
        amount, rest = divmod(rest, unit)
        fields.append(amount)
    if rest:
        raise DataError(
            f"{total // 1000 / 1e6} seconds have more precision than INTERVAL {qualifier.interval_sql} can store. "
            "Round them first."
        )
    return _checked_interval(total < 0, tuple(fields), qualifier)


def _checked_interval(negative: bool, fields: tuple[int, ...], qualifier: Qualifier) -> IntervalValue:
    digits = qualifier.fraction_digits if qualifier.start == FRACTION_START else qualifier.leading
    if fields[0] >= 10**digits:
        name = qualifier.field_names[0]
        raise DataError(
            f"INTERVAL {qualifier.interval_sql}: {name} is {fields[0]}, but must be at most {10**digits - 1}."
        )
    return IntervalValue(qualifier, negative, fields)
