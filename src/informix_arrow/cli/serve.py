"""``informix-arrow serve``: the embedded server as a process of its own."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import gc
import ipaddress
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING
from urllib.parse import quote

from .parser import Commands, command

if TYPE_CHECKING:
    from ..server import Server

log = logging.getLogger("informix_arrow.server")

PASSWORD_VARIABLE = "INFORMIX_ARROW_PASSWORD"


EXAMPLE = """\
  informix-arrow serve --port 9088
  informix-arrow serve --directory databases --load fixtures --users users.txt"""


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    serve = command(commands, "serve", EXAMPLE)
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=int, default=9088, help="port; 0: a free one (default: %(default)s)")
    serve.add_argument("--directory", metavar="DIR", help="keep databases in DIR (default: in memory)")
    serve.add_argument(
        "--load", metavar="DIR", help="first load the files DATABASE/TABLE.parquet, .csv or .arrow of DIR"
    )
    serve.add_argument(
        "--server-name", default="informix", help="INFORMIXSERVER of clients (default: %(default)s)"
    )
    serve.add_argument(
        "--server-version",
        choices=("12.10", "14.10", "15.0"),
        default="14.10",
        help="Informix release to emulate (default: %(default)s)",
    )
    users = serve.add_argument_group("users")
    users.add_argument("--user", default="informix", help="user that may log in (default: %(default)s)")
    users.add_argument(
        "--password",
        help=f"password of the user (default: in4mix, for clients on this machine only); set {PASSWORD_VARIABLE} "
        "instead, because other users can see the command line",
    )
    users.add_argument(
        "--users",
        metavar="FILE",
        help="file with a line NAME:PASSWORD for each user; with it --user has no default password",
    )
    tls = serve.add_argument_group("TLS")
    tls.add_argument("--tls-cert", metavar="PEM", help="use TLS with this certificate, for all connections")
    tls.add_argument("--tls-key", metavar="PEM", help="private key (default: in the certificate's file)")
    tls.add_argument("--tls-ca", metavar="PEM", help="require client certificates of these CAs")
    logs = serve.add_argument_group("logs")
    logs.add_argument("--query-log", metavar="FILE", help="append every statement to FILE, as JSON lines")
    logs.add_argument(
        "--log-level",
        choices=("debug", "info", "warning"),
        default="warning",
        help="level of messages on stderr; info includes statements that cannot be parsed (default: %(default)s)",
    )
    limits = serve.add_argument_group("limits")
    limits.add_argument(
        "--max-sessions",
        type=int,
        default=1000,
        metavar="N",
        help="maximum number of clients at a time (default: %(default)s)",
    )
    limits.add_argument(
        "--idle-timeout",
        type=float,
        metavar="SECONDS",
        help="end sessions that are idle for this many seconds (default: never)",
    )
    limits.add_argument(
        "--memory-limit",
        default="50%",
        metavar="AMOUNT",
        help="memory of all statements together, such as 2GB (default: half of the machine's)",
    )
    limits.add_argument(
        "--statement-memory-limit",
        metavar="AMOUNT",
        help="memory of one statement for sorts, groups and joins before it uses files (default: half of the above)",
    )
    limits.add_argument(
        "--temp-directory",
        metavar="DIR",
        help="directory of these files (default: DIRECTORY/tmp, or a new temporary directory)",
    )
    limits.add_argument(
        "--threads", type=int, metavar="N", help="threads that run one statement (default: one per core)"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT. Return 1 if the server cannot start."""
    try:
        from ..preload import tables_of_directory
        from ..server import Server
    except ImportError as missing:
        print(f"informix-arrow: {missing}", file=sys.stderr)
        return 1
    logging.basicConfig(level=options.log_level.upper(), format="%(asctime)s %(levelname)s %(message)s")
    # A byte on a socket and no threading.Event: the signal may arrive in a thread of some library, or just before the
    # wait begins, and neither would wake the main thread from a lock.
    signalled, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    try:
        users = {} if options.users is None else _users_of(options.users)
        password = _password(options, users, Server.password)
        with _query_log(options.query_log) as query_log:
            server = Server(
                options.directory,
                options.host,
                options.port,
                options.user,
                password,
                server_name=options.server_name,
                idle_timeout=options.idle_timeout,
                max_sessions=options.max_sessions,
                tls_cert=options.tls_cert,
                tls_key=options.tls_key,
                tls_ca=options.tls_ca,
                load=tables_of_directory(options.load) if options.load else None,
                query_log=query_log,
                users=users,
                version=options.server_version,
                memory_limit=options.memory_limit,
                statement_memory_limit=options.statement_memory_limit,
                temp_directory=options.temp_directory,
                threads=options.threads,
            )
            return _serve_until(signalled, server)
    except (OSError, RuntimeError, ValueError) as problem:
        print(f"informix-arrow: {problem}", file=sys.stderr)
        return 1


def _password(options: argparse.Namespace, users: Mapping[str, str], default: str) -> str:
    """Return the password of ``--user``. Raises ValueError for the default one if other machines can reach the
    server."""
    password = options.password or os.environ.get(PASSWORD_VARIABLE)
    if password is None and options.users is not None:
        if not users:
            raise ValueError(f"{options.users}: It has no line NAME:PASSWORD, so no user could log in.")
        return users.get(options.user) or secrets.token_urlsafe()
    if password in (None, default) and not _only_this_machine(options.host):
        raise ValueError(
            f"--host {options.host} accepts connections from other machines, and the default password is "
            f"publicly known. Give your own ({PASSWORD_VARIABLE}, --password or --users FILE)."
        )
    return default if password is None else password


def _only_this_machine(host: str) -> bool:
    """Return whether a host's addresses are local to this machine. True for one without any, which cannot be listened
    on.
    """
    if not host:
        return False
    try:
        addresses = socket.getaddrinfo(host, None)
    except OSError:
        return True
    return all(
        ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in addresses
    )


def _users_of(path: str) -> dict[str, str]:
    """Read passwords by user from lines NAME:PASSWORD, in UTF-8 with or without a byte order mark.

    Blank lines and those that begin with # are skipped. Raises ValueError with the number of an invalid line, and
    OSError if the file cannot be read.
    """
    users: dict[str, str] = {}
    with open(path, "rb") as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
            log.warning("%s: Other users can read the passwords in it. Run chmod 600.", path)
        content = file.read().removeprefix(codecs.BOM_UTF8)
    for number, line in enumerate(content.splitlines(), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise ValueError(f"{path}, line {number}: It is not UTF-8.") from None
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        name, _, password = text.partition(":")
        name = name.strip()
        if not name or not password:
            raise ValueError(f"{path}, line {number}: It must be NAME:PASSWORD.")
        if name in users:
            raise ValueError(f"{path}, line {number}: {name} occurs twice.")
        users[name] = password
    return users


def _query_log(path: str | None) -> contextlib.AbstractContextManager[IO[str] | None]:
    return contextlib.nullcontext() if path is None else open(path, "a", encoding="utf-8")


def _serve_until(signalled: socket.socket, server: Server) -> int:
    try:
        server.start()
    except OSError as problem:
        print(f"informix-arrow: cannot listen on {server.host}:{server.port}: {problem}", file=sys.stderr)
        return 1
    # Exclude what exists now from garbage collection, which would stop all sessions for a twentieth of a second.
    gc.freeze()
    try:
        host, port = server.address
        listening = f"listening on {f'[{host}]' if ':' in host else host}:{port}"
        url = server.url().replace(f":{quote(server.password, safe='')}@", "@", 1)  # without the password
        # flushed, because some programs wait for the first line only
        print(f"{listening}\n{url}", flush=True)
        signalled.recv(1)
    finally:
        gc.unfreeze()  # otherwise DuckDB's library reports it as leaked
        server.stop()
    return 0
