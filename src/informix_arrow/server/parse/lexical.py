"""Checks and changes of Informix SQL before tokenizing: quotes, comments and the number of words.

There are three kinds of comments. Braces are comments, but after SET, MULTISET and LIST they are collection literals.
Comments are replaced by blanks of the same length, so that every offset refers to the user's text.
"""

from __future__ import annotations

import re

from ..errors import SqlError

_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_WORD = re.compile(r"""'[^']*'|"[^"]*"|\d+(?:\.\d+)?|\w+|[^\s\w]""")
MAX_WORDS = 1 << 18
"""Maximum number of words, literals and signs in one statement. Each takes up to 5 kB during parsing and planning,
which DuckDB's memory_limit does not cover."""
_COLLECTION = re.compile(r"\b(?:SET|MULTISET|LIST)\s*$", re.IGNORECASE)


def blank_comments(sql: str) -> str:
    """Return `sql` with comments replaced by blanks, in the same length.

    Raises SqlError -282 for an unclosed quote and -283 for an unclosed comment. A doubled quote is an escape, a
    backslash is not.
    """
    out: list[str] = []
    i, n = 0, len(sql)
    plain = 0  # start of the text not yet copied
    while i < n:
        ch = sql[i]
        if ch in "'\"":
            end = _closing_quote(sql, i, ch)
            if end < 0:
                raise SqlError(-282, 0, i + 1)
            i = end + 1
            continue
        stop = -1
        if ch == "-" and sql.startswith("--", i):
            stop = sql.find("\n", i)
            stop = n if stop < 0 else stop
        elif ch == "/" and sql.startswith("/*", i):
            stop = sql.find("*/", i + 2)
            if stop < 0:
                raise SqlError(-283, 0, i + 1)
            stop += 2
        elif ch == "{":
            if _COLLECTION.search(sql[max(0, i - 32) : i]):
                i += 1  # only the brace: the content may have quotes
                continue
            stop = sql.find("}", i + 1)
            if stop < 0:
                raise SqlError(-283, 0, i + 1)
            stop += 1
        if stop < 0:
            i += 1
            continue
        out.append(sql[plain:i])
        out.append("".join("\n" if c == "\n" else " " for c in sql[i:stop]))
        i = plain = stop
    out.append(sql[plain:])
    return "".join(out)


def check_word_count(sql: str) -> None:
    """Raise -208 for a statement without comments that would take too much memory to parse."""
    if len(sql) > MAX_WORDS:
        for number, word in enumerate(_WORD.finditer(sql)):
            if number == MAX_WORDS:
                detail = f"a statement of more than {MAX_WORDS} words, literals and signs"
                raise SqlError(-208, 0, word.start() + 1, "", detail)


def find_quoted_newline(sql: str, delimident: bool) -> int:
    """Return the 0-based start of the first quoted string that contains a line break, -1 if there is none."""
    for quoted in _QUOTED.finditer(blank_comments(sql)):
        if "\n" in quoted[0] and not (delimident and quoted[0][0] == '"'):
            return quoted.start()
    return -1


def _closing_quote(sql: str, start: int, quote: str) -> int:
    """Return the index of the quote that closes the string beginning at `start`, or -1."""
    i = start + 1
    while True:
        i = sql.find(quote, i)
        if i < 0:
            return -1
        if sql.startswith(quote, i + 1):
            i += 2
            continue
        return i
