"""Temporary tables, and rows of theirs, that wait for the next statement: nobody may tell that they did."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from informix_arrow.server.engine.engine import Engine
from informix_arrow.server.engine.late_tables import MOST_ROWS, MOST_TABLES, LateTables

from .engine_support import Db, connect

COLUMNS = "(k integer not null, name varchar(5), n smallint, tail char(3))"


@pytest.fixture
def db(fresh_engine: Engine) -> Db:
    found = connect(fresh_engine)
    found.run(f"create temp table t {COLUMNS}")
    return found


class Asked:
    """A session's connection to DuckDB that writes down what it is asked."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.said: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def extract_statements(self, sql: str) -> Any:
        self.said.append(sql)
        return self._real.extract_statements(sql)

    def execute(self, sql: Any, *values: Any) -> Any:
        if isinstance(sql, str):
            self.said.append(sql)
        return self._real.execute(sql, *values)


@pytest.fixture
def asked(db: Db, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the session says to DuckDB for the first time."""
    found = Asked(db.session._duck._con)
    monkeypatch.setattr(db.session._duck, "_con", found)
    return found.said


def fill(db: Db, count: int, table: str = "t", first: int = 0) -> None:
    for k in range(first, first + count):
        assert db.run(f"insert into {table} values ({k}, 'r{k}', {k % 7}, 'end')").rows == 1


def told(late: LateTables) -> list[tuple[str, list[object]]]:
    """What DuckDB is told of all that waits."""
    found = []
    while late:
        found.append(late.statement())
        late.done()
    return found


def test_a_table_is_made_and_its_rows_are_one_statement() -> None:
    late = LateTables()
    late.create("t", "CREATE t")
    late.add("u", "INSERT INTO u VALUES (?)", [7])
    for row in ([1, "a"], [2, None]):
        late.add("t", "INSERT INTO t VALUES (?, ?)", row)
    assert late.rows("t") == [[1, "a"], [2, None]]
    assert late.rows("u") is None  # DuckDB has others
    assert told(late) == [
        ("CREATE t", []),
        ("INSERT INTO t VALUES (?, ?), (?, ?)", [1, "a", 2, None]),
        ("INSERT INTO u VALUES (?)", [7]),
    ]
    assert not late
    assert late.rows("t") is None


def test_what_was_told_partly_goes_on_where_it_was() -> None:
    late = LateTables()
    late.create("t", "CREATE t")
    late.add("t", "INSERT INTO t VALUES (?)", [1])
    late.statement()
    late.done()
    assert not late.drop("t")
    assert late.rows("t") is None
    assert told(late) == [("INSERT INTO t VALUES (?)", [1])]


def test_a_table_that_goes_makes_room_for_others_rows() -> None:
    late = LateTables()
    late.create("t", "CREATE t")
    for k in range(MOST_ROWS):
        assert late.takes_row
        late.add("t", "INSERT INTO t VALUES (?)", [k])
    assert not late.takes_row
    assert late.drop("t")
    assert late.takes_row
    assert not late


def test_a_small_table_is_made_filled_read_and_dropped_without_duckdb(db: Db, asked: list[str]) -> None:
    db.run(f"create temp table u {COLUMNS} with no log")
    fill(db, 5, "u")
    assert db.rows("select k, name, n, tail from u order by k desc") == [
        (k, f"r{k}", k, "end") for k in range(4, -1, -1)
    ]
    db.run("drop table u")
    assert not any('"u"' in sql for sql in asked)
    assert db.fails("select k from u").sqlcode == -206
    assert db.fails("insert into u values (1, 'x', 1, 'end')").sqlcode == -206
    db.run("create temp table u (other char(1), tail integer)")
    assert db.rows("select * from u") == []


def test_whatever_else_is_asked_of_it_finds_it_in_duckdb(db: Db, asked: list[str]) -> None:
    fill(db, 3)
    assert asked == []
    assert db.value("select count(*) from t") == 3
    assert [sql.partition(" (")[0] for sql in asked[:2]] == [
        'CREATE TEMP TABLE temp.main."t"',
        'INSERT INTO temp.main."t"',
    ]


QUERIES = [
    "select * from t",
    "select distinct name, n from t order by name, n",
    "select unique n, tail from t order by n desc, tail",
    "select tail as first, k, n from t order by first desc, n, k desc",
    "select x.n, x.n, x.k from t x order by x.k",
    "select n, k from t order by 2 desc",
    "select name, tail, k from t order by name desc, k",
    "select rowid, k from t order by k",
    "select name, k from t where n > 2 order by k",
    "select first 2 k, tail from t order by k",
    "select k, n + 1 from t order by k",
    "select max(k), n from t group by n order by n",
    "select k from t order by n desc, k",
    "select name, k from t order by upper(name), k",
]


@pytest.mark.parametrize("query", QUERIES)
def test_its_rows_are_those_that_duckdb_gives(fresh_engine: Engine, query: str) -> None:
    """The same rows twice: in a table that waits, and in one that DuckDB has."""
    rows = [
        (5, "b", 3, "end"), (1, None, None, "x"), (4, "a", -1, None), (3, "\u00e4", 3, "end"), (2, "B", None, "x"),
        (6, "a ", 3, "End"), (7, "", 0, ""), (8, "a", 3, "end"), (9, "\U0001f600", -1, "\uffff"), (10, "~", 7, " "),
    ]  # fmt: skip
    answers = []
    for known in (False, True):
        db = connect(fresh_engine)
        db.run("create temp table t (k integer not null, name varchar(9), n smallint, tail char(3))")
        if known:
            assert db.value("select count(*) from t") == 0
        for row in rows:
            db.run("insert into t values (?, ?, ?, ?)", *row)
        answers.append(db.rows(query))
        db.session.close()
    assert answers[0] == answers[1]
    assert len(answers[0]) > 1


def test_a_view_and_a_synonym_cannot_stand_for_it_while_it_waits(db: Db) -> None:
    assert db.fails("create view v as select k from t").sqlcode == -337
    assert db.fails(f"create temp table t {COLUMNS}").sqlcode == -958
    db.run("create table stored (k integer)")
    assert db.fails("create temp table stored (k integer)").sqlcode == -310
    db.run(f"create temp table if not exists t {COLUMNS}")
    fill(db, 1)
    assert db.rows("select k from t") == [(0,)]


@pytest.mark.parametrize(
    "change",
    [
        "alter table t add (more integer)",
        "create index i on t (k)",
        "rename column t.n to m",
        "update t set n = 9",
        "delete from t where k = 1",
        "truncate table t",
    ],
)
def test_it_is_changed_as_any_table(db: Db, change: str) -> None:
    fill(db, 3)
    db.run(change)
    fill_more = "insert into t (k, name, tail) values (7, 'late', 'end')"
    assert db.run(fill_more).rows == 1
    expected = {"delete from t where k = 1": [0, 2, 7], "truncate table t": [7]}.get(change, [0, 1, 2, 7])
    assert [row[0] for row in db.rows("select k, tail from t order by k")] == expected


def test_what_a_transaction_does_to_it_is_taken_back(db: Db) -> None:
    fill(db, 2)
    db.session.begin()
    db.run("drop table t")
    db.run("create temp table t (other integer, tail integer)")
    db.run("insert into t values (1, 77)")
    db.session.rollback()
    assert db.rows("select k, tail from t") == [(0, "end"), (1, "end")]
    db.session.begin()
    db.run("create temp table inside (k integer, tail integer)")
    db.run("insert into inside values (1, 77)")
    db.session.rollback()
    assert db.fails("select k from inside").sqlcode == -206
    db.run("create temp table inside (k integer, tail integer)")
    db.run("insert into inside values (2, 77)")
    assert db.rows("select * from inside") == [(2, 77)]


def test_a_statement_that_fails_leaves_it(db: Db) -> None:
    fill(db, 2)
    db.run("create table stored (k integer primary key, tail integer)")
    db.run("insert into stored values (1, 77)")
    assert db.fails("insert into stored select 1, k from t").sqlcode in (-239, -268)
    assert db.rows("select k, tail from t") == [(0, "end"), (1, "end")]
    assert db.fails("create temp table twice (k integer, k smallint)").sqlcode == -328
    assert db.fails("select k from twice").sqlcode == -206


def test_names_that_duckdb_takes_for_others_are_told_at_once(fresh_engine: Engine) -> None:
    db = connect(fresh_engine, DELIMIDENT="y")
    db.run("create temp table t (k integer, tail integer)")
    db.run('create temp table "Other" ("K" integer, tail integer)')
    db.run('insert into "Other" values (1, 77)')
    db.run("insert into t values (2, 78)")
    assert db.rows('select * from "Other"') == [(1, 77)]
    assert db.rows("select * from t") == [(2, 78)]


def test_many_tables_wait_and_none_is_lost(db: Db) -> None:
    names = [f"many{n}" for n in range(2 * MOST_TABLES + 1)]
    for n, name in enumerate(names):
        db.run(f"create temp table {name} (k integer, tail char(3))")
        db.run(f"insert into {name} values ({n}, 'end')")
    assert [db.rows(f"select * from {name}") for name in names] == [[(n, "end")] for n in range(len(names))]


def test_it_goes_with_its_database(db: Db, asked: list[str]) -> None:
    fill(db, 2)
    db.session.close_database()
    db.session.open_database("stores_demo")
    assert not any('"t"' in sql for sql in asked)
    assert db.fails("select k from t").sqlcode == -206


def test_a_query_of_the_catalogue_leaves_it_waiting(db: Db, asked: list[str]) -> None:
    query = "select tabid, tabname from systables where tabname = ?"
    for _ in range(3):  # from the third time on its rows are kept
        assert db.rows(query, "systables") == [(1, "systables")]
        db.run(f"create temp table u {COLUMNS}")
        fill(db, 2, "u")
        asked.clear()
        assert db.rows(query, "systables") == [(1, "systables")]
        assert not any("temp.main" in sql for sql in asked)
        assert db.rows("select k from u") == [(0,), (1,)]
        db.run("drop table u")


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
            if values and values[0]:
                raise duckdb.OutOfMemoryException("no room")
            return real.execute(query, *values)

    monkeypatch.setattr(duck, "_con", Full())
    assert db.fails("select count(*) from t").sqlcode == -208
    monkeypatch.setattr(duck, "_con", real)
    assert db.value("select count(*) from t") == 3
