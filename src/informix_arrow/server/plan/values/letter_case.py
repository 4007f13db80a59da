"""Letters that UPPER and LOWER leave unchanged, because DuckDB's other case of them does not fit."""

from __future__ import annotations

from functools import lru_cache

NONCHARACTERS = "".join(map(chr, [*range(0xFDD0, 0xFDF0), *range(0x1FFFE, 0x10FFFF, 0x10000)]))
"""Code points that are never characters. They replace letters while a text changes its case."""

_CASED = range(0x80, 0x3000)
"""Range of the letters whose cases differ in length, or that some code sets lack."""


@lru_cache
def uncased(codec: str, upper: bool) -> str:
    """Return the letters whose other case a code set lacks, or encodes with more bytes than a column may have room for.

    In all code sets that includes the German sharp s, in Latin-1 also the micro sign.
    """
    found = []
    for letter in map(chr, _CASED):
        other = letter.upper() if upper else letter.lower()
        if other == letter or (len(other) > 1 and letter != "\N{LATIN SMALL LETTER SHARP S}"):
            continue  # DuckDB ignores cases of several letters
        try:
            width = len(letter.encode(codec))
        except UnicodeEncodeError:
            continue
        try:
            fits = len(other) == 1 and len(other.encode(codec)) <= width
        except UnicodeEncodeError:
            fits = False
        if not fits:
            found.append(letter)
    return "".join(found)
