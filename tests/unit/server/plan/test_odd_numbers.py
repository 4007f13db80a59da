"""Numbers where a statement needs a small integer: others are refused with the right error, not an internal one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.session.engine import Engine

LONG = "9" * 5000
"""More digits than Python converts to an int."""


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture(scope="module")
def db(engine: Engine) -> Iterator[Db]:
    db = connect(engine)
    db.run("CREATE TABLE t (k INT PRIMARY KEY, v VARCHAR(20), tail INT)")
    db.run("INSERT INTO t VALUES (1, 'abcdef', 3)")
    yield db
    db.session.close()


@parametrize_in_one_test(
    ("sql", "code"),
    [
        ("SELECT v[1,{0}] FROM t", -201),
        ("SELECT v[{0},2] FROM t", -201),
        ("SELECT k FROM t ORDER BY {0}", -251),
        ("SELECT k FROM t UNION SELECT 5 FROM t ORDER BY {0}", -251),
        ("CREATE SEQUENCE s START WITH {0}", -201),
        ("SET LOCK MODE TO WAIT {0}", -201),
        ("CREATE INDEX i ON t (k) FILLFACTOR {0}", -201),
        ("CREATE TABLE u (v INTERVAL DAY({0}) TO DAY)", -201),
        ("SELECT EXTEND(CURRENT, YEAR TO FRACTION({0})) FROM t", -201),
    ],
)
@parametrize_in_one_test("number", ["1.5", "1e9992", LONG], ids=["fraction", "exponent", "long"])
def test_a_number_of_another_kind_is_refused(db: Db, sql: str, code: int, number: str) -> None:
    assert db.fails(sql.format(number)).sqlcode == code


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        (f"SELECT k FROM t WHERE k = {LONG}", -1226),
        (f"UPDATE t SET tail = 5 WHERE k = {LONG}", -1226),
        (f"DELETE FROM t WHERE k = {LONG}", -1226),
        (f"INSERT INTO t VALUES ({LONG}, 'x', 1)", -1215),
    ],
)
def test_a_number_that_no_column_holds_is_refused(db: Db, sql: str, code: int) -> None:
    assert db.fails(sql).sqlcode == code
    assert db.rows("SELECT k, v, tail FROM t") == [(1, "abcdef", 3)]


@pytest.mark.parametrize("text", ["'1'", "'(SELECT 1)'", "'read_text(''/etc/passwd'')'", "'1 LIMIT 1'"])
def test_a_text_in_order_by_of_a_union_is_no_sql(db: Db, text: str) -> None:
    assert db.fails(f"SELECT k FROM t UNION SELECT 5 FROM t ORDER BY {text}").sqlcode == -201


@pytest.mark.parametrize(
    "cast", ["v::granted.", "v[1,2] :: granted .", "CAST(v AS ann.)", "v::ann.5", "v::ann.("]
)
def test_a_type_without_a_name_behind_its_owner_is_a_syntax_error(db: Db, cast: str) -> None:
    assert db.fails(f"SELECT {cast}").sqlcode == -201


def test_what_is_right_goes_on_being_right(db: Db) -> None:
    assert db.rows("SELECT v[2,3], v[4], k FROM t ORDER BY 1") == [("bc", "d", 1)]
    assert db.rows("SELECT k FROM t UNION SELECT 5 FROM t ORDER BY 1 DESC") == [(5,), (1,)]
    assert db.rows(
        "SELECT EXTEND(DATETIME(2020-01-02) YEAR TO DAY, YEAR TO FRACTION(3)), k FROM t WHERE k = 1"
    )
