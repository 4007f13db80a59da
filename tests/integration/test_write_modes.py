"""write_arrow's modes against the embedded server: creating, emptying and updating tables, and ADBC's names."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Literal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server

Method = Literal["put", "pipeline"]
_names = (f"write_modes_{number}" for number in itertools.count())


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
    if conn.read_arrow(f"SELECT tabname FROM systables WHERE tabname = '{chosen}'").num_rows:
        conn.execute(f"DROP TABLE {chosen}")


def columns_of(conn: ifx.Connection, table: str) -> list[tuple[str, int, int]]:
    """Return names, types and lengths of the columns from syscolumns."""
    found = conn.read_arrow(
        "SELECT c.colname, c.coltype, c.collength FROM syscolumns c, systables t "
        f"WHERE t.tabid = c.tabid AND t.tabname = '{table}' ORDER BY c.colno"
    )
    return [tuple(row.values()) for row in found.to_pylist()]


SMALL = pa.table({"k": pa.array([1, 2, 3], pa.int32()), "v": ["a", None, "c"]})


def test_create_makes_the_table_and_refuses_one_that_is_there(conn: ifx.Connection, name: str) -> None:
    report = conn.write_arrow(name, SMALL, mode="create")
    assert (report.created, report.rows, report.mode) == (True, 3, "create")
    assert conn.read_arrow(f"SELECT * FROM {name}").to_pylist() == SMALL.to_pylist()
    with pytest.raises(ifx.ProgrammingError) as caught:
        conn.write_arrow(name, SMALL, mode="create")
    assert caught.value.sqlcode == -310
    assert conn.read_arrow(f"SELECT * FROM {name}").num_rows == 3


def test_replace_puts_a_new_table_in_the_place_of_the_old(conn: ifx.Connection, name: str) -> None:
    conn.execute(f"CREATE TABLE {name} (z DATE)")
    for times in range(2):
        assert conn.write_arrow(name, SMALL, mode="replace").created == (
            times == 0
        )  # then it has these columns
        assert conn.read_arrow(f"SELECT * FROM {name}").to_pylist() == SMALL.to_pylist()


def test_a_replace_that_fails_leaves_the_old_table(conn: ifx.Connection, name: str) -> None:
    conn.execute(f"CREATE TABLE {name} (z INTEGER)")
    conn.execute(f"INSERT INTO {name} VALUES (5)")
    twice = pa.table({"k": pa.array([1, 1], pa.int32())})
    with pytest.raises(ifx.IntegrityError):
        conn.write_arrow(name, twice, mode="replace", primary_key="k")
    assert conn.read_arrow(f"SELECT * FROM {name}").to_pydict() == {"z": [5]}


def test_a_create_that_fails_leaves_no_table(conn: ifx.Connection, name: str) -> None:
    twice = pa.table({"k": pa.array([1, 1], pa.int32())})
    with pytest.raises(ifx.IntegrityError):
        conn.write_arrow(name, twice, mode="create", primary_key=["k"])
    assert columns_of(conn, name) == []


def test_create_append_makes_or_appends(conn: ifx.Connection, name: str) -> None:
    assert conn.write_arrow(name, SMALL, mode="create_append").created
    assert not conn.write_arrow(name, SMALL, mode="create_append").created
    assert conn.read_arrow(f"SELECT * FROM {name}").num_rows == 6


def test_truncate_empties_first_and_a_failure_brings_the_rows_back(conn: ifx.Connection, name: str) -> None:
    conn.write_arrow(name, SMALL, mode="create", primary_key="k")
    conn.write_arrow(name, SMALL.slice(1), mode="truncate")
    assert conn.read_arrow(f"SELECT k FROM {name} ORDER BY k").column("k").to_pylist() == [2, 3]
    with pytest.raises(ifx.IntegrityError):
        conn.write_arrow(name, pa.concat_tables([SMALL, SMALL]), mode="truncate")
    assert conn.read_arrow(f"SELECT k FROM {name} ORDER BY k").column("k").to_pylist() == [2, 3]
    conn.write_arrow(name, SMALL, mode="truncate", commit_every=2)
    assert conn.read_arrow(f"SELECT k FROM {name} ORDER BY k").column("k").to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_upsert_updates_what_is_there_and_inserts_the_rest(
    conn: ifx.Connection, name: str, method: Method
) -> None:
    conn.execute(f"CREATE TABLE {name} (k INTEGER PRIMARY KEY, v VARCHAR(20), n INTEGER, tail INTEGER)")
    old = pa.table({"k": range(1000), "v": ["old"] * 1000, "n": [1] * 1000, "tail": [5] * 1000})
    conn.write_arrow(name, old)
    new = pa.table({"k": range(900, 1100), "v": ["new"] * 200, "n": pa.array([None] * 200, pa.int32())})
    report = conn.write_arrow(name, new, mode="upsert", key=["k"], method=method)
    assert report.rows == 200
    found = conn.read_arrow(f"SELECT * FROM {name} ORDER BY k").to_pylist()
    assert found == [
        {
            "k": k,
            "v": "old" if k < 900 else "new",
            "n": 1 if k < 900 else None,
            "tail": 5 if k < 1000 else None,
        }
        for k in range(1100)
    ]


def test_an_upsert_of_two_rows_with_one_key_is_refused_by_row(conn: ifx.Connection, name: str) -> None:
    conn.write_arrow(name, SMALL, mode="create", primary_key="k")
    twice = pa.table({"k": pa.array([9, 8, 9], pa.int32()), "v": ["x", "y", "z"]})
    with pytest.raises(ifx.IntegrityError, match=r"Row 2 \(k=9\)") as caught:
        conn.write_arrow(name, twice, mode="upsert", key="k")
    assert caught.value.row == 2
    assert conn.read_arrow(f"SELECT * FROM {name} ORDER BY k").to_pylist() == SMALL.to_pylist()
    report = conn.write_arrow(name, twice, mode="upsert", key="k", on_error="collect")
    assert report.rejected.select(["row", "v"]).to_pylist() == [{"row": 2, "v": "z"}]
    assert conn.read_arrow(f"SELECT k FROM {name} ORDER BY k").column("k").to_pylist() == [1, 2, 3, 8, 9]


def test_an_upsert_by_several_columns_and_of_nothing_but_the_key(conn: ifx.Connection, name: str) -> None:
    data = pa.table(
        {"a": pa.array([1, 1, 2], pa.int32()), "b": ["x", "y", "x"], "n": pa.array([1, 2, 3], pa.int32())}
    )
    conn.write_arrow(name, data, mode="create", primary_key=["a", "b"], types={"b": "VARCHAR(5)"})
    more = pa.table({"B": ["y", "z"], "A": pa.array([1, 1], pa.int32()), "N": pa.array([20, 30], pa.int32())})
    conn.write_arrow(name, more, mode="upsert", key=["a", "b"])
    conn.write_arrow(name, more.select(["A", "B"]), mode="upsert", key=["a", "b"])
    found = conn.read_arrow(f"SELECT * FROM {name} ORDER BY a, b").to_pydict()
    assert found == {"a": [1, 1, 1, 2], "b": ["x", "y", "z", "x"], "n": [1, 20, 30, 3]}


DECLARED = """CREATE TABLE {} (
    id SERIAL NOT NULL, big BIGINT NOT NULL, i8 INT8, small SMALLINT, f FLOAT, sf SMALLFLOAT, d DECIMAL(12,3),
    fd DECIMAL(9), m MONEY(10,2), c CHAR(7), v VARCHAR(40,10), nv NVARCHAR(30), lv LVARCHAR(500), b BOOLEAN,
    day DATE, ymd DATETIME YEAR TO DAY, sec DATETIME YEAR TO SECOND, fr DATETIME YEAR TO FRACTION(3),
    hm DATETIME HOUR TO MINUTE, md DATETIME MONTH TO DAY, ym INTERVAL YEAR(4) TO MONTH,
    ds INTERVAL DAY(3) TO SECOND, tail INTEGER)"""


def test_what_was_read_is_made_again_exactly(conn: ifx.Connection, name: str) -> None:
    """Read, create, read: the same syscolumns and the same values."""
    conn.execute(DECLARED.format(name))
    conn.execute(
        f"INSERT INTO {name} VALUES (7, 1, 2, 3, 1.5, 2.5, 12.345, 1.5e20, 9.99, 'cha', 'var', 'nvar', 'lvar', 't', "
        "'2026-01-02', '2026-01-03', '2026-01-04 05:06:07', '2026-01-04 05:06:07.123', '08:09', '12-25', '3-04', "
        "'5 06:07:08', 12345)"
    )
    conn.execute(f"INSERT INTO {name} (id, big) VALUES (0, 2)")
    data = conn.read_arrow(f"SELECT * FROM {name}", floating_decimals="string")
    copy = f"{name}_copy"
    try:
        conn.write_arrow(copy, data, mode="create")
        assert columns_of(conn, copy) == columns_of(conn, name)
        again = conn.read_arrow(f"SELECT * FROM {copy}", floating_decimals="string")
        assert again.schema.equals(data.schema, check_metadata=True)
        assert again.to_pylist() == data.to_pylist()
    finally:
        conn.execute(f"DROP TABLE {copy}")


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_a_table_made_of_arrow_types_gives_the_same_values_back(
    conn: ifx.Connection, name: str, method: Method
) -> None:
    data = pa.table(
        {
            "flag": pa.array([True, None, False]),
            "tiny": pa.array([-128, None, 127], pa.int8()),
            "i16": pa.array([-32767, None, 32767], pa.int16()),
            "i32": pa.array([-(2**31) + 1, None, 2**31 - 1], pa.int32()),
            "i64": pa.array([-(2**63) + 1, None, 2**63 - 1], pa.int64()),
            "u32": pa.array([0, None, 2**32 - 1], pa.uint32()),
            "u64": pa.array([0, None, 2**64 - 1], pa.uint64()),
            "f32": pa.array([1.5, None, -0.25], pa.float32()),
            "f64": pa.array([0.1, None, -1e300], pa.float64()),
            "dec": pa.array([Decimal("1.25"), None, Decimal("-99999.99")], pa.decimal128(7, 2)),
            "text": pa.array(["", None, "grün €"], pa.large_utf8()),
            "day": pa.array([date(1, 1, 1), None, date(9999, 12, 31)]),
            "sec": pa.array([datetime(2026, 1, 2, 3, 4, 5), None, datetime(1, 1, 1)], pa.timestamp("s")),
            "milli": pa.array([datetime(2026, 1, 2, 3, 4, 5, 678000), None, None], pa.timestamp("ms")),
            "micro": pa.array([datetime(2026, 1, 2, 3, 4, 5, 678910), None, None], pa.timestamp("us")),
            "clock": pa.array([time(1, 2, 3), None, time(23, 59, 59)], pa.time32("s")),
            "span": pa.array([10_000_010, None, -86_400_000_000], pa.duration("us")),
            "dict": pa.array(["x", None, "y"]).dictionary_encode(),
            "tail": pa.array([1, 2, 3], pa.int32()),
        }
    )
    conn.write_arrow(name, data, mode="create", method=method)
    found = conn.read_arrow(f"SELECT * FROM {name} ORDER BY tail")
    for column in data.schema.names:
        assert found.column(column).to_pylist() == data.column(column).to_pylist(), column


def test_types_primary_key_and_serial_shape_the_table(conn: ifx.Connection, name: str) -> None:
    data = pa.table({"Code": ["a", "b"], "qty": [1, 2]})
    conn.write_arrow(
        name,
        data,
        mode="create",
        types={"code": "CHAR(4) NOT NULL", "QTY": "SMALLINT"},
        primary_key="code",
        serial="id",
    )
    found = conn.read_arrow(f"SELECT * FROM {name} ORDER BY id")
    assert [field.metadata[b"informix.type"] for field in found.schema] == [
        b"SERIAL",
        b"CHAR(4)",
        b"SMALLINT",
    ]
    assert found.to_pydict() == {"id": [1, 2], "code": ["a", "b"], "qty": [1, 2]}
    with pytest.raises(ifx.IntegrityError):
        conn.execute(f"INSERT INTO {name} (code) VALUES ('a')")


def test_a_serial_column_of_the_data_numbers_on(conn: ifx.Connection, name: str) -> None:
    data = pa.table({"id": pa.array([5, None, 9]), "v": ["a", "b", "c"]})
    conn.write_arrow(name, data, mode="create", serial="id")
    found = conn.read_arrow(f"SELECT * FROM {name} ORDER BY v")
    assert found.schema.field("id").metadata[b"informix.type"] == b"BIGSERIAL"
    assert found.column("id").to_pylist() == [5, 6, 9]


def test_columns_go_by_name_in_any_case_and_order(conn: ifx.Connection, name: str) -> None:
    conn.execute(f"CREATE TABLE {name} (a INTEGER, b VARCHAR(9) DEFAULT 'dflt', c INTEGER)")
    conn.write_arrow(name, pa.table({"C": [3], "A": [1]}))
    assert conn.read_arrow(f"SELECT * FROM {name}").to_pylist() == [{"a": 1, "b": "dflt", "c": 3}]


def test_columns_can_be_mapped(conn: ifx.Connection, name: str) -> None:
    conn.execute(f"CREATE TABLE {name} (a INTEGER, b INTEGER)")
    data = pa.table({"x": [1], "y": [2], "z": [3]})
    conn.write_arrow(name, data, columns={"x": "b", "z": "a"})
    conn.write_arrow(name, data.select(["x", "y"]), columns=["B", "A"])
    assert conn.read_arrow(f"SELECT a, b FROM {name} ORDER BY a").to_pydict() == {"a": [2, 3], "b": [1, 1]}


def test_columns_that_the_table_lacks_are_listed_and_nothing_is_written(
    conn: ifx.Connection, name: str
) -> None:
    conn.execute(f"CREATE TABLE {name} (a INTEGER, b INTEGER)")
    with pytest.raises(ifx.ProgrammingError, match=rf"{name} has no columns x, y\. It has a, b"):
        conn.write_arrow(name, pa.table({"a": [1], "x": [2], "y": [3]}))
    assert not conn.in_transaction


def test_a_not_null_column_without_default_must_be_there(conn: ifx.Connection, name: str) -> None:
    conn.execute(f"CREATE TABLE {name} (a INTEGER, b INTEGER NOT NULL)")
    with pytest.raises(ifx.IntegrityError) as caught:
        conn.write_arrow(name, pa.table({"a": [1]}))
    assert caught.value.sqlcode == -292
    assert conn.read_arrow(f"SELECT * FROM {name}").num_rows == 0


def test_adbc_ingest_is_the_same_thing(conn: ifx.Connection, name: str, owner: str) -> None:
    with conn.cursor() as cursor:
        assert cursor.adbc_ingest(name, SMALL) == 3
        assert cursor.rowcount == 3
        assert cursor.adbc_ingest(name, SMALL.to_batches()[0], mode="append", db_schema_name=owner) == 3
        assert cursor.adbc_ingest(name, SMALL.to_reader(), "replace") == 3
        assert cursor.execute(f"SELECT COUNT(*)::INT FROM {name}").fetchone() == (3,)
        assert cursor.adbc_ingest(f"{name}_temp", SMALL, temporary=True) == 3
        assert cursor.execute(f"SELECT COUNT(*)::INT FROM {name}_temp").fetchone() == (3,)
        cursor.execute(f"DROP TABLE {name}_temp")


@pytest.mark.parametrize("ansi", [False, True], ids=["logged", "ansi"])
@pytest.mark.parametrize("mode", ["append", "create", "replace", "create_append"])
@pytest.mark.embedded
def test_adbc_ingest_is_part_of_the_transaction_with_autocommit_off(
    server: Server, mode: Literal["append", "create", "replace", "create_append"], *, ansi: bool
) -> None:
    database = f"ingest_{'ansi' if ansi else 'logged'}_{mode}"
    server.create_database(database, mode="ansi" if ansi else "logged")
    old = [] if mode == "create" else [(9,)]

    def seen() -> list[tuple[int]] | int:
        with ifx.connect(server.url(database), isolation="committed", lock_wait=0) as other:
            try:
                return other.execute("SELECT k FROM ingested ORDER BY k").fetchall()
            except ifx.Error as error:
                return error.sqlcode or 0

    with ifx.connect(server.url(database)) as conn, conn.cursor() as cursor:
        if old:
            conn.execute("CREATE TABLE ingested (k INT, v LVARCHAR(2048))")
            conn.execute("INSERT INTO ingested VALUES (9, NULL)")
            conn.commit()
        before = seen()
        assert before == (old or -206)
        assert cursor.adbc_ingest("ingested", SMALL, mode) == 3
        assert conn.in_transaction
        conn.rollback()
        assert seen() == before
        for _ in range(2):  # the second load runs after a savepoint of the same transaction
            assert cursor.adbc_ingest("ingested", SMALL, mode) == 3
            mode = "append" if mode == "create" else mode
        with pytest.raises(ifx.ProgrammingError):
            cursor.adbc_ingest("ingested", pa.table({"other": [1]}), "append")
        assert conn.in_transaction
        conn.commit()
        loaded = [(k,) for k in (1, 2, 3) for _ in range(1 if mode == "replace" else 2)]
        assert seen() == loaded + (old if mode in ("append", "create_append") else [])


@pytest.mark.embedded
def test_adbc_ingest_commits_where_the_user_cannot(server: Server) -> None:
    server.create_database("ingest_unlogged", mode="unlogged")
    with ifx.connect(server.url("ingest_unlogged")) as conn, conn.cursor() as cursor:
        assert cursor.adbc_ingest("ingested", SMALL) == 3
        conn.rollback()
        assert conn.execute("SELECT COUNT(*)::INT FROM ingested").fetchone() == (3,)
        conn.autocommit = True
        assert cursor.adbc_ingest("other", SMALL) == 3
        assert not conn.in_transaction


def test_adbc_ingest_of_asyncio_is_part_of_the_transaction(
    server: Server, conn: ifx.Connection, name: str
) -> None:
    async def load(*, keep: bool) -> None:
        async with await aio.connect(server.url("stores_demo")) as loading:
            async with loading.cursor() as cursor:
                assert await cursor.adbc_ingest(name, SMALL) == 3
            await (loading.commit() if keep else loading.rollback())

    asyncio.run(load(keep=False))
    with pytest.raises(ifx.ProgrammingError, match="-206"):
        conn.execute(f"SELECT * FROM {name}")
    asyncio.run(load(keep=True))
    assert conn.read_arrow(f"SELECT * FROM {name}").num_rows == 3


def test_adbc_ingest_folds_no_name_under_delimident(server: Server, owner: str) -> None:
    given = {"autocommit": True, "env": {"DELIMIDENT": "y"}}
    data = pa.table({"Id": [1], "sentinel": [7]})

    async def in_asyncio() -> None:
        async with await aio.connect(server.url("stores_demo"), **given) as conn, conn.cursor() as cursor:
            assert await cursor.adbc_ingest("Ingested By", data) == 1
            assert await cursor.adbc_ingest("Ingested By", data, "append", db_schema_name=owner) == 1

    with ifx.connect(server.url("stores_demo"), **given) as conn, conn.cursor() as cursor:
        for name in ("Ingested", "order"):
            assert cursor.adbc_ingest(name, data) == 1
            assert cursor.adbc_ingest(name, data, "append", catalog_name=conn.database) == 1
            assert conn.read_arrow(f'SELECT "Id", sentinel FROM "{name}"').num_rows == 2
            conn.execute(f'DROP TABLE "{name}"')
        asyncio.run(in_asyncio())
        assert conn.read_arrow('SELECT "Id", sentinel FROM "Ingested By"').num_rows == 2
        conn.execute('DROP TABLE "Ingested By"')
        with pytest.raises(ifx.InterfaceError, match="owner"):
            cursor.adbc_ingest("t", data, db_schema_name="a'b")


def test_frames_of_polars_pandas_and_other_connections_are_written(
    conn: ifx.Connection, name: str, server: Server
) -> None:
    frame = pl.DataFrame({"k": [1, 2], "v": ["ä", None], "d": [date(2026, 1, 1), None]})
    conn.write_arrow(name, frame, mode="create")
    conn.write_arrow(
        name, pd.DataFrame({"k": [3, 4], "v": ["b", None], "d": pd.to_datetime(["2026-01-02", None])})
    )
    conn.write_arrow(name, iter(pa.table({"k": [5, 6], "v": ["x", "y"]}).to_batches(max_chunksize=1)))
    with ifx.connect(server.url("stores_demo"), autocommit=True) as other:
        result = other.query(f"SELECT k + 10 AS k, v, d FROM {name}")
        assert conn.write_arrow(name, result).rows == 6
    found = conn.read_arrow(f"SELECT * FROM {name} ORDER BY k").to_pydict()
    assert found["k"] == [1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16]
    assert found["v"] == ["ä", None, "b", None, "x", "y"] * 2
    assert found["d"] == [date(2026, 1, 1), None, date(2026, 1, 2), None, None, None] * 2


@pytest.mark.parametrize(
    ("data", "options", "match"),
    [
        (SMALL, {"columns": 5}, "columns must be a sequence of names or a mapping between names, got 5"),
        (SMALL, {"columns": {"k": 5}}, "columns must be a sequence"),
        (SMALL, {"mode": "replace", "types": {"k": 5}}, "types must be declared types by column name"),
        (SMALL, {"mode": "replace", "serial": 5}, "serial must be a column's name, got 5"),
        (SMALL, {"mode": "replace", "temporary": "no"}, "temporary must be True or False, got 'no'"),
        (SMALL, {"mode": "replace", "cascade": "no"}, "cascade must be True or False, got 'no'"),
        (pl.LazyFrame({"k": [1]}), {}, r"A LazyFrame is a query .* collect\(\)"),
        ({"k": [1]}, {}, r"pyarrow\.table"),
    ],
)
def test_wrong_arguments_are_reported_and_cost_no_connection(
    conn: ifx.Connection, name: str, data: Any, options: Any, match: str
) -> None:
    conn.write_arrow(name, SMALL, mode="create")
    with pytest.raises(ifx.InterfaceError, match=match):
        conn.write_arrow(name, data, **options)
    assert conn.read_arrow(f"SELECT * FROM {name}").num_rows == 3


def test_a_result_of_the_same_connection_is_refused_by_name(conn: ifx.Connection, name: str) -> None:
    conn.write_arrow(name, SMALL, mode="create")
    with (
        conn.query(f"SELECT * FROM {name}") as result,
        pytest.raises(ifx.InterfaceError, match="Read it first"),
    ):
        conn.write_arrow(name, result)


def test_one_shot_form_and_str_of_the_report(server: Server, conn: ifx.Connection, name: str) -> None:
    report = ifx.write_arrow(name, SMALL, server.url("stores_demo"), mode="create")
    assert str(report).startswith(f"3 rows into {name} by put in ")
    assert ifx.write_arrow(name, SMALL, conn).rows == 3
    assert conn.read_arrow(f"SELECT * FROM {name}").num_rows == 6


def test_no_rows_are_no_failure(conn: ifx.Connection, name: str) -> None:
    report = conn.write_arrow(name, SMALL.slice(3), mode="create")
    assert (report.rows, report.batches, report.created) == (0, 0, True)
    assert conn.read_arrow(f"SELECT * FROM {name}").num_rows == 0


def test_the_bar_reports_how_far_a_load_is(
    conn: ifx.Connection, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    conn.write_arrow(name, SMALL, mode="create", progress=True)
    drawn = capsys.readouterr().err
    assert "100%  3 of 3 rows" in drawn
    assert drawn.endswith("\n")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mode": "apend"}, "mode='apend'"),
        ({"on_error": "skip"}, "on_error='skip'"),
        ({"method": "copy"}, "method='copy'"),
        ({"commit_every": 0}, "commit_every must be"),
        ({"mode": "upsert"}, "needs key"),
        ({"key": "k"}, "needs key"),
        ({"mode": "upsert", "key": "k", "commit_every": 5}, "commit_every= does not work"),
        ({"primary_key": "k"}, "works only with a mode that creates the table"),
        ({"progress": 5}, "progress must be"),
        ({"batchsize": 5}, "no option batchsize"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_before_anything_is_sent(
    conn: ifx.Connection, options: dict[str, object], text: str
) -> None:
    with pytest.raises(ifx.InterfaceError, match=text):
        conn.write_arrow("t", SMALL, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [None, 5, "t.parquet", {"k": [1]}, [], [[1, 2]], pl.Series([1])], ids=repr)
def test_what_is_no_arrow_data_is_refused(conn: ifx.Connection, data: object) -> None:
    with pytest.raises(ifx.InterfaceError):
        conn.write_arrow("t", data)


@pytest.mark.parametrize("table", ["", "t; DROP TABLE x", "a b", "t--", "x.y.z", "1t", 5], ids=repr)
def test_what_is_no_table_name_never_gets_into_a_statement(conn: ifx.Connection, table: str) -> None:
    with pytest.raises(ifx.InterfaceError, match="not a table name"):
        conn.write_arrow(table, SMALL)


def test_a_report_says_whether_its_rows_are_committed(server: Server) -> None:
    rows = pa.table({"id": pa.array([1, 2], pa.int32()), "sentinel": pa.array([12345] * 2, pa.int32())})
    with ifx.connect(server.url("stores_demo")) as conn:
        conn.execute("CREATE TEMP TABLE report_pending (id INT, sentinel INT)")
        conn.commit()
        assert "committed" not in str(conn.write_arrow("report_pending", rows))
        conn.execute("DELETE FROM report_pending WHERE id = 2")
        assert str(conn.write_arrow("report_pending", rows)).endswith(
            ", not committed: part of the open transaction"
        )


def test_frames_that_mean_nothing_are_refused_by_name(conn: ifx.Connection, name: str) -> None:
    """Polars would pass the addresses of Python objects, and in pandas a duplicate column name is ambiguous."""
    with pytest.raises(ifx.InterfaceError, match="'v' holds Python objects, which Polars"):
        conn.write_arrow(name, pl.DataFrame({"k": [1], "v": [object()]}), mode="create")
    with pytest.raises(
        ifx.InterfaceError, match=r"DataFrame is not a table: Duplicate column names found: \['k', 'k'\]"
    ):
        conn.write_arrow(name, pd.DataFrame([[1, 2]], columns=["k", "k"]), mode="create")
    conn.execute(f"CREATE TABLE {name} (k INT, v VARCHAR(5))")
    with pytest.raises(ifx.ProgrammingError, match="The key names the column 'k' twice"):
        conn.write_arrow(name, SMALL, mode="upsert", key=["k", "K"])
    assert conn.read_arrow(f"SELECT * FROM {name}").num_rows == 0
