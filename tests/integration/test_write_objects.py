"""write_arrow into large objects, collections and ROWs of the embedded server, with a sentinel after each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

_names = (f"write_objects_{number}" for number in itertools.count())
SIZES = (0, 1, 2, 255, 1023, 1024, 1025, 2048, 32_767, 32_768, 100_001)


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


def binary(size: int) -> bytes:
    return bytes((k * 7 + k // 251) & 0xFF for k in range(size))


def text(size: int) -> str:
    """Return about this many bytes of UTF-8, with characters of one to three bytes."""
    return ("aé€ z" * (size // 8 + 1)).encode()[:size].decode("utf-8", "ignore")


def contents(kind: str) -> pa.Array:
    values = [(text if kind in ("TEXT", "CLOB") else binary)(size) for size in SIZES]
    return pa.array([None, *values, None])


def table_of(values: pa.Array) -> pa.Table:
    count = len(values)
    tails = pa.array([12345 + n for n in range(count)], pa.int32())
    return pa.table({"k": pa.array(range(count), pa.int32()), "v": values, "tail": tails})


def found(conn: ifx.Connection, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = conn.read_arrow(f"SELECT k, v, tail FROM {name} ORDER BY k").to_pylist()
    return rows


@pytest.mark.parametrize("kind", ["BYTE", "TEXT", "BLOB", "CLOB"])
def test_contents_of_every_size_arrive_whole(conn: ifx.Connection, name: str, kind: str) -> None:
    conn.execute(f"CREATE TABLE {name} (k INTEGER PRIMARY KEY, v {kind}, tail INTEGER)")
    data = table_of(contents(kind))
    report = conn.write_arrow(name, data)
    assert (report.rows, report.method) == (len(data), "pipeline")
    assert found(conn, name) == data.to_pylist()
    with pytest.raises(ifx.NotSupportedError, match=f"'v' is a {kind}"):
        conn.write_arrow(name, data, method="put")


@pytest.mark.parametrize("kind", ["BLOB", "CLOB", "TEXT"])
def test_refused_rows_with_contents_are_reported_and_the_others_are_in(
    conn: ifx.Connection, name: str, kind: str
) -> None:
    conn.execute(f"CREATE TABLE {name} (k INTEGER PRIMARY KEY, v {kind}, tail INTEGER)")
    conn.execute(f"INSERT INTO {name} VALUES (7, NULL, 1)")
    data = table_of(contents(kind))
    with pytest.raises(
        ifx.IntegrityError, match=r"Row 7 \(k=7\)[^$]*Nothing of it is in the table"
    ) as caught:
        conn.write_arrow(name, data)
    assert (caught.value.row, caught.value.sqlcode) == (7, -268)
    assert [row["k"] for row in found(conn, name)] == [7]
    report = conn.write_arrow(name, data, on_error="collect", commit_every=4)
    assert report.rejected.select(["row", "sqlcode"]).to_pylist() == [{"row": 7, "sqlcode": -268}]
    assert report.rejected.column("v").to_pylist() == [data.column("v")[7].as_py()]
    assert report.commits == 4
    assert [row for row in found(conn, name) if row["k"] != 7] == [
        row for row in data.to_pylist() if row["k"] != 7
    ]


def test_several_objects_in_a_row_are_not_mixed_up(conn: ifx.Connection, name: str) -> None:
    """Every pattern of NULLs is a separate statement, and the columns have another order than in the table."""
    conn.execute(
        f"CREATE TABLE {name} (k INTEGER, a BLOB, n VARCHAR(20), b CLOB, y BYTE, c BLOB, t TEXT, tail INTEGER)"
    )
    rows = []
    for n, (a, b, c) in enumerate(
        itertools.product([None, b"", binary(2001)], [None, "", text(77)], [None, b"c"])
    ):
        rows.append(
            {
                "k": n,
                "a": a,
                "n": f"'?' {n}",
                "b": b,
                "y": binary(n),
                "c": c,
                "t": text(n) or None,
                "tail": -n,
            }
        )
    data = pa.Table.from_pylist(rows).select(["tail", "c", "b", "a", "y", "t", "n", "k"])
    assert conn.write_arrow(name, data).rows == len(rows)
    assert conn.read_arrow(f"SELECT * FROM {name} ORDER BY k").to_pylist() == rows


def test_a_table_of_nothing_but_an_object_and_one_made_from_what_was_read(
    conn: ifx.Connection, name: str
) -> None:
    conn.execute(f"CREATE TABLE {name} (v BLOB)")
    values = [b"x", None, b"", binary(999)]
    assert conn.write_arrow(name, pa.table({"v": pa.array(values)})).rows == 4
    data = conn.read_arrow(f"SELECT * FROM {name}")
    assert sorted(data.column("v").to_pylist(), key=str) == sorted(values, key=str)
    conn.write_arrow(name, data, mode="replace")
    again = conn.read_arrow(f"SELECT * FROM {name}")
    assert again.schema.field("v").metadata[b"informix.type"] == b"BLOB"
    assert sorted(again.column("v").to_pylist(), key=str) == sorted(values, key=str)


COLLECTIONS: list[tuple[str, pa.Array]] = [
    ("SET(INTEGER NOT NULL)", pa.array([[1, 2, -3], [], None, list(range(500))])),
    ("MULTISET(VARCHAR(20) NOT NULL)", pa.array([["it's", "", 'né, "q" }'], [], None, ["x" * 20] * 300])),
    (
        "LIST(DECIMAL(8,2) NOT NULL)",
        pa.array([["1.25", "-3.5"], [], None]).cast(pa.list_(pa.decimal128(8, 2))),
    ),
    ("LIST(INTEGER NOT NULL)", pa.array([[3, 1], None, [], [2**31 - 1]], pa.large_list(pa.int32()))),
    (
        "ROW(a INTEGER, b VARCHAR(20), d DATE)",
        pa.array([{"a": 1, "b": "it's, (x)", "d": None}, None, {"a": None, "b": "", "d": None}]),
    ),
]


@pytest.mark.parametrize(("declared", "values"), COLLECTIONS, ids=lambda each: str(each)[:30])
def test_collections_and_rows_arrive_whole(
    conn: ifx.Connection, name: str, declared: str, values: pa.Array
) -> None:
    conn.execute(f"CREATE TABLE {name} (k INTEGER, v {declared}, tail INTEGER)")
    data = table_of(values)
    assert conn.write_arrow(name, data).method == "pipeline"
    got, expected = found(conn, name), data.to_pylist()
    for rows in (got, expected):
        for row in rows:
            if isinstance(row["v"], list) and not declared.startswith("LIST"):
                row["v"] = sorted(row["v"])
    assert got == expected


def test_an_upsert_takes_objects_along(conn: ifx.Connection, name: str) -> None:
    conn.execute(f"CREATE TABLE {name} (k INTEGER PRIMARY KEY, v BYTE, tail INTEGER)")
    conn.write_arrow(name, table_of(pa.array([b"old", None, b"stays"])))
    new = table_of(pa.array([binary(5000), b"", None, b"new"])).take([0, 1, 3])
    assert conn.write_arrow(name, new, mode="upsert", key="k").rows == 3
    assert [row["v"] for row in found(conn, name)] == [binary(5000), b"", b"stays", b"new"]
