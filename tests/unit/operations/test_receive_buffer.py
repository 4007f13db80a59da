"""The receive buffer: small until a reply fills it, and no byte is lost when it grows or moves."""

from __future__ import annotations

import random

from informix_arrow.operations.receive_buffer import INITIAL_BYTES, LOW_WATER, ReceiveBuffer

SIZE = 1 << 20


def put(buffer: ReceiveBuffer, data: bytes) -> int:
    """Write as much of ``data`` as there is room for, like a receive. Return the number of bytes."""
    with buffer.reserve() as room:
        count = min(len(room), len(data))
        room[:count] = data[:count]
    buffer.end += count
    return count


def test_a_buffer_is_small_until_a_reply_fills_it() -> None:
    buffer = ReceiveBuffer(SIZE)
    for _ in range(100):
        put(buffer, b"a short reply")
        buffer.start = buffer.end
    assert len(buffer.data) == INITIAL_BYTES
    assert put(buffer, b"x" * SIZE) == INITIAL_BYTES
    buffer.start = buffer.end - 5
    assert put(buffer, b"x" * SIZE) == 2 * LOW_WATER - 5
    buffer.start = buffer.end - 5
    with buffer.reserve() as room:
        assert len(room) == SIZE - 5
    assert bytes(buffer.data[buffer.start : buffer.end]) == b"xxxxx"
    assert len(buffer.data) == SIZE


def test_a_small_buffer_takes_what_comes_drop_by_drop_and_has_room_for_what_is_asked_for() -> None:
    buffer = ReceiveBuffer(SIZE)
    for number in range(1, INITIAL_BYTES + 1):
        assert put(buffer, b"x") == 1
        assert len(buffer) == number
        assert len(buffer.data) == INITIAL_BYTES
    put(buffer, b"x")
    assert len(buffer.data) == 2 * LOW_WATER
    other = ReceiveBuffer(SIZE)
    put(other, b"abc")
    assert len(other.reserve(LOW_WATER)) >= LOW_WATER
    assert bytes(other.data[: other.end]) == b"abc"
    assert len(other.data) == 2 * LOW_WATER


def test_what_is_unparsed_stays_whatever_comes_and_goes() -> None:
    draw = random.Random(7)
    for size in (0, 1 << 17, SIZE):
        buffer, expected = ReceiveBuffer(size), b""
        for _ in range(300):
            data = draw.randbytes(draw.choice((3, 1000, 50_000, 200_000)))
            small = len(buffer.data) == INITIAL_BYTES
            count = put(buffer, data)
            assert count >= (1 if small else min(len(data), LOW_WATER))
            expected += data[:count]
            assert bytes(buffer.data[buffer.start : buffer.end]) == expected
            parsed = draw.randint(0, len(expected))
            buffer.start += parsed
            expected = expected[parsed:]
        assert len(buffer) == len(expected)
