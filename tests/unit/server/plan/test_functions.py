"""Built-in functions, aggregates and OLAP functions of the server's SQL: values, and types and names of the columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.plan.values.letter_case import NONCHARACTERS, uncased
from informix_arrow.server.session.engine import Engine

CODECS = ("utf-8", "latin-1", "cp1252", "gb18030", "gbk", "big5", "cp932", "euc_jp", "cp949", "koi8-r")
ONE = "from systables where tabid = 1"


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture(scope="module")
def db(engine: Engine) -> Db:
    db = connect(engine)
    db.run("create table item (id integer, name char(10), grp smallint, price decimal(8,2), made date)")
    rows = [
        (1, "alpha", 1, "1.50", "01/31/2024"),
        (2, "beta", 1, "2.50", "02/29/2024"),
        (3, "gamma", 2, None, None),
    ]
    db.many("insert into item values (?,?,?,?,?)", rows)
    return db


SECONDS = "datetime(2024-05-17 12:34:56) year to second"
VALUES: list[tuple[str, Any, str]] = [
    # intervals
    (
        "numtodsinterval(90, 'MINUTE')",
        pa.MonthDayNano([0, 0, 5_400_000_000_000]),
        "INTERVAL MINUTE(9) TO MINUTE",
    ),
    ("to_dsinterval(-2.9, ' day ')", pa.MonthDayNano([0, -2, 0]), "INTERVAL DAY(9) TO DAY"),
    ("to_dsinterval('2 03:04:05')", pa.MonthDayNano([0, 2, 11_045_000_000_000]), "INTERVAL DAY(2) TO SECOND"),
    (
        "to_dsinterval('-2 03:04:05')",
        pa.MonthDayNano([0, -2, -11_045_000_000_000]),
        "INTERVAL DAY(2) TO SECOND",
    ),
    ("date('01/31/2024') + numtodsinterval(1, 'DAY')", dt.date(2024, 2, 1), "DATETIME YEAR TO DAY"),
    ("date('01/31/2024') + to_yminterval('1-02')", dt.date(2025, 3, 31), "DATETIME YEAR TO DAY"),
    ("date('01/31/2024') - numtoyminterval(2, 'year')", dt.date(2022, 1, 31), "DATETIME YEAR TO DAY"),
    ("to_char(to_dsinterval(null))", None, "VARCHAR(32)"),
    # casts
    ("'1.7'::int", 1, "INTEGER"),
    ("'-2.5'::bigint", -2, "BIGINT"),
    ("trim('1.7 ')::smallint", 1, "SMALLINT"),
    ("abs(-2147483648)", Decimal(2147483648), "DECIMAL(10,0)"),
    # bits
    ("ifx_bit_leftshift(1, 4)", 16, "INTEGER"),
    ("ifx_bit_leftshift(1, 31)", -(2**31), "INTEGER"),
    ("ifx_bit_leftshift(-3, 1)", -6, "INTEGER"),
    ("ifx_bit_leftshift(-1, 32)", -1, "INTEGER"),
    ("ifx_bit_leftshift(cast(3 as bigint), 62)", -(2**62), "BIGINT"),
    ("ifx_bit_leftshift(cast(-9223372036854775807 as bigint), 1)", 2, "BIGINT"),
    ("ifx_bit_rightshift(1048677, 20)", 1, "INTEGER"),
    ("ifx_bit_rightshift(-8, 1)", -4, "INTEGER"),
    ("ifx_bit_rightshift(cast(null as integer), 1)", None, "INTEGER"),
    ("ifx_bit_rightshift(cast(4611686018427387904 as bigint), 62)", 1, "BIGINT"),
    # texts
    ("instr('hello', 'l')", 3, "INTEGER"),
    ("instr('hello', 'l', 1, 2)", 4, "INTEGER"),
    ("instr('hello', 'l', -1)", 4, "INTEGER"),
    ("instr('hello', 'l', -1, 2)", 3, "INTEGER"),
    ("instr('hello', 'z', 2)", 0, "INTEGER"),
    ("charindex('l', 'hello')", 3, "INTEGER"),
    ("charindex('l', 'hello', 4)", 4, "INTEGER"),
    ("substr('hello', -3)", "llo", "VARCHAR(5)"),
    ("substr('hello', 2, -1)", "", "VARCHAR(5)"),
    ("substring('hello' from 2 for 3)", "ell", "VARCHAR(5)"),
    ("substring('hello' from 0 for 3)", "he", "VARCHAR(5)"),
    ("substring('California' from -5 for 10)", "Cali", "VARCHAR(10)"),
    ("substring('hello' from -9 for 3)", "", "VARCHAR(5)"),
    ("substring('hello', -1)", "hello", "VARCHAR(5)"),
    ("cast(null as int)::char(3)", None, "CHAR(3)"),
    ("nvl(null::decimal(8,2), 'a')", "a", "VARCHAR(11)"),
    ("substrb('hello', 2, 2)", "el", "VARCHAR(5)"),
    ("substring_index('a.b.c', '.', 2)", "a.b", "VARCHAR(5)"),
    ("substring_index('a.b.c', '.', -1)", "c", "VARCHAR(5)"),
    ("left('hello', 2) || right('hello', 2)", "helo", "VARCHAR(10)"),
    ("reverse('abc')", "cba", "CHAR(3)"),
    ("space(3) || 'x'", "   x", "VARCHAR(4)"),
    ("lpad('x', 3, '*')", "**x", "VARCHAR(3)"),
    ("rpad('x', 3)", "x  ", "VARCHAR(3)"),
    ("replace('banana', 'a', '')", "bnn", "VARCHAR(255)"),
    ("initcap('hello big world')", "Hello Big World", "CHAR(15)"),
    ("trim(both 'a' from 'aba')", "b", "VARCHAR(3)"),
    ("trim(leading from '  b ')", "b ", "VARCHAR(4)"),
    ("ltrim('aab', 'a')", "b", "VARCHAR(3)"),
    ("ascii('A')", 65, "INTEGER"),
    ("chr(97)", "a", "VARCHAR(1)"),
    ("hex(255)", "0x000000FF", "VARCHAR(10)"),
    ("hex(-1)", "0xFFFFFFFF", "VARCHAR(10)"),
    ("hex(5000000000)", "0x000000012A05F200", "VARCHAR(18)"),
    ("hex(-1::bigint)", "0xFFFFFFFFFFFFFFFF", "VARCHAR(18)"),
    ("length('abc  ')", 3, "INTEGER"),
    ("octet_length('abc  ')", 5, "INTEGER"),
    ("char_length('abc  ')", 5, "INTEGER"),
    # numbers
    ("mod(-7, 3)", -1, "INTEGER"),
    ("mod(17.9, 5.2)", 2, "INTEGER"),
    ("mod(-17.9, 5)", -2, "INTEGER"),
    ("mod(17.9::decimal(16), 5)", 2, "INTEGER"),
    ("mod(17.9::float, 5::bigint)", 2, "BIGINT"),
    ("mod(99999999999999999999.9, 12345678901234567890.2)", Decimal("1234568790123456879"), "DECIMAL(32,0)"),
    ("greatest(1, 5.5, 3)", Decimal("5.5"), "DECIMAL(11,1)"),
    ("greatest(1, null::int, 3)", None, "INTEGER"),
    ("least('a', null, 'c')", None, "CHAR(1)"),
    ("root(8, 3)", 2.0, "FLOAT"),
    ("root(9)", 3.0, "FLOAT"),
    ("power(2, 10)", 1024.0, "FLOAT"),
    ("sign(-2.5)", -1, "INTEGER"),
    ("bitnot(6)", -7, "INTEGER"),
    ("bitandnot(7, 3)", 4, "INTEGER"),
    ("bitxor(6, 3)", 5, "INTEGER"),
    ("trunc(12345, -2)", 12300, "INTEGER"),
    ("round(-12.5)", Decimal("-13.0"), "DECIMAL(3,1)"),
    ("3" + 37 * "0" + " * 1", "3" + 37 * "0", "DECIMAL(32)"),
    ("to_number('12.50')", "12.5", "DECIMAL(32)"),
    ("to_number('$100.00')", "100", "DECIMAL(32)"),
    ("to_number(trim(' -$1,234.50 '))", "-1234.5", "DECIMAL(32)"),
    ("date('12252024')", dt.date(2024, 12, 25), "DATE"),
    ("date('122524')", dt.date(2024, 12, 25), "DATE"),
    ("date(trim(' 01022003 '))", dt.date(2003, 1, 2), "DATE"),
    ("nvl(null, null)", None, "INTEGER"),
    ("nvl(null::money(6), '2'::money(8,3))", Decimal("2.000"), "MONEY(8,3)"),
    ("nvl(nvl(null, null), 'a')", "a", "CHAR(1)"),
    ("coalesce(null, null, null)", None, "INTEGER"),
    ("decode(1, 2, null, null)", None, "INTEGER"),
    ("nvl2(1, null, null)", None, "INTEGER"),
    ("case when 1 = 2 then null end", None, "INTEGER"),
    ("greatest(null, null)", None, "INTEGER"),
    ("to_number(to_char(cast(null as date)))", None, "DECIMAL(32)"),
    ("ceil(1.2) + floor(-1.2)", Decimal("0"), "DECIMAL(32,0)"),
    # dates
    ("months_between(mdy(3, 31, 2024), mdy(2, 29, 2024))", "1", "DECIMAL(32)"),
    ("months_between(mdy(5, 7, 2024), mdy(2, 7, 2024))", "3", "DECIMAL(32)"),
    ("next_day(mdy(1, 31, 2024), 'MON')", dt.date(2024, 2, 5), "DATE"),
    ("next_day(mdy(1, 31, 2024), 'Wednesday')", dt.date(2024, 2, 7), "DATE"),
    ("last_day(mdy(2, 1, 2023))", dt.date(2023, 2, 28), "DATE"),
    ("add_months(mdy(2, 29, 2024), 1)", dt.date(2024, 3, 31), "DATE"),
    ("add_months(mdy(3, 31, 2024), -1)", dt.date(2024, 2, 29), "DATE"),
    ("trunc(mdy(5, 17, 2024), 'YEAR')", dt.date(2024, 1, 1), "DATE"),
    ("trunc(mdy(5, 17, 2024), 'DAY')", dt.date(2024, 5, 12), "DATE"),
    ("round(mdy(5, 16, 2024), 'MONTH')", dt.date(2024, 6, 1), "DATE"),
    ("round(mdy(5, 15, 2024), 'MONTH')", dt.date(2024, 5, 1), "DATE"),
    ("round(mdy(7, 1, 2024), 'YEAR')", dt.date(2025, 1, 1), "DATE"),
    (f"trunc({SECONDS}, 'HH')", dt.datetime(2024, 5, 17, 12), "DATETIME YEAR TO SECOND"),
    (f"round({SECONDS}, 'MI')", dt.datetime(2024, 5, 17, 12, 35), "DATETIME YEAR TO SECOND"),
    (f"to_char({SECONDS}, '%d.%m.%Y %H:%M')", "17.05.2024 12:34", "VARCHAR(255)"),
    (f"to_char({SECONDS}, 'YYYY-MM-DD HH24:MI:SS')", "2024-05-17 12:34:56", "VARCHAR(255)"),
    *(
        (
            f"to_char(datetime (2024-05-07 16:04:05.12345) year to fraction(5), '{layout}')",
            said,
            "VARCHAR(255)",
        )
        for layout, said in (
            ("%a %A %b %h %B", "Tue Tuesday May May May"),
            ("%C %y %Y %iY %iy", "20 24 2024 2024 24"),
            ("[%d|%e|%j|%w]", "[07| 7|128|2]"),
            ("%D %x", "05/07/24 05/07/2024"),
            ("%H %I %p", "16 04 PM"),
            ("%R %T", "16:04 16:04:05"),
            ("%r", "04:04:05 PM"),
            ("%X%%", "16:04:05%"),
            ("%M%n%S%t.", "04\n05\t."),
            ("%S%F3", "05.123"),
            ("%S.%F3", "05.123"),
            ("%S.%F5", "05.12345"),
            ("%S%F1|%F2", "05.1|.12"),
            ("it''s %m", "it's 05"),
        )
    ),
    (
        "to_date('2024-05-17 12:34:56.123', '%Y-%m-%d %H:%M:%S%F3')",
        dt.datetime(2024, 5, 17, 12, 34, 56, 123000),
        "DATETIME YEAR TO FRACTION(5)",
    ),
    (
        "to_date('17.05.2024 12:34', '%d.%m.%Y %H:%M')",
        dt.datetime(2024, 5, 17, 12, 34),
        "DATETIME YEAR TO FRACTION(5)",
    ),
    ("dbinfo('utc_to_datetime', 86400)", dt.datetime(1970, 1, 2), "DATETIME YEAR TO SECOND"),
    # values
    ("nvl2(null::integer, 'y', 'no')", "no", "CHAR(2)"),
    ("decode(null::integer, null::integer, 1, 2)", 1, "INTEGER"),
    ("nullif(1, 1)", None, "INTEGER"),
    ("greatest(1, 2.5)", Decimal("2.5"), "DECIMAL(11,1)"),
    ("sitename", "informix", "VARCHAR(128)"),
    ("user", "informix", "CHAR(32)"),
]


@parametrize_in_one_test(("text", "value", "declared"), VALUES, ids=[v[0] for v in VALUES])
def test_a_function_has_its_value_and_type(db: Db, text: str, value: Any, declared: str) -> None:
    sql = f"select {text}, 4711 {ONE}"
    assert db.rows(sql) == [(value, 4711)]
    assert db.types(sql)[0][1] == declared


BYTES: list[tuple[str, Any, str]] = [
    ("upper(v)", "ÄÖßΩ", "VARCHAR(10)"),
    ("lower('ÄȺẞ' || v)", "äȺßäößω", "VARCHAR(17)"),
    ("v[1,2]", "ä", "CHAR(2)"),
    ("v[2,4]", " ö", "CHAR(3)"),
    ("v[2,5] || '|'", " ö |", "VARCHAR(5)"),
    ("v[1,1] || '|'", " |", "VARCHAR(2)"),
    ("c || '|'", "äö |", "VARCHAR(6)"),
    ("v::char(3)", "ä", "CHAR(3)"),
    ("v::varchar(7)", "äöß", "VARCHAR(7)"),
    ("lpad(v, 6, '漢')", "漢漢äößω", "VARCHAR(24)"),
    ("rpad('x', 3, '-')", "x--", "VARCHAR(3)"),
    ("rpad(v, 5)", "äößω ", "VARCHAR(15)"),
    ("chr(228)", "ä", "VARCHAR(2)"),
]
"""Expressions with v VARCHAR(10), which is äößω, and c CHAR(5), which is äö."""


@pytest.mark.parametrize(("text", "value", "declared"), BYTES, ids=[v[0] for v in BYTES])
def test_a_text_of_wide_characters_has_room_in_its_type(db: Db, text: str, value: Any, declared: str) -> None:
    db.run("drop table if exists wide")
    db.run("create temp table wide (v varchar(10), c char(5), tail integer)")
    db.run("insert into wide values ('äößω', 'äö', 3)")
    assert db.types(f"select {text} from wide")[0][1] == declared
    ((found, tail),) = db.rows(f"select {text}, tail from wide")
    assert (found.rstrip(" ") if declared.startswith("CHAR") else found, tail) == (value, 3)
    assert len(found.encode()) <= int(declared.partition("(")[2][:-1])


def test_a_letter_that_latin_1_has_in_one_case_only_keeps_it(db: Db) -> None:
    assert uncased("latin-1", True) == "µßÿ"
    assert uncased("latin-1", False) == ""
    assert "ß" in uncased("utf-8", True)
    assert all(
        len(uncased(codec, upper)) <= len(NONCHARACTERS) for codec in CODECS for upper in (True, False)
    )


def test_the_role_that_is_set_and_the_default_one(db: Db) -> None:
    assert db.rows(f"select current_role, default_role {ONE}") == [(None, None)]
    for sql in (
        "create role clerk",
        "create role other",
        "grant default role other to informix",
        "set role clerk",
    ):
        db.run(sql)
    asked = f"select current_role, default_role {ONE}"
    assert [tuple(str(role).rstrip() for role in row) for row in db.rows(asked)] == [("clerk", "other")]
    db.run("set role none")
    assert db.rows(f"select current_role {ONE}") == [(None,)]
    assert db.value(f"select dbinfo('cdrsession') {ONE}") == 0


def test_a_char_column_counts_its_blanks_where_bytes_and_characters_are_counted(db: Db) -> None:
    lengths = "length(name), octet_length(name), char_length(name), length(name || '!')"
    assert db.rows(f"select {lengths} from item where id = 1") == [(5, 10, 10, 11)]


@parametrize_in_one_test(
    ("text", "code"),
    [
        ("mdy(13, 1, 2024)", -1205), ("mdy(2, 30, 2024)", -1206), ("mdy(1, 1, 0)", -1204), ("1 / 0", -1202),
        ("mod(1, 0)", -1202), ("mod(1, 0.9)", -1202), ("hex(1.5)", -1260), ("to_number('x')", -1213),
        ("to_date('x', '%Y')", -1277),
        ("to_char(today, 'DD-MON-YY')", -1268), ("to_char(1.5, '9.9')", -664), ("to_char(today, '%Q')", -1268),
        ("to_char(today, '%')", -1268), ("trunc(today, 'X')", -1268),
        ("next_day(today, 'nix')", -1268), ("substr('a')", -664), ("nothing(1)", -674), ("hex('a')", -1260),
        ("dbinfo('nothing')", -728), ("chr(-1)", -1214), ("chr(0)", -1214), ("chr(256)", -1214),
        ("chr(2147483647)", -1214),
    ],
)  # fmt: skip
def test_a_wrong_argument_has_its_code(db: Db, text: str, code: int) -> None:
    assert db.fails(f"select {text} {ONE}").sqlcode == code


def test_spreads_are_those_of_a_population(db: Db) -> None:
    sql = "select stdev(price), variance(price), range(price), range(grp) from item"
    assert db.types(sql) == [
        ("(stdev)", "DECIMAL(32)"), ("(variance)", "DECIMAL(32)"), ("(range)", "DECIMAL(8,2)"), ("(range)", "INTEGER"),
    ]  # fmt: skip
    assert db.rows(sql) == [("0.5", "0.25", Decimal("1.00"), 1)]


def test_olap_functions_number_rank_and_look_around(db: Db) -> None:
    sql = (
        "select id, row_number() over (partition by grp order by id desc), rank() over (order by price), "
        "lag(id) over (order by id), lead(id, 1, 0) over (order by id), count(*) over () from item order by id"
    )
    assert db.rows(sql) == [(1, 2, 2, None, 2, 3), (2, 1, 3, 1, 3, 3), (3, 1, 1, 2, 0, 3)]
    assert [name for name, _ in db.types(sql)] == [
        "id", "(row_number)", "(rank)", "(lag)", "(lead)", "(count(*))",
    ]  # fmt: skip
    running = "sum(price) over (order by id rows between unbounded preceding and current row)"
    assert db.rows(f"select id, {running} s from item order by id") == [
        (1, Decimal("1.50")), (2, Decimal("4.00")), (3, Decimal("4.00")),
    ]  # fmt: skip


OVERFLOWS = {
    "update item set price = 1234567.5": -1226,
    "update item set price = id * 1000000": -1226,
    "update item set grp = 40000": -1214,
    "update item set id = 3000000000": -1215,
    "update item set id = id * 2000000000": -1215,
    "insert into item (price) values (1234567)": -1226,
    "insert into item (grp) select 40000 from item": -1214,
}


@pytest.mark.parametrize(("sql", "code"), OVERFLOWS.items(), ids=OVERFLOWS)
def test_a_number_that_does_not_fit_its_column_has_the_code_of_the_type(db: Db, sql: str, code: int) -> None:
    assert db.fails(sql).sqlcode == code
    assert db.value("select sum(id) from item") == 6
