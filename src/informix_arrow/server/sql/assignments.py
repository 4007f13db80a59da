"""Expressions on their way into a column: cut to its length, converted to its type, in its storage form."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from ...wire.types import ColumnType, TypeCode
from ..catalog import text
from .context import Ex
from .expressions import ExpressionTranslator
from .literals import number
from .packed import encode, pack_sql
from .result_types import DECIMALS, PADDED, duck_type, is_character, is_floating_decimal, storage_type


def constant(node: exp.Expression) -> tuple[object] | None:
    """The Python value of a literal, in a tuple; None when the node is no literal."""
    if isinstance(node, exp.Paren):
        return constant(node.this)
    if isinstance(node, exp.Null):
        return (None,)
    if isinstance(node, exp.Boolean):
        return (bool(node.this),)
    if isinstance(node, exp.Neg):
        inner = constant(node.this)
        if inner is not None and isinstance(inner[0], (int, float, Decimal)):
            return (-inner[0],)
        return None
    if isinstance(node, exp.Literal):
        value = str(node.this)
        if node.is_string:
            return (value,)
        if "e" in value.lower():
            return (float(value),)
        return (Decimal(value) if "." in value else int(value),)
    return None


def assign(tr: ExpressionTranslator, ex: Ex, t: ColumnType) -> str:
    """SQL of `ex` as a value of a column of type `t`."""
    if ex.param >= 0:
        tr.ctx.params[ex.param] = t
        tr.ctx.assigned.add(ex.param)
        return f"CAST({ex.sql} AS {storage_type(t)})"
    if ex.type is None:
        return f"CAST({ex.sql} AS {storage_type(t)})"
    if is_floating_decimal(t):
        return _packed(tr, ex, t)
    ex = tr.loose(ex)
    assert ex.type is not None
    if is_character(t):
        if ex.literal is not None:
            return text(_cut(ex.literal, t, tr.ctx.codec))
        if not is_character(ex.type):
            # a number or date as text: DuckDB's VARCHAR, cut like any other
            ex = tr.cast(ex, ColumnType.lvarchar(255))
        assert ex.type is not None
        sql = (
            cut_sql(ex.sql, t.content_width, tr.ctx.codec)
            if ex.type.content_width > t.content_width
            else ex.sql
        )
        already = ex.source is not None and ex.source.code in PADDED
        return f"rtrim({sql}, ' ')" if t.code in PADDED and not already else sql
    assert ex.type is not None
    if t.code in DECIMALS and ex.type.code == TypeCode.FLOAT:
        return f"CAST({ex.sql} AS {duck_type(t)})"
    return tr.cast(ex, t).sql


def _packed(tr: ExpressionTranslator, ex: Ex, t: ColumnType) -> str:
    """A value for a floating decimal column: its key."""
    precision = t.precision or 16
    if ex.literal is not None or ex.number:
        value = number(ex.literal if ex.literal is not None else ex.sql.strip("()"))
        return text(encode(value, precision))
    if ex.packed and ex.type is not None and (ex.type.precision or 16) <= precision:
        return ex.sql
    return pack_sql(tr._numeric(ex).sql)


def _cut(value: str, t: ColumnType, codec: str) -> str:
    encoded = value.encode(codec, "replace")
    if len(encoded) > t.content_width:
        value = encoded[: t.content_width].decode(codec, "ignore")
    return value.rstrip(" ") if t.code in PADDED else value


def cut_sql(sql: str, width: int, codec: str) -> str:
    """SQL that cuts a text to `width` bytes of the code set, never inside a character."""
    if codec not in ("utf-8", "utf8"):
        return f"left({sql}, {width})"
    return (
        f"(CASE WHEN strlen({sql}) <= {width} THEN {sql} ELSE left({sql}, list_max(list_filter(range(0, "
        f"{width + 1}), "
        f"i -> strlen(left({sql}, i)) <= {width}))) END)"
    )
