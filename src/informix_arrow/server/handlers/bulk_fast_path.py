"""The bulk fast path: rows of an INSERT are decoded from the received bytes without a Python object per row or value.

Consecutive SQ_PUTs, and consecutive executions with their binds, are decoded in C (bulk.py) and passed to the engine as
record batches. Each row gets the reply that it would have got alone. The fast path ends before anything that is not a
plain row (another message, a value that needs a conversion of its own, a row that is malformed on the wire), which is
served as a single message.

Rows are collected while more of them can be read: a DuckDB statement costs some 2 ms, a row in it 0.2 us.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..._bulk import FULL, NEED_MORE, OTHER, SHAPE_GROUPS
from ...wire import messages as m
from ...wire.describe import StatementType
from ..session.insert import accepts_python_row
from .bulk import BulkRowReader, InsertCursor
from .execute import ExecuteHandler
from .layout import MessageLayout
from .put import PutHandler
from .replies import ReplyWriter
from .statements import StatementHandle, StatementHandles

_ID, _BIND, _PUT = (cls.TAG.to_bytes(2, "big") for cls in (m.Id, m.Bind, m.Put))
ROW_TAGS = frozenset({_ID, _BIND, _PUT})
"""Tags of the messages of a row. `BulkInsertFastPath.can_consume_next` returns False for all others."""

_TRUSTED_STREAK = 64
"""Consecutive rows that the fast path must take before its backoff is reset after rows that it could not take."""

_MAX_BACKOFF = 8192


@dataclass(eq=False, repr=False)
class BulkInsertFastPath:
    """The bulk fast path of one session.

    `consume_rows` is called before messages are parsed, `flush_complete_groups` before the session waits for its
    client, and `can_consume_next` between messages, to decide where parsing should stop.

    Attributes
    ----------
    pending_statement
        The statement whose bound rows have not been executed yet, None if there is none.
    """

    _layout: MessageLayout
    _replies: ReplyWriter
    _statements: StatementHandles
    _executions: ExecuteHandler
    _puts: PutHandler
    pending_statement: StatementHandle | None = field(default=None, init=False)
    # rows taken since the last one that the fast path could not take
    _consumed_streak: int = field(default=0, init=False)
    _backoff: int = field(default=0, init=False)  # increases while rows cannot be taken
    _rows_to_skip: int = field(default=0, init=False)  # rows that the fast path skips before it tries again

    def consume_rows(self, inbox: bytes, pos: int) -> tuple[int, bool]:
        """Take the rows at the start of inbox[pos:].

        Returns the position after them, and whether nothing can be parsed before more has arrived: everything is taken,
        or the rest is the beginning of a row.
        """
        while not self._replies.failed:
            if len(inbox) - pos < 2:
                return pos, True
            tag = inbox[pos : pos + 2]
            start = pos
            if tag == _PUT:
                pos, status = self._consume_puts(inbox, pos)
            elif tag in (_ID, _BIND) and (statement := self._target_statement(inbox, pos)) is not None:
                pos, status = self._consume_binds(statement, inbox, pos)
            else:
                break
            if status == NEED_MORE:
                return pos, True
            if status == OTHER and pos == start:
                break
        if self.pending_statement is not None:
            self.flush()
        return pos, False

    def flush_complete_groups(self) -> bool:
        """Before the session waits for its client, execute the rows whose groups have ended and reply to them.

        Returns False if there are none. Rows of an incomplete group stay collected: the client does not wait for their
        replies.
        """
        pending = self.pending_statement
        is_incomplete = (
            pending is not None
            and pending.bulk_reader is not None
            and pending.bulk_reader.shape != SHAPE_GROUPS
        )
        return not is_incomplete and self.flush()

    def flush(self) -> bool:
        """Execute the collected bound rows and reply to them; return False if there are none."""
        statement, self.pending_statement = self.pending_statement, None
        if statement is None or statement.bulk_reader is None or not statement.bulk_reader.rows:
            return False
        reader = statement.bulk_reader
        separate = reader.shape == SHAPE_GROUPS
        row = (
            reader.take_single_row() if reader.rows == 1 and accepts_python_row(statement.prepared) else None
        )
        if row is None:
            self._executions.execute_batch(statement, reader.take_batch(), separate)
        else:
            self._executions.execute_row(statement, row, separate)
        return True

    def can_consume_next(self, inbox: bytes, pos: int, last: m.Message) -> bool:
        """Return whether the fast path may be able to continue at `pos`, after the message `last`."""
        kind = type(last)
        tag = inbox[pos : pos + 2]
        if tag == _PUT:
            return kind is not m.Put  # a row that the fast path could not take is followed by similar ones
        if kind is m.EndOfTurn:
            if tag != _ID or inbox[pos + 4 : pos + 6] != _BIND:
                return False
        elif self._replies.failed or kind is not m.Execute or tag not in (_ID, _BIND):
            return False
        if self._target_statement(inbox, pos) is None:
            return False
        self._rows_to_skip -= 1
        return self._rows_to_skip < 0

    def _target_statement(self, inbox: bytes, pos: int) -> StatementHandle | None:
        """Return the statement of the row at `pos` if the fast path can take its rows."""
        statement = self._statements.current
        if inbox[pos : pos + 2] == _ID:
            statement = self._statements.get(int.from_bytes(inbox[pos + 2 : pos + 4], "big", signed=True))
        if statement is None or statement.executes_singly:
            return None
        if statement.bulk_reader_encoding != self._layout.framing.encoding:
            statement.bulk_reader_encoding = self._layout.framing.encoding
            statement.bulk_reader = None
            if statement.prepared.statement_type == StatementType.INSERT:
                statement.bulk_reader = BulkRowReader.for_statement(
                    statement.prepared, self._layout.framing.encoding
                )
        return statement if statement.bulk_reader is not None else None

    def _consume_binds(self, statement: StatementHandle, inbox: bytes, pos: int) -> tuple[int, int]:
        if self.pending_statement is not statement:
            self.flush()
            if self._puts.pending_statement is not None:
                self._replies.call_handler(self._puts.flush, m.Execute())
        reader = statement.bulk_reader
        if self._replies.failed or reader is None:
            return pos, OTHER
        start, before = pos, reader.rows
        pos, status = reader.read_binds(inbox, pos, statement.id)
        if pos > start:
            self._statements.current = self.pending_statement = statement
            statement.bound_values, statement.missing_contents = None, ()
        self._consumed_streak += reader.rows - before
        if status == FULL:
            self.flush()
        elif status == OTHER and pos == start:
            # The fewer rows there were between those that could not be taken, the more are skipped before the next
            # attempt.
            self._backoff = (
                0 if self._consumed_streak >= _TRUSTED_STREAK else min(2 * self._backoff + 1, _MAX_BACKOFF)
            )
            self._rows_to_skip = self._backoff
            self._consumed_streak = 0
        return pos, status

    def _consume_puts(self, inbox: bytes, pos: int) -> tuple[int, int]:
        self.flush()
        statement = self._statements.current
        cursor = statement.cursor if statement is not None else None
        reader = cursor.reader(self._layout.framing.encoding) if isinstance(cursor, InsertCursor) else None
        if self._replies.failed or reader is None or not isinstance(cursor, InsertCursor):
            return pos, OTHER
        if self._puts.pending_statement is not statement:
            self._replies.call_handler(self._puts.flush, m.Put(b""))
        elif cursor.rows:
            self._replies.call_handler(self._puts.insert_pending, m.Put(b""))
        if self._replies.failed:
            return pos, OTHER
        self._puts.pending_statement = statement
        pos, status = reader.read_puts(inbox, pos)
        if status == FULL:
            self._replies.call_handler(self._puts.insert_pending, m.Put(b""))
        return pos, status
