"""Looking on while exchanges run, and writing down what was said."""

from __future__ import annotations

import itertools
import json
import logging
import os
import platform
import sys
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

from ..observing import error_summary
from ..operations.io_steps import (
    Call,
    Connect,
    ConnectionLost,
    Exchange,
    Receive,
    Send,
    Step,
    split_send_receive,
)
from ..wire.errors import InterfaceError
from . import FORM
from .dialogue import Dialogue, TraceEntry
from .redactor import Redactor

T = TypeVar("T")

_numbers = itertools.count(1)
_log = logging.getLogger("informix_arrow.protocol")


class TraceWriter:
    """What is said on one connection, in lines of JSON that are added to a file.

    The file may be shared: by connections, threads and processes. It is opened for each addition, so there is nothing
    to be closed; it is made for its owner's eyes alone. When it can no longer be written to, or a message cannot be
    told, the trace ends with a warning on the logger ``informix_arrow.protocol``; the connection goes on.

    Parameters
    ----------
    path
        The file; it is made where it is not there.
    values
        Values of rows, parameters and literals are told, too. Passwords never are.
    encoding
        The code set of text when the user named one; "" = as the login says.
    secrets
        Further passwords of the connection.

    Raises
    ------
    InterfaceError
        The file cannot be written.
    """

    def __init__(self, path: str, *, values: bool, encoding: str = "", secrets: Iterable[str] = ()) -> None:
        self._path: str | None = os.path.abspath(path)
        self._connection = f"{os.getpid()}.{next(_numbers)}"
        self._redactor = Redactor(values)
        for secret in secrets:
            self._redactor.add_secret(secret)
        self._dialogue = Dialogue(self._redactor, encoding)
        try:
            self._write([TraceEntry("--", "trace", {"form": FORM, "values": values, **_surroundings()})])
        except OSError as error:
            raise InterfaceError(f"trace: {path!r} cannot be written: {error.strerror or error}") from None

    def follow(self, exchange: Exchange[T], encoding: str = "", call: Call | None = None) -> Exchange[T]:
        """The same exchange; what it sends and receives is written down.

        Parameters
        ----------
        encoding
            The session's code set; "" during a login.
        call
            The call that it belongs to, whose interrupt is told, too.
        """
        if encoding:
            self._dialogue.set_encoding(encoding)
        told = False
        exchange = split_send_receive(exchange)
        try:
            step = next(exchange)
            while True:
                self._before_step(step)
                try:
                    answer = yield step
                except GeneratorExit:
                    exchange.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - it is the exchange's
                    self._on_error(error)
                    step = exchange.throw(error)
                    continue
                if call is not None and call.interrupt_sent and not told:
                    told = True
                    self._add(
                        [
                            TraceEntry(
                                "->", "interrupt", {"reason": call.cancel_reason and call.cancel_reason.value}
                            )
                        ]
                    )
                self._after_step(step, answer)
                step = exchange.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result

    def _before_step(self, step: Step) -> None:
        if isinstance(step, Connect):
            self._dialogue.begin()
            text = self._redactor.text
            self._add(
                [TraceEntry("--", "connect", {"host": text(step.host), "port": step.port, "tls": step.tls})]
            )
        elif isinstance(step, Send):
            self._add(self._dialogue.sent(step.data))

    def _after_step(self, step: Step, answer: int) -> None:
        if isinstance(step, Connect):
            self._add([TraceEntry("--", "connected", {})])
        elif isinstance(step, Receive) and not answer:
            self._add([*self._dialogue.unfinished(), TraceEntry("--", "closed by the server", {})])
        elif isinstance(step, Receive | Send) and answer and step.into is not None:
            self._add(self._dialogue.received(step.into[:answer]))

    def _on_error(self, error: BaseException) -> None:
        said = {"error": error_summary(error)}
        if isinstance(error, ConnectionLost):  # its text is ours, or the system's
            said["text"] = self._redactor.text(str(error))
        self._add([*self._dialogue.unfinished(), TraceEntry("--", "failed", said)])

    def _add(self, entries: Iterable[TraceEntry]) -> None:
        """Write entries down; a trace that cannot be written ends, and harms nothing else."""
        if self._path is None:
            return
        try:
            self._write(entries)
        except Exception as error:  # noqa: BLE001 - a connection must not break because somebody looks at it
            _log.warning("the trace in %s ends: %s", self._path, error_summary(error))
            self._path = None

    def _write(self, entries: Iterable[TraceEntry]) -> None:
        assert self._path is not None
        lines = []
        for entry in entries:
            line = {
                "at": round(time.time(), 6),
                "conn": self._connection,
                "way": entry.direction,
                "what": entry.what,
            }
            lines.append(json.dumps({**line, **entry.facts}) + "\n")
        if not lines:
            return
        data = "".join(lines).encode("ascii")
        # O_APPEND: lines of several connections do not run into each other.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)


def _surroundings() -> dict[str, str]:
    """What a bug report is asked for first."""
    import pyarrow

    try:
        mine = version("informix-arrow")
    except PackageNotFoundError:  # a source tree that was put on the path, not installed
        mine = "0+source"
    return {
        "informix_arrow": mine,
        "python": platform.python_version(),
        "pyarrow": pyarrow.__version__,
        "platform": f"{sys.platform} {platform.machine()}",
    }
