"""Statements from their preparation to their end, and what changes data: EXECUTE, and rows by PUT."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from ..wire import messages as m
from ..wire.describe import Describe, InputDescribe, StatementType
from .cursors import InsertCursor, check_columns
from .engine import Outcome, Prepared
from .errors import SqlError
from .inserts import MAX_GATHERED, execute_all, following, insert_rows, to_python
from .statements import Statement
from .turn import BEGAN, ENDED, INTERNAL_ERROR, Turn

log = logging.getLogger("informix_arrow.server")

_COMMAND_ID = -1
_INSERT = int(StatementType.INSERT)
_CHANGES_DATA = frozenset({3, 4, 5, 6, 7, 8, 32, 33})  # SERVER-BEHAVIOUR section 3


class Execution(Turn):
    """SQ_PREPARE, SQ_COMMAND, SQ_BIND, SQ_EXECUTE, SQ_PUT, SQ_RELEASE (SQLI sections 7 and 11)."""

    _insert: Statement | None = None  # whose cursor has rows waiting

    def _prepare(self, message: m.Prepare) -> None:
        self._current = None
        with self._interrupts.statement():
            prepared = self._engine.prepare(self._sql(message.sql), message.nparams)
        if prepared.returns_rows:
            check_columns(prepared.columns)
        statement = self._statements.add(prepared)
        try:
            self._reply(Describe.of_columns(prepared.statement_type, statement.id, prepared.columns))
        except Exception:
            self._statements.remove(statement)  # the client never learns its id
            raise
        self._current = statement
        if prepared.statement_type == _INSERT:
            self._reply(m.InsertDone(0, 0))
        self._reply(m.Done(0, 0, 0, 0))
        self._reply(m.Cost(1, 1))

    def _command(self, message: m.Command) -> None:
        """SQ_COMMAND prepares a statement that has no id; EXECUTE and RELEASE follow in the same group."""
        with self._interrupts.statement():
            prepared = self._engine.prepare(self._sql(message.sql), message.nparams)
        self._current = Statement(_COMMAND_ID, prepared)

    def _id(self, message: m.Id) -> None:
        self._current = self._statements.get(message.statement_id)

    def _bind(self, message: m.Bind) -> None:
        self._statement().bound = message.values

    def _describe_input(self, _: m.InputDescribeRequest) -> None:
        columns = tuple(self._statement().prepared.parameters)
        self._reply(InputDescribe(columns))

    def _release(self, _: m.Release) -> None:
        statement = self._statement()
        statement.cursor = None
        if statement.id != _COMMAND_ID:
            self._statements.remove(statement)
        self._current = None

    def _gathers(self) -> bool:
        current = self._current
        return (
            current is not None and current.prepared.statement_type == _INSERT and current.bound is not None
        )

    def _execute_run(self, messages: Sequence[m.Message], at: int) -> int:
        """Answer the SQ_EXECUTE at `at` and the executes after it that can go with it; the index after
        them."""
        statement = self._statement()
        run = following(messages, at, statement.id)
        binds = [statement.bound, *run.binds]
        statement.bound = None
        self._guarded(lambda _: self._execute_many(statement, binds, run.separate), messages[at])
        return run.end

    def _execute_many(self, statement: Statement, binds: Sequence[Any], separate: bool) -> None:
        before = self._engine.in_transaction
        try:
            with self._interrupts.statement():
                results = execute_all(
                    self._engine, statement.prepared, binds, self.framing.encoding, stop_at_error=not separate
                )
        except SqlError as problem:
            if not separate:
                raise
            results = [problem] * len(binds)  # every group has a reply to come
        except Exception:
            log.exception("internal error in %d executes of one INSERT", len(binds))
            results = [SqlError(INTERNAL_ERROR)] * (len(binds) if separate else 1)
        reply = b""
        previous: Outcome | None = None
        end_of_turn = m.EndOfTurn().encode(self.framing)
        for position, result in enumerate(results):
            if position and separate:
                self._failed = False
                self._send(end_of_turn)
            if isinstance(result, SqlError):
                self._refuse(result)
                continue
            if result != previous:
                reply, previous = self._executed(statement.prepared, result, before), result
            self._send(reply)

    def _execute(self, _: m.Execute) -> None:
        statement = self._statement()
        prepared = statement.prepared
        if prepared.returns_rows:
            raise SqlError(-260)
        parameters = to_python(statement.bound, prepared, self.framing.encoding)
        statement.bound = None
        before, database = self._engine.in_transaction, self._engine.database
        with self._interrupts.statement():
            outcome = self._engine.execute(prepared, parameters)
        if self._engine.database != database:
            self._opened(outcome.warnings)
        self._send(self._executed(prepared, outcome, before))
        if before and not self._engine.in_transaction:
            self._close_cursors()

    def _executed(self, prepared: Prepared, outcome: Outcome, before: bool) -> bytes:
        """The reply to one execution; `before` tells whether a transaction was open before it."""
        parts: list[m.Message] = []
        if prepared.statement_type == _INSERT:
            parts.append(m.InsertDone(outcome.serial8, outcome.bigserial))
        parts.append(m.Done(outcome.warnings, outcome.rows, 0, outcome.serial))
        parts.append(m.Cost(max(outcome.rows, 0), 1))
        after = self._engine.in_transaction
        if after != before:
            parts.append(BEGAN if after else ENDED)
        elif not after and self._logged and prepared.statement_type in _CHANGES_DATA:
            parts.append(ENDED)
        return b"".join(part.encode(self.framing) for part in parts)

    def _put(self, message: m.Put) -> None:
        statement = self._statement(-259)
        cursor = statement.cursor
        if not isinstance(cursor, InsertCursor):
            raise SqlError(-259)
        if message.count != 1:
            raise SqlError(-285)
        if self._insert is not statement or len(cursor.rows) >= MAX_GATHERED:
            self._flush_rows()
            if self._failed:
                return
        self._insert = statement
        try:
            cursor.put(message.tuple_bytes, self.framing.encoding)
        except SqlError as problem:
            self._flush_rows()  # the rows before it count
            if not self._failed:
                raise problem

    def _flush_rows(self, _: m.Message | None = None) -> None:
        """Insert the rows put so far: a DONE with their number; at an error one for those before it, then
        SQ_ERR."""
        statement, self._insert = self._insert, None
        if statement is None or not isinstance(statement.cursor, InsertCursor):
            return
        rows = statement.cursor.take()
        if not rows:
            return
        with self._interrupts.statement():
            results = insert_rows(self._engine, statement.prepared, rows, stop_at_error=True)
        done = [result for result in results if isinstance(result, Outcome)]
        serial = done[-1].serial if done else 0
        self._reply(m.Done(0, sum(outcome.rows for outcome in done), 0, serial))
        for result in results:
            if isinstance(result, SqlError):
                self._refuse(result)
                return
