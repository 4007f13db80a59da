"""INSERTs whose values stand in their text share a plan, and put in what the long way does; small things around
temporary tables, which such programs make."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from tests.walking import walked

from informix_arrow.server.engine import session_tables
from informix_arrow.server.engine.engine import Engine
from informix_arrow.server.engine.literal_rows import literal_row
from informix_arrow.server.engine.plan_cache import LONGEST_TEXT
from informix_arrow.server.errors import SqlError
from informix_arrow.server.schema import stored_names

from .engine_support import Db, connect


@pytest.fixture
def db(fresh_engine: Engine) -> Db:
    return connect(fresh_engine)


def counted(monkeypatch: pytest.MonkeyPatch, place: Any, name: str) -> list[object]:
    """A list that gets the last argument of each call of a function."""
    calls: list[object] = []
    before: Callable[..., Any] = getattr(place, name)

    def counting(*arguments: Any) -> Any:
        calls.append(arguments[-1])
        return before(*arguments)

    monkeypatch.setattr(place, name, counting)
    return calls


VALUES = [
    "null", "NULL", "0", "1", "-1", "007", "12345", "-32768", "99999999999", "123456789012345678901234567890123456",
    "1.5", "-0.00", "3.14159265358979323846", "-99999999999999999999.5", "''", "' '", "'a'", "'A b  '", "'O''Brien'",
    "''''", "'it''s -- no comment'", "'{ } /* */'", "'?'", "'ü日本'", "'2024-02-29'", "'02/29/2024'", "'13/45/2024'",
    "'2024-02-29 23:59:59'", "'12'", "'1.25'", "'1e3'", "'t'", "'f'", "'null'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
    "'3 04:05:06'", "'a;b'", "'a),(b'", "1e5", "+1", "'a\"b'", "'a\\b'", "today", "current", "(1)", "1 + 1", ".5", "5.",
    "- 1", "--1\n2", "\"a\"", "t.a", "'a'||'b'", "'a' 'b'", "mdy(1,2,2024)", "?", "date('01/02/2024')", "",
]  # fmt: skip
COLUMNS = (
    "a INTEGER, b VARCHAR(10), c DECIMAL(12,3), d DATE, e DATETIME YEAR TO SECOND, f FLOAT, g BOOLEAN, h CHAR(5), "
    "i BIGINT, j DECIMAL(16), k LVARCHAR(20), l SMALLINT, m INTERVAL DAY TO SECOND, n TEXT, z INTEGER"
)


def attempt(db: Db, sql: str) -> object:
    try:
        outcome = db.run(sql)
    except SqlError as problem:
        return problem.sqlcode, problem.isamcode, problem.near
    return outcome.rows, outcome.warnings, outcome.serial


@pytest.mark.parametrize("place", ["", "temp "])
def test_a_row_of_literals_is_what_the_long_way_makes_of_it(db: Db, place: str) -> None:
    for name in "short", "long":
        db.run(f"create {place}table {name} ({COLUMNS})")
    chance = random.Random(1)
    names = [column.split()[0] for column in COLUMNS.split(", ")]
    lengths = len(names)
    rows = [
        [value if k == at else "null" for k in range(lengths)]
        for number, value in enumerate(VALUES)
        for at in range((number + len(place)) % 5, lengths, 5)
    ]
    rows += [[chance.choice(VALUES) for _ in range(3)] for _ in range(50)]
    for row in rows:
        head = "" if len(row) == lengths else "(z, b, a) "
        space = chance.choice(["", " ", "\n "])
        values = f"{space},{space}".join(row)
        short = attempt(db, f"INSERT INTO short {head}VALUES{space}({values}){space}")
        # a comment in front is nothing that the short way knows
        assert short == attempt(db, f"{{}}insert into long {head}values ({values})"), row
    order = "order by " + ", ".join(str(k + 1) for k, name in enumerate(names) if name != "n")
    assert db.value("select count(*) from short") > 60
    assert db.rows(f"select * from short {order}") == db.rows(f"select * from long {order}")


def test_texts_that_differ_in_their_literals_are_read_once(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    db.run("create table t (k serial primary key, v varchar(10), w decimal(8,2), z int)")
    other = connect(db.session.engine)
    read = [counted(monkeypatch, session.reader, "parse") for session in (db.session, other.session)]
    for k in range(1, 6):
        assert db.run(f"insert into t values (0, 'v{k}', {k}.5, {k})").serial == k
    assert other.run("insert into t values (0, 'v6', 6.5, 6)").serial == 6
    assert [len(texts) for texts in read] == [1, 0]
    assert db.fails("insert into t values (3, 'again', 1.0, 1)").sqlcode == -268
    assert db.rows("select * from t order by 1") == [(k, f"v{k}", Decimal(f"{k}.5"), k) for k in range(1, 7)]


def test_a_pattern_is_planned_again_when_its_table_is_another(db: Db) -> None:
    db.run("create table t (a int, b int)")
    db.run("insert into t values (1, 2)")
    db.run("alter table t modify (a varchar(5))")
    db.run("insert into t values (3, 4)")
    assert db.rows("select * from t order by b") == [("1", 2), ("3", 4)]
    db.run("alter table t add (c int)")
    assert db.fails("insert into t values (5, 6)").sqlcode == -236
    db.run("drop table t")
    assert db.fails("insert into t values (7, 8)").sqlcode == -206
    db.run("create temp table t (a date, b int)")
    db.run("insert into t values ('2024-01-02', 8)")
    assert db.rows("select * from t") == [(dt.date(2024, 1, 2), 8)]


@walked(
    "sql",
    [
        "insert into t values (?)", "insert into t select 1 from u", "insert into t values ()",
        "insert into t values (1",
        "insert into t values (1,)", "insert into t values (1) x", "insert into t values ('a\x00b')", "values (1)",
        "insert into t values (1), (2)", "insert into \"t\" values (1)", "insert into t values (1 -- one\n)",
        "insert into t -- values (1)\nvalues (2)", "insert into t { values (1)} values (2)",
        "xinsert into t values (1)",
        "insert into t values ('a", "insert into t values (" + "'x'," * (LONGEST_TEXT // 4) + "1)",
    ],
)  # fmt: skip
def test_only_what_is_certain_is_taken_for_a_row_of_literals(sql: str) -> None:
    assert literal_row(sql) is None


def test_whether_a_name_is_free_is_not_asked_of_duckdb_each_time(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.run("create table kept (a int, z int)")
    db.run("insert into kept values (1, 2)")
    loaded = counted(monkeypatch, session_tables, "load_table")
    asked = counted(monkeypatch, stored_names, "is_listed")
    for number in range(6):
        db.run(f"create temp table t{number} (a int)")
        assert db.rows("select * from kept") == [(1, 2)]
        db.run(f"drop table t{number}")
    assert (loaded, asked) == ([], ["t0"])
    connect(db.session.engine).run("create table t7 (a int)")
    assert db.fails("create temp table t7 (a int)").sqlcode == -310
    db.run("begin work")
    db.run("create table t8 (a int)")
    assert db.fails("create temp table t8 (a int)").sqlcode == -310
    db.run("rollback work")
    db.run("create temp table t8 (a int)")


def test_columns_as_they_are_need_no_word_of_duckdb(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    db.run(f"create temp table t ({COLUMNS})")
    db.run("insert into t (a, b, z) values (2, 'two', 9)")
    db.run("insert into t (a, b, z) values (1, 'one', 9)")
    described = counted(monkeypatch, db.session.planner, "describe")
    assert db.rows("select distinct b, a as k, z from t order by k") == [("one", 1, 9), ("two", 2, 9)]
    assert [name for name, _ in db.types("select t.* from t")] == [c.split()[0] for c in COLUMNS.split(", ")]
    assert described == []
    for asking in (
        "select distinct b || 'x' from t",
        "select b from t where a = 1",
        "select a + 1 from t",
    ):
        db.types(asking)  # what only DuckDB knows is asked for
    assert len(described) == 3


@pytest.mark.parametrize("place", ["", "temp "])
def test_a_query_gives_the_same_rows_whether_it_has_few_or_many(db: Db, place: str) -> None:
    db.run(f"create {place}table t (k int, v varchar(10), w decimal(9,2), z int)")
    rows: list[tuple[object, ...]] = []
    query = "select k, v, w, z from t where z <> ? order by k"
    for upto in (0, 1, 40, 300, 5000):
        new = [(k, f"v{k}", Decimal(k) / 4, k % 7) for k in range(len(rows), upto)]
        db.many("insert into t values (?, ?, ?, ?)", new)
        rows += new
        for _ in range(3):
            assert db.rows(query, -1) == rows
            assert db.rows(query, 3) == [row for row in rows if row[3] != 3]
    db.run("delete from t where k > 1")
    assert db.rows(query, -1) == rows[:2]


def test_every_type_is_the_same_whether_rows_are_few_or_many(db: Db) -> None:
    db.run(f"create table t ({COLUMNS})")
    db.run(
        "insert into t values (1, 'b', 1.5, '2024-02-29', '2024-02-29 23:59:59', 1.25, 't', 'h', 5, 6.5, 'k', 7, "
        "'3 04:05:06', null, 9)"
    )
    db.run("insert into t (z) values (8)")
    first, *later = [db.rows("select * from t order by z") for _ in range(3)]
    assert later == [first, first]
    assert [row[-1] for row in first] == [8, 9]
    assert first[1][:5] == (
        1,
        "b",
        Decimal("1.500"),
        dt.date(2024, 2, 29),
        dt.datetime(2024, 2, 29, 23, 59, 59),
    )


def test_a_small_result_is_taken_whole_inside_a_transaction_too(db: Db) -> None:
    db.run("create table t (k int, z int)")
    for k in range(3):
        db.run(f"insert into t values ({k}, 0)")
    for _ in range(3):
        assert len(db.rows("select * from t")) == 3
    db.run("begin work")
    db.many("insert into t values (?, ?)", [(k, 1) for k in range(1000)])
    assert len(db.rows("select * from t")) == 1003  # it has grown since: what was begun is given up
    db.run("update t set z = 2 where k = 0")
    db.run("commit work")
    assert db.value("select count(*) from t where z = 2") == 2
