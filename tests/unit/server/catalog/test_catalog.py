"""DDL and the catalogue: the catalogue describes created objects under the names that clients use."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.server.sql_session import VERSION, Copies, Db, connect

from informix_arrow.server.routines.session_routines import SplLibrary
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.engine_session import open_session

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


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
    text = "select viewtext from sysviews v, systables t where v.tabid = t.tabid and seqno = 0"
    assert db.value(text).startswith('create view "informix".v (x, total) as ')


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
    assert db.session.database == "testdb"  # CREATE DATABASE makes it the current one
    db.run("database stores_demo")
    assert db.fails("create database testdb").sqlcode == -330
    other = connect(engine, "testdb")
    assert other.session.environment.locale == "en_US.819"
    other.run("create table t (a integer)")
    other.run("insert into t values (5)")
    assert db.rows("select a from testdb:t") == [(5,)]
    assert db.rows("select a from testdb@informix:informix.t") == [(5,)]
    for sql in ("select a from testdb@elsewhere:t", "delete from testdb@elsewhere:t where a = 5"):
        error = db.fails(sql)
        assert (error.sqlcode, error.near) == (-908, "elsewhere")
    assert db.rows("select a from testdb@informix:t") == [(5,)]
    assert db.fails("drop database testdb").sqlcode == -425
    assert other.fails("drop database testdb").sqlcode == -359
    other.session.close()
    db.run("drop database testdb")
    assert db.fails("select a from testdb:t").sqlcode == -329
    assert db.fails("database testdb").sqlcode == -329


def test_a_renamed_database_has_all_that_it_had(engine: Engine, db: Db) -> None:
    db.run("create database before with log")
    db.run("create table t (k serial primary key, a varchar(20) check (a <> 'before:t'), c clob)")
    db.run("insert into t values (7, 'one', null)")
    db.run("insert into t values (0, 'two', null)")
    db.run("delete from t where k = 8")
    db.run("create index backwards on t (a desc)")
    db.run("create view v (k, said) as select k, 'before:t ' || a from before:informix.t where k > 0")
    db.run("create view w (k) as select k from v -- of before:v")
    db.run("create synonym s for t")
    db.run("create sequence q start with 5")
    assert db.value("select q.nextval from sysmaster:sysdual") == 5
    other = connect(engine, "stores_demo")
    assert db.fails("rename database before to after").sqlcode == -359
    assert other.fails("rename database before to after").sqlcode == -425
    db.run("database stores_demo")
    db.run("rename database before to after")
    assert other.fails("select k from before:t").sqlcode == -329
    db.run("database after")
    assert db.rows("select k, said from v") == [(7, "before:t one")]
    assert db.rows("select k from w") == db.rows("select k from s") == [(7,)]
    view = "select v.viewtext from sysviews v, systables t where t.tabid = v.tabid and t.tabname = 'v' order by v.seqno"
    assert "".join(piece.ljust(64) for (piece,) in db.rows(view)).rstrip() == (
        "create view \"informix\".v (k, said) as select k, 'before:t ' || a from after:informix.t where k > 0"
    )
    assert db.value("select q.nextval from sysmaster:sysdual") == 6
    assert db.run("insert into t values (0, 'three', null)").serial == 9
    assert db.fails("insert into t values (9, 'four', null)").sqlcode == -268
    assert db.fails("insert into t values (10, 'before:t', null)").sqlcode == -530
    db.run("delete from v where k = 7")
    assert db.rows("select k, a from t order by k") == [(9, "three")]
    assert db.value("select count(*) from sysindexes where idxname = 'backwards' and part1 = -2") == 1
    assert db.rows("select dbsname from sysmaster:systabnames where tabname = 't'") == [("after",)]
    db.run("drop table t")
    assert db.value("select count(*) from systables where tabid >= 100 and tabtype <> 'Q'") == 0
    db.run("database stores_demo")
    db.run("drop database after")
    other.session.close()


def test_what_cannot_be_renamed_stays_as_it_is(engine: Engine, db: Db) -> None:
    engine.create_database("one", ("log",), "en_US.57372")
    engine.create_database("two", ("log",), "en_US.57372")
    assert db.fails("rename database none to three").sqlcode == -329
    assert db.fails("rename database one to two").sqlcode == -330
    reader = connect(engine, "sysmaster")  # the same for a reader in another database
    assert db.fails("rename database sysmaster to master").sqlcode == -389
    assert db.fails("drop database sysmaster").sqlcode == -389
    reader.session.close()
    for name in ('"a b"', "'../x'", "1a"):
        assert db.fails(f"rename database one to {name}").sqlcode in (-201, -354)
    db.run("begin work")
    assert db.fails("rename database one to three").sqlcode == -535
    db.run("rollback work")
    writer = connect(engine, "one")
    writer.run("create table t (a int)")
    writer.run("database stores_demo")
    writer.run("begin work")
    writer.run("insert into one:t values (1)")
    assert db.fails("rename database one to three").sqlcode == -425
    writer.run("commit work")
    db.run("rename database informix.one to three")
    assert writer.rows("select a from three:t") == [(1,)]
    assert sorted(db.session.engine.databases.names()) == ["stores_demo", "sysmaster", "three", "two"]


def test_the_kind_of_a_database_is_reported_when_it_is_opened(engine: Engine, db: Db) -> None:
    db.run("create database plain")
    db.run("create database strict with log mode ansi")
    session = open_session(engine, "informix", {})
    assert [session.open_database(n) for n in ("stores_demo", "plain", "strict", "sysmaster")] == [5, 4, 7, 5]
    session.close()
    for locale, warnings in (("en_us.utf8", 5), ("en_US.57372", 5), ("en_US.819", 0x45), ("klingon", 0x45)):
        session = open_session(engine, "informix", {"DB_LOCALE": locale})
        assert session.open_database("stores_demo") == warnings
        session.close()
    db.run("database stores_demo")
    db.run("drop database plain")
    db.run("drop database strict")


def test_statements_without_effect_are_accepted(db: Db) -> None:
    db.run("create table t (a integer)")
    for sql in (
        "set isolation to dirty read", "set isolation to committed read last committed", "set explain on",
        "set lock mode to wait 5", "set lock mode to not wait", "set pdqpriority 10", "update statistics",
        "update statistics for table t", "grant select on t to public",
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


def test_references_name_the_key_that_they_mean_and_have_an_index_of_their_own(db: Db) -> None:
    db.run(
        "create table p (a integer not null, b integer not null, c integer, primary key (b, a) constraint pk1, "
        "unique (c) constraint u1)"
    )
    db.run(
        "create table q (x integer, y integer, z integer, foreign key (y, x) references p constraint fk1, "
        "foreign key (z) references p (c) constraint fk2)"
    )
    assert db.rows(
        "select k.constrname, o.constrname, i.part1, i.part2, i.idxtype, r.delrule "
        "from sysconstraints k, sysreferences r, sysconstraints o, sysindexes i "
        "where r.constrid = k.constrid and o.constrid = r.primary and "
        "i.idxname = k.idxname and i.tabid = k.tabid order by 1"
    ) == [("fk1", "pk1", 2, 1, "D", "R"), ("fk2", "u1", 3, 0, "D", "R")]
    assert db.value("select nindexes from systables where tabname = 'q'") == 2


def test_sysindices_writes_its_keys_as_lvarchar_shows_them(db: Db) -> None:
    db.run("create table t (a integer, b integer, c integer)")
    db.run("create index t_i on t (c desc, a)")
    assert db.value("select indexkeys from sysindices where idxname = 't_i'") == "-3 [1], 1 [1]"


def test_checks_and_views_are_kept_in_pieces_and_defaults_with_their_stored_form(db: Db) -> None:
    db.run(
        "create table t (a integer default -7, b varchar(9) default 'x  y', c date default today, d decimal(8,2) "
        "default 1.50, check (a > -8 and a < 1000000 and a <> 123456789) constraint t_check)"
    )
    pieces = db.rows("select seqno, checktext from syschecks order by seqno")
    assert [number for number, _ in pieces] == list(range(len(pieces)))
    assert len(pieces) > 1
    assert "".join(text.ljust(32) for _, text in pieces).strip().startswith("(a > -8 and")
    found = {
        number: (kind, text)
        for number, kind, text in db.rows("select colno, type, d.default from sysdefaults d")
    }
    assert found[2] == ("L", "x  y")
    assert found[3] == ("T", None)
    for number, text in ((1, "-7"), (4, "1.50")):
        assert found[number][1].partition(" ")[0] != ""
        assert found[number][1].partition(" ")[2] == text


@parametrize_in_one_test(
    "table",
    [
        "sysfragments", "syssyntable", "sysusers", "systabauth", "syscolauth", "sysinherits", "sysattrtypes",
        "sysprocedures", "sysprocbody", "sysproccolumns", "sysmaster:sysenv", "sysmaster:syslogs",
        "sysmaster:systabnames", "sysmaster:syssessions", "systables", "syscoldepend", "syssynonyms", "systriggers",
        "systrigbody", "sysobjstate", "sysdistrib", "sysroleauth", "sysviolations", "sysblobs", "sysams",
        "sysroutinelangs", "syscasts", "sysaggregates", "sysxtddesc", "sysprocplan", "sysfragauth", "sysdirectives",
        "sysmaster:sysdbspaces", "sysmaster:syschunks", "sysmaster:sysconfig", "sysmaster:syslocks",
    ],
)  # fmt: skip
def test_every_catalogue_table_can_be_read_whole(db: Db, table: str) -> None:
    assert len(db.types(f"select * from {table}")) >= 3
    db.rows(f"select * from {table}")


def test_not_null_and_check_constraints_name_their_columns(db: Db) -> None:
    db.run(
        "create table t (a integer not null, b_$ integer, c varchar(20), check (a > 1 and B_$ < a) constraint k1, "
        "check (c <> 'a b_$' and c <> \"a\") constraint k2, check (1 = 1) constraint k3, d serial)"
    )
    assert db.rows(
        "select k.constrtype, c.colname from sysconstraints k, syscoldepend d, syscolumns c, systables t "
        "where t.tabname = 't' and k.tabid = t.tabid and d.constrid = k.constrid and d.tabid = t.tabid and "
        "c.tabid = t.tabid and c.colno = d.colno order by 1, 2"
    ) == [("C", "a"), ("C", "b_$"), ("C", "c"), ("N", "a"), ("N", "d")]
    numbers = [number for (number,) in db.rows("select constrid from sysconstraints")]
    assert len(set(numbers)) == len(numbers) == 5


def test_texts_of_the_catalogue_are_cut_between_characters_and_lose_none(db: Db) -> None:
    text = "ä€x𝄞" * 400
    db.run(f"create table t (a nvarchar(20), check (a <> '{text}') constraint k)")
    db.run(f"create view v as select a, '{text}' as b from t")
    for table, column, size in (("syschecks", "checktext", 32), ("sysviews", "viewtext", 64)):
        pieces = db.rows(f"select seqno, {column} from {table} order by 1")
        assert [number for number, _ in pieces] == list(range(len(pieces)))
        assert max(len(piece.encode()) for _, piece in pieces) <= size
        assert f"'{text}'" in "".join(piece for _, piece in pieces)


def test_parts_of_types_within_types_are_reported_below_them(db: Db) -> None:
    db.run("create table t (c set(row(a integer, b list(smallint not null)) not null))")
    assert db.rows(
        "select a.seqno, a.levelno, a.parent_no, a.fieldname, mod(a.type, 256) from sysattrtypes a, syscolumns c, "
        "systables t where t.tabname = 't' and c.tabid = t.tabid and a.extended_id = c.extended_id order by 1"
    ) == [(1, 1, 0, None, 22), (2, 2, 1, "a", 2), (3, 2, 1, "b", 21), (4, 3, 3, None, 1)]


def test_sysmaster_knows_sessions_and_the_tables_of_all_databases(engine: Engine, db: Db) -> None:
    other = connect(engine)
    sids = {sid for (sid,) in db.rows("select sid from sysmaster:syssessions where username = 'informix'")}
    assert {db.session.session_id, other.session.session_id} <= sids
    other.session.close()
    sids = {sid for (sid,) in db.rows("select sid from sysmaster:syssessions")}
    assert other.session.session_id not in sids
    db.run("create table t (a integer)")
    named = "select count(*) from sysmaster:systabnames where tabname = 't' and dbsname = 'stores_demo'"
    assert db.value(named) == 1


def test_the_log_is_what_duckdb_has_written_ahead(tmp_path: Path, db: Db) -> None:
    query = "select number, uniqid, used, is_current, flags, size from sysmaster:syslogs"
    assert db.rows(query) == [(1, 1, 0, 1, 3, 8192)]
    kept = Engine(tmp_path, "informix", VERSION, SplLibrary())
    other = connect(kept)
    other.run("create table t (a lvarchar(3000))")
    before = other.value("select used from sysmaster:syslogfil")
    other.many("insert into t values (?)", [(f"{n}" * 2000,) for n in range(9)])
    assert (
        other.value("select l.used from sysmaster:syslogfil l, sysmaster:syslogs s where s.used = l.used")
        > before
    )
    other.session.close()
    kept.close()


def test_the_catalogue_of_an_older_server_is_made_anew(tmp_path: Path) -> None:
    first = Engine(tmp_path, "informix", VERSION, SplLibrary())
    db = connect(first)
    db.run("create table kept (a integer, b varchar(5) not null, unique (b, a) constraint pair)")
    db.run("create index falling on kept (a desc)")
    db.run("insert into kept values (7, 'x')")
    keys = "select constrname, owner, constrtype, idxname from sysconstraints where tabid >= 100 order by 1"
    parts = "part1, part2, part3, part16"
    indexes = f"select idxname, owner, idxtype, {parts} from sysindexes where tabid >= 100 order by 1"
    before = db.rows(keys), db.rows(indexes)
    assert [row[0] for row in before[0]][1] == "pair"
    assert [row[3:] for row in before[1]] == [(2, 1, 0, 0), (-1, 0, 0, 0)]
    hidden = '"d_stores_demo"._ifx.tables'
    db.session.transaction.con.execute(f"UPDATE {hidden} SET viewtext = 'older' WHERE tabname = ' VERSION'")
    db.session.transaction.con.execute(f"DELETE FROM {hidden} WHERE tabname = 'sysindices'")
    db.session.close()
    first.close()
    second = Engine(tmp_path, "informix", VERSION, SplLibrary())
    db = connect(second)
    assert db.rows("select * from kept") == [(7, "x")]
    assert (db.rows(keys), db.rows(indexes)) == before
    assert db.value("select ncols from systables where tabname = 'kept'") == 2
    assert db.value("select count(*) from sysindices where tabid < 100") == 0
    assert db.value("select count(*) from systables where tabname = 'syscolumns'") == 1
    db.session.close()
    second.close()


def test_a_view_over_the_catalogue_is_there_after_a_restart(tmp_path: Path) -> None:
    first = Engine(tmp_path, "informix", VERSION, SplLibrary())
    db = connect(first)
    db.run("create table kept (a integer, b varchar(5))")
    db.run("create view widths (t, n) as select tabname, ncols from systables where tabid >= 100")
    db.session.close()
    first.close()
    second = Engine(tmp_path, "informix", VERSION, SplLibrary())
    db = connect(second)
    assert db.rows("select n, t from widths where t = 'kept'") == [(2, "kept")]
    assert db.rows("select s.tabname, s.tabtype from systables s, widths w where s.tabname = w.t and w.n = 2") == [
        ("kept", "T"), ("widths", "V"),
    ]  # fmt: skip
    db.session.close()
    second.close()


@pytest.mark.parametrize("name", ["later", "größer"])
def test_systabnames_has_the_tables_of_databases_made_after_the_statement(name: str) -> None:
    engine = Engine(None, "informix", VERSION, SplLibrary())
    db = connect(engine)
    asked = "select count(*) c, min(tabname) t from sysmaster:systabnames where dbsname = ?"
    assert db.rows(asked, name) == [(0, None)]
    engine.create_database(name, ("log",), "en_US.utf8")
    other = connect(engine, name)
    other.run("create table aaa (a integer, b char(3))")
    other.session.close()
    assert (
        db.value("select count(*) from sysmaster:systabnames where tabname = 'aaa' and dbsname = ?", name)
        == 1
    )
    assert db.rows(asked, name)[0][1] == "aaa"
    engine.drop_database(name)
    assert db.rows(asked, name) == [(0, None)]
    db.session.close()
    engine.close()


WORD = (
    "select {0} from syscolumns c, systables t where c.tabid = t.tabid and t.tabname = 't' order by c.colno"
)


def test_the_routines_that_jdbc_calls_read_type_words(db: Db) -> None:
    db.run("create distinct type euro as decimal(8,2)")
    db.run(
        "create table t (a serial, b varchar(200,150) not null, c decimal(8,2) default 3.5, d euro, e boolean)"
    )
    call = "schema_coltypename(c.coltype, c.extended_id), "
    call += "informix.schema_precision(c.coltype, c.extended_id, c.collength)"
    assert db.rows(WORD.format(call)) == [
        ("serial", 10), ("varchar", 200), ("decimal", 8), ("euro", 8), ("boolean", 1),
    ]  # fmt: skip
    call = (
        "get_data_type(c.coltype, c.extended_id, 0), schema_nullable(c.coltype), schema_isautoincr(c.coltype)"
    )
    assert db.rows(WORD.format(call)) == [
        (4, "NO", "YES"), (12, "NO", "NO"), (3, "YES", "NO"), (2001, "YES", "NO"), (16, "YES", "NO"),
    ]  # fmt: skip
    call = "schema_numscale(c.coltype, c.collength), schema_numprecradix(c.coltype), schema_isnullable(c.coltype)"
    assert db.rows(WORD.format(call))[:3] == [(0, 10, 0), (None, None, 0), (2, 10, 1)]
    db.run("drop table t")
    db.run("drop type euro restrict")
    db.run("create table t (a integer)")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select TABNAME, TabId from SYSTABLES where TABID = 1", [("systables", 1)]),
        ("select s.tabname[1,3] from systables s where s.tabid = 1", [("sys",)]),
        ("select owner::char(8) from systables where tabid = 1 and tabtype = 'T'", [("informix",)]),
        (
            "select t.tabname from systables t where t.tabid = 1 and exists "
            "(select 1 from syscolumns c where c.tabid = t.tabid and c.colno = t.ncols)",
            [("systables",)],
        ),
        (
            "select first 1 tabname from systables where (tabid, tabtype) in "
            "(select tabid, 'T' from systables where fextsize > 0) order by tabid",
            [("systables",)],
        ),
        ("select max(nindexes) >= 0, sum(nrows) from systables where tabid = 1 group by tabtype", [(True, 0.0)]),
        ("select nvl(dbname, 'x')::char(1) from systables where tabid = 1 order by created", [("x",)]),
    ],
)  # fmt: skip
def test_statements_get_the_columns_of_systables_that_they_name(
    db: Db, sql: str, expected: list[object]
) -> None:
    """Only these columns are read, wherever in the statement they are."""
    assert db.rows(sql) == expected


def test_a_star_gets_all_columns_of_systables(db: Db) -> None:
    names = [name for name, _ in db.types("select * from systables")]
    assert [name for name, _ in db.types("select t.* from systables t where tabid = 1")] == names
    assert {"tabname", "rowsize", "ncols", "nindexes", "statlevel"} <= set(names)
    assert len(db.rows("select * from systables")) == int(db.value("select count(*) from systables"))


def test_syslocks_reports_who_holds_and_who_waits_for_what(engine: Engine, db: Db) -> None:
    db.run("create table held (a integer primary key, b integer)")
    db.run("insert into held values (1, 1)")
    holder, waiter = connect(engine), connect(engine)
    holder.run("begin work")
    holder.run("update held set b = 2 where a = 1")
    asked = "select type, rowidlk, owner, waiter from sysmaster:syslocks where tabname = 'held' order by type"
    mine = holder.session.session_id
    assert db.rows(asked) == [("IX", 0, mine, None), ("X", None, mine, None)]
    waiter.run("set lock mode to wait 60")
    waiting = threading.Thread(target=waiter.run, args=("update held set b = 3 where a = 1",))
    waiting.start()
    end = time.monotonic() + 30
    while not (found := db.rows(f"select waiter from ({asked.partition(' order')[0]}) l where waiter > 0")):
        assert time.monotonic() < end
    holder.run("rollback work")
    waiting.join(60)
    assert {w for (w,) in found} == {waiter.session.session_id}
    assert db.rows(asked) == []


def test_the_space_of_the_databases_and_the_configuration(engine: Engine, db: Db) -> None:
    assert db.rows(
        "select trim(d.name), c.chknum from sysmaster:sysdbspaces d, sysmaster:syschunks c where c.dbsnum = d.dbsnum"
    ) == [("rootdbs", 1)]
    asked = "select trim(cf_effective) from sysmaster:sysconfig where cf_name = 'DBSERVERNAME'"
    assert db.value(asked) == engine.server_name
    db.run("create table papers (a integer, b text, c byte)")
    assert db.rows(
        "select b.colno, b.type from sysblobs b, systables t where t.tabid = b.tabid order by 1"
    ) == [
        (2, "M"),
        (3, "M"),
    ]


def test_sysenv_names_the_server(engine: Engine) -> None:
    db = connect(engine, "sysmaster")
    asked = "select env_value, env_id from sysmaster:sysenv where env_name = 'INFORMIXSERVER'"
    assert db.rows(asked) == [("informix", 3)]


def test_the_scale_of_a_floating_decimal_is_255_for_the_driver(engine: Engine) -> None:
    db = connect(engine)
    db.run("create table scales (a decimal(16), b decimal(16,0), c decimal(9,4), d money, tail int)")
    asked = (
        "select schema_numscale(coltype, collength) from syscolumns c, systables t "
        "where c.tabid = t.tabid and tabname = 'scales' order by colno"
    )
    assert db.rows(asked) == [(255,), (0,), (4,), (2,), (0,)]
    db.run("drop table scales")


def test_systabinfo_reports_the_rows_and_the_size_of_each_table_of_each_database() -> None:
    engine = Engine(None, "informix", VERSION, SplLibrary())
    db = connect(engine)
    engine.create_database("second", ("log",), "en_US.utf8")
    other = connect(engine, "second")
    for session, rows in ((db, 300), (other, 5)):
        session.run("create table sized (a integer primary key, b char(96), tail integer) lock mode row")
        session.many("insert into sized values (?, 'x', 77)", [(n,) for n in range(rows)])
    asked = (
        "select n.dbsname, i.ti_nrows, i.ti_rowsize, i.ti_ncols, i.ti_nkeys, i.ti_npused * i.ti_pagesize size, "
        "i.ti_nptotal, i.ti_flags from sysmaster:systabnames n, sysmaster:systabinfo i "
        "where n.partnum = i.ti_partnum and n.tabname = 'sized' order by 1"
    )
    found = db.rows(asked)
    assert [row[:5] for row in found] == [("second", 5, 104, 3, 1), ("stores_demo", 300, 104, 3, 1)]
    for row in found:
        assert row[1] * row[2] <= row[5] < row[1] * row[2] + 2048
        assert row[6] * 2048 >= row[5]
        assert row[7] == 2  # row locks
    of_both = "select count(*), count(distinct partnum) from sysmaster:systabnames"
    assert len(set(db.rows(of_both)[0])) == 1
    own = "select i.ti_nrows from systables t, sysmaster:systabinfo i where t.partnum = i.ti_partnum and tabname = ?"
    assert (db.rows(own, "sized"), other.rows(own, "sized")) == ([(300,)], [(5,)])
    other.session.close()
    engine.rename_database("second", "aaa")
    assert [row[:2] for row in db.rows(asked)] == [("aaa", 5), ("stores_demo", 300)]
    engine.close()


def test_sysptnhdr_reports_whose_rows_are_logged_in_full(engine: Engine, db: Db) -> None:
    engine.create_database("second", ("log",), "en_US.utf8")
    other = connect(engine, "second")
    for session in (db, other):
        session.run("create table snooped (a integer, tail integer) lock mode row")
        session.run("create table plain (a integer, tail integer) lock mode row")
    asked = (
        "select n.dbsname, n.tabname, p.flags, i.ti_flags, p.lockid from sysmaster:systabnames n, "
        "sysmaster:sysptnhdr p, sysmaster:systabinfo i where n.partnum = p.partnum and p.partnum = i.ti_partnum "
        "and n.tabname in ('snooped', 'plain') order by 1, 2"
    )

    def flags() -> list[tuple[object, ...]]:
        found = db.rows(asked)
        assert all(row[2] == row[3] for row in found)
        return [row[:3] for row in found]

    off = [(name, table, 2) for name in ("second", "stores_demo") for table in ("plain", "snooped")]
    assert flags() == off
    info = other.session.find_table(None, "snooped")
    assert info is not None
    engine.set_full_logging("second", info.tabid, True)
    assert flags() == [*off[:1], ("second", "snooped", 0x04000002), *off[2:]]
    bit = "select count(*) from sysmaster:sysptnhdr where bitand(flags, 67108864) > 0"
    assert db.value(bit) == 1
    engine.set_full_logging("second", info.tabid, False)
    assert flags() == off
    assert db.value(bit) == 0
    other.session.close()


def test_fragments_have_a_partn_each_and_no_row_ids(db: Db) -> None:
    db.run("create table f_two (a integer, tail integer) fragment by round robin in dbs1, dbs2")
    db.run("create table f_none (a integer, tail integer)")
    db.run("insert into f_two values (1, 7)")
    db.run("insert into f_none values (1, 7)")
    of_two = "sysfragments f, systables t where f.tabid = t.tabid and tabname = 'f_two'"
    found = db.rows(f"select f.partn, f.dbspace from {of_two}")
    assert sorted(space for _, space in found) == ["dbs1", "dbs2"]
    others = db.rows("select partnum from systables where tabname <> 'f_two'")
    assert len({partn for partn, _ in found}) == 2
    assert not {partn for partn, _ in found} & {partnum for (partnum,) in others}
    for sql in ("select rowid, tail from f_two", "delete from f_two where rowid = 257"):
        assert db.fails(sql).sqlcode == -857
    assert db.rows("select rowid, tail from f_none") == [(257, 7)]


def test_a_partn_is_that_of_one_fragment_of_the_whole_server(tmp_path: Path) -> None:
    kept = Engine(tmp_path, "informix", VERSION, SplLibrary())
    kept.create_database("second", ("log",), "en_US.utf8")

    def numbers(engine: Engine) -> list[int]:
        """Return the numbers of all fragments, and of all tables without fragments."""
        found: list[int] = []
        for database in ("stores_demo", "second"):
            db = connect(engine, database)
            found += [n for (n,) in db.rows("select partn from sysfragments")]
            whole = "tabtype = 'T' and tabid >= 100 and tabid not in (select tabid from sysfragments)"
            found += [n for (n,) in db.rows(f"select partnum from systables where {whole}")]
            db.session.close()
        return found

    def make(engine: Engine, name: str) -> None:
        for database in ("stores_demo", "second"):
            db = connect(engine, database)
            db.run(f"create table {name} (a int, tail int) fragment by round robin in dbs1, dbs2, dbs3")
            db.run(f"create table {name}_whole (a int, tail int)")
            db.session.close()

    make(kept, "one")
    make(kept, "two")
    before = numbers(kept)
    assert len(before) == len(set(before)) == 16
    kept.close()
    again = Engine(tmp_path, "informix", VERSION, SplLibrary())
    assert numbers(again) == before
    make(again, "three")
    after = numbers(again)
    assert len(after) == len(set(after)) == 24
    assert set(before) < set(after)
    again.close()
