"""The record of a load, stored in the database: a row that is committed together with the rows it counts.

However a load ends, even by a power cut, that row and the table agree. The row stays after the load has finished, so
that the same command knows that there is nothing left to do.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..connection import Connection
from ..wire.errors import Error, NotSupportedError
from .exit_codes import Failure, UsageError
from .files import STDIO, file_system, is_remote

TABLE = "informix_arrow_loads"
KEPT_DAYS = 90  # days after which the record of a finished load is deleted
_CREATE = f"""CREATE TABLE {TABLE} (
    load_key CHAR(64), fingerprint CHAR(64), run CHAR(32), target VARCHAR(255), files VARCHAR(255),
    rows_read BIGINT, rows_loaded BIGINT, rows_rejected BIGINT, reject_bytes BIGINT, log_bytes BIGINT,
    begun DATETIME YEAR TO SECOND, finished DATETIME YEAR TO SECOND, PRIMARY KEY (load_key, fingerprint)
    ) LOCK MODE ROW"""
_FIND = (
    "SELECT fingerprint, run, rows_read, rows_loaded, rows_rejected, reject_bytes, log_bytes, begun, finished "
    f"FROM {TABLE} WHERE load_key = ?"
)
_INSERT = (
    f"INSERT INTO {TABLE} (run, rows_read, rows_loaded, rows_rejected, reject_bytes, log_bytes, finished, "
    "load_key, fingerprint, target, files, begun) "
    "VALUES (?, ?, ?, ?, ?, ?, {finished}, ?, ?, ?, ?, CURRENT YEAR TO SECOND)"
)
_UPDATE = (
    f"UPDATE {TABLE} SET run = ?, rows_read = ?, rows_loaded = ?, rows_rejected = ?, reject_bytes = ?, log_bytes = ?, "
    "finished = {finished} WHERE load_key = ? AND fingerprint = ? AND run = ?"
)
_NO_SUCH_TABLE, _NO_SUCH_COLUMN, _TABLE_EXISTS = -206, -217, -310
_DUPLICATE_KEYS = (-239, -268)
_HASH_BYTES = 1 << 20


@dataclass
class LoadPosition:
    """The position of a load.

    Attributes
    ----------
    read
        Rows of the files that were read.
    loaded, rejected
        How many of them are in the table, and how many were refused.
    reject_bytes, log_bytes
        Sizes of the files of refused rows.
    """

    read: int = 0
    loaded: int = 0
    rejected: int = 0
    reject_bytes: int = 0
    log_bytes: int = 0


@dataclass(frozen=True)
class _Record:
    """A row of the table."""

    fingerprint: str
    run: str
    position: LoadPosition
    begun: str
    finished: str | None


class Checkpoint:
    """The record of one load, which is identified by its table, its files with their contents, and its options.

    Parameters
    ----------
    connection
        The connection of the load. The record is written in its transactions.
    table, paths, how
        The table and the files, which are read once to hash them. ``how`` is the text of all options that affect the
        rows.

    Attributes
    ----------
    finished
        When the load was finished, as text; None if there is something to load.
    """

    def __init__(self, connection: Connection, table: str, paths: Sequence[str], how: str) -> None:
        self.finished: str | None = None
        self._connection = connection
        self._table, self._paths = table, paths
        self._key = _load_key(table, paths)
        self._states = [_file_state(path) for path in paths]
        self._fingerprint = _hash([how, *map(_content, paths)])
        self._run = uuid.uuid4().hex  # of this process
        self._recorded_run: str | None = None  # of the process that wrote the record last
        self._replaces_others = False

    def find(self, has_rows: Callable[[], bool], *, resume: bool, again: bool) -> LoadPosition:
        """Return the position to continue from, which is the beginning if there is nothing to continue.

        A load whose rows were committed, and whose table has no rows now, begins anew: its rows were deleted since.

        Parameters
        ----------
        has_rows
            Returns whether the table has rows.
        resume
            The user expects something to continue: raises ``UsageError`` if nothing is known and the table has rows.
        again
            Load also if the load was finished, and ignore an unfinished one unless ``resume``.

        Raises ``Failure`` if an unfinished load of the same files into the same table is known, and the files or the
        options have changed since.
        """
        rows = self._select()
        self._sweep()
        mine = next((row for row in rows if row.fingerprint == self._fingerprint), None)
        others = [row for row in rows if row is not mine and row.finished is None]
        if mine is None:
            if others and not again and others[0].position.loaded and has_rows():
                raise Failure(
                    f"A load of these files into {self._table} was started at {others[0].begun} and stopped "
                    f"after {others[0].position.loaded:,} committed rows. The files or the options have "
                    "changed since. Repeat the load with the files and options as they were, or use "
                    "--forget to delete its record, or --again to load all rows."
                )
            self._replaces_others = bool(others)
            if resume and not again and not others and has_rows():
                raise UsageError(
                    f"No load of these files into {self._table} is recorded, and the table has rows. Leave "
                    "--resume out to load all rows of the files."
                )
            return LoadPosition()
        self._recorded_run = mine.run
        if mine.finished is not None:
            if again:
                return LoadPosition()
            self.finished = mine.finished
            return mine.position
        if (again and not resume) or (mine.position.loaded and not has_rows()):
            return LoadPosition()
        return mine.position

    def put(self, at: LoadPosition, *, finished: bool = False) -> None:
        """Store the position in the open transaction.

        Raises ``Failure`` if another process has stored one since, because both would load the same rows.
        """
        if finished and [_file_state(path) for path in self._paths] != self._states:
            raise Failure("A file was changed while it was loaded. Check the contents of the table.")
        values = (self._run, at.read, at.loaded, at.rejected, at.reject_bytes, at.log_bytes)
        now = "CURRENT YEAR TO SECOND" if finished else "NULL"
        identity = (self._key, self._fingerprint)
        if self._recorded_run is None:
            try:
                self._connection.execute(
                    _INSERT.format(finished=now),
                    (*values, *identity, _shown(self._table), _shown(" ".join(self._paths))),
                )
            except Error as error:
                if error.sqlcode in _DUPLICATE_KEYS:
                    raise self._lost_to_another_process() from error
                raise
        else:
            updated = self._connection.execute(
                _UPDATE.format(finished=now), (*values, *identity, self._recorded_run)
            )
            if updated.rowcount != 1:
                raise self._lost_to_another_process()
        self._recorded_run = self._run
        if self._replaces_others:
            self._connection.execute(
                f"DELETE FROM {TABLE} WHERE load_key = ? AND fingerprint <> ? AND finished IS NULL", identity
            )

    def _lost_to_another_process(self) -> Failure:
        return Failure(
            f"Another process loads the same files into {self._table}, or has deleted the record of this load. The "
            "rows since the last commit were rolled back. Wait until the other process has ended."
        )

    def _select(self) -> list[_Record]:
        try:
            with self._connection.cursor() as cursor:
                found = cursor.execute(_FIND, (self._key,)).fetchall()
            return [
                _Record(
                    fingerprint,
                    run,
                    LoadPosition(*map(int, numbers)),
                    str(begun),
                    None if finished is None else str(finished),
                )
                for fingerprint, run, *numbers, begun, finished in found
            ]
        except Error as error:
            if error.sqlcode == _NO_SUCH_COLUMN:
                raise Failure(
                    f"The table {TABLE} was created by release 0.1.0 and holds the position of an "
                    f"unfinished load. Finish that load with release 0.1.0, or run DROP TABLE {TABLE}."
                ) from error
            if error.sqlcode != _NO_SUCH_TABLE:
                raise
        try:
            self._connection.execute(_CREATE)
        except Error as error:
            if error.sqlcode != _TABLE_EXISTS:  # else another load has just made it
                raise Failure(
                    f"--commit-every records the position of the load in the table {TABLE}, which cannot be "
                    f"created: {str(error).splitlines()[0]} Have a user with the privilege create it, or "
                    "leave --commit-every out."
                ) from error
        return []

    def _sweep(self) -> None:
        """Delete old records of finished loads. Unfinished ones stay until they are finished or forgotten."""
        with contextlib.suppress(Error):  # another load has locked its record
            self._connection.execute(
                f"DELETE FROM {TABLE} WHERE finished < CURRENT YEAR TO SECOND - {KEPT_DAYS} UNITS DAY"
            )


def can_record(connection: Connection, paths: Sequence[str]) -> bool:
    """Return whether a record can be kept: in a logged database, for files that can be read again."""
    return connection.logged and all(map(_is_readable_again, paths))


def require_record(connection: Connection, paths: Sequence[str]) -> None:
    """Raise an error that says why no record can be kept."""
    if not connection.logged:
        raise NotSupportedError(
            "--resume and --again need transactions, and the database has no transaction log. The rows and "
            "the position could not be committed together."
        )
    if not all(map(_is_readable_again, paths)):
        raise UsageError(
            "--resume and --again need files that can be read again, not standard input or a pipe."
        )


def forget(connection: Connection, table: str, paths: Sequence[str]) -> int:
    """Delete what is known of loads of these files into a table. Return the number of records."""
    try:
        return connection.execute(
            f"DELETE FROM {TABLE} WHERE load_key = ?", (_load_key(table, paths),)
        ).rowcount
    except Error as error:
        if error.sqlcode != _NO_SUCH_TABLE:
            raise
        return 0


def _load_key(table: str, paths: Sequence[str]) -> str:
    name = table if '"' in table else table.lower()
    return _hash([name, *(path if is_remote(path) else os.path.abspath(path) for path in paths)])


def _hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _is_readable_again(path: str) -> bool:
    return path != STDIO and (is_remote(path) or stat.S_ISREG(os.stat(path).st_mode))


def _file_state(path: str) -> str:
    """Return a text that changes when the file does, without reading it."""
    if is_remote(path):
        system, name = file_system(path)
        return str(system.ukey(name))
    info = os.stat(path)
    return f"{info.st_size} {info.st_mtime_ns}"


def _content(path: str) -> str:
    """Return size and hash of a file; of a remote file what its storage has in place of a hash."""
    if is_remote(path):
        return _file_state(path)
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while block := file.read(_HASH_BYTES):
            digest.update(block)
            size += len(block)
    return f"{size} {digest.hexdigest()}"


def _shown(text: str) -> str:
    """Return a text as the table shows it: for people, in characters that any code set has."""
    plain = text.encode("ascii", "backslashreplace").decode()
    return plain if len(plain) <= 255 else plain[:252] + "..."
