"""Round trips of a copy of small tables, and of a cancel: counted, never timed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from benchmarks.link import SlowLink
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.observing import Operation, add_observer, remove_observer
from informix_arrow.server import Server

from .aio_support import run

TABLES = ["orders", "items", "stock"]
SOURCE, TARGET = "trips_source", "trips_target"


@pytest.fixture(scope="module")
def filled(server: Server) -> Iterator[Server]:
    """A server with two databases. No test changes rows of the source."""
    for name in (SOURCE, TARGET):
        server.create_database(name)
    with ifx.connect(server.url(SOURCE), autocommit=True) as connection:
        for table in TABLES:
            connection.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, name VARCHAR(9), tail INT)")
            rows = {"id": pa.array(range(9), pa.int32()), "name": ["é" * (n % 4) for n in range(9)]}
            connection.write_arrow(table, pa.table({**rows, "tail": pa.array([7] * 9, pa.int32())}))
    yield server
    for name in (SOURCE, TARGET):
        server.drop_database(name)


@pytest.fixture
def databases(filled: Server) -> Server:
    """The server `filled`, after a first connection, so that its capabilities are known."""
    with ifx.connect(filled.url(SOURCE), autocommit=True) as connection:
        assert connection.execute(SMALL).fetchall() == [(7,)]
    return filled


@contextmanager
def counted(server: Server) -> Iterator[Callable[[str], int]]:
    """Yield a function that returns the round trips so far to a database."""
    operations: list[Operation] = []
    add_observer(operations.append)
    try:
        yield lambda database: sum(
            each.round_trips for each in operations if each.database == database_name(server, database)
        )
    finally:
        remove_observer(operations.append)


@pytest.mark.parametrize("form", ["{}/lake/", "{}/lake.duckdb"])
@pytest.mark.parametrize(
    "options", [{}, {"mode": "append", "run_id": "monday"}, {"mode": "merge", "key": "id"}]
)
def test_a_table_is_read_in_two_round_trips(
    databases: Server, tmp_path: Path, form: str, options: dict[str, Any]
) -> None:
    target = form.format(tmp_path)
    for tables in (TABLES[:1], TABLES):
        with counted(databases) as trips:
            ifx.copy(databases.url(SOURCE), target, tables, **options)
        already = options.get("run_id") and tables == TABLES
        assert 0 < trips(SOURCE) <= 3 + 2 * (len(tables) - bool(already))  # and a login
    if "run_id" in options:
        with counted(databases) as trips:
            ifx.copy(databases.url(SOURCE), target, TABLES, **options)
        assert trips(SOURCE) <= 3


@pytest.mark.parametrize(
    ("options", "most"),
    [({}, 60), ({"mode": "append", "run_id": "monday"}, 60), ({"mode": "merge", "key": "id"}, 65)],
)
def test_a_table_is_written_to_informix_in_some_fifty_round_trips(
    databases: Server, options: dict[str, Any], most: int
) -> None:
    target = databases.url(TARGET)
    ifx.copy(databases.url(SOURCE), target, TABLES)
    with counted(databases) as trips:
        ifx.copy(databases.url(SOURCE), target, TABLES[:1], **options)
    assert 0 < trips(TARGET) <= most
    if "run_id" in options:
        with counted(databases) as trips:
            ifx.copy(databases.url(SOURCE), target, TABLES[:1], **options)
        assert trips(TARGET) <= 16
        assert trips(SOURCE) <= 3


STATEMENTS = [
    "SELECT name FROM items",
    "UPDATE items SET tail = 8 WHERE id > 2",
    "DELETE FROM items WHERE id > 2",
    "INSERT INTO items SELECT id + 100, name, tail FROM items WHERE id > 2",
]
SMALL = "SELECT tail FROM orders WHERE id = 3"


def url_through(link: SlowLink, databases: Server) -> str:
    host, port = databases.address
    return databases.url(SOURCE).replace(f"{host}:{port}", f"127.0.0.1:{link.address[1]}")


def require_few(counted: list[int], statement: str) -> None:
    """Check the round trips before a cancel, and those of the cancelled call and two calls of a small query after it.

    The CLOSE of a query is waited for. The RELEASE of any other statement is not: it may pass after the call has ended,
    and travel with what the next call sends. That runs a query for a late interrupt to hit, in four round trips.
    """
    cancelled, following, last = (after - before for before, after in pairwise(counted))
    assert cancelled == 1 if statement.startswith("SELECT") else cancelled <= 1
    assert 5 <= cancelled + following <= 6
    assert last == 1


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda each: each[:6])
def test_a_cancel_takes_at_most_one_round_trip_and_the_next_statement_four(
    databases: Server, statement: str
) -> None:
    with (
        SlowLink(databases.address, 0.02) as link,
        ifx.connect(url_through(link, databases), autocommit=True) as connection,
    ):
        assert connection.execute(SMALL).fetchall() == [(7,)]
        databases.faults.delay_next(1000, matching=statement[:6] + ".* items")
        before: list[int] = []

        def cancel() -> None:
            while databases.faults.armed:  # until the statement has begun
                time.sleep(0.01)
            before.append(link.round_trips)
            connection.cancel()

        canceller = threading.Thread(target=cancel)
        canceller.start()
        with pytest.raises(ifx.QueryCanceled):
            connection.execute(statement)
        canceller.join()
        costs = [link.round_trips]
        for _ in range(2):
            assert connection.execute(SMALL).fetchall() == [(7,)]
            costs.append(link.round_trips)
        require_few([*before, *costs], statement)
    with ifx.connect(databases.url(SOURCE)) as connection:
        rows = connection.read_arrow("SELECT id, tail FROM items")
    assert rows.sort_by("id").to_pydict() == {"id": list(range(9)), "tail": [7] * 9}


@pytest.mark.parametrize("by", ["cancel", "task"])
@pytest.mark.parametrize("statement", STATEMENTS[:2], ids=lambda each: each[:6])
def test_a_cancel_of_a_task_takes_as_many(databases: Server, statement: str, by: str) -> None:
    async def main(link: SlowLink) -> list[int]:
        async with aio.connect(url_through(link, databases), autocommit=True) as connection:

            async def small() -> None:
                assert await (await connection.execute(SMALL)).fetchall() == [(7,)]

            await small()
            databases.faults.delay_next(1000, matching=statement[:6] + ".* items")
            task = asyncio.create_task(connection.execute(statement))
            while databases.faults.armed:
                await asyncio.sleep(0.01)
            trips = [link.round_trips]
            if by == "task":
                task.cancel()
            else:
                connection.cancel()
            with pytest.raises(asyncio.CancelledError if by == "task" else ifx.QueryCanceled):
                await task
            trips.append(link.round_trips)
            for _ in range(2):
                await small()
                trips.append(link.round_trips)
            return trips

    with SlowLink(databases.address, 0.02) as link:
        require_few(run(lambda: main(link)), statement)
