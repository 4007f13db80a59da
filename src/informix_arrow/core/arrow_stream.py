"""ArrowStream: the remaining rows of a cursor, for consumers of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ..wire.errors import InterfaceError


class ArrowStream:
    """A cursor's rows as an Arrow stream that can be read once. Exports only; deliberately not iterable."""

    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        self._schema = schema
        self._batches: Iterator[pa.RecordBatch] | None = batches

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema."""
        return self._schema

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows as a pyarrow reader. Raises ``InterfaceError`` the second time."""
        batches, self._batches = self._batches, None
        if batches is None:
            raise InterfaceError("The stream was already read. Run the query again.")
        return pa.RecordBatchReader.from_batches(self._schema, batches)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Export the rows, once."""
        return self.reader().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        """Export the schema without reading rows."""
        return self._schema.__arrow_c_schema__()
