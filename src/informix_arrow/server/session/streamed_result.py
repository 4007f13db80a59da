"""Results whose rows are produced while they are fetched, and results that were buffered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..types.nested_types import is_simple_large
from ..types.result_cast import cast_table
from .open_result import OpenResult
from .prepared_plan import QueryResult
from .spool import BatchSpool

_BATCH_ROWS = 65536
_VECTOR_ROWS = 2048
"""Rows that DuckDB produces at a time. A larger batch has a multiple of them."""

_MIN_BATCH_ROWS = 32
"""Smallest number of rows in a batch, however wide they are: the cost per batch must be spread over many rows."""

_BATCH_BYTES = 16 << 20
_LARGE_OBJECT_BYTES = 64 << 10
"""Estimated bytes of a BYTE or TEXT. A result contains their contents, and no maximum is declared."""


def _value_bytes(t: ColumnType) -> int:
    """Return the bytes of a value in a batch: the maximum, if its type declares one."""
    return _LARGE_OBJECT_BYTES if is_simple_large(t) else t.max_width


def batch_rows(columns: Sequence[Column]) -> int:
    """Return the number of rows in one batch of a result, bounded by number and by estimated size.

    LVARCHAR(32739) is seldom full, but several batches are in memory at a time for each session that reads.
    """
    rows = min(_BATCH_ROWS, _BATCH_BYTES // (sum(_value_bytes(column.type) for column in columns) or 1))
    return rows // _VECTOR_ROWS * _VECTOR_ROWS if rows > _VECTOR_ROWS else max(_MIN_BATCH_ROWS, rows)


class StreamedResult(QueryResult):
    """A result whose batches are taken from their source one by one, so that it uses little memory.

    The source is a running query or, for queries and routines that must end before their first row is sent, a spool of
    all rows in storage form. `codec` is Python's name of the code set, `packed` as for `cast_table`.
    """

    def __init__(
        self, columns: Sequence[Column], source: OpenResult | BatchSpool, codec: str, packed: Sequence[bool]
    ) -> None:
        self.columns = tuple(columns)
        self._source = source
        self._codec = codec
        self._packed = packed
        self._rows = source.rows if isinstance(source, BatchSpool) else -1

    @property
    def rows(self) -> int:
        """Number of rows; -1 while the query runs."""
        return self._rows

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the batches once, see QueryResult. A SqlError is raised where the query failed."""
        next_batch = self._source.pop if isinstance(self._source, BatchSpool) else self._source.read
        while (batch := next_batch()) is not None:
            table = pa.Table.from_batches([batch])
            yield from cast_table(table, self.columns, self._codec, self._packed).to_batches()

    def set_hold(self, held: bool) -> None:
        if isinstance(self._source, OpenResult):
            self._source.with_hold = held

    def close(self) -> None:
        self._source.close()


def spooled_result(
    columns: Sequence[Column], spool: BatchSpool, codec: str, packed: Sequence[bool]
) -> QueryResult:
    """Return a complete result with at least one batch.

    If it is one batch, a value that does not fit raises an error before the first row is sent.
    """
    if len(spool) > 1:
        return StreamedResult(columns, spool, codec, packed)
    table = pa.Table.from_batches([spool.read(0)])
    spool.close()
    return QueryResult(columns, cast_table(table, columns, codec, packed))
