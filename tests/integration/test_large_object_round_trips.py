"""Large objects whose requests are sent ahead of their replies: results equal those of single steps, with few round
trips, also if steps fail. A sentinel follows each object."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlparse

import pyarrow as pa
import pytest
from benchmarks.link import SlowLink
from tests.real_server import database_name
from tests.stress import LONG_SOAK_ONLY

import informix_arrow as ifx
from informix_arrow import aio, observing
from informix_arrow.observing import Operation
from informix_arrow.operations import bulk_insert, object_pipeline
from informix_arrow.operations.object_pipeline import MAX_OBJECTS
from informix_arrow.operations.session import Session
from informix_arrow.server import Server
from informix_arrow.server.errors import SqlError
from informix_arrow.server.handlers.client_stream import ClientDisconnected
from informix_arrow.server.handlers.fast_path import FastPathHandler
from informix_arrow.server.handlers.smart_objects import OpenObjectTable, SmartObjectHandler
from informix_arrow.server.session.smart_object_store import SmartObjectStore
from informix_arrow.wire.errors import QueryTimeout

from .aio_support import run

KINDS = ("BLOB", "CLOB", "BYTE", "TEXT")
SIZES = (0, 1, 2, 3, 255, 1024, 4095, 4096, 4097, 32_000, 65_537, 200_001)


def value(kind: str, number: int) -> bytes | str | None:
    """Return the content with this number: NULL, empty, odd, even, of several bytes a character."""
    if number % 7 == 3:
        return None
    size = SIZES[number % len(SIZES)]
    if kind in ("BLOB", "BYTE"):
        return random.Random(number).randbytes(size)
    return ("aé€ z漢" * (size // 12 + 1)).encode()[:size].decode("utf-8", "ignore")


def data_of(count: int) -> pa.Table:
    columns: dict[str, Any] = {"k": pa.array(range(count), pa.int32())}
    for kind in KINDS:
        columns[kind.lower()] = pa.array([value(kind, n + len(kind)) for n in range(count)])
        columns[f"tail_{kind.lower()}"] = pa.array([12345 + n for n in range(count)], pa.int32())
    return pa.table(columns)


COLUMNS = "k INTEGER, " + ", ".join(f"{kind.lower()} {kind}, tail_{kind.lower()} INTEGER" for kind in KINDS)
DATA = data_of(24)  # each kind in each size twice: about two megabytes


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    with ifx.connect(url, autocommit=True) as conn:
        for name in ("lob_window", "lob_small"):  # a worker may get more of these tests later
            conn.execute(f"DROP TABLE IF EXISTS {name}")
        conn.execute(f"CREATE TABLE lob_window ({COLUMNS})")
        conn.write_arrow("lob_window", DATA)
        conn.execute("CREATE TABLE lob_small (k INTEGER, b BLOB, y BYTE, tail INTEGER)")
        small = [bytes([n % 251]) * (n % 50) for n in range(300)]
        conn.write_arrow(
            "lob_small",
            pa.table(
                {
                    "k": pa.array(range(300), pa.int32()),
                    "b": pa.array(small),
                    "y": pa.array(small),
                    "tail": pa.array([12345] * 300, pa.int32()),
                }
            ),
        )
    return url


@contextmanager
def counted() -> Iterator[list[Operation]]:
    seen: list[Operation] = []
    observing.add_observer(seen.append)
    try:
        yield seen
    finally:
        observing.remove_observer(seen.append)


@pytest.mark.parametrize(
    ("window", "batch_bytes"),
    [
        (0, 100_000),
        (1, 16 << 20),
        (70_000, 100_000),
        (70_000, 16 << 20),
        (1 << 20, 100_000),
        (1 << 20, 16 << 20),
        (256 << 20, 16 << 20),
    ],
)
def test_every_window_reads_the_same(url: str, window: int, batch_bytes: int) -> None:
    with ifx.connect(url, autocommit=True, lob_window_bytes=window) as conn:
        with conn.query("SELECT * FROM lob_window ORDER BY k", batch_bytes=batch_bytes) as result:
            found = pa.concat_tables(pa.Table.from_batches([batch]) for batch in result.batches())
        assert found.to_pylist() == DATA.to_pylist()
        # The server's own lengths of the stored contents, which are not transferred as large objects.
        lengths = conn.read_arrow(
            "SELECT k, LENGTH(text) n, tail_text t FROM lob_window ORDER BY k"
        ).to_pylist()
        assert [row["n"] for row in lengths] == [
            None if each is None else len(each.encode()) for each in DATA["text"].to_pylist()
        ]


@pytest.mark.parametrize(("window", "count", "smart", "simple"), [(4 << 20, 300, 6, 3), (0, 60, 179, 60)])
def test_round_trips_of_a_read(url: str, window: int, count: int, smart: int, simple: int) -> None:
    """The numbers are exact. 300 objects: two routines looked up, 16 opened; these read and 128 opened; 128 read, and
    so on.

    128 BYTE values are requested at a time. In single steps a BLOB takes an open, a read for its content and one for
    its end; two of 60 are empty.
    """
    sql = {
        column: f"SELECT k, {column}, tail FROM lob_small WHERE k < {count} ORDER BY k"
        for column in ("b", "y")
    }
    with ifx.connect(url, autocommit=True, lob_window_bytes=window) as conn:
        for column, expected in (("b", smart), ("y", simple)):
            conn.read_arrow(f"SELECT k, {column}, tail FROM lob_small WHERE k < 0")
            with counted() as seen:
                found = conn.read_arrow(sql[column])
            assert found["tail"].to_pylist() == [12345] * count
            trips = sum(each.round_trips for each in seen if each.kind == "fetch")
            assert trips == expected, (column, [(each.kind, each.round_trips) for each in seen])


def test_a_call_that_is_ended_in_a_window_leaves_the_connection_usable(url: str) -> None:
    """Whenever the timeout expires, the call returns all rows or raises QueryTimeout, and the next read is complete."""
    with ifx.connect(url, autocommit=True) as conn:
        ended = 0
        for step in range(0, 12, 2):
            try:
                found = conn.read_arrow("SELECT * FROM lob_window ORDER BY k", timeout=0.005 * (step + 1))
                assert found.to_pylist() == DATA.to_pylist()
            except QueryTimeout:
                ended += 1
        assert ended, "no call was ended"
        assert conn.read_arrow("SELECT * FROM lob_window ORDER BY k").to_pylist() == DATA.to_pylist()


def test_asyncio_reads_the_same_windows(url: str) -> None:
    async def main() -> None:
        async with await aio.connect(url, autocommit=True) as conn:
            with counted() as seen:
                found = await conn.read_arrow("SELECT k, b, y, tail FROM lob_small ORDER BY k")
            assert (
                found["b"].to_pylist()
                == found["y"].to_pylist()
                == [bytes([n % 251]) * (n % 50) for n in range(300)]
            )
            assert sum(each.round_trips for each in seen if each.kind == "fetch") <= 12
            task = asyncio.create_task(conn.read_arrow("SELECT * FROM lob_window ORDER BY k"))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            again = await conn.read_arrow("SELECT * FROM lob_window ORDER BY k")
            assert again.to_pylist() == DATA.to_pylist()

    run(main)


# ---- writing ---------------------------------------------------------------------------------------------------------

_names = (f"lob_written_{number}" for number in itertools.count())
WRITTEN = (
    "id SERIAL, k INTEGER PRIMARY KEY, a BLOB, name VARCHAR(20), b CLOB, y BYTE, t TEXT, c BLOB, "
    "tail INTEGER NOT NULL"
)


@pytest.fixture
def name() -> str:
    return next(_names)


def rows_to_write(seed: int, count: int) -> pa.Table:
    """Return rows with objects of all kinds and sizes. Some keys are duplicates, some sentinels are NULL; both are
    refused."""
    random_ = random.Random(seed)
    sizes = (0, 0, 1, 2, 255, 3001, 40_000, 70_001)

    def binary() -> bytes | None:
        return None if random_.random() < 0.2 else random_.randbytes(random_.choice(sizes))

    def text() -> str | None:
        return None if random_.random() < 0.2 else ("é€z" * 30_000)[: random_.choice(sizes) // 2]

    rows = [
        {
            "k": n - 3 if n > 10 and random_.random() < 0.04 else n,
            "b": text(),
            "y": binary(),
            "name": f"row {n}, it's",
            "t": text(),
            "c": binary(),
            "tail": None if random_.random() < 0.02 else 4711 + n,
            "a": binary(),
        }
        for n in range(count)
    ]
    types = {"k": pa.int32(), "tail": pa.int32(), "a": pa.binary(), "c": pa.binary(), "y": pa.binary()}
    schema = pa.schema([(key, types.get(key, pa.string())) for key in rows[0]])
    return pa.Table.from_pylist(rows, schema)


def written(
    url: str, window: int | None, name: str, data: Any, **options: Any
) -> tuple[str, list[dict[str, Any]]]:
    """Return the report or error of a load, and the rows of the table in the order in which they were inserted."""
    with ifx.connect(url, autocommit=True) as other:
        other.execute(f"CREATE TABLE {name} ({WRITTEN})")
        try:
            with ifx.connect(url, autocommit=True, lob_window_bytes=window) as conn:
                said: object
                try:
                    report = conn.write_arrow(name, data, **options)
                    said = (report.rows, report.commits, report.serial, report.rejected.to_pylist())
                except ifx.Error as error:
                    said = (
                        type(error),
                        error.sqlcode,
                        error.isamcode,
                        error.row,
                        str(error).replace(name, "T"),
                    )
                assert not conn.in_transaction
                told = re.sub(r"informix\.u\d+_\d+", "the key", str(said))
                # read with the default window: other tests compare the windows of reads
                return told, other.read_arrow(f"SELECT * FROM {name} ORDER BY id").to_pylist()
        finally:
            other.execute(f"DROP TABLE {name}")


COLLECT = {"on_error": "collect"}
WINDOW_OPTIONS: list[dict[str, Any]] = [{}, COLLECT, {**COLLECT, "commit_every": 7}]


@pytest.mark.parametrize(
    ("seed", "count", "options"),
    [
        (0, 1, {}),  # a single row, which neither option concerns
        *((6, 16, options) for options in WINDOW_OPTIONS),
        *(pytest.param(3, 60, options, marks=LONG_SOAK_ONLY) for options in WINDOW_OPTIONS),
    ],
    ids=str,
)
def test_every_window_writes_the_same(
    url: str, name: str, seed: int, count: int, options: dict[str, Any]
) -> None:
    """Rows, their order (from a SERIAL), refused rows, commits and errors are those of single steps."""
    data = rows_to_write(seed, count)
    found = []
    for window in (0, 1, 50_000, 4 << 20):
        found.append(written(url, window, name, data, **options))
    assert found[1:] == found[:1] * 3
    assert found[0][1] or not options


def test_a_commit_that_fails_rows_behind_it_keeps_those_before(url: str, name: str) -> None:
    data = rows_to_write(2, 24).set_column(0, "k", pa.array([*range(16), 3, *range(17, 24)], pa.int32()))
    data = data.set_column(6, "tail", pa.array(range(24), pa.int32()))
    found = []
    for window in (0, 4 << 20):
        found.append(written(url, window, name, data, commit_every=5))
    assert found[1] == found[0]
    assert [row["k"] for row in found[0][1]] == list(range(15))


def test_window_bytes_of_the_call_bounds_contents_too(url: str, name: str) -> None:
    data = pa.table(
        {
            "k": pa.array(range(20), pa.int32()),
            "a": [bytes(1000)] * 20,
            "tail": pa.array([1] * 20, pa.int32()),
        }
    )
    trips = []
    for window_bytes in (1000, 6000, 1 << 20):
        with ifx.connect(url, autocommit=True) as conn, counted() as seen:
            conn.execute(f"CREATE TABLE {name} ({WRITTEN})")
            conn.write_arrow(name, data, window_bytes=window_bytes)
            conn.execute(f"DROP TABLE {name}")
        trips.append(next(each.round_trips for each in seen if each.kind == "load"))
    assert trips[0] - trips[2] == 19
    assert trips[1] - trips[2] == 3


@pytest.mark.parametrize("window", [1, 3000, 40_000, 200_000])
def test_no_more_is_sent_ahead_than_two_windows(
    url: str, name: str, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    """The contents of one window of rows, and the rows of another with their BYTE and TEXT values. Beyond that, a
    single row and its messages."""
    flights: list[int] = []

    def counted_send(session: Session, data: bytes | bytearray) -> Any:
        flights.append(len(data))
        return bulk_insert.send_group(session, data)

    monkeypatch.setattr(object_pipeline, "send_group", counted_send)
    data = rows_to_write(7, 20)
    largest = max(sum(len(row[key] or "") for key in ("y", "t")) for row in data.to_pylist())
    written(url, window, name, data, on_error="collect")
    assert len(flights) > 3
    rows = min(MAX_OBJECTS, max(2, window))
    assert max(flights) <= 2 * window + 3 * largest + rows * 3 * 2000


def test_what_was_written_is_what_the_server_hands_out_as_files(url: str, name: str) -> None:
    """LOTOFILE writes the contents on the server's own path, without windows or descriptors."""
    data = rows_to_write(5, 12).set_column(6, "tail", pa.array(range(12), pa.int32()))
    data = data.set_column(0, "k", pa.array(range(12), pa.int32()))
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute(f"CREATE TABLE {name} ({WRITTEN})")
        conn.write_arrow(name, data)
        for row in data.to_pylist():
            for column in ("a", "b", "c"):
                files: dict[str, bytes] = {}
                with conn.client_files({"out": files}):
                    conn.execute(
                        f"SELECT LOTOFILE({column}, 'out', 'client') FROM {name} WHERE k = ?", (row["k"],)
                    ).fetchall()
                expected = row[column].encode() if isinstance(row[column], str) else row[column]
                assert list(files.values()) == ([] if expected is None else [expected])
        conn.execute(f"DROP TABLE {name}")


class Faults:
    """Makes steps of the server fail: creating and writing objects, by their number."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.creates = self.writes = 0
        self.bad_creates: set[int] | range = set()
        self.bad_writes: set[int] | range = set()
        self.error: Callable[[], BaseException] = lambda: SqlError(-9810, -111, near="no room")
        self.open = 0
        create, write, add, close = (
            FastPathHandler._lo_create,
            SmartObjectHandler._lo_write,
            OpenObjectTable.add,
            OpenObjectTable.close,
        )

        def lo_create(path: FastPathHandler, *arguments: Any) -> Any:
            self.creates += 1
            if self.creates - 1 in self.bad_creates:
                raise self.error()
            return create(path, *arguments)

        def lo_write(objects: SmartObjectHandler, *arguments: Any) -> None:
            self.writes += 1
            if self.writes - 1 in self.bad_writes:
                raise self.error()
            write(objects, *arguments)

        def added(objects: OpenObjectTable, *arguments: Any) -> int:
            self.open += 1
            return add(objects, *arguments)

        def closed(objects: OpenObjectTable, number: int) -> None:
            close(objects, number)
            self.open -= 1

        monkeypatch.setattr(FastPathHandler, "_lo_create", lo_create)
        monkeypatch.setattr(SmartObjectHandler, "_lo_write", lo_write)
        monkeypatch.setattr(OpenObjectTable, "add", added)
        monkeypatch.setattr(OpenObjectTable, "close", closed)


@pytest.fixture(scope="module")
def step_by_step() -> dict[str, Any]:
    """Results of loads without windows by their options. They are the same for all faults."""
    return {}


@pytest.mark.parametrize(
    ("creates", "writes", "options"),
    [
        ({0}, (), COLLECT),
        ({5, 6, 30}, {0, 9}, COLLECT),
        ((), {20}, COLLECT),
        (range(25, 1000), (), COLLECT),
        (range(1000), (), COLLECT),
        ((), range(1000), COLLECT),
        # The first row that is refused ends these.
        ({5, 6, 30}, {0, 9}, {}),
        (range(1000), (), {}),
        ((), range(1000), {}),
    ],
    ids=str,
)
def test_a_row_whose_objects_cannot_be_made_ahead_goes_alone_in_its_place(
    url: str,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    step_by_step: dict[str, Any],
    creates: Any,
    writes: Any,
    options: dict[str, Any],
) -> None:
    """The server accepts few open objects, like real ones: no row is lost or changes its place, no object stays
    open."""
    data = rows_to_write(42, 16)  # two rows are refused
    if str(options) not in step_by_step:
        step_by_step[str(options)] = written(url, 0, name, data, **options)
    faults = Faults(monkeypatch)
    faults.bad_creates, faults.bad_writes = creates, writes
    assert written(url, 100_000, name, data, **options) == step_by_step[str(options)]
    assert faults.open == 0
    if creates == range(1000):
        assert faults.creates < 50  # the load stops trying


def test_rows_whose_contents_the_server_refuses_are_set_aside(
    url: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With each method, refused rows are reported with the error of a single step, and all others are inserted."""
    data = pa.table(
        {
            "k": pa.array(range(12), pa.int32()),
            "a": [b"bad" if n in (0, 5, 6, 11) else bytes([n]) for n in range(12)],
            "tail": pa.array(range(12), pa.int32()),
        }
    )
    load_one, write = SmartObjectStore.load, SmartObjectStore.write

    def refuse(chunks: Any) -> Any:
        content = b"".join(chunks)
        if content == b"bad":
            raise SqlError(-9810, -131, near="sbspace1")
        return [content]

    monkeypatch.setattr(
        SmartObjectStore, "load", lambda lobs, kind, chunks: load_one(lobs, kind, refuse(chunks))
    )
    monkeypatch.setattr(
        SmartObjectStore, "write", lambda lobs, locator, at, data: write(lobs, locator, at, refuse([data])[0])
    )
    found = []
    for window in (0, 10, 4 << 20):
        found.append(written(url, window, name, data))
        monkeypatch.setattr("informix_arrow.operations.bulk_insert._NO_MORE_SPACE", ())
        found.append(written(url, window, name, data, on_error="collect"))
        monkeypatch.undo()
        monkeypatch.setattr(
            SmartObjectStore, "load", lambda lobs, kind, chunks: load_one(lobs, kind, refuse(chunks))
        )
        monkeypatch.setattr(
            SmartObjectStore,
            "write",
            lambda lobs, locator, at, data: write(lobs, locator, at, refuse([data])[0]),
        )
    assert found[2:4] == found[4:] == found[:2]
    assert [row["k"] for row in found[1][1]] == [n for n in range(12) if n not in (0, 5, 6, 11)]


@pytest.mark.parametrize(
    "step", [0, 1, 20, 60, *(pytest.param(step, marks=LONG_SOAK_ONLY) for step in (59, 80))]
)
def test_a_server_that_goes_away_in_a_window_leaves_nothing_of_the_load(
    url: str, name: str, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    faults = Faults(monkeypatch)
    faults.bad_creates, faults.bad_writes = {step}, {step}
    faults.error = lambda: ClientDisconnected("killed")
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute(f"CREATE TABLE {name} ({WRITTEN})")
        conn.write_arrow(name, rows_to_write(0, 1).select(["k", "tail"]))
        conn2 = ifx.connect(url, autocommit=True, lob_window_bytes=60_000)
        with pytest.raises(ifx.OperationalError, match="closed the connection"):
            conn2.write_arrow(name, rows_to_write(3, 100).slice(2), on_error="collect")
        assert conn2.closed
        conn2.close()
        assert conn.read_arrow(f"SELECT k FROM {name}", lock_wait=30).num_rows == 1
        conn.execute(f"DROP TABLE {name}")


def test_a_load_that_is_ended_in_a_window_is_undone(url: str, name: str) -> None:
    data = rows_to_write(5, 30).set_column(6, "tail", pa.array(range(30), pa.int32()))
    data = data.set_column(0, "k", pa.array(range(30), pa.int32()))
    with ifx.connect(url, autocommit=True) as conn:
        conn.execute(f"CREATE TABLE {name} ({WRITTEN})")
        ended = 0
        for step in range(0, 12, 2):
            try:
                conn.write_arrow(name, data, timeout=0.005 * (step + 1))
                conn.execute(f"DELETE FROM {name}")
            except QueryTimeout:
                ended += 1
            assert conn.read_arrow(f"SELECT k FROM {name}").num_rows == 0
        assert ended, "no load was ended"
        conn.write_arrow(name, data)
        assert conn.read_arrow(f"SELECT COUNT(*) n FROM {name}").to_pylist() == [{"n": 30}]
        conn.execute(f"DROP TABLE {name}")


def test_data_that_fails_in_the_middle_ends_the_load_as_step_by_step(url: str, name: str) -> None:
    data = rows_to_write(5, 30).set_column(6, "tail", pa.array(range(30), pa.int32()))
    data = data.set_column(0, "k", pa.array(range(30), pa.int32()))

    def batches() -> Iterator[pa.RecordBatch]:
        yield from data.to_batches(max_chunksize=11)
        raise KeyError("the data is broken")

    for window in (0, 4 << 20):
        with ifx.connect(url, autocommit=True, lob_window_bytes=window) as conn:
            conn.execute(f"CREATE TABLE {name} ({WRITTEN})")
            reader = pa.RecordBatchReader.from_batches(data.schema, batches())
            with pytest.raises(Exception, match="the data is broken"):
                conn.write_arrow(name, reader, commit_every=8)
            assert conn.read_arrow(f"SELECT k FROM {name} ORDER BY id")["k"].to_pylist() == list(range(24))
            conn.execute(f"DROP TABLE {name}")


def test_in_an_open_transaction_a_failed_load_is_undone_alone(url: str, name: str) -> None:
    data = rows_to_write(4, 30)  # two rows are refused
    with ifx.connect(url) as conn:
        conn.execute(f"CREATE TABLE {name} ({WRITTEN})")
        conn.execute(f"INSERT INTO {name} (k, tail) VALUES (-1, 1)")
        with pytest.raises(ifx.IntegrityError):
            conn.write_arrow(name, data)
        assert conn.read_arrow(f"SELECT k FROM {name}")["k"].to_pylist() == [-1]
        report = conn.write_arrow(name, data, on_error="collect")
        assert report.transaction == "savepoint"
        conn.commit()
        assert conn.read_arrow(f"SELECT COUNT(*) n FROM {name}").to_pylist() == [{"n": report.rows + 1}]
        conn.execute(f"DROP TABLE {name}")
        conn.commit()


def test_an_unlogged_database_stops_at_the_row_that_is_refused(server: Server) -> None:
    """Nothing can be rolled back there, so the load sends nothing after a row that may fail, unless
    on_error="collect"."""
    data = pa.table(
        {
            "k": pa.array([0, 1, 2, 1, 4], pa.int32()),
            "a": [bytes([n]) for n in range(5)],
            "tail": pa.array(range(5), pa.int32()),
        }
    )
    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {database_name(server, 'lob_unlogged')}")
    unlogged = server.url("lob_unlogged")
    _, rows = written(unlogged, None, "t", data)
    assert [row["k"] for row in rows] == [0, 1, 2]
    _, rows = written(unlogged, None, "t", data, on_error="collect")
    assert [row["k"] for row in rows] == [0, 1, 2, 4]
    assert [row["a"] for row in rows] == [bytes([n]) for n in (0, 1, 2, 4)]
    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        conn.execute(f"DROP DATABASE {database_name(server, 'lob_unlogged')}")


def test_asyncio_writes_the_same_windows(url: str, name: str) -> None:
    data = rows_to_write(5, 20).set_column(6, "tail", pa.array(range(20), pa.int32()))
    data = data.set_column(0, "k", pa.array(range(20), pa.int32()))

    async def main() -> None:
        async with await aio.connect(url, autocommit=True) as conn:
            await conn.execute(f"CREATE TABLE {name} ({WRITTEN})")
            tasks: list[asyncio.Task[Any]] = []

            def cancel(rows: int, size: int, seconds: float) -> None:
                assert rows < 20
                tasks[0].cancel()

            loading = conn.write_arrow(name, data, progress=cancel, window_bytes=50_000)
            tasks.append(asyncio.ensure_future(loading))
            with pytest.raises(asyncio.CancelledError):
                await tasks[0]
        # A cancellation outside a wait closes the connection (docs/connecting.md).
        async with await aio.connect(url, autocommit=True, lock_wait=30) as conn:
            assert (await conn.read_arrow(f"SELECT k FROM {name}")).num_rows == 0
            report = await conn.write_arrow(name, data)
            assert (report.rows, report.method) == (20, "pipeline")
            names = ", ".join(data.column_names)
            found = await conn.read_arrow(f"SELECT {names} FROM {name} ORDER BY id")
            assert found.to_pylist() == data.to_pylist()
            await conn.execute(f"DROP TABLE {name}")

    run(main)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("count", "trips_to_read", "trips_to_write"),
    [(140, 9, 11), pytest.param(1000, 20, 30, marks=LONG_SOAK_ONLY)],
)
def test_many_objects_over_a_slow_link(
    url: str, kind: str, count: int, trips_to_read: int, trips_to_write: int
) -> None:
    """Objects of 10 kB over a link of 20 ms: 1,000 are read in at most 20 round trips and written in 30."""
    contents = [random.Random(n).randbytes(5_000).hex() for n in range(count)]
    data = pa.table(
        {
            "k": pa.array(range(count), pa.int32()),
            "v": contents if kind in ("CLOB", "TEXT") else [each.encode() for each in contents],
            "tail": pa.array([12345] * count, pa.int32()),
        }
    )
    name = f"lob_link_{kind}"
    place = urlparse(url)
    assert place.hostname
    assert place.port
    with SlowLink((place.hostname, place.port), 0.02) as link:
        slow = url.replace(f"{place.hostname}:{place.port}", f"127.0.0.1:{link.address[1]}")
        with ifx.connect(slow, autocommit=True) as conn:
            conn.execute(f"CREATE TABLE {name} (k INTEGER, v {kind}, tail INTEGER)")
            before = link.round_trips
            conn.write_arrow(name, data)
            written_in = link.round_trips - before
            before = link.round_trips
            found = conn.read_arrow(f"SELECT k, v, tail FROM {name} ORDER BY k")
            read_in = link.round_trips - before
            assert written_in <= trips_to_write
            assert read_in <= trips_to_read
            assert found.to_pylist() == data.to_pylist()
            conn.execute(f"DROP TABLE {name}")
