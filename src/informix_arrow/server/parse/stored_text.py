"""SQL as the catalogue stores it: the same statement with DELIMIDENT and without."""

from __future__ import annotations

from sqlglot.tokens import TokenType

from .dialect import InformixTokenizer


def with_single_quotes(sql: str, delimident: bool) -> str:
    """Return SQL of a session with its strings in single quotes. Double quotes are left to identifiers and owners."""
    if delimident or '"' not in sql:
        return sql
    tokens = InformixTokenizer().tokenize(sql)
    pieces, at = [], 0
    for position, token in enumerate(tokens):
        is_owner = position + 1 < len(tokens) and tokens[position + 1].token_type == TokenType.DOT
        if token.token_type == TokenType.STRING and sql[token.start] == '"' and not is_owner:
            text = sql[token.start + 1 : token.end].replace('""', '"').replace("'", "''")
            pieces += [sql[at : token.start], f"'{text}'"]
            at = token.end + 1
    return "".join(pieces) + sql[at:]
