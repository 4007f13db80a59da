"""DuckDB's transaction on the connection of a session: whether it is open, and its snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import ref

import duckdb

from ..errors import ISAM_INTERRUPTED, SqlError, is_durable
from .duck_statement_cache import DuckStatementCache
from .locks import Locks, TableKey
from .open_result import OpenResult
from .schema_version import SchemaVersion

_INTERRUPTED = -213


class DuckTransaction:
    """The DuckDB transaction and connection of a session.

    Used by one thread at a time, except `interrupt`. `schema` counts the committed schema changes.

    Attributes
    ----------
    open
        True while a transaction is open.
    temporary
        Directory for buffered rows.
    """

    def __init__(
        self, con: duckdb.DuckDBPyConnection, locks: Locks, temporary: str, schema: SchemaVersion
    ) -> None:
        self._con = con
        self._schema = schema
        self._schema_version_at_begin = 0  # schema changes that the open transaction sees, at least
        self.temporary = temporary
        self._interrupt_count = 0
        self._open_rows_ref: ref[OpenResult] | None = None  # the result that occupies the connection
        self._statement_cache = DuckStatementCache()
        self.open = False
        self._locks = locks
        self._snapshot_commit = 0  # number of the last commit that the snapshot includes, at least
        self._interrupt_lock = threading.Lock()
        self._uninterruptible = False  # interrupts are ignored

    # ---- the connection -----------------------------------------------------------------------------
    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The session's own connection, for one statement. Rows that a query still produces on it are buffered first.

        Raises SqlError if they cannot be.
        """
        if self._open_rows_ref is not None:
            self.free_connection()
        return self._con

    def execute(self, query: str, parameters: Any = None) -> duckdb.DuckDBPyConnection:
        """Run one statement that is likely to be repeated, such as one by key or one of the catalogue's."""
        con = self.con
        statement = self._statement_cache.parse(con, query)
        return con.execute(statement, parameters) if parameters else con.execute(statement)

    def fetch_rows(self, sql: str, values: Any = None) -> list[tuple[Any, ...]]:
        """Run one statement like `execute` and return all rows.

        The changes of a statement without a transaction are then visible to all.
        """
        return list(self.execute(sql, values).fetchall())

    def fetch_first(self, sql: str, values: Any, most: int) -> list[tuple[Any, ...]]:
        """Run one query that is likely to be repeated and return at most `most` rows."""
        con = self.con
        rows: list[tuple[Any, ...]] = con.execute(self._statement_cache.parse(con, sql), values).fetchmany(
            most
        )
        if len(rows) == most:  # there may be more
            con.abort()
        return rows

    def free_connection(self) -> None:
        """Buffer the rows that a query still produces; -213 if the statement that needs the connection is
        interrupted.
        """
        rows = self._open_rows()
        if rows is not None:
            rows.buffer_rest(self._interrupt_probe())

    def buffer_open_rows(self, *, ending: bool = False) -> None:
        """Buffer the remaining rows like `free_connection`, but not interruptibly: an interrupt loses the rows not read
        yet.

        With `ending`, a result that ends with the transaction is not buffered.
        """
        rows = self._open_rows()
        if rows is None or (ending and not rows.with_hold):
            return
        try:
            rows.buffer_rest(self._interrupt_probe())
        except SqlError as problem:
            if problem.sqlcode != _INTERRUPTED:
                raise
            rows.fail_rest(problem)

    def finish_open_rows(self) -> None:
        """Buffer or close the open result before the transaction ends."""
        self.buffer_open_rows(ending=True)
        self.close_open_rows()

    def _interrupt_probe(self) -> Callable[[], bool]:
        """Return a function that reports interrupts from now on.

        An earlier one may have been meant for an earlier statement. One that is meant for the current statement is
        repeated.
        """
        before = self._interrupt_count
        return lambda: self._interrupt_count != before

    def stream(
        self,
        query: str,
        parameters: dict[str, object] | None,
        batch_rows: int,
        recover: Callable[[duckdb.Error], object],
    ) -> OpenResult:
        """Run a query whose rows are produced while they are read; -213 if it is interrupted before it starts."""
        con, interrupted = self.con, self._interrupt_probe()
        relation = con.sql(query, params=parameters) if parameters else con.sql(query)
        if interrupted():  # DuckDB has only parsed the text so far, and discards interrupts in that phase
            raise SqlError(_INTERRUPTED, ISAM_INTERRUPTED)
        rows = OpenResult(
            relation.to_arrow_reader(batch_rows), recover, self._connection_freed, self.temporary
        )
        self._open_rows_ref = ref(rows)
        return rows

    def _open_rows(self) -> OpenResult | None:
        return None if self._open_rows_ref is None else self._open_rows_ref()

    def _connection_freed(self) -> None:
        self._open_rows_ref = None

    def close_open_rows(self) -> None:
        """Close the open result: its client is gone."""
        rows = self._open_rows()
        if rows is not None:
            rows.close()

    def close(self) -> None:
        """Close the connection and the open result on it."""
        self.close_open_rows()
        self._statement_cache.clear()  # they refer to the connection
        self._con.close()

    def detach(self, problem: SqlError) -> None:
        """End what is open because its database was detached. Later reads of the open result raise `problem`.

        Called from another thread while the session is idle.
        """
        rows = self._open_rows()
        if rows is not None:
            rows.fail_rest(problem)
        self.open = False
        with suppress(duckdb.Error):  # no transaction is open, or it has ended by itself
            self._con.execute("ROLLBACK")

    # ---- begin and end ------------------------------------------------------------------------------
    def begin(self) -> None:
        self.free_connection()
        self._snapshot_commit = self._locks.last_commit
        self._schema_version_at_begin = self._schema.number
        # An interrupt after it has taken effect would leave an unknown transaction open.
        with self.uninterruptible():
            self.fetch_rows("BEGIN TRANSACTION")
        self.open = True

    def commit(self) -> None:
        """Commit. If that fails, the transaction stays open: see `rollback`.

        An error of DuckDB after the COMMIT took effect is raised, too (errors.is_durable). The transaction is then
        closed.
        """
        self.finish_open_rows()
        try:
            with self.uninterruptible():
                self.fetch_rows("COMMIT")
        except duckdb.Error as e:
            self.open = not is_durable(e)
            raise
        self.open = False

    def rollback(self) -> None:
        """Roll back; do nothing if no transaction is open."""
        if self.open:
            self.buffer_open_rows()
            self.open = False
            try:
                # An interrupted ROLLBACK leaves DuckDB in the aborted transaction.
                with self.uninterruptible():
                    self.con.execute("ROLLBACK")
            except duckdb.Error:
                # the connection may have rolled back by itself
                return

    def is_stale(self, tables: Iterable[TableKey]) -> bool:
        """Return whether another session has changed one of the tables since the open transaction began."""
        committed_at = self._locks.last_commit_of
        return self.open and any(committed_at(table) > self._snapshot_commit for table in tables)

    @property
    def has_stale_schema(self) -> bool:
        """True if the schema was changed since the open transaction began. One must be open."""
        return self._schema_version_at_begin != self._schema.number

    # ---- interrupts ---------------------------------------------------------------------------------
    @contextmanager
    def uninterruptible(self) -> Iterator[None]:
        """Ignore interrupts while a transaction begins, ends or is restored.

        An interrupt is meant for a statement. Here it would lose the transaction, or leave open whether it took effect.
        """
        with self._interrupt_lock:
            before, self._uninterruptible = self._uninterruptible, True
        try:
            yield
        finally:
            self._uninterruptible = before

    def interrupt(self) -> None:
        """Interrupt what DuckDB runs for this session. Called from other threads."""
        with self._interrupt_lock:
            self._interrupt_count += 1
            rows = self._open_rows()
            if self._uninterruptible:
                return
            if rows is None:
                self._con.interrupt()
            else:
                rows.interrupt(self._con)
