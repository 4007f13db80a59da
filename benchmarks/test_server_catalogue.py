"""What DatabaseMetaData of IBM's driver costs the server, for one table of many: tools begin with these statements."""

from __future__ import annotations

import itertools
import statistics

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import informix_arrow as ifx
from informix_arrow.server import Server

from .peers import jdbc

TABLES = 20
CALLS = ("getTables", "getColumns", "getPrimaryKeys", "getImportedKeys", "getExportedKeys", "getIndexInfo")


@pytest.mark.parametrize("call", CALLS)
def test_metadata_of_a_table(benchmark: BenchmarkFixture, java: tuple[str, str], call: str) -> None:
    """The goal is 10 ms in the server (`engine_ms`, which is the engine's part of all statements of one call)."""
    with Server() as server, ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE parent (a INTEGER NOT NULL, b VARCHAR(10) NOT NULL, c INTEGER, "
            "PRIMARY KEY (b, a), UNIQUE (c))"
        )
        for n in range(TABLES):
            connection.execute(
                f"CREATE TABLE t{n} (k SERIAL PRIMARY KEY, x INTEGER, y VARCHAR(10), z INTEGER DEFAULT 5 NOT NULL, "
                "w DECIMAL(8,2), v DATETIME YEAR TO SECOND, FOREIGN KEY (y, x) REFERENCES parent, "
                "FOREIGN KEY (z) REFERENCES parent (c))"
            )
            connection.execute(f"CREATE INDEX i{n} ON t{n} (w DESC, v)")
        peer = jdbc.JdbcPeer(*java, jdbc.url(*server.address))
        numbers = itertools.count()
        engine = []

        def ask() -> None:
            server.queries.clear()
            peer.ask(f"metadata {call} t{next(numbers) % TABLES}")
            engine.append(sum(query.seconds for query in server.queries))

        try:
            benchmark.group = "metadata by JDBC"
            benchmark.pedantic(ask, rounds=40, warmup_rounds=10)
        finally:
            peer.close()
        benchmark.extra_info["engine_ms"] = round(statistics.median(engine[10:]) * 1e3, 2)
