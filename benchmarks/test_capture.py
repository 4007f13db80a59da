"""Change capture: rows per second beside Debezium on the same changes, the client's CPU, the delay from COMMIT to the
transaction in a client's hands, memory, what logging costs loads, and that it costs nothing where nobody captures.

The changes are 1,000,000 inserted rows of five columns, in transactions of 10,000; INFORMIX_ARROW_BENCH_LARGE=1 lets
Debezium read all of them too, not the first 100,000, and memory be measured over 10,000,000.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx

from .conftest import Address, serving
from .measuring import percentiles
from .peers.debezium import follower
from .tables import SEED, seed_table

CHILD = Path(__file__).parent / "capture_child.py"
LARGE = bool(os.environ.get("INFORMIX_ARROW_BENCH_LARGE"))
ROWS, TRANSACTION = 1_000_000, 10_000
THEIRS = ROWS if LARGE else 100_000
pytestmark = pytest.mark.timeout(3600)
SUBJECT = f"capture {ROWS:,} inserted rows"
TABLE = "bench_changes"


def load(conn: ifx.Connection, table: str, rows: int) -> None:
    """Insert rows in transactions of TRANSACTION."""
    data = seed_table(rows)
    for start in range(0, rows, TRANSACTION):
        conn.write_arrow(table, data.slice(start, TRANSACTION))


def begun(url: str, table: str) -> str:
    """Begin a capture, and give the token of this moment."""
    with ifx.capture(url, [table], idle=0, timeout=1) as changes:
        assert list(changes) == []
        assert changes.token is not None
        return changes.token


@pytest.fixture(scope="module")
def url(address: Address) -> str:
    return f"informix://informix:in4mix@{address.host}:{address.port}/stores_demo?server=informix"


@pytest.fixture(scope="module")
def debezium(
    address: Address, url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[object, str]]:
    """A follower that has seen a mark, the token of that moment, and ROWS changes behind both."""
    with address.ours(autocommit=True, lock_wait=60) as conn:
        conn.execute(f"CREATE TABLE {TABLE} ({SEED})")
        peer = follower(tmp_path_factory.mktemp("debezium"), address.host, address.port, TABLE)
        marked = threading.Thread(target=peer.ask, args=("mark",))
        marked.start()
        while marked.is_alive():  # what was inserted before it had begun to stream does not come
            conn.execute(f"INSERT INTO {TABLE} VALUES (-1, 'mark', 0, 0, TODAY)")
            marked.join(0.5)
        token = begun(url, TABLE)
        load(conn, TABLE, ROWS)
    yield peer, token
    peer.close()


@pytest.mark.parametrize("records", [64, 100])
def test_capture(benchmark: BenchmarkFixture, debezium: tuple[object, str], url: str, records: int) -> None:
    cpu: list[float] = []

    def read() -> None:
        at, rows = time.process_time(), 0
        with ifx.capture(url, [TABLE], start=debezium[1], timeout=1, max_records=records) as changes:
            for transaction in changes:
                rows += transaction.rows
                if rows == ROWS:
                    break
        cpu.append(time.process_time() - at)

    benchmark.group = SUBJECT
    benchmark.pedantic(read, rounds=5, warmup_rounds=1)
    _told(benchmark, f"capture(max_records={records})", ROWS, statistics.median(cpu[1:]) / ROWS * 1e9)


def test_debezium(benchmark: BenchmarkFixture, debezium: tuple[object, str]) -> None:
    """From the first event to the last, by its own clock: its start does not count."""
    benchmark.group = SUBJECT
    (seconds,) = benchmark.pedantic(debezium[0].seconds, args=(f"follow {THEIRS}",), rounds=1)  # type: ignore[attr-defined]
    _told(benchmark, "Debezium's embedded engine", THEIRS)
    benchmark.extra_info.update(ns_per_row=seconds / THEIRS * 1e9, rows_per_second=THEIRS / seconds)


def _told(benchmark: BenchmarkFixture, who: str, rows: int, cpu: float | None = None) -> None:
    stats = benchmark.stats.stats  # type: ignore[union-attr]
    benchmark.extra_info.update(
        subject=SUBJECT,
        who=who,
        rows=rows,
        ns_per_row=stats.median / rows * 1e9,
        ns_per_row_iqr=stats.iqr / rows * 1e9,
        rows_per_second=rows / stats.median,
    )
    if cpu is not None:
        benchmark.extra_info["client_cpu_ns_per_row"] = cpu


def test_delay(benchmark: BenchmarkFixture, address: Address, url: str) -> None:
    """From when COMMIT was sent to the transaction in the hands of somebody who waits for it."""
    with address.ours() as conn:
        conn.execute(f"CREATE TABLE bench_delay ({SEED})")
        conn.commit()
        arrived: dict[int, float] = {}
        there = threading.Event()

        def follow(changes: ifx.Changes) -> None:
            for transaction in changes:
                now = time.perf_counter()
                for change in transaction.batches:
                    arrived.update(dict.fromkeys(change.data.column("k").to_pylist(), now))
                there.set()
                if -1 in arrived:
                    break

        def commit(key: int) -> float:
            there.clear()
            conn.execute("INSERT INTO bench_delay VALUES (?, 'delay', 0, 0, TODAY)", (key,))
            at = time.perf_counter()
            conn.commit()
            assert there.wait(30)
            return arrived[key] - at

        with ifx.capture(url, ["bench_delay"], timeout=1) as changes:
            reader = threading.Thread(target=follow, args=(changes,))
            reader.start()
            keys = iter(range(10_000))
            found: list[float] = []
            benchmark.group = "from COMMIT to the captured transaction"
            benchmark.pedantic(lambda: found.append(commit(next(keys))), rounds=300, warmup_rounds=5)
            commit(-1)
            reader.join()
    benchmark.extra_info.update(
        subject=benchmark.group,
        who="capture()",
        rows=1,
        **percentiles(found[5:]),
        ns_per_row=statistics.median(found) * 1e9,
    )


@pytest.mark.parametrize("rows", [1_000_000, *([10_000_000] if LARGE else [])])
def test_growth(benchmark: BenchmarkFixture, address: Address, url: str, rows: int) -> None:
    """What a capture that only counts adds to its process, from the first 100,000 changes to the last."""
    table = f"bench_growth_{rows}"
    with address.ours(autocommit=True) as conn:
        conn.execute(f"CREATE TABLE {table} ({SEED})")
        token = begun(url, table)
        for _ in range(rows // ROWS):
            load(conn, table, ROWS)
    command = [sys.executable, str(CHILD), url, table, token, str(rows)]

    def child() -> dict[str, float]:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    benchmark.group = "memory of a capture"
    found = benchmark.pedantic(child, rounds=1)
    benchmark.extra_info.update(subject=f"memory for {rows:,} changes", who="capture()", rows=rows, **found)


@pytest.mark.parametrize("logged", ["nothing", "another table", "the table"])
def test_load(benchmark: BenchmarkFixture, address: Address, url: str, logged: str) -> None:
    """100,000 rows by write_arrow while the rows of some table are logged in full."""
    rows = 100_000
    data = seed_table(rows)
    with address.ours(autocommit=True) as conn:
        name = f"bench_load_{logged.replace(' ', '_')}"
        conn.execute(f"CREATE TABLE {name} ({SEED})")
        conn.execute(f"CREATE TABLE {name}_2 ({SEED})")
        watched = {"nothing": [], "another table": [f"{name}_2"], "the table": [name]}[logged]
        for table in watched:
            begun(url, table)
        benchmark.group = f"load {rows:,} rows beside change capture"
        benchmark.pedantic(
            lambda: conn.write_arrow(name, data),
            setup=lambda: conn.execute(f"TRUNCATE TABLE {name}").close(),
            rounds=10,
            warmup_rounds=1,
        )
        if watched:
            ifx.capture_off(url, watched)
    stats = benchmark.stats.stats  # type: ignore[union-attr]
    benchmark.extra_info.update(
        subject=benchmark.group,
        who=f"{logged} is logged in full",
        rows=rows,
        ns_per_row=stats.median / rows * 1e9,
        rows_per_second=rows / stats.median,
    )


def _cpu(pid: int) -> float:
    """Nanoseconds that the threads of a process have had."""
    return float(
        sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    )


@pytest.mark.parametrize("work", ["load", "single rows"])
def test_what_capture_costs_others(benchmark: BenchmarkFixture, work: str) -> None:
    """The server's CPU for a table that nobody captures, while another one is captured and while none is: in turns, on
    one server, the least of many."""
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("the system does not count the CPU of threads in nanoseconds")
    rows = 100_000 if work == "load" else 2_000
    data = seed_table(rows)
    found: dict[str, list[float]] = {"no table": [], "another table": []}
    with serving() as (address, pid), address.ours(autocommit=True) as conn, conn.cursor() as cursor:
        url = f"informix://informix:in4mix@{address.host}:{address.port}/stores_demo?server=informix"
        for name in ("loaded", "watched"):
            conn.execute(f"CREATE TABLE {name} ({SEED})")
        values = [tuple(row.values()) for row in data.to_pylist()] if work == "single rows" else []

        def once() -> float:
            conn.execute("TRUNCATE TABLE loaded")
            at = _cpu(pid)
            if work == "load":
                conn.write_arrow("loaded", data)
            else:
                for row in values:
                    cursor.execute("INSERT INTO loaded VALUES (?, ?, ?, ?, ?)", row)
            return (_cpu(pid) - at) / rows

        def pair() -> None:
            once()  # plans are made anew when logging was switched
            found["no table"].append(min(once() for _ in range(3)))
            with ifx.capture(url, ["watched"], timeout=1):
                once()
                found["another table"].append(min(once() for _ in range(3)))
            ifx.capture_off(url, ["watched"])

        benchmark.group = f"what capture of another table costs: {work}"
        benchmark.pedantic(pair, rounds=10, warmup_rounds=1)
    benchmark.extra_info.update(
        subject=benchmark.group,
        who="the server's CPU per row",
        rows=rows,
        **{f"ns_{name.replace(' ', '_')}": min(each[1:]) for name, each in found.items()},
        ratio_of_pairs=statistics.median(
            b / a for a, b in zip(found["no table"][1:], found["another table"][1:], strict=True)
        ),
    )
