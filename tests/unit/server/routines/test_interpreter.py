"""Execution of routines by the engine alone. Over the wire: tests/integration/test_server_routines.py."""

from __future__ import annotations

import datetime as dt
import threading
from decimal import Decimal

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.routines.interpreter import MAX_DEPTH
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.routine_protocols import python_routine

pytestmark = pytest.mark.slow

DATABASE = "stores_demo"


def fill(db: Db) -> None:
    db.run("create table t (id integer primary key, b varchar(10), tail integer)")
    db.run("insert into t values (1, 'one', 77)")
    db.run("insert into t values (2, 'two', 78)")


def procedure(db: Db, body: str, returns: str = "int", parameters: str = "", name: str = "p") -> None:
    """Create a procedure; `returns` may be empty."""
    returning = f"returning {returns};" if returns else ""
    db.run(f"create procedure {name}({parameters}) {returning} {body} end procedure")


def result(db: Db, body: str, returns: str = "int") -> object:
    """Return the only value that a routine without arguments returns."""
    procedure(db, body, returns)
    try:
        return db.value("execute procedure p()")
    finally:
        db.run("drop procedure p")


def rows(db: Db, body: str, returns: str = "int") -> list[object]:
    """Return the first value of each row of a routine."""
    procedure(db, body, returns)
    try:
        return [row[0] for row in db.rows("execute procedure p()")]
    finally:
        db.run("drop procedure p")


def fails(db: Db, body: str, returns: str = "int") -> SqlError:
    procedure(db, body, returns)
    try:
        return db.fails("execute procedure p()")
    finally:
        db.run("drop procedure p")


def ids(db: Db) -> list[int]:
    return [row[0] for row in db.rows("select id from t order by id")]


# ---- values and variables ----------------------------------------------------------------------------------

TYPES = [
    ("smallint", "-32767", -32767),
    ("integer", "2147483647", 2147483647),
    ("bigint", "9223372036854775807", 9223372036854775807),
    ("int8", "-5", -5),
    ("decimal(8,2)", "1.005", Decimal("1.01")),
    ("decimal(16)", "1.25", "1.25"),
    ("float", "0.1", 0.1),
    ("char(5)", "'ab'", "ab"),
    ("varchar(5)", "'ab '", "ab "),
    ("lvarchar(300)", "'é' || 'x'", "éx"),
    ("date", "'02/29/2020'", dt.date(2020, 2, 29)),
    ("datetime year to second", "'2020-02-29 01:02:03'", dt.datetime(2020, 2, 29, 1, 2, 3)),
    ("boolean", "'t'", True),
]


@pytest.mark.parametrize(("kind", "literal", "expected"), TYPES, ids=[t for t, _, _ in TYPES])
def test_a_value_of_each_type_goes_through_variables_arguments_and_results(
    db: Db, kind: str, literal: str, expected: object
) -> None:
    db.run(
        f"create function f(a {kind}, tail int) returning {kind} as v, int as tail; define x {kind}; "
        f"define y {kind}; let x = a; let y = x; return y, tail; end function"
    )
    assert db.rows(f"execute function f({literal}, 7)") == [(expected, 7)]
    assert db.rows("execute function f(null, 7)") == [(None, 7)]
    assert db.types("execute function f(null, 7)")[0][0] == "v"
    db.run(
        "create function g() returning "
        + kind
        + "; define x "
        + kind
        + f"; let x = {literal}; return x; end function"
    )
    assert db.value("execute function g()") == expected


def test_a_variable_that_was_never_given_a_value_is_not_null(db: Db) -> None:
    problem = fails(db, "define x int; return x;")
    assert (problem.sqlcode, problem.near) == (-696, "x")
    assert result(db, "define x int; let x = null; return x;") is None


def test_assigning_several_variables_at_once(db: Db) -> None:
    body = (
        "define a, b int; define s varchar(10); let a, b, s = 1, 2, 'x'; let a, b = b, a; return a * 10 + b;"
    )
    assert result(db, body) == 21
    assert (
        result(
            db,
            "define a int; define s varchar(9); let a, s = (select id, b from t where id = 2); return a || s;",
            "varchar(20)",
        )
        == "2two"
    )
    assert (
        result(
            db,
            "define a, b int; let a, b = (select id, tail from t where id = 99); return nvl(a, -1) + nvl(b, -1);",
        )
        == -2
    )


def test_variables_hide_columns_unless_the_table_is_named(db: Db) -> None:
    body = "define id int; define n int; let id = 2; select count(*) into n from t where id = 2; return n;"
    assert result(db, body) == 2
    assert result(db, body.replace("where id", "where t.id")) == 1
    assert (
        result(db, "define tail int; let tail = 5; update t set tail = tail + 1 where t.id = 1; return tail;")
        == 5
    )
    assert db.value("select tail from t where id = 1") == 6
    assert (
        result(
            db, "define b varchar(10); let b = 'new'; insert into t (id, b, tail) values (3, b, 9); return 1;"
        )
        == 1
    )
    assert db.rows("select b, tail from t where id = 3") == [("new", 9)]


def test_a_text_that_is_too_long_is_cut_and_a_number_that_is_too_large_is_an_error(db: Db) -> None:
    assert result(db, "define s char(3); let s = 'abcdef'; return s;", "varchar(9)") == "abc"
    assert fails(db, "define s smallint; let s = 40000; return s;").sqlcode == -1214
    assert fails(db, "define i int; let i = 2147483647; let i = i + 1; return i;").sqlcode == -1215
    assert fails(db, "define i int; let i = 'abc'; return i;").sqlcode == -1213


def test_blocks_have_variables_of_their_own(db: Db) -> None:
    body = "define a int; let a = 1; begin define a char(3); define b int; let a = 'in'; let b = 9; end return a;"
    assert result(db, body) == 1
    assert fails(db, "begin define b int; let b = 9; end return b;").sqlcode in (-217, -201)


def test_global_variables_belong_to_the_session(db: Db, engine: Engine) -> None:
    procedure(db, "define global g int default 5; let g = g + 1; return g;")
    other = connect(engine, DATABASE)
    assert [db.value("execute procedure p()") for _ in range(3)] == [6, 7, 8]
    assert other.value("execute procedure p()") == 6
    procedure(db, "define global g char(3) default 'x'; return 1;", name="q")
    assert db.fails("execute procedure q()").sqlcode == -689


def test_like_takes_the_type_that_the_column_has_now(db: Db) -> None:
    db.run(
        "create function f(a like t.b) returning varchar(40); define x like t.b; let x = a || a; return x; end function"
    )
    assert db.value("execute function f('abcdefg')") == "abcdefgabc"
    db.run("alter table t modify (b varchar(20))")
    assert db.value("execute function f('abcdefg')") == "abcdefgabcdefg"
    assert (
        db.fails("create function g(a like t.nothing) returning int; return 1; end function").sqlcode == -217
    )
    assert (
        db.fails("create function g(a like nowhere.b) returning int; return 1; end function").sqlcode == -206
    )


# ---- control flow ------------------------------------------------------------------------------------------


def test_a_condition_that_is_null_does_not_hold(db: Db) -> None:
    assert (
        result(
            db,
            "define x int; let x = null; if x = 1 then return 1; elif not (x = 1) then return 2; else return 3; end if",
        )
        == 3
    )
    assert (
        result(
            db, "define x int; let x = null; if x is null and x = 1 or 2 = 2 then return 1; end if return 0;"
        )
        == 1
    )
    assert result(db, "define x int; let x = null; while x < 5 let x = 9; end while return nvl(x, -1);") == -1


def test_the_case_statement(db: Db) -> None:
    text = (
        "create function f(a int) returning varchar(9); case a when 1 then return 'one'; when 1 "
        "+ 1 then return 'two'; else return 'many'; end case end function"
    )
    db.run(text)
    assert [db.value("execute function f(?)", n) for n in (1, 2, 3, None)] == ["one", "two", "many", "many"]


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ("= 1 to 3", [1, 2, 3]),
        ("= 3 to 1", [3, 2, 1]),
        ("= 1 to 10 step 4", [1, 5, 9]),
        ("= 10 to 1 step -4", [10, 6, 2]),
        ("= 5 to 5", [5]),
        ("= 1 to null", []),
        ("in (1 to 5 step 2, 40, 8 to 7)", [1, 3, 5, 40, 8, 7]),
    ],
)
def test_the_ranges_of_for(db: Db, ranges: str, expected: list[int]) -> None:
    assert rows(db, f"define i int; for i {ranges} return i with resume; end for") == expected


def test_wrong_steps_of_for(db: Db) -> None:
    assert fails(db, "define i int; for i = 1 to 3 step 0 return i with resume; end for").sqlcode == -697
    assert fails(db, "define i int; for i = 1 to 3 step -1 return i with resume; end for").sqlcode == -683
    assert fails(db, "define i char(3); for i = 1 to 3 return 1 with resume; end for").sqlcode == -666


def test_leaving_loops_from_inside_others(db: Db) -> None:
    body = """define i, j int; let j = 0;
    for i = 1 to 5
      while 1 = 1
        let j = j + 1;
        if i = 2 then continue for; end if
        if i = 4 then exit for; end if
        loop exit loop when j > 0; end loop
        exit while;
      end while
      return i * 10 + j with resume;
    end for
    return 99;"""
    assert rows(db, body) == [11, 33, 99]


def test_leaving_loops_by_their_labels(db: Db) -> None:
    body = (
        "define i, j, n int; let n = 0; "
        "<<outer>> for i in (1 to 3) loop <<inner>> while 1 = 1 loop let n = n + 1; exit inner when n > 1; "
        "for j in (1 to 9) exit outer when j = 5; let n = n + 10; end for; end loop inner; end loop outer; return n;"
    )
    assert result(db, body) == 41
    rows_of = "define i int; <<each>> foreach select id into i from t order by id loop return i with resume; "
    assert rows(db, f"{rows_of} exit each; end loop each;") == [1]
    in_block = "define n int; let n = 0; <<l>> loop begin let n = n + 1; if n = 4 then exit l; end if; end end loop l;"
    assert result(db, f"{in_block} return n;") == 4


def test_goto(db: Db) -> None:
    body = (
        "define i, n int; let i, n = 0, 0; <<top>> let i = i + 1; "
        "for n in (1 to 5) if i < 3 then goto top; end if; if n = 4 then goto done; end if; end for; "
        "let n = 99; <<done>> return i * 10 + n;"
    )
    assert result(db, body) == 34
    assert (
        result(db, "define n int; let n = 1; begin goto over; let n = 2; end let n = 3; <<over>> return n;")
        == 1
    )
    with pytest.raises(SqlError, match="-201"):
        procedure(db, "goto nowhere; return 1;")


def test_foreach_over_a_query_and_over_a_routine(db: Db) -> None:
    procedure(db, (
        "define i int; define s varchar(9); foreach c1 with hold for select id, b into i, s from "
        "t order by id desc return i, s with resume; end foreach"
    ),
              "int, varchar(9)", name="q")  # fmt: skip
    assert db.rows("execute procedure q()") == [(2, "two"), (1, "one")]
    body = (
        "define i, n int; define s varchar(9); let n = 0; foreach execute procedure q() into i, "
        "s let n = n * 10 + i; end foreach return n;"
    )
    assert result(db, body) == 21


def test_a_routine_with_rows_without_end_can_be_left(db: Db) -> None:
    procedure(
        db, "define i int; let i = 0; loop let i = i + 1; return i with resume; end loop", name="naturals"
    )
    body = (
        "define i int; foreach execute procedure naturals() into i if i = 3 then exit foreach; "
        "end if end foreach return i;"
    )
    assert result(db, body) == 3


def test_changes_at_the_current_row_of_a_loop(db: Db) -> None:
    body = """define i int; foreach here for select id into i from t
      if i = 1 then update t set b = 'upd', tail = tail + i where current of here;
      else delete from t where current of here; end if
    end foreach return 1;"""
    assert result(db, body) == 1
    assert db.rows("select id, b, tail from t") == [(1, "upd", 78)]


# ---- calls -------------------------------------------------------------------------------------------------


def test_arguments_by_name_and_defaults(db: Db) -> None:
    db.run(
        "create function f(a int, b int default 20, c varchar(9) default 'c') returning "
        "varchar(40); return a || '-' || b || '-' || c; end function"
    )
    assert db.value("execute function f(1)") == "1-20-c"
    assert db.value("execute function f(1, 2, ?)", "x") == "1-2-x"
    assert db.value("execute function f(c = 'y', a = ?)", 3) == "3-20-y"
    assert db.fails("execute function f()").sqlcode == -674
    assert db.fails("execute function f(1, 2, 'x', 4)").sqlcode == -674
    assert db.fails("execute function f(1, a = 2)").sqlcode == -674
    assert db.fails("execute function f(a = 1, a = 2)").sqlcode == -671


def test_parameters_are_described(db: Db) -> None:
    db.run("create function f(a int, b varchar(9), c decimal(8,2)) returning int; return a; end function")
    prepared = db.session.prepare("execute function f(?, upper(?), c = ?)")
    assert [t.sql for t in prepared.parameters][::2] == ["INTEGER", "DECIMAL(8,2)"]
    assert (prepared.statement_type, prepared.returns_rows) == (56, True)


def test_overloads_are_chosen_by_number_and_type(db: Db) -> None:
    db.run("create function f(a int) returning varchar(9); return 'int'; end function")
    db.run("create function f(a varchar(9)) returning varchar(9); return 'text'; end function")
    db.run("create function f(a date) returning varchar(9); return 'date'; end function")
    db.run("create function f(a int, b int) returning varchar(9) specific f_two; return 'two'; end function")
    assert db.value("execute function f(1)") == "int"
    assert db.value("execute function f('1')") == "text"
    assert db.value("execute function f(today)") == "date"
    assert db.value("execute function f(1, 2)") == "two"
    assert db.value("select f(b) from t where id = 1") == "text"
    assert db.fails("create function f(x integer) returning int; return 1; end function").sqlcode == -673
    assert db.fails("drop function f").sqlcode == -674
    db.run("drop function f(date)")
    db.run("drop specific function f_two")
    assert db.fails("execute function f(1, 2)").sqlcode == -674
    db.run("create function if not exists f(x integer) returning int; return 1; end function")
    assert db.value("execute function f(1)") == "int"


def test_functions_in_the_expressions_of_routines(db: Db) -> None:
    db.run("create function dbl(n int) returning int; return n * 2; end function")
    db.run("create function pair(n int) returning int, int; return n, n + 1; end function")
    body = (
        "define a, b int; let a = dbl(dbl(2) + 1) + 1; if dbl(a) = 22 then let a, b = pair(a); "
        "end if return a * 100 + b;"
    )
    assert result(db, body) == 1112
    body = (
        "define a, b int; call pair(5) returning a, b; execute function pair(b) into b, a; return a * 10 + b;"
    )
    assert result(db, body) == 76
    assert fails(db, "define a int; let a = pair(1); return a;").sqlcode == -684
    assert fails(db, "define a, b int; let a, b = dbl(1); return a;").sqlcode == -685


def test_a_call_in_a_branch_that_is_not_taken_is_not_made(db: Db) -> None:
    db.run(
        "create function fact(n int) returning int; return case when n <= 1 then 1 else n * "
        "fact(n - 1) end; end function"
    )
    assert db.value("execute function fact(6)") == 720


def test_out_parameters_of_a_call_inside_a_routine(db: Db) -> None:
    db.run("create procedure o(a int, out b int, inout c int) let b = a + 1; let c = c * 2; end procedure")
    body = "define x, y int; let y = 21; let x = null; call o(4, x, y); return x * 100 + y;"
    assert result(db, body) == 542
    assert "OUT parameters" in db.fails("execute procedure o(1, 2, 3)").detail


def test_recursion_has_an_end(db: Db) -> None:
    db.run(
        "create function s(n int) returning int; if n = 0 then return 0; end if return 1 + s(n - 1); end function"
    )
    assert db.value("execute function s(?)", MAX_DEPTH - 1) == MAX_DEPTH - 1
    assert db.fails("execute function s(?)", MAX_DEPTH + 1).sqlcode == -722
    assert db.value("execute function s(3)") == 3


def test_a_function_that_gives_no_row_gives_null_and_one_that_gives_two_is_an_error(db: Db) -> None:
    procedure(db, "if 1 = 2 then return 1; end if", name="none")
    procedure(db, "return 1 with resume; return 2;", name="two")
    assert result(db, "define a int; let a = none(); return nvl(a, -5);") == -5
    assert fails(db, "define a int; let a = two(); return a;").sqlcode == -686


def test_the_number_of_values_returned_must_be_the_one_declared(db: Db) -> None:
    assert fails(db, "return 1;", "int, int").sqlcode == -655
    assert fails(db, "return 1, 2;").sqlcode == -655


def test_a_routine_calls_a_server_function_by_name(db: Db) -> None:
    assert db.value("execute function upper('abc')") == "ABC"
    assert db.fails("execute function nowhere(1)").sqlcode == -674


# ---- errors ------------------------------------------------------------------------------------------------


def test_an_error_undoes_all_that_the_routine_did(db: Db) -> None:
    procedure(
        db, "insert into t values (3, 'x', 1); update t set tail = 0; insert into t values (1, 'dup', 1);", ""
    )
    assert db.fails("execute procedure p()").sqlcode in (-239, -268)
    assert ids(db) == [1, 2]
    db.run("begin work")
    db.run("insert into t values (9, 'kept', 1)")
    assert db.fails("execute procedure p()").sqlcode in (-239, -268)
    db.run("commit work")
    assert db.rows("select id, tail from t order by id") == [(1, 77), (2, 78), (9, 1)]


HANDLED = [
    ("-746", "raise exception -746, 5, 'oh no'", (-746, 5, "oh no")),
    ("all", "insert into nowhere values (1)", (-206, -111, "nowhere")),
    ("all", "let x = 1 / 0", (-1202, 0, "")),
    ("all", "let x = 'abc'", (-1213, 0, "")),
    ("-217", "select nothing into x from t", (-217, 0, "nothing")),
]


@pytest.mark.parametrize(("codes", "statement", "reported"), HANDLED, ids=[s for _, s, _ in HANDLED])
def test_a_handler_receives_the_error_and_earlier_work_stays(
    db: Db, codes: str, statement: str, reported: tuple[int, int, str]
) -> None:
    listed = "" if codes == "all" else f"in ({codes})"
    procedure(db, f"""define e, i, x int; define s varchar(40);
        on exception {listed} set e, i, s insert into t values (4, 'handled', 2); return e, i, s; end exception
        insert into t values (3, 'before', 1); {statement}; return 0, 0, '';""", "int, int, varchar(40)")  # fmt: skip
    assert db.rows("execute procedure p()") == [reported]
    assert ids(db) == [1, 2, 3, 4]
    db.run("delete from t where id > 2")
    db.run("begin work")
    db.run("insert into t values (9, 'x', 1)")
    assert db.rows("execute procedure p()") == [reported]
    db.run("commit work")
    assert ids(db) == [1, 2, 3, 4, 9]


def test_a_handler_for_other_codes_is_not_asked(db: Db) -> None:
    assert (
        fails(db, "on exception in (-1, -2) return 1; end exception raise exception -3, 4, 'x';").sqlcode
        == -3
    )


def test_with_resume_the_next_statement_follows(db: Db) -> None:
    body = """define n, i int; on exception in (-239, -268) let n = n + 1; end exception with resume
    let n = 0; for i = 1 to 4 insert into t values (i, 'x', i); insert into t values (i, 'y', i); end for return n;"""
    assert result(db, body) == 6
    assert ids(db) == [1, 2, 3, 4]


def test_without_resume_the_block_is_over(db: Db) -> None:
    body = """define n int; let n = 0;
    begin on exception let n = n + 1; end exception raise exception -1, 0, ''; let n = 100; end
    return n;"""
    assert result(db, body) == 1


def test_without_resume_in_a_loop_the_next_round_follows(db: Db) -> None:
    body = """define i, n int; let n = 0; for i = 1 to 5
      on exception let n = n + 1; end exception
      if mod(i, 2) = 0 then raise exception -1, 0, ''; end if
      return i with resume;
    end for return n * 100;"""
    assert rows(db, body) == [1, 3, 5, 200]


def test_without_resume_in_the_routine_itself_it_returns_nothing(db: Db) -> None:
    assert rows(
        db, "on exception end exception return 1 with resume; raise exception -1, 0, ''; return 2;"
    ) == [1]


def test_a_block_is_one_statement_for_a_handler_outside_of_it(db: Db) -> None:
    body = """define i, n int; on exception in (1) end exception with resume
    let n = 0;
    begin for i = 1 to 10 let n = n + 1; if i = 3 then raise exception 1; end if end for return 1; end
    return n;"""
    assert result(db, body) == 3


def test_an_error_in_a_handler_goes_to_the_handlers_around_it(db: Db) -> None:
    body = """define e int;
    on exception in (-2) set e return e * 10; end exception
    begin on exception in (-1, -2) raise exception -2, 0, ''; end exception raise exception -1, 0, ''; end
    return 0;"""
    assert result(db, body) == -20
    assert (
        fails(db, "on exception raise exception -5, 0, ''; end exception raise exception -1, 0, '';").sqlcode
        == -5
    )


def test_an_error_of_a_routine_that_is_called_is_one_of_the_call(db: Db) -> None:
    procedure(db, "insert into t values (5, 'x', 1); raise exception -746, 0, 'inner';", "", name="inner_")
    body = """define s varchar(20); define e, i int; on exception set e, i, s return s; end exception
    insert into t values (4, 'x', 1); call inner_(); return 'none';"""
    assert result(db, body, "varchar(20)") == "inner"
    assert ids(db) == [1, 2, 4]


def test_handlers_see_the_variables_of_their_own_block(db: Db) -> None:
    body = """define x int; on exception return x; end exception
    let x = 7; if 1 = 1 then begin define x char(3); let x = 'in'; raise exception -1, 0, ''; end end if return 0;"""
    assert result(db, body) == 7


def test_what_raise_exception_leaves_out(db: Db) -> None:
    problem = fails(db, "raise exception -12345;")
    assert (problem.sqlcode, problem.isamcode, problem.near) == (-12345, 0, "")
    problem = fails(db, "define e int; let e = -9; raise exception e, e - 1, 'a' || 'b';")
    assert (problem.sqlcode, problem.isamcode, problem.near) == (-9, -10, "ab")


def test_an_error_without_a_code_for_clients_is_put_into_words(db: Db) -> None:
    for number in (0, -937, 40000, -100000):
        problem = fails(db, f"raise exception {number}, 7, 'text';")
        assert (problem.sqlcode, problem.isamcode, problem.near) == (-746, 0, f"{number}, 7: text")
    body = (
        "define e int; on exception in (40000) set e return e; end exception raise exception 40000; return 0;"
    )
    assert result(db, body) == 40000


# ---- SQL inside --------------------------------------------------------------------------------------------


def test_select_into_no_row_gives_nulls_and_two_rows_are_an_error(db: Db) -> None:
    assert (
        result(db, "define x int; let x = 5; select id into x from t where id = 99; return nvl(x, -1);") == -1
    )
    assert fails(db, "define x int; select id into x from t; return x;").sqlcode == -284


def test_dbinfo_reports_what_the_last_statement_did(db: Db) -> None:
    body = "define n int; update t set tail = 1; let n = dbinfo('sqlca.sqlerrd2'); return n;"
    assert result(db, body) == 2
    db.run("create table s (a serial, b int)")
    body = (
        "define n int; insert into s values (0, 5); insert into s values (0, 6); let n = "
        "dbinfo('sqlca.sqlerrd1'); return n;"
    )
    assert result(db, body) == 2


def test_temporary_tables_and_other_ddl_in_a_routine(db: Db) -> None:
    body = """define n int; create temp table w (a int); insert into w values (5);
    select * from t into temp v; select count(*) + (select sum(a) from w) into n from v;
    drop table w; drop table v; return n;"""
    assert result(db, body) == 7
    assert result(db, body) == 7
    assert db.fails("select * from w").sqlcode == -206


@pytest.mark.parametrize(
    "statement",
    [
        "set isolation to dirty read", "set transaction isolation level read uncommitted",
        "execute immediate 'set isolation to dirty read'",
    ],
)  # fmt: skip
def test_a_routine_sets_the_isolation_level_of_its_session(db: Db, engine: Engine, statement: str) -> None:
    other = connect(engine)
    other.run("begin work")
    other.run("update t set b = 'new' where id = 1")
    db.run("set lock mode to not wait")
    assert db.fails("select b from t where id = 1").sqlcode == -244
    procedure(db, f"{statement};", "")
    db.run("execute procedure p()")
    assert db.value("select b from t where id = 1") == "one"
    other.run("rollback work")


def test_execute_immediate(db: Db) -> None:
    body = """define s varchar(100); let s = 'insert into t values (' || 3; execute immediate s || ', "imm", 1)';
    execute immediate 'create table made (a int)'; return 1;"""
    assert result(db, body) == 1
    assert ids(db) == [1, 2, 3]
    assert db.value("select count(*) from made") == 0
    assert "EXECUTE IMMEDIATE" in fails(db, "execute immediate 'select 1 from t'; return 1;").detail


def test_transactions_that_a_routine_begins_and_ends(db: Db) -> None:
    procedure(db, """insert into t values (3, 'implicit', 1);
        begin work; insert into t values (4, 'undone', 1); rollback work;
        begin work; insert into t values (5, 'kept', 1); commit work; insert into t values (6, 'lost', 1);
        raise exception -746, 0, 'end';""", "")  # fmt: skip
    assert db.fails("execute procedure p()").sqlcode == -746
    assert ids(db) == [1, 2, 3, 5]
    assert not db.session.in_transaction
    procedure(db, "begin work; insert into t values (7, 'x', 1);", "", name="opens")
    db.run("execute procedure opens()")
    assert db.session.in_transaction
    assert db.fails("execute procedure opens()").sqlcode == -535
    db.run("rollback work")
    assert ids(db) == [1, 2, 3, 5]


def test_a_routine_sees_what_others_have_committed_since_its_transaction_began(
    db: Db, engine: Engine
) -> None:
    other = connect(engine, DATABASE)
    procedure(db, """define n int; insert into t values (3, 'mine', 1); call elsewhere();
        update t set tail = tail + 1 where t.id = 2;
        select tail into n from t where t.id = 2; return n;""")  # fmt: skip
    engine.register(
        python_routine(
            "elsewhere", lambda: other.run("update t set tail = 500 where id = 2") and None, [], []
        )
    )
    db.run("begin work")
    assert db.value("select tail from t where id = 2") == 78
    assert db.value("execute procedure p()") == 501
    db.run("commit work")
    assert ids(db) == [1, 2, 3]
    db.run("delete from t where id = 3")
    assert db.value("execute procedure p()") == 501
    assert other.rows("select id, tail from t order by id") == [(1, 77), (2, 501), (3, 1)]


def test_a_commit_inside_a_routine_ends_the_transaction_of_the_caller(db: Db) -> None:
    procedure(db, "insert into t values (4, 'x', 1); commit work;", "")
    db.run("begin work")
    db.run("insert into t values (3, 'x', 1)")
    db.run("execute procedure p()")
    assert db.fails("rollback work").sqlcode == -255
    assert ids(db) == [1, 2, 3, 4]


def test_a_routine_that_was_created_in_a_transaction_goes_with_its_rollback(db: Db) -> None:
    db.run("begin work")
    procedure(db, "return 1;")
    assert db.value("execute procedure p()") == 1
    db.run("rollback work")
    assert db.fails("execute procedure p()").sqlcode == -674
    procedure(db, "return 2;")
    db.run("begin work")
    db.run("drop procedure p")
    assert db.fails("execute procedure p()").sqlcode == -674
    db.run("rollback work")
    assert db.value("execute procedure p()") == 2


def test_a_plan_is_made_again_when_a_table_changes(db: Db) -> None:
    procedure(db, "define s varchar(30); select b into s from t where t.id = 1; return s;", "varchar(30)")
    assert db.value("execute procedure p()") == "one"
    db.run("alter table t drop b")
    assert db.fails("execute procedure p()").sqlcode == -217
    db.run("alter table t add (b varchar(30) default 'again')")
    assert db.value("execute procedure p()") == "again"


def test_an_interrupt_stops_a_loop_without_end(db: Db) -> None:
    begun = threading.Event()
    db.session.engine.register(python_routine("begun", begun.set, [], []))
    procedure(
        db, "define x int; on exception end exception with resume call begun(); loop let x = 1; end loop", ""
    )

    def stop() -> None:
        begun.wait()
        db.session.interrupt()

    thread = threading.Thread(target=stop)
    thread.start()
    problem = db.fails("execute procedure p()")
    thread.join()
    assert (problem.sqlcode, problem.isamcode) == (-213, -157)
    assert ids(db) == [1, 2]


# ---- in queries --------------------------------------------------------------------------------------------


def test_a_function_in_every_part_of_a_query(db: Db) -> None:
    db.run("create function dbl(n int) returning int; return n * 2; end function")
    db.run("insert into t values (3, null, null)")
    assert db.rows("select id, dbl(tail) from t order by dbl(id) desc") == [(3, None), (2, 156), (1, 154)]
    assert db.rows("select id from t where dbl(dbl(id)) = 8") == [(2,)]
    assert db.value("select sum(dbl(id)) from t where tail is not null") == 6
    assert db.rows(
        "select dbl(id) as d, count(*) from t group by 1 having dbl(count(*)::int) = 2 order by 1 desc"
    )[0] == (6, 1)
    assert db.types("select dbl(id), id from t") == [("(expression)", "INTEGER"), ("id", "INTEGER")]
    assert db.rows("select t.id from t, (select dbl(id) as d from t) u where u.d = t.id") == [(2,)]
    assert db.value("select max(dbl(?)) from t", 21) == 42


def test_an_insert_takes_the_rows_of_a_routine(db: Db) -> None:
    db.run("create table k (id integer, b varchar(10))")
    procedure(
        db,
        "define i int; define s varchar(10); "
        "foreach select id, b into i, s from t order by id return i, s with resume; end foreach;",
        "int, varchar(10)",
    )
    procedure(db, "return x + 1;", "int", "x int", "one")
    procedure(db, "insert into t values (9, 'nine', 0); return 1;", name="changes")
    assert db.run("insert into k execute procedure p()").rows == 2
    assert db.run("insert into k (id) execute function informix.one(?)", 6).rows == 1
    procedure(db, "insert into k (b, id) execute function p2();", "", name="inside")
    procedure(db, "return 'x', 8;", "varchar(10), int", name="p2")
    db.run("execute procedure inside()")
    assert db.rows("select * from k order by id") == [(1, "one"), (2, "two"), (7, None), (8, "x")]
    assert db.fails("insert into k execute procedure one(1)").sqlcode == -236
    assert db.fails("insert into k execute procedure nowhere()").sqlcode == -674
    assert db.fails("insert into k (id) execute procedure changes()").sqlcode == -675
    assert db.fails("insert into k (id) execute one(1)").sqlcode == -201


def test_functions_in_changes(db: Db) -> None:
    db.run("create function dbl(n int) returning int; return n * 2; end function")
    assert db.run("update t set tail = dbl(tail), b = dbl(id)::varchar(9) where dbl(id) = 4").rows == 1
    assert db.run("insert into t values (dbl(?), 'new', dbl(5))", 2).rows == 1
    assert db.run("insert into t select dbl(id) + 3, b, 0 from t where dbl(id) < 4").rows == 1
    assert db.rows("select id, b, tail from t order by id") == [
        (1, "one", 77), (2, "4", 156), (4, "new", 10), (5, "one", 0),
    ]  # fmt: skip
    assert db.run("delete from t where dbl(id) > 6").rows == 2
    assert (
        "MERGE"
        in db.fails(
            "merge into t using (select 1 as x from t) s on t.id = s.x when matched then update set tail = dbl(1)"
        ).detail
    )


def test_a_function_in_a_query_sees_the_transaction_of_the_query(db: Db) -> None:
    db.run(
        "create function name_of(n int) returning varchar(10); define s varchar(10); select b "
        "into s from t where t.id = n; return s; end function"
    )
    db.run("begin work")
    db.run("insert into t values (3, 'mine', 1)")
    assert db.rows("select id, name_of(id) from t order by id") == [(1, "one"), (2, "two"), (3, "mine")]
    db.run("rollback work")


def test_a_function_in_a_query_may_change_nothing(db: Db) -> None:
    db.run(
        "create function bad(n int) returning int; insert into t values (n, 'x', 1); return n; end function"
    )
    db.run("create function worse(n int) returning int; define r int; let r = bad(n); return r; end function")
    for sql in (
        "select bad(9) from t",
        "update t set tail = bad(9)",
        "select id from t where worse(id + 50) = 1",
    ):
        problem = db.fails(sql)
        assert (problem.sqlcode, problem.near) == (-675, "insert")
        assert ids(db) == [1, 2]
    assert db.value("execute function worse(9)") == 9


def test_changes_by_functions_are_repeated_as_they_were_when_a_transaction_begins_again(db: Db) -> None:
    db.run("create function dbl(n int) returning int; return n * 2; end function")
    db.run("begin work")
    db.run("update t set tail = dbl(tail) where dbl(id) = 2")
    db.run("update t set b = 'n' || dbl(id)")
    db.run("update t set id = dbl(id) + 10 where dbl(id) = 4")
    db.run("select id, dbl(id) as d from t into temp w")
    assert db.fails("update t set tail = 1 / 0").sqlcode == -1202
    assert db.rows("select * from w order by 1") == [(1, 2), (14, 28)]
    db.run("drop function dbl")
    assert db.fails("update t set tail = 1 / 0").sqlcode == -1202
    db.run("commit work")
    assert db.rows("select id, b, tail from t order by id") == [(1, "n2", 154), (14, "n4", 78)]
    body = (
        "define x int; on exception return x; end exception let x = 5; update t set tail = "
        "twice(tail); let x = 1 / 0;"
    )
    db.run("create function twice(n int) returning int; return n + n; end function")
    assert result(db, body) == 5
    assert db.rows("select tail from t order by id") == [(308,), (156,)]


def test_a_function_cannot_be_kept_in_a_view_or_a_constraint(db: Db) -> None:
    db.run("create function dbl(n int) returning int; return n * 2; end function")
    for sql in ("create view v as select dbl(id) as d from t", "create table c (a int check (dbl(a) > 2))"):
        assert "user routine" in db.fails(sql).detail
    assert db.fails("create view v as select nowhere(id) as d from t").sqlcode == -674


def test_an_error_of_a_function_is_that_of_the_query(db: Db) -> None:
    db.run(
        "create function bad(n int) returning int; if n = 2 then raise exception -746, 3, 'not "
        "two'; end if return n; end function"
    )
    problem = db.fails("select bad(id) from t")
    assert (problem.sqlcode, problem.isamcode, problem.near) == (-746, 3, "not two")
    assert db.rows("select bad(id) from t where id = 1") == [(1,)]


@pytest.mark.parametrize(("kind", "literal", "expected"), TYPES, ids=[t for t, _, _ in TYPES])
def test_a_value_of_each_type_in_a_query(db: Db, kind: str, literal: str, expected: object) -> None:
    db.run(f"create function f(a {kind}) returning {kind}; return a; end function")
    db.run(f"create table v (a {kind}, tail int)")
    db.run(f"insert into v values ({literal}, 7)")
    db.run("insert into v values (null, 8)")
    assert db.rows("select f(a), tail from v order by tail") == [(expected, 7), (None, 8)]


def test_a_function_is_called_once_for_each_combination_of_arguments(db: Db, engine: Engine) -> None:
    seen: list[object] = []

    def noted(n: object) -> object:
        seen.append(n)
        return n

    engine.register(python_routine("noted", noted, ["INTEGER"], ["INTEGER"]))
    db.run("insert into t values (3, 'x', 77)")
    assert db.rows("select noted(tail) from t order by 1") == [(77,), (77,), (78,)]
    assert sorted(seen, key=str) == [77, 78]


# ---- the catalogue -----------------------------------------------------------------------------------------


def test_the_text_of_a_routine_is_in_the_catalogue_in_pieces(db: Db) -> None:
    text = "create function f(a int, b like t.b) returning int as n, char(3) as c; " + "--éfiller\n" * 60
    text += "return a, 'x'; end function document 'What it does.'"
    db.run(text)
    ((procid, isproc, numargs, mode),) = db.rows(
        "select procid, isproc, numargs, mode from sysprocedures where procname = 'f'"
    )
    assert (isproc, numargs, mode) == ("f", 2, "O")
    pieces = db.rows(
        "select seqno, data from sysprocbody where procid = ? and datakey = 'T' order by seqno", procid
    )
    assert [number for number, _ in pieces] == list(range(1, len(pieces) + 1))
    assert all(len(data.encode()) <= 256 for _, data in pieces)
    assert "".join(data for _, data in pieces) == text
    assert db.rows("select data from sysprocbody where procid = ? and datakey = 'D'", procid) == [
        ("What it does.",)
    ]
    assert db.rows((
        "select paramname, paramtype, paramlen, paramattr from sysproccolumns where procid = ? "
        "order by paramid"
    ), procid) == [
        ("n", 2, 4, 3), ("c", 0, 3, 3), ("a", 2, 4, 1), ("b", 13, 10, 1),
    ]  # fmt: skip
    db.run("drop function f")
    assert db.rows("select procid from sysprocedures where procname = 'f'") == []
    assert db.rows("select procid from sysproccolumns where procid = ?", procid) == []


# ---- routines in Python --------------------------------------------------------------------------------------


def test_registered_callables(db: Db, engine: Engine) -> None:
    engine.register(
        python_routine(
            "Add", lambda a, b: None if a is None else a + b, ["INTEGER", "DECIMAL(8,2)"], ["DECIMAL(8,2)"]
        )
    )
    engine.register(python_routine("count_to", lambda n: iter(range(1, n + 1)), ["INTEGER"], ["INTEGER"]))
    engine.register(
        python_routine("pairs", lambda: iter([(1, "a"), (2, None)]), [], ["INTEGER", "VARCHAR(5)"])
    )
    engine.register(python_routine("broken", lambda: 1 / 0, [], ["INTEGER"]))

    def refuses() -> int:
        raise SqlError(-746, 1, 0, "told so")

    engine.register(python_routine("refuses", refuses, [], ["INTEGER"]))
    assert db.value("execute function add(1, 2.25)") == Decimal("3.25")
    assert db.value("execute function add(?, 2)", None) is None
    assert db.rows("execute procedure count_to(3)") == [(1,), (2,), (3,)]
    assert db.rows("execute function pairs()") == [(1, "a"), (2, None)]
    assert db.value("select add(id, 0.5) from t where id = 2") == Decimal("2.50")
    assert (
        result(
            db,
            (
                "define a, n int; let n = 0; foreach execute procedure count_to(4) into a let n = n + a; "
                "end foreach return n;"
            ),
        )
        == 10
    )
    assert (db.fails("execute function broken()").sqlcode, db.fails("execute function broken()").near) == (
        -746,
        "broken: division by zero",
    )
    assert (db.fails("execute function refuses()").sqlcode, db.fails("execute function refuses()").near) == (
        -746,
        "told so",
    )
    assert db.fails("execute function add(1)").sqlcode == -674


def test_a_routine_of_the_database_goes_before_a_registered_one(db: Db, engine: Engine) -> None:
    engine.register(python_routine("f", lambda: 1, [], ["INTEGER"]))
    assert db.value("execute function f()") == 1
    db.run("create function f() returning int; return 2; end function")
    assert db.value("execute function f()") == 2
    db.run("drop function f")
    assert db.value("execute function f()") == 1
    with pytest.raises(ValueError, match="NONSENSE"):
        python_routine("g", lambda: 1, ["NONSENSE"], [])


def test_a_part_of_a_text_is_assigned_to(db: Db) -> None:
    define = "define a char(9); define v varchar(8); define l lvarchar(9);"
    assert result(db, f"{define} let a[4,7] = 'Ream'; return a || '|';", "char(10)") == "   Ream  |"
    assert (
        result(
            db, f"{define} let v = 'abcdefgh'; let v[2,3] = 'XYZ'; let v[5] = null; return v;", "varchar(8)"
        )
        == "aXYd fgh"
    )
    assert (
        result(db, f"{define} let l = 'äöü'; let l[3,4] = 'zz'; let l[1] = 'e'; return l;", "lvarchar(9)")
        == "e zzü"
    )
    assert (
        result(
            db,
            f"{define} let a = '123456789'; select b into a[2,4] from t where id = 1; return a;",
            "char(9)",
        )
        == "1one56789"
    )
    assert (
        result(db, f"{define} let a = '12345'; let a[1], v = 'x', 'y'; return a || v;", "char(12)")
        == "x2345    y"
    )


def test_a_part_that_a_variable_has_not_got_is_refused(db: Db) -> None:
    for body, code in (
        ("define c char(3); let c[2,4] = 'x'; return 1;", -307),
        ("define c int; let c[1,2] = 'x'; return 1;", -305),
    ):
        procedure(db, body)
        assert db.fails("execute procedure p()").sqlcode == code
        db.run("drop procedure p")
    assert db.fails("create procedure p() define c char(3); let c[3,2] = 'x'; end procedure").sqlcode == -307
    assert db.fails("create procedure p() define c char(3); let d[1,2] = 'x'; end procedure").sqlcode == -667
