"""Translation of whole scripts, statement by statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot.errors import SqlglotError, UnsupportedError

from ..server.errors import SqlError
from ..wire.types import ColumnType
from .dialect import CATALOGUE, Informix, InformixDelimited, translated
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
    Raises ValueError for another ``to`` or an invalid type, and ``sqlglot.errors.ParseError`` if quotes or comments are
    not closed.
    """
    if to not in TARGETS:
        raise ValueError(f"to={to!r} is none of {', '.join(TARGETS)}")
    known = catalogue_of(schema)
    dialect = InformixDelimited() if delimident else Informix()
    try:
        groups = split(dialect.tokenize(sql))
    except SqlError as error:
        from sqlglot.errors import ParseError

        raise ParseError(f"The text cannot be read: {error}.") from None
    parser = dialect.parser()
    for tokens in groups:
        text = sql[tokens[0].start : tokens[-1].end + 1]
        line = sql.count("\n", 0, tokens[0].start) + 1
        try:
            tree, known = parser.one(text, tokens, sql, known)
            tree.meta[CATALOGUE] = known
            found = translated(tree, to, pretty=pretty)
        except (SqlglotError, SqlError) as error:
            yield Statement(line, text, None, " ".join(str(error).split("\n")[0].split()))
        else:
            yield Statement(line, text, found)


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
            raise UnsupportedError(f"line {statement.line}: {statement.problem}")
        found.append(statement.sql)
    return found
