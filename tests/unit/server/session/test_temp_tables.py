"""Temporary tables of a session: created, filled by single rows, altered, dropped, inside a transaction and outside."""

from __future__ import annotations

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.session.engine import Engine

COLUMNS = "(k integer not null, name varchar(5), n smallint, tail char(3))"


@pytest.fixture
def db(fresh_engine: Engine) -> Db:
    found = connect(fresh_engine)
    found.run(f"create temp table t {COLUMNS}")
    return found


def fill(db: Db, count: int, table: str = "t", first: int = 0) -> None:
    for k in range(first, first + count):
        assert db.run(f"insert into {table} values ({k}, 'r{k}', {k % 7}, 'end')").rows == 1


def test_a_view_cannot_read_it_and_its_name_is_taken(db: Db) -> None:
    assert db.fails("create view v as select k from t").sqlcode == -337
    assert db.fails(f"create temp table t {COLUMNS}").sqlcode == -958
    db.run("create table stored (k integer)")
    assert db.fails("create temp table stored (k integer)").sqlcode == -310
    db.run(f"create temp table if not exists t {COLUMNS}")
    fill(db, 1)
    assert db.rows("select k from t") == [(0,)]


@pytest.mark.parametrize(
    "change",
    [
        "alter table t add (more integer)",
        "create index i on t (k)",
        "rename column t.n to m",
        "update t set n = 9",
        "delete from t where k = 1",
        "truncate table t",
    ],
)
def test_it_is_changed_as_any_table(db: Db, change: str) -> None:
    fill(db, 3)
    db.run(change)
    fill_more = "insert into t (k, name, tail) values (7, 'late', 'end')"
    assert db.run(fill_more).rows == 1
    expected = {"delete from t where k = 1": [0, 2, 7], "truncate table t": [7]}.get(change, [0, 1, 2, 7])
    assert [row[0] for row in db.rows("select k, tail from t order by k")] == expected


def test_what_a_transaction_does_to_it_is_taken_back(db: Db) -> None:
    fill(db, 2)
    db.session.begin()
    db.run("drop table t")
    db.run("create temp table t (other integer, tail integer)")
    db.run("insert into t values (1, 77)")
    db.session.rollback()
    assert db.rows("select k, tail from t") == [(0, "end"), (1, "end")]
    db.session.begin()
    db.run("create temp table inside (k integer, tail integer)")
    db.run("insert into inside values (1, 77)")
    db.session.rollback()
    assert db.fails("select k from inside").sqlcode == -206
    db.run("create temp table inside (k integer, tail integer)")
    db.run("insert into inside values (2, 77)")
    assert db.rows("select * from inside") == [(2, 77)]


def test_a_statement_that_fails_leaves_it(db: Db) -> None:
    fill(db, 2)
    db.run("create table stored (k integer primary key, tail integer)")
    db.run("insert into stored values (1, 77)")
    assert db.fails("insert into stored select 1, k from t").sqlcode in (-239, -268)
    assert db.rows("select k, tail from t") == [(0, "end"), (1, "end")]
    assert db.fails("create temp table twice (k integer, k smallint)").sqlcode == -328
    assert db.fails("select k from twice").sqlcode == -206


def test_its_names_may_differ_in_case(fresh_engine: Engine) -> None:
    db = connect(fresh_engine, DELIMIDENT="y")
    db.run("create temp table t (k integer, tail integer)")
    db.run('create temp table "Other" ("K" integer, tail integer)')
    db.run('insert into "Other" values (1, 77)')
    db.run("insert into t values (2, 78)")
    assert db.rows('select * from "Other"') == [(1, 77)]
    assert db.rows("select * from t") == [(2, 78)]


def test_it_goes_with_its_database(db: Db) -> None:
    fill(db, 2)
    db.session.close_database()
    db.session.open_database("stores_demo")
    assert db.fails("select k from t").sqlcode == -206


def test_inserts_into_two_tables_by_turns(db: Db) -> None:
    db.run(f"create temp table u {COLUMNS}")
    for k in range(6):
        fill(db, 1, "tu"[k % 2], k)
    assert db.rows("select k from t") == [(0,), (2,), (4,)]
    assert db.rows("select k from u") == [(1,), (3,), (5,)]


def test_statements_that_change_a_table_find_its_rows(db: Db) -> None:
    fill(db, 4)
    assert db.run("update t set name = 'new' where k > 0").rows == 3
    fill(db, 2, first=4)
    assert db.run("delete from t where k in (0, 5)").rows == 2
    fill(db, 1, first=6)
    db.run("create temp table u (k integer, tail integer)")
    assert db.run("insert into u select k, 77 from t").rows == 5
    assert db.rows("select k, name, tail from t order by k") == [
        (1, "new", "end"), (2, "new", "end"), (3, "new", "end"), (4, "r4", "end"), (6, "r6", "end")
    ]  # fmt: skip
    fill(db, 3)
    db.run("drop table t")
    assert db.fails("select * from t").sqlcode == -206


def test_rollback_leaves_what_was_inserted_before_the_transaction(db: Db) -> None:
    fill(db, 2)
    db.session.begin()
    fill(db, 2, first=2)
    assert db.value("select count(*) from t") == 4
    db.session.rollback()
    assert db.rows("select k from t") == [(0,), (1,)]
    fill(db, 1, first=9)
    db.session.begin()
    assert db.fails("select nothing from t").sqlcode == -217
    db.session.rollback()
    assert db.rows("select k from t") == [(0,), (1,), (9,)]


def test_a_wrong_row_is_refused_and_a_long_text_is_cut(db: Db) -> None:
    fill(db, 1)
    assert db.fails("insert into t values (null, 'x', 1, 'end')").sqlcode == -391
    assert db.fails("insert into t values (1, 'x', 40000, 'end')").sqlcode == -1214
    cut = db.run("insert into t values (1, 'longer than five', 1, 'end')")
    assert cut.warnings
    assert db.rows("select name, tail from t") == [("r0", "end"), ("longe", "end")]


def test_keys_are_looked_at_with_each_row(db: Db) -> None:
    fill(db, 2)
    db.run("create unique index u on t (k)")
    assert db.fails("insert into t values (1, 'x', 1, 'end')").sqlcode in (-239, -268)
    db.run("create temp table checked (k integer check (k < 5), tail integer)")
    assert db.fails("insert into checked values (5, 77)").sqlcode == -530
    assert db.value("select count(*) from checked") == 0


def test_a_result_that_is_being_read_does_not_see_later_rows(db: Db) -> None:
    db.run(f"create temp table small {COLUMNS}")
    db.many("insert into small values (?, 'x', 1, 'end')", [(k,) for k in range(300)])
    db.run("insert into t select a.k * 300 + b.k, a.name, b.n, a.tail from small a, small b")
    result = db.session.query(db.session.prepare("select k, tail from t"), ())
    batches = result.batches()
    read = next(batches).num_rows
    fill(db, 34, first=500_000)
    assert read + sum(batch.num_rows for batch in batches) == 90_000
    assert db.value("select count(*) from t") == 90_000 + 34
