"""INSERT of a single row uses a shorter path than that of many. The results must be the same."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.plan.plans import InsertPlan
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.prepared_plan import StatementOutcome

pytestmark = pytest.mark.slow


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


COLUMNS = """(id serial primary key, name varchar(5) not null, code char(4), n smallint default 7 check (n <> 13),
    price decimal(8,2), wide decimal(16), ratio smallfloat, born date default today, stamp datetime year to second,
    span interval day to second, flag boolean, tail integer default 77 not null)"""


BATCH = (pa.int32(), pa.string(), pa.string(), pa.int16())
"""Formats of id, name, code and n in batches of rows."""


def in_batches(row: Sequence[object]) -> bool:
    """Return whether a row fits the formats of a batch, in which CHARs have no trailing blanks."""
    kinds = (int, str, str, int)
    return all(v is None or type(v) is kind for v, kind in zip(row, kinds, strict=True)) and row[2:] not in (
        ("ab  ", 1),
        ("i", 40000),
    )


def make(db: Db, table: str, temporary: bool = False) -> None:
    db.run(f"create {'temp ' if temporary else ''}table {table} {COLUMNS}")
    db.run(f"create unique index u_{table} on {table} (code, n)")


def insert(
    db: Db, sql: str, row: Sequence[object], *, long: bool, batch: bool = False
) -> StatementOutcome | SqlError:
    """Insert one row by the short path or the general one, and return the outcome."""
    prepared = db.session.prepare(sql)
    plan = prepared.plan
    assert isinstance(plan, InsertPlan)
    assert long or plan.row is not None
    if long:
        plan.row = None
    try:
        if batch:
            arrays = [pa.array([value], t) for value, t in zip(row, BATCH, strict=True)]
            rows = pa.RecordBatch.from_arrays(arrays, [f"p{i}" for i in range(len(row))])
            return db.session.execute_batch(prepared, rows).outcome(0)
        return db.session.execute(prepared, row)
    except SqlError as problem:
        return problem


def reported(outcome: StatementOutcome | SqlError, table: str) -> object:
    if isinstance(outcome, StatementOutcome):
        return outcome
    near = outcome.near.replace(table, "t")
    return outcome.sqlcode, outcome.isamcode, "key" if near.startswith("informix.") else near


def contents(db: Db, table: str) -> list[tuple[Any, ...]]:
    return db.rows(f"select * from {table} order by id, name")


ROWS: list[tuple[object, ...]] = [
    (0, "ä", "ab", 1),
    (0, "b", "ab  ", 1),  # duplicate key
    (None, "c", None, 1),
    (0, "d", None, 1),  # duplicate key with a NULL
    (0, "d", None, 2),
    (7, "e", "x", None),
    (7, "f", "y", 2),  # duplicate serial
    (0, None, "z", 3),  # NULL in a NOT NULL column
    (0, "geschnitten", "zu lang", 4),  # truncated
    (0, "h", "h", 13),  # violates a CHECK
    (0, "i", "i", 40000),  # too large
    (-5, "j", "j", -32767),
    (0, "k", "k", "12"),
    (0, "l", "l", "zwölf"),
    (0, 17, "m", Decimal("5.9")),
    (0, "n\0", "n", 5),  # contains a NUL
    ("0", "", "", 0),
    (2147483646, "o", "o", 6),
    (0, "p", "p", 7),
    (0, "q", "q", 8),  # the serials are used up
]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("temporary", [False, True])
def test_each_row_has_the_outcome_that_it_has_the_long_way(
    db: Db, inside: bool, batch: bool, temporary: bool
) -> None:
    found = []
    for table in ("short", "long"):
        make(db, table, temporary)
        sql = f"insert into {table} (id, name, code, n) values (?, ?, ?, ?)"
        if inside:
            db.run("begin work")
        outcomes = [
            insert(db, sql, row, long=table == "long", batch=batch and in_batches(row)) for row in ROWS
        ]
        serials = [db.value("select dbinfo('sqlca.sqlerrd1') from systables where tabid = 1")]
        if inside:
            db.run("commit work")
        found.append(([reported(outcome, table) for outcome in outcomes], serials, contents(db, table)))
    assert found[0] == found[1]
    assert len(found[0][2]) == 11


VALUES: list[dict[str, object]] = [
    {"price": Decimal("1.005"), "wide": Decimal("1e30"), "ratio": 0.1, "flag": "t"},
    {"price": "1234567.89", "wide": "1"},
    {"price": 1, "wide": 1.5, "ratio": 3, "flag": True},
    {
        "born": dt.date(9999, 12, 31),
        "stamp": dt.datetime(2024, 2, 29, 1, 2, 3, 999999),
        "span": "-1 02:03:04",
    },
    {"born": "02/29/2024", "stamp": "2024-02-29 01:02:03", "span": "0 00:00:00"},
    {"born": "30/30/2024"},
    {"span": "nonsense"},
    {"tail": None},
    {"n": None, "born": None, "code": "日本"},
]


@pytest.mark.parametrize("temporary", [False, True])
@pytest.mark.parametrize("values", VALUES)
def test_values_of_every_type_go_in_as_they_go_the_long_way(
    db: Db, values: dict[str, object], temporary: bool
) -> None:
    found = []
    for table in ("short", "long"):
        make(db, table, temporary)
        marks = ", ".join("?" * len(values))
        sql = f"insert into {table} (name, {', '.join(values)}) values ('n', {marks})"
        outcome = insert(db, sql, tuple(values.values()), long=table == "long")
        found.append((reported(outcome, table), contents(db, table)))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "sql",
    [
        "insert into child values (?, 1)",
        "insert into loose_lob values (?, ?)",
        "insert into stock select id, id from stock where id = ?",
        "insert into stock values (?, length('abc') + 1)",
        "insert into shown values (?, 1)",
        "insert into many values (set{?}, 1)",
    ],
)
def test_a_row_with_more_to_it_goes_the_long_way(db: Db, sql: str) -> None:
    db.run("create table stock (id integer primary key, n integer)")
    db.run("create table child (id integer references stock, n integer)")
    db.run("create table loose_lob (id integer, content byte)")
    db.run("create table many (some set(integer not null), n integer)")
    db.run("create view shown as select id, n from stock where n < 50 with check option")
    plan = db.session.prepare(sql).plan
    assert isinstance(plan, InsertPlan)
    assert plan.row is None


@pytest.fixture
def stock(db: Db) -> Db:
    db.run("create table stock (id integer primary key, n integer, tail integer)")
    db.run("insert into stock values (1, 10, 77)")
    return db


@pytest.mark.parametrize("inside", [False, True])
def test_a_key_that_another_session_has_just_inserted_is_waited_for_or_refused(
    stock: Db, other: Db, inside: bool
) -> None:
    stock.run("begin work")
    stock.run("insert into stock values (?, 20, 77)", 2)
    if inside:
        other.run("begin work")
        assert other.run("insert into stock values (?, 30, 77)", 3).rows == 1
    found = other.fails("insert into stock values (?, 21, 77)", 2)
    assert (found.sqlcode, found.isamcode) == (-271, -144)
    stock.run("rollback work")
    assert other.run("insert into stock values (?, 21, 77)", 2).rows == 1
    if inside:
        other.run("commit work")
    assert (2, 21, 77) in stock.rows("select * from stock")


@pytest.mark.parametrize("inside", [False, True])
def test_a_key_that_another_session_is_deleting_is_refused_and_one_that_it_has_deleted_is_free(
    stock: Db, other: Db, inside: bool
) -> None:
    if inside:
        other.run("begin work")
        assert other.value("select count(*) from stock") == 1  # takes its snapshot
    stock.run("begin work")
    stock.run("delete from stock where id = ?", 1)
    assert other.fails("insert into stock values (?, 11, 77)", 1).sqlcode == -271
    stock.run("commit work")
    assert other.run("insert into stock values (?, 11, 77)", 1).rows == 1
    if inside:
        other.run("commit work")
    assert stock.rows("select * from stock") == [(1, 11, 77)]


def test_a_key_that_is_committed_by_another_after_the_snapshot_is_a_duplicate(stock: Db, other: Db) -> None:
    stock.run("begin work")
    assert stock.value("select count(*) from stock") == 1
    stock.run("insert into stock values (?, 30, 77)", 3)
    other.run("insert into stock values (?, 20, 77)", 2)
    assert stock.fails("insert into stock values (?, 21, 77)", 2).sqlcode in (-239, -268)
    stock.run("insert into stock values (?, 40, 77)", 4)
    stock.run("commit work")
    assert stock.rows("select id, n from stock order by id") == [(1, 10), (2, 20), (3, 30), (4, 40)]


@pytest.mark.parametrize("temporary", [False, True])
def test_rows_inserted_one_by_one_are_there_after_their_transaction_was_put_together_again(
    stock: Db, temporary: bool
) -> None:
    if temporary:
        stock.run("drop table stock")
        stock.run("create temp table stock (id integer primary key, n integer, tail integer)")
        stock.run("insert into stock values (1, 10, 77)")
    stock.run("begin work")
    stock.run("insert into stock values (?, 20, 77)", 2)
    stock.run("savepoint here")
    stock.run("insert into stock values (?, 30, 77)", 3)
    assert stock.fails("update stock set n = 1 / 0 where id = 1").sqlcode == -1202
    stock.run("insert into stock values (?, 40, 77)", 4)
    assert [row[0] for row in stock.rows("select id from stock order by id")] == [1, 2, 3, 4]
    stock.run("rollback work to savepoint here")
    stock.run("commit work")
    assert [row[0] for row in stock.rows("select id from stock order by id")] == [1, 2]


def test_a_row_that_was_deleted_in_the_transaction_can_be_inserted_again(stock: Db) -> None:
    stock.run("begin work")
    stock.run("delete from stock where id = ?", 1)
    assert stock.run("insert into stock values (?, 11, 77)", 1).rows == 1
    stock.run("commit work")
    assert stock.rows("select * from stock") == [(1, 11, 77)]


def test_uncommitted_rows_are_not_read_by_others(stock: Db, other: Db) -> None:
    stock.run("begin work")
    stock.run("insert into stock values (?, 20, 77)", 2)
    assert other.fails("select * from stock").sqlcode == -244
    stock.run("commit work")
    assert len(other.rows("select * from stock")) == 2


def test_a_read_only_transaction_inserts_nothing(stock: Db) -> None:
    stock.run("begin work")
    stock.run("set transaction read only")
    assert stock.fails("insert into stock values (?, 20, 77)", 2).sqlcode == -878
    stock.run("rollback work")
    assert stock.value("select count(*) from stock") == 1


def test_the_largest_number_of_all_leaves_the_counter_where_it_is(engine: Engine) -> None:
    db = connect(engine)
    db.run("create table largest (b bigserial, s8 serial8, tail integer)")
    db.run("insert into largest values (?, ?, 12345)", 2**63 - 1, 2**63 - 1)
    outcomes = db.many("insert into largest values (?, ?, 12345)", [(0, 0), (5, 5), (0, 0)])
    assert not any(isinstance(outcome, SqlError) for outcome in outcomes)
    assert db.rows("select b, s8, tail from largest order by b") == [
        (1, 1, 12345), (5, 5, 12345), (6, 6, 12345), (2**63 - 1, 2**63 - 1, 12345)
    ]  # fmt: skip


def test_two_sessions_have_temporary_tables_of_one_name_and_wait_for_nobody(db: Db, other: Db) -> None:
    for number, session in enumerate((db, other)):
        session.run("create temp table mine (id integer primary key, n integer)")
        session.run("begin work")
        for _ in range(3):  # a statement that DuckDB has prepared
            session.run("insert into mine values (?, ?)", _, number)
    db.run("drop table mine")
    db.run("create temp table mine (n varchar(5), id integer, tail integer)")
    db.run("insert into mine values (?, ?, 77)", "abc", 5)
    db.run("commit work")
    other.run("rollback work")
    assert db.rows("select * from mine") == [("abc", 5, 77)]
    assert other.rows("select * from mine") == []
