"""The class Server: settings, databases and listener put together."""

from __future__ import annotations

import ipaddress
import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal
from urllib.parse import quote

import duckdb

from ..wire.capabilities import locale_code
from .handlers.pam import Questions
from .initial_tables import load_tables
from .net.client_connection import ClientConnection, ServerSettings
from .net.directory import DirectoryLock, check_format, write_format
from .net.faults import Faults
from .net.limits import MAX_UNAUTHENTICATED, ServerLimits, SessionSlots
from .net.listener import Listener
from .net.query_log import QueryLog
from .net.releases import DEFAULT_RELEASE, find_release
from .net.tls import server_context
from .parse.database_names import parse_database_name
from .routines.session_routines import SplLibrary
from .session.duck_instance import ResourceLimits
from .session.engine import Engine
from .session.routine_protocols import PythonRoutine, python_routine

log = logging.getLogger("informix_arrow.server")

_LOOPBACK = "127.0.0.1"
_STOP_TIMEOUT = 60.0
"""Seconds to wait for the end of threads, which takes much less unless the machine is very busy."""


@dataclass
class Server:
    """An SQLI server inside this process.

    Parameters
    ----------
    directory
        Folder of the databases. Only one server at a time can use it. None (default) keeps the databases in memory
        until `stop`.
    host, port
        Address to listen on. The default host is reachable from this machine only. Port 0 takes a free port.
    user, password
        The login of `url`.
    users
        Passwords of further users by name. GRANT decides what they may do. `user` and informix are DBAs of every
        database. Raises ValueError if `user` is among them with a password other than `password`.
    server_name
        Value of INFORMIXSERVER in clients. Another name is refused with -761.
    login_timeout
        Seconds that a peer may take from connecting to its first request after the login. A warning in the log says
        where a login stalled.
    idle_timeout
        Seconds after which an idle session is ended. None (default): no limit.
    max_sessions
        Maximum number of logged-in clients. One more is refused with -25571.
    tls_cert, tls_key
        PEM files: the certificate (chain), and its private key unless that is in the same file. The server then
        requires TLS 1.2 or later from the first byte.
    tls_ca
        A PEM file of CAs, one of which must have signed the client's certificate.
    pam
        Questions to users at login, ``{"ann": [("Code: ", True, "1234")]}``: text, whether the reply is hidden, the
        right reply (None: the text is only shown). Such a user's password is ignored. Also a function that takes the
        user's name and returns such a list, or None for a user without questions.
    load
        Tables to start with: ``{"database.table": data}``. The data is anything with ``__arrow_c_stream__`` or the path
        of a Parquet, CSV or Arrow file.
    memory_limit, statement_memory_limit
        Memory for the statements of all sessions, such as ``"2GB"``, by default half of the machine's memory. Memory
        for one statement to sort, group and join before it spills to files, by default half of ``memory_limit``.
    temp_directory
        Directory of those files: by default ``tmp`` in `directory`, or a new directory among the machine's temporary
        ones.
    threads
        Threads that run one statement. None (default): one per core. 1 saves CPU time where statements are short.
    query_log
        An open text file that gets a line of JSON for each statement.
    version
        The release that it reports: "12.10", "14.10" or "15.0". Another one raises ValueError at `start`.
        docs/server.md lists what depends on it.

    Notes
    -----
    Use it as a context manager, or call `start` and `stop`. `faults` makes statements and connections fail on purpose.
    `query_log` holds the last statements that clients have executed. `server.handlers.protocol_session` documents the
    replies for which the behaviour of real servers is not known.
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
    users: Mapping[str, str] | None = field(default=None, kw_only=True, repr=False)
    version: str = field(default=DEFAULT_RELEASE, kw_only=True)
    memory_limit: str = field(default="50%", kw_only=True)
    statement_memory_limit: str | None = field(default=None, kw_only=True)
    temp_directory: str | os.PathLike[str] | None = field(default=None, kw_only=True)
    threads: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.query_log is not None and not hasattr(self.query_log, "write"):
            raise TypeError(
                f"query_log must be an open text file, not {self.query_log!r}. Only `serve --query-log` takes a path."
            )
        self.faults = Faults()
        self.queries = QueryLog(file=self.query_log)
        self._listener: Listener[ClientConnection] | None = None
        self._engine: Engine | None = None
        self._lock: DirectoryLock | None = None
        self._routines: list[PythonRoutine] = []
        self._requested_port = self.port

    def start(self) -> Server:
        """Open the databases, load the initial tables, and listen.

        Raises RuntimeError if the server runs already or cannot open the databases. DirectoryInUse means that another
        server uses them, and DirectoryFormatUnknown that another version has written them. Raises OSError if the
        address is not available, and ValueError for wrong settings or tables.
        """
        if self._listener is not None:
            raise RuntimeError("The server is already running.")
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
        bound = ipaddress.ip_address(self._listener.address[0].partition("%")[0])
        if settings.tls is None and not bound.is_loopback:
            log.warning(
                "Listening on %s without TLS. Passwords and data can be read on the network. Use tls_cert or serve "
                "--tls-cert to encrypt them.",
                self._listener.address[0],
            )
        return self

    def stop(self) -> None:
        """End every session (open transactions are rolled back), wait for the threads, close the databases.

        A statement that cannot be stopped runs to its end, with a warning in the log. Only then are the databases
        closed and their directory free.
        """
        listener, engine, lock = self._listener, self._engine, self._lock
        self._listener = self._engine = self._lock = None
        self.port = self._requested_port
        unfinished = [] if listener is None else listener.stop()
        if not unfinished:
            _close(engine, lock)
            return
        log.warning(
            "%d statements are still running. The databases are closed when they have ended.", len(unfinished)
        )

        def close_later() -> None:
            for thread in unfinished:
                thread.join()
            _close(engine, lock)

        threading.Thread(target=close_later, name="informix-arrow closing", daemon=True).start()

    def _settings(self) -> ServerSettings:
        limits = ServerLimits(self.max_sessions, self.login_timeout, self.idle_timeout)
        if self.tls_cert is None and (self.tls_key is not None or self.tls_ca is not None):
            raise ValueError("tls_key and tls_ca need tls_cert, the server's own certificate.")
        tls = None if self.tls_cert is None else server_context(self.tls_cert, self.tls_key, self.tls_ca)
        users = {self.user: self.password, **(self.users or {})}
        if users[self.user] != self.password:
            raise ValueError(
                f"users= and password= have different passwords for {self.user!r}. Pass only one of them."
            )
        return ServerSettings(
            users,
            self.server_name,
            find_release(self.version).announced,
            limits,
            SessionSlots(limits),
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
                check_format(directory)
            temporary = None if self.temp_directory is None else Path(self.temp_directory)
            limits = ResourceLimits(self.memory_limit, self.statement_memory_limit, temporary, self.threads)
            product, administrators = find_release(self.version).product, ("informix", self.user)
            engine = Engine(directory, self.server_name, product, SplLibrary(), limits, administrators)
            if directory is not None:
                try:
                    write_format(directory)
                except OSError:
                    engine.close()
                    raise
            return engine
        except (duckdb.Error, OSError) as problem:
            raise RuntimeError(f"The databases in {directory} cannot be opened: {problem}") from problem

    def _load(self, engine: Engine, settings: ServerSettings) -> None:
        """Load the initial tables over a separate listener with a secret login, before the real one listens."""
        assert self.load is not None
        user, password = self.user, secrets.token_urlsafe()  # for this listener only
        limits = ServerLimits(sessions=MAX_UNAUTHENTICATED, login_seconds=_STOP_TIMEOUT, idle_seconds=None)
        private = replace(
            settings,
            users={user: password},
            limits=limits,
            session_slots=SessionSlots(limits),
            faults=Faults(),
            query_log=QueryLog(kept=0),
            tls=None,
            pam=None,
        )
        listener = self._listen(engine, private, _LOOPBACK, 0)
        try:
            server, login = quote(self.server_name, safe=""), f"{quote(user, safe='')}:{password}"
            address = f"{_LOOPBACK}:{listener.address[1]}"
            load_tables(f"informix://{login}@{address}/?server={server}", self.load)
        finally:
            listener.stop()

    @staticmethod
    def _listen(engine: Engine, settings: ServerSettings, host: str, port: int) -> Listener[ClientConnection]:
        def serve(sock: socket.socket) -> ClientConnection:
            return ClientConnection(sock, settings, engine)

        listener = Listener(host, port, serve, settings.limits.sessions + MAX_UNAUTHENTICATED)
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
            Name of the routine in SQL. A routine that was created in a database with CREATE takes precedence.
        function
            Gets its arguments as Python values, None for NULL. It returns a value, or a tuple if there are several
            types. An iterator or generator of those returns several rows. Sessions call it from their own threads. An
            exception reaches the client as -746 with its text. A `SqlError` of this package reaches it with its own
            code.
        parameters, returns
            Informix types, such as ``"INTEGER"`` or ``"VARCHAR(20)"``. Without `returns` it is a procedure.

        Call it before or after `start`. The routine stays registered when the server is stopped. An invalid type raises
        ValueError. See docs/spl.md.
        """
        types = (returns,) if isinstance(returns, str) else tuple(returns)
        routine = python_routine(name, function, tuple(parameters), types)
        self._routines.append(routine)
        if self._engine is not None:
            self._engine.register(routine)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port that it listens on. Raises RuntimeError if it does not listen."""
        if self._listener is None:
            raise RuntimeError("The server is not running.")
        return self._listener.address

    @property
    def sessions(self) -> int:
        """Number of connections being served now."""
        return 0 if self._listener is None else len(self._listener.sessions)

    def create_database(
        self, name: str, *, mode: Literal["logged", "unlogged", "ansi"] = "logged", locale: str = "en_US.utf8"
    ) -> None:
        """Create a database, as CREATE DATABASE does.

        Raises SqlError -330 if a database of that name exists, and -354 if the name has other characters than letters,
        digits and underscores.
        """
        options = {"logged": ("log",), "unlogged": (), "ansi": ("log", "ansi")}[mode]
        self._running().create_database(name, options, locale_code(locale))

    def drop_database(self, name: str) -> None:
        """Drop a database. Sessions that have it open are ended first.

        Raises SqlError -329 if there is no database of that name, and -425 if it is still in use.
        """
        engine = self._running()
        name = parse_database_name(name)
        sessions = [] if self._listener is None else self._listener.sessions
        for session in sessions:
            if session.database == name:
                session.end(_STOP_TIMEOUT)
        engine.drop_database(name)

    def _running(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("The server is not running.")
        return self._engine

    def url(self, database: str | None = None) -> str:
        """Return a URL that `informix_arrow.connect` takes. It contains the password: do not log it."""
        host, port = self.address
        scheme = "informix" if self.tls_cert is None else "informixs"
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        path = "" if database is None else quote(database, safe="")
        return f"{scheme}://{login}@{address}/{path}?server={quote(self.server_name, safe='')}"

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _close(engine: Engine | None, lock: DirectoryLock | None) -> None:
    try:
        if engine is not None:
            engine.close()
    finally:
        if lock is not None:
            lock.release()
