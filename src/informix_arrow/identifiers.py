"""Quoting of names in statements.

Without DELIMIDENT the server folds every name to lower case and takes double quotes for those of strings. With
it, a name in double quotes is exact. An owner in single quotes is always exact.
"""

from __future__ import annotations

import re

from .wire.errors import InterfaceError
from .wire.quoting import WORD
from .wire.quoting import needs_no_quotes as needs_no_quotes  # for the ADBC driver too

_QUALIFIED = re.compile(rf"(?:{WORD}(?:@{WORD})?:)?(?:{WORD}|'{WORD}')\.{WORD}|{WORD}(?:@{WORD})?:{WORD}")


def quote_exactly(name: str, delimident: bool) -> str:
    """Return a table's name for a statement; with DELIMIDENT it is quoted to match exactly, whatever its
    letters.

    It is unchanged without DELIMIDENT, where the server uses the name in lower case. So are names that contain
    an owner or database or are already in double quotes.
    """
    if not delimident or not isinstance(name, str) or '"' in name or _QUALIFIED.fullmatch(name):
        return name
    return f'"{name}"'


def exact_owner(name: str) -> str:
    """Return an owner for a statement, in single quotes, which prevent folding."""
    if not isinstance(name, str) or not needs_no_quotes(name):
        raise InterfaceError(f"{name!r} is not an owner name.")
    return f"'{name}'"
