"""Locks on tables, rows and keys between the sessions of one engine (SERVER-BEHAVIOUR sections 1 and 2).

DuckDB lets two transactions write one row as long as they write different columns of it, and finds a key that was
inserted twice only at COMMIT. So locks decide who may write before DuckDB runs the statement. A lock is held until its
owner's transaction ends. A session that meets another's lock waits for that or is refused at once, as its lock mode
says.

A row is identified by the values of its primary key, or else by DuckDB's row id (plan/row_identity.py).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from typing import Any

from ..errors import ISAM_INTERRUPTED, ISAM_LOCK_TIMEOUT, ISAM_LOCKED, SqlError

ISAM_TABLE_LOCKED = -113
ISAM_DEADLOCK = -143
ISAM_KEY_LOCKED = -144

MAX_ROW_LOCKS = 10_000
"""Rows that one statement locks one by one; with more it locks the table."""

_POLL_SECONDS = 1.0
"""Seconds after which a waiting session checks for an interrupt that it may have missed."""

TableKey = tuple[str, str]
"""Database and name. Names that do not exist yet can be locked, too: CREATE TABLE does."""
RowKey = tuple[Any, ...]
Owner = object


class LockMode(IntEnum):
    """The mode of a lock on a table or row.

    `INTENT_SHARE` is the intent to lock single rows of a table against changes, `INTENT_EXCLUSIVE` the intent to change
    some. FOR UPDATE puts `UPDATE` on a row: others may read it, but not update it.
    """

    INTENT_SHARE = 0
    INTENT_EXCLUSIVE = 1
    SHARE = 2
    UPDATE = 3
    EXCLUSIVE = 4


_TABLE_CONFLICTS = {
    LockMode.INTENT_SHARE: frozenset({LockMode.EXCLUSIVE}),
    LockMode.INTENT_EXCLUSIVE: frozenset({LockMode.SHARE, LockMode.EXCLUSIVE}),
    LockMode.SHARE: frozenset({LockMode.INTENT_EXCLUSIVE, LockMode.EXCLUSIVE}),
    LockMode.EXCLUSIVE: frozenset(LockMode),
}
_ROW_CONFLICTS = {
    LockMode.SHARE: frozenset({LockMode.EXCLUSIVE}),
    LockMode.UPDATE: frozenset({LockMode.UPDATE, LockMode.EXCLUSIVE}),
    LockMode.EXCLUSIVE: frozenset({LockMode.SHARE, LockMode.UPDATE, LockMode.EXCLUSIVE}),
}


@dataclass(frozen=True, slots=True)
class LockRequest:
    """A request for a lock, and what happens when another owner has it.

    Attributes
    ----------
    timeout
        Seconds to wait: 0 not at all (SET LOCK MODE TO NOT WAIT), below 0 without limit.
    interrupted
        Returns True if the wait has to end, with -213.
    sqlcode
        Code of the error. Its ISAM code is the reason, its token is the table.
    """

    owner: Owner
    timeout: float
    interrupted: Callable[[], bool]
    sqlcode: int


@dataclass(frozen=True, slots=True)
class HeldLock:
    """One lock of a row (`is_row_lock`) or of a table, and one of the owners who wait for its owner there."""

    table: TableKey
    is_row_lock: bool
    mode: LockMode
    owner: Owner
    waiter: Owner | None


class _InsertedKeys:
    """Keys of rows that one transaction has inserted, by the name of the constraint or index.

    They are stored as the inserted Arrow columns and only converted when another session inserts into the same table.
    """

    def __init__(self) -> None:
        self._columns: dict[str, list[Sequence[Any]]] = {}
        self._keys: dict[str, set[RowKey]] = {}

    def add(self, keys: Mapping[str, Sequence[Any]]) -> None:
        for name, columns in keys.items():
            self._columns.setdefault(name, []).append(columns)

    def keys(self, name: str) -> set[RowKey]:
        keys_of_name = self._keys.setdefault(name, set())
        for columns in self._columns.pop(name, ()):
            keys_of_name |= _key_tuples(columns)
        return keys_of_name


def _key_tuples(columns: Sequence[Any]) -> set[RowKey]:
    """Return the keys in columns, which are Arrow arrays or lists. NULL is a value like others in them."""
    values = [column if isinstance(column, list) else column.to_pylist() for column in columns]
    return set(zip(*values, strict=True))


@dataclass(slots=True)
class _TableLocks:
    """The locks of one table.

    `writers` have changed rows that others may not read yet. `waiter_count` counts the owners who wait for any lock of
    the table.
    """

    table_modes: dict[Owner, set[LockMode]] = field(default_factory=dict)
    row_modes: dict[RowKey, dict[Owner, LockMode]] = field(default_factory=dict)
    inserted_keys: dict[Owner, _InsertedKeys] = field(default_factory=dict)
    writers: set[Owner] = field(default_factory=set)
    waiter_count: int = 0

    @property
    def is_unused(self) -> bool:
        """True if no owner holds or waits for any of its locks."""
        return not (
            self.table_modes or self.row_modes or self.inserted_keys or self.writers or self.waiter_count
        )


class Locks:
    """All locks of an engine. Thread-safe; only the methods that take a `LockRequest` may wait."""

    def __init__(self) -> None:
        # Used directly, which is faster than through the condition: several times for each statement.
        self._lock = threading.RLock()
        self._released = threading.Condition(self._lock)
        self._tables: dict[TableKey, _TableLocks] = {}
        # Where an owner has locks, and on which rows.
        self._rows_by_owner: dict[Owner, dict[TableKey, set[RowKey]]] = {}
        self._blockers_by_waiter: dict[Owner, Callable[[], set[Owner]]] = {}
        self._waiting_for: dict[Owner, TableKey] = {}  # the table that each waiting owner waits for
        self._last_commits: dict[TableKey, int] = {}
        self.last_commit = 0
        """Number of the last commit; `last_commit_of` has that of a table."""

    # ---- inspecting -------------------------------------------------------------------------------
    def held_locks(self) -> list[HeldLock]:
        """Return all locks that are held now."""
        held = []
        with self._lock:
            for table, state in self._tables.items():
                waiter_by_owner: dict[Owner, Owner] = {}
                for waiter, wanted_table in self._waiting_for.items():
                    if wanted_table == table:
                        waiter_by_owner.update(dict.fromkeys(self._blockers_by_waiter[waiter](), waiter))
                for owner, modes in state.table_modes.items():
                    held += [
                        HeldLock(table, False, mode, owner, waiter_by_owner.get(owner)) for mode in modes
                    ]
                for holders in state.row_modes.values():
                    for owner, mode in holders.items():
                        held.append(HeldLock(table, True, mode, owner, waiter_by_owner.get(owner)))
        return held

    # ---- locking --------------------------------------------------------------------------------
    def lock_table(self, claim: LockRequest, table: TableKey, mode: LockMode) -> bool:
        """Lock a table; return False if the owner had that lock already."""
        with self._lock:
            if table not in self._tables:
                self._lock_unlocked_table(claim.owner, table, mode)
                return True
            return self._lock_table(claim, table, mode)

    def _lock_table(self, claim: LockRequest, table: TableKey, mode: LockMode) -> bool:
        with self._table_locks(table) as state:
            if mode in state.table_modes.get(claim.owner, ()):
                return False
            conflicts = _TABLE_CONFLICTS[mode]
            self._wait(
                claim,
                table,
                state,
                ISAM_TABLE_LOCKED,
                lambda: _conflicting_table_owners(state, claim.owner, conflicts),
            )
            self._owned_rows(claim.owner, table)
            state.table_modes.setdefault(claim.owner, set()).add(mode)
            if mode is LockMode.EXCLUSIVE:
                state.writers.add(claim.owner)
            return True

    def lock_rows(self, claim: LockRequest, table: TableKey, keys: Iterable[RowKey], mode: LockMode) -> bool:
        """Lock rows one after the other; return False if the owner had all these locks already.

        A stronger lock replaces a weaker one.
        """
        owner, conflicts, new = claim.owner, _ROW_CONFLICTS[mode], False
        with self._table_locks(table) as state:
            for key in keys:
                holders = state.row_modes.get(key)
                if holders is None:
                    holders = state.row_modes[key] = {}
                elif owner in holders and holders[owner] >= mode:
                    continue
                elif len(holders) > (owner in holders):
                    self._wait(
                        claim,
                        table,
                        state,
                        ISAM_LOCKED,
                        lambda: _conflicting_row_owners(state, key, owner, conflicts),  # noqa: B023
                    )
                    holders = state.row_modes.setdefault(key, {})
                if not new:  # a refused row leaves no entry, but the rows before it stay locked
                    owned = self._owned_rows(owner, table)
                    new = True
                    if mode is LockMode.EXCLUSIVE:
                        state.writers.add(owner)
                holders[owner] = mode
                owned.add(key)
            return new

    def lock_row(self, claim: LockRequest, table: TableKey, key: RowKey) -> Callable[[], None] | None:
        """Lock one row, and its table, in order to change the row.

        Returns a function that undoes the lock completely, for a row that turns out not to exist; None if the owner had
        the lock already.
        """
        owner = claim.owner
        with self._lock:  # reentrant: a wait releases it completely
            if table not in self._tables:
                state = self._lock_unlocked_table(owner, table, LockMode.INTENT_EXCLUSIVE)
                state.row_modes[key] = {owner: LockMode.EXCLUSIVE}
                state.writers.add(owner)
                self._rows_by_owner[owner][table].add(key)
                return partial(self._unlock_row, state, owner, table, key, None, False)
            self.lock_table(claim, table, LockMode.INTENT_EXCLUSIVE)
            state = self._tables[table]
            writer, before = owner in state.writers, state.row_modes.get(key, {}).get(owner)
            if not self.lock_rows(claim, table, (key,), LockMode.EXCLUSIVE):
                return None
            return partial(self._unlock_row, state, owner, table, key, before, writer)

    def _unlock_row(
        self,
        state: _TableLocks,
        owner: Owner,
        table: TableKey,
        key: RowKey,
        before: LockMode | None,
        writer: bool,
    ) -> None:
        """Restore the owner's lock on a row to `before`, and whether it was a `writer`."""
        with self._lock:
            if before is None:
                self._forget_row(state, key, owner)
                self._rows_by_owner[owner][table].discard(key)
            else:
                state.row_modes[key][owner] = before
            if not writer:
                state.writers.discard(owner)
            self._notify()

    def lock_inserted(
        self, claim: LockRequest, table: TableKey, keys: Mapping[str, Sequence[Any]], identity: str
    ) -> bool:
        """Lock keys that are about to be inserted; return True if that took waiting for another session's keys.

        `keys` are columns, Arrow arrays or lists, by the name of the constraint. `identity` is the name of the primary
        key.
        """
        owner = claim.owner
        new_keys: dict[str, set[RowKey]] = {}

        def key_set(name: str) -> set[RowKey]:
            if name not in new_keys:
                new_keys[name] = _key_tuples(keys[name])
            return new_keys[name]

        def blockers() -> set[Owner]:
            found = {
                other
                for other, inserted in state.inserted_keys.items()
                if other is not owner and any(key_set(name) & inserted.keys(name) for name in keys)
            }
            if identity in keys and state.writers - {owner}:
                for key in key_set(identity) & state.row_modes.keys():
                    found |= _conflicting_row_owners(state, key, owner, _ROW_CONFLICTS[LockMode.SHARE])
            return found

        with self._table_locks(table) as state:
            waited = _has_other_writers(state, owner) and self._wait(
                claim, table, state, ISAM_KEY_LOCKED, blockers
            )
            self._owned_rows(owner, table)
            state.inserted_keys.setdefault(owner, _InsertedKeys()).add(keys)
            state.writers.add(owner)
            return waited

    def mark_written(self, owner: Owner, table: TableKey) -> None:
        """Record that rows without keys were inserted: they conflict only with the reads of others."""
        with self._table_locks(table) as state:
            self._owned_rows(owner, table)
            state.writers.add(owner)

    @contextmanager
    def block_writers(self, claim: LockRequest, table: TableKey) -> Iterator[None]:
        """Wait until no open transaction has changed rows of a table.

        No lock can be taken inside the block, so it must be short.
        """
        changing = frozenset({LockMode.INTENT_EXCLUSIVE, LockMode.EXCLUSIVE})
        with self._table_locks(table) as state:
            self._wait(
                claim,
                table,
                state,
                ISAM_TABLE_LOCKED,
                lambda: _conflicting_table_owners(state, claim.owner, changing),
            )
            yield

    # ---- inspecting -----------------------------------------------------------------------------
    def may_change(self, owner: Owner, table: TableKey) -> bool:
        """Return whether an owner has a lock that permits changing rows of a table."""
        with self._lock:
            state = self._tables.get(table)
            return state is not None and bool(
                state.table_modes.get(owner, set()) & {LockMode.INTENT_EXCLUSIVE, LockMode.EXCLUSIVE}
            )

    def has_uncommitted_changes(self, owner: Owner, table: TableKey) -> bool:
        """Return whether another session has uncommitted changes in a table."""
        with self._lock:
            state = self._tables.get(table)
            return state is not None and not state.writers <= {owner}

    def wait_until_readable(
        self, claim: LockRequest, table: TableKey, keys: Collection[RowKey] | None
    ) -> bool:
        """Wait until no other session has changed any of these rows or, with None, any row of the table.

        Returns True if it had to wait.
        """
        owner = claim.owner
        exclusive = frozenset({LockMode.EXCLUSIVE})

        def blockers() -> set[Owner]:
            if keys is None:
                return state.writers - {owner}
            found = _conflicting_table_owners(state, owner, exclusive)
            for key in keys:
                found |= _conflicting_row_owners(state, key, owner, exclusive)
            return found

        with self._table_locks(table) as state:
            is_table_locked = bool(_conflicting_table_owners(state, owner, exclusive))
            return self._wait(
                claim, table, state, ISAM_TABLE_LOCKED if is_table_locked else ISAM_LOCKED, blockers
            )

    def last_commit_of(self, table: TableKey) -> int:
        """Return the number of the last commit that changed a table, 0 for none."""
        return self._last_commits.get(table, 0)

    # ---- releasing ------------------------------------------------------------------------------
    def release(self, owner: Owner, *, committed: bool, keep: Collection[TableKey] = ()) -> None:
        """Release all locks of an owner except those of LOCK TABLE on the tables in `keep`.

        `committed` says that its changes are now visible to all.
        """
        with self._lock:
            owned = self._rows_by_owner.pop(owner, None)
            if owned is None:
                return
            wrote = [table for table in owned if self._has_written(owner, table)] if committed else ()
            if wrote:
                self.last_commit += 1
                for table in wrote:
                    self._last_commits[table] = self.last_commit
            for table, keys in owned.items():
                state = self._tables[table]
                for key in keys:
                    self._forget_row(state, key, owner)
                state.inserted_keys.pop(owner, None)
                state.writers.discard(owner)
                modes = state.table_modes.pop(owner, None)
                if modes and table in keep:
                    modes &= {LockMode.SHARE, LockMode.EXCLUSIVE}
                    if modes:
                        state.table_modes[owner] = modes
                        self._owned_rows(owner, table)
                    if LockMode.EXCLUSIVE in modes:
                        state.writers.add(owner)
                if state.is_unused:
                    del self._tables[table]
            self._notify()

    def release_row(self, owner: Owner, table: TableKey, key: RowKey) -> None:
        """Release an UPDATE or SHARE lock on a row that was not changed."""
        with self._lock:
            state = self._tables.get(table)
            held = state.row_modes.get(key, {}).get(owner) if state is not None else None
            if state is not None and held in (LockMode.UPDATE, LockMode.SHARE):
                self._forget_row(state, key, owner)
                self._rows_by_owner[owner][table].discard(key)
                self._forget_holder(owner, table, state)
                self._notify()

    def wake(self) -> None:
        """Make all waiting owners check whether they were interrupted."""
        with self._lock:
            self._released.notify_all()

    # ---- internals ------------------------------------------------------------------------------
    @contextmanager
    def _table_locks(self, table: TableKey) -> Iterator[_TableLocks]:
        """Return the locks of a table for one request. The entry is removed afterwards if it is unused."""
        with self._lock:
            state = self._tables.setdefault(table, _TableLocks())
            try:
                yield state
            finally:
                if state.is_unused:
                    del self._tables[table]

    def _lock_unlocked_table(self, owner: Owner, table: TableKey, mode: LockMode) -> _TableLocks:
        """Lock a table that has no locks, which never needs to wait."""
        state = self._tables[table] = _TableLocks()
        state.table_modes[owner] = {mode}
        if mode is LockMode.EXCLUSIVE:
            state.writers.add(owner)
        self._owned_rows(owner, table)
        return state

    def _notify(self) -> None:
        """Make all waiting owners check again after a release."""
        if self._blockers_by_waiter:
            self._released.notify_all()

    def _owned_rows(self, owner: Owner, table: TableKey) -> set[RowKey]:
        """Return the rows of a table that an owner holds.

        This registers the owner as a holder of locks of the table, so it may only be called once it has one.
        """
        return self._rows_by_owner.setdefault(owner, {}).setdefault(table, set())

    def _forget_holder(self, owner: Owner, table: TableKey, state: _TableLocks) -> None:
        """Remove the entries of an owner, or of a table, when the last lock is released."""
        held = self._rows_by_owner[owner][table] or owner in state.table_modes or owner in state.inserted_keys
        if not held and owner not in state.writers:
            del self._rows_by_owner[owner][table]
            if not self._rows_by_owner[owner]:
                del self._rows_by_owner[owner]
        if state.is_unused:
            del self._tables[table]

    def _has_written(self, owner: Owner, table: TableKey) -> bool:
        modes = self._tables[table].table_modes.get(owner)
        return modes is not None and (LockMode.INTENT_EXCLUSIVE in modes or LockMode.EXCLUSIVE in modes)

    @staticmethod
    def _forget_row(state: _TableLocks, key: RowKey, owner: Owner) -> None:
        holders = state.row_modes.get(key)
        if holders is not None:
            holders.pop(owner, None)
            if not holders:
                del state.row_modes[key]

    def _wait(
        self,
        claim: LockRequest,
        table: TableKey,
        state: _TableLocks,
        isam: int,
        blockers: Callable[[], set[Owner]],
    ) -> bool:
        """Wait until there are no blockers; return True if there were some. Raises SqlError otherwise."""
        if not blockers():
            return False
        deadline = time.monotonic() + claim.timeout
        self._blockers_by_waiter[claim.owner], self._waiting_for[claim.owner] = blockers, table
        state.waiter_count += 1
        try:
            while blockers():
                if claim.interrupted():
                    raise SqlError(-213, ISAM_INTERRUPTED)
                if claim.timeout == 0:
                    raise SqlError(claim.sqlcode, isam, 0, table[1])
                if self._is_deadlocked(claim.owner):
                    raise SqlError(claim.sqlcode, ISAM_DEADLOCK, 0, table[1])
                remaining = deadline - time.monotonic() if claim.timeout > 0 else _POLL_SECONDS
                if remaining <= 0:
                    raise SqlError(claim.sqlcode, ISAM_LOCK_TIMEOUT, 0, table[1])
                self._released.wait(min(remaining, _POLL_SECONDS))
        finally:
            del self._blockers_by_waiter[claim.owner], self._waiting_for[claim.owner]
            state.waiter_count -= 1
        return True

    def _is_deadlocked(self, owner: Owner) -> bool:
        """Return whether a session that `owner` waits for waits, directly or not, for `owner`."""
        visited: set[Owner] = set()
        to_visit = list(self._blockers_by_waiter[owner]())
        while to_visit:
            other = to_visit.pop()
            if other is owner:
                return True
            if other not in visited:
                visited.add(other)
                blockers = self._blockers_by_waiter.get(other)
                if blockers is not None:
                    to_visit += blockers()
        return False


def _has_other_writers(state: _TableLocks, owner: Owner) -> bool:
    """Return whether another owner has uncommitted inserted or changed rows."""
    return len(state.inserted_keys) > (owner in state.inserted_keys) or len(state.writers) > (
        owner in state.writers
    )


def _conflicting_table_owners(state: _TableLocks, owner: Owner, modes: frozenset[LockMode]) -> set[Owner]:
    return {other for other, held in state.table_modes.items() if other is not owner and held & modes}


def _conflicting_row_owners(
    state: _TableLocks, key: RowKey, owner: Owner, modes: frozenset[LockMode]
) -> set[Owner]:
    held = state.row_modes.get(key)
    return {other for other, mode in held.items() if other is not owner and mode in modes} if held else set()
