"""A session's transaction: begin, commit, rollback, savepoints, atomic statements, and statements inside those.

DuckDB aborts a transaction at any error, and keeps it on the snapshot that its first statement saw. Informix does
neither. So a transaction is a journal of what it wrote (journal.py), and begins again from that wherever Informix
would go on: after an error, and where another session has committed something that a statement must see.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

import duckdb

from ..errors import (
    ISAM_INTERRUPTED,
    ISAM_LOCK_TIMEOUT,
    ISAM_LOCKED,
    SqlError,
    from_duckdb,
    is_conflict,
    is_durable,
)
from ..schema.catalog import TableInfo
from ..schema.databases import Databases
from .current_database import CurrentDatabase
from .deferring import Deferred
from .duck_transaction import DuckTransaction
from .journal import Differs, Journal, Recorder, Savepoint
from .lock_owner import LockOwner
from .locks import Table
from .open_rows import OpenRows
from .row_changes import RowChanges
from .schema_changes import SchemaChanges

P = ParamSpec("P")
T = TypeVar("T")

_REPLAYED_FOR_READING = 100_000
"""Rows that a transaction may have loaded when a query begins it again on a fresh snapshot; with more, its queries
go on seeing other sessions' work as it was before."""

_PATIENCE = 20
"""Times that a statement is tried again when other sessions keep committing before it."""

_GONE = "the database was invalidated because checkpointing failed, while the cursor was open"

_PAUSE = 0.02
"""Seconds between tries when DuckDB sees a conflict that no lock explains."""


class Stale(Exception):
    """Another session has committed since the statement's snapshot was taken: it must be run again."""


_AGAIN = (Stale, Differs)
"""What a statement is run again after, on a fresh snapshot."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where a statement inside `write` began."""

    writes: int
    ended_inside: int
    temp_tables: dict[str, TableInfo]
    changes: int


class Transaction:
    """One session's, one after the other. Used by one thread at a time.

    Attributes
    ----------
    writer
        What writes go through, inside `write`.
    active
        Whether a transaction is open as the client sees it.
    number
        How many have begun so far: what belongs to one knows by this that it is over.
    ended_inside
        Transactions that ended inside a statement so far: such a statement cannot be begun again as a whole.
    changes
        What is told of the rows that a statement changes in tables that are logged in full.
    deferred
        Which foreign keys are looked at by `commit`.
    """

    def __init__(
        self,
        duck: DuckTransaction,
        owner: LockOwner,
        database: CurrentDatabase,
        schema: SchemaChanges,
        changes: RowChanges,
    ) -> None:
        self._duck = duck
        self._owner = owner
        self._database = database
        self._schema = schema
        self.writer = Recorder(lambda: duck.con, partial(_by_key, duck, database.databases), duck.temporary)
        self.active = False
        self.number = 0
        self.ended_inside = 0
        self.changes = changes
        self.deferred = Deferred()
        self._journal = Journal()
        self._begin_tables: dict[str, TableInfo] = {}
        self._writing = False  # `write` is on the stack
        self._let_go = False  # DuckDB's transaction, between two statements
        self._depth = 0  # of `nested`

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """DuckDB's connection, to read from: for one statement, as another may be running on it by then."""
        return self._duck.con

    @property
    def careful(self) -> bool:
        """Whether more than the current statement would have to be done again if DuckDB aborted it: a transaction,
        or a routine's earlier statements."""
        return self.active or self._depth > 0

    @property
    def ansi(self) -> bool:
        """Whether the open database is ANSI's, where a text that is too long for its column is refused and not cut."""
        return self._database.name is not None and self._database.record.ansi

    @property
    def untouched(self) -> bool:
        """Whether nothing has begun that others may not see yet, or that may see less than others do."""
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
        self._begin_tables = dict(self._schema.temp_tables)
        self._schema.uncommitted = False

    def begin_implicitly(self) -> None:
        """Every statement of an ANSI database is part of a transaction (SQLI section 12)."""
        if self._database.name is not None and not self.active and self._database.record.ansi:
            self.begin()

    def settle(self, *, ending: bool) -> None:
        """See `EngineSession.settle`."""
        self._duck.settle(ending=ending)

    def commit(self) -> None:
        """COMMIT WORK: -255 without a transaction, -256 in a database without logging. In an ANSI database there
        may be nothing to commit yet. -691 for a deferred foreign key that does not hold: all is rolled back."""
        if self._nothing_to_end():
            return
        self._duck.end_rows()  # first: where there is no room for rows, nothing has ended
        self.take_up()
        if self.deferred.skipped:
            try:
                self.write(self.deferred.check)
            except SqlError:
                self.rollback()
                raise
        if self._duck.open:
            try:
                self._commit()
            except duckdb.Error as e:
                self._lost()
                raise from_duckdb(e) from e
            except SqlError:
                self._lost()
                raise
        else:
            self.changes.commit_nothing()
        self._schema.publish()
        self._ended(committed=True)

    def _commit(self) -> None:
        """COMMIT in DuckDB. What it fails at after that has taken effect is not the client's business, but that of the
        next who works."""
        try:
            self.changes.commit(self._duck.con, self._duck.commit)
        except duckdb.Error as e:
            self._database.databases.note(e)
            if not is_durable(e):
                raise

    def rollback(self) -> None:
        """ROLLBACK WORK: errors as those of `commit`."""
        if self._nothing_to_end():
            return
        self._let_go = False
        self._duck.end_rows()
        self._duck.rollback()
        self.changes.rollback()
        if self._schema.uncommitted:
            self._schema.temp_tables = self._begin_tables
            self._schema.forget()
        self._schema.uncommitted = False
        self._ended(committed=False)

    def _nothing_to_end(self) -> bool:
        if self.active:
            return False
        if self._database.name is not None:
            if self._database.record.ansi:
                return True
            if not self._database.record.logged:
                raise SqlError(-256)
        raise SqlError(-255)

    def _lost(self) -> None:
        """Nothing of the transaction is left."""
        self._duck.rollback()
        self.changes.rollback()
        self._schema.temp_tables = self._begin_tables
        self._schema.forget()
        self._ended(committed=False)

    def _ended(self, *, committed: bool) -> None:
        self._let_go = False
        self.active = False
        self.deferred.clear()
        self._journal = Journal()
        self.writer.forget_rows()
        self._owner.release(committed=committed)

    # ---- savepoints -------------------------------------------------------------------------------
    def savepoint(self, name: str, unique: bool = False) -> None:
        """SAVEPOINT: -255 outside a transaction; a name may be used again unless it is unique (-16399
        then)."""
        if not self.active:
            raise SqlError(-255)
        points = self._journal.savepoints
        for point in points:
            if point.name == name and (point.unique or unique):
                raise SqlError(-16399, 0, 0, name)
        tables = dict(self._schema.temp_tables)
        points.append(Savepoint(name, len(self._journal.writes), unique, tables, self.changes.place()))

    def _find_savepoint(self, name: str) -> int:
        if not self.active:
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
        self._duck.settle()  # first: where there is no room for rows, nothing is undone
        self.take_up()
        point = self._journal.savepoints[index]
        del self._journal.savepoints[index + 1 :]
        if point.position < len(self._journal.writes):
            del self._journal.writes[point.position :]
            self.changes.rolled_back_to(point.logged)
            self._restart()
        if self._schema.uncommitted:
            self._schema.temp_tables = dict(point.temp_tables)
            self._schema.forget()

    # ---- mending ------------------------------------------------------------------------------------
    def _restart(self) -> None:
        """A new DuckDB transaction with everything that the journal holds; the transaction is lost if that
        fails."""
        self._duck.rollback()
        if not self._journal.writes:
            return
        try:
            self._replay()
        except (duckdb.Error, Differs) as e:
            self._lost()
            raise SqlError(
                -458, ISAM_LOCKED, 0, "", f"the transaction could not be kept after an error: {e}"
            ) from e

    def _replay(self) -> None:
        for attempt in itertools.count(1):
            self._duck.begin()
            try:
                with self._duck.undisturbed():
                    self._journal.replay(self.writer)
                return
            except Differs:
                self._duck.rollback()
                if attempt == _PATIENCE:
                    raise

    def failed(self, error: duckdb.Error) -> SqlError:
        """The SqlError for a DuckDB error outside `write`; mends the transaction that DuckDB has aborted."""
        self._database.databases.note(error)
        if self._duck.open and not self.writer.log:
            self._restart()
        return from_duckdb(error)

    def let_go(self) -> None:
        """End DuckDB's transaction, as its database has gone, between two statements. From another thread, while the
        session is at nothing."""
        self._let_go = self._duck.open or self._let_go
        self._duck.let_go(from_duckdb(duckdb.IOException(_GONE)))

    def take_up(self) -> None:
        """Begin again what was let go; -458 where that cannot be, and the transaction is lost."""
        if self._let_go:
            self._let_go = False
            self._restart()

    def restart_statement(self) -> None:
        """Begin again after DuckDB has aborted a statement's own transaction (never inside an explicit
        one)."""
        self._duck.rollback()
        self.writer.log = []
        self.changes.forget()
        self._duck.begin()

    # ---- other sessions -----------------------------------------------------------------------------
    def refresh(self, tables: Iterable[Table]) -> None:
        """See what others have committed before this query. Stale inside `write`, which begins again."""
        if self._duck.is_stale(tables):
            if self._writing:
                raise Stale
            if self._journal.rows <= _REPLAYED_FOR_READING:
                self._restart()

    def see_schema(self) -> None:
        """See what others have committed to the schema, before a statement is planned."""
        if self._duck.open and self._duck.has_old_schema and not self._writing:
            self._restart()

    def require_fresh(self, tables: Iterable[Table]) -> None:
        """Stale when another session has changed one of the tables; inside `write`."""
        if self._duck.is_stale(tables):
            raise Stale

    # ---- running ------------------------------------------------------------------------------------
    def read(self, body: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Call something that only reads."""
        try:
            return body(*arguments, **named)
        except duckdb.Error as e:
            raise self.failed(e) from e
        except MemoryError as e:  # Arrow's, over what DuckDB has made
            raise self.failed(duckdb.OutOfMemoryException(str(e))) from e

    def stream(self, query: str, parameters: dict[str, object] | None, batch_rows: int) -> OpenRows:
        """Begin a query whose rows are made while they are read, as they are in this transaction now, whatever comes
        after."""
        return self.read(self._duck.stream, query, parameters, batch_rows, self.failed)

    def rows(self, sql: str, values: Any = None) -> list[tuple[Any, ...]]:
        """Run a query that will come again and has few rows; these."""
        return self.read(self._duck.rows, sql, values)

    def first_rows(self, sql: str, values: Any, most: int) -> list[tuple[Any, ...]]:
        """Run a query that will come again; at most so many of its rows."""
        return self.read(self._duck.first_rows, sql, values, most)

    def write(self, body: Callable[[], T], *, single: bool = False) -> T:
        """Run something that writes, as one atomic statement: in the open transaction, or in one of its own.

        Where another session has committed after the statement's snapshot it is run again on a fresh one; so it is
        at a conflict that only DuckDB sees (of schema changes), while the lock mode allows. Inside another `write`
        it is a part of that.

        With `single` the body takes its locks first, and runs one statement of DuckDB then, at most: outside a
        transaction that is atomic by itself, and sees what was committed when it had the locks.
        """
        if self._writing:
            return body()
        self._duck.free()  # before anything is written: a query that fails now costs what is not in the journal
        owner = self._owner
        committed = False
        try:
            for attempt in itertools.count(1):
                try:
                    result = self._write_once(body, single)
                    committed = True
                    return result
                except _AGAIN:
                    if owner.interrupted.is_set():
                        raise SqlError(-213, ISAM_INTERRUPTED) from None
                    if attempt > _PATIENCE:
                        raise _too_busy() from None
                except SqlError as e:
                    if not is_conflict(e) or owner.interrupted.is_set():
                        raise
                    if owner.wait >= 0 and attempt * _PAUSE > max(owner.wait, 3 * _PAUSE):
                        isam = ISAM_LOCK_TIMEOUT if owner.wait else e.isamcode
                        raise SqlError(e.sqlcode, isam, 0, e.near, e.detail) from e
                    if owner.interrupted.wait(_PAUSE):
                        raise SqlError(-213, ISAM_INTERRUPTED) from e
            raise AssertionError("unreachable")
        finally:
            if not self.active:
                owner.release(committed=committed, keep=owner.kept)

    def _write_once(self, body: Callable[[], T], single: bool) -> T:
        schema = self._schema
        tables, changed = dict(schema.temp_tables), schema.uncommitted
        self.writer.log = []
        self._writing = True
        if not self.active:
            schema.uncommitted = changed = False
        try:
            if not self._duck.open and (self.active or not single):
                self._duck.begin()
            result = body()
            if self.active:
                self.changes.keep()
                self._journal.writes += self.writer.log
            elif self._duck.open:
                self._commit()
                schema.publish()
            return result
        except Exception as e:
            untouched = (
                isinstance(e, SqlError) and not self.writer.log and not isinstance(e.__cause__, duckdb.Error)
            )
            schema.temp_tables = tables
            if schema.uncommitted != changed:
                schema.uncommitted = changed
                schema.forget()
            if not self.active:
                self._duck.rollback()
                self.changes.rollback()
            elif not untouched:
                self.writer.log = []
                if isinstance(e, _AGAIN) or (isinstance(e, SqlError) and is_conflict(e)):
                    self.changes.forget()  # it will be run again
                else:
                    self.changes.failed()
                self._restart()
            if isinstance(e, duckdb.Error):
                self._database.databases.note(e)
                raise from_duckdb(e) from e
            raise
        finally:
            self._writing = False
            self.writer.log = []
            if not self.active:
                self.writer.forget_rows()

    # ---- a routine's statements, inside `write` -------------------------------------------------------
    def nested(self, body: Callable[[], T]) -> T:
        """Run one statement of a routine: when it fails nothing of it stays, and what the routine did before does.

        It is run again where another session has committed after the snapshot that it was to see.
        """
        assert self._writing
        self._depth += 1
        try:
            return self._nested(body)
        finally:
            self._depth -= 1

    def _nested(self, body: Callable[[], T]) -> T:
        mark = _Mark(
            len(self.writer.log), self.ended_inside, dict(self._schema.temp_tables), self.changes.mark
        )
        for attempt in range(_PATIENCE):
            try:
                return body()
            except _AGAIN:
                if self._owner.interrupted.is_set():
                    raise SqlError(-213, ISAM_INTERRUPTED) from None
                if attempt + 1 == _PATIENCE:
                    raise _too_busy() from None
                self.changes.forget(self._before(mark, mark.changes))
                self._rewind(mark)
            except SqlError as problem:
                if self._touched(mark, problem):
                    self.changes.undo(self._before(mark, mark.changes))
                    self._rewind(mark)
                raise
            except duckdb.Error as problem:
                self.changes.undo(self._before(mark, mark.changes))
                self._rewind(mark)
                raise from_duckdb(problem) from problem
        raise AssertionError("unreachable")

    def _before(self, mark: _Mark, count: int) -> int:
        """How many of what is counted came before a mark: none when a transaction has ended since."""
        return count if mark.ended_inside == self.ended_inside else 0

    def _touched(self, mark: _Mark, problem: SqlError) -> bool:
        return len(self.writer.log) > self._before(mark, mark.writes) or isinstance(
            problem.__cause__, duckdb.Error
        )

    def _rewind(self, mark: _Mark) -> None:
        """Back to a mark, on a fresh snapshot: a new DuckDB transaction with everything before it."""
        kept = self.writer.log[: self._before(mark, mark.writes)]
        self._duck.rollback()
        self._duck.begin()
        with self._duck.undisturbed():
            self._journal.replay(self.writer)
            self.writer.repeat_all(kept)
        self.writer.log = kept
        if self._schema.temp_tables != mark.temp_tables:
            self._schema.temp_tables = dict(mark.temp_tables)
        self._schema.forget()

    def control(self, verb: str) -> None:
        """BEGIN, COMMIT or ROLLBACK WORK inside a routine: what it did before is no longer a part of its statement."""
        if verb == "begin" and not self.active:
            self._end_statement()
        elif verb == "commit" and self.active:
            self._journal.writes += self.writer.log
            self.writer.log = []
        elif verb == "rollback" and self.active:
            self.writer.log = []
        try:
            {"begin": self.begin, "commit": self.commit, "rollback": self.rollback}[verb]()
            self.ended_inside += 1
            self.writer.log = []
        finally:
            if not self._duck.open:
                self._duck.begin()

    def _end_statement(self) -> None:
        """Commit what a routine has done so far outside a transaction."""
        if self._duck.open:
            try:
                self._commit()
            except (duckdb.Error, SqlError):
                self._duck.rollback()
                self.changes.rollback()
                raise
        self.writer.log = []
        self._schema.publish()
        self._owner.release(committed=True)


def _by_key(duck: DuckTransaction, databases: Databases, sql: str, values: object) -> list[tuple[Any, ...]]:
    """Run a write by key; how many rows it changed. Of one that took effect before DuckDB failed at something else
    (errors.is_durable) the answer is lost: it was the key's row."""
    try:
        return duck.rows(sql, values)
    except duckdb.Error as e:
        databases.note(e)
        if not is_durable(e):
            raise
        return [(1,)]


def _too_busy() -> SqlError:
    return SqlError(-244, ISAM_LOCKED, 0, "", "other sessions keep changing its tables")
