"""100,000 rows of the seed's table into the embedded server, in every form that clients send them in.

The raw sender has its bytes ready, so its figures are the server's: parsing, inserting, answering. Beside
them the floor (the same bytes to a socket whose other end throws them away), and whole clients, whose own
work is part of their figures: informix-driver's executemany, and JDBC's addBatch with and without PUT.
"""

from __future__ import annotations

import datetime
import os
import socket
import statistics
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from tests.integration.raw import EOT, RawClient
from tests.interop.jdbc.toolchain import Unavailable, cache_directory, fetch_jars, program

from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import Column
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

from .conftest import Address

ROWS = 100_000
GROUP = 1000  # executes in one group: JDBC puts about as many into its 32 KB
DAY = datetime.date(2026, 1, 1)
VALUES = [(i, f"customer number {i}", -i, i / 8, DAY) for i in range(ROWS)]
TYPES = (
    ColumnType.integer(), ColumnType.varchar(64), ColumnType.integer(), ColumnType.float_(), ColumnType.date(),
)  # fmt: skip
DEFINITION = "k INT, name VARCHAR(64), n INT, x FLOAT, d DATE"


class Sender:
    """A connection with a prepared INSERT, inside a transaction; rows on the wire in one of three forms."""

    def __init__(self, address: Address) -> None:
        self.client = RawClient(SimpleNamespace(address=(address.host, address.port)), "stores_demo")  # type: ignore[arg-type]
        self.client.socket.settimeout(120.0)
        self.client.command(f"CREATE TEMP TABLE raw_insert ({DEFINITION})")
        self.id = self.client.prepare("INSERT INTO raw_insert VALUES (?, ?, ?, ?, ?)", 5).statement_id

    def wire(self, form: str) -> tuple[bytes, int]:
        """All rows, and the number of replies."""
        framing = self.client.framing
        ident, execute, end = (part.encode(framing) for part in (m.Id(self.id), m.Execute(), EOT))
        if form == "puts":
            columns = [Column(f"c{n}", ct) for n, ct in enumerate(TYPES)]
            rows = [m.Put(encode_tuple(row, columns, framing.encoding)).encode(framing) for row in VALUES]
            return ident + b"".join(rows) + end, 1
        binds = [self.client.bind(*row).encode(framing) + execute for row in VALUES]
        if form == "groups":
            return b"".join(ident + bind + end for bind in binds), ROWS
        starts = range(0, ROWS, GROUP)
        return b"".join(ident + b"".join(binds[at : at + GROUP]) + end for at in starts), len(starts)

    def transfer(self, data: bytes, replies: bytes) -> None:
        """Send while the replies are read, which are these."""
        writer = threading.Thread(target=self.client.socket.sendall, args=(data,))
        writer.start()
        received, view, at = bytearray(len(replies)), memoryview(replies), 0
        with memoryview(received) as into:
            while at < len(replies):
                at += self.client.socket.recv_into(into[at:])
        writer.join()
        assert received == view

    def replies(self, groups: int, executes: int) -> bytes:
        """What the server answers inside a transaction when all goes well."""
        framing = self.client.framing
        end = EOT.encode(framing)
        if not executes:
            return m.Done(0, ROWS, 0, 0).encode(framing) + end
        one = b"".join(x.encode(framing) for x in (m.InsertDone(0, 0), m.Done(0, 1, 0, 0), m.Cost(1, 1)))
        return (one * (executes // groups) + end) * groups


@pytest.fixture
def sender(address: Address) -> Iterator[Sender]:
    made = Sender(address)
    with made.client:
        yield made


def report(benchmark: BenchmarkFixture) -> None:
    benchmark.extra_info["rows_per_second"] = round(ROWS / benchmark.stats.stats.median)


@pytest.mark.parametrize("form", ["groups", "one_group_of_1000", "puts"])
def test_server_takes(benchmark: BenchmarkFixture, sender: Sender, form: str) -> None:
    client = sender.client
    data, groups = sender.wire(form)
    replies = sender.replies(groups, 0 if form == "puts" else ROWS)

    def begin() -> None:
        client.must(m.Begin())
        if form == "puts":
            client.must(m.Id(sender.id), m.CursorName("bulk"), m.Open(), m.RetType(m.RetType.PUT, TYPES))

    def load() -> None:
        sender.transfer(data, replies)
        client.must(m.Commit())

    benchmark.pedantic(load, setup=begin, rounds=7, warmup_rounds=1)
    assert client.number("SELECT COUNT(*)::INT FROM raw_insert") == 8 * ROWS
    benchmark.extra_info["bytes_per_row"] = round(len(data) / ROWS, 1)
    report(benchmark)


@pytest.mark.parametrize("form", ["groups", "puts"])
def test_floor_of_the_same_bytes(benchmark: BenchmarkFixture, sender: Sender, form: str) -> None:
    data, _ = sender.wire(form)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def discard() -> None:
            peer, _ = listener.accept()
            buffer, left = bytearray(1 << 18), len(data)
            with peer:
                while left > 0:
                    left -= peer.recv_into(buffer)
                peer.sendall(b"!")

        def transfer() -> None:
            sink = threading.Thread(target=discard)
            sink.start()
            with socket.create_connection(listener.getsockname()) as out:
                out.sendall(data)
                assert out.recv(1) == b"!"
            sink.join()

        benchmark.pedantic(transfer, rounds=7, warmup_rounds=1)
    report(benchmark)


def executemany(benchmark: BenchmarkFixture, conn: Any) -> None:
    try:
        cursor = conn.cursor()
        cursor.execute(f"CREATE TEMP TABLE many_insert ({DEFINITION})")

        def insert() -> None:
            cursor.executemany("INSERT INTO many_insert VALUES (?, ?, ?, ?, ?)", VALUES)
            conn.commit()

        benchmark.pedantic(insert, rounds=3)
        cursor.execute("SELECT COUNT(*) FROM many_insert")
        assert cursor.fetchone() == (3 * ROWS,)
    finally:
        conn.close()
    report(benchmark)


def test_whole_client_our_executemany(benchmark: BenchmarkFixture, address: Address) -> None:
    executemany(benchmark, address.ours())


def test_whole_client_informix_driver_executemany(benchmark: BenchmarkFixture, address: Address) -> None:
    executemany(benchmark, address.informix_driver())


@pytest.fixture(scope="module")
def jdbc_load(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], list[float]]:
    """Runs JdbcLoad.java: the seconds of each run."""
    try:
        java, javac = program("java", "no JDBC figures"), program("javac", "no JDBC figures")
        jars = [str(jar) for jar in fetch_jars(cache_directory())]
    except Unavailable as missing:
        pytest.skip(str(missing))
    classes = tmp_path_factory.mktemp("classes")
    source = Path(__file__).parent / "peers" / "JdbcLoad.java"
    subprocess.run(
        [javac, "-nowarn", "-cp", os.pathsep.join(jars), "-d", str(classes), str(source)], check=True
    )
    path = os.pathsep.join([str(classes), *jars])

    def run(url: str, runs: int) -> list[float]:
        command = [java, "-cp", path, "JdbcLoad", url, str(ROWS), str(runs)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        return [float(line) for line in done.stdout.split()]

    return run


@pytest.mark.parametrize("use_put", [False, True], ids=["binds", "puts"])
def test_whole_client_jdbc_batch(
    benchmark: BenchmarkFixture, address: Address, jdbc_load: Callable[[str, int], list[float]], use_put: bool
) -> None:
    """The driver measures itself, in one JVM: the first run warms it up. The benchmark's own time is the JVM's."""
    url = (
        f"jdbc:informix-sqli://{address.host}:{address.port}/stores_demo:INFORMIXSERVER=informix"
        f";user=informix;password=in4mix{';IFX_USEPUT=1' if use_put else ''};"
    )
    seconds: list[float] = benchmark.pedantic(jdbc_load, args=(url, 6), rounds=1)
    median = statistics.median(seconds[1:])
    benchmark.extra_info["seconds"] = median
    benchmark.extra_info["rows_per_second"] = round(ROWS / median)
