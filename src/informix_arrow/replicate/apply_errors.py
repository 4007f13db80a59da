"""Errors that several targets of changes raise."""

from __future__ import annotations

from ..wire.errors import OperationalError


def missing(table: str, rows: int, lacking: int) -> OperationalError:
    """Of so many rows that were changed or removed some are not in the copy."""
    return OperationalError(
        f"{table} is not what the changes were made to: of {rows:,} rows that were changed or removed {lacking:,} "
        "are not there as they were; make the copy anew"
    )


def overtaken(where: str, name: str) -> OperationalError:
    """Two programs apply changes to one target."""
    return OperationalError(
        f"{where}: another program has applied changes ({name!r}) meanwhile: one at a time may; start the capture "
        "anew with the target's token"
    )
