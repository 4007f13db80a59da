"""Loads in parts that take longer than the age at which staging tables are dropped."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow.partition import staged_load
from informix_arrow.server import Server

_numbers = itertools.count(1)


@pytest.fixture
def conn(server: Server) -> Iterator[ifx.Connection]:
    name = f"staging_long_{next(_numbers)}"
    server.create_database(name)
    with ifx.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, after INTEGER)")
        yield connection
    server.drop_database(name)


def part(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32()), "after": pa.array([7] * len(ids), pa.int32())})


def begun(hours: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set back the clock of `staged_load` by ``hours``, so that new loads seem to have begun earlier."""
    real = staged_load.time

    class Clock:
        monotonic = staticmethod(real.monotonic)

        @staticmethod
        def time() -> float:
            return float(real.time()) - hours * 3600

    monkeypatch.setattr(staged_load, "time", Clock)


def stages(conn: ifx.Connection) -> int:
    return conn.execute("SELECT COUNT(*) FROM systables WHERE tabname LIKE 'ifx_stage_%'").fetchall()[0][0]  # type: ignore[no-any-return]


def loaded(conn: ifx.Connection, load: str, *ids: int) -> staged_load.StagedPart:
    table = part(*ids)
    return staged_load.load(conn, "orders", load, table.schema, table.to_batches())


def test_parts_wait_for_those_that_were_begun_later(
    conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        begun(30, earlier)
        load = staged_load.begin(conn, "orders")
        first = loaded(conn, load, 1)
    with monkeypatch.context() as earlier:
        begun(20, earlier)
        second = loaded(conn, load, 2)
    assert staged_load.sweep(conn) == []
    assert staged_load.commit_and_clean_up(conn, "orders", [first, second], "a")
    assert conn.execute("SELECT id FROM orders ORDER BY id").fetchall() == [(1,), (2,)]


def test_parts_wait_for_one_that_is_still_loaded(conn: ifx.Connection, server: Server) -> None:
    table = part(*range(2, 40_000))
    swept: list[list[str]] = []

    def slow() -> Iterator[pa.RecordBatch]:
        yield from table.slice(0, 30_000).to_batches(max_chunksize=5000)
        with ifx.connect(server.url(conn.database), autocommit=True) as other:
            assert stages(other) == 2
            swept.append(staged_load.sweep(other, older=-1.0))
        yield from table.slice(30_000).to_batches()

    load = staged_load.begin(conn, "orders")
    first = loaded(conn, load, 1)
    second = staged_load.load(conn, "orders", load, table.schema, slow())
    assert swept == [[]]
    assert staged_load.commit_and_clean_up(conn, "orders", [first, second], "a")
    assert conn.execute("SELECT COUNT(*), SUM(after) FROM orders").fetchall() == [(39_999, 7 * 39_999)]


def test_a_load_that_died_is_swept_as_a_whole(conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        begun(25, earlier)
        load = staged_load.begin(conn, "orders")
        for number in (1, 2):
            loaded(conn, load, number)
    fresh = loaded(conn, staged_load.begin(conn, "orders"), 3)  # begin() sweeps
    assert stages(conn) == 1
    assert staged_load.commit_and_clean_up(conn, "orders", [fresh], "b")


def test_a_part_that_took_a_day_waits_for_its_commit(
    conn: ifx.Connection, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = part(1, 2)

    def slow() -> Iterator[pa.RecordBatch]:
        yield from table.slice(0, 1).to_batches()
        monkeypatch.undo()  # 30 hours later
        yield from table.slice(1).to_batches()

    begun(30, monkeypatch)
    load = staged_load.begin(conn, "orders")
    one = staged_load.load(conn, "orders", load, table.schema, slow())
    with ifx.connect(server.url(conn.database), autocommit=True) as other:
        assert staged_load.sweep(other) == []
    assert staged_load.commit_and_clean_up(conn, "orders", [one], "a")
    assert conn.execute("SELECT id, after FROM orders ORDER BY id").fetchall() == [(1, 7), (2, 7)]
    assert stages(conn) == 0


def test_a_part_that_fails_after_a_day_leaves_no_table(
    conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying() -> Iterator[pa.RecordBatch]:
        yield from part(1).to_batches()
        monkeypatch.undo()
        raise ValueError("mine")

    begun(30, monkeypatch)
    load = staged_load.begin(conn, "orders")
    with pytest.raises(ValueError, match="mine"):
        staged_load.load(conn, "orders", load, part().schema, dying())
    assert stages(conn) == 0


def test_what_was_swept_before_its_commit_is_said(
    conn: ifx.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        begun(25, earlier)
        load = staged_load.begin(conn, "orders")
        parts = [loaded(conn, load, 1), loaded(conn, load, 2)]
    assert len(staged_load.sweep(conn)) == 2
    with pytest.raises(ifx.ProgrammingError, match=r"is gone\. Another load drops"):
        staged_load.commit_and_clean_up(conn, "orders", parts, "a")
    assert conn.execute("SELECT COUNT(*) FROM orders").fetchall() == [(0,)]
