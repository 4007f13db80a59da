"""The command line: ``informix-arrow serve`` and whatever joins it. Each subcommand is one function here that
parses nothing: it gets the namespace and returns the exit code."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence

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
    serve.set_defaults(run=_serve)


def _demo(_: argparse.Namespace) -> int:
    from .demo import run

    return run()


def _serve(options: argparse.Namespace) -> int:
    try:
        from .server import Server
    except ModuleNotFoundError as missing:
        print(f"informix-arrow: {missing}", file=sys.stderr)
        return 1
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
    server = Server(
        options.directory, options.host, options.port, options.user, password, server_name=options.server_name
    )
    try:
        server.start()
    except OSError as problem:
        print(f"informix-arrow: cannot listen on {options.host}:{options.port}: {problem}", file=sys.stderr)
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
