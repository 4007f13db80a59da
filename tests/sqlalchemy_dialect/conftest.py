"""A fixture with an engine for a new database of each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine


@pytest.fixture
def engine(informix_database: str) -> Iterator[Engine]:
    made = create_engine(informix_database)
    yield made
    made.dispose()
