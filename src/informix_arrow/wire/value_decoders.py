"""Decode bytes of a tuple to Python objects: one reference decoder per kind (TYPES, JDBC section 7)."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable
from functools import partial

from .datetimes import IntervalValue, unpack_datetime, unpack_interval
from .decimals import make_decimal, unpack_decimal, unpack_unscaled
from .errors import DataError, ProtocolError
from .intervals import check_interval, to_month_day_nano, to_months, to_timedelta
from .plan_ops import FLAG_RAW, FLAG_REPLACE, FLAG_TRIM, Kind, PlanOp
from .primitives import Reader
from .qualifiers import Qualifier
from .type_codes import DATE_EPOCH, LOB_NULL_BYTE

_INT8_MAX = 2**63 - 1


def _integer(reader: Reader, op: PlanOp, encoding: str) -> object:
    value = int.from_bytes(reader.read_bytes(op.width), "big", signed=True)
    return None if value == -(1 << (8 * op.width - 1)) else value


def _int8(reader: Reader, op: PlanOp, encoding: str) -> object:
    """Decode an INT8: sign word, then the magnitude with its low half first."""
    sign = reader.short()
    magnitude = reader.uint() | reader.uint() << 32
    if sign == 0:
        return None
    value = magnitude if sign == 1 else -magnitude
    if sign not in (1, -1):
        raise ProtocolError(f"An INT8 has the sign word {sign}.")
    if not -(2**63) <= value <= _INT8_MAX:
        raise DataError(f"An INT8 of magnitude {magnitude} does not fit in 64 bits.")
    return value


def _float(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = reader.read_bytes(op.width)
    return None if data == b"\xff" * op.width else struct.unpack(">f" if op.width == 4 else ">d", data)[0]


def _date(reader: Reader, op: PlanOp, encoding: str) -> object:
    days = reader.int()
    if days == -0x8000_0000:
        return None
    try:
        return dt.date.fromordinal(days + DATE_EPOCH)
    except (ValueError, OverflowError):
        raise DataError(f"A DATE with the day number {days} is outside the years 1 to 9999.") from None


def _envelope(reader: Reader) -> bytes | None:
    """Read an indicator, an int length and the content. Only indicator 1 is NULL (JDBC section 7)."""
    indicator, size = reader.byte(), reader.int()
    if size < 0:
        raise ProtocolError(f"The length {size} of a value is negative.")
    data = reader.read_bytes(size)
    return None if indicator == 1 else data


def _bool(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = _envelope(reader)
    if data is None:
        return None
    if len(data) != 1:
        raise ProtocolError(f"A BOOLEAN has {len(data)} bytes.")
    if data in (b"t", b"T", b"\1"):
        return True
    if data in (b"f", b"F", b"\0"):
        return False
    raise ProtocolError(f"A BOOLEAN has the value 0x{data.hex()}.")


def _text(data: bytes, op: PlanOp, encoding: str) -> str | bytes:
    if op.flags & FLAG_RAW:
        return data
    if op.flags & FLAG_REPLACE:
        return data.decode(encoding, "replace")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as e:
        raise DataError(f"The text is not valid {encoding} at byte {e.start}: {data[:40].hex()}.") from None


def _char(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = reader.read_bytes(op.width)
    if data[:1] == b"\0":
        return None
    return _text(data.rstrip(b" ") if op.flags & FLAG_TRIM else data, op, encoding)


def _varchar(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = reader.read_bytes(reader.byte())
    return None if data == b"\0" else _text(data, op, encoding)


def _lvarchar(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = _envelope(reader)
    return None if data is None else _text(data, op, encoding)


def _change_bool(reader: Reader, op: PlanOp, encoding: str) -> object:
    """Decode a BOOLEAN of a row image (CDC section 5)."""
    null, value = reader.byte(), reader.byte()
    if null > 1 or (not null and bytes((value,)) not in (b"\0", b"\1", b"f", b"F", b"t", b"T")):
        raise ProtocolError(f"A BOOLEAN has the bytes {null:02x}{value:02x}.")
    return None if null else bytes((value,)) in (b"\1", b"t", b"T")


def _change_lvarchar(reader: Reader, op: PlanOp, encoding: str) -> object:
    """Decode an LVARCHAR of a row image (CDC section 5). Its length counts the NULL flag."""
    size, null = reader.ushort() - 1, reader.byte()
    if size < 0 or null > 1 or (null and size):
        raise ProtocolError(f"An LVARCHAR of length {size} has the NULL flag {null:02x}.")
    return None if null else _text(reader.read_bytes(size), op, encoding)


def _decimal128(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = reader.read_bytes(op.width)
    number = unpack_unscaled(data)
    if number is None:
        return None
    coefficient, exponent = number
    precision, scale = op.arg >> 8, op.arg & 0xFF
    if coefficient == 0:
        return make_decimal(0, -scale)
    digits = len(str(abs(coefficient)))
    if exponent < -scale or digits + exponent > precision - scale:
        raise DataError(
            f"{make_decimal(coefficient, exponent)} does not fit in decimal128({precision}, {scale})."
        )
    return make_decimal(coefficient * 10 ** (exponent + scale), -scale)


def _decimal_float64(reader: Reader, op: PlanOp, encoding: str) -> object:
    value = unpack_decimal(reader.read_bytes(op.width))
    return None if value is None else float(value)


def _decimal_string(reader: Reader, op: PlanOp, encoding: str) -> object:
    value = unpack_decimal(reader.read_bytes(op.width))
    return None if value is None else format(value, "f")


def _decimal_int64(reader: Reader, op: PlanOp, encoding: str) -> object:
    number = unpack_unscaled(reader.read_bytes(op.width))
    if number is None:
        return None
    coefficient, exponent = number
    value = coefficient * 10**exponent if exponent >= 0 else 0
    if exponent < 0 or not -(2**63) <= value <= _INT8_MAX:
        raise DataError(f"{make_decimal(coefficient, exponent)} does not fit in int64.")
    return value


def _interval(reader: Reader, op: PlanOp, encoding: str) -> IntervalValue | None:
    qualifier = Qualifier.from_encoded(op.arg)
    value = unpack_interval(reader.read_bytes(op.width), qualifier)
    if value is not None:
        check_interval(value.fields, qualifier)
    return value


def _converted_interval(
    convert: Callable[[IntervalValue], object], reader: Reader, op: PlanOp, encoding: str
) -> object:
    value = _interval(reader, op, encoding)
    return None if value is None else convert(value)


def _lob(reader: Reader, op: PlanOp, encoding: str) -> object:
    """Return the descriptor unchanged. SQ_FETCHBLOB sends it back whole (TYPES section 12)."""
    data = reader.read_bytes(op.width)
    return None if data[LOB_NULL_BYTE] & 1 else data


def _opaque(reader: Reader, op: PlanOp, encoding: str) -> object:
    return _envelope(reader)


def _datetime(reader: Reader, op: PlanOp, encoding: str) -> object:
    value = unpack_datetime(reader.read_bytes(op.width), Qualifier.from_encoded(op.arg))
    return None if value is None else value.natural()


Decoder = Callable[[Reader, PlanOp, str], object]

DECODERS: dict[Kind, Decoder] = {
    Kind.INT16: _integer,
    Kind.INT32: _integer,
    Kind.INT64: _integer,
    Kind.INT8: _int8,
    Kind.FLOAT32: _float,
    Kind.FLOAT64: _float,
    Kind.DATE: _date,
    Kind.BOOL: _bool,
    Kind.CHAR: _char,
    Kind.VARCHAR: _varchar,
    Kind.LVARCHAR: _lvarchar,
    Kind.DECIMAL128: _decimal128,
    Kind.DECIMAL_FLOAT64: _decimal_float64,
    Kind.DECIMAL_STRING: _decimal_string,
    Kind.DATETIME_DATE32: _datetime,
    Kind.DATETIME_TIMESTAMP: _datetime,
    Kind.DATETIME_TIME32: _datetime,
    Kind.DATETIME_TIME64: _datetime,
    Kind.DATETIME_TEXT: _datetime,
    Kind.INTERVAL_MONTHS: partial(_converted_interval, to_months),
    Kind.INTERVAL_DURATION: partial(_converted_interval, to_timedelta),
    Kind.INTERVAL_MDN: partial(_converted_interval, to_month_day_nano),
    Kind.LOB: _lob,
    Kind.OPAQUE: _opaque,
    Kind.DECIMAL_INT64: _decimal_int64,
    Kind.CHANGE_BOOL: _change_bool,
    Kind.CHANGE_LVARCHAR: _change_lvarchar,
}
"""The reference decoder of every kind."""
