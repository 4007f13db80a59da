"""The database that a session has open."""

from __future__ import annotations

from ..catalog.databases import DatabaseRecord, Databases
from ..errors import SqlError, not_supported


class CurrentDatabase:
    """The open database of one session.

    Attributes
    ----------
    databases
        All databases of the engine.
    name
        Name of the open database; None if there is none.
    """

    def __init__(self, databases: Databases) -> None:
        self.databases = databases
        self.name: str | None = None

    def require(self) -> str:
        """Return the name of the open database; -349 if there is none."""
        if self.name is None:
            raise SqlError(-349)
        return self.name

    @property
    def record(self) -> DatabaseRecord:
        """The record of the open database, with its logging mode; -349 if there is none."""
        if self.name is None:
            raise SqlError(-349)
        return self.databases.get(self.name)

    def require_current(self, database: str | None) -> None:
        """Refuse a routine of another database than the open one."""
        if database is not None and database != self.name:
            raise not_supported(f"a routine of another database, {database}")

    def require_current_for_ddl(self, database: str) -> None:
        """Refuse DDL in another database than the open one; -329 for an unknown one."""
        if database != self.name:
            self.databases.get(database)
            raise not_supported(f"DDL in another database, {database}", -201)
