"""Statements with very long chains of AND conditions mean the same as short ones."""

from __future__ import annotations

import pytest
from tests.unit.server.sql_session import Db

from informix_arrow.server.plan.expressions import _MAX_CONDITIONS

pytestmark = pytest.mark.slow


def fill(db: Db) -> None:
    db.run("create table t (k integer primary key, n integer, name varchar(9), tail integer)")
    db.run("create table u (k integer, word varchar(9), tail integer)")
    for k in range(6):
        db.run("insert into t values (?, ?, ?, 77)", k, None if k == 3 else k * 10, f"n{k}")
        db.run("insert into u values (?, ?, 78)", k, f"w{k % 2}")


def many(column: str, number: int = 3 * _MAX_CONDITIONS) -> str:
    """Return conditions that are true for all values below 1000, and not for NULL."""
    return " and ".join(f"{column} <> {1000 + i}" for i in range(number))


def texts(column: str) -> str:
    return many(column).replace("<> ", "<> 'x").replace(" and ", "' and ") + "'"


def test_a_chain_of_any_length_is_taken(db: Db) -> None:
    assert db.rows(f"select k, tail from t where {many('k', 1200)} and k > 4") == [(5, 77)]
    assert db.rows(f"select t.k, word from t, u where {many('t.k', 1200)} and t.k = u.k and u.k > 4") == [
        (5, "w1")
    ]


def test_duckdb_is_given_few_conditions(db: Db) -> None:
    sql = db.session.prepare(f"select k from t where {many('n')} and name > 'n4'").plan.sql
    before, case, _ = sql.partition("CASE WHEN ")
    assert case
    assert before.count(" AND ") == _MAX_CONDITIONS
    few = db.session.prepare(f"select k from t where {many('n', _MAX_CONDITIONS)}").plan.sql
    assert "CASE" not in few


QUERIES = [
    "select k, tail from t where {n} order by k",
    "select k, tail from t where {n} and name > 'n1' and k < 5 order by k",
    "select k, tail from t where k > 0 and ({n}) and {names} order by k",
    "select k, tail from t where not ({n}) order by k",
    "select k, tail from t where {n} or k = 3 order by k",
    "select k, tail from t where {n} and n is null order by k",
    "select t.k, u.word, u.tail from t, u where {tn} and t.k = u.k and u.word = 'w1' order by 1",
    "select t.k, u.word, u.tail from t join u on {tn} and t.k = u.k order by 1",
    "select t.k, u.k, u.tail from t, u where {tn} and t.k < u.k and (t.k + 2 = u.k) and t.n <> u.tail order by 1, 2",
    "select t.k, u.word, u.tail from t left join u on {un} and t.k = u.k and u.k > 2 order by 1",
    "select t.k, u.word, u.tail from t, outer u where t.k = u.k and {un} and u.k > 2 order by 1",
    "select word, count(*) from t, u where t.k = u.k group by word having {counted} and count(*) > 2 order by 1",
    "select k, tail from t where {n} and k in (select k from u where {uk} and word = 'w0') order by k",
    "select k, tail from t where {n} and exists (select 1 from u where u.k = t.k and word = 'w0') order by k",
]


@pytest.mark.parametrize("query", QUERIES)
def test_they_choose_the_rows_that_few_choose(db: Db, query: str) -> None:
    """The expected rows are those of a query with one equivalent condition in place of each chain."""
    chains = {
        "n": many("n"), "tn": many("t.n"), "un": many("u.k"), "uk": many("k"), "names": texts("name"),
        "counted": many("count(*)"),
    }  # fmt: skip
    single = {
        "n": "n < 1000", "tn": "t.n < 1000", "un": "u.k < 1000", "uk": "k < 1000", "names": "name < 'x'",
        "counted": "count(*) < 1000",
    }  # fmt: skip
    rows = db.rows(query.format(**chains))
    assert rows == db.rows(query.format(**single))
    assert rows or "not (" in query or "is null" in query


def test_parameters_behind_many_conditions_are_their_own(db: Db) -> None:
    found = db.rows(
        f"select k, tail from t where n > ? and {many('n')} and name <> ? and k < ? order by k", 5, "n2", 5
    )
    assert found == [(1, 77), (4, 77)]


def test_changes_find_the_rows_too(db: Db) -> None:
    assert db.run(f"update t set tail = 5 where {many('n')} and name > 'n3'").rows == 2
    assert db.run(f"delete from t where {many('k')} and k = 0").rows == 1
    assert db.run(f"delete from t where k = 1 and {many('n')}").rows == 1
    assert db.rows("select k, tail from t order by k") == [(2, 77), (3, 77), (4, 5), (5, 5)]
    assert db.run(f"insert into u select k, name, tail from t where {many('n')} and n > 40").rows == 1
    assert db.rows("select k, word, tail from u where k > 4 order by tail") == [(5, "n5", 5), (5, "w1", 78)]


def test_a_cursor_for_update_and_a_view_with_them(db: Db) -> None:
    db.run(f"create view v as select k, tail from t where {many('n')}")
    assert db.rows("select k, tail from v where k > 3 order by k") == [(4, 77), (5, 77)]
    db.session.begin()
    rows = db.session.open_for_update(
        db.session.prepare(f"select k from t where {many('n')} and k > 4 for update"), ()
    )
    assert rows.next() is not None
    assert rows.next() is None
    db.session.rollback()
