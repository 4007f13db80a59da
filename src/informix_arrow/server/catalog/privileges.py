"""Who may do what in a database: rows of the hidden tables behind sysusers, systabauth, syscolauth, sysprocauth and
sysroleauth, read and written.

Privileges are letters, as the catalogue shows them: a capital one may be granted on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from . import capture_tables
from .catalog import SqlConnection, duck_database

PUBLIC = "public"
DBA, RESOURCE, CONNECT, ROLE = "D", "R", "C", "G"
"""Values of sysusers.usertype."""
LEVELS = ("", CONNECT, RESOURCE, DBA)
TABLE_LETTERS = "su*idxarn"
"""systabauth.tabauth; the star tells that there are privileges on single columns."""
COLUMN_LETTERS = "sur"
OF_NEW_TABLES = "suidx"
"""What PUBLIC gets on a new table of a database that is not ANSI."""


def table_word(letters: Collection[str], columns: bool = False) -> str:
    """systabauth.tabauth of some letters; the capital one goes before the small one."""
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
    """What some names have in one database together: letters by the number of a table, and by that and a column;
    routines by their numbers, with whether the privilege may be granted on."""

    level: str
    tables: Mapping[int, frozenset[str]]
    columns: Mapping[tuple[int, str], frozenset[str]]
    routines: Mapping[int, bool]


def grantee_names(con: SqlConnection, database: str, user: str, role: str) -> frozenset[str]:
    """The user, PUBLIC, and the role with all roles that it has."""
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
    """What the names have together."""
    db, given = _hidden_schema(database), [list(names)]
    levels = _rows(con, f"SELECT usertype FROM {db}.users WHERE list_contains(?, username)", given)
    tables: dict[int, frozenset[str]] = {}
    for tabid, word in _rows(
        con, f"SELECT tabid, tabauth FROM {db}.tabauth WHERE list_contains(?, grantee)", given
    ):
        tables[tabid] = tables.get(tabid, frozenset()) | _letters(word)
    columns: dict[tuple[int, str], frozenset[str]] = {}
    query = f"SELECT tabid, colname, colauth FROM {db}.colauth WHERE list_contains(?, grantee)"
    for tabid, name, word in _rows(con, query, given):
        columns[tabid, name] = columns.get((tabid, name), frozenset()) | _letters(word)
    routines: dict[int, bool] = {}
    query = f"SELECT procid, procauth FROM {db}.procauth WHERE list_contains(?, grantee)"
    for procid, word in _rows(con, query, given):
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
    """sysusers.usertype of a user or role, "" for none."""
    rows = _rows(con, f"SELECT usertype FROM {_hidden_schema(database)}.users WHERE username = ?", [name])
    return str(rows[0][0]) if rows else ""


def default_role(con: SqlConnection, database: str, user: str) -> str:
    """The role that a user has when he opens the database: his own default, or that of PUBLIC."""
    for name in (user, PUBLIC):
        rows = _rows(con, f"SELECT defrole FROM {_hidden_schema(database)}.users WHERE username = ?", [name])
        if rows and rows[0][0]:
            return str(rows[0][0])
    return ""


def set_default_role(con: SqlConnection, database: str, name: str, role: str) -> None:
    """Another default role, "" for none."""
    con.execute(
        f"UPDATE {_hidden_schema(database)}.users SET defrole = ? WHERE username = ?", [role or None, name]
    )


def set_user(con: SqlConnection, database: str, name: str, kind: str) -> None:
    """Another kind of user or role, "" for none."""
    if kind and user_type(con, database, name):
        con.execute(
            f"UPDATE {_hidden_schema(database)}.users SET usertype = ? WHERE username = ?", [kind, name]
        )
        return
    con.execute(f"DELETE FROM {_hidden_schema(database)}.users WHERE username = ?", [name])
    if kind:
        con.execute(f"INSERT INTO {_hidden_schema(database)}.users VALUES (?, ?, NULL)", [name, kind])


def roles_of(con: SqlConnection, database: str, grantees: Collection[str]) -> dict[str, bool]:
    """The roles that some names have, with whether they may be granted on."""
    query = f"SELECT rolename, is_grantable FROM {_hidden_schema(database)}.roleauth WHERE list_contains(?, grantee)"
    roles: dict[str, bool] = {}
    for name, grantable in _rows(con, query, [list(grantees)]):
        roles[name] = roles.get(name, False) or grantable == "y"
    return roles


def grant_role(con: SqlConnection, database: str, role: str, grantee: str, *, option: bool) -> None:
    """Let somebody have a role."""
    revoke_role(con, database, role, grantee)
    place = f"{_hidden_schema(database)}.roleauth"
    con.execute(f"INSERT INTO {place} VALUES (?, ?, ?)", [role, grantee, "y" if option else "n"])


def revoke_role(con: SqlConnection, database: str, role: str, grantee: str) -> bool:
    """Take a role away; whether he had it."""
    had = role in roles_of(con, database, [grantee])
    con.execute(
        f"DELETE FROM {_hidden_schema(database)}.roleauth WHERE rolename = ? AND grantee = ?", [role, grantee]
    )
    return had


def forget_role(con: SqlConnection, database: str, role: str) -> None:
    """A role and everything that it has and is had by."""
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
    """What somebody has on a table from one grantor: letters, and letters by column."""
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
    """Another set of privileges of somebody on a table from one grantor."""
    db, key = _hidden_schema(database), [grantor, grantee, tabid]
    for table in ("tabauth", "colauth"):
        con.execute(f"DELETE FROM {db}.{table} WHERE grantor = ? AND grantee = ? AND tabid = ?", key)
    kept = {name: word for name, those in columns.items() if (word := _column_word(those)).strip("-")}
    if letters or kept:
        con.execute(f"INSERT INTO {db}.tabauth VALUES (?, ?, ?, ?)", [*key, table_word(letters, bool(kept))])
    for name, word in kept.items():
        con.execute(f"INSERT INTO {db}.colauth VALUES (?, ?, ?, ?, ?)", [*key, name, word])


def grant_to_public(con: SqlConnection, database: str, tabid: int, owner: str) -> None:
    """What PUBLIC gets on a new table."""
    word = table_word(OF_NEW_TABLES)
    con.execute(
        f"INSERT INTO {_hidden_schema(database)}.tabauth VALUES (?, ?, ?, ?)", [owner, PUBLIC, tabid, word]
    )


def grantees_on(con: SqlConnection, database: str, tabid: int, grantor: str) -> list[str]:
    """To whom somebody has granted anything on a table."""
    query = f"SELECT DISTINCT grantee FROM {_hidden_schema(database)}.tabauth WHERE tabid = ? AND grantor = ? ORDER BY 1"
    return [str(name) for (name,) in _rows(con, query, [tabid, grantor])]


def grantors_to(con: SqlConnection, database: str, tabid: int, grantee: str) -> list[str]:
    """Who has granted somebody anything on a table."""
    query = f"SELECT DISTINCT grantor FROM {_hidden_schema(database)}.tabauth WHERE tabid = ? AND grantee = ? ORDER BY 1"
    return [str(name) for (name,) in _rows(con, query, [tabid, grantee])]


def forget_table(con: SqlConnection, database: str, tabid: int) -> None:
    """All privileges on a table that is dropped."""
    for table in ("tabauth", "colauth"):
        con.execute(f"DELETE FROM {_hidden_schema(database)}.{table} WHERE tabid = ?", [tabid])


def forget_columns(con: SqlConnection, database: str, tabid: int, kept: Collection[str]) -> None:
    """The privileges on columns that a table no longer has."""
    sql = f"DELETE FROM {_hidden_schema(database)}.colauth WHERE tabid = ? AND NOT list_contains(?, colname)"
    con.execute(sql, [tabid, list(kept)])


def rename_column(con: SqlConnection, database: str, tabid: int, old: str, new: str) -> None:
    """The privileges on a column go with its name."""
    con.execute(
        f"UPDATE {_hidden_schema(database)}.colauth SET colname = ? WHERE tabid = ? AND colname = ?",
        [new, tabid, old],
    )


# ---- routines -------------------------------------------------------------------------------------
def routine_grant(con: SqlConnection, database: str, procid: int, grantor: str, grantee: str) -> str:
    """sysprocauth.procauth of somebody from one grantor, "" for none."""
    query = f"SELECT procauth FROM {_hidden_schema(database)}.procauth WHERE procid = ? AND grantor = ? AND grantee = ?"
    rows = _rows(con, query, [procid, grantor, grantee])
    return str(rows[0][0]) if rows else ""


def set_routine_grant(
    con: SqlConnection, database: str, procid: int, grantor: str, grantee: str, word: str
) -> None:
    """Another procauth of somebody from one grantor, "" for none."""
    place, key = f"{_hidden_schema(database)}.procauth", [grantor, grantee, procid]
    con.execute(f"DELETE FROM {place} WHERE grantor = ? AND grantee = ? AND procid = ?", key)
    if word:
        con.execute(f"INSERT INTO {place} VALUES (?, ?, ?, ?)", [*key, word])


def forget_routine(con: SqlConnection, database: str, procid: int) -> None:
    """All privileges on a routine that is dropped."""
    con.execute(f"DELETE FROM {_hidden_schema(database)}.procauth WHERE procid = ?", [procid])


# ---- databases ------------------------------------------------------------------------------------
def create_users(con: SqlConnection, database: str, creator: str) -> None:
    """The users of a new database: its creator, a DBA; one that the server makes by itself (`creator` is "") is
    open to all, sysmaster to look at."""
    db = _hidden_schema(database)
    if creator:
        con.execute(f"INSERT INTO {db}.users VALUES (?, '{DBA}', NULL)", [creator])
        return
    public = CONNECT if database in ("sysmaster", capture_tables.DATABASE) else RESOURCE
    con.execute(f"INSERT INTO {db}.users VALUES ('informix', '{DBA}', NULL), ('{PUBLIC}', '{public}', NULL)")


def create_users_and_privileges(con: SqlConnection, database: str) -> None:
    """The users and privileges of a database that knew none of either: everybody could do everything."""
    create_users(con, database, "")
    db = _hidden_schema(database)
    con.execute(
        f"INSERT INTO {db}.tabauth SELECT owner, '{PUBLIC}', tabid, '{table_word(OF_NEW_TABLES)}' "
        f"FROM {db}.tables WHERE tabid >= 100 AND tabtype IN ('T', 'V'); "
        f"INSERT INTO {db}.procauth SELECT owner, '{PUBLIC}', procid, 'e' FROM {db}.procedures WHERE NOT dba"
    )
