"""The embedded server, in this process and in one of its own. Shared by all tests: tables need names of their
own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.tls_certificates import certificates as certificates

if TYPE_CHECKING:
    from informix_arrow.server import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server in this process, on a free loopback port, with its databases in memory."""
    from informix_arrow.server import Server

    with Server() as running:
        yield running


@pytest.fixture(scope="session")
def server_process() -> Iterator[str]:
    """URL of `stores_demo` on an ``informix-arrow serve`` that runs in a process of its own."""
    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": "in4mix"}
    command = [sys.executable, "-m", "informix_arrow.cli", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("listening on "), line
            address = line.removeprefix("listening on ").strip()
            yield f"informix://informix:in4mix@{address}/stores_demo?server=informix"
        finally:
            process.terminate()
            assert process.wait(30) == 0
