"""Encode Python objects as bytes of a tuple: one reference encoder per kind (TYPES, JDBC section 7)."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable

from .datetimes import datetime_fields, pack_fields, pack_interval
from .decimals import decimal_of, pack_decimal
from .errors import DataError
from .intervals import interval_of
from .plan_ops import FLAG_BINARY_BOOL, FLAG_RAW, Kind, PlanOp
from .qualifiers import Qualifier
from .type_codes import DATE_EPOCH, LOB_NULL_BYTE
from .types import ColumnType

_ENVELOPE_NULL = b"\1\0\0\0\0"


def _integer(value: object, type_name: str, bits: int) -> int:
    if not isinstance(value, int):
        raise DataError(f"A value of type {type(value).__name__} cannot be stored in {type_name}.")
    if abs(value) >= 1 << (bits - 1):  # the most negative value means NULL
        raise DataError(f"{value} is outside the range of {type_name}.")
    return value


def _put_int(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return b"\x80" + bytes(op.width - 1)
    return _integer(value, ct.sql, op.width * 8).to_bytes(op.width, "big", signed=True)


def _put_int8(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return bytes(10)
    number = _integer(value, ct.sql, 64)
    magnitude = abs(number)
    return struct.pack(">hII", -1 if number < 0 else 1, magnitude & 0xFFFF_FFFF, magnitude >> 32)


def _put_float(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return b"\xff" * op.width
    if not isinstance(value, (int, float)):
        raise DataError(f"A value of type {type(value).__name__} cannot be stored in {ct.sql}.")
    number = float("nan") if value != value else float(value)
    try:
        return struct.pack(">f" if op.width == 4 else ">d", number)
    except OverflowError:
        raise DataError(f"{value} is outside the range of {ct.sql}.") from None


def _put_date(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return b"\x80\0\0\0"
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        raise DataError(f"A value of type {type(value).__name__} cannot be stored in DATE.")
    return (value.toordinal() - DATE_EPOCH).to_bytes(4, "big", signed=True)


def _put_bool(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return _ENVELOPE_NULL
    if not isinstance(value, bool):
        raise DataError(f"A value of type {type(value).__name__} cannot be stored in BOOLEAN.")
    if op.flags & FLAG_BINARY_BOOL:
        return b"\0\0\0\0\1" + (b"\1" if value else b"\0")
    return b"\0\0\0\0\1" + (b"t" if value else b"f")


def _bytes_of(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if isinstance(value, bytes) and op.flags & FLAG_RAW:
        data = value
    elif not isinstance(value, str):
        raise DataError(f"A value of type {type(value).__name__} cannot be stored in {ct.sql}.")
    else:
        try:
            data = value.encode(encoding)
        except UnicodeEncodeError as e:
            raise DataError(
                f"The character {value[e.start]!r} at position {e.start} does not exist in the code set {encoding}."
            ) from None
    if not ct.is_json and len(data) > ct.content_width:
        raise DataError(f"The text of {len(data)} bytes is too long for {ct.sql}.")
    return data


def _put_char(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return b"\0".ljust(op.width)[: op.width]
    data = _bytes_of(value, ct, op, encoding)
    if data[:1] == b"\0":
        raise DataError("A CHAR cannot begin with a NUL character, which means NULL.")
    return data.ljust(op.width)


def _put_varchar(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return b"\1\0"
    data = _bytes_of(value, ct, op, encoding)
    if data == b"\0":
        raise DataError("A VARCHAR cannot consist of one NUL character, which means NULL.")
    return bytes((len(data),)) + data


def _put_lvarchar(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return _ENVELOPE_NULL
    data = _bytes_of(value, ct, op, encoding)
    return b"\0" + len(data).to_bytes(4, "big") + data


def _put_change_bool(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    """Encode a BOOLEAN of a row image (CDC section 5)."""
    if value is None:
        return b"\1\0"
    if not isinstance(value, bool):
        raise DataError(f"A value of type {type(value).__name__} cannot be stored in BOOLEAN.")
    return bytes((0, value))


def _put_change_lvarchar(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    """Encode an LVARCHAR of a row image (CDC section 5)."""
    if value is None:
        return b"\0\1\1"
    data = _bytes_of(value, ct, op, encoding)
    return (len(data) + 1).to_bytes(2, "big") + b"\0" + data


def _put_decimal(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    """Encode a Decimal, int or str exactly, and a float as :func:`~informix_arrow.wire.decimals.decimal_of` does."""
    if value is None:
        return bytes(op.width)
    return pack_decimal(decimal_of(value, ct.precision or 0, ct.scale, ct.sql), op.width)


def _put_datetime(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return bytes(op.width)
    qualifier = Qualifier.from_encoded(op.arg)
    return pack_fields(datetime_fields(value, qualifier), qualifier)


def _put_interval(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return bytes(op.width)
    return pack_interval(interval_of(value, Qualifier.from_encoded(op.arg)))


def _put_lob(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    """Encode a descriptor. The content is sent separately."""
    if value is None:
        null = bytearray(op.width)
        null[LOB_NULL_BYTE] = 1
        return bytes(null)
    if not isinstance(value, bytes) or len(value) != op.width:
        raise DataError(f"{ct.sql} needs a descriptor of {op.width} bytes.")
    if value[LOB_NULL_BYTE] & 1:
        raise DataError("The descriptor is marked as NULL.")
    return value


def _put_opaque(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return _ENVELOPE_NULL
    if not isinstance(value, bytes):
        raise DataError(f"A value of type {type(value).__name__} cannot be stored in {ct.sql}.")
    if op.width and len(value) > op.width:
        raise DataError(
            f"The value of {len(value)} bytes is too long for {ct.sql}, which holds at most {op.width}."
        )
    return b"\0" + len(value).to_bytes(4, "big") + value


Encoder = Callable[[object, ColumnType, PlanOp, str], bytes]

ENCODERS: dict[Kind, Encoder] = {
    Kind.INT16: _put_int,
    Kind.INT32: _put_int,
    Kind.INT64: _put_int,
    Kind.INT8: _put_int8,
    Kind.FLOAT32: _put_float,
    Kind.FLOAT64: _put_float,
    Kind.DATE: _put_date,
    Kind.BOOL: _put_bool,
    Kind.CHAR: _put_char,
    Kind.VARCHAR: _put_varchar,
    Kind.LVARCHAR: _put_lvarchar,
    Kind.DECIMAL128: _put_decimal,
    Kind.DECIMAL_FLOAT64: _put_decimal,
    Kind.DECIMAL_STRING: _put_decimal,
    Kind.DATETIME_DATE32: _put_datetime,
    Kind.DATETIME_TIMESTAMP: _put_datetime,
    Kind.DATETIME_TIME32: _put_datetime,
    Kind.DATETIME_TIME64: _put_datetime,
    Kind.DATETIME_TEXT: _put_datetime,
    Kind.INTERVAL_MONTHS: _put_interval,
    Kind.INTERVAL_DURATION: _put_interval,
    Kind.INTERVAL_MDN: _put_interval,
    Kind.LOB: _put_lob,
    Kind.OPAQUE: _put_opaque,
    Kind.DECIMAL_INT64: _put_decimal,
    Kind.CHANGE_BOOL: _put_change_bool,
    Kind.CHANGE_LVARCHAR: _put_change_lvarchar,
}
"""The reference encoder of every kind."""
