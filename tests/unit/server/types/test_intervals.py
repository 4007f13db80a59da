"""INTERVAL of both classes in the engine: text, storage, conversion, arithmetic (TYPES section 7)."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.server.sql_session import Copies, Db

from informix_arrow.server.session.engine import Engine
from informix_arrow.server.types import intervals
from informix_arrow.wire.datetimes import IntervalValue
from informix_arrow.wire.qualifiers import Qualifier

ONE = "from systables where tabid = 1"
NANOS = 1_000_000_000
VECTORS = [
    v
    for v in json.loads((Path(__file__).parents[3] / "vectors" / "types.json").read_text())
    if v["type"] == 14
]
FIELDS = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"]
ENDS = [*FIELDS, *(f"FRACTION({n})" for n in range(1, 6))]


def qualifiers() -> list[str]:
    """Return every pair of fields of both classes, with leading precisions of 1 and 9, and of 2, 3 or 8 in turn."""
    found: list[str] = []
    for first, last in itertools.product(FIELDS, ENDS):
        same_class = (first in ("YEAR", "MONTH")) == (last in ("YEAR", "MONTH"))
        if same_class and ENDS.index(first) <= ENDS.index(last):
            found += [f"{first}({n}) TO {last}" for n in (1, (2, 3, 8)[len(found) // 3 % 3], 9)]
    return found


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


def value_of(text: str, qualifier: Qualifier) -> pa.MonthDayNano:
    """Return the Arrow value of an interval text, computed without the engine."""
    negative = text.startswith("-")
    units = {"YEAR": (12, 0, 0), "MONTH": (1, 0, 0), "DAY": (0, 1, 0), "HOUR": (0, 0, 3600), "MINUTE": (0, 0, 60),
             "SECOND": (0, 0, 1)}  # fmt: skip
    whole, _, fraction = text.lstrip("-").partition(".")
    numbers = [int(part) for part in whole.replace("-", ":").replace(" ", ":").split(":")]
    names = [name for name in qualifier.field_names if name != "FRACTION"]
    months = days = seconds = 0
    for name, number in zip(names, numbers, strict=True):
        m, d, s = units[name]
        months, days, seconds = months + m * number, days + d * number, seconds + s * number
    days, seconds = days + seconds // 86400, seconds % 86400
    nanos = seconds * NANOS + int(fraction.ljust(9, "0") or 0)
    sign = -1 if negative else 1
    return pa.MonthDayNano([sign * months, sign * days, sign * nanos])


@pytest.mark.parametrize("vector", VECTORS, ids=[f"{v['name']} {v['value']}" for v in VECTORS])
def test_a_known_interval_is_stored_and_written_out_as_its_text(db: Db, vector: dict[str, Any]) -> None:
    text = vector["value"]
    db.run(f"create temp table v (id integer, a {vector['name']}, tail integer)")
    db.run("insert into v values (1, ?, 77)", text)
    assert db.rows("select a::lvarchar, tail, a::char(40) from v") == [(text, 77, text)]
    described = db.session.prepare("select a from v").columns[0].type
    assert (described.code, described.encoded_length) == (14, vector["encoded_length"])


@pytest.mark.slow
@pytest.mark.parametrize("declared", qualifiers())
def test_the_largest_and_smallest_values_of_a_qualifier_survive(db: Db, declared: str) -> None:
    qualifier = Qualifier.parse(declared, interval=True)
    largest = intervals.magnitude_limit(qualifier) - intervals.smallest_step(qualifier)
    texts = [
        intervals.format_units(n, qualifier)
        for n in (largest, -largest, 0, intervals.smallest_step(qualifier))
    ]
    assert (
        texts[0].split(" ")[0].split(":")[0].split("-")[0].split(".")[0].lstrip("0")
        == "9" * qualifier.leading
    )
    db.run(f"create temp table q (id integer, a interval {declared}, tail integer)")
    for number, text in enumerate(texts):
        db.run("insert into q values (?, ?, 77)", number, text)
    db.run(f"insert into q values (9, interval({texts[1]}) {declared}, 77)")
    rows = db.rows("select a::lvarchar, tail from q order by id")
    assert rows == [(text, 77) for text in [*texts, texts[1]]]
    if declared != "YEAR(9) TO YEAR" and declared != "YEAR(9) TO MONTH":
        found = [v for v, _ in db.rows("select a, tail from q order by id")]
        assert found == [value_of(text, qualifier) for text in [*texts, texts[1]]]
    else:
        assert db.fails("select a from q").sqlcode == -1267  # more months than Arrow's type can hold
    one_more = intervals.format_units(largest + intervals.smallest_step(qualifier), qualifier)
    assert db.fails("insert into q values (10, ?, 77)", one_more).sqlcode == -1261
    assert db.rows("select count(*) from q")[0][0] == 5


@pytest.mark.parametrize(
    ("declared", "text", "code"),
    [
        ("day to second", "1 02:03", -1263),
        ("day to second", "1 24:00:00", -1263),
        ("day to second", "1 00:60:00", -1263),
        ("day to second", "1 00:00:60", -1263),
        ("day to second", "100 00:00:00", -1261),
        ("day to second", "x", -1262),
        ("day to second", "", -1262),
        ("day to second", "1-02:03:04", -1262),
        ("day to second", "1 02:03:04 5", -1264),
        ("day to second", "1 02:03:04x", -1264),
        ("year to month", "1-12", -1263),
        ("year to month", "1", -1263),
        ("year to month", "10000-01", -1261),
        ("second to second", "1.", -1262),
    ],
)
def test_a_text_that_is_no_interval_is_refused(db: Db, declared: str, text: str, code: int) -> None:
    db.run(f"create temp table bad (a interval {declared}, tail integer)")
    assert db.fails("insert into bad values (?, 77)", text).sqlcode == code
    assert db.fails(f"insert into bad values ('{text}', 77)").sqlcode == code
    if text:
        assert db.fails(f"insert into bad values (interval({text}) {declared}, 77)").sqlcode == code
    assert db.rows("select * from bad") == []


@pytest.mark.parametrize("text", ["+1 02:03:04", " 1 02:03:04 ", "1  02:03:04", "01 2:3:4", "1 02:03:04.999"])
def test_signs_blanks_and_finer_digits_of_a_text_are_read_as_informix_does(db: Db, text: str) -> None:
    db.run("create temp table loose (a interval day to second, tail integer)")
    db.run("insert into loose values (?, 77)", text)
    assert db.rows("select a::lvarchar, tail from loose") == [("1 02:03:04", 77)]


def parameter(text: str, declared: str) -> IntervalValue:
    qualifier = Qualifier.parse(declared, interval=True)
    return intervals.value_of(intervals.parse(text, qualifier), qualifier)


@pytest.mark.parametrize(
    ("given", "source", "declared", "wanted"),
    [
        ("3 04:05:06.78901", "DAY(9) TO FRACTION(5)", "day to second", "3 04:05:06"),
        ("-3 04:05:06.78901", "DAY(9) TO FRACTION(5)", "day to second", "-3 04:05:06"),
        ("-0 00:00:00.99999", "DAY(9) TO FRACTION(5)", "day to second", "0 00:00:00"),
        ("3 04:05:06.78901", "DAY(9) TO FRACTION(5)", "hour(3) to minute", "76:05"),
        ("3 04:05:06.78901", "DAY(9) TO FRACTION(5)", "second(9) to fraction(2)", "273906.78"),
        ("99:59", "HOUR(2) TO MINUTE", "day to day", "4"),
        ("5-03", "YEAR(9) TO MONTH", "month(3) to month", "63"),
        ("-5-03", "YEAR(9) TO MONTH", "year to year", "-5"),
    ],
)
def test_a_parameter_is_brought_to_the_columns_qualifier(
    db: Db, given: str, source: str, declared: str, wanted: str
) -> None:
    value = parameter(given, source)
    db.run(f"create temp table conv (id integer, a interval {declared}, tail integer)")
    db.run("insert into conv values (1, ?, 77)", value)
    db.many("insert into conv values (?, ?, 77)", [(2, value), (3, None)])
    db.run("insert into conv values (4, null, 77)")
    db.run("update conv set a = ? where id = 4", value)
    db.run(f"create temp table source (a interval {source.lower()})")
    db.run("insert into source values (?)", value)
    db.run("insert into conv select 5, a, 77 from source")
    db.run(f"insert into conv values (6, interval({given}) {source}, 77)")
    sql = f"insert into conv select 7, a::interval {declared}, 77 from source"
    db.run(sql)
    rows = db.rows("select id, a::lvarchar, tail from conv order by id")
    assert rows == [(n, None if n == 3 else wanted, 77) for n in range(1, 8)]


def test_too_many_digits_for_the_columns_first_field_are_refused_everywhere(db: Db) -> None:
    db.run("create temp table small (id integer, a interval day(2) to hour, tail integer)")
    value = dt.timedelta(days=100)
    assert db.fails("insert into small values (1, ?, 77)", value).sqlcode == -1265
    assert db.fails("insert into small values (1, interval(2400) hour(4) to hour, 77)").sqlcode == -1265
    db.run("insert into small values (1, ?, 77)", -dt.timedelta(days=99, hours=23))
    assert db.fails("update small set a = ?", value).sqlcode == -1265
    assert db.fails("update small set a = a - 1 units day").sqlcode == -1265
    assert db.fails("select a::interval day(1) to day from small").sqlcode == -1265
    assert db.rows("select a::lvarchar, tail from small") == [("-99 23", 77)]


def test_the_classes_never_mix(db: Db) -> None:
    db.run(
        "create temp table both (d interval day to second, y interval year to month, n integer, tail integer)"
    )
    db.run("insert into both values ('1 00:00:00', '1-00', 5, 77)")
    month = parameter("1-00", "YEAR(9) TO MONTH")
    for sql, parameters in (
        ("update both set d = ?", (month,)),
        ("update both set y = ?", (dt.timedelta(1),)),
        ("update both set d = y", ()),
        ("select d + y from both", ()),
        ("select tail from both where d > y", ()),
        ("select tail from both where d = ?", (month,)),
        ("select d::interval year to month from both", ()),
        ("select case when tail = 1 then d else y end from both", ()),
    ):
        assert db.fails(sql, *parameters).sqlcode == -1266, sql
    for sql in ("update both set d = n", "update both set n = d", "select d::integer from both",
                "select d * y from both", "insert into both values (1, null, 1, 1)"):  # fmt: skip
        assert db.fails(sql).sqlcode in (-9634, -1260), sql
    assert db.fails("select d from both union select n from both").sqlcode == -308
    assert db.rows("select d::lvarchar, y::lvarchar, n, tail from both") == [("1 00:00:00", "1-00", 5, 77)]


def test_intervals_are_compared_and_ordered_by_their_length(db: Db) -> None:
    db.run("create temp table o (id integer, a interval minute(5) to fraction(2), tail integer)")
    texts = ["-00:00.01", "90:00.00", "0:59.99", "1:00.00", "-99999:00.00", "99999:59.99"]
    db.many("insert into o values (?, ?, 77)", [*enumerate(texts), (9, None)])
    assert [r[0] for r in db.rows("select id, tail from o order by a")] == [9, 4, 0, 2, 3, 1, 5]
    assert [r[0] for r in db.rows("select id from o order by a desc")] == [5, 1, 3, 2, 0, 4, 9]
    assert db.rows("select id from o where a > interval(1) minute to minute order by id") == [(1,), (5,)]
    assert db.rows("select id from o where a = '01:00.00'") == [(3,)]
    assert db.rows("select id from o where a = ?", dt.timedelta(minutes=90)) == [(1,)]
    # compared values are not truncated to the column's fields
    assert db.rows(
        "select id from o where a < ? and a > ?", dt.timedelta(0, 59, 999_999), dt.timedelta(0)
    ) == [(2,)]
    assert db.rows("select id from o where a between ? and '1:00.00' order by id", "00:00.00") == [(2,), (3,)]
    assert db.rows("select id from o where a in ('1:00.00', interval(90) minute to minute) order by id") == [
        (1,),
        (3,),
    ]
    found = db.rows("select min(a)::lvarchar, max(a)::lvarchar, count(a), count(distinct a) from o")
    assert [str(v) for v in found[0]] == ["-99999:00.00", "99999:59.99", "6", "6"]


EXPRESSIONS: list[tuple[str, str, str]] = [
    ("interval(1 02:03:04) day to second + interval(0 00:00:01) day to second", "1 02:03:05", "DAY(9) TO SECOND"),
    ("interval(100:30.0005) minute(3) to fraction(4) - interval(120.01) second(3) to fraction",
     "98:29.9905", "MINUTE(9) TO FRACTION(4)"),
    ("interval(5) day to day + interval(47:59) hour to minute", "6", "DAY(9) TO DAY"),
    ("interval(1-06) year to month - interval(20) month(2) to month", "-0-02", "YEAR(9) TO MONTH"),
    ("interval(15:30.0002) minute to fraction(4) * 2.5", "38:45.0005", "MINUTE(9) TO FRACTION(4)"),
    ("2.5 * interval(15:30.0002) minute to fraction(4)", "38:45.0005", "MINUTE(9) TO FRACTION(4)"),
    ("interval(1 00:00:00) day to second / 7", "0 03:25:42", "DAY(9) TO SECOND"),
    ("interval(-1 00:00:00) day to second / 7", "-0 03:25:42", "DAY(9) TO SECOND"),
    ("interval(1-00) year to month / 0.7", "1-05", "YEAR(9) TO MONTH"),
    ("interval(999999999) second(9) to second * 1e0", "999999999", "SECOND(9) TO SECOND"),
    ("-interval(1-06) year to month", "-1-06", "YEAR(4) TO MONTH"),
    ("5 units day", "5", "DAY(9) TO DAY"),
    ("2.9 units hour", "02", "HOUR(9) TO HOUR"),
    ("-3 units month", "-3", "MONTH(9) TO MONTH"),
    ("nvl(null::interval hour to minute, interval(9:59) hour to minute)", "09:59", "HOUR(2) TO MINUTE"),
    ("case when tabid = 2 then interval(1) day to day else interval(01:30) hour to minute end",
     "0 01:30", "DAY(9) TO MINUTE"),
    ("datetime(2026-03-01 00:00:00) year to second - datetime(2026-02-28 12:00:00) year to second",
     "0 12:00:00", "DAY(8) TO SECOND"),
    ("datetime(2024-05) year to month - datetime(2026-03) year to month", "-1-10", "YEAR(4) TO MONTH"),
    ("datetime(2026-03-01) year to day - datetime(2024-03-01) year to day", "730", "DAY(8) TO DAY"),
    ("datetime(2026-03-01 01) year to hour - date('02/28/2026')", "1 01", "DAY(8) TO HOUR"),
    ("datetime(10:00) hour to minute - datetime(12:30:15.5) hour to fraction(1)", "-02:30:15.5",
     "HOUR(6) TO FRACTION(1)"),
]  # fmt: skip


@parametrize_in_one_test(("expression", "text", "declared"), EXPRESSIONS, ids=[e[0] for e in EXPRESSIONS])
def test_an_expression_is_an_interval_of_the_right_value_and_qualifier(
    db: Db, expression: str, text: str, declared: str
) -> None:
    assert db.rows(f"select ({expression})::lvarchar, 4711 {ONE}") == [(text, 4711)]
    column = db.session.prepare(f"select {expression} {ONE}").columns[0]
    assert (column.type.code, column.type.sql) == (14, f"INTERVAL {declared}")
    qualifier = column.type.qualifier
    assert qualifier is not None
    assert db.rows(f"select {expression}, 4711 {ONE}") == [(value_of(text, qualifier), 4711)]


@pytest.mark.parametrize(
    ("expression", "value", "declared"),
    [
        ("date('02/28/2024') + 2 units day", dt.date(2024, 3, 1), "DATETIME YEAR TO DAY"),
        ("date('02/28/2024') - interval(1-00) year to month", dt.date(2023, 2, 28), "DATETIME YEAR TO DAY"),
        ("date('02/28/2024') + interval(25:30) hour to minute", dt.datetime(2024, 2, 29, 1, 30),
         "DATETIME YEAR TO MINUTE"),
        ("datetime(2024-02-28 23:59:59) year to second + interval(1) second to second",
         dt.datetime(2024, 2, 29), "DATETIME YEAR TO SECOND"),
        ("interval(1) second to second + datetime(2024-02-28 23:59:59) year to second",
         dt.datetime(2024, 2, 29), "DATETIME YEAR TO SECOND"),
        ("datetime(2024-02-29 00:00:00.00) year to fraction(2) - interval(0.01) second to fraction(2)",
         dt.datetime(2024, 2, 28, 23, 59, 59, 990_000), "DATETIME YEAR TO FRACTION(2)"),
        ("datetime(10:30) hour to minute - 31 units minute", dt.time(9, 59), "DATETIME HOUR TO MINUTE"),
        ("extend(date('02/28/2024'), year to minute) + 90 units minute", dt.datetime(2024, 2, 28, 1, 30),
         "DATETIME YEAR TO MINUTE"),
        ("datetime(0001-01-01) year to day + interval(999999) day(6) to day", dt.date(2738, 11, 28),
         "DATETIME YEAR TO DAY"),
    ],
)  # fmt: skip
def test_a_moment_moves_by_an_interval(db: Db, expression: str, value: Any, declared: str) -> None:
    sql = f"select {expression}, 4711 {ONE}"
    assert db.rows(sql) == [(value, 4711)]
    assert db.types(sql)[0][1] == declared


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("date('01/31/2026') + 1 units month", -1267),
        ("date('02/29/2024') + 1 units year", -1267),
        ("date('12/31/9999') + 1 units day", -1267),
        ("today + interval(999999999) day(9) to day", -1267),
        ("today - interval(999999999) day(9) to day", -1267),
        ("current year to second + interval(999999999) year(9) to year", -1267),
        ("current year to fraction(5) - interval(999999999-11) year(9) to month", -1267),
        ("datetime(0001-01-01) year to day - 1 units day", -1267),
        ("datetime(23:30) hour to minute + 31 units minute", -1267),
        ("datetime(2026-01-01) year to day + 1 units hour", -1266),
        ("datetime(10:30) hour to minute + 1 units month", -1266),
        ("interval(999999999) day(9) to day + 1 units day", -1265),
        ("interval(999999999) day(9) to day * 2", -1265),
        ("interval(1) day to day / 0", -1202),
        ("interval(1) day to day * interval(1) day to day", -1260),
        ("1 / interval(1) day to day", -1260),
        ("'x' units day", -1213),
    ],
)
def test_what_has_no_result_is_refused(db: Db, expression: str, code: int) -> None:
    assert db.fails(f"select {expression} {ONE}").sqlcode == code


def test_totals_of_intervals_are_exact(db: Db) -> None:
    db.run("create temp table s (g integer, a interval day(9) to fraction(5), m interval month to month)")
    rows = [(n % 2, dt.timedelta(days=n, microseconds=10 * n), f"{n % 90}") for n in range(1, 101)]
    db.many("insert into s values (?, ?, ?)", [*rows, (0, None, None)])
    sql = (
        "select g, sum(a)::lvarchar, avg(a)::lvarchar, sum(m)::lvarchar, avg(m)::lvarchar from s group by g "
    )
    sql += "order by g"
    assert db.rows(sql) == [
        (0, "2550 00:00:00.02550", "51 00:00:00.00051", "2010", "40"),
        (1, "2500 00:00:00.02500", "50 00:00:00.00050", "2050", "41"),
    ]
    assert db.rows("select sum(a), 1 from s where g = 7") == [(None, 1)]


def test_casts_between_texts_and_intervals_of_columns(db: Db) -> None:
    db.run("create temp table c (t varchar(20), a interval day to second, tail integer)")
    db.run("insert into c values ('-1 02:03:04', '0 00:00:05', 77)")
    assert db.rows("select t::interval day to second, tail from c") == [
        (pa.MonthDayNano([0, -1, -7384 * NANOS]), 77)
    ]
    assert db.rows("select tail from c where a > t") == [(77,)]
    assert db.rows("select 'is ' || a, a::varchar(3), length(a) from c") == [("is 0 00:00:05", "0 0", 10)]
    db.run("update c set t = a")
    assert db.rows("select t from c") == [("0 00:00:05",)]
    db.run("update c set t = 'nothing'")
    assert db.fails("select t::interval day to second from c").sqlcode == -1262


def test_a_parameter_beside_a_moment_is_an_interval_and_beside_an_interval_one_of_its_class(db: Db) -> None:
    sql = f"select datetime(2026-01-01 00:00) year to minute + ?, interval(1) day to day + ?, 4711 {ONE}"
    prepared = db.session.prepare(sql)
    assert [t.sql for t in prepared.parameters] == ["INTERVAL DAY(9) TO MINUTE", "INTERVAL DAY(2) TO DAY"]
    found = db.rows(sql, dt.timedelta(minutes=1, seconds=59), dt.timedelta(days=1, hours=23))
    assert found == [(dt.datetime(2026, 1, 1, 0, 1), pa.MonthDayNano([0, 2, 0]), 4711)]
    sql = f"select datetime(2026-01-01 00:00:00) year to second + ?::interval minute to second, 4711 {ONE}"
    assert db.rows(sql, "01:30") == [(dt.datetime(2026, 1, 1, 0, 1, 30), 4711)]


def test_an_interval_is_a_key_and_has_constraints(db: Db) -> None:
    db.run(
        "create temp table k (a interval hour to minute primary key, check (a > interval(1) hour to hour))"
    )
    db.run("insert into k values ('01:30')")
    assert db.fails("insert into k values ('01:30')").sqlcode == -268
    assert db.fails("insert into k values ('00:30')").sqlcode == -530
    assert db.rows("select a::lvarchar from k") == [("01:30",)]


@pytest.mark.slow
def test_the_text_in_python_and_in_duckdb_agree_for_every_qualifier(db: Db) -> None:
    for declared in qualifiers():
        qualifier = Qualifier.parse(declared, interval=True)
        step, end = intervals.smallest_step(qualifier), intervals.magnitude_limit(qualifier)
        samples = {
            n // step * step for n in (0, 1, step, 59 * step, 61 * step, end // 3, end // 7 * 5, end - step)
        }
        numbers = sorted({n * sign for n in samples if n < end for sign in (1, -1)})
        given = ", ".join(f"({n}, {units})" for n, units in enumerate(numbers))
        sql = (
            f"SELECT {intervals.text_sql('units', qualifier)} FROM (VALUES {given}) AS v(n, units) ORDER BY n"
        )
        texts = db.session.transaction.con.execute(sql).fetchall()
        for units, (text,) in zip(numbers, texts, strict=True):
            value = intervals.value_of(units, qualifier)
            assert text == intervals.format_units(units, qualifier) == value.text
            assert intervals.parse(text, qualifier) == units == intervals.units_of(value)
