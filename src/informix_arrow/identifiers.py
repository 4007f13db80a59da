"""Names in statements: which need double quotes, and how a name is said exactly.

Without DELIMIDENT the server folds every name to lower case and takes double quotes for text's; under it a name in
double quotes is exact. An owner in single quotes always is.
"""

from __future__ import annotations

import re

from .wire.errors import InterfaceError

#: What a name without quotes is made of.
WORD = r"[^\W\d][\w$]*"
_UNQUOTED = re.compile(WORD)
_QUALIFIED = re.compile(rf"(?:{WORD}(?:@{WORD})?:)?(?:{WORD}|'{WORD}')\.{WORD}|{WORD}(?:@{WORD})?:{WORD}")


def needs_no_quotes(name: str) -> bool:
    """Whether a name can be written without double quotes."""
    return _UNQUOTED.fullmatch(name) is not None


def quote_exactly(name: str, delimident: bool) -> str:
    """A table's name for a statement: under DELIMIDENT just this table, whatever its letters.

    As it is: without DELIMIDENT, where the server finds, or makes, the name in lower case; and a name that says owner
    or database, or is in double quotes, as the client writes them.
    """
    if not delimident or not isinstance(name, str) or '"' in name or _QUALIFIED.fullmatch(name):
        return name
    return f'"{name}"'


def exact_owner(name: str) -> str:
    """An owner for a statement, which in single quotes is not folded."""
    if not isinstance(name, str) or not needs_no_quotes(name):
        raise InterfaceError(f"not an owner's name: {name!r}")
    return f"'{name}'"
