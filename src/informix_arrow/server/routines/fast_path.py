"""Routines called by a handle, without SQL (SQLI section 16): arguments and results as Python values."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine.calling import RoutineAnswer, UserRoutine
from ..engine.parts import SessionParts
from ..errors import SqlError
from ..grammar.spl import codes
from .frames import Frame
from .interpreter import Caller
from .python_calls import python_value
from .registry import Callee, Registry

_WRONG_ARGUMENTS = -664


def find_routine(registry: Registry, wanted: UserRoutine) -> Callee:
    """The routine that is there now. -674 for none, and for a bare name that several have."""
    if wanted.number:
        callee = registry.numbered(wanted.name, wanted.number)
        registry.require_execute(callee)
        return callee
    if wanted.types is not None:
        return registry.choose(wanted.name, wanted.types)
    found = registry.named(wanted.name)
    if len(found) != 1:
        raise SqlError(codes.NO_ROUTINE, 0, 0, wanted.name)
    registry.require_execute(found[0])
    return found[0]


def call_routine(
    parts: SessionParts, callee: Callee, caller: Caller, arguments: Sequence[object]
) -> RoutineAnswer:
    """Call a routine that returns at most one row. -664 for a wrong number of arguments, -686 for several rows."""
    parameters = callee.parameters
    if len(arguments) > len(parameters) or any(p.default is None for p in parameters[len(arguments) :]):
        raise SqlError(_WRONG_ARGUMENTS, 0, 0, callee.name)
    given = [
        None if p.mode == "OUT" else parts.environment.converter(p.type).one(value)
        for p, value in zip(parameters, arguments, strict=False)
    ]
    given += [parts.values.default(p.declared) for p in parameters[len(arguments) :]]
    outs = [p for p in parameters[: len(arguments)] if p.mode]

    def called() -> tuple[Sequence[object], Sequence[object]]:
        left: list[object] = []

        def over(frame: Frame) -> None:
            left.extend(frame.value(p.name) for p in outs)

        return caller.one(callee, given, from_query=False, over=over), left

    returned, left = parts.transaction.write(called)
    return RoutineAnswer(
        tuple((p.type, bool(p.mode)) for p in parameters[: len(arguments)]),
        tuple((p.type, python_value(value, p.type)) for p, value in zip(outs, left, strict=True)),
        tuple((t, python_value(value, t)) for (_, t), value in zip(callee.returns, returned, strict=True)),
    )
