"""DuckDB's transaction on the connection of a session: when it is open, and what it sees."""

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
    """Used by one thread at a time, `interrupt` excepted. `schema` tells how many changes of it were committed.

    Attributes
    ----------
    open
        Whether a transaction was begun and has not ended.
    temporary
        The directory for rows that have to wait.
    """

    def __init__(
        self, con: duckdb.DuckDBPyConnection, locks: Locks, temporary: str, schema: SchemaVersion
    ) -> None:
        self._con = con
        self._schema = schema
        self._schema_version_at_begin = 0  # changes of the schema that the open transaction sees, at least
        self.temporary = temporary
        self._interrupt_count = 0
        self._open_rows_ref: ref[OpenResult] | None = None  # what the connection is taken by
        self._statement_cache = DuckStatementCache()
        self.open = False
        self._locks = locks
        self._snapshot_commit = 0  # commits that it sees: at least those up to this number
        self._interrupt_lock = threading.Lock()
        self._uninterruptible = False  # nothing is to be interrupted

    # ---- the connection -----------------------------------------------------------------------------
    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The session's own connection, for one statement: rows that a query still makes on it are set aside before.
        SqlError where that cannot be."""
        if self._open_rows_ref is not None:
            self.free_connection()
        return self._con

    def fetch_rows(self, sql: str, values: Any = None) -> list[tuple[Any, ...]]:
        """Run one statement that will come again, such as one by key; all its rows. What a statement without a
        transaction of its own has written is there for all then."""
        con = self.con
        statement = self._statement_cache.parse(con, sql)
        return list((con.execute(statement, values) if values else con.execute(statement)).fetchall())

    def fetch_first(self, sql: str, values: Any, most: int) -> list[tuple[Any, ...]]:
        """Run one query that will come again; at most so many of its rows."""
        con = self.con
        rows: list[tuple[Any, ...]] = con.execute(self._statement_cache.parse(con, sql), values).fetchmany(
            most
        )
        if len(rows) == most:  # the rest may wait
            con.abort()
        return rows

    def free_connection(self) -> None:
        """Set aside what a query still makes; -213 when the statement that needs that is interrupted."""
        rows = self._open_rows()
        if rows is not None:
            rows.buffer_rest(self._interrupt_probe())

    def buffer_open_rows(self, *, ending: bool = False) -> None:
        """As `free_connection`, for what is not to be interrupted: an interrupt costs the rows that are not made yet. What ends
        with the transaction is left as it is where that is `ending`."""
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
        """The transaction ends: what a query still makes is set aside, or ends with it."""
        self.buffer_open_rows(ending=True)
        self.close_open_rows()

    def _interrupt_probe(self) -> Callable[[], bool]:
        """Tells of interrupts to come. One that is meant for what runs now comes again and again; what was said before
        may have been meant for an earlier statement."""
        before = self._interrupt_count
        return lambda: self._interrupt_count != before

    def stream(
        self,
        query: str,
        parameters: dict[str, object] | None,
        batch_rows: int,
        mend: Callable[[duckdb.Error], object],
    ) -> OpenResult:
        """Begin a query whose rows are made while they are read; -213 when it is interrupted before it begins."""
        con, interrupted = self.con, self._interrupt_probe()
        relation = con.sql(query, params=parameters) if parameters else con.sql(query)
        if interrupted():  # DuckDB has only read the text so far, and forgets what it was told meanwhile
            raise SqlError(_INTERRUPTED, ISAM_INTERRUPTED)
        rows = OpenResult(relation.to_arrow_reader(batch_rows), mend, self._connection_freed, self.temporary)
        self._open_rows_ref = ref(rows)
        return rows

    def _open_rows(self) -> OpenResult | None:
        return None if self._open_rows_ref is None else self._open_rows_ref()

    def _connection_freed(self) -> None:
        self._open_rows_ref = None

    def close_open_rows(self) -> None:
        """End what is open: nobody is there to take it."""
        rows = self._open_rows()
        if rows is not None:
            rows.close()

    def close(self) -> None:
        """End the connection, and what is open on it."""
        self.close_open_rows()
        self._statement_cache.clear()  # they hold on to the connection
        self._con.close()

    def detach(self, problem: SqlError) -> None:
        """End what is open, as its database has gone; who still reads is told `problem`. From another thread, while
        the session is at nothing."""
        rows = self._open_rows()
        if rows is not None:
            rows.fail_rest(problem)
        self.open = False
        with suppress(duckdb.Error):  # none is open, or it has ended by itself
            self._con.execute("ROLLBACK")

    # ---- begin and end ------------------------------------------------------------------------------
    def begin(self) -> None:
        self.free_connection()
        self._snapshot_commit = self._locks.last_commit
        self._schema_version_at_begin = self._schema.number
        # An interrupt after it has taken effect would leave a transaction that nobody knows of.
        with self.uninterruptible():
            self.fetch_rows("BEGIN TRANSACTION")
        self.open = True

    def commit(self) -> None:
        """It stays open when that fails: see `rollback`. An error that DuckDB met after the COMMIT took effect is
        raised, too (errors.is_durable): then it is closed."""
        self.finish_open_rows()
        try:
            with self.uninterruptible():
                self.fetch_rows("COMMIT")
        except duckdb.Error as e:
            self.open = not is_durable(e)
            raise
        self.open = False

    def rollback(self) -> None:
        """Nothing when none is open."""
        if self.open:
            self.buffer_open_rows()
            self.open = False
            try:
                # A ROLLBACK that is interrupted leaves DuckDB in the aborted transaction.
                with self.uninterruptible():
                    self.con.execute("ROLLBACK")
            except duckdb.Error:
                # the connection may have rolled back by itself
                return

    def is_stale(self, tables: Iterable[TableKey]) -> bool:
        """Whether another session has changed one of the tables since the open transaction began."""
        committed_at = self._locks.last_commit_of
        return self.open and any(committed_at(table) > self._snapshot_commit for table in tables)

    @property
    def has_stale_schema(self) -> bool:
        """Whether the schema was changed since the open transaction began; to be asked while one is open."""
        return self._schema_version_at_begin != self._schema.number

    # ---- interrupts ---------------------------------------------------------------------------------
    @contextmanager
    def uninterruptible(self) -> Iterator[None]:
        """While a transaction begins, ends or is put together again: an interrupt is meant for a statement, and here
        would cost the transaction, or leave open whether it took effect."""
        with self._interrupt_lock:
            before, self._uninterruptible = self._uninterruptible, True
        try:
            yield
        finally:
            self._uninterruptible = before

    def interrupt(self) -> None:
        """Stop what DuckDB does for this session. From other threads."""
        with self._interrupt_lock:
            self._interrupt_count += 1
            rows = self._open_rows()
            if self._uninterruptible:
                return
            if rows is None:
                self._con.interrupt()
            else:
                rows.interrupt(self._con)
