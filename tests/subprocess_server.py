"""Runs commands of ``informix-arrow`` in processes that are forked from one parent, which has imported all modules that
they need. A newly started Python takes three quarters of a second for its imports. Otherwise the commands run as users
start them; tests/integration/test_server_process.py starts real processes."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import importlib
import inspect
import itertools
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TextIO

# Modules that commands import only when they need them.
LAZY = (
    "duckdb",
    "informix_arrow.preload",
    "informix_arrow.replicate.copy",
    "informix_arrow.replicate.duck",
    "informix_arrow.server",
    "pyarrow.csv",
    "pyarrow.parquet",
)
# Modules of the targets of copies: each group is imported if its first package is installed.
OPTIONAL = (
    ("informix_arrow.replicate.postgres",),
    ("informix_arrow.replicate.delta",),
    (
        "informix_arrow.replicate.iceberg",
        "pyiceberg.avro.decoder_fast",
        "pyiceberg.catalog.sql",
        "pyiceberg.io.pyarrow",
        "rich.table",
        "sqlalchemy.dialects.sqlite",
    ),
)


class ForkedCommand:
    """A forked process that runs one command, with the methods of ``subprocess.Popen`` that tests of servers use. Its
    standard output is a pipe.

    Parameters
    ----------
    words
        Arguments of ``informix-arrow``.
    environment
        Environment variables to add to those of this process.
    dies
        Where the process kills itself: a function as ``module:name``, ``before`` or ``after`` it, and at which call.
    limit
        Seconds after which the process writes the stack of each of its threads and ends. None: no limit.
    errors
        File for its standard error. None: standard error of this process.
    program
        Python file to run with these arguments instead of ``informix-arrow``.
    """

    def __init__(
        self,
        *words: str,
        environment: dict[str, str] | None = None,
        dies: tuple[str, str, int] | None = None,
        limit: float | None = None,
        errors: Path | None = None,
        program: Path | None = None,
    ) -> None:
        self.returncode: int | None = None
        reading, writing = os.pipe()
        try:
            self.pid: int = _parent().ask(
                {
                    "words": words,
                    "environment": {**os.environ, **(environment or {})},
                    "directory": os.getcwd(),
                    "dies": dies,
                    "limit": limit,
                    "errors": errors and str(errors.absolute()),
                    "program": program and str(program.absolute()),
                },
                writing,
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        self.stdout: TextIO = os.fdopen(reading, encoding="utf-8")

    def __enter__(self) -> ForkedCommand:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.wait(60)

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal, or None while the process runs."""
        if self.returncode is None:
            self.returncode = _parent().ask({"ended": self.pid})
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Return the exit status. Raises TimeoutExpired if the process runs for longer than ``timeout`` seconds."""
        ends = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > ends:
                raise subprocess.TimeoutExpired("informix-arrow", timeout)
            time.sleep(0.002)  # only its parent can wait for it
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal unless the process is known to have ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)


class _Parent:
    """The parent process that has imported all modules. Each process of the tests has one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.subprocess_server", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=Path(__file__).parents[1],
            )
        atexit.register(self.end)

    def ask(self, question: dict[str, Any], *descriptors: int) -> Any:
        """Send a request to the parent process and return its reply."""
        with self.lock:
            socket.send_fds(self.socket, [json.dumps(question).encode()], descriptors)
            answer = self.socket.recv(1 << 16)
        if not answer:
            raise RuntimeError("the process that others are forked from has ended")
        return json.loads(answer)

    def end(self) -> None:
        self.socket.close()
        self.process.wait(60)


@cache
def _parent() -> _Parent:
    return _Parent()


def _serve(requests: socket.socket) -> None:
    """Fork a process for each request, and report the exit status of processes."""
    import pyarrow as pa

    from informix_arrow import Connection, cli
    from informix_arrow.cli.parser import COMMANDS
    from informix_arrow.core import connection_classes

    pa.array([1])  # pyarrow's first array imports pandas,
    connection_classes.connection_class(Connection)  # the first connection imports ADBC and Polars
    for module, _ in COMMANDS.values():
        importlib.import_module(f"informix_arrow.cli.{module}")
    for name in LAZY:
        importlib.import_module(name)
    for names in OPTIONAL:
        with contextlib.suppress(ImportError):
            for name in names:
                importlib.import_module(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the tests handle Ctrl-C
    while True:
        text, descriptors, _, _ = socket.recv_fds(requests, 1 << 16, 1)
        if not text:
            return
        question = json.loads(text)
        if "ended" in question:
            number, status = os.waitpid(question["ended"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if number else None
        else:
            answer = os.fork()
            if not answer:
                requests.close()
                signal.signal(signal.SIGINT, signal.default_int_handler)
                os.dup2(descriptors[0], 1)
                if question["errors"]:
                    os.dup2(os.open(question["errors"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
                os.chdir(question["directory"])
                os.environ.clear()  # its own may contain variables that a test had set when this process began
                os.environ.update(question["environment"])
                if question["limit"]:
                    faulthandler.dump_traceback_later(question["limit"], exit=True)
                if question["dies"]:
                    die_at(*question["dies"])
                _run(_program(question["program"]) if question["program"] else cli.main, question["words"])
            os.close(descriptors[0])
        requests.send(json.dumps(answer).encode())


def die() -> None:
    """End this process by SIGKILL."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(place: str, moment: str, call: int, die: Callable[[], None] = die) -> None:
    """Let this process kill itself ``before`` or ``after`` a call of a function, which is ``module:name``."""
    module, _, path = place.partition(":")
    *outer, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for part in outer:
        owner = getattr(owner, part)
    function, calls = getattr(owner, name), itertools.count(1)

    def dying(*arguments: Any, **named: Any) -> Any:
        mine = next(calls) == call
        if mine and moment == "before":
            die()
        answer = function(*arguments, **named)
        if mine:
            die()
        return answer

    is_static = isinstance(inspect.getattr_static(owner, name), staticmethod)
    setattr(owner, name, staticmethod(dying) if is_static else dying)


def _program(path: str) -> Callable[[list[str]], int]:
    """Return a function that runs a Python file as a command."""

    def main(words: list[str]) -> int:
        sys.argv = [path, *words]
        runpy.run_path(path, run_name="__main__")
        return 0

    return main


def _run(main: Any, words: list[str]) -> None:
    status = 1
    try:
        status = main(words)
    except SystemExit as exit:
        status = exit.code if isinstance(exit.code, int) else 1
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as given:
        _serve(given)
