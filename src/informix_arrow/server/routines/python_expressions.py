"""Evaluation of routines' expressions in Python. A query to DuckDB would cost a hundred times more.

Only expressions with certainly the same result in Python are compiled: integers as long as every intermediate value
fits an INTEGER, decimals with few enough digits to be exact, ASCII texts that fit their targets. For anything else
`compile_row` and `compile_condition` return None, or the evaluation raises NotCompilable. DuckDB then evaluates the
expression and raises the correct error.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

from sqlglot import exp

from ...wire.types import ColumnType, TypeCode
from ..plan.variables import RoutineVariable
from ..types.result_types import DECIMALS, PADDED, is_character

Lookup = Callable[[int], object]
"""Returns the value of a variable by its number."""
Compute = Callable[[Lookup], object]

_MAX_INTEGER = 2**31 - 1
_MAX_SMALLINT = 2**15 - 1
_DIGITS = 28  # precision of Python's Decimal
_INTEGER_TYPES = frozenset({TypeCode.SMALLINT, TypeCode.INTEGER, TypeCode.BIGINT, TypeCode.INT8})


class NotCompilable(Exception):
    """The expression cannot be evaluated in Python."""


@dataclass(frozen=True, slots=True)
class _NumericExpression:
    """A numeric expression. `integer_digits` and `scale` are the maximum digits before and after the point."""

    compute: Compute
    integer_digits: int = 10
    scale: int = 0
    integer: bool = True  # evaluated as an INTEGER, with its limits


def compile_row(items: Sequence[exp.Expression], targets: Sequence[ColumnType | None]) -> Compute | None:
    """Compile a list of expressions for variables of the types `targets`. Return None if Python cannot evaluate it."""
    try:
        parts = [_compile_assignment(item, target) for item, target in zip(items, targets, strict=True)]
    except NotCompilable:
        return None
    return lambda lookup: tuple([part(lookup) for part in parts])


def compile_condition(item: exp.Expression) -> Compute | None:
    """Compile a condition with the result (True,), (False,) or (None,). Return None if Python cannot evaluate it."""
    try:
        part = _compile_condition(item)
    except NotCompilable:
        return None
    return lambda lookup: (part(lookup),)


# ---- assignment ----------------------------------------------------------------------------------
def _compile_assignment(item: exp.Expression, target: ColumnType | None) -> Compute:
    if isinstance(item, RoutineVariable) and target == item.meta["type"]:
        number: int = item.meta["index"]
        return lambda lookup: lookup(number)
    if target is None:
        raise NotCompilable
    if isinstance(item, exp.Null):
        return lambda lookup: None
    if target.code in _INTEGER_TYPES:
        return _as_integer(
            _compile_number(item).compute, _MAX_SMALLINT if target.code == TypeCode.SMALLINT else _MAX_INTEGER
        )
    if target.code in DECIMALS and target.scale is not None:
        return _as_decimal(_compile_number(item).compute, target.precision or 16, target.scale)
    if is_character(target):
        return _as_text(_compile_text(item), target)
    raise NotCompilable


def _as_integer(compute: Compute, limit: int) -> Compute:
    def assigned(lookup: Lookup) -> object:
        value = compute(lookup)
        if isinstance(value, Decimal):
            value = int(value.to_integral_value(ROUND_DOWN))  # fractions are cut
        return _check_limit(value, limit)

    return assigned


def _as_decimal(compute: Compute, precision: int, scale: int) -> Compute:
    unit, limit = Decimal(1).scaleb(-scale), Decimal(10 ** (precision - scale))

    def assigned(lookup: Lookup) -> object:
        value = compute(lookup)
        if value is None:
            return None
        assert isinstance(value, (int, Decimal))
        if not -limit < value < limit or precision > _DIGITS:
            raise NotCompilable
        rounded = Decimal(value).quantize(unit, ROUND_HALF_UP)
        if not -limit < rounded < limit:
            raise NotCompilable
        return rounded

    return assigned


def _as_text(compute: Compute, target: ColumnType) -> Compute:
    width, padded = target.content_width, target.code in PADDED

    def assigned(lookup: Lookup) -> object:
        value = compute(lookup)
        if value is None:
            return None
        text = _ascii(value)
        if len(text) > width:
            raise NotCompilable  # DuckDB truncates it in bytes of the code set
        return text.rstrip(" ") if padded else text

    return assigned


def _check_limit(value: object, limit: int = _MAX_INTEGER) -> object:
    if value is not None and not (isinstance(value, int) and -limit <= value <= limit):
        raise NotCompilable
    return value


def _ascii(value: object) -> str:
    if not isinstance(value, str) or not value.isascii():
        raise NotCompilable
    return value


# ---- numbers ---------------------------------------------------------------------------------------
_Operation = Callable[[int | Decimal, int | Decimal], int | Decimal]
_ARITHMETIC: dict[type[exp.Expression], _Operation] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
}
_COMPARISONS: dict[type[exp.Expression], Callable[[object, object], bool]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,  # type: ignore[dict-item]
    exp.LTE: operator.le,  # type: ignore[dict-item]
    exp.GT: operator.gt,  # type: ignore[dict-item]
    exp.GTE: operator.ge,  # type: ignore[dict-item]
}


def _compile_number(item: exp.Expression) -> _NumericExpression:
    if isinstance(item, exp.Paren):
        return _compile_number(item.this)
    if isinstance(item, RoutineVariable):
        return _number_variable(item.meta["index"], item.meta["type"])
    if isinstance(item, exp.Literal) and not item.is_string:
        return _number_literal(str(item.this))
    if isinstance(item, exp.Neg):
        inner = _compile_number(item.this)
        value = inner.compute
        return _NumericExpression(
            lambda lookup: None if (v := value(lookup)) is None else -v,  # type: ignore[operator]
            inner.integer_digits,
            inner.scale,
            inner.integer,
        )
    if isinstance(item, exp.Anonymous):
        return _number_function(item.name.lower(), item.expressions)
    how = _ARITHMETIC.get(type(item))
    if how is None:
        raise NotCompilable
    return _arithmetic(_compile_number(item.this), _compile_number(item.expression), how)


def _number_variable(number: int, t: ColumnType) -> _NumericExpression:
    if t.code in _INTEGER_TYPES:
        return _NumericExpression(lambda lookup: _check_limit(lookup(number)))
    if t.code in DECIMALS and t.scale is not None:
        return _NumericExpression(
            lambda lookup: lookup(number), (t.precision or 16) - t.scale, t.scale, integer=False
        )
    raise NotCompilable


def _number_literal(text: str) -> _NumericExpression:
    integer_part, _, fraction = text.partition(".")
    if not (integer_part + fraction).isdecimal():
        raise NotCompilable
    if "." in text:
        exact = Decimal(text)
        return _NumericExpression(
            lambda lookup: exact, max(1, len(integer_part)), len(fraction), integer=False
        )
    constant = _check_limit(int(integer_part))
    return _NumericExpression(lambda lookup: constant)


def _arithmetic(a: _NumericExpression, b: _NumericExpression, operation: _Operation) -> _NumericExpression:
    left, right = a.compute, b.compute
    if a.integer and b.integer:

        def compute_integer(lookup: Lookup) -> object:
            x, y = left(lookup), right(lookup)
            return None if x is None or y is None else _check_limit(operation(x, y))  # type: ignore[arg-type]

        return _NumericExpression(compute_integer)
    if operation is operator.mul:
        digits, scale = a.integer_digits + b.integer_digits, a.scale + b.scale
    else:
        digits, scale = max(a.integer_digits, b.integer_digits) + 1, max(a.scale, b.scale)
    if digits + scale > _DIGITS:
        raise NotCompilable

    def compute_decimal(lookup: Lookup) -> object:
        x, y = left(lookup), right(lookup)
        return None if x is None or y is None else operation(x, y)  # type: ignore[arg-type]

    return _NumericExpression(compute_decimal, digits, scale, integer=False)


def _number_function(name: str, arguments: Sequence[exp.Expression]) -> _NumericExpression:
    if name == "length" and len(arguments) == 1:
        text = _compile_text(arguments[0])
        return _NumericExpression(
            lambda lookup: None if (v := text(lookup)) is None else len(_ascii(v).rstrip(" "))
        )
    parts = [_compile_number(argument) for argument in arguments]
    if not all(part.integer for part in parts):
        raise NotCompilable
    if name == "mod" and len(parts) == 2:
        return _arithmetic(parts[0], parts[1], _modulo)
    value = parts[0].compute if parts else None
    if name == "abs" and len(parts) == 1 and value is not None:
        return _NumericExpression(lambda lookup: None if (v := value(lookup)) is None else abs(v))  # type: ignore[arg-type]
    if name == "nvl" and len(parts) == 2 and value is not None:
        other = parts[1].compute
        return _NumericExpression(lambda lookup: other(lookup) if (v := value(lookup)) is None else v)
    raise NotCompilable


def _modulo(a: int | Decimal, b: int | Decimal) -> int | Decimal:
    if not b or not isinstance(a, int) or not isinstance(b, int):
        raise NotCompilable
    return abs(a) % abs(b) * (1 if a >= 0 else -1)


# ---- texts -----------------------------------------------------------------------------------------
_CASES = ("upper", "lower")


def _compile_text(item: exp.Expression) -> Compute:
    """Compile a text. A CHAR has no trailing blanks."""
    if isinstance(item, exp.Paren):
        return _compile_text(item.this)
    if isinstance(item, RoutineVariable) and is_character(item.meta["type"]):
        number: int = item.meta["index"]
        return lambda lookup: lookup(number)
    if isinstance(item, exp.Literal) and item.is_string:
        constant = str(item.this)
        return lambda lookup: constant
    if isinstance(item, exp.DPipe):
        left, right = _concat_operand(item.this), _concat_operand(item.expression)

        def concatenated(lookup: Lookup) -> object:
            x, y = left(lookup), right(lookup)
            return None if x is None or y is None else f"{x}{y}"

        return concatenated
    if isinstance(item, exp.Anonymous):
        return _text_function(item.name.lower(), item.expressions)
    raise NotCompilable


def _padded_width(item: exp.Expression) -> int:
    """Return the width of a CHAR variable with its trailing blanks, also inside UPPER and LOWER. 0 for anything
    else."""
    while True:
        if isinstance(item, exp.Paren):
            item = item.this
        elif isinstance(item, exp.Anonymous) and item.name.lower() in _CASES and len(item.expressions) == 1:
            item = item.expressions[0]
        else:
            break
    padded = isinstance(item, RoutineVariable) and item.meta["type"].code in PADDED
    return int(item.meta["type"].content_width) if padded else 0


def _concat_operand(item: exp.Expression) -> Compute:
    """Compile an operand of ||: a text, a CHAR with its trailing blanks, or an integer as text."""
    while isinstance(item, exp.Paren):
        item = item.this
    width = _padded_width(item)
    if width:
        value = _compile_text(item)
        return lambda lookup: None if (v := value(lookup)) is None else _ascii(v).ljust(width)
    try:
        return _compile_text(item)
    except NotCompilable:
        found = _compile_number(item)
        if not found.integer:
            raise
        return found.compute


def _text_function(name: str, arguments: Sequence[exp.Expression]) -> Compute:
    if name in _CASES and len(arguments) == 1:
        value, change = _compile_text(arguments[0]), str.upper if name == "upper" else str.lower
        return lambda lookup: None if (v := value(lookup)) is None else change(_ascii(v))
    if name == "substr" and len(arguments) in (2, 3):
        value = _compile_text(arguments[0])
        numbers = [_compile_number(argument) for argument in arguments[1:]]
        if not all(part.integer for part in numbers):
            raise NotCompilable

        def cut(lookup: Lookup) -> object:
            text, bounds = value(lookup), [part.compute(lookup) for part in numbers]
            if text is None or None in bounds:
                return None
            start, count = int(str(bounds[0])), int(str(bounds[-1]))
            if not 1 <= start <= len(_ascii(text)) or count < 1:
                raise NotCompilable
            end = start - 1 + count if len(bounds) == 2 else len(str(text))
            return str(text)[start - 1 : end]

        return cut
    raise NotCompilable


# ---- conditions ------------------------------------------------------------------------------------
def _compile_condition(item: exp.Expression) -> Compute:
    if isinstance(item, exp.Paren):
        return _compile_condition(item.this)
    if isinstance(item, exp.Not):
        value = _compile_condition(item.this)
        return lambda lookup: None if (v := value(lookup)) is None else not v
    if isinstance(item, (exp.And, exp.Or)):
        return _and_or(
            _compile_condition(item.this), _compile_condition(item.expression), isinstance(item, exp.Or)
        )
    if (
        isinstance(item, exp.Is)
        and isinstance(item.expression, exp.Null)
        and isinstance(item.this, RoutineVariable)
    ):
        number: int = item.this.meta["index"]
        return lambda lookup: lookup(number) is None
    how = _COMPARISONS.get(type(item))
    if how is None:
        raise NotCompilable
    try:
        return _compare(_compile_number(item.this).compute, _compile_number(item.expression).compute, how)
    except NotCompilable:
        equality = isinstance(item, (exp.EQ, exp.NEQ))
        return _compare(
            _compile_compared_text(item.this, equality),
            _compile_compared_text(item.expression, equality),
            how,
        )


def _compile_compared_text(item: exp.Expression, equality: bool) -> Compute:
    """Compile a text for comparison. Its order is certain only for ASCII."""
    value = _compile_text(item)

    def compute(lookup: Lookup) -> object:
        found = value(lookup)
        return None if found is None else (str(found) if equality else _ascii(found)).rstrip(" ")

    return compute


def _compare(a: Compute, b: Compute, operation: Callable[[object, object], bool]) -> Compute:
    def compute(lookup: Lookup) -> object:
        x, y = a(lookup), b(lookup)
        return None if x is None or y is None else operation(x, y)

    return compute


def _and_or(a: Compute, b: Compute, decided: bool) -> Compute:
    """Compile AND or OR: `decided` if an operand has that value, else NULL if one is NULL."""

    def compute(lookup: Lookup) -> object:
        x, y = a(lookup), b(lookup)
        if decided in (x, y):
            return decided
        return None if x is None or y is None else not decided

    return compute
