"""A server that sends single bytes, each before the read timeout: limits of calls and logins still apply."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server
from informix_arrow.transport import limits

PAUSE = 0.05  # seconds between two bytes: the shortest reply of a login takes a quarter of a minute
AT_MOST = 10.0  # seconds, for limits that are a fraction of one; a busy machine is slow


class Drip:
    """A proxy between one client and the server. Once :attr:`slow` is set, it forwards the server's data byte by
    byte."""

    def __init__(self, server: tuple[str, int]) -> None:
        self.slow = False
        self.over = threading.Event()
        self.server = server
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listening.getsockname()[1]
        self.thread = threading.Thread(target=self.pass_on)
        self.thread.start()

    def pass_on(self) -> None:
        with contextlib.suppress(OSError):
            client, _ = self.listening.accept()
            with client, socket.create_connection(self.server) as server:
                forth = threading.Thread(target=self.forth, args=(client, server))
                forth.start()
                with contextlib.suppress(OSError):
                    while data := server.recv(1 << 16):
                        for at in range(0, len(data), 1 if self.slow else len(data)):
                            client.sendall(data[at : at + 1] if self.slow else data)
                            if self.slow:
                                self.over.wait(PAUSE)
                with contextlib.suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)
                forth.join()

    def forth(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                server.sendall(data)
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Drip:
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        with contextlib.suppress(OSError):
            self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self.thread.join()


@pytest.fixture
def drip(server: Server) -> Iterator[Drip]:
    with Drip(server.address) as drip:
        yield drip


def blocking(url: str, given: dict[str, Any], slow_down: Callable[[], None], timeout: float) -> None:
    conn = ifx.connect(url, **given)
    slow_down()
    try:
        conn.read_arrow("SELECT tabname, tabid FROM systables", timeout=timeout)
    finally:
        assert conn.closed


def in_asyncio(url: str, given: dict[str, Any], slow_down: Callable[[], None], timeout: float) -> None:
    async def main() -> None:
        conn = await aio.connect(url, **given)
        slow_down()
        try:
            await conn.read_arrow("SELECT tabname, tabid FROM systables", timeout=timeout)
        finally:
            assert conn.closed

    asyncio.run(main())


Front = Callable[[str, dict[str, Any], Callable[[], None], float], None]


@pytest.mark.parametrize("front", [blocking, in_asyncio])
def test_a_login_whose_answer_drips_ends_with_its_time_limit(
    server: Server, drip: Drip, front: Front
) -> None:
    drip.slow = True
    given = {"host": "127.0.0.1", "port": drip.port, "login_timeout": 0.3, "read_timeout": 30}
    began = time.monotonic()
    with pytest.raises(ifx.OperationalError, match="login_timeout"):
        front(server.url("stores_demo"), given, lambda: None, 60)
    assert time.monotonic() - began < AT_MOST


@pytest.mark.parametrize("front", [blocking, in_asyncio])
def test_a_call_whose_answer_drips_ends_with_its_time_limit_and_the_grace_behind_it(
    server: Server, drip: Drip, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "GRACE", 0.3)
    given = {"host": "127.0.0.1", "port": drip.port, "read_timeout": 30}
    began = time.monotonic()
    with pytest.raises(ifx.QueryTimeout, match="timeout"):
        front(server.url("stores_demo"), given, lambda: setattr(drip, "slow", True), 0.3)
    assert time.monotonic() - began < AT_MOST
