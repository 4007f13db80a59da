"""CREATE TEMP TABLE of a text that was read before, perhaps with another name: programs make the same table again and
again, and often number it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from ..errors import SqlError
from .classify import classify
from .ddl_nodes import CreateTable

_LONGEST = 1 << 14
_HEAD = re.compile(r"\s*create\s+temp(?:orary)?\s+table\s+([a-z][a-z0-9_]*)\s*\(", re.IGNORECASE | re.ASCII)
_ANY = "t"


def known_table(sql: str, delimident: bool) -> tuple[int, CreateTable] | None:
    """What `classify` makes of a CREATE TEMP TABLE without constraints; None for any other text, and for a wrong one,
    whose error tells a position."""
    head = _HEAD.match(sql) if len(sql) <= _LONGEST else None
    if head is None:
        return None
    try:
        found = _read(sql[: head.start(1)] + _ANY + sql[head.end(1) :], delimident)
    except SqlError:
        return None
    if found is None:
        return None
    kind, table = found
    return kind, replace(
        table,
        name=head[1].lower(),
        columns=list(table.columns),
        constraints=[],
        storage=replace(table.storage),
    )


@lru_cache(maxsize=64)
def _read(sql: str, delimident: bool) -> tuple[int, CreateTable] | None:
    kind, statement = classify(sql, delimident)
    if not isinstance(statement, CreateTable) or statement.query or statement.constraints:
        return None  # these may say the name once more
    return kind, statement
