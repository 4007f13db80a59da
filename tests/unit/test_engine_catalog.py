"""DDL and the catalogue: what is created is described, under the names that clients ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from informix_arrow.server.engine import Engine

from .engine_support import VERSION, Db, connect, open_engine


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    yield from open_engine()


@pytest.fixture
def db(engine: Engine) -> Iterator[Db]:
    db = connect(engine)
    yield db
    for (name,) in db.rows("select tabname from systables where tabid >= 100 and tabtype = 'V'"):
        db.run(f"drop view {name}")
    for (name,) in db.rows("select tabname from systables where tabid >= 100 order by tabid desc"):
        db.run(f"drop table {name}")
    db.session.close()


def test_the_three_queries_of_jdbc_work_unchanged(db: Db) -> None:
    assert db.rows("select FIRST 1 site from informix.systables where tabname = ' GL_COLLATE'") == [
        ("en_US.57372",)
    ]
    assert len(db.rows("SELECT flags FROM informix.systables WHERE tabname = ' VERSION';")) == 1
    assert db.rows("select dbinfo('version','full') from  table (set{1});") == [(VERSION,)]


def test_systables_begins_as_on_a_real_server(db: Db) -> None:
    assert db.rows("select first 3 tabname, tabid from systables") == [
        ("systables", 1),
        ("syscolumns", 2),
        ("sysindices", 3),
    ]
    assert db.rows("select sum(tabid) from systables where tabid <= 10")[0][0] == 55
    assert db.value("select count(*) from systables") >= 50
    assert dict(db.types("select nrows, tabid from systables")) == {"nrows": "FLOAT", "tabid": "SERIAL"}


def test_sysmaster_lists_databases_from_everywhere(db: Db) -> None:
    sql = "select name, is_logging, is_ansi from sysmaster:sysdatabases where name in ('sysmaster', 'stores_demo')"
    assert sorted(db.rows(sql)) == [("stores_demo", 1, 0), ("sysmaster", 1, 0)]
    assert (
        db.value("select dbs_collate from sysmaster:sysdbslocale where dbs_dbsname = 'sysmaster'")
        == "en_US.819"
    )
    assert db.rows('select 1 from sysmaster:"informix".sysdual') == [(1,)]


def test_syscolumns_packs_types_as_the_wire_does(db: Db) -> None:
    db.run(
        "create table t (a serial, b varchar(100,10) not null, c decimal(10,2), d datetime year to second, "
        "e boolean, f lvarchar(300), g money, h nvarchar(80,20), i varchar(200,150), j decimal(16))"
    )
    sql = (
        "select colname, coltype, collength, extended_id from syscolumns c, systables t "
        "where c.tabid = t.tabid and tabname = 't' order by colno"
    )
    assert db.rows(sql) == [
        ("a", 262, 4, 0),
        ("b", 269, 2660, 0),
        ("c", 5, 2562, 0),
        ("d", 10, 0x0E0A, 0),
        ("e", 41, 1, 5),
        ("f", 40, 300, 1),
        ("g", 8, 4098, 0),
        ("h", 16, 5200, 0),
        ("i", 13, -26936, 0),
        ("j", 5, 4351, 0),
    ]
    assert db.value("select ncols from systables where tabname = 't'") == 10


def test_keys_and_indexes_are_in_the_catalogue(db: Db) -> None:
    db.run("create table p (a integer, b integer, primary key (b, a) constraint pk1)")
    db.run("create table c (x integer unique, y integer, foreign key (x, y) references p constraint fk1)")
    db.run("create index by_y on c (y desc)")
    constraints = db.rows("select constrname, constrtype from sysconstraints order by 2, 1")
    assert [c for c in constraints if c[0] in ("pk1", "fk1")] == [("pk1", "P"), ("fk1", "R")]
    sql = "select part1, part2, part3, idxtype from sysindexes i, sysconstraints k where i.idxname = k.idxname and "
    assert db.rows(sql + "constrname = 'pk1'") == [(2, 1, 0, "U")]
    assert db.rows("select part1, idxtype from sysindexes where idxname = 'by_y'") == [(-2, "D")]
    assert (
        db.value("select count(*) from sysreferences r, sysconstraints k where r.constrid = k.constrid") == 1
    )


def test_constraints_fail_with_their_names(db: Db) -> None:
    db.run("create table p (id integer not null primary key, v integer, check (v > 0) constraint positive)")
    db.run("create table c (p integer, foreign key (p) references p (id) constraint has_p)")
    db.run("insert into p values (1, 1)")
    db.run("insert into c values (1)")
    errors = {
        "insert into p values (1, 1)": (-268, -100),
        "insert into p values (2, -1)": (-530, 0),
        "update p set v = 0": (-530, 0),
        "insert into c values (7)": (-691, -111),
        "delete from p": (-692, 0),
        "insert into p values (null, 1)": (-391, 0),
    }
    assert {sql: (e.sqlcode, e.isamcode) for sql in errors for e in [db.fails(sql)]} == errors
    assert db.fails("insert into p values (2, -1)").near == "informix.positive"
    assert db.fails("insert into c values (7)").near == "informix.has_p"
    tabid = db.value("select tabid from systables where tabname = 'p'")
    assert db.fails("insert into p values (1, 1)").near == f"informix.u{tabid}_1"


def test_a_unique_index_fails_with_its_own_code(db: Db) -> None:
    db.run("create table t (a integer, b integer)")
    db.run("create unique index t_a on t (a)")
    db.run("insert into t values (1, 1)")
    error = db.fails("insert into t values (1, 2)")
    assert (error.sqlcode, error.isamcode) == (-239, -100)
    assert db.fails("create index t_a on t (b)").sqlcode == -316
    db.run("drop index t_a")
    db.run("insert into t values (1, 2)")
    assert db.fails("drop index t_a").sqlcode == -319
    assert db.fails("create unique index t_a on t (a)").sqlcode == -371


def test_tables_are_altered_and_renamed_with_their_rows(db: Db) -> None:
    db.run("create table t (a integer primary key, b varchar(10))")
    db.run("insert into t values (1, 'one')")
    db.run("alter table t add (c decimal(6,2) default 1.5, d date)")
    db.run("alter table t modify (b char(20)), drop d")
    assert db.types("select * from t") == [("a", "INTEGER"), ("b", "CHAR(20)"), ("c", "DECIMAL(6,2)")]
    db.run("rename column t.b to label")
    db.run("rename table t to u")
    assert [str(v) for v in db.rows("select a, label, c from u")[0]] == ["1", "one", "1.50"]
    assert db.fails("insert into u values (1, 'x', 0)").sqlcode == -268
    assert db.fails("select * from t").sqlcode == -206
    assert db.fails("alter table u add (c integer)").sqlcode == -328
    assert db.fails("alter table u drop nothing").sqlcode == -217
    db.run("truncate table u")
    assert db.value("select count(*) from u") == 0


def test_a_view_has_types_and_follows_its_table(db: Db) -> None:
    db.run("create table t (a integer, b decimal(8,2))")
    db.run("create view v (x, total) as select a, sum(b) from t group by a")
    db.many("insert into t values (?, ?)", [(1, 2), (1, 3)])
    assert db.types("select * from v") == [("x", "INTEGER"), ("total", "DECIMAL(32,2)")]
    assert [(x, str(total)) for x, total in db.rows("select x, total from v")] == [(1, "5.00")]
    assert "create view v" in db.value("select viewtext from sysviews v, systables t where v.tabid = t.tabid")


def test_existing_and_missing_objects_have_their_codes(db: Db) -> None:
    db.run("create table t (a integer)")
    assert db.fails("create table t (b integer)").sqlcode == -310
    db.run("create table if not exists t (b integer)")
    assert db.fails("drop table nowhere").sqlcode == -206
    db.run("drop table if exists nowhere")
    assert db.fails("create table u (a integer, a integer)").sqlcode == -328
    assert db.fails("drop table systables").sqlcode == -313
    assert db.fails("insert into systables (tabid) values (1)").sqlcode == -274


def test_storage_clauses_are_accepted_and_other_clauses_are_not(db: Db) -> None:
    db.run("create table t (a integer) in rootdbs extent size 16 next size 32 lock mode row")
    assert db.fails("create table u (a integer) with magic").sqlcode == -201


@pytest.mark.parametrize(
    "declared", ["collection", "set(blob not null)", "row(a serial)", "list(no_such_type)"]
)
def test_types_that_cannot_be_stored_are_refused_by_name(db: Db, declared: str) -> None:
    error = db.fails(f"create table t (a {declared}, tail integer)")
    assert error.sqlcode == -9628
    assert error.near in ("collection", "blob", "serial", "no_such_type")


def test_temporary_tables_belong_to_their_session(engine: Engine, db: Db) -> None:
    other = connect(engine)
    db.run("create temp table same (a integer)")
    other.run("create temp table same (b varchar(5), c integer)")
    db.run("insert into same values (1)")
    other.run("insert into same values ('x', 2)")
    assert (db.rows("select * from same"), other.rows("select * from same")) == ([(1,)], [("x", 2)])
    other.session.close()
    for _ in range(5):
        db.run("drop table same")
        db.run("create temp table same (a integer, z date)")
    assert db.rows("select * from same") == []


def test_databases_are_created_opened_and_dropped(engine: Engine, db: Db) -> None:
    assert db.run("create database testdb with log").warnings == 5
    assert db.session.database == "testdb"  # the new one is the current one
    db.run("database stores_demo")
    assert db.fails("create database testdb").sqlcode == -330
    other = connect(engine, "testdb")
    assert other.session.locale == "en_US.819"
    other.run("create table t (a integer)")
    other.run("insert into t values (5)")
    assert db.rows("select a from testdb:t") == [(5,)]
    assert db.rows("select a from testdb@informix:informix.t") == [(5,)]
    assert db.fails("drop database testdb").sqlcode == -425
    assert other.fails("drop database testdb").sqlcode == -359
    other.session.close()
    db.run("drop database testdb")
    assert db.fails("select a from testdb:t").sqlcode == -329
    assert db.fails("database testdb").sqlcode == -329


def test_the_kind_of_a_database_is_told_when_it_is_opened(engine: Engine, db: Db) -> None:
    db.run("create database plain")
    db.run("create database strict with log mode ansi")
    session = engine.session("informix", {})
    assert [session.open_database(n) for n in ("stores_demo", "plain", "strict", "sysmaster")] == [5, 4, 7, 5]
    session.close()
    db.run("database stores_demo")
    db.run("drop database plain")
    db.run("drop database strict")


def test_statements_without_effect_are_accepted(db: Db) -> None:
    db.run("create table t (a integer)")
    for sql in (
        "set isolation to dirty read", "set isolation to committed read last committed", "set explain on",
        "set lock mode to wait 5", "set lock mode to not wait", "set pdqpriority 10", "update statistics",
        "update statistics for table t", "lock table t in exclusive mode", "unlock table t",
        "grant select on t to public",
    ):  # fmt: skip
        db.run(sql)
    assert db.fails("set nonsense to 1").sqlcode == -201
    assert db.fails("lock table nowhere in share mode").sqlcode == -206


def test_prepare_never_executes(db: Db) -> None:
    db.run("create table t (a integer)")
    for sql in ("begin work", "commit", "rollback work", "drop table t", "insert into t values (1)"):
        db.session.prepare(sql)
    assert db.rows("select a from t") == []
    assert not db.session.in_transaction


def test_a_prepared_statement_follows_a_changed_table(db: Db) -> None:
    db.run("create table t (a integer)")
    prepared = db.session.prepare("insert into t (a) values (?)")
    db.run("drop table t")
    db.run("create table t (z varchar(5), a smallint)")
    db.session.execute(prepared, (7,))
    assert db.rows("select a, z from t") == [(7, None)]
