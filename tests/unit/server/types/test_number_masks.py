"""Numbers and other values as texts: TO_CHAR with masks, MONEY, casts, substrings."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.types.number_masks import format_number, parse_mask

# From the manual's table, with its blanks.
MASKS = [
    ("0", "#####", "     "), ("0", "&&&&&", "00000"), ("0", "$$$$$", "    $"), ("0", "*****", "*****"),
    ("0", "<<<<<", ""), ("12345", "##,###", "12,345"), ("1234", "##,###", " 1,234"), ("123", "##,###", "   123"),
    ("-1", "##,###", "     1"), ("1234", "&&,&&&", "01,234"), ("123", "&&,&&&", "000123"),
    ("12345", "$$,$$$", "******"), ("1234", "$$,$$$", "$1,234"), ("123", "$$,$$$", "  $123"),
    ("1234", "**,***", "*1,234"), ("123", "**,***", "***123"), ("12345.67", "##,###.##", "12,345.67"),
    ("0.12", "##,###.##", "      .12"), ("-1", "##,###.##", "     1.00"), ("123.45", "&&,&&&.&&", "000123.45"),
    ("12345.67", "$$,$$$.$$", "*********"), ("1234.56", "$$,$$$.$$", "$1,234.56"),
    ("-12345.67", "-##,###.##", "-12,345.67"), ("-123.45", "-##,###.##", "-   123.45"),
    ("-12.34", "--#,###.##", " -   12.34"), ("-12.34", "---,-##.##", "    -12.34"),
    ("12345.67", "-##,###.##", " 12,345.67"), ("-1234.56", "-$$,$$$.&&", "-$1,234.56"),
    ("-123.45", "----,--$.&&", "   -$123.45"), ("1.23", "$***,***.&&", "$******1.23"),
    ("-1234.56", "($$$,$$$.&&)", "( $1,234.56)"), ("1234.56", "($$$,$$$.&&)", "  $1,234.56 "),
    ("12345", "<<<,<<<", "12,345"), ("12", "<<<,<<<", "12"), ("7", "+&&&", "+007"), ("-7", "+&&&", "-007"),
    ("2.345", "#.##", "2.35"), ("-0.001", "-&.&&", " 0.00"), ("99.995", "&&.&&", "*****"), ("7", "&&& %", "007 %"),
    ("12345678901234567890123456789012", "&" * 33, "012345678901234567890123456789012"),
]  # fmt: skip


@parametrize_in_one_test(("number", "mask", "text"), MASKS, ids=[f"{n} {m}" for n, m, _ in MASKS])
def test_a_number_in_a_mask(number: str, mask: str, text: str) -> None:
    assert format_number(number, mask) == text


@pytest.mark.parametrize("mask", ["", "9,999.99", "abc", "$", "&&-&&", "--$$$", "&.&.&", "&)&"])
def test_a_mask_that_says_nothing_about_digits_is_refused(mask: str) -> None:
    with pytest.raises(SqlError) as caught:
        parse_mask(mask)
    assert caught.value.sqlcode == -664


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture(scope="module")
def db(engine: Engine) -> Db:
    db = connect(engine)
    db.run("create table amounts (m money(10,2), f decimal(16), c char(40), v varchar(40), x int)")
    db.run(
        "insert into amounts values ('$1,234.50', 1234567.5, '9007199254740993', ' -$2.5 ', 7)",
    )
    return db


def test_to_char_takes_every_kind_of_number(db: Db) -> None:
    found = db.rows(
        "select to_char(m, '$$,$$$.&&'), to_char(f, '##,###,###.##'), to_char(x, '&&&'), "
        "to_char(1.5e10::float, '&&&&&&&&&&&&.&'), to_char(null::int, '&'), to_char(?::int, '&&'), x from amounts",
        5,
    )
    assert found == [("$1,234.50", " 1,234,567.50", "007", "015000000000.0", None, "05", 7)]


def test_texts_with_a_currency_are_money_and_no_other_numbers(db: Db) -> None:
    assert db.rows("select m, v::money(8,2), '$.5'::money, '2,000.5$'::money, x from amounts") == [
        (Decimal("1234.50"), Decimal("-2.50"), Decimal("0.50"), Decimal("2000.50"), 7)
    ]
    assert db.rows("select x from amounts where m = '$1,234.5' and m = ?", "1234.50$") == [(7,)]
    for wrong in ("'$1$'::money", "'1,23'::money", "'$'::money", "'$1.50'::decimal(5,2)", "'--1'::money"):
        assert db.fails(f"select {wrong}, x from amounts").sqlcode == -1213


def test_the_text_of_money_has_its_currency(db: Db) -> None:
    assert db.rows("select m::char(9), m || '', to_char(-m), nvl(m, 'none'), x from amounts") == [
        ("$1234.50", "$1234.50", "-$1234.50", "$1234.50", 7)
    ]
    assert db.fails("select m::char(4), x from amounts").sqlcode == -1207
    db.run("create temp table formatted (t varchar(20), x int)")
    db.run("insert into formatted select m, 1 from amounts")
    db.run("insert into formatted values ('$.25'::money, 2)")
    db.run("insert into formatted values ('', 3)")
    db.run("update formatted set t = (select max(m) from amounts) where x = 3")
    assert db.rows("select * from formatted order by x") == [("$1234.50", 1), ("$0.25", 2), ("$1234.50", 3)]


def test_a_text_that_becomes_an_exact_number_keeps_its_digits(db: Db) -> None:
    """Regression: it was converted through DOUBLE, which has fifteen digits."""
    db.run("create temp table long (c char(40), x int)")
    db.run("insert into long values ('12345678901234567.89', 1)")
    assert db.rows(
        "select l.c::decimal(20,2), a.c::bigint, a.c::decimal(16,0), l.x from long l, amounts a"
    ) == [(Decimal("12345678901234567.89"), 9007199254740993, Decimal("9007199254740993"), 1)]
    assert db.fails("select c::smallint, x from long").sqlcode == -1214
    assert db.fails("select c::decimal(5,2), x from long").sqlcode == -1226
    assert db.fails("select v::int, x from amounts").sqlcode == -1213


def test_a_floating_decimal_loses_no_digits_in_a_short_text(db: Db) -> None:
    assert db.fails("select f::char(3), x from amounts").sqlcode == -1207
    assert db.rows("select f::char(9), x from amounts") == [("1234567.5", 7)]


def test_what_becomes_a_char_has_its_blanks_as_one_does(db: Db) -> None:
    db.run("create temp table padded (s char(15), v varchar(15), n int, x int)")
    db.run("insert into padded values ('California', 'California', null, 1)")
    assert db.rows(
        "select s[9,12] || '|', s[11,12] || '|', v[9,12] || '|', x::char(3) || '|', x from padded"
    ) == [("ia  |", "  |", "ia|", "1  |", 1)]
    # the example of the tutorial: a negative start counts from the end of the CHAR(15)
    assert db.rows("select substr(s, -15, 5), substr(v, -4, 2), substr(s, x - 16, 3), x from padded") == [
        ("Calif", "rn", "Cal", 1)
    ]
    assert db.rows("select n::char(3), nvl(n, 'a'), x from padded") == [(None, "a", 1)]
