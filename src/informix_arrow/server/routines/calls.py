"""EXECUTE FUNCTION, EXECUTE PROCEDURE and CALL as statements of a client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ...wire.describe import Column, StatementType
from ..errors import ISAM_LOCK_TIMEOUT, SqlError, is_conflict
from ..parse.spl import codes
from ..parse.spl.nodes import ExecuteRoutine
from ..plan.nodes.calls import is_builtin
from ..plan.planner import Planner
from ..plan.plans import BindRequirements, CallPlan, SelectPlan
from ..session.prepared_plan import QueryResult, StatementOutcome
from ..session.session_services import SessionServices
from ..session.spool import BatchSpool
from ..session.streamed_result import batch_rows, spooled_result
from ..types.conversions import arrow_storage
from ..types.result_types import is_floating_decimal
from .interpreter import RoutineCaller
from .registry import Callee, RoutineRegistry
from .sql_compiler import CompiledArguments, SqlCompiler


@dataclass(slots=True)
class RoutineCallPlan(CallPlan):
    """The plan of a call: the routine and its arguments."""

    callee: Callee
    arguments: CompiledArguments


def _output_modes(argument: exp.Expression) -> tuple[str, ...]:
    """Return the modes of parameters whose final values the caller receives through this argument."""
    if isinstance(argument, exp.EQ):  # a named argument
        argument = argument.expression
    return ("OUT", "INOUT") if isinstance(argument, exp.Placeholder) else ("OUT",)


class ClientRoutineCalls:
    """Plans and executes the calls of one session's client."""

    def __init__(self, parts: SessionServices, registry: RoutineRegistry, caller: RoutineCaller) -> None:
        self._session = parts
        self._registry = registry
        self._caller = caller

    def plan(self, statement: ExecuteRoutine) -> tuple[int, CallPlan | SelectPlan]:
        """Return statement type and plan. Raises -674 for a routine that does not exist."""
        # blanks replace the text before the arguments, so that positions refer to the client's text
        tree = self._session.sql_reader.parse(
            "SELECT".ljust(statement.start) + (statement.arguments if statement.arguments.strip() else "1")
        )
        name = statement.name
        if not self._registry.find_by_name(name, statement.database) and is_builtin(name):
            tree.set("expressions", [exp.Anonymous(this=str(name), expressions=tree.expressions)])
            found = Planner(self._session.planner.context(), self._session.planner.describe).select(tree)
            return StatementType.EXECUTE_PROCEDURE, found
        items = list(tree.expressions) if statement.arguments.strip() else []
        places = sum(1 for _ in tree.find_all(exp.Placeholder))
        callee, arguments = SqlCompiler(self._session, self._registry, {}, places).compile_arguments(
            name, items, statement.database
        )
        if any(
            callee.parameters[i].mode in _output_modes(item)
            for i, item in zip(arguments.parameter_positions, items, strict=True)
        ):
            # a client that knows the code uses this number to make the call by the fast path
            raise SqlError(
                codes.BY_FAST_PATH,
                near=f"{callee.database}:{callee.procid}:",
                detail="OUT parameters are not possible here.",
            )
        columns = tuple(Column(name, t) for name, t in callee.returns)
        known = arguments.parameters()
        if len(known) < places:
            raise SqlError(-201, 0, 1, "", "The routine has no parameter of this name.")
        return (
            StatementType.EXECUTE_PROCEDURE,
            RoutineCallPlan(
                columns, BindRequirements([known[number] for number in range(places)]), callee, arguments
            ),
        )

    def _call_rows(self, plan: CallPlan, params: Sequence[object]) -> Iterator[tuple[object, ...]]:
        """Execute a call inside `SessionTransaction.write`."""
        assert isinstance(plan, RoutineCallPlan)
        ends_before = self._session.transaction.nested_end_count

        def nothing(name: str) -> object:
            raise SqlError(codes.NOT_DECLARED, 0, 0, name)

        def invoke(callee: Callee, arguments: Sequence[object]) -> tuple[object, ...]:
            return self._caller.call_single_row(callee, arguments, from_query=False)

        try:
            argument_values = plan.arguments.evaluate(self._session, nothing, invoke, params)
            yield from self._caller.call_rows(plan.callee, argument_values, from_query=False)
        except SqlError as problem:
            # if a part is already committed, the transaction must not start again
            if self._session.transaction.nested_end_count != ends_before and is_conflict(problem):
                raise SqlError(
                    problem.sqlcode, ISAM_LOCK_TIMEOUT, 0, problem.near, problem.detail
                ) from problem
            raise

    def execute(self, plan: CallPlan, params: Sequence[object]) -> StatementOutcome:
        """Execute a call that returns nothing."""
        for _ in self._call_rows(plan, params):
            pass
        return StatementOutcome()

    def query(self, plan: CallPlan, params: Sequence[object]) -> QueryResult:
        """Execute a call to its end and return its rows."""
        types = [column.type for column in plan.columns]
        storage = [arrow_storage(t) for t in types]
        spool, max_rows = BatchSpool(directory=self._session.executor.temporary), batch_rows(plan.columns)
        rows: list[tuple[object, ...]] = []
        schema = pa.schema([(f"c{i}", t) for i, t in enumerate(storage)])

        def flush() -> None:
            columns = zip(*rows, strict=True) if rows else ([] for _ in storage)
            spool.append(
                pa.record_batch(
                    [pa.array(list(c), t) for c, t in zip(columns, storage, strict=True)], schema=schema
                )
            )
            rows.clear()

        for row in self._call_rows(plan, params):
            rows.append(row)
            if len(rows) == max_rows:
                flush()
        flush()
        packed = tuple(is_floating_decimal(t) for t in types)
        self._session.values.sqlerrd2 = spool.rows
        return spooled_result(plan.columns, spool, self._session.environment.codec, packed)
