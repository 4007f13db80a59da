"""Informix expressions to DuckDB text, with the Informix type of each: every node by the table of its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from ..errors import SqlError, not_supported
from ..parse import dialect_nodes as d
from ..parse.conjuncts import conjuncts
from .context import TranslationContext
from .nodes import aggregates, calls, case_and_cast, leaves, operators, predicates, times, windows
from .scope import OutputColumn, Scope, TypedExpression, source_offset
from .translator import NodeTranslators
from .values.casts import Values

TranslateRows = Callable[
    ["ExpressionTranslator", exp.Expression, Scope], tuple[str, tuple[OutputColumn, ...]]
]
"""Translates a subquery with what translates its expressions. It is no method of whoever has made that: each would hold
the other, and both the session that they plan for, until Python's collector comes."""

_MOST_CONDITIONS = 64
"""DuckDB's optimizer looks at each condition beside each other one: some thousands take it minutes, in which it heeds
no interrupt. A CASE is one condition to it."""

_NODES: NodeTranslators = {
    **leaves.NODES,
    **times.NODES,
    **operators.NODES,
    **predicates.NODES,
    **case_and_cast.NODES,
    **aggregates.NODES,
    **windows.NODES,
    **calls.NODES,
}


_TOO_COMPLEX = -208
_LONG_SQL = 1 << 12
"""Characters of an expression for DuckDB from which on it counts as one that grows: some functions name their argument
several times there, so that ten of them in each other would take all memory (Context.room)."""
_NOT_GROWING = (exp.Connector, exp.Paren, exp.Not, exp.In, exp.Literal, exp.Tuple)
"""What grows with the statement's own text only."""


class ExpressionTranslator:
    """Translates expressions of one statement; subqueries go back to the query translator.

    It is the `Translator` that the functions of the nodes are handed.
    """

    def __init__(self, ctx: TranslationContext, rows: TranslateRows) -> None:
        self.ctx = ctx
        self.values = Values(ctx)
        self._rows = rows

    def rows(self, node: exp.Expression, scope: Scope) -> tuple[str, tuple[OutputColumn, ...]]:
        """A subquery with all its columns."""
        return self._rows(self, node, scope)

    def query(self, node: exp.Expression, scope: Scope) -> tuple[str, OutputColumn]:
        """A subquery of one column."""
        sql, outputs = self.rows(node, scope)
        if len(outputs) != 1:
            raise SqlError(-574)
        return sql, outputs[0]

    def expr(self, node: exp.Expression, scope: Scope) -> TypedExpression:
        """Dispatch on the node; SqlError -201 for what has no meaning here."""
        ctx = self.ctx
        ctx.check_interrupt()
        room = ctx.remaining_sql_chars
        translate = _NODES.get(type(node))
        if translate is None:
            raise not_supported(f"{type(node).__name__} in an expression", offset=source_offset(node) or 1)
        groups = scope.groups
        if groups and isinstance(node, exp.AggFunc):
            scope.groups = None
            try:
                found = translate(self, node, scope)
            finally:
                scope.groups = groups
        else:
            found = translate(self, node, scope)
        if groups and found.sql in groups:
            found = replace(found, sql=groups[found.sql])
        if len(found.sql) > _LONG_SQL and not isinstance(node, _NOT_GROWING):
            ctx.remaining_sql_chars = min(
                ctx.remaining_sql_chars, room - len(found.sql)
            )  # what is inside of it has been counted
            if ctx.remaining_sql_chars < 0:
                raise SqlError(_TOO_COMPLEX, detail="expressions that grow beyond all bounds in translation")
        return found

    def condition(self, node: exp.Expression, scope: Scope) -> str:
        """A condition; a BOOLEAN column may stand alone."""
        if isinstance(node, d.CurrentOf):
            raise not_supported("WHERE CURRENT OF", -554)
        ex = self.expr(node, scope)
        if ex.param >= 0 or (ex.type is not None and not ex.type.is_boolean):
            raise SqlError(-201, 0, source_offset(node) or 1)
        return ex.sql

    def filter(self, node: exp.Expression, scope: Scope) -> str:
        """The condition of a WHERE, HAVING or ON, where unknown is as good as false. Of very many conditions that must
        all hold, those by which no tables are joined become a single one."""
        parts = conjuncts(node)
        if len(parts) <= _MOST_CONDITIONS:
            return self.condition(node, scope)
        found = [self.condition(part, scope) for part in parts[:_MOST_CONDITIONS]]
        filter_conditions: list[str] = []
        for part in parts[_MOST_CONDITIONS:]:
            (found if _may_join(part) else filter_conditions).append(self.condition(part, scope))
        if filter_conditions:
            found.append(f"CASE WHEN {' AND '.join(filter_conditions)} THEN true ELSE false END")
        return f"({' AND '.join(found)})"


def _may_join(node: exp.Expression) -> bool:
    """Whether DuckDB may join by a condition: an equality of columns, or a subquery."""
    while isinstance(node, exp.Paren):
        node = node.this
    equal = isinstance(node, exp.EQ) and all(side.find(exp.Column) for side in (node.this, node.expression))
    return equal or node.find(exp.Query) is not None
