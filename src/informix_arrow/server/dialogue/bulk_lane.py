"""The fast lane: rows of an INSERT that are taken from the received bytes without a Python object per row or
value.

Consecutive SQ_PUTs, and consecutive executes with their binds, are decoded in C (bulk.py) and given to the
engine as record batches; what each row is answered is what it would have been answered alone. Whatever is
no plain row (another message, a value that needs a conversion of its own, a row that is wrong on the wire)
stops the lane before it and is served message by message, as everything else is.

Rows gather while more of them are there to be read: a DuckDB statement costs some 2 ms, a row in it 0.2 us.
"""

from __future__ import annotations

from ..._bulk import FULL, NEED_MORE, OTHER, SHAPE_GROUPS
from ...wire import messages as m
from ...wire.describe import StatementType
from ..engine.row_inserts import takes_values
from .bulk import InsertCursor, RowReader
from .executions import Executions
from .layout import Layout
from .replies import Replies
from .row_puts import RowPuts
from .statements import Statement, Statements

_ID, _BIND, _PUT = (cls.TAG.to_bytes(2, "big") for cls in (m.Id, m.Bind, m.Put))
ROW_TAGS = frozenset({_ID, _BIND, _PUT})
"""What the messages of a row begin with; `BulkLane.rows_ahead` says False of all others."""

_MANY = 64
"""Rows that the lane must take in a run to be trusted again after rows that it could not take."""

_MOST_PASSED = 8192


class BulkLane:
    """`take_rows` before messages are parsed, `settle_groups` before the session waits for its client, and
    `rows_ahead` between messages, to tell where parsing should stop.

    Attributes
    ----------
    gathered
        The statement whose bound rows have not been executed yet, None while there is none.
    """

    def __init__(
        self,
        layout: Layout,
        replies: Replies,
        statements: Statements,
        executions: Executions,
        puts: RowPuts,
    ) -> None:
        self._layout = layout
        self._replies = replies
        self._statements = statements
        self._executions = executions
        self._puts = puts
        self.gathered: Statement | None = None
        self._streak = 0  # rows taken since the last that was not for the lane
        self._patience = 0  # grows while rows keep being none for the lane
        self._passed = 0  # rows that the lane lets pass before it tries again

    def take_rows(self, inbox: bytes, pos: int) -> tuple[int, bool]:
        """Take the rows at the front of inbox[pos:].

        Returns the position behind them, and whether there is nothing to parse before more has arrived:
        all is taken, or what is left is the beginning of a row.
        """
        while not self._replies.failed:
            if len(inbox) - pos < 2:
                return pos, True
            tag = inbox[pos : pos + 2]
            start = pos
            if tag == _PUT:
                pos, status = self._take_puts(inbox, pos)
            elif tag in (_ID, _BIND) and (statement := self._addressed(inbox, pos)) is not None:
                pos, status = self._take_binds(statement, inbox, pos)
            else:
                break
            if status == NEED_MORE:
                return pos, True
            if status == OTHER and pos == start:
                break
        if self.gathered is not None:
            self.settle_rows()
        return pos, False

    def settle_groups(self) -> bool:
        """Before the session waits for its client: execute and answer the rows whose groups have ended. False
        when there are none. Those of a group on its way go on gathering: nobody waits for their replies."""
        gathered = self.gathered
        on_its_way = (
            gathered is not None and gathered.reader is not None and gathered.reader.shape != SHAPE_GROUPS
        )
        return not on_its_way and self.settle_rows()

    def settle_rows(self) -> bool:
        """Execute the bound rows that have been gathered and answer them; False when there are none."""
        statement, self.gathered = self.gathered, None
        if statement is None or statement.reader is None or not statement.reader.rows:
            return False
        reader = statement.reader
        separate = reader.shape == SHAPE_GROUPS
        row = reader.take_values() if reader.rows == 1 and takes_values(statement.prepared) else None
        if row is None:
            self._executions.execute_gathered(statement, reader.take(), separate)
        else:
            self._executions.execute_row(statement, row, separate)
        return True

    def rows_ahead(self, inbox: bytes, pos: int, last: m.Message) -> bool:
        """Whether the lane may be able to go on at `pos`, after the message `last`."""
        kind = type(last)
        tag = inbox[pos : pos + 2]
        if tag == _PUT:
            return kind is not m.Put  # a row that the lane has left is followed by its like
        if kind is m.EndOfTurn:
            if tag != _ID or inbox[pos + 4 : pos + 6] != _BIND:
                return False
        elif self._replies.failed or kind is not m.Execute or tag not in (_ID, _BIND):
            return False
        if self._addressed(inbox, pos) is None:
            return False
        self._passed -= 1
        return self._passed < 0

    def _addressed(self, inbox: bytes, pos: int) -> Statement | None:
        """The statement that the row at `pos` is for, when the lane can take its rows."""
        statement = self._statements.current
        if inbox[pos : pos + 2] == _ID:
            statement = self._statements.get(int.from_bytes(inbox[pos + 2 : pos + 4], "big", signed=True))
        if statement is None or statement.alone:
            return None
        if statement.reader_for != self._layout.framing.encoding:
            statement.reader_for = self._layout.framing.encoding
            statement.reader = None
            if statement.prepared.statement_type == StatementType.INSERT:
                statement.reader = RowReader.of(statement.prepared, self._layout.framing.encoding)
        return statement if statement.reader is not None else None

    def _take_binds(self, statement: Statement, inbox: bytes, pos: int) -> tuple[int, int]:
        if self.gathered is not statement:
            self.settle_rows()
            if self._puts.pending is not None:
                self._replies.guarded(self._puts.flush, m.Execute())
        reader = statement.reader
        if self._replies.failed or reader is None:
            return pos, OTHER
        start, before = pos, reader.rows
        pos, status = reader.binds(inbox, pos, statement.id)
        if pos > start:
            self._statements.current = self.gathered = statement
            statement.bound, statement.awaited = None, ()
        self._streak += reader.rows - before
        if status == FULL:
            self.settle_rows()
        elif status == OTHER and pos == start:
            # The fewer rows there were between those that are not for the lane, the more pass before it tries again.
            self._patience = 0 if self._streak >= _MANY else min(2 * self._patience + 1, _MOST_PASSED)
            self._passed = self._patience
            self._streak = 0
        return pos, status

    def _take_puts(self, inbox: bytes, pos: int) -> tuple[int, int]:
        self.settle_rows()
        statement = self._statements.current
        cursor = statement.cursor if statement is not None else None
        reader = cursor.reader(self._layout.framing.encoding) if isinstance(cursor, InsertCursor) else None
        if self._replies.failed or reader is None or not isinstance(cursor, InsertCursor):
            return pos, OTHER
        if self._puts.pending is not statement:
            self._replies.guarded(self._puts.flush, m.Put(b""))
        elif cursor.rows:
            self._replies.guarded(self._puts.insert, m.Put(b""))
        if self._replies.failed:
            return pos, OTHER
        self._puts.pending = statement
        pos, status = reader.puts(inbox, pos)
        if status == FULL:
            self._replies.guarded(self._puts.insert, m.Put(b""))
        return pos, status
