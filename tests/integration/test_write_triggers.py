"""Loads into tables with triggers: each inserted row fires them, and a row that an action refuses is not inserted."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any, Literal

import pyarrow as pa
import pytest

import informix_arrow as ifx
import informix_arrow.aio
from informix_arrow.server import Server

WAYS: list[Literal["put", "pipeline", "executemany", "execute"]] = [
    "put",
    "pipeline",
    "executemany",
    "execute",
]
_numbers = itertools.count()


@pytest.fixture(scope="module")
def conn(server: Server) -> Iterator[ifx.Connection]:
    """A connection that all tests share, because opening one takes longer than most statements."""
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        yield connection


class Audited:
    """A table, and a log of its triggers' actions."""

    def __init__(self, conn: ifx.Connection) -> None:
        n = next(_numbers)
        self.conn, self.table, self.log, self.check = conn, f"trig_t{n}", f"trig_log{n}", f"trig_check{n}"
        conn.execute(
            f"CREATE TABLE {self.table} (k INTEGER PRIMARY KEY, name VARCHAR(10), price DECIMAL(8,2), tail INT)"
        )
        conn.execute(
            f"CREATE TABLE {self.log} (id SERIAL PRIMARY KEY, what CHAR(6), k INTEGER, name VARCHAR(10), tail INT)"
        )
        conn.execute(
            f"CREATE PROCEDURE {self.check}(k INTEGER) IF k < 0 THEN RAISE EXCEPTION -746, 0, 'below zero'; "
            "END IF END PROCEDURE"
        )
        conn.execute(
            f"CREATE TRIGGER trig_i{n} INSERT ON {self.table} REFERENCING NEW AS fresh "
            f"BEFORE (INSERT INTO {self.log} (what) VALUES ('before')) "
            f"FOR EACH ROW (INSERT INTO {self.log} (what, k, name, tail) "
            "VALUES ('row', fresh.k, fresh.name, fresh.tail), "
            f"EXECUTE PROCEDURE {self.check}(fresh.k)) "
            f"AFTER (INSERT INTO {self.log} (what) VALUES ('after'))"
        )

    def load(self, rows: pa.Table, way: str, **options: Any) -> Any:
        """Load rows by one of the methods, and return the report if there is one."""
        if way in ("put", "pipeline"):
            return self.conn.write_arrow(self.table, rows, method=way, **options)  # type: ignore[call-overload]
        sql = f"INSERT INTO {self.table} VALUES (?, ?, ?, ?)"
        values = [tuple(row.values()) for row in rows.to_pylist()]
        cursor = self.conn.cursor()
        if way == "executemany":
            return cursor.executemany(sql, values)
        for row in values:
            cursor.execute(sql, row)
        return None

    def rows(self) -> list[tuple[Any, ...]]:
        return self.conn.execute(f"SELECT k, name, tail FROM {self.table} ORDER BY k").fetchall()

    def told(self) -> list[tuple[Any, ...]]:
        """Return the values that FOR EACH ROW received, in order. Each is between a BEFORE and an AFTER."""
        found = self.conn.execute(f"SELECT TRIM(what), k, name, tail FROM {self.log} ORDER BY id").fetchall()
        kinds = [what for what, *_ in found]
        assert kinds == ["before", "row", "after"] * (len(found) // 3)
        return [tuple(row) for what, *row in found if what == "row"]


@pytest.fixture
def audited(conn: ifx.Connection) -> Iterator[Audited]:
    made = Audited(conn)
    yield made
    if conn.in_transaction:
        conn.rollback()
    conn.execute(f"DROP TABLE {made.table}")
    conn.execute(f"DROP TABLE {made.log}")
    conn.execute(f"DROP PROCEDURE {made.check}")


def table(keys: list[int]) -> pa.Table:
    names = [None if k % 5 == 0 else f"né{k}" for k in keys]
    columns = {"k": pa.array(keys, pa.int32()), "name": pa.array(names, pa.utf8())}
    columns["price"] = pa.array([None] * len(keys), pa.decimal128(8, 2))
    return pa.table({**columns, "tail": pa.array([12345] * len(keys), pa.int32())})


def as_rows(keys: list[int]) -> list[tuple[Any, ...]]:
    return [(row["k"], row["name"], row["tail"]) for row in table(keys).to_pylist()]


@pytest.mark.parametrize("way", WAYS)
def test_each_row_that_is_loaded_fires_the_triggers_once_and_in_its_order(audited: Audited, way: str) -> None:
    keys = [7, 3, 10, *range(100, 130)]
    audited.load(table(keys), way)
    assert audited.rows() == as_rows(sorted(keys))
    assert audited.told() == as_rows(keys)


@pytest.mark.parametrize("way", ["put", "pipeline"])
def test_rows_whose_actions_fail_are_reported_and_leave_no_trace(audited: Audited, way: str) -> None:
    report = audited.load(table([1, -2, 3, 1, -5, 6]), way, on_error="collect")
    assert report.rejected.column("row").to_pylist() == [1, 3, 4]
    assert report.rejected.column("sqlcode").to_pylist() == [-746, -268, -746]
    assert "below zero" in report.rejected.column("message").to_pylist()[0]
    assert report.inserted == 3
    assert audited.rows() == as_rows([1, 3, 6])
    assert audited.told() == as_rows([1, 3, 6])


@pytest.mark.parametrize("way", ["put", "pipeline"])
def test_a_load_that_is_ended_by_an_action_is_undone_with_what_the_triggers_did(
    audited: Audited, way: str
) -> None:
    audited.load(table([50]), way)
    with pytest.raises(ifx.Error, match="below zero") as caught:
        audited.load(table([1, 2, -3, 4]), way)
    assert caught.value.sqlcode == -746
    assert audited.rows() == as_rows([50])
    assert audited.told() == as_rows([50])
    audited.load(table([51]), way)  # the connection is usable
    assert audited.told() == as_rows([50, 51])


@pytest.mark.parametrize("way", WAYS)
def test_a_transaction_that_is_rolled_back_takes_what_the_triggers_did_along(
    audited: Audited, way: str
) -> None:
    audited.load(table([1]), "execute")
    with audited.conn.transaction():
        audited.load(table([2, 3]), way)
        assert audited.told() == as_rows([1, 2, 3])
        raise ifx.Rollback
    assert (audited.rows(), audited.told()) == (as_rows([1]), as_rows([1]))


def test_executemany_names_the_rows_whose_actions_fail(audited: Audited) -> None:
    with pytest.raises(ifx.Error, match="below zero") as caught:
        audited.load(table([1, -2, 3, -4]), "executemany")
    assert [row for row, *_ in caught.value.refused] == [1, 3]
    assert audited.rows() == as_rows([1, 3])
    assert audited.told() == as_rows([1, 3])


def test_values_that_a_trigger_gives_the_row_are_what_is_stored(conn: ifx.Connection) -> None:
    n = next(_numbers)
    conn.execute(f"CREATE TABLE trig_g{n} (k INTEGER PRIMARY KEY, name VARCHAR(10), tail INT)")
    conn.execute(
        f"CREATE FUNCTION trig_up{n}(v VARCHAR(10)) RETURNING VARCHAR(10); RETURN UPPER(v); END FUNCTION"
    )
    conn.execute(
        f"CREATE TRIGGER trig_u{n} INSERT ON trig_g{n} REFERENCING NEW AS fresh "
        f"FOR EACH ROW (EXECUTE FUNCTION trig_up{n}(fresh.name) INTO name)"
    )
    rows = pa.table({"k": pa.array([1, 2, 3], pa.int32()), "name": ["ab", None, "öx"], "tail": [7, 7, 7]})
    conn.write_arrow(f"trig_g{n}", rows, method="put")
    conn.write_arrow(
        f"trig_g{n}", rows.set_column(0, "k", pa.array([4, 5, 6], pa.int32())), method="pipeline"
    )
    found = conn.execute(f"SELECT k, name, tail FROM trig_g{n} ORDER BY k").fetchall()
    assert found == [(k, ("AB", None, "ÖX")[(k - 1) % 3], 7) for k in range(1, 7)]
    conn.execute(f"DROP TABLE trig_g{n}")
    conn.execute(f"DROP FUNCTION trig_up{n}")


def test_asyncio_loads_fire_the_same(server: Server, audited: Audited) -> None:
    async def load() -> None:
        async with ifx.aio.connect(server.url("stores_demo"), autocommit=True) as other:
            await other.write_arrow(audited.table, table([4, 5]), method="put")

    asyncio.run(load())
    assert audited.told() == as_rows([4, 5])
