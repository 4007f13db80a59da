"""Hide secrets in SQL text and connection strings. Only this module knows which texts may contain passwords, and where.

:func:`hide_secrets` is for statements: errors, observers, traces and the server's logs use it to show them.
:func:`hide_credentials` is for any other text of the user's, such as a connection string in the wrong place. Both hide
rather too much than too little: of a statement that mentions a password, no strings or comments are shown.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .sql_text import is_comment, is_placeholder, is_string, tokens

# Words of statements that may contain a secret: CREATE USER .. PASSWORD, SET ENCRYPTION PASSWORD,
# ENCRYPT_AES(.., ..), GRANT .. IDENTIFIED BY, CONNECT .. USING, a column called password, a URL with a user.
_SPEAKS_OF_SECRETS = re.compile(
    r"passw(?:or)?d|passphrase|\bpwd\b|(?:en|de)crypt|identified|credential"
    r"|\bconnect\b(?!\s+by\b)|\busing(?=\s*['\"])|://[^\s/'\"]*@",
    re.IGNORECASE,
)

# A password may also be unquoted. It follows one of these words in one of these statements. In a statement on data
# such a word may be a column's name.
_PASSWORD_WORDS = frozenset({"IDENTIFIED", "PASSPHRASE", "PASSWORD", "USING"})
_PASSWORD_STATEMENTS = frozenset(
    {"ALTER", "CONNECT", "CREATE", "ENCRYPTION", "GRANT", "IDENTIFIED", "SET", "USER"}
)
_OF_DATA = frozenset(
    {
        "CALL", "DELETE", "EXECUTE", "FUNCTION", "INDEX", "INSERT", "MERGE", "PROCEDURE", "SELECT", "TABLE", "TRIGGER",
        "TYPE", "UPDATE", "VALUES", "VIEW",
    }
)  # fmt: skip
# Other words and signs that may be in that place.
_HARMLESS_WORDS = frozenset(
    {
        "ADD", "ACCOUNT", "AS", "AUTHORIZATION", "BY", "CONCURRENT", "DROP", "FOR", "GROUP", "HINT", "HOME",
        "IDENTIFIED", "LOCK", "MODIFY", "NEW", "OLD", "PASSPHRASE", "PASSWORD", "PROPERTIES", "TO", "TRANSACTION",
        "UID", "UNLOCK", "USER", "USING", "WITH",
    }
)  # fmt: skip
_HARMLESS_SIGNS = frozenset("=()")

# The password of a connection string, also of one with a typing error. It ends at the last @ of the word.
_USER_AND_PASSWORD = re.compile(
    r"""((?:[a-z][\w+.-]*:/{1,3}|/{2,}|informix[\w+-]*:)?[^\s:/@'"]*:)   # scheme and user
        (?!password@|//)[^\s'"]*(?=@)""",
    re.IGNORECASE | re.VERBOSE,
)
# A password with its name: password=.., PWD {..}, "passwd": "..", --password ..
_NAMED_PASSWORD = re.compile(
    r"""((?:passw(?:or)?d|passphrase|pwd)["']?
         (?:\s*=\s*|:(?=\S)|:\s*(?=["'])|%3d|\s*(?=\{)|(?<=-password)\s+(?=\S)|(?<=-pwd)\s+(?=\S)))
        (?:\{[^}]*\}?|'[^']*'?|"[^"]*"?|[^\s;&'",}]+)""",
    re.IGNORECASE | re.VERBOSE,
)

_LONGEST_CACHED = (
    4096  # characters; results are cached because the same few statements are shown again and again
)

_ENDS = {"'": "'", '"': '"', "{": "}", "/*": "*/", "--": ""}
# What may follow a string directly. Anything else means that a quote is missing somewhere before it.
_BEHIND_STRING = re.compile(r"\s|[-,;:.|)<>=!+*/\]{}]|\Z")
_BEFORE_STRING = frozenset(" \t\r\n,;(=")


def holds_secret(sql: str) -> bool:
    """Return whether a statement may contain a password, as a string, as a word or as a parameter."""
    return _cached_holds_secret(sql) if len(sql) <= _LONGEST_CACHED else _holds_secret(sql)


def _holds_secret(sql: str) -> bool:
    return _SPEAKS_OF_SECRETS.search(sql) is not None


_cached_holds_secret = lru_cache(maxsize=512)(_holds_secret)


def hide_secrets(sql: str, *, same_length: bool = False) -> str:
    """Return a statement with its secrets replaced by stars. A statement without secrets is returned unchanged.

    Each secret becomes three stars, which do not reveal its length. With ``same_length`` each character becomes
    one star, so that positions in the text stay valid. Redacting a redacted text changes nothing.
    """
    if not holds_secret(sql):
        return sql
    shown: list[str] = []
    end = 0
    for start, stop in _spans(sql):
        shown += (sql[end:start], _stars(sql[start:stop], same_length))
        end = stop
    return "".join([*shown, sql[end:]])


def hide_credentials(text: str) -> str:
    """Return a text with the passwords of connection strings in it replaced by three stars.

    It finds ``user:password@host``, ``password=..`` and the like wherever they stand, and hides rather too much. For
    statements use :func:`hide_secrets`.
    """
    if "@" in text:
        text = _USER_AND_PASSWORD.sub(r"\1***", text)
    return _NAMED_PASSWORD.sub(r"\1***", text)


def _spans(sql: str) -> list[tuple[int, int]]:
    """Return start and end of each string, comment and unquoted password.

    If quotes or comments are not paired, it is not clear what was meant to be a string. Then one span covers
    everything from the first of them to the end.
    """
    spans: list[tuple[int, int]] = []
    words: set[str] = set()  # the words of this statement so far
    quoted = -1  # where the first string or comment begins
    password_follows = unpaired = False
    at = 0
    for token in tokens(sql):
        start, at = at, at + len(token)
        word = token.upper()
        if is_string(token) or is_comment(token):
            quoted = start if quoted < 0 else quoted
            unpaired = unpaired or _is_unpaired(sql, token, at)
            spans.append((start, at))
        elif token in (",", ";"):
            password_follows = False
            if token == ";":
                words.clear()
        elif word in _PASSWORD_WORDS:
            words.add(word)
            password_follows = password_follows or not (
                words.isdisjoint(_PASSWORD_STATEMENTS) or not words.isdisjoint(_OF_DATA)
            )
        elif password_follows and not _is_harmless(token):
            spans.append((start, at))
        else:
            words.add(word)
    if not unpaired:
        return spans
    while quoted and sql[quoted - 1] not in _BEFORE_STRING:  # the missing quote may be its opening one
        quoted -= 1
    return [*(span for span in spans if span[1] <= quoted), (quoted, len(sql))]


def _is_harmless(token: str) -> bool:
    """Return whether a token is not a password, in a place where an unquoted one may be."""
    if token.isspace() or is_placeholder(token):
        return True
    return token in _HARMLESS_SIGNS or token.upper() in _HARMLESS_WORDS


def _is_unpaired(sql: str, token: str, end: int) -> bool:
    """Return whether a string or comment lacks its end, or a string ends where none can."""
    begin, closing = _edges(token)
    if not token.endswith(closing) or len(token) < len(begin) + len(closing):
        return True
    if token[0] in "'\"" and token.count(token[0]) % 2:
        return True
    return is_string(token) and _BEHIND_STRING.match(sql, end) is None


def _edges(text: str) -> tuple[str, str]:
    """Return how a string or comment begins, and how it should end. Both are "" for any other text."""
    begin = text[:2] if text[:2] in ("--", "/*") else text[:1]
    return (begin, _ENDS[begin]) if begin in _ENDS else ("", "")


def _stars(text: str, same_length: bool) -> str:
    begin, closing = _edges(text)
    if not text.endswith(closing) or len(text) < len(begin) + len(closing):
        closing = ""
    inner = text[len(begin) : len(text) - len(closing)]
    return begin + (re.sub(r"[^\n]", "*", inner) if same_length else "***") + closing
