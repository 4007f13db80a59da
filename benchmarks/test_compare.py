"""`compare` of two equal tables of 1,000,000 rows, beside reading both: it may take less than twice as long.

In the same order, as copies have them, nothing but reading and comparing bytes is done; in another order every row
is hashed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import informix_arrow as ifx
from informix_arrow.comparison import DatabaseSide, compare_tables

from .conftest import Address
from .measuring import measure

ROWS = 1_000_000
LIMIT = 2.0

fastest: dict[str, float] = {}


@pytest.mark.parametrize("who", ["reading both", "the same order", "another order"])
def test_compare(
    benchmark: Any, address: Address, conn: ifx.Connection, seeded: Callable[[int], str], who: str
) -> None:
    name = seeded(ROWS)
    other = f"{name}_{'back' if who == 'another order' else 'copy'}"
    if conn.tables(other).num_rows == 0:
        order = " ORDER BY n" if who == "another order" else ""
        data = conn.read_arrow(f"SELECT * FROM {name}{order}")
        conn.write_arrow(other, data, mode="create")

    with address.ours(autocommit=True) as second:

        def read() -> int:
            found = 0
            for connection, table in ((conn, name), (second, other)):
                with connection.query(f"SELECT * FROM {table}") as result:
                    found += sum(batch.num_rows for batch in result.batches())
            return found

        def compare() -> int:
            a, b = DatabaseSide(conn).tables()[name], DatabaseSide(second).tables()[other]
            result = compare_tables(a, b, key=["k"])
            assert result.same
            return result.rows_a + result.rows_b

        work = read if who == "reading both" else compare
        assert measure(benchmark, "compare 1,000,000 rows", who, work, rows=2 * ROWS) == 2 * ROWS
    fastest[who] = benchmark.stats.stats.min
    if "reading both" in fastest and who != "reading both":
        assert fastest[who] < LIMIT * fastest["reading both"], (
            f"{fastest[who] / fastest['reading both']:.2f} x"
        )
