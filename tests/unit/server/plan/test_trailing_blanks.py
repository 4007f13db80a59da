"""Texts that differ only in trailing blanks are equal in every comparison."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.server.sql_session import Db

ROWS = [
    ("x", "a", "q", 1),
    ("x ", "a ", "q  ", 2),
    ("y", "b", "r", 3),
    (None, None, None, 4),
    (None, None, None, 5),
]


def fill(db: Db) -> None:
    db.run("create table t (v varchar(10), c char(5), l lvarchar(50), n int, z int)")
    for row in [*ROWS, ("x  ", "a", "q", 6)]:
        db.run("insert into t values (?, ?, ?, ?, 7)", *row)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("select distinct v, z from t order by v", [(None, 7), ("x", 7), ("y", 7)]),
        ("select unique l, v, z from t order by l desc", [("r", "y", 7), ("q", "x", 7), (None, None, 7)]),
        ("select first 2 distinct v from t order by v", [(None,), ("x",)]),
        ("select v, count(*) from t group by v order by v", [(None, 2), ("x", 3), ("y", 1)]),
        ("select upper(v), v || '|', sum(n), z from t group by v, z order by 1", [
            (None, None, 9, 7), ("X", "x|", 9, 7), ("Y", "y|", 3, 7)
        ]),
        ("select l, v, sum(n) from t group by 1, 2 order by 1, 2", [(None, None, 9), ("q", "x", 9), ("r", "y", 3)]),
        ("select v, count(*) from t group by v having v > 'a' and count(*) > 1", [("x", 3)]),
        ("select upper(v), max(v), count(*) from t group by 1 order by 1", [
            (None, None, 2), ("X", "x  ", 3), ("Y", "y", 1)
        ]),
        ("select substr(v, 1, 2), count(*) from t group by 1 order by 1", [(None, 2), ("x", 3), ("y", 1)]),
        ("select v k, z from t group by v, z order by k", [(None, 7), ("x", 7), ("y", 7)]),
        ("select distinct v, count(*) from t group by v order by 1", [(None, 2), ("x", 3), ("y", 1)]),
        ("select v, z from t where n < 3 union select 'x   ', 7 from t order by 1", [("x", 7)]),
        ("select v from t union select l from t order by 1", [(None,), ("q",), ("r",), ("x",), ("y",)]),
        ("select v, z from t minus select 'x', 7 from t order by 1", [(None, 7), ("y", 7)]),
        ("select v, z from t intersect select l || '', z from t", [(None, 7)]),
        ("select v, z from t intersect select 'x    ', 7 from t", [("x", 7)]),
        ("select count(*) from (select v from t union select 'x    ' from t) q", [(3,)]),
        ("with a as (select v from t union select 'x   ' from t) select count(*) from a", [(3,)]),
        ("select v from t where n < 3 union all select v from t where n = 1 order by 1", [("x",), ("x",), ("x ",)]),
        ("select count(distinct v), count(distinct c) from t", [(2, 2)]),
        ("select n, z from t where v = any (select 'x  ' from t) order by 1", [(1, 7), (2, 7), (6, 7)]),
        ("select n, z from t where l <> all (select 'q ' from t)", [(3, 7)]),
        ("select n, z from t where v in (select 'x    ' from t) order by 1", [(1, 7), (2, 7), (6, 7)]),
        ("select v, n from t where v = 'x' order by v, n desc", [("x  ", 6), ("x ", 2), ("x", 1)]),
        ("select n, z from t where v = 'x' order by v desc, n", [(1, 7), (2, 7), (6, 7)]),
        ("select v, count(*) from t where v > 'x' group by v", [("y", 1)]),
        ("select count(*) from t a, t b where a.v = b.v and a.n = 1", [(3,)]),
        # a subquery in a query with GROUP BY sees the keys unchanged
        ("select v, (select max(z) from t b where b.v = t.v) from t where v = 'y' group by v", [("y", 7)]),
        # keys of ORDER BY before other keys
        ("select v, n from t where v = 'x' union all select v, n from t where n = 3 order by v, n desc", [
            ("x  ", 6), ("x ", 2), ("x", 1), ("y", 3)
        ]),
        ("select v a, n b from t where v = 'x' union select v, n from t where n = 1 order by 1 desc, b desc", [
            ("x  ", 6), ("x ", 2), ("x", 1)
        ]),
        ("select first 2 * from (select v, n from t where v = 'x' union all select l, n from t where n = 1) q"
         " order by v desc, n", [("x", 1), ("x ", 2)]),
        ("select distinct v, n from t where v = 'x' order by v, n desc", [("x  ", 6), ("x ", 2), ("x", 1)]),
        # windows
        ("select n, rank() over (order by v), row_number() over (order by v, n desc) from t where v > 'w' order by n", [
            (1, 1, 3), (2, 1, 2), (3, 4, 4), (6, 1, 1)
        ]),
        ("select n, sum(n) over (order by v) from t where v >= 'x' order by n", [(1, 9), (2, 9), (3, 12), (6, 9)]),
        ("select v, rank() over (order by v desc), sum(count(*)) over () from t where v >= 'x' group by v order by v", [
            ("x", 2, 4), ("y", 1, 4)
        ]),
        ("select v, max(v) over (), rank() over (order by max(n)) from t where v >= 'x' group by v order by v", [
            ("x", "y", 2), ("y", "y", 1)
        ]),
    ],
)  # fmt: skip
def test_blanks_behind_a_text_decide_nothing(db: Db, query: str, found: list[tuple[Any, ...]]) -> None:
    assert db.rows(query) == found


def test_of_a_temporary_table_that_duckdb_does_not_know_neither(db: Db) -> None:
    db.run("create temp table late (v varchar(9), n int, z int) with no log")
    for v, n in (("x ", 3), ("x", 1), ("y", 2), ("x  ", 0)):
        db.run("insert into late values (?, ?, 7)", v, n)
    assert db.rows("select distinct v, z from late order by v") == [("x", 7), ("y", 7)]
    assert db.rows("select v, n from late order by v, n desc") == [("x ", 3), ("x", 1), ("x  ", 0), ("y", 2)]


def test_a_union_in_recursion_is_left_alone(db: Db) -> None:
    steps = "select 1, v from t where n = 1 union select k + 1, v from w where k < 3"
    assert db.rows(f"with w(k, v) as ({steps}) select k, v from w order by 1") == [
        (1, "x"),
        (2, "x"),
        (3, "x"),
    ]
