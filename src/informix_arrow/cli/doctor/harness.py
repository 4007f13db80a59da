"""The environment of checks: connections, tables that are dropped afterwards, and three ways to end."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...connection import Connection, open_base_connection
from ...dsn import Parameters
from ...operations.message_stream import server_error
from ...operations.request_reply import pipeline
from ...wire import messages as m
from ...wire.errors import Error

#: Codes for a missing privilege or feature only: no permission, no sbspace, no such type, not supported here.
_UNSUPPORTED = frozenset(
    {-270, -272, -387, -388, -389, -674, -999, -9628, -9810, -12045, -12053, -12054, -12001, -262, -439}
)


_LOCK_SECONDS = 30  # checks that run at the same time make and drop tables, which locks rows of the catalogue


class ServerDiffers(Exception):
    """The server behaves differently from the one that the client was developed against. This is not an error."""


class CheckSkipped(Exception):
    """This server, database or user lacks what the check needs."""


@dataclass(frozen=True)
class DoctorCheck:
    """A check: one line of the report.

    ``about`` names what it settles: sections of the protocol's description, numbers of its corrections.
    """

    name: str
    title: str
    about: tuple[str, ...]
    run: Callable[[Harness], str]
    alone: bool = False  # not at the same time as other checks


CHECKS: list[DoctorCheck] = []


def check(
    name: str, title: str, *about: str, alone: bool = False
) -> Callable[[Callable[[Harness], str]], Callable[[Harness], str]]:
    """Declare a check: a function that returns a short finding, which holds no data of the user's."""

    def declare(function: Callable[[Harness], str]) -> Callable[[Harness], str]:
        CHECKS.append(DoctorCheck(name, title, about, function, alone))
        return function

    return declare


class Harness:
    """A connection to the database under examination, and the objects created in it."""

    def __init__(self, parameters: Parameters) -> None:
        wait = _LOCK_SECONDS if parameters.lock_wait is None else parameters.lock_wait
        self.parameters = replace(
            parameters, autocommit=True, application="informix-arrow doctor", lock_wait=wait
        )
        self.connection = open_base_connection(self.parameters)
        self._cleanup_statements: list[str] = []  # statements that remove the objects

    def connect(self, **changes: Any) -> Connection:
        """Open another connection with the same parameters."""
        return open_base_connection(replace(self.parameters, **changes))

    def name(self) -> str:
        """Return a name that nobody else uses."""
        return f"ifxa_doctor_{secrets.token_hex(5)}"

    def table(self, columns: str) -> str:
        """Create a table that is dropped when the check ends."""
        name = self.name()
        self.make(f"CREATE TABLE {name} ({columns})", f"DROP TABLE {name}")
        return name

    def make(self, statement: str, undo: str) -> None:
        """Run a statement whose effect is undone when the check ends. Raises ``CheckSkipped`` if the user may not."""
        (error,) = self._execute_all([statement])
        with skip_unsupported():
            if error is not None:
                raise error
        self._cleanup_statements.append(undo)

    def _execute_all(self, statements: list[str]) -> list[Error | None]:
        """Execute statements without results in one round trip. Return the error of each."""
        connection = self.connection
        if connection.ansi or not statements:  # there each of them needs a COMMIT
            return [_error_of(connection, sql) for sql in statements]
        groups = [(m.Command(sql), m.NDescribe(), m.Execute(), m.Release()) for sql in statements]
        replies = connection._run(pipeline(connection._session, groups))
        return [
            None if reply.error is None else server_error(reply.error, sql)
            for sql, reply in zip(statements, replies, strict=True)
        ]

    def value(self, sql: str, *parameters: object) -> Any:
        """Return the first value of a query."""
        result = self.connection.read_arrow(sql, parameters, floating_decimals="string")
        return result.column(0)[0].as_py() if result.num_rows else None

    def clean(self) -> None:
        """Remove what the last check created, if necessary over a new connection."""
        for reconnect in (False, True):
            if self.connection.closed or reconnect:
                with contextlib.suppress(Error):
                    self.connection.close()
                self.connection = open_base_connection(self.parameters)
            with contextlib.suppress(Error):
                if self.connection.in_transaction:
                    self.connection.rollback()
            undoing = self._cleanup_statements[::-1]
            with contextlib.suppress(Error):
                errors = self._execute_all(undoing)
                remaining = [
                    undo
                    for undo, error in zip(undoing, errors, strict=True)
                    if error is not None and error.sqlcode != -206  # -206: it is gone already
                ]
                self._cleanup_statements = remaining[::-1]
            if not self._cleanup_statements:
                return

    @property
    def remaining_cleanup(self) -> list[str]:
        """Return the statements that failed to remove something."""
        return list(self._cleanup_statements)

    def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(Error):
            self.connection.close()


def _error_of(connection: Connection, sql: str) -> Error | None:
    try:
        connection.execute(sql)
    except Error as error:
        return error
    return None


def is_unsupported(error: Error) -> bool:
    """Return whether an error means only that the server or the user lacks something."""
    return error.sqlcode in _UNSUPPORTED


@contextlib.contextmanager
def skip_unsupported(*codes: int) -> Iterator[None]:
    """Raise ``CheckSkipped`` for an error that means only that something is missing, or with one of the codes."""
    try:
        yield
    except Error as error:
        if is_unsupported(error) or error.sqlcode in codes:
            raise CheckSkipped(first_line(error)) from error
        raise


def require_logged(bench: Harness) -> None:
    """Raise ``CheckSkipped`` if the database has no log."""
    if not bench.connection.logged:
        raise CheckSkipped("the database has no transaction log")


def first_line(error: BaseException) -> str:
    """Return an error's text without the statement."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def expect(actual: object, expected: object, what: str) -> None:
    """Raise ``ServerDiffers`` unless the result is what our own server returns."""
    if actual != expected:
        raise ServerDiffers(f"{what}: {actual}, expected {expected}")


def expect_equal(actual: object, expected: object, what: str) -> None:
    """Raise ``AssertionError`` unless the values are equal. They must not be the user's data."""
    if actual != expected:
        raise AssertionError(f"{what}: {actual!r} was returned, but {expected!r} was expected")
