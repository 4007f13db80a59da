"""Skipping rows in C consumes the same bytes as parsing row by row."""

from __future__ import annotations

import random

import pytest

from informix_arrow._decode import skip_rows
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing

LARGE, SMALL = Framing(large_fetch=True), Framing(large_fetch=False)
SIZES = [0, 1, 2, 3, 7, 255, 256, 32_766, 32_767]


def rows(framing: Framing, sizes: list[int]) -> list[bytes]:
    return [
        m.Tuple(number % 3, b"\x00\x0e" * (size // 2) + b"x" * (size % 2)).encode(framing)
        for number, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(("framing", "header"), [(LARGE, 8), (SMALL, 6)])
@pytest.mark.parametrize("behind", [b"", b"\x00\x0c", b"\x00\x0f" + bytes(14), b"\x00"])
def test_whole_rows_are_counted_and_what_is_behind_them_is_left(
    framing: Framing, header: int, behind: bytes
) -> None:
    encoded = rows(framing, SIZES)
    data = b"\x00\x0c" + b"".join(encoded) + behind
    assert skip_rows(data, 2, len(data), header) == (len(data) - len(behind), len(SIZES))
    assert skip_rows(bytearray(data), 0, len(data), header) == (0, 0)


@pytest.mark.parametrize(("framing", "header"), [(LARGE, 8), (SMALL, 6)])
def test_a_row_that_is_cut_anywhere_is_left(framing: Framing, header: int) -> None:
    encoded = rows(framing, [3, 4, 0, 5])
    data = b"".join(encoded)
    ends = [0, *(sum(map(len, encoded[: number + 1])) for number in range(len(encoded)))]
    for end in range(len(data) + 1):
        whole = max(number for number, at in enumerate(ends) if at <= end)
        assert skip_rows(data, 0, end, header) == (ends[whole], whole)
        assert skip_rows(data[:end], 0, end, header) == (ends[whole], whole)


@pytest.mark.parametrize(
    ("header", "size"), [(6, -1), (6, -2), (6, -(2**15)), (8, -1), (8, -(2**15)), (8, -(2**31))]
)
def test_a_size_below_zero_ends_it(header: int, size: int) -> None:
    framing = LARGE if header == 8 else SMALL
    first = m.Tuple(0, b"abc").encode(framing)
    bad = b"\x00\x0e\x00\x00" + (size % (1 << 8 * (header - 4))).to_bytes(header - 4, "big") + bytes(40)
    assert skip_rows(first + bad, 0, len(first + bad), header) == (len(first), 1)


@pytest.mark.parametrize("header", [6, 8])
def test_no_bytes_lead_outside(header: int) -> None:
    chance = random.Random(33)
    for _ in range(2000):
        data = b"".join(
            b"\x00\x0e"
            + chance.randbytes(header - 3)
            + bytes([chance.randrange(9)])
            + chance.randbytes(chance.randrange(9))
            for _ in range(chance.randrange(5))
        )
        start = chance.randrange(len(data) + 1)
        at, count = skip_rows(data, start, len(data), header)
        assert start <= at <= len(data)
        assert count <= (at - start) // header


@pytest.mark.parametrize("arguments", [(b"abc", 0, 3), (b"abc", 0, 3, 6, 7)])
def test_a_wrong_number_of_arguments(arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="takes 4 arguments"):
        skip_rows(*arguments)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "arguments", [(b"abc", 0, 4, 6), (b"abc", 2, 1, 6), (b"abc", -1, 3, 6), (b"abc", 0, 3, 7)]
)
def test_wrong_places(arguments: tuple[bytes, int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"data|6 or 8 bytes"):
        skip_rows(*arguments)
