"""What a statement's columns need to be described and sent, made once for all statements of a session that have them:
the same text is often prepared again."""

from __future__ import annotations

import struct
from collections import OrderedDict
from dataclasses import dataclass

from ...wire import messages as m
from ...wire.capabilities import Framing
from ...wire.describe import Column, StatementType
from ...wire.messages import Describe
from ..engine.prepared import Prepared
from .cursors import TupleEncoder, check_columns

KEPT = 16
"""Descriptions that a session keeps, with an encoder each: that may hold on to a few rows."""

_NARROW = 4096
"""Bytes of the rows, at most, whose encoder is kept."""

_ID = struct.Struct(">h")
_AT = 4  # behind tag and type


@dataclass(slots=True)
class Description:
    """The answer to SQ_PREPARE, around the statement's id, and an encoder that nobody uses."""

    columns: tuple[Column, ...]  # held: they are known by being the same object
    framing: Framing
    before: bytes
    behind: bytes
    narrow: bool
    _encoder: TupleEncoder | None = None

    def message(self, number: int) -> bytes:
        """The whole answer for the statement of this id."""
        return self.before + _ID.pack(number) + self.behind

    def take_encoder(self) -> TupleEncoder | None:
        """The encoder, for one statement at a time."""
        encoder, self._encoder = self._encoder, None
        return encoder

    def keep_encoder(self, encoder: TupleEncoder) -> None:
        """One that nobody uses any more, with the few rows that it had last; not where these may be large."""
        if self.narrow:
            self._encoder = encoder


class Descriptions:
    """Those of one session; the least recently used goes first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], Description] = OrderedDict()

    def of(self, prepared: Prepared, framing: Framing) -> Description:
        """The description of a statement. -9628 for a column that cannot be sent."""
        columns = prepared.columns
        key = id(columns), prepared.statement_type
        found = self._kept.get(key)
        if found is not None and found.framing is framing:
            self._kept.move_to_end(key)
            return found
        if prepared.returns_rows:
            check_columns(columns)
        described = Describe.of_columns(prepared.statement_type, 0, columns)
        whole = described.encode(framing)
        if prepared.statement_type == StatementType.INSERT:
            whole += m.InsertDone(0, 0).encode(framing)
        whole += m.Done(0, 0, 0, 0).encode(framing) + m.Cost(1, 1).encode(framing)
        narrow = described.tuple_size <= _NARROW
        found = Description(columns, framing, whole[:_AT], whole[_AT + _ID.size :], narrow)
        self._kept[key] = found
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget all of them."""
        self._kept.clear()
