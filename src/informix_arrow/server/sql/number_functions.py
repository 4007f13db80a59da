"""Built-in functions of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError
from .context import Ex
from .names import text
from .result_types import DECIMALS, INTEGERS, common, is_moment, plain

if TYPE_CHECKING:
    from .expressions import ExpressionTranslator

Handler = Callable[["ExpressionTranslator", list[Ex]], Ex]


def numeric(duck: str, result: Callable[[], ColumnType]) -> Handler:
    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        numbers = [tr._numeric(tr.ctx.hint(a, ColumnType.float_())) for a in args]
        return Ex(f"{duck}({', '.join(a.sql for a in numbers)})", result())

    return handler


def mod(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    if any(x.packed for x in args):
        return Ex(
            f"_ifx_remainder({tr.key(args[0])}, {tr.key(args[1])})", ColumnType.decimal(32), packed=True
        )
    a, b = (tr._numeric(tr.ctx.hint(x, ColumnType.integer())) for x in args)
    t = ColumnType.integer()
    if a.type is not None and b.type is not None:
        t = plain(common(a.type, b.type) or t)
        if t.code == TypeCode.SMALLINT:
            t = ColumnType.integer()
    return Ex(f"({a.sql} % {b.sql})", t)


def absolute(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
    if args[0].packed and args[0].type is not None:
        return Ex(f"_ifx_magnitude({args[0].sql})", plain(args[0].type), packed=True)
    a = tr._numeric(args[0])
    return Ex(f"abs({a.sql})", plain(a.type) if a.type is not None else None)


def rounding(duck: str) -> Handler:
    """ROUND and TRUNC of numbers; of dates to a day."""

    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        a = args[0]
        if a.type is not None and is_moment(a.type):
            if duck == "trunc" and len(args) == 1:
                return Ex(f"CAST({a.sql} AS DATE)", ColumnType.date())
            raise SqlError(-664, 0, 0, duck)
        digits = args[1].sql if len(args) > 1 else "0"
        if a.packed and a.type is not None:
            name = "rounded" if duck == "round" else "truncated"
            return Ex(f"_ifx_{name}({a.sql}, CAST({digits} AS INTEGER))", plain(a.type), packed=True)
        a = tr._numeric(a)
        if a.type is not None and a.type.code in INTEGERS:
            return (
                Ex(a.sql, plain(a.type))
                if digits == "0"
                else Ex(f"CAST({duck}(CAST({a.sql} AS DOUBLE), {digits}) AS BIGINT)", plain(a.type))
            )
        t = a.type
        fixed = t is not None and t.code in DECIMALS and t.scale is not None
        inner = f"{duck}({a.sql}, {digits})"
        if fixed and t is not None:
            return Ex(f"CAST({inner} AS DECIMAL({t.precision},{t.scale}))", plain(t))
        return Ex(inner, plain(t) if t is not None else ColumnType.decimal(32))

    return handler


def whole(duck: str) -> Handler:
    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        if args[0].packed:
            whole = f"_ifx_whole({args[0].sql}, {text(duck)})"
            return Ex(f"CAST({whole} AS DECIMAL(32,0))", ColumnType.decimal(32, 0))
        a = tr._numeric(args[0])
        if a.type is not None and a.type.code in INTEGERS:
            return Ex(a.sql, plain(a.type))
        return Ex(f"CAST({duck}({a.sql}) AS DECIMAL(32,0))", ColumnType.decimal(32, 0))

    return handler


def bits(operator: str) -> Handler:
    def handler(tr: ExpressionTranslator, args: list[Ex]) -> Ex:
        a, b = (tr.ctx.hint(x, ColumnType.integer()) for x in args)
        sql = f"xor({a.sql}, {b.sql})" if operator == "xor" else f"({a.sql} {operator} {b.sql})"
        return Ex(sql, plain(common(a.type, b.type) or ColumnType.integer()))

    return handler
