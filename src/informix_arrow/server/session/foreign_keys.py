"""Foreign keys: checks after changes of rows, and ON DELETE CASCADE.

DuckDB's own foreign keys are not used. They forbid deleting a parent in the transaction that deleted its children,
cannot cascade, and prevent every ALTER TABLE. Inserted rows are checked by table_appender.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

import pyarrow as pa

from ...wire.quoting import double_quoted
from ..catalog.catalog import ForeignKey, TableInfo, first_row, parent_condition
from ..errors import SqlError, not_supported
from ..plan.row_identity import in_rows_condition, matching_keys_query, new_values_query
from .isolation import CANNOT_READ, Isolation, lock_table_name
from .lock_owner import LockOwner
from .locks import LockMode
from .session_tables import SessionTables
from .transaction import SessionTransaction

_NO_PARENT, _PARENT_IN_USE = -691, -692
_NO_CONSTRAINT, _NO_TRANSACTION = -623, -255
_ISAM_NO_RECORD = -111


def parent_name(info: TableInfo, foreign: ForeignKey) -> str:
    """Return the DuckDB name of the table that a foreign key refers to."""
    return f"{info.duck_name.rpartition('.')[0]}.{double_quoted(foreign.parent)}"


def _orphan_condition(info: TableInfo, foreign: ForeignKey) -> str:
    """Return the condition for rows whose parent is missing."""
    child = double_quoted(info.name)
    present = " AND ".join(f"{child}.{double_quoted(c)} IS NOT NULL" for c in foreign.columns)
    match = parent_condition(info, foreign, info.name, "_ifx_parent")
    parent = parent_name(info, foreign)
    return f" WHERE {present} AND NOT EXISTS (SELECT 1 FROM {parent} AS _ifx_parent WHERE {match})"


def _parent_in_use(info: TableInfo, foreign: ForeignKey) -> SqlError:
    key = next(
        (u.name for u in info.unique_constraints if set(u.columns) == set(foreign.parent_columns)), info.name
    )
    return SqlError(_PARENT_IN_USE, 0, 0, f"informix.{key}")


class ForeignKeyEnforcer:
    """Checks and cascades the foreign keys of a session's tables."""

    def __init__(
        self, transaction: SessionTransaction, tables: SessionTables, owner: LockOwner, isolation: Isolation
    ) -> None:
        self._transaction = transaction
        self._tables = tables
        self._lock_owner = owner
        self._isolation = isolation
        transaction.deferred_constraints.set_checker(self._check_deferred)

    def children(self, info: TableInfo) -> list[tuple[TableInfo, ForeignKey]]:
        """Return the tables with foreign keys to a table, itself included, and those keys."""
        children = []
        for name in info.children:
            child = self._tables.find(info.database, name)
            if child is not None:
                children += [
                    (child, foreign) for foreign in child.foreign_keys if foreign.parent == info.name
                ]
        return children

    def check_children(self, info: TableInfo, foreigns: Iterable[ForeignKey] | None = None) -> None:
        """Raise -691 if a row of a table has no parent, for all of its foreign keys or only those given."""
        for foreign in info.foreign_keys if foreigns is None else foreigns:
            if self._has_orphans(info, foreign):
                raise SqlError(_NO_PARENT, _ISAM_NO_RECORD, 0, f"informix.{foreign.name}")

    def _has_orphans(self, info: TableInfo, foreign: ForeignKey) -> bool:
        name = double_quoted(info.name)
        query = f"SELECT 1 FROM {info.duck_name} AS {name}{_orphan_condition(info, foreign)} LIMIT 1"
        return first_row(self._transaction.con, query) is not None

    def immediate_keys(self, info: TableInfo, foreigns: Iterable[ForeignKey]) -> list[ForeignKey]:
        """Return those foreign keys that are checked at the end of the statement. The others are deferred."""
        return [
            foreign for foreign in foreigns if not self._transaction.deferred_constraints.defer(info, foreign)
        ]

    def set_deferred(self, names: Sequence[str], *, deferred: bool) -> None:
        """SET CONSTRAINTS DEFERRED or IMMEDIATE, for all constraints or those named.

        Raises -255 for DEFERRED outside a transaction, -623 for an unknown name, and -691 if a deferred check fails.
        """
        if self._tables.is_ansi:
            names = [self._tables.stored_constraint_name(name) for name in names]
        kinds = self._tables.find_constraints(names)
        for name in names:
            if name not in kinds:
                raise SqlError(_NO_CONSTRAINT, 0, 0, name)
            if deferred and kinds[name] != "R":
                raise not_supported("SET CONSTRAINTS DEFERRED of a constraint that is not a foreign key")
        transaction = self._transaction
        transaction.begin_implicitly()
        if not transaction.active:
            if deferred:
                raise SqlError(_NO_TRANSACTION)
            return
        if not deferred and transaction.deferred_constraints.pending_checks:
            transaction.write(transaction.deferred_constraints.check)
        transaction.deferred_constraints.set_deferred(names, deferred=deferred)

    def _check_deferred(self) -> None:
        for skipped in self._transaction.deferred_constraints.pending_checks:
            info = self._tables.find_by_number(skipped.database, skipped.tabid)
            if info is None:
                continue
            named = [foreign for foreign in info.foreign_keys if foreign.name == skipped.constraint]
            for foreign in named or info.foreign_keys:  # none if it was dropped or renamed
                parent = (info.database, foreign.parent)
                self._lock_owner.locks.lock_table(
                    self._lock_owner.request(CANNOT_READ), parent, LockMode.SHARE
                )
                self._transaction.require_fresh([parent, lock_table_name(info)])
                self.check_children(info, [foreign])

    def after_delete(self, info: TableInfo, *, cascades: bool = True) -> None:
        """Apply ON DELETE CASCADE after a DELETE, inside `SessionTransaction.write`, if the statement `cascades`.

        Raises SqlError -692 for a deleted row that is still referenced.
        """
        for child, foreign in self.children(info):
            if not foreign.cascade and not self.immediate_keys(child, [foreign]):
                continue
            self._transaction.require_fresh([lock_table_name(child)])
            if not self._has_orphans(child, foreign):
                continue
            if not (foreign.cascade and cascades):
                raise _parent_in_use(info, foreign)
            self._cascade(child, foreign)

    def after_update(self, info: TableInfo, changed: Set[str], *, parents_locked: bool) -> None:
        """Check foreign keys after an UPDATE of the columns `changed`, inside `SessionTransaction.write`.

        Raises SqlError -691 for a child without its parent, and -692 for a changed parent that is still referenced. If
        the parents were not known beforehand and are not locked, their tables are locked here.
        """
        immediate = self.immediate_keys(
            info, [f for f in info.foreign_keys if not changed.isdisjoint(f.columns)]
        )
        if immediate:
            parents = [(info.database, foreign.parent) for foreign in immediate]
            if not parents_locked:
                for parent in parents:
                    self._lock_owner.locks.lock_table(
                        self._lock_owner.request(CANNOT_READ), parent, LockMode.SHARE
                    )
            self._transaction.require_fresh(parents)
            self.check_children(info, immediate)
        for child, foreign in self.children(info):
            if changed.isdisjoint(foreign.parent_columns) or not self.immediate_keys(child, [foreign]):
                continue
            self._transaction.require_fresh([lock_table_name(child)])
            if self._has_orphans(child, foreign):
                raise _parent_in_use(info, foreign)

    def _cascade(self, child: TableInfo, foreign: ForeignKey) -> None:
        """Delete the rows that have lost their parent, and recursively the rows that depend on them."""
        condition = _orphan_condition(child, foreign)
        head = f"DELETE FROM {child.duck_name} AS {double_quoted(child.name)}"
        keys = self._isolation.lock_changed_rows(
            child, matching_keys_query(child, child.name, condition), {}, (child,)
        )
        self._transaction.change_logger.require_current_logging(child)
        if child.is_fully_logged:
            names = [column.name for column in child.columns]
            query = new_values_query(child, child.name, [], names) + condition
            rows = self._transaction.con.sql(query).to_arrow_table()
            rows = pa.table([rows.column(f"_{name}") for name in names], names)
            self._transaction.change_logger.log_deleted(child, rows)
        if keys is None:
            self._transaction.recorder.execute(head + condition)
        elif keys.num_rows:
            self._transaction.recorder.execute_with_rows(head + in_rows_condition(child, child.name), keys)
        self.after_delete(child)

    def require_no_orphans(self, info: TableInfo) -> None:
        """Raise -692 if a row of another table has lost its parent."""
        for child, foreign in self.children(info):
            if self._has_orphans(child, foreign):
                raise _parent_in_use(info, foreign)

    def children_without_keys(self, info: TableInfo, kept: Iterable[tuple[str, ...]] = ()) -> list[TableInfo]:
        """Return the other tables with foreign keys to a table that is dropped or keeps only some keys.

        They are described without those foreign keys, which are dropped with the keys.
        """
        there = {frozenset(columns) for columns in kept}
        children: dict[str, TableInfo] = {}
        for child, foreign in self.children(info):
            if child.name != info.name and frozenset(foreign.parent_columns) not in there:
                new = children.get(child.name, child)
                children[child.name] = replace(
                    new, foreign_keys=tuple(f for f in new.foreign_keys if f.name != foreign.name)
                )
        return list(children.values())

    def renamed_children(self, old: TableInfo, name: str, columns: Mapping[str, str]) -> list[TableInfo]:
        """Return the other tables with foreign keys to a table, described with its new name or new column names."""
        children: dict[str, TableInfo] = {}
        for child, foreign in self.children(old):
            if child.name == old.name:
                continue
            new = children.get(child.name, child)
            there = tuple(columns.get(c, c) for c in foreign.parent_columns)
            changed = ForeignKey(foreign.name, foreign.columns, name, there, foreign.cascade)
            children[child.name] = replace(
                new, foreign_keys=tuple(changed if f.name == foreign.name else f for f in new.foreign_keys)
            )
        return list(children.values())
