"""The ADBC driver of Python: one class is both ours and the driver manager's, and has no inherited method that does not
work."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal

import adbc_driver_manager
import pyarrow as pa
import pytest
from adbc_driver_manager import dbapi as manager

import adbc_driver_informix
import informix_arrow as ifx
from adbc_driver_informix import dbapi
from adbc_driver_informix.names import unquoted
from informix_arrow.server import Server


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with Server(threads=1) as server:
        server.create_database("shop")
        yield server.url("shop")


@pytest.fixture
def conn(url: str) -> Iterator[dbapi.Connection]:
    with dbapi.connect(url, autocommit=True) as conn:
        yield conn


def public(kind: type) -> list[str]:
    return sorted(name for name in dir(kind) if not name.startswith("_"))


@pytest.mark.parametrize("name", public(manager.Connection))
def test_no_public_name_of_a_connection_is_the_managers(name: str) -> None:
    assert owner(dbapi.Connection, name).__module__.startswith(("informix_arrow.", "adbc_driver_informix."))


@pytest.mark.parametrize(
    "name", [*public(manager.Cursor), "__del__", "__iter__", "__next__", "__enter__", "__exit__"]
)
def test_no_public_name_of_a_cursor_is_the_managers(name: str) -> None:
    assert owner(dbapi.Cursor, name).__module__.startswith(("informix_arrow.", "adbc_driver_informix."))


def owner(kind: type, name: str) -> type:
    return next(each for each in kind.__mro__ if name in vars(each))


REFUSED_OF_CONNECTION = ["adbc_clone"]
REFUSED_OF_CURSOR = ["nextset", "adbc_execute_partitions", "adbc_read_partition", "executescript"]


@pytest.mark.parametrize("name", REFUSED_OF_CONNECTION)
def test_what_a_connection_cannot_do_is_refused(conn: dbapi.Connection, name: str) -> None:
    with pytest.raises(ifx.NotSupportedError):
        getattr(conn, name)()
    conn.ping()


@pytest.mark.parametrize("name", ["adbc_connection", "adbc_database", "adbc_current_db_schema"])
def test_what_a_connection_does_not_have_is_refused(conn: dbapi.Connection, name: str) -> None:
    with pytest.raises(ifx.NotSupportedError):
        getattr(conn, name)
    conn.ping()


@pytest.mark.parametrize("name", REFUSED_OF_CURSOR)
def test_what_a_cursor_cannot_do_is_refused(conn: dbapi.Connection, name: str) -> None:
    arguments = () if name == "nextset" else ("SELECT 7 FROM systables",)
    with conn.cursor() as cursor:
        with pytest.raises(ifx.NotSupportedError):
            getattr(cursor, name)(*arguments)
        assert cursor.execute("SELECT 7 FROM systables WHERE tabid = 1").fetchall() == [(7,)]
        with pytest.raises(ifx.NotSupportedError):
            _ = cursor.adbc_statement


def test_connection_and_cursor_are_of_both_kinds(conn: dbapi.Connection) -> None:
    assert isinstance(conn, ifx.Connection)
    assert isinstance(conn, manager.Connection)
    cursor = conn.cursor()
    assert isinstance(cursor, ifx.Cursor)
    assert isinstance(cursor, manager.Cursor)
    assert (cursor.arraysize, cursor.rowcount, cursor.description, cursor.rownumber) == (1, -1, None, None)
    assert cursor.execute("SELECT 7 FROM systables WHERE tabid = 1").connection is conn
    assert cursor.next() == (7,)
    with pytest.raises(StopIteration):
        cursor.next()
    assert conn.read_arrow("SELECT 8 AS n FROM systables WHERE tabid = 1")["n"].to_pylist() == [8]
    with conn.cursor(scrollable=True) as scrolling:
        assert isinstance(scrolling, ifx.ScrollCursor)
    assert not hasattr(adbc_driver_informix, "__version__")


def test_a_cursor_dropped_half_read_harms_nothing(conn: dbapi.Connection) -> None:
    cursor = conn.execute("SELECT tabid FROM systables")
    assert cursor.fetchone() is not None
    del cursor
    assert conn.execute("SELECT 7 FROM systables WHERE tabid = 1").fetchall() == [(7,)]


def test_arrow_data_are_parameters(conn: dbapi.Connection) -> None:
    conn.execute("CREATE TABLE bound (id INT, amount DECIMAL(10,2), sentinel INT)")
    data = pa.table({"id": [1, 2], "amount": [Decimal("1.25"), None], "sentinel": [7, 7]})
    cursor = conn.cursor()
    assert cursor.executemany("INSERT INTO bound VALUES (?, ?, ?)", data).rowcount == 2
    assert cursor.executemany("INSERT INTO bound VALUES (?, ?, ?)", []).rowcount == 0
    one = pa.record_batch({"id": [2], "sentinel": [7]})
    cursor.execute("SELECT amount, sentinel FROM bound WHERE id = ? AND sentinel = ?", one)
    assert cursor.fetchall() == [(None, 7)]
    with pytest.raises(ifx.NotSupportedError, match="executemany"):
        cursor.execute("SELECT * FROM bound WHERE id = ? AND amount = ? AND sentinel = ?", data)
    with pytest.raises(ifx.InterfaceError, match="A statement is a str"):
        cursor.execute(b"plan")  # type: ignore[arg-type]
    assert cursor.execute("SELECT * FROM bound ORDER BY id").fetchallarrow().column_names == data.column_names


def test_keywords_may_come_as_adbc_has_them(url: str) -> None:
    options = {"uri": url, "application": "report"}
    with dbapi.connect(db_kwargs=options, conn_kwargs={"lock_wait": "3"}) as conn:
        assert conn.lock_wait == 3
        assert conn.autocommit is False
    with dbapi.connect(url, autocommit=True) as conn:
        assert conn.autocommit is True
    with dbapi.connect(url, username="informix", password="in4mix") as conn:
        conn.ping()
    with pytest.raises(ifx.InterfaceError, match="'lock_wait' is given twice"):
        dbapi.connect(url, conn_kwargs={"lock_wait": 3}, lock_wait=4)
    for wrong in ({"lockwait_": 3}, {"conn_kwargs": {"lok_wait": 3}}):
        with pytest.raises(ifx.InterfaceError, match="Did you mean 'lock_wait'") as error:
            dbapi.connect(url, **wrong)  # type: ignore[arg-type]
        assert "\n" not in str(error.value)
    with pytest.raises(ifx.InterfaceError, match="Did you mean 'lock_wait'"):
        dbapi.connect(f"{url}&lok_wait=3")
    with dbapi.connect(url) as conn, pytest.raises(ifx.NotSupportedError, match=r"adbc\.x"):
        conn.cursor(adbc_stmt_kwargs={"adbc.x": 1})


def test_a_missing_table_is_not_found_in_both_worlds(conn: dbapi.Connection) -> None:
    with pytest.raises(manager.Error) as caught:
        conn.adbc_get_table_schema("absent")
    error = caught.value
    assert isinstance(error, ifx.ProgrammingError)
    assert error.status_code == adbc_driver_manager.AdbcStatusCode.NOT_FOUND
    assert (error.sqlcode, error.near) == (-206, "absent")
    with pytest.raises(ifx.ProgrammingError) as other:
        ifx.Connection.adbc_get_table_schema(conn, "absent")
    assert str(other.value) == str(error)
    with pytest.raises(ifx.InterfaceError):
        conn.adbc_get_table_schema("a b c")


def test_the_current_catalog_is_the_database(url: str) -> None:
    with dbapi.connect(url, autocommit=True) as conn:
        assert conn.adbc_current_catalog == "shop"
        conn.adbc_current_catalog = "sysmaster"
        assert conn.adbc_current_catalog == conn.database == "sysmaster"
        with pytest.raises(ifx.InterfaceError):
            conn.adbc_current_catalog = "a; DROP"
        with pytest.raises(ifx.NotSupportedError):
            conn.adbc_current_db_schema = "informix"
        assert conn.adbc_get_info()["vendor_name"] == "Informix"


def test_a_name_with_capitals_is_found_where_the_server_folds_it(url: str) -> None:
    with dbapi.connect(url, autocommit=True) as conn:
        conn.execute("CREATE TABLE Folded_Name (id INT)")
        assert tables(conn, "Folded_Name") == ["Folded_Name"]
        assert tables(conn, "folded_name") == ["folded_name"]
        assert tables(conn, "FOLDED%") == []
    with dbapi.connect(url, autocommit=True, env={"DELIMIDENT": "y"}) as conn:
        assert tables(conn, "Folded_Name") == []
        assert tables(conn, "folded_name") == ["folded_name"]


def test_under_delimident_a_name_is_exact_and_owners_can_be_said(url: str) -> None:
    with dbapi.connect(url, autocommit=True, env={"DELIMIDENT": "y"}) as conn, conn.cursor() as cursor:
        data = pa.table({"Id": [1], "sentinel": [7]})
        for name in (
            "Exact",
            "with blank",
            "order",
            '"In quotes"',
            "informix.owned",
            'informix."Both"',
        ):
            assert cursor.adbc_ingest(name, data) == 1
            assert conn.adbc_get_table_schema(name).names == ["Id", "sentinel"]
        assert cursor.adbc_ingest("Schema", data, db_schema_name="informix") == 1
        found = conn.tables("%", owner="informix")["table_name"].to_pylist()
        made = {"Exact", "with blank", "order", "In quotes", "owned", "Both", "Schema"}
        assert made <= set(found)
        with pytest.raises(ifx.InterfaceError, match="owner"):
            cursor.adbc_ingest("t", data, db_schema_name="a'b")


def tables(conn: dbapi.Connection, pattern: str) -> list[str]:
    found = conn.adbc_get_objects(depth="tables", table_name_filter=pattern).read_all().to_pylist()
    return [table["table_name"] for table in dbapi._tables(found)]


@pytest.mark.parametrize(
    ("quoted", "plain"),
    [
        ('SELECT * FROM "t"', "SELECT * FROM t"),
        ('SELECT "a", "B" FROM "s"."T"', "SELECT a, B FROM 's'.T"),
        ('DROP TABLE "t"', "DROP TABLE t"),
        ('DELETE FROM "s"."t"', "DELETE FROM 's'.t"),
        ('SELECT "a" FROM t', 'SELECT "a" FROM t'),
        ('SELECT * FROM "t" WHERE x = "y"', 'SELECT * FROM "t" WHERE x = "y"'),
        ('SELECT "a", "b"', 'SELECT "a", "b"'),
        ('DELETE FROM t WHERE a = "x"', 'DELETE FROM t WHERE a = "x"'),
    ],
)
def test_only_statements_of_pandas_lose_their_quotes(quoted: str, plain: str) -> None:
    assert unquoted(quoted) == plain


@pytest.mark.parametrize(
    "sql", ['DROP TABLE "a b"', 'SELECT "x""; --" FROM "t"', 'DELETE FROM "t; DROP TABLE u"']
)
def test_a_name_that_needs_its_quotes_is_refused(conn: dbapi.Connection, sql: str) -> None:
    with pytest.raises(ifx.ProgrammingError, match="DELIMIDENT"):
        conn.execute(sql)
    conn.ping()


def test_text_in_double_quotes_stays_text(conn: dbapi.Connection) -> None:
    assert conn.execute('SELECT "text", 7 FROM systables WHERE tabid = 1').fetchall() == [("text", 7)]


IMPORTS = """
import os, sys
import informix_arrow
import informix_arrow.connection  # with all that it imports when it connects first
def kind():
    with informix_arrow.connect(sys.argv[1]) as conn:
        return f"{type(conn).__module__} {type(conn.cursor()).__module__}"
for first, then in PROGRAMS:
    if not os.fork():
        exec(first)
        print(kind())
        exec(then)
        print(kind(), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""
OURS = "informix_arrow.connection informix_arrow.cursor"
BOTH = "adbc_driver_informix.dbapi adbc_driver_informix.dbapi"


#: Imports after our package, imports after the first connection, and the classes of a connection after each.
IMPORTED: list[tuple[str, str, list[str]]] = [
    ("", "", [OURS, OURS]),
    ("", "import polars", [OURS, BOTH]),
    ("import pandas", "", [BOTH, BOTH]),
    ("", "import adbc_driver_manager", [OURS, BOTH]),
    ("sys.modules['adbc_driver_manager'] = None", "import polars", [OURS, OURS]),
]


@pytest.fixture(scope="module")
def kinds(url: str) -> list[str]:
    """Return two lines for each of IMPORTED. Each runs in a fork of a Python that has imported only our package."""
    return lines(f"PROGRAMS = {[(first, then) for first, then, _ in IMPORTED]!r}{IMPORTS}", url)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="they are forked")
@pytest.mark.parametrize("case", range(len(IMPORTED)), ids=[f"{first}-{then}" for first, then, _ in IMPORTED])
def test_connect_gives_the_class_to_those_who_imported_what_asks_for_it(kinds: list[str], case: int) -> None:
    assert kinds[2 * case : 2 * case + 2] == IMPORTED[case][2]


def test_a_missing_driver_manager_names_the_extra(url: str) -> None:
    program = """
import sys
sys.modules['adbc_driver_manager'] = None
try:
    import adbc_driver_informix.dbapi
except ImportError as error:
    print(error)
"""
    assert lines(program, url) == [
        "adbc_driver_informix needs adbc-driver-manager: pip install 'informix-arrow[adbc]'"
    ]


def lines(program: str, url: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program, url], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
