"""Fixtures with an engine without sockets for each test. Each test costs no more than a copied database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.server.sql_session import Copies, Db, Engines

    from informix_arrow.server.session.engine import Engine


@pytest.fixture(scope="session")
def engines() -> Iterator[Engines]:
    from tests.unit.server.sql_session import Engines  # the environment that tests wheels has no DuckDB

    made = Engines()
    yield made
    made.close()


@pytest.fixture(scope="session")
def empty(engines: Engines) -> Iterator[Copies]:
    from tests.unit.server.sql_session import copies

    yield from copies(engines, lambda db: None)


@pytest.fixture
def fresh_engine(empty: Copies) -> Iterator[Engine]:
    """An engine in the state of a new one: no sessions, an empty stores_demo. Another test may have used it before, so
    tests of its whole log of changes or its files open one themselves (`open_engine`)."""
    yield from empty.engine()


@pytest.fixture(scope="module")
def filled(engines: Engines, request: pytest.FixtureRequest) -> Iterator[Copies]:
    """Engines whose stores_demo has the content that the module's function `fill(db)` creates."""
    from tests.unit.server.sql_session import copies

    yield from copies(engines, request.module.fill)


@pytest.fixture
def engine(filled: Copies) -> Iterator[Engine]:
    """An engine for one test."""
    yield from filled.engine()


@pytest.fixture
def db(engine: Engine) -> Iterator[Db]:
    """A session of the test's engine in stores_demo."""
    from tests.unit.server.sql_session import connect

    session = connect(engine)
    yield session
    session.session.close()


@pytest.fixture
def other(engine: Engine, db: Db) -> Iterator[Db]:
    """A second session beside `db`."""
    from tests.unit.server.sql_session import connect

    session = connect(engine)
    yield session
    session.session.close()
