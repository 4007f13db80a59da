"""INSERTs of literals are trees without the parser: the same ones that it would make."""

from __future__ import annotations

import pytest
from tests.walking import walked

from informix_arrow.server.grammar import parsing
from informix_arrow.server.grammar.plain_inserts import plain_insert
from informix_arrow.server.planning.scope import offset_of


def parsed(sql: str, monkeypatch: pytest.MonkeyPatch) -> object:
    """What the parser itself makes of a text."""
    with monkeypatch.context() as patch:
        patch.setattr(parsing, "plain_insert", lambda _: None)
        return parsing.parse(sql)


TAKEN = [
    "insert into t values (1)",
    "INSERT  INTO\n Orders_2\tVALUES( 'it''s', -5, 1.50, -0.00, null, NULL , 007,'' )",
    " insert into _x values ('a -- b', 'c /* d */', '{e}', ' f ', 'ü', '?')  ; ;",
    "insert into t values (" + ", ".join(["123456789012345678901234567890.5"] * 40) + ")",
    "insert into order values (1)",
]


@pytest.mark.parametrize("sql", TAKEN)
def test_the_tree_is_the_parser_s(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, long = plain_insert(sql), parsed(sql, monkeypatch)
    assert plain is not None
    assert plain == long
    assert repr(plain.expression) == repr(long.expression)  # type: ignore[attr-defined]
    assert offset_of(plain.this) == offset_of(long.this)  # type: ignore[attr-defined]


@walked(
    "sql",
    [
        "insert into t (a) values (1)",
        "insert into o.t values (1)",
        "insert into d:t values (1)",
        "insert into table values (1)",
        "insert into function values (1)",
        "insert into t values (?)",
        "insert into t values (1 + 1)",
        "insert into t values (1e5)",
        "insert into t values (.5)",
        "insert into t values (today)",
        "insert into t values ('a' || 'b')",
        'insert into t values ("a")',
        "insert into t values ('a\nb')",
        "insert into t values (1), (2)",
        "insert into t values (1) -- so",
        "insert into t values (1,)",
        "insert into t values ()",
        "insert into t values (1",
        "insert into t values ('a)",
        "insert into t select 1 from u",
        "insert into {one} t values (1)",
    ],
)
def test_the_parser_reads_all_others(sql: str) -> None:
    assert plain_insert(sql) is None
