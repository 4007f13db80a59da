"""64-bit hashes of the rows of a batch, by numpy: equal values have equal ones, whatever layout they lie in.

They are summed over many rows, so each is mixed well. Texts are hashed eight bytes at a time, long ones by BLAKE2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Hashes = npt.NDArray[np.uint64]

_BASE = np.uint64(0x9E3779B97F4A7C15)
_NULL = np.uint64(0xD1B54A32D192ED03)
_WORD = 8  # bytes
_LONG = 64  # bytes; longer texts are hashed one by one
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_WORD)] + [2**64 - 1], np.uint64)  # of a text's last word


def mix(h: Hashes) -> Hashes:
    """Spread every bit over all others (the finalizer of splitmix64)."""
    made: Hashes = h >> np.uint64(30)
    made ^= h
    made *= np.uint64(0xBF58476D1CE4E5B9)
    shifted = made >> np.uint64(27)
    made ^= shifted
    made *= np.uint64(0x94D049BB133111EB)
    np.right_shift(made, np.uint64(31), out=shifted)
    made ^= shifted
    return made


def rows(batch: pa.RecordBatch, columns: Sequence[int]) -> Hashes:
    """A hash for each row, of the values in some columns, which are told from one another by their order."""
    made: Hashes = np.full(batch.num_rows, _BASE)
    for column in columns:
        made *= _BASE
        made += of_column(batch.column(column))
        made = mix(made)
    return made


def of_column(array: pa.Array) -> Hashes:
    """A number of 64 bits for each value, numbers as they are; one for NULL, whatever its type."""
    made = _values(array)
    if array.null_count:
        made = np.where(np.asarray(array.is_null()), _NULL, made)
    return made


def _values(array: pa.Array) -> Hashes:
    t = array.type
    if pa.types.is_boolean(t):
        array = array.cast(pa.int8())
    elif pa.types.is_floating(t):
        doubles = np.asarray(array.fill_null(0).cast(pa.float64())) + 0.0  # -0.0 is 0.0
        return np.where(np.isnan(doubles), np.nan, doubles).view(np.uint64)
    elif pa.types.is_decimal128(t):
        halves = np.frombuffer(array.buffers()[1], np.uint64)[
            2 * array.offset : 2 * (array.offset + len(array))
        ]
        return halves[0::2] + mix(halves[1::2] ^ _BASE)
    elif pa.types.is_string(t) or pa.types.is_binary(t):
        return _texts(array, np.int32)
    elif pa.types.is_large_string(t) or pa.types.is_large_binary(t):
        return _texts(array, np.int64)
    elif pa.types.is_null(t):
        return np.full(len(array), _NULL)
    if not (pa.types.is_primitive(array.type) and array.type.bit_width in (8, 16, 32, 64)):
        found = [_of_bytes(repr(value).encode()) for value in array.to_pylist()]
        return np.array(found, np.uint64)
    width = array.type.bit_width // 8
    data = array.buffers()[1]
    if data is None:
        return np.zeros(0, np.uint64)
    numbers: Any = np.frombuffer(data, f"i{width}", len(array), array.offset * width)
    whole: Hashes = numbers.astype(np.int64).view(np.uint64)
    return whole


def _texts(array: pa.Array, offset: type[np.signedinteger[Any]]) -> Hashes:
    """Word by word: as many passes over all texts as the longest short one has words."""
    count = len(array)
    if count == 0:
        return np.zeros(0, np.uint64)
    _, offsets, data = array.buffers()
    size = np.dtype(offset).itemsize
    ends = np.frombuffer(offsets, offset, count + 1, array.offset * size).astype(np.int64)
    starts, lengths = ends[:-1] - ends[0], ends[1:] - ends[:-1]
    raw = np.zeros(int(ends[-1] - ends[0]) + _WORD, np.uint8)  # so that the last word may be read
    if data is not None:
        raw[:-_WORD] = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
    words: Hashes = np.ndarray((len(raw) - _WORD + 1,), "<u8", raw, strides=(1,))  # the one at each byte
    made: Hashes = lengths.astype(np.uint64) * _NULL
    short = lengths <= _LONG
    everywhere = bool(short.all())
    for place in range(0, int(lengths[short].max(initial=0)), _WORD):
        there = np.flatnonzero((lengths > place) if everywhere else (lengths > place) & short)
        found = words[starts[there] + place] & _MASKS[np.minimum(lengths[there] - place, _WORD)]
        found ^= made[there]
        found *= _BASE
        found ^= found >> np.uint64(29)
        made[there] = found
    for row in np.flatnonzero(~short):
        made[row] = _of_bytes(raw[starts[row] : starts[row] + lengths[row]].tobytes())
    return made


def _of_bytes(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
