"""OLAP functions: numbering, ranking and aggregates with OVER."""

from __future__ import annotations

from sqlglot import exp

from ....wire.types import ColumnType
from ...errors import SqlError, not_supported
from ...types.result_types import is_character, without_serial
from ..scope import Scope, TypedExpression, source_offset
from ..trailing_blanks import has_trailing_blanks, trim_blanks_sql
from ..translator import NodeTranslators, Translator
from .aggregates import SPREADS, translate_aggregate

_NUMBERING = {
    "row_number": ColumnType.bigint, "rownumber": ColumnType.bigint, "rank": ColumnType.bigint,
    "dense_rank": ColumnType.bigint, "denserank": ColumnType.bigint, "ntile": ColumnType.bigint,
    "percent_rank": ColumnType.float_, "cume_dist": ColumnType.float_,
}  # fmt: skip
_VALUES = frozenset({"lag", "lead", "first_value", "last_value"})


def _window(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    """Translate `function(...) OVER (PARTITION BY ... ORDER BY ... ROWS ...)`."""
    call = node.this
    nulls = ""
    if isinstance(call, (exp.IgnoreNulls, exp.RespectNulls)):
        nulls = " IGNORE NULLS" if isinstance(call, exp.IgnoreNulls) else ""
        call = call.this
    if node.args.get("alias") or (node.args.get("first") is not None and not node.args["first"]):
        raise not_supported("named windows", offset=source_offset(node) or 1)
    over = _over_clause(tr, node, scope)
    if not isinstance(call, exp.Anonymous):
        total = translate_aggregate(tr, call, scope, f" OVER ({over})")
        if total is not None:
            return total
        raise SqlError(-674, 0, 0, call.key)
    name = call.name.lower()
    items = list(call.expressions)
    if name in _NUMBERING:
        arguments = ", ".join(tr.ctx.as_count(tr.expr(i, scope)).sql for i in items)
        word = {"denserank": "dense_rank", "rownumber": "row_number"}.get(name, name)
        return TypedExpression(f"{word}({arguments}) OVER ({over})", _NUMBERING[name](), f"({name})")
    if name in _VALUES and items:
        if isinstance(items[0], (exp.IgnoreNulls, exp.RespectNulls)):  # LAG(a IGNORE NULLS), too
            nulls = " IGNORE NULLS" if isinstance(items[0], exp.IgnoreNulls) else ""
            items[0] = items[0].this
        value = tr.expr(items[0], scope)
        t = without_serial(value.type) if value.type is not None else None
        parts = [value.sql]
        if len(items) > 1:
            parts.append(tr.ctx.as_count(tr.expr(items[1], scope)).sql)
        if len(items) > 2:
            parts.append(tr.values.to(tr.expr(items[2], scope), t))
        return TypedExpression(
            f"{name}({', '.join(parts)}{nulls}) OVER ({over})",
            t,
            f"({name})",
            is_packed_decimal=value.is_packed_decimal,
        )
    if name in ("ratio_to_report", "ratiotoreport") and len(items) == 1:
        value = tr.values.numeric(tr.expr(items[0], scope))
        amount = f"CAST({value.sql} AS DOUBLE)"
        return tr.values.as_key(
            TypedExpression(
                f"({amount} / sum({amount}) OVER ({over}))", ColumnType.decimal(32), "(ratio_to_report)"
            )
        )
    if name == "range" and len(items) == 1:
        value = tr.values.numeric(tr.expr(items[0], scope))
        t = without_serial(value.type) if value.type is not None else ColumnType.float_()
        t = ColumnType.integer() if t.code == ColumnType.smallint().code else t
        sql = f"(max({value.sql}) OVER ({over}) - min({value.sql}) OVER ({over}))"
        return tr.values.as_key(TypedExpression(sql, t, "(range)"))
    if name in SPREADS and len(items) == 1:
        value = tr.values.numeric(tr.expr(items[0], scope))
        sql = f"{SPREADS[name]}(CAST({value.sql} AS DOUBLE)) OVER ({over})"
        return tr.values.as_key(TypedExpression(sql, ColumnType.decimal(32), f"({name})"))
    raise SqlError(-674, 0, 0, name)


def _over_clause(tr: Translator, node: exp.Expression, scope: Scope) -> str:
    parts = []
    partition = node.args.get("partition_by")
    if partition:
        keys = []
        for item in partition:
            ex = tr.expr(item, scope)
            keys.append(tr.values.trimmed(ex) if ex.type is not None and is_character(ex.type) else ex.sql)
        parts.append("PARTITION BY " + ", ".join(keys))
    order = node.args.get("order")
    if order is not None:
        items = []
        for item in order.expressions:
            descending = bool(item.args.get("desc"))
            explicit = item.args.get("nulls_first")
            first = not descending if explicit is None else bool(explicit)
            way = f"{'DESC' if descending else 'ASC'} NULLS {'FIRST' if first else 'LAST'}"
            ex = tr.expr(item.this, scope)
            # Equal texts share a rank.
            key = trim_blanks_sql(ex.sql) if has_trailing_blanks(tr.values, ex) else ex.sql
            items.append(f"{key} {way}")
        parts.append("ORDER BY " + ", ".join(items))
    spec = node.args.get("spec")
    if spec is not None:
        parts.append(_frame(tr, spec, scope))
    return " ".join(parts)


def _frame(tr: Translator, spec: exp.Expression, scope: Scope) -> str:
    def bound(which: str) -> str:
        value, side = spec.args.get(which), str(spec.args.get(f"{which}_side") or "")
        if value is None:
            return "CURRENT ROW"
        text = str(value) if isinstance(value, str) else tr.expr(value, scope).sql
        return f"{text} {side}".strip()

    return f"{str(spec.args['kind']).upper()} BETWEEN {bound('start')} AND {bound('end')}"


NODES: NodeTranslators = {exp.Window: _window}
