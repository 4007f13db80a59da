"""Key columns: which types can be divided, where to cut, and how a cut is written in a statement."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from ..wire.datetimes import format_datetime
from ..wire.errors import InterfaceError
from ..wire.qualifiers import Field, Qualifier
from ..wire.types import ColumnType, TypeCode

INTEGERS = frozenset(
    {
        TypeCode.SMALLINT,
        TypeCode.INTEGER,
        TypeCode.SERIAL,
        TypeCode.INT8,
        TypeCode.SERIAL8,
        TypeCode.BIGINT,
        TypeCode.BIGSERIAL,
    }
)
_CHARACTERS = frozenset({TypeCode.CHAR, TypeCode.NCHAR, TypeCode.VARCHAR, TypeCode.NVARCHAR})
_EPOCH = dt.datetime(1, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)
_DIGITS = Context(prec=400)  # more than any DECIMAL or any realistic bound has


@dataclass(frozen=True, slots=True)
class CutPoint:
    """A value between two parts, as SQL, and as the value of its ``?`` if it has one."""

    sql: str
    parameters: tuple[object, ...] = ()


class PartitionKey:
    """A column by whose values a table can be divided. Raises ``InterfaceError`` for a column of another type.

    Parameters
    ----------
    name
        The column, for errors.
    type
        Its type.
    """

    def __init__(self, name: str, type: ColumnType) -> None:
        self.name = name
        self.type = type
        self.kind = kind_of(type)
        if not self.kind:
            raise InterfaceError(
                f"The column {name} is {type.sql}, which cannot be divided. Use integers, SERIAL, DATE, "
                "DATETIME, DECIMAL with a scale or character columns."
            )

    @property
    def has_strides(self) -> bool:
        """True if values have distances. Text has none."""
        return self.kind != "text"

    @property
    def is_integer(self) -> bool:
        """True if MOD can be applied."""
        return self.kind == "integer" or (self.kind == "decimal" and self.type.scale == 0)

    def parse(self, value: object) -> Any:
        """Parse a bound, also from text. Raises ``InterfaceError`` if it is not a value of this column."""
        try:
            bound = _PARSERS[self.kind](value)
        except (ArithmeticError, KeyError, TypeError, ValueError):
            bound = None
        if bound is None:
            raise InterfaceError(
                f"partition_range: {value!r} is not {_EXPECTED[self.kind]} for the column {self.name} "
                f"({self.type.sql})."
            )
        return bound

    def strides(self, low: Any, high: Any, parts: int) -> list[CutPoint]:
        """Return at most ``parts - 1`` cuts at equal distances from ``low`` to ``high``, both included."""
        first, last = self._number(low), self._number(high)
        width = last - first + 1
        return self.cuts([self._value(first + width * at // parts) for at in range(1, parts)], low)

    def largest_share(self, sample: Sequence[Any], low: Any, high: Any, parts: int) -> float:
        """Return the share of a sample that falls into the fullest of ``parts`` strides."""
        first, last = self._number(low), self._number(high)
        width = last - first + 1
        counts = [0] * parts
        for value in sample:
            at = (self._number(value) - first) * parts // width
            counts[min(max(at, 0), parts - 1)] += 1
        return max(counts) / len(sample)

    def cuts(self, values: Sequence[Any], low: Any = None) -> list[CutPoint]:
        """Return cuts at these values, which are in the server's order, without duplicates and the lowest value."""
        points: list[CutPoint] = []
        before = None if low is None else self._cut(low)
        for value in values:
            cut = self._cut(value)
            if cut != before:
                points.append(cut)
            before = cut
        return points

    def _cut(self, value: Any) -> CutPoint:
        if self.kind == "text":
            return CutPoint("?", (value,))
        return CutPoint(_LITERALS[self.kind](value, self.type))

    def _number(self, value: Any) -> int:
        if self.kind == "date":
            return int(value.toordinal())
        if self.kind == "datetime":
            return int((value - _EPOCH) // _MICROSECOND)
        if self.kind == "time":
            return (dt.datetime.combine(_EPOCH, value) - _EPOCH) // _MICROSECOND
        if self.kind == "decimal":
            return int(Decimal(value).scaleb(self.type.scale or 0, _DIGITS))
        return int(value)

    def _value(self, number: int) -> Any:
        if self.kind == "date":
            return dt.date.fromordinal(number)
        if self.kind == "datetime":
            return _EPOCH + number * _MICROSECOND
        if self.kind == "time":
            return (_EPOCH + number * _MICROSECOND).time()
        if self.kind == "decimal":
            return Decimal(number).scaleb(-(self.type.scale or 0), _DIGITS)
        return number


def kind_of(type: ColumnType) -> str:
    """Return ``integer``, ``decimal``, ``date``, ``datetime``, ``time`` or ``text``, or "" for other types."""
    if type.source is not None:
        return ""  # values of a DISTINCT type compare only with values of the same type
    code = type.code
    if code in INTEGERS:
        return "integer"
    if code in (TypeCode.DECIMAL, TypeCode.MONEY):
        return "decimal" if type.scale is not None else ""
    if code == TypeCode.DATE:
        return "date"
    if code in _CHARACTERS or type.is_lvarchar:
        return "text"
    qualifier = type.qualifier if code == TypeCode.DATETIME else None
    if qualifier is not None and qualifier.start == Field.YEAR and qualifier.end >= Field.DAY:
        return "date" if qualifier.end == Field.DAY else "datetime"
    if qualifier is not None and qualifier.start == Field.HOUR and qualifier.end >= Field.MINUTE:
        return "time"
    return ""


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value)
    number = Decimal(value) if isinstance(value, float) else value
    integer = int(number)  # type: ignore[call-overload]
    return integer if integer == number else None


def _decimal(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    number = Decimal(value)
    return number if number.is_finite() else None


def _date(value: object) -> dt.date | None:
    if isinstance(value, str):
        return dt.date.fromisoformat(value.strip())
    if isinstance(value, dt.datetime):
        return value.date() if value == dt.datetime.combine(value.date(), dt.time()) else None
    return value if isinstance(value, dt.date) else None


def _datetime(value: object) -> dt.datetime | None:
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value.strip())
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    return value if isinstance(value, dt.datetime) and value.tzinfo is None else None


def _time(value: object) -> dt.time | None:
    if isinstance(value, str):
        value = dt.time.fromisoformat(value.strip())
    return value if isinstance(value, dt.time) and value.tzinfo is None else None


def _text(value: object) -> str | None:
    return None


_PARSERS = {
    "integer": _integer,
    "decimal": _decimal,
    "date": _date,
    "datetime": _datetime,
    "time": _time,
    "text": _text,
}
_EXPECTED = {
    "integer": "a whole number",
    "decimal": "a number",
    "date": "a date (such as 2026-01-31)",
    "datetime": "a timestamp without a time zone (such as 2026-01-31 12:00:00)",
    "time": "a time without a time zone (such as 12:30:00)",
    "text": "distance: texts have no strides, leave partition_range out",
}


def _plain_literal(value: Any, type: ColumnType) -> str:
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _date_literal(value: dt.date, type: ColumnType) -> str:
    if type.qualifier is not None:
        return _datetime_literal(dt.datetime.combine(value, dt.time()), type)
    return f"MDY({value.month}, {value.day}, {value.year})"  # a form that does not depend on DBDATE


def _time_literal(value: dt.time, type: ColumnType) -> str:
    return _datetime_literal(dt.datetime.combine(_EPOCH, value), type)


def _datetime_literal(value: dt.datetime, type: ColumnType) -> str:
    """Return a literal with the column's own qualifier, so that the comparison extends nothing.

    Finer fields are omitted.
    """
    qualifier = type.qualifier
    assert qualifier is not None
    return f"DATETIME ({_fields(value, qualifier)}) {qualifier.sql}"


def _fields(value: dt.datetime, qualifier: Qualifier) -> str:
    unit = 10 ** (6 - qualifier.fraction_digits)
    fields = [
        value.microsecond // unit if name == "FRACTION" else getattr(value, name.lower())
        for name in qualifier.field_names
    ]
    return format_datetime(fields, qualifier)


_LITERALS = {
    "integer": _plain_literal,
    "decimal": _plain_literal,
    "date": _date_literal,
    "datetime": _datetime_literal,
    "time": _time_literal,
}
