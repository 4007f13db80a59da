"""Rows of a query that are made while they are fetched."""

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
"""Rows that DuckDB makes at a time; a batch of more has a multiple of them."""

_MIN_BATCH_ROWS = 32
"""Rows in a batch, however wide they are: what a batch costs by itself is a matter of many rows."""

_BATCH_BYTES = 16 << 20
_LARGE_OBJECT_BYTES = 64 << 10
"""Bytes that a BYTE or TEXT is taken to have: a result has their contents in its rows, and no bound is declared."""


def _value_bytes(t: ColumnType) -> int:
    """Bytes of a value in a batch: at most, where its type says so."""
    return _LARGE_OBJECT_BYTES if is_simple_large(t) else t.max_width


def batch_rows(columns: Sequence[Column]) -> int:
    """Rows in one batch of a result: bounded by their number, and by what they may weigh. LVARCHAR(32739) is seldom
    full, but several batches are in memory at a time, of each session that reads."""
    rows = min(_BATCH_ROWS, _BATCH_BYTES // (sum(_value_bytes(column.type) for column in columns) or 1))
    return rows // _VECTOR_ROWS * _VECTOR_ROWS if rows > _VECTOR_ROWS else max(_MIN_BATCH_ROWS, rows)


class StreamedResult(QueryResult):
    """A result of which two batches are in memory, however large it is.

    `codec` is Python's name of the code set, `packed` as for `cast_table`.
    """

    def __init__(
        self, columns: Sequence[Column], rows: OpenResult, codec: str, packed: Sequence[bool]
    ) -> None:
        self.columns = tuple(columns)
        self._rows = rows
        self._codec = codec
        self._packed = packed

    @property
    def rows(self) -> int:
        """-1: they are more than were made so far."""
        return -1

    def batches(self) -> Iterator[pa.RecordBatch]:
        """See QueryResult, but they come once; a SqlError stands where the query failed."""
        while (batch := self._rows.read()) is not None:
            table = pa.Table.from_batches([batch])
            yield from cast_table(table, self.columns, self._codec, self._packed).to_batches()

    def set_hold(self, held: bool) -> None:
        self._rows.with_hold = held

    def close(self) -> None:
        self._rows.close()


class SpooledResult(QueryResult):
    """A result that was made to its end, and takes little memory nevertheless. For those of queries and routines that
    must have run before their first row goes out.

    `spool` has them in storage form; `codec` is Python's name of the code set, `packed` as for `cast_table`.
    """

    def __init__(
        self, columns: Sequence[Column], spool: BatchSpool, codec: str, packed: Sequence[bool]
    ) -> None:
        self.columns = tuple(columns)
        self._spool = spool
        self._codec = codec
        self._packed = packed
        self._rows = spool.rows

    @property
    def rows(self) -> int:
        """How many there are."""
        return self._rows

    def batches(self) -> Iterator[pa.RecordBatch]:
        """See QueryResult, but they come once."""
        while (batch := self._spool.pop()) is not None:
            table = pa.Table.from_batches([batch])
            yield from cast_table(table, self.columns, self._codec, self._packed).to_batches()

    def close(self) -> None:
        self._spool.close()


def spooled_result(
    columns: Sequence[Column], spool: BatchSpool, codec: str, packed: Sequence[bool]
) -> QueryResult:
    """A result that was made to its end, of one batch at least. Where it is one, a value that does not fit is told
    before the first row goes out."""
    if len(spool) > 1:
        return SpooledResult(columns, spool, codec, packed)
    table = pa.Table.from_batches([spool.read(0)])
    spool.close()
    return QueryResult(columns, cast_table(table, columns, codec, packed))
