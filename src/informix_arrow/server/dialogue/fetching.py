"""Cursors over the rows of a query, by message (SQLI sections 7.5 and 13, JDBC sections 5 and 10)."""

from __future__ import annotations

from ...wire import messages as m
from ...wire.capabilities import Framing
from ...wire.describe import StatementType
from ..engine.session import EngineSession
from ..errors import SqlError
from .bulk import InsertCursor
from .cursors import ScrollCursor, SelectCursor, UpdateCursor
from .inserts import to_python
from .interrupts import Interrupts
from .layout import Layout
from .replies import Replies
from .runner import Runner
from .statements import Statements
from .transactions import Transactions


class Fetching:
    """SQ_CURNAME, SQ_OPEN, SQ_NFETCH, SQ_SFETCH, SQ_CLOSE and what modifies them."""

    def __init__(
        self,
        engine: EngineSession,
        runner: Runner,
        layout: Layout,
        replies: Replies,
        interrupts: Interrupts,
        statements: Statements,
        transactions: Transactions,
    ) -> None:
        self._engine = engine
        self._runner = runner
        self._layout = layout
        self._replies = replies
        self._interrupts = interrupts
        self._statements = statements
        self._transactions = transactions
        self._said: tuple[int, Framing | None, bytes] = 0, None, b""  # the last end of a result, and of what

    def ret_type(self, message: m.RetType) -> None:
        statement = self._statements.named()
        if message.direction == m.RetType.FETCH:
            statement.wanted = {position: wanted.code for position, wanted in enumerate(message.types)}

    def cursor_name(self, message: m.CursorName) -> None:
        statement = self._statements.named()
        statement.cursor_name = message.name
        statement.hold = statement.scroll = False

    def hold(self, _: m.Hold) -> None:
        self._statements.named().hold = True

    def scroll(self, _: m.Scroll) -> None:
        self._statements.named().scroll = True

    def auto_free(self, _: m.AutoFree) -> None:
        self._statements.named().autofree = True

    def open(self, _: m.Open) -> None:
        statement = self._statements.named()
        prepared = statement.prepared
        statement.close_cursor()
        if prepared.statement_type == StatementType.INSERT:
            statement.cursor = InsertCursor(prepared)
            return
        if not prepared.returns_rows:
            raise SqlError(-363)
        if statement.scroll and prepared.for_update:
            raise SqlError(-526)
        parameters = to_python(statement.take_bound(), prepared, self._layout.framing.encoding)
        with self._interrupts:
            if prepared.for_update:
                rows = self._runner.open_for_update(prepared, parameters)
                self._engine.cursors[statement.cursor_name.strip().lower()] = rows
                statement.cursor = UpdateCursor(rows)
                return
            procedure = prepared.statement_type == StatementType.EXECUTE_PROCEDURE
            before = procedure and self._engine.in_transaction
            result = self._runner.query(prepared, parameters)
            result.hold(statement.hold)
            if procedure:
                self._transactions.note(before)
            statement.cursor = (
                ScrollCursor(result, self._engine.engine.temporary)
                if statement.scroll
                else SelectCursor(result, statement.encoder)
            )

    def fetch(self, message: m.Fetch) -> None:
        statement = self._statements.named(-259)
        cursor = statement.cursor
        if not isinstance(cursor, (SelectCursor, UpdateCursor)):
            raise SqlError(-259)
        with self._interrupts:
            data = cursor.fetch(message.size, self._layout.framing.encoding, statement.wanted)
        if cursor.exhausted and cursor.failure is None:
            data += self._end(cursor.rows)
        self._replies.send(data)
        if cursor.failure is not None:
            raise cursor.failure

    def _end(self, rows: int) -> bytes:
        """What is told behind the last row."""
        framing = self._layout.framing
        if rows != self._said[0] or framing is not self._said[1]:
            parts = m.Done(0, rows, 0, 0), m.Cost(rows, 1)
            self._said = rows, framing, b"".join(part.encode(framing) for part in parts)
        return self._said[2]

    def scroll_fetch(self, message: m.ScrollFetch) -> None:
        statement = self._statements.named(-259)
        cursor = statement.cursor
        if not isinstance(cursor, ScrollCursor):
            raise SqlError(-259)
        position = cursor.target(message.how, message.target)
        with self._interrupts:
            data = cursor.fetch(position, self._layout.framing.encoding, statement.wanted)
        if data:
            self._replies.reply(m.TupleId(cursor.position))
            self._replies.send(data)
        self._replies.reply(m.Done(0, 1 if data else 0, 0, 0))

    def close(self, _: m.Close) -> None:
        statement = self._statements.named(-259)
        if isinstance(statement.cursor, UpdateCursor):
            statement.cursor.close()
        statement.close_cursor()
        if statement.autofree:
            self._statements.remove(statement)
            self._statements.current = None
