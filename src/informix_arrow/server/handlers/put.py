"""Rows sent by SQ_PUT into an insert cursor (SQLI section 11, JDBC section 8)."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..._bulk import FULL
from ...wire import messages as m
from ..errors import SqlError
from ..session.table_appender import BatchOutcome
from .bulk import InsertCursor
from .inserts import MAX_BATCHED, insert_rows
from .interrupts import StatementInterrupts
from .layout import MessageLayout
from .replies import ReplyWriter
from .statement_executor import StatementExecutor
from .statements import StatementHandle, StatementHandles


@dataclass(eq=False, repr=False)
class PutHandler:
    """Collects rows, and inserts many at a time.

    Attributes
    ----------
    pending_statement
        The statement whose cursor has rows that are not inserted yet, or not reported.
    """

    _executor: StatementExecutor
    _layout: MessageLayout
    _replies: ReplyWriter
    _interrupts: StatementInterrupts
    _statements: StatementHandles
    pending_statement: StatementHandle | None = field(default=None, init=False)

    def put(self, message: m.Put) -> None:
        statement = self._statements.require_current(-259)
        cursor = statement.cursor
        if not isinstance(cursor, InsertCursor):
            raise SqlError(-259)
        rows = message.rows
        for row in rows[self._decode_rows(statement, cursor, message) :]:
            if self.pending_statement is not statement:
                self.flush()
            elif len(cursor.rows) >= MAX_BATCHED or not cursor.rows:  # those of the bulk fast path come first
                self.insert_pending()
            if self._replies.failed:
                return
            self.pending_statement = statement
            try:
                cursor.put(row, self._layout.framing.encoding)
            except SqlError:
                self.flush()  # the rows before it count
                if not self._replies.failed:
                    raise
                return

    def _decode_rows(self, statement: StatementHandle, cursor: InsertCursor, message: m.Put) -> int:
        """Decode the rows of one message in C as far as they are plain; return their number."""
        framing = self._layout.framing
        reader = cursor.reader(framing.encoding) if message.more else None
        if reader is None:
            return 0
        if self.pending_statement is not statement:
            self.flush()
        elif cursor.rows:
            self.insert_pending()
        data = b"".join(m.Put(row).encode(framing) for row in message.rows)
        stride, pos, full = len(data) // len(message.rows), 0, True
        while full and not self._replies.failed:
            self.pending_statement = statement
            pos, status = reader.read_puts(data, pos)
            full = status == FULL
            if full:
                self.insert_pending()
        return len(message.rows) if self._replies.failed else pos // stride

    def insert_pending(self, _: m.Message | None = None) -> None:
        """Insert the collected rows; at an error reply with a DONE for those before it, then SQ_ERR."""
        statement = self.pending_statement
        cursor = statement.cursor if statement is not None else None
        if statement is None or not isinstance(cursor, InsertCursor) or not cursor.pending_rows:
            return
        prepared = statement.prepared
        self.pending_statement = None  # until it has succeeded
        rows, batch = cursor.take_rows(), cursor.take_batch()
        try:
            with self._interrupts:
                if batch is not None:
                    outcome = self._executor.execute_batch(prepared, batch, stop_at_error=True)
                else:
                    outcome = BatchOutcome.from_outcomes(
                        insert_rows(self._executor, prepared, rows, stop_at_error=True)
                    )
        except Exception:
            if cursor.inserted:
                self._replies.send_message(cursor.take_done())
            raise
        cursor.add_outcome(outcome)
        for error in outcome.errors.values():
            self._replies.send_message(cursor.take_done())
            self._replies.send_error(error)
            return
        self.pending_statement = statement

    def flush(self, _: m.Message | None = None) -> None:
        """Insert the rest of the collected rows and reply with a DONE with their number."""
        self.insert_pending()
        statement, self.pending_statement = self.pending_statement, None
        if statement is not None and isinstance(statement.cursor, InsertCursor) and statement.cursor.inserted:
            self._replies.send_message(statement.cursor.take_done())
