"""Informix SQL for sqlglot: tokenizer, parser and generator of the dialect "informix_exact".

It parses to Informix's own nodes, which the server's translator requires. `informix_arrow.sqlglot` has the dialects
"informix" and "informix_delimited" for other databases.

They are for queries and data changes only. DDL and SET statements have a small parser of their own (ddl_parser.py).
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, generator, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokens import Token, TokenType

from ..errors import SqlError
from .dialect_nodes import (
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
from .dialect_parser import InformixParser
from .lexical import blank_comments, check_word_count

_NO_KEYWORDS = frozenset(
    {"GLOB", "DIV", "CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "ISNULL", "NOTNULL", "|>"}
)
"""Keywords of sqlglot that are ordinary names in Informix, or mean nothing."""


_REFUSED = {"!": -201, "`": -202}
"""Characters that are no token, and the SQLCODEs of statements with them."""


class InformixTokenizer(tokens.Tokenizer):  # type: ignore[misc]
    """Tokenizer without DELIMIDENT: double quotes enclose strings. Braces, `--` and `/* */` are comments, blanked out
    first."""

    DELIMIDENT: ClassVar[bool] = False
    """Whether double quotes enclose identifiers."""

    # sqlglot requires a quote of identifiers, and programs such as jupysql write names with it.
    QUOTES: ClassVar[list[Any]] = ["'"]
    IDENTIFIERS: ClassVar[list[Any]] = ['"']
    STRING_ESCAPES: ClassVar[list[str]] = ["'"]
    COMMENTS: ClassVar[list[Any]] = []
    COMMANDS: ClassVar[set[Any]] = set()
    SINGLE_TOKENS: ClassVar[dict[str, TokenType]] = {
        **tokens.Tokenizer.SINGLE_TOKENS,
        "!": TokenType.UNKNOWN,  # ends a name before `!=`; by itself it is a syntax error, not NOT
        "`": TokenType.UNKNOWN,  # the quote of other databases
    }
    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        **{
            word: kind
            for word, kind in tokens.Tokenizer.KEYWORDS.items()
            if not word.startswith(("{", "/*", "--", "?")) and word not in _NO_KEYWORDS
        },
        "MATCHES": TokenType.GLOB,
        "MINUS": TokenType.EXCEPT,
        "OUTER": TokenType.OUTER,
        "ORDER SIBLINGS BY": TokenType.ORDER_SIBLINGS_BY,
    }

    def tokenize(self, sql: str) -> list[Token]:
        sql = blank_comments(sql)
        check_word_count(sql)
        tokens_read: list[Token] = super().tokenize(sql)
        for i, token in enumerate(tokens_read):
            if token.token_type == TokenType.IDENTIFIER and not self.DELIMIDENT:
                token.token_type = TokenType.STRING
            # UNIQUE is an old synonym of DISTINCT in projections and aggregates
            elif token.token_type == TokenType.UNIQUE and i > 0:
                before = tokens_read[i - 1].token_type
                after = tokens_read[i + 1].token_type if i + 1 < len(tokens_read) else None
                if before == TokenType.SELECT or (
                    before in (TokenType.L_PAREN, TokenType.NUMBER, TokenType.PLACEHOLDER)
                    and after != TokenType.L_PAREN
                ):
                    token.token_type = TokenType.DISTINCT
            elif token.token_type == TokenType.NUMBER and token.text[-1] in "eE":
                raise SqlError(-204, 0, token.start + 1, "", f"The exponent of {token.text} has no digits.")
            elif token.token_type == TokenType.UNKNOWN and token.text in _REFUSED:
                raise SqlError(_REFUSED[token.text], 0, token.start + 1)
        return tokens_read


class InformixDelimitedTokenizer(InformixTokenizer):
    """Tokenizer with DELIMIDENT: double quotes enclose identifiers."""

    DELIMIDENT = True


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
    """Generates Informix SQL."""

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
        exp.Coalesce: lambda self, e: self.func(
            "NVL" if len(e.expressions) == 1 else "COALESCE", e.this, *e.expressions
        ),
        exp.Except: lambda self, e: self.set_operations(e),
        exp.TimestampTrunc: lambda self, e: (
            f"EXTEND({self.sql(e, 'this')}, YEAR TO {e.text('unit').upper()})"
        ),
        exp.DateTrunc: lambda self, e: f"EXTEND({self.sql(e, 'this')}, YEAR TO {e.text('unit').upper()})",
        exp.DateFromParts: lambda self, e: self.func("MDY", e.args["month"], e.args["day"], e.args["year"]),
        exp.DayOfWeek: lambda self, e: self.func("WEEKDAY", e.this),
        exp.TimeToStr: lambda self, e: self.func("TO_CHAR", e.this, e.args["format"]),
        exp.StrToTime: lambda self, e: self.func("TO_DATE", e.this, e.args["format"]),
        exp.StrPosition: lambda self, e: self.func("INSTR", e.this, e.args["substr"]),
        exp.StddevPop: lambda self, e: self.func("STDEV", e.this),
        exp.VariancePop: lambda self, e: self.func("VARIANCE", e.this),
        exp.Substring: lambda self, e: self.func("SUBSTR", e.this, e.args.get("start"), e.args.get("length")),
        exp.Mod: lambda self, e: self.func("MOD", e.this, e.expression),
        exp.Pow: lambda self, e: self.func("POW", e.this, e.expression),
        exp.Ln: lambda self, e: self.func("LOGN", e.this),
        exp.Boolean: lambda self, e: "'t'" if e.this else "'f'",
        exp.LastDay: lambda self, e: self.func("LAST_DAY", e.this),
        exp.CurrentDate: lambda self, e: "TODAY",
        exp.CurrentTimestamp: lambda self, e: "CURRENT YEAR TO FRACTION(3)",
    }

    TYPE_MAPPING: ClassVar[dict[Any, str]] = {
        **generator.Generator.TYPE_MAPPING,
        exp.DataType.Type.TINYINT: "SMALLINT",
        exp.DataType.Type.INT: "INTEGER",
        exp.DataType.Type.FLOAT: "SMALLFLOAT",
        exp.DataType.Type.DOUBLE: "FLOAT",
        exp.DataType.Type.TEXT: "LVARCHAR",
        exp.DataType.Type.TIME: "DATETIME HOUR TO FRACTION(5)",
        exp.DataType.Type.TIMESTAMP: "DATETIME YEAR TO FRACTION(5)",
        exp.DataType.Type.TIMESTAMPNTZ: "DATETIME YEAR TO FRACTION(5)",
        exp.DataType.Type.DATETIME: "DATETIME YEAR TO FRACTION(5)",
    }

    def datatype_sql(self, expression: exp.DataType) -> str:
        declared = expression.meta.get("informix")
        if declared:
            return str(declared)
        if expression.this == exp.DataType.Type.VARCHAR and not expression.expressions:
            return "LVARCHAR"
        return str(super().datatype_sql(expression))

    def interval_sql(self, expression: exp.Interval) -> str:
        """Generate a literal interval as a literal, anything else with UNITS."""
        unit, amount = expression.text("unit").upper().removesuffix("S"), expression.this
        if isinstance(amount, exp.Literal):
            return f"INTERVAL ({amount.name}) {unit}(9) TO {unit}"
        return f"{self.sql(amount)} UNITS {unit}"

    def identifier_sql(self, expression: exp.Identifier) -> str:
        """Generate an identifier. Without DELIMIDENT there are no quoted names."""
        if not self.dialect.tokenizer_class.DELIMIDENT:
            name = str(expression.this)
            if not (name.isidentifier() and (name == name.lower() or not expression.args.get("quoted"))):
                self.unsupported(f"the name {name!r} needs DELIMIDENT (dialect informix_delimited)")
            return name
        return str(super().identifier_sql(expression))

    def nullsafeeq_sql(self, expression: exp.NullSafeEQ) -> str:
        left, right = self.sql(expression, "this"), self.sql(expression, "expression")
        return f"(CASE WHEN {left} = {right} OR ({left} IS NULL AND {right} IS NULL) THEN 1 ELSE 0 END = 1)"

    def nullsafeneq_sql(self, expression: exp.NullSafeNEQ) -> str:
        left, right = self.sql(expression, "this"), self.sql(expression, "expression")
        return f"(CASE WHEN {left} = {right} OR ({left} IS NULL AND {right} IS NULL) THEN 1 ELSE 0 END = 0)"

    def create_sql(self, expression: exp.Create) -> str:
        """Generate CREATE TEMP TABLE ... AS SELECT as SELECT ... INTO TEMP."""
        properties = expression.args.get("properties")
        temporary = properties is not None and properties.find(exp.TemporaryProperty)
        if temporary and isinstance(expression.expression, exp.Query):
            return f"{self.sql(expression, 'expression')} INTO TEMP {self.sql(expression, 'this')}"
        return str(super().create_sql(expression))

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
            expression.set("hint", exp.Var(this=f" {prefix.rstrip()}"))  # written behind SELECT
        return str(super().select_sql(expression))


class InformixExact(Dialect):  # type: ignore[misc]
    """IBM Informix SQL with DELIMIDENT off, parsed to Informix's own nodes."""

    INDEX_OFFSET = 0
    NULL_ORDERING = "nulls_are_small"
    Tokenizer = InformixTokenizer
    Parser = InformixParser
    Generator = InformixGenerator


class InformixExactDelimited(InformixExact):
    """IBM Informix SQL with DELIMIDENT set, parsed to Informix's own nodes."""

    Tokenizer = InformixDelimitedTokenizer
