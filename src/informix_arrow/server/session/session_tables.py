"""The tables, views and sequences that a session can name, as its transaction sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import duckdb
from sqlglot import exp

from ..catalog import owned_names, stored_names
from ..catalog.catalog import (
    SequenceInfo,
    TableInfo,
    load_sequence,
    load_table,
)
from ..cdc_log.log import ChangeLog
from ..plan import views
from .current_database import CurrentDatabase
from .schema_version import SessionSchema
from .sql_reader import SqlReader
from .transaction import SessionTransaction


class SessionTables:
    """The tables, views and sequences that one session can name. Descriptions are cached until the schema changes."""

    def __init__(
        self,
        transaction: SessionTransaction,
        database: CurrentDatabase,
        schema: SessionSchema,
        reader: SqlReader,
        changes: ChangeLog,
        user: str,
    ) -> None:
        self._transaction = transaction
        self._database = database
        self._schema = schema
        self._sql_reader = reader
        self._change_log = changes
        self._user = user
        self._by_owner: dict[tuple[str, str], dict[str, str]] = {}  # stored names, in ANSI databases
        self._tables: dict[tuple[str, str], TableInfo | None] = {}
        self._listed_names: dict[str, frozenset[str] | None] = {}  # by database; None after the first lookup
        self._catalog_stamp = -1  # stamp of the schema that the cache is valid for

    def find(self, database: str | None, name: str) -> TableInfo | None:
        """Find a table or view; temporary ones come first. Raises -329 for an unknown database."""
        if database is None:
            temporary = self._schema.temp_tables.get(name)
            if temporary is not None:
                return temporary
            database = self._database.require()
        else:
            self._database.databases.get(database)
        self._invalidate_if_stale()
        names = self._listed_names.get(database)
        if names is not None and name not in names:
            return None
        key = (database, name)
        if key not in self._tables:
            try:
                info = load_table(self._transaction.con, database, name)
            except duckdb.Error as e:
                raise self._transaction.recover_from_error(e) from e
            # current state, however old the transaction's snapshot is
            if (
                info is not None
                and info.kind == "T"
                and self._change_log.is_fully_logged(info.database, info.tabid)
            ):
                info = replace(info, is_fully_logged=True)
            self._tables[key] = info
        return self._tables[key]

    def is_name_taken(self, name: str) -> bool:
        """Return whether a temporary table or anything in systables has a name.

        Unlike `find` this includes a synonym for a table that no longer exists. A session that creates many temporary
        tables calls this for each: from the second call on all names are cached.
        """
        if name in self._schema.temp_tables:
            return True
        database = self._database.require()
        self._invalidate_if_stale()
        names = self._listed_names.get(database)
        if names is None:
            con, again = self._transaction.con, database in self._listed_names
            try:
                if not again:
                    self._listed_names[database] = None
                    return stored_names.has_name(con, database, name)
                names = stored_names.all_names(con, database)
            except duckdb.Error as e:
                raise self._transaction.recover_from_error(e) from e
            self._listed_names[database] = names
        return name in names

    def _invalidate_if_stale(self) -> None:
        self._schema.refresh()
        if self._catalog_stamp != self._schema.catalog_stamp:
            self._catalog_stamp = self._schema.catalog_stamp
            self._tables.clear()
            self._by_owner.clear()
            self._listed_names.clear()

    @property
    def is_ansi(self) -> bool:
        """True if the open database is MODE ANSI."""
        return self._database.name is not None and self._database.record.ansi

    def owners(self, database: str | None, name: str) -> dict[str, str]:
        """Return the stored names of the permanent objects of this name by owner, in a MODE ANSI database.

        Empty in other databases, where a name is stored as it is.
        """
        database = database or self._database.name
        if database is None or not self._database.databases.get(database).ansi:
            return {}
        self._invalidate_if_stale()
        key = (database, name)
        if key not in self._by_owner:
            con = self._transaction.con
            self._by_owner[key] = self._transaction.read(
                lambda: owned_names.stored_names(con, database, name)
            )
        return self._by_owner[key]

    def stored_name(self, database: str | None, name: str, owner: str = "", user: str = "") -> str:
        """Return the name under which an object is stored that a statement names, with or without its owner.

        Without one it is the user's own object, or else the only one of this name. An object that does not exist gets
        a name that none has.
        """
        if database is None and not owner and name in self._schema.temp_tables:
            return name
        stored = self.owners(database, name)
        wanted = owner or user or self._user
        if not stored or wanted in stored:
            return stored.get(wanted, name)
        if not owner and len(stored) == 1:
            return next(iter(stored.values()))
        return owned_names.with_owner(name, wanted)

    def new_name(self, name: str, owner: str) -> str:
        """Return the name under which to store a new object. It is taken if the owner has an object of that name."""
        stored = self.owners(None, name)
        wanted = owner or self._user
        if wanted in stored:
            return stored[wanted]
        return owned_names.with_owner(name, wanted) if name in stored.values() else name

    def find_sequence(self, database: str | None, name: str) -> SequenceInfo | None:
        """Find a sequence by its name."""
        database = database or self._database.require()
        self._database.databases.get(database)
        return self._transaction.read(lambda: load_sequence(self._transaction.con, database, name))

    def find_constraints(self, names: Sequence[str]) -> dict[str, str]:
        """Return the kinds (P, U, C or R) of those of the named constraints that the open database has."""
        if not names:
            return {}
        database = self._database.require()
        return self._transaction.read(
            lambda: stored_names.constraints(self._transaction.con, database, names)
        )

    def view_query(self, info: TableInfo) -> exp.Expression:
        """Return a view's query with the database of each table, and with the owner in a MODE ANSI database."""
        tree = views.expandable_query(self._sql_reader.parse(views.view_query(info)), info)
        for table in tree.find_all(exp.Table):
            owners = {} if table.db else self.owners(table.catalog or info.database, table.name)
            if info.owner in owners or len(owners) == 1:
                owner = info.owner if info.owner in owners else next(iter(owners))
                table.set("db", exp.to_identifier(owner, quoted=True))
        return tree

    def view_target(self, info: TableInfo) -> views.ViewTarget:
        """Return the table that changes of a view go to; -274 for a view that is not of one table's rows."""

        def find(database: str | None, name: str, owner: str) -> TableInfo | None:
            return self.find(database, self.stored_name(database, name, owner, info.owner))

        return views.view_target(self._sql_reader.parse(views.view_query(info)), info, find)

    def base_tables(self, info: TableInfo) -> list[TableInfo]:
        """Return a table itself, or the tables that a view reads."""
        if info.kind != "V":
            return [info]
        query = self._sql_reader.parse(views.view_query(info))
        tables = []
        for node in query.find_all(exp.Table):
            database = node.catalog or info.database
            inner = self.find(database, self.stored_name(database, node.name, node.db, info.owner))
            if inner is not None and inner.name != info.name:
                tables += self.base_tables(inner)
        return tables

    def find_by_number(self, database: str, tabid: int) -> TableInfo | None:
        """Find the permanent table with this number, whatever its current name."""
        name = stored_names.name_of(self._transaction.con, database, tabid)
        return self.find(database, name) if name is not None else None

    def constraint_owner(self, constraint: str) -> TableInfo | None:
        """Find the permanent table that has a constraint of this name."""
        name = stored_names.table_of_constraint(self._transaction.con, self._database.require(), constraint)
        return self.find(None, name) if name is not None else None

    def index_owner(self, index: str) -> TableInfo | None:
        """Find the table that has an index of this name."""
        for info in self._schema.temp_tables.values():
            if any(i.name == index for i in info.indexes):
                return info
        name = stored_names.table_of_index(self._transaction.con, self._database.require(), index)
        return self.find(None, name) if name is not None else None
