"""Change records in the client's format (docs/protocol/CDC.md, the records)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from enum import IntEnum
from itertools import accumulate

from ...wire import changes as wire
from ...wire.changes import SCHEME
from ...wire.quoting import quote_if_needed
from .row_images import LoggedColumn, LoggedTable


class RecordKind(IntEnum):
    """Numbers of records."""

    BEGINTX = wire.BEGIN
    COMMTX = wire.COMMIT
    RBTX = wire.ROLLBACK
    INSERT = wire.INSERT
    DELETE = wire.DELETE
    UPDBEF = wire.UPDATE_BEFORE
    UPDAFT = wire.UPDATE_AFTER
    DISCARD = wire.DISCARD
    TRUNCATE = wire.TRUNCATE
    TABSCHEMA = wire.TABLE_SCHEMA
    TIMEOUT = wire.TIMEOUT
    ERROR = wire.ERROR


_BEGIN = struct.Struct(">4IQIqI")
_COMMIT = struct.Struct(">4IQIq")
_DISCARD = struct.Struct(">4IQI")  # RBTX, DISCARD
_CHANGE = struct.Struct(">4IQIii")
_TRUNCATE = struct.Struct(">4IQIi")
_SCHEMA = struct.Struct(">4Ii4I")
_TIMEOUT = struct.Struct(">4IQ")
_ERROR = struct.Struct(">4IIi")
_SESSION_DEAD = 1


def begin(lsn: int, tx: int, time: int, user: int) -> bytes:
    return _BEGIN.pack(_BEGIN.size, 0, SCHEME, RecordKind.BEGINTX, lsn, tx, time, user)


def commit(lsn: int, tx: int, time: int) -> bytes:
    return _COMMIT.pack(_COMMIT.size, 0, SCHEME, RecordKind.COMMTX, lsn, tx, time)


def rollback(lsn: int, tx: int) -> bytes:
    return _DISCARD.pack(_DISCARD.size, 0, SCHEME, RecordKind.RBTX, lsn, tx)


def discard(lsn: int, tx: int) -> bytes:
    return _DISCARD.pack(_DISCARD.size, 0, SCHEME, RecordKind.DISCARD, lsn, tx)


def truncate(lsn: int, tx: int, label: int) -> bytes:
    return _TRUNCATE.pack(_TRUNCATE.size, 0, SCHEME, RecordKind.TRUNCATE, lsn, tx, label)


def timeout(lsn: int) -> bytes:
    return _TIMEOUT.pack(_TIMEOUT.size, 0, SCHEME, RecordKind.TIMEOUT, lsn)


def error(code: int) -> bytes:
    """Return the ERROR record that ends a session."""
    return _ERROR.pack(_ERROR.size, 0, SCHEME, RecordKind.ERROR, _SESSION_DEAD, code)


def change(kind: int, lsn: int, tx: int, label: int, body: bytes, lengths: int) -> bytes:
    """Return an INSERT, DELETE, UPDBEF or UPDAFT record. `body` is the row in the log. Its first `lengths` bytes belong
    to the header."""
    size = _CHANGE.size + lengths
    return _CHANGE.pack(size, len(body) - lengths, SCHEME, kind, lsn, tx, label, 0) + body


def schema(label: int, columns: Collection[LoggedColumn]) -> bytes:
    """Return TABSCHEMA for columns in the order of the row image."""
    text = (
        ", ".join(f"{quote_if_needed(column.name)} {column.declared}" for column in columns).encode() + b"\0"
    )
    widths = [column.width for column in columns if column.width]
    head = (_SCHEMA.size, len(text), SCHEME, RecordKind.TABSCHEMA, label)
    return _SCHEMA.pack(*head, 0, sum(widths), len(widths), len(columns) - len(widths)) + text


def projection(table: LoggedTable, wanted: Collection[str]) -> Callable[[bytes], bytes] | None:
    """Return a function that reduces a row's body in the log to the wanted columns, None if all are wanted."""
    is_wanted = [column.name in wanted for column in table.columns]
    if all(is_wanted):
        return None
    fixed = [column.width for column in table.columns if column.width]
    edges = [0, *accumulate(fixed)]
    pieces = [(edges[i], edges[i + 1]) for i in range(len(fixed)) if is_wanted[i]]
    variable = is_wanted[len(fixed) :]
    lengths = struct.Struct(f">{len(variable)}I")
    kept = struct.Struct(f">{sum(variable)}I")

    def pick(body: bytes) -> bytes:
        sizes = lengths.unpack_from(body)
        at = lengths.size
        parts = [body[at + start : at + end] for start, end in pieces]
        at += edges[-1]
        mine = []
        for size, want in zip(sizes, variable, strict=True):
            if want:
                mine.append(size)
                parts.append(body[at : at + size])
            at += size
        return kept.pack(*mine) + b"".join(parts)

    return pick
