"""Safety of write_arrow: tables that must not be emptied for nothing, counts, commits, row numbers, upserts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pyarrow as pa
import pytest
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.server import Server

Method = Literal["put", "pipeline"]
METHODS: list[Method] = ["put", "pipeline"]
_names = (f"write_careful_{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def conn(server: Server) -> Iterator[ifx.Connection]:
    """A connection that all tests share, because opening one takes longer than most statements."""
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        yield connection


@pytest.fixture
def name(conn: ifx.Connection) -> Iterator[str]:
    """The name of a table that is dropped after the test if it exists."""
    chosen = next(_names)
    yield chosen
    if conn.in_transaction:
        conn.rollback()
    if conn.read_arrow(f"SELECT tabname FROM systables WHERE tabname = '{chosen}'").num_rows:
        conn.execute(f"DROP TABLE {chosen}")


@contextmanager
def unlogged(server: Server) -> Iterator[ifx.Connection]:
    database = database_name(server, next(_names))
    with ifx.connect(server.url("stores_demo"), autocommit=True) as maker:
        maker.execute(f"CREATE DATABASE {database}")
        try:
            with ifx.connect(server.url(database), autocommit=True) as conn:
                yield conn
        finally:
            maker.execute(f"DATABASE {database_name(server, 'stores_demo')}")
            maker.execute(f"DROP DATABASE {database}")


def rows(start: int, count: int) -> pa.Table:
    keys = range(start, start + count)
    return pa.table({"k": pa.array(keys, pa.int32()), "v": [f"v{k}" for k in keys]})


def count(conn: ifx.Connection, table: str) -> int:
    return int(conn.read_arrow(f"SELECT COUNT(*)::INT AS c FROM {table}").column("c")[0].as_py())


WRONG = [
    pa.table({"k": [1], "nosuch": [2]}),
    pa.table({"k": [[1]], "v": ["a list for an INTEGER"]}),
    pa.table({"k": [1], "v": pa.array([0], pa.timestamp("s", "UTC"))}),
]


@pytest.mark.parametrize("data", WRONG, ids=lambda data: ", ".join(map(str, data.schema.types)))
@pytest.mark.parametrize("commit_every", [None, 10])
def test_a_table_is_not_emptied_for_data_that_cannot_go_into_it(
    conn: ifx.Connection, name: str, server: Server, data: pa.Table, commit_every: int | None
) -> None:
    """TRUNCATE cannot be undone, so everything that can be checked is checked first."""
    conn.write_arrow(name, rows(0, 5), mode="create")
    with pytest.raises(ifx.ProgrammingError):
        conn.write_arrow(name, data, mode="truncate", commit_every=commit_every)
    assert count(conn, name) == 5
    with unlogged(server) as other:
        other.write_arrow("t", rows(0, 5), mode="create")
        with pytest.raises(ifx.ProgrammingError):
            other.write_arrow("t", data, mode="truncate", commit_every=commit_every)
        assert count(other, "t") == 5


@pytest.mark.parametrize(
    "options",
    [{"types": {"k": "DATE"}}, {"types": {"k": "DECIMAL(99)"}}, {"serial": "v"}, {"primary_key": "nosuch"}],
    ids=str,
)
def test_an_unlogged_table_is_not_replaced_by_one_that_cannot_be_made_or_filled(
    server: Server, options: dict[str, object]
) -> None:
    with unlogged(server) as conn:
        conn.write_arrow("t", rows(0, 5), mode="create")
        with pytest.raises(ifx.ProgrammingError):
            conn.write_arrow("t", rows(0, 3), mode="replace", **options)  # type: ignore[arg-type]
        assert count(conn, "t") == 5


@pytest.mark.parametrize("method", METHODS)
def test_the_commit_behind_truncate_is_no_commit_of_rows(
    conn: ifx.Connection, name: str, method: Method
) -> None:
    conn.write_arrow(name, rows(0, 5), mode="create", primary_key="k")
    twice = pa.concat_tables([rows(0, 30), rows(0, 1)])
    with pytest.raises(ifx.IntegrityError) as caught:
        conn.write_arrow(name, twice, mode="truncate", commit_every=100, method=method)
    assert count(conn, name) == 0
    assert "Nothing of it is in the table" in str(caught.value)
    assert "previous rows of the table are gone" in str(caught.value)
    with pytest.raises(ifx.IntegrityError, match=r"3 commits of 10 rows each \(30 rows inserted\)"):
        conn.write_arrow(name, twice, mode="truncate", commit_every=10, method=method)
    assert count(conn, name) == 30


@pytest.mark.parametrize(("size", "commits"), [(30, 3), (31, 4), (10, 1), (0, 1)])
def test_commits_are_those_that_held_rows(conn: ifx.Connection, name: str, size: int, commits: int) -> None:
    conn.execute(f"CREATE TABLE {name} (k INTEGER, v VARCHAR(9))")
    assert conn.write_arrow(name, rows(0, size), commit_every=10).commits == commits
    assert count(conn, name) == size
    assert not conn.in_transaction


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["value", "generator", "callback"])
def test_an_unlogged_database_reports_all_inserted_rows_whatever_failed(
    server: Server, method: Method, kind: str
) -> None:
    with unlogged(server) as conn:
        conn.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR(9))")

        def batches() -> Iterator[pa.RecordBatch]:
            yield from rows(0, 700).to_batches()
            if kind == "generator":
                raise LookupError("no more")
            yield pa.record_batch({"k": pa.array([700], pa.int32()), "v": ["much too long"]})

        def progress(done: int, size: int, seconds: float) -> None:
            if kind == "callback":
                raise LookupError("enough")

        with pytest.raises((LookupError, ifx.DataError)) as caught:
            conn.write_arrow(
                "t", batches(), method=method, progress=progress, group_bytes=2000, window_rows=100
            )
        there = count(conn, "t")
        assert there == 700 if kind != "callback" else 0 < there < 700
        text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
        if hasattr(caught.value, "add_note") or kind == "value":
            assert f"{there:,} rows of this load are in the table" in text


@pytest.mark.parametrize("method", METHODS)
def test_the_first_refused_row_is_reported_by_driver_and_server(
    conn: ifx.Connection, name: str, method: Method
) -> None:
    """Row 10 is refused by the server, row 20 by the encoder, row 30 by the conversion, row 40 by the data source."""
    conn.execute(f"CREATE TABLE {name} (k INTEGER PRIMARY KEY, v VARCHAR(9), d DATE)")
    size = 40
    keys = [k if k != 10 else 0 for k in range(size)]
    texts = ["x" if k != 20 else "much too long" for k in range(size)]
    days = ["2026-01-02" if k != 30 else "tomorrow" for k in range(size)]
    whole = pa.record_batch({"k": pa.array(keys, pa.int32()), "v": texts, "d": days})

    def batches(first: int) -> Iterator[pa.RecordBatch]:
        yield whole.slice(first)
        raise LookupError("row 40")

    for first, row in ((0, 10), (11, 20), (21, 30)):
        with pytest.raises((ifx.IntegrityError, ifx.DataError)) as caught:
            conn.write_arrow(name, batches(first), method=method)
        assert caught.value.row == row - first
        assert count(conn, name) == 0
    with pytest.raises(LookupError, match="row 40"):
        conn.write_arrow(name, batches(31), method=method)
    report = conn.write_arrow(name, whole, method=method, on_error="collect")
    assert report.rejected.column("row").to_pylist() == [10, 20, 30]
    assert count(conn, name) == 37


def test_a_row_is_named_by_its_key_and_the_columns_of_the_violated_constraint(
    conn: ifx.Connection, name: str, owner: str
) -> None:
    conn.execute(
        f"CREATE TABLE {name} (a INTEGER, b INTEGER, c INTEGER, d INTEGER, "
        "mail VARCHAR(9) UNIQUE, k INTEGER PRIMARY KEY)"
    )
    data = pa.table({"a": [1, 1], "b": [2, 2], "c": [3, 3], "d": [4, 4], "mail": ["x@y", "x@y"], "K": [8, 9]})
    for table in (name, f"{owner}.{name}", f"{conn.database}:{name}"):
        with pytest.raises(ifx.IntegrityError, match=r"Row 1 \((mail='x@y', K=9|K=9, mail='x@y')\)"):
            conn.write_arrow(table, data)


def test_a_row_for_a_temp_table_is_named_by_the_key_that_the_call_knows_or_by_all_that_fits(
    conn: ifx.Connection, name: str
) -> None:
    twice = pa.table({"a": [1, 1], "b": [2, 2], "c": [3, 3], "d": [4, 4], "e": [5, 5], "k": [9, 9]})
    with pytest.raises(ifx.IntegrityError, match=r"Row 1 \(k=9\)"):
        conn.write_arrow(name, twice, mode="create", temporary=True, primary_key="k")
    conn.write_arrow(name, twice.slice(1), mode="create", temporary=True, primary_key="k")
    with pytest.raises(ifx.IntegrityError, match=r"Row 0 \(a=1, b=2, c=3, d=4, e=5, k=9\)"):
        conn.write_arrow(name, twice)
    conn.execute(f"DROP TABLE {name}")


def test_an_error_of_the_merge_names_the_row_that_is_in_the_way(conn: ifx.Connection, name: str) -> None:
    conn.execute(f"CREATE TABLE {name} (k INTEGER PRIMARY KEY, mail VARCHAR(9) UNIQUE)")
    conn.execute(f"INSERT INTO {name} VALUES (1, 'a@x')")
    data = pa.table({"k": [2, 3], "mail": ["b@x", "a@x"]})
    with pytest.raises(ifx.IntegrityError) as caught:
        conn.write_arrow(name, data, mode="upsert", key="k")
    assert "The MERGE of 2 rows failed" in str(caught.value)
    assert f"(k=3, mail='a@x') has the same mail as another row of {name}" in str(caught.value)
    assert count(conn, name) == 1
    assert not conn.in_transaction


def test_an_upsert_numbers_new_rows_and_leaves_the_numbers_of_others(conn: ifx.Connection, name: str) -> None:
    """The SERIAL column is left out of one load and has a NULL in another. Columns with a default are left out."""
    conn.execute(
        f"CREATE TABLE {name} (id SERIAL PRIMARY KEY, code VARCHAR(9) UNIQUE, n INTEGER DEFAULT 7, tail INTEGER)"
    )
    data = pa.table({"code": ["a", "b", "c"], "tail": [1, 2, 3]})
    assert conn.write_arrow(name, data, mode="upsert", key="code").rows == 3
    more = pa.table({"id": pa.array([None, 99, 0]), "code": ["d", "b", "e"], "tail": [4, 5, 6]})
    assert conn.write_arrow(name, more, mode="upsert", key="code").rows == 3
    found = conn.read_arrow(f"SELECT id, code, n, tail FROM {name} ORDER BY code").to_pylist()
    ids = {row["code"]: row["id"] for row in found}
    assert len(set(ids.values())) == 5
    assert 99 not in ids.values()
    assert 0 not in ids.values()
    assert [(row["code"], row["n"], row["tail"]) for row in found] == [
        ("a", 7, 1), ("b", 7, 5), ("c", 7, 3), ("d", 7, 4), ("e", 7, 6)
    ]  # fmt: skip
    by_number = pa.table({"id": pa.array([ids["c"], 500], pa.int32()), "code": ["cc", "f"], "tail": [8, 9]})
    conn.write_arrow(name, by_number, mode="upsert", key="id")
    found = conn.read_arrow(
        f"SELECT code, tail FROM {name} WHERE id IN ({ids['c']}, 500) ORDER BY code"
    ).to_pylist()
    assert found == [{"code": "cc", "tail": 8}, {"code": "f", "tail": 9}]


def test_data_read_through_a_connection_that_breaks_leaves_this_one_usable(
    conn: ifx.Connection, name: str, server: Server
) -> None:
    conn.write_arrow(name, rows(0, 5), mode="create")

    def batches() -> Iterator[pa.RecordBatch]:
        yield rows(5, 1000).to_batches()[0]
        raise ifx.OperationalError("the other server is down")

    with pytest.raises(ifx.OperationalError, match="other server"):
        conn.write_arrow(name, batches())
    assert not conn.closed
    assert count(conn, name) == 5
