"""Transactions, blocks and isolation against the embedded server, in its three kinds of databases."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from tests.internals import runner_of, session_of, socket_of
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.operations.session import TransactionStatus
from informix_arrow.server import Server

KINDS = {"logged": "WITH LOG", "ansi": "WITH LOG MODE ANSI", "unlogged": ""}


@pytest.fixture(scope="module")
def urls(server: Server) -> Iterator[dict[str, str]]:
    """Create a database of each kind with a table, and yield their URLs."""
    out = {}
    for kind, clause in KINDS.items():
        with ifx.connect(server.url(""), autocommit=True) as conn:
            conn.execute(f"CREATE DATABASE {database_name(server, f'tx_{kind}')} {clause}")
        out[kind] = server.url(f"tx_{kind}")
        with ifx.connect(out[kind], autocommit=True) as conn:
            conn.execute("CREATE TABLE t (id INT, sentinel INT)")
    yield out
    while _OBSERVERS:
        _OBSERVERS.popitem()[1].close()
    for kind in KINDS:
        server.drop_database(f"tx_{kind}")


@pytest.fixture(params=["logged", "ansi"])
def url(request: pytest.FixtureRequest, urls: dict[str, str]) -> str:
    """URL of a database with transactions and an empty table."""
    return emptied(urls[request.param])


_OBSERVERS: dict[str, ifx.Connection] = {}


def observer(url: str) -> ifx.Connection:
    """A second connection, which all tests share."""
    if url not in _OBSERVERS:
        _OBSERVERS[url] = ifx.connect(url, autocommit=True)
    return _OBSERVERS[url]


def emptied(url: str) -> str:
    observer(url).execute("DELETE FROM t")
    return url


@pytest.fixture(params=[True, False], ids=["autocommit", "no autocommit"])
def conn(url: str, request: pytest.FixtureRequest) -> Iterator[ifx.Connection]:
    with ifx.connect(url, autocommit=request.param) as connection:
        yield connection


def insert(conn: ifx.Connection, number: int) -> None:
    assert conn.execute("INSERT INTO t VALUES (:1, 12345)", (number,)).rowcount == 1


def committed(url: str) -> list[int]:
    """Return the committed rows."""
    query = "SELECT id, sentinel FROM t ORDER BY id"
    found = observer(url).read_arrow(query, isolation="last committed")
    assert set(found["sentinel"].to_pylist()) <= {12345}
    return [int(number) for number in found["id"].to_pylist()]


def ids(conn: ifx.Connection) -> list[int]:
    """Return the rows that the session itself sees."""
    return [int(number) for number in conn.read_arrow("SELECT id FROM t ORDER BY id")["id"].to_pylist()]


def test_the_kind_of_a_database_is_known(server: Server, urls: dict[str, str]) -> None:
    for kind, url in urls.items():
        with ifx.connect(url) as conn:
            assert (conn.logged, conn.ansi) == (kind != "unlogged", kind == "ansi")
            assert conn.database == database_name(server, f"tx_{kind}")
            assert conn.server_name == server.server_name
            assert conn.server_version
            assert conn.locale.startswith("en_US.")
            conn.execute("DATABASE sysmaster") if kind == "unlogged" else None


# ---- blocks -----------------------------------------------------------------------------------------------------


def test_a_block_is_permanent_when_it_is_left_well(conn: ifx.Connection, url: str) -> None:
    with conn.transaction() as block:
        assert block.savepoint_name is None
        assert block.connection is conn
        insert(conn, 1)
        insert(conn, 2)
        assert conn.in_transaction
        assert committed(url) == []
    assert committed(url) == [1, 2]
    assert not conn.in_transaction


def fail_in(conn: ifx.Connection, number: int, error: Exception) -> None:
    with conn.transaction():
        insert(conn, number)
        raise error


def test_a_block_that_an_exception_leaves_is_undone_and_the_exception_passes_on(
    conn: ifx.Connection, url: str
) -> None:
    with pytest.raises(LookupError):
        fail_in(conn, 1, LookupError())
    assert committed(url) == []
    assert not conn.in_transaction
    with conn.transaction():
        insert(conn, 2)
    assert committed(url) == [2]


def test_blocks_nest_and_only_the_inner_one_is_undone(conn: ifx.Connection, url: str) -> None:
    with conn.transaction():
        insert(conn, 1)
        for number in (2, 3):
            with pytest.raises(LookupError):
                fail_in(conn, number, LookupError())
        with conn.transaction("mine") as inner:
            assert inner.savepoint_name == "mine"
            insert(conn, 4)
            with pytest.raises(LookupError):
                fail_in(conn, 5, LookupError())
            insert(conn, 6)
        assert ids(conn) == [1, 4, 6]
    assert committed(url) == [1, 4, 6]


def test_an_inner_block_that_was_left_well_falls_with_the_outer_one(conn: ifx.Connection, url: str) -> None:
    with pytest.raises(LookupError), conn.transaction():  # noqa: PT012
        insert(conn, 1)
        with conn.transaction():
            insert(conn, 2)
        raise LookupError
    assert committed(url) == []


def test_rollback_leaves_a_block_quietly(conn: ifx.Connection, url: str) -> None:
    with conn.transaction():
        insert(conn, 1)
        with conn.transaction():
            insert(conn, 2)
            raise ifx.Rollback
        insert(conn, 3)
    assert committed(url) == [1, 3]
    with conn.transaction() as outer:
        insert(conn, 4)
        with conn.transaction():
            insert(conn, 5)
            raise ifx.Rollback(outer)
        raise AssertionError("the outer block was to be left")
    assert committed(url) == [1, 3]


def test_a_rollback_for_another_block_passes_on(conn: ifx.Connection, url: str) -> None:
    with conn.transaction() as over:
        pass
    with pytest.raises(ifx.Rollback), conn.transaction():  # noqa: PT012
        insert(conn, 1)
        raise ifx.Rollback(over)
    assert committed(url) == []


def test_force_rollback_undoes_what_went_well(conn: ifx.Connection, url: str) -> None:
    with conn.transaction(force_rollback=True):
        insert(conn, 1)
        assert ids(conn) == [1]
    assert committed(url) == []


def test_a_block_in_the_users_own_transaction_leaves_that_open(url: str) -> None:
    with ifx.connect(url) as conn:
        insert(conn, 1)
        with conn.transaction() as block:
            assert block.savepoint_name
            insert(conn, 2)
        assert conn.in_transaction
        assert committed(url) == []
        with pytest.raises(LookupError):
            fail_in(conn, 3, LookupError())
        conn.commit()
    assert committed(url) == [1, 2]


def test_a_statement_that_fails_inside_a_block_leaves_the_rest_of_it(conn: ifx.Connection, url: str) -> None:
    with conn.transaction():
        insert(conn, 1)
        with pytest.raises(ifx.ProgrammingError):
            conn.execute("INSERT INTO t VALUES (1, 2, 3)")
        insert(conn, 2)
    assert committed(url) == [1, 2]


def test_commit_rollback_autocommit_and_their_sql_are_refused_inside_a_block(
    conn: ifx.Connection, url: str
) -> None:
    with conn.transaction():
        insert(conn, 1)
        for refused in (
            conn.commit,
            conn.rollback,
            lambda: conn.execute("{c} commit work"),
            lambda: conn.execute("ROLLBACK"),
            lambda: conn.execute("BEGIN WORK"),
            lambda: setattr(conn, "autocommit", not conn.autocommit),
        ):
            with pytest.raises(ifx.ProgrammingError, match=r"transaction\(\) block"):
                refused()
        insert(conn, 2)
    assert committed(url) == [1, 2]


def test_savepoints_typed_as_sql_work_inside_a_block(conn: ifx.Connection, url: str) -> None:
    with conn.transaction():
        insert(conn, 1)
        conn.execute("SAVEPOINT mine")
        insert(conn, 2)
        conn.execute("rollback work to savepoint mine")
        insert(conn, 3)
    assert committed(url) == [1, 3]


def test_a_block_can_be_entered_once(conn: ifx.Connection) -> None:
    block = conn.transaction()
    with block:
        pass
    with pytest.raises(ifx.InterfaceError, match="entered only once"), block:
        pass


@pytest.mark.parametrize("name", ["", 5, b"mine"])
def test_what_is_no_name_of_a_savepoint_is_refused_and_costs_no_connection(
    conn: ifx.Connection, name: str
) -> None:
    with conn.transaction():
        with pytest.raises(ifx.InterfaceError, match="savepoint_name"):
            conn.transaction(name)
        insert(conn, 1)
    assert ids(conn) == [1]
    conn.rollback()


def test_a_load_is_part_of_the_block_around_it(conn: ifx.Connection, url: str) -> None:
    import pyarrow as pa

    data = pa.table({"id": pa.array([7, 8], pa.int32()), "sentinel": pa.array([12345] * 2, pa.int32())})
    with pytest.raises(LookupError), conn.transaction():  # noqa: PT012
        assert conn.write_arrow("t", data).transaction == "savepoint"
        raise LookupError
    assert committed(url) == []
    with conn.transaction():
        conn.write_arrow("t", data)
    assert committed(url) == [7, 8]


def test_a_lost_connection_in_a_block_is_reported_and_the_exception_of_the_block_kept(url: str) -> None:
    conn = ifx.connect(url)
    with pytest.raises(LookupError), conn.transaction():  # noqa: PT012
        runner_of(conn).abandon()
        raise LookupError
    conn = ifx.connect(url)
    with pytest.raises(ifx.OperationalError), conn.transaction():  # noqa: PT012
        insert(conn, 1)
        link = socket_of(conn)
        assert link is not None
        link.shutdown(2)
    assert conn.closed
    assert committed(url) == []
    conn = ifx.connect(url)
    with pytest.raises(LookupError), conn.transaction():  # noqa: PT012
        insert(conn, 1)
        link = socket_of(conn)
        assert link is not None
        link.shutdown(2)  # detected when the work is rolled back
        raise LookupError
    assert conn.closed
    assert committed(url) == []


def test_rows_before_the_one_that_cannot_be_sent_can_be_undone_and_committed(url: str) -> None:
    with ifx.connect(url) as conn:
        for number, end in ((1, conn.rollback), (2, conn.commit)):
            with pytest.raises(ifx.ProgrammingError):
                conn.cursor().executemany("INSERT INTO t VALUES (?, 12345)", [(number,), (object(),)])
            assert conn.in_transaction
            end()
    assert committed(url) == [2]


def test_an_unlogged_database_refuses_blocks_and_stays_usable(urls: dict[str, str]) -> None:
    with ifx.connect(emptied(urls["unlogged"])) as conn:
        with pytest.raises(ifx.NotSupportedError, match="no transaction log"), conn.transaction():
            raise AssertionError("the block was entered")
        insert(conn, 1)
        conn.rollback()
        assert ids(conn) == [1]


# ---- ANSI databases ---------------------------------------------------------------------------------------------


def test_autocommit_leaves_no_transaction_open_in_an_ansi_database(urls: dict[str, str]) -> None:
    """Another session checks it: repeatable read, the default there, would keep the rows locked.

    That session waits a while, as the client does not wait for the reply to the COMMIT that ends a read.
    """
    url = emptied(urls["ansi"])
    with ifx.connect(url, autocommit=True) as conn, ifx.connect(url, autocommit=True, lock_wait=120) as other:
        insert(conn, 1)
        assert ids(conn) == [1]
        insert(other, 2)
        result = conn.query("SELECT id FROM t")
        result.close()
        insert(other, 3)
        cursor = conn.cursor()
        cursor.execute("SELECT id FROM t")
        assert sorted(cursor.fetchall()) == [(1,), (2,), (3,)]
        insert(other, 4)
        with pytest.raises(ifx.Error):
            conn.execute("INSERT INTO t VALUES (1, 2, 3)")
        insert(other, 5)
        assert session_of(conn).transaction is TransactionStatus.NONE
        assert not conn.in_transaction


def test_reading_and_writing_in_turns_works_with_autocommit_in_an_ansi_database(urls: dict[str, str]) -> None:
    url = emptied(urls["ansi"])
    with ifx.connect(url, autocommit=True, fetch_buffer_size=4096) as conn:
        with conn.transaction():
            conn.cursor().executemany("INSERT INTO t VALUES (?, 12345)", [(n,) for n in range(3000)])
        conn.execute("CREATE TABLE copy (id INT, sentinel INT)")
        cursor, seen = conn.cursor(), 0
        cursor.execute("SELECT id FROM t ORDER BY id")
        for seen, (number,) in enumerate(cursor):
            assert number == seen
            if number % 500 == 0:
                conn.execute("INSERT INTO copy VALUES (?, 12345)", (number,))
        assert seen == 2999
    with ifx.connect(url, autocommit=True) as other:
        assert other.read_arrow("SELECT id FROM copy").num_rows == 6
        other.execute("DROP TABLE copy")


def test_with_autocommit_off_the_first_read_of_an_ansi_database_is_in_the_transaction(
    urls: dict[str, str],
) -> None:
    url = emptied(urls["ansi"])
    with ifx.connect(url) as conn:
        ids(conn)
        assert conn.in_transaction
        insert(conn, 1)
        conn.rollback()
        assert not conn.in_transaction
        insert(conn, 2)
        conn.commit()
    assert committed(url) == [2]


def test_begin_typed_as_sql_holds_work_together_in_every_kind_of_database(
    conn: ifx.Connection, url: str
) -> None:
    conn.execute("begin /* now */ work")
    insert(conn, 1)
    assert committed(url) == []
    conn.execute("-- all of it\nROLLBACK WORK")
    insert(conn, 2)
    if not conn.autocommit:
        conn.commit()
    assert committed(url) == [2]


# ---- SELECT ... FOR UPDATE ------------------------------------------------------------------------------------


def test_rows_read_for_update_stay_locked_until_commit_with_autocommit_off(urls: dict[str, str]) -> None:
    url = emptied(urls["logged"])
    with ifx.connect(url, autocommit=True) as conn:
        insert(conn, 1)
    with ifx.connect(url, isolation="repeatable") as conn, ifx.connect(url, autocommit=True) as other:
        rows = conn.cursor().execute("SELECT id FROM t {c} for -- what for?\n update").fetchall()
        assert rows == [(1,)]
        assert conn.in_transaction
        with pytest.raises(ifx.OperationalError):
            other.execute("UPDATE t SET id = 2")
        conn.commit()
        other.execute("UPDATE t SET id = 2")
    assert committed(url) == [2]


# ---- isolation --------------------------------------------------------------------------------------------------


def test_isolation_and_lock_wait_are_readable_and_settable(url: str) -> None:
    with ifx.connect(url) as conn:
        assert (conn.isolation, conn.lock_wait) == (None, None)
        conn.isolation = "dirty read"
        conn.lock_wait = 7
        assert (conn.isolation, conn.lock_wait) == ("dirty", 7)
        conn.execute("set isolation to {c} committed read last committed")
        conn.execute("SET LOCK MODE TO WAIT")
        assert (conn.isolation, conn.lock_wait) == ("last committed", -1)
        with pytest.raises(ifx.InterfaceError, match="isolation must be one of"):
            conn.isolation = "clean"
        with pytest.raises(ifx.InterfaceError, match="lock_wait"):
            conn.lock_wait = -2
    with ifx.connect(url, isolation="repeatable", lock_wait=3) as conn:
        assert (conn.isolation, conn.lock_wait) == ("repeatable", 3)


def test_a_read_with_an_isolation_of_its_own_is_not_stopped_by_locks_and_the_next_one_is(
    urls: dict[str, str],
) -> None:
    """A real server also shows the uncommitted row to the dirty read. The embedded one shows the table as it was."""
    url = emptied(urls["logged"])
    with ifx.connect(url) as writer, ifx.connect(url, autocommit=True) as reader:
        insert(writer, 1)
        assert reader.read_arrow("SELECT id FROM t", isolation="dirty").num_rows in (0, 1)
        with pytest.raises(ifx.OperationalError) as caught:
            reader.read_arrow("SELECT id FROM t")
        assert caught.value.isamcode == -107
        assert reader.read_arrow("SELECT id FROM t", isolation="last committed").num_rows == 0
        reader.query("SELECT id FROM t", isolation="dirty")  # dropped unread
        with pytest.raises(ifx.OperationalError):
            ids(reader)
        with pytest.raises(ifx.ProgrammingError):
            reader.read_arrow("SELECT nosuch FROM t", isolation="dirty")
        with pytest.raises(ifx.OperationalError):
            ids(reader)
        writer.rollback()
        assert ids(reader) == []


def test_a_read_that_waits_for_a_lock_gets_the_row_when_the_lock_is_gone(urls: dict[str, str]) -> None:
    url = emptied(urls["logged"])
    with ifx.connect(url) as writer, ifx.connect(url, autocommit=True) as reader:
        insert(writer, 1)
        with pytest.raises(ifx.OperationalError):
            ids(reader)  # not waiting for locks is a setting of the session
        found: list[object] = []
        thread = threading.Thread(
            target=lambda: found.append(reader.read_arrow("SELECT id FROM t", lock_wait=-1)["id"].to_pylist())
        )
        thread.start()
        writer.commit()
        thread.join(60)
        assert found == [[1]]
        assert reader.lock_wait is None


def test_isolation_and_lock_wait_hold_in_the_next_database_too(server: Server, urls: dict[str, str]) -> None:
    emptied(urls["logged"])
    logged = database_name(server, "tx_logged")
    with ifx.connect(urls["ansi"], isolation="dirty", lock_wait=0, autocommit=True) as conn:
        conn.execute(f"DATABASE {logged}")
        assert (conn.database, conn.ansi, conn.isolation, conn.lock_wait) == (logged, False, "dirty", 0)
        with ifx.connect(urls["logged"]) as writer:
            insert(writer, 1)
            ids(conn)  # the lock does not stop it
            conn.isolation = "committed"
            with pytest.raises(ifx.OperationalError):
                ids(conn)


def test_a_ping_opens_no_transaction_and_needs_no_database(urls: dict[str, str], server: Server) -> None:
    for url in (*urls.values(), server.url("")):
        with ifx.connect(url) as conn:
            conn.ping()
            assert not conn.in_transaction
            runner_of(conn).abandon()
            with pytest.raises(ifx.Error):
                conn.ping()
