"""Versions of the schema: shared by all sessions, and of one session with its uncommitted changes."""

from __future__ import annotations

import threading

from ..catalog.catalog import TableInfo


class SchemaVersion:
    """The number of committed changes of any schema. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.number = 0

    def increment(self) -> None:
        """Count a committed change: cached descriptions and plans are no longer valid."""
        with self._lock:
            self.number += 1


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
        Increases whenever cached descriptions of stored objects may be out of date. Temporary tables do not affect it.
    """

    def __init__(self, version: SchemaVersion) -> None:
        self._version = version
        self._seen_version = -1
        self.temp_tables: dict[str, TableInfo] = {}
        self.uncommitted = False
        self._changes_shared_schema = False  # some uncommitted changes are not of temporary tables
        self.stamp = 0
        self.catalog_stamp = 0

    def refresh(self) -> None:
        """Notice the commits of other sessions."""
        version = self._version.number
        if version != self._seen_version:
            self._seen_version = version
            self.invalidate()

    def invalidate(self) -> None:
        """Invalidate cached descriptions."""
        self.stamp += 1
        self.catalog_stamp += 1

    def mark_changed(self, *, temporary: bool = False) -> None:
        """Record that the statement has changed the schema: caches are invalid, those of other sessions after the
        commit.

        A change of `temporary` tables does not affect other sessions.
        """
        self.uncommitted = True
        self._changes_shared_schema = self._changes_shared_schema or not temporary
        self.stamp += 1
        self.catalog_stamp += not temporary

    def publish(self) -> None:
        """Make committed changes known to other sessions."""
        if self.uncommitted:
            self.uncommitted = False
            if self._changes_shared_schema:  # may stem from an earlier transaction that was rolled back
                self._changes_shared_schema = False
                self._version.increment()
