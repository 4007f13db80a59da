"""Calls of routines: where and by which names, other forms of a call, rows in FROM, types of two words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.session.engine import Engine

DATABASE = "stores_demo"


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture(scope="module")
def db(engine: Engine) -> Db:
    """A session in a database with a table and routines that no test changes."""
    db = connect(engine, DATABASE)
    db.run("create table t (id integer primary key, b varchar(10), tail integer)")
    for row in ((1, "one", 77), (2, "two", 78), (3, None, 79)):
        db.run("insert into t values (?, ?, ?)", *row)
    db.run("create function twice(n int) returning int; return n * 2; end function")
    db.run(
        "create function several(n int) returning int as i, varchar(20) as s, decimal(16) as d, date as e; "
        "define i int;"
        "for i = 1 to n step 1 if i = 2 then return i, null, null, null with resume; else "
        """return i, 'no "' || i || ''',', i / 4, mdy(3, i, 2024) with resume; end if; end for end function"""
    )
    db.run("create procedure silent() define i int; let i = 1; end procedure")
    return db


@pytest.mark.parametrize(
    "call", ["twice(3)", "informix.twice(3)", "stores_demo:twice(3)", "stores_demo:informix.twice(3)"]
)
def test_a_routine_is_called_with_its_owner_and_its_database(db: Db, call: str) -> None:
    assert db.value(f"execute function {call}") == 6
    assert db.rows(f"select {call} + id, tail from t where id = {call} - 4") == [(8, 78)]
    db.run(f"create function caller() returning int; define r int; let r = {call}; return r; end function")
    db.run(
        f"create function other() returning int; define r int; call {call} returning r; return r; end function"
    )
    try:
        assert (db.value("execute function caller()"), db.value("execute function other()")) == (6, 6)
    finally:
        db.run("drop function caller")
        db.run("drop function other")


@pytest.fixture(scope="module")
def there(engine: Engine, db: Db) -> Iterator[Db]:
    """Another database, with a table and routines of the same names."""
    engine.create_database("elsewhere", ("log",), "en_US.57372")
    there = connect(engine, "elsewhere")
    there.run("create table t (id integer, who varchar(10))")
    there.run("insert into t values (100, 'there')")
    there.run("create function twice(n int) returning int; return n * 200; end function")
    there.run(
        "create function inner(n int) returning int; define r int; let r = twice(n); return r; end function"
    )
    there.run(
        "create function rows_of(n int) returning int as id, varchar(10) as who, int as most; define i, m int; "
        "define w varchar(10); foreach select id, who into i, w from t where id >= n "
        "select max(id) into m from stores_demo:t; return i, w, m with resume; end foreach; end function"
    )
    there.run("create procedure add(n int) insert into t values (n, 'added'); end procedure")
    yield there
    there.session.close()


def test_a_routine_of_another_database_has_that_one_s_tables_and_routines(db: Db, there: Db) -> None:
    assert db.value("execute function elsewhere:twice(3)") == 600
    assert db.value("execute function elsewhere:informix.inner(?)", 3) == 600
    assert db.value("execute function twice(3)") == 6
    assert db.value("execute function elsewhere:twice((select max(id) from t))") == 600  # t of the caller
    assert db.rows("execute function elsewhere:rows_of(n = 1)") == [(100, "there", 3)]
    db.run("begin work")
    db.run("execute procedure elsewhere:add(101)")
    assert db.rows("select id from elsewhere:t order by id") == [(100,), (101,)]
    assert db.rows("execute function elsewhere:rows_of(101)") == [(101, "added", 3)]
    db.run("rollback work")
    assert there.rows("select id from t") == [(100,)]
    assert db.value("select count(*) from t") == 3
    assert db.session.database == DATABASE


def test_spl_calls_routines_of_another_database(db: Db, there: Db) -> None:
    db.run(
        "create function both(n int) returning int, int; define a, b int; "
        "call elsewhere:inner(n) returning a; call twice(n) returning b; return a, b; end function"
    )
    assert db.rows("execute function both(5)") == [(1000, 10)]
    assert there.rows("execute function stores_demo:both(5)") == [(1000, 10)]
    db.run("drop function both")
    assert there.fails("execute function stores_demo:both(5)").sqlcode == -674


def test_what_is_wrong_with_a_routine_elsewhere_is_said_and_the_session_stays_where_it_is(
    engine: Engine, db: Db, there: Db
) -> None:
    there.run("create procedure wrong() raise exception -746, 0, 'no'; end procedure")
    assert db.fails("execute procedure elsewhere:wrong()").sqlcode == -746
    assert db.fails("execute function elsewhere:several(3)").sqlcode == -674
    assert db.fails("execute function nowhere:twice(3)").sqlcode == -329
    engine.create_database("unlogged", (), "en_US.57372")
    assert db.fails("execute function unlogged:twice(3)").sqlcode == -201
    problem = db.fails("select elsewhere:informix.twice(id) from t")
    assert (problem.sqlcode, problem.near) == (-201, "a routine of another database, elsewhere")
    assert db.session.database == DATABASE
    assert db.value("execute function twice(3)") == 6


def test_the_rows_of_a_routine_in_from(db: Db) -> None:
    found = [(1, "no \"1',", "0.25"), (2, None, None), (3, "no \"3',", "0.75")]
    assert db.rows("select i, s, d from table(function several(3))") == found
    assert db.types("select * from table(several(?))") == [
        ("i", "INTEGER"), ("s", "VARCHAR(20)"), ("d", "DECIMAL(16)"), ("e", "DATE")
    ]  # fmt: skip
    assert [str(row[0]) for row in db.rows("select e from table(several(?)) x where i = 1", 2)] == [
        "2024-03-01"
    ]
    assert db.rows("select x, tail from table(informix.twice(1)) as q(x), t where t.id = x") == [(2, 78)]
    assert db.rows("select t.id, q.s from t left join table(several(1)) q on q.i = t.id order by 1") == [
        (1, 'no "1\','), (2, None), (3, None)
    ]  # fmt: skip


def test_the_rows_of_a_routine_inside_another(db: Db) -> None:
    db.run(
        "create function total(n int) returning int; define k int; "
        "select sum(i) into k from table(several(n)); return k; end function"
    )
    try:
        assert [db.value("execute function total(?)", n) for n in (1, 4)] == [1, 10]
    finally:
        db.run("drop function total")


def test_what_cannot_stand_in_from(db: Db) -> None:
    assert db.fails("select * from table(silent())").sqlcode == -656
    assert db.fails("select * from table(nowhere(1))").sqlcode == -674
    assert "view" in db.fails("create view v as select * from table(several(1)) q").near


def test_double_precision_is_one_type_of_two_words(db: Db) -> None:
    assert db.rows(
        "select id::double precision / 4, cast(tail as double  precision), id from t where id = 1"
    ) == [(0.25, 77.0, 1)]
    db.run("create temp table floats (a double precision, b double\nprecision default 1.5, tail integer)")
    assert [t for _, t in db.types("select * from floats")] == ["FLOAT", "FLOAT", "INTEGER"]
    db.run(
        "create function half(a double precision) returning double precision; define b double precision; "
        "let b = a / 2; return b::double precision; end function"
    )
    assert db.value("execute function half(?)", 3.0) == 1.5
    db.run("drop function half")


def test_catalogue_functions_list_the_types_of_a_routine(db: Db) -> None:
    procid = db.value("select procid from sysprocedures where procname = 'several'")
    assert db.rows(
        f"select ifx_param_types({procid}), stores_demo:ifx_ret_types({procid}), ifx_param_types(1) "
        "from systables where tabid = 1"
    ) == [("integer", "integer,varchar,decimal,date", "")]
