"""A DuckDB file, or a connection to one, as a target of changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from ..wire.errors import OperationalError
from .net import NetChanges

STATES = "informix_arrow_changes"
"""The table in which it stands how far a target has come."""


def is_connection(target: object) -> bool:
    """Whether this is a DuckDB connection."""
    return isinstance(target, duckdb.DuckDBPyConnection)


class DuckTarget:
    """One DuckDB session, whose transactions are those of the source."""

    def __init__(self, connection: Any, *, own: bool = False) -> None:
        self._connection, self._own = connection, own
        self._run(f"CREATE TABLE IF NOT EXISTS {STATES} (name VARCHAR PRIMARY KEY, token VARCHAR NOT NULL)")

    @classmethod
    def of_path(cls, path: str) -> DuckTarget:
        """Open a file, which is made when it is not there."""
        try:
            return cls(duckdb.connect(path), own=True)
        except duckdb.Error as error:
            raise OperationalError(f"{path} cannot be opened as a DuckDB file: {error}") from error

    def close(self) -> None:
        """Close what was opened here."""
        if self._own:
            self._connection.close()

    def token(self, name: str) -> str | None:
        """How far the target has come."""
        row = self._run(f"SELECT token FROM {STATES} WHERE name = ?", [name]).fetchone()
        return None if row is None else str(row[0])

    def keep(self, name: str, token: str) -> None:
        """Write down how far it has come, within a session."""
        self._run(f"INSERT OR REPLACE INTO {STATES} VALUES (?, ?)", [name, token])

    @contextmanager
    def session(self) -> Iterator[None]:
        """One transaction: all of it, or nothing."""
        self._run("BEGIN")
        try:
            yield
        except BaseException:
            self._run("ROLLBACK")
            raise
        self._run("COMMIT")

    def apply(self, table: str, net: NetChanges) -> None:
        """Bring a table's changes to it, within a session.

        ``OperationalError`` when a row that was changed or removed is not there as it was.
        """
        name = _quoted(table)
        self._make(name, net.schema)
        if net.emptied:
            self._run(f"DELETE FROM {name}")
        columns = [_quoted(field) for field in net.schema.names]
        listed = ", ".join(columns)
        if net.gone.num_rows == 0:
            self._insert(name, listed, net.come)
            return
        # Rows as often as they are gone (> 0) or have come (< 0).
        self._run(
            "CREATE OR REPLACE TEMP TABLE informix_arrow_net AS " + self._sums(listed),
            [],
            gone=net.gone,
            come=net.come,
        )
        same = " AND ".join(f"t.{column} IS NOT DISTINCT FROM n.{column}" for column in columns)
        parts = ", ".join(f"t.{column}" for column in columns)
        found = self._run(
            f"DELETE FROM {name} WHERE rowid IN (SELECT place FROM (SELECT t.rowid AS place, "
            f"row_number() OVER (PARTITION BY {parts}) AS number, n.times AS times "
            f"FROM {name} t JOIN informix_arrow_net n ON {same} WHERE n.times > 0) WHERE number <= times)"
        ).fetchone()
        wanted = self._run(
            "SELECT coalesce(sum(times), 0) FROM informix_arrow_net WHERE times > 0"
        ).fetchone()
        gone, there = int(wanted[0]), int(found[0])
        if there != gone:
            raise OperationalError(
                f"{table} is not what the changes were made to: of {gone:,} rows that were changed or removed "
                f"{gone - there:,} are not there as they were; make the copy anew"
            )
        self._run(
            f"INSERT INTO {name} ({listed}) SELECT {listed} FROM "
            "(SELECT *, unnest(range(-times)) FROM informix_arrow_net WHERE times < 0)"
        )
        self._run("DROP TABLE informix_arrow_net")

    def _sums(self, listed: str) -> str:
        return (
            f"SELECT {listed}, CAST(sum(one) AS BIGINT) AS times FROM (SELECT {listed}, 1 AS one FROM gone "
            f"UNION ALL SELECT {listed}, -1 FROM come) GROUP BY {listed} HAVING sum(one) <> 0"
        )

    def _insert(self, name: str, listed: str, rows: pa.Table) -> None:
        if rows.num_rows:
            self._run(f"INSERT INTO {name} ({listed}) SELECT {listed} FROM come", [], come=rows)

    def _make(self, name: str, schema: pa.Schema) -> None:
        """Make a table that is not there."""
        self._run(f"CREATE TABLE IF NOT EXISTS {name} AS SELECT * FROM come", [], come=schema.empty_table())

    def _run(self, sql: str, values: list[object] | None = None, **views: pa.Table) -> Any:
        """Run a statement that reads Arrow tables under these names."""
        try:
            for view, rows in views.items():
                self._connection.register(view, rows)
            try:
                return self._connection.execute(sql, values or [])
            finally:
                for view in views:
                    self._connection.unregister(view)
        except duckdb.Error as error:
            raise OperationalError(f"the DuckDB target failed: {error}") from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
