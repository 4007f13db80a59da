"""write_arrow against the embedded server: inserted rows, refused rows, and the report."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import pyarrow as pa
import pytest
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.server import Server

Method = Literal["put", "pipeline"]
OnError = Literal["abort", "collect"]
METHODS: list[Method] = ["put", "pipeline"]
_names = (f"write_rows_{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def conn(server: Server) -> Iterator[ifx.Connection]:
    """A connection that all tests share, because opening one takes longer than most statements."""
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def shared_table(conn: ifx.Connection) -> Iterator[str]:
    name = next(_names)
    conn.execute(
        f"CREATE TABLE {name} (k INTEGER NOT NULL PRIMARY KEY, name VARCHAR(10), n INTEGER NOT NULL, tail SMALLINT)"
    )
    yield name
    conn.execute(f"DROP TABLE {name}")


@pytest.fixture
def table(conn: ifx.Connection, shared_table: str) -> Iterator[str]:
    """An empty table with a key, a NOT NULL column, a short text and a sentinel."""
    yield shared_table
    if conn.in_transaction:
        conn.rollback()
    conn.execute(f"TRUNCATE TABLE {shared_table}")


def rows(count: int, **bad: Mapping[int, object]) -> pa.Table:
    """Return rows with keys 1000, 1001 ... ``bad`` replaces values of a column by row number."""
    columns: dict[str, list[object]] = {
        "k": [1000 + n for n in range(count)],
        "name": [None if n % 7 == 0 else f"né{n}"[:8] for n in range(count)],
        "n": [-n for n in range(count)],
        "tail": [12345] * count,
    }
    for name, values in bad.items():
        for row, value in values.items():
            columns[name][row] = value
    types = {"k": pa.int32(), "name": pa.utf8(), "n": pa.int32(), "tail": pa.int16()}
    return pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})


def keys(conn: ifx.Connection, table: str) -> list[int]:
    found = conn.read_arrow(f"SELECT k, tail FROM {table} ORDER BY k").to_pydict()
    assert set(found["tail"]) <= {12345}, "shifted values"
    return list(found["k"])


def usable(conn: ifx.Connection) -> None:
    """Check that a query returns the right rows, so that requests and replies still match."""
    assert conn.read_arrow("SELECT tabid, 12345 FROM systables WHERE tabid = 1").to_pylist() == [
        {"tabid": 1, "(constant)": 12345}
    ]


@contextmanager
def database(server: Server, name: str, options: str) -> Iterator[ifx.Connection]:
    """Create a database and yield a connection to it. It is dropped afterwards."""
    with ifx.connect(server.url("stores_demo"), autocommit=True) as maker:
        name = database_name(server, name)
        maker.execute(f"CREATE DATABASE {name} {options}")
        try:
            with ifx.connect(server.url(name), autocommit=True) as conn:
                yield conn
        finally:
            maker.execute(f"DATABASE {database_name(server, 'stores_demo')}")
            maker.execute(f"DROP DATABASE {name}")


def places(count: int) -> list[list[int]]:
    """Return places of refused rows: the first, a middle and the last row, and several of one load."""
    found = [[0], [count // 2], [count - 1]]
    if count > 10:
        found.append([0, 1, count // 3, count // 2, count - 2, count - 1])
    return [list(each) for each in dict.fromkeys(map(tuple, found))]


CASES = [(count, bad) for count in (1, 2, 1000) for bad in places(count)]
LARGE = [
    (40_000, [30_000]),
    (66_000, [7, 8, 40_000, 65_535, 65_536, 65_990]),
]


@pytest.mark.parametrize("method", METHODS)
def test_rows_arrive_as_they_were(conn: ifx.Connection, table: str, method: Method) -> None:
    data = rows(5000)
    report = conn.write_arrow(table, data, method=method)
    assert (report.rows, report.method, report.commits, report.transaction) == (5000, method, 1, "own")
    assert report.rejected.num_rows == 0
    assert report.rejected.schema.names == [
        "row",
        "column",
        "sqlcode",
        "isam",
        "message",
        "k",
        "name",
        "n",
        "tail",
    ]
    found = conn.read_arrow(f"SELECT * FROM {table} ORDER BY k")
    assert found.to_pylist() == data.to_pylist()


@pytest.mark.parametrize("inside", [False, True], ids=["own transaction", "open transaction"])
@pytest.mark.parametrize(("count", "bad"), [*CASES, LARGE[0]], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_after_a_refused_row_the_table_is_as_before(
    conn: ifx.Connection, table: str, method: Method, count: int, bad: list[int], inside: bool
) -> None:
    conn.execute(f"INSERT INTO {table} VALUES (7, 'there', 1, 12345)")
    data = rows(count, k=dict.fromkeys(bad, 7))
    if inside:
        conn.execute("BEGIN WORK")
        conn.execute(f"INSERT INTO {table} VALUES (8, 'before', 1, 12345)")
    with pytest.raises(ifx.IntegrityError) as caught:
        conn.write_arrow(table, data, method=method)
    assert (caught.value.row, caught.value.sqlcode, caught.value.isamcode) == (bad[0], -268, -100)
    assert f"Row {bad[0]} (k=7)" in str(caught.value)
    assert keys(conn, table) == ([7, 8] if inside else [7])
    if inside:
        assert conn.in_transaction
        assert "transaction is still open" in str(caught.value)
        conn.write_arrow(table, rows(3))
        conn.commit()
        assert keys(conn, table) == [7, 8, 1000, 1001, 1002]
    else:
        assert not conn.in_transaction
        assert "rolled back. Nothing of it" in str(caught.value)
    usable(conn)


@pytest.mark.parametrize("inside", [False, True], ids=["own transaction", "open transaction"])
@pytest.mark.parametrize(("count", "bad"), [*CASES, LARGE[1]], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_refused_rows_are_reported_and_all_others_are_in(
    conn: ifx.Connection, table: str, method: Method, count: int, bad: list[int], inside: bool
) -> None:
    conn.execute(f"INSERT INTO {table} VALUES (7, 'there', 1, 12345)")
    data = rows(count, k=dict.fromkeys(bad, 7))
    if inside:
        conn.execute("BEGIN WORK")
    report = conn.write_arrow(table, data, method=method, on_error="collect")
    if inside:
        assert (report.transaction, report.commits, conn.in_transaction) == ("savepoint", 0, True)
        conn.commit()
    rejected = report.rejected.to_pydict()
    assert rejected["row"] == bad
    assert set(rejected["sqlcode"]) == {-268}
    assert set(rejected["isam"]) == {-100}
    assert report.rejected.select(["k", "name", "n", "tail"]).to_pylist() == data.take(bad).to_pylist()
    assert report.rows == count - len(bad)
    assert keys(conn, table) == [7, *(1000 + n for n in range(count) if n not in bad)]
    usable(conn)


@pytest.mark.parametrize("on_error", ["abort", "collect"])
@pytest.mark.parametrize("method", METHODS)
def test_null_into_not_null_is_the_rows_own_fault(
    conn: ifx.Connection, table: str, method: Method, on_error: OnError
) -> None:
    data = rows(1000, n={0: None, 500: None, 999: None})
    if on_error == "abort":
        with pytest.raises(ifx.IntegrityError) as caught:
            conn.write_arrow(table, data, method=method)
        assert (caught.value.row, caught.value.sqlcode) == (0, -391)
        assert keys(conn, table) == []
    else:
        report = conn.write_arrow(table, data, method=method, on_error="collect")
        assert report.rejected.column("row").to_pylist() == [0, 500, 999]
        assert report.rejected.column("sqlcode").to_pylist() == [-391] * 3
        assert keys(conn, table) == [1000 + n for n in range(1000) if n not in (0, 500, 999)]
    usable(conn)


@pytest.mark.parametrize("bad", [[0], [1], [999], [0, 1, 2, 500, 998, 999]], ids=str)
@pytest.mark.parametrize("on_error", ["abort", "collect"])
@pytest.mark.parametrize("method", METHODS)
def test_text_that_is_too_long_is_refused_before_it_is_sent(
    conn: ifx.Connection, table: str, method: Method, on_error: OnError, bad: list[int]
) -> None:
    """Otherwise a server would truncate it. 'ééééé' is ten bytes, with an x eleven."""
    data = rows(1000, name=dict.fromkeys(bad, "éééééx") | {3: "ééééé"})
    if on_error == "abort":
        with pytest.raises(ifx.DataError, match=r"text of 11 bytes is too long for VARCHAR\(10\)") as caught:
            conn.write_arrow(table, data, method=method)
        assert (caught.value.row, caught.value.column, caught.value.sqlcode) == (bad[0], "name", None)
        assert "'éééééx'" in str(caught.value)
        assert keys(conn, table) == []
    else:
        report = conn.write_arrow(table, data, method=method, on_error="collect")
        assert report.rejected.column("row").to_pylist() == bad
        assert report.rejected.column("sqlcode").to_pylist() == [None] * len(bad)
        assert report.rejected.column("name").to_pylist() == ["éééééx"] * len(bad)
        assert keys(conn, table) == [1000 + n for n in range(1000) if n not in bad]
    usable(conn)


@pytest.mark.parametrize("method", METHODS)
def test_values_that_do_not_fit_and_rows_that_are_refused_mix(
    conn: ifx.Connection, table: str, method: Method
) -> None:
    """int64 data for SMALLINT, refused by the client; a NULL and a duplicate, refused by the server; and a long
    text."""
    data = rows(1000, n={10: None}, k={20: 1000}, name={30: "x" * 11})
    wide = [70_000 if n in (0, 40) else 12345 for n in range(1000)]
    data = data.set_column(3, "tail", pa.array(wide, pa.int64()))
    report = conn.write_arrow(table, data, method=method, on_error="collect", piece_rows=64)
    assert report.rejected.select(["row", "sqlcode"]).to_pylist() == [
        {"row": 0, "sqlcode": None},
        {"row": 10, "sqlcode": -391},
        # Row 20 repeats the key of row 0, which was refused, so row 20 is inserted.
        {"row": 30, "sqlcode": None},
        {"row": 40, "sqlcode": None},
    ]
    assert "70000" in report.rejected.column("message")[0].as_py()
    assert report.rows == 996
    assert len(keys(conn, table)) == 996


@pytest.mark.parametrize("method", METHODS)
def test_of_two_rows_with_one_key_the_first_is_in(conn: ifx.Connection, table: str, method: Method) -> None:
    """This also holds if another refused row is between them: the order is that of inserting row after row."""
    data = rows(3000, k={500: 1000, 2500: 3400}, n={1500: None, 2400: -999})
    report = conn.write_arrow(table, data, method=method, on_error="collect", group_bytes=4096)
    assert report.rejected.column("row").to_pylist() == [500, 1500, 2500]
    assert conn.read_arrow(f"SELECT n FROM {table} WHERE k = 3400").to_pylist() == [{"n": -999}]


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_are_all_refused_are_all_reported(conn: ifx.Connection, table: str, method: Method) -> None:
    data = rows(9_000)
    conn.write_arrow(table, data, method=method)
    report = conn.write_arrow(table, data, method=method, on_error="collect")
    assert report.rows == 0
    assert report.rejected.column("row").to_pylist() == list(range(9_000))
    assert report.rejected.column("k").to_pylist() == data.column("k").to_pylist()
    assert len(keys(conn, table)) == 9_000


@pytest.mark.parametrize("method", METHODS)
def test_commit_every_commits_exactly_so_many_rows(
    conn: ifx.Connection, table: str, method: Method, server: Server
) -> None:
    seen: list[int] = []
    with ifx.connect(server.url("stores_demo"), autocommit=True) as other:

        def progress(done: int, size: int, seconds: float) -> None:
            found = other.read_arrow(f"SELECT COUNT(*)::INT AS c FROM {table}", isolation="last committed")
            count = found.column("c")[0].as_py()
            seen.append(count)

        report = conn.write_arrow(table, rows(1050), method=method, commit_every=100, progress=progress)
    assert (report.rows, report.commits) == (1050, 11)
    assert seen[-1] == 1000
    assert all(count % 100 == 0 for count in seen)
    assert len(keys(conn, table)) == 1050


@pytest.mark.parametrize("method", METHODS)
def test_a_failure_with_commit_every_keeps_what_was_committed_and_says_so(
    conn: ifx.Connection, table: str, method: Method
) -> None:
    with pytest.raises(ifx.IntegrityError, match=r"3 commits of 100 rows each") as caught:
        conn.write_arrow(table, rows(1000, k={350: 1000}), method=method, commit_every=100)
    assert caught.value.row == 350
    assert keys(conn, table) == [1000 + n for n in range(300)]


def test_commit_every_does_not_commit_the_users_transaction(conn: ifx.Connection, table: str) -> None:
    conn.execute("BEGIN WORK")
    conn.execute(f"INSERT INTO {table} VALUES (8, 'mine', 1, 12345)")
    with pytest.raises(ifx.ProgrammingError, match="commit_every"):
        conn.write_arrow(table, rows(10), commit_every=5)
    conn.rollback()
    assert keys(conn, table) == []


def test_a_load_inside_a_transaction_goes_with_it(conn: ifx.Connection, table: str) -> None:
    conn.execute("BEGIN WORK")
    assert conn.write_arrow(table, rows(100)).transaction == "savepoint"
    assert len(keys(conn, table)) == 100
    conn.rollback()
    assert keys(conn, table) == []


def test_with_autocommit_off_a_load_commits_what_it_began(server: Server, table: str) -> None:
    with ifx.connect(server.url("stores_demo")) as other:
        assert other.write_arrow(table, rows(10)).commits == 1
        assert not other.in_transaction
        other.rollback()
        assert len(keys(other, table)) == 10


@pytest.mark.parametrize("method", METHODS)
def test_an_unlogged_database_keeps_the_rows_before_the_refused_one_and_says_how_many(
    server: Server, method: Method
) -> None:
    with database(server, f"write_unlogged_{method}", "") as conn:
        name = next(_names)
        conn.execute(
            f"CREATE TABLE {name} (k INTEGER PRIMARY KEY, name VARCHAR(10), n INTEGER, tail SMALLINT)"
        )
        report = conn.write_arrow(name, rows(1000), method=method)
        assert (report.transaction, report.commits, report.rows) == ("none", 0, 1000)
        conn.execute(f"DELETE FROM {name}")
        with pytest.raises(ifx.IntegrityError, match="no transaction log") as caught:
            conn.write_arrow(name, rows(1000, k={400: 1000}), method=method, window_rows=50)
        there = keys(conn, name)
        assert f"{len(there):,} rows of this load are in the table" in str(caught.value)
        assert there[:400] == [1000 + n for n in range(400)]
        assert len(there) == 400 if method == "put" else 400 <= len(there) < 450
        report = conn.write_arrow(name, rows(1000), method=method, on_error="collect")
        assert (report.rows, report.rejected.num_rows) == (1000 - len(there), len(there))
        usable(conn)


@pytest.mark.parametrize("method", METHODS)
def test_an_ansi_database_is_loaded_in_one_transaction(server: Server, method: Method) -> None:
    with database(server, f"write_ansi_{method}", "WITH LOG MODE ANSI") as conn:
        conn.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, name VARCHAR(10), n INTEGER, tail SMALLINT)")
        conn.commit()
        report = conn.write_arrow("t", rows(100), method=method)
        assert (report.commits, report.transaction) == (1, "own")
        with pytest.raises(ifx.IntegrityError):
            conn.write_arrow("t", rows(200, k={n: -n for n in range(99)}), method=method)
        assert len(keys(conn, "t")) == 100
        conn.commit()
        conn.autocommit = False
        conn.execute("DELETE FROM t WHERE k = 1000")
        with pytest.raises(ifx.IntegrityError):
            conn.write_arrow("t", rows(200), method=method)
        assert len(keys(conn, "t")) == 99
        conn.commit()


def test_the_first_columns_name_a_row_of_a_table_without_a_key(conn: ifx.Connection) -> None:
    name = next(_names)
    conn.execute(f"CREATE TABLE {name} (a VARCHAR(9), b INTEGER NOT NULL)")
    with pytest.raises(ifx.IntegrityError, match=r"Row 1 \(a='two', b=None\)"):
        conn.write_arrow(name, pa.table({"a": ["one", "two"], "b": pa.array([1, None], pa.int32())}))
    conn.execute(f"DROP TABLE {name}")


def test_serial_values_are_assigned_and_reported(conn: ifx.Connection) -> None:
    name = next(_names)
    conn.execute(f"CREATE TABLE {name} (id SERIAL, v VARCHAR(9), tail INTEGER)")
    for method in METHODS:
        before = conn.write_arrow(name, pa.table({"v": ["a", "b"], "tail": [5, 5]}), method=method).serial
        data = pa.table({"id": pa.array([0, None], pa.int32()), "v": ["c", "d"], "tail": [5, 5]})
        report = conn.write_arrow(name, data, method=method)
        assert before is not None
        assert report.serial == before + 2
    assert conn.read_arrow(f"SELECT id FROM {name} ORDER BY id").column("id").to_pylist() == list(range(1, 9))
    conn.execute(f"DROP TABLE {name}")
