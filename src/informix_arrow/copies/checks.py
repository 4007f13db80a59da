"""Sums over columns that do not depend on the order of rows: what was read is held against what is in the target."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_WRAP = 1 << 64
_UNSIGNED = {8: pa.uint8(), 16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}


class Checks:
    """How many rows there are, and for each column its values that are not NULL and a sum of their bytes, modulo 2^64.

    Numbers, dates, times and booleans are summed by their bits, texts and bytes by their lengths and bytes. Of lists,
    structs and intervals only the values are counted: targets keep them in forms of their own.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.rows = 0
        self._counts = [0] * len(schema)
        self._sums = [0] * len(schema)

    def add(self, batch: pa.RecordBatch) -> None:
        """Take rows into account; another schema than that of the checks is cast to it first."""
        self.rows += batch.num_rows
        for place, field in enumerate(self.schema):
            column = batch.column(place)
            self._counts[place] += len(column) - column.null_count
            if _is_summed(field.type):
                if pa.types.is_dictionary(column.type):
                    self._sums[place] = (self._sums[place] + _sum_of_entries(column)) % _WRAP
                    continue
                if column.type != field.type:
                    column = column.cast(field.type)
                self._sums[place] = (self._sums[place] + _sum(column)) % _WRAP

    def join(self, other: Checks) -> None:
        """Take what others have summed into account."""
        self.rows += other.rows
        for place, (count, total) in enumerate(zip(other._counts, other._sums, strict=True)):
            self._counts[place] += count
            self._sums[place] = (self._sums[place] + total) % _WRAP

    def differences(self, other: Checks) -> list[str]:
        """What is not the same, in words; [] when all is."""
        if self.rows != other.rows:
            return [f"{self.rows:,} rows were read and {other.rows:,} are there"]
        return [
            f"the column {field.name} is not what was read"
            for place, field in enumerate(self.schema)
            if self._counts[place] != other._counts[place] or self._sums[place] != other._sums[place]
        ]

    def of(self, batches: Iterable[pa.RecordBatch]) -> Checks:
        """The same sums over what a target holds."""
        made = Checks(self.schema)
        for batch in batches:
            made.add(batch)
        return made

    def to_json(self) -> dict[str, Any]:
        """Columns with their counts and sums."""
        return {
            field.name: {"values": self._counts[place], "sum": self._sums[place]}
            for place, field in enumerate(self.schema)
        }


def _is_summed(kind: pa.DataType) -> bool:
    t = pa.types
    return bool(
        t.is_integer(kind) or t.is_floating(kind) or t.is_decimal128(kind) or t.is_boolean(kind)
        or t.is_date32(kind) or t.is_time(kind) or t.is_timestamp(kind)
        or t.is_string(kind) or t.is_large_string(kind) or t.is_binary(kind) or t.is_large_binary(kind)
    )  # fmt: skip


def _sum(column: pa.Array) -> int:
    kind = column.type
    t = pa.types
    if t.is_boolean(kind):
        return int(pc.sum(column, min_count=0).as_py())
    if t.is_string(kind) or t.is_large_string(kind) or t.is_binary(kind) or t.is_large_binary(kind):
        return _sum_of_bytes(column)
    bits: Any = kind.bit_width
    if bits <= 64:
        return int(pc.sum(column.view(_UNSIGNED[bits]), min_count=0).as_py())
    column = column.drop_null()
    if not len(column):
        return 0
    words = np.frombuffer(column.buffers()[1], dtype="u8")
    each = bits // 64
    return int(words[column.offset * each : (column.offset + len(column)) * each].sum(dtype=np.uint64))


def _sum_of_bytes(column: pa.Array) -> int:
    length = pc.sum(pc.binary_length(column), min_count=0).as_py()
    start, end = _ends(column)
    if end - start != length:  # NULLs have bytes, too, which are none of the values'
        column = column.drop_null()
        start, end = _ends(column)
    if start == end:
        return 0
    content = pa.Array.from_buffers(pa.uint8(), end - start, [None, column.buffers()[2]], offset=start)
    return int(pc.sum(content).as_py()) + 257 * int(length)


def _ends(column: pa.Array) -> tuple[int, int]:
    """Where the bytes of the first value begin, and those of the last one end."""
    kind = column.type
    wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if not len(column):
        return 0, 0
    offsets = np.frombuffer(column.buffers()[1], dtype="i8" if wide else "i4")
    return int(offsets[column.offset]), int(offsets[column.offset + len(column)])


def _sum_of_entries(column: pa.DictionaryArray) -> int:
    """Of texts or bytes that are kept once each, and referred to."""
    entries = column.dictionary.cast(pa.large_binary())
    if not len(entries):
        return 0
    often = np.bincount(column.indices.drop_null().to_numpy(), minlength=len(entries)).astype(np.uint64)
    offsets = np.frombuffer(entries.buffers()[1], dtype="i8")[
        entries.offset : entries.offset + len(entries) + 1
    ]
    data = entries.buffers()[2]
    content = np.frombuffer(data, dtype="u1") if data is not None else np.empty(0, "u1")
    upto = np.zeros(len(content) + 1, np.uint64)
    np.cumsum(content, dtype=np.uint64, out=upto[1:])
    sums = upto[offsets[1:]] - upto[offsets[:-1]] + np.uint64(257) * np.diff(offsets).astype(np.uint64)
    return int((sums * often).sum(dtype=np.uint64))
