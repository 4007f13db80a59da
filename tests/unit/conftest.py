"""An engine without sockets for each test, for the price of a database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from informix_arrow.server.engine.engine import Engine


@pytest.fixture(scope="session")
def _cleaned_engines() -> Iterator[list[Engine]]:
    waiting: list[Engine] = []
    yield waiting
    for engine in waiting:
        engine.close()


@pytest.fixture
def fresh_engine(_cleaned_engines: list[Engine]) -> Iterator[Engine]:
    """An engine as a new one is: no sessions, an empty stores_demo. Another test may have had it before; tests of its
    log of changes, its caches or its files take one of their own (`open_engine`)."""
    from .engine_support import new_engine  # what a wheel is tested with has no DuckDB

    engine = _cleaned_engines.pop() if _cleaned_engines else new_engine()
    yield engine
    try:
        for session in engine.sessions.all():
            session.close()
        for name in engine.databases.names():
            if name != "sysmaster":
                engine.drop_database(name)
        engine.create_database("stores_demo", ("log",), "en_US.57372")
    except BaseException:  # the next test gets another one
        engine.close()
        raise
    _cleaned_engines.append(engine)
