"""What the engine and a session's conversation hand to each other."""

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
    """A statement that was read and described, never executed by that.

    `columns` are the result columns of a query, or the target columns of an INSERT or UPDATE; `parameters`
    has one type for each `?`. A query `for_update` is opened by `open_for_update`. `plan` is the engine's own; it may
    be made again when the schema has changed
    since. `row_values` is for a query of few rows, which are taken as Python objects then; `returned_few_rows` tells that it had few the
    last time, or that it had not and need not be asked again.
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
        """Rows from which on Arrow is the cheaper way to take them."""
        return max(_MAX_PYTHON_VALUES // max(len(self.columns), 1), 2)

    def record_row_count(self, table: pa.Table | None, plan: SelectPlan) -> None:
        """What a run of the query gave: its rows, or None for more than a batch."""
        if self.returned_few_rows is not None or plan.client_sql or any(plan.row_calls):
            return
        self.returned_few_rows = table is not None and 2 * table.num_rows < self.max_python_rows
        if self.returned_few_rows:
            self.row_values = self.row_values or RowConverter.for_columns(self.columns, plan.packed_decimals)


@dataclass
class StatementOutcome:
    """What a statement without rows did. Serials are the last ones given, 0 for none; `warnings` are those
    of SQ_DONE."""

    rows: int = 0
    serial: int = 0
    serial8: int = 0
    bigserial: int = 0
    warnings: int = 0


class QueryResult:
    """Rows of a query, whole or streamed (streamed_result.py): other statements of the session may run while they are
    fetched."""

    def __init__(self, columns: Sequence[Column], table: Any) -> None:
        self.columns = tuple(columns)
        self._table = table

    @property
    def rows(self) -> int:
        """How many there are; -1 where that is not known yet."""
        return int(self._table.num_rows)

    def set_hold(self, held: bool) -> None:
        """Whether the end of the transaction leaves the rows that were not fetched; it does unless this says no."""

    def close(self) -> None:
        """Forget what was not fetched."""
        self._table = self._table.slice(0, 0)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in record batches of the formats that plan_op(column.type, RESULT_OPTIONS) wants; at
        least one batch, so that a result without rows has its schema."""
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
    """A result of so few rows, all of them plain (`RowConverter.plain`), that Arrow is made of them only for those who ask
    for it.

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
        """As `QueryResult.rows`."""
        return len(self.values)

    def close(self) -> None:
        """As `QueryResult.close`."""
        self.values = ()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """As `QueryResult.batches`."""
        batch = self._row_values.to_batch(self.values, self._codec)
        assert batch is not None
        yield batch
