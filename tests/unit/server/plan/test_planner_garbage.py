"""Planning leaves no reference cycles, which would keep its session alive until a garbage collection."""

from __future__ import annotations

import gc

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.plan.context import TranslationContext
from informix_arrow.server.plan.expressions import ExpressionTranslator
from informix_arrow.server.plan.queries import QueryTranslator
from informix_arrow.server.session.engine import Engine


@pytest.fixture
def db(fresh_engine: Engine) -> Db:
    db = connect(fresh_engine)
    db.run("create table t (a int primary key, b varchar(10), z int)")
    db.run("insert into t values (1, 'one', 9)")
    return db


def contexts() -> int:
    return sum(
        type(each) in (TranslationContext, ExpressionTranslator, QueryTranslator) for each in gc.get_objects()
    )


STATEMENTS = [
    "select a, b, z from t where a in (select a from t where z = 9) order by b",
    "select x.n, z from (select count(*) n from t) x, t",
    "select tabname, ncols from systables where tabid = 1 union select 'a', 1 from t",
    "select t.tabname, c.colname from systables t, syscolumns c where t.tabid = c.tabid and t.tabname = 'nothing'",
]
CHANGES = [
    "insert into t values (0 + 2, 'two', 9)",
    "insert into t select a + 5, b, z from t where a = 2",
    "update t set b = 'x' || b, z = (select max(z) from t) where a > 1",
    "delete from t where a > 1 and exists (select 1 from t u where u.a = t.a)",
    "create view v (a, b, z) as select a, b, z from t where a > 0",
    "drop view v",
    "alter table t modify (b varchar(20))",
    "create temp table c (a int check (a > 0), z int)",
    "drop table c",
    "create procedure p(x int) returning int; define y int; let y = x + 1; select z into y from t where a = x; "
    "update t set z = y where a = x; return y; end procedure",
    "drop procedure p",
]


def test_a_plan_s_context_goes_with_the_planning(db: Db) -> None:
    for sql in STATEMENTS:
        db.rows(sql)
    gc.collect()
    gc.disable()
    try:
        before = contexts()
        for sql in STATEMENTS:
            for blanks in range(3):  # a different text each time
                assert isinstance(db.rows(sql + " " * blanks), list)
            assert contexts() == before, sql
        for sql in CHANGES:
            db.run(sql)
            if sql.startswith("create procedure"):
                assert db.rows("execute procedure p(1)") == [(9,)]
            assert contexts() == before, sql
    finally:
        gc.enable()
