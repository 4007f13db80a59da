"""CallableStatement with OUT parameters: JDBC calls such routines by the fast path (wire/messages/routine.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ..values import UTF8
from .driver import Jdbc, JdbcError

pytestmark = pytest.mark.reference_client

Connect = Callable[..., Jdbc]

#: Type, java.sql.Types, setter and getter, values.
TYPES = (
    ("SMALLINT", "SMALLINT", "Short", "Int", ("-32767", "32767", "0")),
    ("INTEGER", "INTEGER", "Int", "Object", ("-2147483647", "2147483647", "0")),
    # setLong, and a NULL registered as BIGINT, fail inside the driver because it has no description
    ("BIGINT", "DECIMAL", "BigDecimal", "Long", ("-9223372036854775807", "9223372036854775807", "5")),
    (
        "DECIMAL(32,16)",
        "DECIMAL",
        "BigDecimal",
        "BigDecimal",
        ("-1234567890123456.1234567890123456", "0.0000000000000001"),
    ),
    ("FLOAT", "DOUBLE", "Double", "Double", ("-1.5E300", "0.1")),
    ("CHAR(5)", "CHAR", "String", "String", ("abcde", "éñ ", "     ")),
    ("VARCHAR(200)", "VARCHAR", "String", "String", ("", "x", "éñ", "odd", "y" * 200)),
    ("LVARCHAR(3000)", "LONGVARCHAR", "String", "String", ("", "é" * 1499, "z" * 3000)),
    ("BOOLEAN", "BOOLEAN", "Boolean", "Boolean", ("true", "false")),
    ("DATE", "DATE", "Date", "Date", ("0001-01-01", "1899-12-31", "9999-12-31")),
    (
        "DATETIME YEAR TO FRACTION(5)",
        "TIMESTAMP",
        "Timestamp",
        "Timestamp",
        ("0001-01-01 00:00:00.00001", "9999-12-31 23:59:59.99998"),
    ),
)


@pytest.fixture
def create(jdbc: Connect) -> Iterator[Callable[[str], Jdbc]]:
    """A function that creates a routine with JDBC. The routine is dropped after the test."""
    made: list[str] = []
    connection = jdbc(UTF8)

    def run(text: str) -> Jdbc:
        connection.update(text)
        kind, _, rest = text.removeprefix("CREATE ").partition(" ")
        made.append(f"DROP {kind} {rest.partition('(')[0]}")
        return connection

    yield run
    for text in reversed(made):
        connection.update(text)


@pytest.mark.parametrize(
    ("declared", "registered", "setter", "getter", "values"), TYPES, ids=lambda v: str(v)[:15]
)
def test_out_and_inout_parameters_of_each_type(
    create: Callable[[str], Jdbc],
    declared: str,
    registered: str,
    setter: str,
    getter: str,
    values: tuple[str, ...],
) -> None:
    connection = create(
        f"CREATE FUNCTION out_type(a {declared}, OUT b {declared}, tail INT, INOUT c {declared}, OUT n INT) "
        f"RETURNING {declared}, INT; DEFINE t {declared}; LET t = c; LET b = a; LET c = a; LET n = tail + 1; "
        "RETURN t, tail + 2; END FUNCTION"
    )
    rows = [
        [
            (1, setter if value is not None else registered, value),
            (3, "Int", str(number)),
            (4, setter if other is not None else registered, other),
        ]
        for number, (value, other) in enumerate(zip((*values, None), (None, *values), strict=True))
    ]
    out = [(2, registered, getter), (4, registered, getter), (5, "INTEGER", "Int")]
    answers = connection.call("{? = call out_type(?, ?, ?, ?, ?)}", out, *rows)
    for number, ((_, _, value), _, (_, _, other)) in enumerate(rows):
        returned, given = answers[number]
        assert given == [value, value, str(number + 1)]
        if declared != "BOOLEAN":  # the driver formats BOOLEAN itself
            ((first, last),) = returned
            assert last == str(number + 2)
            shown = connection.query(
                f"SELECT FIRST 1 CAST(? AS {declared}) FROM systables", ("String",), (setter,), (other,)
            )[1]
            assert [first] == shown[0]
    assert connection.query("SELECT FIRST 1 7::INT, 'é' FROM systables", ("Int", "String"))[1] == [["7", "é"]]


def test_a_procedure_that_returns_nothing_and_one_that_fails(create: Callable[[str], Jdbc]) -> None:
    connection = create(
        "CREATE PROCEDURE out_only(OUT a VARCHAR(9), n INT, OUT b INT) "
        "IF n < 0 THEN RAISE EXCEPTION -746, 0, 'negative'; END IF LET a = 'n' || n; LET b = n * 2; END PROCEDURE"
    )
    out = ((1, "VARCHAR", "String"), (3, "INTEGER", "Int"))
    assert connection.call("{call out_only(?, ?, ?)}", out, [(2, "Int", "5")], [(2, "Int", "6")]) == [
        ([], ["n5", "10"]),
        ([], ["n6", "12"]),
    ]
    with pytest.raises(JdbcError) as caught:
        connection.call("{call out_only(?, ?, ?)}", out, [(2, "Int", "-1")])
    assert caught.value.code == -746
    assert connection.call("{call out_only(?, ?, ?)}", out, [(2, "Int", "0")]) == [([], ["n0", "0"])]


def test_what_such_a_call_changes_is_of_the_transaction(
    create: Callable[[str], Jdbc], new_table: Callable[[str, str], str]
) -> None:
    table = new_table(UTF8, "id INTEGER, tail INTEGER")
    connection = create(
        f"CREATE PROCEDURE out_insert(n INT, OUT total INT) INSERT INTO {table} VALUES (n, -n); "
        f"SELECT COUNT(*) INTO total FROM {table}; END PROCEDURE"
    )
    out = ((2, "INTEGER", "Int"),)
    connection.ask("autocommit", on=False)
    assert connection.call("{call out_insert(?, ?)}", out, [(1, "Int", "1")], [(1, "Int", "2")]) == [
        ([], ["1"]),
        ([], ["2"]),
    ]
    connection.ask("rollback")
    connection.ask("autocommit", on=True)
    assert connection.call("{call out_insert(?, ?)}", out, [(1, "Int", "3")]) == [([], ["1"])]
    rows = connection.query(f"SELECT id, tail FROM {table}", ("Int", "Int"))[1]
    assert rows == [["3", "-3"]]
