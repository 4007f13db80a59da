"""Informix's comma OUTER: which conjuncts of WHERE belong to the outer join."""

from __future__ import annotations

from sqlglot import exp

from .context import Scope


def conjuncts(where: exp.Expression | None) -> list[exp.Expression]:
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


def classify(
    where: exp.Expression | None, scope: Scope, first: int
) -> tuple[exp.Expression | None, exp.Expression | None]:
    """Split WHERE: conjuncts that name a source from number `first` on join it, the others stay."""
    outer = scope.sources[first:]

    def names_outer(node: exp.Expression) -> bool:
        for column in node.find_all(exp.Column):
            table, name = column.table, column.name
            for source in outer:
                if table == source.alias or (not table and source.find(name) is not None):
                    return True
        return False

    on: list[exp.Expression] = []
    rest: list[exp.Expression] = []
    for part in conjuncts(where):
        (on if names_outer(part) else rest).append(part)
    return combine(on), combine(rest)
