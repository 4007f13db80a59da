"""Informix's comma OUTER: which conjuncts of WHERE belong to the outer join."""

from __future__ import annotations

from sqlglot import exp

from ..grammar.conjunctions import combine, conjuncts
from .scope import Scope


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
