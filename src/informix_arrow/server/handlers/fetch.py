"""Messages for cursors over the rows of a query (SQLI sections 7.5 and 13, JDBC sections 5 and 10)."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...wire import messages as m
from ...wire.capabilities import Framing
from ...wire.describe import StatementType
from ..errors import SqlError
from ..session.engine_session import EngineSession
from .bulk import InsertCursor
from .cursors import ScrollCursor, SelectCursor, UpdateCursor
from .inserts import bound_values
from .interrupts import StatementInterrupts
from .layout import MessageLayout
from .replies import ReplyWriter
from .statement_executor import StatementExecutor
from .statements import StatementHandles
from .transactions import TransactionHandler

_UNSENT_BYTES = 16 << 10
"""Unsent bytes of earlier replies that are sent before the reply to a fetch is made.

Otherwise a client that sends many fetches ahead would wait until all are served, and the server would hold all replies.
"""


@dataclass(eq=False, repr=False)
class FetchHandler:
    """Handles SQ_CURNAME, SQ_OPEN, SQ_NFETCH, SQ_SFETCH, SQ_CLOSE and the messages that modify them."""

    _engine_session: EngineSession
    _executor: StatementExecutor
    _layout: MessageLayout
    _replies: ReplyWriter
    _interrupts: StatementInterrupts
    _statements: StatementHandles
    _transaction_handler: TransactionHandler
    # The last reply at the end of a result, and the key that it is valid for.
    _reply_cache: tuple[int, Framing | None, bytes] = field(default=(0, None, b""), init=False)

    def set_result_types(self, message: m.RetType) -> None:
        statement = self._statements.require_current()
        if message.direction == m.RetType.FETCH:
            statement.result_type_codes = {
                position: requested.code for position, requested in enumerate(message.types)
            }

    def set_cursor_name(self, message: m.CursorName) -> None:
        statement = self._statements.require_current()
        statement.cursor_name = message.name
        statement.with_hold = statement.scrollable = False

    def set_hold(self, _: m.Hold) -> None:
        self._statements.require_current().with_hold = True

    def set_scroll(self, _: m.Scroll) -> None:
        self._statements.require_current().scrollable = True

    def set_auto_free(self, _: m.AutoFree) -> None:
        self._statements.require_current().autofree = True

    def open(self, _: m.Open) -> None:
        statement = self._statements.require_current()
        prepared = statement.prepared
        statement.close_cursor()
        if prepared.statement_type == StatementType.INSERT:
            statement.cursor = InsertCursor(prepared)
            return
        if not prepared.returns_rows:
            raise SqlError(-363)
        if statement.scrollable and prepared.for_update:
            raise SqlError(-526)
        parameters = bound_values(statement.take_bound_values(), prepared, self._layout.framing.encoding)
        with self._interrupts:
            if prepared.for_update:
                rows = self._executor.open_for_update(prepared, parameters)
                self._engine_session.cursors[statement.cursor_name.strip().lower()] = rows
                statement.cursor = UpdateCursor(rows)
                return
            procedure = prepared.statement_type == StatementType.EXECUTE_PROCEDURE
            before = procedure and self._engine_session.in_transaction
            result = self._executor.query(prepared, parameters)
            result.set_hold(statement.with_hold)
            if procedure:
                self._transaction_handler.report_change(before)
            statement.cursor = (
                ScrollCursor(result, self._engine_session.engine.temporary)
                if statement.scrollable
                else SelectCursor(result, statement.encoder)
            )

    def fetch(self, message: m.Fetch) -> None:
        statement = self._statements.require_current(-259)
        cursor = statement.cursor
        if not isinstance(cursor, (SelectCursor, UpdateCursor)):
            raise SqlError(-259)
        if self._replies.unsent > _UNSENT_BYTES:
            self._replies.wait_until_sent()
        try:
            with self._interrupts:
                data = cursor.fetch(message.size, self._layout.framing.encoding, statement.result_type_codes)
        except SqlError as problem:
            if isinstance(cursor, SelectCursor):
                cursor.failure = cursor.failure or problem  # further fetches fail as well
            raise
        if cursor.exhausted and cursor.failure is None:
            data += self._end_of_rows(cursor.rows)
        self._replies.send(data)
        if cursor.failure is not None:
            raise cursor.failure

    def _end_of_rows(self, rows: int) -> bytes:
        """Return the reply after the last row."""
        framing = self._layout.framing
        if rows != self._reply_cache[0] or framing is not self._reply_cache[1]:
            parts = m.Done(0, rows, 0, 0), m.Cost(rows, 1)
            self._reply_cache = rows, framing, b"".join(part.encode(framing) for part in parts)
        return self._reply_cache[2]

    def scroll_fetch(self, message: m.ScrollFetch) -> None:
        statement = self._statements.require_current(-259)
        cursor = statement.cursor
        if not isinstance(cursor, ScrollCursor):
            raise SqlError(-259)
        position = cursor.target_position(message.how, message.target)
        with self._interrupts:
            data = cursor.fetch(position, self._layout.framing.encoding, statement.result_type_codes)
        if data:
            self._replies.send_message(m.TupleId(cursor.position))
            self._replies.send(data)
        self._replies.send_message(m.Done(0, 1 if data else 0, 0, 0))

    def close(self, _: m.Close) -> None:
        statement = self._statements.require_current(-259)
        if isinstance(statement.cursor, UpdateCursor):
            statement.cursor.close()
        statement.close_cursor()
        if statement.autofree:
            self._statements.remove(statement)
            self._statements.current = None
