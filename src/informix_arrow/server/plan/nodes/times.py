"""Literals of DATETIME and INTERVAL, CURRENT, TODAY, EXTEND and UNITS."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ....wire.types import ColumnType
from ...errors import SqlError, not_supported
from ...parse import dialect_nodes as d
from ...types.intervals import parse as parse_interval
from ...types.intervals import qualifier_of, value_of
from ...types.literals import datetime_fields, to_storage
from ...types.quoting import quote_string
from ...types.result_types import datetime_storage
from ..scope import CONSTANT, EXPRESSION, Scope, TypedExpression
from ..translator import NodeTranslators, Translator
from ..values.datetimes import extend_sql
from ..values.intervals import units_interval


def _datetime_literal(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    try:
        t = ColumnType.datetime(str(node.args["qualifier"]))
    except ValueError as e:
        raise SqlError(-201, 0, 1, "", str(e)) from None
    qualifier = t.qualifier
    assert qualifier is not None
    stored = to_storage(datetime_fields(str(node.this), qualifier), qualifier)
    return TypedExpression(f"{datetime_storage(qualifier)} {quote_string(str(stored))}", t, CONSTANT)


def _interval_literal(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    try:
        t = ColumnType.interval(str(node.args["qualifier"]))
    except ValueError as e:
        raise SqlError(-201, 0, 1, "", str(e)) from None
    qualifier = qualifier_of(t)
    units = parse_interval(str(node.this), qualifier)
    return TypedExpression(f"CAST({units} AS BIGINT)", t, CONSTANT, value=value_of(units, qualifier))


def _current(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    t = ColumnType.datetime(str(node.args["qualifier"]))
    qualifier = t.qualifier
    assert qualifier is not None
    now = ColumnType.datetime("YEAR TO FRACTION(5)")
    return TypedExpression(extend_sql(tr.ctx.session_value("now"), now, qualifier, tr.ctx), t, EXPRESSION)


def _today(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    return TypedExpression(f"CAST({tr.ctx.session_value('now')} AS DATE)", ColumnType.date(), EXPRESSION)


def _extend(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    inner = tr.expr(node.this, scope)
    qualifier_text = node.args.get("qualifier") or "YEAR TO FRACTION(3)"
    t = ColumnType.datetime(str(qualifier_text))
    assert t.qualifier is not None
    if inner.type is None or inner.param >= 0:
        inner = tr.ctx.hint(inner, ColumnType.datetime("YEAR TO FRACTION(5)"))
    source = inner.type or ColumnType.date()
    if inner.literal is not None:
        source = ColumnType.date()
        inner = replace(inner, sql=tr.values.read_literal(inner.literal, source))
    return TypedExpression(extend_sql(inner.sql, source, t.qualifier, tr.ctx), t, EXPRESSION)


def _units(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    """Translate `n UNITS DAY`: an interval of that one field. A fraction of n is cut."""
    unit = str(node.args["unit"]).partition("(")[0]
    if unit == "FRACTION":
        raise not_supported("UNITS FRACTION")
    return units_interval(tr.values.numeric(tr.ctx.as_count(tr.expr(node.this, scope))), unit)


NODES: NodeTranslators = {
    d.DatetimeLiteral: _datetime_literal,
    d.IntervalLiteral: _interval_literal,
    d.CurrentDatetime: _current,
    d.Today: _today,
    d.Extend: _extend,
    d.Units: _units,
}
