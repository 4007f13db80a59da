"""Statements from their preparation to their release (SQLI section 7)."""

from __future__ import annotations

from ...wire import messages as m
from ...wire.messages import InputDescribe
from .generated_keys import key_columns
from .interrupts import Interrupts
from .layout import Layout
from .replies import Replies
from .runner import Runner
from .statements import Statements


class Preparing:
    """SQ_PREPARE, SQ_COMMAND, SQ_ID, SQ_RELEASE, and what is asked about a statement before it runs."""

    def __init__(
        self,
        runner: Runner,
        layout: Layout,
        replies: Replies,
        interrupts: Interrupts,
        statements: Statements,
    ) -> None:
        self._runner = runner
        self._layout = layout
        self._replies = replies
        self._interrupts = interrupts
        self._statements = statements

    def prepare(self, message: m.Prepare) -> None:
        statements = self._statements
        statements.current = None
        with self._interrupts:
            prepared = self._runner.prepare(self._layout.sql(message.sql), message.nparams)
        described = statements.descriptions.of(prepared, self._layout.framing)
        statement = statements.add(prepared, described)
        self._replies.send(described.message(statement.id))
        statements.current = statement

    def command(self, message: m.Command) -> None:
        """SQ_COMMAND prepares a statement that has no id; EXECUTE and RELEASE follow in the same group."""
        with self._interrupts:
            prepared = self._runner.prepare(self._layout.sql(message.sql), message.nparams)
        self._statements.set_command(prepared)

    def generated_keys(self, message: m.GeneratedKeys) -> None:
        """The statement just prepared tells the keys of each row that it inserts, so its executions are answered one
        by one."""
        statement = self._statements.named()
        statement.keys = key_columns(statement.prepared, message.names)
        statement.alone = statement.alone or bool(statement.keys)

    def describe_input(self, _: m.InputDescribeRequest) -> None:
        self._replies.reply(InputDescribe(tuple(self._statements.named().prepared.parameters)))

    def release(self, _: m.Release) -> None:
        statement = self._statements.named()
        self._statements.remove(statement)
        self._statements.current = None
