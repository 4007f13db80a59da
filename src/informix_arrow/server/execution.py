"""Statements from their preparation to their end, and what changes data: EXECUTE, and rows by PUT."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from .._bulk import FULL
from ..wire import messages as m
from ..wire.describe import Describe, InputDescribe, StatementType
from .appending import BatchOutcome
from .bulk import InsertCursor
from .bulk_replies import execute_replies
from .cursors import check_columns
from .engine_types import Outcome, Prepared
from .errors import SqlError
from .generated_keys import key_columns, keys_reply
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

    def _generated_keys(self, message: m.GeneratedKeys) -> None:
        """The statement just prepared tells the keys of each row that it inserts, so its executions are answered one
        by one."""
        statement = self._statement()
        statement.keys = key_columns(statement.prepared, message.names)
        statement.alone = statement.alone or bool(statement.keys)

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
            current is not None
            and current.prepared.statement_type == _INSERT
            and current.bound is not None
            and not current.awaited  # contents that never came: the single execution says so
            and not current.alone  # each reply must be complete before the next
        )

    def _is_insert(self, statement: Statement) -> bool:
        return statement.prepared.statement_type == _INSERT

    def _execute_run(self, messages: Sequence[m.Message], at: int) -> int:
        """Answer the SQ_EXECUTE at `at` and the executes after it that can go with it; the index after
        them."""
        statement = self._statement()
        run = following(messages, at, statement.id)
        binds = [statement.bound, *run.binds]
        statement.bound = None

        def execute() -> BatchOutcome:
            return execute_all(
                self._engine, statement.prepared, binds, self.framing.encoding, stop_at_error=not run.separate
            )

        self._guarded(
            lambda _: self._execute_together(statement, execute, len(binds), run.separate, run.closed),
            messages[at],
        )
        return run.end

    def _execute_together(
        self,
        statement: Statement,
        execute: Callable[[], BatchOutcome],
        rows: int,
        separate: bool,
        closed: bool,
    ) -> None:
        """Run `rows` executions of an INSERT and answer each. `separate` ones have a group each, and the last
        SQ_EOT belongs to the answer when it is `closed`."""
        before = self._engine.in_transaction
        try:
            with self._interrupts.statement():
                outcome = execute()
        except SqlError as problem:
            if not separate:
                raise
            outcome = BatchOutcome(
                rows, dict.fromkeys(range(rows), problem)
            )  # every group has a reply to come
        except Exception:
            log.exception("internal error in %d executes of one INSERT", rows)
            rows = rows if separate else 1
            outcome = BatchOutcome(rows, dict.fromkeys(range(rows), SqlError(INTERNAL_ERROR)))
        end_of_turn = m.EndOfTurn().encode(self.framing) if separate else b""
        plain = self._executed(statement.prepared, Outcome(rows=1), before) + end_of_turn
        replies = execute_replies(outcome, plain, self.framing)
        last = outcome.rows - 1
        start = 0
        for row in sorted(outcome.errors):
            self._send(replies[start * len(plain) : row * len(plain)])
            start = row + 1
            self._refuse(outcome.errors[row])
            if separate and (row < last or closed):
                self._failed = False
                self._send(end_of_turn)
        rest = replies[start * len(plain) :]
        self._send(rest if closed or not rest else rest[: len(rest) - len(end_of_turn)])

    def _execute(self, _: m.Execute) -> None:
        statement = self._statement()
        prepared = statement.prepared
        if prepared.returns_rows:
            raise SqlError(-260)
        parameters = to_python(self._take_bound(statement), prepared, self.framing.encoding)
        before, database = self._engine.in_transaction, self._engine.database
        with self._interrupts.statement():
            outcome = self._engine.execute(prepared, parameters)
        if self._engine.database != database:
            self._opened(outcome.warnings)
        self._send(keys_reply(prepared, statement.keys, outcome, self.framing))
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
        rows = message.rows
        for row in rows[self._put_together(statement, cursor, message) :]:
            if self._insert is not statement:
                self._flush_rows()
            elif len(cursor.rows) >= MAX_GATHERED or not cursor.rows:  # those that the lane took come first
                self._insert_rows()
            if self._failed:
                return
            self._insert = statement
            try:
                cursor.put(row, self.framing.encoding)
            except SqlError as problem:
                self._flush_rows()  # the rows before it count
                if not self._failed:
                    raise problem
                return

    def _put_together(self, statement: Statement, cursor: InsertCursor, message: m.Put) -> int:
        """Have the rows of one message decoded in C, as far as they are plain: how many of them are dealt with."""
        reader = cursor.reader(self.framing.encoding) if message.more else None
        if reader is None:
            return 0
        if self._insert is not statement:
            self._flush_rows()
        elif cursor.rows:
            self._insert_rows()
        data = b"".join(m.Put(row).encode(self.framing) for row in message.rows)
        stride, pos, full = len(data) // len(message.rows), 0, True
        while full and not self._failed:
            self._insert = statement
            pos, status = reader.puts(data, pos)
            full = status == FULL
            if full:
                self._insert_rows()
        return len(message.rows) if self._failed else pos // stride

    def _insert_rows(self, _: m.Message | None = None) -> None:
        """Insert the rows put so far; at an error a DONE for those before it, then SQ_ERR."""
        statement = self._insert
        cursor = statement.cursor if statement is not None else None
        if statement is None or not isinstance(cursor, InsertCursor) or not cursor.waiting:
            return
        prepared = statement.prepared
        self._insert = None  # until it has gone well
        rows, batch = cursor.take(), cursor.take_batch()
        try:
            with self._interrupts.statement():
                if batch is not None:
                    outcome = self._engine.execute_batch(prepared, batch, stop_at_error=True)
                else:
                    outcome = BatchOutcome.gathered(
                        insert_rows(self._engine, prepared, rows, stop_at_error=True)
                    )
        except Exception:
            if cursor.done:
                self._reply(cursor.report())
            raise
        cursor.count(outcome)
        for error in outcome.errors.values():
            self._reply(cursor.report())
            self._refuse(error)
            return
        self._insert = statement

    def _flush_rows(self, _: m.Message | None = None) -> None:
        """The rows put so far are all for now: a DONE with their number."""
        self._insert_rows()
        statement, self._insert = self._insert, None
        if statement is not None and isinstance(statement.cursor, InsertCursor) and statement.cursor.done:
            self._reply(statement.cursor.report())
