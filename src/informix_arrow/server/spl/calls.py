"""EXECUTE FUNCTION, EXECUTE PROCEDURE and CALL as statements of a client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ...wire.describe import Column, StatementType
from ..conversions import arrow_storage
from ..engine_types import Outcome, QueryResult
from ..errors import SqlError, is_conflict, not_supported
from ..result_cast import cast_table
from ..sql.functions import is_builtin
from ..sql.planner import Planner
from ..sql.plans import CallPlan, Needs, SelectPlan
from ..sql.result_types import is_floating_decimal
from . import codes
from .embedded import Reader
from .interpreter import call
from .nodes import ExecuteRoutine
from .registry import Callee
from .runner import one_row

if TYPE_CHECKING:
    from ..engine_session import EngineSession

_TOO_BUSY = -154
_BATCH = 65536


def plan_call(session: EngineSession, statement: ExecuteRoutine) -> tuple[int, CallPlan | SelectPlan]:
    """Statement type and plan. -674 for a routine that is not there."""
    session.routines.require_here(statement.database)
    # blanks in place of what stands before the arguments: positions stay those of the client's text
    tree = session.parse(
        "SELECT".ljust(statement.start) + (statement.arguments if statement.arguments.strip() else "1")
    )
    name = statement.name
    if not session.routines.named(name) and is_builtin(name):
        tree.set("expressions", [exp.Anonymous(this=name, expressions=tree.expressions)])
        found = Planner(session.context(), session.describe).select(tree)
        return StatementType.EXECUTE_PROCEDURE, found
    items = list(tree.expressions) if statement.arguments.strip() else []
    places = sum(1 for _ in tree.find_all(exp.Placeholder))
    callee, arguments = Reader(session, {}, places).arguments(name, items)
    if any(parameter.mode == "OUT" for parameter in callee.parameters):
        raise not_supported("OUT parameters in a call by a client")
    columns = tuple(Column(name, t) for name, t in callee.returns)
    known = arguments.parameters()
    if len(known) < places:
        raise SqlError(-201, 0, 1, "", "a parameter that is no argument")
    return (
        StatementType.EXECUTE_PROCEDURE,
        CallPlan(callee, arguments, columns, Needs([known[number] for number in range(places)])),
    )


def _rows(session: EngineSession, plan: CallPlan, params: Sequence[object]) -> Iterator[tuple[object, ...]]:
    """Run a call inside `session.write`."""
    ended = session.ended_inside

    def nothing(name: str) -> object:
        raise SqlError(codes.NOT_DECLARED, 0, 0, name)

    def invoke(callee: Callee, arguments: Sequence[object]) -> tuple[object, ...]:
        return one_row(callee, call(session, callee, arguments, False))

    try:
        given = plan.arguments.values(session, nothing, invoke, params)
        yield from call(session, plan.callee, given, False)
    except SqlError as problem:
        if session.ended_inside != ended and is_conflict(problem):  # a part is committed: never begin again
            raise SqlError(problem.sqlcode, _TOO_BUSY, 0, problem.near, problem.detail) from problem
        raise


def execute(session: EngineSession, plan: CallPlan, params: Sequence[object]) -> Outcome:
    """Run a call that returns nothing."""
    for _ in _rows(session, plan, params):
        pass
    return Outcome()


def query(session: EngineSession, plan: CallPlan, params: Sequence[object]) -> QueryResult:
    """Run a call to its end; the rows that it returned."""
    types = [column.type for column in plan.columns]
    storage = [arrow_storage(t) for t in types]
    batches: list[pa.RecordBatch] = []
    gathered: list[tuple[object, ...]] = []
    schema = pa.schema([(f"c{i}", t) for i, t in enumerate(storage)])

    def settle() -> None:
        columns = zip(*gathered, strict=True) if gathered else ([] for _ in storage)
        batches.append(
            pa.record_batch(
                [pa.array(list(c), t) for c, t in zip(columns, storage, strict=True)], schema=schema
            )
        )
        gathered.clear()

    for row in _rows(session, plan, params):
        gathered.append(row)
        if len(gathered) == _BATCH:
            settle()
    settle()
    table = pa.Table.from_batches(batches, schema)
    packed = tuple(is_floating_decimal(t) for t in types)
    session.sqlerrd2 = table.num_rows
    return QueryResult(plan.columns, cast_table(table, plan.columns, session.codec, packed))
