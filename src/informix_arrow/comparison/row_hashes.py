"""64-bit hashes of the rows of a batch. Equal values have equal hashes in every Arrow layout.

Hashes are summed over many rows, so each is mixed well. The loops over rows are in C (``native/row_hash.h``).
Values of types that it does not support, such as lists, are hashed one by one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._hash import mix_numbers, mix_texts

Hashes = npt.NDArray[np.uint64]

_START = np.uint64(0x9E3779B97F4A7C15)


def mix(h: Hashes) -> Hashes:
    """Spread every bit over all others (the finalizer of splitmix64)."""
    mixed: Hashes = h >> np.uint64(30)
    mixed ^= h
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    shifted = mixed >> np.uint64(27)
    mixed ^= shifted
    mixed *= np.uint64(0x94D049BB133111EB)
    np.right_shift(mixed, np.uint64(31), out=shifted)
    mixed ^= shifted
    return mixed


def rows(batch: pa.RecordBatch, columns: Sequence[int]) -> Hashes:
    """Return a hash of each row over some columns. The order of the columns matters."""
    hashes: Hashes = np.full(batch.num_rows, _START)
    if batch.num_rows:
        for column in columns:
            _mix_in(hashes, batch.column(column))
    return hashes


def _mix_in(hashes: Hashes, array: pa.Array) -> None:
    t = array.type
    if pa.types.is_boolean(t):
        array = array.cast(pa.int8())
    elif pa.types.is_float16(t):
        array = array.cast(pa.float32())
    elif not _is_hashed_in_c(t):
        numbers = [_hash_value(value) for value in array.to_pylist()]
        array = pa.array(numbers, pa.uint64()).view(pa.int64())
    t = array.type
    buffers = array.buffers()
    validity = buffers[0] if array.null_count else None
    if _is_text(t):
        width = 8 if pa.types.is_large_string(t) or pa.types.is_large_binary(t) else 4
        mix_texts(hashes, buffers[2], buffers[1], array.offset, width, validity)
    else:
        mix_numbers(hashes, buffers[1], array.offset, t.bit_width // 8, pa.types.is_floating(t), validity)


def _is_hashed_in_c(t: pa.DataType) -> bool:
    if pa.types.is_decimal128(t) or _is_text(t):
        return True
    return bool(pa.types.is_primitive(t)) and t.bit_width in (8, 16, 32, 64)


def _is_text(t: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_string(t) or types.is_binary(t) or types.is_large_string(t) or types.is_large_binary(t)
    )


def _hash_value(value: object) -> int | None:
    """Hash a value of a type that the C code does not support. NULL has no hash."""
    if value is None:
        return None
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "little")
