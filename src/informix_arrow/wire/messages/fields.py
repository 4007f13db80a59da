"""Codecs of single fields, and the field table of a whole message (SQLI section 1).

The annotation of a message's field names its codec::

    warnings: Short
    name: Annotated[str, Text("the database name")]

A :class:`FieldTable` is built from them once for each class. It encodes and parses the class's messages.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Annotated, Any, ClassVar, TypeVar, get_origin

from ..capabilities import Framing
from ..errors import ProtocolError
from ..primitives import Reader, decode_text, encode_text, lstr, pack, pstr

_T = TypeVar("_T")
_SHORT, _INT = struct.Struct(">h"), struct.Struct(">i")


class FieldCodec(ABC):
    """Encodes and parses the values of one field."""

    @abstractmethod
    def encode(self, value: Any, framing: Framing) -> bytes:
        """Return the bytes of ``value``. Raises ``ValueError`` for a value that the field cannot hold."""

    @abstractmethod
    def parse(self, reader: Reader, framing: Framing) -> Any:
        """Parse one value."""


class Number(FieldCodec):
    """An integer of the format ``code``, or of ``wide`` if the framing has the capability ``flag``."""

    def __init__(self, code: str, wide: str = "", flag: str = "") -> None:
        self.code, self.wide, self.flag = code, wide or code, flag
        self._narrow, self._wide = struct.Struct(f">{self.code}"), struct.Struct(f">{self.wide}")

    def _format(self, framing: Framing) -> struct.Struct:
        return self._wide if self.flag and getattr(framing, self.flag) else self._narrow

    def encode(self, value: Any, framing: Framing) -> bytes:
        return pack(self._format(framing), value)

    def parse(self, reader: Reader, framing: Framing) -> Any:
        return reader.unpack(self._format(framing))[0]


class Flag(FieldCodec):
    """A short that is 0 or 1."""

    def encode(self, value: Any, framing: Framing) -> bytes:
        return b"\0\1" if value else b"\0\0"

    def parse(self, reader: Reader, framing: Framing) -> Any:
        return bool(reader.short())


class _Named(FieldCodec):
    """A field with a name for its error texts."""

    def __init__(self, what: str) -> None:
        self.what = what


class Data(_Named):
    """PSTR of bytes."""

    def encode(self, value: Any, framing: Framing) -> bytes:
        return pstr(value, self.what)

    def parse(self, reader: Reader, framing: Framing) -> Any:
        return reader.pstr(self.what)


class Text(_Named):
    """PSTR of text in the connection's code set."""

    def encode(self, value: Any, framing: Framing) -> bytes:
        return pstr(encode_text(value, framing.encoding, self.what), self.what)

    def parse(self, reader: Reader, framing: Framing) -> Any:
        return decode_text(reader.pstr(self.what), framing.encoding)


class LongText(_Named):
    """LSTR of text: its length is an int, or an unsigned short without bit 62."""

    def encode(self, value: Any, framing: Framing) -> bytes:
        return lstr(encode_text(value, framing.encoding, self.what), framing.no_64k_limit, self.what)

    def parse(self, reader: Reader, framing: Framing) -> Any:
        return decode_text(reader.lstr(framing.no_64k_limit, self.what), framing.encoding)


class RowBytes(_Named):
    """The bytes of a row, padded to even. Their size in front is an int, or a short without bit 63."""

    def encode(self, value: Any, framing: Framing) -> bytes:
        size = len(value)
        return b"".join((pack(_INT if framing.large_fetch else _SHORT, size), value, b"\0" * (size & 1)))

    def parse(self, reader: Reader, framing: Framing) -> Any:
        at = reader.pos
        (size,) = reader.unpack(_INT if framing.large_fetch else _SHORT)
        if size < 0:
            raise ProtocolError(f"{self.what}: The size {size} at offset {at} is negative.")
        data = reader.read_bytes(size)
        reader.pad(size)
        return data


class OptionalNumber(FieldCodec):
    """A number that is present only if the framing has the capability ``flag``. Otherwise it is 0."""

    def __init__(self, code: str, flag: str) -> None:
        self._layout, self._flag = struct.Struct(f">{code}"), flag

    def encode(self, value: Any, framing: Framing) -> bytes:
        return pack(self._layout, value) if getattr(framing, self._flag) else b""

    def parse(self, reader: Reader, framing: Framing) -> Any:
        return reader.unpack(self._layout)[0] if getattr(framing, self._flag) else 0


class Int8(FieldCodec):
    """INT8: sign word, low half, high half of the magnitude (TYPES section 3)."""

    _LAYOUT: ClassVar[struct.Struct] = struct.Struct(">hII")

    def encode(self, value: Any, framing: Framing) -> bytes:
        magnitude = abs(value)
        if magnitude >= 1 << 63:
            raise ValueError(f"{value} does not fit in an INT8.")
        return self._LAYOUT.pack(-1 if value < 0 else 1, magnitude & 0xFFFF_FFFF, magnitude >> 32)

    def parse(self, reader: Reader, framing: Framing) -> Any:
        sign, low, high = reader.unpack(self._LAYOUT)
        magnitude = low | high << 32
        return -magnitude if sign < 0 else magnitude if sign else 0


def parse_name(reader: Reader, framing: Framing) -> str:
    """Parse a padded string that is a name."""
    return decode_text(reader.pstr("name"), framing.encoding)


Name = Annotated[str, Text("a name")]
Short = Annotated[int, Number("h")]  # signed, 2 bytes
Int = Annotated[int, Number("i")]  # signed, 4 bytes


class FieldTable:
    """The fields of a message in the order of the wire.

    The leading numbers are packed with the tag by a single ``struct``. The most frequent messages consist of
    nothing else. The other fields are encoded one by one.
    """

    def __init__(self, tag: int, fields: Mapping[str, FieldCodec]) -> None:
        numbers: dict[str, Number] = {}
        for name, codec in fields.items():
            if not isinstance(codec, Number):
                break
            numbers[name] = codec
        self._rest = [(name, codec) for name, codec in fields.items() if name not in numbers]
        flags = {number.flag for number in numbers.values() if number.flag}
        if len(flags) > 1:
            raise TypeError(f"The width of leading numbers depends on several capabilities: {sorted(flags)}.")
        self._flag = flags.pop() if flags else ""
        narrow = "".join(number.code for number in numbers.values())
        wide = "".join(number.wide for number in numbers.values())
        # The numbers without and with the tag, each in the narrow form and in that of the capability.
        self._numbers, self._wide_numbers = struct.Struct(f">{narrow}"), struct.Struct(f">{wide}")
        self._head, self._wide_head = struct.Struct(f">h{narrow}"), struct.Struct(f">h{wide}")
        self._tag = pack(struct.Struct(">h"), tag)
        self._head_values = attrgetter("TAG", *numbers) if numbers else None

    def encode(self, message: object, framing: Framing) -> bytes:
        """Return the tag and the body of ``message``."""
        if self._head_values is None:
            data = self._tag
        elif self._flag and getattr(framing, self._flag):
            data = pack(self._wide_head, *self._head_values(message))
        else:
            data = pack(self._head, *self._head_values(message))
        for name, codec in self._rest:
            data += codec.encode(getattr(message, name), framing)
        return data

    def parse(self, cls: Callable[..., _T], reader: Reader, framing: Framing) -> _T:
        """Parse the body of a message of the class ``cls``."""
        if self._head_values is None:
            values: tuple[Any, ...] = ()
        elif self._flag and getattr(framing, self._flag):
            values = reader.unpack(self._wide_numbers)
        else:
            values = reader.unpack(self._numbers)
        for _, codec in self._rest:
            values += (codec.parse(reader, framing),)
        return cls(*values)


def field_codecs(annotations: Mapping[str, Any]) -> dict[str, FieldCodec | None]:
    """Return the codec of each annotated field of a class, None for a field without one."""
    by_name: dict[str, FieldCodec | None] = {}
    for name, annotation in annotations.items():
        if get_origin(annotation) is not ClassVar:
            codecs = [
                item for item in getattr(annotation, "__metadata__", ()) if isinstance(item, FieldCodec)
            ]
            by_name[name] = codecs[0] if codecs else None
    return by_name
