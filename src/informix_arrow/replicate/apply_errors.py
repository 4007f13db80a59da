"""Errors that several change targets raise."""

from __future__ import annotations

from ..wire.errors import OperationalError


def missing(table: str, rows: int, lacking: int) -> OperationalError:
    """Return the error for rows to be changed or removed that are not in the copy."""
    return OperationalError(
        f"{table} is not what the changes were made to. Of {rows:,} changed or deleted rows, {lacking:,} "
        "are missing from the target or differ there. Create the copy anew."
    )


def overtaken(where: str, name: str) -> OperationalError:
    """Return the error for two programs that apply changes to one target."""
    return OperationalError(
        f"{where}: Another program has applied changes ({name!r}) in the meantime. Only one program may do "
        "so at a time. Start the capture again with the token of the target."
    )
