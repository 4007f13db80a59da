"""Both directions of one connection, read as messages: bytes in, entries of a trace out. Knows no clock and no file."""

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
    """One line: ``->`` was sent, ``<-`` was received, ``--`` happened."""

    direction: Direction
    what: str
    facts: Facts


class _Stream:
    """Bytes of one direction that are no whole message yet."""

    __slots__ = ("data", "lost", "needed_bytes", "partial")

    def __init__(self) -> None:
        self.data = bytearray()
        self.needed_bytes = 1  # no message is whole with fewer bytes
        self.partial: tuple[int, Any] | None = None  # what a message of many parts has parsed
        self.lost = False  # what comes cannot be told apart into messages


class Dialogue:
    """The messages of one connection, from its login on.

    Parameters
    ----------
    hiding
        What may be told.
    encoding
        The code set of text when the user named one; "" = as the login says.
    """

    def __init__(self, hiding: Redactor, encoding: str = "") -> None:
        self._redactor = hiding
        self._encoding = encoding
        self.begin()

    def begin(self) -> None:
        """Another TCP connection: a login follows."""
        self._framing = Framing(encoding=self._encoding or "latin-1")
        self._out, self._in = _Stream(), _Stream()
        self._login_sent = self._login_answered = False  # the login's request and its reply have been seen
        self._columns: dict[int, tuple[Column, ...]] = {}  # of statements, by their number
        self._group: int | None = None  # the statement that the group being sent is about
        self._groups: deque[int | None] = deque()  # of those whose replies are to come
        self._file: m.FileRequest | None = None  # that waits for the client's answer
        self._file_left = -1  # bytes of its content to come; -1: their number comes first

    def set_encoding(self, encoding: str) -> None:
        """Text is in this code set from now on."""
        if encoding != self._framing.encoding:
            self._framing = self._framing.with_encoding(encoding)

    def sent(self, data: bytes | bytearray | memoryview) -> Iterator[TraceEntry]:
        """What the client says."""
        self._out.data += data
        if not self._login_sent:
            packet = _packet(self._out)
            if packet is None:
                return
            self._login_sent = True
            yield self._login(packet)
        yield from _merge_rows(self._messages(self._out, "->"))

    def received(self, data: bytes | bytearray | memoryview) -> Iterator[TraceEntry]:
        """What the server says."""
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
        """Of what a message has not come to its end."""
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
            with contextlib.suppress(ValueError):  # whoever connects is told
                self.set_encoding(codec_of_locale(request.environment.get("CLIENT_LOCALE", "")))
        return self._entry("->", request)

    def _messages(self, stream: _Stream, way: Direction) -> Iterator[TraceEntry]:
        while not stream.lost and len(stream.data) >= stream.needed_bytes:
            reader = Reader(stream.data, 0, None, stream.partial)
            try:
                message = (
                    self._client(reader) if way == "->" else m.parse_server_message(reader, self._framing)
                )
            except NeedMoreData as need:
                stream.needed_bytes = len(stream.data) + need.missing
                stream.partial = reader.partial
                return
            except (Error, ValueError) as error:
                stream.lost = True
                yield TraceEntry(
                    way, "unreadable", {"error": type(error).__name__, "bytes": len(stream.data)}
                )
                stream.data.clear()
                return
            del stream.data[: reader.pos]
            stream.needed_bytes, stream.partial = 1, None
            if way == "->":
                entry = self._entry(way, message, self._group)
                self._note_sent(message)
            else:
                if type(message) is Describe:
                    self._note_columns(message)
                entry = self._entry(way, message, self._groups[0] if self._groups else None)
                self._note_received(message)
            yield entry
        if stream.lost and stream.data:
            yield TraceEntry(way, "unreadable", {"bytes": len(stream.data)})
            stream.data.clear()

    def _entry(self, way: Direction, message: object, about: int | None = None) -> TraceEntry:
        columns: Sequence[Column] | None = None if about is None else self._columns.get(about)
        telling = MessageFormatter(self._redactor, self._framing.encoding, columns)
        return TraceEntry(way, message_name(message), telling.facts(message))

    # ---- what later messages depend on

    def _client(self, reader: Reader) -> m.Message:
        """One message of the client; those that answer a request for a file are known by that alone."""
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

    def _note_sent(self, message: m.Message) -> None:
        if isinstance(message, m.Id):
            self._group = message.statement_id
        elif isinstance(message, m.EndOfTurn):
            if self._file is not None:
                self._file, self._file_left = None, -1
            else:
                self._groups.append(self._group)
                self._group = None

    def _note_columns(self, message: Describe) -> None:
        self._columns[message.statement_id] = message.columns
        if self._groups:
            self._groups[0] = message.statement_id

    def _note_received(self, message: m.Message) -> None:
        if isinstance(message, m.FileRequest):
            self._file = message
        elif isinstance(message, m.Protocols):
            self._framing = Framing.negotiate(CLIENT_OFFER, message.mask, self._framing.encoding)
        elif isinstance(message, m.EndOfTurn) and self._file is None and self._groups:
            self._groups.popleft()


def _packet(stream: _Stream) -> bytes | None:
    """The login packet at the start of ``stream``; None while it is not whole. What is no packet is taken as it is."""
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
    """Rows that look alike as one entry, which says how many they are."""
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
