"""The receive buffer: bytes that arrived and were not parsed yet.

Wanted: room at the end for a receive, a contiguous view of all unparsed bytes for the C decoder, dropping of
parsed bytes from the front. All of them O(1), except when room runs out: then the unparsed tail (less than
one message, on the tuple path) moves to the front, or into a buffer of twice the size. No message is ever
copied out on the tuple path.
"""

from __future__ import annotations

from ..wire.errors import ProtocolError

#: Free bytes wanted at the end before a receive; below it the unparsed bytes move to the front.
LOW_WATER = 32 << 10
#: No single message is longer: a tuple or describe claiming more means that the stream is out of step. Bytes.
MAX_MESSAGE = 1 << 30


class ReceiveBuffer:
    """``data[start:end]`` holds the unparsed bytes; ``data[end:]`` is free."""

    __slots__ = ("data", "end", "start")

    def __init__(self, size: int) -> None:
        self.data = bytearray(max(size, 2 * LOW_WATER))
        self.start = 0
        self.end = 0

    def __len__(self) -> int:
        return self.end - self.start

    def room(self, least: int = LOW_WATER) -> memoryview:
        """The free bytes at the end, at least ``least``; valid until the next call of ``room``."""
        if self.start == self.end:
            self.start = self.end = 0
        if len(self.data) - self.end < least:
            self._make_room(least)
        return memoryview(self.data)[self.end :]

    def tail(self, n: int) -> bytes:
        """The last ``n`` unparsed bytes, fewer when there are fewer."""
        return bytes(memoryview(self.data)[max(self.start, self.end - n) : self.end])

    def _make_room(self, least: int) -> None:
        left = self.end - self.start
        unparsed = bytes(memoryview(self.data)[self.start : self.end])
        if len(self.data) - left < least + LOW_WATER:
            if left > MAX_MESSAGE:
                raise ProtocolError(f"a message of more than {MAX_MESSAGE} bytes: the stream is out of step")
            # A new array, not a resize: a view handed out earlier may still be alive somewhere.
            self.data = bytearray(max(2 * len(self.data), left + 2 * least))
        self.data[:left] = unparsed
        self.start, self.end = 0, left
