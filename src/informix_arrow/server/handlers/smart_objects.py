"""Open smart large objects of one session, and SQ_LODATA, which reads and writes them (SQLI section 15)."""

from __future__ import annotations

import heapq
import struct
from dataclasses import dataclass
from enum import IntFlag

from ...wire import messages as m
from ..errors import SqlError
from ..session.captures import DESCRIPTORS
from ..session.engine_session import EngineSession
from .interrupts import StatementInterrupts
from .replies import ReplyWriter

BAD_OBJECT = -9810
"""A smart large object could not be used: not open, unknown, or not open for that."""

MAX_OPEN = DESCRIPTORS.stop
"""Objects that a session may have open at a time: descriptors are shorts, from 1. Those above belong to change capture.
"""

_READ_BLOCK = 512 << 10
_MAX_CHUNK = 32000
_MAX_CHANGE_BYTES = 1 << 20  # bytes in one reply, whatever is requested
_CHUNK_HEADER = struct.Struct(">h")
_HEAD = struct.Struct(">hhi")
_MAX_SIZE = 1 << 42  # as in a real sbspace: 4 TB


class OpenMode(IntFlag):
    """Mode of opening an object: the access bits of ESQL/C's locator.h.

    JDBC sends 8, or 0x800 to read, which has none of these bits and means reading.
    """

    APPEND = 1
    WRITE_ONLY = 2
    READ_ONLY = 4
    READ_WRITE = 8


_WRITES = OpenMode.APPEND | OpenMode.WRITE_ONLY | OpenMode.READ_WRITE


@dataclass(slots=True)
class OpenObject:
    """One open object: the position of the next read or write, and which of them are allowed."""

    locator: bytes
    mode: OpenMode
    position: int = 0

    @property
    def readable(self) -> bool:
        return not self.mode & _WRITES or bool(self.mode & (OpenMode.READ_WRITE | OpenMode.READ_ONLY))

    @property
    def writable(self) -> bool:
        return bool(self.mode & _WRITES)


class OpenObjectTable:
    """The open objects of one session by descriptor. The lowest free one is assigned first, from 1.

    informix-driver's tests treat 0 as no descriptor.
    """

    def __init__(self) -> None:
        self._open: dict[int, OpenObject] = {}
        self._free_descriptors: list[int] = []

    def add(self, locator: bytes, mode: int) -> int:
        """Open an existing object; -9810 if too many are open."""
        if len(self._open) >= MAX_OPEN:
            raise SqlError(BAD_OBJECT, detail=f"{MAX_OPEN} smart large objects are already open.")
        number = heapq.heappop(self._free_descriptors) if self._free_descriptors else len(self._open) + 1
        self._open[number] = OpenObject(locator, OpenMode(mode & 0xF))
        return number

    def get(self, number: int) -> OpenObject:
        """Return an open object; -9810 for a descriptor that is not open."""
        lob = self._open.get(number)
        if lob is None:
            raise SqlError(BAD_OBJECT, detail=f"No smart large object is open under the number {number}.")
        return lob

    def close(self, number: int) -> None:
        """Close an object; -9810 for a descriptor that is not open."""
        self.get(number)
        del self._open[number]
        heapq.heappush(self._free_descriptors, number)

    def clear(self) -> None:
        """Close all, as another database is current, from which they cannot be reached."""
        self._open.clear()
        self._free_descriptors.clear()


@dataclass(eq=False, repr=False)
class SmartObjectHandler:
    """Opens objects, and moves in, reads and writes them by SQ_LODATA.

    Parameters
    ----------
    objects
        Those that are open. They are closed when another database becomes current.
    """

    _engine_session: EngineSession
    _replies: ReplyWriter
    _interrupts: StatementInterrupts
    _open_objects: OpenObjectTable

    def open(self, locator: bytes, mode: int) -> int:
        """ifx_lo_open by the fast path: return a descriptor. -9810 for a locator without an object."""
        self._engine_session.lobs.require(locator)
        return self._open_objects.add(locator, mode)

    def lo_data(self, message: m.LoData) -> None:
        if self._engine_session.capture_routines.is_capture_descriptor(message.fd):
            self._read_changes(message)
            return
        lob = self._open_objects.get(message.fd)
        if message.op == m.LoOp.WRITE:
            self._lo_write(lob, message)
        else:
            self._lo_read(lob, message)

    def _read_changes(self, message: m.LoData) -> None:
        """Send records of a change capture session as soon as there are some (docs/protocol/CDC.md, the read)."""
        if message.op != m.LoOp.READ or message.piece < 1:
            raise SqlError(BAD_OBJECT, detail="Change records can only be read, in order.")
        with self._interrupts:
            data = self._engine_session.capture_routines.read(
                message.fd,
                min(message.count, _MAX_CHANGE_BYTES),
                self._replies.requested_at,
                self._replies.wait_until_sent,
            )
        self._replies.send(_HEAD.pack(m.LoData.TAG, message.op, len(data)))
        self._replies.send(_encode_chunks(data, min(message.piece, _MAX_CHUNK)))

    def _lo_write(self, lob: OpenObject, message: m.LoData) -> None:
        if not lob.writable:
            raise SqlError(BAD_OBJECT, detail="The smart large object is open for reading only.")
        store = self._engine_session.lobs
        with self._interrupts:
            if lob.mode & OpenMode.APPEND:
                lob.position = store.size(lob.locator)
            if lob.position + len(message.data) > _MAX_SIZE:
                raise SqlError(BAD_OBJECT, detail="A smart large object cannot be larger than 4 TB.")
            if message.data:
                store.write(lob.locator, lob.position, message.data)
        lob.position += len(message.data)
        self._replies.send(_HEAD.pack(m.LoData.TAG, message.op, len(message.data)))

    def _lo_read(self, lob: OpenObject, message: m.LoData) -> None:
        """Send the bytes from the position on, as many as there are; none at the end of the object."""
        if not lob.readable:
            raise SqlError(BAD_OBJECT, detail="The smart large object is open for writing only.")
        if message.count < 0 or message.piece < 1:
            raise SqlError(
                BAD_OBJECT, detail=f"{message.count} bytes cannot be read in pieces of {message.piece}."
            )
        if message.op == m.LoOp.SEEK_READ:
            self.seek(lob, message.offset, message.whence)
        piece = min(message.piece, _MAX_CHUNK)
        step = max(_READ_BLOCK // piece, 1) * piece
        # The first bytes are read before their number is announced: an error must come in its place.
        with self._interrupts:
            size, block = self._engine_session.lobs.read_with_size(
                lob.locator, lob.position, min(step, message.count)
            )
        count = max(0, min(message.count, size - lob.position))
        lob.position += _require_length(block, min(step, count))
        self._replies.send(_HEAD.pack(m.LoData.TAG, message.op, count) + (b"" if count else b"\0\0"))
        while block:
            self._replies.send(_encode_chunks(block, piece))
            self._replies.wait_until_sent()
            count -= len(block)
            block = self._receive_bytes(lob, min(step, count))

    def seek(self, lob: OpenObject, offset: int, whence: int) -> int:
        """Move to another position, which may be after the end; -9810 for one before the start."""
        if whence == m.Whence.CURRENT:
            offset += lob.position
        elif whence == m.Whence.END:
            offset += self._engine_session.lobs.size(lob.locator)
        elif whence != m.Whence.SET:
            raise SqlError(BAD_OBJECT, detail=f"The origin {whence} of an offset is not known.")
        if not 0 <= offset <= _MAX_SIZE:
            raise SqlError(BAD_OBJECT, detail=f"The position {offset} is not valid.")
        lob.position = offset
        return offset

    def _receive_bytes(self, lob: OpenObject, count: int) -> bytes:
        """Return exactly `count` bytes from the position, and advance it."""
        if not count:
            return b""
        store = self._engine_session.lobs
        data = store.read(lob.locator, lob.position, count)
        lob.position += _require_length(data, count)
        return data


def _require_length(data: bytes, count: int) -> int:
    """Return `count` if `data` has that length."""
    if len(data) != count:
        raise RuntimeError(
            f"Only {len(data)} of {count} bytes could be read. The smart large object changed while it was read."
        )
    return count


def _encode_chunks(data: bytes, piece: int) -> bytearray:
    out = bytearray()
    for start in range(0, len(data), piece):
        part = data[start : start + piece]
        out += _CHUNK_HEADER.pack(len(part))
        out += part
        if len(part) & 1:
            out.append(0)
    return out
