"""Choose encodings and compression for the columns of a Parquet file from its first rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SAMPLE_ROWS = 4096  # rows that are looked at
MAX_DISTINCT_VALUES = 4 * SAMPLE_ROWS  # below this many rows the check costs as much as it saves
BLOCK = 32  # values whose differences are packed with the same number of bits
LEVEL = 1  # compression level of zstd


def options(rows: pa.Table, *, packed: bool) -> dict[str, Any]:
    """Return keywords of ``pyarrow.parquet.ParquetWriter`` for a file that begins with these rows.

    Columns with repeated values get a dictionary. If there are very few distinct values they are compressed with
    snappy, because there is little to gain. Integers, dates and times are ``packed`` by their differences
    (DELTA_BINARY_PACKED) if that takes about as much space as a dictionary, because it is twice as fast. Where nearly
    every value is distinct, no dictionary is tried. Texts get bounds only if they are sorted: otherwise the bounds of
    all row groups would be similar and let no reader skip one, and they take a third of the time. Without ``packed``,
    all columns get bounds and zstd.
    """
    if len(rows) < MAX_DISTINCT_VALUES or any(pa.types.is_nested(field.type) for field in rows.schema):
        # Column options address nested columns by path.
        return {"compression": "zstd", "compression_level": LEVEL}
    sample = rows.slice(0, SAMPLE_ROWS).combine_chunks()
    by_dictionary, differences, bounded = [], {}, []
    codecs = dict.fromkeys(rows.schema.names, "zstd")
    for name, column in zip(rows.schema.names, sample.columns, strict=True):
        values = column.combine_chunks().drop_null()
        distinct = len(pc.unique(values))
        if packed and _is_integer(column.type) and _packs(values, distinct):
            differences[name] = "DELTA_BINARY_PACKED"
            codecs[name] = "snappy"
        elif 4 * distinct <= 3 * len(values) or len(values) < BLOCK:
            by_dictionary.append(name)
            if packed and 4 * distinct <= len(values):
                codecs[name] = "snappy"
        if not packed or not _is_text(column.type) or _is_in_order(values):
            bounded.append(name)
    levels = {name: LEVEL for name, codec in codecs.items() if codec == "zstd"}
    return {
        "use_dictionary": by_dictionary,
        "column_encoding": differences or None,
        "compression": codecs,
        "compression_level": levels or None,
        "write_statistics": bounded,
    }


def _is_text(kind: pa.DataType) -> bool:
    t = pa.types
    return bool(t.is_string(kind) or t.is_large_string(kind) or t.is_binary(kind) or t.is_large_binary(kind))


def _is_in_order(values: pa.Array) -> bool:
    return bool(pc.all(pc.less_equal(values[:-1], values[1:]), min_count=0).as_py())


def _is_integer(kind: pa.DataType) -> bool:
    t = pa.types
    return bool(t.is_signed_integer(kind) or t.is_date32(kind) or t.is_time(kind) or t.is_timestamp(kind))


def _packs(values: pa.Array, distinct: int) -> bool:
    """Return whether differences take about as many bits as dictionary indices, or as the values."""
    if values.type in (pa.timestamp("s"), pa.time32("s")):  # types that Parquet does not have
        values = values.cast(pa.timestamp("ms") if pa.types.is_timestamp(values.type) else pa.time32("ms"))
    if not pa.types.is_integer(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    numbers = values.cast(pa.int64()).to_numpy()
    blocks = len(numbers) // BLOCK
    if not blocks:
        return False
    if 4 * distinct > 3 * len(numbers):
        return True
    steps = np.diff(numbers[: blocks * BLOCK], prepend=numbers[:1]).reshape(blocks, BLOCK)
    spans = (steps.max(axis=1).astype(np.uint64) - steps.min(axis=1).astype(np.uint64)).astype(np.float64)
    bits = float(np.ceil(np.log2(spans + 1)).mean())
    return bool(bits <= 1.5 * float(np.log2(max(distinct, 1))) + 2)
