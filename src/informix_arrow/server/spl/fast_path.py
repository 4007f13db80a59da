"""Routines called by a handle, without SQL (SQLI section 16): arguments and results as Python values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...wire.types import ColumnType
from ..errors import SqlError
from . import codes
from .interpreter import call
from .python_calls import python_value
from .registry import Callee
from .runner import one_row

if TYPE_CHECKING:
    from ..engine_session import EngineSession

_WRONG_ARGUMENTS = -664


@dataclass(frozen=True, slots=True)
class UserRoutine:
    """What a signature names: `types` are those of its arguments (None: not known), None when it gives none."""

    name: str
    types: tuple[ColumnType | None, ...] | None


def find_routine(session: EngineSession, wanted: UserRoutine) -> Callee:
    """The routine that is there now. -674 for none, and for a bare name that several have."""
    session.require_database()
    if wanted.types is not None:
        return session.routines.choose(wanted.name, wanted.types)
    found = session.routines.named(wanted.name)
    if len(found) != 1:
        raise SqlError(codes.NO_ROUTINE, 0, 0, wanted.name)
    return found[0]


def call_routine(
    session: EngineSession, wanted: UserRoutine, arguments: Sequence[object]
) -> list[tuple[ColumnType, object]]:
    """Call a routine that returns at most one row; its values with their types. -664 for a wrong number of arguments,
    -686 for several rows."""
    session.start_statement()
    session.begin_implicitly()
    callee = find_routine(session, wanted)
    parameters = callee.parameters
    if len(arguments) > len(parameters) or any(p.default is None for p in parameters[len(arguments) :]):
        raise SqlError(_WRONG_ARGUMENTS, 0, 0, wanted.name)
    given = [session.converter(p.type).one(value) for p, value in zip(parameters, arguments, strict=False)]
    given += [session.routines.default(p) for p in parameters[len(arguments) :]]
    values = session.write(lambda: one_row(callee, call(session, callee, given, from_query=False)))
    return [(t, python_value(value, t)) for (_, t), value in zip(callee.returns, values, strict=True)]
