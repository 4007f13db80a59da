"""Text of a file that somebody else has opened, and closes."""

from __future__ import annotations

import codecs
from typing import IO


class Decoded:
    """The characters of a file of bytes. ``UnicodeDecodeError`` for bytes that are none, a last one that is cut too."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read(self, size: int) -> str:
        """Characters of the next ``size`` bytes; "" at the end."""
        while True:
            data = self._file.read(size)
            text = self._decoder.decode(data, not data)
            if text or not data:
                return text
