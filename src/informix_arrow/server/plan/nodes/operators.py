"""Comparison, arithmetic, concatenation, AND, OR and NOT."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ....wire.types import ColumnType
from ...errors import SqlError
from ...types.intervals import is_interval
from ...types.nested_types import is_nested
from ...types.result_types import without_serial
from ..scope import CONSTANT, EXPRESSION, Scope, TypedExpression
from ..translator import NodeTranslators, Translator
from ..values.arithmetic import arithmetic
from ..values.single_evaluation import evaluate_once

_COMPARISONS: dict[type[exp.Expression], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=",
}  # fmt: skip
_ARITHMETIC: dict[type[exp.Expression], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


def comparison(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    if isinstance(node.this, exp.Tuple) and isinstance(node.expression, exp.Tuple):
        return _tuples(tr, node, scope)
    if isinstance(node.expression, (exp.Any, exp.All)):
        word = "ANY" if isinstance(node.expression, exp.Any) else "ALL"
        this, rows = operand_and_rows(tr, tr.expr(node.this, scope), node.expression.this, scope)
        return TypedExpression(f"({this} {_COMPARISONS[type(node)]} {word} ({rows}))", ColumnType.boolean())
    left, right = tr.expr(node.this, scope), tr.expr(node.expression, scope)
    if not is_nested(left.type) and not is_nested(right.type):
        left = tr.values.with_inferred_type(left)
    if is_nested(left.type) or is_nested(right.type):
        return _equal_parts(tr, _COMPARISONS[type(node)], left, right)
    a, b = tr.values.meet(left, right)
    return TypedExpression(f"({a} {_COMPARISONS[type(node)]} {b})", ColumnType.boolean())


def operand_and_rows(
    tr: Translator, this: TypedExpression, query: exp.Expression, scope: Scope
) -> tuple[str, str]:
    """Translate the operand and the subquery of IN, ANY and ALL. Return SQL of both with comparable values."""
    sql, output = tr.query(query.this if isinstance(query, exp.Subquery) else query, scope)
    value = TypedExpression("q.v", output.type, is_packed_decimal=output.is_packed_decimal)
    left, right = tr.values.meet(this, value)
    return left, sql if right == value.sql else f"SELECT {right} FROM ({sql}) AS q(v)"


def _tuples(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    """Translate `(a, b) = (1, 2)`."""
    lefts, rights = node.this.expressions, node.expression.expressions
    if not isinstance(node, (exp.EQ, exp.NEQ)) or len(lefts) != len(rights):
        raise SqlError(-201, 0, 1)
    pairs = [tr.values.meet(tr.expr(a, scope), tr.expr(b, scope)) for a, b in zip(lefts, rights, strict=True)]
    sql = " AND ".join(f"{a} = {b}" for a, b in pairs)
    return TypedExpression(f"({sql})" if isinstance(node, exp.EQ) else f"(NOT ({sql}))", ColumnType.boolean())


def _equal_parts(tr: Translator, op: str, a: TypedExpression, b: TypedExpression) -> TypedExpression:
    """Compare collections or ROWs for equality. An operand without a type gets that of the other."""
    if op not in ("=", "<>"):
        raise SqlError(-9634)
    both = a.type if is_nested(a.type) else None
    if both is not None and b.type is not None and is_nested(b.type) and both.code != b.type.code:
        raise SqlError(-9634)
    t = a.type if is_nested(a.type) and a.value is None else b.type
    assert t is not None
    return TypedExpression(
        f"({tr.values.cast(a, t).sql} {op} {tr.values.cast(b, t).sql})", ColumnType.boolean()
    )


def _arithmetic(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    a, b = tr.expr(node.this, scope), tr.expr(node.expression, scope)
    values, sign = tr.values, _ARITHMETIC[type(node)]
    return evaluate_once(tr.ctx, lambda given: arithmetic(values, sign, given[0], given[1]), (a, b))


def _neg(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    inner = tr.expr(node.this, scope)
    if tr.ctx.is_untyped_param(inner):
        inner = TypedExpression(tr.values.key(inner), ColumnType.decimal(32), is_packed_decimal=True)
    if is_interval(inner.type):
        return replace(inner, sql=f"(-{inner.sql})", name=EXPRESSION, source=None, value=None)
    if inner.is_packed_decimal and inner.type is not None:
        return TypedExpression(
            f"_ifx_negated({inner.sql})", without_serial(inner.type), EXPRESSION, is_packed_decimal=True
        )
    inner = tr.values.numeric(inner)
    name = CONSTANT if inner.is_number_literal else EXPRESSION
    return TypedExpression(
        f"(-{inner.sql})",
        without_serial(inner.type) if inner.type else None,
        name,
        is_number_literal=inner.is_number_literal,
    )


def _not(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    return TypedExpression(f"(NOT {tr.condition(node.this, scope)})", ColumnType.boolean())


def _connector(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    word = "AND" if isinstance(node, exp.And) else "OR"
    # long chains are deep left trees, so a loop walks them
    conditions: list[str] = []
    current: exp.Expression = node
    while type(current) is type(node):
        conditions.append(tr.condition(current.expression, scope))
        current = current.this
    conditions.append(tr.condition(current, scope))
    return TypedExpression("(" + f" {word} ".join(reversed(conditions)) + ")", ColumnType.boolean())


def _is(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    left = tr.expr(node.this, scope)
    if not isinstance(node.expression, exp.Null):
        raise SqlError(-201, 0, 1)
    return TypedExpression(f"({left.sql} IS NULL)", ColumnType.boolean())


def _concat(tr: Translator, node: exp.Expression, scope: Scope) -> TypedExpression:
    values, sides = tr.values, (tr.expr(node.this, scope), tr.expr(node.expression, scope))
    return evaluate_once(tr.ctx, lambda given: values.joined(given[0], given[1]), sides)


NODES: NodeTranslators = {
    **dict.fromkeys(_COMPARISONS, comparison),
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    exp.Neg: _neg,
    exp.Not: _not,
    exp.And: _connector,
    exp.Or: _connector,
    exp.Is: _is,
    exp.DPipe: _concat,
}
