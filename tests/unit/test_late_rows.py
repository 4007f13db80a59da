"""Rows of temporary tables that wait for the next statement: nobody may tell that they did."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from informix_arrow.server.engine.duck_transaction import DuckTransaction
from informix_arrow.server.engine.engine import Engine
from informix_arrow.server.engine.late_rows import MOST_ROWS, LateRows

from .engine_support import Db, connect

COLUMNS = "(k integer not null, name varchar(5), n smallint, tail char(3))"


@pytest.fixture
def db(fresh_engine: Engine) -> Db:
    found = connect(fresh_engine)
    found.run(f"create temp table t {COLUMNS}")
    return found


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The single statements that sessions give DuckDB."""
    run: list[str] = []
    rows = DuckTransaction.rows

    def noted(self: DuckTransaction, sql: str, values: Any = None) -> list[tuple[Any, ...]]:
        run.append(sql)
        return rows(self, sql, values)

    monkeypatch.setattr(DuckTransaction, "rows", noted)
    return run


def fill(db: Db, count: int, table: str = "t", first: int = 0) -> None:
    for k in range(first, first + count):
        assert db.run(f"insert into {table} values ({k}, 'r{k}', {k % 7}, 'end')").rows == 1


def test_rows_that_wait_are_one_statement() -> None:
    late = LateRows()
    for row in ([1, "a"], [2, None]):
        assert late.takes("INSERT INTO t VALUES (?, ?)")
        late.add("INSERT INTO t VALUES (?, ?)", row)
    assert late.statement() == ("INSERT INTO t VALUES (?, ?), (?, ?)", [1, "a", 2, None])
    assert not late.takes("INSERT INTO u VALUES (?, ?)")
    late.clear()
    assert late.takes("INSERT INTO u VALUES (?, ?)")
    assert not late


def test_no_insert_asks_duckdb_until_somebody_looks(db: Db, statements: list[str]) -> None:
    fill(db, 5)
    assert statements == []
    assert db.rows("select k, name, n, tail from t order by k") == [(k, f"r{k}", k, "end") for k in range(5)]


@pytest.mark.parametrize("count", [MOST_ROWS - 1, MOST_ROWS, MOST_ROWS + 1, 2 * MOST_ROWS + 3])
def test_they_come_in_their_order_however_many_they_are(db: Db, count: int) -> None:
    fill(db, count)
    assert db.rows("select k from t") == [(k,) for k in range(count)]


def test_inserts_into_two_tables_by_turns(db: Db) -> None:
    db.run(f"create temp table u {COLUMNS}")
    for k in range(6):
        fill(db, 1, "tu"[k % 2], k)
    assert db.rows("select k from t") == [(0,), (2,), (4,)]
    assert db.rows("select k from u") == [(1,), (3,), (5,)]


def test_the_statements_that_change_a_table_find_them(db: Db) -> None:
    fill(db, 4)
    assert db.run("update t set name = 'new' where k > 0").rows == 3
    fill(db, 2, first=4)
    assert db.run("delete from t where k in (0, 5)").rows == 2
    fill(db, 1, first=6)
    db.run("create temp table u (k integer, tail integer)")
    assert db.run("insert into u select k, 77 from t").rows == 5
    assert db.rows("select k, name, tail from t order by k") == [
        (1, "new", "end"), (2, "new", "end"), (3, "new", "end"), (4, "r4", "end"), (6, "r6", "end")
    ]  # fmt: skip
    fill(db, 3)
    db.run("drop table t")
    assert db.fails("select * from t").sqlcode == -206


def test_a_transaction_begins_behind_them_and_does_not_take_them_back(db: Db) -> None:
    fill(db, 2)
    db.session.begin()
    fill(db, 2, first=2)
    assert db.value("select count(*) from t") == 4
    db.session.rollback()
    assert db.rows("select k from t") == [(0,), (1,)]
    fill(db, 1, first=9)
    db.session.begin()
    assert db.fails("select nothing from t").sqlcode == -217
    db.session.rollback()
    assert db.rows("select k from t") == [(0,), (1,), (9,)]


def test_what_is_wrong_with_a_row_is_said_at_once(db: Db) -> None:
    fill(db, 1)
    assert db.fails("insert into t values (null, 'x', 1, 'end')").sqlcode == -391
    assert db.fails("insert into t values (1, 'x', 40000, 'end')").sqlcode == -1214
    cut = db.run("insert into t values (1, 'longer than five', 1, 'end')")
    assert cut.warnings
    assert db.rows("select name, tail from t") == [("r0", "end"), ("longe", "end")]


def test_keys_are_looked_at_with_each_row(db: Db) -> None:
    fill(db, 2)
    db.run("create unique index u on t (k)")
    assert db.fails("insert into t values (1, 'x', 1, 'end')").sqlcode in (-239, -268)
    db.run("create temp table checked (k integer check (k < 5), tail integer)")
    assert db.fails("insert into checked values (5, 77)").sqlcode == -530
    assert db.value("select count(*) from checked") == 0


def test_a_result_that_is_being_read_does_not_see_them(db: Db) -> None:
    db.run(f"create temp table small {COLUMNS}")
    db.many("insert into small values (?, 'x', 1, 'end')", [(k,) for k in range(300)])
    db.run("insert into t select a.k * 300 + b.k, a.name, b.n, a.tail from small a, small b")
    result = db.session.query(db.session.prepare("select k, tail from t"), ())
    batches = result.batches()
    read = next(batches).num_rows
    fill(db, MOST_ROWS + 2, first=500_000)
    assert read + sum(batch.num_rows for batch in batches) == 90_000
    assert db.value("select count(*) from t") == 90_000 + MOST_ROWS + 2


def test_without_room_they_wait_on_and_nobody_reads_a_table_without_them(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(db, 3)
    duck = db.session._duck
    real = duck._con

    class Full:
        """No room for rows."""

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def execute(self, query: object, *values: Any) -> Any:
            if values and len(values[0]) == 12:
                raise duckdb.OutOfMemoryException("no room")
            return real.execute(query, *values)

    monkeypatch.setattr(duck, "_con", Full())
    assert db.fails("select count(*) from t").sqlcode == -208
    monkeypatch.setattr(duck, "_con", real)
    assert db.value("select count(*) from t") == 3
