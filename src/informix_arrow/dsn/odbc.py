"""Parse ODBC and IfxPy connection strings:
``SERVER=ids0;DATABASE=db1;HOST=127.0.0.1;SERVICE=9088;UID=u;PWD=p``.

A value in braces may contain anything, with ``}}`` for a closing brace. ``DRIVER`` is ignored; ``DSN`` would
need an odbc.ini and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..wire.errors import InterfaceError, NotSupportedError
from .properties import translate

_PAIR = re.compile(r"\s*([^=;{}]+?)\s*=\s*(\{(?:[^}]|\}\})*\}|[^;]*)\s*(?:;|\Z)")


def parse(text: str) -> Mapping[str, object]:
    """Return the parameters of an ODBC string. Errors never quote it, because it may contain a password."""
    pairs: list[tuple[str, str]] = []
    at = 0
    while text[at:].strip(" ;"):
        match = _PAIR.match(text, at)
        if match is None:
            raise InterfaceError(
                f"Item {len(pairs) + 1} of the connection string is not NAME=value (text withheld). Write a "
                "value with ';' or '}' in braces."
            )
        key, value = match.group(1), match.group(2).rstrip()
        if value.startswith("{"):
            value = value[1:-1].replace("}}", "}")
        if key.upper() in ("DSN", "FILEDSN"):
            raise NotSupportedError(
                f"{key}={value}: odbc.ini is not read. Use HOST, SERVICE and SERVER instead."
            )
        pairs.append((key, value))
        at = match.end()
    return translate(pairs, "the connection string")
