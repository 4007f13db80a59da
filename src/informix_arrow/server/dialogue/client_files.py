"""Files on the client's side, which a running statement reads or writes (SQ_FILE, SQLI section 15).

FILETOBLOB, FILETOCLOB and LOTOFILE with 'client' make the server ask its client in the middle of a reply: open,
read or write, close. Each request is answered before the next, on the same stream as everything else, behind
whatever the client had sent by then.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from ...wire import messages as m
from ...wire.capabilities import Framing
from ...wire.errors import ProtocolError
from ...wire.primitives import NeedMoreData, Reader
from ..errors import SqlError
from .interrupts import Interrupts
from .layout import Layout
from .peer import Peer, PeerGone

T = TypeVar("T")

PIECE = 32000
"""Bytes of a file in one message, either way."""

FILE_FAILED = -9810
"""The client could not do with its file what was asked; the token is the file's name."""

_MAX_AHEAD = 64 << 20
"""Bytes of further requests that a client may have sent before it answers; more ends the session."""

_LEAST_COST = 64
"""Bytes that a request counts for at least: an object in memory, however few it had on the wire."""

_PERMISSIONS = 0o666
_TO_READ, _TO_WRITE = 0, 0o1101  # O_RDONLY; O_WRONLY | O_CREAT | O_TRUNC
_END = m.EndOfTurn.TAG
_ERROR = m.Err.TAG
_MARKS = {
    m.FileOp.OPEN: _END,
    m.FileOp.CLOSE: _END,
    m.FileOp.READ: m.FileTotal.TAG,
    m.FileOp.WRITE: m.FileWritten.TAG,
}


@dataclass(slots=True)
class Agenda:
    """The messages that are being served: `at` is the index of the one at hand; what arrives while a statement runs
    is appended."""

    messages: list[m.Message] = field(default_factory=list)
    at: int = 0


class Inquiry:
    """Requests to the client in the middle of a reply, and its answers."""

    def __init__(self, peer: Peer, layout: Layout, agenda: Agenda) -> None:
        self._peer = peer
        self._layout = layout
        self._agenda = agenda

    def ask(self, op: m.FileOp, request: bytes, parse: Callable[[Reader], T]) -> T:
        """Send a request and read what answers it. PeerGone when the client leaves, SqlError with the
        client's code when it answers with SQ_ERR, ProtocolError when it says something else."""
        self._end_of_group()
        self._peer.queue(request)
        ahead = 0
        while True:
            if self._agenda.messages[-1].TAG == _END:
                tag = self.take(Reader.short, peek=True)
                if tag == _ERROR:
                    raise self._clients_error()
                if tag == _MARKS[op]:
                    return self.take(parse)
            ahead += self._take_message()
            if ahead > _MAX_AHEAD:
                raise ProtocolError(f"{ahead} bytes of requests where a file was asked for")

    def _end_of_group(self) -> None:
        """Take in the rest of the group that is being served: an answer can only come after it."""
        messages = self._agenda.messages
        if any(message.TAG == _END for message in messages[self._agenda.at + 1 :]):
            return
        self._take_message()
        while messages[-1].TAG != _END:
            self._take_message()

    def _take_message(self) -> int:
        """Put the next request with those that wait to be served; the bytes that it had."""
        start = self._peer.pos
        framing = self._layout.framing.with_encoding(self._layout.text_encoding)
        message = self.take(lambda reader: m.parse_client_message(reader, framing))
        if isinstance(message, m.Protocols):
            raise ProtocolError("SQ_PROTOCOLS where a file was asked for")
        self._agenda.messages.append(message)
        return max(self._peer.pos - start, _LEAST_COST)

    def _clients_error(self) -> SqlError:
        framing = self._layout.framing
        error = self.take(lambda reader: m.parse_as(m.Err, reader, framing))
        self.take(lambda reader: m.expect_tag(_END, reader))
        return SqlError(error.sqlcode, error.isamcode, near=error.near, detail="said by the client")

    def take(self, parse: Callable[[Reader], T], *, peek: bool = False) -> T:
        """Parse from what has arrived, waiting for more as long as it takes."""
        peer = self._peer
        peer.asking = True
        try:
            while True:
                peer.pass_over_interrupts()
                reader = Reader(peer.inbox, peer.pos)
                try:
                    found = parse(reader)
                except NeedMoreData as more:
                    if peer.unread + more.missing > _MAX_AHEAD:
                        raise ProtocolError(f"a message of more than {_MAX_AHEAD} bytes") from None
                    if not peer.receive():
                        raise PeerGone("the client left where a file was asked for") from None
                    continue
                if not peek:
                    peer.pos = reader.pos
                return found
        finally:
            peer.asking = False


class ClientFiles:
    """The files of one session's client, for the engine: one at a time, each to be read or written at once.

    Whatever becomes of the statement, `settle` brings the exchange to its end before anything else is said.

    Attributes
    ----------
    name
        The name of the open file, None while there is none.
    """

    def __init__(self, inquiry: Inquiry, peer: Peer, layout: Layout, interrupts: Interrupts) -> None:
        self._inquiry = inquiry
        self._peer = peer
        self._layout = layout
        self._interrupts = interrupts
        self.name: str | None = None
        self._left: int | None = None  # bytes of it that the client is sending
        self._writing = False
        self._written = 0
        self._turns = 0

    def read(self, name: str) -> Iterator[bytes]:
        """The content of a file in pieces of at most 32 KB. SqlError when the client does not give it."""
        self._open(name, _TO_READ)
        mine = self._turns
        request = m.FileRequest(m.FileOp.READ.value, buffer_size=PIECE, amount=-1)
        left = self._ask(
            m.FileOp.READ, request, lambda reader: m.parse_as(m.FileTotal, reader, self._framing).total
        )
        self._left = max(left, 0)
        while self._left:
            piece = self._piece()
            self._interrupts.check()
            yield piece
            if self._turns != mine:
                raise SqlError(FILE_FAILED, near=name, detail="another file was opened in between")
        self.settle()
        if left < 0:
            raise SqlError(FILE_FAILED, left, near=name, detail=f"the client announced {left} bytes")

    def write(self, name: str, chunks: Iterable[bytes]) -> str:
        """Make a file of these bytes; the name that it got: a suffix is added unless `name` ends in "!", which
        is cut off. SqlError when the client has not written all."""
        name = name[:-1] if name.endswith("!") else f"{name}.{secrets.token_hex(8)}"
        self._open(name, _TO_WRITE)
        size = 0
        try:
            for chunk in chunks:
                for start in range(0, len(chunk), PIECE):
                    if not self._writing:
                        self._writing = True
                        self._queue(m.FileRequest(m.FileOp.WRITE.value))
                    self._queue(m.FileWrite(chunk[start : start + PIECE]))
                    self._peer.pace()
                size += len(chunk)
                self._interrupts.check()
        finally:
            self._written = 0
            self.settle()
        if self._written != size:
            raise SqlError(FILE_FAILED, near=name, detail=f"the client wrote {self._written} bytes of {size}")
        return name

    def settle(self) -> None:
        """Close the file that is open, if any: take what still comes of it, end what is being sent."""
        name, self.name = self.name, None
        if name is None:
            return
        self._turns += 1
        if self._left is not None:
            while self._left:
                self._piece()
            self._left = None
            self._inquiry.take(lambda reader: m.expect_tag(_END, reader))
        if self._writing:
            self._writing = False
            answer = self._inquiry.ask(
                m.FileOp.WRITE,
                m.EndOfTurn().encode(self._framing),
                lambda reader: m.parse_file_answer(m.FileOp.WRITE.value, reader, self._framing),
            )
            self._written = answer.written
        self._simple(m.FileRequest(m.FileOp.CLOSE.value))

    @property
    def _framing(self) -> Framing:
        return self._layout.framing

    def _open(self, name: str, flags: int) -> None:
        self.settle()
        self._simple(m.FileRequest(m.FileOp.OPEN.value, name, _PERMISSIONS, flags))
        self.name = name

    def _simple(self, request: m.FileRequest) -> None:
        """A request that is answered by SQ_EOT alone."""
        self._ask(m.FileOp(request.op), request, lambda reader: m.expect_tag(_END, reader))

    def _ask(self, op: m.FileOp, request: m.FileRequest, parse: Callable[[Reader], T]) -> T:
        framing = self._framing
        return self._inquiry.ask(op, request.encode(framing) + m.EndOfTurn().encode(framing), parse)

    def _queue(self, message: m.Message) -> None:
        self._peer.queue(message.encode(self._framing))

    def _piece(self) -> bytes:
        """The next piece of the file that is being read."""
        framing = self._framing
        piece = self._inquiry.take(lambda reader: m.parse_as(m.FileRead, reader, framing)).data
        assert self._left is not None
        if not 0 < len(piece) <= self._left:
            raise ProtocolError(f"a piece of {len(piece)} bytes of a file of which {self._left} are left")
        self._left -= len(piece)
        return piece
