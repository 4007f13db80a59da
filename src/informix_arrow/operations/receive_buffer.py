"""The receive buffer: bytes that arrived and were not parsed yet.

It provides free space at the end for a receive, a contiguous view of all unparsed bytes for the C decoder, and
removal of parsed bytes from the front. All of them are O(1), except when space runs out: then the unparsed tail
(less than one message, on the tuple path) moves to the front, or into a buffer of twice the size. No message is
ever copied out on the tuple path.
"""

from __future__ import annotations

from ..wire.errors import ProtocolError

#: Minimum of free bytes at the end before a receive; with fewer the unparsed bytes move to the front.
LOW_WATER = 32 << 10
#: Bytes of a new buffer.
INITIAL_BYTES = 8 << 10
#: Approximate cost of a Python object of a reply besides its bytes.
OBJECT_BYTES = 64
#: Maximum size of a message unless ``max_reply_bytes`` is set, in bytes.
MAX_REPLY = 256 << 20


def reply_too_large(most: int) -> ProtocolError:
    """Return the error for a reply that takes more than ``most`` bytes."""
    return ProtocolError(
        f"The server's reply takes more than {most:,} bytes (max_reply_bytes). If rows are that "
        "long, raise the limit. Otherwise the server does not follow the protocol."
    )


class ReceiveBuffer:
    """``data[start:end]`` holds the unparsed bytes; ``data[end:]`` is free.

    It grows with the replies that fill it, in two steps to ``size`` bytes. A login and small queries need only
    ``INITIAL_BYTES``, and clearing more than the processor's first cache holds would slow down a login.
    """

    __slots__ = ("_size", "data", "end", "max_bytes", "start")

    def __init__(self, size: int, most: int = MAX_REPLY) -> None:
        self.max_bytes = most  # maximum of unparsed bytes
        self._size = max(size, 2 * LOW_WATER)
        self.data = bytearray(INITIAL_BYTES)
        self.start = 0
        self.end = 0

    def __len__(self) -> int:
        return self.end - self.start

    def reserve(self, least: int | None = None) -> memoryview:
        """Return the free bytes at the end: at least ``least``, by default enough for a receive.

        Valid until the next call.
        """
        size = len(self.data)
        full = self.end == size
        if self.start == self.end:
            self.start = self.end = 0
        if least is None:
            if size == INITIAL_BYTES and not full:
                return self._free_view()
            least = LOW_WATER
        if full and size < self._size:
            self._move(bytearray(2 * LOW_WATER if size == INITIAL_BYTES else self._size))
        if len(self.data) - self.end < least:
            self._grow(least)
        return self._free_view()

    def _free_view(self) -> memoryview:
        view = memoryview(self.data)
        return view[self.end :] if self.end else view  # usually nothing is buffered, and one view is enough

    def tail(self, n: int) -> bytes:
        """Return the last ``n`` unparsed bytes, or all if there are fewer."""
        return bytes(memoryview(self.data)[max(self.start, self.end - n) : self.end])

    def _grow(self, least: int) -> None:
        left = self.end - self.start
        if len(self.data) - left >= least + LOW_WATER:
            self._move(self.data)
            return
        if left > self.max_bytes:
            raise reply_too_large(self.max_bytes)
        if len(self.data) == INITIAL_BYTES and left + least <= 2 * LOW_WATER:
            self._move(bytearray(2 * LOW_WATER))
        else:
            self._move(bytearray(max(self._size, 2 * len(self.data), left + 2 * least)))

    def _move(self, data: bytearray) -> None:
        """Move the unparsed bytes to the start of ``data``.

        That is a new array, never a resized one, because an earlier view may still be in use.
        """
        left = self.end - self.start
        data[:left] = bytes(memoryview(self.data)[self.start : self.end])
        self.data, self.start, self.end = data, 0, left
