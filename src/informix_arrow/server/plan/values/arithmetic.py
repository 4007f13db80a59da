"""Translation of `a + b` and other operators over numbers, dates, datetimes and intervals."""

from __future__ import annotations

from ....wire.qualifiers import Field, Qualifier
from ....wire.types import ColumnType, TypeCode
from ...errors import SqlError
from ...types.intervals import interval_type, is_interval
from ...types.result_types import (
    DECIMALS,
    FLOATS,
    arithmetic_type,
    as_decimal,
    is_date_or_datetime,
    is_exact,
    is_floating_decimal,
    is_number,
    without_serial,
)
from ..scope import TypedExpression
from . import intervals
from .casts import Values

_DUCK_DIGITS = 18
"""Digits up to which DuckDB computes a decimal as a machine integer."""

_EXACT = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}


def arithmetic(v: Values, op: str, a: TypedExpression, b: TypedExpression) -> TypedExpression:
    """Translate `a op b`. Raises -1260 for types without arithmetic."""
    is_open = bool(a.duck_number or b.duck_number) or v.ctx.is_untyped_param(a) or v.ctx.is_untyped_param(b)
    if v.ctx.is_untyped_param(a) and v.ctx.is_untyped_param(b):
        a, b = v.ctx.hint(a, ColumnType.decimal(32)), v.ctx.hint(b, ColumnType.decimal(32))
    if a.param >= 0 and b.type is not None:
        a = _type_parameter(v, op, a, b.type)
    if b.param >= 0 and a.type is not None:
        b = _type_parameter(v, op, b, a.type)
    a, b = _read_interval_literal(v, a, b), _read_interval_literal(v, b, a)
    ta, tb = a.type, b.type
    if is_open and op != "/" and _is_short(a) and _is_short(b):
        return v.open_number(f"({_widen_untyped_operand(a)} {op} {_widen_untyped_operand(b)})")
    if a.is_packed_decimal or b.is_packed_decimal:
        return _calculate_floating_decimal(v, op, a, b)
    if ta is None or tb is None:
        return TypedExpression(f"({a.sql} {op} {b.sql})", None)
    if is_date_or_datetime(ta) or is_date_or_datetime(tb) or is_interval(ta) or is_interval(tb):
        return intervals.arithmetic(op, a, b, v.ctx)
    a, b = v.numeric(a), v.numeric(b)
    assert a.type is not None
    assert b.type is not None
    return _calculate(v, op, a, b)


def _is_short(ex: TypedExpression) -> bool:
    """Return whether DuckDB has room for all digits of the result of a number and a parameter."""
    if ex.duck_number or ex.param >= 0 or ex.type is None:
        return bool(ex.duck_number) or ex.param >= 0
    digits = as_decimal(ex.type) if is_exact(ex.type) and not ex.is_packed_decimal else None
    return digits is not None and digits[0] <= _DUCK_DIGITS + 1


def _widen_untyped_operand(ex: TypedExpression) -> str:
    """Return the SQL of an operand beside a parameter. A decimal is widened so that DuckDB keeps all digits of the
    result."""
    if ex.duck_number or ex.param >= 0 or ex.type is None or ex.type.code not in DECIMALS:
        return ex.duck_number or (ex.sql if ex.param >= 0 else _widen(ex))
    precision, scale = as_decimal(ex.type) or (0, 0)
    return f"CAST({ex.sql} AS DECIMAL({max(precision, _DUCK_DIGITS + 1)},{scale}))"


def _parameter_type(op: str, t: ColumnType) -> ColumnType:
    """Return the type of a bare parameter beside a value of type `t`. For a DATETIME it is an interval with its
    fields."""
    if t.code == TypeCode.DATE:
        return ColumnType.integer()
    if t.code == TypeCode.DATETIME and t.qualifier is not None:
        end = t.qualifier.end
        start = Field.YEAR if end <= Field.MONTH else max(t.qualifier.start, Field.DAY)
        return interval_type(Qualifier(int(start), end, 9 + end - int(start)))
    if is_interval(t):
        return without_serial(t) if op in "+-" else ColumnType.float_()
    return without_serial(t)


def _type_parameter(v: Values, op: str, ex: TypedExpression, t: ColumnType) -> TypedExpression:
    if is_date_or_datetime(t) and op in "+-" and v.ctx.params[ex.param] is None:
        # fields finer than the DATETIME's, and fractions of a day, are cut
        v.ctx.assigned_params.add(ex.param)
    return v.ctx.hint(ex, ColumnType.decimal(32) if is_exact(t) else _parameter_type(op, t))


def _read_interval_literal(v: Values, ex: TypedExpression, other: TypedExpression) -> TypedExpression:
    """Convert a character literal beside an interval to the interval's type."""
    if ex.literal is None or other.type is None or not is_interval(other.type):
        return ex
    return TypedExpression(v.read_literal(ex.literal, other.type), other.type)


def _calculate(v: Values, op: str, a: TypedExpression, b: TypedExpression) -> TypedExpression:
    """Translate arithmetic of numbers. SMALLINT is widened, decimals beyond DuckDB's 38 digits go through DOUBLE, x/0
    raises -1202."""
    ta, tb = a.type, b.type
    assert ta is not None
    assert tb is not None
    if not (is_number(ta) and is_number(tb)):
        raise SqlError(-201 if ta.is_boolean or tb.is_boolean else -1260)
    result = arithmetic_type(op, ta, tb)
    left, right = _widen(a), _widen(b)
    if is_floating_decimal(result):
        return TypedExpression(f"_ifx_{_EXACT[op]}({v.key(a)}, {v.key(b)})", result, is_packed_decimal=True)
    if op == "/":
        return TypedExpression(
            f"(CASE WHEN {right} = 0 THEN error('IFX-1202') ELSE {left} / {right} END)", result
        )
    if result.code in DECIMALS and (result.precision or 0) > _DUCK_DIGITS:
        left = _with_more_digits(left, ta, tb)
    return TypedExpression(f"({left} {op} {right})", result)


def _with_more_digits(sql: str, t: ColumnType, other: ColumnType) -> str:
    """Widen one operand of `+`, `-` or `*`, so that DuckDB keeps all digits of the result.

    For two decimals of at most 18 digits DuckDB computes only 18 digits and reports an overflow.
    """
    digits = as_decimal(t)
    beside = as_decimal(other)
    if digits is None or beside is None or max(digits[0], beside[0]) > _DUCK_DIGITS:
        return sql
    return f"CAST({sql} AS DECIMAL({_DUCK_DIGITS + 1},{digits[1]}))"


def _calculate_floating_decimal(
    v: Values, op: str, a: TypedExpression, b: TypedExpression
) -> TypedExpression:
    """Translate arithmetic of floating decimals: 32 digits, unless the other operand is a FLOAT."""
    if (a.type is not None and is_interval(a.type)) or (b.type is not None and is_interval(b.type)):
        return intervals.arithmetic(op, v.loose(a), v.loose(b), v.ctx)
    if any(x.type is not None and x.type.code in FLOATS and x.param < 0 for x in (a, b)):
        return _calculate(v, op, v.numeric(a), v.numeric(b))
    if any(x.type is not None and is_date_or_datetime(x.type) for x in (a, b)):
        return intervals.arithmetic(op, v.loose(a), v.loose(b), v.ctx)
    return TypedExpression(
        f"_ifx_{_EXACT[op]}({v.key(a)}, {v.key(b)})", ColumnType.decimal(32), is_packed_decimal=True
    )


def _widen(ex: TypedExpression) -> str:
    return f"CAST({ex.sql} AS INTEGER)" if ex.type and ex.type.code == TypeCode.SMALLINT else ex.sql
