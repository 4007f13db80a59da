"""Build the check of a prepared statement's parameters from their types on the server."""

from __future__ import annotations

from collections.abc import Sequence

from ..wire.assignment import Inexact, assigner
from ..wire.describe import Column
from ..wire.errors import ProtocolError
from ..wire.types import ColumnType, described_qualifier
from .io_steps import Exchange
from .lob_parameters import ask_targets
from .placeholder_targets import Check, assigned_placeholders
from .session import Session
from .statement_cache import PreparedStatement

_EXACT_FLOAT_INT = 1 << 24  # an int below it fits every number type exactly, or the server rejects it


def parameter_check(
    session: Session,
    prepared: PreparedStatement,
    count: int,
    values: Sequence[object] | None,
    inexact: Inexact,
) -> Exchange[Check | None]:
    """Return the check of a statement's parameters, or None if there is nothing to check.

    The types are requested from the server only if its description lacks them, and not if ``values`` fit every
    type. Raises ``ProtocolError`` for an impossible type.
    """
    assigned = assigned_placeholders(prepared.text)
    if not assigned.numbers or assigned.numbers[-1] >= count:
        return None
    cached = prepared.checks.get(inexact)
    if cached is not None:
        return cached
    described: tuple[Column, ...] = prepared.describe.columns
    targets: list[ColumnType | None] = [None] * count
    names = [""] * count
    if assigned.columns and len(described) == assigned.described:
        for number, column in zip(assigned.numbers, assigned.columns, strict=True):
            targets[number], names[number] = described[column].type, described[column].name
    else:
        if values is not None and all(_fits_any_type(values[number]) for number in assigned.numbers):
            return None
        if prepared.targets is None:
            prepared.targets = yield from ask_targets(session, prepared.statement_id, count)
        for number in assigned.numbers:
            targets[number] = prepared.targets[number]
    encoding = session.framing.encoding
    assigners = []
    for number, target in enumerate(targets):
        if target is None:
            continue
        try:
            described_qualifier(target)
            assign = assigner(target, inexact, encoding)
        except ValueError as e:  # an impossible decimal
            raise ProtocolError(f"Parameter {number + 1}: {e}") from None
        if assign is not None:
            assigners.append((number, assign))
    check = Check(tuple(targets), tuple(assigners), tuple(names))
    prepared.checks[inexact] = check
    return check


def _fits_any_type(value: object) -> bool:
    """Return whether every type keeps the value unchanged: NULL, and ints that even SMALLFLOAT holds."""
    return value is None or (type(value) is int and -_EXACT_FLOAT_INT < value < _EXACT_FLOAT_INT)
