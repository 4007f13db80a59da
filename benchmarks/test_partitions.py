"""What a second connection gains where the client is the limit: a table in two parts, said again by recorded dialogues.

One connection reads both parts one after the other, or two read one each; the same code, `partition_read`'s, does both.
A process for each connection sends what was recorded, so that no server has work to do.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx
from informix_arrow.dsn import Parameters
from informix_arrow.front.gathering import DEFAULT_BUDGET, Shares
from informix_arrow.parallel import PartitionedResult, Readers

from .conftest import Address
from .dialogue import Replay, record
from .measuring import measure

ROWS = 1_000_000
PARTS = 2
FETCH = 1 << 20


def read(addresses: Sequence[tuple[str, int]], sql: str, parts: int = PARTS) -> int:
    """Read the parts by a connection to each address; how many rows there were."""
    turns = itertools.count()

    def opened(settings: Parameters) -> ifx.Connection:
        return Address(*addresses[next(turns)]).ours(autocommit=True, fetch_buffer_size=FETCH)

    shares = Shares.of(DEFAULT_BUDGET, len(addresses), 16 << 20, FETCH)
    settings = Parameters(host="", user="", password="", server="")
    plan = [ifx.Partition(number, sql) for number in range(parts)]
    readers = Readers(plan, opened, settings, shares, ordered=False, timeout=None, options={})
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
