"""Copies to files on a full disk: the error says so, existing files stay, and the same copy succeeds once there is
space."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.integration import copy_targets
from tests.integration.copy_targets import held
from tests.small_disks import small_disk

import informix_arrow as ifx
from informix_arrow.server import Server

_numbers = itertools.count(1)
KINDS = [kind for kind in copy_targets.KINDS if kind not in ("informix", "postgresql")]
SMALL, LARGE = 50, 20_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A disk with 2 MB of free space, and a function that frees more."""
    with small_disk(tmp_path / "disk", 2) as found:
        yield found


@pytest.fixture
def conn(server: Server) -> Iterator[ifx.Connection]:
    name = f"copy_disk_{next(_numbers)}"
    server.create_database(name)
    with ifx.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, after VARCHAR(240))")
        yield connection
    server.drop_database(name)


def fill(conn: ifx.Connection, first: int, last: int) -> None:
    """Insert rows that cannot be compressed."""
    chosen = random.Random(first)
    numbers = range(first, last)
    data = {"id": pa.array(numbers, pa.int32()), "after": [chosen.randbytes(120).hex() for _ in numbers]}
    conn.write_arrow("orders", pa.table(data))


def rows(where: Any) -> list[tuple[int, str]]:
    table = (
        where.read_arrow("SELECT * FROM orders")
        if isinstance(where, ifx.Connection)
        else held(where, "orders")
    )
    return sorted(zip(table["id"].to_pylist(), table["after"].to_pylist(), strict=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"mode": "merge", "key": "id"}, {"mode": "append"}], ids=["full", "merge", "append"]
)
def test_what_does_not_fit_is_reported_and_goes_on_when_there_is_room(
    conn: ifx.Connection,
    server: Server,
    disk: tuple[Path, Callable[[], None]],
    kind: str,
    options: dict[str, Any],
) -> None:
    place, make_room = disk
    fill(conn, 0, SMALL)
    with copy_targets.made(kind, place, server, "nowhere") as target:
        ifx.copy(conn, target, ["orders"])
        before = rows(target)
        assert len(before) == SMALL
        fill(conn, SMALL, LARGE)
        with pytest.raises(ifx.CopyFailed) as failed:
            ifx.copy(conn, target, ["orders"], **options)
        told = str(failed.value).lower()
        assert "orders: " in told
        assert any(
            words in told
            for words in ("no space left", "disk is full", "out of disk", "database or disk is full")
        ), told
        assert rows(target) == before
        make_room()
        (report,) = ifx.copy(conn, target, ["orders"], **options)
        now = rows(conn)
        assert rows(target) == (sorted(before + now) if "append" in options.values() else now)
        assert report.rows == LARGE
