"""Locks on tables, rows and keys between the sessions of one engine (SERVER-BEHAVIOUR sections 1 and 2).

DuckDB lets two transactions write one row as long as they write different columns of it, and finds a key that
was inserted twice at COMMIT only. So who may write what is decided here, before DuckDB is asked. A lock is held
until its owner's transaction ends; who must wait for one waits for the other's end, or is refused at once, as
its lock mode says.

A row is known by its identity: the values of its primary key, or else DuckDB's row id (planning/keyed.py).
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

MAX_ROWS = 10_000
"""Rows that one statement locks one by one; above, it locks the table."""

_LOOK_AGAIN = 1.0
"""Seconds after which a waiting session looks for an interrupt that it may have missed."""

Table = tuple[str, str]
"""Database and name. Names that do not exist yet can be locked, too: CREATE TABLE does."""
Key = tuple[Any, ...]
Owner = object


class Mode(IntEnum):
    """`REFER` is the intent of keeping single rows of a table as they are, `WRITE` that of changing some. `UPDATE` is
    what FOR UPDATE puts on a row: others may read it, but not update it."""

    REFER = 0
    WRITE = 1
    SHARE = 2
    UPDATE = 3
    EXCLUSIVE = 4


_TABLE_CLASHES = {
    Mode.REFER: frozenset({Mode.EXCLUSIVE}),
    Mode.WRITE: frozenset({Mode.SHARE, Mode.EXCLUSIVE}),
    Mode.SHARE: frozenset({Mode.WRITE, Mode.EXCLUSIVE}),
    Mode.EXCLUSIVE: frozenset(Mode),
}
_ROW_CLASHES = {
    Mode.SHARE: frozenset({Mode.EXCLUSIVE}),
    Mode.UPDATE: frozenset({Mode.UPDATE, Mode.EXCLUSIVE}),
    Mode.EXCLUSIVE: frozenset({Mode.SHARE, Mode.UPDATE, Mode.EXCLUSIVE}),
}


@dataclass(frozen=True, slots=True)
class Claim:
    """Who wants a lock, and what becomes of it when another has it.

    Attributes
    ----------
    wait
        Seconds to wait: 0 not at all (SET LOCK MODE TO NOT WAIT), below 0 for ever.
    interrupted
        Whether the wait has to end, with -213.
    sqlcode
        Of the error; its ISAM code tells why, its token is the table.
    """

    owner: Owner
    wait: float
    interrupted: Callable[[], bool]
    sqlcode: int


@dataclass(frozen=True, slots=True)
class Held:
    """One lock, of a row (`of_row`) or of a table, and one of those who wait for its owner there."""

    table: Table
    of_row: bool
    mode: Mode
    owner: Owner
    waiter: Owner | None


class _Inserted:
    """Keys of rows that one transaction has inserted, by the name of the constraint or index. They are kept as
    the Arrow columns that were inserted, and looked at when another session inserts into the same table."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Sequence[Any]]] = {}
        self._keys: dict[str, set[Key]] = {}

    def add(self, keys: Mapping[str, Sequence[Any]]) -> None:
        for name, columns in keys.items():
            self._columns.setdefault(name, []).append(columns)

    def of(self, name: str) -> set[Key]:
        found = self._keys.setdefault(name, set())
        for columns in self._columns.pop(name, ()):
            found |= _keys_of(columns)
        return found


def _keys_of(columns: Sequence[Any]) -> set[Key]:
    """Keys of columns, Arrow's or lists. NULL is a value like others in them."""
    values = [column if isinstance(column, list) else column.to_pylist() for column in columns]
    return set(zip(*values, strict=True))


@dataclass(slots=True)
class _State:
    """What is locked of one table. `writers` have rows that others may not read yet; `waiting` counts those who wait
    for any of it."""

    modes: dict[Owner, set[Mode]] = field(default_factory=dict)
    rows: dict[Key, dict[Owner, Mode]] = field(default_factory=dict)
    inserted: dict[Owner, _Inserted] = field(default_factory=dict)
    writers: set[Owner] = field(default_factory=set)
    waiting: int = 0

    @property
    def idle(self) -> bool:
        """Whether nobody holds or wants any of it."""
        return not (self.modes or self.rows or self.inserted or self.writers or self.waiting)


class Locks:
    """All locks of an engine. Thread-safe; only the methods that take a `Claim` may wait."""

    def __init__(self) -> None:
        self._lock = (
            threading.RLock()
        )  # taken without the condition's detour, several times for each statement
        self._changed = threading.Condition(self._lock)
        self._tables: dict[Table, _State] = {}
        self._mine: dict[Owner, dict[Table, set[Key]]] = {}  # where an owner has locks, and on which rows
        self._waiting: dict[Owner, Callable[[], set[Owner]]] = {}
        self._wanted: dict[Owner, Table] = {}  # where they wait
        self._committed: dict[Table, int] = {}
        self.sequence = 0
        """Number of the last commit; `committed_at` tells that of a table."""

    # ---- looking ----------------------------------------------------------------------------------
    def held(self) -> list[Held]:
        """What is locked now."""
        found = []
        with self._lock:
            for table, state in self._tables.items():
                waiting: dict[Owner, Owner] = {}
                for waiter, wanted in self._wanted.items():
                    if wanted == table:
                        waiting.update(dict.fromkeys(self._waiting[waiter](), waiter))
                for owner, modes in state.modes.items():
                    found += [Held(table, False, mode, owner, waiting.get(owner)) for mode in modes]
                for holders in state.rows.values():
                    for owner, mode in holders.items():
                        found.append(Held(table, True, mode, owner, waiting.get(owner)))
        return found

    # ---- taking ---------------------------------------------------------------------------------
    def lock_table(self, claim: Claim, table: Table, mode: Mode) -> bool:
        """Lock a table; False when the owner had that lock already."""
        with self._lock:
            if table not in self._tables:
                self._alone(claim.owner, table, mode)
                return True
            return self._lock_table(claim, table, mode)

    def _lock_table(self, claim: Claim, table: Table, mode: Mode) -> bool:
        with self._of(table) as state:
            if mode in state.modes.get(claim.owner, ()):
                return False
            clashes = _TABLE_CLASHES[mode]
            self._wait(
                claim, table, state, ISAM_TABLE_LOCKED, lambda: _others_with(state, claim.owner, clashes)
            )
            self._rows_of(claim.owner, table)
            state.modes.setdefault(claim.owner, set()).add(mode)
            if mode is Mode.EXCLUSIVE:
                state.writers.add(claim.owner)
            return True

    def lock_rows(self, claim: Claim, table: Table, keys: Iterable[Key], mode: Mode) -> bool:
        """Lock rows, one after the other; False when the owner had all these locks already. A stronger lock
        replaces a weaker one."""
        owner, clashes, new = claim.owner, _ROW_CLASHES[mode], False
        with self._of(table) as state:
            for key in keys:
                holders = state.rows.get(key)
                if holders is None:
                    holders = state.rows[key] = {}
                elif owner in holders and holders[owner] >= mode:
                    continue
                elif len(holders) > (owner in holders):
                    self._wait(claim, table, state, ISAM_LOCKED, lambda: _holders(state, key, owner, clashes))  # noqa: B023
                    holders = state.rows.setdefault(key, {})
                if not new:  # a refusal must not leave a trace, but the rows before it are kept
                    mine = self._rows_of(owner, table)
                    new = True
                    if mode is Mode.EXCLUSIVE:
                        state.writers.add(owner)
                holders[owner] = mode
                mine.add(key)
            return new

    def lock_row(self, claim: Claim, table: Table, key: Key) -> Callable[[], None] | None:
        """Lock one row to change it, and its table for that. What gives the row back as if nobody had wanted it, for
        when it turns out not to be there; None when the owner had it already."""
        owner = claim.owner
        with self._lock:  # again inside: who has to wait lets go of all of it
            if table not in self._tables:
                state = self._alone(owner, table, Mode.WRITE)
                state.rows[key] = {owner: Mode.EXCLUSIVE}
                state.writers.add(owner)
                self._mine[owner][table].add(key)
                return partial(self._unlock_row, state, owner, table, key, None, False)
            self.lock_table(claim, table, Mode.WRITE)
            state = self._tables[table]
            writer, before = owner in state.writers, state.rows.get(key, {}).get(owner)
            if not self.lock_rows(claim, table, (key,), Mode.EXCLUSIVE):
                return None
            return partial(self._unlock_row, state, owner, table, key, before, writer)

    def _unlock_row(
        self, state: _State, owner: Owner, table: Table, key: Key, before: Mode | None, writer: bool
    ) -> None:
        """Back to what an owner had of a row `before`, and whether it was a `writer`."""
        with self._lock:
            if before is None:
                self._forget_row(state, key, owner)
                self._mine[owner][table].discard(key)
            else:
                state.rows[key][owner] = before
            if not writer:
                state.writers.discard(owner)
            self._notify()

    def lock_inserted(
        self, claim: Claim, table: Table, keys: Mapping[str, Sequence[Any]], identity: str
    ) -> bool:
        """Keys that are about to be inserted: columns, Arrow's or lists, by the name of the constraint, of which
        `identity` is the primary key's. True when another session's keys had to be waited for."""
        owner = claim.owner
        mine: dict[str, set[Key]] = {}

        def own(name: str) -> set[Key]:
            if name not in mine:
                mine[name] = _keys_of(keys[name])
            return mine[name]

        def blockers() -> set[Owner]:
            found = {
                other
                for other, inserted in state.inserted.items()
                if other is not owner and any(own(name) & inserted.of(name) for name in keys)
            }
            if identity in keys and state.writers - {owner}:
                for key in own(identity) & state.rows.keys():
                    found |= _holders(state, key, owner, _ROW_CLASHES[Mode.SHARE])
            return found

        with self._of(table) as state:
            waited = _is_shared(state, owner) and self._wait(claim, table, state, ISAM_KEY_LOCKED, blockers)
            self._rows_of(owner, table)
            state.inserted.setdefault(owner, _Inserted()).add(keys)
            state.writers.add(owner)
            return waited

    def written(self, owner: Owner, table: Table) -> None:
        """Rows without keys are inserted: there is nothing that another could clash with but its reading."""
        with self._of(table) as state:
            self._rows_of(owner, table)
            state.writers.add(owner)

    @contextmanager
    def still(self, claim: Claim, table: Table) -> Iterator[None]:
        """Wait until nobody changes rows of a table, in a transaction that is not over; nobody gets a lock on anything
        before the block is done, so that it must be short."""
        changing = frozenset({Mode.WRITE, Mode.EXCLUSIVE})
        with self._of(table) as state:
            self._wait(
                claim, table, state, ISAM_TABLE_LOCKED, lambda: _others_with(state, claim.owner, changing)
            )
            yield

    # ---- looking --------------------------------------------------------------------------------
    def changes(self, owner: Owner, table: Table) -> bool:
        """Whether an owner has a lock with which it may change rows of a table."""
        with self._lock:
            state = self._tables.get(table)
            return state is not None and bool(state.modes.get(owner, set()) & {Mode.WRITE, Mode.EXCLUSIVE})

    def is_written(self, owner: Owner, table: Table) -> bool:
        """Whether another session has uncommitted work in a table."""
        with self._lock:
            state = self._tables.get(table)
            return state is not None and not state.writers <= {owner}

    def await_readable(self, claim: Claim, table: Table, keys: Collection[Key] | None) -> bool:
        """Wait until no other session has changed any of these rows, or, with None, any row of the table. True
        when it took waiting."""
        owner = claim.owner
        exclusive = frozenset({Mode.EXCLUSIVE})

        def blockers() -> set[Owner]:
            if keys is None:
                return state.writers - {owner}
            found = _others_with(state, owner, exclusive)
            for key in keys:
                found |= _holders(state, key, owner, exclusive)
            return found

        with self._of(table) as state:
            whole = bool(_others_with(state, owner, exclusive))
            return self._wait(claim, table, state, ISAM_TABLE_LOCKED if whole else ISAM_LOCKED, blockers)

    def committed_at(self, table: Table) -> int:
        """The number of the last commit that changed a table, 0 for none."""
        return self._committed.get(table, 0)

    # ---- giving back ----------------------------------------------------------------------------
    def release(self, owner: Owner, *, committed: bool, keep: Collection[Table] = ()) -> None:
        """All locks of an owner but those on the tables in `keep`, which LOCK TABLE put there. `committed` tells
        that what it wrote is there for all now."""
        with self._lock:
            mine = self._mine.pop(owner, None)
            if mine is None:
                return
            wrote = [table for table in mine if self._wrote(owner, table)] if committed else ()
            if wrote:
                self.sequence += 1
                for table in wrote:
                    self._committed[table] = self.sequence
            for table, keys in mine.items():
                state = self._tables[table]
                for key in keys:
                    self._forget_row(state, key, owner)
                state.inserted.pop(owner, None)
                state.writers.discard(owner)
                modes = state.modes.pop(owner, None)
                if modes and table in keep:
                    modes &= {Mode.SHARE, Mode.EXCLUSIVE}
                    if modes:
                        state.modes[owner] = modes
                        self._rows_of(owner, table)
                    if Mode.EXCLUSIVE in modes:
                        state.writers.add(owner)
                if state.idle:
                    del self._tables[table]
            self._notify()

    def release_row(self, owner: Owner, table: Table, key: Key) -> None:
        """An UPDATE or SHARE lock on a row that was left without being changed."""
        with self._lock:
            state = self._tables.get(table)
            held = state.rows.get(key, {}).get(owner) if state is not None else None
            if state is not None and held in (Mode.UPDATE, Mode.SHARE):
                self._forget_row(state, key, owner)
                self._mine[owner][table].discard(key)
                self._forget_holder(owner, table, state)
                self._notify()

    def wake(self) -> None:
        """Some session was interrupted: who waits looks whether it was itself."""
        with self._lock:
            self._changed.notify_all()

    # ---- inside ---------------------------------------------------------------------------------
    @contextmanager
    def _of(self, table: Table) -> Iterator[_State]:
        """What is locked of a table, for one request: afterwards it is forgotten where nobody has got anything."""
        with self._lock:
            state = self._tables.setdefault(table, _State())
            try:
                yield state
            finally:
                if state.idle:
                    del self._tables[table]

    def _alone(self, owner: Owner, table: Table, mode: Mode) -> _State:
        """A lock on a table of which nobody has any: there is nobody to wait for."""
        state = self._tables[table] = _State()
        state.modes[owner] = {mode}
        if mode is Mode.EXCLUSIVE:
            state.writers.add(owner)
        self._rows_of(owner, table)
        return state

    def _notify(self) -> None:
        """Something was given back: whoever waits looks again."""
        if self._waiting:
            self._changed.notify_all()

    def _rows_of(self, owner: Owner, table: Table) -> set[Key]:
        """The rows of a table that an owner holds. From here on the owner is known to hold something of the table: only
        who has got a lock may ask."""
        return self._mine.setdefault(owner, {}).setdefault(table, set())

    def _forget_holder(self, owner: Owner, table: Table, state: _State) -> None:
        """Nothing is known of an owner, or of a table, when the last lock has gone."""
        held = self._mine[owner][table] or owner in state.modes or owner in state.inserted
        if not held and owner not in state.writers:
            del self._mine[owner][table]
            if not self._mine[owner]:
                del self._mine[owner]
        if state.idle:
            del self._tables[table]

    def _wrote(self, owner: Owner, table: Table) -> bool:
        modes = self._tables[table].modes.get(owner)
        return modes is not None and (Mode.WRITE in modes or Mode.EXCLUSIVE in modes)

    @staticmethod
    def _forget_row(state: _State, key: Key, owner: Owner) -> None:
        holders = state.rows.get(key)
        if holders is not None:
            holders.pop(owner, None)
            if not holders:
                del state.rows[key]

    def _wait(
        self, claim: Claim, table: Table, state: _State, isam: int, blockers: Callable[[], set[Owner]]
    ) -> bool:
        """Wait until there are no blockers; True when there were some. SqlError otherwise."""
        if not blockers():
            return False
        deadline = time.monotonic() + claim.wait
        self._waiting[claim.owner], self._wanted[claim.owner] = blockers, table
        state.waiting += 1
        try:
            while blockers():
                if claim.interrupted():
                    raise SqlError(-213, ISAM_INTERRUPTED)
                if claim.wait == 0:
                    raise SqlError(claim.sqlcode, isam, 0, table[1])
                if self._waits_for_itself(claim.owner):
                    raise SqlError(claim.sqlcode, ISAM_DEADLOCK, 0, table[1])
                left = deadline - time.monotonic() if claim.wait > 0 else _LOOK_AGAIN
                if left <= 0:
                    raise SqlError(claim.sqlcode, ISAM_LOCK_TIMEOUT, 0, table[1])
                self._changed.wait(min(left, _LOOK_AGAIN))
        finally:
            del self._waiting[claim.owner], self._wanted[claim.owner]
            state.waiting -= 1
        return True

    def _waits_for_itself(self, owner: Owner) -> bool:
        """Whether the sessions that `owner` waits for wait, directly or not, for `owner`."""
        seen: set[Owner] = set()
        ahead = list(self._waiting[owner]())
        while ahead:
            other = ahead.pop()
            if other is owner:
                return True
            if other not in seen:
                seen.add(other)
                blockers = self._waiting.get(other)
                if blockers is not None:
                    ahead += blockers()
        return False


def _is_shared(state: _State, owner: Owner) -> bool:
    """Whether another has inserted or changed rows that are not committed."""
    return len(state.inserted) > (owner in state.inserted) or len(state.writers) > (owner in state.writers)


def _others_with(state: _State, owner: Owner, modes: frozenset[Mode]) -> set[Owner]:
    return {other for other, held in state.modes.items() if other is not owner and held & modes}


def _holders(state: _State, key: Key, owner: Owner, modes: frozenset[Mode]) -> set[Owner]:
    held = state.rows.get(key)
    return {other for other, mode in held.items() if other is not owner and mode in modes} if held else set()
