"""Integrations register the class of connections of ``connect()`` and the pools. Cursors and blocks return it, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.core import connection_classes
from informix_arrow.server import Server

from .aio_support import run


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with Server() as server:
        server.create_database("stores")
        yield server.url("stores")


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_classes, "_registered", {})
    monkeypatch.setattr(connection_classes, "_resolved", {})
    monkeypatch.setattr(connection_classes, "integration_hooks", lambda: ())


class Counting(ifx.Connection):
    """A connection that counts statements."""

    ran = 0

    def _run(self, exchange: Any, timeout: float | None = None) -> Any:
        self.ran += 1
        return super()._run(exchange, timeout)


def test_connect_makes_the_class_that_an_integration_has_registered(url: str) -> None:
    connection_classes.register(ifx.Connection, lambda: Counting)
    with ifx.connect(url) as conn:
        assert type(conn) is Counting
        cursor = conn.execute("SELECT 7 FROM systables WHERE tabid = 1")
        assert cursor.fetchall() == [(7,)]
        assert cursor.connection is conn
        with conn.transaction() as block:
            assert block.connection is conn
        assert conn.ran >= 3
        assert conn.tables("nothing").num_rows == 0
    assert repr(conn).startswith("<informix_arrow.Connection informix@")


def test_a_pool_lends_the_class_that_an_integration_has_registered(url: str) -> None:
    connection_classes.register(ifx.Connection, lambda: Counting)
    with ifx.Pool(url, min_size=1) as pool, pool.connection() as conn:
        assert type(conn) is Counting


def test_an_integration_that_declines_leaves_the_own_class(url: str) -> None:
    asked = []
    connection_classes.register(ifx.Connection, lambda: asked.append(1))  # type: ignore[func-returns-value]
    for _ in range(2):
        with ifx.connect(url) as conn:
            assert type(conn) is ifx.Connection
    assert asked == [1, 1]  # the statement may have waited


def test_an_integration_is_asked_until_it_gives_a_class_and_then_no_more(url: str) -> None:
    answers = [None, Counting]
    connection_classes.register(ifx.Connection, lambda: answers.pop(0))
    kinds = []
    for _ in range(3):
        with ifx.connect(url) as conn:
            kinds.append(type(conn))
    assert kinds == [ifx.Connection, Counting, Counting]


def test_an_installed_integration_is_asked_unless_another_was_registered(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[type[Any]] = []

    def choose(own: type[Any]) -> type[Any] | None:
        asked.append(own)
        return Counting

    monkeypatch.setattr(connection_classes, "integration_hooks", lambda: (lambda own: None, choose))
    with ifx.connect(url) as conn:
        assert type(conn) is Counting
    assert asked == [ifx.Connection]
    connection_classes.register(ifx.Connection, lambda: None)
    with ifx.connect(url) as conn:
        assert type(conn) is ifx.Connection


def test_the_last_registration_counts_also_after_a_connection_was_made(url: str) -> None:
    with ifx.connect(url) as conn:
        assert type(conn) is ifx.Connection
    connection_classes.register(ifx.Connection, lambda: Counting)
    with ifx.connect(url) as conn:
        assert type(conn) is Counting


def test_asyncio_connections_are_registered_by_themselves(url: str) -> None:
    class Ours(aio.AsyncConnection):
        """A connection class of an integration."""

    connection_classes.register(aio.AsyncConnection, lambda: Ours)

    async def main() -> None:
        async with aio.connect(url) as conn:
            assert type(conn) is Ours
            assert (await conn.execute("SELECT 7 FROM systables WHERE tabid = 1")).connection is conn
        async with aio.AsyncPool(url) as pool, pool.connection() as conn:
            assert type(conn) is Ours

    run(main)
    with ifx.connect(url) as blocking:
        assert type(blocking) is ifx.Connection
