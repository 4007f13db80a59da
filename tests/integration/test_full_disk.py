"""A full disk: statements that do not fit are refused, committed rows stay, and work continues once there is space."""

from __future__ import annotations

import base64
import contextlib
import logging
import os
import random
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.small_disks import small_disk

import informix_arrow as ifx
from informix_arrow.server import Server

NO_SPACE = (-271, -131)
LENGTH = 30_000

Limited = tuple[Path, Callable[[], None]]
"""A directory with about 20 MB of space, and a function that makes more."""


@pytest.fixture
def small_file_system(tmp_path: Path) -> Iterator[Limited]:
    with small_disk(tmp_path / "small", 30) as found:
        yield found


@pytest.fixture
def small_files(tmp_path: Path) -> Iterator[Limited]:
    """Limit files of this process to 20 MB: the system refuses larger writes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def make_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 20, before[1]))
    try:
        yield tmp_path, make_room
    finally:
        make_room()


@pytest.fixture(params=["file system", "file size"])
def limited(request: pytest.FixtureRequest) -> Limited:
    name = "small_file_system" if request.param == "file system" else "small_files"
    place: Limited = request.getfixturevalue(name)
    return place


class Filler:
    """Inserts texts that cannot be compressed, and records which of them the server accepted."""

    def __init__(self, connection: ifx.Connection) -> None:
        self.connection = connection
        self.chance = random.Random(7)
        self.taken: list[tuple[int, int]] = []
        self.next = 1

    def text(self) -> str:
        return base64.b64encode(self.chance.randbytes(LENGTH * 3 // 4)).decode()

    def insert(self) -> None:
        self.next += 1
        row = (self.next, self.text(), self.text(), self.text(), -self.next)
        self.connection.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?)", row)
        self.taken.append((self.next, -self.next))

    def until_it_is_full(self) -> None:
        while refusal(self.insert) is None:
            assert len(self.taken) < 5000

    def there(self, connection: ifx.Connection) -> list[tuple[int, int]]:
        return [(int(k), int(tail)) for k, tail in connection.execute("SELECT k, tail FROM t ORDER BY k")]


def refusal(work: Callable[[], object]) -> ifx.OperationalError | None:
    """Return the error if there is no space, None if the work succeeded. Fails for any other error."""
    try:
        work()
    except ifx.OperationalError as problem:
        if (problem.sqlcode, problem.isamcode) != NO_SPACE:
            raise
        return problem
    return None


def test_after_room_was_made_on_a_full_disk_all_goes_on(
    limited: Limited, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory, make_room = limited[0] / "kept", limited[1]
    caplog.set_level(logging.WARNING, "informix_arrow.server")
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(directory, temp_directory=tmp_path / "spill"))

        def connect() -> ifx.Connection:
            return stack.enter_context(ifx.connect(server.url("stores_demo"), autocommit=True))

        writer, other, reader = connect(), connect(), connect()
        writer.execute(
            "CREATE TABLE t (k INTEGER PRIMARY KEY, v LVARCHAR(30000), w LVARCHAR(30000), "
            "x LVARCHAR(30000), tail INTEGER)"
        )
        other.execute("CREATE TABLE u (k INTEGER PRIMARY KEY, v VARCHAR(20), tail INTEGER)")
        other.execute("CREATE TEMP TABLE own (k INTEGER, v VARCHAR(20))")
        other.execute("INSERT INTO own VALUES (1, 'mine')")
        rows = reader.execute(
            "SELECT a.tabid, b.tabid, c.tabid FROM systables a, systables b, systables c WHERE c.tabid < 20"
        )
        began = rows.fetchmany(10)

        filler = Filler(writer)
        for _ in range(2):
            filler.until_it_is_full()
            refusal(lambda: other.execute("SELECT count(*), 1 FROM t").fetchall())
            refusal(lambda: other.execute("DELETE FROM t WHERE k < 0"))
        rest: list[tuple[object, ...]] = []
        cannot_be_read_on = refusal(lambda: rest.extend(rows.fetchall()))

        make_room()
        (counts,) = other.execute(
            "SELECT COUNT(*), SUM(CASE WHEN tabid < 20 THEN 1 ELSE 0 END) FROM systables"
        ).fetchall()
        tables, first = map(int, counts)
        assert cannot_be_read_on or len(began) + len(rest) == tables**2 * first
        assert filler.there(other) == filler.taken
        assert other.execute("SELECT k, v FROM own").fetchall() == [(1, "mine")]
        for number, connection in enumerate((writer, other, reader, connect())):
            connection.execute("INSERT INTO u VALUES (?, 'after it', ?)", (number, -number))
        for _ in range(70):
            filler.insert()
        assert filler.there(connect()) == filler.taken
    back = [record for record in caplog.records if "is available again" in record.getMessage()]
    assert back, "the case that matters was not met: DuckDB could not write a checkpoint"
    with Server(directory) as server, ifx.connect(server.url("stores_demo")) as connection:
        assert filler.there(connection) == filler.taken
        assert connection.execute("SELECT k, v, tail FROM u ORDER BY 1").fetchall() == [
            (number, "after it", -number) for number in range(4)
        ]
    assert os.path.getsize(directory / "stores_demo.duckdb") > 20 << 20
