"""Several connections read one table: every row once, one schema, one error, one cancel for all."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.interrupted_starts import BEGINS, InterruptedStart

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server

from .aio_support import run

ROWS = 12_000
BUDGET = 4 << 20
LONG = 30.0  # seconds; no test should wait this long


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    """A server for this module alone, as its sessions are counted."""
    with Server(threads=1) as server:
        server.create_database("parallel")
        data = pa.table(
            {
                "k": [None if n % 11 == 0 else n for n in range(ROWS)],
                "name": [f"é{n % 100}" * (n % 9) for n in range(ROWS)],
                "after": pa.array(range(ROWS), pa.int32()),
            }
        )
        with ifx.connect(server.url("parallel"), autocommit=True) as conn:
            conn.execute("CREATE TABLE big (k INTEGER, name VARCHAR(40), after INTEGER)")
            conn.write_arrow("big", data)
            conn.execute("CREATE TABLE wide (k INTEGER, name CHAR(1000), after INTEGER)")
            wide = pa.table({"k": range(ROWS), "name": ["x" * 1000] * ROWS, "after": range(ROWS)})
            conn.write_arrow("wide", wide)
            conn.execute("CREATE TABLE none (k INTEGER, name VARCHAR(40), after INTEGER)")
            conn.execute("CREATE TABLE few (k INTEGER, after INTEGER)")
            conn.write_arrow("few", pa.table({"k": range(100), "after": range(100)}))
        yield server


@pytest.fixture
def url(running: Server) -> Iterator[str]:
    """URL of the database. After the test no session may be left."""
    yield running.url("parallel")
    running.faults.clear()
    closed(running)


def closed(server: Server) -> None:
    """Wait until the server has noticed that all connections are closed."""
    done = threading.Event()
    for _ in range(int(LONG * 20)):
        if not server.sessions:
            return
        done.wait(0.05)
    raise AssertionError(f"{server.sessions} sessions are still open")


def everything(conn: ifx.Connection, source: str = "big") -> pa.Table:
    return conn.read_arrow(f"SELECT * FROM {source}").sort_by("after")


@pytest.mark.parametrize("by", ["range", "mod", "rowid"])
@pytest.mark.parametrize("ordered", [False, True])
def test_every_row_comes_once(url: str, by: Any, ordered: bool) -> None:
    key = None if by == "rowid" else "k"
    with ifx.connect(url) as conn:
        expected = everything(conn)
        with ifx.partition_read(url, "big", key, 5, by=by, connections=3, ordered=ordered) as result:
            assert result.schema == expected.schema
            assert (len(result.partitions), result.connections) == (5, 3)
            found = result.read_all()
        assert found.sort_by("after").equals(expected)
        if ordered:
            one_by_one = [conn.read_arrow(part.sql, part.parameters) for part in result.partitions]
            assert found.equals(pa.concat_tables(one_by_one))


def test_asyncio_reads_the_same(url: str) -> None:
    async def read() -> tuple[pa.Table, pa.Table, pa.Table]:
        async with aio.connect(url) as conn:
            async with aio.partition_read(conn, "big", "k", 5, ordered=True) as result:
                ordered = await result.read_all()
            result = await aio.partition_read(
                url, "SELECT * FROM big WHERE after >= ?", "k", 3, parameters=(0,)
            )
            async with result:
                as_they_come = await result.read_all()
            return ordered, as_they_come, await conn.read_arrow("big", partition_on="k", partition_num=5)

    ordered, as_they_come, in_one_call = run(read)
    with ifx.connect(url) as conn:
        expected = everything(conn)
    assert ordered.sort_by("after").equals(expected)
    assert as_they_come.sort_by("after").equals(expected)
    assert in_one_call.equals(ordered)


def test_a_connection_reads_a_table_or_a_query_in_parts(url: str) -> None:
    with ifx.connect(url) as conn:
        expected = everything(conn)
        table = conn.read_arrow("big", partition_on="k", partition_num=4, strings="large")
        assert table.sort_by("after").cast(expected.schema).equals(expected)
        query = conn.read_arrow("SELECT * FROM big WHERE after < :most", {"most": 50}, partition_on="after")
        assert query.sort_by("after").equals(expected.slice(0, 50))
        assert "in4mix" not in repr(vars(conn))


def test_no_rows_have_a_schema(url: str) -> None:
    with ifx.partition_read(url, "none", "k", 3) as result:
        assert result.schema.names == ["k", "name", "after"]
        assert result.read_all().num_rows == 0


def test_a_result_is_an_arrow_stream_and_is_read_once(url: str) -> None:
    with ifx.partition_read(url, "big", "k", 3) as result:
        assert pa.schema(result).names == ["k", "name", "after"]
        assert pa.RecordBatchReader.from_stream(result).read_all().num_rows == ROWS
        with pytest.raises(ifx.InterfaceError, match="already read or closed"):
            result.batches()


def test_one_result_is_written_through_another_connection(url: str) -> None:
    async def copied() -> int:
        async with aio.connect(url) as conn, aio.partition_read(url, "big", "k", 3) as result:
            report = await conn.write_arrow("copied", result, mode="create")
            rows = report.rows
            await conn.execute("DROP TABLE copied")
            return rows

    assert run(copied) == ROWS


# ---- errors, cancel, timeout --------------------------------------------------------------------


def test_the_first_error_ends_all_and_names_its_part(running: Server, url: str) -> None:
    running.faults.fail_next(-1202, matching=r"k >= [0-9]+$")
    with ifx.partition_read(url, "big", "k", 4, memory_budget=BUDGET) as result:
        batches = result.batches()
        with pytest.raises(ifx.DataError, match=r"^Part 3 \(k >= \d+\): ") as caught:
            list(batches)
        assert caught.value.sqlcode == -1202
        with pytest.raises(ifx.InterfaceError, match="failed before"):
            next(batches)


def test_an_error_of_the_first_part_is_raised_at_once(running: Server, url: str) -> None:
    running.faults.fail_next(-1202, matching=r"k IS NULL")
    with pytest.raises(ifx.DataError, match=r"^Part 0 \(\(k < \d+ OR k IS NULL\)\): "):
        ifx.partition_read(url, "big", "k", 4)


def test_an_error_in_asyncio_ends_all(running: Server, url: str) -> None:
    async def read() -> None:
        async with aio.partition_read(url, "big", "k", 4, memory_budget=BUDGET) as result:
            await result.read_all()

    running.faults.fail_next(-1202, matching=r"k >= [0-9]+$")
    with pytest.raises(ifx.DataError, match=r"^Part 3 "):
        run(read)


def test_a_refused_login_of_another_connection_is_the_error(url: str) -> None:
    with Server(max_sessions=2) as small:
        small.create_database("few")
        with ifx.connect(small.url("few"), autocommit=True) as conn:
            conn.write_arrow("t", pa.table({"k": range(1000), "after": range(1000)}), mode="create")
        closed(small)
        with (
            ifx.partition_read(small.url("few"), "t", "k", 4) as result,
            pytest.raises(ifx.OperationalError, match=r"^Another connection: "),
        ):
            result.read_all()


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


def slow(server: Server) -> None:
    """Make the query of one of the table's four parts take for ever."""
    server.faults.delay_next(LONG, matching=r"k >= 50 AND k < 75")


def until_queried(server: Server) -> None:
    """Wait until the server executes the query of that part."""
    pause = threading.Event()
    for _ in range(int(LONG * 20)):
        if not server.faults.pending:
            return
        pause.wait(0.05)
    raise AssertionError("the part was not read")


def test_cancel_of_the_connection_reaches_all_parts(running: Server, url: str) -> None:
    with ifx.connect(url) as conn:
        slow(running)
        reading = Background(lambda: conn.read_arrow("few", partition_on="k", partition_num=4))
        until_queried(running)
        conn.cancel()
        assert isinstance(reading.ended(), ifx.QueryCanceled)
        assert conn.read_arrow("SELECT COUNT(*) AS n FROM none")["n"].to_pylist() == [0]


def test_a_result_is_cancelled_from_another_thread(running: Server, url: str) -> None:
    slow(running)
    with ifx.partition_read(url, "few", "k", 4) as result:
        reading = Background(result.read_all)
        result.cancel()
        assert isinstance(reading.ended(), ifx.QueryCanceled)


def test_a_time_limit_reaches_all_parts(running: Server, url: str) -> None:
    slow(running)
    with (
        ifx.partition_read(url, "few", "k", 4, timeout=3.0) as result,
        pytest.raises(ifx.QueryTimeout, match=r"^Part 2 \(k >= 50 AND k < 75\): "),
    ):
        result.read_all()


def test_a_task_that_is_cancelled_ends_all_parts(running: Server, url: str) -> None:
    async def read() -> str:
        async with aio.partition_read(url, "few", "k", 4) as result:
            task = asyncio.ensure_future(result.read_all())
            while running.faults.pending:  # until that part is being read
                await asyncio.sleep(0.01)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return "cancelled"
            return "read"

    slow(running)
    assert run(read) == "cancelled"


def test_a_result_that_is_closed_half_read_ends_all(url: str) -> None:
    with ifx.partition_read(url, "big", "k", 4, memory_budget=BUDGET, batch_rows=100) as result:
        batches = result.batches()
        assert next(batches).num_rows == 100
    with pytest.raises(ifx.InterfaceError, match="closed while it was being read"):
        list(batches)
    result.close()


def test_a_result_that_is_dropped_ends_all(url: str) -> None:
    result = ifx.partition_read(url, "big", "k", 4, memory_budget=BUDGET, batch_rows=100)
    threads = result._readers._threads
    dropped = [result]
    del result
    with pytest.warns(ResourceWarning, match="unclosed <informix_arrow.PartitionedResult of 4 parts"):
        dropped.clear()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()


@pytest.mark.parametrize("consistency", ["none", "lock"])
@pytest.mark.parametrize("begins", BEGINS)
@pytest.mark.parametrize("number", [0, 2])
def test_an_interrupt_while_readers_start_ends_all(
    running: Server, url: str, monkeypatch: pytest.MonkeyPatch, number: int, begins: str, consistency: Any
) -> None:
    start = InterruptedStart(monkeypatch, number, begins)
    with pytest.raises(KeyboardInterrupt):
        ifx.partition_read(url, "big", "k", 4, memory_budget=BUDGET, batch_rows=100, consistency=consistency)
    start.check()
    closed(running)


# ---- consistency --------------------------------------------------------------------------------


def test_a_lock_is_held_until_all_is_read(url: str) -> None:
    with ifx.connect(url, autocommit=True) as writer:
        with ifx.partition_read(
            url, "wide", "k", 4, consistency="lock", memory_budget=BUDGET, batch_rows=100
        ) as result:
            batches = result.batches()
            first = next(batches)
            assert first.nbytes * ROWS // first.num_rows > 2 * BUDGET  # so not all rows have been read yet
            with pytest.raises(ifx.OperationalError, match=r"SQLCODE -2\d\d"):
                writer.execute("INSERT INTO wide VALUES (1, 'x', -1)")
            assert first.num_rows + sum(batch.num_rows for batch in batches) == ROWS
        writer.execute("INSERT INTO wide VALUES (1, 'x', -1)")
        writer.execute("DELETE FROM wide WHERE after = -1")


def test_last_committed_does_not_wait(url: str) -> None:
    with ifx.connect(url) as locker:
        locker.execute("UPDATE few SET after = -1 WHERE k = 60")
        with ifx.partition_read(url, "few", "k", 4, consistency="last committed") as result:
            assert sorted(result.read_all()["after"].to_pylist()) == list(range(100))
        with (
            pytest.raises(ifx.OperationalError, match=r"^Part 2"),
            ifx.partition_read(url, "few", "k", 4) as result,
        ):
            result.read_all()
        locker.rollback()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"consistency": "snapshot"}, "consistency must be one of"),
        ({"consistency": "last committed", "isolation": "dirty"}, "Leave isolation out"),
        ({"connections": 0}, "connections must be"),
        ({"memory_budget": 1000}, "memory_budget must be at least"),
    ],
)
def test_wrong_arguments_are_refused(url: str, options: Any, match: str) -> None:
    with pytest.raises(ifx.InterfaceError, match=match):
        ifx.partition_read(url, "big", "k", 4, **options)
    with pytest.raises(ifx.InterfaceError, match="locks a table, but this is a query"):
        ifx.partition_read(url, "SELECT * FROM big", "k", consistency="lock")
