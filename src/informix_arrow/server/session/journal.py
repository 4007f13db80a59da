"""What a transaction has written so far, so that it can be done again.

Informix rolls a failing statement back alone and leaves the transaction open; DuckDB aborts the whole
transaction at any error, a mistyped name included. So every write is recorded (text and values as they were
bound, so that CURRENT and serials do not change), and after an error the transaction is rolled back, begun
again and replayed up to the failing statement. Savepoints are positions in the record. Statements check
what they can before writing, so replays are rare.
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

from .table_spill import TableSpill

log = logging.getLogger("informix_arrow.server")

_FREEZE_ROWS = 8192
"""Rows of a table in one write of it."""

_READS = ("SELECT", "DESCRIBE", "WITH")


@dataclass(frozen=True, slots=True)
class RecordedWrite:
    """One statement as it was run; `rows` is an Arrow table that the text calls `_ifx_rows`, as `TableSpill` keeps it,
    `expected_count` how many rows it must change, None where nobody has said so.

    What it changes must not depend on what other sessions do: an UPDATE or DELETE names its rows (modifying.py)."""

    sql: str
    parameters: Any = None
    rows: Any = None
    expected_count: int | None = None


class ReplayMismatch(Exception):
    """A write that names its rows has not changed just these."""


_EMPTY_TABLE = pa.table({"nothing": pa.nulls(0, pa.int8())})


class _RowsView:
    """The Arrow table that SQL calls `_ifx_rows`: a view over this object, made once, shows the table of each
    statement."""

    def __init__(self) -> None:
        self.table: Any = _EMPTY_TABLE

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.table.schema.__arrow_c_schema__()


class WriteRecorder:
    """Runs SQL on a session's DuckDB connection and remembers the writes of the current statement.

    Made outside of a transaction, whose ROLLBACK would take `_ifx_rows` away. Rows of an open transaction that are too
    many for memory are in a file in `temporary`.
    """

    def __init__(
        self,
        connection: Callable[[], duckdb.DuckDBPyConnection],
        run_kept: Callable[[str, Any], list[tuple[Any, ...]]],
        temporary: str | None = None,
    ) -> None:
        self._connection = connection
        self._execute_cached = run_kept
        self.statement_writes: list[RecordedWrite] = []
        self._spilled_tables = TableSpill(temporary)
        self._rows_view = _RowsView()
        connection().register("_ifx_rows", self._rows_view)

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The session's connection, for one statement."""
        return self._connection()

    def execute(self, query: str, parameters: Any = None) -> Any:
        """Run one statement; writes are recorded before they run, so that a failed one is seen as begun."""
        if not query.lstrip().upper().startswith(_READS):
            self.statement_writes.append(RecordedWrite(query, parameters))
        return self.con.execute(query, parameters) if parameters is not None else self.con.execute(query)

    def execute_cached(self, query: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """As `execute` for one write that will come again, such as one by key; DuckDB's answer."""
        self.statement_writes.append(RecordedWrite(query, parameters))
        return self._execute_cached(query, parameters)

    def execute_with_rows(
        self, query: str, rows: Any, parameters: Any = None, *, repeated: bool = True
    ) -> list[tuple[Any, ...]]:
        """Run a write that reads the Arrow table `rows` as `_ifx_rows`; DuckDB's answer. The rows are kept where it
        may have to be `repeated`; SqlError -271 where there is no room for that."""
        self.statement_writes.append(
            RecordedWrite(query, parameters, self._spilled_tables.store(rows) if repeated else None)
        )
        with self._bound_rows(rows):
            return list(self.con.execute(query, parameters or None).fetchall())

    def execute_per_row(self, query: str, rows: Any, *, repeated: bool = True) -> int:
        """As `execute_with_rows`, for a write that changes one row for each of `rows`; how many. Differs when DuckDB has not
        done so: what the log of changes is told of these rows would not be true."""
        ((count,),) = self.execute_with_rows(query, rows, repeated=repeated)
        check_row_count(count, rows.num_rows)
        self.statement_writes[-1] = replace(self.statement_writes[-1], expected_count=rows.num_rows)
        return int(count)

    def record_with_rows(self, query: str, text: str) -> None:
        """The last write is to be repeated with the rows that `query` finds now: `text` reads some of them at a time as
        `_ifx_rows`."""
        reader = self.con.sql(query).to_arrow_reader(_FREEZE_ROWS)
        try:
            self.statement_writes[-1:] = [
                RecordedWrite(text, None, self._spilled_tables.store(pa.Table.from_batches([batch])))
                for batch in reader
            ]
        finally:
            reader.close()  # not left to the collector: see OpenRows

    def discard_last(self) -> None:
        """The last write has changed nothing, and holds no lock: repeated, it might find what came since."""
        del self.statement_writes[-1]

    def query_with_rows(self, query: str, rows: Any) -> list[tuple[Any, ...]]:
        """Run a query over the Arrow table `rows` as `_ifx_rows`."""
        with self._bound_rows(rows):
            return list(self.con.execute(query).fetchall())

    def table_with_rows(self, query: str, rows: Any, parameters: Any = None) -> Any:
        """As `query_with_rows`, the answer as an Arrow table."""
        with self._bound_rows(rows):
            relation = self.con.sql(query, params=parameters) if parameters else self.con.sql(query)
            return relation.to_arrow_table()

    def replay(self, writes: Iterable[RecordedWrite]) -> None:
        """Run writes that were recorded, in their order. Differs as for `replay_write`."""
        for write in _merge_single_inserts(writes):
            self.replay_write(write)

    def replay_write(self, write: RecordedWrite) -> None:
        """Run a write that was recorded. Differs when it changes other rows than it has to."""
        with self._bound_rows(None if write.rows is None else self._spilled_tables.load(write.rows)):
            if write.parameters is None:
                done = self.con.execute(write.sql).fetchall()
            else:
                done = self.con.execute(write.sql, write.parameters).fetchall()
        if write.expected_count is not None:
            check_row_count(done[0][0], write.expected_count)

    def clear(self) -> None:
        """The transaction is over: nothing that was written is repeated any more."""
        self._spilled_tables.clear()

    @contextmanager
    def _bound_rows(self, rows: Any) -> Iterator[None]:
        before, self._rows_view.table = self._rows_view.table, _EMPTY_TABLE if rows is None else rows
        try:
            yield
        finally:
            self._rows_view.table = (
                before  # no longer than they are wanted; a routine's statement is run inside another
            )


_SINGLE_ROW_INSERT = re.compile(r"INSERT INTO .* VALUES (\(\?(?:, \?)*\))", re.DOTALL)
_MERGED_ROWS = 128


def _merge_single_inserts(writes: Iterable[RecordedWrite]) -> Iterator[RecordedWrite]:
    """The writes, where INSERTs of one row by one text that follow each other are INSERTs of some of them: DuckDB takes
    a twelfth of the time for these. It brings each value to its column by itself, whatever other rows have there."""
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


def check_row_count(count: int, wanted: int) -> None:
    """Differs when DuckDB has not found, or changed, as many rows as were named to it. Seen once,
    before `Instance` did without the optimizer that lost rows: what the log of changes is told does not rest on it."""
    if count != wanted:
        log.error("DuckDB has found %d of %d rows that were named to it", count, wanted)
        raise ReplayMismatch


@dataclass(slots=True)
class Savepoint:
    name: str
    position: int
    unique: bool
    temp_tables: dict[str, Any]
    log_position: int  # RowChanges.place


@dataclass(slots=True)
class Journal:
    """The writes of an open transaction and its savepoints."""

    writes: list[RecordedWrite] = field(default_factory=list)
    savepoints: list[Savepoint] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows of Arrow tables in it: what a replay costs, more or less."""
        return sum(write.rows.num_rows for write in self.writes if write.rows is not None)

    def replay(self, writer: WriteRecorder) -> None:
        """Do everything again in a new transaction. Differs when a write changes other rows than before."""
        writer.replay(self.writes)
