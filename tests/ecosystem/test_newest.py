"""Polars, pandas, DuckDB and pyarrow with the installed releases (checks.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import duckdb
import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

from .checks import CHECKS, ROWS, no_rows, seeded


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with Server() as server:
        server.create_database("shop")
        yield server.url("shop")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("check", CHECKS, ids=[check.__name__ for check in CHECKS])
def test_a_consumer_takes_arrow(url: str, check: Callable[[str], None]) -> None:
    check(url)


def test_duckdb_scans_what_a_cursor_gives(url: str) -> None:
    with ifx.connect(url) as conn:
        sql = seeded(conn, "duck_read")
        with no_rows():
            stream = conn.execute(sql).fetch_arrow()
            found = duckdb.sql("SELECT id, amount, large FROM stream WHERE sentinel = 7 ORDER BY id")
            rows = found.fetchall()
    assert rows == [(row[0], row[2], row[4]) for row in ROWS]
    assert stream.schema.names[-1] == "sentinel"
