"""`--directory`: an acknowledged commit survives the death of the server at any moment."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import duckdb
import pytest
from tests.stress import rounds
from tests.subprocess_server import ForkedCommand

import informix_arrow
from informix_arrow.server import DirectoryFormatUnknown, DirectoryInUse, Server
from informix_arrow.server.net import listener
from informix_arrow.server.session.engine_session import EngineSession
from informix_arrow.server.session.lock_owner import Interruption
from informix_arrow.wire import messages as m

from .raw import EOT, RawClient, Refused, one
from .test_server_login import eventually

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Process:
    """``informix-arrow serve`` on a directory, with the attributes of `Server` that RawClient uses."""

    process: subprocess.Popen[str] | ForkedCommand
    address: tuple[str, int]
    user: str = "informix"
    password: str = "in4mix"
    server_name: str = "informix"

    def kill(self) -> None:
        """Send SIGKILL: nothing is flushed, and clients are not notified."""
        self.process.kill()
        self.process.wait(60)

    def client(self, database: str = "kept") -> RawClient:
        return RawClient(cast("Server", self), database)


@contextmanager
def serving(directory: Path, *arguments: str, dies: tuple[str, str, int] | None = None) -> Iterator[Process]:
    """Run a server on a directory; `dies` as in ForkedCommand."""
    words = ["serve", "--port", "0", "--directory", str(directory), *arguments]
    with ForkedCommand(*words, environment={"INFORMIX_ARROW_PASSWORD": "in4mix"}, dies=dies) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith("listening on "), line
            host, _, port = line.removeprefix("listening on ").strip().rpartition(":")
            yield Process(process, (host, int(port)))
        finally:
            process.terminate()


def create(server: Process, *statements: str) -> None:
    """Create a logged database `kept` with some tables."""
    with server.client("sysmaster") as client:
        client.command("create database kept with log")
        for sql in statements:
            client.command(sql)


def insert(client: RawClient, statement: int, rows: Sequence[int]) -> None:
    """Send one SQ_BIND and SQ_EXECUTE per row, all together."""
    groups: list[m.Message] = []
    for row in rows:
        groups += [m.Id(statement), client.bind(row, f"row {row}", row * 10), m.Execute(), EOT]
    client.send(*groups)
    for reply in client.receive_groups(len(rows)):
        assert one(reply, m.Done).rows == 1


TABLE = "create table t (a int primary key, b varchar(40), c int)"
INSERT = "insert into t values (?, ?, ?)"


def test_a_committed_transaction_survives_the_kill_and_an_open_one_is_rolled_back(tmp_path: Path) -> None:
    with serving(tmp_path / "d") as server:
        create(server, TABLE, "create table plain (x int)")
        with server.client() as client, server.client() as other:
            statement = client.prepare(INSERT, 3).statement_id
            client.must(m.Begin())
            insert(client, statement, range(1000))
            client.must(m.Commit())
            client.command("update t set c = -1 where a = 7")  # autocommit
            client.command("delete from t where a = 8")
            other.must(m.Begin())
            other.command("insert into plain values (1)")
            other.command("insert into t values (5000, 'never', 0)")
            server.kill()
    with serving(tmp_path / "d") as server, server.client() as client:
        assert client.number("select count(*)::int from t") == 999
        assert client.number("select c from t where a = 7") == -1
        assert client.number("select count(*)::int from t where b = 'row ' || a and c in (a * 10, -1)") == 999
        assert client.number("select count(*)::int from plain") == 0
        assert (
            client.error(m.Command("insert into t values (3, 'again', 0)"), m.Execute(), m.Release()) == -268
        )
        client.command("insert into t values (8, 'free again', 0)")


def test_a_value_that_survived_the_kill_is_there_after_a_change_of_it_was_rolled_back(tmp_path: Path) -> None:
    def connect(server: Process) -> informix_arrow.Connection:
        host, port = server.address
        return informix_arrow.connect(f"informix://informix:in4mix@{host}:{port}/stores_demo?server=informix")

    rows = [(1, Decimal("0.05"), 7), (2, Decimal("0.05"), 7)]
    with serving(tmp_path / "d") as server:
        with connect(server) as connection:
            connection.execute("create table m (id int primary key, v decimal(10,2), w int)")
            connection.execute("insert into m values (1, null, null)")
            connection.execute("insert into m values (2, 0.05, 7)")
        server.process.terminate()  # everything is in the database file now
        server.process.wait(60)
    with serving(tmp_path / "d") as server:
        with connect(server) as connection:
            connection.execute("update m set v = 0.05, w = 7 where id = 1")
        server.kill()
    with serving(tmp_path / "d") as server, connect(server) as connection:
        assert connection.execute("select * from m order by id").fetchall() == rows
        connection.execute("update m set v = 3, w = 8 where id = 1")
        connection.rollback()
        assert connection.execute("select * from m order by id").fetchall() == rows


def test_databases_tables_and_their_rules_survive_the_kill(tmp_path: Path) -> None:
    with serving(tmp_path / "d") as server:
        create(
            server,
            "create table p (id serial primary key, n varchar(10) default 'none' not null, check (id < 1000))",
            "create table c (p int references p(id), b byte, e clob)",
            "create index c_i on c (p desc)",
            "create view v as select id, n from p where id > 1",
            "insert into p values (0, 'first')",
            "insert into p (id) values (0)",
            "create table altered (id int)",
            "insert into altered values (2)",
            "alter table altered add (more int default 5)",
        )
        server.kill()
    with serving(tmp_path / "d") as server:
        with server.client() as client:
            assert client.number("select max(id) from v") == 2
            assert client.number("select more from altered where id = 2") == 5
            client.command("insert into p (id) values (0)")
            assert client.number("select max(id) from p") == 3
            for sql, code in (
                ("insert into p values (3, 'x')", -268),
                ("insert into p values (1000, 'x')", -530),
                ("insert into p values (9, null)", -391),
                ("insert into c values (77, null, null)", -691),
            ):
                with pytest.raises(Refused) as refused:
                    client.command(sql)
                assert refused.value.sqlcode == code
        server.kill()  # the log that was just replayed must survive a second kill
    with serving(tmp_path / "d") as server, server.client() as client:
        assert client.number("select max(id) from p") == 3


def test_an_unlogged_database_keeps_every_answered_statement(tmp_path: Path) -> None:
    with serving(tmp_path / "d") as server, server.client("sysmaster") as client:
        client.command("create database kept")
        client.command(TABLE)
        insert(client, client.prepare(INSERT, 3).statement_id, range(300))
        server.kill()
    with serving(tmp_path / "d") as server, server.client() as client:
        assert client.number("select count(*)::int from t") == 300


@pytest.mark.soak
def test_kills_at_random_moments_lose_no_commit_and_leave_no_half_of_one(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")  # shown when it fails
    chance = random.Random(seed)
    size = 40
    acknowledged: list[int] = []
    begun = 0

    def check(client: RawClient) -> None:
        rows = [int.from_bytes(row, "big") for row in client.select("select a from t order by a")]
        assert rows == [int.from_bytes(row, "big") for row in client.select("select a from twin order by a")]
        kept = sorted({row // size for row in rows})
        assert rows == [n * size + row for n in kept for row in range(size)]
        assert set(acknowledged) <= set(kept)

    for round_number in rounds(3):
        with serving(tmp_path / "d") as server:
            if not round_number:
                create(server, TABLE, "create table twin (a int)")
            with server.client() as client:
                check(client)
                statement = client.prepare(INSERT, 3).statement_id
                commits = chance.randrange(1, 6)  # replies to read; the kill comes during a later commit
                killer: threading.Timer | None = None
                began = time.monotonic()
                try:
                    while True:
                        begun += 1
                        client.must(m.Begin())
                        insert(client, statement, range(begun * size, (begun + 1) * size))
                        client.command(f"insert into twin select a from t where a >= {begun * size}")
                        client.must(m.Commit())
                        acknowledged.append(begun)
                        commits -= 1
                        if not commits:
                            taken = time.monotonic() - began
                            killer = threading.Timer(chance.uniform(0, taken), server.process.kill)
                            killer.start()
                except OSError:  # the server was killed
                    pass
                assert killer is not None
                killer.join()
            server.process.wait(60)
    with serving(tmp_path / "d") as server, server.client() as client:
        check(client)


def test_a_database_is_never_made_of_what_another_left_behind(tmp_path: Path) -> None:
    with Server(tmp_path / "d") as server:
        server.create_database("kept")
        with RawClient(server, "kept") as client:
            client.command("create table secret (a int)")
    (tmp_path / "copy").write_bytes((tmp_path / "d" / "kept.duckdb").read_bytes())
    with Server(tmp_path / "d") as server:
        server.drop_database("kept")
    # As after a kill during DROP DATABASE: the database is not registered, but its file exists.
    (tmp_path / "copy").rename(tmp_path / "d" / "kept.duckdb")
    with Server(tmp_path / "d") as server:
        server.create_database("kept")
        with RawClient(server, "kept") as client:
            assert client.error(m.Prepare(0, "select a from secret"), m.NDescribe()) == -206
            client.command("create table secret (a int)")


def test_a_renamed_database_is_there_after_a_restart(tmp_path: Path) -> None:
    with Server(tmp_path / "d") as server:
        server.create_database("before")
        with RawClient(server, "before") as client:
            client.command("create table t (k serial, a int)")
            client.command("insert into t values (0, 5)")
            client.command("create view v (a) as select a from before:t")
        with RawClient(server, "stores_demo") as client:
            client.command("rename database before to after")
            client.command("insert into after:t values (0, 6)")
        assert not (tmp_path / "d" / "before.duckdb").exists()
    for _ in range(2):
        with Server(tmp_path / "d") as server, informix_arrow.connect(server.url("after")) as connection:
            assert connection.execute("select a from v order by a").fetchall() == [(5,), (6,)]
    with Server(tmp_path / "d") as server, pytest.raises(informix_arrow.Error, match="-329"):
        informix_arrow.connect(server.url("before"))


@pytest.mark.parametrize("moved", [(), (".wal",), (".wal", "")])
def test_a_rename_that_was_killed_is_finished_at_the_next_start(
    tmp_path: Path, moved: tuple[str, ...]
) -> None:
    with Server(tmp_path / "d") as server:
        server.create_database("before")
        with RawClient(server, "before") as client:
            client.command("create table t (a int)")
            client.command("insert into t values (5)")
            client.command("create synonym s for t")
            client.command("create view v (a) as select a from before:s")
    for suffix in moved:
        file = tmp_path / "d" / f"before.duckdb{suffix}"
        if file.exists():
            file.rename(tmp_path / "d" / f"after.duckdb{suffix}")
    with duckdb.connect(str(tmp_path / "d" / "sysmaster.duckdb")) as con:
        con.execute("UPDATE _ifx.databases SET name = 'after', was = 'before' WHERE name = 'before'")
    for _ in range(2):
        with Server(tmp_path / "d") as server, informix_arrow.connect(server.url("after")) as connection:
            assert connection.execute("select v.a, s.a from v, s").fetchall() == [(5, 5)]


def test_a_directory_has_one_server_at_a_time(tmp_path: Path) -> None:
    with Server(tmp_path / "d"):
        with pytest.raises(DirectoryInUse, match=rf"in use by another server \(process {os.getpid()}\)"):
            Server(tmp_path / "d").start()
        words = ("serve", "--port", "0", "--directory", str(tmp_path / "d"))
        with ForkedCommand(*words, errors=tmp_path / "said") as process:
            assert process.wait(120) == 1
        said = (tmp_path / "said").read_text()
        assert said.startswith(f"informix-arrow: the directory {tmp_path / 'd'} is in use")
        assert "Traceback" not in said
    with Server(tmp_path / "d"):
        pass


def test_a_directory_of_another_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "d"
    with Server(place) as server, RawClient(server, "stores_demo") as client:
        client.command("create table t (a int, b int)")
    file = place / "informix-arrow.format"
    known = int(file.read_text())
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.suffix == ".duckdb"}
    for written, message in (
        (str(known + 1), f"The directory {place} has the format {known + 1} of a newer informix-arrow"),
        (
            str(known - 1),
            f"The directory {place} has the format {known - 1} of a server before informix-arrow 0.1.0",
        ),
        ("", f"The file {file} does not contain the number of a format"),
        ("-1", f"The file {file} does not contain the number of a format"),
        ("\N{SNOWMAN}", f"The file {file} does not contain the number of a format"),
    ):
        file.write_text(written, encoding="utf-8")
        with pytest.raises(DirectoryFormatUnknown) as caught:
            Server(place).start()
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)
    assert before == {path.name: path.read_bytes() for path in place.iterdir() if path.suffix == ".duckdb"}
    file.write_text(str(known))
    with Server(place) as server, RawClient(server, "stores_demo") as client:
        client.command("insert into t values (1, 2)")


def test_a_key_of_texts_is_the_same_after_a_kill(tmp_path: Path) -> None:
    """For DuckDB the key is an index of expressions, which is read from the log and from the database file."""
    with serving(tmp_path / "d") as server:
        with server.client("stores_demo") as client:
            client.command("create table t (k varchar(9) primary key, x int)")
            client.command("insert into t values ('a ', 1)")
            client.command("create unique index ix on t (x, k)")
        server.kill()
    for number in range(2):
        with serving(tmp_path / "d") as server, server.client("stores_demo") as client:
            for text in ("a", "a  "):
                with pytest.raises(Refused) as caught:
                    client.command(f"insert into t values ('{text}', 2)")
                assert caught.value.error.sqlcode == -268
            client.command(f"insert into t values ('b{number}', 3)")
            client.command("update t set k = k || ' '")
            server.kill()


def test_a_killed_server_leaves_no_lock_behind(tmp_path: Path) -> None:
    with serving(tmp_path / "d") as server:
        server.kill()
    with serving(tmp_path / "d") as server, server.client("sysmaster") as client:
        assert client.ask(m.Version()) == []


def test_a_child_process_does_not_keep_the_directory_of_a_server_that_has_stopped(tmp_path: Path) -> None:
    with Server(tmp_path):
        child = os.fork()
        if not child:
            signal.pause()
            os._exit(0)
    try:
        Server(tmp_path).start().stop()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))
from informix_arrow.cli import main
sys.exit(main(["serve", "--port", "0", "--directory", sys.argv[1]]))
"""


def test_a_full_disk_is_reported_and_costs_nothing_that_was_answered(tmp_path: Path) -> None:
    (tmp_path / "limited.py").write_text(_LIMITED)
    process = ForkedCommand(str(tmp_path / "data"), program=tmp_path / "limited.py")
    try:
        host, _, port = process.stdout.readline().split()[-1].rpartition(":")
        full = Process(process, (host, int(port)))
        with full.client("stores_demo") as client:
            client.command("create table filled (a int, b lvarchar(30000))")
            answered = 0
            refused: m.Err | None = None
            for number in range(400):
                noise = random.Random(number).randbytes(14_000).hex()
                try:
                    client.command(f"insert into filled values ({number}, '{noise}')")
                except Refused as problem:
                    refused = problem.error
                    break
                answered += 1
            assert refused is not None
            assert (refused.sqlcode, refused.isamcode) == (-271, -131)
            assert client.number("select count(*)::int from filled") == answered
        full.kill()
    finally:
        process.kill()
        process.wait(60)
        process.stdout.close()
    with Server(tmp_path / "data") as server, RawClient(server, "stores_demo") as client:
        assert client.number("select count(*)::int from filled") == answered


def test_a_server_that_stops_while_databases_are_made_leaves_its_directory(tmp_path: Path) -> None:
    for turn in range(3):
        server = Server(tmp_path).start()
        made = threading.Event()

        def make(server: Server = server, made: threading.Event = made, turn: int = turn) -> None:
            with contextlib.suppress(RuntimeError):  # the server has stopped
                for number in range(10_000):
                    server.create_database(f"made_{turn}_{number}")
                    made.set()

        with ThreadPoolExecutor(1) as pool:
            making = pool.submit(make)
            assert made.wait(60)
            server.stop()
            making.result()
    Server(tmp_path).start().stop()


@pytest.mark.parametrize("name", ["sysmaster", "stores_demo"])
def test_a_damaged_or_lost_file_is_named_and_one_that_is_put_back_works(tmp_path: Path, name: str) -> None:
    with Server(tmp_path) as server, RawClient(server, "stores_demo") as client:
        client.command("create table kept (a int)")
        client.command("insert into kept values (7)")
    file = tmp_path / f"{name}.duckdb"
    good = file.read_bytes()
    for damage in (b"", b"x" * 5000, None):
        if damage is None:
            file.unlink()
        else:
            file.write_bytes(damage)
        with pytest.raises(RuntimeError, match=f"{name}.duckdb"):
            Server(tmp_path).start()
        file.write_bytes(good)
        with Server(tmp_path) as server, RawClient(server, "stores_demo") as client:
            assert client.number("select a from kept") == 7
        good = file.read_bytes()


def test_a_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match=r"The databases in .*file cannot be opened"):
        Server(tmp_path / "file").start()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "sysmaster.duckdb").write_bytes(b"no database" * 1000)
    with pytest.raises(RuntimeError, match=r"The databases in .* cannot be opened"):
        Server(tmp_path / "d").start()
    (tmp_path / "d" / "sysmaster.duckdb").unlink()
    with Server(tmp_path / "d"):  # the failed server has released it
        pass


def test_a_statement_that_cannot_be_stopped_does_not_hinder_the_servers_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Regression: the end of `with Server()` raised that the connection is busy. Now the directory stays in use until
    the statement ends."""
    stop, query = Interruption.request, EngineSession.query
    running: list[EngineSession] = []
    started = threading.Event()

    def starting(self: EngineSession, *args: Any) -> Any:
        running.append(self)
        started.set()
        return query(self, *args)

    monkeypatch.setattr(Interruption, "request", lambda self: None)
    monkeypatch.setattr(listener, "_JOIN_SECONDS", 0.2)
    ended = threading.Event()
    with Server(tmp_path) as server:
        conn = informix_arrow.connect(server.url("stores_demo"), autocommit=True)
        cursor = conn.cursor()
        cursor.execute("CREATE TABLE t (k INT, v INT)")
        cursor.executemany("INSERT INTO t VALUES (?, ?)", [(n, n + 1) for n in range(8000)])
        monkeypatch.setattr(EngineSession, "query", starting)

        def run() -> None:
            with pytest.raises(informix_arrow.Error):
                cursor.execute("SELECT SUM(x.k * y.v), MAX(z.v) FROM t x, t y, t z WHERE x.k + y.k > z.v")
            ended.set()

        threading.Thread(target=run, daemon=True).start()
        assert started.wait(60)
    assert ended.wait(60)
    assert "statements are still running" in caplog.text
    with pytest.raises(DirectoryInUse):
        Server(tmp_path).start()

    def free() -> bool:
        stop(running[0]._interruption)
        try:
            with Server(tmp_path) as again, informix_arrow.connect(again.url("stores_demo")) as conn:
                cursor = conn.cursor()
                cursor.execute("SELECT COUNT(*), MAX(v) FROM t")
                return cursor.fetchall() == [(8000, 8000)]
        except DirectoryInUse:
            return False

    assert eventually(free)
