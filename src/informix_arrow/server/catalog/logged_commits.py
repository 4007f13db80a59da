"""Committed transactions of the log of changes, by their begin: a row in the database that they changed proves them."""

from __future__ import annotations

from .catalog import SqlConnection, duck_database


def _commits(database: str) -> str:
    return f"{duck_database(database)}._ifx.logged_commits"


def record(con: SqlConnection, database: str, began: int) -> None:
    """Write one down, in its own transaction."""
    con.execute(f"INSERT INTO {_commits(database)} VALUES (?)", [began])


def find_all(con: SqlConnection, database: str) -> set[int]:
    """All that are written down."""
    return {began for (began,) in con.execute(f"SELECT began FROM {_commits(database)}").fetchall()}


def clear(con: SqlConnection, database: str) -> None:
    """The log has been recovered: none is asked for again."""
    con.execute(f"DELETE FROM {_commits(database)}")
