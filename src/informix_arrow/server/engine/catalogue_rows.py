"""Rows of queries of the catalogue, kept for all sessions as long as no schema changes (planning/kept_rows.py)."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from ..planning.plans import KeptRows
from ..types.names import quote
from .chosen_rows import ChosenRows
from .running import values_in

log = logging.getLogger("informix_arrow.server")

MOST_ROWS = 100_000
"""Rows of one query that are kept: without its parameters it may have any number."""

MOST_QUERIES = 64
"""Queries whose rows are kept; what comes then is not, until the schema changes."""

MOST_VALUES = 500_000
"""Values of rows that are kept as Python objects, too, of all queries together: some 30 MB at most."""

Version = tuple[int, int]
Key = tuple[str | None, str, str]


@dataclass(frozen=True, slots=True)
class KeptQuery:
    """What to run for a query of rows that are kept: `sql` gives them, or `places` gives where they are among `rows`,
    where these are known; nothing where `chosen` are its rows."""

    sql: str
    places: str = ""
    rows: Sequence[tuple[Any, ...]] = ()
    chosen: Sequence[tuple[Any, ...]] | None = None


@dataclass(frozen=True, slots=True)
class _Kept:
    """A table, and its rows where they are few and wanted."""

    table: str
    rows: ChosenRows | None


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
        self._values = 0  # of rows that are Python objects
        self._made: dict[Key, _Kept | None] = {}  # None: it has too many rows, or some that cannot be made

    def query(
        self, kept: KeptRows, database: str | None, values: Mapping[str, object], bound: Mapping[str, object]
    ) -> KeptQuery | None:
        """A query over its kept rows; None where there are none: it is to be run as it is. `values` are those of the
        session that only change with the schema, `bound` those with the parameters; the session sees what is committed,
        and nothing else.
        """
        if not self._lock.acquire(blocking=False):  # somebody is making rows: that takes longer than a query
            return None
        try:
            version = self._version()
            if version != self._of:
                self._forget(version)
            found = [self._table(kept, (database, query, kept.order), values) for query in kept.queries]
            tables = [each for each in found if each is not None]
            if len(tables) < len(found) or version != self._version():
                return None
        finally:
            self._lock.release()
        sql, rows = kept.text([each.table for each in tables]), tables[0].rows
        if not kept.places or rows is None:
            return KeptQuery(sql)
        chosen = rows.matching(kept.matches, bound) if kept.matches else None
        return KeptQuery(sql, tables[0].table.join(kept.places), rows.rows, chosen)

    def _table(self, kept: KeptRows, key: Key, values: Mapping[str, object]) -> _Kept | None:
        if key in self._made:
            return self._made[key]
        asked = self._asked.get(key, 0)
        if asked < kept.worth or len(self._made) >= MOST_QUERIES:
            if asked < kept.worth and len(self._asked) < 4 * MOST_QUERIES:
                self._asked[key] = asked + 1
            return None
        self._made[key] = self._make(*key[1:], values, as_objects=bool(kept.places))
        return self._made[key]

    def _make(
        self, query: str, order: str, values: Mapping[str, object], *, as_objects: bool
    ) -> _Kept | None:
        if self._con is None:
            self._con = self._connect()
        name = f"memory.main.{quote(f'_ifx_kept_{next(self._numbers)}')}"
        rows_of = f"SELECT * FROM ({query}) LIMIT {MOST_ROWS + 1}"
        if order:
            rows_of = f'SELECT * FROM ({rows_of}) AS "_ifx_kept" ORDER BY {order}'
        try:
            self._con.execute(f"CREATE TABLE {name} AS {rows_of}", values_in(query, dict(values)))
            count = self._con.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0]
            rows = None
            if as_objects:
                rows = self._objects(self._con.execute(f"SELECT * FROM {name} ORDER BY rowid"), count)
        except duckdb.Error as problem:  # such as a value that a parameter would have kept out
            log.debug("rows of the catalogue are not kept: %s", problem)
            return None
        if count > MOST_ROWS:
            self._con.execute(f"DROP TABLE {name}")
            return None
        return _Kept(name, rows)

    def _objects(self, con: duckdb.DuckDBPyConnection, count: int) -> ChosenRows | None:
        """The rows of a query that was begun just now, of columns c0, c1, ..., p0, p1, ...; None where they are too
        many."""
        names = [str(column[0]) for column in con.description or ()]
        if self._values + count * len(names) > MOST_VALUES:
            return None
        self._values += count * len(names)
        return ChosenRows(con.fetchall(), sum(name.startswith("c") for name in names))

    def _forget(self, version: Version) -> None:
        names = [kept.table for kept in self._made.values() if kept is not None]
        self._asked.clear()
        self._made.clear()
        self._values = 0
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
