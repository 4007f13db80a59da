"""Values, names and reports of write_arrow: rounding on request, the limits of text, and unchanged values."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow.server import Server


@pytest.fixture(scope="module")
def shared_connection(server: Server) -> Iterator[ifx.Connection]:
    """A connection that all tests share, because opening one takes longer than most statements."""
    with ifx.connect(server.url("stores_demo"), env={"DELIMIDENT": "y"}) as connection:
        yield connection


@pytest.fixture
def conn(shared_connection: ifx.Connection) -> Iterator[ifx.Connection]:
    yield shared_connection
    shared_connection.rollback()


def stored(conn: ifx.Connection, declared: str, data: Any, **options: Any) -> list[Any]:
    """Load into a table of one column and a sentinel, and return the stored values."""
    conn.execute("DROP TABLE IF EXISTS values_of")
    conn.execute(f"CREATE TEMP TABLE values_of (n SERIAL, v {declared}, tail INT)")
    array = data if isinstance(data, pa.Array) else pa.array(data)
    conn.write_arrow("values_of", pa.table({"v": array, "tail": [12345] * len(array)}), **options)
    rows = conn.execute("SELECT v, tail FROM values_of ORDER BY n").fetchall()
    assert [tail for _, tail in rows] == [12345] * len(array)
    return [value for value, _ in rows]


INEXACT: list[tuple[str, Any, Any, Any]] = [
    ("INT", 1.5, 2, 1),
    ("INT", -1.5, -2, -1),
    ("INT", 0.49999999999999994, 0, 0),
    ("INT", Decimal("2147483646.5"), 2147483647, 2147483646),
    ("INT", "-7.5", -8, -7),
    ("DECIMAL(10,2)", Decimal("12.345"), Decimal("12.35"), Decimal("12.34")),
    ("DECIMAL(10,2)", Decimal("-0.005"), Decimal("-0.01"), Decimal("0.00")),
    ("DECIMAL(10,2)", 2.675, Decimal("2.68"), Decimal("2.67")),
    ("DECIMAL(10,2)", "99.99499", Decimal("99.99"), Decimal("99.99")),
    ("DECIMAL(10,2)", "9.995", Decimal("10.00"), Decimal("9.99")),
    ("DECIMAL(4)", "123.45", 123.5, 123.4),
    ("DATETIME YEAR TO FRACTION(3)", dt.datetime(2023, 12, 31, 23, 59, 59, 999500),
     dt.datetime(2024, 1, 1), dt.datetime(2023, 12, 31, 23, 59, 59, 999000)),
    ("DATETIME YEAR TO SECOND", dt.datetime(1969, 12, 31, 23, 59, 59, 500000),
     dt.datetime(1970, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59)),
    ("DATETIME HOUR TO SECOND", dt.time(9, 59, 59, 500000), dt.time(10), dt.time(9, 59, 59)),
    ("INTERVAL DAY TO FRACTION(2)", dt.timedelta(seconds=-1, microseconds=-5000),
     dt.timedelta(seconds=-1, microseconds=-10000), dt.timedelta(seconds=-1)),
    ("FLOAT", 2**53 + 1, float(2**53 + 2), float(2**53)),
    ("SMALLFLOAT", -(2**24 + 1), -float(2**24 + 2), -float(2**24)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "value", "rounded", "cut"), INEXACT, ids=[f"{t}-{v!r}" for t, v, _, _ in INEXACT]
)
@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_digits_without_room_are_refused_rounded_or_cut(
    conn: ifx.Connection, declared: str, value: Any, rounded: Any, cut: Any, method: str
) -> None:
    assert stored(conn, declared, [value, None], inexact="round", method=method) == [rounded, None]
    assert stored(conn, declared, [value, None], inexact="truncate", method=method) == [cut, None]
    with pytest.raises(ifx.DataError, match="inexact='round'"):
        stored(conn, declared, [value, None], method=method)


@pytest.mark.parametrize("inexact", ["round", "truncate"])
@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("SMALLINT", 40000.5),
        ("DECIMAL(4,2)", "99.999e5"),
        ("VARCHAR(3)", "abcd"),
        ("DATE", dt.datetime(2024, 1, 1, 23, 59)),
        ("DATETIME YEAR TO MINUTE", dt.datetime(2024, 1, 1, 23, 59, 1)),
        ("INTERVAL DAY TO MINUTE", dt.timedelta(seconds=59)),
        ("INT", float("nan")),
    ],
)
def test_no_option_lets_through_what_is_no_matter_of_digits(
    conn: ifx.Connection, declared: str, value: Any, inexact: str
) -> None:
    with pytest.raises(ifx.DataError):
        stored(conn, declared, [value], inexact=inexact)


def test_a_rounded_number_that_has_no_room_is_refused(conn: ifx.Connection) -> None:
    with pytest.raises(ifx.DataError, match="more digits"):
        stored(conn, "DECIMAL(4,2)", ["99.995"], inexact="round")
    assert stored(conn, "DECIMAL(4,2)", ["99.995"], inexact="truncate") == [Decimal("99.99")]
    with pytest.raises(ifx.DataError, match="range"):
        stored(conn, "SMALLINT", [32767.5], inexact="round")


@pytest.mark.parametrize(
    ("declared", "texts", "values"),
    [
        ("INT", ["+5", "-7", "005", "1e2", None], [5, -7, 5, 100, None]),
        (
            "BOOLEAN",
            ["t", "F", "true", "FALSE", "1", "0", None],
            [True, False, True, False, True, False, None],
        ),
        ("INTERVAL YEAR TO MONTH", ["5-03", "-0-11", None], [63, -11, None]),
        (
            "INTERVAL DAY TO SECOND",
            ["3 04:05:06", "-1 00:00:00", None],
            [dt.timedelta(days=3, hours=4, minutes=5, seconds=6), dt.timedelta(days=-1), None],
        ),
        (
            "DATETIME HOUR TO SECOND",
            ["10:11:12", "23:59:59", None],
            [dt.time(10, 11, 12), dt.time(23, 59, 59), None],
        ),
        ("DATETIME HOUR TO FRACTION(3)", ["10:11:12.125", None], [dt.time(10, 11, 12, 125000), None]),
    ],
)
def test_text_is_read_and_a_dirty_row_is_set_aside(
    conn: ifx.Connection, declared: str, texts: list[str | None], values: list[Any]
) -> None:
    assert stored(conn, declared, texts) == values
    conn.execute("DELETE FROM values_of")
    dirty = pa.table({"v": ["?", *texts, "12:x"], "tail": range(len(texts) + 2)})
    report = conn.write_arrow("values_of", dirty, on_error="collect")
    assert report.rejected.column("row").to_pylist() == [0, len(texts) + 1]
    assert report.rejected.column("column").to_pylist() == ["v", "v"]
    assert [row[0] for row in conn.execute("SELECT v FROM values_of ORDER BY n").fetchall()] == values


def test_the_fields_of_refused_rows_never_share_a_name_with_the_data(conn: ifx.Connection) -> None:
    names = ["row", "data_row", "column", "message", "data_data_row", "tail"]
    conn.execute("CREATE TEMP TABLE rejecting ({})".format(", ".join(f'"{name}" INT' for name in names)))
    data = pa.table({name: ["x" if name == "column" else "1"] for name in names})
    rejected = conn.write_arrow("rejecting", data, on_error="collect").rejected
    assert rejected.column_names == [
        "row", "column", "sqlcode", "isam", "message",
        "data_row", "data_data_row", "data_column", "data_message", "data_data_data_row", "tail",
    ]  # fmt: skip
    assert rejected.to_pylist()[0]["column"] == "column"
    assert rejected.to_pylist()[0]["data_column"] == "x"


def test_an_upsert_reports_what_is_new_and_what_was_changed(conn: ifx.Connection) -> None:
    conn.execute("CREATE TEMP TABLE upserted (id INT, name VARCHAR(9))")
    conn.write_arrow("upserted", pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]}))
    data = pa.table({"id": [3, 4, 5, 6, 2], "name": ["x", "y", "z", None, "w"]})
    report = conn.write_arrow("upserted", data, mode="upsert", key="id")
    assert (report.rows, report.inserted, report.updated) == (5, 3, 2)
    again = conn.write_arrow("upserted", data.select(["id"]), mode="upsert", key="id")
    assert (again.inserted, again.updated) == (0, 0)
    assert conn.write_arrow("upserted", data).inserted == 5


def test_moments_with_a_zone_are_converted_into_the_zone_that_is_named(conn: ifx.Connection) -> None:
    moments = pa.array(
        [dt.datetime(2024, 7, 1, 12), dt.datetime(2024, 1, 1, 12), None], pa.timestamp("us", "UTC")
    )
    with pytest.raises(ifx.ProgrammingError, match="time_zone="):
        stored(conn, "DATETIME YEAR TO SECOND", moments)
    found = stored(conn, "DATETIME YEAR TO SECOND", moments, time_zone="Europe/Berlin")
    assert found == [dt.datetime(2024, 7, 1, 14), dt.datetime(2024, 1, 1, 13), None]
    with pytest.raises(ifx.InterfaceError, match="time_zone="):
        stored(conn, "DATETIME YEAR TO SECOND", moments, time_zone="Europe/Nowhere")
    conn.write_arrow(
        "zoned", pa.table({"v": moments}), mode="create", temporary=True, time_zone="America/New_York"
    )
    assert conn.execute("SELECT * FROM zoned").fetchone() == (dt.datetime(2024, 7, 1, 8),)


def test_a_named_index_of_a_frame_is_a_column(conn: ifx.Connection) -> None:
    conn.execute("CREATE TEMP TABLE indexed (id SERIAL, name VARCHAR(9))")
    frame = pd.DataFrame({"name": ["a", "b", "c"]}, index=pd.RangeIndex(100, 103, name="id"))
    conn.write_arrow("indexed", frame)
    assert conn.execute("SELECT id, name FROM indexed ORDER BY id").fetchall() == [
        (100, "a"),
        (101, "b"),
        (102, "c"),
    ]
    conn.write_arrow("indexed", pd.DataFrame({"name": ["d"]}))
    with pytest.raises(ifx.InterfaceError, match="name of a column"):
        conn.write_arrow("indexed", pd.DataFrame({"id": [1]}, index=pd.RangeIndex(1, name="id")))


def test_periods_of_pandas_are_refused(conn: ifx.Connection) -> None:
    frame = pd.DataFrame({"v": pd.period_range("2020-01", periods=3, freq="M")})
    for mode in ("create", "append"):
        with pytest.raises(ifx.InterfaceError, match="periods of pandas"):
            conn.write_arrow("periods", frame, mode=mode)


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("v", ["x", None, "größe", "x"], pl.Categorical),
        pl.Series("v", ["x", None, "größe", "x"], pl.Enum(["größe", "x"])),
    ],
    ids=["Categorical", "Enum"],
)
def test_categories_of_polars_are_text(conn: ifx.Connection, column: pl.Series) -> None:
    conn.execute("CREATE TEMP TABLE categories (v VARCHAR(9), tail INT)")
    conn.write_arrow("categories", pl.DataFrame([column, pl.Series("tail", [1, 2, 3, 4])]))
    assert [
        row[0] for row in conn.execute("SELECT v FROM categories ORDER BY tail").fetchall()
    ] == column.to_list()
    conn.write_arrow("made", pl.DataFrame([column]), mode="create", temporary=True)
    frame = pl.DataFrame(
        conn.read_arrow("SELECT v, tail FROM categories ORDER BY tail", strings="dictionary")
    )
    conn.execute("DELETE FROM categories")
    conn.write_arrow("categories", frame)
    assert [
        row[0] for row in conn.execute("SELECT v FROM categories ORDER BY tail").fetchall()
    ] == column.to_list()


def test_uuids_are_their_text_in_a_text_column(conn: ifx.Connection) -> None:
    ids = [uuid.UUID(int=7), None]
    array = pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([None if each is None else each.bytes for each in ids], pa.binary(16))
    )
    assert stored(conn, "CHAR(36)", array) == [str(ids[0]), None]


def test_a_float_that_was_a_floating_decimal_makes_no_decimal(conn: ifx.Connection) -> None:
    conn.execute("CREATE TEMP TABLE floating (v DECIMAL(20), w DECIMAL(20), tail DECIMAL(8,2))")
    conn.execute("INSERT INTO floating VALUES (1.5, 9007199254740993, 2.25)")
    lost = conn.read_arrow("SELECT v, tail FROM floating")
    conn.write_arrow("copied", lost, mode="create", temporary=True)
    exact = conn.read_arrow("SELECT w, tail FROM floating", floating_decimals="string")
    conn.write_arrow("exact", exact, mode="create", temporary=True)
    types = {
        table: [each[1] for each in conn.execute(f"SELECT * FROM {table}").description]
        for table in ("copied", "exact")
    }
    assert types == {"copied": ["FLOAT", "DECIMAL(8,2)"], "exact": ["DECIMAL(20)", "DECIMAL(8,2)"]}
    assert conn.read_arrow("SELECT w FROM exact", floating_decimals="string").to_pylist() == [
        {"w": "9007199254740993"}
    ]


# ---- names -----------------------------------------------------------------------------------------------------------


def test_reserved_words_and_capitals_are_names_under_delimident(conn: ifx.Connection) -> None:
    data = pa.table({"Order": [1, 2], "select": ["a", "b"], "plain": [1.5, None], "two words": [True, False]})
    conn.write_arrow("named", data, mode="create", temporary=True, primary_key="order")
    found = conn.read_arrow("SELECT * FROM named")
    assert found.column_names == ["Order", "select", "plain", "two words"]
    changed = pa.table(
        {"Order": [2, 3], "select": ["x", "y"], "plain": [0.5, 1.0], "two words": [None, True]}
    )
    report = conn.write_arrow("named", changed, mode="upsert", key="order")
    assert (report.inserted, report.updated) == (1, 1)
    conn.write_arrow("named", data.slice(0, 0))
    rows = conn.execute('SELECT "select" FROM named ORDER BY "Order"').fetchall()
    assert rows == [("a",), ("x",), ("y",)]


# ---- replace ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def parent(conn: ifx.Connection) -> Iterator[str]:
    for table in ("replaced_child", "replaced"):
        conn.execute(f"DROP TABLE IF EXISTS {table}")
    conn.execute("CREATE TABLE replaced (id INT PRIMARY KEY, name VARCHAR(20) DEFAULT 'new', tail INT)")
    conn.execute("CREATE INDEX replaced_ix ON replaced (name, tail)")
    conn.execute("GRANT SELECT ON replaced TO somebody")
    conn.execute("INSERT INTO replaced VALUES (1, 'old', 1)")
    conn.commit()
    yield "replaced"
    conn.rollback()
    for table in ("replaced_child", "replaced"):
        conn.execute(f"DROP TABLE IF EXISTS {table}")
    conn.commit()


def test_a_table_of_the_same_columns_keeps_what_belongs_to_it(conn: ifx.Connection, parent: str) -> None:
    data = pa.table(
        {"id": pa.array([7, 8], pa.int32()), "name": ["a", "b"], "tail": pa.array([1, 2], pa.int32())}
    )
    report = conn.write_arrow(parent, data, mode="replace")
    assert (report.created, report.dropped, report.rows) == (False, (), 2)
    conn.execute("INSERT INTO replaced (id) VALUES (9)")
    assert conn.execute("SELECT id, name FROM replaced ORDER BY id").fetchall() == [
        (7, "a"),
        (8, "b"),
        (9, "new"),
    ]
    with pytest.raises(ifx.IntegrityError):
        conn.execute("INSERT INTO replaced (id) VALUES (9)")
    assert "replaced_ix" in conn.indexes(parent).column("index_name").to_pylist()


def test_a_table_of_other_columns_reports_what_went_with_the_old_one(
    conn: ifx.Connection, parent: str
) -> None:
    for sql in (
        "CREATE VIEW replaced_v (id) AS SELECT id FROM replaced",
        "CREATE VIEW replaced_w AS SELECT id FROM replaced_v",
        "CREATE SYNONYM replaced_s FOR replaced",
        "CREATE TABLE beside_replaced (id INT, tail INT)",
        "CREATE VIEW replaced_not AS SELECT tail FROM beside_replaced",
    ):
        conn.execute(sql)
    report = conn.write_arrow(parent, pa.table({"id": [7], "other": ["x"]}), mode="replace")
    assert report.created
    told = " | ".join(report.dropped)
    assert "primary key" in told
    assert "index replaced_ix (name, tail)" in report.dropped
    assert "default of name" in report.dropped
    went = [each.rpartition(" of ")[0] for each in report.dropped if each.startswith(("view", "synonym"))]
    assert went == ["synonym replaced_s", "view replaced_v", "view replaced_w"]
    conn.execute("DROP TABLE beside_replaced")
    assert conn.execute("SELECT * FROM replaced").fetchall() == [(7, "x")]


def test_a_referenced_table_is_not_replaced_unless_requested(conn: ifx.Connection, parent: str) -> None:
    conn.execute("CREATE TABLE replaced_child (id INT, p INT REFERENCES replaced (id) ON DELETE CASCADE)")
    conn.execute("INSERT INTO replaced_child VALUES (10, 1)")
    conn.commit()
    same = pa.table({"id": pa.array([7], pa.int32()), "name": ["a"], "tail": pa.array([1], pa.int32())})
    for data in (same, pa.table({"id": [7]})):
        with pytest.raises(ifx.IntegrityError, match=r"of replaced_child.*cascade=True"):
            conn.write_arrow(parent, data, mode="replace")
        assert conn.execute("SELECT id, name, tail FROM replaced").fetchall() == [(1, "old", 1)]
    report = conn.write_arrow(parent, same, mode="replace", cascade=True)
    assert any(
        each.startswith("foreign key") and each.endswith("of replaced_child") for each in report.dropped
    )
    assert conn.execute("SELECT id, p FROM replaced_child").fetchall() == [(10, 1)]
    with pytest.raises(ifx.InterfaceError, match="cascade"):
        conn.write_arrow(parent, same, cascade=True)
