"""Routines called by a handle, without SQL (SQLI section 16): arguments and results as Python values."""

from __future__ import annotations

from collections.abc import Sequence

from ...wire.types import ColumnType
from ..engine.calling import UserRoutine
from ..engine.parts import SessionParts
from ..errors import SqlError
from ..grammar.spl import codes
from .interpreter import Caller
from .python_calls import python_value
from .registry import Callee, Registry

_WRONG_ARGUMENTS = -664


def find_routine(registry: Registry, wanted: UserRoutine) -> Callee:
    """The routine that is there now. -674 for none, and for a bare name that several have."""
    if wanted.types is not None:
        return registry.choose(wanted.name, wanted.types)
    found = registry.named(wanted.name)
    if len(found) != 1:
        raise SqlError(codes.NO_ROUTINE, 0, 0, wanted.name)
    registry.require_execute(found[0])
    return found[0]


def call_routine(
    parts: SessionParts, callee: Callee, caller: Caller, arguments: Sequence[object]
) -> list[tuple[ColumnType, object]]:
    """Call a routine that returns at most one row; its values with their types. -664 for a wrong number of arguments,
    -686 for several rows."""
    parameters = callee.parameters
    if len(arguments) > len(parameters) or any(p.default is None for p in parameters[len(arguments) :]):
        raise SqlError(_WRONG_ARGUMENTS, 0, 0, callee.name)
    given = [
        parts.environment.converter(p.type).one(value)
        for p, value in zip(parameters, arguments, strict=False)
    ]
    given += [parts.values.default(p.declared) for p in parameters[len(arguments) :]]
    values = parts.transaction.write(lambda: caller.one(callee, given, from_query=False))
    return [(t, python_value(value, t)) for (_, t), value in zip(callee.returns, values, strict=True)]
