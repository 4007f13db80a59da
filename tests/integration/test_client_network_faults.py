"""A network that fails at every point of a dialogue: an error in time, a closed connection, and no resources left."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.fault_proxy import Boundary, Fault, FaultProxy, eventually, open_files
from tests.real_server import database_name
from tests.stress import SECONDS, examples

import informix_arrow as ifx
from informix_arrow.server import Server

ROWS = pa.table({"id": pa.array(range(300), pa.int32()), "sentinel": pa.array([12345] * 300, pa.int32())})


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.url("stores_demo")
    with ifx.connect(url) as conn:
        for name in ("faults_read", "faults_write"):
            conn.execute(f"DROP TABLE IF EXISTS {name}")
        conn.write_arrow("faults_read", ROWS, mode="create")
        conn.execute("CREATE TABLE faults_write (id INT, sentinel INT)")
    return url


@pytest.fixture
def proxy(server: Server) -> Iterator[FaultProxy]:
    with FaultProxy(server.address) as proxy:
        yield proxy


def work(url: str, proxy: FaultProxy, **keywords: Any) -> None:
    """Connect, prepare, execute, fetch, load by both methods, commit, roll back, disconnect."""
    conn = ifx.connect(url, host=proxy.host, port=proxy.port, fetch_buffer_size=4096, **keywords)
    try:
        found = conn.read_arrow("SELECT id, sentinel FROM faults_read WHERE id >= ? ORDER BY id", (0,))
        assert found.equals(ROWS)
        for method in ("put", "pipeline"):
            assert conn.write_arrow("faults_write", ROWS, method=method).rows == 300  # type: ignore[arg-type]
        cursor = conn.cursor()
        cursor.execute("INSERT INTO faults_write VALUES (?, ?)", (1, 12345))
        cursor.executemany("INSERT INTO faults_write VALUES (?, ?)", [(2, 12345), (3, 12345)])
        conn.commit()
        conn.execute("DELETE FROM faults_write")
        conn.rollback()
    except ifx.OperationalError:
        assert conn.closed
        with pytest.raises(ifx.OperationalError, match="connection was lost"):
            conn.commit()
        raise
    finally:
        conn.close()
        assert conn.closed


@pytest.fixture
def boundaries(url: str, proxy: FaultProxy) -> list[Boundary]:
    """The boundaries of a dialogue without a fault."""
    work(url, proxy)
    found = list(proxy.boundaries)
    assert len(found) > 40
    return found


def faults(boundaries: list[Boundary], action: Any) -> Iterator[Fault]:
    """Yield a fault at the end of each turn, and one before its last byte."""
    for boundary in boundaries:
        last = boundary.client if boundary.next == "server" else boundary.server
        speaker: Any = "client" if boundary.next == "server" else "server"
        yield Fault(speaker, last, action)
        yield Fault(speaker, last - 1, action)


def broken(url: str, proxy: FaultProxy, fault: Fault, **keywords: Any) -> bool | None:
    """Return whether the fault raised an error. A fault during the logout does not.

    None if there was no fault: on a busy machine a dialogue may have fewer fetches ahead than the first one, and end
    before the fault.
    """
    proxy.fault, strikes = fault, proxy.strikes
    try:
        work(url, proxy, **keywords)
    except ifx.OperationalError:
        return True
    return False if proxy.strikes > strikes else None


@pytest.mark.parametrize("action", ["cut", "reset"])
def test_a_cut_at_every_turn_is_an_error_and_a_closed_connection(
    url: str, proxy: FaultProxy, boundaries: list[Boundary], action: str
) -> None:
    """Each kind of fault at every fifth point, at different points. A soak tests both at all points."""
    every = list(faults(boundaries, action))
    if not SECONDS:
        every = [fault for place, fault in enumerate(every) if place % 5 == (action == "reset")]
    noticed = [found for fault in every if (found := broken(url, proxy, fault)) is not None]
    assert noticed[0]
    assert len(noticed) > len(every) / 2
    assert noticed.count(False) <= 6  # the last ones: the logout, and replies that are not waited for


def test_a_connection_that_falls_silent_at_any_turn_is_given_up(
    url: str, proxy: FaultProxy, boundaries: list[Boundary]
) -> None:
    every = list(faults(boundaries, "hang"))
    chosen = [every[0], *every[1:-8:7]]
    noticed = [broken(url, proxy, fault, read_timeout=0.15, connect_timeout=0.15) for fault in chosen]
    assert False not in noticed, chosen[noticed.index(False)]
    assert noticed.count(True) > len(chosen) / 2


def test_single_bytes_are_as_good_as_any(url: str, proxy: FaultProxy) -> None:
    proxy.piece = 1
    work(url, proxy)


def test_a_slow_network_is_no_broken_one(url: str, proxy: FaultProxy) -> None:
    proxy.delay = 0.002
    work(url, proxy, read_timeout=60)


def test_an_interrupt_that_never_arrives_costs_the_connection(
    url: str, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    from informix_arrow.transport import limits

    monkeypatch.setattr(limits, "GRACE", 0.05)
    conn = ifx.connect(url, host=proxy.host, port=proxy.port, lock_wait=60)
    with ifx.connect(url) as holding:
        # A lock wait, not an endless query, which would never be stopped and would slow down all other tests.
        holding.execute("LOCK TABLE faults_read IN EXCLUSIVE MODE")
        with pytest.raises(ifx.QueryTimeout, match="did not react"):
            # It must have been prepared and sent by then, on a busy machine, too.
            conn.execute("DELETE FROM faults_read", timeout=0.5)
    assert conn.closed


def test_the_members_of_a_group_are_tried_within_one_login_timeout(
    url: str, server: Server, proxy: FaultProxy, tmp_path: Any
) -> None:
    """The first two members do not reply, the third does."""
    proxy.fault = Fault("client", 0, "hang")
    sqlhosts = tmp_path / "sqlhosts"
    dead = f"{proxy.host} {proxy.port} g=group"
    host, port = server.address
    sqlhosts.write_text(
        f"group group - -\nold onsoctcp {dead}\nolder onsoctcp {dead}\ninformix onsoctcp {host} {port} g=group\n"
    )
    keywords = {
        "server": "group",
        "sqlhosts": str(sqlhosts),
        "user": server.user,
        "password": server.password,
    }
    name = database_name(server, "stores_demo")
    # The third must reply within that, on a busy machine, too.
    with ifx.connect(name, connect_timeout=2, **keywords) as conn:
        assert conn.read_arrow("SELECT id FROM faults_read").num_rows == 300
    with pytest.raises(ifx.OperationalError, match="login_timeout"):
        ifx.connect(name, connect_timeout=60, login_timeout=0.1, **keywords)


def of_connections() -> int:
    """Return the number of threads that serve connections in this process, on either side."""
    names = ("informix-arrow", "fault proxy")
    return sum(thread.name.startswith(names) for thread in threading.enumerate())


@pytest.mark.slow
def test_many_lost_connections_leave_nothing_behind(url: str, proxy: FaultProxy) -> None:
    rng = random.Random(4)
    with ifx.connect(url, host=proxy.host, port=proxy.port) as conn:
        conn.read_arrow("SELECT id FROM faults_read")
    client, server = proxy.boundaries[-1].client, proxy.boundaries[-1].server
    threads, files = of_connections(), open_files()
    lost = 0
    tries = examples(50)
    for _ in range(tries):
        side: Any = rng.choice(("client", "server"))
        # Early faults are more frequent: they cost the server less work.
        after = int((client if side == "client" else server) * rng.random() ** 2)
        proxy.fault = Fault(side, after, rng.choice(("cut", "reset")))
        try:
            with ifx.connect(url, host=proxy.host, port=proxy.port) as conn:
                assert conn.read_arrow("SELECT id FROM faults_read").num_rows == 300
        except ifx.OperationalError:
            lost += 1
    assert lost > 0.9 * tries
    eventually(lambda: of_connections() <= threads, "threads end")
    eventually(lambda: open_files() <= files, "files are closed")
