"""A DuckDB file as a target. One transaction at a time, on one connection."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from ..wire.errors import OperationalError
from .database import STAGE, STATES
from .rejects import Misfit
from .state import Rows

_taken: set[str] = set()  # files that copies of this process write to: DuckDB keeps others out
_taking = threading.Lock()


class DuckFile:
    """A file that is open, and its one session."""

    def __init__(self, path: str) -> None:
        self._place = os.path.realpath(path)
        with _taking:
            if self._place in _taken:
                raise OperationalError(f"{path}: another copy is writing to it")
            _taken.add(self._place)
        try:
            try:
                self._connection = duckdb.connect(path)
            except duckdb.Error as error:
                raise OperationalError(f"{path} cannot be opened as a DuckDB file: {error}") from error
            self.name = path
            self._lock = threading.RLock()  # one writer at a time
            self._run(f"CREATE TABLE IF NOT EXISTS {STATES} (name VARCHAR PRIMARY KEY, state VARCHAR)")
            self._file = os.stat(self._place)
        except BaseException:
            _taken.discard(self._place)
            raise

    @contextmanager
    def session(self) -> Iterator[DuckFile]:
        with self._lock:
            self._run("BEGIN")
            try:
                yield self
            except BaseException:
                self._run("ROLLBACK")
                raise
            self._run("COMMIT")
            self._require_file()

    def _require_file(self) -> None:
        """``OperationalError`` when what was written is in no file that has a name any more."""
        try:
            same = os.path.samestat(self._file, os.stat(self._place))
        except FileNotFoundError:
            same = False
        if not same:
            raise OperationalError(
                f"{self.name}: somebody has removed the file in the middle of the copy, or put another in its place: "
                "copy again"
            )

    def misfits(self, batch: pa.RecordBatch) -> Sequence[Misfit]:
        return ()

    def close(self) -> None:
        with self._lock:
            self._connection.close()
        _taken.discard(self._place)

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def has(self, table: str) -> bool:
        return table.lower() in {row[0].lower() for row in self._run("SHOW TABLES").fetchall()}

    def columns(self, table: str) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in self._run(f"DESCRIBE {self.quoted(table)}").fetchall()]

    def first(self, sql: str) -> tuple[Any, ...] | None:
        rows = self._run(f"SELECT * FROM ({sql}) LIMIT 1").fetchall()
        return rows[0] if rows else None

    def change(self, sql: str) -> None:
        self._run(sql)

    def claim(self, table: str) -> str | None:
        found = self.state(table)
        if found is None:
            self._run(f"INSERT INTO {STATES} VALUES (?, '')", [table])
        return found

    def state(self, table: str) -> str | None:
        found = self._run(f"SELECT state FROM {STATES} WHERE name = ?", [table]).fetchall()
        return str(found[0][0]) if found else None

    def keep(self, table: str, state: str) -> None:
        self._run(f"UPDATE {STATES} SET state = ? WHERE name = ?", [state, table])

    def fill(self, table: str, rows: Rows) -> None:
        self._take(rows, f"CREATE OR REPLACE TABLE {self.quoted(table)}")

    def stage(self, rows: Rows) -> None:
        self._take(rows, f"CREATE OR REPLACE TEMP TABLE {STAGE}")

    def read(self, table: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        relation = self._connection.sql(f"SELECT * FROM {self.quoted(table)}")
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # until DuckDB 1.4
        yield from reader(1 << 17)

    def _take(self, rows: Rows, make: str) -> None:
        with rows.stream() as reader:
            self._connection.register("rows", reader)
            try:
                self._run(f"{make} AS SELECT * FROM rows")
            finally:
                self._connection.unregister("rows")

    def _run(self, sql: str, values: Sequence[object] = ()) -> duckdb.DuckDBPyConnection:
        try:
            return self._connection.execute(sql, list(values))
        except duckdb.Error as error:
            raise OperationalError(f"{self.name}: {error}") from error
