"""Types of the tables of built-in functions."""

from __future__ import annotations

from collections.abc import Callable

from ..scope import TypedExpression
from ..values.casts import Values

FunctionTranslator = Callable[[Values, list[TypedExpression]], TypedExpression]
"""Returns the translated call for arguments that are already translated."""

FunctionTable = dict[str, tuple[int, int, FunctionTranslator]]
"""Maps a lower-case name to the minimum and maximum number of arguments, and the translator."""
