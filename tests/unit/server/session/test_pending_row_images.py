"""Row images of a large statement are stored in a file until its end (server/session/pending_row_images.py)."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from tests.internals import file_of
from tests.unit.server.cdc_log.test_log import Watch, make
from tests.unit.server.sql_session import Db

from informix_arrow.server.cdc_log.row_images import LoggedTable
from informix_arrow.server.errors import SqlError
from informix_arrow.server.session import row_changes
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.pending_row_images import ChangedRows, PendingRowImages, UndoRecord

TABLE = LoggedTable("db", 100, "informix", "t", ())


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


def piece(number: int) -> list[tuple[int, bytes]]:
    return [(40, b"%06d" % number * 20)] * 50  # 6,000 bytes


@pytest.mark.parametrize("memory", [0, 6_000, 20_000, 1 << 20])
def test_what_was_noted_comes_once_in_its_order(memory: int, tmp_path: Path) -> None:
    noted = PendingRowImages(str(tmp_path), memory)
    for number in range(4):
        noted.add(TABLE, piece(number))
    noted.add(TABLE, ())
    noted.add_undo(2)
    noted.add(TABLE, piece(7))
    noted.truncate(6)
    noted.add(TABLE, piece(8))
    assert len(noted) == 7
    assert file_of(noted).is_open == (memory < 1 << 20)
    wanted = [
        *(ChangedRows(TABLE, piece(n)) for n in range(4)),
        ChangedRows(TABLE, ()),
        UndoRecord(2),
        ChangedRows(TABLE, piece(8)),
    ]
    assert list(noted.drain()) == wanted
    assert (len(noted), noted._bytes_in_memory, file_of(noted).is_open) == (0, 0, False)
    assert list(noted.drain()) == []
    assert list(tmp_path.iterdir()) == []


def test_what_is_forgotten_makes_room() -> None:
    noted = PendingRowImages(None, 13_000)
    for _ in range(100):
        mark = len(noted)
        noted.add(TABLE, piece(1))
        noted.add(TABLE, piece(2))
        assert not file_of(noted).is_open
        noted.truncate(mark)
    noted.add(TABLE, piece(1))
    noted.add(TABLE, piece(2))
    noted.add(TABLE, piece(3))
    assert file_of(noted).is_open
    noted.truncate()
    assert not file_of(noted).is_open


def test_many_images_take_little_memory() -> None:
    noted = PendingRowImages(None, 1 << 20)
    tracemalloc.start()
    try:
        for _ in range(20):  # 12 MB as Python objects
            noted.add(TABLE, [(40, b"%07d" % row * 8) for row in range(4096)])
        count = sum(len(one.row_images) for one in noted.drain() if isinstance(one, ChangedRows))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 20 * 4096
    assert peak < 8 << 20


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    noted = PendingRowImages(str(tmp_path / "file"), 0)
    with pytest.raises(
        SqlError, match="changes of a statement cannot be written to a temporary file"
    ) as refused:
        noted.add(TABLE, piece(1))
    assert refused.value.sqlcode == -271


def test_statements_whose_images_lie_in_a_file_are_logged_as_others(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_changes, "_ROWS_PER_IMAGE_BATCH", 3)
    make(db)
    watch = Watch(db, "t")
    noted = db.session.transaction.change_logger._pending
    noted._memory = 20
    opened: list[bool] = []
    take = noted.drain
    monkeypatch.setattr(noted, "drain", lambda: (opened.append(file_of(noted).is_open), take())[1])
    db.run("insert into t select id + 100, n, name, last from t")
    db.session.begin()
    db.run("update t set n = n + 1, name = 'longer than before'")
    db.session.transaction.savepoint("here")
    db.run("update t set id = id + 1000")
    db.session.transaction.rollback_to_savepoint("here")
    assert db.fails("update t set id = 5").sqlcode == -268
    db.run("delete from t where id > 101")
    db.session.commit()
    assert opened.count(True) >= 4
    assert not file_of(noted).is_open
    watch.same()


def test_a_transaction_whose_images_are_lost_cannot_be_committed(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(db)
    watch = Watch(db, "t")
    noted = db.session.transaction.change_logger._pending
    noted._memory = 0
    db.session.begin()
    db.run("insert into t values (10, 1, 'ten', 1)")

    def lost(place: object) -> bytes:
        raise OSError("gone")

    monkeypatch.setattr(file_of(noted), "read", lost)
    assert db.fails("insert into t values (11, 1, 'eleven', 1)").sqlcode == -458
    with pytest.raises(SqlError) as refused:
        db.session.commit()
    assert refused.value.sqlcode == -458
    monkeypatch.undo()
    db.run("insert into t values (12, 1, 'twelve', 1)")
    watch.same()
