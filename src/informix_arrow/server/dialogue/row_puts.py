"""Rows by SQ_PUT into an insert cursor (SQLI section 11, JDBC section 8)."""

from __future__ import annotations

from ..._bulk import FULL
from ...wire import messages as m
from ..engine.appending import BatchOutcome
from ..errors import SqlError
from .bulk import InsertCursor
from .inserts import MAX_GATHERED, insert_rows
from .interrupts import Interrupts
from .layout import Layout
from .replies import Replies
from .runner import Runner
from .statements import Statement, Statements


class RowPuts:
    """Takes rows, and inserts them many at a time.

    Attributes
    ----------
    pending
        The statement whose cursor has rows that are not inserted, or not answered, yet.
    """

    def __init__(
        self,
        runner: Runner,
        layout: Layout,
        replies: Replies,
        interrupts: Interrupts,
        statements: Statements,
    ) -> None:
        self.pending: Statement | None = None
        self._runner = runner
        self._layout = layout
        self._replies = replies
        self._interrupts = interrupts
        self._statements = statements

    def put(self, message: m.Put) -> None:
        statement = self._statements.named(-259)
        cursor = statement.cursor
        if not isinstance(cursor, InsertCursor):
            raise SqlError(-259)
        rows = message.rows
        for row in rows[self._put_together(statement, cursor, message) :]:
            if self.pending is not statement:
                self.flush()
            elif len(cursor.rows) >= MAX_GATHERED or not cursor.rows:  # those that the lane took come first
                self.insert()
            if self._replies.failed:
                return
            self.pending = statement
            try:
                cursor.put(row, self._layout.framing.encoding)
            except SqlError:
                self.flush()  # the rows before it count
                if not self._replies.failed:
                    raise
                return

    def _put_together(self, statement: Statement, cursor: InsertCursor, message: m.Put) -> int:
        """Have the rows of one message decoded in C, as far as they are plain: how many of them are dealt with."""
        framing = self._layout.framing
        reader = cursor.reader(framing.encoding) if message.more else None
        if reader is None:
            return 0
        if self.pending is not statement:
            self.flush()
        elif cursor.rows:
            self.insert()
        data = b"".join(m.Put(row).encode(framing) for row in message.rows)
        stride, pos, full = len(data) // len(message.rows), 0, True
        while full and not self._replies.failed:
            self.pending = statement
            pos, status = reader.puts(data, pos)
            full = status == FULL
            if full:
                self.insert()
        return len(message.rows) if self._replies.failed else pos // stride

    def insert(self, _: m.Message | None = None) -> None:
        """Insert the rows put so far; at an error a DONE for those before it, then SQ_ERR."""
        statement = self.pending
        cursor = statement.cursor if statement is not None else None
        if statement is None or not isinstance(cursor, InsertCursor) or not cursor.waiting:
            return
        prepared = statement.prepared
        self.pending = None  # until it has gone well
        rows, batch = cursor.take(), cursor.take_batch()
        try:
            with self._interrupts:
                if batch is not None:
                    outcome = self._runner.execute_batch(prepared, batch, stop_at_error=True)
                else:
                    outcome = BatchOutcome.gathered(
                        insert_rows(self._runner, prepared, rows, stop_at_error=True)
                    )
        except Exception:
            if cursor.done:
                self._replies.reply(cursor.report())
            raise
        cursor.count(outcome)
        for error in outcome.errors.values():
            self._replies.reply(cursor.report())
            self._replies.refuse(error)
            return
        self.pending = statement

    def flush(self, _: m.Message | None = None) -> None:
        """The rows put so far are all for now: a DONE with their number."""
        self.insert()
        statement, self.pending = self.pending, None
        if statement is not None and isinstance(statement.cursor, InsertCursor) and statement.cursor.done:
            self._replies.reply(statement.cursor.report())
