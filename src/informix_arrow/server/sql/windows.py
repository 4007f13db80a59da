"""OLAP functions: numbering, ranking and aggregates with OVER, and the aggregates that DuckDB calls otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ...wire.types import ColumnType
from ..errors import SqlError, not_supported
from .context import Ex, Scope, offset_of
from .result_types import is_character, is_number, plain

if TYPE_CHECKING:
    from .expressions import ExpressionTranslator

_NUMBERING = {
    "row_number": ColumnType.bigint, "rank": ColumnType.bigint, "dense_rank": ColumnType.bigint,
    "denserank": ColumnType.bigint, "ntile": ColumnType.bigint, "percent_rank": ColumnType.float_,
    "cume_dist": ColumnType.float_,
}  # fmt: skip
_VALUES = frozenset({"lag", "lead", "first_value", "last_value"})
_SPREADS = {"stdev": "stddev_pop", "variance": "var_pop"}


def spread(tr: ExpressionTranslator, name: str, nodes: list[exp.Expression], scope: Scope) -> Ex | None:
    """STDEV, VARIANCE and RANGE as aggregates; None for anything else. A population's, as Informix has them."""
    if name not in _SPREADS and name != "range":
        return None
    if len(nodes) != 1:
        raise SqlError(-664, 0, 0, name)
    node, distinct = nodes[0], ""
    if isinstance(node, exp.Distinct):
        node, distinct = node.expressions[0], "DISTINCT "
    inner = tr._numeric(tr.expr(node, scope))
    if inner.type is None or not is_number(inner.type):
        raise SqlError(-1260, 0, 0, name)
    if name == "range":
        t = plain(inner.type)
        if t.code == ColumnType.smallint().code:
            t = ColumnType.integer()
        return tr.as_key(Ex(f"(max({inner.sql}) - min({inner.sql}))", t, "(range)"))
    sql = f"{_SPREADS[name]}({distinct}CAST({inner.sql} AS DOUBLE))"
    return tr.as_key(Ex(sql, ColumnType.decimal(32), f"({name})"))


def window(tr: ExpressionTranslator, node: exp.Expression, scope: Scope) -> Ex:
    """`function(...) OVER (PARTITION BY ... ORDER BY ... ROWS ...)`."""
    call = node.this
    nulls = ""
    if isinstance(call, (exp.IgnoreNulls, exp.RespectNulls)):
        nulls = " IGNORE NULLS" if isinstance(call, exp.IgnoreNulls) else ""
        call = call.this
    if node.args.get("alias") or (node.args.get("first") is not None and not node.args["first"]):
        raise not_supported("named windows", offset=offset_of(node) or 1)
    over = _over(tr, node, scope)
    if not isinstance(call, exp.Anonymous):
        found = tr.expr(call, scope)
        if found.packed:
            raise not_supported("OVER with an aggregate of floating decimals")
        return replace(found, sql=f"{found.sql} OVER ({over})")
    name = call.name.lower()
    items = list(call.expressions)
    if name in _NUMBERING:
        arguments = ", ".join(tr.ctx.hint(tr.expr(i, scope), ColumnType.integer()).sql for i in items)
        word = "dense_rank" if name == "denserank" else name
        return Ex(f"{word}({arguments}) OVER ({over})", _NUMBERING[name](), f"({name})")
    if name in _VALUES and items:
        value = tr.expr(items[0], scope)
        t = plain(value.type) if value.type is not None else None
        parts = [value.sql]
        if len(items) > 1:
            parts.append(tr.ctx.hint(tr.expr(items[1], scope), ColumnType.integer()).sql)
        if len(items) > 2:
            parts.append(tr.to(tr.expr(items[2], scope), t))
        return Ex(f"{name}({', '.join(parts)}{nulls}) OVER ({over})", t, f"({name})", packed=value.packed)
    if name in ("ratio_to_report", "ratiotoreport") and len(items) == 1:
        value = tr._numeric(tr.expr(items[0], scope))
        amount = f"CAST({value.sql} AS DOUBLE)"
        return tr.as_key(
            Ex(f"({amount} / sum({amount}) OVER ({over}))", ColumnType.decimal(32), "(ratio_to_report)")
        )
    if name in _SPREADS and len(items) == 1:
        value = tr._numeric(tr.expr(items[0], scope))
        sql = f"{_SPREADS[name]}(CAST({value.sql} AS DOUBLE)) OVER ({over})"
        return tr.as_key(Ex(sql, ColumnType.decimal(32), f"({name})"))
    raise SqlError(-674, 0, 0, name)


def _over(tr: ExpressionTranslator, node: exp.Expression, scope: Scope) -> str:
    parts = []
    partition = node.args.get("partition_by")
    if partition:
        keys = []
        for item in partition:
            ex = tr.expr(item, scope)
            keys.append(tr.ctx.trimmed(ex) if ex.type is not None and is_character(ex.type) else ex.sql)
        parts.append("PARTITION BY " + ", ".join(keys))
    order = node.args.get("order")
    if order is not None:
        items = []
        for item in order.expressions:
            descending = bool(item.args.get("desc"))
            explicit = item.args.get("nulls_first")
            first = not descending if explicit is None else bool(explicit)
            way = f"{'DESC' if descending else 'ASC'} NULLS {'FIRST' if first else 'LAST'}"
            items.append(f"{tr.expr(item.this, scope).sql} {way}")
        parts.append("ORDER BY " + ", ".join(items))
    spec = node.args.get("spec")
    if spec is not None:
        parts.append(_frame(tr, spec, scope))
    return " ".join(parts)


def _frame(tr: ExpressionTranslator, spec: exp.Expression, scope: Scope) -> str:
    def bound(which: str) -> str:
        value, side = spec.args.get(which), str(spec.args.get(f"{which}_side") or "")
        if value is None:
            return "CURRENT ROW"
        text = str(value) if isinstance(value, str) else tr.expr(value, scope).sql
        return f"{text} {side}".strip()

    return f"{str(spec.args['kind']).upper()} BETWEEN {bound('start')} AND {bound('end')}"
