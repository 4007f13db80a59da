"""The embedded SQLI server: a real server of Informix's wire protocol with DuckDB as its SQL engine.

    with Server() as server:
        conn = informix_arrow.connect(server.url("stores_demo"))

IBM's JDBC driver and ``informix-driver`` use it unchanged. It imports the wire layer and the C codecs and
knows nothing of the client: ``load=`` is the work of `informix_arrow.loading`, a client like any other.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal
from urllib.parse import quote

try:
    from .engine import Engine
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.partition(".")[0] not in {"duckdb", "sqlglot"}:
        raise
    raise ModuleNotFoundError(
        f"the embedded server needs {missing.name}: pip install 'informix-arrow[server]'", name=missing.name
    ) from missing
import duckdb

from ..wire.capabilities import locale_code
from .directory import DirectoryInUse, DirectoryLock
from .errors import SqlError
from .faults import Faults
from .limits import STRANGERS, Limits, Places
from .listener import Listener
from .pam import Questions
from .query_log import Query, QueryLog
from .session import Session, Settings
from .spl.registry import Registered, registered
from .tls import server_context
from .watching import WatchedSession

__all__ = ["DirectoryInUse", "Faults", "Query", "QueryLog", "Server", "SqlError"]

log = logging.getLogger("informix_arrow.server")

VERSION = "IBM Informix Dynamic Server Version 14.10.FC7W1"
"""What the server calls itself. JDBC cuts the text at "Version " and crashes without it (JDBC section 3); the
answers to SQ_PROTOCOLS are those of the same release."""

_LOOPBACK = "127.0.0.1"
_PATIENCE = 60.0
"""Seconds for what takes none unless the machine is very busy."""


@dataclass
class Server:
    """An SQLI server inside this process.

    Parameters
    ----------
    directory
        Where databases are kept; None keeps them in memory until `stop`. One server at a time has it.
    host, port
        Where to listen. Only this machine reaches the default; port 0 takes a free port.
    user, password
        The one login that is accepted, beside those of `pam`.
    server_name
        What clients call INFORMIXSERVER; another name is refused with -761.
    login_timeout
        Seconds that a peer may take from connecting to the end of its login.
    idle_timeout
        Seconds that a session may do nothing before it is ended; None, the default, for ever.
    max_sessions
        Logged-in clients at a time; one more is refused with -25571.
    tls_cert, tls_key
        PEM files: the certificate (chain), and its private key unless that is in the same file. The server then
        speaks TLS 1.2 or later from the first byte, and nothing else.
    tls_ca
        A PEM file of CAs, one of which must have signed the certificate that a client shows.
    pam
        Questions to users at login, ``{"ann": [("Code: ", True, "1234")]}``: text, whether the answer is hidden, the
        right answer (None: the text is only shown). Such a user's password is ignored. Or a function from the user's
        name to them, None for a user without.
    load
        Tables to start with: ``{"database.table": data}``, data being anything with ``__arrow_c_stream__`` or the path
        of a Parquet, CSV or Arrow file.
    query_log
        An open text file that gets a line of JSON for each statement.

    Used as a context manager or through `start` and `stop`. `faults` makes statements and connections fail to
    order, `queries` holds the last statements that clients have executed. What it answers where real servers are not
    known is written down in `server.conversation`.
    """

    directory: str | os.PathLike[str] | None = None
    host: str = _LOOPBACK
    port: int = 0
    user: str = "informix"
    password: str = field(default="in4mix", repr=False)
    server_name: str = "informix"
    login_timeout: float = field(default=30.0, kw_only=True)
    idle_timeout: float | None = field(default=None, kw_only=True)
    max_sessions: int = field(default=1000, kw_only=True)
    tls_cert: str | os.PathLike[str] | None = field(default=None, kw_only=True)
    tls_key: str | os.PathLike[str] | None = field(default=None, kw_only=True)
    tls_ca: str | os.PathLike[str] | None = field(default=None, kw_only=True)
    pam: Questions | None = field(default=None, kw_only=True, repr=False)
    load: Mapping[str, Any] | None = field(default=None, kw_only=True, repr=False)
    query_log: IO[str] | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self.faults = Faults()
        self.queries = QueryLog(file=self.query_log)
        self._listener: Listener | None = None
        self._engine: Engine | None = None
        self._lock: DirectoryLock | None = None
        self._routines: list[Registered] = []
        self._requested_port = self.port

    def start(self) -> Server:
        """Open the databases, load, and listen.

        RuntimeError when it runs already, or the databases cannot be opened (DirectoryInUse: another server has
        them); OSError when the address cannot be had; ValueError for settings or tables to load that are wrong.
        """
        if self._listener is not None:
            raise RuntimeError("the server is running already")
        settings = self._settings()
        try:
            self._engine = self._open()
            for routine in self._routines:
                self._engine.register(routine)
            if self.load:
                self._load(self._engine, settings)
            self._listener = self._listen(self._engine, settings, self.host, self._requested_port)
        except BaseException:
            self.stop()
            raise
        self.port = self._listener.address[1]
        if settings.tls is None and not _only_this_machine(self._listener.address[0]):
            log.warning(
                "listening on %s without TLS: passwords and data can be read on the network (tls_cert, or serve "
                "--tls-cert, encrypts them)",
                self._listener.address[0],
            )
        return self

    def stop(self) -> None:
        """End every session (open transactions are rolled back), wait for the threads, close the
        databases."""
        listener, engine, lock = self._listener, self._engine, self._lock
        self._listener = self._engine = self._lock = None
        if listener is not None:
            listener.stop()
        if engine is not None:
            engine.close()
        if lock is not None:
            lock.release()
        self.port = self._requested_port

    def _settings(self) -> Settings:
        limits = Limits(self.max_sessions, self.login_timeout, self.idle_timeout)
        if self.tls_cert is None and (self.tls_key is not None or self.tls_ca is not None):
            raise ValueError("tls_key and tls_ca are nothing without tls_cert, the server's own certificate")
        tls = None if self.tls_cert is None else server_context(self.tls_cert, self.tls_key, self.tls_ca)
        return Settings(
            self.user,
            self.password,
            self.server_name,
            VERSION,
            limits,
            Places(limits),
            self.faults,
            self.queries,
            tls,
            self.pam,
        )

    def _open(self) -> Engine:
        directory = None if self.directory is None else Path(self.directory)
        try:
            if directory is not None:
                self._lock = DirectoryLock(directory)
            return Engine(directory, self.server_name, VERSION)
        except (duckdb.Error, OSError) as problem:
            raise RuntimeError(f"the databases in {directory} cannot be opened: {problem}") from problem

    def _load(self, engine: Engine, settings: Settings) -> None:
        """Load over a listener of its own, which nobody else can log in to, before the real one is there."""
        from ..loading import load

        assert self.load is not None
        user, password = "loader", secrets.token_urlsafe()
        limits = Limits(sessions=STRANGERS, login_seconds=_PATIENCE, idle_seconds=None)
        apart = replace(
            settings,
            user=user,
            password=password,
            limits=limits,
            places=Places(limits),
            faults=Faults(),
            queries=QueryLog(kept=0),
            tls=None,
            pam=None,
        )
        listener = self._listen(engine, apart, _LOOPBACK, 0)
        try:
            server = quote(self.server_name, safe="")
            load(
                f"informix://{user}:{password}@{_LOOPBACK}:{listener.address[1]}/?server={server}", self.load
            )
        finally:
            listener.stop()

    @staticmethod
    def _listen(engine: Engine, settings: Settings, host: str, port: int) -> Listener:
        def serve(sock: socket.socket) -> Session:
            return Session(sock, settings, engine)

        listener = Listener(host, port, serve, settings.limits.sessions + STRANGERS)
        listener.start()
        return listener

    def register(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        parameters: Sequence[str] = (),
        returns: str | Sequence[str] = (),
    ) -> None:
        """Make a Python callable a routine that SQL can call, in every database.

        Parameters
        ----------
        name
            What clients call it. A routine that a database has by CREATE goes before it.
        function
            Gets its arguments as Python values, None for NULL. What it returns is a value, a tuple where there are
            several types, or an iterator (a generator) of those: then each is a row. Sessions call it from their
            own threads. What it raises reaches the client as -746 with its text; `SqlError` (from `.engine`) as its
            own code.
        parameters, returns
            Informix types, such as ``"INTEGER"`` or ``"VARCHAR(20)"``; nothing returned makes it a procedure.

        Before or after `start`; it stays when the server is stopped. ValueError for a type that is none. See
        docs/spl.md.
        """
        types = (returns,) if isinstance(returns, str) else tuple(returns)
        made = registered(name, function, tuple(parameters), types)
        self._routines.append(made)
        if self._engine is not None:
            self._engine.register(made)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port that it listens on; RuntimeError when it does not."""
        if self._listener is None:
            raise RuntimeError("the server is not running")
        return self._listener.address

    @property
    def sessions(self) -> int:
        """Number of connections being served now."""
        return 0 if self._listener is None else self._listener.sessions

    def create_database(
        self, name: str, *, mode: Literal["logged", "unlogged", "ansi"] = "logged", locale: str = "en_US.utf8"
    ) -> None:
        """Make a database, as CREATE DATABASE does; SqlError -330 when there is one of that name."""
        options = {"logged": ("log",), "unlogged": (), "ansi": ("log", "ansi")}[mode]
        self._running().create_database(name, options, locale_code(locale))

    def drop_database(self, name: str) -> None:
        """Drop a database; sessions that have it open are ended first. SqlError -329 when there is none of that
        name, -425 when it is in use all the same."""
        engine = self._running()
        for session in engine.users_of(name):
            if isinstance(session, WatchedSession):
                session.end(_PATIENCE)
        engine.drop_database(name)

    def _running(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("the server is not running")
        return self._engine

    def url(self, database: str | None = None) -> str:
        """A URL that `informix_arrow.connect` takes. It holds the password: do not log it."""
        host, port = self.address
        scheme = "informix" if self.tls_cert is None else "informixs"
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        path = "" if database is None else quote(database, safe="")
        return f"{scheme}://{login}@{where}/{path}?server={quote(self.server_name, safe='')}"

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _only_this_machine(host: str) -> bool:
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback
