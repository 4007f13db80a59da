"""Views, synonyms, sequences, foreign keys and altered tables: their effect on rows, and the catalogue."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.session.engine import Engine


def fill(db: Db) -> None:
    db.run("create table par (id integer not null primary key constraint pk_par, name varchar(10))")
    db.run(
        "create table chi (id integer, pid integer references par (id) constraint fk_chi, amt decimal(4,2))"
    )
    db.run("insert into par values (1, 'one')")
    db.run("insert into par values (2, 'two')")
    db.run("insert into chi values (10, 1, 1.5)")


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


def test_a_foreign_key_with_novalidate_is_not_held_against_the_rows_that_are_there(db: Db) -> None:
    db.run("create table late (id integer, pid integer)")
    db.run("insert into late values (1, 99)")
    adding = "alter table late add constraint (foreign key (pid) references par (id) constraint fk_late"
    assert db.fails(f"{adding})").sqlcode == -525
    db.run(f"{adding} novalidate)")
    assert db.fails("insert into late values (2, 99)").near == "informix.fk_late"
    assert db.run("update late set id = 5").rows == 1
    db.run("alter table late drop constraint (fk_late)")
    assert db.run("insert into late values (2, 99)").rows == 1


def test_several_constraints_are_dropped_at_once_or_none(db: Db) -> None:
    db.run("alter table chi add constraint unique (id) constraint un_chi")
    assert db.fails("alter table chi drop constraint (fk_chi, un_chi, nothing)").sqlcode == -623
    assert db.fails("insert into chi values (10, 99, 1)").near == "informix.un_chi"
    db.run("alter table chi drop constraint (fk_chi, un_chi)")
    assert db.run("insert into chi values (10, 99, 1)").rows == 1


def test_the_name_of_a_constraint_is_one_in_the_database(db: Db) -> None:
    taken = db.fails("create table other (id integer primary key constraint pk_par)")
    assert (taken.sqlcode, taken.near) == (-625, "pk_par")
    twice = "create table other (a integer unique constraint un, b integer unique constraint un)"
    assert db.fails(twice).sqlcode == -625
    assert db.fails("alter table chi add constraint check (amt > 0) constraint fk_chi").sqlcode == -625
    db.run("create temp table own (id integer primary key constraint pk_par)")
    db.run("drop table par")
    db.run("create table par (id integer primary key constraint pk_par)")


def test_a_constraint_without_a_name_gets_one_that_is_free(db: Db) -> None:
    db.run("create table many (a integer unique, b integer unique, c integer)")
    query = (
        "select constrname from sysconstraints c, systables t where t.tabid = c.tabid and tabname = 'many'"
    )
    first, second = sorted(name for (name,) in db.rows(query))
    db.run(f"alter table many drop constraint {first}")
    db.run("alter table many add constraint unique (c)")
    names = [name for (name,) in db.rows(query)]
    assert len(set(names)) == 2
    assert second in names
    db.run(f"alter table many drop constraint {second}")
    assert len(db.rows(query)) == 1


def test_renaming_constraints(db: Db) -> None:
    db.run("rename constraint fk_chi to of_par")
    assert db.fails("insert into chi values (11, 9, 1)").near == "informix.of_par"
    db.run("rename constraint informix.pk_par to keys")
    assert db.fails("insert into par values (1, 'again')").near == "informix.keys"
    assert db.fails("rename constraint nothing to anything").sqlcode == -623
    assert db.fails("rename constraint keys to of_par").sqlcode == -625
    db.run("begin work")
    db.run("rename constraint keys to locks")
    db.run("rollback work")
    db.run("alter table par drop constraint keys")


def test_one_alter_table_makes_a_constraint_again_by_its_name(db: Db) -> None:
    db.run("create table graded (n int check (n < 5) constraint highest)")
    db.run("alter table graded drop constraint highest, add constraint check (n < 7) constraint highest")
    db.run("insert into graded values (6)")
    problem = db.fails("insert into graded values (7)")
    assert (problem.sqlcode, problem.near) == (-530, "informix.highest")
    assert db.fails("alter table chi add constraint unique (id) constraint highest").sqlcode == -625


def test_an_argument_of_greatest_and_least_is_made_once(db: Db) -> None:
    db.run("create sequence steps")
    one = "select {}(steps.nextval, {}) from sysmaster:sysdual"
    assert [db.value(one.format("greatest", 0)), db.value(one.format("least", 99))] == [1, 2]


def test_a_default_of_sysdate_takes_a_qualifier(db: Db) -> None:
    db.run("create table noted (id int, at datetime year to second default sysdate year to second)")
    db.run("insert into noted (id) values (1)")
    assert db.value("select count(*) from noted where at > current - 1 units day") == 1


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
    problem = db.fails("update few set id = id + 10 where id = 2")
    assert (problem.sqlcode, problem.near) == (-385, "informix.few")
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


def test_computed_columns_of_a_view_may_be_read_by_what_changes_its_rows(db: Db) -> None:
    db.run("create table base (a int, b varchar(9), z int)")
    db.run(
        "create view computed (a, twice, word, z) as select a, t.a * 2, upper(b), z from base t where t.a > 0"
    )
    db.run(
        "create view over (n, four, z) as select a, twice * 2, z from computed where twice < 100 with check option"
    )
    for a, b in ((1, "one"), (2, "two"), (3, "three")):
        db.run("insert into base values (?, ?, 7)", a, b)
    assert db.run("update computed set z = twice + 1 where twice = 4 and computed.word = 'TWO'").rows == 1
    assert db.rows("select a, b, z from base order by a") == [(1, "one", 7), (2, "two", 5), (3, "three", 7)]
    assert db.run("update over set n = four + 1 where four >= 12").rows == 1
    assert db.rows("select a, z from base order by a") == [(1, 7), (2, 5), (13, 7)]
    assert db.fails("update over set n = 50 where four = 4").sqlcode == -385
    clause = "exists (select 1 from base o where o.a = computed.twice / 2 and o.a = 2)"
    assert db.run(f"delete from computed where {clause}").rows == 1
    assert db.run("delete from over where four = 4 and z = 7").rows == 1
    assert db.rows("select a, b, z from base") == [(13, "three", 7)]
    assert db.fails("update computed set twice = 1").sqlcode == -274
    assert db.fails("insert into computed (twice) values (1)").sqlcode == -274
    assert db.fails("update computed set z = 1 where nothing = 1").sqlcode == -217


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


def test_the_name_of_a_synonym_for_nothing_is_taken(db: Db) -> None:
    for statement in (
        "create database elsewhere with log",
        "create table gone (a int)",
        "database stores_demo",
        "create synonym folks for elsewhere:gone",
        "database elsewhere",
        "drop table gone",  # the synonym's table does not exist any more
        "database stores_demo",
        "rename table par to parents",
    ):
        db.run(statement)
    assert db.fails("select * from folks").sqlcode == -206
    db.run("create sequence numbers")
    for name in ("folks", "numbers"):
        for statement in (
            f"create table {name} (a int)",
            f"create temp table {name} (a int)",
            f"create view {name} (a) as select id from parents",
            f"rename table chi to {name}",
            f"select id from parents into temp {name}",
            f"create synonym {name} for chi",
        ):
            assert db.fails(statement).sqlcode == -310, statement
    db.run("create table if not exists folks (a int)")
    db.run("drop synonym folks")
    db.run("create table folks (a int)")
    assert db.rows("select * from folks") == []
    db.run("drop database elsewhere")


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


def test_a_query_that_calls_routines_draws_each_number_once(db: Db) -> None:
    db.run("create sequence drawn")
    db.run("create function twice(n int) returning int; return n * 2; end function")
    db.run("create table d (id int, n int)")
    db.many("insert into d values (?, ?)", [(1, 0), (2, 0)])
    db.run(
        "create procedure told() returning int, int; define a, b int; foreach select twice(id), drawn.nextval "
        "into a, b from d order by id return a, b with resume; end foreach; end procedure"
    )
    assert db.rows("select twice(4), drawn.nextval from sysmaster:sysdual") == [(8, 1)]
    assert sorted(db.rows("select twice(id), drawn.nextval from d")) == [(2, 2), (4, 3)]
    db.run("insert into d select twice(id) * 10, drawn.nextval from d")
    db.run("insert into d values (twice(50), drawn.nextval)")
    assert db.rows("select * from d where n > 0 order by n") == [(20, 4), (40, 5), (100, 6)]
    db.run("update d set n = drawn.nextval, id = twice(id) where id < 3")
    assert db.rows("select * from d where id < 5 order by id") == [(2, 7), (4, 8)]
    db.run("select twice(id) as two, drawn.nextval as n from d where id < 5 into temp taken")
    assert db.rows("select n from taken order by 1") == [(9,), (10,)]
    assert [n for _, n in db.rows("execute procedure told()")] == [11, 12, 13, 14, 15]
    assert db.value("select drawn.nextval from sysmaster:sysdual") == 16


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


def test_a_sequence_at_its_end_is_altered_and_draws_no_number_twice(db: Db) -> None:
    """CYCLE begins again, a higher MAXVALUE continues, and after any other change the sequence is still at its end."""

    def drawn(name: str) -> int:
        return int(db.value(f"select {name}.nextval from sysmaster:sysdual"))

    db.run("create sequence seq start with 2 increment by 2 maxvalue 5")
    assert [drawn("seq"), drawn("seq")] == [2, 4]
    for change in ("cache 30", "maxvalue 4", "increment by 1 maxvalue 4"):
        db.run(f"alter sequence seq {change}")
        assert db.fails("select seq.nextval from sysmaster:sysdual").sqlcode == -8313
    db.run("alter sequence seq maxvalue 6")
    assert drawn("seq") == 5
    db.run("alter sequence seq maxvalue 5 cycle")
    assert drawn("seq") == 1
    db.run("create sequence down increment by -1 minvalue -2 maxvalue -1")
    assert [drawn("down"), drawn("down")] == [-1, -2]
    db.run("alter sequence down order")
    assert db.fails("select down.nextval from sysmaster:sysdual").sqlcode == -8314
    db.run("alter sequence down cycle")
    assert drawn("down") == -1


# ---- temporary tables and large objects --------------------------------------------------------------
def test_a_temporary_table_has_its_own_name_and_no_view(db: Db) -> None:
    db.run("create temp table scratch (a integer)")
    for again in ("create temp table scratch (b integer)", "select id from par into temp scratch"):
        error = db.fails(again)
        assert (error.sqlcode, error.near) == (-958, "scratch")
    assert db.fails("create temp table par (a integer)").sqlcode == -310
    assert db.fails("create table scratch (a integer)").sqlcode == -310
    for query in ("select a from scratch", "select id from par where id in (select a from scratch)"):
        error = db.fails(f"create view over_temporary as {query}")
        assert (error.sqlcode, error.near) == (-337, "scratch")
    assert db.fails("select * from over_temporary").sqlcode == -206


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("insert into par (id, name, id) values (7, 'x', 8)", -681),
        ("insert into par (id, id) select id, id from par", -681),
        (
            "merge into par using chi on par.id = chi.id when not matched then insert (id, id) values (7, 8)",
            -681,
        ),
        ("update par set name = 'x', name = 'y'", -201),
        ("update par set (name, name) = ('x', 'y') where id = 1", -201),
        ("create index twice on par (name, name)", -542),
        ("create table twice (a integer, unique (a, a))", -542),
        ("select count(distinct *) from par", -201),
        ("select count(distinct id, name) from par", -201),
        ("select sum(distinct id, id) from par", -201),
    ],
)
def test_what_is_named_twice_is_refused(db: Db, sql: str, code: int) -> None:
    before = db.rows("select * from par order by 1")
    assert db.fails(sql).sqlcode == code
    assert db.rows("select * from par order by 1") == before


def test_a_check_may_cut_and_change_the_case_of_texts(db: Db) -> None:
    db.run(
        "create table checked (a varchar(10) check (upper(a) = a), b char(5) check (b[2,2] = ' '), "
        "c varchar(20) check (c::char(3) = 'é'), d char(2), check (d || a <> 'éX'), tail integer)"
    )
    row = "insert into checked values ('{}', '{}', '{}', '{}', 1)"
    db.run(row.format("ß", "é", "éé", "é"))
    for bad in (
        ("é", "é", "éé", "é"),
        ("É", "abc", "éé", "é"),
        ("É", "é", "aéé", "é"),
        ("X", "é", "éé", "é"),
    ):
        assert db.fails(row.format(*bad)).sqlcode == -530
    assert db.rows("select a, b, c, d, tail from checked") == [("ß", "é", "éé", "é", 1)]


@pytest.mark.parametrize(
    "sql",
    [
        "create table keyed (a text primary key)",
        "create table keyed (a byte unique, b integer)",
        "create index on_text on papers (a)",
        "alter table papers add constraint unique (b, a)",
    ],
)
def test_byte_and_text_are_no_keys(db: Db, sql: str) -> None:
    db.run("create table papers (a text, b integer)")
    error = db.fails(sql)
    assert (error.sqlcode, error.near) == (-610, "a")


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


# ---- objects dropped with a table -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "made", ["select id, name from par", "select p.id, c.amt from par p, chi c where p.id = c.pid"]
)
def test_a_dropped_table_takes_its_views_and_their_views_and_synonyms_along(db: Db, made: str) -> None:
    db.run(f"create view first_view as {made}")
    db.run("create view second_view as select id from first_view where id > 0")
    db.run("create view other_view as select pid from chi")
    db.run("create synonym par_name for par")
    db.run("create synonym view_name for second_view")
    db.run("create synonym chi_name for chi")
    db.run("drop table par")
    left = (
        "select tabname, tabtype from systables where tabid >= 100 and tabtype in ('V', 'S') order by tabname"
    )
    assert db.rows(left) == [("chi_name", "S"), ("other_view", "V")]
    for name in ("first_view", "second_view", "par_name", "view_name"):
        assert db.fails(f"select * from {name}").sqlcode == -206
    db.run("create view first_view as select amt from chi")
    assert db.rows("select * from first_view") == [(Decimal("1.50"),)]


def test_what_debezium_asks_before_and_in_a_snapshot(engine: Engine, db: Db) -> None:
    """Debezium's connector names tables with database and owner. Changes of no table are captured yet."""
    db.run("create table orders (k serial primary key, a varchar(10))")
    db.run("insert into orders values (0, 'x')")
    assert db.value("select dbinfo('dbname') as dbname from systables where tabid = 1") == "stores_demo"
    assert db.types("select sysdate as sysdate from sysmaster:sysdual") == [
        ("sysdate", "DATETIME YEAR TO FRACTION(5)")
    ]
    other = connect(engine)
    db.run("set isolation to repeatable read")
    db.run("begin work")
    db.run("LOCK TABLE stores_demo:informix.orders IN SHARE MODE")
    assert other.fails("update orders set a = 'y'").sqlcode == -244
    assert other.rows("select a, k from orders") == [("x", 1)]
    assert db.rows("SELECT k, a FROM stores_demo:informix.orders") == [(1, "x")]
    db.run("rollback work")
    db.run("begin work")
    db.run("LOCK TABLE stores_demo:informix.orders IN EXCLUSIVE MODE")
    assert other.fails("select a from orders").sqlcode == -244
    db.run("rollback work")
    assert db.rows("select max(seqnum), 77 from syscdcv1:informix.syscdctabs where dbname = 'x'") == [
        (None, 77)
    ]
    other.session.close()


def test_with_restrict_nothing_is_dropped_on_which_others_depend(db: Db) -> None:
    db.run("create table base (a int primary key, up int references base)")
    db.run("create synonym other for base")
    db.run("create table child (b int references base)")
    db.run("create view seen (a) as select a from base")
    db.run("create view again (a) as select a from seen")
    db.run("create view last (a) as select a from again")
    problem = db.fails("drop table base restrict")
    assert (problem.sqlcode, problem.near) == (-886, "base")
    assert "child" in problem.detail
    assert "seen" in problem.detail
    assert db.fails("drop view again restrict").sqlcode == -886
    db.run("drop view last restrict")
    db.run("drop view seen cascade")
    assert db.fails("select a from again").sqlcode == -206
    assert db.fails("drop table base restrict").sqlcode == -886
    db.run("drop table child restrict")
    db.run("drop table base restrict")
    assert db.fails("select a from other").sqlcode == -206


def test_a_dropped_view_takes_the_views_that_read_it_along_and_comes_back_with_a_rollback(db: Db) -> None:
    db.run("create view first_view as select id, name from par")
    db.run("create view second_view as select name, id from first_view")
    db.session.begin()
    db.run("drop view first_view")
    assert db.fails("select * from second_view").sqlcode == -206
    db.session.rollback()
    assert db.rows("select * from second_view where id = 2") == [("two", 2)]
    db.run("drop view first_view")
    assert db.fails("select * from second_view").sqlcode == -206
    assert db.rows("select id, name from par where id = 1") == [(1, "one")]


# ---- names ----------------------------------------------------------------------------------------
def test_ddl_and_lock_table_may_name_the_open_database_and_no_other(engine: Engine, db: Db) -> None:
    db.run(
        "create table stores_demo:informix.own (id serial, what varchar(10), pid int references stores_demo:par (id))"
    )
    db.run("insert into own values (0, 'a', 1)")
    db.run("alter table stores_demo@informix:own add (more int default 7)")
    db.run("create unique index stores_demo:informix.ix_own on stores_demo:informix.own (id)")
    db.run("create view stores_demo:informix.seen as select what, more from own")
    db.run("create synonym stores_demo:informix.other for stores_demo:informix.own")
    db.run("rename column stores_demo:informix.own.what to said")
    db.session.begin()
    db.run('lock table stores_demo:"informix".own in share mode')
    db.session.rollback()
    assert db.rows("select said, more, pid from other") == [("a", 7, 1)]
    for text in ("create table sysmaster:informix.t (a int)", "drop table sysmaster:own"):
        assert db.fails(text).sqlcode == -201
    assert db.fails("lock table nowhere:own in share mode").sqlcode == -329
    db.run("drop table stores_demo:informix.own")
    assert db.fails("select * from own").sqlcode == -206


ODD = ["1st", "two words", "été", "it's", 'say ""hi""', "a.b", "select", "UPPER", "?", "%_"]


@pytest.mark.parametrize("name", ODD)
def test_a_delimited_name_may_have_any_characters(engine: Engine, name: str) -> None:
    db = connect(engine, DELIMIDENT="Y")
    db.run(f'create table odd ("{name}" varchar(9) not null, tail int)')
    db.run(f'insert into odd ("{name}", tail) values (?, 2)', "x'y")
    db.run(f'create index odd_ix on odd ("{name}")')
    assert db.rows(f'select "{name}", tail from odd o where o."{name}" = ?', "x'y") == [("x'y", 2)]
    db.run(f'update odd set "{name}" = ? where tail = 2', "z")
    assert db.rows("select * from odd") == [("z", 2)]
    plain = name.replace('""', '"')
    assert db.rows(
        "select colname from syscolumns c, systables t where c.tabid = t.tabid and tabname = 'odd' and colno = 1"
    ) == [(plain,)]
    db.run("drop table odd")


@pytest.mark.parametrize("name", ODD)
def test_a_check_may_be_of_a_column_and_a_table_with_a_delimited_name(engine: Engine, name: str) -> None:
    db = connect(engine, DELIMIDENT="Y")
    db.run(
        f'create table "{name}" ("{name}" int check ("{name}" > 0), tail char(3), check (tail <> \'it\'\'s\'))'
    )
    db.run(f"insert into \"{name}\" values (1, 'a')")
    assert db.fails(f"insert into \"{name}\" values (0, 'b')").sqlcode == -530
    assert db.rows(f'select "{name}", tail from "{name}"') == [(1, "a")]
    db.run(f'drop table "{name}"')


@pytest.mark.parametrize(
    "behind",
    [
        "order by a",
        "group by a",
        "limit 1",
        "union select 1 from par",
        "for update",
        "into temp x",
        "having 1 = 1",
    ],
)
def test_a_check_has_nothing_behind_its_condition(db: Db, behind: str) -> None:
    assert db.fails(f"create table checked_more (a int, b int, check (a > 0 {behind}))").sqlcode == -201
    assert db.fails("select a from checked_more").sqlcode == -206


# ---- quoted strings over several lines ------------------------------------------------------------
def test_a_quoted_string_goes_over_several_lines_only_where_that_is_allowed(engine: Engine) -> None:
    db = connect(engine)
    db.run("create table notes (note varchar(20), tail int)")
    text = "insert into notes values ('one\ntwo', 1)"
    assert db.fails(text).sqlcode == -282
    assert db.fails('insert into notes values ("one\ntwo", 1)').sqlcode == -282
    db.run("insert into notes values ('it''s', 0) -- a comment's\n")
    db.run("insert into notes\n values ('a', -- it's\n 5)")
    db.run("insert into notes values (?, 2)", "one\ntwo")
    db.run("execute procedure ifx_allow_newline('T')")
    db.run(text)
    assert db.rows("select note, tail from notes order by tail") == [
        ("it's", 0),
        ("one\ntwo", 1),
        ("one\ntwo", 2),
        ("a", 5),
    ]
    assert db.rows("select tail from notes where note = 'one\ntwo' order by 1") == [(1,), (2,)]
    other = connect(engine)
    assert other.fails(text).sqlcode == -282
    db.run("execute procedure ifx_allow_newline('f')")
    assert db.fails(text).sqlcode == -282
    db.run("drop table notes")
