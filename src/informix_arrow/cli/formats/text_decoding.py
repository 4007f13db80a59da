"""Decode the text of an open file. Undecodable bytes are preserved, so that only their row is refused, unchanged."""

from __future__ import annotations

import codecs
import re
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

#: Stands for an undecodable byte in parsers that accept UTF-8 only: one of the last 128 code points, which have no
#: meaning. Where a file contains one of these itself, its bytes are escaped in the same way.
_FIRST = 0x10FF80
_LIKE_IT = (b"\xf4\x8f\xbe", b"\xf4\x8f\xbf")  # the first bytes of their UTF-8
_STANDING_IN = f"[{chr(_FIRST)}-{chr(_FIRST + 127)}]"
_SURROGATE, _STAND_IN = re.compile("[\udc80-\udcff]"), re.compile(_STANDING_IN)


class TextDecoder:
    """The characters of a binary file. An undecodable byte is a surrogate, as with Python's ``surrogateescape``.

    Raises ``UnicodeDecodeError`` if the codec cannot continue after such a byte.
    """

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")

    def read(self, size: int) -> str:
        """Return the characters of the next ``size`` bytes; "" at the end."""
        while True:
            data = self._file.read(size)
            text = self._decoder.decode(data, not data)
            if text or not data:
                return text


NAME_CODE_SET = "Name the code set of the file with --encoding."


def describe_undecodable(text: str, encoding: str) -> str:
    """Describe the first undecodable byte of a text, "" if there is none."""
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        if 0xDC80 <= code <= 0xDCFF:
            return f"The byte {code - 0xDC00:02x} is not text in {encoding}"
        return f"\\u{code:04x} by itself is not a character"
    return ""


class ByteEscaper:
    """The UTF-8 of a file, with undecodable bytes escaped, and the way back.

    ``used`` is True once a byte was escaped.
    """

    def __init__(self, encoding: str) -> None:
        self.is_utf8 = _is_utf8(encoding)
        self.used = False
        self._rest = b""  # an incomplete character

    def of_utf8(self, data: bytes, *, final: bool) -> bytes:
        """Return the next bytes of a UTF-8 file, complete characters only. ``final`` is True for the last bytes."""
        data = self._rest + data
        cut = 0 if final else _incomplete_length(data)
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
        """Return the next characters, in which surrogates are bytes, as UTF-8."""
        data = _SURROGATE.sub(lambda found: chr(_FIRST + ord(found[0]) - 0xDC80), text)
        self.used = self.used or data != text
        return data.encode()

    def text(self, text: str) -> str:
        """Return a text as it was in the file, with surrogates for undecodable bytes."""
        if not self.used:
            return text
        decoded = _STAND_IN.sub(lambda found: chr(0xDC80 + ord(found[0]) - _FIRST), text)
        return (
            decoded.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
            if self.is_utf8
            else decoded
        )

    def find_undecodable(self, batch: pa.RecordBatch, encoding: str) -> tuple[int, str] | None:
        """Return the first row with an undecodable byte, and its description; None if there is none."""
        candidates = []
        for column in batch.columns:
            positions = pc.indices_nonzero(
                pc.fill_null(pc.match_substring_regex(column, _STANDING_IN), False)
            )
            text = (
                (place, describe_undecodable(self.text(column[place].as_py()), encoding))
                for place in positions.to_pylist()
            )
            candidates += [each for each in text if each[1]][:1]
        return min(candidates, default=None)

    def column(self, column: pa.Array) -> pa.Array:
        """Return texts with the bytes of the file, or with bytes that are invalid UTF-8, too."""
        if not self.used or not pc.any(pc.match_substring_regex(column, _STANDING_IN)).as_py():
            return column
        errors = _error_handler(self.is_utf8)
        values = [
            None if text is None else self.text(text).encode("utf-8", errors) for text in column.to_pylist()
        ]
        return pc.cast(
            pa.array(values, pa.binary()), options=pc.CastOptions(pa.utf8(), allow_invalid_utf8=True)
        )


def as_text(data: bytes, encoding: str) -> str:
    """Decode the bytes of a column from a file of this encoding, with surrogates for undecodable bytes."""
    return data.decode("utf-8", _error_handler(_is_utf8(encoding)))


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


def _error_handler(is_utf8: bool) -> str:
    """Return the error handler that restores the bytes of a file, so that the result is never valid UTF-8.

    Surrogates become the file's own bytes if the file is UTF-8. Otherwise those could be valid UTF-8 by chance.
    """
    return "surrogateescape" if is_utf8 else "surrogatepass"


def _incomplete_length(data: bytes) -> int:
    """Return how many bytes at the end are the beginning of a character."""
    for count in range(1, min(3, len(data)) + 1):
        byte = data[-count]
        if byte >= 0xC0:
            return count if count < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
        if byte < 0x80:
            return 0
    return 0
