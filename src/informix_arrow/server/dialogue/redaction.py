"""Statements as they may be shown in logs: without the passwords in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_WORD = re.compile(r"\b(?:password|identified|using|(?:en|de)crypt_\w+)\b", re.IGNORECASE)
# Where the password may be any of several literals: an argument of a call, the old one and the new one.
_ANYWHERE = re.compile(r"\b(?:(?:en|de)crypt_\w+|user\s+password)\b", re.IGNORECASE)
# One after another, because one pattern for all of it takes quadratic time for long runs of blanks.
_BEFORE_SECRET = re.compile(r"\b(?:password|identified\s+by|using)\b", re.IGNORECASE)
_UP_TO_SECRET = re.compile(r"\s*(?:for\s+\S+\s*)?=?\s*", re.IGNORECASE)
_LITERAL = re.compile(r"""'[^']*(?:''[^']*)*'?|"[^"]*(?:""[^"]*)*"?""")
_LITERAL_IN_LITERAL = re.compile(r"""''[^']+''|""[^"]+""|""" + _LITERAL.pattern)
_LITERAL_OR_COMMENT = re.compile(
    _LITERAL.pattern + r"|(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z)|\{[^}]*\}?)", re.DOTALL
)


_KEPT_TEXT = 4096
"""Characters of a statement that is worth remembering: the same few are executed again and again."""


def without_secrets(sql: str) -> str:
    """A statement's text as it may be shown: the literals of PASSWORD, IDENTIFIED BY and CONNECT ... USING are
    hidden, whatever comments stand before them, and all that are in one with ENCRYPT_AES and its like."""
    return _shown(sql) if len(sql) > _KEPT_TEXT else _kept(sql)


@lru_cache(maxsize=512)
def _kept(sql: str) -> str:
    return _shown(sql)


def _shown(sql: str) -> str:
    if _WORD.search(sql) is None:
        return sql
    # Both ways: what looks like a comment may be none.
    found = sorted({*_secrets(sql), *_secrets(_LITERAL_OR_COMMENT.sub(_blanks, sql))})
    shown = []
    end = 0
    for start, stop in found:
        if start >= end:
            shown += [sql[end:start], "'***'"]
        end = max(end, stop)
    return "".join([*shown, sql[end:]])


def _secrets(sql: str) -> Iterator[tuple[int, int]]:
    """Where the literals begin and end that must not be shown."""
    if _ANYWHERE.search(sql):
        yield from (literal.span() for literal in _LITERAL.finditer(sql))
    end = 0
    for word in _BEFORE_SECRET.finditer(sql):
        up_to = _UP_TO_SECRET.match(sql, word.end())
        secret = _LITERAL_IN_LITERAL.match(sql, up_to.end()) if up_to and word.start() >= end else None
        if secret:
            yield secret.span()
            end = secret.end()


def _blanks(found: re.Match[str]) -> str:
    return found[0] if found["comment"] is None else " " * len(found[0])
