"""Reads over a link with a delay, beside a plain TCP stream of the same bytes through the same link.

A fetch asks for 32,767 bytes of rows, which is all that older servers grant, or for 1 MiB. "one fetch ahead" is
``fetch_window_bytes=1``: the window never grows, as before there was one.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from .conftest import Address
from .link import SlowLink
from .measuring import measure

COLUMNS = "k, name, n, x, d"


@contextmanager
def plain_stream(size: int) -> Iterator[tuple[str, int]]:
    """A TCP server that answers each byte it gets by ``size`` bytes. Yields its address."""
    block = bytes(1 << 20)

    def serve(client: socket.socket) -> None:
        with client:
            while client.recv(1):
                left = size
                while left:
                    part = min(left, len(block))
                    client.sendall(memoryview(block)[:part])
                    left -= part

    def accept() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[:2]
        listening.shutdown(socket.SHUT_RDWR)


def receive_all(client: socket.socket, size: int) -> None:
    """Ask for the plain stream and read it."""
    room = memoryview(bytearray(1 << 20))
    client.sendall(b"x")
    while size:
        count = client.recv_into(room[: min(size, len(room))])
        assert count
        size -= count


@contextmanager
def reader(address: tuple[str, int], source: str, **options: int) -> Iterator[Callable[[], int]]:
    """A function that reads the whole table and returns the number of its rows."""
    with Address(*address).ours(autocommit=True, **options) as connection:

        def work() -> int:
            with connection.query(f"SELECT {COLUMNS} FROM {source}") as result:
                return sum(batch.num_rows for batch in result.batches())

        yield work


def bytes_of(link: SlowLink, work: Callable[[], int], rows: int) -> int:
    """The bytes that the client receives for it."""
    before = link.bytes_to_client
    assert work() == rows
    return link.bytes_to_client - before


@pytest.mark.parametrize(
    ("milliseconds", "rows", "options", "beside"),
    [
        (20, 200_000, {"fetch_buffer_size": 32_767}, "1 MiB a fetch, one fetch ahead"),
        (20, 200_000, {"fetch_buffer_size": 32_767}, "plain stream"),
        (20, 200_000, {"fetch_buffer_size": 32_767, "fetch_window_bytes": 1}, "plain stream"),
        (20, 200_000, {}, "plain stream"),
        (20, 200_000, {"fetch_window_bytes": 1}, "plain stream"),
        (100, 1_600_000, {}, "plain stream"),
    ],
)
def test_read(
    benchmark: BenchmarkFixture,
    address: Address,
    seeded: Callable[[int], str],
    milliseconds: int,
    rows: int,
    options: dict[str, int],
    beside: str,
) -> None:
    """Time, and round trips, of reading a table with five columns."""
    source = seeded(rows)
    with SlowLink((address.host, address.port), milliseconds / 1000) as link, ExitStack() as stack:
        work = stack.enter_context(reader(link.address, source, **options))
        size = bytes_of(link, work, rows)
        before = link.round_trips
        work()
        trips = link.round_trips - before
        if beside == "plain stream":
            plain = stack.enter_context(plain_stream(size))
            other_link = stack.enter_context(SlowLink(plain, milliseconds / 1000))
            client = stack.enter_context(socket.create_connection(other_link.address))
            other: Callable[[], object] = partial(receive_all, client, size)
        else:
            other = stack.enter_context(reader(link.address, source, fetch_window_bytes=1))
        _measure(benchmark, milliseconds, size, options, work, (beside, other), trips)


def _measure(
    benchmark: BenchmarkFixture,
    milliseconds: int,
    size: int,
    options: dict[str, int],
    work: Callable[[], object],
    beside: tuple[str, Callable[[], object]],
    trips: int,
) -> None:
    fetch = "32,767 bytes" if "fetch_buffer_size" in options else "1 MiB"
    how = ", one fetch ahead" if "fetch_window_bytes" in options else ""
    subject = f"read {size / 1e6:.0f} MB over {milliseconds} ms"
    who = f"informix-arrow, {fetch} a fetch{how}"
    measure(benchmark, subject, who, work, rounds=10, beside=beside, round_trips=trips, megabytes=size / 1e6)
