"""Column chunks of Parquet files, made of Arrow columns a page at a time. The GIL is released.

One thread at a time may use a column. Buffers that are too short, or offsets that do not fit their data, are a
ValueError; values that the file cannot hold an OverflowError. After an error the column is of no use.
"""

from typing import NewType

from typing_extensions import Buffer

Column = NewType("Column", object)

def column(kind: str, width: int, out: int, factor: int, nullable: bool, /) -> Column:
    """A column of one kind: ``integer`` (signed, ``width`` bytes in Arrow and ``out`` in the file, times ``factor``),
    ``float``, ``decimal`` (of 128 bits, the lower ``out`` bytes), ``text`` or bytes (``width``: of an offset), or
    ``boolean``."""

def add(
    column: Column,
    rows: int,
    offset: int,
    validity: Buffer | None,
    values: Buffer | None,
    offsets: Buffer | None,
    /,
) -> tuple[bytes, bool]:
    """A page of ``rows`` from slot ``offset`` on, not compressed: levels and values; and whether these are numbers of
    the dictionary's entries rather than plain."""

def finish(column: Column, /) -> tuple[bytes | None, int, int, bytes | None, bytes | None]:
    """End a row group: the dictionary, plain, None if no page refers to one; its entries; how many values were NULL;
    the lowest and the highest value, None where there is none or it would be long. The next group begins."""

def total(
    width: int,
    is_text: bool,
    rows: int,
    offset: int,
    validity: Buffer | None,
    values: Buffer | None,
    offsets: Buffer | None,
    /,
) -> int:
    """A sum modulo 2^64 over the values of a column that are not NULL: of numbers as unsigned words of ``width`` bytes
    (two for 16), of texts the bytes and 257 for each of them; ``width`` is that of an offset then."""
