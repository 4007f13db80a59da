"""Built-in functions of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....wire.types import ColumnType, TypeCode
from ...errors import SqlError
from ...types.names import text
from ...types.result_types import DECIMALS, INTEGERS, LONGS, common, duck_type, plain
from ..scope import Ex
from ..values.casting import Values
from .handler import Functions, Handler

_INTEGER = ColumnType.integer()
_DIGITS_OF_INTEGER, _DIGITS_OF_BIGINT, _MOST_DIGITS = 9, 18, 32
"""How many INTEGER, BIGINT and DECIMAL certainly have room for."""

_UNBOUNDED = frozenset({"exp", "sinh", "cosh", "acosh", "atanh", "degrees", "pow"})
"""What DuckDB answers with infinity or NaN; it refuses to do the other ones of a wrong number."""


def numeric(duck: str, result: Callable[[], ColumnType]) -> Handler:
    """A function of DuckDB; -1223 where it has no number, or none that a FLOAT holds."""
    form = "_ifx_finite({})" if duck in _UNBOUNDED else "{}"

    def handler(v: Values, args: list[Ex]) -> Ex:
        numbers = [v.numeric(v.ctx.hint(a, ColumnType.float_())) for a in args]
        return Ex(form.format(f"{duck}({', '.join(a.sql for a in numbers)})"), result())

    return handler


def mod(v: Values, args: list[Ex]) -> Ex:
    """MOD: the remainder of the whole parts of two numbers. It is nearer to 0 than the second, and no further from it
    than the first: an INTEGER where one of them is, else of as many digits as the shorter has before the point."""
    a, b = (_whole_part(v, x if x.packed and not x.bare else v.ctx.count(x)) for x in args)
    sql = f"({a.sql} % {b.sql})"
    types = [t for t in (a.type, b.type) if t is not None]
    integers = [t for t in types if t.code in INTEGERS]
    if len(integers) == len(types):
        t = plain(a.type if args[1].param >= 0 and a.type is not None else common(a.type, b.type) or _INTEGER)
        return Ex(sql, _INTEGER if t.code == TypeCode.SMALLINT else t)
    digits = min(t.precision or _MOST_DIGITS for t in types if t.code not in INTEGERS)
    if integers:
        result = ColumnType.bigint() if integers[0].code in LONGS else _INTEGER
    elif digits <= _DIGITS_OF_BIGINT:
        result = _INTEGER if digits <= _DIGITS_OF_INTEGER else ColumnType.bigint()
    else:
        return Ex(sql, ColumnType.decimal(32, 0))
    return Ex(f"CAST({sql} AS {duck_type(result)})", result)


def _whole_part(v: Values, ex: Ex) -> Ex:
    """What stands before the point of a number: an integer as it is, a DECIMAL without scale else."""
    if ex.packed:
        whole = f"_ifx_whole({ex.sql}, 'down')"
        return Ex(f"CAST({whole} AS DECIMAL(32,0))", ColumnType.decimal(32, 0))
    number = v.numeric(ex)
    t = number.type
    if t is None or t.code in INTEGERS:
        return number
    digits = _MOST_DIGITS
    if t.code in DECIMALS and t.scale is not None:
        digits = max(1, (t.precision or _MOST_DIGITS) - t.scale)
    return Ex(f"CAST(trunc({number.sql}) AS DECIMAL({digits},0))", ColumnType.decimal(digits, 0))


def absolute(v: Values, args: list[Ex]) -> Ex:
    if args[0].packed and args[0].type is not None:
        return Ex(f"_ifx_magnitude({args[0].sql})", plain(args[0].type), packed=True)
    a = v.numeric(args[0])
    if a.type is not None and a.type.code in DECIMALS and a.type.scale is not None:
        return Ex(f"abs(CAST({a.sql} AS {duck_type(a.type)}))", plain(a.type))
    return Ex(f"abs({a.sql})", plain(a.type) if a.type is not None else None)


def rounding(duck: str) -> Handler:
    """ROUND and TRUNC of numbers."""

    def handler(v: Values, args: list[Ex]) -> Ex:
        a = args[0]
        digits = v.ctx.count(args[1]).sql if len(args) > 1 else "0"
        fixed = a.type is not None and a.type.code in DECIMALS and a.type.scale is not None
        later = fixed and len(args) > 1 and args[1].param >= 0  # DuckDB wants to know the digits beforehand
        if (a.packed or later) and a.type is not None:
            name = "rounded" if duck == "round" else "truncated"
            found = Ex(f"_ifx_{name}({v.key(a)}, CAST({digits} AS INTEGER))", plain(a.type), packed=True)
            return v.cast(replace(found, type=ColumnType.decimal(32)), plain(a.type)) if later else found
        a = v.numeric(a)
        if a.type is not None and a.type.code in INTEGERS:
            return (
                Ex(a.sql, plain(a.type))
                if digits == "0"
                else Ex(f"CAST({duck}(CAST({a.sql} AS DOUBLE), {digits}) AS BIGINT)", plain(a.type))
            )
        t = a.type
        inner = f"{duck}({a.sql}, {digits})"
        if fixed and t is not None:
            return Ex(f"CAST({inner} AS DECIMAL({t.precision},{t.scale}))", plain(t))
        return Ex(inner, plain(t) if t is not None else ColumnType.decimal(32))

    return handler


def whole(duck: str) -> Handler:
    def handler(v: Values, args: list[Ex]) -> Ex:
        if args[0].packed:
            whole = f"_ifx_whole({args[0].sql}, {text(duck)})"
            return Ex(f"CAST({whole} AS DECIMAL(32,0))", ColumnType.decimal(32, 0))
        a = v.numeric(args[0])
        if a.type is not None and a.type.code in INTEGERS:
            return Ex(a.sql, plain(a.type))
        return Ex(f"CAST({duck}({a.sql}) AS DECIMAL(32,0))", ColumnType.decimal(32, 0))

    return handler


def bits(operator: str) -> Handler:
    def handler(v: Values, args: list[Ex]) -> Ex:
        a, b = (v.ctx.whole(x) for x in args)
        sql = f"xor({a.sql}, {b.sql})" if operator == "xor" else f"({a.sql} {operator} {b.sql})"
        return Ex(sql, plain(common(a.type, b.type) or ColumnType.integer()))

    return handler


def _root(v: Values, args: list[Ex]) -> Ex:
    """ROOT(x [, n]): the n-th root, 2 when it is not given."""
    x, n = (
        v.numeric(v.ctx.hint(a, ColumnType.float_())).sql for a in (*args, Ex("2", ColumnType.integer()))[:2]
    )
    return Ex(f"_ifx_finite(pow(CAST({x} AS DOUBLE), 1e0 / {n}))", ColumnType.float_())


def _bitnot(v: Values, args: list[Ex]) -> Ex:
    a = v.ctx.whole(args[0])
    return Ex(f"(~{a.sql})", plain(a.type) if a.type is not None else ColumnType.integer())


def _bitandnot(v: Values, args: list[Ex]) -> Ex:
    return bits("&")(v, [args[0], _bitnot(v, args[1:])])


def _shift(operator: str) -> Handler:
    """IFX_BIT_LEFTSHIFT and IFX_BIT_RIGHTSHIFT: by as many bits as the operand has at most, of its type; the sign stays
    where it goes to the right."""

    def handler(v: Values, args: list[Ex]) -> Ex:
        a, n = (v.ctx.whole(x) for x in args)
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
        return Ex(f"CAST({sql} AS {'BIGINT' if bits == 64 else 'INTEGER'})", t)

    return handler


def _sign(v: Values, args: list[Ex]) -> Ex:
    a = v.numeric(v.ctx.hint(args[0], ColumnType.integer()))
    return Ex(f"CAST(sign({a.sql}) AS INTEGER)", ColumnType.integer())


def _float(*names: str, arguments: int = 1) -> Functions:
    """Functions with a FLOAT result that DuckDB knows by the same names."""
    return {name: (arguments, arguments, numeric(name, ColumnType.float_)) for name in names}


FUNCTIONS: Functions = {
    **_float(
        "sqrt", "exp", "ln", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"
    ),
    **_float("asinh", "acosh", "atanh", "degrees", "radians"),
    **_float("atan2", "pow", arguments=2),
    "abs": (1, 1, absolute),
    "mod": (2, 2, mod),
    "ceil": (1, 1, whole("ceil")),
    "floor": (1, 1, whole("floor")),
    "power": (2, 2, numeric("pow", ColumnType.float_)),
    "logn": (1, 1, numeric("ln", ColumnType.float_)),
    "root": (1, 2, _root),
    "sign": (1, 1, _sign),
    "bitand": (2, 2, bits("&")),
    "bitor": (2, 2, bits("|")),
    "bitxor": (2, 2, bits("xor")),
    "bitnot": (1, 1, _bitnot),
    "bitandnot": (2, 2, _bitandnot),
    "ifx_bit_leftshift": (2, 2, _shift("left")),
    "ifx_bit_rightshift": (2, 2, _shift("right")),
}
