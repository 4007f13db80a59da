"""Assignments in SET and VALUES, and the values of literals."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from ..errors import SqlError


def literal_value(node: exp.Expression) -> tuple[object] | None:
    """Return the Python value of a literal in a tuple, None if the node is no literal."""
    if isinstance(node, exp.Paren):
        return literal_value(node.this)
    if isinstance(node, exp.Null):
        return (None,)
    if isinstance(node, exp.Boolean):
        return (bool(node.this),)
    if isinstance(node, exp.Neg):
        inner = literal_value(node.this)
        if inner is not None and isinstance(inner[0], (int, float, Decimal)):
            number = inner[0]
            # unary minus would round a Decimal to the digits of the context
            return (number.copy_negate() if isinstance(number, Decimal) else -number,)
        return None
    if isinstance(node, exp.Literal):
        value = str(node.this)
        if node.is_string:
            return (value,)
        if "e" in value.lower():
            return (float(value),)
        return (int(value) if value.isdigit() and len(value) <= 4000 else Decimal(value),)
    return None


def single_assignments(expressions: Sequence[exp.Expression]) -> list[tuple[exp.Expression, exp.Expression]]:
    """Split `a = 1` and `(a, b) = (1, 2)` into single assignments."""
    found = []
    for node in expressions:
        if not isinstance(node, exp.EQ):
            raise SqlError(-201, 0, 1)
        left, right = node.this, node.expression
        if isinstance(left, (exp.Tuple, exp.Paren)):
            lefts = left.expressions if isinstance(left, exp.Tuple) else [left.this]
            rights = right.expressions if isinstance(right, exp.Tuple) else [right]
            if len(rights) == 1 and len(lefts) > 1:
                rights = _split_subquery(rights[0])
            if len(lefts) != len(rights):
                raise SqlError(-236)
            found += list(zip(lefts, rights, strict=True))
        else:
            found.append((left, right))
    if len({left.name for left, _ in found}) < len(found):
        raise SqlError(-201, 0, 1, "", "A column is set twice.")
    return found


def _split_subquery(node: exp.Expression) -> list[exp.Expression]:
    """Split `(SELECT x, y ...)` into one subquery for each column."""
    while isinstance(node, (exp.Paren, exp.Subquery)):
        node = node.this
    if not isinstance(node, exp.Select):
        raise SqlError(-236)
    subqueries: list[exp.Expression] = []
    for item in node.expressions:
        one = node.copy()
        one.set("expressions", [item.copy()])
        subqueries.append(exp.Subquery(this=one))
    return subqueries
