"""Small queries that are executed repeatedly: the same rows, with little CPU time in the client."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from types import FrameType

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.operations import execute as running
from informix_arrow.server import Server

from .aio_support import run

ROWS = [
    (1, "a", date(2026, 1, 2), datetime(2026, 1, 2, 3, 4, 5), Decimal("1.5"), Decimal("2.25")),
    (2, None, None, None, None, None),
    (3, "ccc", date(1999, 12, 31), datetime(1999, 12, 31, 23, 59, 59), Decimal(-7), Decimal("0.01")),
]
QUERY = "SELECT * FROM client_again WHERE id >= ? ORDER BY id"


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    """Create a table of the types that small results decode in different ways, and return the database's URL."""
    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        conn.execute("DROP TABLE IF EXISTS client_again")
        conn.execute(
            "CREATE TABLE client_again (id INT, name VARCHAR(20), day DATE, moment DATETIME YEAR TO SECOND, "
            "floating DECIMAL(16), price DECIMAL(8,2))"
        )
        conn.cursor().executemany("INSERT INTO client_again VALUES (?, ?, ?, ?, ?, ?)", ROWS)
    return server.url("stores_demo")


@pytest.fixture
def conn(url: str) -> Iterator[ifx.Connection]:
    with ifx.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def reexecuted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A list of whether each query in the statement cache was executed by the short path."""
    taken: list[bool] = []
    decide = running.can_reexecute

    def noting(*arguments: object) -> bool:
        taken.append(decide(*arguments))  # type: ignore[arg-type]
        return taken[-1]

    monkeypatch.setattr(running, "can_reexecute", noting)
    return taken


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_rows": 1},
        {"batch_bytes": 4096},
        {"strings": "view"},
        {"strings": "dictionary"},
        {"floating_decimals": "string"},
        {"floating_decimals": pa.decimal128(20, 4)},
        {"encoding_errors": "binary"},
        {"integer_aggregates": True},
    ],
    ids=str,
)
def test_a_repeated_query_takes_the_short_way_and_gives_the_same_rows(
    conn: ifx.Connection, reexecuted: list[bool], options: dict[str, object]
) -> None:
    first = [conn.read_arrow(QUERY, (number,), **options) for number in (1, 3, 9)]  # type: ignore[arg-type]
    assert [table.num_rows for table in first] == [3, 1, 0]
    reexecuted.clear()
    for number, table in zip((1, 3, 9), first, strict=True):
        found = conn.read_arrow(QUERY, (number,), **options)  # type: ignore[arg-type]
        assert found.schema.equals(table.schema, check_metadata=True)
        assert found.equals(table)
        assert len(found.to_batches()) == len(table.to_batches())
    assert reexecuted == [True] * 3


def test_other_options_take_the_general_way(conn: ifx.Connection, reexecuted: list[bool]) -> None:
    for strings in ("utf8", "large", "large", "utf8", "utf8"):
        table = conn.read_arrow(QUERY, (1,), strings=strings)  # type: ignore[arg-type]
        assert table["name"].to_pylist() == ["a", None, "ccc"]
    assert reexecuted == [False, True, False, True]


def test_options_of_the_session_take_the_general_way(conn: ifx.Connection, reexecuted: list[bool]) -> None:
    for _ in range(2):
        assert conn.read_arrow(QUERY, (1,), isolation="dirty").num_rows == 3
    assert reexecuted == [False]


def test_results_of_repeated_queries_are_read_in_turns(conn: ifx.Connection) -> None:
    conn.read_arrow(QUERY, (1,))
    with conn.query(QUERY, (1,)) as one, conn.query(QUERY, (3,)) as other:
        (last,) = other.batches()
        (all_rows,) = one.batches()
    assert last["id"].to_pylist() == [3]
    assert all_rows["id"].to_pylist() == [1, 2, 3]
    assert conn.read_arrow(QUERY, (2,))["id"].to_pylist() == [2, 3]


def test_lost_digits_are_warned_of_each_time(conn: ifx.Connection) -> None:
    query = "SELECT floating * 1.23456789012345678901 AS x FROM client_again WHERE id = ?"
    told = []
    for _ in range(3):
        with pytest.warns(ifx.InexactWarning) as warned:
            conn.read_arrow(query, (1,))
        told.append([str(warning.message) for warning in warned])
    assert told[0] == told[1] == told[2]


def test_it_is_the_same_in_asyncio(url: str, reexecuted: list[bool]) -> None:
    async def main() -> None:
        async with aio.connect(url, autocommit=True) as conn:
            tables = [await conn.read_arrow(QUERY, (1,)) for _ in range(3)]
            assert tables[0].num_rows == 3
            assert tables[0] == tables[1] == tables[2]

    run(main)
    assert reexecuted == [True, True]


def calls(action: Callable[[], object]) -> int:
    """Return the number of Python functions of the client that are called or resumed in this thread."""
    count, package = 0, f"{os.sep}informix_arrow{os.sep}"

    def counting(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and package in frame.f_code.co_filename

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def test_a_repeated_query_costs_few_calls(conn: ifx.Connection) -> None:
    """A limit without a clock: 77 and 52 calls when this was written, 168 by the general path."""
    cursor = conn.cursor()
    for _ in range(2):
        conn.read_arrow("SELECT id, name FROM client_again WHERE id = ?", (1,))
        cursor.execute("SELECT name, id FROM client_again WHERE id = ?", (1,)).fetchall()
    assert calls(lambda: conn.read_arrow("SELECT id, name FROM client_again WHERE id = ?", (1,))) <= 90
    query = "SELECT name, id FROM client_again WHERE id = ?"
    assert calls(lambda: cursor.execute(query, (1,)).fetchall()) <= 60
