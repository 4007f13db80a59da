"""Fixtures: a database for each test, and a function that runs a command and captures its output."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

import informix_arrow
from informix_arrow.cli import main

if TYPE_CHECKING:
    from informix_arrow import Connection
    from informix_arrow.server import Server

_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INFORMIX_ARROW_URL", "INFORMIX_ARROW_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    """Run a command: ``cli("tables", url)``. Usage errors of argparse are exit codes too."""

    def run(*words: str) -> Ran:
        capfd.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def url(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """URL of an empty database, without the password, which is in the environment."""
    name = f"cli_{next(_NUMBERS)}"
    server.create_database(name)
    whole = server.url(name)
    monkeypatch.setenv("INFORMIX_ARROW_PASSWORD", server.password)
    yield whole.replace(f":{server.password}@", "@")
    server.drop_database(name)


@pytest.fixture
def conn(server: Server, url: str) -> Iterator[Connection]:
    """A connection to that database, with autocommit."""
    with informix_arrow.connect(url, password=server.password, autocommit=True) as connection:
        yield connection
