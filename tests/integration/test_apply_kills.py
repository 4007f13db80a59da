"""Fifty rounds of kills: the copy that apply_changes keeps equals its source, however often client and server are
killed.

Many sessions write in every possible way, while the process that captures and applies changes and the server's process
are killed with SIGKILL at random moments and started again. At the end of a round whole tables are compared: the source
is read by plain SQL, the copy by DuckDB. At the very end the whole log is applied to an empty copy.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import random
import select
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from tests.stress import LONG, any_seed, rounds

import informix_arrow as ifx

from .test_server_durability import Process, serving

WRITERS = 4
PATIENCE = 120.0
PASSING = (-242, -244, -245, -271, -346, -263, -143, -691, -692, -268, -239, -530, -746, -458, -255)
"""Expected errors: locks of other sessions, duplicate keys, missing parents, the error of the routine, a transaction
that one of these ended."""

TABLES = ("kill_a", "kill_k", "kill_p", "kill_c", "kill_log")
DECLARED = (
    "CREATE TABLE kill_a (id INTEGER PRIMARY KEY, name VARCHAR(40), qty SMALLINT, ok BOOLEAN, note LVARCHAR(200), "
    "d DECIMAL(8,2), at DATETIME YEAR TO FRACTION(3), code CHAR(7), f FLOAT, day DATE, big BIGINT, m MONEY(10,2), "
    "span INTERVAL DAY(3) TO SECOND, after INTEGER)",
    "CREATE TABLE kill_k (x INTEGER, y VARCHAR(20))",
    "CREATE TABLE kill_p (id INTEGER PRIMARY KEY, n INTEGER)",
    "CREATE TABLE kill_c (id SERIAL PRIMARY KEY, p INTEGER REFERENCES kill_p ON DELETE CASCADE, t VARCHAR(10))",
    "CREATE TABLE kill_log (id INTEGER, was SMALLINT, now SMALLINT)",
    "CREATE TRIGGER kill_t UPDATE OF qty ON kill_a REFERENCING OLD AS o NEW AS n "
    "FOR EACH ROW (INSERT INTO kill_log VALUES (n.id, o.qty, n.qty))",
    "CREATE PROCEDURE kill_work(low INTEGER, high INTEGER) DEFINE i INTEGER; "
    "FOR i = low TO high INSERT INTO kill_k VALUES (i, 'spl'); UPDATE kill_p SET n = n + 1 WHERE id = i; "
    "IF i = 37 THEN RAISE EXCEPTION -746, 0, 'enough'; END IF; END FOR; DELETE FROM kill_k WHERE x = high; "
    "END PROCEDURE",
)
AFTER = 4711  # the value of the last column of every row

#: The program that is killed: it prints a line after each batch that has reached the copy.
CLIENT = """
import random, sys
import informix_arrow as ifx

url, path, first, seed, *tables = sys.argv[1:]
chance = random.Random(int(seed))

def told(batches):
    for batch in batches:
        yield batch
        print("applied", flush=True)

with ifx.capture(url, tables, start=ifx.applied_token(path) or first, timeout=1) as changes:
    print("open", flush=True)
    if chance.random() < 0.7:
        changes = changes.batches(max_rows=chance.choice((1, 50, 5000)), max_seconds=0.2)
    ifx.apply_changes(told(changes), path)
"""


def url_of(server: Process) -> str:
    host, port = server.address
    return f"informix://informix:in4mix@{host}:{port}/stores_demo?server=informix"


class Work:
    """Sessions that write until `stop` is called or their server is gone."""

    def __init__(self, server: Process, seed: int) -> None:
        self.url = url_of(server)
        self.stopping = threading.Event()
        self.done = threading.Condition()
        self.count, self.working = 0, WRITERS
        self.problems: list[BaseException] = []
        self.threads = [
            threading.Thread(target=self.write, args=(random.Random(seed * 100 + number),))
            for number in range(WRITERS)
        ]
        for thread in self.threads:
            thread.start()

    def wait(self, count: int) -> None:
        """Wait until ``count`` more transactions are over, or all sessions have ended."""
        with self.done:
            until = self.count + count
            self.done.wait_for(lambda: self.count >= until or not self.working, PATIENCE)

    def stop(self) -> None:
        self.stopping.set()
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        if self.problems:
            raise self.problems[0]

    def write(self, chance: random.Random) -> None:
        try:
            while not self.stopping.is_set():
                connection = ifx.connect(self.url, lock_wait=2, autocommit=chance.random() < 0.25)
                with contextlib.closing(connection):
                    self.transactions(connection, chance)
        except ifx.OperationalError:  # the server is gone
            pass
        except BaseException as problem:  # noqa: BLE001 - raised by stop()
            self.problems.append(problem)
        finally:
            with self.done:
                self.working -= 1
                self.done.notify_all()

    def transactions(self, connection: ifx.Connection, chance: random.Random) -> None:
        """Run transactions until `stop` is called or the connection breaks."""
        while not self.stopping.is_set():
            try:
                transact(connection, chance)
            except ifx.Error as problem:
                if connection.closed:
                    return
                if problem.sqlcode not in PASSING:
                    raise
                with contextlib.suppress(ifx.Error):
                    connection.rollback()
            with self.done:
                self.count += 1
                self.done.notify_all()


def row(chance: random.Random) -> tuple[object, ...]:
    return (
        chance.randrange(200),
        chance.choice((None, "", "é", "x" * 40, "日本", "two  ")),
        chance.choice((None, *range(-2, 3))),
        chance.choice((True, False, None)),
        chance.choice((None, "", "n" * 199, "it's\ta \\ |")),
        chance.choice((None, Decimal("1.25"), Decimal("-999999.99"), Decimal(0))),
        chance.choice((None, dt.datetime(2026, 1, 31, 12, 0, 0, 123000), dt.datetime(1, 1, 1))),
        chance.choice((None, "ab", "seven 7")),
        chance.choice((None, 0.1, -1.5e300, 0.0)),
        chance.choice((None, dt.date(1899, 12, 31), dt.date(9999, 12, 31))),
        chance.choice((None, 2**63 - 1, -(2**63) + 1)),
        chance.choice((None, Decimal("0.01"))),
        chance.choice((None, dt.timedelta(-999, 1), dt.timedelta(seconds=59))),
        AFTER,
    )


MERGE = (
    "MERGE INTO kill_p p USING (SELECT DISTINCT x FROM kill_k) k ON p.id = k.x "
    "WHEN MATCHED THEN UPDATE SET n = n + 10 WHEN NOT MATCHED THEN INSERT VALUES (k.x, -1)"
)
REST = "name, qty, ok, note, d, at, code, f, day, big, m, span, after"
MARKS = ", ".join("?" * 14)
SCHEMA = pa.schema(
    [
        ("id", pa.int32()), ("name", pa.utf8()), ("qty", pa.int16()), ("ok", pa.bool_()), ("note", pa.utf8()),
        ("d", pa.decimal128(8, 2)), ("at", pa.timestamp("ms")), ("code", pa.utf8()), ("f", pa.float64()),
        ("day", pa.date32()), ("big", pa.int64()), ("m", pa.decimal128(10, 2)), ("span", pa.duration("us")),
        ("after", pa.int32()),
    ]
)  # fmt: skip


def rows_of(chance: random.Random, count: int) -> pa.Table:
    made = {one[0]: one for one in (row(chance) for _ in range(count))}  # each key once
    columns = list(zip(*made.values(), strict=True))
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], SCHEMA
    )


def statement(connection: ifx.Connection, chance: random.Random) -> None:
    """Execute one randomly chosen statement that changes rows."""
    key = chance.randrange(200)
    low, high = key, key + chance.randrange(12)
    cursor = connection.cursor()
    run: Callable[..., object] = cursor.execute
    chance.choice(
        [
            lambda: run(f"INSERT INTO kill_a VALUES ({MARKS})", row(chance)),
            lambda: cursor.executemany(f"INSERT INTO kill_a VALUES ({MARKS})", [row(chance) for _ in range(5)]),
            lambda: connection.write_arrow("kill_a", rows_of(chance, 30), on_error="collect"),
            lambda: connection.write_arrow("kill_a", rows_of(chance, 20), mode="upsert", key="id"),
            lambda: connection.write_arrow(
                "kill_k", pa.table({"x": pa.array([1, 1, key], pa.int32()), "y": ["load", None, ""]})
            ),
            lambda: run("UPDATE kill_a SET qty = qty + 1, name = NULL WHERE id BETWEEN ? AND ?", (low, high)),
            lambda: run("UPDATE kill_a SET id = id + 1 WHERE id BETWEEN ? AND ?", (low, high)),
            lambda: run("UPDATE kill_a SET note = note WHERE id BETWEEN ? AND ?", (low, high)),
            lambda: run("DELETE FROM kill_a WHERE id BETWEEN ? AND ?", (low, high)),
            lambda: again(cursor, key, chance),
            lambda: run("INSERT INTO kill_k SELECT id, name[1,20] FROM kill_a WHERE id BETWEEN ? AND ?", (low, high)),
            lambda: run(f"INSERT INTO kill_a SELECT id + 7, {REST} FROM kill_a WHERE id BETWEEN ? AND ?", (low, high)),
            lambda: run("UPDATE kill_k SET y = 'z' WHERE x = ?", (key % 3,)),
            lambda: run("DELETE FROM kill_k WHERE x BETWEEN ? AND ?", (low, high)),
            lambda: run("INSERT INTO kill_p VALUES (?, 0)", (key % 60,)),
            lambda: run("INSERT INTO kill_c VALUES (0, ?, 'child')", (key % 60,)),
            lambda: run("INSERT INTO kill_c SELECT 0, id, 'all' FROM kill_p WHERE id < ?", (key % 60,)),
            lambda: run("DELETE FROM kill_p WHERE id = ?", (key % 60,)),
            lambda: run("EXECUTE PROCEDURE kill_work(?, ?)", (low % 60, low % 60 + 4)),
            lambda: run(MERGE),
            lambda: run("DELETE FROM kill_log WHERE id BETWEEN ? AND ?", (low, high)),
        ]
    )()  # fmt: skip


def again(cursor: ifx.Cursor, key: int, chance: random.Random) -> None:
    """Delete a key and insert it again, with or without a change."""
    cursor.execute("DELETE FROM kill_a WHERE id = ?", (key,))
    cursor.execute(f"INSERT INTO kill_a VALUES ({MARKS})", (key, *row(chance)[1:]))


def transact(connection: ifx.Connection, chance: random.Random) -> None:
    """Run one transaction. Some or all of it may be rolled back."""
    for _ in range(chance.randrange(1, 5)):
        with contextlib.suppress(
            ifx.IntegrityError
        ):  # a failed statement is undone, the transaction continues
            statement(connection, chance)
    if connection.autocommit:
        return
    for _ in range(chance.randrange(3)):
        with connection.transaction(force_rollback=chance.random() < 0.5):  # a savepoint
            statement(connection, chance)
            if chance.random() < 0.3:
                with connection.transaction(force_rollback=True):
                    statement(connection, chance)
    if chance.random() < 0.03:
        connection.execute("TRUNCATE TABLE kill_k")
    (connection.rollback if chance.random() < 0.2 else connection.commit)()


class Applier:
    """The process that keeps the copy equal."""

    def __init__(self, server: Process, copy: Path, first: str, seed: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLIENT, url_of(server), str(copy), first, str(seed), *TABLES],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )

    def wait(self, count: int) -> None:
        """Wait until it has printed ``count`` more lines, has ended, or has printed nothing for a long time."""
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        while count > 0 and select.select([pipe], [], [], PATIENCE)[0]:
            told = os.read(pipe, 4096)
            if not told:
                return
            count -= told.count(b"\n")

    def kill(self, *, server_was_killed: bool) -> None:
        """Kill the process. It may have ended before only if the server was killed."""
        ended, told = self.process.poll(), self.end()
        assert ended is None or server_was_killed, f"the client ended with {ended}: {told}"
        assert "is not what the changes were made to" not in told, told

    def end(self) -> str:
        """Kill the process and return its error output."""
        self.process.kill()
        _, told = self.process.communicate(timeout=PATIENCE)
        return told.decode()


def everything(rows: list[tuple[object, ...]]) -> Counter[tuple[object, ...]]:
    return Counter(rows)


def source(connection: ifx.Connection, table: str) -> Counter[tuple[object, ...]]:
    return everything([tuple(row) for row in connection.execute(f"SELECT * FROM {table}").fetchall()])


def copied(copy: Path, table: str) -> Counter[tuple[object, ...]]:
    with duckdb.connect(str(copy), read_only=True) as file:
        if not file.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [table]).fetchall():
            return Counter()  # the table has had no changes yet
        return everything(file.execute(f"SELECT * FROM {table}").fetchall())


def apply_all(server: Process, copy: Path, first: str, chance: random.Random) -> None:
    """Apply all changes of the log."""
    start = ifx.applied_token(copy) or first
    with ifx.capture(url_of(server), TABLES, start=start, idle=0, timeout=1) as changes:
        ifx.apply_changes(changes.batches(max_rows=chance.choice((1, 77, 100_000)), max_seconds=None), copy)


def assert_equal(server: Process, copy: Path) -> int:
    """Compare whole tables and return their number of rows."""
    found = 0
    with ifx.connect(url_of(server)) as connection:
        for table in TABLES:
            there, here = source(connection, table), copied(copy, table)
            assert here == there, (
                f"{table}: missing {list(there - here)[:3]}, too many {list(here - there)[:3]}"
            )
            found += there.total()
    return found


@pytest.mark.soak
@pytest.mark.skipif(not LONG, reason="a round takes some ten seconds, and is worth little alone: make soak")
@pytest.mark.timeout(3600)
def test_a_copy_equals_its_source_however_often_client_and_server_are_killed(tmp_path: Path) -> None:
    copy, rows, killed = tmp_path / "copy.duckdb", 0, Counter[str]()
    with serving(tmp_path / "data") as server:
        with ifx.connect(url_of(server), autocommit=True) as connection:
            for sql in DECLARED:
                connection.execute(sql)
        with ifx.capture(url_of(server), TABLES, idle=0, timeout=1) as begun:
            assert list(begun) == []
            first = begun.token
        assert first is not None
    for number in rounds(1):
        seed = any_seed(number)
        print(f"round {number}, seed {seed}")
        rows += round_of(tmp_path, copy, first, random.Random(seed), killed)
    assert rows
    with serving(tmp_path / "data") as server:
        apply_all(server, tmp_path / "again.duckdb", first, random.Random(0))
        assert_equal(server, tmp_path / "again.duckdb")
    print(f"{number + 1} rounds, {rows:,} rows compared, killed {dict(killed)}")


def round_of(place: Path, copy: Path, first: str, chance: random.Random, killed: Counter[str]) -> int:
    """Write and kill for one round, then stop, apply the rest, and compare. Return the number of compared rows."""
    with contextlib.ExitStack() as stack:

        def started() -> tuple[Process, Work]:
            running = stack.enter_context(serving(place / "data"))
            return running, Work(running, chance.getrandbits(32))

        def followed() -> Applier:
            made = Applier(server, copy, first, chance.getrandbits(32))
            stack.callback(made.end)
            return made

        server, work = started()
        applier = followed()
        for _ in range(chance.randrange(1, 4)):
            victim = chance.choice(("client", "server", "both"))
            if chance.random() < 0.7:
                applier.wait(chance.randrange(1, 6))
            work.wait(chance.randrange(1, 20))
            threading.Event().wait(chance.random() * 0.05)  # wait for a random moment
            killed[victim] += 1
            if victim != "client":
                server.kill()
                work.stop()
            if victim == "server":
                applier.wait(1 << 30)  # it ends by itself because its server is gone
            applier.kill(server_was_killed=victim != "client")
            if victim != "client":
                server, work = started()
            applier = followed()
        applier.wait(chance.randrange(4))
        work.stop()
        applier.kill(server_was_killed=False)
        apply_all(server, copy, first, chance)
        return assert_equal(server, copy)
