"""Statements against the embedded server: prepared once, classified by the server, with three placeholder styles."""

from __future__ import annotations

import datetime
import io
import itertools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.internals import runner_of, session_of, transport_of

import informix_arrow as ifx
from informix_arrow.operations.io_steps import Receive, Send, SendReceive, Step
from informix_arrow.server import Server


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("DROP TABLE IF EXISTS st")
        conn.execute(
            "CREATE TABLE st (id INT, name VARCHAR(30), at DATETIME HOUR TO MINUTE, kinds SET(INT NOT NULL), "
            "note TEXT, sentinel INT)"
        )
        conn.cursor().executemany(
            "INSERT INTO st (id, name, at, sentinel) VALUES (?, ?, ?, 12345)",
            [(n, f"näme {n}", datetime.time(10, n)) for n in range(10)],
        )
    return url


@pytest.fixture
def conn(url: str) -> Iterator[ifx.Connection]:
    with ifx.connect(url, autocommit=True) as connection:
        yield connection


class Trips:
    """Counts what a connection sends and waits for."""

    def __init__(self, conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[type] = []
        do = transport_of(conn)._perform

        def counting(step: Step) -> int:
            self.steps += [Send, Receive] if isinstance(step, SendReceive) else [type(step)]
            return do(step)

        monkeypatch.setattr(transport_of(conn), "_perform", counting)

    def take(self) -> int:
        """Return the round trips since the last call: how often something was sent and then waited for."""
        count = sum(pair == (Send, Receive) for pair in itertools.pairwise(self.steps))
        self.steps.clear()
        return count


# ---- prepared once ----------------------------------------------------------------------------------------------


def test_a_query_that_is_run_again_costs_one_round_trip(
    conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips, sql = Trips(conn, monkeypatch), "SELECT id, name, sentinel FROM st WHERE id = ?"
    cursor = conn.cursor()
    costs = []
    for number in range(5):
        assert cursor.execute(sql, (number,)).fetchall() == [(number, f"näme {number}", 12345)]
        costs.append(trips.take())
    assert costs == [2, 1, 1, 1, 1]


def test_a_change_that_is_run_again_costs_one_round_trip(
    conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips, cursor = Trips(conn, monkeypatch), conn.cursor()
    costs = []
    for number in range(4):
        cursor.execute("UPDATE st SET sentinel = 12345 WHERE id = :1 OR id = :1", (number,))
        assert cursor.rowcount == 1
        costs.append(trips.take())
    assert costs == [2, 1, 1, 1]


def test_a_batch_that_is_run_again_is_not_prepared_again(
    conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn.execute("CREATE TEMP TABLE batches (a INT, b INT)")
    trips, cursor = Trips(conn, monkeypatch), conn.cursor()
    costs = []
    for _ in range(3):
        cursor.executemany("INSERT INTO batches VALUES (:a, :b)", ({"a": n, "b": -n} for n in range(50)))
        assert cursor.rowcount == 50
        costs.append(trips.take())
    assert costs[1:] == [costs[0] - 1] * 2
    assert conn.read_arrow("SELECT SUM(a) + SUM(b) s, COUNT(*) n FROM batches").to_pylist() == [
        {"s": 0, "n": 150}
    ]


def test_without_a_cache_every_execution_is_prepared(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with ifx.connect(url, autocommit=True, statement_cache_size=0) as conn:
        trips = Trips(conn, monkeypatch)
        for _ in range(3):
            conn.read_arrow("SELECT id FROM st")
            assert trips.take() == 2
        assert conn.query("SELECT id FROM st")._cursor.statement_id == 0


def test_two_results_of_one_statement_do_not_disturb_each_other(conn: ifx.Connection) -> None:
    sql = "SELECT id, sentinel FROM st WHERE id >= ? ORDER BY id"
    for _ in range(3):
        one, two = (
            conn.query(sql, (2,), batch_rows=3).batches(),
            conn.query(sql, (5,), batch_rows=2).batches(),
        )
        found: list[list[int]] = [[], []]
        for first, second in itertools.zip_longest(one, two):
            for into, batch in zip(found, (first, second), strict=True):
                into += batch["id"].to_pylist() if batch is not None else []
        assert found == [list(range(2, 10)), list(range(5, 10))]


def test_a_table_changed_by_another_session_is_read_as_it_is_now(url: str, conn: ifx.Connection) -> None:
    conn.execute("CREATE TABLE changing (a INT, sentinel INT)")
    conn.execute("INSERT INTO changing VALUES (1, 12345)")
    sql = "SELECT * FROM changing"
    assert conn.read_arrow(sql).to_pylist() == [{"a": 1, "sentinel": 12345}]
    with ifx.connect(url, autocommit=True) as other:
        other.execute("ALTER TABLE changing ADD b CHAR(3)")
    assert conn.read_arrow(sql).to_pylist() == [{"a": 1, "sentinel": 12345, "b": None}]
    with ifx.connect(url, autocommit=True) as other:
        other.execute("DROP TABLE changing")
        other.execute("CREATE TABLE changing (a VARCHAR(9), sentinel BIGINT)")
        other.execute("INSERT INTO changing VALUES ('é', 12345)")
    assert conn.read_arrow(sql).to_pylist() == [{"a": "é", "sentinel": 12345}]
    with ifx.connect(url, autocommit=True) as other:
        other.execute("DROP TABLE changing")
    with pytest.raises(ifx.ProgrammingError) as caught:
        conn.read_arrow(sql)
    assert caught.value.sqlcode == -206
    assert conn.read_arrow("SELECT sentinel FROM st WHERE id = 1")["sentinel"].to_pylist() == [12345]


def test_the_sessions_own_ddl_is_noticed_at_once_also_when_it_is_undone(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.execute("CREATE TABLE mine (a INT, sentinel INT)")
        conn.commit()
        sql = "SELECT * FROM mine"
        assert conn.read_arrow(sql).schema.names == ["a", "sentinel"]
        conn.execute("ALTER TABLE mine ADD b CHAR(3)")
        assert conn.read_arrow(sql).schema.names == ["a", "sentinel", "b"]
        conn.rollback()
        assert conn.read_arrow(sql).schema.names == ["a", "sentinel"]
        conn.execute("DROP TABLE mine")
        conn.commit()


def test_statements_do_not_outlive_a_change_of_the_database(url: str, conn: ifx.Connection) -> None:
    sql, demo = "SELECT COUNT(*) n FROM systables WHERE tabname = 'st'", conn.database
    for _ in range(2):
        assert conn.read_arrow(sql)["n"].to_pylist() == [1]
        conn.execute("DATABASE sysmaster")
        assert conn.database == "sysmaster"
        assert conn.read_arrow(sql)["n"].to_pylist() == [0]
        conn.execute(f"database {demo}")
    assert len(session_of(conn).statements) <= 1


def test_the_cache_never_grows_beyond_its_size_and_leaves_nothing_on_the_server(url: str) -> None:
    with ifx.connect(url, autocommit=True, statement_cache_size=5) as conn:
        for number in range(40):
            assert (
                conn.read_arrow(f"SELECT id + {number % 13} v FROM st WHERE id = 1")["v"][0].as_py()
                == 1 + number % 13
            )
            assert len(session_of(conn).statements) <= 5
        assert conn.query("SELECT id FROM st")._cursor.statement_id <= 5


# ---- classified by the server, not by the text -----------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "-- a comment\nSELECT id, sentinel FROM st WHERE id = 1",
        "{a comment} /* another */ select id, sentinel from st where id = 1",
        "  \n\t SeLeCt id, sentinel FROM st WHERE id = 1",
        "WITH w AS (SELECT id, sentinel FROM st) SELECT id, sentinel FROM w WHERE id = 1",
    ],
)
def test_a_query_is_known_however_it_begins(conn: ifx.Connection, sql: str) -> None:
    assert conn.read_arrow(sql).to_pylist() == [{"id": 1, "sentinel": 12345}]
    cursor = conn.cursor()
    assert cursor.execute(sql).fetchall() == [(1, 12345)]
    assert cursor.description is not None


@pytest.mark.parametrize(
    "sql", ["-- SELECT 1\nUPDATE st SET id = id", "{SELECT} delete from st where id < 0"]
)
def test_a_change_is_known_however_it_begins_and_is_not_executed_as_a_query(
    conn: ifx.Connection, sql: str
) -> None:
    with pytest.raises(ifx.ProgrammingError, match="returns no rows and was not executed"):
        conn.read_arrow(sql)
    cursor = conn.cursor()
    cursor.execute(sql)
    assert cursor.description is None
    assert cursor.rowcount in (0, 10)


# ---- placeholders -----------------------------------------------------------------------------------------------


def test_the_three_styles_mean_the_same(conn: ifx.Connection) -> None:
    want = [{"id": 3, "name": "näme 3", "sentinel": 12345}]
    select = f"SELECT id, name, sentinel FROM {conn.database}:st WHERE "
    assert conn.read_arrow(select + "id = ? AND name = ?", (3, "näme 3")).to_pylist() == want
    assert conn.read_arrow(select + "id = :2 AND name = :1", ("näme 3", 3)).to_pylist() == want
    assert conn.read_arrow(select + "id = :id AND name = :n", {"id": 3, "n": "näme 3"}).to_pylist() == want
    assert conn.read_arrow(select + "id = :1 AND id = :1 AND :1::INT = id", (3,)).to_pylist() == want


def test_colons_of_informix_are_left_alone_beside_placeholders(conn: ifx.Connection) -> None:
    sql = f"""
        SELECT id, name[1,1] part, '::1 :x'::VARCHAR(9) text, sentinel -- :1 :2 ?
        FROM {conn.database}:st {{:3 ?}} /* :4 */
        WHERE at = DATETIME (10:07) HOUR TO MINUTE AND id = :1
    """
    assert conn.read_arrow(sql, (7,)).to_pylist() == [
        {"id": 7, "part": "n", "text": "::1 :x", "sentinel": 12345}
    ]


def test_collection_literals_may_hold_placeholders(conn: ifx.Connection) -> None:
    with conn.transaction(force_rollback=True):
        conn.execute("INSERT INTO st (id, kinds, sentinel) VALUES (:1, SET{:2, :3, :2}, 12345)", (99, 5, 6))
        found = conn.read_arrow("SELECT kinds, sentinel FROM st WHERE id = 99").to_pylist()
        assert [(sorted(row["kinds"]), row["sentinel"]) for row in found] == [([5, 6], 12345)]


def test_contents_and_names_go_together(conn: ifx.Connection) -> None:
    with conn.transaction(force_rollback=True):
        sql = "INSERT INTO st (id, note, sentinel) VALUES (:id, :note, :s)"
        conn.execute(sql, {"s": 12345, "note": io.BytesIO(b"x" * 3001), "id": 98})
        conn.cursor().executemany(
            sql, [{"id": 97, "note": "short", "s": 12345}, {"id": 96, "note": None, "s": 12345}]
        )
        found = conn.read_arrow("SELECT id, note, sentinel FROM st WHERE id > 90 ORDER BY id").to_pylist()
        assert [(row["id"], row["note"], row["sentinel"]) for row in found] == [
            (96, None, 12345),
            (97, "short", 12345),
            (98, "x" * 3001, 12345),
        ]


def test_an_error_of_the_server_points_into_the_users_text(conn: ifx.Connection) -> None:
    sql = "SELECT id FROM st WHERE name = :a_long_name AND id = :b AND AND id = :c"
    with pytest.raises(ifx.ProgrammingError) as caught:
        conn.read_arrow(sql, {"a_long_name": "x", "b": 1, "c": 2})
    error = caught.value
    assert error.sqlcode == -201
    assert error.statement == sql
    plain = "SELECT id FROM st WHERE name = ? AND id = ? AND AND id = ?"
    with pytest.raises(ifx.ProgrammingError) as caught:
        conn.read_arrow(plain, ("x", 1, 2))
    assert error.offset is not None
    assert caught.value.offset is not None
    assert sql[error.offset - 1 :].startswith(plain[caught.value.offset - 1 :][:6])
    text, caret = str(error).splitlines()[-2:]
    assert (text.strip(), caret.index("^") - 2) == (sql, error.offset - 1)


@pytest.mark.parametrize(
    ("sql", "parameters", "error"),
    [
        ("SELECT id FROM st WHERE id = :1 AND id = ?", (1, 2), ifx.ProgrammingError),
        ("SELECT id FROM st WHERE id = :x", (1,), ifx.InterfaceError),
        ("SELECT id FROM st WHERE id = ?", {"x": 1}, ifx.InterfaceError),
        ("SELECT id FROM st WHERE id = :2", (1, 2), ifx.ProgrammingError),
    ],
)
def test_wrong_placeholders_are_refused_before_anything_is_sent(
    conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch, sql: str, parameters: Any, error: type[Exception]
) -> None:
    trips = Trips(conn, monkeypatch)
    for run in (conn.read_arrow, conn.query, conn.cursor().execute):
        with pytest.raises(error):
            run(sql, parameters)
    assert trips.take() == 0


@pytest.mark.parametrize("sql", [None, 5, b"SELECT id FROM st", ["SELECT id FROM st"]], ids=repr)
def test_what_is_no_text_is_no_statement(conn: ifx.Connection, sql: Any) -> None:
    for run in (conn.read_arrow, conn.query, conn.execute, lambda sql: conn.cursor().executemany(sql, [])):
        with pytest.raises(ifx.InterfaceError, match="A statement is a str"):
            run(sql)


def test_a_timeout_reaches_every_call_that_may_wait(
    conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other tests check its effect. This one checks that every call passes it on."""
    run, taken = runner_of(conn).run, list[float | None]()

    def noting(exchange: Any, *, timeout: float | None = None, **more: Any) -> Any:
        taken.append(timeout)
        return run(exchange, timeout=timeout, **more)

    monkeypatch.setattr(runner_of(conn), "run", noting)
    assert conn.read_arrow("SELECT id FROM st", timeout=61).num_rows == 10
    assert len(list(conn.query("SELECT id FROM st", timeout=62).batches())) == 1
    conn.execute("UPDATE st SET id = id WHERE id = 1", timeout=63)
    conn.cursor().executemany("UPDATE st SET id = id WHERE id = ?", [(1,)], timeout=64)
    conn.write_arrow("batch_of_one", pa.table({"a": [1]}), mode="create", temporary=True, timeout=65)
    assert {61, 62, 63, 64, 65} <= set(taken)
    assert set(taken) <= {61, 62, 63, 64, 65, None}  # None: cleaning up


def test_a_parameter_that_the_code_set_lacks_is_named_once(conn: ifx.Connection) -> None:
    with pytest.raises(ifx.DataError, match=r"^Parameter 1: The character '\\ud800' \(U\+D800\)"):
        conn.execute("SELECT tabid FROM systables WHERE tabname = ?", ("\ud800",))
