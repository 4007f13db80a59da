"""The server frees abandoned resources at once: results of released statements, and sessions that have ended."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from tests.integration.raw import RawClient

from informix_arrow.server import Server
from informix_arrow.server.handlers import fetch
from informix_arrow.server.handlers.cursors import SelectCursor
from informix_arrow.wire import messages as m

QUERY = "SELECT tabname, tabid FROM systables"


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Iterator[weakref.WeakSet[Any]]:
    """The results of queries that are alive. Python's garbage collector is disabled."""
    alive: weakref.WeakSet[Any] = weakref.WeakSet()

    class Watched(SelectCursor):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            alive.add(self)

    monkeypatch.setattr(fetch, "SelectCursor", Watched)
    gc.collect()
    gc.disable()
    try:
        yield alive
    finally:
        gc.enable()


def open_cursors(client: RawClient, count: int) -> list[int]:
    ids = []
    for _ in range(count):
        number = client.prepare(QUERY).statement_id
        client.must(m.Id(number), m.Open())
        client.must(m.Id(number), m.Fetch(64))
        ids.append(number)
    return ids


def test_the_results_of_a_session_go_with_it(results: weakref.WeakSet[Any]) -> None:
    with Server() as server:
        with RawClient(server, "sysmaster") as client:
            open_cursors(client, 3)
            assert len(results) == 3
        server.stop()  # waits until its sessions have ended
        assert len(results) == 0


def test_a_result_goes_when_its_statement_is_released(server: Server, results: weakref.WeakSet[Any]) -> None:
    with RawClient(server, "sysmaster") as client:
        first, second = open_cursors(client, 2)
        client.must(m.Id(second), m.Release())
        assert len(results) == 1
        client.must(m.Id(first), m.Close())
        assert len(results) == 0


def test_a_session_that_said_goodbye_holds_nothing(server: Server) -> None:
    """When the client has received the reply to SQ_EXIT, the session holds no locks and its changes are rolled back."""
    with RawClient(server, "sysmaster") as other:
        other.command("CREATE DATABASE goodbyes WITH LOG")
        other.command("CREATE TABLE held (a INT, after INT)")
        for number in range(40):
            with RawClient(server, "goodbyes") as client:
                client.must(m.Begin())
                client.command("LOCK TABLE held IN EXCLUSIVE MODE")
                client.command(f"INSERT INTO held VALUES ({number}, 1)")
                client.send(m.Exit())
                assert isinstance(client.receive(), m.Exit)
                other.command(f"INSERT INTO held VALUES ({number}, 2)")
        assert other.number("SELECT COUNT(*)::INT FROM held") == 40
