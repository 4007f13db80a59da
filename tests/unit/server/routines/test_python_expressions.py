"""Expressions that routines evaluate in Python have the results of DuckDB: each is evaluated both ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.routines import sql_compiler
from informix_arrow.server.session.engine import Engine


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture(scope="module")
def db(engine: Engine) -> Db:
    return connect(engine, "stores_demo")


VARIABLES = (
    "i int, j int, s smallint, d decimal(8,2), e decimal(12,5), m money(9,2), "
    "c char(6), v varchar(12), w varchar(12)"
)
VALUES: tuple[tuple[Any, ...], ...] = (
    (7, 3, 5, "1.25", "-2.00005", "10.10", "ab", "xy  ", "Hello"),
    (-7, 0, -5, "-1.25", "1234567.12345", "-0.01", "", "", "a"),
    (2147483647, -1, 32767, "999999.99", "0.00001", "9999999.99", "abcdef", "abcdefghijkl", "0123456789ab"),
    (None, 2, None, None, "1", None, None, None, "x"),
    (0, None, 0, "0", None, "0.5", "A b", " lead", None),
    (-2147483647, 2, 1, "0.005", "-0.5", "1", "é", "ÉÈ", "日本"),
)
ROWS = [
    ("i + j * 2 - 1", "int"), ("-i", "int"), ("i + 1", "smallint"), ("mod(i, j)", "int"), ("abs(i - 1)", "int"),
    ("nvl(i, 0) + nvl(j, -1)", "int"), ("s * s", "smallint"), ("s + i", "bigint"), ("(i - j) * s", "decimal(16,2)"),
    ("d + e", "decimal(12,2)"), ("d * 1.19", "decimal(8,2)"), ("d * e", "decimal(16,4)"), ("-d + m", "money(10,2)"),
    ("d - 0.005", "decimal(8,2)"), ("d * s", "int"), ("e", "smallint"), ("e * 10", "decimal(5,1)"), ("1.5", "int"),
    ("length(c)", "int"), ("length(v) + length(w)", "int"), ("length(c || v)", "int"),
    ("c || '|'", "varchar(12)"), ("'<' || c", "varchar(12)"), ("v || w", "varchar(30)"), ("v || w", "char(20)"),
    ("v || '-' || i", "varchar(40)"), ("i || j", "varchar(30)"), ("w || v", "varchar(8)"), ("upper(v)", "varchar(12)"),
    ("lower(w) || upper(c)", "char(30)"), ("substr(w, 2, 3)", "varchar(5)"), ("substr(v, 2)", "varchar(12)"),
    ("substr(c, 1, 4)", "char(4)"), ("substr(w, s, j)", "varchar(12)"), ("c", "varchar(12)"), ("v", "char(12)"),
    ("'lit '", "varchar(9)"), ("v", "char(3)"), ("null", "int"), ("upper(c)", "varchar(12)"),
    ("substr(c, 2)", "varchar(12)"), ("(c)", "varchar(12)"), ("c", "char(9)"), ("(c) || '|'", "varchar(12)"),
    ("upper(c) || '|' || substr(c, 1, 3) || '|'", "varchar(30)"), ("d * e + m", "decimal(12,4)"),
]  # fmt: skip
CONDITIONS = (
    "i > j", "i = 7 or j is null", "not (i < s)", "d >= 1.25", "d < e", "e * 2 <> d", "m > d and c is not null",
    "c = 'ab'", "v = c", "v <> 'xy'", "w > 'a'", "c < v", "upper(w) = 'HELLO'", "length(v) > 2", "v || w >= 'a'",
    "mod(i, 2) = 1", "d = s", "substr(w, 1, 1) = 'H'",
)  # fmt: skip


def outcome(db: Db, row: tuple[Any, ...]) -> object:
    try:
        found = db.value(f"execute function plain({', '.join('?' * len(row))})", *row)
    except SqlError as problem:
        return problem.sqlcode
    return found


def both_ways(db: Db, monkeypatch: pytest.MonkeyPatch, body: str, returns: str) -> None:
    """Run a function in Python and in DuckDB with all values. Python must be able to evaluate all of it."""
    create = f"create function plain({VARIABLES}) returning {returns}; {body} end function"
    compiled: list[object] = []
    found: list[list[object]] = []
    for in_python in (True, False):
        with monkeypatch.context() as patch:
            for name in ("compile_row", "compile_condition"):
                real = getattr(sql_compiler, name)

                def compile_it(*arguments: Any, real: Any = real, on: bool = in_python) -> Any:
                    made = real(*arguments) if on else None
                    compiled.extend([made] if on else [])
                    return made

                patch.setattr(sql_compiler, name, compile_it)
            db.run(create)
            try:
                found.append([outcome(db, row) for row in VALUES])
            finally:
                db.run("drop function plain")
    assert found[0] == found[1]
    assert compiled
    assert None not in compiled


@pytest.mark.slow
@pytest.mark.parametrize(("expression", "t"), ROWS)
def test_a_value_is_the_same_in_python_and_in_duckdb(
    db: Db, monkeypatch: pytest.MonkeyPatch, expression: str, t: str
) -> None:
    both_ways(db, monkeypatch, f"define r {t}; let r = {expression}; return r;", t)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_is_the_same_in_python_and_in_duckdb(
    db: Db, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    body = f"if {condition} then return 1; elif not ({condition}) then return 2; end if; return 3;"
    both_ways(db, monkeypatch, body, "int")
