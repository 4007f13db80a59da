"""Expressions on their way into a column: cut to its length, converted to its type, in its storage form."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from ...wire.code_sets import is_multibyte
from ...wire.types import ColumnType, TypeCode
from ..catalog import text
from ..errors import SqlError
from .context import Ex
from .expressions import ExpressionTranslator
from .nested_sql import Constructor, function
from .nested_types import is_simple_large
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
    if isinstance(ex.value, Constructor):
        return tr.cast(ex, t).sql
    if ex.type is None:
        return f"CAST({ex.sql} AS {storage_type(t)})"
    if is_floating_decimal(t):
        return tr.key(ex, t.precision or 16)
    assert ex.type is not None
    if is_simple_large(t) and ex.source is None:
        raise SqlError(-617)  # only parameters, columns and NULL
    if is_character(t):
        if ex.literal is not None:
            kept = _cut(ex.literal, t, tr.ctx.codec)
            wanted = ex.literal.rstrip(" ") if t.code in PADDED else ex.literal
            tr.ctx.literal_cut = tr.ctx.literal_cut or kept != wanted
            return text(kept)
        if not is_character(ex.type):
            # a number or date as text: DuckDB's VARCHAR, cut like any other
            ex = tr.cast(ex, ColumnType.lvarchar(255))
        assert ex.type is not None
        sql = ex.sql
        if ex.type.content_width > t.content_width:
            whole = f"rtrim({sql}, ' ')" if t.code in PADDED else sql
            tr.ctx.cuts.append(f"{byte_length(whole, tr.ctx.codec)} > {t.content_width}")
            sql = cut_sql(sql, t.content_width, tr.ctx.codec)
        already = ex.source is not None and ex.source.code in PADDED
        return f"rtrim({sql}, ' ')" if t.code in PADDED and not already else sql
    assert ex.type is not None
    if t.code in DECIMALS and ex.type.code == TypeCode.FLOAT:
        return f"CAST({ex.sql} AS {duck_type(t)})"
    return tr.cast(ex, t).sql


def _cut(value: str, t: ColumnType, codec: str) -> str:
    encoded = value.encode(codec, "replace")
    if len(encoded) > t.content_width:
        value = encoded[: t.content_width].decode(codec, "ignore")
    return value.rstrip(" ") if t.code in PADDED else value


def byte_length(sql: str, codec: str) -> str:
    """SQL that counts a text's bytes in the code set."""
    if codec in ("utf-8", "utf8"):
        return f"strlen({sql})"
    return f"_ifx_bytes({sql}, {text(codec)})" if is_multibyte(codec) else f"length({sql})"


def cut_sql(sql: str, width: int, codec: str) -> str:
    """SQL that cuts a text to `width` bytes of the code set, never inside a character."""
    if codec not in ("utf-8", "utf8"):
        return f"_ifx_cut({sql}, {width}, {text(codec)})" if is_multibyte(codec) else f"left({sql}, {width})"
    return (
        f"(CASE WHEN strlen({sql}) <= {width} THEN {sql} ELSE left({sql}, list_max(list_filter("
        f"range(0, {width + 1}), {function('i', f'strlen(left({sql}, i)) <= {width}')}))) END)"
    )


def pairs(expressions: Sequence[exp.Expression]) -> list[tuple[exp.Expression, exp.Expression]]:
    """`a = 1`, and `(a, b) = (1, 2)`, as single assignments."""
    found = []
    for node in expressions:
        if not isinstance(node, exp.EQ):
            raise SqlError(-201, 0, 1)
        left, right = node.this, node.expression
        if isinstance(left, (exp.Tuple, exp.Paren)):
            lefts = left.expressions if isinstance(left, exp.Tuple) else [left.this]
            rights = right.expressions if isinstance(right, exp.Tuple) else [right]
            if len(rights) == 1 and len(lefts) > 1:
                rights = _columns_of(rights[0])
            if len(lefts) != len(rights):
                raise SqlError(-236)
            found += list(zip(lefts, rights, strict=True))
        else:
            found.append((left, right))
    return found


def _columns_of(node: exp.Expression) -> list[exp.Expression]:
    """`(SELECT x, y ...)` as one subquery for each of its columns."""
    while isinstance(node, (exp.Paren, exp.Subquery)):
        node = node.this
    if not isinstance(node, exp.Select):
        raise SqlError(-236)
    found: list[exp.Expression] = []
    for item in node.expressions:
        one = node.copy()
        one.set("expressions", [item.copy()])
        found.append(exp.Subquery(this=one))
    return found
