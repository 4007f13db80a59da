"""SET CONSTRAINTS: foreign keys that are checked at the commit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.session.engine import Engine


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture
def db(engine: Engine) -> Iterator[Db]:
    db = connect(engine)
    db.run("drop table if exists child")
    db.run("drop table if exists parent")
    db.run("create table parent (a int primary key constraint pk_parent, x int)")
    db.run(
        "create table child (a int references parent (a) constraint to_parent, x int, check (x > 0) constraint ck)"
    )
    yield db
    db.session.close()


@pytest.mark.parametrize("which", ["all", "to_parent", "pk_other, to_parent"])
def test_the_child_may_come_before_its_parent(db: Db, which: str) -> None:
    if "," in which:
        db.run("create table if not exists other (b int references parent (a) constraint pk_other, x int)")
    db.run("begin work")
    assert db.fails("insert into child values (1, 1)").sqlcode == -691
    db.run(f"set constraints {which} deferred")
    db.run("insert into child values (1, 1)")
    db.many("insert into child values (?, ?)", [(2, 2), (None, 3)])
    db.many("insert into parent values (?, ?)", [(1, 1), (2, 2)])
    db.run("commit work")
    assert db.rows("select * from child order by x") == [(1, 1), (2, 2), (None, 3)]
    assert db.fails("insert into child values (9, 9)").sqlcode == -691  # immediate in the next transaction
    if "," in which:
        db.run("drop table other")


def test_commit_rolls_back_what_does_not_hold(db: Db) -> None:
    db.run("begin work")
    db.run("set constraints all deferred")
    db.run("insert into parent values (1, 1)")
    db.run("insert into child values (1, 1)")
    db.run("update child set a = 3 where x = 1")
    problem = db.fails("commit work")
    assert (problem.sqlcode, problem.isamcode, problem.near) == (-691, -111, "informix.to_parent")
    assert db.fails("rollback work").sqlcode == -255
    assert db.rows("select count(*) from parent") == [(0,)]
    assert db.rows("select count(*) from child") == [(0,)]


def test_a_parent_may_go_and_come_again(db: Db) -> None:
    db.run("insert into parent values (1, 1)")
    db.run("insert into child values (1, 1)")
    db.run("begin work")
    db.run("set constraints to_parent deferred")
    db.run("delete from parent")
    db.run("insert into parent values (1, 2)")
    db.run("update parent set a = 5 where a = 1")
    db.run("update child set a = 5")
    db.run("commit work")
    assert db.rows("select c.a, p.x from child c, parent p where p.a = c.a") == [(5, 2)]
    db.run("begin work")
    db.run("set constraints to_parent deferred")
    db.run("delete from parent")
    assert db.fails("commit work").sqlcode == -691
    assert db.rows("select * from parent") == [(5, 2)]


def test_immediate_looks_at_what_was_deferred(db: Db) -> None:
    db.run("begin work")
    db.run("set constraints all deferred")
    db.run("insert into child values (7, 7)")
    assert db.fails("set constraints to_parent immediate").sqlcode == -691
    db.run("insert into parent values (7, 7)")
    db.run("set constraints to_parent immediate")
    assert db.fails("insert into child values (8, 8)").sqlcode == -691
    db.run("commit work")
    assert db.rows("select * from child") == [(7, 7)]


def test_savepoints_take_what_was_deferred_along(db: Db) -> None:
    db.run("begin work")
    db.run("set constraints all deferred")
    db.run("savepoint before")
    db.run("insert into child values (9, 9)")
    db.run("rollback to savepoint before")
    db.run("commit work")
    assert db.rows("select count(*) from child") == [(0,)]


def test_a_parent_that_another_session_deletes_is_not_lost(engine: Engine, db: Db) -> None:
    db.run("insert into parent values (1, 1)")
    other = connect(engine)
    try:
        db.run("begin work")
        db.run("set constraints all deferred")
        db.run("insert into child values (2, 2)")
        other.run("begin work")
        other.run("insert into parent values (2, 2)")
        assert db.fails("commit work").sqlcode == -244  # it is unknown whether the parent will exist
        other.run("commit work")
        assert db.rows("select count(*) from child") == [(0,)]
    finally:
        other.session.close()


def test_words_and_names(db: Db) -> None:
    assert db.fails("set constraints all deferred").sqlcode == -255
    db.run("begin work")
    for sql, code in (
        ("set constraints nowhere deferred", -623),
        ("set constraints ck deferred", -201),  # a constraint of DuckDB, which cannot be deferred here
        ("set constraints pk_parent deferred", -201),
        ("set constraints all sideways", -201),
        ("set constraints all", -201),
        ("set constraints for child sideways", -201),
        ("set constraints to_parent filtering with nothing", -201),
    ):
        assert db.fails(sql).sqlcode == code, sql
    db.run("set constraints for child enabled")
    db.run("set constraints to_parent, ck immediate")
    db.run("rollback work")


@pytest.mark.parametrize(
    "renames",
    [
        ("rename constraint to_parent to other_name",),
        ("rename table child to other_child",),
        ("rename table child to other_child", "rename constraint to_parent to other_name"),
    ],
)
def test_a_new_name_spares_nothing_that_was_deferred(db: Db, renames: tuple[str, ...]) -> None:
    db.run("drop table if exists other_child")
    for parent in (1, 9):
        db.run("begin work")
        db.run("set constraints to_parent deferred")
        db.run("insert into child values (9, 1)")
        for rename in renames:
            db.run(rename)
        db.run("insert into parent values (?, 1)", parent)
        if parent == 9:
            db.run("commit work")
        else:
            assert db.fails("commit work").sqlcode == -691
            assert db.value("select count(*) from child") == 0
    if "other_child" in renames[0]:
        db.run("drop table other_child")
