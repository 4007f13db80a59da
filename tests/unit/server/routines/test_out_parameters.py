"""OUT and INOUT parameters: between routines, and in queries as variables of the statement."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.session.engine import Engine


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture
def db(engine: Engine) -> Iterator[Db]:
    """A session with a table `t` of the rows (1, 'one', 71), (2, NULL, 72) and (3, 'é', 73), and a function with OUT
    parameters."""
    db = connect(engine)
    db.run("create table t (id integer, b varchar(10), tail integer)")
    for row in ((1, "one", 71), (2, None, 72), (3, "é", 73)):
        db.run("insert into t values (?, ?, ?)", *row)
    db.run(
        "create function split(n int, out tens decimal(8,2), out words varchar(20)) returning int; "
        "if n <> 2 then let tens = n * 10.5; let words = 'n' || n; end if return n + 1; end function"
    )
    yield db
    for name, types in db.rows("select procname, paramtypes from sysprocedures"):
        db.run(f"drop routine {name}({types})")
    db.run("drop table t")
    db.session.close()


def test_what_a_function_gives_its_out_parameters_can_be_selected(db: Db) -> None:
    sql = "select id, x, y, tail from t where split(id, x # decimal(8,2), y # varchar(20)) < 10 order by id"
    assert db.types(sql)[1:3] == [("x", "DECIMAL(8,2)"), ("y", "VARCHAR(20)")]
    assert db.rows(sql) == [
        (1, Decimal("10.50"), "n1", 71),
        (2, None, None, 72),
        (3, Decimal("31.50"), "n3", 73),
    ]


def test_such_variables_can_be_compared_computed_grouped_and_ordered_by(db: Db) -> None:
    call = "split(id, x # int, y # varchar(5))"
    assert db.rows(
        f"select x + 1, y || '!' from t where {call} > 0 and x > 10 and y matches 'n*' order by x desc"
    ) == [(32, "n3!")]
    assert db.rows(f"select x, count(*) from t where {call} > 0 group by x order by 1 desc")[0] == (31, 1)
    assert db.rows(f"select id from t where x = 31 and {call} > 0") == [(3,)]
    inner = "(select count(*) from t as u where u.id * 10 < x)"
    assert db.rows(f"select id, {inner} from t where {call} > 0 and x is not null order by id") == [
        (1, 0),
        (3, 3),
    ]


def test_arguments_may_be_parameters_and_the_routine_is_called_once_for_each_of_them(db: Db) -> None:
    sql = "select b, x from t where split(?, x # float, y # lvarchar) = ? order by id"
    assert db.rows(sql, 4, 5) == [("one", 42.0), (None, 42.0), ("é", 42.0)]
    assert db.rows(sql, 4, 6) == []


def test_changes_can_use_them_too(db: Db) -> None:
    db.run("create table u (n decimal(8,2), w varchar(20), tail integer)")
    db.run(
        "insert into u select x, y, 7 from t where split(id, x # decimal(8,2), y # varchar(20)) > 0 and id <> 2"
    )
    rows = db.rows("select * from u order by n")
    db.run("drop table u")
    assert rows == [(Decimal("10.50"), "n1", 7), (Decimal("31.50"), "n3", 7)]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("select id from t where split(id, 1, 2) = 1", -674),
        ("select id from t where split(id, x # int, 2) = 1", -674),
        ("select id from t where split(y # int, x # int, z # int) = 1", -674),
        ("select id from t where split(id, x # int) = 1", -674),
        ("select id from t where split(id, x # int, x # int) = 1", -324),
        ("select id from t where split(id, b # int, x # int) = 1", -324),
        ("select id from t where split(id, x #, y # int) = 1", -201),
        ("select id from t where split(id, x # nothing, y # int) = 1", -9628),
        ("select id from t where length(x # int) = 1", -201),
        ("select x from t where id in (select id from t where split(id, x # int, y # int) > 0)", -217),
        ("execute function split(1, ?, ?)", -9752),
    ],
)
def test_what_cannot_be_said_with_them(db: Db, sql: str, code: int) -> None:
    assert db.fails(sql).sqlcode == code


def test_routines_call_each_other_with_variables_for_out_parameters(db: Db) -> None:
    db.run(
        "create procedure both(a int, inout b varchar(10), out c int) "
        "let c = nvl(c, -1) + a; let b = b || '+'; end procedure"
    )
    db.run(
        "create function caller() returning varchar(10), int; define x varchar(10); define y int; let x = 'é'; "
        "call both(5, x, y); call both(c = y, b = x, a = 7); return x, y; end function"
    )
    assert db.rows("execute function caller()") == [("é++", 6)]
