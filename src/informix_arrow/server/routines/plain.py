"""Expressions of routines that are computed here: a query to DuckDB costs a hundred times more.

Only what is certain to mean the same in Python is taken: whole numbers while every one on the way fits an INTEGER,
decimals of few enough digits to be exact, texts of ASCII characters that fit where they go. For anything else
`compile_row` and `compile_condition` say so, or the computation does (NotPlain), and DuckDB does it (and finds the
right error).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

from sqlglot import exp

from ...wire.types import ColumnType, TypeCode
from ..planning.variables import Variable
from ..types.result_types import DECIMALS, PADDED, is_character

Lookup = Callable[[int], object]
"""The value of the variable with a number."""
Compute = Callable[[Lookup], object]

_LIMIT = 2**31 - 1
_SMALL = 2**15 - 1
_DIGITS = 28  # what Python's Decimal keeps
_WHOLE = frozenset({TypeCode.SMALLINT, TypeCode.INTEGER, TypeCode.BIGINT, TypeCode.INT8})


class NotPlain(Exception):
    """This is not for Python to compute."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A number: `whole` and `scale` are the most digits that it has before and behind the point."""

    compute: Compute
    whole: int = 10
    scale: int = 0
    integer: bool = True  # computed as an INTEGER, with its limits


def compile_row(items: Sequence[exp.Expression], targets: Sequence[ColumnType | None]) -> Compute | None:
    """Computes the values of a list, for variables of the types `targets`; None where that is not for Python."""
    try:
        parts = [_assigned(item, target) for item, target in zip(items, targets, strict=True)]
    except NotPlain:
        return None
    return lambda lookup: tuple([part(lookup) for part in parts])


def compile_condition(item: exp.Expression) -> Compute | None:
    """Computes a condition: (True,), (False,) or (None,); None where that is not for Python."""
    try:
        part = _condition(item)
    except NotPlain:
        return None
    return lambda lookup: (part(lookup),)


# ---- assignment ----------------------------------------------------------------------------------
def _assigned(item: exp.Expression, target: ColumnType | None) -> Compute:
    if isinstance(item, Variable) and target == item.meta["type"]:
        number: int = item.meta["index"]
        return lambda lookup: lookup(number)
    if target is None:
        raise NotPlain
    if isinstance(item, exp.Null):
        return lambda lookup: None
    if target.code in _WHOLE:
        return _as_whole(_number(item).compute, _SMALL if target.code == TypeCode.SMALLINT else _LIMIT)
    if target.code in DECIMALS and target.scale is not None:
        return _as_decimal(_number(item).compute, target.precision or 16, target.scale)
    if is_character(target):
        return _as_text(_text(item), target)
    raise NotPlain


def _as_whole(compute: Compute, limit: int) -> Compute:
    def assigned(lookup: Lookup) -> object:
        value = compute(lookup)
        if isinstance(value, Decimal):
            value = int(value.to_integral_value(ROUND_DOWN))  # fractions are cut
        return _within(value, limit)

    return assigned


def _as_decimal(compute: Compute, precision: int, scale: int) -> Compute:
    unit, limit = Decimal(1).scaleb(-scale), Decimal(10 ** (precision - scale))

    def assigned(lookup: Lookup) -> object:
        value = compute(lookup)
        if value is None:
            return None
        assert isinstance(value, (int, Decimal))
        if not -limit < value < limit or precision > _DIGITS:
            raise NotPlain
        rounded = Decimal(value).quantize(unit, ROUND_HALF_UP)
        if not -limit < rounded < limit:
            raise NotPlain
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
            raise NotPlain  # it is cut, in the code set's bytes
        return text.rstrip(" ") if padded else text

    return assigned


def _within(value: object, limit: int = _LIMIT) -> object:
    if value is not None and not (isinstance(value, int) and -limit <= value <= limit):
        raise NotPlain
    return value


def _ascii(value: object) -> str:
    if not isinstance(value, str) or not value.isascii():
        raise NotPlain
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


def _number(item: exp.Expression) -> _Number:
    if isinstance(item, exp.Paren):
        return _number(item.this)
    if isinstance(item, Variable):
        return _number_variable(item.meta["index"], item.meta["type"])
    if isinstance(item, exp.Literal) and not item.is_string:
        return _number_literal(str(item.this))
    if isinstance(item, exp.Neg):
        inner = _number(item.this)
        value = inner.compute
        return _Number(
            lambda lookup: None if (v := value(lookup)) is None else -v,  # type: ignore[operator]
            inner.whole,
            inner.scale,
            inner.integer,
        )
    if isinstance(item, exp.Anonymous):
        return _number_function(item.name.lower(), item.expressions)
    how = _ARITHMETIC.get(type(item))
    if how is None:
        raise NotPlain
    return _arithmetic(_number(item.this), _number(item.expression), how)


def _number_variable(number: int, t: ColumnType) -> _Number:
    if t.code in _WHOLE:
        return _Number(lambda lookup: _within(lookup(number)))
    if t.code in DECIMALS and t.scale is not None:
        return _Number(lambda lookup: lookup(number), (t.precision or 16) - t.scale, t.scale, integer=False)
    raise NotPlain


def _number_literal(text: str) -> _Number:
    whole, _, fraction = text.partition(".")
    if not (whole + fraction).isdecimal():
        raise NotPlain
    if "." in text:
        exact = Decimal(text)
        return _Number(lambda lookup: exact, max(1, len(whole)), len(fraction), integer=False)
    constant = _within(int(whole))
    return _Number(lambda lookup: constant)


def _arithmetic(a: _Number, b: _Number, how: _Operation) -> _Number:
    left, right = a.compute, b.compute
    if a.integer and b.integer:

        def whole(lookup: Lookup) -> object:
            x, y = left(lookup), right(lookup)
            return None if x is None or y is None else _within(how(x, y))  # type: ignore[arg-type]

        return _Number(whole)
    if how is operator.mul:
        digits, scale = a.whole + b.whole, a.scale + b.scale
    else:
        digits, scale = max(a.whole, b.whole) + 1, max(a.scale, b.scale)
    if digits + scale > _DIGITS:
        raise NotPlain

    def exact(lookup: Lookup) -> object:
        x, y = left(lookup), right(lookup)
        return None if x is None or y is None else how(x, y)  # type: ignore[arg-type]

    return _Number(exact, digits, scale, integer=False)


def _number_function(name: str, arguments: Sequence[exp.Expression]) -> _Number:
    if name == "length" and len(arguments) == 1:
        text = _text(arguments[0])
        return _Number(lambda lookup: None if (v := text(lookup)) is None else len(_ascii(v).rstrip(" ")))
    parts = [_number(argument) for argument in arguments]
    if not all(part.integer for part in parts):
        raise NotPlain
    if name == "mod" and len(parts) == 2:
        return _arithmetic(parts[0], parts[1], _modulo)
    value = parts[0].compute if parts else None
    if name == "abs" and len(parts) == 1 and value is not None:
        return _Number(lambda lookup: None if (v := value(lookup)) is None else abs(v))  # type: ignore[arg-type]
    if name == "nvl" and len(parts) == 2 and value is not None:
        other = parts[1].compute
        return _Number(lambda lookup: other(lookup) if (v := value(lookup)) is None else v)
    raise NotPlain


def _modulo(a: int | Decimal, b: int | Decimal) -> int | Decimal:
    if not b or not isinstance(a, int) or not isinstance(b, int):
        raise NotPlain
    return abs(a) % abs(b) * (1 if a >= 0 else -1)


# ---- texts -----------------------------------------------------------------------------------------
_CASES = ("upper", "lower")


def _text(item: exp.Expression) -> Compute:
    """A text; a CHAR without the blanks that pad it."""
    if isinstance(item, exp.Paren):
        return _text(item.this)
    if isinstance(item, Variable) and is_character(item.meta["type"]):
        number: int = item.meta["index"]
        return lambda lookup: lookup(number)
    if isinstance(item, exp.Literal) and item.is_string:
        constant = str(item.this)
        return lambda lookup: constant
    if isinstance(item, exp.DPipe):
        left, right = _joined(item.this), _joined(item.expression)

        def concatenated(lookup: Lookup) -> object:
            x, y = left(lookup), right(lookup)
            return None if x is None or y is None else f"{x}{y}"

        return concatenated
    if isinstance(item, exp.Anonymous):
        return _text_function(item.name.lower(), item.expressions)
    raise NotPlain


def _blanks(item: exp.Expression) -> int:
    """How wide a CHAR variable is with its blanks, also inside UPPER and LOWER; 0 for all else."""
    while True:
        if isinstance(item, exp.Paren):
            item = item.this
        elif isinstance(item, exp.Anonymous) and item.name.lower() in _CASES and len(item.expressions) == 1:
            item = item.expressions[0]
        else:
            break
    padded = isinstance(item, Variable) and item.meta["type"].code in PADDED
    return int(item.meta["type"].content_width) if padded else 0


def _joined(item: exp.Expression) -> Compute:
    """A side of ||: a text, a CHAR with all its blanks, or a whole number as text."""
    while isinstance(item, exp.Paren):
        item = item.this
    width = _blanks(item)
    if width:
        value = _text(item)
        return lambda lookup: None if (v := value(lookup)) is None else _ascii(v).ljust(width)
    try:
        return _text(item)
    except NotPlain:
        found = _number(item)
        if not found.integer:
            raise
        return found.compute


def _text_function(name: str, arguments: Sequence[exp.Expression]) -> Compute:
    if name in _CASES and len(arguments) == 1:
        value, change = _text(arguments[0]), str.upper if name == "upper" else str.lower
        return lambda lookup: None if (v := value(lookup)) is None else change(_ascii(v))
    if name == "substr" and len(arguments) in (2, 3):
        value = _text(arguments[0])
        numbers = [_number(argument) for argument in arguments[1:]]
        if not all(part.integer for part in numbers):
            raise NotPlain

        def cut(lookup: Lookup) -> object:
            text, places = value(lookup), [part.compute(lookup) for part in numbers]
            if text is None or None in places:
                return None
            start, count = int(str(places[0])), int(str(places[-1]))
            if not 1 <= start <= len(_ascii(text)) or count < 1:
                raise NotPlain
            end = start - 1 + count if len(places) == 2 else len(str(text))
            return str(text)[start - 1 : end]

        return cut
    raise NotPlain


# ---- conditions ------------------------------------------------------------------------------------
def _condition(item: exp.Expression) -> Compute:
    if isinstance(item, exp.Paren):
        return _condition(item.this)
    if isinstance(item, exp.Not):
        value = _condition(item.this)
        return lambda lookup: None if (v := value(lookup)) is None else not v
    if isinstance(item, (exp.And, exp.Or)):
        return _both(_condition(item.this), _condition(item.expression), isinstance(item, exp.Or))
    if isinstance(item, exp.Is) and isinstance(item.expression, exp.Null) and isinstance(item.this, Variable):
        number: int = item.this.meta["index"]
        return lambda lookup: lookup(number) is None
    how = _COMPARISONS.get(type(item))
    if how is None:
        raise NotPlain
    try:
        return _compared(_number(item.this).compute, _number(item.expression).compute, how)
    except NotPlain:
        equality = isinstance(item, (exp.EQ, exp.NEQ))
        return _compared(_trimmed(item.this, equality), _trimmed(item.expression, equality), how)


def _trimmed(item: exp.Expression, equality: bool) -> Compute:
    """A text as it is compared; its order is certain for ASCII only."""
    value = _text(item)

    def compute(lookup: Lookup) -> object:
        found = value(lookup)
        return None if found is None else (str(found) if equality else _ascii(found)).rstrip(" ")

    return compute


def _compared(a: Compute, b: Compute, how: Callable[[object, object], bool]) -> Compute:
    def compute(lookup: Lookup) -> object:
        x, y = a(lookup), b(lookup)
        return None if x is None or y is None else how(x, y)

    return compute


def _both(a: Compute, b: Compute, decided: bool) -> Compute:
    """AND, OR: what decides alone, else NULL if one side is."""

    def compute(lookup: Lookup) -> object:
        x, y = a(lookup), b(lookup)
        if decided in (x, y):
            return decided
        return None if x is None or y is None else not decided

    return compute
