"""``:1`` and ``:name`` in place of ``?``: what is a placeholder, what the server receives, and positions in errors."""

from __future__ import annotations

import io

import pytest

from informix_arrow.rows.parameters import (
    MAX_PARAMETERS,
    RowCheck,
    check_parameters,
    count_placeholders,
    parse,
)
from informix_arrow.wire.errors import InterfaceError, ProgrammingError, database_error


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT * FROM t WHERE a = :1", "SELECT * FROM t WHERE a = ?"),
        ("VALUES (:1,:2, :1)", "VALUES (?,?, ?)"),
        ("a=:name AND b=:other_2", "a=? AND b=?"),
        ("a=:größe", "a=?"),
        ("SELECT :1::INT, :2 :: VARCHAR(5)", "SELECT ?::INT, ? :: VARCHAR(5)"),
        ("x IN SET{:1, :2} {:3}", "x IN SET{?, ?} {:3}"),
        ("a = :10", None),
        ("a[:1,:2]", "a[?,?]"),
        ("f(:1)[1,3]", "f(?)[1,3]"),
        ("-- :1\n:1 /* :2 */ {:3} ':4' \":5\"", "-- :1\n? /* :2 */ {:3} ':4' \":5\""),
        ("':1''' || :1", "':1''' || ?"),
    ],
)
def test_a_placeholder_becomes_a_question_mark(sql: str, text: str | None) -> None:
    if text is None:
        with pytest.raises(ProgrammingError, match="no :1"):
            parse(sql)
    else:
        assert parse(sql).text == text
        assert parse(sql).count == text.replace("?'", "").count("?")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a::INT, b :: CHAR(3) FROM t",
        "SELECT * FROM stores:orders, db@srv:owner.t, \"db\":t, 'x'::LVARCHAR",
        "SELECT * FROM t WHERE d = DATETIME (10:30) HOUR TO MINUTE",
        "SELECT DATETIME (2026-01-02 10:30:15) YEAR TO SECOND, INTERVAL (1 10:30) DAY TO MINUTE FROM t",
        "SELECT c[1,3]:x FROM t",
        "SELECT 'a:1 :b' FROM t -- :c",
        "SELECT {+ INDEX(t i) :1} a FROM t",
        "SELECT a FROM t : u",
        "SELECT :1st FROM t",
    ],
)
def test_a_colon_that_belongs_to_something_else_is_left_alone(sql: str) -> None:
    statement = parse(sql)
    assert (statement.text, statement.count, statement.style) == (sql, 0, "")
    assert statement.values(None) == ()


def test_numbers_take_values_by_their_place_and_repeated_ones_are_sent_twice() -> None:
    sql = "UPDATE t SET a = :2, b = :1 WHERE c = :2"
    assert count_placeholders(sql) == 3
    assert list(check_parameters(sql, ("one", "two"))) == ["two", "one", "two"]
    assert list(RowCheck(parse(sql), 3)(["one", "two"])) == ["two", "one", "two"]


def test_names_take_values_out_of_a_mapping_which_may_hold_more() -> None:
    sql = "UPDATE t SET a = :new WHERE a = :old OR b = :old"
    assert list(check_parameters(sql, {"old": 1, "new": None, "unused": 3})) == [None, 1, 1]
    assert list(RowCheck(parse(sql), 3)({"old": 1, "new": 2})) == [2, 1, 1]


@pytest.mark.parametrize(
    ("sql", "parameters", "text"),
    [
        ("a = :1 AND b = :2", (1,), "2 placeholders .:1., but 1 value was given"),
        ("a = :1", (1, 2), "1 placeholder .:1., but 2 values were given"),
        ("a = :x AND b = :y", {"x": 1}, "No value for :y"),
        ("a = :2", (1, 2), "has :2, but no :1"),
        ("a = :1 AND b = :3", (1, 2, 3), "has :3, but no :2"),
        ("a = :0", (1,), "from :1, not from :0"),
        ("a = ? AND b = :1", (1, 2), "mixes placeholders of the styles :1 and [?]"),
        ("a = :x AND b = :1", (1, 2), "mixes placeholders of the styles :1 and :name"),
        ("a = ? AND b = :x", (1, 2), "no blank before it: db:table"),
    ],
)
def test_what_does_not_fit_together_is_reported_in_plain_words(
    sql: str, parameters: object, text: str
) -> None:
    with pytest.raises(ProgrammingError, match=text) as caught:
        check_parameters(sql, parameters)
    assert caught.value.statement == sql


@pytest.mark.parametrize(
    ("sql", "parameters", "text"),
    [
        (
            "a = :x",
            (1,),
            r"named parameters \(:x\), but a tuple was passed\. Pass a mapping such as \{'x': value\}\.",
        ),
        ("a = :x", None, "none were passed"),
        ("a = :1", {"1": 5}, "no named parameters"),
        ("a = ?", {"x": 5}, "no named parameters"),
        ("a = :1", "x", "sequence"),
        ("a = :x", "x", "mapping"),
    ],
)
def test_values_of_the_wrong_shape_are_refused(sql: str, parameters: object, text: str) -> None:
    with pytest.raises(InterfaceError, match=text):
        check_parameters(sql, parameters)


def test_a_file_object_cannot_be_sent_twice() -> None:
    """The second time it would be empty."""
    file = io.BytesIO(b"abc")
    assert list(check_parameters("VALUES (:1, :2)", (file, 1))) == [file, 1]
    with pytest.raises(InterfaceError, match=":1 occurs more than once in the statement"):
        check_parameters("VALUES (:1, :1)", (file,))
    with pytest.raises(InterfaceError, match=":f occurs"):
        check_parameters("VALUES (:f, :g, :f)", {"f": file, "g": 1})


def test_more_placeholders_than_a_bind_counts_are_refused_in_every_style() -> None:
    with pytest.raises(ProgrammingError, match="32768 placeholders"):
        parse("IN (" + ",".join(f":{n}" for n in range(1, MAX_PARAMETERS + 2)) + ")")


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT :1, wrong FROM t", "wrong"),
        ("SELECT :1, :12345x, :2 wrong FROM t", "wrong"),
        ("SELECT :name_of_it::INT, :b wrong", "wrong"),
        ("wrong :a", "wrong"),
        ("a = :abc", ":abc"),
        ("a = :abc AND b = :defg", ":defg"),
    ],
)
def test_a_position_of_the_server_is_turned_into_one_of_the_users_text(sql: str, word: str) -> None:
    statement = parse(sql)
    if word in statement.text:
        there = statement.text.index(word)
    else:  # the placeholder itself: the n-th question mark
        there = next(at for at, here, _ in statement.marker_positions if here == sql.index(word))
    assert statement.offset(there + 1) == sql.index(word) + 1


def test_a_server_error_shows_the_users_text_with_the_caret_under_the_place() -> None:
    statement = parse("SELECT * FROM t WHERE a = :name AND nosuch = :name")
    place = statement.text.index("nosuch") + 1
    error = database_error(-217, 0, place, "nosuch", statement.text)
    statement.explain(error)
    assert error.statement == statement.sql
    assert error.offset == statement.sql.index("nosuch") + 1
    text, caret = str(error).splitlines()[-2:]
    assert text[caret.index("^") :].startswith("nosuch = :name")


def test_long_statements_are_not_remembered() -> None:
    sql = "SELECT " + ", ".join(["'x'"] * 40_000) + ", :1 FROM t"
    assert parse(sql) is not parse(sql)
    assert parse(sql) == parse(sql)
    assert parse("SELECT :1 FROM t") is parse("SELECT :1 FROM t")
