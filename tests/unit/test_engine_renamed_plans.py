"""Statements about a temporary table that is like an earlier one: the plan is that of reading the text anew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from informix_arrow.server.engine import preparing
from informix_arrow.server.engine.engine import Engine
from informix_arrow.server.engine.prepared import Prepared
from informix_arrow.server.engine.preparing import described
from informix_arrow.server.engine.statement_planner import StatementPlanner

from .engine_support import Db, connect

COLUMNS = "(a VARCHAR(20), b SMALLINT, c INTEGER, tail INTEGER)"
TEXTS = (
    "SELECT * FROM {}",
    "select distinct a, c from {} order by c desc, a",
    "SELECT b AS n, x_.a, tail FROM {} x_ ORDER BY n;",
    "SELECT x.b, x.a FROM {} AS x ORDER BY b",
    "INSERT INTO {} VALUES ('x', 1, NULL, 5)",
    "insert into {} (tail, a) values (6, 'it''s')",
)


@pytest.fixture
def db(fresh_engine: Engine) -> Iterator[Db]:
    db = connect(fresh_engine)
    yield db
    db.session.close()


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were read by a parser, each time."""
    planned: list[str] = []

    def noted(sql: str, planner: StatementPlanner) -> Prepared:
        planned.append(sql)
        return described(sql, planner)

    monkeypatch.setattr(preparing, "described", noted)
    return planned


@pytest.mark.parametrize("text", TEXTS)
def test_a_plan_with_another_name_is_that_of_the_text(db: Db, planned: list[str], text: str) -> None:
    db.run(f"CREATE TEMP TABLE first {COLUMNS}")
    db.session.prepare(text.format("first"))
    for name in ("second", "third_1"):
        db.run(f"CREATE TEMP TABLE {name} {COLUMNS}")
        sql = text.format(name)
        planned.clear()
        found = db.session.prepare(sql)
        assert planned == []
        anew = described(sql, db.session.planner)
        assert (found.sql, found.plan, found.columns, found.own) == (sql, anew.plan, anew.columns, anew.own)
        assert (found.values is None) == (anew.values is None)


def test_rows_come_from_the_table_that_is_named(db: Db) -> None:
    """Also when DuckDB has been told of the tables, or of one of them."""
    for number in range(4):
        db.run(f"CREATE TEMP TABLE t{number} {COLUMNS}")
        for row in range(number):
            db.run(f"INSERT INTO t{number} VALUES ('r{row}', {row}, {number}, -1)")
        if number > 1:
            assert db.rows(f"SELECT COUNT(*) FROM t{number}, systables s WHERE s.tabid = 1") == [(number,)]
    for number in (3, 1, 0, 2):
        rows = [(f"r{row}", row, number, -1) for row in range(number)]
        assert db.rows(f"SELECT * FROM t{number} ORDER BY b") == rows
    db.run("DROP TABLE t3")
    assert db.fails("SELECT * FROM t3 ORDER BY b").sqlcode == -206
    assert db.fails("INSERT INTO t3 VALUES ('x', 1, 2, 3)").sqlcode == -206


@pytest.mark.parametrize(
    "other",
    [
        "(a VARCHAR(21), b SMALLINT, c INTEGER, tail INTEGER)",
        "(a VARCHAR(20), b INTEGER, c INTEGER, tail INTEGER)",
        "(a VARCHAR(20), c SMALLINT, b INTEGER, tail INTEGER)",
        "(a VARCHAR(20), b SMALLINT, c INTEGER DEFAULT 7, tail INTEGER)",
        "(a VARCHAR(20), b SMALLINT, c INTEGER NOT NULL, tail INTEGER)",
        "(a VARCHAR(20), b SMALLINT, c INTEGER, tail INTEGER, PRIMARY KEY (a))",
        "(a VARCHAR(20), b SMALLINT, c INTEGER, tail INTEGER, CHECK (b < 3))",
        "(a VARCHAR(20), b SMALLINT, c INTEGER, tail INTEGER, more INTEGER)",
        "(a VARCHAR(20), b SMALLINT, c INTEGER, first INTEGER)",
    ],
)
def test_a_table_that_is_not_like_it_has_plans_of_its_own(db: Db, planned: list[str], other: str) -> None:
    texts = ("SELECT * FROM {}", "INSERT INTO {} VALUES ('x', 1, 2, 5)")
    db.run(f"CREATE TEMP TABLE first {COLUMNS}")
    for text in texts:
        db.session.prepare(text.format("first"))
    db.run(f"CREATE TEMP TABLE second {other}")
    planned.clear()
    wanted = [text.format("second") for text in texts]
    if "more" in other:
        assert db.fails(wanted[1]).sqlcode == -236
    else:
        db.session.prepare(wanted[1])
    db.session.prepare(wanted[0])
    assert sorted(planned) == sorted(wanted)


def test_an_index_makes_it_another_one(db: Db, planned: list[str]) -> None:
    for name in ("first", "second"):
        db.run(f"CREATE TEMP TABLE {name} {COLUMNS}")
    db.run("INSERT INTO first VALUES ('x', 1, 2, 5)")
    db.run("CREATE UNIQUE INDEX i_second ON second (a)")
    planned.clear()
    db.run("INSERT INTO second VALUES ('x', 1, 2, 5)")
    assert planned == ["INSERT INTO second VALUES ('x', 1, 2, 5)"]
    assert db.fails("INSERT INTO second VALUES ('x', 1, 3, 5)").sqlcode == -239


@pytest.mark.parametrize(
    "text",
    [
        "SELECT {0}.a FROM {0}",  # the name twice
        "SELECT a AS {0} FROM {0}",
        "SELECT a FROM {} WHERE b = 1",
        "SELECT 'first', a FROM {}",
        "SELECT MAX(b) FROM {}",
        "SELECT x.a FROM {} x, {} y",
        "SELECT a FROM {} UNION SELECT a FROM first",
        "SELECT FIRST 1 a FROM {} ORDER BY a",
        "SELECT rowid, a FROM {}",
        "SELECT {{ first }} a FROM {}",
        "SELECT a FROM {} -- first",
        "SELECT a FROM informix.{}",
        "INSERT INTO {} SELECT * FROM first",
        "INSERT INTO {} VALUES ('x', ?, 1, 2)",
    ],
)
def test_other_texts_are_read(db: Db, planned: list[str], text: str) -> None:
    for name in ("first", "second"):
        db.run(f"CREATE TEMP TABLE {name} {COLUMNS}")
        planned.clear()
        sql = text.format(name, name)
        db.session.prepare(sql, sql.count("?"))
        assert planned == [sql]


def test_a_permanent_table_is_read_each_time(db: Db, planned: list[str]) -> None:
    for name in ("first", "second"):
        db.run(f"CREATE TABLE {name} {COLUMNS}")
        planned.clear()
        db.session.prepare(f"SELECT * FROM {name}")
        assert planned == [f"SELECT * FROM {name}"]
        db.run(f"DROP TABLE {name}")


def test_names_of_another_session_are_not_taken(db: Db) -> None:
    other = connect(db.session.engine)
    db.run(f"CREATE TEMP TABLE first {COLUMNS}")
    db.run("INSERT INTO first VALUES ('mine', 1, 2, 5)")
    db.rows("SELECT * FROM first")
    assert other.fails("SELECT * FROM first").sqlcode == -206
    other.run(f"CREATE TEMP TABLE first {COLUMNS}")
    assert other.rows("SELECT * FROM first") == []
    other.session.close()
