"""The embedded SQLI server: a real server of Informix's wire protocol with DuckDB as its SQL engine.

    with Server() as server:
        conn = informix_arrow.connect(server.url("stores_demo"))

IBM's JDBC driver and ``informix-driver`` use it unchanged. It imports the wire layer and the C codecs, never
the client.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

try:
    from .engine import Engine
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.partition(".")[0] not in {"duckdb", "sqlglot"}:
        raise
    raise ModuleNotFoundError(
        f"the embedded server needs {missing.name}: pip install 'informix-arrow[server]'", name=missing.name
    ) from missing
from .listener import Listener
from .session import Session, Settings

__all__ = ["Server"]

VERSION = "IBM Informix Dynamic Server Version 14.10.FC7W1"
"""What the server calls itself. JDBC cuts the text at "Version " and crashes without it (JDBC section 3); the
answers to SQ_PROTOCOLS are those of the same release."""


@dataclass
class Server:
    """An SQLI server inside this process.

    Parameters
    ----------
    directory
        Where databases are kept; None keeps them in memory until `stop`.
    host, port
        Where to listen. Only this machine reaches the default; port 0 takes a free port.
    user, password
        The one login that is accepted.
    server_name
        What clients call INFORMIXSERVER; another name is refused with -761.
    login_timeout
        Seconds that a peer may take from connecting to the end of its login.

    Used as a context manager or through `start` and `stop`. What it answers where real servers are not
    known is written down in `server.conversation`.
    """

    directory: str | os.PathLike[str] | None = None
    host: str = "127.0.0.1"
    port: int = 0
    user: str = "informix"
    password: str = field(default="in4mix", repr=False)
    server_name: str = "informix"
    login_timeout: float = field(default=30.0, kw_only=True)

    def __post_init__(self) -> None:
        self._listener: Listener | None = None
        self._engine: Engine | None = None
        self._requested_port = self.port

    def start(self) -> Server:
        """Open the databases and listen. RuntimeError when it runs already, OSError when the port is
        taken."""
        if self._listener is not None:
            raise RuntimeError("the server is running already")
        engine = Engine(None if self.directory is None else Path(self.directory), self.server_name, VERSION)
        settings = Settings(self.user, self.password, self.server_name, VERSION, self.login_timeout)

        def serve(sock: socket.socket) -> Session:
            return Session(sock, settings, engine)

        listener = Listener(self.host, self._requested_port, serve)
        try:
            listener.start()
        except BaseException:
            engine.close()
            raise
        self._engine, self._listener = engine, listener
        self.port = listener.address[1]
        return self

    def stop(self) -> None:
        """End every session (open transactions are rolled back), wait for the threads, close the
        databases."""
        listener, engine = self._listener, self._engine
        self._listener = self._engine = None
        if listener is not None:
            listener.stop()
        if engine is not None:
            engine.close()
        self.port = self._requested_port

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

    def url(self, database: str | None = None) -> str:
        """A URL that `informix_arrow.connect` takes. It holds the password: do not log it."""
        host, port = self.address
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        path = "" if database is None else quote(database, safe="")
        return f"informix://{login}@{where}/{path}?server={quote(self.server_name, safe='')}"

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
