"""Big-endian integers and counted strings, of which every SQLI message consists (SQLI section 1).

A :class:`Reader` reads bytes that may not all have arrived. It raises :class:`NeedMoreData` if bytes are missing,
and ``ProtocolError`` if they are invalid. After ``NeedMoreData`` the caller reads from the network and parses the
same message again from its first byte.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import DataError, ProtocolError

PSTR_MAX = 0x7FFF  # the length of a padded string is a signed short
LSTR_SHORT_MAX = 0xFFFF  # SQL text without capability bit 62
LSTR_LONG_MAX = 0x7FFF_FFFF  # SQL text with bit 62

T = TypeVar("T")

# Reader and Writer have methods called int. Inside those classes the type needs another name.
_Int = int

_SHORT = struct.Struct(">h")
_USHORT = struct.Struct(">H")
_INT = struct.Struct(">i")
_UINT = struct.Struct(">I")
_LONG = struct.Struct(">q")


class NeedMoreData(Exception):
    """The message is not complete: read more and parse it again from its start.

    ``missing`` is the minimum number of further bytes that parsing needs to continue. A server checks it against
    its own limit before it allocates memory, because the peer chose the number.
    """

    def __init__(self, missing: int) -> None:
        super().__init__(f"{missing} more bytes are needed")
        self.missing = missing


class Reader:
    """A cursor over ``data[pos:end]``. Every method moves ``pos`` past what it returns.

    ``what`` in the string methods names the field for the error text. Nothing is copied until it is returned and
    no view of ``data`` outlives a call, so a ``bytearray`` can be resized between calls.

    ``partial`` is what was parsed of a long message before bytes were missing. The caller passes it to the next
    reader of the same message, so that a message that arrives in very many pieces is not parsed from its beginning
    each time.
    """

    __slots__ = ("data", "end", "partial", "pos")

    def __init__(
        self,
        data: bytes | bytearray | memoryview,
        pos: _Int = 0,
        end: _Int | None = None,
        partial: tuple[_Int, Any] | None = None,
    ) -> None:
        self.data = data
        self.partial = partial
        self.pos = pos
        self.end = len(data) if end is None else end

    @property
    def remaining(self) -> _Int:
        """Bytes between ``pos`` and the end."""
        return self.end - self.pos

    def _advance(self, size: _Int) -> _Int:
        start = self.pos
        stop = start + size
        if stop > self.end:
            raise NeedMoreData(stop - self.end)
        self.pos = stop
        return start

    def byte(self) -> _Int:
        """Unsigned byte."""
        return self.data[self._advance(1)]

    # The next three and unpack do what _advance does themselves: a description of 100 columns calls them 500 times.

    def short(self) -> _Int:
        """Signed 2 bytes."""
        start = self.pos
        if (stop := start + 2) > self.end:
            raise NeedMoreData(stop - self.end)
        self.pos = stop
        return int(_SHORT.unpack_from(self.data, start)[0])

    def ushort(self) -> _Int:
        """Unsigned 2 bytes."""
        start = self.pos
        if (stop := start + 2) > self.end:
            raise NeedMoreData(stop - self.end)
        self.pos = stop
        return int(_USHORT.unpack_from(self.data, start)[0])

    def int(self) -> _Int:
        """Signed 4 bytes."""
        start = self.pos
        if (stop := start + 4) > self.end:
            raise NeedMoreData(stop - self.end)
        self.pos = stop
        return int(_INT.unpack_from(self.data, start)[0])

    def uint(self) -> _Int:
        """Unsigned 4 bytes."""
        return int(self.unpack(_UINT)[0])

    def long(self) -> _Int:
        """Signed 8 bytes."""
        return int(self.unpack(_LONG)[0])

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        """Read all numbers of a layout."""
        start = self.pos
        if (stop := start + layout.size) > self.end:
            raise NeedMoreData(stop - self.end)
        self.pos = stop
        return layout.unpack_from(self.data, start)

    def read_bytes(self, size: _Int) -> bytes:
        """``size`` raw bytes."""
        start = self._advance(size)
        with memoryview(self.data) as view:
            return bytes(view[start : start + size])

    def skip(self, size: _Int) -> None:
        """Skip ``size`` bytes."""
        self._advance(size)

    def read_list(self, read: Callable[[], T], count: _Int | None) -> list[T]:
        """Read the parts of a message with ``read()``: ``count`` parts, or with None all before the first empty
        one.

        It may be called once in a message. The parts are kept in ``partial`` until the message is complete.
        """
        consumed, parts = self.partial or (0, [])
        begin = self.pos
        self.pos += consumed
        try:
            while count is None or len(parts) < count:
                part = read()
                if count is None and not part:
                    break
                parts.append(part)
                consumed = self.pos - begin
        finally:
            self.partial = (consumed, parts)
        return parts

    def pad(self, size: _Int) -> None:
        """Skip the zero byte that follows an odd ``size``. Its value is not checked, because it has no meaning."""
        if size & 1:
            self._advance(1)

    def pstr(self, what: str = "string") -> bytes:
        """Read a PSTR: short length, bytes, one pad byte if odd."""
        return self._counted(_SHORT, what)

    def astr(self, what: str = "string") -> bytes:
        """Read an ASTR (login only): short length that counts a closing NUL, no padding. The NUL is not returned."""
        at = self.pos
        size = self.short()
        if size < 0:
            raise ProtocolError(f"{what}: The length {size} at offset {at} is negative.")
        data = self.read_bytes(size)
        return data[:-1] if data.endswith(b"\0") else data

    def lstr(self, wide: bool, what: str = "text") -> bytes:
        """Read an LSTR: int length (``wide``, bit 62) or unsigned short length, bytes, one pad byte if odd."""
        return self._counted(_INT if wide else _USHORT, what)

    def _counted(self, length: struct.Struct, what: str) -> bytes:
        at = self.pos
        start = at + length.size
        if start > self.end:
            raise NeedMoreData(start - self.end)
        (size,) = length.unpack_from(self.data, at)
        if size < 0:
            raise ProtocolError(f"{what}: The length {size} at offset {at} is negative.")
        if (stop := start + size + (size & 1)) > self.end:
            raise NeedMoreData(stop - self.end)
        self.pos = stop
        with memoryview(self.data) as view:
            return bytes(view[start : start + size])


_PACK_SHORT = _SHORT.pack


def _too_large(layout: struct.Struct, value: int) -> ValueError:
    return ValueError(f"{value!r} does not fit in a {layout.size}-byte field ({layout.format}).")


def pack(layout: struct.Struct, *values: int) -> bytes:
    """Pack numbers with ``layout``. Raises ``ValueError`` for the first that its field cannot hold."""
    try:
        return layout.pack(*values)
    except struct.error:
        for code, value in zip(layout.format[1:], values, strict=True):
            field = struct.Struct(f">{code}")
            try:
                field.pack(value)
            except struct.error:
                raise _too_large(field, value) from None
        raise


def pstr(data: bytes, what: str = "string") -> bytes:
    """Encode a PSTR (see :meth:`Writer.pstr`)."""
    size = len(data)
    if size > PSTR_MAX:
        raise ValueError(f"{what}: {size} bytes are too long. The maximum is {PSTR_MAX}.")
    return b"".join((_PACK_SHORT(size), data, b"\0" if size & 1 else b""))


def lstr(data: bytes, wide: bool, what: str = "text") -> bytes:
    """Encode an LSTR (see :meth:`Writer.lstr`)."""
    size = len(data)
    limit = LSTR_LONG_MAX if wide else LSTR_SHORT_MAX
    if size > limit:
        raise ValueError(f"{what}: {size} bytes are too long. The maximum is {limit}.")
    return b"".join(((_INT if wide else _USHORT).pack(size), data, b"\0" if size & 1 else b""))


def astr(data: bytes, what: str = "string") -> bytes:
    """Encode an ASTR (see :meth:`Writer.astr`)."""
    size = len(data) + 1
    if size > PSTR_MAX:
        raise ValueError(f"{what}: {size - 1} bytes are too long. The maximum is {PSTR_MAX - 1}.")
    if b"\0" in data:
        raise ValueError(f"{what}: A NUL byte is not allowed.")
    return b"".join((_PACK_SHORT(size), data, b"\0"))


class Writer:
    """Collects the bytes of messages. Raises ``ValueError`` for values outside a field's range."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = bytearray()

    def __len__(self) -> _Int:
        return len(self._buffer)

    def _pack(self, layout: struct.Struct, value: _Int) -> Writer:
        try:
            self._buffer += layout.pack(value)
        except struct.error:
            raise _too_large(layout, value) from None
        return self

    def byte(self, value: _Int) -> Writer:
        """Unsigned byte."""
        if not 0 <= value <= 0xFF:
            raise ValueError(f"{value!r} does not fit in one byte.")
        self._buffer.append(value)
        return self

    def short(self, value: _Int) -> Writer:
        """Signed 2 bytes."""
        try:  # not through _pack(), because every message has a short
            self._buffer += _PACK_SHORT(value)
        except struct.error:
            raise _too_large(_SHORT, value) from None
        return self

    def ushort(self, value: _Int) -> Writer:
        """Unsigned 2 bytes."""
        return self._pack(_USHORT, value)

    def int(self, value: _Int) -> Writer:
        """Signed 4 bytes."""
        return self._pack(_INT, value)

    def uint(self, value: _Int) -> Writer:
        """Unsigned 4 bytes."""
        return self._pack(_UINT, value)

    def long(self, value: _Int) -> Writer:
        """Signed 8 bytes."""
        return self._pack(_LONG, value)

    def raw(self, data: bytes | bytearray | memoryview) -> Writer:
        """Bytes without a length."""
        self._buffer += data
        return self

    def pad(self, size: _Int) -> Writer:
        """The zero byte that follows an odd ``size``."""
        if size & 1:
            self._buffer.append(0)
        return self

    def pstr(self, data: bytes, what: str = "string") -> Writer:
        """PSTR: at most 32767 bytes, padded to even."""
        self._buffer += pstr(data, what)
        return self

    def astr(self, data: bytes, what: str = "string") -> Writer:
        """ASTR (login only): at most 32766 bytes, a closing NUL is added and counted."""
        self._buffer += astr(data, what)
        return self

    def lstr(self, data: bytes, wide: bool, what: str = "text") -> Writer:
        """LSTR: at most 2^31-1 bytes when ``wide`` (bit 62), else 65535; padded to even."""
        self._buffer += lstr(data, wide, what)
        return self

    def getvalue(self) -> bytes:
        """Return everything written so far."""
        return bytes(self._buffer)


def encode_text(text: str, encoding: str, what: str) -> bytes:
    """Encode text for the wire. Raises ``DataError`` for a character that the connection's code set lacks.

    Lone surrogates from :func:`decode_text` are encoded as the bytes that they stand for.
    """
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        try:
            return text.encode(encoding, "surrogateescape")
        except UnicodeEncodeError:
            return encode_strictly(text, encoding, what)  # raises the error


def encode_strictly(text: str, encoding: str, what: str) -> bytes:
    """Encode a user's text. Raises ``DataError`` for a character that the code set lacks, lone surrogates
    included.

    So no invalid text gets into a database through a str.
    """
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as e:
        bad = text[e.start]
        raise DataError(
            f"The character {bad!r} (U+{ord(bad):04X}) at position {e.start + 1} of {what} "
            f"does not exist in the connection's code set {encoding}."
        ) from None


def decode_text(data: bytes, encoding: str) -> str:
    """Decode SQL text or a name. An invalid byte becomes a lone surrogate.

    The framing is intact, so the user of the text decides what to do with it, and the original bytes are not lost.
    """
    return data.decode(encoding, "surrogateescape")
