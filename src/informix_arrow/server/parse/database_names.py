"""Names of databases: letters, digits and underscores, whatever DELIMIDENT lets other names be.

A database's name becomes the name of a file, and the name that DuckDB knows it by.
"""

from __future__ import annotations

import re

from ..errors import SqlError

MAX_LENGTH = 128
"""Bytes of UTF-8."""

_NAME = re.compile(r"[^\W\d]\w*")
_SERVER = re.compile(r"[\w.+$-]{1,128}")


def parse_database_name(text: str) -> str:
    """The name of a database as it is kept, in small letters, from ``db`` or ``db@server``; -354 for what is none."""
    name, at, server = text.strip().partition("@")
    name = name.strip().lower()
    if not _NAME.fullmatch(name) or len(name.encode("utf-8", "surrogatepass")) > MAX_LENGTH:
        raise SqlError(-354, 0, 0, text, "the name of a database is letters, digits and underscores")
    if at and not _SERVER.fullmatch(server.strip()):
        raise SqlError(-354, 0, 0, text, "the name of a server is letters, digits and -_.+$")
    return name
