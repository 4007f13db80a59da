"""The embedded server that the benchmarks talk to, in a process of its own, and the peers that do the same work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import informix_arrow as ifx


@dataclass(frozen=True)
class Address:
    """Where the server listens."""

    host: str
    port: int

    def ours(self, **options: Any) -> ifx.Connection:
        """Our connection to stores_demo."""
        return ifx.connect(
            host=self.host,
            port=self.port,
            user="informix",
            password="in4mix",
            database="stores_demo",
            server="informix",
            **options,
        )

    def informix_driver(self) -> Any:
        """informix-driver's connection to stores_demo."""
        peer = pytest.importorskip("informix_db")
        return peer.connect(
            host=self.host,
            port=self.port,
            user="informix",
            password="in4mix",
            database="stores_demo",
            server="informix",
            client_locale="en_US.utf8",
        )


@pytest.fixture(scope="session")
def address() -> Iterator[Address]:
    """An embedded server with its databases in memory."""
    command = [sys.executable, "-m", "informix_arrow.cli", "serve", "--port", "0"]
    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": "in4mix"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            ready = re.fullmatch(r"listening on (\S+):(\d+)\n", process.stdout.readline())
            assert ready is not None
            yield Address(ready[1], int(ready[2]))
        finally:
            process.terminate()
