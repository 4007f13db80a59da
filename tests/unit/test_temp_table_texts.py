"""CREATE TEMP TABLE of texts that were read before: the same statement as the parser makes."""

from __future__ import annotations

import pytest

from informix_arrow.server.errors import SqlError
from informix_arrow.server.grammar.classify import classify
from informix_arrow.server.grammar.temp_tables import known_table

TEXTS = (
    "create temp table {} (a integer not null, b varchar(63), tail char(1)) with no log",
    "CREATE TEMPORARY TABLE {}(a SERIAL(7), b DECIMAL(16,2) DEFAULT 5.5, tail DATETIME YEAR TO SECOND);",
    "\n create temp table {}\n(\n a int default null, {{ a comment }} tail lvarchar(300)) with no log lock mode row\n",
    "create temp table {} (dbmd1 int8, tail int) extent size 32 next size 64 fragment by round robin in d1, d2",
    'create temp table {} ("Wide" integer, tail char(3))',
)
NAMES = ("dbmd1", "DBMD2", "dbmd3", "if", "t", "select", "x_1")


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_read_as_it_is_whatever_its_name(text: str) -> None:
    for delimident in (False, True):
        for name in NAMES:
            sql = text.format(name)
            try:
                expected = classify(sql, delimident)
            except SqlError:
                assert known_table(sql, delimident) is None
                continue
            assert known_table(sql, delimident) == expected
            assert known_table(sql, delimident) == expected


def test_what_is_done_with_one_is_nothing_to_the_next() -> None:
    sql = TEXTS[0].format("one")
    expected = classify(sql, False)
    found = known_table(sql, False)
    assert found is not None
    found[1].columns.clear()
    found[1].storage.extent = 99
    assert known_table(sql, False) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "create table t (a integer)",
        "create temp table if not exists t (a integer)",
        "create temp table t (a integer primary key)",
        "create temp table t (a integer, check (t.a > 5))",
        "create temp table t as select * from u",
        "create temp table t (a integer",
        "create temp table t (a nothing known, b int)",
        "create temp table t ()",
        "create temp table \u017f (a integer)",
        "create temp table t (a integer) \0",
        "create temp table t (" + ", ".join(f"column_{n} integer" for n in range(2000)) + ")",
    ],
)
def test_other_texts_are_the_parsers(sql: str) -> None:
    assert known_table(sql, False) is None
