"""Which placeholders of a statement are assigned to a column directly."""

from __future__ import annotations

import pytest

from informix_arrow.operations.placeholder_targets import assigned_placeholders


@pytest.mark.parametrize(
    ("sql", "numbers", "columns"),
    [
        ("INSERT INTO t VALUES (?, ?)", (0, 1), (0, 1)),
        ("insert into t(a, b, c) values (?, 'x, ?', ?)", (0, 1), (0, 2)),
        ("insert into t values (? + 1, -?, f(?, ?), ?)", (4,), (3,)),
        ("insert into t -- values (?)\n values (/* ? */ ?)", (0,), (0,)),
        ("insert into t (a, b) select ?, c from s where d = ?", (), ()),
        ('insert into "values" (a) values (?)', (0,), (0,)),
        ("insert into t values (set{?, ?}, ?)", (2,), (1,)),
        ("insert into t values (?::int, ?)", (1,), (1,)),
        ("UPDATE t SET a = ?, b = b + ?, c = ? WHERE d = ? AND e > ?", (0, 2), (0, 2)),
        ("update t set a = f(?), b = 'a = ?', c = ?", (1,), (2,)),
        ("update t set (a, b) = (?, ? * 2)", (0,), (0,)),
        ("update t set (a, b) = (?, ?), c = ? where d = ?", (0, 1, 2), (0, 1, 2)),
        ("update t set a = (select max(b) from s where c = ?), d = ? where e = ?", (1,), (1,)),
        ("update t set a = case when b = ? then ? else c end, d = ?", (2,), (1,)),
        ("delete from t where a = ?", (), ()),
        ("select ? from t where a = ?", (), ()),
        ("EXECUTE PROCEDURE p(?, ? + 1, ?)", (0, 2), ()),
        ("execute function owner.f(a = ?, b = ?)", (0, 1), ()),
        ("{? = call f(?, ?)}", (), ()),
        (
            "merge into t using s on t.a = s.a and s.b > ? when matched then update set t.b = ?, t.c = t.c + ? "
            "when not matched then insert (a, b) values (s.a, ?)",
            (1, 3),
            (),
        ),
        ("", (), ()),
        ("insert into t values (?", (0,), (0,)),
        ("update t set a ? where b = ?", (), ()),
        ("call", (), ()),
    ],
)
def test_only_what_is_assigned_as_it_is_counts(
    sql: str, numbers: tuple[int, ...], columns: tuple[int, ...]
) -> None:
    found = assigned_placeholders(sql)
    assert (found.numbers, found.columns) == (numbers, columns)
