"""What one session's transaction changes in tables whose rows are logged in full, on its way to the log of changes.

A statement's changes wait until it has succeeded: one that is run again, on a fresher snapshot, leaves nothing. Those
of one that fails after it has changed rows are logged with a DISCARD behind them, as are those that ROLLBACK TO undoes.
A replay of the journal does not come by here.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable
from itertools import chain

import duckdb
import pyarrow as pa

from ...wire.code_sets import codec_of_locale
from ..changes.images import TableImages
from ..changes.log import ChangeLog
from ..changes.records import RecordKind
from ..errors import SqlError, is_durable
from ..schema import logged_commits, stored_names
from ..schema.catalog import TableInfo
from ..schema.databases import Databases
from .noted_rows import NotedRows, Undone

log = logging.getLogger("informix_arrow.server")

_NO_ROOM = -131
_NOT_LOGGED = -458
_CHANGED = -710


def user_number(name: str) -> int:
    """The number of a user, which a server takes from its operating system: here one that is always the same."""
    return 1000 + zlib.crc32(name.encode()) % 64000


_AT_A_TIME = 4096
"""Rows whose images are made, and wait, together."""


class RowChanges:
    """One session's. Used by one thread at a time. Images beyond some MiB wait in a file in `temporary`."""

    def __init__(
        self, changes: ChangeLog, databases: Databases, user: str, temporary: str | None = None
    ) -> None:
        self._log = changes
        self._databases = databases
        self._user = user_number(user)
        self._noted = NotedRows(temporary)
        self._tx: int | None = None  # of the log
        self._database = ""  # whose rows are changed
        self._broken = False  # what had to be logged could not be
        self._images: tuple[TableInfo, TableImages] | None = None

    # ---- what statements change -----------------------------------------------------------------
    def missed(self, info: TableInfo) -> bool:
        """Whether a statement was planned before its table was logged, or when it still was: it must be planned
        again."""
        return not info.temporary and info.full_rows != self._log.is_full(info.database, info.tabid)

    def require_current(self, info: TableInfo) -> None:
        """-710 for a statement that `missed` its table's switch. To be called with the locks held."""
        if self.missed(info):
            raise SqlError(_CHANGED, 0, 0, info.name)

    def inserted(self, info: TableInfo, rows: pa.Table) -> None:
        """Rows that were inserted, all columns in storage form; nothing for a table that is not logged."""
        self._note(info, RecordKind.INSERT, rows)

    def deleted(self, info: TableInfo, rows: pa.Table) -> None:
        """Rows that were deleted."""
        self._note(info, RecordKind.DELETE, rows)

    def updated(self, info: TableInfo, before: pa.Table, after: pa.Table) -> None:
        """Rows that were changed, as they were and as they are, in the same order."""
        if not info.full_rows or not before.num_rows:
            return
        images = self._images_of(info)
        for start in range(0, before.num_rows, _AT_A_TIME):
            old = images.of(before.slice(start, _AT_A_TIME))
            new = images.of(after.slice(start, _AT_A_TIME))
            pairs = (
                ((RecordKind.UPDBEF, was), (RecordKind.UPDAFT, now))
                for was, now in zip(old, new, strict=True)
            )
            self._noted.add(images.table, list(chain.from_iterable(pairs)))

    def truncated(self, info: TableInfo) -> None:
        """A table that was emptied by TRUNCATE."""
        if info.full_rows:
            self._noted.add(self._images_of(info).table, ())

    def _note(self, info: TableInfo, kind: RecordKind, rows: pa.Table) -> None:
        if info.full_rows and rows.num_rows:
            images = self._images_of(info)
            for start in range(0, rows.num_rows, _AT_A_TIME):
                bodies = images.of(rows.slice(start, _AT_A_TIME))
                self._noted.add(images.table, [(kind, body) for body in bodies])

    def _images_of(self, info: TableInfo) -> TableImages:
        self._database = info.database
        if self._images is None or self._images[0] is not info:
            locale = self._databases.get(info.database).locale
            self._images = info, TableImages(info, codec_of_locale(locale))
        return self._images[1]

    # ---- statements -----------------------------------------------------------------------------
    @property
    def mark(self) -> int:
        """What has been noted of the statement so far."""
        return len(self._noted)

    def forget(self, mark: int = 0) -> None:
        """What was noted from a mark on is done again, or ended with its transaction."""
        self._noted.cut(mark)

    def undo(self, mark: int) -> None:
        """What was noted from a mark on was undone: a routine's statement has failed, the routine goes on."""
        if len(self._noted) > mark:
            self._noted.undone(mark)

    def keep(self) -> None:
        """The statement has succeeded. SqlError when that cannot be logged: it has to be undone then."""
        if not self._noted:
            return
        try:
            if self._tx is None:
                self._tx = self._log.begin(self._user)
            self._write(self._tx)
        except (OSError, SqlError) as problem:
            self._broken = True  # a part of it may be there
            if isinstance(problem, SqlError):
                raise
            raise SqlError(
                _NOT_LOGGED, _NO_ROOM, detail=f"the log of changes cannot be written: {problem}"
            ) from problem
        finally:
            self._noted.cut()

    def failed(self) -> None:
        """The statement has failed, its transaction goes on."""
        if not self._noted:
            return
        self.undo(0)
        try:
            self.keep()
        except SqlError:
            log.exception("a failed statement was not logged")

    def _write(self, tx: int) -> None:
        places: list[int] = []
        for one in self._noted.take():
            if isinstance(one, Undone):
                self._log.discard(tx, places[one.mark])
                places.append(places[one.mark])
            elif one.images:
                places.append(self._log.changes(tx, one.table, one.images))
            else:
                places.append(self._log.truncated(tx, one.table))

    # ---- the transaction ------------------------------------------------------------------------
    def place(self) -> int:
        """For a savepoint: what the transaction logs from now on lies behind it."""
        return self._log.end if self._tx is not None else 0

    def rolled_back_to(self, place: int) -> None:
        """ROLLBACK TO a savepoint."""
        self._noted.cut()
        if self._tx is None:
            return
        try:
            self._log.discard(self._tx, max(place, self._log.began(self._tx) + 1))
        except OSError:
            self._broken = True
            log.exception("a ROLLBACK TO was not logged; its transaction cannot be committed")

    def commit(self, con: duckdb.DuckDBPyConnection, commit: Callable[[], None]) -> None:
        """COMMIT in DuckDB by `commit`, and in the log."""
        self.keep()
        tx = self._tx
        if tx is None:
            commit()
            return
        if self._broken:
            raise SqlError(_NOT_LOGGED, _NO_ROOM, detail="the log of changes lacks some of the transaction")
        with self._log.committing():
            if self._log.durable:
                logged_commits.note(con, self._database, self._log.began(tx))
                try:
                    self._log.sync()
                except OSError as problem:
                    raise SqlError(
                        _NOT_LOGGED, _NO_ROOM, detail=f"the log of changes cannot be written: {problem}"
                    ) from problem
            try:
                commit()
            except duckdb.Error as problem:
                if is_durable(problem):
                    self._ended(self._log.committed)
                raise
            self._ended(self._log.committed)

    def commit_nothing(self) -> None:
        """COMMIT of a transaction that has nothing to commit in DuckDB: all that it did was undone."""
        self._noted.cut()
        if self._tx is not None:
            with self._log.committing():
                self._ended(self._log.committed)

    def rollback(self) -> None:
        """The transaction is rolled back, or lost."""
        self._noted.cut()
        self._ended(self._log.rolled_back)

    def _ended(self, end: Callable[[int], None]) -> None:
        tx, self._tx, self._broken = self._tx, None, False
        if tx is not None:
            end(tx)


def recover(changes: ChangeLog, databases: Databases, con: duckdb.DuckDBPyConnection) -> None:
    """End what an earlier server has left open in the log: as its databases say. Tables that are gone are forgotten."""
    for name in changes.full_databases():
        if name not in databases:
            changes.forget(name)
            continue
        changes.keep_only(name, stored_names.table_numbers(con, name))
    committed: set[int] = set()
    for name in databases.names():
        committed |= logged_commits.noted(con, name)
    if changes.unfinished:
        changes.recover(committed.__contains__)
    if committed and not changes.owes:
        changes.sync()  # what proves that they were committed goes
        for name in databases.names():
            logged_commits.forget(con, name)
