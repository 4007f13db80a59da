"""Fixtures of all tests: the embedded server, in this process and in a process of its own. All tests share them, so
each test gives its tables names that no other test uses."""

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

#: tests/ecosystem runs SQLAlchemy's suite in its own pytest. tests/soak runs only with INFORMIX_ARROW_SOAK_SECONDS.
collect_ignore = ["sqlalchemy_suite"] if SECONDS else ["soak", "sqlalchemy_suite"]

#: Matches a test file that needs the embedded server: it imports the server or takes a fixture that does.
_OF_SERVER = re.compile(
    r"^(from|import) (informix_arrow\.(server|demo|sqlalchemy)|duckdb|sqlalchemy|sqlglot)\b"
    r"|^from informix_arrow import .*\bserver\b"
    r"|^from (\.|tests\.integration\.)(aio_support|raw|copy_targets) |^ *from tests\.unit\.server\.sql_session "
    r"|\bserver_process\b|[(,] *server: |\bfresh_engine\b|\"serve\"\]|\bpytester\b",
    re.MULTILINE,
)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Ignore tests that need the embedded server on Python 3.10: DuckDB 2 needs 3.11."""
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
    """Skip a test on Python 3.10 if a fixture imports the embedded server, with the message of its ImportError."""
    try:
        return (yield)
    except ImportError as missing:
        if sys.version_info < (3, 11) and "The embedded server needs Python" in str(missing):
            pytest.skip(str(missing))
        raise


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Extend the time limit of soak tests by the time they are told to run."""
    for item in items:
        if SECONDS and item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.timeout(SECONDS + 900), append=False)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without garbage collection: it took a third of the time and found nothing among half a million
    objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Exclude the half a million objects of the collected tests from garbage collection. With them, each `gc.collect()`
    in a test took a third of a second."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)  # the default thresholds took a sixteenth of all CPU


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # otherwise nanobind reports leaks of extension modules when Python ends


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config) -> Iterator[Server | RealServer]:
    """An embedded server in this process, on a free loopback port, with databases in memory; or that of
    ``--informix``."""
    plugin = pytestconfig.pluginmanager.get_plugin(REAL_SERVER)
    if plugin is not None:
        yield from plugin.serve()
        return
    from informix_arrow.server import Server

    with Server(threads=1) as running:  # the workers of pytest-xdist use the other cores
        yield running


@pytest.fixture(scope="session")
def server_process(request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of `stores_demo` on ``informix-arrow serve`` in another process; or on the server of ``--informix``."""
    if request.config.pluginmanager.has_plugin(REAL_SERVER):
        yield request.getfixturevalue("server").url("stores_demo")
        return
    import informix_arrow.server  # noqa: F401 - its ImportError is the reason of the skip

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
    """The fixture `server` under the name of the pytest plugin's fixture, which it overrides."""
    return server


@pytest.fixture(scope="session")
def owner(server: Server) -> str:
    """The user that the tests log in as, who owns what they create."""
    return server.user


@pytest.fixture(scope="session")
def password(server: Server) -> str:
    """The password of `owner`. It must not appear in any error, repr or log."""
    return server.password


@pytest.fixture
def informix_database(server: Server, request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of a new empty database with logging, in UTF-8. It is dropped after the test."""
    name = f"test_{zlib.crc32(request.node.nodeid.encode()):08x}"  # the same in each run, as recordings contain it
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
    """Forget the capabilities of known servers: another scripted server may now listen at an address."""
    capability_cache.clear()


@pytest.fixture
def quick_captures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the wait for changes on servers in this process from one or two seconds to 0.05 s: a client waits that
    long to learn that there are no more changes."""
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
    """Install Python's own handler of SIGINT, which raises KeyboardInterrupt.

    A shell starts what it runs in the background (``make test &`` in a script) with SIGINT ignored, and children
    inherit that: a test that sends the signal would wait for ever.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@pytest.fixture
def ctrl_c_ends_no_wait(ctrl_c: None) -> None:
    """Let blocking system calls continue after SIGINT, as they do once Polars or another library has installed its own
    handler."""
    signal.siginterrupt(signal.SIGINT, False)
