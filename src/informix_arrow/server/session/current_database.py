"""Which database of the engine a session has open."""

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
        The open one's; None while there is none.
    """

    def __init__(self, databases: Databases) -> None:
        self.databases = databases
        self.name: str | None = None

    def require(self) -> str:
        """The open database's name; -349 when there is none."""
        if self.name is None:
            raise SqlError(-349)
        return self.name

    @property
    def record(self) -> DatabaseRecord:
        """How the open database is logged; -349 when there is none."""
        if self.name is None:
            raise SqlError(-349)
        return self.databases.get(self.name)

    def require_current(self, database: str | None) -> None:
        """Refuse a routine of another database than the open one."""
        if database is not None and database != self.name:
            raise not_supported(f"a routine of another database, {database}")

    def require_current_for_ddl(self, database: str) -> None:
        """Refuse DDL of another database than the open one; -329 for one that is not there."""
        if database != self.name:
            self.databases.get(database)
            raise not_supported(f"DDL in another database, {database}", -201)
