"""Names in SQL text: which of them need double quotes, and how these are written."""

from __future__ import annotations

import re

#: Pattern of a name that needs no quotes.
WORD = r"[^\W\d][\w$]*"
_UNQUOTED = re.compile(WORD)


def needs_no_quotes(name: str) -> bool:
    """Return whether a name can be written without double quotes. The server then reads it in lower case."""
    return _UNQUOTED.fullmatch(name) is not None


def double_quoted(name: str) -> str:
    """Return a name in double quotes, as statements spell it with DELIMIDENT."""
    return '"' + name.replace('"', '""') + '"'


def quote_if_needed(name: str) -> str:
    """Return a name of the catalogue for a statement: in double quotes if it would be another name without them."""
    return name if needs_no_quotes(name) and name == name.lower() else double_quoted(name)
