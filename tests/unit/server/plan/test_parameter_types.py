"""A parameter next to a column has the type of its value: it is never truncated or rounded silently."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

import pytest
from tests.unit.server.sql_session import Db

LONG = 9007199254740993  # not exact as DOUBLE
WIDE = Decimal("1234567890123456789012345678.1234")
COLUMNS = {
    "s": Decimal(3), "i": Decimal(3), "b": Decimal(LONG), "d": Decimal("3.25"), "w": WIDE, "p": Decimal("3.125"),
    "m": Decimal("3.25"),
}  # fmt: skip
VALUES: list[object] = [
    2,
    2.5,
    Decimal("2.5"),
    "2.5",
    Decimal("2.123456789"),
    0.1,
    -7,
    "-0.0625",
    Decimal("1E-7"),
]


def fill(db: Db) -> None:
    db.run(
        "create table t (id int primary key, s smallint, i int, b bigint, d decimal(8,2), w decimal(32,4), "
        "p decimal(16), m money(8,2), f float, c char(5), v varchar(5), day date, z int)"
    )
    db.run(
        "insert into t values (1, 3, 3, 9007199254740993, 3.25, 1234567890123456789012345678.1234, 3.125, 3.25, "
        "1.5, 'abc', 'abc', '02/29/2024', 77)"
    )
    db.run("insert into t (id, z) values (2, 77)")


def number(value: object) -> Decimal:
    return Decimal(str(value))


EXACT = Context(prec=32, rounding=ROUND_HALF_UP)
"""Number of digits of a DECIMAL."""


@pytest.mark.parametrize("column", COLUMNS)
def test_arithmetic_keeps_all_digits_of_a_parameter(db: Db, column: str) -> None:
    mine = COLUMNS[column]
    expressions = [
        form.replace("x", column) for form in ("x + ?", "x - ?", "? - x", "x * ?", "x / ?", "-(x * ?)")
    ]
    query = f"select {', '.join(expressions)}, z from t where id = 1"
    for value in VALUES:
        other = number(value)
        product = EXACT.multiply(mine, other)
        wanted = [EXACT.add(mine, other), EXACT.subtract(mine, other), EXACT.subtract(other, mine)]
        wanted += [product, EXACT.divide(mine, other), product.copy_negate()]
        (row,) = db.rows(query, *[value] * 6)
        assert [number(x) for x in row[:-1]] == wanted, value
        assert row[-1] == 77


@pytest.mark.parametrize("column", ["s", "i", "b", "d", "w", "p", "m"])
def test_a_choice_keeps_all_digits_of_a_parameter(db: Db, column: str) -> None:
    choices = [
        f"nvl({column}, ?)", f"coalesce({column}, ?)", f"case when id = 2 then ? else {column} end",
        f"decode(id, 1, {column}, ?)", f"nvl2({column}, {column}, ?)", f"nvl({column} * 2, ?)",
    ]  # fmt: skip
    query = f"select {', '.join(choices)}, z from t order by id"
    for value in VALUES:
        first, second = db.rows(query, *[value] * len(choices))
        twice = EXACT.multiply(COLUMNS[column], Decimal(2))
        assert [number(x) for x in first[:-1]] == [COLUMNS[column]] * (len(choices) - 1) + [twice], value
        assert [number(x) for x in second[:-1]] == [number(value)] * len(choices), value
        greater = db.value(f"select greatest({column}, ?) from t where id = 1", value)
        assert number(greater) == max(COLUMNS[column], number(value))


@pytest.mark.parametrize(
    ("expression", "value", "found"),
    [
        ("(i + 1) * ?", 2.5, "10"),
        ("i * ? * 2", Decimal("0.3"), "1.8"),
        ("i * (? + 1)", 1.5, "7.5"),
        ("i * -?", "2.5", "-7.5"),
        ("abs(i * ?)", -2.5, "7.5"),
        ("round(i * ?, 1)", Decimal("1.25"), "3.8"),
        ("(select sum(i * ?) from t)", 2.5, "7.5"),
        ("(select sum(i) from t) * ?", 2.5, "7.5"),
        ("i * ? || ''", 2.5, "7.5"),
        ("(i * ?)::char(3)", 2.5, "7.5"),
        ("(i * ?)::decimal(5,1)", 2.5, "7.5"),
        ("f * ?", 2.5, "3.75"),
        ("f * ?", Decimal("2.5"), "3.75"),
    ],
)
def test_expressions_around_it_do_too(db: Db, expression: str, value: object, found: str) -> None:
    ((one, z),) = db.rows(f"select {expression}, z from t where id = 1", value)
    assert (number(str(one).strip()), z) == (Decimal(found), 77)


@pytest.mark.parametrize("value", [2.5, Decimal("2.5"), "2.5"])
def test_what_is_assigned_to_a_whole_number_loses_its_fraction(db: Db, value: object) -> None:
    """Both for `i = ?` and `i = i * ?`: Informix drops the fraction when a number becomes an integer."""
    for column, start in (("s", 3), ("i", 3), ("b", LONG)):
        for change, wanted in (("?", 2), (f"{column} - ?", start - 3), ("i * ?", 7), ("nvl(null, ?)", 2)):
            db.run("begin work")
            db.run(f"update t set {column} = {change} where id = 1", value)
            assert db.rows(f"select {column}, z from t where id = 1") == [(wanted, 77)], (column, change)
            db.run("rollback work")
    db.run("update t set d = d * ?, p = i * ?, f = i * ?, c = i * ? where id = 1", value, value, value, value)
    assert db.rows("select d, p, f, c, z from t where id = 1") == [(Decimal("8.13"), "7.5", 7.5, "7.5", 77)]


@pytest.mark.parametrize(
    ("condition", "values", "found"),
    [
        ("i * ? = 7.5", [2.5], 1),
        ("i * ? = ?", [Decimal("2.5"), 7.5], 1),
        ("i * ? between 7.4 and ?", ["2.5", 7.6], 1),
        ("i + ? > 5", [Decimal("2.00001")], 1),
        ("i in (?, ?)", [2.5, 3.5], 0),
        ("i in (?, 3)", [2.5], 1),
        ("b = ?", [9007199254740992.0], 0),
        ("b > ?", [9007199254740992.0], 1),
        ("b in (?, ?)", [0.5, LONG], 1),
        ("d = ?", [3.25], 1),
        ("d = ?", ["3.2501"], 0),
        ("i * ? in (select d from t)", [Decimal("1.0833333333333333")], 0),
        ("i * ? in (select d + 4.25 from t)", [2.5], 1),
        ("nvl(i, ?) = 3", [2.5], 1),
    ],
)
def test_conditions_see_the_whole_value(db: Db, condition: str, values: list[object], found: int) -> None:
    assert db.value(f"select count(*) from t where id = 1 and {condition}", *values) == found


def test_two_parameters_beside_each_other_are_numbers(db: Db) -> None:
    (row,) = db.rows("select ? + ?, ? / ?, i * (? - ?), z from t where id = 1", 1, 2.5, 1, 4, "2.5", 2)
    assert [number(x) for x in row] == [Decimal("3.5"), Decimal("0.25"), Decimal("1.5"), 77]


@pytest.mark.parametrize("value", [2.5, Decimal("2.5"), "2.5"])
def test_the_fraction_of_what_counts_is_cut(db: Db, value: object) -> None:
    """The fraction is dropped whatever type the parameter is sent as."""
    found = db.rows(
        "select lpad(v, ?), substr(v, ?), day + ?, round(p, ?), mod(i, ?), trunc(d, ?), chr(? + 62), "
        "substr(v, i - ?), day + (i - ?), bitand(i * ?, 15), add_months(day, i - ?), "
        "lag(z, i - ?) over (order by id), z "
        "from t where id = 1",
        *[value] * 12,
    )
    assert [str(x) for x in found[0]] == [
        "ab", "bc", "2024-03-02", "3.13", "1", "3.25", "@", "abc", "2024-02-29", "7", "2024-02-29", "77", "77"
    ]  # fmt: skip


def test_a_text_beside_a_parameter_has_room_for_it(db: Db) -> None:
    query = "select case when id = 3 then 'x' else ? end, nvl(c, ?), z from t order by id"
    assert db.rows(query, "longer than x", "longer than c") == [
        ("longer than x", "abc", 77), ("longer than x", "longer than c", 77)
    ]  # fmt: skip
    assert db.fails(query, "x" * 256, "").sqlcode == -881


@pytest.mark.parametrize(
    "way", ["update t set {} = ? where id = 1", "insert into t (id, {}, z) values (3, ?, 77)"]
)
@pytest.mark.parametrize(
    ("value", "found"),
    [(123456, -1207), (12345.5, "12345"), (1e300, -1207), (Decimal("1.23456"), "1.234"), (-1234, "-1234")],
)
def test_a_number_without_room_in_a_text_is_refused(db: Db, way: str, value: object, found: object) -> None:
    """Only digits after the decimal point may be dropped, with a warning, as in a cast."""
    for column in ("c", "v"):
        for statement, values in (
            (way.format(column), [value]),
            (way.format(column).replace("?", str(value)), []),
        ):
            db.run("begin work")
            if isinstance(found, int):
                assert db.fails(statement, *values).sqlcode == found, statement
            else:
                assert db.run(statement, *values).warnings == (0 if found == "-1234" else 1), statement
                assert db.value(f"select max({column}) from t where id <> 2 and {column} <> 'abc'") == found
            db.run("rollback work")
