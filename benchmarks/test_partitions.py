"""What a second connection gains where the client is the limit: a table in two parts, said again by recorded dialogues.

One connection reads both parts one after the other, or two read one each; the same code, `partition_read`'s, does both.
A process for each connection sends what was recorded, so that no server has work to do. It takes CPU all the same, as
the kernel does its half of TCP on its account: a third of the client's with 2,000,000 narrow rows, so that two
connections on two cores have less to gain there. 100 columns of dear types (of code set 8859-1, DECIMAL as text and as
decimal128, DATETIME, INTERVAL) do: read by one connection and by two in turns, with the CPU of both sides.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx
from informix_arrow.core.ordered_merge import DEFAULT_BUDGET, MemoryBudget
from informix_arrow.core.read_options import ReadKeywords
from informix_arrow.dsn import Parameters
from informix_arrow.partition.result import PartitionedResult, PartitionReaders
from informix_arrow.server import Server

from .conftest import Address
from .dialogue import Dialogue, Replay, record
from .measuring import measure

ROWS = 1_000_000
PARTS = 2
FETCH = 1 << 20


def read(
    addresses: Sequence[tuple[str, int]], sql: str, options: ReadKeywords | None = None, **login: Any
) -> int:
    """Read the parts by a connection to each address; how many rows there were."""
    turns = itertools.count()

    def opened(settings: Parameters) -> ifx.Connection:
        arguments = {**Address(*addresses[next(turns)]).arguments, **login}
        return ifx.connect(**arguments, autocommit=True, fetch_buffer_size=FETCH)

    shares = MemoryBudget.divide(DEFAULT_BUDGET, len(addresses), 16 << 20, FETCH)
    settings = Parameters(host="", user="", password="", server="")
    plan = [ifx.Partition(number, sql) for number in range(PARTS)]
    readers = PartitionReaders(
        plan, opened, settings, shares, ordered=False, timeout=None, options=options or {}
    )
    with PartitionedResult(readers, readers.start(None)) as result:
        return sum(batch.num_rows for batch in result.batches())


@pytest.mark.parametrize("connections", [1, 2])
def test_two_parts_of_a_recorded_table(
    benchmark: BenchmarkFixture, address: Address, seeded: Callable[[int], str], connections: int
) -> None:
    sql = f"SELECT k, name, n, x, d FROM {seeded(ROWS)}"
    # Either may be done with its part, and take the other one, before the other has connected.
    recorded = record((address.host, address.port), lambda host, port: read([(host, port)], sql))
    with contextlib.ExitStack() as stack:
        replays = [stack.enter_context(Replay(recorded)) for _ in range(connections)]
        addresses = [replay.address for replay in replays]

        def work() -> None:
            assert read(addresses, sql) == PARTS * ROWS

        who = "one connection" if connections == 1 else "two connections"
        measure(
            benchmark, "a recorded table of 2,000,000 rows", who, work, rows=PARTS * ROWS, workers=connections
        )


DEAR_ROWS, DEAR_COLUMNS = 40_000, 100
DEAR: dict[str, Callable[[Any], pa.Array]] = {
    "DECIMAL(16)": lambda n: pa.array([str(Decimal(int(i) * 1003).scaleb(-3)) for i in n]),
    "DATETIME YEAR TO FRACTION(5)": lambda n: pa.array(n * 1_000_010 + 1_700_000_000_000_000).cast(
        pa.timestamp("us")
    ),
    "VARCHAR(30)": lambda n: pa.array([f"Straße {i % 10} à Genève" for i in n]),
    "DECIMAL(9,2)": lambda n: pa.array([Decimal(int(i) * 103).scaleb(-2) for i in n], pa.decimal128(9, 2)),
    "INTERVAL DAY(4) TO FRACTION(3)": lambda n: pa.array(n * 1_000).cast(pa.duration("ms")),
}
"""Types that cost the client some 2 to 6 nanoseconds a byte, and values of them."""
TEXTS: ReadKeywords = {"floating_decimals": "string"}
NARROW: dict[str, Any] = {
    "database": "narrow",
    "db_locale": "en_US.8859-1",
    "client_locale": "en_US.8859-1",
}


@pytest.fixture(scope="module")
def dear() -> Iterator[Dialogue]:
    """Both parts of the table with 100 columns, as one connection has read them."""
    numbers = np.arange(DEAR_ROWS, dtype=np.int64)
    made = [values(numbers) for values in DEAR.values()]
    kinds = list(DEAR)
    names = [f"c{number}" for number in range(DEAR_COLUMNS)]
    declared = ", ".join(f"{name} {kinds[number % len(kinds)]}" for number, name in enumerate(names))
    table = pa.table([made[number % len(made)] for number in range(DEAR_COLUMNS)], names)
    with Server() as server:
        server.create_database("narrow", locale=NARROW["db_locale"])
        with ifx.connect(**{**Address(*server.address).arguments, **NARROW}, autocommit=True) as conn:
            conn.execute(f"CREATE TABLE dear ({declared})")
            conn.write_arrow("dear", table)
        yield record(
            server.address, lambda host, port: read([(host, port)], "SELECT * FROM dear", TEXTS, **NARROW)
        )


def cpu(pid: int) -> float:
    """Seconds that the threads of a process have had."""
    return (
        sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9
    )


def test_two_parts_of_dear_columns(benchmark: Any, dear: Dialogue) -> None:
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("the system does not count the CPU of threads in nanoseconds")
    measured: dict[str, list[tuple[float, float, float]]] = {"one connection": [], "two connections": []}
    with contextlib.ExitStack() as stack:
        replays = [stack.enter_context(Replay(dear)) for _ in range(PARTS)]

        def turn() -> None:
            for count, times in enumerate(measured.values(), 1):
                addresses = [replay.address for replay in replays[:count]]
                players = sum(cpu(replay.pid) for replay in replays)
                at, used = time.perf_counter(), time.process_time()
                assert read(addresses, "SELECT * FROM dear", TEXTS, **NARROW) == PARTS * DEAR_ROWS
                wall = time.perf_counter() - at
                used = time.process_time() - used
                times.append((wall, used, sum(cpu(replay.pid) for replay in replays) - players))

        benchmark.group = f"a recorded table of {PARTS * DEAR_ROWS:,} rows, {DEAR_COLUMNS} dear columns"
        benchmark.pedantic(turn, rounds=15, warmup_rounds=1)
    for who, times in measured.items():
        wall, client, players = zip(*times[1:], strict=True)
        benchmark.extra_info[who] = found = {
            "wall_ms": 1e3 * statistics.median(wall),
            "least_wall_ms": 1e3 * min(wall),
            "client_cpu_ms": 1e3 * statistics.median(client),
            "players_cpu_ms": 1e3 * statistics.median(players),
            "client_cpu_ns_per_row": 1e9 * statistics.median(client) / PARTS / DEAR_ROWS,
        }
        print(f"{who}: " + ", ".join(f"{name} {value:,.0f}" for name, value in found.items()))
    one, two = ([wall for wall, _, _ in times[1:]] for times in measured.values())
    pairs = statistics.median(each / other for each, other in zip(one, two, strict=True))
    benchmark.extra_info.update(times=pairs, least_times=min(one) / min(two))
    print(
        f"two connections are {pairs:.2f} times as fast, median of pairs; {min(one) / min(two):.2f} by the least"
    )
