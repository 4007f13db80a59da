"""Identities of rows: the columns that identify a row, and queries that return the identities of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlglot import exp

from ...wire.quoting import double_quoted
from ..catalog.catalog import TableInfo, key_part
from ..parse.conjuncts import conjuncts
from ..types.result_types import INTEGERS
from .scope import OutputColumn, integer_literal
from .variables import RoutineVariable


def identity_names(info: TableInfo) -> tuple[str, ...]:
    """Return the columns that identify a row: the primary key, or else DuckDB's row id.

    A row keeps its row id as long as no column of an index changes.
    """
    for unique in info.unique_constraints:
        if unique.kind == "P":
            return unique.columns
    return ("rowid",)


def identity_sql(info: TableInfo, alias: str) -> list[str]:
    """Return the identity as DuckDB expressions. Key columns are the expressions of their indexes."""
    return [
        f"{double_quoted(alias)}.rowid" if name == "rowid" else key_part(info, name, alias)
        for name in identity_names(info)
    ]


def matching_keys_query(info: TableInfo, alias: str, where: str) -> str:
    """Return the query of the identities of an UPDATE's or DELETE's rows, as k0, k1, ..."""
    items = ", ".join(f"{name} AS k{i}" for i, name in enumerate(identity_sql(info, alias)))
    return f"SELECT {items} FROM {info.duck_name} AS {double_quoted(alias)}{where}"


def in_rows_condition(info: TableInfo, alias: str) -> str:
    """Return the condition for the rows whose identities are in the Arrow table `_ifx_rows`."""
    names = identity_sql(info, alias)
    keys = ", ".join(f"k{i}" for i in range(len(names)))
    left = names[0] if len(names) == 1 else f"({', '.join(names)})"
    return f" WHERE {left} IN (SELECT {keys} FROM _ifx_rows)"


def new_values_query(
    info: TableInfo, alias: str, new_values: Sequence[str], old_columns: Sequence[str]
) -> str:
    """Return the query of the new values of an UPDATE's rows as m0, m1, ..., without a WHERE.

    It also returns the identities, and the columns `old_columns`, prefixed with _.
    """
    items = [f"{name} AS k{i}" for i, name in enumerate(identity_sql(info, alias))]
    items += [f"{value} AS m{i}" for i, value in enumerate(new_values)]
    items += [
        f"{double_quoted(alias)}.{double_quoted(name)} AS {double_quoted(f'_{name}')}" for name in old_columns
    ]
    return f"SELECT {', '.join(items)} FROM {info.duck_name} AS {double_quoted(alias)}"


def bound_key_condition(info: TableInfo, alias: str) -> str:
    """Return the condition for the row whose identity is bound to k0, k1, ..."""
    return " WHERE " + " AND ".join(f"{name} = $k{i}" for i, name in enumerate(identity_sql(info, alias)))


def primary_key_values(tree: exp.Expression, info: TableInfo, alias: str) -> tuple[str | int, ...]:
    """Return the primary key values that a WHERE requires, as in `KeyedModify.key`.

    The result is empty unless the WHERE has no other conditions and the values are integers.
    """
    parts = _conjuncts(tree)
    named = {name: value for name, value in map(partial(_equality, info, alias), parts) if name}
    primary = identity_names(info)
    if len(parts) != len(named) or named.keys() != set(primary):
        return ()
    key_values: list[str | int] = []
    for name in primary:
        value, column = named[name], info.column(name)
        if column is None or column.type.code not in INTEGERS:
            return ()
        if isinstance(value, exp.Placeholder):
            key_values.append(f"p{value.meta['index']}")
        else:
            number = integer_literal(value)
            if number is None:
                return ()
            key_values.append(number)
    return tuple(key_values)


def has_key_equality(tree: exp.Expression, info: TableInfo, alias: str) -> bool:
    """Return whether a WHERE requires one value of some key."""
    named = {_equality(info, alias, part)[0] for part in _conjuncts(tree)}
    return any(named.issuperset(key.columns) for key in info.keys)


def _conjuncts(tree: exp.Expression) -> list[exp.Expression]:
    """Return the conjuncts of a statement's WHERE without parentheses."""
    where = tree.args.get("where")
    return [part.unnest() for part in conjuncts(where.this)] if where is not None else []


def _equality(info: TableInfo, alias: str, node: exp.Expression) -> tuple[str, exp.Expression]:
    """Return the column and the parameter or literal of an equality condition, "" for any other condition."""
    if isinstance(node, exp.EQ):
        for column, value in ((node.this, node.expression), (node.expression, node.this)):
            if (
                isinstance(column, exp.Column)
                and isinstance(value, (exp.Placeholder, exp.Literal))
                and not isinstance(value, RoutineVariable)
                and column.table in ("", alias)
                and info.column(column.name) is not None
            ):
                return column.name, value
    return "", node


def with_row_keys(
    tree: exp.Expression, sql: str, outputs: Sequence[OutputColumn], info: TableInfo | None
) -> str:
    """Return the query with the identities of its rows as additional columns k0, k1, ...

    The result is "" if its rows are not rows of one table.
    """
    if not isinstance(tree, exp.Select) or info is None or info.kind != "T":
        return ""
    if any(
        tree.args.get(name) for name in ("with_", "distinct", "connect", "group", "having", "joins", "into")
    ):
        return ""
    if any(item.find(exp.AggFunc) for item in tree.expressions):
        return ""
    clause = tree.args.get("from_") or tree.args.get("from")
    if clause is None:
        return ""
    source = clause.this
    if not isinstance(source, exp.Table) or source.args.get("joins"):
        return ""
    alias = source.alias or source.name
    head = "SELECT " + ", ".join(f"{output.sql} AS c{i}" for i, output in enumerate(outputs))
    if not sql.startswith(f"{head} FROM {info.duck_name} AS {double_quoted(alias)}"):
        return ""  # the columns of a view
    keys = "".join(f", {name} AS k{i}" for i, name in enumerate(identity_sql(info, alias)))
    return head + keys + sql[len(head) :]
