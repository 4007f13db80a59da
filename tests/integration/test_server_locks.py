"""Cursors FOR UPDATE, WHERE CURRENT OF, and locks between connections, over the wire."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator

import pytest

from informix_arrow.server import Server
from informix_arrow.wire import messages as m

from .raw import EOT, RawClient, Refused, one

CURSOR = "SELECT id, tail FROM t_queue WHERE id < 10 FOR UPDATE"


@pytest.fixture
def client(server: Server) -> Iterator[RawClient]:
    """A connection in a transaction. The table t_queue has the rows 1 to 3, with tail 10 * id."""
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TABLE t_queue (id INTEGER PRIMARY KEY, name VARCHAR(20), tail INTEGER)")
        for n in (1, 2, 3):
            client.command(f"INSERT INTO t_queue VALUES ({n}, 'n{n}', {10 * n})")
        client.must(m.Begin())
        yield client
    with RawClient(server, "stores_demo") as client:
        client.command("SET LOCK MODE TO WAIT 60")
        client.command("DROP TABLE t_queue")


@pytest.fixture
def other(server: Server, client: RawClient) -> Iterator[RawClient]:
    with RawClient(server, "stores_demo") as other:
        yield other


def start(client: RawClient, sql: str = CURSOR, name: str = "Upd", hold: bool = False) -> int:
    """Open a cursor with a name and return the statement's id."""
    query = client.prepare(sql).statement_id
    client.must(m.Id(query), m.CursorName(name), *([m.Hold()] if hold else []), m.Open())
    return query


def ints(client: RawClient, query: int) -> tuple[int, int] | None:
    """Return the next row of two INTEGERs, None at the end."""
    payloads, done = client.fetch(query)
    assert len(payloads) + (done is not None) == 1
    if not payloads:
        return None
    return int.from_bytes(payloads[0][:4], "big"), int.from_bytes(payloads[0][4:8], "big")


def refused(client: RawClient, *messages: m.Message) -> tuple[int, int]:
    with pytest.raises(Refused) as caught:
        client.must(*messages)
    return caught.value.error.sqlcode, caught.value.error.isamcode


def executed(client: RawClient, sql: str) -> tuple[int, int]:
    """Return SQLCODE and ISAM code of a refused statement."""
    return refused(client, m.Command(sql), m.NDescribe(), m.Execute(), m.Release())


def tails(client: RawClient) -> dict[int, int]:
    rows = client.select("SELECT id, tail FROM t_queue ORDER BY id")
    return {int.from_bytes(row[:4], "big"): int.from_bytes(row[4:8], "big") for row in rows}


def test_a_cursor_for_update_gives_its_rows_one_by_one(client: RawClient) -> None:
    query = start(client)
    assert [ints(client, query) for _ in range(5)] == [(1, 10), (2, 20), (3, 30), None, None]


def test_the_current_row_is_updated_and_deleted(client: RawClient) -> None:
    query = start(client)
    assert ints(client, query) == (1, 10)
    assert ints(client, query) == (2, 20)
    reply = client.command("UPDATE t_queue SET tail = tail + 1, name = 'new' WHERE CURRENT OF upd")
    assert one(reply, m.Done).rows == 1
    client.command("UPDATE t_queue SET tail = tail + 1 WHERE CURRENT OF upd")
    assert ints(client, query) == (3, 30)
    assert one(client.command("DELETE FROM t_queue WHERE CURRENT OF upd"), m.Done).rows == 1
    assert executed(client, "DELETE FROM t_queue WHERE CURRENT OF upd")[0] == -266
    assert ints(client, query) is None
    client.must(m.Commit())
    assert tails(client) == {1: 10, 2: 22}


def test_a_positioned_update_takes_parameters(client: RawClient) -> None:
    query = start(client)
    ints(client, query)
    described = client.prepare("UPDATE t_queue SET tail = ?, name = ? WHERE CURRENT OF upd", 2)
    assert described.statement_type == 7
    update = described.statement_id
    client.must(m.Id(update), client.bind(100, "long enough to be cut off"), m.Execute())
    ints(client, query)
    client.must(m.Id(update), client.bind(200, "short"), m.Execute())
    client.must(m.Commit())
    assert tails(client) == {1: 100, 2: 200, 3: 30}
    assert (
        client.select("SELECT name FROM t_queue WHERE id = 1")[0]
        == bytes([20]) + b"long enough to be cut off"[:20]
    )


def test_a_table_without_a_key_has_current_rows_too(client: RawClient) -> None:
    client.command("CREATE TEMP TABLE t_bare (a INTEGER, tail INTEGER)")
    for _ in range(3):
        client.command("INSERT INTO t_bare VALUES (7, 7)")
    query = start(client, "SELECT a, tail FROM t_bare FOR UPDATE OF tail")
    ints(client, query)
    ints(client, query)
    client.command("UPDATE t_bare SET tail = 8 WHERE CURRENT OF upd")
    client.must(m.Commit())
    assert sorted(client.select("SELECT tail FROM t_bare")) == [bytes((0, 0, 0, n)) for n in (7, 7, 8)]


def test_without_a_current_row_there_is_nothing_to_change(client: RawClient) -> None:
    assert executed(client, "UPDATE t_queue SET tail = 0 WHERE CURRENT OF nobody")[0] == -507
    query = start(client)
    assert executed(client, "UPDATE t_queue SET tail = 0 WHERE CURRENT OF upd")[0] == -266
    while ints(client, query):
        pass
    assert executed(client, "UPDATE t_queue SET tail = 0 WHERE CURRENT OF upd")[0] == -266
    client.must(m.Id(query), m.Close())
    assert executed(client, "UPDATE t_queue SET tail = 0 WHERE CURRENT OF upd")[0] == -507
    plain = start(client, "SELECT id, tail FROM t_queue", "plain")
    client.fetch(plain)
    assert executed(client, "UPDATE t_queue SET tail = 0 WHERE CURRENT OF plain")[0] == -507
    assert tails(client) == {1: 10, 2: 20, 3: 30}


def test_a_cursor_for_update_needs_a_transaction(client: RawClient) -> None:
    client.must(m.Commit())
    query = client.prepare(CURSOR).statement_id
    assert client.error(m.Id(query), m.CursorName("u"), m.Open()) == -398
    assert client.error(m.Id(query), m.CursorName("u"), m.Scroll(), m.Open()) == -526
    client.must(m.Begin())
    client.must(m.Id(query), m.CursorName("u"), m.Open())
    assert ints(client, query) == (1, 10)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM t_queue FOR UPDATE",
        "SELECT DISTINCT tail FROM t_queue FOR UPDATE",
        "SELECT a.id FROM t_queue a, t_queue b FOR UPDATE",
        "SELECT tabid FROM systables FOR UPDATE",
    ],
)
def test_only_rows_of_one_table_can_be_locked(client: RawClient, sql: str) -> None:
    assert client.error(m.Prepare(0, sql), m.NDescribe(), m.WantDone()) == -201


def test_a_held_cursor_goes_on_in_the_next_transaction(client: RawClient) -> None:
    query = start(client, hold=True)
    assert ints(client, query) == (1, 10)
    client.command("UPDATE t_queue SET tail = 11 WHERE CURRENT OF upd")
    client.must(m.Commit())
    assert client.error(m.Id(query), m.Fetch(100)) == -398
    client.must(m.Begin())
    assert executed(client, "UPDATE t_queue SET tail = 0 WHERE CURRENT OF upd")[0] == -266
    assert ints(client, query) == (2, 20)
    client.command("UPDATE t_queue SET tail = 21 WHERE CURRENT OF upd")
    client.must(m.Commit())
    assert tails(client) == {1: 11, 2: 21, 3: 30}


def test_the_row_fetched_is_locked_and_no_other(client: RawClient, other: RawClient) -> None:
    query = start(client)
    ints(client, query)
    assert executed(other, "UPDATE t_queue SET tail = 0 WHERE id = 1") == (-244, -107)
    assert one(other.command("UPDATE t_queue SET tail = 25 WHERE id = 2"), m.Done).rows == 1
    assert tails(other) == {1: 10, 2: 25, 3: 30}  # other sessions can read it
    assert ints(client, query) == (2, 25)  # the values at the time of the fetch
    other.command("UPDATE t_queue SET tail = 15 WHERE id = 1")  # the fetched row was not changed
    client.command("UPDATE t_queue SET tail = tail + 1 WHERE CURRENT OF upd")
    assert ints(client, query) == (3, 30)
    assert executed(other, "UPDATE t_queue SET tail = 0 WHERE id = 2") == (-244, -107)
    client.must(m.Commit())
    assert tails(other) == {1: 15, 2: 26, 3: 30}


def test_update_locks_can_be_retained(client: RawClient, other: RawClient) -> None:
    client.command("SET ISOLATION TO COMMITTED READ RETAIN UPDATE LOCKS")
    query = start(client)
    ints(client, query)
    ints(client, query)
    assert executed(other, "UPDATE t_queue SET tail = 0 WHERE id = 1") == (-244, -107)


@pytest.mark.parametrize(
    ("statements", "retained"),
    [
        ([], False),
        (["SET ENVIRONMENT RETAINUPDATELOCKS 'ALL'"], True),
        (["SET ENVIRONMENT RETAINUPDATELOCKS 'committed read'"], True),
        (["SET ENVIRONMENT RETAINUPDATELOCKS 'DIRTY READ'"], False),
        (["SET ENVIRONMENT RETAINUPDATELOCKS 'CURSOR STABILITY'"], False),
        (["SET ENVIRONMENT RETAINUPDATELOCKS 'CURSOR STABILITY'", "SET ISOLATION TO CURSOR STABILITY"], True),
        (["SET ENVIRONMENT RETAINUPDATELOCKS 'DIRTY READ'", "SET ISOLATION TO DIRTY READ"], True),
        (["SET ENVIRONMENT RETAINUPDATELOCKS 'COMMITTED READ'", "SET ISOLATION TO DIRTY READ"], False),
        (
            [
                "SET ENVIRONMENT RETAINUPDATELOCKS 'COMMITTED READ'",
                "SET ISOLATION TO COMMITTED READ LAST COMMITTED",
            ],
            True,
        ),
        (["SET ENVIRONMENT RETAINUPDATELOCKS 'ALL'", "SET ENVIRONMENT RETAINUPDATELOCKS 'NONE'"], False),
        (
            [
                "SET ISOLATION TO COMMITTED READ RETAIN UPDATE LOCKS",
                "SET ENVIRONMENT RETAINUPDATELOCKS 'NONE'",
            ],
            False,
        ),
        (
            [
                "SET ENVIRONMENT RETAINUPDATELOCKS 'NONE'",
                "SET ISOLATION TO COMMITTED READ RETAIN UPDATE LOCKS",
            ],
            True,
        ),
        (
            [
                "SET ISOLATION TO COMMITTED READ RETAIN UPDATE LOCKS",
                "SET ENVIRONMENT RETAINUPDATELOCKS 'DIRTY READ'",
            ],
            True,
        ),
        (["SET ISOLATION TO COMMITTED READ RETAIN UPDATE LOCKS", "SET ISOLATION TO COMMITTED READ"], False),
        (["SET ISOLATION TO REPEATABLE READ", "SET ENVIRONMENT RETAINUPDATELOCKS 'NONE'"], True),
    ],
)
def test_levels_retain_update_locks_as_the_environment_of_the_session_says(
    client: RawClient, other: RawClient, statements: list[str], retained: bool
) -> None:
    """At the levels that SET ENVIRONMENT RETAINUPDATELOCKS names, RETAIN UPDATE LOCKS is the default; NONE ends it."""
    for statement in statements:
        client.command(statement)
    query = start(client)
    ints(client, query)
    ints(client, query)
    if retained:
        assert executed(other, "UPDATE t_queue SET tail = 0 WHERE id = 1") == (-244, -107)
        client.must(m.Commit())
    other.command("UPDATE t_queue SET tail = 9 WHERE id = 1")
    assert tails(other)[1] == 9


def test_turning_retained_update_locks_off_frees_none_that_is_held(
    client: RawClient, other: RawClient
) -> None:
    client.command("SET ENVIRONMENT RETAINUPDATELOCKS 'ALL'")
    query = start(client)
    ints(client, query)
    ints(client, query)
    client.command("SET ENVIRONMENT RETAINUPDATELOCKS 'NONE'")
    ints(client, query)
    assert executed(other, "UPDATE t_queue SET tail = 0 WHERE id = 1")[0] == -244
    other.command("UPDATE t_queue SET tail = 25 WHERE id = 2")
    assert tails(other) == {1: 10, 2: 25, 3: 30}


@pytest.mark.parametrize(
    "value", ["'REPEATABLE READ'", "'1'", "''", "ALL", "'ALL' 'NONE'", "'ALL', 'NONE'", ""]
)
def test_update_locks_are_retained_at_no_other_levels(client: RawClient, value: str) -> None:
    statement = f"SET ENVIRONMENT RETAINUPDATELOCKS {value}"
    assert client.error(m.Prepare(0, statement), m.NDescribe(), m.WantDone()) == -201


def test_a_locked_row_can_be_fetched_when_it_is_free(client: RawClient, other: RawClient) -> None:
    other.must(m.Begin())
    other.command("UPDATE t_queue SET tail = 15 WHERE id = 1")
    query = start(client)
    assert refused(client, m.Id(query), m.Fetch(4096)) == (-263, -107)
    assert refused(client, m.Id(query), m.Fetch(4096)) == (-263, -107)
    other.must(m.Commit())
    assert ints(client, query) == (1, 15)
    assert ints(client, query) == (2, 20)


def test_rows_that_are_gone_when_their_turn_comes_are_passed_over(
    client: RawClient, other: RawClient
) -> None:
    query = start(client)
    assert ints(client, query) == (1, 10)
    other.command("DELETE FROM t_queue WHERE id = 2")
    other.command("UPDATE t_queue SET tail = 31 WHERE id = 3")
    assert ints(client, query) == (3, 31)
    assert ints(client, query) is None


def test_an_urgent_byte_ends_the_wait_for_a_lock(client: RawClient, other: RawClient) -> None:
    client.command("UPDATE t_queue SET tail = 11 WHERE id = 1")
    other.command("SET LOCK MODE TO WAIT")
    other.must(m.Begin())
    other.command("UPDATE t_queue SET tail = 22 WHERE id = 2")
    other.send(
        m.Command("UPDATE t_queue SET tail = 12 WHERE id = 1"), m.NDescribe(), m.Execute(), m.Release(), EOT
    )
    other.socket.send(b"B", socket.MSG_OOB)
    (error,) = other.receive_group()
    assert isinstance(error, m.Err)
    assert (error.sqlcode, error.isamcode) == (-213, -157)
    client.must(m.Commit())
    other.must(m.Commit())
    assert tails(client) == {1: 11, 2: 22, 3: 30}


@pytest.mark.skipif(not hasattr(select, "POLLRDHUP"), reason="poll cannot tell that a client has left")
def test_a_client_that_leaves_does_not_wait_on(server: Server, client: RawClient, other: RawClient) -> None:
    """Its session ends and releases its locks, although the lock that it waits for is never released."""
    client.command("UPDATE t_queue SET tail = 11 WHERE id = 1")
    gone = RawClient(server, "stores_demo")
    gone.command("SET LOCK MODE TO WAIT")
    gone.must(m.Begin())
    gone.command("UPDATE t_queue SET tail = 22 WHERE id = 2")
    gone.send(
        m.Command("UPDATE t_queue SET tail = 12 WHERE id = 1"), m.NDescribe(), m.Execute(), m.Release(), EOT
    )
    gone.socket.close()
    other.command("SET LOCK MODE TO WAIT 60")
    other.command("UPDATE t_queue SET tail = 33 WHERE id = 2")
    client.must(m.Commit())
    assert tails(client) == {1: 11, 2: 33, 3: 30}


def test_many_connections_count_in_one_row(server: Server, client: RawClient) -> None:
    """Each connection reads FOR UPDATE and writes the value plus one. No update is lost."""
    client.must(m.Commit())
    failures: list[BaseException] = []

    def count() -> None:
        try:
            with RawClient(server, "stores_demo") as mine:
                mine.command("SET LOCK MODE TO WAIT")
                for _ in range(10):
                    mine.must(m.Begin())
                    query = start(mine, "SELECT id, tail FROM t_queue WHERE id = 1 FOR UPDATE")
                    row = ints(mine, query)
                    assert row is not None
                    mine.command(f"UPDATE t_queue SET tail = {row[1] + 1} WHERE CURRENT OF upd")
                    mine.must(m.Id(query), m.Close())
                    mine.must(m.Id(query), m.Release())
                    mine.must(m.Commit())
        except BaseException as e:  # noqa: BLE001
            failures.append(e)

    threads = [threading.Thread(target=count, daemon=True) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)
    assert tails(client) == {1: 60, 2: 20, 3: 30}


def test_contents_of_a_text_column_are_read_in_the_current_row(client: RawClient) -> None:
    client.command("CREATE TEMP TABLE t_texts (id INTEGER, content TEXT)")
    insert = client.prepare("INSERT INTO t_texts VALUES (1, ?)", 1).statement_id
    descriptor = bytes(16) + (5).to_bytes(4, "big") + bytes(36)
    client.must(
        m.Id(insert),
        m.Bind((m.BoundValue(12, descriptor, 0, 0x38),)),
        m.BlobBind(1),
        m.BlobChunk(b"hello"),
        m.BlobChunk(b""),
        m.Execute(),
    )
    query = start(client, "SELECT content FROM t_texts FOR UPDATE")
    (payload,), _ = client.fetch(query)
    reply = client.must(m.Id(query), m.FetchBlob(payload))
    assert b"".join(message.data for message in reply if isinstance(message, m.BlobChunk)) == b"hello"
