"""The interpreter of routines.

A statement that may contain RETURN is a generator, so that RETURN WITH RESUME can yield a row and continue when the
next one is requested. A statement returns how it ended: None, or the reason why the following ones are skipped.

Error handlers follow IBM's manual on ON EXCEPTION. The innermost handler for the code runs. Then the block that
declares it ends, or with WITH RESUME the next statement follows. BEGIN ... END counts as one statement for a handler
outside of it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakSet

from sqlglot import exp

from ...wire.types import ColumnType, TypeCode
from ..catalog.catalog import ColumnInfo
from ..errors import SqlError, can_be_sent, not_supported
from ..parse.classify import ControlStatement
from ..parse.query_names import routine_name
from ..parse.spl import codes
from ..parse.spl import nodes as n
from ..plan.plans import UtilityPlan
from ..session.session_services import SessionServices
from .conversions import ResultConversions
from .cross_database import in_database
from .dynamic_sql import DynamicSql, RoutineCursor
from .evaluator import RoutineEvaluator, StoredValues
from .frames import CallFrame, GlobalVariables, TriggerRow, VariableCell
from .loop_cursor import LoopCursor
from .python_calls import run_python
from .registry import Callee, RoutineRegistry
from .sql_compiler import (
    CompiledArguments,
    CompiledChange,
    CompiledExpressions,
    CompiledQuery,
    SqlCompiler,
    parse_list,
)

RowIterator = Iterator[StoredValues]

MAX_DEPTH = 200
"""Maximum depth of nested calls. Deeper ones raise -722. On a real server the stack size is the limit."""

_CALLS_PER_STACK = 20

_DATA_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})
_READ_ONLY_STATEMENTS = frozenset({"SELECT", "SET", "LOCK", "UNLOCK"})


@dataclass(frozen=True, slots=True)
class LoopExit:
    """EXIT or CONTINUE until it reaches its loop."""

    verb: str
    kind: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class GotoExit:
    """GOTO until it reaches the block that has its label."""

    label: str


@dataclass(frozen=True, slots=True, eq=False)
class BlockExit:
    """The end of a block whose handler has run."""

    block: n.StatementBlock


class RoutineExit:
    """The end of the routine."""


ROUTINE_EXIT = RoutineExit()


class _UnhandledError(Exception):
    """An error that no handler of its unit traps. Handlers around the unit see it as the error of one statement."""

    def __init__(self, problem: SqlError) -> None:
        super().__init__(problem)
        self.problem = problem


class Interpreter:
    """Executes one call of a routine. A statement that may yield rows is a generator."""

    def __init__(
        self, caller: RoutineCaller, callee: Callee, from_query: bool, row: TriggerRow | None
    ) -> None:
        self._session = parts = caller.session
        self._registry = registry = caller.registry
        self._conversions = conversions = caller.conversions
        self._caller = caller
        self._callee = callee
        self._frame = CallFrame(callee, from_query, row, parts.environment.codec)
        self._evaluation = RoutineEvaluator(
            parts, registry, conversions, callee, self._frame, self._call_single_row
        )
        self._dynamic = DynamicSql(parts, conversions, self._evaluation, self._call_rows)
        # handlers of the current unit, inner ones last
        self._handlers: list[tuple[n.StatementBlock, n.Handler, dict[str, VariableCell]]] = []
        self._found_no_row = False  # whether the current statement found no row

    @property
    def frame(self) -> CallFrame:
        """The variables of the call."""
        return self._frame

    def _call_single_row(self, callee: Callee, arguments: Sequence[object]) -> StoredValues:
        """Call a routine for a single row."""
        return self._caller.call_single_row(callee, arguments, self._frame.from_query)

    def rows(self, arguments: Sequence[object]) -> RowIterator:
        """Execute the call and yield its rows. Arguments are in storage form."""
        routine = self._callee.routine
        assert routine is not None
        for parameter, value in zip(self._callee.parameters, arguments, strict=True):
            self._frame.cells[parameter.name] = VariableCell(parameter.type, value)
        row, references = self._frame.row, self._callee.references
        if row is not None and references is not None:
            self._frame.cells |= row.cells(*references)
            if self._callee.table:
                self._frame.cells |= row.event_operators()
        return self._run_body(routine.body)

    def _run_body(self, body: n.StatementBlock) -> RowIterator:
        try:
            yield from self._block(body)
        except _UnhandledError as untrapped:
            problem = untrapped.problem
        else:
            return
        finally:
            self._dynamic.close()
        try:
            raise problem  # outside of the except block: else the error would have `untrapped` as its context
        finally:
            # The error refers to this frame. A local name for it would create a cycle that lasts until garbage
            # collection.
            del problem

    def _call_rows(self, callee: Callee, arguments: Sequence[object]) -> RowIterator:
        return self._caller.call_rows(callee, arguments, self._frame.from_query)

    # ---- blocks -------------------------------------------------------------------------------
    def _block(self, block: n.StatementBlock) -> Any:
        """Execute a block's statements and return how it ended."""
        outer, traps = self._frame.cells, len(self._handlers)
        if block.defines:
            self._frame.cells = dict(outer)
            for define in block.defines:
                self._define(define)
        # a handler for the code takes precedence over one for all codes
        handlers = sorted(block.handlers, key=lambda handler: bool(handler.codes))
        self._handlers += [(block, handler, self._frame.cells) for handler in handlers]
        try:
            at = 0
            while at < len(block.statements):
                end = yield from self._statement(block.statements[at])
                at += 1
                if isinstance(end, GotoExit) and end.label in block.labels:
                    at = block.labels[end.label]
                elif end is not None:
                    return None if isinstance(end, BlockExit) and end.block is block else end
            return None
        finally:
            del self._handlers[traps:]
            self._frame.cells = outer

    def _define(self, define: n.Define) -> None:
        t = self._registry.resolve_type(define.type)
        for name in define.names:
            if define.is_global:
                value = self._session.values.default(ColumnInfo(name, t, define.default))
                self._frame.cells[name] = self._caller.variables.define(name, t, value)
            else:
                self._frame.cells[name] = VariableCell(t)

    def _unit(self, block: n.StatementBlock) -> Any:
        """Execute BEGIN ... END. An error that it does not trap counts as the error of one statement."""
        traps, self._handlers = self._handlers, []
        try:
            return (yield from self._block(block))
        except _UnhandledError as untrapped:
            problem = untrapped.problem
        finally:
            self._handlers = traps
        try:
            raise problem
        finally:
            del problem  # as in `_run_body`

    def _statement(self, statement: n.SplStatement) -> Any:
        """Execute one statement. Its errors go to the handlers."""
        self._session.lock_owner.check_interrupt()
        kind = type(statement)
        self._found_no_row = False
        try:
            if kind in _GENERATORS:
                end = yield from _GENERATORS[kind](self, statement)
            else:
                end = _FUNCTIONS[kind](self, statement)
        except SqlError as problem:
            if problem.sqlcode == codes.INTERRUPTED:
                raise
            self._frame.sqlcode.value = problem.sqlcode
            return (yield from self._run_handler(problem))
        if kind in _SETS_SQLCODE:
            self._frame.sqlcode.value = codes.NO_ROW if self._found_no_row else 0
        return end

    def _run_handler(self, problem: SqlError) -> Any:
        if self._caller.trigger_depth:  # ON EXCEPTION has no effect inside triggers
            raise _UnhandledError(problem)
        for index in range(len(self._handlers) - 1, -1, -1):
            block, handler, cells = self._handlers[index]
            if handler.codes and problem.sqlcode not in handler.codes:
                continue
            first = next(i for i, trap in enumerate(self._handlers) if trap[0] is block)
            traps, self._handlers = self._handlers, self._handlers[:first]
            inner, self._frame.cells = self._frame.cells, cells
            try:
                error_values = (problem.sqlcode, problem.isamcode, problem.near)
                for name, value in zip(handler.into, error_values, strict=False):
                    self._evaluation.assign(name, value)
                end = yield from self._block(handler.body)
            except SqlError as again:
                raise _UnhandledError(again) from again
            finally:
                self._handlers, self._frame.cells = traps, inner
            if end is not None:
                return end
            return None if handler.resume else BlockExit(block)
        raise _UnhandledError(problem)

    # ---- statements ---------------------------------------------------------------------------
    def _let(self, statement: n.Let) -> None:
        types = [self._frame.cell(name).type for name in statement.targets]
        found = self._evaluation.cached_plan(
            statement, lambda compiler: self._plan_let(compiler, statement, types)
        )
        if isinstance(found, CompiledExpressions):
            self._evaluation.assign_stored(statement.targets, self._evaluation.evaluate(found))
        elif isinstance(found, CompiledQuery):
            rows = self._evaluation.fetch(found, 2)
            if len(rows) > 1:
                raise SqlError(codes.MANY_ROWS)
            self._evaluation.assign_stored(statement.targets, rows[0] if rows else (None,) * len(types))
        else:
            values = self._evaluation.call_values(found)
            self._evaluation.assign_converted(found.callee, statement.targets, values)

    def _plan_let(
        self, compiler: SqlCompiler, statement: n.Let, types: list[ColumnType]
    ) -> CompiledExpressions | CompiledQuery | CompiledArguments:
        items = parse_list(self._session.sql_reader, statement.values.sql)
        if len(items) == 1:
            called = compiler.routine_call(items[0])
            if called is not None:
                return compiler.compile_arguments(routine_name(called), list(called.expressions))[1]
            if len(types) > 1:
                text = statement.values.sql.strip()
                if text.startswith("(") and text.endswith(")"):
                    return compiler.compile_query(n.SqlText(text[1:-1], statement.values.start + 1), types)
        return compiler.compile_list(statement.values, types)

    def _if(self, statement: n.If) -> Any:
        return self._first_true(statement.arms, statement.otherwise)

    def _case(self, statement: n.Case) -> Any:
        operand = statement.operand
        if operand is None:
            return self._first_true(statement.arms, statement.otherwise)
        equality = self._evaluation.equality_text
        arms = ((equality(operand, value), block) for value, block in statement.arms)
        return self._first_true(arms, statement.otherwise)

    def _first_true(
        self, arms: Iterable[tuple[n.SqlText, n.StatementBlock]], otherwise: n.StatementBlock | None
    ) -> Any:
        """Run the block of the first condition that is true, or the block of ELSE."""
        for condition, block in arms:
            if self._evaluation.is_true(condition):
                return (yield from self._block(block))
        return None if otherwise is None else (yield from self._block(otherwise))

    def _select(self, statement: n.SelectInto) -> None:
        query = self._evaluation.cached_plan(
            statement, lambda compiler: self._evaluation.plan_query(compiler, statement)
        )
        rows = self._evaluation.fetch(query, 2)
        if len(rows) > 1:
            raise SqlError(codes.MANY_ROWS)
        self._session.values.sqlerrd2 = len(rows)
        self._found_no_row = not rows
        self._evaluation.assign_stored(statement.into, rows[0] if rows else (None,) * len(statement.into))

    def _return(self, statement: n.Return) -> Any:
        returns = self._callee.returns
        if statement.values is not None:
            if not returns:
                raise SqlError(codes.RETURNS_NOTHING)
            yield self._returned(statement, [t for _, t in returns])
        elif returns and statement.resume:
            raise SqlError(codes.WRONG_RETURN)
        return None if statement.resume else ROUTINE_EXIT

    def _returned(self, statement: n.Return, types: list[ColumnType]) -> StoredValues:
        text = statement.values
        assert text is not None

        def plan(compiler: SqlCompiler) -> CompiledExpressions | CompiledArguments:
            items = parse_list(self._session.sql_reader, text.sql)
            called = compiler.routine_call(items[0]) if len(items) == 1 else None
            if called is not None:
                return compiler.compile_arguments(routine_name(called), list(called.expressions))[1]
            if len(items) != len(types):
                raise SqlError(codes.WRONG_RETURN)
            return compiler.compile_expressions(items, types)

        found = self._evaluation.cached_plan(text, plan)
        if isinstance(found, CompiledExpressions):
            return self._evaluation.evaluate(found)
        values = self._evaluation.call_values(found)
        sources = [t for _, t in found.callee.returns]
        if len(sources) != len(types):
            raise SqlError(codes.WRONG_RETURN)
        return tuple(map(self._conversions.convert, values, sources, types))

    def _raise(self, statement: n.Raise) -> None:
        integer, text = ColumnType.integer(), ColumnType.lvarchar(2048)
        targets = (integer, integer, text)
        count = len(parse_list(self._session.sql_reader, statement.values.sql))
        if not 1 <= count <= len(targets):
            raise SqlError(-201, 0, 1)
        code, isam, near = (*self._evaluation.evaluate_list(statement.values, targets[:count]), None, None)[
            :3
        ]
        raise SqlError(int(str(code or 0)), int(str(isam or 0)), 0, str(near or "").rstrip(" "))

    def _call(self, statement: n.CallStatement) -> None:
        arguments = self._evaluation.cached_plan(
            statement, lambda compiler: compiler.compile_call(statement)[1]
        )
        callee = arguments.callee
        argument_values = self._evaluation.argument_values(arguments)
        row = self._trigger_row_for(statement, callee)
        if statement.into:
            self._evaluation.assign_converted(
                callee,
                statement.into,
                self._session.transaction.run_nested(
                    lambda: self._caller.call_single_row(callee, argument_values, self._frame.from_query, row)
                ),
            )
        else:
            self._session.transaction.run_nested(
                lambda: self._run_discarding_rows(statement, arguments, argument_values)
            )

    def _run_discarding_rows(
        self, statement: n.CallStatement, arguments: CompiledArguments, argument_values: Sequence[object]
    ) -> None:
        """Execute a call and discard its rows."""
        at_end = self._out_assigner(statement, arguments)
        row = self._trigger_row_for(statement, arguments.callee)
        for _ in self._caller.call_rows(
            arguments.callee, argument_values, self._frame.from_query, at_end, row
        ):
            pass

    def _trigger_row_for(self, statement: n.CallStatement, callee: Callee) -> TriggerRow | None:
        """Return the row for a trigger routine called WITH TRIGGER REFERENCES.

        Raises -201 if there is no such row, or if the routine is not for triggers of this table.
        """
        row = self._frame.row
        if not statement.references:
            return None
        if row is None or callee.table != row.table:
            raise SqlError(-201, 0, 1, callee.name, "The trigger routine is not for this trigger's table.")
        return row

    def _out_assigner(
        self, statement: n.CallStatement, arguments: CompiledArguments
    ) -> Callable[[CallFrame], None] | None:
        """Return a function that assigns the values of OUT and INOUT arguments at the end of the call."""
        callee = arguments.callee
        if not any(p.mode for p in callee.parameters):
            return None
        items = parse_list(self._session.sql_reader, statement.arguments.sql)
        names = [(item.expression if isinstance(item, exp.EQ) else item).name.lower() for item in items]

        def assign_outputs(frame: CallFrame) -> None:
            for name, position in zip(names, arguments.parameter_positions, strict=True):
                parameter = callee.parameters[position]
                if parameter.mode:
                    cell = self._frame.cell(name)
                    value = frame.value(parameter.name)
                    cell.value = self._conversions.convert(value, parameter.type, cell.type)

        return assign_outputs

    def _immediate(self, statement: n.ExecuteImmediate) -> None:
        (text,) = self._evaluation.evaluate_list(statement.statement, [ColumnType.lvarchar(32739)])
        sql = str(text or "")
        word = sql.split(None, 1)[0].upper() if sql.split() else ""
        if word in ("SELECT", "EXECUTE", "CALL"):
            raise not_supported(f"EXECUTE IMMEDIATE of {word}")
        self._run_sql(word, n.SqlText(sql), keep=False)

    # ---- dynamic SQL ----------------------------------------------------------------------------
    def _prepare(self, statement: n.Prepare) -> None:
        self._dynamic.prepare(statement)

    def _declare(self, statement: n.Declare) -> None:
        self._caller.cursors.add(self._dynamic.declare(statement))

    def _open(self, statement: n.Open) -> None:
        self._dynamic.open(statement)

    def _fetch(self, statement: n.Fetch) -> None:
        self._found_no_row = not self._dynamic.fetch(statement)

    def _release(self, statement: n.Release) -> None:
        self._dynamic.release(statement)

    def _sql(self, statement: n.SqlStatement) -> None:
        self._run_sql(statement.verb, statement.text)

    def _run_sql(self, verb: str, text: n.SqlText, *, keep: bool = True) -> None:
        parts = self._session
        if self._frame.from_query and verb not in _READ_ONLY_STATEMENTS:
            raise SqlError(codes.ILLEGAL_STATEMENT, 0, 0, verb.lower())
        if verb in _DATA_CHANGES or verb == "SELECT":
            types = self._frame.types() if keep else {}

            def change() -> CompiledChange:
                if keep:
                    return self._evaluation.cached_plan(text, lambda reader: reader.compile_change(text))
                return self._evaluation.compiler(types).compile_change(text)

            parts.transaction.run_nested(lambda: change().run(parts, self._frame.value))
            return
        plan = parts.planner.plan(text.sql)
        if not isinstance(plan, UtilityPlan):
            raise SqlError(codes.ILLEGAL_STATEMENT, 0, 0, verb.lower())
        found = plan.statement
        if isinstance(found, ControlStatement) and found.verb in ("begin", "commit", "rollback"):
            if self._caller.trigger_depth:
                raise SqlError(codes.ILLEGAL_IN_TRIGGER, 0, 0, verb.lower())
            parts.transaction.run_control(found.verb)
            if found.verb != "begin":
                self._caller.close_cursors()
        elif isinstance(found, ControlStatement) and found.verb not in (
            "accept",
            "constraints",
            "role",
            "lock mode",
            "isolation",
            "transaction",
            "retain update locks",
            "lock table",
            "unlock table",
        ):
            raise SqlError(codes.ILLEGAL_STATEMENT, 0, 0, verb.lower())
        else:
            parts.transaction.run_nested(lambda: parts.run_plan(plan, ()))

    # ---- loops ----------------------------------------------------------------------------------
    def _loop(self, body: n.StatementBlock, kind: str) -> Any:
        """Execute one iteration of a loop. Return whether it is the last, and how the loop ended."""
        end = yield from self._block(body)
        if isinstance(end, LoopExit) and (end.label == body.label if end.label else end.kind in ("", kind)):
            return end.verb == "EXIT", None
        return end is not None, end

    def _while(self, statement: n.While) -> Any:
        while statement.condition is None or self._evaluation.is_true(statement.condition):
            self._session.lock_owner.check_interrupt()
            last, end = yield from self._loop(statement.body, statement.kind)
            if last:
                return end
        return None

    def _for(self, statement: n.For) -> Any:
        cell = self._frame.cell(statement.variable)
        is_integer = cell.type.code in (TypeCode.INTEGER, TypeCode.SMALLINT, TypeCode.BIGINT, TypeCode.INT8)
        ranges: list[Sequence[object]] = []  # all are evaluated before the first iteration
        for part in statement.ranges:
            if part.stop is None:
                ranges.append(self._evaluation.evaluate_list(part.start, [cell.type]))
            elif not is_integer:
                raise SqlError(codes.LOOP_TYPE, 0, 0, statement.variable)
            else:
                ranges.append(self._range(part, cell.type))
        for value in itertools.chain.from_iterable(ranges):
            self._session.lock_owner.check_interrupt()
            cell.value = value
            last, end = yield from self._loop(statement.body, "FOR")
            if last:
                return end
        return None

    def _range(self, part: n.Range, t: ColumnType) -> range:
        """Return the values of a FOR range. Raises -697 for a step of 0, -683 for a step with the wrong sign."""
        assert part.stop is not None
        (start,), (stop,) = (
            self._evaluation.evaluate_list(part.start, [t]),
            self._evaluation.evaluate_list(part.stop, [t]),
        )
        if not isinstance(start, int) or not isinstance(stop, int):
            return range(0)  # a bound is NULL
        step = 1 if start <= stop else -1
        if part.step is not None:
            (step_value,) = self._evaluation.evaluate_list(part.step, [t])
            if not step_value:
                raise SqlError(codes.ZERO_STEP)
            assert isinstance(step_value, int)
            if start != stop and (step_value > 0) != (stop > start):
                raise SqlError(codes.NO_RANGE)
            step = step_value
        return range(start, stop + (1 if step > 0 else -1), step)

    def _foreach(self, statement: n.Foreach) -> Any:
        source = statement.source
        if isinstance(source, n.CallStatement):
            arguments = self._evaluation.cached_plan(
                source, lambda compiler: compiler.compile_call(source)[1]
            )
            callee = arguments.callee
            results = self._call_rows(callee, self._evaluation.argument_values(arguments))
            assign_result = partial(self._evaluation.assign_converted, callee, source.into)
            return (yield from self._loop_over_rows(statement.body, results, assign_result))
        query = self._evaluation.cached_plan(
            source, lambda compiler: self._evaluation.plan_query(compiler, source, statement.body)
        )
        position, columns = None, len(source.into)
        if query.positioned_table is not None:
            position = self._session.cursors[source.cursor] = LoopCursor(query.positioned_table)

        def assign(row: Sequence[object]) -> None:
            self._evaluation.assign_stored(source.into, row[:columns])
            if position is not None:
                position.current = tuple(row[columns:])

        with self._evaluation.spool_rows(query) as rows:
            return (yield from self._loop_over_rows(statement.body, rows, assign))

    def _loop_over_rows(
        self,
        body: n.StatementBlock,
        rows: Iterable[Sequence[object]],
        assign: Callable[[Sequence[object]], None],
    ) -> Any:
        """Run the body of a FOREACH for each row, whose values `assign` assigns."""
        count = 0
        for row in rows:
            count += 1
            assign(row)
            self._session.lock_owner.check_interrupt()
            last, end = yield from self._loop(body, "FOREACH")
            if last:
                return end
        self._session.values.sqlerrd2 = count
        return None

    def _leave(self, statement: n.LoopControl) -> LoopExit | None:
        if statement.when is not None and not self._evaluation.is_true(statement.when):
            return None
        return LoopExit(statement.verb, statement.kind, statement.label)

    def _goto(self, statement: n.Goto) -> GotoExit:
        return GotoExit(statement.label)


_GENERATORS: dict[type[Any], Callable[[Interpreter, Any], Any]] = {
    n.StatementBlock: Interpreter._unit,
    n.If: Interpreter._if,
    n.Case: Interpreter._case,
    n.For: Interpreter._for,
    n.While: Interpreter._while,
    n.Foreach: Interpreter._foreach,
    n.Return: Interpreter._return,
}
"""Statements that may yield rows."""

_FUNCTIONS: dict[type[Any], Callable[[Interpreter, Any], LoopExit | GotoExit | None]] = {
    n.Let: Interpreter._let,
    n.LoopControl: Interpreter._leave,
    n.Goto: Interpreter._goto,
    n.Raise: Interpreter._raise,
    n.CallStatement: Interpreter._call,
    n.SelectInto: Interpreter._select,
    n.ExecuteImmediate: Interpreter._immediate,
    n.Prepare: Interpreter._prepare,
    n.Declare: Interpreter._declare,
    n.Open: Interpreter._open,
    n.Fetch: Interpreter._fetch,
    n.Release: Interpreter._release,
    n.SqlStatement: Interpreter._sql,
}
"""All others."""

_SETS_SQLCODE = frozenset(
    {
        n.CallStatement, n.SelectInto, n.ExecuteImmediate, n.Prepare, n.Declare, n.Open, n.Fetch, n.Release,
        n.SqlStatement,
    }
)  # fmt: skip
"""Statements that set SQLCODE."""


@dataclass(eq=False, repr=False)
class RoutineCaller:
    """Calls the routines of one session. Nested calls also use it.

    Attributes
    ----------
    trigger_depth
        Number of triggers whose actions are running, nested in each other.
    cursors
        Cursors that routines have declared.
    """

    session: SessionServices
    registry: RoutineRegistry
    conversions: ResultConversions
    variables: GlobalVariables
    trigger_depth: int = field(default=0, init=False)
    cursors: WeakSet[RoutineCursor] = field(default_factory=WeakSet, init=False)
    _depth: int = field(default=0, init=False)  # current depth of nested calls

    def close_cursors(self) -> None:
        """Close cursors without HOLD at the end of a transaction."""
        for cursor in self.cursors:
            if not cursor.with_hold:
                cursor.close()

    def run_trigger_actions(self, callee: Callee, row: TriggerRow | None) -> None:
        """Execute actions of a trigger."""
        self.trigger_depth += 1
        try:
            for _ in self.call_rows(callee, (), from_query=False, row=row):
                pass
        finally:
            self.trigger_depth -= 1

    def call_single_row(
        self,
        callee: Callee,
        arguments: Sequence[object],
        from_query: bool,
        row: TriggerRow | None = None,
        at_end: Callable[[CallFrame], None] | None = None,
    ) -> StoredValues:
        """Return the only row of a call. It consists of NULLs if there is none. Raises -686 if there are several.

        `row` and `at_end` have the meaning of `call_rows`.
        """
        rows = self.call_rows(callee, arguments, from_query, at_end, row)
        first = next(rows, None)
        if first is None:
            return (None,) * len(callee.returns)
        if next(rows, None) is not None:
            raise SqlError(codes.MORE_ROWS, 0, 0, callee.name)
        return first

    def call_rows(
        self,
        callee: Callee,
        arguments: Sequence[object],
        from_query: bool,
        at_end: Callable[[CallFrame], None] | None = None,
        row: TriggerRow | None = None,
    ) -> RowIterator:
        """Yield the rows of a call, in the storage form of the routine's return types.

        `at_end` is called with its variables at the end. `row` is the row of a trigger. Raises -201 for a trigger
        routine without one.
        """
        if callee.table and row is None:
            raise SqlError(
                -201, 0, 1, callee.name, "A trigger routine must be called WITH TRIGGER REFERENCES."
            )
        if self._depth >= MAX_DEPTH:
            raise SqlError(codes.OUT_OF_STACK, 0, 0, callee.name)
        if callee.routine is None:
            yield from run_python(callee, arguments, self.session.environment, self.session.lock_owner)
            return
        interpreter = Interpreter(self, callee, from_query, row)
        rows = interpreter.rows(arguments)
        rights = self.session.privileges
        while True:
            self._depth += 1  # while it runs, not while its caller does
            try:
                with (
                    in_database(self.session, callee.database),
                    rights.as_routine_owner(callee.owner, dba=callee.routine.dba),
                ):
                    results = _next_row(rows, on_new_stack=self._depth % _CALLS_PER_STACK == 0)
            except RecursionError as problem:
                raise SqlError(codes.OUT_OF_STACK, 0, 0, callee.name) from problem
            except SqlError as problem:
                if self._depth > 1 or can_be_sent(problem):
                    raise
                near = f"{problem.sqlcode}, {problem.isamcode}: {problem.near}"
                raise SqlError(codes.RAISED, 0, 0, near) from problem
            finally:
                self._depth -= 1
            if results is None:
                break
            yield results
        if at_end is not None:
            at_end(interpreter.frame)


def _next_row(rows: RowIterator, *, on_new_stack: bool) -> StoredValues | None:
    """Return the next row of a call, on a new thread if Python's stack has no room for nested calls."""
    if not on_new_stack:
        return next(rows, None)
    found: list[StoredValues | None] = []
    problems: list[BaseException] = []

    def run() -> None:
        try:
            found.append(next(rows, None))
        except BaseException as problem:  # noqa: BLE001 - raised again in the waiting thread
            problems.append(problem)

    thread = threading.Thread(target=run, name="routine", daemon=True)
    thread.start()
    thread.join()
    for problem in problems:
        raise problem
    return found[0]
