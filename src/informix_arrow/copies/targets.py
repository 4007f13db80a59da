"""Which target a text names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from ..wire.errors import InterfaceError
from .database import Database
from .files import FileTarget
from .parquet import ParquetFolder
from .state import Target

TARGETS = (
    "DIR/ for a folder of Parquet files, delta:DIR, iceberg:DIR/, FILE.duckdb, postgresql://user@host/database or "
    "informix://user@host:9088/database?server=.."
)
_INFORMIX = ("informix", "informixs", "jdbc:informix", "jdbc:gbasedbt")


def open_target(text: str) -> Target:
    """The target; ``InterfaceError`` for what is none, or lacks its package. A password is in no error."""
    kind = text.partition("://")[0].lower() if "://" in text else ""
    if text.endswith((".duckdb", ".ddb")) and not kind:
        return Database(_of("duck", "DuckFile", "a DuckDB file", "duckdb")(text))
    if kind in ("postgresql", "postgres"):
        made = _of("postgres", "Postgres", "PostgreSQL", "informix-arrow[postgresql]")
        return Database(made(text))
    if kind.partition("+")[0].startswith(_INFORMIX):
        return Database(_of("informix", "Informix", "Informix", "informix-arrow")(text))
    scheme, _, rest = text.partition(":")
    if scheme == "delta" and rest and not kind:
        return FileTarget(_of("delta", "DeltaFolder", "Delta", "informix-arrow[delta]")(rest))
    if scheme == "iceberg" and rest and not kind:
        return FileTarget(_of("iceberg", "IcebergCatalogue", "Iceberg", "informix-arrow[iceberg]")(rest))
    if not kind and (text.endswith(("/", "\\")) or Path(text).is_dir()):
        return FileTarget(ParquetFolder(text))
    shown = f"{kind}://.." if kind else text
    raise InterfaceError(f"{shown!r} is no target: write {TARGETS}")


def _of(module: str, name: str, what: str, package: str) -> Callable[[str], Any]:
    """What the module of a target offers, whose package need not be there."""
    try:
        found: Callable[[str], Any] = getattr(import_module(f".{module}", __package__), name)
    except ImportError as error:
        raise InterfaceError(f"{what} needs another package: pip install '{package}'") from error
    return found
