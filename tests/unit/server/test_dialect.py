"""The sqlglot dialect alone: parsing Informix SQL and generating it again."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from informix_arrow.server.errors import SqlError
from informix_arrow.server.parse.dialect import InformixExact, InformixExactDelimited
from informix_arrow.server.parse.lexical import blank_comments

ROUND_TRIPS = [
    "SELECT SKIP 2 FIRST 5 a FROM t",
    "SELECT a[1, 3], b FROM db:owner.t AS x",
    "SELECT a FROM t WHERE b MATCHES 'x*'",
    "SELECT DATETIME (2026-05-04 12:34:56) YEAR TO SECOND FROM t",
    "SELECT INTERVAL (3 04:05:06) DAY TO SECOND FROM t",
    "SELECT CURRENT YEAR TO FRACTION(3), TODAY - 3 UNITS DAY FROM t",
    "SELECT EXTEND(a, YEAR TO DAY) FROM t",
    "SELECT CAST(a AS LVARCHAR(300)), CAST(b AS DATETIME YEAR TO SECOND) FROM t",
    "SELECT NVL(a, 0), COUNT(DISTINCT b) FROM t GROUP BY 1",
    "SELECT a.x FROM a, OUTER (b, OUTER (c)) WHERE a.k = b.k",
    "INSERT INTO t (a, b) VALUES (?, 'x')",
    "UPDATE t SET a = 1 WHERE b = ?",
    "DELETE FROM t WHERE a IN (1, 2)",
]


@pytest.mark.parametrize("sql", ROUND_TRIPS)
def test_text_comes_back_as_it_was(sql: str) -> None:
    assert sqlglot.parse_one(sql, dialect=InformixExact).sql(dialect=InformixExact) == sql


READINGS = {
    "select unique a from t": "SELECT DISTINCT a FROM t",
    "select limit 3 a from t": "SELECT FIRST 3 a FROM t",
    "select a from t limit 3": "SELECT FIRST 3 a FROM t",
    'select "text" from t': "SELECT 'text' FROM t",
    "select a::int from t": "SELECT CAST(a AS INTEGER) FROM t",
    "select a {comment} from t -- more": "SELECT a FROM t",
    "select sysdate from t": "SELECT CURRENT YEAR TO FRACTION(5) FROM t",
    "select a from srvdb@server:t": "SELECT a FROM srvdb:t",
    "select year(today) from t": "SELECT YEAR(TODAY) FROM t",
}


@pytest.mark.parametrize(("sql", "canonical"), READINGS.items(), ids=READINGS)
def test_old_spellings_are_read(sql: str, canonical: str) -> None:
    assert sqlglot.parse_one(sql, dialect=InformixExact).sql(dialect=InformixExact) == canonical


def test_double_quotes_are_names_with_delimident() -> None:
    (column,) = sqlglot.parse_one('select "A b" from t', dialect=InformixExactDelimited).expressions
    assert isinstance(column, exp.Column)
    assert column.name == "A b"


@pytest.mark.parametrize("dialect", [InformixExact, InformixExactDelimited])
@pytest.mark.parametrize(
    ("sql", "code", "place"),
    [
        ("select a from `t` where b = 1", -202, 15),
        ("select a `x` from t", -202, 10),
        ("select a ! from t", -201, 10),
    ],
)
def test_a_sign_that_is_no_sql_is_refused_in_its_place(
    dialect: type[InformixExact], sql: str, code: int, place: int
) -> None:
    with pytest.raises(SqlError) as caught:
        sqlglot.parse_one(sql, dialect=dialect)
    assert (caught.value.sqlcode, caught.value.offset) == (code, place)


@pytest.mark.parametrize("dialect", [InformixExact, InformixExactDelimited])
def test_programs_that_write_names_are_given_double_quotes(dialect: type[InformixExact]) -> None:
    assert dialect.Tokenizer.IDENTIFIERS == ['"']
    assert (dialect.IDENTIFIER_START, dialect.IDENTIFIER_END) == ('"', '"')


def test_signs_within_quotes_are_text() -> None:
    sql = """select 'a"`!', "b'`!", "c""d", '' from t"""
    texts = [each.name for each in sqlglot.parse_one(sql, dialect=InformixExact).expressions]
    assert texts == ['a"`!', "b'`!", 'c"d', ""]


def test_a_quoted_owner_is_no_string() -> None:
    table = sqlglot.parse_one('select 1 from "informix".systables', dialect=InformixExact).find(exp.Table)
    assert table is not None
    assert (table.db, table.name) == ("informix", "systables")


def test_the_dialect_is_registered_by_name() -> None:
    assert sqlglot.parse_one("select first 2 a from t", dialect="informix_exact").args["limit"] is not None


def test_comments_are_blanked_at_the_same_length() -> None:
    sql = "select {x} a /* y */, '{s}' -- z\nfrom t"
    blanked = blank_comments(sql)
    assert len(blanked) == len(sql)
    assert blanked == "select     a        , '{s}'     \nfrom t"


def test_braces_of_a_collection_are_no_comment() -> None:
    assert blank_comments("select 1 from table(set{1}) {c}").rstrip() == "select 1 from table(set{1})"
    assert blank_comments("select set{'a}b {', list{2}} {c}").rstrip() == "select set{'a}b {', list{2}}"


@pytest.mark.parametrize(("sql", "code"), [("select 'x", -282), ("select {x", -283), ("select /* x", -283)])
def test_what_is_never_closed_is_an_error(sql: str, code: int) -> None:
    with pytest.raises(SqlError) as caught:
        blank_comments(sql)
    assert (caught.value.sqlcode, caught.value.offset) == (code, 8)
