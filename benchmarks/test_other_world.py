"""For orientation in another world: arrow-adbc's PostgreSQL driver and connector-x read the seed's five columns from a
private PostgreSQL, beside our read of as many rows from the embedded server.

Another server, other wire formats (both peers ask for PostgreSQL's binary COPY): only the client's CPU per row says
something. It is of all threads of this process, so connector-x's own are in it, and so is the connection that it opens
for each read; the other two keep theirs. Optional: `apt-get install postgresql`, `pip install -e '.[bench-peers]'`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from tests.postgres import running

import informix_arrow as ifx

from .measuring import measure
from .tables import SEED, seed_table

COLUMNS = "k, name, n, x, d"
INSTALL = "is not installed: pip install -e '.[bench-peers]'"


@dataclass(frozen=True)
class OtherWorld:
    """A PostgreSQL with a table for each size, and ADBC's connection to it."""

    url: str
    adbc: Any
    server: str
    made: set[int]

    def table(self, rows: int) -> str:
        """Makes and fills the table of so many rows, once; its name."""
        name = f"bench_{rows}"
        if rows not in self.made:
            with self.adbc.cursor() as cursor:
                cursor.execute(f"CREATE TABLE {name} ({SEED})")
                cursor.adbc_ingest(name, seed_table(rows), mode="append")
                # What a server does at leisure after a load; otherwise the first read pays for it.
                cursor.execute(f"VACUUM (FREEZE, ANALYZE) {name}")
                cursor.execute("CHECKPOINT")
            self.made.add(rows)
        return name


@pytest.fixture(scope="module")
def other_world() -> Iterator[OtherWorld]:
    """A private PostgreSQL; gone after the module."""
    adbc = pytest.importorskip("adbc_driver_postgresql.dbapi", reason=f"adbc-driver-postgresql {INSTALL}")
    # Not pytest's folder: another user may not enter that one.
    with (
        tempfile.TemporaryDirectory(prefix="other_world_") as folder,
        running(Path(folder)) as url,
        adbc.connect(url, autocommit=True) as connection,
    ):
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('server_version')")
            (said,) = cursor.fetchone()
        yield OtherWorld(url, connection, f"PostgreSQL {said}", set())


@pytest.mark.parametrize("rows", [100_000, 1_000_000])
@pytest.mark.parametrize("who", ["read_arrow", "adbc-driver-postgresql", "connectorx"])
def test_read(
    benchmark: BenchmarkFixture,
    other_world: OtherWorld,
    conn: ifx.Connection,
    seeded: Callable[[int], str],
    who: str,
    rows: int,
) -> None:
    read: Callable[[], pa.Table]
    facts: dict[str, Any] = {}
    if who == "read_arrow":
        sql = f"SELECT {COLUMNS} FROM {seeded(rows)}"
        read = lambda: conn.read_arrow(sql)  # noqa: E731
    else:
        if who == "connectorx":
            connectorx = pytest.importorskip("connectorx", reason=f"connectorx {INSTALL}")
            read = lambda: connectorx.read_sql(other_world.url, sql, return_type="arrow")  # noqa: E731
        else:
            read = lambda: read_adbc(other_world.adbc, sql)  # noqa: E731
        sql = f"SELECT {COLUMNS} FROM {other_world.table(rows)}"
        facts = {"server": other_world.server, "package": f"{who} {version(who)}"}
    table = read()
    assert table.column_names == COLUMNS.split(", ")
    assert pa.compute.sum(table["n"]).as_py() == -rows * (rows - 1) // 2
    del table
    subject = f"another world: read {rows:,} rows"
    assert measure(benchmark, subject, who, lambda: read().num_rows, rows=rows, **facts) == rows


def read_adbc(connection: Any, sql: str) -> pa.Table:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetch_arrow_table()
