"""INSERT: conversion, serials, keys, and batches in which each row has its own result."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.server.sql_session import Copies, Db

from informix_arrow.server.errors import SqlError
from informix_arrow.server.handlers.bulk import OPTIONS
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.prepared_plan import StatementOutcome
from informix_arrow.server.session.table_appender import BatchOutcome
from informix_arrow.wire.datetimes import DatetimeValue
from informix_arrow.wire.plan_ops import arrow_type
from informix_arrow.wire.qualifiers import Qualifier


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


def codes(results: list[StatementOutcome | SqlError]) -> list[int]:
    return [r.sqlcode if isinstance(r, SqlError) else 0 for r in results]


VALUES: list[tuple[str, object, object]] = [
    ("smallint", 32767, 32767),
    ("smallint", "-12", -12),
    ("integer", 2147483647, 2147483647),
    ("integer", Decimal("12.9"), 12),
    ("bigint", 2**63 - 1, 2**63 - 1),
    ("int8", -(2**63) + 1, -(2**63) + 1),
    ("float", 0.1, 0.1),
    ("float", 3, 3.0),
    ("smallfloat", 1.5, 1.5),
    ("decimal(8,2)", Decimal("123456.78"), Decimal("123456.78")),
    ("decimal(8,2)", Decimal("1.005"), Decimal("1.01")),
    ("decimal(8,2)", 42, Decimal("42.00")),
    ("decimal(8,2)", "12.5", Decimal("12.50")),
    (
        "decimal(32,16)",
        Decimal("1234567890123456.1234567890123456"),
        Decimal("1234567890123456.1234567890123456"),
    ),
    ("decimal(5,5)", Decimal("-0.99999"), Decimal("-0.99999")),
    ("decimal(16)", Decimal("1E-20"), "0.00000000000000000001"),
    ("decimal(16)", Decimal("-1E+20"), "-100000000000000000000"),
    ("decimal(16)", Decimal("1234567890.123456"), "1234567890.123456"),
    ("money(16,2)", Decimal("-1234.56"), Decimal("-1234.56")),
    ("char(5)", "abc", "abc"),
    ("char(5)", "abc  ", "abc"),
    ("varchar(10)", "tail  ", "tail  "),
    ("varchar(10)", "", ""),
    ("varchar(10)", 12, "12"),
    ("nvarchar(10)", "é", "é"),
    ("lvarchar(300)", "x" * 300, "x" * 300),
    ("date", dt.date(1850, 1, 1), dt.date(1850, 1, 1)),
    ("date", "12/31/1999", dt.date(1999, 12, 31)),
    ("date", "2024-02-29", dt.date(2024, 2, 29)),
    ("boolean", "t", True),
    ("boolean", "f", False),
    ("boolean", True, True),
    ("datetime year to second", "2024-02-29 13:14:15", dt.datetime(2024, 2, 29, 13, 14, 15)),
    (
        "datetime year to second",
        dt.datetime(2024, 2, 29, 13, 14, 15, 999999),
        dt.datetime(2024, 2, 29, 13, 14, 15),
    ),
    (
        "datetime year to fraction(5)",
        dt.datetime(1969, 1, 1, 0, 0, 0, 999999),
        dt.datetime(1969, 1, 1, 0, 0, 0, 999990),
    ),
    ("datetime year to fraction(3)", "2024-02-29 13:14:15.123", dt.datetime(2024, 2, 29, 13, 14, 15, 123000)),
    ("datetime year to day", dt.date(2024, 2, 29), dt.date(2024, 2, 29)),
    ("datetime hour to minute", "23:59", dt.time(23, 59)),
    ("datetime hour to fraction(3)", dt.time(1, 2, 3, 4000), dt.time(1, 2, 3, 4000)),
    ("datetime month to day", "12-25", "12-25"),
    ("datetime year to month", "2020-01", "2020-01"),
    (
        "datetime year to second",
        DatetimeValue(Qualifier.parse("YEAR TO DAY"), (2020, 5, 6)),
        dt.datetime(2020, 5, 6),
    ),
]


@pytest.mark.parametrize(("declared", "given", "expected"), VALUES)
@pytest.mark.parametrize("batch", [False, True], ids=["one", "batch"])
def test_a_value_comes_back_as_its_column_holds_it(
    db: Db, declared: str, given: object, expected: object, batch: bool
) -> None:
    db.run(f"create temp table v (id integer, v {declared}, tail integer)")
    if batch:
        rows: list[tuple[object, ...]] = [(1, given, 101), (2, None, 102)]
        assert codes(db.many("insert into v values (?, ?, ?)", rows)) == [0, 0]
    else:
        db.run("insert into v values (?, ?, ?)", 1, given, 101)
        db.run("insert into v values (?, ?, ?)", 2, None, 102)
    assert db.rows("select * from v order by id") == [(1, expected, 101), (2, None, 102)]
    assert db.types("select v from v")[0][1].replace(" ", "").lower() == declared.replace(" ", "").lower()


ERRORS: list[tuple[str, object, int]] = [
    ("smallint", 32768, -1214),
    ("smallint", -32768, -1214),
    ("integer", 2**31, -1215),
    ("bigint", 2**63, -1284),
    ("integer", "abc", -1213),
    ("decimal(4,2)", Decimal("12345.6"), -1226),
    ("decimal(4,2)", Decimal("99.995"), -1226),
    ("decimal(16)", Decimal("1E130"), -1226),
    ("date", "31/31/2020", -1205),
    ("date", "02/30/2020", -1206),
    ("date", "nonsense", -1218),
    ("datetime year to second", "2020-13-01 00:00:00", -1263),
    ("datetime year to second", "x", -1262),
    ("datetime year to second", "2020-01-01 00:00:00 y", -1264),
    ("boolean", "maybe", -9634),
]


@pytest.mark.parametrize(("declared", "given", "code"), ERRORS)
def test_a_value_that_does_not_fit_has_its_own_code(db: Db, declared: str, given: object, code: int) -> None:
    db.run(f"create temp table v (v {declared}, tail integer)")
    assert db.fails("insert into v values (?, 1)", given).sqlcode == code
    results = db.many("insert into v values (?, ?)", [(None, 1), (given, 2), (None, 3)])
    assert codes(results) == [0, code, 0]
    assert db.rows("select tail from v order by 1") == [(1,), (3,)]


def test_an_over_long_text_is_cut_and_warned_about(db: Db) -> None:
    db.run("create temp table v (a varchar(5), b char(3), tail integer)")
    assert db.run("insert into v values ('abcdefg', 'wxyz', 1)").warnings == 1
    assert db.run("insert into v values ('abc', 'wx', 2)").warnings == 0
    assert db.rows("select * from v order by tail") == [("abcde", "wxy", 1), ("abc", "wx", 2)]


def test_a_cut_never_splits_a_character(db: Db) -> None:
    """stores_demo is UTF-8, so VARCHAR(5) holds five bytes, which is two of these letters."""
    db.run("create temp table v (a varchar(5), tail integer)")
    db.run("insert into v values (?, 1)", "ééé")
    db.run("update v set a = 'ßßßß' where tail = 1")
    assert db.rows("select a, tail from v") == [("ßß", 1)]


def test_serials_are_assigned_kept_and_reported(db: Db) -> None:
    db.run("create temp table s (id serial, big bigserial, tail integer)")
    first = db.run("insert into s values (0, 0, 1)")
    assert (first.serial, first.bigserial) == (1, 1)
    assert db.run("insert into s (tail) values (2)").serial == 2
    assert db.run("insert into s values (10, 5, 3)").serial == 10
    assert db.value("select dbinfo('sqlca.sqlerrd1') from systables where tabid = 1") == 10
    assert db.value("select dbinfo('bigserial') from systables where tabid = 1") == 5
    results = db.many("insert into s values (?, 0, 4)", [(0,), (20,), (0,)])
    assert [r.serial for r in results if isinstance(r, StatementOutcome)] == [11, 20, 21]
    assert db.rows("select id, big from s order by id")[-1] == (21, 8)


def test_a_serial_begins_at_the_given_number(db: Db) -> None:
    db.run("create temp table s (id serial(100), tail integer)")
    assert db.run("insert into s values (0, 1)").serial == 100


def test_defaults_fill_columns_that_are_left_out(db: Db) -> None:
    db.run(
        "create temp table d (a integer default 5, b varchar(10) default 'x' not null, c date default today, "
        "d decimal(6,2) default -1.5, e integer, tail integer)"
    )
    db.run("insert into d (tail) values (9)")
    ((a, b, c, d, e, tail),) = db.rows("select * from d")
    assert (a, b, d, e, tail) == (5, "x", Decimal("-1.50"), None, 9)
    assert abs((c - dt.date.today()).days) <= 1


def test_each_row_of_a_batch_has_its_own_outcome(db: Db) -> None:
    db.run("create temp table k (a integer primary key, b varchar(10), c integer not null)")
    db.run("insert into k values (3, 'old', 1)")
    rows = [(1, "a", 1), (1, "b", 1), (2, "c", None), (3, "d", 1), ("x", "e", 1), (4, "f", 1)]
    results = db.many("insert into k values (?, ?, ?)", rows)
    assert codes(results) == [0, -268, -391, -268, -1213, 0]
    assert db.rows("select a, b from k order by a") == [(1, "a"), (3, "old"), (4, "f")]
    assert isinstance(results[2], SqlError)
    assert results[2].near == "c"


def test_a_later_row_takes_the_key_of_one_that_failed(db: Db) -> None:
    db.run("create temp table k (a integer primary key, c integer not null)")
    results = db.many("insert into k values (?, ?)", [(1, None), (1, 5), (1, 6)])
    assert codes(results) == [-391, 0, -268]
    assert db.rows("select * from k") == [(1, 5)]


def test_a_batch_in_a_transaction_keeps_the_good_rows_and_the_transaction(db: Db) -> None:
    db.run("create temp table k (a integer primary key, check (a < 100))")
    db.session.begin()
    db.run("insert into k values (50)")
    assert codes(db.many("insert into k values (?)", [(1,), (50,), (200,), (2,)])) == [0, -268, -530, 0]
    db.session.commit()
    assert db.rows("select a from k order by a") == [(1,), (2,), (50,)]


def test_a_batch_may_stop_at_its_first_error(db: Db) -> None:
    db.run("create temp table k (a integer primary key)")
    results = db.many("insert into k values (?)", [(1,), (1,), (2,)], stop_at_error=True)
    assert codes(results) == [0, -268]
    assert db.rows("select a from k") == [(1,)]


def test_a_thousand_rows_of_nineteen_columns_are_equal_to_what_was_given(db: Db) -> None:
    db.run(
        "create temp table w (a smallint, b integer, c bigint, d decimal(8,2), e float, f char(3), g varchar(8), "
        "h date, i datetime year to second, j boolean, k smallint, l integer, m bigint, n decimal(10,4), o float, "
        "p char(2), q varchar(20), r date, tail integer)"
    )

    def row(n: int) -> tuple[Any, ...]:
        if n % 10 == 9:
            return (*([None] * 18), n)
        day = dt.date(2013, 1, 1 + n % 28)
        moment = dt.datetime(2013, 1, 1, n % 24, n % 60, 1)
        half = (n % 7, n, n * 10**9, Decimal(n) / 4, n / 3, "EWR", f"N{n}", day, moment, n % 2 == 0)
        return (*half, 1, -n, -(2**40), Decimal("0.0001"), 1e300, "UA", "x" * 20, day, n)

    rows = [row(n) for n in range(1000)]
    assert codes(db.many(f"insert into w values ({','.join('?' * 19)})", rows)) == [0] * 1000
    assert db.rows("select * from w order by tail") == rows


def test_insert_select_converts_and_takes_all_rows_or_none(db: Db) -> None:
    db.run("create temp table src (n integer, f float, t varchar(20), b boolean)")
    db.many("insert into src values (?, ?, ?, ?)", [(1, 1.5, "10", True), (2, 2.5, "20", False)])
    db.run(
        "create temp table dst (id integer primary key, d decimal(6,2), n smallint, c char(1), tail integer)"
    )
    assert db.run("insert into dst select n, f, t, b, n + 100 from src").rows == 2
    assert db.rows("select * from dst order by id") == [
        (1, Decimal("1.50"), 10, "t", 101),
        (2, Decimal("2.50"), 20, "f", 102),
    ]
    assert db.fails("insert into dst (id) select 3 - n from src where n < 3").sqlcode == -268
    assert db.fails("insert into dst (id, n) select n + 10, t || 'x' from src").sqlcode == -1213
    assert db.value("select count(*) from dst") == 2


def test_wrong_lists_of_columns_and_values_are_refused(db: Db) -> None:
    db.run("create temp table t (a integer not null, b integer)")
    assert db.fails("insert into t values (1)").sqlcode == -236
    assert db.fails("insert into t (a) values (1, 2)").sqlcode == -236
    error = db.fails("insert into t (a, nope) values (1, 2)")
    assert (error.sqlcode, error.near) == (-217, "nope")
    for sql, sqlcode in {
        "insert into t (b) values (1)": -292,
        "insert into t values (null, 1)": -391,
    }.items():
        error = db.fails(sql)
        assert (error.sqlcode, error.near) == (sqlcode, "a")
    assert db.fails("insert into t values (?, ?)", 1).sqlcode == -254


def test_parameters_of_an_insert_have_the_types_of_their_columns(db: Db) -> None:
    db.run("create temp table t (a serial, b decimal(8,2) not null, c lvarchar(100))")
    prepared = db.session.prepare("insert into t (c, b) values (?, ?)")
    assert [p.sql for p in prepared.parameters] == ["LVARCHAR(100)", "DECIMAL(8,2)"]
    assert [(c.name, c.type.sql) for c in prepared.columns] == [("c", "LVARCHAR(100)"), ("b", "DECIMAL(8,2)")]


# ---- record batches ------------------------------------------------------------------------------


def batch_of(db: Db, sql: str, rows: list[tuple[object, ...]]) -> tuple[Any, Any]:
    """Return the prepared statement, and rows in the form of the bulk reader."""
    prepared = db.session.prepare(sql)
    types = [arrow_type(ct, OPTIONS) for ct in prepared.parameters]
    columns = [
        pa.array(list(values), kind) for values, kind in zip(zip(*rows, strict=True), types, strict=True)
    ]
    return prepared, pa.record_batch(columns, [f"p{n}" for n in range(len(types))])


def batch(db: Db, sql: str, rows: list[tuple[object, ...]], **options: bool) -> BatchOutcome:
    prepared, rows_as_columns = batch_of(db, sql, rows)
    return db.session.execute_batch(prepared, rows_as_columns, **options)


def test_a_batch_of_columns_has_the_outcomes_of_its_rows(db: Db) -> None:
    db.run("create temp table k (id serial, a integer primary key, b varchar(3), c integer not null)")
    db.run("insert into k values (0, 3, 'old', 1)")
    rows: list[tuple[object, ...]] = [
        (0, 1, "a", 1), (0, 1, "b", 1), (9, 2, "c", None), (0, 3, "d", 1), (0, 4, "long", 1),
    ]  # fmt: skip
    outcome = batch(db, "insert into k values (?, ?, ?, ?)", rows)
    assert codes(outcome.outcomes()) == [0, -268, -391, -268, 0]
    assert (outcome.rows, outcome.inserted, outcome.last_inserted, outcome.truncated_rows) == (5, 2, 4, {4})
    assert [o.serial for o in outcome.outcomes() if isinstance(o, StatementOutcome)] == [2, 11]
    assert db.rows("select id, a, b from k order by a") == [(2, 1, "a"), (1, 3, "old"), (11, 4, "lon")]
    assert db.value("select dbinfo('sqlca.sqlerrd1') from systables where tabid = 1") == 11


def test_a_batch_stops_at_its_first_error_and_gives_back_the_serials_behind_it(db: Db) -> None:
    db.run("create temp table k (id serial, a integer not null)")
    rows: list[tuple[object, ...]] = [(0, 1), (0, None), (0, 2), (70, 3)]
    outcome = batch(db, "insert into k values (?, ?)", rows, stop_at_error=True)
    assert codes(outcome.outcomes()) == [0, -391]
    assert db.rows("select id, a from k") == [(1, 1)]
    assert db.run("insert into k values (0, 9)").serial == 3


def test_a_row_is_held_against_the_keys_in_their_order_wherever_the_other_row_is(db: Db) -> None:
    """The token names the first key that the row duplicates, whether the other row is in the table or in the batch."""
    for inside in (False, True):
        db.run(
            "create temp table k (a integer, b integer, unique (a) constraint ka, unique (b) constraint kb)"
        )
        db.run("insert into k values (0, 7)")
        if inside:
            db.session.begin()
        outcome = batch(db, "insert into k values (?, ?)", [(1, 1), (1, 7), (0, 1), (2, 7), (3, 1)])
        if inside:
            db.session.commit()
        near = [outcome.errors[row].near for row in sorted(outcome.errors)]
        assert near == ["informix.ka", "informix.ka", "informix.kb", "informix.kb"]
        db.run("drop table k")


def test_a_key_of_several_columns_is_equal_only_as_a_whole(db: Db) -> None:
    db.run("create temp table k (a varchar(5), b float, c date, unique (a, b, c))")
    day = dt.date(2020, 1, 1)
    rows: list[tuple[object, ...]] = [
        ("x", 1.0, day), ("x", 2.0, day), ("y", 1.0, day), ("x", 1.0, None), ("x", 1.0, None), ("x", 1.0, day),
        ("z", 0.0, day), ("z", -0.0, day),
    ]  # fmt: skip
    outcome = batch(db, "insert into k values (?, ?, ?)", rows)
    assert codes(outcome.outcomes()) == [0, 0, 0, 0, -268, -268, 0, -268]


def test_floating_decimals_and_the_lowest_bigint_are_converted_one_by_one(db: Db) -> None:
    db.run("create temp table d (f decimal(5), b bigint, tail integer)")
    rows: list[tuple[object, ...]] = [
        ("1.234567", 1, 1),
        (None, -(2**63), 2),
        ("1" + "0" * 130, 3, 3),
        ("-0.5", 4, 4),
    ]
    outcome = batch(db, "insert into d values (?, ?, ?)", rows)
    assert codes(outcome.outcomes()) == [0, -1284, -1226, 0]
    assert db.rows("select f, tail from d order by tail") == [("1.2346", 1), ("-0.5", 4)]


@pytest.mark.parametrize(
    ("declared", "last"),
    [("serial", 2**31 - 1), ("serial8", 2**63 - 1), ("bigserial", 2**63 - 1), ("serial(500)", 2**31 - 1)],
)
def test_a_serial_begins_anew_at_1_behind_its_range(db: Db, declared: str, last: int) -> None:
    """An existing number is refused if the serial is a key. The next row gets the next number."""
    db.run(f"create temp table s (id {declared} primary key, tail integer)")
    db.run("insert into s values (2, 0)")
    outcome = batch(db, "insert into s values (?, ?)", [(last - 1, 1), (0, 2), (0, 3), (0, 4), (0, 5)])
    assert codes(outcome.outcomes()) == [0, 0, 0, -268, 0]
    assert db.rows("select id, tail from s order by tail") == [
        (2, 0),
        (last - 1, 1),
        (last, 2),
        (1, 3),
        (3, 5),
    ]
    db.run("insert into s values (0, 6)")
    db.run("insert into s values (?, 7)", last - 2)
    assert db.fails("insert into s select 0, 8 from sysmaster:sysdual").sqlcode == -268  # last - 1 exists
    db.run("delete from s where id in (1, 2, ?)", last)
    outcome = batch(db, "insert into s values (?, ?)", [(0, 8), (0, 9), (0, 10), (0, 11), (0, 12)])
    assert codes(outcome.outcomes()) == [0, 0, 0, -268, -268]
    assert db.rows("select id, tail from s where tail > 7 order by tail") == [(last, 8), (1, 9), (2, 10)]


def test_a_serial_that_is_reset_goes_on_there_after_its_range(db: Db) -> None:
    db.run("create table s (id serial(100), tail integer)")
    db.run("insert into s values (2147483647, 1)")
    db.run("insert into s values (0, 2)")
    db.run("alter table s modify (id serial(7000))")
    db.run("insert into s values (0, 3)")
    db.run("insert into s values (0, 4)")
    assert db.rows("select id from s order by tail") == [(2147483647,), (1,), (7000,), (7001,)]
    db.run("drop table s")


def test_an_interrupted_batch_is_not_tried_row_by_row(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    db.run("create temp table t (a integer)")

    def interrupted(*_: object) -> None:
        raise SqlError(-213, -157)

    prepared, columns = batch_of(db, "insert into t values (?)", [(1,), (2,)])
    monkeypatch.setattr("informix_arrow.server.session.table_appender._write", interrupted)
    with pytest.raises(SqlError) as caught:
        db.session.execute_batch(prepared, columns)
    assert caught.value.sqlcode == -213
    with pytest.raises(SqlError):
        db.many("insert into t values (?)", [(1,), (2,)])
    monkeypatch.undo()
    assert db.value("select count(*) from t") == 0


def test_a_hundred_thousand_rows_of_which_every_one_repeats_a_key(db: Db) -> None:
    db.run("create temp table k (a integer primary key, tail integer)")
    columns = pa.record_batch(
        [pa.array([n // 2 for n in range(100_000)], pa.int32()), pa.array(range(100_000), pa.int32())],
        ["a", "t"],
    )
    outcome = db.session.execute_batch(db.session.prepare("insert into k values (?, ?)"), columns)
    assert outcome.inserted == 50_000
    assert db.value("select sum(mod(tail, 2)) from k") == 0
