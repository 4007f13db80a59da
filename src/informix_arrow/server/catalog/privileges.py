"""Privileges in a database: read and write the hidden tables behind sysusers, systabauth, syscolauth, sysprocauth and
sysroleauth.

Privileges are letters as the catalogue shows them. A capital letter includes the grant option.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from . import capture_tables, empty_tables
from .catalog import SqlConnection, duck_database

PUBLIC = "public"
DBA, RESOURCE, CONNECT, ROLE = "D", "R", "C", "G"
"""Values of sysusers.usertype."""
LEVELS = ("", CONNECT, RESOURCE, DBA)
TABLE_LETTERS = "su*idxarn"
"""Letters of systabauth.tabauth. The star means that there are privileges on single columns."""
COLUMN_LETTERS = "sur"
NEW_TABLE_LETTERS = "suidx"
"""Privileges of PUBLIC on a new table of a database that is not ANSI."""


def table_word(letters: Collection[str], columns: bool = False) -> str:
    """Return the value of systabauth.tabauth for a set of letters. The capital letter takes precedence over the small
    one."""
    return "".join(
        _encode_letter(letter, letters) if letter != "*" else "-*"[columns] for letter in TABLE_LETTERS
    )


def _column_word(letters: Collection[str]) -> str:
    return "".join(_encode_letter(letter, letters) for letter in COLUMN_LETTERS)


def _encode_letter(letter: str, letters: Collection[str]) -> str:
    return letter.upper() if letter.upper() in letters else letter if letter in letters else "-"


def _letters(word: str) -> set[str]:
    return {letter for letter in word if letter.isalpha()}


@dataclass(frozen=True, slots=True)
class GrantedPrivileges:
    """The privileges that several names have together in one database.

    `tables` maps a table's number to letters, `columns` a table's number and a column to letters. `routines` maps a
    routine's number to whether the privilege includes the grant option.
    """

    level: str
    tables: Mapping[int, frozenset[str]]
    columns: Mapping[tuple[int, str], frozenset[str]]
    routines: Mapping[int, bool]


def grantee_names(con: SqlConnection, database: str, user: str, role: str) -> frozenset[str]:
    """Return the user, PUBLIC, and the role with all roles granted to it."""
    names = {user, PUBLIC}
    if role:
        granted: dict[str, set[str]] = {}
        for name, grantee in _rows(con, f"SELECT rolename, grantee FROM {_hidden_schema(database)}.roleauth"):
            granted.setdefault(grantee, set()).add(name)
        waiting = {role}
        while waiting:
            names |= waiting
            waiting = {name for one in waiting for name in granted.get(one, ())} - names
    return frozenset(names)


def load_privileges(con: SqlConnection, database: str, names: Collection[str]) -> GrantedPrivileges:
    """Return the privileges that the names have together."""
    db, parameters = _hidden_schema(database), [list(names)]
    levels = _rows(con, f"SELECT usertype FROM {db}.users WHERE list_contains(?, username)", parameters)
    tables: dict[int, frozenset[str]] = {}
    for tabid, word in _rows(
        con, f"SELECT tabid, tabauth FROM {db}.tabauth WHERE list_contains(?, grantee)", parameters
    ):
        tables[tabid] = tables.get(tabid, frozenset()) | _letters(word)
    columns: dict[tuple[int, str], frozenset[str]] = {}
    query = f"SELECT tabid, colname, colauth FROM {db}.colauth WHERE list_contains(?, grantee)"
    for tabid, name, word in _rows(con, query, parameters):
        columns[tabid, name] = columns.get((tabid, name), frozenset()) | _letters(word)
    routines: dict[int, bool] = {}
    query = f"SELECT procid, procauth FROM {db}.procauth WHERE list_contains(?, grantee)"
    for procid, word in _rows(con, query, parameters):
        routines[procid] = routines.get(procid, False) or word == "E"
    level = max((kind for (kind,) in levels if kind in LEVELS), key=LEVELS.index, default="")
    return GrantedPrivileges(level, tables, columns, routines)


def _hidden_schema(database: str) -> str:
    return f"{duck_database(database)}._ifx"


def _rows(con: SqlConnection, sql: str, values: Any = None) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = con.execute(sql, values).fetchall()
    return rows


# ---- users and roles ------------------------------------------------------------------------------
def user_type(con: SqlConnection, database: str, name: str) -> str:
    """Return sysusers.usertype of a user or role, "" if there is none."""
    rows = _rows(con, f"SELECT usertype FROM {_hidden_schema(database)}.users WHERE username = ?", [name])
    return str(rows[0][0]) if rows else ""


def default_role(con: SqlConnection, database: str, user: str) -> str:
    """Return the role that a user has after opening the database: the user's own default role, or that of PUBLIC."""
    for name in (user, PUBLIC):
        rows = _rows(con, f"SELECT defrole FROM {_hidden_schema(database)}.users WHERE username = ?", [name])
        if rows and rows[0][0]:
            return str(rows[0][0])
    return ""


def set_default_role(con: SqlConnection, database: str, name: str, role: str) -> None:
    """Set the default role of a user. "" removes it."""
    con.execute(
        f"UPDATE {_hidden_schema(database)}.users SET defrole = ? WHERE username = ?", [role or None, name]
    )


def set_user(con: SqlConnection, database: str, name: str, kind: str) -> None:
    """Set the type of a user or role. "" removes the user or role."""
    if kind and user_type(con, database, name):
        con.execute(
            f"UPDATE {_hidden_schema(database)}.users SET usertype = ? WHERE username = ?", [kind, name]
        )
        return
    con.execute(f"DELETE FROM {_hidden_schema(database)}.users WHERE username = ?", [name])
    if kind:
        con.execute(f"INSERT INTO {_hidden_schema(database)}.users VALUES (?, ?, NULL)", [name, kind])


def roles_of(con: SqlConnection, database: str, grantees: Collection[str]) -> dict[str, bool]:
    """Return the roles of some names, each with whether it includes the grant option."""
    query = f"SELECT rolename, is_grantable FROM {_hidden_schema(database)}.roleauth WHERE list_contains(?, grantee)"
    roles: dict[str, bool] = {}
    for name, grantable in _rows(con, query, [list(grantees)]):
        roles[name] = roles.get(name, False) or grantable == "y"
    return roles


def grant_role(con: SqlConnection, database: str, role: str, grantee: str, *, option: bool) -> None:
    """Grant a role."""
    revoke_role(con, database, role, grantee)
    place = f"{_hidden_schema(database)}.roleauth"
    con.execute(f"INSERT INTO {place} VALUES (?, ?, ?)", [role, grantee, "y" if option else "n"])


def revoke_role(con: SqlConnection, database: str, role: str, grantee: str) -> bool:
    """Revoke a role. Return True if the grantee had it."""
    had = role in roles_of(con, database, [grantee])
    con.execute(
        f"DELETE FROM {_hidden_schema(database)}.roleauth WHERE rolename = ? AND grantee = ?", [role, grantee]
    )
    return had


def forget_role(con: SqlConnection, database: str, role: str) -> None:
    """Remove a role with its privileges and grants."""
    db = _hidden_schema(database)
    for table in ("tabauth", "colauth", "procauth"):
        con.execute(f"DELETE FROM {db}.{table} WHERE grantee = ?", [role])
    con.execute(f"DELETE FROM {db}.roleauth WHERE rolename = ? OR grantee = ?", [role, role])
    con.execute(f"UPDATE {db}.users SET defrole = NULL WHERE defrole = ?", [role])
    set_user(con, database, role, "")


# ---- tables ---------------------------------------------------------------------------------------
def table_grants(
    con: SqlConnection, database: str, tabid: int, grantor: str, grantee: str
) -> tuple[set[str], dict[str, set[str]]]:
    """Return the privileges that a grantee has on a table from one grantor: letters, and letters by column."""
    db, key = _hidden_schema(database), [tabid, grantor, grantee]
    where = "WHERE tabid = ? AND grantor = ? AND grantee = ?"
    letters: set[str] = set()
    for (word,) in _rows(con, f"SELECT tabauth FROM {db}.tabauth {where}", key):
        letters |= _letters(word)
    columns: dict[str, set[str]] = {}
    for name, word in _rows(con, f"SELECT colname, colauth FROM {db}.colauth {where}", key):
        columns.setdefault(name, set()).update(_letters(word))
    return letters, columns


def set_table_grants(
    con: SqlConnection,
    database: str,
    tabid: int,
    grantor: str,
    grantee: str,
    letters: Collection[str],
    columns: Mapping[str, Collection[str]],
) -> None:
    """Replace the privileges that a grantee has on a table from one grantor."""
    db, key = _hidden_schema(database), [grantor, grantee, tabid]
    for table in ("tabauth", "colauth"):
        con.execute(f"DELETE FROM {db}.{table} WHERE grantor = ? AND grantee = ? AND tabid = ?", key)
    column_words = {name: word for name, those in columns.items() if (word := _column_word(those)).strip("-")}
    if letters or column_words:
        con.execute(
            f"INSERT INTO {db}.tabauth VALUES (?, ?, ?, ?)", [*key, table_word(letters, bool(column_words))]
        )
    for name, word in column_words.items():
        con.execute(f"INSERT INTO {db}.colauth VALUES (?, ?, ?, ?, ?)", [*key, name, word])


def grant_to_public(con: SqlConnection, database: str, tabid: int, owner: str) -> None:
    """Grant PUBLIC its default privileges on a new table."""
    word = table_word(NEW_TABLE_LETTERS)
    con.execute(
        f"INSERT INTO {_hidden_schema(database)}.tabauth VALUES (?, ?, ?, ?)", [owner, PUBLIC, tabid, word]
    )


def grantees_on(con: SqlConnection, database: str, tabid: int, grantor: str) -> list[str]:
    """Return the names to which a grantor has granted privileges on a table."""
    db = _hidden_schema(database)
    query = f"SELECT DISTINCT grantee FROM {db}.tabauth WHERE tabid = ? AND grantor = ? ORDER BY 1"
    return [str(name) for (name,) in _rows(con, query, [tabid, grantor])]


def grantors_to(con: SqlConnection, database: str, tabid: int, grantee: str) -> list[str]:
    """Return the names that have granted a grantee privileges on a table."""
    db = _hidden_schema(database)
    query = f"SELECT DISTINCT grantor FROM {db}.tabauth WHERE tabid = ? AND grantee = ? ORDER BY 1"
    return [str(name) for (name,) in _rows(con, query, [tabid, grantee])]


def forget_table(con: SqlConnection, database: str, tabid: int) -> None:
    """Remove all privileges on a dropped table."""
    for table in ("tabauth", "colauth"):
        con.execute(f"DELETE FROM {_hidden_schema(database)}.{table} WHERE tabid = ?", [tabid])


def forget_columns(con: SqlConnection, database: str, tabid: int, remaining: Collection[str]) -> None:
    """Remove the privileges on columns that a table no longer has."""
    sql = f"DELETE FROM {_hidden_schema(database)}.colauth WHERE tabid = ? AND NOT list_contains(?, colname)"
    con.execute(sql, [tabid, list(remaining)])


def rename_column(con: SqlConnection, database: str, tabid: int, old: str, new: str) -> None:
    """Rename a column in the privileges on it."""
    con.execute(
        f"UPDATE {_hidden_schema(database)}.colauth SET colname = ? WHERE tabid = ? AND colname = ?",
        [new, tabid, old],
    )


# ---- routines -------------------------------------------------------------------------------------
def routine_grant(con: SqlConnection, database: str, procid: int, grantor: str, grantee: str) -> str:
    """Return sysprocauth.procauth of a grantee from one grantor, "" if there is none."""
    query = f"SELECT procauth FROM {_hidden_schema(database)}.procauth WHERE procid = ? AND grantor = ? AND grantee = ?"
    rows = _rows(con, query, [procid, grantor, grantee])
    return str(rows[0][0]) if rows else ""


def set_routine_grant(
    con: SqlConnection, database: str, procid: int, grantor: str, grantee: str, word: str
) -> None:
    """Set procauth of a grantee from one grantor. "" removes it."""
    place, key = f"{_hidden_schema(database)}.procauth", [grantor, grantee, procid]
    con.execute(f"DELETE FROM {place} WHERE grantor = ? AND grantee = ? AND procid = ?", key)
    if word:
        con.execute(f"INSERT INTO {place} VALUES (?, ?, ?, ?)", [*key, word])


def forget_routine(con: SqlConnection, database: str, procid: int) -> None:
    """Remove all privileges on a dropped routine."""
    con.execute(f"DELETE FROM {_hidden_schema(database)}.procauth WHERE procid = ?", [procid])


# ---- databases ------------------------------------------------------------------------------------
def create_users(con: SqlConnection, database: str, creator: str) -> None:
    """Write the users of a new database. Its creator is a DBA.

    A database that the server creates itself (`creator` is "") is open to all. PUBLIC can only connect to sysmaster and
    to the database of change data capture.
    """
    db = _hidden_schema(database)
    if creator:
        con.execute(f"INSERT INTO {db}.users VALUES (?, '{DBA}', NULL)", [creator])
        return
    public = CONNECT if database in ("sysmaster", capture_tables.DATABASE, empty_tables.ADMIN) else RESOURCE
    con.execute(f"INSERT INTO {db}.users VALUES ('informix', '{DBA}', NULL), ('{PUBLIC}', '{public}', NULL)")
