"""Plans shared by sessions: found again by their text, and never used where the text would mean something else."""

from __future__ import annotations

import threading

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.engine_session import open_session
from informix_arrow.server.session.plan_cache import CACHE_SIZE, MAX_TEXT, PlanCache
from informix_arrow.server.session.prepared_plan import PreparedPlan


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


@pytest.fixture
def pair(engine: Engine) -> tuple[Db, Db]:
    first, second = connect(engine), connect(engine)
    first.run("create table t (a int, b varchar(10))")
    first.run("insert into t values (1, 'one')")
    return first, second


SELECT = "select a, b from t"


def test_another_session_need_not_read_a_text_again(pair: tuple[Db, Db]) -> None:
    first, second = pair
    assert second.session.prepare(SELECT) is first.session.prepare(SELECT)
    assert second.rows(SELECT) == [(1, "one")]


def test_a_changed_table_is_described_anew_for_all(pair: tuple[Db, Db]) -> None:
    first, second = pair
    star = "select * from t"
    assert [name for name, _ in first.types(star)] == [name for name, _ in second.types(star)] == ["a", "b"]
    first.run("alter table t add (c int)")
    assert second.rows(star) == [(1, "one", None)]
    assert first.rows(star) == [(1, "one", None)]


def test_a_table_of_that_name_that_is_made_again_is_another(pair: tuple[Db, Db]) -> None:
    first, second = pair
    assert first.rows(SELECT) == second.rows(SELECT)
    second.run("drop table t")
    second.run("create table t (b date, a varchar(5))")
    second.run("insert into t values ('12/31/2025', 'x')")
    assert first.types(SELECT) == [("a", "VARCHAR(5)"), ("b", "DATE")]
    assert first.value("select a from t") == "x"


def test_a_temporary_table_hides_a_later_one_from_its_session_only(pair: tuple[Db, Db]) -> None:
    first, second = pair
    second.run("create temp table u (a varchar(10))")
    second.run("insert into u values ('two')")
    first.run("create table u (a int)")
    first.run("insert into u values (1)")
    for _ in range(2):
        assert first.rows("select a from u") == [(1,)]
        assert second.rows("select a from u") == [("two",)]
    second.run("drop table u")
    assert second.rows("select a from u") == [(1,)]


def test_a_change_that_is_not_committed_is_its_transaction_s_alone(pair: tuple[Db, Db]) -> None:
    first, second = pair
    star = "select * from t"
    first.session.begin()
    first.run("alter table t add (c int)")
    assert first.rows(star) == [(1, "one", None)]
    assert connect(first.session.engine).types(star) == [("a", "INTEGER"), ("b", "VARCHAR(10)")]
    first.session.rollback()
    assert first.rows(star) == [(1, "one")]
    assert second.rows(star) == [(1, "one")]


def test_databases_users_and_settings_have_plans_of_their_own(engine: Engine, pair: tuple[Db, Db]) -> None:
    first, _ = pair
    dates = "select date('01/02/2026') from t"
    assert str(connect(engine, DBDATE="DMY4/").value(dates)) == "2026-02-01"
    assert str(first.value(dates)) == "2026-01-02"
    quoted = 'select "a" from t'
    assert first.value(quoted) == "a"
    assert connect(engine, DELIMIDENT="y").value(quoted) == 1
    named = "select user::varchar(20) from t"
    assert first.value(named) == "informix"
    other = open_session(engine, "carla", {})
    other.open_database("stores_demo")
    assert Db(other).value(named) == "carla"
    assert connect(engine, "sysmaster").fails(SELECT).sqlcode == -206


NAMES = "select tabname, ncols from systables where tabid >= 100 and tabtype in ('T', 'V') order by tabid"


def test_a_query_of_the_catalogue_is_planned_once_whatever_is_made(pair: tuple[Db, Db]) -> None:
    first, second = pair
    planned = first.session.prepare(NAMES)
    first.run("create table u (a int)")
    second.run("create temp table v (a int) with no log")
    first.run("begin work")
    first.run("alter table u add (b int)")
    assert first.session.prepare(NAMES) is second.session.prepare(NAMES) is planned
    assert first.rows(NAMES) == [("t", 2), ("u", 2)]
    assert second.rows(NAMES) == [("t", 2), ("u", 1)]
    first.run("rollback work")
    assert first.rows(NAMES) == [("t", 2), ("u", 1)]


def test_a_query_of_the_catalogue_and_of_something_else_is_planned_again(pair: tuple[Db, Db]) -> None:
    first, second = pair
    first.run("create view seen (k) as select tabid from systables where tabname = 't'")
    both = "select s.* from seen s, systables y where s.k = y.tabid"
    assert first.types(both) == second.types(both) == [("k", "SERIAL")]
    second.run("drop view seen")
    second.run("create view seen (k, l) as select tabid, tabname from systables where tabname = 't'")
    assert [name for name, _ in first.types(both)] == ["k", "l"]
    assert [row[1] for row in first.rows(both)] == ["t"]


def test_the_catalogue_of_a_database_that_is_gone_is_not_found(engine: Engine, pair: tuple[Db, Db]) -> None:
    first, _ = pair
    engine.create_database("fleeting", ("log",), "en_US.57372")
    query = "select count(*) from fleeting:systables where tabid >= 100"
    assert first.value(query) == 0
    engine.drop_database("fleeting")
    assert first.fails(query).sqlcode == -329
    engine.create_database("fleeting", ("log",), "en_US.57372")
    assert first.value(query) == 0


def test_long_answers_of_the_catalogue_are_whole(pair: tuple[Db, Db]) -> None:
    first, _ = pair
    columns = first.value("select count(*) from syscolumns")
    assert columns > 65
    rows = first.rows("select a.colname, b.tabid, b.colno from syscolumns a, syscolumns b order by 2, 3, 1")
    assert len(rows) == columns**2
    assert rows[0][1:] == (1, 1)
    assert first.value("select count(*) from systables where tabname = 't'") == 1


def test_a_call_of_a_routine_belongs_to_its_session(pair: tuple[Db, Db]) -> None:
    first, second = pair
    first.run("create function twice(n int) returning int; return 2 * n; end function")
    called = "select twice(a) from t"
    assert first.session.prepare(called) is not second.session.prepare(called)
    assert (first.value(called), second.value(called)) == (2, 2)


def test_texts_that_hold_their_data_in_themselves_are_not_kept(pair: tuple[Db, Db]) -> None:
    long = f"select a from t where b <> '{'x' * MAX_TEXT}'"
    first, second = pair
    assert first.session.prepare(long) is not second.session.prepare(long)
    assert first.session.prepare(long) is not first.session.prepare(long)


def test_the_least_recently_used_goes_first_and_versions_do_not_mix() -> None:
    cache = PlanCache()
    kept = [PreparedPlan(str(number), 2) for number in range(CACHE_SIZE)]
    for number, prepared in enumerate(kept):
        cache.put(number, 1, prepared)
    assert cache.get(0, 1) is kept[0]
    cache.put("new", 1, kept[0])
    assert cache.get(1, 1) is None
    assert cache.get(0, 1) is kept[0]
    assert cache.get(0, 2) is None
    cache.put("later", 2, kept[1])
    cache.put("earlier", 1, kept[1])
    assert (cache.get("later", 2), cache.get(0, 1), cache.get("earlier", 1)) == (kept[1], None, None)


@pytest.mark.slow
def test_queries_beside_changes_of_their_table_get_whole_rows_or_an_error(pair: tuple[Db, Db]) -> None:
    """Each column holds the number in its name, so a row decoded by another description is noticed."""
    first, second = pair
    first.run("create table w (c0 int)")
    first.run("insert into w values (0)")
    done = threading.Event()
    wrong: list[object] = []
    asked = [0]

    def ask(db: Db) -> None:
        while not done.is_set():
            try:
                prepared = db.session.prepare("select * from w")
                for batch in db.session.query(prepared, ()).batches():
                    wrong.extend(
                        (name, value)
                        for name, column in zip(batch.schema.names, batch.columns, strict=True)
                        for value in column.to_pylist()
                        if value is not None and str(value) != name[1:]
                    )
                asked[0] += 1
            except SqlError as problem:
                if problem.sqlcode not in (-710, -244):  # the table was altered, or is locked by the change
                    wrong.append(problem)

    thread = threading.Thread(target=ask, args=(second,))
    thread.start()
    for number in range(1, 9):
        kind = "int" if number % 2 else "varchar(5)"
        first.run(f"alter table w add (c{number} {kind})")
        first.run(f"update w set c{number} = {number}")
        if number > 4:
            first.run(f"alter table w drop c{number - 4}")
    done.set()
    thread.join()
    assert not wrong
    assert asked[0] > 0
