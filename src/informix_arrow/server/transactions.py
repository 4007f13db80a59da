"""A session's transaction on its DuckDB connection: begin, commit, rollback, savepoints, atomic statements.

DuckDB aborts a transaction at any error, and keeps it on the snapshot that its first statement saw. Informix does
neither. So a transaction is a journal of what it wrote (journal.py), and begins again from that wherever Informix
would go on: after an error, and where another session has committed something that a statement must see.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import duckdb

from .catalog import TableInfo
from .errors import ISAM_INTERRUPTED, ISAM_LOCK_TIMEOUT, ISAM_LOCKED, SqlError, from_duckdb, is_conflict
from .journal import Journal, Recorder, Savepoint
from .locks import Claim, Table

if TYPE_CHECKING:
    from .databases import DatabaseRecord
    from .engine import Engine

T = TypeVar("T")

_REPLAYED_FOR_READING = 100_000
"""Rows that a transaction may have loaded when a query begins it again on a fresh snapshot; with more, its queries
go on seeing other sessions' work as it was before."""

_PATIENCE = 20
"""Times that a statement is tried again when other sessions keep committing before it."""

_PAUSE = 0.02
"""Seconds between tries when DuckDB sees a conflict that no lock explains."""


class Stale(Exception):
    """Another session has committed since the statement's snapshot was taken: it must be run again."""


class Transactions:
    """Used by one thread at a time. `record` and `_forget_tables` are SessionState's."""

    engine: Engine
    con: duckdb.DuckDBPyConnection
    database: str | None
    temp_tables: dict[str, TableInfo]
    interrupted: threading.Event

    def __init__(self) -> None:
        self.writer = Recorder(self.con)
        self.in_transaction = False
        self.transactions = 0  # begun so far: what belongs to one knows by this that it is over
        self.lock_wait = 0.0  # seconds; negative = for ever
        self.left = threading.Event()  # the client has gone
        self.kept_locks: set[Table] = set()  # by LOCK TABLE in a database without transactions
        self._open = False  # a DuckDB transaction is open
        self._snapshot = 0  # commits that it sees: at least those up to this number
        self._writing = False  # `write` is on the stack
        self._journal = Journal()
        self._begin_tables: dict[str, TableInfo] = {}
        self._ddl = False  # this transaction (or statement) has changed the schema
        self._interrupting = threading.Lock()
        self._mending = False  # nothing is to be interrupted

    @property
    def record(self) -> DatabaseRecord:
        raise NotImplementedError

    def _forget_tables(self) -> None:
        raise NotImplementedError

    @property
    def careful(self) -> bool:
        """Whether more than the current statement would have to be done again if DuckDB aborted it."""
        return self.in_transaction

    @property
    def defining(self) -> bool:
        """Whether the open transaction has changed the schema."""
        return self._ddl

    # ---- begin and end --------------------------------------------------------------------------
    def begin(self) -> None:
        """BEGIN WORK: -535 in a transaction, -256 in a database without logging."""
        if not self.record.logged:
            raise SqlError(-256)
        if self.in_transaction:
            raise SqlError(-535)
        self.in_transaction = True
        self.transactions += 1
        self._journal = Journal()
        self._begin_tables = dict(self.temp_tables)
        self._ddl = False

    def begin_implicitly(self) -> None:
        """Every statement of an ANSI database is part of a transaction (SQLI section 12)."""
        if self.database is not None and not self.in_transaction and self.record.ansi:
            self.begin()

    def commit(self) -> None:
        """COMMIT WORK: -255 without a transaction, -256 in a database without logging. In an ANSI database there
        may be nothing to commit yet."""
        if self._nothing_to_end():
            return
        if self._open:
            try:
                with self.undisturbed():
                    self.con.execute("COMMIT")
            except duckdb.Error as e:
                self._duck_rollback()
                self.temp_tables = self._begin_tables
                self._forget_tables()
                self._ended(committed=False)
                raise from_duckdb(e) from e
            self._open = False
        self._publish()
        self._ended(committed=True)

    def rollback(self) -> None:
        """ROLLBACK WORK: errors as those of `commit`."""
        if self._nothing_to_end():
            return
        self._duck_rollback()
        if self._ddl:
            self.temp_tables = self._begin_tables
            self._forget_tables()
        self._ddl = False
        self._ended(committed=False)

    def _nothing_to_end(self) -> bool:
        if self.in_transaction:
            return False
        if self.database is not None:
            if self.record.ansi:
                return True
            if not self.record.logged:
                raise SqlError(-256)
        raise SqlError(-255)

    def _ended(self, *, committed: bool) -> None:
        self.in_transaction = False
        self._journal = Journal()
        self.engine.locks.release(self, committed=committed)

    # ---- savepoints -------------------------------------------------------------------------------
    def savepoint(self, name: str, unique: bool = False) -> None:
        """SAVEPOINT: -255 outside a transaction; a name may be used again unless it is unique (-16399
        then)."""
        if not self.in_transaction:
            raise SqlError(-255)
        points = self._journal.savepoints
        for point in points:
            if point.name == name and (point.unique or unique):
                raise SqlError(-16399, 0, 0, name)
        points.append(Savepoint(name, len(self._journal.writes), unique, dict(self.temp_tables)))

    def _find_savepoint(self, name: str) -> int:
        if not self.in_transaction:
            raise SqlError(-255)
        points = self._journal.savepoints
        for index in range(len(points) - 1, -1, -1):
            if not name or points[index].name == name:
                return index
        raise SqlError(-16398, 0, 0, name)

    def release_savepoint(self, name: str) -> None:
        """RELEASE SAVEPOINT: it and those set after it are forgotten, the work stays."""
        del self._journal.savepoints[self._find_savepoint(name) :]

    def rollback_to_savepoint(self, name: str = "") -> None:
        """Undo what came after the savepoint; the savepoint stays, and so do the locks."""
        index = self._find_savepoint(name)
        point = self._journal.savepoints[index]
        del self._journal.savepoints[index + 1 :]
        if point.position < len(self._journal.writes):
            del self._journal.writes[point.position :]
            self._restart()
        if self._ddl:
            self.temp_tables = dict(point.temp_tables)
            self._forget_tables()

    # ---- DuckDB's transaction -----------------------------------------------------------------------
    def _publish(self) -> None:
        if self._ddl:
            self._ddl = False
            self.engine.bump_schema()

    def _duck_begin(self) -> None:
        self._snapshot = self.engine.locks.sequence
        with (
            self.undisturbed()
        ):  # an interrupt after it has taken effect would leave a transaction that nobody knows of
            self.con.execute("BEGIN TRANSACTION")
        self._open = True

    def _duck_rollback(self) -> None:
        if self._open:
            self._open = False
            try:
                # A ROLLBACK that is interrupted leaves DuckDB in the aborted transaction.
                with self.undisturbed():
                    self.con.execute("ROLLBACK")
            except duckdb.Error:
                # the connection may have rolled back by itself
                return

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """While a transaction begins, ends or is put together again: an interrupt is meant for a statement, and here
        would cost the transaction, or leave open whether it took effect."""
        with self._interrupting:
            before, self._mending = self._mending, True
        try:
            yield
        finally:
            self._mending = before

    def interrupt_engine(self) -> None:
        """Stop what DuckDB does for this session. From other threads."""
        with self._interrupting:
            if not self._mending:
                self.con.interrupt()

    def _restart(self) -> None:
        """A new DuckDB transaction with everything that the journal holds; the transaction is lost if that
        fails."""
        self._duck_rollback()
        if not self._journal.writes:
            return
        try:
            self._duck_begin()
            with self.undisturbed():
                self._journal.replay(self.con)
        except duckdb.Error as e:
            self._duck_rollback()
            self.temp_tables = self._begin_tables
            self._forget_tables()
            self._ended(committed=False)
            raise SqlError(
                -458, ISAM_LOCKED, 0, "", f"the transaction could not be kept after an error: {e}"
            ) from e

    def _failed(self, error: duckdb.Error) -> SqlError:
        """The SqlError for a DuckDB error outside `write`; mends the transaction that DuckDB has aborted."""
        if self._open and not self.writer.log:
            self._restart()
        return from_duckdb(error)

    def restart_statement(self) -> None:
        """Begin again after DuckDB has aborted a statement's own transaction (never inside an explicit
        one)."""
        self._duck_rollback()
        self.writer.log = []
        self._duck_begin()

    # ---- other sessions -----------------------------------------------------------------------------
    def claim(self, sqlcode: int) -> Claim:
        """How this session asks for a lock now; `sqlcode` when it does not get it."""
        return Claim(self, self.lock_wait, lambda: self.interrupted.is_set() or self.left.is_set(), sqlcode)

    def is_stale(self, tables: Iterable[Table]) -> bool:
        """Whether another session has changed one of the tables since the open DuckDB transaction began."""
        committed_at = self.engine.locks.committed_at
        return self._open and any(committed_at(table) > self._snapshot for table in tables)

    def refresh(self, tables: Iterable[Table]) -> None:
        """See what others have committed before this query. Stale inside `write`, which begins again."""
        if self.is_stale(tables):
            if self._writing:
                raise Stale
            if self._journal.rows <= _REPLAYED_FOR_READING:
                self._restart()

    def require_fresh(self, tables: Iterable[Table]) -> None:
        """Stale when another session has changed one of the tables; inside `write`."""
        if self.is_stale(tables):
            raise Stale

    # ---- running ------------------------------------------------------------------------------------
    def read(self, body: Callable[[], T]) -> T:
        """Run something that only reads."""
        try:
            return body()
        except duckdb.Error as e:
            raise self._failed(e) from e

    def write(self, body: Callable[[], T]) -> T:
        """Run something that writes, as one atomic statement: in the open transaction, or in one of its own.

        Where another session has committed after the statement's snapshot it is run again on a fresh one; so it is
        at a conflict that only DuckDB sees (of schema changes), while the lock mode allows. Inside another `write`
        it is a part of that.
        """
        if self._writing:
            return body()
        committed = False
        try:
            for attempt in itertools.count(1):
                try:
                    result = self._write_once(body)
                    committed = True
                    return result
                except Stale:
                    if self.interrupted.is_set():
                        raise SqlError(-213, ISAM_INTERRUPTED) from None
                    if attempt > _PATIENCE:
                        raise SqlError(
                            -244, ISAM_LOCKED, 0, "", "other sessions keep changing its tables"
                        ) from None
                except SqlError as e:
                    if not is_conflict(e) or self.interrupted.is_set():
                        raise
                    if self.lock_wait >= 0 and attempt * _PAUSE > max(self.lock_wait, 3 * _PAUSE):
                        isam = ISAM_LOCK_TIMEOUT if self.lock_wait else e.isamcode
                        raise SqlError(e.sqlcode, isam, 0, e.near, e.detail) from e
                    if self.interrupted.wait(_PAUSE):
                        raise SqlError(-213, ISAM_INTERRUPTED) from e
            raise AssertionError("unreachable")
        finally:
            if not self.in_transaction:
                self.engine.locks.release(self, committed=committed, keep=self.kept_locks)

    def _write_once(self, body: Callable[[], T]) -> T:
        tables, ddl = dict(self.temp_tables), self._ddl
        self.writer.log = []
        self._writing = True
        if not self.in_transaction:
            self._ddl = ddl = False
        try:
            if not self._open:
                self._duck_begin()
            result = body()
            if self.in_transaction:
                self._journal.writes += self.writer.log
            else:
                with self.undisturbed():
                    self.con.execute("COMMIT")
                self._open = False
                self._publish()
            return result
        except Exception as e:
            untouched = (
                isinstance(e, SqlError) and not self.writer.log and not isinstance(e.__cause__, duckdb.Error)
            )
            self.temp_tables = tables
            if self._ddl != ddl:
                self._ddl = ddl
                self._forget_tables()
            if not self.in_transaction:
                self._duck_rollback()
            elif not untouched:
                self.writer.log = []
                self._restart()
            if isinstance(e, duckdb.Error):
                raise from_duckdb(e) from e
            raise
        finally:
            self._writing = False
            self.writer.log = []
