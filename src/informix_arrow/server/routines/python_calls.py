"""Execution of routines written in Python, which the tester registers."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from ...wire.types import ColumnType
from ..errors import SqlError
from ..parse.spl import codes
from ..session.environment import SessionEnvironment
from ..session.lock_owner import LockOwner
from ..types.intervals import DAY, qualifier_of
from ..types.packed_decimal import to_decimal_text
from ..types.result_types import is_floating_decimal
from .registry import Callee

log = logging.getLogger("informix_arrow.server")


def run_python(
    callee: Callee, arguments: Sequence[object], environment: SessionEnvironment, owner: LockOwner
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a call.

    The callable returns one value, a tuple with the values of one row, or an iterator of rows. None from a routine
    without return values is no row. A SqlError is passed on. Any other exception is logged and raises -746.
    """
    function = callee.function
    assert function is not None
    python_arguments = [
        python_value(value, p.type) for value, p in zip(arguments, callee.parameters, strict=True)
    ]
    try:
        result = function(*python_arguments)
        if not callee.returns:
            return
        if isinstance(result, Iterator):
            for row in result:
                owner.check_interrupt()
                yield _row(environment, callee, row)
        else:
            yield _row(environment, callee, result)
    except SqlError:
        raise
    except Exception as problem:
        log.exception("The registered routine %s failed.", callee.name)
        raise SqlError(codes.RAISED, 0, 0, f"{callee.name}: {problem}") from problem


def _row(environment: SessionEnvironment, callee: Callee, row: object) -> tuple[object, ...]:
    types = [t for _, t in callee.returns]
    if isinstance(row, Mapping):
        row = tuple(row.values())
    values = tuple(row) if isinstance(row, (tuple, list)) and len(types) > 1 else (row,)
    if len(values) != len(types):
        raise SqlError(
            codes.TOO_MANY_VALUES if len(values) > len(types) else codes.TOO_FEW_VALUES, 0, 0, callee.name
        )
    return tuple(environment.converter(t).convert(value) for value, t in zip(values, types, strict=True))


def python_value(value: object, t: ColumnType) -> object:
    """Convert a value from storage form to int, float, Decimal, str, bool, date, datetime, time, bytes or timedelta.

    An INTERVAL of months becomes the number of months.
    """
    if value is None:
        return None
    if is_floating_decimal(t):
        return Decimal(to_decimal_text(str(value)))
    if t.code == 14 and isinstance(value, int) and not qualifier_of(t).is_year_month:
        return dt.timedelta(microseconds=value * 86_400_000_000 // DAY)
    return value
