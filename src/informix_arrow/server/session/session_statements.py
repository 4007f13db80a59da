"""Statements about the session: transactions, savepoints, databases, isolation, locks."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import SqlError, no_table
from ..parse.classify import ControlStatement
from .current_database import CurrentDatabase
from .database_statements import DatabaseStatements
from .foreign_keys import ForeignKeyEnforcer
from .isolation import Isolation
from .lock_owner import LockOwner
from .locks import LockMode
from .prepared_plan import StatementOutcome
from .session_privileges import SessionPrivileges
from .session_tables import SessionTables
from .sql_reader import SqlReader
from .transaction import SessionTransaction


@dataclass(eq=False, repr=False)
class SessionStatements:
    """Runs the statements about one session."""

    _transaction: SessionTransaction
    _isolation: Isolation
    _lock_owner: LockOwner
    _database: CurrentDatabase
    _database_statements: DatabaseStatements
    _tables: SessionTables
    _sql_reader: SqlReader
    _privileges: SessionPrivileges
    _foreign_key_enforcer: ForeignKeyEnforcer

    def run(self, control: ControlStatement) -> StatementOutcome:
        """Run one statement; errors are those of the methods that it calls."""
        transaction, verb, name = self._transaction, control.verb, control.name
        if verb == "begin":
            transaction.begin()
        elif verb == "commit":
            transaction.commit()
        elif verb == "rollback":
            transaction.rollback()
        elif verb == "savepoint":
            transaction.begin_implicitly()
            transaction.savepoint(name, "unique" in control.options)
        elif verb == "release":
            transaction.release_savepoint(name)
        elif verb == "rollback to":
            transaction.rollback_to_savepoint(name)
        elif verb == "lock mode":
            self._lock_owner.lock_timeout = float(name)
        elif verb == "isolation":
            self._isolation.set_level(name, "retain" in control.options)
        elif verb == "retain update locks":
            self._isolation.set_retaining_levels(control.options)
        elif verb == "transaction":
            self._isolation.set_transaction(name, "read only" in control.options)
        elif verb in ("lock table", "unlock table"):
            self._lock_table(name, control.options)
        elif verb == "constraints":
            self._foreign_key_enforcer.set_deferred(control.options, deferred=name == "deferred")
        elif verb == "allow newline":
            self._sql_reader.allows_newlines = name == "t"
        elif verb == "role":
            self._privileges.set_role(name)
        elif verb == "database":
            return StatementOutcome(warnings=self._database_statements.open(name))
        elif verb == "close database":
            self._database.require()
            self._database_statements.close()
        elif verb == "create database":
            return StatementOutcome(warnings=self._database_statements.create(name, control.options))
        elif verb == "drop database":
            self._database_statements.drop(name, control.options)
        elif verb == "rename database":
            self._database_statements.rename(name, control.options[0])
        return StatementOutcome()

    def _lock_table(self, name: str, mode: tuple[str, ...]) -> None:
        info = self._tables.find(None, self._tables.stored_name(None, name))
        if info is None:
            raise no_table(name)
        if info.kind != "T":
            raise SqlError(-313, 0, 0, name)
        if not mode:
            self._isolation.unlock_table(info)
            return
        self._privileges.require(info, "s")
        self._transaction.begin_implicitly()
        self._isolation.lock_table(info, LockMode.SHARE if mode == ("share",) else LockMode.EXCLUSIVE)
