"""Tables of single-byte code sets for the C codecs, built from Python's codecs."""

from __future__ import annotations

import codecs
from functools import cache

from .errors import NotSupportedError


@cache
def decoder_table(encoding: str) -> bytes | None:
    """Return the C decoder's table for a Python codec: 256 entries of one length byte and three UTF-8 bytes.

    Length 0 marks a byte that the code set leaves undefined. UTF-8 needs no table: None is returned.

    Raises
    ------
    NotSupportedError
        The code set is neither UTF-8 nor one byte per character.
    """
    name = codecs.lookup(encoding).name
    if name == "utf-8":
        return None
    decode = codecs.getincrementaldecoder(name)
    table = bytearray()
    for byte in range(256):
        try:
            text = decode().decode(bytes((byte,))).encode()
        except UnicodeDecodeError:
            table += bytes(4)
            continue
        if not text:  # the decoder waits for more bytes of the character
            raise NotSupportedError(
                f"The code set {encoding} is not supported. Only UTF-8 and single-byte code sets are."
            )
        table += bytes((len(text),)) + text.ljust(3, b"\0")
    return bytes(table)


@cache
def encoder_table(encoding: str) -> bytes | None:
    """Return the C encoder's table for a single-byte Python codec. None for UTF-8, which needs no table.

    The table has 65,536 bytes: the byte of each code point of the basic plane, 0 for those that the code set
    lacks.
    """
    if codecs.lookup(encoding).name == "utf-8":
        return None
    table = bytearray(65536)
    for byte in range(1, 256):
        try:
            character = bytes((byte,)).decode(encoding)
        except UnicodeDecodeError:
            continue
        table[ord(character)] = byte
    return bytes(table)
