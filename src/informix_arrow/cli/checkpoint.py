"""The position of a load, stored in the database: a row that is committed together with the rows it counts.

However a load ends, even by a power cut, that row and the table agree.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from ..connection import Connection
from ..wire.errors import Error, NotSupportedError
from .exit_codes import Failure, UsageError
from .files import STDIO, file_system, is_remote

TABLE = "informix_arrow_loads"
_CREATE = f"""CREATE TABLE {TABLE} (
    load_key CHAR(64) PRIMARY KEY, fingerprint CHAR(64), rows_read BIGINT, rows_loaded BIGINT, rows_rejected BIGINT,
    reject_bytes BIGINT, log_bytes BIGINT)"""
_NO_SUCH_TABLE = -206


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


class Checkpoint:
    """The row of one load, which is identified by its table and its files.

    Parameters
    ----------
    connection
        The connection of the load. The row is a part of its transactions.
    table, paths, how
        The table and the files. ``how`` is the text of all options that affect the rows.
    """

    def __init__(self, connection: Connection, table: str, paths: Sequence[str], how: str) -> None:
        if not connection.logged:
            raise NotSupportedError(
                "--resume needs transactions, and the database has no log: what is loaded and how far that is "
                "could not be made one"
            )
        if STDIO in paths:
            raise UsageError("--resume needs files that can be read again, not standard input")
        self._connection = connection
        absolute = [path if is_remote(path) else os.path.abspath(path) for path in paths]
        self._key = _hash([table.lower(), *absolute])
        self._fingerprint = _hash([how, *map(_file_state, paths)])

    def find(self) -> LoadPosition:
        """Return the position to continue from, the beginning if there is none. Raises ``Failure`` if the files have
        changed.
        """
        sql = (
            "SELECT fingerprint, rows_read, rows_loaded, rows_rejected, reject_bytes, log_bytes "
            f"FROM {TABLE} WHERE load_key = ?"
        )
        try:
            with self._connection.cursor() as cursor:
                row = cursor.execute(sql, (self._key,)).fetchone()
        except Error as error:
            if error.sqlcode != _NO_SUCH_TABLE:
                raise
            self._create()
            row = None
        if row is None:
            self._connection.execute(
                f"INSERT INTO {TABLE} VALUES (?, ?, 0, 0, 0, 0, 0)", (self._key, self._fingerprint)
            )
            return LoadPosition()
        if row[0] != self._fingerprint:
            raise Failure(
                "the files or the options are not those of the load that was begun: load the rest by itself, then "
                f"DELETE FROM {TABLE} WHERE load_key = '{self._key}'"
            )
        return LoadPosition(*map(int, row[1:]))

    def put(self, at: LoadPosition) -> None:
        """Store the position in the open transaction."""
        self._connection.execute(
            f"UPDATE {TABLE} SET rows_read = ?, rows_loaded = ?, rows_rejected = ?, reject_bytes = ?, log_bytes = ? "
            "WHERE load_key = ?",
            (at.read, at.loaded, at.rejected, at.reject_bytes, at.log_bytes, self._key),
        )

    def done(self) -> None:
        """Delete the row of a finished load, and the table if no other load is in it."""
        self._connection.execute(f"DELETE FROM {TABLE} WHERE load_key = ?", (self._key,))
        with contextlib.suppress(Error):  # another load is using the table
            remaining = self._connection.read_arrow(f"SELECT COUNT(*) FROM {TABLE}").column(0)[0].as_py()
            if not remaining:
                self._connection.execute(f"DROP TABLE {TABLE}")

    def _create(self) -> None:
        try:
            self._connection.execute(_CREATE)
        except Error as error:
            raise Failure(
                f"--resume keeps its place in the table {TABLE}, which cannot be made: {str(error).splitlines()[0]}"
            ) from error


def _hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _file_state(path: str) -> str:
    """Return a text that changes when the file does."""
    if is_remote(path):
        system, name = file_system(path)
        return str(system.ukey(name))
    info = os.stat(path)
    return f"{info.st_size} {info.st_mtime_ns}"
