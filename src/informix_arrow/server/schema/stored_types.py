"""Named ROW types, DISTINCT types and types without a name in the catalogue: written, found and removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..types.nested_types import DeclaredType
from .catalog import Writer, attached, first_row


def number_of(con: Writer, database: str, t: DeclaredType) -> int | None:
    """The number of a type without a name that is there already."""
    row = first_row(
        con,
        f"SELECT extended_id FROM {attached(database)}._ifx.xtdtypes "
        "WHERE definition = ? AND mode IN ('C', ' ') AND type = ?",
        [t.extended_name, t.code],
    )
    return int(row[0]) if row else None


def store(
    con: Writer,
    database: str,
    t: DeclaredType,
    mode: str,
    name: str | None,
    definition: str,
    attributes: Iterable[Sequence[object]],
) -> None:
    """Write a new type; `attributes` are the rows of sysattrtypes without its number."""
    db = attached(database)
    con.execute(
        f"INSERT INTO {db}._ifx.xtdtypes VALUES (?, ?, 'informix', ?, ?, ?, ?, ?)",
        [t.extended_id, mode, name, t.code, t.source_type, t.encoded_length, definition],
    )
    for attribute in attributes:
        con.execute(
            f"INSERT INTO {db}._ifx.attrtypes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [t.extended_id, *attribute]
        )


def is_used(con: Writer, database: str, number: int) -> bool:
    """Whether a table has a column of a type."""
    query = f"SELECT 1 FROM {attached(database)}._ifx.columns WHERE extended_id = ? LIMIT 1"
    return first_row(con, query, [number]) is not None


def forget(con: Writer, database: str, number: int) -> None:
    """A type that is dropped."""
    for name in ("xtdtypes", "attrtypes"):
        con.execute(f"DELETE FROM {attached(database)}._ifx.{name} WHERE extended_id = ?", [number])
