"""Every type of the server in every place of a statement that may have it, always with a sentinel after it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.session.engine import Engine

pytestmark = pytest.mark.slow

NANOS = 1_000_000_000


class Case(NamedTuple):
    """A declaration, two parameters with the values read back, and a DEFAULT with its value ("" for none).

    `coltype` and `length` are those of syscolumns and DESCRIBE. `comparable` is False if `=` is refused.
    """

    declared: str
    values: tuple[tuple[Any, Any], ...]
    default: tuple[str, Any] = ("", None)
    coltype: int = 0
    length: int = 0
    extended: int = 0
    comparable: bool = True


def mdn(months: int = 0, days: int = 0, seconds: int = 0, nanos: int = 0) -> pa.MonthDayNano:
    return pa.MonthDayNano([months, days, seconds * NANOS + nanos])


CASES = [
    Case("char(5)", (("ab", "ab"), ("", "")), ("'xyz'", "xyz"), 0, 5),
    Case("nchar(4)", (("é", "é"), ("abcd", "abcd")), ("'x'", "x"), 15, 4),
    Case("varchar(20,3)", (("", ""), ("x" * 20, "x" * 20)), ("'v'", "v"), 13, 3 << 8 | 20),
    Case("nvarchar(255)", (("ä", "ä"), ("b" * 255, "b" * 255)), ("'n'", "n"), 16, 255),
    Case("lvarchar(300)", (("", ""), ("y" * 300, "y" * 300)), ("'l'", "l"), 40, 300, 1),
    Case("smallint", ((-32767, -32767), (32767, 32767)), ("-5", -5), 1, 2),
    Case("integer", ((-2147483647, -2147483647), (0, 0)), ("7", 7), 2, 4),
    Case("int8", ((-(2**63) + 1, -(2**63) + 1), (2**63 - 1, 2**63 - 1)), ("8", 8), 17, 10),
    Case("bigint", ((-(2**63) + 1, -(2**63) + 1), (1, 1)), ("9", 9), 52, 8),
    Case("smallfloat", ((1.5, 1.5), (-0.25, -0.25)), ("2.5", 2.5), 4, 4),
    Case("float", ((1e300, 1e300), (-0.1, -0.1)), ("0.5", 0.5), 3, 8),
    Case(
        "decimal(5,5)",
        ((Decimal("0.00001"), Decimal("0.00001")), (Decimal("-0.5"), Decimal("-0.50000"))),
        ("0.25", Decimal("0.25000")), 5, 5 << 8 | 5,
    ),
    Case(
        "decimal(32,2)",
        ((Decimal("-" + "9" * 30 + ".99"), Decimal("-" + "9" * 30 + ".99")), (1, Decimal("1.00"))),
        ("-0.01", Decimal("-0.01")), 5, 32 << 8 | 2,
    ),
    Case(
        "decimal(32)",
        ((Decimal("12345678901234567890.123456789012"), "12345678901234567890.123456789012"), (0, "0")),
        ("1.25", "1.25"), 5, 32 << 8 | 255,
    ),
    Case("money(10,2)", ((Decimal("-1.5"), Decimal("-1.50")), (3, Decimal("3.00"))), ("2", Decimal("2.00")), 8, 2562),
    Case("date", ((dt.date(1, 1, 1), dt.date(1, 1, 1)), (dt.date(9999, 12, 31), dt.date(9999, 12, 31))),
         ("'02/29/2024'", dt.date(2024, 2, 29)), 7, 4),
    Case("boolean", ((True, True), (False, False)), ("'t'", True), 41, 1, 5),
    Case(
        "datetime year to fraction(5)",
        (
            (dt.datetime(2026, 1, 2, 3, 4, 5, 678900), dt.datetime(2026, 1, 2, 3, 4, 5, 678900)),
            (dt.datetime(1, 1, 1), dt.datetime(1, 1, 1)),
        ),
        ("datetime (2026-01-02 03:04:05.5) year to fraction(5)", dt.datetime(2026, 1, 2, 3, 4, 5, 500000)), 10, 0x130F,
    ),
    Case("datetime hour to minute", ((dt.time(23, 59), dt.time(23, 59)), (dt.time(0, 0), dt.time(0, 0))),
         ("datetime (12:30) hour to minute", dt.time(12, 30)), 10, 0x0468),
    Case("datetime month to day", (("12-25", "12-25"), ("02-28", "02-28")),
         ("datetime (01-31) month to day", "01-31"), 10, 0x0424),
    Case("interval day to second", (("-3 04:05:06", mdn(0, -3, -14706)), ("0 00:00:00", mdn())),
         ("interval (1 02:03:04) day to second", mdn(0, 1, 7384)), 14, 0x084A),
    Case("interval year(9) to month", (("-1-06", mdn(-18)), ("178956970-07", mdn(2**31 - 1))),
         ("interval (2-01) year to month", mdn(25)), 14, 0x0B02),
    Case("interval minute(5) to fraction(3)",
         (("12345:59.001", mdn(0, 8, 49559, 1_000_000)), ("-0:00.500", mdn(0, 0, 0, -500_000_000))),
         ("interval (5) minute to minute", mdn(0, 0, 300)), 14, 0x0A8D),
    Case("byte in table", ((b"\0\xff", b"\0\xff"), (b"", b"")), ("", None), 11, 56, comparable=False),
    Case("text in blobspace1", ((b"h\xe9", b"h\xe9"), ("ü", b"\xc3\xbc")), ("", None), 12, 56, comparable=False),
    Case("set(integer not null)", (("SET{2,1,2}", "SET{1          ,2          }"), ("SET{}", "SET{}")),
         ("", None), 19, 2048, 2048),
    Case("multiset(varchar(9) not null)", (("MULTISET{'b','a','b'}", "MULTISET{'a','b','b'}"),
         ("MULTISET{''}", "MULTISET{''}")), ("", None), 20, 2048, 2048),
    Case("list(decimal(6,2) not null)", (("LIST{2.5, -1}", "LIST{2.50,-1.00}"), ("LIST{0}", "LIST{0.00}")),
         ("", None), 21, 2048, 2048),
    Case("row(name varchar(50), age int)", (("ROW('O''Neil', 30)", "ROW('O''Neil',30         )"),
         ("ROW(NULL, NULL)", "ROW(NULL,NULL)")), ("", None), 22, 2048, 2048),
    Case("person_t", (("ROW('A', '2 03:00:00')", "ROW('A','2 03:00:00')"), ("ROW('', NULL)", "ROW('',NULL)")),
         ("", None), 4118, 2048, 2048),
    Case("dollar", ((Decimal("1.5"), Decimal("1.50")), (-2, Decimal("-2.00"))), ("12.5", Decimal("12.50")),
         0x0805, 2562, 2049),
]  # fmt: skip
every_type = pytest.mark.parametrize("case", CASES, ids=[c.declared for c in CASES])


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    for engine in empty.engine():
        db = connect(engine)
        db.run("create row type person_t (name varchar(20), span interval day to second)")
        db.run("create distinct type dollar as decimal(10,2)")
        db.session.close()
        yield engine


@pytest.fixture
def db(engine: Engine) -> Iterator[Db]:
    db = connect(engine)
    yield db
    for name in ("t", "u"):
        db.run(f"drop table if exists {name}")
    db.session.close()


def filled(db: Db, case: Case, temporary: str = "") -> None:
    """Create a table t (id, v, tail) with both values and a NULL."""
    db.run(f"create {temporary} table t (id integer, v {case.declared}, tail integer)")
    for number, (given, _) in enumerate(case.values, 1):
        db.run("insert into t values (?, ?, ?)", number, given, 70 + number)
    db.run("insert into t values (9, ?, 79)", None)


def expected(case: Case) -> list[tuple[Any, ...]]:
    return [(1, case.values[0][1], 71), (2, case.values[1][1], 72), (9, None, 79)]


@every_type
def test_a_column_of_a_table_or_a_temporary_table_gives_back_what_went_in(db: Db, case: Case) -> None:
    for temporary in ("", "temp"):
        filled(db, case, temporary)
        assert db.rows("select * from t order by id") == expected(case)
        db.run("drop table t")


@every_type
def test_a_batch_of_rows_goes_in_like_single_ones(db: Db, case: Case) -> None:
    db.run(f"create table t (id integer, v {case.declared}, tail integer)")
    rows = [(n, given, 70 + n) for n, (given, _) in enumerate(case.values, 1)] + [(9, None, 79)]
    db.many("insert into t values (?, ?, ?)", rows)
    assert db.rows("select * from t order by id") == expected(case)


@every_type
def test_a_default_fills_an_omitted_column_and_the_rows_of_an_altered_table(db: Db, case: Case) -> None:
    text, value = case.default
    clause = f"default {text}" if text else "default null"
    place = " in blobspace1" if case.coltype in (11, 12) else ""
    declared = case.declared.partition(" in ")[0] + place
    db.run(f"create table t (id integer, v {declared} {clause}, tail integer)")
    db.run("insert into t (id, tail) values (1, 77)")
    assert db.rows("select * from t") == [(1, value, 77)]
    db.run("create table u (id integer, tail integer)")
    db.run("insert into u values (1, 77)")
    db.run(f"alter table u add (v {declared} {clause})")
    assert db.rows("select id, tail, v, id from u") == [(1, 77, value, 1)]


@every_type
def test_a_result_becomes_a_temporary_table_and_goes_into_another_table(db: Db, case: Case) -> None:
    filled(db, case)
    db.run("select id, v, tail from t into temp copied")
    assert db.rows("select * from copied order by id") == expected(case)
    declared = case.declared
    db.run(f"create table u (id integer, v {declared}, tail integer)")
    assert db.run("insert into u select * from copied").rows == 3
    assert db.rows("select * from u order by id") == expected(case)
    assert db.types("select v, tail from copied") == db.types("select v, tail from u")


@every_type
def test_an_update_sets_a_parameter_a_column_and_null(db: Db, case: Case) -> None:
    filled(db, case)
    (first, shown), (_, second) = case.values
    assert db.run("update t set v = ? where id = ?", first, 9).rows == 1
    assert db.rows("select v, tail from t where id = 9") == [(shown, 79)]
    assert db.run("update t set v = null where id = 2").rows == 1
    assert db.rows("select v, tail from t where id = 2") == [(None, 72)]
    assert db.run("update t set v = v, tail = tail + 1 where id = 1").rows == 1
    assert db.rows("select v, tail from t where id = 1") == [(shown, 72)]
    assert second == case.values[1][1]


@every_type
def test_a_parameter_is_compared_with_the_column(db: Db, case: Case) -> None:
    filled(db, case)
    for number, (given, shown) in enumerate(case.values, 1):
        if case.comparable:
            assert db.rows("select id, v, tail from t where v = ?", given) == [(number, shown, 70 + number)]
        else:
            assert db.fails("select id from t where v = ?", given).sqlcode == -615
    assert db.rows("select id from t where v is null") == [(9,)]


@every_type
def test_a_null_literal_has_the_type_it_is_cast_to(db: Db, case: Case) -> None:
    declared = case.declared.partition(" in ")[0]
    sql = f"select null::{declared}, 4711 from systables where tabid = 1"
    assert db.rows(sql) == [(None, 4711)]
    column = db.session.prepare(sql).columns[0]
    assert (column.type.word & 0xFF, column.type.encoded_length) == (case.coltype & 0xFF, case.length)


@every_type
def test_union_case_and_nvl_keep_value_and_type(db: Db, case: Case) -> None:
    filled(db, case)
    shown = case.values[0][1]
    declared = case.declared.partition(" in ")[0]
    sql = f"select v, tail from t where id = 1 union all select null::{declared}, 5 from t where id = 9"
    assert db.rows(f"{sql} order by 2") == [(None, 5), (shown, 71)]
    if not case.comparable:
        return
    sql = "select case when id = 1 then v end, tail from t where id < 9 order by id"
    assert db.rows(sql) == [(shown, 71), (None, 72)]
    sql = "select nvl(v, (select v from t where id = 1)), tail from t where id = 9"
    assert db.rows(sql) == [(shown, 79)]
    for sql in ("select case when id = 1 then v end from t", "select nvl(v, v) from t"):
        found = db.session.prepare(sql).columns[0].type
        assert (found.code, found.encoded_length) == (case.coltype & 0xFF, case.length)


@every_type
def test_syscolumns_and_the_description_say_the_declared_type(db: Db, case: Case) -> None:
    db.run(f"create table t (id integer, v {case.declared} not null, tail integer)")
    sql = "select coltype, collength, extended_id from syscolumns c, systables t where c.tabid = t.tabid and "
    coltype, length, extended = db.rows(sql + "tabname = 't' and colname = 'v'")[0]
    assert (coltype, length & 0xFFFF) == (case.coltype + 256, case.length)
    assert extended >= case.extended if case.extended >= 2048 else extended == case.extended
    column = db.session.prepare("select v from t").columns[0]
    assert (column.type.word, column.type.encoded_length) == (coltype, case.length)
    assert column.type.extended_id == extended


@every_type
def test_null_is_refused_where_the_column_is_not_null(db: Db, case: Case) -> None:
    db.run(f"create table t (id integer, v {case.declared} not null, tail integer)")
    error = db.fails("insert into t values (1, ?, 77)", None)
    assert (error.sqlcode, error.near) == (-391, "v")
    db.run("insert into t values (1, ?, 77)", case.values[0][0])
    assert db.rows("select * from t") == [(1, case.values[0][1], 77)]


@every_type
def test_rollback_restores_the_column(db: Db, case: Case) -> None:
    filled(db, case)
    db.session.begin()
    db.run("update t set v = ?", case.values[1][0])
    db.run("delete from t where id = 1")
    db.session.rollback()
    assert db.rows("select * from t order by id") == expected(case)
