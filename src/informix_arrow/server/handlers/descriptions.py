"""Cached descriptions and encoders of statements, shared by all statements of a session with the same columns.

The same text is often prepared again.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from dataclasses import dataclass

from ...wire import messages as m
from ...wire.capabilities import Framing
from ...wire.describe import Column, StatementType
from ...wire.messages import Describe
from ..session.prepared_plan import PreparedPlan
from .cursors import TupleEncoder, check_columns

CACHE_SIZE = 16
"""Number of cached descriptions per session. Each has an encoder, which may hold a few rows."""

_MAX_RETAINED_ROW_BYTES = 4096
"""Largest size of rows in bytes for which the encoder is kept."""

_ID = struct.Struct(">h")
_ID_OFFSET = 4  # after tag and type


@dataclass(slots=True)
class StatementDescription:
    """The reply to SQ_PREPARE, around the statement's id, and an encoder that is not in use."""

    columns: tuple[Column, ...]  # kept alive: the cache compares them by identity
    framing: Framing
    reply_prefix: bytes
    reply_suffix: bytes
    keeps_encoder: bool
    _encoder: TupleEncoder | None = None

    def message(self, number: int) -> bytes:
        """Return the whole reply for the statement with this id."""
        return self.reply_prefix + _ID.pack(number) + self.reply_suffix

    def take_encoder(self) -> TupleEncoder | None:
        """Remove and return the encoder: one statement uses it at a time."""
        encoder, self._encoder = self._encoder, None
        return encoder

    def keep_encoder(self, encoder: TupleEncoder) -> None:
        """Keep an encoder that is no longer in use, with the few rows that it had last.

        Not kept if these may be large.
        """
        if self.keeps_encoder:
            self._encoder = encoder


class DescriptionCache:
    """The descriptions of one session; the least recently used is evicted first."""

    def __init__(self) -> None:
        self._descriptions: OrderedDict[tuple[int, int], StatementDescription] = OrderedDict()

    def get(self, prepared: PreparedPlan, framing: Framing) -> StatementDescription:
        """Return the description of a statement. -9628 for a column that cannot be sent."""
        columns = prepared.columns
        key = id(columns), prepared.statement_type
        description = self._descriptions.get(key)
        if description is not None and description.framing is framing:
            self._descriptions.move_to_end(key)
            return description
        if prepared.returns_rows:
            check_columns(columns)
        described = Describe.of_columns(prepared.statement_type, 0, columns)
        reply = described.encode(framing)
        if prepared.statement_type == StatementType.INSERT:
            reply += m.InsertDone(0, 0).encode(framing)
        reply += m.Done(0, 0, 0, 0).encode(framing) + m.Cost(1, 1).encode(framing)
        narrow = described.tuple_size <= _MAX_RETAINED_ROW_BYTES
        description = StatementDescription(
            columns, framing, reply[:_ID_OFFSET], reply[_ID_OFFSET + _ID.size :], narrow
        )
        self._descriptions[key] = description
        if len(self._descriptions) > CACHE_SIZE:
            self._descriptions.popitem(last=False)
        return description

    def clear(self) -> None:
        """Clear the cache."""
        self._descriptions.clear()
