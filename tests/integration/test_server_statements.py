"""Statements: their ids, their parameters, their errors, their transactions."""

from __future__ import annotations

import pytest

from informix_arrow.server import Server
from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import StatementType
from informix_arrow.wire.messages import Describe, InputDescribe, KeysDescribe
from informix_arrow.wire.types import TypeCode

from .raw import EOT, RawClient, one

ONE = "SELECT FIRST 1 tabid FROM systables ORDER BY tabid"


def test_ids_begin_at_0_and_the_lowest_free_one_is_given_again(server: Server) -> None:
    with RawClient(server, "sysmaster") as client:
        assert [client.prepare(ONE).statement_id for _ in range(4)] == [0, 1, 2, 3]
        for number in (2, 0):
            client.must(m.Id(number), m.Release())
        assert [client.prepare(ONE).statement_id for _ in range(3)] == [0, 2, 4]


def test_a_failed_prepare_takes_no_id(server: Server) -> None:
    with RawClient(server, "sysmaster") as client:
        assert client.error(m.Prepare(0, "SELEKT * FROM systables"), m.NDescribe(), m.WantDone()) == -201
        assert client.error(m.Prepare(0, "SELECT * FROM no_such_table"), m.NDescribe(), m.WantDone()) == -206
        assert client.prepare(ONE).statement_id == 0


@pytest.mark.parametrize(
    "operation",
    [m.Open(), m.Execute(), m.Fetch(4096), m.Close(), m.Release(), m.InputDescribeRequest()],
    ids=repr,
)
def test_a_statement_that_does_not_exist_is_an_error_never_silence(
    server: Server, operation: m.Message
) -> None:
    with RawClient(server, "sysmaster") as client:
        assert client.error(m.Id(7), operation) in (-258, -259)
        assert client.ask() == []


def test_prepare_describes_and_says_done(server: Server) -> None:
    with RawClient(server, "sysmaster") as client:
        reply = client.must(m.Prepare(0, "SELECT tabname, tabid FROM systables"), m.NDescribe(), m.WantDone())
    assert [type(message).__name__ for message in reply] == ["Describe", "Done", "Cost"]


def test_preparing_an_insert_brings_an_insertdone_of_zeros(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_insertdone (a INT, b VARCHAR(10))")
        reply = client.must(
            m.Prepare(2, "INSERT INTO t_insertdone VALUES (?, ?)"), m.NDescribe(), m.WantDone()
        )
        assert one(reply, m.InsertDone) == m.InsertDone(0, 0)
        assert one(reply, m.Describe).statement_type == StatementType.INSERT
        assert client.number("SELECT COUNT(*)::INT FROM t_insertdone") == 0


def test_the_parameters_of_a_statement_are_described(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_input (a INT, b VARCHAR(10), c DECIMAL(8,2))")
        statement = client.prepare("INSERT INTO t_input VALUES (?, ?, ?)", 3).statement_id
        reply = one(client.must(m.Id(statement), m.InputDescribeRequest()), InputDescribe)
    assert [ct.code for ct in reply.columns] == [TypeCode.INTEGER, TypeCode.VARCHAR, TypeCode.DECIMAL]
    assert reply.columns[2].encoded_length == 8 << 8 | 2


def test_a_command_gets_exactly_one_done(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        one(client.command("CREATE TEMP TABLE t_command (a INT)"), m.Done)
        assert one(client.command("INSERT INTO t_command VALUES (5)"), m.Done).rows == 1
        assert client.prepare(ONE).statement_id == 0


def test_commands_in_one_group_get_one_done_each_up_to_the_first_error(server: Server) -> None:
    def command(sql: str) -> list[m.Message]:
        return [m.Command(sql), m.NDescribe(), m.Execute(), m.Release()]

    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_commands (a INT)")
        reply = client.ask(
            *command("INSERT INTO t_commands VALUES (1);"),
            *command("INSERT INTO t_commands VALUES (1, 2);"),
            *command("INSERT INTO t_commands VALUES (3);"),
        )
        kinds = [type(message) for message in reply]
        assert kinds.count(m.Done) == 1
        assert kinds[-1] is m.Err
        assert client.number("SELECT COUNT(*)::INT FROM t_commands") == 1


def test_after_the_first_error_the_rest_of_the_group_is_passed_over(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        reply = client.ask(
            m.Id(9), m.Execute(), m.Command("CREATE TABLE t_never (a INT)"), m.Execute(), m.DbList()
        )
        assert [type(message) for message in reply] == [m.Err]
        assert client.error(m.Prepare(0, "SELECT * FROM t_never")) == -206


def test_a_select_cannot_be_executed_and_an_update_not_opened(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        select = client.prepare(ONE).statement_id
        assert client.error(m.Id(select), m.Execute()) == -260
        create = client.prepare("CREATE TEMP TABLE t_not_a_query (a INT)").statement_id
        assert client.error(m.Id(create), m.CursorName("c"), m.Open()) == -363


def test_a_bind_may_come_in_a_group_of_its_own(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_bind (a INT, b VARCHAR(10))")
        insert = client.prepare("INSERT INTO t_bind VALUES (?, ?)", 2).statement_id
        assert client.must(m.Id(insert), client.bind(7, "seven")) == []
        assert one(client.must(m.Id(insert), m.Execute()), m.Done).rows == 1
        query = client.prepare("SELECT a FROM t_bind WHERE b = ?", 1).statement_id
        assert client.must(m.Id(query), client.bind("seven")) == []
        client.open_cursor(query)
        assert client.fetch(query)[0] == [(7).to_bytes(4, "big")]


def test_a_bind_without_an_execute_is_tolerated(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_half (a INT, b INT)")
        insert = client.prepare("INSERT INTO t_half VALUES (?, ?)", 2).statement_id
        assert client.must(m.Id(insert), client.bind(None), m.Id(insert), m.Release()) == []


def test_a_wrong_number_of_parameters_is_an_error(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_count (a INT, b INT)")
        insert = client.prepare("INSERT INTO t_count VALUES (?, ?)", 2).statement_id
        assert client.error(m.Id(insert), client.bind(1), m.Execute()) == -254
        assert client.error(m.Id(insert), m.Execute()) == -254


def test_sql_that_is_no_text_in_the_code_set_is_an_error_with_its_place(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        latin = m.Prepare(0, "SELECT 'caf\xe9' FROM systables").encode(
            client.framing.with_encoding("latin-1")
        )
        client.socket.sendall(latin)
        client.send(EOT)
        (error,) = client.receive_group()
        assert isinstance(error, m.Err)
        assert (error.sqlcode, error.offset) == (-202, 12)
        assert client.prepare(ONE).statement_id == 0


def test_text_travels_in_the_code_set_of_the_opened_database(server: Server) -> None:
    for database, data in (("stores_demo", "é".encode()), ("sysmaster", "é".encode("latin-1"))):
        with RawClient(server, database) as client:
            client.command("CREATE TEMP TABLE t_text (a VARCHAR(10), b INT)")
            client.command("INSERT INTO t_text VALUES ('é', 5)")
            (row,) = client.select("SELECT a, b FROM t_text WHERE a = ?", "é")
            assert row == bytes([len(data)]) + data + b"\0\0\0\5"


def test_a_prepared_statement_survives_the_begin_that_follows_it(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TABLE t_survivor (a INT)")
        insert = client.prepare("INSERT INTO t_survivor VALUES (?)", 1).statement_id
        client.must(m.Begin())
        client.must(m.Id(insert), client.bind(1), m.Execute())
        client.must(m.Rollback())
        assert client.number("SELECT COUNT(*)::INT FROM t_survivor") == 0
        client.must(m.Id(insert), client.bind(1), m.Execute())
        assert client.number("SELECT COUNT(*)::INT FROM t_survivor") == 1
        client.command("DROP TABLE t_survivor")


def test_transactions_cannot_be_nested_nor_ended_twice(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        assert client.error(m.Commit()) == -255
        assert client.error(m.Rollback()) == -255
        client.must(m.Begin())
        assert client.error(m.Begin()) == -535
        client.must(m.Commit())
        assert client.error(m.Commit()) == -255


def test_preparing_begin_work_begins_nothing(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        assert client.prepare("BEGIN WORK").statement_type == StatementType.BEGIN_WORK
        assert client.error(m.Rollback()) == -255


def test_begin_work_as_sql_is_ended_by_the_rollback_message(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TABLE t_sql_begin (a INT)")
        client.command("BEGIN WORK")
        client.command("INSERT INTO t_sql_begin VALUES (1)")
        client.must(m.Rollback())
        assert client.number("SELECT COUNT(*)::INT FROM t_sql_begin") == 0
        client.command("DROP TABLE t_sql_begin")


def test_savepoints_undo_what_came_after_them(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TABLE t_savepoint (a INT)")
        client.must(m.Begin())
        client.command("INSERT INTO t_savepoint VALUES (1)")
        client.must(m.SetSavepoint("here"))
        client.command("INSERT INTO t_savepoint VALUES (2)")
        client.must(m.RollbackToSavepoint("here"))
        client.must(m.ReleaseSavepoint("here"))
        client.must(m.Commit())
        assert client.number("SELECT COUNT(*)::INT FROM t_savepoint") == 1
        client.command("DROP TABLE t_savepoint")


def test_a_session_may_open_one_database_after_the_other(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.open_database("sysmaster")
        client.framing = client.framing.with_encoding("latin-1")
        assert client.number(ONE) == 1
        client.must(m.DbClose())
        assert client.error(m.Prepare(0, ONE)) < 0


def test_generated_keys_come_with_the_reply_of_each_execution(server: Server) -> None:
    """The requests and replies are those of JDBC (message 134, answered by 135 and 136)."""
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_keys (tail INT, id SERIAL, big BIGSERIAL)")
        insert = "INSERT INTO t_keys (tail) VALUES (7)"
        reply = client.must(m.Command(insert), m.GeneratedKeys(), m.NDescribe(), m.Execute(), m.Release())
        assert [(c.name, c.type.sql) for c in one(reply, KeysDescribe).columns] == [
            ("id", "SERIAL"),
            ("big", "BIGSERIAL"),
        ]
        assert one(reply, m.KeysTuple).payload == (1).to_bytes(4, "big") + (1).to_bytes(8, "big")
        prepare = m.Prepare(1, "INSERT INTO t_keys VALUES (?, 0, 0)")
        described = client.must(prepare, m.GeneratedKeys(3, ("ID",)), m.NDescribe(), m.WantDone())
        statement = one(described, Describe).statement_id
        for _ in range(3):  # sent without waiting, so that the server could process them together
            client.send(m.Id(statement), client.bind(8), m.Execute(), EOT)
        keys = [one(group, m.KeysTuple).payload for group in client.receive_groups(3)]
        assert keys == [n.to_bytes(4, "big") for n in (2, 3, 4)]
        assert client.number("SELECT SUM(tail)::INT FROM t_keys") == 7 + 3 * 8


def test_generated_keys_are_those_of_serials_only(server: Server) -> None:
    with RawClient(server, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_none (tail INT)")
        insert = m.Command("INSERT INTO t_none VALUES (7)")
        assert (
            client.error(insert, m.GeneratedKeys(3, ("tail",)), m.NDescribe(), m.Execute(), m.Release())
            == -201
        )
        reply = client.must(insert, m.GeneratedKeys(), m.NDescribe(), m.Execute(), m.Release())
        assert not any(isinstance(message, (KeysDescribe, m.KeysTuple)) for message in reply)
        assert client.number("SELECT COUNT(*)::INT FROM t_none") == 1
