"""Keys and foreign keys of VARCHAR, NVARCHAR and LVARCHAR: trailing blanks do not matter in comparisons, and are
stored."""

from __future__ import annotations

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.session.engine import Engine

pytestmark = pytest.mark.slow


def fill(db: Db) -> None:
    db.run("create table p (k varchar(10) primary key constraint pk_p, x int)")
    db.run("create table u (k lvarchar(99), n int, x int, unique (k, n) constraint un_u)")
    db.run("create table i (k nvarchar(10), x int)")
    db.run("create unique index ix_i on i (k desc)")
    db.run("create table c (f varchar(20) references p (k) on delete cascade constraint of_c, x int)")
    db.run("create table d (f char(20) references p (k) constraint of_d, x int)")
    db.run("insert into p values ('a ', 1)")
    db.run("insert into u values ('a ', 1, 1)")
    db.run("insert into i values ('a ', 1)")


KEYS = [
    ("p", "?", -268, "informix.pk_p"),
    ("u", "?, 1", -268, "informix.un_u"),
    ("i", "?", -239, "informix.ix_i"),
]


def problem_of(problem: SqlError) -> tuple[int, int, str]:
    return problem.sqlcode, problem.isamcode, problem.near


@pytest.mark.parametrize("transaction", [False, True])
@pytest.mark.parametrize(("table", "key", "code", "name"), KEYS)
def test_a_text_with_other_blanks_is_the_same_key_however_it_comes(
    db: Db, table: str, key: str, code: int, name: str, transaction: bool
) -> None:
    if transaction:
        db.run("begin work")
        db.run(f"insert into {table} values ({key}, 9)", "z")
    again = (code, -100, name)
    for text in ("a", "a ", "a   "):
        assert problem_of(db.fails(f"insert into {table} values ({key}, 2)", text)) == again
        literal = key.replace("?", f"'{text}'")
        assert problem_of(db.fails(f"insert into {table} values ({literal}, 2)")) == again
        assert (
            problem_of(db.fails(f"insert into {table} select {literal}, 2 from sysmaster:sysdual")) == again
        )
    assert (
        problem_of(
            db.fails(
                f"merge into {table} t using (select 9 s from sysmaster:sysdual) o on t.x = -1 "
                f"when not matched then insert values ({key.replace('?', chr(39) + 'a' + chr(39))}, 2)"
            )
        )
        == again
    )
    rows = [("b  ", 2), ("b", 3), ("c", 4), ("a", 5), ("c ", 6), (" a", 7)]
    found = db.many(f"insert into {table} values ({key}, ?)", rows)
    assert [o.sqlcode if isinstance(o, SqlError) else 0 for o in found] == [0, code, 0, code, code, 0]
    assert problem_of(db.fails(f"update {table} set k = 'a' where x = 4")) == again
    assert (
        problem_of(db.fails(f"update {table} set k = trim(k) || '  ' where x < 5 or k = 'q' or x = 7"))
        == again
    )
    assert db.rows(f"select k, x from {table} where x < 9 order by x") == [
        ("a ", 1), ("b  ", 2), ("c", 4), (" a", 7)
    ]  # fmt: skip
    if transaction:
        db.run("commit work")
        assert problem_of(db.fails(f"insert into {table} values ({key}, 2)", "z ")) == again


@pytest.mark.parametrize(("table", "key", "code", "name"), KEYS)
def test_a_row_may_have_other_blanks_behind_its_own_key(
    db: Db, table: str, key: str, code: int, name: str
) -> None:
    db.run(f"insert into {table} values ({key}, 2)", "b")
    assert db.run(f"update {table} set k = k || ' ' where x = 2").rows == 1
    assert db.run(f"update {table} set k = trim(k) || '   '").rows == 2
    assert db.run(f"update {table} set x = x + 1 where k = 'a'").rows == 1
    assert db.rows(f"select k, x from {table} order by k") == [("a   ", 2), ("b   ", 2)]
    db.run("begin work")
    assert db.run(f"delete from {table} where k = 'b      '").rows == 1
    assert db.run(f"insert into {table} values ({key}, 3)", "b ").rows == 1
    assert db.fails(f"insert into {table} values ({key}, 4)", "b").sqlcode == code
    assert db.run(f"update {table} set k = case k when 'a' then 'b' else 'a' end").rows == 2
    db.run("commit work")
    assert db.rows(f"select k, x from {table} order by k") == [("a", 3), ("b", 2)]


def test_a_child_finds_its_parent_whatever_its_blanks(db: Db) -> None:
    for table in ("c", "d"):
        db.run(f"insert into {table} values ('a', 1)")
        db.run(f"insert into {table} values ('a  ', 2)")
        assert problem_of(db.fails(f"insert into {table} values (' a', 3)")) == (
            -691,
            -111,
            f"informix.of_{table}",
        )
        assert db.run(f"update {table} set f = 'a    ' where x = 1").rows == 1
        assert db.fails(f"update {table} set f = 'b' where x = 1").sqlcode == -691
    db.run("update p set k = 'a'")
    assert db.fails("update p set k = 'b'").sqlcode == -692
    assert db.fails("delete from p").sqlcode == -692  # rows of d refer to p
    db.run("delete from d")
    assert db.run("delete from p where k = 'a  '").rows == 1
    assert db.rows("select * from c") == []


def test_a_deferred_child_finds_it_too(db: Db) -> None:
    db.run("begin work")
    db.run("set constraints all deferred")
    db.run("insert into c values ('q  ', 1)")
    db.run("insert into p values ('q ', 2)")
    db.run("commit work")
    assert db.rows("select f from c") == [("q  ",)]


def test_a_tree_finds_its_parents_among_the_rows_of_one_insert(db: Db) -> None:
    db.run("create table tree (k varchar(9) primary key, up varchar(9) references tree (k))")
    found = db.many("insert into tree values (?, ?)", [("r ", None), ("s", "r"), ("t", "s  "), ("w", "x")])
    assert [o.sqlcode if isinstance(o, SqlError) else 0 for o in found] == [0, 0, 0, -691]


def test_keys_over_such_texts_are_not_made(db: Db) -> None:
    db.run("create table bare (k varchar(9), x int)")
    db.many("insert into bare values (?, ?)", [("a", 1), ("a ", 2)])
    for sql in (
        "create unique index ix_bare on bare (k)",
        "alter table bare add constraint unique (k)",
        "alter table bare add constraint primary key (k)",
        "alter table bare modify (k varchar(9) unique)",
    ):
        assert problem_of(db.fails(sql))[:2] == (-371, -100)
        db.run("begin work")
        assert problem_of(db.fails(sql))[:2] == (-371, -100)
        db.run("rollback work")
    db.run("delete from bare where x = 2")
    db.run("alter table bare add constraint primary key (k) constraint pk_bare")
    assert problem_of(db.fails("insert into bare values ('a  ', 3)")) == (-268, -100, "informix.pk_bare")


def test_keys_stay_when_their_table_is_changed(db: Db) -> None:
    db.run("create unique index ix_p on p (k, x)")
    for change in (
        "alter table p add y int before x",
        "rename table p to q",
        "rename column q.k to kk",
        "rename constraint pk_p to pk_q",
        "alter table q add constraint unique (x) constraint un_q",
        "alter table q drop constraint un_q",
        "drop index ix_p",
    ):
        db.run(change)
        info = "q" if change.split()[0] != "alter" or " q " in change else "p"
        key = "k" if info == "p" or change.startswith("rename table") else "kk"
        assert db.fails(f"insert into {info} ({key}, x) values ('a', 2)").sqlcode == -268
    assert db.fails("insert into c values ('b', 1)").sqlcode == -691
    db.run("alter table q drop constraint pk_q")
    db.run("insert into q (kk, x) values ('a', 2)")
    assert db.rows("select kk from q order by 1") == [("a",), ("a ",)]


def test_a_key_of_numbers_that_becomes_one_of_texts(db: Db) -> None:
    db.run("create table t (k int primary key, x int)")
    db.run("insert into t values (1, 1)")
    db.run("alter table t modify (k varchar(5))")
    assert db.fails("insert into t values ('1 ', 2)").sqlcode == -268
    db.run("alter table t modify (k int)")
    assert db.fails("insert into t values (1, 2)").sqlcode == -268


@pytest.mark.parametrize(
    "begun",
    [
        "create table new (k varchar(9) primary key, x int)",
        "alter table i add constraint primary key (k) constraint pk_i",
    ],
)
def test_a_transaction_that_makes_a_key_is_held_to_it(db: Db, begun: str) -> None:
    table = begun.split()[2]
    db.run("begin work")
    db.run(begun)
    db.run(f"insert into {table} values ('n', 1)")
    db.run(f"insert into {table} values ('m', 2)")
    assert db.fails(f"insert into {table} values ('n ', 3)").sqlcode in (-268, -239)
    assert db.fails(f"update {table} set k = 'n  ' where x = 2").sqlcode in (-268, -239)
    db.run("commit work")
    assert db.fails(f"insert into {table} values ('n ', 3)").sqlcode in (-268, -239)
    assert db.rows(f"select k from {table} where k in ('n', 'm') order by 1") == [("m",), ("n",)]


def test_a_temporary_table_has_such_keys_too(db: Db) -> None:
    db.run("create temp table tt (k varchar(9) primary key, x int)")
    db.run("insert into tt values ('a ', 1)")
    assert db.fails("insert into tt values ('a', 2)").sqlcode == -268
    assert db.run("update tt set x = 2 where k = 'a'").rows == 1
    db.run("drop table tt")


def test_two_sessions_do_not_take_one_key(engine: Engine, db: Db) -> None:
    other = connect(engine)
    try:
        for table, key, code, _ in KEYS:
            db.run("begin work")
            db.run(f"insert into {table} values ({key}, 2)", "b")
            assert other.fails(f"insert into {table} values ({key}, 3)", "b ").sqlcode == -271
            other.run("begin work")
            assert other.fails(f"insert into {table} values ({key}, 3)", "b  ").sqlcode == -271
            db.run("commit work")
            assert other.fails(f"insert into {table} values ({key}, 3)", "b  ").sqlcode == code
            assert other.run(f"update {table} set x = 4 where k = 'b    '").rows == 1
            assert db.fails(f"delete from {table} where k = 'b'").sqlcode == -244
            other.run("commit work")
        db.run("begin work")
        db.run("insert into c values ('b ', 1)")
        assert other.fails("delete from p where k = 'b'").sqlcode == -244  # a child is being inserted
        db.run("rollback work")
        assert other.run("delete from p where k = 'b  '").rows == 1
    finally:
        other.session.close()


def test_rows_of_a_cursor_for_update_are_found_by_such_keys(db: Db) -> None:
    db.run("insert into p values ('b  ', 2)")
    db.run("begin work")
    assert db.run("update p set x = (select max(x) from p) where k = 'a' or k = 'b'").rows == 2
    db.run("commit work")
    assert db.rows("select k, x from p order by k") == [("a ", 2), ("b  ", 2)]


def test_a_trigger_gives_a_new_value_to_a_row_with_such_a_key(db: Db) -> None:
    db.run("create table told (k varchar(9) primary key, x int)")
    db.run("create function twice(n int) returning int; return n * 2; end function")
    db.run(
        "create trigger tr insert on told referencing new as n for each row "
        "(execute function twice(n.x) into x)"
    )
    db.run("insert into told values ('a ', 4)")
    db.run("insert into told values ('b', 5)")
    assert db.rows("select k, x from told order by k") == [("a ", 8), ("b", 10)]
