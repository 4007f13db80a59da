"""Small statements: INSERTs of literals, temporary tables, results of few rows and of many."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.catalog import stored_names
from informix_arrow.server.session import session_tables
from informix_arrow.server.session.engine import Engine


@pytest.fixture
def db(fresh_engine: Engine) -> Db:
    return connect(fresh_engine)


def counted(monkeypatch: pytest.MonkeyPatch, place: Any, name: str) -> list[object]:
    """Return a list that receives the last argument of each call of a function."""
    calls: list[object] = []
    before: Callable[..., Any] = getattr(place, name)

    def counting(*arguments: Any) -> Any:
        calls.append(arguments[-1])
        return before(*arguments)

    monkeypatch.setattr(place, name, counting)
    return calls


COLUMNS = (
    "a INTEGER, b VARCHAR(10), c DECIMAL(12,3), d DATE, e DATETIME YEAR TO SECOND, f FLOAT, g BOOLEAN, h CHAR(5), "
    "i BIGINT, j DECIMAL(16), k LVARCHAR(20), l SMALLINT, m INTERVAL DAY TO SECOND, n TEXT, z INTEGER"
)


def test_an_insert_is_planned_again_when_its_table_is_another(db: Db) -> None:
    db.run("create table t (a int, b int)")
    db.run("insert into t values (1, 2)")
    db.run("alter table t modify (a varchar(5))")
    db.run("insert into t values (3, 4)")
    assert db.rows("select * from t order by b") == [("1", 2), ("3", 4)]
    db.run("alter table t add (c int)")
    assert db.fails("insert into t values (5, 6)").sqlcode == -236
    db.run("drop table t")
    assert db.fails("insert into t values (7, 8)").sqlcode == -206
    db.run("create temp table t (a date, b int)")
    db.run("insert into t values ('2024-01-02', 8)")
    assert db.rows("select * from t") == [(dt.date(2024, 1, 2), 8)]


def test_whether_a_name_is_free_is_not_asked_of_duckdb_each_time(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.run("create table kept (a int, z int)")
    db.run("insert into kept values (1, 2)")
    loaded = counted(monkeypatch, session_tables, "load_table")
    asked = counted(monkeypatch, stored_names, "has_name")
    for number in range(6):
        db.run(f"create temp table t{number} (a int)")
        assert db.rows("select * from kept") == [(1, 2)]
        db.run(f"drop table t{number}")
    assert (loaded, asked) == ([], ["t0"])
    connect(db.session.engine).run("create table t7 (a int)")
    assert db.fails("create temp table t7 (a int)").sqlcode == -310
    db.run("begin work")
    db.run("create table t8 (a int)")
    assert db.fails("create temp table t8 (a int)").sqlcode == -310
    db.run("rollback work")
    db.run("create temp table t8 (a int)")


def test_columns_as_they_are_need_no_word_of_duckdb(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    db.run(f"create temp table t ({COLUMNS})")
    db.run("insert into t (a, b, z) values (2, 'two', 9)")
    db.run("insert into t (a, b, z) values (1, 'one', 9)")
    described = counted(monkeypatch, db.session.planner, "describe")
    assert db.rows("select distinct b, a as k, z from t order by k") == [("one", 1, 9), ("two", 2, 9)]
    assert [name for name, _ in db.types("select t.* from t")] == [c.split()[0] for c in COLUMNS.split(", ")]
    assert described == []
    for asking in (
        "select distinct b || 'x' from t",
        "select b from t where a = 1",
        "select a + 1 from t",
    ):
        db.types(asking)  # only DuckDB knows the types, so it is asked
    assert len(described) == 3


@pytest.mark.parametrize("place", ["", "temp "])
def test_a_query_gives_the_same_rows_whether_it_has_few_or_many(db: Db, place: str) -> None:
    db.run(f"create {place}table t (k int, v varchar(10), w decimal(9,2), z int)")
    rows: list[tuple[object, ...]] = []
    query = "select k, v, w, z from t where z <> ? order by k"
    for upto in (0, 1, 40, 300, 5000):
        new = [(k, f"v{k}", Decimal(k) / 4, k % 7) for k in range(len(rows), upto)]
        db.many("insert into t values (?, ?, ?, ?)", new)
        rows += new
        for _ in range(3):
            assert db.rows(query, -1) == rows
            assert db.rows(query, 3) == [row for row in rows if row[3] != 3]
    db.run("delete from t where k > 1")
    assert db.rows(query, -1) == rows[:2]


def test_every_type_is_the_same_whether_rows_are_few_or_many(db: Db) -> None:
    db.run(f"create table t ({COLUMNS})")
    db.run(
        "insert into t values (1, 'b', 1.5, '2024-02-29', '2024-02-29 23:59:59', 1.25, 't', 'h', 5, 6.5, 'k', 7, "
        "'3 04:05:06', null, 9)"
    )
    db.run("insert into t (z) values (8)")
    first, *later = [db.rows("select * from t order by z") for _ in range(3)]
    assert later == [first, first]
    assert [row[-1] for row in first] == [8, 9]
    assert first[1][:5] == (
        1,
        "b",
        Decimal("1.500"),
        dt.date(2024, 2, 29),
        dt.datetime(2024, 2, 29, 23, 59, 59),
    )


def test_a_small_result_is_taken_whole_inside_a_transaction_too(db: Db) -> None:
    db.run("create table t (k int, z int)")
    for k in range(3):
        db.run(f"insert into t values ({k}, 0)")
    for _ in range(3):
        assert len(db.rows("select * from t")) == 3
    db.run("begin work")
    db.many("insert into t values (?, ?)", [(k, 1) for k in range(1000)])
    assert len(db.rows("select * from t")) == 1003  # the table has grown, so the short path is abandoned
    db.run("update t set z = 2 where k = 0")
    db.run("commit work")
    assert db.value("select count(*) from t where z = 2") == 2
