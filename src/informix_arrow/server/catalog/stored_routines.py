"""Store, find and remove routines in the catalogue (routine_tables.py)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from ...wire.types import ColumnType
from . import privileges
from .catalog import SqlConnection, declared_text, duck_database, first_row, insert_rows

_INPUT, _INOUT, _MANY_RETURNED, _OUT, _RETURNED = 1, 2, 3, 4, 5
_MODES = {"": _INPUT, "INOUT": _INOUT, "OUT": _OUT}

_PIECES_PER_INSERT = 100


@dataclass(frozen=True, slots=True)
class StoredRoutine:
    """A routine as stored in the catalogue.

    `parameters` are names, types and modes ("", OUT or INOUT), `returns` names and types. `delimident` is the setting
    for parsing `text`.
    """

    procid: int
    name: str
    owner: str
    specific: str
    is_procedure: bool
    dba: bool
    variant: bool
    handles_nulls: bool
    parameters: tuple[tuple[str, ColumnType, str], ...]
    returns: tuple[tuple[str, ColumnType], ...]
    delimident: bool
    created: dt.datetime
    text: str
    document: str


def store(
    con: SqlConnection, database: str, routine: StoredRoutine, pieces: Iterable[tuple[str, int, str]]
) -> None:
    """Write a new routine. `pieces` are the rows of sysprocbody: key, number from 1, and a part of the text."""
    db, procid = duck_database(database), routine.procid
    types = [t for _, t, _ in routine.parameters]
    con.execute(
        f"INSERT INTO {db}._ifx.procedures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            procid, routine.name, routine.owner, routine.specific, routine.is_procedure, routine.dba, routine.variant,
            routine.handles_nulls, len(types), ",".join(declared_text(t).lower() for t in types), routine.delimident,
            routine.created, routine.text, routine.document or None,
        ],
    )  # fmt: skip
    returned = _MANY_RETURNED if len(routine.returns) > 1 else _RETURNED
    # JDBC expects return values first, then the parameters
    columns = [("" if name == "(expression)" else name, t, returned) for name, t in routine.returns]
    columns += [(name, t, _MODES[mode]) for name, t, mode in routine.parameters]
    insert_rows(
        con,
        f"{db}._ifx.proccolumns",
        [
            (procid, number, name, declared_text(t), t.word, t.encoded_length, t.extended_id, attribute)
            for number, (name, t, attribute) in enumerate(columns, 1)
        ],
    )
    rows = [(procid, *piece) for piece in pieces]
    for start in range(0, len(rows), _PIECES_PER_INSERT):
        insert_rows(con, f"{db}._ifx.procbody", rows[start : start + _PIECES_PER_INSERT])


def texts(con: SqlConnection, database: str, name: str) -> list[tuple[int, str, bool, str]]:
    """Return the routines of a name in the order of creation: number, text, delimident, owner."""
    procedures = f"{duck_database(database)}._ifx.procedures"
    query = f"SELECT procid, body, delimident, owner FROM {procedures} WHERE procname = ? ORDER BY procid"
    rows = con.execute(query, [name]).fetchall()
    return [
        (int(procid), str(body), bool(delimident), str(owner)) for procid, body, delimident, owner in rows
    ]


def name(con: SqlConnection, database: str, procid: int) -> str | None:
    """Return the name of a routine by its number, None if there is none."""
    row = first_row(
        con, f"SELECT procname FROM {duck_database(database)}._ifx.procedures WHERE procid = ?", [procid]
    )
    return str(row[0]) if row else None


def of_specific(
    con: SqlConnection, database: str, name: str, owner: str | None = None
) -> tuple[int, str] | None:
    """Return number and owner of a routine by its specific name (and owner, if given), None if there is none."""
    row = first_row(
        con,
        f"SELECT procid, owner FROM {duck_database(database)}._ifx.procedures "
        "WHERE specific = ? AND owner = coalesce(?, owner)",
        [name, owner],
    )
    return (int(row[0]), str(row[1])) if row else None


def owner(con: SqlConnection, database: str, procid: int) -> str | None:
    """Return the owner of a routine, None if there is none."""
    row = first_row(
        con, f"SELECT owner FROM {duck_database(database)}._ifx.procedures WHERE procid = ?", [procid]
    )
    return str(row[0]) if row else None


def forget(con: SqlConnection, database: str, procid: int) -> None:
    """Remove a dropped routine and the privileges on it."""
    for table in ("procedures", "proccolumns", "procbody"):
        con.execute(f"DELETE FROM {duck_database(database)}._ifx.{table} WHERE procid = ?", [procid])
    privileges.forget_routine(con, database, procid)
