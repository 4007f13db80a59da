"""Versions of the schema: shared by all sessions, and of one session with its uncommitted changes."""

from __future__ import annotations

import threading
from collections import deque

from ..catalog.catalog import TableInfo

TableName = tuple[str, str]
"""A database, and the name of a table in it."""

ChangedTables = frozenset[TableName]

_RECENT = 64
"""Committed changes whose tables are known. A session that has missed more forgets all descriptions."""


class SchemaVersion:
    """The number of committed changes of any schema, and which tables the last ones concern. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent: deque[ChangedTables | None] = deque(maxlen=_RECENT)
        self.number = 0

    def increment(self, tables: ChangedTables | None = None) -> int:
        """Count a committed change of these tables alone, or of anything (None), and return its number.

        Cached descriptions of the tables, and all cached plans, are no longer valid.
        """
        with self._lock:
            self._recent.append(tables)
            self.number += 1
            return self.number

    def changed_since(self, number: int) -> tuple[int, ChangedTables | None]:
        """Return the current number, and the tables that changes after `number` concern; None for anything."""
        with self._lock:
            missed = self.number - number
            if missed > len(self._recent):
                return self.number, None
            changes = list(self._recent)[len(self._recent) - missed :]
            tables = [each for each in changes if each is not None]
            return self.number, frozenset().union(*tables) if len(tables) == missed else None


class SessionSchema:
    """The schema state of one session.

    Attributes
    ----------
    temp_tables
        Its temporary tables by name.
    uncommitted
        True if its transaction, or the running statement, has changed the schema.
    stamp
        Increases whenever the session's cached descriptions and plans may be out of date.
    catalog_stamp
        Increases whenever cached descriptions of any stored objects may be out of date.
    stale_tables
        Tables whose cached descriptions are out of date although `catalog_stamp` has not increased. The owner of the
        cache clears this.
    """

    def __init__(self, version: SchemaVersion) -> None:
        self._version = version
        self._seen_version = -1
        self.temp_tables: dict[str, TableInfo] = {}
        self.uncommitted = False
        # Uncommitted changes of stored objects: of these tables alone, or of anything.
        self._changed_tables: set[TableName] = set()
        self._changed_anything = False
        self.stale_tables: set[TableName] = set()
        self.stamp = 0
        self.catalog_stamp = 0

    def refresh(self) -> None:
        """Notice the commits of other sessions."""
        if self._version.number != self._seen_version:
            self._seen_version, tables = self._version.changed_since(self._seen_version)
            if tables is None:
                self.invalidate()
            else:
                self.stale_tables |= tables
                self.stamp += 1

    def invalidate(self) -> None:
        """Invalidate cached descriptions."""
        self.stamp += 1
        self.catalog_stamp += 1

    def mark_changed(self, *, temporary: bool = False, table: TableName | None = None) -> None:
        """Record that the statement has changed the schema: caches are invalid, those of other sessions after the
        commit.

        A change of `temporary` tables does not affect other sessions. One of a `table` that nothing else refers to
        leaves the cached descriptions of all others valid.
        """
        self.uncommitted = True
        self.stamp += 1
        if temporary:
            return
        if table is None:
            self._changed_anything = True
            self.catalog_stamp += 1
        else:
            self._changed_tables.add(table)
            self.stale_tables.add(table)

    def publish(self) -> None:
        """Make committed changes known to other sessions."""
        if self.uncommitted:
            self.uncommitted = False
            # They may also stem from an earlier transaction, which was rolled back.
            if self._changed_anything or self._changed_tables:
                tables = None if self._changed_anything else frozenset(self._changed_tables)
                self._changed_anything = False
                self._changed_tables.clear()
                number = self._version.increment(tables)
                self.stamp += 1
                if number == self._seen_version + 1:  # cached descriptions have the session's own changes
                    self._seen_version = number
