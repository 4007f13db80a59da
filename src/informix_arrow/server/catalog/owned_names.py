"""Names of tables, views and synonyms in a MODE ANSI database, where owner.name is unique and not name.

An object is stored under its name while no other owner has an object of that name. The following ones are stored under
name and owner. Clients see the name alone.
"""

from __future__ import annotations

from ..errors import OWNER_MARK
from .catalog import SqlConnection, duck_database


def stored_names(con: SqlConnection, database: str, name: str) -> dict[str, str]:
    """Return the stored names of all objects with this name, by owner."""
    rows = con.execute(
        f"SELECT owner, tabname FROM {duck_database(database)}._ifx.tables "
        "WHERE tabname = ? OR starts_with(tabname, ?) ORDER BY tabid",
        [name, name + OWNER_MARK],
    ).fetchall()
    return {str(owner).rstrip(): str(stored) for owner, stored in rows}


def with_owner(name: str, owner: str) -> str:
    """Return the stored name of an object whose name another owner's object has already."""
    return f"{name}{OWNER_MARK}{owner}"
