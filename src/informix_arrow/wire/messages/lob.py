"""Messages of smart large objects and of files on the client's side (SQLI section 15, JDBC section 11).

Some of their tags mean different things depending on the direction or on the request before them:

* 97 is :class:`LoData` from a client and :class:`LoDataReply` from a server.
* 106 and 107 carry the two halves of a file transfer. A server sends 107 with a piece to write
  (:class:`FileWrite`) and the client answers 107 with the number of bytes written (:class:`FileWritten`). A client
  answers a read with 106 and the total (:class:`FileTotal`), then 106 with each piece (:class:`FileRead`). Nothing
  in the messages distinguishes the two, so :func:`parse_file_answer` parses them by their order.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated

from ..capabilities import Framing
from ..errors import ProtocolError
from ..primitives import PSTR_MAX, Reader, Writer, encode_text
from .base import Message, expect_tag, parse_as
from .fields import Data, Int, Int8, parse_name

if TYPE_CHECKING:
    from typing_extensions import Self

LO_CHUNK = 32000
"""Piece size that clients ask for in SQ_LODATA, bytes (SQLI section 15)."""

_END_OF_TURN = 12
_INT8 = Int8()


class LoOp(IntEnum):
    """Operation of SQ_LODATA."""

    READ = 0  # from the current position
    SEEK_READ = 1  # from ``offset``, relative to ``whence``
    WRITE = 2


class Whence(IntEnum):
    """The position that an offset is relative to, as in lseek."""

    SET = 0
    CURRENT = 1
    END = 2


@dataclass(frozen=True, slots=True)
class LoData(Message, tag=97, sent_by="client"):
    """SQ_LODATA of a client: read from or write to an open smart large object (SQLI section 15).

    Wire: ``short op, short fd, int count, short piece size``, for op 1 ``INT8 offset (10 bytes), short whence``,
    for op 2 ``PSTR piece`` until ``count`` bytes are complete. ``fd`` is the result of ``ifx_lo_open``.
    """

    op: int
    fd: int
    count: int = 0  # bytes to read, or bytes in data
    piece: int = LO_CHUNK  # maximum bytes of a piece of the reply or of data
    offset: int = 0  # op 1
    whence: int = Whence.SET.value  # op 1
    data: bytes = b""  # op 2

    @classmethod
    def read(cls, fd: int, count: int, offset: int | None = None) -> "LoData":
        """Create a request to read ``count`` bytes from ``offset``, or from where the last read ended."""
        if offset is None:
            return cls(LoOp.READ.value, fd, count)
        return cls(LoOp.SEEK_READ.value, fd, count, offset=offset)

    @classmethod
    def write(cls, fd: int, data: bytes) -> "LoData":
        """Create a request to write ``data`` at the current position."""
        return cls(LoOp.WRITE.value, fd, len(data), data=data)

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG).short(self.op).short(self.fd).int(self.count).short(self.piece)
        if self.op == LoOp.SEEK_READ:
            w.raw(_INT8.encode(self.offset, framing)).short(self.whence)
        elif self.op == LoOp.WRITE:
            if self.count != len(self.data):
                raise ValueError(
                    f"SQ_LODATA: The count is {self.count}, but there are {len(self.data)} bytes to write."
                )
            if self.count and self.piece < 1:
                raise ValueError(f"SQ_LODATA: The size {self.piece} of a piece must be positive.")
            _put_pieces(w, self.data, self.piece)
        elif self.op != LoOp.READ:
            raise ValueError(f"SQ_LODATA: The operation {self.op} is not known.")
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        op, fd, count, piece = reader.short(), reader.short(), reader.int(), reader.short()
        if op == LoOp.READ:
            return cls(op, fd, count, piece)
        if op == LoOp.SEEK_READ:
            return cls(op, fd, count, piece, _INT8.parse(reader, framing), reader.short())
        if op == LoOp.WRITE:
            return cls(op, fd, count, piece, data=_get_pieces(reader, count, "SQ_LODATA"))
        raise ProtocolError(f"SQ_LODATA: The operation {op} is not known.")


@dataclass(frozen=True, slots=True)
class LoDataReply(Message, tag=97, sent_by="server"):
    """SQ_LODATA of a server: the bytes that were read, or how many were written (SQLI section 15).

    Wire: ``short op``; for op 0 and 1 ``int size``, then ``PSTR piece`` until ``size`` bytes are complete, or, if
    size is below 1, ``short status`` (an error or the end of the object); for op 2 ``int written``.
    """

    op: int
    size: int  # bytes read or written; 0 or less: nothing was read, see status
    data: bytes = b""
    status: int = 0

    @classmethod
    def of_data(cls, op: int, data: bytes) -> "LoDataReply":
        """Create the reply to a read. No data means the end of the object."""
        return cls(op, len(data), data)

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG).short(self.op).int(self.size)
        if self.op == LoOp.WRITE:
            return w.getvalue()
        if self.op not in (LoOp.READ, LoOp.SEEK_READ):
            raise ValueError(f"SQ_LODATA: The operation {self.op} is not known.")
        if self.size < 1:
            return w.short(self.status).getvalue()
        if self.size != len(self.data):
            raise ValueError(
                f"SQ_LODATA: The size is {self.size}, but there are {len(self.data)} bytes of data."
            )
        return _put_pieces(w, self.data, LO_CHUNK).getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        op, size = reader.short(), reader.int()
        if op == LoOp.WRITE:
            return cls(op, size)
        if op not in (LoOp.READ, LoOp.SEEK_READ):
            raise ProtocolError(f"SQ_LODATA: The operation {op} is not known.")
        if size < 1:
            return cls(op, size, status=reader.short())
        return cls(op, size, _get_pieces(reader, size, "SQ_LODATA"))


class FileOp(IntEnum):
    """Operation of SQ_FILE."""

    OPEN = 0
    CLOSE = 1
    READ = 2
    WRITE = 3


@dataclass(frozen=True, slots=True)
class FileRequest(Message, tag=98, sent_by="server"):
    """SQ_FILE: a request of a server, within a reply, for a file on the client's side (SQLI section 15).

    Wire: ``short op``; for op 0 ``PSTR name, int mode, int flags, int offset``; for op 2 ``short buffer size, int
    amount`` (-1: all); nothing more for 1 and 3. After op 3 the pieces follow as :class:`FileWrite`. An EndOfTurn
    ends the request. The client answers, and the interrupted reply continues. A client must serve only names that
    the application registered, never any other file that the server names.
    """

    op: int
    name: str = ""
    mode: int = 0
    flags: int = 0
    offset: int = 0
    buffer_size: int = 0  # maximum bytes of a piece of the answer
    amount: int = 0  # bytes to read, -1 for all

    def encode(self, framing: Framing) -> bytes:
        w = Writer().short(self.TAG).short(self.op)
        if self.op == FileOp.OPEN:
            w.pstr(encode_text(self.name, framing.encoding, "a file name"), "a file name")
            w.int(self.mode).int(self.flags).int(self.offset)
        elif self.op == FileOp.READ:
            w.short(self.buffer_size).int(self.amount)
        elif self.op not in (FileOp.CLOSE, FileOp.WRITE):
            raise ValueError(f"SQ_FILE: The operation {self.op} is not known.")
        return w.getvalue()

    @classmethod
    def parse(cls, reader: Reader, framing: Framing) -> "Self":
        op = reader.short()
        if op == FileOp.OPEN:
            return cls(op, parse_name(reader, framing), reader.int(), reader.int(), reader.int())
        if op == FileOp.READ:
            return cls(op, buffer_size=reader.short(), amount=reader.int())
        if op in (FileOp.CLOSE, FileOp.WRITE):
            return cls(op)
        raise ProtocolError(f"SQ_FILE: The operation {op} is not known.")


@dataclass(frozen=True, slots=True)
class FileTotal(Message, tag=106):
    """SQ_FILE_READ, first part of a client's answer to a read: ``int total``, the number of bytes that follow."""

    total: Int


@dataclass(frozen=True, slots=True)
class FileRead(Message, tag=106):
    """SQ_FILE_READ, a piece of the file that the server asked for: ``PSTR data``."""

    data: Annotated[bytes, Data("a piece of a file")]


@dataclass(frozen=True, slots=True)
class FileWrite(Message, tag=107, sent_by="server"):
    """SQ_FILE_WRITE of a server: a piece for the client's file: ``PSTR data``."""

    data: Annotated[bytes, Data("a piece of a file")]


@dataclass(frozen=True, slots=True)
class FileWritten(Message, tag=107, sent_by="client"):
    """SQ_FILE_WRITE of a client: ``int total``, the number of bytes that it wrote to its file."""

    total: Int


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """The whole answer of a client to one FileRequest, its EndOfTurn included.

    It is ``000c`` after open and close, ``006a int total {006a PSTR}* 000c`` after a read, and ``006b int total
    000c`` after a write.
    """

    op: int
    data: bytes = b""  # the bytes of a read
    written: int = 0  # number of bytes of a write

    def encode(self, framing: Framing, piece: int = LO_CHUNK) -> bytes:
        """Return the answer in pieces of at most ``piece`` bytes, which must not exceed the request's buffer size."""
        end = _END_OF_TURN.to_bytes(2, "big")
        if self.op in (FileOp.OPEN, FileOp.CLOSE):
            return end
        if self.op == FileOp.WRITE:
            return FileWritten(self.written).encode(framing) + end
        if self.op != FileOp.READ:
            raise ValueError(f"SQ_FILE: The operation {self.op} is not known.")
        step = min(piece, PSTR_MAX)
        if step < 1:
            raise ValueError(f"SQ_FILE: The size {piece} of a piece must be positive.")
        out = bytearray(FileTotal(len(self.data)).encode(framing))
        for at in range(0, len(self.data), step):
            out += FileRead(self.data[at : at + step]).encode(framing)
        return bytes(out) + end


def parse_file_answer(op: int, reader: Reader, framing: Framing) -> FileAnswer:
    """Parse a client's whole answer to the FileRequest with operation ``op``, EndOfTurn included.

    This returns the file in one piece. For bounded pieces, use :func:`parse_as` to parse FileTotal, then FileRead
    until the total is complete, then the EndOfTurn. Raises ``ProtocolError`` for another message.
    """
    answer = FileAnswer(op)
    if op == FileOp.READ:
        total = parse_as(FileTotal, reader, framing).total
        data = bytearray()
        while len(data) < total:
            piece = parse_as(FileRead, reader, framing).data
            if not piece or len(data) + len(piece) > total:
                raise ProtocolError(
                    f"SQ_FILE: The reply announced {total} bytes, but another number was received."
                )
            data += piece
        answer = FileAnswer(op, bytes(data))
    elif op == FileOp.WRITE:
        answer = FileAnswer(op, written=parse_as(FileWritten, reader, framing).total)
    elif op not in (FileOp.OPEN, FileOp.CLOSE):
        raise ValueError(f"SQ_FILE: The operation {op} is not known.")
    expect_tag(_END_OF_TURN, reader)
    return answer


def _put_pieces(w: Writer, data: bytes, piece: int) -> Writer:
    step = min(piece, PSTR_MAX)
    for at in range(0, len(data), step):
        w.pstr(data[at : at + step])
    return w


def _get_pieces(reader: Reader, size: int, what: str) -> bytes:
    """Read padded strings until ``size`` bytes are complete. An empty string is refused, because it would never
    end."""
    if size < 0:
        raise ProtocolError(f"{what}: The announced size {size} is negative.")
    begin, (consumed, data) = reader.pos, reader.partial or (0, bytearray())
    reader.pos += consumed
    while len(data) < size:
        reader.partial = (reader.pos - begin, data)
        piece = reader.pstr(f"{what} piece")
        if not piece or len(data) + len(piece) > size:
            raise ProtocolError(f"{what}: {size} bytes were announced, but another number was received.")
        data += piece
    return bytes(data)
