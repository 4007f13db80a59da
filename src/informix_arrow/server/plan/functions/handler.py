"""What a built-in function is to who calls it."""

from __future__ import annotations

from collections.abc import Callable

from ..scope import TypedExpression
from ..values.casts import Values

FunctionTranslator = Callable[[Values, list[TypedExpression]], TypedExpression]
"""Makes the call of its arguments, which are translated already."""

FunctionTable = dict[str, tuple[int, int, FunctionTranslator]]
"""By its name in small letters: the least and the most arguments, and the handler."""
