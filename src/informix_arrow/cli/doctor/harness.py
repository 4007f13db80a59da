"""The environment of checks: connections, tables that are dropped afterwards, and three ways to end."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...connection import Connection, open_connection
from ...dsn import Parameters
from ...wire.errors import Error

#: Codes for a missing privilege or feature only: no permission, no sbspace, no such type, not supported here.
_UNSUPPORTED = frozenset(
    {-270, -272, -387, -388, -389, -674, -999, -9628, -9810, -12045, -12053, -12054, -12001, -262, -439}
)


class ServerDiffers(Exception):
    """The server behaves differently from the one that the client was developed against. This is no fault."""


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


CHECKS: list[DoctorCheck] = []


def check(
    name: str, title: str, *about: str
) -> Callable[[Callable[[Harness], str]], Callable[[Harness], str]]:
    """Declare a check: a function that returns a short finding, which holds no data of the user's."""

    def declare(function: Callable[[Harness], str]) -> Callable[[Harness], str]:
        CHECKS.append(DoctorCheck(name, title, about, function))
        return function

    return declare


class Harness:
    """A connection to the database under examination, and the objects created in it."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = replace(parameters, autocommit=True, application="informix-arrow doctor")
        self.connection = open_connection(self.parameters)
        self._cleanup_statements: list[str] = []  # statements that remove the objects

    def connect(self, **changes: Any) -> Connection:
        """Open another connection with the same parameters."""
        return open_connection(replace(self.parameters, **changes))

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
        try:
            self.connection.execute(statement)
        except Error as error:
            if error.sqlcode in _UNSUPPORTED:
                raise CheckSkipped(first_line(error)) from error
            raise
        self._cleanup_statements.append(undo)

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
                self.connection = open_connection(self.parameters)
            with contextlib.suppress(Error):
                if self.connection.in_transaction:
                    self.connection.rollback()
            remaining = []
            for undo in reversed(self._cleanup_statements):
                try:
                    self.connection.execute(undo)
                except Error as error:
                    if error.sqlcode != -206:  # it is gone already
                        remaining.append(undo)
            self._cleanup_statements = remaining[::-1]
            if not remaining:
                return

    @property
    def remaining_cleanup(self) -> list[str]:
        """Return the statements that failed to remove something."""
        return list(self._cleanup_statements)

    def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(Error):
            self.connection.close()


def is_unsupported(error: Error) -> bool:
    """Return whether an error means only that the server or the user lacks something."""
    return error.sqlcode in _UNSUPPORTED


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
        raise AssertionError(f"{what}: {actual!r} came back for {expected!r}")
