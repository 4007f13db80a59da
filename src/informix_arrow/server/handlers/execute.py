"""SQ_EXECUTE of statements without rows: one execution, or many of one INSERT together (SQLI sections 7 and 11)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from ...wire import messages as m
from ...wire.describe import StatementType
from ..errors import SqlError, internal_error, out_of_memory
from ..session.engine_session import EngineSession
from ..session.insert import inserts_one_row
from ..session.prepared_plan import PreparedPlan, StatementOutcome
from ..session.table_appender import BatchOutcome
from .bulk_replies import execute_replies
from .database import DatabaseHandler
from .generated_keys import keys_reply
from .inserts import bound_values, execute_all, find_run
from .interrupts import StatementInterrupts
from .layout import MessageLayout
from .replies import ReplyWriter
from .statement_executor import StatementExecutor
from .statements import StatementHandle, StatementHandles
from .transactions import TransactionHandler

log = logging.getLogger("informix_arrow.server")

_EXECUTE, _END_OF_TURN = m.Execute(), m.EndOfTurn()
_INSERT = int(StatementType.INSERT)
_CHANGES_DATA = frozenset({3, 4, 5, 6, 7, 8, 32, 33})  # SERVER-BEHAVIOUR section 3


@dataclass(eq=False, repr=False)
class ExecuteHandler:
    """Runs prepared and bound statements, and replies to each execution as if it were alone."""

    _engine_session: EngineSession
    _executor: StatementExecutor
    _layout: MessageLayout
    _replies: ReplyWriter
    _interrupts: StatementInterrupts
    _statements: StatementHandles
    _database_handler: DatabaseHandler
    _transaction_handler: TransactionHandler
    # the last reply to an execution, and the key that it is valid for
    _reply_cache: tuple[object, bytes] = field(default=(None, b""), init=False)

    def execute(self, _: m.Execute) -> None:
        """Execute the current statement once."""
        statement = self._statements.require_current()
        prepared = statement.prepared
        if prepared.returns_rows:
            raise SqlError(-260)
        parameters = bound_values(statement.take_bound_values(), prepared, self._layout.framing.encoding)
        before, database = self._engine_session.in_transaction, self._engine_session.database
        with self._interrupts:
            outcome = self._executor.execute(prepared, parameters)
        if self._engine_session.database != database:
            self._database_handler.database_changed(outcome.warnings)
        self._replies.send(
            keys_reply(prepared, statement.generated_key_columns, outcome, self._layout.framing)
        )
        self._replies.send(self._execution_reply(prepared, outcome, before))
        self._transaction_handler.close_cursors(before)

    def _execution_reply(self, prepared: PreparedPlan, outcome: StatementOutcome, before: bool) -> bytes:
        """Return the reply to one execution; `before` says whether a transaction was open before it."""
        states = self._transaction_handler.state_messages(before, prepared.statement_type in _CHANGES_DATA)
        framing = self._layout.framing
        plain = 0 <= outcome.rows <= 1 and not (outcome.serial or outcome.serial8 or outcome.bigserial)
        key = prepared.statement_type, outcome.rows, outcome.warnings, states, framing
        if plain and key == self._reply_cache[0]:
            return self._reply_cache[1]
        messages: list[m.Message] = []
        if prepared.statement_type == _INSERT:
            messages.append(m.InsertDone(outcome.serial8, outcome.bigserial))
        messages.append(m.Done(outcome.warnings, outcome.rows, 0, outcome.serial))
        messages.append(m.Cost(max(outcome.rows, 0), 1))
        messages += states
        reply = b"".join(part.encode(framing) for part in messages)
        if plain:
            self._reply_cache = key, reply
        return reply

    # ---- batches ---------------------------------------------------------------------------------------------

    def can_batch(self) -> bool:
        """Return whether executions of the current statement can be batched."""
        current = self._statements.current
        return (
            current is not None
            and inserts_one_row(current.prepared)
            and current.bound_values is not None
            and not current.missing_contents  # missing contents are reported by a single execution
            and not current.executes_singly  # each reply must be complete before the next execution
        )

    def execute_consecutive(self, messages: Sequence[m.Message], at: int) -> int:
        """Reply to the SQ_EXECUTE at `at` and the following executions that can be batched with it.

        Returns the index after them.
        """
        statement = self._statements.require_current()
        run = find_run(messages, at, statement.id)
        binds = [statement.bound_values, *run.bound_rows]
        statement.bound_values = None

        def execute() -> BatchOutcome:
            return execute_all(
                self._executor,
                statement.prepared,
                binds,
                self._layout.framing.encoding,
                stop_at_error=not run.separate_groups,
            )

        self._replies.call_handler(
            lambda _: self._execute_many(
                statement, execute, len(binds), run.separate_groups, run.group_closed
            ),
            messages[at],
        )
        return run.end

    def execute_batch(self, statement: StatementHandle, batch: pa.RecordBatch, separate: bool) -> None:
        """Reply to the executions whose rows the bulk fast path has collected.

        `separate` ones have a group each, with its SQ_EOT. Others share a group that has not ended.
        """

        def execute() -> BatchOutcome:
            return self._executor.execute_batch(statement.prepared, batch, stop_at_error=not separate)

        self._replies.call_handler(
            lambda _: self._execute_many(statement, execute, batch.num_rows, separate, separate),
            m.Execute(),
        )

    def execute_row(self, statement: StatementHandle, row: Sequence[object], separate: bool) -> None:
        """Reply to an execution of one row of Python objects, like `execute_batch`."""
        replies = self._replies
        replies.call_handler(lambda _: self._execute_row(statement.prepared, row), _EXECUTE)
        if separate:
            replies.failed = False
            replies.send_message(_END_OF_TURN)

    def _execute_row(self, prepared: PreparedPlan, row: Sequence[object]) -> None:
        before = self._engine_session.in_transaction
        with self._interrupts:
            outcome = self._executor.execute(prepared, row)
        self._replies.send(self._execution_reply(prepared, outcome, before))

    def _execute_many(
        self,
        statement: StatementHandle,
        execute: Callable[[], BatchOutcome],
        rows: int,
        separate: bool,
        closed: bool,
    ) -> None:
        """Run `rows` executions of an INSERT and reply to each.

        `separate` ones have a group each. The last SQ_EOT belongs to the reply if the group is `closed`.
        """
        replies, framing = self._replies, self._layout.framing
        before = self._engine_session.in_transaction
        try:
            with self._interrupts:
                outcome = execute()
        except (SqlError, MemoryError) as failure:
            if not separate:
                raise
            problem = failure if isinstance(failure, SqlError) else out_of_memory(failure)
            outcome = BatchOutcome(rows, dict.fromkeys(range(rows), problem))  # every group must get a reply
        except Exception:
            fault = internal_error()
            log.exception("%s: Internal error in %d executions of one INSERT.", fault.near, rows)
            rows = rows if separate else 1
            outcome = BatchOutcome(rows, dict.fromkeys(range(rows), fault))
        end_of_turn = m.EndOfTurn().encode(framing) if separate else b""
        plain = self._execution_reply(statement.prepared, StatementOutcome(rows=1), before) + end_of_turn
        all_replies = execute_replies(outcome, plain, framing)
        last = outcome.rows - 1
        start = 0
        for row in sorted(outcome.errors):
            replies.send(all_replies[start * len(plain) : row * len(plain)])
            start = row + 1
            replies.send_error(outcome.errors[row])
            if separate and (row < last or closed):
                replies.failed = False
                replies.send(end_of_turn)
        rest = all_replies[start * len(plain) :]
        replies.send(rest if closed or not rest else rest[: len(rest) - len(end_of_turn)])
