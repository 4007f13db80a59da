"""apply_changes keeps a copy equal to its source in each target, also if changes are applied repeatedly."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from tests.integration import copy_targets
from tests.integration.copy_targets import held, kind_of
from tests.unit.cdc import change_records as w
from tests.unit.cdc.test_assembler import HEAD, assembler, item, order, read

import informix_arrow as ifx
from informix_arrow.cdc.assembler import Transaction
from informix_arrow.cdc.change_batch import merge_transactions
from informix_arrow.replicate.change_target import open_target
from informix_arrow.replicate.net_changes import net_changes
from informix_arrow.server import Server

pytestmark = pytest.mark.usefixtures("quick_captures")

KINDS = ("duckdb", "informix", "postgresql", "delta")
DAY = dt.datetime(2026, 1, 31, 12)
_numbers = itertools.count(1)


def transactions(*parts: bytes) -> list[Transaction]:
    return read(assembler(), HEAD, *parts)


def of(target: str, table: str = "orders") -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in held(target, table).to_pylist()), key=lambda row: row[0])


def insert(lsn: int, *keys: int) -> bytes:
    rows = b"".join(order(40, lsn + 1 + n, 7, key, "x") for n, key in enumerate(keys))
    return w.begin(lsn, 7) + rows + w.commit(lsn + 9, 7)


@pytest.fixture(params=[kind for kind in copy_targets.KINDS if kind in KINDS])
def target(request: pytest.FixtureRequest, tmp_path: Path, server: Server) -> Iterator[str]:
    with copy_targets.made(request.param, tmp_path, server, f"changes_{next(_numbers)}") as text:
        yield text


def test_transactions_are_applied_once_and_the_token_is_kept_with_them(target: str) -> None:
    assert ifx.applied_token(target) is None
    log = transactions(
        insert(10, 1, 2), insert(20, 3), w.begin(30, 7) + order(41, 31, 7, 2, "x") + w.commit(32, 7)
    )
    done = ifx.apply_changes(log[:2], target)
    assert (done.transactions, done.rows, done.skipped, done.token) == (2, 3, 0, log[1].token)
    assert ifx.applied_token(target) == log[1].token
    done = ifx.apply_changes(log, target)
    assert (done.transactions, done.rows, done.skipped) == (1, 1, 2)
    assert of(target) == [(1, "x", 5), (3, "x", 5)]
    assert ifx.apply_changes([], target).token == log[2].token


def test_keys_that_are_passed_on_and_rows_that_are_alike_come_right(target: str) -> None:
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
    ifx.apply_changes(log, target)
    assert [row[:2] for row in of(target)] == [(2, "x"), (3, "x"), (4, "x"), (9, "x"), (51, None)]


def test_a_truncate_empties_and_what_follows_counts(target: str) -> None:
    parts = (
        w.begin(30, 7)
        + order(40, 31, 7, 8, "gone")
        + w.truncate(32, 7)
        + order(40, 33, 7, 5, "y")
        + w.commit(34, 7)
    )
    ifx.apply_changes(transactions(insert(10, 1, 2), parts), target)
    assert of(target) == [(5, "y", 5)]


def test_a_truncate_between_other_changes_of_its_batch_empties(target: str) -> None:
    def emptied(lsn: int, key: int) -> bytes:
        return (
            w.begin(lsn, 7)
            + order(40, lsn + 1, 7, key, "gone")
            + w.truncate(lsn + 2, 7)
            + order(40, lsn + 3, 7, key, "y")
            + w.commit(lsn + 4, 7)
        )

    log = transactions(insert(10, 1, 2), insert(20, 3), emptied(30, 5), emptied(40, 6), insert(50, 7))
    ifx.apply_changes([log[0], merge_transactions(log[1:])], target)
    assert of(target) == [(6, "y", 5), (7, "x", 5)]


def test_a_copy_that_lacks_a_row_is_reported_and_left_as_it_was(target: str) -> None:
    both = w.begin(30, 7) + order(40, 31, 7, 4, "new") + order(41, 32, 7, 2, "other") + w.commit(33, 7)
    log = transactions(insert(10, 1, 2), both)
    with pytest.raises(
        ifx.OperationalError, match=r"orders is not what .* Of 1 changed or deleted rows, 1 are missing"
    ):
        ifx.apply_changes(log, target)
    assert of(target) == [(1, "x", 5), (2, "x", 5)]
    assert ifx.applied_token(target) == log[0].token


def test_nothing_of_a_transaction_is_there_when_its_second_table_lacks_a_row(target: str) -> None:
    both = (
        w.begin(30, 7)
        + order(40, 31, 7, 4, "new")
        + item(40, 32, 7, 1, "first")
        + item(41, 33, 7, 9, None)
        + w.commit(34, 7)
    )
    log = transactions(insert(10, 1, 2), both)
    with pytest.raises(ifx.OperationalError, match=r"items is not what"):
        ifx.apply_changes(log, target)
    assert [row[0] for row in of(target)] == [1, 2]
    assert ifx.applied_token(target) == log[0].token


def test_another_program_that_applied_changes_is_reported(target: str) -> None:
    (one,) = transactions(insert(10, 1))
    changes = {"orders": net_changes(list(one.batches))}
    opened = open_target(target)
    try:
        opened.apply("changes", None, one.token, one.commit_lsn, changes)
        for before in (None, "1-5-5"):
            with pytest.raises(ifx.OperationalError, match="Another program"):
                opened.apply("changes", before, one.token, one.commit_lsn, changes)
    finally:
        opened.close()
    assert [row[0] for row in of(target)] == [1]


def test_batches_of_transactions_and_one_that_overlaps(target: str) -> None:
    log = transactions(insert(10, 1), insert(20, 2), insert(30, 3))
    ifx.apply_changes([merge_transactions(log[:2])], target)
    assert ifx.apply_changes([merge_transactions(log[:2])], target).skipped == 1
    with pytest.raises(ifx.InterfaceError, match=f"token of the target, {log[1].token}"):
        ifx.apply_changes([merge_transactions(log[1:])], target)
    assert ifx.apply_changes([merge_transactions(log[2:])], target).transactions == 1
    assert [row[0] for row in of(target)] == [1, 2, 3]


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
    for text in ("iceberg:lake", "mysql://me:secret@host/db", "lake/"):
        with pytest.raises(
            ifx.InterfaceError, match=r"not a target of changes\. Write FILE\.duckdb, "
        ) as refused:
            ifx.apply_changes(log, text)
        assert "secret" not in str(refused.value)
    two = {"orders": "one", "s:ann.items": "one"}
    both = transactions(w.begin(30, 7) + order(40, 31, 7, 4, "x") + item(40, 32, 7, 1, "y") + w.commit(34, 7))
    with duckdb.connect() as db, pytest.raises(ifx.InterfaceError, match="Several tables"):
        ifx.apply_changes(both, db, tables=two)
    with pytest.raises(ifx.OperationalError, match="cannot be opened"):
        ifx.apply_changes(log, "/nowhere/at/all.duckdb")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(threads=1) as running:
        yield running


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    found = server.url("stores_demo")
    with ifx.connect(found, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE ap_a (id INTEGER PRIMARY KEY, name VARCHAR(40), qty SMALLINT, ok BOOLEAN, "
            "note LVARCHAR(200), d DECIMAL(8,2), at DATETIME YEAR TO FRACTION(3), code CHAR(7))"
        )
        conn.execute("CREATE TABLE ap_b (x INTEGER, y VARCHAR(20))")
    return found


@pytest.fixture
def conn(url: str) -> Iterator[ifx.Connection]:
    with ifx.connect(url, autocommit=True) as connection:
        yield connection


TYPES: dict[str, tuple[str, list[Any]]] = {
    "i": ("INTEGER", [-(2**31) + 1, None, 2**31 - 1]),
    "b": ("BIGINT", [-(2**63) + 1, None, 2**63 - 1]),
    "i8": ("INT8", [-(2**63) + 1, None, 2**63 - 1]),
    "s": ("SMALLINT", [-32767, None, 32767]),
    "d": ("DECIMAL(32,10)", [Decimal("-1234567890123456789012.0000000001"), None, Decimal("0.0000000001")]),
    "fd": (
        "DECIMAL(32)",
        ["-1.2345678901234567890123456789012E+100", None, "12345678901234567890123456789012"],
    ),
    "m": ("MONEY(8,2)", [Decimal("-999999.99"), None, Decimal("0.01")]),
    "f": ("FLOAT", [-1.5e300, None, 5e-324]),
    "g": ("SMALLFLOAT", [-1.5, None, 0.25]),
    "da": ("DATE", [dt.date(1, 1, 1), None, dt.date(9999, 12, 31)]),
    "ds": ("DATETIME YEAR TO SECOND", [dt.datetime(1, 1, 1), None, dt.datetime(9999, 12, 31, 23, 59, 59)]),
    "df": ("DATETIME YEAR TO FRACTION(5)", [DAY, None, DAY.replace(microsecond=999990)]),
    "dm": ("DATETIME MONTH TO MINUTE", ["12-25 08:05", None, "01-01 00:00"]),
    "dh": ("DATETIME HOUR TO SECOND", [dt.time(0), None, dt.time(23, 59, 59)]),
    "iv": ("INTERVAL DAY(5) TO SECOND", [dt.timedelta(-99999), None, dt.timedelta(seconds=1)]),
    "ym": ("INTERVAL YEAR(4) TO MONTH", ["-9999-11", None, "0000-01"]),
    "bo": ("BOOLEAN", [True, None, False]),
    "c": ("CHAR(5)", ["äß", None, ""]),
    "v": ("VARCHAR(20)", ["a ", None, "a"]),
    "lv": ("LVARCHAR(2000)", ["語" * 500, None, ""]),
}
LACKING = {"delta": ("dh", "iv")}


def test_values_of_every_type_are_put_in_changed_and_taken_out(
    target: str, conn: ifx.Connection, url: str
) -> None:
    types = {name: kind for name, kind in TYPES.items() if name not in LACKING.get(kind_of(target), ())}
    declared = ", ".join(f"{name} {kind}" for name, (kind, _) in types.items())
    conn.execute(f"CREATE TABLE every_type (id INTEGER, {declared}, after INTEGER)")
    begun = start_of(url, ["every_type"])
    rows = list(zip(*(values for _, values in types.values()), strict=True))
    try:
        put = f"INSERT INTO every_type VALUES ({', '.join('?' * (len(types) + 2))})"
        with conn.transaction():
            conn.cursor().executemany(put, [(n, *rows[n % 3], 77) for n in range(3 * len(types))])
        assert_kept(target, conn, url, begun, "every_type")
        # rows that differ in only one column from their old values, or from a neighbour: three for each column
        changed = itertools.count(0, 3)
        for some in (list(types.items())[:7], list(types.items())[7:]):
            with conn.transaction():
                for (name, (_, values)), id in zip(some, changed, strict=False):
                    conn.execute(f"UPDATE every_type SET {name} = NULL WHERE id = ?", (id,))
                    conn.execute(f"UPDATE every_type SET {name} = ? WHERE id = ?", (values[2], id + 1))
                    conn.execute(f"UPDATE every_type SET {name} = ? WHERE id = ?", (values[0], id + 2))
        assert_kept(target, conn, url, begun, "every_type")
        conn.execute("DELETE FROM every_type WHERE id < 4")
        conn.execute("UPDATE every_type SET id = id + 1")
        assert_kept(target, conn, url, begun, "every_type")
        conn.execute("DELETE FROM every_type")
        assert_kept(target, conn, url, begun, "every_type")
    finally:
        ifx.capture_off(url, ["every_type"])
        conn.execute("DROP TABLE every_type")


def start_of(url: str, tables: list[str]) -> str:
    """Return the token of the current end of the log."""
    with ifx.capture(url, tables, idle=0, timeout=1) as changes:
        assert list(changes) == []
        assert changes.token is not None
        return changes.token


def follow(target: str, url: str, begun: str, *tables: str, **batches: Any) -> None:
    start = ifx.applied_token(target) or begun
    with ifx.capture(url, tables, start=start, idle=0, timeout=1, floating_decimals="string") as changes:
        ifx.apply_changes(changes.batches(**batches) if batches else changes, target)


def assert_kept(target: str, conn: ifx.Connection, url: str, begun: str, table: str) -> None:
    follow(target, url, begun, table)
    assert rows_of(held(target, table)) == rows_of(
        conn.read_arrow(f"SELECT * FROM {table}", floating_decimals="string")
    )


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(map(plain, row.values())) for row in table.to_pylist())


def plain(value: Any) -> Any:
    """Return a value in a form that compares equal in source and copy: a floating DECIMAL's text as a number, and an
    interval without the months that databases add."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9.]{5,}(E\+[0-9]+)?", value):
        return Decimal(value)
    if hasattr(value, "nanoseconds"):
        return dt.timedelta(value.days, 0, value.nanoseconds // 1000)
    return value


def test_tables_without_a_key_keep_rows_that_are_alike_as_often_as_they_are_there(
    target: str, conn: ifx.Connection, url: str
) -> None:
    conn.execute("CREATE TABLE ap_alike (x INTEGER, y VARCHAR(20), z FLOAT)")
    begun = start_of(url, ["ap_alike"])
    try:
        conn.cursor().executemany(
            "INSERT INTO ap_alike VALUES (?, ?, ?)",
            [(n % 3 or None, ("a", None, "a ", "")[n % 4], (0.0, -0.0, None)[n % 3]) for n in range(96)],
        )
        assert_kept(target, conn, url, begun, "ap_alike")
        for where in ("x IS NULL AND y = ''", "x = 1 AND y IS NULL"):
            with conn.cursor() as cursor:  # one of several equal rows
                row = cursor.execute(f"SELECT FIRST 1 rowid FROM ap_alike WHERE {where}").fetchone()
                cursor.execute("DELETE FROM ap_alike WHERE rowid = ?", row)
        conn.execute("UPDATE ap_alike SET y = 'b' WHERE y IS NULL AND x IS NULL")
        assert_kept(target, conn, url, begun, "ap_alike")
        conn.execute("INSERT INTO ap_alike SELECT * FROM ap_alike WHERE x = 2")
        conn.execute("DELETE FROM ap_alike WHERE OCTET_LENGTH(y) = 2")
        assert_kept(target, conn, url, begun, "ap_alike")
        assert held(target, "ap_alike").num_rows > 20
    finally:
        ifx.capture_off(url, ["ap_alike"])
        conn.execute("DROP TABLE ap_alike")


def work(conn: ifx.Connection, rng: random.Random) -> None:
    """Make random changes in a transaction. Some fail, some are undone."""
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
        with contextlib.suppress(ifx.DatabaseError):  # the key may exist
            cursor.execute(*rng.choice(statements))
    if rng.random() < 0.8:
        conn.commit()
    else:
        conn.rollback()


def test_a_copy_is_equal_to_its_source_after_drawn_work(target: str, url: str, conn: ifx.Connection) -> None:
    rng = random.Random(18)
    tables = ("ap_a", "ap_b")
    for table in tables:
        conn.execute(f"DELETE FROM {table}")
    begun = start_of(url, list(tables))
    rows = 0
    for round_ in range(3):
        with ifx.connect(url) as working:
            for _ in range(6):
                work(working, rng)
        batches = {} if round_ % 2 else {"max_rows": rng.randrange(1, 99)}
        follow(target, url, begun, *tables, **batches)
        for table in tables:
            there = rows_of(conn.read_arrow(f"SELECT * FROM {table}"))
            assert rows_of(held(target, table)) == there
            rows += sum(there.values())
    assert rows


def test_a_duckdb_connection_is_as_it_was_after_a_failure() -> None:
    log = transactions(insert(10, 1), insert(20, 2))
    with duckdb.connect() as db:
        db.execute("CREATE TABLE orders (id INTEGER CHECK (id < 2), name VARCHAR, qty SMALLINT)")
        with pytest.raises(ifx.OperationalError, match="CHECK"):
            ifx.apply_changes(log, db)
        assert db.execute("SELECT id FROM orders").fetchall() == [(1,)]
        assert ifx.applied_token(db) == log[0].token
        assert "informix_arrow_come" not in str(db.execute("SELECT view_name FROM duckdb_views()").fetchall())
