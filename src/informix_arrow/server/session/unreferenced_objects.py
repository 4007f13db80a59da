"""Large objects that a client created for rows that were refused: nothing refers to them.

A client creates an object first and then inserts its locator, perhaps again after a refusal. The objects are therefore
deleted at the end of its session, and only if it is certain that no table refers to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ...wire.quoting import double_quoted
from ..catalog import stored_names, stored_objects
from ..catalog.catalog import TableInfo
from ..types.locators import make_locator
from ..types.nested_types import is_nested, lob_kind
from .session_tables import SessionTables
from .smart_object_store import SmartObjectStore
from .transaction import SessionTransaction


@dataclass(eq=False, repr=False)
class UnreferencedObjects:
    """The unreferenced objects of one session.

    Attributes
    ----------
    _other_temp_tables
        Returns the temporary tables of other sessions that use a database.
    _has_open_transactions
        Returns whether one of those sessions has a transaction open. Its uncommitted references are not visible.
    """

    _transaction: SessionTransaction
    _tables: SessionTables
    _lobs: SmartObjectStore
    _other_temp_tables: Callable[[str], Iterable[TableInfo]]
    _has_open_transactions: Callable[[str], bool]
    _databases: set[str] = field(default_factory=set, init=False)

    def note_rejected_row(self, info: TableInfo) -> None:
        """Note that a row for this table was refused."""
        if self._lobs.created_objects and any(lob_kind(column.type) for column in info.columns):
            self._databases.add(info.database)

    def delete_unreferenced(self) -> None:
        """Delete the objects that no table refers to.

        Called at the end of the session, after its transaction. Its temporary tables are ignored.
        """
        for database in sorted(self._databases):
            if not any(
                map(_may_hold_locators, self._other_temp_tables(database))
            ) and not self._has_open_transactions(database):
                self._delete_unreferenced(database)
        self._databases.clear()

    def _delete_unreferenced(self, database: str) -> None:
        con = self._transaction.con
        listed = self._transaction.read(lambda: stored_names.user_object_names(con, database, "T"))
        infos = [info for name in listed if (info := self._tables.find(database, name)) is not None]
        if any(is_nested(column.type) for info in infos for column in info.columns):
            return  # a ROW or a collection may contain a locator
        lost = {
            make_locator(kind, number, database): number
            for (object_database, kind), numbers in self._lobs.created_objects.items()
            if object_database == database
            for number in numbers
        }
        for info in infos:
            for column in info.columns:
                if not lob_kind(column.type) or not lost:
                    continue
                quoted = double_quoted(column.name)
                query = f"SELECT DISTINCT {quoted} FROM {info.duck_name} WHERE {quoted} IN (SELECT unnest(?::BLOB[]))"
                for (locator,) in self._transaction.fetch_rows(query, [list(lost)]):
                    del lost[bytes(locator)]
        writer, numbers_to_delete = self._transaction.recorder, sorted(lost.values())
        if numbers_to_delete:
            self._transaction.write(lambda: stored_objects.delete(writer, database, numbers_to_delete))


def _may_hold_locators(info: TableInfo) -> bool:
    return any(lob_kind(column.type) or is_nested(column.type) for column in info.columns)
