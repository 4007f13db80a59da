"""Several connections load one table: every row once, or nothing; one report, one error, one cancel for all."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.interrupted_starts import BEGINS, InterruptedStart
from tests.subprocess_server import ForkedCommand

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.partition import staged_load
from informix_arrow.server import Server
from informix_arrow.server.handlers.client_stream import ClientDisconnected
from informix_arrow.server.session.transaction import SessionTransaction

from .aio_support import run

ROWS = 3_000
CHUNK = 400  # rows of a chunk for one connection
LONG = 60.0  # seconds; no test should wait this long
STAGES = "SELECT tabname FROM systables WHERE tabname LIKE 'ifx_stage_%'"
SCHEMA = pa.schema([("k", pa.int32()), ("name", pa.utf8()), ("after", pa.int32())])


def rows(count: int, first: int = 0, name: str = "é") -> pa.Table:
    numbers = range(first, first + count)
    names = [None if n % 11 == 0 else f"{name}{n % 100}" * (n % 5) for n in numbers]
    return pa.table([list(numbers), names, list(numbers)], schema=SCHEMA)


DATA = rows(ROWS)


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    """A server for this module alone, as its sessions are counted."""
    with Server(threads=1) as server:
        server.create_database("loads")
        yield server


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make chunks small, so that few rows are several chunks for each connection."""
    monkeypatch.setattr("informix_arrow.core.chunk_queue.MIN_READY_ROWS", CHUNK)


@pytest.fixture(scope="module")
def shared_connection(running: Server) -> Iterator[ifx.Connection]:
    """A connection that creates and drops the tables. It is the only session that may be open after a test."""
    with ifx.connect(running.url("loads"), autocommit=True, lock_wait=30) as connection:
        yield connection


@pytest.fixture
def url(running: Server, shared_connection: ifx.Connection) -> Iterator[str]:
    """URL of a database with an empty table with a key. After the test no other session and no staging table may be
    left."""
    shared_connection.execute(
        "CREATE TABLE big (k INTEGER PRIMARY KEY, name VARCHAR(20), after INTEGER NOT NULL)"
    )
    yield running.url("loads")
    running.faults.clear()
    assert shared_connection.execute(STAGES).fetchall() == []
    shared_connection.execute("DROP TABLE big")
    until_alone(running)


def until_alone(server: Server) -> None:
    """Wait until only the shared connection is open."""
    pause = threading.Event()
    for _ in range(int(LONG * 20)):
        if server.sessions == 1:
            return
        pause.wait(0.05)
    raise AssertionError(f"{server.sessions} sessions are still open")


def content(url: str) -> pa.Table:
    with ifx.connect(url, autocommit=True) as conn:
        return conn.read_arrow("SELECT * FROM big ORDER BY k")


def is_in(url: str, table: pa.Table) -> None:
    assert content(url).cast(table.schema).equals(table)


class Background:
    """Runs a function in a thread, and keeps its exception."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.error: BaseException | None = None
        self.action = action
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        try:
            self.action()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            self.error = error

    def ended(self) -> BaseException | None:
        self.thread.join(LONG)
        assert not self.thread.is_alive()
        return self.error


def until_met(server: Server) -> None:
    """Wait until a statement has triggered the fault that was set."""
    pause = threading.Event()
    for _ in range(int(LONG * 20)):
        if not server.faults.pending:
            return
        pause.wait(0.05)
    raise AssertionError("nobody came")


# ---- every row once ------------------------------------------------------------------------------


@pytest.mark.parametrize("commit_every", [None, 200])
@pytest.mark.parametrize("connections", [2, 5])
def test_every_row_is_there_once(url: str, connections: int, commit_every: int | None) -> None:
    with ifx.connect(url) as conn:
        report = conn.write_arrow("big", DATA, connections=connections, commit_every=commit_every)
        assert (report.table, report.mode, report.rows, report.transaction) == ("big", "append", ROWS, "own")
        assert report.method == "put"
        assert report.rejected.num_rows == 0
        assert 1 <= report.connections <= connections
        assert report.commits == 1 if commit_every is None else report.commits >= ROWS // 200
        assert not conn.in_transaction
    is_in(url, DATA)


@pytest.mark.parametrize("commit_every", [None, 1_000])
def test_truncate_takes_the_place_of_all_rows(url: str, commit_every: int | None) -> None:
    with ifx.connect(url, autocommit=True) as conn:
        conn.write_arrow("big", rows(10, -10))
        report = conn.write_arrow("big", DATA, mode="truncate", connections=2, commit_every=commit_every)
        assert (report.mode, report.rows) == ("truncate", ROWS)
    is_in(url, DATA)


def ragged(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield batches of no row, of one, and of many."""
    sizes = itertools.cycle([1, 0, 7, CHUNK, 2, 900])
    at = 0
    while at < table.num_rows:
        size = next(sizes)
        yield table.slice(at, size).combine_chunks().to_batches()[0] if size else empty(table)
        at += size


def empty(table: pa.Table) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=table.schema)


@pytest.mark.parametrize("commit_every", [None, 200])
def test_batches_of_any_size(url: str, commit_every: int | None) -> None:
    here = threading.current_thread()

    def mine() -> Iterator[pa.RecordBatch]:
        for batch in ragged(DATA):
            assert threading.current_thread() is here, "the data is asked for in the caller's own thread"
            yield batch

    with ifx.connect(url) as conn:
        assert conn.write_arrow("big", mine(), connections=3, commit_every=commit_every).rows == ROWS
    is_in(url, DATA)


@pytest.mark.parametrize("count", [0, 1, CHUNK - 1, CHUNK + 1])
def test_few_rows_and_none(url: str, count: int) -> None:
    told: list[tuple[int, int, float]] = []
    with ifx.connect(url) as conn:
        report = conn.write_arrow("big", rows(count), connections=3, progress=lambda *each: told.append(each))
    assert report.rows == count
    assert 1 <= report.connections <= max(1, -(-count // CHUNK))
    assert told[-1][0] == count
    is_in(url, rows(count))


def test_asyncio_loads_the_same(url: str) -> None:
    async def arriving() -> AsyncIterator[pa.RecordBatch]:
        for batch in ragged(DATA):
            await asyncio.sleep(0)
            yield batch

    async def load() -> None:
        async with aio.connect(url) as conn:
            assert (await conn.write_arrow("big", arriving(), connections=3)).rows == ROWS
            await conn.execute("CREATE TABLE copied (k INTEGER, name VARCHAR(20), after INTEGER)")
            await conn.commit()
            for commit_every in (None, 500):
                async with aio.partition_read(url, "big", "k", 3) as result:
                    report = await conn.write_arrow(
                        "copied", result, connections=2, mode="truncate", commit_every=commit_every
                    )
                assert report.rows == ROWS
                found = await conn.read_arrow("SELECT * FROM copied ORDER BY k")
                assert found.cast(SCHEMA).equals(DATA)
            assert (await conn.write_arrow("copied", iter(ragged(DATA)), connections=2)).rows == ROWS
            await conn.execute("DROP TABLE copied")
            await conn.commit()

    run(load)
    is_in(url, DATA)


@pytest.mark.parametrize("commit_every", [None, 2])
def test_values_of_all_types_arrive_as_by_one_connection(url: str, commit_every: int | None) -> None:
    columns = (
        "k SERIAL, b BIGINT, n DECIMAL(12,3), m MONEY(8,2), f FLOAT, c CHAR(3), v VARCHAR(9), l LVARCHAR(300), d DATE, "
        "t DATETIME YEAR TO FRACTION(3), i INTERVAL DAY TO SECOND, o BOOLEAN, bt BYTE, te TEXT, after INTEGER"
    )
    values: list[tuple[Any, ...]] = [
        (1, -(2**62), Decimal("-1.005"), Decimal("0.01"), -0.0, "é", "", "x" * 300, date(1, 1, 1)),
        (2, None, None, None, None, None, None, None, None),
        (9, 2**62, Decimal("999999999.999"), Decimal("-1"), 1e300, "a b", "ö", "", date(9999, 12, 31)),
    ]
    more = [
        (datetime(1, 1, 1), None, True, b"\0\xff", "é"),
        (None,) * 5,
        (datetime(9999, 12, 31, 23, 59, 59, 999000), None, False, b"", "long " * 50),
    ]
    names = [each.split()[0] for each in columns.split(", ")]
    full = [(*one, *two, 7) for one, two in zip(values, more, strict=True)]
    table = pa.Table.from_pydict({name: [row[at] for row in full] for at, name in enumerate(names)})
    table = table.set_column(names.index("i"), "i", pa.array([-1, None, 86_400_000_000], pa.duration("us")))
    with ifx.connect(url, autocommit=True) as conn:
        found = []
        for number, options in enumerate(({}, {"connections": 2, "commit_every": commit_every})):
            conn.execute(f"CREATE TABLE types_{number} ({columns})")
            conn.write_arrow(f"types_{number}", table.drop_columns("i"), **options)  # type: ignore[arg-type]
            found.append(conn.execute(f"SELECT * FROM types_{number} ORDER BY k").fetchall())
            conn.execute(f"DROP TABLE types_{number}")
    assert found[0] == found[1]
    assert [row[0] for row in found[1]] == [1, 2, 9]
    assert found[1][0][-2:] == ("é", 7)


def test_columns_are_mapped_and_others_get_their_defaults(url: str) -> None:
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("CREATE TABLE mapped (n SERIAL, a INTEGER, b VARCHAR(5) DEFAULT 'none', after INTEGER)")
        data = pa.table({"x": [5, 6], "AFTER": [7, 7], "unwanted": [1, 1]})
        conn.write_arrow("mapped", data, connections=2, columns={"AFTER": "after", "x": "A"})
        assert conn.execute("SELECT * FROM mapped ORDER BY n").fetchall() == [
            (1, 5, "none", 7),
            (2, 6, "none", 7),
        ]
        conn.execute("DROP TABLE mapped")


# ---- errors --------------------------------------------------------------------------------------


def with_bad(*places: int) -> pa.Table:
    names = ["x" * 21 if n in places else "ok" for n in range(ROWS)]
    return DATA.set_column(1, "name", pa.array(names))


def test_a_row_that_does_not_fit_is_named_and_nothing_is_loaded(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.write_arrow("big", rows(3, -3))
        with pytest.raises(ifx.DataError, match=r"^Connection \d of 3: Row 2345 \(") as caught:
            conn.write_arrow("big", with_bad(2_345), connections=3, mode="truncate")
        assert caught.value.row == 2_345
        assert "Nothing of this load is in the table big" in str(caught.value)
        assert not conn.in_transaction
    is_in(url, rows(3, -3))


def test_a_row_that_the_target_refuses_is_refused_with_all(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.write_arrow("big", rows(1, 777))
        with pytest.raises(ifx.IntegrityError, match="refused together") as caught:
            conn.write_arrow("big", DATA, connections=2)
        assert caught.value.sqlcode == -268
    is_in(url, rows(1, 777))


def test_null_where_there_may_be_none_names_its_row(url: str) -> None:
    missing = pa.array([None if n == 2_001 else n for n in range(ROWS)], pa.int32())
    with (
        ifx.connect(url) as conn,
        pytest.raises(ifx.IntegrityError, match=r"Row 2001 ") as caught,
    ):
        conn.write_arrow("big", DATA.set_column(2, "after", missing), connections=2)
    assert (caught.value.row, caught.value.sqlcode) == (2_001, -391)
    is_in(url, rows(0))


@pytest.mark.parametrize("front", ["blocking", "asyncio"])
def test_rejects_have_the_numbers_of_the_data(url: str, front: str) -> None:
    bad = {5, 999, 1_200, 2_999}
    options: Any = {"connections": 3, "commit_every": 100, "on_error": "collect"}
    with ifx.connect(url, autocommit=True) as conn:
        conn.write_arrow("big", rows(2, 1_500))
        if front == "blocking":
            report = conn.write_arrow("big", with_bad(*bad), **options)

    async def load() -> ifx.WriteReport:
        async with aio.connect(url) as conn:
            return await conn.write_arrow("big", with_bad(*bad), **options)

    if front == "asyncio":
        report = run(load)
    told = report.rejected.to_pylist()
    assert [each["row"] for each in told] == [5, 999, 1_200, 1_500, 1_501, 2_999]
    assert [each["sqlcode"] for each in told] == [None, None, None, -268, -268, None]
    assert [each["k"] for each in told] == [each["row"] for each in told]
    assert report.rows == ROWS - 6
    assert content(url).num_rows == ROWS - 4


def test_what_stands_is_reported_where_each_commits_for_itself(url: str) -> None:
    with (
        ifx.connect(url) as conn,
        pytest.raises(
            ifx.DataError, match=r"rows of this load are in the table \w+, in [\d,]+ commits"
        ) as caught,
    ):
        conn.write_arrow("big", with_bad(2_345), connections=2, commit_every=100)
    assert caught.value.row == 2_345
    found = content(url).num_rows
    assert (
        f"{found:,} rows of this load are in the table big, in {found // 100:,} commits of 2 connections."
        in str(caught.value)
    )


def test_what_the_data_raises_is_raised(url: str) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield from DATA.to_batches(max_chunksize=500)[:3]
        raise KeyError("mine")

    async def arriving() -> AsyncIterator[pa.RecordBatch]:
        for batch in failing():
            yield batch

    async def load() -> None:
        async with aio.connect(url) as conn:
            await conn.write_arrow("big", arriving(), connections=2)

    with ifx.connect(url) as conn, pytest.raises(KeyError, match="mine"):
        conn.write_arrow("big", failing(), connections=2)
    with pytest.raises(KeyError, match="mine"):
        run(load)
    with ifx.connect(url) as conn, pytest.raises(ZeroDivisionError):
        conn.write_arrow("big", DATA, connections=2, progress=lambda *_: 1 // 0)
    is_in(url, rows(0))


@pytest.mark.parametrize("front", ["blocking", "asyncio"])
def test_the_first_error_ends_all_and_names_its_connection(running: Server, url: str, front: str) -> None:
    async def load() -> None:
        async with aio.connect(url) as conn:
            await conn.write_arrow("big", endless(), connections=3)

    def endless() -> Iterator[pa.RecordBatch]:
        for first in itertools.count(0, 5000):
            yield from rows(5000, first).to_batches()

    def blocking() -> None:
        with ifx.connect(url) as conn:
            conn.write_arrow("big", endless(), connections=3)

    running.faults.fail_next(-271, matching="CREATE TABLE ifx_stage")
    with pytest.raises(ifx.OperationalError, match=r"^Connection \d of 3: ") as caught:
        run(load) if front == "asyncio" else blocking()
    assert caught.value.sqlcode == -271
    is_in(url, rows(0))


def test_a_connection_that_is_lost_ends_all(running: Server, url: str) -> None:
    running.faults.drop_next(matching="CREATE TABLE ifx_stage")
    with ifx.connect(url) as conn:
        with pytest.raises(ifx.OperationalError, match=r"^Connection \d of 2: "):
            conn.write_arrow("big", DATA, connections=2)
        assert conn.execute("SELECT COUNT(*) FROM big").fetchone() == (0,)


def test_a_refused_login_is_the_error() -> None:
    with Server(max_sessions=3) as small:
        small.create_database("few")
        with ifx.connect(small.url("few"), autocommit=True) as conn:
            conn.execute("CREATE TABLE t (k INTEGER, name VARCHAR(20), after INTEGER)")
            with pytest.raises(ifx.OperationalError, match=r"^Connection \d of 4: "):
                conn.write_arrow("t", DATA, connections=4)
            assert conn.execute("SELECT COUNT(*) FROM t").fetchone() == (0,)


@pytest.mark.parametrize("kept", [True, False])
def test_a_lost_answer_to_the_commit_is_an_error_of_its_own(
    url: str, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = SessionTransaction.commit

    def lost(self: SessionTransaction) -> None:
        if kept:
            commit(self)
        raise ClientDisconnected("the answer is lost")

    taking = staged_load.commit

    def armed(*arguments: Any, **options: Any) -> bool:
        monkeypatch.setattr(SessionTransaction, "commit", lost)
        return taking(*arguments, **options)

    monkeypatch.setattr(staged_load, "commit", armed)
    with ifx.connect(url) as conn:
        with pytest.raises(ifx.CommitUnknown) as caught:
            conn.write_arrow("big", DATA, connections=2)
        monkeypatch.undo()
        assert "Nothing of this load" not in str(caught.value)
        with ifx.connect(url, autocommit=True, lock_wait=30) as other:
            assert other.execute("SELECT COUNT(*) FROM big").fetchone() == (ROWS * kept,)
            assert 1 <= len(staged_load.sweep(other, -60.0)) <= 2


# ---- cancel, timeout, death ----------------------------------------------------------------------


@pytest.mark.parametrize("where", ["CREATE TABLE ifx_stage", r"INSERT INTO big .* SELECT"])
def test_cancel_of_the_connection_reaches_all(running: Server, url: str, where: str) -> None:
    with ifx.connect(url) as conn:
        running.faults.delay_next(LONG, matching=where)
        loading = Background(lambda: conn.write_arrow("big", DATA, connections=2))
        until_met(running)
        conn.cancel()
        assert isinstance(loading.ended(), ifx.QueryCanceled)
        assert conn.execute("SELECT COUNT(*) FROM big").fetchone() == (0,)


@pytest.mark.parametrize(
    ("number", "begins", "commit_every"),
    [(n, begins, (None, 200)[(n // 2 + at) % 2]) for n in (0, 2) for at, begins in enumerate(BEGINS)],
)
def test_an_interrupt_while_loaders_start_ends_all(
    url: str, monkeypatch: pytest.MonkeyPatch, number: int, begins: str, commit_every: int | None
) -> None:
    with ifx.connect(url) as conn:
        start = InterruptedStart(monkeypatch, number, begins)
        with pytest.raises(KeyboardInterrupt):
            conn.write_arrow("big", DATA, connections=4, commit_every=commit_every)
        start.check()
        monkeypatch.undo()
        is_in(url, DATA[:0])
        assert conn.write_arrow("big", rows(10), connections=4).rows == 10


@pytest.mark.parametrize("where", ["CREATE TABLE ifx_stage", r"INSERT INTO big .* SELECT"])
@pytest.mark.parametrize("front", ["blocking", "asyncio"])
def test_a_time_limit_reaches_all(running: Server, url: str, where: str, front: str) -> None:
    async def load() -> None:
        async with aio.connect(url) as conn:
            await conn.write_arrow("big", DATA, connections=2, timeout=1.5)

    def blocking() -> None:
        with ifx.connect(url) as conn:
            conn.write_arrow("big", DATA, connections=2, timeout=1.5)

    running.faults.delay_next(LONG, matching=where)
    with pytest.raises(ifx.QueryTimeout, match="Nothing of this load is in the table big"):
        run(load) if front == "asyncio" else blocking()
    is_in(url, rows(0))


def test_a_time_limit_ends_the_wait_for_data(url: str) -> None:
    async def never() -> AsyncIterator[pa.RecordBatch]:
        for batch in DATA.to_batches():
            yield batch
        await asyncio.sleep(LONG)

    async def load() -> None:
        async with aio.connect(url) as conn:
            with pytest.raises(ifx.QueryTimeout):
                await conn.write_arrow("big", never(), connections=2, timeout=1.0)
            assert (await conn.write_arrow("big", rows(2), connections=2)).rows == 2

    run(load)
    is_in(url, rows(2))


def test_a_failure_ends_the_wait_for_data(running: Server, url: str) -> None:
    async def never() -> AsyncIterator[pa.RecordBatch]:
        for batch in DATA.to_batches():
            yield batch
        await asyncio.sleep(LONG)

    async def load() -> None:
        async with aio.connect(url) as conn:
            await conn.write_arrow("big", never(), connections=2)

    running.faults.fail_next(-271, matching="CREATE TABLE ifx_stage")
    with pytest.raises(ifx.OperationalError, match=r"^Connection \d of 2: "):
        run(load)


@pytest.mark.parametrize("where", ["CREATE TABLE ifx_stage", r"INSERT INTO big .* SELECT", "", "data"])
def test_a_task_that_is_cancelled_ends_all(running: Server, url: str, where: str) -> None:
    async def load() -> str:
        waiting = asyncio.Event()

        async def never() -> AsyncIterator[pa.RecordBatch]:
            for batch in DATA.to_batches():
                yield batch
            waiting.set()
            await asyncio.sleep(LONG)

        async with aio.connect(url) as conn:
            data: Any = never() if where == "data" else DATA
            task = asyncio.ensure_future(conn.write_arrow("big", data, connections=2))
            while running.faults.pending:  # until the load meets it
                await asyncio.sleep(0.01)
            if where == "data":
                await waiting.wait()
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                assert (await (await conn.execute("SELECT COUNT(*) FROM big")).fetchone()) == (0,)
                return "cancelled"
            return "loaded"

    if where not in ("", "data"):
        running.faults.delay_next(LONG, matching=where)
    assert run(load) == "cancelled"
    is_in(url, rows(0))


CHILD = """
import signal, sys
import pyarrow as pa
import informix_arrow as ifx
from informix_arrow.core import chunk_queue
from informix_arrow.partition import staged_load as staging
chunk_queue.MIN_READY_ROWS = 400
url, moment = sys.argv[1:]
data = pa.table({"k": pa.array(range(3_000), pa.int32()), "after": pa.array(range(3_000), pa.int32())})

def here():
    print("here", flush=True)
    signal.pause()

def batches():
    for number, batch in enumerate(data.to_batches(max_chunksize=500)):
        if number == 4 and moment == "in the middle":
            here()
        yield batch

commit = staging.commit
def taken(*arguments, **options):
    if moment == "when all is staged":
        here()
    done = commit(*arguments, **options)
    if moment == "when all is taken":
        here()
    return done

staging.commit = taken
ifx.connect(url).write_arrow("big", batches(), connections=3, mode="truncate")
"""


@pytest.mark.skipif(os.name != "posix", reason="nobody can be killed so")
@pytest.mark.parametrize("moment", ["in the middle", "when all is staged", "when all is taken"])
def test_a_client_that_is_killed_leaves_the_old_rows_or_the_new_ones(
    running: Server, url: str, moment: str, tmp_path: Path
) -> None:
    with ifx.connect(url, autocommit=True) as conn:
        conn.write_arrow("big", rows(3, -3))
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    with ForkedCommand(url, moment, program=script) as child:
        assert child.stdout.readline() == "here\n"
        child.kill()
        assert child.wait(LONG) == -signal.SIGKILL
    until_alone(running)
    if moment == "when all is taken":
        assert content(url)["k"].to_pylist() == list(range(3_000))
    else:
        is_in(url, rows(3, -3))
    with ifx.connect(url, autocommit=True, lock_wait=30) as conn:
        staged = [name for (name,) in conn.execute(STAGES).fetchall()]
        assert bool(staged) == (moment != "in the middle")
        assert staged_load.sweep(conn) == [], "they may be somebody's"
        assert sorted(staged_load.sweep(conn, -60.0)) == sorted(staged)
        assert conn.write_arrow("big", rows(5), mode="truncate", connections=2).rows == 5
    is_in(url, rows(5))


# ---- limits of several connections ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"connections": 0}, "connections must be"),
        ({"connections": True}, "connections must be"),
        ({"connections": "2"}, "connections must be"),
        (
            {"connections": 2, "mode": "upsert", "key": "k", "on_error": "collect"},
            "does not work with mode='upsert'",
        ),
        (
            {"connections": 2, "mode": "upsert", "key": "k", "commit_every": 9},
            "does not work with mode='upsert'",
        ),
        ({"connections": 2, "mode": "upsert"}, "needs key"),
        ({"connections": 2, "mode": "create"}, "Create the table first"),
        ({"connections": 2, "on_error": "collect"}, "needs commit_every="),
        ({"connections": 2, "nonsense": 1}, "no option nonsense"),
        ({"connections": 2, "timeout": 0}, "timeout"),
    ],
)
def test_wrong_arguments_are_refused(url: str, options: Any, match: str) -> None:
    with ifx.connect(url) as conn, pytest.raises(ifx.InterfaceError, match=match):
        conn.write_arrow("big", DATA, **options)


def test_an_open_transaction_is_the_callers_own(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.write_arrow("big", rows(1, -1))
        conn.execute("INSERT INTO big VALUES (-5, 'mine', 7)")
        with pytest.raises(ifx.ProgrammingError, match="A transaction is open"):
            conn.write_arrow("big", DATA, connections=2)
        assert conn.in_transaction
        conn.rollback()
        with conn.transaction(), pytest.raises(ifx.ProgrammingError, match="A transaction is open"):
            conn.write_arrow("big", DATA, connections=2)
    is_in(url, rows(1, -1))


def test_columns_that_are_not_there_are_reported_before_anything_is_staged(url: str) -> None:
    with ifx.connect(url) as conn:
        with pytest.raises(ifx.ProgrammingError, match="has no column more"):
            conn.write_arrow("big", DATA.append_column("more", DATA["k"]), connections=2)
        with pytest.raises(ifx.ProgrammingError, match="'nowhere' does not exist"):
            conn.write_arrow("nowhere", DATA, connections=2)


def test_a_database_without_a_log_needs_commits_of_each(running: Server) -> None:
    running.create_database("unlogged_loads", mode="unlogged")
    with ifx.connect(running.url("unlogged_loads")) as conn:
        conn.execute("CREATE TABLE t (k INTEGER, name VARCHAR(20), after INTEGER)")
        with pytest.raises(ifx.NotSupportedError, match="Use commit_every="):
            conn.write_arrow("t", DATA, connections=2)
        report = conn.write_arrow("t", DATA, connections=2, commit_every=200)
        assert (report.rows, report.transaction, report.commits) == (ROWS, "none", 0)
        assert conn.execute("SELECT COUNT(*), SUM(after) FROM t").fetchone() == (
            ROWS,
            sum(range(ROWS)),
        )
    running.drop_database("unlogged_loads")


def test_one_call_over_a_url_takes_connections(url: str) -> None:
    assert ifx.write_arrow("big", DATA, url, connections=2).rows == ROWS
    is_in(url, DATA)


# ---- upserts have the result of one connection -----------------------------------------------------


def upserted(url: str, data: Any, key: Any, declared: str, front: str = "blocking", **options: Any) -> Any:
    """Upsert into a table with some rows. Return the report or error, and the rows of the table."""
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("DROP TABLE IF EXISTS kept")
        conn.execute(f"CREATE TABLE kept ({declared})")
        old = pa.table({"a": pa.array(range(0, 600, 2), pa.int32()), "b": ["x"] * 300, "t": ["old"] * 300})
        conn.write_arrow("kept", old)

        def write() -> ifx.WriteReport:
            if front == "blocking":
                return conn.write_arrow("kept", data, mode="upsert", key=key, **options)

            async def by_task() -> ifx.WriteReport:
                async with await aio.connect(url, autocommit=True) as own:
                    return await own.write_arrow("kept", data, mode="upsert", key=key, **options)

            return run(by_task)

        try:
            report = write()
            told: Any = (report.mode, report.rows, report.inserted, report.updated, report.commits)
        except ifx.Error as error:
            told = (type(error), error.sqlcode, error.isamcode, error.row)
        assert conn.execute(STAGES).fetchall() == []
        found = conn.execute("SELECT a, b, t, after FROM kept ORDER BY a, b").fetchall()
        conn.execute("DROP TABLE kept")
    return told, found


PLAIN = "a INTEGER, b VARCHAR(9), t VARCHAR(9), after INTEGER DEFAULT 7"
KEYED = f"{PLAIN}, n SERIAL, PRIMARY KEY (a, b), UNIQUE (n)"


@pytest.fixture(scope="module")
def by_one_connection() -> dict[str, Any]:
    """Results of upserts by one connection, by their case."""
    return {}


@pytest.mark.parametrize(
    ("case", "front", "connections"),
    [
        *(
            (case, "blocking", 2)
            for case in (
                "new and old",
                "two columns",
                "only the key",
                "no rows",
                "a key twice",
                "near",
                "NULL",
                "another column",
                "CHECK",
            )
        ),
        # The blocking code is generated from the asyncio code: one success, and one case for each place that refuses.
        ("new and old", "asyncio", 3),
        ("a key twice", "asyncio", 3),
        ("another column", "asyncio", 3),
        ("CHECK", "asyncio", 3),
    ],
)
def test_an_upsert_is_that_of_one_connection(
    url: str,
    by_one_connection: dict[str, Any],
    case: str,
    front: str,
    connections: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("informix_arrow.core.chunk_queue.MIN_READY_ROWS", 128)  # rows of a chunk
    numbers = [*range(301, 1400)]
    declared, key, kept = KEYED, ["a", "b"], ["a", "b", "t"]
    texts = [f"new {n % 7}" for n in numbers]
    if case == "new and old":
        declared, key = PLAIN, ["A"]
    elif case == "only the key":
        kept = ["b", "a"]
    elif case == "no rows":
        numbers, texts = [], []
    elif case == "a key twice":  # far from each other; the third is not the one that is reported
        numbers[900], numbers[1050] = numbers[20], numbers[20]
        numbers[1090] = numbers[70]
    elif case == "near":
        numbers[501] = numbers[500]
    elif case == "CHECK":
        declared, key = f"{PLAIN}, CHECK (t <> '1300')", ["a"]
        texts = [f"{n}" for n in numbers]
    columns: dict[str, Any] = {
        "a": pa.array(numbers, pa.int32()),
        "b": pa.array(["x"] * len(numbers), pa.utf8()),
        "t": pa.array(texts, pa.utf8()),
    }
    if case == "NULL":
        columns["b"] = pa.array([None if n == 1200 else "x" for n in numbers], pa.utf8())
    if case == "another column":
        columns["zip"], kept = columns["a"], [*kept, "zip"]
    data = pa.table(columns).select(kept)
    if case not in by_one_connection:
        by_one_connection[case] = upserted(url, data, key, declared)
    expected = by_one_connection[case]
    assert upserted(url, data, key, declared, front, connections=connections) == expected
    refused = {"a key twice": -268, "near": -268, "NULL": -391, "another column": None, "CHECK": -530}
    assert (expected[0][1] if isinstance(expected[0][0], type) else 0) == refused.get(case, 0)


def test_an_upsert_that_is_refused_names_the_row_and_the_key(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("informix_arrow.core.chunk_queue.MIN_READY_ROWS", 128)
    data = pa.concat_tables([rows(900), rows(1, 77, "later")])
    with ifx.connect(url, autocommit=True) as conn:
        with pytest.raises(ifx.IntegrityError, match=r"Row 900 \(k=77\): A row with the same key") as caught:
            conn.write_arrow("big", data, mode="upsert", key="k", connections=2)
        assert "Nothing of this load is in the table big." in str(caught.value)
        assert "with one connection" not in str(caught.value)
        report = conn.write_arrow("big", rows(900), mode="upsert", key="k", connections=2)
        assert (report.inserted, report.updated, report.connections) == (900, 0, 2)
        again = conn.write_arrow("big", rows(901, 0, "b"), mode="upsert", key="k", connections=2)
        assert (again.inserted, again.updated) == (1, 900)
    is_in(url, rows(901, 0, "b"))


def test_columns_may_be_called_as_our_own_are(url: str) -> None:
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute("CREATE TABLE odd (ifx_row_number INTEGER PRIMARY KEY, after INTEGER)")
        data = pa.table(
            {"ifx_row_number": pa.array(range(900), pa.int32()), "n": pa.array([3] * 900, pa.int32())}
        )
        into = {"ifx_row_number": "ifx_row_number", "n": "after"}
        for _ in range(2):
            conn.write_arrow("odd", data, mode="upsert", key="ifx_row_number", columns=into, connections=2)
        found = conn.execute("SELECT COUNT(*), SUM(ifx_row_number), SUM(after) FROM odd").fetchall()
        assert [tuple(map(int, row)) for row in found] == [(900, 899 * 450, 2700)]
        conn.execute("DROP TABLE odd")
