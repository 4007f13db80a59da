"""Text of a file that somebody else has opened, and closes. Bytes that are no text go through, so that the row with
them can be refused by itself, as it is."""

from __future__ import annotations

import codecs
import re
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

#: A byte that is no text, for parsers that take UTF-8 alone: one of the last 128 characters there are, which mean
#: nothing. Where a file has one of these itself, its bytes are told in the same way.
_FIRST = 0x10FF80
_LIKE_IT = (b"\xf4\x8f\xbe", b"\xf4\x8f\xbf")  # how the UTF-8 of these begins
_STANDING_IN = f"[{chr(_FIRST)}-{chr(_FIRST + 127)}]"
_SURROGATE, _STAND_IN = re.compile("[\udc80-\udcff]"), re.compile(_STANDING_IN)


class TextDecoder:
    """The characters of a file of bytes; a byte that is none is a surrogate, as Python's ``surrogateescape`` has it.

    ``UnicodeDecodeError`` where the codec cannot go on behind such a byte.
    """

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")

    def read(self, size: int) -> str:
        """Characters of the next ``size`` bytes; "" at the end."""
        while True:
            data = self._file.read(size)
            text = self._decoder.decode(data, not data)
            if text or not data:
                return text


def describe_undecodable(text: str, encoding: str) -> str:
    """Which byte of a text is none, "" where all are."""
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        if 0xDC80 <= code <= 0xDCFF:
            return f"the byte {code - 0xDC00:02x} is no text in {encoding}"
        return f"\\u{code:04x} by itself is no character"
    return ""


class ByteEscaper:
    """UTF-8 of a file, in which bytes that are no text are stood in for, and what was in their place.

    ``used`` is True once that was needed.
    """

    def __init__(self, encoding: str) -> None:
        self.is_utf8 = _is_utf8(encoding)
        self.used = False
        self._rest = b""  # a character whose other bytes have not come

    def of_utf8(self, data: bytes, *, final: bool) -> bytes:
        """The next bytes of a file of UTF-8, whole characters only; ``final`` when no others come."""
        data = self._rest + data
        cut = 0 if final else _unfinished(data)
        self._rest = data[len(data) - cut :]
        data = data[: len(data) - cut]
        if data.isascii():
            return data
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("utf-8", "surrogateescape")
        else:
            if not any(each in data for each in _LIKE_IT):
                return data
        return self.of_text(
            _STAND_IN.sub(lambda found: found[0].encode().decode("ascii", "surrogateescape"), text)
        )

    def of_text(self, text: str) -> bytes:
        """The next characters, in which surrogates are bytes."""
        made = _SURROGATE.sub(lambda found: chr(_FIRST + ord(found[0]) - 0xDC80), text)
        self.used = self.used or made != text
        return made.encode()

    def text(self, text: str) -> str:
        """As it was in the file: surrogates in the place of bytes that are no text."""
        if not self.used:
            return text
        made = _STAND_IN.sub(lambda found: chr(0xDC80 + ord(found[0]) - _FIRST), text)
        return (
            made.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
            if self.is_utf8
            else made
        )

    def find_undecodable(self, batch: pa.RecordBatch, encoding: str) -> tuple[int, str] | None:
        """The first row of UTF-8 that has such a byte, and which; None when none has."""
        found = []
        for column in batch.columns:
            places = pc.indices_nonzero(pc.fill_null(pc.match_substring_regex(column, _STANDING_IN), False))
            told = (
                (place, describe_undecodable(self.text(column[place].as_py()), encoding))
                for place in places.to_pylist()
            )
            found += [each for each in told if each[1]][:1]
        return min(found, default=None)

    def column(self, column: pa.Array) -> pa.Array:
        """Texts with the bytes of the file, or with ones that are no UTF-8 either."""
        if not self.used or not pc.any(pc.match_substring_regex(column, _STANDING_IN)).as_py():
            return column
        how = _how(self.is_utf8)
        made = [None if text is None else self.text(text).encode("utf-8", how) for text in column.to_pylist()]
        return pc.cast(
            pa.array(made, pa.binary()), options=pc.CastOptions(pa.utf8(), allow_invalid_utf8=True)
        )


def as_text(data: bytes, encoding: str) -> str:
    """Of what a column has for a file of this encoding: surrogates in the place of bytes that are no text."""
    return data.decode("utf-8", _how(_is_utf8(encoding)))


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


def _how(is_utf8: bool) -> str:
    """Surrogates become the file's own bytes where that makes no UTF-8 of them, else ones that are none, either."""
    return "surrogateescape" if is_utf8 else "surrogatepass"


def _unfinished(data: bytes) -> int:
    """How many bytes at the end are the beginning of a character."""
    for count in range(1, min(3, len(data)) + 1):
        byte = data[-count]
        if byte >= 0xC0:
            return count if count < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
        if byte < 0x80:
            return 0
    return 0
