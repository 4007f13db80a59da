"""Large objects that a client has made for rows that were refused: nothing names them, and nobody will find them.

A client makes an object first and inserts its locator then, perhaps again after a refusal. So they go at the end of its
session, and only where it is certain that no table names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..catalog import stored_names, stored_objects
from ..catalog.catalog import TableInfo
from ..types.locators import make_locator
from ..types.nested_types import is_nested, lob_kind
from ..types.quoting import quote_identifier
from .session_tables import SessionTables
from .smart_object_store import SmartObjectStore
from .transaction import SessionTransaction


class UnreferencedObjects:
    """Those of one session.

    Parameters
    ----------
    beside
        Temporary tables that other sessions have while they use a database of this name.
    busy
        Whether one of them has a transaction open there, of which nobody else sees what it names.
    """

    def __init__(
        self,
        transaction: SessionTransaction,
        tables: SessionTables,
        lobs: SmartObjectStore,
        beside: Callable[[str], Iterable[TableInfo]],
        busy: Callable[[str], bool],
    ) -> None:
        self._transaction = transaction
        self._tables = tables
        self._lobs = lobs
        self._other_temp_tables = beside
        self._has_open_transactions = busy
        self._databases: set[str] = set()

    def note_rejected_row(self, info: TableInfo) -> None:
        """A row for this table was refused."""
        if self._lobs.created_objects and any(lob_kind(column.type) for column in info.columns):
            self._databases.add(info.database)

    def delete_unreferenced(self) -> None:
        """Remove what no table names. At the end of the session, when its transaction is over and its temporary tables
        count no more."""
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
            return  # a ROW or a collection may have a locator in it
        lost = {
            make_locator(kind, number, database): number
            for (where, kind), numbers in self._lobs.created_objects.items()
            if where == database
            for number in numbers
        }
        for info in infos:
            for column in info.columns:
                if not lob_kind(column.type) or not lost:
                    continue
                quoted = quote_identifier(column.name)
                wanted = f"SELECT DISTINCT {quoted} FROM {info.duck_name} WHERE {quoted} IN (SELECT unnest(?::BLOB[]))"
                for (locator,) in self._transaction.fetch_rows(wanted, [list(lost)]):
                    del lost[bytes(locator)]
        writer, gone = self._transaction.recorder, sorted(lost.values())
        if gone:
            self._transaction.write(lambda: stored_objects.delete(writer, database, gone))


def _may_hold_locators(info: TableInfo) -> bool:
    return any(lob_kind(column.type) or is_nested(column.type) for column in info.columns)
