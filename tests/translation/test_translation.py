"""Queries of Informix on the embedded server, and their translations on other databases over the same rows.

A translation returns the same rows, or there is none (UnsupportedError). Nothing else passes.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest
import sqlglot
from sqlglot.errors import UnsupportedError
from tests import postgres
from tests.real_server import database_name
from tests.translation.engines import (
    DuckDB,
    Postgres,
    Spark,
    informix_rows,
    informix_tables,
    lines,
    same_rows,
)

from informix_arrow.server import Server
from informix_arrow.sqlglot import Statement, statements

QUERIES = lines("queries.sql")
TABLES = lines("tables.sql")
FEWEST = {"postgres": 375, "duckdb": 360, "spark": 330, "snowflake": 330, "bigquery": 320}
"""Translated queries for each database. The others are refused."""

pytestmark = [pytest.mark.slow, pytest.mark.embedded]


@cache
def translations(to: str) -> tuple[list[str], list[Statement]]:
    """Return the tables and the queries for a database."""
    found = list(statements(";\n".join([*TABLES, *QUERIES]), to))
    assert len(found) == len(TABLES) + len(QUERIES)
    setup = found[: len(TABLES)]
    assert not [s.problem for s in setup if s.sql is None]
    return [s.sql for s in setup if s.sql], found[len(TABLES) :]


def informix_results(server: Server) -> list[list[tuple[object, ...]]]:
    """The rows of all queries on the embedded server."""
    with informix_tables(server, database_name(server, "translation")) as connection:
        found = [informix_rows(connection, sql) for sql in QUERIES]
    assert not [(q, r) for q, r in zip(QUERIES, found, strict=True) if isinstance(r, str)]
    return [r for r in found if not isinstance(r, str)]


@pytest.fixture(scope="module")
def expected(server: Server) -> list[list[tuple[object, ...]]]:
    return informix_results(server)


def check(to: str, engine: DuckDB | Postgres | Spark, expected: list[list[tuple[object, ...]]]) -> None:
    setup, found = translations(to)
    assert not [r for r in engine.run(setup) if isinstance(r, str)]
    todo = [(q, s.sql, e) for q, s, e in zip(QUERIES, found, expected, strict=True) if s.sql is not None]
    wrong = []
    for (query, sql, rows), got in zip(todo, engine.run([sql for _, sql, _ in todo]), strict=True):
        ordered = " order by " in query and " over (" not in query
        if isinstance(got, str) or not same_rows(rows, got, ordered=ordered):
            wrong.append(f"{query}\n  {sql}\n  expected {rows}\n  got      {got}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(todo)} are wrong:", *wrong])
    assert len(todo) >= FEWEST[to]


def test_duckdb_returns_the_same_rows(expected: list[list[tuple[object, ...]]]) -> None:
    check("duckdb", DuckDB(), expected)


def test_postgresql_returns_the_same_rows(expected: list[list[tuple[object, ...]]]) -> None:
    # Not in tmp_path: under root, PostgreSQL runs as another user without access to it.
    with (
        tempfile.TemporaryDirectory(prefix="translation_") as folder,
        postgres.running(Path(folder), tcp=True) as url,
    ):
        check("postgres", Postgres(url), expected)


@pytest.mark.parametrize("to", ["spark", "snowflake", "bigquery"])
def test_most_queries_are_translated(to: str) -> None:
    _, found = translations(to)
    assert sum(s.sql is not None for s in found) >= FEWEST[to]


def test_a_wrong_translation_is_found(expected: list[list[tuple[object, ...]]]) -> None:
    """If this fails: the comparison would not notice lost rows, other texts or other numbers."""
    rows = expected[0]
    assert same_rows(rows, list(reversed(rows)), ordered=False)
    assert not same_rows(rows, list(reversed(rows)), ordered=True)
    assert not same_rows(rows, rows[:-1], ordered=False)
    assert not same_rows(rows, [*rows[:-1], (99, "x")], ordered=False)


def test_informix_returns_the_rows_of_duckdb(server: Server) -> None:
    """The other direction: DuckDB's SQL is translated to Informix's. If this fails, a translation returns other rows or
    none."""
    duck = DuckDB()
    assert not [r for r in duck.run(translations("duckdb")[0]) if isinstance(r, str)]
    queries = lines("foreign.sql")
    wrong, translated = [], 0
    with informix_tables(server, database_name(server, "foreign_sql")) as connection:
        for query, rows in zip(queries, duck.run(queries), strict=True):
            try:
                (sql,) = sqlglot.transpile(query, read="duckdb", write="informix")
            except UnsupportedError:
                continue
            translated += 1
            found = informix_rows(connection, sql)
            ordered = " order by " in query and " over (" not in query
            if isinstance(rows, str) or isinstance(found, str) or not same_rows(found, rows, ordered=ordered):
                wrong.append(f"{query}\n  {sql}\n  expected {rows}\n  got      {found}")
    assert not wrong, "\n".join(wrong)
    assert len(queries) >= 150
    assert translated >= 115
