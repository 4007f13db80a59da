"""Committed transactions of the change log, by the LSN of their begin.

The row is in the database that the transaction changed. It proves that the transaction was committed.
"""

from __future__ import annotations

from .catalog import SqlConnection, duck_database


def _commits(database: str) -> str:
    return f"{duck_database(database)}._ifx.logged_commits"


def record(con: SqlConnection, database: str, began: int) -> None:
    """Insert the row of a transaction, as part of that transaction."""
    con.execute(f"INSERT INTO {_commits(database)} VALUES (?)", [began])


def find_all(con: SqlConnection, database: str) -> set[int]:
    """Return the begin LSNs of all recorded transactions."""
    return {began for (began,) in con.execute(f"SELECT began FROM {_commits(database)}").fetchall()}


def clear(con: SqlConnection, database: str) -> None:
    """Delete all rows after the log has been recovered."""
    con.execute(f"DELETE FROM {_commits(database)}")
