"""Built-in functions of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....wire.types import ColumnType, TypeCode
from ...errors import SqlError
from ...types.quoting import quote_string
from ...types.result_types import DECIMALS, INTEGERS, LONGS, common_type, duck_type, without_serial
from ..scope import TypedExpression
from ..values.casts import Values
from .handler import FunctionTable, FunctionTranslator

_INTEGER = ColumnType.integer()
_DIGITS_OF_INTEGER, _DIGITS_OF_BIGINT, _MAX_DIGITS = 9, 18, 32
"""Digits that INTEGER, BIGINT and DECIMAL hold for certain."""

_UNBOUNDED = frozenset({"exp", "sinh", "cosh", "acosh", "atanh", "degrees", "pow"})
"""Functions that return infinity or NaN in DuckDB. The others raise an error for an invalid argument."""


def float_function(duck: str, result: Callable[[], ColumnType]) -> FunctionTranslator:
    """Translate to a function of DuckDB. Raises -1223 where it has no result, or one that a FLOAT cannot hold."""
    form = "_ifx_finite({})" if duck in _UNBOUNDED else "{}"

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        numbers = [v.numeric(v.ctx.hint(a, ColumnType.float_())) for a in args]
        return TypedExpression(form.format(f"{duck}({', '.join(a.sql for a in numbers)})"), result())

    return handler


def mod(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate MOD, the remainder of the integer parts of two numbers.

    Its magnitude is below that of the second and not above that of the first. So it is an INTEGER if one of them is,
    else it has as many digits as the shorter one has before the point.
    """
    a, b = (
        _integer_part(v, x if x.is_packed_decimal and not x.duck_number else v.ctx.as_count(x)) for x in args
    )
    sql = f"({a.sql} % {b.sql})"
    types = [t for t in (a.type, b.type) if t is not None]
    integers = [t for t in types if t.code in INTEGERS]
    if len(integers) == len(types):
        t = without_serial(
            a.type if args[1].param >= 0 and a.type is not None else common_type(a.type, b.type) or _INTEGER
        )
        return TypedExpression(sql, _INTEGER if t.code == TypeCode.SMALLINT else t)
    digits = min(t.precision or _MAX_DIGITS for t in types if t.code not in INTEGERS)
    if integers:
        result = ColumnType.bigint() if integers[0].code in LONGS else _INTEGER
    elif digits <= _DIGITS_OF_BIGINT:
        result = _INTEGER if digits <= _DIGITS_OF_INTEGER else ColumnType.bigint()
    else:
        return TypedExpression(sql, ColumnType.decimal(32, 0))
    return TypedExpression(f"CAST({sql} AS {duck_type(result)})", result)


def _integer_part(v: Values, ex: TypedExpression) -> TypedExpression:
    """Return the integer part of a number: an integer unchanged, else a DECIMAL without scale."""
    if ex.is_packed_decimal:
        truncated = f"_ifx_whole({ex.sql}, 'down')"
        return TypedExpression(f"CAST({truncated} AS DECIMAL(32,0))", ColumnType.decimal(32, 0))
    number = v.numeric(ex)
    t = number.type
    if t is None or t.code in INTEGERS:
        return number
    digits = _MAX_DIGITS
    if t.code in DECIMALS and t.scale is not None:
        digits = max(1, (t.precision or _MAX_DIGITS) - t.scale)
    return TypedExpression(f"CAST(trunc({number.sql}) AS DECIMAL({digits},0))", ColumnType.decimal(digits, 0))


def absolute(v: Values, args: list[TypedExpression]) -> TypedExpression:
    if args[0].is_packed_decimal and args[0].type is not None:
        return TypedExpression(
            f"_ifx_magnitude({args[0].sql})", without_serial(args[0].type), is_packed_decimal=True
        )
    a = v.numeric(args[0])
    if a.type is not None and a.type.code in DECIMALS and a.type.scale is not None:
        return TypedExpression(f"abs(CAST({a.sql} AS {duck_type(a.type)}))", without_serial(a.type))
    return TypedExpression(f"abs({a.sql})", without_serial(a.type) if a.type is not None else None)


def rounding(duck: str) -> FunctionTranslator:
    """Translate ROUND and TRUNC of numbers."""

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        a = args[0]
        digits = v.ctx.as_count(args[1]).sql if len(args) > 1 else "0"
        fixed = a.type is not None and a.type.code in DECIMALS and a.type.scale is not None
        # DuckDB needs the number of digits for planning
        unplannable = fixed and len(args) > 1 and args[1].param >= 0
        if (a.is_packed_decimal or unplannable) and a.type is not None:
            name = "rounded" if duck == "round" else "truncated"
            found = TypedExpression(
                f"_ifx_{name}({v.key(a)}, CAST({digits} AS INTEGER))",
                without_serial(a.type),
                is_packed_decimal=True,
            )
            return (
                v.cast(replace(found, type=ColumnType.decimal(32)), without_serial(a.type))
                if unplannable
                else found
            )
        a = v.numeric(a)
        if a.type is not None and a.type.code in INTEGERS:
            return (
                TypedExpression(a.sql, without_serial(a.type))
                if digits == "0"
                else TypedExpression(
                    f"CAST({duck}(CAST({a.sql} AS DOUBLE), {digits}) AS BIGINT)", without_serial(a.type)
                )
            )
        t = a.type
        inner = f"{duck}({a.sql}, {digits})"
        if fixed and t is not None:
            return TypedExpression(f"CAST({inner} AS DECIMAL({t.precision},{t.scale}))", without_serial(t))
        return TypedExpression(inner, without_serial(t) if t is not None else ColumnType.decimal(32))

    return handler


def to_integral(duck: str) -> FunctionTranslator:
    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        if args[0].is_packed_decimal:
            truncated = f"_ifx_whole({args[0].sql}, {quote_string(duck)})"
            return TypedExpression(f"CAST({truncated} AS DECIMAL(32,0))", ColumnType.decimal(32, 0))
        a = v.numeric(args[0])
        if a.type is not None and a.type.code in INTEGERS:
            return TypedExpression(a.sql, without_serial(a.type))
        return TypedExpression(f"CAST({duck}({a.sql}) AS DECIMAL(32,0))", ColumnType.decimal(32, 0))

    return handler


def bitwise(operator: str) -> FunctionTranslator:
    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        a, b = (v.ctx.as_integer(x) for x in args)
        sql = f"xor({a.sql}, {b.sql})" if operator == "xor" else f"({a.sql} {operator} {b.sql})"
        return TypedExpression(sql, without_serial(common_type(a.type, b.type) or ColumnType.integer()))

    return handler


def _root(v: Values, args: list[TypedExpression]) -> TypedExpression:
    """Translate ROOT(x [, n]), the n-th root. n is 2 by default."""
    x, n = (
        v.numeric(v.ctx.hint(a, ColumnType.float_())).sql
        for a in (*args, TypedExpression("2", ColumnType.integer()))[:2]
    )
    return TypedExpression(f"_ifx_finite(pow(CAST({x} AS DOUBLE), 1e0 / {n}))", ColumnType.float_())


def _bitnot(v: Values, args: list[TypedExpression]) -> TypedExpression:
    a = v.ctx.as_integer(args[0])
    return TypedExpression(
        f"(~{a.sql})", without_serial(a.type) if a.type is not None else ColumnType.integer()
    )


def _bitandnot(v: Values, args: list[TypedExpression]) -> TypedExpression:
    return bitwise("&")(v, [args[0], _bitnot(v, args[1:])])


def _shift(operator: str) -> FunctionTranslator:
    """Translate IFX_BIT_LEFTSHIFT and IFX_BIT_RIGHTSHIFT.

    The shift is modulo the number of bits of the operand's type. A shift to the right keeps the sign.
    """

    def handler(v: Values, args: list[TypedExpression]) -> TypedExpression:
        a, n = (v.ctx.as_integer(x) for x in args)
        if a.type is None or a.type.code not in INTEGERS or n.type is None or n.type.code not in INTEGERS:
            raise SqlError(-1260)
        bits = 64 if a.type.code in LONGS else 32
        by = f"(((CAST({n.sql} AS BIGINT) % {bits}) + {bits}) % {bits})"
        if operator == "right":
            sql = f"(CAST({a.sql} AS BIGINT) >> {by})"
        else:
            whole, half = 1 << bits, 1 << (bits - 1)
            moved = f"CAST({a.sql} AS HUGEINT) * (CAST(1 AS HUGEINT) << {by})"
            sql = f"((({moved} + {half}) % {whole} + {whole}) % {whole} - {half})"
        t = ColumnType.bigint() if bits == 64 else ColumnType.integer()
        return TypedExpression(f"CAST({sql} AS {'BIGINT' if bits == 64 else 'INTEGER'})", t)

    return handler


def _sign(v: Values, args: list[TypedExpression]) -> TypedExpression:
    a = v.numeric(v.ctx.hint(args[0], ColumnType.integer()))
    return TypedExpression(f"CAST(sign({a.sql}) AS INTEGER)", ColumnType.integer())


def _float(*names: str, arguments: int = 1) -> FunctionTable:
    """Return a table of functions with FLOAT results that have the same names in DuckDB."""
    return {name: (arguments, arguments, float_function(name, ColumnType.float_)) for name in names}


FUNCTIONS: FunctionTable = {
    **_float(
        "sqrt", "exp", "ln", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"
    ),
    **_float("asinh", "acosh", "atanh", "degrees", "radians"),
    **_float("atan2", "pow", arguments=2),
    "abs": (1, 1, absolute),
    "mod": (2, 2, mod),
    "ceil": (1, 1, to_integral("ceil")),
    "floor": (1, 1, to_integral("floor")),
    "power": (2, 2, float_function("pow", ColumnType.float_)),
    "logn": (1, 1, float_function("ln", ColumnType.float_)),
    "root": (1, 2, _root),
    "sign": (1, 1, _sign),
    "bitand": (2, 2, bitwise("&")),
    "bitor": (2, 2, bitwise("|")),
    "bitxor": (2, 2, bitwise("xor")),
    "bitnot": (1, 1, _bitnot),
    "bitandnot": (2, 2, _bitandnot),
    "ifx_bit_leftshift": (2, 2, _shift("left")),
    "ifx_bit_rightshift": (2, 2, _shift("right")),
}
