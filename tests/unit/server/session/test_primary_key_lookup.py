"""Statements that find their row by its primary key use a shorter path. The results must be those of the general
path."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from decimal import Decimal

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.plan.plans import KeyedModify, ModifyPlan, SelectPlan
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.prepared_plan import PreparedPlan, StatementOutcome

pytestmark = pytest.mark.slow

WARN_CUT = 1


def fill(db: Db) -> None:
    db.run(
        "create table stock (id integer primary key, name varchar(5), n integer check (n < 100), tail integer)"
    )
    for number in range(1, 4):
        db.run("insert into stock values (?, ?, ?, 77)", number, f"ö{number}", number * 10)
    db.run("create table pairs (a smallint, b bigint, n integer, tail integer, primary key (b, a))")
    db.run("insert into pairs values (1, 2, 10, 77)")
    db.run("insert into pairs values (2, 1, 20, 77)")
    db.run("create table parent (id serial primary key, n integer)")
    db.run("insert into parent values (1, 10)")
    db.run("create table child (id integer primary key, parent integer references parent, n integer)")
    db.run("insert into child values (1, 1, 10)")
    db.run("create table words (word varchar(10) primary key, n integer)")
    db.run("create table loose (id integer, n integer)")
    db.run("create view shown as select id, n from stock where n < 50 with check option")


def stock(db: Db) -> list[tuple[object, ...]]:
    return db.rows("select id, name, n, tail from stock order by id")


BEFORE = [(1, "ö1", 10, 77), (2, "ö2", 20, 77), (3, "ö3", 30, 77)]

BY_KEY = {
    "update stock set n = 1 where id = ?": ("p0",),
    "update stock set n = ? where id = ?": ("p1",),
    "update stock set n = n + 1, name = ? where (? = id)": ("p1",),
    "update stock s set n = 1 where s.id = 5": (5,),
    "delete from stock where id = ?": ("p0",),
    "update pairs set n = 1 where a = ? and b = ?": ("p1", "p0"),
    "delete from pairs where (b = 7) and a = ?": (7, "p0"),
    "update parent set n = 1 where id = ?": ("p0",),
    "update child set n = 1 where id = ?": ("p0",),
}
NOT_BY_KEY = [
    "update stock set id = ? where id = ?",
    "update stock set n = 1 where id = ? and n = 10",
    "update stock set n = 1 where id = ? or id = ?",
    "update stock set n = 1 where id = ? and id = ?",
    "update stock set n = 1 where id > ?",
    "update stock set n = 1 where id = n",
    "update stock set n = 1 where id = ? + 1",
    "update stock set n = 1 where id = '5'",
    "update stock set n = 1 where id = 5.0",
    "update stock set n = 1 where not (id = ?)",
    "update stock set n = (select max(n) from parent) where id = ?",
    "update pairs set n = 1 where b = ?",
    "update words set n = 1 where word = ?",
    "update loose set n = 1 where id = ?",
    "update shown set n = 1 where id = ?",
    "delete from parent where id = ?",
    "update child set parent = ? where id = ?",
    "update stock set n = 1",
]


@pytest.mark.parametrize("sql", BY_KEY)
def test_a_change_of_one_row_by_its_primary_key_is_known_as_such(db: Db, sql: str) -> None:
    plan = db.session.prepare(sql).plan
    assert isinstance(plan, KeyedModify)
    assert plan.key == BY_KEY[sql]


@pytest.mark.parametrize("sql", NOT_BY_KEY)
def test_a_change_that_may_concern_more_than_the_row_of_a_key_is_not(db: Db, sql: str) -> None:
    plan = db.session.prepare(sql).plan
    assert isinstance(plan, ModifyPlan)
    assert not isinstance(plan, KeyedModify)


@pytest.mark.parametrize(
    ("sql", "few"),
    [
        ("select * from stock where id = ?", True),
        ("select n, id from stock x where n > 3 and x.id = 5", True),
        ("select n from words where word = ?", True),
        ("select n from pairs where b = ? and a = ?", True),
        ("select n from pairs where b = ?", False),
        ("select n from stock where id = ? or n = 1", False),
        ("select n from loose where id = ?", False),
        ("select a.n from stock a, stock b where a.id = ?", False),
    ],
)
def test_a_query_by_a_whole_key_has_few_rows(db: Db, sql: str, few: bool) -> None:
    plan = db.session.prepare(sql).plan
    assert isinstance(plan, SelectPlan)
    assert plan.at_most_one_row is few


@pytest.mark.parametrize("inside", [False, True])
def test_changes_by_key_count_their_rows_and_keep_to_them(db: Db, inside: bool) -> None:
    if inside:
        db.run("begin work")
    assert db.run("update stock set n = n + ? where id = ?", 5, 2).rows == 1
    assert db.run("update stock set n = ? where id = ?", None, 3).rows == 1
    assert db.run("update stock set n = 99 where id = ?", -4).rows == 0
    assert db.run("delete from stock where id = ?", 1).rows == 1
    assert db.run("delete from stock where id = ?", 1).rows == 0
    assert db.run("update pairs set n = 11 where a = ? and b = ?", 1, 2).rows == 1
    if inside:
        db.run("commit work")
    assert stock(db) == [(2, "ö2", 25, 77), (3, "ö3", None, 77)]
    assert db.rows("select a, b, n, tail from pairs order by a") == [(1, 2, 11, 77), (2, 1, 20, 77)]


@pytest.mark.parametrize(
    ("key", "rows"),
    [(2, 1), ("2", 1), (Decimal(2), 1), (2.0, 1), (Decimal("2.5"), 0), (None, 0), (2**40, 0), (-(2**62), 0)],
)
def test_a_key_is_found_whatever_the_type_of_its_parameter(db: Db, key: object, rows: int) -> None:
    for sql in ("update stock set tail = tail + 1 where id = ?", "delete from stock where id = ?"):
        assert db.run(sql, key).rows == rows
    assert stock(db) == ([BEFORE[0], BEFORE[2]] if rows else BEFORE)


def test_a_text_that_is_cut_by_an_update_by_key_is_reported(db: Db) -> None:
    assert db.run("update stock set name = ? where id = ?", "áéíóúñ", 2).warnings == WARN_CUT
    assert db.run("update stock set name = ? where id = ?", "áé", 3).warnings == 0
    assert [row[1] for row in stock(db)] == ["ö1", "áé", "áé"]


@pytest.mark.parametrize("inside", [False, True])
def test_a_check_that_an_update_by_key_breaks_costs_that_statement_only(db: Db, inside: bool) -> None:
    if inside:
        db.run("begin work")
    db.run("update stock set n = 11 where id = ?", 1)
    found = db.fails("update stock set n = ? where id = ?", 100, 2)
    assert (found.sqlcode, found.isamcode) == (-530, 0)
    assert found.near.startswith("informix.c")
    assert db.run("update stock set n = 31 where id = ?", 3).rows == 1
    if inside:
        db.run("commit work")
    assert [row[2] for row in stock(db)] == [11, 20, 31]


def test_changes_by_key_are_done_again_when_a_statement_fails_after_them(db: Db) -> None:
    db.run("begin work")
    db.run("update stock set n = n * 2 where id = ?", 1)
    db.run("delete from stock where id = ?", 2)
    db.run("savepoint here")
    db.run("update stock set n = n * 2 where id = ?", 1)
    assert db.fails("insert into stock values (3, 'x', 1, 77)").sqlcode in (-239, -268)
    assert db.run("update stock set n = n + 1 where id = ?", 1).rows == 1
    assert [row[2] for row in stock(db)] == [41, 30]
    db.run("rollback work to savepoint here")
    db.run("commit work")
    assert [row[2] for row in stock(db)] == [20, 30]


def test_rolled_back_changes_by_key_leave_no_trace(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("update stock set n = 1 where id = ?", 1)
    db.run("delete from stock where id = ?", 2)
    db.run("rollback work")
    assert other.run("update stock set n = n where id = ?", 1).rows == 1
    assert stock(other) == BEFORE


# ---- beside others ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "held",
    [
        "update stock set n = 5 where id = 2",
        "delete from stock where id = 2",
        "lock table stock in share mode",
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_a_row_that_another_session_has_is_refused(db: Db, other: Db, held: str, inside: bool) -> None:
    db.run("begin work")
    db.run(held)
    if inside:
        other.run("begin work")
    for sql in ("update stock set n = 6 where id = ?", "delete from stock where id = ?"):
        assert other.fails(sql, 2).sqlcode == -244
    if "share" not in held:
        assert other.run("update stock set n = 7 where id = ?", 3).rows == 1
    db.run("rollback work")
    assert other.run("update stock set n = 6 where id = ?", 2).rows == 1


def test_a_transaction_sees_what_another_has_committed_to_the_row_that_it_changes(db: Db, other: Db) -> None:
    db.run("begin work")
    assert db.value("select n from stock where id = ?", 1) == 10
    other.run("update stock set n = n + 1 where id = ?", 1)
    other.run("delete from stock where id = ?", 2)
    assert db.run("update stock set n = n * 2 where id = ?", 1).rows == 1
    assert db.run("update stock set n = n * 2 where id = ?", 2).rows == 0
    db.run("commit work")
    assert [row[2] for row in stock(db)] == [22, 30]


def test_a_row_that_is_not_there_is_not_locked(db: Db, other: Db) -> None:
    db.run("begin work")
    assert db.run("update stock set n = 1 where id = ?", 4).rows == 0
    assert db.run("delete from stock where id = ?", 5).rows == 0
    assert stock(other) == BEFORE  # nor does the table count as changed
    assert other.run("insert into stock values (?, 'ö4', 40, 77)", 4).rows == 1
    assert other.run("update stock set n = 41 where id = ?", 4).rows == 1
    assert db.run("update stock set n = 42 where id = ?", 4).rows == 1
    assert other.fails("update stock set n = 43 where id = ?", 4).sqlcode == -244
    db.run("commit work")
    assert other.value("select n from stock where id = ?", 4) == 42


def test_a_row_that_is_not_there_frees_no_row_that_is(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("update stock set n = 1 where id = ?", 1)
    db.run("delete from stock where id = ?", 2)
    assert db.run("delete from stock where id = ?", 2).rows == 0
    assert db.run("update stock set n = 1 where id = ?", 9).rows == 0
    for key in (1, 2):
        assert other.fails("update stock set n = 2 where id = ?", key).sqlcode == -244
    assert other.fails("select * from stock").sqlcode == -244
    db.run("rollback work")


def test_a_row_that_another_is_changing_is_not_read(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("update stock set n = 5 where id = ?", 2)
    assert other.fails("select n from stock where id = ?", 2).sqlcode == -244
    assert other.value("select n from stock where id = ?", 1) == 10
    other.run("set isolation to committed read last committed")
    assert other.value("select n from stock where id = ?", 2) == 20
    db.run("commit work")
    assert other.value("select n from stock where id = ?", 2) == 5


def test_a_read_only_transaction_changes_nothing_by_key(db: Db) -> None:
    db.run("begin work")
    db.run("set transaction read only")
    assert db.fails("update stock set n = 1 where id = ?", 1).sqlcode == -878
    db.run("rollback work")
    assert stock(db) == BEFORE


def test_a_table_made_in_the_transaction_is_changed_by_key(db: Db) -> None:
    db.run("begin work")
    db.run("create table fresh (id integer primary key, n integer)")
    db.run("insert into fresh values (1, 10)")
    assert db.run("update fresh set n = 11 where id = ?", 1).rows == 1
    db.run("commit work")
    assert db.run("update fresh set n = n + 1 where id = ?", 1).rows == 1
    assert db.rows("select * from fresh where id = ?", 1) == [(1, 12)]


def test_a_statement_that_is_interrupted_has_done_nothing_and_any_other_has_done_its_work(db: Db) -> None:
    """Outside a transaction DuckDB makes a single statement atomic."""
    session = db.session
    insert = session.prepare("insert into stock values (?, 'x', 0, 77)")
    update = session.prepare("update stock set tail = tail + 1 where id = ?")
    for key in (4, 5):
        session.execute(insert, (key,))
    over = threading.Event()

    def interrupt() -> None:
        while not over.wait(0.004):
            session.interrupt()

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    expected = {4: 77, 5: 77}
    try:
        for key in range(6, 46):
            if ends(session.execute, insert, key):
                expected[key] = 77
            if ends(session.execute, update, 4):
                expected[4] += 1
    finally:
        over.set()
        interrupting.join()
    assert dict(db.rows("select id, tail from stock where id > 3")) == expected


def ends(
    execute: Callable[[PreparedPlan, tuple[object, ...]], StatementOutcome], statement: PreparedPlan, key: int
) -> bool:
    """Return whether a statement ends without being interrupted."""
    try:
        return execute(statement, (key,)).rows == 1
    except SqlError as problem:
        if problem.sqlcode != -213:
            raise
        return False


# ---- values read by key -----------------------------------------------------------------------------

TYPES = {
    "smallint": (-32767, 0, 32767),
    "integer": (-2147483647, 7, 2147483647),
    "bigint": (-(2**63) + 1, 2**63 - 1),
    "int8": (-(2**63) + 1, 2**63 - 1),
    "smallfloat": (1.5, -0.1, 3.4e38),
    "float": (1.5, -0.1, 1.7e308),
    "decimal(8,2)": (Decimal("-999999.99"), Decimal("0.00"), Decimal("1.5")),
    "decimal(32,10)": (Decimal("-9999999999999999999999.9999999999"),),
    "decimal(16)": (Decimal("-1.5"), Decimal("0"), Decimal("1E+90"), Decimal("1E-90")),
    "money(10,2)": (Decimal("-1.05"),),
    "char(6)": ("", "ö", "äöüßéè", "a  b"),
    "varchar(6)": ("", "ö ", "äöüßéè", "日本"),
    "nchar(6)": (
        "",
        "日本",
    ),
    "nvarchar(6)": ("日本 ",),
    "lvarchar(300)": ("", "日" * 90),
    "date": (dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    "datetime year to day": (dt.datetime(2024, 2, 29),),
    "datetime year to second": (dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59)),
    "datetime year to fraction(5)": (dt.datetime(2024, 2, 29, 1, 2, 3, 123450),),
    "datetime hour to second": (dt.time(23, 59, 59),),
    "datetime month to day": ("02-29",),
    "interval day to second": ("-1 02:03:04",),
    "interval year to month": ("-12-11",),
    "boolean": ("t", "f"),
}


@pytest.mark.parametrize("name", TYPES)
def test_a_row_read_by_key_has_the_values_and_formats_of_any_other(db: Db, name: str) -> None:
    db.run(f"create table every (id integer primary key, v {name}, tail integer)")
    for number, value in enumerate((None, *TYPES[name])):
        db.run("insert into every values (?, ?, 77)", number, value)
    by_key = db.session.prepare("select v, tail from every where id = ?")
    plain = db.session.prepare("select v, tail from every where id + 0 = ?")
    assert by_key.plan.at_most_one_row
    assert not plain.plan.at_most_one_row
    for number in range(len(TYPES[name]) + 2):  # the last one does not exist
        (short,) = db.session.query(by_key, (number,)).batches()
        (long,) = db.session.query(plain, (number,)).batches()
        assert short.schema == long.schema
        assert short.to_pylist() == long.to_pylist()
        assert len(short) == (number <= len(TYPES[name]))


@pytest.mark.parametrize(
    "expression",
    ["n + 1", "n / 3", "upper(v)", "v || v", "length(v)", "today - today", "case when n > 1 then 1 else 2.5 end",
     "n > 1", "null", "1", "'x'", "sqrt(n)", "n * 2147", "sum(n)", "round(n / 7, 3)"],
)  # fmt: skip
def test_expressions_over_a_row_read_by_key_have_the_values_and_formats_of_any_other(
    db: Db, expression: str
) -> None:
    db.run("create table every (id integer primary key, v varchar(10), n integer)")
    db.run("insert into every values (1, 'äb', 7)")
    db.run("insert into every values (2, null, null)")
    found = []
    for where in ("id = ?", "id + 0 = ?"):
        groups = " group by id" if "sum" in expression else ""
        statement = db.session.prepare(f"select {expression}, id from every where {where}{groups}")
        found.append([list(db.session.query(statement, (k,)).batches()) for k in (1, 2, 3)])
    assert found[0] == found[1]


def test_a_key_is_found_whatever_blanks_are_behind_it(db: Db) -> None:
    db.run("insert into words values ('ab ', 1)")
    assert db.fails("insert into words values ('ab', 2)").sqlcode == -268
    for text in ("ab", "ab ", "ab    "):
        assert db.rows("select word, n from words where word = ?", text) == [("ab ", 1)]


@pytest.mark.parametrize(
    "change", ["update at_last set v = v + 1 where k = ?", "delete from at_last where k = ?"]
)
def test_what_found_no_row_finds_none_when_the_transaction_is_repeated(engine: Engine, change: str) -> None:
    """A failing statement makes the transaction repeat earlier ones. It must not find a row inserted by another session
    since."""
    one, other = connect(engine), connect(engine)
    one.run("create table at_last (k integer primary key, v integer check (v < 100), tail integer)")
    one.run("insert into at_last values (?, 50, 12345)", 1)
    one.run("set isolation to dirty read")
    one.run("begin work")
    one.run("update at_last set v = v + 1 where k = ?", 1)
    assert one.run(change, 2).rows == 0
    other.run("insert into at_last values (?, 7, 12345)", 2)
    with pytest.raises(SqlError):
        one.run("update at_last set v = 100 + v where k = ?", 1)
    assert one.rows("select k, v, tail from at_last order by k") == [(1, 51, 12345), (2, 7, 12345)]
    one.run("commit work")
    assert other.rows("select k, v, tail from at_last order by k") == [(1, 51, 12345), (2, 7, 12345)]


@pytest.mark.parametrize("column", ["s", "n", "b", "i"])
def test_numbers_that_are_set_by_key_are_those_of_the_long_way(db: Db, column: str) -> None:
    db.run(
        "create table widths (id integer primary key, s smallint, n integer, b bigint, i int8, tail integer)"
    )
    values = [None, 0, 1, True, "12", "twelve", 2.5, Decimal("-7.9")]
    values += [sign * (2**bits + off) for bits in (15, 31, 63) for off in (-1, 0, 1) for sign in (1, -1)]

    def reported(where: str, value: object) -> tuple[object, ...]:
        db.run("delete from widths")
        db.run("insert into widths values (5, 1, 2, 3, 4, 77)")
        try:
            done: object = db.run(f"update widths set {column} = ? where {where}", value, 5)
        except SqlError as problem:
            done = problem.sqlcode
        return done, db.rows("select * from widths")

    for value in values:
        assert reported("id = ?", value) == reported("id + 0 = ?", value), value
