"""Parse and format the members of collections and ROWs in literals (TYPES section 11)."""

from __future__ import annotations

import datetime as dt
import math
import numbers
import re
from decimal import Decimal
from typing import Any

from .datetimes import DatetimeValue, datetime_fields, format_datetime, parse_datetime
from .decimals import decimal_of, fit_decimal
from .errors import DataError
from .intervals import interval_of, parse_interval, to_month_day_nano, to_months, to_timedelta
from .plan_ops import FLAG_TRIM, Kind, PlanOp, TypeOptions
from .qualifiers import Qualifier
from .type_codes import FLAG_NOT_NULL, TypeCode
from .types import ColumnType

_INTEGER = re.compile(r"[-+]?\d+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_DATE = re.compile(r"(\d{1,4})-(\d{1,2})-(\d{1,2})")
_BITS = {Kind.INT16: 16, Kind.INT32: 32, Kind.INT64: 64, Kind.INT8: 64}
_FLOATS = (Kind.FLOAT32, Kind.FLOAT64)
_DATETIMES = (
    Kind.DATETIME_DATE32,
    Kind.DATETIME_TIMESTAMP,
    Kind.DATETIME_TIME32,
    Kind.DATETIME_TIME64,
    Kind.DATETIME_TEXT,
)


def parse_value(
    text: str, ct: ColumnType, op: PlanOp, options: TypeOptions, *, quoted: bool, qualifier: str
) -> object:
    """Parse the text of one member to the Python object that a column of its type returns.

    ``quoted`` is True if the text was in quotes, which are removed. ``qualifier`` is what followed ``DATETIME
    (..)`` or ``INTERVAL (..)``, with that word in front, else "". Raises ``DataError`` for a text that is no value
    of the type.
    """
    kind = op.kind
    if qualifier:
        _same_qualifier(qualifier, ct)
    if kind in (Kind.CHAR, Kind.VARCHAR, Kind.LVARCHAR):
        if not quoted:
            raise DataError(f"A value of type {ct.sql} must be in quotes.")
        return text.rstrip(" ") if op.flags & FLAG_TRIM else text
    text = text.strip()
    if kind in _BITS:
        if _INTEGER.fullmatch(text) is None:
            raise DataError(f"{text!r} is not a valid {ct.sql}.")
        return _in_range(int(text), ct, _BITS[kind])
    if kind in _FLOATS:
        return float(_number(text, ct))
    if kind == Kind.BOOL:
        return _boolean(text)
    if kind == Kind.DATE:
        return _date(text)
    if kind in _DATETIMES:
        datetime_qualifier = Qualifier.from_encoded(op.arg)
        return DatetimeValue(datetime_qualifier, parse_datetime(text, datetime_qualifier)).natural()
    if kind in (Kind.INTERVAL_MONTHS, Kind.INTERVAL_DURATION, Kind.INTERVAL_MDN):
        interval = parse_interval(text, Qualifier.from_encoded(op.arg))
        if kind == Kind.INTERVAL_MDN:
            return to_month_day_nano(interval)
        return to_months(interval) if kind == Kind.INTERVAL_MONTHS else to_timedelta(interval)
    return _decimal(text, ct, op)


def _same_qualifier(text: str, ct: ColumnType) -> None:
    """Check that a moment's own qualifier is that of its column. Nothing is converted here."""
    try:
        own = ColumnType.parse_sql(text)
    except ValueError as e:
        raise DataError(str(e)) from None
    if (own.code, own.encoded_length) != (ct.code, ct.encoded_length):
        raise DataError(f"The value is {own.sql}, but the declared type is {ct.sql}.")


def _in_range(value: int, ct: ColumnType, bits: int) -> int:
    if abs(value) >= 1 << (bits - 1):  # the most negative value means NULL
        raise DataError(f"{value} is outside the range of {ct.sql}.")
    return value


def _number(text: str, ct: ColumnType) -> str:
    if ct.code == TypeCode.MONEY:
        text = re.sub(r"^([-+]?)\s*\$", r"\1", text)
    if _NUMBER.fullmatch(text) is None:
        raise DataError(f"{text!r} is not a valid {ct.sql}.")
    return text


def _boolean(text: str) -> bool:
    word = text.lower()
    if word in ("t", "true", "1"):
        return True
    if word in ("f", "false", "0"):
        return False
    raise DataError(f"{text!r} is not a BOOLEAN.")


def _date(text: str) -> dt.date:
    """Parse a date in the order year, month, day, which this package requests from the server (DBDATE=Y4MD-).

    In another order days and months could not be told apart.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        raise DataError(f"{text!r} is not a date (expected YYYY-MM-DD). DBDATE must be Y4MD-.")
    year, month, day = map(int, match.groups())
    try:
        return dt.date(year, month, day)
    except ValueError as e:
        raise DataError(f"{text!r} is not a date: {e}.") from None


def _decimal(text: str, ct: ColumnType, op: PlanOp) -> object:
    number = Decimal(_number(text, ct))
    if op.kind == Kind.DECIMAL128:
        return fit_decimal(number, op.arg >> 8, op.arg & 0xFF, ct.sql)
    if op.kind == Kind.DECIMAL_INT64:
        whole = fit_decimal(number, 38, 0, ct.sql)
        return _in_range(int(whole), ct, 65)
    return float(number) if op.kind == Kind.DECIMAL_FLOAT64 else format(number, "f")


def format_value(value: object, ct: ColumnType, encoding: str | None) -> str:
    """Format one member that is not None for a literal. Raises ``DataError`` for a value that its type cannot
    hold."""
    value = _unwrap_scalar(value)
    code = ct.code
    if ct.is_boolean:
        if not isinstance(value, bool):
            raise _type_error(value, ct)
        return "'t'" if value else "'f'"
    if ct.content_width:
        return _string(value, ct, encoding)
    if code == TypeCode.DATE:
        if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
            raise _type_error(value, ct)
        return f"'{value.isoformat()}'"
    if code == TypeCode.DATETIME:
        qualifier = Qualifier.from_encoded(ct.encoded_length)
        return f"DATETIME ({format_datetime(datetime_fields(value, qualifier), qualifier)}) {qualifier.sql}"
    if code == TypeCode.INTERVAL:
        qualifier = Qualifier.from_encoded(ct.encoded_length)
        return f"INTERVAL ({interval_of(value, qualifier).text}) {qualifier.interval_sql}"
    if isinstance(value, bool):
        raise _type_error(value, ct)
    if code in (TypeCode.FLOAT, TypeCode.SMALLFLOAT):
        return _float(value, ct)
    if code in (TypeCode.DECIMAL, TypeCode.MONEY):
        return _decimal_text(value, ct)
    if not isinstance(value, numbers.Integral):
        raise _type_error(value, ct)
    bits = {TypeCode.SMALLINT: 16, TypeCode.INTEGER: 32, TypeCode.SERIAL: 32}.get(TypeCode(code), 64)
    return str(_in_range(int(value), ct, bits))


def _unwrap_scalar(value: Any) -> object:
    """Unwrap a scalar of numpy or pyarrow."""
    if callable(getattr(value, "as_py", None)):
        return value.as_py()
    if callable(getattr(value, "item", None)) and getattr(value, "shape", None) == ():
        return value.item()
    return value


def _type_error(value: object, ct: ColumnType) -> DataError:
    return DataError(f"A value of type {type(value).__name__} cannot be stored in {declared(ct)}.")


def declared(ct: ColumnType) -> str:
    """Return the declared type with its NOT NULL."""
    return f"{ct.sql} NOT NULL" if ct.flags & FLAG_NOT_NULL else ct.sql


def _string(value: object, ct: ColumnType, encoding: str | None) -> str:
    if not isinstance(value, str):
        raise _type_error(value, ct)
    size = len(value)  # a lower limit: each character has at least one byte
    if encoding is not None:
        try:
            size = len(value.encode(encoding))
        except UnicodeEncodeError as e:
            bad = value[e.start]
            raise DataError(
                f"The character {bad!r} (U+{ord(bad):04X}) does not exist in the code set {encoding}."
            ) from None
    if size > ct.content_width:
        raise DataError(f"The text of {size} bytes is too long for {ct.sql}.")
    quoted = value.replace("'", "''")
    return f"'{quoted}'"


def _float(value: object, ct: ColumnType) -> str:
    if not isinstance(value, numbers.Real):
        raise _type_error(value, ct)
    number = float(value)
    if not math.isfinite(number) or (isinstance(value, int) and int(number) != value):
        raise DataError(f"{value} cannot be stored in {ct.sql}.")
    return repr(number)


def _decimal_text(value: object, ct: ColumnType) -> str:
    number = decimal_of(value, ct.precision or 0, ct.scale, ct.sql)
    exponent = number.adjusted()
    return format(number, "f") if -40 < exponent < 40 else str(number)
