"""Encode Python objects as parameters of SQ_BIND (TYPES "Bind" column, JDBC section 6).

``bound_values`` is the reverse.
"""

from __future__ import annotations

import datetime as dt
import numbers
import re
import struct
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from . import bson
from .bound_values import bound_to_python
from .datetimes import IntervalValue, pack_interval
from .decimals import MAX_DIGITS, pack_decimal, significant_digits
from .errors import DataError, ProgrammingError
from .intervals import (
    DAY9_TO_FRACTION5,
    YEAR9_TO_MONTH,
    YearMonthInterval,
    interval_of,
    split_month_day_nano,
)
from .json_text import json_text
from .messages import NULL_VALUE, BoundValue
from .nested import definition_of, format_literal
from .primitives import encode_strictly
from .qualifiers import Qualifier
from .type_codes import DATE_EPOCH, LOB_DESCRIPTOR_SIZE, LOB_SIZE_OFFSET
from .types import ColumnType, TypeCode, described_qualifier

__all__ = ["bind_value", "blob_descriptor", "bound_to_python"]

_CHAR_MAX = 32767
_INT_PRECISION, _SMALLINT_PRECISION, _BIGINT_PRECISION = 0x0A00, 0x0500, 0x1300

_YEAR_TO_SECOND = Qualifier.datetime("YEAR", "SECOND").encoded
_YEAR_TO_FRACTION5 = Qualifier.datetime("YEAR", "FRACTION(5)").encoded
_HOUR_TO_SECOND = Qualifier.datetime("HOUR", "SECOND").encoded
_HOUR_TO_FRACTION5 = Qualifier.datetime("HOUR", "FRACTION(5)").encoded

_OPTION = "use inexact='round' or inexact='truncate'."
_TRUE = BoundValue(0, b"\0\1t")
_FALSE = BoundValue(0, b"\0\1f")
_NUMERIC = frozenset(
    {
        TypeCode.SMALLINT,
        TypeCode.INTEGER,
        TypeCode.SERIAL,
        TypeCode.BIGINT,
        TypeCode.BIGSERIAL,
        TypeCode.INT8,
        TypeCode.SERIAL8,
        TypeCode.FLOAT,
        TypeCode.SMALLFLOAT,
        TypeCode.DECIMAL,
        TypeCode.MONEY,
    }
)


def bind_value(value: object, encoding: str, target: ColumnType | None = None) -> BoundValue:
    """Encode a Python object as a parameter. The server converts it to the column's type.

    * int: INT, BIGINT or, beyond 64 bits, DECIMAL; an INTERVAL if ``target`` is one of years and months
    * float: FLOAT; Decimal: DECIMAL
    * str: CHAR, above 32767 bytes LVARCHAR; a UUID is sent as its text
    * bool: ``t``/``f``, or 1/0 if ``target`` is a number
    * date: DATE; datetime and time: DATETIME, with FRACTION(5) if they have microseconds. Informix holds five digits,
      so a sixth is refused.
    * timedelta: INTERVAL DAY(9) TO FRACTION(5); :class:`YearMonthInterval`: YEAR(9) TO MONTH;
      ``pa.MonthDayNano``: whichever of the two fits
    * list, tuple, set, frozenset and dict: the literal of a collection or ROW, which needs ``target``
    * dict, list and str for a JSON or BSON column, which needs ``target``: JSON text, or the document that it is
    * None, pandas.NaT and pandas.NA: NULL; scalars of numpy and pyarrow are unwrapped

    bytes, bytearray and memoryview are sent as BYTE. The value holds a **descriptor** with only the size, and the
    content is sent separately: after the Bind, the client sends a BlobBind with the number of such parameters,
    then the content of each as BlobChunks of at most 1024 bytes, closed by an empty one (SQLI section 14). If
    ``target`` is BSON or another opaque type than BLOB and CLOB, bytes are sent whole in the type's own form.

    Raises ``DataError`` for a value out of range, a character outside ``encoding``, or a collection without a
    ``target``, and ``ProgrammingError`` for a Python type that cannot be sent.
    """
    if value is None:
        return NULL_VALUE
    binder = _BINDERS.get(type(value))
    if binder is not None:
        return binder(value, encoding, target)
    for base, binder in _BINDERS.items():  # subclasses; datetime precedes date, and bool int
        if isinstance(value, base):
            return binder(value, encoding, target)
    inner = plain_value(value)
    if inner is not value:
        return bind_value(inner, encoding, target)
    raise ProgrammingError(
        f"A parameter of type {type(value).__name__} cannot be sent to Informix. Convert it first."
    )


def plain_value(value: Any, *, to_microseconds: bool = False) -> Any:
    """Unwrap a scalar of numpy, pyarrow or pandas to a Python object. Any other value is returned unchanged.

    A UUID becomes its text, and ``pandas.NA`` None. With ``to_microseconds``, times of numpy and pyarrow are cut
    to microseconds. Rounding them to the digits of a DATETIME, at most five, gives the same result afterwards.

    Raises the errors of :func:`bind_value`.
    """
    if isinstance(value, _BINDABLE_TYPES):
        return value
    if isinstance(value, uuid.UUID):
        return str(value)
    if type(value).__name__ == "NAType" and type(value).__module__.partition(".")[0] == "pandas":
        return None
    inner = _unwrap(value, to_microseconds)
    if inner is not value and type(inner) is not type(value):
        return plain_value(inner, to_microseconds=to_microseconds)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


def _unwrap(value: Any, to_microseconds: bool) -> object:
    """Unwrap a scalar of pyarrow or numpy. Any other value is returned unchanged.

    Python's types end at microseconds, so numpy returns finer times as bare numbers, and pyarrow drops their
    nanoseconds. Such a loss is a ``DataError``, unless ``to_microseconds`` is set.
    """
    if callable(getattr(value, "as_py", None)):
        if to_microseconds:
            value = _coarser(value)
        elif str(getattr(value, "type", "")) == "time64[ns]" and (value.value or 0) % 1000:
            raise DataError(
                f"{value} has nanoseconds, but DATETIME stores five digits of a second. Round it first, or {_OPTION}"
            )
        try:
            return value.as_py()
        except ValueError as error:  # nanoseconds, which need pandas
            raise DataError(f"{value} cannot be sent as a parameter: {error}") from None
    if not callable(getattr(value, "item", None)) or getattr(value, "shape", ()) != ():
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    inner = value.item()
    if kind not in ("m", "M") or not isinstance(inner, int):
        return inner
    return _exact_moment(value, to_microseconds) if kind == "M" else _exact_span(value, to_microseconds)


def _coarser(value: Any) -> Any:
    """Cut a scalar of pyarrow from nanoseconds to microseconds, durations toward zero."""
    kind = value.type
    if getattr(kind, "unit", "") != "ns" or value.value is None:
        return value
    if pa.types.is_duration(kind):
        whole = abs(value.value) // 1000
        return pa.scalar(whole if value.value > 0 else -whole, pa.duration("us"))
    coarse = pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else pa.time64("us")
    return pa.scalar(value.value // 1000, coarse)


_FEMTOSECONDS = {
    "W": 604800 * 10**15, "D": 86400 * 10**15, "h": 3600 * 10**15, "m": 60 * 10**15, "s": 10**15,
    "ms": 10**12, "us": 10**9, "ns": 10**6, "ps": 10**3, "fs": 1,
}  # fmt: skip
_NUMPY_UNIT = re.compile(r".*\[(\d*)([A-Za-z]+)\]")


def _microseconds(value: Any, cut: bool, toward_zero: bool) -> int | None:
    """Return the microseconds of a numpy time. None for a unit without a fixed length.

    None also for a time that is finer than microseconds, unless ``cut`` is set.
    """
    match = _NUMPY_UNIT.fullmatch(str(value.dtype))
    factor = _FEMTOSECONDS.get(match.group(2)) if match else None
    if match is None or factor is None:
        return None
    whole, rest = divmod(int(value.astype("int64")) * int(match.group(1) or 1) * factor, 10**9)
    if rest and not cut:
        return None
    return whole + 1 if rest and toward_zero and whole < 0 else whole


def _exact_moment(value: Any, cut: bool) -> dt.datetime:
    """Convert a datetime64 that numpy cannot convert to a Python datetime."""
    microseconds = _microseconds(value, cut, False)
    try:
        if microseconds is not None:
            return dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=microseconds)
    except OverflowError:
        pass
    raise DataError(
        f"{value} has nanoseconds or is outside the years 1 to 9999. DATETIME stores five digits of a second. Round it "
        f"first, or {_OPTION}"
    )


def _exact_span(value: Any, cut: bool) -> object:
    """Convert a timedelta64 that numpy cannot convert to a Python timedelta.

    Years and months become a :class:`YearMonthInterval`.
    """
    match = _NUMPY_UNIT.fullmatch(str(value.dtype))
    if match is not None and match.group(2) in ("Y", "M"):
        months = int(value.astype("int64")) * int(match.group(1) or 1)
        return YearMonthInterval(months * 12 if match.group(2) == "Y" else months)
    microseconds = _microseconds(value, cut, True)
    try:
        if microseconds is not None:
            return dt.timedelta(microseconds=microseconds)
    except OverflowError:
        pass
    raise DataError(
        f"{value!r} has no unit, more days than INTERVAL can store, or nanoseconds. Round nanoseconds first, or "
        f"{_OPTION}"
    )


def _bind_bool(value: bool, encoding: str, target: ColumnType | None) -> BoundValue:
    if target is not None and target.code in _NUMERIC:
        return BoundValue(TypeCode.SMALLINT.value, bytes((0, value)), _SMALLINT_PRECISION)
    return _TRUE if value else _FALSE


def _bind_int(value: int, encoding: str, target: ColumnType | None) -> BoundValue:
    if target is not None and target.code == TypeCode.INTERVAL:
        return _bind_months(value, encoding, target)
    if -0x8000_0000 < value <= 0x7FFF_FFFF:  # the lowest pattern is NULL
        return BoundValue(2, value.to_bytes(4, "big", signed=True), _INT_PRECISION)
    if -(2**63) < value < 2**63:
        return BoundValue(52, value.to_bytes(8, "big", signed=True), _BIGINT_PRECISION)
    return _bind_decimal(Decimal(value), encoding, target)


def _bind_float(value: float, encoding: str, target: ColumnType | None) -> BoundValue:
    if value != value:  # a NaN with all bits set would be NULL
        value = float("nan")
    return BoundValue(3, struct.pack(">d", value))


def _bind_decimal(value: Decimal, encoding: str, target: ColumnType | None) -> BoundValue:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise DataError(f"{value} cannot be stored in DECIMAL.")
    if significant_digits(value) > MAX_DIGITS:
        raise DataError(f"{value} has more than {MAX_DIGITS} significant digits. Round it first.")
    data = pack_decimal(value)
    scale = max(-exponent, 0)
    precision = min(max(len(digits) + max(exponent, 0), scale, 1), MAX_DIGITS)
    return BoundValue(5, len(data).to_bytes(2, "big") + data, precision << 8 | min(scale, 254))


def _bind_str(value: str, encoding: str, target: ColumnType | None) -> BoundValue:
    if target is not None and target.is_bson:
        return _bson(bson.from_json(value))
    data = encode_strictly(value, encoding, "the text")
    if len(data) <= _CHAR_MAX and (target is None or not target.is_json):
        return BoundValue(0, len(data).to_bytes(2, "big") + data)
    return BoundValue(TypeCode.LVARCHAR.value, len(data).to_bytes(4, "big") + data)


def _bson(document: bytes) -> BoundValue:
    """Encode a BSON document as IBM's JDBC driver does."""
    data = len(document).to_bytes(4, "big") + document
    return BoundValue(TypeCode.SENDRECV.value, data, 0, 0, "informix", "bson")


def _bind_date(value: dt.date, encoding: str, target: ColumnType | None) -> BoundValue:
    return BoundValue(7, (value.toordinal() - DATE_EPOCH).to_bytes(4, "big", signed=True))


def _bind_datetime(value: dt.datetime, encoding: str, target: ColumnType | None) -> BoundValue:
    """Encode a datetime without normalising it, as JDBC does (JDBC section 6). Written out, because loads bind
    millions."""
    if type(value) is not dt.datetime:
        if value != value:  # pandas.NaT, which is a datetime
            return NULL_VALUE
        if getattr(value, "nanosecond", 0):  # pandas.Timestamp
            raise DataError(
                f"{value} has nanoseconds, but DATETIME stores five digits of a second. Round it first, or {_OPTION}"
            )
    _refuse_zone(value)
    year, micro = value.year, value.microsecond
    data = bytes(
        (0xC7, year // 100, year % 100, value.month, value.day, value.hour, value.minute, value.second)
    )
    if not micro:
        return BoundValue(10, b"\0\x08" + data, _YEAR_TO_SECOND)
    return BoundValue(10, b"\0\x0b" + data + _fraction(micro), _YEAR_TO_FRACTION5)


def _bind_time(value: dt.time, encoding: str, target: ColumnType | None) -> BoundValue:
    _refuse_zone(value)
    micro = value.microsecond
    data = bytes((0xC3, value.hour, value.minute, value.second))
    if data == b"\xc3\0\0\0" and not micro:
        data = b"\x80\0\0\0"  # zero has only this form
    if not micro:
        return BoundValue(10, b"\0\x04" + data, _HOUR_TO_SECOND)
    return BoundValue(10, b"\0\x07" + data + _fraction(micro), _HOUR_TO_FRACTION5)


def _refuse_zone(value: dt.datetime | dt.time) -> None:
    if value.tzinfo is not None:
        raise DataError(
            f"{value!r} has a time zone, which Informix cannot store. Convert it to local time and drop the zone."
        )


def _fraction(microsecond: int) -> bytes:
    """Encode FRACTION(5): two pairs and a digit in the tens place. A sixth digit is refused, not cut."""
    if microsecond % 10:
        raise DataError(
            f"{microsecond} microseconds have six digits, but DATETIME stores five digits of a second. Round first, "
            f"as in value.replace(microsecond=value.microsecond // 10 * 10), or {_OPTION}"
        )
    return bytes((microsecond // 10000, microsecond // 100 % 100, microsecond % 100))


def _bind_months(value: int, encoding: str, target: ColumnType | None) -> BoundValue:
    qualifier = None if target is None else described_qualifier(target)
    if qualifier is None or not qualifier.is_year_month:
        declared = "INTERVAL" if target is None else target.sql
        raise DataError(f"An int cannot be stored in {declared}. Pass a datetime.timedelta.")
    return _interval(interval_of(value, YEAR9_TO_MONTH))


def _bind_year_month(value: YearMonthInterval, encoding: str, target: ColumnType | None) -> BoundValue:
    return _interval(interval_of(value, YEAR9_TO_MONTH))


def _bind_timedelta(value: dt.timedelta, encoding: str, target: ColumnType | None) -> BoundValue:
    return _interval(interval_of(value, DAY9_TO_FRACTION5))


def _bind_month_day_nano(value: Any, encoding: str, target: ColumnType | None) -> BoundValue:
    months, nanoseconds = split_month_day_nano(value)
    qualifier = None if target is None else described_qualifier(target)
    zero_months = qualifier is not None and qualifier.is_year_month and not nanoseconds
    return _interval(interval_of(value, YEAR9_TO_MONTH if months or zero_months else DAY9_TO_FRACTION5))


def _bind_interval(value: IntervalValue, encoding: str, target: ColumnType | None) -> BoundValue:
    return _interval(value)


def _interval(value: IntervalValue) -> BoundValue:
    """Encode an INTERVAL without normalising it, as JDBC does (JDBC section 6)."""
    data = pack_interval(value, normalise=False)
    return BoundValue(TypeCode.INTERVAL.value, len(data).to_bytes(2, "big") + data, value.qualifier.encoded)


def blob_descriptor(size: int) -> bytes:
    """Return the descriptor of a BYTE or TEXT parameter with ``size`` bytes of content (SQLI section 14).

    All but the size is zero. It has 56 bytes, because this package never agrees to capability bit 70. Raises
    ``DataError`` above 2^31 - 1 bytes.
    """
    if not 0 <= size < 1 << 31:
        raise DataError(f"The value has {size} bytes, but a BYTE or TEXT parameter holds at most 2147483647.")
    tail = LOB_DESCRIPTOR_SIZE - LOB_SIZE_OFFSET - 4
    return bytes(LOB_SIZE_OFFSET) + size.to_bytes(4, "big") + bytes(tail)


def _bind_bytes(
    value: bytes | bytearray | memoryview, encoding: str, target: ColumnType | None
) -> BoundValue:
    if target is not None and target.code in (TypeCode.UDTVAR, TypeCode.UDTFIXED):
        if target.is_boolean or target.is_lvarchar or target.is_json:
            raise DataError(
                f"A value of type {type(value).__name__} cannot be stored in {target.sql}. Decode it to a str."
            )
        if target.is_bson:
            return _bson(bytes(value))
        if not target.is_large_object:
            data = bytes(value)
            inner = len(data).to_bytes(4, "big") + data
            length = target.encoded_length & 0xFFFF
            return BoundValue(target.code, inner, length, 0, target.owner, target.extended_name)
    size = value.nbytes if isinstance(value, memoryview) else len(value)
    text = target is not None and target.code == TypeCode.TEXT
    return BoundValue((TypeCode.TEXT if text else TypeCode.BYTE).value, blob_descriptor(size))


def _bind_nested(value: object, encoding: str, target: ColumnType | None) -> BoundValue:
    if target is not None and (target.is_json or target.is_bson):
        if target.is_bson and isinstance(value, dict):
            return _bson(bson.encode(value))
        return _bind_str(json_text(value, encoding), encoding, target)
    if target is None or not target.is_complex or definition_of(target) is None:
        into = "" if target is None else f" for {target.sql}"
        values = (
            ""
            if isinstance(value, dict)
            else "To pass several values, write one ? for each, as in IN (?, ?, ?), or load them "
            "into a temporary table and join it. "
        )
        raise DataError(
            f"A value of type {type(value).__name__} cannot be sent as a parameter{into}. {values}To store it in a "
            "collection or ROW whose members are not known here, pass an SQL literal as a str, "
            'such as "SET{1,2}" or "ROW(\'a\',1)".'
        )
    return _bind_str(format_literal(value, target, encoding), encoding, target)


_BINDERS: dict[type, Callable[..., BoundValue]] = {
    bool: _bind_bool,
    int: _bind_int,
    float: _bind_float,
    str: _bind_str,
    Decimal: _bind_decimal,
    dt.datetime: _bind_datetime,
    dt.date: _bind_date,
    dt.time: _bind_time,
    dt.timedelta: _bind_timedelta,
    YearMonthInterval: _bind_year_month,
    IntervalValue: _bind_interval,
    bytes: _bind_bytes,
    bytearray: _bind_bytes,
    memoryview: _bind_bytes,
    pa.MonthDayNano: _bind_month_day_nano,  # before tuple, of which it is a subclass
    list: _bind_nested,
    tuple: _bind_nested,
    set: _bind_nested,
    frozenset: _bind_nested,
    dict: _bind_nested,
}
_BINDABLE_TYPES = (type(None), *_BINDERS)
