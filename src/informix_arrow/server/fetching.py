"""Cursors over the rows of a query (SQLI sections 7.5 and 13, JDBC sections 5 and 10)."""

from __future__ import annotations

from ..wire import messages as m
from ..wire.describe import StatementType
from .bulk import InsertCursor
from .cursors import ScrollCursor, SelectCursor, UpdateCursor
from .errors import SqlError
from .inserts import to_python
from .turn import BEGAN, ENDED, Turn


class Fetching(Turn):
    """SQ_CURNAME, SQ_OPEN, SQ_NFETCH, SQ_SFETCH, SQ_CLOSE and what modifies them."""

    def _ret_type(self, message: m.RetType) -> None:
        statement = self._statement()
        if message.direction == m.RetType.FETCH:
            statement.wanted = {position: wanted.code for position, wanted in enumerate(message.types)}

    def _cursor_name(self, message: m.CursorName) -> None:
        statement = self._statement()
        statement.cursor_name = message.name
        statement.hold = statement.scroll = False

    def _hold(self, _: m.Hold) -> None:
        self._statement().hold = True

    def _scroll(self, _: m.Scroll) -> None:
        self._statement().scroll = True

    def _auto_free(self, _: m.AutoFree) -> None:
        self._statement().autofree = True

    def _open(self, _: m.Open) -> None:
        statement = self._statement()
        prepared = statement.prepared
        statement.cursor = None
        if prepared.statement_type == StatementType.INSERT:
            statement.cursor = InsertCursor(prepared)
            return
        if not prepared.returns_rows:
            raise SqlError(-363)
        if statement.scroll and prepared.for_update:
            raise SqlError(-526)
        parameters = to_python(self._take_bound(statement), prepared, self.framing.encoding)
        with self._interrupts.statement():
            if prepared.for_update:
                rows = self._engine.open_for_update(prepared, parameters)
                self._engine.cursors[statement.cursor_name.strip().lower()] = rows
                statement.cursor = UpdateCursor(rows)
                return
            before = self._engine.in_transaction
            result = self._engine.query(prepared, parameters)
            if prepared.statement_type == StatementType.EXECUTE_PROCEDURE:
                self._note_transaction(before)
            statement.cursor = ScrollCursor(result) if statement.scroll else SelectCursor(result)

    def _note_transaction(self, before: bool) -> None:
        """Tell of a transaction that a routine has begun or ended."""
        after = self._engine.in_transaction
        if before == after:
            return
        if self._logged:
            self._reply(BEGAN if after else ENDED)
        if before:
            self._close_cursors()

    def _fetch(self, message: m.Fetch) -> None:
        statement = self._statement(-259)
        cursor = statement.cursor
        if not isinstance(cursor, (SelectCursor, UpdateCursor)):
            raise SqlError(-259)
        with self._interrupts.statement():
            data = cursor.fetch(message.size, self.framing.encoding, statement.wanted)
        self._send(data)
        if cursor.failure is not None:
            raise cursor.failure
        if cursor.exhausted:
            self._reply(m.Done(0, cursor.rows, 0, 0))
            self._reply(m.Cost(cursor.rows, 1))

    def _scroll_fetch(self, message: m.ScrollFetch) -> None:
        statement = self._statement(-259)
        cursor = statement.cursor
        if not isinstance(cursor, ScrollCursor):
            raise SqlError(-259)
        position = cursor.target(message.how, message.target)
        data = cursor.fetch(position, self.framing.encoding, statement.wanted)
        if data:
            self._reply(m.TupleId(position))
            self._send(data)
        self._reply(m.Done(0, 1 if data else 0, 0, 0))

    def _close(self, _: m.Close) -> None:
        statement = self._statement(-259)
        if isinstance(statement.cursor, UpdateCursor):
            statement.cursor.close()
        statement.cursor = None
        if statement.autofree:
            self._statements.remove(statement)
            self._current = None
