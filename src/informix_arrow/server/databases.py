"""The databases of one engine: which there are, how they are logged, and where they are kept."""

from __future__ import annotations

import datetime as dt
import threading
from dataclasses import dataclass
from pathlib import Path

import duckdb

from .catalog import attached, text
from .errors import SqlError
from .system_catalog import install


@dataclass(frozen=True, slots=True)
class DatabaseRecord:
    """One database. `warnings` are those of the SQ_DONE that answers SQ_DBOPEN (JDBC section 3)."""

    name: str
    logged: bool
    buffered: bool
    ansi: bool
    locale: str

    @property
    def warnings(self) -> int:
        return 0x04 | (0x01 if self.logged else 0) | (0x02 if self.ansi else 0)


class Databases:
    """Registry over sysmaster's hidden table; changes take effect at once and outside transactions."""

    def __init__(self, con: duckdb.DuckDBPyConnection, directory: Path | None) -> None:
        self._con = con
        self._directory = directory
        self._lock = threading.Lock()
        self._records: dict[str, DatabaseRecord] = {}
        self._attach("sysmaster", "en_US.819")
        rows = con.execute(
            f"SELECT name, is_logging, is_buff_log, is_ansi, locale FROM "
            f"{attached('sysmaster')}._ifx.databases "
            "ORDER BY number"
        ).fetchall()
        for name, logging, buffered, ansi, locale in rows:
            if name != "sysmaster":
                self._attach(name, locale)
            self._records[name] = DatabaseRecord(name, bool(logging), bool(buffered), bool(ansi), locale)
        if "sysmaster" not in self._records:
            self._register(DatabaseRecord("sysmaster", True, False, False, "en_US.819"))
        if "stores_demo" not in self._records and not rows:
            self.create("stores_demo", logged=True, buffered=False, ansi=False, locale="en_US.57372")

    def __contains__(self, name: str) -> bool:
        return name in self._records

    def get(self, name: str) -> DatabaseRecord:
        """A database by name; -329 when there is none."""
        found = self._records.get(name)
        if found is None:
            raise SqlError(-329, -111, 0, name)
        return found

    def names(self) -> list[str]:
        return list(self._records)

    def _path(self, name: str) -> str:
        return ":memory:" if self._directory is None else str(self._directory / f"{name}.duckdb")

    def _attach(self, name: str, locale: str) -> None:
        self._con.execute(f"ATTACH {text(self._path(name))} AS {attached(name)}")
        install(self._con, name, locale)

    def _register(self, record: DatabaseRecord) -> None:
        master = f"{attached('sysmaster')}._ifx.databases"
        self._con.execute(
            f"INSERT INTO {master} SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ?, ?, ? FROM {master}",
            [
                record.name,
                dt.date.today(),
                int(record.logged),
                int(record.buffered),
                int(record.ansi),
                record.locale,
            ],
        )
        self._records[record.name] = record

    def create(self, name: str, *, logged: bool, buffered: bool, ansi: bool, locale: str) -> DatabaseRecord:
        """CREATE DATABASE: -330 when the name is taken."""
        with self._lock:
            if name in self._records:
                raise SqlError(-330, -100, 0, name)
            record = DatabaseRecord(name, logged, buffered, ansi, locale)
            self._attach(name, locale)
            self._register(record)
            return record

    def drop(self, name: str) -> None:
        """DROP DATABASE: -329 unknown; -425 while DuckDB still holds it for a session."""
        with self._lock:
            self.get(name)
            if name == "sysmaster":
                raise SqlError(-389, 0, 0, name)
            try:
                self._con.execute(f"DETACH {attached(name)}")
            except duckdb.Error as e:
                raise SqlError(-425, 0, 0, name, str(e)) from e
            self._con.execute(f"DELETE FROM {attached('sysmaster')}._ifx.databases WHERE name = ?", [name])
            del self._records[name]
            if self._directory is not None:
                for suffix in ("", ".wal"):
                    Path(self._path(name) + suffix).unlink(missing_ok=True)
