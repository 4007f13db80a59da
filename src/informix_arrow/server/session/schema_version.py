"""How it is known that the schema is another one now: for all sessions, and for one before it has committed."""

from __future__ import annotations

import threading

from ..catalog.catalog import TableInfo


class SchemaVersion:
    """The number of committed changes of any schema. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.number = 0

    def increment(self) -> None:
        """A change was committed: descriptions and plans that were kept no longer hold."""
        with self._lock:
            self.number += 1


class SessionSchema:
    """What of the schema is one session's own.

    Attributes
    ----------
    temp_tables
        Its temporary tables by name.
    uncommitted
        Whether its transaction, or the statement that runs, has changed the schema.
    stamp
        Grows whenever descriptions and plans that the session keeps may be out of date.
    stored
        Grows whenever descriptions of what databases hold may be: that of temporary tables is nothing of it.
    """

    def __init__(self, version: SchemaVersion) -> None:
        self._version = version
        self._seen_version = -1
        self.temp_tables: dict[str, TableInfo] = {}
        self.uncommitted = False
        self._changes_shared_schema = False  # some of what is not committed is not of temporary tables
        self.stamp = 0
        self.catalog_stamp = 0

    def refresh(self) -> None:
        """Take notice of what other sessions have committed."""
        version = self._version.number
        if version != self._seen_version:
            self._seen_version = version
            self.invalidate()

    def invalidate(self) -> None:
        """What was known of tables is out of date."""
        self.stamp += 1
        self.catalog_stamp += 1

    def mark_changed(self, *, temporary: bool = False) -> None:
        """The statement has changed the schema: nothing kept holds, here now and elsewhere after the commit. Of
        `temporary` tables nobody else knows."""
        self.uncommitted = True
        self._changes_shared_schema = self._changes_shared_schema or not temporary
        self.stamp += 1
        self.catalog_stamp += not temporary

    def publish(self) -> None:
        """What was changed is committed."""
        if self.uncommitted:
            self.uncommitted = False
            if self._changes_shared_schema:  # perhaps of a transaction before this one that was rolled back
                self._changes_shared_schema = False
                self._version.increment()
