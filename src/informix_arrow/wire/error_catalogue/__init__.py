"""SQLCODE and ISAM texts in our own words. Data only; :mod:`~informix_arrow.wire.errors` gives it meaning.

Situations, ISAM codes and tokens follow SERVER-BEHAVIOUR section 1; the SQLSTATEs are those that the vendor maps
the codes to, which most codes have none of (JDBC section 5).

Each table is plain text. A code's first line holds the code, its class (a word of ``errors._CLASSES``) and its
SQLSTATE; the indented lines are the cause, with ``{near}`` for SQ_ERR's token, and the next step.
"""

from __future__ import annotations

from . import cdc, connection, cursors, objects, routines, rows, statements, values
from .isam import ISAM, ISAM_ADVICE

__all__ = ["ERRORS", "ISAM", "ISAM_ADVICE", "TABLES", "Entry"]

Entry = tuple[str, str, str, str]
"""Class, SQLSTATE or "", cause, advice or ""."""

TABLES = tuple(
    (module.__doc__ or "", module.TABLE)
    for module in (statements, cursors, rows, objects, routines, values, connection, cdc)
)
"""Title and text of each table."""


def read(table: str) -> dict[int, Entry]:
    """Parse one table into entries by code. Raises ``ValueError`` for a code that occurs twice."""
    entries: dict[int, Entry] = {}
    code, lines = 0, [""]
    for line in [*table.splitlines(), ""]:
        if line.startswith("    "):
            lines.append(line.strip())
            continue
        if code:
            kind, _, state = lines[0].partition(" ")
            if code in entries:
                raise ValueError(f"{code} is in the catalogue twice")
            entries[code] = (kind, state, lines[1], lines[2] if len(lines) > 2 else "")
        number, _, rest = line.partition(" ")
        code, lines = int(number or 0), [rest]
    return entries


ERRORS: dict[int, Entry] = {code: entry for _, table in TABLES for code, entry in read(table).items()}
