"""SQL scripts, cut into statements."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

_PIECES = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z)|\{[^}]*\}?)"
    r"""|(?P<text>'[^']*'?|"[^"]*"?)"""
    r"|(?P<word>[^\W\d]\w*)|(?P<end>;)|(?P<other>[^\s;'\"\w{]+|\w+)",
    re.DOTALL,
)
_ROUTINES = ("PROCEDURE", "FUNCTION")


@dataclass(frozen=True)
class Statement:
    """One statement of a script, without the semicolon, and the line on which it begins."""

    text: str
    line: int


def split(script: str) -> Iterator[Statement]:
    """The statements of a script, which semicolons end: not those in texts and comments, nor those within the body of
    a routine, which goes on to its END PROCEDURE or END FUNCTION."""
    words: list[str] = []
    start: int | None = None
    for piece in _PIECES.finditer(script):
        if piece["comment"] and start is None:
            continue
        if piece["end"] and start is None:
            continue
        if piece["end"] and not _in_body(words):
            yield _statement(script, start or 0, piece.start())
            words, start = [], None
            continue
        if start is None:
            start = piece.start()
        if piece["word"]:
            words.append(piece["word"].upper())
        elif not piece["comment"]:
            words.append("")
    if start is not None:
        yield _statement(script, start, len(script))


def _statement(script: str, start: int, end: int) -> Statement:
    return Statement(script[start:end].rstrip(), 1 + script.count("\n", 0, start))


def _in_body(words: list[str]) -> bool:
    """Whether a semicolon behind these words is one of a routine's body."""
    head = [word for word in words[:6] if word not in ("DBA", "IF", "NOT", "EXISTS", "OR", "REPLACE")]
    if head[:1] != ["CREATE"] or head[1:2] not in (["PROCEDURE"], ["FUNCTION"]) or head[2:3] == ["FROM"]:
        return False
    if "EXTERNAL" in words:
        return False
    return not any(first == "END" and then in _ROUTINES for first, then in itertools.pairwise(words))


def begins_transaction(statement: str) -> bool:
    """Whether a statement is BEGIN WORK."""
    return (
        re.match(r"\s*BEGIN(\s+WORK)?(\s+WITHOUT\s+REPLICATION)?\s*\Z", statement, re.IGNORECASE) is not None
    )
