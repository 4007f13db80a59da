"""Locks and isolation between sessions of the engine: which session waits or is refused, and that no change is lost.

Tests know from the lock manager that a session in another thread waits (`waits`), never by sleeping.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.internals import lock_tables, rows_by_owner
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.session.engine import Engine

pytestmark = pytest.mark.slow

PATIENCE = 60.0
"""Timeout of a test in seconds: only a hang takes so long."""


def fill(db: Db) -> None:
    db.run("create table t (id integer primary key, b varchar(10), tail integer)")
    db.run("create table r (id integer, b varchar(10), tail integer)")
    for table in ("t", "r"):
        db.many(f"insert into {table} values (?, 'b', ?)", [(n, 70 + n) for n in (1, 2, 3, 4)])


class Job:
    """Runs a function in a thread. `result` waits for it and raises its exception."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.outcome: list[Any] = []
        self.error: list[BaseException] = []

        def run() -> None:
            try:
                self.outcome.append(work())
            except BaseException as e:  # noqa: BLE001
                self.error.append(e)

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def result(self) -> Any:
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive(), "it hangs"
        if self.error:
            raise self.error[0]
        return self.outcome[0]

    def code(self) -> tuple[int, int]:
        """Return the codes of the SqlError that the function raised."""
        with pytest.raises(SqlError) as caught:
            self.result()
        return caught.value.sqlcode, caught.value.isamcode


def waits(engine: Engine, session: Db) -> None:
    """Return when `session`, in another thread, waits for a lock."""
    event = threading.Event()
    for _ in range(int(PATIENCE / 0.005)):
        if session.session.lock_owner in engine.locks._blockers_by_waiter:
            return
        event.wait(0.005)
    raise AssertionError("it does not wait")


def codes(error: SqlError) -> tuple[int, int, str]:
    return error.sqlcode, error.isamcode, error.near


TABLES = pytest.mark.parametrize("table", ["t", "r"])


# ---- rows that two sessions write ----------------------------------------------------------------


@TABLES
@pytest.mark.parametrize(
    "mine",
    ["update {} set b = 'mine' where id = 2", "delete from {} where id = 2"],
    ids=["updated", "deleted"],
)
@pytest.mark.parametrize(
    "yours",
    [
        "update {} set b = 'yours' where id = 2",
        "update {} set tail = 0 where id = 2",
        "update {} set tail = 0",
        "delete from {} where id in (1, 2)",
    ],
)
def test_a_row_that_another_session_has_changed_cannot_be_changed(
    db: Db, other: Db, table: str, mine: str, yours: str
) -> None:
    db.run("begin work")
    db.run(mine.format(table))
    assert codes(other.fails(yours.format(table))) == (-244, -107, table)
    assert other.run(f"update {table} set b = 'free' where id = 3").rows == 1
    db.run("rollback work")
    assert other.run(yours.format(table)).rows >= 1


def test_two_sessions_change_different_rows_of_a_table_side_by_side(db: Db, other: Db) -> None:
    for table in ("t", "r"):
        for session, row in ((db, 1), (other, 2), (db, 3), (other, 4)):
            if not session.session.in_transaction:
                session.run("begin work")
            session.run(f"update {table} set tail = tail + 1 where id = {row}")
    other.run("commit work")
    db.run("commit work")
    for table in ("t", "r"):
        assert db.rows(f"select tail from {table} order by id") == [(72,), (73,), (74,), (75,)]


@TABLES
def test_an_update_in_a_transaction_builds_on_what_others_have_committed(
    db: Db, other: Db, table: str
) -> None:
    db.run("begin work")
    db.run(f"update {table} set tail = 0 where id = 1")  # takes DuckDB's snapshot
    other.run(f"update {table} set b = 'new', tail = 500 where id = 2")
    other.run(f"insert into {table} values (5, 'b', 500)")
    assert db.rows(f"select b, tail from {table} where id = 2") == [("new", 500)]
    assert db.run(f"update {table} set tail = tail + 1 where tail >= 500").rows == 2
    db.run("commit work")
    assert db.rows(f"select tail from {table} order by id") == [(0,), (501,), (73,), (74,), (501,)]


@TABLES
def test_what_a_transaction_did_is_not_done_to_rows_that_came_later(db: Db, other: Db, table: str) -> None:
    """The transaction is replayed on a new snapshot: its first UPDATE must change the same rows as before."""
    db.run("begin work")
    assert db.run(f"update {table} set b = 'x' where tail > 72").rows == 2
    other.run(f"insert into {table} values (6, 'late', 99)")
    assert db.fails(f"update {table} set tail = 1 / 0").sqlcode == -1202
    db.run("commit work")
    assert db.rows(f"select id, b from {table} where tail > 72 order by id") == [
        (3, "x"),
        (4, "x"),
        (6, "late"),
    ]


def test_an_update_from_another_table_keeps_the_values_that_it_had_made(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("update t set tail = (select max(tail) from r) where id < 3")
    other.run("update r set tail = 1000")
    assert db.fails("update t set b = 1 / 0").sqlcode == -1202
    db.run("commit work")
    assert db.rows("select tail from t order by id") == [(74,), (74,), (73,), (74,)]


def test_a_temporary_table_keeps_the_rows_that_were_selected_into_it(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("select id, b, tail from r into temp kept")
    other.run("delete from r")
    assert db.fails("update t set b = 1 / 0").sqlcode == -1202
    assert db.rows("select id, b, tail from kept order by id") == [(n, "b", 70 + n) for n in (1, 2, 3, 4)]
    db.run("rollback work")


def test_a_large_update_locks_the_table(engine: Engine, db: Db, other: Db) -> None:
    db.run("create table big (id integer, tail integer)")
    db.many("insert into big values (?, 0)", [(n,) for n in range(10_001)])
    db.run("begin work")
    assert db.run("update big set tail = 1").rows == 10_001
    assert codes(other.fails("insert into big values (0, 0)")) == (-271, -113, "big")
    db.run("commit work")
    other.run("insert into big values (0, 0)")
    assert db.value("select sum(tail) from big") == 10_001


@pytest.mark.parametrize(
    "refused",
    [
        "update t set tail = 5",
        "delete from t where id = 2",
        "insert into t values (5, 'b', 0)",
        "lock table t in exclusive mode",
        "drop table t",
        "select id from t for update",
        "select id from t",
    ],
)
def test_a_refused_lock_does_not_stand_in_the_way_of_its_transactions_end(
    engine: Engine, db: Db, other: Db, refused: str
) -> None:
    other.run("begin work")
    other.run("update r set tail = 1 where id = 1")
    db.run("begin work")
    db.run("lock table t in exclusive mode")
    assert other.fails(refused).isamcode == -113
    db.run("commit work")
    other.run("commit work")
    assert not other.session.in_transaction
    assert db.value("select tail from r where id = 1") == 1
    assert not lock_tables(engine.locks)
    assert not rows_by_owner(engine.locks)


# ---- waiting -------------------------------------------------------------------------------------


@TABLES
def test_a_waiting_update_sees_what_the_other_has_committed(
    engine: Engine, db: Db, other: Db, table: str
) -> None:
    other.run("set lock mode to wait")
    db.run("begin work")
    db.run(f"update {table} set tail = 100 where id = 1")
    job = Job(lambda: other.run(f"update {table} set tail = tail + 1, b = 'w' where id = 1").rows)
    waits(engine, other)
    db.run("commit work")
    assert job.result() == 1
    assert db.rows(f"select b, tail from {table} where id = 1") == [("w", 101)]


def test_a_waiting_statement_of_a_transaction_keeps_what_came_before_it(
    engine: Engine, db: Db, other: Db
) -> None:
    other.run("set lock mode to wait")
    other.run("begin work")
    other.run("insert into r values (9, 'kept', 9)")
    db.run("begin work")
    db.run("delete from r where id = 1")
    job = Job(lambda: other.run("update r set tail = 0 where id in (1, 2)").rows)
    waits(engine, other)
    db.run("commit work")
    assert job.result() == 1
    other.run("commit work")
    assert db.rows("select id, tail from r order by id") == [(2, 0), (3, 73), (4, 74), (9, 9)]


def test_a_rollback_wakes_who_waits(engine: Engine, db: Db, other: Db) -> None:
    other.run("set lock mode to wait")
    db.run("begin work")
    db.run("delete from t where id = 1")
    job = Job(lambda: other.run("update t set b = 'w' where id = 1").rows)
    waits(engine, other)
    db.run("rollback work")
    assert job.result() == 1


def test_the_end_of_a_session_wakes_who_waits(engine: Engine, db: Db, other: Db) -> None:
    other.run("set lock mode to wait")
    db.run("begin work")
    db.run("delete from t where id = 1")
    job = Job(lambda: other.run("update t set b = 'w' where id = 1").rows)
    waits(engine, other)
    db.session.close()
    assert job.result() == 1


def test_waiting_ends_with_the_time_of_the_lock_mode(db: Db, other: Db) -> None:
    other.run("set lock mode to wait 1")
    db.run("begin work")
    db.run("update t set b = 'mine' where id = 1")
    assert codes(other.fails("update t set b = 'yours' where id = 1")) == (-244, -154, "t")
    other.run("set lock mode to not wait")
    assert codes(other.fails("update t set b = 'yours' where id = 1")) == (-244, -107, "t")


def test_an_interrupt_ends_a_wait_and_keeps_the_transaction(engine: Engine, db: Db, other: Db) -> None:
    other.run("set lock mode to wait")
    other.run("begin work")
    other.run("insert into r values (9, 'kept', 9)")
    db.run("begin work")
    db.run("update t set b = 'mine' where id = 1")
    job = Job(lambda: other.run("update t set b = 'yours' where id = 1"))
    waits(engine, other)
    other.session.interrupt()
    assert job.code() == (-213, -157)
    other.run("commit work")
    db.run("commit work")
    assert db.value("select tail from r where id = 9") == 9


def test_one_of_two_sessions_that_wait_for_each_other_is_refused(engine: Engine, db: Db, other: Db) -> None:
    for session, row in ((db, 1), (other, 2)):
        session.run("set lock mode to wait")
        session.run("begin work")
        session.run(f"update t set b = 'first' where id = {row}")
    job = Job(lambda: other.run("update t set b = 'second' where id = 1").rows)
    waits(engine, other)
    assert codes(db.fails("update t set b = 'second' where id = 2")) == (-244, -143, "t")
    db.run("rollback work")
    assert job.result() == 1
    other.run("commit work")
    assert db.rows("select id, b from t order by id") == [(1, "second"), (2, "first"), (3, "b"), (4, "b")]


def test_a_deadlock_of_three_sessions_is_found(engine: Engine, db: Db, other: Db) -> None:
    third = connect(engine)
    for session, row in ((db, 1), (other, 2), (third, 3)):
        session.run("set lock mode to wait")
        session.run("begin work")
        session.run(f"update r set b = 'first' where id = {row}")
    one = Job(lambda: other.run("update r set b = 'second' where id = 1").rows)
    waits(engine, other)
    two = Job(lambda: third.run("update r set b = 'second' where id = 2").rows)
    waits(engine, third)
    assert codes(db.fails("update r set b = 'second' where id = 3"))[:2] == (-244, -143)
    db.run("rollback work")
    assert one.result() == 1
    other.run("commit work")
    assert two.result() == 1
    third.run("commit work")


# ---- keys ----------------------------------------------------------------------------------------


def test_a_key_that_another_session_has_inserted_is_locked(engine: Engine, db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("insert into t values (5, 'mine', 1)")
    assert codes(other.fails("insert into t values (5, 'yours', 2)")) == (-271, -144, "t")
    other.run("insert into t values (6, 'yours', 2)")
    other.run("set lock mode to wait")
    job = Job(lambda: other.run("insert into t values (5, 'yours', 2)"))
    waits(engine, other)
    db.run("commit work")
    assert job.code() == (-268, -100)
    assert db.rows("select id, b from t where id > 4 order by id") == [(5, "mine"), (6, "yours")]


def test_a_key_is_free_when_its_row_was_rolled_back(engine: Engine, db: Db, other: Db) -> None:
    other.run("set lock mode to wait")
    db.run("begin work")
    db.run("insert into t values (5, 'mine', 1)")
    job = Job(lambda: other.run("insert into t values (5, 'yours', 2)").rows)
    waits(engine, other)
    db.run("rollback work")
    assert job.result() == 1
    assert db.rows("select b, tail from t where id = 5") == [("yours", 2)]


def test_a_key_is_free_when_its_row_was_deleted(engine: Engine, db: Db, other: Db) -> None:
    other.run("set lock mode to wait")
    other.run("begin work")
    other.run("update r set tail = 0 where id = 1")  # DuckDB's snapshot is older than the delete
    db.run("begin work")
    db.run("delete from t where id = 2")
    job = Job(lambda: other.run("insert into t values (2, 'again', 2)").rows)
    waits(engine, other)
    db.run("commit work")
    assert job.result() == 1
    other.run("commit work")
    assert db.rows("select b, tail from t where id = 2") == [("again", 2)]


def test_keys_of_unique_constraints_and_indexes_are_locked_too(db: Db, other: Db) -> None:
    db.run("create table u (a integer unique, b char(3), c decimal(5,2), tail integer)")
    db.run("create unique index u_i on u (b, c)")
    db.run("begin work")
    db.run("insert into u values (1, 'x', 1.5, 7)")
    db.run("insert into u values (null, null, 1.5, 7)")
    assert codes(other.fails("insert into u values (1, 'y', 1.5, 8)"))[:2] == (-271, -144)
    assert codes(other.fails("insert into u values (2, 'x', 1.5, 8)"))[:2] == (-271, -144)
    assert codes(other.fails("insert into u values (null, 'z', 1.5, 8)"))[:2] == (-271, -144)
    assert codes(other.fails("insert into u values (3, null, 1.5, 8)"))[:2] == (-271, -144)
    other.run("insert into u values (3, null, 1.25, 8)")
    other.run("insert into u values (2, 'x', 1.25, 8)")
    db.run("commit work")
    assert db.value("select count(*) from u") == 4


def test_rows_that_are_loaded_together_lock_their_keys(db: Db, other: Db) -> None:
    db.run("begin work")
    db.many("insert into t values (?, 'm', 0)", [(n,) for n in range(100, 5100)])
    outcomes = other.many("insert into t values (?, 'o', 0)", [(n,) for n in range(5090, 5110)])
    refused = [(o.sqlcode, o.isamcode) for o in outcomes if isinstance(o, SqlError)]
    assert refused == [(-271, -144)] * 10
    db.run("commit work")
    assert db.value("select count(*) from t") == 4 + 5000 + 10


KEYED = {
    "primary": "create table u (id integer primary key, k integer, tail integer)",
    "constraint": "create table u (id integer, k integer, tail integer, unique (id, k))",
    "index": "create table u (id integer, k integer, tail integer); create unique index u_i on u (k, id)",
}
"""Tables in which `id` is a key, alone or with `k`, which is 0 in all rows."""


@pytest.fixture(params=list(KEYED))
def keyed(db: Db, request: pytest.FixtureRequest) -> Db:
    for text in KEYED[request.param].split(";"):
        db.run(text)
    db.many("insert into u values (?, 0, ?)", [(n, 70 + n) for n in (-1, 2, 3, 4)])
    return db


def test_an_update_of_a_key_locks_the_old_and_the_new_key_alone(keyed: Db, other: Db) -> None:
    keyed.run("begin work")
    assert keyed.run("update u set id = 40 where id = 4").rows == 1
    other.run("begin work")
    assert codes(other.fails("insert into u values (40, 0, 0)")) == (-271, -144, "u")
    assert codes(other.fails("insert into u values (4, 0, 0)"))[0::2] == (-271, "u")
    assert codes(other.fails("update u set tail = 0 where id = 4")) == (-244, -107, "u")
    assert codes(other.fails("update u set id = 40 where id = 3")) == (-346, -144, "u")
    assert codes(other.fails("update u set id = 4 where id = 3"))[0::2] == (-346, "u")
    assert other.run("update u set id = 30 where id = 3").rows == 1
    assert other.run("update u set tail = 0 where id = -1").rows == 1
    other.run("insert into u values (5, 0, 75)")
    other.run("commit work")
    keyed.run("commit work")
    assert other.fails("insert into u values (40, 0, 0)").sqlcode in (-239, -268)
    assert other.fails("update u set id = 40 where id = 2").sqlcode in (-239, -268)
    other.run("insert into u values (4, 0, 0)")
    rows = [(-1, 0), (2, 72), (4, 0), (5, 75), (30, 73), (40, 74)]
    assert keyed.rows("select id, tail from u order by id") == rows


def test_a_key_that_an_update_gives_is_waited_for(engine: Engine, keyed: Db, other: Db) -> None:
    other.run("set lock mode to wait")
    for end, taken in (("rollback work", 2), ("commit work", 40)):
        keyed.run("begin work")
        keyed.run("update u set id = 40 where id = 4")
        job = Job(lambda: other.run("update u set id = 40 where id = 2").rows)
        waits(engine, other)
        keyed.run(end)
        if taken == 2:
            assert job.result() == 1
            other.run("update u set id = 2 where id = 40")
        else:
            assert job.code()[0] in (-239, -268)
    assert keyed.rows("select id, tail from u order by id") == [(-1, 69), (2, 72), (3, 73), (40, 74)]


def test_a_key_that_an_update_leaves_is_free_when_that_is_committed(
    engine: Engine, keyed: Db, other: Db
) -> None:
    other.run("set lock mode to wait")
    other.run("begin work")
    other.run("update r set tail = 0 where id = 1")  # DuckDB's snapshot is older
    keyed.run("begin work")
    keyed.run("update u set id = 40 where id = 4")
    job = Job(lambda: other.run("update u set id = 4 where id = 2").rows)
    waits(engine, other)
    keyed.run("commit work")
    assert job.result() == 1
    other.run("commit work")
    assert keyed.rows("select id, tail from u order by id") == [(-1, 69), (3, 73), (4, 72), (40, 74)]


def test_sessions_that_change_keys_of_one_table_side_by_side_lose_nothing(keyed: Db, other: Db) -> None:
    keyed.run("begin work")
    other.run("begin work")
    for n in range(3):
        keyed.run(
            "update u set id = id + 100, tail = tail + 1 where id = ? or id = ?", 2 + 100 * n, 3 + 100 * n
        )
        other.run("update u set id = id - 100, tail = tail - 1 where id = ?", -1 - 100 * n)
        keyed.fails("update u set nothing = 1")
        keyed.fails("update u set tail = 1 / 0 where id > 100")  # makes the transaction begin again
    other.run("commit work")
    keyed.run("commit work")
    rows = [(-301, 66), (4, 74), (302, 75), (303, 76)]
    assert keyed.rows("select id, tail from u order by id") == rows


def test_a_cursor_for_update_changes_a_key_of_its_row(engine: Engine, db: Db, other: Db) -> None:
    db.run("begin work")
    cursor = db.session.open_for_update(db.session.prepare("select id from t where id = 4 for update"), ())
    db.session.cursors["c"] = cursor
    assert cursor.next() is not None
    assert db.run("update t set id = 40 where current of c").rows == 1
    assert codes(other.fails("insert into t values (40, 'o', 0)")) == (-271, -144, "t")
    other.run("insert into t values (41, 'o', 0)")
    db.run("commit work")
    assert db.rows("select id, tail from t where id > 3 order by id") == [(40, 74), (41, 0)]


def test_many_changed_keys_lock_the_table(db: Db, other: Db) -> None:
    db.run("create table big (id integer primary key, tail integer)")
    db.many("insert into big values (?, 0)", [(n,) for n in range(10_001)])
    db.run("begin work")
    assert db.run("update big set id = id + 1000000").rows == 10_001
    assert codes(other.fails("insert into big values (-5, 0)")) == (-271, -113, "big")
    db.run("commit work")
    assert db.value("select min(id) from big") == 1_000_000


def test_a_parent_cannot_go_while_its_child_is_not_committed(engine: Engine, db: Db, other: Db) -> None:
    db.run("create table child (p integer references t (id), tail integer)")
    db.run("begin work")
    db.run("insert into child values (2, 7)")
    assert codes(other.fails("delete from t where id = 2")) == (-244, -107, "t")
    other.run("delete from t where id = 3")
    db.run("commit work")
    assert other.fails("delete from t where id = 2").sqlcode == -692
    other.run("begin work")
    other.run("delete from t where id = 4")
    assert codes(db.fails("insert into child values (4, 7)"))[1] == -107
    other.run("commit work")
    assert db.fails("insert into child values (4, 7)").sqlcode == -691


# ---- reading -------------------------------------------------------------------------------------


@TABLES
def test_a_committed_read_meets_a_changed_row(engine: Engine, db: Db, other: Db, table: str) -> None:
    db.run("begin work")
    db.run(f"update {table} set b = 'mine' where id = 2")
    query = f"select b from {table} where id = 2"
    assert codes(other.fails(query)) == (-244, -107, table)
    assert codes(other.fails(f"select count(*) from {table}"))[:2] == (-244, -107)
    assert other.rows(f"select b from {table} where id = 3") == [("b",)]
    other.run("set isolation to committed read last committed")
    assert other.rows(query) == [("b",)]
    other.run("set isolation to dirty read")
    assert other.rows(query) == [("b",)]
    other.run("set isolation to committed read")
    other.run("set lock mode to wait")
    job = Job(lambda: other.rows(query))
    waits(engine, other)
    db.run("commit work")
    assert job.result() == [("mine",)]


def test_a_committed_read_of_a_whole_table_meets_uncommitted_rows(db: Db, other: Db) -> None:
    for table in ("t", "r"):
        db.run("begin work")
        db.run(f"insert into {table} values (9, 'n', 9)")
        assert codes(other.fails(f"select id from {table}"))[:2] == (-244, -107)
        db.run("rollback work")
        assert len(other.rows(f"select id from {table}")) == 4


READING = {
    "insert into r (id, tail) select id + 10, tail from t": ("select tail from r where id > 10", [71]),
    "insert into r (id, tail) values (99, (select max(tail) from t))": (
        "select tail from r where id = 99",
        [71],
    ),
    "insert into r (id, b) values (99, (select max(b) || '!' from t)::char(2))": (
        "select b from r where id = 99",
        ["x!"],
    ),
    "update r set tail = (select max(tail) from t)": ("select unique tail from r", [71]),
    "update r set tail = 0 where tail in (select tail from t)": (
        "select tail from r where tail > 0 order by 1",
        [72, 73, 74],
    ),
    "delete from r where tail in (select tail from t)": ("select tail from r order by 1", [72, 73, 74]),
    "merge into r using t on r.id = t.id when matched then update set r.b = t.b": (
        "select b from r where id < 3 order by id",
        ["x", "b"],
    ),
    "merge into r using t on r.id = t.id + 10 when not matched then insert (tail) values (t.tail)": (
        "select tail from r where id is null",
        [71],
    ),
    "select tail from t into temp found with no log": ("select tail from found", [71]),
    "create table made as select tail from t": ("select tail from made", [71]),
}
"""Statements that write rows which they read from `t`. For each, a query for these rows, and its result if `t` has only
the row (1, 'x', 71)."""


@pytest.mark.parametrize("text", READING)
def test_what_a_change_reads_is_read_at_the_isolation_level(
    engine: Engine, db: Db, other: Db, text: str
) -> None:
    db.run("begin work")
    db.run("update t set tail = 700 where id = 2")
    with pytest.raises(SqlError) as caught:
        other.run(text)
    assert codes(caught.value) == (-244, -107, "t")
    other.run("set isolation to committed read last committed")
    other.run("begin work")
    other.run(text)
    other.run("rollback work")
    other.run("set isolation to committed read")
    other.run("set lock mode to wait 30")
    job = Job(lambda: other.run(text))
    waits(engine, other)
    db.run("commit work")
    job.result()
    assert not lock_tables(engine.locks)


def test_an_insert_waits_for_the_rows_alone_that_it_selects(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("update t set tail = 700 where id = 2")
    other.run("insert into r (id, tail) select id + 10, tail from t where id = 3")
    other.run("insert into r (id, b, tail) select id + 10, tail, tail from t where id = 4")
    with pytest.raises(SqlError) as caught:
        other.run("insert into r (id, b, tail) select id + 10, tail, tail from t where id = 2")
    assert codes(caught.value) == (-244, -107, "t")


@pytest.mark.parametrize("text", READING)
def test_a_change_in_a_transaction_sees_what_others_have_committed_to_what_it_reads(
    db: Db, other: Db, text: str
) -> None:
    """DuckDB's snapshot is that of the transaction's first statement."""
    db.run("begin work")
    db.run("update r set b = 'mine' where id = 3")
    other.run("delete from t where id > 1")
    other.run("update t set b = 'x'")
    db.run(text)
    query, wanted = READING[text]
    assert db.rows(query) == [(value,) for value in wanted]


@pytest.mark.parametrize(
    "body",
    [
        "define v int; let v = (select max(tail) from t); return v;",
        "return (select max(tail) from t);",
        "if exists (select 1 from t where tail = 700) then return 700; end if; return 0;",
    ],
)
def test_expressions_of_a_routine_read_as_its_statements_do(db: Db, other: Db, body: str) -> None:
    db.run(f"create function f() returning int; {body} end function")
    db.run("begin work")
    db.run("update r set b = 'mine' where id = 1")
    other.run("begin work")
    other.run("update t set tail = 700 where id = 2")
    with pytest.raises(SqlError) as caught:
        db.rows("execute function f()")
    assert codes(caught.value) == (-244, -107, "t")
    other.run("commit work")
    assert db.rows("execute function f()") == [(700,)]


def test_repeatable_changes_lock_what_they_read(db: Db, other: Db) -> None:
    db.run("set isolation to repeatable read")
    db.run("begin work")
    db.run("insert into r (id, tail) select id + 10, tail from t where id = 3")
    with pytest.raises(SqlError) as caught:
        other.run("update t set tail = 0 where id = 1")
    assert codes(caught.value) == (-244, -113, "t")
    db.run("commit work")
    other.run("update t set tail = 0 where id = 1")


def test_a_change_of_a_view_waits_for_its_rows_alone(db: Db, other: Db) -> None:
    db.run("create view v as select id, tail from t")
    db.run("begin work")
    db.run("update t set tail = 700 where id = 2")
    other.run("update v set tail = 1 where id = 3")
    other.run("delete from v where id = 3")
    other.run("insert into v (id, tail) values (9, 9)")
    with pytest.raises(SqlError) as caught:
        other.run("delete from v where tail = (select max(tail) from t)")
    assert codes(caught.value) == (-244, -107, "t")


def test_repeatable_reads_lock_what_they_read(engine: Engine, db: Db, other: Db) -> None:
    db.run("set isolation to repeatable read")
    db.run("begin work")
    assert db.value("select count(*) from t") == 4
    assert codes(other.fails("insert into t values (5, 'b', 0)"))[:2] == (-271, -113)
    assert codes(other.fails("update t set tail = 0 where id = 1"))[:2] == (-244, -113)
    assert other.value("select count(*) from t") == 4
    assert other.run("update r set tail = 0").rows == 4
    db.run("commit work")
    other.run("insert into t values (5, 'b', 0)")


def test_databases_have_their_own_levels(engine: Engine, db: Db) -> None:
    db.run("create database plain")
    db.run("create database strict with log mode ansi")
    for name, level in (
        ("stores_demo", "committed read"),
        ("plain", "dirty read"),
        ("strict", "repeatable read"),
    ):
        session = connect(engine, name)
        assert session.session.isolation.level == level
        session.run("set isolation to cursor stability")
        assert session.session.isolation.level == "cursor stability"


def test_a_level_of_set_transaction_ends_with_the_transaction(db: Db) -> None:
    db.run("begin work")
    db.run("set transaction isolation level serializable, read only")
    assert db.session.isolation.level == "repeatable read"
    assert db.fails("insert into t values (5, 'b', 0)").sqlcode == -878
    assert db.fails("delete from t").sqlcode == -878
    assert db.fails("create table more (a integer)").sqlcode == -878
    db.run("create temp table own (a integer)")
    db.run("commit work")
    assert db.session.isolation.level == "committed read"
    db.run("insert into t values (5, 'b', 0)")


@pytest.mark.parametrize(
    "text",
    [
        "set isolation dirty read with warning",
        "set isolation to committed read last committed retain update locks",
        "set isolation to cursor stability",
        "set isolation repeatable read",
        "set transaction read write",
        "set transaction isolation level read committed, read only",
    ],
)
def test_all_forms_are_read(db: Db, text: str) -> None:
    db.run(text)
    assert db.value("select count(*) from t") == 4


@pytest.mark.parametrize(
    "text", ["set isolation to chaos", "set isolation to dirty read please", "set transaction"]
)
def test_levels_that_do_not_exist_are_syntax_errors(db: Db, text: str) -> None:
    assert db.fails(text).sqlcode == -201


# ---- tables --------------------------------------------------------------------------------------


def test_a_table_locked_in_exclusive_mode_is_its_owners_alone(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("lock table t in exclusive mode")
    for sql, code in (
        ("select * from t", -244),
        ("select * from t where id = 1", -244),
        ("update t set b = 'x' where id = 1", -244),
        ("insert into t values (5, 'x', 0)", -271),
        ("lock table t in share mode", -289),
        ("drop table t", -242),
        ("alter table t add (more integer)", -242),
    ):
        if sql.startswith("lock"):
            other.run("begin work")
        assert codes(other.fails(sql)) == (code, -113, "t"), sql
    other.run("rollback work")
    db.run("update t set b = 'x'")
    db.run("commit work")
    assert other.rows("select b from t where id = 1") == [("x",)]


def test_a_table_locked_in_share_mode_can_be_read(db: Db, other: Db) -> None:
    for session in (db, other):
        session.run("begin work")
        session.run("lock table t in share mode")
    assert other.value("select count(*) from t") == 4
    assert codes(db.fails("update t set b = 'x' where id = 1")) == (-244, -113, "t")
    other.run("commit work")
    assert db.run("update t set b = 'x' where id = 1").rows == 1


def test_lock_table_needs_a_transaction_where_there_are_some(engine: Engine, db: Db) -> None:
    assert db.fails("lock table t in share mode").sqlcode == -255
    db.run("create database plain")
    one, two = connect(engine, "plain"), connect(engine, "plain")
    one.run("create table p (a integer)")
    assert one.fails("unlock table p").sqlcode == -288
    one.run("lock table p in exclusive mode")
    one.run("insert into p values (1)")
    assert codes(two.fails("insert into p values (2)")) == (-271, -113, "p")
    one.run("unlock table p")
    two.run("insert into p values (2)")
    assert one.rows("select a from p order by a") == [(1,), (2,)]


def test_a_table_with_uncommitted_rows_cannot_be_dropped(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("insert into r values (9, 'n', 9)")
    assert codes(other.fails("drop table r")) == (-242, -113, "r")
    db.run("commit work")
    assert other.value("select count(*) from r") == 5
    other.run("drop table r")


def test_a_reader_does_not_keep_a_table_from_being_dropped(db: Db, other: Db) -> None:
    db.run("begin work")
    assert db.value("select count(*) from r") == 4
    other.run("drop table r")
    assert db.fails("select count(*) from r").sqlcode == -206


def test_two_sessions_make_a_table_of_one_name(engine: Engine, db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("create table made (a integer)")
    assert codes(other.fails("create table made (b integer)")) == (-242, -113, "made")
    other.run("set lock mode to wait")
    job = Job(lambda: other.run("create table made (b integer)"))
    waits(engine, other)
    db.run("commit work")
    assert job.code()[0] == -310


@pytest.mark.parametrize(
    ("one", "two", "code"),
    [
        ("alter table t add constraint unique (tail) constraint same",
         "create table s (a int, check (a > 0) constraint same)", -625),
        ("create table s (a int primary key constraint same)",
         "alter table r modify (tail integer check (tail > 0) constraint same)", -625),
        ("create table s (a int unique constraint first_one)",
         "alter table r add (c int unique constraint first_one)", -625),
        ("create index same on t (tail)", "create unique index same on r (tail)", -316),
    ],
)  # fmt: skip
def test_two_sessions_make_a_constraint_or_an_index_of_one_name(
    engine: Engine, db: Db, other: Db, one: str, two: str, code: int
) -> None:
    """The second one is refused while the first transaction is open, and after its commit because the name exists."""
    catalogue = "sysindices" if code == -316 else "sysconstraints"
    db.run("begin work")
    db.run(one)
    assert codes(other.fails(two)) == (-242, -107, catalogue)
    other.run("begin work")
    assert other.rows("select count(*) from r") == [(4,)]
    assert codes(other.fails(two)) == (-242, -107, catalogue)
    other.run("set lock mode to wait")
    job = Job(lambda: other.run(two))
    waits(engine, other)
    db.run("commit work")
    assert job.code() == (code, 0)
    other.run("rollback work")


def test_a_name_that_was_rolled_back_is_free(engine: Engine, db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("create table s (a int primary key constraint same)")
    db.run("create index ix on t (tail)")
    other.run("set lock mode to wait")
    job = Job(lambda: other.run("create index ix on r (tail)"))
    waits(engine, other)
    db.run("rollback work")
    job.result()
    other.run("alter table r add constraint primary key (id) constraint same")


def test_renamed_constraints_and_indexes_take_names_too(db: Db, other: Db) -> None:
    db.run("alter table t add constraint unique (tail) constraint mine")
    db.run("create index ix_mine on t (b)")
    db.run("create index ix_theirs on r (b)")
    db.run("begin work")
    db.run("rename constraint mine to same")
    db.run("rename index ix_mine to ix_same")
    assert other.fails("alter table r add constraint unique (tail) constraint same").sqlcode == -242
    assert other.fails("rename index ix_theirs to ix_same").sqlcode == -242
    other.run("create temp table own (a int)")
    other.run("create index ix_same on own (a)")  # concerns no other session
    db.run("rollback work")


def test_temporary_tables_know_no_locks(db: Db, other: Db) -> None:
    for session in (db, other):
        session.run("begin work")
        session.run("create temp table own (a integer primary key, tail integer)")
        session.run("insert into own values (1, 1)")
        session.run("update own set tail = 2 where a = 1")
    for session in (db, other):
        session.run("commit work")
        assert session.rows("select a, tail from own") == [(1, 2)]


# ---- all together --------------------------------------------------------------------------------


@TABLES
def test_random_transfers_between_accounts_keep_their_sum(engine: Engine, db: Db, table: str) -> None:
    """Six sessions, eight accounts: every transfer is complete or has no effect, and a refused session gets a lock
    error."""
    accounts, transfers, begun = range(8), 8, 1000
    db.run(f"delete from {table}")
    db.many(f"insert into {table} values (?, 'acc', ?)", [(n, begun) for n in accounts])
    refused: list[tuple[int, int]] = []

    def work(seed: int) -> dict[int, int]:
        mine, chance = connect(engine), random.Random(seed)
        mine.run("set lock mode to wait" if seed % 2 else "set lock mode to wait 20")
        moved = dict.fromkeys(accounts, 0)
        for _ in range(transfers):
            source, target = chance.sample(accounts, 2)
            amount = chance.randint(1, 9)
            while True:
                mine.run("begin work")
                try:
                    mine.run(f"update {table} set tail = tail - ? where id = ?", amount, source)
                    mine.run(f"update {table} set tail = tail + ?, b = 'moved' where id = ?", amount, target)
                except SqlError as e:
                    refused.append((e.sqlcode, e.isamcode))
                    mine.run("rollback work")
                    continue
                mine.run("commit work")
                break
            moved[source] -= amount
            moved[target] += amount
        mine.session.close()
        return moved

    jobs = [Job(lambda seed=seed: work(seed)) for seed in range(6)]  # type: ignore[misc]
    moved = [job.result() for job in jobs]
    expected = [(n, begun + sum(each[n] for each in moved)) for n in accounts]
    assert db.rows(f"select id, tail from {table} order by id") == expected
    assert db.value(f"select sum(tail) from {table}") == begun * len(accounts)
    assert set(refused) <= {(-244, -143)}, "nothing but deadlocks, which were told to one of the two"
    assert not lock_tables(engine.locks)
    assert not rows_by_owner(engine.locks)


def test_a_query_for_update_that_is_taken_whole_locks_all_its_rows(db: Db, other: Db) -> None:
    assert db.fails("select id from t where id < 3 for update").sqlcode == -398
    db.run("begin work")
    assert db.rows("select id from t where id < 3 for update") == [(1,), (2,)]
    assert codes(other.fails("update t set tail = 0 where id = 2")) == (-244, -107, "t")
    assert other.rows("select tail from t where id = 2") == [(72,)]
    assert other.run("update t set tail = 0 where id = 3").rows == 1
    db.run("commit work")


# ---- MERGE ---------------------------------------------------------------------------------------

UPSERT = (
    "merge into t using (select {} id, '{}' b, {} tail from sysmaster:sysdual) s on t.id = s.id when matched "
    "then update set b = s.b, tail = s.tail when not matched then insert (id, b, tail) values (s.id, s.b, s.tail)"
)


@pytest.fixture
def source(db: Db) -> Db:
    """A session with a table `s` with ids 2 and 9: 2 is in `t`, 9 is not."""
    db.run("create table s (id integer, b varchar(10), tail integer)")
    db.many("insert into s values (?, 's', ?)", [(2, 500), (9, -500)])
    return db


MERGE = (
    "merge into t using s on t.id = s.id when matched then update set b = s.b, tail = s.tail "
    "when not matched then insert (id, b, tail) values (s.id, s.b, s.tail)"
)


def test_a_merge_locks_its_rows_and_keys_alone(source: Db, other: Db) -> None:
    source.run("begin work")
    assert source.run(MERGE).rows == 2
    other.run("begin work")
    assert codes(other.fails("update t set tail = 0 where id = 2")) == (-244, -107, "t")
    assert codes(other.fails("insert into t values (9, 'o', 0)")) == (-271, -144, "t")
    assert other.fails(MERGE).isamcode == -107
    assert other.run("update t set tail = 0 where id = 1").rows == 1
    other.run("insert into t values (10, 'o', 0)")
    other.run("commit work")
    source.run("commit work")
    rows = [(1, "b", 0), (2, "s", 500), (3, "b", 73), (4, "b", 74), (9, "s", -500), (10, "o", 0)]
    assert source.rows("select id, b, tail from t order by id") == rows


def test_two_merges_of_one_key_that_is_not_there_become_one_row(
    engine: Engine, source: Db, other: Db
) -> None:
    other.run("set lock mode to wait")
    other.run("begin work")
    other.run("update r set tail = 0 where id = 1")  # DuckDB's snapshot is older
    source.run("begin work")
    source.run(MERGE)
    job = Job(lambda: other.run(MERGE.replace("s.tail", "s.tail + 1")).rows)
    waits(engine, other)
    source.run("commit work")
    assert job.result() == 2
    other.run("commit work")
    assert source.rows("select id, tail from t where b = 's' order by id") == [(2, 501), (9, -499)]


def test_a_merge_of_a_key_locks_the_key_that_it_gives(source: Db, other: Db) -> None:
    source.run("begin work")
    assert source.run("merge into t using s on t.id = s.id when matched then update set id = 40").rows == 1
    assert codes(other.fails("insert into t values (40, 'o', 0)")) == (-271, -144, "t")
    other.run("insert into t values (41, 'o', 0)")
    source.run("commit work")
    assert source.rows("select id, tail from t order by id") == [(1, 71), (3, 73), (4, 74), (40, 72), (41, 0)]


def test_a_merge_that_begins_again_meets_no_rows_that_came_later(source: Db, other: Db) -> None:
    """`r` has no key, so another session may insert rows that the source would match."""
    merge = MERGE.replace("into t", "into r").replace("t.id", "r.id")
    source.run("begin work")
    assert source.run(merge).rows == 2
    other.run("insert into r values (9, 'late', 1)")
    source.fails("update t set tail = 1 / 0")  # makes the transaction begin again
    source.run("commit work")
    assert source.rows("select b, tail from r where id in (2, 9) order by tail") == [
        ("s", -500),
        ("late", 1),
        ("s", 500),
    ]


def test_a_merge_deletes_its_rows_and_inserts_others(source: Db, other: Db) -> None:
    source.run("begin work")
    merge = MERGE.replace("update set b = s.b, tail = s.tail", "delete")
    assert source.run(merge).rows == 2
    assert codes(other.fails("insert into t values (2, 'o', 0)")) == (-271, -144, "t")
    assert other.run("delete from t where id = 3").rows == 1
    source.run("commit work")
    assert source.rows("select id, b, tail from t order by id") == [
        (1, "b", 71),
        (4, "b", 74),
        (9, "s", -500),
    ]


def test_a_merge_numbers_the_rows_that_it_inserts_and_gives_defaults(db: Db) -> None:
    db.run("create table n (id serial, b varchar(5) default 'dflt', d decimal(16), tail integer)")
    db.run("create table s (k integer, d decimal(16))")
    db.many("insert into s values (?, ?)", [(1, "1.5"), (2, None), (70, "-12345.678")])
    merge = "merge into n using s on n.tail = s.k when matched then delete "
    merge += "when not matched then insert (d, tail) values (s.d, s.k)"
    assert db.run(merge).rows == 3
    rows = db.rows("select id, b, d, tail from n order by tail")
    assert [row[1:] for row in rows] == [
        ("dflt", "1.5", 1),
        ("dflt", None, 2),
        ("dflt", "-12345.678", 70),
    ]
    assert sorted(row[0] for row in rows) == [1, 2, 3]
    assert db.run(merge).rows == 3
    assert db.value("select count(*) from n") == 0


def test_a_merge_cannot_change_a_row_twice(db: Db) -> None:
    db.run("create table s (id integer, tail integer)")
    db.many("insert into s values (?, ?)", [(2, 1), (2, 2), (3, 3)])
    for change in ("update set tail = s.tail", "delete"):
        merge = f"merge into t using s on t.id = s.id when matched then {change}"
        assert db.fails(merge).sqlcode == -410
    assert db.rows("select id, tail from t order by id") == [(n, 70 + n) for n in (1, 2, 3, 4)]


@pytest.mark.slow
def test_upserts_of_many_sessions_are_all_done(engine: Engine, db: Db) -> None:
    def work(seed: int) -> None:
        mine = connect(engine)
        mine.run("set lock mode to wait")
        for n in range(8):
            mine.run(UPSERT.format(100 + n, f"w{seed}", n))
            mine.run(UPSERT.format(1000 + 10 * seed + n, f"w{seed}", n))
        mine.session.close()

    for job in [Job(lambda seed=seed: work(seed)) for seed in range(4)]:  # type: ignore[misc]
        job.result()
    assert db.rows("select id, tail from t where id >= 100 and id < 1000 order by id") == [
        (100 + n, n) for n in range(8)
    ]
    assert db.value("select count(*) from t where id >= 1000") == len(
        {10 * s + n for s in range(4) for n in range(8)}
    )
    assert not lock_tables(engine.locks)


# ---- what others do to the schema --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "query", "found"),
    [
        ("create table made as select tail from t", "select count(*) from made", 4),
        ("create view seen as select * from t", "select count(*) from seen", 4),
        ("create synonym called for t", "select count(*) from called", 4),
        ("create sequence numbers start with 7", "select numbers.nextval from t where id = 1", 7),
        ("create function f() returning int; return 8; end function", "execute function f()", 8),
        ("alter table t add (more int default 5)", "select more from t where id = 1", 5),
        ("rename table t to moved", "select count(*) from moved", 4),
        ("rename column t.tail to last", "select last from t where id = 1", 71),
    ],
)
@pytest.mark.parametrize("read", [True, False], ids=["read before", "new"])
def test_a_transaction_sees_what_others_have_committed_to_the_schema(
    db: Db, other: Db, change: str, query: str, found: int, read: bool
) -> None:
    """The session's DuckDB transaction began before the commit of the other. Its own changes stay."""
    db.run("begin work")
    db.run("update r set b = 'mine' where id = 1")
    db.run("create temp table own (a int) with no log")
    db.run("insert into own values (3)")
    if read:
        assert db.rows("select id from t where id = 1") == [(1,)]
    other.run(change)
    assert db.rows(query) == [(found,)]
    assert db.rows("select b, a from r, own where id = 1") == [("mine", 3)]
    db.run("commit work")
    assert other.rows("select b from r where id = 1") == [("mine",)]


def test_a_transaction_does_not_see_what_others_have_not_committed_to_the_schema(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("update r set b = 'mine' where id = 1")
    other.run("begin work")
    other.run("create table made (a int)")
    assert db.fails("select * from made").sqlcode == -206
    other.run("rollback work")
    assert db.fails("select * from made").sqlcode == -206
    db.run("commit work")
    assert db.rows("select b from r where id = 1") == [("mine",)]


def test_what_another_session_has_dropped_is_gone_in_a_transaction(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("update r set b = 'mine' where id = 1")
    assert db.rows("select count(*) from t") == [(4,)]
    other.run("drop table t")
    assert db.fails("select count(*) from t").sqlcode == -206
    db.run("create table t (a int)")
    db.run("commit work")
    assert other.rows("select count(*) from t") == [(0,)]
