"""The decoder's table for single-byte code sets, made from Python's codecs."""

from __future__ import annotations

import codecs
from functools import cache

from ..wire.errors import NotSupportedError


@cache
def codepage(encoding: str) -> bytes | None:
    """The table that the C decoder wants for a Python codec: 256 entries of one length byte and three UTF-8
    bytes.

    Length 0 marks a byte that the code set leaves undefined. None stands for UTF-8, which needs no table.

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
        if not text:  # the codec waits for more bytes of the same character
            raise NotSupportedError(
                f"the code set {encoding} is neither UTF-8 nor single-byte: not supported"
            )
        table += bytes((len(text),)) + text.ljust(3, b"\0")
    return bytes(table)
