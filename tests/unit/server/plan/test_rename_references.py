"""RENAME TABLE and RENAME COLUMN: views, synonyms and CHECKs refer to the table and its columns by the new names."""

from __future__ import annotations

import pytest
from tests.unit.server.sql_session import Db

pytestmark = pytest.mark.slow


def fill(db: Db) -> None:
    db.run("create table t (a int, b varchar(9), check (a > 0 and b <> 'a'))")
    db.run("create table other (a int, c int)")
    db.run("create synonym syn for t")
    db.run("insert into t values (1, 'one')")
    db.run("insert into t values (2, 'two')")
    db.run("insert into other values (1, 10)")


def text_of(db: Db, view: str) -> str:
    query = (
        "select viewtext from sysviews v, systables s where v.tabid = s.tabid and tabname = ? order by seqno"
    )
    return "".join(part for (part,) in db.rows(query, view)).partition(") as ")[2]


@pytest.mark.parametrize(
    ("query", "table", "column"),
    [
        ("select a, b from t where a < 9", "select a, b from tt where a < 9", "select aa, b from t where aa < 9"),
        ("select t.a, {t.a} 't.a' x from t", "select tt.a, {t.a} 't.a' x from tt",
         "select t.aa, {t.a} 't.a' x from t"),
        ("select t.a t, b from informix.t t where t.a = 1", "select t.a t, b from informix.tt t where t.a = 1",
         "select t.aa t, b from informix.t t where t.aa = 1"),
        ("select o.a, c from other o, t where o.a = t.a", "select o.a, c from other o, tt where o.a = tt.a",
         "select o.a, c from other o, t where o.a = t.aa"),
        ("select x.a, b from (select a, b from t) x where x.a > 1",
         "select x.a, b from (select a, b from tt) x where x.a > 1",
         "select x.a, b from (select aa as a, b from t) x where x.a > 1"),
        ("select a from other where exists (select 1 from t where a = other.a)",
         "select a from other where exists (select 1 from tt where a = other.a)",
         "select a from other where exists (select 1 from t where aa = other.a)"),
        ("select b from t where a in (select a from other where c > t.a)",
         "select b from tt where a in (select a from other where c > tt.a)",
         "select b from t where aa in (select a from other where c > t.aa)"),
        ("select * from t", "select * from tt", "select * from t"),
        ("select max(a), b[1,2] from syn group by b", "select max(a), b[1,2] from syn group by b",
         "select max(aa), b[1,2] from syn group by b"),
        ("select a from t union all select c from other order by a",
         "select a from tt union all select c from other order by a",
         "select aa as a from t union all select c from other order by a"),
    ],
)  # fmt: skip
def test_a_view_follows(db: Db, query: str, table: str, column: str) -> None:
    tree_columns = len(db.types(query))
    names = "" if query == "select * from t" else f"({', '.join('pqrs'[:tree_columns])})"
    db.run(f"create view v {names} as {query}")
    db.run("create view outermost as select * from v")
    before = db.rows("select * from v order by 1")
    assert before
    db.run("rename table t to tt")
    assert text_of(db, "v") == table
    assert db.rows("select * from v order by 1") == before
    assert db.rows("select * from outermost order by 1") == before
    db.run("rename table tt to t")
    assert text_of(db, "v") == query
    db.run("begin work")
    db.run("rename column t.a to aa")
    assert text_of(db, "v") == column
    assert db.rows("select * from v order by 1") == before
    db.run("rollback work")
    assert text_of(db, "v") == query
    assert db.rows("select * from outermost order by 1") == before


def test_changes_go_through_the_view_and_the_synonym_as_before(db: Db) -> None:
    db.run("create view v as select a, b from t where a < 9 with check option")
    db.run("rename table t to tt")
    db.run("rename column tt.a to aa")
    db.run("insert into v values (3, 'three')")
    assert db.fails("insert into v values (10, 'ten')").sqlcode == -385
    db.run("update syn set aa = 4 where aa = 3")
    assert db.rows("select a, b from v where a > 2") == [(4, "three")]


def test_a_star_that_means_other_columns_now_is_left_alone(db: Db) -> None:
    """Otherwise the view would show other columns under its names."""
    db.run("create view v as select * from t")
    db.run("alter table t add c int before a")
    assert db.rows("select a, b from v order by a") == [(1, "one"), (2, "two")]
    db.run("rename column t.c to cc")
    assert db.rows("select a, b from v order by a") == [(1, "one"), (2, "two")]


def test_a_check_has_the_new_name(db: Db) -> None:
    db.run("rename column t.a to aa")
    assert db.value("select trim(checktext) from syschecks where type = 'T'") == "(aa > 0 and b <> 'a')"
    assert db.fails("insert into t values (0, 'x')").sqlcode == -530
