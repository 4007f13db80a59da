"""Find the target that a text names."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ..wire.errors import InterfaceError
from .database_target import DatabaseTarget
from .parquet_folder import ParquetFolder
from .parquet_tables import FileTarget
from .state import CopyTarget

TARGETS = (
    "DIR/ for a folder of Parquet files, delta:DIR, iceberg:DIR/, FILE.duckdb, postgresql://user@host/database or "
    "informix://user@host:9088/database?server=.."
)
#: For each kind of target: module and class of the adapter, its name in errors, and the package that it needs.
_ADAPTERS = {
    "duckdb": ("duck", "DuckFile", "a DuckDB file", "duckdb"),
    "postgresql": ("postgres", "Postgres", "PostgreSQL", "informix-arrow[postgresql]"),
    "informix": ("informix", "Informix", "Informix", "informix-arrow"),
    "delta": ("delta", "DeltaFolder", "Delta", "informix-arrow[delta]"),
    "iceberg": ("iceberg", "IcebergCatalogue", "Iceberg", "informix-arrow[iceberg]"),
}
_INFORMIX = ("informix", "informixs", "jdbc:informix", "jdbc:gbasedbt")


def kind_of(text: str) -> tuple[str, str]:
    """Return the kind of target that a text names, and the argument for its adapter.

    The kind is ``duckdb``, ``postgresql``, ``informix``, ``delta``, ``iceberg``, ``folder``, or "" for an invalid text.
    """
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    if text.endswith((".duckdb", ".ddb")) and not scheme:
        return "duckdb", text
    if scheme in ("postgresql", "postgres"):
        return "postgresql", text
    if scheme.partition("+")[0].startswith(_INFORMIX):
        return "informix", text
    prefix, _, rest = text.partition(":")
    if prefix in ("delta", "iceberg") and rest and not scheme:
        return prefix, rest
    if not scheme and (text.endswith(("/", "\\")) or (text and Path(text).is_dir())):
        return "folder", text
    return "", text


def open_target(text: str, partition_by: Sequence[str] = ()) -> CopyTarget:
    """Open a target. Only a folder can have ``partition_by``, the columns whose values its subfolders are named after.

    Raises ``InterfaceError`` for an invalid text, or a missing package. No error shows a password.
    """
    kind, argument = kind_of(text)
    if partition_by and kind not in ("folder", ""):
        raise InterfaceError(
            "partition_by= works with directories of Parquet files only. Write the target as DIR/"
        )
    if kind == "folder":
        return FileTarget(ParquetFolder(argument, partition_by))
    if kind in ("delta", "iceberg"):
        return FileTarget(adapter(kind)(argument))
    if kind:
        return DatabaseTarget(adapter(kind)(argument))
    raise InterfaceError(f"{display_target(text)!r} is not a target. Write {TARGETS}.")


def display_target(text: str) -> str:
    """Return a target as errors show it. What follows a scheme is hidden, because it may hold a password."""
    scheme, has_scheme, _ = text.partition("://")
    return f"{scheme.lower()}://.." if has_scheme else text


def load(module: str, description: str, package: str) -> Any:
    """Import the module of a target, whose package may be missing."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InterfaceError(f"{description} needs another package. Run pip install '{package}'") from error


def adapter(kind: str) -> Any:
    """Return the class that writes to a kind of target. Its argument is the second value of `kind_of`."""
    module, name, description, package = _ADAPTERS[kind]
    return getattr(load(f"{__package__}.{module}", description, package), name)
