"""What the translation of a node may ask of the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sqlglot import exp

from .context import TranslationContext
from .scope import OutputColumn, Scope, TypedExpression
from .values.casts import Values


class Translator(Protocol):
    """The translation of one statement's expressions, as it is handed to the function of each node.

    Attributes
    ----------
    ctx
        What the statement's translation is told and finds out.
    values
        Brings translated values to types.
    """

    ctx: TranslationContext
    values: Values

    def expr(self, node: exp.Expression, scope: Scope) -> TypedExpression:
        """An expression; SqlError -201 for what has no meaning here."""

    def condition(self, node: exp.Expression, scope: Scope) -> str:
        """A condition; a BOOLEAN column may stand alone."""

    def filter(self, node: exp.Expression, scope: Scope) -> str:
        """The condition of a WHERE, HAVING or ON, where unknown is as good as false."""

    def query(self, node: exp.Expression, scope: Scope) -> tuple[str, OutputColumn]:
        """A subquery of one column."""

    def rows(self, node: exp.Expression, scope: Scope) -> tuple[str, tuple[OutputColumn, ...]]:
        """A subquery with all its columns."""


TranslateNode = Callable[[Translator, exp.Expression, Scope], TypedExpression]
"""Translates the nodes of one kind."""

NodeTranslators = dict[type[exp.Expression], TranslateNode]
