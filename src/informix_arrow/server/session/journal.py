"""The journal: the writes of a transaction so far, for a replay.

Informix rolls a failing statement back alone and leaves the transaction open. DuckDB aborts the whole transaction at
any error, a misspelled name included. So every write is recorded, with text and values as they were bound, so that
CURRENT and serials do not change. After an error the transaction is rolled back, begun again and replayed up to the
failing statement. Savepoints are positions in the journal. Statements check what they can before writing, so replays
are rare.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb
import pyarrow as pa

from .duck_transaction import DuckTransaction
from .table_spill import TableSpill

log = logging.getLogger("informix_arrow.server")

_FREEZE_ROWS = 8192
"""Rows of a table in one statement of a replay."""

_READS = ("SELECT", "DESCRIBE", "WITH")


@dataclass(frozen=True, slots=True)
class RecordedWrite:
    """One recorded statement.

    `rows` is an Arrow table that the text calls `_ifx_rows`, as `TableSpill` stores it. `expected_count` is the number
    of rows that it must change, None if that is not checked.

    Its changes must not depend on what other sessions do: an UPDATE or DELETE names its rows (update_delete.py).
    """

    sql: str
    parameters: Any = None
    rows: Any = None
    expected_count: int | None = None


class ReplayMismatch(Exception):
    """A write that names its rows has changed other rows than these."""


_EMPTY_TABLE = pa.table({"nothing": pa.nulls(0, pa.int8())})


class _RowsView:
    """The Arrow table that SQL calls `_ifx_rows`.

    One view over this object is created. It returns the table of the current statement.
    """

    def __init__(self) -> None:
        self.table: Any = _EMPTY_TABLE

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.table.schema.__arrow_c_schema__()


class WriteRecorder:
    """Runs SQL on a session's DuckDB connection and records the writes of the current statement.

    It is created outside a transaction, because a ROLLBACK would remove `_ifx_rows`. Rows of an open transaction that
    are too many for memory are in a file in `temporary`.
    """

    def __init__(
        self,
        connection: DuckTransaction,
        run_kept: Callable[[str, Any], list[tuple[Any, ...]]],
        temporary: str | None = None,
    ) -> None:
        self._connection = connection
        self._execute_cached = run_kept
        self.statement_writes: list[RecordedWrite] = []
        self._spilled_tables = TableSpill(temporary)
        self._rows_view = _RowsView()
        connection.con.register("_ifx_rows", self._rows_view)

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The session's connection, for one statement."""
        return self._connection.con

    def execute(self, query: str, parameters: Any = None) -> Any:
        """Run one statement. Writes are recorded before they run, so that a failed one counts as begun."""
        if not query.lstrip().upper().startswith(_READS):
            self.statement_writes.append(RecordedWrite(query, parameters))
        if parameters:  # mostly the catalogue's, whose texts repeat
            return self._connection.execute(query, parameters)
        return self.con.execute(query)

    def execute_cached(self, query: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """Run one write that is likely to be repeated, such as one by key, like `execute`; return DuckDB's rows."""
        self.statement_writes.append(RecordedWrite(query, parameters))
        return self._execute_cached(query, parameters)

    def execute_with_rows(
        self, query: str, rows: Any, parameters: Any = None, *, repeated: bool = True
    ) -> list[tuple[Any, ...]]:
        """Run a write that reads the Arrow table `rows` as `_ifx_rows`; return DuckDB's rows.

        The table is kept for a replay if `repeated`. Raises SqlError -271 if there is no room for that.
        """
        self.statement_writes.append(
            RecordedWrite(query, parameters, self._spilled_tables.store(rows) if repeated else None)
        )
        with self._bound_rows(rows):
            return list(self.con.execute(query, parameters or None).fetchall())

    def execute_per_row(self, query: str, rows: Any, *, repeated: bool = True) -> int:
        """Run a write that changes one row for each of `rows`, like `execute_with_rows`; return their number.

        Raises `ReplayMismatch` if DuckDB has changed another number: the rows reported to the change log would be
        wrong.
        """
        ((count,),) = self.execute_with_rows(query, rows, repeated=repeated)
        check_row_count(count, rows.num_rows)
        self.statement_writes[-1] = replace(self.statement_writes[-1], expected_count=rows.num_rows)
        return int(count)

    def record_with_rows(self, query: str, text: str) -> None:
        """Record the rows that `query` returns now for the replay of the last write.

        The replay runs `text`, which reads some of them at a time as `_ifx_rows`.
        """
        reader = self.con.sql(query).to_arrow_reader(_FREEZE_ROWS)
        try:
            self.statement_writes[-1:] = [
                RecordedWrite(text, None, self._spilled_tables.store(pa.Table.from_batches([batch])))
                for batch in reader
            ]
        finally:
            reader.close()  # not left to the garbage collector: see OpenResult

    def discard_last(self) -> None:
        """Remove the last write from the record.

        It changed nothing and holds no lock, and a replay might find newer rows.
        """
        del self.statement_writes[-1]

    def query_with_rows(self, query: str, rows: Any, parameters: Any = None) -> list[tuple[Any, ...]]:
        """Run a query over the Arrow table `rows` as `_ifx_rows`."""
        with self._bound_rows(rows):
            return list(self.con.execute(query, parameters).fetchall())

    def table_with_rows(self, query: str, rows: Any, parameters: Any = None) -> Any:
        """Do the same as `query_with_rows`, but return an Arrow table."""
        with self._bound_rows(rows):
            relation = self.con.sql(query, params=parameters) if parameters else self.con.sql(query)
            return relation.to_arrow_table()

    def replay(self, writes: Iterable[RecordedWrite]) -> None:
        """Run recorded writes in their order. Raises `ReplayMismatch` like `replay_write`."""
        for write in _merge_single_inserts(writes):
            self.replay_write(write)

    def replay_write(self, write: RecordedWrite) -> None:
        """Run a recorded write. Raises `ReplayMismatch` if it does not change the expected number of rows."""
        with self._bound_rows(None if write.rows is None else self._spilled_tables.load(write.rows)):
            if write.parameters is None:
                done = self.con.execute(write.sql).fetchall()
            else:
                done = self.con.execute(write.sql, write.parameters).fetchall()
        if write.expected_count is not None:
            check_row_count(done[0][0], write.expected_count)

    def clear(self) -> None:
        """Clear the records at the end of the transaction."""
        self._spilled_tables.clear()

    @contextmanager
    def _bound_rows(self, rows: Any) -> Iterator[None]:
        before, self._rows_view.table = self._rows_view.table, _EMPTY_TABLE if rows is None else rows
        try:
            yield
        finally:
            self._rows_view.table = (
                before  # released as soon as possible; a routine's statement runs inside another
            )


_SINGLE_ROW_INSERT = re.compile(r"INSERT INTO .* VALUES (\(\?(?:, \?)*\))", re.DOTALL)
_MERGED_ROWS = 128


def _merge_single_inserts(writes: Iterable[RecordedWrite]) -> Iterator[RecordedWrite]:
    """Merge consecutive single-row INSERTs with the same text into INSERTs of several rows.

    DuckDB needs a twelfth of the time for these. It converts each value to its column separately.
    """
    rows: list[RecordedWrite] = []
    for write in writes:
        if rows and (write.sql != rows[0].sql or len(rows) == _MERGED_ROWS):
            yield _merge_inserts(rows)
            rows = []
        if (
            isinstance(write.parameters, Sequence)
            and write.rows is None
            and _SINGLE_ROW_INSERT.fullmatch(write.sql)
        ):
            rows.append(write)
        else:
            yield write
    if rows:
        yield _merge_inserts(rows)


def _merge_inserts(rows: Sequence[RecordedWrite]) -> RecordedWrite:
    values = [value for row in rows for value in row.parameters]
    places = f", ({', '.join('?' * len(rows[0].parameters))})"
    return RecordedWrite(rows[0].sql + places * (len(rows) - 1), values)


def check_row_count(count: int, expected: int) -> None:
    """Raise `ReplayMismatch` if DuckDB has not found or changed as many rows as were named.

    This was seen once, before `DuckInstance` turned off the optimizer that lost rows. The check protects the change
    log.
    """
    if count != expected:
        log.error("DuckDB found only %d of %d rows by their row ids.", count, expected)
        raise ReplayMismatch


@dataclass(slots=True)
class Savepoint:
    name: str
    position: int
    unique: bool
    temp_tables: dict[str, Any]
    log_position: int  # RowChangeLogger.log_position


@dataclass(slots=True)
class Journal:
    """The writes of an open transaction and its savepoints."""

    writes: list[RecordedWrite] = field(default_factory=list)
    savepoints: list[Savepoint] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows of Arrow tables in it: an estimate of the cost of a replay."""
        return sum(write.rows.num_rows for write in self.writes if write.rows is not None)
