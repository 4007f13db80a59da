"""Hashes of 64 bits of the rows of Arrow columns: equal values have equal ones, whatever layout they lie in.

``hashes`` has a number of 64 bits for each row, into which a column is mixed at a time; slot ``offset`` of the column
is the value of the first. ``validity`` is Arrow's bitmap, None where no value is NULL. The GIL is released. Buffers
that are too short are a ValueError, before anything is mixed.
"""

from typing import Any

from numpy.typing import NDArray
from typing_extensions import Buffer

Numbers = Buffer | NDArray[Any]  # which mypy takes for no buffer before Python 3.12

def mix_numbers(
    hashes: Numbers, values: Buffer, offset: int, width: int, floating: bool, validity: Buffer | None, /
) -> None:
    """Signed integers of 1, 2, 4 or 8 bytes, decimals of 16, or floats of 4 or 8: -0.0 is 0.0, all NaNs are one."""

def mix_texts(
    hashes: Numbers, data: Buffer | None, offsets: Buffer, offset: int, width: int, validity: Buffer | None, /
) -> None:
    """Texts or bytes, whose offsets have 4 or 8 bytes. ValueError where offsets do not fit the data; the hashes are of
    no use then."""

def add_up(counts: Numbers, sums: Numbers, index: Numbers, hashes: Numbers, /) -> None:
    """``counts[index[i]] += 1`` and ``sums[index[i]] += hashes[i]`` for every i, all numbers of 64 bits. ValueError
    when an index is none of a bucket; nothing is counted then."""

def sum_column(values: Buffer, offset: int, rows: int, width: int, validity: Buffer | None, /) -> int:
    """The sum of so many numbers of 1, 2, 4 or 8 bytes from slot ``offset`` on, those that are not NULL, as if they had
    no sign, modulo 2**64."""

def sum_entries(sums: Numbers, indices: Buffer, offset: int, rows: int, validity: Buffer | None, /) -> int:
    """The sum of ``sums[index]``, numbers of 64 bits, over so many indices of 4 bytes from slot ``offset`` on, those
    that are not NULL, modulo 2**64. ValueError when an index is none of an entry."""
