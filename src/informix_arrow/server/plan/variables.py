"""SPL variables in SQL: each becomes a typed parameter and hides columns of its name."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ...wire.types import ColumnType


class RoutineVariable(exp.Placeholder):  # type: ignore[misc]
    """A parameter whose type is known before translation. Its value is bound in that type's storage form."""


def substitute_variables(tree: exp.Expression, types: Mapping[str, ColumnType], first: int = 0) -> list[str]:
    """Replace the names of variables in a parsed statement, in place. Return the names in the order of their numbers,
    from `first`.

    A variable takes precedence over a column of the same name unless the column is qualified. The values of a trigger's
    row are variables with a dot in their names. Names in ORDER BY, in GROUP BY and on the left side of SET are not
    replaced, as they stand for columns.
    """
    names: list[str] = []
    for column in list(tree.find_all(exp.Column)):
        parts = [part.name for part in column.parts]
        name = ".".join(parts) if len(parts) > 1 else parts[0].lower()
        if name not in types or _names_table_or_column(column):
            continue
        variable = RoutineVariable()
        variable.meta["index"] = first + len(names)
        variable.meta["type"] = types[name]
        names.append(name)
        column.replace(variable)
    return names


def _names_table_or_column(column: exp.Expression) -> bool:
    parent = column.parent
    if isinstance(parent, (exp.Ordered, exp.Group)):
        return True
    if isinstance(parent, exp.Tuple) and column.arg_key == "expressions":  # SET (a, b) = (1, 2)
        column, parent = parent, parent.parent
    return (
        isinstance(parent, exp.EQ)
        and isinstance(parent.parent, exp.Update)
        and parent.arg_key == "expressions"
        and column.arg_key == "this"
    )
