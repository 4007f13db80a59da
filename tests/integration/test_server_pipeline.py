"""Many messages ahead of their replies, and all failures of a connection."""

from __future__ import annotations

import random
import socket
import struct
import threading

import pytest

from informix_arrow.server import Server
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import Column
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

from .raw import EOT, RawClient, one
from .test_server_login import eventually, everything_until_closed


def insert_groups(client: RawClient, statement: int, rows: range) -> bytes:
    return b"".join(
        message.encode(client.framing)
        for k in rows
        for message in (m.Id(statement), client.bind(k, f"row {k}"), m.Execute(), EOT)
    )


def errors(groups: list[list[m.Message]]) -> dict[int, int]:
    """Return the sqlcode of each group that contains an error, by the group's number."""
    return {
        number: message.sqlcode
        for number, group in enumerate(groups)
        for message in group
        if isinstance(message, m.Err)
    }


def test_20000_inserts_are_taken_before_a_single_reply_is_read(server: Server) -> None:
    count = 20_000
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_ahead (k INT, name VARCHAR(20))")
        insert = client.prepare("INSERT INTO t_ahead VALUES (?, ?)", 2).statement_id
        client.socket.sendall(insert_groups(client, insert, range(count)))
        groups = client.receive_groups(count)
        assert errors(groups) == {}
        assert all(one(group, m.Done).rows == 1 for group in groups)
        assert client.number("SELECT COUNT(DISTINCT k)::INT FROM t_ahead") == count


def test_each_pipelined_row_that_fails_gets_its_own_error_and_the_others_are_in(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_some_fail (k INT PRIMARY KEY, name VARCHAR(20))")
        insert = client.prepare("INSERT INTO t_some_fail VALUES (?, ?)", 2).statement_id
        bad = {0: 5, 500: 5, 999: 5}
        keys = [bad.get(number, number + 1000) for number in range(1000)]
        client.command("INSERT INTO t_some_fail VALUES (5, 'there')")
        for key in keys:
            client.send(m.Id(insert), client.bind(key, "x"), m.Execute(), EOT)
        groups = client.receive_groups(1000)
        assert errors(groups) == dict.fromkeys(bad, -268)
        assert client.number("SELECT COUNT(*)::INT FROM t_some_fail") == 1000 - len(bad) + 1


def test_a_parameter_that_is_no_number_fails_its_own_row_only(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_no_number (k INT, name VARCHAR(20))")
        insert = client.prepare("INSERT INTO t_no_number VALUES (?, ?)", 2).statement_id
        for key in (1, "two", 3, "4"):
            client.send(m.Id(insert), client.bind(key, "x"), m.Execute(), EOT)
        assert set(errors(client.receive_groups(4))) == {1}
        assert client.number("SELECT SUM(k)::INT FROM t_no_number") == 8


def test_many_executes_in_one_group_get_a_done_each_and_stop_at_the_first_error(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_one_group (k INT PRIMARY KEY, name VARCHAR(20))")
        insert = client.prepare("INSERT INTO t_one_group VALUES (?, ?)", 2).statement_id

        def executes(keys: list[int]) -> list[m.Message]:
            return [message for key in keys for message in (client.bind(key, "x"), m.Execute())]

        reply = client.ask(m.Id(insert), *executes([1, 2, 3]))
        assert [message.rows for message in reply if isinstance(message, m.Done)] == [1, 1, 1]
        reply = client.ask(m.Id(insert), *executes([4, 5, 1, 6]))
        assert len([message for message in reply if isinstance(message, m.Done)]) == 2
        assert isinstance(reply[-1], m.Err)
        assert client.number("SELECT MAX(k) FROM t_one_group") == 5


def test_mixed_statements_may_be_pipelined_too(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_mixed (k INT, name VARCHAR(20))")
        one_id = client.prepare("INSERT INTO t_mixed VALUES (?, ?)", 2).statement_id
        two_id = client.prepare("INSERT INTO t_mixed VALUES (?, 'second')", 1).statement_id
        update = client.prepare("UPDATE t_mixed SET k = k + 1").statement_id
        client.send(m.Id(one_id), client.bind(1, "first"), m.Execute(), EOT)
        client.send(m.Id(two_id), client.bind(2), m.Execute(), EOT)
        client.send(m.Id(update), m.Execute(), EOT)
        client.send(m.Id(one_id), client.bind(3, "third"), m.Execute(), EOT)
        done = [one(group, m.Done).rows for group in client.receive_groups(4)]
        assert done == [1, 1, 2, 1]
        assert client.number("SELECT SUM(k)::INT FROM t_mixed") == 8


def test_a_conversation_in_single_bytes_is_understood(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_bytes (k INT, name VARCHAR(20))")
        insert = client.prepare("INSERT INTO t_bytes VALUES (?, ?)", 2).statement_id
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in insert_groups(client, insert, range(5)):
            client.socket.sendall(bytes([byte]))
        assert errors(client.receive_groups(5)) == {}


def test_rows_that_are_put_are_inserted_when_the_group_ends(server: Server) -> None:
    types = (ColumnType.integer(), ColumnType.varchar(20), ColumnType.boolean(), ColumnType.integer())
    columns = [Column(f"c{n}", ct) for n, ct in enumerate(types)]
    with RawClient(server, "stores_demo") as client:
        client.command(
            "CREATE TEMP TABLE t_put (k INT PRIMARY KEY, name VARCHAR(20), flag BOOLEAN, tail INT)"
        )
        insert = client.prepare("INSERT INTO t_put VALUES (?, ?, ?, ?)", 4).statement_id
        client.must(m.Id(insert), m.CursorName("p"), m.Open(), m.RetType(m.RetType.PUT, types))

        def put(k: int) -> m.Put:
            values = (k, None if k % 3 == 0 else f"row {k}", bool(k & 1), -k)
            return m.Put(encode_tuple(values, columns, client.framing.encoding))

        reply = client.must(m.Id(insert), *(put(k) for k in range(5000)))
        assert sum(message.rows for message in reply if isinstance(message, m.Done)) == 5000
        assert client.number("SELECT SUM(tail)::INT FROM t_put") == -sum(range(5000))
        reply = client.ask(m.Id(insert), *(put(k) for k in (5000, 5001, 7, 5002)))
        assert one(reply, m.Done).rows == 2
        assert one(reply, m.Err).sqlcode == -268
        assert client.number("SELECT MAX(k) FROM t_put") == 5001
        client.must(m.Id(insert), m.Close())
        assert client.error(m.Id(insert), put(1)) == -259


@pytest.mark.parametrize("seed", range(20))
def test_rubbish_ends_its_own_session_and_no_other(server: Server, seed: int) -> None:
    r = random.Random(seed)
    with RawClient(server, "stores_demo") as observer, RawClient(server, "stores_demo") as client:
        client.framing = client.framing.with_encoding("latin-1")
        client.command("CREATE TEMP TABLE t_rubbish (k INT, name VARCHAR(20))")
        insert = client.prepare("INSERT INTO t_rubbish VALUES (?, ?)", 2).statement_id
        data = bytearray(insert_groups(client, insert, range(20)))
        for _ in range(10):
            data[r.randrange(len(data))] = r.randrange(256)
        client.socket.sendall(bytes(data) + b"\x7f\xff\x7f\xff")
        client.socket.shutdown(socket.SHUT_WR)
        everything_until_closed(client.socket)
        assert observer.number("SELECT FIRST 1 tabid FROM systables ORDER BY tabid") == 1


def test_an_unknown_message_closes_the_connection_after_the_replies_before_it(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.send(m.Version(), EOT)
        client.socket.sendall(struct.pack(">hh", 29999, 0))
        assert client.receive_group() == []
        assert everything_until_closed(client.socket) == b""


def test_a_message_beyond_the_limit_closes_the_connection(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.socket.sendall(struct.pack(">hhi", 2, 0, 0x7FFF_FFF0) + b"SELECT")
        assert everything_until_closed(client.socket) == b""


def test_a_statement_that_is_too_long_is_an_error(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        assert client.error(m.Prepare(0, "SELECT 1 FROM systables -- " + "x" * (4 << 20))) == -460


def test_a_client_that_vanishes_is_rolled_back(server: Server) -> None:
    with RawClient(server, "stores_demo") as observer:
        observer.command("CREATE TABLE t_vanished (k INT)")
        for linger in (False, True):  # an orderly close, a reset
            before = server.sessions
            client = RawClient(server, "stores_demo")
            client.must(m.Begin())
            client.command("INSERT INTO t_vanished VALUES (1)")
            if linger:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.socket.close()
            assert eventually(lambda before=before: server.sessions <= before)
            assert observer.number("SELECT COUNT(*)::INT FROM t_vanished") == 0
        observer.command("DROP TABLE t_vanished")


def test_an_urgent_byte_interrupts_the_running_statement(server: Server) -> None:
    slow = "SELECT COUNT(*) FROM systables a, systables b, systables c, systables d, systables e, systables f"
    with RawClient(server, "sysmaster") as client:
        query = client.prepare(slow + " WHERE a.tabid + b.tabid + c.tabid + d.tabid + e.tabid + f.tabid > 0")
        number = query.statement_id
        client.send(m.Id(number), m.CursorName("slow"), m.Open(), m.Id(number), m.Fetch(4096), EOT)
        client.socket.send(b"\x42", socket.MSG_OOB)
        (error,) = client.receive_group()
        assert isinstance(error, m.Err)
        assert (error.sqlcode, error.isamcode) == (-213, -157)
        assert client.number("SELECT FIRST 1 tabid FROM systables ORDER BY tabid") == 1


def test_an_urgent_byte_between_statements_does_no_harm(server: Server) -> None:
    with RawClient(server, "sysmaster") as client:
        for _ in range(5):
            client.socket.send(b"\x42", socket.MSG_OOB)
            assert client.ask(m.Version()) == []
        assert client.ask() == []


def test_stopping_interrupts_a_running_statement() -> None:
    slow = "SELECT COUNT(*) FROM systables a, systables b, systables c, systables d, systables e, systables f"
    with Server() as own:
        client = RawClient(own, "sysmaster")
        number = client.prepare(slow + " WHERE a.tabid + f.tabid > 0").statement_id
        client.send(m.Id(number), m.CursorName("slow"), m.Open(), m.Id(number), m.Fetch(4096), EOT)
    everything_until_closed(client.socket)
    client.socket.close()


def test_eight_sessions_work_side_by_side(server: Server) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            with RawClient(server, "stores_demo") as client:
                client.command("CREATE TEMP TABLE t_mine (k INT, name VARCHAR(20))")
                insert = client.prepare("INSERT INTO t_mine VALUES (?, ?)", 2).statement_id
                client.socket.sendall(insert_groups(client, insert, range(number, number + 300)))
                assert errors(client.receive_groups(300)) == {}
                assert client.number("SELECT MIN(k) FROM t_mine") == number
        except BaseException as problem:  # noqa: BLE001 - handed to the test
            failures.append(problem)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
