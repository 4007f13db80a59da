"""What a session sees of others' work and keeps from them: isolation levels, and the locks of its statements.

    level               rows that another session has changed       rows that are read
    dirty read          as they were committed last, see below      -
    committed read      are waited for, or refused                  -
    last committed      as they were committed last                 -
    cursor stability    as committed read                           -
    repeatable read     as committed read                           their tables are locked in share mode

DuckDB shows nobody's uncommitted work to others, so a dirty read is a read of what was committed last: it never
waits and never fails, as on a real server, but does not see what may be rolled back. Whether a read meets a changed
row is decided by the rows that it returns where it filters one table, else by its tables: a real server meets locks
wherever its access path leads.

So it is with what an INSERT ... SELECT, a subquery of an UPDATE or DELETE and the source of a MERGE read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..errors import SqlError
from ..planning.keyed import columns as identity_columns
from ..planning.keyed import identity
from ..planning.plans import SelectPlan
from ..schema.catalog import Foreign, TableInfo, Unique, key_texts, same_key, same_parent
from .current_database import CurrentDatabase
from .lock_owner import LockOwner
from .locks import MAX_ROWS, Key, Mode, Table
from .running import Runner
from .schema_changes import SchemaChanges
from .session_tables import SessionTables
from .spool import Spool
from .transaction import Transaction

DIRTY, COMMITTED, LAST_COMMITTED = "dirty read", "committed read", "last committed"
STABILITY, REPEATABLE = "cursor stability", "repeatable read"

CANNOT_READ, CANNOT_INSERT, CANNOT_LOCK, CANNOT_OPEN = -244, -271, -289, -242
CANNOT_UPDATE = -346
NOT_FOR_UPDATE = -263
READ_ONLY = -878

_KEYS_AT_ONCE = 2048
"""Rows of a cursor FOR UPDATE whose identities are Python objects at one time."""

MAX_ROW_ID = 36028797018960000
"""DuckDB's row ids from here on are those of rows that the transaction itself has inserted: nobody else sees them."""


def table_of(info: TableInfo) -> Table:
    """What locks call a table."""
    return info.database, info.name


def key_of(info: TableInfo) -> tuple[str, ...]:
    return tuple(f"k{i}" for i in range(len(identity(info))))


class Isolation:
    """One session's."""

    def __init__(
        self,
        owner: LockOwner,
        transaction: Transaction,
        database: CurrentDatabase,
        schema: SchemaChanges,
        tables: SessionTables,
        runner: Runner,
    ) -> None:
        self._owner = owner
        self._locks = owner.locks
        self._transaction = transaction
        self._database = database
        self._schema = schema
        self._tables = tables
        self._runner = runner
        self._level = ""
        self._for_transaction: tuple[int, str, bool] | None = None
        self._retain = False  # RETAIN UPDATE LOCKS of the last SET ISOLATION
        self._retaining: frozenset[str] = frozenset()  # levels of SET ENVIRONMENT RETAINUPDATELOCKS

    # ---- settings ---------------------------------------------------------------------------------
    @property
    def level(self) -> str:
        """The level in force: what was set, or the database's own (SERVER-BEHAVIOUR section 2)."""
        if self._for_transaction is not None and self._transactions_own[0]:
            return self._transactions_own[0]
        if self._level:
            return self._level
        record = self._database.record
        if not record.logged or record.name == "sysmaster":
            return DIRTY
        return REPEATABLE if record.ansi else COMMITTED

    def set_level(self, level: str, retain: bool) -> None:
        """SET ISOLATION, for the session."""
        self._level, self._retain = level, retain

    def set_retained(self, levels: Collection[str]) -> None:
        """SET ENVIRONMENT RETAINUPDATELOCKS, for the session: the levels at which RETAIN UPDATE LOCKS goes without
        saying; none turn it off, also where it was said. Locks that are held stay."""
        self._retaining = frozenset(levels)
        self._retain = self._retain and bool(levels)

    @property
    def _retains(self) -> bool:
        """Whether rows that a cursor FOR UPDATE goes on from stay locked until the transaction ends."""
        level = self.level
        return (
            level == REPEATABLE
            or self._retain
            or (COMMITTED if level == LAST_COMMITTED else level) in self._retaining
        )

    def set_transaction(self, level: str, read_only: bool) -> None:
        """SET TRANSACTION, for the open transaction; outside of one its level is the session's."""
        if self._transaction.active:
            self._for_transaction = (self._transaction.number, level, read_only)
        elif level:
            self._level = level

    @property
    def _transactions_own(self) -> tuple[str, bool]:
        """Level ("" for none) and READ ONLY of the open transaction."""
        transaction, own = self._transaction, self._for_transaction
        if own is None or not transaction.active or own[0] != transaction.number:
            return "", False
        return own[1:]

    def forget(self) -> None:
        """Another database is open: its own level holds."""
        self._level, self._retain, self._for_transaction = "", False, None

    # ---- reading ------------------------------------------------------------------------------------
    def before_query(self, plan: SelectPlan, values: Mapping[str, object]) -> None:
        """Make sure that a query may read what it is about to read, and sees it. SqlError -244 where it may not; Stale
        inside `Transaction.write` where it would not see it."""
        if plan.keyed and plan.filtered:
            self.before_reading(plan.tables, lambda info: _keys(self._keys(plan, values), info))
        else:
            self.before_reading(plan.tables)

    def before_reading(
        self, read: Iterable[TableInfo], wanted: Callable[[TableInfo], list[Key]] | None = None
    ) -> None:
        """As `before_query`, of whole tables, or of the rows of one that are `wanted`."""
        owner, locks = self._owner, self._locks
        tables = [info for info in read if info.kind == "T" and not info.temporary]
        level = self.level if tables else DIRTY
        if level not in (DIRTY, LAST_COMMITTED):
            claim = owner.claim(CANNOT_READ)
            for info in tables:
                table = table_of(info)
                if level == REPEATABLE and self._transaction.active:
                    locks.lock_table(claim, table, Mode.SHARE)
                while locks.is_written(owner, table):
                    keys = wanted(info) if wanted is not None else None
                    if not locks.await_readable(claim, table, keys):
                        break
        self._transaction.refresh(map(table_of, tables))

    def _keys(self, plan: SelectPlan, values: Mapping[str, object]) -> pa.Table:
        """The identities of a query's rows, in their order."""
        return self._transaction.read(lambda: self._runner.arrow(_identities(plan), dict(values)))

    def lock_all(self, plan: SelectPlan, values: Mapping[str, object]) -> None:
        """FOR UPDATE of a query that is taken whole: all its rows are locked, and seen as they are then."""
        self.require_transaction()
        (info,) = plan.tables
        if info.temporary:
            return
        table, claim = table_of(info), self._owner.claim(NOT_FOR_UPDATE)
        self._locks.lock_table(claim, table, Mode.WRITE)
        for _ in range(3):
            keys = _keys(self._keys(plan, values), info)
            if not self._locks.lock_rows(claim, table, keys, Mode.UPDATE):
                break
            self._transaction.refresh([table])

    def keys_for_update(self, plan: SelectPlan, values: Mapping[str, object]) -> Spool:
        """The identities of the rows that a cursor FOR UPDATE will come to; the table is locked for writing."""
        (info,) = plan.tables
        if not info.temporary:
            self._locks.lock_table(self._owner.claim(NOT_FOR_UPDATE), table_of(info), Mode.WRITE)
            self._transaction.refresh([table_of(info)])
        return self._runner.spooled(_identities(plan), dict(values), _KEYS_AT_ONCE)

    def require_transaction(self) -> None:
        """-398 for what needs a transaction in a database that has them."""
        if self._database.record.logged and not self._transaction.active:
            raise SqlError(-398)

    def lock_row(self, info: TableInfo, key: Key, mode: Mode) -> None:
        """Lock one row of a table that is locked for writing; what others have committed to it is seen then."""
        if not info.temporary:
            self._locks.lock_rows(
                self._owner.claim(NOT_FOR_UPDATE), table_of(info), _known([key], info), mode
            )
            self._transaction.refresh([table_of(info)])

    def leave_row(self, info: TableInfo, key: Key) -> None:
        """A row that a cursor FOR UPDATE goes on from: free again if it was not changed."""
        if not info.temporary and not self._retains:
            self._locks.release_row(self._owner, table_of(info), key)

    def see_all(self, tables: Iterable[TableInfo]) -> None:
        """Stale, inside `Transaction.write`, when another session has changed one of the tables."""
        self._transaction.require_fresh([table_of(info) for info in tables if not info.temporary])

    # ---- writing, all inside `Transaction.write` ----------------------------------------------------------
    def lock_changed_table(self, info: TableInfo, tables: Iterable[TableInfo]) -> None:
        """Lock a table as a whole that a statement over `tables` is about to change. SqlError -244 when another session
        has locked it or one of its rows."""
        if info.temporary:
            return
        self._may_write()
        shared = self._require_fresh(tables)
        if self._locks.lock_table(self._owner.claim(CANNOT_READ), table_of(info), Mode.EXCLUSIVE):
            self._transaction.require_fresh(shared)

    def lock_changed_rows(
        self, info: TableInfo, row_ids: str, values: Mapping[str, object], tables: Iterable[TableInfo]
    ) -> pa.Table | None:
        """Lock the rows that a statement over `tables` is about to change: their identities, as the query `row_ids`
        gives them, for it to change just these. None when there are so many that the table is locked, or when it is the
        session's own. SqlError -244 when another session has locked one of them."""
        if info.temporary:
            return None
        self._may_write()
        table, claim = table_of(info), self._owner.claim(CANNOT_READ)
        shared = self._require_fresh(tables)
        self._locks.lock_table(claim, table, Mode.WRITE)
        keys = self._runner.arrow(f"{row_ids} LIMIT {MAX_ROWS + 1}", dict(values))
        if keys.num_rows > MAX_ROWS:
            if self._locks.lock_table(claim, table, Mode.EXCLUSIVE):
                self._transaction.require_fresh(shared)
            return None
        if self._locks.lock_rows(claim, table, _keys(keys, info), Mode.EXCLUSIVE):
            self._transaction.require_fresh([table])
        return keys

    def _require_fresh(self, tables: Iterable[TableInfo]) -> list[Table]:
        """Those of the tables that others can change; Stale when another session has changed one of them."""
        shared = [table_of(info) for info in tables if not info.temporary]
        self._transaction.require_fresh(shared)
        return shared

    def lock_one(self, info: TableInfo, key: Key) -> Callable[[], None] | None:
        """Lock the row of a primary key that is about to be changed, whether it is there or not; what gives the lock
        back, as `Locks.lock_row`. SqlError -244 when another session has locked it."""
        self._may_write()
        table = table_of(info)
        undo = self._locks.lock_row(self._owner.claim(CANNOT_READ), table, key)
        self._transaction.require_fresh([table])
        return undo

    def lock_current(self, info: TableInfo, key: Key) -> None:
        """Lock the row that WHERE CURRENT OF is about to change. SqlError -244 when another session has locked it."""
        if info.temporary:
            return
        self._may_write()
        claim, table = self._owner.claim(CANNOT_READ), table_of(info)
        self._locks.lock_rows(claim, table, _known([key], info), Mode.EXCLUSIVE)
        self._transaction.require_fresh([table])

    def lock_inserted(self, info: TableInfo, arrays: Mapping[str, Any]) -> None:
        """Lock what rows that go into a table must not share with others: their keys, and their parents' being
        there. `arrays` are the columns. SqlError -271 when another has it."""
        if info.temporary:
            return
        self.lock_row_inserted(info, {key.name: _key(info, key, arrays) for key in info.keys})
        for foreign in info.foreigns:
            self.lock_parents(info, foreign, [arrays[name] for name in foreign.columns])

    def lock_row_inserted(self, info: TableInfo, keys: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        """As `lock_inserted`, for a table without parents: `keys` are the columns of each key, by its name, texts
        without the blanks that decide nothing."""
        if info.temporary:
            return
        self._may_write()
        owner, locks = self._owner, self._locks
        claim, table = owner.claim(CANNOT_INSERT), table_of(info)
        locks.lock_table(claim, table, Mode.WRITE)
        if not keys:
            locks.written(owner, table)
        elif locks.lock_inserted(claim, table, keys, _primary(info)):
            self._transaction.require_fresh([table])

    def lock_rekeyed(self, info: TableInfo, changed: Collection[str], columns: Mapping[str, Any]) -> None:
        """Lock the new keys of rows whose own locks are held: `columns` are all columns of the keys of which some are
        `changed`. SqlError -346 when another session has one of them, or is about to free it."""
        if info.temporary:
            return
        keys = [key for key in info.keys if not set(key.columns).isdisjoint(changed)]
        claim = self._owner.claim(CANNOT_UPDATE)
        wanted = {key.name: _key(info, key, columns) for key in keys}
        if self._locks.lock_inserted(claim, table_of(info), wanted, _primary(info)):
            self._transaction.require_fresh([table_of(info)])
        names = list(dict.fromkeys(name for key in keys for name in key.columns))
        self._await_freed(info, keys, pa.table([columns[name] for name in names], names=names), CANNOT_UPDATE)

    def lock_parents(self, info: TableInfo, foreign: Foreign, columns: Sequence[Any]) -> None:
        """Lock the parents of rows that are written, for them to stay: `columns` are the foreign key's, as Arrow
        arrays."""
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
        wanted = identity(parent)
        if set(wanted) == set(foreign.parent_columns) and parent.exact_keys == info.exact_keys:
            keys = keys.select([names[foreign.parent_columns.index(name)] for name in wanted])
        else:
            match = same_parent(info, foreign, "b", "t")
            items = ", ".join(f"{name} AS k{i}" for i, name in enumerate(identity_columns(parent, "t")))
            query = f"SELECT {items} FROM {parent.duck} AS t SEMI JOIN _ifx_rows AS b ON {match}"
            keys = self._transaction.writer.table_with(query, keys)
        table, claim = table_of(parent), self._owner.claim(CANNOT_INSERT)
        if keys.num_rows > MAX_ROWS:
            new = locks.lock_table(claim, table, Mode.SHARE)
        else:
            locks.lock_table(claim, table, Mode.REFER)
            rows = [key for key in _keys(keys, parent) if None not in key]
            new = locks.lock_rows(claim, table, rows, Mode.SHARE)
        if new:
            self._transaction.require_fresh([table])

    def await_freed(self, info: TableInfo, rows: Any) -> None:
        """A key of the Arrow table `rows` seems taken: wait while another session may be about to free it by a DELETE
        or UPDATE that is not committed yet. Stale when it has done so, SqlError -271 where it cannot be waited for."""
        self._await_freed(info, info.keys, rows, CANNOT_INSERT)

    def _await_freed(self, info: TableInfo, unique: Iterable[Unique], rows: Any, sqlcode: int) -> None:
        table = table_of(info)
        if info.temporary or not self._locks.is_written(self._owner, table):
            return
        items = ", ".join(f"{name} AS k{i}" for i, name in enumerate(identity_columns(info, "t")))
        for key in unique:
            match = same_key(info, key.columns, "t", "b")
            query = f"SELECT {items} FROM {info.duck} AS t SEMI JOIN _ifx_rows AS b ON {match}"
            taken = _keys(self._transaction.writer.table_with(query, rows), info)
            if self._locks.await_readable(self._owner.claim(sqlcode), table, taken):
                self._transaction.require_fresh([table])

    def require_fresh(self, info: TableInfo) -> None:
        """Stale when a row that seems wrong may be so only in an old snapshot: of its table, or of a parent."""
        tables = [table_of(info), *((info.database, foreign.parent) for foreign in info.foreigns)]
        self._transaction.require_fresh(tables)

    def lock_names(self, names: Iterable[str]) -> None:
        """Lock tables that are about to be made, changed or dropped, whether they exist or not."""
        database = self._database.require()
        for name in names:
            if name not in self._schema.temp_tables:
                self._may_write()
                self._locks.lock_table(self._owner.claim(CANNOT_OPEN), (database, name), Mode.EXCLUSIVE)
                self._transaction.require_fresh([(database, name)])

    def lock_catalogued(self, names: Iterable[tuple[str, str]]) -> None:
        """Lock names that a table of the catalogue will have: (table, name). No other session makes the same ones until
        it is known what becomes of these."""
        database, claim = self._database.require(), self._owner.claim(CANNOT_OPEN)
        for table, name in names:
            self._may_write()
            self._locks.lock_table(claim, (database, table), Mode.WRITE)
            self._locks.lock_rows(claim, (database, table), [(name,)], Mode.EXCLUSIVE)
            self._transaction.require_fresh([(database, table)])

    def _may_write(self) -> None:
        if self._transactions_own[1]:
            raise SqlError(READ_ONLY)

    # ---- LOCK TABLE -----------------------------------------------------------------------------------
    def lock_table(self, info: TableInfo, mode: Mode) -> None:
        """LOCK TABLE: until the transaction ends, or UNLOCK TABLE where there are none. -255 outside of one,
        -289 when another session is in the way."""
        if self._database.record.logged and not self._transaction.active:
            raise SqlError(-255)
        if info.temporary:
            return
        self._locks.lock_table(self._owner.claim(CANNOT_LOCK), table_of(info), mode)
        if not self._transaction.active:
            self._owner.kept.add(table_of(info))

    def unlock_table(self, info: TableInfo) -> None:
        """UNLOCK TABLE: -288 when this session has not locked it; inside a transaction its end unlocks it."""
        owner, table = self._owner, table_of(info)
        if table not in owner.kept:
            raise SqlError(-288, 0, 0, info.name)
        owner.kept.discard(table)
        owner.release(committed=False, keep=owner.kept)


def _key(info: TableInfo, key: Unique, columns: Mapping[str, Any]) -> list[Any]:
    """The columns of a key as locks know it."""
    return [key_texts(columns[name]) if name in info.blank_padded else columns[name] for name in key.columns]


def _primary(info: TableInfo) -> str:
    return next((unique.name for unique in info.uniques if unique.kind == "P"), "")


def _identities(plan: SelectPlan) -> str:
    """The query for the identities of a query's rows, in their order."""
    return f"SELECT {', '.join(key_of(plan.tables[0]))} FROM ({plan.keyed})"


def _rows(keys: pa.Table) -> list[Key]:
    return list(zip(*(column.to_pylist() for column in keys.columns), strict=True))


def _keys(keys: pa.Table, info: TableInfo) -> list[Key]:
    """Identities that other sessions may know, too."""
    return _known(_rows(keys), info)


def _known(rows: list[Key], info: TableInfo) -> list[Key]:
    return [key for key in rows if key[0] < MAX_ROW_ID] if identity(info) == ("rowid",) else rows
