"""Informix's column types that SQLAlchemy lacks, and conversions of values for those that it has."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from sqlalchemy import types as sqltypes
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.sql import sqltypes as base
from sqlalchemy.sql.type_api import NativeForEmulated

from ..rows.documents import bson_decoder
from ..wire import bson
from ..wire.datetimes import datetime_fields, format_datetime
from ..wire.intervals import DAY9_TO_FRACTION5, interval_of
from ..wire.qualifiers import Qualifier

__all__ = [
    "BIGSERIAL",
    "BSON",
    "BYTE",
    "COLSPECS",
    "DATETIME",
    "INT8",
    "INTERVAL",
    "LVARCHAR",
    "MONEY",
    "SERIAL",
    "SERIAL8",
    "SMALLFLOAT",
    "TIME",
    "DeclaredType",
]

Process = Callable[[Any], Any]

DATETIME_QUALIFIER = "YEAR TO FRACTION(5)"
TIME_QUALIFIER = "HOUR TO FRACTION(5)"
INTERVAL_QUALIFIER = "DAY(9) TO FRACTION(5)"
_YEAR_TO_DAY = Qualifier.parse("YEAR TO DAY")


class SERIAL(sqltypes.Integer):
    """A self-numbering INTEGER.

    Parameters
    ----------
    start
        The first number; None (default) is 1.
    """

    __visit_name__ = "SERIAL"

    def __init__(self, start: int | None = None) -> None:
        super().__init__()
        self.start = start


class BIGSERIAL(sqltypes.BigInteger):
    """A self-numbering BIGINT. ``start`` is as in :class:`SERIAL`."""

    __visit_name__ = "BIGSERIAL"

    def __init__(self, start: int | None = None) -> None:
        super().__init__()
        self.start = start


class SERIAL8(BIGSERIAL):
    """The older form of BIGSERIAL."""

    __visit_name__ = "SERIAL8"


class INT8(sqltypes.BigInteger):
    """The older form of BIGINT."""

    __visit_name__ = "INT8"


class SMALLFLOAT(sqltypes.REAL[Any]):
    """A floating-point number of four bytes, Informix's name for REAL."""

    __visit_name__ = "SMALLFLOAT"


class MONEY(sqltypes.Numeric[Any]):
    """A DECIMAL that the server prints with a currency. Values are Decimals. MONEY(16,2) by default."""

    __visit_name__ = "MONEY"

    def __init__(self, precision: int | None = None, scale: int | None = None) -> None:
        super().__init__(precision, scale)


class LVARCHAR(sqltypes.String):
    """Text of up to 32,739 bytes; 2048 by default. The length counts bytes."""

    __visit_name__ = "LVARCHAR"


class BYTE(sqltypes.LargeBinary):
    """A simple large object of bytes."""

    __visit_name__ = "BYTE"


class _Json(sqltypes.JSON):
    """JSON. A column holds no JSON text ``null``, only objects and arrays: None is always NULL."""

    def bind_processor(self, dialect: Dialect) -> Process | None:
        write = super().bind_processor(dialect)
        assert write is not None
        return lambda value: None if value is None or value is self.NULL else write(value)


class BSON(sqltypes.TypeEngine[Any]):
    """A BSON document as a dict. Reading needs pymongo's ``bson`` (extra ``[bson]``). Bytes are written unchanged."""

    __visit_name__ = "BSON"

    def bind_processor(self, dialect: Dialect) -> Process | None:
        return lambda value: bson.encode(value) if isinstance(value, Mapping) else value

    def result_processor(self, dialect: Dialect, coltype: object) -> Process | None:
        decode = bson_decoder()
        return lambda value: None if value is None else decode(value)


class DeclaredType(sqltypes.UserDefinedType[Any]):
    """A type that SQLAlchemy lacks, such as ``SET(INTEGER NOT NULL)`` or a named ROW, by its declaration.

    Values have the same types as in a cursor's rows.
    """

    cache_ok = True

    def __init__(self, declaration: str) -> None:
        self.declaration = declaration

    def get_col_spec(self, **kw: Any) -> str:
        """Return the declaration."""
        return self.declaration


class DATETIME(sqltypes.DATETIME):
    """DATETIME with a qualifier: ``DATETIME("YEAR TO MINUTE")``. Values without a year are times, or text.

    A value with more digits than the qualifier holds is an error.
    """

    __visit_name__ = "INFORMIX_DATETIME"

    def __init__(self, qualifier: str = DATETIME_QUALIFIER) -> None:
        super().__init__()
        self.qualifier = qualifier

    def literal_processor(self, dialect: Dialect) -> Process | None:
        """Return literals such as ``DATETIME (2026-01-31 10:00) YEAR TO MINUTE``."""
        return lambda value: f"DATETIME ({datetime_text(value, self.qualifier)}) {self.qualifier}"

    @property
    def python_type(self) -> type[Any]:
        """The type of values: datetime, or time for qualifiers that begin with the hour or later."""
        return dt.datetime if self.qualifier.startswith(("YEAR", "MONTH", "DAY")) else dt.time


class TIME(sqltypes.TIME):
    """A DATETIME without a date: ``TIME("HOUR TO MINUTE")``.

    A value with more digits than the qualifier holds is an error.
    """

    __visit_name__ = "INFORMIX_TIME"

    def __init__(self, qualifier: str = TIME_QUALIFIER) -> None:
        super().__init__()
        self.qualifier = qualifier

    def literal_processor(self, dialect: Dialect) -> Process | None:
        """Return literals such as ``DATETIME (23:59) HOUR TO MINUTE``."""
        return lambda value: f"DATETIME ({datetime_text(value, self.qualifier)}) {self.qualifier}"


class INTERVAL(NativeForEmulated, base._AbstractInterval):
    """INTERVAL with a qualifier: timedelta for ``DAY TO SECOND`` and its like, whole months for ``YEAR TO MONTH``.

    SQLAlchemy's Interval becomes DAY(9) TO FRACTION(5).
    """

    __visit_name__ = "INFORMIX_INTERVAL"

    def __init__(self, qualifier: str = INTERVAL_QUALIFIER) -> None:
        self.qualifier = qualifier

    @classmethod
    def adapt_emulated_to_native(cls, impl: Any, **kw: Any) -> INTERVAL:
        """Return the type for SQLAlchemy's generic Interval."""
        return cls()

    @property
    def _type_affinity(self) -> type[sqltypes.Interval]:
        return sqltypes.Interval

    def literal_processor(self, dialect: Dialect) -> Process | None:
        """Return literals such as ``INTERVAL (1 02:03:04.50000) DAY(9) TO FRACTION(5)``."""
        return lambda value: f"INTERVAL ({interval_text(value)}) {INTERVAL_QUALIFIER}"

    @property
    def python_type(self) -> type[Any]:
        """The type of values: timedelta, or int if the qualifier counts months."""
        return int if self.qualifier.startswith(("YEAR", "MONTH")) else dt.timedelta


# ---- SQLAlchemy's types in Informix --------------------------------------------------------------------------------


class _DateTime(sqltypes.DateTime):
    """DATETIME YEAR TO FRACTION(5). Microseconds are rounded to five digits, halves up."""

    def bind_processor(self, dialect: Dialect) -> Process | None:
        return five_digits

    def literal_processor(self, dialect: Dialect) -> Process | None:
        return lambda value: (
            f"DATETIME ({datetime_text(five_digits(value), DATETIME_QUALIFIER)}) {DATETIME_QUALIFIER}"
        )


class _Date(sqltypes.Date):
    def literal_processor(self, dialect: Dialect) -> Process | None:
        return _date_literal


class _Time(sqltypes.Time):
    def literal_processor(self, dialect: Dialect) -> Process | None:
        return lambda value: f"DATETIME ({datetime_text(value, TIME_QUALIFIER)}) {TIME_QUALIFIER}"


def _integral_value(value: Any) -> Any:
    """Convert a whole DECIMAL to int, because COUNT and SUM of integers are DECIMALs in Informix."""
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value


def _of_decimal(coltype: object) -> Process | None:
    return _integral_value if str(coltype).startswith("DECIMAL") else None


class _Integer(sqltypes.Integer):
    def result_processor(self, dialect: Dialect, coltype: object) -> Process | None:
        return _of_decimal(coltype)


class _SmallInteger(sqltypes.SmallInteger):
    def result_processor(self, dialect: Dialect, coltype: object) -> Process | None:
        return _of_decimal(coltype)


class _BigInteger(sqltypes.BigInteger):
    def result_processor(self, dialect: Dialect, coltype: object) -> Process | None:
        return _of_decimal(coltype)


class _Float(sqltypes.Float[Any]):
    """Floats need no conversion, except for DECIMALs in a column that is declared as Float."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Process | None:
        if not self.asdecimal and str(coltype).startswith(("FLOAT", "SMALLFLOAT")):
            return None
        process: Process | None = super().result_processor(dialect, coltype)
        return process


class _Boolean(sqltypes.Boolean):
    def literal_processor(self, dialect: Dialect) -> Process | None:
        return lambda value: "'t'" if self._strict_as_bool(value) else "'f'"


COLSPECS: dict[type[sqltypes.TypeEngine[Any]], type[sqltypes.TypeEngine[Any]]] = {
    sqltypes.Integer: _Integer,
    sqltypes.SmallInteger: _SmallInteger,
    sqltypes.BigInteger: _BigInteger,
    SERIAL: SERIAL,
    BIGSERIAL: BIGSERIAL,
    INT8: INT8,
    sqltypes.Float: _Float,
    sqltypes.Date: _Date,
    sqltypes.DateTime: _DateTime,
    DATETIME: DATETIME,
    sqltypes.Time: _Time,
    TIME: TIME,
    sqltypes.Interval: INTERVAL,
    sqltypes.Boolean: _Boolean,
    sqltypes.JSON: _Json,
}


def five_digits(value: Any) -> Any:
    """Round a datetime to ten microseconds. Other values are returned unchanged."""
    if not isinstance(value, dt.datetime) or not value.microsecond % 10:
        return value
    value += dt.timedelta(microseconds=5)
    return value.replace(microsecond=value.microsecond // 10 * 10)


def text_literal(value: str) -> str:
    """Return a text as a literal. Servers with ALLOW_NEWLINE 0, the default, refuse line breaks within quotes."""
    quoted = "'" + value.replace("'", "''") + "'"
    if "\n" not in value and "\r" not in value:
        return quoted
    for code in (10, 13):
        quoted = quoted.replace(chr(code), f"' || CHR({code}) || '")
    return f"({quoted})"


def _date_literal(value: dt.date) -> str:
    """Return a literal. Not as text, because its order of day and month depends on the session's DBDATE."""
    year, month, day = datetime_fields(value, _YEAR_TO_DAY)
    return f"MDY({month}, {day}, {year})"


def datetime_text(value: dt.datetime | dt.date | dt.time, qualifier: str) -> str:
    """Format a date, time or both for an Informix literal of this qualifier.

    Raises DataError for what a bound value is refused for: more digits than the qualifier holds, fields that the value
    does not have, a time zone.
    """
    parsed = Qualifier.parse(qualifier)
    return format_datetime(datetime_fields(value, parsed), parsed)


def interval_text(value: dt.timedelta) -> str:
    """Format a timedelta for a literal DAY TO FRACTION(5). Raises ValueError for a sixth digit."""
    if value.microseconds % 10:
        raise ValueError(f"{value!r} has six digits of a second, but INTERVAL holds five.")
    return interval_of(value, DAY9_TO_FRACTION5).text
