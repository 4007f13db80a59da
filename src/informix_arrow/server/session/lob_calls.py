"""Operations of statements on large objects outside DuckDB: files of the client, and objects opened by a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import pyarrow as pa

from ...wire.describe import Column
from ..errors import SqlError
from ..plan.plans import ClientFile, RowCall
from .prepared_plan import QueryResult
from .smart_object_store import ClientFileAccess, SmartObjectStore

_NO_FILES = -9810


class Client(Protocol):
    """The client of a session, as a running statement uses it."""

    @property
    def files(self) -> ClientFileAccess:
        """The client's files."""

    def open(self, locator: bytes, mode: int) -> int:
        """Open an existing object for the client and return a descriptor."""


class LobCalls:
    """filetoblob, lotofile and ifx_lo_open of one session; `client` is None if there is none."""

    def __init__(self, lobs: SmartObjectStore, client: Client | None) -> None:
        self._lobs = lobs
        self._client = client

    def load_file(self, file: ClientFile, params: Sequence[object]) -> bytes | None:
        """Create an object from a file of the client and return its locator; None for a file whose name is NULL."""
        name = file.name if file.parameter < 0 else params[file.parameter]
        if name is None:
            return None
        if self._client is None:
            raise SqlError(_NO_FILES, 0, 0, str(name), "There is no client to read files from.")
        return self._lobs.load(file.kind, self._client.files.read(str(name).rstrip(" ")))

    def call(self, what: RowCall, arguments: dict[str, Any] | None) -> object:
        """Run lotofile or ifx_lo_open for one row; None if the object is NULL."""
        if arguments is None or arguments["locator"] is None or arguments["argument"] is None:
            return None
        locator, argument = bytes(arguments["locator"]), arguments["argument"]
        if what == "lotofile":
            if self._client is None:
                raise SqlError(_NO_FILES, 0, 0, argument, "There is no client to write files to.")
            return self._client.files.write(argument.rstrip(" "), self._lobs.chunks(locator))
        if self._client is None:
            raise SqlError(_NO_FILES, 0, 0, what, "Large objects cannot be opened here.")
        self._lobs.require(locator)
        return self._client.open(locator, argument)


class RowCallResult(QueryResult):
    """Rows with columns that are computed by a call for each row when it is fetched: one row per batch.

    `calls` has the name of the call for such a column, else None. The table holds the arguments of the call in that
    column.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        table: Any,
        schema: Any,
        calls: Sequence[RowCall | None],
        make: Callable[[RowCall, dict[str, Any] | None], object],
    ) -> None:
        super().__init__(columns, table)
        self._schema = schema
        self._calls = calls
        self._call = make

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the batches, see QueryResult. A failing call ends the rows with a SqlError."""
        if not self._table.num_rows:
            yield pa.RecordBatch.from_arrays(
                [pa.array([], f.type) for f in self._schema], schema=self._schema
            )
            return
        for row in range(self._table.num_rows):
            arrays = []
            for what, column, field in zip(self._calls, self._table.columns, self._schema, strict=True):
                cell = column.slice(row, 1)
                if what is None:
                    arrays.append(cell.combine_chunks())
                else:
                    arrays.append(pa.array([self._call(what, cell[0].as_py())], field.type))
            yield pa.RecordBatch.from_arrays(
                [a.chunk(0) if isinstance(a, pa.ChunkedArray) else a for a in arrays], schema=self._schema
            )
