"""Translation of whole scripts, statement by statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot.errors import ParseError, SqlglotError, TokenError, UnsupportedError
from sqlglot.tokens import Token

from ..server.errors import SqlError
from ..wire.types import ColumnType
from .dialect import CATALOGUE, Informix, InformixDelimited, StatementParser, translated
from .dialect import statements as split
from .queries import Catalogue
from .targets import TARGETS

Schema = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Statement:
    """A statement of a script: the line where it begins, its text, and its translation or why there is none."""

    line: int
    text: str
    sql: str | None
    problem: str = ""
    catalogue: Catalogue = field(default_factory=dict, repr=False, compare=False)
    """The tables that are known after the statement."""


def catalogue_of(schema: Schema | None) -> Catalogue:
    """Return the columns of tables from their declared types."""
    return {
        table.lower(): {column.lower(): ColumnType.parse_sql(kind) for column, kind in columns.items()}
        for table, columns in (schema or {}).items()
    }


def statements(
    sql: str, to: str, *, schema: Schema | None = None, delimident: bool = False, pretty: bool = False
) -> Iterator[Statement]:
    """Translate the statements of a script one by one, whether or not others can be translated.

    ``to`` is one of "postgres", "duckdb", "spark", "snowflake" and "bigquery". ``schema`` has the declared types of
    columns by table: ``{"customer": {"id": "SERIAL", "born": "DATE"}}``. Tables that the script creates need no entry.
    ``delimident`` says that double quotes enclose names. ``pretty`` breaks queries into lines.
    Raises ValueError for another ``to`` or an invalid type, and ``sqlglot.errors.ParseError`` if quotes or comments are
    not closed.
    """
    if to not in TARGETS:
        raise ValueError(f"to={to!r} is none of {', '.join(TARGETS)}.")
    return translated_statements(sql, to, catalogue_of(schema), delimident=delimident, pretty=pretty)


def translated_statements(
    sql: str, to: str, known: Catalogue, *, delimident: bool = False, pretty: bool = False
) -> Iterator[Statement]:
    """Translate the statements of a script like `statements`, with the tables that are known."""
    parser, groups = _split(sql, delimident)
    for tokens in groups:
        text = sql[tokens[0].start : tokens[-1].end + 1]
        line = sql.count("\n", 0, tokens[0].start) + 1
        try:
            tree, known = parser.one(text, tokens, sql, known)
            tree.meta[CATALOGUE] = known
            found = translated(tree, to, pretty=pretty)
        except (SqlglotError, SqlError) as error:
            yield Statement(line, text, None, " ".join(str(error).split("\n")[0].split()), known)
        else:
            yield Statement(line, text, found, catalogue=known)


def learned(sql: str, known: Catalogue, *, delimident: bool = False) -> Catalogue:
    """Return the tables that are known after the definitions of a script, which are not translated."""
    parser, groups = _split(sql, delimident)
    for tokens in groups:
        try:
            _, known = parser.one(sql[tokens[0].start : tokens[-1].end + 1], tokens, sql, known)
        except (SqlglotError, SqlError):
            continue
    return known


def _split(sql: str, delimident: bool) -> tuple[StatementParser, list[list[Token]]]:
    dialect = InformixDelimited() if delimident else Informix()
    try:
        return dialect.parser(), split(dialect.tokenize(sql))
    except TokenError as error:
        raise ParseError(f"The text cannot be read. {str(error).removesuffix('.')}.") from None


def translate(
    sql: str, to: str, *, schema: Schema | None = None, delimident: bool = False, pretty: bool = False
) -> list[str]:
    """Translate a script of Informix SQL. Returns the statements for the database ``to``.

    The parameters are those of `statements`. Raises ``sqlglot.errors.UnsupportedError`` with the line for the first
    statement that has no exact equivalent.
    """
    found = []
    for statement in statements(sql, to, schema=schema, delimident=delimident, pretty=pretty):
        if statement.sql is None:
            raise UnsupportedError(f"Line {statement.line}: {statement.problem}")
        found.append(statement.sql)
    return found
