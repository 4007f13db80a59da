"""Single values and whole tuples <-> bytes: the plain reference that the C codecs are tested against.

One decoder and one encoder per :class:`~informix_arrow.wire.types.Kind`. The Python objects are those that
pyarrow's ``to_pylist`` gives for the Arrow type of the same kind. Parameters of SQ_BIND have their own forms:
``bind_values``.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal

from .bind_values import bind_value, bound_to_python
from .datetimes import (
    DatetimeValue,
    IntervalValue,
    datetime_fields,
    pack_datetime,
    pack_fields,
    unpack_datetime,
)
from .decimals import make_decimal, pack_decimal, unpack_decimal, unpack_unscaled
from .describe import Column
from .errors import DataError, Error, ProtocolError
from .primitives import NeedMoreData, Reader
from .qualifiers import Qualifier
from .types import (
    DEFAULT_OPTIONS,
    FLAG_BINARY_BOOL,
    FLAG_TRIM,
    ColumnType,
    Kind,
    PlanOp,
    TypeOptions,
    plan_op,
)

__all__ = [
    "DECODERS",
    "ENCODERS",
    "DatetimeValue",
    "IntervalValue",
    "bind_value",
    "bound_to_python",
    "decode_tuple",
    "encode_tuple",
    "pack_datetime",
    "pack_decimal",
    "unpack_datetime",
    "unpack_decimal",
]

DATE_EPOCH = dt.date(1899, 12, 31).toordinal()
"""Ordinal of day 0 of DATE (TYPES section 8)."""

_ENVELOPE_NULL = b"\1\0\0\0\0"
_INT8_MAX = 2**63 - 1


def decode_tuple(
    payload: bytes,
    columns: Sequence[Column],
    encoding: str,
    options: TypeOptions = DEFAULT_OPTIONS,
) -> tuple[object, ...]:
    """Decode one tuple.

    ``ProtocolError`` when the bytes do not end exactly with the last column, ``DataError`` (with ``column``)
    when a value is none of its type or does not fit its Arrow type.
    """
    reader = Reader(payload)
    values: list[object] = []
    for column in columns:
        op = plan_op(column.type, options, column=column.name)
        at = reader.pos
        try:
            values.append(DECODERS[op.kind](reader, op, encoding))
        except NeedMoreData:
            raise ProtocolError(
                f"column {column.name!r}: runs over the tuple's end ({len(payload)} bytes) from offset {at}",
                column=column.name,
            ) from None
        except Error as e:
            raise type(e)(f"column {column.name!r}, offset {at}: {e}", column=column.name) from None
    if reader.left:
        raise ProtocolError(f"{reader.left} bytes left over after the last column of a tuple")
    return tuple(values)


def encode_tuple(
    values: Sequence[object], columns: Sequence[Column], encoding: str, *, bool_binary: bool = False
) -> bytes:
    """Encode one tuple without its pad; ``bool_binary`` writes BOOLEAN as 0/1 (JDBC section 5, type 45).

    Accepts what :func:`decode_tuple` gives for any options. ``DataError`` (with ``column``) for a value that
    its column cannot hold, also for one whose bytes mean NULL.
    """
    if len(values) != len(columns):
        raise ValueError(f"{len(values)} values for {len(columns)} columns")
    out = bytearray()
    for value, column in zip(values, columns, strict=True):
        op = plan_op(column.type, DEFAULT_OPTIONS, bool_binary=bool_binary, column=column.name)
        try:
            out += ENCODERS[op.kind](value, column.type, op, encoding)
        except Error as e:
            raise type(e)(f"column {column.name!r}: {e}", column=column.name) from None
    return bytes(out)


# ---- decoders: Reader at the value -> object
# ---------------------------------------------------------------------


def _int16(reader: Reader, op: PlanOp, encoding: str) -> object:
    value = reader.short()
    return None if value == -0x8000 else value


def _int32(reader: Reader, op: PlanOp, encoding: str) -> object:
    value = reader.int()
    return None if value == -0x8000_0000 else value


def _int64(reader: Reader, op: PlanOp, encoding: str) -> object:
    value = reader.long()
    return None if value == -(2**63) else value


def _int8(reader: Reader, op: PlanOp, encoding: str) -> object:
    """Sign word, then the magnitude with its low half first."""
    sign = reader.short()
    magnitude = reader.uint() | reader.uint() << 32
    if sign == 0:
        return None
    value = magnitude if sign == 1 else -magnitude
    if sign not in (1, -1):
        raise ProtocolError(f"INT8 with sign word {sign}")
    if not -(2**63) <= value <= _INT8_MAX:
        raise DataError(f"INT8 of magnitude {magnitude} does not fit 64 bits")
    return value


def _float32(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = reader.take(4)
    return None if data == b"\xff" * 4 else struct.unpack(">f", data)[0]


def _float64(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = reader.take(8)
    return None if data == b"\xff" * 8 else struct.unpack(">d", data)[0]


def _date(reader: Reader, op: PlanOp, encoding: str) -> object:
    days = reader.int()
    if days == -0x8000_0000:
        return None
    try:
        return dt.date.fromordinal(days + DATE_EPOCH)
    except (ValueError, OverflowError):
        raise DataError(f"DATE with day number {days} is outside the years 1 to 9999") from None


def _envelope(reader: Reader) -> bytes | None:
    """Indicator, int length, content. Only indicator 1 is NULL (JDBC section 7)."""
    indicator, size = reader.byte(), reader.int()
    if size < 0:
        raise ProtocolError(f"negative length {size} in an envelope")
    data = reader.take(size)
    return None if indicator == 1 else data


def _bool(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = _envelope(reader)
    if data is None:
        return None
    if len(data) != 1:
        raise ProtocolError(f"BOOLEAN of {len(data)} bytes")
    if data in (b"t", b"T", b"\1"):
        return True
    if data in (b"f", b"F", b"\0"):
        return False
    raise ProtocolError(f"BOOLEAN with the value 0x{data.hex()}")


def _text(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as e:
        raise DataError(
            f"bytes that are no {encoding} text at position {e.start}: {data[:40].hex()}"
        ) from None


def _char(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = reader.take(op.width)
    if data[:1] == b"\0":
        return None
    return _text(data.rstrip(b" ") if op.flags & FLAG_TRIM else data, encoding)


def _varchar(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = reader.take(reader.byte())
    return None if data == b"\0" else _text(data, encoding)


def _lvarchar(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = _envelope(reader)
    return None if data is None else _text(data, encoding)


def _decimal128(reader: Reader, op: PlanOp, encoding: str) -> object:
    data = reader.take(op.width)
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
            f"{make_decimal(coefficient, exponent)} does not fit decimal128({precision}, {scale})"
        )
    return make_decimal(coefficient * 10 ** (exponent + scale), -scale)


def _decimal_float64(reader: Reader, op: PlanOp, encoding: str) -> object:
    value = unpack_decimal(reader.take(op.width))
    return None if value is None else float(value)


def _decimal_string(reader: Reader, op: PlanOp, encoding: str) -> object:
    value = unpack_decimal(reader.take(op.width))
    return None if value is None else format(value, "f")


def _datetime(reader: Reader, op: PlanOp, encoding: str) -> object:
    value = unpack_datetime(reader.take(op.width), Qualifier.from_encoded(op.arg))
    return None if value is None else value.natural()


Decoder = Callable[[Reader, PlanOp, str], object]

DECODERS: dict[Kind, Decoder] = {
    Kind.INT16: _int16,
    Kind.INT32: _int32,
    Kind.INT64: _int64,
    Kind.INT8: _int8,
    Kind.FLOAT32: _float32,
    Kind.FLOAT64: _float64,
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
}
"""The reference decoder of every kind."""


# ---- encoders: object -> bytes
# -----------------------------------------------------------------------------------


def _integer(value: object, type_name: str, bits: int) -> int:
    if not isinstance(value, int):
        raise DataError(f"a {type(value).__name__} cannot be {type_name}")
    if abs(value) >= 1 << (bits - 1):  # the most negative value stands for NULL
        raise DataError(f"{value} is outside the range of {type_name}")
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
        raise DataError(f"a {type(value).__name__} cannot be {ct.sql}")
    number = float("nan") if value != value else float(value)
    try:
        return struct.pack(">f" if op.width == 4 else ">d", number)
    except OverflowError:
        raise DataError(f"{value} is outside the range of {ct.sql}") from None


def _put_date(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return b"\x80\0\0\0"
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        raise DataError(f"a {type(value).__name__} cannot be a DATE")
    return (value.toordinal() - DATE_EPOCH).to_bytes(4, "big", signed=True)


def _put_bool(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return _ENVELOPE_NULL
    if not isinstance(value, bool):
        raise DataError(f"a {type(value).__name__} cannot be a BOOLEAN")
    if op.flags & FLAG_BINARY_BOOL:
        return b"\0\0\0\0\1" + (b"\1" if value else b"\0")
    return b"\0\0\0\0\1" + (b"t" if value else b"f")


def _bytes_of(value: object, ct: ColumnType, encoding: str) -> bytes:
    if not isinstance(value, str):
        raise DataError(f"a {type(value).__name__} cannot be {ct.sql}")
    try:
        data = value.encode(encoding)
    except UnicodeEncodeError as e:
        raise DataError(f"{value[e.start]!r} at position {e.start} does not exist in {encoding}") from None
    if len(data) > ct.content_width:
        raise DataError(f"{len(data)} bytes of text in {ct.sql}")
    return data


def _put_char(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return b"\0".ljust(op.width)[: op.width]
    data = _bytes_of(value, ct, encoding)
    if data[:1] == b"\0":
        raise DataError("a CHAR that begins with a NUL character would read as NULL")
    return data.ljust(op.width)


def _put_varchar(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return b"\1\0"
    data = _bytes_of(value, ct, encoding)
    if data == b"\0":
        raise DataError("a VARCHAR of one NUL character would read as NULL")
    return bytes((len(data),)) + data


def _put_lvarchar(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return _ENVELOPE_NULL
    data = _bytes_of(value, ct, encoding)
    return b"\0" + len(data).to_bytes(4, "big") + data


def _put_decimal(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    """Exact for Decimal, int and str. A float is as near as its shortest text, cut to a floating column's
    digits."""
    if value is None:
        return bytes(op.width)
    precision, scale = ct.precision or 0, ct.scale
    if isinstance(value, float):
        number = Decimal(repr(value)) if scale is not None else Decimal(f"{value:.{precision - 1}e}")
        if scale is None and len(repr(value).replace(".", "").lstrip("-0")) <= precision:
            number = Decimal(repr(value))
    elif isinstance(value, (Decimal, int, str)):
        try:
            number = Decimal(value)
        except ArithmeticError:
            raise DataError(f"{value!r} is no number") from None
    else:
        raise DataError(f"a {type(value).__name__} cannot be {ct.sql}")
    _, digits, exponent = number.as_tuple()
    if isinstance(exponent, int):
        text = "".join(map(str, digits)).lstrip("0")
        kept = text.rstrip("0")
        exponent += len(text) - len(kept)
        if scale is None and len(kept) > precision:
            raise DataError(f"{value} has more than the {precision} digits of {ct.sql}")
        if kept and scale is not None and (exponent < -scale or len(kept) + exponent > precision - scale):
            raise DataError(f"{value} does not fit {ct.sql}")
    return pack_decimal(number, op.width)


def _put_datetime(value: object, ct: ColumnType, op: PlanOp, encoding: str) -> bytes:
    if value is None:
        return bytes(op.width)
    qualifier = Qualifier.from_encoded(op.arg)
    return pack_fields(datetime_fields(value, qualifier), qualifier)


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
}
"""The reference encoder of every kind."""
