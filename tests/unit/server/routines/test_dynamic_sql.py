"""Dynamic SQL in routines: PREPARE, DECLARE, OPEN, FETCH, CLOSE, FREE and SQLCODE."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.server.sql_session import Db

DATABASE = "stores_demo"


def fill(db: Db) -> None:
    db.run("create table t (id serial primary key, b varchar(10), c decimal(10,2), tail integer)")
    for row in ((1, "one", "1.5", 71), (2, None, None, 72), (3, "é", "-3.25", 73)):
        db.run("insert into t values (?, ?, ?, ?)", *row)


def returned(
    db: Db, body: str, returns: str, *arguments: object, parameters: str = ""
) -> list[tuple[object, ...]]:
    """Return the rows of a function with this body."""
    db.run(f"create function f({parameters}) returning {returns}; {body} end function")
    places = ", ".join("?" * len(arguments))
    try:
        return db.rows(f"execute function f({places})", *arguments)
    finally:
        db.run("drop function f")


def code(db: Db, body: str) -> tuple[int, str]:
    """Return the error of a procedure with this body."""
    db.run(f"create procedure p() define x int; define y varchar(20); {body} end procedure")
    try:
        error = db.fails("execute procedure p()")
        return error.sqlcode, error.near
    finally:
        db.run("drop procedure p")


LOOP = """
    define i int; define b varchar(10); define c decimal(10,2); define z int;
    prepare s from {text};
    declare k cursor for s;
    open k {using};
    fetch k into i, b, c, z;
    while (sqlcode != 100)
        return i, b, c, z with resume;
        fetch k into i, b, c, z;
    end while
    close k; free k; free s;
"""
ROWS = "int, varchar(10), decimal(10,2), int"


def test_the_rows_of_a_prepared_query_are_fetched_one_by_one(db: Db) -> None:
    body = LOOP.format(text="'select * from t order by id'", using="")
    assert returned(db, body, ROWS) == [
        (1, "one", Decimal("1.50"), 71),
        (2, None, None, 72),
        (3, "é", Decimal("-3.25"), 73),
    ]


def test_a_text_is_any_expression_and_question_marks_take_the_values_of_using(db: Db) -> None:
    body = LOOP.format(
        text="'select id, b, c, tail + ? from ' || tab || ' where id between ? and ? order by id desc'",
        using="using more, low, low + 1",
    )
    rows = returned(db, body, ROWS, "t", 2, 1000, parameters="tab varchar(10), low int, more int")
    assert rows == [(3, "é", Decimal("-3.25"), 1073), (2, None, None, 1072)]


def test_values_of_using_have_their_variables_types_and_may_be_null(db: Db) -> None:
    body = LOOP.format(text="'select * from t where b = ? or c < ? order by id'", using="using n, d")
    parameters = "n varchar(10), d decimal(10,2)"
    assert [row[0] for row in returned(db, body, ROWS, "one", "-3.2", parameters=parameters)] == [1, 3]
    assert [row[0] for row in returned(db, body, ROWS, None, "-3.2", parameters=parameters)] == [3]
    assert returned(db, body, ROWS, None, None, parameters=parameters) == []


def test_functions_can_be_prepared_as_well(db: Db) -> None:
    db.run(
        "create function pairs(low int, high int) returning int, varchar(10); define i int; "
        "for i = low to high return i, 'n' || i with resume; end for end function"
    )
    body = (
        "define i smallint; define b char(5); define n int; prepare s from 'execute function pairs(?, 4)'; "
        "declare k cursor for s; open k using 3; fetch next k into i, b; let n = sqlcode; "
        "while n = 0 return i, b, n with resume; fetch k into i, b; let n = sqlcode; end while return i, b, n;"
    )
    assert returned(db, body, "smallint, char(5), int") == [(3, "n3", 0), (4, "n4", 0), (4, "n4", 100)]


def test_a_cursor_can_be_declared_for_a_query_which_sees_the_variables_when_it_is_opened(db: Db) -> None:
    body = (
        "define low, i int; let low = 9; declare k cursor for select id from t where id >= low order by id; "
        "let low = 2; open k; fetch k into i; let low = 3; return i with resume; "
        "open k; fetch k into i; return i with resume; fetch k into i; return sqlcode;"
    )
    assert returned(db, body, "int") == [(2,), (3,), (100,)]


def test_an_open_cursor_keeps_the_rows_that_it_had_when_it_was_opened(db: Db) -> None:
    body = (
        "define i int; prepare s from 'select id from t order by id'; declare k cursor for s; open k; "
        "delete from t where id > 1; fetch k into i; fetch k into i; fetch k into i; return i with resume; "
        "open k; fetch k into i; fetch k into i; return sqlcode;"
    )
    assert returned(db, body, "int") == [(3,), (100,)]


def test_sqlcode_reports_what_became_of_the_last_statement(db: Db) -> None:
    body = (
        "define x int; on exception in (-206) return sqlcode with resume; end exception with resume "
        "return sqlcode with resume; "
        "select id into x from t where id = 99; return sqlcode with resume; "
        "let x = 5; if sqlcode = 100 then return sqlcode + x with resume; end if "
        "insert into t values (0, 'new', sqlcode, 74); return sqlcode with resume; "
        "select c into x from t where tail = 74; return x with resume; "
        "delete from nowhere; return sqlcode with resume; delete from t where id = 99; return sqlcode;"
    )
    assert [row[0] for row in returned(db, body, "int")] == [0, 100, 105, 0, 100, -206, -206, 0]


def test_a_column_and_a_variable_may_be_called_sqlcode(db: Db) -> None:
    db.run("create table errors (sqlcode int, tail int)")
    db.run("insert into errors values (-206, 7)")
    try:
        assert returned(db, "define x int; select sqlcode into x from errors; return x;", "int") == [(-206,)]
        assert returned(db, "return (select max(sqlcode) from errors);", "int") == [(-206,)]
        assert returned(db, "define sqlcode int; let sqlcode = 5; return sqlcode + 1;", "int") == [(6,)]
        db.run("create procedure q() update errors set tail = 8 where sqlcode = -206; end procedure")
        db.run("execute procedure q()")
        assert db.rows("select * from errors") == [(-206, 8)]
    finally:
        db.run("drop table errors")


@parametrize_in_one_test(
    ("body", "wanted"),
    [
        ("prepare s from 'select * from nowhere';", (-206, "nowhere")),
        ("prepare s from 'select from';", (-201, "")),
        ("prepare s from '';", (-201, "")),
        ("prepare s from y;", (-696, "y")),
        ("prepare s from 'delete from t';", (-675, "delete")),
        ("prepare s from 'select id from t into temp q';", (-675, "select")),
        ("prepare s from 'select id from t for update';", (-675, "select")),
        ("prepare s from 'select id from t; select id from t';", (-555, "")),
        ("declare k cursor for s;", (-410, "s")),
        ("open k;", (-507, "k")),
        ("fetch k into x;", (-507, "k")),
        ("close k;", (-507, "k")),
        ("free k;", (-410, "k")),
        ("prepare s from 'select id from t'; declare k cursor for s; fetch k into x;", (-400, "k")),
        (
            "prepare s from 'select id from t'; declare k cursor for s; open k; close k; fetch k into x;",
            (-400, "k"),
        ),
        (
            "prepare s from 'select id from t'; declare k cursor for s; open k; free k; fetch k into x;",
            (-507, "k"),
        ),
        ("prepare s from 'select id from t'; declare k cursor for s; free s; open k;", (-410, "s")),
        ("prepare s from 'select id from t'; declare k cursor for s; open k using x;", (-696, "x")),
        ("prepare s from 'select id from t'; declare k cursor for s; open k using 1;", (-254, "")),
        ("prepare s from 'select id from t where id = ?'; declare k cursor for s; open k;", (-254, "")),
        (
            "prepare s from 'select id from t where id = ?'; declare k cursor for s; open k using 1, 2;",
            (-254, ""),
        ),
        (
            "prepare s from 'select id, b from t'; declare k cursor for s; open k; fetch k into x;",
            (-684, "k"),
        ),
        (
            "prepare s from 'select id from t'; declare k cursor for s; open k; fetch k into x, y;",
            (-685, "k"),
        ),
        ("prepare s from 'select b from t'; declare k cursor for s; open k; fetch k into x;", (-1213, "")),
        ("prepare s from 'execute function nowhere()';", (-674, "nowhere")),
    ],
)
def test_what_goes_wrong_has_its_own_code(db: Db, body: str, wanted: tuple[int, str]) -> None:
    assert code(db, body) == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("define k int; prepare s from 'x'; declare k cursor for s;", -669),
        ("define s int; prepare s from 'x';", -669),
        ("prepare s from 'x'; declare k cursor for s; fetch k into missing;", -667),
        ("declare k scroll cursor for s;", -201),
        ("declare k cursor for select nothing from;", -201),
        ("fetch k;", -201),
        ("execute s;", -201),
    ],
)
def test_what_can_be_known_when_it_is_created_is_refused_then(db: Db, body: str, wanted: int) -> None:
    assert db.fails(f"create procedure p() {body} end procedure").sqlcode == wanted


def test_the_end_of_a_transaction_closes_cursors_without_hold(db: Db) -> None:
    body = (
        "define x int; on exception in (-400) return -400 with resume; end exception with resume "
        "prepare s from 'select id from t order by id'; declare a cursor for s; "
        "declare b cursor with hold for s; begin work; open a; open b; fetch a into x; fetch b into x; "
        "insert into t values (9, 'kept', 0, 0); commit work; "
        "fetch b into x; return x with resume; fetch a into x;"
    )
    assert returned(db, body, "int") == [(2,), (-400,)]
    assert db.value("select count(*) from t") == 4


def test_statements_and_cursors_belong_to_one_call(db: Db) -> None:
    db.run(
        "create function down(n int) returning int; define x int; "
        "prepare s from 'select ' || n || ' from t where id = 1'; declare k cursor for s; open k; "
        "if n > 0 then let x = down(n - 1); end if fetch k into x; return x; end function"
    )
    assert db.rows("execute function down(3)") == [(3,)]
    db.run("create procedure other() define x int; fetch k into x; end procedure")
    db.run(
        "create procedure p() prepare s from 'select id from t'; declare k cursor for s; open k; "
        "execute procedure other(); end procedure"
    )
    assert db.fails("execute procedure p()").sqlcode == -507


def test_a_query_that_calls_such_a_routine_gets_its_answer(db: Db) -> None:
    db.run(
        "create function named(n int) returning varchar(10); define x varchar(10); "
        "prepare s from 'select nvl(b, ''-'') from t where id = ?'; declare k cursor for s; open k using n; "
        "fetch k into x; return x; end function"
    )
    assert db.rows("select id, named(id), tail from t order by id") == [
        (1, "one", 71),
        (2, "-", 72),
        (3, "é", 73),
    ]
