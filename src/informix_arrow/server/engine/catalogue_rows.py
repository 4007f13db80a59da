"""Rows of queries of the catalogue, kept for all sessions as long as no schema changes (planning/kept_rows.py)."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Mapping

import duckdb

from ..planning.plans import KeptRows
from ..types.names import quote
from .running import values_in

log = logging.getLogger("informix_arrow.server")

MOST_ROWS = 100_000
"""Rows of one query that are kept: without its parameters it may have any number."""

MOST_QUERIES = 64
"""Queries whose rows are kept; what comes then is not, until the schema changes."""

WORTH = 2
"""Times that a query is asked of one schema before its rows are kept: making all of them costs more than a few."""

Version = tuple[int, int]
Key = tuple[str | None, str]


class CatalogueRows:
    """Tables of such rows, in DuckDB's own database. Thread-safe.

    Parameters
    ----------
    connect
        Makes the connection that they are made with.
    version
        What they hold for: another one where a schema or the list of databases may have changed.
    """

    def __init__(
        self, connect: Callable[[], duckdb.DuckDBPyConnection], version: Callable[[], Version]
    ) -> None:
        self._connect = connect
        self._version = version
        self._con: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._of: Version | None = None
        self._asked: dict[Key, int] = {}
        self._made: dict[Key, str | None] = {}  # None: it has too many rows, or some that cannot be made

    def query(self, kept: KeptRows, database: str | None, values: Mapping[str, object]) -> str | None:
        """The text of a query over its kept rows; None where there are none: it is to be run as it is. `values` are
        those of the session that only change with the schema; the session sees what is committed, and nothing else.
        """
        if not self._lock.acquire(blocking=False):  # somebody is making rows: that takes longer than a query
            return None
        try:
            version = self._version()
            if version != self._of:
                self._forget(version)
            tables = [self._table((database, query), values) for query in kept.queries]
            names = [name for name in tables if name is not None]
            if len(names) < len(tables) or version != self._version():
                return None
            return kept.text(names)
        finally:
            self._lock.release()

    def _table(self, key: Key, values: Mapping[str, object]) -> str | None:
        if key in self._made:
            return self._made[key]
        asked = self._asked.get(key, 0)
        if asked < WORTH or len(self._made) >= MOST_QUERIES:
            if asked < WORTH and len(self._asked) < 4 * MOST_QUERIES:
                self._asked[key] = asked + 1
            return None
        self._made[key] = self._make(key[1], values)
        return self._made[key]

    def _make(self, query: str, values: Mapping[str, object]) -> str | None:
        if self._con is None:
            self._con = self._connect()
        name = f"memory.main.{quote(f'_ifx_kept_{next(self._numbers)}')}"
        try:
            self._con.execute(
                f"CREATE TABLE {name} AS SELECT * FROM ({query}) LIMIT {MOST_ROWS + 1}",
                values_in(query, dict(values)),
            )
            count = self._con.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0]
        except duckdb.Error as problem:  # such as a value that a parameter would have kept out
            log.debug("rows of the catalogue are not kept: %s", problem)
            return None
        if count > MOST_ROWS:
            self._con.execute(f"DROP TABLE {name}")
            return None
        return name

    def _forget(self, version: Version) -> None:
        names = [name for name in self._made.values() if name is not None]
        self._asked.clear()
        self._made.clear()
        self._of = version
        if self._con is not None and names:
            try:
                self._con.execute(";".join(f"DROP TABLE IF EXISTS {name}" for name in names))
            except duckdb.Error as problem:  # its rows are in memory, and nobody asks for them
                log.warning("rows of the catalogue could not be dropped: %s", problem)

    def close(self) -> None:
        """With the engine."""
        with self._lock:
            if self._con is not None:
                self._con.close()
