"""Result: the rows of one query as a stream of Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .exchange.fetch import ServerCursor, next_batch
from .exchange.large_objects import ObjectColumn, object_columns
from .finish import Content, Finisher
from .large_object import LargeObject
from .wire.describe import Column
from .wire.errors import DataError, Error, InterfaceError

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

    def __init__(self, connection: Connection, cursor: ServerCursor) -> None:
        self._connection = connection
        self._cursor = cursor
        self._finisher = Finisher(cursor.columns, cursor.plan, cursor.options, cursor.encoding)
        self._taken = False
        self._closed = False

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema: known at once, the same for every batch. Field metadata ``informix.type`` holds
        the declared type, such as ``DECIMAL(8,2)``.
        """
        return self._cursor.plan.schema

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names and Informix types of the columns, as the server described them; those left out are missing."""
        cursor = self._cursor
        return tuple([cursor.columns[index] for index in cursor.plan.kept])

    @property
    def lazy_columns(self) -> Mapping[int, ObjectColumn]:
        """Large-object columns whose values are handles that :meth:`open_lazily` makes files of, by index."""
        return {column.index: column for column in object_columns(self.columns)} if self._cursor.lazy else {}

    def open_lazily(self, column: ObjectColumn, handles: list[bytes | None]) -> list[LargeObject | None]:
        """Files for the values of one of :attr:`lazy_columns`."""
        return [
            None if handle is None else LargeObject(self._connection, self._cursor, column, handle, self)
            for handle in handles
        ]

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
        """
        self._take()
        return self._generate()

    def read_all(self) -> pa.Table:
        """Read all rows into one table. Errors as :meth:`batches`."""
        return pa.Table.from_batches(list(self.batches()), self.schema)

    def close(self) -> None:
        """Drop the rows that were not read and release the statement. May be called again."""
        if self._closed:
            return
        self._closed = self._taken = True
        if not self._cursor.released and not self._connection.closed:
            self._connection._run(self._cursor.close(self._connection._session))

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Export the rows as an Arrow C stream; the consumer may read it in another thread.

        ``requested_schema`` is honoured by casting where Arrow can cast batch by batch. An error while
        reading reaches the consumer as text, in an exception class of its own.
        """
        self._take()
        return pa.RecordBatchReader.from_batches(self.schema, self._generate()).__arrow_c_stream__(
            requested_schema
        )

    def __arrow_c_schema__(self) -> Any:
        """Export the schema; the rows stay untouched."""
        return self.schema.__arrow_c_schema__()

    def _take(self) -> None:
        if self._closed:
            raise InterfaceError("the result is closed")
        if self._taken:
            raise InterfaceError(
                "the result was read already: its rows are streamed and gone. Run the query again, or keep "
                "read_all()'s table"
            )
        self._taken = True

    def _generate(self) -> Iterator[pa.RecordBatch]:
        connection, cursor, finisher = self._connection, self._cursor, self._finisher
        schema = finisher.schema if finisher.untouched else finisher.decoded
        row = 0  # number of the batch's first row
        try:
            while True:
                if self._closed:
                    raise InterfaceError("the result was closed while it was being read")
                capsule = connection._run(next_batch(connection._session, cursor))
                if capsule is None:
                    return
                batch = pa.RecordBatch._import_from_c_capsule(schema.__arrow_c_schema__(), capsule)
                if finisher.untouched:
                    yield batch
                elif cursor.objects is None:
                    yield from self._finished(batch, row, {})
                else:
                    yield from self._with_objects(batch, row)
                row += batch.num_rows
        finally:
            if not cursor.lazy:
                self._forget()

    def _with_objects(self, batch: pa.RecordBatch, row: int) -> Iterator[pa.RecordBatch]:
        """Read the large objects of a decoded batch and hand it out in pieces that are not much larger than a
        batch should be.
        """
        connection, objects = self._connection, self._cursor.objects
        assert objects is not None
        start = 0
        while start < batch.num_rows:
            if self._closed:
                raise InterfaceError("the result was closed while it was being read")
            filled = connection._run(objects.read(connection._session, batch, start, row))
            if filled.rows:
                yield from self._finished(batch.slice(start, filled.rows), row + start, filled.contents)
            start += filled.rows
            if filled.error is not None:
                raise filled.error

    def _finished(
        self, batch: pa.RecordBatch, row: int, contents: Mapping[int, Content]
    ) -> Iterator[pa.RecordBatch]:
        """Make the final batch. When a value of it is no text, the rows before it come first."""
        failure: Error | None = None
        while True:
            try:
                done = self._finisher.finish(batch, row, contents)
                break
            except DataError as error:
                error.statement = self._cursor.sql
                failure = error
                batch = batch.slice(0, (error.row or row) - row)
                if not batch.num_rows:
                    raise
        yield done
        if failure is not None:
            raise failure

    def _forget(self) -> None:
        """Leave the cursor to the connection, which releases it before its next exchange.

        Runs in finalizers too, at any moment and in any thread: so nothing is sent here and no lock is taken.
        """
        if not self._cursor.released:
            self._connection._session.orphans.append(self._cursor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Reading generators hold the result alive, so nobody reads any more. No ResourceWarning: a result of
        # which only the schema was wanted is ordinary, and its statement is released all the same.
        self._forget()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "read" if self._taken else "unread"
        return f"<informix_arrow.Result of {len(self.columns)} columns, {state}>"
