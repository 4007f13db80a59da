"""Names of objects in a MODE ANSI database, where owner.name is unique and not name.

A table, view, synonym or sequence is stored under its name while no other owner has one of that name. The following
ones are stored under name and owner. An index or constraint that a statement names is always stored under name and
owner, because its owner may be another than that of its table. Clients see the name alone.
"""

from __future__ import annotations

from ..errors import OWNER_MARK
from .catalog import SqlConnection, duck_database, first_row


def stored_names(con: SqlConnection, database: str, name: str) -> dict[str, str]:
    """Return the stored names of all tables, views, synonyms and sequences with this name, by owner."""
    rows = con.execute(
        f"SELECT owner, tabname FROM {duck_database(database)}._ifx.tables "
        "WHERE tabname = ? OR starts_with(tabname, ?) ORDER BY tabid",
        [name, name + OWNER_MARK],
    ).fetchall()
    return {str(owner).rstrip(): str(stored) for owner, stored in rows}


def with_owner(name: str, owner: str) -> str:
    """Return the stored name of an object that is stored under name and owner."""
    return f"{name}{OWNER_MARK}{owner}"


def has_index(con: SqlConnection, database: str, name: str, owner: str) -> bool:
    """Return whether an index of this owner is stored under its name alone."""
    query = f"SELECT 1 FROM {duck_database(database)}._ifx.indexes WHERE idxname = ? AND owner = ?"
    return first_row(con, query, [name, owner]) is not None


def has_constraint(con: SqlConnection, database: str, name: str, owner: str) -> bool:
    """Return whether a constraint of this owner is stored under its name alone, as those are that no statement
    named."""
    query = f"SELECT 1 FROM {duck_database(database)}._ifx.constraints WHERE constrname = ? AND owner = ?"
    return first_row(con, query, [name, owner]) is not None
