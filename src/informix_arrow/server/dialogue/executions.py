"""What changes data by SQ_EXECUTE: one execution, or many of one INSERT together (SQLI sections 7 and 11)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import pyarrow as pa

from ...wire import messages as m
from ...wire.describe import StatementType
from ..engine.appending import BatchOutcome
from ..engine.prepared import Outcome, Prepared
from ..engine.row_inserts import puts_one_row
from ..engine.session import EngineSession
from ..errors import SqlError, internal_error, out_of_memory
from .bulk_replies import execute_replies
from .current_database import CurrentDatabase
from .generated_keys import keys_reply
from .inserts import execute_all, following, to_python
from .interrupts import Interrupts
from .layout import Layout
from .replies import Replies
from .runner import Runner
from .statements import Statement, Statements
from .transactions import Transactions

log = logging.getLogger("informix_arrow.server")

_EXECUTE, _END_OF_TURN = m.Execute(), m.EndOfTurn()
_INSERT = int(StatementType.INSERT)
_CHANGES_DATA = frozenset({3, 4, 5, 6, 7, 8, 32, 33})  # SERVER-BEHAVIOUR section 3


class Executions:
    """Runs what was prepared and bound, and answers each execution as if it were alone."""

    def __init__(
        self,
        engine: EngineSession,
        runner: Runner,
        layout: Layout,
        replies: Replies,
        interrupts: Interrupts,
        statements: Statements,
        database: CurrentDatabase,
        transactions: Transactions,
    ) -> None:
        self._engine = engine
        self._runner = runner
        self._layout = layout
        self._replies = replies
        self._interrupts = interrupts
        self._statements = statements
        self._database = database
        self._transactions = transactions
        self._said: tuple[object, bytes] = None, b""  # the last reply to an execution, and to what

    def execute(self, _: m.Execute) -> None:
        """One execution of the statement that was named."""
        statement = self._statements.named()
        prepared = statement.prepared
        if prepared.returns_rows:
            raise SqlError(-260)
        parameters = to_python(statement.take_bound(), prepared, self._layout.framing.encoding)
        before, database = self._engine.in_transaction, self._engine.database
        with self._interrupts:
            outcome = self._runner.execute(prepared, parameters)
        if self._engine.database != database:
            self._database.opened(outcome.warnings)
        self._replies.send(keys_reply(prepared, statement.keys, outcome, self._layout.framing))
        self._replies.send(self._executed(prepared, outcome, before))
        self._transactions.close_cursors(before)

    def _executed(self, prepared: Prepared, outcome: Outcome, before: bool) -> bytes:
        """The reply to one execution; `before` tells whether a transaction was open before it."""
        states = self._transactions.state_after(before, prepared.statement_type in _CHANGES_DATA)
        framing = self._layout.framing
        plain = 0 <= outcome.rows <= 1 and not (outcome.serial or outcome.serial8 or outcome.bigserial)
        key = prepared.statement_type, outcome.rows, outcome.warnings, states, framing
        if plain and key == self._said[0]:
            return self._said[1]
        parts: list[m.Message] = []
        if prepared.statement_type == _INSERT:
            parts.append(m.InsertDone(outcome.serial8, outcome.bigserial))
        parts.append(m.Done(outcome.warnings, outcome.rows, 0, outcome.serial))
        parts.append(m.Cost(max(outcome.rows, 0), 1))
        parts += states
        reply = b"".join(part.encode(framing) for part in parts)
        if plain:
            self._said = key, reply
        return reply

    # ---- many together ---------------------------------------------------------------------------------------

    def gathers(self) -> bool:
        """Whether executions of the statement that was named can be taken together."""
        current = self._statements.current
        return (
            current is not None
            and puts_one_row(current.prepared)
            and current.bound is not None
            and not current.awaited  # contents that never came: the single execution says so
            and not current.alone  # each reply must be complete before the next
        )

    def execute_run(self, messages: Sequence[m.Message], at: int) -> int:
        """Answer the SQ_EXECUTE at `at` and the executes after it that can go with it; the index after
        them."""
        statement = self._statements.named()
        run = following(messages, at, statement.id)
        binds = [statement.bound, *run.binds]
        statement.bound = None

        def execute() -> BatchOutcome:
            return execute_all(
                self._runner,
                statement.prepared,
                binds,
                self._layout.framing.encoding,
                stop_at_error=not run.separate,
            )

        self._replies.guarded(
            lambda _: self._execute_together(statement, execute, len(binds), run.separate, run.closed),
            messages[at],
        )
        return run.end

    def execute_gathered(self, statement: Statement, batch: pa.RecordBatch, separate: bool) -> None:
        """Answer the executions whose rows the fast lane has gathered. `separate` ones have a group each, with its
        SQ_EOT; others share one that has not ended."""

        def execute() -> BatchOutcome:
            return self._runner.execute_batch(statement.prepared, batch, stop_at_error=not separate)

        self._replies.guarded(
            lambda _: self._execute_together(statement, execute, batch.num_rows, separate, separate),
            m.Execute(),
        )

    def execute_row(self, statement: Statement, row: Sequence[object], separate: bool) -> None:
        """As `execute_gathered`, for one row of Python objects."""
        replies = self._replies
        replies.guarded(lambda _: self._execute_row(statement.prepared, row), _EXECUTE)
        if separate:
            replies.failed = False
            replies.reply(_END_OF_TURN)

    def _execute_row(self, prepared: Prepared, row: Sequence[object]) -> None:
        before = self._engine.in_transaction
        with self._interrupts:
            outcome = self._runner.execute(prepared, row)
        self._replies.send(self._executed(prepared, outcome, before))

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
        replies, framing = self._replies, self._layout.framing
        before = self._engine.in_transaction
        try:
            with self._interrupts:
                outcome = execute()
        except (SqlError, MemoryError) as failure:
            if not separate:
                raise
            problem = failure if isinstance(failure, SqlError) else out_of_memory(failure)
            outcome = BatchOutcome(
                rows, dict.fromkeys(range(rows), problem)
            )  # every group has a reply to come
        except Exception:
            fault = internal_error()
            log.exception("%s: internal error in %d executes of one INSERT", fault.near, rows)
            rows = rows if separate else 1
            outcome = BatchOutcome(rows, dict.fromkeys(range(rows), fault))
        end_of_turn = m.EndOfTurn().encode(framing) if separate else b""
        plain = self._executed(statement.prepared, Outcome(rows=1), before) + end_of_turn
        all_replies = execute_replies(outcome, plain, framing)
        last = outcome.rows - 1
        start = 0
        for row in sorted(outcome.errors):
            replies.send(all_replies[start * len(plain) : row * len(plain)])
            start = row + 1
            replies.refuse(outcome.errors[row])
            if separate and (row < last or closed):
                replies.failed = False
                replies.send(end_of_turn)
        rest = all_replies[start * len(plain) :]
        replies.send(rest if closed or not rest else rest[: len(rest) - len(end_of_turn)])
