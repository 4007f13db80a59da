"""Runs tests on an existing server: ``pytest --informix informix://user:password@host:port/?server=name``.

`RealServer` replaces the embedded `Server` in the fixture ``server``. The names of its databases begin with a prefix of
this run. They are dropped when the run ends, and nothing else on the server is changed. Only tests that use the fixture
run. A test is skipped as soon as it uses more of the embedded server than its address and databases: if it reads
another attribute of `RealServer`, starts a `Server`, or changes a class of the server's package. Tests for which this
check does not work have the mark ``embedded``.

``--record DIR`` records the dialogues of each test with the server, ``--replay DIR`` replays them
(tests/recordings.py).
"""

from __future__ import annotations

import gc
import inspect
import itertools
import os
import secrets
import socket
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import pytest
from tests import recordings
from tests.release_differences import MISSING, difference, release_of

import informix_arrow
from informix_arrow.operations.session import Session

#: Name of the registered plugin.
REAL_SERVER = "informix_real_server"
#: Beginning of the names of test databases. The processes of a run share the digits after it.
PREFIX = "ia_test_"
#: Environment variable that passes the digits to the other processes of a run.
_RUN = "INFORMIX_ARROW_TEST_RUN"
#: Databases of every server or of its administrator, which are never created or dropped here.
SYSTEM_DATABASES = frozenset({"sysadmin", "syscdcv1", "sysha", "sysmaster", "sysuser", "sysutils"})
#: Seconds to wait for closed sessions to release their database.
_RELEASED = 30.0

_NO_SUCH_DATABASE = -329

_LOCALES = {"en_US.utf8": "en_US.utf8", "en_US.819": "en_US.819", "en_US.8859-1": "en_US.819"}


class RealServer:
    """A server at a URL, with the attributes of `informix_arrow.server.Server` that any server has.

    Parameters
    ----------
    url
        URL with user, password and ``server``; its database is ignored.
    prefix
        Beginning of the names of its databases.
    via
        Address that clients connect to instead, such as that of a proxy.

    Attributes
    ----------
    host, port, address
        Address that clients connect to.
    release
        Release, such as ``"14.10"``.
    """

    def __init__(self, url: str, prefix: str, via: tuple[str, int] | None = None) -> None:
        parts = urlsplit(url)
        if parts.hostname is None or parts.username is None or parts.password is None or not parts.query:
            raise pytest.UsageError(
                "--informix takes a URL such as informix://user:password@host:9088/?server=informix, "
                "with a user and a password."
            )
        self.parts = parts
        self.direct = parts.hostname, parts.port or 9088
        self.host, self.port = via or self.direct
        self.user, self.password = unquote(parts.username), unquote(parts.password)
        query = dict(pair.partition("=")[::2] for pair in parts.query.split("&"))
        self.server_name = unquote(query.get("server", ""))
        self.tls_cert = None
        self.prefix = prefix
        self.created: set[str] = set()
        self.ask_release()

    def ask_release(self) -> None:
        """Set `version`, the server's full version text, and `release`."""
        with informix_arrow.connect(self.url_of("sysmaster", self.direct), autocommit=True) as connection:
            rows = connection.execute("SELECT DBINFO('version', 'full') FROM systables WHERE tabid = 1")
            self.version = str(rows.fetchall()[0][0]).strip()
        self.release = release_of(self.version)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port, for clients of others. Skips the test if the server requires TLS."""
        if self.parts.scheme != "informix":
            pytest.skip("this test connects without TLS")
        return self.host, self.port

    def database_name(self, name: str) -> str:
        """Return the name of a test database on this server, such as ``ia_test_5f3e_main_stores``."""
        if name in SYSTEM_DATABASES or name.startswith(self.prefix):
            return name
        return self.prefix + name

    def url(self, database: str | None = None) -> str:
        """Return the URL of one of the run's databases for `informix_arrow.connect`. ``stores_demo`` is created when it
        is first used."""
        if not database:
            return self.url_of("")
        name = self.database_name(database)
        if database == "stores_demo" and name not in self.created:
            self.create_database(database)
        return self.url_of(name)

    def create_database(
        self, name: str, *, mode: Literal["logged", "unlogged", "ansi"] = "logged", locale: str = "en_US.utf8"
    ) -> None:
        """Create one of the run's databases, like the method of the embedded server."""
        name = self.database_name(name)
        how = {"logged": " WITH LOG", "unlogged": "", "ansi": " WITH LOG MODE ANSI"}[mode]
        wanted = _LOCALES.get(locale, locale)
        with informix_arrow.connect(
            self.url_of("", self.direct), autocommit=True, db_locale=wanted, client_locale=wanted
        ) as connection:
            connection.execute(f"CREATE DATABASE {name}{how}")
        self.created.add(name)

    def drop_database(self, name: str) -> None:
        """Drop one of the run's databases. Waits for sessions that the test has closed to release it."""
        name = self.database_name(name)
        if not name.startswith(PREFIX):
            raise ValueError(f"{name} is not a test database")
        self.created.discard(name)
        ends = time.monotonic() + _RELEASED
        while True:
            try:
                with informix_arrow.connect(
                    self.url_of("", self.direct), autocommit=True, lock_wait=5
                ) as connection:
                    connection.execute(f'DROP DATABASE "{name}"' if '"' in name else f"DROP DATABASE {name}")
                return
            except informix_arrow.OperationalError as error:
                if error.sqlcode == _NO_SUCH_DATABASE or time.monotonic() > ends:
                    raise
                gc.collect()  # close connections that the test has not closed
                time.sleep(0.1)

    def drop_all(self, prefix: str) -> list[str]:
        """Drop the databases whose names begin with ``prefix``; return those that could not be dropped."""
        left = []
        with informix_arrow.connect(self.url_of("sysmaster", self.direct), autocommit=True) as connection:
            found = connection.execute("SELECT name FROM sysdatabases ORDER BY name").fetchall()
        for name in (str(row[0]).strip() for row in found):
            if name.startswith(prefix):
                try:
                    self.drop_database(name)
                except informix_arrow.Error:
                    left.append(name)
        return left

    def host_names(self) -> set[str]:
        """Return the names of the server's host."""
        with informix_arrow.connect(self.url_of("sysmaster", self.direct), autocommit=True) as connection:
            rows = connection.execute("SELECT DBINFO('dbhostname') FROM systables WHERE tabid = 1").fetchall()
        name = str(rows[0][0]).strip()
        return {name, name.partition(".")[0]}

    def url_of(self, name: str, address: tuple[str, int] | None = None) -> str:
        host, port = address or (self.host, self.port)
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        place = f"{login}@[{host}]:{port}" if ":" in host else f"{login}@{host}:{port}"
        return urlunsplit((self.parts.scheme, place, quote(name, safe=""), self.parts.query, ""))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"needs the embedded server: Server.{name}")


class ReplayedServer(RealServer):
    """The server of a folder of recordings. Its databases exist already, so creating and dropping them does nothing."""

    def __init__(self, folder: Path, via: tuple[str, int]) -> None:
        first = next(folder.rglob("*.jsonl"), None)
        if first is None:
            raise pytest.UsageError(f"--replay: there are no recordings in {folder}.")
        self.about, _ = recordings.read(first)
        user, name = quote(self.about["user"], safe=""), quote(self.about["server"], safe="")
        url = f"informix://{user}:replayed@{via[0]}:{via[1]}/?server={name}"
        super().__init__(url, recordings.REPLAYED_PREFIX, via)

    def ask_release(self) -> None:
        self.version, self.release = self.about["version"], release_of(self.about["version"])

    def create_database(self, name: str, **how: Any) -> None:
        """Do nothing."""

    def drop_database(self, name: str) -> None:
        """Do nothing."""

    def drop_all(self, prefix: str) -> list[str]:
        """Do nothing."""
        return []


def run_prefix() -> str:
    """Return the beginning of the names of all databases of this run, in all its processes."""
    return f"{PREFIX}{os.environ.setdefault(_RUN, secrets.token_hex(3))}_"


def worker_number() -> int | None:
    """Return the number of this worker of pytest-xdist, None if this process is not a worker."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    return int(worker.removeprefix("gw")) if worker else None


def worker_prefix() -> str:
    """Return the beginning of the names of this process's databases. Its length is constant, as recordings need it."""
    number = worker_number()
    return f"{run_prefix()}{0 if number is None else number + 1:02x}_"


class RealServerPlugin:
    """Applies ``--informix`` and ``--replay``: which tests run, and which of their errors count as skips."""

    def __init__(self, urls: list[str] | None, record: str | None, replay: str | None) -> None:
        self.urls = urls or []
        url = self.urls[(worker_number() or 0) % len(self.urls)] if urls else None
        if bool(url) == bool(replay) or (record and not url):
            raise pytest.UsageError(
                "--informix URL goes alone or with --record DIR, --replay DIR goes alone."
            )
        if record and not str(url).startswith("informix://"):
            raise pytest.UsageError("--record needs a URL without TLS: informix://..")
        run_prefix()  # sets the environment variable before workers inherit it, so that all have the same digits
        self.url = url
        self.folder = Path(record or replay or "").absolute()
        self.player = recordings.Player(self.folder) if replay else None
        self.proxy: recordings.RecordingProxy | None = None
        self.server: RealServer | None = None
        self.not_kept: dict[str, str] = {}
        self.recording = bool(record)
        self.owner = ""
        self.hiding = recordings.Hiding("", ())
        self.failed: set[str] = set()
        self.patches = pytest.MonkeyPatch()

    def serve(self) -> Iterator[RealServer]:
        """Yield the server of this process and drop its databases afterwards."""
        if self.player is not None:
            self.server = ReplayedServer(self.folder, self.player.address)
            yield self.server
            return
        assert self.url is not None
        self.server = RealServer(self.url, worker_prefix())
        if self.recording:
            self.proxy = recordings.RecordingProxy(self.server.address)
            self.proxy.owner = self.owner  # the test that asked for the server
            hosts = {self.server.host, *self.server.host_names(), socket.gethostname(), socket.getfqdn()}
            self.hiding = recordings.Hiding(self.server.password, hosts)
            self.server = RealServer(self.url, worker_prefix(), self.proxy.address)
        yield self.server
        if self.proxy is not None:
            self.proxy.close()
        left = self.server.drop_all(self.server.prefix)
        assert not left, f"databases that could not be dropped: {left}"

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Select the tests that use the fixture ``server`` of tests/conftest.py."""
        kept, left = [], []
        for item in items:
            runs = _takes_any_server(item)
            if runs and self.player is not None:
                runs = recordings.file_of(self.folder, item.nodeid).exists()
            (kept if runs else left).append(item)
        if left:
            config.hook.pytest_deselected(items=left)
            items[:] = kept

    def pytest_sessionstart(self) -> None:
        """Skip tests that start a `Server` or change its classes, because it is not the server under test."""
        from informix_arrow.server import Server

        change = pytest.MonkeyPatch.setattr

        def started(self: Server) -> None:
            pytest.skip("needs an embedded server of its own")

        def changed(self: pytest.MonkeyPatch, target: Any, name: Any, *rest: Any, **more: Any) -> None:
            owner = target.__name__ if inspect.ismodule(target) else getattr(target, "__module__", "")
            path = target if isinstance(target, str) else str(owner)
            if path.startswith("informix_arrow.server"):
                pytest.skip(f"needs the embedded server: changes {path}")
            change(self, target, name, *rest, **more)

        self.patches.setattr(Server, "start", started)
        if self.recording or self.player is not None:
            self.make_loads_repeatable()
        self.patches.setattr(pytest.MonkeyPatch, "setattr", changed)

    # ---- the owner of connections that are opened now

    def set_owner(self, owner: str) -> None:
        self.owner = owner
        for end in (self.proxy, self.player):
            if end is not None:
                end.owner = owner

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """Make a shared fixture the owner of the connections that it opens during its setup and teardown."""
        if fixturedef.scope == "function" or fixturedef.argname == "server":
            return (yield)
        node = request.node.nodeid if fixturedef.scope != "session" else ""
        owner = f"fixture::{node}::{fixturedef.argname}[{getattr(request, 'param_index', 0)}]"
        before = self.owner
        test: list[str] = []

        def ended() -> None:
            if test:
                self.set_owner(test.pop())
                if self.proxy is not None:
                    self.write_recording(owner)

        fixturedef.addfinalizer(ended)
        self.set_owner(owner)
        if self.player is not None:
            self.player.begin(owner)
        try:
            return (yield)
        finally:
            self.set_owner(before)

            def torn_down() -> None:
                test.append(self.owner)
                self.set_owner(owner)

            fixturedef.addfinalizer(torn_down)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self.set_owner(item.nodeid)
        if self.player is not None:
            self.player.begin(item.nodeid)
        result = yield
        if self.proxy is not None:
            self.write_recording(item.nodeid)
        return result

    def write_recording(self, owner: str) -> None:
        assert self.proxy is not None
        assert self.server is not None
        self.proxy.settle()
        dialogues = self.proxy.kept.pop(owner, [])
        if owner in self.failed:
            return
        about = {
            "server": self.server.server_name, "user": self.server.user, "version": self.server.version,
        }  # fmt: skip
        try:
            recordings.write(self.folder, owner, about, dialogues, self.hiding)
        except recordings.NotKept as reason:
            self.not_kept[owner] = str(reason)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """List the tests that have no recording, with the reason. Workers of pytest-xdist have no terminal."""
        if self.not_kept:
            terminalreporter.section("not recorded")
            for owner, reason in self.not_kept.items():
                terminalreporter.line(f"{owner}: {reason}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self.failed.add(report.nodeid)

    def make_loads_repeatable(self) -> None:
        """Give sessions a clock that counts its calls. The rows that a load sends at a time depend on how long replies
        take, and then they always take the same time."""
        initialize = Session.__init__

        def with_clock(session: Session, *given: Any, **named: Any) -> None:
            ticks = itertools.count()
            named.setdefault("clock", lambda: next(ticks) / 1000)
            initialize(session, *given, **named)

        self.patches.setattr(Session, "__init__", with_clock)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from _missing_is_skipped())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        server = item.funcargs.get("server") if isinstance(item, pytest.Function) else None
        if isinstance(server, RealServer):
            known = difference(item.nodeid, server.release)
            if known:
                item.add_marker(pytest.mark.xfail(reason=f"{server.release}: {known}", strict=False))
        result = yield from _missing_is_skipped()
        if self.player is not None:
            problems, self.player.problems = self.player.problems, []
            assert not problems, "\n".join(problems)
        return result

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Drop the databases of workers that ended too early."""
        self.patches.undo()
        if self.url is None or hasattr(session.config, "workerinput") or session.config.option.collectonly:
            return
        left = [name for url in self.urls for name in RealServer(url, run_prefix()).drop_all(run_prefix())]
        if left:
            print(f"\ndatabases that could not be dropped: {', '.join(left)}")


def _takes_any_server(item: pytest.Item) -> bool:
    if any(item.get_closest_marker(mark) for mark in ("embedded", "soak", "program", "ecosystem")):
        return False
    if item.path.name.startswith("test_server_"):
        return False  # about details of the embedded server
    info = getattr(item, "_fixtureinfo", None)
    found = {} if info is None else info.name2fixturedefs
    return any(name in found and found[name][-1].baseid == "tests" for name in ("server", "server_process"))


def _missing_is_skipped() -> Generator[None, Any, Any]:
    """Skip a test if its error means that this server lacks a feature, with the error as the reason."""
    try:
        return (yield)
    except informix_arrow.Error as error:
        for code in (error.sqlcode, error.isamcode):
            if code in MISSING:
                pytest.skip(f"{MISSING[code]}: {error}")
        raise


def database_name(server: Any, name: str) -> str:
    """Return the name of a test database on a server; on the embedded server it is unchanged."""
    return server.database_name(name) if isinstance(server, RealServer) else name
