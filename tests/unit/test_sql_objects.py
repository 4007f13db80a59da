"""Views, synonyms, sequences, foreign keys and changed tables: what they do to rows and what the catalogue says."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest

from informix_arrow.server.engine import Engine

from .engine_support import Db, connect, open_engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    yield from open_engine()


@pytest.fixture
def db(engine: Engine) -> Db:
    db = connect(engine)
    db.run("create table par (id integer not null primary key constraint pk_par, name varchar(10))")
    db.run(
        "create table chi (id integer, pid integer references par (id) constraint fk_chi, amt decimal(4,2))"
    )
    db.run("insert into par values (1, 'one')")
    db.run("insert into par values (2, 'two')")
    db.run("insert into chi values (10, 1, 1.5)")
    return db


# ---- foreign keys --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "change",
    [
        "alter table chi add (extra char(3) default 'abc' not null)", "alter table chi modify (amt decimal(6,2))",
        "rename column chi.pid to parent", "rename table par to folks", "rename column par.id to number",
        "alter table par add (extra integer)",
    ],
)  # fmt: skip
def test_a_foreign_key_outlives_changes_of_both_tables(db: Db, change: str) -> None:
    db.run(change)
    parent = "folks" if "folks" in change else "par"
    assert db.fails(f"delete from {parent}").sqlcode == -692
    child = ", ".join(["11", "9", "1"] + (["'x'"] if "chi add" in change else []))
    assert db.fails(f"insert into chi values ({child})").near == "informix.fk_chi"
    db.run("delete from chi")
    assert db.run(f"delete from {parent}").rows == 2


def test_dropping_a_parent_drops_the_foreign_keys_to_it(db: Db) -> None:
    db.run("drop table par")
    db.run("insert into chi values (11, 99, 1)")
    assert db.value("select count(*) from sysconstraints where constrtype = 'R'") == 0


def test_children_and_parents_go_in_one_transaction(db: Db) -> None:
    db.run("begin work")
    db.run("delete from chi where pid = 1")
    db.run("delete from par where id = 1")
    db.run("commit work")
    assert db.rows("select id from par") == [(2,)]


def test_an_update_must_not_take_a_rows_parent_away(db: Db) -> None:
    assert db.fails("update chi set pid = 7").sqlcode == -691
    assert db.fails("update par set id = 7 where id = 1").sqlcode == -692
    assert db.run("update par set id = 7 where id = 2").rows == 1
    assert db.run("update chi set pid = 7").rows == 1
    assert db.run("update chi set pid = null").rows == 1


def test_a_delete_cascades_through_all_generations(db: Db) -> None:
    db.run("create table a (id integer primary key)")
    db.run("create table b (id integer primary key, a integer references a on delete cascade)")
    db.run("create table c (id integer, b integer references b on delete cascade)")
    db.many("insert into a values (?)", [(1,), (2,)])
    db.many("insert into b values (?, ?)", [(1, 1), (2, 2), (3, 1), (4, None)])
    db.many("insert into c values (?, ?)", [(1, 1), (2, 2), (3, 3), (4, None)])
    db.run("begin work")
    assert db.run("delete from a where id = 1").rows == 1
    assert db.rows("select id from b order by id") == [(2,), (4,)]
    assert db.rows("select id from c order by id") == [(2,), (4,)]
    db.run("rollback work")
    assert db.value("select count(*) from c") == 4
    assert db.rows("select delrule, count(*) from sysreferences group by 1 order by 1") == [
        ("C", 2),
        ("R", 1),
    ]


def test_a_table_may_refer_to_itself(db: Db) -> None:
    db.run("create table tree (id integer primary key, up integer references tree (id))")
    outcomes = db.many("insert into tree values (?, ?)", [(1, None), (2, 1), (3, 3), (4, 9), (5, 2)])
    assert [getattr(o, "sqlcode", 0) for o in outcomes] == [0, 0, 0, -691, 0]
    assert db.fails("delete from tree where id = 1").sqlcode == -692
    assert db.run("delete from tree").rows == 4


def test_a_foreign_key_is_only_added_where_it_holds(db: Db) -> None:
    db.run("create table late (pid integer)")
    db.run("insert into late values (9)")
    add = "alter table late add constraint foreign key (pid) references par constraint fk_late"
    assert db.fails(add).sqlcode == -525
    db.run("delete from late")
    db.run(add)
    assert db.fails("insert into late values (9)").near == "informix.fk_late"


# ---- views ---------------------------------------------------------------------------------------
def test_rows_are_changed_through_a_view_of_one_table(db: Db) -> None:
    db.run("create view few (number, called) as select id, name from par where id < 5")
    db.run("insert into few values (3, 'three')")
    db.run("insert into few (number, called) values (8, 'eight')")
    assert db.run("update few set called = 'x' where number > 1").rows == 2
    assert db.run("delete from few f where f.number = 2").rows == 1
    assert db.rows("select id, name from par order by id") == [(1, "one"), (3, "x"), (8, "eight")]


def test_check_option_keeps_rows_in_the_view(db: Db) -> None:
    db.run("create view few as select id, name from par where id < 5 with check option")
    assert db.fails("insert into few values (8, 'eight')").sqlcode == -385
    assert db.fails("update few set id = id + 10 where id = 2").sqlcode == -385
    assert db.run("update few set id = id + 1 where id = 2").rows == 1
    assert db.rows("select id from par order by id") == [(1,), (3,)]


@pytest.mark.parametrize(
    "query",
    [
        "select unique name from par",
        "select count(*) n from par",
        "select a.id from par a, chi b",
        "select id + 1 x from par",
    ],
)
def test_a_view_of_other_things_takes_no_rows(db: Db, query: str) -> None:
    db.run(f"create view odd as {query}")
    assert db.fails("insert into odd values (1)").sqlcode == -274


# ---- synonyms ------------------------------------------------------------------------------------
def test_a_synonym_stands_for_its_table(engine: Engine, db: Db) -> None:
    db.run("create synonym folks for par")
    db.run("create private synonym one for sysmaster:sysdual")
    db.run("insert into folks values (3, 'three')")
    assert db.run("update folks set name = 'x' where folks.id = 3").rows == 1
    other = connect(engine)
    assert other.rows("select folks.name from folks, one where id = 3") == [("x",)]
    assert db.rows("select tabname, tabtype from systables where tabtype in ('P', 'S') order by 1") == [
        ("folks", "S"), ("one", "P"),
    ]  # fmt: skip
    assert db.fails("create synonym folks for chi").sqlcode == -310
    assert db.fails("create synonym lost for nothing").sqlcode == -206
    db.run("drop synonym folks")
    assert db.fails("drop synonym folks").sqlcode == -218
    assert other.fails("select * from folks").sqlcode == -206


# ---- sequences -----------------------------------------------------------------------------------
def test_a_sequence_gives_each_row_its_number(db: Db) -> None:
    db.run("create sequence seq start with 10 increment by 5")
    assert db.rows("select seq.nextval, seq.currval, seq.nextval from sysmaster:sysdual") == [(10, 10, 10)]
    assert sorted(db.rows("select seq.nextval, id from par")) == [(15, 1), (20, 2)]
    assert db.value("select seq.currval from sysmaster:sysdual") == 20
    db.many(
        "insert into chi (id, amt) values (seq.nextval, ?)", [(Decimal(1),), (Decimal(2),), (Decimal(3),)]
    )
    assert db.rows("select id from chi where pid is null order by id") == [(25,), (30,), (35,)]
    assert db.fails("select seq.nextval, seq.currval from par").sqlcode == -201


def test_a_sequence_is_not_rolled_back_and_ends(db: Db) -> None:
    db.run("create sequence seq maxvalue 3")
    db.run("begin work")
    assert db.value("select seq.nextval from sysmaster:sysdual") == 1
    db.run("rollback work")
    assert [db.value("select seq.nextval from sysmaster:sysdual") for _ in range(2)] == [2, 3]
    assert db.fails("select seq.nextval from sysmaster:sysdual").sqlcode == -8313
    db.run("alter sequence seq restart with 2")
    assert db.value("select seq.nextval from sysmaster:sysdual") == 2
    db.run("rename sequence seq to other")
    assert db.fails("drop sequence seq").sqlcode == -8300
    assert db.fails("create sequence other").sqlcode == -8301
    db.run("drop sequence other")


# ---- tables --------------------------------------------------------------------------------------
def test_a_column_is_added_before_another(db: Db) -> None:
    db.run("alter table chi add (extra integer default 7 before pid)")
    assert db.rows("select * from chi") == [(10, 7, 1, Decimal("1.50"))]


def test_storage_clauses_are_seen_in_the_catalogue(db: Db) -> None:
    db.run(
        "create table frag (a integer) fragment by expression (a < 10) in dbs1, remainder in dbs2 "
        "extent size 64 next size 32 lock mode row"
    )
    sizes = "select fextsize, nextsize, locklevel from systables where tabname = 'frag'"
    assert db.rows(sizes) == [(64, 32, "R")]
    db.run("alter table frag lock mode (page), modify next size 16")
    assert db.rows(sizes) == [(64, 16, "P")]
    assert db.rows("select strategy, evalpos, dbspace from sysfragments order by evalpos") == [
        ("E", 0, "dbs1"), ("E", 1, "dbs2"),
    ]  # fmt: skip


def test_an_index_is_renamed(db: Db) -> None:
    db.run("create unique index ix on par (name)")
    db.run("rename index ix to iy")
    assert db.fails("drop index ix").sqlcode == -319
    assert db.fails("insert into par values (3, 'one')").near == "informix.iy"


def test_delimited_names_keep_their_case(engine: Engine, db: Db) -> None:
    delimited = connect(engine, DELIMIDENT="")
    delimited.run('create table "Mixed" ("Id" integer, plain integer)')
    delimited.run('insert into "Mixed" ("Id", PLAIN) values (1, 2)')
    assert delimited.rows('select "Id", Plain from "Mixed" m where m."Id" = 1') == [(1, 2)]
    assert [name for name, _ in delimited.types('select "Id" "Name", plain from "Mixed"')] == [
        "Name",
        "plain",
    ]
    assert delimited.fails("select * from mixed").sqlcode == -206
    assert delimited.fails('select "id" from "Mixed"').sqlcode == -217
    assert delimited.run('update "Mixed" set "Id" = 5').rows == 1
