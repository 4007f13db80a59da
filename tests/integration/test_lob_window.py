"""Large objects read and written ahead of their answers: equal to single steps, in few round trips, and in good order
whatever happens in between. A sentinel stands behind each object."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlparse

import pyarrow as pa
import pytest
from benchmarks.link import SlowLink

import informix_arrow as ifx
from informix_arrow import aio, observing
from informix_arrow.observing import Operation
from informix_arrow.server import Server
from informix_arrow.wire.errors import QueryTimeout

from .aio_support import run

KINDS = ("BLOB", "CLOB", "BYTE", "TEXT")
SIZES = (0, 1, 2, 3, 255, 1024, 4095, 4096, 4097, 32_000, 65_537, 200_001)


def value(kind: str, number: int) -> bytes | str | None:
    """The content number so-and-so: NULL, empty, odd, even, of several bytes a character."""
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
DATA = data_of(60)


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    with ifx.connect(url, autocommit=True) as conn:
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


@pytest.mark.parametrize("window", [0, 1, 70_000, 4 << 20, 256 << 20])
@pytest.mark.parametrize("batch_bytes", [100_000, 16 << 20])
def test_every_window_reads_the_same(url: str, window: int, batch_bytes: int) -> None:
    with ifx.connect(url, autocommit=True, lob_window_bytes=window) as conn:
        with conn.query("SELECT * FROM lob_window ORDER BY k", batch_bytes=batch_bytes) as result:
            found = pa.concat_tables(pa.Table.from_batches([batch]) for batch in result.batches())
        assert found.to_pylist() == DATA.to_pylist()
        # The server's own words on what was stored, which no content of a tuple passes through.
        lengths = conn.read_arrow(
            "SELECT k, LENGTH(text) n, tail_text t FROM lob_window ORDER BY k"
        ).to_pylist()
        assert [row["n"] for row in lengths] == [
            None if each is None else len(each.encode()) for each in DATA["text"].to_pylist()
        ]


@pytest.mark.parametrize(("window", "smart", "simple"), [(4 << 20, 6, 3), (0, 895, 300)])
def test_round_trips_of_a_read(url: str, window: int, smart: int, simple: int) -> None:
    """Exact. 300 objects: two routines looked up, 16 opened; these read and 128 opened; 128 read, and so on.

    Of the values of BYTE 128 come at a time. Step by step a BLOB takes an open, a read for its content and one for its
    end; six are empty.
    """
    sql = {"b": "SELECT k, b, tail FROM lob_small", "y": "SELECT k, y, tail FROM lob_small"}
    with ifx.connect(url, autocommit=True, lob_window_bytes=window) as conn:
        for column, expected in (("b", smart), ("y", simple)):
            conn.read_arrow(f"{sql[column]} WHERE k < 0")
            with counted() as seen:
                found = conn.read_arrow(sql[column])
            assert found["tail"].to_pylist() == [12345] * 300
            trips = sum(each.round_trips for each in seen if each.kind == "fetch")
            assert trips == expected, (column, [(each.kind, each.round_trips) for each in seen])


def test_a_call_that_is_ended_in_a_window_leaves_the_connection_usable(url: str) -> None:
    """At whatever moment the time is over: all rows or QueryTimeout, and the next read is whole."""
    with ifx.connect(url, autocommit=True) as conn:
        ended = 0
        for step in range(12):
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


def test_a_thousand_objects_over_a_slow_link(url: str) -> None:
    """The promise, counted: 1,000 objects of 10 kB over a link of 20 ms in at most 20 round trips."""
    data = pa.table(
        {
            "k": pa.array(range(1000), pa.int32()),
            "v": pa.array([random.Random(n).randbytes(10_000) for n in range(1000)]),
            "tail": pa.array([12345] * 1000, pa.int32()),
        }
    )
    with ifx.connect(url, autocommit=True) as conn:
        for kind in ("BLOB", "BYTE"):
            conn.execute(f"CREATE TABLE lob_link_{kind} (k INTEGER, v {kind}, tail INTEGER)")
            conn.write_arrow(f"lob_link_{kind}", data)
    place = urlparse(url)
    assert place.hostname
    assert place.port
    with SlowLink((place.hostname, place.port), 0.02) as link:
        slow = url.replace(f"{place.hostname}:{place.port}", f"127.0.0.1:{link.address[1]}")
        with ifx.connect(slow, autocommit=True) as conn:
            for kind in ("BLOB", "BYTE"):
                before = link.round_trips
                found = conn.read_arrow(f"SELECT k, v, tail FROM lob_link_{kind} ORDER BY k")
                assert link.round_trips - before <= 20
                assert found.to_pylist() == data.to_pylist()
