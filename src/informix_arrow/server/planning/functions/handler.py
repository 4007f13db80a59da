"""What a built-in function is to who calls it."""

from __future__ import annotations

from collections.abc import Callable

from ..scope import Ex
from ..values.casting import Values

Handler = Callable[[Values, list[Ex]], Ex]
"""Makes the call of its arguments, which are translated already."""

Functions = dict[str, tuple[int, int, Handler]]
"""By its name in small letters: the least and the most arguments, and the handler."""
