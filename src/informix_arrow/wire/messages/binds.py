"""SQ_BIND: the parameters of a statement (SQLI section 9, JDBC section 6)."""

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..capabilities import Framing
from ..errors import ProtocolError
from ..primitives import NeedMoreData, Reader, Writer, decode_text, encode_text
from ..type_codes import FIXED_TYPES
from ..types import FLAG_DISTINCT, TypeCode, has_type_name
from .base import Message

if TYPE_CHECKING:
    from typing_extensions import Self

# The data part of a value has a fixed number of bytes, or a length in front.
_DESCRIPTORS = (TypeCode.BYTE, TypeCode.TEXT)
_FIXED_TYPES = {code: size for code, (_, _, size) in FIXED_TYPES.items() if code not in _DESCRIPTORS}
_SHORT_TYPES = (
    TypeCode.CHAR,
    TypeCode.VARCHAR,
    TypeCode.NCHAR,
    TypeCode.NVARCHAR,
    TypeCode.DECIMAL,
    TypeCode.MONEY,
    TypeCode.DATETIME,
    TypeCode.INTERVAL,
)
_INT_TYPES = (TypeCode.UDTVAR, TypeCode.UDTFIXED, TypeCode.LVARCHAR, TypeCode.SENDRECV, TypeCode.BOOL)

# The same as tables indexed by the low byte of the type, because a load looks them up millions of times.
_NAMED = tuple(has_type_name(code) for code in range(256))
_SHORT, _INT, _DESCRIPTOR, _UNKNOWN = -2, -4, -56, 0
_LAYOUT = [_UNKNOWN] * 256
for _code, _size in _FIXED_TYPES.items():
    _LAYOUT[_code] = _size
for _layout, _codes in ((_SHORT, _SHORT_TYPES), (_INT, _INT_TYPES), (_DESCRIPTOR, _DESCRIPTORS)):
    for _code in _codes:
        _LAYOUT[_code] = _layout

_HEAD = struct.Struct(">hH")  # indicator, precision word
_WORDS = struct.Struct(">HhH")
_NULL = b"\0\0\xff\xff\0\0"


class BoundValue(NamedTuple):
    """One parameter in its wire form.

    ``data`` is what follows the precision word without the pad. An inner length is part of it (a short for
    character, decimal and datetime types, an int for 40, 41, 43, 44 and 45). None is NULL. ``precision`` is the
    raw precision word, 0..65535. ``indicator`` is what a peer sent: 0 a value, -1 NULL, -2 "default" (taken as
    NULL). ``owner`` and ``extended_name`` exist for types above 18 other than 52 and 53.

    It is a NamedTuple and not a dataclass, because a load binds millions of them.
    """

    type: int
    data: bytes | None
    precision: int = 0
    indicator: int = 0
    owner: str = ""
    extended_name: str = ""


NULL_VALUE = BoundValue(0, None, 0, -1)
"""NULL for a parameter of any type (TYPES section 1)."""


@dataclass(frozen=True, slots=True)
class Bind(Message, tag=5, sent_by="client"):
    """SQ_BIND: values for the parameters of the next OPEN or EXECUTE of the statement.

    Wire: ``short n``, then per value ``short type, [PSTR owner, PSTR type name: type > 18 and not 52, 53],
    short indicator, short precision, data``. The data part as a whole, inner length included, is padded to
    even. NULL has no data.
    """

    values: tuple[BoundValue, ...]

    def encode(self, framing: Framing) -> bytes:
        if len(self.values) > 0x7FFF:
            raise ValueError(f"The statement has {len(self.values)} parameters. The maximum is 32767.")
        out = bytearray(b"\0\x05")
        out += len(self.values).to_bytes(2, "big")
        for value in self.values:
            code, data, precision, indicator, _, _ = value
            if data is None and code == 0:
                out += _NULL
                continue
            if _NAMED[code & 0xFF]:
                w = Writer().short(code)
                w.pstr(encode_text(value.owner, framing.encoding, "type owner"), "type owner")
                w.pstr(encode_text(value.extended_name, framing.encoding, "type name"), "type name")
                out += w.getvalue()
            else:
                out += code.to_bytes(2, "big")
            if data is None:
                out += (indicator or -1).to_bytes(2, "big", signed=True) + precision.to_bytes(2, "big")
                continue
            out += _HEAD.pack(0, precision)
            out += data
            if len(data) & 1:
                out.append(0)
        return bytes(out)

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        count = reader.short()
        if count < 0:
            raise ProtocolError(f"SQ_BIND: The number of parameters is {count}.")
        values: list[BoundValue] = []
        new = tuple.__new__  # takes a third of the constructor's time
        data, end, pos = reader.data, reader.end, reader.pos
        try:
            for _ in range(count):
                if end - pos < 6:
                    raise NeedMoreData(6 - (end - pos))
                code, indicator, precision = _WORDS.unpack_from(data, pos)
                owner = extended_name = ""
                if _NAMED[code & 0xFF]:
                    reader.pos = pos + 2
                    owner = decode_text(reader.pstr("type owner"), framing.encoding)
                    extended_name = decode_text(reader.pstr("type name"), framing.encoding)
                    indicator, precision = reader.short(), reader.ushort()
                    pos = reader.pos
                else:
                    pos += 6
                if indicator < 0:
                    values.append(BoundValue(code, None, precision, indicator, owner, extended_name))
                    continue
                size = _LAYOUT[code & 0xFF]
                if size <= 0:
                    size = _data_size(data, pos, end, code & 0xFF, framing)
                stop = pos + size
                padded = stop + (size & 1)
                if padded > end:
                    raise NeedMoreData(padded - end)
                fields = (code, bytes(data[pos:stop]), precision, indicator, owner, extended_name)
                values.append(new(BoundValue, fields))
                pos = padded
        finally:
            reader.pos = pos
        return cls(tuple(values))


def encode_result_value(value: BoundValue, framing: Framing) -> bytes:
    """Encode one value for SQ_FPROUTINE: as in SQ_BIND, but a distinct type has its name too (SQLI section 16)."""
    w = Writer().ushort(value.type)
    if _NAMED[value.type & 0xFF] or value.type & FLAG_DISTINCT:
        w.pstr(encode_text(value.owner, framing.encoding, "type owner"), "type owner")
        w.pstr(encode_text(value.extended_name, framing.encoding, "type name"), "type name")
    if value.data is None:
        return w.short(value.indicator or -1).ushort(value.precision).getvalue()
    return w.short(0).ushort(value.precision).raw(value.data).pad(len(value.data)).getvalue()


def parse_result_value(reader: Reader, framing: Framing) -> BoundValue:
    """Parse one value of SQ_FPROUTINE, the reverse of :func:`encode_result_value`."""
    code = reader.ushort()
    owner = extended_name = ""
    if _NAMED[code & 0xFF] or code & FLAG_DISTINCT:
        owner = decode_text(reader.pstr("type owner"), framing.encoding)
        extended_name = decode_text(reader.pstr("type name"), framing.encoding)
    indicator, precision = reader.short(), reader.ushort()
    if indicator < 0:
        return BoundValue(code, None, precision, indicator, owner, extended_name)
    size = _LAYOUT[code & 0xFF]
    if size <= 0:
        size = _data_size(reader.data, reader.pos, reader.end, code & 0xFF, framing)
    data = reader.read_bytes(size)
    reader.pad(size)
    return BoundValue(code, data, precision, 0, owner, extended_name)


def _data_size(data: bytes | bytearray | memoryview, pos: int, end: int, code: int, framing: Framing) -> int:
    """Return the size of a data part of varying length that begins at ``pos``, its inner length included."""
    layout = _LAYOUT[code]
    if layout == _SHORT:
        if end - pos < 2:
            raise NeedMoreData(2 - (end - pos))
        # Unsigned, because JDBC binds up to 65534 bytes as CHAR.
        return 2 + (data[pos] << 8 | data[pos + 1])
    if layout == _INT:
        if end - pos < 4:
            raise NeedMoreData(4 - (end - pos))
        size = int.from_bytes(data[pos : pos + 4], "big", signed=True)
        if size < 0:
            raise ProtocolError(f"SQ_BIND: The length {size} of a value of type {code} is negative.")
        return 4 + size
    if layout == _DESCRIPTOR:
        return framing.descriptor_size
    raise ProtocolError(f"SQ_BIND: The layout of a value of type {code} is not known.")
