"""The databases of one server: their names, logging modes and files."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from ...wire.quoting import double_quoted
from ..errors import SqlError, invalidated_database
from ..parse.database_names import parse_database_name
from ..types.quoting import quote_string
from . import capture_tables, empty_tables, hidden_schema
from .catalog import FIRST_USER_TABID, duck_database
from .rename_database import update_database_name
from .system_catalog import install

OTHER_LOCALE = 0x40
"""Warning in the reply to SQ_DBOPEN: the DB_LOCALE of the login differs from the database's (SQLI section 5.3)."""


_CREATED_WHEN_NAMED = {capture_tables.DATABASE: capture_tables.LOCALE, empty_tables.ADMIN: "en_US.57372"}
"""Databases of the server itself that most servers need not make, and their locales."""


@dataclass(frozen=True, slots=True)
class DatabaseRecord:
    """One database. `warnings` are the warning bits of the SQ_DONE that answers SQ_DBOPEN (JDBC section 3)."""

    name: str
    logged: bool
    buffered: bool
    ansi: bool
    locale: str

    @property
    def warnings(self) -> int:
        return 0x04 | (0x01 if self.logged else 0) | (0x02 if self.ansi else 0)


class Databases:
    """The databases, stored in a hidden table of sysmaster. Changes take effect at once, outside of transactions.

    Attributes
    ----------
    version
        Count of databases created, dropped or renamed so far.
    invalidated
        Databases that DuckDB has invalidated because a write failed. They must be attached again.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, directory: Path | None) -> None:
        self._con = con
        self._directory = directory
        self._lock = threading.Lock()
        self._closed = False
        self.invalidated: set[str] = set()
        self._records: dict[str, DatabaseRecord] = {}
        self.version = 0
        if directory is not None and any(directory.glob("*.duckdb")):
            self._require_file("sysmaster")
        hidden_schema.create_template(con)
        self._attach("sysmaster", "en_US.819")
        rows = con.execute(
            f"SELECT name, is_logging, is_buff_log, is_ansi, locale, was FROM "
            f"{duck_database('sysmaster')}._ifx.databases "
            "ORDER BY number"
        ).fetchall()
        for name, logging, buffered, ansi, locale, was in rows:
            if name != "sysmaster":
                if was:
                    self._move_files(was, name)
                self._require_file(name)
                self._attach(name, locale)
            if was:
                self._finish_rename(name, was)
            self._records[name] = DatabaseRecord(name, bool(logging), bool(buffered), bool(ansi), locale)
        if "sysmaster" not in self._records:
            self._register(DatabaseRecord("sysmaster", True, False, False, "en_US.819"))
        if "stores_demo" not in self._records and not rows:
            self.create("stores_demo", logged=True, buffered=False, ansi=False, locale="en_US.57372")

    def __contains__(self, name: str) -> bool:
        return name in self._records

    def get(self, name: str) -> DatabaseRecord:
        """Return a database by name. Those of change data capture and of the scheduler are created when first named.

        Raises SqlError -329 if there is none, -354 if the name is not a valid database name.
        """
        found = self._records.get(name)
        if found is None and name in _CREATED_WHEN_NAMED:
            with suppress(SqlError):  # another session was faster
                self.create(name, logged=True, buffered=False, ansi=False, locale=_CREATED_WHEN_NAMED[name])
        return found or self._require_database(name)

    def _require_database(self, name: str) -> DatabaseRecord:
        """Return an existing database. Raises the errors of `get`."""
        found = self._records.get(name)
        if found is None:
            raise SqlError(-329, -111, 0, parse_database_name(name))
        return found

    def require_user_database(self, name: str) -> DatabaseRecord:
        """Return a database that may be dropped or renamed. Raises -389 for sysmaster, else the errors of `get`."""
        record = self.get(name)
        if record.name == "sysmaster":
            raise SqlError(-389, 0, 0, name)
        return record

    def names(self) -> list[str]:
        return list(self._records)

    def _path(self, name: str) -> str:
        return ":memory:" if self._directory is None else str(self._directory / f"{name}.duckdb")

    def _require_file(self, name: str) -> None:
        """Raise FileNotFoundError if the file is missing. A database must not come back empty, or with the log of
        another file."""
        if self._directory is not None and not Path(self._path(name)).exists():
            raise FileNotFoundError(
                f"The file {self._path(name)} of the database {name} is missing. Restore it, or start with an empty "
                "directory."
            )

    def _attach(self, name: str, locale: str, creator: str = "") -> None:
        self._open(name)
        install(self._con, name, locale, creator)

    def _open(self, name: str) -> None:
        """Open a database's file.

        Changes that DuckDB replays from its log are written to the file at once (checkpoint). Without it DuckDB 2.0
        loses values: if a value was read back from the log and a later UPDATE of the row is rolled back, the value
        reads as 0 where there had been NULL.
        """
        path = self._path(name)
        replayed = self._directory is not None and Path(f"{path}.wal").exists()
        self._con.execute(f"ATTACH {quote_string(path)} AS {duck_database(name)}")
        if replayed:
            self._con.execute(f"CHECKPOINT {duck_database(name)}")

    def note_invalidated(self, error: BaseException) -> None:
        """Record the database that DuckDB has invalidated, if the error reports one."""
        name = invalidated_database(error)
        if name and self._directory is not None:
            self.invalidated.update(
                known for known in self._records if duck_database(known) == double_quoted(name)
            )

    def reattach(self, name: str) -> None:
        """Detach a database that DuckDB has invalidated and attach it again. Raises duckdb.Error while that fails."""
        with self._lock:
            self._require_open()
            self._end_transaction()
            if name in self._records:  # it may have been dropped in the meantime
                self._con.execute(f"DETACH DATABASE IF EXISTS {duck_database(name)}")
                self._open(name)
            self.invalidated.discard(name)

    def _register(self, record: DatabaseRecord, owner: str = "informix") -> None:
        master = f"{duck_database('sysmaster')}._ifx.databases"
        self._con.execute(
            f"INSERT INTO {master} (number, name, created, is_logging, is_buff_log, is_ansi, locale, owner) "
            f"SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ?, ?, ?, ? FROM {master}",
            [
                record.name,
                dt.date.today(),
                int(record.logged),
                int(record.buffered),
                int(record.ansi),
                record.locale,
                owner,
            ],
        )
        self._records[record.name] = record
        self.version += 1

    def create(
        self, name: str, *, logged: bool, buffered: bool, ansi: bool, locale: str, creator: str = ""
    ) -> DatabaseRecord:
        """Create a database for a user or for the server itself. Raises -330 if the name is taken, -354 if it is not a
        valid name."""
        name = parse_database_name(name)
        with self._exclusive():
            self._require_open()
            if name in self._records:
                raise SqlError(-330, -100, 0, name)
            record = DatabaseRecord(name, logged, buffered, ansi, locale)
            self._move_aside(name)
            try:
                self._attach(name, locale, creator)
                self._register(record, creator or "informix")
            except BaseException:
                self._undo_create(name)
                raise
            return record

    def _undo_create(self, name: str) -> None:
        """Remove the remains of a database that could not be created."""
        self._end_transaction()
        if self._records.pop(name, None) is not None:
            self._con.execute(
                f"DELETE FROM {duck_database('sysmaster')}._ifx.databases WHERE name = ?", [name]
            )
        self._con.execute(f"DETACH DATABASE IF EXISTS {duck_database(name)}")
        self._remove_files(name)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Exclude other threads that create or drop databases. After an error the transaction is rolled back, as all
        share one connection."""
        with self._lock:
            try:
                yield
            except BaseException:
                self._end_transaction()
                raise

    def _end_transaction(self) -> None:
        with suppress(duckdb.Error):  # no transaction is open
            self._con.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection at the end of the server, when nothing creates or drops a database."""
        with self._lock:
            self._closed = True
            try:
                # The last checkpoint may release the space of deleted rows.
                self._con.execute("RESET max_vacuum_tasks")
            finally:
                self._con.close()

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError("The server is not running.")

    def _move_aside(self, name: str) -> None:
        """Rename a leftover file that has the name of a new database.

        The server was killed while it created or dropped a database of that name. The tables of that file must not come
        back.
        """
        if self._directory is None:
            return
        for suffix in ("", ".wal"):
            file = Path(self._path(name) + suffix)
            if file.exists():
                file.replace(file.with_name(file.name + ".left-over"))

    def drop(self, name: str) -> None:
        """Drop a database. Raises -329 if it is unknown, -425 while a session uses it."""
        with self._exclusive():
            self._require_open()
            self.require_user_database(name)
            self._detach(name)
            self._con.execute(
                f"DELETE FROM {duck_database('sysmaster')}._ifx.databases WHERE name = ?", [name]
            )
            del self._records[name]
            self.version += 1
            self._remove_files(name)

    def tables(self, name: str) -> list[str]:
        """Return the user tables of a database."""
        query = (
            f"SELECT tabname FROM {duck_database(name)}._ifx.tables "
            f"WHERE tabtype = 'T' AND tabid >= {FIRST_USER_TABID}"
        )
        return [str(table) for (table,) in self._con.cursor().execute(query).fetchall()]

    def rename(self, name: str, new: str) -> None:
        """Rename a database. Raises -329 if it is unknown, -330 if the new name is taken, -425 while a session uses it.

        If the server is killed meanwhile, the database has its new name or its old one afterwards.
        """
        with self._exclusive():
            self._require_open()
            record = self.require_user_database(name)
            if new in self._records:
                raise SqlError(-330, -100, 0, new)
            self._move_aside(new)
            if self._directory is None:
                self._copy(name, new)
            self._detach(name)
            master = f"{duck_database('sysmaster')}._ifx.databases"
            self._con.execute(f"UPDATE {master} SET name = ?, was = ? WHERE name = ?", [new, name, name])
            if self._directory is not None:
                self._move_files(name, new)
                self._attach(new, record.locale)
            self._records = {
                new if known == name else known: replace(record, name=new) if known == name else each
                for known, each in self._records.items()
            }
            self.version += 1
            self._finish_rename(new, name)

    def _copy(self, name: str, new: str) -> None:
        """Copy a database in memory, which cannot be attached under another name."""
        self._con.execute(f"ATTACH ':memory:' AS {duck_database(new)}")
        try:
            self._con.execute(f"COPY FROM DATABASE {duck_database(name)} TO {duck_database(new)}")
        except BaseException:
            self._con.execute(f"DETACH {duck_database(new)}")
            raise

    def _detach(self, name: str) -> None:
        try:
            self._con.execute(f"DETACH {duck_database(name)}")
        except duckdb.Error as e:
            raise SqlError(-425, 0, 0, name, str(e)) from e

    def _finish_rename(self, name: str, old: str) -> None:
        """Finish a RENAME DATABASE once the database is attached under its new name."""
        update_database_name(self._con, name, old)
        master = f"{duck_database('sysmaster')}._ifx.databases"
        self._con.execute(f"UPDATE {master} SET was = NULL WHERE name = ?", [name])

    def _move_files(self, name: str, new: str) -> None:
        if not Path(self._path(new)).exists():
            for suffix in (".wal", ""):  # the main file comes last: without it there is no database
                if Path(self._path(name) + suffix).exists():
                    Path(self._path(name) + suffix).replace(self._path(new) + suffix)

    def _remove_files(self, name: str) -> None:
        if self._directory is not None:
            for suffix in ("", ".wal"):
                Path(self._path(name) + suffix).unlink(missing_ok=True)
