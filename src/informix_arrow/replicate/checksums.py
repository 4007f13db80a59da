"""Checksums over columns that do not depend on the order of rows, to compare what was read with what a target holds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._hash import sum_column, sum_entries

_WRAP = 1 << 64


class ColumnChecksums:
    """The row count, and for each column the number of values that are not NULL and a sum of their bytes, modulo 2^64.

    Numbers, dates, times and booleans are summed by their bits, texts and bytes by their lengths and bytes. Values of
    lists, structs and intervals are only counted, because targets keep them in forms of their own.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.rows = 0
        self._sum_functions = [_sum_function(field.type) for field in schema]
        self._counts = [0] * len(schema)
        self._sums = [0] * len(schema)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows. Columns of other types than the checksums' schema are cast first."""
        rows = batch.num_rows
        self.rows += rows
        for index, (column, field, sum_of) in enumerate(
            zip(batch.columns, self.schema, self._sum_functions, strict=True)
        ):
            self._counts[index] += rows - column.null_count
            if sum_of is None:
                continue
            if column.type == field.type:
                total = sum_of(column)
            elif pa.types.is_dictionary(column.type):
                total = _sum_of_entries(column)
            else:
                total = sum_of(column.cast(field.type))
            self._sums[index] = (self._sums[index] + total) % _WRAP

    def merge(self, other: ColumnChecksums) -> None:
        """Add the sums of another object."""
        self.rows += other.rows
        for index, (count, total) in enumerate(zip(other._counts, other._sums, strict=True)):
            self._counts[index] += count
            self._sums[index] = (self._sums[index] + total) % _WRAP

    def differences(self, other: ColumnChecksums) -> list[str]:
        """Return the differences in words; [] if there are none."""
        if self.rows != other.rows:
            return [f"{self.rows:,} rows were read and {other.rows:,} are there"]
        return [
            f"the column {field.name} is not what was read"
            for index, field in enumerate(self.schema)
            if self._counts[index] != other._counts[index] or self._sums[index] != other._sums[index]
        ]

    def of_batches(self, batches: Iterable[pa.RecordBatch]) -> ColumnChecksums:
        """Return the same sums over the rows that a target holds."""
        checks = ColumnChecksums(self.schema)
        for batch in batches:
            checks.add(batch)
        return checks

    def to_json(self) -> dict[str, Any]:
        """Return the columns with their counts and sums."""
        return {
            field.name: {"values": self._counts[index], "sum": self._sums[index]}
            for index, field in enumerate(self.schema)
        }


def _sum_function(kind: pa.DataType) -> Callable[[Any], int] | None:
    """Return the function that sums a column of a type; None if its values are only counted."""
    t = pa.types
    if t.is_boolean(kind):
        return _sum_of_booleans
    if t.is_string(kind) or t.is_large_string(kind) or t.is_binary(kind) or t.is_large_binary(kind):
        return _sum_of_bytes
    if t.is_decimal128(kind):
        return _sum_of_decimals
    if (
        t.is_integer(kind) or t.is_floating(kind)
        or t.is_date32(kind) or t.is_time(kind) or t.is_timestamp(kind)
    ):  # fmt: skip
        return partial(_sum_of_numbers, kind.bit_width // 8)
    return None


def _sum_of_booleans(column: pa.Array) -> int:
    return int(pc.sum(column, min_count=0).as_py())


def _sum_of_numbers(width: int, column: pa.Array) -> int:
    validity, values = column.buffers()
    return sum_column(values, column.offset, len(column), width, validity) if len(column) else 0


def _sum_of_decimals(column: pa.Array) -> int:
    column = column.drop_null()
    return sum_column(column.buffers()[1], 2 * column.offset, 2 * len(column), 8, None) if len(column) else 0


def _sum_of_bytes(column: pa.Array) -> int:
    start, end = _ends(column)
    if column.null_count:
        length = int(pc.sum(pc.binary_length(column), min_count=0).as_py())
        if end - start != length:  # bytes of NULLs, which are not part of any value
            column = column.drop_null()
            start, end = _ends(column)
    if start == end:
        return 0
    return sum_column(column.buffers()[2], start, end - start, 1, None) + 257 * (end - start)


def _ends(column: pa.Array) -> tuple[int, int]:
    """Return the offsets at which the bytes of the first value begin and those of the last one end."""
    kind = column.type
    wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if not len(column):
        return 0, 0
    width = 8 if wide else 4
    offsets = column.buffers()[1]
    first, last = (
        int.from_bytes(offsets[width * at : width * at + width], sys.byteorder)
        for at in (column.offset, column.offset + len(column))
    )
    return first, last


def _sum_of_entries(column: pa.DictionaryArray) -> int:
    """Sum a dictionary-encoded column of texts or bytes."""
    entries = column.dictionary.cast(pa.large_binary())
    if not len(entries):
        return 0
    offsets = np.frombuffer(entries.buffers()[1], dtype="i8")[
        entries.offset : entries.offset + len(entries) + 1
    ]
    data = entries.buffers()[2]
    content = np.frombuffer(data, dtype="u1") if data is not None else np.empty(0, "u1")
    upto = np.zeros(len(content) + 1, np.uint64)
    np.cumsum(content, dtype=np.uint64, out=upto[1:])
    sums = upto[offsets[1:]] - upto[offsets[:-1]] + np.uint64(257) * np.diff(offsets).astype(np.uint64)
    indices = column.indices
    if indices.type != pa.int32():
        indices = indices.cast(pa.int32())
    validity, codes = indices.buffers()
    return sum_entries(sums, codes, indices.offset, len(indices), validity)
