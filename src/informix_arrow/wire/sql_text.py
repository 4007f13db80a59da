"""The lexer of SQL text: whatever looks into a statement on the client reads the tokens that it makes.

A text is read as Informix reads it. Strings in single or double quotes (a quote inside is doubled, the backslash is an
ordinary character) and the three kinds of comments, ``-- ...``, ``/* ... */`` and ``{ ... }``, hide what they hold.
Braces behind SET, MULTISET and LIST are collection literals, not comments. A string or comment without its end goes on
to the end of the text.

``?``, ``:1`` and ``:name`` are placeholders. A colon is a placeholder's when a name or number follows it and none
stands right before it: ``db:table``, ``c::INT`` and the literal ``DATETIME (10:30) HOUR TO MINUTE`` have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

# It has no groups, so that findall() gives the tokens as they are. Their order is for speed: what is frequent first.
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
_LONGEST_KEPT = 8192  # characters of a text whose tokens are kept for whoever looks next
_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_NO_CODE = re.compile(r"\s|--|/\*|\{")  # how blanks and comments begin
_WORD_OR_STRING = re.compile(r"[\w'\"]")
_DATABASE = re.compile(r"\bDATABASE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"']?([^\s;\"']+)", re.IGNORECASE)


def tokens(sql: str) -> Iterable[str]:
    """Cut a text into blanks, words, numbers, strings, comments, placeholders and single characters.

    Nothing is left out: joined together they are the text. :func:`is_comment` and its sisters tell the kinds apart;
    ``SET {``, which opens a collection, is one token.
    """
    if len(sql) <= _LONGEST_KEPT:
        return _kept_tokens(sql)
    return (match[0] for match in _TOKEN.finditer(sql))


@lru_cache(maxsize=64)
def _kept_tokens(sql: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(sql))


def is_comment(token: str) -> bool:
    """Whether it is a comment of any of the three kinds."""
    return token[0] == "{" or token[:2] in ("--", "/*")


def is_string(token: str) -> bool:
    """Whether it is a string, or a name in double quotes where DELIMIDENT is set."""
    return token[0] in "'\""


def is_number(token: str) -> bool:
    """Whether it is a number, not a word that begins with a digit."""
    return _NUMBER.fullmatch(token) is not None


def is_placeholder(token: str) -> bool:
    """Whether it is ``?``, ``:1`` or ``:name``."""
    return token == "?" or (token[0] == ":" and token not in (":", "::"))


def is_word(token: str) -> bool:
    """Whether it is a word or number, or a word with the brace of a collection."""
    return token[0].isalnum() or token[0] == "_"


def opens_collection(token: str) -> bool:
    """Whether it is SET, MULTISET or LIST with the brace behind it."""
    return token[-1] == "{" and is_word(token)


def code_tokens(sql: str) -> list[str]:
    """The tokens of a text without blanks and comments."""
    return [token for token in tokens(sql) if not _NO_CODE.match(token)]


def words_and_strings(sql: str) -> list[str]:
    """The words, numbers and strings of a text, without what comments hold."""
    return [token for token in tokens(sql) if _WORD_OR_STRING.match(token)]


def holds_several(sql: str) -> bool:
    """Whether words follow a semicolon: several statements in one text, or the body of a routine."""
    if ";" not in sql:
        return False
    code = [token for token in code_tokens(sql) if not is_string(token)]
    return ";" in code and any(token != ";" for token in code[code.index(";") :])


def database_name(sql: str) -> str:
    """The name in a DATABASE or CREATE DATABASE statement, with its server where it says one; "" without a name."""
    code = "".join(" " if is_comment(token) else token for token in tokens(sql))
    named = _DATABASE.search(code)
    return named[1] if named else ""
