"""MODE ANSI databases, in which owner.name is unique, and not name. tests/corpus has tests of the statements, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.engine_session import open_session


@pytest.fixture
def db(fresh_engine: Engine) -> Iterator[Db]:
    session = connect(fresh_engine)
    session.run("create database an with log mode ansi")
    session.run("database an")
    session.run('create table "bob".t (a int)')
    session.run('create table "ann".t (a int, b int)')
    session.run('insert into "bob".t values (1)')
    session.run('insert into "ann".t values (2, 20)')
    session.run("grant connect to public")
    session.run('grant select on "bob".t to public')
    session.run('grant select on "ann".t to public')
    session.run("commit work")
    yield session
    session.session.close()


def opened(engine: Engine, user: str) -> Db:
    session = open_session(engine, user, {})
    session.open_database("an")
    return Db(session)


def test_a_name_without_owner_is_the_users_own_table_also_in_a_plan_that_sessions_share(
    fresh_engine: Engine, db: Db
) -> None:
    sql = "select * from t"
    ann, bob, zoe = (opened(fresh_engine, user) for user in ("ann", "bob", "zoe"))
    for _ in range(2):
        assert bob.rows(sql) == [(1,)]
        assert ann.rows(sql) == [(2, 20)]
        assert zoe.fails(sql).sqlcode == -206
        assert zoe.rows('select * from "ann".t') == [(2, 20)]
    for each in (ann, bob, zoe):
        each.session.close()


def test_a_view_reads_the_table_of_its_owner(fresh_engine: Engine, db: Db) -> None:
    ann, bob = opened(fresh_engine, "ann"), opened(fresh_engine, "bob")
    db.run("grant resource to ann")
    db.run("commit work")
    ann.run("create view v (b) as select b from t where b > 0")
    ann.run("create view w (b, at) as select b, current from t")
    ann.run("grant select on v to bob")
    ann.run("grant select on w to bob")
    ann.run("commit work")
    assert bob.rows('select b from "ann".v') == [(20,)]
    assert bob.rows('select b from "ann".w') == [(20,)]
    ann.session.close()
    bob.session.close()


def test_the_errors_name_a_table_as_the_statement_does(db: Db) -> None:
    assert db.fails('create table "ann".t (x int)').near == "t"
    assert db.fails('select * from "zoe".t').near == "t"
    assert db.fails('alter table "zoe".t add (x int)').near == "t"


def test_in_other_databases_the_owner_does_not_matter(db: Db) -> None:
    db.run("close database")
    db.run("database stores_demo")
    db.run('create table "bob".u (a int)')
    assert db.fails('create table "ann".u (a int)').sqlcode == -310
    assert db.rows('select * from "ann".u') == []
    assert db.rows('select a from an:"ann".t') == [(2,)]
    assert db.rows('select a from an:"bob".t') == [(1,)]


def test_the_system_catalog_needs_its_owner_but_for_informix(fresh_engine: Engine, db: Db) -> None:
    ann = opened(fresh_engine, "ann")
    assert ann.fails("select tabid from systables where tabid = 1").sqlcode == -206
    for owner in ('"informix"', "informix", "INFORMIX", "'informix'"):
        assert ann.rows(f"select tabid from {owner}.systables where tabid = 1") == [(1,)]
    assert db.rows("select tabid from systables where tabid = 1") == [(1,)]
    ann.session.close()


def test_a_routine_means_and_creates_the_objects_of_its_owner(fresh_engine: Engine, db: Db) -> None:
    ann, bob = opened(fresh_engine, "ann"), opened(fresh_engine, "bob")
    db.run("grant dba to ann")
    db.run("grant resource to bob")
    db.run("commit work")
    ann.run(
        "create function see() returning int; define v like t.b; select b into v from t; return v; end function"
    )
    ann.run("create procedure make() create table made (x int); insert into made values (5); end procedure")
    ann.run("create dba procedure make_own() create table own (x int); end procedure")
    for name in ("see", "make", "make_own"):
        ann.run(f"grant execute on {name} to bob")
    ann.run("commit work")
    assert bob.rows('execute function "ann".see()') == [(20,)]
    assert bob.fails("execute function see()").sqlcode == -674
    bob.run('execute procedure "ann".make()')
    bob.run('execute procedure "ann".make_own()')
    bob.run("commit work")
    assert ann.rows("select x from made") == [(5,)]
    assert bob.rows("select x from own") == []
    assert bob.fails("select x from made").sqlcode == -206
    ann.session.close()
    bob.session.close()


def test_only_a_dba_creates_objects_of_other_owners(fresh_engine: Engine, db: Db) -> None:
    db.run("grant resource to ann")
    db.run("commit work")
    ann = opened(fresh_engine, "ann")
    for statement in (
        'create table "bob".mine (x int)',
        'create sequence "bob".mine',
        'create procedure "bob".mine() end procedure',
        'create trigger "bob".mine delete on "ann".t before (delete from "bob".t)',
    ):
        assert ann.fails(statement).sqlcode == -389, statement
    ann.session.close()


def test_deferred_constraints_are_named_with_their_owner(db: Db) -> None:
    db.run('create table "bob".parent (a int primary key)')
    db.run('create table "bob".child (x int references "bob".parent constraint "bob".to_parent)')
    db.run("commit work")
    assert db.fails("set constraints to_parent deferred").sqlcode == -623
    db.run('set constraints "bob".to_parent deferred')
    db.run('insert into "bob".child values (1)')
    db.run('insert into "bob".parent values (1)')
    db.run("commit work")
    assert db.rows('select x from "bob".child') == [(1,)]
