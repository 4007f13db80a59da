"""The protocols of database adapters, which copies (`database`) and applied changes (`applying.database`) use alike.

There is one adapter for each engine: `duck`, `postgres` and `informix`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

from .rejects import UnrepresentableValue
from .state import CopyRows

STAGE = "informix_arrow_stage"
LOCK_SECONDS = 60  # how long a server may take to see that a program which held locks is dead


@dataclass(frozen=True, slots=True)
class StateTable:
    """A table in the target that keeps a text for each name: how far copies, or changes, have come."""

    name: str
    column: str
    length: int | None = None  # of the longest text; None when it may have any


class Session(Protocol):
    """A transaction in the target. Tables are given by their plain names, unless they are ``quoted``."""

    def quoted(self, name: str) -> str:
        """A name as it stands in a statement."""

    def has(self, table: str) -> bool:
        """Whether there is such a table, made by whomever."""

    def columns(self, table: str) -> list[tuple[str, str]]:
        """Names and declared types of a table's columns, in order."""

    def first(self, sql: str) -> tuple[Any, ...] | None:
        """The first row of a query; None when there is none."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """All rows of a query."""

    def change(self, sql: str) -> int:
        """Run any other statement; how many rows it has changed, if it is a DELETE."""

    def state(self, states: StateTable, name: str) -> str | None:
        """The text of a name; None if there is none."""

    def claim(self, states: StateTable, name: str) -> str | None:
        """The text of a name, which nobody else can change until the end of the transaction; None if there is none.

        A name without a text has an empty one then.
        """

    def keep(self, states: StateTable, name: str, text: str) -> None:
        """Replace the text that was claimed."""

    def lock(self, table: str) -> None:
        """Lock a table, if it is there, where a lock for each of many rows might be more than the server has."""

    def create(self, table: str, schema: pa.Schema) -> None:
        """Make a table without rows."""

    def fill(self, table: str, rows: CopyRows) -> None:
        """Make a table of these rows, in place of one that is there."""

    def insert(self, table: str, rows: CopyRows) -> None:
        """Add rows to a table."""

    def stage(self, name: str, rows: CopyRows) -> None:
        """Make a temporary table of these rows."""

    def read(self, table: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """All rows of a table, in columns that can be cast to those of the schema."""

    def equal(self, there: str, staged: str, field: pa.Field) -> str:
        """The condition that the columns of a table and of a staged one are equal, neither of them being NULL."""

    def same(self, there: str, staged: str, field: pa.Field) -> str:
        """The condition that they are equal, or both NULL."""


class Engine(Protocol):
    """A database to which tables are copied, or in which they are kept equal."""

    name: str

    def make_states(self, states: StateTable) -> None:
        """Make a table of states, unless it is there."""

    def session(self) -> AbstractContextManager[Session]:
        """A transaction, committed when the block ends well, else undone."""

    def misfits(self, batch: pa.RecordBatch) -> Sequence[UnrepresentableValue]:
        """The values that the database cannot hold, though it has their type."""

    def close(self) -> None:
        """Close all connections."""


class Connected(Protocol):
    """A session with a connection of its own."""

    def commit(self) -> None:
        """Commit."""

    def close(self) -> None:
        """Close the connection, which undoes what was not committed."""


ConnectedT = TypeVar("ConnectedT", bound=Connected)


class Connections(Generic[ConnectedT]):
    """Sessions with a server, of which each has a connection; those that are free are used again."""

    def __init__(self, connect: Callable[[], ConnectedT]) -> None:
        self._connect = connect
        self._free: list[ConnectedT] = []

    @contextmanager
    def transaction(self) -> Iterator[ConnectedT]:
        """A session, committed when the block ends well, else closed."""
        try:
            session = self._free.pop()
        except IndexError:
            session = self._connect()
        try:
            yield session
            session.commit()
        except BaseException:
            session.close()
            raise
        self._free.append(session)

    def close(self) -> None:
        """Close those that are free."""
        while self._free:
            self._free.pop().close()
