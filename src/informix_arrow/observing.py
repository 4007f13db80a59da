"""Observability: observers and loggers report what each call did.

``conn.add_observer(print)`` is for one connection, :func:`add_observer` for all connections of the process::

    <Operation fetch 12.1 ms: 4,096 rows, 1 round trip, 0 bytes sent, 98,304 received: SELECT * FROM orders WHERE a > ?>

The loggers ``informix_arrow.connect``, ``.statement``, ``.load``, ``.pool`` and ``.retry`` write the same as
lines, at level DEBUG. Neither shows values: literals in the text of a statement become ``?``, and parameters
are included only if the connection was opened with ``log_parameters=True``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .wire.errors import Error
from .wire.redaction import hide_secrets, holds_secret
from .wire.sql_text import is_comment, is_number, is_string, tokens

__all__ = ["Observer", "Operation", "Target", "add_observer", "remove_observer"]


@dataclass(frozen=True, slots=True)
class Target:
    """The server and user of a connection."""

    host: str
    port: int
    server: str = ""  # DBSERVERNAME
    user: str = ""


@dataclass(slots=True)
class Operation:
    """One call that sent something to the server, or tried to.

    Attributes
    ----------
    kind
        ``"connect"``, ``"execute"`` (for a query, until its cursor is open), ``"fetch"`` (one batch of a result),
        ``"executemany"``, ``"load"``, ``"routine"``, ``"begin"``, ``"commit"``, ``"rollback"``, ``"savepoint"``,
        ``"close"`` (of a result), ``"capture"`` (one read of changes), ``"ping"``, ``"reset"`` or ``"other"``.
    statement
        The SQL text, with ``?`` in place of literals unless the connection has ``log_parameters``; for a load the
        table. None if there is none.
    parameters
        The values of ``execute`` if the connection has ``log_parameters``; else None.
    rows
        Rows changed (execute, executemany, load) or received (fetch). If all rows came with the first reply, they are
        counted for ``execute``, and there is no fetch. None if not applicable.
    target, database
        The server that was called, and the database that was open at the end.
    began
        Start as seconds since the epoch, by the system clock.
    seconds
        Duration, without waiting for other threads' calls on the connection.
    bytes_sent, bytes_received
        On the wire, before TLS. Rows that are read ahead count where they arrive.
    round_trips
        Number of requests whose reply was awaited.
    error
        The exception that it ended with; None if it succeeded.
    """

    kind: str = "other"
    statement: str | None = None
    parameters: object = None
    rows: int | None = None
    target: Target | None = None
    database: str = ""
    began: float = 0.0
    seconds: float = 0.0
    bytes_sent: int = 0
    bytes_received: int = 0
    round_trips: int = 0
    error: BaseException | None = None
    shows_values: bool = field(default=False, repr=False)
    span: object = field(default=None, repr=False)  # of :mod:`.otel`, for the whole operation
    _since: float = field(default_factory=time.perf_counter, repr=False)

    def __post_init__(self) -> None:
        self.began = self.began or time.time()

    def describe(self, kind: str, statement: str | None = None, parameters: object = None) -> None:
        """Set the kind and the statement, unless an outer call has set them."""
        if self.kind != "other":
            return
        self.kind = kind
        shows_values = self.shows_values and not (statement is not None and holds_secret(statement))
        if statement is not None:
            self.statement = statement if shows_values else _mask_values_cached(statement)
        if shows_values:
            self.parameters = parameters

    def finish(self, error: BaseException | None) -> None:
        """Record the end: duration and error."""
        self.seconds = time.perf_counter() - self._since
        self.error = error

    def __str__(self) -> str:
        facts = [] if self.rows is None else [f"{self.rows:,} rows"]
        facts.append(f"{self.round_trips} round trip{'' if self.round_trips == 1 else 's'}")
        facts.append(f"{self.bytes_sent:,} bytes sent, {self.bytes_received:,} received")
        if self.error is not None:
            facts.insert(0, error_summary(self.error))
        suffix = f": {self.statement}" if self.statement else ""
        if self.parameters:
            suffix += f" {self.parameters!r}"
        return f"<Operation {self.kind} {self.seconds * 1000:.1f} ms: {', '.join(facts)}{suffix}>"


#: Called with each operation after its end, in the thread or task that made the call. Exceptions that it raises
#: are logged.
Observer: TypeAlias = Callable[[Operation], object]

_global_observers: list[Observer] = []

#: Called with an operation, by then described, after its first request was sent: they run while the server works.
#: The end of the operation always follows.
waiting_observers: list[Observer] = []


def add_observer(observer: Observer) -> None:
    """Call ``observer`` with every operation of every connection of this process, including logins."""
    _global_observers.append(observer)


def remove_observer(observer: Observer) -> None:
    """Remove an observer. Raises ``ValueError`` if it is not registered."""
    _global_observers.remove(observer)


class Observers:
    """The observers of one connection's operations."""

    def __init__(self, target: Target, shows_values: bool) -> None:
        self.connection_observers: list[Observer] = []
        self._target, self._shows_values = target, shows_values

    def begin(self, database: str = "") -> Operation:
        """Return a new operation in ``database``. Call it only if :meth:`is_observed` or :meth:`is_login_observed`."""
        return Operation(target=self._target, database=database, shows_values=self._shows_values)

    def is_observed(self) -> bool:
        """Return whether operations after the login are observed."""
        return bool(
            self.connection_observers
            or _global_observers
            or _statement.isEnabledFor(logging.DEBUG)
            or _load.isEnabledFor(logging.DEBUG)
        )

    def is_login_observed(self) -> bool:
        """Return whether logins are observed."""
        return bool(self.connection_observers or _global_observers) or _connect.isEnabledFor(logging.DEBUG)

    def end(self, operation: Operation, database: str, error: BaseException | None = None) -> None:
        """End an operation: log it and call the observers."""
        operation.finish(error)
        operation.database = database
        log = _LOGS.get(operation.kind, _statement)
        log.debug("%s", operation)
        _call((*self.connection_observers, *_global_observers), operation)


def notify_waiting(operation: Operation) -> None:
    """Call :data:`waiting_observers` after the first request of an operation was sent."""
    _call(waiting_observers, operation)


def _call(observers: Sequence[Observer], operation: Operation) -> None:
    for observer in observers:
        try:
            observer(operation)
        except Exception:  # noqa: BLE001  - an observer's failure must not break a connection
            _log.exception("An observer of operations failed.")


def error_summary(error: BaseException) -> str:
    """Return the class and codes of an error, without its text, which may contain values."""
    name = type(error).__name__
    if not isinstance(error, Error) or error.sqlcode is None:
        return name
    isam = f", ISAM {error.isamcode}" if error.isamcode else ""
    return f"{name} (SQLCODE {error.sqlcode}{isam})"


_log = logging.getLogger("informix_arrow")
_connect = logging.getLogger("informix_arrow.connect")
_statement = logging.getLogger("informix_arrow.statement")
_load = logging.getLogger("informix_arrow.load")
_LOGS = {"connect": _connect, "load": _load}

_MAX_SHOWN_CHARACTERS = 2000  # maximum length of a reported statement


def without_values(sql: str) -> str:
    """Return a statement without its data: ``?`` for each literal, no comments, at most 2,000 characters.

    Text in double quotes also counts as a literal, which it is without DELIMIDENT.
    """
    shown = "".join(map(_without_value, tokens(sql[: 2 * _MAX_SHOWN_CHARACTERS])))
    return (
        shown
        if len(sql) <= 2 * _MAX_SHOWN_CHARACTERS and len(shown) <= _MAX_SHOWN_CHARACTERS
        else f"{shown[:_MAX_SHOWN_CHARACTERS]} ..."
    )


def _without_value(token: str) -> str:
    if token.isspace() or token[0].isalpha():
        return token
    if is_comment(token):
        return " "
    return "?" if is_string(token) or is_number(token) else token


# Masked statements are cached: at most this many, none of them long, none with a secret.
_MAX_CACHED = 512
_masked_statements: dict[str, str] = {}


def _mask_values_cached(sql: str) -> str:
    """Return a statement with literals and secrets masked."""
    masked = _masked_statements.get(sql)
    if masked is None:
        masked = without_values(hide_secrets(sql))
        if len(sql) <= _MAX_SHOWN_CHARACTERS and not holds_secret(sql):
            if len(_masked_statements) >= _MAX_CACHED:
                _masked_statements.clear()
            _masked_statements[sql] = masked
    return masked
