"""Isolation between sessions: isolation levels, and the locks of statements.

    level               rows that another session has changed        rows that are read
    dirty read          read as last committed, see below            -
    committed read      waited for, or refused                       -
    last committed      read as last committed                       -
    cursor stability    as committed read                            -
    repeatable read     as committed read                            their tables are locked in share mode

DuckDB shows no uncommitted changes to others, so a dirty read returns what was committed last. It never waits and never
fails, as on a real server, but it does not see changes that may be rolled back. Whether a read meets a changed row is
decided by the rows that it returns if it filters one table, and otherwise by its tables. On a real server it depends on
the access path.

The same applies to what an INSERT ... SELECT, a subquery of an UPDATE or DELETE and the source of a MERGE read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ..catalog.catalog import (
    ForeignKey,
    TableInfo,
    UniqueConstraint,
    key_texts,
    parent_condition,
    same_key_condition,
)
from ..errors import SqlError
from ..plan.plans import SelectPlan
from ..plan.row_identity import identity_names, identity_sql
from .current_database import CurrentDatabase
from .duck_executor import DuckExecutor
from .lock_owner import LockOwner
from .locks import MAX_ROW_LOCKS, LockMode, RowKey, TableKey
from .schema_version import SessionSchema
from .session_tables import SessionTables
from .spool import BatchSpool
from .transaction import SessionTransaction

DIRTY_READ, COMMITTED_READ, LAST_COMMITTED = "dirty read", "committed read", "last committed"
REPEATABLE_READ = "repeatable read"

CANNOT_READ, CANNOT_INSERT, CANNOT_LOCK, CANNOT_OPEN = -244, -271, -289, -242
CANNOT_UPDATE = -346
NOT_FOR_UPDATE = -263
READ_ONLY = -878

_KEYS_AT_ONCE = 2048
"""Rows of a cursor FOR UPDATE whose identities are Python objects at one time."""

MAX_ROW_ID = 36028797018960000
"""DuckDB's row ids from here on belong to rows that the transaction itself has inserted: no other session sees them."""


def lock_table_name(info: TableInfo) -> TableKey:
    """Return the key of a table in `Locks`."""
    return info.database, info.name


def key_column_names(info: TableInfo) -> tuple[str, ...]:
    return tuple(f"k{i}" for i in range(len(identity_names(info))))


@dataclass(eq=False, repr=False)
class Isolation:
    """The isolation level and the locks of one session's statements."""

    _lock_owner: LockOwner
    _transaction: SessionTransaction
    _database: CurrentDatabase
    _schema: SessionSchema
    _tables: SessionTables
    _executor: DuckExecutor
    _level: str = field(default="", init=False)
    _transaction_setting: tuple[int, str, bool] | None = field(default=None, init=False)
    # RETAIN UPDATE LOCKS of the last SET ISOLATION
    _retain_update_locks: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._locks = self._lock_owner.locks
        self._retaining_levels: frozenset[str] = frozenset()  # levels of SET ENVIRONMENT RETAINUPDATELOCKS

    # ---- settings ---------------------------------------------------------------------------------
    @property
    def level(self) -> str:
        """The level in force: the one that was set, or the database's own (SERVER-BEHAVIOUR section 2)."""
        if self._transaction_setting is not None and self._transaction_level[0]:
            return self._transaction_level[0]
        if self._level:
            return self._level
        record = self._database.record
        if not record.logged or record.name == "sysmaster":
            return DIRTY_READ
        return REPEATABLE_READ if record.ansi else COMMITTED_READ

    def set_level(self, level: str, retain: bool) -> None:
        """SET ISOLATION, for the session."""
        self._level, self._retain_update_locks = level, retain

    def set_retaining_levels(self, levels: Collection[str]) -> None:
        """SET ENVIRONMENT RETAINUPDATELOCKS, for the session: the levels at which RETAIN UPDATE LOCKS is the default.

        An empty collection turns it off, even if SET ISOLATION turned it on. Locks that are held stay.
        """
        self._retaining_levels = frozenset(levels)
        self._retain_update_locks = self._retain_update_locks and bool(levels)

    @property
    def _retains_update_locks(self) -> bool:
        """True if rows that a cursor FOR UPDATE has left stay locked until the transaction ends."""
        level = self.level
        return (
            level == REPEATABLE_READ
            or self._retain_update_locks
            or (COMMITTED_READ if level == LAST_COMMITTED else level) in self._retaining_levels
        )

    def set_transaction(self, level: str, read_only: bool) -> None:
        """SET TRANSACTION, for the open transaction. Outside one, the level applies to the session."""
        if self._transaction.active:
            self._transaction_setting = (self._transaction.number, level, read_only)
        elif level:
            self._level = level

    @property
    def _transaction_level(self) -> tuple[str, bool]:
        """Level ("" for none) and READ ONLY of the open transaction."""
        transaction, setting = self._transaction, self._transaction_setting
        if setting is None or not transaction.active or setting[0] != transaction.number:
            return "", False
        return setting[1:]

    def reset(self) -> None:
        """Return to the default level of the database after another one was opened."""
        self._level, self._retain_update_locks, self._transaction_setting = "", False, None

    # ---- reading ------------------------------------------------------------------------------------
    def before_query(self, plan: SelectPlan, values: Mapping[str, object]) -> None:
        """Make sure that a query may read its rows and sees them.

        Raises SqlError -244 if it may not, and `StaleSnapshot` inside `SessionTransaction.write` if its snapshot is too
        old.
        """
        if plan.with_row_ids and plan.filtered:
            self.before_reading(
                plan.tables, lambda info: _committed_keys(self._read_keys(plan, values), info)
            )
        else:
            self.before_reading(plan.tables)

    def before_reading(
        self, read: Iterable[TableInfo], read_keys: Callable[[TableInfo], list[RowKey]] | None = None
    ) -> None:
        """Do the same as `before_query` for whole tables, or for the rows of one table that `read_keys` returns."""
        owner, locks = self._lock_owner, self._locks
        tables = [info for info in read if info.kind == "T" and not info.temporary]
        level = self.level if tables else DIRTY_READ
        if level not in (DIRTY_READ, LAST_COMMITTED):
            claim = owner.request(CANNOT_READ)
            for info in tables:
                table = lock_table_name(info)
                if level == REPEATABLE_READ and self._transaction.active:
                    locks.lock_table(claim, table, LockMode.SHARE)
                while locks.has_uncommitted_changes(owner, table):
                    keys = read_keys(info) if read_keys is not None else None
                    if not locks.wait_until_readable(claim, table, keys):
                        break
        self._transaction.refresh_snapshot(map(lock_table_name, tables))

    def _read_keys(self, plan: SelectPlan, values: Mapping[str, object]) -> pa.Table:
        """Return the identities of a query's rows, in their order."""
        return self._transaction.read(lambda: self._executor.query_table(_identity_query(plan), dict(values)))

    def lock_all_rows(self, plan: SelectPlan, values: Mapping[str, object]) -> None:
        """Lock all rows of a FOR UPDATE query that is read as a whole, and make their current state visible."""
        self.require_transaction()
        (info,) = plan.tables
        if info.temporary:
            return
        table, claim = lock_table_name(info), self._lock_owner.request(NOT_FOR_UPDATE)
        self._locks.lock_table(claim, table, LockMode.INTENT_EXCLUSIVE)
        for _ in range(3):
            keys = _committed_keys(self._read_keys(plan, values), info)
            if not self._locks.lock_rows(claim, table, keys, LockMode.UPDATE):
                break
            self._transaction.refresh_snapshot([table])

    def keys_for_update(self, plan: SelectPlan, values: Mapping[str, object]) -> BatchSpool:
        """Return the identities of the rows of a cursor FOR UPDATE. The table is locked for writing."""
        (info,) = plan.tables
        if not info.temporary:
            self._locks.lock_table(
                self._lock_owner.request(NOT_FOR_UPDATE), lock_table_name(info), LockMode.INTENT_EXCLUSIVE
            )
            self._transaction.refresh_snapshot([lock_table_name(info)])
        return self._executor.query_spool(_identity_query(plan), dict(values), _KEYS_AT_ONCE)

    def require_transaction(self) -> None:
        """Raise -398 outside a transaction in a database that has transactions."""
        if self._database.record.logged and not self._transaction.active:
            raise SqlError(-398)

    def lock_row(self, info: TableInfo, key: RowKey, mode: LockMode) -> None:
        """Lock one row of a table that is locked for writing, and make its last commit visible."""
        if not info.temporary:
            self._locks.lock_rows(
                self._lock_owner.request(NOT_FOR_UPDATE),
                lock_table_name(info),
                _without_own_rows([key], info),
                mode,
            )
            self._transaction.refresh_snapshot([lock_table_name(info)])

    def release_row(self, info: TableInfo, key: RowKey) -> None:
        """Release a row that a cursor FOR UPDATE leaves, unless it was changed."""
        if not info.temporary and not self._retains_update_locks:
            self._locks.release_row(self._lock_owner, lock_table_name(info), key)

    # ---- writing, all inside `SessionTransaction.write` -------------------------------------------------
    def require_fresh_tables(self, tables: Iterable[TableInfo]) -> list[TableKey]:
        """Return those of the tables that others can change.

        Raises `StaleSnapshot` if another session has changed one.
        """
        shared = [lock_table_name(info) for info in tables if not info.temporary]
        self._transaction.require_fresh(shared)
        return shared

    def lock_changed_table(self, info: TableInfo, tables: Iterable[TableInfo]) -> None:
        """Lock a whole table that a statement over `tables` is about to change.

        Raises SqlError -244 if another session has locked it or one of its rows.
        """
        if info.temporary:
            return
        self._require_writable()
        shared = self.require_fresh_tables(tables)
        if self._locks.lock_table(
            self._lock_owner.request(CANNOT_READ), lock_table_name(info), LockMode.EXCLUSIVE
        ):
            self._transaction.require_fresh(shared)

    def lock_changed_rows(
        self, info: TableInfo, row_ids: str, values: Mapping[str, object], tables: Iterable[TableInfo]
    ) -> pa.Table | None:
        """Lock the rows that a statement over `tables` is about to change and return their identities.

        The query `row_ids` finds the identities, and the statement then changes exactly these rows. Returns None if
        there are so many that the table was locked, or if the table is the session's own. Raises SqlError -244 if
        another session has locked one of the rows.
        """
        if info.temporary:
            return None
        self._require_writable()
        table, claim = lock_table_name(info), self._lock_owner.request(CANNOT_READ)
        shared = self.require_fresh_tables(tables)
        self._locks.lock_table(claim, table, LockMode.INTENT_EXCLUSIVE)
        keys = self._executor.query_table(f"{row_ids} LIMIT {MAX_ROW_LOCKS + 1}", dict(values))
        if keys.num_rows > MAX_ROW_LOCKS:
            if self._locks.lock_table(claim, table, LockMode.EXCLUSIVE):
                self._transaction.require_fresh(shared)
            return None
        if self._locks.lock_rows(claim, table, _committed_keys(keys, info), LockMode.EXCLUSIVE):
            self._transaction.require_fresh([table])
        return keys

    def lock_key(self, info: TableInfo, key: RowKey) -> Callable[[], None] | None:
        """Lock the row of a primary key that is about to be changed, whether it exists or not.

        Returns the function that releases the lock, like `Locks.lock_row`. Raises SqlError -244 if another session has
        locked it.
        """
        self._require_writable()
        table = lock_table_name(info)
        undo = self._locks.lock_row(self._lock_owner.request(CANNOT_READ), table, key)
        self._transaction.require_fresh([table])
        return undo

    def lock_current_row(self, info: TableInfo, key: RowKey) -> None:
        """Lock the row that WHERE CURRENT OF is about to change.

        Raises SqlError -244 if another session has locked it.
        """
        if info.temporary:
            return
        self._require_writable()
        claim, table = self._lock_owner.request(CANNOT_READ), lock_table_name(info)
        self._locks.lock_rows(claim, table, _without_own_rows([key], info), LockMode.EXCLUSIVE)
        self._transaction.require_fresh([table])

    def lock_inserted_keys(self, info: TableInfo, arrays: Mapping[str, Any]) -> None:
        """Lock the keys of rows that are about to be inserted, and the existence of their parents.

        `arrays` are the columns. Raises SqlError -271 if another session has locked one of them.
        """
        if info.temporary:
            return
        self.lock_inserted_row_keys(info, {key.name: _key_columns(info, key, arrays) for key in info.keys})
        for foreign in info.foreign_keys:
            self.lock_parents(info, foreign, [arrays[name] for name in foreign.columns])

    def lock_inserted_row_keys(self, info: TableInfo, keys: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        """Do the same as `lock_inserted_keys` for a table without parents.

        `keys` are the columns of each key, by its name, with texts without the trailing blanks that do not matter.
        """
        if info.temporary:
            return
        self._require_writable()
        owner, locks = self._lock_owner, self._locks
        claim, table = owner.request(CANNOT_INSERT), lock_table_name(info)
        locks.lock_table(claim, table, LockMode.INTENT_EXCLUSIVE)
        if not keys:
            locks.mark_written(owner, table)
        elif locks.lock_inserted(claim, table, keys, _primary_key_name(info)):
            self._transaction.require_fresh([table])

    def lock_changed_keys(
        self, info: TableInfo, changed: Collection[str], columns: Mapping[str, Any]
    ) -> None:
        """Lock the new keys of rows whose own locks are held.

        `columns` holds all columns of the keys that contain a column of `changed`. Raises SqlError -346 if another
        session has one of the keys or may be about to free it.
        """
        if info.temporary:
            return
        keys = [key for key in info.keys if not set(key.columns).isdisjoint(changed)]
        claim = self._lock_owner.request(CANNOT_UPDATE)
        new_keys = {key.name: _key_columns(info, key, columns) for key in keys}
        if self._locks.lock_inserted(claim, lock_table_name(info), new_keys, _primary_key_name(info)):
            self._transaction.require_fresh([lock_table_name(info)])
        names = list(dict.fromkeys(name for key in keys for name in key.columns))
        self._wait_for_freed_keys(
            info, keys, pa.table([columns[name] for name in names], names=names), CANNOT_UPDATE
        )

    def lock_parents(self, info: TableInfo, foreign: ForeignKey, columns: Sequence[Any]) -> None:
        """Lock the parents of rows that are written, so that they stay; `columns` are those of the foreign key, as
        Arrow arrays.
        """
        locks = self._locks
        parent = self._tables.find(info.database, foreign.parent)
        if parent is None:
            return
        names = list(foreign.columns)
        parts = [
            key_texts(column) if name in info.blank_padded else column
            for name, column in zip(names, columns, strict=True)
        ]
        keys = pa.table(parts, names=names).group_by(names).aggregate([])
        parent_names = identity_names(parent)
        if set(parent_names) == set(foreign.parent_columns):
            keys = keys.select([names[foreign.parent_columns.index(name)] for name in parent_names])
        else:
            match = parent_condition(info, foreign, "b", "t")
            items = ", ".join(f"{name} AS k{i}" for i, name in enumerate(identity_sql(parent, "t")))
            query = f"SELECT {items} FROM {parent.duck_name} AS t SEMI JOIN _ifx_rows AS b ON {match}"
            keys = self._transaction.recorder.table_with_rows(query, keys)
        table, claim = lock_table_name(parent), self._lock_owner.request(CANNOT_INSERT)
        if keys.num_rows > MAX_ROW_LOCKS:
            new = locks.lock_table(claim, table, LockMode.SHARE)
        else:
            locks.lock_table(claim, table, LockMode.INTENT_SHARE)
            rows = [key for key in _committed_keys(keys, parent) if None not in key]
            new = locks.lock_rows(claim, table, rows, LockMode.SHARE)
        if new:
            self._transaction.require_fresh([table])

    def wait_for_freed_keys(self, info: TableInfo, rows: Any) -> None:
        """Wait while another session may free a key of the Arrow table `rows` that seems to be taken.

        The other session may have an uncommitted DELETE or UPDATE of it. Raises `StaleSnapshot` once the key was freed,
        and SqlError -271 if the session may not wait.
        """
        self._wait_for_freed_keys(info, info.keys, rows, CANNOT_INSERT)

    def _wait_for_freed_keys(
        self, info: TableInfo, unique: Iterable[UniqueConstraint], rows: Any, sqlcode: int
    ) -> None:
        table = lock_table_name(info)
        if info.temporary or not self._locks.has_uncommitted_changes(self._lock_owner, table):
            return
        items = ", ".join(f"{name} AS k{i}" for i, name in enumerate(identity_sql(info, "t")))
        for key in unique:
            match = same_key_condition(info, key.columns, "t", "b")
            query = f"SELECT {items} FROM {info.duck_name} AS t SEMI JOIN _ifx_rows AS b ON {match}"
            taken = _committed_keys(self._transaction.recorder.table_with_rows(query, rows), info)
            if self._locks.wait_until_readable(self._lock_owner.request(sqlcode), table, taken):
                self._transaction.require_fresh([table])

    def require_fresh(self, info: TableInfo) -> None:
        """Raise `StaleSnapshot` if a row may violate a constraint only in an old snapshot of its table or of a
        parent.
        """
        tables = [lock_table_name(info), *((info.database, foreign.parent) for foreign in info.foreign_keys)]
        self._transaction.require_fresh(tables)

    def lock_names(self, names: Iterable[str]) -> None:
        """Lock tables that are about to be created, changed or dropped, whether they exist or not."""
        database = self._database.require()
        for name in names:
            if name not in self._schema.temp_tables:
                self._require_writable()
                self._locks.lock_table(
                    self._lock_owner.request(CANNOT_OPEN), (database, name), LockMode.EXCLUSIVE
                )
                self._transaction.require_fresh([(database, name)])

    def lock_catalog_names(self, names: Iterable[tuple[str, str]]) -> None:
        """Lock names, as (table, name), that a table of the catalogue will contain.

        No other session can create the same ones until this transaction ends.
        """
        database, claim = self._database.require(), self._lock_owner.request(CANNOT_OPEN)
        for table, name in names:
            self._require_writable()
            self._locks.lock_table(claim, (database, table), LockMode.INTENT_EXCLUSIVE)
            self._locks.lock_rows(claim, (database, table), [(name,)], LockMode.EXCLUSIVE)
            self._transaction.require_fresh([(database, table)])

    def _require_writable(self) -> None:
        if self._transaction_level[1]:
            raise SqlError(READ_ONLY)

    # ---- LOCK TABLE -----------------------------------------------------------------------------------
    def lock_table(self, info: TableInfo, mode: LockMode) -> None:
        """LOCK TABLE: until the transaction ends, or until UNLOCK TABLE in a database without transactions.

        Raises -255 outside a transaction, and -289 if another session's lock conflicts.
        """
        if self._database.record.logged and not self._transaction.active:
            raise SqlError(-255)
        if info.temporary:
            return
        self._locks.lock_table(self._lock_owner.request(CANNOT_LOCK), lock_table_name(info), mode)
        if not self._transaction.active:
            self._lock_owner.held_tables.add(lock_table_name(info))

    def unlock_table(self, info: TableInfo) -> None:
        """UNLOCK TABLE: -288 if this session has not locked it.

        Inside a transaction the end of the transaction unlocks it.
        """
        owner, table = self._lock_owner, lock_table_name(info)
        if table not in owner.held_tables:
            raise SqlError(-288, 0, 0, info.name)
        owner.held_tables.discard(table)
        owner.release(committed=False, keep=owner.held_tables)


def _key_columns(info: TableInfo, key: UniqueConstraint, columns: Mapping[str, Any]) -> list[Any]:
    """Return the columns of a key in the form that locks use."""
    return [key_texts(columns[name]) if name in info.blank_padded else columns[name] for name in key.columns]


def _primary_key_name(info: TableInfo) -> str:
    return next((unique.name for unique in info.unique_constraints if unique.kind == "P"), "")


def _identity_query(plan: SelectPlan) -> str:
    """Return the query for the identities of a query's rows, in their order."""
    return f"SELECT {', '.join(key_column_names(plan.tables[0]))} FROM ({plan.with_row_ids})"


def _key_tuples(keys: pa.Table) -> list[RowKey]:
    return list(zip(*(column.to_pylist() for column in keys.columns), strict=True))


def _committed_keys(keys: pa.Table, info: TableInfo) -> list[RowKey]:
    """Return the identities that other sessions may know, too."""
    return _without_own_rows(_key_tuples(keys), info)


def _without_own_rows(rows: list[RowKey], info: TableInfo) -> list[RowKey]:
    return [key for key in rows if key[0] < MAX_ROW_ID] if identity_names(info) == ("rowid",) else rows
