"""Replacement of the name of a renamed database in SQL."""

from __future__ import annotations

from sqlglot.tokens import TokenType

from .dialect import InformixTokenizer


def rename_database(sql: str, old: str, new: str) -> str:
    """Return a statement with ``new:`` in place of ``old:`` or ``old@server:`` before object names.

    Literals and comments stay unchanged.
    """
    tokens = InformixTokenizer().tokenize(sql)
    words = [token.text for token in tokens] + [""] * 3
    pieces, at = [], 0
    for position, token in enumerate(tokens):
        if token.token_type == TokenType.STRING or token.text.lower() != old:
            continue
        if words[position + 1] == ":" or (words[position + 1] == "@" and words[position + 3] == ":"):
            pieces += [sql[at : token.start], new]
            at = token.end + 1
    return "".join(pieces) + sql[at:]
