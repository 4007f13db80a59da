"""Errors as users see them: their class, their text, and a connection that stays usable.

One test for each class of failure at each step: prepare, execute, fetch, put, commit. After each the statement is
released on the server and the connection does its work.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.wire.error_catalogue import ISAM_ADVICE

SECRET = "hunter2-s3cret"


@pytest.fixture(scope="module")
def tables(server: Server) -> Iterator[Server]:
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE err_parent (id INTEGER NOT NULL PRIMARY KEY CONSTRAINT err_pk, tail INTEGER)"
        )
        connection.execute(
            "CREATE TABLE err_child (id INTEGER NOT NULL, p INTEGER, n SMALLINT, v VARCHAR(5), d DECIMAL(4,2), "
            "tail INTEGER, CHECK (n > 0) CONSTRAINT err_check, "
            "FOREIGN KEY (p) REFERENCES err_parent (id) CONSTRAINT err_fk)"
        )
        connection.execute("CREATE UNIQUE INDEX err_unique ON err_child (id)")
        connection.execute("INSERT INTO err_parent VALUES (1, 77)")
        connection.execute("INSERT INTO err_child VALUES (1, 1, 1, 'one', 1.5, 77)")
    yield server
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        connection.execute("DROP TABLE err_child")
        connection.execute("DROP TABLE err_parent")


@pytest.fixture
def conn(tables: Server) -> Iterator[ifx.Connection]:
    with ifx.connect(tables.url("stores_demo"), autocommit=True) as connection:
        yield connection
        # After any failure the connection works, and holds no locks that would block a DDL statement.
        assert connection.read_arrow("SELECT id, tail FROM err_child").to_pylist() == [{"id": 1, "tail": 77}]
        connection.execute("CREATE INDEX err_passing ON err_child (tail)")
        connection.execute("DROP INDEX err_passing")


def fails(call: Callable[[], Any], kind: type[ifx.Error]) -> Any:
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    return caught.value


# ---- prepare ------------------------------------------------------------------------------------


def test_a_syntax_error_is_shown_at_its_place(conn: ifx.Connection) -> None:
    sql = "SELECT id,\n\ttail\nFORM err_child"
    error = fails(lambda: conn.read_arrow(sql), ifx.ProgrammingError)
    assert (error.sqlcode, error.sqlstate, error.statement) == (-201, "42000", sql)
    *_, line, caret = str(error).splitlines()
    assert line.strip() in ("FORM err_child", "tail")
    assert caret.strip() == "^"
    assert error.offset is not None


def test_a_wide_character_does_not_move_the_mark(conn: ifx.Connection) -> None:
    error = fails(lambda: conn.read_arrow("SELECT '東京ü', nothing FROM err_child"), ifx.ProgrammingError)
    assert (error.sqlcode, error.near) == (-217, "nothing")


@pytest.mark.parametrize(
    ("sql", "sqlcode", "near"),
    [
        ("SELECT * FROM err_nowhere", -206, "err_nowhere"),
        ("SELECT err_nothing FROM err_child", -217, "err_nothing"),
        ("SELECT tail FROM err_child c, err_parent p", -324, "tail"),
        ("DROP TABLE err_nowhere", -206, "err_nowhere"),
        ("CREATE TABLE err_child (a INTEGER)", -310, "err_child"),
        ("CREATE INDEX err_unique ON err_child (n)", -316, "err_unique"),
        ("DROP INDEX err_nowhere", -319, "err_nowhere"),
    ],
)
def test_a_name_that_is_wrong_is_reported(conn: ifx.Connection, sql: str, sqlcode: int, near: str) -> None:
    error = fails(lambda: conn.execute(sql), ifx.ProgrammingError)
    assert (error.sqlcode, error.near) == (sqlcode, near)
    assert f"'{near}'" in str(error)
    assert error.statement == sql


def test_a_wrong_number_of_parameters_is_refused_before_anything_is_sent(conn: ifx.Connection) -> None:
    with pytest.raises(ifx.ProgrammingError, match="1 placeholder"):
        conn.read_arrow("SELECT tail FROM err_child WHERE id = ?", (1, 2))


# ---- execute ------------------------------------------------------------------------------------

CHILD = "INSERT INTO err_child VALUES (?, ?, ?, ?, ?, 78)"


@pytest.mark.parametrize(
    ("values", "sqlcode", "isamcode", "near"),
    [
        ((1, 1, 1, "a", 1), -239, -100, "err_unique"),
        ((2, 9, 1, "a", 1), -691, -111, "err_fk"),
        ((2, 1, -1, "a", 1), -530, 0, "err_check"),
        ((None, 1, 1, "a", 1), -391, 0, "id"),
    ],
)
def test_a_row_that_breaks_a_constraint(
    conn: ifx.Connection, values: tuple[object, ...], sqlcode: int, isamcode: int, near: str
) -> None:
    error = fails(lambda: conn.execute(CHILD, values), ifx.IntegrityError)
    assert (error.sqlcode, error.isamcode) == (sqlcode, isamcode)
    assert near in error.near
    assert error.sqlstate == "23000"


def test_a_parent_that_is_still_needed(conn: ifx.Connection) -> None:
    error = fails(lambda: conn.execute("DELETE FROM err_parent WHERE id = 1"), ifx.IntegrityError)
    assert error.sqlcode == -692


@pytest.mark.parametrize(
    ("sql", "sqlcode"),
    [
        ("UPDATE err_child SET n = 40000 WHERE id = 1", -1214),
        ("INSERT INTO err_child VALUES (9, 1, 1, 'a', 12345, 78)", -1226),
        ("UPDATE err_child SET n = 'abc' WHERE id = 1", -1213),
        ("UPDATE err_child SET n = n / 0 WHERE id = 1", -1202),
    ],
)
def test_a_value_that_does_not_fit(conn: ifx.Connection, sql: str, sqlcode: int) -> None:
    assert fails(lambda: conn.execute(sql), ifx.DataError).sqlcode == sqlcode


def test_a_transaction_goes_on_behind_a_failed_statement(conn: ifx.Connection) -> None:
    conn.autocommit = False
    conn.execute("INSERT INTO err_child VALUES (5, 1, 1, 'five', 1, 78)")
    fails(lambda: conn.execute(CHILD, (5, 1, 1, "a", 1)), ifx.IntegrityError)
    assert conn.in_transaction
    assert conn.read_arrow("SELECT id FROM err_child")["id"].to_pylist() == [1, 5]
    conn.rollback()
    assert conn.read_arrow("SELECT id FROM err_child")["id"].to_pylist() == [1]
    conn.commit()
    conn.autocommit = True


def test_a_subquery_of_two_rows_and_a_value_that_is_no_number(conn: ifx.Connection) -> None:
    two = "SELECT id FROM err_parent WHERE id = (SELECT tabid FROM systables WHERE tabid < 3)"
    assert fails(lambda: conn.read_arrow(two), ifx.ProgrammingError).sqlcode == -284
    error = fails(
        lambda: conn.read_arrow("SELECT v::INTEGER FROM err_child WHERE v = ?", ("one",)), ifx.DataError
    )
    assert error.sqlcode == -1213


# ---- fetch --------------------------------------------------------------------------------------


def test_a_value_that_its_arrow_type_cannot_hold_names_row_and_column(conn: ifx.Connection) -> None:
    conn.execute("CREATE TEMP TABLE err_floating (id INTEGER, d DECIMAL(16), tail INTEGER)")
    conn.cursor().executemany("INSERT INTO err_floating VALUES (?, ?, 77)", [(1, "1.5"), (2, "1e60")])
    error = fails(
        lambda: conn.read_arrow(
            "SELECT id, d, tail FROM err_floating ORDER BY id", floating_decimals=pa.decimal128(38, 2)
        ),
        ifx.DataError,
    )
    assert (error.row, error.column) == (1, "d")


def test_a_result_that_was_closed_by_a_rollback_says_so(tables: Server) -> None:
    with ifx.connect(tables.url("stores_demo"), fetch_buffer_size=4096) as conn:
        conn.execute("UPDATE err_child SET tail = 77")
        result = conn.query("SELECT a.tabid FROM syscolumns a, syscolumns b", batch_rows=10)
        batches = result.batches()
        next(batches)
        conn.rollback()
        with pytest.raises(ifx.Error) as caught:
            for _ in batches:
                pass
        assert caught.value.sqlcode is not None
        assert not conn.closed
        assert conn.read_arrow("SELECT id, tail FROM err_child").to_pylist() == [{"id": 1, "tail": 77}]


# ---- put ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_a_loaded_row_that_breaks_a_constraint_is_named(conn: ifx.Connection, method: Any) -> None:
    data = pa.table(
        {"id": [11, 12, 1, 13], "p": [1, 1, 1, 1], "n": [1, 1, 1, 1], "v": ["a"] * 4, "tail": [78] * 4}
    )
    error = fails(lambda: conn.write_arrow("err_child", data, method=method), ifx.IntegrityError)
    assert (error.sqlcode, error.isamcode, error.row) == (-239, -100, 2)


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_a_load_into_a_table_that_does_not_exist(conn: ifx.Connection, method: Any) -> None:
    error = fails(
        lambda: conn.write_arrow("err_nowhere", pa.table({"id": [1]}), method=method), ifx.ProgrammingError
    )
    assert (error.sqlcode, error.near) == (-206, "err_nowhere")


def test_a_batch_of_parameters_with_a_bad_row(conn: ifx.Connection) -> None:
    rows = [(21, 1, 1, "a", 1), (22, 1, 0, "a", 1)]
    conn.autocommit = False
    with pytest.raises(ifx.IntegrityError) as caught:
        conn.cursor().executemany(CHILD, rows)
    assert caught.value.sqlcode == -530
    conn.rollback()
    conn.autocommit = True


# ---- sessions -----------------------------------------------------------------------------------


def test_a_database_that_does_not_exist(tables: Server) -> None:
    error = fails(lambda: ifx.connect(tables.url("err_nowhere")), ifx.OperationalError)
    assert (error.sqlcode, error.near) == (-329, database_name(tables, "err_nowhere"))
    assert "sysmaster:sysdatabases" in str(error)


def test_a_wrong_password_is_in_no_text(tables: Server) -> None:
    error = fails(lambda: ifx.connect(tables.url("stores_demo"), password=SECRET), ifx.OperationalError)
    assert error.sqlcode == -951
    assert SECRET not in f"{error} {error!r} {error.__dict__}"
    assert error.__cause__ is None or SECRET not in str(error.__cause__)


def test_values_of_parameters_are_in_no_text(conn: ifx.Connection) -> None:
    for values in ((1, 1, 1, SECRET[:5], 1), (2, 1, SECRET, "a", 1), (2, 1, 1, "a", SECRET)):
        with pytest.raises(ifx.Error) as caught:
            conn.execute(CHILD, values)
        assert SECRET[:5] not in f"{caught.value} {caught.value!r} {caught.value.statement}"


def test_a_password_in_a_statement_is_in_no_text(conn: ifx.Connection) -> None:
    with pytest.raises(ifx.Error) as caught:
        conn.execute(f"SET ENCRYPTION PASSWORD '{SECRET}' WITH NOTHING")
    assert SECRET not in f"{caught.value} {caught.value!r} {caught.value.__dict__}"


def test_a_commit_without_a_transaction_and_a_second_begin(conn: ifx.Connection) -> None:
    assert fails(lambda: conn.execute("COMMIT WORK"), ifx.ProgrammingError).sqlcode == -255
    conn.execute("BEGIN WORK")
    assert fails(lambda: conn.execute("BEGIN WORK"), ifx.ProgrammingError).sqlcode == -535
    conn.execute("ROLLBACK WORK")


def test_an_error_that_the_server_is_set_to_raise_has_its_advice(
    tables: Server, conn: ifx.Connection
) -> None:
    tables.faults.fail_next(-244, -154, matching="UPDATE err_child SET tail")
    error = fails(lambda: conn.execute("UPDATE err_child SET tail = 77"), ifx.OperationalError)
    assert str(error).splitlines()[:2] == [
        "The next row of the table could not be read (SQLCODE -244, ISAM -154: lock wait timed out).",
        ISAM_ADVICE[-154],
    ]


def test_text_that_the_server_cuts_is_a_warning(conn: ifx.Connection) -> None:
    conn.autocommit = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        conn.execute("UPDATE err_child SET v = 'longer than five' WHERE id = 1")
    assert [each.category for each in caught] == [ifx.Warning]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ifx.Warning)
        with pytest.raises(ifx.Warning):
            conn.execute("UPDATE err_child SET v = 'longer than five' WHERE id = 1")
    conn.rollback()
    conn.autocommit = True


def test_memory_that_runs_out_over_a_reply_is_an_error_of_ours(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn = ifx.connect(server.url("stores_demo"))

    def none_left(*arguments: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("informix_arrow.operations.message_stream.Reader", none_left)
        patch.setattr("informix_arrow.operations.request_reply.Reader", none_left)
        with pytest.raises(ifx.OperationalError, match="not enough memory"):
            conn.execute("SELECT tabid FROM systables")
    assert conn.closed
    conn.close()


def test_dates_in_statements_are_written_as_dbdate_says(
    tables: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The format is `Y4MD-` by default, whatever the server's own is. Error -1218 names both."""
    monkeypatch.delenv("DBDATE", raising=False)
    found = []
    for variables, text in (({}, "2024-05-01"), ({"DBDATE": "DMY4."}, "01.05.2024")):
        with ifx.connect(tables.url("stores_demo"), env=variables, autocommit=True) as connection:
            connection.execute("CREATE TEMP TABLE err_days (d DATE, after INTEGER)")
            connection.execute(f"INSERT INTO err_days VALUES ('{text}', 77)")
            error = fails(
                lambda: connection.execute("INSERT INTO err_days VALUES ('soon', 77)"),
                ifx.DataError,
            )
            assert error.sqlcode == -1218
            assert "DBDATE, by default Y4MD-" in str(error)
            found += connection.execute("SELECT d, after FROM err_days").fetchall()
    assert found == [(dt.date(2024, 5, 1), 77)] * 2
