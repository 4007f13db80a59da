"""INSERT ... SELECT of rows that are inserted in parts: the result must be that of inserting all at once.

Here a part is a batch of 2048 rows, and waiting rows are stored in files.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from tests.unit.server.sql_session import Db

from informix_arrow.server.errors import SqlError
from informix_arrow.server.plan.plans import WARN_CUT
from informix_arrow.server.session import duck_executor, insert, journal, table_spill
from informix_arrow.server.session.table_spill import SpilledTable, TableSpill

pytestmark = pytest.mark.slow

ROWS = 7000
"""More than three parts."""


def fill(db: Db) -> None:
    db.run("create table ten (n integer)")
    db.many("insert into ten values (?)", [(n,) for n in range(10)])
    db.run("create table source (id integer, other integer, name varchar(40))")
    db.run(
        "insert into source select a.n * 1000 + b.n * 100 + c.n * 10 + d.n, "
        "-1 - (a.n * 1000 + b.n * 100 + c.n * 10 + d.n), 'row ' || a.n from ten a, ten b, ten c, ten d where a.n < 7"
    )
    db.run("create table t (id integer primary key, other integer, name varchar(40))")
    db.run("create unique index t_other on t (other)")


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make statements run in parts. A list of the numbers of inserted rows in each part."""
    inserted: list[int] = []
    append = insert.TableAppender.append

    def counted(*arguments: object, **named: object) -> object:
        inserted.append(int(str(arguments[3])))
        return append(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(insert.TableAppender, "append", counted)
    monkeypatch.setattr(insert, "_MAX_INSERT_ROWS", 1)
    monkeypatch.setattr(insert, "batch_rows", lambda _: 2048)
    monkeypatch.setattr(duck_executor, "_SPOOL_MEMORY", 0)
    monkeypatch.setattr(journal, "TableSpill", partial(TableSpill, memory=0))
    monkeypatch.setattr(journal, "_FREEZE_ROWS", 2048)
    return inserted


def test_all_rows_come_in_their_order(db: Db, parts: list[int]) -> None:
    db.run("create temp table numbered (no serial, id integer)")
    parts.clear()
    outcome = db.run("insert into numbered (id) select id from source order by other")
    assert (outcome.rows, outcome.serial) == (ROWS, ROWS)
    assert len(parts) > 3
    assert sum(parts) == ROWS
    assert db.value("select count(*) from numbered where no = 7000 - id") == ROWS
    assert db.value("select max(dbinfo('sqlca.sqlerrd1')) from ten") == ROWS


def test_a_table_that_is_its_own_source_is_read_as_it_was(db: Db) -> None:
    db.run("insert into t select id, other, name from source")
    assert db.run("insert into t select id + 7000, other - 7000, name from t").rows == ROWS
    assert db.rows("select count(*), count(distinct id), max(id), min(other) from t") == [
        (2 * ROWS, 2 * ROWS, 2 * ROWS - 1, -2 * ROWS)
    ]


WRONG: list[tuple[str, str, int, str]] = [
    ("a key of an earlier part", "mod(id, 6500), other, name", -268, "u"),
    ("a key that is there", "id, case when id = 6900 then 77 else other end, name", -239, "t_other"),
    ("a check", "case when id = 6500 then -5 else id end, other, name", -530, "positive"),
    ("NULL", "case when id = 6500 then null else id end, other, name", -391, "id"),
    # a duplicate of an earlier part first, then of an existing row
    ("two keys", "case when id = 6500 then 1 else id end, case when id = 6510 then 77 else other end, name", -268, "u"),
]  # fmt: skip


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("columns", "code", "near"), [one[1:] for one in WRONG], ids=[one[0] for one in WRONG]
)
def test_nothing_stays_of_a_statement_with_one_row_that_is_refused(
    db: Db, columns: str, code: int, near: str, inside: bool
) -> None:
    db.run("create table kept (id integer primary key constraint u, other integer, name varchar(40), "
           "check (id >= 0) constraint positive)")  # fmt: skip
    db.run("create unique index kept_other on kept (other)")
    near = "kept_other" if near == "t_other" else near
    if inside:
        db.run("begin work")
    db.run("insert into kept values (-0 + 100000, 77, 'first')")
    error = db.fails(f"insert into kept select {columns} from source")
    assert (error.sqlcode, error.near.rpartition(".")[2]) == (code, near)
    assert db.rows("select id, other, name from kept") == [(100000, 77, "first")]
    assert db.run("insert into kept select id, other, name from source").rows == ROWS
    if inside:
        db.run("commit work")
    assert db.value("select count(*) from kept") == ROWS + 1


def test_parents_may_be_in_an_earlier_part(db: Db) -> None:
    db.run("create table tree (id integer primary key, parent integer references tree(id))")
    assert db.run(
        "insert into tree select id, case when id = 0 then 0 else id - 1 end from source order by id"
    ).rows
    db.run("delete from tree where id >= 0")
    assert db.value("select count(*) from tree") == 0
    error = db.fails(
        "insert into tree select id, case when id = 6999 then 7000 else 0 end from source order by id"
    )
    assert error.sqlcode == -691
    assert db.value("select count(*) from tree") == 0


def test_one_null_in_a_unique_key_is_found_in_another_part(db: Db) -> None:
    db.run("insert into t select id, case when id = 5 then null else other end, name from source")
    db.run("delete from t where id >= 0")
    error = db.fails(
        "insert into t select id, case when id in (5, 6900) then null else other end, name from source order by id"
    )
    assert (error.sqlcode, error.near) == (-239, "informix.t_other")
    assert db.value("select count(*) from t") == 0


def test_rows_of_a_transaction_are_there_again_after_an_error_and_a_savepoint(db: Db) -> None:
    db.run("begin work")
    db.run("insert into t select id, other, name from source")
    db.run("savepoint here")
    db.run("insert into t select id + 7000, other - 7000, name from source")
    db.run("select id, name from source into temp aside")
    assert db.fails("insert into t values (1, 1, 'again')").sqlcode == -268  # replays the journal
    assert db.rows("select count(*), sum(id), min(other) from t") == [(14000, 14000 * 13999 // 2, -14000)]
    assert db.rows("select count(*), max(name) from aside where id < 6999") == [(6999, "row 6")]
    db.run("rollback work to savepoint here")
    assert db.rows("select count(*), sum(id) from t") == [(ROWS, ROWS * (ROWS - 1) // 2)]
    db.run("commit work")
    assert db.rows("select count(*), sum(id) from t") == [(ROWS, ROWS * (ROWS - 1) // 2)]


def test_what_a_routine_has_inserted_stays_when_a_later_statement_of_it_fails(db: Db) -> None:
    db.run(
        "create procedure careless() on exception in (-268) end exception with resume; "
        "insert into t select id, other, name from source; "
        "insert into t values (5, 5, 'again'); "
        "insert into t values (7000, 5, 'last'); end procedure"
    )
    db.run("execute procedure careless()")
    assert db.rows("select count(*), sum(id) from t") == [(ROWS + 1, (ROWS + 1) * ROWS // 2)]


def test_each_row_fires_its_trigger_and_a_failing_action_undoes_all(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.run("create table seen (id integer)")
    db.run("create table watched (id integer, name varchar(40))")
    db.run("create procedure note(n int) if n = 4500 then raise exception -746, 0, 'no'; end if; "
           "insert into seen values (n); end procedure")  # fmt: skip
    db.run("create trigger watched_i insert on watched after (execute procedure note(-1))")
    assert db.run("insert into watched select id, name from source").rows == ROWS
    assert db.rows("select id from seen") == [(-1,)]
    db.run("drop trigger watched_i")
    db.run("delete from watched where id >= 0")
    db.run(
        "create trigger watched_i insert on watched referencing new as n for each row (execute procedure note(n.id))"
    )
    # The failing row is in the second part.
    monkeypatch.setattr(insert, "batch_rows", lambda _: 32)
    error = db.fails("insert into watched select id, name from source where id >= 4460 order by id")
    assert error.sqlcode == -746
    assert db.value("select count(*) from watched") == 0
    assert db.rows("select id from seen") == [(-1,)]
    assert db.run("insert into watched select id, name from source where id < 80").rows == 80
    assert db.rows("select count(*), max(id) from seen") == [(81, 79)]


def test_merge_inserts_what_it_found_before(db: Db, parts: list[int]) -> None:
    db.run("insert into t select id, other, name from source where id < 100")
    parts.clear()
    outcome = db.run(
        "merge into t using source s on t.id = s.id when matched then update set name = 'met' "
        "when not matched then insert values (s.id, s.other, s.name)"
    )
    assert outcome.rows == ROWS
    assert len(parts) > 3
    assert db.rows("select count(*), sum(case when name = 'met' then 1 else 0 end) from t") == [(ROWS, 100)]


def test_a_text_that_is_cut_is_reported_whichever_part_it_is_in(db: Db) -> None:
    db.run("create temp table short (name char(5))")
    for place in (0, 6999):
        outcome = db.run(
            f"insert into short select case when id = {place} then 'too long' else 'ok' end from source"
        )
        assert (outcome.rows, outcome.warnings) == (ROWS, WARN_CUT)
    assert db.value("select count(*) from short where name = 'too l'") == 2


def test_no_rows_are_an_insert_too(db: Db, parts: list[int]) -> None:
    assert db.run("insert into t select id, other, name from source where id < 0").rows == 0
    assert parts == [0]


def test_keys_of_all_parts_are_locked(db: Db, other: Db) -> None:
    db.run("begin work")
    db.run("insert into t select id, other, name from source")
    for key in (3, 6999):
        assert other.fails(f"insert into t values ({key}, 1, 'other')").sqlcode == -271
    db.run("rollback work")
    assert other.run("insert into t values (6999, 1, 'other')").rows == 1


def test_a_division_by_zero_in_the_source_leaves_nothing(db: Db) -> None:
    db.run("begin work")
    db.run("insert into t values (-1, 1, 'first')")
    assert (
        db.fails("insert into t select id, other / (id - 6950), name from source order by id").sqlcode
        == -1202
    )
    assert db.rows("select id from t") == [(-1,)]
    db.run("commit work")
    assert db.rows("select id from t") == [(-1,)]


def _full(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    def full(*_: object) -> None:
        raise SqlError(-271, -131, 0, "", "no space")

    monkeypatch.setattr(f"informix_arrow.server.session.{what}", full)


@pytest.mark.parametrize("what", ["spool.SpillFile.write", "table_spill.SpillFile.write"])
def test_a_full_disk_refuses_the_statement_and_leaves_the_transaction(
    db: Db, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    db.run("begin work")
    db.run("insert into t values (-1, 1, 'first')")
    with monkeypatch.context() as patched:
        if what.startswith("kept"):
            patched.setattr(duck_executor, "_SPOOL_MEMORY", 1 << 30)
        _full(patched, what)
        assert db.fails("insert into t select id, other, name from source").sqlcode == -271
    assert db.rows("select id from t") == [(-1,)]
    db.run("insert into t select id, other, name from source")
    db.run("commit work")
    assert db.value("select count(*) from t") == ROWS + 1


def test_the_log_of_changes_has_each_row_once(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[int] = []
    changes = type(db.session.transaction.change_logger)
    monkeypatch.setattr(changes, "log_inserted", lambda _, __, rows: noted.append(rows.num_rows))
    db.run("insert into t select id, other, name from source")
    assert sum(noted) == ROWS


# ---- tables that are kept ---------------------------------------------------------------------------


def test_tables_beyond_the_memory_come_back_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = TableSpill(str(tmp_path / "aside"), memory=1300)
    tables = [pa.table({"n": pa.array(range(n, n + 100)), "s": ["x" * n] * 100}) for n in range(5)]
    monkeypatch.setattr(table_spill, "_SPILL_BATCH_BYTES", 500)
    places = [kept.store(table) for table in tables]
    assert [isinstance(place, SpilledTable) for place in places] == [False, True, True, True, True]
    assert [place.num_rows for place in places] == [100] * 5
    for _ in range(2):  # it can be repeated
        assert all(kept.load(place).equals(table) for place, table in zip(places, tables, strict=True))
    kept.clear()
    assert kept.store(tables[0]) is tables[0]
