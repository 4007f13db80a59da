"""The tables, views and sequences that a session can name, as its transaction sees them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

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
from ..parse.ddl_tokens import OwnedName
from ..parse.query_names import table_name
from ..plan import views
from .current_database import CurrentDatabase
from .schema_version import SessionSchema
from .sql_reader import SqlReader
from .transaction import SessionTransaction


@dataclass(eq=False, repr=False)
class SessionTables:
    """The tables, views and sequences that one session can name. Descriptions are cached until the schema changes."""

    _transaction: SessionTransaction
    _database: CurrentDatabase
    _schema: SessionSchema
    _sql_reader: SqlReader
    _change_log: ChangeLog
    _default_owner: Callable[[], str]
    # stored names, in ANSI databases
    _by_owner: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict, init=False)
    _tables: dict[tuple[str, str], TableInfo | None] = field(default_factory=dict, init=False)
    # by database; None after the first lookup
    _listed_names: dict[str, frozenset[str] | None] = field(default_factory=dict, init=False)
    _catalog_stamp: int = field(default=-1, init=False)  # stamp of the schema that the cache is valid for

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
                info = load_table(self._transaction.catalog, database, name)
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
            con, again = self._transaction.catalog, database in self._listed_names
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
            self._schema.stale_tables.clear()
        elif self._schema.stale_tables:
            stale = self._schema.stale_tables
            for key, info in list(self._tables.items()):  # of a synonym, too
                if key in stale or (info is not None and (info.database, info.name) in stale):
                    del self._tables[key]
            self._by_owner.clear()
            self._listed_names.clear()
            stale.clear()

    def add(self, info: TableInfo) -> None:
        """Cache the description of a table that the session has just stored."""
        self._invalidate_if_stale()
        self._tables[info.database, info.name] = info

    @property
    def temporary_names(self) -> Collection[str]:
        """The names of the session's temporary tables."""
        return self._schema.temp_tables.keys()

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
            con = self._transaction.catalog
            self._by_owner[key] = self._transaction.read(
                lambda: owned_names.stored_names(con, database, name)
            )
        return self._by_owner[key]

    def named_owner(self, name: str, database: str | None = None) -> str:
        """Return the owner that a statement names, as the database stores it. "" if it names none."""
        if not isinstance(name, OwnedName) or not name.owner:
            return ""
        database = database or self._database.name
        return name.owner_in(ansi=database is not None and self._database.databases.get(database).ansi)

    def owner(self, name: str) -> str:
        """Return the owner that a statement names, or else the owner of what it names without one: the user, or the
        owner of the routine that runs."""
        return self.named_owner(name) or self._default_owner()

    def stored_name(self, database: str | None, name: str, default_owner: str = "") -> str:
        """Return the name under which the table, view, synonym or sequence is stored that a statement names.

        In a MODE ANSI database a name without an owner is that of `default_owner`, which is the user or the owner of
        the routine that runs. An object that does not exist gets a name that none has.
        """
        named = self.named_owner(name, database)
        if database is None and not named and name in self._schema.temp_tables:
            return str(name)
        stored = self.owners(database, str(name))
        wanted = named or default_owner or self._default_owner()
        if not stored or wanted in stored:
            return stored.get(wanted, str(name))
        return owned_names.with_owner(name, wanted)

    def new_name(self, name: str, owner: str = "") -> str:
        """Return the name under which to store a new object. It is taken if the owner has an object of that name."""
        stored = self.owners(None, str(name))
        wanted = owner or self.owner(name)
        if wanted in stored:
            return stored[wanted]
        return owned_names.with_owner(name, wanted) if name in stored.values() else str(name)

    def stored_index_name(self, name: str) -> str:
        """Return the name under which an index is stored in a MODE ANSI database, whether it exists or not."""
        return self._name_with_owner(name, owned_names.has_index)

    def stored_constraint_name(self, name: str) -> str:
        """Return the name under which a constraint is stored in a MODE ANSI database, whether it exists or not."""
        for info in self._schema.temp_tables.values():
            if name in constraint_names(info):
                return str(name)
        return self._name_with_owner(name, owned_names.has_constraint)

    def _name_with_owner(
        self, name: str, is_stored: Callable[[duckdb.DuckDBPyConnection, str, str, str], bool]
    ) -> str:
        database, con, owner = self._database.require(), self._transaction.catalog, self.owner(name)
        if self._transaction.read(lambda: is_stored(con, database, str(name), owner)):
            return str(name)
        return owned_names.with_owner(name, owner)

    @contextmanager
    def names_of(self, owner: str) -> Iterator[None]:
        """For the block, names without an owner are those of this owner."""
        default, self._default_owner = self._default_owner, lambda: owner
        try:
            yield
        finally:
            self._default_owner = default

    def find_sequence(self, database: str | None, name: str) -> SequenceInfo | None:
        """Find a sequence by its name."""
        database = database or self._database.require()
        self._database.databases.get(database)
        return self._transaction.read(lambda: load_sequence(self._transaction.catalog, database, name))

    def find_constraints(self, names: Sequence[str]) -> dict[str, str]:
        """Return the kinds (P, U, C or R) of those of the named constraints that the open database has, by their
        stored names."""
        if not names:
            return {}
        database = self._database.require()
        return self._transaction.read(
            lambda: stored_names.constraints(self._transaction.catalog, database, names)
        )

    def view_query(self, info: TableInfo) -> exp.Expression:
        """Return a view's query with the database of each table, and with the owner in a MODE ANSI database."""
        tree = views.expandable_query(self._sql_reader.parse_view(info), info)
        for table in tree.find_all(exp.Table):
            if not table.db and self.owners(table.catalog or info.database, table.name):
                table.set("db", exp.to_identifier(info.owner, quoted=True))
        return tree

    def name_in_view(self, view: TableInfo, table: exp.Table) -> str:
        """Return the stored name of a table that a view names. Without an owner it is that of the view's owner."""
        return self.stored_name(table.catalog or view.database, table_name(table, table.name), view.owner)

    def view_target(self, info: TableInfo) -> views.ViewTarget:
        """Return the table that changes of a view go to; -274 for a view that is not of one table's rows."""

        def find(table: exp.Table) -> TableInfo | None:
            return self.find(table.catalog or info.database, self.name_in_view(info, table))

        return views.view_target(self._sql_reader.parse_view(info), info, find)

    def base_tables(self, info: TableInfo) -> list[TableInfo]:
        """Return a table itself, or the tables that a view reads."""
        if info.kind != "V":
            return [info]
        query = self._sql_reader.parse_view(info)
        tables = []
        for node in query.find_all(exp.Table):
            inner = self.find(node.catalog or info.database, self.name_in_view(info, node))
            if inner is not None and inner.name != info.name:
                tables += self.base_tables(inner)
        return tables

    def find_by_number(self, database: str, tabid: int) -> TableInfo | None:
        """Find the permanent table with this number, whatever its current name."""
        name = stored_names.name_of(self._transaction.catalog, database, tabid)
        return self.find(database, name) if name is not None else None

    def constraint_owner(self, constraint: str) -> TableInfo | None:
        """Find the permanent table that has a constraint of this name."""
        name = stored_names.table_of_constraint(
            self._transaction.catalog, self._database.require(), constraint
        )
        return self.find(None, name) if name is not None else None

    def index_owner(self, index: str) -> TableInfo | None:
        """Find the table that has an index of this name."""
        for info in self._schema.temp_tables.values():
            if any(i.name == index for i in info.indexes):
                return info
        name = stored_names.table_of_index(self._transaction.catalog, self._database.require(), index)
        return self.find(None, name) if name is not None else None


def constraint_names(info: TableInfo) -> set[str]:
    """Return the names of a table's constraints, also of those that are disabled."""
    names = {unique.name for unique in (*info.unique_constraints, *info.disabled.unique_constraints)}
    names |= {check.name for check in (*info.checks, *info.disabled.checks)}
    return names | {foreign.name for foreign in (*info.foreign_keys, *info.disabled.foreign_keys)}
