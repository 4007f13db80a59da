"""Write rows to one Parquet file as they arrive, one row group after another."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from .parquet_encoding import options

if TYPE_CHECKING:
    from typing_extensions import Self

GROUP_BYTES = 8 << 20
"""Bytes of Arrow data in a row group.

Large enough for dictionaries to pay, and small enough that little is left to do when the last rows arrive.
"""


class TableWriter:
    """A writer that adds rows to a file, cast to its schema.

    Whole numbers are ``packed`` only for readers that are known to support it (`parquet_encoding`).
    """

    def __init__(self, file: Any, schema: pa.Schema, *, packed: bool = True) -> None:
        self._file = file
        self._writer: pq.ParquetWriter | None = None
        self._schema = schema
        self._packed = packed
        self._group: list[pa.RecordBatch] = []
        self._pending_bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self._group.append(batch)
        self._pending_bytes += batch.nbytes
        if self._pending_bytes >= GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        schema = self._group[0].schema if self._group else self._schema
        table = pa.Table.from_batches(self._group, schema).cast(self._schema)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, self._schema, **options(table, packed=self._packed))
        if self._group:
            self._writer.write_table(table, row_group_size=max(len(table), 1))
        self._group, self._pending_bytes = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            if self._writer is not None:
                with suppress(Exception):  # the first error counts, which may be the same
                    self._writer.close()
            return
        if self._group or self._writer is None:
            self._flush()
        assert self._writer is not None
        self._writer.close()


def texts_by_dictionary(metadata: pq.FileMetaData) -> list[str]:
    """Return columns of texts or bytes with a dictionary in each row group. They can be summed without unpacking."""
    columns = []
    for index in range(metadata.num_columns):
        column = metadata.schema.column(index)
        groups = range(metadata.num_row_groups)
        if (
            column.physical_type == "BYTE_ARRAY"
            and column.max_repetition_level == 0
            and "." not in column.path
            and metadata.num_row_groups
            and all(metadata.row_group(group).column(index).has_dictionary_page for group in groups)
        ):
            columns.append(column.path)
    return columns
