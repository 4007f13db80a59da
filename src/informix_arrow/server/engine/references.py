"""Foreign keys: what a change of rows must not leave behind, and ON DELETE CASCADE.

They are not DuckDB's. Its own forbid to delete a parent in the transaction that has deleted its children, cannot
cascade, and hinder every change of a table's shape. Rows that go in are checked by appending.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

import pyarrow as pa

from ..errors import SqlError, not_supported
from ..planning.keyed import among, touched, values_made
from ..schema.catalog import Foreign, TableInfo, first_row, same_parent
from ..types.names import quote
from .isolation import CANNOT_READ, Isolation, table_of
from .lock_owner import LockOwner
from .locks import Mode
from .session_tables import SessionTables
from .transaction import Transaction

_NO_PARENT, _STILL_NEEDED = -691, -692
_NO_CONSTRAINT, _NO_TRANSACTION = -623, -255
_ISAM_NO_RECORD = -111


def parent_name(info: TableInfo, foreign: Foreign) -> str:
    """The DuckDB name of the table that a foreign key refers to."""
    return f"{info.duck.rpartition('.')[0]}.{quote(foreign.parent)}"


def _orphans(info: TableInfo, foreign: Foreign) -> str:
    """The condition for rows whose parent is missing."""
    child = quote(info.name)
    present = " AND ".join(f"{child}.{quote(c)} IS NOT NULL" for c in foreign.columns)
    match = same_parent(info, foreign, info.name, "_ifx_parent")
    parent = parent_name(info, foreign)
    return f" WHERE {present} AND NOT EXISTS (SELECT 1 FROM {parent} AS _ifx_parent WHERE {match})"


def _still_needed(info: TableInfo, foreign: Foreign) -> SqlError:
    key = next((u.name for u in info.uniques if set(u.columns) == set(foreign.parent_columns)), info.name)
    return SqlError(_STILL_NEEDED, 0, 0, f"informix.{key}")


class References:
    """The foreign keys of a session's tables."""

    def __init__(
        self, transaction: Transaction, tables: SessionTables, owner: LockOwner, isolation: Isolation
    ) -> None:
        self._transaction = transaction
        self._tables = tables
        self._owner = owner
        self._isolation = isolation
        transaction.deferred.check_by(self._check_deferred)

    def children(self, info: TableInfo) -> list[tuple[TableInfo, Foreign]]:
        """Tables with foreign keys to a table, itself included, and those keys."""
        found = []
        for name in info.children:
            child = self._tables.find(info.database, name)
            if child is not None:
                found += [(child, foreign) for foreign in child.foreigns if foreign.parent == info.name]
        return found

    def check_children(self, info: TableInfo, foreigns: Iterable[Foreign] | None = None) -> None:
        """-691 when a row of a table has no parent; all of its foreign keys are looked at, or those given."""
        for foreign in info.foreigns if foreigns is None else foreigns:
            if self._has_orphans(info, foreign):
                raise SqlError(_NO_PARENT, _ISAM_NO_RECORD, 0, f"informix.{foreign.name}")

    def _has_orphans(self, info: TableInfo, foreign: Foreign) -> bool:
        query = f"SELECT 1 FROM {info.duck} AS {quote(info.name)}{_orphans(info, foreign)} LIMIT 1"
        return first_row(self._transaction.con, query) is not None

    def due(self, info: TableInfo, foreigns: Iterable[Foreign]) -> list[Foreign]:
        """Those foreign keys that are looked at when the statement ends; the others are when the transaction does."""
        return [foreign for foreign in foreigns if not self._transaction.deferred.skips(info, foreign)]

    def defer(self, names: Sequence[str], *, deferred: bool) -> None:
        """SET CONSTRAINTS DEFERRED or IMMEDIATE, of all constraints or of those named. -255 for DEFERRED outside of a
        transaction, -623 for an unknown name; -691 where what was deferred does not hold."""
        found = self._tables.constraints(names)
        for name in names:
            if name not in found:
                raise SqlError(_NO_CONSTRAINT, 0, 0, name)
            if deferred and found[name] != "R":
                raise not_supported("SET CONSTRAINTS DEFERRED of what is no foreign key")
        transaction = self._transaction
        if not transaction.active:
            if deferred:
                raise SqlError(_NO_TRANSACTION)
            return
        if not deferred and transaction.deferred.skipped:
            transaction.write(transaction.deferred.check)
        transaction.deferred.set(names, deferred=deferred)

    def _check_deferred(self) -> None:
        for skipped in self._transaction.deferred.skipped:
            info = self._tables.numbered(skipped.database, skipped.tabid)
            if info is None:
                continue
            named = [foreign for foreign in info.foreigns if foreign.name == skipped.constraint]
            for foreign in named or info.foreigns:  # it was dropped, or has another name now
                parent = (info.database, foreign.parent)
                self._owner.locks.lock_table(self._owner.claim(CANNOT_READ), parent, Mode.SHARE)
                self._transaction.require_fresh([parent, table_of(info)])
                self.check_children(info, [foreign])

    def after_delete(self, info: TableInfo, *, cascades: bool = True) -> None:
        """After a DELETE, inside `Transaction.write`: delete the rows that have lost their parent where their foreign
        keys say so, and the statement `cascades`. SqlError -692 for one that is still needed."""
        for child, foreign in self.children(info):
            if not foreign.cascade and not self.due(child, [foreign]):
                continue
            self._transaction.require_fresh([table_of(child)])
            if not self._has_orphans(child, foreign):
                continue
            if not (foreign.cascade and cascades):
                raise _still_needed(info, foreign)
            self._cascade(child, foreign)

    def after_update(self, info: TableInfo, changed: Set[str], *, parents_locked: bool) -> None:
        """After an UPDATE of the columns `changed`, inside `Transaction.write`: SqlError -691 for a child without its
        parent, -692 for a changed parent that is still needed. Where the parents of the rows are not locked, because
        they were not known beforehand, their tables are locked here."""
        mine = self.due(info, [f for f in info.foreigns if not changed.isdisjoint(f.columns)])
        if mine:
            parents = [(info.database, foreign.parent) for foreign in mine]
            if not parents_locked:
                for parent in parents:
                    self._owner.locks.lock_table(self._owner.claim(CANNOT_READ), parent, Mode.SHARE)
            self._transaction.require_fresh(parents)
            self.check_children(info, mine)
        for child, foreign in self.children(info):
            if changed.isdisjoint(foreign.parent_columns) or not self.due(child, [foreign]):
                continue
            self._transaction.require_fresh([table_of(child)])
            if self._has_orphans(child, foreign):
                raise _still_needed(info, foreign)

    def _cascade(self, child: TableInfo, foreign: Foreign) -> None:
        """Delete the rows that have lost their parent, and in turn what depends on them."""
        where = _orphans(child, foreign)
        head = f"DELETE FROM {child.duck} AS {quote(child.name)}"
        keys = self._isolation.lock_changed_rows(child, touched(child, child.name, where), {}, (child,))
        self._transaction.changes.require_current(child)
        if child.full_rows:
            names = [column.name for column in child.columns]
            query = values_made(child, child.name, [], names) + where
            rows = self._transaction.con.sql(query).to_arrow_table()
            rows = pa.table([rows.column(f"_{name}") for name in names], names)
            self._transaction.changes.deleted(child, rows)
        if keys is None:
            self._transaction.writer.execute(head + where)
        elif keys.num_rows:
            self._transaction.writer.execute_over(head + among(child, child.name), keys)
        self.after_delete(child)

    def require_unused(self, info: TableInfo) -> None:
        """-692 when a row of another table has lost its parent."""
        for child, foreign in self.children(info):
            if self._has_orphans(child, foreign):
                raise _still_needed(info, foreign)

    def without_keys(self, info: TableInfo, kept: Iterable[tuple[str, ...]] = ()) -> list[TableInfo]:
        """The other tables with foreign keys to a table that is dropped, or keeps only some of its keys: without those
        foreign keys, which go with the keys."""
        there = {frozenset(columns) for columns in kept}
        found: dict[str, TableInfo] = {}
        for child, foreign in self.children(info):
            if child.name != info.name and frozenset(foreign.parent_columns) not in there:
                new = found.get(child.name, child)
                found[child.name] = replace(
                    new, foreigns=tuple(f for f in new.foreigns if f.name != foreign.name)
                )
        return list(found.values())

    def rename(self, old: TableInfo, name: str, columns: Mapping[str, str]) -> list[TableInfo]:
        """The other tables with foreign keys to a table, as they are described once it has another name or other
        names of columns."""
        found: dict[str, TableInfo] = {}
        for child, foreign in self.children(old):
            if child.name == old.name:
                continue
            new = found.get(child.name, child)
            there = tuple(columns.get(c, c) for c in foreign.parent_columns)
            changed = Foreign(foreign.name, foreign.columns, name, there, foreign.cascade)
            found[child.name] = replace(
                new, foreigns=tuple(changed if f.name == foreign.name else f for f in new.foreigns)
            )
        return list(found.values())
