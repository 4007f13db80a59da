"""Parameters of SQ_BIND <-> Python objects (TYPES "Bind" column, JDBC section 6)."""

from __future__ import annotations

import datetime as dt
import numbers
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from .binds import NULL_VALUE, BoundValue
from .column_types import ColumnType, TypeCode
from .datetimes import unpack_datetime, unpack_interval
from .decimals import MAX_DIGITS, pack_decimal, unpack_decimal
from .errors import DataError, NotSupportedError, ProgrammingError, ProtocolError
from .primitives import encode_text
from .qualifiers import Qualifier

_DATE_EPOCH = dt.date(1899, 12, 31).toordinal()
_CHAR_MAX = 32767
_INT_PRECISION, _SMALLINT_PRECISION, _BIGINT_PRECISION = 0x0A00, 0x0500, 0x1300

_YEAR_TO_SECOND = Qualifier.datetime("YEAR", "SECOND").encoded
_YEAR_TO_FRACTION5 = Qualifier.datetime("YEAR", "FRACTION(5)").encoded
_HOUR_TO_SECOND = Qualifier.datetime("HOUR", "SECOND").encoded
_HOUR_TO_FRACTION5 = Qualifier.datetime("HOUR", "FRACTION(5)").encoded

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
    """A Python object as a parameter; the server converts it to the column's type.

    int goes as INT, BIGINT or, beyond 64 bits, DECIMAL; float as FLOAT; str as CHAR, above 32767 bytes as
    LVARCHAR; bool as ``t``/``f``, or 1/0 where ``target`` is a number; date as DATE; datetime and time as
    DATETIME with FRACTION(5) when they have microseconds, of which Informix holds five digits: a sixth is
    refused. numpy and pyarrow scalars are unwrapped, pandas.NaT is NULL.

    ``DataError`` for a value out of range or a character outside ``encoding``, ``NotSupportedError`` for
    bytes, ``ProgrammingError`` for a type without a meaning here.
    """
    if value is None:
        return NULL_VALUE
    binder = _BINDERS.get(type(value))
    if binder is not None:
        return binder(value, encoding, target)
    for base, binder in _BINDERS.items():  # subclasses; datetime stands before date, bool before int
        if isinstance(value, base):
            return binder(value, encoding, target)
    inner = _unwrapped(value)
    if inner is not value and type(inner) is not type(value):
        return bind_value(inner, encoding, target)
    if isinstance(value, numbers.Integral):
        return _bind_int(int(value), encoding, target)
    if isinstance(value, numbers.Real):
        return _bind_float(float(value), encoding, target)
    raise ProgrammingError(f"a parameter of type {type(value).__name__} cannot be sent to Informix")


def _unwrapped(value: Any) -> object:
    """What a scalar of pyarrow or numpy holds, the value itself when it is none.

    Both hand out less than they hold where Python's types end at microseconds: numpy a bare number, pyarrow a
    time without its nanoseconds. Whatever would be lost by that is a ``DataError``.
    """
    if callable(getattr(value, "as_py", None)):
        if str(getattr(value, "type", "")) == "time64[ns]" and (value.value or 0) % 1000:
            raise DataError(f"{value} has nanoseconds, a DATETIME holds five digits: round first")
        try:
            return value.as_py()
        except ValueError as error:  # nanoseconds, where pandas is not there to hold them
            raise DataError(f"{value} cannot be a parameter: {error}") from None
    if not callable(getattr(value, "item", None)) or getattr(value, "shape", ()) != ():
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    inner = value.item()
    if kind == "m" and isinstance(inner, int):
        return dt.timedelta()  # refused, as every timedelta is
    if kind != "M" or not isinstance(inner, int):
        return inner
    coarse = value.astype("datetime64[us]")
    inner = coarse.item()
    if coarse != value or not isinstance(inner, dt.datetime):
        raise DataError(f"{value} has nanoseconds or is outside the years 1 to 9999: not a DATETIME")
    return inner


def _bind_bool(value: bool, encoding: str, target: ColumnType | None) -> BoundValue:
    if target is not None and target.code in _NUMERIC:
        return BoundValue(TypeCode.SMALLINT.value, bytes((0, value)), _SMALLINT_PRECISION)
    return _TRUE if value else _FALSE


def _bind_int(value: int, encoding: str, target: ColumnType | None) -> BoundValue:
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
        raise DataError(f"{value} cannot be a DECIMAL")
    if len("".join(map(str, digits)).strip("0")) > MAX_DIGITS:
        raise DataError(f"{value} has more than {MAX_DIGITS} significant digits: round it first")
    data = pack_decimal(value)
    scale = max(-exponent, 0)
    precision = min(max(len(digits) + max(exponent, 0), scale, 1), MAX_DIGITS)
    return BoundValue(5, len(data).to_bytes(2, "big") + data, precision << 8 | min(scale, 254))


def _bind_str(value: str, encoding: str, target: ColumnType | None) -> BoundValue:
    data = encode_text(value, encoding, "a parameter")
    if len(data) <= _CHAR_MAX:
        return BoundValue(0, len(data).to_bytes(2, "big") + data)
    return BoundValue(TypeCode.LVARCHAR.value, len(data).to_bytes(4, "big") + data)


def _bind_date(value: dt.date, encoding: str, target: ColumnType | None) -> BoundValue:
    return BoundValue(7, (value.toordinal() - _DATE_EPOCH).to_bytes(4, "big", signed=True))


def _bind_datetime(value: dt.datetime, encoding: str, target: ColumnType | None) -> BoundValue:
    """Not normalised, as JDBC binds (JDBC section 6); built by hand, for a load has millions of them."""
    if type(value) is not dt.datetime:
        if value != value:  # pandas.NaT, which counts as a datetime
            return NULL_VALUE
        if getattr(value, "nanosecond", 0):  # pandas.Timestamp
            raise DataError(f"{value} has nanoseconds, a DATETIME holds five digits: round first")
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
        data = b"\x80\0\0\0"  # zero has one form only
    if not micro:
        return BoundValue(10, b"\0\x04" + data, _HOUR_TO_SECOND)
    return BoundValue(10, b"\0\x07" + data + _fraction(micro), _HOUR_TO_FRACTION5)


def _refuse_zone(value: dt.datetime | dt.time) -> None:
    if value.tzinfo is not None:
        raise DataError(
            f"{value!r} has a time zone and Informix keeps none: convert it to the zone you store in"
        )


def _fraction(microsecond: int) -> bytes:
    """FRACTION(5): two pairs and a digit in the tens place. A sixth digit is refused, not cut."""
    if microsecond % 10:
        raise DataError(
            f"{microsecond} microseconds have six digits, a DATETIME holds five: round first, "
            f"as in value.replace(microsecond=value.microsecond // 10 * 10)"
        )
    return bytes((microsecond // 10000, microsecond // 100 % 100, microsecond % 100))


def _refuse_bytes(value: bytes, encoding: str, target: ColumnType | None) -> BoundValue:
    raise NotSupportedError("bytes as a parameter (BYTE, TEXT or BLOB) is not supported by this version")


def _refuse_timedelta(value: dt.timedelta, encoding: str, target: ColumnType | None) -> BoundValue:
    raise NotSupportedError("timedelta as a parameter (INTERVAL) is not supported by this version")


_BINDERS: dict[type, Callable[..., BoundValue]] = {
    bool: _bind_bool,
    int: _bind_int,
    float: _bind_float,
    str: _bind_str,
    Decimal: _bind_decimal,
    dt.datetime: _bind_datetime,
    dt.date: _bind_date,
    dt.time: _bind_time,
    dt.timedelta: _refuse_timedelta,
    bytes: _refuse_bytes,
    bytearray: _refuse_bytes,
    memoryview: _refuse_bytes,
}


def bound_to_python(bv: BoundValue, encoding: str) -> object:
    """A parameter as a server sees it: int, float, Decimal, str, date, DatetimeValue, IntervalValue, bool or
    None.

    Reads every form that JDBC and the public Python driver send. The patterns that stand for NULL inside a
    value (INT 80000000 and so on) are NULL here too (TYPES section 3). ``DataError`` for a value that is
    none, ``NotSupportedError`` naming a type that is not handled, ``ProtocolError`` for a wrong inner length.
    """
    data = bv.data
    if data is None:
        return None
    reader = _READERS.get(bv.type & 0xFF)
    if reader is None:
        name = f" {bv.extended_name!r}" if bv.extended_name else ""
        raise NotSupportedError(f"a parameter of type {_type_name(bv.type)}{name} is not supported")
    return reader(data, bv, encoding)


def _type_name(code: int) -> str:
    try:
        return f"{TypeCode(code & 0xFF).name} ({code})"
    except ValueError:
        return str(code)


def _counted(data: bytes, prefix: int) -> bytes:
    if len(data) < prefix or int.from_bytes(data[:prefix], "big") != len(data) - prefix:
        raise ProtocolError(f"a parameter whose inner length is wrong: {data[:16].hex()}")
    return data[prefix:]


def _read_text(data: bytes, prefix: int, encoding: str) -> str:
    raw = _counted(data, prefix)
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as e:
        raise DataError(
            f"a parameter holds bytes that are no {encoding} text at position {e.start}"
        ) from None


def _read_char(data: bytes, bv: BoundValue, encoding: str) -> object:
    return _read_text(data, 2, encoding)


_INTEGERS = {
    2: (struct.Struct(">h"), -0x8000),
    4: (struct.Struct(">i"), -0x8000_0000),
    8: (struct.Struct(">q"), -(2**63)),
}


def _read_int(data: bytes, bv: BoundValue, encoding: str) -> object:
    layout, null = _INTEGERS[len(data)]
    value = layout.unpack(data)[0]
    return None if value == null else value


def _read_int8(data: bytes, bv: BoundValue, encoding: str) -> object:
    sign, low, high = struct.unpack(">hII", data)
    magnitude = high << 32 | low
    return None if sign == 0 else -magnitude if sign < 0 else magnitude


def _read_float(data: bytes, bv: BoundValue, encoding: str) -> object:
    if data.count(0xFF) == len(data):
        return None
    return struct.unpack(">f" if len(data) == 4 else ">d", data)[0]


def _read_decimal(data: bytes, bv: BoundValue, encoding: str) -> object:
    return unpack_decimal(_counted(data, 2))


def _read_date(data: bytes, bv: BoundValue, encoding: str) -> object:
    days = int.from_bytes(data, "big", signed=True)
    if days == -0x8000_0000:
        return None
    try:
        return dt.date.fromordinal(days + _DATE_EPOCH)
    except (ValueError, OverflowError):
        raise DataError(f"a DATE parameter with day number {days} is outside the years 1 to 9999") from None


def _qualifier(bv: BoundValue) -> Qualifier:
    try:
        return Qualifier.from_encoded(bv.precision)
    except ValueError as e:
        raise DataError(f"a parameter with an impossible {e}") from None


def _read_datetime(data: bytes, bv: BoundValue, encoding: str) -> object:
    # informix-driver sends microseconds in FRACTION(5): servers keep five digits, without rounding.
    return unpack_datetime(_counted(data, 2), _qualifier(bv), cut=True)


def _read_interval(data: bytes, bv: BoundValue, encoding: str) -> object:
    return unpack_interval(_counted(data, 2), _qualifier(bv))


def _read_lvarchar(data: bytes, bv: BoundValue, encoding: str) -> object:
    return _read_text(data, 4, encoding)


def _read_boolean(data: bytes, bv: BoundValue, encoding: str) -> object:
    raw = _counted(data, 4)
    if raw in (b"\1", b"t", b"T"):
        return True
    if raw in (b"\0", b"f", b"F"):
        return False
    raise ProtocolError(f"a BOOLEAN parameter with the value 0x{raw.hex()}")


def _read_opaque(data: bytes, bv: BoundValue, encoding: str) -> object:
    if bv.extended_name == "lvarchar":
        return _read_lvarchar(data, bv, encoding)
    if bv.extended_name == "boolean":
        return _read_boolean(data, bv, encoding)
    raise NotSupportedError(
        f"a parameter of the type {bv.extended_name or _type_name(bv.type)!r} is not supported"
    )


_BY_CODE: dict[TypeCode, Callable[[bytes, BoundValue, str], object]] = {
    TypeCode.CHAR: _read_char,
    TypeCode.VARCHAR: _read_char,
    TypeCode.NCHAR: _read_char,
    TypeCode.NVARCHAR: _read_char,
    TypeCode.SMALLINT: _read_int,
    TypeCode.INTEGER: _read_int,
    TypeCode.SERIAL: _read_int,
    TypeCode.BIGINT: _read_int,
    TypeCode.BIGSERIAL: _read_int,
    TypeCode.INT8: _read_int8,
    TypeCode.SERIAL8: _read_int8,
    TypeCode.FLOAT: _read_float,
    TypeCode.SMALLFLOAT: _read_float,
    TypeCode.DECIMAL: _read_decimal,
    TypeCode.MONEY: _read_decimal,
    TypeCode.DATE: _read_date,
    TypeCode.DATETIME: _read_datetime,
    TypeCode.INTERVAL: _read_interval,
    TypeCode.LVARCHAR: _read_lvarchar,
    TypeCode.BOOL: _read_boolean,
    TypeCode.UDTVAR: _read_opaque,
    TypeCode.UDTFIXED: _read_opaque,
    TypeCode.SENDRECV: _read_opaque,
}
_READERS = {code.value: reader for code, reader in _BY_CODE.items()}  # plain ints hash faster
