"""The receive buffer: small until a reply fills it, and nothing is lost when it grows or moves."""

from __future__ import annotations

import random

from informix_arrow.exchange.buffer import LOW_WATER, ReceiveBuffer

SIZE = 1 << 20


def put(buffer: ReceiveBuffer, data: bytes) -> int:
    """What a receive puts there of ``data``: as much as there is room for."""
    with buffer.room() as room:
        count = min(len(room), len(data))
        room[:count] = data[:count]
    buffer.end += count
    return count


def test_a_buffer_is_small_until_a_reply_fills_it() -> None:
    buffer = ReceiveBuffer(SIZE)
    for _ in range(100):
        put(buffer, b"a short reply")
        buffer.start = buffer.end
    assert len(buffer.data) == 2 * LOW_WATER
    assert put(buffer, b"x" * SIZE) == 2 * LOW_WATER
    buffer.start = buffer.end - 5
    with buffer.room() as room:
        assert len(room) == SIZE - 5
    assert bytes(buffer.data[buffer.start : buffer.end]) == b"xxxxx"
    assert len(buffer.data) == SIZE


def test_what_is_unparsed_stays_whatever_comes_and_goes() -> None:
    draw = random.Random(7)
    for size in (0, 1 << 17, SIZE):
        buffer, expected = ReceiveBuffer(size), b""
        for _ in range(300):
            data = draw.randbytes(draw.choice((3, 1000, 50_000, 200_000)))
            count = put(buffer, data)
            assert count >= min(len(data), LOW_WATER)
            expected += data[:count]
            assert bytes(buffer.data[buffer.start : buffer.end]) == expected
            parsed = draw.randint(0, len(expected))
            buffer.start += parsed
            expected = expected[parsed:]
        assert len(buffer) == len(expected)
