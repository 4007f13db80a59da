"""The client on an operating system without poll(), fork and some socket options, such as Windows: the same code with
replacements for missing functions."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.transport import sockets
from informix_arrow.transport.sockets import Readiness, has_unsolicited_data, send_urgent, set_up

pytestmark = pytest.mark.slow


@pytest.fixture
def no_poll(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """``select`` as on Windows. Returns the list of its arguments."""
    asked: list[tuple[Any, ...]] = []

    def recorded(reading: Any, writing: Any, broken: Any, seconds: float | None = None) -> Any:
        asked.append((len(reading), len(writing), len(broken), seconds))
        return select.select(reading, writing, broken, seconds)

    monkeypatch.setattr(sockets, "select", SimpleNamespace(select=recorded))
    return asked


@pytest.fixture
def pair() -> Any:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def test_waiting_goes_by_select(no_poll: list[Any], pair: Any) -> None:
    one, other = pair
    readiness = Readiness(one)
    assert not readiness.wait(True, False, 0)
    assert readiness.wait(False, True, 0)
    other.send(b"x")
    assert readiness.wait(True, True, 0)
    # There, a failed connection attempt is reported only in the third list.
    assert no_poll == [(1, 0, 1, 0), (0, 1, 1, 0), (1, 1, 1, 0)]


def test_select_checks_whether_a_connection_has_unsolicited_data(no_poll: list[Any], pair: Any) -> None:
    one, other = pair
    assert not has_unsolicited_data(one, expecting=False)
    other.send(b"x")
    assert has_unsolicited_data(one, expecting=False)
    assert not has_unsolicited_data(one, expecting=True)  # a closed connection cannot be distinguished there
    other.close()
    assert has_unsolicited_data(one, expecting=False)
    one.close()
    assert has_unsolicited_data(one, expecting=True)


def test_keepalive_is_set_as_far_as_there_are_options(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_KEEPALIVE"):
        monkeypatch.delattr(socket, name, raising=False)
    with socket.socket() as link:
        set_up(link, 60.0)
        assert link.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


def test_an_urgent_byte_that_cannot_leave_is_tried_again_and_a_lost_connection_is_not() -> None:
    with socket.socket() as link:
        assert send_urgent(link, b"B")  # not connected: WSAENOTCONN there, EPIPE or ENOTCONN elsewhere


def test_a_session_works_without_poll(no_poll: list[Any], server: Server) -> None:
    """A login, queries, a load, an interrupt from another thread, a time limit, and a logout."""
    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        table = conn.read_arrow("SELECT tabname, tabid FROM systables WHERE tabid < ?", (50,))
        conn.write_arrow("without_poll", table, mode="create")
        assert conn.read_arrow("SELECT COUNT(*) n FROM without_poll")["n"][0].as_py() == table.num_rows
        conn.execute("DROP TABLE without_poll")
        slow = "SELECT COUNT(*) FROM syscolumns a, syscolumns b, syscolumns c, syscolumns d, syscolumns e"
        with pytest.raises(ifx.QueryTimeout):
            conn.execute(slow, timeout=0.3).fetchall()
        timer = threading.Timer(0.3, conn.cancel)
        timer.start()
        with pytest.raises(ifx.QueryCanceled):
            conn.execute(slow).fetchall()
        timer.join()
        conn.ping()
    assert no_poll


def test_a_pool_looks_at_idle_connections_without_poll(no_poll: list[Any], server: Server) -> None:
    with ifx.Pool(server.url("stores_demo"), max_size=1) as pool:
        for _ in range(2):
            with pool.connection() as conn:
                conn.ping()
        assert pool.statistics.opened == 1


def test_the_client_is_imported_where_modules_of_posix_are_missing() -> None:
    """The demo and the server report in one line what they lack."""
    program = """
import select, sys, os
for name in ("resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules[name] = None
del select.poll
for name in ("fork", "register_at_fork"):
    delattr(os, name)
import asyncio
import informix_arrow, informix_arrow.aio, informix_arrow.cli, informix_arrow.pool, informix_arrow.unl
informix_arrow.connect, informix_arrow.Pool, informix_arrow.copy, informix_arrow.partition_read
import informix_arrow.cli.demo_program, informix_arrow.cli.serve
assert informix_arrow.cli.demo_program.peak_memory_mb() is None
for command in (["serve", "--port", "0"], ["demo"]):
    from informix_arrow.cli import main
    print(main(command))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["1", "1"], done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 2, done.stderr
    for line in lines:
        assert "The embedded server needs poll()" in line
        assert "container" in line
