"""The cases of arrow-adbc's validation suite for drivers (c/validation) that can be run through our Python class.

Their names stand over the tests. In test_adbc_library.py, which asks the shared library: SqlSchema*,
SqlPrepareGetParameterSchema, MetadataGetStatisticNames, SqlPartitionedInts. Not expressible, because the calls are
refused (test_adbc_driver.py): MetadataCurrentDbSchema; because they are about C's handles: NewInit and Release of
databases and statements, ErrorCompatibility, SqlPrepareErrorNoQuery, MetadataGetObjectsCancel. SqlIngestInterval is
refused: Informix has no type for months, days and nanoseconds in one value. SqlIngestTemporaryAppend takes the call
without ``temporary=``.
"""

from __future__ import annotations

import datetime as dt
import itertools
import threading
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import informix_arrow as ifx
from adbc_driver_informix import dbapi
from informix_arrow.server import Server

NUMBERS = itertools.count()
ONE_ROW = "FROM systables WHERE tabid = 1"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    name = f"valid_{next(NUMBERS)}"
    server.create_database(name)
    yield server.url(name)
    server.drop_database(name)


@pytest.fixture
def conn(url: str) -> Iterator[dbapi.Connection]:
    with dbapi.connect(url, autocommit=True) as conn:
        yield conn


def sample(conn: dbapi.Connection, table: str = "bulk_ingest") -> pa.Table:
    """Create a table with the suite's own rows, and return them."""
    data = pa.table({"int64s": pa.array([42, -42, None], pa.int64()), "strings": ["foo", None, ""]})
    with conn.cursor() as cursor:
        assert cursor.adbc_ingest(table, data) == 3
    return data


def read(conn: dbapi.Connection, sql: str) -> pa.Table:
    with conn.cursor() as cursor:
        return cursor.execute(sql).fetch_arrow_table()


def objects(conn: dbapi.Connection, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = conn.adbc_get_objects(**asked).read_all().to_pylist()
    return found


def tables(conn: dbapi.Connection, **asked: Any) -> dict[str, dict[str, Any]]:
    return {
        table["table_name"]: table
        for catalog in objects(conn, catalog_filter=conn.adbc_current_catalog, **asked)
        for schema in catalog["catalog_db_schemas"] or ()
        for table in schema["db_schema_tables"] or ()
    }


# ---- connections -----------------------------------------------------------------------------------------------------


def test_release_and_concurrent(url: str) -> None:
    with dbapi.connect(url) as one, dbapi.connect(url) as other:
        one.close()
        with pytest.raises(dbapi.InterfaceError):
            one.cursor()
        other.ping()


def test_autocommit_default_and_toggle(url: str, conn: dbapi.Connection) -> None:
    """AutocommitDefault is off here, as in PEP 249, unless it is turned on."""
    with dbapi.connect(url) as other:
        assert other.autocommit is False
        other.autocommit = True
        other.autocommit = True
        assert other.autocommit is True
    assert conn.autocommit is True
    conn.commit()  # no effect without a transaction
    conn.rollback()


def test_metadata_current_catalog_and_get_info(conn: dbapi.Connection) -> None:
    assert conn.adbc_current_catalog == conn.database != ""
    info = conn.adbc_get_info()
    assert info["vendor_name"] == "Informix"
    assert info["driver_arrow_version"] == pa.__version__ or info["driver_arrow_version"].endswith(
        pa.__version__
    )
    assert info["driver_name"]


def test_metadata_get_table_schema(conn: dbapi.Connection) -> None:
    """MetadataGetTableSchema, -DbSchema, -NotFound, -Escaping."""
    data = sample(conn)
    for found in (
        conn.adbc_get_table_schema("bulk_ingest"),
        conn.adbc_get_table_schema("bulk_ingest", db_schema_filter="informix"),
    ):
        assert found.remove_metadata().names == data.schema.names
        assert [field.type for field in found] == [pa.int64(), pa.string()]
    with pytest.raises(dbapi.ProgrammingError, match="-206"):
        conn.adbc_get_table_schema("thistabledoesnotexist")
    with pytest.raises(dbapi.Error):
        conn.adbc_get_table_schema("(SELECT CURRENT_TIME)")
    assert read(conn, "SELECT COUNT(*) n FROM bulk_ingest")["n"].to_pylist() == [3]


def test_metadata_get_table_types(conn: dbapi.Connection) -> None:
    assert {"TABLE", "VIEW"} <= set(conn.adbc_get_table_types())


def test_metadata_get_objects_catalogs_and_schemas(conn: dbapi.Connection) -> None:
    here = conn.adbc_current_catalog
    sample(conn)
    catalogs = objects(conn, depth="catalogs")
    assert here in [each["catalog_name"] for each in catalogs]
    assert all(each["catalog_db_schemas"] is None for each in catalogs)
    assert objects(conn, depth="catalogs", catalog_filter="this catalog does not exist") == []
    [found] = objects(conn, depth="db_schemas", catalog_filter=here)
    assert "informix" in [each["db_schema_name"] for each in found["catalog_db_schemas"]]
    assert all(each["db_schema_tables"] is None for each in found["catalog_db_schemas"])
    [none] = objects(conn, depth="db_schemas", catalog_filter=here, db_schema_filter="nobody")
    assert none["catalog_db_schemas"] == []


def test_metadata_get_objects_tables_and_types(conn: dbapi.Connection) -> None:
    sample(conn)
    conn.execute("CREATE VIEW seen AS SELECT int64s FROM bulk_ingest")
    assert set(tables(conn, depth="tables", table_types_filter=["TABLE", "VIEW"])) == {"bulk_ingest", "seen"}
    assert set(tables(conn, depth="tables", table_types_filter=["VIEW"])) == {"seen"}
    assert tables(conn, depth="tables", table_types_filter=["no such type"]) == {}
    assert set(tables(conn, depth="tables", table_name_filter="bulk%")) == {"bulk_ingest"}
    assert tables(conn, depth="tables", table_name_filter="bulk_inges") == {}
    found = tables(conn, depth="tables")["bulk_ingest"]
    assert found["table_type"] == "TABLE"
    assert found["table_columns"] is None


def test_metadata_get_objects_columns(conn: dbapi.Connection) -> None:
    sample(conn)
    both = ["int64s", "strings"]
    for name, expected in ((None, both), ("in%", ["int64s"]), ("%s", both), ("no", [])):
        found = tables(conn, table_name_filter="bulk_ingest", column_name_filter=name)["bulk_ingest"]
        assert [each["column_name"] for each in found["table_columns"]] == expected
    numbers = [each["ordinal_position"] for each in tables(conn)["bulk_ingest"]["table_columns"]]
    assert numbers == [1, 2]


def test_metadata_get_objects_keys(conn: dbapi.Connection) -> None:
    """MetadataGetObjectsConstraints, -PrimaryKey, -ForeignKey."""
    conn.execute("CREATE TABLE parent_1 (id BIGINT PRIMARY KEY)")
    conn.execute("CREATE TABLE parent_2 (a BIGINT, b BIGINT, PRIMARY KEY (a, b))")
    conn.execute(
        "CREATE TABLE child (x BIGINT PRIMARY KEY, y BIGINT, z BIGINT, FOREIGN KEY (x) REFERENCES parent_1 (id), "
        "FOREIGN KEY (y, z) REFERENCES parent_2 (a, b))"
    )
    found = tables(conn)
    kinds = {
        (name, each["constraint_type"], tuple(each["constraint_column_names"]))
        for name in ("parent_1", "parent_2", "child")
        for each in found[name]["table_constraints"]
    }
    assert kinds == {
        ("parent_1", "PRIMARY KEY", ("id",)),
        ("parent_2", "PRIMARY KEY", ("a", "b")),
        ("child", "PRIMARY KEY", ("x",)),
        ("child", "FOREIGN KEY", ("x",)),
        ("child", "FOREIGN KEY", ("y", "z")),
    }
    [used] = [
        each["constraint_column_usage"]
        for each in found["child"]["table_constraints"]
        if each["constraint_column_names"] == ["y", "z"]
    ]
    assert [(each["fk_table"], each["fk_column_name"]) for each in used] == [
        ("parent_2", "a"),
        ("parent_2", "b"),
    ]


# ---- ingestion -------------------------------------------------------------------------------------------------------

DAY, MOMENT = dt.date(2026, 1, 31), dt.datetime(2026, 1, 31, 23, 59, 58)
INGESTED: list[tuple[str, pa.Array]] = [
    ("Bool", pa.array([True, False, None])),
    ("Int8", pa.array([-128, 127, 0, None], pa.int8())),
    ("Int16", pa.array([-32767, 32767, 0, None], pa.int16())),
    ("Int32", pa.array([-(2**31) + 1, 2**31 - 1, 0, None], pa.int32())),
    ("Int64", pa.array([-(2**63) + 1, 2**63 - 1, 0, None], pa.int64())),
    ("UInt8", pa.array([0, 255, None], pa.uint8())),
    ("UInt16", pa.array([0, 65535, None], pa.uint16())),
    ("UInt32", pa.array([0, 2**32 - 1, None], pa.uint32())),
    ("UInt64", pa.array([0, 2**64 - 1, None], pa.uint64())),
    ("Float32", pa.array([-1.5, 0.0, 3e38, None], pa.float32())),
    ("Float64", pa.array([-1.5, 0.0, 1e308, None], pa.float64())),
    ("String", pa.array(["", "foo", "réveil", None])),
    ("LargeString", pa.array(["", "foo", None], pa.large_string())),
    ("StringView", pa.array(["", "foo", None], pa.string_view())),
    ("Binary", pa.array([b"", b"\0\xff", None], pa.binary())),
    ("LargeBinary", pa.array([b"", b"\0\xff", None], pa.large_binary())),
    ("FixedSizeBinary", pa.array([b"abcd", None], pa.binary(4))),
    ("Date32", pa.array([DAY, dt.date(1, 1, 1), None])),
    ("Timestamp[s]", pa.array([MOMENT, None], pa.timestamp("s"))),
    ("Timestamp[ms]", pa.array([MOMENT, None], pa.timestamp("ms"))),
    ("Timestamp[us]", pa.array([MOMENT, None], pa.timestamp("us"))),
    ("Duration", pa.array([dt.timedelta(days=-1, seconds=3), None], pa.duration("us"))),
    ("ListOfInt32", pa.array([[1, 2], [], None], pa.list_(pa.int32()))),
    ("ListOfString", pa.array([["a", "é"], [], None], pa.list_(pa.string()))),
    ("StringDictionary", pa.array(["a", "b", "a", None]).dictionary_encode()),
]


@pytest.mark.parametrize(("name", "values"), INGESTED, ids=[name for name, _ in INGESTED])
def test_sql_ingest_type(conn: dbapi.Connection, name: str, values: pa.Array) -> None:
    """SqlIngest<type>: values and NULLs are read back unchanged, and so is the column after them."""
    data = pa.table({"k": range(len(values)), "col": values, "sentinel": [7] * len(values)})
    assert conn.cursor().adbc_ingest("typed", data) == len(values)
    found = read(conn, "SELECT * FROM typed ORDER BY k")
    assert found["col"].to_pylist() == values.to_pylist()
    assert found["sentinel"].to_pylist() == [7] * len(values)
    assert read(conn, "SELECT COUNT(*) n FROM typed WHERE col IS NULL AND sentinel = 7")["n"].to_pylist() == [
        1
    ]


def test_sql_ingest_interval_is_refused(conn: dbapi.Connection) -> None:
    values = pa.array([(1, 2, 3)], pa.month_day_nano_interval())
    with pytest.raises(dbapi.Error, match="col"):
        conn.cursor().adbc_ingest("typed", pa.table({"col": values}))
    assert tables(conn, depth="tables", table_types_filter=["TABLE"]) == {}
    conn.ping()


def test_sql_ingest_modes(conn: dbapi.Connection) -> None:
    """SqlIngestAppend, -Replace, -CreateAppend, -Errors, -Sample, -StreamZeroArrays, -MultipleConnections."""
    data = sample(conn)
    cursor = conn.cursor()
    with pytest.raises(dbapi.ProgrammingError, match="-310"):
        cursor.adbc_ingest("bulk_ingest", data)
    assert cursor.adbc_ingest("bulk_ingest", data, mode="append") == 3
    with pytest.raises(dbapi.ProgrammingError, match="-206"):
        cursor.adbc_ingest("absent", data, mode="append")
    with pytest.raises(dbapi.ProgrammingError, match="other"):
        cursor.adbc_ingest("bulk_ingest", data.append_column("other", [[1, 2, 3]]), mode="append")
    with pytest.raises(dbapi.ProgrammingError):
        cursor.adbc_ingest("bulk_ingest", pa.table({"int64s": [dt.date(2026, 1, 1)]}), mode="append")
    assert read(conn, "SELECT COUNT(*) n FROM bulk_ingest")["n"].to_pylist() == [6]
    assert cursor.adbc_ingest("bulk_ingest", data, mode="replace") == 3
    assert cursor.adbc_ingest("bulk_ingest", data, mode="create_append") == 3
    assert cursor.adbc_ingest("new", data, mode="create_append") == 3
    assert cursor.adbc_ingest("empty", pa.RecordBatchReader.from_batches(data.schema, [])) == 0
    assert read(conn, "SELECT * FROM empty").schema.names == data.schema.names
    assert read(conn, "SELECT COUNT(*) n FROM bulk_ingest WHERE strings IS NULL")["n"].to_pylist() == [2]


def test_sql_ingest_is_seen_by_other_connections(url: str, conn: dbapi.Connection) -> None:
    data = sample(conn)
    with dbapi.connect(url) as other:
        found = read(other, "SELECT * FROM bulk_ingest ORDER BY int64s")
    assert sorted(found["strings"].to_pylist(), key=str) == sorted(data["strings"].to_pylist(), key=str)


def test_sql_ingest_targets(conn: dbapi.Connection) -> None:
    """SqlIngestTargetCatalog, -Schema, -CatalogSchema."""
    data, cursor = sample(conn), conn.cursor()
    here = conn.adbc_current_catalog
    assert cursor.adbc_ingest("bulk_ingest", data, mode="append", catalog_name=here) == 3
    assert cursor.adbc_ingest("bulk_ingest", data, mode="append", db_schema_name="informix") == 3
    both = {"catalog_name": here, "db_schema_name": "informix"}
    assert cursor.adbc_ingest("bulk_ingest", data, mode="append", **both) == 3
    with pytest.raises(dbapi.Error):
        cursor.adbc_ingest("bulk_ingest", data, mode="append", catalog_name="no_such_database")
    assert read(conn, "SELECT COUNT(*) n FROM bulk_ingest")["n"].to_pylist() == [12]


def test_sql_ingest_temporary(url: str, conn: dbapi.Connection) -> None:
    """SqlIngestTemporary, -Append, -Replace. Not -Exclusive: in Informix a temporary table may have an owner."""
    data, cursor = pa.table({"ints": [1, 2], "sentinel": [7, 7]}), conn.cursor()
    assert cursor.adbc_ingest("passing", data, temporary=True) == 2
    with pytest.raises(dbapi.InterfaceError, match="temporary"):
        cursor.adbc_ingest("passing", data, mode="append", temporary=True)
    assert cursor.adbc_ingest("passing", data, mode="append") == 2
    assert read(conn, "SELECT COUNT(*) n FROM passing")["n"].to_pylist() == [4]
    assert cursor.adbc_ingest("passing", data, mode="replace", temporary=True) == 2
    assert read(conn, "SELECT COUNT(*) n FROM passing")["n"].to_pylist() == [2]
    with dbapi.connect(url) as other, pytest.raises(dbapi.ProgrammingError, match="-206"):
        read(other, "SELECT * FROM passing")


def test_sql_ingest_escaping(conn: dbapi.Connection, url: str) -> None:
    """SqlIngestTableEscaping, -ColumnEscaping: names that need quotes require DELIMIDENT, and are refused without
    it."""
    odd = pa.table({"index": [42], "a b": [7]})
    with pytest.raises(dbapi.Error):
        conn.cursor().adbc_ingest("create", odd)
    with dbapi.connect(url, autocommit=True, env={"DELIMIDENT": "y"}) as exact:
        assert exact.cursor().adbc_ingest("create", odd) == 1
        found = read(exact, 'SELECT * FROM "create"')
    assert found.to_pylist() == odd.to_pylist()


def test_sql_ingest_primary_key(conn: dbapi.Connection) -> None:
    conn.execute("CREATE TABLE keyed (id BIGSERIAL PRIMARY KEY, value BIGINT)")
    for values in ([42, -42], [1, None]):
        assert (
            conn.cursor().adbc_ingest(
                "keyed", pa.table({"value": pa.array(values, pa.int64())}), mode="append"
            )
            == 2
        )
    found = read(conn, "SELECT * FROM keyed ORDER BY id")
    assert found.to_pydict() == {"id": [1, 2, 3, 4], "value": [42, -42, 1, None]}


# ---- statements ------------------------------------------------------------------------------------------------------


def test_sql_prepare_select_and_bind(conn: dbapi.Connection) -> None:
    """SqlPrepareSelectNoParams, -SelectParams, -ErrorParamCountMismatch, SqlBind."""
    assert read(conn, f"SELECT 1 n {ONE_ROW}").to_pydict() == {"n": [1]}
    cursor = conn.cursor()
    cursor.execute(f"SELECT CAST(? AS BIGINT) a, CAST(? AS VARCHAR(9)) b {ONE_ROW}", (42, "foo"))
    assert cursor.fetch_arrow_table().to_pydict() == {"a": [42], "b": ["foo"]}
    for wrong in ((), (1,), (1, 2, 3)):
        with pytest.raises(dbapi.ProgrammingError):
            cursor.execute(f"SELECT CAST(? AS INT), CAST(? AS INT) {ONE_ROW}", wrong)
    cursor.execute("CREATE TABLE bindtest (col1 INTEGER, col2 VARCHAR(9))")
    cursor.executemany(
        "INSERT INTO bindtest VALUES (?, ?)",
        pa.table({"1": pa.array([None, -123, 123], pa.int32()), "2": ["abc", None, "defg"]}),
    )
    assert cursor.rowcount == 3
    assert read(conn, "SELECT * FROM bindtest ORDER BY col2 DESC").to_pydict() == {
        "col1": [123, None, -123], "col2": ["defg", "abc", None]
    }  # fmt: skip


def test_sql_prepare_update(conn: dbapi.Connection) -> None:
    """SqlPrepareUpdate, -UpdateNoParams, -UpdateStream."""
    sample(conn)
    cursor = conn.cursor()
    cursor.executemany("INSERT INTO bulk_ingest VALUES (?, ?)", pa.table({"a": [1, 2], "b": ["x", "y"]}))
    cursor.executemany("INSERT INTO bulk_ingest VALUES (?, ?)", pa.table({"a": [3], "b": ["z"]}).to_reader())
    assert cursor.execute("UPDATE bulk_ingest SET strings = 'new' WHERE int64s = 1").rowcount == 1
    found = read(conn, "SELECT strings FROM bulk_ingest WHERE int64s BETWEEN 1 AND 3 ORDER BY int64s")
    assert found["strings"].to_pylist() == ["new", "y", "z"]


def test_sql_query(conn: dbapi.Connection) -> None:
    """SqlQueryEmpty, -Ints, -Floats, -Strings, -Errors, -TrailingSemicolons."""
    cursor = conn.cursor()
    assert cursor.execute("CREATE TABLE queryempty (foo INT)").description is None
    assert read(conn, "SELECT * FROM queryempty").to_pydict() == {"foo": []}
    assert read(conn, f"SELECT 42 n {ONE_ROW}").to_pydict() == {"n": [42]}
    assert read(conn, f"SELECT CAST(1.5 AS FLOAT) n {ONE_ROW}").to_pydict() == {"n": [1.5]}
    assert read(conn, f"SELECT 'SaShiSuSeSo' s {ONE_ROW}").to_pydict() == {"s": ["SaShiSuSeSo"]}
    assert read(conn, f"SELECT 7 n {ONE_ROW};").to_pydict() == {"n": [7]}
    for wrong in ("", "   ", "this is not a query"):
        with pytest.raises(dbapi.Error):
            cursor.execute(wrong)
    assert cursor.execute(f"SELECT 7 {ONE_ROW}").fetchall() == [(7,)]


def test_sql_query_rows_affected(conn: dbapi.Connection) -> None:
    """SqlQueryRowsAffectedDelete, -DeleteStream."""
    sample(conn)
    assert conn.execute("DELETE FROM bulk_ingest WHERE int64s = 42").rowcount == 1
    assert conn.execute("DELETE FROM bulk_ingest WHERE int64s = 42").rowcount == 0
    assert conn.execute("SELECT * FROM bulk_ingest").rowcount == -1


def test_transactions(url: str, conn: dbapi.Connection) -> None:
    """Transactions, SqlQueryInsertRollback."""
    sample(conn)
    with dbapi.connect(url) as one:
        one.execute("INSERT INTO bulk_ingest VALUES (1, 'x')")
        assert one.execute("SELECT COUNT(*) FROM bulk_ingest").fetchall() == [(4,)]
        one.rollback()
        assert one.execute("SELECT COUNT(*) FROM bulk_ingest").fetchall() == [(3,)]
        rows = pa.table({"int64s": [9], "strings": ["kept"]})
        one.cursor().adbc_ingest("bulk_ingest", rows, mode="append")
        one.rollback()
        assert one.execute("SELECT COUNT(*) FROM bulk_ingest").fetchall() == [(3,)]
        one.cursor().adbc_ingest("bulk_ingest", rows, mode="append")
        one.commit()
        one.execute("CREATE TABLE undone (n INT)")
        one.rollback()
    assert conn.execute("SELECT COUNT(*) FROM bulk_ingest").fetchall() == [(4,)]
    with pytest.raises(dbapi.ProgrammingError, match="-206"):
        conn.execute("SELECT * FROM undone")


def test_sql_query_cancel(conn: dbapi.Connection) -> None:
    sample(conn, "numbers")
    conn.cursor().adbc_ingest(
        "numbers", pa.table({"int64s": range(2000), "strings": [""] * 2000}), mode="replace"
    )
    ended = threading.Event()

    def cancel() -> None:
        while not ended.wait(0.05):  # a cancel before the statement does nothing
            conn.adbc_cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        with pytest.raises(ifx.QueryCanceled):
            conn.execute("SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d").fetchall()
    finally:
        ended.set()
        thread.join()
    assert conn.execute(f"SELECT 7 {ONE_ROW}").fetchall() == [(7,)]


def test_results_are_independent_of_each_other_and_end_with_their_statement(conn: dbapi.Connection) -> None:
    """ConcurrentStatements, ResultIndependence, ResultInvalidation."""
    sample(conn)
    one, other = conn.cursor(), conn.cursor()
    first = one.execute("SELECT int64s FROM bulk_ingest ORDER BY 1").fetch_record_batch()
    second = other.execute("SELECT strings FROM bulk_ingest WHERE strings = 'foo'").fetch_record_batch()
    assert second.read_all().to_pydict() == {"strings": ["foo"]}
    other.close()
    assert first.read_all().num_rows == 3
    stale = one.execute("SELECT int64s FROM bulk_ingest").fetch_record_batch()
    assert one.execute(f"SELECT 7 n {ONE_ROW}").fetch_arrow_table().to_pydict() == {"n": [7]}
    with pytest.raises(dbapi.Error):
        stale.read_all()
