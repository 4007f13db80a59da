"""Statements about databases: DATABASE, CLOSE DATABASE, CREATE DATABASE, DROP DATABASE, RENAME DATABASE."""

from __future__ import annotations

from dataclasses import dataclass

from ...wire.capabilities import locale_code
from ..catalog.catalog import duck_database
from ..catalog.databases import OTHER_LOCALE
from ..catalog.privileges import CONNECT, DBA
from ..errors import SqlError
from ..parse.database_names import parse_database_name
from .current_database import CurrentDatabase
from .engine import Engine
from .environment import SessionEnvironment
from .isolation import Isolation
from .lock_owner import LockOwner
from .schema_version import SessionSchema
from .session_privileges import SessionPrivileges
from .transaction import SessionTransaction


@dataclass(eq=False, repr=False)
class DatabaseStatements:
    """Opens and closes the database of one session."""

    _environment: SessionEnvironment
    _database: CurrentDatabase
    _schema: SessionSchema
    _transaction: SessionTransaction
    _lock_owner: LockOwner
    _isolation: Isolation
    _privileges: SessionPrivileges
    _engine: Engine

    def open(self, name: str) -> int:
        """Open a database and close the one that is open. Return the warnings of the reply to SQ_DBOPEN.

        Raises -329 if it is unknown, -354 if it is not a valid database name, and -387 without the privilege to connect
        to it.
        """
        name = parse_database_name(name)
        record = self._database.databases.get(name)
        self._privileges.require_level(CONNECT, name)
        if self._database.name is not None:
            self.close()
        self._transaction.con.execute(f"USE {duck_database(name)}")
        self._database.name = name
        self._environment.locale = locale_code(record.locale)
        self._schema.invalidate()
        if not self._privileges.is_administrator:
            self._privileges.take_default_role()
        return record.warnings | (0 if self._is_expected_locale(record.locale) else OTHER_LOCALE)

    def _is_expected_locale(self, locale: str) -> bool:
        """Return whether the login named no DB_LOCALE, or this one."""
        requested = self._environment.variables.get("DB_LOCALE")
        try:
            return requested is None or locale_code(requested) == locale_code(locale)
        except ValueError:  # an unknown name
            return False

    def close(self) -> None:
        """Close the open database, if any, and drop the temporary tables. Raises -377 inside a transaction."""
        if self._transaction.active:
            raise SqlError(-377)
        for info in self._schema.temp_tables.values():
            self._transaction.con.execute(f"DROP TABLE IF EXISTS {info.duck_name}")
        self._schema.temp_tables = {}
        self._lock_owner.held_tables.clear()
        self._lock_owner.release(committed=False)
        self._isolation.reset()
        self._database.name = None
        self._privileges.role = ""
        self._transaction.con.execute("USE memory")
        self._schema.invalidate()

    def create(self, name: str, options: tuple[str, ...]) -> int:
        """CREATE DATABASE: the new one becomes the current one; return its warnings. -535 inside a transaction."""
        if self._transaction.active:
            raise SqlError(-535)
        name = parse_database_name(name)
        if name in self._database.databases and "if not exists" in options:
            return self.open(name)
        user = self._environment.user
        self._engine.create_database(name, options, locale_code(self._environment.requested_locale), user)
        return self.open(name)

    def drop(self, name: str, options: tuple[str, ...]) -> None:
        """DROP DATABASE: -535 inside a transaction, -359 for the open database, -389 for a user who is not its DBA."""
        if self._transaction.active:
            raise SqlError(-535)
        name = parse_database_name(name)
        if name == self._database.name:
            raise SqlError(-359, 0, 0, name)
        if name not in self._database.databases and "if exists" in options:
            return
        self._database.databases.get(name)
        self._privileges.require_level(DBA, name)
        self._engine.drop_database(name)

    def rename(self, name: str, new: str) -> None:
        """RENAME DATABASE: -535 inside a transaction, -359 for the open database, -389 for a user who is not
        its DBA.
        """
        if self._transaction.active:
            raise SqlError(-535)
        name, new = parse_database_name(name), parse_database_name(new)
        if name == self._database.name:
            raise SqlError(-359, 0, 0, name)
        self._database.databases.get(name)
        self._privileges.require_level(DBA, name)
        self._engine.rename_database(name, new)
