"""The interface of the translation for the node functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sqlglot import exp

from .context import TranslationContext
from .scope import OutputColumn, Scope, TypedExpression
from .values.casts import Values


class Translator(Protocol):
    """The translation of one statement's expressions, as the function of each node receives it.

    Attributes
    ----------
    ctx
        Inputs and results of the statement's translation.
    values
        Converts translated values between types.
    """

    ctx: TranslationContext
    values: Values

    def expr(self, node: exp.Expression, scope: Scope) -> TypedExpression:
        """Translate an expression. Raises SqlError -201 for an unsupported one."""

    def condition(self, node: exp.Expression, scope: Scope) -> str:
        """Translate a condition. A BOOLEAN column may be a condition of its own."""

    def filter(self, node: exp.Expression, scope: Scope) -> str:
        """Translate the condition of a WHERE, HAVING or ON, where unknown counts as false."""

    def query(self, node: exp.Expression, scope: Scope) -> tuple[str, OutputColumn]:
        """Translate a subquery of one column."""

    def rows(self, node: exp.Expression, scope: Scope) -> tuple[str, tuple[OutputColumn, ...]]:
        """Translate a subquery with all its columns."""


TranslateNode = Callable[[Translator, exp.Expression, Scope], TypedExpression]
"""Translates the nodes of one kind."""

NodeTranslators = dict[type[exp.Expression], TranslateNode]
