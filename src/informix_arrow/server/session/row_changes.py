"""Changes of one session's transaction in tables that are logged in full, on their way to the change log.

The changes of a statement are buffered until it has succeeded, so a statement that runs again on a fresher snapshot
leaves none behind. If a statement fails after it has changed rows, its changes are logged with a DISCARD after them.
The same applies to changes that ROLLBACK TO undoes. A replay of the journal logs nothing.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable
from itertools import chain

import duckdb
import pyarrow as pa

from ...wire.code_sets import codec_of_locale
from ..catalog import logged_commits, stored_names
from ..catalog.catalog import TableInfo
from ..catalog.databases import Databases
from ..cdc_log.log import ChangeLog
from ..cdc_log.records import RecordKind
from ..cdc_log.row_images import TableImageEncoder
from ..errors import SqlError, is_durable
from .pending_row_images import PendingRowImages, UndoRecord

log = logging.getLogger("informix_arrow.server")

_DISK_FULL = -131
_NOT_LOGGED = -458
_CHANGED = -710


def user_number(name: str) -> int:
    """Return the number of a user.

    A real server takes it from its operating system; here it depends on the name only.
    """
    return 1000 + zlib.crc32(name.encode()) % 64000


_ROWS_PER_IMAGE_BATCH = 4096
"""Rows whose images are encoded and buffered together."""


class RowChangeLogger:
    """Logs the row changes of one session.

    Used by one thread at a time. Images beyond some MiB are buffered in a file in `temporary`.
    """

    def __init__(
        self, changes: ChangeLog, databases: Databases, user: str, temporary: str | None = None
    ) -> None:
        self._log = changes
        self._databases = databases
        self._user = user_number(user)
        self._pending = PendingRowImages(temporary)
        self._tx: int | None = None  # number in the change log
        self._database = ""  # database of the changed rows
        self._is_incomplete = False  # some changes could not be logged
        self._image_encoder: tuple[TableInfo, TableImageEncoder] | None = None

    # ---- what statements change -----------------------------------------------------------------
    def require_current_logging(self, info: TableInfo) -> None:
        """Raise -710 if the logging of a statement's table was switched since it was planned: it must be planned again.

        To be called with the locks held.
        """
        if not info.temporary and info.is_fully_logged != self._log.is_fully_logged(
            info.database, info.tabid
        ):
            raise SqlError(_CHANGED, 0, 0, info.name)

    def log_inserted(self, info: TableInfo, rows: pa.Table) -> None:
        """Log inserted rows, all columns in storage form. Does nothing for a table that is not logged."""
        self._add_rows(info, RecordKind.INSERT, rows)

    def log_deleted(self, info: TableInfo, rows: pa.Table) -> None:
        """Log deleted rows."""
        self._add_rows(info, RecordKind.DELETE, rows)

    def log_updated(self, info: TableInfo, before: pa.Table, after: pa.Table) -> None:
        """Log updated rows: `before` and `after` have the same order."""
        if not info.is_fully_logged or not before.num_rows:
            return
        images = self._encoder_for(info)
        for start in range(0, before.num_rows, _ROWS_PER_IMAGE_BATCH):
            old = images.encode(before.slice(start, _ROWS_PER_IMAGE_BATCH))
            new = images.encode(after.slice(start, _ROWS_PER_IMAGE_BATCH))
            pairs = (
                ((RecordKind.UPDBEF, was), (RecordKind.UPDAFT, now))
                for was, now in zip(old, new, strict=True)
            )
            self._pending.add(images.table, list(chain.from_iterable(pairs)))

    def log_truncated(self, info: TableInfo) -> None:
        """Log a table that was emptied by TRUNCATE."""
        if info.is_fully_logged:
            self._pending.add(self._encoder_for(info).table, ())

    def _add_rows(self, info: TableInfo, kind: RecordKind, rows: pa.Table) -> None:
        if info.is_fully_logged and rows.num_rows:
            images = self._encoder_for(info)
            for start in range(0, rows.num_rows, _ROWS_PER_IMAGE_BATCH):
                bodies = images.encode(rows.slice(start, _ROWS_PER_IMAGE_BATCH))
                self._pending.add(images.table, [(kind, body) for body in bodies])

    def _encoder_for(self, info: TableInfo) -> TableImageEncoder:
        self._database = info.database
        if self._image_encoder is None or self._image_encoder[0] is not info:
            locale = self._databases.get(info.database).locale
            self._image_encoder = info, TableImageEncoder(info, codec_of_locale(locale))
        return self._image_encoder[1]

    # ---- statements -----------------------------------------------------------------------------
    @property
    def pending_count(self) -> int:
        """Number of changes of the statement so far."""
        return len(self._pending)

    def discard(self, mark: int = 0) -> None:
        """Remove the changes from a mark on: they are repeated, or their transaction has ended."""
        self._pending.truncate(mark)

    def undo(self, mark: int) -> None:
        """Record that the changes from a mark on were undone: a routine's statement failed, and the routine
        continues.
        """
        if len(self._pending) > mark:
            self._pending.add_undo(mark)

    def flush(self) -> None:
        """Log the changes of a statement that succeeded. If that raises SqlError, the statement must be undone."""
        if not self._pending:
            return
        try:
            if self._tx is None:
                self._tx = self._log.begin(self._user)
            self._write(self._tx)
        except (OSError, SqlError) as problem:
            self._is_incomplete = True  # part of it may be written
            if isinstance(problem, SqlError):
                raise
            raise SqlError(
                _NOT_LOGGED, _DISK_FULL, detail=f"The change log cannot be written: {problem}"
            ) from problem
        finally:
            self._pending.truncate()

    def statement_failed(self) -> None:
        """Log the changes of a statement that failed in a transaction that continues."""
        if not self._pending:
            return
        self.undo(0)
        try:
            self.flush()
        except SqlError:
            log.exception("The rollback of a failed statement could not be written to the change log.")

    def _write(self, tx: int) -> None:
        lsns: list[int] = []
        for entry in self._pending.drain():
            if isinstance(entry, UndoRecord):
                self._log.discard(tx, lsns[entry.mark])
                lsns.append(lsns[entry.mark])
            elif entry.row_images:
                lsns.append(self._log.log_changes(tx, entry.table, entry.row_images))
            else:
                lsns.append(self._log.log_truncate(tx, entry.table))

    # ---- the transaction ------------------------------------------------------------------------
    def log_position(self) -> int:
        """Return the current position in the log of the transaction, for a savepoint."""
        return self._log.end if self._tx is not None else 0

    def rollback_to(self, place: int) -> None:
        """Log a ROLLBACK TO a savepoint."""
        self._pending.truncate()
        if self._tx is None:
            return
        try:
            self._log.discard(self._tx, max(place, self._log.begin_lsn(self._tx) + 1))
        except OSError:
            self._is_incomplete = True
            log.exception(
                "A ROLLBACK TO could not be written to the change log. Its transaction cannot be committed."
            )

    def commit(self, con: duckdb.DuckDBPyConnection, commit: Callable[[], None]) -> None:
        """Commit in DuckDB by `commit`, and in the change log."""
        self.flush()
        tx = self._tx
        if tx is None:
            commit()
            return
        if self._is_incomplete:
            raise SqlError(
                _NOT_LOGGED, _DISK_FULL, detail="A part of the transaction is missing from the change log."
            )
        with self._log.committing():
            if self._log.durable:
                logged_commits.record(con, self._database, self._log.begin_lsn(tx))
                try:
                    self._log.sync()
                except OSError as problem:
                    raise SqlError(
                        _NOT_LOGGED, _DISK_FULL, detail=f"The change log cannot be written: {problem}"
                    ) from problem
            try:
                commit()
            except duckdb.Error as problem:
                if is_durable(problem):
                    self._finish(self._log.log_commit)
                raise
            self._finish(self._log.log_commit)

    def commit_empty(self) -> None:
        """Commit a transaction that has nothing to commit in DuckDB because all its changes were undone."""
        self._pending.truncate()
        if self._tx is not None:
            with self._log.committing():
                self._finish(self._log.log_commit)

    def rollback(self) -> None:
        """Log that the transaction was rolled back or lost."""
        self._pending.truncate()
        self._finish(self._log.log_rollback)

    def _finish(self, end: Callable[[int], None]) -> None:
        tx, self._tx, self._is_incomplete = self._tx, None, False
        if tx is not None:
            end(tx)


def recover(changes: ChangeLog, databases: Databases, con: duckdb.DuckDBPyConnection) -> None:
    """End transactions that an earlier server left open in the change log, according to the state of the databases.

    Tables that no longer exist are removed.
    """
    for name in changes.fully_logged_databases():
        if name not in databases:
            changes.forget(name)
            continue
        changes.retain_tables(name, stored_names.table_numbers(con, name))
    committed: set[int] = set()
    for name in databases.names():
        committed |= logged_commits.find_all(con, name)
    if changes.has_open_transactions:
        changes.recover(committed.__contains__)
    if committed and not changes.has_unwritten_ends:
        changes.sync()  # before the rows are deleted that prove the commits
        for name in databases.names():
            logged_commits.clear(con, name)
