"""The DuckDB instance of an engine: its limits, and the restriction to its own files."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import duckdb

from ..types.quoting import quote_string

_UNITS = {"bytes": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5}

_SET_AFTER_OPEN = ("max_vacuum_tasks", "operator_memory_limit")
"""Settings that are changed right before the configuration is locked, and for each connection."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Memory and threads of the sessions' statements, and the directory that they spill to.

    Attributes
    ----------
    memory
        Memory of all sessions together, such as ``"2GB"``, or as a share of the machine's memory, ``"50%"``.
    statement_memory
        Memory that one statement may use for sorting, grouping and joining before it spills to files, such as
        ``"500MB"``; None for half of `memory`.
    temp_directory
        Directory of those files. None for ``tmp`` in the directory of the databases or, if they are in memory, a new
        directory among the machine's temporary ones.
    threads
        Threads that run one statement, at least 1; None for one per core.
    """

    memory: str = "50%"
    statement_memory: str | None = None
    temp_directory: Path | None = None
    threads: int | None = None


class DuckInstance:
    """One DuckDB instance, open until `close`. Thread-safe, except `root`.

    Its SQL reads and writes no files except those of the databases and its temporary ones, loads no extensions, and
    cannot change these settings. An injected name or value therefore reaches nothing else.

    Parameters
    ----------
    directory
        Folder of the databases; None keeps them in memory.
    limits
        Raises ValueError for an invalid one.

    Attributes
    ----------
    root
        The connection that databases are attached with.
    temporary
        Directory for temporary files. It is created when there are any, and `close` removes it if it was created.
    """

    def __init__(self, directory: Path | None, limits: ResourceLimits) -> None:
        self.root = duckdb.connect(":memory:")
        self._temporary_folder: str | None = None
        self._created_directory: str | None = None
        try:
            # A vacuum renumbers rows, and locks and journals refer to the numbers.
            self.root.execute("SET max_vacuum_tasks = 0")
            # SQRT(-1) and LN(0) raise errors and do not return NaN or infinity.
            self.root.execute("SET GLOBAL ieee_floating_point_ops = false")
            # DuckDB 2.0.0 reads wrong rows or crashes where a join by row ids pushes a filter into the scan of its
            # table and the transaction has added rows to the table: server/README.md.
            self.root.execute("SET disabled_optimizers = 'join_filter_pushdown'")
            if limits.threads is not None:
                self._set_threads(limits.threads)
            self._limit("memory_limit", limits.memory)
            self._statement_limit = limits.statement_memory or self._half_of_memory()
            self._limit("statement_memory_limit", self._statement_limit, "operator_memory_limit")
            self.temporary = self._temporary(directory, limits)
            if not os.path.exists(self.temporary):
                self._created_directory = self.temporary
            self._restrict_access(directory, self.temporary)
        except BaseException:
            self.close()
            raise

    def _set_threads(self, threads: int) -> None:
        if threads < 1:
            raise ValueError(f"threads={threads}: It must be at least 1.")
        self.root.execute(f"SET threads = {threads}")

    def _limit(self, name: str, value: str, setting: str = "") -> None:
        try:
            self.root.execute(f"SET {setting or name} = {quote_string(value)}")
        except duckdb.Error as problem:
            reason = str(problem).partition("\n")[0]
            raise ValueError(f"{name} must be an amount such as '2GB', not {value!r}. {reason}") from None

    def _half_of_memory(self) -> str:
        row = self.root.execute("SELECT current_setting('memory_limit')").fetchone()
        assert row is not None
        number, unit = str(row[0]).split()
        return f"{max(1, int(float(number) * 1024 ** _UNITS[unit] / 2 / 1024))}KiB"

    def _temporary(self, directory: Path | None, limits: ResourceLimits) -> str:
        if limits.temp_directory is not None:
            return os.path.abspath(limits.temp_directory)
        if directory is not None:
            return os.path.abspath(directory / "tmp")
        self._temporary_folder = tempfile.mkdtemp(prefix="informix-arrow-")
        return self._temporary_folder

    def _restrict_access(self, directory: Path | None, temporary: str) -> None:
        reachable = [temporary, *([] if directory is None else [os.path.abspath(directory)])]
        settings = {
            "temp_directory": quote_string(temporary),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "allow_persistent_secrets": "false",
            "allowed_directories": f"[{', '.join(map(quote_string, reachable))}]",
            "enable_external_access": "false",
            "allowed_configs": f"[{', '.join(map(quote_string, _SET_AFTER_OPEN))}]",
            "lock_configuration": "true",
        }
        for name, value in settings.items():
            self.root.execute(f"SET {name} = {value}")

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Return a new connection."""
        con = self.root.cursor()
        con.execute(f"SET operator_memory_limit = {quote_string(self._statement_limit)}")
        return con

    def close(self) -> None:
        """Close the instance, after its last statement."""
        try:
            self.root.close()
        finally:
            # DuckDB removes the files that it created, but not those of spill_file.py.
            if self._created_directory is not None:
                with contextlib.suppress(OSError):
                    os.rmdir(self._created_directory)
            if self._temporary_folder is not None:
                shutil.rmtree(self._temporary_folder, ignore_errors=True)
