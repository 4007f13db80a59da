"""Translation of Informix expressions to DuckDB SQL with Informix types. A table maps each kind of node to its
function."""

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
"""Translates a subquery, given the translator of its expressions. It is a parameter and not a method of the caller:
otherwise the two would form a reference cycle that keeps the session alive until the garbage collector runs."""

_MAX_CONDITIONS = 64
"""Number of conditions from which they are combined. DuckDB's optimizer compares each condition with each other one:
some thousands take minutes, during which it ignores interrupts. A CASE counts as one condition."""

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
"""Characters of SQL from which an expression counts against the limit of growth
(TranslationContext.remaining_sql_chars). Some functions repeat their argument in DuckDB's SQL: ten of them nested could
take all memory."""
_NOT_GROWING = (exp.Connector, exp.Paren, exp.Not, exp.In, exp.Literal, exp.Tuple)
"""Nodes whose SQL grows only with the statement's own text."""


class ExpressionTranslator:
    """Translates the expressions of one statement, and subqueries through the query translator.

    It implements the `Translator` that the node functions receive.
    """

    def __init__(self, ctx: TranslationContext, rows: TranslateRows) -> None:
        self.ctx = ctx
        self.values = Values(ctx)
        self._rows = rows

    def rows(self, node: exp.Expression, scope: Scope) -> tuple[str, tuple[OutputColumn, ...]]:
        """Translate a subquery with all its columns."""
        return self._rows(self, node, scope)

    def query(self, node: exp.Expression, scope: Scope) -> tuple[str, OutputColumn]:
        """Translate a subquery of one column."""
        sql, outputs = self.rows(node, scope)
        if len(outputs) != 1:
            raise SqlError(-574)
        return sql, outputs[0]

    def expr(self, node: exp.Expression, scope: Scope) -> TypedExpression:
        """Translate a node by its kind. Raises SqlError -201 for an unsupported kind."""
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
            # the parts inside are already counted
            ctx.remaining_sql_chars = min(ctx.remaining_sql_chars, room - len(found.sql))
            if ctx.remaining_sql_chars < 0:
                raise SqlError(_TOO_COMPLEX, detail="The expression is too large after translation.")
        return found

    def condition(self, node: exp.Expression, scope: Scope) -> str:
        """Translate a condition. A BOOLEAN column may be a condition of its own."""
        if isinstance(node, d.CurrentOf):
            raise not_supported("WHERE CURRENT OF", -554)
        ex = self.expr(node, scope)
        if ex.param >= 0 or (ex.type is not None and not ex.type.is_boolean):
            raise SqlError(-201, 0, source_offset(node) or 1)
        return ex.sql

    def filter(self, node: exp.Expression, scope: Scope) -> str:
        """Translate the condition of a WHERE, HAVING or ON, where unknown counts as false.

        If there are very many conjuncts, those that join no tables are combined into a single condition.
        """
        parts = conjuncts(node)
        if len(parts) <= _MAX_CONDITIONS:
            return self.condition(node, scope)
        found = [self.condition(part, scope) for part in parts[:_MAX_CONDITIONS]]
        filter_conditions: list[str] = []
        for part in parts[_MAX_CONDITIONS:]:
            (found if _may_join(part) else filter_conditions).append(self.condition(part, scope))
        if filter_conditions:
            found.append(f"CASE WHEN {' AND '.join(filter_conditions)} THEN true ELSE false END")
        return f"({' AND '.join(found)})"


def _may_join(node: exp.Expression) -> bool:
    """Return whether DuckDB may use a condition for a join: an equality of columns, or a subquery."""
    while isinstance(node, exp.Paren):
        node = node.this
    equal = isinstance(node, exp.EQ) and all(side.find(exp.Column) for side in (node.this, node.expression))
    return equal or node.find(exp.Query) is not None
