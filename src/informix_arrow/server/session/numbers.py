"""Numbers of new tables, types, routines, triggers and large objects."""

from __future__ import annotations

import threading

import duckdb

from ..catalog.catalog import highest_number


class ObjectNumbers:
    """Assigns numbers to new objects of a database, each unique for its kind while this engine runs. Thread-safe."""

    def __init__(self, root: duckdb.DuckDBPyConnection) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._last: dict[tuple[str, str], int] = {}

    def new_tabid(self, database: str) -> int:
        """Return the number for a new table."""
        return self._next("table", database)

    def new_lob(self, database: str) -> int:
        """Return the number for a new large object."""
        return self._next("lob", database)

    def new_type_id(self, database: str) -> int:
        """Return the number for a new extended type."""
        return self._next("type", database)

    def new_procid(self, database: str) -> int:
        """Return the number for a new routine."""
        return self._next("routine", database)

    def new_trigid(self, database: str) -> int:
        """Return the number for a new trigger."""
        return self._next("trigger", database)

    def _next(self, kind: str, database: str) -> int:
        with self._lock:
            key = (kind, database)
            if key not in self._last:
                self._last[key] = highest_number(self._root.cursor(), database, kind)
            self._last[key] += 1
            return self._last[key]

    def rename(self, database: str, new: str) -> None:
        """Keep the numbers of a database that was renamed."""
        with self._lock:
            for key in [k for k in self._last if k[1] == database]:
                self._last[key[0], new] = self._last.pop(key)

    def forget(self, database: str) -> None:
        """Forget the numbers of a database that was dropped."""
        with self._lock:
            self._last = {key: number for key, number in self._last.items() if key[1] != database}
