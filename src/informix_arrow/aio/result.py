"""AsyncResult: the rows of one query as a stream of Arrow record batches, for asyncio."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa

from ..core.async_flag import ASYNC
from ..core.connection_protocol import AsyncConnectionProtocol
from ..operations.batches import Batches
from ..operations.fetch import ServerCursor
from ..operations.io_steps import Exchange
from ..operations.result_description import ObjectColumn, object_columns
from ..operations.session import Session
from ..rows.python_rows import DecodedRows
from ..wire.describe import Column
from ..wire.errors import InexactWarning

if not ASYNC:
    from ..large_object import LargeObject, open_objects

if TYPE_CHECKING:
    from typing_extensions import Self

B = TypeVar("B")


class AsyncResult:
    """The rows of one query, streamed. It can be read once. Made by :meth:`AsyncConnection.query`.

    Use ``async for batch in result.batches()``, or ``await result.read_all()``. Several results of one connection may
    be read alternately, also by several tasks. Everything else is as with :class:`informix_arrow.Result`, except that
    this class is not an Arrow stream: a consumer of an Arrow stream would block the event loop.

    If a task is cancelled while it reads, the rows on their way to it are lost. The result is then closed, and further
    reads raise ``InterfaceError``. The connection stays usable.
    """

    if not ASYNC:
        """The rows of one query, streamed. It can be read once.

        Made by :meth:`Connection.query`. Pass it to any consumer of an Arrow stream (``polars.DataFrame(result)``,
        ``pyarrow.RecordBatchReader.from_stream(result)``, DuckDB's scan of a variable), or use :meth:`batches` or
        :meth:`read_all`. It is deliberately not iterable: some libraries would take the first batch for the whole
        result.

        Rows are fetched while they are read. Memory is bounded by the batch being built and two fetch replies. Batches
        with large objects end where their contents reach ``batch_bytes``. Several results of one connection may be read
        alternately, also from several threads. COMMIT and ROLLBACK close a result on the server: further reads raise an
        error.

        The statement is released at the end of the rows, by :meth:`close`, at the end of a ``with`` block and on an
        error. If you drop a result before its end, the statement is released before the connection's next statement.
        """

    def __init__(
        self, connection: AsyncConnectionProtocol, cursor: ServerCursor, timeout: float | None = None
    ) -> None:
        self._connection = connection
        self._cursor = cursor
        self._timeout = timeout  # seconds for each batch
        self._rows = Batches(cursor)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema. It is known at once and the same for every batch.

        Field metadata ``informix.type`` holds the declared type, such as ``DECIMAL(8,2)``.
        """
        return self._rows.schema

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names and Informix types of the columns, as the server described them, without skipped columns."""
        return self._rows.columns

    if not ASYNC:

        @property
        def lazy_columns(self) -> Mapping[int, ObjectColumn]:
            """Large-object columns by index, if their values are handles for :meth:`open_lazily`."""
            return (
                {column.index: column for column in object_columns(self.columns)} if self._cursor.lazy else {}
            )

        def open_lazily(self, column: ObjectColumn, handles: list[bytes | None]) -> list[LargeObject | None]:
            """Return files for the values of one of :attr:`lazy_columns`."""
            return open_objects(self._connection, self._cursor, column, handles, self)

    def batches(self) -> AsyncIterator[pa.RecordBatch]:
        """Iterate over the record batches with ``async for``. A result without rows has no batches.

        Raises
        ------
        InterfaceError
            The result was already read or closed. Raised at once, not at the first step.
        DataError
            A value does not fit its Arrow type, or is not text in the database's code set. ``row`` (0-based) and
            ``column`` are set. The rows before it were returned in earlier batches. The result is closed, and the
            connection stays usable.
        Error
            An error that the server reported during a fetch.

        Warns
        -----
        InexactWarning
            A floating-point DECIMAL(p) has more digits than float64 can hold. Issued once for each column.

        After an error every further step raises ``InterfaceError``, so that missing rows cannot be taken for the end of
        the result.
        """
        self._rows.claim()
        return _BatchIterator(self, self._rows.next)

    def _decoded(self) -> AsyncIterator[pa.RecordBatch | DecodedRows]:
        """Return :meth:`batches` for a cursor, which converts them to Python rows.

        If the decoder in C can build all Python values itself, its buffers are passed on as they are.
        """
        self._rows.claim()
        return _BatchIterator(self, self._rows.next_decoded)

    async def read_all(self) -> pa.Table:
        """Read all rows into one table. Errors are those of :meth:`batches`."""
        if ASYNC:
            batches = [batch async for batch in self.batches()]
        else:
            batches = list(self.batches())
        return pa.Table.from_batches(batches, self.schema)

    async def close(self) -> None:
        """Discard the rows that were not read and release the statement. Closing twice is safe."""
        if self._rows.closed:
            return
        self._rows.closed = self._rows.claimed = True
        if not self._cursor.released and not self._connection.closed:
            try:
                await self._connection._run(self._rows.close(self._connection._session))
            except BaseException:
                self._rows.abandon(self._connection._session)  # closed before the next request
                raise

    if not ASYNC:

        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            """Export the rows as an Arrow C stream; the consumer may read it in another thread.

            ``requested_schema`` is honoured by a cast, if Arrow can cast batch by batch. An error during reading
            reaches the consumer as text, in one of its own exception classes.
            """
            reader = pa.RecordBatchReader.from_batches(self.schema, self.batches())
            return reader.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        """Export the schema. No row is read."""
        return self.schema.__arrow_c_schema__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if ASYNC and error is not None and not isinstance(error, Exception):
            # Cancelled: leave without waiting again.
            self._rows.closed = self._rows.claimed = True
            self._rows.abandon(self._connection._session)
            return
        await self.close()

    def __del__(self) -> None:
        # Readers keep the result alive, so it is not being read. There is no ResourceWarning: reading only the schema
        # of a result is normal, and its statement is released anyway.
        rows: Batches | None = getattr(self, "_rows", None)
        if rows is not None and not rows.cursor.released:  # None: Ctrl-C came during __init__
            rows.abandon(self._connection._session)

    def __repr__(self) -> str:
        rows = self._rows
        state = "closed" if rows.closed else "read" if rows.claimed else "unread"
        return f"<informix_arrow.aio.AsyncResult of {len(self.columns)} columns, {state}>"


class _BatchIterator(Generic[B]):
    """Iterates over the batches of a result. ``take`` returns the operation that reads the next one.

    In asyncio this is not an async generator, because the event loop has to close those when a loop ends early.
    """

    def __init__(self, result: AsyncResult, take: Callable[[Session], Exchange[B | None]]) -> None:
        self._result, self._read_batch = result, take

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> B:
        result = self._result
        connection, rows = result._connection, result._rows
        if rows.is_exhausted and not connection.closed:
            raise StopAsyncIteration
        try:
            if result._cursor.rows_reported:  # all rows were received
                batch = connection._runner.run_without_io(self._read_batch(connection._session))
            else:
                batch = await connection._run(self._read_batch(connection._session), result._timeout)
            for text in rows.inexact_warnings():
                warnings.warn(text, InexactWarning, stacklevel=2)
        except BaseException as error:
            rows.fail(error)
            if not result._cursor.lazy:  # files of lazy large objects still need the cursor
                rows.abandon(connection._session)
            raise
        if batch is None:
            raise StopAsyncIteration
        return batch

    def __del__(self) -> None:
        # The remaining rows can no longer be read, even if the result itself still exists. Files of lazy large objects
        # need the cursor for as long as the result exists.
        result: AsyncResult | None = getattr(self, "_result", None)
        if result is not None and not (result._cursor.lazy or result._cursor.released):
            result._rows.abandon(result._connection._session)
