"""Hashes of rows: C code compared with Python, equal values in other layouts, buffers with wrong sizes."""

from __future__ import annotations

import array
import datetime as dt
import math
import random
import struct
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from informix_arrow import _hash
from informix_arrow.comparison.row_hashes import rows

MASK = 2**64 - 1
START, NULL = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03


def mixed(h: int) -> int:
    h ^= h >> 30
    h = h * 0xBF58476D1CE4E5B9 & MASK
    h ^= h >> 27
    h = h * 0x94D049BB133111EB & MASK
    return h ^ h >> 31


def number(value: object) -> int:
    """Return the number that represents a value in the hash."""
    if value is None:
        return NULL
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        h = len(value) * NULL & MASK
        for at in range(0, len(value), 8):
            h = (h ^ int.from_bytes(value[at : at + 8], "little")) * START & MASK
            h ^= h >> 29
        return h
    if isinstance(value, float):
        value = 0.0 if value == 0 else math.nan if math.isnan(value) else value
        return int.from_bytes(struct.pack("<d", value), "little")
    if isinstance(value, Decimal):
        whole = int(value.scaleb(2)) & (1 << 128) - 1
        return (whole & MASK) + mixed(whole >> 64 ^ START) & MASK
    if isinstance(value, dt.date):
        value = value.toordinal() - dt.date(1970, 1, 1).toordinal()
    assert isinstance(value, int)
    return value & MASK


def plain(columns: list[list[object]]) -> list[int]:
    found = []
    for row in zip(*columns, strict=True):
        h = START
        for value in row:
            h = mixed(h * START + number(value) & MASK)
        found.append(h)
    return found


def some(r: random.Random, draw: Callable[[], object], count: int = 50) -> list[object]:
    return [None if r.random() < 0.2 else draw() for _ in range(count)]


def columns(seed: int) -> list[tuple[pa.DataType, list[object]]]:
    r = random.Random(seed)

    def text() -> str:
        return "".join(r.choices("aé日 |", k=r.choice((0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 300))))

    made: list[tuple[pa.DataType, list[object]]] = [
        (t, some(r, lambda bits=bits: r.choice((-(2 ** (bits - 1)), -1, 0, 1, 2 ** (bits - 1) - 1))))
        for t, bits in ((pa.int8(), 8), (pa.int16(), 16), (pa.int32(), 32), (pa.int64(), 64))
    ]
    floats = (0.0, -0.0, math.nan, -math.nan, math.inf, -1.5, 2.0**100)
    made += [(t, some(r, lambda: r.choice(floats))) for t in (pa.float16(), pa.float32(), pa.float64())][1:]
    made += [(t, some(r, text)) for t in (pa.string(), pa.large_string())]
    made += [(t, some(r, lambda: text().encode())) for t in (pa.binary(), pa.large_binary())]
    made.append((pa.bool_(), some(r, lambda: r.random() < 0.5)))
    made.append((pa.date32(), some(r, lambda: dt.date.fromordinal(r.randint(1, 3_652_059)))))
    made.append(
        (pa.decimal128(38, 2), some(r, lambda: Decimal(r.randint(-(10**38) + 1, 10**38 - 1)).scaleb(-2)))
    )
    return made


@pytest.mark.parametrize("seed", range(5))
def test_the_hashes_are_those_of_plain_python(seed: int) -> None:
    given = columns(seed)
    batch = pa.record_batch([pa.array(v, t) for t, v in given], names=[str(n) for n in range(len(given))])
    wanted = plain([values for _, values in given])
    assert rows(batch, range(len(given))).tolist() == wanted
    for start, length in ((0, 0), (1, 49), (7, 9), (8, 40), (13, 1)):
        part = batch.slice(start, length)
        assert rows(part, range(len(given))).tolist() == wanted[start : start + length]
    for n, (_, values) in enumerate(given):
        assert rows(batch, [n]).tolist() == plain([values]), n


def test_types_without_a_loop_are_hashed_by_their_values() -> None:
    values = [[1, 2], None, [], [1, 2], [2, 1]]
    wide = [Decimal(10) ** 60, None, Decimal(1), Decimal(10) ** 60, Decimal(2)]
    batch = pa.record_batch(
        [pa.array(values), pa.array(wide, pa.decimal256(76, 0)), pa.nulls(5)], names=["l", "d", "n"]
    )
    found = rows(batch, [0, 1, 2]).tolist()
    assert found[0] == found[3]
    assert len(set(found)) == 4
    assert rows(batch, [2]).tolist() == plain([[None] * 5])
    assert rows(batch.slice(2), [0, 1, 2]).tolist() == found[2:]


def test_the_order_of_columns_changes_the_hash() -> None:
    batch = pa.record_batch({"a": pa.array([1, None, 0]), "b": pa.array([2, 0, None])})
    assert all(
        x != y for x, y in zip(rows(batch, [0, 1]).tolist(), rows(batch, [1, 0]).tolist(), strict=True)
    )


def test_rows_are_counted_and_added_up_by_buckets() -> None:
    counts, sums = np.ones(3, np.int64), np.full(3, 2**64 - 1, np.uint64)
    _hash.add_up(counts, sums, np.array([2, 0, 2]), np.array([5, 7, 2**63], np.uint64))
    assert (counts.tolist(), sums.tolist()) == ([2, 1, 3], [6, 2**64 - 1, 2**63 + 4])
    for wrong in (-1, 3, 2**62):
        with pytest.raises(ValueError, match="not that of a bucket"):
            _hash.add_up(counts, sums, np.array([0, wrong]), np.array([1, 1], np.uint64))
    assert (counts.tolist(), sums.tolist()) == ([2, 1, 3], [6, 2**64 - 1, 2**63 + 4])


def words(count: int) -> array.array[int]:
    return array.array("Q", [0] * count)


def offsets(*values: int) -> array.array[int]:
    return array.array("i", values)


LIES: dict[str, Callable[[], None]] = {
    "too few values": lambda: _hash.mix_numbers(words(3), bytes(11), 0, 4, False, None),
    "too few behind the offset": lambda: _hash.mix_numbers(words(3), bytes(12), 1, 4, False, None),
    "too few halves": lambda: _hash.mix_numbers(words(1), bytes(15), 0, 16, False, None),
    "an offset below 0": lambda: _hash.mix_numbers(words(1), bytes(8), -1, 8, False, None),
    "an offset beyond all": lambda: _hash.mix_numbers(words(1), bytes(8), 2**63 - 1, 8, False, None),
    "a width of 3": lambda: _hash.mix_numbers(words(1), bytes(8), 0, 3, False, None),
    "a float of 2 bytes": lambda: _hash.mix_numbers(words(1), bytes(8), 0, 2, True, None),
    "too little validity": lambda: _hash.mix_numbers(words(9), bytes(9), 0, 1, False, b"\xff"),
    "half a hash": lambda: _hash.mix_numbers(bytearray(12), bytes(8), 0, 8, False, None),
    "too few offsets": lambda: _hash.mix_texts(words(2), b"abc", offsets(0, 3), 0, 4, None),
    "offsets that go back": lambda: _hash.mix_texts(words(1), b"abc", offsets(3, 2), 0, 4, None),
    "offsets below 0": lambda: _hash.mix_texts(words(1), b"abc", offsets(-1, 2), 0, 4, None),
    "offsets behind the data": lambda: _hash.mix_texts(words(1), b"abc", offsets(0, 4), 0, 4, None),
    "no data": lambda: _hash.mix_texts(words(1), None, offsets(0, 1), 0, 4, None),
    "offsets of 2 bytes": lambda: _hash.mix_texts(words(1), b"abc", bytes(8), 0, 2, None),
    "fewer sums": lambda: _hash.add_up(words(2), words(1), words(1), words(1)),
    "fewer hashes": lambda: _hash.add_up(words(2), words(2), words(2), words(1)),
}


@pytest.mark.parametrize("lie", LIES)
def test_buffers_that_lie_are_refused(lie: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        LIES[lie]()


def test_hashes_that_cannot_be_written_are_refused() -> None:
    with pytest.raises(BufferError):
        _hash.mix_numbers(bytes(8), bytes(8), 0, 8, False, None)
    with pytest.raises(TypeError):
        _hash.mix_numbers(words(1), None, 0, 8, False, None)  # type: ignore[arg-type]


# ---- sums over columns ---------------------------------------------------------------------------


def test_sums_of_columns_are_those_of_plain_python() -> None:
    r = random.Random(5)
    for bits in (8, 16, 32, 64):
        for share in (0, 0.02, 0.5):
            values = [None if r.random() < share else r.randrange(2**bits) for _ in range(300)]
            column = pa.array(values, getattr(pa, f"uint{bits}")())
            validity, data = column.buffers()
            for start, count in ((0, 300), (0, 0), (1, 299), (7, 250), (8, 64), (13, 3), (299, 1)):
                whole = sum(each or 0 for each in values[start : start + count]) & MASK
                assert _hash.sum_column(data, start, count, bits // 8, validity) == whole
    sums = np.array([3, 2**64 - 1, 0], np.uint64)
    codes = pa.array([0, 1, None, 2, 0, 1], pa.int32())
    validity, data = codes.buffers()
    assert _hash.sum_entries(sums, data, 0, 6, validity) == 4
    assert _hash.sum_entries(sums, data, 1, 4, validity) == 2


def test_columns_that_lie_are_not_summed() -> None:
    for width in (0, 3, 16):
        with pytest.raises(ValueError, match=f"An integer cannot have {width} bytes"):
            _hash.sum_column(b"", 0, 0, width, None)
    for offset, count in ((0, 3), (2, 1), (1, 2), (2**56, 2**56), (0, 2**56)):
        with pytest.raises(ValueError, match="too few"):
            _hash.sum_column(bytes(16), offset, count, 8, None)
        with pytest.raises(ValueError, match="too few"):
            _hash.sum_entries(bytes(8), bytes(8), offset, count, None)
    for count in (-1, 2**56 + 1):
        with pytest.raises(ValueError, match="rows"):
            _hash.sum_column(bytes(16), 0, count, 1, None)
    with pytest.raises(ValueError, match="must not be negative"):
        _hash.sum_column(bytes(16), -1, 1, 1, None)
    with pytest.raises(ValueError, match="validity buffer has 1 bytes"):
        _hash.sum_column(bytes(16), 0, 9, 1, b"\xff")
    for index in (-1, 2, 2**31 - 1):
        with pytest.raises(ValueError, match="not that of an entry"):
            _hash.sum_entries(bytes(16), index.to_bytes(4, "little", signed=True), 0, 1, None)
    with pytest.raises(ValueError, match="64 bits"):
        _hash.sum_entries(bytes(7), bytes(4), 0, 1, None)
