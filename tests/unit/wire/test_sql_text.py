"""SQL text is split into tokens, from which the client learns what it needs."""

from __future__ import annotations

import random

import pytest

from informix_arrow.wire.sql_text import (
    code_tokens,
    database_name,
    holds_several,
    is_comment,
    is_number,
    is_placeholder,
    is_string,
    tokens,
    words_and_strings,
)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("select a, b from t", ["select", "a", ",", "b", "from", "t"]),
        ("a -- 'x'\n/* \" */ b {?} c", ["a", "b", "c"]),
        ("a -- b", ["a"]),
        ("a /* b", ["a"]),
        ("a { b", ["a"]),
        ("'it''s' \"x\"\"y\" 'a", ["'it''s'", '"x""y"', "'a"]),
        ("SET {1, 'a'} list{?}", ["SET {", "1", ",", "'a'", "}", "list{", "?", "}"]),
        ("OFFSET {comment} 1", ["OFFSET", "1"]),
        ("? :1 :name c::INT :1a", ["?", ":1", ":name", "c", "::", "INT", ":", "1a"]),
        ("db:table 10:30", ["db", ":", "table", "10", ":", "30"]),
        ("1.5e-3 .5 1. 1a $1 x$y t1.c", ["1.5e-3", ".5", "1.", "1a", "$1", "x$y", "t1", ".", "c"]),
        ("a>=-1||b", ["a", ">", "=", "-", "1", "|", "|", "b"]),
        ("", []),
    ],
)  # fmt: skip
def test_blanks_and_comments_are_no_code(sql: str, code: list[str]) -> None:
    assert code_tokens(sql) == code


def test_tokens_are_the_whole_text_and_each_is_of_one_kind() -> None:
    choose = random.Random(5).choice
    pieces = [
        "a",
        "1",
        ".5",
        "?",
        ":1",
        ":n",
        "::",
        "'",
        '"',
        "''",
        "--",
        "/*",
        "*/",
        "{",
        "}",
        "SET{",
        ";",
        " ",
        "\n",
    ]
    for number in range(3000):
        text = "".join(choose(pieces) for _ in range(number % 12)) * (1 if number % 50 else 1000)
        found = list(tokens(text))
        assert "".join(found) == text
        for token in found:
            assert sum(kind(token) for kind in (is_comment, is_string, is_number, is_placeholder)) <= 1


def test_words_and_strings_are_without_signs() -> None:
    sql = "select a, 'b' -- c\n from t where d = ? and e in (SET{1})"
    found = ["select", "a", "'b'", "from", "t", "where", "d", "and", "e", "in", "SET{", "1"]
    assert words_and_strings(sql) == found


@pytest.mark.parametrize(
    ("sql", "several"),
    [
        ("select 1", False),
        ("select 1;", False),
        ("select 1; ; -- end; of it\n", False),
        ("select ';' from t", False),
        ("select 1; select 2", True),
        ("select 1 /* ; */; commit", True),
        ("create procedure p() begin; end procedure", True),
    ],
)
def test_several_statements_in_one_text(sql: str, several: bool) -> None:
    assert holds_several(sql) is several


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("DATABASE stores", "stores"),
        ("database 'stores' exclusive", "stores"),
        ('CREATE DATABASE "Stores" WITH LOG', "Stores"),
        ("create database if not exists stores@other in dbs;", "stores@other"),
        ("database //other/stores;", "//other/stores"),
        ("-- DATABASE old\ndatabase /* of today */ {new} stores", "stores"),
        ("database", ""),
        ("close databases", ""),
    ],
)
def test_the_name_of_the_database(sql: str, name: str) -> None:
    assert database_name(sql) == name


@pytest.mark.parametrize("text", ["'", "/*", "{", "set ", "1", "1.", "a", ":", "-", "\"'", " ", "SET{"])
def test_a_long_text_takes_no_longer_for_each_character(text: str) -> None:
    assert "".join(tokens(text * 100_000 + "a")) == text * 100_000 + "a"
