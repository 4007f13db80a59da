"""Variables of SPL routines in SQL: each is a parameter with a type, and hides columns of its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from ...wire.types import ColumnType
from .context import Ex
from .result_types import is_floating_decimal, storage_type

if TYPE_CHECKING:
    from .context import Scope
    from .expressions import ExpressionTranslator


class Variable(exp.Placeholder):  # type: ignore[misc]
    """A parameter whose type is known before the statement is; its value comes in that type's storage form."""


def put_variables(tree: exp.Expression, types: Mapping[str, ColumnType], first: int = 0) -> list[str]:
    """Replace the names of variables in a parsed statement, in place; the names in the order of their numbers, which
    begin with `first`.

    A variable goes before a column of the same name unless the column is written with its table. What names a
    place and not a value is left alone: the left side of SET, ORDER BY and GROUP BY.
    """
    names: list[str] = []
    for column in list(tree.find_all(exp.Column)):
        name = column.name.lower()
        if name not in types or len(column.parts) > 1 or _is_place(column):
            continue
        variable = Variable()
        variable.meta["index"] = first + len(names)
        variable.meta["type"] = types[name]
        names.append(name)
        column.replace(variable)
    return names


def _is_place(column: exp.Expression) -> bool:
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


def variable(tr: ExpressionTranslator, node: exp.Expression, scope: Scope) -> Ex:
    """As a column of the variable's type would be."""
    number: int = node.meta["index"]
    t: ColumnType = node.meta["type"]
    tr.ctx.params[number] = t
    tr.ctx.assigned.add(number)
    tr.ctx.seen.add(number)
    return Ex(f"CAST($p{number} AS {storage_type(t)})", t, packed=is_floating_decimal(t), source=t)
