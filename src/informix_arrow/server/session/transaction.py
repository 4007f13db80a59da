"""A session's transaction: begin, commit, rollback, savepoints, atomic statements, and statements inside those.

DuckDB aborts a transaction at any error and keeps it on the snapshot of its first statement. Informix does neither. So
the session keeps a journal of the transaction's writes (journal.py). Where Informix would continue, after an error or
when a statement must see a newer commit of another session, a new DuckDB transaction starts and replays the journal.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ParamSpec, TypeVar

import duckdb

from ..catalog.catalog import SqlConnection, TableInfo
from ..catalog.databases import Databases
from ..errors import (
    ISAM_INTERRUPTED,
    ISAM_LOCK_TIMEOUT,
    ISAM_LOCKED,
    SqlError,
    from_duckdb,
    is_conflict,
    is_durable,
)
from .current_database import CurrentDatabase
from .deferred_constraints import DeferredConstraints
from .duck_transaction import DuckTransaction
from .journal import Journal, ReplayMismatch, Savepoint, WriteRecorder
from .lock_owner import LockOwner
from .locks import TableKey
from .open_result import OpenResult
from .row_changes import RowChangeLogger
from .schema_version import SessionSchema

P = ParamSpec("P")
T = TypeVar("T")

_MAX_REPLAY_ROWS = 100_000
"""Loaded rows up to which a query restarts the transaction on a fresh snapshot. With more, queries of the transaction
keep their old snapshot.
"""

_MAX_ATTEMPTS = 20
"""Number of attempts for a statement while other sessions keep committing before it."""

_INVALIDATED = "the database was invalidated because checkpointing failed, while the cursor was open"

_RETRY_SECONDS = 0.02
"""Seconds between attempts when DuckDB reports a conflict that no lock explains."""


class StaleSnapshot(Exception):
    """Another session has committed since the statement's snapshot was taken: the statement must be run again."""


_RETRYABLE = (StaleSnapshot, ReplayMismatch)
"""Exceptions after which a statement is run again on a fresh snapshot."""


@dataclass(frozen=True, slots=True)
class _StatementMark:
    """The state at the start of a statement inside `write`."""

    writes: int
    nested_end_count: int
    temp_tables: dict[str, TableInfo]
    change_mark: int


@dataclass(eq=False, repr=False)
class SessionTransaction:
    """The transactions of one session, one after the other. Used by one thread at a time.

    Attributes
    ----------
    recorder
        Executes and records writes, inside `write`.
    active
        True while a transaction is open as the client sees it.
    number
        Number of transactions begun so far. State of a transaction is outdated if it has an older number.
    nested_end_count
        Transactions that ended inside a statement so far. Such a statement cannot be restarted as a whole.
    change_logger
        Gets the rows that a statement changes in tables that are logged in full.
    deferred_constraints
        The foreign keys that `commit` checks.
    """

    _duck: DuckTransaction
    _lock_owner: LockOwner
    _database: CurrentDatabase
    _schema: SessionSchema
    change_logger: RowChangeLogger
    active: bool = field(default=False, init=False)
    number: int = field(default=0, init=False)
    nested_end_count: int = field(default=0, init=False)
    _temp_tables_at_begin: dict[str, TableInfo] = field(default_factory=dict, init=False)
    _writing: bool = field(default=False, init=False)  # `write` is on the stack
    _detached: bool = field(default=False, init=False)  # DuckDB's transaction, between two statements
    _nesting_depth: int = field(default=0, init=False)  # of `run_nested`

    def __post_init__(self) -> None:
        self.recorder = WriteRecorder(
            self._duck, partial(_execute_by_key, self._duck, self._database.databases), self._duck.temporary
        )
        self.deferred_constraints = DeferredConstraints()
        self._journal = Journal()

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """DuckDB's connection, for reading. Use it for one statement only: later another query may run on it."""
        return self._duck.con

    @property
    def catalog(self) -> SqlConnection:
        """DuckDB's connection for queries of the catalogue. Their texts repeat, so they are parsed once."""
        return self._duck

    @property
    def must_preserve_work(self) -> bool:
        """True if DuckDB aborting the current statement would lose more than that statement.

        That is the case in a transaction and after earlier statements of a routine.
        """
        return self.active or self._nesting_depth > 0

    @property
    def is_ansi(self) -> bool:
        """True if the open database is ANSI: text that is too long for its column is refused there and not
        truncated.
        """
        return self._database.name is not None and self._database.record.ansi

    @property
    def is_clean(self) -> bool:
        """True if nothing has begun that others do not see yet or that sees less than others do."""
        return not (self._duck.open or self._schema.uncommitted)

    # ---- begin and end --------------------------------------------------------------------------
    def begin(self) -> None:
        """BEGIN WORK: -535 in a transaction, -256 in a database without logging."""
        if not self._database.record.logged:
            raise SqlError(-256)
        if self.active:
            raise SqlError(-535)
        self.active = True
        self.number += 1
        self._journal = Journal()
        self._temp_tables_at_begin = dict(self._schema.temp_tables)
        self._schema.uncommitted = False

    def begin_implicitly(self) -> None:
        """Begin a transaction in an ANSI database, where every statement is part of one (SQLI section 12)."""
        if self._database.name is not None and not self.active and self._database.record.ansi:
            self.begin()

    def buffer_open_rows(self, *, ending: bool) -> None:
        """Read the remaining rows of running queries into a buffer, before the transaction ends or returns to a
        savepoint.

        An interrupt loses the rows that are not read yet: the next fetch raises -213. -271 is raised if there is no
        room for the rows. With `ending`, results that end with the transaction are not buffered.
        """
        self._duck.buffer_open_rows(ending=ending)

    def commit(self) -> None:
        """COMMIT WORK: -255 without a transaction, -256 in a database without logging.

        In an ANSI database there may be nothing to commit yet. Raises -691 if a deferred foreign key does not hold;
        everything is rolled back then.
        """
        if self._is_commit_noop():
            return
        self._duck.finish_open_rows()  # first, so that nothing has ended yet if there is no room for the rows
        self.resume()
        if self.deferred_constraints.pending_checks:
            try:
                self.write(self.deferred_constraints.check)
            except SqlError:
                self.rollback()
                raise
        if self._duck.open:
            try:
                self._commit()
            except duckdb.Error as e:
                self._transaction_lost()
                raise from_duckdb(e) from e
            except SqlError:
                self._transaction_lost()
                raise
        else:
            self.change_logger.commit_empty()
        self._schema.publish()
        self._finish(committed=True)

    def _commit(self) -> None:
        """Commit in DuckDB.

        An error after the commit has taken effect is not reported to the client. It is noted for the next statement.
        """
        try:
            self.change_logger.commit(self._duck.con, self._duck.commit)
        except duckdb.Error as e:
            self._database.databases.note_invalidated(e)
            if not is_durable(e):
                raise

    def rollback(self) -> None:
        """ROLLBACK WORK: the same errors as `commit`."""
        if self._is_commit_noop():
            return
        self._detached = False
        self._duck.finish_open_rows()
        self._duck.rollback()
        self.change_logger.rollback()
        if self._schema.uncommitted:
            self._schema.temp_tables = self._temp_tables_at_begin
            self._schema.invalidate()
        self._schema.uncommitted = False
        self._finish(committed=False)

    def _is_commit_noop(self) -> bool:
        if self.active:
            return False
        if self._database.name is not None:
            if self._database.record.ansi:
                return True
            if not self._database.record.logged:
                raise SqlError(-256)
        raise SqlError(-255)

    def _transaction_lost(self) -> None:
        """Reset the state after the whole transaction was lost."""
        self._duck.rollback()
        self.change_logger.rollback()
        self._schema.temp_tables = self._temp_tables_at_begin
        self._schema.invalidate()
        self._finish(committed=False)

    def _finish(self, *, committed: bool) -> None:
        self._detached = False
        self.active = False
        self.deferred_constraints.clear()
        self._journal = Journal()
        self.recorder.clear()
        self._lock_owner.release(committed=committed)

    # ---- savepoints -------------------------------------------------------------------------------
    def savepoint(self, name: str, unique: bool = False) -> None:
        """SAVEPOINT: -255 outside a transaction, -16399 if a savepoint of the name exists and either of the two is
        unique.
        """
        if not self.active:
            raise SqlError(-255)
        points = self._journal.savepoints
        for point in points:
            if point.name == name and (point.unique or unique):
                raise SqlError(-16399, 0, 0, name)
        tables = dict(self._schema.temp_tables)
        points.append(
            Savepoint(name, len(self._journal.writes), unique, tables, self.change_logger.log_position())
        )

    def _find_savepoint(self, name: str) -> int:
        if not self.active:
            raise SqlError(-255)
        points = self._journal.savepoints
        for index in range(len(points) - 1, -1, -1):
            if not name or points[index].name == name:
                return index
        raise SqlError(-16398, 0, 0, name)

    def release_savepoint(self, name: str) -> None:
        """RELEASE SAVEPOINT: remove it and those set after it; the work stays. -16398 if there is none."""
        del self._journal.savepoints[self._find_savepoint(name) :]

    def rollback_to_savepoint(self, name: str = "") -> None:
        """Undo everything after a savepoint, without a name the last one. The savepoint and the locks stay."""
        index = self._find_savepoint(name)
        self._duck.buffer_open_rows()  # first, so that nothing is undone yet if there is no room for the rows
        self.resume()
        point = self._journal.savepoints[index]
        del self._journal.savepoints[index + 1 :]
        if point.position < len(self._journal.writes):
            del self._journal.writes[point.position :]
            self.change_logger.rollback_to(point.log_position)
            self._restart_and_replay()
        if self._schema.uncommitted:
            self._schema.temp_tables = dict(point.temp_tables)
            self._schema.invalidate()

    # ---- recovery -----------------------------------------------------------------------------------
    def _restart_and_replay(self) -> None:
        """Start a new DuckDB transaction and replay the journal; the transaction is lost if that fails."""
        self._duck.rollback()
        if not self._journal.writes:
            return
        try:
            self._replay()
        except (duckdb.Error, ReplayMismatch) as e:
            self._transaction_lost()
            raise SqlError(
                -458, ISAM_LOCKED, 0, "", f"The transaction could not be continued after an error: {e}"
            ) from e

    def _replay(self) -> None:
        for attempt in itertools.count(1):
            self._duck.begin()
            try:
                with self._duck.uninterruptible():
                    self.recorder.replay(self._journal.writes)
                return
            except ReplayMismatch:
                self._duck.rollback()
                if attempt == _MAX_ATTEMPTS:
                    raise

    def recover_from_error(self, error: duckdb.Error) -> SqlError:
        """Return the SqlError for a DuckDB error outside `write` and recover the transaction that DuckDB aborted."""
        self._database.databases.note_invalidated(error)
        if self._duck.open and not self.recorder.statement_writes:
            self._restart_and_replay()
        return from_duckdb(error)

    def detach(self) -> None:
        """End DuckDB's transaction because its database was detached.

        Called from another thread between two statements, while the session is idle.
        """
        self._detached = self._duck.open or self._detached
        self._duck.detach(from_duckdb(duckdb.IOException(_INVALIDATED)))

    def resume(self) -> None:
        """Restart a detached transaction. If that fails, raise -458: the transaction is lost."""
        if self._detached:
            self._detached = False
            self._restart_and_replay()

    def restart_statement(self) -> None:
        """Restart after DuckDB aborted a statement's own transaction (never inside an explicit one)."""
        self._duck.rollback()
        self.recorder.statement_writes = []
        self.change_logger.discard()
        self._duck.begin()

    # ---- other sessions -----------------------------------------------------------------------------
    def refresh_snapshot(self, tables: Iterable[TableKey]) -> None:
        """Make the commits of other sessions visible to this query.

        Inside `write` raise `StaleSnapshot`, which restarts it.
        """
        if self._duck.is_stale(tables):
            if self._writing:
                raise StaleSnapshot
            if self._journal.rows <= _MAX_REPLAY_ROWS:
                self._restart_and_replay()

    def refresh_schema(self) -> None:
        """Make schema changes of other sessions visible before a statement is planned."""
        if self._duck.open and self._duck.has_stale_schema and not self._writing:
            self._restart_and_replay()

    def require_fresh(self, tables: Iterable[TableKey]) -> None:
        """Raise `StaleSnapshot` if another session has changed one of the tables. For use inside `write`."""
        if self._duck.is_stale(tables):
            raise StaleSnapshot

    # ---- running ------------------------------------------------------------------------------------
    def read(self, body: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Call a function that only reads."""
        try:
            return body(*arguments, **named)
        except duckdb.Error as e:
            raise self.recover_from_error(e) from e
        except MemoryError as e:  # raised by Arrow while it reads DuckDB's rows
            raise self.recover_from_error(duckdb.OutOfMemoryException(str(e))) from e

    def stream(self, query: str, parameters: dict[str, object] | None, batch_rows: int) -> OpenResult:
        """Run a query whose rows are produced while they are read.

        They are those of this moment, whatever runs later.
        """
        return self.read(self._duck.stream, query, parameters, batch_rows, self.recover_from_error)

    def fetch_rows(self, sql: str, values: Any = None) -> list[tuple[Any, ...]]:
        """Run a query that is likely to be repeated and has few rows; return all of them."""
        return self.read(self._duck.fetch_rows, sql, values)

    def fetch_first(self, sql: str, values: Any, most: int) -> list[tuple[Any, ...]]:
        """Run a query that is likely to be repeated; return at most `most` rows."""
        return self.read(self._duck.fetch_first, sql, values, most)

    def write(self, body: Callable[[], T], *, single: bool = False) -> T:
        """Run a function that writes as one atomic statement, in the open transaction or in one of its own.

        If another session has committed after the statement's snapshot, the statement runs again on a fresh one. The
        same happens at a conflict that only DuckDB detects (of schema changes), as long as the lock mode allows. Inside
        another `write` the function is part of that.

        With `single` the function takes its locks first and then runs at most one DuckDB statement. Outside a
        transaction that statement is atomic by itself and sees everything committed before the locks were taken.
        """
        if self._writing:
            return body()
        self._duck.free_connection()  # before any write: a query that fails now costs only work outside the journal
        owner = self._lock_owner
        committed = False
        try:
            for attempt in itertools.count(1):
                try:
                    result = self._write_once(body, single)
                    committed = True
                    return result
                except _RETRYABLE:
                    if owner.interrupted.is_set():
                        raise SqlError(-213, ISAM_INTERRUPTED) from None
                    if attempt > _MAX_ATTEMPTS:
                        raise _too_many_conflicts() from None
                except SqlError as e:
                    if not is_conflict(e) or owner.interrupted.is_set():
                        raise
                    if owner.lock_timeout >= 0 and attempt * _RETRY_SECONDS > max(
                        owner.lock_timeout, 3 * _RETRY_SECONDS
                    ):
                        isam = ISAM_LOCK_TIMEOUT if owner.lock_timeout else e.isamcode
                        raise SqlError(e.sqlcode, isam, 0, e.near, e.detail) from e
                    if owner.interrupted.wait(_RETRY_SECONDS):
                        raise SqlError(-213, ISAM_INTERRUPTED) from e
            raise AssertionError("unreachable")
        finally:
            if not self.active:
                owner.release(committed=committed, keep=owner.held_tables)

    def _write_once(self, body: Callable[[], T], single: bool) -> T:
        schema = self._schema
        tables, changed, stamp = dict(schema.temp_tables), schema.uncommitted, schema.stamp
        self.recorder.statement_writes = []
        self._writing = True
        if not self.active:
            schema.uncommitted = changed = False
        try:
            if not self._duck.open and (self.active or not single):
                self._duck.begin()
            result = body()
            if self.active:
                self.change_logger.flush()
                self._journal.writes += self.recorder.statement_writes
            elif self._duck.open:
                self._commit()
                schema.publish()
            return result
        except Exception as e:
            untouched = (
                isinstance(e, SqlError)
                and not self.recorder.statement_writes
                and not isinstance(e.__cause__, duckdb.Error)
            )
            schema.temp_tables = tables
            if schema.stamp != stamp:
                schema.uncommitted = changed
                schema.invalidate()
            if not self.active:
                self._duck.rollback()
                self.change_logger.rollback()
            elif not untouched:
                self.recorder.statement_writes = []
                if isinstance(e, _RETRYABLE) or (isinstance(e, SqlError) and is_conflict(e)):
                    self.change_logger.discard()  # the statement will be run again
                else:
                    self.change_logger.statement_failed()
                self._restart_and_replay()
            if isinstance(e, duckdb.Error):
                self._database.databases.note_invalidated(e)
                raise from_duckdb(e) from e
            raise
        finally:
            self._writing = False
            self.recorder.statement_writes = []
            if not self.active:
                self.recorder.clear()

    # ---- a routine's statements, inside `write` -------------------------------------------------------
    def run_nested(self, body: Callable[[], T]) -> T:
        """Run one statement of a routine. If it fails, only its own changes are undone.

        It runs again if another session has committed after its snapshot.
        """
        assert self._writing
        self._nesting_depth += 1
        try:
            return self._run_nested(body)
        finally:
            self._nesting_depth -= 1

    def _run_nested(self, body: Callable[[], T]) -> T:
        mark = _StatementMark(
            len(self.recorder.statement_writes),
            self.nested_end_count,
            dict(self._schema.temp_tables),
            self.change_logger.pending_count,
        )
        for attempt in range(_MAX_ATTEMPTS):
            try:
                return body()
            except _RETRYABLE:
                if self._lock_owner.interrupted.is_set():
                    raise SqlError(-213, ISAM_INTERRUPTED) from None
                if attempt + 1 == _MAX_ATTEMPTS:
                    raise _too_many_conflicts() from None
                self.change_logger.discard(self._count_before(mark, mark.change_mark))
                self._rewind(mark)
            except SqlError as problem:
                if self._must_rewind(mark, problem):
                    self.change_logger.undo(self._count_before(mark, mark.change_mark))
                    self._rewind(mark)
                raise
            except duckdb.Error as problem:
                self.change_logger.undo(self._count_before(mark, mark.change_mark))
                self._rewind(mark)
                raise from_duckdb(problem) from problem
        raise AssertionError("unreachable")

    def _count_before(self, mark: _StatementMark, count: int) -> int:
        """Return `count`, or 0 if a transaction has ended since the mark."""
        return count if mark.nested_end_count == self.nested_end_count else 0

    def _must_rewind(self, mark: _StatementMark, problem: SqlError) -> bool:
        return len(self.recorder.statement_writes) > self._count_before(mark, mark.writes) or isinstance(
            problem.__cause__, duckdb.Error
        )

    def _rewind(self, mark: _StatementMark) -> None:
        """Return to a mark on a fresh snapshot: start a new DuckDB transaction and replay all writes before the
        mark.
        """
        earlier_writes = self.recorder.statement_writes[: self._count_before(mark, mark.writes)]
        self._duck.rollback()
        self._duck.begin()
        with self._duck.uninterruptible():
            self.recorder.replay(self._journal.writes)
            self.recorder.replay(earlier_writes)
        self.recorder.statement_writes = earlier_writes
        if self._schema.temp_tables != mark.temp_tables:
            self._schema.temp_tables = dict(mark.temp_tables)
        self._schema.invalidate()

    def run_control(self, verb: str) -> None:
        """Run BEGIN, COMMIT or ROLLBACK WORK inside a routine. The routine's earlier work leaves its statement."""
        if verb == "begin" and not self.active:
            self._commit_routine_work()
        elif verb == "commit" and self.active:
            self._journal.writes += self.recorder.statement_writes
            self.recorder.statement_writes = []
        elif verb == "rollback" and self.active:
            self.recorder.statement_writes = []
        try:
            {"begin": self.begin, "commit": self.commit, "rollback": self.rollback}[verb]()
            self.nested_end_count += 1
            self.recorder.statement_writes = []
        finally:
            if not self._duck.open:
                self._duck.begin()

    def _commit_routine_work(self) -> None:
        """Commit the work of a routine so far, outside a transaction."""
        if self._duck.open:
            try:
                self._commit()
            except (duckdb.Error, SqlError):
                self._duck.rollback()
                self.change_logger.rollback()
                raise
        self.recorder.statement_writes = []
        self._schema.publish()
        self._lock_owner.release(committed=True)


def _execute_by_key(
    duck: DuckTransaction, databases: Databases, sql: str, values: object
) -> list[tuple[Any, ...]]:
    """Run a write by key and return its row count.

    If it took effect before DuckDB failed at something else (errors.is_durable), its reply is lost. The count is then
    1, the row of the key.
    """
    try:
        return duck.fetch_rows(sql, values)
    except duckdb.Error as e:
        databases.note_invalidated(e)
        if not is_durable(e):
            raise
        return [(1,)]


def _too_many_conflicts() -> SqlError:
    return SqlError(-244, ISAM_LOCKED, 0, "", "Other sessions keep changing its tables.")
