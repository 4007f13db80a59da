"""Loads whose peer dies, stalls or does not read, and the memory that a load takes."""

from __future__ import annotations

import contextlib
import itertools
import re
import select
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest
from tests.internals import session_of
from tests.subprocess_server import ForkedCommand

import informix_arrow as ifx
from informix_arrow.server import Server

Method = Literal["put", "pipeline"]
METHODS: list[Method] = ["put", "pipeline"]
_names = (f"write_fail_{number}" for number in itertools.count())


class Proxy:
    """A proxy between client and server, for one connection at a time, with faults.

    ``cut_after`` closes it after this many bytes from the client since :meth:`arm`. ``mute_after`` drops everything
    from then on. With ``hold``, replies are delayed as long as the client continues to send.
    """

    def __init__(self, server: Server, *, buffers: int | None = None, hold: bool = False) -> None:
        self.own, self.server = server, server.address
        self.buffers, self.hold = buffers, hold
        self.listener = socket.socket()
        if buffers:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffers)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        self.port: int = self.listener.getsockname()[1]
        self.cut_after: int | None = None
        self.mute_after: int | None = None
        self.most_held = 0
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, socket.create_connection(self.server) as server, contextlib.suppress(OSError):
                if self.buffers:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.buffers)
                self.pump(client, server)

    def pump(self, client: socket.socket, server: socket.socket) -> None:
        held = bytearray()
        while True:
            ready, _, _ = select.select([client, server], [], [], 0.02 if held else None)
            if held and client not in ready:  # the client waits, so it gets its replies now
                client.sendall(held)
                held.clear()
            if server in ready:
                data = server.recv(65536)
                if not data:
                    return
                if self.mute_after == 0:
                    continue
                if self.hold:
                    held += data
                    self.most_held = max(self.most_held, len(held))
                else:
                    client.sendall(data)
            if client in ready:
                data = client.recv(4096 if self.buffers else 65536)
                if not data:
                    return
                if self.cut_after is not None:
                    server.sendall(data[: self.cut_after])
                    self.cut_after -= len(data)
                    if self.cut_after <= 0:
                        return
                elif self.mute_after is not None:
                    server.sendall(data[: self.mute_after])
                    self.mute_after = max(0, self.mute_after - len(data))
                else:
                    server.sendall(data)

    def url(self, options: str = "") -> str:
        host, port = self.server
        url = self.own.url("stores_demo").replace(f"{host}:{port}", f"127.0.0.1:{self.port}")
        return f"{url}&autocommit=true{options}"

    def close(self) -> None:
        self.listener.close()


@pytest.fixture
def observer(server: Server) -> Iterator[ifx.Connection]:
    """Another connection, which sees committed rows."""
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        yield connection


@pytest.fixture
def table(observer: ifx.Connection) -> Iterator[str]:
    name = next(_names)
    observer.execute(f"CREATE TABLE {name} (k INTEGER, name VARCHAR(64), x FLOAT, tail INTEGER)")
    yield name
    observer.execute(f"DROP TABLE {name}")


def batch(start: int, count: int) -> pa.RecordBatch:
    keys = range(start, start + count)
    return pa.record_batch(
        {
            "k": pa.array(keys, pa.int32()),
            "name": [f"customer number {k}" for k in keys],
            "x": [k / 8 for k in keys],
            "tail": pa.array([12345] * count, pa.int32()),
        }
    )


def count(conn: ifx.Connection, table: str) -> int:
    found = conn.read_arrow(
        f"SELECT COUNT(*)::INT AS c, MIN(tail) AS low, MAX(tail) AS high FROM {table}",
        lock_wait=60,  # until the server has rolled back a lost session
    ).to_pylist()[0]
    assert found["low"] in (12345, None)
    assert found["high"] in (12345, None)
    return int(found["c"])


@pytest.mark.parametrize("cut", [1, 700, 5_000, 80_000, 500_000])
@pytest.mark.parametrize("method", METHODS)
def test_a_network_that_is_cut_leaves_nothing_of_the_load(
    server: Server, observer: ifx.Connection, table: str, method: Method, cut: int
) -> None:
    proxy = Proxy(server)
    with ifx.connect(proxy.url()) as conn:
        proxy.cut_after = cut
        with pytest.raises(ifx.OperationalError, match=r"Nothing of this load was (sent|committed)"):
            conn.write_arrow(table, batch(0, 30_000), method=method)
        assert conn.closed
        with pytest.raises(ifx.OperationalError, match="connection was lost"):
            conn.read_arrow("SELECT tabid FROM systables")
    assert count(observer, table) == 0
    proxy.close()


@pytest.mark.parametrize("cut", [60_000, 400_000, 900_000])
@pytest.mark.parametrize("method", METHODS)
def test_a_cut_network_with_commit_every_leaves_whole_commits_and_says_how_many(
    server: Server, observer: ifx.Connection, table: str, method: Method, cut: int
) -> None:
    proxy = Proxy(server)
    with ifx.connect(proxy.url()) as conn:
        proxy.cut_after = cut
        with pytest.raises(ifx.OperationalError) as caught:
            conn.write_arrow(table, batch(0, 30_000), method=method, commit_every=1000)
    there = count(observer, table)
    assert there % 1000 == 0
    text = str(caught.value)
    told = re.search(r"(\d+) commits of 1,000 rows each \(([\d,]+) rows inserted\) remain", text)
    stand = int(told[1]) if told else 0
    assert told is None or told[2] == f"{stand * 1000:,}"
    if "COMMIT was lost" in text:
        assert there in (stand * 1000, stand * 1000 + 1000)
    else:
        assert told is not None or "Nothing of this load was committed" in text
        assert there == stand * 1000
    proxy.close()


@pytest.mark.parametrize("method", METHODS)
def test_a_peer_that_falls_silent_is_noticed(
    server: Server, observer: ifx.Connection, table: str, method: Method
) -> None:
    proxy = Proxy(server)
    with ifx.connect(proxy.url("&read_timeout=0.5")) as conn:
        proxy.mute_after = 100_000
        with pytest.raises(ifx.OperationalError, match=r"silent for 0.5 s[^$]*Nothing of this load"):
            conn.write_arrow(table, batch(0, 30_000), method=method)
    assert count(observer, table) == 0
    proxy.close()


@pytest.mark.parametrize("method", METHODS)
def test_a_peer_that_keeps_its_replies_back_over_tiny_buffers_is_no_deadlock(
    server: Server, observer: ifx.Connection, table: str, method: Method
) -> None:
    """The proxy forwards replies only when the client stops sending, through socket buffers of 4 KiB."""
    rows = 60_000
    proxy = Proxy(server, buffers=4096, hold=True)
    with ifx.connect(proxy.url("&read_timeout=30")) as conn:
        report = conn.write_arrow(table, batch(0, rows), method=method)
    assert report.rows == rows
    assert count(observer, table) == rows
    assert proxy.most_held < 4 << 20
    proxy.close()


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_closes_the_connection_and_leaves_nothing(
    server: Server, observer: ifx.Connection, table: str, method: Method
) -> None:
    def progress(rows: int, size: int, seconds: float) -> None:
        if rows > 10_000:
            raise KeyboardInterrupt

    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        with pytest.raises(KeyboardInterrupt):
            conn.write_arrow(table, batch(0, 100_000), method=method, progress=progress)
        assert conn.closed
    assert count(observer, table) == 0


@pytest.mark.parametrize("method", METHODS)
def test_an_error_of_the_data_leaves_nothing_and_the_connection_usable(
    server: Server, observer: ifx.Connection, table: str, method: Method
) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield batch(0, 40_000)
        yield batch(40_000, 40_000)
        raise LookupError("the file ended early")

    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        with pytest.raises(LookupError, match="ended early"):
            conn.write_arrow(table, batches(), method=method)
        assert count(conn, table) == 0
        assert not conn.in_transaction
        assert conn.write_arrow(table, batch(0, 10)).rows == 10


def test_rows_cannot_be_read_from_the_connection_that_writes_them(
    server: Server, observer: ifx.Connection, table: str
) -> None:
    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        conn.write_arrow(table, batch(0, 10))

        def batches() -> Iterator[pa.RecordBatch]:
            yield batch(0, 10)
            yield from conn.query(f"SELECT * FROM {table}").batches()

        with pytest.raises(ifx.InterfaceError, match="middle of a statement"):
            conn.write_arrow(table, batches())
        assert count(conn, table) == 10


def start(directory: Path) -> tuple[ForkedCommand, str]:
    """Start a server process that keeps its databases in a directory. Return it and its URL."""
    process = ForkedCommand(
        "serve",
        "--port",
        "0",
        "--directory",
        str(directory),
        environment={"INFORMIX_ARROW_PASSWORD": "in4mix"},
    )
    address = process.stdout.readline().removeprefix("listening on ").strip()
    return process, f"informix://informix:in4mix@{address}/stores_demo?server=informix&autocommit=true"


@pytest.mark.parametrize("method", METHODS)
def test_a_server_that_is_killed_has_nothing_of_the_load_afterwards(tmp_path: Path, method: Method) -> None:
    process, url = start(tmp_path)
    with process, ifx.connect(url) as conn:
        conn.write_arrow("t", batch(0, 5), mode="create")

        def progress(rows: int, size: int, seconds: float) -> None:
            if rows > 20_000:
                process.send_signal(signal.SIGKILL)

        with pytest.raises(ifx.OperationalError, match="Nothing of this load was committed"):
            conn.write_arrow(
                "t",
                (batch(n, 10_000) for n in itertools.count(0, 10_000)),
                method=method,
                progress=progress,
            )
        assert conn.closed
    process, url = start(tmp_path)
    with process:
        with ifx.connect(url) as conn:
            assert count(conn, "t") == 5
        process.terminate()


MEMORY = """
import sys
import pyarrow as pa
import informix_arrow as ifx
url, table, method = sys.argv[1:]
one = pa.record_batch({
    "k": pa.array(range(10_000), pa.int32()), "name": [("customer number %d " % n) * 12 for n in range(10_000)],
    "x": [n / 8 for n in range(10_000)], "tail": pa.array([12345] * 10_000, pa.int32()),
})
def peak():
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
with ifx.connect(url, autocommit=True) as conn:
    peaks = [peak()]
    for batches in (1, 10):
        report = conn.write_arrow(table, (one for _ in range(batches)), method=method)
        assert report.rows == batches * 10_000, report
        peaks.append(peak())
print(*peaks)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux' /proc")
@pytest.mark.parametrize("method", METHODS)
def test_memory_does_not_grow_with_the_load(server_process: str, method: Method, tmp_path: Path) -> None:
    """Ten times the rows, the same peak: 10,000 and 100,000 rows of 260 bytes, 26 MB."""
    with ifx.connect(server_process, autocommit=True) as conn:
        name = f"{next(_names)}_memory"
        conn.execute(f"CREATE TABLE {name} (k INTEGER, name LVARCHAR(300), x FLOAT, tail INTEGER)")
        (tmp_path / "load.py").write_text(MEMORY)
        with ForkedCommand(
            server_process, name, method, program=tmp_path / "load.py", limit=120.0
        ) as process:
            said = process.stdout.read()
            assert process.wait(10) == 0
        conn.execute(f"DROP TABLE {name}")
    before, few, many = (int(text) / 1024 for text in said.split())
    assert many < few + 10, f"MiB: {few}, {many}"
    assert many < before + 40, f"MiB: {before}, {many}"


def test_a_load_whose_transaction_the_server_has_ended_does_not_claim_that_nothing_is_left(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows after the end of a transaction are committed one by one, and their number is unknown."""
    from informix_arrow.operations.io_steps import Exchange
    from informix_arrow.operations.load_transaction import LoadTransaction
    from informix_arrow.operations.request_reply import request
    from informix_arrow.wire import messages as m

    undo = LoadTransaction.rollback

    def ended_before(scope: LoadTransaction) -> Exchange[bool]:
        yield from request(session_of(scope), (m.Rollback(),))
        return (yield from undo(scope))

    monkeypatch.setattr(LoadTransaction, "rollback", ended_before)
    with ifx.connect(server.url("stores_demo")) as conn:
        conn.execute("CREATE TEMP TABLE ended_load (id INT NOT NULL, tail INT)")
        conn.commit()
        with pytest.raises(ifx.Error) as caught:
            conn.write_arrow("ended_load", pa.table({"id": [1, None, 3], "tail": [12345] * 3}))
        text = str(caught.value)
        assert "ended the load's transaction itself" in text
        assert "Check before you load them again" in text
        assert "Nothing of it is in the table" not in text
        conn.ping()
