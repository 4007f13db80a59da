"""Names of databases: letters, digits and underscores, even if DELIMIDENT allows more in other names.

The name of a database becomes the name of a file and of a DuckDB database.
"""

from __future__ import annotations

import re

from ..errors import SqlError

MAX_LENGTH = 128
"""In bytes of UTF-8."""

_NAME = re.compile(r"[^\W\d]\w*")
_SERVER = re.compile(r"[\w.+$-]{1,128}")


def parse_database_name(text: str) -> str:
    """Return the stored name of a database, in lower case, from ``db`` or ``db@server``. Raises -354 for an invalid
    name."""
    name, at, server = text.strip().partition("@")
    name = name.strip().lower()
    if not _NAME.fullmatch(name) or len(name.encode("utf-8", "surrogatepass")) > MAX_LENGTH:
        raise SqlError(
            -354, 0, 0, text, "The name of a database must consist of letters, digits and underscores."
        )
    if at and not _SERVER.fullmatch(server.strip()):
        raise SqlError(-354, 0, 0, text, "The name of a server must consist of letters, digits and -_.+$")
    return name
