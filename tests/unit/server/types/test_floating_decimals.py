"""Floating-point DECIMAL in the engine: exact to its 32 digits; and the warning of an UPDATE that truncates a text."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from tests.unit.server.sql_session import Copies, Db

from informix_arrow.server.session.engine import Engine


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


DIGITS = "12345678901234567890123456789012"
EXACT: list[tuple[str, str]] = [
    ("a::lvarchar", DIGITS),
    ("a || ''", DIGITS),
    ("to_char(a)", DIGITS),
    ("substr(a, 1, 40)", DIGITS),
    ("-a", "-" + DIGITS),
    ("a + 1", DIGITS[:-1] + "3"),
    ("a - b", "12345678901234567890123456789012"),
    ("a / 2", "6172839450617283945061728394506"),
    ("b * 3", "0.3"),
    ("b / 3", "0." + "0" + "3" * 32),
    ("1 / 3", "0." + "3" * 32),
    ("c / 3", "0.5"),
    ("b + c", "1.6"),
    ("mod(a, 7)::decimal(32)", "5"),
    ("round(a, -30)", "12" + "0" * 30),
    ("trunc(b, 0)", "0"),
    ("abs(-a)", DIGITS),
    ("nvl(null::decimal(32), a)", DIGITS),
    ("case when id = 1 then a else 1 end", DIGITS),
    ("greatest(a, 5)", DIGITS),
    ("a::decimal(10)", "12345678900000000000000000000000"),
    ("(select max(a) from f)", DIGITS),
    ("sum(a)", DIGITS),
    ("avg(a)", DIGITS),
]


@pytest.mark.parametrize(("expression", "text"), EXACT, ids=[e[0] for e in EXACT])
def test_floating_decimals_are_computed_and_written_to_32_digits(db: Db, expression: str, text: str) -> None:
    db.run("create temp table f (id integer, a decimal(32), b decimal(16), c decimal(10,2))")
    db.run("insert into f values (1, ?, ?, 1.5)", Decimal(DIGITS), Decimal("0.1"))
    assert db.rows(f"select {expression}, 4711 from f") == [(text, 4711)]


def test_floating_decimals_meet_other_numbers_exactly(db: Db) -> None:
    db.run("create temp table f (id integer, a decimal(32), c decimal(10,2), n integer)")
    db.many(
        "insert into f values (?, ?, ?, ?)",
        [(1, Decimal(DIGITS), 1, 7), (2, Decimal("1.50"), Decimal("1.5"), 2)],
    )
    assert db.rows("select id from f where a = c") == [(2,)]
    assert db.rows("select id from f where a in (select c from f)") == [(2,)]
    assert db.rows("select id from f where c in (select a from f)") == [(2,)]
    assert db.rows("select id from f where a > n order by id") == [(1,)]
    assert db.rows("select id from f where a = ?", Decimal(DIGITS)) == [(1,)]
    assert db.rows("select id from f where a = ?", Decimal(DIGITS[:-1] + "3")) == []
    assert db.rows("select a from f union select c from f order by 1") == [("1",), ("1.5",), (DIGITS,)]
    assert db.fails("select a / (n - n) from f").sqlcode == -1202
    assert db.fails("select a::decimal(8,2) from f").sqlcode == -1226
    assert db.fails("select a::integer from f").sqlcode == -1215
    db.run("update f set a = a / 7 where id = 1")
    assert db.value("select a from f where id = 1") == "1763668414462081127160493827001.7"
    db.run("select a / 3 as q, id from f into temp g")
    assert db.types("select q from g") == [("q", "DECIMAL(32)")]
    assert db.rows("select q from g where id = 2") == [("0.5",)]


@pytest.mark.parametrize(
    ("change", "parameters", "warned"),
    [
        ("a = 'abc  '", (), 0),
        ("a = 'abcd'", (), 1),
        ("b = ?", ("abcde",), 0),
        ("b = ?", ("abcdef",), 1),
        ("b = c", (), 1),
        ("b = a || 'x'", (), 0),
        ("b = 12.34567", (), 1),
        ("c = 'short', b = 'x'", (), 0),
    ],
)
def test_an_update_that_cuts_a_text_warns_as_an_insert_does(
    db: Db, change: str, parameters: tuple[object, ...], warned: int
) -> None:
    db.run("create temp table w (id integer, a char(3), b varchar(5), c lvarchar(20))")
    db.run("insert into w values (1, 'ab', 'abcde', 'longer than five')")
    assert db.run(f"update w set {change} where id = 1", *parameters).warnings == warned
    assert db.run(f"update w set {change} where id = 2", *parameters).warnings == (
        0 if change in ("b = c", "b = 12.34567") else warned
    )
