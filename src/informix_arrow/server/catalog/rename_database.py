"""Update the places where a database mentions its own name: the texts of its views, and synonyms for its own tables."""

from __future__ import annotations

import json

from ..parse.database_references import rename_database
from .catalog import SYNONYMS, SqlConnection, duck_database


def update_database_name(con: SqlConnection, database: str, before: str) -> None:
    """Replace the old name `before` of a database by its current one. Repeating it does no harm."""
    tables = f"{duck_database(database)}._ifx.tables"
    for tabid, view in con.execute(f"SELECT tabid, viewtext FROM {tables} WHERE tabtype = 'V'").fetchall():
        renamed = rename_database(view, before, database)
        if renamed != view:
            con.execute(f"UPDATE {tables} SET viewtext = ? WHERE tabid = ?", [renamed, tabid])
    query = f"SELECT tabid, details FROM {tables} WHERE list_contains(?, tabtype)"
    for tabid, text in con.execute(query, [list(SYNONYMS)]).fetchall():
        details = json.loads(text)
        target_database, name = details["stands for"]
        if target_database == before:
            details["stands for"] = [database, name]
            con.execute(f"UPDATE {tables} SET details = ? WHERE tabid = ?", [json.dumps(details), tabid])
