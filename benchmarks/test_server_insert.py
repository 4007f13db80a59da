"""100,000 rows of the seed's table into the embedded server, in every form that clients send them in.

The sender has its bytes ready, so its figures are the server's: parsing, inserting, answering. Beside them the floor,
the same bytes to a socket whose other end throws them away. Whole clients are in test_insert.py.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from tests.integration.raw import EOT, RawClient

from informix_arrow.wire import messages as m
from informix_arrow.wire.describe import Column
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

from .conftest import Address
from .tables import SEED, seed_rows

ROWS = 100_000
GROUP = 1000  # executes in one group: JDBC puts about as many into its 32 KB
TYPES = (
    ColumnType.integer(), ColumnType.varchar(64), ColumnType.integer(), ColumnType.float_(), ColumnType.date(),
)  # fmt: skip


class Sender:
    """A connection with a prepared INSERT, inside a transaction; rows on the wire in one of three forms."""

    def __init__(self, address: Address) -> None:
        self.client = RawClient(SimpleNamespace(address=(address.host, address.port)), "stores_demo")  # type: ignore[arg-type]
        self.client.socket.settimeout(120.0)
        self.client.command(f"CREATE TEMP TABLE raw_insert ({SEED})")
        self.id = self.client.prepare("INSERT INTO raw_insert VALUES (?, ?, ?, ?, ?)", 5).statement_id

    def wire(self, form: str) -> tuple[bytes, int]:
        """All rows, and the number of replies."""
        framing = self.client.framing
        ident, execute, end = (part.encode(framing) for part in (m.Id(self.id), m.Execute(), EOT))
        if form == "puts":
            columns = [Column(f"c{n}", ct) for n, ct in enumerate(TYPES)]
            rows = [
                m.Put(encode_tuple(row, columns, framing.encoding)).encode(framing) for row in seed_rows(ROWS)
            ]
            return ident + b"".join(rows) + end, 1
        binds = [self.client.bind(*row).encode(framing) + execute for row in seed_rows(ROWS)]
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


def report(benchmark: BenchmarkFixture, who: str) -> None:
    stats: Any = benchmark.stats
    benchmark.extra_info.update(
        subject="the embedded server takes 100,000 rows",
        who=who,
        rows=ROWS,
        ns_per_row=stats.stats.median / ROWS * 1e9,
    )


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

    benchmark.pedantic(load, setup=begin, rounds=10, warmup_rounds=1)
    assert client.number("SELECT COUNT(*)::INT FROM raw_insert") == 11 * ROWS
    benchmark.extra_info["bytes_per_row"] = round(len(data) / ROWS, 1)
    report(benchmark, form)


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

        benchmark.pedantic(transfer, rounds=10, warmup_rounds=1)
    report(benchmark, f"floor: {form}, discarded")
