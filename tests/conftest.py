"""The embedded server, in this process and in one of its own. Shared by all tests: tables need names of their
own."""

from __future__ import annotations

import gc
import os
import re
import signal
import socket
import subprocess
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.real_server import REAL_SERVER, RealServer, RealServerPlugin
from tests.stress import SECONDS, SEED
from tests.tls_certificates import certificates as certificates

from informix_arrow.operations import capability_cache

if TYPE_CHECKING:
    from informix_arrow.server import Server

with suppress(ImportError):  # environments of single tools do without
    from hypothesis import HealthCheck, settings

    # Drawing values may be slow: several workers share the machine, with the reference clients' JVMs.
    settings.register_profile(
        "project",
        suppress_health_check=[HealthCheck.too_slow],
        deadline=None,
        derandomize=SEED is not None,
    )
    settings.load_profile("project")

#: SQLAlchemy's suite has a pytest of its own (tests/ecosystem); random work is only worth its time when there is much.
collect_ignore = ["sqlalchemy_suite"] if SECONDS else ["soak", "sqlalchemy_suite"]

#: What a file of tests takes from the embedded server, by import or as a fixture.
_OF_SERVER = re.compile(
    r"^(from|import) (informix_arrow\.(server|demo|sqlalchemy)|duckdb|sqlalchemy|sqlglot)\b"
    r"|^from informix_arrow import .*\bserver\b"
    r"|^from (\.|tests\.integration\.)(aio_support|raw|copy_targets) |^ *from tests\.unit\.server\.sql_session "
    r"|\bserver_process\b|[(,] *server: |\bfresh_engine\b|\"serve\"\]|\bpytester\b",
    re.MULTILINE,
)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Python 3.10 has the client alone, as the embedded server needs DuckDB 2: tests of the server, or with one, begin
    with 3.11."""
    if sys.version_info >= (3, 11) or collection_path.suffix != ".py":
        return None
    return bool(_OF_SERVER.search(collection_path.read_text(encoding="utf-8"))) or None


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("informix")
    group.addoption(
        "--informix",
        metavar="URL",
        action="append",
        help="run the tests that can be run on the server at this URL; given several times, the workers of "
        "pytest-xdist share the servers among them",
    )
    group.addoption(
        "--record", metavar="DIR", help="with --informix: write what tests and server say into DIR"
    )
    group.addoption(
        "--replay", metavar="DIR", help="run the tests of recordings in DIR, which are their server"
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    options = [config.getoption(name) for name in ("--informix", "--record", "--replay")]
    if any(options):
        config.pluginmanager.register(RealServerPlugin(*options), REAL_SERVER)
    # With --reruns, each worker asks a socket of pytest-rerunfailures before a test, in two small packets: the second
    # one waited 40 ms for the acknowledgement of the first.
    if isinstance(status := getattr(getattr(config, "failures_db", None), "sock", None), socket.socket):
        status.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, None, None]:
    """Where a fixture brings the server in: its own words."""
    try:
        return (yield)
    except ImportError as missing:
        if sys.version_info < (3, 11) and "The embedded server needs Python" in str(missing):
            pytest.skip(str(missing))
        raise


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Random work has as much more time than other tests as it was told to take."""
    for item in items:
        if SECONDS and item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.timeout(SECONDS + 900), append=False)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Reading all tests makes half a million objects and no garbage: looking for some took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Half a million objects of the tests themselves stay to the end: no collection of garbage looks at them again.
    Tests that ask for one waited a third of a second for each."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(
        20_000, 20, 100
    )  # what a test makes is mostly small and soon gone: a sixteenth of all CPU


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # else what extension modules made is not gone when Python ends, and nanobind says so


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config) -> Iterator[Server | RealServer]:
    """A server in this process, on a free loopback port, with its databases in memory; or the one of ``--informix``."""
    plugin = pytestconfig.pluginmanager.get_plugin(REAL_SERVER)
    if plugin is not None:
        yield from plugin.serve()
        return
    from informix_arrow.server import Server

    with Server(threads=1) as running:  # each core has a worker of its own
        yield running


@pytest.fixture(scope="session")
def server_process(request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of `stores_demo` on an ``informix-arrow serve`` that runs in a process of its own; or of ``--informix``."""
    if request.config.pluginmanager.has_plugin(REAL_SERVER):
        yield request.getfixturevalue("server").url("stores_demo")
        return
    import informix_arrow.server  # noqa: F401 - where it cannot be, its own words are those of the skip

    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": "in4mix"}
    command = [sys.executable, "-m", "informix_arrow.cli", "serve", "--port", "0", "--threads", "1"]
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


@pytest.fixture(scope="session")
def informix_server(server: Server) -> Server:
    """The server of the tests, where others have the one of the pytest plugin."""
    return server


@pytest.fixture(scope="session")
def owner(server: Server) -> str:
    """Who the tests log in as: the owner of what they create."""
    return server.user


@pytest.fixture(scope="session")
def password(server: Server) -> str:
    """The password of that login, which may be read nowhere."""
    return server.password


@pytest.fixture
def informix_database(server: Server, request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of a new empty database, with a log, in UTF-8. Dropped after the test."""
    name = f"test_{zlib.crc32(request.node.nodeid.encode()):08x}"  # the same in each run: it is in recordings
    server.create_database(name)
    try:
        yield server.url(name)
    finally:
        if not isinstance(server, RealServer):
            server.faults.clear()
            server.queries.clear()
        server.drop_database(name)


@pytest.fixture(autouse=True)
def _no_known_servers() -> None:
    """Each test meets its servers for the first time: a scripted one may be where another one was before."""
    capability_cache.clear()


@pytest.fixture
def quick_captures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of this process wait a twentieth of a second for changes where they were told a second or two: to
    learn that there are no more, a client waits that long."""
    from informix_arrow.server.session.captures import CaptureSession, CaptureSessions

    opened = CaptureSessions.open

    def soon(captures: CaptureSessions, descriptor: int, timeout: int, most: int) -> CaptureSession:
        session = opened(captures, descriptor, timeout, most)
        if 0 < timeout <= 2:
            session.timeout = 0.05  # type: ignore[assignment]
        return session

    monkeypatch.setattr(CaptureSessions, "open", soon)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Python's own handler of SIGINT, which raises KeyboardInterrupt.

    A shell starts what it runs in the background (``make test &`` in a script) with SIGINT ignored, and children
    inherit that: a test that sends the signal would wait for ever.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@pytest.fixture
def ctrl_c_ends_no_wait(ctrl_c: None) -> None:
    """System calls that wait go on after SIGINT, as they do once Polars or another library has installed its own
    handler."""
    signal.siginterrupt(signal.SIGINT, False)
