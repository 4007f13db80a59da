"""Decode text files: SQL scripts, the ``.sql`` of an export. A byte order mark is no part of the text."""

from __future__ import annotations

import codecs

from ..wire.code_sets import codec_of_locale
from ..wire.errors import DataError, InterfaceError


def codec_of(encoding: str) -> str:
    """Return the Python codec for a codec's name or an Informix locale. Raises ``InterfaceError`` if there is none."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        pass
    try:
        return codec_of_locale(encoding)
    except ValueError as error:
        raise InterfaceError(
            f"encoding={encoding!r} is neither a Python codec nor a locale ({str(error).removesuffix('.')})."
        ) from None


def decode_text(data: bytes, codec: str, name: str) -> str:
    """Decode the contents of a text file. A UTF-8 byte order mark is removed, and says that the rest is UTF-8.

    ``name`` is that of the file, for errors. Raises ``DataError``, with file and line, for a byte that is no text.
    """
    if data.startswith(codecs.BOM_UTF8):
        data, codec = data[len(codecs.BOM_UTF8) :], "utf-8"
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise DataError(
            f"{name}, line {line}: The byte {data[error.start]:02x} is not text in {codec}. Name the file's "
            "code set with encoding=..."
        ) from None
