"""Results passed to the real libraries Polars, pandas, DuckDB and pyarrow."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

COUNT = 2500
SQL = "SELECT id, name, sentinel FROM client_consumers ORDER BY id"


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    with ifx.connect(url) as conn:
        conn.execute("DROP TABLE IF EXISTS client_consumers")
        conn.execute("CREATE TABLE client_consumers (id INT, name VARCHAR(20), sentinel INT)")
        rows = ((number, f"name {number}", 12345) for number in range(COUNT))
        conn.cursor().executemany("INSERT INTO client_consumers VALUES (?, ?, ?)", rows)
    return url


@pytest.fixture
def result(url: str) -> Iterator[ifx.Result]:
    """A result of several batches."""
    with ifx.connect(url) as conn, conn.query(SQL, batch_rows=1000) as result:
        yield result


def check(ids: list[int], names: list[str]) -> None:
    assert ids == list(range(COUNT))
    assert names[-1] == f"name {COUNT - 1}"


def test_polars_takes_all_batches_of_a_result(result: ifx.Result) -> None:
    frame = pl.DataFrame(result)
    check(frame["id"].to_list(), frame["name"].to_list())
    assert frame.schema["id"] == pl.Int32


def test_polars_takes_a_table(url: str) -> None:
    with ifx.connect(url) as conn:
        frame = pl.from_arrow(conn.read_arrow(SQL))
    assert isinstance(frame, pl.DataFrame)
    check(frame["id"].to_list(), frame["name"].to_list())


def test_pandas_takes_a_result(result: ifx.Result) -> None:
    if hasattr(pd.DataFrame, "from_arrow"):
        frame = pd.DataFrame.from_arrow(result)
    else:  # pandas 2, the last version for Python 3.10
        frame = pa.RecordBatchReader.from_stream(result).read_pandas()
    check(list(frame["id"]), list(frame["name"]))


def test_pandas_takes_a_table(url: str) -> None:
    with ifx.connect(url) as conn:
        frame = conn.read_arrow(SQL).to_pandas()
    check(list(frame["id"]), list(frame["name"]))


def test_duckdb_scans_a_result_by_the_name_of_its_variable(result: ifx.Result) -> None:
    found = duckdb.sql("SELECT count(*), sum(id), min(sentinel), max(sentinel) FROM result").fetchall()
    assert found == [(COUNT, COUNT * (COUNT - 1) // 2, 12345, 12345)]


def test_pyarrow_reads_a_result_as_a_stream(result: ifx.Result) -> None:
    with pa.RecordBatchReader.from_stream(result) as reader:
        table = reader.read_all()
    check(table["id"].to_pylist(), table["name"].to_pylist())


def test_a_requested_schema_is_honoured(result: ifx.Result) -> None:
    wanted = pa.schema([("id", pa.int64()), ("name", pa.large_string()), ("sentinel", pa.int32())])
    table = pa.RecordBatchReader.from_stream(result, schema=wanted).read_all()
    assert table.schema.types == wanted.types
    check(table["id"].to_pylist(), table["name"].to_pylist())


def test_an_empty_result_gives_every_consumer_its_columns(url: str) -> None:
    with ifx.connect(url) as conn:
        frame = pl.DataFrame(conn.query("SELECT id, name FROM client_consumers WHERE id < 0"))
        assert frame.columns == ["id", "name"]
        empty = conn.query("SELECT id, name FROM client_consumers WHERE id < 0")
        assert duckdb.sql("SELECT count(*) FROM empty").fetchall() == [(0,)]
        assert empty.schema.names == ["id", "name"]


def test_a_cursor_gives_frames_and_streams(url: str) -> None:
    with ifx.connect(url) as conn, conn.cursor() as cur:
        check(cur.execute(SQL).fetch_arrow_table()["id"].to_pylist(), [f"name {COUNT - 1}"])
        check(cur.execute(SQL).fetch_record_batch().read_all()["id"].to_pylist(), [f"name {COUNT - 1}"])
        check(list(cur.execute(SQL).fetch_df()["id"]), [f"name {COUNT - 1}"])
        check(cur.execute(SQL).fetch_polars()["id"].to_list(), [f"name {COUNT - 1}"])
        stream = cur.execute(SQL).fetch_arrow()
        with pytest.raises(TypeError):
            iter(stream)  # type: ignore[call-overload]
        check(pl.DataFrame(stream)["id"].to_list(), [f"name {COUNT - 1}"])
        with pytest.raises(ifx.InterfaceError):
            stream.__arrow_c_stream__()


def test_polars_reads_a_database_through_the_cursor(url: str) -> None:
    with ifx.connect(url) as conn:
        frame = pl.read_database(SQL, conn)
    check(frame["id"].to_list(), frame["name"].to_list())


def test_arrow_takes_the_rows_that_were_not_fetched_yet(url: str) -> None:
    with ifx.connect(url) as conn, conn.cursor() as cur:
        cur.execute(SQL)
        assert cur.fetchone() == (0, "name 0", 12345)
        assert len(cur.fetchmany(1500)) == 1500
        assert cur.fetch_arrow_table()["id"].to_pylist() == list(range(1501, COUNT))
        assert cur.fetchall() == []
