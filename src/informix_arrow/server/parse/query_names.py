"""The names of objects in the tree of a query, with their owners."""

from __future__ import annotations

from sqlglot import exp

from .ddl_tokens import OwnedName, TableName
from .dialect_nodes import CALL_OWNER


def table_name(node: exp.Expression, name: str) -> TableName:
    """Return the name of a table in FROM, or of a sequence, which is parsed as the table of a column."""
    owner = node.args.get("db")
    return TableName(name, node.text("db"), bool(owner and owner.args.get("quoted")))


def routine_name(call: exp.Expression) -> OwnedName:
    """Return the name of the routine in a call."""
    name, dot = call.name.lower(), call.parent
    if not isinstance(dot, exp.Dot) or dot.expression is not call:
        return OwnedName(name)
    if "database" in dot.meta:
        return OwnedName(name, *dot.meta.get(CALL_OWNER, ()))
    owner = dot.this.this if isinstance(dot.this, exp.Column) else dot.this
    quoted = isinstance(owner, exp.Literal) or bool(owner.args.get("quoted"))
    return OwnedName(name, owner.name, quoted)
