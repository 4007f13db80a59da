"""Fixtures for tests that want an Informix: installed with ``informix-arrow[server]``, found by pytest itself.

    def test_orders(informix_connection):
        informix_connection.cursor().execute("CREATE TABLE orders (id SERIAL, total DECIMAL(10,2))")
        ...

`informix_server`
    An embedded server (`informix_arrow.server.Server`) on a free loopback port, its databases in memory; one for all
    tests of the run.
`informix_database`
    The URL of a fresh, empty, logged UTF-8 database on it; a new one for every test.
`informix_connection`
    A connection to that database; closed after the test, what it has not committed is gone.
`informix_server_options`
    Keywords for the server, ``{}``. Override it in a conftest.py, with ``scope="session"``, to load tables
    (``{"load": {"shop.orders": "orders.parquet"}}``), to keep databases, for TLS.

Faults that a test has ordered (``informix_server.faults``) and not met are forgotten when it ends, and so is what it
left in the query log (``informix_server.queries``).

A package of its own, as pytest loads its plugins in every run, whatever that tests: nothing of informix_arrow is
imported before a fixture is used.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from informix_arrow import Connection
    from informix_arrow.server import Server

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def informix_server_options() -> dict[str, Any]:
    """Keywords for `informix_arrow.server.Server`; override it."""
    return {}


@pytest.fixture(scope="session")
def informix_server(informix_server_options: dict[str, Any]) -> Iterator[Server]:
    """An embedded Informix server, running for all tests."""
    from informix_arrow.server import Server

    with Server(**informix_server_options) as server:
        yield server


@pytest.fixture
def informix_database(informix_server: Server) -> Iterator[str]:
    """URL of a fresh database: logged, UTF-8, empty."""
    name = f"test_{next(_numbers)}"
    informix_server.create_database(name)
    try:
        yield informix_server.url(name)
    finally:
        informix_server.faults.clear()
        informix_server.drop_database(name)
        informix_server.queries.clear()


@pytest.fixture
def informix_connection(informix_database: str) -> Iterator[Connection]:
    """A connection to the fresh database of `informix_database`."""
    import informix_arrow

    connection = informix_arrow.connect(informix_database)
    try:
        yield connection
    finally:
        connection.close()
