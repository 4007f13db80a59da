"""The PEP 249 cursor against the embedded server."""

from __future__ import annotations

import copy
import pickle
import random
import threading
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from tests.internals import session_of

import informix_arrow as ifx
from informix_arrow import dbapi
from informix_arrow.operations.reexecute import SmallResult
from informix_arrow.server import Server


@pytest.fixture
def conn(server: Server) -> Iterator[ifx.Connection]:
    with dbapi.connect(server.url("stores_demo"), fetch_buffer_size=65536) as connection:
        yield connection


def fill(cursor: ifx.Cursor) -> None:
    cursor.execute(
        "CREATE TEMP TABLE client_cur (id INT NOT NULL, name CHAR(8), price DECIMAL(8,2), day DATE)"
    )
    rows = [(number, f"n{number}", Decimal(number) / 2, date(2026, 1, number + 1)) for number in range(10)]
    cursor.executemany("INSERT INTO client_cur VALUES (?, ?, ?, ?)", rows)


@pytest.fixture
def cur(conn: ifx.Connection) -> Iterator[ifx.Cursor]:
    """A cursor, and a temporary table of ten rows."""
    with conn.cursor() as cursor:
        fill(cursor)
        yield cursor
        conn.rollback()


QUERY = "SELECT id, name, price, day FROM client_cur ORDER BY id"


def test_the_module_says_what_it_is() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")
    assert issubclass(dbapi.ProtocolError, dbapi.OperationalError)
    assert ifx.Connection.ProgrammingError is dbapi.ProgrammingError


def test_rows_are_those_of_read_arrow(conn: ifx.Connection, cur: ifx.Cursor) -> None:
    rows = cur.execute(QUERY).fetchall()
    assert rows == [tuple(row.values()) for row in conn.read_arrow(QUERY).to_pylist()]
    assert rows[3] == (3, "n3", Decimal("1.50"), date(2026, 1, 4))


@pytest.mark.parametrize("factory", ["tuple", "dict", "namedtuple", lambda _: str])
def test_a_query_that_is_run_again_gives_its_rows_however_they_are_fetched(
    conn: ifx.Connection, cur: ifx.Cursor, factory: Any
) -> None:
    """A repeated query creates Python rows directly, and an Arrow batch only if one is requested."""
    ways: list[Callable[[ifx.Cursor], Any]] = [
        lambda c: (c.fetchall(), c.rownumber, c.fetchall()),
        lambda c: ([c.fetchone() for _ in range(12)], c.rownumber),
        lambda c: (c.fetchmany(3), c.rownumber, c.fetchmany(4), c.fetchmany(20), c.rownumber),
        lambda c: (c.fetchone(), list(c)),
        lambda c: c.fetch_arrow_table(),
        lambda c: (c.fetchone(), c.fetchmany(2), c.fetch_arrow_table(), c.fetchall()),
        lambda c: (c.fetchall(), c.fetch_arrow_table()),
        lambda c: (c.description, c.rowcount, c.rownumber),
    ]
    cur.execute(QUERY).fetchall()
    for number, way in enumerate(ways):
        told = []
        for text in (f"{QUERY}, {number % 4 + 1}", QUERY):  # a new text; one that ran before
            with conn.cursor(row_factory=factory) as other:
                other.execute(text)
                told.append((isinstance(other._cursor, SmallResult), way(other)))
        (first, expected), (again, found) = told
        assert (first, again) == (number > 3, True)
        assert repr(found) == repr(expected)


def test_rows_come_in_any_portions(cur: ifx.Cursor) -> None:
    cur.execute(QUERY)
    assert cur.rowcount == -1
    assert cur.fetchone()[0] == 0
    assert [row[0] for row in cur.fetchmany()] == [1]
    cur.arraysize = 3
    assert [row[0] for row in cur.fetchmany()] == [2, 3, 4]
    assert [row[0] for row in cur.fetchmany(2)] == [5, 6]
    assert cur.fetchmany(0) == []
    assert [row[0] for row in cur] == [7, 8, 9]
    assert cur.fetchone() is None
    assert cur.fetchmany(5) == []
    assert cur.fetchall() == []


def test_the_description_reports_the_declared_types(cur: ifx.Cursor) -> None:
    assert cur.description is None
    description = cur.execute(QUERY).description
    assert description is not None
    assert [item[0] for item in description] == ["id", "name", "price", "day"]
    assert [str(item[1]) for item in description] == ["INTEGER", "CHAR(8)", "DECIMAL(8,2)", "DATE"]
    assert [item[1] == kind for item, kind in zip(description, KINDS, strict=True)] == [True] * 4
    assert description[0][1] != dbapi.STRING
    assert description[2][4:6] == (8, 2)
    assert [item[6] for item in description] == [False, True, True, True]


KINDS = [dbapi.NUMBER, dbapi.STRING, dbapi.NUMBER, dbapi.DATETIME]


def test_changes_report_how_many_rows_they_touched(cur: ifx.Cursor) -> None:
    assert cur.execute("UPDATE client_cur SET price = 0 WHERE id < 4").rowcount == 4
    assert cur.description is None
    assert cur.execute("DELETE FROM client_cur").rowcount == 10
    with pytest.raises(ifx.ProgrammingError, match="nothing to fetch"):
        cur.fetchone()


def test_a_serial_is_reported(conn: ifx.Connection, cur: ifx.Cursor) -> None:
    cur.execute("CREATE TEMP TABLE client_serial (id SERIAL, v INT)")
    assert cur.execute("INSERT INTO client_serial VALUES (0, 7)").lastrowid == 1
    assert cur.execute("INSERT INTO client_serial VALUES (41, 7)").lastrowid == 41
    assert cur.execute("INSERT INTO client_serial (v) VALUES (7)").lastrowid == 42
    assert cur.execute("UPDATE client_serial SET v = 8").lastrowid is None


def test_many_rows_are_counted(cur: ifx.Cursor) -> None:
    total = 5000
    cur.executemany("INSERT INTO client_cur (id, name) VALUES (?, ?)", ((n, "x") for n in range(total)))
    assert cur.rowcount == total
    assert cur.execute("SELECT COUNT(*) FROM client_cur WHERE name = 'x'").fetchone() == (total,)


def test_the_first_failed_row_is_reported_and_the_others_are_in_effect(conn: ifx.Connection) -> None:
    with conn.cursor() as cur:
        cur.execute("CREATE TEMP TABLE client_unique (id INT PRIMARY KEY, sentinel INT)")
        rows = [(n % 400, 12345) for n in range(500)]
        with pytest.raises(ifx.IntegrityError) as caught:
            cur.executemany("INSERT INTO client_unique VALUES (?, ?)", rows)
        assert (caught.value.row, caught.value.sqlcode) == (400, -268)
        assert cur.rowcount == 400
        assert cur.execute("SELECT COUNT(*) FROM client_unique").fetchone() == (400,)
        cur.execute("DROP TABLE client_unique")


def test_a_row_of_a_wrong_length_stops_the_run(cur: ifx.Cursor) -> None:
    with pytest.raises(ifx.ProgrammingError, match="1 values for 2") as caught:
        cur.executemany("INSERT INTO client_cur (id, name) VALUES (?, ?)", [(100, "a"), (101,), (102, "c")])
    assert caught.value.row == 1
    assert cur.execute("SELECT id FROM client_cur WHERE id >= 100").fetchall() == [(100,)]


@pytest.mark.parametrize("rows", [None, 7, {"id": 1}, "ab", [{"id": 1, "name": "a"}], ["ab"]], ids=repr)
def test_what_is_no_rows_is_refused_and_the_connection_lives_on(
    conn: ifx.Connection, cur: ifx.Cursor, rows: Any
) -> None:
    """Regression: a dict sent its keys, a text its characters, and an error of iter() closed the connection."""
    with pytest.raises(ifx.InterfaceError):
        cur.executemany("INSERT INTO client_cur (id, name) VALUES (?, ?)", rows)
    assert not conn.closed
    assert len(cur.execute(QUERY).fetchall()) == 10


def test_rows_cannot_come_from_the_connection_that_sends_them(conn: ifx.Connection, cur: ifx.Cursor) -> None:
    """Two exchanges at once on one connection would mix their replies. This is refused with a clear error."""
    source = conn.execute("SELECT id + 100, name FROM client_cur")
    with pytest.raises(ifx.InterfaceError, match="same connection"):
        cur.executemany("INSERT INTO client_cur (id, name) VALUES (?, ?)", source)
    assert len(cur.execute(QUERY).fetchall()) == 10
    source = conn.execute("SELECT id + 100, name FROM client_cur")
    cur.executemany("INSERT INTO client_cur (id, name) VALUES (?, ?)", source.fetchall())
    assert cur.rowcount == 10


def test_a_description_can_be_pickled_and_copied(cur: ifx.Cursor) -> None:
    description = cur.execute(QUERY).description
    for twin in (pickle.loads(pickle.dumps(description)), copy.deepcopy(description)):
        assert twin is not None
        assert twin == description
        assert [item[1] == dbapi.NUMBER for item in twin] == [True, False, True, False]


def test_a_failed_statement_leaves_the_cursor_usable(cur: ifx.Cursor) -> None:
    for _ in range(3):
        with pytest.raises(ifx.ProgrammingError) as caught:
            cur.execute("SELECT nosuch FROM client_cur")
        assert caught.value.sqlcode == -217
        assert cur.description is None
    assert len(cur.execute(QUERY).fetchall()) == 10


def test_a_new_statement_drops_the_rows_of_the_old_one(conn: ifx.Connection, cur: ifx.Cursor) -> None:
    cur.execute(QUERY).fetchone()
    assert cur.execute("SELECT MAX(id) FROM client_cur").fetchall() == [(9,)]
    other = conn.execute(QUERY)
    assert [row[0] for row in other.fetchmany(2)] == [0, 1]
    assert len(cur.execute(QUERY).fetchall()) == 10
    assert [row[0] for row in other.fetchmany(2)] == [2, 3]
    other.close()


def test_a_closed_cursor_says_so(cur: ifx.Cursor) -> None:
    cur.close()
    cur.close()
    for use in (cur.fetchone, cur.fetchall, lambda: cur.execute("SELECT 1 FROM systables")):
        with pytest.raises(ifx.InterfaceError, match="cursor is closed"):
            use()


def test_duplicate_column_names_keep_both_values(cur: ifx.Cursor) -> None:
    assert cur.execute("SELECT id, id + 1 AS id FROM client_cur WHERE id = 4").fetchall() == [(4, 5)]


def test_sizes_may_be_set_and_mean_nothing(cur: ifx.Cursor) -> None:
    cur.setinputsizes([1])
    cur.setoutputsize(1)


def test_the_constructors_make_values_that_can_be_bound(cur: ifx.Cursor) -> None:
    ticks = 1_800_000_000
    day = dbapi.DateFromTicks(ticks)
    found = cur.execute("SELECT ?::DATE, 12345 FROM client_cur WHERE id = 0", (day,)).fetchone()
    assert found == (day, 12345)
    assert dbapi.TimestampFromTicks(ticks).time() == dbapi.TimeFromTicks(ticks)


def test_text_that_the_server_cuts_is_warned_about(conn: ifx.Connection) -> None:
    """The server warns only for computed text. Text that is stored unchanged is refused before it is sent."""
    cursor = conn.cursor()
    cursor.execute("CREATE TEMP TABLE cut_text (k INT, name VARCHAR(3), tail INT)")
    with pytest.warns(ifx.Warning, match="truncated text"):
        cursor.execute("INSERT INTO cut_text VALUES (1, ? || '', 10)", ("abcd",))
    rows = [(2, "ab", 20), (3, "abcde", 30), (4, "xyz", 40), (5, "wxyz", 50)]
    with pytest.warns(ifx.Warning, match="in 2 of 4 rows, first in row 1"):
        cursor.executemany("INSERT INTO cut_text VALUES (?, ? || '', ?)", rows)
    stored = cursor.execute("SELECT name, tail FROM cut_text ORDER BY k").fetchall()
    assert stored == [("abc", 10), ("ab", 20), ("abc", 30), ("xyz", 40), ("wxy", 50)]


def test_the_flags_of_an_opened_database_are_no_warning(server: Server) -> None:
    """In the reply to DATABASE, the same bits of DONE report the logging mode."""
    with dbapi.connect(server.url("stores_demo"), autocommit=True) as conn, warnings.catch_warnings():
        warnings.simplefilter("error")
        conn.execute("DATABASE sysmaster")


# ---- WITH HOLD, and what COMMIT does to the others ---------------------------------------------------------------

_TABLES = ", ".join(f"client_cur {alias}" for alias in "abcde")
LARGE = f"SELECT a.id, b.id AS other, 12345 AS tail FROM {_TABLES}"
LARGE_ROWS = 10**5  # many fetches


def test_a_result_with_hold_outlives_commit_and_rollback(conn: ifx.Connection, cur: ifx.Cursor) -> None:
    conn.commit()
    held = conn.cursor(withhold=True).execute(LARGE)
    rows = held.fetchmany(10)
    cur.execute("UPDATE client_cur SET price = 1")
    conn.commit()
    rows += held.fetchmany(10)
    cur.execute("UPDATE client_cur SET price = 2")
    conn.rollback()
    rows += held.fetchall()
    assert len(rows) == LARGE_ROWS
    assert {row[2] for row in rows} == {12345}


def test_a_result_without_hold_says_what_closed_it(server: Server) -> None:
    """Rows that have arrived are returned. The first missing row is an error, never the end of the result. (With the
    usual window, all of these rows have arrived if the server is slow.)"""
    with (
        dbapi.connect(server.url("stores_demo"), fetch_buffer_size=65536, fetch_window_bytes=0) as conn,
        conn.cursor() as cur,
    ):
        fill(cur)
        plain = conn.cursor().execute(f"{LARGE}, client_cur x")  # more than a few fetches
        assert plain.fetchone()[2] == 12345
        conn.commit()
        with pytest.raises(
            ifx.ProgrammingError, match=r"(?s)COMMIT and ROLLBACK close cursors.*withhold=True"
        ):
            plain.fetchall()
        assert plain.execute("SELECT COUNT(*) FROM client_cur").fetchone() == (10,)


def test_a_scroll_cursor_may_be_held_too(conn: ifx.Connection, cur: ifx.Cursor) -> None:
    conn.commit()
    held = conn.cursor(scrollable=True, withhold=True).execute(QUERY)
    plain = conn.cursor(scrollable=True).execute(QUERY)
    assert held.fetch_last()[0] == plain.fetch_last()[0] == 9
    cur.execute("UPDATE client_cur SET price = 1")
    conn.commit()
    assert held.fetch_first()[0] == 0
    with pytest.raises(ifx.ProgrammingError, match="COMMIT and ROLLBACK close cursors"):
        plain.fetch_first()
    held.close()
    plain.close()


# ---- FOR UPDATE and WHERE CURRENT OF -----------------------------------------------------------------------------


@pytest.fixture
def rows_to_change(conn: ifx.Connection) -> Iterator[ifx.Cursor]:
    """Create rows of different lengths, some of them NULL: several fit into the buffer for the widest."""
    with conn.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE client_current (id INT, name VARCHAR(200), tail INT)")
        rows = [(n, None if n % 7 == 6 else "x" * (n * 9 % 200), 12345) for n in range(40)]
        cursor.executemany("INSERT INTO client_current VALUES (?, ?, ?)", rows)
        conn.commit()
        yield cursor
        if not conn.closed:
            conn.rollback()
            cursor.execute("DROP TABLE client_current")
            conn.commit()


def test_the_current_row_is_the_one_fetched_last(conn: ifx.Connection, rows_to_change: ifx.Cursor) -> None:
    changer = rows_to_change
    with conn.cursor("c1") as reader:
        assert reader.name == "c1"
        reader.execute("SELECT id, name, tail FROM client_current FOR UPDATE")
        for identity, _, tail in reader:
            assert tail == 12345
            if identity % 3 == 0:
                changer.execute("UPDATE client_current SET tail = ? WHERE CURRENT OF c1", (identity + 1000,))
                assert changer.rowcount == 1
            elif identity % 3 == 1:
                changer.execute("DELETE FROM client_current WHERE CURRENT OF c1")
                assert changer.rowcount == 1
    conn.commit()
    left = changer.execute("SELECT id, tail FROM client_current ORDER BY id").fetchall()
    assert left == [(n, n + 1000 if n % 3 == 0 else 12345) for n in range(40) if n % 3 != 1]


def test_the_last_row_can_be_changed_too(conn: ifx.Connection, rows_to_change: ifx.Cursor) -> None:
    """The server may report the end with the last row. The cursor must still be open then."""
    with conn.cursor("only_one") as reader:
        reader.execute("SELECT id FROM client_current WHERE id = 39 FOR UPDATE")
        assert reader.fetchone() == (39,)
        rows_to_change.execute("UPDATE client_current SET name = 'last' WHERE CURRENT OF only_one")
        assert reader.fetchone() is None
    found = rows_to_change.execute("SELECT id FROM client_current WHERE name = 'last'").fetchall()
    assert found == [(39,)]


def test_without_a_current_row_nothing_is_changed(conn: ifx.Connection, rows_to_change: ifx.Cursor) -> None:
    """There is no current row before the first fetch, after the last row, and when the cursor is closed."""
    change = "UPDATE client_current SET tail = 0 WHERE CURRENT OF c2"
    reader = conn.cursor("c2").execute("SELECT id FROM client_current WHERE id < 2 FOR UPDATE")
    with pytest.raises(ifx.DatabaseError):
        rows_to_change.execute(change)
    assert reader.fetchall() == [(0,), (1,)]
    with pytest.raises(ifx.DatabaseError):
        rows_to_change.execute(change)
    reader.close()
    with pytest.raises(ifx.DatabaseError):
        rows_to_change.execute(change)
    count = rows_to_change.execute("SELECT COUNT(*) FROM client_current WHERE tail = 0").fetchone()
    assert count == (0,)


def test_the_work_on_current_rows_can_be_undone(conn: ifx.Connection, rows_to_change: ifx.Cursor) -> None:
    reader = conn.cursor("c3").execute("SELECT id FROM client_current FOR UPDATE")
    for _ in range(3):
        reader.fetchone()
        rows_to_change.execute("UPDATE client_current SET tail = 0 WHERE CURRENT OF c3")
    conn.rollback()
    with pytest.raises(ifx.DatabaseError, match="COMMIT and ROLLBACK close cursors"):
        reader.fetchone()
    reader.close()
    count = rows_to_change.execute("SELECT COUNT(*) FROM client_current WHERE tail = 0").fetchone()
    assert count == (0,)


def test_two_open_cursors_of_one_name_are_refused(conn: ifx.Connection, rows_to_change: ifx.Cursor) -> None:
    """Regression: WHERE CURRENT OF changed a row of the cursor that was opened last."""
    sql = "SELECT id FROM client_current FOR UPDATE"
    first, second = conn.cursor("c5"), conn.cursor("C5")
    first.execute(sql).fetchone()
    with pytest.raises(ifx.InterfaceError, match="'c5', so WHERE CURRENT OF C5 is ambiguous"):
        second.execute(sql)
    rows_to_change.execute("UPDATE client_current SET tail = 0 WHERE CURRENT OF c5")
    first.execute(sql)  # its previous result is closed first
    first.close()
    assert second.execute(sql).fetchone() == (0,)
    conn.commit()  # closes open cursors
    third = conn.cursor("c5").execute(sql)
    assert third.fetchall()[-1] == (39,)
    assert conn.cursor("c5").execute(sql).fetchone() == (0,)  # the third has no rows left
    assert rows_to_change.execute("SELECT id FROM client_current WHERE tail = 0").fetchall() == [(0,)]


def test_a_connection_is_neither_pickled_nor_copied(conn: ifx.Connection, cur: ifx.Cursor) -> None:
    """A copy would close the session of the original when it is dropped."""
    for each in (conn, cur, conn.query("SELECT 1 FROM systables WHERE tabid = 1")):
        with pytest.raises(TypeError, match="Pass the URL, and connect there"):
            pickle.dumps(each)
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.copy(conn)
    conn.ping()


def test_a_named_cursor_gives_arrow_and_all_fetches(conn: ifx.Connection, rows_to_change: ifx.Cursor) -> None:
    with conn.cursor("c4") as reader:
        reader.execute("SELECT id, tail FROM client_current FOR UPDATE")
        assert reader.fetchmany(3) == [(0, 12345), (1, 12345), (2, 12345)]
        rows_to_change.execute("DELETE FROM client_current WHERE CURRENT OF c4")
        assert reader.fetch_arrow_table().column("id").to_pylist() == list(range(3, 40))
    gone = rows_to_change.execute("SELECT id FROM client_current WHERE id < 5 ORDER BY id").fetchall()
    assert gone == [(0,), (1,), (3,), (4,)]


@pytest.mark.parametrize("name", ["1c", "c-1", "c 1", "c1; DELETE", "x" * 129, True, 7], ids=repr)
def test_what_cannot_be_a_cursors_name_is_refused(conn: ifx.Connection, name: Any) -> None:
    with pytest.raises(ifx.InterfaceError, match="A cursor name is"):
        conn.cursor(name)


# ---- several cursors ---------------------------------------------------------------------------------------------


def test_results_can_be_read_alternately_and_closed_in_any_order(
    conn: ifx.Connection, cur: ifx.Cursor
) -> None:
    chance = random.Random(7)
    expected = [tuple(row.values()) for row in conn.read_arrow(LARGE).to_pylist()]
    open_cursors = {number: conn.cursor().execute(LARGE) for number in range(5)}
    seen: dict[int, list[Any]] = {number: [] for number in open_cursors}
    dropped = 0
    while open_cursors:
        number = chance.choice(list(open_cursors))
        reader = open_cursors[number]
        rows = reader.fetchmany(chance.choice([1, 1000, 20000]))
        seen[number] += rows
        if not rows or (dropped < 2 and len(seen[number]) > 30000):
            dropped += bool(rows)
            if rows and dropped == 1:
                reader.close()
            del open_cursors[number], reader  # half read, and closed or left to the garbage collector
    for number, rows in seen.items():
        assert rows == expected[: len(rows)], number
    assert sum(len(rows) == LARGE_ROWS for rows in seen.values()) == 3
    assert cur.execute("SELECT COUNT(*) FROM client_cur").fetchone() == (10,)
    assert not session_of(conn).orphans


def test_threads_read_results_of_one_connection_side_by_side(conn: ifx.Connection, cur: ifx.Cursor) -> None:
    """Each thread has a cursor. One of them stops early, one fails, one scrolls."""
    expected = [tuple(row.values()) for row in conn.read_arrow(LARGE).to_pylist()]
    start = threading.Barrier(6)
    outcomes: dict[int, Any] = {}

    def work(number: int) -> None:
        try:
            start.wait(60)
            own = conn.cursor(scrollable=number == 5)
            if number == 4:
                own.execute("SELECT nosuch FROM client_cur")
            own.execute(LARGE if number < 5 else QUERY)
            outcomes[number] = own.fetchmany(1500) if number == 3 else own.fetchall()
            own.close()
        except BaseException as error:  # noqa: BLE001 - looked at by the main thread
            outcomes[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(3):
        assert outcomes[number] == expected
    assert outcomes[3] == expected[:1500]
    assert isinstance(outcomes[4], ifx.ProgrammingError)
    assert [row[0] for row in outcomes[5]] == list(range(10))
    assert cur.execute("SELECT COUNT(*) FROM client_cur").fetchone() == (10,)


def test_one_result_may_be_read_by_several_threads_in_turns(conn: ifx.Connection, cur: ifx.Cursor) -> None:
    """Different threads may read one after the other, but only one thread at a time may use a cursor."""
    reader = conn.cursor().execute(LARGE)
    rows: list[Any] = []
    for _ in range(5):
        thread = threading.Thread(target=lambda: rows.extend(reader.fetchmany(LARGE_ROWS // 5)))
        thread.start()
        thread.join()
    assert len(rows) == LARGE_ROWS
    assert reader.fetchone() is None


def test_a_statement_may_have_its_own_time_limit(conn: ifx.Connection, cur: ifx.Cursor) -> None:
    """A short test: tests/unit/transport has those of what happens when the limit expires."""
    assert cur.execute(QUERY, timeout=300).fetchall()[9][0] == 9
    cur.executemany("UPDATE client_cur SET price = ? WHERE id = ?", [(1, 2), (3, 4)], timeout=300)
    assert cur.rowcount == 2
    with conn.cursor(scrollable=True) as scrolling:
        assert scrolling.execute(QUERY, timeout=300).fetch_last()[0] == 9


@pytest.mark.parametrize("scrollable", [False, True])
def test_what_is_no_number_of_rows_is_refused(
    conn: ifx.Connection, cur: ifx.Cursor, scrollable: bool
) -> None:
    with conn.cursor(scrollable=scrollable) as other:
        other.execute(QUERY)
        for wrong in (-1, 2.5, "3"):
            with pytest.raises(
                ifx.InterfaceError, match=f"size must be a whole number of at least 0, got .?{wrong}"
            ):
                other.fetchmany(wrong)  # type: ignore[arg-type]
        other.arraysize = -1
        with pytest.raises(ifx.InterfaceError, match="arraysize must be a whole number"):
            other.fetchmany()
        assert other.fetchmany(0) == []
        assert [row[0] for row in other.fetchmany(10**30)] == list(range(10))


def test_a_text_is_no_autocommit(conn: ifx.Connection) -> None:
    for wrong in ("off", "", None, 2):
        with pytest.raises(ifx.InterfaceError, match="autocommit must be True or False, got"):
            conn.autocommit = wrong  # type: ignore[assignment]
    assert conn.autocommit is False


def test_columns_of_other_libraries_are_no_rows_of_parameters(cur: ifx.Cursor) -> None:
    import pandas
    import pyarrow

    for wrong in (pandas.Series([5]), pyarrow.array([5])):
        with pytest.raises(ifx.InterfaceError, match="is one column, not rows of parameters"):
            cur.execute("SELECT id FROM client_cur WHERE id = ?", wrong)
        with pytest.raises(ifx.InterfaceError, match="is one column, not rows of parameters"):
            cur.executemany("DELETE FROM client_cur WHERE id = ?", wrong)
    with pytest.raises(ifx.InterfaceError, match="parameters must be a sequence"):
        cur.execute("SELECT id FROM client_cur WHERE id IN (?, ?)", pandas.Series([5, 6]).to_numpy())
