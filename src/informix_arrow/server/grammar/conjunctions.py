"""Conditions taken apart at their ANDs and put together again."""

from __future__ import annotations

from sqlglot import exp


def conjuncts(where: exp.Expression | None) -> list[exp.Expression]:
    """What is joined by AND in a WHERE; nothing for none."""
    if where is None:
        return []
    if isinstance(where, exp.And):
        return conjuncts(where.this) + conjuncts(where.expression)
    if isinstance(where, exp.Paren) and isinstance(where.this, exp.And):
        return conjuncts(where.this)
    return [where]


def combine(parts: list[exp.Expression]) -> exp.Expression | None:
    """AND of all parts, None for none."""
    whole: exp.Expression | None = None
    for part in parts:
        whole = part if whole is None else exp.And(this=whole, expression=part)
    return whole
