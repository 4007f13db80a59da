"""Results that are computed while they are fetched have the rows of the moment of the OPEN, whatever happens later."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, cast

import duckdb
import pyarrow as pa
import pytest
from tests.internals import file_of
from tests.unit.server.sql_session import VERSION, Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.routines.session_routines import SplLibrary
from informix_arrow.server.session import isolation, spill_file, spool
from informix_arrow.server.session.duck_instance import ResourceLimits
from informix_arrow.server.session.duck_transaction import DuckTransaction
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.locks import Locks
from informix_arrow.server.session.prepared_plan import QueryResult
from informix_arrow.server.session.schema_version import SchemaVersion
from informix_arrow.server.session.spool import BatchSpool
from informix_arrow.server.session.streamed_result import StreamedResult

pytestmark = pytest.mark.slow

ROWS = 150_000  # three batches, which exceed the memory of a spool


def fill(db: Db) -> None:
    db.run("create table big (id integer, txt varchar(120), tail integer)")
    db.session.transaction.con.execute(
        "INSERT INTO big SELECT i - 5, CASE WHEN i % 7 = 0 THEN NULL ELSE 'Öl ' || rpad(i::VARCHAR, 90, ' x') END, 77 "
        f"FROM range({ROWS}) AS r(i)"
    )
    db.run("create table other (id integer primary key, tail integer)")


@pytest.fixture(autouse=True)
def small_spools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the memory of spools, so that fewer rows need a file."""
    monkeypatch.setattr(spool, "MEMORY", 1 << 20)
    monkeypatch.setattr("informix_arrow.server.session.duck_executor.MEMORY", 1 << 20)
    monkeypatch.setattr(BatchSpool.__init__, "__defaults__", (1 << 20, None))


def opened(db: Db, sql: str = "select * from big", held: bool = True) -> QueryResult:
    result = db.session.query(db.session.prepare(sql), ())
    result.set_hold(held)
    return result


def passed_over(batches: Iterator[pa.RecordBatch]) -> None:
    """Read all remaining batches without creating Python values."""
    for _ in batches:
        pass


def taken(batches: Iterator[pa.RecordBatch], number: int | None = None) -> list[pa.RecordBatch]:
    """Return the next ``number`` batches, or all with None."""
    return list(batches if number is None else islice(batches, number))


@cache
def everything() -> pa.Table:
    padding = " x" * 45
    return pa.table(
        {
            "id": [i - 5 for i in range(ROWS)],
            "txt": [None if i % 7 == 0 else f"Öl {(str(i) + padding)[:90]}" for i in range(ROWS)],
            "tail": [77] * ROWS,
        }
    )


def are(batches: Sequence[pa.RecordBatch], wanted: pa.Table) -> bool:
    """Return whether these are the rows. They are compared in Arrow, as that takes much less time than in Python."""
    found = pa.Table.from_batches(batches).rename_columns(wanted.column_names)
    return bool(found.equals(wanted.cast(found.schema)))


def listed(batches: Sequence[pa.RecordBatch]) -> list[tuple[Any, ...]]:
    """Return a few rows as Python values."""
    return [row for batch in batches for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)]


def test_a_large_result_is_not_made_whole(db: Db) -> None:
    result = opened(db)
    assert result.rows == -1
    assert are(taken(result.batches()), everything())


def test_a_small_result_leaves_the_connection_free(db: Db) -> None:
    result = opened(db, "select * from big where id < 10")
    assert result.rows == 15
    assert are(taken(result.batches()), everything()[:15])


BETWEEN = {
    "a query": ["select count(*) from big"],
    "a large query": ["select * from big"],
    "a write": ["insert into other values (1, 77)"],
    "a transaction": ["begin work", "insert into other values (2, 77)", "commit work"],
    "a transaction that is rolled back": ["begin work", "delete from big where 1 = 1", "rollback work"],
    "a change of its own rows": ["update big set txt = 'x' where 1 = 1"],
    "its rows deleted": ["delete from big where 1 = 1"],
    "its table dropped": ["drop table big"],
    "its table altered": ["alter table big add (more integer)"],
    "a failing statement": ["select id from nowhere", "insert into other values ('abc', 1)"],
}


@pytest.mark.parametrize("between", BETWEEN)
def test_statements_of_the_session_run_between_two_fetches(db: Db, between: str) -> None:
    batches = opened(db).batches()
    rows = taken(batches, 1)
    for sql in BETWEEN[between]:
        try:
            prepared = db.session.prepare(sql)
            if prepared.returns_rows:
                db.session.query(prepared, ())
            else:
                db.session.execute(prepared, ())
        except SqlError:
            assert "failing" in between
    assert are(rows + taken(batches), everything())


@pytest.mark.parametrize(
    "change", ["delete from big where 1 = 1", "drop table big", "alter table big add (x int)"]
)
def test_another_session_changes_the_table_between_two_fetches(engine: Engine, db: Db, change: str) -> None:
    batches = opened(db).batches()
    rows = taken(batches, 1)
    connect(engine).run(change)
    assert are(rows + taken(batches), everything())


def test_two_large_results_are_read_by_turns(db: Db) -> None:
    first, second = opened(db).batches(), opened(db, "select id, tail from big").batches()
    ones: list[pa.RecordBatch] = []
    twos: list[pa.RecordBatch] = []
    for _ in range(ROWS // 2048 + 2):
        ones += taken(first, 1)
        twos += taken(second, 1)
    assert are(ones, everything())
    assert are(twos, everything().select(["id", "tail"]))


def test_a_result_shows_what_its_own_transaction_had_written_when_it_was_opened(db: Db) -> None:
    db.run("begin work")
    db.run("update big set tail = 78 where id >= 0")
    batches = opened(db, "select tail from big").batches()
    rows = taken(batches, 1)
    db.run("update big set tail = 79 where id >= 0")
    rows += taken(batches)
    db.run("rollback work")
    assert are(rows, pa.table({"tail": [77] * 5 + [78] * (ROWS - 5)}))


def test_an_open_result_survives_a_transaction_that_has_to_be_put_together_again(db: Db) -> None:
    """A failing statement aborts DuckDB's transaction, and the server repeats it from its journal."""
    db.run("begin work")
    db.run("insert into other values (1, 77)")
    batches = opened(db).batches()
    rows = taken(batches, 1)
    assert db.fails("insert into other values (1, 78)").sqlcode in (-239, -268)
    assert db.fails("update other set tail = 1 / 0").sqlcode == -1202
    rows += taken(batches, 1)
    db.run("insert into other values (2, 79)")
    rows += taken(batches)
    db.run("commit work")
    assert are(rows, everything())
    assert db.rows("select * from other") == [(1, 77), (2, 79)]


def test_an_open_result_survives_the_commit_of_another_session_that_its_transaction_must_see(
    engine: Engine, db: Db
) -> None:
    db.run("begin work")
    db.run("insert into other values (1, 77)")
    batches = opened(db).batches()
    rows = taken(batches, 1)
    connect(engine).run("insert into big values (-1, 'later', 1)")
    assert db.value("select count(*) from big") == ROWS + 1
    rows += taken(batches)
    db.run("commit work")
    assert are(rows, everything())
    assert db.rows("select * from other") == [(1, 77)]


@pytest.mark.parametrize("end", ["commit work", "rollback work"])
def test_a_held_result_goes_on_after_the_end_of_its_transaction(db: Db, end: str) -> None:
    db.run("begin work")
    db.run("update big set tail = 78 where 1 = 1")
    batches = opened(db, "select id, tail from big").batches()
    rows = taken(batches, 1)
    db.run(end)
    rows += taken(batches)
    assert are(rows, pa.table({"id": range(-5, ROWS - 5), "tail": [78] * ROWS}))


FAILS_LATE = "select id, case when id < 490000 then 0 else 10 / (500000 - id) end from long"


@pytest.fixture
def long(db: Db) -> None:
    """Create a table with more rows than DuckDB's threads read ahead."""
    db.run("create table long (id integer, tail integer)")
    db.session.transaction.con.execute("INSERT INTO long SELECT i, 77 FROM range(600000) AS r(i)")


@pytest.mark.usefixtures("long")
def test_an_error_far_behind_the_first_row_is_raised_where_it_is_met(db: Db) -> None:
    batches = opened(db, FAILS_LATE).batches()
    assert taken(batches, 1)[0][0][0].as_py() == 0
    with pytest.raises(SqlError) as caught:
        passed_over(batches)
    assert caught.value.sqlcode == -1202


@pytest.mark.usefixtures("long")
def test_an_error_far_behind_the_first_row_is_no_other_statements(db: Db) -> None:
    db.run("begin work")
    db.run("insert into other values (1, 77)")
    batches = opened(db, FAILS_LATE).batches()
    taken(batches, 1)
    db.run("insert into other values (2, 78)")
    assert db.rows("select * from other") == [(1, 77), (2, 78)]
    with pytest.raises(SqlError) as caught:
        passed_over(batches)
    assert caught.value.sqlcode == -1202
    db.run("commit work")
    assert db.rows("select * from other") == [(1, 77), (2, 78)]


@contextmanager
def urged(db: Db) -> Iterator[None]:
    """Interrupt the session again and again until the block ends, like the server."""
    over = threading.Event()

    def urge() -> None:
        while not over.wait(0.02):
            db.session.interrupt()

    urging = threading.Thread(target=urge)
    urging.start()
    try:
        yield
    finally:
        over.set()
        urging.join()


def test_an_interrupt_ends_the_result_that_is_fetched_and_nothing_else(db: Db) -> None:
    db.run("begin work")
    db.run("insert into other values (1, 77)")
    slow = opened(
        db, "select a.id, b.id from big a, big b where a.id + b.id > 1 and a.tail = b.tail"
    ).batches()
    taken(slow, 1)
    with urged(db), pytest.raises(SqlError) as caught:
        passed_over(slow)
    assert caught.value.sqlcode == -213
    db.run("commit work")
    assert db.rows("select * from other") == [(1, 77)]


def test_an_interrupt_of_a_statement_that_waits_for_an_open_result_costs_the_result_nothing(db: Db) -> None:
    batches = opened(db).batches()
    rows = taken(batches, 1)
    db.session.start_statement()
    db.session.interrupt()  # no statement runs, and the result is not being fetched
    rows += taken(batches, 1)
    db.run("insert into other values (3, 77)")
    assert are(rows + taken(batches), everything())


ENDLESS = "select a.id, b.tail from big a, big b"


def test_an_interrupt_that_comes_before_the_rows_are_set_aside_ends_the_statement_that_waits(db: Db) -> None:
    """The interrupt arrives while the statement is planned."""
    result = opened(db, f"{ENDLESS} where b.id < 300")
    rows = result.batches()
    taken(rows, 1)
    db.session.start_statement()
    db.session.interrupt()
    with urged(db), pytest.raises(SqlError) as caught:
        assert db.session.transaction.con
    assert caught.value.sqlcode == -213
    assert taken(rows, 1)[0].num_rows
    result.close()


def test_an_interrupt_while_duckdb_reads_the_text_ends_the_statement_before_it_is_planned() -> None:
    class Busy:
        def sql(self, query: str) -> None:
            duck.interrupt()

        def interrupt(self) -> None:
            pass  # like DuckDB, which ignores it when idle

    duck = DuckTransaction(cast(duckdb.DuckDBPyConnection, Busy()), Locks(), "", SchemaVersion())
    with pytest.raises(SqlError) as caught:
        duck.stream("SELECT 1", None, 2048, lambda _: None)
    assert caught.value.sqlcode == -213


@pytest.mark.parametrize("end", ["commit work", "rollback work", "rollback to savepoint s"])
def test_an_interrupt_of_the_end_of_a_transaction_costs_the_rows_that_are_not_made_yet(
    db: Db, end: str
) -> None:
    db.run("begin work")
    db.run("insert into other values (1, 77)")
    db.run("savepoint s")
    db.run("insert into other values (2, 77)")
    result = opened(db, ENDLESS)
    rows = result.batches()
    assert taken(rows, 1)[0].num_rows
    with urged(db):
        if "savepoint" in end:
            db.session.transaction.rollback_to_savepoint("s")
        else:
            (db.session.commit if "commit" in end else db.session.rollback)()
    with pytest.raises(SqlError) as caught:
        passed_over(rows)
    assert caught.value.sqlcode == -213
    result.close()
    wanted = {"commit work": [(1, 77), (2, 77)], "rollback work": []}.get(end, [(1, 77)])
    assert db.session.in_transaction == (end not in ("commit work", "rollback work"))
    assert db.rows("select * from other") == wanted


@pytest.mark.parametrize("end", ["commit work", "rollback work"])
def test_rows_that_end_with_their_transaction_are_not_set_aside(
    db: Db, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.run("begin work")
    db.run("insert into other values (1, 77)")
    result = opened(db, ENDLESS, held=False)
    taken(result.batches(), 1)
    monkeypatch.setattr(BatchSpool, "append", lambda *_, **__: pytest.fail("nobody wants them"))
    (db.session.commit if "commit" in end else db.session.rollback)()
    monkeypatch.undo()
    assert db.rows("select * from other") == ([(1, 77)] if "commit" in end else [])


def test_a_result_that_is_closed_is_over_at_once(db: Db) -> None:
    endless = "select a.id from big a, big b, big c where a.tail = b.tail and b.tail = c.tail"
    result = opened(db, endless)
    result.close()
    began = time.monotonic()
    db.run("insert into other values (4, 77)")
    assert time.monotonic() - began < 20
    assert taken(result.batches()) == []


def test_a_result_that_nobody_holds_is_over(db: Db) -> None:
    endless = "select a.id from big a, big b, big c where a.tail = b.tail and b.tail = c.tail"
    del_me: QueryResult | None = opened(db, endless)
    assert del_me is not None
    del_me = None
    assert db.value("select count(*) from big") == ROWS


def test_a_session_ends_while_a_result_is_open(db: Db, engine: Engine) -> None:
    db.run("begin work")
    db.run("insert into other values (1, 77)")
    result = opened(db)
    db.session.close()
    result.close()
    assert connect(engine).rows("select * from other") == []


@pytest.mark.slow
def test_a_query_through_functions_in_python_can_be_left(db: Db) -> None:
    db.run("create table f (d decimal(16))")
    db.run("insert into f select id from big where id < 30000")
    batches = opened(db, "select d * 2 + 0.5 from f").batches()
    assert taken(batches, 1)[0].num_rows >= 2048
    db.run("insert into other values (9, 77)")
    batches.close()  # type: ignore[attr-defined]
    assert db.value("select count(*) from f") == 30_005


def batch(number: int, rows: int = 100) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "n": pa.array([number] * rows, pa.int64()),
            "t": pa.array([None if i % 3 else "ä" * i for i in range(rows)]),
        }
    )


@pytest.mark.parametrize("memory", [0, 10_000, 1 << 20])
def test_a_spool_gives_back_what_was_put_into_it(memory: int) -> None:
    kept = BatchSpool(memory)
    for number in range(20):
        kept.append(batch(number))
    assert [kept.read(n).equals(batch(n)) for n in (19, 0, 7, 7)] == [True] * 4
    for number in range(10):
        assert batch(number).equals(kept.pop())
    kept.append(batch(20, 1))
    for number in range(10, 20):
        assert batch(number).equals(kept.pop())
    assert batch(20, 1).equals(kept.pop())
    assert kept.pop() is None
    kept.append(batch(21))
    assert batch(21).equals(kept.pop())
    assert kept.pop() is None


def test_rows_that_have_to_wait_are_in_the_directory_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = tmp_path / "für Dateien"
    made: list[object] = []
    make = spill_file.tempfile.TemporaryFile

    def note(**options: Any) -> Any:
        made.append(options["dir"])
        return make(**options)

    monkeypatch.setattr(spill_file.tempfile, "TemporaryFile", note)
    engine = Engine(None, "informix", VERSION, SplLibrary(), ResourceLimits(temp_directory=wanted))
    try:
        db = connect(engine)
        db.run("create table big (id integer, txt varchar(120), tail integer)")
        db.session.transaction.con.execute(
            f"INSERT INTO big SELECT i, rpad(i::VARCHAR, 90, ' x'), 77 FROM range({ROWS}) AS r(i)"
        )
        batches = opened(db).batches()
        rows = taken(batches, 1)
        assert db.value("select count(*) from big") == ROWS
        rows += taken(batches)
    finally:
        engine.close()
    assert are([batch.select(["id"]) for batch in rows], pa.table({"id": range(ROWS)}))
    assert made == [str(wanted)]


def test_a_directory_for_temporary_files_that_cannot_be_made_is_an_error_that_loses_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "taken").write_text("no directory")
    kept = BatchSpool(0, str(tmp_path / "taken"))
    batch = pa.record_batch({"id": pa.array([1, 2]), "tail": pa.array([77, 78])})
    with pytest.raises(SqlError) as caught:
        kept.append(batch)
    assert caught.value.sqlcode == -271
    assert kept.pop() == batch


def test_a_spool_that_cannot_be_written_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = BatchSpool(0)
    kept.append(batch(0))
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(spill_file.os, "pwrite", lambda *_: (_ for _ in ()).throw(full))
    with pytest.raises(SqlError) as caught:
        kept.append(batch(1))
    assert (caught.value.sqlcode, caught.value.isamcode) == (-271, -131)
    monkeypatch.undo()
    kept.append(batch(2))
    assert [kept.pop().equals(batch(n)) for n in range(3)] == [True] * 3  # type: ignore[union-attr]


def test_a_full_disk_fails_the_statement_that_needs_room_and_not_the_open_result(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = opened(db).batches()
    rows = taken(batches, 1)
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(spill_file.os, "pwrite", lambda *_: (_ for _ in ()).throw(full))
    assert db.fails("insert into other values (5, 77)").sqlcode == -271
    monkeypatch.undo()
    assert are(rows + taken(batches), everything())
    assert db.rows("select * from other") == []


@pytest.mark.parametrize("end", ["commit work", "rollback work", "rollback to savepoint s"])
def test_a_full_disk_fails_the_end_of_a_transaction_and_nothing_has_ended(
    db: Db, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> None:
        if "savepoint" in end:
            db.session.transaction.rollback_to_savepoint("s")
        else:
            (db.session.commit if "commit" in end else db.session.rollback)()

    db.run("begin work")
    db.run("insert into other values (1, 77)")
    db.run("savepoint s")
    db.run("insert into other values (2, 77)")
    batches = opened(db).batches()
    rows = taken(batches, 1)
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(spill_file.os, "pwrite", lambda *_: (_ for _ in ()).throw(full))
    with pytest.raises(SqlError) as caught:
        run()
    assert (caught.value.sqlcode, caught.value.isamcode) == (-271, -131)
    assert db.session.in_transaction
    monkeypatch.undo()
    assert db.rows("select * from other") == [(1, 77), (2, 77)]
    run()
    if "savepoint" in end:
        db.run("commit work")
    assert are(rows + taken(batches), everything())
    wanted = {"commit work": [(1, 77), (2, 77)], "rollback work": []}.get(end, [(1, 77)])
    assert db.rows("select * from other") == wanted


def waiting(result: object) -> BatchSpool:
    """Return the spool of a result that was computed to its end."""
    assert isinstance(result, StreamedResult)
    assert isinstance(result._source, BatchSpool)
    assert result._source._bytes_in_memory <= spool.MEMORY
    return result._source


def test_a_query_that_calls_a_routine_puts_its_rows_aside(db: Db) -> None:
    db.run("create function same(n integer) returning integer; return n; end function")
    result = opened(db, "select id, txt, same(tail) from big")
    assert file_of(waiting(result)).is_open
    assert result.rows == ROWS
    batches = result.batches()
    rows = taken(batches, 1)
    db.run("delete from big where id < 100000")
    assert db.rows("select same(tail) from big where id = 100000") == [(77,)]
    rows += taken(batches)
    assert are(rows, everything())


# So wide that a batch has few rows.
ROUTINE = """create function many(n integer) returning integer, lvarchar(24000), lvarchar, lvarchar, lvarchar, integer;
    define i integer;
    for i in (1 to n) return i, rpad('Öl' || i, 13000, 'y'), null, null, null, 77 with resume; end for
end function"""


@pytest.mark.slow
def test_the_rows_of_a_routine_wait_in_a_file_when_they_are_many(db: Db) -> None:
    db.run(ROUTINE)
    result = opened(db, "execute function many(700)")
    assert file_of(waiting(result)).is_open
    assert result.rows == 700
    db.run("insert into other values (5, 77)")
    found = listed(taken(result.batches()))
    assert found == [(i, f"Öl{i}".ljust(13000, "y"), None, None, None, 77) for i in range(1, 701)]
    assert not file_of(waiting(result)).is_open  # no rows are left in it
    assert db.rows("execute function many(1)") == [(1, "Öl1".ljust(13000, "y"), None, None, None, 77)]


@pytest.mark.slow
def test_a_cursor_for_update_comes_to_all_rows_of_a_large_table(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "_KEYS_AT_ONCE", 64)
    db.run("begin work")
    rows = db.session.open_for_update(db.session.prepare("select * from big for update"), ())
    for number, wanted in enumerate(listed(everything()[:200].to_batches())):
        row = rows.next()
        assert row is not None
        assert listed(taken(row.batches())) == [wanted], number
    rows.close()
    assert rows.next() is None
    db.run("commit work")


@pytest.mark.parametrize(
    ("column", "value"),
    [("lvarchar(32739)", "rpad('Öl', 32000, i::VARCHAR)"), ("text", "CAST(rpad('ol', 60000, 'x') AS BLOB)")],
)
def test_a_batch_of_wide_rows_weighs_no_more_than_one_of_narrow_rows(db: Db, column: str, value: str) -> None:
    db.run(f"create table wide (c integer, v {column})")
    db.session.transaction.con.execute(f"INSERT INTO wide SELECT i, {value} FROM range(900) AS r(i)")
    rows = 0
    for batch in opened(db, "select c, v from wide").batches():
        assert batch.nbytes < 17 << 20
        rows += batch.num_rows
    assert rows == 900


def test_batches_of_narrow_rows_are_large(db: Db) -> None:
    assert next(opened(db).batches()).num_rows == 65536
