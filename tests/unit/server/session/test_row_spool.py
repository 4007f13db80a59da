"""The spool for rows of FOREACH and of a routine's cursors: few rows are in memory, many in a file."""

from __future__ import annotations

import gc
import tracemalloc
import warnings
from pathlib import Path

import pytest
from tests.internals import file_of
from tests.unit.server.sql_session import Db

from informix_arrow.server.errors import SqlError
from informix_arrow.server.session import row_spool
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.row_spool import RowSpool

pytestmark = pytest.mark.slow

ROWS = 140
PIECE = 1024


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


def giving(count: int, size: int = 20) -> RowSpool:
    rows = iter([(number, "x" * size, None) for number in range(count)])
    return RowSpool(lambda most: [row for _, row in zip(range(most), rows)])  # noqa: B905


@pytest.mark.parametrize("count", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 5 * PIECE + 7])
@pytest.mark.parametrize("memory", [0, row_spool.MEMORY])
def test_all_rows_come_once_in_their_order(monkeypatch: pytest.MonkeyPatch, count: int, memory: int) -> None:
    monkeypatch.setattr(row_spool, "MEMORY", memory)
    with giving(count) as rows:
        assert list(rows) == [(number, "x" * 20, None) for number in range(count)]
        assert list(rows) == []


def test_what_is_left_early_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_spool, "MEMORY", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        with giving(5 * PIECE) as rows:
            assert next(iter(rows)) == (0, "x" * 20, None)
            assert file_of(rows).is_open
        assert not file_of(rows).is_open
        assert list(rows) == []
        del rows
        gc.collect()


def test_a_file_that_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(row_spool, "MEMORY", 0)
    (tmp_path / "file").write_text("no directory")
    rows = iter([(number,) for number in range(3 * PIECE)])
    with pytest.raises(SqlError) as caught:
        RowSpool(lambda most: [row for _, row in zip(range(most), rows)], str(tmp_path / "file"))  # noqa: B905
    assert caught.value.sqlcode == -271


@pytest.mark.parametrize("memory", [0, row_spool.MEMORY], ids=["in a file", "in memory"])
def test_a_loop_has_every_value_of_every_type(db: Db, monkeypatch: pytest.MonkeyPatch, memory: int) -> None:
    """A FOREACH copies the table row by row, and the copy must equal it."""
    monkeypatch.setattr(row_spool, "MEMORY", memory)
    monkeypatch.setattr(row_spool, "_CHUNK_ROWS", 64)
    columns = (
        "k INT, s SMALLINT, b BIGINT, f FLOAT, d DECIMAL(16,4), g DECIMAL(16), c CHAR(5), v VARCHAR(30), "
        "day DATE, t DATETIME YEAR TO FRACTION(5), h DATETIME HOUR TO SECOND, i INTERVAL DAY TO SECOND, "
        "l BOOLEAN, tail INT"
    )
    db.run(f"CREATE TABLE source ({columns})")
    db.run(f"CREATE TABLE copy ({columns})")
    rows = [
        (n, n % 100 - 50, n * 10**12, n / 7, f"{n}.{n % 10_000:04d}", f"{n}.5", f"c{n % 10}", f"naïve ✓ {n}",
         f"02/{n % 28 + 1:02d}/2024", f"2024-01-{n % 28 + 1:02d} 10:11:12.{n:05d}", "10:11:12", f"{n % 90} 01:02:03",
         "t" if n % 2 else "f", n)
        for n in range(ROWS)
    ]  # fmt: skip
    rows[100] = (100, *[None] * 12, 100)  # type: ignore[assignment]
    done = db.many(f"INSERT INTO source VALUES ({', '.join('?' * 14)})", rows)
    assert not [problem for problem in done if isinstance(problem, SqlError)]
    names = [word.split()[0] for word in columns.split(", ")]
    into = ", ".join(f"p_{name}" for name in names)
    define = " ".join(
        f"DEFINE p_{column.replace('DECIMAL(16, 4)', 'DECIMAL(16,4)')};" for column in columns.split(", ")
    )
    db.run(
        f"CREATE PROCEDURE copied() {define} FOREACH SELECT * INTO {into} FROM source ORDER BY k "
        f"INSERT INTO copy VALUES ({into}); END FOREACH; END PROCEDURE"
    )
    db.run("EXECUTE PROCEDURE copied()")
    assert db.value("SELECT COUNT(*)::INT FROM copy") == ROWS
    assert db.rows("SELECT * FROM copy ORDER BY k") == db.rows("SELECT * FROM source ORDER BY k")


@pytest.mark.parametrize(
    "loop",
    [
        "FOREACH SELECT a.tabname || b.tabname || c.tabname INTO name FROM {all} "
        "LET count = count + 1; EXIT FOREACH; END FOREACH;",
        "PREPARE p FROM 'SELECT a.tabname || b.tabname || c.tabname FROM {all}'; DECLARE q CURSOR FOR p; OPEN q; "
        "FETCH q INTO name; LET count = count + 1;",
    ],
    ids=["FOREACH", "cursor"],
)
def test_a_loop_over_many_rows_takes_little_memory(db: Db, loop: str) -> None:
    every = "systables a, systables b, systables c WHERE c.tabid < 28"
    found = db.value(f"SELECT COUNT(*)::INT FROM {every}")
    assert found > 100_000
    db.run(
        "CREATE FUNCTION first_of() RETURNING INT; DEFINE count INT; DEFINE name VARCHAR(255); LET count = 0; "
        f"{loop.format(all=every)} RETURN count; END FUNCTION"
    )
    assert db.value("SELECT first_of() FROM sysmaster:sysdual") == 1
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            assert db.rows("EXECUTE FUNCTION first_of()") == [(1,)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12 << 20  # as tuples, that many rows with their texts are 15 MB
