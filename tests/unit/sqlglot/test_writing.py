"""SQL of other databases written as Informix's, and what is refused."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot.errors import UnsupportedError

WRITTEN = {
    "SELECT CURRENT_DATE FROM t LIMIT 5 OFFSET 2": "SELECT SKIP 2 FIRST 5 TODAY FROM t",
    "WITH x AS (SELECT a FROM t) SELECT a FROM x LIMIT 2": "WITH x AS (SELECT a FROM t) SELECT FIRST 2 a FROM x",
    "SELECT a FROM t UNION SELECT a FROM u ORDER BY 1 LIMIT 2": (
        "SELECT FIRST 2 * FROM (SELECT a FROM t UNION SELECT a FROM u) AS limited ORDER BY 1 NULLS LAST"
    ),
    "SELECT DISTINCT a FROM t LIMIT 1": "SELECT FIRST 1 DISTINCT a FROM t",
    "SELECT COALESCE(a, b), TRUE FROM t": "SELECT NVL(a, b), 't' FROM t",
    "SELECT a FROM t WHERE TRUE": "SELECT a FROM t WHERE 1 = 1",
    "SELECT d + INTERVAL 3 DAY FROM t": "SELECT d + INTERVAL (3) DAY(9) TO DAY FROM t",
    "SELECT CAST(a AS DOUBLE), CAST(b AS TIMESTAMP) FROM t": (
        "SELECT CAST(a AS FLOAT), CAST(b AS DATETIME YEAR TO FRACTION(5)) FROM t"
    ),
    "SELECT MAKE_DATE(2024, 1, 2), SUBSTRING(a, 1, 3) FROM t": "SELECT MDY(1, 2, 2024), SUBSTR(a, 1, 3) FROM t",
    "CREATE TEMPORARY TABLE x AS SELECT a FROM t": "SELECT a FROM t INTO TEMP x",
    "SELECT LENGTH(UPPER(a)) FROM t": "SELECT CHAR_LENGTH(UPPER(a)) FROM t",
    "SELECT a FROM t SEMI JOIN u ON t.a = u.a": "SELECT a FROM t WHERE EXISTS(SELECT 1 FROM u WHERE t.a = u.a)",
    "SELECT 1": "SELECT 1 FROM sysmaster:sysdual",
}


@pytest.mark.parametrize(("sql", "informix"), WRITTEN.items(), ids=WRITTEN)
def test_a_query_of_duckdb_becomes_one_of_informix(sql: str, informix: str) -> None:
    assert sqlglot.transpile(sql, read="duckdb", write="informix") == [informix]


def test_first_is_not_lost_on_several_lines() -> None:
    (found,) = sqlglot.transpile("SELECT a FROM t LIMIT 5", read="duckdb", write="informix", pretty=True)
    assert found.split() == ["SELECT", "FIRST", "5", "a", "FROM", "t"]


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("SELECT STRING_AGG(a, ',') FROM t", "GROUP_CONCAT"),
        ("SELECT MEDIAN(a) FROM t", "MEDIAN"),
        ("SELECT NOSUCH(a) FROM t", "NOSUCH"),
        ("SELECT CAST(a AS INT) FROM t", "a cast to an integer"),
        ("SELECT d + INTERVAL 1 MONTH FROM t", "INTERVAL of MONTH"),
        ("SELECT a FROM t JOIN u USING (a)", "USING"),
        ("SELECT a FROM t GROUP BY ROLLUP (a)", "Rollup"),
        ("SELECT DAYOFWEEK(d) FROM t", "DAYOFWEEK"),
        ("CREATE TABLE t (a INT)", "CREATE"),
    ],
)
def test_what_informix_lacks_is_refused_by_name(sql: str, named: str) -> None:
    with pytest.raises(UnsupportedError, match=named):
        sqlglot.transpile(sql, read="duckdb", write="informix")
