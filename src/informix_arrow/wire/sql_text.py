"""The lexer of SQL text. Everything on the client that looks into a statement uses its tokens.

A text is read as Informix reads it. Strings in single or double quotes (a quote inside is doubled, the backslash
is an ordinary character) and the three kinds of comments, ``-- ...``, ``/* ... */`` and ``{ ... }``, hide what
they contain. Braces after SET, MULTISET and LIST are collection literals, not comments. A string or comment
without an end extends to the end of the text.

``?``, ``:1`` and ``:name`` are placeholders. A colon begins a placeholder if a name or number follows it and none
directly precedes it. ``db:table``, ``c::INT`` and the literal ``DATETIME (10:30) HOUR TO MINUTE`` have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

# There are no groups, so that findall() returns whole tokens. Frequent tokens come first, for speed.
_TOKEN = re.compile(
    r"""
      \s+
    | (?:[Ss][Ee][Tt] | [Ll][Ii][Ss][Tt] | [Mm][Uu][Ll][Tt][Ii][Ss][Ee][Tt])\s*\{  # opens a collection
    | [^\W\d][\w$]*                                                    # a word
    | [,()?;=]
    | '[^']*(?:''[^']*)*'? | "[^"]*(?:""[^"]*)*"?                      # a string
    | (?:\d+(?:\.\d*)? | \.\d+)(?:[eE][+-]?\d+)?(?![\w$])              # a number
    | [\w$]+                                                           # 1a, $1
    | --[^\n]* | /\*(?s:.*?)(?:\*/|\Z) | \{[^}]*\}?                    # a comment
    | (?<![\w$"\])]):(?:[0-9]+(?!\w) | [^\W\d]\w*)                     # :1, :name
    | ::
    | .
    """,
    re.VERBOSE,
)
_LONGEST_CACHED = 8192  # characters of a text whose tokens are cached
_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_NO_CODE = re.compile(r"\s|--|/\*|\{")  # how blanks and comments begin
_WORD_OR_STRING = re.compile(r"[\w'\"]")
_DATABASE = re.compile(r"\bDATABASE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"']?([^\s;\"']+)", re.IGNORECASE)


def tokens(sql: str) -> Iterable[str]:
    """Split a text into blanks, words, numbers, strings, comments, placeholders and single characters.

    Joined together, the tokens are the text. :func:`is_comment` and similar functions return their kinds. ``SET
    {``, which opens a collection, is one token.
    """
    if len(sql) <= _LONGEST_CACHED:
        return _cached_tokens(sql)
    return (match[0] for match in _TOKEN.finditer(sql))


@lru_cache(maxsize=64)
def _cached_tokens(sql: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(sql))


def is_comment(token: str) -> bool:
    """Return whether a token is a comment of any of the three kinds."""
    return token[0] == "{" or token[:2] in ("--", "/*")


def is_string(token: str) -> bool:
    """Return whether a token is a string, or a name in double quotes if DELIMIDENT is set."""
    return token[0] in "'\""


def is_number(token: str) -> bool:
    """Return whether a token is a number, not a word that begins with a digit."""
    return _NUMBER.fullmatch(token) is not None


def is_placeholder(token: str) -> bool:
    """Return whether a token is ``?``, ``:1`` or ``:name``."""
    return token == "?" or (token[0] == ":" and token not in (":", "::"))


def opens_collection(token: str) -> bool:
    """Return whether a token is SET, MULTISET or LIST followed by a brace."""
    return token[-1] == "{" and (token[0].isalnum() or token[0] == "_")


def code_tokens(sql: str) -> list[str]:
    """Return the tokens of a text without blanks and comments."""
    return [token for token in tokens(sql) if not _NO_CODE.match(token)]


def words_and_strings(sql: str) -> list[str]:
    """Return the words, numbers and strings of a text, without those in comments."""
    return [token for token in tokens(sql) if _WORD_OR_STRING.match(token)]


def holds_several(sql: str) -> bool:
    """Return whether words follow a semicolon: several statements in one text, or the body of a routine."""
    if ";" not in sql:
        return False
    code = [token for token in code_tokens(sql) if not is_string(token)]
    return ";" in code and any(token != ";" for token in code[code.index(";") :])


def database_name(sql: str) -> str:
    """Return the name in a DATABASE or CREATE DATABASE statement, with its server if given. "" without a name."""
    code = "".join(" " if is_comment(token) else token for token in tokens(sql))
    named = _DATABASE.search(code)
    return named[1] if named else ""
