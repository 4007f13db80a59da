"""Procedures, functions and the fast path against the embedded server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.internals import session_of

import informix_arrow as ifx
from informix_arrow import dbapi
from informix_arrow.server import Server

ROUTINES = (
    "CREATE TABLE client_calls (n INT, name VARCHAR(20))",
    "CREATE FUNCTION client_lower(word VARCHAR(40)) RETURNING VARCHAR(40); RETURN LOWER(word); END FUNCTION",
    """CREATE FUNCTION client_numbers(most INT) RETURNING INT AS n, VARCHAR(10) AS name, INT AS sentinel;
         DEFINE i INT;
         LET i = 0;
         WHILE i < most
           LET i = i + 1;
           RETURN i, 'n' || i, 12345 WITH RESUME;
         END WHILE;
       END FUNCTION""",
    """CREATE PROCEDURE client_keep(n INT, name VARCHAR(20))
         INSERT INTO client_calls VALUES (n, name);
       END PROCEDURE""",
    """CREATE PROCEDURE client_missing()
         INSERT INTO client_calls VALUES (99, 'before');
         EXECUTE PROCEDURE client_nowhere();
       END PROCEDURE""",
)


@pytest.fixture(scope="module")
def made(server: Server) -> Iterator[Server]:
    with dbapi.connect(server.url("stores_demo"), autocommit=True) as connection:
        for statement in ROUTINES:
            connection.execute(statement)
        yield server
        for statement in (
            "DROP TABLE client_calls",
            "DROP FUNCTION client_lower",
            "DROP FUNCTION client_numbers",
            "DROP PROCEDURE client_keep",
            "DROP PROCEDURE client_missing",
        ):
            connection.execute(statement)


@pytest.fixture
def conn(made: Server) -> Iterator[ifx.Connection]:
    with dbapi.connect(made.url("stores_demo")) as connection:
        yield connection
        if not connection.closed:
            connection.rollback()


def test_a_function_is_called_and_its_value_fetched(conn: ifx.Connection) -> None:
    cur = conn.cursor()
    for word, lower in (("FOO", "foo"), ("", ""), ("ÄÖß 9", "äöß 9"), (None, None)):
        parameters = (word,)
        assert cur.callproc("client_lower", parameters) == [word]
        assert parameters == (word,)
        assert cur.description is not None
        assert cur.rowcount == -1
        assert cur.fetchall() == [(lower,)]


@pytest.mark.parametrize("count", [0, 1, 2, 150])
def test_a_function_may_return_many_rows(conn: ifx.Connection, count: int) -> None:
    cur = conn.cursor(row_factory="namedtuple")
    cur.callproc("client_numbers", [count])
    assert [item[0] for item in cur.description or ()] == ["n", "name", "sentinel"]
    rows = cur.fetchall()
    assert rows == [(n, f"n{n}", 12345) for n in range(1, count + 1)]
    assert all(row.sentinel == 12345 for row in rows)


@pytest.mark.parametrize(
    "verb", ["EXECUTE FUNCTION", "execute procedure", "-- a comment\n{another} Execute Function"]
)
def test_rows_of_a_routine_come_as_arrow(conn: ifx.Connection, verb: str) -> None:
    table = conn.read_arrow(f"{verb} client_numbers(?)", (5,))
    assert table.schema.names == ["n", "name", "sentinel"]
    assert table.schema.types == [pa.int32(), pa.string(), pa.int32()]
    assert table.column("n").to_pylist() == [1, 2, 3, 4, 5]
    with conn.query(f"{verb} client_numbers(?)", (300,), batch_rows=100) as result:
        assert [batch.num_rows for batch in result.batches()] == [100] * 3


def test_a_procedure_without_rows_has_no_description(conn: ifx.Connection) -> None:
    cur = conn.cursor()
    assert cur.callproc("client_keep", (7, "seven")) == [7, "seven"]
    assert cur.description is None
    with pytest.raises(ifx.ProgrammingError, match="nothing to fetch"):
        cur.fetchone()
    assert cur.execute("SELECT n, name FROM client_calls").fetchall() == [(7, "seven")]
    conn.rollback()
    assert cur.execute("SELECT COUNT(*) FROM client_calls").fetchone() == (Decimal(0),)


def test_a_routine_that_is_not_there_is_reported_by_name(conn: ifx.Connection) -> None:
    cur = conn.cursor()
    for parameters in ((), (1, 2)):
        with pytest.raises(ifx.ProgrammingError, match="client_nosuch") as caught:
            cur.callproc("client_nosuch", parameters)
        assert caught.value.sqlcode == -674
    assert cur.callproc("client_lower", ("X",)) == ["X"]


def test_a_routine_missing_inside_a_procedure_does_not_run_it_twice(conn: ifx.Connection) -> None:
    """The failed statement is undone as a whole, including what the procedure did before the error."""
    cur = conn.cursor()
    with pytest.raises(ifx.ProgrammingError, match="client_nowhere"):
        cur.callproc("client_missing")
    assert cur.execute("SELECT COUNT(*) FROM client_calls WHERE n = 99").fetchone() == (0,)


def test_the_wrong_number_of_values_is_refused(conn: ifx.Connection) -> None:
    cur = conn.cursor()
    for parameters in ((), ("a", "b")):
        with pytest.raises(ifx.DatabaseError):
            cur.callproc("client_lower", parameters)
    assert cur.callproc("client_lower", ("A",)) == ["A"]


@pytest.mark.parametrize("parameters", ["FOO", b"FOO", {"word": "FOO"}, 7], ids=repr)
def test_what_is_no_sequence_of_values_is_refused(conn: ifx.Connection, parameters: Any) -> None:
    cur = conn.cursor()
    with pytest.raises(ifx.InterfaceError):
        cur.callproc("client_lower", parameters)
    assert not conn.closed


def test_a_name_is_no_place_for_sql(conn: ifx.Connection) -> None:
    with pytest.raises(ifx.InterfaceError, match="A procedure name has the"):
        conn.cursor().callproc("client_lower('a'); DROP TABLE client_calls; --")


def test_rows_of_a_routine_can_be_scrolled(conn: ifx.Connection) -> None:
    cur = conn.cursor(scrollable=True)
    cur.callproc("client_numbers", (50,))
    assert cur.fetch_last() == (50, "n50", 12345)
    assert cur.fetch_absolute(10) == (11, "n11", 12345)


# ---- the fast path ---------------------------------------------------------------------------------------------------

CLOSE = "function informix.ifx_lo_close(integer)"


@pytest.fixture
def objects(conn: ifx.Connection) -> list[bytes]:
    """Create BLOBs in a temporary table and return their contents."""
    contents = [b"", b"x", bytes(range(256)) * 300]
    conn.execute("CREATE TEMP TABLE client_objects (id INT, b BLOB)")
    conn.cursor().executemany("INSERT INTO client_objects VALUES (?, ?)", list(enumerate(contents)))
    return contents


def test_a_descriptor_is_closed_without_sql(conn: ifx.Connection, objects: list[bytes]) -> None:
    cur = conn.execute("SELECT ifx_lo_open(b, 4) FROM client_objects WHERE id = 2")
    (descriptor,) = cur.fetchone()
    assert conn.fast_path_call(CLOSE, descriptor) == 0
    with pytest.raises(ifx.OperationalError) as caught:
        conn.fast_path_call(CLOSE, descriptor)
    assert caught.value.sqlcode == -9810
    assert conn.execute("SELECT COUNT(*) FROM client_objects").fetchone() == (3,)


def test_a_routine_may_take_and_return_opaque_values(conn: ifx.Connection, objects: list[bytes]) -> None:
    """The size of each object, from the structure that ifx_lo_stat fills: its low half at offset 4."""
    for number, content in enumerate(objects):
        cur = conn.execute("SELECT ifx_lo_open(b, 4) FROM client_objects WHERE id = ?", (number,))
        (descriptor,) = cur.fetchone()
        stat, status = conn.fast_path_call(
            "informix.ifx_lo_stat(integer, ifx_lo_stat)", descriptor, bytes(644)
        )
        assert status == 0
        assert (len(stat), int.from_bytes(stat[4:8], "big")) == (644, len(content))
        position = conn.fast_path_call("ifx_lo_seek(integer,int8,integer,int8)", descriptor, 1, 0, 0)
        assert position == (1, 0)  # the OUT parameter, and the routine's return value
        conn.fast_path_call(CLOSE, descriptor)


def test_several_values_come_as_a_tuple(conn: ifx.Connection) -> None:
    specification = b"\xda\xda\xfe\xed".ljust(596, b"\0")
    made = conn.fast_path_call(
        "informix.ifx_lo_create(ifx_lo_spec, integer, blob)", specification, 8, b"\0" * 72
    )
    locator, descriptor = made
    assert len(locator) == 72
    assert conn.fast_path_call(CLOSE, descriptor) == 0
    again = conn.fast_path_call("informix.ifx_lo_open(blob, integer)", locator, 4)
    assert conn.fast_path_call(CLOSE, again) == 0


def test_a_signature_that_the_server_lacks_is_reported(conn: ifx.Connection) -> None:
    for _ in range(2):
        with pytest.raises(ifx.ProgrammingError, match="nosuch") as caught:
            conn.fast_path_call("informix.nosuch(integer)", 1)
        assert caught.value.sqlcode == -674
    assert not conn.closed


def test_a_wrong_call_sends_nothing(conn: ifx.Connection) -> None:
    with pytest.raises(ifx.InterfaceError, match="A signature has the form"):
        conn.fast_path_call("ifx_lo_close", 1)
    with pytest.raises(ifx.ProgrammingError, match="0 arguments for the 1"):
        conn.fast_path_call(CLOSE)
    with pytest.raises(ifx.DataError, match="Argument 1: str cannot be INTEGER"):
        conn.fast_path_call(CLOSE, "1")
    conn.close()
    with pytest.raises(ifx.InterfaceError, match="connection is closed"):
        conn.fast_path_call(CLOSE, 1)


def test_handles_belong_to_the_database(made: Server) -> None:
    with dbapi.connect(made.url("stores_demo"), autocommit=True) as conn:
        for database in ("stores_demo", "sysmaster", "stores_demo"):
            conn.execute(f"DATABASE {database}")
            assert not session_of(conn).routines
            with pytest.raises(ifx.OperationalError):
                conn.fast_path_call(CLOSE, 4711)


def test_dates_are_values_too(conn: ifx.Connection) -> None:
    """One routine with a parameter of every plain type."""
    conn.execute(
        "CREATE FUNCTION client_echo(i INT, f FLOAT, d DATE, m DECIMAL(10,2)) RETURNING INT, FLOAT, DATE, "
        "DECIMAL(10,2); RETURN i, f, d, m; END FUNCTION"
    )
    cur = conn.cursor()
    for row in ((-5, 0.5, date(2026, 2, 28), Decimal("-1.25")), (None, None, None, None)):
        cur.callproc("client_echo", row)
        assert cur.fetchall() == [row]
    conn.execute("DROP FUNCTION client_echo")
