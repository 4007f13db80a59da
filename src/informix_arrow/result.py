"""Result: the rows of one query as a stream of Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .exchange.batches import Batches
from .exchange.fetch import ServerCursor
from .exchange.large_objects import ObjectColumn, object_columns
from .large_object import LargeObject, open_objects
from .wire.describe import Column

if TYPE_CHECKING:
    from typing_extensions import Self

    from .connection import Connection


class Result:
    """The rows of one query, streamed, to be read once.

    Made by :meth:`Connection.query`. Hand it to whatever takes an Arrow stream (``polars.DataFrame(result)``,
    ``pyarrow.RecordBatchReader.from_stream(result)``, DuckDB's scan of a variable), or use :meth:`batches` or
    :meth:`read_all`. It is deliberately not iterable: libraries that find an iterable take its first batch
    for the whole.

    Rows are fetched while they are read; what waits in memory is bounded by the batch being built and two
    fetch replies; batches with large objects end where their contents reach ``batch_bytes``. Several results
    of one connection may be read in turns, also from several threads. COMMIT and ROLLBACK close a result on
    the server: reading on is an error then.

    The statement is released at the end of the rows, by :meth:`close`, when a ``with`` block ends, on an
    error, and before the connection's next statement when the result was dropped half read.
    """

    def __init__(self, connection: Connection, cursor: ServerCursor, timeout: float | None = None) -> None:
        self._connection = connection
        self._cursor = cursor
        self._timeout = timeout  # seconds for each batch
        self._rows = Batches(cursor)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema: known at once, the same for every batch. Field metadata ``informix.type`` holds
        the declared type, such as ``DECIMAL(8,2)``.
        """
        return self._rows.schema

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names and Informix types of the columns, as the server described them; those left out are missing."""
        return self._rows.columns

    @property
    def lazy_columns(self) -> Mapping[int, ObjectColumn]:
        """Large-object columns whose values are handles that :meth:`open_lazily` makes files of, by index."""
        return {column.index: column for column in object_columns(self.columns)} if self._cursor.lazy else {}

    def open_lazily(self, column: ObjectColumn, handles: list[bytes | None]) -> list[LargeObject | None]:
        """Files for the values of one of :attr:`lazy_columns`."""
        return open_objects(self._connection, self._cursor, column, handles, self)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the record batches; none for a result without rows.

        Raises
        ------
        InterfaceError
            The result was read or closed before; at once, not at the first step.
        DataError
            A value cannot be held by its Arrow type, or is no text of the database's code set; ``row``
            (0-based) and ``column`` are set. The rows before it came in the batches before, the result is
            over, the connection stays usable.
        Error
            What the server reported while it fetched.

        After an error every further step is an ``InterfaceError``: what is missing never passes for the end.
        """
        self._rows.take()
        return _Reader(self)

    def read_all(self) -> pa.Table:
        """Read all rows into one table. Errors as :meth:`batches`."""
        return pa.Table.from_batches(list(self.batches()), self.schema)

    def close(self) -> None:
        """Drop the rows that were not read and release the statement. May be called again."""
        if self._rows.closed:
            return
        self._rows.closed = self._rows.taken = True
        if not self._cursor.released and not self._connection.closed:
            try:
                self._connection._run(self._rows.close(self._connection._session))
            except BaseException:
                self._rows.abandon(self._connection._session)  # before what comes next
                raise

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Export the rows as an Arrow C stream; the consumer may read it in another thread.

        ``requested_schema`` is honoured by casting where Arrow can cast batch by batch. An error while
        reading reaches the consumer as text, in an exception class of its own.
        """
        reader = pa.RecordBatchReader.from_batches(self.schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        """Export the schema; the rows stay untouched."""
        return self.schema.__arrow_c_schema__()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Readers hold the result alive, so nobody reads any more. No ResourceWarning: a result of which only the
        # schema was wanted is ordinary, and its statement is released all the same.
        self._rows.abandon(self._connection._session)

    def __repr__(self) -> str:
        rows = self._rows
        state = "closed" if rows.closed else "read" if rows.taken else "unread"
        return f"<informix_arrow.Result of {len(self.columns)} columns, {state}>"


class _Reader:
    """Iterates over the batches of a result, one exchange each."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> pa.RecordBatch:
        result = self._result
        connection, rows = result._connection, result._rows
        try:
            if rows.all_here:
                batch = connection._link.run_here(rows.next(connection._session))
            else:
                batch = connection._run(rows.next(connection._session), result._timeout)
        except BaseException as error:
            rows.fail(error)
            raise
        if batch is None:
            raise StopIteration
        return batch

    def __del__(self) -> None:
        # Nobody reads on: the rows are streamed and gone, also when the result itself is still held. Files of lazy
        # large objects need the cursor as long as that.
        rows = self._result._rows
        if not self._result._cursor.lazy:
            rows.abandon(self._result._connection._session)
