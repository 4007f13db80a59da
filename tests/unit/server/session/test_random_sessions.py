"""Random work of several sessions, compared with a model of the rows that each of them must see.

The model has one dictionary per table for committed rows, and one per session for its changes: a row that a session has
changed is locked, so no other session can change it meanwhile. Refused statements change nothing.
"""

from __future__ import annotations

import random
import threading
from contextlib import contextmanager

import pytest
from tests.internals import lock_tables, rows_by_owner
from tests.stress import seeds
from tests.unit.server.sql_session import connect, open_engine

from informix_arrow.server.errors import SqlError
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.prepared_plan import StatementOutcome

KEYS = range(12)
SESSIONS, STEPS, PATIENCE = 4, 40, 300.0

LOCKED = {-107, -113, -143, -144, -154}

Row = tuple[int, int]
"""A row of a table with a primary key is a value and a unique number; of one without, a value and 0."""
Rows = dict[tuple[str, int], Row | None]
"""Rows by table and key; None if a session has deleted the row."""

WRONG = [
    "insert into keyed values (1, 'abc', 1)",
    "select nothing from keyed",
    "update keyed set v = 99999",
    "update bare set v = v / 0",
    "insert into keyed select k, v, u from keyed",
]


class Model:
    """The committed rows. `lock` is held while a commit is made in the database and in the model."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.rows: Rows = {}


class Worker:
    """One session, its changes, and the savepoints to which it can roll back."""

    def __init__(self, engine: Engine, model: Model, seed: int) -> None:
        self.db = connect(engine)
        self.model = model
        self.chance = random.Random(seed)
        self.changed: Rows = {}
        self.points: dict[str, Rows] = {}
        self.history: list[str] = []

    def work(self) -> None:
        for _ in range(STEPS):
            if not self.db.session.in_transaction:
                wait = self.chance.choice(["not wait", "wait 1", "wait 2"])
                self.db.run(f"set lock mode to {wait}")
                self.db.run("set isolation to dirty read")
                self.db.run("begin work")
            changes = [self.insert, self.update, self.update, self.delete, self.load, self.renumber]
            others = [self.wrong, self.savepoint, self.go_back, self.finish, self.read]
            self.chance.choice([*changes, *others])()
        if self.db.session.in_transaction:
            self.finish()
        self.db.session.close()

    # ---- helpers
    def run(self, sql: str, *params: object) -> StatementOutcome | SqlError:
        try:
            outcome: StatementOutcome | SqlError = self.db.run(sql, *params)
        except SqlError as problem:
            outcome = problem
        self.history.append(f"{sql} {params}: {outcome}")
        assert self.db.session.in_transaction, self.history
        return outcome

    def seen(self, table: str, key: int) -> Row | None:
        with self.model.lock:
            return self.changed.get((table, key), self.model.rows.get((table, key)))

    def number_is_taken(self, number: int) -> bool:
        with self.model.lock:
            rows = {**self.model.rows, **self.changed}
        return any(
            row is not None and table == "keyed" and row[1] == number for (table, _), row in rows.items()
        )

    def check(self, table: str, *keys: int) -> None:
        for key in keys:
            columns = "v, u" if table == "keyed" else "v, 0"
            found = self.db.rows(f"select {columns} from {table} where k = ?", key)
            row = self.seen(table, key)
            assert found == ([] if row is None else [row]), (table, key, row, self.history)

    def place(self) -> tuple[str, int]:
        return self.chance.choice(["keyed", "bare"]), self.chance.choice(KEYS)

    # ---- statements
    def insert(self) -> None:
        key = self.chance.choice(KEYS)
        number = 100 + self.chance.choice([key, self.chance.choice(KEYS)])
        outcome = self.run("insert into keyed values (?, 7, ?)", key, number)
        if isinstance(outcome, SqlError):
            assert outcome.isamcode in LOCKED | {-100}, self.history
            return
        assert self.seen("keyed", key) is None, self.history
        assert not self.number_is_taken(number), self.history
        self.changed["keyed", key] = (7, number)
        self.check("keyed", key)

    def update(self) -> None:
        table, key = self.place()
        outcome = self.run(f"update {table} set v = v + 1 where k = ?", key)
        if isinstance(outcome, SqlError):
            assert outcome.isamcode in LOCKED, self.history
        elif outcome.rows:
            row = self.seen(table, key)
            assert row is not None, self.history
            self.changed[table, key] = (row[0] + 1, row[1])
            self.check(table, key)

    def delete(self) -> None:
        table, key = self.place()
        outcome = self.run(f"delete from {table} where k = ?", key)
        if isinstance(outcome, SqlError):
            assert outcome.isamcode in LOCKED, self.history
        elif outcome.rows:
            assert self.seen(table, key) is not None, self.history
            self.changed[table, key] = None
            self.check(table, key)

    def load(self) -> None:
        """Insert some rows at once, some of which may exist already."""
        keys = [self.chance.choice(KEYS) for _ in range(4)]
        try:
            outcomes = self.db.many("insert into keyed values (?, 3, ?)", [(k, 100 + k) for k in keys])
        except SqlError as problem:
            outcomes = [problem] * len(keys)
        self.history.append(f"load {keys}: {outcomes}")
        for key, outcome in zip(keys, outcomes, strict=True):
            if isinstance(outcome, SqlError):
                assert outcome.isamcode in LOCKED | {-100}, self.history
            else:
                assert self.seen("keyed", key) is None, self.history
                self.changed["keyed", key] = (3, 100 + key)
                self.check("keyed", key)

    def renumber(self) -> None:
        old, new = self.chance.choice(KEYS), self.chance.choice(KEYS)
        outcome = self.run("update keyed set k = ? where k = ?", new, old)
        if isinstance(outcome, SqlError):
            assert outcome.isamcode in LOCKED | {-100}, self.history
        elif outcome.rows:
            row = self.seen("keyed", old)
            assert row is not None, self.history
            assert new == old or self.seen("keyed", new) is None, self.history
            self.changed["keyed", old] = None
            self.changed["keyed", new] = row
            self.check("keyed", old, new)

    def wrong(self) -> None:
        """Execute a statement that always fails, which must have no effect."""
        sql = self.chance.choice(WRONG)
        outcome = self.run(sql)
        if isinstance(outcome, StatementOutcome):  # on empty tables it has no rows
            assert outcome.rows == 0, self.history
        self.read()

    def savepoint(self) -> None:
        name = self.chance.choice("ab")
        self.run(f"savepoint {name}")
        self.points.pop(name, None)
        self.points[name] = dict(self.changed)

    def go_back(self) -> None:
        if not self.points:
            return
        name = self.chance.choice(list(self.points))
        outcome = self.run(f"rollback work to savepoint {name}")
        assert isinstance(outcome, StatementOutcome), self.history
        self.changed = dict(self.points[name])
        names = list(self.points)
        for later in names[names.index(name) + 1 :]:
            del self.points[later]
        self.read()

    def read(self) -> None:
        """Check that the session sees all its changes."""
        for table in ("keyed", "bare"):
            self.check(table, *[key for place, key in self.changed if place == table])

    def finish(self) -> None:
        with self.model.lock:
            if self.chance.random() < 0.75:
                self.db.run("commit work")  # is never refused
                self.model.rows.update(self.changed)
            else:
                self.db.run("rollback work")
        self.changed, self.points, self.history = {}, {}, []


@pytest.mark.soak
def test_random_work_of_many_sessions_is_what_a_model_says() -> None:
    for seed in seeds(1, 2):
        with contextmanager(open_engine)() as engine:
            random_work(engine, seed)


def random_work(engine: Engine, seed: int) -> None:
    db, model = connect(engine), Model()
    db.run("create table keyed (k integer primary key, v integer check (v < 5000), u integer unique)")
    db.run("create table bare (k integer, v integer)")
    for key in KEYS:
        db.run("insert into bare values (?, 50)", key)
        model.rows["bare", key] = (50, 0)
        if key % 2:
            db.run("insert into keyed values (?, 50, ?)", key, 100 + key)
            model.rows["keyed", key] = (50, 100 + key)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            Worker(engine, model, 100 * seed + number).work()
        except BaseException as e:  # noqa: BLE001
            failures.append(e)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(SESSIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    if failures:
        raise failures[0]
    assert not any(thread.is_alive() for thread in threads), "it hangs"
    expected = {place: row for place, row in model.rows.items() if row is not None}
    found = {("keyed", k): (v, u) for k, v, u in db.rows("select k, v, u from keyed")}
    found.update({("bare", k): (v, 0) for k, v in db.rows("select k, v from bare")})
    assert found == expected
    assert db.value("select count(*) from keyed") + db.value("select count(*) from bare") == len(expected)
    assert not lock_tables(engine.locks)
    assert not rows_by_owner(engine.locks)
