"""Rows of Python values as Arrow columns, for the C encoder: what ``executemany`` sends.

A column whose values are all of one plain type, NULLs apart, is bound as :func:`~..wire.values.bind_value`
would bind them, only thousands at a time. A chunk with any other column is left to ``bind_value``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .._encode import Encoder
from ..wire.code_sets import is_multibyte
from ..wire.codepages import encoder_table
from ..wire.column_types import ColumnType
from ..wire.plan_ops import Kind, PlanOp, plan_op

Made = tuple[PlanOp, Any]  # an op, and the array for it

_INT32 = PlanOp(Kind.INT32, 4, 0, 0)
_INT64 = PlanOp(Kind.INT64, 8, 0, 0)
_FLOAT = PlanOp(Kind.FLOAT64, 8, 0, 0)
_BOOL = PlanOp(Kind.BOOL, 6, 0, 0)
_DATE = PlanOp(Kind.DATE, 4, 0, 0)
_TEXT = PlanOp(Kind.LVARCHAR, 0, 0, 0)  # of any length
_SECONDS = plan_op(ColumnType.datetime("YEAR TO SECOND"))
_FRACTIONS = plan_op(ColumnType.datetime("YEAR TO FRACTION(5)"))
_TIME = plan_op(ColumnType.datetime("HOUR TO SECOND"))
_TIME_FRACTIONS = plan_op(ColumnType.datetime("HOUR TO FRACTION(5)"))
_SPAN = plan_op(ColumnType.interval("DAY(9) TO FRACTION(5)"))
_MOST_DIGITS = 32


class ColumnBinder:
    """Encodes rows of ``parameters`` values in BIND form, between ``head`` and ``tail``."""

    def __init__(self, encoding: str, parameters: int, head: bytes, tail: bytes) -> None:
        self._names = [f"parameter {number}" for number in range(1, parameters + 1)]
        self._able = parameters > 0 and not is_multibyte(encoding)
        self._table = encoder_table(encoding) if self._able else None
        self._head, self._tail = head, tail
        self._encoders: dict[tuple[PlanOp, ...], Encoder] = {}
        self._encoder: Encoder | None = None

    def load(self, rows: Sequence[Sequence[object]]) -> bool:
        """Take rows of the right length; False when they cannot go as columns."""
        if not self._able:
            return False
        made: list[Made] = []
        for column in zip(*rows, strict=True):
            one = _column(column)
            if one is None:
                return False
            made.append(one)
        ops = tuple([op for op, _ in made])
        encoder = self._encoders.get(ops)
        if encoder is None:
            encoder = Encoder([op.as_tuple() for op in ops], self._names, codepage=self._table)
            self._encoders[ops] = encoder
        batch = pa.RecordBatch.from_arrays([array for _, array in made], self._names)
        encoder.load(*batch.__arrow_c_array__(), first_row=0)
        self._encoder = encoder
        return True

    def encode(self, budget: int) -> tuple[bytes, int]:
        """The next of the rows taken; ``(b"", 0)`` when all are encoded. ``DataError`` with ``row`` counted from
        the first row taken."""
        assert self._encoder is not None
        return self._encoder.encode(budget, 2, self._head, self._tail)


def _column(values: Sequence[Any]) -> Made | None:
    kinds = set(map(type, values))
    kinds.discard(type(None))
    if not kinds:
        return _INT32, pa.nulls(len(values))
    make = _MAKERS.get(kinds.pop())
    if kinds or make is None:
        return None
    try:
        return make(values)
    except (pa.ArrowException, ValueError, OverflowError):
        return None  # bind_value says what is wrong, and with which row


def _integers(values: Sequence[Any]) -> Made | None:
    array = pa.array(values, pa.int64())
    ends = pc.min_max(array)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low > -0x8000_0000 and high <= 0x7FFF_FFFF:  # the lowest pattern is NULL
        return _INT32, array
    return (_INT64, array) if low > -(2**63) else None


def _decimals(values: Sequence[Any]) -> Made | None:
    array = pa.array(values)
    kind = array.type
    if not pa.types.is_decimal128(kind) or not 0 <= kind.scale <= kind.precision <= _MOST_DIGITS:
        return None
    width = (kind.precision + (kind.scale & 1) + 3) // 2
    return PlanOp(Kind.DECIMAL128, width, kind.precision << 8 | kind.scale, 0), array


def _moments(values: Sequence[Any]) -> Made | None:
    if any(value is not None and value.tzinfo is not None for value in values):
        return None
    array = pa.array(values, pa.timestamp("us"))
    whole = not any(value is not None and value.microsecond for value in values)
    return (_SECONDS if whole else _FRACTIONS), array


def _times(values: Sequence[Any]) -> Made | None:
    if any(value is not None and value.tzinfo is not None for value in values):
        return None
    whole = not any(value is not None and value.microsecond for value in values)
    return (_TIME if whole else _TIME_FRACTIONS), pa.array(values, pa.time64("us"))


_MAKERS: dict[type, Callable[[Sequence[Any]], Made | None]] = {
    int: _integers,
    float: lambda values: (_FLOAT, pa.array(values, pa.float64())),
    str: lambda values: (_TEXT, pa.array(values, pa.utf8())),
    bool: lambda values: (_BOOL, pa.array(values, pa.bool_())),
    Decimal: _decimals,
    dt.date: lambda values: (_DATE, pa.array(values, pa.date32())),
    dt.datetime: _moments,
    dt.time: _times,
    dt.timedelta: lambda values: (_SPAN, pa.array(values, pa.duration("us"))),
}
