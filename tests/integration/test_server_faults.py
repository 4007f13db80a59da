"""Injected faults and the log of statements, for users who test their own programs."""

from __future__ import annotations

import io
import json
import logging
import re
import socket
import threading
from collections.abc import Iterator

import pytest

from informix_arrow.server import Server
from informix_arrow.wire import messages as m

from .raw import EOT, RawClient, one
from .test_server_login import eventually, everything_until_closed


@pytest.fixture(scope="module")
def shared_server() -> Iterator[Server]:
    """A server for this module alone, as faults apply to all its sessions."""
    with Server(threads=1) as server:
        yield server


@pytest.fixture
def own(shared_server: Server) -> Server:
    """A server without sessions and faults, for these tests alone, as faults apply to all its sessions."""
    assert eventually(lambda: shared_server.sessions == 0)
    shared_server.faults.clear()
    return shared_server


@pytest.fixture
def client(own: Server) -> Iterator[RawClient]:
    with RawClient(own, "sysmaster") as client:
        client.command("drop table if exists t")
        client.command("create table t (a int primary key, b varchar(20))")
        own.queries.clear()
        yield client


def error(reply: list[m.Message]) -> tuple[int, int]:
    found = one(reply, m.Err)
    return found.sqlcode, found.isamcode


def run(client: RawClient, sql: str) -> list[m.Message]:
    return client.ask(m.Command(sql), m.NDescribe(), m.Execute(), m.Release())


# ---- errors ----------------------------------------------------------------------------------------------------


def test_the_next_statement_fails_and_is_not_run_and_the_one_after_is_as_ever(
    own: Server, client: RawClient
) -> None:
    own.faults.fail_next(-271, -131)
    assert error(run(client, "insert into t values (1, 'one')")) == (-271, -131)
    client.command("insert into t values (2, 'two')")
    assert client.number("select count(*)::int from t") == 1
    assert own.faults.pending == 0


def test_only_statements_that_match_fail_as_often_as_asked(own: Server, client: RawClient) -> None:
    own.faults.fail_next(-243, -107, matching=r"INSERT\s+into t\b", times=2)
    assert client.number("select count(*)::int from t") == 0
    assert error(run(client, "insert into t values (1, 'one')")) == (-243, -107)
    assert error(run(client, "INSERT  INTO T values (1, 'one')")) == (-243, -107)
    client.command("insert into t values (1, 'one')")
    assert client.number("select a from t") == 1


def test_a_compiled_pattern_keeps_its_own_flags(own: Server, client: RawClient) -> None:
    own.faults.fail_next(-206, matching=re.compile("INSERT"))
    client.command("insert into t values (1, 'one')")
    assert error(run(client, "INSERT into t values (2, 'two')")) == (-206, 0)


def test_faults_are_taken_in_the_order_of_asking(own: Server, client: RawClient) -> None:
    own.faults.fail_next(-100)
    own.faults.fail_next(-101)
    assert [error(run(client, f"insert into t values ({n}, '')"))[0] for n in range(2)] == [-100, -101]


def test_a_query_fails_when_it_is_opened(own: Server, client: RawClient) -> None:
    query = client.prepare("select a, b from t").statement_id
    own.faults.fail_next(-999, matching="select a, b")
    assert client.error(m.Id(query), m.CursorName("c1"), m.Open()) == -999
    client.open_cursor(query)
    assert client.fetch(query)[0] == []


def test_a_prepared_statement_fails_at_one_execution_of_many(own: Server, client: RawClient) -> None:
    insert = client.prepare("insert into t values (?, ?)", 2).statement_id
    own.faults.fail_next(-691, -111)
    groups: list[m.Message] = []
    for number in range(500):
        groups += [m.Id(insert), client.bind(number, f"row {number}"), m.Execute(), EOT]
    client.send(*groups)
    replies = client.receive_groups(500)
    assert error(replies[0]) == (-691, -111)
    assert all(one(reply, m.Done).rows == 1 for reply in replies[1:])
    assert client.number("select count(*)::int from t") == 499
    assert client.number("select min(a) from t") == 1


def test_rows_of_an_insert_cursor_fail_as_a_whole_statement_does(own: Server, client: RawClient) -> None:
    insert = client.prepare("insert into t values (?, ?)", 2).statement_id
    own.faults.fail_next(-271, -131, matching="insert into t")
    client.must(m.Id(insert), m.CursorName("c2"), m.Open())
    rows = [m.Put(number.to_bytes(4, "big") + b"\x03abc") for number in range(3)]
    assert error(client.ask(m.Id(insert), *rows)) == (-271, -131)
    assert client.number("select count(*)::int from t") == 0


def test_begin_and_commit_count_only_when_they_are_meant(own: Server, client: RawClient) -> None:
    own.faults.fail_next(-268, -100)
    client.must(m.Begin())
    assert error(run(client, "insert into t values (1, 'one')")) == (-268, -100)
    own.faults.fail_next(-271, -136, matching="^commit")
    client.command("insert into t values (2, 'two')")
    assert client.error(m.Commit()) == -271
    client.must(m.Rollback())
    assert client.number("select count(*)::int from t") == 0


def test_a_typed_commit_fails_like_its_message(own: Server, client: RawClient) -> None:
    own.faults.fail_next(-271, -136, matching="commit work")
    client.command("begin work")
    client.command("insert into t values (1, 'one')")
    assert error(run(client, "commit work")) == (-271, -136)
    client.command("commit work")
    assert client.number("select a from t") == 1


def test_faults_that_nobody_met_can_be_forgotten(own: Server, client: RawClient) -> None:
    own.faults.fail_next(-100, times=3)
    own.faults.drop_after(1000)
    assert own.faults.pending == 4
    own.faults.clear()
    assert own.faults.pending == 0
    client.command("insert into t values (1, 'one')")


def test_one_fault_is_met_by_one_of_many_sessions(own: Server, client: RawClient) -> None:
    own.faults.fail_next(-243, -107, matching="insert", times=5)
    ready = threading.Barrier(8, timeout=60)
    codes: list[int] = []

    def session(number: int) -> None:
        with RawClient(own, "sysmaster") as mine:
            ready.wait()
            for row in range(10):
                reply = run(mine, f"insert into t values ({number * 100 + row}, 'x')")
                codes.extend(each.sqlcode for each in reply if isinstance(each, m.Err))

    threads = [threading.Thread(target=session, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes.count(-243) == 5
    assert client.number("select count(*)::int from t") == 75


@pytest.mark.parametrize(
    "arguments", [{"sqlcode": 0}, {"sqlcode": 268}, {"sqlcode": -1, "isam": 5}, {"sqlcode": -1, "times": 0}]
)
def test_a_fault_that_cannot_be_is_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"sqlcode|isam|times"):
        Server().faults.fail_next(**arguments)


# ---- delays ----------------------------------------------------------------------------------------------------


def test_a_delayed_statement_holds_up_nobody_else_and_can_be_interrupted(
    own: Server, client: RawClient
) -> None:
    own.faults.delay_next(3600, matching="insert into t")
    insert = client.prepare("insert into t values (?, ?)", 2).statement_id
    client.send(m.Id(insert), client.bind(1, "late"), m.Execute(), EOT)
    with RawClient(own, "sysmaster") as other:
        assert eventually(lambda: own.faults.pending == 0)  # it is waiting now
        assert other.number("select count(*)::int from t") == 0
        client.socket.send(b"B", socket.MSG_OOB)
        assert error(client.receive_group()) == (-213, -157)
    client.must(m.Id(insert), client.bind(1, "now"), m.Execute())
    assert client.number("select a from t") == 1


def test_a_delayed_statement_is_run_afterwards(own: Server, client: RawClient) -> None:
    own.faults.delay_next(0.2, matching="insert into t")
    client.command("insert into t values (1, 'late')")
    assert client.number("select a from t") == 1
    (query,) = own.queries.matching("insert into t")
    assert query.seconds >= 0.2


@pytest.mark.parametrize("sql", ["insert into t values (1, 'x')", "commit work"])
def test_a_server_that_is_stopped_does_not_wait_for_delays(sql: str) -> None:
    with Server() as server, RawClient(server, "sysmaster") as client:
        client.command("create table t (a int, b char(3))")
        client.command("begin work")
        server.faults.delay_next(3600, matching=sql.partition(" ")[0])
        client.send(m.Command(sql), m.NDescribe(), m.Execute(), m.Release(), EOT)
        assert eventually(lambda: server.faults.pending == 0)
        server.stop()
        assert everything_until_closed(client.socket) == b""
    assert server.sessions == 0


# ---- connections -----------------------------------------------------------------------------------------------


def test_a_dropped_statement_is_not_run_and_its_transaction_rolled_back(
    own: Server, client: RawClient
) -> None:
    with RawClient(own, "sysmaster") as lost:
        lost.must(m.Begin())
        lost.command("insert into t values (1, 'one')")
        own.faults.drop_next(matching="insert")
        lost.send(m.Command("insert into t values (2, 'two')"), m.Execute(), m.Release(), EOT)
        assert everything_until_closed(lost.socket) == b""
    assert eventually(lambda: own.sessions == 1)
    assert client.number("select count(*)::int from t") == 0


def test_a_commit_that_is_dropped_afterwards_is_done_without_a_reply(own: Server, client: RawClient) -> None:
    with RawClient(own, "sysmaster") as lost:
        lost.must(m.Begin())
        lost.command("insert into t values (1, 'one')")
        own.faults.drop_next(matching="commit", after=True)
        lost.send(m.Commit(), EOT)
        assert everything_until_closed(lost.socket) == b""
    assert eventually(lambda: own.sessions == 1)
    assert client.number("select a from t") == 1


def test_nothing_that_was_sent_behind_a_dropped_statement_is_run(own: Server, client: RawClient) -> None:
    with RawClient(own, "sysmaster") as lost:
        insert = lost.prepare("insert into t values (?, ?)", 2).statement_id
        own.faults.drop_next(matching="insert into t", after=True)
        groups: list[m.Message] = []
        for number in range(200):
            groups += [m.Id(insert), lost.bind(number, "pipelined"), m.Execute(), EOT]
        groups += [m.Command("insert into t values (999, 'later')"), m.Execute(), m.Release(), EOT]
        lost.send(*groups)
        assert everything_until_closed(lost.socket) == b""
    assert eventually(lambda: own.sessions == 1)
    assert client.number("select count(*)::int from t") == 1
    assert client.number("select a from t") == 0


@pytest.mark.parametrize("size", [0, 1, 2, 7, 100, 5000])
def test_a_connection_is_cut_after_exactly_so_many_bytes(own: Server, client: RawClient, size: int) -> None:
    request = b"".join(
        x.encode(client.framing) for x in (m.Prepare(0, "select a, b from t"), m.NDescribe(), EOT)
    )
    client.socket.sendall(request)
    whole = b""
    while not whole.endswith(b"\0\x0c"):
        whole += client.socket.recv(65536)
    with RawClient(own, "sysmaster") as lost:
        own.faults.drop_after(size)
        times = size // len(whole) + 1
        lost.socket.sendall(request * times)
        received = everything_until_closed(lost.socket)
    assert len(received) == size
    assert received[: len(whole)][:2] == whole[:2][:size]
    assert client.ask(m.Version()) == []


# ---- the query log ---------------------------------------------------------------------------------------------


def test_executed_statements_are_written_down_without_the_values_of_parameters(
    own: Server, client: RawClient
) -> None:
    insert = client.prepare("insert into t values (?, ?)", 2).statement_id
    client.must(m.Id(insert), client.bind(1, "s3cret"), m.Execute())
    client.must(m.Id(insert), client.bind(2, "s3cret"), m.Execute())
    assert client.error(m.Id(insert), client.bind(2, "s3cret"), m.Execute()) == -268
    client.select("select a, b from t where a > ?", 0)
    client.error(m.Prepare(0, "select nothing from t"), m.NDescribe())
    assert [(q.sql, q.parameters, q.rows, q.sqlcode, q.isamcode) for q in own.queries] == [
        ("insert into t values (?, ?)", 2, 1, 0, 0),
        ("insert into t values (?, ?)", 2, 1, 0, 0),
        ("insert into t values (?, ?)", 2, 0, -268, -100),
        ("select a, b from t where a > ?", 1, 2, 0, 0),
        ("select nothing from t", 0, 0, -217, 0),
    ]
    assert {query.database for query in own.queries} == {"sysmaster"}
    assert len({query.session for query in own.queries}) == 1
    assert all(query.seconds >= 0 for query in own.queries)
    assert "s3cret" not in repr(own.queries)


def test_transactions_and_batches_are_written_down(own: Server, client: RawClient) -> None:
    insert = client.prepare("insert into t values (?, ?)", 2).statement_id
    client.must(m.Begin())
    groups: list[m.Message] = []
    for number in range(300):
        groups += [m.Id(insert), client.bind(number // 2, "twice"), m.Execute(), EOT]
    client.send(*groups)
    client.receive_groups(300)
    client.must(m.Commit())
    assert [own.queries[0].sql, own.queries[-1].sql] == ["BEGIN WORK", "COMMIT WORK"]
    inserts = own.queries.matching("insert into t")
    assert sum(query.executions for query in inserts) == 300
    assert sum(query.rows for query in inserts) == 150
    assert -268 in {query.sqlcode for query in inserts}


def test_old_statements_are_forgotten(own: Server, client: RawClient) -> None:
    from informix_arrow.server.net.query_log import MAX_QUERIES, Query, QueryLog

    log = QueryLog(kept=3)
    for number in range(5):
        log.add(Query(1, None, f"statement {number}", 0, 0, 0.0))
    assert [query.sql for query in log] == ["statement 2", "statement 3", "statement 4"]
    assert [query.sql for query in log[1:]] == ["statement 3", "statement 4"]
    assert len(log) == 3
    assert MAX_QUERIES >= 1000


def test_huge_statements_are_forgotten_sooner() -> None:
    from informix_arrow.server.net.query_log import MAX_TEXT, Query, QueryLog

    log = QueryLog()
    huge = "x" * (MAX_TEXT // 4)  # one shared text, so it takes hardly any memory here
    for number in range(9):
        log.add(Query(number, None, huge, 0, 0, 0.0))
    assert [query.session for query in log] == [5, 6, 7, 8]
    log.clear()
    for number in range(3):
        log.add(Query(number, None, huge, 0, 0, 0.0))
    assert [query.session for query in log] == [0, 1, 2]


def test_a_log_file_takes_any_text_whatever_its_encoding_and_may_be_closed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii", newline="\n")
    with Server(query_log=file) as server, RawClient(server, "stores_demo") as client:
        client.command("create table t (a nvarchar(9))")
        client.command("insert into t values ('\u20ac\u2028')")
        lines = raw.getvalue().decode("ascii").splitlines()
        assert json.loads(lines[1])["sql"] == "insert into t values ('\u20ac\u2028')"
        file.close()
        client.command("insert into t values ('x')")
        assert client.number("select count(*)::int from t") == 2
    assert caplog.text.count("The query log stops here") == 1


def test_the_log_file_has_a_line_of_json_for_each_statement() -> None:
    file = io.StringIO()
    with Server(query_log=file) as server, RawClient(server, "sysmaster") as client:
        client.command("create table t (a int)")
        client.command("insert into t values (1)")
        client.error(m.Command("insert into t values ('é')"), m.NDescribe(), m.Execute())
        lines = [json.loads(line) for line in file.getvalue().splitlines()]
    assert [line["sql"] for line in lines[:2]] == ["create table t (a int)", "insert into t values (1)"]
    assert [line["rows"] for line in lines[:2]] == [0, 1]
    assert lines[2]["sqlcode"] < 0
    assert set(lines[0]) >= {"session", "database", "sql", "parameters", "rows", "seconds", "sqlcode"}


def test_a_query_log_is_a_file_and_not_its_name() -> None:
    with pytest.raises(TypeError, match="open text file"):
        Server(query_log="queries.log")  # type: ignore[arg-type]


def test_a_log_file_that_cannot_be_written_ends_the_log_and_no_session(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    with Server(query_log=Full()) as server, RawClient(server, "sysmaster") as client:
        client.command("create table t (a int)")
        client.command("insert into t values (1)")
        assert client.number("select a from t") == 1
    assert caplog.text.count("The query log stops here") == 1


def test_a_statement_that_the_server_lacks_is_answered_and_the_log_says_what_is_missing(
    own: Server, client: RawClient, caplog: pytest.LogCaptureFixture
) -> None:
    sql = "alter access_method x drop"
    assert client.error(m.Command(sql), m.NDescribe(), m.Execute(), m.Release()) == -201
    client.command("insert into t values (1, 'one')")
    assert f"not supported by this server: ALTER ACCESS_METHOD): {sql}" in caplog.text
    (query, _) = own.queries
    assert (query.sql, query.sqlcode) == (sql, -201)
    assert query.detail == "not supported by this server: ALTER ACCESS_METHOD"


def test_a_statement_that_cannot_be_read_is_logged_with_the_place(
    client: RawClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "informix_arrow.server")
    assert client.error(m.Prepare(0, "select a from t where b is like 5"), m.NDescribe()) == -201
    assert "offset 2" in caplog.text
    assert "select a from t where b is like 5" in caplog.text


def test_a_password_in_a_statement_that_cannot_be_read_is_not_logged(
    own: Server, client: RawClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for sql in (
        "set encryption password 's3cret' with with",
        "set encryption password 's3cret",
        "select a from t where password = 's3cret' oops 5",
        'select a from t using "s3cret" "',
    ):
        assert client.error(m.Prepare(0, sql), m.NDescribe()) < 0
    assert caplog.records
    assert "s3cret" not in caplog.text
    assert len(own.queries) == 4
