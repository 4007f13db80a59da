"""The adapter of DuckDB, for copies into a file and for changes: one transaction at a time, on one connection."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from ..wire.errors import OperationalError
from ..wire.quoting import double_quoted
from .engine import StateTable
from .rejects import UnrepresentableValue
from .state import CopyRows

ROWS = "informix_arrow_rows"  # a view of Arrow rows, while a statement reads them

_open_paths: set[str] = (
    set()
)  # files that copies of this process write to: DuckDB locks out other processes only
_open_paths_lock = threading.Lock()


def is_connection(target: object) -> bool:
    """Return whether this is a DuckDB connection."""
    return isinstance(target, duckdb.DuckDBPyConnection)


def connect_file(path: str) -> Any:
    """Connect to a file, which is created if it is missing."""
    try:
        return duckdb.connect(path)
    except duckdb.Error as error:
        raise OperationalError(f"{path} cannot be opened as a DuckDB file ({error}).") from error


class Duck:
    """A DuckDB connection and its one session. A connection that is not its ``own`` stays open."""

    def __init__(self, connection: Any, name: str, *, own: bool) -> None:
        self._connection, self._owns_connection, self.name = connection, own, name
        self._lock = threading.RLock()  # one writer at a time

    def create_states(self, states: StateTable) -> None:
        self._run(
            f"CREATE TABLE IF NOT EXISTS {states.name} "
            f"(name VARCHAR PRIMARY KEY, {states.column} VARCHAR NOT NULL)"
        )

    @contextmanager
    def session(self) -> Iterator[Duck]:
        with self._lock:
            self._run("BEGIN")
            try:
                yield self
            except BaseException:
                self._run("ROLLBACK")
                self._connection.unregister(ROWS)  # after the rollback: a failed transaction refuses it
                raise
            self._run("COMMIT")

    def unrepresentable_values(self, batch: pa.RecordBatch) -> Sequence[UnrepresentableValue]:
        return ()

    def cancel(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        with self._lock:
            if self._owns_connection:
                self._connection.close()

    # ---- session -------------------------------------------------------------------------------------------

    def quoted(self, name: str) -> str:
        return double_quoted(name)

    def has(self, table: str) -> bool:
        return table.lower() in {row[0].lower() for row in self.rows("SHOW TABLES")}

    def columns(self, table: str) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in self.rows(f"DESCRIBE {self.quoted(table)}")]

    def first(self, sql: str) -> tuple[Any, ...] | None:
        rows = self.rows(f"SELECT * FROM ({sql}) LIMIT 1")
        return rows[0] if rows else None

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return list(self._run(sql).fetchall())

    def change(self, sql: str) -> int:
        changed = self.rows(sql)
        return int(changed[0][0]) if changed else 0

    def state(self, states: StateTable, name: str) -> str | None:
        rows = self._run(f"SELECT {states.column} FROM {states.name} WHERE name = ?", [name]).fetchall()
        return str(rows[0][0]) if rows else None

    def claim(self, states: StateTable, name: str) -> str | None:
        text = self.state(states, name)
        if text is None:
            self._run(f"INSERT INTO {states.name} VALUES (?, '')", [name])
        return text

    def store(self, states: StateTable, name: str, text: str) -> None:
        self._run(f"UPDATE {states.name} SET {states.column} = ? WHERE name = ?", [text, name])

    def lock(self, table: str) -> None:
        """Do nothing: DuckDB has one writer."""

    def create(self, table: str, schema: pa.Schema) -> None:
        self._connection.register(ROWS, schema.empty_table())
        self._run(f"CREATE TABLE {self.quoted(table)} AS SELECT * FROM {ROWS}")
        self._connection.unregister(ROWS)

    def fill(self, table: str, rows: CopyRows) -> None:
        self._run_on_rows(rows, f"CREATE OR REPLACE TABLE {self.quoted(table)} AS SELECT *")

    def insert(self, table: str, rows: CopyRows) -> None:
        listed = ", ".join(map(self.quoted, rows.schema.names))
        self._run_on_rows(rows, f"INSERT INTO {self.quoted(table)} ({listed}) SELECT {listed}")

    def stage(self, name: str, rows: CopyRows) -> None:
        self._run_on_rows(rows, f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT *")

    def read(self, table: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        relation = self._connection.sql(f"SELECT * FROM {self.quoted(table)}")
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # until DuckDB 1.4
        yield from reader(1 << 17)

    def equal(self, there: str, staged: str, field: pa.Field) -> str:
        return f"{there} = {staged}"

    def same(self, there: str, staged: str, field: pa.Field) -> str:
        return f"{there} IS NOT DISTINCT FROM {staged}"

    def _run_on_rows(self, rows: CopyRows, sql: str) -> None:
        """Run a statement that selects from the rows."""
        with rows.stream() as reader:
            self._connection.register(ROWS, reader)
            self._run(f"{sql} FROM {ROWS}")
            self._connection.unregister(ROWS)

    def _run(self, sql: str, values: Sequence[object] = ()) -> Any:
        try:
            return self._connection.execute(sql, list(values))
        except duckdb.Error as error:
            raise OperationalError(f"{self.name}: {error}") from error


class DuckFile(Duck):
    """A file that no other copy writes to until it is closed."""

    def __init__(self, path: str) -> None:
        self._real_path = os.path.realpath(path)
        with _open_paths_lock:
            if self._real_path in _open_paths:
                raise OperationalError(f"{path}: Another copy is writing to it. Wait until it has ended.")
            _open_paths.add(self._real_path)
        try:
            super().__init__(connect_file(path), path, own=True)
            self._file = os.stat(self._real_path)
        except BaseException:
            _open_paths.discard(self._real_path)
            raise

    @contextmanager
    def session(self) -> Iterator[Duck]:
        with super().session() as session:
            yield session
        self._require_file()

    def close(self) -> None:
        super().close()
        _open_paths.discard(self._real_path)

    def _require_file(self) -> None:
        """Raise ``OperationalError`` if the file that was written was removed or replaced."""
        try:
            same = os.path.samestat(self._file, os.stat(self._real_path))
        except FileNotFoundError:
            same = False
        if not same:
            raise OperationalError(
                f"{self.name}: The file was removed or replaced during the copy. Copy again."
            )
