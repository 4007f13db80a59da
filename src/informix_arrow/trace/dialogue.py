"""Parse both directions of one connection as messages: bytes in, trace entries out. Has no clock and no file."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..wire import messages as m
from ..wire.capabilities import CLIENT_OFFER, Framing, codec_of_locale
from ..wire.describe import Column
from ..wire.errors import Error
from ..wire.login import HEADER_SIZE, ConnectReply, ConnectRequest, packet_length
from ..wire.messages import Describe
from ..wire.primitives import NeedMoreData, Reader
from .message_format import Facts, MessageFormatter, message_name
from .redactor import Redactor

Direction: TypeAlias = Literal["->", "<-", "--"]


@dataclass(slots=True)
class TraceEntry:
    """One line of a trace: ``->`` was sent, ``<-`` was received, ``--`` is an event."""

    direction: Direction
    what: str
    facts: Facts


class _Stream:
    """The bytes of one direction that are not a complete message yet."""

    __slots__ = ("data", "lost", "needed_bytes", "partial")

    def __init__(self) -> None:
        self.data = bytearray()
        self.needed_bytes = 1  # the number of bytes below which no message is complete
        self.partial: tuple[int, Any] | None = None  # the part of a long message that was parsed
        self.lost = False  # the rest cannot be parsed as messages


class Dialogue:
    """The messages of one connection, from its login on.

    Parameters
    ----------
    redactor
        Decides what a trace may contain.
    encoding
        The code set of text if the user named one, or "" for the code set of the login.
    """

    def __init__(self, redactor: Redactor, encoding: str = "") -> None:
        self._redactor = redactor
        self._encoding = encoding
        self.begin()

    def begin(self) -> None:
        """Start over for a new TCP connection: a login follows."""
        self._framing = Framing(encoding=self._encoding or "latin-1")
        self._out, self._in = _Stream(), _Stream()
        self._login_sent = self._login_answered = False  # the login request and its reply are complete
        self._columns: dict[int, tuple[Column, ...]] = {}  # columns of statements, by statement id
        self._group: int | None = None  # the statement id of the message group being sent
        self._groups: deque[int | None] = deque()  # the statement ids of groups without a reply yet
        self._file: m.FileRequest | None = None  # the request that the client has not replied to
        self._file_left = -1  # remaining bytes of its content; -1: their number was not sent yet

    def set_encoding(self, encoding: str) -> None:
        """Set the code set of text from now on."""
        if encoding != self._framing.encoding:
            self._framing = self._framing.with_encoding(encoding)

    def sent(self, data: bytes | bytearray | memoryview) -> Iterator[TraceEntry]:
        """Add bytes that the client sent. Yield entries for the complete messages."""
        self._out.data += data
        if not self._login_sent:
            packet = _packet(self._out)
            if packet is None:
                return
            self._login_sent = True
            yield self._login(packet)
        yield from _merge_rows(self._messages(self._out, "->"))

    def received(self, data: bytes | bytearray | memoryview) -> Iterator[TraceEntry]:
        """Add bytes that the server sent. Yield entries for the complete messages."""
        self._in.data += data
        if not self._login_answered:
            packet = _packet(self._in)
            if packet is None:
                return
            self._login_answered = True
            try:
                yield self._entry("<-", ConnectReply.parse(packet))
            except Error:
                yield TraceEntry("<-", "no login reply", {"bytes": len(packet)})
        yield from _merge_rows(self._messages(self._in, "<-"))

    def unfinished(self) -> Iterator[TraceEntry]:
        """Yield entries for messages that have not ended."""
        if self._out.data:
            yield TraceEntry("->", "unfinished message", {"bytes": len(self._out.data)})
        if self._in.data:
            yield TraceEntry("<-", "unfinished message", {"bytes": len(self._in.data)})

    def _login(self, packet: bytes) -> TraceEntry:
        try:
            request = ConnectRequest.parse(packet)
        except Error:
            return TraceEntry("->", "no login request", {"bytes": len(packet)})
        self._redactor.add_secret(request.password)
        if not self._encoding:
            with contextlib.suppress(ValueError):  # connect() reports it
                self.set_encoding(codec_of_locale(request.environment.get("CLIENT_LOCALE", "")))
        return self._entry("->", request)

    def _messages(self, stream: _Stream, direction: Direction) -> Iterator[TraceEntry]:
        while not stream.lost and len(stream.data) >= stream.needed_bytes:
            reader = Reader(stream.data, 0, None, stream.partial)
            try:
                message = (
                    self._client(reader)
                    if direction == "->"
                    else m.parse_server_message(reader, self._framing)
                )
            except NeedMoreData as need:
                stream.needed_bytes = len(stream.data) + need.missing
                stream.partial = reader.partial
                return
            except (Error, ValueError) as error:
                stream.lost = True
                yield TraceEntry(
                    direction, "unreadable", {"error": type(error).__name__, "bytes": len(stream.data)}
                )
                stream.data.clear()
                return
            del stream.data[: reader.pos]
            stream.needed_bytes, stream.partial = 1, None
            if direction == "->":
                entry = self._entry(direction, message, self._group)
                if isinstance(message, m.Id):
                    self._group = message.statement_id
                elif isinstance(message, m.EndOfTurn):
                    if self._file is not None:
                        self._file, self._file_left = None, -1
                    else:
                        self._groups.append(self._group)
                        self._group = None
            else:
                if type(message) is Describe:
                    self._columns[message.statement_id] = message.columns
                    if self._groups:
                        self._groups[0] = message.statement_id
                entry = self._entry(direction, message, self._groups[0] if self._groups else None)
                if isinstance(message, m.FileRequest):
                    self._file = message
                elif isinstance(message, m.Protocols):
                    self._framing = Framing.negotiate(CLIENT_OFFER, message.mask, self._framing.encoding)
                elif isinstance(message, m.EndOfTurn) and self._file is None and self._groups:
                    self._groups.popleft()
            yield entry
        if stream.lost and stream.data:
            yield TraceEntry(direction, "unreadable", {"bytes": len(stream.data)})
            stream.data.clear()

    def _entry(self, direction: Direction, message: object, statement: int | None = None) -> TraceEntry:
        columns: Sequence[Column] | None = None if statement is None else self._columns.get(statement)
        formatter = MessageFormatter(self._redactor, self._framing.encoding, columns)
        return TraceEntry(direction, message_name(message), formatter.facts(message))

    # ---- state that later messages depend on

    def _client(self, reader: Reader) -> m.Message:
        """Parse one message of the client. Replies to a file request can only be recognised by that request."""
        if self._file is not None:
            tag = Reader(reader.data, 0, None).short()
            if tag == m.Err.TAG:
                return m.parse_as(m.Err, reader, self._framing)
            if tag == m.FileTotal.TAG and self._file_left < 0:
                total = m.parse_as(m.FileTotal, reader, self._framing)
                self._file_left = total.total
                return total
            if tag == m.FileRead.TAG:
                return m.parse_as(m.FileRead, reader, self._framing)
        return m.parse_client_message(reader, self._framing)


def _packet(stream: _Stream) -> bytes | None:
    """Return the login packet at the start of ``stream``, or None if it is incomplete.

    Anything that is not a packet is returned as it is.
    """
    data = stream.data
    if len(data) < HEADER_SIZE:
        return None
    try:
        length = packet_length(data)
    except Error:
        length = len(data)
        stream.lost = True
    if len(data) < length:
        return None
    packet = bytes(data[:length])
    del data[:length]
    return packet


def _merge_rows(entries: Iterator[TraceEntry]) -> Iterator[TraceEntry]:
    """Merge rows that look alike into one entry with their number."""
    pending: TraceEntry | None = None
    for entry in entries:
        if pending is not None and pending.what == entry.what and _is_similar(pending.facts, entry.facts):
            pending.facts["times"] = pending.facts.get("times", 1) + 1
            pending.facts["bytes"] += entry.facts["bytes"]
            if "rows" in pending.facts:
                pending.facts["rows"] += entry.facts["rows"]
            continue
        if pending is not None:
            yield pending
        pending = entry
    if pending is not None:
        yield pending


def _is_similar(one: Facts, other: Facts) -> bool:
    if "bytes" not in one:
        return False
    counted = ("bytes", "rows", "times")
    return {key: value for key, value in one.items() if key not in counted} == {
        key: value for key, value in other.items() if key not in counted
    }
