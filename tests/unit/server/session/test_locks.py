"""The lock manager compared with a simple model: random requests, refusals, waits, deadlocks, interrupts and releases.

The model is a plain list of the locks of each owner, and two tables of compatible locks, written independently.
Requests that wait run in threads. The outcomes of the threads are compared with the model in the order in which they
arrive, so the tests do not depend on time.
"""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from tests.internals import blockers_by_waiter, lock_tables, rows_by_owner
from tests.stress import seeds

from informix_arrow.server.errors import SqlError
from informix_arrow.server.session.locks import LockMode, LockRequest, Locks

PATIENCE = 60.0
"""Timeout of a test in seconds: only a hang takes so long."""

TABLES = (("stores_demo", "parts"), ("stores_demo", "größen"))
KEYS = ((-1,), (0,), (2147483647,), ("kö",))
NEEDED_ALONE = {
    "intent_share": {"exclusive"},
    "intent_exclusive": {"share", "exclusive"},
    "share": {"intent_exclusive", "exclusive"},
}
NEEDED_ALONE["exclusive"] = {"intent_share", "intent_exclusive", "share", "exclusive"}
ROWS_APART = {"share": {"exclusive"}, "update": {"update", "exclusive"}}
ROWS_APART["exclusive"] = {"share", "update", "exclusive"}
STRENGTH = {"share": 1, "update": 2, "exclusive": 3}
CODE = -244
PRIMARY = "u100_1"


@dataclass(frozen=True)
class Held:
    """One lock of an owner, of `kind` "table", "row", "key" (an inserted one) or "writes"."""

    owner: str
    table: tuple[str, str]
    kind: str
    what: object = None
    mode: str = ""


@dataclass(frozen=True)
class Request:
    """A request for locks, of `kind` "table", "rows", "inserted" or "read"."""

    owner: str
    table: tuple[str, str]
    kind: str
    mode: str = ""
    keys: tuple[Any, ...] | None = ()
    constraint: str = PRIMARY


class Model:
    """The expected state of the lock manager."""

    def __init__(self) -> None:
        self.held: set[Held] = set()
        self.waiting: dict[str, Request] = {}
        self.sequence = 0
        self.committed: dict[tuple[str, str], int] = {}

    def others(self, owner: str, table: tuple[str, str]) -> list[Held]:
        return [h for h in self.held if h.owner != owner and h.table == table]

    def writes(self, h: Held) -> bool:
        return h.kind in ("key", "writes") or (h.kind in ("row", "table") and h.mode == "exclusive")

    def blockers(self, r: Request) -> set[str]:
        others = self.others(r.owner, r.table)
        if r.kind == "table":
            return {h.owner for h in others if h.kind == "table" and h.mode in NEEDED_ALONE[r.mode]}
        if r.kind == "rows":
            wanted = [key for key in r.keys or () if not self.has_row(r, key)]
            return {
                h.owner
                for h in others
                if h.kind == "row" and h.what in wanted and h.mode in ROWS_APART[r.mode]
            }
        if r.kind == "inserted":
            keys = {(r.constraint, key) for key in r.keys or ()}
            found = {h.owner for h in others if h.kind == "key" and h.what in keys}
            if r.constraint == PRIMARY and any(self.writes(h) for h in others):
                found |= {
                    h.owner
                    for h in others
                    if h.kind == "row" and h.mode == "exclusive" and h.what in (r.keys or ())
                }
            return found
        if r.keys is None:
            return {h.owner for h in others if self.writes(h)}
        return {
            h.owner
            for h in others
            if h.mode == "exclusive" and (h.kind == "table" or (h.kind == "row" and h.what in r.keys))
        }

    def has_row(self, r: Request, key: object) -> bool:
        return any(
            h.owner == r.owner
            and h.table == r.table
            and h.kind == "row"
            and h.what == key
            and STRENGTH[h.mode] >= STRENGTH[r.mode]
            for h in self.held
        )

    def take(self, r: Request) -> bool:
        """Record the locks of a granted request, and return whether any of them is new."""
        if r.kind == "table":
            new = Held(r.owner, r.table, "table", None, r.mode)
            known = new in self.held
            self.held.add(new)
            return not known
        if r.kind == "rows":
            taken = [self.take_row(r, key) for key in r.keys or ()]  # all of them, not until the first True
            return any(taken)
        if r.kind == "inserted":
            self.held |= {Held(r.owner, r.table, "key", (r.constraint, key)) for key in r.keys or ()}
            self.held.add(Held(r.owner, r.table, "writes"))
        return True

    def take_row(self, r: Request, key: object) -> bool:
        if self.has_row(r, key):
            return False
        self.held = {
            h for h in self.held if (h.owner, h.table, h.kind, h.what) != (r.owner, r.table, "row", key)
        }
        self.held.add(Held(r.owner, r.table, "row", key, r.mode))
        return True

    def release(self, owner: str, committed: bool, keep: Collection[tuple[str, str]]) -> None:
        mine = {h for h in self.held if h.owner == owner}
        wrote = {h.table for h in mine if h.kind == "table" and h.mode in ("intent_exclusive", "exclusive")}
        if committed and wrote:
            self.sequence += 1
            self.committed.update(dict.fromkeys(wrote, self.sequence))
        kept = {h for h in mine if h.kind == "table" and h.table in keep and h.mode in ("share", "exclusive")}
        self.held -= mine - kept

    def leave(self, owner: str, table: tuple[str, str], key: object) -> None:
        self.held = {
            h
            for h in self.held
            if (h.owner, h.table, h.kind, h.what) != (owner, table, "row", key) or h.mode == "exclusive"
        }

    def in_circle(self, r: Request) -> bool:
        """Return whether the owners that a request would wait for wait, directly or not, for the requesting one."""
        seen: set[str] = set()
        ahead = list(self.blockers(r))
        while ahead:
            other = ahead.pop()
            if other == r.owner:
                return True
            if other not in seen and other in self.waiting:
                ahead += self.blockers(self.waiting[other])
            seen.add(other)
        return False


class Book:
    """The lock manager and the model, which receive the same requests."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.locks = Locks()
        self.model = Model()
        self.owners = ("ann", "bob", "eve", "joe")
        self.ended: queue.Queue[tuple[str, object]] = queue.Queue()
        self.interrupted = {owner: threading.Event() for owner in self.owners}

    # ---- the book ------------------------------------------------------------------------------
    def ask(self, r: Request, wait: float, asked: Callable[[], None] = lambda: None) -> object:
        """Send a request and return its outcome: True or False, or the ISAM code of its refusal."""

        def must_end() -> bool:
            asked()
            return self.interrupted[r.owner].is_set()

        claim = LockRequest(r.owner, wait, must_end, CODE)
        try:
            if r.kind == "table":
                return self.locks.lock_table(claim, r.table, LockMode[r.mode.upper()])
            if r.kind == "rows":
                return self.locks.lock_rows(claim, r.table, r.keys or (), LockMode[r.mode.upper()])
            if r.kind == "inserted":
                parts = [part for (part,) in r.keys or ()]
                column = pa.array([str(part) for part in parts])
                return self.locks.lock_inserted(claim, r.table, {r.constraint: [column]}, PRIMARY)
            return self.locks.wait_until_readable(claim, r.table, r.keys)
        except SqlError as refused:
            if refused.sqlcode != (-213 if refused.isamcode == -157 else CODE):
                raise
            return refused.isamcode

    def refusal(self, r: Request) -> int:
        if r.kind == "read":
            others = [h for h in self.model.held if h.owner != r.owner and h.table == r.table]
            return -113 if any(h.kind == "table" and h.mode == "exclusive" for h in others) else -107
        return {"table": -113, "rows": -107, "inserted": -144}[r.kind]

    # ---- steps ---------------------------------------------------------------------------------
    def step(self) -> None:
        idle = [owner for owner in self.owners if owner not in self.model.waiting]
        if not idle or (self.model.waiting and self.chance.random() < 0.08):
            self.interrupt(self.chance.choice(list(self.model.waiting)))
            return
        owner = self.chance.choice(idle)
        what = self.chance.random()
        if what < 0.22:
            self.release(owner)
        elif what < 0.3:
            self.leave(owner)
        else:
            self.request(self.any_request(owner))
        self.compare()

    def any_request(self, owner: str) -> Request:
        chance, table = self.chance, self.chance.choice(TABLES)
        kind = chance.choice(["table", "rows", "rows", "rows", "inserted", "read"])
        if kind == "table":
            return Request(
                owner,
                table,
                kind,
                chance.choice(
                    ["intent_share", "intent_share", "intent_exclusive", "intent_exclusive", *NEEDED_ALONE]
                ),
            )
        keys = tuple(chance.sample(KEYS, chance.choice([0, 1, 1, 1, 2, 4])))
        if kind == "rows":
            return Request(owner, table, kind, chance.choice(list(ROWS_APART)), keys)
        if kind == "inserted":
            texts = tuple((str(part),) for (part,) in keys)
            return Request(owner, table, kind, keys=texts, constraint=chance.choice([PRIMARY, "i_2"]))
        return Request(owner, table, kind, keys=chance.choice([None, keys]))

    def request(self, r: Request) -> None:
        model = self.model
        if not model.blockers(r):
            known = r.kind in ("inserted", "read")  # these return whether they waited
            new = model.take(r)
            assert self.ask(r, self.chance.choice([0, 5, -1])) == (False if known else new), r
        elif (r.keys and len(r.keys) > 1) or self.chance.random() < 0.4:
            self.refused(r, 0, self.refusal(r))
        elif model.in_circle(r):
            self.refused(r, -1, -143)
        elif self.chance.random() < 0.1:
            self.refused(r, 0.001, -154)
        else:
            self.wait(r)

    def refused(self, r: Request, wait: float, code: int) -> None:
        """Send a request that must be refused. Only its rows before the one that another owner has stay locked."""
        assert self.ask(r, wait) == code, r
        if r.kind == "rows":
            for key in r.keys or ():
                if self.model.blockers(Request(r.owner, r.table, "rows", r.mode, (key,))):
                    return
                self.model.take_row(r, key)

    def wait(self, r: Request) -> None:
        waits = threading.Event()

        def work() -> None:
            self.ended.put((r.owner, self.ask(r, -1, waits.set)))

        self.model.waiting[r.owner] = r
        threading.Thread(target=work, daemon=True).start()
        assert waits.wait(PATIENCE), f"it does not wait: {r}"

    def release(self, owner: str) -> None:
        committed = self.chance.random() < 0.5
        keep = [table for table in TABLES if self.chance.random() < 0.15]
        self.locks.release(owner, committed=committed, keep=keep)
        self.model.release(owner, committed, keep)
        self.settle()

    def leave(self, owner: str) -> None:
        table, key = self.chance.choice(TABLES), self.chance.choice(KEYS)
        self.locks.release_row(owner, table, key)
        self.model.leave(owner, table, key)
        self.settle()

    def interrupt(self, owner: str) -> None:
        self.interrupted[owner].set()
        self.locks.wake()
        assert self.ended.get(timeout=PATIENCE) == (owner, -157)
        self.interrupted[owner].clear()
        del self.model.waiting[owner]

    def settle(self) -> None:
        """Wait for the outcomes of requests that are no longer blocked. Of several that exclude each other, one is
        granted."""
        model = self.model
        while any(not model.blockers(r) for r in model.waiting.values()):
            owner, outcome = self.ended.get(timeout=PATIENCE)
            r = model.waiting.pop(owner)
            assert not model.blockers(r), f"given, although others hold it: {r}"
            model.take(r)
            assert outcome is True, r

    def compare(self) -> None:
        """Check that the lock manager has exactly the locks of the model."""
        model, locks = self.model, self.locks
        wanted = {r.table for r in model.waiting.values()}
        assert set(lock_tables(locks)) == {h.table for h in model.held} | wanted
        mine = {(owner, table) for owner, tables in rows_by_owner(locks).items() for table in tables}
        assert mine == {(h.owner, h.table) for h in model.held}
        assert set(blockers_by_waiter(locks)) == set(model.waiting)
        assert locks.last_commit == model.sequence
        for table in TABLES:
            assert locks.last_commit_of(table) == model.committed.get(table, 0)
            for owner in self.owners:
                others = [h for h in model.held if h.owner != owner and h.table == table]
                assert locks.has_uncommitted_changes(owner, table) == any(map(model.writes, others))

    def end(self) -> None:
        while self.model.waiting:
            self.interrupt(next(iter(self.model.waiting)))
        for owner in self.owners:
            self.locks.release(owner, committed=False)
        assert (lock_tables(self.locks), rows_by_owner(self.locks), blockers_by_waiter(self.locks)) == (
            {},
            {},
            {},
        )


def work_at_random(seed: int) -> None:
    book = Book(seed)
    for _ in range(250):
        book.step()
    book.end()


def test_the_book_of_locks_does_what_its_model_does() -> None:
    for seed in range(1, 21):
        work_at_random(seed)


@pytest.mark.soak
def test_the_book_of_locks_does_what_its_model_does_for_long() -> None:
    for seed in seeds(21):
        work_at_random(seed)


def test_a_refused_request_leaves_nothing_behind() -> None:
    locks = Locks()

    def claim(owner: str) -> LockRequest:
        return LockRequest(owner, 0, lambda: False, CODE)

    table = TABLES[0]
    requests: list[Callable[[str], object]] = [
        lambda owner: locks.lock_table(claim(owner), table, LockMode.INTENT_EXCLUSIVE),
        lambda owner: locks.lock_rows(claim(owner), table, [(1,)], LockMode.UPDATE),
        lambda owner: locks.lock_inserted(claim(owner), table, {PRIMARY: [pa.array([1, None, 7])]}, PRIMARY),
        lambda owner: locks.wait_until_readable(claim(owner), table, None),
    ]
    for request in requests:
        locks.lock_table(claim("holder"), table, LockMode.EXCLUSIVE)
        locks.lock_rows(claim("holder"), table, [(1,)], LockMode.EXCLUSIVE)
        locks.lock_inserted(claim("holder"), table, {PRIMARY: [pa.array([7])]}, PRIMARY)
        with pytest.raises(SqlError):
            request("refused")
        assert list(rows_by_owner(locks)) == ["holder"]
        locks.release("holder", committed=True)
        locks.release("refused", committed=True)
        assert (lock_tables(locks), rows_by_owner(locks)) == ({}, {})
