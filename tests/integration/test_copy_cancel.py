"""Ctrl-C during a copy, for each target: what the target writes ends, and the target is as it was."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration import copy_targets

import informix_arrow as ifx
from informix_arrow.server import Server

SIDE = 1200
ALL_ROWS = SIDE * SIDE  # of the view: some 15 batches
OPTIONS: dict[str, dict[str, Any]] = {"full": {}, "append": {"run_id": "monday"}}


@pytest.fixture
def source(server: Server) -> Iterator[ifx.Connection]:
    """A database with a view of many rows."""
    server.create_database("cancelled_source")
    with ifx.connect(server.url("cancelled_source"), autocommit=True) as connection:
        connection.execute("CREATE TABLE side (k INT, name VARCHAR(9))")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO side VALUES (?, ?)", [(k, "é" * (k % 5)) for k in range(SIDE)])
        connection.execute(
            "CREATE VIEW pairs (k, l, name, tail) AS SELECT a.k, b.k, b.name, 4711 FROM side a, side b"
        )
        yield connection
    server.drop_database("cancelled_source")


@pytest.fixture(params=copy_targets.KINDS)
def target(request: pytest.FixtureRequest, tmp_path: Path, server: Server) -> Iterator[str]:
    with copy_targets.made(request.param, tmp_path, server, "cancelled_target") as text:
        yield text


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def held(target: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in copy_targets.held(target, "pairs").to_pylist())


def expected(k: int, *numbers: int) -> list[tuple[Any, ...]]:
    return [(k, number, "é" * (number % 5), 4711) for number in numbers]


@pytest.mark.usefixtures("ctrl_c_ends_no_wait")
@pytest.mark.parametrize("mode", OPTIONS)
def test_a_copy_can_be_cancelled_while_its_target_writes(
    source: ifx.Connection, target: str, mode: str
) -> None:
    ifx.copy(source, target, ["pairs"], where="k = 0 AND l < 3")
    before = expected(0, 0, 1, 2)
    assert held(target) == before
    batches: list[int] = []

    def progress(rows: int, size: int) -> None:
        batches.append(rows)
        if len(batches) == 2:
            interrupt()

    with pytest.raises(KeyboardInterrupt):
        ifx.copy(source, target, ["pairs"], mode=mode, progress=progress, **OPTIONS[mode])
    assert sum(batches) < ALL_ROWS  # it did not go on to the end
    assert held(target) == before
    copies = ifx.copy(source, target, ["pairs"], mode=mode, where="k = 1 AND l < 2", **OPTIONS[mode])
    assert [(each.rows, each.already_copied) for each in copies] == [(2, False)]
    assert held(target) == [*(before if mode != "full" else []), *expected(1, 0, 1)]
