"""Clients that disconnect at any time: the server ends their statements and frees their resources."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from informix_arrow.server import Server
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import CLIENT_OFFER

from .raw import EOT, RawClient, connect_request
from .test_server_login import eventually
from .test_server_pipeline import insert_groups

if TYPE_CHECKING:
    from tests.tls_certificates import Certificates

pytestmark = pytest.mark.skipif(
    not hasattr(select, "POLLRDHUP"), reason="poll cannot tell that a client has left"
)

ENDLESS = (
    "systables a, systables b, systables c, systables d, systables e, systables f, systables g, systables h"
)
COUNTED = "WHERE a.tabid + b.tabid + c.tabid + d.tabid + e.tabid + f.tabid + g.tabid + h.tabid > 0"
RESET = struct.pack("ii", 1, 0)


@pytest.fixture(scope="module")
def tls_server(certificates: Certificates) -> Iterator[Server]:
    with Server(tls_cert=certificates.server, tls_key=certificates.server_key) as server:
        yield server


@dataclass
class Place:
    """A server and its connection options."""

    server: Server
    tls: ssl.SSLContext | None = None

    def connect(self) -> RawClient:
        return RawClient(self.server, "stores_demo", tls=self.tls)

    def tell_when_it_runs(self, pattern: str) -> Callable[[], bool]:
        """Return a function that says whether the next statement that matches ``pattern`` has begun."""
        self.server.faults.delay_next(1e-6, matching=pattern)
        return lambda: self.server.faults.pending == 0


@pytest.fixture(params=["plain", "TLS"])
def place(request: pytest.FixtureRequest, certificates: Certificates) -> Place:
    if request.param == "plain":
        return Place(request.getfixturevalue("server"))
    return Place(request.getfixturevalue("tls_server"), ssl.create_default_context(cafile=certificates.ca))


@pytest.fixture
def observer(place: Place) -> Iterator[RawClient]:
    with place.connect() as client:
        client.command("DROP TABLE IF EXISTS t_gone")
        client.command("CREATE TABLE t_gone (a BIGINT, tail INTEGER)")
        client.command("SET LOCK MODE TO WAIT 60")
        yield client
        client.command("DROP TABLE t_gone")


def execute(sql: str) -> list[m.Message]:
    return [m.Command(sql), m.NDescribe(), m.Execute(), m.Release(), EOT]


def close(client: RawClient) -> None:
    client.socket.close()


def reset(client: RawClient) -> None:
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    client.socket.close()


def stop_sending(client: RawClient) -> None:
    client.socket.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("leave", [close, reset, stop_sending])
def test_the_statement_of_a_client_that_has_gone_ends_and_what_it_sent_ahead_does_not_begin(
    place: Place, observer: RawClient, leave: Callable[[RawClient], None]
) -> None:
    """A second client that waits for the locks gets them. Nothing is left of the statement that ran, of the one before
    it in the same transaction, and of later ones."""
    with place.connect() as gone:
        gone.must(m.Begin())
        gone.command("INSERT INTO t_gone VALUES (1, 1)")
        runs = place.tell_when_it_runs("count")
        gone.send(
            *execute(f"INSERT INTO t_gone SELECT COUNT(*), 2 FROM {ENDLESS} {COUNTED}"),
            *execute("INSERT INTO t_gone VALUES (3, 3)"),
            m.Commit(),
            EOT,
            *execute("INSERT INTO t_gone VALUES (4, 4)"),
        )
        assert eventually(runs)
        leave(gone)
        observer.must(m.Begin())
        observer.command("LOCK TABLE t_gone IN EXCLUSIVE MODE")
        observer.command("INSERT INTO t_gone VALUES (5, 5)")
        observer.must(m.Commit())
        assert observer.number("SELECT SUM(tail)::INT FROM t_gone") == 5


def test_a_result_that_is_made_for_nobody_ends(place: Place, observer: RawClient) -> None:
    gone = place.connect()
    number = gone.prepare(f"SELECT COUNT(*) FROM {ENDLESS} {COUNTED}").statement_id
    gone.must(m.Begin())
    gone.command("INSERT INTO t_gone VALUES (1, 1)")
    runs = place.tell_when_it_runs("count")
    gone.send(m.Id(number), m.CursorName("c"), m.Open(), m.Id(number), m.Fetch(4096), EOT)
    assert eventually(runs)
    gone.socket.close()
    observer.must(m.Begin())
    observer.command("LOCK TABLE t_gone IN EXCLUSIVE MODE")
    observer.must(m.Rollback())
    assert observer.number("SELECT COUNT(*)::INT FROM t_gone") == 0


def test_what_was_committed_stays_whatever_way_the_client_goes(place: Place, observer: RawClient) -> None:
    for number, goodbye in enumerate(([m.Exit()], [m.DbClose(), EOT, m.Exit()], [])):
        with place.connect() as client:
            client.must(m.Begin())
            client.command(f"INSERT INTO t_gone VALUES ({number}, 1)")
            client.must(m.Commit())
            client.command(f"INSERT INTO t_gone VALUES ({number}, 10)")
            client.must(m.Begin())
            client.command(f"INSERT INTO t_gone VALUES ({number}, 100)")
            client.send(*goodbye)
        observer.must(m.Begin())
        observer.command("LOCK TABLE t_gone IN EXCLUSIVE MODE")
        observer.must(m.Rollback())
        assert observer.number("SELECT SUM(tail)::INT FROM t_gone") == 11 * (number + 1)


def test_a_commit_that_has_begun_is_not_interrupted(server: Server) -> None:
    with RawClient(server, "stores_demo") as observer:
        observer.command("CREATE TABLE t_begun (a INTEGER, tail INTEGER)")
        before = server.sessions
        gone = RawClient(server, "stores_demo")
        gone.must(m.Begin())
        gone.command("INSERT INTO t_begun VALUES (1, 2)")
        server.faults.delay_next(0.2, matching="^COMMIT")
        gone.send(m.Commit(), EOT, *execute("INSERT INTO t_begun VALUES (3, 4)"))
        assert eventually(lambda: server.faults.pending == 0)
        gone.socket.close()
        assert eventually(lambda: server.sessions == before)
        assert observer.number("SELECT SUM(tail)::INT FROM t_begun") == 2
        observer.command("DROP TABLE t_begun")


LOADER = """
import socket, sys
host, port, before = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = sys.stdin.buffer.read()
link = socket.create_connection((host, port))
link.sendall(data[:before])
while True:  # until it is killed
    link.sendall(data[before:])
    print("sent", flush=True)
"""


def test_a_load_ends_with_the_process_that_was_killed_over_it(server: Server) -> None:
    """The client has not read any reply, as pipelining allows."""
    with RawClient(server, "stores_demo") as observer:
        observer.command("CREATE TABLE t_load (k INT, name VARCHAR(20))")
        before = server.sessions
        framing = observer.framing
        head = connect_request().encode() + b"".join(
            message.encode(framing)
            for message in (m.Protocols(CLIENT_OFFER), EOT, m.DbOpen("stores_demo"), EOT, m.Begin(), EOT)
        )
        prepared = b"".join(
            message.encode(framing)
            for message in (
                m.Prepare(2, "INSERT INTO t_load VALUES (?, ?)"),
                m.NDescribe(),
                m.WantDone(),
                EOT,
            )
        )
        head += prepared
        rows = insert_groups(observer, 0, range(5000))
        with subprocess.Popen(
            [sys.executable, "-S", "-c", LOADER, *map(str, server.address), str(len(head))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as loader:
            assert loader.stdin is not None
            assert loader.stdout is not None
            loader.stdin.write(head + rows)
            loader.stdin.close()
            assert loader.stdout.readline() == b"sent\n"
            loader.kill()
        assert eventually(lambda: server.sessions == before)
        observer.must(m.Begin())
        observer.command("LOCK TABLE t_load IN EXCLUSIVE MODE")
        assert observer.number("SELECT COUNT(*)::INT FROM t_load") == 0
        observer.must(m.Rollback())
        observer.command("DROP TABLE t_load")
