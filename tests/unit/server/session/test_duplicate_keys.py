"""NULL is one value of a unique key, as in Informix. DuckDB itself accepts any number of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.session.engine import Engine


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture
def db(engine: Engine) -> Iterator[Db]:
    db = connect(engine)
    for name in ("one", "two", "bare"):
        db.run(f"drop table if exists {name}")
    db.run("create table one (a int unique constraint only_one, x int)")
    db.run("create table two (a int, b char(3), x int, unique (a, b) constraint only_two)")
    db.run("create table bare (a int, x int)")
    yield db
    db.session.close()


def codes(outcomes: list[object]) -> list[int]:
    return [o.sqlcode if isinstance(o, SqlError) else 0 for o in outcomes]


def test_a_second_null_is_refused_however_it_comes(db: Db) -> None:
    db.run("insert into one values (null, 1)")
    for sql in (
        "insert into one values (null, 2)",
        "insert into one (x) values (2)",
        "insert into one select null::int, 2 from sysmaster:sysdual",
        "merge into one using (select 9 k from sysmaster:sysdual) s on one.x = s.k "
        "when not matched then insert (a, x) values (null, 2)",
    ):
        problem = db.fails(sql)
        assert (problem.sqlcode, problem.isamcode, problem.near) == (-268, -100, "informix.only_one")
    assert db.fails("insert into one values (?, 2)", None).sqlcode == -268
    found = db.many("insert into one values (?, ?)", [(5, 5), (None, 6), (5, 7), (8, 8)])
    assert codes(list(found)) == [0, -268, -268, 0]
    assert db.rows("select * from one order by x") == [(None, 1), (5, 5), (8, 8)]


def test_updates_leave_one_null(db: Db) -> None:
    db.many("insert into one values (?, ?)", [(None, 1), (2, 2), (3, 3)])
    assert db.fails("update one set a = null where x = 2").sqlcode == -268
    assert db.fails("update one set a = null").sqlcode == -268
    assert db.run("update one set x = x + 1").rows == 3
    assert db.run("update one set a = case when a is null then 7 when a = 2 then null else a end").rows == 3
    assert db.rows("select * from one order by x") == [(7, 2), (None, 3), (3, 4)]


def test_of_several_columns_all_must_be_the_same(db: Db) -> None:
    rows = [
        (1, None, 1),
        (None, None, 2),
        (None, "a", 3),
        (1, "a", 4),
        (2, None, 5),
        (2, None, 6),
        (None, "a", 7),
    ]
    assert codes(list(db.many("insert into two values (?, ?, ?)", rows))) == [0, 0, 0, 0, 0, -268, -268]
    for row in ((1, None, 8), (None, None, 9), (None, "a", 10)):
        assert db.fails("insert into two values (?, ?, ?)", *row).sqlcode == -268
    assert db.fails("update two set a = 1 where x = 5").sqlcode == -268
    assert len(db.rows("select a, b, x from two")) == 5


def test_keys_are_not_made_over_two_nulls(db: Db) -> None:
    db.run("insert into bare values (null, 1)")
    db.run("insert into bare values (null, 2)")
    for sql in ("create unique index ix_bare on bare (a)", "alter table bare add constraint unique (a)"):
        problem = db.fails(sql)
        assert (problem.sqlcode, problem.isamcode) == (-371, -100)
    db.run("delete from bare where x = 2")
    db.run("create unique index ix_bare on bare (a)")
    assert db.fails("insert into bare values (null, 3)").sqlcode == -239
    db.run("insert into bare values (3, 3)")
    db.run("begin work")
    db.run("delete from bare where a is null")
    db.run("insert into bare values (null, 4)")
    assert db.fails("insert into bare values (null, 5)").sqlcode == -239
    db.run("commit work")
    assert db.rows("select * from bare order by x") == [(3, 3), (None, 4)]


def test_a_key_added_over_equal_values_is_refused_likewise(db: Db) -> None:
    db.many("insert into bare values (?, ?)", [(1, 1), (1, 2)])
    assert db.fails("alter table bare add constraint unique (a)").sqlcode == -371


def test_sessions_do_not_share_a_null(engine: Engine, db: Db) -> None:
    other = connect(engine)
    try:
        other.run("begin work")
        assert other.rows("select * from one") == []  # takes DuckDB's snapshot
        db.run("insert into one values (null, 1)")
        assert other.fails("insert into one values (null, 2)").sqlcode == -268
        assert other.fails("insert into one select null::int, 2 from sysmaster:sysdual").sqlcode == -268
        other.run("delete from one where a is null")
        assert db.fails("insert into one values (null, 3)").sqlcode == -271  # the other is undecided
        other.run("insert into one values (null, 4)")
        assert db.fails("insert into one values (null, 5)").sqlcode == -271
        other.run("commit work")
        assert db.rows("select * from one") == [(None, 4)]
    finally:
        other.session.close()


def test_what_a_trigger_writes_is_held_against_the_nulls_too(db: Db) -> None:
    db.run("create procedure none_given() referencing new as n for one; let n.a = null; end procedure")
    db.run(
        "create trigger made_none insert on one for each row (execute procedure none_given() with trigger references)"
    )
    db.run("insert into one values (1, 1)")
    assert db.fails("insert into one values (2, 2)").sqlcode == -268
    assert db.rows("select * from one") == [(None, 1)]
    db.run("drop trigger made_none")
    db.run("drop procedure none_given")
