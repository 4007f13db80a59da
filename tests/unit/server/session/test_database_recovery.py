"""A session whose database was attached again: its transaction continues, or an error says why it cannot."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.unit.server.sql_session import VERSION, Db, connect

from informix_arrow.server.errors import SqlError, from_duckdb, invalidated_database, is_durable
from informix_arrow.server.routines.session_routines import SplLibrary
from informix_arrow.server.session.duck_transaction import DuckTransaction
from informix_arrow.server.session.engine import Engine

pytestmark = pytest.mark.slow

GIVEN_UP = (
    'IO Error: Database "d_stores_demo" has been invalidated because checkpointing failed. Detach and reattach it '
    'before using it again. Original error: Could not write file "/x": No space left on device'
)
DURABLE = (
    "IO Error: Transaction COMMIT succeeded and is durable, but the autocheckpoint failed. Detach and reattach the "
    'database to recover. Checkpoint failed for database "d_stores_demo". The database has been invalidated. Original '
    'error: Could not write file "/x": No space left on device'
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = Engine(tmp_path, "informix", VERSION, SplLibrary())
    yield engine
    engine.close()


@pytest.fixture
def db(engine: Engine) -> Db:
    db = connect(engine)
    db.run("create table t (k int primary key, v varchar(20), tail int)")
    db.run("insert into t values (1, 'before', -1)")
    return db


def give_up(engine: Engine) -> None:
    """Simulate that DuckDB has given up the database. The next session that uses it attaches it again."""
    engine.databases.note_invalidated(duckdb.IOException(GIVEN_UP))
    assert engine.databases.invalidated == {"stores_demo"}


def test_a_transaction_goes_on_when_its_database_was_attached_anew(engine: Engine, db: Db) -> None:
    other = connect(engine)
    db.run("create temp table own (k int, v char(4))")
    db.session.begin()
    db.run("insert into t values (2, 'within', -2)")
    db.run("insert into own values (1, 'mine')")
    db.run("savepoint here")
    db.run("update t set v = 'changed' where k = 1")
    give_up(engine)
    with engine.recovery:
        assert other.fails("select k, v, tail from t").sqlcode == -244  # the locks are still held
    assert not engine.databases.invalidated
    assert db.rows("select k, v, tail from t order by k") == [(1, "changed", -1), (2, "within", -2)]
    give_up(engine)
    with engine.recovery:
        db.run("rollback to savepoint here")
    assert db.rows("select k, v, tail from t order by k") == [(1, "before", -1), (2, "within", -2)]
    give_up(engine)
    with engine.recovery:
        db.session.commit()
    assert other.rows("select k, v, tail from t order by k") == [(1, "before", -1), (2, "within", -2)]
    assert db.rows("select k, v from own") == [(1, "mine")]


def test_a_transaction_that_cannot_be_begun_again_is_lost_and_reported(engine: Engine, db: Db) -> None:
    db.session.begin()
    db.run("insert into t values (2, 'within', -2)")
    give_up(engine)
    with engine.recovery:
        pass
    connect(engine).session.transaction.con.execute("INSERT INTO t VALUES (2, 'meanwhile', 0)")
    assert db.fails("insert into t values (3, 'after', -3)").sqlcode == -458
    assert not db.session.in_transaction
    assert db.rows("select k, v, tail from t order by k") == [(1, "before", -1), (2, "meanwhile", 0)]


def test_rolling_back_what_was_let_go_ends_it(engine: Engine, db: Db) -> None:
    db.session.begin()
    db.run("insert into t values (2, 'within', -2)")
    give_up(engine)
    with engine.recovery:
        db.session.rollback()
    assert db.rows("select k, v, tail from t") == [(1, "before", -1)]


def test_rows_that_were_being_fetched_are_never_fewer_without_an_error(engine: Engine, db: Db) -> None:
    query = db.session.prepare("select a.tabid, b.tabid, c.tabid from systables a, systables b, systables c")
    result = db.session.query(query, ())
    batches = result.batches()
    assert next(batches).num_rows > 0
    give_up(engine)
    with engine.recovery:
        pass
    with pytest.raises(SqlError) as caught:
        list(batches)
    assert (caught.value.sqlcode, caught.value.isamcode) == (-271, -131)
    assert db.rows("select k, v, tail from t") == [(1, "before", -1)]


def test_nothing_is_attached_anew_while_somebody_works(engine: Engine, db: Db) -> None:
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with engine.recovery:
            inside.set()
            leave.wait(60)

    worker = threading.Thread(target=work)
    worker.start()
    assert inside.wait(60)
    give_up(engine)
    with engine.recovery:
        assert engine.databases.invalidated  # the recovery was waited for, in vain
    leave.set()
    worker.join()
    with engine.recovery:
        assert not engine.databases.invalidated
        assert db.rows("select k, v, tail from t") == [(1, "before", -1)]


def test_while_a_database_cannot_be_attached_its_statements_find_no_room(
    engine: Engine, db: Db, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = engine.databases._path
    monkeypatch.setattr(engine.databases, "_path", lambda name: str(tmp_path / "no" / "such" / "place"))
    give_up(engine)
    with engine.recovery:
        problem = db.fails("select k, v, tail from t")
    assert (problem.sqlcode, problem.isamcode) == (-271, -131)
    monkeypatch.setattr(engine.databases, "_path", path)
    with engine.recovery:
        assert db.rows("select k, v, tail from t") == [(1, "before", -1)]


@pytest.mark.parametrize(
    ("statement", "failing"),
    [
        ("update t set v = 'changed', tail = 9 where k = 1", "UPDATE"),
        ("update t set v = 'changed', tail = 9 where v = 'before'", "COMMIT"),
    ],
)
def test_a_change_that_took_effect_before_duckdb_failed_is_answered_as_one(
    engine: Engine, db: Db, monkeypatch: pytest.MonkeyPatch, statement: str, failing: str
) -> None:
    """A change by key is a separate transaction in DuckDB, so it is tested, too."""
    rows = DuckTransaction.fetch_rows

    def durable(self: DuckTransaction, sql: str, values: object = None) -> object:
        found = rows(self, sql, values)
        if sql.startswith(failing):
            raise duckdb.IOException(DURABLE)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(DuckTransaction, "fetch_rows", durable)
        assert db.run(statement).rows == 1
    assert engine.databases.invalidated == {"stores_demo"}
    with engine.recovery:
        assert connect(engine).rows("select k, v, tail from t") == [(1, "changed", 9)]


def test_what_duckdb_says_of_a_database_that_it_gives_up_is_understood() -> None:
    for said in (GIVEN_UP, DURABLE):
        error = duckdb.IOException(said)
        assert invalidated_database(error) == "d_stores_demo"
        assert is_durable(error) == (said == DURABLE)
        assert (from_duckdb(error).sqlcode, from_duckdb(error).isamcode) == (-271, -131)
    assert invalidated_database(duckdb.IOException("IO Error: no space left on device")) == ""
    fatal = duckdb.FatalException(
        "FATAL Error: Failed: database has been invalidated because of a previous fatal error. The database must be "
        "restarted prior to being used again."
    )
    assert invalidated_database(fatal) == ""
    assert from_duckdb(fatal).sqlcode == -768  # not a full disk
    assert not is_durable(duckdb.IOException("TransactionContext Error: Failed to commit"))
