"""Where routines can be called from, and under which names: other forms of a call, rows in FROM, types in two words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from informix_arrow.server.engine import Engine

from .engine_support import Db, connect, open_engine

DATABASE = "stores_demo"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    yield from open_engine()


@pytest.fixture(scope="module")
def db(engine: Engine) -> Db:
    """A table and routines that no test changes."""
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


@pytest.mark.parametrize(
    "sql", ["execute function sysmaster:twice(3)", "select sysmaster:informix.twice(id) from t"]
)
def test_a_routine_of_another_database_is_refused_by_name(db: Db, sql: str) -> None:
    problem = db.fails(sql)
    assert (problem.sqlcode, problem.near) == (-201, "a routine of another database, sysmaster")


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
