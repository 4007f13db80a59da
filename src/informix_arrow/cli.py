"""The command line: ``informix-arrow serve`` and whatever joins it. Each subcommand is one function here that
parses nothing: it gets the namespace and returns the exit code."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from .server import Server

PASSWORD_VARIABLE = "INFORMIX_ARROW_PASSWORD"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; the exit code (0 well, 1 failed, 2 wrong usage)."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="informix-arrow", description="Arrow-columnar Informix driver and server"
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_serve(commands)
    demo = commands.add_parser("demo", help="load real data into an embedded server and read it into Polars")
    demo.set_defaults(run=_demo)
    return parser


def _add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    serve = commands.add_parser("serve", help="run the embedded SQLI server until SIGTERM or SIGINT")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=int, default=9088, help="port, 0 for a free one (default: %(default)s)")
    serve.add_argument("--directory", metavar="DIR", help="where databases are kept (default: in memory)")
    serve.add_argument("--user", default="informix", help="the login that is accepted (default: %(default)s)")
    serve.add_argument(
        "--password", help=f"its password; better given as {PASSWORD_VARIABLE}, which other users cannot see"
    )
    serve.add_argument(
        "--server-name", default="informix", help="INFORMIXSERVER of clients (default: %(default)s)"
    )
    serve.add_argument(
        "--load", metavar="DIR", help="load the files DATABASE/TABLE.parquet, .csv or .arrow of DIR first"
    )
    serve.add_argument("--query-log", metavar="FILE", help="append every statement to FILE, as lines of JSON")
    serve.add_argument(
        "--log-level",
        choices=("debug", "info", "warning"),
        default="warning",
        help="what goes to stderr; info: also statements that cannot be read (default: %(default)s)",
    )
    serve.add_argument("--tls-cert", metavar="PEM", help="speak TLS, and nothing else, with this certificate")
    serve.add_argument(
        "--tls-key", metavar="PEM", help="its private key (default: in the certificate's file)"
    )
    serve.add_argument("--tls-ca", metavar="PEM", help="let in only clients with a certificate of these CAs")
    serve.add_argument(
        "--max-sessions", type=int, default=1000, metavar="N", help="clients at a time (default: %(default)s)"
    )
    serve.add_argument(
        "--idle-timeout", type=float, metavar="SECONDS", help="end sessions that do nothing (default: never)"
    )
    serve.set_defaults(run=_serve)


def _demo(_: argparse.Namespace) -> int:
    from .demo import run

    return run()


def _serve(options: argparse.Namespace) -> int:
    try:
        from .loading import tables_of_directory
        from .server import Server
    except ModuleNotFoundError as missing:
        print(f"informix-arrow: {missing}", file=sys.stderr)
        return 1
    logging.basicConfig(level=options.log_level.upper(), format="%(asctime)s %(levelname)s %(message)s")
    password = options.password
    if password is None:
        password = os.environ.get(PASSWORD_VARIABLE, "in4mix")
    # A byte on a socket and no threading.Event: the signal may strike in a thread of some library, or just
    # before the wait begins, and neither would wake the main thread from a lock.
    signalled, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    try:
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
            )
            return _serve_until(signalled, server)
    except (OSError, RuntimeError, ValueError) as problem:
        print(f"informix-arrow: {problem}", file=sys.stderr)
        return 1


def _query_log(path: str | None) -> contextlib.AbstractContextManager[IO[str] | None]:
    return contextlib.nullcontext() if path is None else open(path, "a", encoding="utf-8")


def _serve_until(signalled: socket.socket, server: Server) -> int:
    try:
        server.start()
    except OSError as problem:
        print(f"informix-arrow: cannot listen on {server.host}:{server.port}: {problem}", file=sys.stderr)
        return 1
    try:
        host, port = server.address
        print(f"listening on {f'[{host}]' if ':' in host else host}:{port}", flush=True)
        signalled.recv(1)
    finally:
        server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
