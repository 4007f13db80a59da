"""Connections: transactions, errors, and closing. At any time a connection is either usable or closed."""

from __future__ import annotations

import gc
import socket
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from tests.internals import session_of, socket_of, transport_of
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.operations.connect import disconnect
from informix_arrow.operations.io_steps import Receive, Step
from informix_arrow.server import Server


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    with ifx.connect(url) as conn:
        conn.execute("DROP TABLE IF EXISTS client_tx")
        conn.execute("CREATE TABLE client_tx (id INT, sentinel INT)")
    return url


@pytest.fixture
def conn(url: str) -> Iterator[ifx.Connection]:
    """A connection to a database whose table is empty."""
    with ifx.connect(url) as connection:
        connection.execute("DELETE FROM client_tx")
        connection.commit()
        yield connection


def ids(url: str) -> list[int]:
    """Return the rows that another session sees."""
    found = ifx.read_arrow("SELECT id, sentinel FROM client_tx ORDER BY id", url, isolation="last committed")
    assert set(found["sentinel"].to_pylist()) <= {12345}
    return [int(number) for number in found["id"].to_pylist()]


def insert(conn: ifx.Connection, number: int) -> None:
    assert conn.execute("INSERT INTO client_tx VALUES (?, 12345)", (number,)).rowcount == 1


def test_work_is_permanent_after_commit_and_gone_after_rollback(conn: ifx.Connection, url: str) -> None:
    insert(conn, 1)
    assert conn.in_transaction
    assert ids(url) == []
    conn.commit()
    assert ids(url) == [1]
    insert(conn, 2)
    conn.rollback()
    assert not conn.in_transaction
    assert ids(url) == [1]


def test_commit_and_rollback_may_come_at_any_time(conn: ifx.Connection) -> None:
    for _ in range(2):
        conn.commit()
        conn.rollback()


def test_autocommit_makes_every_statement_final(url: str, conn: ifx.Connection) -> None:
    with ifx.connect(url, autocommit=True) as own:
        insert(own, 1)
        assert ids(url) == [1]
        assert not own.in_transaction
    conn.autocommit = True
    insert(conn, 2)
    assert ids(url) == [1, 2]


def test_autocommit_cannot_change_inside_a_transaction(conn: ifx.Connection) -> None:
    insert(conn, 1)
    with pytest.raises(ifx.ProgrammingError, match="Commit or roll back"):
        conn.autocommit = True
    conn.rollback()
    conn.autocommit = True
    assert conn.autocommit


def test_transactions_typed_as_sql_are_understood(url: str, conn: ifx.Connection) -> None:
    conn.autocommit = True
    conn.execute("BEGIN WORK")
    assert conn.in_transaction
    insert(conn, 1)
    assert ids(url) == []
    conn.execute("COMMIT WORK")
    assert not conn.in_transaction
    assert ids(url) == [1]
    conn.autocommit = False
    conn.execute("BEGIN WORK")
    insert(conn, 2)
    conn.execute("ROLLBACK WORK")
    insert(conn, 3)
    conn.commit()
    assert ids(url) == [1, 3]


def test_a_failed_statement_undoes_itself_alone(url: str, conn: ifx.Connection) -> None:
    insert(conn, 1)
    with pytest.raises(ifx.ProgrammingError):
        conn.execute("INSERT INTO client_tx VALUES (2, 3, 4)")
    insert(conn, 5)
    conn.commit()
    assert ids(url) == [1, 5]


def fail_in_block(conn: ifx.Connection) -> None:
    with conn:
        insert(conn, 2)
        raise LookupError


def test_a_with_block_commits_on_success_and_rolls_back_on_error(url: str, conn: ifx.Connection) -> None:
    with ifx.connect(url) as own:
        insert(own, 1)
    assert own.closed
    own = ifx.connect(url)
    with pytest.raises(LookupError):
        fail_in_block(own)
    assert own.closed
    assert ids(url) == [1]


def test_close_rolls_back(url: str, conn: ifx.Connection) -> None:
    own = ifx.connect(url)
    insert(own, 1)
    own.close()
    assert ids(url) == []


def test_a_closed_connection_says_so(url: str) -> None:
    conn = ifx.connect(url)
    cur = conn.cursor()
    result = conn.query("SELECT * FROM client_tx")
    conn.close()
    conn.close()
    for use in (
        conn.cursor,
        conn.commit,
        lambda: conn.read_arrow("SELECT 1 FROM systables"),
        lambda: cur.execute("SELECT 1 FROM systables"),
        result.read_all,
    ):
        with pytest.raises(ifx.InterfaceError, match="connection is closed"):
            use()
    result.close()
    cur.close()


def test_errors_carry_the_servers_codes_and_the_place(conn: ifx.Connection) -> None:
    with pytest.raises(ifx.ProgrammingError) as caught:
        conn.read_arrow("SELECT * FROM nosuch_table")
    assert caught.value.sqlcode == -206
    assert caught.value.statement == "SELECT * FROM nosuch_table"
    assert "nosuch_table" in str(caught.value)
    with pytest.raises(ifx.ProgrammingError) as caught:
        conn.read_arrow("SELEKT 1")
    assert caught.value.sqlcode == -201
    assert conn.read_arrow("SELECT COUNT(*) AS n FROM client_tx")["n"].to_pylist() == [0]


@pytest.mark.parametrize(
    ("change", "sqlcode"),
    [({"password": "wrong-s3cret"}, -951), ({"user": "nobody"}, -951), ({"database": "nosuch_db"}, -329)],
)
def test_a_refused_connection_says_why_without_the_password(
    url: str, change: dict[str, str], sqlcode: int, password: str
) -> None:
    with pytest.raises(ifx.Error) as caught:
        ifx.connect(url, **change)  # type: ignore[arg-type]
    assert caught.value.sqlcode == sqlcode
    for secret in ("wrong-s3cret", password):
        assert secret not in str(caught.value)


def test_the_password_is_kept_nowhere(conn: ifx.Connection, password: str) -> None:
    assert password not in repr(conn)
    assert password not in repr(vars(conn))


def test_a_lost_connection_is_closed_and_says_why(server: Server, url: str) -> None:
    conn = ifx.connect(url)
    link = socket_of(conn)
    assert link is not None
    link.shutdown(2)
    with pytest.raises(ifx.OperationalError):
        conn.read_arrow("SELECT * FROM client_tx")
    assert conn.closed
    with pytest.raises(ifx.OperationalError, match="connection was lost"):
        conn.commit()
    conn.close()


def test_ctrl_c_in_a_wait_closes_the_connection(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the pending reply would be taken for the reply to the next statement."""
    conn = ifx.connect(url)
    do = transport_of(conn)._perform

    def interrupted(step: Step) -> int:
        if isinstance(step, Receive):
            raise KeyboardInterrupt
        return do(step)

    monkeypatch.setattr(transport_of(conn), "_perform", interrupted)
    with pytest.raises(KeyboardInterrupt):
        conn.read_arrow("SELECT * FROM client_tx")
    assert conn.closed
    with pytest.raises(ifx.OperationalError, match="connection was lost: KeyboardInterrupt"):
        conn.commit()
    conn.close()


def test_commit_ends_the_results_that_were_being_read(conn: ifx.Connection, password: str) -> None:
    conn.cursor().executemany("INSERT INTO client_tx VALUES (?, 12345)", [(n,) for n in range(2000)])
    with ifx.connect(fetch_buffer_size=4096, password=password, **address(conn)) as other:
        conn.commit()
        insert(other, 5000)
        batches = other.query("SELECT * FROM client_tx", batch_rows=10).batches()
        assert next(batches).num_rows == 10
        other.commit()
        with pytest.raises(ifx.Error) as caught:
            list(batches)
        assert caught.value.sqlcode is not None
        assert other.read_arrow("SELECT id FROM client_tx").num_rows == 2001


def address(conn: ifx.Connection) -> dict[str, Any]:
    p = conn._parameters
    return {
        "host": p.host,
        "port": p.port,
        "user": p.user,
        "database": p.database,
        "server": p.server,
    }


def test_silence_beyond_the_read_timeout_closes_the_connection(url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ifx.OperationalError, match="read_timeout"):
            ifx.connect(url, host="127.0.0.1", port=port, read_timeout=0.02)


def test_a_port_where_nobody_answers_the_login_is_given_up(url: str) -> None:
    """A server of another protocol, such as DRDA or HTTP, may wait for more data from the client."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ifx.OperationalError, match=r"silent for 0\.02 s"):
            ifx.connect(url, host="127.0.0.1", port=port, connect_timeout=0.02)


def test_a_debugger_sees_no_password_in_the_frames_of_a_failed_login(url: str) -> None:
    """The frames contain only the argument of connect() itself, which belongs to the caller."""
    with pytest.raises(ifx.OperationalError) as caught:
        ifx.connect(url, password="s3cret")
    trace, seen = caught.tb, []
    while trace is not None:
        if trace.tb_frame.f_globals["__name__"].startswith("informix_arrow."):
            found = [name for name, value in trace.tb_frame.f_locals.items() if "s3cret" in repr(value)]
            seen += [(trace.tb_frame.f_code.co_name, name) for name in found]
        trace = trace.tb_next  # type: ignore[assignment]
    assert seen == [("connect", "password")]


def test_threads_may_share_a_connection(conn: ifx.Connection) -> None:
    conn.cursor().executemany("INSERT INTO client_tx VALUES (?, 12345)", [(n,) for n in range(100)])
    failures: list[object] = []

    def work(number: int) -> None:
        for _ in range(20):
            found = conn.read_arrow("SELECT id, sentinel FROM client_tx WHERE id = ?", (number,)).to_pylist()
            if found != [{"id": number, "sentinel": 12345}]:
                failures.append(found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


def test_a_forgotten_connection_warns_and_closes_its_socket(url: str) -> None:
    conn = ifx.connect(url)
    link = socket_of(conn)
    assert link is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del conn
        gc.collect()
    assert any("unclosed" in str(warning.message) for warning in caught)
    assert any("open>" in str(warning.message) for warning in caught)
    assert link.fileno() == -1


def test_an_unlogged_database_needs_no_transactions(server: Server, url: str) -> None:
    name = database_name(server, "client_unlogged")
    with ifx.connect(url, database="", autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name}")
    with ifx.connect(url, database=name) as conn:
        conn.execute("CREATE TABLE t (id INT, sentinel INT)")
        conn.execute("INSERT INTO t VALUES (1, 12345)")
        conn.rollback()
        assert conn.read_arrow("SELECT * FROM t").to_pylist() == [{"id": 1, "sentinel": 12345}]


def test_a_connection_knows_which_database_it_was_moved_to(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.execute("DATABASE sysmaster")
        assert "/sysmaster open" in repr(conn)
        assert conn.read_arrow("SELECT 'é' v, 12345 sentinel FROM systables WHERE tabid = 1").to_pylist() == [
            {"v": "é", "sentinel": 12345}
        ]
        conn.execute("CLOSE DATABASE")
        assert "/ open" in repr(conn)


def test_a_session_survives_leaving_twice(url: str) -> None:
    conn = ifx.connect(url)
    transport_of(conn).run(disconnect(session_of(conn)))
    conn.close()
    assert conn.closed
