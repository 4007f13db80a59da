"""A copy that follows the log of changes equals its source, however often the server is killed during many writes."""

from __future__ import annotations

import contextlib
import pkgutil
import random
import signal
import threading
from pathlib import Path
from typing import cast

import pytest
from tests.change_follower import Follower, Row, records
from tests.stress import LONG, SECONDS, any_seed, rounds

import informix_arrow
from informix_arrow.server import Server

from .test_server_capture import Capturing
from .test_server_durability import Process, serving

WRITERS = 3
LABELS = {1: "a", 2: "b"}
LOCKED = (-244, -271, -346)


class Copy:
    """Tables that are updated from the log, and the position from which to continue."""

    def __init__(self) -> None:
        self.tables: dict[str, list[Row]] = {name: [] for name in LABELS.values()}
        self.last = 0  # the last COMMTX
        self.position = 2 << 32  # where the log begins

    def follow(self, client: Capturing, until: int | None) -> int:
        """Apply changes until ``until`` transactions have been applied, or, with None, until there are no more. Return
        their number."""
        follower, done = Follower(dict(LABELS)), 0
        try:
            while until is None or done < until:
                data = client.read()
                follower.take(data)
                done += self.apply(follower)
                if until is None and records(data)[-1][0] == 201:
                    break
        finally:
            self.position = min([t.begin for t in follower.open.values()], default=self.last) or self.position
        return done

    def apply(self, follower: Follower) -> int:
        done = 0
        while follower.committed:
            transaction, lsn = follower.committed.pop(0), follower.commit_lsns[-len(follower.committed) - 1]
            if lsn <= self.last:
                continue
            one = Follower(dict(LABELS), committed=[transaction])
            self.tables = one.tables(self.tables)
            self.last = lsn
            done += 1
        return done


def url(server: Process) -> str:
    host, port = server.address
    return f"informix://informix:in4mix@{host}:{port}/stores_demo?server=informix"


def capturing(server: Process, copy: Copy) -> Capturing:
    client = Capturing(cast("Server", server))
    client.open(1, 100)
    for label, table in LABELS.items():
        client.watch(f"stores_demo:informix.{table}", label)
    return client.active(copy.position)


def write(server: Process, seed: int, problems: list[object]) -> None:
    """Run transactions of all kinds until the server is gone. `problems` collects errors that other sessions do not
    explain."""
    chance = random.Random(seed)
    try:
        connection = informix_arrow.connect(url(server))
    except informix_arrow.Error:
        return
    with contextlib.closing(connection):
        while True:
            try:
                transact(connection, chance)
            except informix_arrow.Error as problem:
                if connection.closed:
                    return
                if problem.sqlcode not in LOCKED:
                    problems.append(problem)
                with contextlib.suppress(informix_arrow.Error):
                    connection.rollback()


def transact(connection: informix_arrow.Connection, chance: random.Random) -> None:
    """Run one transaction."""
    cursor = connection.cursor()
    for _ in range(chance.randrange(1, 4)):
        i = chance.randrange(60)
        statement, parameters = chance.choice(
            [
                ("insert into a values (?, ?, ?)", (i, i * 7, "x" * chance.randrange(20))),
                ("insert into b select id, n, name from a where id between ? and ?", (i, i + 5)),
                ("update a set n = n + 1, name = null where id = ?", (i,)),
                ("delete from a where id = ?", (i,)),
                ("delete from b where id = ?", (i,)),
            ]
        )
        undone = chance.random() < 0.15
        if undone:
            cursor.execute("savepoint s")
        with contextlib.suppress(informix_arrow.IntegrityError):
            cursor.execute(statement, parameters)
        if undone:
            cursor.execute("rollback to savepoint s")
    (connection.rollback if chance.random() < 0.2 else connection.commit)()


def make_tables(server: Process, copy: Copy) -> None:
    with informix_arrow.connect(url(server), autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("create table a (id integer primary key, n integer, name varchar(20))")
        cursor.execute("create table b (id integer, n integer, name varchar(20))")
    with capturing(server, copy) as client:
        copy.follow(client, None)


def require_same(server: Process, copy: Copy, what: object) -> None:
    with capturing(server, copy) as client:
        copy.follow(client, None)
    with informix_arrow.connect(url(server)) as connection, connection.cursor() as cursor:
        for table in LABELS.values():
            rows = [tuple(row) for row in cursor.execute(f"select id, n, name from {table}").fetchall()]
            assert copy.tables[table] == sorted(rows, key=repr), (what, table)


@pytest.mark.soak
def test_a_copy_equals_its_source_when_the_server_was_killed(tmp_path: Path) -> None:
    copy, seed, problems = Copy(), any_seed() if SECONDS else 18, list[object]()
    print(f"seed {seed}")  # shown when it fails
    chance = random.Random(seed)
    with serving(tmp_path) as server:
        make_tables(server, copy)
    for _ in rounds(3):
        with serving(tmp_path) as server:
            threads = [
                threading.Thread(target=write, args=(server, chance.randrange(1 << 32), problems))
                for _ in range(WRITERS)
            ]
            for thread in threads:
                thread.start()
            with capturing(server, copy) as client:
                copy.follow(client, chance.randrange(1, 40))
            server.kill()
            for thread in threads:
                thread.join()
        assert problems == []
    with serving(tmp_path) as server:
        require_same(server, copy, seed)
    assert copy.last


_SERVER = "informix_arrow.server."
STEPS = [
    f"{_SERVER}{step}"
    for step in (
        "session.duck_transaction:DuckTransaction.commit",
        "cdc_log.log:ChangeLog.log_commit",
        "cdc_log.log:ChangeLog.begin",
        "cdc_log.log:ChangeLog.log_changes",
        "catalog.logged_commits:record",
        "cdc_log.log:ChangeLog.sync",
        "cdc_log.log:ChangeLog.log_rollback",
        "cdc_log.log:ChangeLog.discard",
        "cdc_log.log:ChangeLog._next_file",
    )
]
"""Steps of a COMMIT and before it."""

AT_START = [f"{_SERVER}{step}" for step in ("cdc_log.log:ChangeLog.recover", "catalog.logged_commits:clear")]


@pytest.mark.parametrize("step", STEPS + AT_START)
def test_the_steps_exist(step: str) -> None:
    """Otherwise a renamed step would be noticed only in the soak."""
    assert callable(pkgutil.resolve_name(step))


@pytest.mark.soak
@pytest.mark.skipif(not SECONDS, reason="kills a hundred servers: make soak")
def test_a_copy_equals_its_source_wherever_a_commit_was_cut_short(tmp_path: Path) -> None:
    """Three sessions write at once. The server dies before or after a step of a COMMIT, and once more during recovery.

    A short soak takes one moment of each step, and one death while recovering.
    """
    copy, problems = Copy(), list[object]()
    with serving(tmp_path) as server:
        make_tables(server, copy)
    moments = [(step, moment) for step in STEPS for moment in ("before", "after")]
    if not LONG:
        moments = [moments[2 * n + n % 2] for n in range(len(STEPS))]
    for number in rounds(1):
        for turn, (step, moment) in enumerate(moments):
            call = 1 if step.endswith("_next_file") else 3 + number % 7
            with serving(tmp_path, dies=(step, moment, call)) as server:
                threads = [
                    threading.Thread(target=write, args=(server, number * WRITERS + writer, problems))
                    for writer in range(WRITERS)
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert server.process.wait(60) == -signal.SIGKILL, (step, moment)
            for again in AT_START if LONG else (AT_START[turn // 2 % 2],):
                with contextlib.suppress(AssertionError), serving(tmp_path, dies=(again, moment, 1)):
                    pass
            assert problems == []
            with serving(tmp_path) as server:
                require_same(server, copy, (number, step, moment))
