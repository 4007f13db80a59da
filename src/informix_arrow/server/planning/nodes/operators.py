"""Comparison, arithmetic, concatenation, and what joins conditions."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ....wire.types import ColumnType
from ...errors import SqlError
from ...types.intervals import is_interval
from ...types.nested_types import is_nested
from ...types.result_types import plain
from ..scope import CONSTANT, EXPRESSION, Ex, Scope
from ..translator import Nodes, Translator
from ..values.arithmetic import arithmetic

_COMPARISONS: dict[type[exp.Expression], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=",
}  # fmt: skip
_ARITHMETIC: dict[type[exp.Expression], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


def comparison(tr: Translator, node: exp.Expression, scope: Scope) -> Ex:
    if isinstance(node.this, exp.Tuple) and isinstance(node.expression, exp.Tuple):
        return _tuples(tr, node, scope)
    left, right = tr.expr(node.this, scope), tr.expr(node.expression, scope)
    if not is_nested(left.type) and not is_nested(right.type):
        left = tr.values.settle(left)
    if is_nested(left.type) or is_nested(right.type):
        return _equal_parts(tr, _COMPARISONS[type(node)], left, right)
    a, b = tr.values.meet(left, right)
    return Ex(f"({a} {_COMPARISONS[type(node)]} {b})", ColumnType.boolean())


def _tuples(tr: Translator, node: exp.Expression, scope: Scope) -> Ex:
    """`(a, b) = (1, 2)`."""
    lefts, rights = node.this.expressions, node.expression.expressions
    if not isinstance(node, (exp.EQ, exp.NEQ)) or len(lefts) != len(rights):
        raise SqlError(-201, 0, 1)
    pairs = [tr.values.meet(tr.expr(a, scope), tr.expr(b, scope)) for a, b in zip(lefts, rights, strict=True)]
    sql = " AND ".join(f"{a} = {b}" for a, b in pairs)
    return Ex(f"({sql})" if isinstance(node, exp.EQ) else f"(NOT ({sql}))", ColumnType.boolean())


def _equal_parts(tr: Translator, op: str, a: Ex, b: Ex) -> Ex:
    """Collections and ROWs: equal or not; the one that has a type of its own gives it to the other."""
    if op not in ("=", "<>"):
        raise SqlError(-9634)
    both = a.type if is_nested(a.type) else None
    if both is not None and b.type is not None and is_nested(b.type) and both.code != b.type.code:
        raise SqlError(-9634)
    t = a.type if is_nested(a.type) and a.value is None else b.type
    assert t is not None
    return Ex(f"({tr.values.cast(a, t).sql} {op} {tr.values.cast(b, t).sql})", ColumnType.boolean())


def _arithmetic(tr: Translator, node: exp.Expression, scope: Scope) -> Ex:
    a, b = tr.expr(node.this, scope), tr.expr(node.expression, scope)
    return arithmetic(tr.values, _ARITHMETIC[type(node)], a, b)


def _neg(tr: Translator, node: exp.Expression, scope: Scope) -> Ex:
    inner = tr.expr(node.this, scope)
    if tr.ctx.is_open(inner):
        inner = Ex(tr.values.key(inner), ColumnType.decimal(32), packed=True)
    if is_interval(inner.type):
        return replace(inner, sql=f"(-{inner.sql})", name=EXPRESSION, source=None, value=None)
    if inner.packed and inner.type is not None:
        return Ex(f"_ifx_negated({inner.sql})", plain(inner.type), EXPRESSION, packed=True)
    inner = tr.values.numeric(inner)
    name = CONSTANT if inner.number else EXPRESSION
    return Ex(f"(-{inner.sql})", plain(inner.type) if inner.type else None, name, number=inner.number)


def _not(tr: Translator, node: exp.Expression, scope: Scope) -> Ex:
    return Ex(f"(NOT {tr.condition(node.this, scope)})", ColumnType.boolean())


def _connector(tr: Translator, node: exp.Expression, scope: Scope) -> Ex:
    word = "AND" if isinstance(node, exp.And) else "OR"
    # long chains come as deep left trees: walk them with a loop
    parts: list[str] = []
    here: exp.Expression = node
    while type(here) is type(node):
        parts.append(tr.condition(here.expression, scope))
        here = here.this
    parts.append(tr.condition(here, scope))
    return Ex("(" + f" {word} ".join(reversed(parts)) + ")", ColumnType.boolean())


def _is(tr: Translator, node: exp.Expression, scope: Scope) -> Ex:
    left = tr.expr(node.this, scope)
    if not isinstance(node.expression, exp.Null):
        raise SqlError(-201, 0, 1)
    return Ex(f"({left.sql} IS NULL)", ColumnType.boolean())


def _concat(tr: Translator, node: exp.Expression, scope: Scope) -> Ex:
    return tr.values.joined(tr.expr(node.this, scope), tr.expr(node.expression, scope))


NODES: Nodes = {
    **dict.fromkeys(_COMPARISONS, comparison),
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    exp.Neg: _neg,
    exp.Not: _not,
    exp.And: _connector,
    exp.Or: _connector,
    exp.Is: _is,
    exp.DPipe: _concat,
}
