"""Where transactions are brought to, and which target a text names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol

from ..wire.errors import InterfaceError
from .database_changes import Database
from .net_changes import NetChanges
from .target_names import adapter, kind_of, load, shown

TARGETS = (
    "FILE.duckdb, postgresql://user@host/database, informix://user@host:9088/database?server=.. or delta:DIR"
)
_DUCK = "informix_arrow.replicate.duck"


class ChangeTarget(Protocol):
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


def open_target(target: Any) -> ChangeTarget:
    """The target; ``InterfaceError`` for what is none, or lacks its package. A password is in no error."""
    if isinstance(target, os.PathLike):
        return _duck(os.fspath(target))
    if not isinstance(target, str):
        duck = load(_DUCK, "DuckDB", "duckdb")
        if duck.is_connection(target):
            return Database(duck.Duck(target, "the DuckDB target", own=False))
        raise InterfaceError(
            f"changes are applied to {TARGETS}, or a DuckDB connection, not to {type(target).__name__}"
        )
    kind, rest = kind_of(target)
    if kind in ("postgresql", "informix"):
        return Database(adapter(kind)(rest))
    if kind == "delta":
        adapter(kind)  # whether its package is there
        return load(f"{__package__}.delta", "Delta", "informix-arrow[delta]").Delta(rest)  # type: ignore[no-any-return]
    if kind == "duckdb" or (not kind and "://" not in target):
        return _duck(target)
    raise InterfaceError(f"{shown(target)!r} is no target of changes: write {TARGETS}")


def _duck(path: str) -> ChangeTarget:
    duck = load(_DUCK, "DuckDB", "duckdb")
    return Database(duck.Duck(duck.connected(path), path, own=True))
