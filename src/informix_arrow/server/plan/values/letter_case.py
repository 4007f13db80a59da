"""Letters that UPPER and LOWER leave as they are, because DuckDB's other case of them does not fit."""

from __future__ import annotations

from functools import lru_cache

NONCHARACTERS = "".join(map(chr, [*range(0xFDD0, 0xFDF0), *range(0x1FFFE, 0x10FFFF, 0x10000)]))
"""Code points that are no characters and never will be: they stand for letters while a text changes its case."""

_CASED = range(0x80, 0x3000)
"""Where letters are whose cases differ in length, or in what code sets have them."""


@lru_cache
def uncased(codec: str, upper: bool) -> str:
    """The letters of a code set whose other case it has not got, or writes with more bytes: a column has room for a
    text's bytes and no more. In all code sets \N{LATIN SMALL LETTER SHARP S}, in Latin-1 \N{MICRO SIGN}, too."""
    found = []
    for letter in map(chr, _CASED):
        other = letter.upper() if upper else letter.lower()
        if other == letter or (len(other) > 1 and letter != "\N{LATIN SMALL LETTER SHARP S}"):
            continue  # DuckDB knows no other case of more than one letter
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
