"""Store, find and remove types in the catalogue: named ROW types, DISTINCT types and unnamed types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..types.nested_types import UserDefinedType
from .catalog import SqlConnection, duck_database, first_row


def number_of(con: SqlConnection, database: str, t: UserDefinedType) -> int | None:
    """Return the number of an unnamed type that is already stored, else None."""
    row = first_row(
        con,
        f"SELECT extended_id FROM {duck_database(database)}._ifx.xtdtypes "
        "WHERE definition = ? AND mode IN ('C', ' ') AND type = ?",
        [t.extended_name, t.code],
    )
    return int(row[0]) if row else None


def store(
    con: SqlConnection,
    database: str,
    t: UserDefinedType,
    mode: str,
    name: str | None,
    definition: str,
    attributes: Iterable[Sequence[object]],
) -> None:
    """Write a new type. `attributes` are the rows of sysattrtypes without the type's number."""
    db = duck_database(database)
    con.execute(
        f"INSERT INTO {db}._ifx.xtdtypes VALUES (?, ?, 'informix', ?, ?, ?, ?, ?)",
        [t.extended_id, mode, name, t.code, t.source_type, t.encoded_length, definition],
    )
    for attribute in attributes:
        con.execute(
            f"INSERT INTO {db}._ifx.attrtypes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [t.extended_id, *attribute]
        )


def is_used(con: SqlConnection, database: str, number: int) -> bool:
    """Return whether a table has a column of this type."""
    query = f"SELECT 1 FROM {duck_database(database)}._ifx.columns WHERE extended_id = ? LIMIT 1"
    return first_row(con, query, [number]) is not None


def forget(con: SqlConnection, database: str, number: int) -> None:
    """Remove a dropped type."""
    for name in ("xtdtypes", "attrtypes"):
        con.execute(f"DELETE FROM {duck_database(database)}._ifx.{name} WHERE extended_id = ?", [number])
