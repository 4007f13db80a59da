"""COUNT, SUM, AVG, MIN, MAX, and Informix's STDEV, VARIANCE and RANGE."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ....wire.types import ColumnType
from ...errors import SqlError
from ...types.documents import is_document
from ...types.intervals import checked_sql, interval_type, is_interval, qualifier_of, with_widest_lead
from ...types.nested_types import is_nested, is_simple_large, lob_kind
from ...types.result_types import DECIMALS, FLOATS, is_character, is_number, without_serial
from ..scope import Scope, TypedExpression, source_offset
from ..translator import NodeTranslators, Translator

_AGGREGATES: dict[type[exp.Expression], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max",
}  # fmt: skip
SPREADS = {"stdev": "stddev_pop", "variance": "var_pop"}
"""Names of the functions in DuckDB."""


def translate_aggregate(
    tr: Translator, node: exp.Expression, scope: Scope, over: str = ""
) -> TypedExpression | None:
    """Translate COUNT, SUM, AVG, MIN and MAX, over a window if `over` is its clause. Return None for other nodes."""
    if type(node) not in _AGGREGATES:
        return None
    word = _AGGREGATES[type(node)]
    this = node.this
    if this is None:
        raise SqlError(-201, 0, source_offset(node) or 1)
    distinct = ""
    if isinstance(this, exp.Distinct):
        distinct = "DISTINCT "
        if len(this.expressions) != 1 or isinstance(this.expressions[0], exp.Star):
            raise SqlError(-201, 0, 1)  # only one expression is allowed
        this = this.expressions[0]
    if word == "count":
        # COUNT is a decimal on the wire (SERVER-BEHAVIOUR section 5)
        t: ColumnType | None = ColumnType.decimal(15, 0)
        if isinstance(this, exp.Star):
            return TypedExpression(f"count(*){over}", t, "(count(*))")
        inner = tr.expr(this, scope)
        sql = tr.values.trimmed(inner) if distinct and inner.type and is_character(inner.type) else inner.sql
        return TypedExpression(f"count({distinct}{sql}){over}", t, "(count)")
    inner = tr.expr(this, scope)
    t = inner.type
    if is_nested(t) or is_simple_large(t) or lob_kind(t) or is_document(t):
        raise SqlError(-9634, 0, 0, word)
    if word in ("min", "max"):
        found = f"{word}({distinct}{inner.sql}){over}"
        # the value of a CHAR column has the column's blanks, but is stored without them
        return TypedExpression(
            found,
            without_serial(t) if t else None,
            f"({word})",
            is_packed_decimal=inner.is_packed_decimal,
            source=inner.source,
        )
    if inner.is_packed_decimal:
        return _exact_total(word, distinct, inner.sql, over)
    if t is not None:
        if is_character(t):
            inner = tr.values.numeric(inner)
            t = inner.type
        elif is_interval(t):
            qualifier = with_widest_lead(qualifier_of(t))
            return TypedExpression(
                checked_sql(f"CAST(trunc({word}({distinct}{inner.sql}){over}) AS HUGEINT)", qualifier),
                interval_type(qualifier),
                f"({word})",
            )
        elif not is_number(t):
            raise SqlError(-1260)
    if t is None or t.code in FLOATS:
        result: ColumnType | None = ColumnType.float_()
    elif word == "avg":
        average = f"_ifx_divide(_ifx_key(CAST(sum({distinct}{inner.sql}){over} AS VARCHAR)), "
        average += f"_ifx_key(CAST(count({distinct}{inner.sql}){over} AS VARCHAR)))"
        sql = f"(CASE WHEN count({inner.sql}){over} > 0 THEN {average} END)"
        return TypedExpression(sql, ColumnType.decimal(32), "(avg)", is_packed_decimal=True)
    elif t.code in DECIMALS:
        result = replace(without_serial(t), encoded_length=32 << 8 | (t.scale or 0))
    else:
        result = ColumnType.decimal(32, 0)
    return TypedExpression(f"{word}({distinct}{inner.sql}){over}", result, f"({word})")


def _aggregate(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    found = translate_aggregate(tr, node, scope)
    assert found is not None
    return found


def _exact_total(word: str, distinct: str, keys: str, over: str) -> TypedExpression:
    """Translate SUM and AVG of floating decimals, to 32 digits."""
    sql = f"_ifx_total(list({distinct}{keys}){over})"
    if word == "avg":
        number = f"_ifx_key(CAST(count({distinct}{keys}){over} AS VARCHAR))"
        sql = f"_ifx_divide({sql}, {number})"
    # Functions in Python return no NULL, as they are not called for one. A list of NULLs is none.
    sql = f"(CASE WHEN count({keys}){over} > 0 THEN {sql} END)"
    return TypedExpression(sql, ColumnType.decimal(32), f"({word})", is_packed_decimal=True)


def translate_spread(
    tr: Translator, name: str, nodes: list[exp.Expression], scope: Scope
) -> TypedExpression | None:
    """Translate STDEV, VARIANCE and RANGE as aggregates. Return None for other names. Informix computes them for a
    population."""
    if name not in SPREADS and name != "range":
        return None
    if len(nodes) != 1:
        raise SqlError(-664, 0, 0, name)
    node, distinct = nodes[0], ""
    if isinstance(node, exp.Distinct):
        node, distinct = node.expressions[0], "DISTINCT "
    inner = tr.values.numeric(tr.expr(node, scope))
    if inner.type is None or not is_number(inner.type):
        raise SqlError(-1260, 0, 0, name)
    if name == "range":
        t = without_serial(inner.type)
        if t.code == ColumnType.smallint().code:
            t = ColumnType.integer()
        return tr.values.as_key(TypedExpression(f"(max({inner.sql}) - min({inner.sql}))", t, "(range)"))
    sql = f"{SPREADS[name]}({distinct}CAST({inner.sql} AS DOUBLE))"
    return tr.values.as_key(TypedExpression(sql, ColumnType.decimal(32), f"({name})"))


NODES: NodeTranslators = dict.fromkeys(_AGGREGATES, _aggregate)
