"""Conditions split at AND and combined again."""

from __future__ import annotations

from sqlglot import exp


def conjuncts(where: exp.Expression | None) -> list[exp.Expression]:
    """Return the terms of a WHERE that AND joins, [] if there is none."""
    terms: list[exp.Expression] = []
    waiting = [] if where is None else [where]
    while waiting:  # no recursion: long chains are deep left trees
        node = waiting.pop()
        inner = node.unnest()
        if isinstance(inner, exp.And):
            waiting += [inner.expression, inner.this]
        else:
            terms.append(node)
    return terms


def combine(parts: list[exp.Expression]) -> exp.Expression | None:
    """Combine conditions with AND. Return None if there are none."""
    combined: exp.Expression | None = None
    for part in parts:
        combined = part if combined is None else exp.And(this=combined, expression=part)
    return combined
