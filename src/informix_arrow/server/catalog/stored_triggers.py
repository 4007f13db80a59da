"""Store, find, change and remove triggers in the hidden schema (the table is in trigger_tables.py)."""

from __future__ import annotations

from collections.abc import Sequence

from .catalog import SqlConnection, duck_database, first_row


def _triggers(database: str) -> str:
    return f"{duck_database(database)}._ifx.triggers"


def store(con: SqlConnection, database: str, row: Sequence[object]) -> None:
    """Write a new trigger. The values are in the order of the table's columns."""
    con.execute(f"INSERT INTO {_triggers(database)} VALUES ({', '.join('?' * len(row))})", list(row))


def find(
    con: SqlConnection, database: str, name: str, owner: str | None = None
) -> tuple[int, str, str] | None:
    """Return number, owner and table of a trigger, None if there is none of this name (and owner, if given)."""
    row = first_row(
        con,
        f"SELECT g.trigid, g.owner, t.tabname FROM {_triggers(database)} g "
        f"JOIN {duck_database(database)}._ifx.tables t ON t.tabid = g.tabid "
        "WHERE g.trigname = ? AND g.owner = coalesce(?, g.owner)",
        [name, owner],
    )
    return (int(row[0]), str(row[1]), str(row[2])) if row is not None else None


def enable(con: SqlConnection, database: str, trigid: int, enabled: bool) -> None:
    """Enable or disable a trigger."""
    con.execute(f"UPDATE {_triggers(database)} SET enabled = ? WHERE trigid = ?", [enabled, trigid])


def set_columns(con: SqlConnection, database: str, trigid: int, columns: list[str]) -> None:
    """Set the columns of a trigger's UPDATE OF."""
    con.execute(f"UPDATE {_triggers(database)} SET columns = ? WHERE trigid = ?", [columns, trigid])


def forget(con: SqlConnection, database: str, trigid: int) -> None:
    """Remove a trigger."""
    con.execute(f"DELETE FROM {_triggers(database)} WHERE trigid = ?", [trigid])


def forget_all(con: SqlConnection, database: str, tabid: int) -> None:
    """Remove all triggers of a table or view."""
    con.execute(f"DELETE FROM {_triggers(database)} WHERE tabid = ?", [tabid])
