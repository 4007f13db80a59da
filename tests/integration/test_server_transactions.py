"""Transactions over the wire: in logged, unlogged and ANSI databases, and how their ends affect cursors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from informix_arrow.server import Server
from informix_arrow.wire import messages as m

from .raw import RawClient, Refused, one

DATABASES = {"raw_tx_plain": "", "raw_tx_buffered": "WITH BUFFERED LOG", "raw_tx_ansi": "WITH LOG MODE ANSI"}


@pytest.fixture(scope="module")
def databases(server: Server) -> Iterator[Server]:
    """The server with a database of each kind. Each has a table `acc (id, tail)` with the row 1, 10."""
    for name, how in DATABASES.items():
        with RawClient(server) as client:
            client.command(f"CREATE DATABASE {name} {how}")
            client.command("CREATE TABLE acc (id INTEGER PRIMARY KEY, tail INTEGER)")
            client.command("INSERT INTO acc VALUES (1, 10)")
            if "ANSI" in how:
                client.must(m.Commit())
    yield server
    with RawClient(server) as client:
        for name in DATABASES:
            client.command(f"DROP DATABASE {name}")


def opened(server: Server, name: str) -> RawClient:
    """Return a connection to one of them, or to stores_demo."""
    return RawClient(server, name)


def kinds(reply: list[m.Message]) -> list[m.Message | type[m.Message]]:
    """Return the messages of a reply, without SQ_COST."""
    return [message for message in reply if not isinstance(message, m.Cost)]


def command_code(client: RawClient, sql: str) -> int:
    return client.error(m.Command(sql), m.NDescribe(), m.Execute(), m.Release())


BEGAN, ENDED = m.XactStat(2, 1, 0), m.XactStat(2, 0, 1)


def test_opening_a_database_reports_its_kind(databases: Server) -> None:
    warnings = {}
    for name in ("stores_demo", *DATABASES):
        with RawClient(databases) as client:
            warnings[name] = client.open_database(name).warnings
    assert warnings == {"stores_demo": 5, "raw_tx_plain": 4, "raw_tx_buffered": 5, "raw_tx_ansi": 7}


def test_a_database_without_transactions_refuses_them(databases: Server) -> None:
    with opened(databases, "raw_tx_plain") as client:
        assert client.error(m.Begin()) == -201
        assert command_code(client, "BEGIN WORK") == -256
        assert command_code(client, "COMMIT WORK") == -256
        assert command_code(client, "ROLLBACK WORK") == -256
        assert client.error(m.Commit()) == -255
        reply = client.command("UPDATE acc SET tail = tail + 1")
        assert not any(isinstance(message, m.XactStat) for message in reply)
        assert client.number("SELECT tail FROM acc") == 11
        client.command("UPDATE acc SET tail = 10")


def test_buffered_logging_is_logging(databases: Server) -> None:
    with opened(databases, "raw_tx_buffered") as client:
        assert client.must(m.Begin()) == [BEGAN]
        client.command("UPDATE acc SET tail = 0")
        assert kinds(client.must(m.Rollback())) == [m.Done(0, 0, 0, 0), ENDED]
        assert client.number("SELECT tail FROM acc") == 10


def test_a_statement_of_its_own_is_a_transaction_of_its_own(databases: Server) -> None:
    with opened(databases, "raw_tx_buffered") as client:
        reply = client.command("UPDATE acc SET tail = 10")
        assert kinds(reply) == [m.Done(one(reply, m.Done).warnings, 1, 0, 0), ENDED]
        assert client.error(m.Commit()) == -255


def test_in_an_ansi_database_every_statement_is_part_of_a_transaction(databases: Server) -> None:
    with opened(databases, "raw_tx_ansi") as client:
        assert BEGAN in client.command("UPDATE acc SET tail = 99")
        assert client.number("SELECT tail FROM acc") == 99
        client.must(m.Rollback())
        assert client.number("SELECT tail FROM acc") == 10
        client.must(m.Commit())
        client.command("UPDATE acc SET tail = 11")
        client.command("COMMIT WORK")
    with opened(databases, "raw_tx_ansi") as client:
        assert client.number("SELECT tail FROM acc") == 11
        client.command("UPDATE acc SET tail = 10")
        client.must(m.Commit())


def test_an_ansi_database_takes_a_commit_of_nothing_and_a_begin_before_anything(databases: Server) -> None:
    with opened(databases, "raw_tx_ansi") as client:
        for end in (m.Commit(), m.Rollback()):
            assert kinds(client.must(end)) == [m.Done(0, 0, 0, 0)]
        client.command("SET LOCK MODE TO WAIT 5")
        client.must(m.Begin())
        client.command("UPDATE acc SET tail = 12")
        assert client.error(m.Begin()) == -535
        assert command_code(client, "BEGIN WORK") == -535
        client.must(m.Rollback())
        client.number("SELECT tail FROM acc")
        assert client.error(m.Begin()) == -535
        client.must(m.Commit())


def test_an_ansi_transaction_has_savepoints(databases: Server) -> None:
    with opened(databases, "raw_tx_ansi") as client:
        client.command("SAVEPOINT one")
        client.command("UPDATE acc SET tail = 50")
        client.must(m.RollbackToSavepoint("one"))
        assert client.number("SELECT tail FROM acc") == 10
        client.must(m.Commit())


def test_leaving_an_ansi_database_in_a_transaction_is_refused(databases: Server) -> None:
    with opened(databases, "raw_tx_ansi") as client:
        client.number("SELECT tail FROM acc")
        assert client.error(m.DbOpen("stores_demo")) == -377
        client.must(m.Commit())
        client.open_database("stores_demo")


def test_savepoints_nest(databases: Server) -> None:
    with opened(databases, "stores_demo") as client:
        client.command("CREATE TEMP TABLE t_points (n INTEGER)")
        assert client.error(m.SetSavepoint("early")) == -255
        client.must(m.Begin())
        for n in (1, 2, 3):
            client.command(f"INSERT INTO t_points VALUES ({n})")
            client.must(m.SetSavepoint(f"p{n}", unique=n == 2))
        client.command("INSERT INTO t_points VALUES (4)")
        assert client.error(m.SetSavepoint("p2")) < 0
        client.must(m.SetSavepoint("p3"))  # replaces the other one
        client.must(m.ReleaseSavepoint("p3"))
        client.must(m.RollbackToSavepoint("p2"))
        assert client.number("SELECT MAX(n) FROM t_points") == 2
        assert client.error(m.RollbackToSavepoint("p3")) < 0
        client.command("INSERT INTO t_points VALUES (9)")
        client.command("ROLLBACK WORK TO SAVEPOINT p1")
        assert client.number("SELECT MAX(n) FROM t_points") == 1
        client.must(m.Commit())
        assert client.error(m.RollbackToSavepoint("p1")) == -255
        assert client.number("SELECT COUNT(*)::INT FROM t_points") == 1


@pytest.mark.parametrize("end", [m.Commit(), m.Rollback()], ids=["commit", "rollback"])
@pytest.mark.parametrize("scroll", [False, True])
def test_the_end_of_a_transaction_closes_all_cursors_but_those_with_hold(
    databases: Server, end: m.Message, scroll: bool
) -> None:
    sql = "SELECT FIRST 3 tabid FROM systables ORDER BY tabid"
    fetch = m.ScrollFetch(m.ScrollFetch.ABSOLUTE, 2) if scroll else m.Fetch(1)
    with opened(databases, "stores_demo") as client:
        plain, hold = client.prepare(sql).statement_id, client.prepare(sql).statement_id
        client.must(m.Begin())
        options = [m.Scroll()] if scroll else []
        client.must(m.Id(plain), m.CursorName("p"), *options, m.Open())
        client.must(m.Id(hold), m.CursorName("h"), *options, m.Hold(), m.Open())
        client.must(end)
        assert client.error(m.Id(plain), fetch) == -259
        assert any(isinstance(message, m.Tuple) for message in client.must(m.Id(hold), fetch))


def test_commit_work_as_text_closes_cursors_too(databases: Server) -> None:
    with opened(databases, "stores_demo") as client:
        query = client.prepare("SELECT tabid FROM systables").statement_id
        client.command("BEGIN WORK")
        client.open_cursor(query)
        client.command("COMMIT WORK")
        assert client.error(m.Id(query), m.Fetch(1)) == -259


def test_a_lost_connection_gives_its_locks_back(databases: Server) -> None:
    first = opened(databases, "raw_tx_buffered")
    first.must(m.Begin())
    first.command("UPDATE acc SET tail = 77")
    with opened(databases, "raw_tx_buffered") as second:
        with pytest.raises(Refused) as caught:
            second.command("UPDATE acc SET tail = 20")
        assert (caught.value.error.sqlcode, caught.value.error.isamcode) == (-244, -107)
        second.command("SET LOCK MODE TO WAIT")
        first.socket.close()
        second.command("UPDATE acc SET tail = tail + 0")
        assert second.number("SELECT tail FROM acc") == 10
