"""The ADBC driver as a shared library, used through the driver manager's low-level API and its dbapi.

The names of arrow-adbc's validation cases (c/validation) stand in docstrings. The library runs in this Python; other
programs are in test_adbc_programs.py.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import gc
import itertools
import os
import re
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import adbc_driver_manager as manager
import pyarrow as pa
import pytest
from adbc_driver_manager import dbapi

from adbc_driver_informix import abi
from adbc_driver_informix.library import libpython_path, library_path
from adbc_driver_informix.streams import Stream
from informix_arrow.server import Server

NUMBERS = itertools.count()
ONE_ROW = "FROM systables WHERE tabid = 1"
ISOLATION = "adbc.connection.transaction.isolation"
Status = manager.AdbcStatusCode
DRIVER = str(library_path())


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    name = f"library_{next(NUMBERS)}"
    server.create_database(name)
    yield server.url(name)
    server.drop_database(name)


@pytest.fixture
def db(url: str) -> Iterator[manager.AdbcDatabase]:
    with manager.AdbcDatabase(driver=DRIVER, uri=url) as db:
        yield db


@pytest.fixture
def conn(db: manager.AdbcDatabase) -> Iterator[manager.AdbcConnection]:
    with manager.AdbcConnection(db) as conn:
        yield conn


def table(stream: Any) -> pa.Table:
    return pa.RecordBatchReader.from_stream(stream).read_all()


def run(conn: manager.AdbcConnection, sql: str, parameters: Any = None, **options: Any) -> pa.Table:
    with manager.AdbcStatement(conn) as statement:
        statement.set_options(**options)
        statement.set_sql_query(sql)
        if parameters is not None:
            statement.bind_stream(parameters)
        stream, _ = statement.execute_query()
        return table(stream)


def update(conn: manager.AdbcConnection, sql: str, parameters: Any = None) -> int:
    with manager.AdbcStatement(conn) as statement:
        statement.set_sql_query(sql)
        if parameters is not None:
            statement.bind_stream(parameters)
        rows: int = statement.execute_update()
        return rows


def ingest(conn: manager.AdbcConnection, name: str, data: Any, mode: str = "create", **options: str) -> int:
    with manager.AdbcStatement(conn) as statement:
        statement.set_options(
            **{"adbc.ingest.target_table": name, "adbc.ingest.mode": f"adbc.ingest.mode.{mode}"}
        )
        statement.set_options(**{f"adbc.ingest.{key}": value for key, value in options.items()})
        statement.bind_stream(data)
        rows: int = statement.execute_update()
        return rows


def sample(conn: manager.AdbcConnection, name: str = "bulk_ingest") -> pa.Table:
    data = pa.table({"int64s": pa.array([42, -42, None], pa.int64()), "strings": ["foo", None, "é"]})
    assert ingest(conn, name, data) == 3
    return data


def refusal(code: manager.AdbcStatusCode, text: str = "") -> Any:
    return pytest.raises(manager.Error, check=lambda e: e.status_code == code and text in str(e))


# ---- the interface in C ----------------------------------------------------------------------------------------------


def test_the_structures_are_those_of_the_header(tmp_path: Path) -> None:
    """Sizes and offsets of all fields equal those in the header of the driver manager's wheel."""
    ours = Path(__file__).parents[2] / "src" / "adbc_driver_informix"
    theirs = Path(manager.__file__).parent / "arrow-adbc"
    text = re.sub(r"/\*.*?\*/", "", (ours / "adbc_abi.h").read_text(), flags=re.DOTALL)
    parts = re.findall(r"^struct (\w+) \{(.*?)\};?$", text, flags=re.DOTALL | re.MULTILINE)
    places = []
    for struct, body in parts:
        for macro in ("GETTERS", "SETTERS"):
            names = re.search(
                rf"define ADBC_{macro}\(KIND\)(.*?;)\s*(?=#|\n\n|struct)", text, flags=re.DOTALL
            )
            assert names is not None
            expand = names[1].replace("\\\n", "")
            body = re.sub(rf"ADBC_{macro}\((\w+)\)", lambda m, e=expand: e.replace("KIND##", m[1]), body)  # type: ignore[misc]
        for declaration in filter(None, map(str.strip, body.split(";"))):
            function = re.search(r"\(\*\s*(\w+)\)\(", declaration)
            fields = [function[1]] if function else re.findall(r"(\w+)(?:\[\d+\])?(?:,|$)", declaration)
            places += [f"offsetof(struct {struct}, {field})" for field in fields]
        places.append(f"sizeof(struct {struct})")
    assert len(places) > 100
    assert sum("AdbcDriver," in each for each in places) == 58
    lines = "".join(f'printf("{place} %zu\\n", {place});' for place in places)
    found = []
    for folder, header in ((ours, "adbc_abi.h"), (theirs, "adbc.h")):
        program = tmp_path / f"{folder.name}.c"
        program.write_text(
            f'#include <stddef.h>\n#include <stdio.h>\n#include "{header}"\nint main(void) {{{lines}}}\n'
        )
        subprocess.run(["cc", f"-I{folder}", str(program), "-o", str(tmp_path / folder.name)], check=True)
        shown = subprocess.run([str(tmp_path / folder.name)], capture_output=True, text=True, check=True)
        found.append(shown.stdout)
    assert found[0] == found[1]


class Error10(ctypes.Structure):
    """AdbcError of ADBC 1.0."""

    _fields_ = (
        ("message", ctypes.c_char_p),
        ("vendor_code", ctypes.c_int32),
        ("sqlstate", ctypes.c_char * 5),
        ("release", ctypes.c_void_p),
    )


def test_a_caller_of_adbc_1_0_gets_the_functions_of_1_0() -> None:
    """The driver writes nothing beyond the structures of 1.0. The vendor code is in its own field there."""
    library = ctypes.CDLL(DRIVER)
    functions_of_1_0 = 29
    words = (ctypes.c_size_t * 90)(*[0x5A5A] * 90)
    error = Error10()
    assert library.AdbcDriverInit(1_000_000, words, ctypes.byref(error)) == 0
    assert all(word != 0x5A5A for word in words[2:functions_of_1_0])
    assert set(words[functions_of_1_0:]) == {0x5A5A}
    assert library.AdbcDriverInit(1_001_000, words, None) == 0
    assert sum(word != 0x5A5A for word in words) == 57  # all functions except the manager's own
    assert library.AdbcDriverInit(2_000_000, words, ctypes.byref(error)) == Status.NOT_IMPLEMENTED
    assert error.message == b"ADBC 1.0 and 1.1 are supported."
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(error.release)(ctypes.byref(error))
    assert error.message is None
    assert library.AdbcDriverInformixInit(1_000_000, words, None) == 0
    assert library.AdbcDriverInit(1_001_000, None, None) == Status.INVALID_ARGUMENT


# ---- databases and connections ---------------------------------------------------------------------------------------


def test_databases_and_connections_are_opened_and_released(url: str) -> None:
    """NewInit, Release, Concurrent."""
    db = manager.AdbcDatabase(driver=DRIVER, uri=url)
    one, other = manager.AdbcConnection(db), manager.AdbcConnection(db)
    update(one, "CREATE TABLE seen (n INT)")
    one.close()
    assert run(other, "SELECT * FROM seen").num_rows == 0
    other.close()
    db.close()
    with refusal(Status.INVALID_ARGUMENT, "host"):
        manager.AdbcDatabase(driver=DRIVER, uri="informix:///")
    with manager.AdbcDatabase(
        driver=DRIVER, uri="informix://u:geheim@127.0.0.1:1/x?connect_timeout=2"
    ) as nobody:
        with refusal(Status.IO) as caught:
            manager.AdbcConnection(nobody)
        assert "geheim" not in str(caught.value)


def test_options_of_databases(url: str) -> None:
    with manager.AdbcDatabase(
        driver=DRIVER, uri=url, username="informix", password="in4mix", lock_wait="3"
    ) as db:
        db.set_options(fetch_buffer_size=65536, call_timeout=7.5)
        assert db.get_option("username") == "informix"
        assert (db.get_option_int("lock_wait"), db.get_option_float("lock_wait")) == (3, 3.0)
        assert (db.get_option("fetch_buffer_size"), db.get_option_bytes("fetch_buffer_size")) == (
            "65536",
            b"65536",
        )
        assert (db.get_option_float("call_timeout"), db.get_option("call_timeout")) == (7.5, "7.5")
        with refusal(Status.NOT_FOUND, "cannot be read"):
            db.get_option("password")
        with refusal(Status.NOT_FOUND, "'lok_wait'"):
            db.get_option("lok_wait")
        with refusal(Status.NOT_IMPLEMENTED, "'lok_wait'"):
            db.set_options(lok_wait="3")
        with refusal(Status.INVALID_ARGUMENT, "whole number"):
            db.get_option_int("username")
        with manager.AdbcConnection(db, application="report") as conn:
            assert conn.get_option("application") == "report"
            assert run(conn, f"SELECT 7 n {ONE_ROW}").to_pydict() == {"n": [7]}
            with refusal(Status.INVALID_STATE, "before the connection is open"):
                conn.set_options(application="other")
    secret = "informix://u:geheim@h:9088/d"
    with manager.AdbcDatabase(driver=DRIVER, uri=secret) as db:
        assert "geheim" not in db.get_option("uri")
        assert "u" in db.get_option("uri")


def test_autocommit_default_and_toggle(
    url: str, conn: manager.AdbcConnection, db: manager.AdbcDatabase
) -> None:
    """AutocommitDefault, AutocommitToggle, Transactions, SqlQueryInsertRollback."""
    sample(conn)
    assert conn.get_option("adbc.connection.autocommit") == "true"
    for ending in (conn.commit, conn.rollback):
        with refusal(Status.INVALID_STATE, "autocommit"):
            ending()
    conn.set_autocommit(False)
    conn.set_autocommit(False)
    assert conn.get_option("adbc.connection.autocommit") == "false"
    update(conn, "INSERT INTO bulk_ingest VALUES (1, 'x')")
    conn.rollback()
    assert run(conn, "SELECT COUNT(*) n FROM bulk_ingest")["n"].to_pylist() == [3]
    update(conn, "INSERT INTO bulk_ingest VALUES (2, 'y')")
    conn.commit()
    update(conn, "INSERT INTO bulk_ingest VALUES (3, 'z')")
    conn.set_autocommit(True)  # commits
    with manager.AdbcConnection(db) as other:
        assert run(other, "SELECT COUNT(*) n FROM bulk_ingest")["n"].to_pylist() == [5]
    with manager.AdbcConnection(db, **{"adbc.connection.autocommit": "false"}) as other:
        assert other.get_option("adbc.connection.autocommit") == "false"
    with refusal(Status.INVALID_ARGUMENT, "'true' or 'false'"):
        conn.set_options(**{"adbc.connection.autocommit": "off"})
    with (
        manager.AdbcDatabase(driver=DRIVER, uri=f"{url}&autocommit=false") as off,
        manager.AdbcConnection(off) as other,
    ):
        assert other.get_option("adbc.connection.autocommit") == "false"


def test_isolation_levels(conn: manager.AdbcConnection, db: manager.AdbcDatabase) -> None:
    key = f"{ISOLATION}_level"
    assert conn.get_option(key) == f"{ISOLATION}.default"
    for level in ("read_uncommitted", "read_committed", "repeatable_read", "serializable", "default"):
        conn.set_options(**{key: f"{ISOLATION}.{level}"})
        assert conn.get_option(key) == f"{ISOLATION}.{level}"
        assert run(conn, f"SELECT 7 n {ONE_ROW}").to_pydict() == {"n": [7]}
    for level in ("snapshot", "linearizable"):
        with refusal(Status.NOT_IMPLEMENTED, level):
            conn.set_options(**{key: f"{ISOLATION}.{level}"})
    with manager.AdbcConnection(db, **{key: f"{ISOLATION}.read_uncommitted"}) as other:
        assert other.get_option(key) == f"{ISOLATION}.read_uncommitted"


def test_current_catalog(server: Server, conn: manager.AdbcConnection, db: manager.AdbcDatabase) -> None:
    """MetadataCurrentCatalog, MetadataCurrentDbSchema."""
    name = f"library_{next(NUMBERS)}"
    server.create_database(name)
    before = conn.get_option("adbc.connection.catalog")
    conn.set_options(**{"adbc.connection.catalog": name})
    assert conn.get_option("adbc.connection.catalog") == name != before
    with manager.AdbcConnection(db, **{"adbc.connection.catalog": name}) as other:
        assert other.get_option("adbc.connection.catalog") == name
    with refusal(Status.NOT_FOUND, "-329"):
        conn.set_options(**{"adbc.connection.catalog": "no_such_database"})
    with refusal(Status.INVALID_ARGUMENT, "not a database's name"):
        conn.set_options(**{"adbc.connection.catalog": "x; DROP DATABASE y"})
    with refusal(Status.NOT_IMPLEMENTED, "owner.table"):
        conn.set_options(**{"adbc.connection.db_schema": "informix"})
    with refusal(Status.NOT_FOUND):
        conn.get_option("adbc.connection.db_schema")


def test_unknown_options_are_refused_by_name(conn: manager.AdbcConnection) -> None:
    for value in ("x", b"x", 7, 7.5):
        with refusal(Status.NOT_IMPLEMENTED, "'no.such.option'"):
            conn.set_options(**{"no.such.option": value})
        with manager.AdbcStatement(conn) as statement, refusal(Status.NOT_IMPLEMENTED, "'no.such.option'"):
            statement.set_options(**{"no.such.option": value})
    for read in (conn.get_option, conn.get_option_bytes, conn.get_option_int, conn.get_option_float):
        with refusal(Status.NOT_FOUND, "'no.such.option'"):
            read("no.such.option")
    conn.set_options(**{"adbc.connection.readonly": "false"})
    with refusal(Status.NOT_IMPLEMENTED, "read-only"):
        conn.set_options(**{"adbc.connection.readonly": "true"})


def test_options_of_statements(conn: manager.AdbcConnection) -> None:
    with manager.AdbcStatement(conn) as statement:
        statement.set_options(**{"adbc.informix.batch_rows": 100, "adbc.informix.timeout": "2.5"})
        assert statement.get_option_int("adbc.informix.batch_rows") == 100
        assert statement.get_option("adbc.informix.batch_rows") == "100"
        assert statement.get_option_float("adbc.informix.timeout") == 2.5
        long = "t" * 5000  # longer than the caller's first buffer
        statement.set_options(**{"adbc.ingest.target_table": long})
        assert statement.get_option("adbc.ingest.target_table") == long
        assert statement.get_option_bytes("adbc.ingest.target_table") == long.encode()
        with refusal(Status.INVALID_ARGUMENT, "whole number"):
            statement.set_options(**{"adbc.informix.batch_rows": "many"})
        with refusal(Status.INVALID_ARGUMENT, "adbc.ingest.mode.append"):
            statement.set_options(**{"adbc.ingest.mode": "adbc.ingest.mode.upsert"})
        with refusal(Status.NOT_IMPLEMENTED, "incremental"):
            statement.set_options(**{"adbc.statement.exec.incremental": "true"})


def test_read_options(conn: manager.AdbcConnection) -> None:
    ingest(conn, "many", pa.table({"n": range(1000), "s": ["x"] * 1000}))
    update(conn, "CREATE TABLE padded (c CHAR(5), d DECIMAL(8,2))")
    update(conn, "INSERT INTO padded VALUES ('ab', 1.25)")
    assert len(run(conn, "SELECT * FROM many", **{"adbc.informix.batch_rows": 100})["n"].chunks) == 10
    assert run(conn, "SELECT s FROM many", **{"adbc.informix.strings": "large"}).schema.types == [
        pa.large_string()
    ]
    kept = run(conn, "SELECT * FROM padded", **{"adbc.informix.char_padding": "keep", "adbc.informix.decimals": "float64"})  # fmt: skip # noqa: E501
    assert kept.to_pylist() == [{"c": "ab   ", "d": 1.25}]
    assert run(conn, "SELECT * FROM padded").to_pylist() == [{"c": "ab", "d": Decimal("1.25")}]
    with refusal(Status.INVALID_ARGUMENT, "strings"):
        run(conn, "SELECT * FROM many", **{"adbc.informix.strings": "loud"})


# ---- metadata --------------------------------------------------------------------------------------------------------


def test_metadata_get_info(conn: manager.AdbcConnection) -> None:
    """MetadataGetInfo."""
    found = table(conn.get_info())
    values = dict(zip(found["info_name"].to_pylist(), found["info_value"].to_pylist(), strict=True))
    assert values[0] == "Informix"
    assert (values[3], values[4], values[103]) == (True, False, 1_001_000)
    assert values[102] == pa.__version__
    assert found.schema.field("info_name") == pa.field("info_name", pa.uint32(), nullable=False)
    assert table(conn.get_info([103, 0, 9999]))["info_name"].to_pylist() == [103, 0]
    assert table(conn.get_info([2])).num_rows == 0


def test_metadata_get_objects(conn: manager.AdbcConnection) -> None:
    """MetadataGetObjectsCatalogs, -DbSchemas, -Tables, -TablesTypes, -Columns, -PrimaryKey, -ForeignKey."""
    sample(conn)
    update(conn, "CREATE TABLE parent (id BIGINT PRIMARY KEY)")
    update(conn, "CREATE TABLE child (x BIGINT REFERENCES parent (id))")
    update(conn, "CREATE VIEW seen AS SELECT int64s FROM bulk_ingest")
    here = conn.get_option("adbc.connection.catalog")
    depth = manager.GetObjectsDepth

    def tables(level: manager.GetObjectsDepth = depth.TABLES, **asked: Any) -> dict[str, dict[str, Any]]:
        rows = table(conn.get_objects(level, catalog=here, **asked)).to_pylist()
        return {
            each["table_name"]: each
            for row in rows
            for schema in row["catalog_db_schemas"] or ()
            for each in schema["db_schema_tables"] or ()
        }

    catalogs = table(conn.get_objects(depth.CATALOGS))
    assert here in catalogs["catalog_name"].to_pylist()
    assert set(catalogs["catalog_db_schemas"].to_pylist()) == {None}
    for level in (depth.DB_SCHEMAS, depth.TABLES, depth.ALL):  # only the names of other databases
        found = {
            row["catalog_name"]: row["catalog_db_schemas"]
            for row in table(conn.get_objects(level)).to_pylist()
        }
        assert found.pop(here)
        assert found
        assert all(schemas == [] for schemas in found.values())
    [row] = table(conn.get_objects(depth.DB_SCHEMAS, catalog=here)).to_pylist()
    assert "informix" in [each["db_schema_name"] for each in row["catalog_db_schemas"]]
    assert {"bulk_ingest", "seen"} <= set(tables())
    assert set(tables(table_types=["VIEW"])) == {"seen"}
    assert tables(table_types=["no such type"]) == {}
    assert set(tables(table_name="bulk%")) == {"bulk_ingest"}
    found = tables(depth.ALL, table_name="bulk_ingest", column_name="in%")["bulk_ingest"]
    assert [each["column_name"] for each in found["table_columns"]] == ["int64s"]
    kinds = {each["constraint_type"] for each in tables(depth.ALL)["child"]["table_constraints"]}
    assert kinds == {"FOREIGN KEY"}


def test_metadata_get_table_schema_and_types(conn: manager.AdbcConnection) -> None:
    """MetadataGetTableSchema, -DbSchema, -NotFound, -Escaping, MetadataGetTableTypes."""
    data = sample(conn)
    for owner in (None, "informix"):
        found = pa.schema(conn.get_table_schema(None, owner, "bulk_ingest"))
        assert found.remove_metadata().names == data.schema.names
    with refusal(Status.NOT_FOUND, "-206"):
        conn.get_table_schema(None, None, "thistabledoesnotexist")
    with refusal(Status.INVALID_ARGUMENT):
        conn.get_table_schema(None, None, "(SELECT CURRENT_TIME)")
    assert {"TABLE", "VIEW"} <= set(table(conn.get_table_types())["table_type"].to_pylist())


def test_metadata_get_statistics(conn: manager.AdbcConnection) -> None:
    """MetadataGetStatisticNames. The embedded server has no statistics; test_statistics.py has tests with
    statistics."""
    here = conn.get_option("adbc.connection.catalog")
    found = table(conn.get_statistics(None, None, None, True))
    assert found.to_pylist() == [{"catalog_name": here, "catalog_db_schemas": []}]
    names = table(conn.get_statistic_names())
    assert (names.num_rows, names.schema.names) == (0, ["statistic_name", "statistic_key"])


# ---- statements ------------------------------------------------------------------------------------------------------


def test_prepared_statements_and_parameters(conn: manager.AdbcConnection) -> None:
    """SqlPrepareGetParameterSchema, -SelectNoParams, -SelectParams, -ErrorParamCountMismatch, -ErrorNoQuery,
    SqlBind.
    """
    sample(conn)
    with manager.AdbcStatement(conn) as statement:
        for refused in (
            statement.prepare,
            statement.execute_query,
            statement.execute_update,
            statement.execute_schema,
        ):
            with refusal(Status.INVALID_STATE):
                refused()
        statement.set_sql_query("INSERT INTO bulk_ingest VALUES (?, ?)")
        statement.prepare()
        found = pa.schema(statement.get_parameter_schema())
        assert (found.names, found.types) == (["int64s", "strings"], [pa.int64(), pa.string()])
        with refusal(Status.INVALID_ARGUMENT):
            statement.execute_update()
        statement.bind(pa.record_batch({"1": pa.array([7, None], pa.int32()), "2": ["a", "b"]}))
        assert statement.execute_update() == 2
        statement.set_sql_query(f"SELECT CAST(? AS BIGINT) a, CAST(? AS VARCHAR(9)) b {ONE_ROW}")
        statement.prepare()
        statement.bind(pa.record_batch({"1": [42, -42, None], "2": ["x", None, "é"]}))
        stream, rows = statement.execute_query()
        assert rows == -1
        assert table(stream).to_pydict() == {"a": [42, -42, None], "b": ["x", None, "é"]}
        for wrong in (pa.record_batch({"1": [42]}), pa.record_batch({"1": [42, -42, None]})):
            statement.bind(wrong)
            with refusal(Status.INVALID_ARGUMENT, "2 placeholders"):
                statement.execute_query()
        statement.bind(pa.record_batch({"1": [1], "2": ["one"]}))
        assert table(statement.execute_query()[0]).to_pydict() == {"a": [1], "b": ["one"]}
        statement.bind(pa.record_batch({"1": pa.array([], pa.int64()), "2": pa.array([], pa.string())}))
        assert table(statement.execute_query()[0]).to_pydict() == {"a": [], "b": []}
    assert run(conn, "SELECT COUNT(*) n FROM bulk_ingest WHERE int64s = 7")["n"].to_pylist() == [1]


def test_updates(conn: manager.AdbcConnection) -> None:
    """SqlPrepareUpdate, -UpdateNoParams, -UpdateStream, SqlQueryRowsAffectedDelete, -DeleteStream."""
    sample(conn)
    data = pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    assert update(conn, "INSERT INTO bulk_ingest VALUES (?, ?)", data.to_reader(1)) == 3
    assert update(conn, "UPDATE bulk_ingest SET strings = 'new' WHERE int64s > 1") == 3
    assert update(conn, "DELETE FROM bulk_ingest WHERE int64s = 42") == 1
    with manager.AdbcStatement(conn) as statement:
        statement.set_sql_query("DELETE FROM bulk_ingest WHERE int64s = 1")
        stream, rows = statement.execute_query()
        assert rows == 1
        assert table(stream).num_columns == 0
    assert update(conn, "SELECT * FROM bulk_ingest") == -1


def test_a_function_is_executed_for_each_row_of_parameters(conn: manager.AdbcConnection) -> None:
    """The function is executed up to its last row, also if its results are not requested."""
    update(conn, "CREATE TABLE noted (n INT, behind INT)")
    update(
        conn,
        "CREATE FUNCTION note(x INT) RETURNING INT; DEFINE i INT; FOR i = 1 TO 2 INSERT INTO noted VALUES (x, i); "
        "RETURN x + i WITH RESUME; END FOR END FUNCTION",
    )
    assert update(conn, "EXECUTE FUNCTION note(?)", pa.table({"x": [10, 20, 30]}).to_reader()) == -1
    assert update(conn, "EXECUTE FUNCTION note(?)", pa.table({"x": [40]}).to_reader()) == -1
    assert run(conn, "EXECUTE FUNCTION note(?)", pa.table({"x": [50, 60]}).to_reader()).column(
        0
    ).to_pylist() == [51, 52, 61, 62]
    found = run(conn, "SELECT n, behind FROM noted ORDER BY 1, 2")
    assert found["n"].to_pylist() == sorted([*range(10, 70, 10)] * 2)
    assert found["behind"].to_pylist() == [1, 2] * 6


def test_execute_schema(conn: manager.AdbcConnection) -> None:
    """SqlSchemaInts, -Floats, -Strings, -Errors."""
    sample(conn)
    with manager.AdbcStatement(conn) as statement:
        statement.set_sql_query(
            "SELECT int64s, strings, CAST(1.5 AS FLOAT) f FROM bulk_ingest WHERE int64s = ?"
        )
        found = pa.schema(statement.execute_schema())
        assert (found.names, found.types) == (
            ["int64s", "strings", "f"],
            [pa.int64(), pa.string(), pa.float64()],
        )
        statement.set_sql_query("SELECT nope FROM bulk_ingest")
        with refusal(Status.INVALID_ARGUMENT, "-217"):
            statement.execute_schema()
        statement.set_sql_query("DELETE FROM bulk_ingest")
        assert len(pa.schema(statement.execute_schema())) == 0
    assert run(conn, "SELECT COUNT(*) n FROM bulk_ingest")["n"].to_pylist() == [3]


def test_queries(conn: manager.AdbcConnection) -> None:
    """SqlQueryEmpty, -Ints, -Floats, -Strings, -Errors, -TrailingSemicolons."""
    update(conn, "CREATE TABLE queryempty (foo INT)")
    with manager.AdbcStatement(conn) as statement:
        statement.set_sql_query("SELECT * FROM queryempty")
        assert list(pa.RecordBatchReader.from_stream(statement.execute_query()[0])) == []  # no empty batch
    assert run(conn, "SELECT * FROM queryempty").to_pydict() == {"foo": []}
    assert run(conn, f"SELECT 42 n, CAST(1.5 AS FLOAT) f, 'SaShiSuSeSo' s {ONE_ROW};").to_pylist() == [
        {"n": 42, "f": 1.5, "s": "SaShiSuSeSo"}
    ]
    for wrong in ("", "this is not a query"):
        with refusal(Status.INVALID_ARGUMENT):
            run(conn, wrong)
    with manager.AdbcStatement(conn) as statement, refusal(Status.NOT_IMPLEMENTED, "Substrait"):
        statement.set_substrait_plan(b"plan")


def test_results_of_statements(conn: manager.AdbcConnection) -> None:
    """ConcurrentStatements, ResultIndependence, ResultInvalidation."""
    sample(conn)
    one, other = manager.AdbcStatement(conn), manager.AdbcStatement(conn)
    one.set_sql_query("SELECT int64s FROM bulk_ingest")
    other.set_sql_query("SELECT strings FROM bulk_ingest WHERE strings = 'foo'")
    first, second = one.execute_query()[0], other.execute_query()[0]
    assert table(second).to_pydict() == {"strings": ["foo"]}
    other.close()
    assert table(first).num_rows == 3
    stale = pa.RecordBatchReader.from_stream(one.execute_query()[0])
    assert table(one.execute_query()[0]).num_rows == 3
    with pytest.raises(pa.ArrowException, match="closed"):
        stale.read_all()
    one.close()


def test_errors_have_sqlstate_and_details(conn: manager.AdbcConnection) -> None:
    """ErrorCompatibility."""
    update(conn, "CREATE TABLE keyed (id INT PRIMARY KEY)")
    update(conn, "INSERT INTO keyed VALUES (7)")
    with refusal(Status.INTEGRITY) as caught:
        update(conn, "INSERT INTO keyed VALUES (7)")
    error = caught.value
    assert isinstance(error, manager.IntegrityError)
    details = dict(error.details)
    assert (details[b"sqlcode"], details[b"isamcode"]) == (b"-268", b"-100")
    assert details[b"statement"] == b"INSERT INTO keyed VALUES (7)"
    assert error.sqlstate == "23000"
    for sql, status in (
        ("SELECT * FROM nowhere", Status.NOT_FOUND),
        ("CREATE TABLE keyed (id INT)", Status.ALREADY_EXISTS),
        ("INSERT INTO keyed VALUES ('é')", Status.INVALID_DATA),
        ("SELEC 1", Status.INVALID_ARGUMENT),
    ):
        with refusal(status):
            update(conn, sql)


def test_an_error_in_a_stream_is_that_of_the_driver(url: str) -> None:
    """A value of the last batch does not fit int64: the stream's error has status and details too."""
    options = {"adbc.informix.integer_aggregates": "true", "adbc.informix.batch_rows": 50}
    data = pa.table({"k": range(200), "n": [Decimal(7)] * 199 + [Decimal(10) ** 25]})
    with (
        dbapi.connect(driver=DRIVER, db_kwargs={"uri": url}, autocommit=True) as conn,
        conn.cursor(adbc_stmt_kwargs=options) as cursor,
    ):
        cursor.execute("CREATE TABLE big (k INT, n DECIMAL(32,0))")
        cursor.adbc_ingest("big", data, mode="append")
        cursor.execute("SELECT n FROM big ORDER BY k")
        with pytest.raises(dbapi.DataError) as caught:
            cursor.fetch_arrow_table()
        assert caught.value.status_code == Status.INVALID_DATA
        details = dict(caught.value.details)
        assert (details[b"row"], details[b"column"]) == (b"199", b"n")
        cursor.execute("SELECT COUNT(*) FROM big")
        assert cursor.fetchone() == (200,)


# ---- ingestion -------------------------------------------------------------------------------------------------------

MOMENT = dt.datetime(2026, 1, 31, 23, 59, 58)
INGESTED: list[tuple[str, pa.Array]] = [
    ("Bool", pa.array([True, False, None])),
    ("Int16", pa.array([-32767, 32767, None], pa.int16())),
    ("Int64", pa.array([-(2**63) + 1, 2**63 - 1, None], pa.int64())),
    ("UInt32", pa.array([0, 2**32 - 1, None], pa.uint32())),
    ("Float64", pa.array([-1.5, 1e308, None], pa.float64())),
    ("String", pa.array(["", "réveil", None])),
    ("StringView", pa.array(["", "foo", None], pa.string_view())),
    ("Binary", pa.array([b"", b"\0\xff", None], pa.binary())),
    ("Date32", pa.array([dt.date(1, 1, 1), None])),
    ("Timestamp", pa.array([MOMENT, None], pa.timestamp("us"))),
    ("Duration", pa.array([dt.timedelta(days=-1, seconds=3), None], pa.duration("us"))),
    ("ListOfInt32", pa.array([[1, 2], [], None], pa.list_(pa.int32()))),
    ("StringDictionary", pa.array(["a", "b", None]).dictionary_encode()),
]


@pytest.mark.parametrize(("name", "values"), INGESTED, ids=[name for name, _ in INGESTED])
def test_sql_ingest_type(conn: manager.AdbcConnection, name: str, values: pa.Array) -> None:
    """SqlIngest<type>; test_adbc_validation.py has more, on the same loader."""
    data = pa.table({"k": range(len(values)), "col": values, "sentinel": [7] * len(values)})
    assert ingest(conn, "typed", data) == len(values)
    found = run(conn, "SELECT * FROM typed ORDER BY k")
    assert found["col"].to_pylist() == values.to_pylist()
    assert found["sentinel"].to_pylist() == [7] * len(values)


def test_sql_ingest_modes(conn: manager.AdbcConnection) -> None:
    """SqlIngestAppend, -Replace, -CreateAppend, -Errors, -StreamZeroArrays."""
    data = sample(conn)
    with refusal(Status.ALREADY_EXISTS, "-310"):
        ingest(conn, "bulk_ingest", data)
    assert ingest(conn, "bulk_ingest", data, "append") == 3
    with refusal(Status.NOT_FOUND, "-206"):
        ingest(conn, "absent", data, "append")
    with refusal(Status.INVALID_ARGUMENT, "other"):
        ingest(conn, "bulk_ingest", data.append_column("other", [[1, 2, 3]]), "append")
    assert run(conn, "SELECT COUNT(*) n FROM bulk_ingest")["n"].to_pylist() == [6]
    assert ingest(conn, "bulk_ingest", data, "replace") == 3
    assert ingest(conn, "bulk_ingest", data.to_reader(1), "create_append") == 3
    assert ingest(conn, "new", data, "create_append") == 3
    assert ingest(conn, "empty", pa.RecordBatchReader.from_batches(data.schema, [])) == 0
    assert run(conn, "SELECT * FROM empty").schema.names == data.schema.names
    with manager.AdbcStatement(conn) as statement:
        statement.set_options(**{"adbc.ingest.target_table": "bulk_ingest"})
        with refusal(Status.INVALID_STATE, "rows to ingest"):
            statement.execute_update()

        def slow() -> Iterator[pa.RecordBatch]:
            yield data.to_batches()[0]
            threading.Event().wait(3)
            yield data.to_batches()[0]

        statement.set_options(**{"adbc.informix.timeout": 0.5, "adbc.ingest.mode": "adbc.ingest.mode.append"})
        statement.bind_stream(pa.RecordBatchReader.from_batches(data.schema, slow()))
        with refusal(Status.TIMEOUT):
            statement.execute_update()


@pytest.mark.parametrize("mode", ["create", "create_append", "append", "replace"])
@pytest.mark.parametrize("kind", ["logged", "ansi"])
@pytest.mark.parametrize("before", [None, "SELECT COUNT(*) FROM systables"])
def test_an_ingestion_is_part_of_the_transaction(
    server: Server, mode: str, kind: Literal["logged", "ansi"], before: str | None
) -> None:
    """Transactions: with autocommit off no other session sees its rows, and a rollback undoes it."""
    name, data = f"library_{next(NUMBERS)}", pa.table({"n": [1, None], "s": ["é", "behind"]})
    server.create_database(name, mode=kind)
    with manager.AdbcDatabase(driver=DRIVER, uri=server.url(name)) as db, manager.AdbcConnection(db) as conn:
        if mode in ("append", "replace"):
            ingest(conn, "loaded", data)
        kept = run(conn, "SELECT tabname FROM systables WHERE tabname = 'loaded'").num_rows * 2
        conn.set_autocommit(False)
        for end, count in ((conn.rollback, kept), (conn.commit, 2 + (2 if mode == "append" else 0))):
            if before is not None:
                run(conn, before)
            assert ingest(conn, "loaded", data, mode) == 2
            run(conn, "SELECT COUNT(*) n FROM loaded WHERE s = 'behind'")
            end()
            with manager.AdbcConnection(db) as other:
                if count:
                    assert run(other, "SELECT COUNT(*) n FROM loaded")["n"].to_pylist() == [count]
                else:
                    with refusal(Status.NOT_FOUND, "-206"):
                        run(other, "SELECT * FROM loaded")
    server.drop_database(name)


def test_an_ingestion_into_an_unlogged_database_without_autocommit(server: Server) -> None:
    name = f"library_{next(NUMBERS)}"
    server.create_database(name, mode="unlogged")
    with manager.AdbcDatabase(driver=DRIVER, uri=server.url(name)) as db, manager.AdbcConnection(db) as conn:
        with suppress(manager.Error):  # there are no transactions to enable
            conn.set_autocommit(False)
        assert ingest(conn, "loaded", pa.table({"n": [1, 2, 3]})) == 3
        assert run(conn, "SELECT SUM(n) n FROM loaded")["n"].to_pylist() == [6]
    server.drop_database(name)


def test_sql_ingest_targets(conn: manager.AdbcConnection, db: manager.AdbcDatabase) -> None:
    """SqlIngestTargetCatalog, -Schema, -CatalogSchema, -Temporary, -TemporaryAppend, -Replace, -Exclusive."""
    data = sample(conn)
    here = conn.get_option("adbc.connection.catalog")
    for target in ({"target_catalog": here}, {"target_db_schema": "informix"}, {"target_catalog": here, "target_db_schema": "informix"}):  # fmt: skip # noqa: E501
        assert ingest(conn, "bulk_ingest", data, "append", **target) == 3
    assert ingest(conn, "passing", data, temporary="true") == 3
    assert ingest(conn, "passing", data, "append", temporary="true") == 3
    assert run(conn, "SELECT COUNT(*) n FROM passing")["n"].to_pylist() == [6]
    assert ingest(conn, "passing", data, "replace", temporary="true") == 3
    with refusal(Status.INVALID_STATE, "temporary"):
        ingest(conn, "passing", data, temporary="true", target_db_schema="informix")
    with manager.AdbcConnection(db) as other, refusal(Status.NOT_FOUND, "-206"):
        run(other, "SELECT * FROM passing")


# ---- partitions ------------------------------------------------------------------------------------------------------


def test_partitions_have_every_row_once_and_are_read_anywhere(
    conn: manager.AdbcConnection, db: manager.AdbcDatabase
) -> None:
    """SqlPartitionedInts."""
    update(conn, "CREATE TABLE parted (n SERIAL PRIMARY KEY, s VARCHAR(20))")
    ingest(conn, "parted", pa.table({"n": range(1, 1001), "s": [f"é{n}" for n in range(1000)]}), "append")
    with manager.AdbcStatement(conn) as statement:
        statement.set_sql_query("SELECT * FROM parted")
        partitions, schema, rows = statement.execute_partitions()
        assert rows == -1
        assert pa.schema(schema).names == ["n", "s"]
        assert len(partitions) > 1
        statement.set_options(**{"adbc.informix.partition_on": "s", "adbc.informix.partition_num": 3})
        statement.set_sql_query("SELECT n, s FROM parted WHERE n <= ?")
        statement.bind(pa.record_batch({"1": [900]}))
        by_text, _, _ = statement.execute_partitions()
    with manager.AdbcConnection(db) as other:
        found = [table(other.read_partition(each)) for each in partitions]
        assert sorted(pa.concat_tables(found)["n"].to_pylist()) == list(range(1, 1001))
        found = [table(other.read_partition(each)) for each in by_text]
        assert sorted(pa.concat_tables(found)["n"].to_pylist()) == list(range(1, 901))
        for wrong in (b"", b"not a partition", partitions[0][:-50][:40]):
            with refusal(Status.INVALID_ARGUMENT, "no partition"):
                other.read_partition(wrong)
    with manager.AdbcStatement(conn) as statement:
        statement.set_sql_query(f"SELECT 42 {ONE_ROW}")
        [single], _, _ = statement.execute_partitions()
    assert table(conn.read_partition(single)).columns[0].to_pylist() == [42]


# ---- threads, cancellation, releases ---------------------------------------------------------------------------------


def test_cancel_from_another_thread(conn: manager.AdbcConnection) -> None:
    """SqlQueryCancel."""
    ingest(conn, "numbers", pa.table({"n": range(2000)}))
    with manager.AdbcStatement(conn) as statement:
        with refusal(Status.INVALID_STATE, "does not run"):
            statement.cancel()
        statement.set_sql_query("SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d")
        ended = threading.Event()

        def cancel() -> None:
            while not ended.wait(0.05):
                with suppress(manager.ProgrammingError):  # the statement does not run yet
                    statement.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        try:
            with refusal(Status.CANCELLED):
                table(statement.execute_query()[0])
        finally:
            ended.set()
            thread.join()
        statement.set_options(**{"adbc.informix.timeout": 0.2})
        with refusal(Status.TIMEOUT):
            table(statement.execute_query()[0])
    assert run(conn, f"SELECT 7 n {ONE_ROW}").to_pydict() == {"n": [7]}


def test_cancel_while_a_result_is_read(conn: manager.AdbcConnection) -> None:
    ingest(conn, "numbers", pa.table({"n": range(2000)}))
    with manager.AdbcStatement(conn) as statement:
        statement.set_options(**{"adbc.informix.batch_rows": 100})
        statement.set_sql_query("SELECT n FROM numbers")
        reader = pa.RecordBatchReader.from_stream(statement.execute_query()[0])
        assert reader.read_next_batch().num_rows == 100
        statement.cancel()
        with pytest.raises((pa.ArrowCancelled, OSError), match="cancelled"):
            reader.read_all()
        conn.cancel()  # no statement runs
    assert run(conn, "SELECT COUNT(*) n FROM numbers")["n"].to_pylist() == [2000]


def test_eight_threads_with_a_connection_each(db: manager.AdbcDatabase) -> None:
    with manager.AdbcConnection(db) as conn:
        ingest(conn, "shared", pa.table({"n": range(5000)}))

    def work(number: int) -> int:
        with manager.AdbcConnection(db) as own:
            own_rows = pa.table({"n": [number] * 10})
            ingest(own, f"own_{number}", own_rows)
            assert run(own, "SELECT n FROM shared", **{"adbc.informix.batch_rows": 500}).num_rows == 5000
            with refusal(Status.NOT_FOUND):
                run(own, "SELECT * FROM nowhere")
            return sum(run(own, f"SELECT n FROM own_{number}")["n"].to_pylist())

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(8))) == [number * 10 for number in range(8)]


def test_threads_share_a_connection(conn: manager.AdbcConnection) -> None:
    ingest(conn, "shared", pa.table({"n": range(3000)}))

    def read(_: int) -> int:
        return run(conn, "SELECT n FROM shared", **{"adbc.informix.batch_rows": 500}).num_rows

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(read, range(16))) == [3000] * 16


def test_streams_that_are_dropped_early_leave_a_usable_connection(conn: manager.AdbcConnection) -> None:
    ingest(conn, "numbers", pa.table({"n": range(5000)}))
    for batches in (0, 1, 2):
        statement = manager.AdbcStatement(conn)
        statement.set_options(**{"adbc.informix.batch_rows": 100})
        statement.set_sql_query("SELECT n FROM numbers")
        reader = pa.RecordBatchReader.from_stream(statement.execute_query()[0])
        for _ in range(batches):
            reader.read_next_batch()
        thread = threading.Thread(target=reader.close)  # a stream may be released in any thread
        thread.start()
        thread.join()
        statement.close()
        assert run(conn, "SELECT COUNT(*) n FROM numbers")["n"].to_pylist() == [5000]


def test_released_handles_keep_nothing(db: manager.AdbcDatabase) -> None:
    """Neither streams that were released early nor statements and connections with errors may leak memory."""

    def kept() -> int:
        gc.collect()
        kinds = (abi.Statement, abi.Connection, Stream)
        return sum(isinstance(each, kinds) for each in gc.get_objects())

    with manager.AdbcConnection(db) as conn:
        ingest(conn, "numbers", pa.table({"n": range(5000)}))
    before, bytes_before = kept(), pa.total_allocated_bytes()
    for batches in range(6):
        with manager.AdbcConnection(db) as conn, manager.AdbcStatement(conn) as statement:
            statement.set_options(**{"adbc.informix.batch_rows": 1000})
            statement.set_sql_query("SELECT n FROM numbers")
            reader = pa.RecordBatchReader.from_stream(statement.execute_query()[0])
            for _ in range(batches):
                reader.read_next_batch()
            reader.close()
            with refusal(Status.NOT_FOUND):
                run(conn, "SELECT * FROM nowhere")
            statement.bind_stream(pa.table({"n": [1]}))  # and never executed
    del reader
    assert kept() == before
    assert pa.total_allocated_bytes() == bytes_before


FORKED = """
import os, sys, threading
import adbc_driver_manager as manager
import pyarrow as pa
driver, url = sys.argv[1:]
db = manager.AdbcDatabase(driver=driver, uri=url)
conn = manager.AdbcConnection(db)
statement = manager.AdbcStatement(conn)
child = os.fork()
if not child:
    try:
        statement.set_sql_query("SELECT 1 FROM systables")
    except manager.Error as error:
        refused = "fork" in str(error)
    else:
        refused = False
    statement.close()
    conn.close()
    db.close()
    with manager.AdbcDatabase(driver=driver, uri=url) as own, manager.AdbcConnection(own) as other:
        with manager.AdbcStatement(other) as query:
            query.set_sql_query("SELECT 7 n FROM systables WHERE tabid = 1")
            rows = pa.RecordBatchReader.from_stream(query.execute_query()[0]).read_all().to_pylist()
    os._exit(0 if refused and rows == [{"n": 7}] else 3)
assert os.waitpid(child, 0)[1] == 0
statement.set_sql_query("SELECT 8 n FROM systables WHERE tabid = 1")
rows = pa.RecordBatchReader.from_stream(statement.execute_query()[0]).read_all().to_pylist()
assert rows == [{"n": 8}], rows
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_refuses_the_handles_of_its_parent_and_may_open_its_own(url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FORKED, DRIVER, url],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_the_driver_ends_with_its_python(url: str) -> None:
    """Handles that are still open when the interpreter ends do not crash it."""
    program = (
        "import sys, adbc_driver_manager as m; db = m.AdbcDatabase(driver=sys.argv[1], uri=sys.argv[2]); "
        "conn = m.AdbcConnection(db); s = m.AdbcStatement(conn); s.set_sql_query('SELECT tabid FROM systables'); "
        "stream = s.execute_query()[0]; print('done')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, DRIVER, url], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


# ---- the dbapi of the driver manager ---------------------------------------------------------------------------------


def test_the_managers_dbapi(url: str) -> None:
    data = pa.table({"a": [1, 2, 3], "b": ["x", None, "é"]})
    with (
        dbapi.connect(driver=DRIVER, db_kwargs={"uri": url}, autocommit=True) as conn,
        conn.cursor() as cursor,
    ):
        assert cursor.adbc_ingest("loaded", data) == 3
        cursor.execute("SELECT * FROM loaded WHERE a > ? ORDER BY a", (1,))
        assert cursor.fetchall() == [(2, None), (3, "é")]
        cursor.executemany("INSERT INTO loaded VALUES (?, ?)", [(7, "seven"), (8, None)])
        assert cursor.rowcount == 2
        assert conn.adbc_get_info()["vendor_name"] == "Informix"
        assert "loaded" in str(conn.adbc_get_objects(depth="tables").read_all().to_pylist())
        with pytest.raises(dbapi.ProgrammingError, match="-217"):
            cursor.execute("SELECT nope FROM loaded")
    with dbapi.connect(driver=DRIVER, db_kwargs={"uri": url}) as conn, conn.cursor() as cursor:
        cursor.execute("DELETE FROM loaded")
        conn.rollback()
        cursor.execute("SELECT COUNT(*) FROM loaded")
        assert cursor.fetchone() == (5,)


def test_a_stream_feeds_an_ingestion(url: str) -> None:
    """Rows go from one connection into another, batch by batch."""
    with manager.AdbcDatabase(driver=DRIVER, uri=url) as db, manager.AdbcConnection(db) as source:
        ingest(source, "numbers", pa.table({"n": range(5000)}))
        with manager.AdbcConnection(db) as target, manager.AdbcStatement(source) as statement:
            statement.set_sql_query("SELECT n FROM numbers")
            assert ingest(target, "copied", statement.execute_query()[0]) == 5000
        assert run(source, "SELECT SUM(n) n FROM copied")["n"].to_pylist() == [sum(range(5000))]


def test_a_bound_stream_is_released_with_its_statement(url: str) -> None:
    """The stream is released without a garbage collection, also after a refused row."""

    class Source:
        """The source of the stream."""

    def bound(statement: manager.AdbcStatement, data: pa.Table) -> weakref.ref[Source]:
        source = Source()

        def batches(kept: Source) -> Iterator[pa.RecordBatch]:
            yield from data.to_batches()

        statement.bind_stream(pa.RecordBatchReader.from_batches(data.schema, batches(source)))
        return weakref.ref(source)

    fits, too_large = (pa.table({"a": pa.array([number], pa.int64())}) for number in (1, 2**40))
    with manager.AdbcDatabase(driver=DRIVER, uri=url) as db, manager.AdbcConnection(db) as conn:
        run(conn, "CREATE TABLE small (a INT)")
        gc.collect()
        gc.disable()
        try:
            for data in (fits, too_large):
                with manager.AdbcStatement(conn) as statement:
                    statement.set_options(
                        **{"adbc.ingest.target_table": "small", "adbc.ingest.mode": "adbc.ingest.mode.append"}
                    )
                    source = bound(statement, data)
                    if data is fits:
                        statement.execute_update()
                    else:
                        with refusal(manager.AdbcStatusCode.INVALID_DATA):
                            statement.execute_update()
                assert source() is None
        finally:
            gc.enable()


def test_libpython_is_found() -> None:
    assert libpython_path().is_file()
