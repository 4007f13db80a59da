"""The server's memory after results that were not read to the end. They are abandoned in various ways, without
leaks."""

from __future__ import annotations

import gc
import itertools
import os
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from tests.internals import engine_of, socket_of
from tests.stress import LONG, rounds
from tests.subprocess_server import ForkedCommand

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.server.net.client_connection import ClientConnection

from .test_server_streaming import MIB, resident

ROWS = 20_000
QUERY = "SELECT id, text, tail FROM wide"  # 12 MB
LIMIT = 150 * MIB
A_ROUND = 24
"""Results in a round: together they are more than the limit."""


@dataclass(frozen=True)
class Serving:
    """A server process with a wide table."""

    pid: int
    url: str


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with ForkedCommand("serve", "--port", "0", environment={"INFORMIX_ARROW_PASSWORD": "in4mix"}) as process:
        try:
            address = process.stdout.readline().removeprefix("listening on ").strip()
            url = f"informix://informix:in4mix@{address}/stores_demo?server=informix"
            with ifx.connect(url, autocommit=True) as connection:
                connection.execute("CREATE TABLE wide (id INTEGER, text CHAR(600), tail INTEGER)")
                connection.execute("CREATE TABLE aside (id INTEGER, tail INTEGER)")
                ids = pa.array(range(ROWS), pa.int32())
                texts = pa.array([f"{n:0600d}" for n in range(ROWS)])
                connection.write_arrow("wide", pa.table({"id": ids, "text": texts, "tail": ids}))
            yield Serving(process.pid, url)
        finally:
            process.terminate()
            assert process.wait(30) == 0


def _begin(url: str) -> tuple[ifx.Connection, ifx.Cursor]:
    connection = ifx.connect(url, autocommit=True)
    cursor = connection.cursor()
    cursor.execute(QUERY)
    row = cursor.fetchone()
    assert row is not None
    assert row[2] == row[0]
    return connection, cursor


def left_open(url: str) -> None:
    connection, _ = _begin(url)
    connection.close()


def closed_early(url: str) -> None:
    connection, cursor = _begin(url)
    cursor.close()
    connection.close()


def cut_off(url: str) -> None:
    connection, _ = _begin(url)
    link = socket_of(connection)
    assert link is not None
    link.shutdown(socket.SHUT_RDWR)
    connection.close()


def set_aside(url: str) -> None:
    """Run another statement, for which the server stores the rest of a result in memory and in a file."""
    connection, _ = _begin(url)
    connection.execute("INSERT INTO aside VALUES (1, 77)")
    connection.close()


def replaced(url: str) -> None:
    connection, cursor = _begin(url)
    cursor.execute(QUERY)
    assert cursor.fetchone() is not None
    connection.close()


def cancelled(url: str) -> None:
    connection, _ = _begin(url)
    connection.cancel()
    connection.close()


WAYS: tuple[Callable[[str], None], ...] = (
    left_open, closed_early, cut_off, set_aside, replaced, cancelled,
)  # fmt: skip


def _alone(connection: ifx.Connection) -> bool:
    row = connection.execute("SELECT COUNT(*), 1 FROM sysmaster:syssessions").fetchone()
    assert row is not None
    return int(row[0]) == 1


@pytest.mark.soak
@pytest.mark.skipif(not LONG, reason="`make test` does it with a few")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_thousand_results_that_nobody_read_leave_nothing(serving: Serving) -> None:
    _abandon(serving, _long())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_results_that_nobody_read_leave_nothing(serving: Serving) -> None:
    _abandon(serving, range(1))


@pytest.mark.soak
@pytest.mark.skipif(not LONG, reason="`make test` does it with a few")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_ten_million_rows_and_a_thousand_given_up_leave_nothing(serving: Serving) -> None:
    """First the memory after a result that was sent completely, then after abandoned results, both compared with the
    memory before."""
    for way in WAYS:  # memory that a process needs once
        way(serving.url)
    before, sent = resident(serving.pid), 0
    with ifx.connect(serving.url) as connection:
        query = "SELECT a.id, a.tail, b.id FROM wide a, wide b WHERE b.id < 500"
        for batch in connection.execute(query).fetch_record_batch():
            sent += batch.num_rows
    assert sent == 500 * ROWS
    after_rows = resident(serving.pid) - before
    assert after_rows < LIMIT, after_rows / MIB
    _abandon(serving, range(1000 // A_ROUND + 1), before)
    grown = resident(serving.pid) - before
    print(f"{sent} rows sent: {after_rows / MIB:.1f} MiB more; 1008 given up: {grown / MIB:.1f} MiB more")
    assert grown < LIMIT, grown / MIB


def _long() -> Iterator[int]:
    """Yield a thousand numbers, or more if the soak has time."""
    done = 0
    for done in rounds(1):
        yield done
    yield from range(done + 1, 1000 // A_ROUND + 1)


def _abandon(serving: Serving, work: Iterator[int] | range, before: int | None = None) -> None:
    """Abandon results in rounds and check the memory. `before` is the memory to compare with, by default that at the
    start."""
    quiet = threading.Event()  # never set, only used to wait
    with ifx.connect(serving.url, autocommit=True) as watching:
        for way in WAYS:  # memory that a process needs once
            way(serving.url)
        start, given_up = before or resident(serving.pid), 0
        ways = itertools.cycle(WAYS)
        for _ in work:
            for way in itertools.islice(ways, A_ROUND):
                way(serving.url)
                given_up += 1
            while not _alone(watching):
                quiet.wait(0.02)
            grown = resident(serving.pid) - start
            assert grown < LIMIT, (given_up, grown / MIB)
        print(f"{given_up} results given up, {(resident(serving.pid) - start) / MIB:.1f} MiB more")


_BOUND = 500 * MIB
"""`memory_limit`, the memory of the process before, and rows in transit. All rows in memory would be 530 MiB."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.timeout(300)
def test_rows_that_a_query_inserts_cost_no_memory_beyond_the_limit(tmp_path: Path) -> None:
    """60 MB, several times: alone, inside a transaction that may be repeated, and into another table."""
    command = [sys.executable, "-m", "informix_arrow.cli", "serve", "--port", "0", "--memory-limit", "60MB"]
    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": "in4mix"}
    with subprocess.Popen(
        [*command, "--directory", str(tmp_path / "data")], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().removeprefix("listening on ").strip()
            url = f"informix://informix:in4mix@{address}/stores_demo?server=informix"
            with ifx.connect(url, autocommit=True) as connection:
                connection.execute("CREATE TABLE few (id INTEGER)")
                connection.write_arrow("few", pa.table({"id": pa.array(range(1000), pa.int32())}))
                connection.execute("CREATE TABLE many (id INTEGER, text CHAR(1000), tail INTEGER)")
                insert = (
                    "INSERT INTO many SELECT a.id * 1000 + b.id, LPAD(a.id * 1000 + b.id, 1000, '0'), b.id "
                    "FROM few a, few b WHERE a.id < 60"
                )
                assert connection.execute(insert).rowcount == 60_000
                alone = _peak(process.pid)
                connection.execute("BEGIN WORK")
                assert connection.execute(insert).rowcount == 60_000
                connection.execute("SELECT id, text, tail FROM many WHERE id < 30000 INTO TEMP aside")
                inside = _peak(process.pid)
                connection.execute("ROLLBACK WORK")
                row = connection.execute("SELECT COUNT(*), MAX(id) FROM many").fetchone()
                assert row == (60_000, 59_999)
            print(f"alone {alone / MIB:.0f} MiB, in a transaction {inside / MIB:.0f} MiB")
            assert max(alone, inside) < _BOUND, (alone / MIB, inside / MIB)
        finally:
            process.terminate()
            assert process.wait(60) == 0


def _peak(pid: int) -> int:
    """Return the peak memory of a process in bytes."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmHWM"].split()[0]) * 1024


def test_a_session_that_is_over_is_gone_without_the_collector() -> None:
    """The memory must not stay until a garbage collection: Python does not know how much memory DuckDB holds."""
    with Server() as server:
        engine = engine_of(server)
        assert engine is not None
        url = server.url("stores_demo")
        with ifx.connect(url, autocommit=True) as connection:
            connection.execute("CREATE FUNCTION twice(n INT) RETURNING INT; RETURN 2 * n; END FUNCTION")
        gc.collect()
        gc.disable()
        try:
            with ifx.connect(url) as connection:
                connection.execute("CREATE TEMP TABLE own (k INTEGER, v VARCHAR(20))")
                connection.execute("INSERT INTO own VALUES (1, 'mine')")
                assert connection.execute("SELECT twice(k), v FROM own").fetchall() == [(2, "mine")]
                rows = connection.execute(
                    "SELECT a.tabid, b.tabid, c.tabid FROM systables a, systables b, systables c"
                )
                assert rows.fetchone() is not None
                (session,) = (one for one in engine.sessions.all() if one.schema.temp_tables)
                alive = weakref.ref(session)
                del session
                connection.rollback()
            server.stop()  # waits until its sessions have ended
            assert alive() is None
        finally:
            gc.enable()


def test_errors_keep_neither_the_session_nor_the_connection_alive() -> None:
    """An exception references the frames that it passed. A local variable in one of them that holds the exception keeps
    all of it alive until the garbage collector runs."""
    wrong: list[tuple[str, tuple[object, ...]]] = [
        ("SELEC 1", ()),
        ("SELECT x FROM nobody", ()),
        ("SELECT 1/0 FROM systables", ()),
        ("INSERT INTO own VALUES (1, 'again')", ()),
        ("INSERT INTO own VALUES (?, ?)", (1, "again")),
        ("INSERT INTO own SELECT k, v FROM own", ()),
        ("UPDATE own SET k = 1 / 0 WHERE k = ?", (1,)),
        ("EXECUTE FUNCTION failing(5)", ()),
        ("INSERT INTO watched VALUES (-1)", ()),
        ("SELECT failing(k) FROM own", ()),
    ]
    with Server() as server:
        url = server.url("stores_demo")
        with ifx.connect(url, autocommit=True) as connection:
            connection.execute("CREATE FUNCTION failing(n INT) RETURNING INT; RETURN n / 0; END FUNCTION")
            connection.execute("CREATE TABLE watched (k INTEGER CHECK (k > 0))")
            connection.execute(
                "CREATE TRIGGER watched_i INSERT ON watched REFERENCING NEW AS n "
                "FOR EACH ROW (EXECUTE PROCEDURE ifx_allow_newline('t'))"
            )
        gc.collect()
        kinds = (ClientConnection, ifx.Connection)
        before = {id(one) for one in gc.get_objects() if issubclass(type(one), kinds)}
        gc.disable()
        try:
            connection = ifx.connect(url, autocommit=True)
            connection.execute("CREATE TEMP TABLE own (k INTEGER PRIMARY KEY, v VARCHAR(20))")
            connection.execute("INSERT INTO own VALUES (1, 'mine')")
            for sql, parameters in wrong:
                with pytest.raises(ifx.Error):
                    connection.execute(sql, parameters)
                with pytest.raises(ifx.Error):
                    connection.cursor().executemany(sql, [parameters, parameters])
            with pytest.raises(ifx.Error):
                connection.read_arrow("SELECT x FROM nobody")
            assert connection.execute("SELECT v FROM own").fetchall() == [("mine",)]
            connection.close()
            del connection
            server.stop()  # waits until its sessions have ended
            left = [one for one in gc.get_objects() if issubclass(type(one), kinds)]
            assert [type(one) for one in left if id(one) not in before] == []
        finally:
            gc.enable()
