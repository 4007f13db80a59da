"""Rows of Python values as Arrow columns, for the C encoder of ``executemany``.

A column whose values are all of one plain type, apart from NULLs, is bound as
:func:`~..wire.bind_values.bind_value` would bind them, but thousands at a time. A parameter that is assigned to
a column uses that column's own op, so the encoder checks it as it does for ``write_arrow``. A chunk with any
other column is left to ``bind_value``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa

from .._encode import Encoder, columns, fixed, texts
from ..rows import arrow_compute as pc
from ..wire.assignment import INTEGER_BITS, Inexact, round_to_finest
from ..wire.code_sets import is_multibyte
from ..wire.codepages import encoder_table
from ..wire.plan_ops import FLAG_ROUND, FLAG_TRUNCATE, Kind, PlanOp, TypeOptions, plan_op
from ..wire.qualifiers import Field
from ..wire.types import ColumnType, TypeCode
from .placeholder_targets import Check

EncoderInput = tuple[PlanOp, Any]  # an op, and the array for it

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
_INTERVAL = plan_op(ColumnType.interval("DAY(9) TO FRACTION(5)"))


@dataclass(frozen=True, slots=True)
class ParameterBinding:
    """The binding of the values of many rows to parameters."""

    encoding: str
    inexact: Inexact = "error"
    check: Check | None = None  # of assigned parameters

    def values(self, row: Sequence[object]) -> Sequence[object]:
        """Return one row's values as they are to be bound. Raises ``DataError`` if a column would change a value."""
        checked = row if self.check is None else self.check.row(row)
        return (
            checked
            if self.inexact == "error"
            else [round_to_finest(value, self.inexact) for value in checked]
        )

    def target(self, number: int) -> ColumnType | None:
        """Return the type that a parameter is assigned to; None if it is not assigned or the type is unknown."""
        return None if self.check is None else self.check.targets[number]


class ColumnBinder:
    """Encodes rows of ``parameters`` values in BIND form, between ``head`` and ``tail``."""

    def __init__(self, binding: ParameterBinding, parameters: int, head: bytes, tail: bytes) -> None:
        encoding = binding.encoding
        self._names = [f"parameter {number}" for number in range(1, parameters + 1)]
        self._supported = parameters > 0 and not is_multibyte(encoding)
        self._table = encoder_table(encoding) if self._supported else None
        self._head, self._tail = head, tail
        self._encoders: dict[tuple[PlanOp, ...], Encoder] = {}
        self._encoder: Encoder | None = None
        self._binding = binding
        self._targets = [binding.target(number) for number in range(parameters)]

    def load(self, rows: list[Sequence[object]]) -> bool:
        """Load rows of the right length. Returns False if they cannot be encoded as columns."""
        if not self._supported:
            return False
        column_values = columns(rows, len(self._targets))
        if column_values is None:
            return False
        inputs: list[EncoderInput] = []
        for (kind, values), target in zip(column_values, self._targets, strict=True):
            one = _column(kind, values, target, self._binding.inexact)
            if one is None:
                return False
            inputs.append(one)
        ops = tuple([op for op, _ in inputs])
        encoder = self._encoders.get(ops)
        if encoder is None:
            try:
                encoder = Encoder([op.as_tuple() for op in ops], self._names, codepage=self._table)
            except ValueError:  # from a damaged description only
                return False
            self._encoders[ops] = encoder
        batch = pa.RecordBatch.from_arrays([array for _, array in inputs], self._names)
        encoder.load(*batch.__arrow_c_array__(), first_row=0)
        self._encoder = encoder
        return True

    def encode(self, budget: int) -> tuple[bytearray, int]:
        """Return the next encoded rows and their number; ``(bytearray(), 0)`` after the last one.

        ``row`` of a ``DataError`` counts from the first row loaded.
        """
        assert self._encoder is not None
        return self._encoder.encode(budget, 2, self._head, self._tail)


def _column(
    kind: type, values: list[Any], target: ColumnType | None, inexact: Inexact
) -> EncoderInput | None:
    if kind is type(None):
        return _INT32, pa.nulls(len(values))
    make = _CONVERTERS.get(kind)
    if make is None:
        return None
    try:
        return make(values, target, inexact)
    except (pa.ArrowException, ValueError, OverflowError):
        return None  # bind_value reports what is wrong, and with which row


def _array(kind: Literal["i", "f", "b", "n", "D", "M", "T", "S"], values: list[Any]) -> tuple[Any, int]:
    """Return an Arrow array of values of one type, and the digits of their fractions. ``ValueError`` if there
    is none.

    ``pyarrow.array`` would also work, but is slow for decimals, and imports pandas when it sees a list.
    """
    parts = fixed(kind, values)
    if parts is None:
        raise ValueError("The values are not an Arrow column.")
    nulls, valid, data, precision, scale = parts
    arrow = pa.decimal128(precision, scale) if kind == "n" else _ARROW[kind]
    buffers = [pa.py_buffer(valid) if nulls else None, pa.py_buffer(data)]
    return pa.Array.from_buffers(arrow, len(values), buffers, nulls), scale


_ARROW = {
    "i": pa.int64(),
    "f": pa.float64(),
    "b": pa.bool_(),
    "D": pa.date32(),
    "M": pa.timestamp("us"),
    "T": pa.time64("us"),
    "S": pa.duration("us"),
}


def _flags(inexact: Inexact) -> int:
    return {"error": 0, "round": FLAG_ROUND, "truncate": FLAG_TRUNCATE}[inexact]


def _target_op(target: ColumnType, inexact: Inexact, **options: Any) -> PlanOp:
    """Return the encoder's op for a column, which checks and converts its values."""
    op = plan_op(target, TypeOptions(**options))
    return replace(op, flags=op.flags | _flags(inexact))


def _is_decimal(target: ColumnType) -> bool:
    return target.code in (TypeCode.DECIMAL, TypeCode.MONEY)


def _integers(values: list[Any], target: ColumnType | None, inexact: Inexact) -> EncoderInput | None:
    array, _ = _array("i", values)
    ends = pc.min_max(array)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if target is not None and not _fits_integer(target, max(abs(low), abs(high))):
        return None
    if low > -0x8000_0000 and high <= 0x7FFF_FFFF:  # the lowest bit pattern is NULL
        return _INT32, array
    return (_INT64, array) if low > -(2**63) else None


def _fits_integer(target: ColumnType, most: int) -> bool:
    """Return whether a column surely holds ints up to ``most`` exactly."""
    if target.code in INTEGER_BITS:
        bits = INTEGER_BITS[TypeCode(target.code)]
        return most < 1 << (bits - 1)
    if _is_decimal(target):
        return most < int(10 ** ((target.precision or 0) - (target.scale or 0)))
    if target.code in (TypeCode.FLOAT, TypeCode.SMALLFLOAT):
        return most <= 1 << (53 if target.code == TypeCode.FLOAT else 24)
    if target.content_width:
        return len(str(most)) < target.content_width
    return target.code != TypeCode.INTERVAL


def _may_be_too_narrow(target: ColumnType | None, size: int) -> bool:
    """Return whether a number or time of so many bytes as text may be too long for a text column."""
    return target is not None and bool(target.content_width) and target.content_width < size


def _floats(values: list[Any], target: ColumnType | None, inexact: Inexact) -> EncoderInput | None:
    if _may_be_too_narrow(target, 24) or (target is not None and target.code == TypeCode.DATE):
        return None
    array, _ = _array("f", values)
    if target is None or target.code == TypeCode.FLOAT:
        return _FLOAT, array
    if _is_decimal(target):
        return _target_op(target, inexact, decimals="float64"), array
    if target.code in INTEGER_BITS:
        return _target_op(target, inexact), array
    if (
        target.code == TypeCode.SMALLFLOAT
        and pc.any(pc.and_(pc.is_inf(array.cast(pa.float32(), safe=False)), pc.is_finite(array))).as_py()
    ):
        return None
    return _FLOAT, array


def _texts(values: list[Any], target: ColumnType | None, inexact: Inexact) -> EncoderInput | None:
    parts = texts(values)
    if parts is None:
        return None
    nulls, valid, offsets, data = parts
    buffers = [pa.py_buffer(valid) if nulls else None, pa.py_buffer(offsets), pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.utf8(), len(values), buffers, nulls)
    if target is None:
        return _TEXT, array
    if _is_decimal(target):  # its digits are sent as they are written
        return PlanOp(
            Kind.DECIMAL_STRING, target.max_width, target.encoded_length & 0xFFFF, _flags(inexact)
        ), array
    if target.code in INTEGER_BITS:
        return _target_op(target, inexact), array
    if target.code == TypeCode.SMALLFLOAT:
        return None
    # Both occur together in a damaged description only.
    if target.is_bson:
        return None
    is_text = target.content_width and not target.is_boolean
    if is_text and not target.is_complex:
        return _target_op(target, inexact), array
    if target.qualifier is not None:
        coarse = target.qualifier.end < Field.SECOND and target.code == TypeCode.DATETIME
        if coarse or pc.any(pc.match_substring(array, ".")).as_py():  # it may have too many digits
            return None
    return _TEXT, array


def _bools(values: list[Any], target: ColumnType | None, inexact: Inexact) -> EncoderInput | None:
    array, _ = _array("b", values)
    number = target is not None and (
        target.code in INTEGER_BITS
        or _is_decimal(target)
        or target.code in (TypeCode.FLOAT, TypeCode.SMALLFLOAT)
    )
    return (_INT32, array.cast(pa.int32())) if number else (_BOOL, array)


def _decimals(values: list[Any], target: ColumnType | None, inexact: Inexact) -> EncoderInput | None:
    array, _ = _array("n", values)
    kind = array.type
    if _may_be_too_narrow(target, kind.precision + 3) or (
        target is not None and target.code == TypeCode.DATE
    ):
        return None
    if target is not None:
        if target.code in INTEGER_BITS or _is_decimal(target):
            fits = (
                target.scale is not None
                and kind.scale <= target.scale
                and kind.precision - kind.scale <= (target.precision or 0) - target.scale
            ) or (target.scale is None and _is_decimal(target) and kind.precision <= (target.precision or 0))
            if not fits:
                return _target_op(target, inexact, floating_decimals="string"), array
        elif target.code in (TypeCode.FLOAT, TypeCode.SMALLFLOAT):
            return None
    width = (kind.precision + (kind.scale & 1) + 3) // 2
    return PlanOp(Kind.DECIMAL128, width, kind.precision << 8 | kind.scale, 0), array


def _dates(values: list[Any], target: ColumnType | None, inexact: Inexact) -> EncoderInput | None:
    array, _ = _array("D", values)
    if target is not None and target.code == TypeCode.DATETIME:
        return (_target_op(target, inexact), array) if _of_years(target) else None
    return None if target is not None and target.content_width else (_DATE, array)


def _of_years(target: ColumnType) -> bool:
    return target.qualifier is not None and target.qualifier.start == Field.YEAR


def _datetimes(values: list[Any], target: ColumnType | None, inexact: Inexact) -> EncoderInput | None:
    if _may_be_too_narrow(target, 25):
        return None
    array, places = _array("M", values)
    if target is not None and target.code == TypeCode.DATE:
        days = array.cast(pa.date32(), safe=False)
        return (_DATE, days) if days.cast(array.type).equals(array) else None
    whole_seconds = not places
    if target is not None and target.qualifier is not None and target.code == TypeCode.DATETIME:
        if not _of_years(target):
            return None
        if not whole_seconds or target.qualifier.end < Field.SECOND:  # else the short form fits as it is
            return _target_op(target, inexact), array
    return (_SECONDS if whole_seconds else replace(_FRACTIONS, flags=_flags(inexact))), array


def _times(values: list[Any], target: ColumnType | None, inexact: Inexact) -> EncoderInput | None:
    if _may_be_too_narrow(target, 14):
        return None
    array, places = _array("T", values)
    if target is not None and target.code == TypeCode.DATETIME and target.qualifier is not None:
        if target.qualifier.start == Field.HOUR:
            return _target_op(target, inexact), array
        if target.qualifier.start > Field.HOUR:
            return None
    whole_seconds = not places
    return (_TIME if whole_seconds else replace(_TIME_FRACTIONS, flags=_flags(inexact))), array


def _intervals(values: list[Any], target: ColumnType | None, inexact: Inexact) -> EncoderInput | None:
    if _may_be_too_narrow(target, 26):
        return None
    array, _ = _array("S", values)
    if target is not None and target.code == TypeCode.INTERVAL and target.qualifier is not None:
        return None if target.qualifier.is_year_month else (_target_op(target, inexact), array)
    return replace(_INTERVAL, flags=_flags(inexact)), array


_Converter = Callable[[list[Any], "ColumnType | None", Inexact], "EncoderInput | None"]
_CONVERTERS: dict[type, _Converter] = {
    int: _integers,
    float: _floats,
    str: _texts,
    bool: _bools,
    Decimal: _decimals,
    dt.date: _dates,
    dt.datetime: _datetimes,
    dt.time: _times,
    dt.timedelta: _intervals,
}
