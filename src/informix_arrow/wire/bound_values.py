"""Decode parameters of SQ_BIND to Python objects, on the server (JDBC section 6)."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable

from .datetimes import unpack_datetime, unpack_interval
from .decimals import unpack_decimal
from .errors import DataError, NotSupportedError, ProtocolError
from .intervals import check_interval
from .messages import BoundValue
from .qualifiers import Qualifier
from .type_codes import DATE_EPOCH, LOCATOR_SIZE
from .types import TypeCode


def bound_to_python(bv: BoundValue, encoding: str) -> object:
    """Decode a parameter to int, float, Decimal, str, date, DatetimeValue, IntervalValue, bool, bytes or None.

    Every form that JDBC and the public Python driver send is accepted. The patterns that mean NULL inside a value
    (INT 80000000 and so on) are NULL here too (TYPES section 3). BYTE and TEXT (11, 12) are bytes: ``data`` must
    be the *content*, which follows the Bind as BlobChunks. The caller puts it in place of the descriptor. BLOB and
    CLOB are locators of 72 bytes, whether they came raw or as 144 hexadecimal digits. Other opaque types are
    bytes, JSON is str.

    Raises ``DataError`` for an invalid value, ``NotSupportedError`` for an unknown type, and ``ProtocolError`` for
    a wrong inner length.
    """
    data = bv.data
    if data is None:
        return None
    reader = _READERS.get(bv.type & 0xFF)
    if reader is None:
        name = f" {bv.extended_name!r}" if bv.extended_name else ""
        raise NotSupportedError(f"A parameter of type {_type_name(bv.type)}{name} is not supported.")
    return reader(data, bv, encoding)


def _type_name(code: int) -> str:
    try:
        return f"{TypeCode(code & 0xFF).name} ({code})"
    except ValueError:
        return str(code)


def _strip_length(data: bytes, prefix: int) -> bytes:
    if len(data) < prefix or int.from_bytes(data[:prefix], "big") != len(data) - prefix:
        raise ProtocolError(f"The inner length of a parameter is wrong: {data[:16].hex()}.")
    return data[prefix:]


def _read_text(data: bytes, prefix: int, encoding: str) -> str:
    raw = _strip_length(data, prefix)
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as e:
        raise DataError(f"A parameter is not valid {encoding} text at byte {e.start}.") from None


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
    return unpack_decimal(_strip_length(data, 2))


def _read_date(data: bytes, bv: BoundValue, encoding: str) -> object:
    days = int.from_bytes(data, "big", signed=True)
    if days == -0x8000_0000:
        return None
    try:
        return dt.date.fromordinal(days + DATE_EPOCH)
    except (ValueError, OverflowError):
        raise DataError(
            f"A DATE parameter with the day number {days} is outside the years 1 to 9999."
        ) from None


def _qualifier(bv: BoundValue) -> Qualifier:
    try:
        return Qualifier.from_encoded(bv.precision)
    except ValueError as e:
        raise DataError(f"The type of a parameter is not valid. {e}") from None


def _read_datetime(data: bytes, bv: BoundValue, encoding: str) -> object:
    # informix-driver sends six digits in FRACTION(5). Servers keep five, without rounding.
    return unpack_datetime(_strip_length(data, 2), _qualifier(bv), cut=True)


def _read_interval(data: bytes, bv: BoundValue, encoding: str) -> object:
    qualifier = _qualifier(bv)
    if not qualifier.is_interval:
        raise DataError(f"A parameter has the type INTERVAL {qualifier.interval_sql}, which does not exist.")
    value = unpack_interval(_strip_length(data, 2), qualifier, cut=True)  # six digits, as in a DATETIME
    if value is not None:
        check_interval(value.fields, qualifier)
    return value


def _read_lvarchar(data: bytes, bv: BoundValue, encoding: str) -> object:
    return _read_text(data, 4, encoding)


def _read_boolean(data: bytes, bv: BoundValue, encoding: str) -> object:
    raw = _strip_length(data, 4)
    if raw in (b"\1", b"t", b"T"):
        return True
    if raw in (b"\0", b"f", b"F"):
        return False
    raise ProtocolError(f"A BOOLEAN parameter has the value 0x{raw.hex()}.")


def _read_content(data: bytes, bv: BoundValue, encoding: str) -> object:
    return data


def _read_opaque(data: bytes, bv: BoundValue, encoding: str) -> object:
    name = bv.extended_name.lower()
    if name in ("lvarchar", "json"):
        return _read_lvarchar(data, bv, encoding)
    if name == "boolean":
        return _read_boolean(data, bv, encoding)
    raw = _strip_length(data, 4)
    return _locator(raw) if name in ("blob", "clob") else raw


def _locator(raw: bytes) -> bytes:
    """Return the 72 bytes of a locator that is raw or hexadecimal text (TYPES section 13)."""
    if len(raw) == LOCATOR_SIZE:
        return raw
    try:
        if len(raw) == 2 * LOCATOR_SIZE:
            return bytes.fromhex(raw.decode("ascii"))
    except ValueError:
        pass
    raise ProtocolError(f"The locator of a BLOB or CLOB has {len(raw)} bytes: {raw[:16].hex()}.")


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
    TypeCode.BYTE: _read_content,
    TypeCode.TEXT: _read_content,
    TypeCode.LVARCHAR: _read_lvarchar,
    TypeCode.BOOL: _read_boolean,
    TypeCode.UDTVAR: _read_opaque,
    TypeCode.UDTFIXED: _read_opaque,
    TypeCode.SENDRECV: _read_opaque,
}
_READERS = {code.value: reader for code, reader in _BY_CODE.items()}  # plain ints hash faster
