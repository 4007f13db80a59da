"""Split SQL scripts into statements."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from ..wire.sql_text import is_comment, opens_collection, tokens

_ROUTINES = ("PROCEDURE", "FUNCTION")


@dataclass(frozen=True)
class Statement:
    """One statement of a script, without the semicolon, and the line where it begins."""

    text: str
    line: int


def split(script: str) -> Iterator[Statement]:
    """Yield the statements of a script, separated by semicolons.

    Semicolons in strings, comments and the bodies of routines, which end with END PROCEDURE or END FUNCTION, do
    not separate.
    """
    words: list[str] = []
    start: int | None = None
    at = 0
    braces = False  # inside those of a collection, or of a comment that looks like one: SET {price; in euros} a = 1
    for token in tokens(script):
        begin, at = at, at + len(token)
        if token.isspace() or is_comment(token) or (start is None and token == ";"):
            continue
        braces = token != "}" and (braces or opens_collection(token))
        if token == ";" and not braces and not _in_body(words):
            yield _statement(script, start or 0, begin)
            words, start = [], None
            continue
        if start is None:
            start = begin
        words.append(token.upper())
    if start is not None:
        yield _statement(script, start, len(script))


def _statement(script: str, start: int, end: int) -> Statement:
    return Statement(script[start:end].rstrip(), 1 + script.count("\n", 0, start))


def _in_body(words: list[str]) -> bool:
    """Return whether a semicolon after these words belongs to a routine's body."""
    head = [word for word in words[:6] if word not in ("DBA", "IF", "NOT", "EXISTS", "OR", "REPLACE")]
    if head[:1] != ["CREATE"] or head[1:2] not in (["PROCEDURE"], ["FUNCTION"]) or head[2:3] == ["FROM"]:
        return False
    if "EXTERNAL" in words:
        return False
    return not any(first == "END" and then in _ROUTINES for first, then in itertools.pairwise(words))
