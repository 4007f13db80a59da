"""A transaction that is replayed has the same effect as before, and rows that other sessions refer to stay.

A statement of another session, or one that fails, makes a transaction begin again from its journal: a replay must not
depend on what others have committed since.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from tests.unit.server.sql_session import VERSION, Db, connect

from informix_arrow.server.routines.session_routines import SplLibrary
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.journal import RecordedWrite, WriteRecorder
from informix_arrow.server.session.locks import MAX_ROW_LOCKS

pytestmark = pytest.mark.slow


def fill(db: Db) -> None:
    db.run("create table t (id integer primary key, v integer, tail integer)")
    db.run("create table source (id integer primary key, v integer)")
    db.many("insert into t values (?, ?, ?)", [(n, 10 * n, 70 + n) for n in (1, 2, 3, 4)])
    db.many("insert into source values (?, ?)", [(1, 5), (2, 6)])


def codes(db: Db, sql: str) -> tuple[int, int]:
    error = db.fails(sql)
    return error.sqlcode, error.isamcode


# ---- values that came from other rows --------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("update t set v = (select max(v) from source) where id < 3", [(1, 6), (2, 6), (3, 30), (4, 40)]),
        ("update t set id = id + (select max(v) from source)", [(7, 10), (8, 20), (9, 30), (10, 40)]),
        ("delete from t where v > (select max(v) from source) * 4", [(1, 10), (2, 20)]),
        (
            "merge into t using source s on t.id = s.id when matched then update set v = s.v",
            [(1, 5), (2, 6), (3, 30), (4, 40)],
        ),
        (
            "merge into t using (select id + 3 as id, v from source where v > 5) x on t.id = x.id "
            "when not matched then insert (id, v, tail) values (x.id, x.v, 0)",
            [(1, 10), (2, 20), (3, 30), (4, 40), (5, 6)],
        ),
    ],
    ids=["update", "of-the-key", "delete", "merge", "merge-of-a-query"],
)
def test_a_replay_does_not_look_at_newer_rows_of_other_tables(
    db: Db, other: Db, sql: str, rows: list[tuple[int, int]]
) -> None:
    db.run("begin work")
    db.run(sql)
    other.run("update source set v = 1000")
    assert db.fails("select nothing from t").sqlcode == -217  # makes the transaction begin again
    assert db.rows("select max(v) from source") == [(1000,)]
    assert db.rows("select id, v from t order by id") == rows
    db.run("commit work")
    assert other.rows("select id, v from t order by id") == rows
    assert set(other.rows("select tail - id from t where id < 5 and tail > 0")) <= {(70,)}


def test_a_replay_does_not_look_at_newer_rows_of_the_same_table(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("update t set v = (select max(v) from t) + 1 where id = 1")
    other.run("insert into t values (9, 1000, 79)")
    assert db.fails("select nothing from t").sqlcode == -217
    db.run("commit work")
    assert other.rows("select id, v from t where id in (1, 9) order by id") == [(1, 41), (9, 1000)]


@pytest.mark.parametrize(
    "sql", ["update big set v = {}", "delete from big where v < {}"], ids=["update", "delete"]
)
def test_a_large_change_by_a_query_is_replayed_as_it_was(db: Db, other: Db, sql: str) -> None:
    db.run("create table big (id integer primary key, v integer)")
    db.many("insert into big values (?, 4)", [(n,) for n in range(MAX_ROW_LOCKS + 1)])
    db.run("begin work")
    assert db.run(sql.format("(select min(v) from source)")).rows == MAX_ROW_LOCKS + 1
    other.run("update source set v = 1")
    assert db.fails("select nothing from t").sqlcode == -217
    db.run("commit work")
    expected = [] if sql.startswith("delete") else [(5, MAX_ROW_LOCKS + 1)]
    assert other.rows("select v, count(*) from big group by v") == expected


def test_values_of_every_type_come_from_another_table_unchanged(db: Db) -> None:
    types = {
        "i8": ("int8", "123456789012345"),
        "dec": ("decimal(16,4)", "12.3456"),
        "flo": ("decimal(32)", "1.234567890123456789"),
        "dbl": ("float", "1.5"),
        "chr": ("char(6)", "'ab'"),
        "txt": ("varchar(20)", "'h\u00e4llo'"),
        "mom": ("datetime year to fraction(5)", "datetime(2024-01-02 03:04:05.12345) year to fraction(5)"),
        "dur": ("interval day to second", "interval(3 04:05:06) day to second"),
        "yes": ("boolean", "'t'"),
        "day": ("date", "mdy(1, 2, 2024)"),
        "sma": ("smallint", "-3"),
    }
    columns = ", ".join(f"{name} {sql}" for name, (sql, _) in types.items())
    for table in ("many", "made"):
        db.run(f"create table {table} (id integer, {columns}, tail integer)")
    db.run(f"insert into many values (1, {', '.join(value for _, value in types.values())}, 9)")
    db.run("insert into made (id, tail) values (1, 9)")
    sets = ", ".join(f"{name} = (select {name} from many m where m.id = made.id)" for name in types)
    db.run("begin work")
    assert db.run(f"update made set {sets} where id = ?", 1).rows == 1
    db.run("commit work")
    (row,) = db.rows("select * from many")
    assert db.rows("select * from made") == [row]
    assert None not in row


# ---- rows that are found again by their row ids ------------------------------------------------------


@pytest.mark.parametrize("directory", [False, True], ids=["in-memory", "on-disk"])
def test_a_row_keeps_its_identity_when_the_room_of_others_is_given_back(
    tmp_path: Path, directory: bool
) -> None:
    """DuckDB compacts the rows of a table at a checkpoint, which it makes after a certain amount of writes."""
    engine = Engine(tmp_path if directory else None, "informix", VERSION, SplLibrary())
    db, other = connect(engine), connect(engine)
    db.run("create table bare (id integer, tail integer)")
    db.session.transaction.con.execute("INSERT INTO bare SELECT i, 0 FROM range(300000) AS r(i)")
    db.run("begin work")
    cursor = db.session.open_for_update(
        db.session.prepare("select id from bare where id = 290000 for update"), ()
    )
    db.session.cursors["upd"] = cursor
    assert cursor.next() is not None
    other.session.transaction.con.execute("DELETE FROM bare WHERE id % 2 = 1 OR id < 100000")
    other.session.transaction.con.execute("FORCE CHECKPOINT d_stores_demo")
    assert db.run("update bare set tail = 8 where current of upd").rows == 1
    db.run("commit work")
    assert other.rows("select id, tail from bare where tail <> 0") == [(290000, 8)]
    engine.close()


# ---- keys and parents --------------------------------------------------------------------------------


@pytest.fixture
def family(db: Db) -> Db:
    """A session with parents 1 and 2, also called 'a' and 'b', and child 5 of parent 1 by either key."""
    db.run("create table parent (id integer primary key, name varchar(9) unique, tail integer)")
    db.run(
        "create table child (id integer primary key, pid integer references parent (id), "
        "pname varchar(9) references parent (name), tail integer)"
    )
    db.many("insert into parent values (?, ?, 7)", [(1, "a"), (2, "b")])
    db.run("insert into child values (5, 1, 'a', 7)")
    return db


CHANGES = [
    "update child set pid = 2 where id = 5",
    "update child set pname = 'b' where id = 5",
    "update child set pid = 2",
    "insert into child values (6, 2, null, 7)",
    "insert into child values (6, null, 'b', 7)",
    "merge into child c using source s on c.id = s.v when matched then update set pid = 2",
]
"""Statements that each make a row a child of the second parent."""


@pytest.mark.parametrize(
    "end",
    ["delete from parent where id = 2", "update parent set id = id + 10", "truncate table parent"],
    ids=["deleted", "renumbered", "truncated"],
)
def test_a_parent_stays_while_its_new_child_is_not_committed(family: Db, other: Db, end: str) -> None:
    for change in CHANGES:
        family.run("begin work")
        assert family.run(change).rows == 1, change
        assert codes(other, end) in [(-244, -107), (-244, -113), (-242, -113)], change
        assert other.value("select count(*) from parent") == 2
        family.run("rollback work")


@pytest.mark.parametrize(
    "end",
    ["delete from parent where id = 2", "update parent set id = 3, name = 'c' where id = 2"],
    ids=["deleted", "renumbered"],
)
def test_a_parent_that_is_going_gets_no_child(family: Db, other: Db, end: str) -> None:
    other.run("begin work")
    assert other.run(end).rows == 1
    for change in CHANGES:
        assert codes(family, change) in [(-271, -107), (-271, -113), (-244, -113)], change
    other.run("commit work")
    for change in CHANGES:
        assert codes(family, change) == (-691, -111), change
    assert family.rows("select id, pid, pname, tail from child") == [(5, 1, "a", 7)]


def test_two_sessions_give_one_parent_children(family: Db, other: Db) -> None:
    for session, number in ((family, 6), (other, 7)):
        session.run("begin work")
        session.run("insert into child values (?, 1, 'a', 7)", number)
        session.run("update child set pid = 2 where id = ?", number)
    for session in (family, other):
        session.run("commit work")
    assert other.rows("select id, pid from child order by id") == [(5, 1), (6, 2), (7, 2)]


def test_a_key_that_another_session_is_freeing_is_locked(family: Db, other: Db) -> None:
    other.run("begin work")
    other.run("delete from parent where id = 2")
    taken = "insert into parent values (3, 'b', 7)"
    assert codes(family, taken) == (-271, -107)
    other.run("rollback work")
    assert codes(family, taken) == (-268, -100)
    other.run("delete from parent where id = 2")
    assert family.run(taken).rows == 1


def test_a_unique_index_is_made_in_a_transaction_that_has_changed_the_table(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("update t set v = v + 1")
    db.run("create unique index ix_v on t (v)")
    assert codes(db, "insert into t values (5, 41, 75)") == (-239, -100)
    assert codes(db, "create unique index ix_none on t (id, id2)")[0] == -217
    db.run("insert into t values (5, 51, 75)")
    assert codes(db, "update t set v = 11 where id = 2")[1] == -100
    db.run("commit work")
    assert other.rows("select id, v, tail from t order by id") == [
        (n, 10 * n + 1, 70 + n) for n in (1, 2, 3, 4, 5)
    ]
    assert codes(other, "update t set v = 11 where id = 2")[1] == -100
    other.run("begin work")
    other.run("update t set tail = 1")
    assert codes(other, "create unique index ix_tail on t (tail)") == (-371, -100)
    assert other.rows("select distinct tail from t") == [(1,)]
    other.run("rollback work")
    assert other.value("select count(*) from t where tail > 70") == 5


# ---- many rows that came one by one -----------------------------------------------------------------


def _begin_again(db: Db) -> None:
    """Make the transaction replay everything that it has done."""
    db.run("savepoint here")
    db.run("insert into t values (5000, 5, 75)")
    db.run("rollback work to savepoint here")


def _one_by_one(db: Db) -> list[tuple[object, ...]]:
    """Insert rows one by one into a table without a key, changed in between by their row ids, and rows into another
    one."""
    db.run(
        "create temp table many (n integer, amount decimal(32), said lvarchar(100), at datetime year to fraction(5))"
    )
    for n in range(300):
        amount = None if n % 7 == 0 else Decimal(n).scaleb(-(n % 20))
        said = None if n % 5 == 0 else f"row's {n} ?"
        at = "2026-01-02 03:04:05.67891" if n % 3 else None
        db.run("insert into many values (?, ?, ?, ?)", n, amount, said, at)
        if n % 100 == 50:
            db.run("update many set said = 'changed' where n = ?", n - 3)
            db.run("delete from many where n = ?", n - 20)
        if n % 90 == 40:
            db.run("insert into t values (?, ?, ?)", 1000 + n, n, 70)
    return db.rows("select * from many order by n") + db.rows("select * from t order by id")


def test_rows_that_came_one_by_one_are_the_same_when_they_come_together(db: Db) -> None:
    db.run("begin work")
    before = _one_by_one(db)
    _begin_again(db)
    assert db.rows("select * from many order by n") + db.rows("select * from t order by id") == before
    assert len(before) == 297 + 7
    db.run("update many set said = 'late' where n = 299")
    _begin_again(db)
    assert db.rows("select n from many where said = 'late'") == [(299,)]
    db.run("commit work")
    assert db.value("select count(*) from many") == 297


def test_rows_that_came_one_by_one_are_done_again_by_few_statements(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.run("begin work")
    for n in range(300):
        db.run("insert into t values (?, ?, ?)", 1000 + n, n, 70)
    again: list[str] = []
    repeat = WriteRecorder.replay_write

    def counted(self: WriteRecorder, write: RecordedWrite) -> None:
        again.append(write.sql)
        repeat(self, write)

    monkeypatch.setattr(WriteRecorder, "replay_write", counted)
    _begin_again(db)
    assert [sql.count("(?") for sql in again] == [128, 128, 44]
    assert db.rows("select count(*), sum(id) from t where id >= 1000") == [(300, 300000 + 150 * 299)]
