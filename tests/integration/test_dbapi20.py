"""PEP 249, point by point: the requirements of a DB-API 2.0 module.

The tests are in the order of the PEP. Tests of points that it leaves open say so.
"""

from __future__ import annotations

import builtins
import datetime as dt
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from informix_arrow import dbapi
from informix_arrow.server import Server

DRINKS = ["Cooper's Best", "Victoria Bitter", "XXXX", "größtes Bier", "", 'o\'Neill "Stout"']


@pytest.fixture
def conn(server: Server) -> Iterator[dbapi.Connection]:
    connection = dbapi.connect(server.url("stores_demo"))
    yield connection
    if not connection.closed:
        connection.rollback()
        connection.close()


@pytest.fixture
def cur(conn: dbapi.Connection) -> dbapi.Cursor:
    cursor = conn.cursor()
    cursor.execute("CREATE TEMP TABLE dbapi20_drinks (name VARCHAR(40), tail INT)")
    return cursor


def fill(cur: dbapi.Cursor) -> None:
    for name in DRINKS:
        cur.execute("INSERT INTO dbapi20_drinks VALUES (?, 12345)", (name,))


# ---- module interface ------------------------------------------------------------------------------------------------


def test_the_globals_are_there() -> None:
    assert dbapi.apilevel == "2.0"
    assert dbapi.threadsafety == 2
    assert dbapi.paramstyle == "qmark"
    assert callable(dbapi.connect)


def test_connect_takes_the_keywords_of_the_pep(server: Server) -> None:
    """dsn, user, password, host, database: "guidelines" of the PEP; the data source is the first argument."""
    url = server.url("stores_demo")
    with dbapi.connect(url, user=server.user, password=server.password, database="sysmaster") as connection:
        assert connection.cursor().execute("SELECT COUNT(*) FROM systables WHERE tabid = 1").fetchone() == (
            1,
        )


EXCEPTIONS = {
    "Warning": Exception,
    "Error": Exception,
    "InterfaceError": dbapi.Error,
    "DatabaseError": dbapi.Error,
    "DataError": dbapi.DatabaseError,
    "OperationalError": dbapi.DatabaseError,
    "IntegrityError": dbapi.DatabaseError,
    "InternalError": dbapi.DatabaseError,
    "ProgrammingError": dbapi.DatabaseError,
    "NotSupportedError": dbapi.DatabaseError,
}


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_the_exceptions_have_their_places_in_the_tree(conn: dbapi.Connection, name: str) -> None:
    """The exceptions are also attributes of connections: the PEP's extension for programs with several modules."""
    cls = getattr(dbapi, name)
    assert issubclass(cls, EXCEPTIONS[name])
    assert cls is not getattr(builtins, name, None)
    assert getattr(conn, name) is cls
    assert getattr(type(conn), name) is cls


def test_warnings_are_no_errors() -> None:
    assert not issubclass(dbapi.Warning, dbapi.Error)
    assert not issubclass(dbapi.InterfaceError, dbapi.DatabaseError)


# ---- connection objects ----------------------------------------------------------------------------------------------


def test_commit_and_rollback_can_be_called_at_any_time(conn: dbapi.Connection) -> None:
    conn.commit()
    conn.rollback()
    conn.rollback()
    conn.commit()


def test_committed_work_stays_and_other_work_goes(server: Server, conn: dbapi.Connection) -> None:
    cur = conn.cursor()
    cur.execute("CREATE TABLE dbapi20_kept (k INT)")
    cur.execute("INSERT INTO dbapi20_kept VALUES (1)")
    conn.commit()
    try:
        cur.execute("INSERT INTO dbapi20_kept VALUES (2)")
        conn.rollback()
        cur.execute("INSERT INTO dbapi20_kept VALUES (3)")
        conn.close()  # "without committing the changes first will cause an implicit rollback"
        with dbapi.connect(server.url("stores_demo")) as other:
            assert other.cursor().execute("SELECT k FROM dbapi20_kept").fetchall() == [(1,)]
    finally:
        with dbapi.connect(server.url("stores_demo")) as other:
            other.cursor().execute("DROP TABLE dbapi20_kept")


def test_a_closed_connection_is_good_for_nothing(conn: dbapi.Connection) -> None:
    cur, open_result = conn.cursor(), conn.cursor()
    open_result.execute("SELECT tabid FROM systables")
    conn.close()
    conn.close()  # not an error here; the PEP leaves it open
    for use in (
        conn.commit,
        conn.rollback,
        conn.cursor,
        lambda: cur.execute("SELECT tabid FROM systables"),
        lambda: cur.executemany("INSERT INTO nowhere VALUES (?)", [(1,)]),
        lambda: cur.callproc("nowhere"),
        open_result.fetchall,
    ):
        with pytest.raises(dbapi.Error):
            use()


def test_cursors_of_a_connection_see_each_others_work(conn: dbapi.Connection, cur: dbapi.Cursor) -> None:
    """ "Cursors created from the same connection are not isolated." """
    other = conn.cursor()
    cur.execute("INSERT INTO dbapi20_drinks VALUES ('Victoria Bitter', 1)")
    assert other.execute("SELECT name FROM dbapi20_drinks").fetchall() == [("Victoria Bitter",)]


# ---- cursor objects: attributes --------------------------------------------------------------------------------------


def test_the_description_is_none_without_rows(cur: dbapi.Cursor, conn: dbapi.Connection) -> None:
    assert conn.cursor().description is None
    assert cur.description is None
    cur.execute("INSERT INTO dbapi20_drinks VALUES ('a', 1)")
    assert cur.description is None
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert cur.description is not None
    cur.execute("CREATE TEMP TABLE dbapi20_more (k INT)")
    assert cur.description is None


def test_the_description_has_seven_items_for_each_column(cur: dbapi.Cursor) -> None:
    cur.execute("SELECT name, tail FROM dbapi20_drinks")
    assert cur.description is not None
    assert [len(column) for column in cur.description] == [7, 7]
    assert [column[0] for column in cur.description] == ["name", "tail"]
    assert cur.description[0][1] == dbapi.STRING
    assert cur.description[1][1] == dbapi.NUMBER


def test_the_rowcount_reports_what_was_done(cur: dbapi.Cursor, conn: dbapi.Connection) -> None:
    assert conn.cursor().rowcount == -1
    assert cur.rowcount in (-1, 0)  # after DDL
    cur.execute("INSERT INTO dbapi20_drinks VALUES ('a', 1)")
    assert cur.rowcount == 1
    fill(cur)
    cur.execute("UPDATE dbapi20_drinks SET tail = 2")
    assert cur.rowcount == 1 + len(DRINKS)
    cur.execute("UPDATE dbapi20_drinks SET tail = 2 WHERE name = 'nosuch'")
    assert cur.rowcount == 0
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert cur.rowcount == -1  # a stream: the number of rows is unknown
    cur.execute("DELETE FROM dbapi20_drinks")
    assert cur.rowcount == 1 + len(DRINKS)


# ---- cursor objects: methods -----------------------------------------------------------------------------------------


def test_a_procedure_is_called_and_its_parameters_come_back(conn: dbapi.Connection) -> None:
    """ "The result of the call is returned as modified copy of the input sequence." """
    cur = conn.cursor()
    cur.execute(
        "CREATE FUNCTION dbapi20_lower(word VARCHAR(40)) RETURNING VARCHAR(40); RETURN LOWER(word); END FUNCTION"
    )
    arguments = ("FOO",)
    returned: Any = cur.callproc("dbapi20_lower", arguments)
    assert list(returned) == ["FOO"]
    assert returned is not arguments
    assert cur.fetchall() == [("foo",)]


def test_a_closed_cursor_is_good_for_nothing(conn: dbapi.Connection) -> None:
    cur = conn.cursor()
    cur.execute("SELECT tabid FROM systables")
    cur.close()
    cur.close()
    for use in (
        lambda: cur.execute("SELECT tabid FROM systables"),
        lambda: cur.executemany("SELECT ?", []),
        lambda: cur.callproc("nowhere"),
        cur.fetchone,
        cur.fetchmany,
        cur.fetchall,
        lambda: next(cur),
        lambda: cur.setinputsizes([1]),
        lambda: cur.setoutputsize(1),
    ):
        with pytest.raises(dbapi.Error):
            use()
    assert conn.cursor().execute("SELECT tabid FROM systables WHERE tabid = 1").fetchall() == [(1,)]


def test_execute_takes_a_sequence_of_parameters(cur: dbapi.Cursor) -> None:
    cur.execute("INSERT INTO dbapi20_drinks VALUES ('plain', 0)")
    cur.execute("INSERT INTO dbapi20_drinks VALUES (?, ?)", ("in a tuple", 1))
    cur.execute("INSERT INTO dbapi20_drinks VALUES (?, ?)", ["in a list", 2])
    cur.execute("SELECT name FROM dbapi20_drinks WHERE tail >= ? ORDER BY tail", [0])
    assert cur.fetchall() == [("plain",), ("in a tuple",), ("in a list",)]


def test_parameters_are_never_parts_of_the_statement(cur: dbapi.Cursor) -> None:
    for name in DRINKS:
        cur.execute("INSERT INTO dbapi20_drinks VALUES (?, 12345)", (name,))
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert sorted(row[0] for row in cur.fetchall()) == sorted(DRINKS)


def test_the_wrong_number_of_parameters_is_an_error(cur: dbapi.Cursor) -> None:
    for parameters in ((), ("a",), ("a", 1, 2)):
        with pytest.raises(dbapi.Error):
            cur.execute("INSERT INTO dbapi20_drinks VALUES (?, ?)", parameters)
    assert cur.execute("SELECT COUNT(*) FROM dbapi20_drinks").fetchone() == (0,)


def test_executemany_executes_for_each_row(cur: dbapi.Cursor) -> None:
    rows = [(name, number) for number, name in enumerate(DRINKS)]
    cur.executemany("INSERT INTO dbapi20_drinks VALUES (?, ?)", rows)
    assert cur.rowcount == len(rows)
    assert cur.execute("SELECT name, tail FROM dbapi20_drinks ORDER BY tail").fetchall() == rows
    cur.executemany("DELETE FROM dbapi20_drinks WHERE tail = ?", iter([[0], [1]]))
    assert cur.rowcount == 2
    cur.executemany("DELETE FROM dbapi20_drinks WHERE tail = ?", [])
    assert cur.rowcount == 0


def test_executemany_makes_no_results(cur: dbapi.Cursor) -> None:
    with pytest.raises(dbapi.Error):
        cur.executemany("SELECT name FROM dbapi20_drinks WHERE tail = ?", [(1,), (2,)])


def test_fetching_without_a_result_is_an_error(conn: dbapi.Connection, cur: dbapi.Cursor) -> None:
    """ "If the previous call to .execute*() did not produce any result set or no call was issued yet." """
    fresh = conn.cursor()
    for cursor in (fresh, cur):
        for fetch in (cursor.fetchone, cursor.fetchmany, cursor.fetchall):
            with pytest.raises(dbapi.Error):
                fetch()


def test_fetchone_gives_rows_and_then_none(cur: dbapi.Cursor) -> None:
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert cur.fetchone() is None
    fill(cur)
    cur.execute("SELECT name FROM dbapi20_drinks WHERE name = 'XXXX'")
    row = cur.fetchone()
    assert row == ("XXXX",)
    assert len(row) == 1
    assert cur.fetchone() is None
    assert cur.fetchone() is None


def test_fetchmany_returns_the_requested_number_of_rows(cur: dbapi.Cursor) -> None:
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert cur.fetchmany() == []
    fill(cur)
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert cur.arraysize == 1
    assert len(cur.fetchmany()) == 1
    assert len(cur.fetchmany(3)) == 3
    assert len(cur.fetchmany(4)) == 2
    assert cur.fetchmany(4) == []
    cur.arraysize = 4
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert [len(cur.fetchmany()) for _ in range(3)] == [4, 2, 0]


def test_fetchall_gives_all_that_are_left(cur: dbapi.Cursor) -> None:
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert cur.fetchall() == []
    fill(cur)
    cur.execute("SELECT name FROM dbapi20_drinks")
    rows = cur.fetchall()
    assert sorted(row[0] for row in rows) == sorted(DRINKS)
    assert cur.fetchall() == []


def test_the_fetches_can_be_mixed(cur: dbapi.Cursor) -> None:
    fill(cur)
    cur.execute("SELECT name FROM dbapi20_drinks")
    rows = [cur.fetchone(), *cur.fetchmany(2), cur.fetchone(), *cur.fetchall()]
    assert sorted(row[0] for row in rows) == sorted(DRINKS)


def test_there_is_no_next_result_set(cur: dbapi.Cursor) -> None:
    """nextset() is optional in the PEP, and Informix has one result per statement. The driver manager's class refuses
    it."""
    if type(cur) is not dbapi.Cursor:
        with pytest.raises(dbapi.NotSupportedError):
            cur.nextset()
        return
    assert cur.nextset() is None
    fill(cur)
    assert cur.nextset() is None
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert cur.fetchone() is not None
    assert cur.nextset() is None
    assert cur.description is None
    with pytest.raises(dbapi.Error):
        cur.fetchone()  # the rows that remain are discarded
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert len(cur.fetchall()) == len(DRINKS)
    cur.close()
    with pytest.raises(dbapi.Error, match="closed"):
        cur.nextset()


def test_sizes_may_be_set(cur: dbapi.Cursor) -> None:
    cur.setinputsizes((25,))
    cur.setinputsizes([None, dbapi.NUMBER])
    cur.setoutputsize(1000)
    cur.setoutputsize(2000, 0)
    fill(cur)
    assert len(cur.execute("SELECT name FROM dbapi20_drinks WHERE tail = ?", (12345,)).fetchall()) == len(
        DRINKS
    )


def test_none_is_null(cur: dbapi.Cursor) -> None:
    cur.execute("INSERT INTO dbapi20_drinks VALUES (?, ?)", (None, 12345))
    assert cur.execute("SELECT name, tail FROM dbapi20_drinks WHERE name IS NULL").fetchall() == [
        (None, 12345)
    ]
    cur.executemany("UPDATE dbapi20_drinks SET tail = ? WHERE tail = ?", [(None, 12345)])
    assert cur.execute("SELECT tail FROM dbapi20_drinks").fetchall() == [(None,)]


# ---- type objects and constructors -----------------------------------------------------------------------------------


def test_the_constructors_make_what_their_names_say() -> None:
    assert dbapi.Date(2002, 12, 25) == dt.date(2002, 12, 25)
    assert dbapi.Time(13, 45, 30) == dt.time(13, 45, 30)
    assert dbapi.Timestamp(2002, 12, 25, 13, 45, 30) == dt.datetime(2002, 12, 25, 13, 45, 30)
    assert bytes(dbapi.Binary(b"Something")) == b"Something"
    assert bytes(dbapi.Binary(b"")) == b""


@pytest.mark.parametrize(
    "moment", [(2002, 12, 25, 13, 45, 30), (1970, 1, 2, 0, 0, 0), (2026, 7, 1, 23, 59, 59)]
)
def test_ticks_are_local_time(moment: tuple[int, ...]) -> None:
    year, month, day, hour, minute, second = moment
    ticks = time.mktime((*moment, 0, 0, -1))  # type: ignore[arg-type]
    assert dbapi.DateFromTicks(ticks) == dt.date(year, month, day)
    assert dbapi.TimeFromTicks(ticks) == dt.time(hour, minute, second)
    assert dbapi.TimestampFromTicks(ticks) == dt.datetime(year, month, day, hour, minute, second)


def test_constructed_values_are_stored_and_come_back(conn: dbapi.Connection) -> None:
    cur = conn.cursor()
    cur.execute(
        "CREATE TEMP TABLE dbapi20_times "
        "(d DATE, t DATETIME HOUR TO SECOND, s DATETIME YEAR TO SECOND, b BYTE, tail INT)"
    )
    row = (
        dbapi.Date(2002, 12, 25),
        dbapi.Time(13, 45, 30),
        dbapi.Timestamp(2002, 12, 25, 13, 45, 30),
        dbapi.Binary(b"\0\xff\x80"),
        12345,
    )
    cur.execute("INSERT INTO dbapi20_times VALUES (?, ?, ?, ?, ?)", row)
    assert cur.execute("SELECT * FROM dbapi20_times").fetchall() == [row]


OBJECTS = ("STRING", "BINARY", "NUMBER", "DATETIME", "ROWID")
TYPES = [
    ("CHAR(7)", "STRING"),
    ("NCHAR(7)", "STRING"),
    ("VARCHAR(7)", "STRING"),
    ("NVARCHAR(7)", "STRING"),
    ("LVARCHAR(700)", "STRING"),
    ("TEXT", "STRING"),
    ("CLOB", "STRING"),
    ("BYTE", "BINARY"),
    ("BLOB", "BINARY"),
    ("SMALLINT", "NUMBER"),
    ("INTEGER", "NUMBER"),
    ("INT8", "NUMBER"),
    ("BIGINT", "NUMBER"),
    ("SERIAL", "NUMBER"),
    ("SERIAL8", "NUMBER"),
    ("BIGSERIAL", "NUMBER"),
    ("FLOAT", "NUMBER"),
    ("SMALLFLOAT", "NUMBER"),
    ("DECIMAL(10,2)", "NUMBER"),
    ("DECIMAL(16)", "NUMBER"),
    ("MONEY(10,2)", "NUMBER"),
    ("DATE", "DATETIME"),
    ("DATETIME YEAR TO FRACTION(5)", "DATETIME"),
    ("DATETIME HOUR TO MINUTE", "DATETIME"),
    ("INTERVAL DAY(3) TO SECOND", "DATETIME"),
    ("BOOLEAN", None),
    ("SET(INTEGER NOT NULL)", None),
]


@pytest.mark.parametrize(("declared", "name"), TYPES)
def test_a_column_type_equals_the_type_object_that_it_belongs_to(
    conn: dbapi.Connection, declared: str, name: str | None
) -> None:
    """A column type equals no other type object, in either order of the comparison."""
    cur = conn.cursor()
    cur.execute(f"CREATE TEMP TABLE dbapi20_types (c {declared}, tail INT)")
    cur.execute("SELECT c, tail FROM dbapi20_types")
    assert cur.description is not None
    code = cur.description[0][1]
    equal = [other for other in OBJECTS if code == getattr(dbapi, other)]
    assert equal == ([name] if name else [])
    assert [other for other in OBJECTS if getattr(dbapi, other) == code] == equal
    assert [other for other in OBJECTS if not code != getattr(dbapi, other)] == equal  # noqa: SIM202
    assert cur.description[1][1] == dbapi.NUMBER


def test_type_objects_differ() -> None:
    objects = [getattr(dbapi, name) for name in OBJECTS]
    for number, one in enumerate(objects):
        assert [one == other for other in objects] == [number == place for place in range(len(objects))]
    assert len(set(objects)) == len(OBJECTS)


# ---- optional extensions ---------------------------------------------------------------------------------------------


def test_rownumber_is_the_index_of_the_next_row(cur: dbapi.Cursor) -> None:
    assert cur.rownumber is None
    fill(cur)
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert cur.rownumber == 0
    cur.fetchone()
    assert cur.rownumber == 1
    cur.fetchmany(3)
    assert cur.rownumber == 4
    cur.fetchall()
    assert cur.rownumber == len(DRINKS)
    cur.execute("DELETE FROM dbapi20_drinks")
    assert cur.rownumber is None


def test_a_cursor_knows_its_connection(conn: dbapi.Connection, cur: dbapi.Cursor) -> None:
    assert cur.connection is conn


def test_a_scroll_cursor_goes_anywhere(conn: dbapi.Connection, cur: dbapi.Cursor) -> None:
    cur.executemany("INSERT INTO dbapi20_drinks VALUES (?, ?)", [("x", number) for number in range(10)])
    with conn.cursor(scrollable=True) as scrolling:
        scrolling.execute("SELECT tail FROM dbapi20_drinks ORDER BY tail")
        scrolling.scroll(4, mode="absolute")
        assert scrolling.fetchone() == (4,)
        scrolling.scroll(2)
        assert scrolling.fetchone() == (7,)
        scrolling.scroll(-8, mode="relative")
        assert scrolling.fetchone() == (0,)
        with pytest.raises(IndexError):
            scrolling.scroll(100)
        with pytest.raises(IndexError):
            scrolling.scroll(-1, mode="absolute")


def test_messages_hold_what_the_server_warned_about(cur: dbapi.Cursor) -> None:
    assert cur.messages == []
    cur.execute("CREATE TEMP TABLE dbapi20_short (name VARCHAR(3))")
    with pytest.warns(dbapi.Warning):
        cur.execute("INSERT INTO dbapi20_short VALUES (? || '')", ("abcd",))
    ((kind, message),) = cur.messages
    assert kind is dbapi.Warning
    assert isinstance(message, dbapi.Warning)
    cur.execute("SELECT name FROM dbapi20_short")
    assert cur.messages == []  # "cleared automatically by all standard cursor method calls"
    assert cur.fetchall() == [("abc",)]


def test_cursors_are_iterators(cur: dbapi.Cursor) -> None:
    fill(cur)
    cur.execute("SELECT name FROM dbapi20_drinks")
    assert iter(cur) is cur
    first = next(cur)
    assert sorted([first[0], *(row[0] for row in cur)]) == sorted(DRINKS)
    with pytest.raises(StopIteration):
        next(cur)


@pytest.mark.parametrize("kind", ["SERIAL", "SERIAL8", "BIGSERIAL"])
def test_lastrowid_is_the_serial_of_the_last_insert(conn: dbapi.Connection, kind: str) -> None:
    """All three serial types. Two of them have their own message in the reply (SQLI section 10)."""
    cur = conn.cursor()
    assert cur.lastrowid is None
    cur.execute(f"CREATE TEMP TABLE dbapi20_serial (k {kind}, v INT)")
    assert cur.lastrowid is None
    assert cur.execute("INSERT INTO dbapi20_serial VALUES (0, 12345)").lastrowid == 1
    assert cur.execute("INSERT INTO dbapi20_serial VALUES (0, ?)", (12345,)).lastrowid == 2
    assert cur.execute("INSERT INTO dbapi20_serial VALUES (41, 12345)").lastrowid == 41
    assert cur.execute("INSERT INTO dbapi20_serial (v) VALUES (12345)").lastrowid == 42
    cur.executemany("INSERT INTO dbapi20_serial (v) VALUES (?)", [(number,) for number in range(10)])
    assert cur.lastrowid == 52
    assert cur.execute("UPDATE dbapi20_serial SET v = 1").lastrowid is None
    assert cur.execute("SELECT MAX(k) FROM dbapi20_serial").lastrowid is None
    assert cur.fetchone() == (52,)


@pytest.mark.parametrize("kind", ["SERIAL8", "BIGSERIAL"])
def test_lastrowid_goes_beyond_32_bits(conn: dbapi.Connection, kind: str) -> None:
    cur = conn.cursor()
    cur.execute(f"CREATE TEMP TABLE dbapi20_serial (k {kind}, v INT)")
    assert cur.execute(f"INSERT INTO dbapi20_serial VALUES ({2**40 + 7}, 1)").lastrowid == 2**40 + 7
    assert cur.execute("INSERT INTO dbapi20_serial VALUES (0, 1)").lastrowid == 2**40 + 8


def test_there_are_no_two_phase_commits(conn: dbapi.Connection) -> None:
    """Two-phase commit is optional in the PEP. The methods do not exist, so that programs do not find them."""
    for name in ("tpc_begin", "tpc_prepare", "tpc_commit", "tpc_rollback", "tpc_recover", "xid"):
        assert not hasattr(conn, name)


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_threads_may_share_a_connection(conn: dbapi.Connection, cur: dbapi.Cursor) -> None:
    """threadsafety = 2: each thread uses its own cursors."""
    failures: list[BaseException] = []
    found: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        try:
            own = conn.cursor()
            for step in range(20):
                own.execute("INSERT INTO dbapi20_drinks VALUES (?, ?)", (f"{number}-{step}", number))
                own.execute("SELECT name FROM dbapi20_drinks WHERE tail = ?", (number,))
                found[number] = own.fetchall()
        except BaseException as error:  # noqa: BLE001 - the main thread raises it
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for number in range(4):
        assert sorted(found[number]) == sorted((f"{number}-{step}",) for step in range(20))
    assert cur.execute("SELECT COUNT(*) FROM dbapi20_drinks").fetchone() == (Decimal(80),)
