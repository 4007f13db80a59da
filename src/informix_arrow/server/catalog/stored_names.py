"""Rows of systables by name: tables, views, synonyms and sequences."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..types.quoting import quote_string
from .catalog import FIRST_USER_TABID, SYNONYMS, SqlConnection, duck_database, first_row


def _tables(database: str) -> str:
    return f"{duck_database(database)}._ifx.tables"


def has_name(con: SqlConnection, database: str, name: str) -> bool:
    """Return whether the name is in use. A synonym for a dropped table counts."""
    return first_row(con, f"SELECT tabname FROM {_tables(database)} WHERE tabname = ?", [name]) is not None


def all_names(con: SqlConnection, database: str) -> frozenset[str]:
    """Return all names in use."""
    return frozenset(name for (name,) in con.execute(f"SELECT tabname FROM {_tables(database)}").fetchall())


def user_object_names(con: SqlConnection, database: str, kind: str, *, but: int = 0) -> list[str]:
    """Return the names of user objects of one kind, a value of tabtype, in the order of creation. `but` is a tabid to
    leave out."""
    rows = con.execute(
        f"SELECT tabname FROM {_tables(database)} WHERE tabtype = ? AND tabid >= {FIRST_USER_TABID} "
        "AND tabid <> ? ORDER BY tabid",
        [kind, but],
    ).fetchall()
    return [str(name) for (name,) in rows]


def table_numbers(con: SqlConnection, database: str) -> set[int]:
    """Return the numbers of all tables."""
    rows = con.execute(f"SELECT tabid FROM {_tables(database)} WHERE tabtype = 'T'").fetchall()
    return {tabid for (tabid,) in rows}


def owner_of(con: SqlConnection, database: str, name: str) -> str | None:
    """Return the owner of the object with this name, None if there is none."""
    row = first_row(con, f"SELECT owner FROM {_tables(database)} WHERE tabname = ?", [name])
    return None if row is None else str(row[0])


def name_of(con: SqlConnection, database: str, tabid: int) -> str | None:
    """Return the name of the table with this number, None if there is none."""
    row = first_row(con, f"SELECT tabname FROM {_tables(database)} WHERE tabid = ?", [tabid])
    return None if row is None else str(row[0])


def table_of_index(con: SqlConnection, database: str, index: str) -> str | None:
    """Return the user table that has an index of this name, None if there is none."""
    row = first_row(
        con,
        f"SELECT t.tabname FROM {duck_database(database)}._ifx.indexes i "
        f"JOIN {_tables(database)} t ON t.tabid = i.tabid WHERE i.idxname = ? AND t.tabid >= {FIRST_USER_TABID}",
        [index],
    )
    return None if row is None else str(row[0])


def table_of_constraint(con: SqlConnection, database: str, constraint: str) -> str | None:
    """Return the user table that has a constraint of this name other than NOT NULL, None if there is none."""
    row = first_row(
        con,
        f"SELECT t.tabname FROM {duck_database(database)}._ifx.constraints c JOIN {_tables(database)} t "
        f"ON t.tabid = c.tabid WHERE c.constrname = ? AND c.constrtype <> 'N' AND t.tabid >= {FIRST_USER_TABID}",
        [constraint],
    )
    return None if row is None else str(row[0])


def synonyms(con: SqlConnection, database: str) -> list[tuple[int, str, str]]:
    """Return all synonyms: tabid, and database and name of the target."""
    rows = con.execute(
        f"SELECT tabid, details FROM {_tables(database)} WHERE tabtype IN ({', '.join(map(quote_string, SYNONYMS))})"
    ).fetchall()
    return [(int(tabid), *json.loads(details)["stands for"]) for tabid, details in rows]


def synonym_names(con: SqlConnection, database: str, name: str) -> list[str]:
    """Return the synonyms of a database for one of its own tables or views."""
    rows = con.execute(
        f"SELECT tabname, details FROM {_tables(database)} WHERE tabtype IN ({', '.join(map(quote_string, SYNONYMS))})"
    ).fetchall()
    return [str(own) for own, details in rows if json.loads(details)["stands for"] == [database, name]]


def redirect_synonyms(con: SqlConnection, database: str, old: str, new: str) -> None:
    """Point the synonyms for a renamed table of the same database to its new name."""
    for tabid, target_database, name in synonyms(con, database):
        if (target_database, name) == (database, old):
            details = json.dumps({"stands for": [database, new]})
            con.execute(f"UPDATE {_tables(database)} SET details = ? WHERE tabid = ?", [details, tabid])


def register(
    con: SqlConnection, database: str, name: str, tabid: int, kind: str, owner: str, details: str
) -> None:
    """Insert the row of a synonym or sequence."""
    con.execute(
        f"INSERT INTO {_tables(database)} VALUES (?, ?, ?, ?, current_date, NULL, '', NULL, 0, ?)",
        [tabid, name, owner, kind, details],
    )


def rename(con: SqlConnection, database: str, name: str, new: str, kind: str) -> None:
    """Rename a synonym or sequence."""
    con.execute(
        f"UPDATE {_tables(database)} SET tabname = ? WHERE tabname = ? AND tabtype = ?", [new, name, kind]
    )


def number_of(con: SqlConnection, database: str, name: str, kinds: tuple[str, ...]) -> int | None:
    """Return the tabid of the object with this name and one of these kinds, None if there is none."""
    kind_list = ", ".join(map(quote_string, kinds))
    row = first_row(
        con, f"SELECT tabid FROM {_tables(database)} WHERE tabname = ? AND tabtype IN ({kind_list})", [name]
    )
    return None if row is None else int(row[0])


def remove(con: SqlConnection, database: str, tabid: int) -> None:
    """Delete a row by its tabid."""
    con.execute(f"DELETE FROM {_tables(database)} WHERE tabid = ?", [tabid])


def constraints(con: SqlConnection, database: str, names: Sequence[str]) -> dict[str, str]:
    """Return the kinds (values of constrtype) of those of the named constraints that exist."""
    rows = con.execute(
        f"SELECT constrname, constrtype FROM {duck_database(database)}._ifx.constraints "
        "WHERE list_contains(?, constrname)",
        [list(names)],
    ).fetchall()
    return {str(name): str(kind) for name, kind in rows}
