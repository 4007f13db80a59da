"""Consecutive executions of one INSERT, which the engine runs together although each has its own reply.

A single-row INSERT costs DuckDB some 0.3 ms, a row of a batch far less. Clients pipeline (SQLI section 11: many groups
without waiting) or put many executions into one group (JDBC section 8), so further rows are already in the receive
buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...wire.bind_values import bound_to_python
from ...wire.errors import Error, NotSupportedError
from ...wire.messages import Bind, BoundValue, EndOfTurn, Execute, Id, Message
from ..errors import SqlError
from ..session.prepared_plan import PreparedPlan, StatementOutcome
from ..session.table_appender import BatchOutcome
from .statement_executor import StatementExecutor
from .statements import descriptor_positions

MAX_BATCHED = 8192
"""Rows passed to the engine at a time. They bound memory and the delay of an interrupt."""


@dataclass(frozen=True, slots=True)
class ExecutionRun:
    """Consecutive executions.

    `bound_rows` are those after the first, `end` is the index of the message after the run. With `separate_groups`,
    each execution ends its group, so an SQ_EOT follows each of their replies (and the last one if `group_closed`: its
    SQ_EOT is part of the run). Otherwise they share a group, which ends at the first error.
    """

    bound_rows: list[tuple[BoundValue, ...]]
    end: int
    separate_groups: bool
    group_closed: bool


def find_run(messages: Sequence[Message], execute: int, statement: int) -> ExecutionRun:
    """Return the executions of `statement` that directly follow the SQ_EXECUTE at index `execute`."""
    count = len(messages)
    end = execute + 1
    separate = end < count and type(messages[end]) is EndOfTurn
    binds: list[tuple[BoundValue, ...]] = []
    while len(binds) < MAX_BATCHED - 1:
        at = end + 1 if separate else end
        if separate and (end >= count or type(messages[end]) is not EndOfTurn):
            break
        after_id = _skip_id(messages, at, statement)
        if separate and after_id == at:
            break  # a new group must name its statement
        if after_id >= count:
            break
        bind = messages[after_id]
        run = _skip_id(messages, after_id + 1, statement)
        if type(bind) is not Bind or run >= count or type(messages[run]) is not Execute:
            break
        if descriptor_positions(bind.values):
            break  # contents follow
        binds.append(bind.values)
        end = run + 1
    closed = separate and end < count and type(messages[end]) is EndOfTurn
    return ExecutionRun(binds, end + closed, separate, closed)


def _skip_id(messages: Sequence[Message], at: int, statement: int) -> int:
    """Return the index after an SQ_ID of `statement` at `at`, or `at` if there is none."""
    if at < len(messages):
        message = messages[at]
        if type(message) is Id and message.statement_id == statement:
            return at + 1
    return at


def bound_values(bound: Sequence[BoundValue] | None, prepared: PreparedPlan, encoding: str) -> list[object]:
    """Return parameters as values for the engine. -254 for a wrong number of them, -415 for malformed bytes."""
    values = bound or ()
    if len(values) != len(prepared.parameters):
        raise SqlError(-254)
    try:
        return [bound_to_python(value, encoding) for value in values]
    except NotSupportedError as problem:
        raise SqlError(-9628, detail=str(problem)) from problem
    except (Error, ValueError, ArithmeticError) as problem:
        raise SqlError(-415, detail=str(problem)) from problem


def execute_all(
    executor: StatementExecutor,
    prepared: PreparedPlan,
    binds: Sequence[Sequence[BoundValue] | None],
    encoding: str,
    stop_at_error: bool,
) -> BatchOutcome:
    """Run the INSERT once per bind. Return the outcomes in order, including the first error if `stop_at_error`."""
    results: list[StatementOutcome | SqlError | None] = []
    rows: list[list[object]] = []
    for bound in binds:
        try:
            rows.append(bound_values(bound, prepared, encoding))
            results.append(None)
        except SqlError as problem:
            results.append(problem)
            if stop_at_error:
                break
    outcomes = iter(insert_rows(executor, prepared, rows, stop_at_error) if rows else ())
    merged: list[StatementOutcome | SqlError] = []
    for result in results:
        outcome = result if result is not None else next(outcomes, None)
        if outcome is None:
            break
        merged.append(outcome)
        if stop_at_error and isinstance(outcome, SqlError):
            break
    return BatchOutcome.from_outcomes(merged)


def insert_rows(
    executor: StatementExecutor, prepared: PreparedPlan, rows: Sequence[Sequence[object]], stop_at_error: bool
) -> list[StatementOutcome | SqlError]:
    """Return one outcome per row as if each were executed alone, up to and including the first error if
    `stop_at_error`.
    """
    if len(rows) == 1:
        try:
            return [executor.execute(prepared, rows[0])]
        except SqlError as problem:
            return [problem]
    return executor.execute_many(prepared, rows, stop_at_error=stop_at_error)
