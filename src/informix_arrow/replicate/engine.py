"""The protocols of database adapters, shared by copies (`database_target`) and applied changes (`database_changes`).

There is one adapter for each engine: `duck`, `postgres` and `informix`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

from .rejects import UnrepresentableValue
from .state import CopyRows

STAGE = "informix_arrow_stage"
LOCK_SECONDS = 60  # how long a server may take to notice that a program which held locks is dead


@dataclass(frozen=True, slots=True)
class StateTable:
    """A table in the target that stores a text for each name: the states of copies, or the tokens of changes."""

    name: str
    column: str
    length: int | None = None  # of the longest text; None for no limit


class Session(Protocol):
    """A transaction in the target. Tables are given by their plain names, unless they are ``quoted``."""

    def quoted(self, name: str) -> str:
        """Return a name as statements spell it."""

    def has(self, table: str) -> bool:
        """Return whether there is such a table, of any creator."""

    def columns(self, table: str) -> list[tuple[str, str]]:
        """Return the names and declared types of a table's columns, in order."""

    def first(self, sql: str) -> tuple[Any, ...] | None:
        """Return the first row of a query; None if there is none."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""

    def change(self, sql: str) -> int:
        """Run any other statement. Return the number of rows changed, for a DELETE."""

    def state(self, states: StateTable, name: str) -> str | None:
        """Return the text of a name; None if there is none."""

    def claim(self, states: StateTable, name: str) -> str | None:
        """Return the text of a name and lock it until the end of the transaction; None if there is none.

        A name without a text gets an empty one.
        """

    def store(self, states: StateTable, name: str, text: str) -> None:
        """Replace the text that was claimed."""

    def lock(self, table: str) -> None:
        """Lock a table, if it exists and the server might not have enough locks for many rows."""

    def create(self, table: str, schema: pa.Schema) -> None:
        """Create a table without rows."""

    def fill(self, table: str, rows: CopyRows) -> None:
        """Create a table with these rows, in place of one that is there."""

    def insert(self, table: str, rows: CopyRows) -> None:
        """Add rows to a table."""

    def stage(self, name: str, rows: CopyRows) -> None:
        """Create a temporary table with these rows."""

    def read(self, table: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield all rows of a table, in columns that can be cast to those of the schema."""

    def equal(self, there: str, staged: str, field: pa.Field) -> str:
        """Return the condition that a table's column equals a staged one. Neither may be NULL."""

    def same(self, there: str, staged: str, field: pa.Field) -> str:
        """Return the condition that they are equal, or both NULL."""


class Engine(Protocol):
    """A database that copies or changes are written to."""

    name: str

    def create_states(self, states: StateTable) -> None:
        """Create a table of states, unless it exists."""

    def session(self) -> AbstractContextManager[Session]:
        """Return a transaction, which is committed at the end of the block, and rolled back after an error."""

    def unrepresentable_values(self, batch: pa.RecordBatch) -> Sequence[UnrepresentableValue]:
        """Return the values that the database cannot hold although it has their type."""

    def cancel(self) -> None:
        """End the statements that run, from any thread."""

    def close(self) -> None:
        """Close all connections."""


class ConnectedSession(Protocol):
    """A session with a connection of its own."""

    def commit(self) -> None:
        """Commit."""

    def cancel(self) -> None:
        """End the statement that runs, from any thread."""

    def close(self) -> None:
        """Close the connection, which rolls back what was not committed."""


ConnectedSessionT = TypeVar("ConnectedSessionT", bound=ConnectedSession)


class ServerEngine(Generic[ConnectedSessionT]):
    """An engine whose sessions have a connection each. Idle ones are reused."""

    def __init__(self) -> None:
        self._free: list[ConnectedSessionT] = []
        self._busy: list[ConnectedSessionT] = []

    def _connect(self) -> ConnectedSessionT:
        raise NotImplementedError

    @contextmanager
    def session(self) -> Iterator[ConnectedSessionT]:
        """Provide a session, which is committed at the end of the block, and closed after an error."""
        try:
            session = self._free.pop()
        except IndexError:
            session = self._connect()
        self._busy.append(session)
        try:
            yield session
            session.commit()
        except BaseException:
            self._busy.remove(session)
            session.close()
            raise
        self._busy.remove(session)
        self._free.append(session)

    def cancel(self) -> None:
        """End the statements that run."""
        for session in tuple(self._busy):
            session.cancel()

    def close(self) -> None:
        """Close the idle sessions."""
        while self._free:
            self._free.pop().close()
