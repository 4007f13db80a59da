"""Rows that our query FOR UPDATE has returned are locked for the other clients until our transaction ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from .jdbc.driver import Jdbc, JdbcError
from .values import UTF8

if TYPE_CHECKING:
    from informix_arrow.connection import Connection

pytestmark = pytest.mark.reference_client

NewTable = Callable[[str, str], str]


def locked(change: Callable[[int], object], refused: type[Exception]) -> list[int]:
    """Return the rows that ``change`` cannot change because they are locked."""
    found = []
    for row in range(5):
        try:
            change(row)
        except refused as error:
            assert "-244" in str(error) or "locked" in str(error).lower(), error  # noqa: PT017
            found.append(row)
    return found


def table(conn: Connection, new_table: NewTable) -> str:
    name = new_table(UTF8, "id INTEGER PRIMARY KEY, n INTEGER, sentinel INTEGER")
    conn.cursor().executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", [(row, 0, 12345) for row in range(5)])
    conn.commit()
    return name


@pytest.mark.parametrize("arrow", [False, True])
def test_jdbc_cannot_change_them(
    ours: Callable[[str], Connection], jdbc: Callable[..., Jdbc], new_table: NewTable, arrow: bool
) -> None:
    conn = ours(UTF8)
    conn.autocommit = False
    name = table(conn, new_table)
    sql = f"SELECT id, n, sentinel FROM {name} WHERE id < 3 FOR UPDATE"
    assert len(conn.read_arrow(sql) if arrow else conn.cursor().execute(sql).fetchall()) == 3
    other = jdbc(UTF8)
    update = f"UPDATE {name} SET n = 1 WHERE id = "
    assert locked(lambda row: other.update(f"{update}{row}"), JdbcError) == [0, 1, 2]
    conn.rollback()
    assert locked(lambda row: other.update(f"{update}{row}"), JdbcError) == []


@pytest.mark.parametrize("arrow", [False, True])
def test_informix_driver_cannot_change_them(
    ours: Callable[[str], Connection], peer: Callable[[str], Any], new_table: NewTable, arrow: bool
) -> None:
    conn = ours(UTF8)
    conn.autocommit = False
    name = table(conn, new_table)
    sql = f"SELECT id, n, sentinel FROM {name} WHERE id < 3 FOR UPDATE"
    assert len(conn.read_arrow(sql) if arrow else conn.cursor().execute(sql).fetchall()) == 3
    other = peer(UTF8)

    def change(row: int) -> None:
        try:
            other.cursor().execute(f"UPDATE {name} SET n = 1 WHERE id = {row}")
        finally:
            other.rollback()

    assert locked(change, Exception) == [0, 1, 2]
    conn.rollback()
    assert locked(change, Exception) == []
