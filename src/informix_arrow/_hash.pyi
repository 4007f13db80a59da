"""Compute hashes of 64 bits of the rows of Arrow columns. Equal values have equal hashes in every Arrow layout.

Columns are mixed into the hashes of their rows one after the other.
"""

from typing import Any

from numpy.typing import NDArray
from typing_extensions import Buffer

Numbers = Buffer | NDArray[Any]  # which mypy takes for no buffer before Python 3.12

def mix_numbers(
    hashes: Numbers, values: Buffer, offset: int, width: int, floating: bool, validity: Buffer | None, /
) -> None:
    """Mix a column of numbers into the hashes of its rows.

    Parameters
    ----------
    hashes
        A writable buffer with a number of 64 bits per row.
    values
        Arrow's buffer of values.
    offset
        Index of the first row in values and validity.
    width
        Bytes of a value: 1, 2, 4, 8 or 16 for integers and decimals, 4 or 8 for floats.
    floating
        True for floats: -0.0 counts as 0.0, and all NaNs are equal.
    validity
        Arrow's bitmap, or None if no value is NULL.

    The GIL is released. Raises ValueError for another width or a buffer that is too short. Nothing is changed then.
    """

def mix_texts(
    hashes: Numbers, data: Buffer | None, offsets: Buffer, offset: int, width: int, validity: Buffer | None, /
) -> None:
    """Mix a column of texts or bytes into the hashes of its rows.

    data is Arrow's buffer of contents, None if it is empty. offsets is Arrow's buffer of offsets, of ``width`` bytes
    each (4 or 8). The other arguments are those of mix_numbers().

    The GIL is released. Raises ValueError for another width or a buffer that is too short, and if an offset is
    outside data. In the last case the hashes are undefined.
    """

def add_up(counts: Numbers, sums: Numbers, index: Numbers, hashes: Numbers, /) -> None:
    """Count rows and add up their hashes by bucket: counts[index[i]] += 1 and sums[index[i]] += hashes[i] for every
    i.

    All arguments are buffers of numbers of 64 bits. counts and sums must be writable and of equal size, and so must
    index and hashes. The GIL is released.

    Raises ValueError for other sizes or an index outside counts. Nothing is counted then.
    """

def sum_column(values: Buffer, offset: int, rows: int, width: int, validity: Buffer | None, /) -> int:
    """Return the sum of the values of a column that are not NULL, as unsigned integers, modulo 2**64.

    values is Arrow's buffer, offset the index of the first row, rows the number of rows, width the bytes of a value
    (1, 2, 4 or 8), and validity Arrow's bitmap or None. The GIL is released.

    Raises ValueError for another width or a buffer that is too short.
    """

def sum_entries(sums: Numbers, indices: Buffer, offset: int, rows: int, validity: Buffer | None, /) -> int:
    """Return the sum of sums[index] over a column of indices that are not NULL, modulo 2**64.

    sums is a buffer of numbers of 64 bits, one per entry of a dictionary. indices is Arrow's buffer of indices of 4
    bytes. The other arguments are those of sum_column(). The GIL is released.

    Raises ValueError for a buffer that is too short or an index outside sums.
    """
