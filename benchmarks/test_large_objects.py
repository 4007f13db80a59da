"""Large objects over a link of 20 ms: ahead of their answers and one step at a time, with counted round trips.

python -m pytest benchmarks/test_large_objects.py --benchmark-only
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx

from .conftest import Address
from .link import SlowLink

OBJECTS, SIZE = 1000, 10_000
SECONDS = 0.02
pytestmark = pytest.mark.timeout(900)  # a step at a time takes minutes
WAYS = {"ahead": 4 << 20, "one step at a time": 0}


@pytest.fixture(scope="module")
def data() -> pa.Table:
    """1,000 contents of 10 kB, a number before and behind each."""
    numbers = pa.array(range(OBJECTS), pa.int32())
    contents = pa.array([random.Random(n).randbytes(SIZE) for n in range(OBJECTS)])
    return pa.table({"k": numbers, "v": contents, "tail": numbers})


@pytest.fixture
def link(address: Address) -> Iterator[SlowLink]:
    with SlowLink((address.host, address.port), SECONDS) as link:
        yield link


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def slow(link: SlowLink, way: str) -> Iterator[ifx.Connection]:
    with Address(*link.address).ours(autocommit=True, lob_window_bytes=WAYS[way]) as connection:
        yield connection


@pytest.mark.parametrize("kind", ["BLOB", "BYTE"])
def test_read(
    benchmark: BenchmarkFixture,
    address: Address,
    data: pa.Table,
    link: SlowLink,
    slow: ifx.Connection,
    way: str,
    kind: str,
) -> None:
    with address.ours(autocommit=True) as near:
        near.execute(f"CREATE TABLE bench_lobs (k INT, v {kind}, tail INT)")
        try:
            near.write_arrow("bench_lobs", data)
            before = link.round_trips
            found = benchmark.pedantic(slow.read_arrow, ("SELECT * FROM bench_lobs ORDER BY k",))
            assert found.equals(data.cast(found.schema))
            print_result(
                benchmark, f"read {OBJECTS:,} {kind} of 10 kB over 20 ms", way, link.round_trips - before
            )
        finally:
            near.execute("DROP TABLE bench_lobs")


@pytest.mark.parametrize("kind", ["BLOB"])  # the values of BYTE columns travel with their rows
def test_write(
    benchmark: BenchmarkFixture,
    address: Address,
    data: pa.Table,
    link: SlowLink,
    slow: ifx.Connection,
    way: str,
    kind: str,
) -> None:
    with address.ours(autocommit=True) as near:
        near.execute(f"CREATE TABLE bench_lobs (k INT, v {kind}, tail INT)")
        try:
            before = link.round_trips
            report = benchmark.pedantic(slow.write_arrow, ("bench_lobs", data))
            assert report.rows == OBJECTS
            print_result(
                benchmark, f"write {OBJECTS:,} {kind} of 10 kB over 20 ms", way, link.round_trips - before
            )
        finally:
            near.execute("DROP TABLE bench_lobs")


def print_result(benchmark: BenchmarkFixture, subject: str, who: str, round_trips: int) -> None:
    """What the report needs; once round is enough, it is the link that is measured."""
    stats = benchmark.stats.stats  # type: ignore[union-attr]
    benchmark.group = subject
    benchmark.extra_info.update(
        subject=subject,
        who=who,
        rows=OBJECTS,
        ns_per_row=stats.median / OBJECTS * 1e9,
        rows_per_second=OBJECTS / stats.median,
        round_trips=round_trips,
    )
    print(f"\n{subject}, {who}: {round_trips:,} round trips, {stats.median:.2f} s")
