"""Copies: each row of the source is in the target once. Whenever the process dies, the next run continues."""

from __future__ import annotations

import datetime as dt
import errno
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.integration import copy_targets
from tests.integration.copy_targets import held, kind_of
from tests.stress import LONG_SOAK_ONLY, SECONDS

import informix_arrow as ifx
from informix_arrow.replicate.checksums import ColumnChecksums
from informix_arrow.replicate.informix import InformixSession
from informix_arrow.replicate.parquet_folder import FolderChange
from informix_arrow.replicate.state import CopyRows, State, describe_column_changes
from informix_arrow.replicate.target_names import open_target
from informix_arrow.server import Server

_numbers = itertools.count(1)
DAY = dt.datetime(2026, 1, 31, 12)


@contextmanager
def new_database(server: Server) -> Iterator[ifx.Connection]:
    name = f"copies_{next(_numbers)}"
    server.create_database(name)
    with ifx.connect(server.url(name), autocommit=True) as connection:
        yield connection
    server.drop_database(name)


@pytest.fixture
def conn(server: Server) -> Iterator[ifx.Connection]:
    with new_database(server) as connection:
        yield connection


@pytest.fixture(params=copy_targets.KINDS)
def target(request: pytest.FixtureRequest, tmp_path: Path, server: Server) -> Iterator[str]:
    with copy_targets.made(request.param, tmp_path, server, f"target_{next(_numbers)}") as text:
        yield text


def ids(target: str, table: str = "orders") -> list[tuple[int, str]]:
    found = held(target, table)
    return sorted(zip(found["id"].to_pylist(), found["after"].to_pylist(), strict=True))


def orders(conn: ifx.Connection, *ids: int, text: str = "a", day: dt.datetime | None = DAY) -> None:
    rows = {
        "id": pa.array(ids, pa.int32()),
        "changed": [day] * len(ids),
        "after": [f"{text}{n}" for n in ids],
    }
    conn.execute(f"DELETE FROM orders WHERE id IN ({', '.join(map(str, ids))})")
    conn.write_arrow("orders", pa.table(rows))  # an upsert takes as long as the copy


def fill(conn: ifx.Connection) -> ifx.Connection:
    conn.execute(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, changed DATETIME YEAR TO SECOND, after VARCHAR(20))"
    )
    orders(conn, 1, 2, 3)
    return conn


@pytest.fixture
def filled(conn: ifx.Connection) -> ifx.Connection:
    return fill(conn)


@pytest.fixture(scope="module")
def source(server: Server) -> Iterator[ifx.Connection]:
    """The same, for tests that change nothing in it."""
    with new_database(server) as connection:
        yield fill(connection)


TYPES: dict[str, tuple[str, list[Any]]] = {
    "i": ("INTEGER", [-(2**31) + 1, None, 2**31 - 1]),
    "b": ("BIGINT", [-(2**63) + 1, None, 2**63 - 1]),
    "s": ("SMALLINT", [-32767, None, 32767]),
    "d": ("DECIMAL(32,10)", [Decimal("-1234567890123456789012.0000000001"), None, Decimal("0.0000000001")]),
    "m": ("MONEY(8,2)", [Decimal("-999999.99"), None, Decimal("0.01")]),
    "f": ("FLOAT", [-1.5e300, None, 5e-324]),
    "g": ("SMALLFLOAT", [-1.5, None, 0.25]),
    "da": ("DATE", [dt.date(1, 1, 1), None, dt.date(9999, 12, 31)]),
    "ds": ("DATETIME YEAR TO SECOND", [dt.datetime(1, 1, 1), None, dt.datetime(9999, 12, 31, 23, 59, 59)]),
    "df": ("DATETIME YEAR TO FRACTION(5)", [DAY, None, DAY.replace(microsecond=999990)]),
    "dh": ("DATETIME HOUR TO SECOND", [dt.time(0), None, dt.time(23, 59, 59)]),
    "iv": ("INTERVAL DAY(5) TO SECOND", [dt.timedelta(-99999), None, dt.timedelta(seconds=1)]),
    "bo": ("BOOLEAN", [True, None, False]),
    "c": ("CHAR(5)", ["äß", None, ""]),
    "v": ("LVARCHAR(2000)", ["語" * 500, None, ""]),
    "t": ("TEXT", ["long " * 1000, None, ""]),
    "y": ("BYTE", [b"\0\xff" * 1000, None, b""]),
    "l": ("LIST(INTEGER NOT NULL)", [[1, 2], None, []]),
}


LACKING = {"delta": ("dh", "iv"), "iceberg": ("iv",)}


def test_values_of_every_type_arrive(conn: ifx.Connection, target: str) -> None:
    types = {name: each for name, each in TYPES.items() if name not in LACKING.get(kind_of(target), ())}
    declared = ", ".join(f"{name} {kind}" for name, (kind, _) in types.items())
    conn.execute(f"CREATE TABLE every (id INTEGER, {declared}, after INTEGER)")
    marks = ", ".join("?" * (len(types) + 2))
    rows = zip(range(3), *(values for _, values in types.values()), range(3), strict=True)
    for row in rows:
        values = [ifx.dbapi.Binary(value) if isinstance(value, bytes) else value for value in row]
        values = [
            f"LIST{{{','.join(map(str, value))}}}" if isinstance(value, list) else value for value in values
        ]
        conn.execute(f"INSERT INTO every VALUES ({marks})", values)
    (report,) = ifx.copy(conn, target, ["every"])
    assert (report.rows, report.target_rows) == (3, 3)
    found = held(target, "every").sort_by("id").to_pylist()
    expected = conn.read_arrow("SELECT * FROM every ORDER BY id").to_pylist()
    for one, other in zip(found, expected, strict=True):
        interval = one.pop("iv", None)
        assert other.pop("iv", None) == (interval and _span(interval))
        assert one == other


def _span(interval: Any) -> dt.timedelta:
    """Convert an interval with months, as databases return it."""
    if isinstance(interval, dt.timedelta):
        return interval
    return dt.timedelta(interval.days, 0, interval.nanoseconds // 1000)


def test_a_whole_database_is_copied_and_copied_again(filled: ifx.Connection, target: str) -> None:
    filled.execute("CREATE TABLE none (id INTEGER, after VARCHAR(5))")
    filled.execute("CREATE VIEW seen AS SELECT * FROM orders")
    done: list[str] = []
    first = ifx.copy(filled, target, jobs=2, connections=2, done=lambda each: done.append(each.table))
    assert [(each.table, each.rows, each.target_rows) for each in first] == [("none", 0, 0), ("orders", 3, 3)]
    assert done == ["none", "orders"]
    assert held(target, "none").schema.names == ["id", "after"]
    filled.execute("DELETE FROM orders WHERE id = 2")
    orders(filled, 4, text="b")
    ifx.copy(filled, target)
    assert ids(target) == [(1, "a1"), (3, "a3"), (4, "b4")]


def test_an_incremental_copy_takes_what_is_new(filled: ifx.Connection, target: str) -> None:
    options: dict[str, Any] = {"mode": "incremental", "watermark": "changed", "key": "id", "overlap": 60}
    (first,) = ifx.copy(filled, target, ["orders"], **options)
    assert (first.mode, first.rows, first.watermark) == ("full", 3, "2026-01-31 12:00:00")
    orders(filled, 3, 4, text="late ", day=DAY - dt.timedelta(seconds=59))
    orders(filled, 2, 5, text="new ", day=DAY + dt.timedelta(seconds=1))
    orders(filled, 1, text="too late ", day=DAY - dt.timedelta(seconds=61))
    orders(filled, 6, text="no day ", day=None)
    (second,) = ifx.copy(filled, target, ["orders"], **options)
    assert (second.mode, second.rows, second.target_rows) == ("incremental", 4, 5)
    assert second.watermark == "2026-01-31 12:00:01"
    expected = [(1, "a1"), (2, "new 2"), (3, "late 3"), (4, "late 4"), (5, "new 5")]
    assert ids(target) == expected
    filled.execute("DELETE FROM orders")
    (third,) = ifx.copy(filled, target, ["orders"], **options)
    assert (third.rows, third.target_rows, third.watermark) == (0, 5, "2026-01-31 12:00:01")
    assert ids(target) == expected


def test_an_incremental_copy_without_a_key_adds_what_is_above(filled: ifx.Connection, target: str) -> None:
    for last in (3, 5, 5):
        orders(filled, *range(1, last + 1))
        ifx.copy(filled, target, ["orders"], mode="incremental", watermark="id")
        assert [number for number, _ in ids(target)] == list(range(1, last + 1))


def test_append_adds_all_and_merge_takes_the_place_of_the_same_key(
    filled: ifx.Connection, target: str
) -> None:
    for mode, expected in (("append", 3), ("append", 6), ("full", 3)):
        ifx.copy(filled, target, ["orders"], mode=mode)  # type: ignore[arg-type]
        assert len(ids(target)) == expected
    orders(filled, 3, 4, text="b")
    filled.execute("DELETE FROM orders WHERE id = 1")
    for _ in range(2):
        (report,) = ifx.copy(filled, target, ["orders"], mode="merge", key=["ID"])
        assert (report.rows, report.target_rows) == (3, 4)
    assert ids(target) == [(1, "a1"), (2, "a2"), (3, "b3"), (4, "b4")]


def test_the_rows_of_a_run_are_added_once(filled: ifx.Connection, target: str) -> None:
    for run, again, read, there in (
        ("monday", False, 3, 3),
        ("monday", False, 0, 3),
        ("tuesday", False, 3, 6),
        ("monday", False, 0, 6),
        ("monday", True, 3, 9),
    ):
        (report,) = ifx.copy(filled, target, ["orders"], mode="append", run_id=run, again=again)
        assert (report.rows, report.target_rows, report.already_copied) == (read, there, not read)
        assert len(ids(target)) == there
        orders(filled, 1, text=run)  # a repeated run takes no other rows either
    ifx.copy(filled, target, ["orders"])  # runs in other modes do not delete the record of this run
    (report,) = ifx.copy(filled, target, ["orders"], mode="append", run_id="tuesday")
    assert report.already_copied
    assert report.to_json()["already_copied"]
    assert len(ids(target)) == 3


def test_changed_columns_are_an_error_that_names_them_or_are_taken_over(
    filled: ifx.Connection, target: str
) -> None:
    ifx.copy(filled, target, ["orders"])
    filled.execute("ALTER TABLE orders ADD (extra DECIMAL(5,2))")
    with pytest.raises(ifx.CopyFailed, match=r"orders: .*extra DECIMAL\(5,2\) is new.*evolve=True"):
        ifx.copy(filled, target, ["orders"])
    assert "extra" not in held(target, "orders").schema.names
    orders(filled, 3, 4, text="b")
    filled.execute("UPDATE orders SET extra = 1.25 WHERE id = 4")
    ifx.copy(filled, target, ["orders"], mode="merge", key="id", evolve=True)
    found = held(target, "orders").sort_by("id")
    assert found["extra"].to_pylist() == [None, None, None, Decimal("1.25")]
    assert found["after"].to_pylist() == ["a1", "a2", "b3", "b4"]
    filled.execute("ALTER TABLE orders MODIFY (after VARCHAR(30))")
    with pytest.raises(ifx.CopyFailed, match=r"after was VARCHAR\(20\) and is VARCHAR\(30\)"):
        ifx.copy(filled, target, ["orders"], mode="append", evolve=True)
    ifx.copy(filled, target, ["orders"], evolve=True)
    assert held(target, "orders").num_rows == 4


def test_a_full_copy_takes_over_any_change_of_columns(conn: ifx.Connection, target: str) -> None:
    conn.execute("CREATE TABLE shifting (id INTEGER, gone DATE, n SMALLINT, t VARCHAR(5), after INTEGER)")
    conn.execute("INSERT INTO shifting VALUES (1, TODAY, 7, '7', 11)")
    ifx.copy(conn, target, ["shifting"])
    conn.execute("DROP TABLE shifting")
    conn.execute(
        "CREATE TABLE shifting (id INTEGER, n VARCHAR(9), t BIGINT, fresh DECIMAL(5,2), after INTEGER)"
    )
    conn.execute("INSERT INTO shifting VALUES (2, 'seven', 7000000000, 1.25, 12)")
    with pytest.raises(
        ifx.CopyFailed, match=r"fresh DECIMAL\(5,2\) is new; gone is gone; n was SMALLINT and is"
    ):
        ifx.copy(conn, target, ["shifting"])
    assert held(target, "shifting")["after"].to_pylist() == [11]
    for mode, count in (("full", 1), ("append", 2)):
        ifx.copy(conn, target, ["shifting"], mode=mode, evolve=True)  # type: ignore[arg-type]
        found = held(target, "shifting")
        assert sorted(found.schema.names) == ["after", "fresh", "id", "n", "t"]
        row = {"id": 2, "n": "seven", "t": 7000000000, "fresh": Decimal("1.25"), "after": 12}
        assert found.to_pylist() == [row] * count


def test_a_key_that_is_none_is_refused_before_anything_is_written(
    filled: ifx.Connection, target: str
) -> None:
    ifx.copy(filled, target, ["orders"])
    filled.execute("CREATE TABLE twice (id INTEGER, k INTEGER, after VARCHAR(5))")
    filled.execute("INSERT INTO twice VALUES (1, 7, 'x')")
    ifx.copy(filled, target, ["twice"])
    filled.execute("INSERT INTO twice VALUES (2, 7, 'y')")
    for change, match in (
        (None, "Two rows have the key k=7"),
        ("UPDATE twice SET k = NULL WHERE id = 2", "key"),
    ):
        if change:
            filled.execute(change)
        with pytest.raises(ifx.CopyFailed, match=rf"twice: .*{match}"):
            ifx.copy(filled, target, ["twice"], mode="merge", key="k")
        assert ids(target, "twice") == [(1, "x")]
    ifx.copy(filled, target, ["orders", "twice"])
    assert ids(target, "twice") == [(1, "x"), (2, "y")]


def test_an_error_in_the_middle_leaves_the_target_as_it_was(
    filled: ifx.Connection, target: str, server: Server
) -> None:
    filled.execute("CREATE TABLE bad (id INTEGER, after VARCHAR(9))")
    ifx.copy(filled, target)
    orders(filled, 9)
    server.faults.fail_next(-1202, matching="FROM bad$")
    with pytest.raises(ifx.CopyFailed, match=r"1 of 2 tables were not copied: bad: ") as caught:
        ifx.copy(filled, target)
    assert [each.error is None for each in caught.value.copies] == [False, True]
    assert (9, "a9") in ids(target)  # the other table was copied
    assert held(target, "bad").num_rows == 0


def test_what_somebody_else_has_made_is_left_alone(
    source: ifx.Connection, target: str, server: Server
) -> None:
    still_there = copy_targets.theirs(target)
    with pytest.raises(ifx.CopyFailed, match=r"that (was|were) not (created|written) by a copy"):
        ifx.copy(source, target, ["orders"])
    assert still_there()


def test_a_table_of_another_database_does_not_take_a_copys_place(
    source: ifx.Connection, target: str, server: Server
) -> None:
    ifx.copy(source, target, ["orders"])
    server.create_database("copies_other")
    with ifx.connect(server.url("copies_other"), autocommit=True) as other:
        other.execute("CREATE TABLE orders (id INTEGER, changed DATETIME YEAR TO SECOND, after VARCHAR(20))")
        with pytest.raises(ifx.CopyFailed, match=r"is a copy of .*/orders"):
            ifx.copy(other, target, ["orders"])
    server.drop_database("copies_other")
    assert len(ids(target)) == 3


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"mode": "all"}, "mode must be one of"),
        ({"mode": "incremental"}, "needs watermark"),
        ({"watermark": "id"}, "Other modes take none"),
        ({"mode": "merge"}, "needs key"),
        ({"key": "id"}, "takes no key"),
        ({"mode": "incremental", "watermark": "id", "overlap": 5}, "identify a row with key"),
        ({"mode": "incremental", "watermark": "id", "key": "id", "overlap": -5}, "overlap= must be"),
        ({"jobs": 0}, "jobs must be a whole number of at least 1, got 0"),
        ({"jobs": "2"}, "jobs must be a whole number of at least 1, got '2'"),
        ({"connections": True}, "connections must be a whole number of at least 1, got True"),
        ({"where": 5}, "where must be a string"),
        ({"mode": "merge", "key": 5}, "key must be a column's name"),
        ({"partition_by": 5}, "partition_by must be a column's name"),
        ({"evolve": "no"}, "evolve must be True or False"),
        ({"run_id": "monday"}, r"run_id= goes with mode='append'\. mode='full' can be repeated"),
        ({"mode": "append", "run_id": ""}, "run_id must be a string of 1 to 200 characters, got ''"),
        ({"mode": "append", "run_id": 5}, "run_id must be a string"),
        ({"mode": "append", "again": True}, "again= needs run_id"),
        ({"mode": "append", "run_id": "monday", "again": "yes"}, "again must be True or False"),
        ({"rejects": 1}, "rejects must be the path of a file"),  # not the open file with that number
        ({"progress": 5}, "progress must be a function"),
        ({"tables": "orders"}, "a sequence of names"),
        ({"tables": [5]}, "a sequence of names"),
        ({"tables": ["orders", "informix.orders"]}, "Two tables are called orders"),
    ],
)
def test_wrong_arguments_are_refused(
    source: ifx.Connection, tmp_path: Path, options: Any, match: str
) -> None:
    with pytest.raises(ifx.InterfaceError, match=match):
        ifx.copy(source, f"{tmp_path}/lake/", **options)
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_target_of_another_kind_is_refused(source: ifx.Connection, tmp_path: Path) -> None:
    with pytest.raises(ifx.InterfaceError, match=r"is not a target\. Write DIR/"):
        ifx.copy(source, f"{tmp_path}/orders.xlsx")
    Path(tmp_path, "text.duckdb").write_text("no database" * 1000)
    with pytest.raises(ifx.OperationalError, match="cannot be opened as a DuckDB file"):
        ifx.copy(source, f"{tmp_path}/text.duckdb")


def test_a_column_that_is_no_watermark_is_refused(source: ifx.Connection, target: str) -> None:
    for column, match in (
        ("after", r"VARCHAR\(20\). A watermark can be an integer, SERIAL, DATE"),
        ("nowhere", "has no column 'nowhere'"),
    ):
        with pytest.raises(ifx.CopyFailed, match=match):
            ifx.copy(source, target, ["orders"], mode="incremental", watermark=column)


# ---- databases as targets ----------------------------------------------------------------------


def only(*kinds: str) -> Any:
    """Parametrise a test with those of the given targets that are available."""
    return pytest.mark.parametrize("target", [k for k in copy_targets.KINDS if k in kinds], indirect=True)


@only("informix")
def test_a_table_arrives_in_another_informix_with_its_declared_types(
    filled: ifx.Connection, target: str
) -> None:
    filled.execute(
        "CREATE TABLE made (id SERIAL, m MONEY(8,2), c CHAR(3) NOT NULL, v NVARCHAR(9), after BIGINT)"
    )
    filled.execute("INSERT INTO made VALUES (7, 1.25, 'é', NULL, 5)")
    for _ in range(2):
        ifx.copy(filled, target, ["made"], connections=2)
    with ifx.connect(target) as there:
        sql = "SELECT * FROM made"
        with filled.query(sql) as one, there.query(sql) as other:
            assert [each.type.sql for each in other.columns] == [each.type.sql for each in one.columns]
            assert other.read_all().to_pylist() == one.read_all().to_pylist()


@only("informix")
def test_a_full_copy_of_the_same_columns_keeps_what_belongs_to_the_table(
    source: ifx.Connection, target: str
) -> None:
    ifx.copy(source, target, ["orders"])
    with ifx.connect(target, autocommit=True) as there:
        there.execute("CREATE INDEX ix_after ON orders (after)")
        ifx.copy(source, target, ["orders"])
        assert "ix_after" in there.indexes("orders")["index_name"].to_pylist()
    assert len(ids(target)) == 3


def test_a_target_without_a_log_is_refused(source: ifx.Connection, server: Server) -> None:
    server.create_database("copies_unlogged", mode="unlogged")
    try:
        with pytest.raises(
            ifx.NotSupportedError, match="copies_unlogged is a database without transaction logging"
        ):
            ifx.copy(source, server.url("copies_unlogged"), ["orders"])
        with ifx.connect(server.url("copies_unlogged"), autocommit=True) as there:
            assert there.tables(types=("TABLE",)).num_rows == 0
    finally:
        server.drop_database("copies_unlogged")


@only("informix", "postgresql")  # with other targets, a second copy is refused at once
def test_a_copy_that_another_one_has_overtaken_is_refused(filled: ifx.Connection, target: str) -> None:
    """The copied rows depend on the target's state at the start, so another copy must not change that state
    meanwhile."""
    options: dict[str, Any] = {"mode": "incremental", "watermark": "id"}
    ifx.copy(filled, target, ["orders"], **options)
    orders(filled, 4)
    twice = open_target(target)
    there = twice.state("orders")
    assert there is not None
    ifx.copy(filled, target, ["orders"], **options)
    table = filled.read_arrow("SELECT * FROM orders WHERE id = 4")
    checks = ColumnChecksums(table.schema)
    checks.add(table.to_batches()[0])
    rows = CopyRows(table.schema, iter(table.to_batches()), checks)
    with pytest.raises(ifx.OperationalError, match="Another copy has written orders in the meantime"):
        twice.append("orders", rows, lambda: there)
    twice.close()
    assert [number for number, _ in ids(target)] == [1, 2, 3, 4]


@only(*LACKING)
def test_a_column_of_a_type_that_the_target_lacks_is_named(filled: ifx.Connection, target: str) -> None:
    filled.execute("CREATE TABLE spans (id INTEGER, span INTERVAL DAY TO SECOND, after INTEGER)")
    with pytest.raises(ifx.CopyFailed, match=r"spans: spans\.span: (Delta|Iceberg) has no type for duration"):
        ifx.copy(filled, target, ["spans"])
    ifx.copy(filled, target, ["orders"])
    assert len(ids(target)) == 3


@only("delta")
def test_a_folder_of_parquet_files_is_not_emptied_for_a_delta_table(
    source: ifx.Connection, target: str
) -> None:
    """Regression: files of another copy, or of Spark, were taken for remains of a failed copy."""
    place = Path(target.partition(":")[2])
    ifx.copy(source, f"{place}/", ["orders"])
    (place / "orders" / "part-00000-1-c000.parquet").touch()
    before = sorted(each.name for each in (place / "orders").iterdir())
    with pytest.raises(ifx.CopyFailed, match=r"holds files that were not written by a copy\. Move them away"):
        ifx.copy(source, target, ["orders"])
    assert sorted(each.name for each in (place / "orders").iterdir()) == before


@only("delta")
def test_a_delta_table_may_be_compacted_between_copies(filled: ifx.Connection, target: str) -> None:
    for mode in ("full", "append"):
        ifx.copy(filled, target, ["orders"], mode=mode)  # type: ignore[arg-type]
    table = copy_targets.delta_table(target, "orders")
    assert table.optimize.compact()["numFilesRemoved"] == 2
    filled.execute("DELETE FROM orders WHERE id > 1")
    orders(filled, 1, text="b")
    (report,) = ifx.copy(filled, target, ["orders"], mode="merge", key="id")
    assert report.target_rows == 5
    assert ids(target) == [(1, "b1"), (2, "a2"), (2, "a2"), (3, "a3"), (3, "a3")]
    bounds = pa.table(copy_targets.delta_table(target, "orders").get_add_actions(flatten=True))
    assert sorted(zip(bounds["min.id"].to_pylist(), bounds["max.id"].to_pylist(), strict=True)) == [
        (1, 1),
        (2, 3),
    ]


@only("postgresql")
def test_what_postgresql_cannot_hold_is_refused(filled: ifx.Connection, target: str) -> None:
    filled.execute("CREATE TABLE notes (id INTEGER, note TEXT, after INTEGER)")
    filled.execute("INSERT INTO notes VALUES (1, ?, 1)", ["fine"])
    ifx.copy(filled, target, ["notes"])
    filled.execute("INSERT INTO notes VALUES (2, ?, 2)", ["x\0y"])
    filled.execute("CREATE TABLE nested (id INTEGER, pair ROW(a INTEGER, b INTEGER), after INTEGER)")
    with pytest.raises(ifx.CopyFailed) as caught:
        ifx.copy(filled, target, ["notes", "nested"])
    texts = [str(each.error) for each in caught.value.copies]
    assert "notes: note contains the character U+0000" in texts[0]
    assert "id=2" in texts[0]
    assert "nested.pair: PostgreSQL has no type for struct" in texts[1]
    assert held(target, "notes").to_pylist() == [{"id": 1, "note": "fine", "after": 1}]


@only("postgresql")
def test_a_full_copy_keeps_indexes_and_views_of_the_table(filled: ifx.Connection, target: str) -> None:
    ifx.copy(filled, target, ["orders"])
    with copy_targets.postgres_cursor("CREATE UNIQUE INDEX ix ON orders (id)", target) as cursor:
        cursor.execute("CREATE VIEW seen AS SELECT id FROM orders")
    orders(filled, 4)
    ifx.copy(filled, target, ["orders"])
    with copy_targets.postgres_cursor("SELECT count(*) FROM seen", target) as cursor:
        assert cursor.fetchone() == (4,)
        cursor.execute("SELECT count(*) FROM pg_indexes WHERE indexname = 'ix'")
        assert cursor.fetchone() == (1,)


@only("postgresql")
def test_copies_that_begin_at_once_in_an_empty_database_all_find_the_table_of_states(target: str) -> None:
    """CREATE TABLE IF NOT EXISTS in two sessions at once fails in one of them."""
    many = 8
    for _ in range(4):
        with copy_targets.postgres_cursor("DROP TABLE IF EXISTS informix_arrow_copies", target):
            pass
        ready = threading.Barrier(many)

        def begin(ready: threading.Barrier = ready) -> None:
            ready.wait(60)
            open_target(target).close()

        with ThreadPoolExecutor(many) as pool:
            for done in [pool.submit(begin) for _ in range(many)]:
                done.result()


@only("postgresql")
def test_a_password_is_in_no_error(source: ifx.Connection, target: str) -> None:
    bad = target.replace("user=ifx", "user=nobody").replace("postgresql:///", "postgresql://ifx:se%20cret@/")
    for url in (bad, bad.replace("?host=", "?nonsense=")):
        with pytest.raises(ifx.OperationalError) as caught:
            ifx.copy(source, url, ["orders"])
        assert "cret" not in str(caught.value)


# ---- dying --------------------------------------------------------------------------------------

_CHILD = textwrap.dedent("""
    import os, pathlib, signal, sys
    import pyarrow as pa
    import pyarrow.parquet as pq
    import informix_arrow as ifx
    import informix_arrow.replicate.informix as informix
    from informix_arrow.core import connection_classes
    from informix_arrow.replicate import duck
    from informix_arrow.replicate.copy import copy

    FURTHER = []
    try:
        from informix_arrow.replicate import postgres
        FURTHER += [(postgres.PostgresSession, "run")]
    except ImportError:
        pass
    try:
        from informix_arrow.replicate import delta
        FURTHER += [(delta, "create_table_with_add_actions"), (delta.DeltaTable, "create_write_transaction")]
    except ImportError:
        pass
    try:
        from informix_arrow.replicate import iceberg
        FURTHER += [(iceberg.IcebergChange, "create"), (iceberg.Transaction, "update_snapshot"),
                    (iceberg.Transaction, "commit_transaction")]
    except ImportError:
        pass

    def dying(module, name, left):
        real = getattr(module, name)
        def call(*arguments, **options):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)
        setattr(module, name, call)

    pa.array([1])  # pyarrow's first array imports pandas,
    connection_classes.connection_class(ifx.Connection)  # and then a connection Polars: here once, not in each child

    for line in sys.stdin:
        url, target, count, mode = line.split()
        child = os.fork()
        if not child:
            left = [int(count)]
            for module, name in ((os, "replace"), (os, "fsync"), (pathlib.Path, "unlink"), (duck.DuckFile, "_run"),
                                 (informix.InformixSession, "first"), (informix.InformixSession, "change"),
                                 (ifx.Connection, "write_arrow"),
                                 (ifx.Connection, "commit"), (pathlib.Path, "write_text"),
                                 (pq.ParquetWriter, "write_table"), (pq.ParquetWriter, "close"), *FURTHER):
                dying(module, name, left)
            mode, _, form = mode.partition("+")
            options = {"full": {}, "merge": {"key": "id"}, "incremental": {"watermark": "id"}}[mode]
            options |= {"": {}, "late": {"key": "id", "overlap": 2}, "folders": {"partition_by": "after"}}[form]
            copy(url, target, ["orders"], mode=mode, **options)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
""")


@pytest.fixture(scope="module")
def mortal() -> Iterator[Callable[..., int]]:
    """Run a copy in a process that dies at its nth step that writes to the disk, and return the exit code. All copies
    are forked from one process."""
    command = [sys.executable, "-c", _CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def run(url: str, target: str, count: int, mode: str) -> int:
            print(url, target, count, mode, file=process.stdin, flush=True)
            return int(process.stdout.readline())  # type: ignore[union-attr]

        yield run
        process.stdin.close()
        assert process.wait(60) == 0


#: Steps that write to the disk. A run dies at one of them.
DEATHS = (1, 4, 6, 7, 8, 9, 10, 11, 12, 14)


@pytest.mark.parametrize("mode", ["full", "merge", "incremental"])
@pytest.mark.parametrize(
    "deaths", [DEATHS[1::3], pytest.param(DEATHS, marks=LONG_SOAK_ONLY)], ids=["some", "all"]
)
@pytest.mark.skipif(os.name != "posix", reason="nobody can be killed so")
def test_whenever_the_program_is_killed_the_next_run_goes_on(
    filled: ifx.Connection,
    target: str,
    server: Server,
    mortal: Callable[..., int],
    mode: str,
    deaths: Sequence[int],
) -> None:
    """Run after run is killed, at one step after the other, until the last one completes the copy. Meanwhile, readers
    of a database see the old rows or the new ones."""
    killed_again_and_again(filled, target, server, mortal, mode, "", deaths)


@pytest.mark.soak
@pytest.mark.parametrize("target", ["folder", "duckdb"], indirect=True)
@pytest.mark.skipif(os.name != "posix", reason="nobody can be killed so")
def test_late_rows_come_once_however_often_the_program_is_killed(
    filled: ifx.Connection, target: str, server: Server, mortal: Callable[..., int]
) -> None:
    killed_again_and_again(filled, target, server, mortal, "incremental", "late")


@pytest.mark.soak
@pytest.mark.parametrize("target", ["folder"], indirect=True)
@pytest.mark.parametrize("mode", ["full", "merge", "incremental"])
@pytest.mark.skipif(os.name != "posix", reason="nobody can be killed so")
def test_folders_by_values_survive_the_death_of_the_program(
    filled: ifx.Connection, target: str, server: Server, mortal: Callable[..., int], mode: str
) -> None:
    killed_again_and_again(filled, target, server, mortal, mode, "folders")


def killed_again_and_again(
    filled: ifx.Connection,
    target: str,
    server: Server,
    mortal: Callable[..., int],
    mode: str,
    form: str,
    deaths: Sequence[int] = DEATHS if SECONDS else DEATHS[::2],
) -> None:
    url = server.url(filled.database)
    further: dict[str, Any] = {"folders": {"partition_by": "after"}}.get(form, {})
    start: dict[str, Any] = {"mode": mode, "watermark": "id"} if mode == "incremental" else {"mode": "full"}
    ifx.copy(filled, target, ["orders"], **start, **further)
    content = by_folders if form == "folders" else ids
    expected = content(target)
    if mode != "incremental":
        orders(filled, 2, 3, 4, text="b")
    elif form == "late":  # changes below the watermark, within the overlap
        orders(filled, 2, 4, 5, text="c")
    else:
        orders(filled, 4, 5)
    if mode == "full":
        filled.execute("DELETE FROM orders WHERE id = 1")
    found = filled.read_arrow("SELECT id, after FROM orders")
    new = sorted(zip(found["id"].to_pylist(), found["after"].to_pylist(), strict=True))
    for count in (*deaths, *((17, 20, 23, 26)[:: 1 if SECONDS else 2] if form else ()), 1000):
        code = mortal(url, target, count, f"{mode}+{form}")
        if code == 0:
            break
        assert code == -signal.SIGKILL
        if kind_of(target) != "folder":
            assert ids(target) in (expected, new)
    assert content(target) == new
    options: dict[str, Any] = {"mode": mode, "key": "id"} if mode == "merge" else start
    ifx.copy(filled, target, ["orders"], **options, **further)
    assert content(target) == new
    if kind_of(target) == "folder":
        left = [
            path for path in Path(target, "orders").rglob("*") if path.suffix not in (".parquet", ".json")
        ]
        assert [path.name for path in left if not path.is_dir() or not any(path.iterdir())] == []


def by_folders(target: str) -> list[tuple[int, str]]:
    """Return the rows that readers find if they take a column from the names of the folders."""
    files = Path(target, "orders").rglob("*.parquet")
    rows = [
        (n, path.parent.name)
        for path in files
        for n in pq.read_table(path, partitioning=None)["id"].to_pylist()
    ]
    return sorted((n, name.removeprefix("after=")) for n, name in rows)


# ---- sums and states ----------------------------------------------------------------------------


def test_sums_distinguish_other_values_from_the_same_in_another_order() -> None:
    table = pa.table(
        {
            "i": pa.array([1, None, -3], pa.int32()),
            "d": pa.array([Decimal("1.5"), None, Decimal("-99999999999999999999.25")], pa.decimal128(32, 2)),
            "f": [0.1, None, -0.0],
            "t": ["ä", None, ""],
            "z": pa.array([True, None, False]),
        }
    )
    checks = ColumnChecksums(table.schema)
    same = checks.of_batches(table.take([2, 0, 1]).to_batches())
    (batch,) = table.slice(1).to_batches()
    pieces = checks.of_batches([table.to_batches()[0].slice(0, 1), batch])
    for each in table.to_batches():
        checks.add(each)
    assert checks.differences(same) == checks.differences(pieces) == []
    assert checks.differences(ColumnChecksums(table.schema)) == ["3 rows were read and 0 are there"]
    for name, other in {"i": 2, "d": Decimal("1.75"), "f": 0.2, "t": "b", "z": False}.items():
        changed = table.set_column(
            table.schema.names.index(name),
            table.schema.field(name),
            pa.array([other, *table[name].to_pylist()[1:]], table[name].type),
        )
        assert checks.differences(checks.of_batches(changed.to_batches())) == [
            f"the column {name} is not what was read"
        ]
    assert checks.to_json()["t"]["values"] == 2


def test_a_state_is_kept_as_it_is_and_a_strange_one_refused() -> None:
    state = State("s/d/t", (("id", "INTEGER"),), ("id", "7"), "run", 3, ("a",), ("b",), ("c",), {"id": {}})
    assert State.from_json(state.to_json(), "here") == state
    for strange in ("", "[]", '{"format": 2}', '{"format": 1, "source": "x"}'):
        with pytest.raises(ifx.OperationalError, match="here: The record of the last copy cannot be read"):
            State.from_json(strange, "here")
    old = json.loads(state.to_json())
    del old["digest"], old["tabid"]
    assert State.from_json(json.dumps(old), "here") == state
    told = describe_column_changes((("a", "INTEGER"), ("b", "DATE")), (("b", "CHAR(1)"), ("c", "DATE")))
    assert told == ["c DATE is new", "a is gone", "b was DATE and is CHAR(1)"]


def test_a_damaged_state_is_refused_wherever_it_is_cut_or_changed() -> None:
    """Regression: a watermark with one changed bit silently left rows out of the copy, or copied them twice."""
    state = State("s/d/t", (("id", "INTEGER"),), ("id", "7"), "run", 3, ("a",), where="x = 'ä'", tabid=101)
    whole = state.to_json().encode()
    damaged = [whole[:size] for size in range(len(whole))]
    for place in range(len(whole)):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            damaged.append(bytes(flipped))
    read = 0
    for each in damaged:
        try:
            found = State.from_json(each.decode("utf-8", "replace"), "here")
        except ifx.OperationalError as error:
            assert "here: The record of the last copy cannot be read" in str(error)  # noqa: PT017
            assert "copy it again" in str(error)  # noqa: PT017
        else:
            read += 1  # a space was changed to other whitespace
            assert found == state
    assert read < 100


@pytest.mark.parametrize("target", ["folder"], indirect=True)
def test_a_table_that_was_made_anew_is_not_gone_on_with(filled: ifx.Connection, target: str) -> None:
    """Regression: rows of the new table below the old watermark were never copied."""
    incremental: Any = {"mode": "incremental", "watermark": "id"}
    ifx.copy(filled, target, ["orders"], **incremental)
    filled.execute("ALTER TABLE orders ADD more INTEGER BEFORE after")
    orders(filled, 4)
    ifx.copy(filled, target, ["orders"], evolve=True, **incremental)
    filled.execute("DROP TABLE orders")
    filled.execute(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, changed DATETIME YEAR TO SECOND, more INTEGER, after VARCHAR(20))"
    )
    orders(filled, 1, 5)
    with pytest.raises(
        ifx.OperationalError, match=r"created again since the last copy.*Copy the table in full"
    ):
        ifx.copy(filled, target, ["orders"], **incremental)
    ifx.copy(filled, target, ["orders"])
    assert [each.mode for each in ifx.copy(filled, target, ["orders"], **incremental)] == ["full"]
    orders(filled, 6)
    assert [each.rows for each in ifx.copy(filled, target, ["orders"], **incremental)] == [1]


def test_two_copies_into_one_folder_do_not_meet(source: ifx.Connection, tmp_path: Path) -> None:
    target = f"{tmp_path}/lake/"

    def again(rows: int, size: int) -> None:
        with pytest.raises(ifx.OperationalError, match="Another copy is writing to it"):
            ifx.copy(source, target, ["orders"])

    progress: Callable[[int, int], object] = again
    (report,) = ifx.copy(source, target, ["orders"], progress=progress)
    assert report.target_rows == 3


@pytest.mark.parametrize("gone", ["lake/_informix_arrow.lock", "lake", "x.duckdb"])
def test_a_target_that_is_taken_away_in_the_middle_of_a_copy_is_missed(
    source: ifx.Connection, tmp_path: Path, gone: str
) -> None:
    """Regression: a copy into a DuckDB file that had been deleted reported success. Without the lock file, two copies
    wrote to one folder, and readers found each row twice."""
    target = str(tmp_path / "x.duckdb") if gone == "x.duckdb" else f"{tmp_path}/lake/"

    def remove(rows: int, size: int) -> None:
        there = tmp_path / gone
        shutil.rmtree(there) if there.is_dir() else there.unlink()
        if gone.endswith(".lock"):
            ifx.copy(source, target, ["orders"])

    with pytest.raises(ifx.CopyFailed, match="was removed"):
        ifx.copy(source, target, ["orders"], progress=remove)
    assert ifx.copy(source, target, ["orders"])[0].target_rows == 3
    if gone != "x.duckdb":
        files = list((tmp_path / "lake" / "orders").glob("*.parquet"))
        assert sum(pq.read_metadata(each).num_rows for each in files) == 3


def test_two_copies_into_one_duckdb_file_do_not_meet(source: ifx.Connection, tmp_path: Path) -> None:
    target = f"{tmp_path}/shop.duckdb"

    def again(rows: int, size: int) -> None:
        with pytest.raises(ifx.OperationalError, match="Another copy is writing to it"):
            ifx.copy(source, f"{tmp_path}/./shop.duckdb", ["orders"])

    progress: Callable[[int, int], object] = again
    ifx.copy(source, target, ["orders"], progress=progress)
    (report,) = ifx.copy(source, target, ["orders"])
    assert report.target_rows == 3
    Path(target).write_text("no database")
    for _ in range(2):
        with pytest.raises(ifx.OperationalError, match="cannot be opened as a DuckDB file"):
            ifx.copy(source, target, ["orders"])


@pytest.mark.parametrize("target", ["informix"], indirect=True)
def test_copies_that_begin_at_once_find_a_table_of_states(
    source: ifx.Connection, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy may have checked for the table of states just before another copy created it."""
    ifx.copy(source, target, ["orders"])
    real = InformixSession.has
    monkeypatch.setattr(
        InformixSession, "has", lambda self, table: table != "informix_arrow_copies" and real(self, table)
    )
    (report,) = ifx.copy(source, target, ["orders"])
    assert report.target_rows == 3


def test_the_next_table_is_read_while_one_is_brought_to_the_disk(
    filled: ifx.Connection, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single connection reads. The reports are in the order of the tables."""
    filled.execute("CREATE TABLE later (id INTEGER, after VARCHAR(20))")
    filled.execute("INSERT INTO later VALUES (7, 'x')")
    begun = threading.Event()
    real = FolderChange.commit

    def late(change: FolderChange, *arguments: Any) -> State:
        if change._folder.name == "orders":
            assert begun.wait(60)
        else:
            begun.set()
        return real(change, *arguments)

    monkeypatch.setattr(FolderChange, "commit", late)
    before = server.sessions
    sessions: set[int] = set()
    reports = ifx.copy(
        server.url(filled.database),
        f"{tmp_path}/lake/",
        ["orders", "later"],
        progress=lambda rows, size: sessions.add(server.sessions),
    )
    assert [(each.table, each.rows) for each in reports] == [("orders", 3), ("later", 1)]
    assert max(sessions) == before + 1  # the copy's session


# ---- mistakes and odd names of careful users ----------------------------------------------------


@pytest.mark.parametrize("overlap", ["x", "nan", "inf", -1, float("nan"), None])
def test_an_overlap_is_a_number(source: ifx.Connection, tmp_path: Path, overlap: Any) -> None:
    with pytest.raises(ifx.InterfaceError, match="overlap= must be a number of at least 0"):
        ifx.copy(
            source,
            f"{tmp_path}/lake/",
            ["orders"],
            mode="incremental",
            watermark="id",
            key="id",
            overlap=overlap,
        )
    assert not (tmp_path / "lake").exists()


def test_nothing_is_no_target_and_a_file_is_no_folder(
    source: ifx.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ifx.InterfaceError, match="'' is not a target"):
        ifx.copy(source, "", ["orders"])
    assert not list(tmp_path.iterdir())
    (tmp_path / "a").write_text("x")
    for target in ("a/", "a/b/"):
        with pytest.raises(ifx.OperationalError, match="is not a directory"):
            ifx.copy(source, target, ["orders"])


def test_a_table_is_the_same_however_it_is_spelled(source: ifx.Connection, tmp_path: Path) -> None:
    target = f"{tmp_path}/lake/"
    for name in ("orders", "ORDERS", f"{source.database}:Orders"):
        (report,) = ifx.copy(source, target, [name])
        assert report.target_rows == 3
    state = tmp_path / "lake" / "orders" / "_informix_arrow.json"
    told = json.loads(state.read_text())
    del told["digest"]
    beside = told["source"].rpartition("/")[0]
    for spelled in ('"ORDERS"', "others.orders", "a b", "ORDERS"):  # spelled as in older releases
        state.write_text(json.dumps({**told, "source": f"{beside}/{spelled}"}))
        if spelled != "ORDERS":
            with pytest.raises(ifx.CopyFailed, match="Choose another target"):
                ifx.copy(source, target, ["orders"])
    ifx.copy(source, target, ["orders"])


@pytest.mark.parametrize("target", ["folder", "duckdb"], indirect=True)
def test_the_first_copy_by_a_key_looks_at_it_too(filled: ifx.Connection, target: str) -> None:
    filled.execute("CREATE TABLE pairs (id INTEGER, after VARCHAR(5))")
    for row, text in (("1, 'y'", "Two rows have the key id=1"), ("NULL, 'y'", "A row has")):
        filled.execute("DELETE FROM pairs")
        filled.execute("INSERT INTO pairs VALUES (1, 'x')")
        filled.execute(f"INSERT INTO pairs VALUES ({row})")
        for options in ({"mode": "merge"}, {"mode": "incremental", "watermark": "id"}):
            with pytest.raises(ifx.CopyFailed, match=f"not copied: pairs: {text}"):
                ifx.copy(filled, target, ["pairs"], key="id", **options)  # type: ignore[arg-type]
    with pytest.raises(ifx.CopyFailed, match="pairs: key names a column twice: id, id"):
        ifx.copy(filled, target, ["pairs"], key=["id", "ID"], mode="merge")
    filled.execute("CREATE TABLE lists (l LIST(INTEGER NOT NULL), after INTEGER)")
    filled.execute("INSERT INTO lists VALUES (LIST{1}, 2)")
    if kind_of(target) == "folder":
        with pytest.raises(ifx.CopyFailed, match="lists: Rows cannot be merged by l, which is list"):
            ifx.copy(filled, target, ["lists"], key="l", mode="merge")
    filled.execute("DELETE FROM pairs WHERE id IS NULL")
    for rows in (1, 1):
        (report,) = ifx.copy(filled, target, ["pairs"], key="id", mode="merge")
        assert report.target_rows == rows


def test_what_somebody_took_away_from_a_target_is_missed(source: ifx.Connection, tmp_path: Path) -> None:
    target = f"{tmp_path}/shop.duckdb"
    for change, text in (
        ("ALTER TABLE orders DROP COLUMN after", "orders no longer has the column after"),
        ("DROP TABLE orders", "The table orders, which a copy created, is gone. Copy it in full"),
    ):
        ifx.copy(source, target, ["orders"])
        with duckdb.connect(target) as file:
            file.execute(change)
        with pytest.raises(ifx.CopyFailed, match=text):
            ifx.copy(source, target, ["orders"], mode="append")
    (report,) = ifx.copy(source, target, ["orders"])
    assert report.target_rows == 3
    lake = f"{tmp_path}/lake/"
    ifx.copy(source, lake, ["orders"])
    (path,) = (tmp_path / "lake" / "orders").glob("*.parquet")
    path.write_text("junk")
    with pytest.raises(
        ifx.CopyFailed, match=f"{path.name}, which the last copy wrote, is not a Parquet file"
    ):
        ifx.copy(source, lake, ["orders"], mode="append")
    ifx.copy(source, lake, ["orders"])
    (tmp_path / "lake" / "orders" / "_informix_arrow.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ifx.CopyFailed, match="cannot be read"):
        ifx.copy(source, lake, ["orders"])


def test_a_file_that_is_gone_is_missed_until_a_full_copy(source: ifx.Connection, tmp_path: Path) -> None:
    lake = f"{tmp_path}/lake/"
    ifx.copy(source, lake, ["orders"])
    (path,) = (tmp_path / "lake" / "orders").glob("*.parquet")
    path.unlink()
    with pytest.raises(ifx.CopyFailed, match=f"{path.name}.* is gone. Restore it, or copy the table in full"):
        ifx.copy(source, lake, ["orders"], mode="append")
    (report,) = ifx.copy(source, lake, ["orders"])
    assert (report.target_rows, len(ids(lake))) == (3, 3)


def test_a_first_copy_that_dies_while_it_writes_its_state_is_begun_anew(
    source: ifx.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(path: Path, text: str) -> None:
        path.with_name(path.name + ".new").write_text(text[:9])
        raise OSError(errno.EIO, "died")

    with monkeypatch.context() as patch:
        patch.setattr("informix_arrow.replicate.parquet_folder.write_whole", dies)
        with pytest.raises(ifx.CopyFailed, match="died"):
            ifx.copy(source, f"{tmp_path}/lake/", ["orders"])
    ifx.copy(source, f"{tmp_path}/lake/", ["orders"])
    assert len(ids(f"{tmp_path}/lake/")) == 3
    assert not list(tmp_path.rglob("*.new"))


def test_files_of_others_are_left_alone_whatever_they_are_called(
    source: ifx.Connection, tmp_path: Path
) -> None:
    """Regression: files whose name ended in .new were taken for remains of a failed copy."""
    folder = tmp_path / "lake" / "orders" / "sub"
    folder.mkdir(parents=True)
    (folder / "thesis.new").write_text("precious")
    (folder / "part-1.parquet.new").write_text("precious, too")
    (folder / "part-0123456789ab-00000.parquet.new").write_text("of a copy that died")
    with pytest.raises(ifx.CopyFailed, match=r"holds files that were not written by a copy\. Move them away"):
        ifx.copy(source, f"{tmp_path}/lake/", ["orders"])
    assert sorted(each.name for each in folder.iterdir()) == ["part-1.parquet.new", "thesis.new"]


@pytest.mark.parametrize("name", ["..", ".", "../out", "a/b"])
def test_a_table_whose_name_is_no_folders_is_refused(
    filled: ifx.Connection, server: Server, tmp_path: Path, name: str
) -> None:
    """Regression: the files were written outside the target, or to the folder of another table."""
    (tmp_path / "lake").mkdir()
    (tmp_path / "x.new").touch()
    with ifx.connect(server.url(filled.database), autocommit=True, env={"DELIMIDENT": "y"}) as exact:
        exact.execute(f'CREATE TABLE "{name}" (id INTEGER, after INTEGER)')
        with pytest.raises(ifx.CopyFailed, match=f"'{name}' cannot be the name of a directory"):
            ifx.copy(exact, f"{tmp_path}/lake/", [f'"{name}"'])
        exact.execute(f'DROP TABLE "{name}"')
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["_informix_arrow.lock", "lake", "x.new"]


def test_the_name_of_the_table_of_states_may_be_somebody_elses(
    filled: ifx.Connection, tmp_path: Path
) -> None:
    target = f"{tmp_path}/shop.duckdb"
    with duckdb.connect(target) as file:
        file.execute("CREATE TABLE informix_arrow_copies AS SELECT 1 AS mine")
    with pytest.raises(
        ifx.CopyFailed, match=r"informix_arrow_copies that was not created by a copy \(mine\).* Rename it"
    ):
        ifx.copy(filled, target, ["orders"])
    filled.execute("CREATE TABLE informix_arrow_stage (id INTEGER, after INTEGER)")
    with pytest.raises(
        ifx.CopyFailed, match=r"cannot be called informix_arrow_stage .*rows that are being copied"
    ):
        ifx.copy(filled, f"{tmp_path}/other.duckdb", ["informix_arrow_stage"])
    filled.execute("DROP TABLE informix_arrow_stage")


def test_tables_whose_names_are_the_same_to_a_target_are_refused(
    filled: ifx.Connection, server: Server, tmp_path: Path
) -> None:
    target = f"{tmp_path}/shop.duckdb"
    ifx.copy(filled, target, ["orders"])
    filled.execute("RENAME TABLE orders TO others")
    with ifx.connect(server.url(filled.database), autocommit=True, env={"DELIMIDENT": "y"}) as exact:
        exact.execute('CREATE TABLE "Orders" (id INTEGER, after INTEGER)')
        with pytest.raises(
            ifx.CopyFailed, match="has a copy of a table orders, whose name it cannot tell from Orders"
        ):
            ifx.copy(exact, target, ['"Orders"'])
    assert [number for number, _ in ids(target)] == [1, 2, 3]


def test_a_name_that_only_delimident_can_write_is_not_taken_for_another(
    filled: ifx.Connection, server: Server, tmp_path: Path
) -> None:
    """The other tables of the database are copied."""
    url, target = server.url(filled.database), f"{tmp_path}/lake/"
    with ifx.connect(url, autocommit=True, env={"DELIMIDENT": "y"}) as exact:
        exact.execute('CREATE TABLE "Select" (id INTEGER, "a b" INTEGER)')
        with pytest.raises(ifx.CopyFailed, match=r'1 of 2 .*: "Select" is a name that a statement') as caught:
            ifx.copy(url, target)
        assert {each.table: each.target_rows for each in caught.value.copies} == {'"Select"': 0, "orders": 3}
        reports = ifx.copy(exact, target)
    assert {each.table: each.target_rows for each in reports} == {'"Select"': 0, '"orders"': 3}
    assert (tmp_path / "lake" / "Select").is_dir()
