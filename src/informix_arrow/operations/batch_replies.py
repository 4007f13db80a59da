"""Read the replies to many executions of one statement at the speed of a load.

A successful row has the same few messages as its reply every time, ``[INSERTDONE] DONE [COST] [XACTSTAT] EOT``
(SQLI section 7.4). So the first such reply is parsed and becomes the pattern for the next ones. Replies equal
to it are compared as whole blocks of bytes; those that differ only in numbers (serials, row ids) are unpacked
by a layout derived from it. Anything else, an error or a warning, is parsed message by message.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from ..wire import messages as m
from ..wire.describe import StatementType
from ..wire.errors import INTERRUPTED, Error, ProtocolError, RefusedRow
from ..wire.messages import Describe
from ..wire.primitives import NeedMoreData, Reader
from .io_steps import Exchange
from .message_stream import receive, server_error, server_exit_error
from .receive_buffer import OBJECT_BYTES, reply_too_large
from .session import Session

WARNING_TRUNCATED = 0x01  # sqlwarn1 in the DONE of a statement that stores values (SQLI section 10)
_STORES = (StatementType.INSERT, StatementType.UPDATE, StatementType.UPDATE_ALL, StatementType.UPDATE_CURRENT)
_BLOCK = 64  # replies compared at once


@dataclass(slots=True)
class ManyOutcome:
    """The outcome of the executions whose replies were read."""

    executed: int = 0  # rows answered, failed ones included
    rows: int = 0  # rows inserted, updated or deleted, summed over the executions that succeeded
    serial: int = 0  # the last SERIAL, SERIAL8 or BIGSERIAL value that an INSERT generated; 0 = none
    truncated_rows: list[int] = field(
        default_factory=list
    )  # numbers of the rows whose text was truncated, in order
    errors: list[Error] = field(default_factory=list)  # one per failed row, in order; ``row`` is its number
    stopped: bool = False  # at the first refused row, as requested
    uncounted: bool = False  # the server did not report the rows of some execution

    @property
    def interrupted(self) -> bool:
        """Return whether an interrupt ended one of the executions."""
        return any(error.sqlcode == INTERRUPTED for error in self.errors)

    def effective(self) -> int | tuple[int, ...]:
        """Return the rows that succeeded: a count if they are the first ones, else their numbers."""
        failed = {error.row for error in self.errors}
        good = self.executed - len(failed)
        if all(number in failed for number in range(good, self.executed)):
            return good
        return tuple([number for number in range(self.executed) if number not in failed])

    def in_effect(self) -> str:
        """Return a sentence that says which rows are in effect."""
        rows = self.effective()
        if isinstance(rows, tuple):
            return f"Rows {_ranges(rows)} are in effect (error.rows). All others are not."
        return f"The first {rows:,} rows are in effect. Those after them are not." if rows else NO_ROW

    def annotate(self, error: Error) -> None:
        """Add to ``error``, which ended the call, which rows are in effect and which ones the server refused."""
        error.rows = self.effective()
        error.refused = tuple(
            [
                RefusedRow(each.row or 0, each.sqlcode or 0, each.isamcode or 0)
                for each in self.errors
                if each.sqlcode != INTERRUPTED
            ]
        )

    def combined_error(self) -> Error:
        """Return one error for all refused rows: that of the first, which names the others. May be called once."""
        first = self.errors[0]
        self.annotate(first)
        refused = first.refused
        if self.stopped:
            text = f"Row {first.row} was refused and the call stopped there. "
            text += (
                f"The {self.executed - 1:,} rows before it were executed."
                if first.row
                else "No row was executed."
            )
        elif len(refused) == 1:
            text = f"Row {first.row} was refused. The other {self.executed - 1:,} were executed."
        else:
            shown = ", ".join([f"{each.row} ({each.sqlcode})" for each in refused[:_MAX_SHOWN_ERRORS]])
            more = (
                f" and {len(refused) - _MAX_SHOWN_ERRORS:,} more (error.refused)"
                if len(refused) > _MAX_SHOWN_ERRORS
                else ""
            )
            text = (
                f"{len(refused):,} of {self.executed:,} rows were refused. The others were executed. The refused "
                f"rows are {shown}{more}."
            )
        first.args = (f"{first}\n{text}",)
        del self.errors[0]  # its traceback refers to frames that refer to this: a reference cycle
        return first


NO_ROW = "None of the rows is in effect."
_MAX_SHOWN_ERRORS = 10  # refused rows in an error's text, and ranges of rows


def _ranges(rows: tuple[int, ...]) -> str:
    """Return ranges as text: ``0-36, 38-40``."""
    ends: list[list[int]] = []
    for row in rows:
        if ends and ends[-1][1] == row - 1:
            ends[-1][1] = row
        else:
            ends.append([row, row])
    shown = [str(low) if low == high else f"{low}-{high}" for low, high in ends[:_MAX_SHOWN_ERRORS]]
    return ", ".join(shown) + (" ..." if len(ends) > _MAX_SHOWN_ERRORS else "")


def read_reply_messages(session: Session) -> Exchange[list[object]]:
    """Return the messages of the next reply, read up to its SQ_EOT, which is left out.

    Nothing is removed from the buffer before the reply is complete, so an interrupted wait loses nothing.
    """
    buffer = session.buffer
    messages: list[object] = []
    reader, parsed = Reader(buffer.data, buffer.start, buffer.end), 0  # parsed: their bytes
    while True:
        try:
            while not isinstance(message := m.parse_server_message(reader, session.framing), m.EndOfTurn):
                if isinstance(message, m.Exit):
                    raise server_exit_error()
                messages.append(message)
                parsed = reader.pos - buffer.start
                if 4 * OBJECT_BYTES * len(messages) + 2 * parsed > buffer.max_bytes:
                    raise reply_too_large(buffer.max_bytes)
        except NeedMoreData as need:
            yield from receive(session, need.missing)
            reader = Reader(buffer.data, buffer.start + parsed, buffer.end, reader.partial)
            continue
        buffer.start = reader.pos
        session.outstanding_requests -= 1
        return messages


class BatchReplyReader:
    """Reads the replies to executions of one statement of type ``kind`` with the text ``sql``."""

    def __init__(self, session: Session, sql: str, kind: int) -> None:
        self._session, self._sql, self._kind = session, sql, kind
        self._pattern: _SuccessPattern | None = None

    def read(self, outcome: ManyOutcome, count: int) -> Exchange[None]:
        """Read ``count`` replies and add them to ``outcome``."""
        buffer = self._session.buffer
        while count:
            passed = (
                self._pattern.skip(buffer.data, buffer.start, buffer.end, count, outcome)
                if self._pattern
                else 0
            )
            if passed:
                assert self._pattern is not None
                buffer.start += passed * self._pattern.size
                self._session.outstanding_requests -= passed
                count -= passed
                continue
            size = yield from self._parse(outcome)
            count -= 1
            if not size:
                continue
            self._pattern = _SuccessPattern.from_reply(
                bytes(buffer.data[buffer.start - size : buffer.start]), self._session
            )

    def _parse(self, outcome: ManyOutcome) -> Exchange[int]:
        """Parse one reply message by message. Returns its size if it can be a pattern, else 0."""
        session = self._session
        buffer = session.buffer
        done: m.Done | None = None
        inserted: m.InsertDone | None = None
        error: m.Err | None = None
        plain = True
        reader, parsed = Reader(buffer.data, buffer.start, buffer.end), 0  # parsed: bytes of its messages
        while True:
            try:
                while not isinstance(message := m.parse_server_message(reader, session.framing), m.EndOfTurn):
                    if isinstance(message, m.Exit):
                        raise server_exit_error()
                    if isinstance(message, m.FileRequest):  # its SQ_EOT would be mistaken for the reply's
                        raise ProtocolError(
                            "The server asked for a client file in the reply to one of many executions."
                        )
                    if isinstance(message, m.Done) and done is None:
                        done = message
                    elif isinstance(message, m.InsertDone) and inserted is None:
                        inserted = message
                    elif isinstance(message, m.Err):
                        error, plain = error or message, False
                    elif not isinstance(message, m.Cost | m.XactStat):
                        plain = False
                    parsed = reader.pos - buffer.start
            except NeedMoreData as need:
                yield from receive(session, need.missing)
                reader = Reader(buffer.data, buffer.start + parsed, buffer.end, reader.partial)
                continue
            break
        size = reader.pos - buffer.start
        buffer.start = reader.pos
        session.outstanding_requests -= 1
        if error is not None:
            problem = server_error(error, self._sql)
            problem.row = outcome.executed
            outcome.errors.append(problem)
        elif done is not None:
            outcome.rows += done.rows
            serial = done.serial or (inserted.serial8 or inserted.bigserial if inserted else 0)
            outcome.serial = serial or outcome.serial
            if done.warnings & WARNING_TRUNCATED and self._kind in _STORES:
                outcome.truncated_rows.append(outcome.executed)
        else:
            outcome.uncounted = True
        outcome.executed += 1
        return size if plain and done is not None and not done.warnings else 0


class _SuccessPattern:
    """The pattern of a reply that reports only success."""

    def __init__(
        self, raw: bytes, layout: struct.Struct, tags: dict[int, int], places: dict[str, int]
    ) -> None:
        self.size = len(raw)
        self._raw, self._block = raw, raw * _BLOCK
        self._layout = layout
        self._tags_of = itemgetter(*tags)
        self._tags = tuple(tags.values())
        self._field_indexes = places
        self._rows, self._serial = self._numbers(layout.unpack(raw))

    @classmethod
    def from_reply(cls, raw: bytes, session: Session) -> _SuccessPattern | None:
        """Build a pattern from a successful reply; None for an unknown layout."""
        layout, tags, places, items = ">", {}, {}, 0
        reader = Reader(raw)
        while reader.remaining:
            message = m.parse_server_message(reader, session.framing)
            tags[items] = type(message).TAG if isinstance(message, m.Message | Describe) else -1
            if isinstance(message, m.InsertDone):
                layout += "HhII" + "q" * session.framing.bigint
                places["serial8"] = items + 1
                if session.framing.bigint:
                    places["bigserial"] = items + 4
                items += 4 + session.framing.bigint
            elif isinstance(message, m.Done):
                layout += "Hhqqi" if session.framing.long_rowid else "Hhiii"
                tags[items + 1] = 0  # no warnings
                places["done"] = items
                items += 5
            elif isinstance(message, m.Cost):
                layout += "Hii"
                items += 3
            elif isinstance(message, m.XactStat):
                layout += "Hhhh"
                items += 4
            else:
                assert isinstance(message, m.EndOfTurn)
                layout += "H"
                items += 1
        pattern = struct.Struct(layout)
        return cls(raw, pattern, tags, places) if pattern.size == len(raw) and len(tags) > 1 else None

    def _numbers(self, values: tuple[Any, ...]) -> tuple[int, int]:
        """Return rows and serial of one reply."""
        at = self._field_indexes["done"]
        serial = values[at + 4]
        if not serial and "serial8" in self._field_indexes:
            place = self._field_indexes["serial8"]
            magnitude = values[place + 1] | values[place + 2] << 32
            serial = 0 if not values[place] else -magnitude if values[place] < 0 else magnitude
        if not serial and "bigserial" in self._field_indexes:
            serial = values[self._field_indexes["bigserial"]]
        return values[at + 2], serial

    def skip(self, data: bytearray, start: int, end: int, most: int, outcome: ManyOutcome) -> int:
        """Count at most ``most`` successful replies at ``start`` and add them to ``outcome``. Returns their number."""
        most = min(most, (end - start) // self.size)
        passed = self._count_equal(data, start, most)
        if passed:
            outcome.rows += passed * self._rows
            outcome.serial = self._serial or outcome.serial
        elif most:
            with memoryview(data)[start : start + most * self.size] as view:
                for values in self._layout.iter_unpack(view):
                    if self._tags_of(values) != self._tags:
                        break
                    rows, serial = self._numbers(values)
                    outcome.rows += rows
                    outcome.serial = serial or outcome.serial
                    passed += 1
        outcome.executed += passed
        return passed

    def _count_equal(self, data: bytearray, start: int, most: int) -> int:
        """Return the number of replies at ``start`` that equal the pattern byte by byte."""
        passed, block = 0, len(self._block)
        while passed + _BLOCK <= most and data.startswith(self._block, start):
            passed += _BLOCK
            start += block
        while passed < most and data.startswith(self._raw, start):
            passed += 1
            start += self.size
        return passed
