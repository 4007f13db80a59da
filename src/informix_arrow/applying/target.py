"""Where transactions are brought to, and which target a text names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol

from ..copies.targets import kind_of, load, shown
from ..wire.errors import InterfaceError, OperationalError
from .net import NetChanges

TARGETS = (
    "FILE.duckdb, postgresql://user@host/database, informix://user@host:9088/database?server=.. or delta:DIR"
)


class Target(Protocol):
    """Tables that are kept equal to others."""

    def token(self, name: str) -> str | None:
        """How far it has come; None at first."""

    def apply(
        self, name: str, before: str | None, token: str, commit: int, changes: Mapping[str, NetChanges]
    ) -> None:
        """Bring the changes of a transaction to the tables, and write down that ``token`` was reached: both or neither.

        ``before`` is how far it has come so far, ``commit`` the LSN of the transaction. ``OperationalError`` when a row
        is not there that is to be changed or removed, or somebody else has applied changes meanwhile.
        """

    def close(self) -> None:
        """Nothing more comes."""


def open_target(target: Any) -> Target:
    """The target; ``InterfaceError`` for what is none, or lacks its package. A password is in no error."""
    if isinstance(target, os.PathLike):
        return _duck(os.fspath(target))
    if not isinstance(target, str):
        duck = load(f"{__package__}.duck", "DuckDB", "duckdb")
        if duck.is_connection(target):
            return duck.of_connection(target)  # type: ignore[no-any-return]
        raise InterfaceError(
            f"changes are applied to {TARGETS}, or a DuckDB connection, not to {type(target).__name__}"
        )
    kind, rest = kind_of(target)
    if kind == "postgresql":
        return _of("postgres", "PostgreSQL", "informix-arrow[postgresql]", rest)
    if kind == "informix":
        return _of("informix", "Informix", "informix-arrow", rest)
    if kind == "delta":
        return _of("delta", "Delta", "informix-arrow[delta]", rest)
    if kind == "duckdb" or (not kind and "://" not in target):
        return _duck(target)
    raise InterfaceError(f"{shown(target)!r} is no target of changes: write {TARGETS}")


def _duck(path: str) -> Target:
    return _of("duck", "DuckDB", "duckdb", path)


def _of(module: str, what: str, package: str, place: str) -> Target:
    return load(f"{__package__}.{module}", what, package).opened(place)  # type: ignore[no-any-return]


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
