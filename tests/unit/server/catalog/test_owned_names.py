"""MODE ANSI databases: owner.name is unique there, and not name. The statements are in tests/corpus, too."""

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
