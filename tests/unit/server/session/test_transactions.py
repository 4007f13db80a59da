"""Transactions of the engine: a failing statement never undoes earlier ones."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.unit.server.sql_session import VERSION, Db, connect

from informix_arrow.server.routines.session_routines import SplLibrary
from informix_arrow.server.session.engine import Engine


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


@pytest.fixture
def db(engine: Engine) -> Db:
    db = connect(engine)
    db.run("create table t (id integer primary key, b varchar(10), tail integer)")
    db.run("insert into t values (1, 'one', 77)")
    return db


FAILING = {
    "a duplicate key in an INSERT": "insert into t values (1, 'x', 1)",
    "a duplicate key in an UPDATE": "update t set id = 1 where id = 2",
    "a division by zero": "update t set tail = 1 / 0",
    "a missing table": "select * from nowhere",
    "a missing column": "select nothing from t",
    "a syntax error": "selct 1",
    "a value that is no number": "insert into t values ('abc', 'x', 1)",
    "a sub-query of several rows": "update t set tail = (select id from t)",
}


@pytest.mark.parametrize("sql", FAILING.values(), ids=FAILING.keys())
def test_work_before_an_error_stays_in_the_transaction(db: Db, sql: str) -> None:
    db.run("begin work")
    db.run("insert into t values (2, 'two', 78)")
    db.fails(sql)
    assert db.rows("select id, tail from t order by id") == [(1, 77), (2, 78)]
    db.run("insert into t values (3, 'three', 79)")
    db.run("commit work")
    assert db.rows("select id, tail from t order by id") == [(1, 77), (2, 78), (3, 79)]


def test_rollback_undoes_rows_tables_and_descriptions(db: Db) -> None:
    db.run("begin work")
    db.run("update t set b = 'changed'")
    db.run("create table made (a decimal(5,2), tail integer)")
    db.run("alter table t add (more date)")
    assert db.types("select * from made") == [("a", "DECIMAL(5,2)"), ("tail", "INTEGER")]
    db.run("rollback work")
    assert db.fails("select * from made").sqlcode == -206
    assert db.rows("select * from t") == [(1, "one", 77)]
    assert db.value("select count(*) from systables where tabname = 'made'") == 0


def test_a_dropped_table_comes_back_by_rollback(db: Db) -> None:
    db.run("begin work")
    db.run("drop table t")
    assert db.fails("select * from t").sqlcode == -206
    db.run("rollback work")
    assert db.rows("select id, tail from t") == [(1, 77)]


def test_uncommitted_work_is_invisible_to_other_sessions(engine: Engine, db: Db) -> None:
    other = connect(engine)
    other.run("set isolation to committed read last committed")
    db.run("begin work")
    db.run("insert into t values (2, 'two', 78)")
    db.run("create table mine (a integer)")
    assert other.rows("select id from t") == [(1,)]
    assert other.fails("select * from mine").sqlcode == -206
    db.run("commit work")
    assert other.rows("select id from t order by id") == [(1,), (2,)]
    assert other.rows("select * from mine") == []


def test_a_reading_transaction_sees_what_others_commit(engine: Engine, db: Db) -> None:
    """Committed read is the default isolation of a logged database."""
    other = connect(engine)
    db.run("begin work")
    assert db.value("select b from t") == "one"
    other.run("update t set b = 'new'")
    assert db.value("select b from t") == "new"
    db.run("commit work")


def test_savepoints_undo_what_came_after_them(db: Db) -> None:
    db.session.begin()
    db.run("insert into t values (2, 'two', 78)")
    db.session.transaction.savepoint("one", False)
    db.run("insert into t values (3, 'three', 79)")
    db.run("create temp table scratch (a integer)")
    db.session.transaction.rollback_to_savepoint("one")
    assert db.fails("select * from scratch").sqlcode == -206
    db.run("insert into t values (4, 'four', 80)")
    db.session.transaction.release_savepoint("one")
    db.session.commit()
    assert db.rows("select id from t order by id") == [(1,), (2,), (4,)]


def test_wrong_order_of_transaction_statements_has_its_codes(db: Db) -> None:
    assert db.fails("commit work").sqlcode == -255
    assert db.fails("rollback work").sqlcode == -255
    db.run("begin work")
    assert db.fails("begin").sqlcode == -535
    db.run("rollback")


def test_begin_on_a_database_without_logging_is_refused(engine: Engine, db: Db) -> None:
    db.run("create database plain")
    plain = connect(engine, "plain")
    assert plain.fails("begin work").sqlcode == -256
    plain.run("create table p (a integer)")
    plain.run("insert into p values (1)")
    assert plain.rows("select a from p") == [(1,)]


def test_a_row_that_another_session_changed_is_locked(engine: Engine, db: Db) -> None:
    other = connect(engine)
    db.run("begin work")
    db.run("update t set b = 'mine' where id = 1")
    error = other.fails("update t set b = 'yours' where id = 1")
    assert (error.sqlcode, error.isamcode) == (-244, -107)
    db.run("commit work")
    assert other.run("update t set b = 'yours' where id = 1").rows == 1


def test_a_waiting_session_goes_on_when_the_other_commits(engine: Engine, db: Db) -> None:
    other = connect(engine)
    other.run("set lock mode to wait 20")
    db.run("begin work")
    db.run("update t set b = 'mine' where id = 1")
    started = threading.Event()
    done: list[int] = []

    def wait() -> None:
        started.set()
        done.append(other.run("update t set b = 'yours' where id = 1").rows)

    thread = threading.Thread(target=wait)
    thread.start()
    started.wait()
    db.run("commit work")
    thread.join(20)
    assert done == [1]
    assert db.value("select b from t") == "yours"


def test_an_interrupt_ends_the_statement_and_keeps_the_transaction(db: Db) -> None:
    db.run("begin work")
    db.run("insert into t values (2, 'two', 78)")
    endless = (
        "select count(*) from syscolumns a, syscolumns b, syscolumns c, syscolumns d, syscolumns e "
        "where a.colno + b.colno + c.colno + d.colno + e.colno > 3"
    )
    prepared = db.session.prepare(endless)
    timer = threading.Timer(0.3, db.session.interrupt)
    timer.start()
    with pytest.raises(Exception, match="-213") as caught:
        db.session.query(prepared, ())
    assert (caught.value.sqlcode, caught.value.isamcode) == (-213, -157)  # type: ignore[attr-defined]
    assert db.value("select count(*) from t") == 2
    db.run("commit work")


def test_sessions_in_many_threads_do_not_disturb_each_other(engine: Engine, db: Db) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            mine = connect(engine)
            mine.run("create temp table own (a integer, tail integer)")
            for i in range(10):
                mine.run("insert into own values (?, ?)", i, number)
                mine.run("insert into t values (?, 'x', ?)", 1000 * number + i, number)
            assert mine.rows("select count(*), min(tail), max(tail) from own") == [(10, number, number)]
            mine.session.close()
        except BaseException as e:  # noqa: BLE001
            failures.append(e)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert db.value("select count(*) from t") == 61


def test_closing_a_session_rolls_its_transaction_back(engine: Engine, db: Db) -> None:
    other = connect(engine)
    other.run("begin work")
    other.run("insert into t values (9, 'x', 9)")
    other.session.close()
    assert db.rows("select id from t") == [(1,)]


def test_committed_work_survives_in_a_directory(tmp_path: Path) -> None:
    engine = Engine(tmp_path, "informix", VERSION, SplLibrary())
    db = connect(engine)
    db.run("create database kept with log")
    db = connect(engine, "kept")
    db.run("create table t (id serial, d datetime year to fraction(3), f decimal(16), tail integer)")
    db.run("insert into t values (0, '2024-02-29 01:02:03.456', '1e-20', 7)")
    db.run("begin work")
    db.run("insert into t values (0, null, null, 8)")
    engine.close()
    again = Engine(tmp_path, "informix", VERSION, SplLibrary())
    db = connect(again, "kept")
    names = ["id", "d", "f", "tail"]
    types = ["SERIAL", "DATETIME YEAR TO FRACTION(3)", "DECIMAL(16)", "INTEGER"]
    assert db.types("select * from t") == list(zip(names, types, strict=True))
    assert [(row[0], row[2], row[3]) for row in db.rows("select * from t")] == [(1, "0." + "0" * 19 + "1", 7)]
    assert db.run("insert into t (tail) values (9)").serial == 2
    again.close()


def test_rows_that_the_transaction_has_added_have_row_ids(db: Db) -> None:
    db.run("create table numbered (n int, tail int)")
    db.run("insert into numbered values (1, 7)")
    db.session.begin()
    db.run("insert into numbered values (2, 7)")
    db.run("insert into numbered values (3, 7)")
    added = [2**31 - 1, 2**31 - 2]
    assert db.rows("select rowid, n, tail from numbered order by n") == [
        (257, 1, 7),
        (added[0], 2, 7),
        (added[1], 3, 7),
    ]
    assert db.rows("select n, tail from numbered where rowid = ?", 257) == [(1, 7)]
    assert db.run(f"update numbered set n = 33 where rowid = {added[1]}").rows == 1
    assert db.run("delete from numbered where rowid = ?", added[0]).rows == 1
    assert db.rows("select n, tail from numbered where rowid in (select rowid from numbered) order by n") == [
        (1, 7),
        (33, 7),
    ]
    db.session.commit()
    assert db.rows("select rowid, n from numbered order by n") == [(257, 1), (258, 33)]
