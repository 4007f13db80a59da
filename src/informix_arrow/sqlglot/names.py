"""Names in the SQL of other databases."""

from __future__ import annotations

from sqlglot import exp

from .targets import Node, Target

_RESERVED = frozenset(
    """
    account all analyse analyze and any array as asc asymmetric at authorization between binary both by case
    cast check collate column concurrently connect constraint create cross cube current current_catalog
    current_date current_role current_time current_timestamp current_user database default deferrable delete
    desc distinct do else end escape except exists extract false fetch following for foreign freeze from
    full function grant group grouping groups hash having if ignore ilike in increment initially inner
    insert intersect interval into is isnull join lateral leading left like limit localtime localtimestamp
    lookup merge minus natural new no not notnull nulls of offset on only or order outer over overlaps
    partition pivot placing preceding primary proto qualify range recursive references respect returning
    right rollup row rows sample schema select session_user set similar some start struct symmetric table
    tablesample then to trailing treat trigger true unbounded union unique unnest unpivot update user using
    values variadic verbose view when where window with within
    """.split()  # noqa: SIM905
)
"""Words that at least one of the databases reserves. Informix reserves none."""


def identifier(target: Target, name: str) -> Node:
    """Return a name, in quotes where it needs them."""
    plain = name.isidentifier() and name.isascii() and name == name.lower() and name not in _RESERVED
    return exp.to_identifier(name, quoted=not plain)


def table(target: Target, name: str) -> Node:
    return exp.Table(this=identifier(target, name))
