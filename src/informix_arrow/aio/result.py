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
    """The rows of one query, streamed, to be read once. Made by :meth:`AsyncConnection.query`.

    ``async for batch in result.batches()``, or ``await result.read_all()``. Several results of one connection may be
    read in turns, also by several tasks. Everything else is as with :class:`informix_arrow.Result`, but that it is no
    Arrow stream: whoever reads one of those waits for it.

    When a task is cancelled while it reads, the rows that were on their way to it are lost: the result is over, and
    reading on is an ``InterfaceError``. The connection stays usable.
    """

    if not ASYNC:
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

    def __init__(
        self, connection: AsyncConnectionProtocol, cursor: ServerCursor, timeout: float | None = None
    ) -> None:
        self._connection = connection
        self._cursor = cursor
        self._timeout = timeout  # seconds for each batch
        self._rows = Batches(cursor)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema: known at once, the same for every batch. Field metadata ``informix.type`` holds the
        declared type, such as ``DECIMAL(8,2)``.
        """
        return self._rows.schema

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names and Informix types of the columns, as the server described them; those left out are missing."""
        return self._rows.columns

    if not ASYNC:

        @property
        def lazy_columns(self) -> Mapping[int, ObjectColumn]:
            """Large-object columns whose values are handles that :meth:`open_lazily` makes files of, by index."""
            return (
                {column.index: column for column in object_columns(self.columns)} if self._cursor.lazy else {}
            )

        def open_lazily(self, column: ObjectColumn, handles: list[bytes | None]) -> list[LargeObject | None]:
            """Files for the values of one of :attr:`lazy_columns`."""
            return open_objects(self._connection, self._cursor, column, handles, self)

    def batches(self) -> AsyncIterator[pa.RecordBatch]:
        """Iterate over the record batches, by ``async for``; none for a result without rows.

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

        Warns
        -----
        InexactWarning
            A floating DECIMAL(p) has digits that float64 has not: once for each column.

        After an error every further step is an ``InterfaceError``: what is missing never passes for the end.
        """
        self._rows.claim()
        return _BatchIterator(self, self._rows.next)

    def _decoded(self) -> AsyncIterator[pa.RecordBatch | DecodedRows]:
        """:meth:`batches` for a cursor, which makes Python rows of them: where C makes all of their values, as the
        decoder hands them over.
        """
        self._rows.claim()
        return _BatchIterator(self, self._rows.next_decoded)

    async def read_all(self) -> pa.Table:
        """Read all rows into one table. Errors as :meth:`batches`."""
        if ASYNC:
            batches = [batch async for batch in self.batches()]
        else:
            batches = list(self.batches())
        return pa.Table.from_batches(batches, self.schema)

    async def close(self) -> None:
        """Drop the rows that were not read and release the statement. May be called again."""
        if self._rows.closed:
            return
        self._rows.closed = self._rows.claimed = True
        if not self._cursor.released and not self._connection.closed:
            try:
                await self._connection._run(self._rows.close(self._connection._session))
            except BaseException:
                self._rows.abandon(self._connection._session)  # before what comes next
                raise

    if not ASYNC:

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

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if ASYNC and error is not None and not isinstance(error, Exception):
            # Canceled: leave without another wait.
            self._rows.closed = self._rows.claimed = True
            self._rows.abandon(self._connection._session)
            return
        await self.close()

    def __del__(self) -> None:
        # Readers hold the result alive, so nobody reads any more. No ResourceWarning: a result of which only the
        # schema was wanted is ordinary, and its statement is released all the same.
        rows: Batches | None = getattr(self, "_rows", None)
        if rows is not None and not rows.cursor.released:  # None: Ctrl-C came while it was made
            rows.abandon(self._connection._session)

    def __repr__(self) -> str:
        rows = self._rows
        state = "closed" if rows.closed else "read" if rows.claimed else "unread"
        return f"<informix_arrow.aio.AsyncResult of {len(self.columns)} columns, {state}>"


class _BatchIterator(Generic[B]):
    """Iterates over the batches of a result, one exchange each, which ``take`` makes.

    In asyncio no async generator: those have to be closed by the event loop when somebody leaves a loop half way.
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
            if result._cursor.rows_reported:  # all rows are here
                batch = connection._runner.run_without_io(self._read_batch(connection._session))
            else:
                batch = await connection._run(self._read_batch(connection._session), result._timeout)
            for text in rows.inexact_warnings():
                warnings.warn(text, InexactWarning, stacklevel=2)
        except BaseException as error:
            rows.fail(error)
            if not result._cursor.lazy:  # nobody can read on
                rows.abandon(connection._session)
            raise
        if batch is None:
            raise StopAsyncIteration
        return batch

    def __del__(self) -> None:
        # Nobody reads on: the rows are streamed and gone, also when the result itself is still held. Files of lazy
        # large objects need the cursor as long as that.
        result: AsyncResult | None = getattr(self, "_result", None)
        if result is not None and not (result._cursor.lazy or result._cursor.released):
            result._rows.abandon(result._connection._session)
