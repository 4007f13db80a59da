"""A DuckDB file, or a connection to one, as a target of changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from ..wire.errors import OperationalError
from .database import GONE, STATES, Database

COME = "informix_arrow_come"  # rows to be put in, while a statement reads them


def is_connection(target: object) -> bool:
    """Whether this is a DuckDB connection."""
    return isinstance(target, duckdb.DuckDBPyConnection)


def opened(path: str) -> Database:
    """A file, which is made when it is not there."""
    try:
        return Database(Duck(duckdb.connect(path), path, own=True))
    except duckdb.Error as error:
        raise OperationalError(f"{path} cannot be opened as a DuckDB file: {error}") from error


def of_connection(connection: Any) -> Database:
    """A connection, which stays open."""
    return Database(Duck(connection, "the DuckDB target", own=False))


class Duck:
    """A DuckDB session, whose transactions are those of the source."""

    def __init__(self, connection: Any, name: str, *, own: bool) -> None:
        self._connection, self._own, self.name = connection, own, name
        self._run(f"CREATE TABLE IF NOT EXISTS {STATES} (name VARCHAR PRIMARY KEY, token VARCHAR NOT NULL)")

    def close(self) -> None:
        if self._own:
            self._connection.close()

    @contextmanager
    def session(self) -> Iterator[Duck]:
        self._run("BEGIN")
        try:
            yield self
        except BaseException:
            self._run("ROLLBACK")
            for name in (COME, GONE):  # which could not be let go in a transaction that had failed
                self._connection.unregister(name)
            raise
        self._run("COMMIT")

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def equal(self, there: str, gone: str, field: pa.Field) -> str:
        return f"{there} = {gone}"

    def same(self, there: str, gone: str, field: pa.Field) -> str:
        return f"{there} IS NOT DISTINCT FROM {gone}"

    def token(self, name: str) -> str | None:
        row = self._run(f"SELECT token FROM {STATES} WHERE name = ?", [name]).fetchone()
        return None if row is None else str(row[0])

    def keep(self, name: str, before: str | None, token: str) -> bool:
        if self.token(name) != before:
            return False
        self._run(f"INSERT OR REPLACE INTO {STATES} VALUES (?, ?)", [name, token])
        return True

    def prepare(self, table: str, schema: pa.Schema, rows: int) -> None:
        with self._seen(COME, schema.empty_table()):
            self._run(f"CREATE TABLE IF NOT EXISTS {self.quoted(table)} AS SELECT * FROM {COME}")

    def change(self, sql: str) -> int:
        return int(self._run(sql).fetchone()[0])

    def pairs(self, sql: str) -> list[tuple[int, int]]:
        return [(int(one), int(other)) for one, other in self._run(sql).fetchall()]

    @contextmanager
    def stage(self, rows: pa.Table) -> Iterator[None]:
        with self._seen(GONE, rows):
            yield

    def insert(self, table: str, rows: pa.Table) -> None:
        listed = ", ".join(map(self.quoted, rows.column_names))
        with self._seen(COME, rows):
            self._run(f"INSERT INTO {self.quoted(table)} ({listed}) SELECT {listed} FROM {COME}")

    @contextmanager
    def _seen(self, name: str, rows: pa.Table) -> Iterator[None]:
        """Arrow rows as a view."""
        self._connection.register(name, rows)
        yield
        self._connection.unregister(name)

    def _run(self, sql: str, values: list[object] | None = None) -> Any:
        try:
            return self._connection.execute(sql, values or [])
        except duckdb.Error as error:
            raise OperationalError(f"{self.name}: {error}") from error
