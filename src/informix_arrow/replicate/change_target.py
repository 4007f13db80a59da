"""Targets of changes, and the target that a text names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol

from ..wire.errors import InterfaceError
from .database_changes import DatabaseChangeTarget
from .net_changes import NetChanges
from .target_names import adapter, display_target, kind_of, load

TARGETS = (
    "FILE.duckdb, postgresql://user@host/database, informix://user@host:9088/database?server=.. or delta:DIR"
)
_DUCK = "informix_arrow.replicate.duck"


class ChangeTarget(Protocol):
    """Tables that are kept equal to others."""

    def token(self, name: str) -> str | None:
        """Return the stored token; None before the first change."""

    def apply(
        self, name: str, before: str | None, token: str, commit: int, changes: Mapping[str, NetChanges]
    ) -> None:
        """Apply the changes of a transaction to the tables and store ``token``: both or neither.

        ``before`` is the token that was stored last, ``commit`` the LSN of the transaction. Raises ``OperationalError``
        if a row that is to be changed or removed is not there, or another program has applied changes in the meantime.
        """

    def close(self) -> None:
        """Close the target."""


def open_target(target: Any) -> ChangeTarget:
    """Open a target. Raises ``InterfaceError`` for an invalid one, or a missing package. No error shows a password."""
    if isinstance(target, os.PathLike):
        return _duck(os.fspath(target))
    if not isinstance(target, str):
        duck = load(_DUCK, "DuckDB", "duckdb")
        if duck.is_connection(target):
            return DatabaseChangeTarget(duck.Duck(target, "the DuckDB target", own=False))
        raise InterfaceError(
            f"Changes are applied to {TARGETS}, or a DuckDB connection, not to {type(target).__name__}."
        )
    kind, rest = kind_of(target)
    if kind in ("postgresql", "informix"):
        return DatabaseChangeTarget(adapter(kind)(rest))
    if kind == "delta":
        adapter(kind)  # checks that the package is there
        delta = load(f"{__package__}.delta_changes", "Delta", "informix-arrow[delta]")
        return delta.DeltaChangeTarget(rest)  # type: ignore[no-any-return]
    if kind == "duckdb" or (not kind and "://" not in target):
        return _duck(target)
    raise InterfaceError(f"{display_target(target)!r} is not a target of changes. Write {TARGETS}.")


def _duck(path: str) -> ChangeTarget:
    duck = load(_DUCK, "DuckDB", "duckdb")
    return DatabaseChangeTarget(duck.Duck(duck.connect_file(path), path, own=True))
