"""Messages for statements from their preparation to their release (SQLI section 7)."""

from __future__ import annotations

from dataclasses import dataclass

from ...wire import messages as m
from ...wire.messages import InputDescribe
from .generated_keys import key_columns
from .interrupts import StatementInterrupts
from .layout import MessageLayout
from .replies import ReplyWriter
from .statement_executor import StatementExecutor
from .statements import StatementHandles


@dataclass(eq=False, repr=False)
class PrepareHandler:
    """Handles SQ_PREPARE, SQ_COMMAND, SQ_ID, SQ_RELEASE, and questions about a statement before it runs."""

    _executor: StatementExecutor
    _layout: MessageLayout
    _replies: ReplyWriter
    _interrupts: StatementInterrupts
    _statements: StatementHandles

    def prepare(self, message: m.Prepare) -> None:
        statements = self._statements
        statements.current = None
        with self._interrupts:
            prepared = self._executor.prepare(self._layout.decode_sql(message.sql), message.nparams)
        described = statements.descriptions.get(prepared, self._layout.framing)
        statement = statements.add(prepared, described)
        self._replies.send(described.message(statement.id))
        statements.current = statement

    def command(self, message: m.Command) -> None:
        """Prepare a statement that has no id; EXECUTE and RELEASE follow in the same group."""
        with self._interrupts:
            prepared = self._executor.prepare(self._layout.decode_sql(message.sql), message.nparams)
        self._statements.set_command(prepared)

    def generated_keys(self, message: m.GeneratedKeys) -> None:
        """Make the statement just prepared return the keys of each inserted row. Its executions then run one by one."""
        statement = self._statements.require_current()
        statement.generated_key_columns = key_columns(statement.prepared, message.names)
        statement.executes_singly = statement.executes_singly or bool(statement.generated_key_columns)

    def describe_input(self, _: m.InputDescribeRequest) -> None:
        self._replies.send_message(
            InputDescribe(tuple(self._statements.require_current().prepared.parameters))
        )

    def release(self, _: m.Release) -> None:
        statement = self._statements.require_current()
        self._statements.remove(statement)
        self._statements.current = None
