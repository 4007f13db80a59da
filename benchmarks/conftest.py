"""The embedded server that the benchmarks talk to, in a process of its own, its tables, and the peers that do the same
work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

import informix_arrow as ifx

from .measuring import PAIRS
from .peers import jdbc
from .tables import SEED, seed_table


@cache
def _peer(name: str) -> Any:
    """Another driver. Looked for once: that takes a third as long as its connecting does."""
    return pytest.importorskip(name)


@dataclass(frozen=True)
class Address:
    """Where the server listens."""

    host: str
    port: int

    @property
    def arguments(self) -> dict[str, Any]:
        """Of a connection to stores_demo."""
        return {
            "host": self.host,
            "port": self.port,
            "user": "informix",
            "password": "in4mix",
            "database": "stores_demo",
            "server": "informix",
        }

    def ours(self, **options: Any) -> ifx.Connection:
        """Our connection to stores_demo."""
        return ifx.connect(**self.arguments, **options)

    def informix_driver(self, **options: Any) -> Any:
        """informix-driver's connection to stores_demo."""
        return _peer("informix_db").connect(**self.arguments, client_locale="en_US.utf8", **options)

    def ifxpy(self) -> Any:
        """IBM's IfxPy, where a user has it: it needs the Client SDK. We have never been able to run this."""
        peer = pytest.importorskip("IfxPyDbi", reason="IfxPy is not installed (it needs IBM's Client SDK)")
        return peer.connect(
            f"SERVER=informix;DATABASE=stores_demo;HOST={self.host};SERVICE={self.port};PROTOCOL=onsoctcp;"
            "UID=informix;PWD=in4mix;CLIENT_LOCALE=en_US.utf8;DB_LOCALE=en_US.utf8",
            "",
            "",
        )


@contextmanager
def serving() -> Iterator[tuple[Address, int]]:
    """An embedded server with its databases in memory, and the number of its process."""
    command = [sys.executable, "-m", "informix_arrow.cli", "serve", "--port", "0"]
    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": "in4mix"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            ready = re.fullmatch(r"listening on (\S+):(\d+)\n", process.stdout.readline())
            assert ready is not None
            yield Address(ready[1], int(ready[2])), process.pid
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def address() -> Iterator[Address]:
    """An embedded server with its databases in memory."""
    with serving() as (found, _):
        yield found


@pytest.fixture(scope="session")
def conn(address: Address) -> Iterator[ifx.Connection]:
    """Our connection, every statement final."""
    with address.ours(autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def driver(address: Address) -> Iterator[Any]:
    """informix-driver's connection."""
    connection = address.informix_driver()
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def java(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Class path and java of the JDBC peer."""
    return jdbc.compile_peer(tmp_path_factory.mktemp("java"))


@pytest.fixture(scope="session")
def jdbc_peer(address: Address, java: tuple[str, str]) -> Iterator[jdbc.JdbcPeer]:
    """A JVM with IBM's driver."""
    peer = jdbc.JdbcPeer(*java, jdbc.url(address.host, address.port))
    yield peer
    peer.close()


@pytest.fixture(scope="session")
def seeded(conn: ifx.Connection) -> Callable[[int], str]:
    """Makes and fills a table of the seed's five columns with so many rows, once; its name."""
    made: set[int] = set()

    def table(rows: int) -> str:
        name = f"bench_{rows}"
        if rows not in made:
            conn.execute(f"CREATE TABLE {name} ({SEED})")
            conn.write_arrow(name, seed_table(rows))
            made.add(rows)
        return name

    return table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was measured in turns."""
    for pair in PAIRS:
        terminalreporter.write_line(pair)
