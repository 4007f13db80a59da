"""Committed transactions of the log of changes, by their begin: a row in the database that they changed proves them."""

from __future__ import annotations

from .catalog import Writer, attached


def _commits(database: str) -> str:
    return f"{attached(database)}._ifx.logged_commits"


def note(con: Writer, database: str, began: int) -> None:
    """Write one down, in its own transaction."""
    con.execute(f"INSERT INTO {_commits(database)} VALUES (?)", [began])


def noted(con: Writer, database: str) -> set[int]:
    """All that are written down."""
    return {began for (began,) in con.execute(f"SELECT began FROM {_commits(database)}").fetchall()}


def forget(con: Writer, database: str) -> None:
    """The log has been recovered: none is asked for again."""
    con.execute(f"DELETE FROM {_commits(database)}")
