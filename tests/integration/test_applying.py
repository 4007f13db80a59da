"""apply_changes: a DuckDB copy stays equal to its source, whatever is repeated."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.unit import change_records as w
from tests.unit.test_changes_transactions import HEAD, assembler, order, read

import informix_arrow as ifx
from informix_arrow.changes.assembler import Transaction
from informix_arrow.changes.merging import merged
from informix_arrow.server import Server


def transactions(*parts: bytes) -> list[Transaction]:
    return read(assembler(), HEAD, *parts)


def of(path: Any) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(path)) as db:
        return sorted(db.execute("SELECT * FROM orders").fetchall())


def insert(lsn: int, *keys: int) -> bytes:
    rows = b"".join(order(40, lsn + 1 + n, 7, key, "x") for n, key in enumerate(keys))
    return w.begin(lsn, 7) + rows + w.commit(lsn + 9, 7)


def test_transactions_are_applied_once_and_the_token_is_kept_with_them(tmp_path: Path) -> None:
    path = tmp_path / "copy.duckdb"
    assert ifx.applied_token(path) is None
    log = transactions(
        insert(10, 1, 2), insert(20, 3), w.begin(30, 7) + order(41, 31, 7, 2, "x") + w.commit(32, 7)
    )
    done = ifx.apply_changes(log[:2], path)
    assert (done.transactions, done.rows, done.skipped, done.token) == (2, 3, 0, log[1].token)
    assert ifx.applied_token(path) == log[1].token
    done = ifx.apply_changes(log, path)
    assert (done.transactions, done.rows, done.skipped) == (1, 1, 2)
    assert of(path) == [(1, "x", 5), (3, "x", 5)]
    assert ifx.apply_changes([], path).token == log[2].token


def test_keys_that_are_passed_on_and_rows_that_are_alike_come_right(tmp_path: Path) -> None:
    path = tmp_path / "copy.duckdb"
    log = transactions(
        insert(10, 1, 2, 3, 9, 9, 9),
        w.begin(30, 7)
        + b"".join(
            order(42, 31 + 2 * key, 7, key, "x") + order(43, 32 + 2 * key, 7, key + 1, "x")
            for key in (1, 2, 3)
        )
        + order(41, 40, 7, 9, "x")
        + order(41, 41, 7, 9, "x")
        + order(40, 42, 7, 50, None)
        + order(42, 43, 7, 50, None)
        + order(43, 44, 7, 51, None)
        + w.commit(45, 7),
    )
    ifx.apply_changes(log, path)
    assert [row[:2] for row in of(path)] == [(2, "x"), (3, "x"), (4, "x"), (9, "x"), (51, None)]


def test_a_truncate_empties_and_what_follows_counts(tmp_path: Path) -> None:
    path = tmp_path / "copy.duckdb"
    parts = (
        w.begin(30, 7)
        + order(40, 31, 7, 8, "gone")
        + w.truncate(32, 7)
        + order(40, 33, 7, 5, "y")
        + w.commit(34, 7)
    )
    ifx.apply_changes(transactions(insert(10, 1, 2), parts), path)
    assert of(path) == [(5, "y", 5)]


def test_a_copy_that_lacks_a_row_is_told_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "copy.duckdb"
    both = w.begin(30, 7) + order(40, 31, 7, 4, "new") + order(41, 32, 7, 2, "other") + w.commit(33, 7)
    log = transactions(insert(10, 1, 2), both)
    with pytest.raises(ifx.OperationalError, match=r"orders is not what .* of 1 rows .* 1 are not there"):
        ifx.apply_changes(log, path)
    assert of(path) == [(1, "x", 5), (2, "x", 5)]
    assert ifx.applied_token(path) == log[0].token


def test_batches_of_transactions_and_one_that_overlaps(tmp_path: Path) -> None:
    path = tmp_path / "copy.duckdb"
    log = transactions(insert(10, 1), insert(20, 2), insert(30, 3))
    ifx.apply_changes([merged(log[:2])], path)
    assert ifx.apply_changes([merged(log[:2])], path).skipped == 1
    with pytest.raises(ifx.InterfaceError, match=f"token, {log[1].token}"):
        ifx.apply_changes([merged(log[1:])], path)
    assert ifx.apply_changes([merged(log[2:])], path).transactions == 1
    assert [row[0] for row in of(path)] == [1, 2, 3]


def test_connections_names_and_several_captures_into_one_target() -> None:
    log = transactions(insert(10, 1))
    with duckdb.connect() as db:
        ifx.apply_changes(log, db, name="a", tables={"orders": 'strange "name"'})
        ifx.apply_changes(log, db, name="b")
        assert db.execute('SELECT id FROM "strange ""name"""').fetchall() == [(1,)]
        assert db.execute("SELECT count(*) FROM orders").fetchall() == [(1,)]
        assert ifx.applied_token(db, name="b") == log[0].token
        assert ifx.applied_token(db, name="c") is None
    for wrong in (5, None):
        with pytest.raises(ifx.InterfaceError, match="DuckDB"):
            ifx.apply_changes(log, wrong)
    with pytest.raises(ifx.OperationalError, match="cannot be opened"):
        ifx.apply_changes(log, "/nowhere/at/all.duckdb")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with Server() as running:
        found = running.url("stores_demo")
        with ifx.connect(found, autocommit=True) as conn:
            conn.execute(
                "CREATE TABLE ap_a (id INTEGER PRIMARY KEY, name VARCHAR(40), qty SMALLINT, ok BOOLEAN, "
                "note LVARCHAR(200), d DECIMAL(8,2), at DATETIME YEAR TO FRACTION(3), code CHAR(7))"
            )
            conn.execute("CREATE TABLE ap_b (x INTEGER, y VARCHAR(20))")
        yield found


def work(conn: ifx.Connection, rng: random.Random) -> None:
    """A transaction of drawn changes, some of which fail, some of which are undone."""
    cursor = conn.cursor()
    for _ in range(rng.randrange(1, 6)):
        key = rng.randrange(40)
        insert = (key, rng.choice((None, "é", "x" * 30)), rng.randrange(5), rng.choice((True, False, None)))
        more = (
            rng.choice((None, "", "n" * 100)),
            rng.choice((None, 1.25, -3)),
            None,
            rng.choice((None, "ab")),
        )
        statements: list[tuple[str, tuple[object, ...]]] = [
            ("INSERT INTO ap_a VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*insert, *more)),
            ("UPDATE ap_a SET qty = qty + 1 WHERE id < ?", (key,)),
            ("UPDATE ap_a SET id = id + 1 WHERE id > ?", (key,)),
            ("DELETE FROM ap_a WHERE id = ?", (key,)),
            ("INSERT INTO ap_b VALUES (?, ?)", (key % 3, rng.choice(("p", None)))),
            ("DELETE FROM ap_b WHERE x = ?", (key % 3,)),
            ("UPDATE ap_b SET y = 'z' WHERE x = ?", (key % 3,)),
        ]
        with contextlib.suppress(ifx.DatabaseError):  # a key that is there
            cursor.execute(*rng.choice(statements))
    if rng.random() < 0.8:
        conn.commit()
    else:
        conn.rollback()


def test_a_copy_is_equal_to_its_source_after_drawn_work(url: str, tmp_path: Path) -> None:
    rng = random.Random(18)
    path = tmp_path / "copy.duckdb"
    tables = ["ap_a", "ap_b"]
    with ifx.capture(url, tables, idle=0, timeout=1) as changes:
        assert list(changes) == []
        first = changes.token
    rows = 0
    for round_ in range(3):
        with ifx.connect(url) as conn:
            for _ in range(10):
                work(conn, rng)
        with ifx.capture(url, tables, start=ifx.applied_token(path) or first, idle=0, timeout=1) as changes:
            ifx.apply_changes(changes if round_ % 2 else changes.batches(max_rows=rng.randrange(1, 99)), path)
        with ifx.connect(url) as conn, duckdb.connect(str(path)) as db:
            for table in tables:
                there = conn.read_arrow(f"SELECT * FROM {table}").to_pylist()
                here = db.sql(f"SELECT * FROM {table}").to_arrow_table().to_pylist()
                assert sorted(map(repr, here)) == sorted(map(repr, there))
                rows += len(there)
    assert rows
