"""Calls of routines by a handle, without SQL (SQLI section 16). Arguments and results are Python values."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import SqlError
from ..parse.spl import codes
from ..session.routine_protocols import RoutineCallResult, RoutineReference
from ..session.session_services import SessionServices
from .frames import CallFrame
from .interpreter import RoutineCaller
from .python_calls import python_value
from .registry import Callee, RoutineRegistry

_WRONG_ARGUMENTS = -664


def find_routine(registry: RoutineRegistry, reference: RoutineReference) -> Callee:
    """Return the routine of a handle. Raises -674 if there is none, or if a bare name has several."""
    if reference.number:
        callee = registry.find_by_number(reference.name, reference.number)
        registry.require_execute(callee)
        return callee
    if reference.types is not None:
        return registry.resolve_overload(reference.name, reference.types)
    found = registry.find_by_name(reference.name)
    if len(found) != 1:
        raise SqlError(codes.NO_ROUTINE, 0, 0, reference.name)
    registry.require_execute(found[0])
    return found[0]


def call_routine(
    parts: SessionServices, callee: Callee, caller: RoutineCaller, arguments: Sequence[object]
) -> RoutineCallResult:
    """Call a routine that returns at most one row. Raises -664 for a wrong number of arguments, -686 for several
    rows."""
    parameters = callee.parameters
    if len(arguments) > len(parameters) or any(p.default is None for p in parameters[len(arguments) :]):
        raise SqlError(_WRONG_ARGUMENTS, 0, 0, callee.name)
    argument_values = [
        None if p.mode == "OUT" else parts.environment.converter(p.type).convert(value)
        for p, value in zip(parameters, arguments, strict=False)
    ]
    argument_values += [parts.values.default(p.as_column) for p in parameters[len(arguments) :]]
    outs = [p for p in parameters[: len(arguments)] if p.mode]

    def called() -> tuple[Sequence[object], Sequence[object]]:
        out_values: list[object] = []

        def read_outputs(frame: CallFrame) -> None:
            out_values.extend(frame.value(p.name) for p in outs)

        row = caller.call_single_row(callee, argument_values, from_query=False, at_end=read_outputs)
        return row, out_values

    returned, left = parts.transaction.write(called)
    return RoutineCallResult(
        tuple((p.type, bool(p.mode)) for p in parameters[: len(arguments)]),
        tuple((p.type, python_value(value, p.type)) for p, value in zip(outs, left, strict=True)),
        tuple((t, python_value(value, t)) for (_, t), value in zip(callee.returns, returned, strict=True)),
    )
