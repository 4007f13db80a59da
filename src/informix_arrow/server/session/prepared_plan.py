"""Data that the engine and the protocol session exchange: prepared statements, outcomes and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..plan.plans import SelectPlan
from ..types.row_values import RowConverter

_MAX_PYTHON_VALUES = 512


@dataclass
class PreparedPlan:
    """A statement that was parsed, planned and described, but not executed.

    `columns` are the result columns of a query, or the target columns of an INSERT or UPDATE. `parameters` has one type
    for each `?`. A query with `for_update` is opened by `open_for_update`. `plan` is the engine's own and may be
    planned again after a schema change. `row_values` is set for a query that may have few rows, which are then fetched
    as Python objects. `returned_few_rows` is the result of its last run: True if there were few, False if not, in which
    case it is not tried again.
    """

    sql: str
    statement_type: int
    columns: tuple[Column, ...] = ()
    parameters: tuple[ColumnType, ...] = ()
    returns_rows: bool = False
    for_update: bool = False
    plan: Any = field(default=None, repr=False)
    session_only: bool = True
    row_values: RowConverter | None = field(default=None, repr=False)
    returned_few_rows: bool | None = field(default=None, repr=False)

    @cached_property
    def max_python_rows(self) -> int:
        """Number of rows from which on Arrow is faster than Python objects."""
        return max(_MAX_PYTHON_VALUES // max(len(self.columns), 1), 2)

    def record_row_count(self, table: pa.Table | None, plan: SelectPlan) -> None:
        """Record a run of the query: its rows, or None if there were more than one batch."""
        if self.returned_few_rows is not None or plan.client_sql or any(plan.row_calls):
            return
        self.returned_few_rows = table is not None and 2 * table.num_rows < self.max_python_rows
        if self.returned_few_rows:
            self.row_values = self.row_values or RowConverter.for_columns(self.columns, plan.packed_decimals)


@dataclass
class StatementOutcome:
    """The outcome of a statement without rows.

    The serials are the last ones assigned, 0 for none. `warnings` are those of SQ_DONE.
    """

    rows: int = 0
    serial: int = 0
    serial8: int = 0
    bigserial: int = 0
    warnings: int = 0


class QueryResult:
    """Rows of a query, complete or streamed (streamed_result.py).

    Other statements of the session may run while they are fetched.
    """

    def __init__(self, columns: Sequence[Column], table: Any) -> None:
        self.columns = tuple(columns)
        self._table = table

    @property
    def rows(self) -> int:
        """Number of rows; -1 if it is not known yet."""
        return int(self._table.num_rows)

    def set_hold(self, held: bool) -> None:
        """Set whether the remaining rows survive the end of the transaction. The default is that they do."""

    def close(self) -> None:
        """Discard the remaining rows."""
        self._table = self._table.slice(0, 0)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows in record batches of the formats of plan_op(column.type, RESULT_OPTIONS).

        There is at least one batch, so that a result without rows has its schema.
        """
        batches = self._table.to_batches()
        if not batches:
            yield pa.RecordBatch.from_arrays(
                [pa.array([], f.type) for f in self._table.schema], schema=self._table.schema
            )
            return
        yield from batches


class SingleBatchResult(QueryResult):
    """A result of one batch."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield self._table


class PythonRowsResult(QueryResult):
    """A result of few rows, none of whose values `RowConverter` has to convert.

    Arrow is only built if `batches` is called.

    Attributes
    ----------
    values
        The rows as Python objects.
    """

    def __init__(
        self, columns: Sequence[Column], values: Sequence[Sequence[Any]], objects: RowConverter, codec: str
    ) -> None:
        super().__init__(columns, None)
        self.values = values
        self._row_values = objects
        self._codec = codec

    @property
    def rows(self) -> int:
        """See `QueryResult.rows`."""
        return len(self.values)

    def close(self) -> None:
        """See `QueryResult.close`."""
        self.values = ()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """See `QueryResult.batches`."""
        batch = self._row_values.to_batch(self.values, self._codec)
        assert batch is not None
        yield batch
