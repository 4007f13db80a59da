"""Fixtures for tests that need an Informix server. Installed with ``informix-arrow[server]`` and found by pytest
itself.

    def test_orders(informix_connection):
        informix_connection.cursor().execute("CREATE TABLE orders (id SERIAL, total DECIMAL(10,2))")
        ...

`informix_server`
    An embedded server (`informix_arrow.server.Server`) on a free loopback port, with its databases in memory. One
    server for all tests of the run.
`informix_database`
    The URL of an empty database on it, with a log, in UTF-8. A new one for every test.
`informix_connection`
    A connection to that database. It is closed after the test, which rolls back uncommitted changes.
`informix_transaction`
    A connection in a transaction that is rolled back after the test: changes of the test are undone, and the tables
    that existed before remain. Cheaper than a new database. A test that commits fails.
`informix_shared_database`
    The URL of the database that the tests with `informix_transaction` share. Override it in a conftest.py to create
    tables: request the fixture of the same name, connect, commit, return the URL.
`informix_server_options`
    Keywords for the server, ``{}``. Override it in a conftest.py, with ``scope="session"``, to load tables (``{"load":
    {"shop.orders": "orders.parquet"}}``), to keep databases, or for TLS.

Faults that a test has scheduled (``informix_server.faults``) and that have not occurred are cleared when it ends, and
so are its entries in the query log (``informix_server.queries``).

This is a package of its own, because pytest loads its plugins in every run: nothing of informix_arrow is imported
before a fixture is used.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from informix_arrow import Connection
    from informix_arrow.server import Server

_numbers = itertools.count(1)
_SHARED = "test_shared"


@pytest.fixture(scope="session")
def informix_server_options() -> dict[str, Any]:
    """Keywords for `informix_arrow.server.Server`. Override it."""
    return {}


@pytest.fixture(scope="session")
def informix_server(informix_server_options: dict[str, Any]) -> Iterator[Server]:
    """An embedded Informix server for all tests."""
    from informix_arrow.server import Server

    with Server(**informix_server_options) as server:
        yield server


@pytest.fixture
def informix_database(informix_server: Server) -> Iterator[str]:
    """URL of a new empty database, with a log, in UTF-8."""
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
    """A connection to the database of `informix_database`."""
    import informix_arrow

    connection = informix_arrow.connect(informix_database)
    try:
        yield connection
    finally:
        connection.close()


@pytest.fixture(scope="session")
def informix_shared_database(informix_server: Server) -> Iterator[str]:
    """URL of the database that tests with `informix_transaction` share: empty, with a log, in UTF-8. Override it."""
    informix_server.create_database(_SHARED)
    yield informix_server.url(_SHARED)
    informix_server.drop_database(_SHARED)


@pytest.fixture
def informix_transaction(informix_server: Server, informix_shared_database: str) -> Iterator[Connection]:
    """A connection to `informix_shared_database`, in a transaction that is rolled back after the test.

    Fails the test if it has committed or turned autocommit on, because other tests would see its changes.
    """
    import informix_arrow

    database = re.split(r"[/?]", informix_shared_database.partition("://")[2])[1]
    before = _commits(informix_server, database)
    connection = informix_arrow.connect(informix_shared_database)
    try:
        yield connection
        committed = connection.autocommit or _commits(informix_server, database) > before
    finally:
        connection.close()
        informix_server.faults.clear()
        informix_server.queries.clear()
    if committed:
        pytest.fail(
            f"this test has committed to {database}, which it shares with others: use informix_connection, whose "
            "database is the test's own",
            pytrace=False,
        )


def _commits(server: Server, database: str) -> int:
    return sum(query.database == database for query in server.queries.matching(r"^\s*commit\b"))
