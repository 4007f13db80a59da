"""Recording: observe operations while they run, and write their messages to a trace."""

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
    """Writes the messages of one connection to a file, as lines of JSON.

    The file may be shared by connections, threads and processes. It is opened for each addition, so it needs no
    closing. It is created with access for its owner only. If it cannot be written, or a message cannot be formatted,
    the trace ends with a warning on the logger ``informix_arrow.protocol``, and the connection continues.

    Parameters
    ----------
    path
        The file. It is created if it does not exist.
    values
        True: also write values of rows, parameters and literals. Passwords are never written.
    encoding
        The code set of text if the user named one, or "" for the code set of the login.
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
            raise InterfaceError(f"trace: {path!r} cannot be written ({error.strerror or error}).") from None

    def follow(self, operation: Exchange[T], encoding: str = "", call: Call | None = None) -> Exchange[T]:
        """Return the same operation, which also writes what it sends and receives to the trace.

        Parameters
        ----------
        encoding
            The session's code set, or "" during a login.
        call
            The call that runs the operation, whose interrupt is written too.
        """
        if encoding:
            self._dialogue.set_encoding(encoding)
        interrupt_written = False
        operation = split_send_receive(operation)
        try:
            step = next(operation)
            while True:
                self._before_step(step)
                try:
                    received = yield step
                except GeneratorExit:
                    operation.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - the operation handles it
                    self._on_error(error)
                    step = operation.throw(error)
                    continue
                if call is not None and call.interrupt_sent and not interrupt_written:
                    interrupt_written = True
                    reason = call.cancel_reason and call.cancel_reason.value
                    self._add([TraceEntry("->", "interrupt", {"reason": reason})])
                self._after_step(step, received)
                step = operation.send(received)
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

    def _after_step(self, step: Step, received: int) -> None:
        if isinstance(step, Connect):
            self._add([TraceEntry("--", "connected", {})])
        elif isinstance(step, Receive) and not received:
            self._add([*self._dialogue.unfinished(), TraceEntry("--", "closed by the server", {})])
        elif isinstance(step, Receive | Send) and received and step.into is not None:
            self._add(self._dialogue.received(step.into[:received]))

    def _on_error(self, error: BaseException) -> None:
        facts = {"error": error_summary(error)}
        if isinstance(error, ConnectionLost):  # its text comes from the driver or the operating system
            facts["text"] = self._redactor.text(str(error))
        self._add([*self._dialogue.unfinished(), TraceEntry("--", "failed", facts)])

    def _add(self, entries: Iterable[TraceEntry]) -> None:
        """Write entries. If that fails, the trace ends without harm to the connection."""
        if self._path is None:
            return
        try:
            self._write(entries)
        except Exception as error:  # noqa: BLE001 - a trace must not break the connection
            _log.warning("The trace in %s ends: %s", self._path, error_summary(error))
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
        # O_APPEND keeps lines of several connections apart.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)


def _surroundings() -> dict[str, str]:
    """Return the versions that a bug report needs first."""
    import pyarrow

    try:
        own_version = version("informix-arrow")
    except PackageNotFoundError:  # it runs from a source tree that is not installed
        own_version = "0+source"
    return {
        "informix_arrow": own_version,
        "python": platform.python_version(),
        "pyarrow": pyarrow.__version__,
        "platform": f"{sys.platform} {platform.machine()}",
    }
