"""The databases of one engine: which there are, how they are logged, and where they are kept."""

from __future__ import annotations

import datetime as dt
import threading
from dataclasses import dataclass
from pathlib import Path

import duckdb

from .catalog import attached, text
from .errors import SqlError
from .system_catalog import install, list_tables

OTHER_LOCALE = 0x40
"""Warning of SQ_DBOPEN's answer: the login's DB_LOCALE is not the database's (SQLI section 5.3)."""


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
        self._closed = False
        self._records: dict[str, DatabaseRecord] = {}
        if directory is not None and any(directory.glob("*.duckdb")):
            self._require_file("sysmaster")
        self._attach("sysmaster", "en_US.819")
        rows = con.execute(
            f"SELECT name, is_logging, is_buff_log, is_ansi, locale FROM "
            f"{attached('sysmaster')}._ifx.databases "
            "ORDER BY number"
        ).fetchall()
        for name, logging, buffered, ansi, locale in rows:
            if name != "sysmaster":
                self._require_file(name)
                self._attach(name, locale)
            self._records[name] = DatabaseRecord(name, bool(logging), bool(buffered), bool(ansi), locale)
        if "sysmaster" not in self._records:
            self._register(DatabaseRecord("sysmaster", True, False, False, "en_US.819"))
        if "stores_demo" not in self._records and not rows:
            self.create("stores_demo", logged=True, buffered=False, ansi=False, locale="en_US.57372")
        list_tables(con, list(self._records))

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

    def _require_file(self, name: str) -> None:
        """A database that was there must not come back empty, nor with a log that belongs to another file."""
        if self._directory is not None and not Path(self._path(name)).exists():
            raise FileNotFoundError(
                f"the file {self._path(name)} of the database {name} is gone: put it back, or begin with an empty "
                "directory"
            )

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
            self._require_open()
            if name in self._records:
                raise SqlError(-330, -100, 0, name)
            record = DatabaseRecord(name, logged, buffered, ansi, locale)
            self._put_aside(name)
            self._attach(name, locale)
            self._register(record)
            list_tables(self._con, list(self._records))
            return record

    def close(self) -> None:
        """The end of the instance, when nobody makes or drops a database."""
        with self._lock:
            self._closed = True
            try:
                # The last checkpoint may give the room of deleted rows back.
                self._con.execute("RESET max_vacuum_tasks")
            finally:
                self._con.close()

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError("the server is not running")

    def _put_aside(self, name: str) -> None:
        """Rename a file that is in the way of a new database: the server was killed while it made or dropped one of
        that name. Its tables must not come back."""
        if self._directory is None:
            return
        for suffix in ("", ".wal"):
            file = Path(self._path(name) + suffix)
            if file.exists():
                file.replace(file.with_name(file.name + ".left-over"))

    def drop(self, name: str) -> None:
        """DROP DATABASE: -329 unknown; -425 while DuckDB still holds it for a session."""
        with self._lock:
            self._require_open()
            self.get(name)
            if name == "sysmaster":
                raise SqlError(-389, 0, 0, name)
            try:
                self._con.execute(f"DETACH {attached(name)}")
            except duckdb.Error as e:
                raise SqlError(-425, 0, 0, name, str(e)) from e
            self._con.execute(f"DELETE FROM {attached('sysmaster')}._ifx.databases WHERE name = ?", [name])
            del self._records[name]
            list_tables(self._con, list(self._records))
            if self._directory is not None:
                for suffix in ("", ".wal"):
                    Path(self._path(name) + suffix).unlink(missing_ok=True)
