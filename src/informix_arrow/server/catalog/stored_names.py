"""Rows of systables by their names: what tables, views, synonyms and sequences there are."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..types.quoting import quote_string
from .catalog import FIRST_USER_TABID, SYNONYMS, SqlConnection, duck_database, first_row


def _tables(database: str) -> str:
    return f"{duck_database(database)}._ifx.tables"


def has_name(con: SqlConnection, database: str, name: str) -> bool:
    """Whether anything has this name, also a synonym for what has gone."""
    return first_row(con, f"SELECT tabname FROM {_tables(database)} WHERE tabname = ?", [name]) is not None


def all_names(con: SqlConnection, database: str) -> frozenset[str]:
    """All names."""
    return frozenset(name for (name,) in con.execute(f"SELECT tabname FROM {_tables(database)}").fetchall())


def user_object_names(con: SqlConnection, database: str, kind: str, *, but: int = 0) -> list[str]:
    """Names of what users have made of a kind, which is a value of tabtype, the older ones first; `but` is the tabid of
    one that is left out."""
    rows = con.execute(
        f"SELECT tabname FROM {_tables(database)} WHERE tabtype = ? AND tabid >= {FIRST_USER_TABID} "
        "AND tabid <> ? ORDER BY tabid",
        [kind, but],
    ).fetchall()
    return [str(name) for (name,) in rows]


def table_numbers(con: SqlConnection, database: str) -> set[int]:
    """Numbers of all tables."""
    rows = con.execute(f"SELECT tabid FROM {_tables(database)} WHERE tabtype = 'T'").fetchall()
    return {tabid for (tabid,) in rows}


def owner_of(con: SqlConnection, database: str, name: str) -> str | None:
    """Who owns what has this name; None when nothing has."""
    row = first_row(con, f"SELECT owner FROM {_tables(database)} WHERE tabname = ?", [name])
    return None if row is None else str(row[0])


def name_of(con: SqlConnection, database: str, tabid: int) -> str | None:
    """What the table of this number is called; None when there is none."""
    row = first_row(con, f"SELECT tabname FROM {_tables(database)} WHERE tabid = ?", [tabid])
    return None if row is None else str(row[0])


def table_of_index(con: SqlConnection, database: str, index: str) -> str | None:
    """The user's table that has an index of this name; None when none has."""
    row = first_row(
        con,
        f"SELECT t.tabname FROM {duck_database(database)}._ifx.indexes i JOIN {_tables(database)} t ON t.tabid = i.tabid "
        f"WHERE i.idxname = ? AND t.tabid >= {FIRST_USER_TABID}",
        [index],
    )
    return None if row is None else str(row[0])


def table_of_constraint(con: SqlConnection, database: str, constraint: str) -> str | None:
    """The user's table that has a constraint of this name, but for NOT NULL; None when none has."""
    row = first_row(
        con,
        f"SELECT t.tabname FROM {duck_database(database)}._ifx.constraints c JOIN {_tables(database)} t "
        f"ON t.tabid = c.tabid WHERE c.constrname = ? AND c.constrtype <> 'N' AND t.tabid >= {FIRST_USER_TABID}",
        [constraint],
    )
    return None if row is None else str(row[0])


def synonyms(con: SqlConnection, database: str) -> list[tuple[int, str, str]]:
    """All synonyms: their tabid, and the database and name of what they stand for."""
    rows = con.execute(
        f"SELECT tabid, details FROM {_tables(database)} WHERE tabtype IN ({', '.join(map(quote_string, SYNONYMS))})"
    ).fetchall()
    return [(int(tabid), *json.loads(details)["stands for"]) for tabid, details in rows]


def synonym_names(con: SqlConnection, database: str, name: str) -> list[str]:
    """The synonyms of a database for one of its tables or views."""
    rows = con.execute(
        f"SELECT tabname, details FROM {_tables(database)} WHERE tabtype IN ({', '.join(map(quote_string, SYNONYMS))})"
    ).fetchall()
    return [str(own) for own, details in rows if json.loads(details)["stands for"] == [database, name]]


def redirect_synonyms(con: SqlConnection, database: str, old: str, new: str) -> None:
    """Let the synonyms of a database for one of its tables stand for it under its new name."""
    for tabid, place, name in synonyms(con, database):
        if (place, name) == (database, old):
            details = json.dumps({"stands for": [database, new]})
            con.execute(f"UPDATE {_tables(database)} SET details = ? WHERE tabid = ?", [details, tabid])


def register(
    con: SqlConnection, database: str, name: str, tabid: int, kind: str, owner: str, details: str
) -> None:
    """Write a row that is no table's: a synonym's or a sequence's."""
    con.execute(
        f"INSERT INTO {_tables(database)} VALUES (?, ?, ?, ?, current_date, NULL, '', NULL, 0, ?)",
        [tabid, name, owner, kind, details],
    )


def rename(con: SqlConnection, database: str, name: str, new: str, kind: str) -> None:
    """What is no table is called differently now."""
    con.execute(
        f"UPDATE {_tables(database)} SET tabname = ? WHERE tabname = ? AND tabtype = ?", [new, name, kind]
    )


def number_of(con: SqlConnection, database: str, name: str, kinds: tuple[str, ...]) -> int | None:
    """The tabid of what has this name and one of these kinds."""
    among = ", ".join(map(quote_string, kinds))
    row = first_row(
        con, f"SELECT tabid FROM {_tables(database)} WHERE tabname = ? AND tabtype IN ({among})", [name]
    )
    return None if row is None else int(row[0])


def remove(con: SqlConnection, database: str, tabid: int) -> None:
    """Take a row out."""
    con.execute(f"DELETE FROM {_tables(database)} WHERE tabid = ?", [tabid])


def constraints(con: SqlConnection, database: str, names: Sequence[str]) -> dict[str, str]:
    """The kinds of constraints, values of constrtype, by those of the names that are there."""
    rows = con.execute(
        f"SELECT constrname, constrtype FROM {duck_database(database)}._ifx.constraints WHERE list_contains(?, constrname)",
        [list(names)],
    ).fetchall()
    return {str(name): str(kind) for name, kind in rows}
