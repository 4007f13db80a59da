"""A DuckDB file as a target: a table for each, and their states in ``informix_arrow_copies``. One transaction each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import duckdb
import pyarrow as pa

from ..wire.errors import DataError, InterfaceError, OperationalError
from .state import Rows, State, reconcile

STATES = "informix_arrow_copies"
_STAGE = "informix_arrow_stage"


class DuckFile:
    """See the module."""

    def __init__(self, path: str) -> None:
        try:
            self._connection = duckdb.connect(path)
        except duckdb.Error as error:
            raise OperationalError(f"{path} cannot be opened as a DuckDB file: {error}") from error
        self._path = path
        self._lock = threading.RLock()  # one writer at a time
        self._run(f"CREATE TABLE IF NOT EXISTS {STATES} (name VARCHAR PRIMARY KEY, state VARCHAR)")

    def state(self, table: str) -> State | None:
        with self._lock:
            self._check(table)
            found = self._run(f"SELECT state FROM {STATES} WHERE name = ?", [table]).fetchone()
            if found is not None:
                return State.from_json(found[0], f"{self._path}: {STATES}")
            if table.lower() in {row[0].lower() for row in self._run("SHOW TABLES").fetchall()}:
                raise OperationalError(
                    f"{self._path} has a table {table} that no copy has made: drop it, or choose another file"
                )
            return None

    def replace(self, table: str, rows: Rows, state: Callable[[], State]) -> State:
        with self._lock, _Transaction(self):
            self._stage(rows, f"CREATE OR REPLACE TABLE {_quoted(table)} AS SELECT * FROM rows")
            self._reconcile(table, rows, _quoted(table))
            return self._keep(table, state)

    def append(self, table: str, rows: Rows, state: Callable[[], State]) -> State:
        return self._take(table, rows, state, ())

    def merge(self, table: str, rows: Rows, state: Callable[[], State], key: Sequence[str]) -> State:
        return self._take(table, rows, state, key)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _take(self, table: str, rows: Rows, state: Callable[[], State], key: Sequence[str]) -> State:
        name = _quoted(table)
        with self._lock, _Transaction(self):
            self._stage(rows, f"CREATE OR REPLACE TEMP TABLE {_STAGE} AS SELECT * FROM rows")
            self._reconcile(table, rows, _STAGE)
            self._add_columns(name)
            if key:
                self._remove(table, key)
            self._run(f"INSERT INTO {name} BY NAME SELECT * FROM {_STAGE}")
            self._run(f"DROP TABLE {_STAGE}")
            return self._keep(table, state)

    def _add_columns(self, name: str) -> None:
        """Those that are new: whether they may be was found out before."""
        there = {row[0].lower() for row in self._run(f"DESCRIBE {name}").fetchall()}
        for column, kind, *_ in self._run(f"DESCRIBE {_STAGE}").fetchall():
            if column.lower() not in there:
                self._run(f"ALTER TABLE {name} ADD COLUMN {_quoted(column)} {kind}")

    def _remove(self, table: str, key: Sequence[str]) -> None:
        """The rows that new ones take the place of."""
        names = ", ".join(map(_quoted, key))
        none = " OR ".join(f"{_quoted(each)} IS NULL" for each in key)
        if self._run(f"SELECT 1 FROM {_STAGE} WHERE {none} LIMIT 1").fetchone():
            raise DataError(
                f"{table}: a row has no value in its key ({', '.join(key)}): rows cannot be merged by it"
            )
        twice = self._run(
            f"SELECT {names} FROM {_STAGE} GROUP BY {names} HAVING count(*) > 1 LIMIT 1"
        ).fetchone()
        if twice:
            text = ", ".join(f"{name}={value!r}" for name, value in zip(key, twice, strict=True))
            raise DataError(f"{table}: two rows have the key {text}: {', '.join(key)} is no key")
        same = " AND ".join(f"t.{_quoted(each)} = s.{_quoted(each)}" for each in key)
        self._run(f"DELETE FROM {_quoted(table)} t USING {_STAGE} s WHERE {same}")

    def _stage(self, rows: Rows, sql: str) -> None:
        failed: list[BaseException] = []

        def batches() -> object:
            try:
                yield from rows.batches
            except BaseException as error:
                failed.append(error)
                raise

        reader = pa.RecordBatchReader.from_batches(rows.schema, batches())
        self._connection.register("rows", reader)
        try:
            self._run(sql)
        except OperationalError:
            if failed:  # DuckDB tells it as a text
                raise failed[0] from None
            raise
        finally:
            self._connection.unregister("rows")

    def _reconcile(self, table: str, rows: Rows, there: str) -> None:
        relation = self._connection.sql(f"SELECT * FROM {there}")
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # until DuckDB 1.4
        reconcile(table, rows.checks, rows.checks.of(reader(1 << 17)))

    def _keep(self, table: str, state: Callable[[], State]) -> State:
        ((count,),) = self._run(f"SELECT count(*) FROM {_quoted(table)}").fetchall()
        kept = replace(state(), rows=count)
        self._run(f"INSERT OR REPLACE INTO {STATES} VALUES (?, ?)", [table, kept.to_json()])
        return kept

    def _check(self, table: str) -> None:
        if table.lower() == STATES:
            raise InterfaceError(
                f"a table cannot be called {table} in a DuckDB file: the states of copies are there"
            )

    def _run(self, sql: str, values: Sequence[object] = ()) -> duckdb.DuckDBPyConnection:
        try:
            return self._connection.execute(sql, list(values))
        except duckdb.Error as error:
            raise OperationalError(f"{self._path}: {error}") from error


class _Transaction:
    """Committed when its block ends well."""

    def __init__(self, file: DuckFile) -> None:
        self._file = file

    def __enter__(self) -> None:
        self._file._run("BEGIN")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._file._run("COMMIT" if error is None else "ROLLBACK")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
