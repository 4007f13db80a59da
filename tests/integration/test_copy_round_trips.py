"""What a copy of small tables costs over a distance, and what a cancel does: round trips are counted, never timed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from benchmarks.link import SlowLink
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.observing import Operation, add_observer, remove_observer
from informix_arrow.server import Server

TABLES = ["orders", "items", "stock"]
SOURCE, TARGET = "trips_source", "trips_target"


@pytest.fixture
def databases(server: Server) -> Iterator[Server]:
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


def test_a_cancel_of_a_query_takes_one_round_trip(databases: Server) -> None:
    host, port = databases.address
    with SlowLink(databases.address, 0.02) as link:
        url = databases.url(SOURCE).replace(f"{host}:{port}", f"127.0.0.1:{link.address[1]}")
        with ifx.connect(url, autocommit=True) as connection:
            small = "SELECT tail FROM orders WHERE id = 3"
            assert connection.execute(small).fetchall() == [(7,)]
            databases.faults.delay_next(1000, matching="FROM items")
            before: list[int] = []

            def cancel() -> None:
                while databases.faults.armed:  # until the statement has begun
                    time.sleep(0.01)
                before.append(link.round_trips)
                connection.cancel()

            canceller = threading.Thread(target=cancel)
            canceller.start()
            with pytest.raises(ifx.QueryCanceled):
                connection.read_arrow("SELECT name FROM items")
            canceller.join()
            assert link.round_trips - before[0] == 1
            assert connection.execute(small).fetchall() == [(7,)]
            again = link.round_trips
            assert connection.execute(small).fetchall() == [(7,)]
            assert link.round_trips - again == 1
