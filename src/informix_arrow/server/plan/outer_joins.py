"""Informix's comma OUTER: decides which conjuncts of WHERE belong to the outer join, and rejects those that fit no
join."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ..errors import SqlError
from ..parse import dialect_nodes as d
from ..parse.conjuncts import combine, conjuncts
from .scope import FromSource, Scope


def references_any(node: exp.Expression, sources: Sequence[FromSource]) -> bool:
    """Return whether a condition names a column of one of the sources."""
    for column in node.find_all(exp.Column):
        table, name = column.table, column.name
        for source in sources:
            if table == source.alias or (not table and source.find(name) is not None):
                return True
    return False


def split_where(
    where: exp.Expression | None, scope: Scope, first: int
) -> tuple[exp.Expression | None, exp.Expression | None]:
    """Split WHERE: conjuncts that name a source from number `first` on belong to the join, the others stay."""
    outer = scope.sources[first:]
    on: list[exp.Expression] = []
    rest: list[exp.Expression] = []
    for part in conjuncts(where):
        (on if references_any(part, outer) else rest).append(part)
    return combine(on), combine(rest)


def reject_two_sided(where: exp.Expression | None, outer: Sequence[d.OuterTables]) -> None:
    """Raise -393 for a conjunct that names tables of two OUTERs beside each other."""
    groups = [
        {str(table.alias_or_name) for table in group.expressions if not isinstance(table, d.OuterTables)}
        for group in outer
    ]
    if len(groups) < 2:
        return
    for part in conjuncts(where):
        named = {column.table for column in part.find_all(exp.Column)} - {""}
        if sum(not named.isdisjoint(group) for group in groups) > 1:
            raise SqlError(-393)
