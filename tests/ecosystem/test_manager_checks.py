"""The checks of adbc_driver_manager for its own DB-API classes, applied to ours, in Informix's SQL."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pytest

import informix_arrow as ifx
from adbc_driver_informix import dbapi
from informix_arrow.server import Server

NUMBERS = itertools.count()
ONE = "SELECT 1 AS one, 'foo' AS foo, 2.5 AS two FROM systables WHERE tabid = 1"
DATA = pa.table({"ints": [1, 2], "strs": ["foo", ""], "sentinel": [7, 7]})


class OfArray:
    """An object that only has the protocol for one batch."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.batch.__arrow_c_array__(requested_schema)


class OfStream:
    """An object that only has the protocol for a stream."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


FORMS: dict[str, Callable[[pa.Table], Any]] = {
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "table": lambda table: table,
    "reader": lambda table: table.to_reader(),
    "array": lambda table: OfArray(table.combine_chunks().to_batches()[0]),
    "stream": OfStream,
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def conn(server: Server) -> Iterator[dbapi.Connection]:
    name = f"checks_{next(NUMBERS)}"
    server.create_database(name)
    with dbapi.connect(server.url(name)) as conn:
        yield conn
    server.drop_database(name)


@pytest.fixture
def cur(conn: dbapi.Connection) -> Iterator[dbapi.Cursor]:
    with conn.cursor() as cursor:
        yield cursor


def test_the_module_and_the_connection_have_the_same_errors(conn: dbapi.Connection) -> None:
    names = [name for name in dbapi.__all__ if name == "Warning" or name.endswith("Error")]
    assert len(names) == 10
    for name in names:
        assert getattr(conn, name) is getattr(dbapi, name) is getattr(ifx, name)


@pytest.mark.parametrize("form", FORMS)
def test_ingestion_takes_every_form_of_arrow_data(cur: dbapi.Cursor, form: str) -> None:
    data = lambda: FORMS[form](DATA)  # noqa: E731
    assert cur.adbc_ingest("bulk", data()) == 2
    assert cur.rowcount == 2
    with pytest.raises(dbapi.Error) as there:
        cur.adbc_ingest("bulk", data())
    assert there.value.sqlcode == -310
    assert cur.adbc_ingest("bulk", data(), mode="append") == 2
    with pytest.raises(dbapi.Error) as absent:
        cur.adbc_ingest("nonexistent", data(), mode="append")
    assert absent.value.sqlcode == -206
    with pytest.raises(dbapi.InterfaceError, match="invalid"):
        cur.adbc_ingest("bulk", data(), mode="invalid")  # type: ignore[arg-type]
    assert (
        cur.execute("SELECT * FROM bulk ORDER BY ints").fetchall() == [(1, "foo", 7)] * 2 + [(2, "", 7)] * 2
    )
    assert cur.adbc_ingest("bulk", data(), mode="replace") == 2
    assert cur.adbc_ingest("bulk", data(), mode="create_append") == 2
    assert cur.adbc_ingest("other", data(), mode="create_append") == 2
    assert cur.execute("SELECT COUNT(*) FROM bulk").fetchall() == [(4,)]


def test_ingestion_into_a_temporary_table_ends_with_the_session(server: Server, cur: dbapi.Cursor) -> None:
    assert cur.adbc_ingest("passing", DATA, temporary=True) == 2
    assert cur.execute("SELECT COUNT(*) FROM passing").fetchall() == [(2,)]
    cur.connection.commit()
    with (
        dbapi.connect(server.url(cur.connection.database)) as other,
        pytest.raises(dbapi.ProgrammingError) as caught,
    ):
        other.adbc_get_table_schema("passing")
    assert caught.value.sqlcode == -206


def test_rows_come_by_all_of_pep_249s_calls(cur: dbapi.Cursor) -> None:
    cur.execute(ONE)
    assert cur.description is not None
    assert [item[0] for item in cur.description] == ["one", "foo", "two"]
    assert [item[1] for item in cur.description] == [dbapi.NUMBER, dbapi.STRING, dbapi.NUMBER]
    assert cur.rownumber == 0
    row = cur.fetchone()
    assert row[:2] == (1, "foo")
    assert float(row[2]) == 2.5
    assert cur.rownumber == 1
    assert cur.fetchone() is None
    assert cur.execute(ONE).fetchmany() == [row]
    assert cur.fetchmany() == []
    assert cur.execute(ONE).fetchall() == [row]
    assert cur.fetchall() == []
    assert list(cur.execute(ONE)) == [row]


def test_arrow_comes_once_and_a_look_at_the_description_takes_none_of_it(cur: dbapi.Cursor) -> None:
    for fetch in (cur.fetch_arrow, cur.fetch_arrow_table, cur.fetch_record_batch, cur.fetchallarrow):
        with pytest.raises(dbapi.ProgrammingError):
            fetch()
    cur.execute(ONE)
    assert cur.description is not None
    table = pa.table(cur.fetch_arrow())
    assert table.select(["one", "foo"]).to_pylist() == [{"one": 1, "foo": "foo"}]
    assert cur.fetch_arrow_table().num_rows == 0
    assert cur.execute(ONE).fetch_df()["foo"].tolist() == ["foo"]
    assert cur.execute(ONE).fetch_polars()["foo"].to_list() == ["foo"]


def test_a_reader_can_be_written_as_a_dataset(cur: dbapi.Cursor, tmp_path: Path) -> None:
    pa.dataset.write_dataset(cur.execute(ONE).fetch_record_batch(), tmp_path, format="parquet")
    assert pa.dataset.dataset(tmp_path).to_table()["foo"].to_pylist() == ["foo"]


@pytest.mark.parametrize("form", ["tuple", *FORMS])
def test_one_row_of_parameters_may_be_arrow(cur: dbapi.Cursor, form: str) -> None:
    given = (1, "x") if form == "tuple" else FORMS[form](pa.table({"a": [1], "b": ["x"]}))
    cur.execute("SELECT tabid, 7 FROM systables WHERE tabid = ? AND 'x' = ?", given)
    assert cur.fetchall() == [(1, 7)]


def test_parameters_by_name_leave_nothing_behind(cur: dbapi.Cursor) -> None:
    cur.execute("CREATE TABLE named (a INT, b INT, sentinel INT)")
    cur.executemany("INSERT INTO named VALUES (:a, :b, 7)", [{"b": 2, "a": 1}, {"b": 3, "a": 2}])
    cur.executemany("INSERT INTO named VALUES (?, ?, 7)", [(3, 4), (4, 5)])
    found = cur.execute("SELECT * FROM named ORDER BY a").fetchall()
    assert found == [(1, 2, 7), (2, 3, 7), (3, 4, 7), (4, 5, 7)]
    assert cur.execute("SELECT b FROM named WHERE a = :a", {"a": 2}).fetchall() == [(3,)]
    assert cur.execute("SELECT b FROM named WHERE a = ?", [3]).fetchall() == [(4,)]


@pytest.mark.parametrize("form", ["rows", "generator", *FORMS])
def test_many_rows_of_parameters_may_be_arrow(cur: dbapi.Cursor, form: str) -> None:
    rows = [(1, "a"), (3, None)]
    cur.execute("CREATE TABLE many (n INT, s VARCHAR(9), sentinel INT)")
    given: Any = {"rows": rows, "generator": (row for row in rows)}.get(form)
    if given is None:
        given = FORMS[form](pa.table({"n": [1, 3], "s": ["a", None]}))
    cur.executemany("INSERT INTO many VALUES (?, ?, 7)", given)
    assert cur.rowcount == 2
    assert cur.execute("SELECT * FROM many ORDER BY n").fetchall() == [(1, "a", 7), (3, None, 7)]


@pytest.mark.parametrize("form", ["rows", "table", "stream"])
def test_no_rows_of_parameters_execute_nothing(cur: dbapi.Cursor, form: str) -> None:
    cur.execute("CREATE TABLE none (v BIGINT)")
    empty = pa.table({"v": pa.array([], pa.int64())})
    cur.executemany("INSERT INTO none VALUES (?)", [] if form == "rows" else FORMS[form](empty))
    assert cur.execute("SELECT * FROM none").fetchall() == []
    with pytest.raises(dbapi.Error):
        cur.executemany("INSERT INTO none VALUES (?)", None)


def test_closing_twice_does_nothing_and_a_closed_cursor_is_refused(conn: dbapi.Connection) -> None:
    cursor = conn.execute(ONE)
    cursor.close()
    cursor.close()
    with pytest.raises(dbapi.InterfaceError):
        cursor.execute(ONE)
    assert conn.execute(ONE).fetchone() is not None


def test_cancel_without_a_statement_does_nothing(conn: dbapi.Connection, cur: dbapi.Cursor) -> None:
    conn.adbc_cancel()
    cur.adbc_cancel()
    assert cur.execute(ONE).fetchone() is not None
