"""Files on the client's side that a running statement reads or writes (SQ_FILE, SQLI section 15).

FILETOBLOB, FILETOCLOB and LOTOFILE with 'client' make the server send requests to its client in the middle of a reply:
open, read or write, close. The client replies to each before the next. Its reply comes on the same stream as everything
else, after everything that the client had sent before.
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
from .client_stream import ClientDisconnected, ClientStream
from .interrupts import StatementInterrupts
from .layout import MessageLayout

T = TypeVar("T")

CHUNK_SIZE = 32000
"""Bytes of a file in one message, in either direction."""

FILE_FAILED = -9810
"""The client could not carry out a request for its file; the token is the file's name."""

_MAX_AHEAD = 64 << 20
"""Bytes of further requests that a client may have sent before its reply; more ends the session."""

_MIN_MESSAGE_COST = 64
"""Bytes that a request counts for at least: it is an object in memory, however few bytes it had on the wire."""

_PERMISSIONS = 0o666
_OPEN_READ, _OPEN_WRITE = 0, 0o1101  # O_RDONLY; O_WRONLY | O_CREAT | O_TRUNC
_END = m.EndOfTurn.TAG
_ERROR = m.Err.TAG
_REPLY_TAGS = {
    m.FileOp.OPEN: _END,
    m.FileOp.CLOSE: _END,
    m.FileOp.READ: m.FileTotal.TAG,
    m.FileOp.WRITE: m.FileWritten.TAG,
}


@dataclass(slots=True)
class MessageQueue:
    """The messages that are being served.

    `index` is that of the current one; messages that arrive while a statement runs are appended.
    """

    messages: list[m.Message] = field(default_factory=list)
    index: int = 0


class ClientRequester:
    """Requests to the client in the middle of a reply."""

    def __init__(self, stream: ClientStream, layout: MessageLayout, queue: MessageQueue) -> None:
        self._peer = stream
        self._layout = layout
        self._queue = queue

    def request(self, op: m.FileOp, request: bytes, parse: Callable[[Reader], T]) -> T:
        """Send a request and read the client's reply.

        Raises ClientDisconnected if the client leaves, SqlError with the client's code if it replies with SQ_ERR, and
        ProtocolError for another reply.
        """
        self._read_rest_of_group()
        self._peer.queue(request)
        queued_bytes = 0
        while True:
            if self._queue.messages[-1].TAG == _END:
                tag = self.receive(Reader.short, peek=True)
                if tag == _ERROR:
                    raise self._read_client_error()
                if tag == _REPLY_TAGS[op]:
                    return self.receive(parse)
            queued_bytes += self._enqueue_message()
            if queued_bytes > _MAX_AHEAD:
                raise ProtocolError(
                    f"The client sent {queued_bytes} bytes of requests, but a file was requested."
                )

    def _read_rest_of_group(self) -> None:
        """Read the rest of the group that is being served: a reply can only come after it."""
        messages = self._queue.messages
        if any(message.TAG == _END for message in messages[self._queue.index + 1 :]):
            return
        self._enqueue_message()
        while messages[-1].TAG != _END:
            self._enqueue_message()

    def _enqueue_message(self) -> int:
        """Append the next request to the queue of messages; return its size in bytes."""
        start = self._peer.pos
        framing = self._layout.framing.with_encoding(self._layout.text_encoding)
        message = self.receive(lambda reader: m.parse_client_message(reader, framing))
        if isinstance(message, m.Protocols):
            raise ProtocolError("SQ_PROTOCOLS was received, but a file was requested.")
        self._queue.messages.append(message)
        return max(self._peer.pos - start, _MIN_MESSAGE_COST)

    def _read_client_error(self) -> SqlError:
        framing = self._layout.framing
        error = self.receive(lambda reader: m.parse_as(m.Err, reader, framing))
        self.receive(lambda reader: m.expect_tag(_END, reader))
        return SqlError(
            error.sqlcode, error.isamcode, near=error.near, detail="The client reported the error."
        )

    def receive(self, parse: Callable[[Reader], T], *, peek: bool = False) -> T:
        """Parse from received bytes, waiting for more without limit."""
        peer = self._peer
        peer.awaiting_client = True
        try:
            while True:
                peer.skip_interrupts()
                reader = Reader(peer.inbox, peer.pos)
                try:
                    parsed = parse(reader)
                except NeedMoreData as more:
                    if peer.unread + more.missing > _MAX_AHEAD:
                        raise ProtocolError(
                            f"The client sent a message of more than {_MAX_AHEAD} bytes."
                        ) from None
                    if not peer.receive():
                        raise ClientDisconnected(
                            "The client closed the connection when a file was requested."
                        ) from None
                    continue
                if not peek:
                    peer.pos = reader.pos
                return parsed
        finally:
            peer.awaiting_client = False


@dataclass(eq=False, repr=False)
class ClientFileTransfer:
    """Transfers files of one session's client for the engine, one at a time.

    Each file must be read or written at once. `finish_transfer` completes the exchange of messages before any other
    reply is sent, whatever happens to the statement.

    Attributes
    ----------
    name
        The name of the open file, None if there is none.
    """

    _requester: ClientRequester
    _peer: ClientStream
    _layout: MessageLayout
    _interrupts: StatementInterrupts
    name: str | None = field(default=None, init=False)
    _bytes_remaining: int | None = field(default=None, init=False)  # bytes that the client still sends of it
    _writing: bool = field(default=False, init=False)
    _written: int = field(default=0, init=False)
    _open_count: int = field(default=0, init=False)

    def read(self, name: str) -> Iterator[bytes]:
        """Return the content of a file in pieces of at most 32 KB. SqlError if the client does not send it."""
        self._open(name, _OPEN_READ)
        open_number = self._open_count
        request = m.FileRequest(m.FileOp.READ.value, buffer_size=CHUNK_SIZE, amount=-1)
        remaining = self._request(
            m.FileOp.READ, request, lambda reader: m.parse_as(m.FileTotal, reader, self._framing).total
        )
        self._bytes_remaining = max(remaining, 0)
        while self._bytes_remaining:
            piece = self._read_chunk()
            self._interrupts.check()
            yield piece
            if self._open_count != open_number:
                raise SqlError(FILE_FAILED, near=name, detail="Another file was opened in the meantime.")
        self.finish_transfer()
        if remaining < 0:
            raise SqlError(
                FILE_FAILED, remaining, near=name, detail=f"The client announced {remaining} bytes."
            )

    def write(self, name: str, chunks: Iterable[bytes]) -> str:
        """Write a file of these bytes; return its name.

        The client adds a suffix unless `name` ends in "!", which is removed. SqlError if the client has not written
        everything.
        """
        name = name[:-1] if name.endswith("!") else f"{name}.{secrets.token_hex(8)}"
        self._open(name, _OPEN_WRITE)
        size = 0
        try:
            for chunk in chunks:
                for start in range(0, len(chunk), CHUNK_SIZE):
                    if not self._writing:
                        self._writing = True
                        self._queue(m.FileRequest(m.FileOp.WRITE.value))
                    self._queue(m.FileWrite(chunk[start : start + CHUNK_SIZE]))
                    self._peer.wait_until_sent()
                size += len(chunk)
                self._interrupts.check()
        finally:
            self._written = 0
            self.finish_transfer()
        if self._written != size:
            raise SqlError(
                FILE_FAILED, near=name, detail=f"The client wrote {self._written} of {size} bytes."
            )
        return name

    def finish_transfer(self) -> None:
        """Close the open file, if any: read what the client still sends, end what is being sent."""
        name, self.name = self.name, None
        if name is None:
            return
        self._open_count += 1
        if self._bytes_remaining is not None:
            while self._bytes_remaining:
                self._read_chunk()
            self._bytes_remaining = None
            self._requester.receive(lambda reader: m.expect_tag(_END, reader))
        if self._writing:
            self._writing = False
            reply = self._requester.request(
                m.FileOp.WRITE,
                m.EndOfTurn().encode(self._framing),
                lambda reader: m.parse_file_answer(m.FileOp.WRITE.value, reader, self._framing),
            )
            self._written = reply.written
        self._request_without_result(m.FileRequest(m.FileOp.CLOSE.value))

    @property
    def _framing(self) -> Framing:
        return self._layout.framing

    def _open(self, name: str, flags: int) -> None:
        self.finish_transfer()
        self._request_without_result(m.FileRequest(m.FileOp.OPEN.value, name, _PERMISSIONS, flags))
        self.name = name

    def _request_without_result(self, request: m.FileRequest) -> None:
        """Send a request whose reply is SQ_EOT alone."""
        self._request(m.FileOp(request.op), request, lambda reader: m.expect_tag(_END, reader))

    def _request(self, op: m.FileOp, request: m.FileRequest, parse: Callable[[Reader], T]) -> T:
        framing = self._framing
        return self._requester.request(op, request.encode(framing) + m.EndOfTurn().encode(framing), parse)

    def _queue(self, message: m.Message) -> None:
        self._peer.queue(message.encode(self._framing))

    def _read_chunk(self) -> bytes:
        """Return the next piece of the file that is being read."""
        framing = self._framing
        piece = self._requester.receive(lambda reader: m.parse_as(m.FileRead, reader, framing)).data
        assert self._bytes_remaining is not None
        if not 0 < len(piece) <= self._bytes_remaining:
            raise ProtocolError(
                f"The client sent a piece of {len(piece)} bytes, but only {self._bytes_remaining} bytes are left."
            )
        self._bytes_remaining -= len(piece)
        return piece
