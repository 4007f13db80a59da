"""Each expression has the same rows on Informix as on Ibis's own DuckDB backend."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ibis
import pytest

from informix_arrow.server import Server

from .data import OTHERS, ROWS
from .expressions import ALL, ORDERED

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fetch_arrow_table:DeprecationWarning")]


@pytest.fixture(scope="module")
def backends(server: Server) -> Iterator[list[tuple[Any, Any, Any]]]:
    """Both backends, each with its tables."""
    informix, duck = ibis.informix.connect(server.url("stores_demo")), ibis.duckdb.connect()
    names = {"ibis_t": ROWS, "ibis_u": OTHERS}
    for name, rows in names.items():
        informix.create_table(name, rows, overwrite=True)
        duck.con.register(name, rows)
    yield [(backend, *map(backend.table, names)) for backend in (informix, duck)]
    for name in names:
        informix.drop_table(name)
    informix.disconnect()
    duck.disconnect()


def _rows(backend: Any, expression: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    table = backend.to_pyarrow(expression.as_table())
    return table.column_names, list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _key(row: tuple[Any, ...]) -> list[tuple[bool, str]]:
    """Return a key for sorting in which numbers are rounded to nine digits."""
    return [(v is None, f"{float(v):.9g}" if isinstance(v, float) else str(v)) for v in row]


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return type(left) is type(right) and bool(left == right)


@pytest.mark.parametrize("name", ALL)
def test_an_expression_has_the_rows_of_duckdb(backends: list[tuple[Any, Any, Any]], name: str) -> None:
    (names, rows), (expected_names, expected) = (
        _rows(backend, ALL[name](t, u)) for backend, t, u in backends
    )
    assert names == expected_names
    if name not in ORDERED:
        rows, expected = sorted(rows, key=_key), sorted(expected, key=_key)
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected, strict=True):
        assert all(map(_same, row, wanted)), (row, wanted)
