"""Hides secrets in SQL text: the one place that knows which statements may hold passwords, and where.

Errors, observers, traces and the server's logs show statements by it. It hides rather too much than too little: a
statement that speaks of a password shows none of its strings and comments.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .sql_text import is_comment, is_placeholder, is_string, tokens

# What a statement with a secret speaks of: CREATE USER .. PASSWORD, SET ENCRYPTION PASSWORD, ENCRYPT_AES(.., ..),
# GRANT .. IDENTIFIED BY, CONNECT .. USING, a column called password, a URL with a user in it.
_SPEAKS_OF_SECRETS = re.compile(
    r"passw(?:or)?d|passphrase|\bpwd\b|(?:en|de)crypt|identified|credential"
    r"|\bconnect\b(?!\s+by\b)|\busing(?=\s*['\"])|://[^\s/'\"]*@",
    re.IGNORECASE,
)

# A password may also be given without quotes. It stands behind one of these words, unless the statement asks for data,
# of which a column may be called so.
_GIVING = frozenset({"IDENTIFIED", "PASSPHRASE", "PASSWORD", "USING"})
_GIVERS = frozenset({"ALTER", "CONNECT", "CREATE", "ENCRYPTION", "GRANT", "IDENTIFIED", "SET", "USER"})
_OF_DATA = frozenset(
    {
        "CALL", "DELETE", "EXECUTE", "FUNCTION", "INDEX", "INSERT", "MERGE", "PROCEDURE", "SELECT", "TABLE", "TRIGGER",
        "TYPE", "UPDATE", "VALUES", "VIEW",
    }
)  # fmt: skip
# What may stand there besides.
_HARMLESS_WORDS = frozenset(
    {
        "ADD", "ACCOUNT", "AS", "AUTHORIZATION", "BY", "CONCURRENT", "DROP", "FOR", "GROUP", "HINT", "HOME",
        "IDENTIFIED", "LOCK", "MODIFY", "NEW", "OLD", "PASSPHRASE", "PASSWORD", "PROPERTIES", "TO", "TRANSACTION",
        "UID", "UNLOCK", "USER", "USING", "WITH",
    }
)  # fmt: skip
_HARMLESS_SIGNS = frozenset("=()")

_LONGEST_KEPT = 4096  # characters of a text that is worth remembering: the same few are shown again and again

_ENDS = {"'": "'", '"': '"', "{": "}", "/*": "*/", "--": ""}
# What may stand right behind a string. Anything else means that a quote is missing somewhere before it.
_BEHIND_STRING = re.compile(r"\s|[-,;:.|)<>=!+*/\]{}]|\Z")
_BEFORE_STRING = frozenset(" \t\r\n,;(=")


def holds_secret(sql: str) -> bool:
    """Whether a statement may hold a password, as a string, as a word or as a parameter."""
    return _kept_holds_secret(sql) if len(sql) <= _LONGEST_KEPT else _holds_secret(sql)


def _holds_secret(sql: str) -> bool:
    return _SPEAKS_OF_SECRETS.search(sql) is not None


_kept_holds_secret = lru_cache(maxsize=512)(_holds_secret)


def hide_secrets(sql: str, *, same_length: bool = False) -> str:
    """The text of a statement with stars in the place of its secrets, and as it is if it holds none.

    There are three stars for each, so that nobody sees how long it is. With ``same_length`` there is one for each
    character, so that positions in the text stay what they are. Text that was shown so is shown the same again.
    """
    if not holds_secret(sql):
        return sql
    shown: list[str] = []
    end = 0
    for start, stop in _spans(sql):
        shown += (sql[end:start], _stars(sql[start:stop], same_length))
        end = stop
    return "".join([*shown, sql[end:]])


def _spans(sql: str) -> list[tuple[int, int]]:
    """Where strings, comments and passwords without quotes begin and end.

    Where quotes and comments are not paired, nobody can say what was meant to be a string: then one span goes from
    the first of them to the end.
    """
    spans: list[tuple[int, int]] = []
    seen: set[str] = set()  # the words of this statement up to here
    quoted = -1  # where the first string or comment begins
    given = unpaired = False
    at = 0
    for token in tokens(sql):
        start, at = at, at + len(token)
        word = token.upper()
        if is_string(token) or is_comment(token):
            quoted = start if quoted < 0 else quoted
            unpaired = unpaired or _is_unpaired(sql, token, at)
            spans.append((start, at))
        elif token in (",", ";"):
            given = False
            if token == ";":
                seen.clear()
        elif word in _GIVING:
            seen.add(word)
            given = given or not (seen.isdisjoint(_GIVERS) or not seen.isdisjoint(_OF_DATA))
        elif given and not _is_harmless(token):
            spans.append((start, at))
        else:
            seen.add(word)
    if not unpaired:
        return spans
    while quoted and sql[quoted - 1] not in _BEFORE_STRING:  # the quote that is missing may be its first one
        quoted -= 1
    return [*(span for span in spans if span[1] <= quoted), (quoted, len(sql))]


def _is_harmless(token: str) -> bool:
    """Whether it is no password, where one without quotes may stand."""
    if token.isspace() or is_placeholder(token):
        return True
    return token in _HARMLESS_SIGNS or token.upper() in _HARMLESS_WORDS


def _is_unpaired(sql: str, token: str, end: int) -> bool:
    """Whether a string or comment lacks its end, or a string ends where none can."""
    begin, closing = _edges(token)
    if not token.endswith(closing) or len(token) < len(begin) + len(closing):
        return True
    if token[0] in "'\"" and token.count(token[0]) % 2:
        return True
    return is_string(token) and _BEHIND_STRING.match(sql, end) is None


def _edges(text: str) -> tuple[str, str]:
    """How a string or comment begins, and how it should end; twice nothing for anything else."""
    begin = text[:2] if text[:2] in ("--", "/*") else text[:1]
    return (begin, _ENDS[begin]) if begin in _ENDS else ("", "")


def _stars(text: str, same_length: bool) -> str:
    begin, closing = _edges(text)
    if not text.endswith(closing) or len(text) < len(begin) + len(closing):
        closing = ""
    inner = text[len(begin) : len(text) - len(closing)]
    return begin + (re.sub(r"[^\n]", "*", inner) if same_length else "***") + closing
