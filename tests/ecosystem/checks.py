"""Checks that Polars, pandas, DuckDB and pyarrow work with our connections through their own functions alone.

Each function takes the URL of a database in which it may create tables. pytest runs them here with the installed
releases. As a program, ``python checks.py URL``, they run with any others, such as the oldest releases.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from unittest import mock

import adbc_driver_manager
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import informix_arrow as ifx

ROWS = [
    (1, "réveil", Decimal("12345678901234567890.12"), dt.date(2026, 1, 31), 1 << 60, 7),
    (2, None, None, None, None, 7),
    (3, "", Decimal("-0.01"), dt.date(1, 1, 1), -(1 << 60), 7),
]
COLUMNS = ["id", "name", "amount", "day", "large", "sentinel"]
DECLARED = "id INT, name VARCHAR(20), amount DECIMAL(32,2), day DATE, large BIGINT, sentinel SMALLINT"
PANDAS_3 = int(pd.__version__.split(".")[0]) >= 3
FRAME = pl.DataFrame(
    {"id": [1, 2, 3], "name": ["a", None, "é"], "x": [0.5, None, -1.0], "sentinel": [7, 7, 7]}
)


@contextmanager
def no_rows() -> Iterator[None]:
    """Fail if anything is transferred as Python rows, by a cursor's fetch methods or by executemany."""
    refused = AssertionError("this went by rows, not by Arrow")
    names = ("fetchone", "fetchmany", "fetchall", "executemany", "__next__")
    with mock.patch.multiple(ifx.Cursor, **{name: mock.Mock(side_effect=refused) for name in names}):
        yield


def seeded(conn: ifx.Connection, table: str) -> str:
    conn.execute(f"CREATE TABLE {table} ({DECLARED})")
    conn.cursor().executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)", ROWS)
    conn.commit()
    return f"SELECT * FROM {table} ORDER BY id"


def stored(url: str, table: str) -> list[Any]:
    """Return the rows that another session sees, so that uncommitted rows are noticed."""
    with ifx.connect(url) as conn:
        return [
            tuple(row.values()) for row in conn.read_arrow(f"SELECT * FROM {table} ORDER BY 1").to_pylist()
        ]


def polars_reads_a_database(url: str) -> None:
    with ifx.connect(url) as conn:
        sql = seeded(conn, "pl_read")
        with no_rows():
            for source in (conn, conn.cursor()):
                frame = pl.read_database(sql, source)
                assert frame.columns == COLUMNS
            parts = list(pl.read_database(sql, conn, iter_batches=True, batch_size=2))
            none = pl.read_database("SELECT * FROM pl_read WHERE id < 0", conn)
        assert frame.rows() == ROWS
        assert pl.concat(parts).rows() == ROWS
        assert frame.schema["amount"] == pl.Decimal(32, 2)
        assert frame.schema["sentinel"] == pl.Int16
        assert none.schema == frame.schema
        given = pl.read_database(
            "SELECT id FROM pl_read WHERE id > ?", conn, execute_options={"parameters": [1]}
        )
        assert sorted(given["id"].to_list()) == [2, 3]


def polars_reads_a_uri(url: str) -> None:
    with ifx.connect(url) as conn:
        sql = seeded(conn, "pl_uri")
    with no_rows():
        frame = pl.read_database_uri(sql, url, engine="adbc")
    assert frame.rows() == ROWS
    assert frame.schema["amount"] == pl.Decimal(32, 2)


def polars_writes_a_table(url: str) -> None:
    with ifx.connect(url) as conn, no_rows():
        assert FRAME.write_database("pl_write", conn) == 3
        assert FRAME.write_database("pl_write", conn, if_table_exists="append") == 3
    assert stored(url, "pl_write") == sorted(FRAME.rows() * 2, key=lambda row: row[0])
    with ifx.connect(url) as conn, no_rows():
        assert FRAME.head(1).write_database("pl_write", conn, if_table_exists="replace") == 1
        with pytest.raises(ifx.ProgrammingError) as caught:
            FRAME.write_database("pl_write", conn, if_table_exists="fail")
        assert caught.value.sqlcode == -310
    assert stored(url, "pl_write") == FRAME.head(1).rows()


def polars_writes_names_with_owner_and_capitals(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.execute("CREATE TABLE pl_owned (id BIGINT, name LVARCHAR(99), x FLOAT, sentinel BIGINT)")
        conn.commit()
        with no_rows():
            assert FRAME.write_database("informix.pl_owned", conn, if_table_exists="append") == 3
            assert (
                FRAME.write_database(f"{conn.database}.informix.pl_owned", conn, if_table_exists="append")
                == 3
            )
            for mode in ("fail", "append", "replace"):
                assert FRAME.write_database("PL_UPPER", conn, if_table_exists=mode) == 3  # type: ignore[arg-type]
    assert len(stored(url, "pl_owned")) == 6
    assert stored(url, "pl_upper") == FRAME.rows()


def polars_keeps_capitals_under_delimident(url: str) -> None:
    with ifx.connect(url, env={"DELIMIDENT": "y"}) as conn:
        for table in ("plcase", "PlCased", "select"):
            for mode in ("replace", "replace"):
                frame = FRAME.with_columns(pl.lit(table).alias("Which"))
                assert frame.write_database(table, conn, if_table_exists=mode) == 3  # type: ignore[arg-type]
        for table in ("plcase", "PlCased", "select"):
            found = pl.read_database(f'SELECT * FROM "{table}"', conn)
            assert found["Which"].to_list() == [table] * 3


def polars_appends_to_a_table_that_is_not_there(url: str) -> None:
    with ifx.connect(url) as conn:
        with pytest.raises(adbc_driver_manager.Error, match="pl_absent") as caught:
            conn.adbc_get_table_schema("pl_absent")
        assert isinstance(caught.value, ifx.ProgrammingError)
        assert caught.value.sqlcode == -206
        assert caught.value.status_code == adbc_driver_manager.AdbcStatusCode.NOT_FOUND
        if tuple(map(int, pl.__version__.split(".")[:2])) >= (2, 0):  # older releases leave it to the driver
            assert FRAME.write_database("pl_absent", conn, if_table_exists="append") == 3
            assert len(stored(url, "pl_absent")) == 3


def pandas_reads_sql(url: str) -> None:
    with ifx.connect(url) as conn:
        sql = seeded(conn, "pd_read")
        with no_rows():
            for read in (pd.read_sql, pd.read_sql_query):
                frame = read(sql, conn)
                assert list(frame.columns) == COLUMNS
                assert frame["amount"][0] == Decimal("12345678901234567890.12")
                exact = read(sql, conn, dtype_backend="pyarrow")
                assert exact.dtypes["amount"] == pd.ArrowDtype(pa.decimal128(32, 2))
                assert exact["large"][2] == -(1 << 60)
                assert list(exact["sentinel"]) == [7, 7, 7]


def pandas_reads_a_table(url: str) -> None:
    with ifx.connect(url) as conn:
        seeded(conn, "pd_table")
        with no_rows():
            for name in ("pd_table", "PD_Table"):
                frame = pd.read_sql_table(name, conn).sort_values("id")
                assert list(frame.columns) == COLUMNS
                assert list(frame["sentinel"]) == [7, 7, 7]
            # Before 3.0 pandas quotes the columns but not the table. Quotes mean string literals here, so no columns=
            # there.
            columns = {"columns": ["sentinel", "name"]} if PANDAS_3 else {}
            few = pd.read_sql_table("pd_table", conn, schema="informix", index_col="id", **columns)
            assert list(few.columns) == columns.get("columns", COLUMNS[1:])
            assert sorted(few.index) == [1, 2, 3]
            assert list(few["sentinel"]) == [7, 7, 7]
            assert len(pd.read_sql("pd_table", conn)) == 3


def pandas_writes_a_table(url: str) -> None:
    frame = pd.DataFrame({"id": [1, 2], "name": ["é", None], "sentinel": [7, 7]})
    rows = [(1, "é", 7), (2, None, 7)]
    for name in ("pd_write", "MixedCase"):
        with ifx.connect(url) as conn, no_rows():
            assert frame.to_sql(name, conn, index=False) == 2
            assert stored(url, name) == rows
            assert frame.to_sql(name, conn, index=False, if_exists="append") == 2
            assert len(stored(url, name)) == 4
            for _ in range(2):
                assert frame.to_sql(name, conn, index=False, if_exists="replace") == 2
                assert stored(url, name) == rows
            if PANDAS_3:
                assert frame.to_sql(name, conn, index=False, if_exists="delete_rows") == 2
                assert stored(url, name) == rows
            with pytest.raises(ValueError, match="already exists"):
                frame.to_sql(name, conn, index=False)
        assert stored(url, name) == rows


def pandas_writes_an_index(url: str) -> None:
    frame = pd.DataFrame({"name": ["a", "b"], "sentinel": [7, 7]}, index=[10, 20])
    with ifx.connect(url) as conn, no_rows():
        assert frame.to_sql("pd_index", conn) == 2
        assert frame.rename_axis("number").to_sql("pd_named", conn) == 2
        names = {table: conn.adbc_get_table_schema(table).names for table in ("pd_index", "pd_named")}
    assert [sorted(row, key=str) for row in stored(url, "pd_index")] == [[10, 7, "a"], [20, 7, "b"]]
    assert len(names["pd_index"]) == 3
    assert sorted(names["pd_named"]) == ["name", "number", "sentinel"]


def pandas_keeps_capitals_under_delimident(url: str) -> None:
    with ifx.connect(url, env={"DELIMIDENT": "y"}) as conn:
        for table in ("pdcase", "PdCased"):
            frame = pd.DataFrame({"Which": [table], "sentinel": [7]})
            for _ in range(2):
                assert frame.to_sql(table, conn, index=False, if_exists="append") == 1
        for table in ("pdcase", "PdCased") if PANDAS_3 else ("pdcase",):  # pandas 2 does not quote tables
            found = pd.read_sql_table(table, conn)
            assert list(found["Which"]) == [table] * 2
            assert list(found["sentinel"]) == [7, 7]


def pyarrow_reads_a_stream(url: str) -> None:
    with ifx.connect(url) as conn:
        sql = seeded(conn, "pa_read")
        with no_rows():
            table = pa.RecordBatchReader.from_stream(conn.execute(sql).fetch_arrow()).read_all()
    assert [tuple(row.values()) for row in table.to_pylist()] == ROWS


CHECKS: tuple[Callable[[str], None], ...] = (
    polars_reads_a_database,
    polars_reads_a_uri,
    polars_writes_a_table,
    polars_writes_names_with_owner_and_capitals,
    polars_keeps_capitals_under_delimident,
    polars_appends_to_a_table_that_is_not_there,
    pandas_reads_sql,
    pandas_reads_a_table,
    pandas_writes_a_table,
    pandas_writes_an_index,
    pandas_keeps_capitals_under_delimident,
    pyarrow_reads_a_stream,
)


if __name__ == "__main__":
    for check in CHECKS:
        check(sys.argv[1])
        print(f"{check.__name__}: passed", flush=True)
