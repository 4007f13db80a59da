"""Loads in parts: all parts take effect at once, exactly once, or not at all. A dead process leaves nothing behind."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow.partition import staged_load
from informix_arrow.server import Server

_numbers = itertools.count(1)


@pytest.fixture
def conn(server: Server) -> Iterator[ifx.Connection]:
    name = f"staging_{next(_numbers)}"
    server.create_database(name)
    with ifx.connect(server.url(name), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, v VARCHAR(20), d DECIMAL(8,2), after INTEGER)"
        )
        yield connection
    server.drop_database(name)


def part(*ids: int, text: str = "é") -> pa.Table:
    return pa.table(
        {
            "ID": pa.array(ids, pa.int64()),
            "v": [text, None, ""][: len(ids)],
            "d": [Decimal("-0.01")] * len(ids),
            "after": [7] * len(ids),
        }
    )


def staged(conn: ifx.Connection, load: str, table: pa.Table) -> staged_load.StagedPart:
    return staged_load.load(conn, "orders", load, table.schema, table.to_batches())


def ids(conn: ifx.Connection) -> list[int]:
    return [row[0] for row in conn.execute("SELECT id FROM orders ORDER BY id").fetchall()]


def tables(conn: ifx.Connection) -> list[str]:
    return sorted(conn.tables(types=("TABLE",))["table_name"].to_pylist())


def test_parts_are_taken_together_and_once(conn: ifx.Connection, server: Server) -> None:
    load = staged_load.begin(conn, "orders")
    parts = [staged(conn, load, part(1, 2, 3))]
    with ifx.connect(server.url(conn.database), autocommit=True) as other:
        parts.append(staged(other, load, part(4)))
    parts.append(staged(conn, load, part()))
    assert [each.rows for each in parts] == [3, 1, 0]
    assert {each.load for each in parts} == {load}
    assert ids(conn) == []
    assert staged_load.commit_and_clean_up(conn, "orders", parts, "nightly")
    rows = conn.execute("SELECT * FROM orders ORDER BY id").fetchall()
    assert [tuple(row) for row in rows] == [
        (1, "é", Decimal("-0.01"), 7),
        (2, None, Decimal("-0.01"), 7),
        (3, "", Decimal("-0.01"), 7),
        (4, "é", Decimal("-0.01"), 7),
    ]
    assert tables(conn) == ["informix_arrow_writes", "orders"]
    again = [staged(conn, staged_load.begin(conn, "orders"), part(9))]
    assert not staged_load.commit_and_clean_up(conn, "orders", again, "nightly", overwrite=True)
    assert ids(conn) == [1, 2, 3, 4]
    assert tables(conn) == ["informix_arrow_writes", "orders"]


def test_an_id_that_somebody_else_has_taken_is_refused_and_not_passed_over(conn: ifx.Connection) -> None:
    """Streams number their batches, and each checkpoint begins at 0."""

    def took(number: int, by: str, *rows: int) -> bool:
        load = staged_load.begin(conn, "orders")
        return staged_load.commit_and_clean_up(
            conn, "orders", [staged(conn, load, part(*rows))], f"s:{number}", by=by
        )

    assert took(0, "s@one", 1)
    assert not took(0, "s@one", 1)
    assert took(1, "s@one", 2)
    with pytest.raises(
        ifx.InterfaceError, match=r"'s:0' was recorded before, but none by 's@two'. .* other rows"
    ):
        took(0, "s@two", 3)
    with pytest.raises(ifx.InterfaceError, match="200 bytes"):
        took(2, "s" * 201, 4)
    assert ids(conn) == [1, 2]
    conn.execute("INSERT INTO informix_arrow_writes VALUES ('s@two', CURRENT YEAR TO SECOND)")
    assert not took(0, "s@two", 3)
    recorded = conn.execute("SELECT id FROM informix_arrow_writes ORDER BY id").fetchall()
    assert [row[0] for row in recorded] == ["s:0", "s:1", "s@one", "s@two"]


def test_overwriting_takes_the_place_of_all_rows(conn: ifx.Connection) -> None:
    for number, rows in enumerate([part(1, 2), part(2, 3)]):
        parts = [staged(conn, staged_load.begin(conn, "orders"), rows)]
        assert staged_load.commit_and_clean_up(conn, "orders", parts, str(number), overwrite=True)
    assert ids(conn) == [2, 3]


def test_a_row_that_is_refused_leaves_the_target_as_it_was_and_the_id_free(conn: ifx.Connection) -> None:
    load = staged_load.begin(conn, "orders")
    first = [staged(conn, load, part(1, 2))]
    staged_load.commit_and_clean_up(conn, "orders", first, "a")
    twice = [staged(conn, load, part(3)), staged(conn, load, part(2))]
    with pytest.raises(ifx.IntegrityError):
        staged_load.commit_and_clean_up(conn, "orders", twice, "b", overwrite=False)
    assert ids(conn) == [1, 2]
    staged_load.drop(conn, load)
    assert tables(conn) == ["informix_arrow_writes", "orders"]
    assert staged_load.commit_and_clean_up(conn, "orders", [staged(conn, load, part(3))], "b")
    assert ids(conn) == [1, 2, 3]


def test_a_part_that_fails_leaves_no_staging_table(conn: ifx.Connection) -> None:
    load = staged_load.begin(conn, "orders")
    with pytest.raises(ifx.DataError):
        staged(conn, load, part(1, text="x" * 21))

    def dying() -> Iterator[pa.RecordBatch]:
        yield from part(1).to_batches()
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        staged_load.load(conn, "orders", load, part(1).schema, dying())
    assert tables(conn) == ["informix_arrow_writes", "orders"]


def test_a_part_that_was_lost_is_noticed(conn: ifx.Connection) -> None:
    load = staged_load.begin(conn, "orders")
    one = staged(conn, load, part(1, 2))
    conn.execute(f"DELETE FROM {one.name} WHERE id = 2")
    with pytest.raises(ifx.InternalError, match=r"2 rows were loaded into .* but 1 of them"):
        staged_load.commit_and_clean_up(conn, "orders", [one], "a")
    assert ids(conn) == []


def test_what_dead_loads_left_is_swept_and_nothing_else(conn: ifx.Connection) -> None:
    old = f"ifx_stage_{int(time.time()) - 90_000:08x}_{'a' * 12}_{'b' * 8}"
    theirs = ["ifx_stage_of_hers", "ifx_stagecoach", f"ifx_stage_zzzzzzzz_{'a' * 12}_{'b' * 8}"]
    for name in (old, *theirs):
        conn.execute(f"CREATE TABLE {name} (id INTEGER)")
    fresh = staged(conn, staged_load.begin(conn, "orders"), part(1))
    assert tables(conn) == sorted([*theirs, fresh.name, "informix_arrow_writes", "orders"])
    assert staged_load.sweep(conn) == []


def test_a_serial_column_is_numbered_or_takes_what_it_is_given(conn: ifx.Connection) -> None:
    conn.execute("CREATE TABLE numbered (k SERIAL PRIMARY KEY, v VARCHAR(5), after INTEGER)")
    load = staged_load.begin(conn, "numbered")
    given = pa.table({"v": ["a"], "k": pa.array([41], pa.int32()), "after": [1]})
    left_out = pa.table({"after": [2, 3], "v": ["b", "c"]})
    for number, table in enumerate((given, left_out)):
        one = staged_load.load(conn, "numbered", load, table.schema, table.to_batches())
        staged_load.commit_and_clean_up(conn, "numbered", [one], str(number))
    found = conn.execute("SELECT k, v, after FROM numbered ORDER BY k").fetchall()
    assert [tuple(row) for row in found] == [(41, "a", 1), (42, "b", 2), (43, "c", 3)]


def test_wrong_targets_are_refused_at_once(conn: ifx.Connection, server: Server) -> None:
    with pytest.raises(ifx.ProgrammingError, match="nowhere"):
        staged_load.begin(conn, "nowhere")
    load = staged_load.begin(conn, "orders")
    with pytest.raises(ifx.ProgrammingError, match=r"has no column more\. It has id, v"):
        staged_load.load(conn, "orders", load, pa.schema([("more", pa.int32())]), [])
    with pytest.raises(ifx.ProgrammingError, match="Columns of the table named twice: id"):
        staged_load.load(conn, "orders", load, pa.schema([("id", pa.int32()), ("ID", pa.int32())]), [])
    with pytest.raises(ifx.InterfaceError, match="200 bytes"):
        staged_load.commit_and_clean_up(conn, "orders", [], "é" * 101)
    server.create_database("staging_unlogged", mode="unlogged")
    with (
        ifx.connect(server.url("staging_unlogged")) as unlogged,
        pytest.raises(ifx.NotSupportedError, match="without logging"),
    ):
        staged_load.begin(unlogged, "orders")
    server.drop_database("staging_unlogged")
