"""The databases of one engine: which there are, how they are logged, and where they are kept."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from ..errors import SqlError, invalidated_database
from ..parse.database_names import parse_database_name
from ..types.quoting import quote_identifier, quote_string
from . import capture_tables
from .catalog import FIRST_USER_TABID, duck_database
from .rename_database import update_database_name
from .system_catalog import install

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
    """Registry over sysmaster's hidden table; changes take effect at once and outside transactions.

    Attributes
    ----------
    changes
        How many databases were made, dropped or renamed so far.
    given_up
        Those that DuckDB lets nobody near, as they could not be written, until they are attached again.
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
        """A database by name; -329 when there is none, -354 for what is no name of one. That of change capture is made
        when it is first named."""
        found = self._records.get(name)
        if found is None and name == capture_tables.DATABASE:
            with suppress(SqlError):  # another session has been quicker
                self.create(name, logged=True, buffered=False, ansi=False, locale=capture_tables.LOCALE)
        return found or self._require_database(name)

    def _require_database(self, name: str) -> DatabaseRecord:
        """A database that is there; errors as those of `get`."""
        found = self._records.get(name)
        if found is None:
            raise SqlError(-329, -111, 0, parse_database_name(name))
        return found

    def require_user_database(self, name: str) -> DatabaseRecord:
        """A database that may be dropped or renamed: -389 for sysmaster, which belongs to the server, else as `get`."""
        record = self.get(name)
        if record.name == "sysmaster":
            raise SqlError(-389, 0, 0, name)
        return record

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

    def _attach(self, name: str, locale: str, creator: str = "") -> None:
        self._open(name)
        install(self._con, name, locale, creator)

    def _open(self, name: str) -> None:
        """Open a database's file.

        What DuckDB's log had for it is brought to the file at once. DuckDB 2.0 loses a value that was read back from
        its log when a later UPDATE of the row is rolled back: 0 where there had been NULL before.
        """
        path = self._path(name)
        replayed = self._directory is not None and Path(f"{path}.wal").exists()
        self._con.execute(f"ATTACH {quote_string(path)} AS {duck_database(name)}")
        if replayed:
            self._con.execute(f"CHECKPOINT {duck_database(name)}")

    def note_invalidated(self, error: BaseException) -> None:
        """Remember which database DuckDB has given up, if the error says so."""
        name = invalidated_database(error)
        if name and self._directory is not None:
            self.invalidated.update(
                known for known in self._records if duck_database(known) == quote_identifier(name)
            )

    def reattach(self, name: str) -> None:
        """Let go of a database that DuckDB has given up, and have it again. duckdb.Error while that cannot be."""
        with self._lock:
            self._require_open()
            self._end_transaction()
            if name in self._records:  # it may have been dropped meanwhile
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
        """CREATE DATABASE by a user, or by the server itself: -330 when the name is taken, -354 for one that no
        database can have."""
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
        """What is there of a database that could not be made."""
        self._end_transaction()
        if self._records.pop(name, None) is not None:
            self._con.execute(
                f"DELETE FROM {duck_database('sysmaster')}._ifx.databases WHERE name = ?", [name]
            )
        self._con.execute(f"DETACH DATABASE IF EXISTS {duck_database(name)}")
        self._remove_files(name)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Nobody else makes or drops a database meanwhile; what fails here leaves nothing open to those that follow,
        who have the same connection."""
        with self._lock:
            try:
                yield
            except BaseException:
                self._end_transaction()
                raise

    def _end_transaction(self) -> None:
        with suppress(duckdb.Error):  # none is open
            self._con.execute("ROLLBACK")

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

    def _move_aside(self, name: str) -> None:
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
        """The tables of users in a database."""
        query = f"SELECT tabname FROM {duck_database(name)}._ifx.tables WHERE tabtype = 'T' AND tabid >= {FIRST_USER_TABID}"
        return [str(table) for (table,) in self._con.cursor().execute(query).fetchall()]

    def rename(self, name: str, new: str) -> None:
        """RENAME DATABASE: -329 unknown, -330 when the new name is taken, -425 while DuckDB still holds it for a
        session. Who is killed meanwhile finds it with its new name, or with the old one."""
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
                new if kept == name else kept: replace(record, name=new) if kept == name else each
                for kept, each in self._records.items()
            }
            self.version += 1
            self._finish_rename(new, name)

    def _copy(self, name: str, new: str) -> None:
        """A database in memory cannot be attached by another name."""
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

    def _finish_rename(self, name: str, was: str) -> None:
        """The end of a RENAME DATABASE, for a database that is attached by its new name."""
        update_database_name(self._con, name, was)
        master = f"{duck_database('sysmaster')}._ifx.databases"
        self._con.execute(f"UPDATE {master} SET was = NULL WHERE name = ?", [name])

    def _move_files(self, name: str, new: str) -> None:
        if not Path(self._path(new)).exists():
            for suffix in (".wal", ""):  # the one without which there is nothing comes last
                if Path(self._path(name) + suffix).exists():
                    Path(self._path(name) + suffix).replace(self._path(new) + suffix)

    def _remove_files(self, name: str) -> None:
        if self._directory is not None:
            for suffix in ("", ".wal"):
                Path(self._path(name) + suffix).unlink(missing_ok=True)
