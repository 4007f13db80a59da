"""BYTE and TEXT values by their descriptors, in both directions (SQLI section 14, JDBC sections 6 and 7).

Bound values are descriptors whose contents follow in SQ_BLOB pieces. Fetched ones are descriptors whose contents
SQ_FETCHBLOB requests, repeatedly and in any order until the cursor closes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from ...wire import messages as m
from ...wire.types import TypeCode
from ..errors import SqlError
from .cursors import ScrollCursor, SelectCursor, UpdateCursor
from .replies import ReplyWriter
from .statements import StatementHandle, StatementHandles, descriptor_positions

MAX_CONTENT = 512 << 20
"""Largest number of bytes of all values that a session has bound: they are in memory until their statements run."""

NOT_WRITTEN = -605
"""A bound BYTE or TEXT value whose content did not arrive, or does not match its descriptor."""

_CHUNK_SIZE = 32766
"""Bytes of an SQ_BLOB piece: the largest even number that a padded string can hold."""

_UNKNOWN_SIZE_BYTES = range(4, 12)
"""Sizes that say nothing about a TEXT value: for a string JDBC announces 11, seldom 10 or less, however long it is.
(For a stream of unknown length it announces -1.)
"""

_BLOCK = 512 << 10
# Bytes of one SQ_BIND's values from which on the total of a session's statements is checked.
_CHECK_TOTAL_ABOVE = 64 << 10
_SIZE_AT = 16
_CHUNK_HEADER = struct.Struct(">hH")


@dataclass(slots=True)
class _IncomingContents:
    """Contents that are being received, in the order of the descriptors."""

    statement: StatementHandle
    contents: list[bytes] = field(default_factory=list)
    content: bytearray = field(default_factory=bytearray)  # the current one, however small its pieces
    size: int = 0
    checked: int = 0  # part of `size` that _check_memory has counted


def _bound_bytes(statement: StatementHandle) -> int:
    """Return the bytes of the values that are bound to a statement."""
    size = 0
    for value in statement.bound_values or ():
        size += len(value.data or b"")
    return size


class LargeObjectHandler:
    """Handles SQ_BBIND, SQ_BLOB and SQ_FETCHBLOB, and their part of SQ_BIND."""

    def __init__(self, replies: ReplyWriter, statements: StatementHandles) -> None:
        self._replies = replies
        self._statements = statements
        self._incoming: _IncomingContents | None = None

    def bind(self, message: m.Bind) -> None:
        statement = self._statements.require_current()
        statement.bound_values = message.values
        statement.missing_contents = descriptor_positions(message.values)
        self._incoming = None
        size = _bound_bytes(statement)
        if size > _CHECK_TOTAL_ABOVE:
            self._check_memory(statement, size)

    def blob_bind(self, message: m.BlobBind) -> None:
        statement = self._statements.require_current()
        self._incoming = None
        if message.count != len(statement.missing_contents):
            raise self._discard_bound(
                statement, f"{message.count} contents for {len(statement.missing_contents)} descriptors"
            )
        if message.count:
            self._incoming = _IncomingContents(statement)

    def blob_chunk(self, message: m.BlobChunk) -> None:
        arriving = self._incoming
        if arriving is None:
            raise SqlError(
                NOT_WRITTEN, detail="The client sent content of a large object that it did not announce."
            )
        if message.data:
            arriving.size += len(message.data)
            if arriving.size > arriving.checked + _CHECK_TOTAL_ABOVE:
                arriving.checked = arriving.size
                self._check_memory(arriving.statement, arriving.size)
            arriving.content += message.data
            return
        statement = arriving.statement
        bound = statement.bound_values
        assert bound is not None  # only bind and the last content change it
        content = bytes(arriving.content)
        arriving.content = bytearray()
        value = bound[statement.missing_contents[len(arriving.contents)]]
        assert value.data is not None
        declared = int.from_bytes(value.data[_SIZE_AT : _SIZE_AT + 4], "big", signed=True)
        is_declared = declared >= 0 and not (
            value.type & 0xFF == TypeCode.TEXT and declared in _UNKNOWN_SIZE_BYTES
        )
        if is_declared and declared != len(content):
            raise self._discard_bound(
                statement, f"{declared} bytes were announced, but {len(content)} were received."
            )
        arriving.contents.append(content)
        if len(arriving.contents) == len(statement.missing_contents):
            values = list(bound)
            for position, content in zip(statement.missing_contents, arriving.contents, strict=True):
                values[position] = values[position]._replace(data=content)
            statement.bound_values, statement.missing_contents = tuple(values), ()
            self._incoming = None

    def _check_memory(self, statement: StatementHandle, size: int) -> None:
        """Refuse bound values if the session's statements hold too much together."""
        size += sum(_bound_bytes(other) for other in self._statements if other is not statement)
        if size > MAX_CONTENT:
            raise self._discard_bound(statement, f"More than {MAX_CONTENT} bytes are bound.")

    def _discard_bound(self, statement: StatementHandle, why: str) -> SqlError:
        """Discard the bound values. The pieces that still arrive are skipped with the rest of their group."""
        statement.bound_values, statement.missing_contents = None, ()
        self._incoming = None
        return SqlError(NOT_WRITTEN, detail=f"BYTE/TEXT: {why}")

    def fetch_blob(self, message: m.FetchBlob) -> None:
        cursor = self._statements.require_current(-259).cursor
        if not isinstance(cursor, SelectCursor | UpdateCursor | ScrollCursor):
            raise SqlError(-259)
        content = cursor.content(message.descriptor)
        tag = m.BlobChunk.TAG
        block = bytearray()
        for start in range(0, len(content), _CHUNK_SIZE):
            piece = content[start : start + _CHUNK_SIZE]
            block += _CHUNK_HEADER.pack(tag, len(piece))
            block += piece
            if len(piece) & 1:
                block.append(0)
            if len(block) >= _BLOCK:
                self._replies.send(block)
                self._replies.wait_until_sent()
                block = bytearray()
        self._replies.send(block + _CHUNK_HEADER.pack(tag, 0))
