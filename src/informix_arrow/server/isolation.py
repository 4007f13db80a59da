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

Inside an UPDATE, DELETE or INSERT ... SELECT the tables that are only read are read as last committed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .catalog import Foreign, TableInfo, quote
from .errors import SqlError
from .locks import MAX_ROWS, Key, Mode, Table
from .sql.keyed import columns as identity_columns
from .sql.keyed import identity
from .sql.plans import ModifyPlan, SelectPlan

if TYPE_CHECKING:
    from .running import RunningSession

DIRTY, COMMITTED, LAST_COMMITTED = "dirty read", "committed read", "last committed"
STABILITY, REPEATABLE = "cursor stability", "repeatable read"

CANNOT_READ, CANNOT_INSERT, CANNOT_LOCK, CANNOT_OPEN = -244, -271, -289, -242
NOT_FOR_UPDATE = -263
READ_ONLY = -878

MAX_ROW_ID = 36028797018960000
"""DuckDB's row ids from here on are those of rows that the transaction itself has inserted: nobody else sees them."""


def table_of(info: TableInfo) -> Table:
    """What locks call a table."""
    return info.database, info.name


def key_of(info: TableInfo) -> tuple[str, ...]:
    return tuple(f"k{i}" for i in range(len(identity(info))))


class Isolation:
    """One session's. `retain` is RETAIN UPDATE LOCKS."""

    def __init__(self, session: RunningSession) -> None:
        self._session = session
        self._locks = session.engine.locks
        self._level = ""
        self._for_transaction: tuple[int, str, bool] | None = None
        self.retain = False

    # ---- settings ---------------------------------------------------------------------------------
    @property
    def level(self) -> str:
        """The level in force: what was set, or the database's own (SERVER-BEHAVIOUR section 2)."""
        level = self._transactions_own[0] or self._level
        if level:
            return level
        record = self._session.record
        if not record.logged or record.name == "sysmaster":
            return DIRTY
        return REPEATABLE if record.ansi else COMMITTED

    def set_level(self, level: str, retain: bool) -> None:
        """SET ISOLATION, for the session."""
        self._level, self.retain = level, retain

    def set_transaction(self, level: str, read_only: bool) -> None:
        """SET TRANSACTION, for the open transaction; outside of one its level is the session's."""
        if self._session.in_transaction:
            self._for_transaction = (self._session.transactions, level, read_only)
        elif level:
            self._level = level

    @property
    def _transactions_own(self) -> tuple[str, bool]:
        """Level ("" for none) and READ ONLY of the open transaction."""
        session, own = self._session, self._for_transaction
        if own is None or not session.in_transaction or own[0] != session.transactions:
            return "", False
        return own[1:]

    def forget(self) -> None:
        """Another database is open: its own level holds."""
        self._level, self.retain, self._for_transaction = "", False, None

    # ---- reading ------------------------------------------------------------------------------------
    def before_query(self, plan: SelectPlan, values: Mapping[str, object]) -> None:
        """Make sure that a query may read what it is about to read, and sees it. SqlError -244 where it may not."""
        session, locks = self._session, self._locks
        tables = [info for info in plan.tables if info.kind == "T" and not info.temporary]
        level = self.level if tables else DIRTY
        if level not in (DIRTY, LAST_COMMITTED):
            claim = session.claim(CANNOT_READ)
            for info in tables:
                table = table_of(info)
                if level == REPEATABLE and session.in_transaction:
                    locks.lock_table(claim, table, Mode.SHARE)
                while locks.is_written(session, table):
                    keys = None
                    if plan.keyed and plan.filtered:
                        keys = _keys(self._keys(plan, values), info)
                    if not locks.await_readable(claim, table, keys):
                        break
        session.refresh(map(table_of, tables))

    def _keys(self, plan: SelectPlan, values: Mapping[str, object]) -> pa.Table:
        """The identities of a query's rows, in their order."""
        names = ", ".join(key_of(plan.tables[0]))
        text = f"SELECT {names} FROM ({plan.keyed})"
        return self._session.read(lambda: self._session.fetch_arrow(text, dict(values)))

    def lock_all(self, plan: SelectPlan, values: Mapping[str, object]) -> None:
        """FOR UPDATE of a query that is taken whole: all its rows are locked, and seen as they are then."""
        self.require_transaction()
        (info,) = plan.tables
        if info.temporary:
            return
        table, claim = table_of(info), self._session.claim(NOT_FOR_UPDATE)
        self._locks.lock_table(claim, table, Mode.WRITE)
        for _ in range(3):
            keys = _keys(self._keys(plan, values), info)
            if not self._locks.lock_rows(claim, table, keys, Mode.UPDATE):
                break
            self._session.refresh([table])

    def keys_for_update(self, plan: SelectPlan, values: Mapping[str, object]) -> list[Key]:
        """The identities of the rows that a cursor FOR UPDATE will come to; the table is locked for writing."""
        (info,) = plan.tables
        if not info.temporary:
            self._locks.lock_table(self._session.claim(NOT_FOR_UPDATE), table_of(info), Mode.WRITE)
            self._session.refresh([table_of(info)])
        return _rows(self._keys(plan, values))

    def require_transaction(self) -> None:
        """-398 for what needs a transaction in a database that has them."""
        if self._session.record.logged and not self._session.in_transaction:
            raise SqlError(-398)

    def lock_row(self, info: TableInfo, key: Key, mode: Mode) -> None:
        """Lock one row of a table that is locked for writing; what others have committed to it is seen then."""
        if not info.temporary:
            self._locks.lock_rows(
                self._session.claim(NOT_FOR_UPDATE), table_of(info), _known([key], info), mode
            )
            self._session.refresh([table_of(info)])

    def leave_row(self, info: TableInfo, key: Key) -> None:
        """A row that a cursor FOR UPDATE goes on from: free again if it was not changed."""
        if not info.temporary and not self.retain and self.level != REPEATABLE:
            self._locks.release_row(self._session, table_of(info), key)

    # ---- writing, all inside `session.write` ----------------------------------------------------------
    def lock_touched(self, plan: ModifyPlan, values: Mapping[str, object]) -> pa.Table | None:
        """Lock the rows that an UPDATE or DELETE is about to change: their identities, for it to change just these;
        None when the table is locked, or is the session's own. SqlError -244 when another has them."""
        session, info = self._session, plan.info
        if info.temporary:
            return None
        self._may_write()
        table, claim = table_of(info), session.claim(CANNOT_READ)
        tables = [table_of(t) for t in plan.tables if not t.temporary]
        session.require_fresh(tables)
        if plan.whole:
            if self._locks.lock_table(claim, table, Mode.EXCLUSIVE):
                session.require_fresh(tables)
            return None
        self._locks.lock_table(claim, table, Mode.WRITE)
        keys = session.fetch_arrow(f"{plan.touched} LIMIT {MAX_ROWS + 1}", dict(values))
        if keys.num_rows > MAX_ROWS:
            if self._locks.lock_table(claim, table, Mode.EXCLUSIVE):
                session.require_fresh(tables)
            return None
        if self._locks.lock_rows(claim, table, _keys(keys, info), Mode.EXCLUSIVE):
            session.require_fresh([table])
        return keys

    def lock_current(self, plan: ModifyPlan, key: Key) -> None:
        """As `lock_touched`, for the row of WHERE CURRENT OF."""
        info = plan.info
        if info.temporary:
            return
        self._may_write()
        claim, table = self._session.claim(CANNOT_READ), table_of(info)
        if plan.whole:
            self._locks.lock_table(claim, table, Mode.EXCLUSIVE)
        self._locks.lock_rows(claim, table, _known([key], info), Mode.EXCLUSIVE)
        self._session.require_fresh([table])

    def lock_inserted(self, info: TableInfo, arrays: Mapping[str, Any]) -> None:
        """Lock what rows that go into a table must not share with others: their keys, and their parents' being
        there. `arrays` are the columns. SqlError -271 when another has it."""
        if info.temporary:
            return
        self._may_write()
        session, locks = self._session, self._locks
        claim, table = session.claim(CANNOT_INSERT), table_of(info)
        locks.lock_table(claim, table, Mode.WRITE)
        keys = {key.name: [arrays[name] for name in key.columns] for key in info.keys}
        if not keys:
            locks.written(session, table)
        elif locks.lock_inserted(claim, table, keys, _primary(info)):
            session.require_fresh([table])
        for foreign in info.foreigns:
            self.lock_parents(info, foreign, [arrays[name] for name in foreign.columns])

    def lock_parents(self, info: TableInfo, foreign: Foreign, columns: Sequence[Any]) -> None:
        """Lock the parents of rows that are written, for them to stay: `columns` are the foreign key's, as Arrow
        arrays."""
        session, locks = self._session, self._locks
        parent = session.find_table(info.database, foreign.parent)
        if parent is None:
            return
        names = [f"f{i}" for i in range(len(columns))]
        keys = pa.table(list(columns), names=names).group_by(names).aggregate([])
        wanted = identity(parent)
        if set(wanted) == set(foreign.parent_columns):
            keys = keys.select([names[foreign.parent_columns.index(name)] for name in wanted])
        else:
            match = " AND ".join(
                f"t.{quote(there)} = b.{here}"
                for here, there in zip(names, foreign.parent_columns, strict=True)
            )
            items = ", ".join(f"{name} AS k{i}" for i, name in enumerate(identity_columns(parent, "t")))
            query = f"SELECT {items} FROM {parent.duck} AS t SEMI JOIN _ifx_rows AS b ON {match}"
            keys = session.writer.table_with(query, keys)
        table, claim = table_of(parent), session.claim(CANNOT_INSERT)
        if keys.num_rows > MAX_ROWS:
            new = locks.lock_table(claim, table, Mode.SHARE)
        else:
            locks.lock_table(claim, table, Mode.REFER)
            rows = [key for key in _keys(keys, parent) if None not in key]
            new = locks.lock_rows(claim, table, rows, Mode.SHARE)
        if new:
            session.require_fresh([table])

    def await_freed(self, info: TableInfo, rows: Any) -> None:
        """A key of the Arrow table `rows` seems taken: wait while another session may be about to free it by a DELETE
        that is not committed yet. Stale when it has done so, SqlError -271 where it cannot be waited for."""
        session, table = self._session, table_of(info)
        if info.temporary or not self._locks.is_written(session, table):
            return
        items = ", ".join(f"{name} AS k{i}" for i, name in enumerate(identity_columns(info, "t")))
        for key in info.keys:
            match = " AND ".join(f"t.{quote(name)} = b.{quote(name)}" for name in key.columns)
            query = f"SELECT {items} FROM {info.duck} AS t SEMI JOIN _ifx_rows AS b ON {match}"
            taken = _keys(session.writer.table_with(query, rows), info)
            if self._locks.await_readable(session.claim(CANNOT_INSERT), table, taken):
                session.require_fresh([table])

    def require_fresh(self, info: TableInfo) -> None:
        """Stale when a row that seems wrong may be so only in an old snapshot: of its table, or of a parent."""
        tables = [table_of(info), *((info.database, foreign.parent) for foreign in info.foreigns)]
        self._session.require_fresh(tables)

    def lock_names(self, names: Iterable[str]) -> None:
        """Lock tables that are about to be made, changed or dropped, whether they exist or not."""
        database = self._session.require_database()
        for name in names:
            if name not in self._session.temp_tables:
                self._may_write()
                self._locks.lock_table(self._session.claim(CANNOT_OPEN), (database, name), Mode.EXCLUSIVE)
                self._session.require_fresh([(database, name)])

    def _may_write(self) -> None:
        if self._transactions_own[1]:
            raise SqlError(READ_ONLY)

    # ---- LOCK TABLE -----------------------------------------------------------------------------------
    def lock_table(self, info: TableInfo, mode: Mode) -> None:
        """LOCK TABLE: until the transaction ends, or UNLOCK TABLE where there are none. -255 outside of one,
        -289 when another session is in the way."""
        session = self._session
        if session.record.logged and not session.in_transaction:
            raise SqlError(-255)
        if info.temporary:
            return
        self._locks.lock_table(session.claim(CANNOT_LOCK), table_of(info), mode)
        if not session.in_transaction:
            session.kept_locks.add(table_of(info))

    def unlock_table(self, info: TableInfo) -> None:
        """UNLOCK TABLE: -288 when this session has not locked it; inside a transaction its end unlocks it."""
        session, table = self._session, table_of(info)
        if table not in session.kept_locks:
            raise SqlError(-288, 0, 0, info.name)
        session.kept_locks.discard(table)
        self._locks.release(session, committed=False, keep=session.kept_locks)


def _primary(info: TableInfo) -> str:
    return next((unique.name for unique in info.uniques if unique.kind == "P"), "")


def _rows(keys: pa.Table) -> list[Key]:
    return list(zip(*(column.to_pylist() for column in keys.columns), strict=True))


def _keys(keys: pa.Table, info: TableInfo) -> list[Key]:
    """Identities that other sessions may know, too."""
    return _known(_rows(keys), info)


def _known(rows: list[Key], info: TableInfo) -> list[Key]:
    return [key for key in rows if key[0] < MAX_ROW_ID] if identity(info) == ("rowid",) else rows
