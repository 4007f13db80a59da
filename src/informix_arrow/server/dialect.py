"""Informix SQL for sqlglot: tokenizer, parser and generator, usable without the rest of the server.

    sqlglot.parse_one("SELECT SKIP 2 FIRST 5 a[1,3] FROM db:t WHERE b MATCHES 'x*'", dialect="informix")

Only queries and data changes go through it; DDL and SET statements have a small reader of their own
(ddl_parser.py).
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, generator, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokens import Token, TokenType

from .sql.dialect_nodes import (
    CollectionLiteral,
    CurrentDatetime,
    CurrentOf,
    DatetimeLiteral,
    Extend,
    IntervalLiteral,
    OuterTables,
    Today,
    Units,
)
from .sql.dialect_parser import InformixParser
from .sql.lexical import blank_comments


class InformixTokenizer(tokens.Tokenizer):  # type: ignore[misc]
    """Double quotes are strings; braces, `--` and `/* */` are comments (blanked before tokenizing)."""

    QUOTES: ClassVar[list[Any]] = ["'", '"']
    IDENTIFIERS: ClassVar[list[Any]] = ["`"]  # sqlglot wants one; Informix has none without DELIMIDENT
    STRING_ESCAPES: ClassVar[list[str]] = ["'", '"']
    COMMENTS: ClassVar[list[Any]] = []
    COMMANDS: ClassVar[set[Any]] = set()
    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        **{
            word: kind
            for word, kind in tokens.Tokenizer.KEYWORDS.items()
            if not word.startswith(("{", "/*", "--", "?"))
            and word not in ("GLOB", "DIV", "CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME")
        },
        "MATCHES": TokenType.GLOB,
        "OUTER": TokenType.OUTER,
    }

    def tokenize(self, sql: str) -> list[Token]:
        found: list[Token] = super().tokenize(blank_comments(sql))
        for i, token in enumerate(found):
            # UNIQUE is an old word for DISTINCT in a projection and inside an aggregate
            if token.token_type == TokenType.UNIQUE and i > 0:
                before = found[i - 1].token_type
                after = found[i + 1].token_type if i + 1 < len(found) else None
                if before == TokenType.SELECT or (
                    before in (TokenType.L_PAREN, TokenType.NUMBER, TokenType.PLACEHOLDER)
                    and after != TokenType.L_PAREN
                ):
                    token.token_type = TokenType.DISTINCT
        return found


class InformixDelimitedTokenizer(InformixTokenizer):
    """DELIMIDENT is set: double quotes are identifiers."""

    QUOTES: ClassVar[list[Any]] = ["'"]
    IDENTIFIERS: ClassVar[list[Any]] = ['"']
    STRING_ESCAPES: ClassVar[list[str]] = ["'"]


def _limit_prefix(limit: exp.Expression | None, offset: exp.Expression | None, write: Any) -> str:
    text = ""
    skip = (
        offset.expression if offset is not None else (limit.args.get("offset") if limit is not None else None)
    )
    first = limit.args.get("expression") if limit is not None else None
    if skip is not None:
        text += f"SKIP {write(skip)} "
    if first is not None:
        text += f"FIRST {write(first)} "
    return text


class InformixGenerator(generator.Generator):  # type: ignore[misc]
    """Back to Informix text."""

    TRANSFORMS: ClassVar[dict[Any, Any]] = {
        **generator.Generator.TRANSFORMS,
        DatetimeLiteral: lambda self, e: f"DATETIME ({e.this}) {e.args['qualifier']}",
        IntervalLiteral: lambda self, e: f"INTERVAL ({e.this}) {e.args['qualifier']}",
        CurrentDatetime: lambda self, e: f"CURRENT {e.args['qualifier']}",
        Today: lambda self, e: "TODAY",
        Extend: lambda self, e: (
            f"EXTEND({self.sql(e, 'this')}"
            + (f", {e.args['qualifier']})" if e.args.get("qualifier") else ")")
        ),
        CollectionLiteral: lambda self, e: (
            f"ROW({self.expressions(e, flat=True)})"
            if e.args["kind"] == "ROW"
            else f"{e.args['kind']}{{{self.expressions(e, flat=True)}}}"
        ),
        Units: lambda self, e: f"{self.sql(e, 'this')} UNITS {e.args['unit']}",
        CurrentOf: lambda self, e: f"CURRENT OF {self.sql(e, 'this')}",
        OuterTables: lambda self, e: "OUTER (" + ", ".join(self.sql(x) for x in e.expressions) + ")",
        exp.Glob: lambda self, e: f"{self.sql(e, 'this')} MATCHES {self.sql(e, 'expression')}",
        exp.Coalesce: lambda self, e: self.func("NVL", e.this, *e.expressions),
        exp.CurrentDate: lambda self, e: "TODAY",
        exp.CurrentTimestamp: lambda self, e: "CURRENT YEAR TO FRACTION(3)",
    }

    def datatype_sql(self, expression: exp.DataType) -> str:
        declared = expression.meta.get("informix")
        return str(declared) if declared else str(super().datatype_sql(expression))

    def bracket_sql(self, expression: exp.Bracket) -> str:
        return f"{self.sql(expression, 'this')}[{self.expressions(expression, flat=True)}]"

    def table_parts(self, expression: exp.Table) -> str:
        text: str = self.sql(expression, "this")
        if expression.args.get("db"):
            text = f"{self.sql(expression, 'db')}.{text}"
        if expression.args.get("catalog"):
            text = f"{self.sql(expression, 'catalog')}:{text}"
        return text

    def select_sql(self, expression: exp.Select) -> str:
        prefix = _limit_prefix(expression.args.get("limit"), expression.args.get("offset"), self.sql)
        if prefix:
            expression = expression.copy()
            expression.set("limit", None)
            expression.set("offset", None)
        text = str(super().select_sql(expression))
        return text.replace("SELECT ", f"SELECT {prefix}", 1) if prefix else text


class Informix(Dialect):  # type: ignore[misc]
    """IBM Informix SQL with DELIMIDENT off."""

    INDEX_OFFSET = 0
    NULL_ORDERING = "nulls_are_small"
    Tokenizer = InformixTokenizer
    Parser = InformixParser
    Generator = InformixGenerator


class InformixDelimited(Informix):
    """IBM Informix SQL with DELIMIDENT set."""

    Tokenizer = InformixDelimitedTokenizer
