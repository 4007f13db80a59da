"""Errors that several change targets raise."""

from __future__ import annotations

from ..wire.errors import OperationalError


def missing(table: str, rows: int, lacking: int) -> OperationalError:
    """Return the error for rows to be changed or removed that are not in the copy."""
    return OperationalError(
        f"{table} is not what the changes were made to: of {rows:,} rows that were changed or removed {lacking:,} "
        "are not there as they were; make the copy anew"
    )


def overtaken(where: str, name: str) -> OperationalError:
    """Return the error for two programs that apply changes to one target."""
    return OperationalError(
        f"{where}: another program has applied changes ({name!r}) meanwhile: one at a time may; start the capture "
        "anew with the target's token"
    )
