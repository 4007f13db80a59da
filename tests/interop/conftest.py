"""Fixtures of the reference clients. Each connects a client to an embedded server in another process."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.interop.reference_clients import reference_client_missing
from tests.real_server import REAL_SERVER
from tests.shared_results import once_per_run

import informix_arrow

from .clients import Clients, connected
from .extended import DISTINCT_TYPES
from .jdbc.driver import Jdbc
from .jdbc.toolchain import RELEASE, Java, Unavailable, compile_programs, with_driver
from .target import Target
from .values import LATIN1, UTF8

if TYPE_CHECKING:
    from informix_arrow.connection import Connection


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the first test with Java more time, as Maven may have to download the driver."""
    for item in items:
        if "java" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def target(request: pytest.FixtureRequest, server_process: str) -> Target:
    url = urlsplit(server_process)
    assert url.hostname is not None
    assert url.port is not None
    assert url.username is not None
    assert url.password is not None
    place = url.hostname, url.port, url.username, url.password, parse_qs(url.query)["server"][0]
    if not request.config.pluginmanager.has_plugin(REAL_SERVER):
        return Target(*place)
    # Tests do not write into the sysmaster of a real server.
    server = request.getfixturevalue("server")
    server.create_database("latin", locale="en_US.819")
    names = {UTF8: server.database_name(UTF8), LATIN1: server.database_name("latin")}
    return Target(*place, lambda name: names.get(name, name))


@pytest.fixture(scope="session")
def jdbc_release() -> str:
    """Return the release of IBM's driver."""
    return RELEASE


@pytest.fixture(scope="session")
def java(tmp_path_factory: pytest.TempPathFactory) -> Java:
    """Return our Java programs with IBM's driver, compiled once for all workers."""
    try:
        return with_driver(once_per_run(tmp_path_factory, "jdbc_programs", compile_programs))
    except Unavailable as missing:
        reference_client_missing(str(missing))


@pytest.fixture(scope="session")
def _jvm(java: Java) -> Iterator[list[Jdbc]]:
    """Yield the running JVM in a list, so that it can be replaced after it has died."""
    jvm: list[Jdbc] = []
    yield jvm
    for each in jvm:
        if each.alive:
            each.stop()


@pytest.fixture
def jdbc(java: Java, _jvm: list[Jdbc], target: Target) -> Iterator[Callable[..., Jdbc]]:
    """Connect IBM's driver to a database: ``jdbc("stores_demo", OPTOFC="1")``."""

    def connect(database: str, **properties: str) -> Jdbc:
        if not _jvm or not _jvm[-1].alive:
            _jvm.append(Jdbc(java))
        _jvm[-1].ask("connect", url=target.jdbc_url(database, **properties))
        return _jvm[-1]

    yield connect
    if _jvm and _jvm[-1].alive:
        _jvm[-1].ask("close")


@pytest.fixture(scope="session")
def kept_jdbc(java: Java, _jvm: list[Jdbc], target: Target) -> Callable[[str], Jdbc]:
    """Connect like `jdbc`, but keep the connection of the last test if it was to the same database. For tests of
    values, which leave a connection unchanged. Connecting takes longer than writing and reading some rows."""

    def connect(database: str) -> Jdbc:
        if not _jvm or not _jvm[-1].alive:
            _jvm.append(Jdbc(java))
        url = target.jdbc_url(database)
        if _jvm[-1].connected_to != url:
            _jvm[-1].ask("connect", url=url)
        return _jvm[-1]

    return connect


@pytest.fixture
def ours(target: Target) -> Iterator[Callable[[str], Connection]]:
    """Connect our own client to a database, with autocommit."""
    opened: list[Connection] = []

    def connect(database: str) -> Connection:
        opened.append(informix_arrow.connect(target.url(database), autocommit=True, read_timeout=60.0))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


@pytest.fixture(scope="session")
def kept_ours(target: Target) -> Iterator[Callable[[str], Connection]]:
    """Connect like `ours`, but share one connection to each database between all tests that use this fixture."""
    opened: dict[str, Connection] = {}

    def connect(database: str) -> Connection:
        if database not in opened or opened[database].closed:
            opened[database] = informix_arrow.connect(
                target.url(database), autocommit=True, read_timeout=60.0
            )
        return opened[database]

    yield connect
    for connection in opened.values():
        connection.close()


@pytest.fixture(scope="session")
def _connect_peer(target: Target) -> Callable[[str], Any]:
    """Connect informix-driver to a database, with autocommit and the client locale that suits it."""
    try:
        import informix_db
    except ImportError:
        reference_client_missing("informix-driver is not installed (pip install informix-driver)")
    locales = {UTF8: "en_US.utf8", LATIN1: "en_US.8859-1"}

    def connect(database: str) -> Any:
        return informix_db.connect(
            target.host,
            target.port,
            user=target.user,
            password=target.password,
            database=target.name_of(database),
            server=target.server,
            client_locale=locales[database],
            autocommit=True,
            connect_timeout=15.0,
            read_timeout=60.0,
        )

    return connect


@pytest.fixture
def peer(_connect_peer: Callable[[str], Any]) -> Iterator[Callable[[str], Any]]:
    """Connect informix-driver to a database, with autocommit."""
    opened: list[Any] = []

    def connect(database: str) -> Any:
        opened.append(_connect_peer(database))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


@pytest.fixture(scope="session")
def kept_peer(_connect_peer: Callable[[str], Any]) -> Iterator[Callable[[str], Any]]:
    """Connect like `peer`, but share one connection to each database between all tests that use this fixture."""
    opened: dict[str, Any] = {}

    def connect(database: str) -> Any:
        if database not in opened or opened[database].closed:
            opened[database] = _connect_peer(database)
        return opened[database]

    yield connect
    for connection in opened.values():
        connection.close()


@pytest.fixture
def clients(
    kept_ours: Callable[[str], Connection], kept_jdbc: Callable[..., Jdbc], kept_peer: Callable[[str], Any]
) -> Clients:
    """All clients, with shared connections to the UTF-8 database. A test that makes one unusable opens its own
    instead."""
    return connected(kept_ours, kept_jdbc, kept_peer)


@pytest.fixture(scope="session")
def distinct_types(target: Target) -> None:
    """Create the DISTINCT types of extended.py in the UTF-8 database."""
    with informix_arrow.connect(target.url(UTF8), autocommit=True, read_timeout=60.0) as connection:
        for statement in DISTINCT_TYPES:
            connection.cursor().execute(statement)


_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def _table_connections(target: Target) -> Iterator[Callable[[str], Connection]]:
    """Return one connection for each database, which creates and drops the tables of all tests. A new connection for
    each of these statements costs more than the statement."""
    opened: dict[str, Connection] = {}

    def connect(database: str) -> Connection:
        if database not in opened:
            opened[database] = informix_arrow.connect(
                target.url(database), autocommit=True, read_timeout=60.0
            )
        return opened[database]

    yield connect
    for connection in opened.values():
        connection.close()


@pytest.fixture
def new_table(_table_connections: Callable[[str], Connection]) -> Iterator[Callable[[str, str], str]]:
    """Create a table with a new name, ``new_table(database, "id INT, v DATE")``, and drop it after the test."""
    made: list[tuple[str, str]] = []

    def create(database: str, columns: str) -> str:
        name = f"reference_{next(_numbers)}"
        _table_connections(database).cursor().execute(f"CREATE TABLE {name} ({columns})")
        made.append((database, name))
        return name

    yield create
    for database, name in made:
        _table_connections(database).cursor().execute(f"DROP TABLE {name}")


@pytest.fixture(scope="session")
def kept_table(_table_connections: Callable[[str], Connection]) -> Callable[[str, str], str]:
    """Like `new_table`, but tests that ask for the same columns share a table, which is emptied for each of them.
    Creating and dropping a table takes longer than writing and reading some rows."""
    made: dict[tuple[str, str], str] = {}

    def create(database: str, columns: str) -> str:
        cursor = _table_connections(database).cursor()
        if (name := made.get((database, columns))) is not None:
            cursor.execute(f"TRUNCATE TABLE {name}")
            return name
        name = f"reference_{next(_numbers)}"
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        return made.setdefault((database, columns), name)

    return create
